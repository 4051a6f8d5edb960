// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a recovery takes, from the moment in which the hang is found until the same engine has
 * done the next job, and what it costs others. Durations are exact on the deterministic clock,
 * where a nanosecond of the GPU is an instruction, and the bounds hold there.
 */

#include "engine_fixture.h"

#define MS		1000000ll
#define ROUNDS		50
/* What the module is loaded with: when the GPU finds that an engine hangs. */
#define HUNG_NS		(20 * MS)
/* When the GPU stops a queue that another client waits for. */
#define PREEMPT_NS	(100 * MS)
/* An adapter with virtual functions, and when the host resets one that keeps an engine. */
#define FUNCTIONS_OF	"/sys/bus/platform/devices/vfence.14/"
#define FUNCTION(n)	(16 * 15 + (n) - 1)
#define FUNCTION_NS	(20 * MS)
/* A tick of the kernels that the tests run on. */
#define TICK_NS		(4 * MS)
/* Jobs of the copy engine while another engine hangs. */
#define JOBS		40
/* A round that failed. */
#define FAILED		INT64_MIN

static unsigned int rounds(void)
{
	return deterministic() ? ROUNDS : 3;
}

/* A client of one round, with what the GPU stores for it. */
struct party {
	struct client client;
	struct vf_queue *queue;
	struct vf_buffer *buffer;
	struct drm_vfence_clock_info clock;
};

/* Create what a client needs that has opened an adapter. */
static int party_create(struct party *p, uint32_t node)
{
	int ret = vf_device_create(p->client.adapter, &p->client.device);

	ret = ret ?: vf_queue_create(p->client.device, node, 16384, &p->queue);
	ret = ret ?: vf_buffer_create(p->client.adapter, 4096, &p->buffer);
	return ret ?: vf_adapter_clock(p->client.adapter, &p->clock);
}

static int party_open(struct party *p, unsigned int adapter, uint32_t node)
{
	return adapter_open_apart(adapter, -1, &p->client.adapter) ?: party_create(p, node);
}

/*
 * The same in this process, for a client whose beginning is measured: where another process has
 * opened the file, DRM notes the new one, and waits for a grace period of RCU.
 */
static int party_open_here(struct party *p, unsigned int adapter, uint32_t node)
{
	return vf_adapter_open(adapter, &p->client.adapter) ?: party_create(p, node);
}

static void party_close(struct party *p)
{
	vf_queue_destroy(p->queue);
	vf_buffer_destroy(p->buffer);
	vf_device_destroy(p->client.device);
	vf_adapter_close(p->client.adapter);
}

/* The GPU is to store its time in a slot of the buffer. */
static void party_note(struct party *p, unsigned int slot)
{
	vf_cmd_timestamp(p->queue, vf_buffer_va(p->buffer) + slot * sizeof(uint64_t));
}

static int64_t party_noted(const struct party *p, unsigned int slot)
{
	volatile uint64_t *ticks = vf_buffer_map(p->buffer);

	return ticks[slot] ? vf_clock_to_cpu(&p->clock, ticks[slot]) : 0;
}

static int compare_ns(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The durations of a series. */
struct series {
	int64_t ns[ROUNDS];
	unsigned int count;
};

static int64_t series_rank(struct series *s, unsigned int percent)
{
	qsort(s->ns, s->count, sizeof(*s->ns), compare_ns);
	return s->count ? s->ns[(s->count - 1) * percent / 100] : FAILED;
}

#define EXPECT_SERIES(s, what, bound) do {						\
	int64_t half = series_rank(s, 50), most = series_rank(s, 99);			\
											\
	TH_LOG("%s: p50 %" PRId64 " ns, p99 %" PRId64 " ns", what, half, most);	\
	EXPECT_NE(FAILED, series_rank(s, 0));						\
	/*										\
	 * Elsewhere the quantum of a client may end before its packet hangs. Where the	\
	 * kernel is a process its ticks are 10 ms.					\
	 */										\
	if (counts_instructions()) {							\
		EXPECT_LT(0, series_rank(s, 0));					\
		EXPECT_LE(most, bound);							\
	}										\
} while (0)

