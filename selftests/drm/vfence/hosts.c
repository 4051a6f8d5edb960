// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hosts of many clients: how long each call of a client takes at most beside a client of another user
 * that floods, starves, or sleeps where it can. The measure is the same client beside programs that
 * use the processor as much, and not the driver.
 *
 * The client runs before all other programs. So it waits for threads of the kernel, which have normal
 * priority, for a time slice each at most, and for what somebody else holds.
 */

#include <linux/userfaultfd.h>
#include <sys/prctl.h>

#include "vfence_test.h"

#define MS		INT64_C(1000000)
#define ROUNDS		20
#define PAGE		4096
/* A thread of the kernel that becomes runnable has the processor after a tick of 4 ms. */
#define SLICE		(4 * MS)

/* What this process and the attacker share. */
struct report {
	volatile int ready, ret;
	unsigned int begun;
};


/* ---------------------------------------------------------------------- attackers */

static void *never_sleep(void *unused)
{
	for (;;)
		__asm__ volatile("");
	return unused;
}

static int start_loops(unsigned int count)
{
	pthread_t thread;
	int ret = 0;

	while (!ret && count--)
		ret = -pthread_create(&thread, NULL, never_sleep, NULL);
	return ret;
}

static int create_intra_gpu(struct vf_device *device, struct vf_fence **fence)
{
	struct vf_fence_desc desc = { .type = DRM_VFENCE_FENCE_INTRA_GPU };

	return vf_fence_create_desc(device, &desc, fence);
}

/* Create and destroy fences that need video memory, as a thread that nobody lets run. */
static int create_without_time(struct report *report)
{
	const struct sched_param param = { 0 };
	struct vf_fence *fence[130];
	struct client c;
	unsigned int i;
	int ret = client_open(&c);

	ret = ret ? ret : start_loops(2);
	if (!ret && sched_setscheduler(0, SCHED_IDLE, &param))
		ret = -errno;
	while (!ret) {
		for (i = 0; !ret && i < 130; i++)
			ret = create_intra_gpu(c.device, &fence[i]);
		while (i--)
			vf_fence_destroy(fence[i]);
		report->ready = 1;
	}
	return ret;
}

static int create_with_a_quota(struct report *report)
{
	struct vf_fence *fence;
	struct client c;
	int ret = client_open(&c);

	ret = ret ? ret : start_loops(10);
	while (!ret) {
		ret = create_intra_gpu(c.device, &fence);
		vf_fence_destroy(fence);
		report->ready = 1;
	}
	return ret;
}

/* Use more doorbells than there are, again and again. */
static int use_all_doorbells(struct report *report)
{
	struct vf_queue *queue[60];
	struct client c;
	unsigned int i;
	int ret = client_open(&c);

	for (i = 0; !ret && i < 60; i++)
		ret = vf_queue_create(c.device, DRM_VFENCE_NODE_GFX, 4096, &queue[i]);
	for (i = 0; !ret; i++) {
		ret = vf_queue_submit(queue[i % 60]);
		ret = ret ? ret : vf_queue_wait_idle(queue[i % 60], DEADLINE);
		report->ready = i >= 60;
	}
	return ret;
}

/* Signal events of many files, whose eventfd is in many epoll sets. */
static int flood_with_files(struct report *report)
{
	enum { FILES = 300, EVENTS = 4 };
	static struct client c[FILES];
	static struct vf_fence *fence[FILES];
	int efd = slow_eventfd(300), ret = efd < 0 ? efd : 0, fd = -1;
	struct vf_fence *shared;
	struct client owner;
	uint64_t round, more, seen;
	unsigned int i;

	ret = ret ? ret : client_open(&owner);
	ret = ret ? ret : vf_fence_create(owner.device, DRM_VFENCE_FENCE_SHAREABLE, 0, &shared);
	fd = ret ? -1 : vf_fence_export(shared);
	for (i = 0; !ret && i < FILES; i++) {
		ret = client_open(&c[i]);
		ret = ret ? ret : vf_fence_open(c[i].device, fd, &fence[i]);
	}
	for (round = 1; !ret; round++) {
		for (i = 0; !ret && i < FILES * EVENTS; i++)
			ret = arm(c[i % FILES].adapter, fence[i % FILES], round, efd);
		ret = ret ? ret : vf_fence_signal(shared, round);
		report->ready = 1;
		for (seen = 0; !ret && seen < FILES * EVENTS;)
			seen += read(efd, &more, 8) == 8 ? more : 0;
	}
	return ret;
}

