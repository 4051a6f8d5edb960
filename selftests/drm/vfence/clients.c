// SPDX-License-Identifier: GPL-2.0-only
/* Clients of one adapter: what one of them may do to the others and learn about them. */

#include "vfence_test.h"

struct client {
	struct vf_adapter *adapter;
	struct vf_device *device;
};

static int client_open(struct client *c)
{
	int ret = vf_adapter_open(0, &c->adapter);

	return ret ? ret : vf_device_create(c->adapter, &c->device);
}

static void client_close(struct client *c)
{
	vf_device_destroy(c->device);
	vf_adapter_close(c->adapter);
}

FIXTURE(clients) {
	struct client owner, guest;
	int efd;
};

FIXTURE_SETUP(clients)
{
	ASSERT_EQ(0, client_open(&self->owner));
	ASSERT_EQ(0, client_open(&self->guest));
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

FIXTURE_TEARDOWN(clients)
{
	close(self->efd);
	client_close(&self->guest);
	client_close(&self->owner);
}

static uint64_t waiters(struct vf_fence *fence)
{
	struct drm_vfence_fence_query query;

	return vf_fence_query(fence, &query) ? 0 : query.waiters;
}

/* Open the fence as @c with @rights, and close the handle. */
static int open_and_close(struct client *c, struct vf_fence *fence, uint32_t rights)
{
	int fd = vf_fence_export_rights(fence, rights), ret;
	struct vf_fence *opened;

	if (fd < 0)
		return fd;
	ret = vf_fence_open(c->device, fd, &opened);
	close(fd);
	if (!ret)
		vf_fence_destroy(opened);
	return ret;
}

struct sleeper {
	struct vf_fence *fence;
	int ret;
};

static void *sleep_on(void *arg)
{
	struct sleeper *s = arg;

	s->ret = vf_fence_wait(s->fence, 10, DEADLINE);
	return NULL;
}

/* WDDM-125 is for handles that may signal: see "Where the driver differs from WDDM". */
TEST_F(clients, a_close_without_the_right_to_signal_ends_no_waits)
{
	const uint32_t read = DRM_VFENCE_RIGHT_READ;
	struct sleeper s = { .ret = 1 };
	pthread_t thread;

	ASSERT_EQ(0, vf_monitored_fence_create(self->owner.device, SHARED_MONITORED, 0, &s.fence));
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
	ASSERT_EQ(0, arm(self->owner.adapter, s.fence, 10, self->efd));
	ASSERT_TRUE(EVENTUALLY(waiters(s.fence) == 2));
	EXPECT_EQ(0, open_and_close(&self->guest, s.fence, read));
	EXPECT_EQ(0, open_and_close(&self->guest, s.fence, read | DRM_VFENCE_RIGHT_WAIT));
	EXPECT_EQ(2, waiters(s.fence));
	EXPECT_FALSE(fired(self->efd));
	/* The waits end by their value. */
	EXPECT_EQ(0, vf_fence_signal(s.fence, 10));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, s.ret);
	EXPECT_TRUE(fired(self->efd));
	vf_fence_destroy(s.fence);
}

TEST_F(clients, WDDM_125_a_close_with_the_right_to_signal_ends_all_waits)
{
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_monitored_fence_create(self->owner.device, SHARED_MONITORED, 0, &fence));
	ASSERT_EQ(0, arm(self->owner.adapter, fence, 10, self->efd));
	EXPECT_EQ(0, open_and_close(&self->guest, fence,
				    DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_SIGNAL));
	EXPECT_TRUE(fired(self->efd));
	vf_fence_destroy(fence);
}

TEST_HARNESS_MAIN
