// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: vfence
 *
 * A DRM driver with a virtual GPU inside: native GPU fences, user-mode hardware queues and
 * conditional interrupts, in software and through the real kernel paths. This file has the
 * module, the platform devices and the ioctl table.
 */

#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/rcupdate.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_ioctl.h>

#include "core/vfence_adapter.h"
#include "core/vfence_device.h"
#include "core/vfence_file_types.h"
#include "core/vfence_gate.h"
#include "fence/vfence_event.h"
#include "fence/vfence_fence_fd.h"
#include "fence/vfence_fence_handle.h"
#include "fence/vfence_sync.h"
#include "fence/vfence_wait_ioctl.h"
#include "fence/vfence_wait_set.h"
#include "mem/vfence_bo.h"
#include "mem/vfence_vm.h"
#include "queue/vfence_context.h"
#include "queue/vfence_doorbell.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_queue_ioctl.h"
#include "queue/vfence_submit.h"
#include "reset/vfence_mailbox.h"
#include "reset/vfence_recovery.h"
#include "reset/vfence_tdr_config.h"
#include "vf/vfence_vf.h"
#include "vfence_configfs.h"
#include "vfence_debugfs.h"
#include "vfence_destroy.h"
#include "vfence_file.h"
#include "vfence_platform.h"
#include "vfence_pm.h"
#include "vfence_probe.h"
#include "vfence_query.h"
#include "vfence_version.h"

/* Inline, as are its callers: the entries below call their ioctls without a pointer. */
static __always_inline int drv_run(drm_ioctl_t *ioctl, struct drm_device *drm, void *data,
				   struct drm_file *file)
{
	vfence_count(to_vfence_adapter(drm), VFENCE_COUNT_IOCTLS);
	vfence_client_count(file->driver_priv, VFENCE_COUNT_IOCTLS, 1);
	return ioctl(drm, data, file);
}

/*
 * For ioctls that may sleep for a long time, or copy arrays from or to a client, who decides how
 * long that takes. Neither a reset of the adapter nor an unplug waits for them. Those that start
 * something on the hardware call vfence_hw_enter() by themselves.
 *
 * drm_ioctl() refuses calls after unplug. A call that runs while the device is unplugged uses
 * counters, logs, fences, GPU and work queues, and these live until the file is closed.
 */
static __always_inline int drv_call(drm_ioctl_t *ioctl, struct drm_device *drm, void *data,
				    struct drm_file *file)
{
	int ret = drv_run(ioctl, drm, data, file);

	vfence_event_end_call(file->driver_priv);
	return ret;
}

/*
 * For all other ioctls: they return -ENODEV after unplug, and unplug and a reset of the adapter
 * wait for them.
 */
static __always_inline int drv_call_entered(drm_ioctl_t *ioctl, struct drm_device *drm,
					    void *data, struct drm_file *file)
{
	struct vfence_adapter *adapter = to_vfence_adapter(drm);
	struct vfence_gate_pass pass;
	int ret;

	ret = vfence_hw_enter(adapter, &pass);
	if (ret)
		return ret;
	ret = drv_run(ioctl, drm, data, file);
	vfence_hw_exit(adapter, &pass);

	/* Do this here: a client decides how long it takes, and unplug need not wait for it. */
	vfence_event_end_call(file->driver_priv);
	return ret;
}

