// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Interrupts
 *
 * The hard half drains the interrupt ring and gives each record to the sources of its
 * type. What takes long, sleeps, or stands for records that had no room is done by the
 * threaded half::
 *
 *    record --> ring --> hard half: source->hard()      bounded, one record
 *                          |        source->overflow()  the ring had no room
 *                          v
 *                        threaded half: source->thread()
 *                                       source->scan()  what had no room, by node
 */

#include <linux/timekeeping.h>

#include "core/vfence_adapter.h"
#include "irq/vfence_irq.h"
#include "irq/vfence_vector.h"
#include "vfence_step.h"

/* Waiters that the hard half completes before it leaves the rest to the thread. */
#define IRQ_HARD_WAITERS	64
/* Records that the hard half takes before it leaves the rest to the thread. */
#define IRQ_HARD_RECORDS	(2 * VGPU_IRQ_RECORDS)

static void irq_dispatch_locked(struct vfence_adapter *adapter,
				const struct vgpu_irq_record *record,
				struct vfence_irq_batch *batch)
{
	unsigned int i;

	lockdep_assert_held(&adapter->irq.lock);
	for (i = 0; i < adapter->irq.sources; i++) {
		const struct vfence_irq_source *source = adapter->irq.source[i];

		if (source->type == record->type && source->hard)
			source->hard(adapter, record, batch);
	}
}

static void irq_overflowed(struct vfence_adapter *adapter, u32 overflow)
{
	unsigned int i;

	for (i = 0; i < adapter->irq.sources; i++)
		if (adapter->irq.source[i]->overflow)
			adapter->irq.source[i]->overflow(adapter, overflow);
}

/*
 * Handshake (d), handler's side: the vector's latch was cleared (a full barrier)
 * before we came here; then ring and overflow flag are looked at. Partner: the
 * CMP stores record or flag, then sets the latch. Whatever it stores after our
 * look finds the latch clear and runs us again.
 *
 * Returns whether the threaded half must go on.
 */
static bool irq_drain(struct vfence_adapter *adapter)
{
	struct vfence_irq_batch batch = { .budget = IRQ_HARD_WAITERS };
	struct vgpu_irq_ring *ring = vgpu_device_irq_ring(adapter->gpu);
	unsigned int left = IRQ_HARD_RECORDS;
	unsigned long flags;
	u32 overflow;
	u32 read;

	INIT_LIST_HEAD(&batch.done);
	vfence_step(HANDLER_ENTRY);
	spin_lock_irqsave(&adapter->irq.lock, flags);
	overflow = atomic_xchg(&ring->overflow, 0);
	atomic_or(overflow, &adapter->irq.scan_due);
	read = ring->read;
	/* Acquire: the records. Partner: publish() in hw/vgpu_cmp.c. */
	while (left && read != smp_load_acquire(&ring->write)) {
		struct vgpu_irq_record record = ring->record[read % VGPU_IRQ_RECORDS];

		/* Release: the slot is the CMP's again. */
		smp_store_release(&ring->read, ++read);
		irq_dispatch_locked(adapter, &record, &batch);
		left--;
	}
	spin_unlock_irqrestore(&adapter->irq.lock, flags);
	vfence_step(DRAINED);

	if (overflow)
		irq_overflowed(adapter, overflow);
	/* Wake-ups, eventfds and puts: with no lock held. */
	if (batch.finish)
		batch.finish(&batch.done);
	return !left;
}

/** vfence_irq_flush - take every record that is in the ring now; may sleep */
void vfence_irq_flush(struct vfence_adapter *adapter)
{
	while (irq_drain(adapter))
		cond_resched();
}

/**
 * vfence_irq_scan_later - have the threaded half scan
 * @adapter: the adapter
 * @nodes: mask of nodes, and VGPU_OVERFLOW_*
 *
 * For hard halves: a record did not name what it stands for.
 */
void vfence_irq_scan_later(struct vfence_adapter *adapter, u32 nodes)
{
	atomic_or(nodes, &adapter->irq.scan_due);
}

/** vfence_irq_settle - do all that interrupts leave to be done; process context */
void vfence_irq_settle(struct vfence_adapter *adapter)
{
	struct vfence_irq *irq = &adapter->irq;
	unsigned int i;
	u32 nodes;

	/* Serialise: on return no other thread is still handling what it took earlier. */
	mutex_lock(&irq->settle_lock);
	vfence_irq_flush(adapter);
	for (i = 0; i < irq->sources; i++)
		if (irq->source[i]->thread)
			irq->source[i]->thread(adapter);
	nodes = atomic_xchg(&irq->scan_due, 0);
	for (i = 0; nodes && i < irq->sources; i++)
		if (irq->source[i]->scan)
			irq->source[i]->scan(adapter, nodes);
	mutex_unlock(&irq->settle_lock);
}

/**
 * vfence_irq_catch_up - handle all that the hardware did before the call
 * @adapter: the adapter
 *
 * Also what its records do not name. Process context.
 */
void vfence_irq_catch_up(struct vfence_adapter *adapter)
{
	unsigned int i;

	vgpu_cmp_flush(adapter->gpu);
	vfence_irq_settle(adapter);
	for (i = 0; i < adapter->irq.sources; i++)
		if (adapter->irq.source[i]->catch_up)
			adapter->irq.source[i]->catch_up(adapter);
}

static irqreturn_t irq_handler(int irq, void *data)
{
	struct vfence_adapter *adapter = data;
	u64 ns = ktime_get_mono_fast_ns();

	vfence_count(adapter, VFENCE_COUNT_HANDLER_RUNS);
	irq_drain(adapter);
	ns = ktime_get_mono_fast_ns() - ns;
	vfence_count_add(adapter, VFENCE_COUNT_HANDLER_NS, ns);
	if (ns > adapter->irq.handler_max_ns)
		WRITE_ONCE(adapter->irq.handler_max_ns, ns);
	/* Logs are read after every signal (WDDM-92), and not in hard context. */
	return IRQ_WAKE_THREAD;
}

static irqreturn_t irq_thread(int irq, void *data)
{
	vfence_irq_settle(data);
	return IRQ_HANDLED;
}

/** vfence_irq_init - prepare an adapter's interrupt; nothing is requested yet */
void vfence_irq_init(struct vfence_adapter *adapter)
{
	spin_lock_init(&adapter->irq.lock);
	mutex_init(&adapter->irq.settle_lock);
}

/** vfence_irq_fini - undo vfence_irq_init() */
void vfence_irq_fini(struct vfence_adapter *adapter)
{
	mutex_destroy(&adapter->irq.settle_lock);
}

/**
 * vfence_irq_add - add a source, before vfence_irq_start()
 * @adapter: the adapter
 * @source: static; threaded halves run in the order of the calls
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

/** vfence_irq_stop - free the interrupt, and do what it has left; the GPU has stopped */
void vfence_irq_stop(struct vfence_adapter *adapter)
{
	vfence_vector_fini(&adapter->irq.vector, adapter);
	vfence_irq_settle(adapter);
}
