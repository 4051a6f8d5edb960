// SPDX-License-Identifier: GPL-2.0-only
/*
 * GPU address spaces: a page table, and the fences at their addresses.
 */

#include <linux/align.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "vgpu_types.h"

/* The entry points to a &struct vgpu_storage instead of the memory. */
#define VM_ENTRY_STORAGE	BIT(5)
#define VM_ENTRY_MASK	(VGPU_VM_READ | VGPU_VM_WRITE | VGPU_VM_DATA | VM_ENTRY_STORAGE)

static struct lock_class_key vm_system_tlb_key;

struct vgpu_vm *vgpu_vm_create(struct vgpu *gpu, struct vgpu_account *account)
{
	struct vgpu_vm *vm = vfence_leak_check_alloc(HW_VM, sizeof(*vm));

	if (!vm)
		return ERR_PTR(-ENOMEM);
	vm->gpu = gpu;
	vm->account = account;
	rwlock_init(&vm->tlb);
	/* Only the CMP takes the lock of the system process, and inside vgpu_cmp.lock. */
	if (!gpu->system_vm)
		lockdep_set_class(&vm->tlb, &vm_system_tlb_key);
	xa_init_flags(&vm->pages, XA_FLAGS_ACCOUNT);
	xa_init_flags(&vm->slots, XA_FLAGS_ACCOUNT);

	return vm;
}

/*
 * Engines look up entries under the read lock. After an entry is removed and the lock was
 * held for writing, no engine uses the entry.
 */
static void vm_flush_tlb(struct vgpu_vm *vm)
{
	unsigned long flags;

	/* Disable interrupts: the CMP takes the lock of the system process in its irqsave lock. */
	write_lock_irqsave(&vm->tlb, flags);
	vm->flushes++;
	write_unlock_irqrestore(&vm->tlb, flags);
}

void vgpu_vm_destroy(struct vgpu_vm *vm)
{
	vm_flush_tlb(vm);
	xa_destroy(&vm->pages);
	xa_destroy(&vm->slots);
	vfence_leak_check_free(HW_VM, vm);
}

void vgpu_vm_unmap(struct vgpu_vm *vm, u64 va, u64 size)
{
	u64 end = va + size;

	for (; va < end; va += PAGE_SIZE) {
		xa_erase(&vm->pages, va >> PAGE_SHIFT);
		cond_resched();
	}
	vm_flush_tlb(vm);
}

int vgpu_vm_map(struct vgpu_vm *vm, u64 va, void *kva, u64 size, unsigned int flags)
{
	u64 done;
	int ret;

	for (done = 0; done < size; done += PAGE_SIZE) {
		void *entry = (void *)((unsigned long)(kva + done) | flags);

		ret = xa_err(xa_store(&vm->pages, (va + done) >> PAGE_SHIFT, entry,
				      GFP_KERNEL_ACCOUNT));
		if (ret) {
			vgpu_vm_unmap(vm, va, done);
			return ret;
		}
		cond_resched();
	}

	return 0;
}

int vgpu_vm_map_storage(struct vgpu_vm *vm, u64 va, struct vgpu_storage *storage,
			unsigned int flags)
{
	void *entry = (void *)((unsigned long)storage | flags | VM_ENTRY_STORAGE);

	return xa_err(xa_store(&vm->pages, va >> PAGE_SHIFT, entry, GFP_KERNEL_ACCOUNT));
}

static void *vm_entry_address(unsigned long entry)
{
	struct vgpu_storage *storage = (void *)(entry & ~(unsigned long)VM_ENTRY_MASK);

	return entry & VM_ENTRY_STORAGE ? READ_ONCE(storage->kva) : (void *)storage;
}

/* Translate @va if its page has the rights @need. The caller holds vm->tlb. */
enum drm_vfence_fault vgpu_vm_translate(struct vgpu_vm *vm, u64 va, unsigned int need,
					void **kva)
{
	unsigned long entry;

	if (va >= DRM_VFENCE_VA_LIMIT)
		return DRM_VFENCE_FAULT_UNMAPPED;
	entry = (unsigned long)xa_load(&vm->pages, va >> PAGE_SHIFT);
	if (!entry)
		return DRM_VFENCE_FAULT_UNMAPPED;
	if ((entry & need) != need)
		return DRM_VFENCE_FAULT_ACCESS;
	*kva = vm_entry_address(entry) + offset_in_page(va);
	return DRM_VFENCE_FAULT_NONE;
}

/* Slots are a stride apart, which is a power of two: without gaps the array takes less memory. */
static unsigned long vm_slot_index(const struct vgpu_vm *vm, u64 current_va)
{
	return current_va >> ilog2(vm->gpu->config.fence_caps.stride);
}

/* Find the fence whose current value is at @current_va. The caller holds vm->tlb. */
struct vgpu_slot *vgpu_vm_slot(struct vgpu_vm *vm, u64 current_va)
{
	if (current_va >= DRM_VFENCE_VA_LIMIT ||
	    !IS_ALIGNED(current_va, vm->gpu->config.fence_caps.stride))
		return NULL;
	return xa_load(&vm->slots, vm_slot_index(vm, current_va));
}

static void vm_add_rights(struct vgpu_slot *slot, u32 rights, int n)
{
	slot->opens += n;
	if (rights & DRM_VFENCE_RIGHT_WAIT)
		WRITE_ONCE(slot->waits, slot->waits + n);
	if (rights & DRM_VFENCE_RIGHT_SIGNAL)
		WRITE_ONCE(slot->signals, slot->signals + n);
}

int vgpu_vm_open_fence(struct vgpu_vm *vm, const struct vgpu_open_args *args)
{
	unsigned long index = vm_slot_index(vm, args->current_va);
	struct vgpu_slot *slot = xa_load(&vm->slots, index);
	int ret;

	if (slot) {
		vm_add_rights(slot, args->rights, 1);
		return 0;
	}

	slot = vfence_leak_check_alloc(HW_SLOT, sizeof(*slot));
	if (!slot)
		return -ENOMEM;

	slot->fence = args->fence;
	slot->word = args->word;
	slot->os_handle = args->os_handle;
	INIT_LIST_HEAD(&slot->written);
	slot->monitored_va = args->monitored_va;
	vm_add_rights(slot, args->rights, 1);
	ret = xa_err(xa_store(&vm->slots, index, slot, GFP_KERNEL_ACCOUNT));
	if (ret)
		vfence_leak_check_free(HW_SLOT, slot);
	return ret;
}

void vgpu_vm_close_fence(struct vgpu_vm *vm, u64 current_va, u32 rights)
{
	struct vgpu_slot *slot = xa_load(&vm->slots, vm_slot_index(vm, current_va));

	vm_add_rights(slot, rights, -1);
	if (!slot->opens)
		xa_erase(&vm->slots, vm_slot_index(vm, current_va));
	vm_flush_tlb(vm);
	if (!slot->opens) {
		vgpu_word_unlist_written(vm->gpu, slot);
		vfence_leak_check_free(HW_SLOT, slot);
	}
}