/* End many waits with each signal. */
static int flood_with_waits(struct report *report)
{
	enum { POINTS = 64, EVENTS = 500 };
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_point point[POINTS];
	struct vf_fence *fence;
	struct client c;
	uint64_t round;
	unsigned int i;
	int ret = client_open(&c);

	ret = ret ? ret : vf_fence_create(c.device, 0, 0, &fence);
	for (round = 1; !ret; round++) {
		for (i = 0; i < POINTS; i++)
			point[i] = (struct vf_point){ fence, round };
		for (i = 0; !ret && i < EVENTS; i++)
			ret = vf_event_arm(c.adapter, point, POINTS, 0, efd, NULL);
		ret = ret ? ret : vf_fence_signal(fence, round);
		report->ready = 1;
	}
	return ret;
}

struct sleeper {
	struct client *client;
	void *page;
	unsigned int call;
	pid_t tid;
};

/* A call that touches a page which never comes. */
static void *sleep_in_a_copy(void *arg)
{
	struct sleeper *s = arg;
	int fd = vf_adapter_fd(s->client->adapter);
	struct drm_vfence_query query = {
		.type = DRM_VFENCE_QUERY_LIMITS, .size = PAGE, .data = (uintptr_t)s->page,
	};
	struct drm_vfence_submit submit = {
		.queues = {
			.array = (uintptr_t)s->page, .count = 1,
			.stride = sizeof(struct drm_vfence_submit_queue),
		},
	};
	struct drm_vfence_wait wait = {
		.points = {
			.array = (uintptr_t)s->page, .count = 1,
			.stride = sizeof(struct drm_vfence_fence_point),
		},
	};
	struct drm_vfence_fence_signal signal = { .points = wait.points };

	__atomic_store_n(&s->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	switch (s->call) {
	case 0:
		raw(fd, DRM_IOCTL_VFENCE_QUERY, &query);
		break;
	case 1:
		raw(fd, DRM_IOCTL_VFENCE_SUBMIT, &submit);
		break;
	case 2:
		raw(fd, DRM_IOCTL_VFENCE_WAIT, &wait);
		break;
	default:
		raw(fd, DRM_IOCTL_VFENCE_FENCE_SIGNAL, &signal);
	}
	return NULL;
}

/* Return: a page whose first access sleeps for ever, or NULL. */
static void *dead_page(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	range.range.start = (uintptr_t)page;
	range.range.len = PAGE;
	if (page == MAP_FAILED || fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &range))
		return NULL;
	return page;
}

/* Sleep in copies from and to the client, and go on beside that. */
static int sleep_everywhere(struct report *report)
{
	static struct sleeper sleeper[4];
	struct vf_fence *fence;
	struct client c;
	pthread_t thread;
	unsigned int i;
	int ret = client_open(&c);

	for (i = 0; !ret && i < 4; i++) {
		sleeper[i] = (struct sleeper){ .client = &c, .page = dead_page(), .call = i };
		ret = sleeper[i].page ? 0 : -EOPNOTSUPP;
		ret = ret ? ret : -pthread_create(&thread, NULL, sleep_in_a_copy, &sleeper[i]);
		if (!ret && !EVENTUALLY(sleeps_in(&sleeper[i].tid, SYS_ioctl)))
			ret = -ETIME;
	}
	while (!ret) {
		ret = vf_fence_create(c.device, 0, 0, &fence);
		vf_fence_destroy(fence);
		report->ready = 1;
	}
	return ret;
}

