/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scene of the harness for pairs: one client with an object of each kind, which depend on each
 * other, and the calls that use or end them. Each call finds its objects in the scene, so that any
 * two of them meet on the same ones.
 */

#ifndef VFENCE_PAIRS_SCENE_H
#define VFENCE_PAIRS_SCENE_H

#include <pthread.h>

#include "vfence_test.h"

/* The value that everything in the scene waits for. */
#define GOAL	5
/* Another adapter. */
#define CROSS	5

/*
 * All wait for @native: the submission of @kernel, which then signals @monitored, the packet of
 * @blocked, the event and the wait set. @user has nothing to do. Another client has opened the fence,
 * and signals it at last, whatever became of this one.
 */
struct scene {
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *user, *blocked;
	struct vf_fence *native, *monitored, *end;
	struct client other;
	struct vf_buffer *buffer;
	struct vf_wait_set *set;
	/* The library leaves it to its user that one thread at a time fills a queue. */
	pthread_mutex_t ring;
	int fd, shared, efd;
	uint32_t context, kernel, event, syncobj;
};

struct call {
	const char *name;
	int (*make)(struct scene *s);
	/* The adapter, or the process, may not work afterwards. */
	bool ends_adapter, ends_process;
	/* It takes about a second: it is played like a round that holds twice. */
	bool slow;
	/* Whatever it passes other calls pass, too, at less cost. */
	bool only_second;
};

#define CALL(s, name, args)	raw((s)->fd, DRM_IOCTL_VFENCE_##name, &(args))

static int scene_submit(struct scene *s, uint32_t flags, const struct drm_vfence_fence_point *wait,
			uint64_t value, struct vf_syncobj *out)
{
	struct drm_vfence_submit_op ops[3] = {
		{ DRM_VFENCE_SUBMIT_SIGNAL_FENCE, vf_fence_handle(s->monitored), value },
	};
	struct drm_vfence_submit_queue queue = { .queue = s->kernel };
	struct drm_vfence_submit submit = {
		.flags = flags,
		.queues = DRM_VFENCE_OBJ_ARRAY(1, &queue),
		.ops = DRM_VFENCE_OBJ_ARRAY(1, ops),
	};

	if (wait)
		ops[submit.ops.count++] = (struct drm_vfence_submit_op){
			DRM_VFENCE_SUBMIT_WAIT_FENCE, wait->fence, wait->value };
	if (out)
		ops[submit.ops.count++] = (struct drm_vfence_submit_op){
			DRM_VFENCE_SUBMIT_SIGNAL_SYNCOBJ, out->handle, out->point };
	return CALL(s, SUBMIT, submit);
}

/* Publish a packet that has a header alone. */
static int scene_publish(struct scene *s, uint16_t opcode)
{
	const struct drm_vfence_packet_header packet = { .opcode = opcode, .length = 8 };
	int ret;

	pthread_mutex_lock(&s->ring);
	vf_cmd_raw(s->user, &packet, sizeof(packet));
	ret = vf_queue_publish(s->user);
	pthread_mutex_unlock(&s->ring);
	return ret;
}

static int scene_kernel_queue(struct scene *s)
{
	struct drm_vfence_context_create context = { .device = vf_device_handle(s->device),
						     .node = DRM_VFENCE_NODE_COPY };
	struct drm_vfence_queue_create queue = { 0 };
	int ret = CALL(s, CONTEXT_CREATE, context);

	queue.context = s->context = context.handle;
	ret = ret ? ret : CALL(s, QUEUE_CREATE, queue);
	s->kernel = queue.handle;
	return ret;
}

static int scene_waits(struct scene *s)
{
	struct vf_point point = { s->native, GOAL };
	struct drm_vfence_fence_point wait = { vf_fence_handle(s->native), 0, GOAL };
	struct vf_wait_set_entry entry = { .index = 0, .fence = s->native, .value = GOAL };
	int ret = vf_event_arm(s->adapter, &point, 1, 0, s->efd, &s->event);

	ret = ret ? ret : vf_wait_set_update(s->set, &entry, 1);
	ret = ret ? ret : scene_submit(s, 0, &wait, GOAL, NULL);
	vf_cmd_wait(s->blocked, s->native, GOAL);
	return ret ? ret : vf_queue_submit(s->blocked);
}

