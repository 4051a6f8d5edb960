// SPDX-License-Identifier: GPL-2.0-only
/*
 * What keeps the object of a work that is late: each test holds a work at its beginning, takes away
 * all other references to what it uses, and lets it go on. The kernel poisons memory that is freed,
 * or watches it (KASAN): a work that uses it stops the guest. At the end no object may be left.
 *
 * Needs a test build of the module (VFENCE_RACE_POINTS=y), and two processors.
 */

#include "vfence_test.h"

#define HOLD	"/sys/module/vfence/parameters/hold"

/* Its engines ask for F1. */
#define F1_ADAPTER	10

/* A client in a process of its own: when it is killed, all its references go. */
struct stage {
	struct client client;
	struct vf_queue *kernel, *user;
	struct vf_fence *fence;
	int efd;
};

FIXTURE(holds) {
	pid_t pid;
};

static int hold(const char *name)
{
	return write_text(HOLD, name);
}

/* Return: true if a thread is held at @where, or at any hold if that is NULL. */
static bool is_held_at(const char *where)
{
	char name[32] = "";
	int held = 0;
	FILE *f = fopen(HOLD, "re");

	if (f && fscanf(f, "%31s %d", name, &held) != 2)
		held = 0;
	if (f)
		fclose(f);
	return held && (!where || !strcmp(name, where));
}

static bool is_held(void)
{
	return is_held_at(NULL);
}

static bool still_there(void)
{
	struct vf_adapter *adapter;

	if (vf_adapter_open(0, &adapter))
		return false;
	vf_adapter_close(adapter);
	return true;
}

FIXTURE_SETUP(holds)
{
	if (access(HOLD, W_OK))
		SKIP(return, "needs root and a test build of the module");
	ASSERT_EQ(0, hold("none"));
	self->pid = 0;
}

FIXTURE_TEARDOWN(holds)
{
	if (self->pid)
		kill(self->pid, SIGKILL);
	EXPECT_EQ(0, hold("none"));
	EXPECT_EQ(0, tdr_configure(0, "delay_ms", "2000"));
	EXPECT_EQ(0, tdr_configure(0, "limit_time_s", "60"));
}

static int stage_open(struct stage *s)
{
	int ret = client_open(&s->client);

	ret = ret ? ret : vf_kernel_queue_create(s->client.device, DRM_VFENCE_NODE_GFX, &s->kernel);
	ret = ret ? ret : vf_queue_create(s->client.device, DRM_VFENCE_NODE_COPY, 4096, &s->user);
	s->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return ret ? ret : vf_fence_create(s->client.device, 0, 0, &s->fence);
}

static void stage_close(struct stage *s)
{
	vf_queue_destroy(s->kernel);
	vf_queue_destroy(s->user);
	vf_fence_destroy(s->fence);
	close(s->efd);
	client_close(&s->client);
}

/* Start a client, which does @what and stays. A failure ends it. */
static pid_t stage(int (*what)(struct stage *s))
{
	struct stage s = { .efd = -1 };
	pid_t pid = fork();

	if (pid)
		return pid;
	if (stage_open(&s) || what(&s))
		_exit(1);
	for (;;)
		pause();
}

/* A call of the client in a thread of its own, as it may wait for what is held. */
struct call {
	int fd;
	/* Zero for DESTROY of an object of this type. */
	unsigned long request;
	enum drm_vfence_object type;
	uint32_t handle;
	int ret;
	int done;
	pid_t tid;
	pthread_t thread;
};

