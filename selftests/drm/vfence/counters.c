// SPDX-License-Identifier: GPL-2.0-only
/* Counters: debugfs, fdinfo and the library return each value with its name. */

#include <stddef.h>

#include "vfence_test.h"

/* The counters. A newer driver may have more. */
#define K(name, kind) { #name, offsetof(struct vf_counters, name), VF_COUNTER_##kind }
static const struct known {
	const char *name;
	size_t member;
	enum vf_counter_kind kind;
} known[] = {
	K(signals, TOTAL),
	K(suppressed, TOTAL),
	K(posts, TOTAL),
	K(cmp_rechecked_out, TOTAL),
	K(cmp_recorded, TOTAL),
	K(cmp_overflowed, TOTAL),
	K(interrupts_raised, TOTAL),
	K(interrupts_coalesced, TOTAL),
	K(handler_runs, TOTAL),
	K(records_useful, TOTAL),
	K(records_spurious, TOTAL),
	K(scans, TOTAL),
	K(cpu_signals, TOTAL),
	K(waits_begun, TOTAL),
	K(waits_satisfied, TOTAL),
	K(waits_timed_out, TOTAL),
	K(waits_cancelled, TOTAL),
	K(second_sample, TOTAL),
	K(log_entries_read, TOTAL),
	K(log_entries_lost, TOTAL),
	K(log_entries_unread, LEVEL),
	K(log_packets, TOTAL),
	K(ioctls, TOTAL),
	K(doorbell_faults, TOTAL),
	K(page_faults, TOTAL),
	K(fences_created, TOTAL),
	K(fences_opened, TOTAL),
	K(fences_closed, TOTAL),
	K(fences_destroyed, TOTAL),
	K(queues, LEVEL),
	K(doorbells_connected, LEVEL),
	K(victimisations, TOTAL),
	K(monitored_updates, TOTAL),
	K(monitored_updates_irq, TOTAL),
	K(shadow_posts, TOTAL),
	K(local_pages, LEVEL),
	K(evictions, TOTAL),
	K(log_buffers_set, TOTAL),
	K(log_flushes, TOTAL),
	K(log_queues_flushed, TOTAL),
	K(log_markers, TOTAL),
	K(records_array, TOTAL),
	K(records_null, TOTAL),
	K(records_queue, TOTAL),
	K(records_queue_null, TOTAL),
	K(log_scans, TOTAL),
	K(live_reads, TOTAL),
	K(legacy_scans, TOTAL),
	K(f1_transitions, TOTAL),
	K(engines_in_f1, LEVEL),
	K(d3_transitions, TOTAL),
	K(engine_resets, TOTAL),
	K(records_monitored, TOTAL),
	K(submissions, TOTAL),
	K(submissions_held, TOTAL),
	K(submissions_done, TOTAL),
	K(submissions_lost, TOTAL),
	K(submissions_timed_out, TOTAL),
	K(handler_ns, TOTAL),
	K(handler_max_ns, MAXIMUM),
	K(processes_blocked, TOTAL),
	K(adapter_resets, TOTAL),
	K(false_alarms, TOTAL),
};

#define N_KNOWN		(sizeof(known) / sizeof(known[0]))
#define ROOM		256

FIXTURE(counters) {
	VFENCE_MEMBERS;
	struct vf_counter *list;
	unsigned int count;
};

FIXTURE_SETUP(counters)
{
	VFENCE_SETUP(0);
	if (geteuid())
		SKIP(return, "the counters of an adapter are for root");
	self->list = calloc(ROOM, sizeof(*self->list));
	self->count = ROOM;
	ASSERT_EQ(0, vf_adapter_counter_list(self->adapter, self->list, &self->count));
	ASSERT_LE(N_KNOWN, self->count);
	ASSERT_GE(ROOM, self->count);
}

FIXTURE_TEARDOWN(counters)
{
	free(self->list);
	VFENCE_TEARDOWN();
}

/* Return: the value of a counter, or UINT64_MAX if the driver has no such counter. */
static uint64_t value_of(struct vf_adapter *adapter, const char *name)
{
	uint64_t value;

	return vf_adapter_counter(adapter, name, &value) ? UINT64_MAX : value;
}

#define VALUE(name) value_of(self->adapter, #name)

