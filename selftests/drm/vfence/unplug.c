// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a client keeps while another DRM device of the machine is unplugged: nothing. A call that
 * copies to its client takes as long as the client likes, as the page may be one of a file system
 * that the client itself serves. The tests unbind and bind the driver by sysfs, so they run last and
 * alone.
 */

#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include "vfence_test.h"

#define PAGE		4096
#define MOUNT_POINT	"/tmp/vfence_fuse"
#define FILE_NODE	2

/* A file system with one file of one page, whose server never answers a read. */
struct server {
	int fd;
	pthread_t thread;
	int asked;
};

static void answer(int fd, uint64_t unique, int error, const void *data, size_t size)
{
	char out[512] = { 0 };
	struct fuse_out_header *header = (void *)out;

	*header = (struct fuse_out_header){
		.len = sizeof(*header) + (error ? 0 : size), .error = error, .unique = unique,
	};
	if (!error && size)
		memcpy(header + 1, data, size);
	/* An error means that the kernel has given the request up. */
	if (write(fd, out, header->len) < 0)
		return;
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node, .nlink = 1, .blksize = PAGE, .size = node == FILE_NODE ? PAGE : 0,
		.mode = node == FILE_NODE ? S_IFREG | 0600 : S_IFDIR | 0700,
	};
}

