// SPDX-License-Identifier: GPL-2.0-only
/*
 * A shrinker that waits for a dma_fence, for a selftest.
 *
 * GPU drivers have such shrinkers: memory that the GPU uses is free once it is done. Whoever
 * allocates memory may have to wait in one. A driver must not, therefore, on the way from the
 * publication of a dma_fence to its signal.
 */

#include <linux/dma-fence.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/shrinker.h>
#include <linux/spinlock.h>
#include <linux/sync_file.h>

/* Nothing that the test submits takes that long, unless it waits for this shrinker. */
#define PATIENCE_MS	10000
#define OBJECTS		256

static atomic_t waits = ATOMIC_INIT(0);
static atomic_t stuck = ATOMIC_INIT(0);
static char stuck_name[TASK_COMM_LEN];
module_param_string(stuck_name, stuck_name, sizeof(stuck_name), 0400);
MODULE_PARM_DESC(stuck_name, "the thread that waited in vain");

/* Protects the fence. Interrupts never take it. */
static DEFINE_SPINLOCK(lock);
static struct dma_fence *awaited;

static struct dma_fence *replace(struct dma_fence *fence)
{
	spin_lock(&lock);
	swap(awaited, fence);
	spin_unlock(&lock);
	return fence;
}

static struct dma_fence *get_awaited(void)
{
	struct dma_fence *fence;

	spin_lock(&lock);
	fence = awaited ? dma_fence_get(awaited) : NULL;
	spin_unlock(&lock);
	return fence;
}

static unsigned long shrinker_count(struct shrinker *shrinker, struct shrink_control *control)
{
	return OBJECTS;
}

static unsigned long shrinker_scan(struct shrinker *shrinker, struct shrink_control *control)
{
	struct dma_fence *fence = get_awaited();

	if (fence && !dma_fence_is_signaled(fence)) {
		atomic_inc(&waits);
		if (dma_fence_wait_timeout(fence, false, msecs_to_jiffies(PATIENCE_MS)) <= 0) {
			strscpy(stuck_name, current->comm, sizeof(stuck_name));
			atomic_inc(&stuck);
		}
	}
	dma_fence_put(fence);
	return SHRINK_STOP;
}

/* The fence of a sync_file; -1: none. */
static int set_fence(const char *text, const struct kernel_param *param)
{
	struct dma_fence *fence = NULL;
	int fd, ret = kstrtoint(text, 0, &fd);

	if (ret)
		return ret;
	if (fd >= 0) {
		fence = sync_file_get_fence(fd);
		if (!fence)
			return -EBADF;
	}
	dma_fence_put(replace(fence));
	return 0;
}

static int get_atomic(char *text, const struct kernel_param *param)
{
	return sysfs_emit(text, "%d\n", atomic_read((atomic_t *)param->arg));
}

static const struct kernel_param_ops fence_ops = { .set = set_fence };
module_param_cb(fence, &fence_ops, NULL, 0200);
MODULE_PARM_DESC(fence, "file descriptor of a sync_file whose fence the shrinker waits for");
static const struct kernel_param_ops atomic_ops = { .get = get_atomic };
module_param_cb(waits, &atomic_ops, &waits, 0400);
MODULE_PARM_DESC(waits, "how often a thread began to wait in the shrinker");
module_param_cb(stuck, &atomic_ops, &stuck, 0400);
MODULE_PARM_DESC(stuck, "how often the fence did not signal");

static struct shrinker *shrinker;

static int __init vfence_shrinker_init(void)
{
	shrinker = shrinker_alloc(0, "vfence-selftest");
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = shrinker_count;
	shrinker->scan_objects = shrinker_scan;
	/* Scan half of the objects, whatever the pressure is: that is one batch. */
	shrinker->seeks = 0;
	shrinker->batch = OBJECTS / 2;
	shrinker_register(shrinker);
	return 0;
}

static void __exit vfence_shrinker_exit(void)
{
	shrinker_free(shrinker);
	dma_fence_put(replace(NULL));
}

module_init(vfence_shrinker_init);
module_exit(vfence_shrinker_exit);
MODULE_DESCRIPTION("a shrinker that waits for a dma_fence");
MODULE_LICENSE("GPL");
