// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: World switch
 *
 * The functions of a chip share its engines in turn. Engines form groups that change their owner
 * together: graphics, compute and copy engines, and media engines. The host gives commands to the
 * controller of a group, see vgpu_vf_switch.h::
 *
 *    1 IDLE         graphics and compute engines stop between two draws
 *    2              the copy engine stops at once
 *    3 SAVE         the registers go to the context save area of the owner
 *    4 LOAD, INIT   those of the next owner come from its area, or are reset
 *    5 RUN          the engines execute queues of the next owner; what a switch has stopped goes
 *                   on first, with its next instruction
 *
 * Which function is next is for the host to decide. The hardware tells it when a function gets
 * work and when it has none left: a word for each function and group has a bit for each node with a
 * queue to execute. A queue that waits for a fence sets no bit. The word changes under the
 * lock under which queues change their states, and its old value shows each edge.
 */

#include <linux/hrtimer.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "vgpu_types.h"

/* Gaps between commands that are shorter are wake-up latency of the host. */
#define VF_SWITCH_GAP_NS	(100 * NSEC_PER_USEC)

static unsigned int vf_switch_group_of(unsigned int class_id)
{
	return class_id == DRM_VFENCE_NODE_MM;
}

void vgpu_vf_switch_init(struct vgpu_chip *chip)
{
	unsigned int i;

	for (i = 0; i < VGPU_VF_SWITCH_GROUPS; i++)
		mutex_init(&chip->group[i].lock);
	for (i = 0; i < chip->nodes; i++) {
		struct vgpu_engine *engine = &chip->engine[i];

		if (engine->class_id == DRM_VFENCE_NODE_PAGING)
			continue;
		engine->group = &chip->group[vf_switch_group_of(engine->class_id)];
		engine->group->nodes |= BIT(i);
	}
}

void vgpu_vf_switch_fini(struct vgpu_chip *chip)
{
	unsigned int i;

	for (i = 0; i < VGPU_VF_SWITCH_GROUPS; i++)
		mutex_destroy(&chip->group[i].lock);
}

/* The chip is switched on, with one function. */
void vgpu_vf_switch_power_on(struct vgpu_chip *chip, struct vgpu *gpu)
{
	unsigned int i;

	lockdep_assert_held(&chip->sched);
	for (i = 0; i < VGPU_VF_SWITCH_GROUPS; i++) {
		chip->group[i].state = VGPU_VF_SWITCH_RUN;
		chip->group[i].owner = gpu;
		chip->group[i].leaving = 0;
		chip->group[i].owed = 0;
	}
}

/* A function has stopped: it owns nothing any more. */
void vgpu_vf_switch_forget(struct vgpu_chip *chip, struct vgpu *gpu)
{
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < VGPU_VF_SWITCH_GROUPS; i++) {
		struct vgpu_group *group = &chip->group[i];

		mutex_lock(&group->lock);
		spin_lock_irqsave(&chip->sched, flags);
		gpu->save[i].saved = false;
		if (group->owner == gpu) {
			group->owner = NULL;
			group->state = VGPU_VF_SWITCH_SAVED;
			group->leaving = 0;
			group->owed = 0;
		}
		spin_unlock_irqrestore(&chip->sched, flags);
		mutex_unlock(&group->lock);
	}
}

/* Report an edge. An injection drops it, another one delays it until after the next edge. */
static void vf_switch_report_locked(struct vgpu *gpu, unsigned int group, bool busy, u64 at)
{
	struct vgpu_context_save *save = &gpu->save[group];
	struct vgpu_chip *chip = gpu->chip;

	lockdep_assert_held(&chip->sched);
	if (busy && vgpu_injection_take(&gpu->injections, VGPU_INJECT_LOSE_BUSY))
		return;
	if (vgpu_injection_take(&gpu->injections, VGPU_INJECT_HOLD_EDGE)) {
		save->held_at = at;
		return;
	}
	chip->vf_switch_ops->edge(chip->vf_switch_host, group, gpu->index, at);
	if (save->held_at)
		chip->vf_switch_ops->edge(chip->vf_switch_host, group, gpu->index, save->held_at);
	save->held_at = 0;
}

