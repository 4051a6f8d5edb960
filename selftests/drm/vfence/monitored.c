// SPDX-License-Identifier: GPL-2.0-only
/*
 * Monitored fences: creation, rights, CPU signals and waits, ends. The tests run on an
 * adapter with native fences and on one without.
 */

#include "vfence_test.h"

#define ONLY_ON_DESTROY	DRM_VFENCE_FENCE_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY

#define MONITORED_SETUP() do {								\
	if (vf_adapter_open(variant->adapter, &self->adapter))				\
		SKIP(return, "needs the adapters of the guests");			\
	self->fd = vf_adapter_fd(self->adapter);					\
	ASSERT_EQ(0, vf_device_create(self->adapter, &self->device));			\
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 5, &self->fence));	\
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);				\
} while (0)

#define MONITORED_TEARDOWN() do {		\
	close(self->efd);			\
	vf_fence_destroy(self->fence);		\
	vf_device_destroy(self->device);	\
	vf_adapter_close(self->adapter);	\
} while (0)

/* There is a fixture for each ability and a variant for each adapter that has it. */
#define MONITORED_FIXTURE(name)						\
	FIXTURE(name) {							\
		struct vf_adapter *adapter;				\
		struct vf_device *device;				\
		struct vf_fence *fence;					\
		int fd, efd;						\
	};								\
	FIXTURE_VARIANT(name) { unsigned int adapter; };		\
	FIXTURE_SETUP(name) { MONITORED_SETUP(); }			\
	FIXTURE_TEARDOWN(name) { MONITORED_TEARDOWN(); }

MONITORED_FIXTURE(monitored)
FIXTURE_VARIANT_ADD(monitored, beside_native_ones) { .adapter = 0, };
FIXTURE_VARIANT_ADD(monitored, without_native_ones) { .adapter = 3, };
FIXTURE_VARIANT_ADD(monitored, of_32_bits) { .adapter = 12, };

MONITORED_FIXTURE(narrow)
FIXTURE_VARIANT_ADD(narrow, of_32_bits) { .adapter = 12, };

/* The adapter has native fences and user-mode queues, too. */
MONITORED_FIXTURE(both_kinds)
FIXTURE_VARIANT_ADD(both_kinds, of_one_adapter) { .adapter = 0, };

/* Reset the eventfd for the next event. */
static void clear_event(int efd)
{
	uint64_t n;

	while (read(efd, &n, sizeof(n)) == sizeof(n))
		;
}

/*
 * Return: 0, or a negative errno after checking that the driver has not written the
 * structure.
 */
static int make_on(int fd, struct drm_vfence_fence_create args)
{
	struct drm_vfence_fence_create before;
	int ret;

	memset(&args.mapping, POISON, sizeof(args.mapping));
	args.handle = POISON;
	before = args;
	ret = raw(fd, DRM_IOCTL_VFENCE_FENCE_CREATE, &args);
	return ret && memcmp(&args, &before, sizeof(args)) ? 1 : ret;
}

#define make(self, ...)	make_on((self)->fd, __VA_ARGS__)

TEST_F(monitored, WDDM_114_creation_tells_where_the_value_is)
{
	const struct drm_vfence_fence_mapping *at = vf_fence_mapping(self->fence);
	struct drm_vfence_fence_info query;
	struct vf_fence *other;

	EXPECT_NE(0, vf_fence_handle(self->fence));
	EXPECT_NE(0, at->current_offset);
	EXPECT_NE(0, at->current_va);
	EXPECT_EQ(0, at->current_va % 8);
	EXPECT_EQ(0, at->current_page_offset % 8);
	EXPECT_EQ(0, at->monitored_va);
	EXPECT_EQ(5, vf_fence_current(self->fence));
	ASSERT_EQ(0, vf_fence_query(self->fence, &query));
	EXPECT_EQ(DRM_VFENCE_FENCE_MONITORED, query.type);
	EXPECT_EQ(5, query.current_value);
	EXPECT_EQ(UINT64_MAX, query.monitored_value);
	EXPECT_EQ(DRM_VFENCE_RIGHTS_ALL, query.rights);
	/* The monitored fences of one file share a page. Native fences have other pages. */
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &other));
	EXPECT_EQ(at->current_offset, vf_fence_mapping(other)->current_offset);
	EXPECT_NE(at->current_page_offset, vf_fence_mapping(other)->current_page_offset);
	vf_fence_destroy(other);
	if (vf_fence_create(self->device, 0, 0, &other))
		return;
	EXPECT_NE(at->current_offset, vf_fence_mapping(other)->current_offset);
	vf_fence_destroy(other);
}

TEST_F(monitored, the_hardware_does_not_know_of_it)
{
	struct vf_counters before = counters(self->adapter), after;
	struct vf_fence *other;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &other));
	ASSERT_EQ(0, vf_event_arm(self->adapter, &(struct vf_point){ other, 1 }, 1, 0, self->efd,
				  NULL));
	ASSERT_EQ(0, vf_fence_signal(other, 1));
	EXPECT_TRUE(fired(self->efd));
	vf_fence_destroy(other);
	after = counters(self->adapter);
	EXPECT_EQ(before.fences_created, after.fences_created);
	EXPECT_EQ(before.fences_opened, after.fences_opened);
	EXPECT_EQ(before.monitored_updates, after.monitored_updates);
	EXPECT_EQ(before.cpu_signals + 1, after.cpu_signals);
}

