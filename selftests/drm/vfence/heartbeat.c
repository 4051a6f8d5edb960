// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware that stops working without a word: the driver's own checks find it. Each test leaves
 * new adapters behind.
 */

#include "engine_fixture.h"

/* Check as often as the driver can. */
#define OFTEN	"500"

/* The packet on a GFX queue takes long, and its engine stops in it. */
static int stop_gfx(struct vf_queue *queue)
{
	vf_cmd_draw(queue, 1, 2 * SECOND);
	if (vf_queue_submit(queue) ||
	    !EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_RUNNING))
		return -EIO;
	return inject(HANGS, "stop_engines", "1");
}

TEST_F(engine, WDDM_142_174_an_engine_that_stops_is_reset)
{
	struct vf_counters after;
	struct vf_queue *copy;

	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", OFTEN));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_COPY, 4096, &copy));
	ASSERT_EQ(0, stop_gfx(self->gfx));
	ASSERT_EQ(0, vf_queue_submit(self->other_gfx));
	/* The copy engine goes on. */
	ASSERT_EQ(0, vf_queue_submit(copy));
	EXPECT_TRUE(drained(copy));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(drained(self->other_gfx));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other.device));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.engine_resets == self->before.engine_resets + 1)));
	EXPECT_EQ(self->before.adapter_resets, after.adapter_resets);
	EXPECT_TRUE(working(self->adapter));
	vf_queue_destroy(copy);
}

/* The time-out of a submission waits for the engine, so the check must not wait for the time-out. */
TEST_F(engine, WDDM_142_a_submission_on_an_engine_that_stops_ends)
{
	struct vf_submit what = { 0 };
	struct vf_queue *kernel;

	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", OFTEN));
	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &kernel));
	vf_cmd_draw(kernel, 1, 2 * SECOND);
	ASSERT_EQ(0, vf_submit(&kernel, 1, &what));
	ASSERT_TRUE(EVENTUALLY(queue_state(kernel) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(HANGS, "stop_engines", "1"));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(working(self->other.adapter));
	/* If not, let it go. */
	inject(HANGS, "stop_engines", "0");
	vf_queue_destroy(kernel);
}

/*
 * The ladder of a queue that others wait for: if the GPU does not stop it after preempt_us, the
 * driver resets its engine. This adapter does not say itself that an engine hangs.
 */
