// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Fair sharing of an engine
 *
 * An address space belongs to one client, and it is the unit of fairness: the queues of one
 * client share its part of an engine. On each node a client has a virtual time, which advances
 * by the GPU time that its queues use. The client with the least virtual time goes first::
 *
 *    node->shares:  client B at 4.1 ms --> client A at 5.0 ms --> client C at 5.2 ms
 *                   (goes first)           run: queue 1, queue 2
 *
 * A queue that used more than its turn is charged for all of it, so that its client waits
 * longer before its next turn. A client that slept may be at most one quantum behind the
 * others: it gets the engine soon, and it cannot save up time.
 */

#include "vgpu_types.h"

static bool share_is_earlier(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

static struct vgpu_share *share_of(struct vgpu_queue *queue)
{
	return &queue->vm->share[queue->engine->node];
}

static bool share_less(struct rb_node *a, const struct rb_node *b)
{
	return share_is_earlier(rb_entry(a, struct vgpu_share, link)->time,
				rb_entry(b, struct vgpu_share, link)->time);
}

static struct vgpu_share *share_first(const struct vgpu_node *node)
{
	return rb_entry_safe(rb_first_cached(&node->shares), struct vgpu_share, link);
}

/* The address space is new: it has no queues. */
void vgpu_share_init(struct vgpu_vm *vm)
{
	unsigned int i;

	for (i = 0; i < VGPU_MAX_NODES; i++)
		INIT_LIST_HEAD(&vm->share[i].run);
}

/* A READY queue enters the run list of its client, at the end. */
void vgpu_share_add_locked(struct vgpu_queue *queue)
{
	struct vgpu_share *share = share_of(queue);
	struct vgpu_node *node = queue->node;
	u64 floor = node->time - VGPU_QUANTUM_NS;

	lockdep_assert_held(&queue->gpu->chip->sched);
	if (list_empty(&share->run)) {
		if (share_is_earlier(share->time, floor))
			share->time = floor;
		rb_add_cached(&share->link, &node->shares, share_less);
	}
	list_add_tail(&queue->run_link, &share->run);
}

/* The same for a queue that is the next one of its node. */
void vgpu_share_add_first_locked(struct vgpu_queue *queue)
{
	vgpu_share_add_locked(queue);
	list_move(&queue->run_link, &share_of(queue)->run);
	queue->node->resume = queue;
}

/* A queue leaves the run list, if it is there. */
void vgpu_share_remove_locked(struct vgpu_queue *queue)
{
	struct vgpu_share *share = share_of(queue);

	lockdep_assert_held(&queue->gpu->chip->sched);
	if (list_empty(&queue->run_link))
		return;
	if (queue->node->resume == queue)
		queue->node->resume = NULL;
	list_del_init(&queue->run_link);
	if (list_empty(&share->run))
		rb_erase_cached(&share->link, &queue->node->shares);
}

/* Take the next queue of the client that goes first. The node has READY queues. */
struct vgpu_queue *vgpu_share_take_locked(struct vgpu_node *node)
{
	struct vgpu_share *share = node->resume ? share_of(node->resume) : share_first(node);
	struct vgpu_queue *queue = list_first_entry(&share->run, struct vgpu_queue, run_link);

	lockdep_assert_held(&node->engine->chip->sched);
	if (share_is_earlier(node->time, share->time))
		node->time = share->time;
	vgpu_share_remove_locked(queue);
	return queue;
}

/* The RUNNING queue has used @ns of GPU time since the last call. */
void vgpu_share_charge_locked(struct vgpu_queue *queue, u64 ns)
{
	struct vgpu_share *share = share_of(queue);
	bool listed = !list_empty(&share->run);

	lockdep_assert_held(&queue->gpu->chip->sched);
	if (listed)
		rb_erase_cached(&share->link, &queue->node->shares);
	share->time += ns;
	if (listed)
		rb_add_cached(&share->link, &queue->node->shares, share_less);
}

/* Return true if another queue goes before the RUNNING one, which has been charged. */
bool vgpu_share_must_yield_locked(struct vgpu_queue *queue)
{
	struct vgpu_share *share = share_of(queue), *first = share_first(queue->node);

	lockdep_assert_held(&queue->gpu->chip->sched);
	if (first == share || (first && share_is_earlier(first->time, share->time)))
		return true;

	/* The client keeps the engine: from now on a client that slept is behind by less. */
	if (share_is_earlier(queue->node->time, share->time))
		queue->node->time = share->time;
	return false;
}

/* Return true if a queue of another client waits for the node of the RUNNING @queue. */
bool vgpu_share_is_wanted_locked(struct vgpu_queue *queue)
{
	struct vgpu_share *share = share_of(queue), *first = share_first(queue->node);

	lockdep_assert_held(&queue->gpu->chip->sched);
	return first && (first != share || rb_next(&first->link));
}