/* Recover from any number of hangs. */
static int allow_hangs(unsigned int adapter)
{
	return tdr_configure(adapter, "debug_mode", "3") ?:
	       tdr_configure(adapter, "limit_count", "32");
}

/* Hang the engine of @hangs, and let @waits have the next job there. Return: 0, or an error. */
static int hang_before(struct party *hangs, struct party *waits)
{
	int ret;

	party_note(hangs, 0);
	ret = hang_on(hangs->queue);
	party_note(waits, 0);
	return ret ?: vf_queue_submit(waits->queue);
}

/* Return: time in ns from the discovery to the end of the next job, or FAILED. */
static int64_t queue_round(unsigned int adapter)
{
	struct party a = { 0 }, b = { 0 };
	int64_t ns = FAILED, begun;

	if (!party_open(&a, adapter, DRM_VFENCE_NODE_GFX) &&
	    !party_open(&b, adapter, DRM_VFENCE_NODE_GFX)) {
		vf_cmd_draw(a.queue, 1, 10 * SECOND);
		vf_queue_submit(a.queue);
		if (EVENTUALLY(queue_state(a.queue) == DRM_VFENCE_QUEUE_RUNNING)) {
			begun = vf_deadline(0);
			party_note(&b, 0);
			vf_queue_submit(b.queue);
			if (!vf_queue_wait_idle(b.queue, DEADLINE))
				ns = party_noted(&b, 0) - begun - PREEMPT_NS;
		}
	}
	party_close(&a);
	party_close(&b);
	return ns;
}

