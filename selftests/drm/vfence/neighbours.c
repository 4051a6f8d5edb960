// SPDX-License-Identifier: GPL-2.0-only
/*
 * Neighbours on an engine: an attacker takes what it can, and a victim must keep its share
 * of the engine, its time and its device. Each client has opened its file as a process of its own.
 *
 * Bounds on durations are checked on the deterministic clock only: elsewhere the figures
 * would tell how loaded the machine is.
 */

#include <sys/prctl.h>

#include "vfence_test.h"

#define MS		INT64_C(1000000)
#define MAX_QUEUES	60
#define MAX_CLIENTS	8
#define INTERRUPTS	20

#define NEEDS_EXACT_TIME() do {							\
	if (!deterministic())							\
		SKIP(return, "needs the deterministic clock");			\
} while (0)

/* A client, and its queues. */
struct tenant {
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue[MAX_QUEUES];
	unsigned int queues;
};

static int tenant_open(struct tenant *client)
{
	int ret;

	memset(client, 0, sizeof(*client));
	ret = adapter_open_apart(0, -1, &client->adapter);
	return ret ? ret : vf_device_create(client->adapter, &client->device);
}

static struct vf_queue *tenant_add(struct tenant *client, unsigned int node, bool kernel)
{
	struct vf_queue **queue = &client->queue[client->queues];
	int ret = kernel ? vf_kernel_queue_create(client->device, node, queue) :
			   vf_queue_create(client->device, node, 4096, queue);

	if (ret)
		return NULL;
	client->queues++;
	return *queue;
}

static void tenant_close(struct tenant *client)
{
	unsigned int i;

	for (i = 0; i < client->queues; i++) {
		vf_queue_abort(client->queue[i]);
		vf_queue_destroy(client->queue[i]);
	}
	if (client->device)
		vf_device_destroy(client->device);
	if (client->adapter)
		vf_adapter_close(client->adapter);
}

/* Return: the GPU time of a client's queues on an engine that fdinfo names @engine, in ns. */
static uint64_t client_time(struct tenant *client, const char *engine)
{
	char path[64], line[256], format[64];
	unsigned long long ns = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", vf_adapter_fd(client->adapter));
	snprintf(format, sizeof(format), "drm-engine-%s: %%llu ns", engine);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, format, &ns);
	if (f)
		fclose(f);
	return ns;
}