TEST_F(monitored, WDDM_115_the_cpu_reads_it_and_does_not_write)
{
	const struct drm_vfence_fence_mapping *at = vf_fence_mapping(self->fence);
	off_t offset = (off_t)at->current_offset;
	void *map;

	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
				   offset));
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->fd, offset);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(5, *(uint64_t *)((char *)map + at->current_page_offset));
	EXPECT_EQ(-1, mprotect(map, 4096, PROT_READ | PROT_WRITE));
	munmap(map, 4096);
}

TEST_F(monitored, WDDM_117_118_what_a_handle_may_not_do)
{
	struct vf_fence *no_signal, *no_wait;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, DRM_VFENCE_FENCE_NO_SIGNAL, 0,
					       &no_signal));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, DRM_VFENCE_FENCE_NO_WAIT, 0,
					       &no_wait));
	EXPECT_EQ(-EACCES, vf_fence_signal(no_signal, 1));
	EXPECT_EQ(0, vf_fence_current(no_signal));
	EXPECT_EQ(-ETIME, vf_fence_wait(no_signal, 1, 0));
	EXPECT_EQ(-EACCES, vf_fence_wait(no_wait, 0, 0));
	EXPECT_EQ(-EACCES, vf_event_arm(self->adapter, &(struct vf_point){ no_wait, 1 }, 1, 0,
					self->efd, NULL));
	EXPECT_EQ(0, vf_fence_signal(no_wait, 1));
	EXPECT_EQ(1, vf_fence_current(no_wait));
	vf_fence_destroy(no_signal);
	vf_fence_destroy(no_wait);
}

TEST_F(monitored, WDDM_119_flags_that_do_not_go_together)
{
	static const uint32_t wrong[] = {
		DRM_VFENCE_FENCE_NO_SIGNAL | DRM_VFENCE_FENCE_NO_WAIT,
		DRM_VFENCE_FENCE_CROSS_ADAPTER,
		DRM_VFENCE_FENCE_CROSS_ADAPTER | DRM_VFENCE_FENCE_SHAREABLE | DRM_VFENCE_FENCE_NO_GPU_ACCESS,
		1 << 8, 1 << 9, UINT32_C(1) << 31,
	};
	uint32_t device = vf_device_handle(self->device);
	unsigned int i;

#define M(...) \
	(struct drm_vfence_fence_create){ .type = DRM_VFENCE_FENCE_MONITORED, __VA_ARGS__ }
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		EXPECT_EQ(-EINVAL, make(self, M(.device = device, .flags = wrong[i]))) {
			TH_LOG("flags %x", wrong[i]);
		}
	EXPECT_EQ(-EINVAL, make(self, M(.device = device, .engine_affinity = 2)));
	EXPECT_EQ(-EINVAL, make(self, M(.device = device, .pad = 1)));
	EXPECT_EQ(-EINVAL, make(self, M(.device = device, .private_data[63] = 1)));
	EXPECT_EQ(-ENOENT, make(self, M(.device = 0x7fffffff)));
	EXPECT_EQ(0, make(self, M(.device = device, .engine_affinity = 1)));
	/* A fence without SHAREABLE cannot be exported. */
	EXPECT_EQ(-EPERM, vf_fence_export(self->fence));
}

TEST_F(monitored, WDDM_121_without_gpu_access_there_is_no_gpu_address)
{
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, DRM_VFENCE_FENCE_NO_GPU_ACCESS,
					       UINT64_MAX - 1, &fence));
	EXPECT_EQ(0, vf_fence_mapping(fence)->current_va);
	EXPECT_NE(vf_fence_mapping(self->fence)->current_offset,
		  vf_fence_mapping(fence)->current_offset);
	EXPECT_EQ(UINT64_MAX - 1, vf_fence_current(fence));
	EXPECT_EQ(0, vf_fence_signal(fence, UINT64_MAX));
	EXPECT_EQ(0, vf_fence_wait(fence, UINT64_MAX, 0));
	vf_fence_destroy(fence);
}

