/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_TEST_H
#define VFENCE_TEST_H

/*
 * Definitions that all selftests share. The name of a test carries the rules that it
 * proves: WDDM_5_6 stands for WDDM-5 and WDDM-6. No test sleeps to synchronise. Tests
 * poll conditions with a deadline, and only a failure reaches the deadline.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <xf86drm.h>

#include "kselftest_harness.h"
#include "vfence.h"

#define SECOND		INT64_C(1000000000)
#define DEADLINE	vf_deadline(patience())
#define POISON		0xcc
#define NOT_MONITORED	UINT64_MAX

/* Return: the adapter that tests name 0: VFENCE_TEST_ADAPTER, or 0 without it. */
static inline unsigned int first_adapter(void)
{
	const char *index = getenv("VFENCE_TEST_ADAPTER");

	return index ? (unsigned int)atoi(index) : 0;
}

static inline int test_adapter_open(unsigned int index, struct vf_adapter **adapter)
{
	return vf_adapter_open(index ? index : first_adapter(), adapter);
}

#define vf_adapter_open(index, adapter) test_adapter_open(index, adapter)
/*
 * Tests of the driver destroy a fence at once. The library's own function, which waits for
 * packets that name the fence, is (vf_fence_destroy)(fence).
 */
#define vf_fence_destroy(fence) vf_fence_destroy_now(fence)

/* Return: the number of rounds. A slow debug kernel runs a part of them: VFENCE_TEST_SHARE=20. */
static inline unsigned int wanted(unsigned int times)
{
	const char *share = getenv("VFENCE_TEST_SHARE");
	double rounds = times / (share ? atof(share) : 1);

	return rounds < 1 ? 1 : (unsigned int)rounds;
}

/*
 * Return: the timeout of a poll that fails, in ns. Runs of mutants set a shorter one,
 * because tests are expected to fail there.
 */
static inline int64_t patience(void)
{
	const char *seconds = getenv("VFENCE_TEST_PATIENCE");

	return (seconds ? atoi(seconds) : 20) * SECOND;
}

/*
 * Release the processor between two checks of a condition: yield at first, then sleep,
 * longer each time. A failure then costs hardly any processor time. On the deterministic
 * clock it costs no time at all, because the clock jumps while all threads sleep.
 */
static inline void give_way(unsigned int *looks)
{
	unsigned int naps = *looks < 32 ? 0 : (*looks - 32) / 16;
	struct timespec nap = { .tv_nsec = 10000 << (naps < 9 ? naps : 9) };

	if ((*looks)++ < 32)
		sched_yield();
	else
		nanosleep(&nap, NULL);
}

/* Return: true if @cond becomes true before a deadline that only a failure reaches. */
#define EVENTUALLY(cond) ({						\
	int64_t _until = DEADLINE;					\
	unsigned int _looks = 0;					\
	bool _true;							\
	while (!(_true = (cond)) && vf_deadline(0) < _until)		\
		give_way(&_looks);					\
	_true; })

/*
 * EVENTUALLY() without sleeping, for a test that must act at once to meet a race. Where the kernel is
 * a process, no time passes while a program calculates, so it yields after many looks.
 */
#define AT_ONCE(cond) ({						\
	int64_t _until = DEADLINE;					\
	unsigned int _looks = 0;					\
	bool _true;							\
	while (!(_true = (cond)) &&					\
	       (++_looks % 1024 || (sched_yield(), vf_deadline(0) < _until)))	\
		;							\
	_true; })

/*
 * Return: true if a test may switch a tracepoint. Switching one patches kernel code, and
 * QEMU with several host threads may still execute the int3 of the patching, which the
 * kernel does not expect any more.
 */
static inline bool may_patch_kernel(void)
{
	const char *guest = getenv("VFENCE_GUEST");

	return !guest || strcmp(guest, "par");
}

#define MAY_NOT_PATCH_KERNEL "kernel code cannot be patched safely under parallel TCG"

/* Return: true if the guest's clock counts instructions, so that processor time is exact. */
static inline bool counts_instructions(void)
{
	const char *guest = getenv("VFENCE_GUEST");

	return guest && !strcmp(guest, "det");
}

/*
 * Return: true if the guest's clock is virtual: calculating takes no time on it, so a processor has
 * none to measure.
 */