/* Let a stretch of time pass in which the engines work. */
static void let_pass(int64_t ns)
{
	struct timespec time = { .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

/* Keep a queue busy for minutes with draws of @draw_ns. */
static int hog(struct vf_queue *queue, int64_t draw_ns)
{
	vf_cmd_draw(queue, UINT32_MAX, draw_ns);
	return vf_queue_submit(queue);
}

/* -------------------------------------------------------------- fair shares */

FIXTURE(shares)
{
	struct tenant client[MAX_CLIENTS];
};

FIXTURE_VARIANT(shares)
{
	/* Number of clients. */
	unsigned int clients;
	/* Number of queues of each client but the first, which has one. */
	unsigned int queues;
	/* Durations of the draws: of the first client, and of the others. */
	int64_t mine, theirs;
	/* Largest deviation from an equal share, in percent of all. */
	double percent;
	/* Least Jain index. */
	double jain;
};

FIXTURE_VARIANT_ADD(shares, beside_1_queue) { 2, 1, 1 * MS, 1 * MS, 2, 0.999 };
FIXTURE_VARIANT_ADD(shares, beside_15_queues) { 2, 15, 1 * MS, 1 * MS, 2, 0.999 };
FIXTURE_VARIANT_ADD(shares, beside_60_queues) { 2, 60, 1 * MS, 1 * MS, 2, 0.999 };
FIXTURE_VARIANT_ADD(shares, beside_longer_draws) { 2, 1, MS / 10, 5 * MS, 2, 0.999 };
FIXTURE_VARIANT_ADD(shares, beside_60_queues_with_longer_draws)
	{ 2, 60, MS / 10, 5 * MS, 2, 0.999 };
FIXTURE_VARIANT_ADD(shares, beside_draws_of_100_ms) { 2, 1, 1 * MS, 100 * MS, 6, 0.98 };
FIXTURE_VARIANT_ADD(shares, beside_tiny_packets) { 2, 4, 1 * MS, 0, 2, 0.999 };
FIXTURE_VARIANT_ADD(shares, of_4_clients) { 4, 7, 1 * MS, 1 * MS, 1, 0.999 };
FIXTURE_VARIANT_ADD(shares, of_8_clients) { 8, 3, 1 * MS, 1 * MS, 1, 0.999 };

FIXTURE_SETUP(shares)
{
	unsigned int i, k;

	NEEDS_EXACT_TIME();
	for (i = 0; i < variant->clients; i++)
		ASSERT_EQ(0, tenant_open(&self->client[i]));
	for (i = 0; i < variant->clients; i++)
		for (k = 0; k < (i ? variant->queues : 1); k++)
			ASSERT_NE(NULL, tenant_add(&self->client[i], DRM_VFENCE_NODE_GFX, false));
}

FIXTURE_TEARDOWN(shares)
{
	unsigned int i;

	for (i = 0; i < variant->clients; i++)
		tenant_close(&self->client[i]);
}

TEST_F(shares, clients_have_equal_parts_of_an_engine)
{
	uint64_t begun[MAX_CLIENTS], had[MAX_CLIENTS];
	double all = 0, squares = 0, part;
	unsigned int i, k;

	for (i = 0; i < variant->clients; i++)
		for (k = 0; k < self->client[i].queues; k++)
			ASSERT_EQ(0, hog(self->client[i].queue[k],
					 i ? variant->theirs : variant->mine));
	for (i = 0; i < variant->clients; i++)
		ASSERT_TRUE(EVENTUALLY(client_time(&self->client[i], "gfx")));

	for (i = 0; i < variant->clients; i++)
		begun[i] = client_time(&self->client[i], "gfx");
	let_pass(SECOND);
	for (i = 0; i < variant->clients; i++)
		had[i] = client_time(&self->client[i], "gfx") - begun[i];

	for (i = 0; i < variant->clients; i++) {
		all += had[i];
		squares += (double)had[i] * had[i];
	}
	for (i = 0; i < variant->clients; i++) {
		part = 100 * had[i] / all;
		if (!i || variant->clients <= 4)
			TH_LOG("client %u of %u: %.2f %%", i, variant->clients, part);
		EXPECT_LT(part, 100.0 / variant->clients + variant->percent);
		EXPECT_GT(part, 100.0 / variant->clients - variant->percent);
	}
	TH_LOG("Jain index %.5f", all * all / (variant->clients * squares));
	EXPECT_LE(variant->jain, all * all / (variant->clients * squares));
}

FIXTURE(two)
{
	struct tenant attacker, victim;
};

FIXTURE_SETUP(two)
{
	ASSERT_EQ(0, tenant_open(&self->attacker));
	ASSERT_EQ(0, tenant_open(&self->victim));
}

FIXTURE_TEARDOWN(two)
{
	tenant_close(&self->attacker);
	tenant_close(&self->victim);
}

/* A client that comes late gets its part from then on, and nothing for the time before. */
TEST_F(two, a_sleeper_saves_up_no_time)
{
	struct vf_queue *late = tenant_add(&self->attacker, DRM_VFENCE_NODE_GFX, false);
	struct vf_queue *early = tenant_add(&self->victim, DRM_VFENCE_NODE_GFX, false);
	uint64_t before, had;

	NEEDS_EXACT_TIME();
	ASSERT_NE(NULL, late);
	ASSERT_NE(NULL, early);
	ASSERT_EQ(0, hog(early, MS));
	ASSERT_TRUE(EVENTUALLY(client_time(&self->victim, "gfx") > 400 * MS));
	ASSERT_EQ(0, hog(late, MS));
	ASSERT_TRUE(EVENTUALLY(client_time(&self->attacker, "gfx")));
	before = client_time(&self->victim, "gfx");
	ASSERT_TRUE(EVENTUALLY(client_time(&self->attacker, "gfx") > 100 * MS));
	had = client_time(&self->victim, "gfx") - before;
	TH_LOG("%llu ms beside 100 ms", (unsigned long long)(had / MS));
	EXPECT_LT(95 * MS, had);
	EXPECT_GT(110 * MS, had);
}

/* ------------------------------------------------------- who is stopped, and when */

static int device_state(struct tenant *client)
{
	return vf_device_state(client->device);
}

/* The attacker's device is lost for what its queue did, and the victim's is not. */
#define EXPECT_ONLY_THE_ATTACKER_IS_STOPPED(self, queue) do {				\
	EXPECT_TRUE(EVENTUALLY(device_state(&(self)->attacker) == DRM_VFENCE_DEVICE_HUNG));	\
	EXPECT_EQ(DRM_VFENCE_FAULT_PREEMPTION, queue_fault(queue));				\
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, device_state(&(self)->victim));			\
} while (0)

/* Both use the engine for 1.5 s, which takes 3 s, and no submission may take 2 s. */
TEST_F(two, submissions_are_timed_by_what_they_use)
{
	struct tenant *client[2] = { &self->attacker, &self->victim };
	struct vf_submit what = { 0 };
	struct vf_queue *queue[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		queue[i] = tenant_add(client[i], DRM_VFENCE_NODE_GFX, true);
		ASSERT_NE(NULL, queue[i]);
		vf_cmd_draw(queue[i], 30, 50 * MS);
		ASSERT_EQ(0, vf_submit(&queue[i], 1, &what));
	}
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, vf_queue_wait_idle(queue[i], DEADLINE));
		EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, device_state(client[i]));
	}
}

