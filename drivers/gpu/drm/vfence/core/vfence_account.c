// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounts: whom an adapter charges for its engines, and for kernel memory.
 *
 * A client may open as many files as it likes, and may fork. What it may use is therefore counted
 * for the process that opened the file, and for the user of that process. So is the time that
 * others lack when it hangs an engine: a user has as many processes as he likes, and each of them
 * may hang as often as it takes to be blocked.
 *
 *          a device hangs           throttled_until          limit_time_s later
 *    FREE ------------------> THROTTLED ---------> REMEMBERED -----------------> FREE
 *                                 ^                     |
 *                                 +--- a device hangs --+
 */

#include <linux/cred.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include "core/vfence_account.h"
#include "core/vfence_adapter.h"
#include "vfence_race_point.h"

/* No other process has the same struct pid while this one is referenced. */
static unsigned long account_id(const struct vfence_account *account)
{
	return account->user ? (unsigned long)account->pid : from_kuid(&init_user_ns, account->uid);
}

static bool account_less(const struct vfence_account *a, const struct vfence_account *b)
{
	if (a->user != b->user)
		return a->user < b->user;
	return account_id(a) < account_id(b);
}

static int account_compare(struct rb_node *node, const struct rb_node *other)
{
	const struct vfence_account *a = rb_entry(node, struct vfence_account, node);
	const struct vfence_account *b = rb_entry(other, struct vfence_account, node);

	return account_less(a, b) ? -1 : account_less(b, a);
}

static void account_free(struct vfence_account *account)
{
	if (!account->user)
		vfence_chore_user_fini(&account->user_chores);
	vgpu_account_destroy(account->hw);
	put_pid(account->pid);
	vfence_leak_check_free(ACCOUNT, account);
}

static void account_throttle_work(struct work_struct *work);
static void account_rest_work(struct work_struct *work);

static struct vfence_account *account_alloc(struct vfence_adapter *adapter,
					    struct vfence_account *user)
{
	struct vfence_account *account = vfence_leak_check_alloc(ACCOUNT, sizeof(*account));
	struct vgpu_account *hw;

	if (!account)
		return ERR_PTR(-ENOMEM);
	hw = vgpu_account_create(adapter->gpu, user ? user->hw : NULL,
				 1ULL + from_kuid(&init_user_ns, current_uid()));
	if (IS_ERR(hw)) {
		vfence_leak_check_free(ACCOUNT, account);
		return ERR_CAST(hw);
	}
	account->adapter = adapter;
	account->user = user;
	account->hw = hw;
	account->uid = current_uid();
	account->pid = user ? get_pid(task_tgid(current)) : NULL;
	INIT_DELAYED_WORK(&account->throttle_work, account_throttle_work);
	INIT_DELAYED_WORK(&account->rest_work, account_rest_work);
	if (user)
		vfence_chore_process_init(&account->chores, &user->user_chores);
	else
		vfence_chore_user_init(&account->user_chores);
	return account;
}

/* The account of the current user, or with @user of the current process, which takes over @user. */
static struct vfence_account *account_get(struct vfence_adapter *adapter,
					  struct vfence_account *user)
{
	struct vfence_account *account, *new = account_alloc(adapter, user);
	struct rb_node *node;

	if (IS_ERR(new))
		return new;
	spin_lock(&adapter->accounts.lock);
	node = rb_find_add(&new->node, &adapter->accounts.tree, account_compare);
	account = node ? rb_entry(node, struct vfence_account, node) : new;
	account->users++;
	spin_unlock(&adapter->accounts.lock);
	if (account == new)
		return account;

	account_free(new);
	/* The account that was there has a reference of the user. */
	if (user)
		vfence_account_put(user);
	return account;
}

/**
 * vfence_account_get_current - the current process is about to open a file
 * @adapter: the adapter
 *
 * Return: the account of the process, which the caller drops with vfence_account_put(), or
 * ERR_PTR(-ENOMEM).
 */
struct vfence_account *vfence_account_get_current(struct vfence_adapter *adapter)
{
	struct vfence_account *user = account_get(adapter, NULL), *account;

	if (IS_ERR(user))
		return user;
	account = account_get(adapter, user);
	if (IS_ERR(account))
		vfence_account_put(user);
	return account;
}

/**
 * vfence_account_get_of - the current process is about to create a device
 * @opener: account of the process that opened the file
 *
 * A user does not pay for what another one hangs with his file.
 *
 * Return: as vfence_account_get_current().
 */
struct vfence_account *vfence_account_get_of(struct vfence_account *opener)
{
	struct vfence_accounts *accounts = &opener->adapter->accounts;

