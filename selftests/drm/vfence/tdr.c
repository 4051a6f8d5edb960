// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timeout detection and recovery as an administrator configures it. Each test leaves the
 * configuration as it was.
 */

#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "vfence_test.h"

/* Return: the value of an attribute of the first adapter, or -1. */
static long configured(const char *name)
{
	char path[100], text[32] = "";
	int fd, n;

	snprintf(path, sizeof(path), "/sys/bus/platform/devices/vfence.%u/tdr/%s",
		 first_adapter(), name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 ? strtol(text, NULL, 0) : -1;
}

static const struct {
	const char *name, *initial;
} attribute[] = {
	{ "level", "3" }, { "delay_ms", "2000" }, { "debug_mode", "2" },
	{ "ddi_delay_ms", "5000" }, { "limit_count", "5" }, { "limit_time_s", "60" },
};

FIXTURE(tdr) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
	/* A submission of this queue hangs, and out_sync tells of its end. */
	struct vf_device *other;
	struct vf_queue *kernel;
	uint32_t out_sync;
};

FIXTURE_SETUP(tdr)
{
	if (geteuid())
		SKIP(return, "needs root");
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
	ASSERT_EQ(0, vf_device_create(self->adapter, &self->other));
	ASSERT_EQ(0, vf_kernel_queue_create(self->other, DRM_VFENCE_NODE_COMPUTE, &self->kernel));
	ASSERT_EQ(0, drmSyncobjCreate(self->fd, 0, &self->out_sync));
}

/* Return: 0 if all attributes have their defaults again. */
static int restore(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(attribute); i++)
		ret |= tdr_configure(0, attribute[i].name, attribute[i].initial);
	return ret;
}

FIXTURE_TEARDOWN(tdr)
{
	EXPECT_EQ(0, restore());
	drmSyncobjDestroy(self->fd, self->out_sync);
	vf_queue_destroy(self->kernel);
	vf_device_destroy(self->other);
	vf_fence_destroy(self->fence);
	VFENCE_TEARDOWN();
}

static int submit_hang(FIXTURE_DATA(tdr) *self)
{
	struct vf_syncobj out = { .handle = self->out_sync };
	struct vf_submit what = { .signal_syncobjs = &out, .signal_syncobj_count = 1 };

	cmd_hang(self->kernel);
	return vf_submit(&self->kernel, 1, &what);
}

static bool ended(FIXTURE_DATA(tdr) *self)
{
	return syncobj_status(self->fd, self->out_sync) != 0;
}

TEST_F(tdr, WDDM_142_165_the_defaults_are_those_of_windows)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attribute); i++)
		EXPECT_EQ(atol(attribute[i].initial), configured(attribute[i].name));
}

TEST_F(tdr, what_is_out_of_range_changes_nothing)
{
	static const struct {
		const char *name, *value;
		int error;
	} bad[] = {
		{ "level", "2", -EINVAL }, { "level", "4", -EINVAL },
		{ "level", "-1", -EINVAL },
		{ "level", "4294967299", -ERANGE }, { "level", "3x", -EINVAL },
		{ "delay_ms", "0", -EINVAL }, { "delay_ms", "900001", -EINVAL },
		{ "delay_ms", "4294969296", -ERANGE }, { "delay_ms", "2000 1", -EINVAL },
		{ "debug_mode", "0", -EINVAL }, { "debug_mode", "4", -EINVAL },
		{ "debug_mode", "two", -EINVAL },
		{ "ddi_delay_ms", "0", -EINVAL }, { "ddi_delay_ms", "900001", -EINVAL },
		{ "limit_count", "0", -EINVAL }, { "limit_count", "33", -EINVAL },
		{ "limit_time_s", "0", -EINVAL }, { "limit_time_s", "3601", -EINVAL },
	};
	static const struct {
		const char *name, *value;
	} good[] = {
		{ "level", "0" }, { "level", "1" }, { "level", "3" },
		{ "delay_ms", "1" }, { "delay_ms", "900000" },
		{ "debug_mode", "1" }, { "debug_mode", "3" }, { "debug_mode", "2" },
		{ "ddi_delay_ms", "1" }, { "ddi_delay_ms", "900000" },
		{ "limit_count", "1" }, { "limit_count", "32" },
		{ "limit_time_s", "1" }, { "limit_time_s", "3600" },
	};
	unsigned int i;
	long before;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		before = configured(bad[i].name);
		EXPECT_EQ(bad[i].error, tdr_configure(0, bad[i].name, bad[i].value))
			TH_LOG("%s = %s", bad[i].name, bad[i].value);
		EXPECT_EQ(before, configured(bad[i].name));
	}
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		EXPECT_EQ(0, tdr_configure(0, good[i].name, good[i].value));
		EXPECT_EQ(atol(good[i].value), configured(good[i].name));
	}
}

/* Return: ms until the submission that hangs has ended. */
static int64_t hang_ms(FIXTURE_DATA(tdr) *self)
{
	int64_t begun = vf_deadline(0);

	if (submit_hang(self) || !EVENTUALLY(ended(self)))
		return -1;
	return (vf_deadline(0) - begun) / 1000000;
}

