// SPDX-License-Identifier: GPL-2.0-only
/*
 * The context management processor: it takes posts from the engines, compares the values
 * once more, writes the interrupt ring and raises the vector. Its thread does so, or the thread
 * of an engine that has posted.
 */

#include <linux/dma-fence.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "vgpu_trace.h"
#include "vgpu_types.h"

/* Most posts that the CMP takes out of the FIFO in one section with interrupts off. */
#define CMP_RECORD_POSTS	64

/* Most callers of vgpu_cmp_flush() that are woken in one section with interrupts off. */
#define CMP_WAKE_FLUSHES	4

/* What a driver must scan besides the logs of the node if a post of @type has no record. */
static u32 cmp_overflow_of_type(u32 type)
{
	switch (type) {
	case VGPU_IRQ_NATIVE_FENCE_SIGNALED:
		return 0;
	case VGPU_IRQ_MONITORED_FENCE_SIGNALED:
		return VGPU_OVERFLOW_MONITORED;
	default:
		return VGPU_OVERFLOW_QUEUES;
	}
}

static void cmp_null_event_locked(struct vgpu_cmp *cmp, const struct vgpu_cmp_post *post)
{
	lockdep_assert_held(&cmp->lock);

	WRITE_ONCE(cmp->null_nodes, cmp->null_nodes | BIT(post->node) |
		   (post->unlogged ? VGPU_OVERFLOW_UNLOGGED : 0) |
		   cmp_overflow_of_type(post->type));
	if (post->type != VGPU_IRQ_NATIVE_FENCE_SIGNALED)
		return;
	vgpu_value_note_missed(post->fence, post->value, post->time);
	cmp->counters.overflowed++;
}

static void cmp_post_locked(struct vgpu_cmp *cmp, const struct vgpu_cmp_post *post)
{
	struct vgpu *gpu = container_of(cmp, struct vgpu, cmp);

	lockdep_assert_held(&cmp->lock);

	if (post->type == VGPU_IRQ_NATIVE_FENCE_SIGNALED) {
		cmp->counters.posts++;
		/* If records carry no values, keep the value with the fence. */
		if (gpu->config.irq_form != VGPU_IRQ_FORM_ARRAY)
			vgpu_value_note_missed(post->fence, post->value, post->time);
	}

	if (cmp->posted - cmp->taken >= VGPU_POSTS) {
		cmp_null_event_locked(cmp, post);
		return;
	}

	if (post->vm)
		WRITE_ONCE(post->vm->posts, post->vm->posts + 1);
	cmp->fifo[cmp->posted % VGPU_POSTS] = *post;
	WRITE_ONCE(cmp->posted, cmp->posted + 1);
}

/*
 * Return true if a queue of @vm may signal. An engine asks before the signal: while there is no
 * room the queue stalls, so that a flood costs the client that floods, and the posts of the
 * others find their place. The answer may be outdated at once by the other engines: then the
 * FIFO has a few more posts of the client. vgpu_cmp_post() never waits.
 */
bool vgpu_cmp_has_room(struct vgpu *gpu, const struct vgpu_vm *vm)
{
	struct vgpu_cmp *cmp = &gpu->cmp;
	unsigned int posts = READ_ONCE(vm->posts);
	u64 total = READ_ONCE(cmp->posted) - READ_ONCE(cmp->taken);

	if (posts >= VGPU_POSTS_SHARE)
		return false;
	return posts < VGPU_POSTS_FEW || (s64)total < VGPU_POSTS - VGPU_POSTS_RESERVE;
}

static bool cmp_has_work(struct vgpu_cmp *cmp)
{
	struct vgpu *gpu = container_of(cmp, struct vgpu, cmp);

	if (vgpu_injected(&gpu->injections, VGPU_INJECT_HOLD_POSTS) &&
	    !atomic_read(&cmp->flushers))
		return false;
	return READ_ONCE(cmp->posted) != READ_ONCE(cmp->taken) || READ_ONCE(cmp->null_nodes);
}

/*
 * Reserve the work of the CMP for the calling thread. Return false if there are no posts, or if
 * another thread does that work.
 */
