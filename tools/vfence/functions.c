// SPDX-License-Identifier: GPL-2.0-only
/*
 * vfence functions: the virtual functions of an adapter, how they share its engines, what each has had
 * so far and has in each second; and another policy for them.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "functions.h"
#include "tool.h"
#include "vfence_policy.h"

#define MOST	16

static void path_of(unsigned int adapter, const char *file, char *path, size_t size)
{
	snprintf(path, size, "/sys/bus/platform/devices/vfence.%u/%s", adapter, file);
}

int functions_write(unsigned int adapter, const char *file, const char *value)
{
	char path[160];
	int fd, ret;

	path_of(adapter, file, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ret = fd < 0 || write(fd, value, strlen(value)) < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	return ret;
}

int functions_write_number(unsigned int adapter, const char *file, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return functions_write(adapter, file, text);
}

int functions_read(unsigned int adapter, const char *file, char *text, unsigned int size)
{
	char path[160];
	FILE *f;

	path_of(adapter, file, path, sizeof(path));
	f = fopen(path, "re");
	if (!f)
		return -errno;
	if (!fgets(text, (int)size, f))
		text[0] = 0;
	text[strcspn(text, "\n")] = 0;
	fclose(f);
	return 0;
}

uint64_t functions_stat(unsigned int adapter, const char *folder, const char *group,
			const char *key)
{
	char path[160], file[64], line[1024], word[64];
	uint64_t value = 0;
	FILE *f;

	snprintf(file, sizeof(file), "sriov_admin/%s/stat", folder);
	path_of(adapter, file, path, sizeof(path));
	snprintf(word, sizeof(word), " %s ", key);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *at = strncmp(line, group, strlen(group)) ? NULL : strstr(line, word);

		if (at)
			value = strtoull(at + strlen(word), NULL, 10);
	}
	if (f)
		fclose(f);
	return value;
}

unsigned int functions_number(unsigned int adapter, unsigned int function)
{
	return MOST * (adapter + 1) + function - 1;
}

/* What a function has had. */
struct usage {
	uint64_t elapsed, run, turns, yields, preemptions, resets;
};

static struct usage usage_of(unsigned int adapter, const char *folder)
{
	uint64_t run = functions_stat(adapter, folder, "gfx", "run_ns");

	return (struct usage){
		/* Later than the time of the function, which is not more than that. */
		.elapsed = functions_stat(adapter, ".", "gfx", "elapsed_ns"),
		.run = run,
		.turns = functions_stat(adapter, folder, "gfx", "turns"),
		.yields = functions_stat(adapter, folder, "gfx", "yields"),
		.preemptions = functions_stat(adapter, folder, "gfx", "preemptions"),
		.resets = functions_stat(adapter, folder, "gfx", "resets"),
	};
}

static void folder_of(unsigned int function, char *folder, size_t size)
{
	if (function)
		snprintf(folder, size, "vf%u", function);
	else
		snprintf(folder, size, "pf");
}

/* Print what a function has had since *@last, which becomes what it has had so far. */
static void print_function(unsigned int adapter, unsigned int function, struct usage *last)
{
	char slice[16] = "", weight[16] = "", file[64], folder[16], name[32];
	struct usage now, then = *last;
	double elapsed;

	folder_of(function, folder, sizeof(folder));
	now = usage_of(adapter, folder);
	elapsed = (double)(now.elapsed - then.elapsed);
	*last = now;
	snprintf(file, sizeof(file), "sriov_admin/%s/profile/exec_quantum_us", folder);
	functions_read(adapter, file, slice, sizeof(slice));
	snprintf(file, sizeof(file), "sriov_admin/%s/profile/weight", folder);
	functions_read(adapter, file, weight, sizeof(weight));
	snprintf(name, sizeof(name), "vf%u (%u)", function, functions_number(adapter, function));
	printf("%-16s%10s%8s%7.1f %%%9" PRIu64 "%9" PRIu64 "%13" PRIu64 "%8" PRIu64 "\n",
	       function ? name : folder, slice, weight,
	       elapsed > 0 ? 100.0 * (double)(now.run - then.run) / elapsed : 0,
	       now.turns - then.turns, now.yields - then.yields,
	       now.preemptions - then.preemptions, now.resets - then.resets);
}

static void print_functions(unsigned int adapter, unsigned int count, struct usage *last)
{
	unsigned int i;

	printf("%-16s%10s%8s%9s%9s%9s%13s%8s\n", "function", "slice us", "weight", "time", "turns",
	       "yields", "preemptions", "resets");
	for (i = 0; i <= count; i++)
		print_function(adapter, i, &last[i]);
	fflush(stdout);
}

static int set_policy(unsigned int adapter, const char *name)
{
	int ret = functions_write(adapter, "sriov_admin/policy", name);
	unsigned int i;

	if (ret != -EINVAL)
		return ret ? tool_fail("functions", ret) : 0;
	fprintf(stderr, "vfence: no such policy: %s; there are", name);
	for (i = 0; i < VFENCE_POLICIES; i++)
		fprintf(stderr, " %s", vfence_policies[i].name);
	fputs("\n", stderr);
	return ret;
}

/* Print a table each second. A function that is removed meanwhile ends it. */
static void watch(unsigned int adapter, unsigned int count, unsigned int seconds,
		  struct usage *last)
{
	struct timespec second = { .tv_sec = 1 };
	char text[16];

	while (seconds--) {
		nanosleep(&second, NULL);
		if (functions_read(adapter, "sriov_numvfs", text, sizeof(text)) ||
		    (unsigned int)atoi(text) != count)
			return;
		putchar('\n');
		print_functions(adapter, count, last);
	}
}

int functions_main(const struct options *options)
{
	unsigned int adapter = options->adapter == UINT32_MAX ? 0 : options->adapter, count;
	struct usage last[MOST + 1] = { 0 };
	char text[256];
	int ret = functions_read(adapter, "sriov_numvfs", text, sizeof(text));

	if (ret)
		return tool_fail("functions", ret);
	count = (unsigned int)atoi(text);
	printf("adapter %u: %u virtual functions\n", adapter, count);
	if (!count) {
		printf("make some: echo 2 >/sys/bus/platform/devices/vfence.%u/sriov_numvfs\n",
		       adapter);
		return 0;
	}
	ret = functions_read(adapter, "sriov_admin/stat", text, sizeof(text));
	if (ret)
		return tool_fail("functions", ret);
	ret = options->policy ? set_policy(adapter, options->policy) : 0;
	if (ret)
		return ret;
	functions_read(adapter, "sriov_admin/policy", text, sizeof(text));
	printf("policy: %s\n\n", text);
	print_functions(adapter, count, last);
	watch(adapter, count, options->watch, last);
	return 0;
}
