// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Interrupts
 *
 * The hard half drains the interrupt ring and gives each record to the sources of its
 * type. The threaded half does all work that takes long, that sleeps, or that replaces
 * records for which the ring had no room. Most interrupts leave it nothing to do, and do not
 * wake its thread::
 *
 *    record --> ring --> hard half: source->hard()      bounded, one record
 *                          |        source->overflow()  the ring had no room
 *                          |        source->due()       has it left work?
 *                          v
 *                        threaded half: source->thread()
 *                                       source->scan()  by node, after an overflow
 */

#include <linux/dma-fence.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/wait_bit.h>

#include "core/vfence_adapter.h"
#include "core/vfence_wake.h"
#include "irq/vfence_irq.h"
#include "irq/vfence_vector.h"
#include "vfence_race_point.h"

/*
 * Budget of one run of the hard half: completed waiters, and records and the fences that they
 * name. A wake-up takes up to 2,000 instructions and a fence up to 500, so that interrupts are
 * off for 20,000 instructions at most. The threaded half does the rest.
 */
#define IRQ_HARD_WAITERS	4
#define IRQ_HARD_WORK		16

/*
 * Does the record tell what its engine does? Signals of fences do not, nor that a context has
 * left: they say for themselves what has happened.
 */
static bool irq_is_progress(const struct vgpu_irq_record *record)
{
	return record->type == VGPU_IRQ_DMA_COMPLETED ||
	       record->type == VGPU_IRQ_HWQUEUE_FAULTED ||
	       record->type == VGPU_IRQ_GPU_ENGINE_STATE_CHANGE;
}

/*
 * Is this a record of an engine that is being reset? If the engine has been reset and has not
 * gone on, give up the adapter: it does something that nobody has asked for (WDDM-175).
 */
static bool irq_is_masked_locked(struct vfence_adapter *adapter,
				 const struct vgpu_irq_record *record)
{
	lockdep_assert_held(&adapter->irq.lock);
	if (!irq_is_progress(record))
		return false;
	if (adapter->irq.silent & BIT(record->node))
		vfence_adapter_lose(adapter, VFENCE_STOP_SCHEDULER_ERROR, 0x10);
	return (adapter->irq.masked | adapter->irq.silent) & BIT(record->node);
}

static void irq_dispatch_locked(struct vfence_adapter *adapter,
				const struct vgpu_irq_record *record,
				struct vfence_irq_batch *batch)
{
	unsigned int i;

	lockdep_assert_held(&adapter->irq.lock);
	if (irq_is_masked_locked(adapter, record))
		return;
	for (i = 0; i < adapter->irq.sources; i++) {
		const struct vfence_irq_source *source = adapter->irq.source[i];

		if (source->type == record->type && source->hard)
			source->hard(adapter, record, batch);
	}
}

static void irq_dispatch_overflow(struct vfence_adapter *adapter, u32 overflow)
{
	unsigned int i;

	for (i = 0; i < adapter->irq.sources; i++)
		if (adapter->irq.source[i]->overflow)
			adapter->irq.source[i]->overflow(adapter, overflow);
}

/*
 * Handshake (d), handler's side. vector_deliver() has cleared the vector's latch (a full
 * barrier) before this function reads the ring and the overflow flag. Partner: the CMP
 * stores the record or the flag, then sets the latch in vfence_vector_raise(). A store
 * that this function misses finds the latch clear, so the handler runs again.
 *
 * Returns true if records are left for the threaded half.
 */
