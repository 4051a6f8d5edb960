// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: GPU time
 *
 * A packet costs the GPU time that it names or that its bytes take, and at least a multiple of
 * the processor time that its emulation takes: four times, and as often again for each other
 * engine of the chip that is busy, unless cpu_percent says otherwise. The threads of the engines
 * therefore sleep for most of the time, whatever their clients execute: together they use at most
 * a quarter of a processor. The client whose packets are expensive to emulate gets fewer of them
 * executed, and its neighbours on the machine keep their processors.
 *
 * An engine may be ahead of the clock by VGPU_SLACK_NS, so that its thread need not sleep for each
 * small packet. Before a packet that stores something, waits or is bad, and before the last packet
 * of a ring is complete, the draws, copies and fills end that come before. To sleep for them is
 * part of their emulation.
 *
 * The nominal end of a step is when it ends if the thread does not wake up late. There the next
 * step begins, also if the thread executes it later: 1,000 draws take the time that they name on a
 * machine that is slow to wake threads up. But a step does not begin before
 *
 * - its queue could be executed, the turn of its function began, or its engine was held no longer;
 * - VGPU_FOUND_NS before the thread found its packet, unless it had seen the packet before; and
 *   before it found the value of the wait, or the room for the signal, in front of it;
 * - the time stamp in front of it;
 * - the end of the rest for the steps before, if the thread has rested until then.
 */

#include <linux/math64.h>
#include <linux/minmax.h>

#include "vgpu_types.h"

/* The thread has slept since @begun. */
void vgpu_time_slept(struct vgpu_engine *engine, ktime_t begun)
{
	u64 ns = ktime_to_ns(ktime_sub(ktime_get(), begun));

	engine->stepped_at = ktime_add_ns(engine->stepped_at, ns);
	engine->rest_ns -= min(ns, engine->rest_ns);
}

/* The thread has worked for @ns for something that no client pays for. */
void vgpu_time_add_uncharged(struct vgpu_engine *engine, u64 ns)
{
	engine->stepped_at = ktime_add_ns(engine->stepped_at, ns);
}

/*
 * Return the processor time since the last call, at most VGPU_STEP_NS. If more time has passed,
 * the thread has waited for a processor, and the client does not pay for the rest.
 */
static u64 time_burned(struct vgpu_engine *engine, ktime_t now)
{
	u64 ns = ktime_to_ns(ktime_sub(now, engine->stepped_at));

	engine->stepped_at = now;
	return min_t(u64, ns, VGPU_STEP_NS);
}

/*
 * Return the GPU time that a step costs at least which burned so much processor time, if no other
 * engine is busy.
 */
static u64 time_price(const struct vgpu_engine *engine, u64 burned)
{
	return div_u64(burned * 100, engine->chip->cpu_percent);
}

/*
 * The client's virtual time counts what the others had to wait, @shared. Time-outs count what
 * the queue does itself, @own, so that its neighbours on other engines shorten none.
 */
static void time_count(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 shared, u64 own)
{
	struct vgpu_node_counters *counters = &queue->node->counters;

	WRITE_ONCE(counters->busy_ns, counters->busy_ns + own);
	WRITE_ONCE(queue->busy_ns, queue->busy_ns + own);
	engine->charged_ns += own;
	engine->used_ns += shared;
}

/*
 * Move the nominal begin of the next step to where it may be at @now. The thread wakes up late, and
 * what it wakes up for does not get longer by that: it begins at the nominal end of the last step,
 * or of the rest. If the thread is late by more than VGPU_CATCH_UP_NS, the machine has paused, and
 * the next step begins now.
 */
static void time_charge(struct vgpu_engine *engine, ktime_t now)
{
	ktime_t rested = ktime_before(engine->free_at, now) ? engine->free_at : now;

	if (ktime_before(engine->cost_at, rested))
		engine->cost_at = rested;
	if (ktime_to_ns(ktime_sub(now, engine->cost_at)) > VGPU_CATCH_UP_NS)
		engine->cost_at = now;
	if (ktime_before(engine->free_at, engine->cost_at))
		engine->free_at = engine->cost_at;
}

/*
 * Charge a step to the running queue: @cost is the GPU time that the packet asks for. The
 * engine is busy until free_at.
 */
