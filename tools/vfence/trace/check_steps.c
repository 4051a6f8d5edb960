// SPDX-License-Identifier: GPL-2.0-only
/*
 * Submissions, resets of engines and world switches go through their steps in order. A submission
 * ends in bounded time, as other drivers wait for its dma_fence. The driver reads each entry of a log
 * or counts it as lost, and the times of the entries do not go back.
 */

#include <stdlib.h>

#include "check.h"
#include "vgpu_vf_switch.h"

/* A submission that has not ended. */
struct submission {
	uint64_t key;
	uint32_t at, ready;
};

struct queue {
	uint64_t key;
	/* The trace has its creation; and which of its submissions has ended last. */
	bool known;
	uint64_t done;
	/* How many queues have had this number: it begins again with an adapter that is bound again. */
	uint64_t lives;
};

/* A log of a queue: what the GPU has written and the driver has not read, indices of events. */
struct log {
	uint64_t key;
	struct places entries;
	unsigned int first;
	/* Entries that the driver has passed over, and has not counted as lost. */
	uint64_t passed;
	uint32_t last;
};

/* The last step of a reset, or the state of a group of engines. */
struct steps {
	uint64_t key;
	uint32_t at;
	int state;
};

struct state {
	struct table submissions, queues, logs, resets, groups;
};

static void *steps_begin(void)
{
	struct state *s = calloc(1, sizeof(*s));

	if (s) {
		s->submissions.size = sizeof(struct submission);
		s->queues.size = sizeof(struct queue);
		s->logs.size = sizeof(struct log);
		s->resets.size = sizeof(struct steps);
		s->groups.size = sizeof(struct steps);
	}
	return s;
}

static struct queue *steps_queue(struct check *check, struct state *s, const struct event *e)
{
	struct queue *q = table_get(&s->queues, event_key(e, e->queue));

	if (!q)
		check->no_memory = true;
	return q;
}

static void steps_done(struct check *check, struct queue *q, const struct event *e, uint32_t at)
{
	if (q->known && e->progress != q->done + 1)
		check_found(check, "submissions end out of order", &at, 1,
			    "submission %llu of queue %u ends after %llu",
			    (unsigned long long)e->progress, e->queue,
			    (unsigned long long)q->done);
	q->done = e->progress;
}

static void steps_submission(struct check *check, struct state *s, const struct event *e,
			     uint32_t at)
{
	struct queue *q = steps_queue(check, s, e);
	uint64_t key = table_mix(table_mix(event_key(e, e->queue), q ? q->lives : 0), e->progress);
	struct submission *last = table_find(&s->submissions, key);
	uint32_t proof[] = { last ? last->at : NO_EVENT, at };

	if (last && check->events->list[last->at].step >= e->step)
		check_found(check, "steps of a submission", proof, 2,
			    "submission %llu of queue %u comes to step %u again or back",
			    (unsigned long long)e->progress, e->queue, e->step);
	if (!q)
		return;
	if (!last && q->known && e->step != SUBMISSION_QUEUED)
		check_found(check, "steps of a submission", proof, 2,
			    "submission %llu of queue %u was never queued",
			    (unsigned long long)e->progress, e->queue);
	if (e->step == SUBMISSION_DONE) {
		steps_done(check, q, e, at);
		if (last)
			table_remove(&s->submissions, last);
		return;
	}
	last = table_get(&s->submissions, key);
	if (!last) {
		check->no_memory = true;
		return;
	}
	last->at = at;
	if (e->step == SUBMISSION_READY)
		last->ready = at;
}

/* The two logs of a queue have a number each. */
static uint64_t log_key(const struct event *e, const struct queue *q, uint64_t type)
{
	return table_mix(table_mix(event_key(e, e->queue), q->lives), type);
}

/* Return: the log, or NULL if the queue is older than the trace. */
static struct log *steps_log(struct check *check, struct state *s, const struct event *e,
			     uint64_t type)
{
	const struct queue *q = table_find(&s->queues, event_key(e, e->queue));
	struct log *log;

	if (!q || !q->known)
		return NULL;
	log = table_get(&s->logs, log_key(e, q, type));
	if (!log)
		check->no_memory = true;
	return log;
}

static void steps_written(struct check *check, struct state *s, const struct event *e, uint32_t at)
{
	struct log *log = steps_log(check, s, e, e->log);

	if (log && !places_add(&log->entries, at))
		check->no_memory = true;
}

/* The driver has read an entry. Those before it, which it has not read, must have been lost. */
static void steps_read(struct check *check, struct state *s, const struct event *e, uint32_t at,
		       uint64_t type)
{
	struct log *log = steps_log(check, s, e, type);
	uint32_t proof[] = { NO_EVENT, at };
	unsigned int i;

	if (!log)
		return;
	if (log->last && check->events->list[log->last].gpu > e->gpu) {
		proof[0] = log->last;
		check_found(check, "time of a log goes back", proof, 2,
			    "an entry of queue %u is older than the one before it", e->queue);
	}
	log->last = at;
	for (i = log->first; i < log->entries.count; i++) {
		const struct event *entry = &check->events->list[log->entries.at[i]];

		if (entry->value != e->value || entry->gpu != e->gpu)
			continue;
		log->passed += i - log->first;
		log->first = i + 1;
		return;
	}
	check_found(check, "entry that was not written", proof, 2,
		    "the GPU has not written this entry to a log of queue %u, or it was read before",
		    e->queue);
}

