// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each rule of vfence check: a trace made by hand obeys it, and the same trace with one event changed
 * breaks it and no other. No module is needed.
 */

#include "kselftest_harness.h"

#include "trace/check.h"
#include "vgpu_vf_switch.h"

#define MAX_EVENTS	64

/* The state of a queue that stops, as in the header of the interface. */
#define QUEUE_IDLE	0
#define QUEUE_BLOCKED	3

/* What add() does to the time: no rule looks at it unless it says so. */
#define STEP_NS		1000

FIXTURE(check) {
	struct event list[MAX_EVENTS];
	struct events events;
};

FIXTURE_SETUP(check)
{
	memset(self->list, 0, sizeof(self->list));
	self->events = (struct events){ .list = self->list };
}

FIXTURE_TEARDOWN(check)
{
}

typedef FIXTURE_DATA(check) trace;

/* Add an event, a moment after the one before. Return: the event, to be completed. */
static struct event *add(trace *t, enum event_kind kind, char type)
{
	struct event *e = &t->list[t->events.count++];

	e->kind = kind;
	e->type = type;
	e->time = t->events.count > 1 ? e[-1].time + STEP_NS : STEP_NS;
	return e;
}

#define ADD(what, letter, ...) \
	do { \
		struct event *added = add(self, EVENT_ ## what, letter); \
		struct event said = { __VA_ARGS__ }; \
		said.kind = added->kind; \
		said.type = added->type; \
		said.time += added->time; \
		*added = said; \
	} while (0)

/* @name: the rule that the trace breaks, once, and no other; NULL: it obeys all. */
static bool says(trace *t, const char *name)
{
	char first[CHECK_TEXT] = "";
	const char *rule = NULL;
	int found = check_list(&t->events, &rule, first);

	if (name ? found == 1 && rule && !strcmp(rule, name) : !found)
		return true;
	fprintf(stderr, "# %d violations, the first one: %s\n", found, first);
	return false;
}

#define OBEYS()		EXPECT_TRUE(says(self, NULL))
#define BREAKS(rule)	EXPECT_TRUE(says(self, rule))

/* Queue 1 has a turn on engine 0. */
#define TURN(q, ...)	ADD(TURN, 'B', .queue = (q), ## __VA_ARGS__)
#define LEAVES(q, s)	ADD(TURN, 'E', .queue = (q), .step = (s))

/* ------------------------------------------------------------- engines */

TEST_F(check, an_engine_has_one_queue)
{
	TURN(1);
	LEAVES(1, QUEUE_IDLE);
	TURN(2);
	OBEYS();
	TURN(3, .node = 1);
	OBEYS();
	TURN(4, .adapter = 1);
	OBEYS();
	TURN(5, .function = 1);
	BREAKS("two queues on an engine");
}

TEST_F(check, a_queue_that_waits_gets_no_turn)
{
	TURN(1);
	ADD(WAIT, 'B', .queue = 1, .fence = 1, .value = 2);
	LEAVES(1, QUEUE_BLOCKED);
	ADD(WAIT, 'E', .queue = 1, .fence = 1, .value = 2, .by = 2);
	TURN(1);
	OBEYS();
	self->list[3].queue = 2;
	BREAKS("turn of a queue that waits");
}

TEST_F(check, a_suspended_queue_gets_no_turn)
{
	ADD(QUEUE, 'I', .queue = 1, .context = 7, .created = 1);
	ADD(QUEUE, 'I', .queue = 2, .context = 8, .created = 1);
	ADD(SUSPENSION, 'I', .context = 7);
	TURN(2);
	LEAVES(2, QUEUE_IDLE);
	ADD(SUSPENSION, 'E', .context = 7);
	TURN(1);
	OBEYS();
	/* A suspension that has failed is none. */
	self->list[5].context = 9;
	self->list[2].result = -16;
	OBEYS();
	self->list[2].result = 0;
	BREAKS("turn of a suspended queue");
}

TEST_F(check, a_turn_ends_where_it_began)
{
	TURN(1);
	TURN(2, .node = 1);
	LEAVES(1, QUEUE_IDLE);
	OBEYS();
	self->list[2].queue = 2;
	BREAKS("end of a turn that is none");
	/* The turns of the beginning of a trace may be older than it. */
	self->events.count = 0;
	LEAVES(1, QUEUE_IDLE);
	OBEYS();
	LEAVES(1, QUEUE_IDLE);
	BREAKS("end of a turn that is none");
}

TEST_F(check, a_blocked_queue_waits_for_something)
{
	TURN(1);
	ADD(WAIT, 'B', .queue = 1, .fence = 1, .value = 2);
	LEAVES(1, QUEUE_BLOCKED);
	OBEYS();
	self->list[1].queue = 2;
	BREAKS("blocked by nothing");
}

TEST_F(check, a_queue_has_one_wait)
{
	ADD(WAIT, 'B', .queue = 1, .fence = 1, .value = 2);
	ADD(WAIT, 'B', .queue = 2, .fence = 1, .value = 2);
	OBEYS();
	self->list[1].queue = 1;
	BREAKS("two waits of a queue");
}

TEST_F(check, a_queue_is_released_by_its_value)
{
	/* Not in the trace: its begin, so the rules about waits know nothing of it. */
	ADD(WAIT, 'E', .queue = 1, .fence = 1, .value = 5, .by = 5);
	OBEYS();
	/* 0: it was not released by a value, but taken away. */
	self->list[0].by = 0;
	OBEYS();
	self->list[0].by = 4;
	BREAKS("released too early");
}

TEST_F(check, who_signals_is_on_the_engine)
{
	TURN(1);
	ADD(SIGNAL, 'I', .queue = 1, .fence = 1, .value = 1);
	ADD(WRITE, 'I', .queue = 1);
	OBEYS();
	self->list[2].queue = 2;
	BREAKS("signal without a turn");
	self->list[2].queue = 1;
	self->list[1].queue = 2;
	BREAKS("signal without a turn");
}

/* --------------------------------------------------------------- waits */

/* A native fence that the trace knows from its creation. */
#define CREATES(f)	ADD(HANDLE, 'I', .fence = (f), .opened = 1, .created = 1, .native = 1)
#define BY_CPU(f, v)	ADD(CPU_SIGNAL, 'I', .fence = (f), .value = (v))

TEST_F(check, no_wake_up_of_a_queue_is_lost)
{
	ADD(WAIT, 'B', .queue = 1, .fence = 1, .value = 2);
	BY_CPU(1, 1);
	ADD(DOORBELL, 'I', .queue = 9, .time = CHECK_WAKE_NS);
	OBEYS();
	self->list[1].value = 2;
	BREAKS("lost wake-up");
	/* It may take a moment. */
	self->list[2].time = self->list[1].time + CHECK_WAKE_NS - 1;
	OBEYS();
	self->list[2].time++;
	BREAKS("lost wake-up");
	/* Another fence, or one that adapters share. */
	self->list[1].fence = 2;
	OBEYS();
	self->list[1].fence = 1;
	self->list[1].kind = EVENT_SIGNAL;
	BREAKS("lost wake-up");
	ADD(CROSS, 'I', .fence = 1, .to_adapter = 1, .to_fence = 4);
	OBEYS();
}

TEST_F(check, no_wake_up_of_a_thread_is_lost)
{
	ADD(WAITER, 'I', .wait = 0x10, .fence = 1, .value = 2, .step = POINT_ARMED);
	BY_CPU(1, 7);
	ADD(WAITER, 'I', .wait = 0x10, .fence = 1, .value = 2, .by = 7, .step = POINT_REACHED,
	    .time = CHECK_WAKE_NS);
	OBEYS();
	/* It ends otherwise, long after it was due. */
	self->list[2].step = POINT_ENDED;
	BREAKS("lost wake-up");
	self->list[1].value = 1;
	OBEYS();
	/* Another wait ends, and this one does not. */
	self->list[1].value = 2;
	self->list[2].step = POINT_REACHED;
	self->list[2].wait = 0x18;
	BREAKS("lost wake-up");
}

TEST_F(check, who_is_woken_sees_his_value)
{
	ADD(WAITER, 'I', .wait = 0x10, .fence = 1, .value = 5, .step = POINT_ARMED);
	ADD(WAITER, 'I', .wait = 0x10, .fence = 1, .value = 5, .by = 5, .step = POINT_REACHED);
	OBEYS();
	self->list[1].by = 4;
	BREAKS("wake-up by too small a value");
}

TEST_F(check, a_wake_up_has_a_cause)
{
	CREATES(1);
	ADD(WAIT, 'B', .queue = 1, .fence = 1, .value = 5);
	BY_CPU(1, 5);
	ADD(WAIT, 'E', .queue = 1, .fence = 1, .value = 5, .by = 6);
	OBEYS();
	self->list[2].value = 4;
	BREAKS("wake-up without a cause");
	/* The fence is older than the trace: so may the signal be. */
	self->list[0].created = 0;
	OBEYS();
	self->list[0].created = 1;
	/* Taken away, and not released. */
	self->list[3].by = UINT64_MAX;
	OBEYS();
	self->list[3].by = 0;
	OBEYS();
}

/* Two queues signal a fence once, and then wait for each other's. */
static void circle(trace *self)
{
	CREATES(1);
	CREATES(2);
	TURN(3);
	ADD(SIGNAL, 'I', .queue = 3, .fence = 3, .value = 1);
	LEAVES(3, QUEUE_IDLE);
	TURN(1);
	ADD(SIGNAL, 'I', .queue = 1, .fence = 1, .value = 1);
	ADD(WAIT, 'B', .queue = 1, .fence = 2, .value = 2);
	LEAVES(1, QUEUE_BLOCKED);
	TURN(2);
	ADD(SIGNAL, 'I', .queue = 2, .fence = 2, .value = 1);
	ADD(WAIT, 'B', .queue = 2, .fence = 1, .value = 2);
	LEAVES(2, QUEUE_BLOCKED);
	ADD(DOORBELL, 'I', .queue = 9, .time = CHECK_WAKE_NS);
}

TEST_F(check, queues_do_not_wait_in_a_circle)
{
	circle(self);
	BREAKS("circle of waits");
	/* It has not lasted long. */
	self->list[13].time = self->list[12].time + 1;
	OBEYS();
	self->list[13].time += CHECK_WAKE_NS;
	BREAKS("circle of waits");
	/* Another queue, or a thread, has signaled it, too, and may again. */
	self->list[3].fence = 2;
	OBEYS();
	self->list[3].fence = 3;
	BY_CPU(2, 1);
	OBEYS();
}

/* ----------------------------------------------------------- monitored */

#define WAITER(f, v, s)	ADD(WAITER, 'I', .wait = 0x10, .fence = (f), .value = (v), .step = (s), \
			    .by = (s) == POINT_REACHED ? (v) : 0)
