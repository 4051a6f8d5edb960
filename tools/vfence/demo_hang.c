// SPDX-License-Identifier: GPL-2.0-only
/*
 * vfence demo hang: a client hangs the GFX engine. What a client beside it and one on the copy
 * engine do meanwhile, how the engine is reset, and how the client goes on with a new device. All
 * times of frames are those that the engines write, without help of the CPU.
 */

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "demo_hang.h"
#include "trace/live.h"

#define RING		32768
#define FRAME_NS	1000000
/* Bytes of a copy: it takes about as long as a frame while other engines are busy, too. */
#define COPY_BYTES	(96u << 10)
/* The first page of a buffer has the times of its frames, the rest is copied. */
#define TIMES		4096
#define CULPRIT_FRAMES	10
#define PATIENCE	INT64_C(20000000000)
#define RECOVERY	"vfence_recovery"

const char *const hang_step_names[HANG_STEPS + 1] = {
	[1] = "preempt", "detected", "snapshot", "empty?", "flush", "prepare", "reset", "check",
	"recover",
};

/* A client with a device and a queue. */
struct player {
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	struct vf_buffer *buffer;
};

static int open_player(struct player *p, unsigned int index, unsigned int node)
{
	uint64_t size = TIMES + (node == DRM_VFENCE_NODE_COPY ? 2 * COPY_BYTES : 0);
	int ret = vf_adapter_open(index, &p->adapter);

	if (!ret)
		ret = vf_device_create(p->adapter, &p->device);
	if (!ret)
		ret = vf_queue_create(p->device, node, RING, &p->queue);
	if (!ret)
		ret = vf_buffer_create(p->adapter, size, &p->buffer);
	return ret;
}

/* @failed: the queue may execute what does not end. */
static void close_player(struct player *p, bool failed)
{
	if (failed && p->queue)
		vf_queue_abort(p->queue);
	vf_queue_destroy(p->queue);
	vf_buffer_destroy(p->buffer);
	vf_device_destroy(p->device);
	vf_adapter_close(p->adapter);
}

/* Append frames, each between two time stamps. */
static void append(struct player *p, unsigned int frames, bool copy)
{
	uint64_t va = vf_buffer_va(p->buffer);
	unsigned int i;

	for (i = 0; i < frames; i++) {
		vf_cmd_timestamp(p->queue, va + 16 * i);
		if (copy)
			vf_cmd_copy(p->queue, va + TIMES + COPY_BYTES, va + TIMES, COPY_BYTES);
		else
			vf_cmd_draw(p->queue, 1, FRAME_NS);
		vf_cmd_timestamp(p->queue, va + 16 * i + 8);
	}
}

/* The culprit: frames, and behind them a packet that does not end. */
static int submit_hang(struct player *p)
{
	const struct drm_vfence_packet_header hang = {
		.opcode = DRM_VFENCE_OP_HANG, .length = sizeof(hang),
	};

	append(p, CULPRIT_FRAMES, false);
	vf_cmd_timestamp(p->queue, vf_buffer_va(p->buffer) + 16 * CULPRIT_FRAMES);
	vf_cmd_raw(p->queue, &hang, sizeof(hang));
	return vf_queue_submit(p->queue);
}

static int64_t cpu_time(const struct drm_vfence_clock_info *clock, const struct player *p,
			unsigned int i)
{
	uint64_t ticks = ((volatile uint64_t *)vf_buffer_map(p->buffer))[i];

	return ticks ? vf_clock_to_cpu(clock, ticks) : 0;
}

/* Read what the engines have written. */
static int read_frames(struct hang_result *r, struct player *player)
{
	struct drm_vfence_clock_info clock;
	unsigned int k, i;
	int ret;

	for (k = 0; k < HANG_PLAYERS; k++) {
		ret = vf_adapter_clock(player[k].adapter, &clock);
		if (ret)
			return ret;
		for (i = 0; i < r->frames[k]; i++) {
			struct hang_frame *frame = &r->frame[k][i];

			frame->begin = cpu_time(&clock, &player[k], 2 * i);
			frame->end = cpu_time(&clock, &player[k], 2 * i + 1);
			/* The engine may leave between the draw and the time stamp behind it. */
			if (k != HANG_COPY && frame->end > frame->begin + FRAME_NS)
				frame->end = frame->begin + FRAME_NS;
		}
		if (k == HANG_CULPRIT)
			r->hang = cpu_time(&clock, &player[k], 2 * CULPRIT_FRAMES);
	}
	return 0;
}

/* Return 0 once the device is lost. */
static int see_loss(struct hang_result *r, const struct player *p)
{
	const struct timespec pause = { .tv_nsec = 50000 };
	int64_t until = vf_deadline(PATIENCE);

	while ((r->state = vf_device_state(p->device)) == DRM_VFENCE_DEVICE_ACTIVE) {
		if (vf_deadline(0) > until)
			return -ETIME;
		nanosleep(&pause, NULL);
	}
	r->seen = vf_deadline(0);
	return 0;
}

