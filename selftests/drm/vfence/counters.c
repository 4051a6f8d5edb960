// SPDX-License-Identifier: GPL-2.0-only
/* Counters: the ioctl and the library return each value with its id and its name. */

#include <stddef.h>

#include "vfence_test.h"

/* The counters. A newer driver may have more. */
#define K(id, name, kind, unit) {						\
	DRM_VFENCE_COUNTER_##id, #name, offsetof(struct vf_counters, name),	\
	DRM_VFENCE_COUNTER_KIND_##kind, DRM_VFENCE_COUNTER_UNIT_##unit,		\
}
static const struct known {
	uint32_t id;
	const char *name;
	size_t member;
	uint32_t kind;
	uint32_t unit;
} known[] = {
	K(SIGNALS, signals, TOTAL, COUNT),
	K(SUPPRESSED, suppressed, TOTAL, COUNT),
	K(POSTS, posts, TOTAL, COUNT),
	K(CMP_RECHECKED_OUT, cmp_rechecked_out, TOTAL, COUNT),
	K(CMP_RECORDED, cmp_recorded, TOTAL, COUNT),
	K(CMP_OVERFLOWED, cmp_overflowed, TOTAL, COUNT),
	K(INTERRUPTS_RAISED, interrupts_raised, TOTAL, COUNT),
	K(INTERRUPTS_COALESCED, interrupts_coalesced, TOTAL, COUNT),
	K(HANDLER_RUNS, handler_runs, TOTAL, COUNT),
	K(RECORDS_USEFUL, records_useful, TOTAL, COUNT),
	K(RECORDS_SPURIOUS, records_spurious, TOTAL, COUNT),
	K(SCANS, scans, TOTAL, COUNT),
	K(CPU_SIGNALS, cpu_signals, TOTAL, COUNT),
	K(WAITS_BEGUN, waits_begun, TOTAL, COUNT),
	K(WAITS_SATISFIED, waits_satisfied, TOTAL, COUNT),
	K(WAITS_TIMED_OUT, waits_timed_out, TOTAL, COUNT),
	K(WAITS_CANCELLED, waits_cancelled, TOTAL, COUNT),
	K(SECOND_SAMPLE, second_sample, TOTAL, COUNT),
	K(LOG_ENTRIES_READ, log_entries_read, TOTAL, COUNT),
	K(LOG_ENTRIES_LOST, log_entries_lost, TOTAL, COUNT),
	K(LOG_ENTRIES_UNREAD, log_entries_unread, LEVEL, COUNT),
	K(LOG_PACKETS, log_packets, TOTAL, COUNT),
	K(IOCTLS, ioctls, TOTAL, COUNT),
	K(DOORBELL_FAULTS, doorbell_faults, TOTAL, COUNT),
	K(PAGE_FAULTS, page_faults, TOTAL, COUNT),
	K(FENCES_CREATED, fences_created, TOTAL, COUNT),
	K(FENCES_OPENED, fences_opened, TOTAL, COUNT),
	K(FENCES_CLOSED, fences_closed, TOTAL, COUNT),
	K(FENCES_DESTROYED, fences_destroyed, TOTAL, COUNT),
	K(QUEUES, queues, LEVEL, COUNT),
	K(DOORBELLS_CONNECTED, doorbells_connected, LEVEL, COUNT),
	K(VICTIMISATIONS, victimisations, TOTAL, COUNT),
	K(MONITORED_UPDATES, monitored_updates, TOTAL, COUNT),
	K(MONITORED_UPDATES_IRQ, monitored_updates_irq, TOTAL, COUNT),
	K(SHADOW_POSTS, shadow_posts, TOTAL, COUNT),
	K(LOCAL_PAGES, local_pages, LEVEL, COUNT),
	K(EVICTIONS, evictions, TOTAL, COUNT),
	K(LOG_BUFFERS_SET, log_buffers_set, TOTAL, COUNT),
	K(LOG_FLUSHES, log_flushes, TOTAL, COUNT),
	K(LOG_QUEUES_FLUSHED, log_queues_flushed, TOTAL, COUNT),
	K(LOG_MARKERS, log_markers, TOTAL, COUNT),
	K(RECORDS_ARRAY, records_array, TOTAL, COUNT),
	K(RECORDS_NULL, records_null, TOTAL, COUNT),
	K(RECORDS_QUEUE, records_queue, TOTAL, COUNT),
	K(RECORDS_QUEUE_NULL, records_queue_null, TOTAL, COUNT),
	K(LOG_SCANS, log_scans, TOTAL, COUNT),
	K(LIVE_READS, live_reads, TOTAL, COUNT),
	K(LEGACY_SCANS, legacy_scans, TOTAL, COUNT),
	K(F1_TRANSITIONS, f1_transitions, TOTAL, COUNT),
	K(ENGINES_IN_F1, engines_in_f1, LEVEL, COUNT),
	K(D3_TRANSITIONS, d3_transitions, TOTAL, COUNT),
	K(ENGINE_RESETS, engine_resets, TOTAL, COUNT),
	K(RECORDS_MONITORED, records_monitored, TOTAL, COUNT),
	K(SUBMISSIONS, submissions, TOTAL, COUNT),
	K(SUBMISSIONS_HELD, submissions_held, TOTAL, COUNT),
	K(SUBMISSIONS_DONE, submissions_done, TOTAL, COUNT),
	K(SUBMISSIONS_LOST, submissions_lost, TOTAL, COUNT),
	K(SUBMISSIONS_TIMED_OUT, submissions_timed_out, TOTAL, COUNT),
	K(HANDLER_NS, handler_ns, TOTAL, NS),
	K(HANDLER_MAX_NS, handler_max_ns, MAXIMUM, NS),
	K(PROCESSES_BLOCKED, processes_blocked, TOTAL, COUNT),
	K(ADAPTER_RESETS, adapter_resets, TOTAL, COUNT),
	K(FALSE_ALARMS, false_alarms, TOTAL, COUNT),
};

