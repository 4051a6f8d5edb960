// SPDX-License-Identifier: GPL-2.0-only
/*
 * One error at a time: a call that is valid but for one change, the errno that it must
 * return, and outputs that must stay unchanged.
 */

#include "vfence_test.h"

FIXTURE(reject) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
	struct vf_fence *shareable;
	int efd;
	uint32_t bo;
	uint32_t context, paging;
	struct drm_vfence_fence_point point;
};

FIXTURE_SETUP(reject)
{
	struct drm_vfence_bo_create bo = { .size = 8192 };
	struct drm_vfence_context_create context = { 0 };

	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 0,
				     &self->shareable));
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_BO_CREATE, &bo));
	self->bo = bo.handle;
	context.device = vf_device_handle(self->device);
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_CONTEXT_CREATE, &context));
	self->context = context.handle;
	context.node = DRM_VFENCE_NODE_PAGING;
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_CONTEXT_CREATE, &context));
	self->paging = context.handle;
	self->point = (struct drm_vfence_fence_point){
		.fence = vf_fence_handle(self->fence), .value = 1,
	};
}

FIXTURE_TEARDOWN(reject)
{
	close(self->efd);
	vf_fence_destroy(self->fence);
	vf_fence_destroy(self->shareable);
	VFENCE_TEARDOWN();
}

/*
 * REJECT(errno, IOCTL, type, valid, change): make the call @valid with @change applied to
 * it as `a`. The call must fail with @errno and leave `a` unchanged.
 */
#define REJECT(want, NAME, type, valid, change) do {				\
	struct drm_vfence_##type a = valid, _before;				\
	change;									\
	_before = a;								\
	EXPECT_EQ(-(want), raw(self->fd, DRM_IOCTL_VFENCE_##NAME, &a)) {	\
		TH_LOG("%s with %s", #NAME, #change);				\
	}									\
	EXPECT_EQ(0, memcmp(&a, &_before, sizeof(a)));				\
} while (0)

#define BAD 0x7fffffff

#define REJECT_DESTROY(want, object, of)					\
	REJECT(want, DESTROY, destroy, { .type = DRM_VFENCE_OBJECT_##object }, a.handle = (of))

TEST_F(reject, query)
{
	struct drm_vfence_clock_info out;
#define Q { .type = DRM_VFENCE_QUERY_CLOCK, .size = sizeof(out), .data = (uintptr_t)&out }
#define OBJECT(TYPE, of) {							\
	.type = DRM_VFENCE_QUERY_##TYPE, .size = sizeof(info), .data = (uintptr_t)info,	\
	.handle = (of) }
	struct drm_vfence_query small = Q;
	uint64_t info[16];
	char big[sizeof(out) + 64];

	REJECT(EINVAL, QUERY, query, Q, a.type = DRM_VFENCE_QUERY_FENCE + 1);
	REJECT(EINVAL, QUERY, query, Q, (a.type = DRM_VFENCE_QUERY_FENCE + 1, a.data = 0, a.size = 0));
	REJECT(EINVAL, QUERY, query, Q, a.type = BAD);
	REJECT(EINVAL, QUERY, query, Q, a.type = UINT32_MAX);
	REJECT(EINVAL, QUERY, query, Q, a.size = 65537);
	REJECT(EINVAL, QUERY, query, Q, a.stride = 4);
	REJECT(EINVAL, QUERY, query, Q, a.stride = 4104);
	REJECT(EINVAL, QUERY, query, Q, a.handle = vf_device_handle(self->device));
	REJECT(ENOENT, QUERY, query, OBJECT(DEVICE, vf_device_handle(self->device)), a.handle = BAD);
	REJECT(ENOENT, QUERY, query, OBJECT(DEVICE, vf_device_handle(self->device)), a.handle = 0);
	REJECT(ENOENT, QUERY, query, OBJECT(CONTEXT, self->context), a.handle = BAD);
	REJECT(ENOENT, QUERY, query, OBJECT(QUEUE, vf_queue_handle(self->gfx)), a.handle = BAD);
	REJECT(ENOENT, QUERY, query, OBJECT(FENCE, vf_fence_handle(self->fence)), a.handle = BAD);
	REJECT(ENOENT, QUERY, query, OBJECT(FENCE, BAD), a.data = 0);
	REJECT(EFAULT, QUERY, query, OBJECT(FENCE, vf_fence_handle(self->fence)), a.data = 8);
	REJECT(EFAULT, QUERY, query, Q, a.data = 8);
	REJECT(EFAULT, QUERY, query, Q, (a.type = DRM_VFENCE_QUERY_LIMITS, a.data = 8));
	REJECT(EINVAL, QUERY, query, Q, (a.type = DRM_VFENCE_QUERY_LIMITS, a.size = 65537));
	/* A shorter buffer gets the beginning. In a longer one the kernel clears the rest. */
	memset(big, POISON, sizeof(big));
	small.data = (uintptr_t)big;
	small.size = 8;
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUERY, &small));
	EXPECT_EQ(sizeof(out), small.size);
	EXPECT_EQ((char)POISON, big[8]);
	small.size = sizeof(big);
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUERY, &small));
	EXPECT_EQ(0, big[sizeof(out)]);
	EXPECT_EQ(0, big[sizeof(big) - 1]);
	small.data = 0;
	small.size = 0;
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUERY, &small));
	EXPECT_EQ(sizeof(out), small.size);
}