TEST_F(tdr, WDDM_142_a_submission_is_found_after_the_delay)
{
	int64_t ms;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "300"));
	ms = hang_ms(self);
	TH_LOG("found after %lld ms", (long long)ms);
	EXPECT_LE(300, ms);
	/* The kernel's timers are late by up to an eighth. */
	if (deterministic())
		EXPECT_GT(300 + 300 / 8 + 10, ms);
	EXPECT_EQ(-ETIME, syncobj_status(self->fd, self->out_sync));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other) == DRM_VFENCE_DEVICE_HUNG));
}

TEST_F(tdr, WDDM_142_a_suspension_is_given_up_after_the_delay)
{
	int64_t begun;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "300"));
	cmd_hang(self->gfx);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(0, "ignore_suspend", "1"));
	begun = vf_deadline(0);
	EXPECT_EQ(-ETIME, vf_queue_suspend(self->gfx, NULL));
	begun = (vf_deadline(0) - begun) / 1000000;
	ASSERT_EQ(0, inject(0, "ignore_suspend", "0"));
	TH_LOG("given up after %lld ms", (long long)begun);
	EXPECT_LE(300, begun);
	if (deterministic())
		EXPECT_GT(300 + 300 / 8 + 10, begun);
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->device));
}

static void on_alarm(int sig)
{
}

/*
 * A signal ends the call, and nobody calls again. The engine was asked all the same, and others
 * need it.
 */
TEST_F(tdr, WDDM_142_a_suspension_that_nobody_waits_for_is_given_up_as_well)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } }, never = {};
	struct drm_vfence_context_suspend args = { .context = vf_queue_info(self->gfx)->context };
	struct vf_counters before = counters(self->adapter), after;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "300"));
	cmd_hang(self->gfx);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(0, "ignore_suspend", "1"));
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	EXPECT_EQ(-1, ioctl(self->fd, DRM_IOCTL_VFENCE_CONTEXT_SUSPEND, &args));
	EXPECT_EQ(EINTR, errno);
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	ASSERT_EQ(0, inject(0, "ignore_suspend", "0"));
	after = counters(self->adapter);
	EXPECT_EQ(before.engine_resets + 1, after.engine_resets);
	/* Whoever calls again learns of it. */
	EXPECT_EQ(-ETIME, vf_queue_suspend(self->gfx, NULL));
	EXPECT_EQ(after.engine_resets, counters(self->adapter).engine_resets);
}

/* What runs already ends by the new delay, whether that is shorter or longer. */
TEST_F(tdr, a_new_delay_holds_at_once)
{
	int64_t begun = vf_deadline(0), ms;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "900000"));
	ASSERT_EQ(0, submit_hang(self));
	EXPECT_NOT_YET(ended(self));
	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "200"));
	EXPECT_TRUE(EVENTUALLY(ended(self)));
	ms = (vf_deadline(0) - begun) / 1000000;
	TH_LOG("found after %lld ms", (long long)ms);
	EXPECT_LE(200, ms);
	if (deterministic())
		EXPECT_GT(200 + 200 / 8 + 10, ms);
}

struct suspension {
	struct vf_queue *queue;
	int ret, returned;
};

static void *suspend_thread(void *arg)
{
	struct suspension *suspension = arg;

	suspension->ret = vf_queue_suspend(suspension->queue, NULL);
	__atomic_store_n(&suspension->returned, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Sleep for some delays of 50 ms. */
static void wait_for_delays(FIXTURE_DATA(tdr) *self)
{
	vf_fence_wait(self->fence, 1, vf_deadline(SECOND / 2));
}

TEST_F(tdr, a_new_delay_holds_at_once_for_a_suspension)
{
	struct suspension suspension = { .queue = self->gfx };
	pthread_t thread;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "900000"));
	cmd_hang(self->gfx);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(0, "ignore_suspend", "1"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, suspend_thread, &suspension));
	wait_for_delays(self);
	EXPECT_FALSE(__atomic_load_n(&suspension.returned, __ATOMIC_ACQUIRE));
	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "200"));
	pthread_join(thread, NULL);
	ASSERT_EQ(0, inject(0, "ignore_suspend", "0"));
	EXPECT_EQ(-ETIME, suspension.ret);
}

/* Nothing times out while detection is off, and all that hangs is found when it is on again. */
static void ignored_until(struct __test_metadata *_metadata, FIXTURE_DATA(tdr) *self,
			  const char *name, const char *off, const char *on)
{
	struct suspension suspension = { .queue = self->gfx };
	pthread_t thread;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "50"));
	ASSERT_EQ(0, tdr_configure(0, name, off));
	cmd_hang(self->gfx);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(0, "ignore_suspend", "1"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, suspend_thread, &suspension));
	ASSERT_EQ(0, submit_hang(self));
	wait_for_delays(self);
	EXPECT_FALSE(ended(self));
	EXPECT_FALSE(__atomic_load_n(&suspension.returned, __ATOMIC_ACQUIRE));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	ASSERT_EQ(0, tdr_configure(0, name, on));
	pthread_join(thread, NULL);
	ASSERT_EQ(0, inject(0, "ignore_suspend", "0"));
	EXPECT_EQ(-ETIME, suspension.ret);
	EXPECT_TRUE(EVENTUALLY(ended(self)));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
}

TEST_F(tdr, WDDM_165_level_0_ignores_time_outs)
{
	ignored_until(_metadata, self, "level", "0", "3");
}

