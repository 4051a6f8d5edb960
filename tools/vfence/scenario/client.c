// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client of a scenario: a process that opens its adapter, has fences, queues and events, and does
 * its steps one after the other. The first step whose result is not the expected one ends it.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "stage.h"
#include "switch.h"
#include "vfence.h"

#define RING	(1u << 20)
#define MS	1000000
/* How long the state of a device may take to be the expected one. */
#define STATE_MS	5000

struct client {
	struct stage *stage;
	const struct script *script;
	struct client_report *report;
	uint32_t index;
	struct vf_adapter *adapter;
	struct vf_device *device;
	/* By the index in the scenario; NULL for those that the client does not name. */
	struct vf_fence **fences;
	struct vf_queue **queues;
	int *events;
	/* What FILL and COPY write, and behind it what COPY reads. */
	struct vf_buffer *buffer;
	/* Room for the points of a step. */
	struct vf_point *waits, *signals;
	uint64_t round;
};

static int client_points(struct client *c, const struct points *from, struct vf_point *to)
{
	unsigned int i;

	for (i = 0; i < from->count; i++) {
		const struct point *p = &from->list[i];

		to[i].fence = p->fence == NO_INDEX ? vf_queue_progress(c->queues[p->queue]) :
						     c->fences[p->fence];
		to[i].value = scenario_number(&p->value, c->round);
	}
	return (int)from->count;
}

/* ----------------------------------------------------------------- packets */

static void put_raw(struct vf_queue *queue, uint16_t opcode)
{
	const struct drm_vfence_packet_header packet = {
		.opcode = opcode, .length = sizeof(packet),
	};

	vf_cmd_raw(queue, &packet, sizeof(packet));
}

static void put_points(struct client *c, struct vf_queue *queue, const struct packet *packet)
{
	int i, count = client_points(c, &packet->points, c->waits);

	if (packet->kind == PACKET_KEPT_WAIT)
		vf_cmd_wait_kept(queue, c->waits, (unsigned int)count);
	else
		for (i = 0; i < count; i++)
			(packet->kind == PACKET_WAIT ? vf_cmd_wait : vf_cmd_signal)
				(queue, c->waits[i].fence, c->waits[i].value);
}

static void put_packet(struct client *c, struct vf_queue *queue, const struct packet *packet)
{
	uint64_t va = c->buffer ? vf_buffer_va(c->buffer) : 0;

	switch (packet->kind) {
	case PACKET_DRAW:
		vf_cmd_draw(queue, packet->count, packet->size);
		break;
	case PACKET_FILL:
		vf_cmd_fill(queue, va, packet->size, (uint32_t)c->round);
		break;
	case PACKET_COPY:
		vf_cmd_copy(queue, va, va + c->script->buffer, packet->size);
		break;
	case PACKET_MARKER:
		vf_cmd_marker(queue, scenario_number(&packet->marker, c->round));
		break;
	case PACKET_HANG:
		put_raw(queue, DRM_VFENCE_OP_HANG);
		break;
	case PACKET_INVALID:
		put_raw(queue, 0xffff);
		break;
	default:
		put_points(c, queue, packet);
	}
}

/* ------------------------------------------------------------------- steps */

static int submit_once(struct client *c, struct vf_queue *queue, const struct step *step)
{
	struct vf_submit what = { .waits = c->waits, .signals = c->signals };
	unsigned int i;

	for (i = 0; i < step->packet_count; i++)
		put_packet(c, queue, &step->packets[i]);
	if (!step->waits.count && !step->signals.count)
		return vf_queue_submit(queue);
	what.wait_count = (unsigned int)client_points(c, &step->waits, c->waits);
	what.signal_count = (unsigned int)client_points(c, &step->signals, c->signals);
	return vf_submit(&queue, 1, &what);
}

/* If the ring is full, wait until the next submission is done. */
static int step_submit(struct client *c, const struct step *step, int64_t deadline)
{
	struct vf_queue *queue = c->queues[step->object];
	struct vf_fence *progress = vf_queue_progress(queue);
	uint64_t done;
	int ret;

	for (;;) {
		ret = submit_once(c, queue, step);
		done = vf_fence_current(progress);
		if (ret != -ENOSPC || done >= vf_queue_last_queued(queue))
			return ret;
		ret = vf_fence_wait(progress, done + 1, deadline);
		if (ret)
			return ret;
	}
}

static int step_wait(struct client *c, const struct step *step, int64_t deadline)
{
	int count = client_points(c, &step->waits, c->waits);

	return vf_wait(c->adapter, c->waits, (unsigned int)count,
		       step->any ? DRM_VFENCE_WAIT_ANY : 0, deadline, NULL);
}