TEST_F(narrow, WDDM_128_waits_work_across_the_wrap)
{
	struct drm_vfence_fence_info query;
	struct drm_vfence_adapter_info info;
	struct vf_point list[2];
	struct vf_fence *fence;
	uint64_t far;

	ASSERT_EQ(0, vf_adapter_info(self->adapter, &info));
	EXPECT_TRUE(info.flags & DRM_VFENCE_ADAPTER_NO_64BIT_ATOMICS);
	/* The driver uses the low half of the initial value. */
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, UINT64_C(0x7ffffffff0), &fence));
	EXPECT_EQ(UINT32_MAX - 15, vf_fence_current(fence));
	EXPECT_EQ(-ETIME, vf_fence_wait(fence, 3, 0));
	EXPECT_EQ(0, vf_fence_wait(fence, UINT32_MAX - 15, 0));
	ASSERT_EQ(0, arm(self->adapter, fence, 3, self->efd));
	/* A signal moves forwards although its number is smaller. */
	ASSERT_EQ(0, vf_fence_signal(fence, UINT32_MAX));
	EXPECT_FALSE(fired(self->efd));
	ASSERT_EQ(0, vf_fence_signal(fence, 2));
	EXPECT_FALSE(fired(self->efd));
	EXPECT_EQ(2, vf_fence_current(fence));
	ASSERT_EQ(0, vf_fence_query(fence, &query));
	EXPECT_EQ(2, query.current_value);
	list[0] = (struct vf_point){ fence, 3 };
	list[1] = (struct vf_point){ fence, UINT32_MAX - 1 };
	EXPECT_EQ(-EINVAL, vf_signal(self->adapter, list, 2));
	EXPECT_EQ(2, vf_fence_current(fence));
	/* Signal a pulse that rewinds to a value before the wrap. */
	ASSERT_EQ(0, vf_signal_flags(self->adapter, list, 2, DRM_VFENCE_SIGNAL_ALLOW_REWIND));
	EXPECT_TRUE(fired(self->efd));
	EXPECT_EQ(UINT32_MAX - 1, vf_fence_current(fence));
	EXPECT_EQ(-ETIME, vf_fence_wait(fence, UINT32_MAX, 0));
	EXPECT_EQ(-ETIME, vf_fence_wait(fence, 0, 0));
	/* Signal several times around the range, by less than half of it each time. */
	clear_event(self->efd);
	ASSERT_EQ(0, arm(self->adapter, fence, UINT32_C(0x70000000), self->efd));
	ASSERT_EQ(0, vf_fence_signal(fence, UINT32_C(0x60000000)));
	EXPECT_FALSE(fired(self->efd));
	ASSERT_EQ(0, vf_fence_signal(fence, UINT32_C(0xd0000000)));
	EXPECT_TRUE(fired(self->efd));
	ASSERT_EQ(0, vf_fence_signal(fence, UINT32_C(0x40000000)));
	EXPECT_EQ(0, vf_fence_wait(fence, UINT32_C(0xd0000000), 0));
	/* Wait for the value that is as far ahead as possible. */
	far = UINT32_C(0x40000000) + UINT32_MAX / 2;
	clear_event(self->efd);
	ASSERT_EQ(0, arm(self->adapter, fence, far, self->efd));
	EXPECT_EQ(-ETIME, vf_fence_wait(fence, far, 0));
	EXPECT_FALSE(fired(self->efd));
	ASSERT_EQ(0, vf_fence_signal(fence, far));
	EXPECT_TRUE(fired(self->efd));
	EXPECT_EQ(0, vf_fence_wait(fence, far, 0));
	vf_fence_destroy(fence);
}

/* Two steps are less than half the range. Each wait is for the second one, wherever the wrap is. */
TEST_F(narrow, WDDM_128_each_signal_follows_the_one_before)
{
	const uint32_t step = 0x38000000;
	uint32_t value = 0;
	unsigned int i;

	for (i = 0; i < 12; i++) {
		ASSERT_EQ(0, arm(self->adapter, self->fence, value + 2 * step, self->efd));
		ASSERT_EQ(0, vf_fence_signal(self->fence, value + step));
		EXPECT_EQ(0, fired_on(self->adapter, self->efd));
		value += 2 * step;
		ASSERT_EQ(0, vf_fence_signal(self->fence, value));
		ASSERT_EQ(1, fired_on(self->adapter, self->efd));
		EXPECT_EQ(value, vf_fence_current(self->fence));
		clear_event(self->efd);
	}
}

TEST_F(narrow, values_of_32_bits_are_for_one_adapter)
{
	struct drm_vfence_adapter_info info;
	struct vf_fence *fence, *opened;
	struct vf_adapter *other;
	struct vf_device *device;
	int fd;

	ASSERT_EQ(0, vf_adapter_info(self->adapter, &info));
	EXPECT_TRUE(info.flags & DRM_VFENCE_ADAPTER_NO_64BIT_ATOMICS);
	EXPECT_EQ(-EOPNOTSUPP, make(self, M(.device = vf_device_handle(self->device),
					    .flags = DRM_VFENCE_FENCE_SHAREABLE | DRM_VFENCE_FENCE_CROSS_ADAPTER)));
	ASSERT_EQ(0, vf_adapter_open(0, &other));
	ASSERT_EQ(0, vf_device_create(other, &device));
	ASSERT_EQ(0, vf_fence_create(device, DRM_VFENCE_FENCE_SHAREABLE |
				     DRM_VFENCE_FENCE_CROSS_ADAPTER, 0, &fence));
	fd = vf_fence_export(fence);
	EXPECT_EQ(-EOPNOTSUPP, vf_fence_open(self->device, fd, &opened));
	close(fd);
	vf_fence_destroy(fence);
	vf_device_destroy(device);
	vf_adapter_close(other);
}

struct sleeper {
	struct vf_fence *fence;
	uint64_t value;
	int ret;
};

static void *sleep_on(void *arg)
{
	struct sleeper *s = arg;

	s->ret = vf_fence_wait(s->fence, s->value, DEADLINE);
	return NULL;
}

TEST_F(monitored, WDDM_136_138_a_signal_is_seen_and_ends_waits)
{
	struct sleeper s = { self->fence, 10, 1 };
	struct vf_point point = { self->fence, 10 };
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
	/* The blocking form blocks. The other form returns at once. */
	ASSERT_TRUE(EVENTUALLY(waiters(self->fence) == 1));
	ASSERT_EQ(0, vf_event_arm(self->adapter, &point, 1, 0, self->efd, NULL));
	EXPECT_EQ(2, waiters(self->fence));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 9));
	EXPECT_EQ(9, vf_fence_current(self->fence));
	EXPECT_EQ(2, waiters(self->fence));
	EXPECT_FALSE(fired(self->efd));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 10));
	EXPECT_EQ(10, vf_fence_current(self->fence));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, s.ret);
	EXPECT_TRUE(fired(self->efd));
	EXPECT_EQ(0, waiters(self->fence));
	/* If the value is reached, neither form waits. */
	EXPECT_EQ(0, vf_fence_wait(self->fence, 10, 0));
	EXPECT_EQ(1, vf_event_arm(self->adapter, &point, 1, 0, self->efd, NULL));
}

