// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two clients of the demo. Each opens the adapter for itself. They share two
 * fences and a buffer, which are passed by descriptor.
 */

#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "demo.h"

#define RING		(1u << 20)
#define BUFFER		4096
#define DRAW_NS		20000
#define PATIENCE	INT64_C(60000000000)

struct client {
	enum demo_client_id id;
	int sock;
	struct demo_shared *shared;
	struct demo_report *report;
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	struct vf_fence *fence[2];
	struct vf_buffer *buffer;
	struct vf_buffer *slots;
	/* The log pump: a thread that reads the logs. */
	pthread_t pump;
	volatile bool stop_pump;
	volatile unsigned int act;
	uint64_t lost_before;
	int counter[2];
	uint64_t counter_overhead[2];
};

#define TRY(call) do {				\
	int _ret = (call);			\
	if (_ret < 0)				\
		return _ret;			\
} while (0)

/* ------------------------------------------------- counting kernel entries */

static int tracepoint_id(const char *event)
{
	char path[128], text[16] = { 0 };
	int fd, n;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", event);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = (int)read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 ? atoi(text) : -EIO;
}

/* Open a counter for an event of this thread. It is disabled at first. */
static int open_counter(const char *event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .disabled = 1,
	};
	int id = tracepoint_id(event);

	if (id < 0)
		return id;
	attr.config = (uint64_t)id;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void counters_on(struct client *c)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (c->counter[i] >= 0)
			ioctl(c->counter[i], PERF_EVENT_IOC_ENABLE, 0);
}

static void counters_off(struct client *c, uint64_t value[2])
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (c->counter[i] >= 0)
			ioctl(c->counter[i], PERF_EVENT_IOC_DISABLE, 0);
	for (i = 0; i < 2; i++) {
		value[i] = 0;
		if (c->counter[i] >= 0 && read(c->counter[i], &value[i], 8) != 8)
			value[i] = 0;
		if (c->counter[i] >= 0)
			ioctl(c->counter[i], PERF_EVENT_IOC_RESET, 0);
	}
}

static void open_counters(struct client *c)
{
	c->counter[0] = open_counter("raw_syscalls/sys_enter");
	c->counter[1] = open_counter("exceptions/page_fault_user");
	/* Disabling the counters is itself a system call: measure it, to subtract it later. */
	counters_on(c);
	counters_off(c, c->counter_overhead);
}

/* ------------------------------------------------------------------- logs */

static void fetch(struct client *c, enum drm_vfence_log_type type)
{
	static __thread struct drm_vfence_log_entry e[256];
	struct demo_act *act = &c->report->act[c->act];
	unsigned int n;
	uint64_t lost = 0;

	do {
		n = 256;
		if (vf_queue_read_log(c->queue, type, e, &n, &lost))
			return;
		__atomic_fetch_add(&act->ioctls, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&act->log_entries, n, __ATOMIC_RELAXED);
	} while (n == 256);
}

static void fetch_both(struct client *c)
{
	fetch(c, DRM_VFENCE_LOG_WAITS);
	fetch(c, DRM_VFENCE_LOG_SIGNALS);
}

