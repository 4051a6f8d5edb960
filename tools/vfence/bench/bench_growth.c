// SPDX-License-Identifier: GPL-2.0-only
/*
 * vfence bench growth: what a submission and a signal cost beside others, for growing numbers of
 * queues, engines, adapters and functions. On the deterministic clock a nanosecond is an
 * instruction; two processors take turns. Fails if a cost grows with the number of others.
 */

#include <stdlib.h>
#include <sys/utsname.h>

#include <json-c/json.h>

#include "peers.h"

#define MOST_LANES	64
#define ROUNDS		5
/* Submissions, and signals of the CPU, of each lane in a round. */
#define PASSES		32
/* The number of the first function of adapter 0. */
#define FUNCTION	16

/* One queue with fences of its own. */
struct lane {
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	/* The queue waits for @gate and signals @done; the CPU signals @own. */
	struct vf_fence *gate, *done, *own;
	uint64_t opened, value, signaled;
};

enum cost { SUBMIT, EXECUTE, SIGNAL, COSTS };

static const char *const cost_keys[COSTS] = { "submission", "execution", "cpu_signal" };
static const char *const cost_names[COSTS] = { "submission", "execution", "CPU signal" };

/* What grows: where the queue of a lane is. */
struct axis {
	const char *name;
	unsigned int counts[8];
	unsigned int (*adapter)(unsigned int lane);
	uint32_t (*node)(unsigned int lane);
	/*
	 * The most that each cost may be of that with one, in percent; 0: no bound. Engines that are
	 * busy at the same time share the processors, and functions the engine.
	 */
	unsigned int most[COSTS];
};

/* What one operation costs, by round, and the least: other threads of the kernel run in some rounds. */
struct point {
	uint64_t ns[COSTS][ROUNDS];
	uint64_t least[COSTS];
};

static unsigned int first_adapter(unsigned int lane)
{
	(void)lane;
	return 0;
}

static unsigned int own_adapter(unsigned int lane)
{
	return lane;
}

static unsigned int adapter_of_engine(unsigned int lane)
{
	return lane / 4;
}

static unsigned int own_function(unsigned int lane)
{
	return FUNCTION + lane;
}

static uint32_t gfx(unsigned int lane)
{
	(void)lane;
	return DRM_VFENCE_NODE_GFX;
}

static uint32_t own_node(unsigned int lane)
{
	return lane % 4;
}

static const struct axis axes[] = {
	{ "queues", { 1, 2, 4, 8, 16, 32, 64 }, first_adapter, gfx, { 160, 115, 110 } },
	{ "engines", { 1, 2, 4, 8 }, adapter_of_engine, own_node, { 160, 150, 110 } },
	{ "adapters", { 1, 2, 4, 8 }, own_adapter, gfx, { 160, 150, 110 } },
	{ "functions", { 1, 2, 4, 8, 16 }, own_function, gfx, { 160, 0, 110 } },
};

#define AXES	(sizeof(axes) / sizeof(axes[0]))

/* ------------------------------------------------------------------- lanes */

/* Lanes of one adapter share an open file, as the queues of a program do. */
static int lane_open(struct lane *lanes, unsigned int i, const struct axis *axis)
{
	struct lane *lane = &lanes[i];
	unsigned int adapter = axis->adapter(i);
	int ret = 0;

	if (i && axis->adapter(i - 1) == adapter)
		lane->adapter = lanes[i - 1].adapter;
	else
		ret = vf_adapter_open(adapter, &lane->adapter);
	ret = ret ? ret : vf_device_create(lane->adapter, &lane->device);
	ret = ret ? ret : vf_queue_create(lane->device, axis->node(i), 8192, &lane->queue);
	ret = ret ? ret : vf_fence_create(lane->device, 0, 0, &lane->gate);
	ret = ret ? ret : vf_fence_create(lane->device, 0, 0, &lane->done);
	return ret ? ret : vf_fence_create(lane->device, 0, 0, &lane->own);
}

static void lanes_close(struct lane *lanes, unsigned int count)
{
	unsigned int i;

	for (i = count; i-- > 0;) {
		vf_fence_destroy(lanes[i].own);
		vf_fence_destroy(lanes[i].done);
		vf_fence_destroy(lanes[i].gate);
		vf_queue_destroy(lanes[i].queue);
		vf_device_destroy(lanes[i].device);
		if (!i || lanes[i - 1].adapter != lanes[i].adapter)
			vf_adapter_close(lanes[i].adapter);
	}
}

/* ------------------------------------------------------------ measurements */

/* Every queue blocks, so that submissions only add to a queue that has work. */
static int block_queues(struct lane *lanes, unsigned int count)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < count; i++) {
		vf_cmd_wait(lanes[i].queue, lanes[i].gate, ++lanes[i].opened);
		ret = vf_queue_submit(lanes[i].queue);
	}
	for (i = 0; !ret && i < count; i++) {
		struct drm_vfence_queue_info query;

		do {
			ret = vf_queue_query(lanes[i].queue, &query);
		} while (!ret && query.state != DRM_VFENCE_QUEUE_BLOCKED);
	}
	return ret;
}

static int submit_all(struct lane *lanes, unsigned int count)
{
	unsigned int i, k;
	int ret = 0;

	for (k = 0; k < PASSES; k++)
		for (i = 0; !ret && i < count; i++) {
			vf_cmd_signal(lanes[i].queue, lanes[i].done, ++lanes[i].value);
			ret = vf_queue_publish(lanes[i].queue);
		}
	return ret;
}

