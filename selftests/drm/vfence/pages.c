// SPDX-License-Identifier: GPL-2.0-only
/* Kernel-owned pages: all ways in which a client may try to get more access than it has. */

#include <setjmp.h>
#include <sys/ptrace.h>

#include "vfence_test.h"

FIXTURE(pages) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
	uint64_t offset;
	volatile uint64_t *page;
};

FIXTURE_SETUP(pages)
{
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 5, &self->fence));
	self->offset = vf_fence_mapping(self->fence)->current_offset;
	self->page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->fd, self->offset);
	ASSERT_NE(MAP_FAILED, (void *)self->page);
}

FIXTURE_TEARDOWN(pages)
{
	munmap((void *)self->page, 4096);
	vf_fence_destroy(self->fence);
	VFENCE_TEARDOWN();
}

TEST_F(pages, WDDM_3_current_value_cannot_be_written_through_the_mapping)
{
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
				   self->offset));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, self->fd, self->offset));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect((void *)self->page, 4096, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect((void *)self->page, 4096, PROT_READ | PROT_EXEC));
	EXPECT_EQ(5, vf_fence_current(self->fence));
}

static sigjmp_buf jump;

static void on_segv(int signo)
{
	siglongjmp(jump, signo);
}

TEST_F(pages, WDDM_3_a_store_faults)
{
	struct sigaction action = { .sa_handler = on_segv }, old;
	volatile int caught;

	ASSERT_EQ(0, sigaction(SIGSEGV, &action, &old));
	caught = sigsetjmp(jump, 1);
	if (!caught)
		((volatile uint64_t *)self->page)[0] = 99;
	sigaction(SIGSEGV, &old, NULL);
	EXPECT_EQ(SIGSEGV, caught);
	EXPECT_EQ(5, vf_fence_current(self->fence));
}

/* Kernels without CONFIG_HAVE_IOREMAP_PROT, as one that is a process, show no such page to debuggers. */
#define NEEDS_DEBUGGER()							\
	do {									\
		if (calculates_in_no_time())						\
			SKIP(return, "this kernel shows no such page to debuggers");	\
	} while (0)

/* Map the page of a fence's value; the value stays mapped. Return: the value, or NULL. */
static volatile uint64_t *map_value(struct vf_adapter *adapter, struct vf_fence *fence)
{
	const struct drm_vfence_fence_mapping *mapping = vf_fence_mapping(fence);
	char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, vf_adapter_fd(adapter),
			  mapping->current_offset);

	return page == MAP_FAILED ? NULL : (void *)(page + mapping->current_page_offset);
}

static ssize_t debugger_reads(volatile void *from, void *to, size_t size)
{
	int mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	ssize_t n = pread(mem, to, size, (off_t)(uintptr_t)from);

	close(mem);
	return n;
}

TEST_F(pages, WDDM_3_a_debugger_does_not_write_it)
{
	uint64_t value = 99;
	int mem = open("/proc/self/mem", O_RDWR);

	ASSERT_LE(0, mem);
	EXPECT_EQ(-1, pwrite(mem, &value, 8, (off_t)(uintptr_t)self->page));
	close(mem);
	EXPECT_EQ(5, vf_fence_current(self->fence));
}

TEST_F(pages, a_debugger_reads_what_the_client_reads)
{
	uint64_t seen[512], behind[2] = {};
	volatile uint64_t *two;
	unsigned int i;

	NEEDS_DEBUGGER();
	ASSERT_EQ(sizeof(seen), debugger_reads(self->page, seen, sizeof(seen)));
	for (i = 0; i < 512; i++)
		EXPECT_EQ(self->page[i], seen[i]);
	/* Each value on its own, and the fence has one that is not 0. */
	for (i = 0; i < 512; i++) {
		ASSERT_EQ(8, debugger_reads(&self->page[i], &seen[i], 8));
		EXPECT_EQ(self->page[i], seen[i]);
	}
	i = vf_fence_mapping(self->fence)->current_page_offset / 8;
	EXPECT_EQ(5, seen[i]);

	/* Across the end of the page, into memory of the program. */
	two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)two);
	two[512] = POISON;
	ASSERT_EQ((void *)two, mmap((void *)two, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, self->fd,
				    self->offset));
	ASSERT_EQ(16, debugger_reads(&two[511], behind, 16));
	EXPECT_EQ(two[511], behind[0]);
	EXPECT_EQ(POISON, behind[1]);
	munmap((void *)two, 8192);
}