static bool irq_drain(struct vfence_adapter *adapter)
{
	struct vfence_irq_batch batch = { .budget = IRQ_HARD_WAITERS, .work = IRQ_HARD_WORK };
	struct vgpu_irq_ring *ring = vgpu_device_irq_ring(adapter->gpu);
	unsigned long flags;
	bool signalling;
	u32 overflow;
	u32 read;

	INIT_LIST_HEAD(&batch.done);
	vfence_race_point(HANDLER_ENTRY);
	/* Records report the ends of submissions whose dma_fences are published. */
	signalling = dma_fence_begin_signalling();

	vfence_wake_begin();
	spin_lock_irqsave(&adapter->irq.lock, flags);
	/* Before anything leaves the ring. Partner: vfence_irq_is_quiet(). */
	atomic_inc(&adapter->irq.finishing);
	overflow = atomic_xchg(&ring->overflow, 0);
	atomic_or(overflow, &adapter->irq.scan_due);

	read = ring->read;
	/* Acquire: the records. Partner: cmp_publish() in hw/vgpu_cmp.c. */
	while (batch.work > 0 && read != smp_load_acquire(&ring->write)) {
		struct vgpu_irq_record record = ring->record[read % VGPU_IRQ_RECORDS];

		/* Release: the record has been copied, so the CMP may reuse its slot. */
		smp_store_release(&ring->read, ++read);
		irq_dispatch_locked(adapter, &record, &batch);
		batch.work--;
	}
	spin_unlock_irqrestore(&adapter->irq.lock, flags);
	vfence_race_point(DRAINED);

	if (overflow)
		irq_dispatch_overflow(adapter, overflow);

	/* Wake-ups, eventfd signals and final puts need that no lock is held. */
	if (batch.finish)
		batch.finish(&batch.done);
	if (atomic_dec_and_test(&adapter->irq.finishing))
		wake_up_var(&adapter->irq.finishing);
	vfence_wake_end();
	dma_fence_end_signalling(signalling);
	return batch.work <= 0;
}

/** vfence_irq_flush - take every record that is in the ring now; may sleep */
void vfence_irq_flush(struct vfence_adapter *adapter)
{
	while (irq_drain(adapter))
		cond_resched();
}

/**
 * vfence_irq_scan_later - let the threaded half scan
 * @adapter: the adapter
 * @nodes: mask of nodes, and VGPU_OVERFLOW_*
 *
 * A hard half calls this when a record does not name its fences or its queue. Any context.
 */
void vfence_irq_scan_later(struct vfence_adapter *adapter, u32 nodes)
{
	atomic_or(nodes, &adapter->irq.scan_due);
}

/*
 * Return true if the threaded half has work. A hard half leaves work to it while it holds
 * &vfence_irq.lock. The interrupt of the record comes after the record, and its handler takes the
 * lock in irq_drain() before it calls this function, so it finds the work. All others wake the
 * thread of the interrupt or raise the vector after they have left work.
 */
static bool irq_thread_is_due(struct vfence_adapter *adapter)
{
	unsigned int i;

	if (atomic_read(&adapter->irq.scan_due))
		return true;
	for (i = 0; i < adapter->irq.sources; i++)
		if (adapter->irq.source[i]->due && adapter->irq.source[i]->due(adapter))
			return true;
	return false;
}

/**
 * vfence_irq_backlog - is there work for the interrupt
 * @adapter: the adapter
 * @runs: output: number of runs of the two halves so far
 *
 * vfence_irq_flush() takes records for which the threaded half has work to do, too. Its callers do
 * not run that half: the interrupt does, but it may be lost. Any context.
 */
bool vfence_irq_backlog(struct vfence_adapter *adapter, u32 *runs)
{
	struct vgpu_irq_ring *ring = vgpu_device_irq_ring(adapter->gpu);

	*runs = READ_ONCE(ring->read) + READ_ONCE(adapter->irq.runs);
	return READ_ONCE(ring->write) != READ_ONCE(ring->read) || atomic_read(&ring->overflow) ||
	       irq_thread_is_due(adapter);
}

/**
 * vfence_irq_is_quiet - is everything handled that the GPU has reported before
 * @adapter: the adapter
 *
 * What is reported moves on from one place to the next, and is in the next one before it leaves
 * one: it looks in the same order. The threaded half alone puts a rest back, and then it has run.
 * Process context.
 */