/* A submission that uses too much is stopped, also while others use the engine as well. */
TEST_F(two, a_submission_that_uses_too_much_is_stopped)
{
	struct vf_queue *long_one = tenant_add(&self->attacker, DRM_VFENCE_NODE_GFX, true);
	struct vf_queue *other = tenant_add(&self->victim, DRM_VFENCE_NODE_GFX, false);
	struct vf_submit what = { 0 };

	ASSERT_NE(NULL, long_one);
	ASSERT_NE(NULL, other);
	ASSERT_EQ(0, hog(other, MS));
	vf_cmd_draw(long_one, UINT32_MAX, 50 * MS);
	ASSERT_EQ(0, vf_submit(&long_one, 1, &what));
	EXPECT_TRUE(EVENTUALLY(device_state(&self->attacker) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, device_state(&self->victim));
}

/* A copy engine takes a queue off inside a draw, and gives back what has not passed. */
TEST_F(two, submissions_of_a_copy_engine_are_timed_as_well)
{
	struct tenant *client[2] = { &self->attacker, &self->victim };
	struct vf_submit what = { 0 };
	struct vf_queue *queue[4];
	unsigned int i;

	for (i = 0; i < 4; i++) {
		queue[i] = tenant_add(client[i % 2], DRM_VFENCE_NODE_COPY, true);
		ASSERT_NE(NULL, queue[i]);
		vf_cmd_draw(queue[i], 1, 900 * MS);
		ASSERT_EQ(0, vf_submit(&queue[i], 1, &what));
		vf_cmd_draw(queue[i], 1, 900 * MS);
		ASSERT_EQ(0, vf_submit(&queue[i], 1, &what));
	}
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, vf_queue_wait_idle(queue[i], DEADLINE));
		EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, device_state(client[i % 2]));
	}
}

/*
 * A queue need not leave the engine for another queue of its own client. A submission must end
 * all the same.
 */
TEST_F(two, a_submission_ends_behind_a_queue_of_its_client_that_hangs)
{
	struct vf_queue *stuck = tenant_add(&self->attacker, DRM_VFENCE_NODE_GFX, false);
	struct vf_queue *kernel = tenant_add(&self->attacker, DRM_VFENCE_NODE_GFX, true);
	struct vf_submit what = { 0 };

	ASSERT_NE(NULL, stuck);
	ASSERT_NE(NULL, kernel);
	cmd_hang(stuck);
	ASSERT_EQ(0, vf_queue_submit(stuck));
	ASSERT_TRUE(EVENTUALLY(queue_state(stuck) == DRM_VFENCE_QUEUE_RUNNING));
	vf_cmd_nop(kernel, 8);
	ASSERT_EQ(0, vf_submit(&kernel, 1, &what));
	EXPECT_EQ(-EIO, vf_queue_wait_idle(kernel, DEADLINE));
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, device_state(&self->attacker));
}

/* Fill a buffer. An MM engine does not stop inside the packet. */
static int fill(struct vf_queue *queue, struct vf_buffer *buffer, uint64_t size)
{
	vf_cmd_fill(queue, vf_buffer_va(buffer), size, 1);
	return vf_queue_submit(queue);
}

#define MB	(1ull << 20)

/* Return: a size whose fill takes less than a third of the preemption time-out. */
static uint64_t short_fill(struct vf_queue *queue, struct vf_buffer *buffer, uint64_t most)
{
	int64_t begun;

	/* Kernels that check memory take a hundred times as long. */
	for (; most > 65536; most /= 2) {
		begun = vf_deadline(0);
		if (fill(queue, buffer, most) || vf_queue_wait_idle(queue, DEADLINE) ||
		    vf_deadline(0) - begun < 33 * MS)
			break;
	}
	return most;
}