static int scene_open(struct scene *s, unsigned int index)
{
	int ret = vf_adapter_open(index, &s->adapter);

	if (ret)
		return ret;
	pthread_mutex_init(&s->ring, NULL);
	s->fd = vf_adapter_fd(s->adapter);
	s->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = vf_device_create(s->adapter, &s->device);
	/* It comes first: a hold keeps the first of the queues that are stopped. */
	ret = ret ? ret : scene_kernel_queue(s);
	ret = ret ? ret : vf_queue_create(s->device, DRM_VFENCE_NODE_GFX, 4096, &s->user);
	ret = ret ? ret : vf_queue_create(s->device, DRM_VFENCE_NODE_COMPUTE, 4096, &s->blocked);
	ret = ret ? ret : vf_fence_create(s->device, DRM_VFENCE_FENCE_SHAREABLE, 0, &s->native);
	ret = ret ? ret : vf_monitored_fence_create(s->device, DRM_VFENCE_FENCE_SHAREABLE, 0, &s->monitored);
	ret = ret ? ret : vf_buffer_create(s->adapter, 4096, &s->buffer);
	ret = ret ? ret : vf_wait_set_create(s->adapter, 4, &s->set);
	ret = ret ? ret : drmSyncobjCreate(s->fd, 0, &s->syncobj);
	if (ret)
		return ret;
	s->shared = vf_fence_export(s->native);
	ret = s->shared < 0 ? s->shared : vf_adapter_open(index, &s->other.adapter);
	ret = ret ? ret : vf_device_create(s->other.adapter, &s->other.device);
	ret = ret ? ret : vf_fence_open(s->other.device, s->shared, &s->end);
	return ret ? ret : scene_waits(s);
}

/* What still waits has its value, or another end, after this. Calls may have ended any object. */
static void scene_finish(struct scene *s)
{
	struct drm_vfence_context_resume resume = { .context = s->context };

	CALL(s, CONTEXT_RESUME, resume);
	vf_queue_resume(s->blocked);
	vf_fence_signal(s->end, GOAL);
	drmSyncobjSignal(s->fd, &s->syncobj, 1);
}

/* What a call has taken away is not there any more: the library's calls fail then. */
static void scene_close(struct scene *s)
{
	vf_wait_set_destroy(s->set);
	vf_queue_destroy(s->user);
	vf_queue_destroy(s->blocked);
	destroy_object(s->fd, DRM_VFENCE_OBJECT_QUEUE, s->kernel);
	vf_fence_destroy(s->native);
	vf_fence_destroy(s->monitored);
	vf_buffer_destroy(s->buffer);
	vf_device_destroy(s->device);
	close(s->shared);
	vf_fence_destroy(s->end);
	client_close(&s->other);
	vf_adapter_close(s->adapter);
	close(s->efd);
}

/* ------------------------------------------------- the calls of the interface, one for each */

static int call_handle(struct scene *s, unsigned long request, uint32_t handle)
{
	/* All these structures begin with the handle; this one is the largest. */
	struct drm_vfence_queue_create args = { .context = handle };

	return raw(s->fd, request, &args);
}

