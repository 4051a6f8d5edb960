// SPDX-License-Identifier: GPL-2.0-only
/*
 * The folder sriov_admin of a physical function: how functions share the engines, and what each of
 * them has had. The names are those of the xe driver where it has the same thing.
 *
 *    sriov_admin/policy, response_us, switch_us, access_limit_ms, stat
 *    sriov_admin/pf/, vf1/, ...: pause (of virtual functions);
 *                                profile/exec_quantum_us, weight, cap_percent, preempt_timeout_us,
 *                                sched_priority; stat;
 *                                guard/flr_limit, flr_window_ms, ...; stat
 */

#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "core/vfence_adapter.h"
#include "vf/vfence_vf_exclusive.h"
#include "vf/vfence_admin.h"
#include "vf/vfence_vf_migration.h"
#include "vf/vfence_vf_sched.h"

#define ADMIN_MAX_SLICE_US	2000000
#define ADMIN_MAX_WEIGHT	10000
#define ADMIN_MAX_TIMEOUT_US	100000000
#define ADMIN_MAX_COST_US	100000
#define ADMIN_MAX_ACCESS_MS	60000
#define ADMIN_MAX_WINDOW_MS	3600000

/**
 * struct admin_folder - a folder in sysfs
 */
struct admin_folder {
	/** @kobj: the folder */
	struct kobject kobj;
	/** @lock: serialises writers of numbers, which change one member of a structure */
	struct mutex *lock;
	/** @sched: who owns the engines; valid until the folder is removed */
	struct vfence_vf_sched *sched;
	/** @exclusive: exclusive access; valid as long as @sched */
	struct vfence_vf_exclusive *exclusive;
	/** @state: pauses and images; valid as long as @sched */
	struct vfence_vf_migration *state;
	/** @function: index of the function; unused in the folder above */
	unsigned int function;
};

/**
 * struct vfence_admin - all folders of an adapter
 */
struct vfence_admin {
	/** @lock: what &admin_folder.lock points to */
	struct mutex lock;
	/** @top: the folder sriov_admin */
	struct admin_folder *top;
	/** @folder: a folder for each function, by its index */
	struct admin_folder *folder[VFENCE_POLICY_FUNCTIONS];
};

static struct admin_folder *admin_folder_of(struct kobject *kobj)
{
	return container_of(kobj, struct admin_folder, kobj);
}

/**
 * struct admin_attribute - a number of the configuration
 */
struct admin_attribute {
	/** @attr: the attribute */
	struct kobj_attribute attr;
	/** @offset: offset of the member in its structure */
	size_t offset;
	/** @min: least value */
	u32 min;
	/** @max: largest value */
	u32 max;
};

static const struct admin_attribute *admin_attribute_of(struct kobj_attribute *attr)
{
	return container_of(attr, struct admin_attribute, attr);
}

/* Read a number that is within its range. */
static int admin_parse(const struct admin_attribute *attr, const char *buf, u32 *value)
{
	int ret = kstrtou32(buf, 0, value);

	if (ret)
		return ret;
	return *value < attr->min || *value > attr->max ? -EINVAL : 0;
}

static ssize_t admin_config_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct vfence_vf_sched_config config;

	vfence_vf_sched_get_config(admin_folder_of(kobj)->sched, &config);
	return sysfs_emit(buf, "%u\n",
			  *(u32 *)((void *)&config + admin_attribute_of(attr)->offset));
}

static ssize_t admin_config_store(struct kobject *kobj, struct kobj_attribute *attr,
				  const char *buf, size_t count)
{
	struct admin_folder *folder = admin_folder_of(kobj);
	struct vfence_vf_sched_config config;
	u32 value;
	int ret = admin_parse(admin_attribute_of(attr), buf, &value);

	if (ret)
		return ret;
	mutex_lock(folder->lock);
	vfence_vf_sched_get_config(folder->sched, &config);
	*(u32 *)((void *)&config + admin_attribute_of(attr)->offset) = value;
	vfence_vf_sched_set_config(folder->sched, &config);
	mutex_unlock(folder->lock);
	return count;
}