#define N_KNOWN		(sizeof(known) / sizeof(known[0]))
#define ROOM		1024

FIXTURE(counters) {
	VFENCE_MEMBERS;
	struct drm_vfence_counter *value;
	struct drm_vfence_counter_info *info;
	unsigned int count;
};

/* Fetch a complete answer. Return: the number of elements, or a negative errno. */
static int fetch(int fd, uint32_t type, void *to, size_t element)
{
	struct drm_vfence_query query = { .type = type };
	int ret = raw(fd, DRM_IOCTL_VFENCE_QUERY, &query);

	if (ret)
		return ret;
	if (query.size % element || query.size / element > ROOM)
		return -ERANGE;
	memset(to, POISON, ROOM * element);
	query.data = (uintptr_t)to;
	ret = raw(fd, DRM_IOCTL_VFENCE_QUERY, &query);
	return ret ? ret : (int)(query.size / element);
}

FIXTURE_SETUP(counters)
{
	VFENCE_SETUP(0);
	self->value = calloc(ROOM, sizeof(*self->value));
	self->info = calloc(ROOM, sizeof(*self->info));
	self->count = (unsigned int)fetch(self->fd, DRM_VFENCE_QUERY_COUNTER_VALUES, self->value,
					  sizeof(*self->value));
	ASSERT_LE(N_KNOWN, self->count);
	ASSERT_GE(ROOM, self->count);
	ASSERT_EQ(self->count, (unsigned int)fetch(self->fd, DRM_VFENCE_QUERY_COUNTER_INFOS,
						   self->info, sizeof(*self->info)));
}

FIXTURE_TEARDOWN(counters)
{
	free(self->value);
	free(self->info);
	VFENCE_TEARDOWN();
}

/* Return: the value of an id, by ioctl, or UINT64_MAX if the driver has no such counter. */
static uint64_t value_of(int fd, uint32_t id)
{
	static struct drm_vfence_counter value[ROOM];
	int i, n = fetch(fd, DRM_VFENCE_QUERY_COUNTER_VALUES, value, sizeof(*value));

	for (i = 0; i < n; i++)
		if (value[i].id == id)
			return value[i].value;
	return UINT64_MAX;
}

#define VALUE(id) value_of(self->fd, DRM_VFENCE_COUNTER_##id)

static bool is_name(const char *name)
{
	size_t i, n = strnlen(name, DRM_VFENCE_COUNTER_NAME_SIZE);

	if (!n || n == DRM_VFENCE_COUNTER_NAME_SIZE ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != n)
		return false;
	for (i = n; i < DRM_VFENCE_COUNTER_NAME_SIZE; i++)
		if (name[i])
			return false;
	return true;
}

TEST_F(counters, each_id_occurs_once_in_ascending_order)
{
	unsigned int i;

	for (i = 0; i < self->count; i++) {
		EXPECT_LT(i ? self->value[i - 1].id : 0, self->value[i].id);
		EXPECT_EQ(0, self->value[i].pad);
		EXPECT_EQ(self->value[i].id, self->info[i].id);
		EXPECT_EQ(0, self->info[i].pad);
	}
}