static bool cmp_begin_locked(struct vgpu_cmp *cmp)
{
	lockdep_assert_held(&cmp->lock);
	if (cmp->working || !cmp_has_work(cmp))
		return false;
	cmp->working = true;
	return true;
}

/*
 * The thread of the CMP looks for work. Partners: cmp_end() and vgpu_cmp_run() wake it after a
 * section under the lock in which they leave work, and so does vgpu_cmp_post().
 */
static bool cmp_begin(struct vgpu_cmp *cmp)
{
	unsigned long flags;
	bool begun;

	spin_lock_irqsave(&cmp->lock, flags);
	begun = cmp_begin_locked(cmp);
	spin_unlock_irqrestore(&cmp->lock, flags);
	return begun;
}

static void cmp_end(struct vgpu_cmp *cmp)
{
	unsigned long flags;
	bool left;

	spin_lock_irqsave(&cmp->lock, flags);
	cmp->working = false;
	/*
	 * Engines may have posted meanwhile. They woke the thread of the CMP, which went to sleep
	 * again, as @working was set.
	 */
	left = cmp_has_work(cmp);
	spin_unlock_irqrestore(&cmp->lock, flags);
	if (left)
		wake_up_all(&cmp->wait);
}

/*
 * Any context; it must not wait. If the FIFO is full, the post becomes a NULL event: the record is
 * lost and the wake-up is not.
 */
void vgpu_cmp_post(struct vgpu *gpu, const struct vgpu_cmp_post *post)
{
	struct vgpu_cmp *cmp = &gpu->cmp;
	unsigned long flags;

	spin_lock_irqsave(&cmp->lock, flags);
	cmp_post_locked(cmp, post);
	spin_unlock_irqrestore(&cmp->lock, flags);
	wake_up_all(&cmp->wait);
}

/* As vgpu_cmp_post(), in a step of @engine, which calls vgpu_cmp_run() without its locks. */
void vgpu_cmp_post_in_step(struct vgpu *gpu, struct vgpu_engine *engine,
			   const struct vgpu_cmp_post *post)
{
	unsigned long flags;

	spin_lock_irqsave(&gpu->cmp.lock, flags);
	cmp_post_locked(&gpu->cmp, post);
	engine->posted = gpu->cmp.posted;
	spin_unlock_irqrestore(&gpu->cmp.lock, flags);
	engine->posts++;
}

/*
 * Load a value of a fence. The CMP has no process of its own: it loads the value in the address
 * space of the system process if the value is mapped there (WDDM-60). Return 0 if the address
 * cannot be read.
 */
static u64 cmp_load_value(struct vgpu_fence *fence, u64 system_va,
			  const struct vgpu_storage *storage)
{
	struct vgpu_vm *vm = fence->gpu->system_vm;
	unsigned long flags;
	u64 value = 0;
	void *kva;

	if (!system_va)
		return READ_ONCE(*vgpu_value_slot(fence, storage));

	read_lock_irqsave(&vm->tlb, flags);
	if (!vgpu_vm_translate(vm, system_va, VGPU_VM_READ, &kva))
		value = READ_ONCE(*(u64 *)kva);
	read_unlock_irqrestore(&vm->tlb, flags);

	return value;
}

/*
 * Update the copy of a monitored value in video memory, with which the engines compare. An
 * update takes three steps (WDDM-16): write the copy; pass a full barrier, whose partner is
 * the barrier in exec_signal_fence(); load the current value and post it if it exceeds the
 * copy, because a signal may have compared with the old copy. All three steps end before the
 * return, so the driver's own sample of the current value comes after them. Any context.
 */