TEST(WDDM_142_174_a_queue_that_the_gpu_does_not_stop_costs_a_reset_of_its_engine)
{
	struct client hog, victim;
	struct vf_queue *hangs, *waits, *copy;
	struct vf_counters before;

	if (geteuid() || access("/sys/bus/platform/devices/vfence.11/drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	ASSERT_EQ(0, client_open(&hog));
	ASSERT_EQ(0, client_open(&victim));
	before = counters(victim.adapter);
	ASSERT_EQ(0, tdr_configure(0, "delay_ms", OFTEN));
	ASSERT_EQ(0, inject(0, "ignore_limit", "1"));
	ASSERT_EQ(0, vf_queue_create(hog.device, DRM_VFENCE_NODE_GFX, 4096, &hangs));
	ASSERT_EQ(0, vf_queue_create(victim.device, DRM_VFENCE_NODE_GFX, 4096, &waits));
	ASSERT_EQ(0, vf_queue_create(victim.device, DRM_VFENCE_NODE_COPY, 4096, &copy));
	ASSERT_EQ(0, hang_on(hangs));
	ASSERT_TRUE(EVENTUALLY(queue_state(hangs) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, vf_queue_submit(waits));
	ASSERT_EQ(0, vf_queue_submit(copy));
	EXPECT_TRUE(drained(copy));
	EXPECT_TRUE(drained(waits));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(hog.device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(victim.device));
	EXPECT_EQ(before.engine_resets + 1, counters(victim.adapter).engine_resets);
	EXPECT_EQ(before.adapter_resets, counters(victim.adapter).adapter_resets);
	EXPECT_EQ(0, inject(0, "ignore_limit", "0"));
	vf_queue_destroy(copy);
	vf_queue_destroy(waits);
	vf_queue_destroy(hangs);
	client_close(&victim);
	client_close(&hog);
	EXPECT_EQ(0, driver("unbind", 0));
	EXPECT_EQ(0, driver("bind", 0));
}

/* TdrLevel 0 ignores that, too, until it is set to its default again. */
TEST_F(engine, WDDM_165_an_engine_that_stops_is_ignored_at_level_0)
{
	struct vf_fence *timer;

	ASSERT_EQ(0, vf_fence_create(self->other.device, 0, 0, &timer));
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", OFTEN));
	ASSERT_EQ(0, tdr_configure(HANGS, "level", "0"));
	ASSERT_EQ(0, stop_gfx(self->gfx));
	/* Longer than three checks. */
	EXPECT_EQ(-ETIME, vf_fence_wait(timer, 1, vf_deadline(2 * SECOND)));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	ASSERT_EQ(0, tdr_configure(HANGS, "level", "3"));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	vf_fence_destroy(timer);
}

/* An engine has TdrDelay to answer, also if that is longer than the shortest time of a check. */
TEST_F(engine, WDDM_142_an_engine_that_goes_on_within_the_delay_is_not_reset)
{
	struct vf_counters after;

	if (!deterministic())
		SKIP(return, "needs exact times");
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", "5000"));
	ASSERT_EQ(0, stop_gfx(self->gfx));
	EXPECT_TRUE(pass(self->copy, 2 * SECOND));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	ASSERT_EQ(0, inject(HANGS, "stop_engines", "0"));
	EXPECT_TRUE(drained(self->gfx));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.engine_resets, after.engine_resets);
	EXPECT_EQ(self->before.false_alarms, after.false_alarms);
}

/* The answer to one check is none to the next one. */
TEST_F(engine, WDDM_142_an_engine_that_has_answered_and_then_stops_is_reset)
{
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", OFTEN));
	vf_cmd_draw(self->gfx, 1, 5 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	/* Longer than two checks. */
	EXPECT_TRUE(pass(self->copy, 3 * SECOND / 2));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	ASSERT_EQ(0, inject(HANGS, "stop_engines", "1"));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
}

/* Return: true; a client has come, and is gone. */
static bool come_and_go(void)
{
	struct vf_adapter *adapter;

	if (!vf_adapter_open(HANGS, &adapter))
		vf_adapter_close(adapter);
	return true;
}

TEST_F(engine, WDDM_142_clients_that_come_and_go_postpone_no_check)
{
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", OFTEN));
	ASSERT_EQ(0, stop_gfx(self->gfx));
	EXPECT_TRUE(EVENTUALLY(come_and_go() &&
			       vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
}

/* The driver looks whether a suspension is late before it checks the engines the next time. */
TEST_F(engine, WDDM_142_a_suspension_does_not_end_the_checks)
{
	/* The shortest time of a check is longer. */
	vf_cmd_draw(self->copy, 1, 5 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", "100"));
	ASSERT_EQ(0, vf_queue_suspend(self->copy, NULL));
	EXPECT_TRUE(pass(self->other_gfx, SECOND / 5));
	ASSERT_EQ(0, stop_gfx(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
}

/* A client that has created nothing yet is there. */
TEST(WDDM_142_174_a_client_that_begins_late_is_watched)
{
	struct client client, elsewhere;
	struct vf_queue *idle, *queue;

	if (geteuid() || access("/sys/bus/platform/devices/vfence.11/drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	ASSERT_EQ(0, vf_adapter_open(HANGS, &client.adapter));
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", OFTEN));
	ASSERT_EQ(0, client_open(&elsewhere));
	ASSERT_EQ(0, vf_queue_create(elsewhere.device, DRM_VFENCE_NODE_GFX, 4096, &idle));
	/* Longer than two checks. */
	EXPECT_TRUE(pass(idle, 3 * SECOND / 2));
	ASSERT_EQ(0, vf_device_create(client.adapter, &client.device));
	ASSERT_EQ(0, vf_queue_create(client.device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, stop_gfx(queue));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(client.device) == DRM_VFENCE_DEVICE_HUNG));
	/* If not, let it go. */
	inject(HANGS, "stop_engines", "0");
	vf_queue_destroy(idle);
	client_close(&elsewhere);
	vf_queue_destroy(queue);
	client_close(&client);
	EXPECT_EQ(0, driver("unbind", HANGS));
	EXPECT_EQ(0, driver("bind", HANGS));
}

/* At level 1 it loses the adapter, whose clients are not stuck behind the engine. */
TEST_F(engine, WDDM_165_an_engine_that_stops_loses_the_adapter_at_level_1)
{
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", OFTEN));
	ASSERT_EQ(0, tdr_configure(HANGS, "level", "1"));
	ASSERT_EQ(0, stop_gfx(self->gfx));
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "(0x116, 0x0)")));
	EXPECT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_ABORTED));
}

/* A draw is one step of its engine, which answers while the draw's time passes. */
TEST_F(engine, TDR_16_an_engine_that_works_for_long_answers)
{
	struct vf_counters after;

	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", OFTEN));
	vf_cmd_draw(self->gfx, 1, 2 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.engine_resets, after.engine_resets);
	EXPECT_EQ(self->before.false_alarms, after.false_alarms);
}

TEST_F(engine, WDDM_142_158_a_cmp_that_stops_costs_a_reset_of_the_adapter)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_counters after;
	struct vf_fence *fence;
	uint64_t events;

	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", OFTEN));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
	/* It has worked before. */
	ASSERT_EQ(0, arm(self->adapter, fence, 1, efd));
	vf_cmd_signal(self->gfx, fence, 1);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(fired(efd)));
	ASSERT_EQ(sizeof(events), read(efd, &events, sizeof(events)));

	ASSERT_EQ(0, arm(self->adapter, fence, 2, efd));
	ASSERT_EQ(0, inject(HANGS, "stop_cmp", "1"));
	vf_cmd_signal(self->gfx, fence, 2);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.adapter_resets == self->before.adapter_resets + 1)));
	/* The wait is not lost. */
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_TRUE(working(self->adapter));
	close(efd);
	vf_fence_destroy(fence);
}

