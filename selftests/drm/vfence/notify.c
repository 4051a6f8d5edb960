// SPDX-License-Identifier: GPL-2.0-only
/* The signaled interrupt: its records, and a ring that has no room for them. */

#include "vfence_test.h"

#define TRACING "/sys/kernel/tracing/"

TEST(WDDM_72_a_null_array_scans_all_native_waiters)
{
	struct vf_counters before, after;
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *fence[8];
	struct vf_queue *queue;
	int efd[8];
	unsigned int i;

	if (vf_adapter_open(1, &adapter))
		SKIP(return, "needs an adapter without interrupt records (irq_records=64,0)");
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, 0, 65536, &queue));
	before = counters(adapter);
	for (i = 0; i < 8; i++) {
		struct vf_point point;

		ASSERT_EQ(0, vf_fence_create(device, 0, 0, &fence[i]));
		efd[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		point = (struct vf_point){ fence[i], 10 };
		ASSERT_EQ(0, vf_event_arm(adapter, &point, 1, 0, efd[i], NULL));
		/* The signal reaches the values of seven waiters, and not that of the last. */
		vf_cmd_signal(queue, fence[i], i < 7 ? 10 : 9);
	}
	ASSERT_EQ(0, vf_queue_submit(queue));
	for (i = 0; i < 7; i++)
		EXPECT_TRUE(EVENTUALLY(fired(efd[i])));
	ASSERT_TRUE(settled(adapter, &after));
	EXPECT_FALSE(fired(efd[7]));
	EXPECT_LT(before.scans, after.scans);
	EXPECT_EQ(before.cmp_recorded, after.cmp_recorded);
	for (i = 0; i < 8; i++) {
		close(efd[i]);
		vf_fence_destroy(fence[i]);
	}
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

TEST(a_queue_error_is_noticed_without_interrupt_records)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;

	if (vf_adapter_open(1, &adapter))
		SKIP(return, "needs an adapter without interrupt records (irq_records=64,0)");
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, 0, 4096, &queue));
	vf_cmd_raw(queue, &(struct drm_vfence_packet_header){ .opcode = 50, .length = 8 }, 8);
	vf_queue_publish(queue);
	EXPECT_TRUE(EVENTUALLY(vf_device_state(device) == DRM_VFENCE_DEVICE_ERROR_DMAFAULT));
	EXPECT_TRUE(EVENTUALLY(vf_queue_status(queue) ==
			       DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT));
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

FIXTURE(notify) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
	struct vf_fence *other;
};

FIXTURE_SETUP(notify)
{
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->other));
}

FIXTURE_TEARDOWN(notify)
{
	inject(0, "lose_interrupt", "0");
	inject(0, "hold_posts", "0");
	vf_fence_destroy(self->fence);
	vf_fence_destroy(self->other);
	VFENCE_TEARDOWN();
}

TEST_F(notify, WDDM_71_the_array_names_the_signaled_fences_only)
{
	struct drm_vfence_fence_info named, bystander;
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_point point[2] = { { self->fence, 5 }, { self->other, 5 } };
	struct vf_counters before, after;

	ASSERT_EQ(0, vf_event_arm(self->adapter, point, 2, DRM_VFENCE_WAIT_ANY, efd, NULL));
	ASSERT_TRUE(settled(self->adapter, &before));
	vf_cmd_signal(self->gfx, self->fence, 5);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(fired(efd)));
	/*
	 * Wait until the signal of the progress fence, which has no waiter, is executed,
	 * too.
	 */
	ASSERT_TRUE(logged(self->gfx));
	ASSERT_TRUE(settled(self->adapter, &after));
	ASSERT_EQ(0, vf_fence_query(self->fence, &named));
	ASSERT_EQ(0, vf_fence_query(self->other, &bystander));
	EXPECT_EQ(1, named.interrupts);
	EXPECT_EQ(0, bystander.interrupts);
	EXPECT_EQ(before.cmp_recorded + 1, after.cmp_recorded);
	EXPECT_EQ(before.scans, after.scans);
	close(efd);
}

