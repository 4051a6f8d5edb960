// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feature negotiation, as a client sees it on adapters of different shapes.
 * tools/vm/adapters/tests describes each adapter.
 */

#include "vfence_test.h"

enum {
	PLAIN = 0, SHAPED = 2, OFF = 3, LIAR = 4, EXPERIMENTAL = 5, NOT_NOW = 6, NO_UMS = 7,
	ALLOWED = 14,
};

#define SUPPORTED \
	(DRM_VFENCE_FEATURE_SUPPORTED | DRM_VFENCE_FEATURE_ON_CURRENT_CONFIG)
#define ENABLED		(SUPPORTED | DRM_VFENCE_FEATURE_ENABLED)

FIXTURE(feature) {
	struct vf_adapter *adapter[15];
};

FIXTURE_SETUP(feature)
{
	unsigned int i;

	if (access("/sys/bus/platform/devices/vfence.14", F_OK))
		SKIP(return, "needs the adapters of the guests");
	for (i = 0; i < ARRAY_SIZE(self->adapter); i++) {
		self->adapter[i] = NULL;
		ASSERT_EQ(i == LIAR ? -ENODEV : 0, vf_adapter_open(i, &self->adapter[i]));
	}
}

FIXTURE_TEARDOWN(feature)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(self->adapter); i++)
		vf_adapter_close(self->adapter[i]);
}

static struct drm_vfence_feature_info feature(struct vf_adapter *adapter, uint32_t id)
{
	struct drm_vfence_feature_info info[8], none = { .id = UINT32_MAX };
	unsigned int n = 8, i;

	if (vf_adapter_features(adapter, info, &n))
		return none;
	for (i = 0; i < n; i++)
		if (info[i].id == id)
			return info[i];
	return none;
}

static int try_fence(struct vf_adapter *adapter)
{
	struct vf_device *device;
	struct vf_fence *fence;
	int ret = vf_device_create(adapter, &device);

	if (ret)
		return ret;
	ret = vf_fence_create(device, 0, 1, &fence);
	if (!ret)
		vf_fence_destroy(fence);
	vf_device_destroy(device);
	return ret;
}

static int try_queue(struct vf_adapter *adapter)
{
	struct vf_device *device;
	struct vf_queue *queue;
	int ret = vf_device_create(adapter, &device);

	if (ret)
		return ret;
	ret = vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue);
	if (!ret)
		vf_queue_destroy(queue);
	vf_device_destroy(device);
	return ret;
}

TEST_F(feature, WDDM_46_49_51_enabled_at_the_highest_common_version)
{
	struct drm_vfence_feature_info f;
	struct drm_vfence_fence_caps caps;

	/* The system supports versions 1 to 3, the GPU 2 to 5. */
	f = feature(self->adapter[PLAIN], DRM_VFENCE_FEATURE_NATIVE_FENCE);
	EXPECT_EQ(ENABLED, f.flags);
	EXPECT_EQ(3, f.version);
	ASSERT_EQ(0, vf_adapter_fence_caps(self->adapter[PLAIN], &caps));
	EXPECT_TRUE(caps.flags & DRM_VFENCE_CAP_NATIVE_FENCE);
	EXPECT_EQ(0, try_fence(self->adapter[PLAIN]));
	EXPECT_EQ(0, try_queue(self->adapter[PLAIN]));
}

TEST_F(feature, WDDM_47_advertising_while_disabled_fails_the_probe)
{
	struct vf_adapter *adapter;

	EXPECT_EQ(0, access("/sys/bus/platform/devices/vfence.4", F_OK));
	EXPECT_NE(0, access("/sys/bus/platform/devices/vfence.4/driver", F_OK));
	EXPECT_EQ(-ENODEV, vf_adapter_open(LIAR, &adapter));
	/* A second bind fails again, and the other adapters continue to work. */
	EXPECT_NE(0, driver("bind", LIAR));
	EXPECT_EQ(0, try_fence(self->adapter[PLAIN]));
}