static int step_signal(struct client *c, const struct step *step, int64_t deadline)
{
	int count = client_points(c, &step->signals, c->signals);

	(void)deadline;
	return vf_signal(c->adapter, c->signals, (unsigned int)count);
}

static int step_arm(struct client *c, const struct step *step, int64_t deadline)
{
	int count = client_points(c, &step->waits, c->waits), ret;

	(void)deadline;
	ret = vf_event_arm(c->adapter, c->waits, (unsigned int)count,
			   step->any ? DRM_VFENCE_WAIT_ANY : 0, c->events[step->object], NULL);
	return ret < 0 ? ret : 0;
}

static int step_collect(struct client *c, const struct step *step, int64_t deadline)
{
	struct pollfd event = { .fd = c->events[step->object], .events = POLLIN };
	uint64_t left, count;
	int ret;

	do {
		left = (uint64_t)deadline > stage_now() ? (uint64_t)deadline - stage_now() : 0;
		ret = poll(&event, 1, (int)((left + MS - 1) / MS));
	} while (ret < 0 && errno == EINTR);
	if (ret <= 0)
		return ret ? -errno : -ETIME;
	return read(event.fd, &count, sizeof(count)) == sizeof(count) ? 0 : -errno;
}

static int step_idle(struct client *c, const struct step *step, int64_t deadline)
{
	return vf_queue_wait_idle(c->queues[step->object], deadline);
}

static int step_suspend(struct client *c, const struct step *step, int64_t deadline)
{
	(void)deadline;
	return vf_queue_suspend(c->queues[step->object], NULL);
}

static int step_resume(struct client *c, const struct step *step, int64_t deadline)
{
	(void)deadline;
	return vf_queue_resume(c->queues[step->object]);
}

static int step_abort(struct client *c, const struct step *step, int64_t deadline)
{
	(void)deadline;
	return vf_queue_abort(c->queues[step->object]);
}

static int step_sleep(struct client *c, const struct step *step, int64_t deadline)
{
	uint64_t until = stage_now() + step->amount;
	const struct timespec t = { (time_t)(until / 1000000000), (long)(until % 1000000000) };

	(void)c;
	(void)deadline;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
	return 0;
}

static int step_fault(struct client *c, const struct step *step, int64_t deadline)
{
	(void)deadline;
	return switch_inject(c->adapter, step->fault, step->text);
}

/* The process dies as one that is killed: the kernel cleans up. */
static int step_exit(struct client *c, const struct step *step, int64_t deadline)
{
	(void)c;
	(void)step;
	(void)deadline;
	kill(getpid(), SIGKILL);
	return -EINTR;
}

static int (*const step_functions[STEP_KINDS])(struct client *c, const struct step *step,
					       int64_t deadline) = {
	[STEP_SUBMIT] = step_submit, [STEP_WAIT] = step_wait, [STEP_SIGNAL] = step_signal,
	[STEP_ARM] = step_arm, [STEP_COLLECT] = step_collect, [STEP_IDLE] = step_idle,
	[STEP_SUSPEND] = step_suspend, [STEP_RESUME] = step_resume, [STEP_ABORT] = step_abort,
	[STEP_SLEEP] = step_sleep, [STEP_FAULT] = step_fault, [STEP_EXIT] = step_exit,
};

static const char *result_name(int result)
{
	const char *name = strerrorname_np(-result);

	return !result ? "ok" : name ? name : "an error";
}

/* A step was not as expected. @more: what the kind of the verdict does not have. Return: false. */
static bool client_fails(struct client *c, const struct step *step, const char *what,
			 const char *more)
{
	struct verdict *v = &c->report->verdict;

	c->report->failed_at = stage_now();
	snprintf(v->kind, sizeof(v->kind), "%s, %s: %s", c->script->name,
		 scenario_step_name(step->kind), what);
	snprintf(v->text, sizeof(v->text), "%s, step %u (%s): %s%s", c->script->name, step->number,
		 scenario_step_name(step->kind), what, more);
	return false;
}

static bool client_judge(struct client *c, const struct step *step, int result, uint64_t ns)
{
	char what[80], more[80];

	if (result != step->expect) {
		snprintf(what, sizeof(what), "%s, and %s was expected", result_name(result),
			 result_name(step->expect));
		return client_fails(c, step, what, "");
	}
	if (ns >= step->least_ns && ns <= step->most_ns)
		return true;
	snprintf(more, sizeof(more), ": it took %llu.%03u us", (unsigned long long)(ns / 1000),
		 (unsigned int)(ns % 1000));
	return client_fails(c, step, ns < step->least_ns ? "too short" : "too long", more);
}

