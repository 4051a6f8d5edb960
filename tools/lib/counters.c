// SPDX-License-Identifier: MIT
/*
 * Counters: those that the library knows by member, all of them by name. Those of an adapter are in
 * debugfs, those of a client in the fdinfo of its file.
 */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "vf_private.h"

#define M(member) { #member, offsetof(struct vf_counters, member) }
static const struct {
	const char *name;
	size_t member;
} member_of[] = {
	M(signals),
	M(suppressed),
	M(posts),
	M(cmp_rechecked_out),
	M(cmp_recorded),
	M(cmp_overflowed),
	M(interrupts_raised),
	M(interrupts_coalesced),
	M(handler_runs),
	M(records_useful),
	M(records_spurious),
	M(scans),
	M(cpu_signals),
	M(waits_begun),
	M(waits_satisfied),
	M(waits_timed_out),
	M(waits_cancelled),
	M(second_sample),
	M(log_entries_read),
	M(log_entries_lost),
	M(log_entries_unread),
	M(log_packets),
	M(ioctls),
	M(doorbell_faults),
	M(page_faults),
	M(fences_created),
	M(fences_opened),
	M(fences_closed),
	M(fences_destroyed),
	M(queues),
	M(doorbells_connected),
	M(victimisations),
	M(monitored_updates),
	M(monitored_updates_irq),
	M(shadow_posts),
	M(local_pages),
	M(evictions),
	M(log_buffers_set),
	M(log_flushes),
	M(log_queues_flushed),
	M(log_markers),
	M(records_array),
	M(records_null),
	M(records_queue),
	M(records_queue_null),
	M(log_scans),
	M(live_reads),
	M(legacy_scans),
	M(f1_transitions),
	M(engines_in_f1),
	M(d3_transitions),
	M(engine_resets),
	M(records_monitored),
	M(submissions),
	M(submissions_held),
	M(submissions_done),
	M(submissions_lost),
	M(submissions_timed_out),
	M(handler_ns),
	M(handler_max_ns),
	M(processes_blocked),
	M(adapter_resets),
	M(false_alarms),
};

#undef M

#define KNOWN (sizeof(member_of) / sizeof(member_of[0]))

_Static_assert(KNOWN * sizeof(uint64_t) == sizeof(struct vf_counters), "a member without a name");

/* The folder of an adapter in debugfs has the number of its primary node. */
static int counters_path(struct vf_adapter *adapter, const char *name, char *path, size_t size)
{
	unsigned int number;
	struct dirent *entry;
	char folder[64];
	struct stat st;
	int ret;
	DIR *dir;

	if (fstat(adapter->fd, &st))
		return -errno;
	snprintf(folder, sizeof(folder), "/sys/dev/char/%u:%u/device/drm", major(st.st_rdev),
		 minor(st.st_rdev));
	dir = opendir(folder);
	if (!dir)
		return errno == ENOENT ? -ENODEV : -errno;
	ret = -ENODEV;
	while (ret && (entry = readdir(dir))) {
		char rest;

		if (sscanf(entry->d_name, "card%u%c", &number, &rest) != 1)
			continue;
		snprintf(path, size, "/sys/kernel/debug/dri/%u/%s", number, name);
		ret = 0;
	}
	closedir(dir);
	return ret;
}

/* Read a file. The caller frees its text. */
static int counters_read(const char *path, char **text)
{
	FILE *f = fopen(path, "re");
	size_t room = 0;
	ssize_t length;
	int ret = 0;

	if (!f)
		return -errno;
	*text = NULL;
	errno = 0;
	/* The text has no zero, so this reads all of it. */
	length = getdelim(text, &room, 0, f);
	if (length < 0)
		ret = errno ? -errno : -ENODEV;
	fclose(f);
	if (ret)
		free(*text);
	return ret;
}

static int counters_read_adapter(struct vf_adapter *adapter, const char *name, char **text)
{
	char path[128];
	int ret = counters_path(adapter, name, path, sizeof(path));

	return ret ? ret : counters_read(path, text);
}