/* A short buffer gets the beginning, which may end within an element, and nothing else. */
TEST_F(reject, an_answer_is_cut_anywhere)
{
	static const uint32_t sizes[] = { 0, 4, 8, 12, 24, 28, 100, 4096 };
	struct drm_vfence_query query = { .type = DRM_VFENCE_QUERY_LIMITS };
	unsigned char whole[4096], part[4096 + 8];
	unsigned int i;

	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUERY, &query));
	ASSERT_LT(100, query.size);
	ASSERT_GT(sizeof(whole), query.size);
	memset(whole, 0, sizeof(whole));
	query.data = (uintptr_t)whole;
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUERY, &query));
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct drm_vfence_query again = {
			.type = DRM_VFENCE_QUERY_LIMITS, .size = sizes[i],
			.data = (uintptr_t)part,
		};

		memset(part, POISON, sizeof(part));
		ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUERY, &again));
		EXPECT_EQ(query.size, again.size);
		/* Behind the answer the kernel clears the rest of the buffer. */
		EXPECT_EQ(0, memcmp(whole, part, sizes[i]));
		EXPECT_EQ((unsigned char)POISON, part[sizes[i]]);
	}
}

TEST_F(reject, destroy)
{
#define TYPE { .handle = vf_device_handle(self->device) }
	REJECT(EINVAL, DESTROY, destroy, TYPE, a.type = 0);
	REJECT(EINVAL, DESTROY, destroy, TYPE, a.type = DRM_VFENCE_OBJECT_WAIT_SET + 1);
	REJECT(EINVAL, DESTROY, destroy, TYPE, a.type = UINT32_MAX);
	/* A handle is one of its type alone. */
	REJECT_DESTROY(ENOENT, WAIT_SET, vf_device_handle(self->device));
}

TEST_F(reject, device)
{
	struct drm_vfence_device_create create = { 0 };
	unsigned int n;

	REJECT(EINVAL, DEVICE_CREATE, device_create, {}, a.flags = 1);
	REJECT_DESTROY(ENOENT, DEVICE, BAD);
	REJECT_DESTROY(ENOENT, DEVICE, 0);
	for (n = 1; n < 64; n++)
		ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_DEVICE_CREATE, &create));
	EXPECT_EQ(-ENOSPC, raw(self->fd, DRM_IOCTL_VFENCE_DEVICE_CREATE, &create));
}

TEST_F(reject, context)
{
#define C { .device = vf_device_handle(self->device) }
	struct drm_vfence_queue_create queue = {
		.context = self->context, .flags = DRM_VFENCE_QUEUE_USER_MODE,
	};

	REJECT(ENOENT, CONTEXT_CREATE, context_create, C, a.device = BAD);
	REJECT(ENOENT, CONTEXT_SUSPEND, context_suspend, {}, a.context = BAD);
	REJECT(EINVAL, CONTEXT_SUSPEND, context_suspend, { .context = self->context }, a.flags = 1);
	REJECT(ENOENT, CONTEXT_RESUME, context_resume, {}, a.context = BAD);
	REJECT(EINVAL, CONTEXT_RESUME, context_resume, { .context = self->context }, a.flags = 1);
	REJECT(EINVAL, CONTEXT_CREATE, context_create, C, a.node = 5);
	REJECT(EINVAL, CONTEXT_CREATE, context_create, C, a.flags = 1);
	REJECT_DESTROY(ENOENT, CONTEXT, BAD);
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUEUE_CREATE, &queue));
	REJECT_DESTROY(EBUSY, CONTEXT, self->context);
}

TEST_F(reject, bo_create)
{
	REJECT(EINVAL, BO_CREATE, bo_create, {}, a.size = 0);
	REJECT(EINVAL, BO_CREATE, bo_create, {}, a.size = DRM_VFENCE_MAX_BO_SIZE + 1);
	REJECT(EINVAL, BO_CREATE, bo_create, {}, a.size = UINT64_MAX);
	REJECT(EINVAL, BO_CREATE, bo_create, { .size = 4096 }, a.flags = 1);
}