static void *make_call(void *arg)
{
	struct call *call = arg;
	/* All other calls name the object first; connect has the largest structure. */
	struct drm_vfence_doorbell_connect args = { .queue = call->handle };

	call->ret = call->request ? raw(call->fd, call->request, &args) :
				    destroy_object(call->fd, call->type, call->handle);
	__atomic_store_n(&call->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static int call_begin(struct call *call, int fd, unsigned long request, uint32_t handle)
{
	*call = (struct call){ .fd = fd, .request = request, .handle = handle };
	return -pthread_create(&call->thread, NULL, make_call, call);
}

static int destroy_begin(struct call *call, int fd, enum drm_vfence_object type, uint32_t handle)
{
	*call = (struct call){ .fd = fd, .type = type, .handle = handle };
	return -pthread_create(&call->thread, NULL, make_call, call);
}

static bool call_is_done(struct call *call)
{
	return __atomic_load_n(&call->done, __ATOMIC_ACQUIRE);
}

static int call_end(struct call *call)
{
	pthread_join(call->thread, NULL);
	return call->ret;
}

/* Objects of the same size take the place of those that are freed. */
static void churn(void)
{
	struct client other;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct vf_queue *queue = NULL;

		if (client_open(&other))
			return;
		vf_kernel_queue_create(other.device, DRM_VFENCE_NODE_GFX, &queue);
		vf_queue_destroy(queue);
		client_close(&other);
	}
}

/*
 * Hold the named work, which the client causes, and kill the client: nothing else has a reference.
 * The end of the process waits for the work. Then the work goes on.
 */
static void kill_beside(struct __test_metadata *_metadata, FIXTURE_DATA(holds) *self,
			const char *work, int (*what)(struct stage *s))
{
	int status;

	ASSERT_EQ(0, hold(work));
	self->pid = stage(what);
	ASSERT_TRUE(EVENTUALLY(is_held() || waitpid(self->pid, &status, WNOHANG)));
	ASSERT_TRUE(is_held());
	kill(self->pid, SIGKILL);
	churn();
	EXPECT_TRUE(is_held());
	EXPECT_EQ(0, waitpid(self->pid, &status, WNOHANG));
	ASSERT_EQ(0, hold("none"));
	EXPECT_TRUE(EVENTUALLY(waitpid(self->pid, &status, WNOHANG) == self->pid));
	self->pid = 0;
	churn();
}

/*
 * A thread has found a queue and stops it after another thread has destroyed it: the works that it
 * queues then are the last ones that use the queue.
 */
static const char *late_work;

static int stop_late(struct stage *s)
{
	int fd = vf_adapter_fd(s->client.adapter);
	uint32_t handle = vf_queue_handle(s->kernel);
	struct call abort, destroy;

	if (hold("QUEUE_STOP") || call_begin(&abort, fd, DRM_IOCTL_VFENCE_QUEUE_ABORT, handle) ||
	    !EVENTUALLY(is_held()) ||
	    destroy_begin(&destroy, fd, DRM_VFENCE_OBJECT_QUEUE, handle))
		return 1;
	/* It ends although the other thread is held. */
	if (!EVENTUALLY(call_is_done(&destroy)) || call_end(&destroy))
		return 1;
	churn();
	return hold(late_work);
}

/* As kill_beside(), for a work that the client names last. */
static void kill_late(struct __test_metadata *_metadata, FIXTURE_DATA(holds) *self,
		      int (*what)(struct stage *s))
{
	int status;

	self->pid = stage(what);
	ASSERT_TRUE(EVENTUALLY(is_held_at(late_work) || waitpid(self->pid, &status, WNOHANG)));
	ASSERT_TRUE(is_held_at(late_work));
	kill(self->pid, SIGKILL);
	churn();
	EXPECT_TRUE(is_held_at(late_work));
	EXPECT_EQ(0, waitpid(self->pid, &status, WNOHANG));
	ASSERT_EQ(0, hold("none"));
	EXPECT_TRUE(EVENTUALLY(waitpid(self->pid, &status, WNOHANG) == self->pid));
	self->pid = 0;
	churn();
}

TEST_F(holds, a_queue_that_is_stopped_late_keeps_its_advance_work)
{
	late_work = "ADVANCE";
	kill_late(_metadata, self, stop_late);
}

TEST_F(holds, a_queue_that_is_stopped_late_keeps_its_stage_work)
{
	late_work = "STAGE";
	kill_late(_metadata, self, stop_late);
}

/* The retire work has the last reference: another work frees the queue, as resets wait for it. */
static int retire_last(struct stage *s)
{
	vf_cmd_nop(s->kernel, 8);
	if (hold("RETIRE") || vf_queue_submit(s->kernel) || !EVENTUALLY(is_held()) ||
	    destroy_object(vf_adapter_fd(s->client.adapter), DRM_VFENCE_OBJECT_QUEUE,
			   vf_queue_handle(s->kernel)))
		return 1;
	return hold("QUEUE_FREE");
}

TEST_F(holds, a_file_waits_for_the_work_that_frees_its_queue)
{
	late_work = "QUEUE_FREE";
	kill_late(_metadata, self, retire_last);
}

static int submit_nop(struct stage *s)
{
	vf_cmd_nop(s->kernel, 8);
	return vf_queue_submit(s->kernel);
}

TEST_F(holds, the_retire_work_keeps_a_queue_that_is_destroyed)
{
	kill_beside(_metadata, self, "RETIRE", submit_nop);
}

TEST_F(holds, a_queue_waits_for_the_work_that_frees_its_submission)
{
	kill_beside(_metadata, self, "SUBMISSION_FREE", submit_nop);
}

static int submit_illegal(struct stage *s)
{
	const struct drm_vfence_packet_header illegal = { .opcode = 0xff, .length = 8 };

	vf_cmd_raw(s->user, &illegal, sizeof(illegal));
	return vf_queue_publish(s->user);
}

TEST_F(holds, the_fault_work_keeps_a_queue_that_is_destroyed)
{
	kill_beside(_metadata, self, "QUEUE_FAULT", submit_illegal);
}

static int submit_to_user_queue(struct stage *s)
{
	return vf_queue_submit(s->user);
}

TEST_F(holds, a_doorbell_waits_for_its_arm_work)
{
	kill_beside(_metadata, self, "ARM", submit_to_user_queue);
}

TEST_F(holds, a_doorbell_waits_for_its_change_work)
{
	kill_beside(_metadata, self, "CHANGE", submit_to_user_queue);
}

/* Two clients of the adapter that has two doorbells; each has one of them, and more queues. */
struct pair {
	struct client owner, other;
	struct vf_queue *first, *second, *third;
};

static int pair_open(struct pair *p)
{
	int ret = vf_adapter_open(1, &p->owner.adapter);

	ret = ret ? ret : vf_adapter_open(1, &p->other.adapter);
	ret = ret ? ret : vf_device_create(p->owner.adapter, &p->owner.device);
	ret = ret ? ret : vf_device_create(p->other.adapter, &p->other.device);
	ret = ret ? ret : vf_queue_create(p->owner.device, DRM_VFENCE_NODE_GFX, 4096, &p->second);
	ret = ret ? ret : vf_queue_create(p->other.device, DRM_VFENCE_NODE_COPY, 4096, &p->third);
	ret = ret ? ret : vf_queue_create(p->owner.device, DRM_VFENCE_NODE_GFX, 4096, &p->first);
	ret = ret ? ret : vf_queue_submit(p->first);
	ret = ret ? ret : vf_queue_submit(p->third);
	return ret ? ret : drained(p->first) && drained(p->third) ? 0 : -ETIME;
}

static void pair_close(struct pair *p)
{
	vf_queue_destroy(p->first);
	vf_queue_destroy(p->second);
	vf_queue_destroy(p->third);
	client_close(&p->owner);
	client_close(&p->other);
}

static int pair_connect(struct call *call, struct client *c, struct vf_queue *queue)
{
	return call_begin(call, vf_adapter_fd(c->adapter), DRM_IOCTL_VFENCE_DOORBELL_CONNECT,
			  vf_queue_handle(queue));
}

/* What the other client does with its own doorbells, in a call that may have to wait. */
static void *use_doorbells(void *arg)
{
	struct call *call = arg;
	struct pair *p = (struct pair *)(uintptr_t)call->request;
	struct drm_vfence_doorbell_connect connect = { .queue = vf_queue_handle(p->third) };
	struct vf_queue *more;
	int ret = raw(vf_adapter_fd(p->other.adapter), DRM_IOCTL_VFENCE_DOORBELL_CONNECT, &connect);

	ret = ret ? ret : vf_queue_submit(p->third);
	if (!ret && !logged(p->third))
		ret = -ETIME;
	ret = ret ? ret : vf_queue_create(p->other.device, DRM_VFENCE_NODE_COPY, 4096, &more);
	if (!ret)
		vf_queue_destroy(more);
	call->ret = ret;
	__atomic_store_n(&call->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

TEST_F(holds, a_doorbell_that_leaves_delays_no_other_client)
{
	struct call connect, use = { .done = 0 };
	struct pair p;

	ASSERT_EQ(0, pair_open(&p));
	/* The second queue takes the doorbell of the first one, which a thread disconnects. */
	ASSERT_EQ(0, hold("CHANGE"));
	ASSERT_EQ(0, pair_connect(&connect, &p.owner, p.second));
	ASSERT_TRUE(EVENTUALLY(is_held()));
	use.request = (uintptr_t)&p;
	ASSERT_EQ(0, pthread_create(&use.thread, NULL, use_doorbells, &use));
	EXPECT_TRUE(EVENTUALLY(call_is_done(&use)));
	EXPECT_TRUE(is_held());
	EXPECT_FALSE(call_is_done(&connect));
	ASSERT_EQ(0, hold("none"));
	EXPECT_EQ(0, call_end(&use));
	EXPECT_EQ(0, call_end(&connect));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_CONNECTED, vf_queue_status(p.third));
	pair_close(&p);
}

/* No other doorbell has a physical one that is in transit. */
TEST_F(holds, a_physical_doorbell_has_one_owner)
{
	struct call connect;
	struct pair p;

	ASSERT_EQ(0, pair_open(&p));
	ASSERT_EQ(0, hold("CHANGE"));
	ASSERT_EQ(0, pair_connect(&connect, &p.owner, p.second));
	ASSERT_TRUE(EVENTUALLY(is_held()));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_CONNECTED, vf_queue_status(p.first));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY, vf_queue_status(p.second));
	churn();
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY, vf_queue_status(p.second));
	ASSERT_EQ(0, hold("none"));
	EXPECT_EQ(0, call_end(&connect));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY, vf_queue_status(p.first));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_CONNECTED, vf_queue_status(p.second));
	pair_close(&p);
}

