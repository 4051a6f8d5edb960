// SPDX-License-Identifier: GPL-2.0-only
/* Two virtual functions share the engines of a physical one. */

#include "recovery_test.h"

/* The numbers of the virtual functions of adapter 0. */
#define FIRST	16

FIXTURE(functions)
{
	struct vf_adapter *adapter[2];
	struct vf_device *device[2];
	struct vf_queue *queue[2];
};

/* Open a client on each function. */
static int functions_open(FIXTURE_DATA(functions) *self)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 2 && !ret; i++) {
		ret = vf_adapter_open(FIRST + i, &self->adapter[i]);
		ret = ret ? ret : vf_device_create(self->adapter[i], &self->device[i]);
		ret = ret ? ret : vf_queue_create(self->device[i], DRM_VFENCE_NODE_GFX, 65536,
						  &self->queue[i]);
	}
	return ret;
}

static void functions_close(FIXTURE_DATA(functions) *self)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		vf_queue_abort(self->queue[i]);
		vf_queue_destroy(self->queue[i]);
		vf_device_destroy(self->device[i]);
		vf_adapter_close(self->adapter[i]);
	}
}

FIXTURE_SETUP(functions)
{
	if (access("/sys/bus/platform/devices/vfence.17/drm", F_OK))
		SKIP(return, "needs two virtual functions (vfs=2)");
	ASSERT_EQ(0, functions_open(self));
}

FIXTURE_TEARDOWN(functions)
{
	functions_close(self);
}

TEST_F(functions, a_virtual_function_has_no_functions)
{
	static const char *const files[] = { "sriov_numvfs", "sriov_totalvfs" };
	unsigned int i, k;
	char path[80];

	for (i = 0; i < 2; i++) {
		for (k = 0; k < ARRAY_SIZE(files); k++) {
			snprintf(path, sizeof(path), "/sys/bus/platform/devices/vfence.%u/%s",
				 FIRST + i, files[k]);
			EXPECT_NE(0, access(path, F_OK));
		}
	}
}

/* While both functions have work, each uses half of the engine, within one turn. */
TEST_F(functions, queues_of_both_take_turns)
{
	uint64_t begun[2], had[2];
	unsigned int i;

	for (i = 0; i < 2; i++)
		vf_cmd_draw(self->queue[i], 400, 500000);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, vf_queue_submit(self->queue[i]));
	ASSERT_TRUE(EVENTUALLY(node_busy_ns(self->adapter[0], DRM_VFENCE_NODE_GFX) > 20000000 &&
			       node_busy_ns(self->adapter[1], DRM_VFENCE_NODE_GFX) > 20000000));
	for (i = 0; i < 2; i++)
		begun[i] = node_busy_ns(self->adapter[i], DRM_VFENCE_NODE_GFX);
	ASSERT_TRUE(EVENTUALLY(node_busy_ns(self->adapter[0], DRM_VFENCE_NODE_GFX) >
			       begun[0] + 50000000));
	for (i = 0; i < 2; i++)
		had[i] = node_busy_ns(self->adapter[i], DRM_VFENCE_NODE_GFX) - begun[i];
	/* A turn is 6 ms, and it ends with the draw that is in flight. */
	EXPECT_LE(had[1], had[0] + 8000000);
	EXPECT_GE(had[1] + 8000000, had[0]);
}

/* After the abort of a hung queue of one function the other function gets the engine. */
TEST_F(functions, what_hangs_on_one_ends_without_the_other)
{
	cmd_hang(self->queue[0]);
	ASSERT_EQ(0, vf_queue_submit(self->queue[0]));
	vf_cmd_draw(self->queue[1], 10, 100000);
	ASSERT_EQ(0, vf_queue_submit(self->queue[1]));
	ASSERT_EQ(0, vf_queue_abort(self->queue[0]));
	ASSERT_EQ(0, vf_queue_wait_idle(self->queue[1], DEADLINE));
	EXPECT_TRUE(EVENTUALLY(queue_state(self->queue[1]) == DRM_VFENCE_QUEUE_IDLE));
}