static void serve_one(struct server *server, const struct fuse_in_header *in)
{
	const struct fuse_init_in *init = (const void *)(in + 1);
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION, .minor = init->minor, .max_write = PAGE,
	};
	struct fuse_entry_out entry = {
		.nodeid = FILE_NODE, .attr_valid = 1000, .entry_valid = 1000,
		.attr = attributes(FILE_NODE),
	};
	struct fuse_attr_out attr = { .attr_valid = 1000, .attr = attributes(in->nodeid) };
	struct fuse_open_out opened = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		answer(server->fd, in->unique, 0, &out, sizeof(out));
		break;
	case FUSE_LOOKUP:
		answer(server->fd, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(server->fd, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(server->fd, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		__atomic_store_n(&server->asked, 1, __ATOMIC_RELEASE);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(server->fd, in->unique, -ENOSYS, NULL, 0);
	}
}

static void *serve(void *arg)
{
	struct server *server = arg;
	char buffer[FUSE_MIN_READ_BUFFER + PAGE];
	ssize_t n;

	while ((n = read(server->fd, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR))
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			serve_one(server, (const void *)buffer);
	return NULL;
}

static int server_start(struct server *server)
{
	char options[100];

	server->asked = 0;
	server->fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (server->fd < 0)
		return -errno;
	mkdir(MOUNT_POINT, 0700);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", server->fd);
	if (mount("vfence", MOUNT_POINT, "fuse", MS_NOSUID | MS_NODEV, options))
		return -errno;
	return -pthread_create(&server->thread, NULL, serve, server);
}

/* The server has gone: all that waits for its answers fails. */
static void server_stop(struct server *server)
{
	umount2(MOUNT_POINT, MNT_FORCE | MNT_DETACH);
	pthread_join(server->thread, NULL);
	close(server->fd);
}

/* A call that copies to @page. */
typedef int (*call_fn)(struct client *client, void *page);

static int call_query(struct client *client, void *page)
{
	struct drm_vfence_query args = {
		.type = DRM_VFENCE_QUERY_LIMITS, .size = PAGE, .data = (uintptr_t)page,
	};

	return raw(vf_adapter_fd(client->adapter), DRM_IOCTL_VFENCE_QUERY, &args);
}

static int call_log_read(struct client *client, void *page)
{
	struct drm_vfence_log_read args = {
		.log = DRM_VFENCE_LOG_SIGNALS,
		.entries = {
			.array = (uintptr_t)page, .count = 1,
			.stride = sizeof(struct drm_vfence_log_entry),
		},
	};
	struct vf_queue *queue;
	int ret = vf_queue_create(client->device, DRM_VFENCE_NODE_GFX, 4096, &queue);

	if (ret)
		return ret;
	args.queue = vf_queue_handle(queue);
	ret = vf_queue_submit(queue);
	if (!logged(queue))
		return -ETIME;
	return ret ? ret : raw(vf_adapter_fd(client->adapter), DRM_IOCTL_VFENCE_LOG_READ, &args);
}

static int call_wait_set(struct client *client, void *page)
{
	struct drm_vfence_wait_set_wait args = {
		.timeout_ns = INT64_MAX,
		.ready = {
			.array = (uintptr_t)page, .count = 1,
			.stride = sizeof(struct drm_vfence_wait_set_ready),
		},
	};
	struct drm_vfence_wait_set_create create = { .entries = 1 };
	struct drm_vfence_wait_set_update update = { 0 };
	int fd = vf_adapter_fd(client->adapter);
	struct vf_fence *fence;
	int ret = vf_fence_create(client->device, 0, 0, &fence);

	ret = ret ? ret : raw(fd, DRM_IOCTL_VFENCE_WAIT_SET_CREATE, &create);
	if (ret)
		return ret;
	update.fence = vf_fence_handle(fence);
	args.set = create.handle;
	args.updates = (struct drm_vfence_obj_array){
		.array = (uintptr_t)&update, .count = 1, .stride = sizeof(update),
	};
	return raw(fd, DRM_IOCTL_VFENCE_WAIT_SET_WAIT, &args);
}

static int call_submit(struct client *client, void *page)
{
	struct drm_vfence_submit args = {
		.queues = {
			.array = (uintptr_t)page, .count = 1,
			.stride = sizeof(struct drm_vfence_submit_queue),
		},
	};

	return raw(vf_adapter_fd(client->adapter), DRM_IOCTL_VFENCE_SUBMIT, &args);
}

FIXTURE(unplug) {
	struct server server;
	pid_t client;
	bool unbound;
};

FIXTURE_VARIANT(unplug) {
	call_fn call;
};

FIXTURE_VARIANT_ADD(unplug, query) { .call = call_query };
FIXTURE_VARIANT_ADD(unplug, log_read) { .call = call_log_read };
FIXTURE_VARIANT_ADD(unplug, wait_set) { .call = call_wait_set };
FIXTURE_VARIANT_ADD(unplug, submit) { .call = call_submit };

FIXTURE_SETUP(unplug)
{
	struct vf_adapter *other;

	if (geteuid() || access("/dev/fuse", R_OK | W_OK))
		SKIP(return, "needs root and FUSE");
	if (vf_adapter_open(1, &other))
		SKIP(return, "needs two adapters");
	vf_adapter_close(other);
	ASSERT_EQ(0, server_start(&self->server));
	self->unbound = false;
}

FIXTURE_TEARDOWN(unplug)
{
	if (self->unbound)
		EXPECT_EQ(0, driver("bind", 1));
}

/*
 * The child: touch the page in a call of the driver alone. It must not keep the connection to the
 * server, or it would wait for itself when it is killed with the server.
 */
static void be_client(call_fn call, int server)
{
	int file = open(MOUNT_POINT "/page", O_RDWR | O_CLOEXEC);
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	struct client client;

	close(server);
	if (file < 0 || page == MAP_FAILED || client_open(&client))
		_exit(1);
	_exit(call(&client, page) ? 2 : 3);
}

struct unbinding {
	int ret;
	int done;
};

static void *unbind_other(void *arg)
{
	struct unbinding *unbinding = arg;

	unbinding->ret = driver("unbind", 1);
	__atomic_store_n(&unbinding->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

TEST_F(unplug, a_copy_to_a_client_keeps_no_other_device)
{
	struct unbinding unbinding = { 0 };
	pthread_t thread;
	int status = 0;

	self->client = fork();
	if (!self->client)
		be_client(variant->call, self->server.fd);
	/* The client is in the copy from here on, and cannot leave it. */
	ASSERT_TRUE(EVENTUALLY(__atomic_load_n(&self->server.asked, __ATOMIC_ACQUIRE) ||
			       waitpid(self->client, &status, WNOHANG)));
	ASSERT_EQ(0, status);

	ASSERT_EQ(0, pthread_create(&thread, NULL, unbind_other, &unbinding));
	EXPECT_TRUE(EVENTUALLY(__atomic_load_n(&unbinding.done, __ATOMIC_ACQUIRE)));
	EXPECT_EQ(0, waitpid(self->client, &status, WNOHANG));

	/* Nothing else keeps a client that is killed. */
	kill(self->client, SIGKILL);
	server_stop(&self->server);
	EXPECT_TRUE(EVENTUALLY(waitpid(self->client, &status, WNOHANG) == self->client));
	EXPECT_TRUE(WIFSIGNALED(status));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, unbinding.ret);
	self->unbound = true;
}

FIXTURE(gate) {
	bool unbound;
};

FIXTURE_SETUP(gate)
{
	struct vf_adapter *other;

	if (geteuid() || vf_adapter_open(1, &other))
		SKIP(return, "needs root and two adapters");
	vf_adapter_close(other);
	self->unbound = false;
}

FIXTURE_TEARDOWN(gate)
{
	if (self->unbound)
		EXPECT_EQ(0, driver("bind", 1));
}

static void *stay_in_gate(void *arg)
{
	__atomic_store_n((pid_t *)arg, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	inject(0, "stay_ms", "600000");
	return NULL;
}

static void do_nothing(int number)
{
}

/* Calls that use the hardware hold up the unplug of their own adapter alone. */
TEST_F(gate, a_thread_that_sleeps_in_it_keeps_no_other_device)
{
	struct sigaction action = { .sa_handler = do_nothing };
	struct unbinding unbinding = { 0 };
	pthread_t staying, thread;
	pid_t tid = 0;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, pthread_create(&staying, NULL, stay_in_gate, &tid));
	ASSERT_TRUE(EVENTUALLY(sleeps_in(&tid, SYS_write)));
	ASSERT_EQ(0, pthread_create(&thread, NULL, unbind_other, &unbinding));
	EXPECT_TRUE(EVENTUALLY(__atomic_load_n(&unbinding.done, __ATOMIC_ACQUIRE)));
	EXPECT_TRUE(sleeps_in(&tid, SYS_write));
	pthread_kill(staying, SIGUSR1);
	pthread_join(staying, NULL);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, unbinding.ret);
	self->unbound = true;
}

FIXTURE(resting) {
	struct client owner, client;
	bool unbound;
};

/* Both support cross-adapter fences as native ones. */
#define THERE	8

FIXTURE_SETUP(resting)
{
	if (geteuid() || access("/sys/bus/platform/devices/vfence.8/drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	ASSERT_EQ(0, client_open(&self->client));
	ASSERT_EQ(0, vf_adapter_open(THERE, &self->owner.adapter));
	ASSERT_EQ(0, vf_device_create(self->owner.adapter, &self->owner.device));
	self->unbound = false;
}

FIXTURE_TEARDOWN(resting)
{
	client_close(&self->owner);
	client_close(&self->client);
	if (self->unbound)
		EXPECT_EQ(0, driver("bind", THERE));
}

/* What has ended before is signaled before the waits end that only this adapter could signal. */
TEST_F(resting, signals_of_a_client_that_rests_are_not_lost)
{
	const unsigned int count = 40;
	struct vf_queue *busy[BUSY_QUEUES];
	struct vf_fence *fence, *reader;
	struct vf_point done;
	struct vf_submit what = { .signals = &done, .signal_count = 1 };
	unsigned int i;
	int fd;

	ASSERT_EQ(0, vf_fence_create(self->owner.device, DRM_VFENCE_FENCE_SHAREABLE |
				     DRM_VFENCE_FENCE_CROSS_ADAPTER, 0, &fence));
	fd = vf_fence_export_rights(fence, DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT);
	ASSERT_EQ(0, vf_fence_open(self->client.device, fd, &reader));
	close(fd);
	ASSERT_EQ(0, be_expensive(self->owner.device, busy, 40000));
	/* More than a chore signals in one turn. */
	for (i = 1; i <= count; i++) {
		done = (struct vf_point){ fence, i };
		ASSERT_EQ(0, vf_submit(&busy[0], 1, &what));
	}
	ASSERT_TRUE(EVENTUALLY(has_ended(busy[0])));
	if (vf_fence_current(reader) == count)
		TH_LOG("the machine is too slow for this test");

	ASSERT_EQ(0, driver("unbind", THERE));
	self->unbound = true;
	EXPECT_EQ(0, vf_fence_wait(reader, count, DEADLINE));
	EXPECT_EQ(-ECANCELED, vf_fence_wait(reader, count + 1, DEADLINE));

	for (i = 0; i < BUSY_QUEUES; i++)
		vf_queue_destroy(busy[i]);
	vf_fence_destroy(reader);
	vf_fence_destroy(fence);
}

TEST_HARNESS_MAIN
