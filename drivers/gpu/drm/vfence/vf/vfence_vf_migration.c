// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Pause, save and restore of a function
 *
 * ::
 *
 *              pause                    resume
 *    RUNS --------------> PAUSED, whole --------> RUNS
 *                          |        ^
 *        part of an image  |        | all of an image
 *        is written, or    v        |
 *        the state is lost PAUSED, not whole      it cannot be resumed, unless it was reset
 *
 * A paused function owns no engines. Submissions whose dma_fence is published end before the
 * pause, and new ones wait for its end, because others may wait for their dma_fences.
 *
 * The file vf_state/vfN in the debugfs folder of the physical function is its image, followed by
 * its video memory. The image can be restored until the function is resumed: later results are
 * visible to clients and cannot be undone. A program that saves a function has to stop its clients,
 * as a hypervisor stops the processors of a guest.
 */

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "core/vfence_adapter.h"
#include "hw/vgpu.h"
#include "queue/vfence_published.h"
#include "reset/vfence_recovery.h"
#include "vf/vfence_vf_exclusive.h"
#include "vf/vfence_vf_migration.h"
#include "vf/vfence_vf_sched.h"

/* Most bytes of one read or write. */
#define MIGRATION_PIECE	65536

/**
 * struct migration_function - a function
 */
struct migration_function {
	/** @state: parent; constant */
	struct vfence_vf_migration *state;
	/** @lock: protects all members below; a pause that waits holds no other function back */
	struct mutex lock;
	/** @adapter: the function's own adapter; NULL if it does not take part */
	struct vfence_adapter *adapter;
	/** @gpu: the GPU of @adapter */
	struct vgpu *gpu;
	/** @whole: no part of its state is lost or overwritten */
	bool whole;
	/** @tag: vgpu_image_new_tag() of the pause that the image is from */
	u64 tag;
	/** @generation: of the function when it was paused */
	unsigned int generation;
	/** @image: what was saved, without video memory; not NULL while it is paused */
	void *image;
	/** @size: size of @image */
	size_t size;
	/** @loaded: what was written of an image, without video memory; NULL before that */
	void *loaded;
	/** @written: number of bytes that have been written of an image */
	loff_t written;
};

/**
 * struct vfence_vf_migration - the functions of a chip
 */
struct vfence_vf_migration {
	/** @sched: switches the engines */
	struct vfence_vf_sched *sched;
	/** @exclusive: gives them to one function exclusively */
	struct vfence_vf_exclusive *exclusive;
	/** @folder: debugfs folder of the files, or NULL */
	struct dentry *folder;
	/** @function: the functions */
	struct migration_function function[VFENCE_POLICY_FUNCTIONS];
};

static void migration_forget_locked(struct migration_function *f)
{
	lockdep_assert_held(&f->lock);
	kvfree(f->image);
	kvfree(f->loaded);
	f->image = NULL;
	f->loaded = NULL;
	f->written = 0;
}

/* A client may create a queue while the image is allocated: then try again. */
static int migration_save_locked(struct migration_function *f)
{
	int ret;

	lockdep_assert_held(&f->lock);
	do {
		kvfree(f->image);
		f->size = vgpu_image_size(f->gpu);
		f->image = kvzalloc(f->size, GFP_KERNEL);
		if (!f->image)
			return -ENOMEM;
		ret = vgpu_image_save(f->gpu, f->tag, f->image, f->size);
	} while (ret == -EAGAIN && !signal_pending(current));
	return ret == -EAGAIN ? -ERESTARTSYS : ret;
}

/* Resume the function. Its driver may have requested the engines during the pause. */
static void migration_end_locked(struct migration_function *f)
{
	lockdep_assert_held(&f->lock);
	migration_forget_locked(f);
	vfence_vf_sched_resume(f->state->sched, f - f->state->function);
	vfence_vf_exclusive_resumed(f->state->exclusive);
	vfence_recovery_resume(f->adapter);
	vfence_published_open(f->adapter);
}

/* Stop a function that has nothing to end, and save its state. */
static int migration_stop_locked(struct migration_function *f)
{
	int ret;

	lockdep_assert_held(&f->lock);
	f->tag = vgpu_image_new_tag(f->gpu);
	f->generation = vgpu_image_generation(f->gpu);
	ret = vfence_recovery_pause(f->adapter);
	if (!ret)
		ret = vfence_vf_sched_pause(f->state->sched, f - f->state->function);
	if (!ret)
		ret = migration_save_locked(f);
	return ret;
}

static int migration_pause_locked(struct migration_function *f)
{
	int ret;

	lockdep_assert_held(&f->lock);
	if (f->image)
		return 0;
	ret = vfence_published_drain(f->adapter, READ_ONCE(f->adapter->tdr.delay_ms));
	if (ret)
		return ret;
	ret = migration_stop_locked(f);
	if (ret)
		migration_end_locked(f);
	f->whole = !ret;
	return ret;
}