TEST_F(monitored, WDDM_139_any_and_all)
{
	struct vf_point point[2] = { { self->fence, 6 }, { NULL, 6 } };
	unsigned int first = POISON;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 5, &point[1].fence));
	EXPECT_EQ(-ETIME, vf_wait(self->adapter, point, 2, DRM_VFENCE_WAIT_ANY, 0, &first));
	ASSERT_EQ(0, vf_event_arm(self->adapter, point, 2, 0, self->efd, NULL));
	ASSERT_EQ(0, vf_fence_signal(point[1].fence, 6));
	EXPECT_EQ(0, vf_wait(self->adapter, point, 2, DRM_VFENCE_WAIT_ANY, 0, &first));
	EXPECT_EQ(1, first);
	EXPECT_EQ(-ETIME, vf_wait(self->adapter, point, 2, 0, 0, NULL));
	EXPECT_FALSE(fired(self->efd));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 6));
	EXPECT_EQ(0, vf_wait(self->adapter, point, 2, 0, 0, NULL));
	EXPECT_TRUE(fired(self->efd));
	/* Wait for any of two points that are not reached, and then reach the second one. */
	clear_event(self->efd);
	point[0].value = point[1].value = 7;
	ASSERT_EQ(0, vf_event_arm(self->adapter, point, 2, DRM_VFENCE_WAIT_ANY, self->efd, NULL));
	EXPECT_FALSE(fired(self->efd));
	ASSERT_EQ(0, vf_fence_signal(point[1].fence, 7));
	EXPECT_TRUE(fired(self->efd));
	vf_fence_destroy(point[1].fence);
}

TEST_F(monitored, WDDM_135_a_smaller_value_must_be_meant)
{
	struct vf_point list[2] = { { self->fence, 8 }, { self->fence, 7 } };

	EXPECT_EQ(-EINVAL, vf_fence_signal(self->fence, 4));
	EXPECT_EQ(5, vf_fence_current(self->fence));
	/* The driver checks the whole list before it signals any point. */
	EXPECT_EQ(-EINVAL, vf_signal(self->adapter, list, 2));
	EXPECT_EQ(5, vf_fence_current(self->fence));
	EXPECT_EQ(-EINVAL, vf_signal_and_wait(self->adapter, list, 2, list, 1, 0, 0, NULL));
	EXPECT_EQ(5, vf_fence_current(self->fence));
	EXPECT_EQ(0, vf_fence_signal(self->fence, 5));
	EXPECT_EQ(0, vf_signal_flags(self->adapter, list, 2, DRM_VFENCE_SIGNAL_ALLOW_REWIND));
	EXPECT_EQ(7, vf_fence_current(self->fence));
}

TEST_F(monitored, who_waits_sees_the_pulse_and_who_comes_later_does_not)
{
	struct vf_point pulse[2] = { { self->fence, 100 }, { self->fence, 6 } };
	struct vf_point point = { self->fence, 100 };

	ASSERT_EQ(0, vf_event_arm(self->adapter, &point, 1, 0, self->efd, NULL));
	ASSERT_EQ(0, vf_signal_flags(self->adapter, pulse, 2, DRM_VFENCE_SIGNAL_ALLOW_REWIND));
	EXPECT_TRUE(fired(self->efd));
	clear_event(self->efd);
	ASSERT_EQ(0, vf_event_arm(self->adapter, &point, 1, 0, self->efd, NULL));
	EXPECT_FALSE(fired(self->efd));
	EXPECT_EQ(1, waiters(self->fence));
	EXPECT_EQ(6, vf_fence_current(self->fence));
}

TEST_F(monitored, WDDM_125_a_handle_that_goes_ends_the_waits_of_all)
{
	struct sleeper s = { .value = 10, .ret = 1 };
	struct vf_fence *second;
	pthread_t thread;
	int fd;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 0, &s.fence));
	fd = vf_fence_export(s.fence);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, vf_fence_open(self->device, fd, &second));
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
	ASSERT_TRUE(EVENTUALLY(waiters(s.fence) == 1));
	ASSERT_EQ(0, vf_event_arm(self->adapter, &(struct vf_point){ s.fence, 1 }, 1, 0,
				  self->efd, NULL));
	vf_fence_destroy(second);
	pthread_join(thread, NULL);
	EXPECT_EQ(-ECANCELED, s.ret);
	EXPECT_TRUE(fired(self->efd));
	clear_event(self->efd);
	/* The fence stays for its other handle and for later waits. */
	ASSERT_EQ(0, vf_event_arm(self->adapter, &(struct vf_point){ s.fence, 1 }, 1, 0,
				  self->efd, NULL));
	EXPECT_FALSE(fired(self->efd));
	EXPECT_EQ(0, vf_fence_signal(s.fence, 1));
	EXPECT_TRUE(fired(self->efd));
	vf_fence_destroy(s.fence);
	close(fd);
}

TEST_F(monitored, an_open_that_fails_ends_no_waits)
{
	struct drm_vfence_fence_create fill = {
		.device = vf_device_handle(self->device), .type = DRM_VFENCE_FENCE_MONITORED,
	};
	struct vf_adapter *other;
	struct vf_device *device;
	struct vf_fence *fence, *opened;
	int fd;

	ASSERT_EQ(0, vf_adapter_open(variant->adapter, &other));
	ASSERT_EQ(0, vf_device_create(other, &device));
	ASSERT_EQ(0, vf_monitored_fence_create(device, DRM_VFENCE_FENCE_SHAREABLE, 0, &fence));
	fd = vf_fence_export(fence);
	ASSERT_EQ(0, arm(other, fence, 1, self->efd));
	while (!raw(self->fd, DRM_IOCTL_VFENCE_FENCE_CREATE, &fill))
		;
	EXPECT_EQ(-ENOSPC, vf_fence_open(self->device, fd, &opened));
	EXPECT_FALSE(fired(self->efd));
	close(fd);
	vf_fence_destroy(fence);
	vf_device_destroy(device);
	vf_adapter_close(other);
}

