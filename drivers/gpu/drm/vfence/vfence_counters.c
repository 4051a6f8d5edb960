// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of an adapter and of a client: one table gives each id its name, kind, unit and
 * source.
 */

#include <linux/string.h>

#include "core/vfence_file_types.h"
#include "hw/vgpu.h"
#include "queue/vfence_physical.h"
#include "queue/vfence_queue.h"
#include "vfence_counters.h"

/**
 * struct counters_sample - values that are not in &vfence_adapter->counts, as a query reads them
 */
struct counters_sample {
	/** @cmp: counters of the CMP */
	struct vgpu_counters cmp;
	/** @signals: sum over all engines */
	u64 signals;
	/** @suppressed: sum over all engines */
	u64 suppressed;
	/** @log_packets: sum over all engines */
	u64 log_packets;
	/** @engines_in_f1: engines in F1 */
	u64 engines_in_f1;
	/** @interrupts_raised: raises of the vector */
	u64 interrupts_raised;
	/** @interrupts_coalesced: raises that found the vector pending */
	u64 interrupts_coalesced;
	/** @handler_max_ns: longest run of the hard half of the interrupt handler */
	u64 handler_max_ns;
	/** @log_entries_unread: sum over all queues */
	u64 log_entries_unread;
	/** @queues: queues that exist */
	u64 queues;
	/** @doorbells_connected: physical doorbells in use */
	u64 doorbells_connected;
	/** @local_pages: pages in video memory */
	u64 local_pages;
	/** @evictions: pages moved out of video memory */
	u64 evictions;
};

/**
 * struct counter - one row of the table
 */
struct counter {
	/** @name: its name, shorter than DRM_VFENCE_COUNTER_NAME_SIZE */
	const char *name;
	/** @id: &enum drm_vfence_counter_id */
	u32 id;
	/** @kind: &enum drm_vfence_counter_kind */
	u32 kind;
	/** @unit: &enum drm_vfence_counter_unit */
	u32 unit;
	/** @counted: index in &vfence_adapter->counts; VFENCE_COUNTS: the value is sampled */
	enum vfence_count counted;
	/** @sampled: offset in &struct counters_sample of a value that is sampled; else 0 */
	size_t sampled;
	/** @client: true if &vfence_file->counts has the counter, too */
	bool client;
};

#define COUNTER(_id, _name, _kind, _unit, _counted, _sampled) {		\
	.name = (_name),							\
	.id = DRM_VFENCE_COUNTER_##_id,						\
	.kind = DRM_VFENCE_COUNTER_KIND_##_kind,				\
	.unit = DRM_VFENCE_COUNTER_UNIT_##_unit,				\
	.counted = (_counted),							\
	.sampled = (_sampled),							\
}

#define COUNTED(id, name, kind, unit, count)					\
	COUNTER(id, name, kind, unit, VFENCE_COUNT_##count, 0)
/* Counted for each client, too. */
#define CLIENTS(_id, _name, _count) {						\
	.name = (_name),							\
	.id = DRM_VFENCE_COUNTER_##_id,						\
	.kind = DRM_VFENCE_COUNTER_KIND_TOTAL,					\
	.unit = DRM_VFENCE_COUNTER_UNIT_COUNT,					\
	.counted = VFENCE_COUNT_##_count,					\
	.client = true,								\
}

#define SAMPLED(id, name, kind, unit, member)					\
	COUNTER(id, name, kind, unit, VFENCE_COUNTS,				\
		offsetof(struct counters_sample, member))