static inline bool calculates_in_no_time(void)
{
	const char *guest = getenv("VFENCE_GUEST");

	return guest && !strcmp(guest, "virtual");
}

/* For tests that measure processor time, or need a loop that takes some. */
#define NEEDS_PROCESSOR_TIME() do {						\
	if (calculates_in_no_time())						\
		SKIP(return, "calculating takes no time on this clock");	\
} while (0)

/* Return: true if the guest's clock is deterministic, so that durations are exact. */
static inline bool deterministic(void)
{
	return counts_instructions() || calculates_in_no_time();
}

/*
 * Expect that @cond, which becomes true when a long packet is done, is not true yet. On a
 * loaded machine a test may be slower than the packet, so this checks on the
 * deterministic clock only.
 */
#define EXPECT_NOT_YET(cond) do {	\
	if (deterministic())		\
		EXPECT_FALSE(cond);	\
} while (0)

/* Open vgem, the only other driver of its kind in stock kernels. Return: -1 without it. */
static inline int open_vgem(void)
{
	return drmOpenWithType("vgem", NULL, DRM_NODE_PRIMARY);
}

static inline int raw(int fd, unsigned long request, void *arg)
{
	return drmIoctl(fd, request, arg) ? -errno : 0;
}

/* Query the object of a handle: @type is one of DRM_VFENCE_QUERY_DEVICE to _FENCE. */
static inline int query_object(int fd, uint32_t type, uint32_t handle, void *info, size_t size)
{
	struct drm_vfence_query args = {
		.type = type, .size = (uint32_t)size, .data = (uintptr_t)info, .handle = handle,
	};

	return raw(fd, DRM_IOCTL_VFENCE_QUERY, &args);
}

static inline int destroy_object(int fd, enum drm_vfence_object type, uint32_t handle)
{
	struct drm_vfence_destroy args = { .type = (uint32_t)type, .handle = handle };

	return raw(fd, DRM_IOCTL_VFENCE_DESTROY, &args);
}

static inline struct vf_counters counters(struct vf_adapter *adapter)
{
	struct vf_counters c = { 0 };
	/* Zeroes would satisfy most tests. */
	int ret = vf_adapter_counters(adapter, &c);

	if (ret == -EACCES || ret == -ENOENT) {
		fprintf(stderr, "# the counters of an adapter are for root\n");
		_exit(KSFT_FAIL);
	}
	return c;
}

/* The number of threads and events that wait. */
static inline uint64_t waits_now(struct vf_adapter *adapter)
{
	struct vf_counters c = counters(adapter);

	return c.waits_begun - c.waits_satisfied - c.waits_timed_out - c.waits_cancelled;
}

static inline bool settled(struct vf_adapter *adapter, struct vf_counters *c)
{
	return EVENTUALLY((*c = counters(adapter), vf_counters_settled(c)));
}

/* Return: a limit of the client, and what it has of that; zeroes without such a limit. */
static inline struct drm_vfence_limit limit_of(struct vf_adapter *adapter, uint32_t id)
{
	struct drm_vfence_limit limits[16];
	unsigned int i, count = 16;

	if (!vf_adapter_limits(adapter, limits, &count))
		for (i = 0; i < count; i++)
			if (limits[i].id == id)
				return limits[i];
	return (struct drm_vfence_limit){ 0 };
}

/* One of the clients of adapter 0. */
struct client {
	struct vf_adapter *adapter;
	struct vf_device *device;
};

struct opening {
	unsigned int index;
	uid_t uid;
	struct vf_adapter **adapter;
	int ret;
};

static inline int open_and_end(void *arg)
{
	struct opening *opening = arg;

	opening->ret = syscall(SYS_setresuid, opening->uid, -1, -1) ? -errno :
		       vf_adapter_open(opening->index, opening->adapter);
	return 0;
}

/*
 * Open an adapter as another process of user @uid would; (uid_t)-1 is the user of this process. The
 * driver charges who opened a file. The child has the memory and the files of this process.
 */
static inline int adapter_open_apart(unsigned int index, uid_t uid, struct vf_adapter **adapter)
{
	static char stack[256 * 1024] __attribute__((aligned(16)));
	struct opening opening = { .index = index, .uid = uid, .adapter = adapter };
	pid_t pid = clone(open_and_end, stack + sizeof(stack),
			  CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &opening);

	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		return -errno;
	return opening.ret;
}