bool vfence_irq_is_quiet(struct vfence_adapter *adapter)
{
	struct vgpu_irq_ring *ring = vgpu_device_irq_ring(adapter->gpu);
	struct vfence_irq *irq = &adapter->irq;
	u32 runs;

	/* Acquire: this first. Partner: irq_drain_locked(). */
	runs = smp_load_acquire(&irq->runs);
	if (!vgpu_cmp_is_quiet(adapter->gpu))
		return false;
	if (READ_ONCE(ring->write) != READ_ONCE(ring->read) || atomic_read(&ring->overflow))
		return false;
	/* The ring, then who takes records. Partner: the exchange in irq_drain(). */
	smp_rmb();
	if (atomic_read(&irq->finishing))
		return false;
	/* Then what they leave. Partner: the decrement in irq_drain(). */
	smp_rmb();
	if (irq_thread_is_due(adapter))
		return false;
	/* Then who takes that. Partner: the threaded half takes it after the mutex. */
	smp_rmb();
	if (mutex_is_locked(&irq->drain_lock))
		return false;
	/* Then whether it has put a rest back meanwhile. Partner: irq_drain_locked(). */
	smp_rmb();
	return READ_ONCE(irq->runs) == runs;
}

/**
 * vfence_irq_mask_locked - ignore the progress records of a node
 * @adapter: the adapter, its &vfence_irq.lock held
 * @node: the node
 */
void vfence_irq_mask_locked(struct vfence_adapter *adapter, unsigned int node)
{
	lockdep_assert_held(&adapter->irq.lock);
	adapter->irq.masked |= BIT(node);
}

/**
 * vfence_irq_expect_silence - these nodes are expected to post no progress records
 * @adapter: the adapter
 * @nodes: mask of the nodes; 0: none any more
 *
 * A progress record that is handled meanwhile loses the adapter.
 */
void vfence_irq_expect_silence(struct vfence_adapter *adapter, u32 nodes)
{
	unsigned long flags;

	spin_lock_irqsave(&adapter->irq.lock, flags);
	adapter->irq.silent = nodes;
	spin_unlock_irqrestore(&adapter->irq.lock, flags);
}

/**
 * vfence_irq_unmask - handle the records of nodes again
 * @adapter: the adapter
 * @nodes: mask of the nodes
 *
 * What the ignored records said is read from the hardware, as if the ring had no room for them.
 * May sleep.
 */
void vfence_irq_unmask(struct vfence_adapter *adapter, u32 nodes)
{
	unsigned long flags;

	spin_lock_irqsave(&adapter->irq.lock, flags);
	adapter->irq.masked &= ~nodes;
	spin_unlock_irqrestore(&adapter->irq.lock, flags);
	vfence_race_point(UNMASKED);

	vfence_irq_scan_later(adapter, nodes | VGPU_OVERFLOW_QUEUES);
	irq_dispatch_overflow(adapter, nodes | VGPU_OVERFLOW_QUEUES);
	/* The threaded half scans. */
	vfence_vector_raise(&adapter->irq.vector);
}

static void irq_begin_run_locked(struct vfence_irq *irq)
{
	lockdep_assert_held(&irq->drain_lock);
	spin_lock_irq(&irq->lock);
	irq->begun++;
	spin_unlock_irq(&irq->lock);
}

static void irq_end_run_locked(struct vfence_irq *irq)
{
	lockdep_assert_held(&irq->drain_lock);
	/* Release: what the halves have put back. Partner: vfence_irq_is_quiet(). */
	smp_store_release(&irq->runs, irq->runs + 1);
	vfence_wake_all(&irq->ran);
}

static void irq_scan(struct vfence_adapter *adapter, u32 nodes)
{
	unsigned int i;

	for (i = 0; i < adapter->irq.sources; i++)
		if (adapter->irq.source[i]->scan)
			adapter->irq.source[i]->scan(adapter, nodes);
}

static void irq_catch_up(struct vfence_adapter *adapter)
{
	unsigned int i;

	for (i = 0; i < adapter->irq.sources; i++)
		if (adapter->irq.source[i]->catch_up)
			adapter->irq.source[i]->catch_up(adapter);
}

