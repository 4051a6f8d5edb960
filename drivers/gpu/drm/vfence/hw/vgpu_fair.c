// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Fair sharing of an engine
 *
 * Users share an engine in equal parts, and the processes of one user share its part: neither
 * more open files nor more queues give anybody more. Each has an account, and in it, for each node,
 * a virtual time that advances by the GPU time that its queues use. On each level the one with the
 * least virtual time goes first::
 *
 *    node->shares:  user B at 4.1 ms --> user A at 5.0 ms
 *                   (goes first)         of: process 2 at 2.0 ms --> process 1 at 3.0 ms
 *                                            run: queue 1, queue 2
 *                                                 kernel queue 3
 *
 * Others wait for the dma_fences of a process's kernel-mode queues, and not for its user-mode
 * queues. So the two kinds take turns, however many of either it has.
 *
 * A queue that used more than its turn is charged for all of it, so that its process and its user
 * wait longer before their next turn. One that slept may be at most one quantum behind the others:
 * it gets the engine soon, and it cannot save up time.
 *
 * After a hang the users who waited go first, but a program that draws 60 times a second needs the
 * engine for short turns and gains nothing from a long one. So the driver throttles a user who
 * hangs an engine that others use: for a time his share is not in the tree, even if it has queues.
 */

#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "vgpu_types.h"

static bool fair_is_earlier(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

static struct vgpu_fair *fair_of(struct vgpu_queue *queue)
{
	return &queue->vm->account->share[queue->engine->node];
}

static bool fair_less(struct rb_node *a, const struct rb_node *b)
{
	return fair_is_earlier(rb_entry(a, struct vgpu_fair, link)->time,
			       rb_entry(b, struct vgpu_fair, link)->time);
}

static struct vgpu_fair *fair_first(const struct vgpu_fair_tree *shares)
{
	return rb_entry_safe(rb_first_cached(&shares->tree), struct vgpu_fair, link);
}

static bool fair_has_queues(const struct vgpu_fair *share)
{
	return !list_empty(&share->run[false]) || !list_empty(&share->run[true]);
}

/* Has the process READY queues, or the user such processes? */
static bool fair_is_ready(const struct vgpu_fair *share)
{
	return fair_has_queues(share) || !RB_EMPTY_ROOT(&share->of.tree.rb_root);
}

/* Is it in the tree above? */
static bool fair_is_listed(const struct vgpu_fair *share)
{
	return fair_is_ready(share) && !share->throttled;
}

static struct vgpu_fair *fair_of_user(struct vgpu_fair *share)
{
	return share->above ? share->above : share;
}

struct vgpu_account *vgpu_account_create(struct vgpu *gpu, struct vgpu_account *user, u64 id)
{
	struct vgpu_account *account = vfence_leak_check_alloc(HW_ACCOUNT, sizeof(*account));
	unsigned int i;

	if (!account)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < VGPU_MAX_NODES; i++) {
		struct vgpu_fair *share = &account->share[i];

		share->id = id;
		INIT_LIST_HEAD(&share->run[false]);
		INIT_LIST_HEAD(&share->run[true]);
		share->of.tree = RB_ROOT_CACHED;
		share->above = user ? &user->share[i] : NULL;
		share->in = user ? &user->share[i].of : &gpu->node[i].shares;
	}
	return account;
}

void vgpu_account_destroy(struct vgpu_account *account)
{
	vfence_leak_check_free(HW_ACCOUNT, account);
}

/* The process gets its first READY queue, or the user its first such process. */
static void fair_list(struct vgpu_fair *share)
{
	u64 floor = share->in->time - VGPU_QUANTUM_NS;

	if (share->throttled)
		return;
	if (fair_is_earlier(share->time, floor))
		share->time = floor;
	rb_add_cached(&share->link, &share->in->tree, fair_less);
}

