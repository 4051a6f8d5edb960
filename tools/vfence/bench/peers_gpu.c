// SPDX-License-Identifier: GPL-2.0-only
/* vfence bench peers: what has no peer, because it happens on the GPU's side. */

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "peers.h"

#define ROUNDS		20
#define PACKETS		1000
#define PASSES		100
/* Before a wake-up: long enough for the waiter to sleep. */
#define BEFORE_NS	100000

static void await_state(struct vf_queue *queue, enum drm_vfence_queue_state state)
{
	struct drm_vfence_queue_info query;

	while (!vf_queue_query(queue, &query) && query.state != state)
		sched_yield();
}

/*
 * Wait until the queue is idle and its doorbell armed again: the next ring is a fault. A client
 * cannot see that the doorbell is armed, which a worker does at once.
 */
static void rest(struct vf_queue *queue)
{
	vf_queue_wait_idle(queue, VF_FOREVER);
	await_state(queue, DRM_VFENCE_QUEUE_IDLE);
	usleep(200);
}

/* Return: the thread of the virtual GPU with this name, or 0. */
static pid_t thread_named(const char *name)
{
	struct dirent *entry;
	char path[64], comm[32];
	DIR *proc = opendir("/proc");
	pid_t thread = 0;
	FILE *f;

	while (proc && !thread && (entry = readdir(proc))) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/comm", entry->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (!fgets(comm, sizeof(comm), f))
			comm[0] = 0;
		fclose(f);
		comm[strcspn(comm, "\n")] = 0;
		if (!strcmp(comm, name))
			thread = atoi(entry->d_name);
	}
	if (proc)
		closedir(proc);
	return thread;
}

/* Return: processor time of a thread so far, in ns, or 0. */
static uint64_t thread_ns(pid_t thread)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", thread);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	fclose(f);
	return ns;
}

/*
 * What measures has the first processor, and the engines have this one. Otherwise other threads of the
 * kernel decide, in each boot anew, whether they share a processor, and a submission that wakes an
 * engine of the other one takes 3,300 instructions more.
 */
int gpu_place_engines(unsigned int processor)
{
	static const char *const engines[] = { "vfence0-engine0", "vfence0-engine2" };
	unsigned int i;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return -errno;
	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	for (i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (sched_setaffinity(thread_named(engines[i]), sizeof(set), &set))
			return -errno;
	return 0;
}

/* The queue executes all that was emitted at once, when the gate opens. */
static void begin_batch(struct bench_world *w)
{
	vf_cmd_wait(w->gfx, w->gate, ++w->gate_value);
}

static int open_gate(struct bench_world *w)
{
	int ret = vf_queue_submit(w->gfx);

	return ret ? ret : vf_fence_signal(w->gate, w->gate_value);
}

static int batch_ns(struct bench_world *w, unsigned int count, bool signals, uint64_t *ns)
{
	pid_t engine = thread_named("vfence0-engine0");
	uint64_t before;
	unsigned int i;
	int ret;

	begin_batch(w);
	for (i = 0; i < count; i++) {
		if (signals)
			vf_cmd_signal(w->gfx, w->fence, ++w->value);
		else
			vf_cmd_nop(w->gfx, 8);
	}
	before = thread_ns(engine);
	ret = open_gate(w);
	rest(w->gfx);
	*ns = thread_ns(engine) - before;
	return ret;
}

int gpu_packet(struct bench_world *w, struct samples *s, bool signals)
{
	uint64_t none, all;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < ROUNDS; i++) {
		ret = batch_ns(w, 0, signals, &none);
		ret = ret ? ret : batch_ns(w, PACKETS, signals, &all);
		s->ns[s->count++] = (all - none) / PACKETS;
	}
	return ret;
}

/* Two engines hand over to each other. */
int gpu_release(struct bench_world *w, struct samples *s)
{
	unsigned int i, k;
	int ret = 0;

	for (k = 0; !ret && k < ROUNDS; k++) {
		uint64_t begun, gate;

		begin_batch(w);
		gate = w->gate_value;
		for (i = 0; i < PASSES; i++) {
			w->gate_value++;
			w->value++;
			vf_cmd_signal(w->gfx, w->back, w->value);
			vf_cmd_wait(w->copy, w->back, w->value);
			vf_cmd_signal(w->copy, w->gate, w->gate_value);
			vf_cmd_wait(w->gfx, w->gate, w->gate_value);
		}
		ret = vf_queue_submit(w->copy);
		ret = ret ? ret : vf_queue_submit(w->gfx);
		await_state(w->copy, DRM_VFENCE_QUEUE_BLOCKED);
		await_state(w->gfx, DRM_VFENCE_QUEUE_BLOCKED);
		begun = bench_now();
		ret = ret ? ret : vf_fence_signal(w->gate, gate);
		ret = ret ? ret : vf_queue_wait_idle(w->gfx, VF_FOREVER);
		s->ns[s->count++] = (bench_now() - begun) / (2 * PASSES);
		rest(w->copy);
		rest(w->gfx);
	}
	return ret;
}

