// SPDX-License-Identifier: GPL-2.0-only
/* The trace events: one stream, in the order of what happened, with one number for each fence. */

#include <dirent.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include "vfence_test.h"

#define TRACING		"/sys/kernel/tracing/"
#define INSTANCE	TRACING "instances/vfence-test/"

/* The text of the trace, in the order of the times. */
static char *text;

FIXTURE(tracing) {
	VFENCE_MEMBERS;
	/* Another client, whose fence makes numbers and handles differ. */
	struct client other;
	struct vf_fence *others;
	struct vf_fence *fence;
	unsigned int id;
};

/* A line of the trace that has the words, at or after @from, or NULL. */
static const char *line_from(const char *from, const char *event, const char *format, ...)
{
	char words[200], *word, *save, copy[200], line[600], name[64];
	const char *at, *end;
	va_list args;

	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	snprintf(name, sizeof(name), " %s: ", event);
	for (at = from; at && (at = strstr(at, name)); at = end) {
		bool all = true;

		end = strchrnul(at, '\n');
		snprintf(line, sizeof(line), "%.*s ", (int)(end - at), at);
		strcpy(copy, words);
		for (word = strtok_r(copy, " ", &save); word && all;
		     word = strtok_r(NULL, " ", &save)) {
			char spaced[100];

			snprintf(spaced, sizeof(spaced), " %s ", word);
			all = strstr(line, spaced);
		}
		if (all)
			return at;
	}
	return NULL;
}

static bool trace_read(void)
{
	FILE *f = fopen(INSTANCE "trace", "re");
	size_t size = 8 << 20, n;

	free(text);
	text = calloc(1, size);
	if (!f || !text)
		return false;
	n = fread(text, 1, size - 1, f);
	fclose(f);
	return n && n < size - 1;
}

static int trace_on(void)
{
	int ret = mkdir(INSTANCE, 0700) && errno != EEXIST ? -errno : 0;

	ret = ret ?: write_text(INSTANCE "trace", "");
	ret = ret ?: write_text(INSTANCE "events/vgpu/enable", "1");
	return ret ?: write_text(INSTANCE "events/vfence/enable", "1");
}

static void trace_off(void)
{
	write_text(INSTANCE "events/enable", "0");
	rmdir(INSTANCE);
}

/* The number by which events name the fence of a handle of this client, or 0. */
static unsigned int fence_id(struct vf_fence *fence)
{
	unsigned int id;
	const char *at;

	if (!trace_read())
		return 0;
	at = line_from(text, "vfence_handle", "handle=%u opened=1", vf_fence_handle(fence));
	at = at ? strstr(at, "fence=") : NULL;
	return at && sscanf(at, "fence=%u", &id) == 1 ? id : 0;
}

FIXTURE_SETUP(tracing)
{
	if (!may_patch_kernel())
		SKIP(return, MAY_NOT_PATCH_KERNEL);
	if (access(TRACING "events/vfence", F_OK))
		SKIP(return, "no tracing");
	ASSERT_EQ(0, trace_on());
	ASSERT_EQ(0, client_open(&self->other));
	ASSERT_EQ(0, vf_fence_create(self->other.device, 0, 0, &self->others));
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
	self->id = fence_id(self->fence);
	ASSERT_NE(0, self->id);
	ASSERT_NE(self->id, vf_fence_handle(self->fence));
}

FIXTURE_TEARDOWN(tracing)
{
	if (!self->fence)
		return;
	vf_fence_destroy(self->fence);
	VFENCE_TEARDOWN();
	vf_fence_destroy(self->others);
	client_close(&self->other);
	trace_off();
}

struct waiter {
	pthread_t thread;
	struct vf_fence *fence;
	int ret;
};

static void *wait_for_5(void *arg)
{
	struct waiter *waiter = arg;

	waiter->ret = vf_fence_wait(waiter->fence, 5, DEADLINE);
	return NULL;
}

