// SPDX-License-Identifier: MIT
/* Counters: those that the library knows by member, all of them by name. */

#include <stdlib.h>
#include <string.h>

#include "vf_private.h"

#define M(id, member) [DRM_VFENCE_COUNTER_##id] = offsetof(struct vf_counters, member)
/* The member of each id. */
static const size_t member_of[] = {
	M(SIGNALS, signals),
	M(SUPPRESSED, suppressed),
	M(POSTS, posts),
	M(CMP_RECHECKED_OUT, cmp_rechecked_out),
	M(CMP_RECORDED, cmp_recorded),
	M(CMP_OVERFLOWED, cmp_overflowed),
	M(INTERRUPTS_RAISED, interrupts_raised),
	M(INTERRUPTS_COALESCED, interrupts_coalesced),
	M(HANDLER_RUNS, handler_runs),
	M(RECORDS_USEFUL, records_useful),
	M(RECORDS_SPURIOUS, records_spurious),
	M(SCANS, scans),
	M(CPU_SIGNALS, cpu_signals),
	M(WAITS_BEGUN, waits_begun),
	M(WAITS_SATISFIED, waits_satisfied),
	M(WAITS_TIMED_OUT, waits_timed_out),
	M(WAITS_CANCELLED, waits_cancelled),
	M(SECOND_SAMPLE, second_sample),
	M(LOG_ENTRIES_READ, log_entries_read),
	M(LOG_ENTRIES_LOST, log_entries_lost),
	M(LOG_ENTRIES_UNREAD, log_entries_unread),
	M(LOG_PACKETS, log_packets),
	M(IOCTLS, ioctls),
	M(DOORBELL_FAULTS, doorbell_faults),
	M(PAGE_FAULTS, page_faults),
	M(FENCES_CREATED, fences_created),
	M(FENCES_OPENED, fences_opened),
	M(FENCES_CLOSED, fences_closed),
	M(FENCES_DESTROYED, fences_destroyed),
	M(QUEUES, queues),
	M(DOORBELLS_CONNECTED, doorbells_connected),
	M(VICTIMISATIONS, victimisations),
	M(MONITORED_UPDATES, monitored_updates),
	M(MONITORED_UPDATES_IRQ, monitored_updates_irq),
	M(SHADOW_POSTS, shadow_posts),
	M(LOCAL_PAGES, local_pages),
	M(EVICTIONS, evictions),
	M(LOG_BUFFERS_SET, log_buffers_set),
	M(LOG_FLUSHES, log_flushes),
	M(LOG_QUEUES_FLUSHED, log_queues_flushed),
	M(LOG_MARKERS, log_markers),
	M(RECORDS_ARRAY, records_array),
	M(RECORDS_NULL, records_null),
	M(RECORDS_QUEUE, records_queue),
	M(RECORDS_QUEUE_NULL, records_queue_null),
	M(LOG_SCANS, log_scans),
	M(LIVE_READS, live_reads),
	M(LEGACY_SCANS, legacy_scans),
	M(F1_TRANSITIONS, f1_transitions),
	M(ENGINES_IN_F1, engines_in_f1),
	M(D3_TRANSITIONS, d3_transitions),
	M(ENGINE_RESETS, engine_resets),
	M(RECORDS_MONITORED, records_monitored),
	M(SUBMISSIONS, submissions),
	M(SUBMISSIONS_HELD, submissions_held),
	M(SUBMISSIONS_DONE, submissions_done),
	M(SUBMISSIONS_LOST, submissions_lost),
	M(SUBMISSIONS_TIMED_OUT, submissions_timed_out),
	M(HANDLER_NS, handler_ns),
	M(HANDLER_MAX_NS, handler_max_ns),
	M(PROCESSES_BLOCKED, processes_blocked),
	M(ADAPTER_RESETS, adapter_resets),
	M(FALSE_ALARMS, false_alarms),
};

#undef M

/* Ids start at 1. */
#define KNOWN (sizeof(member_of) / sizeof(member_of[0]) - 1)

_Static_assert(KNOWN * sizeof(uint64_t) == sizeof(struct vf_counters), "a member without an id");