static bool is_name(const char *name)
{
	size_t n = strlen(name);

	return n && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

TEST_F(counters, each_has_a_name_and_a_kind)
{
	unsigned int i, k;

	for (i = 0; i < self->count; i++) {
		EXPECT_TRUE(is_name(self->list[i].name));
		for (k = 0; k < i; k++)
			EXPECT_STRNE(self->list[k].name, self->list[i].name);
	}
	for (k = 0; k < N_KNOWN; k++) {
		EXPECT_STREQ(known[k].name, self->list[k].name);
		EXPECT_EQ(known[k].kind, self->list[k].kind) TH_LOG("%s", known[k].name);
	}
}

TEST_F(counters, there_is_help_for_each)
{
	char path[300], line[256], name[64], help[64];
	unsigned int n = 0;
	FILE *f;

	ASSERT_EQ(0, debugfs_path(0, "counter_help", path, sizeof(path)));
	f = fopen(path, "re");
	ASSERT_NE(NULL, f);
	for (; fgets(line, sizeof(line), f); n++) {
		ASSERT_EQ(2, sscanf(line, "%63[a-z0-9_]: %63[A-Za-z ]", name, help))
			TH_LOG("%s", line);
		ASSERT_LT(n, self->count);
		EXPECT_STREQ(self->list[n].name, name);
		EXPECT_LT(8, strlen(help));
	}
	fclose(f);
	EXPECT_EQ(self->count, n);
}

/* Each counter moves by another amount, so that two swapped counters are found. */
TEST_F(counters, values_belong_to_their_names)
{
	struct vf_point points[11];
	struct vf_fence *fence[5], *opened[2];
	uint64_t ioctls;
	uint32_t event;
	int i, fd, efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

#define DID(by, id) EXPECT_EQ((by), VALUE(id) - before_##id)
#define BEFORE(id) uint64_t before_##id = VALUE(id)
	BEFORE(fences_created);
	BEFORE(fences_opened);
	BEFORE(fences_closed);
	BEFORE(fences_destroyed);
	BEFORE(cpu_signals);
	BEFORE(waits_begun);
	BEFORE(waits_satisfied);
	BEFORE(waits_timed_out);
	BEFORE(waits_cancelled);

	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 0,
					     &fence[i]));
	fd = vf_fence_export(fence[0]);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, vf_fence_open(self->device, fd, &opened[i]));
	close(fd);
	DID(5, fences_created);
	DID(7, fences_opened);

	/* Three waits are satisfied, four are cancelled, and two time out. */
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, arm(self->adapter, fence[0], 1, efd));
	for (i = 0; i < 11; i++)
		points[i] = (struct vf_point){ fence[0], (uint64_t)i + 1 };
	ASSERT_EQ(0, vf_signal(self->adapter, points, 11));
	DID(11, cpu_signals);
	DID(3, waits_satisfied);
	for (i = 0; i < 4; i++) {
		struct vf_point later = { fence[1], 1 };

		ASSERT_EQ(0, vf_event_arm(self->adapter, &later, 1, 0, efd, &event));
		ASSERT_EQ(0, vf_event_cancel(self->adapter, event));
	}
	for (i = 0; i < 2; i++)
		EXPECT_EQ(-ETIME, vf_fence_wait(fence[2], 1, vf_deadline(100000)));
	EXPECT_TRUE(EVENTUALLY(VALUE(waits_cancelled) == before_waits_cancelled + 4));
	DID(2, waits_timed_out);
	DID(3, waits_satisfied);
	DID(9, waits_begun);

	vf_fence_destroy(opened[0]);
	for (i = 1; i < 5; i++)
		vf_fence_destroy(fence[i]);
	DID(5, fences_closed);
	DID(4, fences_destroyed);
	vf_fence_destroy(opened[1]);
	vf_fence_destroy(fence[0]);
	close(efd);

	/* To read counters is no ioctl. */
	ioctls = VALUE(ioctls);
	EXPECT_EQ(ioctls, VALUE(ioctls));
	EXPECT_LT(0, ioctls);
}