#define DRV_DEFINE_ENTRY(name, how)						\
	static int drv_##name##_entry(struct drm_device *drm, void *data,	\
				      struct drm_file *file)			\
	{									\
		return how(vfence_##name##_ioctl, drm, data, file);		\
	}

DRV_DEFINE_ENTRY(query, drv_call)
DRV_DEFINE_ENTRY(destroy, drv_call)
DRV_DEFINE_ENTRY(device_create, drv_call_entered)
DRV_DEFINE_ENTRY(context_create, drv_call_entered)
DRV_DEFINE_ENTRY(bo_create, drv_call_entered)
DRV_DEFINE_ENTRY(vm_bind, drv_call_entered)
DRV_DEFINE_ENTRY(fence_handle_create, drv_call_entered)
DRV_DEFINE_ENTRY(fence_fd_export, drv_call_entered)
DRV_DEFINE_ENTRY(fence_fd_open, drv_call_entered)
DRV_DEFINE_ENTRY(signal, drv_call)
DRV_DEFINE_ENTRY(wait, drv_call)
DRV_DEFINE_ENTRY(event_arm, drv_call)
DRV_DEFINE_ENTRY(queue_create, drv_call_entered)
DRV_DEFINE_ENTRY(queue_abort, drv_call)
DRV_DEFINE_ENTRY(doorbell_create, drv_call_entered)
DRV_DEFINE_ENTRY(doorbell_connect, drv_call)
DRV_DEFINE_ENTRY(log_read, drv_call)
DRV_DEFINE_ENTRY(doorbell_notify, drv_call_entered)
DRV_DEFINE_ENTRY(context_suspend, drv_call)
DRV_DEFINE_ENTRY(context_resume, drv_call)
DRV_DEFINE_ENTRY(sync_import, drv_call_entered)
DRV_DEFINE_ENTRY(submit, drv_call)
DRV_DEFINE_ENTRY(wait_set_create, drv_call)
DRV_DEFINE_ENTRY(wait_set_wait, drv_call)

#define DRV_ENTRY(NAME, name)	\
	DRM_IOCTL_DEF_DRV(VFENCE_##NAME, drv_##name##_entry, DRM_RENDER_ALLOW)

static const struct drm_ioctl_desc drv_ioctls[] = {
	DRV_ENTRY(QUERY, query),
	DRV_ENTRY(DESTROY, destroy),
	DRV_ENTRY(DEVICE_CREATE, device_create),
	DRV_ENTRY(CONTEXT_CREATE, context_create),
	DRV_ENTRY(BO_CREATE, bo_create),
	DRV_ENTRY(VM_BIND, vm_bind),
	DRV_ENTRY(FENCE_CREATE, fence_handle_create),
	DRV_ENTRY(FENCE_EXPORT, fence_fd_export),
	DRV_ENTRY(FENCE_OPEN, fence_fd_open),
	DRV_ENTRY(FENCE_SIGNAL, signal),
	DRV_ENTRY(WAIT, wait),
	DRV_ENTRY(EVENT_ARM, event_arm),
	DRV_ENTRY(QUEUE_CREATE, queue_create),
	DRV_ENTRY(QUEUE_ABORT, queue_abort),
	DRV_ENTRY(DOORBELL_CREATE, doorbell_create),
	DRV_ENTRY(DOORBELL_CONNECT, doorbell_connect),
	DRV_ENTRY(LOG_READ, log_read),
	DRV_ENTRY(NOTIFY_WORK_SUBMISSION, doorbell_notify),
	DRV_ENTRY(CONTEXT_SUSPEND, context_suspend),
	DRV_ENTRY(CONTEXT_RESUME, context_resume),
	DRV_ENTRY(FENCE_IMPORT, sync_import),
	DRV_ENTRY(SUBMIT, submit),
	DRV_ENTRY(WAIT_SET_CREATE, wait_set_create),
	DRV_ENTRY(WAIT_SET_WAIT, wait_set_wait),
};

static void drv_show_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	vfence_file_show(file->driver_priv, p);
}

VFENCE_DEFINE_FDINFO(drv_show_fdinfo, vfence_file_id, "vfence")

static const struct file_operations drv_fops = {
	.owner = THIS_MODULE,
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = drm_ioctl,
	.compat_ioctl = drm_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = drm_gem_mmap,
	VFENCE_FOP_FLAGS
	VFENCE_FOP_FDINFO
};

static const struct drm_driver drv_driver = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER | DRIVER_SYNCOBJ | DRIVER_SYNCOBJ_TIMELINE,
	.open = vfence_file_open,
	.postclose = vfence_file_close,
	.debugfs_init = vfence_debugfs_init,
	VFENCE_DRIVER_FDINFO(drv_show_fdinfo)
	.ioctls = drv_ioctls,
	.num_ioctls = ARRAY_SIZE(drv_ioctls),
	.fops = &drv_fops,
	.name = "vfence",
	.desc = "native GPU fences on a virtual GPU",
	VFENCE_DRIVER_DATE
	.major = VFENCE_MAJOR,
	.minor = VFENCE_MINOR,
	.gem_create_object = vfence_bo_alloc,
	DRM_GEM_SHMEM_DRIVER_OPS,
};

