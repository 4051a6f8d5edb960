// SPDX-License-Identifier: GPL-2.0-only
/*
 * races FIRST COUNT: the race lab's client. For each seed it sets the schedule of the
 * steps (a module of the test build). It then plays rounds in which all handshakes meet,
 * on adapters of every form of the interrupt:
 *
 *   gfx    draws for a random time, signals the round's value
 *   copy   draws for about as long, waits for it
 *   main   waits for it, and for the end of copy
 *   hasty  waits for it, again and again, with a short timeout
 *   patient  waits for it, and for a value that comes and goes, while main interrupts it
 *   constant  waits for it by a set whose entry the thread of hasty replaces at the same time
 *
 * At the beginning of a round constant signals a fence that hasty begins to wait for.
 *
 * After them it hangs GFX with another device, while the lab's queues work, and resets meet all
 * that can happen to a queue: it is aborted or suspended in the middle, or left alone. Then main
 * looks for the first time at a log that the GPU writes. At last virtual functions of another chip
 * share its engines, see races_switch.h.
 *
 * All threads sleep in the driver and none polls, so on the deterministic clock a loss
 * shows at once, because time jumps to the deadline. The program exits with 1 at the
 * first loss.
 */

#include <inttypes.h>

#include "races_switch.h"

#define ROUNDS		12
#define HANGS		4
#define ADAPTERS	4

struct lab {
	unsigned int index;
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *gfx, *copy, *kernel;
	struct vf_fence *fence, *gone, *told;
	struct vf_wait_set *set;
	pthread_t hasty, patient, constant;
	pthread_barrier_t barrier;
	_Atomic uint64_t value;
	_Atomic bool stop;
	_Atomic int wrong;
	uint64_t entries;
};

static uint64_t state;

static uint64_t dice(uint64_t sides)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % sides;
}

static int set_seed(uint64_t seed)
{
	FILE *f = fopen("/sys/module/vfence/parameters/race_seed", "w");

	if (!f)
		return -errno;
	fprintf(f, "%" PRIu64, seed);
	return fclose(f) ? -errno : 0;
}

/* Wait with a very short timeout: the wait may time out or be satisfied. */
static void *hasty(void *arg)
{
	struct lab *lab = arg;
	unsigned int i;

	for (;;) {
		pthread_barrier_wait(&lab->barrier);
		if (lab->stop)
			return NULL;
		if (vf_fence_wait(lab->told, lab->value, vf_deadline(LOST)))
			lab->wrong = 4;
		for (i = 0; i < 4; i++) {
			struct vf_wait_set_entry again = { 1, lab->fence, lab->value };
			int ret = vf_fence_wait(lab->fence, lab->value, vf_deadline(i * 7000));

			if (ret != 0 && ret != -ETIME)
				lab->wrong = 1;
			if (!ret && vf_fence_current(lab->fence) < lab->value)
				lab->wrong = 1;
			/* It may be taken off its fence at this moment. */
			if (vf_wait_set_update(lab->set, &again, 1))
				lab->wrong = 3;
		}
		pthread_barrier_wait(&lab->barrier);
	}
}

/* Wait by a wait set until the entry of the round's value is ready. */
static void *constant(void *arg)
{
	struct lab *lab = arg;

	for (;;) {
		struct drm_vfence_wait_set_ready ready[2];
		struct vf_wait_set_entry update = { 0, lab->fence, 0 };
		unsigned int count = 2, i;
		bool seen = false;

		pthread_barrier_wait(&lab->barrier);
		if (lab->stop)
			return NULL;
		if (vf_fence_signal(lab->told, lab->value))
			lab->wrong = 4;
		update.value = lab->value;
		if (vf_wait_set_update(lab->set, &update, 1))
			lab->wrong = 3;
		while (!lab->wrong && !seen) {
			count = 2;
			if (vf_wait_set_wait(lab->set, NULL, 0, NULL, 0, vf_deadline(LOST), ready,
					     &count))
				lab->wrong = 3;
			for (i = 0; i < count; i++) {
				if (ready[i].error)
					lab->wrong = 3;
				/* The other entry may have become ready in the last round. */
				if (ready[i].index)
					continue;
				seen = true;
				if (vf_fence_current(lab->fence) < lab->value)
					lab->wrong = 3;
			}
		}
		pthread_barrier_wait(&lab->barrier);
	}
}

static void on_signal(int signo)
{
	(void)signo;
}