TEST_F(monitored, WDDM_126_or_only_the_last_one_that_goes)
{
	struct sleeper s = { .value = 10, .ret = 1 };
	struct vf_fence *fence, *second;
	pthread_t thread;
	int fd;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE | ONLY_ON_DESTROY, 0,
					       &fence));
	fd = vf_fence_export(fence);
	ASSERT_EQ(0, vf_fence_open(self->device, fd, &second));
	s.fence = second;
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
	ASSERT_TRUE(EVENTUALLY(waiters(fence) == 1));
	vf_fence_destroy(fence);
	EXPECT_EQ(1, waiters(second));
	/* A descriptor keeps the fence, too. */
	ASSERT_EQ(0, vf_event_arm(self->adapter, &(struct vf_point){ second, 1 }, 1, 0,
				  self->efd, NULL));
	vf_fence_destroy(second);
	EXPECT_FALSE(fired(self->efd));
	close(fd);
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	pthread_join(thread, NULL);
	EXPECT_EQ(-ECANCELED, s.ret);
}

TEST_F(monitored, WDDM_141_a_shared_handle_has_rights)
{
	struct vf_fence *fence, *reader, *opened;
	struct drm_vfence_fence_info query;
	struct vf_adapter *other;
	struct vf_device *device;
	int fd;

	ASSERT_EQ(0, vf_adapter_open(variant->adapter, &other));
	ASSERT_EQ(0, vf_device_create(other, &device));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 3, &fence));
	fd = vf_fence_export_rights(fence, DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT);
	ASSERT_EQ(0, vf_fence_open(device, fd, &reader));
	EXPECT_EQ(3, vf_fence_current(reader));
	EXPECT_EQ(-EACCES, vf_fence_signal(reader, 4));
	EXPECT_EQ(-ETIME, vf_fence_wait(reader, 4, 0));
	/* A device's own flags remove rights and never add any. */
	ASSERT_EQ(0, vf_fence_open_flags(device, fd, DRM_VFENCE_FENCE_NO_WAIT, &opened));
	ASSERT_EQ(0, vf_fence_query(opened, &query));
	EXPECT_EQ(DRM_VFENCE_RIGHT_READ, query.rights);
	vf_fence_destroy(opened);
	EXPECT_EQ(-EINVAL, vf_fence_open_flags(device, fd, DRM_VFENCE_FENCE_NO_WAIT |
					       DRM_VFENCE_FENCE_NO_SIGNAL, &opened));
	close(fd);
	fd = vf_fence_export_rights(fence, DRM_VFENCE_RIGHT_WAIT);
	EXPECT_EQ(-EACCES, vf_fence_open(device, fd, &opened));
	close(fd);
	/* A file sees a signal of the other file in its own mapping. */
	ASSERT_EQ(0, vf_fence_signal(fence, 4));
	EXPECT_EQ(4, vf_fence_current(reader));
	vf_fence_destroy(reader);
	vf_fence_destroy(fence);
	vf_device_destroy(device);
	vf_adapter_close(other);
}

TEST_F(both_kinds, both_kinds_in_one_call)
{
	struct vf_point point[3] = { { NULL, 1 }, { self->fence, 6 }, { NULL, 2 } };
	struct vf_counters before, after;

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &point[0].fence));
	point[2].fence = point[0].fence;
	before = counters(self->adapter);
	ASSERT_EQ(0, vf_event_arm(self->adapter, point, 3, 0, self->efd, NULL));
	ASSERT_EQ(0, vf_signal(self->adapter, point, 3));
	EXPECT_TRUE(fired(self->efd));
	EXPECT_EQ(2, vf_fence_current(point[0].fence));
	EXPECT_EQ(6, vf_fence_current(self->fence));
	after = counters(self->adapter);
	EXPECT_EQ(before.cpu_signals + 3, after.cpu_signals);
	vf_fence_destroy(point[0].fence);
}

TEST_F(both_kinds, WDDM_113_user_mode_queues_refuse_it)
{
	const uint32_t stays = DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR;
	const struct drm_vfence_fence_mapping *at;
	struct drm_vfence_queue_info query;
	struct vf_queue *queue;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		vf_fence_destroy(self->fence);
		ASSERT_EQ(0, vf_monitored_fence_create(self->device, stays, 5, &self->fence));
		at = vf_fence_mapping(self->fence);
		ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 65536, &queue));
		if (i)
			vf_cmd_signal(queue, self->fence, 6);
		else
			vf_cmd_wait(queue, self->fence, 5);
		/* The device may be lost before the call returns. */
		vf_queue_publish(queue);
		ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_FAULTED));
		ASSERT_EQ(0, vf_queue_query(queue, &query));
		EXPECT_EQ(DRM_VFENCE_FAULT_ACCESS, query.fault);
		EXPECT_EQ(at->current_va, query.fault_va);
		vf_queue_abort(queue);
		vf_queue_destroy(queue);
		/* The fault lost the device. Its fence can still be read. */
		EXPECT_EQ(5, vf_fence_current(self->fence));
		vf_fence_destroy(self->fence);
		vf_device_destroy(self->device);
		ASSERT_EQ(0, vf_device_create(self->adapter, &self->device));
		ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 5, &self->fence));
	}
}

