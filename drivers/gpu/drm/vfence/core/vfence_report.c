// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of the kernel's log about what the GPU has done to clients: one for each hang that led to a
 * reset, and for each queue that was stopped because its work took too long. A client can cause
 * them, so an adapter writes a few, and then none for some time.
 */

#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/string.h>

#include <drm/drm_print.h>

#include "core/vfence_adapter.h"
#include "core/vfence_process.h"
#include "core/vfence_report.h"

/* Lines of one adapter: so many in so many jiffies. */
#define REPORT_BURST	10
#define REPORT_INTERVAL	(10 * HZ)

/** vfence_report_init - prepare an adapter for reports; cannot fail */
void vfence_report_init(struct vfence_adapter *adapter)
{
	ratelimit_state_init(&adapter->reports, REPORT_INTERVAL, REPORT_BURST);
	/* Do not write how many lines were left out: that would be one line more each time. */
	ratelimit_set_flags(&adapter->reports, RATELIMIT_MSG_ON_RELEASE);
}

/**
 * vfence_report_name - what a report calls a process: its name and number, as in "name [12]"
 * @pid: the process, or NULL if it has ended, and nothing knows its number any more
 * @name: out: the text
 */
void vfence_report_name(struct pid *pid, char name[VFENCE_REPORT_NAME])
{
	char comm[TASK_COMM_LEN] = "";

	if (pid)
		vfence_process_name(pid, comm);
	if (!*comm)
		strscpy(comm, "(ended)", sizeof(comm));
	snprintf(name, VFENCE_REPORT_NAME, "%s [%d]", comm, pid_nr(pid));
}

static bool report_is_allowed(struct vfence_adapter *adapter)
{
	return __ratelimit(&adapter->reports);
}

/**
 * vfence_report - write a line about an adapter to the kernel's log, or leave it out
 * @adapter: the adapter
 * @format: as for printk(), without a newline
 *
 * Any context.
 */
void vfence_report(struct vfence_adapter *adapter, const char *format, ...)
{
	struct va_format text = { .fmt = format };
	va_list args;

	if (!report_is_allowed(adapter))
		return;
	va_start(args, format);
	text.va = &args;
	drm_notice(&adapter->drm, "%pV\n", &text);
	va_end(args);
}