/* The reset of an engine does not wait for ever for a CMP that has stopped. */
TEST_F(engine, TDR_10_a_cmp_that_stops_promotes_the_reset_of_an_engine)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_counters before, after;
	struct vf_fence *fence;

	/* The check of the CMP comes much later. */
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", "900000"));
	ASSERT_EQ(0, vf_fence_create(self->other.device, 0, 0, &fence));
	ASSERT_EQ(0, arm(self->other.adapter, fence, 1, efd));
	ASSERT_EQ(0, inject(HANGS, "stop_cmp", "1"));
	before = counters(self->adapter);
	vf_cmd_signal(self->other_gfx, fence, 1);
	ASSERT_EQ(0, vf_queue_publish(self->other_gfx));
	/* The engine posts the signal after it has stored the value. */
	ASSERT_TRUE(EVENTUALLY((after = counters(self->adapter), after.posts == before.posts + 1)));
	ASSERT_EQ(0, hang_on(self->copy));
	ASSERT_EQ(0, inject(HANGS, "reset_engine", "2"));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.adapter_resets == self->before.adapter_resets + 1)));
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	EXPECT_TRUE(working(self->adapter));
	close(efd);
	vf_fence_destroy(fence);
}

/* Destroys a fence, which waits until the CMP has handled what may name it; one call of each file. */
struct destroying {
	struct client client;
	struct vf_fence *fence;
	pthread_t thread;
	pid_t id;
	bool ended;
};

static void *destroy_fence(void *arg)
{
	struct destroying *destroying = arg;

	__atomic_store_n(&destroying->id, gettid(), __ATOMIC_RELEASE);
	vf_fence_destroy(destroying->fence);
	__atomic_store_n(&destroying->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Return: number of threads that sleep in the driver, and whatever wakes them is not a signal. */
static unsigned int sleeping(const struct destroying *destroying, unsigned int n)
{
	unsigned int i, count = 0;
	char path[64], state;
	FILE *f;

	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat",
			 __atomic_load_n(&destroying[i].id, __ATOMIC_ACQUIRE));
		f = fopen(path, "re");
		count += f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1 && state == 'D';
		if (f)
			fclose(f);
	}
	return count;
}

