// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uevents about hangs, as DRM drivers send them: WEDGED=none after a recovery, with PID and TASK
 * of the process that was the cause, and WEDGED=rebind when the adapter is lost.
 *
 * They are sent by hand: drm_dev_wedged_event() also writes to the kernel's log, which a client
 * must not be able to fill, and older kernels do not have it.
 */

#include <linux/kobject.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include <drm/drm_file.h>

#include "core/vfence_adapter.h"
#include "core/vfence_process.h"
#include "reset/vfence_wedge.h"

static void wedge_send(struct vfence_adapter *adapter, char **env)
{
	int idx;

	/* After unplug there is nothing to send it for. */
	if (!drm_dev_enter(&adapter->drm, &idx))
		return;
	kobject_uevent_env(&adapter->drm.primary->kdev->kobj, KOBJ_CHANGE, env);
	drm_dev_exit(idx);
}

/** vfence_wedge_recovered - a device of process @id has hung, and everything else goes on */
void vfence_wedge_recovered(struct vfence_adapter *adapter, struct pid *id)
{
	char name[TASK_COMM_LEN] = "", pid[16], task[TASK_COMM_LEN + 5];
	char *env[4] = { "WEDGED=none", pid, task, NULL };

	vfence_process_name(id, name);
	snprintf(pid, sizeof(pid), "PID=%d", pid_nr(id));
	snprintf(task, sizeof(task), "TASK=%s", name);
	wedge_send(adapter, env);
}

/** vfence_wedge_revived - an adapter that had failed works again */
void vfence_wedge_revived(struct vfence_adapter *adapter)
{
	char *env[2] = { "WEDGED=none", NULL };

	wedge_send(adapter, env);
}

/** vfence_wedge_lost - the adapter has failed for good */
void vfence_wedge_lost(struct vfence_adapter *adapter)
{
	char *env[2] = { "WEDGED=rebind", NULL };

	wedge_send(adapter, env);
}
