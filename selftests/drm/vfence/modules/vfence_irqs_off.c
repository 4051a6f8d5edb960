// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples for how long the driver keeps interrupts off, for a selftest.
 *
 * A timer that expires while interrupts are off is late, and it interrupts what switches them on
 * again: code of the driver, or an unlocking function that the driver has called. What other
 * functions of the kernel do does not count: an eventfd, for one, wakes its waiters with interrupts
 * off, whoever writes to it.
 */

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <asm/irq_regs.h>

#include "vfence_compat.h"

/* Odd, so that the samples do not keep step with the kernel's own timers. */
#define SAMPLE_NS	10007
/* The return address of an unlocking function is below the few registers that it has saved. */
#define SAMPLE_WORDS	4

static unsigned long text;
module_param(text, ulong, 0400);
MODULE_PARM_DESC(text, "where the driver's code begins");
static unsigned long size;
module_param(size, ulong, 0400);
MODULE_PARM_DESC(size, "its size in bytes");

static unsigned long samples;
module_param(samples, ulong, 0400);
MODULE_PARM_DESC(samples, "how often the timer has interrupted code of the driver");
static unsigned long longest_ns;
module_param(longest_ns, ulong, 0400);
MODULE_PARM_DESC(longest_ns, "longest time for which the driver kept interrupts off, in ns");
static unsigned long where;
module_param(where, ulong, 0400);
MODULE_PARM_DESC(where, "offset in the driver's code at which they were on again");

static struct hrtimer timer;

static bool is_driver(unsigned long at)
{
	return at - text < size;
}

/* Return true if the call before @at is one of an unlocking function. */
static bool is_unlocking(unsigned long at)
{
	static const void *const functions[] = {
		_raw_spin_unlock_irqrestore, _raw_spin_unlock_irq, _raw_read_unlock_irqrestore,
		_raw_write_unlock_irqrestore,
	};
	unsigned int i;
	s32 distance;

	/* The driver may have been unloaded while a test that was killed has left this module. */
	if (copy_from_kernel_nofault(&distance, (void *)(at - sizeof(distance)), sizeof(distance)))
		return false;
	for (i = 0; i < ARRAY_SIZE(functions); i++)
		if (at + distance == (unsigned long)functions[i])
			return true;
	return false;
}

/* Return an address of the driver that was interrupted, or 0. */
static unsigned long interrupted(struct pt_regs *regs)
{
	const unsigned long *stack;
	unsigned int i;

	if (!regs || user_mode(regs))
		return 0;
	if (is_driver(regs->ip))
		return regs->ip;
	stack = (const unsigned long *)kernel_stack_pointer(regs);
	for (i = 0; i < SAMPLE_WORDS; i++) {
		unsigned long word = READ_ONCE_NOCHECK(stack[i]);

		/* Other words may look like it, but there is code before those of the driver. */
		if (is_driver(word - sizeof(s32)) && is_unlocking(word))
			return word;
	}
	return 0;
}

static enum hrtimer_restart sample(struct hrtimer *unused)
{
	ktime_t now = ktime_get();
	unsigned long late = ktime_to_ns(ktime_sub(now, hrtimer_get_expires(&timer)));
	unsigned long at = interrupted(get_irq_regs());

	if (at) {
		samples++;
		if (late > longest_ns) {
			longest_ns = late;
			where = at - text;
		}
	}
	hrtimer_forward(&timer, now, ns_to_ktime(SAMPLE_NS));
	return HRTIMER_RESTART;
}

static int __init irqs_off_init(void)
{
	hrtimer_setup(&timer, sample, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&timer, ns_to_ktime(SAMPLE_NS), HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static void __exit irqs_off_exit(void)
{
	hrtimer_cancel(&timer);
}

module_init(irqs_off_init);
module_exit(irqs_off_exit);
MODULE_DESCRIPTION("samples for how long vfence keeps interrupts off");
MODULE_LICENSE("GPL");
