// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workloads of the model, as clients of virtual functions: each has a thread that submits
 * frames and waits for them. A frame is one packet of draws and one that stores the GPU's time.
 */

#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "bench_functions.h"
#include "functions.h"
#include "tool.h"
#include "vfence_policy.h"

/* Frames whose times the buffer holds. */
#define SLOTS		16384
/* Time from the start of the threads to the first frame. */
#define LEAD_NS		5000000ll

struct client {
	const struct workload *work;
	const struct simulation *sim;
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	struct vf_buffer *buffer;
	struct drm_vfence_clock_info clock;
	/* When the first frames are submitted, in ns. */
	int64_t begin;
	/*
	 * What it takes to wake up, and until the GPU has a frame, in ns. That is part of the CPU
	 * time of the frame.
	 */
	int64_t lead;
	/* Submissions of the warm-up, which the queue's progress counts, too. */
	unsigned int before;
	uint64_t *submitted, *done;
	unsigned int count;
	int ret;
};

static int client_open(struct client *c, unsigned int number)
{
	int ret = vf_adapter_open(number, &c->adapter);

	ret = ret ? ret : vf_device_create(c->adapter, &c->device);
	ret = ret ? ret : vf_queue_create(c->device, DRM_VFENCE_NODE_GFX, 65536, &c->queue);
	ret = ret ? ret : vf_buffer_create(c->adapter, SLOTS * sizeof(uint64_t), &c->buffer);
	ret = ret ? ret : vf_adapter_clock(c->adapter, &c->clock);
	c->submitted = calloc(SIMULATE_FRAMES, sizeof(*c->submitted));
	c->done = calloc(SIMULATE_FRAMES, sizeof(*c->done));
	return ret ? ret : c->submitted && c->done ? 0 : -ENOMEM;
}

static void client_close(struct client *c)
{
	if (c->queue)
		vf_queue_abort(c->queue);
	vf_queue_destroy(c->queue);
	vf_buffer_destroy(c->buffer);
	if (c->device)
		vf_device_destroy(c->device);
	vf_adapter_close(c->adapter);
	free(c->submitted);
	free(c->done);
}

static void sleep_until(int64_t ns)
{
	struct timespec ts = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

/* The time at which the GPU completed a frame, since the beginning. */
static uint64_t done_at(const struct client *c, unsigned int frame)
{
	uint64_t ticks = ((volatile uint64_t *)vf_buffer_map(c->buffer))[frame % SLOTS];
	int64_t apart = (int64_t)(ticks - c->clock.gpu_ticks) *
			(int64_t)(1000000000 / c->clock.frequency_hz);

	return (uint64_t)((int64_t)c->clock.cpu_ns + apart - c->begin);
}

static void build_frame(struct client *c, unsigned int frame)
{
	const struct workload *w = c->work;
	unsigned int draws = (unsigned int)(w->gpu_ns / w->draw_ns);

	vf_cmd_draw(c->queue, draws, w->draw_ns);
	if (w->gpu_ns % w->draw_ns)
		vf_cmd_draw(c->queue, 1, w->gpu_ns % w->draw_ns);
	vf_cmd_timestamp(c->queue, vf_buffer_va(c->buffer) + frame % SLOTS * sizeof(uint64_t));
}

static uint64_t shown(const struct workload *w, uint64_t at)
{
	if (!w->lock_ns)
		return at;
	return w->start_ns + ((at - w->start_ns) / w->lock_ns + 1) * w->lock_ns;
}

/* Wait until a frame is done, and note when. */
static int await_frame(struct client *c, unsigned int frame, uint64_t *at)
{
	int ret = vf_fence_wait(vf_queue_progress(c->queue), c->before + frame + 1,
				vf_deadline(20 * INT64_C(1000000000)));

	if (ret)
		return ret;
	*at = done_at(c, frame);
	if (c->count < SIMULATE_FRAMES)
		c->done[c->count++] = *at;
	return 0;
}

/* As next_submit() of the model. */
static uint64_t submit_time(const struct workload *w, uint64_t from)
{
	if (w->lock_ns)
		return w->start_ns + ((from - w->start_ns) / w->lock_ns + 1) * w->lock_ns;
	return from + w->cpu_ns;
}

static void *client_main(void *arg)
{
	struct client *c = arg;
	const struct workload *w = c->work;
	uint64_t at = w->start_ns, freed;
	unsigned int frame = 0, done = 0;

	prctl(PR_SET_TIMERSLACK, 1);
	while (!c->ret && at < c->sim->end_ns) {
		if (frame < SIMULATE_FRAMES)
			c->submitted[frame] = at;
		build_frame(c, frame++);
		sleep_until(c->begin + (int64_t)at - c->lead);
		c->ret = vf_queue_submit(c->queue);
		freed = at;
		if (!c->ret && frame - done >= w->depth) {
			uint64_t ended;

			c->ret = await_frame(c, done++, &ended);
			freed = ended > at ? ended : at;
		}
		at = submit_time(w, freed);
	}
	while (!c->ret && done < frame)
		c->ret = await_frame(c, done++, &freed);
	return NULL;
}

static int configure(unsigned int adapter, const struct simulation *sim)
{
	char file[64];
	unsigned int i;
	int ret = functions_write_number(adapter, "sriov_admin/response_us",
					 sim->response_ns / 1000);

	ret = ret ? ret : functions_write_number(adapter, "sriov_admin/switch_us",
						 sim->switch_ns / 1000);
	for (i = 1; !ret && i <= sim->functions; i++) {
		snprintf(file, sizeof(file), "sriov_admin/vf%u/profile/exec_quantum_us", i);
		ret = functions_write_number(adapter, file, sim->slice_ns / 1000);
	}
	return ret ? ret : functions_write(adapter, "sriov_admin/policy", "on-demand");
}

#define WARM_UP_NS	50000
/* Frames, of which the last one shows what it takes to submit one. */
#define WARM_UPS	4

/* Let a function own the engines. Measure how long a frame takes beside the time of its draw. */
static int warm_up_client(struct client *c)
{
	unsigned int i;
	int64_t at;
	int ret = 0;

	/* The default slack would make each CPU phase up to 50 us longer. */
	prctl(PR_SET_TIMERSLACK, 1);

	for (i = 0; i < WARM_UPS && !ret; i++) {
		vf_cmd_draw(c->queue, 1, WARM_UP_NS);
		vf_cmd_timestamp(c->queue, vf_buffer_va(c->buffer));
		at = vf_deadline(1000000);
		sleep_until(at);
		ret = vf_queue_submit(c->queue);
		ret = ret ? ret : vf_queue_wait_idle(c->queue, vf_deadline(1000000000));
		c->lead = (int64_t)done_at(c, 0) - at - WARM_UP_NS;
		c->before++;
	}
	return ret;
}

/*
 * The first function is to be served first. A solid policy gives the next turn to the function behind
 * the owner, so the last one becomes that; the others go on with the owner.
 */
static int warm_up(struct client *client, const struct simulation *sim)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < sim->functions && !ret; i++)
		ret = warm_up_client(&client[i]);
	if (!ret && !vfence_policies[sim->kind].solid)
		ret = warm_up_client(&client[0]);
	return ret;
}