static bool client_begin_step(struct client *c, const struct step *step)
{
	char what[120];
	unsigned int i;

	for (i = 0; i < step->after.count; i++) {
		uint32_t label = step->after.list[i];

		if (!stage_await_label(c->stage, label, vf_deadline(step->timeout_ns)))
			continue;
		snprintf(what, sizeof(what), "%s did not end",
			 c->stage->scenario->labels[label]);
		return client_fails(c, step, what, "");
	}
	return true;
}

static bool client_do_steps(struct client *c, const struct step *steps, unsigned int count);

static bool client_repeat(struct client *c, const struct step *step)
{
	bool ok = true;

	for (c->round = 1; ok && c->round <= step->amount; c->round++)
		ok = client_do_steps(c, step->steps, step->step_count);
	c->round = 0;
	return ok;
}

static bool client_do_step(struct client *c, const struct step *step)
{
	uint64_t begun;
	int result;

	if (!client_begin_step(c, step))
		return false;
	begun = stage_now();
	result = step_functions[step->kind](c, step, vf_deadline(step->timeout_ns));
	if (step->label != NO_INDEX)
		stage_end_label(c->stage, step->label);
	c->report->steps++;
	return client_judge(c, step, result, stage_now() - begun);
}

static bool client_do_steps(struct client *c, const struct step *steps, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (steps[i].kind == STEP_REPEAT ? !client_repeat(c, &steps[i]) :
						   !client_do_step(c, &steps[i]))
			return false;
	return true;
}

/* -------------------------------------------------------- beginning and end */

static bool client_crosses(const struct client *c, const struct scripted_fence *fence)
{
	const struct scenario *s = c->stage->scenario;
	uint32_t i;

	for (i = 0; i < s->client_count; i++)
		if (fence->users >> i & 1 && stage_adapter(c->stage, &s->clients[i]) !=
					     stage_adapter(c->stage, c->script))
			return true;
	return false;
}

static int client_make_fence(struct client *c, const struct scripted_fence *fence,
			     struct vf_fence **made)
{
	uint32_t flags = 0;

	if (stage_is_shared(fence))
		flags = DRM_VFENCE_FENCE_SHAREABLE;
	if (client_crosses(c, fence))
		flags |= DRM_VFENCE_FENCE_CROSS_ADAPTER;
	if (fence->monitored)
		return vf_monitored_fence_create(c->device, flags, fence->value, made);
	return vf_fence_create(c->device, flags, fence->value, made);
}

/* Create the fences, and send the parent a descriptor of each one that others have, too. */
static int client_make_fences(struct client *c, int sock)
{
	const struct scenario *s = c->stage->scenario;
	int ret = 0, fd;
	uint32_t i;

	for (i = 0; !ret && i < s->fence_count; i++) {
		if (s->fences[i].owner != c->index)
			continue;
		ret = client_make_fence(c, &s->fences[i], &c->fences[i]);
		if (ret || !stage_is_shared(&s->fences[i]))
			continue;
		fd = vf_fence_export(c->fences[i]);
		ret = fd < 0 ? fd : vf_send_fd(sock, fd);
		if (fd >= 0)
			close(fd);
	}
	return ret;
}

static int client_open_fences(struct client *c, int sock)
{
	const struct scenario *s = c->stage->scenario;
	int ret = 0, fd;
	uint32_t i;

	for (i = 0; !ret && i < s->fence_count; i++) {
		if (!stage_shares(&s->fences[i], c->index))
			continue;
		fd = vf_recv_fd(sock);
		ret = fd < 0 ? fd : vf_fence_open(c->device, fd, &c->fences[i]);
		if (fd >= 0)
			close(fd);
	}
	return ret;
}

static int client_make_queue(struct client *c, const struct scripted_queue *queue,
			     struct vf_queue **made)
{
	int node = vf_adapter_find_node(c->adapter, queue->node_class);

	/* Kernel-mode queues are for all nodes, of which each class has one. */
	if (queue->kernel)
		return vf_kernel_queue_create(c->device, queue->node_class, made);
	return node < 0 ? node : vf_queue_create(c->device, (unsigned int)node, RING, made);
}

static int client_make_rest(struct client *c)
{
	const struct script *script = c->script;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < script->queue_count; i++)
		ret = client_make_queue(c, &script->queues[i], &c->queues[i]);
	for (i = 0; !ret && i < script->event_count; i++) {
		c->events[i] = eventfd(0, EFD_CLOEXEC);
		ret = c->events[i] < 0 ? -errno : 0;
	}
	if (!ret && script->buffer)
		ret = vf_buffer_create(c->adapter, 2 * script->buffer, &c->buffer);
	return ret;
}