void vgpu_cmp_update_shadow(struct vgpu_fence *fence, u64 value)
{
	struct vgpu_cmp *cmp = &fence->gpu->cmp;
	struct vgpu_cmp_post post = { .type = VGPU_IRQ_NATIVE_FENCE_SIGNALED, .fence = fence };
	unsigned long flags;
	bool due;

	spin_lock_irqsave(&cmp->lock, flags);
	WRITE_ONCE(fence->shadow, value);
	/* Full barrier of handshake (a) inside the GPU; see above. */
	smp_mb();
	post.value = cmp_load_value(fence, fence->current_system_va, fence->current_value);
	due = vfence_must_interrupt(post.value, value);
	if (due) {
		post.time = vgpu_clock_now(fence->gpu);
		cmp->counters.shadow_posts++;
		cmp_post_locked(cmp, &post);
	}

	spin_unlock_irqrestore(&cmp->lock, flags);

	if (due)
		wake_up_all(&cmp->wait);
}

static u64 cmp_load_monitored(struct vgpu_fence *fence)
{
	if (fence->shadowed)
		return vgpu_value_monitored(fence);
	return cmp_load_value(fence, fence->monitored_system_va, fence->monitored_value);
}

/* Form ARRAY: add the fence of @post to the record. */
static void cmp_name_fence(struct vgpu *gpu, struct vgpu_irq_record *record,
			   struct vgpu_fence **named, const struct vgpu_cmp_post *post)
{
	struct vgpu_irq_fence *fence = &record->fence[record->count];
	bool wrong = vgpu_injection_take(&gpu->injections, VGPU_INJECT_WRONG_FENCE);

	fence->handle = wrong ? U32_MAX : post->fence->os_handle;
	fence->pad = 0;
	fence->value = post->value;
	fence->time = post->time;
	named[record->count++] = post->fence;
}

static void cmp_add_signal_locked(struct vgpu *gpu, struct vgpu_irq_record *record,
				  struct vgpu_fence **named, const struct vgpu_cmp_post *post)
{
	u64 monitored = cmp_load_monitored(post->fence);

	lockdep_assert_held(&gpu->cmp.lock);

	/* The interrupt of another signal may have raised the monitored value. */
	if (!vfence_must_interrupt(post->value, monitored)) {
		trace_vgpu_recheck(post->fence, post->value, monitored);
		gpu->cmp.counters.rechecked_out++;
		return;
	}

	record->posts++;
	if (gpu->config.irq_form == VGPU_IRQ_FORM_ARRAY)
		cmp_name_fence(gpu, record, named, post);
	else if (post->unlogged)
		record->flags |= VGPU_IRQ_UNLOGGED;
}

/* Return true if the record of the posts before @post can report @post, too. */
static bool cmp_fits_record(struct vgpu *gpu, const struct vgpu_irq_record *record,
			    const struct vgpu_cmp_post *post)
{
	if (post->type != record->type || post->node != record->node ||
	    post->type != VGPU_IRQ_NATIVE_FENCE_SIGNALED)
		return false;
	return gpu->config.irq_form == VGPU_IRQ_FORM_ARRAY ? record->count < VGPU_IRQ_FENCES :
							     post->queue == record->queue;
}

static void cmp_begin_record(struct vgpu *gpu, struct vgpu_irq_record *record,
			     const struct vgpu_cmp_post *post)
{
	*record = (struct vgpu_irq_record) {
		.type = post->type,
		.node = post->node,
		.queue = post->queue,
		.suspend_fence = post->suspend_fence,
	};
	if (gpu->config.irq_form != VGPU_IRQ_FORM_INDISTINCT)
		return;
	if (post->type == VGPU_IRQ_MONITORED_FENCE_SIGNALED)
		record->type = VGPU_IRQ_NATIVE_FENCE_SIGNALED;
	if (record->type == VGPU_IRQ_NATIVE_FENCE_SIGNALED)
		record->flags = VGPU_IRQ_EVALUATE_LEGACY;
}

/*
 * Collect the posts of one record: signals of one node, signals of one queue, or one post of
 * another type. Return the number of posts in the record.
 */
static unsigned int cmp_collect_locked(struct vgpu *gpu, struct vgpu_irq_record *record,
				       struct vgpu_fence **named, bool *monitored)
{
	struct vgpu_cmp *cmp = &gpu->cmp;
	unsigned int used = 0;

	lockdep_assert_held(&cmp->lock);