/* Other queries return some of the totals as well. */
TEST_F(counters, values_agree_with_nodes_and_queues)
{
	struct drm_vfence_queue_info gfx, copy;
	struct vf_node_totals node[32];
	uint64_t signals = 0, suppressed = 0, log_packets = 0;
	unsigned int i, count = 32;
	struct vf_fence *fence;
	struct vf_queue *extra;
	uint64_t queues;

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
	for (i = 1; i <= 6; i++)
		vf_cmd_signal(self->gfx, fence, i);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(logged(self->gfx));
	vf_cmd_wait(self->copy, fence, 6);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(logged(self->copy));

	ASSERT_EQ(0, vf_adapter_node_totals(self->adapter, node, &count));
	for (i = 0; i < count; i++) {
		signals += node[i].signals;
		suppressed += node[i].suppressed;
		log_packets += node[i].log_packets;
	}
	EXPECT_EQ(signals, VALUE(signals));
	EXPECT_EQ(suppressed, VALUE(suppressed));
	EXPECT_EQ(log_packets, VALUE(log_packets));

	ASSERT_EQ(0, vf_queue_query(self->gfx, &gfx));
	ASSERT_EQ(0, vf_queue_query(self->copy, &copy));
	EXPECT_LE(gfx.log_read + copy.log_read, VALUE(log_entries_read));
	EXPECT_LE(2, VALUE(doorbells_connected));
	queues = VALUE(queues);
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 65536, &extra));
	EXPECT_EQ(queues + 1, VALUE(queues));
	/* A queue without work does not connect its doorbell. */
	EXPECT_LT(VALUE(doorbells_connected), VALUE(queues));
	vf_queue_destroy(extra);
	EXPECT_EQ(queues, VALUE(queues));
	vf_fence_destroy(fence);
}

/* Expect that the cycles of an engine are its time: the clock has 125 MHz. */
#define EXPECT_CYCLES(engine)							\
	EXPECT_EQ(fdinfo_number(self->fd, "drm-engine-" engine) / 8,		\
		  fdinfo_number(self->fd, "drm-cycles-" engine))

static bool draw(struct vf_queue *queue, uint64_t ns)
{
	vf_cmd_draw(queue, 1, ns);
	return !vf_queue_submit(queue) && logged(queue);
}

TEST_F(counters, the_time_of_a_client_outlives_its_queues)
{
	struct vf_queue *queue;
	int64_t gfx, copy, sum;
	unsigned int i;

	ASSERT_TRUE(draw(self->gfx, 3000000));
	ASSERT_TRUE(draw(self->copy, 1000000));
	gfx = fdinfo_number(self->fd, "drm-engine-gfx");
	copy = fdinfo_number(self->fd, "drm-engine-copy");
	EXPECT_LE(3000000, gfx);
	EXPECT_LE(1000000, copy);
	EXPECT_CYCLES("gfx");
	EXPECT_CYCLES("copy");
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COPY, 4096, &queue));
		ASSERT_TRUE(draw(queue, 1000000));
		sum = fdinfo_number(self->fd, "drm-engine-copy");
		EXPECT_LE(copy + 1000000, sum);
		vf_queue_destroy(queue);
		copy = fdinfo_number(self->fd, "drm-engine-copy");
		EXPECT_EQ(sum, copy);
	}
	EXPECT_EQ(gfx, fdinfo_number(self->fd, "drm-engine-gfx"));
	EXPECT_CYCLES("copy");
}