/*
 * fork() a process of another user, which no other one has. What a child does may count for the
 * process that forked it, but not for another user. It can open what root can.
 */
static inline pid_t fork_stranger(void)
{
	pid_t pid = fork();

	if (!pid && !geteuid() && syscall(SYS_setresuid, 100000 + getpid(), -1, -1))
		_exit(255);
	return pid;
}

/* Create a device as a process of user @uid would. Files are opened as root can. */
static inline int device_create_as(uid_t uid, struct vf_adapter *adapter, struct vf_device **device)
{
	uid_t own = getuid();
	int ret = syscall(SYS_setresuid, uid, -1, -1) ? -errno : vf_device_create(adapter, device);

	return syscall(SYS_setresuid, own, -1, -1) ? -errno : ret;
}

static inline int client_open(struct client *c)
{
	int ret = adapter_open_apart(0, -1, &c->adapter);

	return ret ? ret : vf_device_create(c->adapter, &c->device);
}

static inline void client_close(struct client *c)
{
	vf_device_destroy(c->device);
	vf_adapter_close(c->adapter);
}

/*
 * Fence of another client that submissions of this one wait for. A call returns after the eventfds
 * of its own client that have fired. So a test whose eventfds are slow must not signal for itself:
 * the events may fire during that call, and the call then takes as long as all of them.
 */
struct gate {
	struct client owner;
	struct vf_fence *fence;
	/* What a submission waits for. */
	struct vf_point opened;
};

static inline int gate_create(struct gate *gate, struct vf_device *device, unsigned int index)
{
	int ret = vf_adapter_open(index, &gate->owner.adapter), fd;

	ret = ret ? ret : vf_device_create(gate->owner.adapter, &gate->owner.device);
	ret = ret ? ret : vf_monitored_fence_create(gate->owner.device, DRM_VFENCE_FENCE_SHAREABLE, 0,
						    &gate->fence);
	if (ret)
		return ret;
	fd = vf_fence_export(gate->fence);
	ret = fd < 0 ? fd : vf_fence_open(device, fd, &gate->opened.fence);
	close(fd);
	gate->opened.value = 1;
	return ret;
}

static inline int gate_open(struct gate *gate)
{
	return vf_fence_signal(gate->fence, 1);
}

static inline void gate_destroy(struct gate *gate)
{
	vf_fence_destroy(gate->opened.fence);
	vf_fence_destroy(gate->fence);
	client_close(&gate->owner);
}

static inline uint64_t monitored(struct vf_fence *fence)
{
	struct drm_vfence_fence_info query;

	return vf_fence_query(fence, &query) ? 0 : query.monitored_value;
}

static inline uint64_t waiters(struct vf_fence *fence)
{
	struct drm_vfence_fence_info query;

	return vf_fence_query(fence, &query) ? 0 : query.waiters;
}

static inline uint32_t queue_state(struct vf_queue *queue)
{
	struct drm_vfence_queue_info query;

	return vf_queue_query(queue, &query) ? UINT32_MAX : query.state;
}

static inline uint32_t queue_fault(struct vf_queue *queue)
{
	struct drm_vfence_queue_info query;

	return vf_queue_query(queue, &query) ? UINT32_MAX : query.fault;
}

static inline uint32_t context_verdict(struct vf_queue *queue)
{
	struct drm_vfence_context_info query;

	return vf_queue_query_context(queue, &query) ? UINT32_MAX : query.verdict;
}

static inline uint32_t queue_verdict(struct vf_queue *queue)
{
	struct drm_vfence_queue_info query;

	return vf_queue_query(queue, &query) ? UINT32_MAX : query.verdict;
}