/* A child that maps a fence of its own, says where, and stops. */
static void be_debugged(int where)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *fence;
	volatile uint64_t *address;

	if (vf_adapter_open(0, &adapter) || vf_device_create(adapter, &device) ||
	    vf_fence_create(device, 0, 7, &fence))
		_exit(1);
	address = map_value(adapter, fence);
	if (write(where, &address, sizeof(address)) != sizeof(address) ||
	    ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP))
		_exit(2);
	_exit(*address == 7 ? 0 : 3);
}

TEST_F(pages, a_debugger_peeks_and_does_not_poke)
{
	int where[2], status;
	void *address;
	pid_t child;

	NEEDS_DEBUGGER();
	ASSERT_EQ(0, pipe(where));
	child = fork();
	if (!child)
		be_debugged(where[1]);
	close(where[1]);
	ASSERT_EQ(sizeof(address), read(where[0], &address, sizeof(address)));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_TRUE(WIFSTOPPED(status));
	errno = 0;
	EXPECT_EQ(7, ptrace(PTRACE_PEEKDATA, child, address, NULL));
	EXPECT_EQ(0, errno);
	EXPECT_EQ(-1, ptrace(PTRACE_POKEDATA, child, address, (void *)9));
	EXPECT_EQ(7, ptrace(PTRACE_PEEKDATA, child, address, NULL));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, child, NULL, NULL));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFEXITED(status) && !WEXITSTATUS(status));
	close(where[0]);
}

TEST_F(pages, private_mappings_are_refused)
{
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, self->fd, self->offset));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, self->fd,
				   self->offset));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(pages, a_file_for_reading_only_maps_what_is_read_only)
{
	struct drm_vfence_device_create device = { 0 };
	struct drm_vfence_fence_create fence = { .initial_value = 7 };
	const uint64_t *page;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, raw(fd, DRM_IOCTL_VFENCE_DEVICE_CREATE, &device));
	fence.device = device.handle;
	ASSERT_EQ(0, raw(fd, DRM_IOCTL_VFENCE_FENCE_CREATE, &fence));
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, (off_t)fence.mapping.current_offset);
	ASSERT_NE(MAP_FAILED, page);
	EXPECT_EQ(7, page[fence.mapping.current_page_offset / sizeof(*page)]);
	EXPECT_EQ(-1, mprotect((void *)page, 4096, PROT_READ | PROT_WRITE));
	munmap((void *)page, 4096);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd,
				   (off_t)fence.mapping.current_offset));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				   (off_t)fence.mapping.current_offset));
	close(fd);
}

TEST_F(pages, larger_mappings_are_refused)
{
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 8192, PROT_READ, MAP_SHARED, self->fd, self->offset));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mremap((void *)self->page, 4096, 8192, MREMAP_MAYMOVE));
}