/* Wait for the round's value, and for one that is gone before the round's value comes. */
static void *patient(void *arg)
{
	struct lab *lab = arg;

	for (;;) {
		struct vf_point both[] = { { lab->gone, 1 }, { lab->fence, 0 } };

		pthread_barrier_wait(&lab->barrier);
		if (lab->stop)
			return NULL;
		both[1].value = lab->value;
		if (vf_wait(lab->adapter, both, 2, 0, vf_deadline(LOST), NULL))
			lab->wrong = 2;
		pthread_barrier_wait(&lab->barrier);
	}
}

/* Let a value come and go while the patient thread waits for it, and interrupt the thread. */
static void disturb(struct lab *lab)
{
	if (!EVENTUALLY(waiters(lab->gone)))
		lab->wrong = 2;
	if (dice(2))
		pthread_kill(lab->patient, SIGUSR1);
	vf_fence_signal(lab->gone, 1);
	vf_fence_signal(lab->gone, 0);
	pthread_kill(lab->patient, SIGUSR1);
}

static int lab_open(struct lab *lab, unsigned int index)
{
	int ret;

	*lab = (struct lab){ .index = index };
	ret = vf_adapter_open(index, &lab->adapter);
	ret = ret ? ret : vf_device_create(lab->adapter, &lab->device);
	ret = ret ? ret : vf_queue_create(lab->device, DRM_VFENCE_NODE_GFX, 4096, &lab->gfx);
	ret = ret ? ret : vf_queue_create(lab->device, DRM_VFENCE_NODE_COPY, 4096, &lab->copy);
	/* GFX hangs, and COPY is reset with it. */
	ret = ret ? ret : vf_kernel_queue_create(lab->device, DRM_VFENCE_NODE_COPY, &lab->kernel);
	ret = ret ? ret : vf_fence_create(lab->device, 0, 0, &lab->fence);
	ret = ret ? ret : vf_fence_create(lab->device, 0, 0, &lab->gone);
	ret = ret ? ret : vf_fence_create(lab->device, 0, 0, &lab->told);
	ret = ret ? ret : vf_wait_set_create(lab->adapter, 2, &lab->set);
	pthread_barrier_init(&lab->barrier, NULL, 4);
	ret = ret ? ret : -pthread_create(&lab->hasty, NULL, hasty, lab);
	ret = ret ? ret : -pthread_create(&lab->patient, NULL, patient, lab);
	return ret ? ret : -pthread_create(&lab->constant, NULL, constant, lab);
}

static void lab_close(struct lab *lab)
{
	lab->stop = true;
	pthread_barrier_wait(&lab->barrier);
	pthread_join(lab->hasty, NULL);
	pthread_join(lab->patient, NULL);
	pthread_join(lab->constant, NULL);
	vf_wait_set_destroy(lab->set);
	vf_queue_destroy(lab->kernel);
	vf_queue_destroy(lab->gfx);
	vf_queue_destroy(lab->copy);
	vf_fence_destroy(lab->told);
	vf_fence_destroy(lab->gone);
	vf_fence_destroy(lab->fence);
	vf_device_destroy(lab->device);
	vf_adapter_close(lab->adapter);
}

static const char *finish(struct vf_queue *queue)
{
	return vf_fence_wait(vf_queue_progress(queue), vf_queue_last_queued(queue),
			     vf_deadline(LOST)) ? "a submission was not done" : NULL;
}

/*
 * Check the log: it has the signals of gfx in order, and no other. Return: an error, or
 * NULL.
 */
static const char *check_log(struct lab *lab)
{
	struct drm_vfence_log_entry entry[64];
	unsigned int n = 64, i;
	uint64_t lost = 0;

	if (vf_queue_read_log(lab->gfx, DRM_VFENCE_LOG_SIGNALS, entry, &n, &lost))
		return "the log cannot be read";
	for (i = 0; i < n; i++) {
		/*
		 * A round logs one signal and one of the progress fence, which may not be
		 * logged yet.
		 */
		uint32_t fence = vf_fence_handle(lab->entries % 2 ? vf_queue_progress(lab->gfx) :
						 lab->fence);

		if (entry[i].fence != fence || entry[i].fence_value != lab->entries / 2 + 1)
			return "an entry of the log is wrong";
		lab->entries++;
	}
	return lost ? "entries of the log were lost" : NULL;
}

/* Entries of a log that the driver has read before the client looks at it, and that come then. */
#define SEEN	84
#define UNSEEN	160

/* Publish signals of the values from @from to @to. Return: 0 or a negative error. */
static int publish_signals(struct vf_queue *queue, struct vf_fence *fence, uint64_t from, uint64_t to)
{
	for (; from <= to; from++)
		vf_cmd_signal(queue, fence, from);
	return vf_queue_publish(queue);
}