/* The thread of an engine rests now and then. That is no time in which the queue keeps it. */
TEST_F(two, a_fill_is_not_stopped_for_the_rest_of_its_engine)
{
	struct vf_queue *slow = tenant_add(&self->victim, DRM_VFENCE_NODE_MM, false);
	struct vf_queue *other = tenant_add(&self->attacker, DRM_VFENCE_NODE_MM, false);
	struct vf_buffer *buffer;
	uint64_t size;
	unsigned int i;

	ASSERT_NE(NULL, slow);
	ASSERT_NE(NULL, other);
	ASSERT_EQ(0, vf_buffer_create(self->victim.adapter, 16 * MB, &buffer));
	size = short_fill(slow, buffer, 16 * MB);
	/* Not each round has a rest of that length. */
	for (i = 0; i < 120; i++) {
		ASSERT_EQ(0, fill(slow, buffer, size));
		/* Ask for the engine at many moments. */
		let_pass((500 + 200 * (i % 40)) * 1000);
		vf_cmd_draw(other, 1, 1000);
		ASSERT_EQ(0, vf_queue_submit(other));
		ASSERT_EQ(0, vf_queue_wait_idle(other, DEADLINE));
		ASSERT_EQ(0, vf_queue_wait_idle(slow, DEADLINE));
	}
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, device_state(&self->victim));
	vf_buffer_destroy(buffer);
}

/* Engines share a processor. A client that keeps the others busy makes a fill last longer. */
TEST_F(two, busy_engines_shorten_no_time_out_of_another_engine)
{
	struct vf_queue *slow = tenant_add(&self->victim, DRM_VFENCE_NODE_MM, false);
	struct vf_queue *other = tenant_add(&self->attacker, DRM_VFENCE_NODE_MM, false);
	struct vf_buffer *buffer;
	unsigned int node;

	NEEDS_EXACT_TIME();
	ASSERT_NE(NULL, slow);
	ASSERT_NE(NULL, other);
	ASSERT_EQ(0, vf_buffer_create(self->victim.adapter, 32 * MB, &buffer));
	for (node = DRM_VFENCE_NODE_GFX; node < DRM_VFENCE_NODE_MM; node++) {
		struct vf_queue *flood = tenant_add(&self->attacker, node, false);

		ASSERT_NE(NULL, flood);
		ASSERT_EQ(0, hog(flood, 0));
	}
	ASSERT_EQ(0, fill(slow, buffer, 32 * MB));
	ASSERT_TRUE(EVENTUALLY(queue_state(slow) == DRM_VFENCE_QUEUE_RUNNING));
	vf_cmd_draw(other, 1, 1000);
	ASSERT_EQ(0, vf_queue_submit(other));
	EXPECT_EQ(0, vf_queue_wait_idle(slow, DEADLINE));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, device_state(&self->victim));
	vf_buffer_destroy(buffer);
}

/* A draw may last while no other client wants the engine. */
TEST_F(two, a_queue_alone_may_take_its_time)
{
	struct vf_queue *queue = tenant_add(&self->victim, DRM_VFENCE_NODE_GFX, false);
	struct vf_queue *beside = tenant_add(&self->victim, DRM_VFENCE_NODE_GFX, false);

	ASSERT_NE(NULL, queue);
	ASSERT_NE(NULL, beside);
	vf_cmd_draw(queue, 1, 400 * MS);
	ASSERT_EQ(0, vf_queue_submit(queue));
	/* Another queue of the same client waits for its turn. */
	vf_cmd_draw(beside, 1, 1000);
	ASSERT_EQ(0, vf_queue_submit(beside));
	EXPECT_EQ(0, vf_queue_wait_idle(queue, DEADLINE));
	EXPECT_EQ(0, vf_queue_wait_idle(beside, DEADLINE));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, device_state(&self->victim));
}

FIXTURE(hogs)
{
	struct tenant attacker, victim;
	struct vf_queue *hog, *queue;
};

FIXTURE_VARIANT(hogs)
{
	unsigned int node;
	/* Kind of both clients' queues. */
	bool kernel;
	/* Number of draws, and the duration of each; a packet that hangs without draws. */
	uint32_t draws;
	int64_t draw_ns;
};

FIXTURE_VARIANT_ADD(hogs, one_draw_of_10_s) { DRM_VFENCE_NODE_GFX, false, 1, 10 * SECOND };
FIXTURE_VARIANT_ADD(hogs, one_dispatch_of_10_s)
	{ DRM_VFENCE_NODE_COMPUTE, false, 1, 10 * SECOND };
FIXTURE_VARIANT_ADD(hogs, one_job_of_many_draws)
	{ DRM_VFENCE_NODE_MM, false, UINT32_MAX, MS };
FIXTURE_VARIANT_ADD(hogs, one_job_of_tiny_draws)
	{ DRM_VFENCE_NODE_MM, false, UINT32_MAX, 0 };
FIXTURE_VARIANT_ADD(hogs, a_packet_that_hangs) { DRM_VFENCE_NODE_GFX, false, 0, 0 };
FIXTURE_VARIANT_ADD(hogs, a_packet_that_hangs_a_copy) { DRM_VFENCE_NODE_COPY, false, 0, 0 };
FIXTURE_VARIANT_ADD(hogs, a_submission_that_hangs) { DRM_VFENCE_NODE_GFX, true, 0, 0 };
FIXTURE_VARIANT_ADD(hogs, a_submission_of_1500_ms)
	{ DRM_VFENCE_NODE_GFX, true, 1, 1500 * MS };