TEST_F(notify, WDDM_70_the_event_carries_node_fence_and_full_value)
{
	const uint64_t value = UINT64_C(0xfedcba9876543210);
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	char *trace = calloc(1, 1 << 20), expect[64];
	int fd;

	if (!may_patch_kernel())
		SKIP(return, MAY_NOT_PATCH_KERNEL);
	if (write_text(TRACING "events/vfence/vfence_interrupt/enable", "1"))
		SKIP(return, "needs tracefs at " TRACING);
	write_text(TRACING "trace", "");
	/* A waiter that exists before the signal makes the signal raise an interrupt. */
	ASSERT_EQ(0, arm(self->adapter, self->fence, value, efd));
	vf_cmd_signal(self->copy, self->fence, value);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(EVENTUALLY(fired(efd)));
	write_text(TRACING "events/vfence/vfence_interrupt/enable", "0");
	fd = open(TRACING "trace", O_RDONLY | O_CLOEXEC);
	ASSERT_LT(0, read(fd, trace, (1 << 20) - 1));
	close(fd);
	snprintf(expect, sizeof(expect), "value=%llu completed=1", (unsigned long long)value);
	EXPECT_NE(NULL, strstr(trace, expect));
	EXPECT_NE(NULL, strstr(trace, " node=2 fence="));
	free(trace);
	close(efd);
}

/*
 * Signal @fence by @queue while an event waits for the value, so that the signal raises an
 * interrupt. Return: true once the event has fired and the engine has counted the signals.
 */
static bool interrupt(struct vf_adapter *adapter, struct vf_queue *queue, struct vf_fence *fence,
		      uint64_t value, int efd)
{
	if (arm(adapter, fence, value, efd))
		return false;
	vf_cmd_signal(queue, fence, value);
	return !vf_queue_submit(queue) && EVENTUALLY(fired(efd)) && logged(queue) &&
	       read(efd, &(uint64_t){ 0 }, 8) == 8;
}

/* Return: true if the line of /proc/interrupts is a vector of the first adapter, or function. */
#define CROWD	64
/* Two fences of this kind have more waiters than the handler completes. */
#define EACH	3

/* Fences with some waiters each, on one eventfd. */
struct crowd {
	struct vf_fence *fence[CROWD];
	int efd;
};

static int crowd_open(struct crowd *crowd, struct vf_adapter *adapter, struct vf_device *device)
{
	unsigned int i, k;
	int ret = 0;

	crowd->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (i = 0; i < CROWD && !ret; i++) {
		ret = vf_fence_create(device, 0, 0, &crowd->fence[i]);
		for (k = 0; k < EACH && !ret; k++)
			ret = arm(adapter, crowd->fence[i], 1, crowd->efd);
	}
	return ret;
}

static void crowd_close(struct crowd *crowd)
{
	unsigned int i;

	for (i = 0; i < CROWD; i++)
		vf_fence_destroy(crowd->fence[i]);
	close(crowd->efd);
}

/* The interrupts leave most fences to the thread, which has more than one pass with them. */
TEST_F(notify, signals_of_many_fences_at_once_wake_all_their_waiters)
{
	int last = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct crowd crowd;
	unsigned int i;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, crowd_open(&crowd, self->adapter, self->device));
	ASSERT_EQ(0, arm(self->adapter, self->fence, 1, last));
	ASSERT_EQ(0, inject(0, "hold_posts", "1"));
	for (i = 0; i < CROWD; i++)
		vf_cmd_signal(self->gfx, crowd.fence[i], 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	EXPECT_FALSE(fired(crowd.efd));
	/* Another post lets the CMP go on. A call that waits would set the events itself. */
	ASSERT_EQ(0, inject(0, "hold_posts", "0"));
	vf_cmd_signal(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	EXPECT_TRUE(fires(crowd.efd, CROWD * EACH));
	EXPECT_TRUE(fires(last, 1));
	close(last);
	crowd_close(&crowd);
}

/* Signal a fence of the crowd, on another node each time: then each signal has its own record. */
static int signal_one_of(FIXTURE_DATA(notify) *self, struct crowd *crowd, unsigned int i)
{
	struct vf_queue *queue = i % 2 ? self->gfx : self->copy;

	vf_cmd_signal(queue, crowd->fence[i], 1);
	return vf_queue_submit(queue) ? -EIO : drained(queue) ? 0 : -ETIME;
}

/*
 * A wait that begins after a rewind first handles the records of before: all of them, as the value
 * that was rewound must not complete it. No interrupt handles them here.
 */
TEST_F(notify, a_wait_after_a_rewind_begins_after_all_records_of_before)
{
	int before = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int after = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_counters c;
	struct crowd crowd;
	unsigned int i;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, crowd_open(&crowd, self->adapter, self->device));
	ASSERT_EQ(0, arm(self->adapter, self->fence, 10, before));
	ASSERT_EQ(0, inject(0, "hold_posts", "1"));
	for (i = 0; i < 24; i++) {
		if (i == 12)
			vf_cmd_signal(self->gfx, self->fence, 10);
		ASSERT_EQ(0, signal_one_of(self, &crowd, i));
	}
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	ASSERT_EQ(0, inject(0, "lose_interrupt", "1000"));
	ASSERT_EQ(0, arm(self->adapter, self->fence, 5, after));
	EXPECT_EQ(1, fired_on(self->adapter, before));

	ASSERT_EQ(0, inject(0, "lose_interrupt", "0"));
	ASSERT_EQ(0, inject(0, "hold_posts", "0"));
	for (; i < CROWD; i++)
		ASSERT_EQ(0, signal_one_of(self, &crowd, i));
	EXPECT_TRUE(fires(crowd.efd, CROWD * EACH));
	ASSERT_TRUE(settled(self->adapter, &c));
	EXPECT_EQ(0, fired_on(self->adapter, after));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 5));
	EXPECT_EQ(1, fired_on(self->adapter, after));
	crowd_close(&crowd);
	close(before);
	close(after);
}

