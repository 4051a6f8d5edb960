// SPDX-License-Identifier: GPL-2.0
/*
 * The context management processor: takes posts from the engines, looks at the
 * fence once more, writes the interrupt ring, raises the vector.
 */

#include <linux/kthread.h>

#include "vgpu_types.h"

static void null_event_locked(struct vgpu_cmp *cmp, const struct vgpu_post *post)
{
	cmp->null_event = true;
	if (post->type != VGPU_IRQ_NATIVE_FENCE_SIGNALED)
		return;
	vgpu_fence_note_missed(post->fence, post->value);
	cmp->counters.overflowed++;
}

static void post_locked(struct vgpu_cmp *cmp, const struct vgpu_post *post)
{
	cmp->counters.posts += post->type == VGPU_IRQ_NATIVE_FENCE_SIGNALED;
	if (cmp->posted - cmp->taken < VGPU_POSTS)
		cmp->fifo[cmp->posted++ % VGPU_POSTS] = *post;
	else
		null_event_locked(cmp, post);
}

/*
 * Called by engines; never waits. A full FIFO turns the post into a NULL event:
 * exactness is lost, the wake-up is not.
 */
void vgpu_cmp_post(struct vgpu *gpu, const struct vgpu_post *post)
{
	struct vgpu_cmp *cmp = &gpu->cmp;
	unsigned long flags;

	spin_lock_irqsave(&cmp->lock, flags);
	post_locked(cmp, post);
	spin_unlock_irqrestore(&cmp->lock, flags);
	wake_up_all(&cmp->wait);
}

/*
 * A monitored value in video memory has a copy here that the engines compare
 * with. An update takes three steps (WDDM A5): write the copy; a full barrier,
 * whose partner is the one in signal_fence(); look at the current value, and
 * interrupt if a signal that compared with the old copy was due. The write to
 * the mailbox is carried out before it returns, so that the driver's own look
 * comes after all three. Any context.
 */
void vgpu_cmp_update_shadow(struct vgpu_fence *fence, u64 value)
{
	struct vgpu_cmp *cmp = &fence->gpu->cmp;
	struct vgpu_post post = { .type = VGPU_IRQ_NATIVE_FENCE_SIGNALED, .fence = fence };
	unsigned long flags;
	bool due;

	spin_lock_irqsave(&cmp->lock, flags);
	WRITE_ONCE(fence->shadow, value);
	/* Handshake (a) inside the GPU; see above. */
	smp_mb();
	post.value = READ_ONCE(*vgpu_fence_slot(fence, fence->current_value));
	due = vfence_must_interrupt(post.value, value);
	if (due) {
		post.time = vgpu_clock(fence->gpu);
		cmp->counters.shadow_posts++;
		post_locked(cmp, &post);
	}
	spin_unlock_irqrestore(&cmp->lock, flags);
	if (due)
		wake_up_all(&cmp->wait);
}

static bool has_work(struct vgpu_cmp *cmp)
{
	return READ_ONCE(cmp->posted) != READ_ONCE(cmp->taken) || READ_ONCE(cmp->null_event);
}

/*
 * The CMP has no process: it reads where the system process has the value, if it
 * is mapped there.
 */
static u64 monitored_of(struct vgpu_fence *fence)
{
	struct vgpu_vm *vm = fence->gpu->system_vm;
	unsigned long flags;
	void *monitored;
	u64 value;

	if (fence->shadowed || !fence->monitored_system_va)
		return vgpu_fence_monitored(fence);
	read_lock_irqsave(&vm->tlb, flags);
	if (vgpu_vm_translate(vm, fence->monitored_system_va, VGPU_VM_READ, &monitored))
		value = 0;
	else
		value = READ_ONCE(*(u64 *)monitored);
	read_unlock_irqrestore(&vm->tlb, flags);
	return value;
}

static void add_fence_locked(struct vgpu_cmp *cmp, struct vgpu_irq_record *record,
			     struct vgpu_fence **named, const struct vgpu_post *post)
{
	struct vgpu_fence *fence = post->fence;

	/* Another signal's interrupt may have moved the monitored value on. */
	if (!vfence_mutant_is(ALWAYS_INTERRUPT) && !vfence_mutant_is(INTERRUPT_EQUAL) &&
	    !vfence_must_interrupt(post->value, monitored_of(fence))) {
		cmp->counters.rechecked_out++;
		return;
	}
	record->fence[record->count].handle = fence->os_handle;
	record->fence[record->count].pad = 0;
	record->fence[record->count].time = post->time;
	record->fence[record->count].value = vfence_mutant_is(VALUE_TRUNCATED) ?
					     (u32)post->value : post->value;
	named[record->count++] = fence;
}

/*
 * Collect one record: fences of one node, or one faulted queue. Returns the
 * number of posts used up.
 */
static unsigned int collect_locked(struct vgpu_cmp *cmp, struct vgpu_irq_record *record,
				   struct vgpu_fence **named)
{
	unsigned int used = 0;

	record->count = 0;
	while (cmp->taken + used != cmp->posted && record->count < VGPU_IRQ_FENCES) {
		const struct vgpu_post *post = &cmp->fifo[(cmp->taken + used) % VGPU_POSTS];

		if (used && (post->type != record->type || post->node != record->node))
			break;
		record->type = post->type;
		record->node = post->node;
		record->engine = 0;
		record->queue = post->queue;
		used++;
		if (post->type != VGPU_IRQ_NATIVE_FENCE_SIGNALED)
			break;
		add_fence_locked(cmp, record, named, post);
	}
	return used;
}

