// SPDX-License-Identifier: GPL-2.0-only
/*
 * What threads of the kernel do for clients: a client decides how long the wake-ups of an eventfd
 * take. They use a bounded part of a processor for a process, and for a user, and whoever floods
 * delays others hardly.
 */

#include "vfence_test.h"

#define MS		INT64_C(1000000)
#define FILES		8
#define EVENTS		64
#define SETS		200
/* A submission has one eventfd, so its wake-ups are longer. */
#define MORE_SETS	5000
#define MAX_FLOODS	4

/* A process that floods, and what it tells this one. */
struct flood {
	volatile uint64_t rounds;
	volatile int ret;
};

FIXTURE(chores)
{
	struct flood *flood;
	pid_t pid[MAX_FLOODS];
	unsigned int floods;
};

FIXTURE_SETUP(chores)
{
	if (!counts_instructions())
		SKIP(return, "needs a clock that counts instructions");
	self->flood = mmap(NULL, MAX_FLOODS * sizeof(*self->flood), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->flood);
	self->floods = 0;
}

static void end_floods(FIXTURE_DATA(chores) *self)
{
	for (; self->floods; self->floods--) {
		kill(self->pid[self->floods - 1], SIGKILL);
		waitpid(self->pid[self->floods - 1], NULL, 0);
	}
}

FIXTURE_TEARDOWN(chores)
{
	end_floods(self);
	munmap(self->flood, MAX_FLOODS * sizeof(*self->flood));
}

/* Open a fence that this process signals in @count other files, which then arm events for it. */
static int open_files(struct vf_fence *shared, struct client *client, struct vf_fence **fence,
		      unsigned int count)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < count; i++) {
		int fd = vf_fence_export(shared);

		ret = vf_adapter_open(0, &client[i].adapter);
		ret = ret ? ret : vf_device_create(client[i].adapter, &client[i].device);
		ret = ret ? ret : vf_fence_open(client[i].device, fd, &fence[i]);
		close(fd);
	}
	return ret;
}

static int arm_all(struct client *client, struct vf_fence **fence, uint64_t value, int efd)
{
	unsigned int i, k;
	int ret = 0;

	for (i = 0; i < FILES; i++)
		for (k = 0; !ret && k < EVENTS; k++)
			ret = arm(client[i].adapter, fence[i], value, efd);
	return ret;
}

/*
 * Arm events of some files, signal them by another one, and again once all are set. The eventfd is in
 * @sets epoll sets.
 */
static int flood_by_files(struct flood *flood, unsigned int sets)
{
	int efd = slow_eventfd(sets);
	struct client own = { 0 }, client[FILES] = { 0 };
	struct vf_fence *shared, *fence[FILES];
	uint64_t seen, more;
	int ret;

	ret = efd < 0 ? efd : vf_adapter_open(0, &own.adapter);
	ret = ret ? ret : vf_device_create(own.adapter, &own.device);
	ret = ret ? ret : vf_fence_create(own.device, DRM_VFENCE_FENCE_SHAREABLE, 0, &shared);
	ret = ret ? ret : open_files(shared, client, fence, FILES);
	while (!ret) {
		ret = arm_all(client, fence, flood->rounds + 1, efd);
		ret = ret ? ret : vf_fence_signal(shared, flood->rounds + 1);
		seen = 0;
		if (!ret && !EVENTUALLY((seen += read(efd, &more, 8) == 8 ? more : 0) ==
					FILES * EVENTS))
			ret = -ETIME;
		flood->rounds++;
	}
	return ret;
}

static int flood_events(struct flood *flood)
{
	return flood_by_files(flood, SETS);
}

/* One event takes half of a millisecond. */
static int flood_costly_events(struct flood *flood)
{
	return flood_by_files(flood, MORE_SETS);
}

/* The same by eventfds of submissions. */
static int flood_submissions(struct flood *flood)
{
	struct vf_submit what = {
		.flags = DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT, .eventfd = slow_eventfd(MORE_SETS),
	};
	struct client own = { 0 };
	struct vf_queue *queue;
	uint64_t seen, more;
	unsigned int i;
	int ret;

	ret = what.eventfd < 0 ? what.eventfd : vf_adapter_open(0, &own.adapter);
	ret = ret ? ret : vf_device_create(own.adapter, &own.device);
	ret = ret ? ret : vf_kernel_queue_create(own.device, DRM_VFENCE_NODE_GFX, &queue);
	while (!ret) {
		for (i = 0; !ret && i < EVENTS; i++)
			ret = vf_submit(&queue, 1, &what);
		seen = 0;
		if (!ret && !EVENTUALLY((seen += read(what.eventfd, &more, 8) == 8 ? more : 0) ==
					EVENTS))
			ret = -ETIME;
		flood->rounds++;
	}
	return ret;
}

