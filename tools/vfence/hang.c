// SPDX-License-Identifier: GPL-2.0-only
/* vfence hang: let an engine hang on purpose, so that others can test what they do then. */

#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "switch.h"
#include "text.h"
#include "tool.h"

#define SECOND	1000000000ll
/* More than the longest TdrDelay that makes sense in a test. */
#define PATIENCE	(60 * SECOND)
/* TdrDelay in ms while a queue does not leave its engine. */
#define DELAY_MS	"50"
/* Size of what an endless copy reads and writes. */
#define BYTES		65536

/* What the command has of its own: a device that hangs, and one that looks on. */
struct hang {
	unsigned int index;
	unsigned int node;
	struct vf_adapter *adapter;
	struct vf_device *device;
	/* it looks on from another open file, and so is another client of the GPU */
	struct vf_adapter *beside;
	struct vf_device *bystander;
	struct vf_queue *queue;
	/* only some kinds have these: a queue of the one that looks on, a fence, and a buffer */
	struct vf_queue *waits;
	struct vf_fence *fence;
	struct vf_buffer *buffer;
	int64_t begun;
};

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static void rest(int64_t ns)
{
	struct timespec t = { ns / SECOND, ns % SECOND };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/*
 * Set TdrDelay, and store what it was in @before if that is not NULL. The GPU takes a queue that
 * other clients wait for off its engine after 100 ms: the driver has to be faster.
 */
static int set_delay(const struct hang *hang, const char *value, char *before, size_t size)
{
	char path[PATH_MAX];
	struct stat st;
	int ret = 0;

	if (fstat(vf_adapter_fd(hang->adapter), &st))
		return -errno;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/tdr/delay_ms", major(st.st_rdev),
		 minor(st.st_rdev));
	if (before)
		ret = switch_read(path, before, size);
	return ret ? ret : switch_write(path, value);
}

/* Put a packet that does not end at the end of the queue's ring. */
static int hang_queue(const struct hang *hang)
{
	struct drm_vfence_packet_header packet = {
		.opcode = DRM_VFENCE_OP_HANG, .length = sizeof(packet),
	};

	vf_cmd_raw(hang->queue, &packet, sizeof(packet));
	return vf_queue_submit(hang->queue);
}

/* A submission of a kernel-mode queue: the driver measures its time. */
static int hang_submission(struct hang *hang)
{
	int ret = vf_kernel_queue_create(hang->device, hang->node, &hang->queue);

	return ret ? ret : hang_queue(hang);
}

static int await_running(const struct hang *hang)
{
	struct drm_vfence_queue_info query = { 0 };
	int ret = 0;

	while (!ret && query.state != DRM_VFENCE_QUEUE_RUNNING) {
		rest(SECOND / 1000);
		ret = vf_queue_query(hang->queue, &query);
	}
	return ret;
}

static int await_loss(const struct hang *hang)
{
	int64_t until = now() + PATIENCE;

	while (vf_device_state(hang->device) == DRM_VFENCE_DEVICE_ACTIVE) {
		if (now() > until)
			return -ETIME;
		rest(SECOND / 1000);
	}
	return 0;
}

/* A draw of a user-mode queue takes ten seconds. */
static int draw_for_long(struct hang *hang)
{
	int ret = vf_queue_create(hang->device, hang->node, 4096, &hang->queue);

	if (ret)
		return ret;
	vf_cmd_draw(hang->queue, 1, 10 * SECOND);
	ret = vf_queue_submit(hang->queue);
	return ret ? ret : await_running(hang);
}

/* Another client wants the engine meanwhile. */
static int draw_endlessly(struct hang *hang)
{
	int ret = draw_for_long(hang);

	if (!ret)
		ret = vf_queue_create(hang->bystander, hang->node, 4096, &hang->waits);
	return ret ? ret : vf_queue_submit(hang->waits);
}

