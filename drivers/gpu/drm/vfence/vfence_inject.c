// SPDX-License-Identifier: GPL-2.0-only
/*
 * Injection: the file "inject" in debugfs, by which tests let the virtual GPU fail, and the driver
 * stay where it does not stay by itself.
 */

#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kstrtox.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>

#include "core/vfence_adapter.h"
#include "core/vfence_gate.h"
#include "core/vfence_power.h"
#include "hw/vgpu_injection.h"
#include "queue/vfence_doorbell.h"
#include "reset/vfence_recovery.h"
#include "vfence_inject.h"

/* A name, a value, and what stands between them. */
#define INJECT_TEXT_MAX	64

/* WDDM-170: reset an engine, whatever it does. */
static int inject_reset_engine(struct vfence_adapter *adapter, u32 node)
{
	static const struct vfence_recovery_cause anyway;

	if (node >= adapter->config.gpu.nodes)
		return -EINVAL;
	return vfence_recovery_engine(adapter, node, &anyway);
}

/* WDDM-170: reset the adapter. */
static int inject_reset_adapter(struct vfence_adapter *adapter, u32 on)
{
	int ret;

	if (on != 1)
		return -EINVAL;
	ret = vfence_power_get(adapter);
	if (ret)
		return ret;
	ret = vfence_recovery_adapter(adapter, VFENCE_TIMEOUT_FORCED);
	vfence_power_put(adapter);
	return ret;
}

/* A thread stays in the driver for so many ms, as a test of TdrDdiDelay needs it. */
static int inject_stay(struct vfence_adapter *adapter, u32 ms,
		       void (*how)(struct vfence_adapter *adapter, unsigned int ms))
{
	struct vfence_gate_pass pass;
	int ret;

	if (ms > VFENCE_TIMEOUT_MAX_DELAY_MS)
		return -EINVAL;
	ret = vfence_hw_enter(adapter, &pass);
	if (ret)
		return ret;
	how(adapter, ms);
	vfence_hw_exit(adapter, &pass);
	return 0;
}

static void inject_sleep(struct vfence_adapter *adapter, unsigned int ms)
{
	msleep_interruptible(ms);
}

static int inject_stay_ms(struct vfence_adapter *adapter, u32 ms)
{
	return inject_stay(adapter, ms, inject_sleep);
}

/*
 * From the time when a reset waits for it the thread is runnable, as one is that waits for a
 * processor.
 */
static void inject_run(struct vfence_adapter *adapter, unsigned int ms)
{
	unsigned long end;

	while (!vfence_gate_is_closed(adapter) && !signal_pending(current))
		msleep_interruptible(1);
	end = jiffies + msecs_to_jiffies(ms);
	while (time_before(jiffies, end) && !signal_pending(current)) {
		udelay(5);
		/* Let others run, whatever the kernel's model of preemption is. */
		schedule();
	}
}

static int inject_run_ms(struct vfence_adapter *adapter, u32 ms)
{
	return inject_stay(adapter, ms, inject_run);
}

/* A function's driver sends any message to the host. */
static int inject_mailbox(struct vfence_adapter *adapter, u32 message)
{
	return vgpu_mailbox_send(adapter->gpu, message) ? 0 : -ENXIO;
}

/* Injections that act when they are written, and have no value to read. */
static const struct {
	const char *name;
	int (*act)(struct vfence_adapter *adapter, u32 value);
	const char *text;
} inject_acts[] = {
	{ "reset_engine", inject_reset_engine,
	  "the engine of this node is reset, whatever it does" },
	{ "reset_adapter", inject_reset_adapter, "with 1 the adapter is reset" },
	{ "stay_ms", inject_stay_ms, "the writer sleeps inside the driver for so many ms" },
	{ "run_ms", inject_run_ms,
	  "the writer is runnable inside the driver for so many ms of a reset" },
	{ "mailbox", inject_mailbox, "the function sends this message to the host" },
};

static int inject_value(struct vfence_adapter *adapter, enum vgpu_injection id, u32 value)
{
	vgpu_injection_set(vgpu_injections_of(adapter->gpu), id, value);
	/*
	 * The hardware may require notifications at any time. Disconnect all doorbells: clients
	 * read the new setting when they connect again.
	 */
	if (id == VGPU_INJECT_NOTIFY_WORK)
		vfence_doorbell_force_reconnect_all(adapter);
	return 0;
}

static int inject_by_name(struct vfence_adapter *adapter, const char *name, u32 value)
{
	unsigned int i;

	for (i = 0; i < VGPU_INJECTIONS; i++)
		if (!strcmp(name, vgpu_injection_name(i)))
			return inject_value(adapter, i, value);
	for (i = 0; i < ARRAY_SIZE(inject_acts); i++)
		if (!strcmp(name, inject_acts[i].name))
			return inject_acts[i].act(adapter, value);
	return -EINVAL;
}

static int inject_show(struct seq_file *m, void *unused)
{
	struct vfence_adapter *adapter = m->private;
	const struct vgpu_injections *injections = vgpu_injections_of(adapter->gpu);
	unsigned int i;

	for (i = 0; i < VGPU_INJECTIONS; i++)
		seq_printf(m, "%s %#x: %s\n", vgpu_injection_name(i),
			   vgpu_injected(injections, i), vgpu_injection_text(i));
	for (i = 0; i < ARRAY_SIZE(inject_acts); i++)
		seq_printf(m, "%s -: %s\n", inject_acts[i].name, inject_acts[i].text);
	return 0;
}

static int inject_open(struct inode *inode, struct file *file)
{
	return single_open(file, inject_show, inode->i_private);
}

static ssize_t inject_write(struct file *file, const char __user *from, size_t count, loff_t *at)
{
	struct seq_file *m = file->private_data;
	char *text, *value, *name;
	u32 number;
	int ret = -EINVAL;

	if (count >= INJECT_TEXT_MAX)
		return ret;
	text = memdup_user_nul(from, count);
	if (IS_ERR(text))
		return PTR_ERR(text);

	value = strim(text);
	name = strsep(&value, " ");
	if (value && !kstrtou32(strim(value), 0, &number))
		ret = inject_by_name(m->private, name, number);
	kfree(text);
	return ret ? ret : count;
}

static const struct file_operations inject_fops = {
	.owner = THIS_MODULE,
	.open = inject_open,
	.read = seq_read,
	.write = inject_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/** vfence_inject_init - create the file of an adapter; DRM removes it with its minor */
void vfence_inject_init(struct drm_minor *minor)
{
	debugfs_create_file("inject", 0600, minor->debugfs_root, to_vfence_adapter(minor->dev),
			    &inject_fops);
}