/* Store what the fdinfo of a file says of @key. Return: false if it has no such line. */
static inline bool fdinfo(int fd, const char *key, char *value, size_t size)
{
	char path[64], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		size_t n = strlen(key);

		if (strncmp(line, key, n) || line[n] != ':')
			continue;
		snprintf(value, size, "%s", line + n + 1 + strspn(line + n + 1, " \t"));
		value[strcspn(value, "\n")] = 0;
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

static inline int64_t fdinfo_number(int fd, const char *key)
{
	char value[128];

	return fdinfo(fd, key, value, sizeof(value)) ? atoll(value) : -1;
}

/*
 * Wait until all submissions are done, by polling, so that the test adds no CPU waiter.
 * On a failure, print the state of the queue.
 */
static inline bool drained(struct vf_queue *queue)
{
	struct drm_vfence_queue_info q;

	if (EVENTUALLY(vf_fence_current(vf_queue_progress(queue)) >=
		       vf_queue_last_queued(queue)))
		return true;
	if (!vf_queue_query(queue, &q))
		fprintf(stderr, "# queue: state %u fault %u opcode %u at %llu va %llx queued %llu progress %llu packets %llu\n",
			q.state, q.fault, q.fault_opcode, (unsigned long long)q.fault_ring_ptr,
			(unsigned long long)q.fault_va, (unsigned long long)q.last_queued,
			(unsigned long long)q.progress, (unsigned long long)q.packets);
	return false;
}

/* drained(), and the LOG packet that follows the last signal is executed, too. */
static inline bool logged(struct vf_queue *queue)
{
	return drained(queue) && EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_IDLE);
}

/* No buffer is there. */
#define NOWHERE	UINT64_C(0x7000)

/* Append a packet that hangs the engine. */
static inline void cmd_hang(struct vf_queue *queue)
{
	const struct drm_vfence_packet_header hang = {
		.opcode = DRM_VFENCE_OP_HANG, .length = sizeof(hang),
	};

	vf_cmd_raw(queue, &hang, sizeof(hang));
}

/* Hang an engine, and ask for no progress value and no log entry. */
static inline int hang_on(struct vf_queue *queue)
{
	cmd_hang(queue);
	return vf_queue_publish(queue);
}

/* Return: true if a new device of the adapter works. */
static inline bool working(struct vf_adapter *adapter)
{
	struct vf_device *device;
	struct vf_queue *queue = NULL;
	bool works;

	if (vf_device_create(adapter, &device))
		return false;
	/* A device that is lost meanwhile does not work, and another one may. */
	works = !vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue) &&
		!vf_queue_submit(queue) &&
		EVENTUALLY(vf_fence_current(vf_queue_progress(queue)) == 1 ||
			   vf_device_state(device) != DRM_VFENCE_DEVICE_ACTIVE) &&
		vf_device_state(device) == DRM_VFENCE_DEVICE_ACTIVE;
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	return works;
}

#define EQUAL(index, a, b) ({								\
	uint64_t _a = (a), _b = (b);							\
	if (_a != _b)									\
		printf("# adapter %u: " #a " is %" PRIu64 ", " #b " is %" PRIu64 "\n",	\
		       index, _a, _b);							\
	_a == _b; })

/* Return: true if the counters of an adapter without clients add up and no object is left. */
static inline bool balanced(unsigned int index)
{
	struct vf_counters c;
	struct vf_adapter *adapter;
	bool right = true;

	if (vf_adapter_open(index, &adapter))
		return false;
	/* The kernel is still cleaning up after the processes that were killed last. */
	if (!EVENTUALLY((c = counters(adapter), vf_counters_settled(&c) && !c.queues &&
			 c.fences_created == c.fences_destroyed)))
		printf("# adapter %u does not come to rest\n", index);
	right &= EQUAL(index, c.signals + c.shadow_posts, c.suppressed + c.posts);
	right &= EQUAL(index, c.posts, c.cmp_rechecked_out + c.cmp_recorded + c.cmp_overflowed);
	right &= EQUAL(index, c.cmp_recorded, c.records_useful + c.records_spurious);
	right &= EQUAL(index, c.handler_runs, c.interrupts_raised - c.interrupts_coalesced);
	right &= EQUAL(index, c.log_packets,
		       c.log_entries_read + c.log_entries_lost + c.log_entries_unread);
	right &= EQUAL(index, c.waits_begun,
		       c.waits_satisfied + c.waits_timed_out + c.waits_cancelled);
	right &= EQUAL(index, c.submissions, c.submissions_done + c.submissions_lost);
	right &= EQUAL(index, c.fences_created, c.fences_destroyed);
	right &= EQUAL(index, c.fences_opened, c.fences_closed);
	right &= EQUAL(index, c.queues, 0);
	right &= EQUAL(index, c.doorbells_connected, 0);
	printf("# adapter %u: %" PRIu64 " signals, %" PRIu64 " waits, %" PRIu64
	       " interrupts, %" PRIu64 " submissions, %" PRIu64 " log entries lost\n", index,
	       (uint64_t)c.signals, (uint64_t)c.waits_begun, (uint64_t)c.handler_runs,
	       (uint64_t)c.submissions, (uint64_t)c.log_entries_lost);
	vf_adapter_close(adapter);
	return right;
}