TEST_F(pages, mremap_moves_and_still_reads)
{
	void *to = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile uint64_t *moved;
	size_t slot = vf_fence_mapping(self->fence)->current_page_offset / 8;

	ASSERT_EQ(0, vf_fence_signal(self->fence, 6));
	moved = mremap((void *)self->page, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	ASSERT_EQ(to, (void *)moved);
	self->page = moved;
	EXPECT_EQ(6, moved[slot]);
	ASSERT_EQ(0, vf_fence_signal(self->fence, 7));
	EXPECT_EQ(7, moved[slot]);
}

TEST_F(pages, a_child_does_not_inherit_the_mapping)
{
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		_exit((int)self->page[0] & 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGSEGV, WTERMSIG(status));
}

TEST_F(pages, WDDM_4_monitored_value_is_in_no_page_of_the_client)
{
	const uint64_t pattern = UINT64_C(0x123456789abcdef0);
	const struct drm_vfence_fence_mapping *m = vf_fence_mapping(self->fence);
	int efd = eventfd(0, EFD_CLOEXEC);
	struct vf_point point = { self->fence, pattern + 1 };
	unsigned int i;
	uint64_t off;

	ASSERT_EQ(0, vf_event_arm(self->adapter, &point, 1, 0, efd, NULL));
	ASSERT_EQ(pattern, monitored(self->fence));
	for (i = 0; i < 512; i++)
		EXPECT_NE(pattern, self->page[i]);
	/* Neither neighbouring offsets nor its GPU address map the page. */
	for (off = self->offset - 65536; off <= self->offset + 65536; off += 4096) {
		volatile uint64_t *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->fd, off);

		if (p == MAP_FAILED)
			continue;
		for (i = 0; i < 512; i++)
			EXPECT_NE(pattern, p[i]);
		munmap((void *)p, 4096);
	}
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->fd,
				   (off_t)(m->monitored_va & ~UINT64_C(4095))));
	close(efd);
}

TEST_F(pages, gem_calls_do_not_know_kernel_owned_pages)
{
	uint32_t handle;
	int fd;

	/* Only the buffers of the two queues have handles: two rings and two controls. */
	for (handle = 5; handle < 64; handle++) {
		struct drm_gem_flink flink = { .handle = handle };

		EXPECT_EQ(-1, drmPrimeHandleToFD(self->fd, handle, O_CLOEXEC, &fd));
		EXPECT_EQ(-1, drmCloseBufferHandle(self->fd, handle));
		EXPECT_NE(0, raw(self->fd, DRM_IOCTL_GEM_FLINK, &flink));
	}
}

struct doorbell_page {
	struct drm_vfence_doorbell_create args;
	struct drm_vfence_ring_control *control;
	volatile uint64_t *page;
	char *ring;
};

static int own_doorbell(int fd, struct vf_queue *queue, struct doorbell_page *d)
{
	struct drm_vfence_bo_create ring = { .size = 4096 }, control = { .size = 4096 };
	struct drm_vfence_doorbell_connect connect = { .queue = vf_queue_handle(queue) };
	int ret;

	ret = destroy_object(fd, DRM_VFENCE_OBJECT_DOORBELL, vf_queue_handle(queue));
	ret = ret ? ret : raw(fd, DRM_IOCTL_VFENCE_BO_CREATE, &ring);
	ret = ret ? ret : raw(fd, DRM_IOCTL_VFENCE_BO_CREATE, &control);
	d->args = (struct drm_vfence_doorbell_create){
		.queue = vf_queue_handle(queue), .ring = ring.handle,
		.control = control.handle, .ring_size = 4096,
	};
	ret = ret ? ret : raw(fd, DRM_IOCTL_VFENCE_DOORBELL_CREATE, &d->args);
	ret = ret ? ret : raw(fd, DRM_IOCTL_VFENCE_DOORBELL_CONNECT, &connect);
	if (ret)
		return ret;
	d->control = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			  control.mmap_offset);
	d->page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       d->args.doorbell_offset);
	d->ring = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, ring.mmap_offset);
	return d->control == MAP_FAILED || d->page == MAP_FAILED || d->ring == MAP_FAILED ?
	       -errno : 0;
}

