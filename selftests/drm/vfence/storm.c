// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hangs at random, of any engine and in any step, while clients that have done nothing wrong use
 * all engines. Processes hang engines in different ways, two at once, and leave, wait for the
 * verdict, or are killed. Engines are reset, in the second test adapters as well, and the
 * last one unloads the module meanwhile.
 *
 * VFENCE_TEST_SEED repeats what a run has chosen, but not who meets whom. VFENCE_TEST_SHARE=0.3
 * makes a thousand hangs in the first test.
 */

#include <sys/syscall.h>

#include "innocent.h"

#define NODES		4
#define CULPRITS	2
/* Of the parts of a round, a queue that hangs and is not noticed by itself takes longest. */
#define DELAY_MS	"300"

/* This adapter says itself that an engine hangs. Others notice it when someone wants the engine. */
#define HANGS		11

static unsigned int stormy_adapter(void)
{
	return first_adapter() ? first_adapter() : HANGS;
}

/* Set the short times of these tests. Nothing is blocked or lost because it hangs often. */
static int configure(unsigned int index)
{
	return tdr_configure(index, "delay_ms", DELAY_MS) ||
	       tdr_configure(index, "debug_mode", "3");
}

/* ---------------------------------------------------------------- the culprits */

/* Ways to hang. Each is done by a process of its own. */
struct culprit {
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *native, *monitored;
	unsigned int index;
};

static int culprit_open(struct culprit *me)
{
	int ret = vf_adapter_open(me->index, &me->adapter);

	ret = ret ? ret : vf_device_create(me->adapter, &me->device);
	ret = ret ? ret : vf_fence_create(me->device, 0, 0, &me->native);
	return ret ? ret : vf_monitored_fence_create(me->device, 0, 0, &me->monitored);
}

/* The test makes the adapter be lost, and unbinds it. */
static bool adapter_goes;

/* All who wait for the fence go on: it is at its maximum, or its adapter is lost or gone. */
static bool ended(struct vf_fence *fence)
{
	int ret = vf_fence_wait(fence, INT32_MAX, DEADLINE);

	if (!ret)
		return vf_fence_current(fence) >= INT32_MAX;
	return adapter_goes && (ret == -EIO || ret == -ENODEV);
}

/* A culprit that stays loses its device, and nobody waits for its fences for ever. */
static bool punished(struct culprit *me)
{
	bool native = ended(me->native), monitored = ended(me->monitored);

	if (native && monitored &&
	    EVENTUALLY(vf_device_state(me->device) != DRM_VFENCE_DEVICE_ACTIVE))
		return true;
	printf("# a culprit stays: device %d, fences %" PRIu64 " and %" PRIu64 "\n",
	       vf_device_state(me->device), vf_fence_current(me->native),
	       vf_fence_current(me->monitored));
	fflush(stdout);
	return false;
}

static bool hang_queues(struct culprit *me, unsigned int count)
{
	struct vf_queue *queue;

	while (count--)
		if (!vf_queue_create(me->device, dice(NODES), 4096, &queue))
			hang_on(queue);
	return dice(2) || punished(me);
}

static bool hang_kernel_queue(struct culprit *me)
{
	int fd = vf_adapter_fd(me->adapter);
	struct vf_queue *queue;
	uint32_t syncobj;
	struct vf_syncobj out;
	struct vf_submit what = { .signal_syncobjs = &out, .signal_syncobj_count = 1 };

	if (vf_kernel_queue_create(me->device, dice(NODES), &queue) ||
	    drmSyncobjCreate(fd, 0, &syncobj))
		return true;
	out = (struct vf_syncobj){ .handle = syncobj };
	if (dice(2))
		vf_cmd_draw(queue, 10, SECOND / 10);
	else
		cmd_hang(queue);
	if (vf_submit(&queue, 1, &what) || dice(2))
		return true;
	/* No dma_fence stays behind. */
	return EVENTUALLY(syncobj_status(fd, syncobj) != 0);
}

static bool hang_suspended(struct culprit *me)
{
	struct vf_queue *queue;

	if (vf_queue_create(me->device, dice(NODES), 4096, &queue))
		return true;
	hang_on(queue);
	/* The suspension finds the queue before, on, or after its engine. */
	if (!vf_queue_suspend(queue, NULL))
		vf_queue_resume(queue);
	return dice(2) || punished(me);
}

/* Values move to video memory and back while an engine hangs. */
static bool hang_and_evict(struct culprit *me)
{
	const struct vf_fence_desc desc = { .type = DRM_VFENCE_FENCE_INTRA_GPU };
	struct vf_fence *fence;
	unsigned int i;
	bool right = hang_queues(me, 1);

	for (i = 0; i < 200; i++)
		if (vf_fence_create_desc(me->device, &desc, &fence))
			break;
	return right;
}

/* A page fault, which costs the device: its fences stay as they are. */
static bool fault(struct culprit *me)
{
	struct vf_queue *queue;

	if (vf_queue_create(me->device, dice(NODES), 4096, &queue))
		return true;
	vf_cmd_fill(queue, NOWHERE, 64, 0);
	vf_queue_publish(queue);
	return dice(2) ||
	       EVENTUALLY(vf_device_state(me->device) != DRM_VFENCE_DEVICE_ACTIVE);
}