	while (used < CMP_RECORD_POSTS && cmp->taken + used != cmp->posted) {
		const struct vgpu_cmp_post *post = &cmp->fifo[(cmp->taken + used) % VGPU_POSTS];

		if (!used)
			cmp_begin_record(gpu, record, post);
		else if (!cmp_fits_record(gpu, record, post))
			break;

		used++;
		if (post->vm)
			WRITE_ONCE(post->vm->posts, post->vm->posts - 1);
		*monitored |= post->type == VGPU_IRQ_MONITORED_FENCE_SIGNALED;
		if (post->type == VGPU_IRQ_NATIVE_FENCE_SIGNALED)
			cmp_add_signal_locked(gpu, record, named, post);
	}

	return used;
}

/*
 * Fill the members that have no meaning in form QUEUE with arbitrary contents, so that a
 * driver that reads them fails (WDDM-76).
 */
static void cmp_scribble(struct vgpu *gpu, struct vgpu_irq_record *record)
{
	unsigned int i;

	if (record->type != VGPU_IRQ_NATIVE_FENCE_SIGNALED ||
	    gpu->config.irq_form != VGPU_IRQ_FORM_QUEUE)
		return;
	record->count = VGPU_IRQ_FENCES;
	for (i = 0; i < VGPU_IRQ_FENCES; i++)
		record->fence[i].handle = ~0u;
}

/* The ring has no room: keep the values with the fences, so that a rescan finds them. */
static void cmp_note_missed(struct vgpu *gpu, struct vgpu_fence **fence,
			    const struct vgpu_irq_record *record)
{
	unsigned int i;

	/* In the other forms cmp_post_locked() has kept the value. */
	if (gpu->config.irq_form != VGPU_IRQ_FORM_ARRAY)
		return;
	for (i = 0; i < record->count; i++)
		vgpu_value_note_missed(fence[i], record->fence[i].value, record->fence[i].time);
}

static bool cmp_publish(struct vgpu *gpu, const struct vgpu_irq_record *record)
{
	struct vgpu_irq_ring *irq = gpu->irq;
	u32 write = irq->write;

	/* Acquire: the driver has read the record. Partner: irq_drain()'s release of read. */
	if (write - smp_load_acquire(&irq->read) >= gpu->config.irq_records)
		return false;
	irq->record[write % VGPU_IRQ_RECORDS] = *record;
	/* Release: the record. Partner: irq_drain()'s acquire of write. */
	smp_store_release(&irq->write, write + 1);
	return true;
}

static void cmp_raise(struct vgpu *gpu)
{
	if (vgpu_injection_take(&gpu->injections, VGPU_INJECT_LOSE_INTERRUPT))
		return;
	/*
	 * Publish the record before raising the vector. The vector's latch is set by an
	 * atomic operation that is a full barrier. Partner: irq_drain().
	 */
	gpu->ops->raise_vector(gpu->host);
}

/*
 * Do not publish a record whose posts were all dropped. Posts of monitored fences are not
 * dropped.
 */
static bool cmp_is_needed(const struct vgpu_irq_record *record, unsigned int used, bool monitored)
{
	if (monitored)
		return true;
	return used && (record->type != VGPU_IRQ_NATIVE_FENCE_SIGNALED || record->posts);
}

static bool cmp_is_flushed_locked(struct vgpu_cmp *cmp, const struct vgpu_cmp_flush *flush)
{
	lockdep_assert_held(&cmp->lock);
	return cmp->done >= flush->posted || cmp->stopped;
}

/* Wake callers whose posts are handled. Return true if there may be more of them. */
static bool cmp_wake_flushes(struct vgpu_cmp *cmp)
{
	unsigned int left = CMP_WAKE_FLUSHES;
	struct vgpu_cmp_flush *flush;
	unsigned long flags;

	spin_lock_irqsave(&cmp->lock, flags);
	while (left && (flush = list_first_entry_or_null(&cmp->flushes, struct vgpu_cmp_flush,
							 node)) &&
	       cmp_is_flushed_locked(cmp, flush)) {
		list_del_init(&flush->node);
		complete(&flush->done);
		left--;
	}
	spin_unlock_irqrestore(&cmp->lock, flags);
	return !left;
}