/* A queue that does not leave its engine is found when another function wants the engine. */
TEST_F(functions, TDR_18_a_queue_that_ignores_preemption_is_lost_alone)
{
	struct vf_device *sibling;
	struct vf_queue *queue;

	ASSERT_EQ(0, vf_device_create(self->adapter[0], &sibling));
	ASSERT_EQ(0, vf_queue_create(sibling, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, hang_on(self->queue[0]));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->queue[0]) == DRM_VFENCE_QUEUE_RUNNING));
	vf_cmd_draw(self->queue[1], 10, 100000);
	ASSERT_EQ(0, vf_queue_submit(self->queue[1]));
	EXPECT_TRUE(drained(self->queue[1]));
	/* Its owner sees that, and its other devices go on. */
	EXPECT_EQ(DRM_VFENCE_FAULT_PREEMPTION, queue_fault(self->queue[0]));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device[0]) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_EQ(DRM_VFENCE_QUEUE_GUILTY, queue_verdict(self->queue[0]));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device[1]));
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(drained(queue));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(sibling));
	vf_queue_destroy(queue);
	vf_device_destroy(sibling);
}

/* What another function executes on the engine is no queue of this one. */
TEST_F(functions, VF_10_a_reset_of_an_engine_leaves_the_neighbour_on_it)
{
	struct vf_counters before = counters(self->adapter[0]), after;

	if (geteuid())
		SKIP(return, "needs root");
	vf_cmd_draw(self->queue[1], 400, 500000);
	ASSERT_EQ(0, vf_queue_submit(self->queue[1]));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->queue[1]) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(FIRST, "reset_engine", "0"));
	after = counters(self->adapter[0]);
	EXPECT_EQ(before.engine_resets + 1, after.engine_resets);
	EXPECT_EQ(before.adapter_resets, after.adapter_resets);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device[0]));
	ASSERT_EQ(0, vf_queue_submit(self->queue[0]));
	EXPECT_TRUE(drained(self->queue[0]));
	EXPECT_TRUE(drained(self->queue[1]));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device[1]));
}

/* A signal of one function interrupts and counts on that function alone. */
TEST_F(functions, VF_09_interrupts_go_to_the_function_that_signaled)
{
	struct vf_counters before[2], after[2];
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_fence *fence;
	unsigned int i;

	ASSERT_EQ(0, vf_fence_create(self->device[1], 0, 0, &fence));
	for (i = 0; i < 2; i++)
		ASSERT_TRUE(settled(self->adapter[i], &before[i]));
	/* On a slow machine a wait would begin after the signal, which then interrupts nobody. */
	ASSERT_EQ(0, arm(self->adapter[1], fence, 7, efd));
	vf_cmd_draw(self->queue[1], 1, 2000000);
	vf_cmd_signal(self->queue[1], fence, 7);
	ASSERT_EQ(0, vf_queue_submit(self->queue[1]));
	ASSERT_EQ(0, vf_fence_wait(fence, 7, DEADLINE));
	for (i = 0; i < 2; i++)
		ASSERT_TRUE(settled(self->adapter[i], &after[i]));
	EXPECT_EQ(before[0].interrupts_raised, after[0].interrupts_raised);
	EXPECT_EQ(before[0].signals, after[0].signals);
	EXPECT_LT(before[1].interrupts_raised, after[1].interrupts_raised);
	vf_fence_destroy(fence);
	close(efd);
}

/* Unbind a function while the other one works, and bind it to the same chip again. */
TEST_F(functions, one_is_unbound_while_the_other_works)
{
	vf_cmd_draw(self->queue[0], 200, 500000);
	ASSERT_EQ(0, vf_queue_submit(self->queue[0]));
	vf_cmd_draw(self->queue[1], 200, 500000);
	ASSERT_EQ(0, vf_queue_submit(self->queue[1]));
	ASSERT_EQ(0, driver("unbind", FIRST + 1));
	EXPECT_EQ(0, driver("bind", FIRST + 1));
	EXPECT_EQ(0, vf_queue_wait_idle(self->queue[0], DEADLINE));
}