TEST_F(tdr, WDDM_165_debug_mode_1_ignores_time_outs)
{
	ignored_until(_metadata, self, "debug_mode", "1", "2");
}

/* The GPU itself limits how long a queue keeps others off its engine, at any level. */
TEST_F(tdr, TDR_27_detection_off_does_not_switch_preemption_off)
{
	struct client other;
	struct vf_queue *queue;

	ASSERT_EQ(0, tdr_configure(0, "level", "0"));
	cmd_hang(self->gfx);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	/* Another client: the queues of one client do not take the engine from each other. */
	ASSERT_EQ(0, client_open(&other));
	ASSERT_EQ(0, vf_queue_create(other.device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(drained(queue));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	vf_queue_destroy(queue);
	client_close(&other);
}

/* Return: the parameter of the module for the first adapter, in us. */
static int64_t preempt_us(void)
{
	FILE *f = fopen("/sys/module/vfence/parameters/preempt_us", "re");
	long long us = -1;

	if (f && fscanf(f, "%lld", &us) != 1)
		us = -1;
	if (f)
		fclose(f);
	return us;
}

/* Only that queue and its device are lost, after the time that is configured and one tick. */
TEST_F(tdr, TDR_1_an_endless_draw_is_found_in_time_and_others_go_on)
{
	struct vf_counters before = counters(self->adapter);
	struct vf_fence *fence, *copied;
	struct vf_queue *gfx, *copy;
	struct client other;
	int64_t begun, us;

	ASSERT_EQ(0, client_open(&other));
	ASSERT_EQ(0, vf_fence_create(other.device, 0, 0, &fence));
	ASSERT_EQ(0, vf_fence_create(other.device, 0, 0, &copied));
	ASSERT_EQ(0, vf_queue_create(other.device, DRM_VFENCE_NODE_GFX, 4096, &gfx));
	ASSERT_EQ(0, vf_queue_create(other.device, DRM_VFENCE_NODE_COPY, 4096, &copy));
	vf_cmd_draw(self->gfx, 1, 10 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	vf_cmd_signal(gfx, fence, 1);
	vf_cmd_draw(copy, 30, SECOND / 100);
	vf_cmd_signal(copy, copied, 1);
	begun = vf_deadline(0);
	ASSERT_EQ(0, vf_queue_submit(copy));
	ASSERT_EQ(0, vf_queue_submit(gfx));
	EXPECT_EQ(0, vf_fence_wait(fence, 1, DEADLINE));
	us = (vf_deadline(0) - begun) / 1000;
	TH_LOG("the engine has gone on after %lld us", (long long)us);
	EXPECT_LE(preempt_us(), us);
	if (deterministic())
		EXPECT_GE(preempt_us() + 4000, us);
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));

	/* The other engine has not noticed. */
	EXPECT_EQ(0, vf_fence_wait(copied, 1, DEADLINE));
	us = (vf_deadline(0) - begun) / 1000;
	TH_LOG("300 ms of copying took %lld us", (long long)us);
	if (deterministic())
		EXPECT_GE(304000, us);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(other.device));
	EXPECT_EQ(before.engine_resets, counters(self->adapter).engine_resets);
	vf_queue_destroy(copy);
	vf_queue_destroy(gfx);
	vf_fence_destroy(copied);
	vf_fence_destroy(fence);
	client_close(&other);
}

/* Does the kernel count for how long a thread waits for a processor? */
static bool waits_are_counted(void)
{
	return !access("/proc/self/schedstat", F_OK);
}

static bool can_starve(void)
{
	return waits_are_counted() && sysconf(_SC_NPROCESSORS_ONLN) >= 2;
}

static void pin_to_any(pid_t task, int cpus)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	while (cpus--)
		CPU_SET(cpus, &set);
	sched_setaffinity(task, sizeof(set), &set);
}

/* Keep this processor for 3 s, before all threads of the GPU. @told: is told that it does so. */
static int keep_processor(int told)
{
	int64_t until;

	pin(0, 0);
	hurry(0, 2);
	if (sched_getcpu() || sched_getscheduler(0) != SCHED_FIFO || write(told, "", 1) != 1)
		return 1;
	until = vf_deadline(3 * SECOND);
	while (vf_deadline(0) < until)
		;
	return 0;
}

/*
 * Keep the first processor, and move threads of the GPU there whose kind begins with @kind. The
 * caller runs on another one. Return: the process that keeps it, or a negative number.
 */
static pid_t starve(const char *kind)
{
	char name[32], none;
	int told[2];
	pid_t pid;

	if (pipe(told))
		return -errno;
	snprintf(name, sizeof(name), "vfence%u-%s", first_adapter(), kind);
	each_kthread(name, pin, 0);
	pin(0, 1);
	pid = fork();
	if (!pid)
		_exit(keep_processor(told[1]));
	close(told[1]);
	if (pid > 0 && read(told[0], &none, 1) != 1)
		pid = -EPERM;
	close(told[0]);
	return pid;
}

static int end_starve(pid_t pid)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), status = 0;
	char name[32];

	waitpid(pid, &status, 0);
	snprintf(name, sizeof(name), "vfence%u-", first_adapter());
	each_kthread(name, pin_to_any, cpus);
	pin_to_any(0, cpus);
	return status;
}