	if (!uid_eq(opener->uid, current_uid()))
		return vfence_account_get_current(opener->adapter);
	spin_lock(&accounts->lock);
	opener->users++;
	spin_unlock(&accounts->lock);
	return opener;
}

/* How long an account has to rest, in jiffies. */
static unsigned long account_rest(const struct vfence_account *account)
{
	u64 ns = vfence_chore_rest_ns(account->user ? &account->chores.bucket :
						      &account->user_chores.bucket);

	return ns ? nsecs_to_jiffies(ns) + 1 : 0;
}

/* Keep an unused account that has to rest, as its process may open another file at once. */
static bool account_keep_locked(struct vfence_account *account)
{
	struct vfence_accounts *accounts = &account->adapter->accounts;
	unsigned long rest = account_rest(account);

	lockdep_assert_held(&accounts->lock);
	if (!rest || accounts->stopped)
		return false;
	account->users = 1;
	queue_delayed_work(account->adapter->work_wq, &account->rest_work, rest);
	return true;
}

static void account_rest_work(struct work_struct *work)
{
	vfence_account_put(container_of(to_delayed_work(work), struct vfence_account, rest_work));
}

/** vfence_account_put - drop a reference, or nothing; process context, no address space uses it */
void vfence_account_put(struct vfence_account *account)
{
	while (account) {
		struct vfence_accounts *accounts = &account->adapter->accounts;
		struct vfence_account *user = account->user;
		bool unused;

		spin_lock(&accounts->lock);
		unused = !--account->users && !account_keep_locked(account);
		if (unused)
			rb_erase(&account->node, &accounts->tree);
		spin_unlock(&accounts->lock);
		if (!unused)
			return;
		account_free(account);
		account = user;
	}
}

/** vfence_account_memory - bytes that the user of a process has been charged for */
u64 vfence_account_memory(const struct vfence_account *account)
{
	return atomic_long_read(&account->user->memory);
}

/**
 * vfence_account_memory_limit - most kernel memory that the user of a process may have
 * @account: account of a process
 *
 * Return: bytes.
 */
u64 vfence_account_memory_limit(const struct vfence_account *account)
{
	return (u64)account->adapter->config.user_memory_mib << 20;
}

/**
 * vfence_account_charge - count kernel memory for a user
 * @account: account of the process that the memory is for
 * @bytes: how much, about
 *
 * For objects of which a client may have as many as it likes. Most of their memory is paid for
 * by the memory cgroup of the client, and what helpers of the kernel allocate is not.
 *
 * Return: 0, after which the caller calls vfence_account_uncharge(), or -ENOSPC.
 */
int vfence_account_charge(struct vfence_account *account, unsigned long bytes)
{
	s64 limit = vfence_account_memory_limit(account);
	atomic_long_t *memory = &account->user->memory;
	long before = atomic_long_read(memory);

	do {
		if (before > limit - (s64)bytes)
			return -ENOSPC;
	} while (!atomic_long_try_cmpxchg(memory, &before, before + bytes));
	return 0;
}

/** vfence_account_uncharge - undo vfence_account_charge() */
void vfence_account_uncharge(struct vfence_account *account, unsigned long bytes)
{
	atomic_long_sub(bytes, &account->user->memory);
}

static struct vfence_timeout_config account_config(const struct vfence_account *account)
{
	struct vfence_adapter *adapter = account->adapter;

	return (struct vfence_timeout_config){
		.delay_ms = READ_ONCE(adapter->tdr.delay_ms),
		.debug_mode = READ_ONCE(adapter->tdr.debug_mode),
		.limit_time_s = READ_ONCE(adapter->tdr.limit_time_s),
	};
}

/* The user gets the engines again. Return: how long its hangs are still remembered, in jiffies. */
static unsigned long account_end_throttle_locked(struct vfence_account *user)
{
	u64 remember_ns = (u64)account_config(user).limit_time_s * NSEC_PER_SEC;
	u64 forget_at = user->throttled_until + remember_ns, now = ktime_get_ns();

	lockdep_assert_held(&user->adapter->accounts.lock);
	if (now < user->throttled_until)
		return nsecs_to_jiffies(user->throttled_until - now) + 1;
	vgpu_account_unthrottle(user->adapter->gpu, user->hw);
	return now < forget_at ? nsecs_to_jiffies(forget_at - now) + 1 : 0;
}

static void account_throttle_work(struct work_struct *work)
{
	struct vfence_account *user = container_of(to_delayed_work(work), struct vfence_account,
						   throttle_work);
	struct vfence_accounts *accounts = &user->adapter->accounts;
	unsigned long again;

	vfence_hold(THROTTLE);
	spin_lock(&accounts->lock);
	again = account_end_throttle_locked(user);
	/* If it is queued already, that has a reference of its own. */
	if (again && !accounts->stopped &&
	    queue_delayed_work(user->adapter->queues.run_wq, &user->throttle_work, again))
		user->users++;
	spin_unlock(&accounts->lock);
	vfence_account_put(user);
}