#define STORES(f, v)	ADD(MONITORED, 'I', .fence = (f), .value = (v))

TEST_F(check, the_monitored_value_follows_the_waits)
{
	CREATES(1);
	WAITER(1, 5, POINT_ARMED);
	STORES(1, 4);
	WAITER(1, 5, POINT_DISARMED);
	STORES(1, UINT64_MAX);
	ADD(DOORBELL, 'I', .queue = 9, .time = CHECK_WAKE_NS + STEP_NS);
	OBEYS();
	/* The change is too recent, or it is not. */
	self->list[4].fence = 2;
	self->list[5].time = self->list[3].time + CHECK_WAKE_NS;
	OBEYS();
	self->list[5].time++;
	BREAKS("monitored value not updated");
	/* Nobody has it open any more. */
	self->list[4] = (struct event){ .kind = EVENT_HANDLE, .fence = 1,
					.time = self->list[4].time };
	OBEYS();
}

TEST_F(check, a_wait_is_not_missed_by_the_monitored_value)
{
	CREATES(1);
	WAITER(1, 5, POINT_ARMED);
	STORES(1, 4);
	WAITER(1, 9, POINT_ARMED);
	WAITER(1, 12, POINT_ARMED);
	OBEYS();
	/* The least one is not there yet when the next change comes. */
	self->list[2].fence = 2;
	self->events.count = 4;
	BREAKS("monitored value not updated");
}