/* The call stops a queue with work, and others decide how long the ends of their waits take. */
TEST_F(holds, a_doorbell_that_goes_keeps_no_other_call)
{
	struct vf_device *device = NULL;
	struct call doorbell, other;
	struct pair p;

	ASSERT_EQ(0, pair_open(&p));
	ASSERT_EQ(0, hang_on(p.first));
	ASSERT_TRUE(EVENTUALLY(queue_state(p.first) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, hold("QUEUE_STOP"));
	ASSERT_EQ(0, destroy_begin(&doorbell, vf_adapter_fd(p.owner.adapter),
				   DRM_VFENCE_OBJECT_DOORBELL, vf_queue_handle(p.first)));
	ASSERT_TRUE(EVENTUALLY(is_held()));
	/* Neither the lock of the file nor the gate of the adapter is taken. */
	ASSERT_EQ(0, destroy_begin(&other, vf_adapter_fd(p.owner.adapter),
				   DRM_VFENCE_OBJECT_DOORBELL, vf_queue_handle(p.second)));
	EXPECT_TRUE(EVENTUALLY(call_is_done(&other)));
	EXPECT_EQ(0, call_end(&other));
	EXPECT_EQ(0, inject(1, "reset_adapter", "1"));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(p.other.device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_EQ(0, vf_device_create(p.other.adapter, &device));
	EXPECT_TRUE(is_held());
	EXPECT_FALSE(call_is_done(&doorbell));
	vf_device_destroy(device);
	ASSERT_EQ(0, hold("none"));
	EXPECT_EQ(0, call_end(&doorbell));
	pair_close(&p);
}

/* The client of an adapter whose engines ask for F1, and all are in it. */
struct idle_client {
	struct client client;
	struct vf_queue *queue;
	struct vf_counters before;
};

static int idle_open(struct idle_client *c)
{
	int ret = vf_adapter_open(F1_ADAPTER, &c->client.adapter);

	ret = ret ? ret : vf_device_create(c->client.adapter, &c->client.device);
	ret = ret ? ret : vf_queue_create(c->client.device, DRM_VFENCE_NODE_GFX, 4096, &c->queue);
	if (ret)
		return ret;
	return EVENTUALLY((c->before = counters(c->client.adapter), c->before.engines_in_f1 == 5)) ?
	       0 : -ETIME;
}

static void idle_close(struct idle_client *c)
{
	vf_queue_destroy(c->queue);
	client_close(&c->client);
}

/* The interrupt by which an idle engine asks for F1. */
static bool engine_has_asked(struct idle_client *c)
{
	return EVENTUALLY(counters(c->client.adapter).interrupts_raised > c->before.interrupts_raised);
}

/* An engine asks for F1 when a thread has connected a doorbell, and not yet noted that it has. */
TEST_F(holds, WDDM_196_an_engine_takes_a_doorbell_that_has_just_been_connected)
{
	struct idle_client c;
	struct call connect;

	ASSERT_EQ(0, idle_open(&c));
	ASSERT_EQ(0, hold("CONNECTED"));
	ASSERT_EQ(0, pair_connect(&connect, &c.client, c.queue));
	ASSERT_TRUE(EVENTUALLY(is_held()));
	ASSERT_TRUE(engine_has_asked(&c));
	/* No event tells that the driver has answered: it waits for the thread, if it is right. */
	usleep(50000);
	EXPECT_EQ(4, counters(c.client.adapter).engines_in_f1);
	ASSERT_EQ(0, hold("none"));
	EXPECT_EQ(0, call_end(&connect));
	EXPECT_TRUE(EVENTUALLY(counters(c.client.adapter).engines_in_f1 == 5));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY, vf_queue_status(c.queue));
	idle_close(&c);
}

static void *reconnect_all(void *arg)
{
	struct call *call = arg;

	__atomic_store_n(&call->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	call->ret = inject(1, "notify_work", "0");
	__atomic_store_n(&call->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* A doorbell that is told to leave while a thread connects it leaves, and connects again. */
TEST_F(holds, a_doorbell_that_leaves_while_it_connects_can_connect_again)
{
	struct call connect, all = { .done = 0 };
	struct pair p;

	ASSERT_EQ(0, pair_open(&p));
	ASSERT_EQ(0, hold("CONNECTED"));
	ASSERT_EQ(0, pair_connect(&connect, &p.owner, p.second));
	ASSERT_TRUE(EVENTUALLY(is_held()));
	ASSERT_EQ(0, pthread_create(&all.thread, NULL, reconnect_all, &all));
	/* The queues leave in the order in which they were made: the call waits for the second one. */
	EXPECT_TRUE(EVENTUALLY(sleeps_in(&all.tid, SYS_write)));
	churn();
	EXPECT_FALSE(call_is_done(&all));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_CONNECTED, vf_queue_status(p.third));
	ASSERT_EQ(0, hold("none"));
	EXPECT_EQ(0, call_end(&connect));
	EXPECT_EQ(0, call_end(&all));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY, vf_queue_status(p.second));
	ASSERT_EQ(0, pair_connect(&connect, &p.owner, p.second));
	EXPECT_EQ(0, call_end(&connect));
	/* The library would connect again for ever. */
	ASSERT_EQ(DRM_VFENCE_DOORBELL_CONNECTED, vf_queue_status(p.second));
	EXPECT_EQ(0, vf_queue_submit(p.second));
	EXPECT_TRUE(drained(p.second));
	pair_close(&p);
}

/* Another queue signals: no call of the client fires the event. */
static int fire_an_event(struct stage *s)
{
	vf_cmd_signal(s->user, s->fence, 1);
	return arm(s->client.adapter, s->fence, 1, s->efd) || vf_queue_publish(s->user);
}

TEST_F(holds, a_file_waits_for_the_work_that_fires_its_events)
{
	kill_beside(_metadata, self, "EVENT_FIRE", fire_an_event);
}

static int import_own(struct stage *s)
{
	struct vf_syncobj syncobj = { 0 };
	struct vf_submit told = { .signal_syncobjs = &syncobj, .signal_syncobj_count = 1 };
	int ret = drmSyncobjCreate(vf_adapter_fd(s->client.adapter), 0, &syncobj.handle);

	ret = ret ? ret : vf_queue_suspend(s->kernel, NULL);
	vf_cmd_nop(s->kernel, 8);
	ret = ret ? ret : vf_submit(&s->kernel, 1, &told);
	ret = ret ? ret : vf_fence_import_syncobj(s->fence, syncobj.handle, 0, 1);
	return ret ? ret : vf_queue_resume(s->kernel);
}

TEST_F(holds, a_file_waits_for_its_import_work)
{
	kill_beside(_metadata, self, "IMPORT", import_own);
}

TEST_F(holds, a_file_waits_for_the_work_of_its_foreign_dma_fences)
{
	kill_beside(_metadata, self, "FOREIGN", import_own);
}

/* The reset of the engine hits the device, and leaves the rest to the work. */
static int be_reset(struct stage *s)
{
	int ret = hang_on(s->user);

	if (ret || !EVENTUALLY(queue_state(s->user) == DRM_VFENCE_QUEUE_RUNNING))
		return 1;
	return inject(0, "reset_engine", "2");
}

TEST_F(holds, a_device_waits_for_the_work_that_stops_it)
{
	kill_beside(_metadata, self, "STOP_DEVICE", be_reset);
}

static int intra_gpu(struct client *client, struct vf_fence **fence)
{
	struct vf_fence_desc desc = { .type = DRM_VFENCE_FENCE_INTRA_GPU };

	return vf_fence_create_desc(client->device, &desc, fence);
}

/* The first fence of its kind needs a page of video memory. */
static int place_page(struct stage *s)
{
	struct vf_fence *fence;

	return intra_gpu(&s->client, &fence);
}

TEST_F(holds, a_page_waits_for_the_work_that_places_it)
{
	kill_beside(_metadata, self, "MOVE", place_page);
}

/* Read the fdinfo of all files of a process. Return: the number of those that are vfence's. */
static int read_fdinfo(pid_t pid)
{
	char path[64], line[128];
	int fd, found = 0;

	for (fd = 0; fd < 32; fd++) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f))
			found += !strncmp(line, "vfence-devices-hung:", 20);
		if (f)
			fclose(f);
	}
	return found;
}

