/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fixture of tests of virtual functions, which share the engines of adapter 14. The tests make
 * them, and they are removed at the end.
 */
#ifndef _WORLD_FIXTURE_H_
#define _WORLD_FIXTURE_H_

#include "vfence_test.h"

#define PHYSICAL	14
#define VF(n)		(16 * (PHYSICAL + 1) + (n) - 1)
#define DEVICE		"/sys/bus/platform/devices/vfence.14/"
#define ADMIN		DEVICE "sriov_admin/"
#define MS		INT64_C(1000000)
#define MOST		16

/* The client of one function. */
struct guest {
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *gfx;
	struct vf_fence *fence;
};

static int guest_begin(struct guest *g)
{
	int ret = vf_device_create(g->adapter, &g->device);

	ret = ret ? ret : vf_queue_create(g->device, DRM_VFENCE_NODE_GFX, 65536, &g->gfx);
	return ret ? ret : vf_fence_create(g->device, 0, 0, &g->fence);
}

static int guest_open(struct guest *g, unsigned int number)
{
	int ret = vf_adapter_open(number, &g->adapter);

	return ret ? ret : guest_begin(g);
}

static void guest_close(struct guest *g)
{
	if (g->gfx)
		vf_queue_abort(g->gfx);
	vf_queue_destroy(g->gfx);
	if (g->fence)
		vf_fence_destroy(g->fence);
	if (g->device)
		vf_device_destroy(g->device);
	vf_adapter_close(g->adapter);
}

static inline int configure(const char *file, const char *value)
{
	char path[160];

	snprintf(path, sizeof(path), ADMIN "%s", file);
	return write_text(path, value);
}

/* Configure all functions: "exec_quantum_us" and the like. */
static inline int configure_all(const char *file, const char *value)
{
	char path[64];
	int i, ret = 0;

	for (i = 1; i <= MOST && !ret; i++) {
		snprintf(path, sizeof(path), "vf%d/profile/%s", i, file);
		ret = configure(path, value);
	}
	return ret;
}

/* Return: a number of a function, or of all (-1), in a group; UINT64_MAX if there is none. */
static inline uint64_t stat_of(int function, const char *group, const char *key)
{
	char path[64], line[4096], word[64];
	uint64_t value = UINT64_MAX;
	FILE *f;

	if (function < 0)
		snprintf(path, sizeof(path), ADMIN "stat");
	else
		snprintf(path, sizeof(path), function ? ADMIN "vf%d/stat" : ADMIN "pf/stat",
			 function);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *at;

		if (strncmp(line, group, strlen(group)))
			continue;
		snprintf(word, sizeof(word), " %s ", key);
		at = strstr(line, word);
		if (at)
			value = strtoull(at + strlen(word), NULL, 10);
	}
	if (f)
		fclose(f);
	return value;
}

/* Return: how many messages of a kind the driver of a function has had; -1 on an error. */
static inline int received(int function, const char *kind)
{
	char path[400], name[32];
	int count = -1, n;
	FILE *f;

	if (debugfs_path(VF(function), "mail_received", path, sizeof(path)))
		return -1;
	f = fopen(path, "re");
	while (f && fscanf(f, "%31s %d", name, &n) == 2)
		if (!strcmp(name, kind))
			count = n;
	if (f)
		fclose(f);
	return count;
}

/* Return: a number of a guard's kind: events admitted, or dropped; -1 on an error. */
static inline long long guard_stat(int function, const char *kind, bool dropped)
{
	char path[160], name[32];
	long long a, d, value = -1;
	FILE *f;

	snprintf(path, sizeof(path), ADMIN "vf%d/guard/stat", function);
	f = fopen(path, "re");
	while (f && fscanf(f, "%31s admitted %lld dropped %lld", name, &a, &d) == 3)
		if (!strcmp(name, kind))
			value = dropped ? d : a;
	if (f)
		fclose(f);
	return value;
}

/* Submit a frame of 2 ms. */
static inline int draw_frame(struct guest *g)
{
	vf_cmd_draw(g->gfx, 20, MS / 10);
	return vf_queue_submit(g->gfx);
}

/* Return: the longest time of one of several frames, in ns; negative on an error. */
static inline int64_t longest_frame(struct guest *g, unsigned int frames)
{
	int64_t longest = 0;

	while (frames--) {
		int64_t begun = vf_deadline(0), took;

		if (draw_frame(g) || !drained(g->gfx))
			return -EIO;
		took = vf_deadline(0) - begun;
		longest = took > longest ? took : longest;
	}
	return longest;
}

/* Return: true if all work of the client is done by now. */
static inline bool is_done(struct guest *g)
{
	return vf_fence_current(vf_queue_progress(g->gfx)) >= vf_queue_last_queued(g->gfx);
}

FIXTURE(world) {
	struct guest guest[MOST];
	unsigned int count;
};

/* Make functions, and open a client on each. */
static int world_make(FIXTURE_DATA(world) *self, unsigned int count)
{
	char text[8];
	unsigned int i;
	int ret;

	snprintf(text, sizeof(text), "%u", count);
	/* A test that was killed leaves its functions. */
	ret = access(ADMIN, F_OK) ? 0 : write_text(DEVICE "sriov_numvfs", "0");
	ret = ret ?: write_text(DEVICE "sriov_numvfs", text);
	for (i = 0; i < count && !ret; i++, self->count++)
		ret = guest_open(&self->guest[i], VF(i + 1));
	return ret;
}

FIXTURE_SETUP(world)
{
	if (geteuid() || access(DEVICE "drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	memset(self, 0, sizeof(*self));
}

static int world_end(FIXTURE_DATA(world) *self)
{
	unsigned int i;

	for (i = 0; i < self->count; i++)
		guest_close(&self->guest[i]);
	return access(ADMIN, F_OK) ? 0 : write_text(DEVICE "sriov_numvfs", "0");
}

FIXTURE_TEARDOWN(world)
{
	EXPECT_EQ(0, world_end(self));
}

/* Return: true once the work of all clients is done. */
static inline bool all_drained(FIXTURE_DATA(world) *self)
{
	bool done = true;
	unsigned int i;

	for (i = 0; i < self->count; i++)
		done &= drained(self->guest[i].gfx);
	return done;
}

#endif