/* ASSERT that a later line of the trace has the words, and go on from there. */
#define NEXT(event, format, ...) do {							\
	const char *_next = line_from(at, event, format, ##__VA_ARGS__);		\
	if (!_next) {									\
		char _words[200];							\
		snprintf(_words, sizeof(_words), format, ##__VA_ARGS__);		\
		TH_LOG("no " event " with %s in what follows:\n%.4000s", _words, at);	\
	}										\
	ASSERT_NE(NULL, _next);								\
	at = _next;									\
} while (0)

/* Steps 1 to 7 of "The way of one signal" in index.rst, and the end of the wait. */
TEST_F(tracing, each_step_of_a_signal_is_an_event)
{
	struct waiter waiter = { .fence = self->fence, .ret = -1 };
	unsigned int none = 0;
	const char *at;

	/* Connect the doorbell, so that the signal begins with a ring, and with a turn of its own. */
	vf_cmd_nop(self->gfx, 8);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(logged(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_IDLE));
	/* A queue and a thread wait for the signal. */
	vf_cmd_wait(self->copy, self->fence, 5);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, pthread_create(&waiter.thread, NULL, wait_for_5, &waiter));
	ASSERT_TRUE(EVENTUALLY(monitored(self->fence) == 4));
	vf_cmd_signal(self->gfx, self->fence, 5);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, pthread_join(waiter.thread, NULL));
	ASSERT_EQ(0, waiter.ret);
	ASSERT_EQ(0, vf_queue_wait_idle(self->copy, DEADLINE));
	ASSERT_TRUE(logged(self->gfx));
	/* The thread of the interrupt need not have read the logs yet. */
	ASSERT_EQ(0, vf_queue_read_log(self->gfx, DRM_VFENCE_LOG_SIGNALS, NULL, &none, NULL));
	ASSERT_EQ(0, vf_queue_read_log(self->copy, DRM_VFENCE_LOG_WAITS, NULL, &none, NULL));
	ASSERT_TRUE(trace_read());

	at = text;
	NEXT("vgpu_wait", "track_event_type=B node=2 fence=%u value=5 by=0", self->id);
	NEXT("vfence_waiter", "fence=%u value=5 gpu=0 event=0", self->id);
	NEXT("vfence_monitored", "fence=%u from=%llu to=4", self->id,
	     (unsigned long long)NOT_MONITORED);
	/* The signal was submitted when the value was seen: the thread may say later that it waits. */
	ASSERT_NE(NULL, line_from(at, "vfence_wait", "track_event_type=B points=1"));
	/* On a slow kernel the page may not be armed yet: then no ring is needed. */
	if (counts_instructions())
		NEXT("vgpu_doorbell", "node=0 state=0");
	NEXT("vgpu_turn", "track_event_type=B node=0 state=2");
	NEXT("vgpu_signal", "node=0 fence=%u value=5", self->id);
	NEXT("vgpu_log", "node=0 log=2 value=5");
	NEXT("vgpu_wait", "track_event_type=E node=2 fence=%u value=5 by=5", self->id);
	NEXT("vgpu_decide", "node=0 fence=%u value=5 monitored=4 interrupts=1", self->id);
	NEXT("vgpu_interrupt", "node=0 posts=1 lost=0x0");
	NEXT("vfence_waiter", "fence=%u value=5 event=1 by=5", self->id);
	NEXT("vfence_monitored", "fence=%u from=4 to=%llu", self->id,
	     (unsigned long long)NOT_MONITORED);
	NEXT("vfence_interrupt", "node=0 fence=%u value=5 completed=1", self->id);
	NEXT("vfence_wait", "track_event_type=E points=1 result=0");
	/* The queue that was released goes on, and both leave their engines. */
	at = line_from(text, "vgpu_wait", "track_event_type=E node=2 by=5");
	NEXT("vgpu_turn", "track_event_type=B node=2 state=2");
	NEXT("vgpu_turn", "track_event_type=E node=2 state=0");
	/* The log names the fence by the same number. */
	at = line_from(text, "vgpu_signal", "fence=%u", self->id);
	NEXT("vfence_clock", "adapter=0");
	NEXT("vfence_signal_executed", "node=0 fence=%u value=5", self->id);
	ASSERT_NE(NULL, line_from(text, "vfence_wait_unblocked", "node=2 fence=%u value=5",
				  self->id));
}

/* Nobody waits for the second value: the engine decides against an interrupt. */
TEST_F(tracing, a_signal_that_interrupts_nobody_says_so)
{
	const char *at;

	vf_cmd_signal(self->gfx, self->fence, 7);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	ASSERT_TRUE(trace_read());
	at = text;
	NEXT("vgpu_signal", "fence=%u value=7", self->id);
	NEXT("vgpu_decide", "fence=%u value=7 monitored=%llu interrupts=0", self->id,
	     (unsigned long long)NOT_MONITORED);
	EXPECT_EQ(NULL, line_from(text, "vfence_interrupt", "fence=%u", self->id));
}