static bool is_vector(const char *line)
{
	unsigned int index = first_adapter();
	char name[40];

	if (index < 16)
		snprintf(name, sizeof(name), " vfence%u\n", index);
	else
		snprintf(name, sizeof(name), " vfence%uvf%u\n", index / 16 - 1, index % 16 + 1);
	return strstr(line, name);
}

static unsigned long long irqs_on(int cpu, int *irq)
{
	FILE *f = fopen("/proc/interrupts", "re");
	unsigned long long count = 0;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		char *p = strchr(line, ':');
		int i;

		if (!p || !is_vector(line))
			continue;
		*irq = atoi(line);
		for (p++, i = 0; i <= cpu; i++)
			count = strtoull(p, &p, 10);
	}
	if (f)
		fclose(f);
	return count;
}

TEST_F(notify, interrupts_go_to_the_cpu_of_their_affinity)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uint64_t value = 0;
	int cpu, irq = 0;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two processors");
	for (cpu = 1; cpu >= 0; cpu--) {
		struct vf_counters c;
		unsigned long long before, other;
		char path[64];
		unsigned int i;

		irqs_on(0, &irq);
		snprintf(path, sizeof(path), "/proc/irq/%d/smp_affinity_list", irq);
		ASSERT_EQ(0, write_text(path, cpu ? "1" : "0"));
		ASSERT_TRUE(settled(self->adapter, &c));
		before = irqs_on(cpu, &irq);
		other = irqs_on(!cpu, &irq);
		for (i = 0; i < 20; i++)
			ASSERT_TRUE(interrupt(self->adapter, self->gfx, self->fence, ++value,
					      efd));
		ASSERT_TRUE(settled(self->adapter, &c));
		EXPECT_EQ(before + 20, irqs_on(cpu, &irq));
		EXPECT_EQ(other, irqs_on(!cpu, &irq));
	}
	close(efd);
}

TEST(a_pulse_is_not_lost_without_interrupt_records)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *fence;
	struct vf_queue *queue;
	struct vf_point point;
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (vf_adapter_open(1, &adapter))
		SKIP(return, "needs an adapter without interrupt records (irq_records=64,0)");
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, 0, 4096, &queue));
	ASSERT_EQ(0, vf_fence_create(device, 0, 0, &fence));
	point = (struct vf_point){ fence, 5 };
	ASSERT_EQ(0, vf_event_arm(adapter, &point, 1, 0, efd, NULL));
	/* Signal a value and rewind it before the driver can rescan. */
	vf_cmd_signal(queue, fence, 5);
	vf_cmd_signal(queue, fence, 0);
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	EXPECT_TRUE(drained(queue));
	close(efd);
	vf_fence_destroy(fence);
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

