// SPDX-License-Identifier: GPL-2.0-only
/*
 * vfence bench: the cost of single operations. In a deterministic guest a
 * nanosecond is an instruction, and the figures repeat to the digit.
 */

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>
#include <xf86drm.h>

#include "bench.h"

#define BATCH	200
#define ROUNDS	5

struct bench {
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *gfx, *copy;
	struct vf_fence *fence, *gate, *back;
	uint64_t value;
	int efd;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void drm_nop(struct bench *b)
{
	struct drm_get_cap cap = { .capability = DRM_CAP_PRIME };

	drmIoctl(vf_adapter_fd(b->adapter), DRM_IOCTL_GET_CAP, &cap);
}

static void cpu_signal(struct bench *b)
{
	vf_fence_signal(b->fence, ++b->value);
}

static void poll_value(struct bench *b)
{
	vf_fence_current(b->fence);
}

static void wait_reached(struct bench *b)
{
	vf_fence_wait(b->fence, b->value, VF_FOREVER);
}

static void arm_reached(struct bench *b)
{
	struct vf_point point = { b->fence, b->value };

	vf_event_arm(b->adapter, &point, 1, 0, b->efd, NULL);
}

static void drain(struct vf_queue *queue)
{
	while (vf_fence_current(vf_queue_progress(queue)) < vf_queue_last_queued(queue))
		sched_yield();
}

static void submit_idle(struct bench *b)
{
	vf_queue_submit(b->gfx);
}

/* Wait until the doorbell is armed again: the next ring must be a fault. */
static void rest(struct bench *b)
{
	struct drm_vfence_queue_query query;

	drain(b->gfx);
	do {
		sched_yield();
	} while (!vf_queue_query(b->gfx, &query) && query.state != DRM_VFENCE_QUEUE_IDLE);
	usleep(100);
}

static void submit_busy(struct bench *b)
{
	vf_queue_submit(b->gfx);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t median(uint64_t *v, unsigned int n)
{
	qsort(v, n, sizeof(*v), compare);
	return v[n / 2];
}

/* Return the cost of one call: the median of the means of some rounds. */
static uint64_t measure(struct bench *b, void (*call)(struct bench *b))
{
	uint64_t round[ROUNDS];
	unsigned int i, k;

	for (k = 0; k < ROUNDS; k++) {
		uint64_t begin = now();

		for (i = 0; i < BATCH; i++)
			call(b);
		round[k] = (now() - begin) / BATCH;
	}
	return median(round, ROUNDS);
}

/*
 * Return the median cost of one call, without the cost of reading the clock. @between runs
 * before each call and is not measured.
 */
static uint64_t measure_apart(struct bench *b, void (*call)(struct bench *b),
			      void (*between)(struct bench *b))
{
	uint64_t each[BATCH], overhead = now();
	unsigned int i;

	overhead = now() - overhead;
	for (i = 0; i < BATCH; i++) {
		uint64_t begin;

		between(b);
		begin = now();
		call(b);
		each[i] = now() - begin - overhead;
	}
	return median(each, BATCH);
}

/* Measure GPU work by the GPU's clock: emit it n times between two time stamps. */
static uint64_t gpu_span(struct bench *b, struct vf_buffer *buffer, unsigned int n,
			 void (*emit)(struct bench *b))
{
	volatile uint64_t *stamp = vf_buffer_map(buffer);
	struct drm_vfence_clock_info clock;
	unsigned int i;

	vf_adapter_clock(b->adapter, &clock);
	vf_cmd_timestamp(b->gfx, vf_buffer_va(buffer));
	for (i = 0; i < n; i++)
		emit(b);
	vf_cmd_timestamp(b->gfx, vf_buffer_va(buffer) + 8);
	vf_queue_submit(b->gfx);
	vf_queue_publish(b->copy);
	/* Sleep: a thread that polls would take the engines' processor. */
	vf_queue_wait_idle(b->gfx, VF_FOREVER);
	return (stamp[1] - stamp[0]) * 1000000000 / clock.frequency_hz / n;
}

static void emit_signal(struct bench *b)
{
	vf_cmd_signal(b->gfx, b->fence, ++b->value);
}

/* Hand over to the other engine and back. */
static void emit_release(struct bench *b)
{
	b->value++;
	vf_cmd_signal(b->gfx, b->gate, b->value);
	vf_cmd_wait(b->gfx, b->back, b->value);
	vf_cmd_wait(b->copy, b->gate, b->value);
	vf_cmd_signal(b->copy, b->back, b->value);
}

static int set_up(struct bench *b, unsigned int adapter)
{
	int ret = vf_adapter_open(adapter, &b->adapter);

	ret = ret ? ret : vf_device_create(b->adapter, &b->device);
	ret = ret ? ret : vf_queue_create(b->device, 0, 1 << 20, &b->gfx);
	ret = ret ? ret : vf_queue_create(b->device, 2, 1 << 20, &b->copy);
	ret = ret ? ret : vf_fence_create(b->device, 0, 0, &b->fence);
	ret = ret ? ret : vf_fence_create(b->device, 0, 0, &b->gate);
	ret = ret ? ret : vf_fence_create(b->device, 0, 0, &b->back);
	b->efd = eventfd(0, EFD_CLOEXEC);
	return ret;
}

struct result {
	const char *name;
	uint64_t ns;
};

static unsigned int run(struct bench *b, struct vf_buffer *buffer, struct result *r)
{
	unsigned int n = 0;
	uint64_t gate;

	r[n++] = (struct result){ "DRM no-op ioctl", measure(b, drm_nop) };
	r[n++] = (struct result){ "CPU signal, no waiter", measure(b, cpu_signal) };
	r[n++] = (struct result){ "poll of the mapped value", measure(b, poll_value) };
	r[n++] = (struct result){ "wait, value reached", measure(b, wait_reached) };
	r[n++] = (struct result){ "eventfd arm, value reached", measure(b, arm_reached) };
	r[n++] = (struct result){ "submission, idle queue", measure_apart(b, submit_idle, rest) };
	gpu_span(b, buffer, 100, emit_signal);
	r[n++] = (struct result){ "GPU signal and LOG, no waiter",
				  gpu_span(b, buffer, 100, emit_signal) };
	r[n++] = (struct result){ "GPU-to-GPU release (half a round trip)",
				  gpu_span(b, buffer, 100, emit_release) / 2 };
	/* The queue is busy: a wait blocks it during the submissions. */
	gate = b->value + 1;
	vf_cmd_wait(b->gfx, b->fence, gate);
	vf_queue_submit(b->gfx);
	r[n++] = (struct result){ "submission, busy queue", measure(b, submit_busy) };
	vf_fence_signal(b->fence, gate);
	drain(b->gfx);
	return n;
}

static void add_cost(json_object *to, const char *name, uint64_t value)
{
	json_object_object_add(to, name, json_object_new_int64((int64_t)value));
}

/* Measure interrupts per 1,000 signals, in the form of interrupt that this adapter has. */
static int interrupts(struct bench *b, bool json, json_object *to)
{
	static const unsigned int waiters[] = { 0, 1, 100 };
	json_object *list = json_object_new_array();
	unsigned int i;
	int ret = 0;

	json_object_object_add(to, "interrupts_per_1000_signals", list);
	if (!json)
		puts("\nof 1,000 signals   interrupts  records    scans  log entries  woken");
	for (i = 0; !ret && i < 3; i++) {
		json_object *o = json_object_new_object();
		struct interrupt_cost c;

		ret = bench_interrupts(b->adapter, b->gfx, b->back, waiters[i], &c);
		if (ret) {
			tool_fail("bench", ret);
			json_object_put(o);
			break;
		}
		if (!json)
			printf("  %3u waiters %16llu %8llu %8llu %12llu %6llu\n", c.waiters,
			       (unsigned long long)c.interrupts, (unsigned long long)c.records,
			       (unsigned long long)c.scans, (unsigned long long)c.entries,
			       (unsigned long long)c.woken);
		add_cost(o, "waiters", c.waiters);
		add_cost(o, "interrupts", c.interrupts);
		add_cost(o, "records", c.records);
		add_cost(o, "scans", c.scans);
		add_cost(o, "log_entries", c.entries);
		add_cost(o, "woken", c.woken);
		json_object_array_add(list, o);
	}
	return ret;
}

int bench_main(const struct options *options)
{
	struct bench b = { 0 };
	struct vf_buffer *buffer;
	struct result r[16];
	unsigned int i, n;
	json_object *o;
	int ret = set_up(&b, options->adapter == UINT32_MAX ? 0 : options->adapter);

	if (!ret)
		ret = vf_buffer_create(b.adapter, 4096, &buffer);
	if (ret)
		return tool_fail("bench", ret);
	n = run(&b, buffer, r);
	o = json_object_new_object();
	for (i = 0; i < n; i++) {
		if (!options->json)
			printf("%-40s %8llu ns\n", r[i].name, (unsigned long long)r[i].ns);
		json_object_object_add(o, r[i].name, json_object_new_int64((int64_t)r[i].ns));
	}
	ret = interrupts(&b, options->json, o);
	if (options->json)
		puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
	vf_buffer_destroy(buffer);
	vf_queue_destroy(b.gfx);
	vf_queue_destroy(b.copy);
	vf_fence_destroy(b.fence);
	vf_fence_destroy(b.gate);
	vf_fence_destroy(b.back);
	close(b.efd);
	vf_device_destroy(b.device);
	vf_adapter_close(b.adapter);
	return ret;
}