/* Open and close files with all that a client needs, as one of @count processes. */
static int come_and_go(struct report *report, unsigned int count)
{
	bool first = true;
	struct vf_queue *queue;
	struct vf_fence *fence;
	struct client c;
	int ret = 0;

	while (!ret) {
		ret = client_open(&c);
		ret = ret ? ret : vf_fence_create(c.device, 0, 0, &fence);
		ret = ret ? ret : vf_queue_create(c.device, DRM_VFENCE_NODE_GFX, 4096, &queue);
		vf_cmd_signal(queue, fence, 1);
		ret = ret ? ret : vf_queue_submit(queue);
		ret = ret ? ret : vf_fence_wait(fence, 1, DEADLINE);
		vf_queue_destroy(queue);
		vf_fence_destroy(fence);
		client_close(&c);
		if (first && __atomic_add_fetch(&report->begun, 1, __ATOMIC_RELAXED) == count)
			report->ready = 1;
		first = false;
	}
	return ret;
}

/* This process dies with the one that has forked it. */
static void depend_on(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
}

static int fork_and_come_and_go(struct report *report)
{
	const unsigned int count = 8;
	pid_t parent = getpid();
	unsigned int i;

	for (i = 1; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return -errno;
		if (!pid) {
			depend_on(parent);
			break;
		}
	}
	return come_and_go(report, count);
}

/* ------------------------------------------------------------------------- victim */

struct victim {
	struct client c;
	struct vf_queue *queue, *kernel;
	struct vf_fence *fence;
	uint64_t value;
	int efd;
	/* The attacker, or this process. */
	pid_t other;
};

static int call_fence_create(struct victim *v)
{
	struct vf_fence *fence;
	int ret = vf_fence_create(v->c.device, 0, 0, &fence);

	vf_fence_destroy(fence);
	return ret;
}

static int call_intra_gpu(struct victim *v)
{
	struct vf_fence *fence[70];
	unsigned int i;
	int ret = 0;

	/* Each 64th needs another page. */
	for (i = 0; !ret && i < 70; i++)
		ret = create_intra_gpu(v->c.device, &fence[i]);
	while (i--)
		vf_fence_destroy(fence[i]);
	return ret;
}

static int call_device_create(struct victim *v)
{
	struct vf_device *device;
	int ret = vf_device_create(v->c.adapter, &device);

	vf_device_destroy(device);
	return ret;
}

static int call_queue_create(struct victim *v)
{
	struct vf_queue *queue;
	int ret = vf_queue_create(v->c.device, DRM_VFENCE_NODE_COPY, 4096, &queue);

	vf_queue_destroy(queue);
	return ret;
}

static int call_buffer_create(struct victim *v)
{
	struct vf_buffer *buffer;
	int ret = vf_buffer_create(v->c.adapter, 4 * PAGE, &buffer);

	vf_buffer_destroy(buffer);
	return ret;
}

/*
 * As one process: the first call of another one waits for readers of RCU, and some kernels let a
 * reader that gets no processor delay these for half of a second.
 */
static int call_open(struct victim *v)
{
	struct client c = { 0 };
	int ret = vf_adapter_open(0, &c.adapter);

	ret = ret ? ret : vf_device_create(c.adapter, &c.device);
	client_close(&c);
	return ret;
}

/* Wait until the event has fired once. */
static int take_event(struct victim *v, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = v->efd, .events = POLLIN };
	uint64_t times;

	if (poll(&poll_fd, 1, timeout_ms) != 1)
		return -ETIME;
	return read(v->efd, &times, sizeof(times)) == sizeof(times) && times == 1 ? 0 : -EIO;
}

static int call_signal(struct victim *v)
{
	int ret = arm(v->c.adapter, v->fence, ++v->value, v->efd);

	ret = ret ? ret : vf_fence_signal(v->fence, v->value);
	return ret ? ret : take_event(v, 0);
}

static int gpu_signal(struct victim *v)
{
	vf_cmd_signal(v->queue, v->fence, v->value);
	return vf_queue_submit(v->queue);
}

static int call_wait(struct victim *v)
{
	int ret;

	v->value++;
	ret = gpu_signal(v);
	return ret ? ret : vf_fence_wait(v->fence, v->value, DEADLINE);
}

static int call_event(struct victim *v)
{
	int ret = arm(v->c.adapter, v->fence, ++v->value, v->efd);

	ret = ret ? ret : gpu_signal(v);
	return ret ? ret : take_event(v, 20000);
}

