// SPDX-License-Identifier: GPL-2.0-only
/* vfence functions: the virtual functions of an adapter, how they share its engines, what each had. */

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "functions.h"
#include "tool.h"

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

static void print_function(unsigned int adapter, const char *folder, const char *name)
{
	uint64_t elapsed = functions_stat(adapter, ".", "gfx", "elapsed_ns");
	uint64_t run = functions_stat(adapter, folder, "gfx", "run_ns");
	char slice[16] = "", weight[16] = "", file[64];

	snprintf(file, sizeof(file), "sriov_admin/%s/profile/exec_quantum_us", folder);
	functions_read(adapter, file, slice, sizeof(slice));
	snprintf(file, sizeof(file), "sriov_admin/%s/profile/weight", folder);
	functions_read(adapter, file, weight, sizeof(weight));
	printf("%-16s%10s%8s%7.1f %%%9" PRIu64 "%9" PRIu64 "%13" PRIu64 "%8" PRIu64 "\n", name,
	       slice, weight, elapsed ? 100.0 * (double)run / (double)elapsed : 0,
	       functions_stat(adapter, folder, "gfx", "turns"),
	       functions_stat(adapter, folder, "gfx", "yields"),
	       functions_stat(adapter, folder, "gfx", "preemptions"),
	       functions_stat(adapter, folder, "gfx", "resets"));
}

int functions_main(const struct options *options)
{
	unsigned int adapter = options->adapter == UINT32_MAX ? 0 : options->adapter;
	char text[256], folder[16], name[32];
	unsigned int count, i;
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
	functions_read(adapter, "sriov_admin/policy", text, sizeof(text));
	printf("policy: %s\n\n", text);
	printf("%-16s%10s%8s%9s%9s%9s%13s%8s\n", "function", "slice us", "weight", "time", "turns",
	       "yields", "preemptions", "resets");
	print_function(adapter, "pf", "pf");
	for (i = 1; i <= count; i++) {
		snprintf(folder, sizeof(folder), "vf%u", i);
		snprintf(name, sizeof(name), "vf%u (%u)", i, functions_number(adapter, i));
		print_function(adapter, folder, name);
	}
	return 0;
}