/* dma_fences of the user depend on the work. A longer time from before stays. */
static void account_throttle_locked(struct vfence_account *user, u64 ms, u64 taken_ms)
{
	const u64 recent_ms = taken_ms + VFENCE_TIMEOUT_PREEMPT_MS + VFENCE_TIMEOUT_ANSWER_MS;
	struct vfence_adapter *adapter = user->adapter;

	lockdep_assert_held(&adapter->accounts.lock);
	user->throttled_until = max(user->throttled_until, ktime_get_ns() + ms * NSEC_PER_MSEC);
	vgpu_account_throttle(adapter->gpu, user->hw, recent_ms * NSEC_PER_MSEC);
	if (!mod_delayed_work(adapter->queues.run_wq, &user->throttle_work,
			      msecs_to_jiffies(ms) + 1))
		user->users++;
}

/**
 * vfence_account_hung - a device of a process has hung an engine
 * @account: account of the process
 * @taken_ms: for how long others can have lacked the engine
 *
 * The user leaves the engines to others for a time, if others use them.
 */
void vfence_account_hung(struct vfence_account *account, unsigned int taken_ms)
{
	struct vfence_timeout_config config = account_config(account);
	struct vfence_accounts *accounts = &account->adapter->accounts;
	struct vfence_account *user = account->user;
	u64 ms;

	spin_lock(&accounts->lock);
	vfence_timeout_note(&user->hangs, ktime_to_ms(ktime_get()));
	ms = vfence_timeout_throttle_ms(&config, &user->hangs, taken_ms);
	if (ms && !accounts->stopped)
		account_throttle_locked(user, ms, taken_ms);
	spin_unlock(&accounts->lock);
}

static struct vfence_account *account_next_pending_locked(struct vfence_accounts *accounts)
{
	struct rb_node *node;

	lockdep_assert_held(&accounts->lock);
	for (node = rb_first(&accounts->tree); node; node = rb_next(node)) {
		struct vfence_account *account = rb_entry(node, struct vfence_account, node);

		if (delayed_work_pending(&account->throttle_work) ||
		    delayed_work_pending(&account->rest_work))
			return account;
	}
	return NULL;
}

/* An account that is used stays in the tree. */
static void account_visit_users(struct vfence_accounts *accounts,
				void (*visit)(struct vfence_chore_user *user))
{
	struct vfence_account *account = NULL, *before = NULL;
	struct rb_node *node;

	do {
		spin_lock(&accounts->lock);
		node = before ? rb_next(&before->node) : rb_first(&accounts->tree);
		account = node ? rb_entry(node, struct vfence_account, node) : NULL;
		if (account)
			account->users++;
		spin_unlock(&accounts->lock);
		vfence_account_put(before);
		if (account && !account->user)
			visit(&account->user_chores);
		before = account;
	} while (account);
}

/**
 * vfence_account_stop - the adapter is unplugged: forget all hangs, and let no chore rest
 * @adapter: the adapter
 *
 * The caller flushes &vfence_queues.run_wq and &vfence_adapter.work_wq, as a work that has begun is
 * not pending any more.
 */
void vfence_account_stop(struct vfence_adapter *adapter)
{
	struct vfence_accounts *accounts = &adapter->accounts;
	struct vfence_account *user;

	account_visit_users(accounts, vfence_chore_hurry_all);
	spin_lock(&accounts->lock);
	accounts->stopped = true;
	while ((user = account_next_pending_locked(accounts))) {
		user->users++;
		spin_unlock(&accounts->lock);
		if (cancel_delayed_work_sync(&user->throttle_work))
			vfence_account_put(user);
		if (cancel_delayed_work_sync(&user->rest_work))
			vfence_account_put(user);
		vfence_account_put(user);
		spin_lock(&accounts->lock);
	}
	spin_unlock(&accounts->lock);
}

/**
 * vfence_account_flush - wait until no chore has anything to do
 * @adapter: the adapter, whose GPU and works that queue chores have stopped
 */
void vfence_account_flush(struct vfence_adapter *adapter)
{
	account_visit_users(&adapter->accounts, vfence_chore_wait_all);
}

/** vfence_account_init - prepare an adapter for accounts; cannot fail */
void vfence_account_init(struct vfence_adapter *adapter)
{
	spin_lock_init(&adapter->accounts.lock);
	adapter->accounts.tree = RB_ROOT;
}