static unsigned int ended(const struct destroying *destroying, unsigned int n)
{
	unsigned int i, count = 0;

	for (i = 0; i < n; i++)
		count += __atomic_load_n(&destroying[i].ended, __ATOMIC_ACQUIRE);
	return count;
}

/* The CMP wakes all whose posts it has handled: after these posts there are no others. */
TEST_F(engine, WDDM_58_many_threads_wait_for_the_cmp_and_all_go_on)
{
	static struct destroying destroying[100];
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	unsigned int i, n = ARRAY_SIZE(destroying);
	struct vf_counters before, after;
	struct vf_fence *fence;

	/* The check of the CMP comes much later. */
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", "900000"));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, vf_adapter_open(HANGS, &destroying[i].client.adapter));
		ASSERT_EQ(0, vf_device_create(destroying[i].client.adapter,
					      &destroying[i].client.device));
		ASSERT_EQ(0, vf_fence_create(destroying[i].client.device, 0, 0,
					     &destroying[i].fence));
	}
	ASSERT_EQ(0, arm(self->adapter, fence, 1, efd));
	ASSERT_EQ(0, inject(HANGS, "stop_cmp", "1"));
	before = counters(self->adapter);
	vf_cmd_signal(self->gfx, fence, 1);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY((after = counters(self->adapter), after.posts == before.posts + 1)));

	for (i = 0; i < n; i++)
		ASSERT_EQ(0, pthread_create(&destroying[i].thread, NULL, destroy_fence,
					    &destroying[i]));
	EXPECT_TRUE(EVENTUALLY(sleeping(destroying, n) == n));
	EXPECT_EQ(0, ended(destroying, n));
	ASSERT_EQ(0, inject(HANGS, "stop_cmp", "0"));
	EXPECT_TRUE(EVENTUALLY(ended(destroying, n) == n));

	/* If not, let them go. */
	for (i = 2; ended(destroying, n) < n && i < 2 + n; i++) {
		arm(self->adapter, fence, i, efd);
		vf_cmd_signal(self->gfx, fence, i);
		vf_queue_publish(self->gfx);
		usleep(1000);
	}
	for (i = 0; i < n; i++) {
		pthread_join(destroying[i].thread, NULL);
		vf_device_destroy(destroying[i].client.device);
		vf_adapter_close(destroying[i].client.adapter);
	}
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	close(efd);
	vf_fence_destroy(fence);
}

struct closing {
	struct vf_queue *queue;
	bool closed;
};

