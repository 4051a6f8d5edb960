// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Mailbox
 *
 * While an adapter has virtual functions, the driver of each function talks to the host that gives
 * the engines to them. The host may reset a function::
 *
 *    host                            driver of the function
 *    FLR_NOTICE ------------------>  dump what the engines do
 *               <------------------  READY_TO_RESET, or nothing for 10 ms
 *    reset of the function
 *    FLR_DONE --------------------> reset of the adapter
 *               <------------------    REQUEST_INIT
 *    READY_TO_ACCESS ------------->    the engines are this function's alone: it starts again
 *               <------------------    RELEASE_INIT
 */

#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/wait.h>

#include "core/vfence_adapter.h"
#include "irq/vfence_irq.h"
#include "reset/vfence_mailbox.h"

/* A thread that waits for an answer repeats its request at this interval. */
#define MAILBOX_REPEAT_MS	1000

#define MAILBOX_ANSWERS		(BIT(VGPU_MAIL_READY_TO_ACCESS) | BIT(VGPU_MAIL_FAIL))
#define MAILBOX_RESETS		(BIT(VGPU_MAIL_FLR_DONE) | BIT(VGPU_MAIL_GPU_RESET_DONE))

static void mailbox_count(struct vfence_mailbox *mailbox, u32 mail)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mailbox->received); i++)
		if (mail & BIT(i))
			atomic_inc(&mailbox->received[i]);
}

/* Any context. Do this in the hard half: the host waits for the answer with a short timeout. */
static void mailbox_handle(struct vfence_adapter *adapter)
{
	struct vfence_reset *reset = &adapter->reset;
	u32 mail = vgpu_mailbox_take(adapter->gpu);

	mailbox_count(&reset->mailbox, mail);
	if (mail & BIT(VGPU_MAIL_FLR_NOTICE))
		queue_work(reset->wq, &reset->notice_work);
	if (mail & BIT(VGPU_MAIL_GPU_RESET_DONE))
		WRITE_ONCE(reset->collateral, true);
	if (mail & MAILBOX_RESETS)
		queue_work(reset->wq, &reset->flr_work);
	if (!(mail & MAILBOX_ANSWERS))
		return;
	atomic_or(mail & MAILBOX_ANSWERS, &reset->mailbox.answers);
	wake_up_all(&reset->mailbox.wait);
}

static void mailbox_hard(struct vfence_adapter *adapter, const struct vgpu_irq_record *record,
			 struct vfence_irq_batch *batch)
{
	mailbox_handle(adapter);
}

static void mailbox_overflow(struct vfence_adapter *adapter, u32 overflow)
{
	mailbox_handle(adapter);
}

static const struct vfence_irq_source mailbox_source = {
	.type = VGPU_IRQ_MAILBOX,
	.hard = mailbox_hard,
	.overflow = mailbox_overflow,
};

/** vfence_mailbox_add_source - add the interrupt source for messages of the host */
void vfence_mailbox_add_source(struct vfence_adapter *adapter)
{
	vfence_irq_add(adapter, &mailbox_source);
}

/** vfence_mailbox_init - prepare an adapter for messages; cannot fail */
void vfence_mailbox_init(struct vfence_adapter *adapter)
{
	init_waitqueue_head(&adapter->reset.mailbox.wait);
}

/** vfence_mailbox_stop - the adapter is unplugged: end waits for answers of the host */
void vfence_mailbox_stop(struct vfence_adapter *adapter)
{
	WRITE_ONCE(adapter->reset.mailbox.stopped, true);
	wake_up_all(&adapter->reset.mailbox.wait);
}

static bool mailbox_is_answered(struct vfence_mailbox *mailbox)
{
	return atomic_read(&mailbox->answers) || READ_ONCE(mailbox->stopped);
}

/**
 * vfence_mailbox_get_access - get all engines exclusively
 * @adapter: the adapter
 *
 * An adapter without virtual functions has them already. The host answers each request, after the
 * other requests and, if it has paused the function, after the resume. Only one thread may call
 * this at a time. Process context.
 *
 * Return: 0; then call vfence_mailbox_put_access(). Otherwise -EPERM if the host refuses, -ENODEV
 * after unplug.
 */
int vfence_mailbox_get_access(struct vfence_adapter *adapter)
{
	struct vfence_mailbox *mailbox = &adapter->reset.mailbox;
	u32 answers;

	/* Forget a late answer to an earlier request. */
	atomic_set(&mailbox->answers, 0);
	do {
		/* The interrupt of an answer may be lost, or the request taken back. */
		if (!vgpu_mailbox_send(adapter->gpu, VGPU_MAIL_REQUEST_INIT))
			return 0;
	} while (!wait_event_idle_timeout(mailbox->wait, mailbox_is_answered(mailbox),
					  msecs_to_jiffies(MAILBOX_REPEAT_MS)));
	answers = atomic_xchg(&mailbox->answers, 0);
	if (answers & BIT(VGPU_MAIL_READY_TO_ACCESS))
		return 0;
	vfence_mailbox_put_access(adapter);
	return answers ? -EPERM : -ENODEV;
}

/** vfence_mailbox_put_access - release the engines */
void vfence_mailbox_put_access(struct vfence_adapter *adapter)
{
	vgpu_mailbox_send(adapter->gpu, VGPU_MAIL_RELEASE_INIT);
}

/** vfence_mailbox_show - print the number of received messages of each kind */
void vfence_mailbox_show(struct vfence_adapter *adapter, struct seq_file *m)
{
	static const struct {
		unsigned int message;
		const char *name;
	} names[] = {
		{ VGPU_MAIL_READY_TO_ACCESS, "ready_to_access" },
		{ VGPU_MAIL_FLR_NOTICE, "flr_notice" },
		{ VGPU_MAIL_FLR_DONE, "flr_done" },
		{ VGPU_MAIL_FAIL, "fail" },
		{ VGPU_MAIL_GPU_RESET_DONE, "gpu_reset_done" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		seq_printf(m, "%s %d\n", names[i].name,
			   atomic_read(&adapter->reset.mailbox.received[names[i].message]));
}
