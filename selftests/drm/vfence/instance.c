// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adapters that are made and removed at run time, by configfs. One number has to be free: the
 * parameters of tools/vm make 15 of 16 adapters.
 */

#include <sys/syscall.h>

#include "vfence_test.h"

#define FOLDER	"/sys/kernel/config/vfence"
/* The most adapters that there may be. */
#define NUMBERS	16

static const char *path_of(const char *name, const char *file)
{
	static __thread char path[128];

	snprintf(path, sizeof(path), FOLDER "/%s%s%s", name, *file ? "/" : "", file);
	return path;
}

/* Return: 0 or a negative errno. */
static int make(const char *name)
{
	return mkdir(path_of(name, ""), 0777) ? -errno : 0;
}

static int drop(const char *name)
{
	return rmdir(path_of(name, "")) ? -errno : 0;
}

static int set(const char *name, const char *file, const char *value)
{
	return write_text(path_of(name, file), value);
}

/* Return: the number in a file, or a negative errno. */
static long number_in(const char *path)
{
	char text[32] = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 ? atol(text) : -EIO;
}

static long get(const char *name, const char *file)
{
	return number_in(path_of(name, file));
}

/* Return: the number of adapters there are, also of those that the driver did not accept. */
static unsigned int adapters(void)
{
	unsigned int i, count = 0;
	char path[64];

	for (i = 0; i < NUMBERS; i++) {
		snprintf(path, sizeof(path), "/sys/bus/platform/devices/vfence.%u", i);
		count += !access(path, F_OK);
	}
	return count;
}

FIXTURE(instance) {
	unsigned int number;
};

FIXTURE_SETUP(instance)
{
	long number;

	if (geteuid())
		SKIP(return, "needs root");
	if (access(FOLDER, F_OK))
		SKIP(return, "no configfs, or it is not mounted");
	if (adapters() == NUMBERS)
		SKIP(return, "all numbers are in use");
	ASSERT_EQ(0, make("probe"));
	number = get("probe", "adapter");
	ASSERT_LT(0, number);
	self->number = (unsigned int)number;
	ASSERT_EQ(0, drop("probe"));
}

FIXTURE_TEARDOWN(instance)
{
	drop("a");
	drop("b");
}

TEST_F(instance, is_configured_by_names)
{
	struct drm_vfence_adapter_info info;
	struct vf_adapter *adapter;

	ASSERT_EQ(0, make("a"));
	EXPECT_EQ(self->number, get("a", "adapter"));
	EXPECT_EQ(0, get("a", "enable"));
	EXPECT_EQ(16, get("a", "doorbells"));
	ASSERT_EQ(-ENODEV, vf_adapter_open(self->number, &adapter));
	ASSERT_EQ(0, set("a", "doorbells", "2"));
	ASSERT_EQ(0, set("a", "fence_stride", "0x80"));
	ASSERT_EQ(0, set("a", "secondary_doorbells", "n"));
	ASSERT_EQ(0, set("a", "enable", "1"));
	EXPECT_EQ(1, get("a", "enable"));

	ASSERT_EQ(0, vf_adapter_open(self->number, &adapter));
	ASSERT_EQ(0, vf_adapter_info(adapter, &info));
	EXPECT_EQ(2, info.physical_doorbells);
	EXPECT_EQ(128, info.fence_stride);
	EXPECT_EQ(0, info.secondary_doorbell_size);
	vf_adapter_close(adapter);

	/* What exists does not change, and enabling it once more is nothing. */
	EXPECT_EQ(-EBUSY, set("a", "doorbells", "3"));
	EXPECT_EQ(2, get("a", "doorbells"));
	EXPECT_EQ(0, set("a", "enable", "1"));
	ASSERT_EQ(0, set("a", "enable", "0"));
	ASSERT_EQ(-ENODEV, vf_adapter_open(self->number, &adapter));
	EXPECT_EQ(0, set("a", "doorbells", "3"));
	ASSERT_EQ(0, set("a", "enable", "1"));
	ASSERT_EQ(0, vf_adapter_open(self->number, &adapter));
	ASSERT_EQ(0, vf_adapter_info(adapter, &info));
	EXPECT_EQ(3, info.physical_doorbells);
	vf_adapter_close(adapter);

	/* The next one with this number begins anew. */
	ASSERT_EQ(0, drop("a"));
	ASSERT_EQ(0, make("b"));
	EXPECT_EQ(self->number, get("b", "adapter"));
	EXPECT_EQ(16, get("b", "doorbells"));
}

