// SPDX-License-Identifier: GPL-2.0-only
/*
 * vfence bench memory: how many bytes of the kernel's memory an object takes. It compares the free
 * memory of the machine before and after many objects, less what the process itself has taken: on a
 * machine that does nothing else the figure is good to a few percent.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <json-c/json.h>

#include "tool.h"

/* Clients that have the objects: each may have only so many. */
#define CLIENTS		8
#define EVENTS		64
#define EVENT_POINTS	1000

struct client {
	struct vf_adapter *adapter;
	struct vf_device *device;
	/* What waiters wait for. */
	struct vf_fence *fence;
	struct vf_fence *fences[4000];
	struct vf_queue *queues[60];
	struct vf_point points[EVENT_POINTS];
	int eventfd;
};

struct kind {
	/* In JSON, where it stays, and in text. */
	const char *key, *name;
	unsigned int of_each_client;
	int (*create)(struct client *client, unsigned int i);
	void (*destroy)(struct client *client, unsigned int i);
};

static int create_private(struct client *client, unsigned int i)
{
	return vf_fence_create(client->device, 0, 0, &client->fences[i]);
}

static int create_shared(struct client *client, unsigned int i)
{
	return vf_fence_create(client->device, DRM_VFENCE_FENCE_SHAREABLE, 0, &client->fences[i]);
}

static void destroy_fence(struct client *client, unsigned int i)
{
	vf_fence_destroy(client->fences[i]);
}

static int create_queue(struct client *client, unsigned int i)
{
	return vf_queue_create(client->device, 0, 4096, &client->queues[i]);
}

static void destroy_queue(struct client *client, unsigned int i)
{
	vf_queue_destroy(client->queues[i]);
}

static int create_event(struct client *client, unsigned int i)
{
	(void)i;
	return vf_event_arm(client->adapter, client->points, 1, 0, client->eventfd, NULL);
}

/* An event with many points has as many waiters: its own memory hardly counts. */
static int create_waiters(struct client *client, unsigned int i)
{
	if (i % EVENT_POINTS)
		return 0;
	return vf_event_arm(client->adapter, client->points, EVENT_POINTS, 0, client->eventfd, NULL);
}

/* All fire with the first signal. */
static void destroy_events(struct client *client, unsigned int i)
{
	if (!i)
		vf_fence_signal(client->fence, 1);
}

static const struct kind kinds[] = {
	{ "private_fence", "private fence", 4000, create_private, destroy_fence },
	{ "shareable_fence", "shareable fence", 1000, create_shared, destroy_fence },
	{ "event", "event with one waiter", 4000, create_event, destroy_events },
	{ "further_waiter", "further waiter of an event", EVENTS * EVENT_POINTS, create_waiters,
	  destroy_events },
	{ "queue", "queue, with a ring of 4 KiB", 60, create_queue, destroy_queue },
};

#define KINDS	(sizeof(kinds) / sizeof(kinds[0]))

/*
 * Return: the bytes in the lists of free pages that each processor has, or a negative errno. The kernel
 * does not count them as free.
 */
static int64_t listed_bytes(void)
{
	FILE *f = fopen("/proc/zoneinfo", "re");
	unsigned long long pages = 0, count;
	char line[128];

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " count: %llu", &count) == 1)
			pages += count;
	fclose(f);
	return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

/* Return: the bytes of memory that the kernel uses, or a negative errno. */
static int64_t kernel_bytes(void)
{
	unsigned long long total = 0, available = 0, anonymous = 0;
	int64_t listed = listed_bytes();
	char line[128];
	FILE *f;

	if (listed < 0)
		return listed;
	f = fopen("/proc/meminfo", "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "MemTotal: %llu", &total);
		sscanf(line, "MemFree: %llu", &available);
		sscanf(line, "AnonPages: %llu", &anonymous);
	}
	fclose(f);
	return (int64_t)(total - available - anonymous) * 1024 - listed;
}

/*
 * The kernel frees the objects of the kind before some time after they were destroyed: begin when
 * the used memory has been the same for a second, or after ten.
 */
static void let_settle(void)
{
	int64_t before = kernel_bytes(), now;
	unsigned int same = 0, i;

	for (i = 0; i < 100 && same < 10; i++) {
		usleep(100000);
		now = kernel_bytes();
		same = now == before ? same + 1 : 0;
		before = now;
	}
}

static int client_open(struct client *client)
{
	int ret = vf_adapter_open(0, &client->adapter);
	unsigned int i;

	ret = ret ? ret : vf_device_create(client->adapter, &client->device);
	ret = ret ? ret : vf_fence_create(client->device, 0, 0, &client->fence);
	client->eventfd = eventfd(0, EFD_CLOEXEC);
	for (i = 0; i < EVENT_POINTS; i++)
		client->points[i] = (struct vf_point) { client->fence, 1 };
	return ret ? ret : client->eventfd < 0 ? -errno : 0;
}

static void client_close(struct client *client)
{
	if (client->fence)
		vf_fence_destroy(client->fence);
	if (client->device)
		vf_device_destroy(client->device);
	if (client->adapter)
		vf_adapter_close(client->adapter);
	/* A client that was not opened is all zero. */
	if (client->eventfd > 0)
		close(client->eventfd);
}

/* Return: the bytes that all objects of a kind take, or a negative errno. */
static int64_t all_bytes(const struct kind *kind, struct client *clients)
{
	unsigned int created[CLIENTS] = { 0 }, i, k;
	int64_t bytes;
	int ret = 0;

	let_settle();
	bytes = kernel_bytes();
	for (i = 0; !ret && i < CLIENTS; i++)
		while (!ret && created[i] < kind->of_each_client) {
			ret = kind->create(&clients[i], created[i]);
			created[i] += !ret;
		}
	bytes = kernel_bytes() - bytes;
	for (i = 0; i < CLIENTS; i++)
		for (k = 0; k < created[i]; k++)
			kind->destroy(&clients[i], k);
	return ret ? ret : bytes;
}

static int measure_kind(const struct kind *kind, bool json, json_object *to)
{
	struct client *clients = calloc(CLIENTS, sizeof(*clients));
	unsigned int i, count = CLIENTS * kind->of_each_client;
	int64_t bytes = 0;
	int ret = clients ? 0 : -ENOMEM;

	for (i = 0; !ret && i < CLIENTS; i++)
		ret = client_open(&clients[i]);
	if (!ret)
		bytes = all_bytes(kind, clients);
	if (bytes < 0)
		ret = (int)bytes;
	for (i = 0; clients && i < CLIENTS; i++)
		client_close(&clients[i]);
	free(clients);
	if (ret)
		return ret;
	json_object_object_add(to, kind->key, json_object_new_int64(bytes / count));
	if (!json)
		printf("%8lld bytes: %s\n", (long long)bytes / count, kind->name);
	return 0;
}

int bench_memory_main(const struct options *options)
{
	json_object *o = json_object_new_object();
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < KINDS; i++)
		ret = measure_kind(&kinds[i], options->json, o);
	if (ret)
		tool_fail("bench memory", ret);
	else if (options->json)
		puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
	return ret;
}