/* The same by files that are closed soon, and opened again. */
static int flood_reopening(struct flood *flood)
{
	const struct timespec nap = { .tv_nsec = 3 * MS };
	int efd = slow_eventfd(MORE_SETS);
	struct vf_fence *shared, *fence;
	struct client own, other;
	unsigned int i;
	int ret = efd < 0 ? efd : 0;

	while (!ret) {
		ret = vf_adapter_open(0, &own.adapter);
		ret = ret ? ret : vf_device_create(own.adapter, &own.device);
		ret = ret ? ret : vf_fence_create(own.device, DRM_VFENCE_FENCE_SHAREABLE, 0,
						  &shared);
		ret = ret ? ret : open_files(shared, &other, &fence, 1);
		for (i = 0; !ret && i < 8; i++)
			ret = arm(other.adapter, fence, 1, efd);
		ret = ret ? ret : vf_fence_signal(shared, 1);
		nanosleep(&nap, NULL);
		vf_fence_destroy(fence);
		client_close(&other);
		vf_fence_destroy(shared);
		client_close(&own);
		flood->rounds++;
	}
	return ret;
}

typedef int (*flood_fn)(struct flood *flood);

/* Begin a flood in a process of its own, as @stranger or for this user. */
static bool begin_flood(FIXTURE_DATA(chores) *self, flood_fn on, bool stranger)
{
	struct flood *flood = &self->flood[self->floods];
	pid_t pid = stranger ? fork_stranger() : fork();

	if (!pid) {
		flood->ret = on(flood);
		_exit(1);
	}
	if (pid < 0)
		return false;
	self->pid[self->floods++] = pid;
	return EVENTUALLY(flood->rounds || flood->ret) && !flood->ret;
}

/* Return: processor time in ns of a thread of the kernel, or 0 if it is none. */
static uint64_t thread_ns(pid_t pid)
{
	char path[64], text[512] = "";
	unsigned long long spent = 0;
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f || !fgets(text, sizeof(text), f) || !strrchr(text, ')') ||
	    sscanf(strrchr(text, ')') + 2, "%*c %d", &parent) != 1 || parent != 2)
		goto out;
	fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%llu", &spent) != 1)
		spent = 0;
out:
	if (f)
		fclose(f);
	return spent;
}

/* The processor time of threads of the kernel, by their numbers. */
#define MAX_PID	32768
static uint64_t kernel_ns[MAX_PID];

/* Return: processor time in ns that threads of the kernel have used since the last call. */
static uint64_t kernel_ns_since(void)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	uint64_t sum = 0;

	while (proc && (entry = readdir(proc))) {
		pid_t pid = atoi(entry->d_name);
		uint64_t ns = pid > 2 && pid < MAX_PID ? thread_ns(pid) : 0;

		/* A number may be used again. */
		if (ns > kernel_ns[pid < MAX_PID ? pid : 0]) {
			sum += ns - kernel_ns[pid];
			kernel_ns[pid] = ns;
		}
	}
	if (proc)
		closedir(proc);
	return sum;
}

/* Return: the part of a processor that threads of the kernel use for a second, in percent. */
static double kernel_percent(void)
{
	const struct timespec second = { .tv_sec = 1 };
	int64_t begin;

	kernel_ns_since();
	begin = vf_deadline(0);
	nanosleep(&second, NULL);
	return 100.0 * (double)kernel_ns_since() / (double)(vf_deadline(0) - begin);
}

/*
 * Threads of the kernel use from @least to @most percent of a processor for @count floods, each a
 * process. The charge is for what eventfds take: what comes along with it is a few percent more.
 */
static void use_percent(struct __test_metadata *_metadata, FIXTURE_DATA(chores) *self, flood_fn on,
			unsigned int count, double least, double most)
{
	double percent;
	unsigned int i;

	/* Several are of one user. */
	for (i = 0; i < count; i++)
		ASSERT_TRUE(begin_flood(self, on, count == 1));
	percent = kernel_percent();
	TH_LOG("%.1f %%", percent);
	EXPECT_LT(least, percent);
	EXPECT_GT(most, percent);
	for (i = 0; i < count; i++)
		EXPECT_EQ(0, self->flood[i].ret);
}

TEST_F_TIMEOUT(chores, events_of_a_process_use_a_quarter_of_a_processor, 120)
{
	use_percent(_metadata, self, flood_events, 1, 20, 31);
}