static ssize_t admin_share_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct admin_folder *folder = admin_folder_of(kobj);
	struct vfence_vf_profile share;

	vfence_vf_sched_get_profile(folder->sched, folder->function, &share);
	return sysfs_emit(buf, "%u\n",
			  *(u32 *)((void *)&share + admin_attribute_of(attr)->offset));
}

static ssize_t admin_share_store(struct kobject *kobj, struct kobj_attribute *attr,
				 const char *buf, size_t count)
{
	struct admin_folder *folder = admin_folder_of(kobj);
	struct vfence_vf_profile share;
	u32 value;
	int ret = admin_parse(admin_attribute_of(attr), buf, &value);

	if (ret)
		return ret;
	mutex_lock(folder->lock);
	vfence_vf_sched_get_profile(folder->sched, folder->function, &share);
	*(u32 *)((void *)&share + admin_attribute_of(attr)->offset) = value;
	vfence_vf_sched_set_profile(folder->sched, folder->function, &share);
	mutex_unlock(folder->lock);
	return count;
}

#define ADMIN_CONFIG(_file, _member, _min, _max)					\
	static struct admin_attribute admin_##_file = {				\
		.attr = __ATTR(_file, 0644, admin_config_show, admin_config_store),	\
		.offset = offsetof(struct vfence_vf_sched_config, _member),	\
		.min = (_min), .max = (_max),					\
	}

#define ADMIN_SHARE(_file, _member, _min, _max)					\
	static struct admin_attribute admin_##_file = {				\
		.attr = __ATTR(_file, 0644, admin_share_show, admin_share_store),	\
		.offset = offsetof(struct vfence_vf_profile, _member),		\
		.min = (_min), .max = (_max),					\
	}

ADMIN_CONFIG(response_us, response_us, 0, ADMIN_MAX_COST_US);
ADMIN_CONFIG(switch_us, switch_us, 0, ADMIN_MAX_COST_US);
ADMIN_CONFIG(access_limit_ms, access_limit_ms, 1, ADMIN_MAX_ACCESS_MS);
ADMIN_SHARE(exec_quantum_us, slice_us, 100, ADMIN_MAX_SLICE_US);
ADMIN_SHARE(weight, weight, 1, ADMIN_MAX_WEIGHT);
ADMIN_SHARE(cap_percent, cap_percent, 0, 100);
ADMIN_SHARE(preempt_timeout_us, preempt_timeout_us, 0, ADMIN_MAX_TIMEOUT_US);

static ssize_t policy_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct vfence_vf_sched_config config;
	int i, at = 0;

	vfence_vf_sched_get_config(admin_folder_of(kobj)->sched, &config);
	for (i = 0; i < VFENCE_POLICIES; i++)
		at += sysfs_emit_at(buf, at, i == config.policy ? "[%s] " : "%s ",
				    vfence_policies[i].name);
	buf[at - 1] = '\n';
	return at;
}

static ssize_t policy_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			    size_t count)
{
	struct admin_folder *folder = admin_folder_of(kobj);
	struct vfence_vf_sched_config config;
	unsigned int i;

	for (i = 0; i < VFENCE_POLICIES; i++)
		if (sysfs_streq(buf, vfence_policies[i].name))
			break;
	if (i == VFENCE_POLICIES)
		return -EINVAL;
	mutex_lock(folder->lock);
	vfence_vf_sched_get_config(folder->sched, &config);
	config.policy = i;
	vfence_vf_sched_set_config(folder->sched, &config);
	mutex_unlock(folder->lock);
	return count;
}

static struct kobj_attribute admin_policy = __ATTR_RW(policy);

static ssize_t sched_priority_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct admin_folder *folder = admin_folder_of(kobj);
	struct vfence_vf_profile share;

	vfence_vf_sched_get_profile(folder->sched, folder->function, &share);
	return sysfs_emit(buf, share.on_demand ? "[low] normal\n" : "low [normal]\n");
}

static ssize_t sched_priority_store(struct kobject *kobj, struct kobj_attribute *attr,
				    const char *buf, size_t count)
{
	struct admin_folder *folder = admin_folder_of(kobj);
	struct vfence_vf_profile share;

	if (!sysfs_streq(buf, "low") && !sysfs_streq(buf, "normal"))
		return -EINVAL;
	mutex_lock(folder->lock);
	vfence_vf_sched_get_profile(folder->sched, folder->function, &share);
	share.on_demand = sysfs_streq(buf, "low");
	vfence_vf_sched_set_profile(folder->sched, folder->function, &share);
	mutex_unlock(folder->lock);
	return count;
}