/* In ascending order of id: the order of the answers is part of the ABI. */
static const struct counter counter_table[] = {
	SAMPLED(SIGNALS, "signals", TOTAL, COUNT, signals),
	SAMPLED(SUPPRESSED, "suppressed", TOTAL, COUNT, suppressed),
	SAMPLED(POSTS, "posts", TOTAL, COUNT, cmp.posts),
	SAMPLED(CMP_RECHECKED_OUT, "cmp_rechecked_out", TOTAL, COUNT, cmp.rechecked_out),
	SAMPLED(CMP_RECORDED, "cmp_recorded", TOTAL, COUNT, cmp.recorded),
	SAMPLED(CMP_OVERFLOWED, "cmp_overflowed", TOTAL, COUNT, cmp.overflowed),
	SAMPLED(INTERRUPTS_RAISED, "interrupts_raised", TOTAL, COUNT, interrupts_raised),
	SAMPLED(INTERRUPTS_COALESCED, "interrupts_coalesced", TOTAL, COUNT, interrupts_coalesced),
	COUNTED(HANDLER_RUNS, "handler_runs", TOTAL, COUNT, HANDLER_RUNS),
	COUNTED(RECORDS_USEFUL, "records_useful", TOTAL, COUNT, USEFUL),
	COUNTED(RECORDS_SPURIOUS, "records_spurious", TOTAL, COUNT, SPURIOUS),
	COUNTED(SCANS, "scans", TOTAL, COUNT, SCANS),
	CLIENTS(CPU_SIGNALS, "cpu_signals", CPU_SIGNALS),
	CLIENTS(WAITS_BEGUN, "waits_begun", WAITS_BEGUN),
	CLIENTS(WAITS_SATISFIED, "waits_satisfied", WAITS_SATISFIED),
	CLIENTS(WAITS_TIMED_OUT, "waits_timed_out", WAITS_TIMED_OUT),
	CLIENTS(WAITS_CANCELLED, "waits_cancelled", WAITS_CANCELLED),
	COUNTED(SECOND_SAMPLE, "second_sample", TOTAL, COUNT, SECOND_SAMPLE),
	COUNTED(LOG_ENTRIES_READ, "log_entries_read", TOTAL, COUNT, LOG_READ),
	COUNTED(LOG_ENTRIES_LOST, "log_entries_lost", TOTAL, COUNT, LOG_LOST),
	SAMPLED(LOG_ENTRIES_UNREAD, "log_entries_unread", LEVEL, COUNT, log_entries_unread),
	SAMPLED(LOG_PACKETS, "log_packets", TOTAL, COUNT, log_packets),
	CLIENTS(IOCTLS, "ioctls", IOCTLS),
	CLIENTS(DOORBELL_FAULTS, "doorbell_faults", DOORBELL_FAULTS),
	CLIENTS(PAGE_FAULTS, "page_faults", PAGE_FAULTS),
	CLIENTS(FENCES_CREATED, "fences_created", FENCE_CREATED),
	CLIENTS(FENCES_OPENED, "fences_opened", FENCE_OPENED),
	CLIENTS(FENCES_CLOSED, "fences_closed", FENCE_CLOSED),
	COUNTED(FENCES_DESTROYED, "fences_destroyed", TOTAL, COUNT, FENCE_DESTROYED),
	SAMPLED(QUEUES, "queues", LEVEL, COUNT, queues),
	SAMPLED(DOORBELLS_CONNECTED, "doorbells_connected", LEVEL, COUNT, doorbells_connected),
	COUNTED(VICTIMISATIONS, "victimisations", TOTAL, COUNT, VICTIMISATIONS),
	SAMPLED(MONITORED_UPDATES, "monitored_updates", TOTAL, COUNT, cmp.monitored_updates),
	SAMPLED(MONITORED_UPDATES_IRQ, "monitored_updates_irq", TOTAL, COUNT,
		cmp.monitored_updates_irq),
	SAMPLED(SHADOW_POSTS, "shadow_posts", TOTAL, COUNT, cmp.shadow_posts),
	SAMPLED(LOCAL_PAGES, "local_pages", LEVEL, COUNT, local_pages),
	SAMPLED(EVICTIONS, "evictions", TOTAL, COUNT, evictions),
	SAMPLED(LOG_BUFFERS_SET, "log_buffers_set", TOTAL, COUNT, cmp.log_buffers_set),
	SAMPLED(LOG_FLUSHES, "log_flushes", TOTAL, COUNT, cmp.log_flushes),
	SAMPLED(LOG_QUEUES_FLUSHED, "log_queues_flushed", TOTAL, COUNT, cmp.log_queues_flushed),
	SAMPLED(LOG_MARKERS, "log_markers", TOTAL, COUNT, cmp.log_markers),
	COUNTED(RECORDS_ARRAY, "records_array", TOTAL, COUNT, RECORDS_ARRAY),
	COUNTED(RECORDS_NULL, "records_null", TOTAL, COUNT, RECORDS_NULL),
	COUNTED(RECORDS_QUEUE, "records_queue", TOTAL, COUNT, RECORDS_QUEUE),
	COUNTED(RECORDS_QUEUE_NULL, "records_queue_null", TOTAL, COUNT, RECORDS_QUEUE_NULL),
	COUNTED(LOG_SCANS, "log_scans", TOTAL, COUNT, LOG_SCANS),
	COUNTED(LIVE_READS, "live_reads", TOTAL, COUNT, LIVE_READS),
	COUNTED(LEGACY_SCANS, "legacy_scans", TOTAL, COUNT, LEGACY_SCANS),
	COUNTED(F1_TRANSITIONS, "f1_transitions", TOTAL, COUNT, F1),
	SAMPLED(ENGINES_IN_F1, "engines_in_f1", LEVEL, COUNT, engines_in_f1),
	COUNTED(D3_TRANSITIONS, "d3_transitions", TOTAL, COUNT, D3),
	COUNTED(ENGINE_RESETS, "engine_resets", TOTAL, COUNT, ENGINE_RESETS),
	COUNTED(RECORDS_MONITORED, "records_monitored", TOTAL, COUNT, RECORDS_MONITORED),
	CLIENTS(SUBMISSIONS, "submissions", SUBMISSIONS),
	COUNTED(SUBMISSIONS_HELD, "submissions_held", TOTAL, COUNT, SUBMISSIONS_HELD),
	COUNTED(SUBMISSIONS_DONE, "submissions_done", TOTAL, COUNT, SUBMISSIONS_DONE),
	COUNTED(SUBMISSIONS_LOST, "submissions_lost", TOTAL, COUNT, SUBMISSIONS_LOST),
	COUNTED(SUBMISSIONS_TIMED_OUT, "submissions_timed_out", TOTAL, COUNT,
		SUBMISSIONS_TIMED_OUT),
	COUNTED(HANDLER_NS, "handler_ns", TOTAL, NS, HANDLER_NS),
	SAMPLED(HANDLER_MAX_NS, "handler_max_ns", MAXIMUM, NS, handler_max_ns),
	COUNTED(PROCESSES_BLOCKED, "processes_blocked", TOTAL, COUNT, PROCESSES_BLOCKED),
	COUNTED(ADAPTER_RESETS, "adapter_resets", TOTAL, COUNT, ADAPTER_RESETS),
	COUNTED(FALSE_ALARMS, "false_alarms", TOTAL, COUNT, FALSE_ALARMS),
};