/* A function is lost while an engine is held for its reset. */
FIXTURE(given_up) {
	FIXTURE_DATA(functions) both;
};

FIXTURE_VARIANT(given_up) {
	/* What goes wrong: names of switches, and their value. */
	const char *inject[2];
	const char *value;
	/* It begins with a page fault, and not with a command. */
	bool faults;
};

FIXTURE_VARIANT_ADD(given_up, cannot_be_reset) {
	.inject = { "fail_engine_reset", "fail_adapter_reset" }, .value = "1",
};

FIXTURE_VARIANT_ADD(given_up, wrong_id) { .inject = { "wrong_last_aborted" }, .value = "1" };
FIXTURE_VARIANT_ADD(given_up, wrong_group) { .inject = { "wrong_dependents" }, .value = "1" };

FIXTURE_VARIANT_ADD(given_up, fatal_fault) {
	.inject = { "page_fault_flags" }, .value = "0x10", .faults = true,
};

FIXTURE_SETUP(given_up)
{
	if (geteuid() || access("/sys/bus/platform/devices/vfence.17/drm", F_OK))
		SKIP(return, "needs root and two virtual functions (vfs=2)");
	ASSERT_EQ(0, functions_open(&self->both));
}

FIXTURE_TEARDOWN(given_up)
{
	functions_close(&self->both);
	EXPECT_EQ(0, driver("unbind", FIRST));
	EXPECT_EQ(0, driver("bind", FIRST));
}

TEST_F(given_up, TDR_23_a_function_that_is_lost_leaves_the_engines_to_others)
{
	FIXTURE_DATA(functions) *both = &self->both;
	unsigned int i;

	for (i = 0; i < 2 && variant->inject[i]; i++)
		ASSERT_EQ(0, inject(FIRST, variant->inject[i], variant->value));
	if (variant->faults) {
		fault_on(both->queue[0]);
	} else {
		ASSERT_EQ(0, hang_on(both->queue[0]));
		ASSERT_TRUE(EVENTUALLY(queue_state(both->queue[0]) == DRM_VFENCE_QUEUE_RUNNING));
		ASSERT_EQ(0, inject(FIRST, "reset_engine", "0"));
	}
	EXPECT_TRUE(EVENTUALLY(!working(both->adapter[0])));
	ASSERT_EQ(0, vf_queue_submit(both->queue[1]));
	EXPECT_TRUE(drained(both->queue[1]));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(both->device[1]));
	EXPECT_TRUE(working(both->adapter[1]));
}

#define DEVICE	"/sys/bus/platform/devices/vfence.0/"

/* Two administrators may ask for the same. */
TEST_F(functions, a_number_of_functions_that_is_there_is_nothing_to_do)
{
	EXPECT_EQ(0, write_text(DEVICE "sriov_numvfs", "2"));
	EXPECT_EQ(0, vf_queue_submit(self->queue[1]));
	EXPECT_TRUE(drained(self->queue[1]));
	EXPECT_EQ(-EBUSY, write_text(DEVICE "sriov_numvfs", "1"));
	EXPECT_EQ(0, access(DEVICE "virtfn1", F_OK));
}

#define MANY	15
/* Other adapters that take members: two chips of other shapes, and one whose fences are monitored. */
static const unsigned int others[] = { 1, 2, 3, 8 };

struct member {
	struct client client;
	struct vf_fence *fence;
	int efd;
};

FIXTURE(members)
{
	struct member member[1 + MANY + ARRAY_SIZE(others)];
	unsigned int count;
};