TEST_F(reject, vm_bind)
{
#define B { .handle = self->bo, .flags = DRM_VFENCE_VM_READ, .size = 4096, .va = 0x10000 }
	struct drm_vfence_vm_bind bind = B;

	REJECT(ENOENT, VM_BIND, vm_bind, B, a.handle = BAD);
	REJECT(EINVAL, VM_BIND, vm_bind, B, a.flags = 0);
	REJECT(EINVAL, VM_BIND, vm_bind, B, a.flags = 4);
	REJECT(EINVAL, VM_BIND, vm_bind, B, a.offset = 8);
	REJECT(EINVAL, VM_BIND, vm_bind, B, a.offset = 8192);
	REJECT(EINVAL, VM_BIND, vm_bind, B, a.offset = UINT64_MAX - 4095);
	REJECT(EINVAL, VM_BIND, vm_bind, B, a.size = 0);
	REJECT(EINVAL, VM_BIND, vm_bind, B, a.size = 100);
	REJECT(EINVAL, VM_BIND, vm_bind, B, a.size = 12288);
	REJECT(EINVAL, VM_BIND, vm_bind, B, a.size = UINT64_MAX - 4095);
	REJECT(EINVAL, VM_BIND, vm_bind, B, a.va = 0x10008);
	REJECT(EINVAL, VM_BIND, vm_bind, B, a.va = DRM_VFENCE_VA_LIMIT);
	REJECT(EINVAL, VM_BIND, vm_bind, B, a.va = UINT64_MAX - 4095);
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_VM_BIND, &bind));
	REJECT(EEXIST, VM_BIND, vm_bind, B, (void)a);
	/* The page of a fence is in use, too, and cannot be unbound. */
	REJECT(EEXIST, VM_BIND, vm_bind, B,
	       a.va = vf_fence_mapping(self->fence)->current_va & ~UINT64_C(4095));
#define N { .op = DRM_VFENCE_VM_UNMAP, .va = 0x10000 }
	REJECT(EINVAL, VM_BIND, vm_bind, N, a.op = 2);
	REJECT(EINVAL, VM_BIND, vm_bind, N, a.pad = 1);
	REJECT(EINVAL, VM_BIND, vm_bind, N, a.handle = self->bo);
	REJECT(EINVAL, VM_BIND, vm_bind, N, a.flags = DRM_VFENCE_VM_READ);
	REJECT(EINVAL, VM_BIND, vm_bind, N, a.offset = 4096);
	REJECT(EINVAL, VM_BIND, vm_bind, N, a.size = 4096);
	REJECT(ENOENT, VM_BIND, vm_bind, N,
	       a.va = vf_fence_mapping(self->fence)->current_va & ~UINT64_C(4095));
	REJECT(ENOENT, VM_BIND, vm_bind, N, a.va = 0x20000);
	REJECT(EINVAL, VM_BIND, vm_bind, N, a.va = 0x10008);
	REJECT(EINVAL, VM_BIND, vm_bind, N, a.va = UINT64_MAX - 4095);
}

TEST_F(reject, vm_bind_limit)
{
	struct drm_vfence_vm_bind bind = { .handle = self->bo, .flags = 1, .size = 4096 };
	int ret;

	do {
		bind.va = 0;
		ret = raw(self->fd, DRM_IOCTL_VFENCE_VM_BIND, &bind);
	} while (!ret);
	EXPECT_EQ(-ENOSPC, ret);
}

/* Return: the memory of all files without a disk, in KiB. */
static unsigned long shared_memory(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "Shmem: %lu kB", &kib);
	if (f)
		fclose(f);
	return kib;
}

TEST_F(reject, a_refused_bind_keeps_no_memory)
{
	const uint64_t size = 1 << 20;
	struct drm_vfence_bo_create bo = { .size = size };
	struct drm_vfence_vm_bind bind = B;
	unsigned long before;
	unsigned int i;

	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_VM_BIND, &bind));
	before = shared_memory();
	for (i = 0; i < 64; i++) {
		ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_BO_CREATE, &bo));
		REJECT(EEXIST, VM_BIND, vm_bind, B, (a.handle = bo.handle, a.size = size));
		ASSERT_EQ(0, drmCloseBufferHandle(self->fd, bo.handle));
	}
	EXPECT_GT(before + (64 << 10) / 2, shared_memory());
}

TEST_F(reject, WDDM_38_fence_create)
{
	const uint32_t only_on_destroy = DRM_VFENCE_FENCE_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY;
	unsigned int i;

#define F { .device = vf_device_handle(self->device) }
	REJECT(ENOENT, FENCE_CREATE, fence_create, F, a.device = BAD);
	REJECT(EINVAL, FENCE_CREATE, fence_create, F, a.pad = 1);
	REJECT(EINVAL, FENCE_CREATE, fence_create, F,
	       (a.type = DRM_VFENCE_FENCE_INTRA_GPU, a.initial_value = 1));
	REJECT(EINVAL, FENCE_CREATE, fence_create, F, a.engine_affinity = 2);
	REJECT(EINVAL, FENCE_CREATE, fence_create, F, a.engine_affinity = UINT32_MAX);
	REJECT(EINVAL, FENCE_CREATE, fence_create, F, a.flags = 2);
	for (i = 0; i < 2; i++) {
		REJECT(EINVAL, FENCE_CREATE, fence_create, F,
		       (a.type = i, a.flags = DRM_VFENCE_FENCE_NO_GPU_ACCESS));
		REJECT(EINVAL, FENCE_CREATE, fence_create, F,
		       (a.type = i, a.flags = DRM_VFENCE_FENCE_TOP_OF_PIPELINE));
		REJECT(EINVAL, FENCE_CREATE, fence_create, F,
		       (a.type = i, a.flags = only_on_destroy));
	}
	REJECT(EINVAL, FENCE_CREATE, fence_create, F, a.flags = DRM_VFENCE_FENCE_NO_SIGNAL |
							      DRM_VFENCE_FENCE_NO_WAIT);
	REJECT(EINVAL, FENCE_CREATE, fence_create, F, a.flags = DRM_VFENCE_FENCE_NO_SIGNAL |
							      DRM_VFENCE_FENCE_CROSS_ADAPTER);
	REJECT(EINVAL, FENCE_CREATE, fence_create, F,
	       (a.flags = 3, a.type = DRM_VFENCE_FENCE_INTRA_GPU));
	REJECT(EINVAL, FENCE_CREATE, fence_create, F, a.flags = 1u << 31);
	REJECT(EINVAL, FENCE_CREATE, fence_create, F, a.type = 3);
	REJECT(EINVAL, FENCE_CREATE, fence_create, F, a.type = UINT32_MAX);
	REJECT_DESTROY(ENOENT, FENCE, BAD);
}