void vgpu_time_charge(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 cost)
{
	ktime_t now = ktime_get();
	u64 burned = time_burned(engine, now);
	u64 own = time_price(engine, burned);
	u64 price = own * max(READ_ONCE(engine->chip->busy), 1u);

	time_charge(engine, now);
	engine->begun_at = engine->cost_at;
	engine->cost_at = ktime_add_ns(engine->cost_at, cost);
	engine->free_at = ktime_add_ns(engine->free_at, cost);
	if (engine->works) {
		engine->work_at = engine->cost_at;
		engine->worked = true;
	}
	engine->works = false;
	time_count(engine, queue, max(cost, price), max(cost, own));

	/* The thread rests for longer less often: a sleep burns processor time, too. */
	engine->rest_ns += price - burned;
	if (engine->rest_ns > VGPU_REST_NS && vgpu_time_charged(engine) < engine->rest_ns)
		engine->free_at = ktime_add_ns(now, engine->rest_ns);
}

/*
 * The next step of the engine begins no earlier than @at, also if its thread wakes up late. @at is
 * a time in ns that has passed.
 */
void vgpu_time_not_before(struct vgpu_engine *engine, u64 at)
{
	if (ktime_before(engine->cost_at, ns_to_ktime(at)))
		engine->cost_at = ns_to_ktime(at);
	if (ktime_before(engine->free_at, engine->cost_at))
		engine->free_at = engine->cost_at;
}

/* From now on the engine can pick queues, unless something else keeps it from that. */
void vgpu_time_open_locked(struct vgpu_engine *engine)
{
	lockdep_assert_held(&engine->chip->sched);
	engine->open_at = ktime_get_ns();
	wake_up_all(&engine->wait);
}

/*
 * The thread has found at @ns what others have done at an unknown time before: a packet that it has
 * not seen, the value of a wait, or room. It may have been late to find it.
 */
void vgpu_time_found(struct vgpu_engine *engine, u64 ns)
{
	vgpu_time_not_before(engine, ns - VGPU_FOUND_NS);
}

/* Return the nominal end of the last step, in ns, or now if that is earlier. */
u64 vgpu_time_end(struct vgpu_engine *engine)
{
	ktime_t now = ktime_get();

	time_charge(engine, now);
	return ktime_to_ns(ktime_before(engine->cost_at, now) ? engine->cost_at : now);
}

static u64 time_until(ktime_t end)
{
	return max_t(s64, ktime_to_ns(ktime_sub(end, ktime_get())), 0);
}

/* Return the charged time that had not passed when the clock was read last, with the rest. */
u64 vgpu_time_charged(const struct vgpu_engine *engine)
{
	return max_t(s64, ktime_to_ns(ktime_sub(engine->free_at, engine->stepped_at)), 0);
}

/* The queue begins its turn. What remains of the time of the queue before passes first. */
void vgpu_time_begin_turn(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	vgpu_time_charge(engine, queue, 0);
	WRITE_ONCE(engine->turn_from, engine->cost_at);
	engine->worked = false;
}

/*
 * The thread has slept for the end of short work. The next step contains a fixed price for it, as
 * others may have woken the thread more often, and nothing for the work of the queue before.
 */
void vgpu_time_bill_sleep(struct vgpu_engine *engine)
{
	if (engine->worked)
		engine->stepped_at = ktime_sub_ns(engine->stepped_at, VGPU_SLEEP_NS);
	else
		engine->stepped_at = ktime_get();
}

/* Return true if work has begun that has not ended. */
bool vgpu_time_works(const struct vgpu_engine *engine)
{
	/* Most work ended before the clock was read last, and need not have it read again. */
	return ktime_after(engine->work_at, engine->stepped_at) &&
	       ktime_after(engine->work_at, ktime_get());
}

/* Return the charged time that has not passed yet, with the rest of the thread, in ns. */
u64 vgpu_time_ahead(const struct vgpu_engine *engine)
{
	return time_until(engine->free_at);
}

/*
 * Take back the time that packets of this turn asked for and that had not passed at @at, and return
 * it. The time of the queue before stays with the engine, and so does what the client has paid for
 * already.
 */
u64 vgpu_time_refund(struct vgpu_engine *engine, struct vgpu_queue *queue, ktime_t at)
{
	ktime_t from = ktime_after(at, engine->turn_from) ? at : engine->turn_from;
	u64 ahead = max_t(s64, ktime_to_ns(ktime_sub(engine->cost_at, from)), 0);
	u64 refund = min(ahead, engine->used_ns);

	engine->cost_at = ktime_add_ns(from, ahead - refund);
	engine->free_at = engine->cost_at;
	engine->work_at = engine->cost_at;
	time_count(engine, queue, -refund, -refund);
	return refund;
}

/*
 * Return the GPU time that the engine has spent since it started, in ns. The rest of the thread
 * does not count. This goes back only when a step that has begun is postponed.
 */
u64 vgpu_time_spent(const struct vgpu_engine *engine)
{
	return engine->charged_ns - time_until(engine->cost_at);
}
