// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples for how long interrupts are off because of the driver, for a selftest.
 *
 * The interrupt of a timer that expires while interrupts are off comes late, and it interrupts what
 * switches them on again. That is code of the driver, or a function of the kernel that the driver
 * has called and that wakes or calls others, as many as a client likes: the stack tells. What the
 * interrupt itself does before it comes to this timer does not count (the kernel's tick may be
 * first). A time counts when its place has reached it several times: a busy emulator may raise an
 * interrupt late, anywhere, but a section of the driver takes as long each time. What the kernel's
 * memory management does is its own affair.
 *
 * The wake-up of an eventfd is told apart: the client decides how many epoll sets it wakes, and
 * eventfd_signal() keeps interrupts off meanwhile, whoever calls it. It switches them on again
 * itself: of several eventfds that the driver signals in one section of its own, the end is in the
 * driver, and counts as the driver's.
 */

#include <linux/completion.h>
#include <linux/dma-fence.h>
#include <linux/eventfd.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>
#include <asm/irq_regs.h>

#include <drm/drm_syncobj.h>
#include <drm/gpu_scheduler.h>

#include "vfence_compat.h"

/* Odd, so that the samples do not keep step with the kernel's own timers. */
#define SAMPLE_NS	10007
/* While nothing runs, wait for longer and longer: tests pass minutes of virtual time asleep. */
#define SAMPLE_IDLE_NS	(16 * SAMPLE_NS)
/* The return address of an unlocking function is below the few registers that it has saved. */
#define SAMPLE_WORDS	4
/* The stack is read only if the timer is later than that: it takes long. */
#define SAMPLE_LATE_NS	2000
#define SAMPLE_DEPTH	64
/* More places of the driver than switch interrupts on. */
#define SAMPLE_PLACES	256
/* So often a place must reach a time. */
#define SAMPLE_TIMES	4
/* At least the size of the functions below, in bytes. */
#define SAMPLE_FUNCTION	256

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

static unsigned long longest_eventfd_ns;
module_param(longest_eventfd_ns, ulong, 0400);
MODULE_PARM_DESC(longest_eventfd_ns, "the same for one wake-up of an eventfd that the driver signals");

static struct hrtimer timer;

/* Where the interrupt of the processor's timer begins. */
static struct tracepoint *interrupt;
static ktime_t begun;

/* The longest times of each place in ns, the longest one first. */
static struct {
	unsigned long at, ns[SAMPLE_TIMES];
} places[SAMPLE_PLACES];

static bool is_driver(unsigned long at)
{
	return at - text < size;
}

/* Return the function that the call before @at calls, or 0. */
static unsigned long called_before(unsigned long at)
{
	s32 distance;

	/* The driver may have been unloaded while a test that was killed has left this module. */
	if (copy_from_kernel_nofault(&distance, (void *)(at - sizeof(distance)), sizeof(distance)))
		return 0;
	return at + distance;
}

/* Return true if the call before @at is one of an unlocking function. */
static bool is_unlocking(unsigned long at)
{
	static const void *const functions[] = {
		_raw_spin_unlock_irqrestore, _raw_spin_unlock_irq, _raw_read_unlock_irqrestore,
		_raw_write_unlock_irqrestore,
	};
	unsigned long called = called_before(at);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(functions); i++)
		if (called == (unsigned long)functions[i])
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

static bool is_in(unsigned long at, const void *function)
{
	return at - (unsigned long)function < SAMPLE_FUNCTION;
}

/* Functions that call or wake whatever is on a list. */
static bool is_calling_others(unsigned long at)
{
	static const void *const functions[] = {
		dma_fence_signal, __wake_up, __wake_up_locked, wake_up_var, complete, complete_all,
		wake_up_process, queue_work_on, drm_syncobj_add_point, drm_syncobj_replace_fence,
		drm_sched_entity_push_job,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(functions); i++)
		if (is_in(at, functions[i]))
			return true;
	return false;
}

/* Return the function of the driver that has called what was interrupted, or 0. */
static unsigned long called_from(struct pt_regs *regs, bool *eventfd)
{
	static unsigned long entries[SAMPLE_DEPTH];
	unsigned int n, i = 0;
	unsigned long called;
	bool counts = false;

	*eventfd = false;
	if (!regs || user_mode(regs))
		return 0;
	if (is_driver(regs->ip))
		return regs->ip;
	n = stack_trace_save(entries, SAMPLE_DEPTH, 0);
	/* What is above is the timer itself. */
	while (i < n && entries[i] != regs->ip)
		i++;
	for (; i < n && !is_driver(entries[i]); i++)
		counts |= is_calling_others(entries[i]);
	if (i == n)
		return 0;
	/* What the driver has called may have jumped to the function that switches them on. */
	called = called_before(entries[i]);
	*eventfd = called == (unsigned long)VFENCE_EVENTFD_SIGNAL;
	return counts || *eventfd || is_unlocking(entries[i]) || is_calling_others(called) ?
	       entries[i] : 0;
}

/* Return the time that @at has reached SAMPLE_TIMES times, in ns. */
static unsigned long reached(unsigned long at, unsigned long late)
{
	unsigned int i = 0, k;

	while (i < SAMPLE_PLACES - 1 && places[i].at && places[i].at != at)
		i++;
	places[i].at = at;
	for (k = 0; k < SAMPLE_TIMES; k++)
		if (late > places[i].ns[k])
			swap(late, places[i].ns[k]);
	return places[i].ns[SAMPLE_TIMES - 1];
}

static void sample_late(unsigned long late)
{
	bool eventfd;
	unsigned long at = called_from(get_irq_regs(), &eventfd);

	if (!at)
		return;
	if (eventfd) {
		longest_eventfd_ns = max(longest_eventfd_ns, late);
		return;
	}
	late = reached(at, late);
	if (late > longest_ns) {
		longest_ns = late;
		where = at - text;
	}
}

static void interrupt_begins(void *unused, int vector)
{
	begun = ktime_get();
}

static void find_interrupt(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "local_timer_entry"))
		interrupt = tp;
}

static enum hrtimer_restart sample(struct hrtimer *unused)
{
	static unsigned int period = SAMPLE_NS;
	s64 late = ktime_to_ns(ktime_sub(begun, hrtimer_get_expires(&timer)));

	samples += !!interrupted(get_irq_regs());
	if (late > SAMPLE_LATE_NS)
		sample_late(late);
	period = is_idle_task(current) ? min(2 * period, SAMPLE_IDLE_NS) : SAMPLE_NS;
	/* What this has taken makes the next sample no later. */
	hrtimer_forward(&timer, ktime_get(), ns_to_ktime(period));
	return HRTIMER_RESTART;
}

static int __init irqs_off_init(void)
{
	int ret;

	for_each_kernel_tracepoint(find_interrupt, NULL);
	if (!interrupt)
		return -EOPNOTSUPP;
	ret = tracepoint_probe_register(interrupt, interrupt_begins, NULL);
	if (ret)
		return ret;
	hrtimer_setup(&timer, sample, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&timer, ns_to_ktime(SAMPLE_NS), HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static void __exit irqs_off_exit(void)
{
	hrtimer_cancel(&timer);
	tracepoint_probe_unregister(interrupt, interrupt_begins, NULL);
	tracepoint_synchronize_unregister();
}

module_init(irqs_off_init);
module_exit(irqs_off_exit);
MODULE_DESCRIPTION("samples for how long vfence keeps interrupts off");
MODULE_LICENSE("GPL");