TEST_F(notify, WDDM_75_destroying_a_fence_drains_records_that_name_it)
{
	uint64_t recorded = counters(self->adapter).cmp_recorded;
	struct vf_fence *across, *there;
	struct vf_adapter *other;
	struct vf_device *far;
	int log = kernel_log();
	unsigned int round, i;
	int shared;

	/* A record that names a destroyed fence would lose the adapter. */
	if (!geteuid() && !vf_adapter_open(1, &other)) {
		ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE |
					     DRM_VFENCE_FENCE_CROSS_ADAPTER, 0, &across));
		/* Once another adapter has opened the fence, each signal interrupts. */
		shared = vf_fence_export(across);
		ASSERT_EQ(0, vf_device_create(other, &far));
		ASSERT_EQ(0, vf_fence_open(far, shared, &there));
		ASSERT_EQ(0, inject(0, "hold_posts", "1"));
		vf_cmd_signal(self->gfx, across, 1);
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		ASSERT_TRUE(drained(self->gfx));
		EXPECT_EQ(recorded, counters(self->adapter).cmp_recorded);
		/*
		 * Each signal of a cross-adapter fence is recorded, this one while the
		 * fence is destroyed.
		 */
		vf_fence_destroy(there);
		vf_device_destroy(far);
		vf_adapter_close(other);
		close(shared);
		vf_fence_destroy(across);
		EXPECT_EQ(recorded + 1, counters(self->adapter).cmp_recorded);
		ASSERT_EQ(0, inject(0, "hold_posts", "0"));
	}
	for (round = 0; round < 100; round++) {
		struct vf_fence *fence[8];
		int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		struct vf_queue *queue;
		struct vf_device *device;

		ASSERT_EQ(0, vf_device_create(self->adapter, &device));
		ASSERT_EQ(0, vf_queue_create(device, round % 4, 4096, &queue));
		for (i = 0; i < 8; i++) {
			struct vf_point point;

			ASSERT_EQ(0, vf_fence_create(device, 0, 0, &fence[i]));
			point = (struct vf_point){ fence[i], 1 };
			ASSERT_EQ(0, vf_event_arm(self->adapter, &point, 1, 0, efd, NULL));
			vf_cmd_signal(queue, fence[i], 1);
		}
		vf_queue_publish(queue);
		for (i = 0; i < 8; i++)
			vf_fence_destroy(fence[i]);
		vf_queue_abort(queue);
		vf_queue_destroy(queue);
		vf_device_destroy(device);
		close(efd);
	}
	EXPECT_FALSE(kernel_said(log, "adapter lost"));
	close(log);
}

TEST_F(notify, proc_interrupts_agrees_with_the_counters)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	unsigned long long total[2] = { 0, 0 };
	struct vf_counters before, after;
	unsigned int i, k;

	ASSERT_TRUE(settled(self->adapter, &before));
	for (k = 0; k < 2; k++) {
		FILE *f = fopen("/proc/interrupts", "re");
		char line[512];

		ASSERT_NE(NULL, f);
		while (fgets(line, sizeof(line), f)) {
			char *p = strchr(line, ':');
			long n = sysconf(_SC_NPROCESSORS_ONLN);

			if (!p || !is_vector(line))
				continue;
			for (p++; n--; )
				total[k] += strtoull(p, &p, 10);
		}
		fclose(f);
		for (i = 1; !k && i <= 20; i++) {
			ASSERT_TRUE(interrupt(self->adapter, self->gfx, self->fence, i, efd));
			ASSERT_TRUE(settled(self->adapter, &after));
		}
	}
	EXPECT_EQ(before.handler_runs + 20, after.handler_runs);
	EXPECT_EQ(after.handler_runs - before.handler_runs, total[1] - total[0]);
	close(efd);
}

/* ------------------------------------------ the optimised form, and no form */

#define FORM_SETUP() do {								\
	if (access("/sys/bus/platform/devices/vfence.10/drm", F_OK))			\
		SKIP(return, "needs the adapters of the guests");			\
	VFENCE_SETUP(variant->index);							\
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->f1));			\
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->f2));			\
	self->e1 = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);				\
	self->e2 = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);				\
} while (0)

#define FORM_TEARDOWN() do {		\
	close(self->e1);		\
	close(self->e2);		\
	vf_fence_destroy(self->f1);	\
	vf_fence_destroy(self->f2);	\
	VFENCE_TEARDOWN();		\
} while (0)

#define FORM_FIXTURE(name)						\
	FIXTURE(name) {							\
		VFENCE_MEMBERS;						\
		struct vf_fence *f1, *f2;				\
		int e1, e2;						\
	};								\
	FIXTURE_VARIANT(name) { unsigned int index; };			\
	FIXTURE_SETUP(name) { FORM_SETUP(); }				\
	FIXTURE_TEARDOWN(name) { FORM_TEARDOWN(); }

FORM_FIXTURE(form)
FIXTURE_VARIANT_ADD(form, queue) { .index = 8, };
FIXTURE_VARIANT_ADD(form, queue_null) { .index = 9, };
FIXTURE_VARIANT_ADD(form, indistinct) { .index = 10, };

/* Interrupts name queues. */
FORM_FIXTURE(form_of_queues)
FIXTURE_VARIANT_ADD(form_of_queues, queue) { .index = 8, };
FIXTURE_VARIANT_ADD(form_of_queues, queue_null) { .index = 9, };