static void steps_lost(struct check *check, struct state *s, const struct event *e, uint32_t at)
{
	struct log *log = steps_log(check, s, e, e->log);
	uint32_t proof[] = { log && log->last ? log->last : NO_EVENT, at };
	uint64_t unread;

	if (!log)
		return;
	/* All that was written may be lost: then no entry was read after it. */
	unread = log->passed + log->entries.count - log->first;
	if (e->lost > unread)
		check_found(check, "more entries lost than written", proof, 2,
			    "%llu entries of queue %u are lost, and %llu were not read",
			    (unsigned long long)e->lost, e->queue, (unsigned long long)unread);
	if (e->lost <= log->passed) {
		log->passed -= e->lost;
		return;
	}
	log->first += (unsigned int)(e->lost - log->passed);
	log->first = log->first < log->entries.count ? log->first : log->entries.count;
	log->passed = 0;
}

/* The nine steps of a reset; some are left out if the reset climbs or there is nothing to do. */
static void steps_recovery(struct check *check, struct state *s, const struct event *e,
			   uint32_t at)
{
	struct steps *steps = table_get(&s->resets, event_key(e, e->node));
	uint32_t proof[] = { steps && steps->state ? steps->at : NO_EVENT, at };

	if (!steps) {
		check->no_memory = true;
		return;
	}
	/* A new one begins with the first or the second step. */
	if (e->step > 2 && steps->state && (int)e->step <= steps->state)
		check_found(check, "steps of a reset", proof, 2,
			    "the reset of node %u comes to step %u after step %d", e->node,
			    e->step, steps->state);
	steps->state = (int)e->step;
	steps->at = at;
}

static void steps_world(struct check *check, struct state *s, const struct event *e, uint32_t at)
{
	const struct event adapter = { .adapter = e->adapter };
	struct steps *steps = table_get(&s->groups, event_key(&adapter, e->group));
	uint32_t proof[] = { steps && steps->state ? steps->at : NO_EVENT, at };
	int after;

	if (!steps) {
		check->no_memory = true;
		return;
	}
	/* A command that has failed has changed nothing, or a reset follows. */
	if (e->result) {
		steps->state = 0;
		return;
	}
	/* States count from 1 here: 0 is not known. */
	after = steps->state ? vgpu_vf_switch_after((enum vgpu_vf_switch_state)(steps->state - 1),
						e->command) : -1;
	/* The owner has gone, or the first one has come, which is no command. */
	if (after < 0 && (e->command == VGPU_VF_SWITCH_CMD_IDLE || e->command == VGPU_VF_SWITCH_CMD_LOAD ||
			  e->command == VGPU_VF_SWITCH_CMD_INIT))
		after = e->command == VGPU_VF_SWITCH_CMD_IDLE ? VGPU_VF_SWITCH_IDLE : VGPU_VF_SWITCH_LOADED;
	if (steps->state && after < 0)
		check_found(check, "steps of a world switch", proof, 2,
			    "group %u gets command 0x%x, which is not legal there", e->group,
			    e->command);
	if (!steps->state && e->command == VGPU_VF_SWITCH_CMD_RUN)
		after = VGPU_VF_SWITCH_RUN;
	steps->state = after + 1;
	steps->at = at;
}

static void steps_event(struct check *check, void *state, const struct event *e, uint32_t at)
{
	struct queue *q;

	switch (e->kind) {
	case EVENT_QUEUE:
		q = steps_queue(check, state, e);
		if (q && e->created)
			*q = (struct queue){ .key = q->key, .known = true, .lives = q->lives + 1 };
		break;
	case EVENT_SUBMISSION:
		steps_submission(check, state, e, at);
		break;
	case EVENT_LOG:
		steps_written(check, state, e, at);
		break;
	case EVENT_SIGNAL_LOGGED:
	case EVENT_MARKER:
		steps_read(check, state, e, at, 2);
		break;
	case EVENT_WAIT_LOGGED:
		steps_read(check, state, e, at, 1);
		break;
	case EVENT_LOG_LOST:
		steps_lost(check, state, e, at);
		break;
	case EVENT_RECOVERY:
		steps_recovery(check, state, e, at);
		break;
	case EVENT_WORLD:
		steps_world(check, state, e, at);
		break;
	default:
		break;
	}
}

/* A submission that waits for nothing has a dma_fence that has to end. */
static void steps_unended(void *entry, void *context)
{
	struct check *check = context;
	const struct submission *submission = entry;
	const struct event *last = &check->events->list[check->events->count - 1], *e;
	uint32_t proof[] = { submission->ready, submission->at };

	if (!submission->ready)
		return;
	e = &check->events->list[submission->ready];
	if (e->time + CHECK_SUBMISSION_NS > last->time)
		return;
	check_found(check, "submission without an end", proof,
		    submission->at == submission->ready ? 1 : 2,
		    "submission %llu of queue %u waits for nothing and has not ended after %llu ms",
		    (unsigned long long)e->progress, e->queue,
		    (unsigned long long)((last->time - e->time) / 1000000));
}

/* Entries that were passed over, and never counted. */
static void steps_uncounted(void *entry, void *context)
{
	const struct log *log = entry;

	if (log->passed)
		check_found(context, "entries neither read nor lost", &log->last, 1,
			    "%llu entries before this one were not read and not counted as lost",
			    (unsigned long long)log->passed);
}

static void log_free(void *entry)
{
	free(((struct log *)entry)->entries.at);
	free(entry);
}

static void steps_end(struct check *check, void *state, bool last)
{
	struct state *s = state;

	if (last)
		table_each(&s->submissions, steps_unended, check);
	if (last)
		table_each(&s->logs, steps_uncounted, check);
	table_free(&s->submissions, NULL);
	table_free(&s->queues, NULL);
	table_free(&s->logs, log_free);
	table_free(&s->resets, NULL);
	table_free(&s->groups, NULL);
	free(s);
}

const struct checker check_steps = { steps_begin, steps_event, steps_end };