static int counters_read(struct vf_adapter *adapter, uint32_t type, struct vf_counters *counters)
{
	/*
	 * Ids start at 1, ascend and occur once. So the known ids are within the first KNOWN
	 * elements, however many counters the driver has.
	 */
	struct drm_vfence_counter answer[KNOWN];
	uint32_t size = sizeof(answer);
	int ret = vf_query(adapter, type, answer, &size, sizeof(answer[0]));
	size_t i;

	if (ret)
		return ret;

	memset(counters, 0, sizeof(*counters));
	/* The kernel clears the elements behind a shorter answer, and 0 is not an id. */
	for (i = 0; i < KNOWN; i++)
		if (answer[i].id && answer[i].id <= KNOWN)
			memcpy((char *)counters + member_of[answer[i].id], &answer[i].value,
			       sizeof(answer[i].value));
	return 0;
}

VF_EXPORT int vf_adapter_counters(struct vf_adapter *adapter, struct vf_counters *counters)
{
	return counters_read(adapter, DRM_VFENCE_QUERY_COUNTER_VALUES, counters);
}

VF_EXPORT int vf_client_counters(struct vf_adapter *adapter, struct vf_counters *counters)
{
	return counters_read(adapter, DRM_VFENCE_QUERY_CLIENT_COUNTERS, counters);
}

static void list_fill(struct vf_counter *list, size_t room,
		      const struct drm_vfence_counter *values,
		      const struct drm_vfence_counter_info *infos, size_t count)
{
	size_t i;

	for (i = 0; i < room && i < count; i++) {
		list[i] = (struct vf_counter) {
			.id = infos[i].id,
			.kind = infos[i].kind,
			.unit = infos[i].unit,
			.value = values[i].value,
		};
		memcpy(list[i].name, infos[i].name, sizeof(list[i].name) - 1);
	}
}

VF_EXPORT int vf_adapter_counter_list(struct vf_adapter *adapter, struct vf_counter *list,
				      unsigned int *count)
{
	struct drm_vfence_counter_info *infos;
	struct drm_vfence_counter *values;
	uint32_t size = 0, room = *count;
	size_t n;
	int ret = vf_query(adapter, DRM_VFENCE_QUERY_COUNTER_VALUES, NULL, &size,
			   sizeof(*values));

	if (ret)
		return ret;
	n = size / sizeof(*values);
	*count = (unsigned int)n;
	if (!room)
		return 0;

	values = calloc(n, sizeof(*values));
	infos = calloc(n, sizeof(*infos));
	ret = values && infos ? 0 : -ENOMEM;
	size = (uint32_t)(n * sizeof(*values));
	ret = ret ? ret : vf_query(adapter, DRM_VFENCE_QUERY_COUNTER_VALUES, values, &size,
				   sizeof(*values));
	size = (uint32_t)(n * sizeof(*infos));
	ret = ret ? ret : vf_query(adapter, DRM_VFENCE_QUERY_COUNTER_INFOS, infos, &size,
				   sizeof(*infos));
	/* Both answers have the same ids in the same order. */
	if (!ret)
		list_fill(list, room, values, infos, n);
	free(values);
	free(infos);
	return ret;
}

VF_EXPORT int vf_adapter_counter(struct vf_adapter *adapter, const char *name, uint64_t *value)
{
	struct vf_counter *list;
	unsigned int i, room = 0, count;
	int ret = vf_adapter_counter_list(adapter, NULL, &room);

	if (ret)
		return ret;
	list = calloc(room, sizeof(*list));
	if (!list)
		return -ENOMEM;
	count = room;
	ret = vf_adapter_counter_list(adapter, list, &count);
	for (i = 0; !ret && i < room; i++)
		if (!strcmp(list[i].name, name))
			break;
	if (!ret && i == room)
		ret = -ENOENT;
	if (!ret)
		*value = list[i].value;
	free(list);
	return ret;
}

VF_EXPORT bool vf_counters_settled(const struct vf_counters *c)
{
	return c->signals + c->shadow_posts == c->suppressed + c->posts &&
	       c->posts == c->cmp_rechecked_out + c->cmp_recorded + c->cmp_overflowed &&
	       c->cmp_recorded == c->records_useful + c->records_spurious &&
	       c->handler_runs == c->interrupts_raised - c->interrupts_coalesced &&
	       c->log_packets == c->log_entries_read + c->log_entries_lost +
				 c->log_entries_unread;
}