TEST_F(form, WDDM_76_77_78_79_waiters_complete_in_every_form)
{
	struct vf_counters before = counters(self->adapter), after;
	struct drm_vfence_fence_caps caps;

	/* The hardware writes garbage to the fields of a record that its form does not use. */
	ASSERT_EQ(0, vf_adapter_fence_caps(self->adapter, &caps));
	EXPECT_EQ(variant->index != 10, !!(caps.flags & DRM_VFENCE_CAP_OPTIMIZED_INTERRUPT));
	ASSERT_EQ(0, arm(self->adapter, self->f1, 2, self->e1));
	ASSERT_EQ(0, arm(self->adapter, self->f2, 3, self->e2));
	/* The example of the contract: E1 to E4, and waiters of both fences. */
	vf_cmd_signal(self->gfx, self->f1, 1);
	vf_cmd_signal(self->gfx, self->f1, 2);
	vf_cmd_signal(self->gfx, self->f2, 3);
	vf_cmd_signal(self->gfx, self->f2, 3);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->e1)));
	EXPECT_TRUE(EVENTUALLY(fired(self->e2)));
	ASSERT_TRUE(settled(self->adapter, &after));
	EXPECT_EQ(before.records_array, after.records_array);
	switch (variant->index) {
	case 8:
		EXPECT_LT(before.records_queue, after.records_queue);
		EXPECT_EQ(before.scans, after.scans);
		EXPECT_EQ(before.log_scans, after.log_scans);
		break;
	case 9:
		EXPECT_EQ(before.records_queue, after.records_queue);
		EXPECT_EQ(before.scans, after.scans);
		EXPECT_LT(before.log_scans, after.log_scans);
		break;
	default:
		EXPECT_LT(before.records_null, after.records_null);
		EXPECT_LT(before.scans, after.scans);
		/*
		 * The driver rescans monitored fences last, after it has completed the
		 * waiters above.
		 */
		EXPECT_TRUE(EVENTUALLY(counters(self->adapter).legacy_scans >
				       before.legacy_scans));
	}
	EXPECT_EQ(before.live_reads, after.live_reads);
}

TEST_F(form, WDDM_79_a_null_queue_means_those_of_its_node)
{
	struct vf_counters before, after;

	/* The other node has the only new entries. The first node has none. */
	ASSERT_EQ(0, arm(self->adapter, self->f1, 5, self->e1));
	ASSERT_TRUE(settled(self->adapter, &before));
	vf_cmd_signal(self->copy, self->f1, 5);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	EXPECT_TRUE(EVENTUALLY(fired(self->e1)));
	ASSERT_TRUE(settled(self->adapter, &after));
	EXPECT_EQ(variant->index == 9, before.log_scans < after.log_scans);
	EXPECT_EQ(before.live_reads, after.live_reads);
}

TEST_F(form, nobody_is_woken_before_its_value)
{
	struct vf_counters after;

	ASSERT_EQ(0, arm(self->adapter, self->f1, 10, self->e1));
	ASSERT_EQ(0, arm(self->adapter, self->f2, 10, self->e2));
	vf_cmd_signal(self->gfx, self->f1, 9);
	vf_cmd_signal(self->gfx, self->f2, 10);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->e2)));
	ASSERT_TRUE(settled(self->adapter, &after));
	EXPECT_FALSE(fired(self->e1));
	EXPECT_EQ(9, monitored(self->f1));
	EXPECT_EQ(NOT_MONITORED, monitored(self->f2));
}

TEST_F(form, a_pulse_releases_who_was_blocked)
{
	ASSERT_EQ(0, arm(self->adapter, self->f1, 10, self->e1));
	vf_cmd_signal(self->gfx, self->f1, 10);
	vf_cmd_signal(self->gfx, self->f1, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->e1)));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(self->f1) == 1));
}

TEST_F(form_of_queues, WDDM_80_95_after_an_overrun_fences_are_read_live)
{
	struct vf_counters before = counters(self->adapter), after;
	unsigned int i;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, arm(self->adapter, self->f1, 5, self->e1));
	ASSERT_EQ(0, arm(self->adapter, self->f2, 8, self->e2));
	/* The interrupt comes long after both entries were overwritten. */
	ASSERT_EQ(0, inject(variant->index, "hold_posts", "1"));
	vf_cmd_signal(self->gfx, self->f1, 5);
	vf_cmd_signal(self->gfx, self->f2, 8);
	vf_cmd_signal(self->gfx, self->f2, 2);
	for (i = 0; i < 200; i++)
		vf_cmd_signal(self->gfx, self->f1, 6);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	EXPECT_FALSE(fired(self->e1));
	ASSERT_EQ(0, inject(variant->index, "hold_posts", "0"));
	/* The next post wakes the CMP. */
	vf_cmd_signal(self->gfx, self->f1, 7);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->e1)));
	/* The driver finds even a pulse that neither the log nor the fence has any more. */
	EXPECT_TRUE(EVENTUALLY(fired(self->e2)));
	ASSERT_TRUE(settled(self->adapter, &after));
	EXPECT_LT(before.log_entries_lost, after.log_entries_lost);
	EXPECT_LT(before.live_reads, after.live_reads);
}