static int call_submit(struct victim *v)
{
	int ret = vf_queue_submit(v->kernel);

	return ret ? ret : vf_queue_wait_idle(v->kernel, DEADLINE);
}

static int call_import(struct victim *v)
{
	int fd = vf_adapter_fd(v->c.adapter);
	uint32_t syncobj;
	int ret = drmSyncobjCreate(fd, DRM_SYNCOBJ_CREATE_SIGNALED, &syncobj);

	ret = ret ? ret : vf_fence_import_syncobj(v->fence, syncobj, 0, ++v->value);
	ret = ret ? ret : vf_fence_wait(v->fence, v->value, DEADLINE);
	drmSyncobjDestroy(fd, syncobj);
	return ret;
}

static int call_query(struct victim *v)
{
	struct drm_vfence_limit limits[16];
	unsigned int count = 16;

	return vf_adapter_limits(v->c.adapter, limits, &count);
}

/* As a viewer of root does. */
static int call_fdinfo(struct victim *v)
{
	char path[64], text[4096];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", v->other);
	folder = opendir(path);
	if (!folder)
		return -errno;
	while ((entry = readdir(folder))) {
		int fd = openat(dirfd(folder), entry->d_name, O_RDONLY | O_CLOEXEC);

		/* Some: an attacker may have many. */
		if (fd >= 0 && read(fd, text, sizeof(text)) > 0)
			text[0] = 0;
		if (fd >= 0)
			close(fd);
		if (atoi(entry->d_name) > 12)
			break;
	}
	closedir(folder);
	return 0;
}

static const struct {
	const char *name;
	int (*make)(struct victim *v);
	/* For how many threads of the kernel it waits, one after the other. */
	unsigned int hands;
} calls[] = {
	{ "FENCE_CREATE", call_fence_create, 1 },
	{ "70 FENCE_CREATE of INTRA_GPU", call_intra_gpu, 2 },
	{ "DEVICE_CREATE", call_device_create, 1 },
	{ "QUEUE_CREATE", call_queue_create, 1 },
	{ "GEM_CREATE", call_buffer_create, 1 },
	{ "open and close", call_open, 1 },
	/* The import of the round before may still hold the fence. */
	{ "FENCE_SIGNAL to its eventfd", call_signal, 2 },
	{ "GPU signal to WAIT", call_wait, 1 },
	{ "GPU signal to its eventfd", call_event, 2 },
	{ "SUBMIT to idle", call_submit, 4 },
	{ "FENCE_IMPORT to WAIT", call_import, 2 },
	{ "QUERY", call_query, 1 },
	{ "fdinfo of the other client", call_fdinfo, 1 },
};

#define CALLS	(sizeof(calls) / sizeof(*calls))

/* Measure the longest time of each call, in ns. In between the others have the processor. */
static int measure(struct victim *v, int64_t longest[CALLS])
{
	const struct timespec nap = { .tv_nsec = MS };
	unsigned int i, round;
	int ret = 0;

	memset(longest, 0, CALLS * sizeof(*longest));
	for (round = 0; !ret && round < ROUNDS; round++) {
		for (i = 0; !ret && i < CALLS; i++) {
			int64_t begin;

			nanosleep(&nap, NULL);
			begin = vf_deadline(0);
			ret = calls[i].make(v);
			begin = vf_deadline(0) - begin;
			longest[i] = begin > longest[i] ? begin : longest[i];
		}
	}
	return ret;
}

static int victim_open(struct victim *v)
{
	int ret = client_open(&v->c);

	v->value = 0;
	v->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = ret ? ret : vf_queue_create(v->c.device, DRM_VFENCE_NODE_COPY, 4096, &v->queue);
	ret = ret ? ret : vf_kernel_queue_create(v->c.device, DRM_VFENCE_NODE_GFX, &v->kernel);
	return ret ? ret : vf_fence_create(v->c.device, 0, 0, &v->fence);
}

static void victim_close(struct victim *v)
{
	vf_queue_destroy(v->queue);
	vf_queue_destroy(v->kernel);
	vf_fence_destroy(v->fence);
	client_close(&v->c);
	close(v->efd);
}

/* ------------------------------------------------------------------------ fixture */