#define CALL_OF_HANDLE(NAME, handle)						\
static int call_##NAME(struct scene *s)						\
{										\
	return call_handle(s, DRM_IOCTL_VFENCE_##NAME, handle);			\
}

CALL_OF_HANDLE(DEVICE_CREATE, 0)
CALL_OF_HANDLE(CONTEXT_SUSPEND, s->context)
CALL_OF_HANDLE(CONTEXT_RESUME, s->context)
CALL_OF_HANDLE(QUEUE_CREATE, s->context)
CALL_OF_HANDLE(QUEUE_ABORT, s->kernel)
CALL_OF_HANDLE(DOORBELL_CONNECT, vf_queue_handle(s->user))
CALL_OF_HANDLE(NOTIFY_WORK_SUBMISSION, vf_queue_handle(s->user))

static int call_DESTROY(struct scene *s)
{
	return destroy_object(s->fd, DRM_VFENCE_OBJECT_DEVICE, vf_device_handle(s->device));
}

static int call_destroy_context(struct scene *s)
{
	return destroy_object(s->fd, DRM_VFENCE_OBJECT_CONTEXT, s->context);
}

static int call_destroy_queue(struct scene *s)
{
	return destroy_object(s->fd, DRM_VFENCE_OBJECT_QUEUE, s->kernel);
}

static int call_destroy_doorbell(struct scene *s)
{
	return destroy_object(s->fd, DRM_VFENCE_OBJECT_DOORBELL, vf_queue_handle(s->blocked));
}

static int call_destroy_fence(struct scene *s)
{
	return destroy_object(s->fd, DRM_VFENCE_OBJECT_FENCE, vf_fence_handle(s->native));
}

static int call_destroy_event(struct scene *s)
{
	return destroy_object(s->fd, DRM_VFENCE_OBJECT_EVENT, s->event);
}

static int call_destroy_wait_set(struct scene *s)
{
	return destroy_object(s->fd, DRM_VFENCE_OBJECT_WAIT_SET, vf_wait_set_handle(s->set));
}

static int call_query_object(struct scene *s, uint32_t type, uint32_t handle)
{
	struct drm_vfence_queue_info info;

	return query_object(s->fd, type, handle, &info, sizeof(info));
}

static int call_query_device(struct scene *s)
{
	return call_query_object(s, DRM_VFENCE_QUERY_DEVICE, vf_device_handle(s->device));
}

static int call_query_context(struct scene *s)
{
	return call_query_object(s, DRM_VFENCE_QUERY_CONTEXT, s->context);
}

static int call_query_queue(struct scene *s)
{
	return call_query_object(s, DRM_VFENCE_QUERY_QUEUE, s->kernel);
}

static int call_query_fence(struct scene *s)
{
	return call_query_object(s, DRM_VFENCE_QUERY_FENCE, vf_fence_handle(s->native));
}

static int call_QUERY(struct scene *s)
{
	struct drm_vfence_clock_info clock;
	struct drm_vfence_query query = { .type = DRM_VFENCE_QUERY_CLOCK, .size = sizeof(clock),
					  .data = (uintptr_t)&clock };

	return CALL(s, QUERY, query);
}

static int call_CONTEXT_CREATE(struct scene *s)
{
	struct drm_vfence_context_create create = { .device = vf_device_handle(s->device),
						    .node = DRM_VFENCE_NODE_GFX };

	return CALL(s, CONTEXT_CREATE, create);
}

static int call_BO_CREATE(struct scene *s)
{
	struct drm_vfence_bo_create create = { .size = 8192 };

	return CALL(s, BO_CREATE, create);
}

static int call_VM_BIND(struct scene *s)
{
	struct drm_vfence_vm_bind bind = { .handle = vf_buffer_handle(s->buffer), .size = 4096,
					   .flags = DRM_VFENCE_VM_READ };

	return CALL(s, VM_BIND, bind);
}

static int call_vm_unmap(struct scene *s)
{
	struct drm_vfence_vm_bind unbind = { .op = DRM_VFENCE_VM_UNMAP, .va = vf_buffer_va(s->buffer) };

	return CALL(s, VM_BIND, unbind);
}

static int call_FENCE_CREATE(struct scene *s)
{
	struct drm_vfence_fence_create create = { .device = vf_device_handle(s->device) };

	return CALL(s, FENCE_CREATE, create);
}

static int call_FENCE_EXPORT(struct scene *s)
{
	struct drm_vfence_fence_export export = { .handle = vf_fence_handle(s->native),
						  .flags = DRM_VFENCE_EXPORT_SAME_RIGHTS };
	int ret = CALL(s, FENCE_EXPORT, export);

	if (!ret)
		close(export.fd);
	return ret;
}

static int call_FENCE_OPEN(struct scene *s)
{
	struct drm_vfence_fence_open open = { .device = vf_device_handle(s->device),
					      .fd = s->shared };

	return CALL(s, FENCE_OPEN, open);
}

static int call_FENCE_SIGNAL(struct scene *s)
{
	struct drm_vfence_fence_point point = { vf_fence_handle(s->native), 0, GOAL };
	struct drm_vfence_fence_signal signal = { .points = DRM_VFENCE_OBJ_ARRAY(1, &point) };

	return CALL(s, FENCE_SIGNAL, signal);
}

static int call_FENCE_IMPORT(struct scene *s)
{
	struct drm_vfence_fence_import import = {
		.fence = vf_fence_handle(s->monitored), .flags = DRM_VFENCE_IMPORT_SYNCOBJ,
		.source = s->syncobj, .value = GOAL,
	};
	uint32_t stub;

	/* Another call may have given it a fence; an import takes what is there. */
	if (drmSyncobjCreate(s->fd, DRM_SYNCOBJ_CREATE_SIGNALED, &stub))
		return -errno;
	import.source = stub;
	stub = (uint32_t)CALL(s, FENCE_IMPORT, import);
	drmSyncobjDestroy(s->fd, import.source);
	return (int)stub;
}

/* Nothing but the signal, or the end of the fence, ends these waits. */
static int call_WAIT(struct scene *s)
{
	struct drm_vfence_fence_point point = { vf_fence_handle(s->native), 0, GOAL };
	struct drm_vfence_wait wait = { .timeout_ns = INT64_MAX,
					.points = DRM_VFENCE_OBJ_ARRAY(1, &point) };

	return CALL(s, WAIT, wait);
}

static int call_WAIT_SET_WAIT(struct scene *s)
{
	struct drm_vfence_wait_set_ready ready;
	struct drm_vfence_wait_set_wait wait = {
		.set = vf_wait_set_handle(s->set), .timeout_ns = INT64_MAX,
		.ready = DRM_VFENCE_OBJ_ARRAY(1, &ready),
	};

	return CALL(s, WAIT_SET_WAIT, wait);
}

static int call_EVENT_ARM(struct scene *s)
{
	struct drm_vfence_fence_point point = { vf_fence_handle(s->native), 0, GOAL };
	struct drm_vfence_event_arm arm = { .eventfd = s->efd,
					    .points = DRM_VFENCE_OBJ_ARRAY(1, &point) };

	return CALL(s, EVENT_ARM, arm);
}

static int call_DOORBELL_CREATE(struct scene *s)
{
	struct drm_vfence_bo_create ring = { .size = 4096 }, control = { .size = 4096 };
	struct drm_vfence_context_create context = { .device = vf_device_handle(s->device),
						     .node = DRM_VFENCE_NODE_GFX };
	struct drm_vfence_queue_create queue = { .flags = DRM_VFENCE_QUEUE_USER_MODE };
	struct drm_vfence_doorbell_create doorbell = { .ring_size = 4096 };
	int ret = CALL(s, CONTEXT_CREATE, context);

	queue.context = context.handle;
	ret = ret ? ret : CALL(s, QUEUE_CREATE, queue);
	ret = ret ? ret : CALL(s, BO_CREATE, ring);
	ret = ret ? ret : CALL(s, BO_CREATE, control);
	doorbell.queue = queue.handle;
	doorbell.ring = ring.handle;
	doorbell.control = control.handle;
	return ret ? ret : CALL(s, DOORBELL_CREATE, doorbell);
}

static int call_LOG_READ(struct scene *s)
{
	struct drm_vfence_log_entry entry[8];
	struct drm_vfence_log_read read = { .queue = vf_queue_handle(s->user),
					    .log = DRM_VFENCE_LOG_SIGNALS,
					    .entries = DRM_VFENCE_OBJ_ARRAY(8, entry) };

	return CALL(s, LOG_READ, read);
}

static int call_SUBMIT(struct scene *s)
{
	return scene_submit(s, 0, NULL, GOAL + 1, NULL);
}

static int call_WAIT_SET_CREATE(struct scene *s)
{
	struct drm_vfence_wait_set_create create = { .entries = 4 };

	return CALL(s, WAIT_SET_CREATE, create);
}

/* ------------------------------------------------------------------- what else can happen */

/* The submission has a dma_fence, so the call sleeps until nothing is before it that waits. */
static int call_submit_published(struct scene *s)
{
	struct vf_syncobj out = { .handle = s->syncobj };

	return scene_submit(s, DRM_VFENCE_SUBMIT_WAIT_FOR_ROOM, NULL, GOAL + 2, &out);
}

/* Fill the queue, and sleep for a place in it. */
static int call_submit_for_room(struct scene *s)
{
	struct drm_vfence_fence_point wait = { vf_fence_handle(s->native), 0, GOAL };
	unsigned int i;

	for (i = 0; i < DRM_VFENCE_MAX_SUBMISSIONS; i++)
		if (scene_submit(s, 0, &wait, GOAL + 3, NULL))
			break;
	return scene_submit(s, DRM_VFENCE_SUBMIT_WAIT_FOR_ROOM, NULL, GOAL + 3, NULL);
}

static int call_ring(struct scene *s)
{
	return scene_publish(s, DRM_VFENCE_OP_NOP);
}

/* More waiters than an interrupt serves. The GPU signals. */
static int call_signal_of_crowd(struct scene *s)
{
	struct vf_point point = { .value = 1 };
	unsigned int i;
	uint32_t event;
	int ret = vf_fence_create(s->device, 0, 0, &point.fence);

	for (i = 0; !ret && i < 100; i++)
		ret = vf_event_arm(s->adapter, &point, 1, 0, s->efd, &event);
	if (ret)
		return ret;
	pthread_mutex_lock(&s->ring);
	vf_cmd_signal(s->user, point.fence, 1);
	ret = vf_queue_publish(s->user);
	pthread_mutex_unlock(&s->ring);
	vf_fence_destroy(point.fence);
	return ret;
}

/* The first fence that the other adapter opens of this one. */
static int call_cross_open(struct scene *s)
{
	const uint32_t flags = DRM_VFENCE_FENCE_SHAREABLE | DRM_VFENCE_FENCE_CROSS_ADAPTER;
	struct vf_fence *fence, *member;
	struct client far;
	int ret, fd;

	ret = vf_adapter_open(CROSS, &far.adapter);
	ret = ret ? ret : vf_device_create(far.adapter, &far.device);
	ret = ret ? ret : vf_fence_create(s->device, flags, 0, &fence);
	if (ret)
		return ret;
	fd = vf_fence_export(fence);
	ret = fd < 0 ? fd : vf_fence_open(far.device, fd, &member);
	ret = ret ? ret : vf_fence_signal(fence, 1);
	if (!ret)
		vf_fence_destroy(member);
	close(fd);
	vf_fence_destroy(fence);
	client_close(&far);
	return ret;
}

static int call_illegal_packet(struct scene *s)
{
	return scene_publish(s, 0xff);
}

static int call_hang(struct scene *s)
{
	return scene_publish(s, DRM_VFENCE_OP_HANG);
}

static int call_suspend_blocked(struct scene *s)
{
	uint64_t fence;

	return vf_queue_suspend(s->blocked, &fence);
}

static int call_resume_blocked(struct scene *s)
{
	return vf_queue_resume(s->blocked);
}

static int call_page_fault(struct scene *s)
{
	off_t at = (off_t)vf_fence_mapping(s->native)->current_offset;
	volatile uint64_t *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, s->fd, at);
	int ret = page == MAP_FAILED ? -errno : 0;

	if (!ret) {
		/* A page that is gone reads as zero, as POISON pages do; no signal ends the process. */
		ret = *page > GOAL;
		munmap((void *)page, 4096);
	}
	return ret;
}