static int client_allocate(struct client *c)
{
	const struct scenario *s = c->stage->scenario;
	size_t points = s->fence_count + c->script->queue_count + 1;

	c->fences = calloc(s->fence_count + 1, sizeof(struct vf_fence *));
	c->queues = calloc(c->script->queue_count + 1, sizeof(struct vf_queue *));
	c->events = calloc(c->script->event_count + 1, sizeof(*c->events));
	c->waits = calloc(points, sizeof(*c->waits));
	c->signals = calloc(points, sizeof(*c->signals));
	return c->fences && c->queues && c->events && c->waits && c->signals ? 0 : -ENOMEM;
}

/* Return: false after an error, which it has reported. */
static bool client_prepare(struct client *c, int sock)
{
	struct verdict *v = &c->report->verdict;
	const char *what = "the adapter";
	int ret = client_allocate(c);

	if (!ret)
		ret = vf_adapter_open(stage_adapter(c->stage, c->script), &c->adapter);
	if (!ret)
		ret = vf_device_create(c->adapter, &c->device);
	if (!ret) {
		what = "its queues";
		ret = client_make_rest(c);
	}
	if (!ret) {
		what = "its fences";
		ret = client_make_fences(c, sock);
	}
	if (!ret)
		ret = client_open_fences(c, sock);
	if (!ret)
		return true;
	c->report->failed_at = stage_now();
	c->report->error = ret;
	snprintf(v->text, sizeof(v->text), "%s cannot have %s: %s", c->script->name, what,
		 strerror(-ret));
	snprintf(v->kind, sizeof(v->kind), "%s", v->text);
	return false;
}

static void client_report_fence(struct client *c, uint32_t i)
{
	struct fence_report *report = &c->stage->fences[i];
	struct drm_vfence_fence_info q;

	if (!c->fences[i] || vf_fence_query(c->fences[i], &q))
		return;
	report->number[FENCE_VALUE] = q.current_value;
	report->number[FENCE_MONITORED] = q.monitored_value;
	report->number[FENCE_INTERRUPTS] = q.interrupts;
	report->number[FENCE_SPURIOUS] = q.spurious;
	report->number[FENCE_WOKEN] = q.woken;
	report->number[FENCE_SIGNALS] = q.signals;
	report->known = true;
}

/* The driver may find later than the client that the device is lost. */
static void client_report_device(struct client *c)
{
	const struct scenario *s = c->stage->scenario;
	uint64_t until = stage_now() + (uint64_t)STATE_MS * MS;
	const struct timespec pause = { .tv_nsec = MS };
	unsigned int i, expected = 0;

	for (i = 0; i < s->device_claim_count; i++)
		if (s->device_claims[i].client == c->index)
			expected = s->device_claims[i].state;
	do
		c->report->device_state = vf_device_state(c->device);
	while (expected && c->report->device_state != (int)expected && stage_now() < until &&
	       !nanosleep(&pause, NULL));
}

static void client_report(struct client *c)
{
	const struct scenario *s = c->stage->scenario;
	uint32_t i, owner;

	for (i = 0; i < s->fence_count; i++) {
		owner = s->fences[i].owner;
		/* The numbers are those of the creator's adapter, unless it dies. */
		if (owner == c->index || s->clients[owner].exits)
			client_report_fence(c, i);
	}
	client_report_device(c);
}

/* The kernel destroys what the process has, when it exits. Queues may wait for ever: end them. */
static void client_leave(struct client *c)
{
	unsigned int i;

	for (i = 0; i < c->script->queue_count; i++) {
		vf_queue_abort(c->queues[i]);
		vf_queue_destroy(c->queues[i]);
	}
	vf_device_destroy(c->device);
	vf_adapter_close(c->adapter);
}

void client_main(struct stage *stage, uint32_t index, int sock)
{
	struct client c = {
		.stage = stage, .index = index, .script = &stage->scenario->clients[index],
		.report = &stage->clients[index],
	};
	uint64_t begun;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, c.script->name);
	if (!client_prepare(&c, sock) || !stage_tell(sock, STAGE_READY) ||
	    !stage_hear(sock, STAGE_GO))
		_exit(1);
	begun = stage_now();
	client_do_steps(&c, c.script->steps, c.script->step_count);
	c.report->ns = stage_now() - begun;
	if (stage_tell(sock, STAGE_DONE) && stage_hear(sock, STAGE_REPORT)) {
		client_report(&c);
		if (stage_tell(sock, STAGE_REPORTED) && stage_hear(sock, STAGE_LEAVE))
			client_leave(&c);
	}
	_exit(0);
}