/*
 * The entry that is lost is the only one that names the fence. The place of the oldest entry is the
 * next one that the GPU writes, so a log has room for one entry less than it has places.
 */
TEST_F(form_of_queues, WDDM_80_95_an_overrun_by_one_entry_is_one)
{
	uint32_t entries = vf_queue_info(self->gfx)->signal_log_entries, i;
	struct vf_counters before, after;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_TRUE(settled(self->adapter, &before));
	ASSERT_EQ(0, arm(self->adapter, self->f1, 5, self->e1));
	ASSERT_EQ(0, inject(variant->index, "hold_posts", "1"));
	vf_cmd_signal(self->gfx, self->f1, 5);
	for (i = 1; i < entries; i++)
		vf_cmd_signal(self->gfx, self->f2, i);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(vf_fence_current(self->f2) == entries - 1 &&
			       queue_state(self->gfx) == DRM_VFENCE_QUEUE_IDLE));
	EXPECT_FALSE(fired(self->e1));
	ASSERT_EQ(0, release_posts(variant->index));
	EXPECT_TRUE(EVENTUALLY(fired(self->e1)));
	ASSERT_TRUE(settled(self->adapter, &after));
	EXPECT_EQ(before.log_entries_lost + 1, after.log_entries_lost);
}

static int signal_unlogged(struct vf_queue *queue, struct vf_fence *fence, uint64_t value)
{
	struct drm_vfence_packet_signal signal = {
		.header = { .opcode = DRM_VFENCE_OP_FENCE_SIGNAL, .length = sizeof(signal) },
		.current_va = vf_fence_mapping(fence)->current_va,
		.monitored_va = vf_fence_mapping(fence)->monitored_va,
		.value = value,
	};

	vf_cmd_raw(queue, &signal, sizeof(signal));
	return vf_queue_publish(queue);
}

TEST_F(form, a_signal_without_its_log_packet_is_not_lost)
{
	ASSERT_EQ(0, arm(self->adapter, self->f1, 4, self->e1));
	ASSERT_EQ(0, signal_unlogged(self->gfx, self->f1, 4));
	EXPECT_TRUE(EVENTUALLY(fired(self->e1)));
}

TEST_F(form, a_signal_without_its_log_packet_outlives_its_queue)
{
	struct vf_queue *queue;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, arm(self->adapter, self->f1, 4, self->e1));
	/* The interrupt comes while the queue is being destroyed. */
	ASSERT_EQ(0, inject(variant->index, "hold_posts", "1"));
	ASSERT_EQ(0, signal_unlogged(queue, self->f1, 4));
	ASSERT_TRUE(EVENTUALLY(vf_fence_current(self->f1) == 4));
	EXPECT_FALSE(fired(self->e1));
	vf_queue_destroy(queue);
	ASSERT_EQ(0, inject(variant->index, "hold_posts", "0"));
	EXPECT_TRUE(EVENTUALLY(fired(self->e1)));
}

TEST_F(form, an_invented_log_entry_wakes_nobody_without_the_right_to_signal)
{
	struct vf_adapter *other;
	struct vf_device *device;
	struct vf_fence *shared, *opened;
	struct drm_vfence_packet_log lie = {
		.header = { .opcode = DRM_VFENCE_OP_LOG, .length = sizeof(lie) },
		.value = UINT64_MAX,
		.operation = DRM_VFENCE_LOG_SIGNAL_EXECUTED,
	};
	struct vf_queue *queue;
	int fd;

	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 0, &shared));
	fd = vf_fence_export_rights(shared, DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT);
	ASSERT_EQ(0, arm(self->adapter, shared, 10, self->e1));
	ASSERT_EQ(0, vf_adapter_open(variant->index, &other));
	ASSERT_EQ(0, vf_device_create(other, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, vf_fence_open(device, fd, &opened));
	lie.log_va = vf_queue_info(queue)->signal_log_va;
	lie.fence = vf_fence_handle(opened);
	vf_cmd_raw(queue, &lie, sizeof(lie));
	ASSERT_EQ(0, vf_queue_publish(queue));
	ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_IDLE));
	/* Destroying the queue reads its log, if the driver has not read it before. */
	vf_queue_destroy(queue);
	EXPECT_FALSE(fired(self->e1));
	ASSERT_EQ(0, vf_fence_signal(shared, 10));
	EXPECT_TRUE(fired(self->e1));
	vf_fence_destroy(opened);
	vf_fence_destroy(shared);
	vf_device_destroy(device);
	vf_adapter_close(other);
	close(fd);
}