TEST_F_TIMEOUT(reject, fence_limit, 300)
{
	struct drm_vfence_fence_create create = { .device = vf_device_handle(self->device) };
	unsigned int n = 0;
	int ret;

	do {
		ret = raw(self->fd, DRM_IOCTL_VFENCE_FENCE_CREATE, &create);
		n++;
	} while (!ret);
	EXPECT_EQ(-ENOSPC, ret);
	/* The fixture has two fences, and its two queues have one each. */
	EXPECT_EQ(65536 - 4 + 1, n);
}

TEST_F(reject, WDDM_38_fence_share)
{
	int fd = vf_fence_export(self->shareable), pipes[2];
#define O { .device = vf_device_handle(self->device), .fd = fd }

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pipe(pipes));
#define X { .handle = vf_fence_handle(self->shareable), .flags = DRM_VFENCE_RIGHT_READ }
	REJECT(ENOENT, FENCE_EXPORT, fence_export, X, a.handle = BAD);
	REJECT(EPERM, FENCE_EXPORT, fence_export, X, a.handle = vf_fence_handle(self->fence));
	REJECT(EINVAL, FENCE_EXPORT, fence_export, X, a.flags = 0);
	REJECT(EINVAL, FENCE_EXPORT, fence_export, X, a.flags |= DRM_VFENCE_EXPORT_SAME_RIGHTS);
	REJECT(EINVAL, FENCE_EXPORT, fence_export, X, a.flags |= 16);
	REJECT(EINVAL, FENCE_EXPORT, fence_export, X, a.pad = 1);
	REJECT(ENOENT, FENCE_OPEN, fence_open, O, a.device = BAD);
	REJECT(EINVAL, FENCE_OPEN, fence_open, O, a.flags = 1);
	/* Flags of monitored fences are not valid for a native one. */
	REJECT(EINVAL, FENCE_OPEN, fence_open, O, a.flags = DRM_VFENCE_FENCE_NO_SIGNAL);
	REJECT(EINVAL, FENCE_OPEN, fence_open, O, a.flags = DRM_VFENCE_FENCE_NO_WAIT);
	REJECT(EINVAL, FENCE_OPEN, fence_open, O, a.pad = 1);
	REJECT(EINVAL, FENCE_OPEN, fence_open, O, a.engine_affinity = 2);
	REJECT(EBADF, FENCE_OPEN, fence_open, O, a.fd = -1);
	REJECT(EBADF, FENCE_OPEN, fence_open, O, a.fd = 1000);
	REJECT(EINVAL, FENCE_OPEN, fence_open, O, a.fd = self->fd);
	REJECT(EINVAL, FENCE_OPEN, fence_open, O, a.fd = pipes[0]);
	close(pipes[0]);
	close(pipes[1]);
	close(fd);
}

TEST_F(reject, a_fence_of_another_adapter_cannot_be_opened)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *fence;
	int fd;

	if (vf_adapter_open(1, &adapter))
		SKIP(return, "needs a second adapter (adapters=2)");
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_fence_create(device, DRM_VFENCE_FENCE_SHAREABLE, 0, &fence));
	fd = vf_fence_export(fence);
	REJECT(EINVAL, FENCE_OPEN, fence_open, O, a.fd = fd);
	close(fd);
	vf_fence_destroy(fence);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

#define POINTS DRM_VFENCE_OBJ_ARRAY(1, &self->point)

/* The interrupt descriptors of x86_64: mapped there by every kernel, and not for clients. */
#define KERNEL_ADDRESS	UINT64_C(0xfffffe0000000000)