/* Take the next line of a text as a counter: its name, value and kind. */
static bool counters_next(char **text, struct vf_counter *counter)
{
	static const char *const kinds[] = { "total", "level", "maximum" };
	char *line = strsep(text, "\n"), kind[16];
	unsigned long long value;
	unsigned int i;

	memset(counter, 0, sizeof(*counter));
	if (!line || sscanf(line, "%31s %llu %15s", counter->name, &value, kind) != 3)
		return false;
	counter->value = value;
	for (i = 0; i < 3; i++)
		if (!strcmp(kind, kinds[i]))
			counter->kind = (enum vf_counter_kind)i;
	return true;
}

static void counters_set(struct vf_counters *counters, const char *name, uint64_t value)
{
	size_t i;

	for (i = 0; i < KNOWN; i++)
		if (!strcmp(member_of[i].name, name))
			memcpy((char *)counters + member_of[i].member, &value, sizeof(value));
}

VF_EXPORT int vf_adapter_counters(struct vf_adapter *adapter, struct vf_counters *counters)
{
	struct vf_counter counter;
	char *text, *next;
	int ret = counters_read_adapter(adapter, "counters", &text);

	if (ret)
		return ret;
	memset(counters, 0, sizeof(*counters));
	for (next = text; counters_next(&next, &counter);)
		counters_set(counters, counter.name, counter.value);
	free(text);
	return 0;
}

/* Take a line of fdinfo. Return true if it has a counter: "vfence-waits-begun:\t5". */
static bool counters_take_line(const char *line, struct vf_counters *counters)
{
	char name[VF_COUNTER_NAME_SIZE], *at;
	unsigned long long value;

	if (sscanf(line, "vfence-%31[^:]: %llu", name, &value) != 2)
		return false;
	for (at = name; *at; at++)
		if (*at == '-')
			*at = '_';
	counters_set(counters, name, value);
	return true;
}

VF_EXPORT int vf_client_counters(struct vf_adapter *adapter, struct vf_counters *counters)
{
	char path[64], *text, *next, *line;
	bool found = false;
	int ret;

	/* Another thread may have descriptors of its own. */
	snprintf(path, sizeof(path), "/proc/thread-self/fdinfo/%d", adapter->fd);
	ret = counters_read(path, &text);
	if (ret)
		return ret;
	memset(counters, 0, sizeof(*counters));
	for (next = text; (line = strsep(&next, "\n"));)
		found |= counters_take_line(line, counters);
	free(text);
	/* The kernel prints nothing of DRM for a device that is gone. */
	return found ? 0 : -ENODEV;
}

VF_EXPORT int vf_adapter_counter_list(struct vf_adapter *adapter, struct vf_counter *list,
				      unsigned int *count)
{
	struct vf_counter counter;
	unsigned int n = 0;
	char *text, *next;
	int ret = counters_read_adapter(adapter, "counters", &text);

	if (ret)
		return ret;
	for (next = text; counters_next(&next, &counter); n++)
		if (n < *count)
			list[n] = counter;
	free(text);
	*count = n;
	return 0;
}

VF_EXPORT int vf_adapter_counter(struct vf_adapter *adapter, const char *name, uint64_t *value)
{
	struct vf_counter counter;
	bool found = false;
	char *text, *next;
	int ret = counters_read_adapter(adapter, "counters", &text);

	if (ret)
		return ret;
	for (next = text; !found && counters_next(&next, &counter);)
		found = !strcmp(counter.name, name);
	free(text);
	if (found)
		*value = counter.value;
	return found ? 0 : -ENOENT;
}

/* The number behind a key in a line, or 0. */
static uint64_t counters_number(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

VF_EXPORT int vf_adapter_node_totals(struct vf_adapter *adapter, struct vf_node_totals *totals,
				     unsigned int *count)
{
	char *text, *next, *line;
	unsigned int n = 0;
	int ret = counters_read_adapter(adapter, "nodes", &text);

	if (ret)
		return ret;
	for (next = text; (line = strsep(&next, "\n")) && *line; n++)
		if (n < *count)
			totals[n] = (struct vf_node_totals){
				.packets = counters_number(line, " packets="),
				.signals = counters_number(line, " signals="),
				.suppressed = counters_number(line, " suppressed="),
				.log_packets = counters_number(line, " log_packets="),
				.waits_stalled = counters_number(line, " waits_stalled="),
				.busy_ns = counters_number(line, " busy_ns="),
			};
	free(text);
	*count = n;
	return 0;
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