TEST_F(instance, refuses_values_that_are_not_possible)
{
	ASSERT_EQ(0, make("a"));
	EXPECT_EQ(-EINVAL, set("a", "doorbells", "many"));
	EXPECT_EQ(-EINVAL, set("a", "doorbells", "-1"));
	EXPECT_EQ(-ERANGE, set("a", "doorbells", "4294967296"));
	EXPECT_EQ(-EINVAL, set("a", "native_fence", "2"));
	EXPECT_EQ(-EINVAL, set("a", "enable", "2"));
	EXPECT_EQ(16, get("a", "doorbells"));
	EXPECT_NE(0, set("a", "adapter", "3"));
	EXPECT_NE(0, set("a", "nonsense", "3"));
	EXPECT_NE(0, mkdir(path_of("a", "folder"), 0777));

	/* A number, but none that an adapter can have. */
	ASSERT_EQ(0, set("a", "doorbells", "65"));
	EXPECT_EQ(-EINVAL, set("a", "enable", "1"));
	EXPECT_EQ(0, get("a", "enable"));
	ASSERT_EQ(0, set("a", "doorbells", "1"));
	/* The GPU says that it has native fences though they are off: the probe fails. */
	ASSERT_EQ(0, set("a", "native_fence", "0"));
	ASSERT_EQ(0, set("a", "gpu_native_fence", "4"));
	EXPECT_EQ(-ENODEV, set("a", "enable", "1"));
	EXPECT_EQ(0, get("a", "enable"));
	ASSERT_EQ(0, set("a", "gpu_native_fence", "1"));
	EXPECT_EQ(0, set("a", "enable", "1"));
}

/* A value of each parameter that is just out of range, beside one that is possible. */
static const struct {
	const char *file, *wrong, *right;
} ends[] = {
	{ "vfs", "17", "16" },
	{ "user_nodes", "16", "15" },
	{ "dependent_nodes", "32", "31" },
	{ "cpu_percent", "0", "1" },
	{ "cpu_percent", "91", "90" },
	{ "doorbells", "0", "1" },
	{ "doorbells", "65", "64" },
	{ "irq_records", "65", "64" },
	{ "irq_form", "3", "2" },
	{ "local_pages", "65537", "65536" },
	{ "visible_pages", "257", "256" },
	{ "monitored_signal", "3", "2" },
	{ "gpu_native_fence", "5", "1" },
	{ "fence_stride", "8", "16" },
	{ "fence_stride", "8192", "4096" },
	{ "fence_stride", "48", "64" },
	{ "fence_max_va", "4097", "1048576" },
	{ "fence_min_va", "1", "4096" },
	{ "native_fence_min", "4", "0" },
};

TEST_F(instance, names_the_parameter_that_is_out_of_range)
{
	char said[80];
	unsigned int i;
	int log;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		ASSERT_EQ(0, make("a"));
		ASSERT_EQ(0, set("a", ends[i].file, ends[i].wrong));
		log = kernel_log();
		EXPECT_EQ(-EINVAL, set("a", "enable", "1"));
		snprintf(said, sizeof(said), "adapter %u: %s is out of range", self->number,
			 ends[i].file);
		EXPECT_TRUE(kernel_said(log, said));
		close(log);
		EXPECT_EQ(0, get("a", "enable"));

		ASSERT_EQ(0, set("a", ends[i].file, ends[i].right));
		EXPECT_EQ(0, set("a", "enable", "1"));
		EXPECT_EQ(0, set("a", "enable", "0"));
		ASSERT_EQ(0, drop("a"));
	}
}