/*
 * Wake exactly the callers whose posts are handled. Clients decide how many these are, so
 * interrupts are on between some and the next. Do not leave it to each caller to wake the next: a
 * starved client would hold up the others.
 */
static void cmp_finish_flushes(struct vgpu_cmp *cmp)
{
	while (cmp_wake_flushes(cmp))
		cond_resched();
}

static void cmp_account(struct vgpu_cmp *cmp, const struct vgpu_irq_record *record, bool full)
{
	unsigned long flags;

	spin_lock_irqsave(&cmp->lock, flags);
	if (full)
		cmp->counters.overflowed += record->posts;
	else
		cmp->counters.recorded += record->posts;
	cmp->done = cmp->taken;
	cmp->nulls_taken = 0;
	spin_unlock_irqrestore(&cmp->lock, flags);
	cmp_finish_flushes(cmp);
}

static void cmp_handle_posts(struct vgpu *gpu)
{
	struct vgpu_cmp *cmp = &gpu->cmp;
	struct vgpu_fence *named[VGPU_IRQ_FENCES];
	struct vgpu_irq_record record = {};
	bool needed, monitored = false, full = false;
	unsigned long flags;
	unsigned int used;
	u32 null_nodes;

	vfence_race_point(CMP_RECHECK);

	spin_lock_irqsave(&cmp->lock, flags);
	used = cmp_collect_locked(gpu, &record, named, &monitored);
	WRITE_ONCE(cmp->taken, cmp->taken + used);
	null_nodes = cmp->null_nodes;
	WRITE_ONCE(cmp->null_nodes, 0);
	cmp->nulls_taken = null_nodes;
	spin_unlock_irqrestore(&cmp->lock, flags);

	needed = cmp_is_needed(&record, used, monitored);
	if (needed) {
		cmp_scribble(gpu, &record);
		full = !cmp_publish(gpu, &record);
	}

	if (full) {
		cmp_note_missed(gpu, named, &record);
		null_nodes |= BIT(record.node) | cmp_overflow_of_type(record.type);
		if (record.flags & VGPU_IRQ_UNLOGGED)
			null_nodes |= VGPU_OVERFLOW_UNLOGGED;
		if (monitored)
			null_nodes |= VGPU_OVERFLOW_MONITORED;
	}

	/* Handshake (d): store overflow before raising the vector. Partner: irq_drain(). */
	if (null_nodes)
		atomic_or(null_nodes, &gpu->irq->overflow);
	vfence_race_point(RAISE);
	if (needed || null_nodes) {
		trace_vgpu_interrupt(gpu, record.type, record.node, record.posts, null_nodes);
		cmp_raise(gpu);
	}
	cmp_account(cmp, &record, full);
}

/*
 * Clients decide how much work the CMP has, and no client is charged for it: let the CMP use at
 * most one part in VGPU_CMP_SHARE of a processor. Short work is free until it adds up. The sleep
 * is a quiescent state of all kinds of RCU.
 */
static void cmp_rest(struct vgpu_cmp *cmp, u64 now)
{
	ktime_t until;

	if (cmp->free_at <= now + VGPU_CMP_SLACK_NS)
		return;

	until = ns_to_ktime(cmp->free_at);
	set_current_state(TASK_IDLE);
	schedule_hrtimeout(&until, HRTIMER_MODE_ABS);
	__set_current_state(TASK_RUNNING);
}

/*
 * An injection stops the CMP until the reset of the GPU, or until the GPU is switched off. During
 * the reset, which waits for the CMP, the injection does nothing.
 */
static bool cmp_injection_stops(struct vgpu *gpu)
{
	return vgpu_injected(&gpu->injections, VGPU_INJECT_STOP_CMP) && !READ_ONCE(gpu->resetting);
}

static bool cmp_is_stopped(struct vgpu *gpu)
{
	return cmp_injection_stops(gpu) && !kthread_should_stop();
}