/* Queues of the node have entered or left the run list or the engine. Report an edge. */
void vgpu_vf_switch_update_locked(struct vgpu_node *node)
{
	struct vgpu_engine *engine = node->engine;
	struct vgpu_chip *chip = engine->chip;
	struct vgpu_context_save *save;
	struct vgpu *gpu = node->gpu;
	unsigned int group;
	bool busy, edge;
	u32 old;

	lockdep_assert_held(&chip->sched);
	if (!engine->group)
		return;
	group = vf_switch_group_of(engine->class_id);
	save = &gpu->save[group];

	busy = !RB_EMPTY_ROOT(&node->shares.tree.rb_root) ||
	       (engine->running && engine->running->node == node);
	if (busy) {
		old = atomic_fetch_or(BIT(engine->node), &save->busy);
		edge = !old;
		save->turned_busy += edge;
	} else {
		old = atomic_fetch_and(~BIT(engine->node), &save->busy);
		edge = old == BIT(engine->node);
		save->turned_idle += edge;
	}

	vfence_race_point(EDGE);
	/* If the engine reports it, its thread may do so after the time of its packets ended. */
	if (edge && chip->vf_switch_ops)
		vf_switch_report_locked(gpu, group, busy, current == engine->thread.task ?
				    vgpu_time_end(engine) : ktime_get_ns());
}

/* The function may execute its queues again. */
void vgpu_vf_switch_kick_locked(struct vgpu *gpu)
{
	struct vgpu_chip *chip = gpu->chip;
	unsigned int i;

	lockdep_assert_held(&chip->sched);
	for (i = 0; i < VGPU_VF_SWITCH_GROUPS && chip->vf_switch_ops; i++)
		chip->vf_switch_ops->edge(chip->vf_switch_host, i, gpu->index, ktime_get_ns());
}

/* Return true if the function owns all groups, or if the host does not switch functions. */
bool vgpu_vf_switch_owns_all_locked(struct vgpu *gpu)
{
	struct vgpu_chip *chip = gpu->chip;
	unsigned int i;

	lockdep_assert_held(&chip->sched);
	for (i = 0; chip->vf_switch_ops && i < VGPU_VF_SWITCH_GROUPS; i++)
		if (chip->group[i].owner != gpu || chip->group[i].state != VGPU_VF_SWITCH_RUN)
			return false;
	return true;
}

/* The engine is about to execute the queue: give the registers in it back to their queue. */
void vgpu_vf_switch_take_registers_locked(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	struct vgpu_registers *registers = &engine->registers;

	lockdep_assert_held(&engine->chip->sched);
	if (registers->queue == queue)
		return;
	if (registers->queue)
		memcpy(registers->queue->registers, registers->value, sizeof(registers->value));
	memcpy(registers->value, queue->registers, sizeof(registers->value));
	registers->queue = queue;
}

/* The queue is about to be freed. */
void vgpu_vf_switch_drop_registers_locked(struct vgpu_queue *queue)
{
	struct vgpu_engine *engine = queue->engine;
	unsigned int i;

	lockdep_assert_held(&engine->chip->sched);
	if (engine->registers.queue == queue)
		engine->registers.queue = NULL;
	for (i = 0; i < VGPU_VF_SWITCH_GROUPS; i++)
		if (queue->gpu->save[i].registers[engine->node].queue == queue)
			queue->gpu->save[i].registers[engine->node].queue = NULL;
}

/* The engine has done something for the owner, or has nothing that it could do. */
void vgpu_vf_switch_served_locked(struct vgpu_engine *engine)
{
	struct vgpu_group *group = engine->group;

	lockdep_assert_held(&engine->chip->sched);
	if (!group || !(group->owed & BIT(engine->node)))
		return;
	WRITE_ONCE(group->owed, group->owed & ~BIT(engine->node));
	wake_up_all(&engine->chip->queue_left);
}