/*
 * Fences across two adapters. In the names of the contract, the dGPU has native fences
 * and the iGPU has none.
 */
#define CROSS_MONITORED	(DRM_VFENCE_FENCE_SHAREABLE | DRM_VFENCE_FENCE_CROSS_ADAPTER)
#define CROSS_NATIVE	(DRM_VFENCE_FENCE_SHAREABLE | DRM_VFENCE_FENCE_CROSS_ADAPTER)

#define MIXED_MEMBERS	\
	VFENCE_MEMBERS;	\
	struct vf_adapter *i_adapter;	\
	struct vf_device *i_device;	\
	struct vf_queue *i_queue;	\
	/* One fence on both adapters. */	\
	struct vf_fence *d, *i;	\
	int fence_fd, efd

#define MIXED_SETUP() do {	\
	if (vf_adapter_open(variant->i, &self->i_adapter))	\
		SKIP(return, "needs the adapters of the guests");	\
	VFENCE_SETUP(variant->d);	\
	ASSERT_EQ(0, vf_device_create(self->i_adapter, &self->i_device));	\
	ASSERT_EQ(0, vf_kernel_queue_create(self->i_device, DRM_VFENCE_NODE_GFX, &self->i_queue));	\
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);	\
	if (variant->created_native) {	\
		ASSERT_EQ(0, vf_fence_create(self->device, CROSS_NATIVE, 3, &self->d));	\
		self->fence_fd = vf_fence_export(self->d);	\
		ASSERT_EQ(0, vf_fence_open(self->i_device, self->fence_fd, &self->i));	\
	} else {	\
		ASSERT_EQ(0, vf_monitored_fence_create(self->i_device, CROSS_MONITORED, 3,	\
						       &self->i));	\
		self->fence_fd = vf_fence_export(self->i);	\
		ASSERT_EQ(0, vf_fence_open(self->device, self->fence_fd, &self->d));	\
	}	\
} while (0)

#define MIXED_TEARDOWN() do {	\
	close(self->efd);	\
	close(self->fence_fd);	\
	vf_queue_abort(self->i_queue);	\
	vf_queue_destroy(self->i_queue);	\
	vf_fence_destroy(self->i);	\
	vf_fence_destroy(self->d);	\
	vf_device_destroy(self->i_device);	\
	vf_adapter_close(self->i_adapter);	\
	VFENCE_TEARDOWN();	\
} while (0)

#define MIXED_FIXTURE(name)							\
	FIXTURE(name) { MIXED_MEMBERS; };					\
	FIXTURE_VARIANT(name) { unsigned int d, i; bool created_native; };	\
	FIXTURE_SETUP(name) { MIXED_SETUP(); }					\
	FIXTURE_TEARDOWN(name) { MIXED_TEARDOWN(); }

MIXED_FIXTURE(mixed)

FIXTURE_VARIANT_ADD(mixed, created_native) {
	.d = 0, .i = 3, .created_native = true,
};

FIXTURE_VARIANT_ADD(mixed, created_monitored) {
	.d = 0, .i = 3, .created_native = false,
};

/* Engines write monitored fences, without and with an interrupt. */
FIXTURE_VARIANT_ADD(mixed, packets) {
	.d = 0, .i = 5, .created_native = false,
};

FIXTURE_VARIANT_ADD(mixed, packets_with_interrupts) {
	.d = 2, .i = 6, .created_native = true,
};

/* The ring has no room for records, or interrupts name queues. */
FIXTURE_VARIANT_ADD(mixed, null_events) {
	.d = 1, .i = 3, .created_native = false,
};

FIXTURE_VARIANT_ADD(mixed, queue_events) {
	.d = 8, .i = 3, .created_native = true,
};

/* The mixed fixture for adapters whose engines write monitored fences. */
MIXED_FIXTURE(mixed_written)

FIXTURE_VARIANT_ADD(mixed_written, packets) {
	.d = 0, .i = 5, .created_native = false,
};

FIXTURE_VARIANT_ADD(mixed_written, packets_with_interrupts) {
	.d = 2, .i = 6, .created_native = true,
};

TEST_F(mixed, WDDM_109_110_it_is_what_the_adapter_supports)
{
	struct drm_vfence_fence_info query;
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_fence_query(self->d, &query));
	EXPECT_EQ(DRM_VFENCE_FENCE_DEFAULT, query.type);
	EXPECT_EQ(0, query.monitored_value);
	EXPECT_NE(0, vf_fence_mapping(self->d)->monitored_va);
	ASSERT_EQ(0, vf_fence_query(self->i, &query));
	EXPECT_EQ(DRM_VFENCE_FENCE_MONITORED, query.type);
	EXPECT_EQ(UINT64_MAX, query.monitored_value);
	EXPECT_EQ(0, vf_fence_mapping(self->i)->monitored_va);
	/* Both adapters have the same value. */
	EXPECT_EQ(3, vf_fence_current(self->d));
	EXPECT_EQ(3, vf_fence_current(self->i));
	/* User-mode queues use the fence where it is native. */
	vf_cmd_wait(self->copy, self->d, 4);
	vf_cmd_signal(self->gfx, self->d, 4);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->copy));
	EXPECT_EQ(4, vf_fence_current(self->i));
	/* The flags of a device are valid only where the fence is a monitored one. */
	EXPECT_EQ(-EINVAL, vf_fence_open_flags(self->device, self->fence_fd,
					       DRM_VFENCE_FENCE_NO_SIGNAL, &fence));
	ASSERT_EQ(0, vf_fence_open_flags(self->i_device, self->fence_fd,
					 DRM_VFENCE_FENCE_NO_SIGNAL, &fence));
	EXPECT_EQ(-EACCES, vf_fence_signal(fence, 5));
	vf_fence_destroy(fence);
}

