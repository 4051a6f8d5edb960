// SPDX-License-Identifier: GPL-2.0-only
/*
 * soak MINUTES: run everything at once for a long time, and then check the counters.
 *
 * Processes start, exit, and are killed in the middle. Some exchange signals between
 * engines while threads wait with short timeouts. Some share fences with one another and
 * with another adapter. Some write logs that are not read. One adapter is unbound and
 * bound all the time. In the end no object is left, and the counters add up.
 */

#include "vfence_test.h"

/* The adapters that stay. ADAPTER_GONE is unbound and bound. */
static const unsigned int stays[] = { 0, 1, 8, 9, 10, 11 };
#define STAYS		(sizeof(stays) / sizeof(*stays))
#define ADAPTER_GONE	2
#define WORKERS		8
#define SHARED_FLAGS	(DRM_VFENCE_FENCE_SHAREABLE | DRM_VFENCE_FENCE_CROSS_ADAPTER)

static uint64_t state;

static unsigned int dice(unsigned int sides)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(state >> 33) % sides;
}

static unsigned int some_adapter(void)
{
	return dice(8) ? stays[dice(STAYS)] : ADAPTER_GONE;
}

struct side {
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *gfx, *copy;
};

static int side_open(struct side *s)
{
	int ret = vf_adapter_open(some_adapter(), &s->adapter);

	ret = ret ? ret : vf_device_create(s->adapter, &s->device);
	ret = ret ? ret : vf_queue_create(s->device, DRM_VFENCE_NODE_GFX, 65536, &s->gfx);
	return ret ? ret : vf_queue_create(s->device, DRM_VFENCE_NODE_COPY, 65536, &s->copy);
}

static void *wait_and_give_up(void *arg)
{
	struct vf_fence *fence = arg;
	unsigned int i;

	for (i = 0; i < 200; i++)
		vf_fence_wait(fence, i / 2 + 1, vf_deadline(i * 1000));
	return NULL;
}

/* This uses engines, doorbells, waits that are satisfied and waits that time out. */
static void ping_pong(void)
{
	struct vf_fence *there, *back;
	struct side s;
	pthread_t thread;
	unsigned int i;

	if (side_open(&s) || vf_fence_create(s.device, 0, 0, &there) ||
	    vf_fence_create(s.device, 0, 0, &back))
		return;
	pthread_create(&thread, NULL, wait_and_give_up, there);
	for (i = 1; i <= 100; i++) {
		vf_cmd_signal(s.gfx, there, i);
		vf_cmd_wait(s.gfx, back, i);
		vf_cmd_wait(s.copy, there, i);
		vf_cmd_signal(s.copy, back, i);
		if (i % 10 == 0 && (vf_queue_submit(s.gfx) || vf_queue_submit(s.copy)))
			break;
	}
	vf_fence_wait(vf_queue_progress(s.gfx), vf_queue_last_queued(s.gfx), vf_deadline(SECOND));
	pthread_join(thread, NULL);
}

/* Use one fence on two adapters. A child has the fence, too, and may outlive the parent. */
static void share(void)
{
	struct vf_fence *mine, *theirs;
	struct side a, b;
	unsigned int i;
	int fd;

	if (side_open(&a) || side_open(&b) || vf_fence_create(a.device, SHARED_FLAGS, 0, &mine))
		return;
	fd = vf_fence_export(mine);
	if (fd < 0 || vf_fence_open(b.device, fd, &theirs))
		return;
	for (i = 1; i <= 60; i++) {
		vf_cmd_signal(a.gfx, mine, i);
		vf_cmd_wait(b.gfx, theirs, i);
		if (vf_queue_submit(b.gfx) || vf_queue_submit(a.gfx))
			break;
		vf_fence_wait(theirs, i, vf_deadline(SECOND));
		if (i == 30)
			vf_fence_destroy(mine);
		if (i >= 30)
			vf_fence_signal(theirs, i + 1);
	}
}