/* No room for the record: what it named is found by a scan, by these values. */
static void note_missed(struct vgpu_fence **fence, const struct vgpu_irq_record *record)
{
	unsigned int i;

	for (i = 0; i < record->count; i++)
		vgpu_fence_note_missed(fence[i], record->fence[i].value);
}

static bool publish(struct vgpu *gpu, const struct vgpu_irq_record *record)
{
	struct vgpu_irq_ring *irq = gpu->irq;
	u32 write = irq->write;

	/* Acquire: the slot is ours again. Partner: the driver's release of read. */
	if (write - smp_load_acquire(&irq->read) >= gpu->config.irq_records)
		return false;
	irq->record[write % VGPU_IRQ_RECORDS] = *record;
	/* Release: the record. Partner: the driver's acquire of write. */
	smp_store_release(&irq->write, write + 1);
	return true;
}

static void raise(struct vgpu *gpu)
{
	/*
	 * Publish, then raise. The vector's latch is set by an atomic that is a
	 * full barrier; the handler's side is described at vfence_irq_drain().
	 */
	gpu->ops->raise_vector(gpu->host);
}

static void handle_posts(struct vgpu *gpu)
{
	struct vgpu_cmp *cmp = &gpu->cmp;
	struct vgpu_fence *named[VGPU_IRQ_FENCES];
	struct vgpu_irq_record record = {};
	unsigned int used;
	bool null_event, full = false;
	unsigned long flags;

	spin_lock_irqsave(&cmp->lock, flags);
	used = collect_locked(cmp, &record, named);
	cmp->taken += used;
	null_event = cmp->null_event;
	cmp->null_event = false;
	spin_unlock_irqrestore(&cmp->lock, flags);

	if (record.count || (used && record.type != VGPU_IRQ_NATIVE_FENCE_SIGNALED))
		full = !publish(gpu, &record);
	else
		used = 0;
	if (full && record.type == VGPU_IRQ_NATIVE_FENCE_SIGNALED)
		note_missed(named, &record);
	if ((full && !vfence_mutant_is(D_NO_OVERFLOW)) || null_event)
		WRITE_ONCE(gpu->irq->overflow, 1);
	if (used || null_event)
		raise(gpu);

	spin_lock_irqsave(&cmp->lock, flags);
	if (record.type == VGPU_IRQ_NATIVE_FENCE_SIGNALED) {
		if (full)
			cmp->counters.overflowed += record.count;
		else
			cmp->counters.recorded += record.count;
	}
	cmp->done = cmp->taken;
	spin_unlock_irqrestore(&cmp->lock, flags);
	wake_up_all(&cmp->wait);
}

static int cmp_thread(void *data)
{
	struct vgpu *gpu = data;
	struct vgpu_cmp *cmp = &gpu->cmp;

	while (!kthread_should_stop()) {
		wait_event_interruptible(cmp->wait, kthread_should_stop() || has_work(cmp));
		while (has_work(cmp)) {
			handle_posts(gpu);
			cond_resched();
		}
	}
	return 0;
}

int vgpu_cmp_start(struct vgpu *gpu)
{
	struct task_struct *task = kthread_run(cmp_thread, gpu, "%s-cmp", gpu->name);

	if (IS_ERR(task))
		return PTR_ERR(task);
	gpu->cmp.task = task;
	return 0;
}

/* Engines have stopped, so nothing posts any more. */
void vgpu_cmp_stop(struct vgpu *gpu)
{
	struct vgpu_cmp *cmp = &gpu->cmp;

	if (cmp->task) {
		vgpu_cmp_flush(gpu);
		kthread_stop(cmp->task);
	}
	cmp->task = NULL;
	WRITE_ONCE(cmp->stopped, true);
	wake_up_all(&cmp->wait);
}

static bool done_up_to(struct vgpu_cmp *cmp, u64 posted)
{
	return READ_ONCE(cmp->done) >= posted || READ_ONCE(cmp->stopped);
}

/* Wait until everything posted before the call is in the interrupt ring. */
void vgpu_cmp_flush(struct vgpu *gpu)
{
	struct vgpu_cmp *cmp = &gpu->cmp;
	unsigned long flags;
	u64 posted;

	spin_lock_irqsave(&cmp->lock, flags);
	posted = cmp->posted;
	spin_unlock_irqrestore(&cmp->lock, flags);
	wait_event(cmp->wait, done_up_to(cmp, posted));
}

void vgpu_query_counters(struct vgpu *gpu, struct vgpu_counters *c)
{
	unsigned long flags;

	spin_lock_irqsave(&gpu->cmp.lock, flags);
	*c = gpu->cmp.counters;
	spin_unlock_irqrestore(&gpu->cmp.lock, flags);
	c->log_buffers_set = atomic64_read(&gpu->log_buffers_set);
	c->log_flushes = atomic64_read(&gpu->log_flushes);
	c->log_queues_flushed = atomic64_read(&gpu->log_queues_flushed);
	c->log_markers = atomic64_read(&gpu->log_markers);
	c->monitored_updates = atomic64_read(&gpu->monitored_updates);
	c->monitored_updates_irq = atomic64_read(&gpu->monitored_updates_irq);
}