static bool hang_somehow(struct culprit *me)
{
	switch (dice(7)) {
	case 0:
		return hang_queues(me, 2);
	case 1:
		return hang_kernel_queue(me);
	case 2:
		return hang_suspended(me);
	case 3:
		return hang_and_evict(me);
	case 4:
		return fault(me);
	default:
		return hang_queues(me, 1);
	}
}

static pid_t start_culprit(unsigned int index, uint64_t seed)
{
	struct culprit me = { .index = index };
	pid_t pid = fork();

	if (pid)
		return pid;
	state = seed;
	/* The adapter may be lost or unbound just now. */
	_exit(culprit_open(&me) || hang_somehow(&me) ? 0 : 1);
}

/* Return: 0, or 1 if the process has seen something wrong. */
static unsigned int end_culprit(pid_t pid)
{
	int status = 0;

	if (dice(3) == 0) {
		/* Processes die at any time. This is only the pace. */
		usleep(dice(30000));
		kill(pid, SIGKILL);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status);
}

/* -------------------------------------------------------------------- the tests */

FIXTURE(storm) {
	struct innocent innocent[NODES];
	_Atomic bool stop;
	unsigned int index;
	pid_t culprit[CULPRITS];
};

static int start_innocents(FIXTURE_DATA(storm) *self)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < NODES; i++) {
		self->innocent[i] = (struct innocent){
			.index = self->index, .node = i, .stop = &self->stop,
		};
		ret = innocent_open(&self->innocent[i]);
		ret = ret ? ret : pthread_create(&self->innocent[i].thread, NULL,
						 innocent_thread, &self->innocent[i]);
	}
	return ret;
}

static void stop_innocents(FIXTURE_DATA(storm) *self)
{
	unsigned int i;

	atomic_store(&self->stop, true);
	for (i = 0; i < NODES; i++)
		pthread_join(self->innocent[i].thread, NULL);
}

FIXTURE_SETUP(storm)
{
	self->index = stormy_adapter();
	if (geteuid() || configure(self->index))
		SKIP(return, "needs root and the adapters of the guests");
	roll_dice();
	ASSERT_EQ(0, start_innocents(self));
}

FIXTURE_TEARDOWN(storm)
{
	unsigned int i;

	for (i = 0; i < CULPRITS; i++)
		if (self->culprit[i])
			end_culprit(self->culprit[i]);
	EXPECT_EQ(0, driver("unbind", self->index));
	EXPECT_EQ(0, driver("bind", self->index));
}

/* Return: how many devices the innocent have lost. */
static uint64_t lost_devices(FIXTURE_DATA(storm) *self)
{
	uint64_t lost = 0;
	unsigned int i;

	for (i = 0; i < NODES; i++)
		lost += self->innocent[i].renewed;
	return lost;
}

/* Return: true if all engines work for all innocents, whatever has happened before. */
static bool innocents_go_on(FIXTURE_DATA(storm) *self)
{
	bool going = true;
	unsigned int i;

	for (i = 0; i < NODES; i++) {
		uint64_t rounds = self->innocent[i].rounds;

		going &= EVENTUALLY(self->innocent[i].rounds > rounds + 1);
	}
	return going;
}

/*
 * Return: number of hangs so far. Where an adapter does not say itself that an engine hangs, a
 * culprit counts as one.
 */
static uint64_t hangs_since(FIXTURE_DATA(storm) *self, const struct vf_counters *before,
			    unsigned int culprits)
{
	struct vf_counters now = counters(self->innocent[0].adapter);

	return self->index == HANGS ? now.engine_resets - before->engine_resets : culprits;
}

TEST_F_TIMEOUT(storm, TDR_25_hangs_of_any_engine_cost_no_innocent_anything, 1800)
{
	struct vf_counters before = counters(self->innocent[0].adapter), after;
	unsigned int i, round, wrong = 0, most = 10 * wanted(300);

	for (round = 0; round < most && hangs_since(self, &before, round) < wanted(300) &&
	     !lost_devices(self); round++) {
		pid_t *culprit = &self->culprit[round % CULPRITS];

		wrong += *culprit ? end_culprit(*culprit) : 0;
		*culprit = start_culprit(self->index, state + round);
	}
	for (i = 0; i < CULPRITS; i++) {
		wrong += self->culprit[i] ? end_culprit(self->culprit[i]) : 0;
		self->culprit[i] = 0;
	}
	after = counters(self->innocent[0].adapter);
	EXPECT_TRUE(innocents_go_on(self));
	stop_innocents(self);
	EXPECT_EQ(0, lost_devices(self));
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(before.adapter_resets, after.adapter_resets);
	if (self->index == HANGS)
		EXPECT_LE(before.engine_resets + wanted(300), after.engine_resets);
	for (i = 0; i < NODES; i++) {
		EXPECT_EQ(0, self->innocent[i].lost);
		EXPECT_EQ(0, self->innocent[i].wrong);
		TH_LOG("node %u: %llu rounds, the longest %lld us", i,
		       (unsigned long long)self->innocent[i].rounds,
		       (long long)self->innocent[i].longest / 1000);
	}
	TH_LOG("%u culprits, %llu resets, %llu false alarms", round,
	       (unsigned long long)(after.engine_resets - before.engine_resets),
	       (unsigned long long)(after.false_alarms - before.false_alarms));
	EXPECT_TRUE(balanced(self->index));
}