/* A queue has left the engine: if a switch waits for it, it goes on from the end of its work. */
void vgpu_vf_switch_left_locked(struct vgpu_engine *engine)
{
	struct vgpu_group *group = engine->group;

	lockdep_assert_held(&engine->chip->sched);
	if (group && group->leaving & BIT(engine->node))
		group->stopped_at = max(group->stopped_at, vgpu_time_end(engine));
}

/* The engine has executed a step, which is not taken back. */
void vgpu_vf_switch_served(struct vgpu_engine *engine)
{
	unsigned long flags;

	if (!engine->group || !(READ_ONCE(engine->group->owed) & BIT(engine->node)))
		return;
	engine->begun_at = 0;
	spin_lock_irqsave(&engine->chip->sched, flags);
	vgpu_vf_switch_served_locked(engine);
	spin_unlock_irqrestore(&engine->chip->sched, flags);
}

/* What has not left by now is what keeps the switch: it is the cause if its function is reset. */
static void vf_switch_note_overdue(struct vgpu_chip *chip, u32 nodes)
{
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&chip->sched, flags);
	for (i = 0; i < chip->nodes; i++) {
		struct vgpu_queue *queue = chip->engine[i].running;

		if (nodes & BIT(i) && queue && queue->context)
			queue->node->overdue = queue->context->os_handle;
	}
	spin_unlock_irqrestore(&chip->sched, flags);
}

static bool vf_switch_runs(struct vgpu_chip *chip, struct vgpu_group *group, u32 nodes)
{
	unsigned long flags;
	unsigned int i;
	bool runs;

	spin_lock_irqsave(&chip->sched, flags);
	runs = group->owed & nodes;
	for (i = 0; i < chip->nodes; i++)
		runs |= nodes & BIT(i) && chip->engine[i].running;
	spin_unlock_irqrestore(&chip->sched, flags);
	return runs;
}

/* Stop some engines of the group. Return false if not all have stopped in time. */
static bool vf_switch_stop(struct vgpu_chip *chip, struct vgpu_group *group, u32 nodes,
			   unsigned int timeout_us)
{
	unsigned long flags;
	unsigned int i;
	bool stopped;

	spin_lock_irqsave(&chip->sched, flags);
	/* Release: leave_at. Partner: vgpu_vf_switch_must_leave(). */
	smp_store_release(&group->leaving, group->leaving | nodes);
	for (i = 0; i < chip->nodes; i++)
		if (nodes & BIT(i))
			wake_up_all(&chip->engine[i].wait);
	spin_unlock_irqrestore(&chip->sched, flags);
	stopped = wait_event_timeout(chip->queue_left, !vf_switch_runs(chip, group, nodes),
				     usecs_to_jiffies(timeout_us));
	if (!stopped)
		vf_switch_note_overdue(chip, nodes);
	return stopped;
}

/* Return the nominal end of the last command, in ns; or now, if the host has paused since. */
static u64 vf_switch_ended_at(const struct vgpu_group *group)
{
	u64 now = ktime_get_ns();

	return now - group->free_at < VF_SWITCH_GAP_NS ? group->free_at : now;
}

/* Set the time from which engines must stop. Engines that have been asked before go by that. */
static void vf_switch_set_leave_at(struct vgpu_chip *chip, struct vgpu_group *group)
{
	struct vgpu *owner = group->owner;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&chip->sched, flags);
	if (!group->leaving)
		group->stopped_at = vf_switch_ended_at(group);
	WRITE_ONCE(group->leave_at, group->stopped_at);
	for (i = 0; owner && i < chip->nodes; i++)
		if (group->nodes & BIT(i))
			owner->node[i].overdue = 0;
	spin_unlock_irqrestore(&chip->sched, flags);
}

/* The copy engine stops after the others, which it may have to feed until then. */
static int vf_switch_idle(struct vgpu_chip *chip, struct vgpu_group *group, unsigned int timeout_us)
{
	u32 copy = 0;
	unsigned int i;

	for (i = 0; i < chip->nodes; i++)
		if (group->nodes & BIT(i) && chip->engine[i].class_id == DRM_VFENCE_NODE_COPY)
			copy |= BIT(i);
	vf_switch_set_leave_at(chip, group);
	if (!vf_switch_stop(chip, group, group->nodes & ~copy, timeout_us))
		return -ETIME;
	vf_switch_set_leave_at(chip, group);
	if (!vf_switch_stop(chip, group, copy, timeout_us))
		return -ETIME;
	group->free_at = group->stopped_at;
	return 0;
}