/* What needs no page of video memory: none of it waits for one that another client waits for. */
static int use_all_but_video_memory(struct client *client, struct vf_fence *local)
{
	struct vf_queue *queue;
	struct vf_fence *fence;
	int ret = intra_gpu(client, &fence);

	if (!ret)
		(vf_fence_destroy)(fence);
	ret = ret ? ret : vf_fence_create(client->device, 0, 0, &fence);
	if (!ret)
		(vf_fence_destroy)(fence);
	ret = ret ? ret : vf_queue_create(client->device, DRM_VFENCE_NODE_GFX, 4096, &queue);
	if (!ret)
		vf_queue_destroy(queue);
	(vf_fence_destroy)(local);
	return ret;
}

/*
 * A client waits until the GPU has cleared a page for it, and may get no processor then for long.
 * Others find no lock that it has: neither those of video memory, nor those of its file.
 */
TEST_F(holds, a_page_that_is_placed_holds_nobody_up)
{
	struct client other;
	struct vf_fence *local;

	ASSERT_EQ(0, client_open(&other));
	ASSERT_EQ(0, intra_gpu(&other, &local));
	ASSERT_EQ(0, hold("MOVE"));
	self->pid = stage(place_page);
	ASSERT_TRUE(EVENTUALLY(is_held()));
	EXPECT_EQ(0, use_all_but_video_memory(&other, local));
	/* It has inherited the file of the other client. */
	EXPECT_EQ(2, read_fdinfo(self->pid));
	client_close(&other);
	EXPECT_TRUE(is_held());
}