TEST_F(tracing, an_event_and_a_signal_of_the_cpu)
{
	struct vf_point point = { .fence = self->fence, .value = 3 };
	int efd = eventfd(0, EFD_CLOEXEC);
	uint32_t event, other;
	const char *at;

	ASSERT_LE(0, efd);
	ASSERT_EQ(0, vf_event_arm(self->adapter, &point, 1, 0, efd, &event));
	point.value = 9;
	ASSERT_EQ(0, vf_event_arm(self->adapter, &point, 1, 0, efd, &other));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 3));
	ASSERT_TRUE(fired_on(self->adapter, efd));
	ASSERT_EQ(0, vf_event_cancel(self->adapter, other));
	ASSERT_TRUE(trace_read());
	at = text;
	NEXT("vfence_waiter", "fence=%u value=3 gpu=0 event=0", self->id);
	NEXT("vfence_event", "handle=%u step=0", event);
	NEXT("vfence_waiter", "fence=%u value=9 event=0", self->id);
	NEXT("vfence_event", "handle=%u step=0", other);
	NEXT("vfence_signal", "fence=%u value=3", self->id);
	NEXT("vfence_waiter", "fence=%u value=3 event=1 by=3", self->id);
	NEXT("vfence_event", "handle=%u step=1", event);
	NEXT("vfence_event", "handle=%u step=2", event);
	NEXT("vfence_event", "handle=%u step=3", other);
	NEXT("vfence_waiter", "fence=%u value=9 event=3 by=0", self->id);
	close(efd);
}

/* The end of the last handle ends the wait of a thread. */
TEST_F(tracing, the_end_of_a_fence_ends_its_points)
{
	struct waiter waiter = { .ret = 0 };
	unsigned int id;
	const char *at;

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &waiter.fence));
	id = fence_id(waiter.fence);
	ASSERT_NE(0, id);
	ASSERT_EQ(0, pthread_create(&waiter.thread, NULL, wait_for_5, &waiter));
	ASSERT_TRUE(EVENTUALLY(monitored(waiter.fence) == 4));
	vf_fence_destroy(waiter.fence);
	ASSERT_EQ(0, pthread_join(waiter.thread, NULL));
	EXPECT_EQ(-ECANCELED, waiter.ret);
	ASSERT_TRUE(trace_read());
	at = text;
	NEXT("vfence_waiter", "fence=%u value=5 event=0", id);
	NEXT("vfence_handle", "fence=%u opened=0", id);
	NEXT("vfence_waiter", "fence=%u value=5 event=2", id);
}

TEST_F(tracing, a_submission_from_the_call_to_its_end)
{
	struct vf_fence *gate;
	struct vf_queue *queue;
	unsigned int id;
	const char *at;

	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &queue));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &gate));
	id = fence_id(gate);
	ASSERT_NE(0, id);
	struct vf_point wait = { .fence = gate, .value = 2 };
	struct vf_submit what = { .waits = &wait, .wait_count = 1 };

	vf_cmd_draw(queue, 1, 1000);
	vf_cmd_signal(queue, gate, 3);
	ASSERT_EQ(0, vf_submit(&queue, 1, &what));
	ASSERT_EQ(0, vf_fence_signal(gate, 2));
	ASSERT_EQ(0, vf_queue_wait_idle(queue, DEADLINE));
	ASSERT_TRUE(trace_read());
	at = text;
	NEXT("vfence_queue", "node=0 kernel=1 created=1");
	NEXT("vfence_handle", "fence=%u native=0 opened=1", id);
	NEXT("vfence_waiter", "fence=%u value=2 gpu=1 event=0", id);
	NEXT("vfence_submission", "node=0 progress=1 step=0 error=0");
	NEXT("vfence_signal", "fence=%u value=2", id);
	NEXT("vfence_waiter", "fence=%u value=2 gpu=1 event=1", id);
	NEXT("vfence_submission", "node=0 progress=1 step=1 error=0");
	NEXT("vfence_submission", "node=0 progress=1 step=2 error=0");
	NEXT("vgpu_doorbell", "node=0");
	NEXT("vgpu_turn", "track_event_type=B node=0");
	NEXT("vgpu_write", "node=0 value=3");
	NEXT("vfence_submission", "node=0 progress=1 step=3 error=0");
	NEXT("vfence_submission", "node=0 progress=1 step=4 error=0");
	vf_queue_destroy(queue);
	vf_fence_destroy(gate);
	ASSERT_TRUE(trace_read());
	EXPECT_NE(NULL, line_from(at, "vfence_queue", "node=0 kernel=1 created=0"));
}