static int run_clients(unsigned int adapter, const struct simulation *sim, struct client *client)
{
	pthread_t thread[16];
	unsigned int i, started = 0;
	struct timespec now;
	int64_t begin;
	int ret;

	clock_gettime(CLOCK_MONOTONIC, &now);
	begin = now.tv_sec * INT64_C(1000000000) + now.tv_nsec + LEAD_NS;
	for (i = 0; i < sim->functions; i++) {
		client[i].begin = begin;
		if (client[i].work->idle)
			continue;
		if (pthread_create(&thread[i], NULL, client_main, &client[i]))
			return -ENOMEM;
		started |= 1u << i;
	}
	/* A solid policy begins with the first function when it is chosen. */
	sleep_until(begin - 60000);
	ret = functions_write(adapter, "sriov_admin/policy", vfence_policies[sim->kind].name);
	for (i = 0; i < sim->functions; i++) {
		if (!(started & 1u << i))
			continue;
		pthread_join(thread[i], NULL);
		ret = ret ? ret : client[i].ret;
	}
	return ret;
}

/* Totals of the group of engines. */
struct totals {
	double run, switching, elapsed;
	uint64_t switches, preemptions;
};

static struct totals totals_of(unsigned int adapter, unsigned int functions)
{
	struct totals t = {
		.switching = (double)functions_stat(adapter, ".", "gfx", "switch_ns"),
		.elapsed = (double)functions_stat(adapter, ".", "gfx", "elapsed_ns"),
		.switches = functions_stat(adapter, ".", "gfx", "switches"),
	};
	char folder[8];
	unsigned int i;

	for (i = 1; i <= functions; i++) {
		snprintf(folder, sizeof(folder), "vf%u", i);
		t.preemptions += functions_stat(adapter, folder, "gfx", "preemptions");
	}
	return t;
}

/* Keep what a client has noted. */
static void record_frames(struct recording *r, struct client *c, unsigned int function)
{
	r->begin = c->begin;
	r->submitted[function] = c->submitted;
	r->done[function] = c->done;
	r->frames[function] = c->count;
	c->submitted = NULL;
	c->done = NULL;
}

static void measure_frames(const struct client *c, const struct simulation *sim, unsigned int i,
			   struct outcome *out)
{
	uint64_t *frame = calloc(c->count + 1, sizeof(*frame));
	unsigned int k;

	for (k = 0; frame && k < c->count; k++)
		frame[k] = shown(c->work, c->done[k]);
	if (frame)
		simulate_frames(out, i, frame, c->count, c->work->start_ns, c->work->cpu_ns,
				sim->warmup_ns, sim->end_ns);
	free(frame);
}

int bench_functions_run(unsigned int adapter, const struct simulation *sim, struct outcome *out,
			struct recording *recording)
{
	struct client client[16] = { 0 };
	struct totals before, after;
	unsigned int i;
	int ret;

	memset(out, 0, sizeof(*out));
	ret = functions_write_number(adapter, "sriov_numvfs", sim->functions);
	for (i = 0; !ret && i < sim->functions; i++) {
		client[i].work = &sim->workload[i];
		client[i].sim = sim;
		ret = client_open(&client[i], functions_number(adapter, i + 1));
	}
	ret = ret ? ret : configure(adapter, sim);
	ret = ret ? ret : warm_up(client, sim);
	before = totals_of(adapter, sim->functions);
	ret = ret ? ret : run_clients(adapter, sim, client);
	after = totals_of(adapter, sim->functions);
	for (i = 0; i < sim->functions; i++) {
		if (!ret)
			measure_frames(&client[i], sim, i, out);
		if (!ret && recording)
			record_frames(recording, &client[i], i);
		client_close(&client[i]);
	}
	simulate_sum(out, sim->functions);
	out->switches = after.switches - before.switches;
	out->preemptions = after.preemptions - before.preemptions;
	out->switching = (after.switching - before.switching) / (after.elapsed - before.elapsed);
	functions_write(adapter, "sriov_numvfs", "0");
	return ret;
}
