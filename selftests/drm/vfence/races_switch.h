/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The race lab's virtual functions: three share the engines of one chip. Their clients submit bursts
 * of small jobs at random, and pause functions in between. A message that is lost shows at the end of
 * a burst: other messages would heal it, and none comes any more. Each job sets a register and stores
 * it after its draws: it is right only if each switch saves and loads what it must.
 */
#ifndef _RACES_SWITCH_H_
#define _RACES_SWITCH_H_

#include "vfence_test.h"

/* The number of the physical function, behind the lab's other adapters. */
#define CHIP		4
#define FUNCTIONS	3
#define BURSTS		24
/* Most jobs of a burst. */
#define JOBS		4
#define LOST		(5 * SECOND)

/* One queue of a function's client. */
struct stage {
	struct vf_queue *queue;
	struct vf_buffer *buffer;
	/* What each job has set, and how many jobs there are in this burst. */
	uint64_t set[JOBS];
	unsigned int jobs;
};

/* The client of one function. */
struct player {
	struct vf_adapter *adapter;
	struct vf_device *device;
	/* On GFX, which stops between two draws, and on COPY, which stops at once. */
	struct stage stage[2];
};

struct troupe {
	struct player player[FUNCTIONS];
	uint64_t value;
};

static uint64_t dice(uint64_t sides);

static int troupe_write(const char *file, const char *value)
{
	char path[120];

	snprintf(path, sizeof(path), "/sys/bus/platform/devices/vfence.%d/%s", CHIP, file);
	return write_text(path, value);
}

static int stage_open(struct player *player, unsigned int node, struct stage *stage)
{
	int ret = vf_queue_create(player->device, node, 4096, &stage->queue);

	return ret ? ret : vf_buffer_create(player->adapter, 4096, &stage->buffer);
}

static int player_open(struct player *player, unsigned int function)
{
	unsigned int number = 16 * (CHIP + 1) + function - 1;
	int ret = vf_adapter_open(number, &player->adapter);

	ret = ret ? ret : vf_device_create(player->adapter, &player->device);
	ret = ret ? ret : stage_open(player, DRM_VFENCE_NODE_GFX, &player->stage[0]);
	ret = ret ? ret : stage_open(player, DRM_VFENCE_NODE_COPY, &player->stage[1]);
	/* No check of the driver hides a loss. */
	return ret ? ret : tdr_configure(number, "delay_ms", "20000");
}

static int troupe_open(struct troupe *troupe)
{
	unsigned int i;
	int ret = troupe_write("sriov_numvfs", "3");

	memset(troupe, 0, sizeof(*troupe));
	ret = ret ? ret : troupe_write("sriov_admin/response_us", "20");
	ret = ret ? ret : troupe_write("sriov_admin/switch_us", "10");
	for (i = 0; i < FUNCTIONS && !ret; i++)
		ret = player_open(&troupe->player[i], i + 1);
	return ret;
}

static void troupe_close(struct troupe *troupe)
{
	unsigned int i, k;

	for (i = 0; i < FUNCTIONS; i++) {
		struct player *player = &troupe->player[i];

		for (k = 0; k < 2; k++) {
			vf_queue_destroy(player->stage[k].queue);
			vf_buffer_destroy(player->stage[k].buffer);
		}
		vf_device_destroy(player->device);
		vf_adapter_close(player->adapter);
	}
	troupe_write("sriov_numvfs", "0");
}

static const char *stage_job(struct troupe *troupe, struct stage *stage)
{
	unsigned int i = stage->jobs++, reg = dice(DRM_VFENCE_REGISTERS);

	stage->set[i] = ++troupe->value;
	vf_cmd_set_register(stage->queue, reg, stage->set[i]);
	vf_cmd_draw(stage->queue, 1 + dice(3), dice(30000));
	vf_cmd_read_register(stage->queue, reg, vf_buffer_va(stage->buffer) + 8 * i);
	return vf_queue_submit(stage->queue) ? "a job cannot be submitted" : NULL;
}

static const char *stage_end(struct stage *stage)
{
	const uint64_t *read = vf_buffer_map(stage->buffer);
	unsigned int i;

	if (vf_fence_wait(vf_queue_progress(stage->queue), vf_queue_last_queued(stage->queue),
			  vf_deadline(LOST)))
		return "a job of a function was not done";
	for (i = 0; i < stage->jobs; i++)
		if (read[i] != stage->set[i])
			return "a register was lost in a switch";
	return NULL;
}

/* Take the engines from a function in the middle of its jobs, and give them back. */
static const char *player_pause(unsigned int function)
{
	char file[40];

	snprintf(file, sizeof(file), "sriov_admin/vf%u/pause", function);
	return troupe_write(file, "1") || troupe_write(file, "0") ? "a function cannot be paused" :
								    NULL;
}

static const char *troupe_configure(void)
{
	static const char *const policies[] = { "elevator", "on-demand", "fair", "ahead" };
	static const char *const slices[] = { "100", "1000" };
	const char *slice = slices[dice(2)];
	char file[60];
	unsigned int i;
	int ret = troupe_write("sriov_admin/policy", policies[dice(ARRAY_SIZE(policies))]);

	for (i = 1; i <= FUNCTIONS && !ret; i++) {
		snprintf(file, sizeof(file), "sriov_admin/vf%u/profile/exec_quantum_us", i);
		ret = troupe_write(file, slice);
	}
	return ret ? "the functions cannot be configured" : NULL;
}

static const char *troupe_burst(struct troupe *troupe)
{
	unsigned int i, k, jobs = 1 + dice(JOBS);
	const char *what = NULL;

	for (i = 0; i < FUNCTIONS; i++)
		for (k = 0; k < 2; k++)
			troupe->player[i].stage[k].jobs = 0;
	for (i = 0; i < jobs && !what; i++) {
		unsigned int function = 1 + dice(FUNCTIONS);
		struct stage *stage = &troupe->player[function - 1].stage[dice(4) == 0];

		what = stage_job(troupe, stage);
		/* Then the next job begins while the function turns idle. */
		if (!what && dice(2))
			what = stage_end(stage);
		if (!what && !dice(20))
			what = player_pause(function);
	}
	for (i = 0; i < FUNCTIONS && !what; i++)
		for (k = 0; k < 2 && !what; k++)
			what = stage_end(&troupe->player[i].stage[k]);
	return what;
}

/* Return: NULL, or a text that names what was lost. */
static const char *troupe_play(struct troupe *troupe)
{
	const char *what = troupe_configure();
	unsigned int i;

	for (i = 0; i < BURSTS && !what; i++)
		what = troupe_burst(troupe);
	return what;
}

#endif