TEST_F(tracing, doorbells_and_suspensions)
{
	const char *at;

	vf_cmd_nop(self->gfx, 8);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	ASSERT_EQ(0, vf_queue_suspend(self->gfx, NULL));
	ASSERT_EQ(0, vf_queue_resume(self->gfx));
	ASSERT_EQ(0, vf_queue_abort(self->gfx));
	vf_queue_destroy(self->gfx);
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 65536, &self->gfx));
	ASSERT_TRUE(trace_read());
	at = text;
	NEXT("vfence_queue", "node=0 kernel=0 created=1");
	NEXT("vfence_connect", "node=0 physical=0 status=0");
	/* A slow client may ring after the engine has found the work: connecting looks for it, too. */
	NEXT("vgpu_doorbell", "node=0%s", deterministic() ? " state=0" : "");
	NEXT("vfence_suspension", "track_event_type=B node=0 number=1 result=0");
	NEXT("vfence_suspension", "track_event_type=I node=0 number=1 result=0");
	NEXT("vfence_suspension", "track_event_type=E node=0 number=1 result=0");
	NEXT("vfence_connect", "node=0 physical=-1 status=3");
	NEXT("vfence_queue", "node=0 kernel=0 created=0");
}

TEST_F(tracing, lost_entries_of_a_log_are_counted)
{
	struct drm_vfence_log_entry e[8];
	unsigned int i, lost, sum = 0, n = 8;
	uint64_t dropped;
	const char *at;

	/* Twice as many as the log holds, and nothing that makes the driver read it. */
	for (i = 1; i <= 168; i++)
		vf_cmd_signal(self->gfx, self->fence, i);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(logged(self->gfx));
	ASSERT_EQ(0, vf_queue_read_log(self->gfx, DRM_VFENCE_LOG_SIGNALS, e, &n, &dropped));
	ASSERT_TRUE(trace_read());
	for (at = text; (at = line_from(at, "vfence_log_lost", "node=0 log=2")); at++)
		sum += sscanf(strstr(at, "lost="), "lost=%u", &lost) == 1 ? lost : 0;
	/* Entries that were read and entries that were lost are all there were. */
	EXPECT_LE(169 - 84, sum);
	for (at = text; (at = line_from(at, "vfence_signal_executed", "node=0")); at++)
		sum++;
	EXPECT_EQ(169, sum);
}

/* While nobody traces and nobody fetches entries, interrupts leave them in the log. */
TEST_F(tracing, entries_from_before_the_tracing_are_no_events)
{
	unsigned int i;
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	ASSERT_EQ(0, write_text(INSTANCE "events/enable", "0"));
	ASSERT_EQ(0, arm(self->adapter, self->fence, 1, efd));
	vf_cmd_signal(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(fired(efd)));

	ASSERT_EQ(0, trace_on());
	ASSERT_EQ(0, arm(self->adapter, self->fence, 2, efd));
	vf_cmd_signal(self->gfx, self->fence, 2);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	/* The interrupt makes the driver read the log. */
	EXPECT_TRUE(EVENTUALLY(trace_read() && line_from(text, "vfence_signal_executed",
							 "fence=%u value=2", self->id)));
	EXPECT_EQ(NULL, line_from(text, "vfence_signal_executed", "value=1"));

	/* Nor are entries that were lost before. */
	ASSERT_EQ(0, write_text(INSTANCE "events/enable", "0"));
	ASSERT_EQ(0, arm(self->adapter, self->fence, 300, efd));
	for (i = 3; i <= 300; i++)
		vf_cmd_signal(self->gfx, self->fence, i);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(fired(efd)));

	ASSERT_EQ(0, trace_on());
	ASSERT_EQ(0, arm(self->adapter, self->fence, 301, efd));
	vf_cmd_signal(self->gfx, self->fence, 301);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	EXPECT_TRUE(EVENTUALLY(trace_read() && line_from(text, "vfence_signal_executed",
							 "fence=%u value=301", self->id)));
	EXPECT_EQ(NULL, line_from(text, "vfence_log_lost", "log=2"));
	close(efd);
}