TEST_F(feature, WDDM_48_51_54_switched_off_means_off)
{
	struct drm_vfence_feature_info f;
	struct vf_counters c;
	struct drm_vfence_fence_caps caps, zero = { 0 };

	f = feature(self->adapter[OFF], DRM_VFENCE_FEATURE_NATIVE_FENCE);
	EXPECT_EQ(SUPPORTED, f.flags);
	EXPECT_EQ(0, f.version);
	ASSERT_EQ(0, vf_adapter_fence_caps(self->adapter[OFF], &caps));
	EXPECT_EQ(0, memcmp(&caps, &zero, sizeof(caps)));
	EXPECT_EQ(-EOPNOTSUPP, try_fence(self->adapter[OFF]));
	/*
	 * A feature that depends on it is off, too, because the progress fence of a queue
	 * is native.
	 */
	f = feature(self->adapter[OFF], DRM_VFENCE_FEATURE_USER_MODE_SUBMISSION);
	EXPECT_EQ(SUPPORTED, f.flags);
	EXPECT_EQ(-EOPNOTSUPP, try_queue(self->adapter[OFF]));
	/* The driver has not created a fence in the hardware (WDDM-54). */
	c = counters(self->adapter[OFF]);
	EXPECT_EQ(0, c.fences_created);
	EXPECT_EQ(0, c.fences_opened);
	EXPECT_EQ(0, c.monitored_updates);
}

TEST_F(feature, WDDM_48_support_must_hold_on_the_current_configuration)
{
	struct drm_vfence_feature_info f =
		feature(self->adapter[NOT_NOW], DRM_VFENCE_FEATURE_NATIVE_FENCE);

	EXPECT_EQ(DRM_VFENCE_FEATURE_SUPPORTED, f.flags);
	EXPECT_EQ(-EOPNOTSUPP, try_fence(self->adapter[NOT_NOW]));
}

TEST_F(feature, WDDM_50_experimental_support_is_hidden)
{
	struct drm_vfence_feature_info f =
		feature(self->adapter[EXPERIMENTAL], DRM_VFENCE_FEATURE_NATIVE_FENCE);

	EXPECT_EQ(0, f.flags);
	EXPECT_EQ(-EOPNOTSUPP, try_fence(self->adapter[EXPERIMENTAL]));
}

TEST_F(feature, WDDM_50_experimental_support_can_be_allowed)
{
	struct drm_vfence_feature_info f =
		feature(self->adapter[ALLOWED], DRM_VFENCE_FEATURE_NATIVE_FENCE);

	EXPECT_EQ(ENABLED, f.flags);
	EXPECT_EQ(3, f.version);
	EXPECT_EQ(0, try_fence(self->adapter[ALLOWED]));
}

TEST_F(feature, WDDM_52_an_override_does_not_replace_the_handshake)
{
	static const unsigned int overridden[] = { EXPERIMENTAL, NOT_NOW };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(overridden); i++) {
		struct vf_adapter *adapter = self->adapter[overridden[i]];
		struct drm_vfence_feature_info f = feature(adapter, DRM_VFENCE_FEATURE_NATIVE_FENCE);

		EXPECT_FALSE(f.flags & DRM_VFENCE_FEATURE_ENABLED);
		EXPECT_EQ(0, f.version);
		EXPECT_EQ(-EOPNOTSUPP, try_fence(adapter));
	}
}

TEST_F(feature, WDDM_52_an_override_narrows_the_versions)
{
	struct drm_vfence_feature_info f =
		feature(self->adapter[SHAPED], DRM_VFENCE_FEATURE_NATIVE_FENCE);

	EXPECT_EQ(ENABLED, f.flags);
	EXPECT_EQ(2, f.version);
}

TEST_F(feature, user_mode_submission_can_be_off_alone)
{
	struct drm_vfence_node_info nodes[8];
	unsigned int n = 8, i;

	EXPECT_EQ(0, try_fence(self->adapter[NO_UMS]));
	EXPECT_EQ(-EOPNOTSUPP, try_queue(self->adapter[NO_UMS]));
	ASSERT_EQ(0, vf_adapter_nodes(self->adapter[NO_UMS], nodes, &n));
	for (i = 0; i < n; i++)
		EXPECT_FALSE(nodes[i].flags & DRM_VFENCE_NODE_USER_MODE_SUBMISSION);
}