static void vf_switch_save_locked(struct vgpu_chip *chip, struct vgpu_group *group,
				  struct vgpu_context_save *save)
{
	unsigned int i;

	lockdep_assert_held(&chip->sched);
	for (i = 0; i < chip->nodes; i++)
		if (group->nodes & BIT(i))
			save->registers[i] = chip->engine[i].registers;
	save->saved = true;
}

/* With INIT, or after a reset, nothing of another function is left in the registers. */
static void vf_switch_load_locked(struct vgpu_chip *chip, struct vgpu_group *group,
				  const struct vgpu_context_save *save, bool init)
{
	static const struct vgpu_registers none;
	unsigned int i;

	lockdep_assert_held(&chip->sched);
	for (i = 0; i < chip->nodes; i++)
		if (group->nodes & BIT(i))
			chip->engine[i].registers = init ? none : save->registers[i];
}

/* Half of the time of a switch passes, from the end of the command before. */
static void vf_switch_pass_time(struct vgpu_chip *chip, struct vgpu_group *group)
{
	ktime_t until;

	group->free_at = vf_switch_ended_at(group) + READ_ONCE(chip->switch_ns) / 2;
	until = ns_to_ktime(group->free_at);
	while (ktime_before(ktime_get(), until)) {
		set_current_state(TASK_IDLE);
		schedule_hrtimeout(&until, HRTIMER_MODE_ABS);
	}
	__set_current_state(TASK_RUNNING);
}

static void vf_switch_apply_locked(struct vgpu_chip *chip, struct vgpu_group *group,
				   unsigned int command, struct vgpu *function)
{
	unsigned int index = group - chip->group;
	unsigned int i;

	lockdep_assert_held(&chip->sched);
	switch (command) {
	case VGPU_VF_SWITCH_CMD_SAVE:
		if (group->owner)
			vf_switch_save_locked(chip, group, &group->owner->save[index]);
		group->owner = NULL;
		break;
	case VGPU_VF_SWITCH_CMD_LOAD:
	case VGPU_VF_SWITCH_CMD_INIT:
		vf_switch_load_locked(chip, group, &function->save[index],
				      command == VGPU_VF_SWITCH_CMD_INIT);
		group->owner = function;
		break;
	case VGPU_VF_SWITCH_CMD_SHUTDOWN:
		function->save[index].saved = false;
		break;
	case VGPU_VF_SWITCH_CMD_RUN:
		group->run_at = vf_switch_ended_at(group);
		WRITE_ONCE(group->owed, atomic_read(&group->owner->save[index].busy));
		WRITE_ONCE(group->leaving, 0);
		for (i = 0; i < chip->nodes; i++)
			if (group->nodes & BIT(i))
				wake_up_all(&chip->engine[i].wait);
		break;
	}
	group->state = vgpu_vf_switch_after(group->state, command);
}

/* An injection of the function that the command is about lets it fail. */
static bool vf_switch_fails(struct vgpu_group *group, unsigned int command, struct vgpu *function)
{
	struct vgpu *gpu = function ? function : group->owner;

	return gpu && vgpu_injected(&gpu->injections, VGPU_INJECT_FAIL_WORLD) & BIT(command);
}

static bool vf_switch_is_legal(const struct vgpu_group *group, unsigned int command,
			       const struct vgpu *function, unsigned int index)
{
	bool names = command == VGPU_VF_SWITCH_CMD_LOAD || command == VGPU_VF_SWITCH_CMD_INIT ||
		     command == VGPU_VF_SWITCH_CMD_SHUTDOWN;

	if (vgpu_vf_switch_after(group->state, command) < 0 || names != !!function)
		return false;
	/* What was never saved cannot be loaded. */
	return command != VGPU_VF_SWITCH_CMD_LOAD || function->save[index].saved;
}