TEST_F(reject, fence_signal)
{
	struct drm_vfence_fence_point two[2] = { self->point, self->point };
#define S { .points = POINTS }

	REJECT(EINVAL, FENCE_SIGNAL, fence_signal, S, a.flags = 2);
	REJECT(EINVAL, FENCE_SIGNAL, fence_signal, S, a.pad = 1);
	REJECT(EINVAL, FENCE_SIGNAL, fence_signal, S, a.points.count = 0);
	REJECT(EINVAL, FENCE_SIGNAL, fence_signal, S, a.points.count = 1025);
	REJECT(EINVAL, FENCE_SIGNAL, fence_signal, S, a.points.count = UINT32_MAX);
	REJECT(EINVAL, FENCE_SIGNAL, fence_signal, S, a.points.stride = 0);
	REJECT(EINVAL, FENCE_SIGNAL, fence_signal, S, a.points.stride = 20);
	REJECT(EINVAL, FENCE_SIGNAL, fence_signal, S, a.points.stride = 8192);
	REJECT(EFAULT, FENCE_SIGNAL, fence_signal, S, a.points.array = 8);
	REJECT(EFAULT, FENCE_SIGNAL, fence_signal, S, a.points.array = KERNEL_ADDRESS);
	/* The driver copies one point in another way than a few, and those in another than many. */
	REJECT(EFAULT, FENCE_SIGNAL, fence_signal, S, (a.points.array = 8, a.points.count = 2));
	REJECT(EFAULT, FENCE_SIGNAL, fence_signal, S,
	       (a.points.array = KERNEL_ADDRESS, a.points.count = 2));
	REJECT(EFAULT, FENCE_SIGNAL, fence_signal, S,
	       (a.points.array = KERNEL_ADDRESS, a.points.count = 5));
	REJECT(EFAULT, FENCE_SIGNAL, fence_signal, S,
	       (a.points.array = KERNEL_ADDRESS, a.points.stride = 24));
	/* An invalid second point keeps the driver from signaling the first. */
	two[1].fence = BAD;
	REJECT(ENOENT, FENCE_SIGNAL, fence_signal, { .points = DRM_VFENCE_OBJ_ARRAY(2, two) },
	       (void)a);
	two[1] = self->point;
	two[1].flags = 1;
	REJECT(EINVAL, FENCE_SIGNAL, fence_signal, { .points = DRM_VFENCE_OBJ_ARRAY(2, two) },
	       (void)a);
	EXPECT_EQ(0, vf_fence_current(self->fence));
	/* Longer elements are valid while their tail is zero. */
	{
		struct { struct drm_vfence_fence_point p; uint64_t tail; } longer = {
			.p = self->point, .tail = 1,
		};

		REJECT(E2BIG, FENCE_SIGNAL, fence_signal,
		       { .points = DRM_VFENCE_OBJ_ARRAY(1, &longer) }, (void)a);
		longer.tail = 0;
		EXPECT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_FENCE_SIGNAL,
				 &(struct drm_vfence_fence_signal){
					.points = DRM_VFENCE_OBJ_ARRAY(1, &longer) }));
		EXPECT_EQ(1, vf_fence_current(self->fence));
	}
}

TEST_F(reject, wait)
{
	struct drm_vfence_fence_point bad = { .fence = BAD };
#define W { .points = POINTS }
	REJECT(EINVAL, WAIT, wait, W, a.flags = 4);
	REJECT(EINVAL, WAIT, wait, W, a.pad = 1);
	REJECT(EINVAL, WAIT, wait, W, a.timeout_ns = -1);
	REJECT(EINVAL, WAIT, wait, W, a.timeout_ns = INT64_MIN);
	REJECT(EINVAL, WAIT, wait, W, a.points.count = 0);
	REJECT(EINVAL, WAIT, wait, W, a.points.count = 1025);
	REJECT(EINVAL, WAIT, wait, W, a.points.stride = 0);
	REJECT(EFAULT, WAIT, wait, W, a.points.array = 8);
	REJECT(ENOENT, WAIT, wait, W, a.points.array = (uintptr_t)&bad);
	/* Invalid signals: the call does nothing. It does not send the valid ones either. */
	REJECT(ENOENT, WAIT, wait, W, a.signals =
	       ((struct drm_vfence_obj_array)DRM_VFENCE_OBJ_ARRAY(1, &bad)));
	REJECT(EINVAL, WAIT, wait, W, a.signals =
	       ((struct drm_vfence_obj_array){ .stride = 16, .count = 1025 }));
	REJECT(ENOENT, WAIT, wait, { .signals = POINTS }, a.points =
	       ((struct drm_vfence_obj_array)DRM_VFENCE_OBJ_ARRAY(1, &bad)));
	EXPECT_EQ(0, vf_fence_current(self->fence));
	REJECT(ETIME, WAIT, wait, W, a.timeout_ns = 0);
	REJECT(ETIME, WAIT, wait, W, a.timeout_ns = 1);
}