/* Where the current and the monitored value of a fence are that nobody else waits for. */
static bool system_addresses(FIXTURE_DATA(feature) *self, unsigned int index, struct vf_fence *fence,
			     uint64_t value, uint64_t va[2])
{
	struct vf_point point = { fence, value };
	int efd = eventfd(0, EFD_CLOEXEC);
	char text[32];
	bool found;

	snprintf(text, sizeof(text), " value=%llu ", (unsigned long long)value);
	found = !vf_event_arm(self->adapter[index], &point, 1, 0, efd, NULL) &&
		find_state(index, text, "fence=", "system_current=", &va[0]) &&
		find_state(index, text, "fence=", "system_monitored=", &va[1]);
	close(efd);
	return found;
}

TEST_F(feature, WDDM_29_53_60_caps_shape_the_fences)
{
	uint64_t va[2][2];
	struct drm_vfence_fence_caps caps;
	const struct drm_vfence_fence_mapping *a, *b;
	struct vf_device *device;
	struct vf_fence *fa, *fb;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, vf_adapter_fence_caps(self->adapter[SHAPED], &caps));
	EXPECT_EQ(128, caps.stride);
	EXPECT_EQ(0x1fc000000, caps.minimum_address);
	EXPECT_EQ(0x200000000, caps.maximum_address);
	EXPECT_TRUE(caps.flags & DRM_VFENCE_CAP_MAP_TO_SYSTEM);
	ASSERT_EQ(0, vf_device_create(self->adapter[SHAPED], &device));
	ASSERT_EQ(0, vf_fence_create(device, 0, 0, &fa));
	ASSERT_EQ(0, vf_fence_create(device, 0, 0, &fb));
	a = vf_fence_mapping(fa);
	b = vf_fence_mapping(fb);
	EXPECT_EQ(128, b->current_va - a->current_va);
	EXPECT_EQ(128, b->monitored_va - a->monitored_va);
	EXPECT_EQ(128, b->current_page_offset - a->current_page_offset);
	EXPECT_LE(caps.minimum_address, a->current_va);
	EXPECT_GT(caps.maximum_address, b->current_va);
	EXPECT_LE(caps.minimum_address, a->monitored_va);
	EXPECT_GT(caps.maximum_address, b->monitored_va);
	/* The create call passes both system addresses, and they are within the bounds, too. */
	ASSERT_TRUE(system_addresses(self, SHAPED, fa, 1001, va[0]));
	ASSERT_TRUE(system_addresses(self, SHAPED, fb, 1002, va[1]));
	EXPECT_EQ(128, va[1][0] - va[0][0]);
	EXPECT_EQ(128, va[1][1] - va[0][1]);
	EXPECT_NE(va[0][0], va[0][1]);
	EXPECT_LE(caps.minimum_address, va[0][0]);
	EXPECT_GT(caps.maximum_address, va[0][1]);
	vf_fence_destroy(fa);
	vf_fence_destroy(fb);
	vf_device_destroy(device);
	/* Without the cap the driver maps neither value for the system process. */
	ASSERT_EQ(0, vf_device_create(self->adapter[PLAIN], &device));
	ASSERT_EQ(0, vf_fence_create(device, 0, 0, &fa));
	ASSERT_TRUE(system_addresses(self, PLAIN, fa, 1001, va[0]));
	EXPECT_EQ(0, va[0][0]);
	EXPECT_EQ(0, va[0][1]);
	vf_fence_destroy(fa);
	vf_device_destroy(device);
}