static int execute_all(struct lane *lanes, unsigned int count)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < count; i++)
		ret = vf_fence_signal(lanes[i].gate, lanes[i].opened);
	for (i = 0; !ret && i < count; i++)
		ret = vf_fence_wait(lanes[i].done, lanes[i].value, VF_FOREVER);
	return ret;
}

static int signal_all(struct lane *lanes, unsigned int count)
{
	unsigned int i, k;
	int ret = 0;

	for (k = 0; k < PASSES; k++)
		for (i = 0; !ret && i < count; i++)
			ret = vf_fence_signal(lanes[i].own, ++lanes[i].signaled);
	return ret;
}

/* Run a measurement, and note what it took for each of its operations. */
static int timed(int (*run)(struct lane *lanes, unsigned int count), struct lane *lanes,
		 unsigned int count, uint64_t *ns)
{
	uint64_t begun = bench_now();
	int ret = run(lanes, count);

	*ns = (bench_now() - begun) / ((uint64_t)count * PASSES);
	return ret;
}

static int measure(struct lane *lanes, unsigned int count, struct point *point)
{
	unsigned int i;
	int ret = 0;

	/* The first round warms up: the second one takes its place. */
	for (i = 0; !ret && i <= ROUNDS; i++) {
		unsigned int at = i ? i - 1 : 0;

		ret = block_queues(lanes, count);
		ret = ret ? ret : timed(submit_all, lanes, count, &point->ns[SUBMIT][at]);
		ret = ret ? ret : timed(execute_all, lanes, count, &point->ns[EXECUTE][at]);
		ret = ret ? ret : timed(signal_all, lanes, count, &point->ns[SIGNAL][at]);
	}
	return ret;
}

/* ------------------------------------------------------------------- output */

static uint64_t least_of(const uint64_t *ns)
{
	uint64_t least = ns[0];
	unsigned int i;

	for (i = 1; i < ROUNDS; i++)
		if (ns[i] < least)
			least = ns[i];
	return least;
}

static void add_point(json_object *list, const char *axis, unsigned int count, struct point *point)
{
	json_object *o = json_object_new_object();
	unsigned int i;

	json_object_object_add(o, "axis", json_object_new_string(axis));
	json_object_object_add(o, "count", json_object_new_int64(count));
	printf("%3u %-10s", count, axis);
	for (i = 0; i < COSTS; i++) {
		point->least[i] = least_of(point->ns[i]);
		json_object_object_add(o, cost_keys[i],
				       json_object_new_int64((int64_t)point->least[i]));
		printf(" %10llu", (unsigned long long)point->least[i]);
	}
	json_object_array_add(list, o);
	putchar('\n');
}

static int run_count(const struct axis *axis, unsigned int count, json_object *list,
		     struct point *point)
{
	struct lane *lanes = calloc(MOST_LANES, sizeof(*lanes));
	unsigned int i;
	int ret = lanes ? 0 : -ENOMEM;

	for (i = 0; !ret && i < count; i++)
		ret = lane_open(lanes, i, axis);
	if (!ret)
		ret = measure(lanes, count, point);
	if (!ret) {
		add_point(list, axis->name, count, point);
		lanes_close(lanes, count);
	}
	free(lanes);
	return ret;
}

/* What the module was not loaded with is left out. */
static bool axis_is_there(const struct axis *axis)
{
	struct vf_adapter *adapter;
	unsigned int i, most = 0;

	for (i = 0; i < 8 && axis->counts[i]; i++)
		most = axis->counts[i];
	if (vf_adapter_open(axis->adapter(most - 1), &adapter))
		return false;
	vf_adapter_close(adapter);
	return true;
}

static int check_growth(const struct axis *axis, const struct point *one, const struct point *most)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < COSTS; i++) {
		if (!axis->most[i] ||
		    most->least[i] * 100 <= one->least[i] * axis->most[i])
			continue;
		printf("  %s grows with the number of %s\n", cost_names[i], axis->name);
		ret = -ERANGE;
	}
	return ret;
}

static int run_axis(const struct axis *axis, json_object *list)
{
	struct point one, point;
	unsigned int i;
	int ret = 0;

	if (!axis_is_there(axis))
		return 0;
	for (i = 0; !ret && i < 8 && axis->counts[i]; i++) {
		ret = run_count(axis, axis->counts[i], list, &point);
		if (!i)
			one = point;
	}
	return ret ? ret : check_growth(axis, &one, &point);
}

int bench_growth_main(const struct options *options)
{
	json_object *o = json_object_new_object(), *list = json_object_new_array();
	struct utsname kernel;
	unsigned int i;
	int ret = 0;

	uname(&kernel);
	json_object_object_add(o, "kernel", json_object_new_string(kernel.release));
	json_object_object_add(o, "growth", list);
	printf("%-14s %10s %10s %10s\n", "ns for each", cost_names[SUBMIT], cost_names[EXECUTE],
	       cost_names[SIGNAL]);
	for (i = 0; !ret && i < AXES; i++)
		ret = run_axis(&axes[i], list);
	if (!ret && options->output &&
	    json_object_to_file_ext(options->output, o, JSON_C_TO_STRING_PLAIN))
		ret = -EIO;
	if (ret)
		tool_fail("bench growth", ret);
	json_object_put(o);
	return ret;
}