FIXTURE_SETUP(hogs)
{
	ASSERT_EQ(0, tenant_open(&self->attacker));
	ASSERT_EQ(0, tenant_open(&self->victim));
	self->hog = tenant_add(&self->attacker, variant->node, variant->kernel);
	self->queue = tenant_add(&self->victim, variant->node, variant->kernel);
	ASSERT_NE(NULL, self->hog);
	ASSERT_NE(NULL, self->queue);
}

FIXTURE_TEARDOWN(hogs)
{
	tenant_close(&self->attacker);
	tenant_close(&self->victim);
}

TEST_F(hogs, what_keeps_others_off_is_stopped)
{
	struct vf_submit what = { 0 };
	int64_t begun, took;

	if (variant->draws)
		vf_cmd_draw(self->hog, variant->draws, variant->draw_ns);
	else
		cmd_hang(self->hog);
	ASSERT_EQ(0, variant->kernel ? vf_submit(&self->hog, 1, &what) :
				       vf_queue_submit(self->hog));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->hog) == DRM_VFENCE_QUEUE_RUNNING));

	begun = vf_deadline(0);
	vf_cmd_draw(self->queue, 1, 1000);
	ASSERT_EQ(0, variant->kernel ? vf_submit(&self->queue, 1, &what) :
				       vf_queue_submit(self->queue));
	ASSERT_EQ(0, vf_queue_wait_idle(self->queue, DEADLINE));
	took = vf_deadline(0) - begun;
	if (deterministic()) {
		TH_LOG("%.2f ms", (double)took / MS);
		EXPECT_GT(103 * MS, took);
	}
	EXPECT_ONLY_THE_ATTACKER_IS_STOPPED(self, self->hog);
}

FIXTURE(patient)
{
	struct tenant attacker, victim;
	struct vf_queue *slow, *queue;
};

FIXTURE_VARIANT(patient)
{
	unsigned int node;
	uint32_t draws;
	int64_t draw_ns;
	/* Longest time that the victim may wait. */
	int64_t bound;
};

FIXTURE_VARIANT_ADD(patient, with_draws_of_100_ms)
	{ DRM_VFENCE_NODE_GFX, 5, 100 * MS, 103 * MS };
FIXTURE_VARIANT_ADD(patient, with_short_draws)
	{ DRM_VFENCE_NODE_COMPUTE, 5000, MS / 10, 3 * MS };
FIXTURE_VARIANT_ADD(patient, with_jobs_of_90_ms)
	{ DRM_VFENCE_NODE_MM, 90, 1 * MS, 103 * MS };
/* A copy engine stops at once, also inside a draw. */
FIXTURE_VARIANT_ADD(patient, with_a_long_copy)
	{ DRM_VFENCE_NODE_COPY, 1, 500 * MS, 3 * MS };

FIXTURE_SETUP(patient)
{
	ASSERT_EQ(0, tenant_open(&self->attacker));
	ASSERT_EQ(0, tenant_open(&self->victim));
	self->slow = tenant_add(&self->attacker, variant->node, false);
	self->queue = tenant_add(&self->victim, variant->node, false);
	ASSERT_NE(NULL, self->slow);
	ASSERT_NE(NULL, self->queue);
}

FIXTURE_TEARDOWN(patient)
{
	tenant_close(&self->attacker);
	tenant_close(&self->victim);
}

/* A queue that leaves in time goes on afterwards, and its packet takes its whole time. */
TEST_F(patient, what_leaves_in_time_is_not_stopped)
{
	int64_t whole = variant->draws * variant->draw_ns;
	int64_t begun, took, asked;

	begun = vf_deadline(0);
	vf_cmd_draw(self->slow, variant->draws, variant->draw_ns);
	ASSERT_EQ(0, vf_queue_submit(self->slow));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->slow) == DRM_VFENCE_QUEUE_RUNNING));
	asked = vf_deadline(0);
	vf_cmd_draw(self->queue, 1, 1000);
	ASSERT_EQ(0, vf_queue_submit(self->queue));
	ASSERT_EQ(0, vf_queue_wait_idle(self->queue, DEADLINE));
	took = vf_deadline(0) - asked;
	if (deterministic()) {
		TH_LOG("%.2f ms", (double)took / MS);
		EXPECT_GT(variant->bound, took);
	}
	ASSERT_EQ(0, vf_queue_wait_idle(self->slow, DEADLINE));
	EXPECT_LE(whole, vf_deadline(0) - begun);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, device_state(&self->attacker));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, device_state(&self->victim));
}

/* ------------------------------------------------------------- processor time */

static char engine_stat[64];