/* The members of one fence have a number on each adapter, and an event joins them. */
TEST_F(tracing, a_signal_that_crosses_adapters)
{
	const uint32_t flags = DRM_VFENCE_FENCE_SHAREABLE | DRM_VFENCE_FENCE_CROSS_ADAPTER;
	struct vf_fence *here, *there;
	struct vf_adapter *adapter;
	struct vf_device *device;
	unsigned int id, to;
	const char *at;
	int fd;

	ASSERT_EQ(0, vf_adapter_open(1, &adapter));
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_fence_create(self->device, flags, 0, &here));
	id = fence_id(here);
	ASSERT_NE(0, id);
	fd = vf_fence_export(here);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, vf_fence_open(device, fd, &there));
	close(fd);
	vf_cmd_signal(self->gfx, here, 6);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_fence_wait(there, 6, DEADLINE));
	ASSERT_TRUE(EVENTUALLY(trace_read() && line_from(text, "vfence_cross_adapter", "value=6")));
	at = line_from(text, "vfence_handle", "adapter=1 handle=%u opened=1",
		       vf_fence_handle(there));
	ASSERT_NE(NULL, at);
	ASSERT_EQ(1, sscanf(strstr(at, " fence="), " fence=%u", &to));
	at = text;
	NEXT("vgpu_signal", "adapter=0 fence=%u value=6", id);
	NEXT("vgpu_decide", "adapter=0 fence=%u value=6 monitored=0 interrupts=1", id);
	NEXT("vfence_cross_adapter", "adapter=0 fence=%u to_adapter=1 to_function=0 to_fence=%u value=6", id, to);
	vf_fence_destroy(there);
	vf_fence_destroy(here);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

TEST_F(tracing, a_device_that_is_lost)
{
	const char *at;

	vf_cmd_fill(self->gfx, NOWHERE, 64, 0);
	/* The connect may find the queue faulted already. */
	vf_queue_publish(self->gfx);
	ASSERT_TRUE(EVENTUALLY(vf_device_state(self->device) != DRM_VFENCE_DEVICE_ACTIVE));
	ASSERT_TRUE(EVENTUALLY(trace_read() && line_from(text, "vfence_device", "adapter=0")));
	at = text;
	NEXT("vgpu_turn", "track_event_type=B node=0 state=2");
	NEXT("vgpu_turn", "track_event_type=E node=0 state=4");
	NEXT("vfence_device", "adapter=0 state=%d", vf_device_state(self->device));
}

/* Each event names its adapter and its function, and the names have one meaning each. */
TEST_F(tracing, each_event_names_its_adapter)
{
	static const char *const systems[] = { "vgpu", "vfence" };
	char path[300], format[8192];
	unsigned int i, events = 0;
	struct dirent *entry;
	DIR *dir;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), INSTANCE "events/%s", systems[i]);
		dir = opendir(path);
		ASSERT_NE(NULL, dir);
		while ((entry = readdir(dir))) {
			FILE *f;
			size_t n;

			if (strncmp(entry->d_name, systems[i], strlen(systems[i])))
				continue;
			snprintf(path, sizeof(path), TRACING "events/%s/%s/format", systems[i],
				 entry->d_name);
			f = fopen(path, "re");
			ASSERT_NE(NULL, f);
			n = fread(format, 1, sizeof(format) - 1, f);
			fclose(f);
			format[n] = 0;
			events++;
			if (!strstr(format, "field:u32 adapter;") ||
			    !strstr(format, "field:u32 function;"))
				TH_LOG("%s", entry->d_name);
			EXPECT_NE(NULL, strstr(format, "field:u32 adapter;"));
			EXPECT_NE(NULL, strstr(format, "field:u32 function;"));
			/* What Perfetto needs to draw slices, instants and counters. */
			if (strstr(format, "track_event_type;")) {
				EXPECT_NE(NULL, strstr(format, "field:char track_event_type;"));
				EXPECT_NE(NULL, strstr(format,
						       "field:__data_loc char[] slice_name;"));
			}
			if (strstr(format, "counter_value;"))
				EXPECT_NE(NULL, strstr(format, "field:u64 counter_value;"));
		}
		closedir(dir);
	}
	EXPECT_EQ(30, events);
}

TEST_HARNESS_MAIN