static inline bool fired(int efd)
{
	struct pollfd p = { .fd = efd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* Return: 1 if an event that @adapter armed has fired, 0 if not, or a negative error. */
static inline int fired_on(struct vf_adapter *adapter, int efd)
{
	struct drm_vfence_clock_info clock;
	/* Any call of the file returns after the eventfds of the events that fired before. */
	int ret = vf_adapter_clock(adapter, &clock);

	return ret ? ret : fired(efd);
}

/* Return: the time that the packets of a function have taken on a node, in ns; 0 on an error. */
static inline uint64_t node_busy_ns(struct vf_adapter *adapter, unsigned int node)
{
	struct vf_node_totals totals[8];
	unsigned int count = 8;

	if (vf_adapter_node_totals(adapter, totals, &count) || node >= count)
		return 0;
	return totals[node].busy_ns;
}

/* Arm an event that signals @efd when @fence reaches @value. */
static inline int arm(struct vf_adapter *adapter, struct vf_fence *fence, uint64_t value, int efd)
{
	struct vf_point point = { fence, value };

	return vf_event_arm(adapter, &point, 1, 0, efd, NULL);
}

/* Make the wake-ups of an eventfd long: it is in many epoll sets. */
static inline bool slow_down(int efd, int *set, unsigned int count)
{
	struct epoll_event event = { .events = EPOLLIN };
	unsigned int i;

	for (i = 0; i < count; i++) {
		set[i] = epoll_create1(EPOLL_CLOEXEC);
		if (set[i] < 0 || epoll_ctl(set[i], EPOLL_CTL_ADD, efd, &event))
			return false;
	}
	return true;
}

/*
 * Return: an eventfd in @count epoll sets, which live until the process ends, or an error. The
 * process may have that many files.
 */
static inline int slow_eventfd(unsigned int count)
{
	const struct rlimit files = { 1 << 17, 1 << 17 };
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int *set = malloc(count * sizeof(*set));
	bool slow;

	slow = !setrlimit(RLIMIT_NOFILE, &files) && set && slow_down(efd, set, count);
	free(set);
	return slow ? efd : -EMFILE;
}

#define BUSY_QUEUES	20
#define BUSY_EVENTS	16

/*
 * Let threads of the kernel spend so much for this process that it has to rest: an eventfd in @sets
 * epoll sets.
 */
static inline int be_expensive(struct vf_device *device, struct vf_queue *queue[BUSY_QUEUES],
			       unsigned int sets)
{
	struct vf_submit what = {
		.flags = DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT, .eventfd = slow_eventfd(sets),
	};
	int ret = what.eventfd < 0 ? what.eventfd : 0;
	unsigned int i, k;

	for (i = 0; !ret && i < BUSY_QUEUES; i++)
		ret = vf_kernel_queue_create(device, DRM_VFENCE_NODE_GFX, &queue[i]);
	for (k = 0; k < BUSY_EVENTS; k++)
		for (i = 0; !ret && i < BUSY_QUEUES; i++)
			ret = vf_submit(&queue[i], 1, &what);
	close(what.eventfd);
	return ret;
}

/* Return: true if all submissions of a kernel-mode queue have ended. */
static inline bool has_ended(struct vf_queue *queue)
{
	struct drm_vfence_queue_info query = { 0 };

	return !vf_queue_query(queue, &query) && !query.queued && !query.held;
}

static inline void pin(pid_t task, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(task, sizeof(set), &set);
}

/* Run @task as SCHED_FIFO with @priority, or as SCHED_OTHER if @priority is 0. */
static inline void hurry(pid_t task, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	sched_setscheduler(task, priority ? SCHED_FIFO : SCHED_OTHER, &param);
}

/* Call @what for each thread of the virtual GPU whose name begins with @name. */
static inline void each_kthread(const char *name, void (*what)(pid_t task, int arg), int arg)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");

	while (proc && (entry = readdir(proc))) {
		char path[300], comm[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		f = fopen(path, "re");
		if (f && fgets(comm, sizeof(comm), f) && !strncmp(comm, name, strlen(name)))
			what(atoi(entry->d_name), arg);
		if (f)
			fclose(f);
	}
	if (proc)
		closedir(proc);
}

/*
 * Pin a thread of the virtual GPU to a processor, apart from the threads that it races
 * with: the scheduler may keep all of them on one processor.
 */
static inline void pin_kthread(const char *name, int cpu)
{
	each_kthread(name, pin, cpu);
}

/* Return: true if the thread or process that has stored its number sleeps in that system call. */
static inline bool sleeps_in(const pid_t *thread, int number)
{
	pid_t tid = __atomic_load_n(thread, __ATOMIC_ACQUIRE);
	char path[64], text[16] = "";
	int fd;

	if (!tid)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return atoi(text) == number;
}

static inline int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	int ret = fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return ret;
}

/* Return: 1 if the dma_fence of a binary syncobj has signaled, 0 if not, or its error. */
static inline int syncobj_status(int fd, uint32_t handle)
{
	struct sync_file_info info = { 0 };
	int file = -1;
	int ret;

	if (drmSyncobjExportSyncFile(fd, handle, &file))
		return -EBADF;
	ret = ioctl(file, SYNC_IOC_FILE_INFO, &info) ? -errno : info.status;
	close(file);
	return ret;
}

#define CGROUPS	"/tmp/vfence_cgroups"

/* Move a process to a control group of its own, with a @controller unless it is NULL. */
static inline int cgroup_take(const char *group, const char *controller, pid_t task)
{
	char path[96], pid[16];

	mkdir(CGROUPS, 0700);
	if (access(CGROUPS "/cgroup.procs", F_OK) && mount("none", CGROUPS, "cgroup2", 0, NULL))
		return -errno;
	if (controller && write_text(CGROUPS "/cgroup.subtree_control", controller))
		return -EOPNOTSUPP;
	mkdir(group, 0700);
	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	snprintf(pid, sizeof(pid), "%d", task);
	return write_text(path, pid);
}

/* Write "bind" or "unbind" for an adapter. */
static inline int driver(const char *what, unsigned int index)
{
	char path[100], name[20];

	snprintf(path, sizeof(path), "/sys/bus/platform/drivers/vfence/%s", what);
	snprintf(name, sizeof(name), "vfence.%u", index ? index : first_adapter());
	return write_text(path, name);
}

/* Store the path of an adapter's file in debugfs to @path. */
static inline int debugfs_path(unsigned int index, const char *name, char *path, size_t size)
{
	char folder[64];
	struct dirent *entry;
	int ret = -ENOENT;
	DIR *dir;

	snprintf(folder, sizeof(folder), "/sys/bus/platform/devices/vfence.%u/drm",
		 index ? index : first_adapter());
	dir = opendir(folder);
	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, "card", 4))
			continue;
		snprintf(path, size, "/sys/kernel/debug/dri/%s/%s", entry->d_name + 4, name);
		ret = 0;
	}
	if (dir)
		closedir(dir);
	return ret;
}