/* A copy of a kernel-mode queue makes no progress. */
static int copy_endlessly(struct hang *hang)
{
	int ret = vf_buffer_create(hang->adapter, BYTES, &hang->buffer);
	uint64_t va = ret ? 0 : vf_buffer_va(hang->buffer);

	if (!ret)
		ret = vf_kernel_queue_create(hang->device, hang->node, &hang->queue);
	if (!ret)
		ret = switch_inject(hang->adapter, "hang_copies", "1");
	if (ret)
		return ret;
	vf_cmd_copy(hang->queue, va + BYTES / 2, va, BYTES / 2);
	ret = vf_queue_submit(hang->queue);
	if (!ret)
		ret = await_loss(hang);
	switch_inject(hang->adapter, "hang_copies", "0");
	return ret;
}

/* A user-mode queue is suspended, and stays on its engine. */
static int ignore_preemption(struct hang *hang)
{
	int ret = vf_queue_create(hang->device, hang->node, 4096, &hang->queue);
	char before[32];

	if (!ret)
		ret = hang_queue(hang);
	if (!ret)
		ret = await_running(hang);
	if (!ret)
		ret = set_delay(hang, DELAY_MS, before, sizeof(before));
	if (!ret)
		ret = switch_inject(hang->adapter, "ignore_suspend", "1");
	if (ret)
		return ret;
	ret = vf_queue_suspend(hang->queue, NULL);
	switch_inject(hang->adapter, "ignore_suspend", "0");
	set_delay(hang, before, NULL, 0);
	return ret == -ETIME || ret == -EIO ? 0 : ret;
}

/* The same while @name is switched on. */
static int ignore_preemption_with(struct hang *hang, const char *name)
{
	int ret = switch_inject(hang->adapter, name, "1");

	if (ret)
		return ret;
	ret = ignore_preemption(hang);
	switch_inject(hang->adapter, name, "0");
	return ret;
}

/* What runs on the engine is there after the reset. */
static int survive_reset(struct hang *hang)
{
	return ignore_preemption_with(hang, "survive_reset");
}

/* The engine cannot be reset alone. */
static int hang_adapter(struct hang *hang)
{
	return ignore_preemption_with(hang, "fail_engine_reset");
}

/* The adapter cannot be reset either. */
static int hang_for_good(struct hang *hang)
{
	int ret = switch_inject(hang->adapter, "fail_adapter_reset", "1");

	return ret ? ret : hang_adapter(hang);
}

/* The engine stops in the middle of a draw, without a word. */
static int stop_engine(struct hang *hang)
{
	int ret = draw_for_long(hang);
	char mask[16];

	snprintf(mask, sizeof(mask), "%#x", 1u << hang->node);
	if (!ret)
		ret = switch_inject(hang->adapter, "stop_engines", mask);
	if (ret)
		return ret;
	ret = await_loss(hang);
	switch_inject(hang->adapter, "stop_engines", "0");
	return ret;
}

/* The GPU is to signal a fence for which the CPU waits, while @name is switched on. */
static int signal_with(struct hang *hang, const char *name)
{
	int ret = vf_queue_create(hang->device, hang->node, 4096, &hang->queue);

	if (!ret)
		ret = vf_fence_create(hang->device, 0, 0, &hang->fence);
	if (!ret)
		ret = switch_inject(hang->adapter, name, "1");
	if (ret)
		return ret;
	/* Time to begin the wait. */
	vf_cmd_draw(hang->queue, 20, SECOND / 1000);
	vf_cmd_signal(hang->queue, hang->fence, 1);
	ret = vf_queue_submit(hang->queue);
	return ret ? ret : vf_fence_wait(hang->fence, 1, vf_deadline(PATIENCE));
}

/* The CMP handles no post: the wait ends when the adapter is reset. */
static int stop_cmp(struct hang *hang)
{
	int ret = signal_with(hang, "stop_cmp");

	if (!ret || ret == -EIO)
		ret = await_loss(hang);
	switch_inject(hang->adapter, "stop_cmp", "0");
	return ret;
}

/* The wait ends when the driver finds that the interrupt is missing. */
static int lose_interrupt(struct hang *hang)
{
	return signal_with(hang, "lose_interrupt");
}

