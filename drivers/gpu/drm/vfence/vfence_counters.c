// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of an adapter and of a client: one table gives each its name, help, kind and
 * source.
 */

#include <linux/seq_file.h>
#include <linux/string.h>

#include <drm/drm_print.h>

#include "core/vfence_file_types.h"
#include "hw/vgpu.h"
#include "queue/vfence_log.h"
#include "queue/vfence_physical.h"
#include "queue/vfence_queue.h"
#include "vfence_counters.h"

/**
 * struct counters_sample - values that are not in &vfence_adapter->counts, as a reader samples them
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

enum counter_kind {
	/* The value only grows: the difference of two values is what happened between them. */
	COUNTER_TOTAL,
	/* The value is what exists now. */
	COUNTER_LEVEL,
	/* The value is the largest one since the probe. */
	COUNTER_MAXIMUM,
};

static const char *const counter_kinds[] = {
	[COUNTER_TOTAL] = "total", [COUNTER_LEVEL] = "level", [COUNTER_MAXIMUM] = "maximum",
};

/**
 * struct counter - one row of the table
 */
struct counter {
	/** @name: its name; that of a time ends with its unit, "_ns" */
	const char *name;
	/** @help: what it counts, one phrase for people */
	const char *help;
	/** @kind: how its values relate over time */
	enum counter_kind kind;
	/** @counted: index in &vfence_adapter->counts; VFENCE_COUNTS: the value is sampled */
	enum vfence_count counted;
	/** @sampled: offset in &struct counters_sample of a value that is sampled; else 0 */
	size_t sampled;
	/** @client: true if &vfence_file->counts has the counter, too */
	bool client;
};

#define COUNTED(_name, _kind, _count, _help) {					\
	.name = (_name),							\
	.help = (_help),							\
	.kind = COUNTER_##_kind,						\
	.counted = VFENCE_COUNT_##_count,					\
}

/* Counted for each client, too. */
#define CLIENTS(_name, _count, _help) {						\
	.name = (_name),							\
	.help = (_help),							\
	.counted = VFENCE_COUNT_##_count,					\
	.client = true,								\
}

#define SAMPLED(_name, _kind, _member, _help) {					\
	.name = (_name),							\
	.help = (_help),							\
	.kind = COUNTER_##_kind,						\
	.counted = VFENCE_COUNTS,						\
	.sampled = offsetof(struct counters_sample, _member),			\
}

/*
 * All counters are exact and start at 0 when the adapter is probed. The page uapi.rst has the sums
 * that hold while nothing is in flight.
 */