/* Poll the logs often enough: a log holds 84 entries, and no event reports new ones. */
static void *pump(void *arg)
{
	struct client *c = arg;
	struct timespec pause = { .tv_nsec = 200000 };
	struct sched_param param = { .sched_priority = 1 };

	/* Run before the thread that submits, if the privilege allows it. */
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
	while (!c->stop_pump) {
		fetch_both(c);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static uint64_t lost_so_far(struct client *c)
{
	struct drm_vfence_queue_info query;

	return vf_queue_query(c->queue, &query) ? 0 : query.log_lost;
}

/* Wait until the queue is idle: the engine writes the log entry after the value. */
static void wait_for_last_entry(struct client *c, struct demo_act *act)
{
	struct drm_vfence_queue_info query;

	do
		act->ioctls++;
	while (!vf_queue_query(c->queue, &query) &&
	       (query.state == DRM_VFENCE_QUEUE_READY || query.state == DRM_VFENCE_QUEUE_RUNNING));
}

/* ------------------------------------------------------------------ frames */

static uint64_t value_of(struct client *c, unsigned int frame)
{
	return (uint64_t)c->act * c->shared->frames + frame;
}

/* Frames count from 1; slot and pixel carry the fence value. */
static int submit(struct client *c, unsigned int frame)
{
	uint64_t value = value_of(c, frame);

	/* The library connects first, which is one more ioctl. */
	if (vf_queue_status(c->queue) == DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY)
		__atomic_fetch_add(&c->report->act[c->act].ioctls, 1, __ATOMIC_RELAXED);
	if (c->id == DEMO_A) {
		/* The buffer is free when B has copied the previous frame. */
		vf_cmd_wait(c->queue, c->fence[1], value - 1);
		vf_cmd_draw(c->queue, 1, DRAW_NS);
		vf_cmd_fill(c->queue, vf_buffer_va(c->buffer), BUFFER, (uint32_t)value);
		vf_cmd_signal(c->queue, c->fence[0], value);
	} else {
		vf_cmd_wait(c->queue, c->fence[0], value);
		vf_cmd_copy(c->queue, vf_buffer_va(c->slots) + value * BUFFER,
			    vf_buffer_va(c->buffer), BUFFER);
		vf_cmd_signal(c->queue, c->fence[1], value);
	}
	return vf_queue_submit(c->queue);
}

/* Wait on the CPU until the other client has signaled a frame. */
static int cpu_wait(struct client *c, unsigned int frame)
{
	struct vf_fence *fence = c->fence[c->id == DEMO_A ? 1 : 0];

	c->report->act[c->act].cpu_waits++;
	__atomic_fetch_add(&c->report->act[c->act].ioctls, 1, __ATOMIC_RELAXED);
	return vf_fence_wait(fence, value_of(c, frame), vf_deadline(PATIENCE));
}

static int epoll_event(int epoll)
{
	struct epoll_event event;
	uint64_t n;
	int ret;

	for (;;) {
		ret = epoll_wait(epoll, &event, 1, (int)(PATIENCE / 1000000));
		if (ret == 1)
			return read(event.data.fd, &n, 8) == 8 ? 0 : -EIO;
		if (ret == 0)
			return -ETIME;
		if (errno != EINTR)
			return -errno;
	}
}

/* Wait with an eventfd in an epoll loop until the other client has signaled a frame. */
static int event_wait(struct client *c, unsigned int frame, int epoll, int efd)
{
	struct vf_point point = { c->fence[c->id == DEMO_A ? 1 : 0], value_of(c, frame) };
	int ret;

	c->report->act[c->act].cpu_waits++;
	__atomic_fetch_add(&c->report->act[c->act].ioctls, 1, __ATOMIC_RELAXED);
	ret = vf_event_arm(c->adapter, &point, 1, 0, efd, NULL);
	/* The eventfd is signaled even if the value was reached before. */
	if (ret >= 0)
		ret = epoll_event(epoll);
	return ret < 0 ? ret : 0;
}

struct waiter {
	int epoll, efd;
};

static int wait_for_frame(struct client *c, struct waiter *w, unsigned int frame)
{
	if (c->act == 0 || frame % DEMO_WAIT_EVERY)
		return 0;
	return c->act == 1 ? cpu_wait(c, frame) : event_wait(c, frame, w->epoll, w->efd);
}

static int frames(struct client *c, struct waiter *w)
{
	struct demo_act *act = &c->report->act[c->act];
	uint64_t counted[2];
	unsigned int frame;

	for (frame = 1; frame <= c->shared->frames; frame++) {
		if (frame == DEMO_WARM_UP + 1)
			counters_on(c);
		TRY(submit(c, frame));
		TRY(wait_for_frame(c, w, frame));
	}
	counters_off(c, counted);
	act->submissions = c->shared->frames - DEMO_WARM_UP;
	act->syscalls = counted[0] - c->counter_overhead[0];
	act->faults = counted[1] - c->counter_overhead[1];
	act->counted = c->counter[0] >= 0 && c->counter[1] >= 0;
	return 0;
}

static int make_waiter(struct waiter *w)
{
	struct epoll_event event = { .events = EPOLLIN };

	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	w->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	event.data.fd = w->efd;
	return epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->efd, &event) ? -errno : 0;
}

static int expect(int sock, char want)
{
	char byte;

	return read(sock, &byte, 1) == 1 && byte == want ? 0 : -EPIPE;
}

static int tell(int sock, char what)
{
	return write(sock, &what, 1) == 1 ? 0 : -EPIPE;
}

/* The parent sends 'g' (go), 'f' (final wait), 'x' (exit); a client 's' (submitted), 'd' (done). */
static int perform(struct client *c, struct waiter *w)
{
	struct demo_act *act = &c->report->act[c->act];

	TRY(expect(c->sock, 'g'));
	c->stop_pump = false;
	c->lost_before = lost_so_far(c);
	act->ioctls++;
	TRY(-pthread_create(&c->pump, NULL, pump, c));
	TRY(frames(c, w));
	TRY(tell(c->sock, 's'));
	TRY(expect(c->sock, 'f'));
	TRY(cpu_wait(c, c->shared->frames));
	__atomic_fetch_add(&act->ioctls, 1, __ATOMIC_RELAXED);
	TRY(vf_queue_wait_idle(c->queue, vf_deadline(PATIENCE)));
	c->stop_pump = true;
	pthread_join(c->pump, NULL);
	wait_for_last_entry(c, act);
	fetch_both(c);
	act->log_lost = lost_so_far(c) - c->lost_before;
	act->ioctls++;
	return tell(c->sock, 'd');
}

static uint64_t verify(struct client *c)
{
	unsigned int total = DEMO_ACTS * c->shared->frames, i, k;
	const uint32_t *words = vf_buffer_map(c->slots);
	uint64_t bad = 0;

	for (i = 1; i <= total; i++) {
		const uint32_t *slot = words + (size_t)i * BUFFER / 4;

		for (k = 0; k < BUFFER / 4 && slot[k] == i; k++)
			;
		bad += k < BUFFER / 4;
	}
	return bad;
}

static int share(struct client *c)
{
	int fds[3], i;

	if (c->id == DEMO_B) {
		for (i = 0; i < 3; i++) {
			fds[i] = vf_recv_fd(c->sock);
			TRY(fds[i]);
		}
		TRY(vf_fence_open(c->device, fds[0], &c->fence[0]));
		TRY(vf_fence_open(c->device, fds[1], &c->fence[1]));
		TRY(vf_buffer_import(c->adapter, fds[2], &c->buffer));
	} else {
		TRY(vf_fence_create(c->device, DRM_VFENCE_FENCE_SHAREABLE, 0, &c->fence[0]));
		TRY(vf_fence_create(c->device, DRM_VFENCE_FENCE_SHAREABLE, 0, &c->fence[1]));
		TRY(vf_buffer_create(c->adapter, BUFFER, &c->buffer));
		fds[0] = vf_fence_export(c->fence[0]);
		fds[1] = vf_fence_export(c->fence[1]);
		fds[2] = vf_buffer_export(c->buffer);
		for (i = 0; i < 3; i++) {
			TRY(fds[i]);
			TRY(vf_send_fd(c->sock, fds[i]));
		}
	}
	for (i = 0; i < 3; i++)
		close(fds[i]);
	return 0;
}

static int prepare(struct client *c)
{
	int node;

	TRY(vf_adapter_open(c->shared->adapter, &c->adapter));
	TRY(vf_device_create(c->adapter, &c->device));
	node = vf_adapter_find_node(c->adapter, c->id == DEMO_A ? DRM_VFENCE_NODE_GFX :
				    DRM_VFENCE_NODE_COPY);
	TRY(node);
	TRY(vf_queue_create(c->device, (unsigned int)node, RING, &c->queue));
	if (c->id == DEMO_B) {
		TRY(vf_buffer_create(c->adapter, (uint64_t)(DEMO_ACTS * c->shared->frames + 1) *
				     BUFFER, &c->slots));
		memset(vf_buffer_map(c->slots), 0xff, vf_buffer_size(c->slots));
	}
	return share(c);
}

static int run(struct client *c)
{
	struct waiter w;

	TRY(prepare(c));
	TRY(make_waiter(&w));
	open_counters(c);
	TRY(tell(c->sock, 'r'));
	for (c->act = 0; c->act < DEMO_ACTS; c->act++)
		TRY(perform(c, &w));
	if (c->id == DEMO_B)
		c->report->bad_slots = verify(c);
	TRY(expect(c->sock, 'x'));
	close(w.epoll);
	close(w.efd);
	vf_queue_destroy(c->queue);
	vf_buffer_destroy(c->slots);
	vf_buffer_destroy(c->buffer);
	vf_fence_destroy(c->fence[0]);
	vf_fence_destroy(c->fence[1]);
	vf_device_destroy(c->device);
	vf_adapter_close(c->adapter);
	return 0;
}

void demo_client(enum demo_client_id id, int sock, struct demo_shared *shared)
{
	struct client c = { .id = id, .sock = sock, .shared = shared,
			    .report = &shared->report[id] };

	c.report->error = run(&c);
	_exit(c.report->error ? 1 : 0);
}