/*
 * Look for the first time at a log whose entries the driver has read, while the GPU overwrites them.
 * Return: an error, or NULL.
 */
static const char *look_first(struct vf_queue *queue, struct vf_fence *fence)
{
	struct drm_vfence_log_entry entry[2 * SEEN + UNSEEN];
	unsigned int n = 0, i;
	uint64_t last = 0;

	/* A look at one log makes the driver read both. */
	if (publish_signals(queue, fence, 1, SEEN) ||
	    vf_fence_wait(fence, SEEN, vf_deadline(LOST)) ||
	    vf_queue_read_log(queue, DRM_VFENCE_LOG_WAITS, entry, &n, NULL) ||
	    publish_signals(queue, fence, SEEN + 1, SEEN + UNSEEN))
		return "a new queue cannot be used";
	n = sizeof(entry) / sizeof(entry[0]);
	if (vf_queue_read_log(queue, DRM_VFENCE_LOG_SIGNALS, entry, &n, NULL))
		return "the log cannot be read";
	for (i = 0; i < n; i++) {
		if (entry[i].fence != vf_fence_handle(fence) || entry[i].fence_value <= last)
			return "the first look at a log returns a wrong entry";
		last = entry[i].fence_value;
	}
	return vf_fence_wait(fence, SEEN + UNSEEN, vf_deadline(LOST)) ?
	       "a signal was not executed" : NULL;
}

static const char *play_first_look(struct lab *lab)
{
	struct vf_fence *fence;
	struct vf_queue *queue;
	const char *what;

	if (vf_fence_create(lab->device, 0, 0, &fence) ||
	    vf_queue_create(lab->device, DRM_VFENCE_NODE_GFX, 65536, &queue))
		return "there is no new queue";
	what = look_first(queue, fence);
	vf_queue_destroy(queue);
	vf_fence_destroy(fence);
	return what;
}

/* Who hangs GFX, with a device of its own, and what happens to its queue meanwhile. */
struct culprit {
	struct vf_device *device;
	struct vf_queue *queue;
	struct vf_fence *fence;
	pthread_t meddler;
	enum { ALONE, ABORT, SUSPEND, MEDDLINGS } what;
	useconds_t after;
	int error;
};

static void *meddle(void *arg)
{
	struct culprit *culprit = arg;

	usleep(culprit->after);
	if (culprit->what == ABORT)
		culprit->error = vf_queue_abort(culprit->queue);
	if (culprit->what == SUSPEND)
		culprit->error = vf_queue_suspend(culprit->queue, NULL);
	/* The device may be lost by now, but no acknowledgment. */
	if (culprit->what == SUSPEND && culprit->error != -ETIME)
		culprit->error = vf_queue_resume(culprit->queue);
	return NULL;
}

/* Hang GFX beside work of the lab on an engine that is reset with it. */
static const char *culprit_begin(struct culprit *culprit, struct lab *lab)
{
	int ret;

	*culprit = (struct culprit){ .what = dice(MEDDLINGS), .after = dice(600) };
	ret = vf_device_create(lab->adapter, &culprit->device);
	ret = ret ? ret : vf_queue_create(culprit->device, DRM_VFENCE_NODE_GFX, 4096,
					  &culprit->queue);
	ret = ret ? ret : vf_fence_create(culprit->device, 0, 0, &culprit->fence);
	if (ret)
		return "no device for a hang";
	vf_cmd_draw(culprit->queue, 1, dice(20000));
	cmd_hang(culprit->queue);
	vf_cmd_draw(lab->kernel, 1, dice(500000));
	if (vf_submit(&lab->kernel, 1, &(struct vf_submit){ 0 }))
		return "a submission to the kernel failed";
	/* The queue may be lost before the call returns. */
	ret = vf_queue_submit(culprit->queue);
	if (ret && ret != -EIO)
		return "a hang cannot be submitted";
	return pthread_create(&culprit->meddler, NULL, meddle, culprit) ? "no thread" : NULL;
}

/* Who hung has lost its device, unless its queue was aborted before that was noticed. */
static const char *culprit_end(struct culprit *culprit, struct lab *lab)
{
	uint32_t state;

	pthread_join(culprit->meddler, NULL);
	if (culprit->error == -ETIME)
		return "a suspension was not acknowledged";
	if (culprit->what != ABORT &&
	    vf_fence_wait(culprit->fence, UINT64_MAX, vf_deadline(LOST)))
		return "a hang was not found, or its fence not ended";
	state = vf_device_state(culprit->device);
	if (state != DRM_VFENCE_DEVICE_HUNG &&
	    (culprit->what != ABORT || state != DRM_VFENCE_DEVICE_ACTIVE))
		return "who hung is not to blame";
	vf_queue_abort(culprit->queue);
	vf_queue_destroy(culprit->queue);
	vf_fence_destroy(culprit->fence);
	vf_device_destroy(culprit->device);
	return vf_device_state(lab->device) == DRM_VFENCE_DEVICE_ACTIVE ? NULL :
	       "an innocent device is lost";
}