TEST_F(mixed, scenario_2a_a_signal_here_ends_cpu_waits_there)
{
	struct vf_counters c;

	ASSERT_EQ(0, arm(self->i_adapter, self->i, 10, self->efd));
	vf_cmd_signal(self->gfx, self->d, 10);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	clear_event(self->efd);
	ASSERT_EQ(0, arm(self->i_adapter, self->i, 11, self->efd));
	ASSERT_EQ(0, vf_fence_signal(self->d, 11));
	/* When a CPU signal returns, it has completed the waiters of the other adapter. */
	EXPECT_EQ(1, fired_on(self->i_adapter, self->efd));
	EXPECT_EQ(11, vf_fence_current(self->i));
	EXPECT_TRUE(settled(self->adapter, &c));
}

TEST_F(mixed, scenario_2b_a_cpu_signal_there_ends_all_waits_here)
{
	ASSERT_EQ(0, arm(self->adapter, self->d, 10, self->efd));
	vf_cmd_wait(self->gfx, self->d, 10);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, vf_fence_signal(self->i, 10));
	EXPECT_EQ(1, fired_on(self->adapter, self->efd));
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_EQ(10, vf_fence_current(self->d));
}

/* Make a queue of the adapter without native fences wait for the fence. */
static int wait_there(struct vf_queue *queue, struct vf_fence *fence, uint64_t value)
{
	struct vf_point point = { fence, value };
	struct vf_submit what = { .waits = &point, .wait_count = 1 };

	return vf_submit(&queue, 1, &what);
}

static uint32_t held(struct vf_queue *queue)
{
	struct drm_vfence_queue_info query;

	return vf_queue_query(queue, &query) ? UINT32_MAX : query.held;
}

TEST_F(mixed, WDDM_111_a_signal_here_releases_software_contexts_and_cpu_waiters_there)
{
	ASSERT_EQ(0, arm(self->i_adapter, self->i, 10, self->efd));
	ASSERT_EQ(0, wait_there(self->i_queue, self->i, 10));
	EXPECT_EQ(1, held(self->i_queue));
	vf_cmd_signal(self->gfx, self->d, 9);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_EQ(1, held(self->i_queue));
	vf_cmd_signal(self->gfx, self->d, 10);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_EQ(0, vf_queue_wait_idle(self->i_queue, DEADLINE));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	/* A CPU signal releases the queue, too. */
	ASSERT_EQ(0, wait_there(self->i_queue, self->i, 11));
	EXPECT_EQ(1, held(self->i_queue));
	ASSERT_EQ(0, vf_fence_signal(self->d, 11));
	EXPECT_EQ(0, vf_queue_wait_idle(self->i_queue, DEADLINE));
}

TEST_F(mixed, WDDM_112_a_signal_of_a_software_context_there_releases_all_waits_here)
{
	struct vf_counters before = counters(self->i_adapter);
	struct vf_point point = { self->i, 10 };
	struct vf_submit what = { .signals = &point, .signal_count = 1 };

	ASSERT_EQ(0, arm(self->adapter, self->d, 10, self->efd));
	vf_cmd_wait(self->gfx, self->d, 10);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	/* The driver signals when the signal is at the head of its queue, and not before. */
	vf_cmd_draw(self->i_queue, 1, SECOND / 2);
	ASSERT_EQ(0, vf_queue_submit(self->i_queue));
	ASSERT_EQ(0, vf_submit(&self->i_queue, 1, &what));
	EXPECT_NOT_YET(fired(self->efd));
	EXPECT_NOT_YET(vf_fence_current(self->d) != 3);
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_EQ(10, vf_fence_current(self->d));
	/* The CPU writes the value, and also the progress fence if that is native. */
	EXPECT_TRUE(EVENTUALLY(counters(self->i_adapter).cpu_signals > before.cpu_signals));
}

TEST_F(mixed_written, a_packet_there_releases_all_waits_here)
{
	ASSERT_EQ(0, arm(self->adapter, self->d, 10, self->efd));
	vf_cmd_wait(self->gfx, self->d, 10);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	/* No thread waits on that adapter, but a waiter may exist on another one. */
	vf_cmd_signal(self->i_queue, self->i, 10);
	ASSERT_EQ(0, vf_queue_submit(self->i_queue));
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
}

/*
 * A dma_fence that fails takes the fence to its maximum, on all adapters. The importer may only
 * signal: the fence is its owner's as before.
 */