/* A READY queue enters the run list of its process, at the end. */
void vgpu_fair_add_locked(struct vgpu_queue *queue)
{
	struct vgpu_fair *share = fair_of(queue), *above = share->above;

	lockdep_assert_held(&queue->gpu->chip->sched);
	if (!fair_is_ready(share)) {
		if (above && !fair_is_ready(above))
			fair_list(above);
		fair_list(share);
	}
	list_add_tail(&queue->run_link, &share->run[queue->kernel]);
	share->ready++;
	queue->vm->ready[queue->engine->node]++;
}

/* The same for a queue that is the next one of its node. */
void vgpu_fair_add_first_locked(struct vgpu_queue *queue)
{
	vgpu_fair_add_locked(queue);
	list_move(&queue->run_link, &fair_of(queue)->run[queue->kernel]);
	queue->node->resume = queue;
}

/* A queue leaves the run list, if it is there. */
void vgpu_fair_remove_locked(struct vgpu_queue *queue)
{
	struct vgpu_fair *share = fair_of(queue);

	lockdep_assert_held(&queue->gpu->chip->sched);
	if (list_empty(&queue->run_link))
		return;
	if (queue->node->resume == queue)
		queue->node->resume = NULL;
	list_del_init(&queue->run_link);
	share->ready--;
	queue->vm->ready[queue->engine->node]--;
	for (; share && !fair_is_ready(share); share = share->above)
		if (!share->throttled)
			rb_erase_cached(&share->link, &share->in->tree);
}

/* Whoever has the engine is not behind those that waited: who slept is behind by less now. */
static void fair_advance(struct vgpu_fair *share)
{
	if (fair_is_earlier(share->in->time, share->time))
		share->in->time = share->time;
}

/* The share of the process that goes first; the node has READY queues. */
static struct vgpu_fair *fair_next(struct vgpu_node *node)
{
	struct vgpu_fair *share = fair_first(&node->shares);

	return fair_has_queues(share) ? share : fair_first(&share->of);
}

static void fair_note_turn(struct vgpu_fair_tree *users, const struct vgpu_fair *user)
{
	/* The system is no other user. */
	if (!user->id)
		return;
	if (users->last != user->id)
		users->other_at = users->last_at;
	users->last = user->id;
	users->last_at = ktime_get_ns();
}

/* The queue of the process that goes first: the kinds take turns. */
static struct vgpu_queue *fair_next_queue(const struct vgpu_fair *share)
{
	const struct list_head *run = &share->run[!share->kernel_was_last];

	if (list_empty(run))
		run = &share->run[share->kernel_was_last];
	return list_first_entry(run, struct vgpu_queue, run_link);
}

/* Take the next queue of the process that goes first. The node has READY queues. */
struct vgpu_queue *vgpu_fair_take_locked(struct vgpu_node *node)
{
	struct vgpu_queue *queue = node->resume ?: fair_next_queue(fair_next(node));
	struct vgpu_fair *share = fair_of(queue);

	lockdep_assert_held(&node->engine->chip->sched);
	share->kernel_was_last = queue->kernel;
	fair_advance(share);
	if (share->above)
		fair_advance(share->above);
	fair_note_turn(&node->shares, fair_of_user(share));
	vgpu_fair_remove_locked(queue);
	return queue;
}

/* The RUNNING queue has used @ns of GPU time since the last call. */
void vgpu_fair_charge_locked(struct vgpu_queue *queue, u64 ns)
{
	struct vgpu_fair *share;

	lockdep_assert_held(&queue->gpu->chip->sched);
	for (share = fair_of(queue); share; share = share->above) {
		bool listed = fair_is_listed(share);

		if (listed)
			rb_erase_cached(&share->link, &share->in->tree);
		share->time += ns;
		if (listed)
			rb_add_cached(&share->link, &share->in->tree, fair_less);
	}
}

/* Return true if another one of the same level, or of the same process, goes before @share. */
static bool fair_must_yield(struct vgpu_fair *share)
{
	struct vgpu_fair *first = fair_first(share->in);
	bool own = first == share && fair_has_queues(share);

	if (own || (first && first != share && fair_is_earlier(first->time, share->time)))
		return true;
	fair_advance(share);
	return false;
}