/* Fill video memory until a page has to leave, once the parent has placed one. */
static int evict_a_page(int start)
{
	struct vf_fence *fence;
	struct client client;
	uint64_t before;
	char byte;

	if (read(start, &byte, 1) != 1 || client_open(&client))
		return 1;
	before = counters(client.adapter).evictions;
	while (counters(client.adapter).evictions == before)
		if (client_open(&client) || intra_gpu(&client, &fence))
			return 1;
	return 0;
}

/* The page that is about to move is that of a client which ends. */
TEST_F(holds, a_page_that_moves_outlives_its_fences)
{
	struct client owner;
	struct vf_fence *local;
	int start[2], status;

	/* The child has no file of its parent: the last one is closed while the page moves. */
	ASSERT_EQ(0, pipe(start));
	self->pid = fork();
	if (!self->pid)
		_exit(evict_a_page(start[0]));
	ASSERT_EQ(0, client_open(&owner));
	ASSERT_EQ(0, intra_gpu(&owner, &local));
	ASSERT_EQ(0, hold("EVICT"));
	ASSERT_EQ(1, write(start[1], "", 1));
	ASSERT_TRUE(EVENTUALLY(is_held() || waitpid(self->pid, &status, WNOHANG)));
	ASSERT_TRUE(is_held());
	client_close(&owner);
	churn();
	EXPECT_TRUE(is_held());
	ASSERT_EQ(0, hold("none"));
	EXPECT_EQ(self->pid, waitpid(self->pid, &status, 0));
	EXPECT_EQ(0, status);
	self->pid = 0;
	churn();
}

#define ACROSS	(DRM_VFENCE_FENCE_SHAREABLE | DRM_VFENCE_FENCE_CROSS_ADAPTER)

/* Open a fence on an adapter, by a client of this process. Return: 0, or an error. */
static int open_across(unsigned int index, int fd, struct client *client, struct vf_fence **fence)
{
	int ret = vf_adapter_open(index, &client->adapter);

	ret = ret ? ret : vf_device_create(client->adapter, &client->device);
	return ret ? ret : vf_fence_open(client->device, fd, fence);
}

/* Let another process open a fence on an adapter; it stays. */
static pid_t opener(unsigned int index, int fd)
{
	struct client client;
	struct vf_fence *fence;
	pid_t pid = fork();

	if (pid)
		return pid;
	if (open_across(index, fd, &client, &fence))
		_exit(1);
	for (;;)
		pause();
}

/* An adapter whose client does not get on with a fence leaves it to all others. */
TEST_F(holds, a_fence_that_is_opened_across_adapters_holds_nobody_up)
{
	struct client client, there;
	struct vf_fence *fence, *theirs, *again;
	int fd;

	ASSERT_EQ(0, client_open(&client));
	ASSERT_EQ(0, vf_fence_create(client.device, ACROSS, 0, &fence));
	fd = vf_fence_export(fence);
	ASSERT_EQ(0, open_across(1, fd, &there, &theirs));
	ASSERT_EQ(0, hold("MEMBER"));
	self->pid = opener(2, fd);
	ASSERT_TRUE(EVENTUALLY(is_held()));
	EXPECT_EQ(0, vf_fence_signal(fence, 1));
	EXPECT_EQ(0, vf_fence_wait(theirs, 1, DEADLINE));
	EXPECT_EQ(0, vf_fence_signal(theirs, 2));
	EXPECT_EQ(0, vf_fence_wait(fence, 2, DEADLINE));
	EXPECT_EQ(0, vf_fence_open(there.device, fd, &again));
	EXPECT_TRUE(is_held());
	close(fd);
	client_close(&there);
	client_close(&client);
}

/* Two clients of an adapter open a fence at once: one of them is first, and both have its member. */
TEST_F(holds, an_adapter_joins_a_fence_once)
{
	struct client client, there;
	struct vf_fence *fence, *theirs;
	struct vf_counters before, now;
	int fd;

	ASSERT_EQ(0, client_open(&client));
	ASSERT_EQ(0, vf_fence_create(client.device, ACROSS, 0, &fence));
	fd = vf_fence_export(fence);
	ASSERT_EQ(0, vf_adapter_open(2, &there.adapter));
	before = counters(there.adapter);
	vf_adapter_close(there.adapter);

	ASSERT_EQ(0, hold("MEMBER"));
	self->pid = opener(2, fd);
	ASSERT_TRUE(EVENTUALLY(is_held()));
	ASSERT_EQ(0, open_across(2, fd, &there, &theirs));
	EXPECT_TRUE(is_held());
	ASSERT_EQ(0, hold("none"));
	/* What the slower one has created goes again. */
	EXPECT_TRUE(EVENTUALLY((now = counters(there.adapter),
				now.fences_created == before.fences_created + 2 &&
				now.fences_destroyed == before.fences_destroyed + 1)));
	EXPECT_EQ(0, vf_fence_signal(fence, 1));
	EXPECT_EQ(0, vf_fence_wait(theirs, 1, DEADLINE));
	close(fd);
	client_close(&there);
	client_close(&client);
}