TEST(WDDM_142_a_queue_that_stays_costs_its_time_alone)
{
	struct series s = { .count = 0 };

	if (geteuid() || access("/sys/bus/platform/devices/vfence.11/drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	ASSERT_EQ(0, allow_hangs(0));
	while (s.count < rounds())
		s.ns[s.count++] = queue_round(0);
	/* The queue has its quantum of 1 ms before it is asked to leave. */
	EXPECT_SERIES(&s, "queue", MS + MS / 10);
	EXPECT_EQ(0, driver("unbind", 0));
	EXPECT_EQ(0, driver("bind", 0));
}

static int64_t engine_round(void)
{
	struct party a = { 0 }, b = { 0 };
	int64_t ns = FAILED;

	if (!party_open(&a, HANGS, DRM_VFENCE_NODE_GFX) &&
	    !party_open(&b, HANGS, DRM_VFENCE_NODE_GFX) && !hang_before(&a, &b) &&
	    !vf_queue_wait_idle(b.queue, DEADLINE))
		ns = party_noted(&b, 0) - party_noted(&a, 0) - HUNG_NS;
	party_close(&a);
	party_close(&b);
	return ns;
}

/* The first hang is dumped, if @dumps each one. */
static void engine_series(struct series *s, bool dumps)
{
	while (s->count < rounds()) {
		s->ns[s->count++] = engine_round();
		if (dumps)
			release_dump(HANGS);
	}
}

/* The one who waits for the same engine waits for the time-out, and less than 1 ms longer. */
TEST_F_TIMEOUT(engine, WDDM_174_the_same_engine_goes_on_within_a_millisecond, 300)
{
	struct series silent = { .count = 0 }, dumped = { .count = 0 };
	static char text[16384];
	int64_t first;

	ASSERT_EQ(0, allow_hangs(HANGS));
	release_dump(HANGS);
	first = engine_round();
	TH_LOG("a dump has %zd bytes; the first round took %" PRId64 " ns",
	       read_dump(HANGS, text, sizeof(text)), first);
	engine_series(&silent, false);
	release_dump(HANGS);
	engine_series(&dumped, true);
	EXPECT_SERIES(&silent, "engine", MS);
	EXPECT_SERIES(&dumped, "engine, with a dump", MS);
	TH_LOG("a dump takes %" PRId64 " ns",
	       series_rank(&dumped, 50) - series_rank(&silent, 50));
}

/* @b loses its device, and draws with a new one. */
static int64_t adapter_round(void)
{
	struct party a = { 0 }, b = { 0 }, next = { 0 };
	int64_t ns = FAILED;

	if (!party_open(&a, HANGS, DRM_VFENCE_NODE_GFX) &&
	    !party_open(&b, HANGS, DRM_VFENCE_NODE_GFX) && !hang_before(&a, &b) &&
	    /* The wait ends when the device is lost. */
	    (vf_queue_wait_idle(b.queue, DEADLINE),
	     vf_device_state(b.client.device) == DRM_VFENCE_DEVICE_RESET) &&
	    !party_open_here(&next, HANGS, DRM_VFENCE_NODE_GFX)) {
		party_note(&next, 0);
		if (!vf_queue_submit(next.queue) && !vf_queue_wait_idle(next.queue, DEADLINE))
			ns = party_noted(&next, 0) - party_noted(&a, 0) - HUNG_NS;
	}
	party_close(&a);
	party_close(&b);
	party_close(&next);
	return ns;
}

/* With a grace period of RCU, after which the kernel knows that no call is in the driver. */
TEST_F_TIMEOUT(engine, WDDM_158_the_adapter_goes_on_within_twenty_milliseconds, 300)
{
	struct series s = { .count = 0 };

	ASSERT_EQ(0, allow_hangs(HANGS));
	ASSERT_EQ(0, inject(HANGS, "fail_engine_reset", "1"));
	while (s.count < rounds())
		s.ns[s.count++] = adapter_round();
	EXPECT_SERIES(&s, "adapter", 20 * MS);
}

/* Make two virtual functions, of which one has short slices, and 20 ms to leave an engine. */
static int functions_make(void)
{
	int ret = write_text(FUNCTIONS_OF "sriov_numvfs", "2");

	ret = ret ?: write_text(FUNCTIONS_OF "sriov_admin/vf1/profile/exec_quantum_us", "100");
	return ret ?: write_text(FUNCTIONS_OF "sriov_admin/vf1/profile/preempt_timeout_us",
				 "20000");
}

/* Return: time in ns at which a new device of the function has drawn, or FAILED. */
static int64_t draws_again(unsigned int function)
{
	struct party again = { 0 };
	int64_t at = FAILED;

	if (!party_open_here(&again, FUNCTION(function), DRM_VFENCE_NODE_GFX)) {
		party_note(&again, 0);
		if (!vf_queue_submit(again.queue) && !vf_queue_wait_idle(again.queue, DEADLINE))
			at = party_noted(&again, 0);
	}
	party_close(&again);
	return at;
}

static void do_work(struct party *p)
{
	party_note(p, 0);
	vf_queue_submit(p->queue);
	vf_queue_wait_idle(p->queue, DEADLINE);
}

/* The function whose next draw ends a round, after one function has kept an engine. */
enum next {
	/* the other function */
	OTHER,
	/* the same function, with a new device */
	SAME,
	/* the same, and the whole GPU was reset */
	WHOLE_GPU,
};

static int64_t function_round(enum next next)
{
	struct party a = { 0 }, b = { 0 };
	struct vf_device *innocent = NULL;
	int64_t asked, at = FAILED;

	if (!party_open(&a, FUNCTION(1), DRM_VFENCE_NODE_GFX) &&
	    !vf_device_create(a.client.adapter, &innocent) &&
	    !party_open(&b, FUNCTION(2), DRM_VFENCE_NODE_GFX) &&
	    !inject(FUNCTION(1), "fail_adapter_reset", next == WHOLE_GPU ? "1" : "0")) {
		party_note(&a, 0);
		if (!hang_on(a.queue) && EVENTUALLY(party_noted(&a, 0))) {
			/* The host asks for the engine as soon as the other function has work. */
			asked = vf_deadline(0);
			do_work(&b);
			/* Elsewhere a slice may end before its packet hangs: ask again. */
			while (!deterministic() && vf_deadline(0) < asked + SECOND &&
			       vf_device_state(a.client.device) == DRM_VFENCE_DEVICE_ACTIVE)
				do_work(&b);
			/* The cause is named at once; the driver's reset takes the others. */
			if (AT_ONCE(vf_device_state(innocent) == DRM_VFENCE_DEVICE_RESET) &&
			    vf_device_state(a.client.device) == DRM_VFENCE_DEVICE_HUNG)
				at = next == OTHER ? party_noted(&b, 0) : draws_again(1);
			at = at == FAILED ? at : at - asked - FUNCTION_NS;
			/* The other function is reset with the whole GPU, and not otherwise. */
			if (!EVENTUALLY(vf_device_state(b.client.device) ==
					(next == WHOLE_GPU ? DRM_VFENCE_DEVICE_RESET :
							     DRM_VFENCE_DEVICE_ACTIVE)))
				at = FAILED;
		}
	}
	vf_device_destroy(innocent);
	party_close(&a);
	party_close(&b);
	return at;
}

/*
 * The driver of a function has notice, and sets it up again. The host counts in ticks of 4 ms: it
 * finds that an engine is kept up to one tick after the time for it.
 */
TEST(TDR_28_a_function_goes_on_within_twenty_milliseconds)
{
	struct series other = { .count = 0 }, same = { .count = 0 }, whole = { .count = 0 };

	if (geteuid() || access(FUNCTIONS_OF "drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	ASSERT_EQ(0, functions_make());
	ASSERT_EQ(0, allow_hangs(FUNCTION(1)));
	ASSERT_EQ(0, allow_hangs(FUNCTION(2)));
	while (whole.count < rounds()) {
		other.ns[other.count++] = function_round(OTHER);
		same.ns[same.count++] = function_round(SAME);
		whole.ns[whole.count++] = function_round(WHOLE_GPU);
	}
	EXPECT_SERIES(&other, "function, until the other one draws", 10 * MS + TICK_NS);
	EXPECT_SERIES(&same, "function, until it draws again", 20 * MS + TICK_NS);
	EXPECT_SERIES(&whole, "whole GPU, until the function draws again", 20 * MS + TICK_NS);
	EXPECT_EQ(0, write_text(FUNCTIONS_OF "sriov_numvfs", "0"));
}

/* Return: the longest time between two of a row of jobs of the copy engine, or FAILED. */
static int64_t longest_gap(bool hang)
{
	struct party a = { 0 }, copy = { 0 };
	int64_t longest = FAILED;
	unsigned int i;

	if (!party_open(&a, HANGS, DRM_VFENCE_NODE_GFX) &&
	    !party_open(&copy, HANGS, DRM_VFENCE_NODE_COPY)) {
		for (i = 0; i < JOBS; i++) {
			vf_cmd_draw(copy.queue, 1, MS);
			party_note(&copy, i);
		}
		vf_queue_submit(copy.queue);
		if ((!hang || !hang_on(a.queue)) && !vf_queue_wait_idle(copy.queue, DEADLINE))
			for (i = 1; i < JOBS; i++) {
				int64_t gap = party_noted(&copy, i) - party_noted(&copy, i - 1);

				longest = gap > longest ? gap : longest;
			}
		if (hang && vf_device_state(a.client.device) == DRM_VFENCE_DEVICE_ACTIVE)
			longest = FAILED;
	}
	party_close(&a);
	party_close(&copy);
	return longest;
}

TEST_F_TIMEOUT(engine, TDR_02_another_engine_is_not_delayed, 300)
{
	struct series alone = { .count = 0 }, beside = { .count = 0 };

	ASSERT_EQ(0, allow_hangs(HANGS));
	while (beside.count < rounds()) {
		alone.ns[alone.count++] = longest_gap(false);
		beside.ns[beside.count++] = longest_gap(true);
	}
	EXPECT_SERIES(&alone, "longest gap between jobs of 1 ms, alone", MS + MS / 10);
	EXPECT_SERIES(&beside, "beside an engine that hangs", MS + MS / 10);
}

TEST_HARNESS_MAIN