static void find_stat(pid_t task, int unused)
{
	snprintf(engine_stat, sizeof(engine_stat), "/proc/%d/schedstat", task);
}

/* Return: the processor time that the thread of an engine has used, in ns. */
static uint64_t engine_cpu_ns(unsigned int node)
{
	unsigned long long ns = 0;
	char name[32];
	FILE *f;

	snprintf(name, sizeof(name), "vfence0-engine%u", node);
	engine_stat[0] = 0;
	each_kthread(name, find_stat, 0);
	f = fopen(engine_stat, "re");
	if (f && fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	if (f)
		fclose(f);
	return ns;
}

/* Return: the processor time that the engines of all nodes have used, in ns. */
static uint64_t all_cpu_ns(void)
{
	uint64_t ns = 0;
	unsigned int node;

	for (node = 0; node < 4; node++)
		ns += engine_cpu_ns(node);
	return ns;
}

/* Return: the share of a processor that the engines use, which are busy, in percent. */
static unsigned int cpu_percent(void)
{
	uint64_t used = all_cpu_ns();
	int64_t begun = vf_deadline(0);

	let_pass(SECOND / 4);
	used = all_cpu_ns() - used;
	return 100 * used / (vf_deadline(0) - begun);
}

/*
 * Packets that cost nothing but their emulation use a quarter of a processor at most, on all
 * engines of the chip together.
 */
TEST_F(two, engines_use_a_quarter_of_a_processor)
{
	unsigned int node, percent;

	NEEDS_EXACT_TIME();
	NEEDS_PROCESSOR_TIME();
	for (node = 0; node < 4; node++) {
		struct vf_queue *flood = tenant_add(&self->attacker, node, false);

		ASSERT_NE(NULL, flood);
		ASSERT_EQ(0, hog(flood, 0));
		ASSERT_TRUE(EVENTUALLY(queue_state(flood) == DRM_VFENCE_QUEUE_RUNNING));
	}
	percent = cpu_percent();
	TH_LOG("%u %% of a processor", percent);
	EXPECT_GE(29, percent);
	EXPECT_LE(15, percent);
}

/* A draw behind packets that are expensive to emulate begins when the thread has rested for them. */
TEST_F(two, no_draw_passes_while_the_thread_rests)
{
	struct drm_vfence_clock_info clock;
	struct vf_buffer *buffer;
	struct vf_queue *queue;
	uint64_t used, ns;
	unsigned int i, k;
	int64_t begun;

	NEEDS_EXACT_TIME();
	ASSERT_EQ(0, vf_queue_create(self->attacker.device, DRM_VFENCE_NODE_GFX, 16384, &queue));
	ASSERT_EQ(0, vf_buffer_create(self->attacker.adapter, 4096, &buffer));
	used = engine_cpu_ns(DRM_VFENCE_NODE_GFX);
	begun = vf_deadline(0);
	for (i = 0; i < 20; i++) {
		for (k = 0; k < 1500; k++)
			vf_cmd_nop(queue, 8);
		vf_cmd_draw(queue, 1, MS);
		vf_cmd_timestamp(queue, vf_buffer_va(buffer));
		ASSERT_EQ(0, vf_queue_submit(queue));
		ASSERT_EQ(0, vf_queue_wait_idle(queue, DEADLINE));
		/* The client wakes up soon after the end of the draw. */
		ASSERT_EQ(0, vf_adapter_clock(self->attacker.adapter, &clock));
		EXPECT_GE(MS / 4, (clock.gpu_ticks - *(uint64_t *)vf_buffer_map(buffer)) *
				  (SECOND / clock.frequency_hz));
	}
	ns = vf_deadline(0) - begun;
	used = engine_cpu_ns(DRM_VFENCE_NODE_GFX) - used;
	TH_LOG("%.2f ms, %.2f of a processor", (double)ns / MS, (double)used / MS);
	/* The thread rests three times as long as it worked. A part of that is left for the draw. */
	EXPECT_LE(20 * MS + 2 * used, ns);
	vf_buffer_destroy(buffer);
	vf_queue_destroy(queue);
}

/* An engine sleeps for each of these draws, because a signal is behind it. */
static struct vf_queue *add_sleeper(struct tenant *t, unsigned int node, struct vf_fence *fence,
				    unsigned int draw_ns)
{
	struct vf_queue *queue;
	unsigned int i;

	if (vf_queue_create(t->device, node, 2 * 1024 * 1024, &queue))
		return NULL;
	for (i = 0; i < 16000; i++) {
		vf_cmd_draw(queue, 1, draw_ns);
		vf_cmd_signal(queue, fence, 1);
	}
	return vf_queue_submit(queue) ? NULL : queue;
}

/* So do draws that are so short that the thread sleeps for each of them. */
TEST_F(two, engines_that_sleep_often_use_a_quarter_of_a_processor)
{
	static const unsigned int draw_ns[] = { 1000, 20000 };
	struct vf_queue *queue[4];
	struct vf_fence *fence;
	unsigned int i, node, percent;

	NEEDS_EXACT_TIME();
	NEEDS_PROCESSOR_TIME();
	ASSERT_EQ(0, vf_fence_create(self->attacker.device, 0, 0, &fence));
	for (i = 0; i < 2; i++) {
		for (node = 0; node < 4; node++) {
			queue[node] = add_sleeper(&self->attacker, node, fence, draw_ns[i]);
			ASSERT_NE(NULL, queue[node]);
			ASSERT_TRUE(EVENTUALLY(queue_state(queue[node]) ==
					       DRM_VFENCE_QUEUE_RUNNING));
		}
		percent = cpu_percent();
		TH_LOG("draws of %u ns: %u %% of a processor", draw_ns[i], percent);
		EXPECT_GE(29, percent);
		EXPECT_LE(15, percent);
		for (node = 0; node < 4; node++) {
			EXPECT_EQ(DRM_VFENCE_QUEUE_RUNNING, queue_state(queue[node]));
			ASSERT_EQ(0, vf_queue_abort(queue[node]));
			vf_queue_destroy(queue[node]);
		}
	}
	vf_fence_destroy(fence);
}

static bool has_function_tracer(void)
{
	FILE *f = fopen("/sys/kernel/tracing/available_tracers", "re");
	char name[64];
	bool has = false;

	while (f && fscanf(f, "%63s", name) == 1)
		has |= !strcmp(name, "function");
	if (f)
		fclose(f);
	return has;
}

/* The kernel waits for all tasks before it frees the code that a tracer used. */
TEST_F(two, a_flooded_engine_does_not_block_the_tracer)
{
	struct vf_queue *flood = tenant_add(&self->attacker, DRM_VFENCE_NODE_GFX, false);
	const char *tracer = "/sys/kernel/tracing/current_tracer";
	int64_t begun;

	NEEDS_EXACT_TIME();
	if (access(tracer, W_OK) || !has_function_tracer())
		SKIP(return, "needs tracefs with the function tracer");
	ASSERT_NE(NULL, flood);
	ASSERT_EQ(0, hog(flood, 0));
	ASSERT_TRUE(EVENTUALLY(client_time(&self->attacker, "gfx")));
	begun = vf_deadline(0);
	ASSERT_EQ(0, write_text(tracer, "function"));
	ASSERT_EQ(0, write_text(tracer, "nop"));
	TH_LOG("%.1f ms", (double)(vf_deadline(0) - begun) / MS);
	EXPECT_GT(SECOND, vf_deadline(0) - begun);
}

#define LOOPS	200

/* Return: the process of a loop that never sleeps, once the other end of @start is closed. */
static pid_t busy_loop(const int start[2])
{
	pid_t pid = fork();
	char c;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	hurry(0, 0);
	close(start[1]);
	if (read(start[0], &c, 1))
		_exit(1);
	for (;;)
		__asm__ volatile("");
}

FIXTURE(loaded)
{
	struct tenant client;
	struct vf_queue *kernel, *queue;
	pid_t loop[LOOPS];
};

FIXTURE_SETUP(loaded)
{
	unsigned int i;
	int start[2];

	NEEDS_EXACT_TIME();
	NEEDS_PROCESSOR_TIME();
	ASSERT_EQ(0, pipe2(start, O_CLOEXEC));
	ASSERT_EQ(0, tenant_open(&self->client));
	self->kernel = tenant_add(&self->client, DRM_VFENCE_NODE_GFX, true);
	self->queue = tenant_add(&self->client, DRM_VFENCE_NODE_MM, false);
	ASSERT_NE(NULL, self->kernel);
	ASSERT_NE(NULL, self->queue);
	/* This thread is no part of the load. */
	hurry(0, 1);
	for (i = 0; i < LOOPS; i++)
		self->loop[i] = busy_loop(start);
	/* They begin with the priority of this thread. */
	for (i = 0; i < LOOPS; i++)
		ASSERT_TRUE(EVENTUALLY(sched_getscheduler(self->loop[i]) == SCHED_OTHER));
	close(start[0]);
	close(start[1]);
}

FIXTURE_TEARDOWN(loaded)
{
	unsigned int i;

	for (i = 0; i < LOOPS && self->loop[i]; i++)
		kill(self->loop[i], SIGKILL);
	while (i--)
		waitpid(self->loop[i], NULL, 0);
	hurry(0, 0);
	tenant_close(&self->client);
}

/* Programs that keep the processors busy delay the engines hardly, and nothing is lost. */
TEST_F_TIMEOUT(loaded, a_loaded_machine_loses_nothing, 120)
{
	struct vf_counters before = counters(self->client.adapter), after;
	struct vf_submit what = { 0 };
	int64_t begun = vf_deadline(0), took;

	vf_cmd_draw(self->queue, 90, MS);
	EXPECT_EQ(0, vf_queue_submit(self->queue));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(vf_queue_progress(self->queue)) == 1));
	took = vf_deadline(0) - begun;
	TH_LOG("a job of 90 ms took %.1f ms", (double)took / MS);
	EXPECT_GT(120 * MS, took);

	vf_cmd_draw(self->kernel, 20, 10 * MS);
	EXPECT_EQ(0, vf_submit(&self->kernel, 1, &what));
	EXPECT_EQ(0, vf_queue_suspend(self->queue, NULL));
	EXPECT_EQ(0, vf_queue_resume(self->queue));
	EXPECT_EQ(0, vf_queue_wait_idle(self->kernel, DEADLINE));
	/* The adapter can be reset, too: its clients get out of the driver in time. */
	EXPECT_EQ(0, inject(0, "reset_adapter", "1"));
	EXPECT_TRUE(working(self->client.adapter));
	TH_LOG("all took %.1f ms", (double)(vf_deadline(0) - begun) / MS);

	after = counters(self->client.adapter);
	EXPECT_EQ(before.engine_resets, after.engine_resets);
	EXPECT_EQ(before.submissions_timed_out, after.submissions_timed_out);
	EXPECT_EQ(before.adapter_resets + 1, after.adapter_resets);
	EXPECT_EQ(DRM_VFENCE_DEVICE_RESET, device_state(&self->client));
}

