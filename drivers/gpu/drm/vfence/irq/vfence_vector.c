// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Vector controller
 *
 * An interrupt controller with one line. irq_sim is no alternative: it loses edges that
 * arrive while the line is masked or while its handler runs on another CPU, and stock
 * kernels often lack it. Here an edge is a bit in a latch. Raising sets the bit. Delivery
 * clears it and enters handle_edge_irq(). Masking leaves it as it is, and unmasking
 * delivers a pending edge.
 *
 * The interrupt is delivered on the CPU of the vector's affinity: by irq_work if that CPU
 * raises it, by an inter-processor call if another CPU does.
 */

#include <linux/cpumask.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/irqdomain.h>

#include "vfence_compat.h"
#include "irq/vfence_vector.h"

#define VECTOR_PENDING	0
#define VECTOR_MASKED	1
/* A call to another CPU is on its way; that CPU will test the latch. */
#define VECTOR_CALLED	2

static void vector_deliver(struct vfence_vector *vector)
{
	if (test_bit(VECTOR_MASKED, &vector->state))
		return;
	/*
	 * The atomic is a full barrier: the handler sees every store that comes before the
	 * latch was set. Partner: vfence_vector_raise().
	 */
	if (test_and_clear_bit(VECTOR_PENDING, &vector->state))
		generic_handle_domain_irq(vector->domain, 0);
}

static void vector_deliver_work(struct irq_work *work)
{
	vector_deliver(container_of(work, struct vfence_vector, work));
}

static void vector_deliver_call(void *info)
{
	struct vfence_vector *vector = info;

	/* Clear the bit, then test the latch: a raiser that finds the bit set relies on this. */
	clear_bit(VECTOR_CALLED, &vector->state);
	/* Partner: the atomic in vector_call_cpu(). */
	smp_mb__after_atomic();
	vector_deliver(vector);
}

/* Returns false if @cpu cannot be called. */
static bool vector_call_cpu(struct vfence_vector *vector, unsigned int cpu)
{
	int ret;

	/*
	 * One call at a time: the csd cannot be queued twice. Full barrier.
	 * Partner: vector_deliver_call().
	 */
	if (test_and_set_bit(VECTOR_CALLED, &vector->state))
		return true;

	ret = smp_call_function_single_async(cpu, &vector->csd);
	if (ret)
		clear_bit(VECTOR_CALLED, &vector->state);
	return !ret;
}

static void vector_schedule(struct vfence_vector *vector)
{
	unsigned int cpu = get_cpu();
	unsigned int target = READ_ONCE(vector->cpu);

	/* Deliver here if this is the affinity's CPU, or if that CPU is offline. */
	if (target == cpu || !cpu_online(target) || !vector_call_cpu(vector, target))
		irq_work_queue(&vector->work);
	put_cpu();
}

/**
 * vfence_vector_raise - raise an edge; any context
 * @vector: the vector
 */
void vfence_vector_raise(struct vfence_vector *vector)
{
	atomic64_inc(&vector->raised);
	/* Full barrier. Partner: vector_deliver(). */
	if (test_and_set_bit(VECTOR_PENDING, &vector->state))
		atomic64_inc(&vector->coalesced);
	else
		vector_schedule(vector);
}

/**
 * vfence_vector_wake_thread - run the threaded half without an interrupt
 * @vector: the vector, which is not freed meanwhile
 * @arg: as given to vfence_vector_init()
 *
 * If the half runs now, it runs once more.
 */
void vfence_vector_wake_thread(struct vfence_vector *vector, void *arg)
{
	irq_wake_thread(vector->irq, arg);
}

static void vector_mask(struct irq_data *data)
{
	struct vfence_vector *vector = irq_data_get_irq_chip_data(data);

	set_bit(VECTOR_MASKED, &vector->state);
}

static void vector_unmask(struct irq_data *data)
{
	struct vfence_vector *vector = irq_data_get_irq_chip_data(data);

	clear_bit(VECTOR_MASKED, &vector->state);
	/* Unmask, then test the latch. Partner: vector_deliver() tests the mask, then the latch. */
	smp_mb__after_atomic();
	if (test_bit(VECTOR_PENDING, &vector->state))
		vector_schedule(vector);
}