static int call_gem_close(struct scene *s)
{
	return drmCloseBufferHandle(s->fd, vf_buffer_handle(s->buffer));
}

static int call_syncobj_signal(struct scene *s)
{
	return drmSyncobjSignal(s->fd, &s->syncobj, 1);
}

static int call_fdinfo(struct scene *s)
{
	char text[64];

	return fdinfo(s->fd, "drm-driver", text, sizeof(text)) ? 0 : -ENOENT;
}

static int call_fork(struct scene *s)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return pid < 0 || waitpid(pid, NULL, 0) != pid ? -errno : 0;
}

/* The whole process ends, and with it the file. */
static int call_kill(struct scene *s)
{
	return kill(getpid(), SIGKILL);
}

/* An engine that does nothing is not reset. */
static int call_reset_engine(struct scene *s)
{
	int ret = scene_publish(s, DRM_VFENCE_OP_HANG);

	if (!ret && !EVENTUALLY(queue_state(s->user) != DRM_VFENCE_QUEUE_IDLE))
		ret = -ETIME;
	return ret ? ret : inject(0, "reset_engine", "0");
}

static int call_reset_adapter(struct scene *s)
{
	return inject(0, "reset_adapter", "1");
}

static int call_lose_adapter(struct scene *s)
{
	int ret = inject(0, "fail_restart", "1");

	return ret ? ret : inject(0, "reset_adapter", "1");
}

