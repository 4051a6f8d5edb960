// SPDX-License-Identifier: MIT
/*
 * Neighbours on queues: an attacker and a victim are clients of one adapter. Each test
 * measures the victim alone, then beside the attacker, and bounds the ratio. Figures are
 * exact on the deterministic clock, where one instruction takes one nanosecond; elsewhere
 * the tests only run.
 */

#include <sys/utsname.h>

#include "vfence_test.h"

#define SUBMITS		2000

/* A queue without work, and its connected doorbell, whose page the test touches itself. */
struct idle {
	uint32_t queue;
	struct drm_vfence_doorbell_create args;
	volatile uint64_t *doorbell;
};

static void *map_page(int fd, uint64_t offset)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
}

static int idle_create(struct client *c, struct idle *idle)
{
	struct drm_vfence_context_create context = {
		.device = vf_device_handle(c->device), .node = DRM_VFENCE_NODE_COPY,
	};
	struct drm_vfence_queue_create queue = { .flags = DRM_VFENCE_QUEUE_USER_MODE };
	struct drm_vfence_bo_create ring = { .size = 4096 }, control = { .size = 4096 };
	struct drm_vfence_doorbell_connect connect = { 0 };
	int fd = vf_adapter_fd(c->adapter);
	int ret = raw(fd, DRM_IOCTL_VFENCE_CONTEXT_CREATE, &context);

	queue.context = context.handle;
	if (!ret)
		ret = raw(fd, DRM_IOCTL_VFENCE_QUEUE_CREATE, &queue);
	if (!ret)
		ret = raw(fd, DRM_IOCTL_VFENCE_BO_CREATE, &ring);
	if (!ret)
		ret = raw(fd, DRM_IOCTL_VFENCE_BO_CREATE, &control);
	idle->queue = queue.handle;
	idle->args = (struct drm_vfence_doorbell_create){
		.queue = queue.handle, .ring = ring.handle, .control = control.handle,
		.ring_size = 4096,
	};
	if (!ret)
		ret = raw(fd, DRM_IOCTL_VFENCE_DOORBELL_CREATE, &idle->args);
	connect.queue = queue.handle;
	if (!ret)
		ret = raw(fd, DRM_IOCTL_VFENCE_DOORBELL_CONNECT, &connect);
	if (ret)
		return ret;
	idle->doorbell = map_page(fd, idle->args.doorbell_offset);
	return idle->doorbell == MAP_FAILED ? -ENOMEM : 0;
}

static void idle_destroy(struct client *c, struct idle *idle)
{
	int fd = vf_adapter_fd(c->adapter);

	destroy_object(fd, DRM_VFENCE_OBJECT_DOORBELL, idle->queue);
	destroy_object(fd, DRM_VFENCE_OBJECT_QUEUE, idle->queue);
}

FIXTURE(neighbours_queue)
{
	struct client victim;
	struct client attacker;
	struct vf_queue *queue;
};

FIXTURE_SETUP(neighbours_queue)
{
	ASSERT_EQ(0, client_open(&self->victim));
	ASSERT_EQ(0, client_open(&self->attacker));
	ASSERT_EQ(0, vf_queue_create(self->victim.device, DRM_VFENCE_NODE_GFX, 65536,
				     &self->queue));
}

FIXTURE_TEARDOWN(neighbours_queue)
{
	vf_queue_destroy(self->queue);
	client_close(&self->attacker);
	client_close(&self->victim);
}

/*
 * Submit many times, each after a call of @attack, and wait for each. Return: the mean time
 * from submission to the wake-up, in ns, or -1.
 */
static int64_t latency(struct vf_queue *queue, void (*attack)(void *arg), void *arg)
{
	/* Where figures are not exact, and are not checked, a few are enough. */
	unsigned int i, submits = deterministic() ? SUBMITS : SUBMITS / 20;
	int64_t start, total = 0;

	for (i = 0; i < submits; i++) {
		/* An engine rests after some work, for times that vary: begin when it has rested. */
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 + i * 37 % 61 * 1000 }, NULL);
		if (attack)
			attack(arg);
		start = vf_deadline(0);
		vf_cmd_nop(queue, 8);
		if (vf_queue_submit(queue) || vf_queue_wait_idle(queue, DEADLINE))
			return -1;
		total += vf_deadline(0) - start;
	}
	return total / submits;
}

/* Print both figures. The bound holds on the deterministic clock only. */
#define EXPECT_UNDISTURBED(alone, beside, percent) do {				\
	TH_LOG("alone %lld ns, beside the attacker %lld ns", (long long)(alone),	\
	       (long long)(beside));							\
	ASSERT_LT(0, alone);								\
	ASSERT_LT(0, beside);								\
	if (deterministic())								\
		EXPECT_GE((alone) * (100 + (percent)) / 100, beside);			\
} while (0)

#define IDLE	14

struct idles {
	struct idle idle[IDLE];
};

static void touch_all(void *arg)
{
	struct idles *idles = arg;
	unsigned int i;

	for (i = 0; i < IDLE; i++)
		*idles->idle[i].doorbell = 0;
}

TEST_F_TIMEOUT(neighbours_queue, touching_idle_doorbells_delays_no_other_client, 120)
{
	struct idles *idles = calloc(1, sizeof(*idles));
	int64_t alone, beside;
	unsigned int i;

	ASSERT_NE(NULL, idles);
	for (i = 0; i < IDLE; i++)
		ASSERT_EQ(0, idle_create(&self->attacker, &idles->idle[i]));
	latency(self->queue, NULL, NULL);
	alone = latency(self->queue, NULL, NULL);
	beside = latency(self->queue, touch_all, idles);
	EXPECT_UNDISTURBED(alone, beside, 10);
	for (i = 0; i < IDLE; i++)
		idle_destroy(&self->attacker, &idles->idle[i]);
	free(idles);
}

/* Threads of the kernel, except the pools of workers that all of the kernel share. */
static unsigned int threads(void)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	unsigned int count = 0;

	while (proc && (entry = readdir(proc))) {
		char path[300], comm[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		f = fopen(path, "re");
		if (f && fgets(comm, sizeof(comm), f))
			count += strncmp(comm, "kworker/", 8) || !strncmp(comm, "kworker/R", 9);
		if (f)
			fclose(f);
	}
	if (proc)
		closedir(proc);
	return count;
}

#define CROWDS	4
#define CROWD	60

TEST_F(neighbours_queue, kernel_mode_queues_cost_no_threads)
{
	struct vf_queue *queue[CROWDS][CROWD] = { 0 };
	struct client crowd[CROWDS];
	unsigned int i, k, before, after, major, minor;
	struct utsname kernel;

	ASSERT_EQ(0, uname(&kernel));
	ASSERT_EQ(2, sscanf(kernel.release, "%u.%u", &major, &minor));
	if (major == 6 && minor < 8)
		SKIP(return, "each drm_sched of this kernel has a thread");
	before = threads();
	for (i = 0; i < CROWDS; i++) {
		ASSERT_EQ(0, client_open(&crowd[i]));
		for (k = 0; k < CROWD; k++)
			ASSERT_EQ(0, vf_kernel_queue_create(crowd[i].device, DRM_VFENCE_NODE_GFX,
							    &queue[i][k]));
	}
	after = threads();
	TH_LOG("%u threads, with %u queues %u", before, CROWDS * CROWD, after);
	EXPECT_GE(before + 2, after);
	for (i = 0; i < CROWDS; i++) {
		for (k = 0; k < CROWD; k++)
			vf_queue_destroy(queue[i][k]);
		client_close(&crowd[i]);
	}
}

TEST_HARNESS_MAIN