/* An adapter whose fences have three addresses: a fence needs two, also in the system process. */
TEST_F(instance, WDDM_29_a_fence_without_two_system_addresses_keeps_none)
{
	struct vf_adapter *adapter[2];
	struct vf_device *device[2];
	struct vf_fence *fence[2];
	unsigned int i;

	ASSERT_EQ(0, make("a"));
	ASSERT_EQ(0, set("a", "map_to_system", "1"));
	ASSERT_EQ(0, set("a", "fence_min_va", "0x1fc000000"));
	ASSERT_EQ(0, set("a", "fence_max_va", "0x1fc003000"));
	ASSERT_EQ(0, set("a", "enable", "1"));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, vf_adapter_open(self->number, &adapter[i]));
		ASSERT_EQ(0, vf_device_create(adapter[i], &device[i]));
	}
	ASSERT_EQ(0, vf_fence_create(device[0], 0, 0, &fence[0]));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(-ENOSPC, vf_fence_create(device[1], 0, 0, &fence[1]));
	vf_fence_destroy(fence[0]);
	vf_device_destroy(device[0]);
	vf_adapter_close(adapter[0]);
	ASSERT_EQ(0, vf_fence_create(device[1], 0, 0, &fence[1]));
	vf_fence_destroy(fence[1]);
	vf_device_destroy(device[1]);
	vf_adapter_close(adapter[1]);
}

TEST_F(instance, of_which_there_are_no_more_than_numbers)
{
	unsigned int made = 0, room = NUMBERS - adapters(), i;
	char name[16];
	int ret = 0;

	for (i = 0; !ret && i <= NUMBERS; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		ret = make(name);
		made += !ret;
	}
	EXPECT_EQ(-ENOSPC, ret);
	EXPECT_EQ(room, made);
	for (i = 0; i < made; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		EXPECT_EQ(0, drop(name));
	}
}

static unsigned int functions_with_devices(unsigned int adapter)
{
	unsigned int i, found = 0;
	char path[80];

	for (i = 0; i < 16; i++) {
		snprintf(path, sizeof(path), "/sys/bus/platform/devices/vfence.%u/virtfn%u/drm",
			 adapter, i);
		found += !access(path, F_OK);
	}
	return found;
}

/* 6.1 has no more than 64 DRM devices: the functions of the last adapters do not fit there. */
TEST_F(instance, whose_functions_have_devices_or_do_not_exist)
{
	unsigned int i;
	char path[80];
	int ret;

	for (i = 3; i < 8; i++) {
		snprintf(path, sizeof(path), "/sys/bus/platform/devices/vfence.%u/sriov_numvfs", i);
		/* No driver is bound to one of them. */
		if (access(path, F_OK))
			continue;
		ret = write_text(path, "16");
		EXPECT_EQ(ret ? 0 : 16, number_in(path));
		EXPECT_EQ(ret ? 0 : 16, functions_with_devices(i));
		EXPECT_TRUE(!ret || ret == -ENODEV);
	}
	for (i = 3; i < 8; i++) {
		snprintf(path, sizeof(path), "/sys/bus/platform/devices/vfence.%u/sriov_numvfs", i);
		if (!access(path, F_OK))
			EXPECT_EQ(0, write_text(path, "0"));
	}
}

TEST_F(instance, holds_the_module)
{
	ASSERT_EQ(0, make("a"));
	EXPECT_EQ(-1, syscall(SYS_delete_module, "vfence", O_NONBLOCK));
	EXPECT_EQ(EWOULDBLOCK, errno);
	EXPECT_EQ(0, access(FOLDER, F_OK));
}

struct waiter {
	struct vf_fence *fence;
	int ret;
};

static void *wait_for_ever(void *arg)
{
	struct waiter *waiter = arg;

	waiter->ret = vf_fence_wait(waiter->fence, 1, VF_FOREVER);
	return NULL;
}

/* Return: true once a thread waits for a fence. */
static bool is_awaited(struct vf_fence *fence)
{
	struct drm_vfence_fence_info query;

	return !vf_fence_query(fence, &query) && query.waiters;
}