static void sample_add_unread(struct vfence_queue *queue, void *arg)
{
	*(u64 *)arg += vfence_log_unread(queue);
}

static void sample_engines(struct vfence_adapter *adapter, struct counters_sample *s)
{
	struct drm_vfence_node_info info;
	unsigned int i;

	for (i = 0; i < adapter->config.gpu.nodes; i++) {
		vgpu_engine_query_node(adapter->gpu, i, &info);
		s->signals += info.signals;
		s->suppressed += info.suppressed;
		s->log_packets += info.log_packets;
	}
}

/*
 * Read an event before what becomes of it, and coalesced raises before raises: the sums of
 * &enum drm_vfence_counter_id, which hold at rest, then rarely hold by accident.
 */
static void sample_events(struct vfence_adapter *adapter, struct counters_sample *s)
{
	sample_engines(adapter, s);
	vgpu_cmp_query_counters(adapter->gpu, &s->cmp);

	s->interrupts_coalesced = atomic64_read(&adapter->irq.vector.coalesced);
	s->interrupts_raised = atomic64_read(&adapter->irq.vector.raised);
}

/*
 * Read a level after the totals: a transition to F1 that is counted has happened, and no
 * run whose time is counted was longer than the longest.
 */
static void sample_levels(struct vfence_adapter *adapter, struct counters_sample *s)
{
	unsigned int i;

	for (i = 0; i < adapter->config.gpu.nodes; i++)
		s->engines_in_f1 += vgpu_power_in_f1(adapter->gpu, i);
	s->handler_max_ns = READ_ONCE(adapter->irq.handler_max_ns);

	vfence_queue_for_each(adapter, sample_add_unread, &s->log_entries_unread);
	s->queues = atomic_read(&adapter->queues.count);
	s->doorbells_connected = vfence_physical_count(adapter);

	spin_lock(&adapter->mem.segment.lock);
	s->local_pages = adapter->mem.segment.pages;
	s->evictions = adapter->mem.segment.evictions;
	spin_unlock(&adapter->mem.segment.lock);
}

/**
 * vfence_counters_values - answer %DRM_VFENCE_QUERY_COUNTER_VALUES
 * @adapter: the adapter
 * @to: zeroed room for the answer, or NULL
 *
 * Return: number of elements of the answer.
 */
unsigned int vfence_counters_values(struct vfence_adapter *adapter, struct drm_vfence_counter *to)
{
	struct counters_sample sample = { };
	unsigned int i;

	if (!to)
		return ARRAY_SIZE(counter_table);

	sample_events(adapter, &sample);
	for (i = 0; i < ARRAY_SIZE(counter_table); i++) {
		to[i].id = counter_table[i].id;
		if (counter_table[i].counted != VFENCE_COUNTS)
			to[i].value = atomic64_read(&adapter->counts[counter_table[i].counted]);
	}

	sample_levels(adapter, &sample);
	for (i = 0; i < ARRAY_SIZE(counter_table); i++)
		if (counter_table[i].counted == VFENCE_COUNTS)
			to[i].value = *(const u64 *)((const char *)&sample +
						     counter_table[i].sampled);
	return ARRAY_SIZE(counter_table);
}

/**
 * vfence_counters_client - answer %DRM_VFENCE_QUERY_CLIENT_COUNTERS
 * @file: the client
 * @to: zeroed room for the answer, or NULL
 *
 * Return: number of elements of the answer.
 */
unsigned int vfence_counters_client(struct vfence_file *file, struct drm_vfence_counter *to)
{
	unsigned int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(counter_table); i++) {
		if (!counter_table[i].client)
			continue;
		if (to) {
			to[n].id = counter_table[i].id;
			to[n].value = atomic64_read(&file->counts[counter_table[i].counted]);
		}
		n++;
	}
	return n;
}

/**
 * vfence_counters_infos - answer %DRM_VFENCE_QUERY_COUNTER_INFOS
 * @to: zeroed room for the answer, or NULL
 *
 * Return: number of elements of the answer.
 */
unsigned int vfence_counters_infos(struct drm_vfence_counter_info *to)
{
	unsigned int i;

	for (i = 0; to && i < ARRAY_SIZE(counter_table); i++) {
		to[i].id = counter_table[i].id;
		to[i].kind = counter_table[i].kind;
		to[i].unit = counter_table[i].unit;
		strscpy(to[i].name, counter_table[i].name, sizeof(to[i].name));
	}
	return ARRAY_SIZE(counter_table);
}