TEST_F_TIMEOUT(chores, events_of_submissions_use_a_quarter_of_a_processor, 120)
{
	use_percent(_metadata, self, flood_submissions, 1, 20, 31);
}

/* What is not paid back is remembered when the last file is closed. */
TEST_F_TIMEOUT(chores, events_of_files_that_are_reopened_use_no_more, 120)
{
	use_percent(_metadata, self, flood_reopening, 1, 0, 31);
}

TEST_F_TIMEOUT(chores, events_of_a_user_use_half_of_a_processor, 240)
{
	use_percent(_metadata, self, flood_events, MAX_FLOODS, 40, 62);
}

/* Return: the longest of some times from a GPU signal to the eventfd, in ns, or -1. */
static int64_t longest_delivery(struct client *client)
{
	int efd = eventfd(0, EFD_CLOEXEC);
	int64_t begin, ns, longest = 0;
	struct vf_queue *queue;
	struct vf_fence *fence;
	uint64_t i, more;
	int ret;

	ret = vf_queue_create(client->device, DRM_VFENCE_NODE_GFX, 4096, &queue);
	ret = ret ? ret : vf_fence_create(client->device, 0, 0, &fence);
	for (i = 1; !ret && i <= 50; i++) {
		ret = arm(client->adapter, fence, i, efd);
		vf_cmd_signal(queue, fence, i);
		begin = vf_deadline(0);
		ret = ret ? ret : vf_queue_submit(queue);
		if (!ret && read(efd, &more, 8) != 8)
			ret = -errno;
		ns = vf_deadline(0) - begin;
		longest = ns > longest ? ns : longest;
	}
	vf_queue_destroy(queue);
	vf_fence_destroy(fence);
	close(efd);
	return ret ? -1 : longest;
}

/* A flood delays others by a turn of its own, and by time slices: by @most ns. */
static void delays_hardly(struct __test_metadata *_metadata, FIXTURE_DATA(chores) *self,
			  bool stranger, int64_t most)
{
	int64_t alone, beside;
	struct client victim;
	unsigned int i;

	ASSERT_EQ(0, client_open(&victim));
	/* The victim needs no time slice. */
	hurry(0, 1);
	alone = longest_delivery(&victim);
	for (i = 0; i < MAX_FLOODS / 2; i++)
		ASSERT_TRUE(begin_flood(self, flood_events, stranger));
	beside = longest_delivery(&victim);
	hurry(0, 0);
	TH_LOG("alone %.2f ms, beside %.2f ms", (double)alone / MS, (double)beside / MS);
	EXPECT_LT(0, alone);
	EXPECT_LT(0, beside);
	EXPECT_GT(alone + most, beside);
	end_floods(self);
	client_close(&victim);
}

/* Who is ahead of the others in line, and has to rest, is no longer ahead of them. */
TEST_F_TIMEOUT(chores, a_costly_flood_delays_events_of_another_process_hardly, 100)
{
	struct client victim;
	int64_t beside;

	ASSERT_EQ(0, client_open(&victim));
	hurry(0, 1);
	ASSERT_TRUE(begin_flood(self, flood_costly_events, false));
	beside = longest_delivery(&victim);
	hurry(0, 0);
	TH_LOG("%.2f ms", (double)beside / MS);
	EXPECT_LT(0, beside);
	EXPECT_GT(12 * MS, beside);
	end_floods(self);
	client_close(&victim);
}

TEST_F_TIMEOUT(chores, a_flood_delays_events_of_another_user_hardly, 240)
{
	/* Here threads of the kernel work for two users, who have half of a processor each. */
	delays_hardly(_metadata, self, true, 24 * MS);
}

TEST_F_TIMEOUT(chores, a_flood_delays_events_of_another_process_hardly, 240)
{
	delays_hardly(_metadata, self, false, 2 * MS);
}

static int64_t own_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