/*
 * End waits for the host first: DRM waits until no thread is in a file of debugfs, and a thread
 * that resets the adapter there may wait for the engines. Resets that a pause has put off come
 * next, as they end waits of clients that are in the driver.
 */
static void drv_end(struct vfence_adapter *adapter, bool registered)
{
	vfence_mailbox_stop(adapter);
	if (registered) {
		vfence_recovery_resume(adapter);
		drm_dev_unplug(&adapter->drm);
	}
	vfence_probe_unplug(adapter);
}

static int drv_probe(struct platform_device *pdev)
{
	struct vfence_adapter *adapter;
	int ret;

	adapter = devm_drm_dev_alloc(&pdev->dev, &drv_driver, struct vfence_adapter, drm);
	if (IS_ERR(adapter))
		return PTR_ERR(adapter);
	platform_set_drvdata(pdev, adapter);

	ret = vfence_probe_adapter(adapter, pdev->id);
	if (ret)
		return ret;

	/* Register last: clients can open the device from here on. */
	ret = drm_dev_register(&adapter->drm, 0);
	if (ret) {
		drv_end(adapter, false);
		return ret;
	}
	ret = adapter->config.vfs ? vfence_vf_set_count(adapter, adapter->config.vfs) : 0;
	if (ret)
		drv_end(adapter, true);
	return ret;
}

static void drv_remove(struct platform_device *pdev)
{
	struct vfence_adapter *adapter = platform_get_drvdata(pdev);

	/* The virtual functions use the engines of this one. */
	vfence_vf_remove(adapter);
	drv_end(adapter, true);
}

VFENCE_PLATFORM_REMOVE(drv_remove)

static const struct attribute_group *drv_groups[] = {
	&vfence_tdr_config_group, &vfence_vf_group, NULL,
};

static struct platform_driver drv_platform_driver = {
	.probe = drv_probe,
	VFENCE_PLATFORM_REMOVE_OP(drv_remove),
	.driver.name = "vfence",
	.driver.pm = pm_ptr(&vfence_pm_ops),
	.driver.dev_groups = drv_groups,
};

static int __init vfence_init(void)
{
	unsigned int i;
	int ret;

	ret = platform_driver_register(&drv_platform_driver);
	if (ret)
		return ret;

	ret = vfence_platform_add(0);
	for (i = 1; !ret && i < vfence_config_adapters(); i++)
		ret = vfence_platform_add(i);
	if (!ret && IS_REACHABLE(CONFIG_CONFIGFS_FS))
		ret = vfence_configfs_init();
	if (ret) {
		vfence_platform_remove_all();
		platform_driver_unregister(&drv_platform_driver);
	}
	return ret;
}
module_init(vfence_init);

static void __exit vfence_exit(void)
{
	if (IS_REACHABLE(CONFIG_CONFIGFS_FS))
		vfence_configfs_fini();
	vfence_platform_remove_all();
	platform_driver_unregister(&drv_platform_driver);
	/* RCU callbacks free fences and queues: wait for them before the report. */
	rcu_barrier();
	vfence_leak_check_report();
}
module_exit(vfence_exit);

MODULE_AUTHOR("The vfence developers");
MODULE_DESCRIPTION("Native GPU fences on a virtual GPU");
MODULE_VERSION(__stringify(VFENCE_MAJOR) "." __stringify(VFENCE_MINOR));
MODULE_LICENSE("GPL");
