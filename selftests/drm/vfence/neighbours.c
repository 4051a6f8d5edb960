// SPDX-License-Identifier: GPL-2.0-only
/*
 * Neighbours on an engine: an attacker takes what it can, and a victim must keep its share
 * of the engine, its time and its device. Each client is an open file of its own.
 *
 * Bounds on durations are checked on the deterministic clock only: elsewhere the figures
 * would tell how loaded the machine is.
 */

#include "vfence_test.h"

#define MS		INT64_C(1000000)
#define MAX_QUEUES	60
#define MAX_CLIENTS	8

#define NEEDS_EXACT_TIME() do {							\
	if (!deterministic())							\
		SKIP(return, "needs the deterministic clock");			\
} while (0)

struct client {
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue[MAX_QUEUES];
	unsigned int queues;
};

static int client_open(struct client *client)
{
	int ret;

	memset(client, 0, sizeof(*client));
	ret = vf_adapter_open(0, &client->adapter);
	return ret ? ret : vf_device_create(client->adapter, &client->device);
}

static struct vf_queue *client_add(struct client *client, unsigned int node, bool kernel)
{
	struct vf_queue **queue = &client->queue[client->queues];
	int ret = kernel ? vf_kernel_queue_create(client->device, node, queue) :
			   vf_queue_create(client->device, node, 4096, queue);

	if (ret)
		return NULL;
	client->queues++;
	return *queue;
}

static void client_close(struct client *client)
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
static uint64_t client_time(struct client *client, const char *engine)
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
	struct client client[MAX_CLIENTS];
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
		ASSERT_EQ(0, client_open(&self->client[i]));
	for (i = 0; i < variant->clients; i++)
		for (k = 0; k < (i ? variant->queues : 1); k++)
			ASSERT_NE(NULL, client_add(&self->client[i], DRM_VFENCE_NODE_GFX, false));
}

FIXTURE_TEARDOWN(shares)
{
	unsigned int i;

	for (i = 0; i < variant->clients; i++)
		client_close(&self->client[i]);
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
	struct client attacker, victim;
};

FIXTURE_SETUP(two)
{
	ASSERT_EQ(0, client_open(&self->attacker));
	ASSERT_EQ(0, client_open(&self->victim));
}

FIXTURE_TEARDOWN(two)
{
	client_close(&self->attacker);
	client_close(&self->victim);
}

/* A client that comes late gets its part from then on, and nothing for the time before. */
TEST_F(two, a_sleeper_saves_up_no_time)
{
	struct vf_queue *late = client_add(&self->attacker, DRM_VFENCE_NODE_GFX, false);
	struct vf_queue *early = client_add(&self->victim, DRM_VFENCE_NODE_GFX, false);
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

TEST_HARNESS_MAIN
