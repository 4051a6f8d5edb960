// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: vfence
 *
 * A DRM driver with a virtual GPU inside: native GPU fences, user-mode hardware
 * queues, conditional interrupts, all in software and all through the real
 * kernel paths. This file is the DRM face: module, platform devices, ioctl table.
 *
 * Version history: see include/uapi, drm/vfence_drm.h.
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
#include "fence/vfence_event.h"
#include "fence/vfence_local.h"
#include "fence/vfence_request.h"
#include "fence/vfence_share.h"
#include "fence/vfence_sync.h"
#include "mem/vfence_bo.h"
#include "mem/vfence_vm.h"
#include "queue/vfence_context.h"
#include "queue/vfence_doorbell.h"
#include "queue/vfence_log.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_submit.h"
#include "vfence_debugfs.h"
#include "vfence_file.h"
#include "vfence_pm.h"
#include "vfence_probe.h"
#include "vfence_query.h"

/* Calls that may sleep for long enter the device by themselves. */
static int call(drm_ioctl_t *ioctl, struct drm_device *drm, void *data, struct drm_file *file)
{
	vfence_count(to_vfence_adapter(drm), VFENCE_COUNT_IOCTLS);
	return ioctl(drm, data, file);
}

/* All others see the device or ENODEV, and unplug waits for them. */
static int call_entered(drm_ioctl_t *ioctl, struct drm_device *drm, void *data,
			struct drm_file *file)
{
	int ret, idx;

	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	ret = call(ioctl, drm, data, file);
	drm_dev_exit(idx);
	return ret;
}

#define DEFINE_ENTRY(name, how)							\
	static int name##_entry(struct drm_device *drm, void *data,		\
				struct drm_file *file)				\
	{									\
		return how(vfence_##name##_ioctl, drm, data, file);		\
	}

DEFINE_ENTRY(query, call_entered)
DEFINE_ENTRY(device_create, call_entered)
DEFINE_ENTRY(file_destroy_device, call_entered)
DEFINE_ENTRY(device_query, call_entered)
DEFINE_ENTRY(context_create, call_entered)
DEFINE_ENTRY(context_destroy, call_entered)
DEFINE_ENTRY(bo_create, call_entered)
DEFINE_ENTRY(vm_bind, call_entered)
DEFINE_ENTRY(vm_unbind, call_entered)
DEFINE_ENTRY(local_create, call_entered)
DEFINE_ENTRY(local_destroy, call_entered)
DEFINE_ENTRY(share_export, call_entered)
DEFINE_ENTRY(share_open, call_entered)
DEFINE_ENTRY(request_signal, call_entered)
DEFINE_ENTRY(local_query, call_entered)
DEFINE_ENTRY(request_wait, call)
DEFINE_ENTRY(event_arm, call)
DEFINE_ENTRY(event_cancel, call_entered)
DEFINE_ENTRY(queue_create, call_entered)
DEFINE_ENTRY(queue_destroy, call_entered)
DEFINE_ENTRY(queue_query, call_entered)
DEFINE_ENTRY(queue_abort, call_entered)
DEFINE_ENTRY(doorbell_create, call_entered)
DEFINE_ENTRY(doorbell_connect, call_entered)
DEFINE_ENTRY(doorbell_destroy, call_entered)
DEFINE_ENTRY(log_read, call_entered)
DEFINE_ENTRY(doorbell_notify, call_entered)
DEFINE_ENTRY(context_suspend, call)
DEFINE_ENTRY(context_resume, call)
DEFINE_ENTRY(local_create_monitored, call_entered)
DEFINE_ENTRY(sync_import, call_entered)
DEFINE_ENTRY(submit, call)

#define ENTRY(NAME, name)	DRM_IOCTL_DEF_DRV(VFENCE_##NAME, name##_entry, DRM_RENDER_ALLOW)

static const struct drm_ioctl_desc ioctls[] = {
	ENTRY(QUERY, query),
	ENTRY(DEVICE_CREATE, device_create),
	ENTRY(DEVICE_DESTROY, file_destroy_device),
	ENTRY(DEVICE_QUERY, device_query),
	ENTRY(CONTEXT_CREATE, context_create),
	ENTRY(CONTEXT_DESTROY, context_destroy),
	ENTRY(BO_CREATE, bo_create),
	ENTRY(VM_BIND, vm_bind),
	ENTRY(VM_UNBIND, vm_unbind),
	ENTRY(FENCE_CREATE, local_create),
	ENTRY(FENCE_DESTROY, local_destroy),
	ENTRY(FENCE_EXPORT, share_export),
	ENTRY(FENCE_OPEN, share_open),
	ENTRY(FENCE_SIGNAL, request_signal),
	ENTRY(FENCE_QUERY, local_query),
	ENTRY(WAIT, request_wait),
	ENTRY(EVENT_ARM, event_arm),
	ENTRY(EVENT_CANCEL, event_cancel),
	ENTRY(QUEUE_CREATE, queue_create),
	ENTRY(QUEUE_DESTROY, queue_destroy),
	ENTRY(QUEUE_QUERY, queue_query),
	ENTRY(QUEUE_ABORT, queue_abort),
	ENTRY(DOORBELL_CREATE, doorbell_create),
	ENTRY(DOORBELL_CONNECT, doorbell_connect),
	ENTRY(DOORBELL_DESTROY, doorbell_destroy),
	ENTRY(LOG_READ, log_read),
	ENTRY(NOTIFY_WORK_SUBMISSION, doorbell_notify),
	ENTRY(CONTEXT_SUSPEND, context_suspend),
	ENTRY(CONTEXT_RESUME, context_resume),
	ENTRY(MONITORED_FENCE_CREATE, local_create_monitored),
	ENTRY(FENCE_IMPORT, sync_import),
	ENTRY(SUBMIT, submit),
};

static void show_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	vfence_file_show(file->driver_priv, p);
}