/* What a queue has used is in fdinfo at each moment of its destruction. */
TEST_F(holds, fdinfo_never_goes_back)
{
	struct client client;
	struct vf_queue *queue;
	struct call destroy;
	int64_t used;
	int fd;

	ASSERT_EQ(0, client_open(&client));
	fd = vf_adapter_fd(client.adapter);
	ASSERT_EQ(0, vf_kernel_queue_create(client.device, DRM_VFENCE_NODE_GFX, &queue));
	vf_cmd_draw(queue, 1, 1000000);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(drained(queue));
	used = fdinfo_number(fd, "drm-engine-gfx");
	ASSERT_LE(1000000, used);
	ASSERT_EQ(0, hold("QUEUE_STOP"));
	ASSERT_EQ(0, destroy_begin(&destroy, fd, DRM_VFENCE_OBJECT_QUEUE,
				   vf_queue_handle(queue)));
	ASSERT_TRUE(EVENTUALLY(is_held()));
	EXPECT_EQ(used, fdinfo_number(fd, "drm-engine-gfx"));
	ASSERT_EQ(0, hold("none"));
	EXPECT_EQ(0, call_end(&destroy));
	EXPECT_EQ(used, fdinfo_number(fd, "drm-engine-gfx"));
	client_close(&client);
}

static void *unbind(void *arg)
{
	struct call *call = arg;

	call->ret = driver("unbind", 0);
	__atomic_store_n(&call->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Works of the adapter: unplug waits for them, while clients still have their files. */
static void unbind_beside(struct __test_metadata *_metadata, FIXTURE_DATA(holds) *self,
			  const char *work, int (*what)(struct stage *s))
{
	struct call unbinding = { .done = 0 };

	ASSERT_EQ(0, hold(work));
	self->pid = stage(what);
	ASSERT_TRUE(EVENTUALLY(is_held()));
	ASSERT_EQ(0, pthread_create(&unbinding.thread, NULL, unbind, &unbinding));
	/* No adapter is there to be opened from here on. */
	EXPECT_TRUE(EVENTUALLY(!still_there()));
	EXPECT_TRUE(is_held());
	EXPECT_FALSE(call_is_done(&unbinding));
	ASSERT_EQ(0, hold("none"));
	EXPECT_EQ(0, call_end(&unbinding));
	kill(self->pid, SIGKILL);
	EXPECT_EQ(self->pid, waitpid(self->pid, NULL, 0));
	self->pid = 0;
	EXPECT_EQ(0, driver("bind", 0));
}

static int reset_adapter(struct stage *s)
{
	return inject(0, "reset_adapter", "1");
}

TEST_F(holds, unplug_waits_for_the_work_after_a_reset)
{
	unbind_beside(_metadata, self, "LOSS_SWEEP", reset_adapter);
}

static int lose_adapter(struct stage *s)
{
	int ret = inject(0, "fail_monitored_update", "1");

	return ret ? ret : arm(s->client.adapter, s->fence, 1, s->efd);
}

TEST_F(holds, unplug_waits_for_the_work_of_a_loss)
{
	unbind_beside(_metadata, self, "LOSS_SWEEP", lose_adapter);
}

/* The hang is found after 20 ms, and the work begins as long after that. */
static int be_throttled(struct stage *s)
{
	int ret = tdr_configure(0, "delay_ms", "20");

	cmd_hang(s->kernel);
	return ret ? ret : vf_queue_submit(s->kernel);
}

TEST_F(holds, unplug_waits_for_the_work_that_unthrottles_a_user)
{
	ASSERT_EQ(0, tdr_configure(0, "limit_time_s", "1"));
	unbind_beside(_metadata, self, "THROTTLE", be_throttled);
	/* No event tells that nothing comes: what was left would begin within this time. */
	usleep(1500000);
	churn();
}

TEST_F(holds, the_work_that_unthrottles_a_user_keeps_him)
{
	ASSERT_EQ(0, hold("THROTTLE"));
	self->pid = stage(be_throttled);
	ASSERT_TRUE(EVENTUALLY(is_held()));
	/* It is the last one that uses the account. */
	kill(self->pid, SIGKILL);
	EXPECT_EQ(self->pid, waitpid(self->pid, NULL, 0));
	self->pid = 0;
	churn();
	EXPECT_TRUE(is_held());
	ASSERT_EQ(0, hold("none"));
	churn();
}

/* ------------------------------------------------------------------ power */

#define POWER "/sys/bus/platform/devices/vfence.0/power/"

static bool is_suspended(void)
{
	char text[32] = "";
	FILE *f = fopen(POWER "runtime_status", "re");

	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	return !strncmp(text, "suspended", 9);
}

/* The kernel asks the adapter to sleep, and a queue waits. The call is held at its end. */
static int be_busy(struct stage *s)
{
	int ret = write_text(POWER "autosuspend_delay_ms", "1");

	ret = ret ? ret : hold("BUSY");
	ret = ret ? ret : write_text(POWER "control", "auto");
	vf_cmd_wait(s->user, s->fence, 1);
	ret = ret ? ret : vf_queue_submit(s->user);
	return ret || EVENTUALLY(is_held_at("BUSY")) ? ret : -ETIME;
}

TEST_F(holds, WDDM_197_a_queue_that_becomes_idle_while_the_adapter_is_asked_lets_it_sleep)
{
	struct stage s = { .efd = -1 };

	ASSERT_EQ(0, stage_open(&s));
	ASSERT_EQ(0, be_busy(&s));
	ASSERT_EQ(0, vf_fence_signal(s.fence, 1));
	EXPECT_EQ(0, vf_queue_wait_idle(s.user, DEADLINE));
	/* No event tells that the doorbell is armed, which asks in vain now, and that the delay is over. */
	usleep(50000);
	EXPECT_TRUE(is_held_at("BUSY"));
	ASSERT_EQ(0, hold("none"));
	EXPECT_TRUE(EVENTUALLY(is_suspended()));
	EXPECT_EQ(0, write_text(POWER "control", "on"));
	stage_close(&s);
}

/* The adapter is busy to its end, so the work is always under way. */
TEST_F(holds, unplug_waits_for_the_work_that_lets_the_adapter_sleep)
{
	struct stage s = { .efd = -1 };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, stage_open(&s));
		ASSERT_EQ(0, be_busy(&s));
		ASSERT_EQ(0, hold("none"));
		ASSERT_EQ(0, driver("unbind", 0));
		stage_close(&s);
		ASSERT_EQ(0, driver("bind", 0));
	}
	/* No event tells that nothing comes: what was left would begin within this time. */
	usleep(100000);
	EXPECT_TRUE(still_there());
}

