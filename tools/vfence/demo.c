// SPDX-License-Identifier: GPL-2.0-only
/* vfence demo: the parent. It starts two clients, keeps them in step and reads counters. */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "demo.h"
#include "trace/live.h"

struct demo {
	struct vf_adapter *adapter;
	struct demo_result *result;
	pid_t pid[DEMO_CLIENTS];
	int sock[DEMO_CLIENTS];
};

static uint64_t proc_interrupts(unsigned int adapter)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	FILE *f = fopen("/proc/interrupts", "re");
	char line[4096], name[24];
	uint64_t total = 0;

	snprintf(name, sizeof(name), " vfence%u\n", adapter);
	while (f && fgets(line, sizeof(line), f)) {
		char *p = strchr(line, ':');
		long i;

		if (!p || !strstr(line, name))
			continue;
		for (p++, i = 0; i < cpus; i++)
			total += strtoull(p, &p, 10);
	}
	if (f)
		fclose(f);
	return total;
}

static int both(struct demo *d, char say, char hear)
{
	char byte = 0;
	int i;

	for (i = 0; say && i < DEMO_CLIENTS; i++)
		if (write(d->sock[i], &say, 1) != 1)
			return -EPIPE;
	for (i = 0; hear && i < DEMO_CLIENTS; i++)
		if (read(d->sock[i], &byte, 1) != 1 || byte != hear)
			return -EPIPE;
	return 0;
}

/* Wait until the counters balance: the last interrupt may come after the clients are done. */
static int settle(struct demo *d, struct vf_counters *c)
{
	int64_t until = vf_deadline(INT64_C(10000000000));
	int ret;

	do {
		ret = vf_adapter_counters(d->adapter, c);
	} while (!ret && !vf_counters_settled(c) && vf_deadline(0) < until);
	return ret;
}

/*
 * Let the GPU do nearly all work before a client waits for the end: without a waiter,
 * the work until then needs no CPU.
 */
static int nearly_through(struct demo *d, unsigned int act)
{
	struct demo_result *r = d->result;
	const struct timespec pause = { .tv_nsec = 500000 };
	int64_t until = vf_deadline(INT64_C(60000000000));
	int ret;

	do {
		nanosleep(&pause, NULL);
		ret = vf_adapter_counters(d->adapter, &r->final[act]);
	} while (!ret && r->final[act].signals - r->before[act].signals <
		 4ull * (r->frames - DEMO_WARM_UP) && vf_deadline(0) < until);
	return ret;
}

/* Mark what a trace has of an act: its steady state, without the wait for its end. */
static void mark_begin(unsigned int act)
{
	static const char *const marks[DEMO_ACTS] = {
		"B|Act 1: no thread waits (values are numbers of frames)",
		"B|Act 2: a thread of each process waits for every tenth frame",
		"B|Act 3: the same with an eventfd and epoll",
	};

	trace_mark(marks[act]);
}

static void mark_end(const struct demo_result *r, unsigned int act)
{
	const struct demo_act *a = &r->shared->report[DEMO_A].act[act];
	const struct demo_act *b = &r->shared->report[DEMO_B].act[act];
	char text[80] = "E|system calls were not counted";

	if (a->counted && b->counted)
		snprintf(text, sizeof(text), "E|%llu system calls for %llu submissions",
			 (unsigned long long)(a->syscalls + b->syscalls),
			 (unsigned long long)(a->submissions + b->submissions));
	trace_mark(text);
}

static int perform(struct demo *d, unsigned int act)
{
	struct demo_result *r = d->result;
	int ret;

	mark_begin(act);
	ret = vf_adapter_counters(d->adapter, &r->before[act]);
	r->proc_before[act] = proc_interrupts(r->shared->adapter);
	r->begin[act] = vf_deadline(0);
	ret = ret ? ret : both(d, 'g', 's');
	ret = ret ? ret : nearly_through(d, act);
	mark_end(r, act);
	ret = ret ? ret : both(d, 'f', 'd');
	r->end[act] = vf_deadline(0);
	ret = ret ? ret : settle(d, &r->after[act]);
	r->proc_after[act] = proc_interrupts(r->shared->adapter);
	return ret;
}

static int start(struct demo *d, struct demo_shared *shared)
{
	int control[2], i, k;

	for (i = 0; i < DEMO_CLIENTS; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control))
			return -errno;
		d->sock[i] = control[0];
		fflush(NULL);
		d->pid[i] = fork();
		if (d->pid[i] < 0)
			return -errno;
		if (!d->pid[i]) {
			for (k = 0; k <= i; k++)
				close(d->sock[k]);
			demo_client((enum demo_client_id)i, control[1], shared);
		}
		close(control[1]);
	}
	return 0;
}

/* Pass A's descriptors on to B: two fences and the buffer. */
static int introduce(struct demo *d)
{
	int i, fd, ret;

	for (i = 0; i < 3; i++) {
		fd = vf_recv_fd(d->sock[DEMO_A]);
		if (fd < 0)
			return fd;
		ret = vf_send_fd(d->sock[DEMO_B], fd);
		close(fd);
		if (ret)
			return ret;
	}
	return both(d, 0, 'r');
}

static int finish(struct demo *d, struct demo_shared *shared, int ret)
{
	int i, status;

	for (i = 0; i < DEMO_CLIENTS; i++) {
		if (d->pid[i] <= 0)
			continue;
		close(d->sock[i]);
		waitpid(d->pid[i], &status, 0);
		if (shared->report[i].error) {
			fprintf(stderr, "vfence: client %c: %s\n", 'A' + i,
				strerror(-shared->report[i].error));
			ret = shared->report[i].error;
		} else if (status) {
			fprintf(stderr, "vfence: client %c died\n", 'A' + i);
			ret = -ECHILD;
		}
	}
	return ret;
}

static int play(struct demo *d)
{
	struct demo_shared *shared = d->result->shared;
	unsigned int act;
	int ret;

	ret = start(d, shared);
	ret = ret ? ret : introduce(d);
	for (act = 0; !ret && act < DEMO_ACTS; act++) {
		fprintf(stderr, "vfence: act %u of %u\n", act + 1, DEMO_ACTS);
		ret = perform(d, act);
	}
	ret = ret ? ret : both(d, 'x', 0);
	return finish(d, shared, ret);
}

static int write_files(const struct demo_result *result, const char *dir)
{
	char path[4096];
	FILE *f;

	if (mkdir(dir, 0777) && errno != EEXIST)
		return -errno;
	snprintf(path, sizeof(path), "%s/summary.txt", dir);
	f = fopen(path, "we");
	if (!f)
		return -errno;
	demo_summary(result, f, false);
	return fclose(f) ? -errno : 0;
}

int demo_main(const struct options *options)
{
	struct demo_shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct demo_result result = { .frames = options->frames, .shared = shared };
	struct demo demo = { .result = &result };
	int ret;

	if (shared == MAP_FAILED)
		return -errno;
	shared->adapter = options->adapter == UINT32_MAX ? 0 : options->adapter;
	shared->frames = options->frames;
	ret = vf_adapter_open(shared->adapter, &demo.adapter);
	if (ret)
		return tool_fail("demo", ret);
	ret = play(&demo);
	vf_adapter_close(demo.adapter);
	if (!ret && options->output)
		ret = write_files(&result, options->output);
	if (!ret)
		ret = demo_summary(&result, stdout, options->json);
	else
		tool_fail("demo", ret);
	munmap(shared, sizeof(*shared));
	return ret;
}
