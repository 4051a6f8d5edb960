// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Waits of interrupted calls
 *
 * A signal to a thread in WAIT ends the call, and the kernel or libdrm calls again. The wait
 * stays armed meanwhile, so that values which come and go while a signal handler runs, or
 * while the process is stopped, traced or frozen, count as if the thread had slept on. The
 * file owns the wait until the restarted call takes it by its number.
 *
 * A client need not call again. The number of such waits and of their points is limited for
 * each file: a new one takes the place of the oldest, and the file drops the rest when it
 * closes. A call whose wait was dropped begins a new wait and performs no signals.
 */

#include "fence/vfence_wait.h"
#include "fence/vfence_wait_restart.h"
#include "fence/vfence_waiter.h"

/* Free a wait that no call will continue. */
static void restart_drop(struct vfence_file *file, struct vfence_wait *wait)
{
	atomic_sub(wait->count, &file->restart_points);
	vfence_wait_move(wait, VFENCE_WAIT_ARMED, VFENCE_WAIT_CANCELLED);
	vfence_waiter_disarm_all(wait);
	vfence_wait_account(wait);
	vfence_wait_destroy(wait);
}

/* Drop the oldest wait: its number is the next one in use above the newest. */
static bool restart_drop_oldest(struct vfence_file *file)
{
	struct vfence_handle_table *table = &file->restarts;
	unsigned long number = READ_ONCE(table->next);
	struct vfence_wait *wait;

	if (!xa_find(&table->objects, &number, ULONG_MAX, XA_PRESENT)) {
		number = 0;
		if (!xa_find(&table->objects, &number, ULONG_MAX, XA_PRESENT))
			return false;
	}

	/* Another thread may have taken it, which makes room as well. */
	wait = vfence_handle_table_remove(table, number);
	if (wait)
		restart_drop(file, wait);
	return true;
}

static int restart_reserve_points(struct vfence_file *file, unsigned int points)
{
	while (atomic_add_return(points, &file->restart_points) > VFENCE_MAX_RESTART_POINTS) {
		atomic_sub(points, &file->restart_points);
		if (!restart_drop_oldest(file))
			return -ENOSPC;
	}
	return 0;
}

/**
 * vfence_wait_restart_keep - keep the wait of an interrupted call
 * @file: the file of the caller
 * @wait: the wait, with its points armed
 * @number: output: number for vfence_wait_restart_take(); on failure one that names no wait
 *
 * Return: true if the file has taken over the wait.
 */
bool vfence_wait_restart_keep(struct vfence_file *file, struct vfence_wait *wait, u32 *number)
{
	unsigned int points = wait->count;
	int ret;

	*number = VFENCE_WAIT_RESTART_NONE;
	if (restart_reserve_points(file, points))
		return false;

	do {
		ret = vfence_handle_table_add(&file->restarts, wait, number);
	} while (ret == -ENOSPC && restart_drop_oldest(file));

	if (ret)
		atomic_sub(points, &file->restart_points);
	return !ret;
}

/**
 * vfence_wait_restart_take - take back the wait of an interrupted call
 * @file: the file of the caller
 * @number: what the client passes: 0, the number of a wait, or any other number
 * @array: the client's list of points
 *
 * Return: the wait, which the caller owns now; NULL if there is none; -EINVAL if the wait was
 * for another list.
 */
struct vfence_wait *vfence_wait_restart_take(struct vfence_file *file, u32 number,
					     const struct drm_vfence_obj_array *array)
{
	struct vfence_wait *wait;
	bool other;

	if (!number)
		return NULL;

	/* A wait that is found under the xa_lock is not dropped before the unlock. */
	xa_lock(&file->restarts.objects);
	wait = xa_load(&file->restarts.objects, number);
	other = wait && (wait->array != array->array || wait->count != array->count);
	xa_unlock(&file->restarts.objects);
	if (other)
		return ERR_PTR(-EINVAL);

	/* The removal decides which of several threads continues the wait. */
	wait = vfence_handle_table_remove(&file->restarts, number);
	if (wait)
		atomic_sub(wait->count, &file->restart_points);
	return wait;
}

/** vfence_wait_restart_drop_all - drop all waits of a closing file, which runs no ioctl */
void vfence_wait_restart_drop_all(struct vfence_file *file)
{
	while (restart_drop_oldest(file))
		cond_resched();
}
