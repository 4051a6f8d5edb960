// SPDX-License-Identifier: GPL-2.0-only
/* Injection: the file by which root lets the virtual GPU fail. */

#include "vfence_test.h"

FIXTURE(injection) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
	int efd;
};

FIXTURE_SETUP(injection)
{
	if (geteuid() || injected(0, "lose_interrupt") == UINT64_MAX)
		SKIP(return, "needs root, and a module with injection");
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_LE(0, self->efd);
}

FIXTURE_TEARDOWN(injection)
{
	EXPECT_EQ(0, inject(0, "lose_interrupt", "0"));
	close(self->efd);
	vf_fence_destroy(self->fence);
	VFENCE_TEARDOWN();
}

TEST_F(injection, what_is_not_there_is_refused)
{
	static const char *const refused[] = {
		"", " ", "\n", "lose_interrupt", "lose_interrupt ", "lose_interrupt x",
		"lose_interrupt -1", "lose_interrupt 0x100000000", "lose_interrupt 1 1",
		"lose_interrup 1", "lose_interrupts 1", "LOSE_INTERRUPT 1", "reset_adapter 0",
		"reset_engine 99", "stay_ms 4294967295",
		/* A text of 64 characters and more, whatever it begins with. */
		"lose_interrupt 1                                                ",
	};
	unsigned int i;

	ASSERT_EQ(0, inject(0, "lose_interrupt", "7"));
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		/* The kernel is not asked to write nothing. */
		if (*refused[i])
			EXPECT_EQ(-EINVAL, debugfs_write(0, "inject", refused[i]))
				TH_LOG("\"%s\"", refused[i]);
		EXPECT_EQ(7, injected(0, "lose_interrupt"));
	}
	EXPECT_EQ(UINT64_MAX, injected(0, "lose_interrup"));
}

TEST_F(injection, a_name_and_a_value_are_enough)
{
	ASSERT_EQ(0, debugfs_write(0, "inject", "  stop_engines   0x1f\n"));
	EXPECT_EQ(0x1f, injected(0, "stop_engines"));
	EXPECT_EQ(0, injected(0, "stop_cmp"));
	EXPECT_EQ(0, injected(1, "stop_engines"));
	ASSERT_EQ(0, inject(0, "stop_engines", "0"));
	EXPECT_EQ(0, injected(0, "stop_engines"));
	EXPECT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
}

static int signal_and_arm(FIXTURE_DATA(injection) *self, uint64_t value)
{
	struct vf_point point = { self->fence, value };
	int ret = vf_event_arm(self->adapter, &point, 1, 0, self->efd, NULL);

	if (ret)
		return ret;
	vf_cmd_signal(self->gfx, self->fence, value);
	return vf_queue_submit(self->gfx);
}

TEST_F(injection, what_is_injected_once_happens_once)
{
	ASSERT_EQ(0, inject(0, "lose_interrupt", "1"));
	ASSERT_EQ(0, signal_and_arm(self, 1));
	EXPECT_TRUE(EVENTUALLY(!injected(0, "lose_interrupt")));
	/* The next interrupt comes, and the driver finds both signals. */
	ASSERT_EQ(0, signal_and_arm(self, 2));
	EXPECT_TRUE(fires(self->efd, 2));
}

TEST_HARNESS_MAIN
