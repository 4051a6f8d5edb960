// SPDX-License-Identifier: GPL-2.0-only
/* Of a trace to a scenario: what engines execute are the packets of submissions. */

#include <stdlib.h>
#include <string.h>

#include "replay_objects.h"
#include "vfence.h"

/*
 * Work that an engine has interrupted was made of several draws, and so is work of more than
 * this: an engine takes a draw that keeps others off it for longer as hung.
 */
#define MOST_WORK_NS	50000000
#define PIECE_NS	1000000
/* Work of less than this between two packets is that of the engine itself. */
#define LEAST_WORK_NS	6000

/* Return: the packets of the submission that the engine executes, or NULL. */
static struct json_object *replay_packets(struct replay *r, struct replay_queue *q, uint64_t time)
{
	struct json_object *step;

	if (q->open_count)
		return q->open[0];
	if (q->kernel)
		return NULL;
	step = client_submit(q->client, q->name, time, &q->open, &q->open_count);
	if (!step)
		r->no_memory = true;
	return step ? q->open[0] : NULL;
}

/* Add a packet. Return: the packet, or NULL if there is none, and then @value is freed. */
static struct json_object *replay_packet(struct replay *r, struct replay_queue *q, uint64_t time,
					 const char *key, struct json_object *value)
{
	struct json_object *packets = replay_packets(r, q, time), *packet;

	if (!packets || !value) {
		json_object_put(value);
		return NULL;
	}
	packet = json_object_new_object();
	json_object_object_add(packet, key, value);
	json_object_array_add(packets, packet);
	return packet;
}

/* The engine was busy with a packet itself: the work of the next one begins now. */
static void replay_rest(struct replay_queue *q, uint64_t time)
{
	q->worked = 0;
	q->turns = q->since != 0;
	q->since = q->since ? time : 0;
}

/* The queue has come to a packet: what it has done since the last one was work. */
static void replay_work(struct replay *r, struct replay_queue *q, uint64_t time)
{
	uint64_t ns = q->worked + (q->since ? time - q->since : 0), count = 1;
	struct json_object *packet;
	char text[32];

	if (q->turns > 1 || ns > MOST_WORK_NS)
		count = (ns + PIECE_NS - 1) / PIECE_NS;
	count = count < UINT32_MAX ? count : UINT32_MAX;
	replay_rest(q, time);
	if (ns < LEAST_WORK_NS)
		return;
	ns /= count;
	snprintf(text, sizeof(text), "%llu.%llu", (unsigned long long)(ns / 1000),
		 (unsigned long long)(ns / 100 % 10));
	packet = replay_packet(r, q, time, "draw_us",
			       json_object_new_double_s((double)ns / 1000, text));
	if (packet && count > 1)
		json_object_object_add(packet, "count", json_object_new_uint64(count));
}

void replay_turn(struct replay *r, const struct event *e)
{
	struct replay_queue *q = replay_queue(r, e);

	if (!q)
		return;
	replay_link(r, &r->running, event_key(e, e->node), e->type == 'B' ? q->key : 0);
	if (e->type == 'B') {
		q->since = e->time;
		q->turns++;
	} else if (q->since) {
		q->worked += e->time - q->since;
		q->since = 0;
		if (q->worked < LEAST_WORK_NS)
			replay_rest(q, e->time);
	}
}

static void replay_add_wait(struct replay *r, struct replay_queue *q, uint64_t fence,
			    const struct event *e)
{
	struct json_object *point = replay_point(r, fence, e->value, q->client);

	replay_work(r, q, e->time);
	if (!point)
		r->waits_left_out++;
	replay_packet(r, q, e->time, "wait", point);
}

/* A queue is blocked. */
void replay_blocked(struct replay *r, const struct event *e)
{
	struct replay_queue *q = replay_queue(r, e);

	/* The waits of a kernel-mode queue are points of its submissions. */
	if (!q || q->kernel || e->type != 'B')
		return;
	/* One that was released, and blocked again before it has looked, is in the same packet. */
	if (q->waits_for != event_key(e, e->fence))
		replay_add_wait(r, q, event_key(e, e->fence), e);
	q->waits_for = event_key(e, e->fence);
}

/*
 * An entry of a log. If it is of a wait, that is over. Its fence is the one for which the queue was
 * blocked, or the driver has read it in the entry.
 */
void replay_logged(struct replay *r, const struct event *e)
{
	struct replay_queue *q = replay_queue(r, e);
	uint64_t fence;

	if (!q)
		return;
	if (q->kernel || e->log != DRM_VFENCE_LOG_WAITS) {
		replay_rest(q, e->time);
		return;
	}
	if (!q->waits_for) {
		fence = replay_linked(&r->logged, replay_entry_key(e));
		if (fence)
			replay_add_wait(r, q, fence, e);
		else
			r->waits_left_out++;
	}
	q->waits_for = 0;
	replay_rest(q, e->time);
}

/* The engine has released those that waited, the last part of a signal. */
void replay_decided(struct replay *r, const struct event *e)
{
	struct replay_queue *q = replay_queue(r, e);

	if (q)
		replay_rest(q, e->time);
}

void replay_signal(struct replay *r, const struct event *e)
{
	struct replay_queue *q = replay_queue(r, e);
	uint64_t fence = event_key(e, e->fence);

	if (!q)
		return;
	replay_work(r, q, e->time);
	if (fence != q->progress) {
		replay_packet(r, q, e->time, "signal", replay_point(r, fence, e->value, q->client));
		return;
	}
	/* The progress fence: the submission has ended. One without packets has just begun. */
	if (replay_packets(r, q, e->time))
		memmove(q->open, q->open + 1, --q->open_count * sizeof(*q->open));
}

/* A submission of a kernel-mode queue, whose points were placed before. */
void replay_submission(struct replay *r, const struct event *e)
{
	struct replay_queue *q = replay_queue(r, e);
	struct replay_client *submitter;
	struct json_object *step;

	if (!q || e->step != SUBMISSION_QUEUED)
		return;
	q->kernel = true;
	step = client_submit(q->client, q->name, e->time, &q->open, &q->open_count);
	submitter = replay_client(r, e, e->pid);
	if (!step || !submitter) {
		r->no_memory = true;
		return;
	}
	/* The names of a client's points are its own. */
	if (submitter->waits && submitter == q->client) {
		json_object_object_add(step, "waits", submitter->waits);
	} else if (submitter->waits) {
		r->waits_left_out += (unsigned int)json_object_object_length(submitter->waits);
		json_object_put(submitter->waits);
	}
	submitter->waits = NULL;
}

/* The engine is reset: the queue that was on it is the one that has hung. */
void replay_recovery(struct replay *r, const struct event *e)
{
	uint64_t key = replay_linked(&r->running, event_key(e, e->node));
	struct replay_queue *q = key ? table_find(&r->queues, key) : NULL;

	if (!q)
		return;
	replay_link(r, &r->running, event_key(e, e->node), 0);
	replay_packet(r, q, e->time, "hang", json_object_new_boolean(1));
}