static int migration_resume_locked(struct migration_function *f)
{
	lockdep_assert_held(&f->lock);
	if (!f->image)
		return 0;
	/* After a reset the function uses no earlier state. */
	if (!f->whole && f->generation == vgpu_image_generation(f->gpu))
		return -ENODATA;
	migration_end_locked(f);
	return 0;
}

/**
 * vfence_vf_migration_pause - pause a virtual function, or resume it
 * @state: the functions
 * @function: index of the function
 * @pause: pause it
 *
 * Return: 0, also if it is so already; -ENODEV if there is no such function, -EBUSY if it has the
 * engines for itself or if published submissions do not end within its TdrDelay, -ENODATA if it is
 * to be resumed and part of it is lost, -ENOMEM or -ERESTARTSYS.
 */
int vfence_vf_migration_pause(struct vfence_vf_migration *state, unsigned int function, bool pause)
{
	struct migration_function *f = &state->function[function];
	int ret = -ENODEV;

	if (mutex_lock_interruptible(&f->lock))
		return -ERESTARTSYS;
	if (f->adapter)
		ret = pause ? migration_pause_locked(f) : migration_resume_locked(f);
	mutex_unlock(&f->lock);
	return ret;
}

/* Copy a part of the image from @pos on. Returns the number of bytes, or an error. */
static ssize_t migration_read_locked(struct migration_function *f, void *buf, size_t count, loff_t
				     pos)
{
	size_t bytes;
	void *memory = vgpu_image_memory(f->gpu, &bytes);

	lockdep_assert_held(&f->lock);
	if (pos < f->size)
		return memory_read_from_buffer(buf, count, &pos, f->image, f->size);
	pos -= f->size;
	return memory_read_from_buffer(buf, count, &pos, memory, bytes);
}

/* Copy to user space without the lock: a page fault there may take long. */
static ssize_t migration_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	struct migration_function *f = file->private_data;
	size_t most = min_t(size_t, count, MIGRATION_PIECE);
	void *piece = kvzalloc(most, GFP_KERNEL);
	ssize_t ret = -EBUSY;

	if (!piece)
		return -ENOMEM;
	if (mutex_lock_interruptible(&f->lock)) {
		kvfree(piece);
		return -ERESTARTSYS;
	}
	if (f->image)
		ret = migration_read_locked(f, piece, most, *pos);
	mutex_unlock(&f->lock);
	if (ret > 0 && copy_to_user(buf, piece, ret))
		ret = -EFAULT;
	if (ret > 0)
		*pos += ret;
	kvfree(piece);
	return ret;
}

/* Check the image. Load it now if no video memory follows. */
static int migration_accept_locked(struct migration_function *f)
{
	size_t bytes;
	int ret;

	lockdep_assert_held(&f->lock);
	vgpu_image_memory(f->gpu, &bytes);
	if (bytes)
		return vgpu_image_check(f->gpu, f->tag, f->loaded, f->size);
	ret = vgpu_image_load(f->gpu, f->tag, f->loaded, f->size);
	f->whole |= !ret;
	return ret;
}

/* Copy a part of the image. Check the image once it is complete. */
static ssize_t migration_write_image_locked(struct migration_function *f, const void *buf, size_t
					    count, loff_t pos)
{
	size_t part = min_t(size_t, count, f->size - pos);
	int ret;

	lockdep_assert_held(&f->lock);
	if (!f->loaded)
		f->loaded = kvzalloc(f->size, GFP_KERNEL);
	if (!f->loaded)
		return -ENOMEM;
	memcpy(f->loaded + pos, buf, part);
	if (pos + part < f->size)
		return part;
	ret = migration_accept_locked(f);
	return ret ? ret : part;
}

static ssize_t migration_write_memory_locked(struct migration_function *f, const void *buf, size_t
					     count, loff_t pos)
{
	size_t bytes, part;
	void *memory = vgpu_image_memory(f->gpu, &bytes);
	int ret;

	lockdep_assert_held(&f->lock);
	pos -= f->size;
	if (pos >= bytes)
		return -EFBIG;
	part = min_t(size_t, count, bytes - pos);
	/* The function has no valid state until all of it is written. */
	f->whole = false;
	memcpy(memory + pos, buf, part);
	if (pos + part < bytes)
		return part;
	ret = vgpu_image_load(f->gpu, f->tag, f->loaded, f->size);
	f->whole = !ret;
	return ret ? ret : part;
}