static void publish_nop(struct doorbell_page *d)
{
	uint64_t at = d->control->write_ptr;

	memcpy(d->ring + at % 4096, &(struct drm_vfence_packet_header){ .length = 8 }, 8);
	__atomic_store_n(&d->control->write_ptr, at + 8, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

TEST_F(pages, a_debugger_does_not_ring_a_doorbell)
{
	struct vf_counters before, after;
	struct doorbell_page d;
	uint64_t word = POISON;
	int mem;

	NEEDS_DEBUGGER();
	ASSERT_EQ(0, own_doorbell(self->fd, self->gfx, &d));
	publish_nop(&d);
	before = counters(self->adapter);
	EXPECT_EQ(8, debugger_reads(d.page, &word, 8));
	EXPECT_EQ(0, word);
	mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	EXPECT_EQ(-1, pwrite(mem, &word, 8, (off_t)(uintptr_t)d.page));
	close(mem);
	after = counters(self->adapter);
	EXPECT_EQ(before.doorbell_faults, after.doorbell_faults);
	EXPECT_EQ(0, d.control->read_ptr);
	*d.page = 1;
	EXPECT_TRUE(EVENTUALLY(d.control->read_ptr == 8));
}

#define UNPLUGGED	11

TEST(after_unplug_a_debugger_reads_a_fence_as_signaled)
{
	struct client client;
	volatile uint64_t *value;
	struct vf_fence *fence;
	uint64_t word = POISON;

	NEEDS_DEBUGGER();
	if (geteuid() || access("/sys/bus/platform/devices/vfence.11/drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	ASSERT_EQ(0, vf_adapter_open(UNPLUGGED, &client.adapter));
	ASSERT_EQ(0, vf_device_create(client.adapter, &client.device));
	ASSERT_EQ(0, vf_fence_create(client.device, 0, 5, &fence));
	value = map_value(client.adapter, fence);
	ASSERT_NE(NULL, value);
	ASSERT_EQ(8, debugger_reads(value, &word, 8));
	EXPECT_EQ(5, word);
	ASSERT_EQ(0, driver("unbind", UNPLUGGED));
	EXPECT_EQ(8, debugger_reads(value, &word, 8));
	EXPECT_EQ(UINT64_MAX, word);
	vf_fence_destroy(fence);
	vf_device_destroy(client.device);
	vf_adapter_close(client.adapter);
	EXPECT_EQ(0, driver("bind", UNPLUGGED));
}

TEST_F(pages, two_mappings_of_one_doorbell_both_ring)
{
	struct doorbell_page d;
	volatile uint64_t *second;
	unsigned int i;

	ASSERT_EQ(0, own_doorbell(self->fd, self->gfx, &d));
	second = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
		      d.args.doorbell_offset);
	ASSERT_NE(MAP_FAILED, (void *)second);
	for (i = 1; i <= 100; i++) {
		publish_nop(&d);
		if (i % 2)
			*second = 1;
		else
			*d.page = 1;
		ASSERT_TRUE(EVENTUALLY(d.control->read_ptr == 8 * i));
	}
	munmap((void *)second, 4096);
	publish_nop(&d);
	*d.page = 1;
	EXPECT_TRUE(EVENTUALLY(d.control->read_ptr == 8 * i));
}

static void *map_doorbell(int fd, const struct doorbell_page *d)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, d->args.doorbell_offset);
}

TEST_F(pages, a_doorbell_has_few_mappings)
{
	void *map[DRM_VFENCE_DOORBELL_MAPPINGS], *to;
	struct doorbell_page d;
	unsigned int i;

	ASSERT_EQ(0, own_doorbell(self->fd, self->gfx, &d));
	map[0] = (void *)d.page;
	for (i = 1; i < DRM_VFENCE_DOORBELL_MAPPINGS; i++) {
		map[i] = map_doorbell(self->fd, &d);
		ASSERT_NE(MAP_FAILED, map[i]);
	}
	EXPECT_EQ(MAP_FAILED, map_doorbell(self->fd, &d));
	EXPECT_EQ(ENOSPC, errno);
	/* What was refused takes no room, and what ends gives its room back. */
	munmap(map[1], 4096);
	map[1] = map_doorbell(self->fd, &d);
	ASSERT_NE(MAP_FAILED, map[1]);
	EXPECT_EQ(MAP_FAILED, map_doorbell(self->fd, &d));
	EXPECT_EQ(ENOSPC, errno);
	/* A mapping that has moved counts once. */
	for (i = 0; i < 2 * DRM_VFENCE_DOORBELL_MAPPINGS; i++) {
		to = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ASSERT_NE(MAP_FAILED, to);
		ASSERT_EQ(to, mremap(map[1], 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to));
		map[1] = to;
	}
	EXPECT_EQ(MAP_FAILED, map_doorbell(self->fd, &d));
	munmap(map[1], 4096);
	map[1] = map_doorbell(self->fd, &d);
	EXPECT_NE(MAP_FAILED, map[1]);
	/* Each mapping rings. */
	for (i = 0; i < DRM_VFENCE_DOORBELL_MAPPINGS; i++) {
		publish_nop(&d);
		*(volatile uint64_t *)map[i] = 1;
		EXPECT_TRUE(EVENTUALLY(d.control->read_ptr == 8 * (i + 1)));
	}
}

TEST_F(pages, what_is_refused_takes_no_room_of_a_doorbell)
{
	struct doorbell_page d;
	unsigned int i;

	ASSERT_EQ(0, own_doorbell(self->fd, self->gfx, &d));
	for (i = 0; i < 2 * DRM_VFENCE_DOORBELL_MAPPINGS; i++) {
		EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, self->fd,
					   d.args.doorbell_offset));
		EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, self->fd,
					   d.args.doorbell_offset));
		/* The mapping cannot become two by mremap(), and a child does not inherit it. */
		EXPECT_EQ(MAP_FAILED, mremap((void *)d.page, 0, 4096, MREMAP_MAYMOVE));
		EXPECT_EQ(-1, madvise((void *)d.page, 4096, MADV_DOFORK));
	}
	EXPECT_NE(MAP_FAILED, map_doorbell(self->fd, &d));
}