TEST_F(form, a_new_fence_inherits_no_entries_of_one_that_is_gone)
{
	struct vf_fence *again;
	uint32_t handle = vf_fence_handle(self->f1);
	struct vf_counters c;

	/*
	 * The signal is logged, and the driver has not read the log, because there was no
	 * waiter.
	 */
	vf_cmd_signal(self->gfx, self->f1, 1000);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	vf_fence_destroy(self->f1);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &again));
	/* Handles are used again last, so the entries name a handle that is free. */
	EXPECT_NE(handle, vf_fence_handle(again));
	self->f1 = again;
	ASSERT_EQ(0, arm(self->adapter, again, 10, self->e1));
	/* Now the driver reads the log for the other fence. */
	ASSERT_EQ(0, arm(self->adapter, self->f2, 1, self->e2));
	vf_cmd_signal(self->gfx, self->f2, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->e2)));
	ASSERT_TRUE(settled(self->adapter, &c));
	EXPECT_FALSE(fired(self->e1));
}

/* A client that signals again and again what another one waits for, while no post is taken. */
struct poster {
	struct client client;
	struct vf_queue *queue;
	struct vf_fence *fence;
};

static int post_many(struct poster *p, unsigned int signals, int efd)
{
	int ret = client_open(&p->client);
	unsigned int i;

	ret = ret ? ret : vf_queue_create(p->client.device, DRM_VFENCE_NODE_GFX, 16384, &p->queue);
	ret = ret ? ret : vf_fence_create(p->client.device, 0, 0, &p->fence);
	ret = ret ? ret : arm(p->client.adapter, p->fence, 1, efd);
	for (i = 1; !ret && i <= signals; i++)
		vf_cmd_signal(p->queue, p->fence, i);
	return ret ? ret : vf_queue_publish(p->queue);
}

#define FIFO	1024
#define SHARE	224
#define FEW	8
#define FLOODS	4
/* Those that flood leave room for 16 others with few posts. */
#define POSTERS	(FLOODS + 20)

/* Posts without room are counted, and become an interrupt that names nothing. */
TEST(posts_beyond_the_fifo_are_counted_and_wake_their_waiters)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	uint64_t posts = 0, lost = 0;
	struct poster poster[POSTERS];
	struct vf_counters before, c;
	struct vf_adapter *adapter;
	unsigned int i;

	ASSERT_EQ(0, vf_adapter_open(0, &adapter));
	ASSERT_TRUE(settled(adapter, &before));
	if (inject(0, "hold_posts", "1"))
		SKIP(return, "needs root");
	for (i = 0; i < POSTERS; i++) {
		unsigned int each = i < FLOODS ? SHARE : FEW;

		ASSERT_EQ(0, post_many(&poster[i], each, efd));
		posts += each;
		lost = posts > FIFO ? posts - FIFO : 0;
		ASSERT_TRUE(EVENTUALLY((c = counters(adapter), c.posts == before.posts + posts &&
					c.cmp_overflowed == before.cmp_overflowed + lost)));
	}
	EXPECT_LT(0, lost);
	ASSERT_EQ(0, inject(0, "hold_posts", "0"));
	/* The next post sets the CMP going: of a client that has no posts in the FIFO. */
	vf_cmd_signal(poster[POSTERS - 1].queue, poster[POSTERS - 1].fence, FEW + 1);
	ASSERT_EQ(0, vf_queue_publish(poster[POSTERS - 1].queue));
	for (i = 0; i < POSTERS; i++)
		EXPECT_TRUE(EVENTUALLY(read(efd, &(uint64_t){ 0 }, 8) == 8));
	for (i = 0; i < POSTERS; i++) {
		vf_fence_destroy(poster[i].fence);
		vf_queue_destroy(poster[i].queue);
		client_close(&poster[i].client);
	}
	vf_adapter_close(adapter);
	close(efd);
	EXPECT_TRUE(balanced(0));
}