/* A user who may run threads in real time keeps the GPU's threads from a processor. */
TEST_F(tdr, real_time_loops_of_a_user_reset_nothing)
{
	struct vf_counters before = counters(self->adapter), after;
	pid_t pid;

	if (!can_starve())
		SKIP(return, "needs two processors, and CONFIG_SCHED_INFO");
	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "200"));
	vf_cmd_draw(self->gfx, 100, SECOND / 100);
	vf_cmd_signal(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	pid = starve("");
	ASSERT_LT(0, pid);
	EXPECT_EQ(0, end_starve(pid));

	EXPECT_EQ(0, vf_fence_wait(self->fence, 1, DEADLINE));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	after = counters(self->adapter);
	EXPECT_EQ(before.engine_resets, after.engine_resets);
	/* No engine was held to see whether it is to be reset. */
	EXPECT_EQ(before.false_alarms, after.false_alarms);
}

/* The reset of an engine waits for the engine. */
TEST_F(tdr, WDDM_162_real_time_loops_make_no_reset_of_an_engine_fail)
{
	struct vf_counters before = counters(self->adapter), after;
	pid_t pid;

	if (!can_starve())
		SKIP(return, "needs two processors, and CONFIG_SCHED_INFO");
	ASSERT_EQ(0, tdr_configure(0, "ddi_delay_ms", "200"));
	vf_cmd_draw(self->gfx, 100, SECOND / 100);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	pid = starve("engine");
	ASSERT_LT(0, pid);
	EXPECT_EQ(0, inject(0, "reset_engine", "0"));
	EXPECT_EQ(0, end_starve(pid));

	after = counters(self->adapter);
	EXPECT_EQ(before.engine_resets + 1, after.engine_resets);
	EXPECT_EQ(before.adapter_resets, after.adapter_resets);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other));
}

/* It waits for the CMP, too, which handles what was posted before. */
TEST_F(tdr, WDDM_146_real_time_loops_make_no_flush_of_a_reset_fail)
{
	struct vf_counters before = counters(self->adapter), after;
	int efd = eventfd(0, EFD_CLOEXEC);
	pid_t pid;

	if (!can_starve())
		SKIP(return, "needs two processors, and CONFIG_SCHED_INFO");
	ASSERT_EQ(0, arm(self->adapter, self->fence, 2, efd));
	ASSERT_EQ(0, inject(0, "hold_posts", "1"));
	vf_cmd_signal(self->gfx, self->fence, 1);
	vf_cmd_signal(self->gfx, self->fence, 2);
	vf_cmd_draw(self->gfx, 100, SECOND / 100);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(vf_fence_current(self->fence) == 2));
	pid = starve("cmp");
	ASSERT_LT(0, pid);
	EXPECT_EQ(0, inject(0, "hold_posts", "0"));
	EXPECT_EQ(0, inject(0, "reset_engine", "0"));
	EXPECT_EQ(0, end_starve(pid));
	close(efd);

	after = counters(self->adapter);
	EXPECT_EQ(before.engine_resets + 1, after.engine_resets);
	EXPECT_EQ(before.adapter_resets, after.adapter_resets);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other));
}

TEST_F(tdr, WDDM_166_a_queue_without_a_time_out_is_never_timed_out)
{
	struct vf_syncobj out = { .handle = self->out_sync };
	struct vf_submit what = { .signal_syncobjs = &out, .signal_syncobj_count = 1 };
	struct drm_vfence_context_create context = {
		.device = vf_device_handle(self->device), .node = DRM_VFENCE_NODE_GFX,
	};
	struct drm_vfence_queue_create user = {
		.flags = DRM_VFENCE_QUEUE_USER_MODE | DRM_VFENCE_QUEUE_DISABLE_GPU_TIMEOUT,
	};
	struct vf_queue *queue;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "100"));
	ASSERT_EQ(0, vf_kernel_queue_create_flags(self->device, DRM_VFENCE_NODE_COMPUTE,
						  DRM_VFENCE_QUEUE_DISABLE_GPU_TIMEOUT, &queue));
	EXPECT_TRUE(vf_queue_info(queue)->flags & DRM_VFENCE_QUEUE_DISABLE_GPU_TIMEOUT);
	/* No dma_fence: nothing promises that it would signal. */
	vf_cmd_draw(queue, 1, 1000);
	EXPECT_EQ(-EOPNOTSUPP, vf_submit(&queue, 1, &what));
	EXPECT_EQ(-EBADF, syncobj_status(self->fd, self->out_sync));
	EXPECT_EQ(0, vf_queue_last_queued(queue));

	/* Seven times the delay, and a change of the delay meanwhile. */
	vf_cmd_draw(queue, 7, SECOND / 10);
	vf_cmd_signal(queue, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "50"));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 1, DEADLINE));
	EXPECT_EQ(1, vf_fence_current(self->fence));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	vf_queue_destroy(queue);

	/* A user-mode queue takes the flag, too. */
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_CONTEXT_CREATE, &context));
	user.context = context.handle;
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUEUE_CREATE, &user));
	EXPECT_TRUE(user.flags & DRM_VFENCE_QUEUE_DISABLE_GPU_TIMEOUT);

	/* An ordinary queue has the delay. */
	vf_cmd_draw(self->kernel, 7, SECOND / 10);
	ASSERT_EQ(0, vf_submit(&self->kernel, 1, &what));
	EXPECT_TRUE(EVENTUALLY(ended(self)));
	EXPECT_EQ(-ETIME, syncobj_status(self->fd, self->out_sync));
}