/* All processes that have the file have the mappings of a page together. */
TEST_F(pages, a_child_has_no_room_of_its_own_on_a_doorbell)
{
	struct doorbell_page d;
	unsigned int i;
	int status;
	pid_t pid;

	ASSERT_EQ(0, own_doorbell(self->fd, self->gfx, &d));
	for (i = 1; i < DRM_VFENCE_DOORBELL_MAPPINGS - 1; i++)
		ASSERT_NE(MAP_FAILED, map_doorbell(self->fd, &d));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(map_doorbell(self->fd, &d) == MAP_FAILED ||
		      map_doorbell(self->fd, &d) != MAP_FAILED || errno != ENOSPC);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	/* The mapping of the child has ended with it. */
	EXPECT_NE(MAP_FAILED, map_doorbell(self->fd, &d));
	EXPECT_EQ(MAP_FAILED, map_doorbell(self->fd, &d));
}

static void *map_unmap(void *arg)
{
	struct doorbell_page *d = arg;
	int fd = (int)d->args.pad;
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		volatile uint64_t *p = map_doorbell(fd, d);

		if (p == MAP_FAILED)
			return (void *)1;
		*p = i;
		munmap((void *)p, 4096);
	}
	return NULL;
}

TEST_F(pages, munmap_while_the_doorbell_is_armed)
{
	struct doorbell_page d;
	pthread_t thread[2];
	unsigned int i;
	void *ret;

	/*
	 * Rings without work make the doorbell thread zap mappings while the threads map
	 * and unmap.
	 */
	ASSERT_EQ(0, own_doorbell(self->fd, self->gfx, &d));
	d.args.pad = (uint32_t)self->fd;
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, map_unmap, &d));
	for (i = 0; i < 2; i++) {
		pthread_join(thread[i], &ret);
		EXPECT_EQ(NULL, ret);
	}
	EXPECT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_IDLE));
}

TEST_HARNESS_MAIN