/* Interrupts of this adapter name nothing: one record stands for many posts. */
TEST(a_record_that_names_nothing_counts_for_all_its_posts)
{
	struct vf_counters before, after;
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *fence[6];
	struct vf_queue *queue;
	unsigned int i;
	int efd;

	if (geteuid() || vf_adapter_open(10, &adapter))
		SKIP(return, "needs root and the adapters of the guests");
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	ASSERT_TRUE(settled(adapter, &before));
	ASSERT_EQ(0, inject(10, "hold_posts", "1"));
	for (i = 0; i < 6; i++) {
		ASSERT_EQ(0, vf_fence_create(device, 0, 0, &fence[i]));
		ASSERT_EQ(0, arm(adapter, fence[i], 1, efd));
		vf_cmd_signal(queue, fence[i], 1);
	}
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(drained(queue));
	/* All six are posted: a record that names nothing may end the wait for a later signal. */
	ASSERT_EQ(0, release_posts(10));
	for (i = 0; i < 6; i++)
		EXPECT_TRUE(EVENTUALLY(read(efd, &(uint64_t){ 0 }, 8) == 8));
	ASSERT_TRUE(settled(adapter, &after));
	EXPECT_EQ(before.cmp_recorded + 6, after.cmp_recorded);
	EXPECT_GT(before.records_null + 6, after.records_null);
	EXPECT_EQ(after.cmp_recorded, after.records_useful + after.records_spurious);
	for (i = 0; i < 6; i++)
		vf_fence_destroy(fence[i]);
	close(efd);
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

TEST(WDDM_73_a_null_array_leaves_other_waiters_alone_unless_it_says_so)
{
	/* Adapters of either form whose ring has no room for records. */
	static const unsigned int index[] = { 1, 9 };
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_counters before, after;
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *fence, *other;
	struct vf_queue *queue;
	unsigned int i;

	if (access("/sys/bus/platform/devices/vfence.9/drm", F_OK))
		SKIP(return, "needs the adapters of the guests");
	for (i = 0; i < 2; i++) {
		/* A NULL event for lack of room does not report monitored fences. */
		ASSERT_EQ(0, vf_adapter_open(index[i], &adapter));
		ASSERT_EQ(0, vf_device_create(adapter, &device));
		ASSERT_EQ(0, vf_monitored_fence_create(device, 0, 0, &other));
		ASSERT_EQ(0, arm(adapter, other, 1, efd));
		ASSERT_EQ(0, vf_queue_create(device, 0, 4096, &queue));
		ASSERT_EQ(0, vf_fence_create(device, 0, 0, &fence));
		before = counters(adapter);
		vf_cmd_signal(queue, fence, 1);
		ASSERT_EQ(0, vf_queue_submit(queue));
		ASSERT_EQ(0, vf_fence_wait(vf_queue_progress(queue), 1, DEADLINE));
		vf_cmd_signal(queue, fence, 2);
		ASSERT_EQ(0, vf_queue_submit(queue));
		ASSERT_EQ(0, vf_fence_wait(fence, 2, DEADLINE));
		ASSERT_TRUE(settled(adapter, &after));
		EXPECT_EQ(before.legacy_scans, after.legacy_scans);
		EXPECT_FALSE(fired(efd));
		ASSERT_EQ(0, vf_fence_signal(other, 1));
		EXPECT_TRUE(fired(efd));
		EXPECT_EQ(8, read(efd, &(uint64_t){ 0 }, 8));
		vf_queue_destroy(queue);
		vf_fence_destroy(fence);
		vf_fence_destroy(other);
		vf_device_destroy(device);
		vf_adapter_close(adapter);
	}
	close(efd);
}

/*
 * Check the time that the handler took. Without a run there is no time, and the longest
 * run is one of them. The driver counts a run when it begins and its time when it ends.
 */
static bool is_handler_timed(struct vf_adapter *adapter, const struct vf_counters *before)
{
	struct vf_counters after = counters(adapter);
	uint64_t runs = after.handler_runs - before->handler_runs;
	uint64_t ns = after.handler_ns - before->handler_ns;

	return runs && ns && ns <= runs * after.handler_max_ns;
}

TEST_F(notify, time_in_the_handler_is_counted)
{
	struct vf_counters before = counters(self->adapter);
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	NEEDS_PROCESSOR_TIME();
	ASSERT_EQ(0, arm(self->adapter, self->fence, 1, efd));
	vf_cmd_signal(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	EXPECT_TRUE(EVENTUALLY(is_handler_timed(self->adapter, &before)));
	close(efd);
}

TEST_HARNESS_MAIN
