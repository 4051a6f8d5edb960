// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Vector controller
 *
 * An interrupt controller with one line. irq_sim would be the obvious choice,
 * but it loses edges that arrive while the line is masked or while its handler
 * runs on another CPU, and stock kernels often lack it. Here an edge is a bit in
 * a latch: raising sets it, delivery clears it and enters handle_edge_irq(),
 * masking leaves it alone and unmasking delivers what is pending.
 *
 * Delivery happens on the CPU of the vector's affinity, by irq_work there or by
 * an inter-processor call from elsewhere.
 */

#include <linux/cpumask.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/irqdomain.h>

#include "vfence_compat.h"
#include "irq/vfence_vector.h"

#define VECTOR_PENDING	0
#define VECTOR_MASKED	1
/* A call to another CPU is on its way; it will look at the latch. */
#define VECTOR_CALLED	2

static void deliver(struct vfence_vector *vector)
{
	if (test_bit(VECTOR_MASKED, &vector->state))
		return;
	/*
	 * The atomic is a full barrier: what was published before the latch was
	 * set is visible to the handler. Partner: vfence_vector_raise().
	 */
	if (test_and_clear_bit(VECTOR_PENDING, &vector->state))
		generic_handle_domain_irq(vector->domain, 0);
}

static void deliver_work(struct irq_work *work)
{
	deliver(container_of(work, struct vfence_vector, work));
}

static void deliver_call(void *info)
{
	struct vfence_vector *vector = info;

	/* Clear, then look: who finds the bit set relies on our look. */
	clear_bit(VECTOR_CALLED, &vector->state);
	/* Partner: the atomic in call_other(). */
	smp_mb__after_atomic();
	deliver(vector);
}

/* False if the CPU cannot be called. */
static bool call_other(struct vfence_vector *vector, unsigned int cpu)
{
	int ret;

	/* One call at a time: the csd cannot be queued twice. */
	if (test_and_set_bit(VECTOR_CALLED, &vector->state))
		return true;
	ret = smp_call_function_single_async(cpu, &vector->csd);
	if (ret)
		clear_bit(VECTOR_CALLED, &vector->state);
	return !ret;
}

static void kick(struct vfence_vector *vector)
{
	unsigned int cpu = get_cpu();
	unsigned int target = READ_ONCE(vector->cpu);

	/* Where the affinity's CPU is us, or has gone, deliver here. */
	if (target == cpu || !cpu_online(target) || !call_other(vector, target))
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
	/* Full barrier; partner: deliver(). */
	if (test_and_set_bit(VECTOR_PENDING, &vector->state))
		atomic64_inc(&vector->coalesced);
	else
		kick(vector);
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
	/* Unmask, then look; deliver() looks at the mask, then at the latch. */
	smp_mb__after_atomic();
	if (test_bit(VECTOR_PENDING, &vector->state))
		kick(vector);
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
	 * The hard half cannot tell whether the thread will find work, so that it
	 * always leaves it the last word. While the thread is busy for long that
	 * looks like an interrupt nobody cares for, and the line would be disabled.
	 */
	irq_set_status_flags(irq, IRQ_IS_POLLED);
	/* We may change the affinity at once, not only while handling. */
	vfence_irq_set_move_pcntxt(irq);
	return 0;
}

static const struct irq_domain_ops vector_domain_ops = {
	.map = vector_map,
};

static void free_domain(struct vfence_vector *vector)
{
	if (vector->irq)
		irq_dispose_mapping(vector->irq);
	if (vector->domain)
		irq_domain_remove(vector->domain);
	if (vector->fwnode)
		irq_domain_free_fwnode(vector->fwnode);
}

/**
 * vfence_vector_init - make a vector and its handler
 * @vector: zeroed
 * @name: as shown in /proc/interrupts
 * @handler: hard half
 * @thread: threaded half
 * @arg: their argument
 */
int vfence_vector_init(struct vfence_vector *vector, const char *name,
		       irq_handler_t handler, irq_handler_t thread, void *arg)
{
	int ret = -ENOMEM;

	vector->work = IRQ_WORK_INIT_HARD(deliver_work);
	INIT_CSD(&vector->csd, deliver_call, vector);
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
	free_domain(vector);
	vector->irq = 0;
	return ret;
}

static void nothing(void *info)
{
}

/**
 * vfence_vector_fini - free a vector; nobody raises it any more
 * @vector: the vector
 * @arg: as given to vfence_vector_init()
 */
void vfence_vector_fini(struct vfence_vector *vector, void *arg)
{
	if (!vector->irq)
		return;
	free_irq(vector->irq, arg);
	irq_work_sync(&vector->work);
	while (test_bit(VECTOR_CALLED, &vector->state))
		cond_resched();
	/* It has begun, so that it ends before this one begins on its CPU. */
	on_each_cpu(nothing, NULL, true);
	free_domain(vector);
	vector->irq = 0;
}