TEST_F(tdr, TDR_27_a_queue_without_a_time_out_leaves_its_engine_to_others)
{
	struct vf_queue *hog, *queue;
	struct client other;

	ASSERT_EQ(0, vf_kernel_queue_create_flags(self->device, DRM_VFENCE_NODE_GFX,
						  DRM_VFENCE_QUEUE_DISABLE_GPU_TIMEOUT, &hog));
	cmd_hang(hog);
	ASSERT_EQ(0, vf_queue_submit(hog));
	ASSERT_TRUE(EVENTUALLY(queue_state(hog) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, client_open(&other));
	ASSERT_EQ(0, vf_queue_create(other.device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(drained(queue));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(other.device));
	vf_queue_destroy(hog);
	vf_queue_destroy(queue);
	client_close(&other);
}

/* Hang a new device. Return: 0 once it is HUNG, or a negative error. */
static int hang_device_of(struct vf_adapter *adapter)
{
	struct vf_syncobj out = { 0 };
	struct vf_submit what = { .signal_syncobjs = &out, .signal_syncobj_count = 1 };
	struct vf_device *device = NULL;
	struct vf_queue *queue = NULL;
	int ret = vf_device_create(adapter, &device);

	ret = ret ? ret : vf_kernel_queue_create(device, DRM_VFENCE_NODE_COMPUTE, &queue);
	ret = ret ? ret : drmSyncobjCreate(vf_adapter_fd(adapter), 0, &out.handle);
	if (!ret) {
		cmd_hang(queue);
		ret = vf_submit(&queue, 1, &what);
	}
	if (!ret && !EVENTUALLY(vf_device_state(device) == DRM_VFENCE_DEVICE_HUNG))
		ret = -ETIME;
	drmSyncobjDestroy(vf_adapter_fd(adapter), out.handle);
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	return ret;
}

/* The same with a new file, which is closed afterwards. */
static int hang_once(void)
{
	struct vf_adapter *adapter;
	int ret = vf_adapter_open(0, &adapter);

	if (ret)
		return ret;
	ret = hang_device_of(adapter);
	vf_adapter_close(adapter);
	return ret;
}

/* Return: 0 if a process can use the adapter, or a negative error. */
static int use(void)
{
	struct vf_queue *queue = NULL;
	struct client client = { 0 };
	int ret = client_open(&client);

	ret = ret ? ret : vf_queue_create(client.device, DRM_VFENCE_NODE_GFX, 4096, &queue);
	ret = ret ? ret : vf_queue_submit(queue);
	if (!ret && !drained(queue))
		ret = -EIO;
	vf_queue_destroy(queue);
	client_close(&client);
	return ret;
}

static int ended_with(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Return: what @what returns in a child, as a positive number. */
static int in_a_child(int (*what)(void))
{
	pid_t child = fork();

	if (!child)
		_exit(-what());
	return ended_with(child);
}

#define AS_PROGRAM	"VFENCE_TDR_AS_PROGRAM"

/* Do the same with the file that a parent has left open. */
static int hang_with_file(int fd)
{
	struct vf_adapter *adapter;
	int ret = vf_adapter_open(0, &adapter);

	if (ret)
		return ret;
	/* From here on the library uses the other file. */
	ret = dup2(fd, vf_adapter_fd(adapter)) < 0 ? -errno : hang_device_of(adapter);
	vf_adapter_close(adapter);
	return ret;
}

/* Leave a child, which hangs the engine twice when another process is its parent. */
static void be_an_orphan(void)
{
	pid_t parent = getpid(), child = fork();

	if (child)
		_exit(child < 0);
	while (getppid() == parent)
		sched_yield();
	_exit(hang_once() || hang_once());
}

/* This program, executed by a test: it does one thing, and runs no test. */
__attribute__((constructor)) static void be_a_program(void)
{
	const char *what = getenv(AS_PROGRAM);

	if (!what)
		return;
	if (!strcmp(what, "orphan"))
		be_an_orphan();
	_exit(-(!strcmp(what, "use") ? use() : !strcmp(what, "hang") ? hang_once() :
		hang_with_file(atoi(what))));
}

/*
 * Return: what the program returns, told to "use", "hang", be an "orphan" or use a descriptor, as a
 * positive number.
 */
static int in_a_program(const char *what)
{
	pid_t child = fork();

	if (!child) {
		setenv(AS_PROGRAM, what, 1);
		execl("/proc/self/exe", "tdr", NULL);
		_exit(255);
	}
	return ended_with(child);
}

TEST_F(tdr, WDDM_164_a_process_that_hangs_engines_repeatedly_is_blocked)
{
	uint64_t blocked = counters(self->adapter).processes_blocked;
	struct vf_device *device;
	struct vf_queue *queue;
	unsigned int i;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "20"));
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	for (i = 1; i < 5; i++) {
		ASSERT_EQ(0, hang_once());
		ASSERT_EQ(0, use());
	}
	EXPECT_EQ(blocked, counters(self->adapter).processes_blocked);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	ASSERT_EQ(0, hang_once());
	EXPECT_EQ(blocked + 1, counters(self->adapter).processes_blocked);
	/* The process gets no new device, and those that it has are stopped. */
	EXPECT_EQ(-EACCES, vf_device_create(self->adapter, &device));
	EXPECT_EQ(DRM_VFENCE_DEVICE_STOPPED, vf_device_state(self->device));
	/* Nobody waits for ever for a fence that its devices were to signal. */
	EXPECT_EQ(0, vf_fence_wait(self->fence, UINT64_MAX, DEADLINE));
	EXPECT_TRUE(EVENTUALLY(vf_queue_status(self->gfx) ==
			       DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT));
	EXPECT_EQ(-EIO, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	EXPECT_EQ(-EIO, vf_queue_submit(self->gfx));
	/* Nor with another file, nor in a child. Other programs go on, and those that it starts, too. */
	EXPECT_EQ(-EACCES, use());
	EXPECT_EQ(EACCES, in_a_child(use));
	EXPECT_EQ(0, in_a_program("use"));
	EXPECT_EQ(blocked + 1, counters(self->adapter).processes_blocked);
}

static int hang_in_a_child(void)
{
	return -in_a_child(hang_once);
}

TEST_F(tdr, WDDM_164_children_count_for_the_process_that_uses_the_adapter)
{
	pid_t child;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "20"));
	ASSERT_EQ(0, tdr_configure(0, "limit_count", "4"));
	/* With a file of their own, with that of the process, and in a child of a child. */
	ASSERT_EQ(0, in_a_child(hang_once));
	child = fork();
	if (!child)
		_exit(-hang_device_of(self->adapter));
	ASSERT_EQ(0, ended_with(child));
	ASSERT_EQ(0, in_a_child(hang_in_a_child));
	ASSERT_EQ(0, in_a_child(use));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	ASSERT_EQ(0, in_a_child(hang_once));
	/* All of them are blocked. */
	EXPECT_EQ(-EACCES, use());
	EXPECT_EQ(EACCES, in_a_child(use));
	EXPECT_EQ(DRM_VFENCE_DEVICE_STOPPED, vf_device_state(self->device));
	EXPECT_EQ(0, in_a_program("use"));
}