static struct kobj_attribute admin_sched_priority = __ATTR_RW(sched_priority);

static const char *const admin_group_name[VGPU_VF_SWITCH_GROUPS] = { "gfx", "mm" };

/* Print numbers behind their name, with a comma between them. */
static int admin_emit_list(char *buf, int at, const char *name, const u64 *value,
			   unsigned int count)
{
	unsigned int i;
	int begun = at;

	at += sysfs_emit_at(buf, at, " %s", name);
	for (i = 0; i < count; i++)
		at += sysfs_emit_at(buf, at, "%c%llu", i ? ',' : ' ', value[i]);
	return at - begun;
}

static ssize_t admin_total_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct vfence_vf_sched_times times;
	const struct vfence_vf_sched_total *total = &times.total;
	unsigned int g;
	int at = 0;

	for (g = 0; g < VGPU_VF_SWITCH_GROUPS; g++) {
		vfence_vf_sched_query_times(admin_folder_of(kobj)->sched, g, &times);
		at += sysfs_emit_at(buf, at, "%s elapsed_ns %llu switch_ns %llu unowned_ns %llu",
				    admin_group_name[g], total->elapsed_ns, total->switch_ns,
				    total->unowned_ns);
		at += sysfs_emit_at(buf, at, " switches %llu cancelled %llu gpu_resets %llu",
				    total->switches, total->cancelled, total->gpu_resets);
		at += admin_emit_list(buf, at, "yield_us", total->latency,
				      VFENCE_VF_SCHED_LATENCIES);
		at += admin_emit_list(buf, at, "run_ns", times.run_ns, VFENCE_POLICY_FUNCTIONS);
		at += admin_emit_list(buf, at, "stop_ns", times.stop_ns, VFENCE_POLICY_FUNCTIONS);
		at += sysfs_emit_at(buf, at, "\n");
	}
	return at;
}

/*
 * Not for everybody: a reader holds a lock that the thread of a group needs, and a reader who gets
 * no processor would stop the switches of all functions.
 */
static struct kobj_attribute admin_total = __ATTR(stat, 0400, admin_total_show, NULL);

static ssize_t stat_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct admin_folder *folder = admin_folder_of(kobj);
	struct vfence_vf_sched_usage u;
	unsigned int g;
	int at = 0;

	for (g = 0; g < VGPU_VF_SWITCH_GROUPS; g++) {
		vfence_vf_sched_query(folder->sched, g, folder->function, &u);
		at += sysfs_emit_at(buf, at, "%s run_ns %llu stop_ns %llu longest_stop_ns %llu",
				    admin_group_name[g], u.run_ns, u.stop_ns, u.longest_stop_ns);
		at += sysfs_emit_at(buf, at, " overrun_ns %llu turns %llu yields %llu",
				    u.overrun_ns, u.turns, u.yields);
		at += sysfs_emit_at(buf, at, " preemptions %llu resets %llu recovered %llu",
				    u.preemptions, u.resets, u.recovered);
		at += sysfs_emit_at(buf, at, " turned_busy %llu turned_idle %llu",
				    u.turned_busy, u.turned_idle);
		at += sysfs_emit_at(buf, at, " busy %d known_busy %d\n", u.busy, u.known_busy);
	}
	return at;
}

static struct kobj_attribute admin_stat = __ATTR(stat, 0400, stat_show, NULL);

/**
 * struct admin_guard - a number of a guard
 */
struct admin_guard {
	/** @attr: the attribute */
	struct kobj_attribute attr;
	/** @kind: which guard */
	enum vfence_guard_kind kind;
	/** @window: the length of the window, and not the number of events */
	bool window;
};

static ssize_t admin_guard_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct admin_guard *number = container_of(attr, struct admin_guard, attr);
	struct admin_folder *folder = admin_folder_of(kobj);
	struct vfence_guard guard;

	vfence_vf_exclusive_get_guard(folder->exclusive, folder->function, number->kind, &guard);
	return sysfs_emit(buf, "%u\n",
			  number->window ? guard.limit.window_ms : guard.limit.events);
}