static void irq_drain_locked(struct vfence_adapter *adapter)
{
	struct vfence_irq *irq = &adapter->irq;
	unsigned int i;
	u32 nodes;

	irq_begin_run_locked(irq);
	vfence_irq_flush(adapter);
	/*
	 * Others may have taken records before, and still complete their waiters. Acquire: what
	 * these completions did. Partner: the decrement in irq_drain(), a full barrier.
	 */
	wait_var_event(&irq->finishing, !atomic_read_acquire(&irq->finishing));

	for (i = 0; i < irq->sources; i++)
		if (irq->source[i]->thread)
			irq->source[i]->thread(adapter);

	nodes = atomic_xchg(&irq->scan_due, 0);
	if (nodes)
		irq_scan(adapter, nodes);
	if (atomic_xchg(&irq->catch_up_due, 0))
		irq_catch_up(adapter);
	irq_end_run_locked(irq);
}

/**
 * vfence_irq_run_again - ask for another run of the threaded half
 * @adapter: the adapter
 *
 * A threaded half calls this after a portion of a long work, when it has noted the rest. The other
 * threaded halves run before the next portion. Called with &vfence_irq.drain_lock held.
 */
void vfence_irq_run_again(struct vfence_adapter *adapter)
{
	struct vfence_irq *irq = &adapter->irq;

	lockdep_assert_held(&irq->drain_lock);
	if (!irq->stopped)
		vfence_vector_wake_thread(&irq->vector, adapter);
}

/**
 * vfence_irq_leave - leave work to the threaded half
 * @adapter: the adapter
 * @note: notes the work; called with &vfence_irq.lock held and interrupts off
 * @arg: for @note
 *
 * For threads of clients, whose calls cost what they ask for, and not what others wait for.
 * Process context.
 *
 * Return: false after vfence_irq_stop(): then @note was not called, and the caller does the work.
 */
bool vfence_irq_leave(struct vfence_adapter *adapter, void (*note)(const void *arg),
		      const void *arg)
{
	struct vfence_irq *irq = &adapter->irq;
	unsigned long flags;
	bool stopped;

	spin_lock_irqsave(&irq->lock, flags);
	stopped = irq->stopped;
	if (!stopped) {
		note(arg);
		vfence_vector_wake_thread(&irq->vector, adapter);
	}
	spin_unlock_irqrestore(&irq->lock, flags);

	return !stopped;
}

/*
 * Wake the thread of the interrupt. Return false if there is none any more, or the number of a run
 * that has not begun.
 */
static bool irq_ask_for_run(struct vfence_adapter *adapter, u32 *run)
{
	struct vfence_irq *irq = &adapter->irq;
	bool asked;

	spin_lock_irq(&irq->lock);
	*run = irq->begun + 1;
	asked = !irq->stopped;
	if (asked)
		vfence_vector_wake_thread(&irq->vector, adapter);
	spin_unlock_irq(&irq->lock);
	return asked;
}

static bool irq_has_run(struct vfence_irq *irq, u32 run)
{
	/* Acquire: all that the run has done. Partner: irq_end_run_locked(). */
	return (s32)(smp_load_acquire(&irq->runs) - run) >= 0;
}

/**
 * vfence_irq_drain - wait for a run of the threaded halves
 * @adapter: the adapter
 *
 * On return the threaded halves have handled what the records before the call name, except for
 * waiters beyond the first portion of a fence: vfence_drain_rewinds() handles those of one
 * fence. The caller, which may be a thread of a client that gets a processor rarely, does not run
 * them itself: they hold locks that all clients need. It waits for as long as that thread has no
 * processor, and so does everybody whose waits the thread completes. Process context, without a
 * lock that the halves take.
 */
void vfence_irq_drain(struct vfence_adapter *adapter)
{
	struct vfence_irq *irq = &adapter->irq;
	u32 run;

	lockdep_assert_not_held(&irq->drain_lock);
	if (irq_ask_for_run(adapter, &run)) {
		wait_event(irq->ran, irq_has_run(irq, run));
		return;
	}

	/* The adapter is unplugged. */
	mutex_lock(&irq->drain_lock);
	irq_drain_locked(adapter);
	mutex_unlock(&irq->drain_lock);
}