TEST_F(counters, a_device_that_was_lost_counts_when_it_is_gone)
{
	struct vf_submit what = { 0 };
	struct vf_device *device;
	struct vf_queue *queue;

	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_kernel_queue_create(device, DRM_VFENCE_NODE_COMPUTE, &queue));
	vf_cmd_draw(queue, UINT32_MAX, 50000000);
	ASSERT_EQ(0, vf_submit(&queue, 1, &what));
	ASSERT_TRUE(EVENTUALLY(vf_device_state(device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_EQ(1, fdinfo_number(self->fd, "vfence-devices-hung"));
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	EXPECT_EQ(1, fdinfo_number(self->fd, "vfence-devices-hung"));
}

/* Only a level can decrease. */
TEST_F(counters, totals_and_maxima_only_grow)
{
	static struct vf_counter after[ROOM];
	unsigned int i, count = ROOM;
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
	vf_cmd_signal(self->gfx, fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_fence_wait(fence, 1, DEADLINE));
	vf_fence_destroy(fence);
	ASSERT_EQ(0, vf_adapter_counter_list(self->adapter, after, &count));
	ASSERT_EQ(self->count, count);
	for (i = 0; i < self->count; i++)
		if (self->list[i].kind != VF_COUNTER_LEVEL)
			EXPECT_LE(self->list[i].value, after[i].value);
}

static uint64_t member(const struct vf_counters *c, const struct known *k)
{
	uint64_t value;

	memcpy(&value, (const char *)c + k->member, sizeof(value));
	return value;
}

/* The members, the list and the look-up of the library return the same values. */
TEST_F(counters, library_gives_each_its_value)
{
	struct vf_counter *list = calloc(ROOM, sizeof(*list));
	struct vf_counters c, d;
	unsigned int count = ROOM, i, k;
	uint64_t value;

	ASSERT_TRUE(settled(self->adapter, &c));
	memset(&c, POISON, sizeof(c));
	memset(&d, POISON, sizeof(d));
	ASSERT_EQ(0, vf_adapter_counters(self->adapter, &c));
	ASSERT_EQ(0, vf_adapter_counter_list(self->adapter, list, &count));
	ASSERT_EQ(0, vf_adapter_counters(self->adapter, &d));
	ASSERT_EQ(self->count, count);
	for (k = 0; k < N_KNOWN; k++) {
		EXPECT_STREQ(known[k].name, list[k].name);
		if (known[k].kind == VF_COUNTER_LEVEL)
			continue;
		EXPECT_LE(member(&c, &known[k]), list[k].value);
		EXPECT_GE(member(&d, &known[k]), list[k].value);
	}

	for (i = 0; i < count; i++) {
		ASSERT_EQ(0, vf_adapter_counter(self->adapter, list[i].name, &value));
		if (list[i].kind != VF_COUNTER_LEVEL)
			EXPECT_LE(list[i].value, value);
	}
	value = POISON;
	EXPECT_EQ(-ENOENT, vf_adapter_counter(self->adapter, "no_such_counter", &value));
	EXPECT_EQ(POISON, value);

	/*
	 * If the buffer is too small, the list contains the first counters, and the
	 * library writes nothing else.
	 */
	memset(list, POISON, ROOM * sizeof(*list));
	count = 3;
	ASSERT_EQ(0, vf_adapter_counter_list(self->adapter, list, &count));
	EXPECT_EQ(self->count, count);
	EXPECT_STREQ(known[2].name, list[2].name);
	EXPECT_EQ((char)POISON, list[3].name[0]);
	count = 0;
	ASSERT_EQ(0, vf_adapter_counter_list(self->adapter, NULL, &count));
	EXPECT_EQ(self->count, count);
	free(list);
}

TEST_F(counters, a_counter_has_its_whole_name)
{
	uint64_t value = POISON;

	EXPECT_EQ(-ENOENT, vf_adapter_counter(self->adapter, "fences_create", &value));
	EXPECT_EQ(-ENOENT, vf_adapter_counter(self->adapter, "fences_created_", &value));
	EXPECT_EQ(-ENOENT, vf_adapter_counter(self->adapter, "", &value));
	EXPECT_EQ(POISON, value);
}

TEST_F(counters, members_that_a_client_does_not_have_are_zero)
{
	struct vf_counters c;

	memset(&c, POISON, sizeof(c));
	ASSERT_EQ(0, vf_client_counters(self->adapter, &c));
	EXPECT_LT(0, c.ioctls);
	EXPECT_EQ(0, c.signals);
	EXPECT_EQ(0, c.handler_runs);
	EXPECT_EQ(0, c.d3_transitions);
}

/* The counters of a signal on its way from the engine to the handler, and of an entry of a log. */
TEST_F(counters, what_is_on_its_way_is_not_settled)
{
	struct vf_counters c = { 0 };

	EXPECT_TRUE(vf_counters_settled(&c));
	c.signals = 1;
	EXPECT_FALSE(vf_counters_settled(&c));
	c.posts = 1;
	EXPECT_FALSE(vf_counters_settled(&c));
	c.cmp_recorded = 1;
	EXPECT_FALSE(vf_counters_settled(&c));
	c.records_useful = 1;
	EXPECT_TRUE(vf_counters_settled(&c));
	c.interrupts_raised = 1;
	EXPECT_FALSE(vf_counters_settled(&c));
	c.handler_runs = 1;
	EXPECT_TRUE(vf_counters_settled(&c));
	c.log_packets = 1;
	EXPECT_FALSE(vf_counters_settled(&c));
	c.log_entries_unread = 1;
	EXPECT_TRUE(vf_counters_settled(&c));
}

TEST_HARNESS_MAIN