/* Find the line of an adapter's file that has both texts, and the number behind a key in it. */
static inline bool find_line(unsigned int index, const char *file, const char *text,
			     const char *other, const char *key, uint64_t *number)
{
	char path[400], line[512], *at;
	bool found = false;
	FILE *f;

	if (debugfs_path(index, file, path, sizeof(path)))
		return false;
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		at = strstr(line, key);
		found = strstr(line, text) && strstr(line, other) && at;
		if (found)
			*number = strtoull(at + strlen(key), NULL, 0);
	}
	if (f)
		fclose(f);
	return found;
}

static inline bool find_state(unsigned int index, const char *text, const char *other,
			      const char *key, uint64_t *number)
{
	return find_line(index, "state", text, other, key, number);
}

/* Write @value to an adapter's file in debugfs. */
static inline int debugfs_write(unsigned int index, const char *name, const char *value)
{
	char path[400];
	int ret = debugfs_path(index, name, path, sizeof(path));

	return ret ? ret : write_text(path, value);
}

/* Inject a fault into an adapter, or take it back. */
static inline int inject(unsigned int index, const char *name, const char *value)
{
	char text[64];

	snprintf(text, sizeof(text), "%s %s", name, value);
	return debugfs_write(index, "inject", text);
}

/* Return: what is injected; UINT64_MAX without such an injection. */
static inline uint64_t injected(unsigned int index, const char *name)
{
	uint64_t value = UINT64_MAX;
	char key[64];

	snprintf(key, sizeof(key), "%s ", name);
	find_line(index, "inject", key, "", key, &value);
	return value;
}