/* Return true if another queue goes before the RUNNING one, which has been charged. */
bool vgpu_fair_must_yield_locked(struct vgpu_queue *queue)
{
	struct vgpu_fair *share = fair_of(queue);

	lockdep_assert_held(&queue->gpu->chip->sched);
	return (share->above && fair_must_yield(share->above)) || fair_must_yield(share);
}

/* Return true if one of the same level waits, which is not @share. */
static bool fair_has_rival(struct vgpu_fair *share)
{
	struct vgpu_fair *first = fair_first(share->in);

	return first && (first != share || rb_next(&first->link));
}

/*
 * Return the time from which on the READY queue can have the engine, in ns; U64_MAX if its user is
 * throttled.
 */
u64 vgpu_fair_wants_from_locked(struct vgpu_queue *queue)
{
	struct vgpu_fair *user = fair_of_user(fair_of(queue));

	lockdep_assert_held(&queue->gpu->chip->sched);
	return user->throttled ? U64_MAX : max(queue->ready_at, user->unthrottled_at);
}

/*
 * Return true if a queue of another open file waits for the node of the RUNNING @queue. A process
 * may have several that do not know of each other, such as those of two libraries.
 */
bool vgpu_fair_is_wanted_locked(struct vgpu_queue *queue)
{
	struct vgpu_fair *share = fair_of(queue);

	lockdep_assert_held(&queue->gpu->chip->sched);
	if (share->ready != queue->vm->ready[queue->engine->node])
		return true;
	return fair_has_rival(share) || (share->above && fair_has_rival(share->above));
}

/* Does another user wait for the engine, or has one had it since the time? */
static bool fair_is_missed_locked(const struct vgpu_node *node, const struct vgpu_fair *user,
				  u64 since)
{
	const struct vgpu_fair_tree *users = &node->shares;
	const struct vgpu_fair *first = fair_first(users);
	u64 at = users->last == user->id ? users->other_at : users->last_at;
	struct vgpu_queue *running = node->engine->running;

	lockdep_assert_held(&node->engine->chip->sched);
	if (running && running->node == node && fair_of_user(fair_of(running)) != user)
		return true;
	return at >= since || (first && (first != user || rb_next(&first->link)));
}

static void fair_throttle_locked(struct vgpu_node *node, struct vgpu_fair *user)
{
	lockdep_assert_held(&node->engine->chip->sched);
	if (fair_is_listed(user))
		rb_erase_cached(&user->link, &user->in->tree);
	user->throttled = true;
	vgpu_vf_switch_update_locked(node);
}

void vgpu_account_throttle(struct vgpu *gpu, struct vgpu_account *user, u64 recent_ns)
{
	u64 now = ktime_get_ns(), since = now > recent_ns ? now - recent_ns : 1;
	struct vgpu_chip *chip = gpu->chip;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&chip->sched, flags);
	for (i = 0; i < chip->nodes; i++) {
		struct vgpu_fair *share = &user->share[i];

		if (!share->throttled && fair_is_missed_locked(&gpu->node[i], share, since))
			fair_throttle_locked(&gpu->node[i], share);
	}
	spin_unlock_irqrestore(&chip->sched, flags);
}

static void fair_unthrottle_locked(struct vgpu_node *node, struct vgpu_fair *user)
{
	lockdep_assert_held(&node->engine->chip->sched);
	user->throttled = false;
	user->unthrottled_at = ktime_get_ns();
	if (fair_is_ready(user))
		fair_list(user);
	vgpu_vf_switch_update_locked(node);
	wake_up_all(&node->engine->wait);
}

void vgpu_account_unthrottle(struct vgpu *gpu, struct vgpu_account *user)
{
	struct vgpu_chip *chip = gpu->chip;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&chip->sched, flags);
	for (i = 0; i < chip->nodes; i++)
		if (user->share[i].throttled)
			fair_unthrottle_locked(&gpu->node[i], &user->share[i]);
	spin_unlock_irqrestore(&chip->sched, flags);
}
