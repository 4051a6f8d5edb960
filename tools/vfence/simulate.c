// SPDX-License-Identifier: GPL-2.0-only
/* A discrete-event model of functions that share a GPU. The policies are those of the module. */

#include <stdlib.h>
#include <string.h>

#include "simulate.h"
#include "vfence_policy.h"

#define NEVER	UINT64_MAX

/* One function. */
struct player {
	const struct workload *work;
	/* frames submitted and not done, and GPU time left of the first one and of its draw */
	unsigned int queued;
	uint64_t left, draw_left;
	/* when the next frame is submitted, or NEVER while too many are in flight */
	uint64_t submit_at;
	uint64_t frames;
	uint64_t done[SIMULATE_FRAMES];
	unsigned int done_count;
};

enum phase {
	/* the owner works */
	RUN,
	/* it works until the response time has passed */
	RESPOND,
	/* it works until the draw in flight is done */
	STOP,
	/* nothing works */
	SWITCH,
};

struct model {
	const struct simulation *sim;
	struct outcome *out;
	struct vfence_policy policy;
	struct player *player;
	enum phase phase;
	uint64_t now, phase_end, ask_at;
	uint64_t turn_begun;
	int next;
};

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool has_work(const struct player *p)
{
	return p->queued;
}

/* The time of the next submission, after one at @now or after a frame was done. */
static uint64_t next_submit(const struct player *p, uint64_t now)
{
	const struct workload *w = p->work;

	if (w->idle || p->queued >= w->depth)
		return NEVER;
	if (w->lock_ns)
		return w->start_ns + ((now - w->start_ns) / w->lock_ns + 1) * w->lock_ns;
	return now + w->cpu_ns;
}

/* With a lock, a frame is shown at the tick after it is done. */
static uint64_t shown_at(const struct workload *w, uint64_t now)
{
	if (!w->lock_ns)
		return now;
	return w->start_ns + ((now - w->start_ns) / w->lock_ns + 1) * w->lock_ns;
}

static void begin_frame(struct player *p)
{
	p->left = p->work->gpu_ns;
	p->draw_left = earlier(p->left, p->work->draw_ns);
}

static void submit(struct model *m, unsigned int i)
{
	struct player *p = &m->player[i];

	if (!p->queued++) {
		begin_frame(p);
		vfence_policy_set_busy(&m->policy, (int)i + 1, true, m->now);
		m->ask_at = m->now;
	}
	p->submit_at = next_submit(p, m->now);
}

/*
 * The owner has worked for @ns, at most until its draw is done. A frame ends with a packet behind
 * the draws: if the engines stop after the last draw, that comes with the next turn.
 */
static void work(struct model *m, struct player *p, uint64_t ns)
{
	p->left -= ns;
	p->draw_left -= ns;
	if (p->draw_left)
		return;
	p->draw_left = earlier(p->left, p->work->draw_ns);
	if (p->left || m->phase == STOP)
		return;
	if (p->done_count < SIMULATE_FRAMES)
		p->done[p->done_count++] = shown_at(p->work, m->now);
	p->queued--;
	if (p->submit_at == NEVER)
		p->submit_at = next_submit(p, m->now);
	if (p->queued) {
		begin_frame(p);
		return;
	}
	vfence_policy_set_busy(&m->policy, m->policy.owner, false, m->now);
	m->ask_at = m->now;
}

static struct player *owner_of(struct model *m)
{
	return m->policy.owner > 0 ? &m->player[m->policy.owner - 1] : NULL;
}

static bool works(struct model *m)
{
	struct player *p = owner_of(m);

	return m->phase != SWITCH && p && has_work(p);
}

/* Time until something happens. */
static uint64_t next_event(struct model *m)
{
	uint64_t at = earlier(m->phase == RUN ? m->ask_at : m->phase_end, m->sim->end_ns);
	unsigned int i;

	for (i = 0; i < m->sim->functions; i++)
		at = earlier(at, m->player[i].submit_at);
	if (works(m))
		at = earlier(at, m->now + owner_of(m)->draw_left);
	return at > m->now ? at : m->now;
}

static void pass(struct model *m, uint64_t until)
{
	uint64_t ns = until - m->now;
	bool waiting = false;
	unsigned int i;

	for (i = 0; i < m->sim->functions; i++)
		waiting |= has_work(&m->player[i]);
	if (until > m->sim->warmup_ns) {
		uint64_t counted = earlier(ns, until - m->sim->warmup_ns);

		if (works(m))
			m->out->busy += (double)counted;
		else if (m->phase == SWITCH)
			m->out->switching += (double)counted;
		else if (waiting)
			m->out->idle_with_work += (double)counted;
	}
	m->now = until;
	if (works(m))
		work(m, owner_of(m), ns);
}

/* Charge the owner up to now, as the policy wants before it decides. */
static void settle(struct model *m)
{
	uint64_t from = m->turn_begun > m->policy.slice_end ? m->turn_begun : m->policy.slice_end;

	if (m->policy.owner < 0)
		return;
	vfence_policy_charge(&m->policy, m->now - m->turn_begun, m->now > from ? m->now - from : 0,
			     m->now);
	m->turn_begun = m->now;
}

static void begin_switch(struct model *m)
{
	m->out->switches++;
	m->phase = SWITCH;
	m->phase_end = m->now + m->sim->switch_ns;
	/* What it took to stop is charged, too. */
	settle(m);
}