TEST_F(instance, is_removed_under_load)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	struct waiter waiter;
	pthread_t thread;
	unsigned int i;

	ASSERT_EQ(0, make("a"));
	ASSERT_EQ(0, set("a", "vfs", "2"));
	ASSERT_EQ(0, set("a", "enable", "1"));
	ASSERT_EQ(0, vf_adapter_open(self->number, &adapter));
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 65536, &queue));
	ASSERT_EQ(0, vf_fence_create(device, 0, 0, &waiter.fence));
	for (i = 0; i < 500; i++)
		vf_cmd_draw(queue, 1, 1000000);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_ever, &waiter));
	ASSERT_TRUE(EVENTUALLY(is_awaited(waiter.fence)));

	ASSERT_EQ(0, drop("a"));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(-ENODEV, waiter.ret);
	EXPECT_EQ(-ENODEV, vf_device_state(device));
	/* The number is free although the file is open, and another adapter may get it. */
	ASSERT_EQ(0, make("b"));
	EXPECT_EQ(self->number, get("b", "adapter"));
	EXPECT_EQ(0, set("b", "enable", "1"));
	EXPECT_EQ(-ENODEV, vf_device_state(device));
	vf_queue_destroy(queue);
	vf_fence_destroy(waiter.fence);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

/* The event comes from the interrupt, and not from the end of the submission. */
TEST_F(instance, WDDM_130_interrupts_that_name_nothing_need_no_room_for_records)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	struct vf_fence *fence;

	ASSERT_EQ(0, make("a"));
	ASSERT_EQ(0, set("a", "irq_form", "2"));
	ASSERT_EQ(0, set("a", "irq_records", "0"));
	ASSERT_EQ(0, set("a", "monitored_signal", "2"));
	ASSERT_EQ(0, set("a", "enable", "1"));
	ASSERT_EQ(0, vf_adapter_open(self->number, &adapter));
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_kernel_queue_create(device, DRM_VFENCE_NODE_GFX, &queue));
	ASSERT_EQ(0, vf_monitored_fence_create(device, 0, 0, &fence));
	ASSERT_EQ(0, arm(adapter, fence, 9, efd));
	vf_cmd_signal(queue, fence, 9);
	vf_cmd_draw(queue, 1, SECOND / 2);
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	EXPECT_NOT_YET(vf_fence_current(vf_queue_progress(queue)) == 1);
	EXPECT_EQ(0, vf_queue_wait_idle(queue, DEADLINE));
	vf_queue_destroy(queue);
	vf_fence_destroy(fence);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
	close(efd);
}

/* A driver that asks the host for a reset is told of it, and its function works again. */
TEST_F(instance, TDR_21_messages_of_the_host_need_no_room_for_records)
{
	unsigned int function = 16 * (self->number + 1);
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;

	ASSERT_EQ(0, make("a"));
	ASSERT_EQ(0, set("a", "vfs", "1"));
	ASSERT_EQ(0, set("a", "irq_records", "0"));
	ASSERT_EQ(0, set("a", "enable", "1"));
	ASSERT_EQ(0, vf_adapter_open(function, &adapter));
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	vf_cmd_draw(queue, 20, SECOND / 10);
	ASSERT_EQ(0, vf_queue_publish(queue));
	ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(function, "mailbox", "5"));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(device) != DRM_VFENCE_DEVICE_ACTIVE));
	EXPECT_TRUE(EVENTUALLY(working(adapter)));
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

static void *make_and_drop(void *arg)
{
	const char *name = arg;
	unsigned int i;

	/* Other threads may have the name or the number: all that may not happen is harm. */
	for (i = 0; i < 30; i++) {
		make(name);
		set(name, "doorbells", i % 2 ? "4" : "8");
		set(name, "enable", "1");
		get(name, "doorbells");
		set(name, "enable", i % 3 ? "0" : "1");
		drop(name);
	}
	return NULL;
}

TEST_F(instance, many_threads_make_and_drop)
{
	static char *const names[] = { "a", "b", "a", "b" };
	pthread_t thread[4];
	unsigned int i;

	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, make_and_drop, names[i]));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	drop("a");
	drop("b");
	/* The number is free, and its parameters are what they were. */
	ASSERT_EQ(0, make("a"));
	EXPECT_EQ(self->number, get("a", "adapter"));
	EXPECT_EQ(16, get("a", "doorbells"));
	EXPECT_EQ(0, set("a", "enable", "1"));
}

TEST_HARNESS_MAIN