TEST_F(check, the_monitored_value_is_the_least_awaited_minus_one)
{
	CREATES(1);
	WAITER(1, 5, POINT_ARMED);
	STORES(1, 4);
	OBEYS();
	self->list[2].value = 5;
	BREAKS("wrong monitored value");
	self->list[2].value = 3;
	BREAKS("wrong monitored value");
	self->list[2].value = 4;
	WAITER(1, 3, POINT_ARMED);
	STORES(1, 2);
	OBEYS();
	self->list[4].value = 4;
	BREAKS("wrong monitored value");
}

TEST_F(check, an_interrupt_is_decided_by_the_monitored_value)
{
	ADD(DECIDE, 'I', .fence = 1, .value = 5, .monitored = 4, .interrupts = 1);
	OBEYS();
	self->list[0].interrupts = 0;
	BREAKS("interrupt");
	self->list[0].monitored = 5;
	OBEYS();
	self->list[0].interrupts = 1;
	BREAKS("interrupt");
}

TEST_F(check, an_engine_compares_with_a_value_that_was_there)
{
	CREATES(1);
	WAITER(1, 5, POINT_ARMED);
	STORES(1, 4);
	WAITER(1, 5, POINT_DISARMED);
	STORES(1, UINT64_MAX);
	WAITER(1, 9, POINT_ARMED);
	STORES(1, 8);
	ADD(SIGNAL, 'I', .queue = 1, .fence = 1, .value = 7);
	ADD(DECIDE, 'I', .queue = 1, .fence = 1, .value = 7, .monitored = 8);
	OBEYS();
	/* The last one may have come just then; the one before the last two not. */
	self->list[8].monitored = UINT64_MAX;
	OBEYS();
	self->list[8].monitored = 4;
	self->list[8].interrupts = 1;
	BREAKS("stale monitored value");
}