static void reset_somehow(unsigned int index)
{
	static const char *const fails[] = {
		"fail_engine_reset", "fail_engine_resume", "fail_adapter_reset", "fail_restart",
		"wrong_last_aborted", "hang_paging", "ignore_suspend", "survive_reset",
		"interrupt_after_reset",
	};
	const char *name = fails[dice(ARRAY_SIZE(fails))];

	switch (dice(5)) {
	case 0:
		inject(index, name, "1");
		break;
	case 2:
		inject(index, "page_fault_flags",
		       (const char *[]){ "0x4", "0x8", "0x10" }[dice(3)]);
		break;
	case 1:
		inject(index, "reset_engine", (const char *[]){ "0", "1", "2", "3" }[dice(4)]);
		break;
	default:
		inject(index, "reset_adapter", "1");
		break;
	}
}

TEST_F_TIMEOUT(storm, TDR_15_25_resets_and_losses_of_the_adapter_leave_nothing_behind, 1800)
{
	unsigned int i, round, wrong = 0;

	adapter_goes = true;
	for (round = 0; round < wanted(120); round++) {
		pid_t *culprit = &self->culprit[round % CULPRITS];

		wrong += *culprit ? end_culprit(*culprit) : 0;
		*culprit = start_culprit(self->index, state + round);
		if (dice(2))
			reset_somehow(self->index);
		/* Also an adapter that is lost works after this, and its switches are off. */
		if (dice(4))
			continue;
		ASSERT_EQ(0, driver("unbind", self->index));
		ASSERT_EQ(0, driver("bind", self->index));
		ASSERT_EQ(0, configure(self->index));
	}
	for (i = 0; i < CULPRITS; i++) {
		end_culprit(self->culprit[i]);
		self->culprit[i] = 0;
	}
	ASSERT_EQ(0, driver("unbind", self->index));
	ASSERT_EQ(0, driver("bind", self->index));
	EXPECT_TRUE(innocents_go_on(self));
	stop_innocents(self);
	EXPECT_EQ(0, wrong);
	for (i = 0; i < NODES; i++) {
		EXPECT_EQ(0, self->innocent[i].lost);
		EXPECT_EQ(0, self->innocent[i].wrong);
		EXPECT_LT(0, self->innocent[i].renewed);
		TH_LOG("node %u: %llu rounds, %llu new devices", i,
		       (unsigned long long)self->innocent[i].rounds,
		       (unsigned long long)self->innocent[i].renewed);
	}
	EXPECT_TRUE(balanced(self->index));
}

/* Return: the parameters that the module has now, as for insmod. */
static bool module_parameters(char *text, size_t size)
{
	DIR *dir = opendir("/sys/module/vfence/parameters");
	struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir))) {
		char path[300], value[1024] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/sys/module/vfence/parameters/%s", entry->d_name);
		f = entry->d_name[0] == '.' ? NULL : fopen(path, "re");
		if (f && fgets(value, sizeof(value), f) && value[0] != '\n') {
			value[strcspn(value, "\n")] = 0;
			n += (size_t)snprintf(text + n, size - n, "%s=%s ", entry->d_name, value);
		}
		if (f)
			fclose(f);
		if (n >= size)
			return false;
	}
	if (dir)
		closedir(dir);
	return n > 0;
}

FIXTURE(unload) {
	char parameters[8192];
	unsigned int index;
	int module;
};

FIXTURE_SETUP(unload)
{
	self->index = stormy_adapter();
	self->module = open("vfence.ko", O_RDONLY | O_CLOEXEC);
	if (geteuid() || self->module < 0)
		SKIP(return, "needs root and the module in this folder");
	ASSERT_TRUE(module_parameters(self->parameters, sizeof(self->parameters)));
	roll_dice();
}

FIXTURE_TEARDOWN(unload)
{
	close(self->module);
}

TEST_F_TIMEOUT(unload, TDR_15_the_module_goes_during_a_reset, 600)
{
	unsigned int round;

	adapter_goes = true;
	for (round = 0; round < wanted(20); round++) {
		pid_t pid;

		ASSERT_EQ(0, configure(self->index));
		if (dice(2))
			reset_somehow(self->index);
		pid = start_culprit(self->index, state + round);
		usleep(dice(40000));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		/* The module may be in use for a moment, by what ends the process. */
		ASSERT_TRUE(EVENTUALLY(!syscall(SYS_delete_module, "vfence", O_NONBLOCK)));
		ASSERT_EQ(0, syscall(SYS_finit_module, self->module, self->parameters, 0));
	}
	EXPECT_TRUE(balanced(self->index));
}

TEST_HARNESS_MAIN