TEST_F(reject, event)
{
	struct drm_vfence_fence_point bad = { .fence = BAD };
	uint64_t none;
#define E { .eventfd = self->efd, .points = POINTS }
	REJECT(EINVAL, EVENT_ARM, event_arm, E, a.flags = 4);
	REJECT(EINVAL, EVENT_ARM, event_arm, E, a.pad = 1);
	REJECT(EBADF, EVENT_ARM, event_arm, E, a.eventfd = -1);
	REJECT(EINVAL, EVENT_ARM, event_arm, E, a.eventfd = self->fd);
	REJECT(EINVAL, EVENT_ARM, event_arm, E, a.points.count = 0);
	REJECT(ENOENT, EVENT_ARM, event_arm, E, a.points.array = (uintptr_t)&bad);
	REJECT(ENOENT, EVENT_ARM, event_arm, E, a.signals =
	       ((struct drm_vfence_obj_array)DRM_VFENCE_OBJ_ARRAY(1, &bad)));
	REJECT_DESTROY(ENOENT, EVENT, BAD);
	REJECT_DESTROY(ENOENT, EVENT, 0);
	EXPECT_EQ(-1, read(self->efd, &none, 8));
	EXPECT_EQ(NOT_MONITORED, monitored(self->fence));
}

TEST_F(reject, event_limit)
{
	struct vf_point point = { self->fence, 1 };
	unsigned int n = 0;
	int ret;

	do {
		ret = vf_event_arm(self->adapter, &point, 1, 0, self->efd, NULL);
		n++;
	} while (!ret);
	EXPECT_EQ(-ENOSPC, ret);
	EXPECT_EQ(4097, n);
	/* The call that found no room has signaled nothing. */
	{
		struct drm_vfence_fence_point other = {
			.fence = vf_fence_handle(self->shareable), .value = 9,
		};

		REJECT(ENOSPC, EVENT_ARM, event_arm, E, a.signals =
		       ((struct drm_vfence_obj_array)DRM_VFENCE_OBJ_ARRAY(1, &other)));
		EXPECT_EQ(0, vf_fence_current(self->shareable));
	}
}

TEST_F_TIMEOUT(reject, event_point_limit, 120)
{
	struct vf_point points[1024];
	unsigned int n = 0, i;
	int ret;

	for (i = 0; i < 1024; i++)
		points[i] = (struct vf_point){ self->fence, 1 };
	do {
		ret = vf_event_arm(self->adapter, points, 1024, 0, self->efd, NULL);
		n++;
	} while (!ret);
	EXPECT_EQ(-ENOSPC, ret);
	EXPECT_EQ(65536 / 1024 + 1, n);
	/* One signal completes all of them. */
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	EXPECT_TRUE(fired(self->efd));
	EXPECT_EQ(NOT_MONITORED, monitored(self->fence));
}

TEST_F(reject, signals_stay_in_the_argument)
{
	struct drm_vfence_fence_point signal = {
		.fence = vf_fence_handle(self->shareable), .value = 4,
	};
	struct drm_vfence_wait args = {
		.points = POINTS, .signals = DRM_VFENCE_OBJ_ARRAY(1, &signal),
	};

	EXPECT_EQ(-ETIME, raw(self->fd, DRM_IOCTL_VFENCE_WAIT, &args));
	EXPECT_EQ(1, args.signals.count);
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	EXPECT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_WAIT, &args));
	EXPECT_EQ(1, args.signals.count);
	EXPECT_EQ(4, vf_fence_current(self->shareable));
}

TEST_F(reject, queue)
{
	struct drm_vfence_queue_abort abort = { .queue = BAD };
#define U { .context = self->context, .flags = DRM_VFENCE_QUEUE_USER_MODE }
	REJECT(ENOENT, QUEUE_CREATE, queue_create, U, a.context = BAD);
	REJECT(EINVAL, QUEUE_CREATE, queue_create, U, a.flags |= 4);
	REJECT(EINVAL, QUEUE_CREATE, queue_create, U, a.flags |= 1u << 31);
	/* The kernel's own node accepts queues of neither kind. */
	REJECT(EOPNOTSUPP, QUEUE_CREATE, queue_create, U, a.context = self->paging);
	REJECT(EOPNOTSUPP, QUEUE_CREATE, queue_create, U,
	       (a.flags = 0, a.context = self->paging));
	REJECT_DESTROY(ENOENT, QUEUE, BAD);
	REJECT_DESTROY(EBUSY, QUEUE, vf_queue_handle(self->gfx));
	EXPECT_EQ(-ENOENT, raw(self->fd, DRM_IOCTL_VFENCE_QUEUE_ABORT, &abort));
	REJECT(EINVAL, QUEUE_ABORT, queue_abort, { .queue = vf_queue_handle(self->gfx) },
	       a.flags = 1);
	EXPECT_EQ(DRM_VFENCE_QUEUE_IDLE, queue_state(self->gfx));
}