/* Handle the posts of one record. Return the time of the end. */
static u64 cmp_work(struct vgpu *gpu, u64 begin)
{
	struct vgpu_cmp *cmp = &gpu->cmp;
	bool signalling = dma_fence_begin_signalling();
	u64 now;

	cmp_handle_posts(gpu);
	dma_fence_end_signalling(signalling);
	now = ktime_get_ns();
	cmp->free_at = max(cmp->free_at, begin) +
		       VGPU_CMP_SHARE * min_t(u64, now - begin, VGPU_CMP_WORK_NS);
	return now;
}

static void cmp_stay_stopped(struct vgpu *gpu)
{
	/* A test may switch the injection off, which does not wake the CMP. */
	while (cmp_is_stopped(gpu))
		wait_event_interruptible_timeout(gpu->cmp.wait, !cmp_is_stopped(gpu), HZ / 100);
}

static int cmp_thread(void *data)
{
	struct vgpu *gpu = data;
	struct vgpu_cmp *cmp = &gpu->cmp;

	/* Hardware does not wait for programs. cmp_rest() limits what it takes from them. */
	sched_set_fifo_low(current);

	while (!kthread_should_stop()) {
		bool begun = false;

		wait_event_interruptible(cmp->wait,
					 kthread_should_stop() || (begun = cmp_begin(cmp)));
		if (!begun)
			continue;
		cmp_stay_stopped(gpu);
		cmp_rest(cmp, cmp_work(gpu, ktime_get_ns()));
		cmp_end(cmp);
		cond_resched();
	}
	return 0;
}

/*
 * Reserve the work of the CMP for the thread of @engine. Return false if another thread does that
 * work, if the FIFO has other posts than those of the engine's step, or if the time that pays for
 * the last work of the CMP has not passed.
 */
static bool cmp_begin_here_locked(struct vgpu *gpu, const struct vgpu_engine *engine, u64 now)
{
	struct vgpu_cmp *cmp = &gpu->cmp;

	lockdep_assert_held(&cmp->lock);
	if (cmp->working || cmp->free_at > now || cmp_injection_stops(gpu) || cmp->null_nodes ||
	    cmp->posted != engine->posted || cmp->posted - cmp->taken > engine->posts)
		return false;
	return cmp_begin_locked(cmp);
}

/*
 * The thread of @engine calls this at the end of a step in which it has posted to @gpu, when it
 * holds no lock of the step any more. If it may, it writes the record and raises the vector itself:
 * to wake the thread of the CMP takes longer than that work. The client of the step does not pay
 * for it, because other clients decide how many waiters the interrupt wakes, perhaps on this
 * processor. Posts that come one after the other are left to the thread of the CMP, so that they
 * share records.
 */
void vgpu_cmp_run(struct vgpu *gpu, struct vgpu_engine *engine)
{
	struct vgpu_cmp *cmp = &gpu->cmp;
	u64 now = ktime_get_ns();
	unsigned long flags;
	bool begun;

	spin_lock_irqsave(&cmp->lock, flags);
	begun = cmp_begin_here_locked(gpu, engine, now);
	spin_unlock_irqrestore(&cmp->lock, flags);
	engine->posts = 0;
	if (!begun) {
		wake_up_all(&cmp->wait);
		return;
	}

	vgpu_time_add_uncharged(engine, cmp_work(gpu, now) - now);
	cmp_end(cmp);
}

int vgpu_cmp_start(struct vgpu *gpu)
{
	char name[32];

	snprintf(name, sizeof(name), "%s-cmp", gpu->name);
	return vgpu_thread_start(&gpu->cmp.thread, cmp_thread, gpu, name);
}

/* The engines have stopped, so the CMP gets no more posts. */
void vgpu_cmp_stop(struct vgpu *gpu)
{
	struct vgpu_cmp *cmp = &gpu->cmp;
	unsigned long flags;

	if (cmp->thread.runs) {
		vgpu_injection_set(&gpu->injections, VGPU_INJECT_STOP_CMP, 0);
		vgpu_cmp_flush(gpu);
	}
	vgpu_thread_stop(&cmp->thread);
	spin_lock_irqsave(&cmp->lock, flags);
	cmp->stopped = true;
	spin_unlock_irqrestore(&cmp->lock, flags);
	cmp_finish_flushes(cmp);
}