static const struct kind {
	const char *name;
	const char *what;
	int (*run)(struct hang *hang);
	/* nothing is lost */
	bool harmless;
} kinds[] = {
	{ "submission", "a submission that does not end", hang_submission, false },
	{ "endless-draw", "a draw that others wait for", draw_endlessly, false },
	{ "endless-copy", "a copy that does not end", copy_endlessly, false },
	{ "ignores-preemption", "a queue that does not leave its engine", ignore_preemption, false },
	{ "stops-answering", "an engine that stops without a word", stop_engine, false },
	{ "survives-reset", "a queue that survives the reset of its engine", survive_reset, false },
	{ "adapter", "an engine that cannot be reset alone", hang_adapter, false },
	{ "cmp-stops", "a CMP that handles no signals", stop_cmp, false },
	{ "lost", "an adapter that cannot be reset", hang_for_good, false },
	{ "interrupt-lost", "an interrupt that does not come", lose_interrupt, true },
};

static void report(const struct hang *hang, const char *text, const char *more)
{
	printf("%7.3f s  %s%s\n", (double)(now() - hang->begun) / SECOND, text, more);
}

static bool new_device_works(struct hang *hang)
{
	struct vf_device *device;
	struct vf_queue *queue;
	bool works;

	if (vf_device_create(hang->adapter, &device))
		return false;
	works = !vf_queue_create(device, hang->node, 4096, &queue) && !vf_queue_submit(queue) &&
		!vf_queue_wait_idle(queue, vf_deadline(PATIENCE));
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	return works;
}

/* Return 0, or an error if the device did not hang. */
static int watch(struct hang *hang, const struct kind *kind)
{
	int ret = kind->harmless ? 0 : await_loss(hang);

	if (ret)
		return ret;
	report(hang, "the device is ", text_device_state(vf_device_state(hang->device)));
	report(hang, "another device of this process is ",
	       text_device_state(vf_device_state(hang->bystander)));
	report(hang, "a new device ", new_device_works(hang) ? "works" : "does not work");
	return 0;
}

static int run(struct hang *hang, const struct kind *kind)
{
	int ret = vf_device_create(hang->adapter, &hang->device);

	if (!ret)
		ret = vf_adapter_open(hang->index, &hang->beside);
	if (!ret)
		ret = vf_device_create(hang->beside, &hang->bystander);
	if (ret)
		return ret;
	hang->begun = now();
	report(hang, kind->what, "");
	ret = kind->run(hang);
	if (ret == -EACCES || ret == -EPERM || ret == -ENOENT)
		fprintf(stderr, "vfence: hang: needs root, debugfs and a driver with CONFIG_DRM_VFENCE_INJECTION, but for --kind submission\n");
	return ret ? ret : watch(hang, kind);
}

static const struct kind *find_kind(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!name || !strcmp(name, kinds[i].name))
			return &kinds[i];
	fprintf(stderr, "vfence: no such kind: %s; there are", name);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		fprintf(stderr, "%s %s", i ? "," : "", kinds[i].name);
	fprintf(stderr, "\n");
	return NULL;
}

/* Return the node, or -1. */
static int find_node(const char *name)
{
	static const char *const nodes[] = { "gfx", "compute", "copy", "mm" };
	int i;

	for (i = 0; i < 4; i++)
		if (!name || !strcmp(name, nodes[i]))
			return i;
	fprintf(stderr, "vfence: no such node: %s; there are gfx, compute, copy, mm\n", name);
	return -1;
}

int hang_main(const struct options *options)
{
	struct hang hang = { .index = options->adapter == UINT32_MAX ? 0 : options->adapter };
	const struct kind *kind = find_kind(options->kind);
	int ret, node = find_node(options->node);

	if (!kind || node < 0)
		return -EINVAL;
	hang.node = (unsigned int)node;
	ret = vf_adapter_open(hang.index, &hang.adapter);
	if (ret)
		return tool_fail("hang", ret);
	rest(options->after * SECOND);
	ret = run(&hang, kind);
	vf_queue_destroy(hang.queue);
	vf_queue_destroy(hang.waits);
	vf_fence_destroy(hang.fence);
	vf_buffer_destroy(hang.buffer);
	vf_device_destroy(hang.bystander);
	vf_device_destroy(hang.device);
	vf_adapter_close(hang.beside);
	vf_adapter_close(hang.adapter);
	return ret ? tool_fail("hang", ret) : 0;
}