static ssize_t admin_guard_store(struct kobject *kobj, struct kobj_attribute *attr,
				 const char *buf, size_t count)
{
	const struct admin_guard *number = container_of(attr, struct admin_guard, attr);
	struct admin_folder *folder = admin_folder_of(kobj);
	struct vfence_guard guard;
	u32 value;
	int ret = kstrtou32(buf, 0, &value);

	if (ret)
		return ret;
	if (number->window ? !value || value > ADMIN_MAX_WINDOW_MS : value > VFENCE_GUARD_EVENTS)
		return -EINVAL;
	mutex_lock(folder->lock);
	vfence_vf_exclusive_get_guard(folder->exclusive, folder->function, number->kind, &guard);
	*(number->window ? &guard.limit.window_ms : &guard.limit.events) = value;
	vfence_vf_exclusive_set_limit(folder->exclusive, folder->function, number->kind,
				      &guard.limit);
	mutex_unlock(folder->lock);
	return count;
}

#define ADMIN_GUARD(_file, _kind, _window)					\
	static struct admin_guard admin_##_file = {				\
		.attr = __ATTR(_file, 0644, admin_guard_show, admin_guard_store),	\
		.kind = (_kind), .window = (_window),				\
	}

ADMIN_GUARD(flr_limit, VFENCE_GUARD_FLR, false);
ADMIN_GUARD(flr_window_ms, VFENCE_GUARD_FLR, true);
ADMIN_GUARD(access_limit, VFENCE_GUARD_ACCESS, false);
ADMIN_GUARD(access_window_ms, VFENCE_GUARD_ACCESS, true);
ADMIN_GUARD(timeout_limit, VFENCE_GUARD_TIMEOUT, false);
ADMIN_GUARD(timeout_window_ms, VFENCE_GUARD_TIMEOUT, true);
ADMIN_GUARD(mailbox_limit, VFENCE_GUARD_MAILBOX, false);
ADMIN_GUARD(mailbox_window_ms, VFENCE_GUARD_MAILBOX, true);

static const char *const admin_guard_name[VFENCE_GUARDS] = {
	[VFENCE_GUARD_FLR] = "flr",
	[VFENCE_GUARD_ACCESS] = "access",
	[VFENCE_GUARD_TIMEOUT] = "timeout",
	[VFENCE_GUARD_MAILBOX] = "mailbox",
};

static ssize_t admin_guard_stat_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct admin_folder *folder = admin_folder_of(kobj);
	struct vfence_guard guard;
	unsigned int k;
	int at = 0;

	for (k = 0; k < VFENCE_GUARDS; k++) {
		vfence_vf_exclusive_get_guard(folder->exclusive, folder->function, k, &guard);
		at += sysfs_emit_at(buf, at, "%s admitted %llu dropped %llu\n",
				    admin_guard_name[k], guard.admitted, guard.dropped);
	}
	return at;
}

static struct kobj_attribute admin_guard_stat = __ATTR(stat, 0444, admin_guard_stat_show, NULL);

static struct attribute *admin_guard_attrs[] = {
	&admin_flr_limit.attr.attr,
	&admin_flr_window_ms.attr.attr,
	&admin_access_limit.attr.attr,
	&admin_access_window_ms.attr.attr,
	&admin_timeout_limit.attr.attr,
	&admin_timeout_window_ms.attr.attr,
	&admin_mailbox_limit.attr.attr,
	&admin_mailbox_window_ms.attr.attr,
	&admin_guard_stat.attr,
	NULL,
};

static const struct attribute_group admin_guard_group = {
	.name = "guard",
	.attrs = admin_guard_attrs,
};

static struct attribute *admin_top_attrs[] = {
	&admin_policy.attr,
	&admin_response_us.attr.attr,
	&admin_switch_us.attr.attr,
	&admin_access_limit_ms.attr.attr,
	&admin_total.attr,
	NULL,
};
ATTRIBUTE_GROUPS(admin_top);