static int call_unbind(struct scene *s)
{
	return driver("unbind", 0);
}

#define IOCTL(NAME)	[DRM_VFENCE_##NAME] = { .name = #NAME, .make = call_##NAME }

static const struct call calls[] = {
	IOCTL(QUERY), IOCTL(DEVICE_CREATE), IOCTL(DESTROY),
	IOCTL(CONTEXT_CREATE), IOCTL(CONTEXT_SUSPEND),
	IOCTL(CONTEXT_RESUME), IOCTL(BO_CREATE), IOCTL(VM_BIND),
	IOCTL(FENCE_CREATE), IOCTL(FENCE_EXPORT),
	IOCTL(FENCE_OPEN), IOCTL(FENCE_SIGNAL), IOCTL(FENCE_IMPORT),
	IOCTL(WAIT), IOCTL(EVENT_ARM),
	IOCTL(QUEUE_CREATE), IOCTL(QUEUE_ABORT),
	IOCTL(DOORBELL_CREATE), IOCTL(DOORBELL_CONNECT),
	IOCTL(NOTIFY_WORK_SUBMISSION), IOCTL(LOG_READ), IOCTL(SUBMIT), IOCTL(WAIT_SET_CREATE),
	IOCTL(WAIT_SET_WAIT),
};

#define OTHER(what, ...)	{ .name = #what, .make = call_##what, ##__VA_ARGS__ }

static const struct call others[] = {
	OTHER(submit_for_room, .slow = true, .only_second = true),
	OTHER(query_device), OTHER(query_context), OTHER(query_queue), OTHER(query_fence),
	OTHER(destroy_context), OTHER(destroy_queue), OTHER(destroy_doorbell), OTHER(destroy_fence),
	OTHER(destroy_event), OTHER(destroy_wait_set), OTHER(vm_unmap), OTHER(submit_published), OTHER(ring), OTHER(signal_of_crowd), OTHER(cross_open),
	OTHER(illegal_packet), OTHER(hang),
	OTHER(suspend_blocked), OTHER(resume_blocked), OTHER(page_fault), OTHER(gem_close),
	OTHER(syncobj_signal), OTHER(fdinfo), OTHER(fork), OTHER(kill, .ends_process = true),
	OTHER(reset_engine), OTHER(reset_adapter, .ends_adapter = true),
	OTHER(lose_adapter, .ends_adapter = true, .slow = true), OTHER(unbind, .ends_adapter = true),
};

#endif
