// SPDX-License-Identifier: GPL-2.0-only
/*
 * vfence bench: what GPU signals cost the CPU, in the form of interrupt that an adapter has. In a
 * deterministic guest the figures repeat to the digit. What single operations cost is measured by
 * vfence bench peers.
 */

#include <stdlib.h>

#include <json-c/json.h>

#include "bench.h"

struct bench {
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *gfx;
	struct vf_fence *fence;
};

static int set_up(struct bench *b, unsigned int adapter)
{
	int ret = vf_adapter_open(adapter, &b->adapter);

	ret = ret ? ret : vf_device_create(b->adapter, &b->device);
	ret = ret ? ret : vf_queue_create(b->device, 0, 1 << 20, &b->gfx);
	return ret ? ret : vf_fence_create(b->device, 0, 0, &b->fence);
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
		puts("of 1,000 signals   interrupts  records    scans  log entries  woken");
	for (i = 0; !ret && i < 3; i++) {
		json_object *o = json_object_new_object();
		struct interrupt_cost c;

		ret = bench_interrupts(b->adapter, b->gfx, b->fence, waiters[i], &c);
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
	json_object *o;
	int ret = set_up(&b, options->adapter == UINT32_MAX ? 0 : options->adapter);

	if (ret)
		return tool_fail("bench", ret);
	o = json_object_new_object();
	ret = interrupts(&b, options->json, o);
	if (options->json)
		puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
	vf_queue_destroy(b.gfx);
	vf_fence_destroy(b.fence);
	vf_device_destroy(b.device);
	vf_adapter_close(b.adapter);
	return ret;
}