static void *close_queue(void *arg)
{
	struct closing *closing = arg;

	vf_queue_destroy(closing->queue);
	__atomic_store_n(&closing->closed, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The last queue waits for the CMP when it is closed, and no queue is left that it serves. */
TEST(WDDM_142_a_close_does_not_wait_for_a_cmp_that_has_stopped)
{
	struct closing closing = { .closed = false };
	struct vf_counters before, after;
	struct vf_fence *fence;
	struct client client;
	pthread_t thread;
	int efd;

	if (geteuid() || access("/sys/bus/platform/devices/vfence.11/drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_EQ(0, vf_adapter_open(HANGS, &client.adapter));
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", OFTEN));
	ASSERT_EQ(0, vf_device_create(client.adapter, &client.device));
	ASSERT_EQ(0, vf_queue_create(client.device, DRM_VFENCE_NODE_GFX, 4096, &closing.queue));
	ASSERT_EQ(0, vf_fence_create(client.device, 0, 0, &fence));
	ASSERT_EQ(0, arm(client.adapter, fence, 1, efd));
	ASSERT_EQ(0, inject(HANGS, "stop_cmp", "1"));
	before = counters(client.adapter);
	vf_cmd_signal(closing.queue, fence, 1);
	ASSERT_EQ(0, vf_queue_publish(closing.queue));
	ASSERT_TRUE(EVENTUALLY((after = counters(client.adapter),
				after.posts == before.posts + 1)));

	ASSERT_EQ(0, pthread_create(&thread, NULL, close_queue, &closing));
	EXPECT_TRUE(EVENTUALLY(__atomic_load_n(&closing.closed, __ATOMIC_ACQUIRE)));
	/* If not, let it go. */
	inject(HANGS, "stop_cmp", "0");
	pthread_join(thread, NULL);
	EXPECT_EQ(before.adapter_resets + 1, counters(client.adapter).adapter_resets);
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	vf_fence_destroy(fence);
	vf_device_destroy(client.device);
	vf_adapter_close(client.adapter);
	close(efd);
	EXPECT_EQ(0, driver("unbind", HANGS));
	EXPECT_EQ(0, driver("bind", HANGS));
}

TEST_F(engine, WDDM_142_an_interrupt_that_is_lost_is_found)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_fence *fence;

	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", OFTEN));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
	ASSERT_EQ(0, arm(self->adapter, fence, 1, efd));
	ASSERT_EQ(0, inject(HANGS, "lose_interrupt", "1"));
	vf_cmd_signal(self->gfx, fence, 1);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	close(efd);
	vf_fence_destroy(fence);
}

/* More than the hard half completes in one run: the threaded half has the others. */
#define WAITERS		10

/* Whoever takes the record of a lost interrupt meanwhile does not hide that the rest is due. */
TEST_F(engine, WDDM_142_an_interrupt_that_is_lost_is_found_although_its_record_is_taken)
{
	struct vf_counters before = counters(self->adapter), after;
	struct vf_fence *fence, *other;
	int efd[WAITERS];
	unsigned int i;

	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", OFTEN));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &other));
	for (i = 0; i < WAITERS; i++) {
		efd[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		ASSERT_EQ(0, arm(self->adapter, fence, 1, efd[i]));
	}
	ASSERT_EQ(0, inject(HANGS, "lose_interrupt", "1"));
	vf_cmd_signal(self->gfx, fence, 1);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.cmp_recorded == before.cmp_recorded + 1)));
	/* Who frees a fence takes all records. */
	vf_fence_destroy(other);
	for (i = 0; i < WAITERS; i++) {
		EXPECT_TRUE(EVENTUALLY(fired(efd[i])));
		close(efd[i]);
	}
	vf_fence_destroy(fence);
}

/* More records than the hard half takes in one run, of up to four signals each. */
#define RECORDS		8
#define LOST		7

/* One interrupt stands for all records before it. What its hard half leaves wakes the thread. */
TEST_F(engine, one_interrupt_is_enough_for_many_records)
{
	struct vf_counters before, after;
	struct vf_fence *fence;
	int efd[2];
	unsigned int i;

	/* The watchdog finds nothing within the time of this test. */
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", "900000"));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
	for (i = 0; i < 2; i++)
		efd[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_EQ(0, arm(self->adapter, fence, 1, efd[0]));
	ASSERT_EQ(0, arm(self->adapter, fence, 4 * RECORDS, efd[1]));
	before = counters(self->adapter);

	ASSERT_EQ(0, inject(HANGS, "hold_posts", "1"));
	for (i = 1; i < 4 * RECORDS; i++)
		vf_cmd_signal(self->gfx, fence, i);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(vf_fence_current(fence) == 4 * RECORDS - 1));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_IDLE));
	ASSERT_EQ(0, inject(HANGS, "lose_interrupt", "7"));
	ASSERT_EQ(0, inject(HANGS, "hold_posts", "0"));
	vf_cmd_signal(self->gfx, fence, 4 * RECORDS);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));

	for (i = 0; i < 2; i++) {
		EXPECT_TRUE(EVENTUALLY(fired(efd[i])));
		close(efd[i]);
	}
	/* A CMP that was woken before and runs only now has the last signal in a record of its own. */
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.records_array >= before.records_array + RECORDS)));
	EXPECT_GE(before.records_array + RECORDS + 1, after.records_array);
	EXPECT_EQ(after.records_array - before.records_array - LOST,
		  after.interrupts_raised - before.interrupts_raised);
	vf_fence_destroy(fence);
}

TEST_HARNESS_MAIN