static int member_open(struct member *m, unsigned int index, int fd)
{
	int ret = vf_adapter_open(index, &m->client.adapter);

	ret = ret ? ret : vf_device_create(m->client.adapter, &m->client.device);
	if (ret)
		return ret;
	m->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd >= 0)
		return vf_fence_open(m->client.device, fd, &m->fence);
	return vf_fence_create(m->client.device, DRM_VFENCE_FENCE_SHAREABLE |
			       DRM_VFENCE_FENCE_CROSS_ADAPTER, 0, &m->fence);
}

FIXTURE_SETUP(members)
{
	char link[64];
	unsigned int i;
	int fd;

	if (access(DEVICE "virtfn1", F_OK))
		SKIP(return, "needs two virtual functions (vfs=2)");
	ASSERT_EQ(0, write_text(DEVICE "sriov_numvfs", "0"));
	/* The links go with the functions. */
	EXPECT_EQ(-1, readlink(DEVICE "virtfn0", link, sizeof(link)));
	EXPECT_EQ(-1, readlink(DEVICE "virtfn1", link, sizeof(link)));
	ASSERT_EQ(0, write_text(DEVICE "sriov_numvfs", "15"));
	EXPECT_EQ(0, access(DEVICE "virtfn14", F_OK));
	self->count = 0;
	ASSERT_EQ(0, member_open(&self->member[self->count++], 0, -1));
	fd = vf_fence_export(self->member[0].fence);
	ASSERT_LE(0, fd);
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(0, member_open(&self->member[self->count++], FIRST + i, fd));
	for (i = 0; i < ARRAY_SIZE(others); i++)
		ASSERT_EQ(0, member_open(&self->member[self->count++], others[i], fd));
	close(fd);
}

FIXTURE_TEARDOWN(members)
{
	while (self->count--) {
		vf_fence_destroy(self->member[self->count].fence);
		client_close(&self->member[self->count].client);
		close(self->member[self->count].efd);
	}
	EXPECT_EQ(0, write_text(DEVICE "sriov_numvfs", "0"));
	EXPECT_EQ(0, write_text(DEVICE "sriov_numvfs", "2"));
}

/* A fence has a member on each adapter and on each of their functions: 20 here. */
TEST_F(members, WDDM_105_106_107_a_signal_reaches_all_of_many_members)
{
	struct vf_queue *queue;
	unsigned int i, round;

	ASSERT_EQ(0, vf_queue_create(self->member[0].client.device, DRM_VFENCE_NODE_GFX, 4096,
				     &queue));
	for (round = 1; round <= 2; round++) {
		for (i = 0; i < self->count; i++)
			ASSERT_EQ(0, arm(self->member[i].client.adapter, self->member[i].fence,
					 round, self->member[i].efd));
		/* By the CPU, then by the GPU. */
		if (round == 1) {
			ASSERT_EQ(0, vf_fence_signal(self->member[self->count - 1].fence, round));
		} else {
			vf_cmd_signal(queue, self->member[0].fence, round);
			ASSERT_EQ(0, vf_queue_submit(queue));
		}
		for (i = 0; i < self->count; i++) {
			EXPECT_TRUE(EVENTUALLY(fired(self->member[i].efd)));
			EXPECT_EQ(8, read(self->member[i].efd, &(uint64_t){ 0 }, 8));
		}
	}
	vf_queue_destroy(queue);
}

/* The last holder ends the waits of all members. */
TEST_F(members, WDDM_66_the_end_of_the_fence_reaches_all_of_many_members)
{
	unsigned int i;

	for (i = 0; i < self->count; i++)
		ASSERT_EQ(0, arm(self->member[i].client.adapter, self->member[i].fence, 1,
				 self->member[i].efd));
	for (i = 0; i < self->count; i++) {
		vf_fence_destroy(self->member[i].fence);
		self->member[i].fence = NULL;
	}
	for (i = 0; i < self->count; i++)
		EXPECT_TRUE(EVENTUALLY(fired(self->member[i].efd)));
}

TEST_HARNESS_MAIN