/* --------------------------------------------------------------- steps */

#define CREATES_QUEUE()	ADD(QUEUE, 'I', .queue = 1, .created = 1)
#define SUBMISSION(n, s) ADD(SUBMISSION, 'I', .queue = 1, .progress = (n), .step = SUBMISSION_ ## s)

TEST_F(check, submissions_end_in_order)
{
	CREATES_QUEUE();
	SUBMISSION(1, QUEUED);
	SUBMISSION(2, QUEUED);
	SUBMISSION(1, DONE);
	SUBMISSION(2, DONE);
	OBEYS();
	self->list[3].progress = 2;
	self->events.count = 4;
	BREAKS("submissions end out of order");
	/* The queue is older than the trace. */
	self->list[0].created = 0;
	OBEYS();
}

TEST_F(check, a_submission_goes_through_its_steps)
{
	CREATES_QUEUE();
	SUBMISSION(1, QUEUED);
	SUBMISSION(1, READY);
	SUBMISSION(1, ON_RING);
	SUBMISSION(1, FETCHED);
	SUBMISSION(1, DONE);
	OBEYS();
	self->list[3].step = SUBMISSION_READY;
	BREAKS("steps of a submission");
	self->list[3].step = SUBMISSION_FETCHED;
	BREAKS("steps of a submission");
	self->list[3].step = SUBMISSION_ON_RING;
	self->list[4].step = SUBMISSION_READY;
	BREAKS("steps of a submission");
}

TEST_F(check, a_submission_is_queued_first)
{
	CREATES_QUEUE();
	SUBMISSION(1, READY);
	SUBMISSION(1, DONE);
	BREAKS("steps of a submission");
	/* Not known of a queue that is older than the trace. */
	self->list[0].created = 0;
	OBEYS();
}

TEST_F(check, a_submission_that_waits_for_nothing_ends)
{
	CREATES_QUEUE();
	SUBMISSION(1, QUEUED);
	SUBMISSION(1, READY);
	ADD(DOORBELL, 'I', .queue = 9, .time = CHECK_SUBMISSION_NS - STEP_NS - 1);
	OBEYS();
	self->list[3].time++;
	BREAKS("submission without an end");
	/* It waits for something. */
	self->list[2].step = SUBMISSION_QUEUED;
	self->list[2].progress = 2;
	OBEYS();
	self->list[2].step = SUBMISSION_READY;
	self->list[2].progress = 1;
	SUBMISSION(1, DONE);
	OBEYS();
}

/* The GPU writes an entry to the log of the signals, and the driver reads it. */
#define WRITTEN(t)	ADD(LOG, 'I', .queue = 1, .log = 2, .value = 100 + (t), .gpu = (t))
#define READ(t)		ADD(SIGNAL_LOGGED, 'I', .queue = 1, .value = 100 + (t), .gpu = (t))
#define LOST(n)		ADD(LOG_LOST, 'I', .queue = 1, .log = 2, .lost = (n))

TEST_F(check, times_of_a_log_do_not_go_back)
{
	CREATES_QUEUE();
	WRITTEN(5);
	WRITTEN(5);
	READ(5);
	READ(5);
	OBEYS();
	self->list[2].gpu = self->list[4].gpu = 4;
	BREAKS("time of a log goes back");
}

TEST_F(check, an_entry_that_is_read_was_written)
{
	CREATES_QUEUE();
	WRITTEN(5);
	READ(5);
	OBEYS();
	self->list[2].value++;
	BREAKS("entry that was not written");
	self->list[2].value--;
	READ(5);
	BREAKS("entry that was not written");
	/* The two logs are apart. */
	self->events.count = 3;
	self->list[1].log = 1;
	BREAKS("entry that was not written");
	self->list[2].kind = EVENT_WAIT_LOGGED;
	OBEYS();
	self->list[1].log = 2;
	self->list[2].kind = EVENT_MARKER;
	OBEYS();
}