VFENCE_DEFINE_FDINFO(show_fdinfo, vfence_file_id, "vfence")

static const struct file_operations fops = {
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

static const struct drm_driver driver = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER | DRIVER_SYNCOBJ | DRIVER_SYNCOBJ_TIMELINE,
	.open = vfence_file_open,
	.postclose = vfence_file_close,
	.debugfs_init = vfence_debugfs_init,
	VFENCE_DRIVER_FDINFO(show_fdinfo)
	.ioctls = ioctls,
	.num_ioctls = ARRAY_SIZE(ioctls),
	.fops = &fops,
	.name = "vfence",
	.desc = "native GPU fences on a virtual GPU",
	VFENCE_DRIVER_DATE
	.major = 1,
	.minor = 17,
	DRM_GEM_SHMEM_DRIVER_OPS,
};

static int probe(struct platform_device *pdev)
{
	struct vfence_adapter *adapter;
	int ret;

	adapter = devm_drm_dev_alloc(&pdev->dev, &driver, struct vfence_adapter, drm);
	if (IS_ERR(adapter))
		return PTR_ERR(adapter);
	platform_set_drvdata(pdev, adapter);
	ret = vfence_probe_adapter(adapter, pdev->id);
	if (ret)
		return ret;
	/* Final step: expose the device. */
	ret = drm_dev_register(&adapter->drm, 0);
	if (ret)
		vfence_probe_unplug(adapter);
	return ret;
}

static void remove(struct platform_device *pdev)
{
	struct vfence_adapter *adapter = platform_get_drvdata(pdev);

	drm_dev_unplug(&adapter->drm);
	vfence_probe_unplug(adapter);
}

VFENCE_PLATFORM_REMOVE(remove)

static struct platform_driver platform_driver = {
	.probe = probe,
	VFENCE_PLATFORM_REMOVE_OP(remove),
	.driver.name = "vfence",
	.driver.pm = pm_ptr(&vfence_pm_ops),
};

static struct platform_device *devices[VFENCE_MAX_ADAPTERS];

static void unregister_devices(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(devices); i++)
		if (devices[i])
			platform_device_unregister(devices[i]);
}

static int register_device(unsigned int index)
{
	struct vfence_config config;
	struct platform_device *pdev;

	/* A bad parameter fails the load, not silently one probe of many. */
	if (vfence_config_get(index, &config))
		return -EINVAL;
	pdev = platform_device_register_simple("vfence", index, NULL, 0);
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	devices[index] = pdev;
	return 0;
}

static int __init vfence_init(void)
{
	unsigned int i;
	int ret;

	ret = platform_driver_register(&platform_driver);
	if (ret)
		return ret;
	ret = register_device(0);
	for (i = 1; !ret && i < vfence_config_adapters(); i++)
		ret = register_device(i);
	if (ret) {
		unregister_devices();
		platform_driver_unregister(&platform_driver);
	}
	return ret;
}
module_init(vfence_init);

static void __exit vfence_exit(void)
{
	unregister_devices();
	platform_driver_unregister(&platform_driver);
	/* Fences and queues are freed by RCU callbacks. */
	rcu_barrier();
	vfence_objects_report();
}
module_exit(vfence_exit);

MODULE_DESCRIPTION("Native GPU fences on a virtual GPU");
MODULE_LICENSE("GPL");
