// SPDX-License-Identifier: GPL-2.0-only
/* vfence info: the adapters of the machine and their counters. */

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "text.h"
#include "tool.h"

#define MAX_NODES 32
#define MAX_FEATURES 16
/* One module has at most so many adapters. An adapter that failed to probe leaves a gap. */
#define MAX_ADAPTERS 16

struct report {
	unsigned int index;
	struct drm_vfence_adapter_info info;
	struct drm_vfence_node_info nodes[MAX_NODES];
	unsigned int node_count;
	struct vf_node_totals totals[MAX_NODES];
	unsigned int total_count;
	struct drm_vfence_feature_info features[MAX_FEATURES];
	unsigned int feature_count;
	struct drm_vfence_fence_caps caps;
	struct drm_vfence_clock_info clock;
	struct vf_counter *counters;
	unsigned int counter_count;
};

static int value_bits(const struct drm_vfence_adapter_info *info)
{
	return info->flags & DRM_VFENCE_ADAPTER_NO_64BIT_ATOMICS ? 32 : 64;
}

/* Read all counters of the driver, also those that this build does not know. */
static int gather_counters(struct vf_adapter *adapter, struct report *r)
{
	int ret;

	r->counter_count = 0;
	r->total_count = MAX_NODES;
	ret = vf_adapter_node_totals(adapter, r->totals, &r->total_count);
	ret = ret ? ret : vf_adapter_counter_list(adapter, NULL, &r->counter_count);
	/* For users other than root, and without debugfs, there are no totals to print. */
	if (ret) {
		r->total_count = 0;
		return ret == -EACCES || ret == -ENOENT ? 0 : ret;
	}
	r->counters = calloc(r->counter_count, sizeof(*r->counters));
	if (!r->counters)
		return -ENOMEM;
	return vf_adapter_counter_list(adapter, r->counters, &r->counter_count);
}

static int gather(unsigned int index, struct report *r)
{
	struct vf_adapter *adapter;
	int ret = vf_adapter_open(index, &adapter);

	if (ret)
		return ret;
	r->index = index;
	r->node_count = MAX_NODES;
	ret = vf_adapter_info(adapter, &r->info);
	ret = ret ? ret : vf_adapter_nodes(adapter, r->nodes, &r->node_count);
	r->feature_count = MAX_FEATURES;
	ret = ret ? ret : vf_adapter_features(adapter, r->features, &r->feature_count);
	ret = ret ? ret : vf_adapter_fence_caps(adapter, &r->caps);
	ret = ret ? ret : vf_adapter_clock(adapter, &r->clock);
	ret = ret ? ret : gather_counters(adapter, r);
	vf_adapter_close(adapter);
	return ret;
}

static const char *feature_name(uint32_t id)
{
	switch (id) {
	case DRM_VFENCE_FEATURE_HWSCH:
		return "hardware_scheduling";
	case DRM_VFENCE_FEATURE_USER_MODE_SUBMISSION:
		return "user_mode_submission";
	case DRM_VFENCE_FEATURE_NATIVE_FENCE:
		return "native_fence";
	default:
		return "?";
	}
}

static const struct {
	uint32_t flag;
	const char *name;
} cap_table[] = {
	{ DRM_VFENCE_CAP_NATIVE_FENCE, "native_fence" },
	{ DRM_VFENCE_CAP_MAP_TO_SYSTEM, "map_to_system" },
	{ DRM_VFENCE_CAP_OPTIMIZED, "optimized" },
	{ DRM_VFENCE_CAP_INTRA_GPU, "intra_gpu" },
	{ DRM_VFENCE_CAP_OPTIMIZED_INTERRUPT, "optimized_interrupt" },
};

#define N_CAPS (sizeof(cap_table) / sizeof(cap_table[0]))

static void print_features(const struct report *r)
{
	unsigned int i;

	for (i = 0; i < r->feature_count; i++) {
		const struct drm_vfence_feature_info *f = &r->features[i];

		printf("  feature %-20s %s", feature_name(f->id),
		       f->flags & DRM_VFENCE_FEATURE_ENABLED ? "version " : "off");
		if (f->version)
			printf("%u", f->version);
		putchar('\n');
	}
	printf("  fences:");
	for (i = 0; i < N_CAPS; i++)
		if (r->caps.flags & cap_table[i].flag)
			printf(" %s", cap_table[i].name);
	putchar('\n');
}