/* List the caller, unless there is nothing to wait for. */
static void cmp_begin_flush(struct vgpu_cmp *cmp, struct vgpu_cmp_flush *flush)
{
	unsigned long flags;

	INIT_LIST_HEAD(&flush->node);
	init_completion(&flush->done);
	spin_lock_irqsave(&cmp->lock, flags);
	flush->posted = cmp->posted;
	if (!cmp_is_flushed_locked(cmp, flush))
		list_add_tail(&flush->node, &cmp->flushes);
	else
		complete(&flush->done);
	spin_unlock_irqrestore(&cmp->lock, flags);
}

/* Unlist the caller. Afterwards the CMP does not access @flush. */
static bool cmp_end_flush(struct vgpu_cmp *cmp, struct vgpu_cmp_flush *flush)
{
	unsigned long flags;
	bool flushed;

	spin_lock_irqsave(&cmp->lock, flags);
	flushed = cmp_is_flushed_locked(cmp, flush);
	list_del_init(&flush->node);
	spin_unlock_irqrestore(&cmp->lock, flags);
	return flushed;
}

/* Threads that do the CMP's work: its own, and the engines. Return how long they have waited. */
static u64 cmp_waited(struct vgpu *gpu)
{
	u64 waited = vgpu_thread_waited(&gpu->cmp.thread);
	unsigned int node;

	for (node = 0; node < gpu->config.nodes; node++)
		waited += vgpu_thread_waited(&gpu->chip->engine[node].thread);
	return waited;
}

/* Wait for the CMP. Time in which it may have waited for a processor is not part of @timeout. */
static void cmp_wait_flush(struct vgpu *gpu, struct vgpu_cmp_flush *flush, long timeout)
{
	u64 waited;

	if (timeout == MAX_SCHEDULE_TIMEOUT) {
		wait_for_completion(&flush->done);
		return;
	}

	do {
		waited = cmp_waited(gpu);
		if (wait_for_completion_timeout(&flush->done, timeout))
			break;
		timeout = vgpu_thread_waited_more(cmp_waited(gpu), waited);
	} while (timeout);
}

/* Wait until all posts of before are handled. Return false if they are not after @timeout. */
static bool cmp_flush(struct vgpu *gpu, long timeout)
{
	struct vgpu_cmp *cmp = &gpu->cmp;
	struct vgpu_cmp_flush flush;
	bool flushed;

	cmp_begin_flush(cmp, &flush);
	atomic_inc(&cmp->flushers);
	wake_up_all(&cmp->wait);
	cmp_wait_flush(gpu, &flush, timeout);
	flushed = cmp_end_flush(cmp, &flush);
	atomic_dec(&cmp->flushers);
	return flushed;
}

void vgpu_cmp_flush(struct vgpu *gpu)
{
	cmp_flush(gpu, MAX_SCHEDULE_TIMEOUT);
}

bool vgpu_cmp_try_flush(struct vgpu *gpu, unsigned int ms)
{
	return cmp_flush(gpu, msecs_to_jiffies(ms));
}

bool vgpu_cmp_backlog(struct vgpu *gpu, u64 *done)
{
	unsigned long flags;
	bool backlog;

	spin_lock_irqsave(&gpu->cmp.lock, flags);
	*done = gpu->cmp.done;
	backlog = gpu->cmp.posted != gpu->cmp.done;
	spin_unlock_irqrestore(&gpu->cmp.lock, flags);
	return backlog;
}

bool vgpu_cmp_is_quiet(struct vgpu *gpu)
{
	struct vgpu_cmp *cmp = &gpu->cmp;
	unsigned long flags;
	bool quiet;

	spin_lock_irqsave(&cmp->lock, flags);
	quiet = cmp->posted == cmp->done && !cmp->null_nodes && !cmp->nulls_taken;
	spin_unlock_irqrestore(&cmp->lock, flags);
	return quiet;
}

void vgpu_cmp_query_counters(struct vgpu *gpu, struct vgpu_counters *c)
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