/* Write more entries than a log has room for, while an event waits for the last value. */
static void overrun(void)
{
	struct vf_fence *fence;
	struct side s;
	unsigned int i, k;

	if (side_open(&s) || vf_fence_create(s.device, 0, 0, &fence))
		return;
	for (i = 0; i < 5; i++) {
		for (k = 1; k <= 300; k++)
			vf_cmd_signal(s.gfx, fence, i * 300 + k);
		if (vf_queue_submit(s.gfx))
			return;
		vf_fence_wait(fence, (i + 1) * 300, vf_deadline(SECOND));
	}
}

/* Monitored fences: waits are satisfied, time out, or end with a closed handle. */
static void memory(void)
{
	struct vf_fence *fence, *second;
	pthread_t thread;
	struct side s;
	unsigned int i;
	int fd;

	if (side_open(&s) || vf_monitored_fence_create(s.device, DRM_VFENCE_FENCE_SHAREABLE, 0, &fence))
		return;
	fd = vf_fence_export(fence);
	pthread_create(&thread, NULL, wait_and_give_up, fence);
	for (i = 1; i <= 150; i++) {
		vf_fence_signal(fence, i);
		if (i % 10 == 0 && !vf_fence_open(s.device, fd, &second))
			vf_fence_destroy(second);
		usleep((unsigned int)dice(100));
	}
	pthread_join(thread, NULL);
}

/* Kernel-mode queues: submissions are held back, chained, broadcast, and left unfinished. */
static void submit(void)
{
	struct vf_queue *queue[2];
	struct vf_fence *fence;
	struct side s;
	unsigned int i;

	if (side_open(&s) || vf_kernel_queue_create(s.device, DRM_VFENCE_NODE_GFX, &queue[0]) ||
	    vf_kernel_queue_create(s.device, DRM_VFENCE_NODE_COPY, &queue[1]) ||
	    vf_monitored_fence_create(s.device, 0, 0, &fence))
		return;
	for (i = 1; i <= 100; i++) {
		struct vf_point before = { fence, i - 1 }, after = { fence, i };
		struct vf_submit what = {
			.waits = &before, .wait_count = 1, .signals = &after, .signal_count = 1,
		};

		vf_cmd_draw(queue[i % 2], 1, dice(20000));
		if (vf_submit(&queue[i % 2], 1, &what))
			return;
		what.wait_count = 0;
		what.flags = DRM_VFENCE_SUBMIT_ALLOW_REWIND;
		after.value = i;
		if (i % 10 == 0 && vf_submit(queue, 2, &what))
			return;
	}
	if (dice(2))
		vf_fence_wait(fence, 100, vf_deadline(SECOND));
}

static pid_t begin(uint64_t seed)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	state = seed;
	for (;;)
		switch (dice(5)) {
		case 0:
			ping_pong();
			_exit(0);
		case 1:
			share();
			_exit(0);
		case 2:
			memory();
			_exit(0);
		case 3:
			submit();
			_exit(0);
		default:
			overrun();
			_exit(0);
		}
}

int main(int argc, char **argv)
{
	int64_t until = vf_deadline((int64_t)(atof(argc > 1 ? argv[1] : "1") * 60 * SECOND));
	unsigned int i, begun = 0, killed = 0, rebound = 0, failed = 0;
	pid_t pid[WORKERS] = { 0 };

	state = 1;
	while (vf_deadline(0) < until) {
		for (i = 0; i < WORKERS; i++)
			if (!pid[i] || waitpid(pid[i], NULL, WNOHANG) == pid[i])
				pid[i] = begin(++begun);
		usleep(2000);
		i = dice(WORKERS);
		if (dice(40) == 0 && !kill(pid[i], SIGKILL))
			killed++;
		if (dice(200) == 0 && !driver("unbind", ADAPTER_GONE) &&
		    !driver("bind", ADAPTER_GONE))
			rebound++;
	}
	for (i = 0; i < WORKERS; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	printf("1..%zu\n# %u processes, %u killed, an adapter bound %u times anew\n", STAYS, begun,
	       killed, rebound);
	for (i = 0; i < STAYS; i++) {
		bool right = balanced(stays[i]);

		printf("%sok %u soak.adapter_%u_balances\n", right ? "" : "not ", i + 1, stays[i]);
		failed += !right;
	}
	return failed ? 1 : 0;
}