/* A fence that others wait for gets its last signals first, and then the maximum. */
TEST_F_TIMEOUT(chores, a_lost_device_ends_waits_when_its_client_has_rested, 100)
{
	struct vf_queue *busy[BUSY_QUEUES], *bad;
	struct vf_submit what = { .signal_count = 1 };
	struct vf_fence *fence, *reader;
	struct client owner, other;
	struct vf_point done;
	unsigned int i;
	int fd;

	ASSERT_EQ(0, client_open(&owner));
	ASSERT_EQ(0, client_open(&other));
	ASSERT_EQ(0, vf_fence_create(owner.device, DRM_VFENCE_FENCE_SHAREABLE, 0, &fence));
	fd = vf_fence_export_rights(fence, DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT);
	ASSERT_EQ(0, vf_fence_open(other.device, fd, &reader));
	close(fd);
	ASSERT_EQ(0, vf_queue_create(owner.device, DRM_VFENCE_NODE_COPY, 4096, &bad));
	ASSERT_EQ(0, be_expensive(owner.device, busy, MORE_SETS));
	done = (struct vf_point){ fence, 1 };
	what.signals = &done;
	ASSERT_EQ(0, vf_submit(&busy[0], 1, &what));
	ASSERT_TRUE(EVENTUALLY(has_ended(busy[0])));
	vf_cmd_fill(bad, 0x7000000000, 4096, 0);
	/* It may be lost before the call returns. */
	vf_queue_submit(bad);
	ASSERT_TRUE(EVENTUALLY(vf_device_state(owner.device) != DRM_VFENCE_DEVICE_ACTIVE));
	EXPECT_EQ(0, vf_fence_wait(reader, 1, DEADLINE));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(reader) == UINT64_MAX));
	/* The queues have nothing to signal any more. */
	for (i = 0; i < BUSY_QUEUES; i++)
		vf_queue_destroy(busy[i]);
	EXPECT_EQ(UINT64_MAX, vf_fence_current(reader));
	vf_queue_destroy(bad);
	vf_fence_destroy(reader);
	vf_fence_destroy(fence);
	client_close(&owner);
	client_close(&other);
}

/* A client that finds the queue idle has all signals, also if they take several turns (WDDM-199). */
TEST_F_TIMEOUT(chores, WDDM_199_progress_comes_after_the_last_turn, 100)
{
	const unsigned int count = 40;
	struct vf_queue *busy[BUSY_QUEUES];
	struct vf_submit what = { .signal_count = 1 };
	struct vf_fence *fence;
	struct client client;
	struct vf_point done;
	unsigned int i;

	ASSERT_EQ(0, client_open(&client));
	ASSERT_EQ(0, vf_fence_create(client.device, 0, 0, &fence));
	ASSERT_EQ(0, be_expensive(client.device, busy, MORE_SETS));
	what.signals = &done;
	for (i = 1; i <= count; i++) {
		done = (struct vf_point){ fence, i };
		ASSERT_EQ(0, vf_submit(&busy[0], 1, &what));
	}
	ASSERT_TRUE(EVENTUALLY(has_ended(busy[0])));
	hurry(0, 1);
	EXPECT_EQ(0, vf_queue_wait_idle(busy[0], DEADLINE));
	EXPECT_EQ(count, vf_fence_current(fence));
	hurry(0, 0);

	for (i = 0; i < BUSY_QUEUES; i++)
		vf_queue_destroy(busy[i]);
	vf_fence_destroy(fence);
	client_close(&client);
}

/* A submission has ended when its signals are due. So they have a limit of their own. */
TEST_F_TIMEOUT(chores, a_queue_has_only_so_many_signals_to_perform, 100)
{
	const unsigned int limit = DRM_VFENCE_MAX_SUBMISSIONS;
	struct drm_vfence_queue_info query = { 0 };
	struct vf_submit what = { .flags = DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT };
	struct vf_queue *queue;
	struct client client;
	int64_t begin, before, spent;
	unsigned int count;
	int ret = 0;

	what.eventfd = slow_eventfd(MORE_SETS);
	ASSERT_LE(0, what.eventfd);
	ASSERT_EQ(0, client_open(&client));
	ASSERT_EQ(0, vf_kernel_queue_create(client.device, DRM_VFENCE_NODE_GFX, &queue));
	for (count = 0; !ret && count <= 3 * limit; count++)
		ret = vf_submit(&queue, 1, &what);
	ASSERT_EQ(0, vf_queue_query(queue, &query));
	TH_LOG("%u submissions, of which %u have not ended", count, query.held + query.queued);
	EXPECT_EQ(-ENOSPC, ret);
	EXPECT_LT(limit, count);
	EXPECT_GT(limit, query.held + query.queued);
	/* There is room again when some are performed. */
	what.flags |= DRM_VFENCE_SUBMIT_WAIT_FOR_ROOM;
	EXPECT_EQ(0, vf_submit(&queue, 1, &what));
	/* The call that ends it performs them, as far as no thread of the kernel may. */
	begin = vf_deadline(0);
	before = own_ns();
	EXPECT_EQ(0, vf_queue_abort(queue));
	spent = own_ns() - before;
	begin = vf_deadline(0) - begin;
	TH_LOG("aborted after %.0f ms, %.0f of them its own", (double)begin / MS,
	       (double)spent / MS);
	EXPECT_LT(begin / 2, spent);
	vf_queue_destroy(queue);
	close(what.eventfd);
	client_close(&client);
}

TEST_HARNESS_MAIN