static ssize_t migration_write_locked(struct migration_function *f, const void *buf, size_t count,
				      loff_t pos)
{
	ssize_t ret;

	lockdep_assert_held(&f->lock);
	if (!f->image)
		return -EBUSY;
	/* From the beginning to the end, in one piece or in many. */
	if (pos && pos != f->written)
		return -ESPIPE;
	if (pos < f->size)
		ret = migration_write_image_locked(f, buf, count, pos);
	else
		ret = migration_write_memory_locked(f, buf, count, pos);
	f->written = ret < 0 ? 0 : pos + ret;
	return ret;
}

static ssize_t migration_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	struct migration_function *f = file->private_data;
	size_t most = min_t(size_t, count, MIGRATION_PIECE);
	void *piece = kvzalloc(most, GFP_KERNEL);
	ssize_t ret = -EFAULT;

	if (!piece)
		return -ENOMEM;
	if (copy_from_user(piece, buf, most))
		goto out;
	ret = -ERESTARTSYS;
	if (mutex_lock_interruptible(&f->lock))
		goto out;
	ret = migration_write_locked(f, piece, most, *pos);
	mutex_unlock(&f->lock);
	if (ret > 0)
		*pos += ret;
out:
	kvfree(piece);
	return ret;
}

static const struct file_operations migration_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = migration_read,
	.write = migration_write,
	.llseek = default_llseek,
};

/* For tests: overwrite the state, as if the function had moved to other hardware. */
static int migration_lose_set(void *data, u64 on)
{
	struct migration_function *f = data;
	int ret = -EBUSY;

	if (on != 1)
		return -EINVAL;
	mutex_lock(&f->lock);
	if (f->image) {
		vgpu_image_lose(f->gpu);
		f->whole = false;
		ret = 0;
	}
	mutex_unlock(&f->lock);
	return ret;
}

DEFINE_DEBUGFS_ATTRIBUTE(migration_lose, NULL, migration_lose_set, "%llu\n");

/** vfence_vf_migration_join - a function takes part from now on */
void vfence_vf_migration_join(struct vfence_vf_migration *state, struct vfence_adapter *adapter)
{
	struct migration_function *f = &state->function[vgpu_vf_switch_index(adapter->gpu)];

	mutex_lock(&f->lock);
	f->adapter = adapter;
	f->gpu = adapter->gpu;
	mutex_unlock(&f->lock);
}

/**
 * vfence_vf_migration_leave - a function leaves, after vfence_vf_sched_leave(): on return it is not
 * used
 * @state: the functions
 * @adapter: the adapter of the function, which may not have joined; it is reset no more
 */
void vfence_vf_migration_leave(struct vfence_vf_migration *state, struct vfence_adapter *adapter)
{
	struct migration_function *f = &state->function[vgpu_vf_switch_index(adapter->gpu)];

	mutex_lock(&f->lock);
	if (f->image)
		vfence_published_open(adapter);
	migration_forget_locked(f);
	f->adapter = NULL;
	f->gpu = NULL;
	mutex_unlock(&f->lock);
}

/* A file that cannot be created is missing, as usual in debugfs. */
static void migration_add_files(struct vfence_vf_migration *state, struct dentry *folder)
{
	unsigned int i;
	char name[20];

	state->folder = debugfs_create_dir("vf_state", folder);
	for (i = 1; i < VFENCE_POLICY_FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "vf%u", i);
		debugfs_create_file(name, 0600, state->folder, &state->function[i],
				    &migration_fops);
		snprintf(name, sizeof(name), "vf%u_lose", i);
		debugfs_create_file(name, 0200, state->folder, &state->function[i],
				    &migration_lose);
	}
}

/**
 * vfence_vf_migration_create - begin
 * @sched: switches the engines
 * @exclusive: gives them to one function exclusively
 * @folder: debugfs folder of the physical function, or NULL
 *
 * Return: what vfence_vf_migration_destroy() frees, or NULL.
 */
struct vfence_vf_migration *vfence_vf_migration_create(struct vfence_vf_sched *sched,
						       struct vfence_vf_exclusive *exclusive,
						       struct dentry *folder)
{
	struct vfence_vf_migration *state = kvzalloc(sizeof(*state), GFP_KERNEL);
	unsigned int i;

	if (!state)
		return NULL;
	state->sched = sched;
	state->exclusive = exclusive;
	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++) {
		state->function[i].state = state;
		mutex_init(&state->function[i].lock);
	}
	if (folder)
		migration_add_files(state, folder);
	return state;
}

/** vfence_vf_migration_destroy - end; virtual functions have left */
void vfence_vf_migration_destroy(struct vfence_vf_migration *state)
{
	unsigned int i;

	if (!state)
		return;
	/* On return no call is in a function of this file. */
	debugfs_remove_recursive(state->folder);
	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++)
		mutex_destroy(&state->function[i].lock);
	kvfree(state);
}
