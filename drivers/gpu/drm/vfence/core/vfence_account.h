/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_ACCOUNT_H_
#define _VFENCE_ACCOUNT_H_

#include <linux/atomic.h>
#include <linux/rbtree.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

#include "core/vfence_chore.h"
#include "vfence_timeout.h"

struct pid;
struct vfence_adapter;
struct vgpu_account;

/**
 * struct vfence_account - a process that has opened files, or its user
 */
struct vfence_account {
	/** @adapter: the adapter; constant */
	struct vfence_adapter *adapter;
	/** @user: account of the user, with a reference, or NULL in that one; constant */
	struct vfence_account *user;
	/** @uid: the user that opened the files; constant */
	kuid_t uid;
	/** @pid: the process that opened the files, with a reference, or NULL; constant */
	struct pid *pid;
	/** @hw: shares of the engines; constant */
	struct vgpu_account *hw;
	/** @chores: what threads of the kernel do for a process */
	struct vfence_chore_process chores;
	/** @user_chores: what they do for all processes of a user */
	struct vfence_chore_user user_chores;
	/** @memory: bytes of kernel memory of a user, see vfence_account_charge() */
	atomic_long_t memory;
	/** @node: node in &vfence_accounts.tree */
	struct rb_node node;
	/**
	 * @users: files and devices of a process, or processes of a user and its @throttle_work,
	 * and @rest_work; under &vfence_accounts.lock
	 */
	unsigned int users;

	/** @hangs: when devices of a user have hung; under &vfence_accounts.lock */
	struct vfence_timeout_window hangs;
	/**
	 * @throttled_until: when a user gets the engines again, in ns; under &vfence_accounts.lock
	 */
	u64 throttled_until;
	/** @rest_work: keeps an unused account until all is paid back; holds a reference */
	struct delayed_work rest_work;
	/**
	 * @throttle_work: gives a user the engines again, and later forgets his hangs; holds a
	 * reference
	 */
	struct delayed_work throttle_work;
};

struct vfence_account *vfence_account_get_current(struct vfence_adapter *adapter);
struct vfence_account *vfence_account_get_of(struct vfence_account *opener);
void vfence_account_put(struct vfence_account *account);
int vfence_account_charge(struct vfence_account *account, unsigned long bytes);
void vfence_account_uncharge(struct vfence_account *account, unsigned long bytes);
u64 vfence_account_memory(const struct vfence_account *account);
u64 vfence_account_memory_limit(const struct vfence_account *account);
void vfence_account_hung(struct vfence_account *account, unsigned int taken_ms);
void vfence_account_init(struct vfence_adapter *adapter);
void vfence_account_stop(struct vfence_adapter *adapter);
void vfence_account_flush(struct vfence_adapter *adapter);

#endif