static void print_text(const struct report *r)
{
	unsigned int i;

	printf("vfence%u: %u nodes, %u physical doorbells, %u log entries, fence stride %u, "
	       "values of %d bits, GPU clock %llu Hz\n", r->index, r->info.nodes,
	       r->info.physical_doorbells, r->info.log_entries, r->info.fence_stride,
	       value_bits(&r->info),
	       (unsigned long long)r->clock.frequency_hz);
	for (i = 0; i < r->node_count; i++) {
		const struct drm_vfence_node_info *n = &r->nodes[i];
		const struct vf_node_totals *t = &r->totals[i];

		if (i >= r->total_count) {
			printf("  node %u %-8s%s\n", i, text_node_class(n->class_id),
			       n->flags & DRM_VFENCE_NODE_USER_MODE_SUBMISSION ? "user-mode" : "");
			continue;
		}
		printf("  node %u %-8s%s packets %llu signals %llu suppressed %llu stalled waits %llu busy %llu ns\n",
		       i, text_node_class(n->class_id),
		       n->flags & DRM_VFENCE_NODE_USER_MODE_SUBMISSION ? "user-mode" : "         ",
		       (unsigned long long)t->packets, (unsigned long long)t->signals,
		       (unsigned long long)t->suppressed, (unsigned long long)t->waits_stalled,
		       (unsigned long long)t->busy_ns);
	}
	print_features(r);
	if (!r->counter_count)
		puts("  counters and totals: in debugfs (run as root)");
	for (i = 0; i < r->counter_count; i++)
		printf("  %-22s %llu\n", r->counters[i].name,
		       (unsigned long long)r->counters[i].value);
}

/* Write 64-bit numbers as strings: JSON readers keep only 53 bits. */
static void add_u64(json_object *object, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	json_object_object_add(object, name, json_object_new_string(text));
}

static void add_features(json_object *o, const struct report *r)
{
	json_object *features = json_object_new_object(), *caps = json_object_new_array();
	unsigned int i;

	for (i = 0; i < r->feature_count; i++)
		json_object_object_add(features, feature_name(r->features[i].id),
				       json_object_new_int((int)r->features[i].version));
	json_object_object_add(o, "feature_versions", features);
	for (i = 0; i < N_CAPS; i++)
		if (r->caps.flags & cap_table[i].flag)
			json_object_array_add(caps, json_object_new_string(cap_table[i].name));
	json_object_object_add(o, "fence_caps", caps);
}

static json_object *to_json(const struct report *r)
{
	json_object *o = json_object_new_object(), *nodes = json_object_new_array();
	json_object *counters = json_object_new_object();
	unsigned int i;

	json_object_object_add(o, "adapter", json_object_new_int((int)r->index));
	json_object_object_add(o, "physical_doorbells",
			       json_object_new_int((int)r->info.physical_doorbells));
	json_object_object_add(o, "log_entries", json_object_new_int((int)r->info.log_entries));
	json_object_object_add(o, "fence_value_bits", json_object_new_int(value_bits(&r->info)));
	json_object_object_add(o, "fence_stride", json_object_new_int((int)r->info.fence_stride));
	add_features(o, r);
	add_u64(o, "va_start", r->info.va_start);
	add_u64(o, "va_end", r->info.va_end);
	add_u64(o, "clock_hz", r->clock.frequency_hz);
	for (i = 0; i < r->node_count; i++) {
		json_object *n = json_object_new_object();

		json_object_object_add(n, "class",
				       json_object_new_string(text_node_class(r->nodes[i].class_id)));
		json_object_object_add(n, "user_mode_submission", json_object_new_boolean(
			r->nodes[i].flags & DRM_VFENCE_NODE_USER_MODE_SUBMISSION));
		if (i < r->total_count) {
			add_u64(n, "packets", r->totals[i].packets);
			add_u64(n, "signals", r->totals[i].signals);
			add_u64(n, "suppressed", r->totals[i].suppressed);
			add_u64(n, "waits_stalled", r->totals[i].waits_stalled);
			add_u64(n, "busy_ns", r->totals[i].busy_ns);
		}
		json_object_array_add(nodes, n);
	}
	json_object_object_add(o, "nodes", nodes);
	for (i = 0; i < r->counter_count; i++)
		add_u64(counters, r->counters[i].name, r->counters[i].value);
	json_object_object_add(o, "counters", counters);
	return o;
}

int info_main(const struct options *options)
{
	bool all = options->adapter == UINT32_MAX;
	unsigned int index = all ? 0 : options->adapter, found = 0;
	json_object *list = json_object_new_array();
	int ret;

	do {
		struct report report = { 0 };

		ret = gather(index, &report);
		if (!ret) {
			found++;
			if (options->json)
				json_object_array_add(list, to_json(&report));
			else
				print_text(&report);
		}
		free(report.counters);
		if (ret && !(ret == -ENODEV && all))
			break;
	} while (all && ++index < MAX_ADAPTERS);
	if (options->json && found)
		puts(json_object_to_json_string_ext(list, JSON_C_TO_STRING_PRETTY));
	json_object_put(list);
	if (found)
		return 0;
	return tool_fail("info", ret);
}