static struct attribute *admin_profile_attrs[] = {
	&admin_exec_quantum_us.attr.attr,
	&admin_weight.attr.attr,
	&admin_cap_percent.attr.attr,
	&admin_preempt_timeout_us.attr.attr,
	&admin_sched_priority.attr,
	NULL,
};

static const struct attribute_group admin_profile_group = {
	.name = "profile",
	.attrs = admin_profile_attrs,
};

static ssize_t pause_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct admin_folder *folder = admin_folder_of(kobj);

	return sysfs_emit(buf, "%d\n",
			  !!(vfence_vf_sched_paused(folder->sched) & BIT(folder->function)));
}

static ssize_t pause_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			   size_t count)
{
	struct admin_folder *folder = admin_folder_of(kobj);
	bool pause;
	int ret = kstrtobool(buf, &pause);

	if (!ret)
		ret = vfence_vf_migration_pause(folder->state, folder->function, pause);
	return ret ? ret : count;
}

static struct kobj_attribute admin_pause = __ATTR_RW(pause);

static struct attribute *admin_function_attrs[] = {
	&admin_stat.attr,
	&admin_pause.attr,
	NULL,
};

/* The physical function cannot be paused. */
static umode_t admin_is_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	return attr == &admin_pause.attr && !admin_folder_of(kobj)->function ? 0 : attr->mode;
}

static const struct attribute_group admin_function_group = {
	.attrs = admin_function_attrs,
	.is_visible = admin_is_visible,
};

static const struct attribute_group *admin_function_groups[] = {
	&admin_function_group, &admin_profile_group, &admin_guard_group, NULL,
};

static void admin_release(struct kobject *kobj)
{
	kfree(admin_folder_of(kobj));
}

static const struct kobj_type admin_top_type = {
	.release = admin_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = admin_top_groups,
};

static const struct kobj_type admin_function_type = {
	.release = admin_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = admin_function_groups,
};

static struct admin_folder *admin_add(struct vfence_admin *admin, struct vfence_adapter *adapter,
				      struct kobject *parent, const char *name,
				      unsigned int function)
{
	struct admin_folder *folder = kzalloc(sizeof(*folder), GFP_KERNEL);

	if (!folder)
		return NULL;
	folder->lock = &admin->lock;
	folder->sched = adapter->vf.sched;
	folder->exclusive = adapter->vf.exclusive;
	folder->state = adapter->vf.state;
	folder->function = function;
	if (kobject_init_and_add(&folder->kobj, admin->top ? &admin_function_type : &admin_top_type,
				 parent, "%s", name)) {
		kobject_put(&folder->kobj);
		return NULL;
	}
	return folder;
}

static void admin_remove(struct admin_folder *folder)
{
	if (!folder)
		return;
	/* On return no call is in a function of this file. */
	kobject_del(&folder->kobj);
	kobject_put(&folder->kobj);
}

/**
 * vfence_admin_create - make the folder sriov_admin
 * @adapter: the physical function, which shares its engines
 *
 * Return: what vfence_admin_destroy() removes, or NULL.
 */
struct vfence_admin *vfence_admin_create(struct vfence_adapter *adapter)
{
	struct vfence_admin *admin = kzalloc(sizeof(*admin), GFP_KERNEL);
	unsigned int i;
	char name[8];

	if (!admin)
		return NULL;
	mutex_init(&admin->lock);
	admin->top = admin_add(admin, adapter, &adapter->drm.dev->kobj, "sriov_admin", 0);
	for (i = 0; admin->top && i < VFENCE_POLICY_FUNCTIONS; i++) {
		snprintf(name, sizeof(name), i ? "vf%u" : "pf", i);
		admin->folder[i] = admin_add(admin, adapter, &admin->top->kobj, name, i);
		if (!admin->folder[i])
			break;
	}
	if (admin->folder[VFENCE_POLICY_FUNCTIONS - 1])
		return admin;
	vfence_admin_destroy(admin);
	return NULL;
}

/** vfence_admin_destroy - remove the folder */
void vfence_admin_destroy(struct vfence_admin *admin)
{
	unsigned int i;

	if (!admin)
		return;
	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++)
		admin_remove(admin->folder[i]);
	admin_remove(admin->top);
	mutex_destroy(&admin->lock);
	kfree(admin);
}