static int vf_switch_command(struct vgpu_chip *chip, struct vgpu_group *group, unsigned int command,
			     struct vgpu *function, unsigned int timeout_us)
{
	unsigned long flags;
	int ret;

	lockdep_assert_held(&group->lock);
	if (!vf_switch_is_legal(group, command, function, group - chip->group)) {
		group->refused++;
		return -EINVAL;
	}
	if (vf_switch_fails(group, command, function))
		return -EIO;
	if (command == VGPU_VF_SWITCH_CMD_IDLE) {
		ret = vf_switch_idle(chip, group, timeout_us);
		if (ret)
			return ret;
	}

	spin_lock_irqsave(&chip->sched, flags);
	vf_switch_apply_locked(chip, group, command, function);
	spin_unlock_irqrestore(&chip->sched, flags);
	if (command == VGPU_VF_SWITCH_CMD_SAVE || command == VGPU_VF_SWITCH_CMD_LOAD ||
	    command == VGPU_VF_SWITCH_CMD_INIT)
		vf_switch_pass_time(chip, group);
	return 0;
}

int vgpu_vf_switch_command(struct vgpu *gpu, unsigned int index, unsigned int command,
			   struct vgpu *function, unsigned int timeout_us)
{
	struct vgpu_group *group = &gpu->chip->group[index];
	int ret;

	mutex_lock(&group->lock);
	ret = vf_switch_command(gpu->chip, group, command, function, timeout_us);
	mutex_unlock(&group->lock);
	return ret;
}

void vgpu_vf_switch_due(struct vgpu *gpu, unsigned int group, u64 at)
{
	mutex_lock(&gpu->chip->group[group].lock);
	gpu->chip->group[group].free_at = at;
	mutex_unlock(&gpu->chip->group[group].lock);
}

static u64 vf_switch_read_time(struct vgpu_chip *chip, const u64 *time)
{
	unsigned long flags;
	u64 at;

	spin_lock_irqsave(&chip->sched, flags);
	at = *time;
	spin_unlock_irqrestore(&chip->sched, flags);
	return at;
}

u64 vgpu_vf_switch_stopped_at(struct vgpu *gpu, unsigned int group)
{
	return vf_switch_read_time(gpu->chip, &gpu->chip->group[group].stopped_at);
}

u64 vgpu_vf_switch_run_at(struct vgpu *gpu, unsigned int group)
{
	return vf_switch_read_time(gpu->chip, &gpu->chip->group[group].run_at);
}

void vgpu_vf_switch_attach(struct vgpu *gpu, const struct vgpu_vf_switch_ops *ops, void *host)
{
	struct vgpu_chip *chip = gpu->chip;
	unsigned long flags;

	spin_lock_irqsave(&chip->sched, flags);
	chip->vf_switch_ops = ops;
	chip->vf_switch_host = host;
	spin_unlock_irqrestore(&chip->sched, flags);
}

bool vgpu_vf_switch_is_busy(struct vgpu *gpu, unsigned int group)
{
	return atomic_read(&gpu->save[group].busy) && !READ_ONCE(gpu->resetting) &&
	       !READ_ONCE(gpu->d3);
}

/* The word changes and its message is sent in one section of the lock. */
void vgpu_vf_switch_flush(struct vgpu *gpu)
{
	unsigned long flags;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}

bool vgpu_vf_switch_was_saved(struct vgpu *gpu, unsigned int group)
{
	return READ_ONCE(gpu->save[group].saved);
}

unsigned int vgpu_vf_switch_index(const struct vgpu *gpu)
{
	return gpu->index;
}

void vgpu_vf_switch_set_switch_ns(struct vgpu *gpu, u64 ns)
{
	WRITE_ONCE(gpu->chip->switch_ns, ns);
}

void vgpu_vf_switch_query(struct vgpu *gpu, unsigned int group,
			  struct vgpu_vf_switch_counters *counters)
{
	unsigned long flags;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	counters->turned_busy = gpu->save[group].turned_busy;
	counters->turned_idle = gpu->save[group].turned_idle;
	counters->refused = gpu->chip->group[group].refused;
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}