static unsigned int hardware_seen, hardware_realtime;

/* Count the threads of an adapter that are its engines and its CMP, and those with a real-time priority. */
static void check_hardware(pid_t task, int unused)
{
	(void)unused;
	hardware_seen++;
	hardware_realtime += sched_getscheduler(task) == SCHED_FIFO;
}

TEST(hardware_does_not_wait_for_programs)
{
	struct vf_adapter *adapter;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, vf_adapter_open(0, &adapter));
	/* Each thread changes its priority when it runs for the first time. */
	EXPECT_TRUE(EVENTUALLY((hardware_seen = hardware_realtime = 0,
				each_kthread("vfence0-", check_hardware, 0),
				hardware_seen > DRM_VFENCE_NODE_MM &&
				hardware_realtime == hardware_seen)));
	TH_LOG("%u threads, %u of them real-time", hardware_seen, hardware_realtime);
	vf_adapter_close(adapter);
}

/*
 * The GPU raises its interrupt at once. When the handler's thread runs is up to the kernel. An engine
 * leaves its posts to the thread of the CMP if there are others before them. A thread of normal
 * priority is lucky most of the time, see the test above.
 */
TEST_F(loaded, a_loaded_machine_delays_no_interrupt)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_fence *fence;
	int64_t longest = 0;
	uint64_t value;

	ASSERT_EQ(0, vf_fence_create(self->client.device, 0, 0, &fence));
	for (value = 1; value < 2 * INTERRUPTS; value += 2) {
		uint64_t before = counters(self->client.adapter).interrupts_raised;
		int64_t begun, took;
		bool raised;

		ASSERT_EQ(0, arm(self->client.adapter, fence, value, efd));
		ASSERT_EQ(0, inject(0, "hold_posts", "1"));
		vf_cmd_signal(self->queue, fence, value);
		ASSERT_EQ(0, vf_queue_submit(self->queue));
		ASSERT_TRUE(EVENTUALLY(vf_fence_current(fence) == value));
		ASSERT_EQ(0, inject(0, "hold_posts", "0"));
		vf_cmd_signal(self->queue, fence, value + 1);
		ASSERT_EQ(0, vf_queue_submit(self->queue));
		ASSERT_TRUE(EVENTUALLY(vf_fence_current(fence) == value + 1));
		begun = vf_deadline(0);
		/* To read the counters takes longer than the interrupt may: a first look sees it. */
		raised = counters(self->client.adapter).interrupts_raised > before;
		took = raised ? 0 : vf_deadline(0) - begun;
		EXPECT_TRUE(EVENTUALLY(counters(self->client.adapter).interrupts_raised > before));
		longest = took > longest ? took : longest;
		EXPECT_TRUE(EVENTUALLY(fired(efd)));
		EXPECT_EQ(8, read(efd, &(uint64_t){ 0 }, 8));
	}
	TH_LOG("an interrupt came after %.1f ms", (double)longest / MS);
	EXPECT_GT(MS, longest);
	close(efd);
	vf_fence_destroy(fence);
}

TEST_HARNESS_MAIN