static void stop(struct model *m)
{
	struct player *p = owner_of(m);

	if (p && has_work(p)) {
		m->out->preemptions++;
		if (p->draw_left != p->work->draw_ns && p->draw_left != p->left) {
			m->phase = STOP;
			m->phase_end = m->now + p->draw_left;
			return;
		}
		if (p->draw_left == p->left && p->draw_left != earlier(p->work->gpu_ns,
								       p->work->draw_ns)) {
			m->phase = STOP;
			m->phase_end = m->now + p->draw_left;
			return;
		}
	}
	begin_switch(m);
}

static struct vfence_policy_decision decide(struct model *m)
{
	settle(m);
	return vfence_policy_decide(&m->policy, m->now);
}

static void step(struct model *m)
{
	struct vfence_policy_decision d;

	switch (m->phase) {
	case RUN:
		if (m->now < m->ask_at)
			return;
		d = decide(m);
		m->ask_at = d.until;
		if (d.action == VFENCE_POLICY_KEEP)
			return;
		m->phase = RESPOND;
		m->phase_end = m->now + m->sim->response_ns - d.lead_ns;
		if (m->phase_end > m->now)
			return;
		/* fall through */
	case RESPOND:
		if (m->now < m->phase_end)
			return;
		d = decide(m);
		m->phase = RUN;
		m->ask_at = d.until;
		if (d.action == VFENCE_POLICY_KEEP)
			return;
		m->next = d.next;
		stop(m);
		if (m->phase == SWITCH && m->phase_end == m->now)
			step(m);
		return;
	case STOP:
		if (m->now < m->phase_end)
			return;
		begin_switch(m);
		if (m->phase_end == m->now)
			step(m);
		return;
	case SWITCH:
		if (m->now < m->phase_end)
			return;
		vfence_policy_own(&m->policy, m->next, m->now);
		m->turn_begun = m->now;
		m->phase = RUN;
		m->ask_at = m->now;
		return;
	}
}

static int compare_ns(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

void simulate_frames(struct outcome *out, unsigned int function, const uint64_t *done,
		     unsigned int count, uint64_t start_ns, uint64_t cpu_ns, uint64_t warmup_ns,
		     uint64_t end_ns)
{
	uint64_t *times = calloc(count + 1, sizeof(*times));
	unsigned int i, n = 0, frames = 0;

	if (!times)
		return;
	for (i = 0; i < count; i++) {
		if (done[i] < warmup_ns || done[i] > end_ns)
			continue;
		frames++;
		if (i && done[i - 1] >= warmup_ns)
			times[n++] = done[i] - done[i - 1];
	}
	qsort(times, n, sizeof(*times), compare_ns);
	out->fps[function] = frames * 1e9 / (double)(end_ns - warmup_ns);
	out->first_ms[function] = count ? (double)(done[0] - start_ns + cpu_ns) / 1e6 : 0;
	out->p99_ms[function] = n ? (double)times[(n * 99ull) / 100] / 1e6 : 0;
	out->worst_ms[function] = n ? (double)times[n - 1] / 1e6 : 0;
	free(times);
}

void simulate_sum(struct outcome *out, unsigned int functions)
{
	double sum = 0, squares = 0;
	unsigned int i, n = 0;

	out->p99 = 0;
	for (i = 0; i < functions; i++) {
		if (!out->fps[i])
			continue;
		n++;
		sum += out->fps[i];
		squares += out->fps[i] * out->fps[i];
		if (out->p99_ms[i] > out->p99)
			out->p99 = out->p99_ms[i];
	}
	out->total_fps = sum;
	out->jain = squares ? sum * sum / (n * squares) : 0;
}

void simulate_run(const struct simulation *sim, struct outcome *out)
{
	struct model m = { .sim = sim, .out = out };
	double elapsed = (double)(sim->end_ns - sim->warmup_ns);
	unsigned int i;

	memset(out, 0, sizeof(*out));
	m.player = calloc(sim->functions, sizeof(*m.player));
	if (!m.player)
		return;
	vfence_policy_init(&m.policy, sim->kind, sim->response_ns);
	/* Index 0 is the physical function, which does nothing here. */
	for (i = 0; i < sim->functions; i++) {
		vfence_policy_add(&m.policy, (int)i + 1, sim->slice_ns);
		m.player[i].work = &sim->workload[i];
		m.player[i].submit_at = sim->workload[i].idle ? NEVER : sim->workload[i].start_ns;
	}
	vfence_policy_own(&m.policy, 1, 0);
	m.ask_at = 0;

	while (m.now < sim->end_ns) {
		pass(&m, next_event(&m));
		for (i = 0; i < sim->functions; i++)
			if (m.player[i].submit_at <= m.now)
				submit(&m, i);
		step(&m);
	}

	for (i = 0; i < sim->functions; i++)
		simulate_frames(out, i, m.player[i].done, m.player[i].done_count,
				sim->workload[i].start_ns, sim->workload[i].cpu_ns, sim->warmup_ns,
				sim->end_ns);
	simulate_sum(out, sim->functions);
	out->busy /= elapsed;
	out->switching /= elapsed;
	out->idle_with_work /= elapsed;
	free(m.player);
}

#define US	1000ull
#define MS	1000000ull

void simulate_r4(struct simulation *sim, unsigned int kind, uint64_t slice_ns)
{
	unsigned int i;

	*sim = (struct simulation){
		.kind = kind, .response_ns = kind == VFENCE_POLICY_ROUND_ROBIN ? 400 * US : 50 * US,
		.switch_ns = 136 * US, .slice_ns = slice_ns, .functions = 4,
		.warmup_ns = 500 * MS, .end_ns = 10500 * MS,
	};
	for (i = 0; i < 4; i++)
		sim->workload[i] = (struct workload){
			.gpu_ns = 2364 * US, .draw_ns = 59100, .cpu_ns = 6493506,
			.depth = 2, .start_ns = i * 6493506ull / 7,
		};
}