/*
 * Let the CMP of an adapter handle the posts that "hold_posts" has held back. The end of a queue
 * flushes, which wakes the CMP. It waits, too, so it is the queue of another file: a wait sets the
 * events of its own.
 */
static inline int release_posts(unsigned int index)
{
	struct vf_queue *queue;
	struct client other;
	int ret = inject(index, "hold_posts", "0");

	ret = ret ? ret : vf_adapter_open(index, &other.adapter);
	if (ret)
		return ret;
	ret = vf_device_create(other.adapter, &other.device);
	ret = ret ? ret : vf_queue_create(other.device, DRM_VFENCE_NODE_COPY, 4096, &queue);
	if (!ret) {
		vf_queue_destroy(queue);
		vf_device_destroy(other.device);
	}
	vf_adapter_close(other.adapter);
	return ret;
}

/* Return: true if @efd is signaled @times times, and not more often. */
static inline bool fires(int efd, uint64_t times)
{
	uint64_t count = 0, more;

	return EVENTUALLY((count += read(efd, &more, 8) == 8 ? more : 0) >= times) &&
	       count == times;
}

/* Write @value to an attribute in the folder "tdr" of an adapter. */
static inline int tdr_configure(unsigned int index, const char *name, const char *value)
{
	char path[100];

	snprintf(path, sizeof(path), "/sys/bus/platform/devices/vfence.%u/tdr/%s",
		 index ? index : first_adapter(), name);
	return write_text(path, value);
}

/* Skip the whole program if there is no adapter, as kselftest expects. */
static void __attribute__((constructor)) needs_an_adapter(void)
{
	struct vf_adapter *adapter;
	unsigned int i;

	for (i = 0; i < 16; i++) {
		if (vf_adapter_open(i, &adapter))
			continue;
		vf_adapter_close(adapter);
		return;
	}
	puts("TAP version 13\n1..0 # SKIP no adapter: load the module (insmod vfence.ko)");
	exit(KSFT_SKIP);
}

/* Open the kernel's log at its end, for kernel_said(). This needs root. */
static inline int kernel_log(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/* Return: how many lines with @text the kernel has logged since the last call. */
static inline unsigned int kernel_lines(int log, const char *text)
{
	unsigned int count = 0;
	char line[8192];
	ssize_t n;

	/* EPIPE: the kernel has overwritten messages that we have not read. */
	while ((n = read(log, line, sizeof(line) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		line[n < 0 ? 0 : n] = 0;
		count += !!strstr(line, text);
	}
	return count;
}

/* Return: true if the kernel has logged @text since the last call. */
static inline bool kernel_said(int log, const char *text)
{
	return kernel_lines(log, text) > 0;
}

/* Members for an adapter with a device, a queue on GFX and a queue on COPY. */
#define VFENCE_MEMBERS							\
	struct vf_adapter *adapter;					\
	struct vf_device *device;					\
	struct vf_queue *gfx;						\
	struct vf_queue *copy;						\
	int fd

#define VFENCE_SETUP(index) do {						\
	ASSERT_EQ(0, vf_adapter_open(index, &self->adapter));			\
	self->fd = vf_adapter_fd(self->adapter);				\
	ASSERT_EQ(0, vf_device_create(self->adapter, &self->device));		\
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX,		\
				     65536, &self->gfx));			\
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COPY,	\
				     65536, &self->copy));			\
} while (0)

#define VFENCE_TEARDOWN() do {							\
	vf_queue_abort(self->copy);						\
	vf_queue_abort(self->gfx);						\
	vf_queue_destroy(self->copy);						\
	vf_queue_destroy(self->gfx);						\
	vf_device_destroy(self->device);					\
	vf_adapter_close(self->adapter);					\
} while (0)

#endif
