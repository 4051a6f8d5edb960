// SPDX-License-Identifier: GPL-2.0-only
/*
 * For how long the driver, and what it calls, keeps interrupts off while other selftests do their worst. The module
 * vfence_irqs_off.ko samples that; what the selftests say meanwhile does not matter.
 */

#include "vfence_test.h"

#define SAMPLER		"vfence_irqs_off"
#define PARAMETERS	"/sys/module/" SAMPLER "/parameters/"
/* Instructions, on the deterministic clock. The goal is 10,000; kernels differ by some hundred. */
#define LIMIT		12000

static uint64_t number_in(const char *path)
{
	char text[32] = "";
	FILE *f = fopen(path, "re");

	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	return strtoull(text, NULL, 0);
}

/* Return: 0 if the command has ended with that. */
static int run(const char *format, ...)
{
	char command[300];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return system(command);
}

FIXTURE(irqs_off) {
	bool loaded;
};

FIXTURE_SETUP(irqs_off)
{
	if (!deterministic() || geteuid() || access(SAMPLER ".ko", R_OK))
		SKIP(return, "needs root, an exact clock and the test modules");
	ASSERT_EQ(0, run("insmod " SAMPLER ".ko text=%#" PRIx64 " size=%" PRIu64,
			 number_in("/sys/module/vfence/sections/.text"),
			 number_in("/sys/module/vfence/coresize")));
	self->loaded = true;
}

FIXTURE_TEARDOWN(irqs_off)
{
	if (self->loaded)
		EXPECT_EQ(0, run("rmmod " SAMPLER));
}

FIXTURE_VARIANT(irqs_off) {
	const char *command;
};

FIXTURE_VARIANT_ADD(irqs_off, many_queues) { .command = "neighbours_irq -f waiting" };
FIXTURE_VARIANT_ADD(irqs_off, many_waiters) { .command = "neighbours_irq -f waiters -f flood" };
FIXTURE_VARIANT_ADD(irqs_off, many_events) { .command = "runtime" };
FIXTURE_VARIANT_ADD(irqs_off, many_flushes) {
	.command = "for i in 1 2 3 4 5; do heartbeat -t WDDM_58_many_threads_wait_for_the_cmp_and_all_go_on; done",
};
FIXTURE_VARIANT_ADD(irqs_off, resets) { .command = "recovery" };
/* Several times, for the sampler believes no single one. */
FIXTURE_VARIANT_ADD(irqs_off, many_in_syncs) {
	.command = "for i in 1 2 3 4 5; do submit -t many_submissions_follow_one_dma_fence; done",
};

TEST_F_TIMEOUT(irqs_off, the_driver_never_keeps_interrupts_off_for_long, 600)
{
	uint64_t longest;

	/* Not 127: the programs that do their worst are there. */
	ASSERT_GT(127, WEXITSTATUS(run("{ %s; } >/dev/null 2>&1", variant->command)));
	longest = number_in(PARAMETERS "longest_ns");
	TH_LOG("%" PRIu64 " samples, longest %" PRIu64 " ns, in or below vfence+%#" PRIx64
	       "; one eventfd %" PRIu64 " ns", number_in(PARAMETERS "samples"), longest,
	       number_in(PARAMETERS "where"), number_in(PARAMETERS "longest_eventfd_ns"));
	EXPECT_LT(100, number_in(PARAMETERS "samples"));
	EXPECT_GE(LIMIT, longest);
}

TEST_HARNESS_MAIN