TEST_F(reject, doorbell)
{
	struct drm_vfence_bo_create bo = { .size = 4096 };
	struct drm_vfence_queue_create queue = U;
	struct drm_vfence_doorbell_create create;
#define D { .queue = queue.handle, .ring = self->bo, .control = bo.handle, .ring_size = 8192 }

	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_BO_CREATE, &bo));
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUEUE_CREATE, &queue));
	create = (struct drm_vfence_doorbell_create)D;
	REJECT(ENOENT, DOORBELL_CREATE, doorbell_create, D, a.queue = BAD);
	REJECT(ENOENT, DOORBELL_CREATE, doorbell_create, D, a.ring = BAD);
	REJECT(ENOENT, DOORBELL_CREATE, doorbell_create, D, a.control = BAD);
	REJECT(EINVAL, DOORBELL_CREATE, doorbell_create, D, a.control = self->bo);
	REJECT(EINVAL, DOORBELL_CREATE, doorbell_create, D, a.flags = 2);
	REJECT(EINVAL, DOORBELL_CREATE, doorbell_create, D, a.pad = 1);
	REJECT(EINVAL, DOORBELL_CREATE, doorbell_create, D, a.ring_size = 0);
	REJECT(EINVAL, DOORBELL_CREATE, doorbell_create, D, a.ring_size = 2048);
	REJECT(EINVAL, DOORBELL_CREATE, doorbell_create, D, a.ring_size = 6000);
	REJECT(EINVAL, DOORBELL_CREATE, doorbell_create, D, a.ring_size = 16384);
	REJECT(EINVAL, DOORBELL_CREATE, doorbell_create, D, a.ring_size = 1u << 31);
	REJECT(ENOENT, DOORBELL_CONNECT, doorbell_connect, {}, a.queue = queue.handle);
	REJECT(ENOENT, DOORBELL_CONNECT, doorbell_connect, {}, a.queue = BAD);
	REJECT(ENOENT, NOTIFY_WORK_SUBMISSION, notify_work_submission, {},
	       a.queue = queue.handle);
	REJECT_DESTROY(ENOENT, DOORBELL, queue.handle);
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_DOORBELL_CREATE, &create));
	REJECT(EEXIST, DOORBELL_CREATE, doorbell_create, D, (void)a);
	REJECT(EINVAL, DOORBELL_CONNECT, doorbell_connect, { .queue = queue.handle },
	       a.flags = 2);
	REJECT(EINVAL, NOTIFY_WORK_SUBMISSION, notify_work_submission,
	       { .queue = queue.handle }, a.flags = 1);
	REJECT(ENOENT, NOTIFY_WORK_SUBMISSION, notify_work_submission, {}, a.queue = BAD);
	REJECT_DESTROY(ENOENT, DOORBELL, BAD);
}

TEST_F(reject, rings_may_have_the_smallest_and_the_largest_size)
{
	static const uint32_t sizes[] = { DRM_VFENCE_RING_MIN, DRM_VFENCE_RING_MAX };
	struct vf_queue *queue;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, sizes[i], &queue));
		ASSERT_EQ(0, vf_queue_submit(queue));
		EXPECT_TRUE(drained(queue));
		vf_queue_destroy(queue);
	}
}

/* Create a wait set of four entries whose first one waits for @value. */
static uint32_t set_of(int fd, struct vf_fence *fence, uint64_t value)
{
	struct drm_vfence_wait_set_create create = { .entries = 4 };
	struct drm_vfence_wait_set_update update = { .fence = vf_fence_handle(fence),
						     .value = value };
	struct drm_vfence_wait_set_wait wait = { .updates = DRM_VFENCE_OBJ_ARRAY(1, &update) };

	if (raw(fd, DRM_IOCTL_VFENCE_WAIT_SET_CREATE, &create))
		return 0;
	wait.set = create.handle;
	return raw(fd, DRM_IOCTL_VFENCE_WAIT_SET_WAIT, &wait) ? 0 : create.handle;
}

TEST_F(reject, wait_set)
{
	struct drm_vfence_wait_set_update u[2] = {
		{ .index = 1, .fence = vf_fence_handle(self->fence), .value = 9 },
		{ .index = 3, .fence = vf_fence_handle(self->fence), .value = 9 },
	};
	struct drm_vfence_fence_point s = { .fence = vf_fence_handle(self->fence), .value = 5 };
	struct drm_vfence_wait_set_ready r[4];
	uint32_t set = set_of(self->fd, self->fence, 5);
	struct vf_fence_desc desc = { .type = DRM_VFENCE_FENCE_INTRA_GPU };
	struct drm_vfence_wait_set_wait ready = { .set = set,
						  .ready = DRM_VFENCE_OBJ_ARRAY(4, r) };
	struct vf_fence *intra, *no_wait;

	ASSERT_NE(0, set);
	ASSERT_EQ(0, vf_fence_create_desc(self->device, &desc, &intra));
	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_NO_WAIT, 0, &no_wait));
	REJECT(EINVAL, WAIT_SET_CREATE, wait_set_create, { .entries = 1 }, a.flags = 1);
	REJECT(EINVAL, WAIT_SET_CREATE, wait_set_create, { .entries = 1 }, a.pad = 1);
	REJECT(EINVAL, WAIT_SET_CREATE, wait_set_create, { 0 }, a.entries = 0);
	REJECT(EINVAL, WAIT_SET_CREATE, wait_set_create, { 0 }, a.entries = 4097);
	REJECT_DESTROY(ENOENT, WAIT_SET, BAD);