/* A desktop starts the programs of its user, and goes on when one of them hangs. */
TEST_F(tdr, WDDM_164_a_program_counts_for_itself)
{
	unsigned int i;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "20"));
	ASSERT_EQ(0, tdr_configure(0, "limit_count", "2"));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, in_a_program("hang"));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	EXPECT_EQ(0, use());
}

/* The process that becomes the parent of an orphan has not started it. */
TEST_F(tdr, WDDM_164_an_orphan_counts_for_itself)
{
	int status;

	ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1));
	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "20"));
	ASSERT_EQ(0, tdr_configure(0, "limit_count", "2"));
	ASSERT_EQ(0, in_a_program("orphan"));
	ASSERT_LT(0, waitpid(-1, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, use());
}

TEST_F(tdr, WDDM_164_a_program_counts_for_whose_file_it_uses)
{
	char fd[16];

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "20"));
	ASSERT_EQ(0, tdr_configure(0, "limit_count", "2"));
	snprintf(fd, sizeof(fd), "%d", dup(self->fd));
	ASSERT_EQ(0, in_a_program(fd));
	EXPECT_EQ(0, use());
	ASSERT_EQ(0, in_a_program(fd));
	EXPECT_EQ(-EACCES, use());
	EXPECT_EQ(0, in_a_program("use"));
	close(atoi(fd));
}

/* A service starts processes for its users, and goes on when these hang. */
TEST_F(tdr, WDDM_164_a_child_of_another_user_counts_for_itself)
{
	unsigned int i;
	pid_t child;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "20"));
	ASSERT_EQ(0, tdr_configure(0, "limit_count", "2"));
	for (i = 0; i < 3; i++) {
		child = fork_stranger();
		if (!child)
			_exit(-(i ? hang_once() : hang_device_of(self->adapter)));
		ASSERT_EQ(0, ended_with(child));
	}
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	EXPECT_EQ(0, use());
}

/* Another queue of the same client has the engine: the one that waits for it did not hang. */
TEST_F(tdr, WDDM_164_a_submission_that_is_kept_off_the_engine_does_not_count)
{
	uint64_t blocked = counters(self->adapter).processes_blocked;
	struct vf_queue *hog, *queue;
	struct vf_submit what = {};
	struct vf_device *device;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "50"));
	ASSERT_EQ(0, tdr_configure(0, "limit_count", "1"));
	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_kernel_queue_create_flags(device, DRM_VFENCE_NODE_GFX,
						  DRM_VFENCE_QUEUE_DISABLE_GPU_TIMEOUT, &hog));
	ASSERT_EQ(0, vf_kernel_queue_create(device, DRM_VFENCE_NODE_GFX, &queue));
	vf_cmd_draw(hog, 1, 5 * SECOND);
	ASSERT_EQ(0, vf_submit(&hog, 1, &what));
	ASSERT_TRUE(EVENTUALLY(queue_state(hog) == DRM_VFENCE_QUEUE_RUNNING));
	vf_cmd_draw(queue, 1, 1000);
	ASSERT_EQ(0, vf_submit(&queue, 1, &what));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_EQ(0, use());
	EXPECT_EQ(blocked, counters(self->adapter).processes_blocked);
	vf_queue_destroy(queue);
	vf_queue_destroy(hog);
	vf_device_destroy(device);
}