TEST_F(check, no_more_entries_are_lost_than_written)
{
	CREATES_QUEUE();
	WRITTEN(5);
	WRITTEN(6);
	LOST(2);
	OBEYS();
	self->list[3].lost = 3;
	BREAKS("more entries lost than written");
	self->list[3].lost = 1;
	READ(6);
	OBEYS();
	LOST(1);
	BREAKS("more entries lost than written");
	/* None was ever written. */
	self->events.count = 1;
	LOST(1);
	BREAKS("more entries lost than written");
}

TEST_F(check, an_entry_is_read_or_lost)
{
	CREATES_QUEUE();
	WRITTEN(5);
	WRITTEN(6);
	LOST(1);
	READ(6);
	OBEYS();
	self->list[3].queue = 2;
	BREAKS("entries neither read nor lost");
	/* It may be counted later. */
	LOST(1);
	OBEYS();
}

TEST_F(check, a_reset_goes_through_its_steps)
{
	unsigned int i;

	for (i = 1; i <= 9; i++)
		ADD(RECOVERY, 'I', .step = i);
	for (i = 2; i <= 9; i += 3)
		ADD(RECOVERY, 'I', .step = i);
	OBEYS();
	self->list[6].step = 6;
	BREAKS("steps of a reset");
	self->list[6].step = 7;
	/* Another node. */
	ADD(RECOVERY, 'I', .step = 4, .node = 1);
	OBEYS();
	self->list[12].node = 0;
	BREAKS("steps of a reset");
}

#define COMMAND(c)	ADD(WORLD, 'I', .command = VGPU_VF_SWITCH_CMD_ ## c)

TEST_F(check, a_world_switch_goes_through_its_steps)
{
	COMMAND(RUN);
	COMMAND(IDLE);
	COMMAND(SAVE);
	COMMAND(SHUTDOWN);
	COMMAND(INIT);
	COMMAND(RUN);
	OBEYS();
	self->list[2].group = 1;
	self->events.count = 4;
	BREAKS("steps of a world switch");
	/* A command that failed has changed nothing that is known. */
	self->list[1].result = -5;
	OBEYS();
	/* Functions of an adapter have its groups in common. */
	self->list[1].result = 0;
	self->list[2].group = 0;
	self->list[2].function = 1;
	OBEYS();
	/* The owner has gone, or the first one comes. */
	self->list[3].command = VGPU_VF_SWITCH_CMD_IDLE;
	OBEYS();
	COMMAND(LOAD);
	COMMAND(RUN);
	OBEYS();
	COMMAND(SAVE);
	BREAKS("steps of a world switch");
}

/* ---------------------------------------------------------------- gaps */

#define GAP(ns)	ADD(LOST, 'I', .from = self->list[self->events.count - 1].time + 1, .time = (ns), \
		    .lost = 5)

TEST_F(check, nothing_is_known_behind_a_gap)
{
	TURN(1);
	ADD(WAIT, 'B', .queue = 2, .fence = 1, .value = 1);
	BY_CPU(1, 1);
	GAP(CHECK_WAKE_NS);
	TURN(3);
	OBEYS();
	/* The same without the gap. */
	self->list[3].kind = EVENT_DOORBELL;
	self->list[4].node = 1;
	BREAKS("lost wake-up");
}

TEST_F(check, each_part_is_checked)
{
	TURN(1);
	LEAVES(1, QUEUE_IDLE);
	GAP(10);
	TURN(2);
	LEAVES(2, QUEUE_IDLE);
	OBEYS();
	/* Before the gap, and behind the last one. */
	self->list[1].queue = 9;
	BREAKS("end of a turn that is none");
	self->list[1].queue = 1;
	self->list[4].queue = 9;
	BREAKS("end of a turn that is none");
}

TEST_F(check, events_of_the_gpu_must_be_there)
{
	const char *rule = NULL;
	char first[CHECK_TEXT];

	ADD(HANDLED, 'I', .queue = 1);
	EXPECT_EQ(-ENODATA, check_list(&self->events, &rule, first));
	ADD(DOORBELL, 'I', .queue = 1);
	OBEYS();
	self->events.count = 1;
	self->list[0].kind = EVENT_SIGNAL_LOGGED;
	EXPECT_EQ(-ENODATA, check_list(&self->events, &rule, first));
	self->list[0].kind = EVENT_CPU_SIGNAL;
	OBEYS();
}

TEST_HARNESS_MAIN