#define SET_WAIT { .set = set, .updates = DRM_VFENCE_OBJ_ARRAY(2, u), \
	    .signals = DRM_VFENCE_OBJ_ARRAY(1, &s), .ready = DRM_VFENCE_OBJ_ARRAY(4, r) }
#define REJECT_WAIT(error, change) REJECT(error, WAIT_SET_WAIT, wait_set_wait, SET_WAIT, change)
	REJECT_WAIT(ENOENT, a.set = BAD);
	REJECT_WAIT(EINVAL, a.flags = DRM_VFENCE_WAIT_ANY);
	REJECT_WAIT(EINVAL, a.flags = 4);
	REJECT_WAIT(EINVAL, a.timeout_ns = -1);
	REJECT_WAIT(EINVAL, a.performed = 2);
	REJECT_WAIT(EINVAL, a.ready.count = 1025);
	REJECT_WAIT(EINVAL, a.ready.stride = 0);
	REJECT_WAIT(EINVAL, a.ready.stride = 12);
	REJECT_WAIT(EINVAL, a.updates.count = 1025);
	REJECT_WAIT(EINVAL, a.updates.stride = 4);
	REJECT_WAIT(EFAULT, a.updates.array = 8);
	REJECT_WAIT(EINVAL, a.signals.count = 1025);
	REJECT_WAIT(EFAULT, a.signals.array = 8);
	/* One update is wrong, and none is performed. */
	REJECT_WAIT(EINVAL, u[1].index = 4);
	u[1].index = 3;
	REJECT_WAIT(ENOENT, u[1].fence = BAD);
	REJECT_WAIT(EOPNOTSUPP, u[1].fence = vf_fence_handle(intra));
	REJECT_WAIT(EACCES, u[1].fence = vf_fence_handle(no_wait));
	u[1].fence = u[0].fence;
	REJECT_WAIT(ENOENT, s.fence = BAD);
	EXPECT_EQ(1, waiters(self->fence));
	EXPECT_EQ(0, vf_fence_current(self->fence));
	/* An entry that cannot be reported is not lost. */
	ASSERT_EQ(0, vf_fence_signal(self->fence, 5));
	REJECT_WAIT(EFAULT, (a.updates.count = 0, a.signals.count = 0, a.ready.array = 8));
	EXPECT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_WAIT_SET_WAIT, &ready));
	EXPECT_EQ(1, ready.returned);
	EXPECT_EQ(0, r[0].index);
	vf_fence_destroy(no_wait);
	vf_fence_destroy(intra);
}

TEST_F(reject, wait_sets_beyond_the_limits)
{
	struct drm_vfence_wait_set_create full = { .entries = DRM_VFENCE_MAX_WAIT_SET_ENTRIES };
	unsigned int i;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_WAIT_SET_CREATE, &full));
	EXPECT_EQ(-ENOSPC, raw(self->fd, DRM_IOCTL_VFENCE_WAIT_SET_CREATE, &full));
	destroy_object(self->fd, DRM_VFENCE_OBJECT_WAIT_SET, full.handle);
	full.entries = 1;
	for (i = 1; i < 64; i++)
		ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_WAIT_SET_CREATE, &full));
	EXPECT_EQ(-ENOSPC, raw(self->fd, DRM_IOCTL_VFENCE_WAIT_SET_CREATE, &full));
}

TEST_F(reject, log_read)
{
	struct drm_vfence_log_entry e[2];
#define L { .queue = vf_queue_handle(self->gfx), .log = DRM_VFENCE_LOG_WAITS, \
	    .entries = DRM_VFENCE_OBJ_ARRAY(2, e) }
	REJECT(ENOENT, LOG_READ, log_read, L, a.queue = BAD);
	REJECT(EINVAL, LOG_READ, log_read, L, a.log = 0);
	REJECT(EINVAL, LOG_READ, log_read, L, a.log = 3);
	REJECT(EINVAL, LOG_READ, log_read, L, a.pad = 1);
	REJECT(EINVAL, LOG_READ, log_read, L, a.entries.count = 1025);
	REJECT(EINVAL, LOG_READ, log_read, L, a.entries.stride = 0);
	REJECT(EINVAL, LOG_READ, log_read, L, a.entries.stride = 52);
	vf_cmd_wait(self->gfx, self->fence, 0);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	REJECT(EFAULT, LOG_READ, log_read, L, a.entries.array = 8);
}

TEST_F(reject, unknown_ioctls)
{
	char arg[256] = { 0 };

	EXPECT_EQ(-EINVAL, raw(self->fd, DRM_IOWR(DRM_COMMAND_BASE + DRM_VFENCE_WAIT_SET_WAIT + 1,
					     char[64]), arg));
	EXPECT_EQ(-EINVAL, raw(self->fd, DRM_IOWR(DRM_COMMAND_BASE + 0x5f, char[64]), arg));
}

TEST_HARNESS_MAIN