/* ------------------------------------------------------------------ order of events */

struct signals {
	struct client client;
	struct vf_fence *fence[2];
	struct vf_queue *queue;
	int efd;
};

static int signals_open(struct signals *s)
{
	unsigned int i;
	int ret = client_open(&s->client);

	for (i = 0; i < 2 && !ret; i++)
		ret = vf_fence_create(s->client.device, 0, 0, &s->fence[i]);
	s->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return ret ? ret : vf_queue_create(s->client.device, DRM_VFENCE_NODE_GFX, 4096, &s->queue);
}

static void signals_close(struct signals *s)
{
	vf_queue_destroy(s->queue);
	vf_fence_destroy(s->fence[0]);
	vf_fence_destroy(s->fence[1]);
	client_close(&s->client);
	close(s->efd);
}

static void *signal_both(void *arg)
{
	struct signals *s = arg;
	struct vf_point both[2] = { { s->fence[0], 1 }, { s->fence[1], 1 } };

	return (void *)(intptr_t)vf_signal(s->client.adapter, both, 2);
}

/* A signal of several fences stores all values before it completes the waits for the first one. */
TEST_F(holds, a_wait_sets_events_that_a_signal_has_not_come_to)
{
	pthread_t thread;
	struct signals s;
	uint64_t count;
	void *ret;

	ASSERT_EQ(0, signals_open(&s));
	ASSERT_EQ(0, arm(s.client.adapter, s.fence[0], 1, s.efd));
	ASSERT_EQ(0, hold("SIGNALED"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, signal_both, &s));
	ASSERT_TRUE(EVENTUALLY(is_held()));
	EXPECT_EQ(1, vf_fence_current(s.fence[1]));
	EXPECT_NE(8, read(s.efd, &count, 8));
	EXPECT_EQ(0, vf_fence_wait(s.fence[1], 1, DEADLINE));
	EXPECT_EQ(8, read(s.efd, &count, 8));
	EXPECT_TRUE(is_held());
	ASSERT_EQ(0, hold("none"));
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_EQ(NULL, ret);
	EXPECT_NE(8, read(s.efd, &count, 8));
	signals_close(&s);
}

/* More waiters than an interrupt completes. */
#define WAITERS	20

/* What an interrupt leaves is with its thread, which takes it before it completes it. */
TEST_F(holds, a_wait_sets_events_that_the_thread_of_the_interrupt_has_taken)
{
	uint64_t count = 0, more;
	unsigned int i;
	struct signals s;

	ASSERT_EQ(0, signals_open(&s));
	for (i = 0; i < WAITERS; i++)
		ASSERT_EQ(0, arm(s.client.adapter, s.fence[0], 1, s.efd));
	ASSERT_EQ(0, hold("DEFERRED"));
	vf_cmd_signal(s.queue, s.fence[0], 1);
	vf_cmd_signal(s.queue, s.fence[1], 1);
	ASSERT_EQ(0, vf_queue_submit(s.queue));
	ASSERT_TRUE(EVENTUALLY(is_held()));
	if (read(s.efd, &more, 8) == 8)
		count += more;
	EXPECT_GT(WAITERS, count);
	EXPECT_EQ(0, vf_fence_wait(s.fence[1], 1, DEADLINE));
	EXPECT_EQ(8, read(s.efd, &more, 8));
	EXPECT_EQ(WAITERS, count + more);
	EXPECT_TRUE(is_held());
	ASSERT_EQ(0, hold("none"));
	EXPECT_EQ(0, vf_queue_wait_idle(s.queue, DEADLINE));
	EXPECT_NE(8, read(s.efd, &more, 8));
	signals_close(&s);
}

static void *signal_first(void *arg)
{
	struct signals *s = arg;

	return (void *)(intptr_t)vf_fence_signal(s->fence[0], 1);
}

/* A thread takes points off a fence before it ends their waits, and who comes next finds none there. */
TEST_F(holds, a_wait_sets_events_that_another_thread_has_taken)
{
	struct signals s;
	pthread_t thread;
	uint64_t count;
	void *ret;

	ASSERT_EQ(0, signals_open(&s));
	ASSERT_EQ(0, arm(s.client.adapter, s.fence[0], 1, s.efd));
	ASSERT_EQ(0, hold("TAKEN"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, signal_first, &s));
	ASSERT_TRUE(EVENTUALLY(is_held()));
	vf_cmd_signal(s.queue, s.fence[1], 1);
	ASSERT_EQ(0, vf_queue_submit(s.queue));
	EXPECT_EQ(0, vf_fence_wait(s.fence[1], 1, DEADLINE));
	EXPECT_EQ(8, read(s.efd, &count, 8));
	EXPECT_TRUE(is_held());
	ASSERT_EQ(0, hold("none"));
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_EQ(NULL, ret);
	EXPECT_NE(8, read(s.efd, &count, 8));
	signals_close(&s);
}

