// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory is short, and whoever allocates waits in a shrinker for a dma_fence of the driver
 * (vfence_shrinker.ko), as for those of GPU drivers that give memory back once the GPU is done. A
 * dma_fence that is published must signal nevertheless: nothing on the way may allocate.
 */

#include <sys/prctl.h>

#include "vfence_test.h"

#define SHRINKER	"vfence_shrinker"
#define PARAMETERS	"/sys/module/" SHRINKER "/parameters/"
/* The disk of a guest: larger than what is left of the memory. */
#define DISK		"/dev/vda"
#define LEFT_MIB	160
#define READERS		2
#define CHUNK		(1 << 20)
#define MOST_ROUNDS	1000

FIXTURE(pressure) {
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue[3];
	struct vf_buffer *buffer;
	uint32_t syncobj[3];
	pid_t eater, reader[READERS];
	bool loaded;
};

static uint64_t number_in(const char *path)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return strtoull(text, NULL, 0);
}

static size_t available(void)
{
	unsigned long kib = 0;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %lu kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return (size_t)kib << 10;
}

/* Take the memory but for LEFT_MIB. Whom the kernel kills when there is none is a child of ours. */
static void eat(int ready, off_t unused)
{
	size_t size = available(), left = (size_t)LEFT_MIB << 20;
	char *memory;

	write_text("/proc/self/oom_score_adj", "1000");
	memory = mmap(NULL, size > left ? size - left : 1, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED || write(ready, "x", 1) != 1)
		_exit(1);
	pause();
}

/* Fill what is left with pages of the disk, again and again. */
static void read_disk(int disk, off_t at)
{
	char *chunk = malloc(CHUNK);

	for (; chunk; at += CHUNK)
		if (pread(disk, chunk, CHUNK, at) <= 0)
			at = -CHUNK;
	_exit(1);
}

static pid_t start(void (*act)(int fd, off_t at), int fd, off_t at)
{
	pid_t child = fork();

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		act(fd, at);
	}
	return child;
}

static void stop(pid_t child)
{
	if (child <= 0)
		return;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static int press(FIXTURE_DATA(pressure) *self)
{
	int disk = open(DISK, O_RDONLY | O_CLOEXEC), ready[2], i;
	char byte;

	if (disk < 0 || pipe(ready))
		return -1;
	self->eater = start(eat, ready[1], 0);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		return -1;
	close(ready[0]);
	for (i = 0; i < READERS; i++)
		self->reader[i] = start(read_disk, disk, i * (off_t)(64 << 20));
	close(disk);
	return 0;
}

FIXTURE_SETUP(pressure)
{
	static const uint32_t node[3] = {
		DRM_VFENCE_NODE_GFX, DRM_VFENCE_NODE_COPY, DRM_VFENCE_NODE_COMPUTE,
	};
	unsigned int i;

	if (geteuid() || access(SHRINKER ".ko", R_OK) || access(DISK, R_OK))
		SKIP(return, "needs root, a disk and the test modules");
	ASSERT_EQ(0, vf_adapter_open(0, &self->adapter));
	ASSERT_EQ(0, vf_device_create(self->adapter, &self->device));
	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &self->buffer));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, vf_kernel_queue_create(self->device, node[i], &self->queue[i]));
		ASSERT_EQ(0, drmSyncobjCreate(vf_adapter_fd(self->adapter), 0,
					      &self->syncobj[i]));
	}
	ASSERT_EQ(0, system("insmod " SHRINKER ".ko"));
	self->loaded = true;
}

FIXTURE_TEARDOWN(pressure)
{
	unsigned int i;

	for (i = 0; i < READERS; i++)
		stop(self->reader[i]);
	stop(self->eater);
	for (i = 0; i < 3; i++) {
		vf_queue_destroy(self->queue[i]);
		if (self->syncobj[i])
			drmSyncobjDestroy(vf_adapter_fd(self->adapter), self->syncobj[i]);
	}
	vf_buffer_destroy(self->buffer);
	vf_device_destroy(self->device);
	vf_adapter_close(self->adapter);
	if (self->loaded)
		EXPECT_EQ(0, system("rmmod " SHRINKER));
}

/* The first one draws, and each waits for the dma_fence of the one before. */
static int submit_chain(FIXTURE_DATA(pressure) *self, struct vf_fence *fence, uint64_t value)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct vf_syncobj in = { .handle = self->syncobj[i - !!i] };
		struct vf_syncobj out = { .handle = self->syncobj[i] };
		struct vf_submit what = {
			.wait_syncobjs = &in, .wait_syncobj_count = !!i,
			.signal_syncobjs = &out, .signal_syncobj_count = 1,
			.signals = &(struct vf_point){ fence, value * 3 + i }, .signal_count = 1,
		};
		int ret;

		if (!i)
			vf_cmd_draw(self->queue[i], 100, 1000000);
		vf_cmd_fill(self->queue[i], vf_buffer_va(self->buffer), 4, i);
		ret = vf_submit(&self->queue[i], 1, &what);
		if (ret)
			return ret;
	}
	return 0;
}

/* Let the shrinker wait for the dma_fence of the last one. */
static int hand_over(FIXTURE_DATA(pressure) *self, int *file)
{
	char number[16];
	int ret = drmSyncobjExportSyncFile(vf_adapter_fd(self->adapter), self->syncobj[2], file);

	snprintf(number, sizeof(number), "%d", *file);
	return ret ? ret : write_text(PARAMETERS "fence", number);
}

/* Until so many threads have waited in the shrinker. It takes a while until memory is short. */
TEST_F_TIMEOUT(pressure, a_published_fence_signals_however_short_memory_is, 300)
{
	unsigned int enough = wanted(50), i;
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &fence));
	ASSERT_EQ(0, press(self));
	for (i = 1; i <= MOST_ROUNDS && number_in(PARAMETERS "waits") < enough; i++) {
		struct pollfd done = { .events = POLLIN };

		ASSERT_EQ(0, submit_chain(self, fence, i));
		ASSERT_EQ(0, hand_over(self, &done.fd));
		ASSERT_EQ(1, poll(&done, 1, 20000));
		close(done.fd);
		ASSERT_EQ(0, number_in(PARAMETERS "stuck")) {
			system("sed 's/^/# stuck: /' " PARAMETERS "stuck_name");
		}
	}
	write_text(PARAMETERS "fence", "-1");
	TH_LOG("%u rounds: %" PRIu64 " waits in the shrinker", i - 1,
	       number_in(PARAMETERS "waits"));
	EXPECT_LE(enough, number_in(PARAMETERS "waits"));
	vf_fence_destroy(fence);
}

TEST_HARNESS_MAIN