/* 16 turns of 100 ms and their own go before the last one: none of them is the delay. */
TEST_F(tdr, WDDM_142_a_submission_waits_for_turns_of_its_client)
{
	struct vf_submit what = {};
	struct vf_queue *queue[16];
	unsigned int i;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "700"));
	vf_cmd_draw(self->gfx, 30, SECOND / 10);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	for (i = 0; i < ARRAY_SIZE(queue); i++) {
		ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &queue[i]));
		vf_cmd_draw(queue[i], 1, SECOND / 1000);
		ASSERT_EQ(0, vf_submit(&queue[i], 1, &what));
	}
	for (i = 0; i < ARRAY_SIZE(queue); i++)
		EXPECT_TRUE(drained(queue[i]));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	EXPECT_EQ(0, vf_queue_abort(self->gfx));
	for (i = 0; i < ARRAY_SIZE(queue); i++)
		vf_queue_destroy(queue[i]);
}

/* A queue submits four times, and is kept off twice each time: that is no reason for the fourth. */
TEST_F(tdr, WDDM_142_a_submission_counts_its_own_turns)
{
	struct vf_submit what = {};
	struct vf_queue *queue[6];
	unsigned int i, k;

	/* A machine that pauses for 150 ms makes a turn as long as the delay. */
	if (!deterministic())
		SKIP(return, "needs the deterministic clock");
	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "300"));
	for (i = 0; i < ARRAY_SIZE(queue); i++)
		ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &queue[i]));
	for (k = 0; k < 4; k++) {
		/* Each has a turn of 150 ms and waits for the five others: two delays and a half. */
		for (i = 0; i < ARRAY_SIZE(queue); i++) {
			vf_cmd_draw(queue[i], 1, 150 * (SECOND / 1000));
			ASSERT_EQ(0, vf_submit(&queue[i], 1, &what));
		}
	}
	for (i = 0; i < ARRAY_SIZE(queue); i++)
		EXPECT_TRUE(drained(queue[i]));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	for (i = 0; i < ARRAY_SIZE(queue); i++)
		vf_queue_destroy(queue[i]);
}

/* A dma_fence has to end, so there is an end to such turns: 5 delays, beside 16 queues here. */
TEST_F(tdr, WDDM_142_turns_of_its_client_keep_no_submission_off_for_ever)
{
	struct vf_queue *hog[16], *queue;
	struct vf_submit what = {};
	int64_t begun, ns;
	unsigned int i;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "200"));
	for (i = 0; i < ARRAY_SIZE(hog); i++) {
		ASSERT_EQ(0, vf_kernel_queue_create_flags(self->device, DRM_VFENCE_NODE_GFX,
							  DRM_VFENCE_QUEUE_DISABLE_GPU_TIMEOUT,
							  &hog[i]));
		vf_cmd_draw(hog[i], 100, 150 * (SECOND / 1000));
		ASSERT_EQ(0, vf_submit(&hog[i], 1, &what));
	}
	ASSERT_TRUE(EVENTUALLY(queue_state(hog[0]) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &queue));
	vf_cmd_draw(queue, 1, SECOND / 1000);
	begun = vf_deadline(0);
	ASSERT_EQ(0, vf_submit(&queue, 1, &what));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	ns = vf_deadline(0) - begun;
	TH_LOG("ended after %.1f ms", (double)ns / (SECOND / 1000));
	if (deterministic()) {
		EXPECT_LT(5 * 200 * (SECOND / 1000), ns);
		EXPECT_GT(6 * 200 * (SECOND / 1000), ns);
	}
	vf_queue_destroy(queue);
	for (i = 0; i < ARRAY_SIZE(hog); i++)
		vf_queue_destroy(hog[i]);
}

/* A process without an open file. */
FIXTURE(closed) {
	char none;
};

FIXTURE_SETUP(closed)
{
	if (geteuid())
		SKIP(return, "needs root");
}

FIXTURE_TEARDOWN(closed)
{
	EXPECT_EQ(0, restore());
}

TEST_F(closed, WDDM_164_a_process_stays_blocked_without_an_open_file)
{
	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "20"));
	ASSERT_EQ(0, tdr_configure(0, "limit_count", "2"));
	EXPECT_EQ(0, hang_once());
	EXPECT_EQ(0, use());
	EXPECT_EQ(0, hang_once());
	EXPECT_EQ(-EACCES, use());
	EXPECT_EQ(-EACCES, use());
	EXPECT_EQ(EACCES, in_a_child(use));
	EXPECT_EQ(0, in_a_program("use"));
}

TEST_F(tdr, WDDM_164_hangs_that_are_far_apart_block_nobody)
{
	unsigned int i;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "20"));
	ASSERT_EQ(0, tdr_configure(0, "limit_count", "3"));
	ASSERT_EQ(0, tdr_configure(0, "limit_time_s", "1"));
	for (i = 0; i < 6; i++) {
		ASSERT_EQ(0, hang_once());
		vf_fence_wait(self->fence, 1, vf_deadline(6 * SECOND / 10));
	}
	EXPECT_EQ(0, use());
}

