// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words of monitored fences: values in memory that packets of kernel-mode queues store, and the
 * CPU. No record names what a packet has stored, and the CPU may store a lower value before the
 * driver has looked. So the GPU keeps the highest value that packets have stored, until the driver
 * takes it, and says which words were written.
 *
 * One lock makes one step of a store and of what is noted about it. A thread that has seen a value
 * therefore finds it noted, and a thread that has not seen it does not: whether a value was stored
 * before a rewind or after it has one answer. Two atomics in any order leave a window for a thread
 * that is stopped between them.
 */

#include <linux/err.h>
#include <linux/slab.h>

#include "vgpu_types.h"

struct vgpu_word *vgpu_word_create(bool is_32bit)
{
	struct vgpu_word *word = vfence_leak_check_alloc(HW_WORD, sizeof(*word));

	if (!word)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&word->lock);
	word->is_32bit = is_32bit;
	return word;
}

void vgpu_word_destroy(struct vgpu_word *word)
{
	vfence_leak_check_free(HW_WORD, word);
}

/* Values of 32 bits wrap. */
static bool word_is_less(const struct vgpu_word *word, u64 a, u64 b)
{
	return word->is_32bit ? (s32)((u32)a - (u32)b) < 0 : a < b;
}

static void word_store_locked(struct vgpu_word *word, void *slot, u64 value)
{
	u64 before = word->is_32bit ? READ_ONCE(*(u32 *)slot) : READ_ONCE(*(u64 *)slot);

	lockdep_assert_held(&word->lock);
	/* Before the store: a reader that sees the value sees the count. */
	if (word_is_less(word, value, before))
		atomic64_inc(&word->rewinds);
	if (word->is_32bit)
		/* Release: the effects of the signaller. Partner: vfence_fence_current(). */
		smp_store_release((u32 *)slot, (u32)value);
	else
		/* Release: as above. */
		smp_store_release((u64 *)slot, value);
}

/** vgpu_word_signal - a packet stores a value: note it for vgpu_word_take() */
void vgpu_word_signal(struct vgpu *gpu, struct vgpu_word *word, void *slot, u64 value)
{
	struct vgpu_missed *noted = &word->noted;
	unsigned long flags;

	spin_lock_irqsave(&word->lock, flags);
	word_store_locked(word, slot, value);
	if (!word->signaled || word_is_less(word, noted->value, value))
		noted->value = value;
	noted->time = vgpu_clock_now(gpu);
	word->signaled = true;
	spin_unlock_irqrestore(&word->lock, flags);
}

/*
 * Note for vgpu_word_next_written() that a packet has stored the word of a slot: after the store,
 * and before the interrupt. A word may have slots on several GPUs. Each of them says what it has
 * written.
 */
void vgpu_word_list_written(struct vgpu *gpu, struct vgpu_slot *slot)
{
	unsigned long flags;

	spin_lock_irqsave(&gpu->written_lock, flags);
	if (list_empty(&slot->written))
		list_add_tail(&slot->written, &gpu->written);
	spin_unlock_irqrestore(&gpu->written_lock, flags);
}

/* The slot is about to be freed, and no engine finds it any more. */
void vgpu_word_unlist_written(struct vgpu *gpu, struct vgpu_slot *slot)
{
	unsigned long flags;

	spin_lock_irqsave(&gpu->written_lock, flags);
	list_del_init(&slot->written);
	spin_unlock_irqrestore(&gpu->written_lock, flags);
}

bool vgpu_word_next_written(struct vgpu *gpu, u32 *handle)
{
	struct vgpu_slot *slot;
	unsigned long flags;

	spin_lock_irqsave(&gpu->written_lock, flags);
	slot = list_first_entry_or_null(&gpu->written, struct vgpu_slot, written);
	if (slot) {
		*handle = slot->os_handle;
		list_del_init(&slot->written);
	}
	spin_unlock_irqrestore(&gpu->written_lock, flags);
	return slot;
}

void vgpu_word_store(struct vgpu_word *word, void *slot, u64 value)
{
	unsigned long flags;

	spin_lock_irqsave(&word->lock, flags);
	word_store_locked(word, slot, value);
	spin_unlock_irqrestore(&word->lock, flags);
}

bool vgpu_word_take(struct vgpu_word *word, struct vgpu_missed *missed)
{
	unsigned long flags;
	bool signaled;

	spin_lock_irqsave(&word->lock, flags);
	signaled = word->signaled;
	if (signaled)
		*missed = word->noted;
	word->signaled = false;
	spin_unlock_irqrestore(&word->lock, flags);
	return signaled;
}

u64 vgpu_word_rewinds(struct vgpu_word *word)
{
	return atomic64_read(&word->rewinds);
}