TEST_F(counters, ids_have_their_names)
{
	unsigned int i, k;

	for (i = 0; i < self->count; i++) {
		EXPECT_TRUE(is_name(self->info[i].name));
		for (k = 0; k < i; k++)
			EXPECT_STRNE(self->info[k].name, self->info[i].name);
	}
	for (k = 0; k < N_KNOWN; k++) {
		/* The first ids are 1, 2, ...: today no id is missing. */
		const struct drm_vfence_counter_info *info = &self->info[k];

		EXPECT_EQ(known[k].id, info->id);
		EXPECT_STREQ(known[k].name, info->name);
		EXPECT_EQ(known[k].kind, info->kind) TH_LOG("%s", known[k].name);
		EXPECT_EQ(known[k].unit, info->unit) TH_LOG("%s", known[k].name);
	}
}

TEST_F(counters, infos_do_not_change)
{
	struct drm_vfence_counter_info *again = calloc(ROOM, sizeof(*again));
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
	EXPECT_EQ(0, vf_fence_signal(fence, 1));
	ASSERT_EQ(self->count, (unsigned int)fetch(self->fd, DRM_VFENCE_QUERY_COUNTER_INFOS,
						   again, sizeof(*again)));
	EXPECT_EQ(0, memcmp(self->info, again, self->count * sizeof(*again)));
	vf_fence_destroy(fence);
	free(again);
}

/* A short answer may end within an element. */
TEST_F(counters, a_short_buffer_gets_the_beginning)
{
	static const struct {
		uint32_t type;
		size_t element;
	} arrays[] = {
		{ DRM_VFENCE_QUERY_COUNTER_VALUES, sizeof(struct drm_vfence_counter) },
		{ DRM_VFENCE_QUERY_COUNTER_INFOS, sizeof(struct drm_vfence_counter_info) },
	};
	static const uint32_t sizes[] = { 0, 4, 8, 16, 20, 48, 64, 100, 800 };
	unsigned char *part = malloc(65536);
	unsigned int i, k;

	for (i = 0; i < 2; i++) {
		const void *whole = i ? (void *)self->info : (void *)self->value;
		uint32_t full = self->count * arrays[i].element;

		for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			struct drm_vfence_query query = {
				.type = arrays[i].type, .size = sizes[k], .data = (uintptr_t)part,
			};

			memset(part, POISON, 65536);
			ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUERY, &query));
			EXPECT_EQ(full, query.size);
			EXPECT_EQ(POISON, part[sizes[k]]);
			/*
			 * Only the counter of ioctls changes between the calls. Its id is
			 * beyond 100 bytes.
			 */
			EXPECT_EQ(0, memcmp(whole, part, i || sizes[k] < 100 ? sizes[k] : 100));
		}
		/* The kernel clears the rest of the buffer behind the answer. */
		for (k = 0; k < 2; k++) {
			struct drm_vfence_query query = {
				.type = arrays[i].type, .size = k ? 65536 : full + 24,
				.data = (uintptr_t)part,
			};

			memset(part, POISON, 65536);
			ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUERY, &query));
			EXPECT_EQ(full, query.size);
			EXPECT_EQ(0, part[full]);
			EXPECT_EQ(0, part[(k ? 65536 : full + 24) - 1]);
			if (!k)
				EXPECT_EQ(POISON, part[full + 24]);
		}
	}
	free(part);
}

/* Each counter moves by another amount, so that two swapped counters are found. */
TEST_F(counters, values_belong_to_their_ids)
{
	struct vf_point points[11];
	struct vf_fence *fence[5], *opened[2];
	uint64_t ioctls;
	uint32_t event;
	int i, fd, efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

#define DID(by, id) EXPECT_EQ((by), VALUE(id) - before_##id)
#define BEFORE(id) uint64_t before_##id = VALUE(id)
	BEFORE(FENCES_CREATED);
	BEFORE(FENCES_OPENED);
	BEFORE(FENCES_CLOSED);
	BEFORE(FENCES_DESTROYED);
	BEFORE(CPU_SIGNALS);
	BEFORE(WAITS_BEGUN);
	BEFORE(WAITS_SATISFIED);
	BEFORE(WAITS_TIMED_OUT);
	BEFORE(WAITS_CANCELLED);

	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 0,
					     &fence[i]));
	fd = vf_fence_export(fence[0]);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, vf_fence_open(self->device, fd, &opened[i]));
	close(fd);
	DID(5, FENCES_CREATED);
	DID(7, FENCES_OPENED);

	/* Three waits are satisfied, four are cancelled, and two time out. */
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, arm(self->adapter, fence[0], 1, efd));
	for (i = 0; i < 11; i++)
		points[i] = (struct vf_point){ fence[0], (uint64_t)i + 1 };
	ASSERT_EQ(0, vf_signal(self->adapter, points, 11));
	DID(11, CPU_SIGNALS);
	DID(3, WAITS_SATISFIED);
	for (i = 0; i < 4; i++) {
		struct vf_point later = { fence[1], 1 };

		ASSERT_EQ(0, vf_event_arm(self->adapter, &later, 1, 0, efd, &event));
		ASSERT_EQ(0, vf_event_cancel(self->adapter, event));
	}
	for (i = 0; i < 2; i++)
		EXPECT_EQ(-ETIME, vf_fence_wait(fence[2], 1, vf_deadline(100000)));
	EXPECT_TRUE(EVENTUALLY(VALUE(WAITS_CANCELLED) == before_WAITS_CANCELLED + 4));
	DID(2, WAITS_TIMED_OUT);
	DID(3, WAITS_SATISFIED);
	DID(9, WAITS_BEGUN);

	vf_fence_destroy(opened[0]);
	for (i = 1; i < 5; i++)
		vf_fence_destroy(fence[i]);
	DID(5, FENCES_CLOSED);
	DID(4, FENCES_DESTROYED);
	vf_fence_destroy(opened[1]);
	vf_fence_destroy(fence[0]);
	close(efd);

	/* VALUE() makes two ioctls: one for the size, one for the values. */
	ioctls = VALUE(IOCTLS);
	EXPECT_EQ(ioctls + 2, VALUE(IOCTLS));
}