#define GROUP	CGROUPS "/vfence_hosts"

FIXTURE(hosts)
{
	struct victim victim;
	struct report *report;
	pid_t pid;
};

FIXTURE_VARIANT(hosts)
{
	int (*run)(struct report *report);
	/* How many threads of the attacker never sleep. */
	unsigned int loops;
	/* What its control group lets it have of each second, in us, or 0. */
	unsigned int quota_us;
};

FIXTURE_VARIANT_ADD(hosts, a_thread_that_nobody_lets_run) { create_without_time, 2, 0 };
FIXTURE_VARIANT_ADD(hosts, a_group_with_a_quota) { create_with_a_quota, 0, 5000 };
FIXTURE_VARIANT_ADD(hosts, more_queues_than_doorbells) { use_all_doorbells, 1, 0 };
FIXTURE_VARIANT_ADD(hosts, eventfds_of_300_files) { flood_with_files, 1, 0 };
FIXTURE_VARIANT_ADD(hosts, signals_with_32000_waits) { flood_with_waits, 1, 0 };
FIXTURE_VARIANT_ADD(hosts, pages_that_never_come) { sleep_everywhere, 1, 0 };
FIXTURE_VARIANT_ADD(hosts, processes_that_come_and_go) { fork_and_come_and_go, 8, 0 };

FIXTURE_SETUP(hosts)
{
	if (geteuid())
		SKIP(return, "needs root, to be several users");
	if (!counts_instructions())
		SKIP(return, "needs a clock that counts instructions");
	self->report = mmap(NULL, sizeof(*self->report), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->report);
	ASSERT_EQ(0, victim_open(&self->victim));
}

static void end_other(FIXTURE_DATA(hosts) *self)
{
	/* Its children die with it. */
	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
	self->pid = 0;
}

FIXTURE_TEARDOWN(hosts)
{
	if (self->pid)
		end_other(self);
	hurry(0, 0);
	victim_close(&self->victim);
	munmap(self->report, sizeof(*self->report));
}

static int be_busy(struct report *report, unsigned int loops)
{
	int ret = start_loops(loops);

	report->ready = 1;
	while (!ret)
		pause();
	return ret;
}

/* Start the attacker, or without @run as many threads that never sleep. */
static bool begin_other(FIXTURE_DATA(hosts) *self, const FIXTURE_VARIANT(hosts) *variant,
			int (*run)(struct report *report))
{
	struct report *report = self->report;
	pid_t parent = getpid(), pid;
	char quota[32];

	*report = (struct report){ 0 };
	pid = fork_stranger();
	if (pid < 0)
		return false;
	self->pid = pid;
	if (!pid) {
		depend_on(parent);
		hurry(0, 0);
		report->ret = run ? run(report) : be_busy(report, variant->loops);
		_exit(1);
	}
	if (variant->quota_us) {
		snprintf(quota, sizeof(quota), "%u 1000000", variant->quota_us);
		if (cgroup_take(GROUP, "+cpu", self->pid) ||
		    write_text(GROUP "/cpu.max", quota))
			return false;
	}
	self->victim.other = self->pid;
	return EVENTUALLY(report->ready || report->ret) && !report->ret;
}

TEST_F_TIMEOUT(hosts, calls_of_a_client_are_as_fast_beside_another_one, 300)
{
	int64_t busy[CALLS], beside[CALLS];
	unsigned int i;

	hurry(0, 1);
	ASSERT_TRUE(begin_other(self, variant, NULL));
	ASSERT_EQ(0, measure(&self->victim, busy));
	end_other(self);
	ASSERT_TRUE(begin_other(self, variant, variant->run));
	ASSERT_EQ(0, measure(&self->victim, beside));
	EXPECT_EQ(0, self->report->ret);
	end_other(self);
	hurry(0, 0);

	for (i = 0; i < CALLS; i++) {
		TH_LOG("%s: %.3f ms, beside the client %.3f ms", calls[i].name,
		       (double)busy[i] / MS, (double)beside[i] / MS);
		EXPECT_LE(beside[i], busy[i] * 11 / 10 + calls[i].hands * SLICE);
	}
}

TEST_HARNESS_MAIN