TEST_F(tdr, WDDM_165_debug_mode_3_recovers_whatever_the_limits_say)
{
	unsigned int i;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "20"));
	ASSERT_EQ(0, tdr_configure(0, "limit_count", "1"));
	ASSERT_EQ(0, tdr_configure(0, "debug_mode", "3"));
	for (i = 0; i < 6; i++)
		ASSERT_EQ(0, hang_once());
	EXPECT_EQ(0, use());
}

/* A child that has hung an engine and is blocked, and asks again when it is told to. */
static pid_t blocked_child(int ask[2], int answer[2])
{
	pid_t child;
	char byte;

	if (pipe(ask) || pipe(answer))
		return -1;
	child = fork();
	if (child)
		return child;
	byte = hang_once() ? 1 : use() == -EACCES ? 0 : 2;
	if (write(answer[1], &byte, 1) == 1 && read(ask[0], &byte, 1) == 1) {
		byte = -use();
		byte = write(answer[1], &byte, 1) != 1;
	}
	_exit(0);
}

static int told_by(int answer[2])
{
	char byte = -1;

	return read(answer[0], &byte, 1) == 1 ? byte : -1;
}

#define REMEMBERED	64

/* An adapter remembers a bounded number of processes that have no file. */
TEST_F_TIMEOUT(closed, the_oldest_of_too_many_processes_is_forgotten, 120)
{
	int ask[REMEMBERED + 1][2], answer[REMEMBERED + 1][2];
	pid_t child[REMEMBERED + 1];
	unsigned int i;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "1"));
	ASSERT_EQ(0, tdr_configure(0, "limit_count", "1"));
	for (i = 0; i <= REMEMBERED; i++) {
		child[i] = blocked_child(ask[i], answer[i]);
		ASSERT_LT(0, child[i]);
		ASSERT_EQ(0, told_by(answer[i]));
	}
	for (i = 0; i <= REMEMBERED; i++) {
		ASSERT_EQ(1, write(ask[i][1], "", 1));
		EXPECT_EQ(i ? EACCES : 0, told_by(answer[i]));
		EXPECT_EQ(child[i], waitpid(child[i], NULL, 0));
	}
}

TEST_F_TIMEOUT(closed, processes_that_have_ended_are_forgotten_first, 120)
{
	int ask[2], answer[2];
	pid_t oldest, child;
	unsigned int i;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "1"));
	ASSERT_EQ(0, tdr_configure(0, "limit_count", "1"));
	oldest = blocked_child(ask, answer);
	ASSERT_LT(0, oldest);
	ASSERT_EQ(0, told_by(answer));
	for (i = 0; i <= REMEMBERED; i++) {
		int status;

		child = fork();
		if (!child)
			_exit(-hang_once());
		ASSERT_EQ(child, waitpid(child, &status, 0));
		ASSERT_EQ(0, status);
	}
	ASSERT_EQ(1, write(ask[1], "", 1));
	EXPECT_EQ(EACCES, told_by(answer));
	EXPECT_EQ(oldest, waitpid(oldest, NULL, 0));
}

/* A display server opens a file, and sends it to a client. Return: 0 if it is not blocked at the end. */
static int serve(int socket)
{
	struct vf_device *device = NULL;
	struct vf_queue *queue = NULL;
	struct vf_adapter *adapter;
	int ret = vf_adapter_open(0, &adapter);
	char byte;

	ret = ret ? ret : vf_device_create(adapter, &device);
	ret = ret ? ret : vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue);
	ret = ret ? ret : vf_send_fd(socket, vf_adapter_fd(adapter));
	if (!ret && read(socket, &byte, 1) != 1)
		ret = -EPIPE;
	if (!ret && vf_device_state(device) != DRM_VFENCE_DEVICE_ACTIVE)
		ret = -EIO;
	return ret ? ret : use();
}

TEST_F(closed, WDDM_164_a_process_is_not_blocked_for_what_others_do_with_its_file)
{
	struct client client;
	struct vf_queue *queue;
	int sockets[2], fd;
	pid_t server;

	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "20"));
	ASSERT_EQ(0, tdr_configure(0, "limit_count", "2"));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets));
	server = fork();
	if (!server)
		_exit(-serve(sockets[1]));
	fd = vf_recv_fd(sockets[0]);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, client_open(&client));
	ASSERT_EQ(0, vf_queue_create(client.device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, hang_with_file(fd));
	ASSERT_EQ(0, hang_with_file(fd));
	EXPECT_EQ(-EACCES, hang_with_file(fd));
	/* Queues are stopped in the order in which they were created. */
	EXPECT_TRUE(EVENTUALLY(vf_queue_status(queue) == DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT));
	ASSERT_EQ(1, write(sockets[0], "", 1));
	EXPECT_EQ(0, ended_with(server));
	vf_queue_destroy(queue);
	client_close(&client);
	close(fd);
}

/* Others decide whether they want the engine from a queue that does not stop. */
TEST_F(tdr, a_queue_that_others_preempt_does_not_block_its_process)
{
	uint64_t blocked = counters(self->adapter).processes_blocked;

	ASSERT_EQ(0, tdr_configure(0, "limit_count", "1"));
	cmd_hang(self->gfx);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	EXPECT_EQ(0, in_a_child(use));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_EQ(0, use());
	EXPECT_EQ(blocked, counters(self->adapter).processes_blocked);
}

TEST_HARNESS_MAIN