/* Other queries return some of the totals as well. */
TEST_F(counters, values_agree_with_nodes_and_queues)
{
	struct drm_vfence_queue_info gfx, copy;
	struct drm_vfence_node_info node[32];
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

	ASSERT_EQ(0, vf_adapter_nodes(self->adapter, node, &count));
	for (i = 0; i < count; i++) {
		signals += node[i].signals;
		suppressed += node[i].suppressed;
		log_packets += node[i].log_packets;
	}
	EXPECT_EQ(signals, VALUE(SIGNALS));
	EXPECT_EQ(suppressed, VALUE(SUPPRESSED));
	EXPECT_EQ(log_packets, VALUE(LOG_PACKETS));

	ASSERT_EQ(0, vf_queue_query(self->gfx, &gfx));
	ASSERT_EQ(0, vf_queue_query(self->copy, &copy));
	EXPECT_LE(gfx.log_read + copy.log_read, VALUE(LOG_ENTRIES_READ));
	EXPECT_LE(2, VALUE(DOORBELLS_CONNECTED));
	queues = VALUE(QUEUES);
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 65536, &extra));
	EXPECT_EQ(queues + 1, VALUE(QUEUES));
	/* A queue without work does not connect its doorbell. */
	EXPECT_LT(VALUE(DOORBELLS_CONNECTED), VALUE(QUEUES));
	vf_queue_destroy(extra);
	EXPECT_EQ(queues, VALUE(QUEUES));
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
	static struct drm_vfence_counter after[ROOM];
	struct vf_fence *fence;
	unsigned int i;

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
	vf_cmd_signal(self->gfx, fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_fence_wait(fence, 1, DEADLINE));
	vf_fence_destroy(fence);
	ASSERT_EQ(self->count, (unsigned int)fetch(self->fd, DRM_VFENCE_QUERY_COUNTER_VALUES,
						   after, sizeof(*after)));
	for (i = 0; i < self->count; i++)
		if (self->info[i].kind != DRM_VFENCE_COUNTER_KIND_LEVEL)
			EXPECT_LE(self->value[i].value, after[i].value);
}

static uint64_t member(const struct vf_counters *c, const struct known *k)
{
	uint64_t value;

	memcpy(&value, (const char *)c + k->member, sizeof(value));
	return value;
}

/* The members, the list and the look-up of the library return the values of the ioctl. */
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
		EXPECT_EQ(known[k].id, list[k].id);
		EXPECT_STREQ(known[k].name, list[k].name);
		EXPECT_EQ(known[k].kind, list[k].kind);
		EXPECT_EQ(known[k].unit, list[k].unit);
		if (known[k].kind == DRM_VFENCE_COUNTER_KIND_LEVEL)
			continue;
		EXPECT_LE(member(&c, &known[k]), list[k].value);
		EXPECT_GE(member(&d, &known[k]), list[k].value);
	}
	/* The library makes one call for the members and three for the list. */
	EXPECT_EQ(c.ioctls + 4, d.ioctls);

	for (i = 0; i < count; i++) {
		ASSERT_EQ(0, vf_adapter_counter(self->adapter, list[i].name, &value));
		if (list[i].kind != DRM_VFENCE_COUNTER_KIND_LEVEL)
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