/* A wait for the second fence of a client, in a thread of its own. */
struct late_wait {
	struct signals *s;
	int ret;
	pid_t tid;
};

static void *wait_for_second(void *arg)
{
	struct late_wait *wait = arg;
	uint64_t count;

	pin(0, 0);
	__atomic_store_n(&wait->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	wait->ret = vf_fence_wait(wait->s->fence[1], 1, DEADLINE);
	if (!wait->ret && read(wait->s->efd, &count, 8) != 8)
		wait->ret = -ENODATA;
	return NULL;
}

static void *signal_first_elsewhere(void *arg)
{
	pin(0, 1);
	return signal_first(arg);
}

/* A thread decides that an event fires before it fires it. It keeps its processor meanwhile. */
TEST_F(holds, a_wait_sets_events_that_another_thread_has_decided)
{
	struct signals s;
	struct late_wait wait = { .s = &s };
	pthread_t signals, waits;
	uint64_t count;
	void *ret;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two processors");
	pin(0, 0);
	ASSERT_EQ(0, signals_open(&s));
	ASSERT_EQ(0, arm(s.client.adapter, s.fence[0], 1, s.efd));
	ASSERT_EQ(0, hold("DECIDED"));
	ASSERT_EQ(0, pthread_create(&signals, NULL, signal_first_elsewhere, &s));
	ASSERT_TRUE(EVENTUALLY(is_held()));
	ASSERT_EQ(0, vf_fence_signal(s.fence[1], 1));
	EXPECT_NE(8, read(s.efd, &count, 8));
	ASSERT_EQ(0, pthread_create(&waits, NULL, wait_for_second, &wait));
	EXPECT_TRUE(EVENTUALLY(sleeps_in(&wait.tid, SYS_ioctl)));
	EXPECT_TRUE(is_held());
	ASSERT_EQ(0, hold("none"));
	ASSERT_EQ(0, pthread_join(waits, NULL));
	EXPECT_EQ(0, wait.ret);
	ASSERT_EQ(0, pthread_join(signals, &ret));
	EXPECT_EQ(NULL, ret);
	EXPECT_NE(8, read(s.efd, &count, 8));
	signals_close(&s);
}

/* The values of a cross-adapter fence are those of all adapters, and the interrupt is that of one. */
TEST_F(holds, a_wait_sets_events_that_come_from_another_adapter)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), fd;
	struct vf_fence *fence[2], *theirs[2];
	struct client here, there;
	struct vf_queue *queue;
	uint64_t count;
	unsigned int i;

	ASSERT_EQ(0, client_open(&here));
	ASSERT_EQ(0, vf_queue_create(here.device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, vf_adapter_open(2, &there.adapter));
	ASSERT_EQ(0, vf_device_create(there.adapter, &there.device));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, vf_fence_create(here.device, ACROSS, 0, &fence[i]));
		fd = vf_fence_export(fence[i]);
		ASSERT_EQ(0, vf_fence_open(there.device, fd, &theirs[i]));
		close(fd);
	}
	ASSERT_EQ(0, arm(there.adapter, theirs[0], 1, efd));
	ASSERT_EQ(0, hold("DEFERRED"));
	vf_cmd_signal(queue, fence[0], 1);
	vf_cmd_signal(queue, fence[1], 1);
	ASSERT_EQ(0, vf_queue_publish(queue));
	ASSERT_TRUE(EVENTUALLY(is_held()));
	EXPECT_NE(8, read(efd, &count, 8));
	EXPECT_EQ(0, vf_fence_wait(theirs[1], 1, DEADLINE));
	EXPECT_EQ(8, read(efd, &count, 8));
	EXPECT_TRUE(is_held());
	ASSERT_EQ(0, hold("none"));
	vf_queue_destroy(queue);
	client_close(&there);
	client_close(&here);
	close(efd);
}

static void *destroy_it(void *fence)
{
	vf_fence_destroy(fence);
	return NULL;
}

/*
 * Who closes a handle of a monitored fence ends the waits of then. Others may begin waits as fast as it
 * ends them, so these end, too, and it has an end.
 */
TEST_F(holds, WDDM_125_waits_that_begin_meanwhile_do_not_keep_the_closing_of_a_handle)
{
	enum { WAITS = 70 };
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), fd;
	struct vf_fence *fence, *again;
	uint64_t count, seen = 0;
	struct client c;
	pthread_t thread;
	unsigned int i;

	ASSERT_EQ(0, client_open(&c));
	ASSERT_EQ(0, vf_monitored_fence_create(c.device, DRM_VFENCE_FENCE_SHAREABLE, 0, &fence));
	fd = vf_fence_export(fence);
	ASSERT_EQ(0, vf_fence_open(c.device, fd, &again));
	close(fd);
	for (i = 0; i < WAITS; i++)
		ASSERT_EQ(0, arm(c.adapter, fence, 1, efd));
	ASSERT_EQ(0, hold("ENDING"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, destroy_it, again));
	ASSERT_TRUE(EVENTUALLY(is_held()));
	EXPECT_EQ(-ECANCELED, arm(c.adapter, fence, 1, efd));
	EXPECT_EQ(-ECANCELED, vf_fence_wait(fence, 1, DEADLINE));
	ASSERT_EQ(0, hold("none"));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	while (seen < WAITS && EVENTUALLY(read(efd, &count, 8) == 8))
		seen += count;
	EXPECT_EQ(WAITS, seen);

	/* Waits that begin afterwards do not. */
	EXPECT_EQ(0, arm(c.adapter, fence, 1, efd));
	EXPECT_EQ(0, vf_fence_signal(fence, 1));
	EXPECT_EQ(0, vf_fence_wait(fence, 1, DEADLINE));
	EXPECT_TRUE(EVENTUALLY(read(efd, &count, 8) == 8));
	vf_fence_destroy(fence);
	client_close(&c);
	close(efd);
}

TEST_HARNESS_MAIN