static const struct counter counter_table[] = {
	SAMPLED("signals", TOTAL, signals,
		"Fence signals that engines executed"),
	SAMPLED("suppressed", TOTAL, suppressed,
		"Signals that needed no interrupt: the value did not exceed the monitored value"),
	SAMPLED("posts", TOTAL, cmp.posts,
		"Signals that engines handed to the CMP"),
	SAMPLED("cmp_rechecked_out", TOTAL, cmp.rechecked_out,
		"Posts that the CMP dropped after it had compared the value again"),
	SAMPLED("cmp_recorded", TOTAL, cmp.recorded,
		"Posts that the CMP named in an interrupt record"),
	SAMPLED("cmp_overflowed", TOTAL, cmp.overflowed,
		"Posts that became a NULL event, for which the driver scans all fences"),
	SAMPLED("interrupts_raised", TOTAL, interrupts_raised,
		"Times the virtual GPU raised its interrupt vector"),
	SAMPLED("interrupts_coalesced", TOTAL, interrupts_coalesced,
		"Raises that found the vector already pending"),
	COUNTED("handler_runs", TOTAL, HANDLER_RUNS,
		"Runs of the interrupt handler, as /proc/interrupts counts them"),
	COUNTED("records_useful", TOTAL, USEFUL,
		"Recorded fences that completed at least one waiter"),
	COUNTED("records_spurious", TOTAL, SPURIOUS,
		"Recorded fences that completed no waiter, which is legal"),
	COUNTED("scans", TOTAL, SCANS,
		"NULL events, for each of which the driver scanned every fence with waiters"),
	CLIENTS("cpu_signals", CPU_SIGNALS,
		"Fence points that the CPU signaled"),
	CLIENTS("waits_begun", WAITS_BEGUN,
		"CPU waits and events that the driver queued on a fence"),
	CLIENTS("waits_satisfied", WAITS_SATISFIED,
		"Begun waits that ended because their values were reached"),
	CLIENTS("waits_timed_out", WAITS_TIMED_OUT,
		"Begun waits that their deadline ended"),
	CLIENTS("waits_cancelled", WAITS_CANCELLED,
		"Begun waits that a signal, a cancellation, a close or an error ended"),
	COUNTED("second_sample", TOTAL, SECOND_SAMPLE,
		"Waits that the second sample, after arming, found satisfied"),
	COUNTED("log_entries_read", TOTAL, LOG_READ,
		"Log entries that the driver read"),
	COUNTED("log_entries_lost", TOTAL, LOG_LOST,
		"Log entries that the GPU overwrote before the driver read them"),
	SAMPLED("log_entries_unread", LEVEL, log_entries_unread,
		"Log entries of live queues that the driver has not read yet"),
	SAMPLED("log_packets", TOTAL, log_packets,
		"LOG packets that engines executed"),
	CLIENTS("ioctls", IOCTLS,
		"Ioctls of the driver that it served"),
	CLIENTS("doorbell_faults", DOORBELL_FAULTS,
		"Page faults on doorbell pages"),
	CLIENTS("page_faults", PAGE_FAULTS,
		"Page faults on all other pages that the driver maps"),
	CLIENTS("fences_created", FENCE_CREATED,
		"Create calls to the virtual GPU"),
	CLIENTS("fences_opened", FENCE_OPENED,
		"Open calls to the virtual GPU, one for each holder"),
	CLIENTS("fences_closed", FENCE_CLOSED,
		"Close calls to the virtual GPU"),
	COUNTED("fences_destroyed", TOTAL, FENCE_DESTROYED,
		"Destroy calls to the virtual GPU, after the last close"),
	SAMPLED("queues", LEVEL, queues,
		"Hardware queues that exist"),
	SAMPLED("doorbells_connected", LEVEL, doorbells_connected,
		"Physical doorbells in use"),
	COUNTED("victimisations", TOTAL, VICTIMISATIONS,
		"Doorbells that one queue lost to another"),
	SAMPLED("monitored_updates", TOTAL, cmp.monitored_updates,
		"Updates of monitored values"),
	SAMPLED("monitored_updates_irq", TOTAL, cmp.monitored_updates_irq,
		"Updates of monitored values from a hard interrupt"),
	SAMPLED("shadow_posts", TOTAL, cmp.shadow_posts,
		"Posts that the CMP made itself, when an update met a value already due"),
	SAMPLED("local_pages", LEVEL, local_pages,
		"Pages of fence values that are in video memory"),
	SAMPLED("evictions", TOTAL, evictions,
		"Pages of fence values that the driver moved to system memory"),
	SAMPLED("log_buffers_set", TOTAL, cmp.log_buffers_set,
		"Log buffers handed to the virtual GPU"),
	SAMPLED("log_flushes", TOTAL, cmp.log_flushes,
		"Batches of logs that the driver committed"),
	SAMPLED("log_queues_flushed", TOTAL, cmp.log_queues_flushed,
		"Queues in the batches of logs committed"),
	SAMPLED("log_markers", TOTAL, cmp.log_markers,
		"Markers that were logged"),
	COUNTED("records_array", TOTAL, RECORDS_ARRAY,
		"Interrupt records with an exact array of fences"),
	COUNTED("records_null", TOTAL, RECORDS_NULL,
		"Interrupt records with a NULL array, which make the driver scan all fences"),
	COUNTED("records_queue", TOTAL, RECORDS_QUEUE,
		"Interrupt records that name a queue (the optimised form)"),
	COUNTED("records_queue_null", TOTAL, RECORDS_QUEUE_NULL,
		"Interrupt records with a NULL queue: the driver reads all logs of a node"),
	COUNTED("log_scans", TOTAL, LOG_SCANS,
		"Times the driver read the logs of all queues of a node for such a record"),
	COUNTED("live_reads", TOTAL, LIVE_READS,
		"Fences whose value the driver read, because no log entry named it"),
	COUNTED("legacy_scans", TOTAL, LEGACY_SCANS,
		"Scans of all waiters of monitored fences, or of one file's"),
	COUNTED("f1_transitions", TOTAL, F1,
		"Transitions of an engine from F0 to F1"),
	SAMPLED("engines_in_f1", LEVEL, engines_in_f1,
		"Engines that are in F1"),
	COUNTED("d3_transitions", TOTAL, D3,
		"Transitions of the adapter from D0 to D3"),
	COUNTED("engine_resets", TOTAL, ENGINE_RESETS,
		"Resets of an engine"),
	COUNTED("records_monitored", TOTAL, RECORDS_MONITORED,
		"Interrupt records for a write to a monitored fence"),
	CLIENTS("submissions", SUBMISSIONS,
		"Submissions that kernel-mode queues accepted, one for each queue"),
	COUNTED("submissions_held", TOTAL, SUBMISSIONS_HELD,
		"Submissions that waited for a fence before they went to the GPU"),
	COUNTED("submissions_done", TOTAL, SUBMISSIONS_DONE,
		"Submissions that completed"),
	COUNTED("submissions_lost", TOTAL, SUBMISSIONS_LOST,
		"Submissions that ended because their queue was lost"),
	COUNTED("submissions_timed_out", TOTAL, SUBMISSIONS_TIMED_OUT,
		"Lost submissions that used their engine for longer than TdrDelay"),
	COUNTED("handler_ns", TOTAL, HANDLER_NS,
		"Time in the hard half of the interrupt handler, with interrupts off"),
	SAMPLED("handler_max_ns", MAXIMUM, handler_max_ns,
		"Longest run of the hard half of the interrupt handler"),
	COUNTED("processes_blocked", TOTAL, PROCESSES_BLOCKED,
		"Processes that were blocked because they hung engines too often"),
	COUNTED("adapter_resets", TOTAL, ADAPTER_RESETS,
		"Resets of the whole adapter that began"),
	COUNTED("false_alarms", TOTAL, FALSE_ALARMS,
		"Resets of an engine that were called off, because its work had ended by itself"),
};