TEST_F(feature, WDDM_29_a_fence_is_within_the_bounds_or_is_not)
{
	struct drm_vfence_bo_create bo = { .size = 1 << 20 };
	struct drm_vfence_vm_bind bind = { .size = 1 << 20, .flags = DRM_VFENCE_VM_WRITE };
	struct drm_vfence_vm_bind unbind;
	struct drm_vfence_fence_caps caps;
	int fd = vf_adapter_fd(self->adapter[SHAPED]);
	struct vf_device *device;
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_adapter_fence_caps(self->adapter[SHAPED], &caps));
	ASSERT_EQ(0, vf_device_create(self->adapter[SHAPED], &device));
	/* The client has bound a buffer at each address between the bounds. */
	ASSERT_EQ(0, raw(fd, DRM_IOCTL_VFENCE_BO_CREATE, &bo));
	bind.handle = bo.handle;
	for (bind.va = caps.minimum_address; bind.va < caps.maximum_address; bind.va += bind.size)
		ASSERT_EQ(0, raw(fd, DRM_IOCTL_VFENCE_VM_BIND, &bind));
	EXPECT_EQ(-ENOSPC, vf_fence_create(device, 0, 0, &fence));
	/* The last free address within the bounds can be used, too. */
	unbind = (struct drm_vfence_vm_bind){ .op = DRM_VFENCE_VM_UNMAP, .va = caps.minimum_address };
	ASSERT_EQ(0, raw(fd, DRM_IOCTL_VFENCE_VM_BIND, &unbind));
	ASSERT_EQ(0, vf_fence_create(device, 0, 0, &fence));
	EXPECT_LE(caps.minimum_address, vf_fence_mapping(fence)->current_va);
	EXPECT_LE(caps.minimum_address, vf_fence_mapping(fence)->monitored_va);
	EXPECT_GT(caps.minimum_address + bind.size, vf_fence_mapping(fence)->current_va);
	EXPECT_GT(caps.minimum_address + bind.size, vf_fence_mapping(fence)->monitored_va);
	vf_fence_destroy(fence);
	vf_device_destroy(device);
}

TEST_F(feature, WDDM_60_61_the_cmp_reads_where_the_system_process_has_it)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_counters before, after;
	struct vf_device *device;
	struct vf_fence *fence;
	struct vf_queue *queue;
	struct vf_point point;

	ASSERT_EQ(0, vf_device_create(self->adapter[SHAPED], &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	/*
	 * Use a fence in system memory: the CMP has a copy of a value that is in video
	 * memory.
	 */
	ASSERT_EQ(0, vf_fence_create(device, DRM_VFENCE_FENCE_SHAREABLE, 0, &fence));
	point = (struct vf_point){ fence, 1 };
	ASSERT_EQ(0, vf_event_arm(self->adapter[SHAPED], &point, 1, 0, efd, NULL));
	before = counters(self->adapter[SHAPED]);
	vf_cmd_signal(queue, fence, 1);
	ASSERT_EQ(0, vf_queue_publish(queue));
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	ASSERT_TRUE(settled(self->adapter[SHAPED], &after));
	EXPECT_EQ(before.cmp_recorded + 1, after.cmp_recorded);
	/*
	 * The waiter retired in the interrupt handler, so the update must not sleep
	 * (WDDM-61).
	 */
	EXPECT_EQ(before.monitored_updates_irq + 1, after.monitored_updates_irq);
	vf_queue_abort(queue);
	vf_queue_destroy(queue);
	vf_fence_destroy(fence);
	vf_device_destroy(device);
	close(efd);
}

TEST_F(feature, WDDM_60_the_cmp_looks_again_by_its_own_address)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_counters before, after;
	struct vf_adapter *adapter = self->adapter[SHAPED];
	struct vf_fence *fence, *next;
	struct vf_device *device;
	struct vf_queue *queue;
	struct vf_point point;
	uint32_t event;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, vf_fence_create(device, DRM_VFENCE_FENCE_SHAREABLE, 0, &fence));
	ASSERT_EQ(0, vf_fence_create(device, DRM_VFENCE_FENCE_SHAREABLE, 0, &next));
	point = (struct vf_point){ fence, 1 };
	ASSERT_EQ(0, vf_event_arm(adapter, &point, 1, 0, efd, &event));
	ASSERT_EQ(0, arm(adapter, next, 1, efd));
	ASSERT_TRUE(settled(adapter, &before));
	/* Cancel the waiter while the post is on its way to the CMP. */
	ASSERT_EQ(0, inject(SHAPED, "hold_posts", "1"));
	vf_cmd_signal(queue, fence, 1);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(drained(queue));
	EXPECT_EQ(0, vf_event_cancel(adapter, event));
	ASSERT_EQ(0, inject(SHAPED, "hold_posts", "0"));
	vf_cmd_signal(queue, next, 1);
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	ASSERT_TRUE(settled(adapter, &after));
	EXPECT_EQ(before.cmp_rechecked_out + 1, after.cmp_rechecked_out);
	EXPECT_EQ(before.cmp_recorded + 1, after.cmp_recorded);
	vf_queue_destroy(queue);
	vf_fence_destroy(fence);
	vf_fence_destroy(next);
	vf_device_destroy(device);
	close(efd);
}

TEST_HARNESS_MAIN