/* What a client does for each submission while its queue has work: a wait, a draw, a signal. */
int gpu_submit_busy(struct bench_world *w, struct samples *s)
{
	unsigned int i;
	int ret;

	begin_batch(w);
	ret = vf_queue_submit(w->gfx);
	for (i = 0; !ret && i < 200; i++) {
		/* Reading the clock takes longer now and then, so each sample has a reading of its own. */
		uint64_t before = bench_now(), begun = bench_now(), overhead = begun - before;

		vf_cmd_wait(w->gfx, w->gate, w->gate_value);
		vf_cmd_draw(w->gfx, 1, 0);
		vf_cmd_signal(w->gfx, w->fence, ++w->value);
		ret = vf_queue_publish(w->gfx);
		s->ns[s->count++] = bench_now() - begun - overhead;
	}
	ret = ret ? ret : vf_fence_signal(w->gate, w->gate_value);
	rest(w->gfx);
	return ret;
}

/* Return: the CPU time of a stamp of the GPU. */
static uint64_t stamp_ns(struct bench_world *w)
{
	volatile uint64_t *stamp = vf_buffer_map(w->buffer);
	struct drm_vfence_clock_info c;

	vf_adapter_clock(w->adapter, &c);
	return (uint64_t)((int64_t)c.cpu_ns + (int64_t)(*stamp - c.gpu_ticks) *
			  1000000000 / (int64_t)c.frequency_hz);
}

/*
 * From the submission to an idle queue until its engine has executed the first packet, as the
 * submitter sees it, who polls. A pause gives the other processor its turn.
 */
int gpu_submit_idle(struct bench_world *w, struct samples *s)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < 100; i++) {
		uint64_t begun;

		vf_cmd_signal(w->gfx, w->fence, ++w->value);
		rest(w->gfx);
		begun = bench_now();
		ret = vf_queue_publish(w->gfx);
		while (!ret && vf_fence_current(w->fence) < w->value)
			__builtin_ia32_pause();
		s->ns[s->count++] = bench_now() - begun;
		rest(w->gfx);
	}
	return ret;
}

static int add_idle_queues(struct bench_world *w, struct vf_queue **queue, unsigned int count)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < count; i++) {
		ret = vf_queue_create(w->device, 0, 4096, &queue[i]);
		ret = ret ? ret : vf_queue_submit(queue[i]);
		if (!ret)
			rest(queue[i]);
	}
	return ret;
}

static int add_waiters(struct bench_world *w, struct vf_fence *fence, unsigned int count, int efd)
{
	struct vf_point point = { fence, 1 };
	unsigned int i;
	int ret = 0;

	for (i = 0; ret >= 0 && i < count; i++)
		ret = vf_event_arm(w->adapter, &point, 1, 0, efd, NULL);
	return ret < 0 ? ret : 0;
}

static int wake_once(struct bench_world *w, uint64_t *ns)
{
	uint64_t woken;
	int ret;

	vf_cmd_draw(w->gfx, 1, BEFORE_NS);
	vf_cmd_timestamp(w->gfx, vf_buffer_va(w->buffer));
	vf_cmd_signal(w->gfx, w->fence, ++w->value);
	ret = vf_queue_submit(w->gfx);
	ret = ret ? ret : vf_fence_wait(w->fence, w->value, VF_FOREVER);
	woken = bench_now();
	*ns = woken - stamp_ns(w);
	return ret;
}

/* From a signal of the GPU until the thread runs that waits for it. */
int gpu_wake(struct bench_world *w, struct samples *s, unsigned int idle_queues,
	     unsigned int waiters)
{
	struct vf_queue *queue[64] = { NULL };
	int efd = eventfd(0, EFD_CLOEXEC);
	struct vf_fence *elsewhere;
	unsigned int i;
	int ret = vf_fence_create(w->device, 0, 0, &elsewhere);

	ret = ret ? ret : add_idle_queues(w, queue, idle_queues);
	ret = ret ? ret : add_waiters(w, elsewhere, waiters, efd);
	for (i = 0; !ret && i < 100; i++)
		ret = wake_once(w, &s->ns[s->count++]);
	for (i = 0; i < idle_queues; i++)
		vf_queue_destroy(queue[i]);
	/* This fires the events. */
	vf_fence_signal(elsewhere, 1);
	vf_fence_destroy(elsewhere);
	close(efd);
	return ret;
}

int gpu_draws(struct bench_world *w, struct samples *s, uint64_t draw_ns)
{
	unsigned int i, k;
	int ret = 0;

	for (k = 0; !ret && k < 5; k++) {
		uint64_t begun;

		begin_batch(w);
		for (i = 0; i < PACKETS; i++)
			vf_cmd_draw(w->gfx, 1, draw_ns);
		begun = bench_now();
		ret = open_gate(w);
		ret = ret ? ret : vf_queue_wait_idle(w->gfx, VF_FOREVER);
		s->ns[s->count++] = (bench_now() - begun) / PACKETS;
		rest(w->gfx);
	}
	return ret;
}