/**
 * vfence_irq_catch_up - handle every hardware event that occurred before the call
 * @adapter: the adapter
 *
 * This includes events that no record names yet. Process context, as vfence_irq_drain().
 */
void vfence_irq_catch_up(struct vfence_adapter *adapter)
{
	vgpu_cmp_flush(adapter->gpu);
	/* Release: what the run finds. Partner: the exchange in irq_drain_locked(). */
	atomic_set_release(&adapter->irq.catch_up_due, 1);
	vfence_irq_drain(adapter);
}

static irqreturn_t irq_handler(int irq, void *data)
{
	struct vfence_adapter *adapter = data;
	u64 ns = ktime_get_mono_fast_ns();
	bool left;

	vfence_count(adapter, VFENCE_COUNT_HANDLER_RUNS);
	left = irq_drain(adapter) || irq_thread_is_due(adapter);

	ns = ktime_get_mono_fast_ns() - ns;
	vfence_count_add(adapter, VFENCE_COUNT_HANDLER_NS, ns);
	if (ns > adapter->irq.handler_max_ns)
		WRITE_ONCE(adapter->irq.handler_max_ns, ns);

	return left ? IRQ_WAKE_THREAD : IRQ_HANDLED;
}

static irqreturn_t irq_thread(int irq, void *data)
{
	struct vfence_adapter *adapter = data;

	/*
	 * The kernel makes interrupt threads SCHED_FIFO. Clients decide how much work this
	 * one has, so it competes with their threads like any other. Do it once, so that an
	 * administrator may choose another priority.
	 */
	if (!adapter->irq.thread_normal) {
		adapter->irq.thread_normal = true;
		sched_set_normal(current, 0);
	}

	mutex_lock(&adapter->irq.drain_lock);
	irq_drain_locked(adapter);
	mutex_unlock(&adapter->irq.drain_lock);
	return IRQ_HANDLED;
}

/** vfence_irq_init - prepare an adapter's interrupt; vfence_irq_start() requests it */
void vfence_irq_init(struct vfence_adapter *adapter)
{
	spin_lock_init(&adapter->irq.lock);
	mutex_init(&adapter->irq.drain_lock);
	init_waitqueue_head(&adapter->irq.ran);
}

/** vfence_irq_fini - undo vfence_irq_init() */
void vfence_irq_fini(struct vfence_adapter *adapter)
{
	mutex_destroy(&adapter->irq.drain_lock);
}

/**
 * vfence_irq_add - add a source, before vfence_irq_start()
 * @adapter: the adapter
 * @source: the source, a static object
 *
 * The threaded halves of the sources run in the order of the calls.
 */
void vfence_irq_add(struct vfence_adapter *adapter, const struct vfence_irq_source *source)
{
	struct vfence_irq *irq = &adapter->irq;

	if (!WARN_ON(irq->sources == VFENCE_IRQ_SOURCES))
		irq->source[irq->sources++] = source;
}

/** vfence_irq_start - request the interrupt */
int vfence_irq_start(struct vfence_adapter *adapter)
{
	return vfence_vector_init(&adapter->irq.vector, adapter->name, irq_handler, irq_thread,
				  adapter);
}

/** vfence_irq_stop - free the interrupt and handle its last records; the GPU has stopped */
void vfence_irq_stop(struct vfence_adapter *adapter)
{
	struct vfence_irq *irq = &adapter->irq;

	/* Both locks: either of them keeps the vector, for a thread that has seen it. */
	mutex_lock(&irq->drain_lock);
	spin_lock_irq(&irq->lock);
	irq->stopped = true;
	spin_unlock_irq(&irq->lock);
	mutex_unlock(&irq->drain_lock);
	vfence_vector_fini(&irq->vector, adapter);

	/* Nobody else does the rest any more. */
	mutex_lock(&irq->drain_lock);
	do {
		irq_drain_locked(adapter);
		cond_resched();
	} while (irq_thread_is_due(adapter));
	mutex_unlock(&irq->drain_lock);
}
