/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parameters that each adapter has: name, type (uint, ulong or bool), default, member of struct
 * vfence_config, and text for users. The module has a parameter of each name, and a folder of configfs
 * a file. To include this list, define VFENCE_PARAM() for its rows before, each time anew.
 */

VFENCE_PARAM(vfs, uint, 0, vfs,
	     "virtual functions, 0 to 16, as sriov_numvfs sets them at run time (default 0)")
VFENCE_PARAM(user_nodes, uint, 0xf, user_nodes,
	     "mask of nodes with user-mode submission (default 0xf)")
VFENCE_PARAM(doorbells, uint, 16, gpu.doorbells,
	     "physical doorbells, 1 to 64 (default 16)")
VFENCE_PARAM(secondary_doorbells, bool, true, gpu.secondary_doorbells,
	     "doorbells have a second address (default on)")
VFENCE_PARAM(irq_records, uint, VGPU_IRQ_RECORDS, gpu.irq_records,
	     "usable interrupt records, 0 to 64; 0: every interrupt scans (default 64)")
VFENCE_PARAM(irq_form, uint, VGPU_IRQ_FORM_ARRAY, gpu.irq_form,
	     "interrupt records name 0 the fences, 1 the queue, 2 nothing (default 0)")
VFENCE_PARAM(f1_idle_us, uint, 0, gpu.f1_idle_us,
	     "microseconds after which an idle engine asks for F1 (default 0: never)")
VFENCE_PARAM(hung_us, uint, 0, gpu.hung_us,
	     "microseconds without progress after which an engine is reset (default 0: never)")
VFENCE_PARAM(preempt_us, uint, 100000, gpu.preempt_us,
	     "microseconds for which a queue that cannot stop may keep other clients off its engine (default 100000; 0: for ever)")
VFENCE_PARAM(cpu_percent, uint, 25, gpu.cpu_percent,
	     "percent of a processor that its engines may use together, 1 to 90 (default 25)")
VFENCE_PARAM(user_memory_mib, uint, 128, user_memory_mib,
	     "MiB of kernel memory for the fences, submissions and buffers of one user, 1 to 65536 (default 128)")
VFENCE_PARAM(dependent_nodes, uint, 0, gpu.dependent_nodes,
	     "mask of nodes of which one cannot be reset without the others (default 0: each alone)")
VFENCE_PARAM(native_fence, bool, true, native_fence,
	     "the operating system's switch of the native fence feature (default on)")
VFENCE_PARAM(native_fence_min, uint, 0, native_fence_versions.min,
	     "with native_fence_max: narrow the versions offered, 1 to 3 (default 0: all)")
VFENCE_PARAM(native_fence_max, uint, 0, native_fence_versions.max,
	     "see native_fence_min")
VFENCE_PARAM(user_mode_submission, bool, true, user_mode_submission,
	     "the operating system's switch of user-mode submission (default on)")
VFENCE_PARAM(allow_experimental, bool, false, allow_experimental,
	     "experimental support of the GPU counts as support (default off)")
VFENCE_PARAM(gpu_native_fence, uint, VGPU_NATIVE_FENCE_FULL, gpu.native_fence,
	     "the GPU's native fences: 0 none, 1 full, 2 experimental, 3 not on this configuration, 4 advertised without asking (default 1)")
VFENCE_PARAM(monitored_signal, uint, VGPU_MONITORED_SIGNAL_BASIC, gpu.monitored_signal,
	     "engines can 0 not write monitored fences, 1 write them, 2 and interrupt for it (default 1)")
VFENCE_PARAM(no_64bit_atomics, bool, false, gpu.no_64bit_atomics,
	     "the GPU writes 32 bits at once: no native fences, 32-bit monitored ones (default off)")
VFENCE_PARAM(optimized_fences, bool, false, optimized_fences,
	     "monitored values may be in video memory (default off)")
VFENCE_PARAM(intra_gpu_fences, bool, true, intra_gpu_fences,
	     "fences of type INTRA_GPU (default on)")
VFENCE_PARAM(local_pages, uint, 256, gpu.local_pages,
	     "pages of video memory, 0 to 65536 (default 256)")
VFENCE_PARAM(visible_pages, uint, 64, gpu.visible_pages,
	     "pages of video memory that the CPU can see, at most local_pages (default 64)")
VFENCE_PARAM(fence_stride, uint, 64, gpu.fence_caps.stride,
	     "bytes between fences in one page, a power of two from 16 to 4096 (default 64)")
VFENCE_PARAM(map_to_system, bool, false, gpu.fence_caps.map_to_system,
	     "the GPU wants fence values mapped for its system process (default off)")
VFENCE_PARAM(fence_min_va, ulong, 0, gpu.fence_caps.minimum_address,
	     "lowest GPU address of fence pages (default 0: no bound)")
VFENCE_PARAM(fence_max_va, ulong, 0, gpu.fence_caps.maximum_address,
	     "first GPU address above fence pages (default 0: no bound)")

#undef VFENCE_PARAM