static int play(struct hang_result *r, struct player *player, unsigned int index)
{
	static const unsigned int node[] = {
		[HANG_CULPRIT] = DRM_VFENCE_NODE_GFX, [HANG_BESIDE] = DRM_VFENCE_NODE_GFX,
		[HANG_COPY] = DRM_VFENCE_NODE_COPY,
	};
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < HANG_AGAIN; i++)
		ret = open_player(&player[i], index, node[i]);
	if (ret)
		return ret;
	r->frames[HANG_CULPRIT] = CULPRIT_FRAMES;
	r->frames[HANG_BESIDE] = 60;
	r->frames[HANG_COPY] = HANG_FRAMES;
	append(&player[HANG_COPY], r->frames[HANG_COPY], true);
	append(&player[HANG_BESIDE], r->frames[HANG_BESIDE], false);
	ret = vf_queue_submit(player[HANG_COPY].queue);
	if (!ret)
		ret = submit_hang(&player[HANG_CULPRIT]);
	if (!ret)
		ret = vf_queue_submit(player[HANG_BESIDE].queue);
	if (!ret)
		ret = see_loss(r, &player[HANG_CULPRIT]);
	/* The same client goes on with a new device. */
	if (!ret)
		ret = open_player(&player[HANG_AGAIN], index, DRM_VFENCE_NODE_GFX);
	if (ret)
		return ret;
	r->frames[HANG_AGAIN] = CULPRIT_FRAMES;
	append(&player[HANG_AGAIN], r->frames[HANG_AGAIN], false);
	ret = vf_queue_submit(player[HANG_AGAIN].queue);
	for (i = HANG_BESIDE; !ret && i < HANG_PLAYERS; i++)
		ret = vf_queue_wait_idle(player[i].queue, vf_deadline(PATIENCE));
	return ret ? ret : read_frames(r, player);
}

/* A step of a reset. */
static int record_step(struct tep_event *event, struct tep_record *record, int cpu, void *context)
{
	struct hang_result *r = context;
	unsigned long long step;

	(void)cpu;
	if (r->steps == HANG_STEPS || tep_get_field_val(NULL, event, "step", record, &step, 0))
		return 0;
	r->step[r->steps] = (unsigned int)step;
	r->at[r->steps++] = (int64_t)record->ts;
	return 0;
}

/* Return the number of frames that were executed, and the longest time between two of them. */
static unsigned int executed(const struct hang_result *r, enum hang_player_id id, int64_t *pause)
{
	const struct hang_frame *frame = r->frame[id];
	unsigned int i, count = 0;

	*pause = 0;
	for (i = 0; i < r->frames[id]; i++) {
		count += frame[i].end != 0;
		if (i && frame[i].begin - frame[i - 1].end > *pause)
			*pause = frame[i].begin - frame[i - 1].end;
	}
	return count;
}

static bool all_steps(const struct hang_result *r)
{
	unsigned int i;

	for (i = 0; i < HANG_STEPS; i++)
		if (i >= r->steps || r->step[i] != i + 1)
			return false;
	return true;
}

static double ms(int64_t ns)
{
	return (double)ns / 1e6;
}

/* Print what happened. Return 0 if it is what should have happened. */
static int tell(const struct hang_result *r, bool traced)
{
	int64_t pause[HANG_PLAYERS];
	unsigned int count[HANG_PLAYERS], k;
	bool right = r->state == DRM_VFENCE_DEVICE_HUNG && (!traced || all_steps(r));

	for (k = 0; k < HANG_PLAYERS; k++) {
		count[k] = executed(r, k, &pause[k]);
		right = right && count[k] == r->frames[k];
	}
	printf("A  GFX   %2u frames, then a packet that does not end\n", count[HANG_CULPRIT]);
	if (r->steps == HANG_STEPS) {
		printf("         found after %.2f ms, reset in nine steps within %.3f ms:\n",
		       ms(r->at[0] - r->hang), ms(r->at[HANG_STEPS - 1] - r->at[0]));
		for (k = 0; k < HANG_STEPS; k++)
			printf("         %u %-9s %+9.3f ms\n", r->step[k],
			       hang_step_names[r->step[k]], ms(r->at[k] - r->at[0]));
	}
	printf("         its device is lost; with a new one it draws %u frames, the first begins %.2f ms\n"
	       "         after the loss was seen\n", count[HANG_AGAIN],
	       ms(r->frame[HANG_AGAIN][0].begin - r->seen));
	printf("B  GFX   %u of %u frames, the longest pause %.2f ms\n", count[HANG_BESIDE],
	       r->frames[HANG_BESIDE], ms(pause[HANG_BESIDE]));
	printf("C  COPY  %u of %u copies, the longest pause %.3f ms\n", count[HANG_COPY],
	       r->frames[HANG_COPY], ms(pause[HANG_COPY]));
	if (!right && traced && !r->steps)
		puts("FAIL: no engine was reset; load the module with hung_us=20000");
	else if (!right)
		puts("FAIL: not all have gone on as they should");
	return right ? 0 : -EIO;
}

static int write_picture(const struct hang_result *r, const char *dir)
{
	char path[4096];

	if (mkdir(dir, 0777) && errno != EEXIST)
		return -errno;
	snprintf(path, sizeof(path), "%s/hang.svg", dir);
	return demo_hang_svg(r, path);
}

int demo_hang_main(const struct options *options)
{
	unsigned int i, index = options->adapter == UINT32_MAX ? 0 : options->adapter;
	struct player player[HANG_PLAYERS] = { 0 };
	struct hang_result *r = calloc(1, sizeof(*r));
	bool traced;
	int ret;

	if (!r)
		return -ENOMEM;
	traced = !trace_start(RECOVERY);
	ret = play(r, player, index);
	if (traced)
		trace_stop(RECOVERY, record_step, r);
	for (i = 0; i < HANG_PLAYERS; i++)
		close_player(&player[i], ret);
	if (!ret && options->output)
		ret = write_picture(r, options->output);
	ret = ret ? tool_fail("demo hang", ret) : tell(r, traced);
	free(r);
	return ret;
}