TEST_F(mixed, WDDM_123_a_failed_import_there_is_a_signal_here)
{
	struct vf_syncobj syncobj = { 0 };
	struct vf_submit told = { .signal_syncobjs = &syncobj, .signal_syncobj_count = 1 };
	int fd = vf_adapter_fd(self->i_adapter);
	struct vf_device *device;
	struct vf_queue *queue;

	/*
	 * Use a device of its own, because a device that hangs takes its fences to the
	 * maximum.
	 */
	ASSERT_EQ(0, vf_device_create(self->i_adapter, &device));
	ASSERT_EQ(0, vf_kernel_queue_create(device, DRM_VFENCE_NODE_GFX, &queue));
	ASSERT_EQ(0, drmSyncobjCreate(fd, 0, &syncobj.handle));
	/* The queue is blocked before the time of the submission begins to run out. */
	vf_cmd_wait(self->gfx, self->d, 10);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	cmd_hang(queue);
	ASSERT_EQ(0, vf_submit(&queue, 1, &told));
	ASSERT_EQ(0, vf_fence_import_syncobj(self->i, syncobj.handle, 0, 10));
	EXPECT_EQ(0, vf_fence_wait(self->d, UINT64_MAX, DEADLINE));
	EXPECT_EQ(UINT64_MAX, vf_fence_current(self->d));
	EXPECT_TRUE(drained(self->gfx));
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	drmSyncobjDestroy(fd, syncobj.handle);

	ASSERT_EQ(0, vf_fence_signal(self->d, 4));
	EXPECT_EQ(4, vf_fence_current(self->i));
	ASSERT_EQ(0, arm(self->adapter, self->d, 5, self->efd));
	vf_cmd_wait(self->gfx, self->d, 5);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	EXPECT_EQ(0, fired_on(self->adapter, self->efd));
	ASSERT_EQ(0, vf_fence_signal(self->i, 5));
	EXPECT_EQ(1, fired_on(self->adapter, self->efd));
	EXPECT_TRUE(drained(self->gfx));
}

TEST_F(mixed, a_pulse_there_ends_the_waits_it_met)
{
	struct vf_point pulse[2] = { { self->i, 100 }, { self->i, 4 } };

	ASSERT_EQ(0, arm(self->adapter, self->d, 100, self->efd));
	vf_cmd_wait(self->gfx, self->d, 100);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	EXPECT_EQ(-EINVAL, vf_signal(self->i_adapter, pulse, 2));
	EXPECT_EQ(3, vf_fence_current(self->i));
	ASSERT_EQ(0, vf_signal_flags(self->i_adapter, pulse, 2, DRM_VFENCE_SIGNAL_ALLOW_REWIND));
	EXPECT_EQ(1, fired_on(self->adapter, self->efd));
	EXPECT_TRUE(drained(self->gfx));
	clear_event(self->efd);
	/* The failure does not end later waits, on either adapter. */
	ASSERT_EQ(0, arm(self->adapter, self->d, 100, self->efd));
	ASSERT_EQ(0, arm(self->i_adapter, self->i, 100, self->efd));
	EXPECT_EQ(0, fired_on(self->adapter, self->efd));
	EXPECT_EQ(0, fired_on(self->i_adapter, self->efd));
}

TEST_F(mixed, who_ends_which_waits)
{
	struct vf_fence *second;

	/*
	 * The last handle of one adapter ends no wait that another adapter may still
	 * satisfy.
	 */
	ASSERT_EQ(0, arm(self->adapter, self->d, 10, self->efd));
	ASSERT_EQ(0, vf_fence_open(self->i_device, self->fence_fd, &second));
	vf_fence_destroy(second);
	EXPECT_EQ(0, fired_on(self->adapter, self->efd));
	ASSERT_EQ(0, vf_fence_signal(self->i, 10));
	EXPECT_EQ(1, fired_on(self->adapter, self->efd));
	clear_event(self->efd);
	/*
	 * A handle of a monitored fence ends waits only if the fence was created as a
	 * monitored one.
	 */
	ASSERT_EQ(0, arm(self->i_adapter, self->i, 20, self->efd));
	ASSERT_EQ(0, vf_fence_open(self->i_device, self->fence_fd, &second));
	vf_fence_destroy(second);
	EXPECT_EQ(!variant->created_native, fired_on(self->i_adapter, self->efd));
}

/*
 * Packets of two adapters write one fence. The engines of the first one do not report that, and those of
 * the second one do, whatever the first one has done with the fence before.
 */
TEST(WDDM_130_each_adapter_reports_what_it_has_written_itself)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), fd;
	struct client silent, reporting;
	struct vf_fence *here, *there;
	struct vf_queue *first, *second;

	if (access("/sys/bus/platform/devices/vfence.6/drm", F_OK))
		SKIP(return, "needs the adapters of the guests");
	ASSERT_EQ(0, vf_adapter_open(5, &silent.adapter));
	ASSERT_EQ(0, vf_device_create(silent.adapter, &silent.device));
	ASSERT_EQ(0, vf_adapter_open(6, &reporting.adapter));
	ASSERT_EQ(0, vf_device_create(reporting.adapter, &reporting.device));
	ASSERT_EQ(0, vf_monitored_fence_create(reporting.device, CROSS_MONITORED, 0, &here));
	fd = vf_fence_export(here);
	ASSERT_EQ(0, vf_fence_open(silent.device, fd, &there));
	close(fd);
	ASSERT_EQ(0, vf_kernel_queue_create(silent.device, DRM_VFENCE_NODE_GFX, &first));
	ASSERT_EQ(0, vf_kernel_queue_create(reporting.device, DRM_VFENCE_NODE_GFX, &second));
	vf_cmd_signal(first, there, 1);
	ASSERT_EQ(0, vf_queue_submit(first));
	ASSERT_EQ(0, vf_queue_wait_idle(first, DEADLINE));

	ASSERT_EQ(0, arm(reporting.adapter, here, 2, efd));
	vf_cmd_signal(second, here, 2);
	vf_cmd_draw(second, 1, SECOND / 2);
	ASSERT_EQ(0, vf_queue_submit(second));
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	EXPECT_NOT_YET(vf_fence_current(vf_queue_progress(second)) == 1);
	EXPECT_EQ(0, vf_queue_wait_idle(second, DEADLINE));
	vf_queue_destroy(second);
	vf_queue_destroy(first);
	vf_fence_destroy(there);
	vf_fence_destroy(here);
	client_close(&reporting);
	client_close(&silent);
	close(efd);
}

TEST_HARNESS_MAIN