/* Play one round. Return: NULL, or a text that names what was lost. */
static const char *play(struct lab *lab)
{
	static const char * const wrongs[] = {
		NULL, "a hasty wait was wrong", "an interrupted wait missed a value",
		"a wait set missed a value", "a wait missed a CPU signal",
	};
	const char *what;

	lab->value++;
	vf_cmd_draw(lab->gfx, 1, dice(40000));
	vf_cmd_signal(lab->gfx, lab->fence, lab->value);
	vf_cmd_draw(lab->copy, 1, dice(40000));
	vf_cmd_wait(lab->copy, lab->fence, lab->value);
	pthread_barrier_wait(&lab->barrier);
	disturb(lab);
	if (vf_queue_submit(lab->copy) || vf_queue_submit(lab->gfx))
		return "a submission failed";
	what = vf_fence_wait(lab->fence, lab->value, vf_deadline(LOST)) ?
	       "a CPU wait was not woken" : NULL;
	what = what ? what : finish(lab->copy);
	what = what ? what : finish(lab->gfx);
	pthread_barrier_wait(&lab->barrier);
	if (!what)
		what = wrongs[lab->wrong];
	return what ? what : check_log(lab);
}

/* Play one round while another client hangs GFX. */
static const char *play_hang(struct lab *lab)
{
	struct culprit culprit;
	const char *what = culprit_begin(&culprit, lab);

	what = what ? what : play(lab);
	what = what ? what : finish(lab->kernel);
	return what ? what : culprit_end(&culprit, lab);
}

static const char *explore(struct lab *lab, uint64_t seed)
{
	const char *what = NULL;
	unsigned int i;

	state = seed;
	for (i = 0; !what && i < ROUNDS; i++)
		what = play(lab);
	for (i = 0; !what && i < HANGS; i++)
		what = play_hang(lab);
	return what ? what : play_first_look(lab);
}

/* Exit without clean-up: a stuck wait stays stuck, and the guest ends with this process. */
static void found(uint64_t seed, uint64_t first, unsigned int adapter, const char *what)
{
	printf("# seed %" PRIu64 " adapter %u: %s\n", seed, adapter, what);
	printf("# found within %" PRIu64 " seeds\n", seed - first + 1);
	fflush(stdout);
	_exit(1);
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : 10;
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct lab lab[ADAPTERS];
	struct troupe troupe;
	const char *what;
	uint64_t seed;
	unsigned int a;

	sigaction(SIGUSR1, &action, NULL);
	for (a = 0; a < ADAPTERS; a++)
		if (lab_open(&lab[a], a)) {
			fprintf(stderr, "races: no adapter %u\n", a);
			return 2;
		}
	if (troupe_open(&troupe)) {
		fprintf(stderr, "races: adapter %u has no functions\n", CHIP);
		return 2;
	}
	/*
	 * Nothing is blocked or lost because it hangs often, and no time-out of the driver hides
	 * a loss.
	 */
	for (a = 0; a < ADAPTERS; a++)
		if (tdr_configure(a, "debug_mode", "3") || tdr_configure(a, "delay_ms", "20000")) {
			fprintf(stderr, "races: adapter %u cannot be configured\n", a);
			return 2;
		}
	for (seed = first; seed < first + count; seed++) {
		if (set_seed(seed)) {
			fprintf(stderr, "races: needs a module of the test build, and root\n");
			return 2;
		}
		for (a = 0; a < ADAPTERS; a++) {
			what = explore(&lab[a], seed);
			if (what)
				found(seed, first, a, what);
		}
		what = troupe_play(&troupe);
		if (what)
			found(seed, first, CHIP, what);
	}
	set_seed(0);
	for (a = 0; a < ADAPTERS; a++)
		lab_close(&lab[a]);
	troupe_close(&troupe);
	printf("# %" PRIu64 " seeds, %u rounds and %u hangs each on %u adapters, and %u bursts of %u functions: nothing lost\n",
	       count, ROUNDS, HANGS, ADAPTERS, BURSTS, FUNCTIONS);
	return 0;
}