static void sample_add_unread(struct vfence_queue *queue, void *arg)
{
	*(u64 *)arg += vfence_log_unread(queue);
}

static void sample_engines(struct vfence_adapter *adapter, struct counters_sample *s)
{
	struct vgpu_node_counters info;
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
 * counters, which hold at rest, then rarely hold by accident.
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
 * vfence_counters_show - print each counter of an adapter: its name, value and kind
 * @adapter: the adapter
 * @m: the file in debugfs
 */
void vfence_counters_show(struct vfence_adapter *adapter, struct seq_file *m)
{
	u64 value[ARRAY_SIZE(counter_table)];
	struct counters_sample sample = { };
	unsigned int i;

	sample_events(adapter, &sample);
	for (i = 0; i < ARRAY_SIZE(counter_table); i++)
		if (counter_table[i].counted != VFENCE_COUNTS)
			value[i] = atomic64_read(&adapter->counts[counter_table[i].counted]);

	sample_levels(adapter, &sample);
	for (i = 0; i < ARRAY_SIZE(counter_table); i++)
		if (counter_table[i].counted == VFENCE_COUNTS)
			value[i] = *(const u64 *)((const char *)&sample +
						  counter_table[i].sampled);

	for (i = 0; i < ARRAY_SIZE(counter_table); i++)
		seq_printf(m, "%s %llu %s\n", counter_table[i].name, value[i],
			   counter_kinds[counter_table[i].kind]);
}

/** vfence_counters_show_help - print what each counter counts to a file in debugfs */
void vfence_counters_show_help(struct seq_file *m)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counter_table); i++)
		seq_printf(m, "%s: %s\n", counter_table[i].name, counter_table[i].help);
}

/**
 * vfence_counters_show_nodes - print the totals of each node of an adapter
 * @adapter: the adapter
 * @m: the file in debugfs
 */
void vfence_counters_show_nodes(struct vfence_adapter *adapter, struct seq_file *m)
{
	struct vgpu_node_counters counters;
	unsigned int i;

	for (i = 0; i < adapter->config.gpu.nodes; i++) {
		vgpu_engine_query_node(adapter->gpu, i, &counters);
		seq_printf(m, "node=%u packets=%llu signals=%llu suppressed=%llu log_packets=%llu waits_stalled=%llu busy_ns=%llu\n",
			   i, counters.packets, counters.signals, counters.suppressed,
			   counters.log_packets, counters.waits_stalled, counters.busy_ns);
	}
}

/**
 * vfence_counters_show_client - print the counters of a client
 * @file: the client
 * @p: printer of its fdinfo
 */
void vfence_counters_show_client(struct vfence_file *file, struct drm_printer *p)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counter_table); i++) {
		const struct counter *counter = &counter_table[i];
		char key[32];

		if (!counter->client)
			continue;
		strscpy(key, counter->name, sizeof(key));
		strreplace(key, '_', '-');
		drm_printf(p, "vfence-%s:\t%lld\n", key,
			   (long long)atomic64_read(&file->counts[counter->counted]));
	}
}