static void vector_ack(struct irq_data *data)
{
}

static int vector_set_affinity(struct irq_data *data, const struct cpumask *mask, bool force)
{
	struct vfence_vector *vector = irq_data_get_irq_chip_data(data);
	unsigned int cpu = cpumask_any_and(mask, cpu_online_mask);

	if (cpu >= nr_cpu_ids)
		return -EINVAL;
	WRITE_ONCE(vector->cpu, cpu);
	irq_data_update_effective_affinity(data, cpumask_of(cpu));
	return IRQ_SET_MASK_OK;
}

static struct irq_chip vector_chip = {
	.name = "vfence",
	.irq_ack = vector_ack,
	.irq_mask = vector_mask,
	.irq_unmask = vector_unmask,
	.irq_set_affinity = vector_set_affinity,
};

static int vector_map(struct irq_domain *domain, unsigned int irq, irq_hw_number_t hw)
{
	irq_set_chip_data(irq, domain->host_data);
	irq_set_chip_and_handler(irq, &vector_chip, handle_edge_irq);
	irq_set_noprobe(irq);

	/*
	 * Mark the line as polled, so that the kernel does not disable it. While the thread of the
	 * interrupt is busy for a long time, interrupts that wake it look unhandled to the kernel.
	 */
	irq_set_status_flags(irq, IRQ_IS_POLLED);
	/* The affinity may change at any time, not only in the handler. */
	vfence_irq_set_move_pcntxt(irq);
	return 0;
}

static const struct irq_domain_ops vector_domain_ops = {
	.map = vector_map,
};

static void vector_free_domain(struct vfence_vector *vector)
{
	if (vector->irq)
		irq_dispose_mapping(vector->irq);
	if (vector->domain)
		irq_domain_remove(vector->domain);
	if (vector->fwnode)
		irq_domain_free_fwnode(vector->fwnode);
}

/**
 * vfence_vector_init - create a vector and request its interrupt
 * @vector: zeroed vector
 * @name: name in /proc/interrupts
 * @handler: hard half
 * @thread: threaded half
 * @arg: argument of @handler and @thread
 *
 * Return: 0 or a negative error code.
 */
int vfence_vector_init(struct vfence_vector *vector, const char *name,
		       irq_handler_t handler, irq_handler_t thread, void *arg)
{
	int ret = -ENOMEM;

	vector->work = IRQ_WORK_INIT_HARD(vector_deliver_work);
	INIT_CSD(&vector->csd, vector_deliver_call, vector);
	set_bit(VECTOR_MASKED, &vector->state);

	vector->fwnode = irq_domain_alloc_named_fwnode(name);
	if (!vector->fwnode)
		return ret;
	vector->domain = irq_domain_create_linear(vector->fwnode, 1, &vector_domain_ops, vector);
	if (!vector->domain)
		goto free;
	vector->irq = irq_create_mapping(vector->domain, 0);
	if (!vector->irq)
		goto free;

	ret = request_threaded_irq(vector->irq, handler, thread, 0, name, arg);
	if (ret)
		goto free;
	return 0;

free:
	vector_free_domain(vector);
	vector->irq = 0;
	return ret;
}

static void vector_sync_cpu(void *info)
{
}

/**
 * vfence_vector_fini - free a vector that no thread raises any more
 * @vector: the vector
 * @arg: as given to vfence_vector_init()
 */
void vfence_vector_fini(struct vfence_vector *vector, void *arg)
{
	if (!vector->irq)
		return;
	free_irq(vector->irq, arg);
	irq_work_sync(&vector->work);

	/* Wait until vector_deliver_call() has begun. */
	while (test_bit(VECTOR_CALLED, &vector->state))
		cond_resched();
	/* Wait until it has ended: this call begins on its CPU only after that. */
	on_each_cpu(vector_sync_cpu, NULL, true);

	vector_free_domain(vector);
	vector->irq = 0;
}
