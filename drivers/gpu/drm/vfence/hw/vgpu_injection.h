/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VGPU_INJECTION_H
#define VGPU_INJECTION_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/types.h>

struct vgpu;

/**
 * DOC: Injection
 *
 * Hardware fails rarely, and never when a test waits for it. So a test, or ``vfence hang``, injects
 * what the virtual GPU does wrong. Each injection is a number, 0 by default. There are three kinds:
 * one that lasts until it is 0 again, which for some a reset of the GPU does, one that is taken so
 * many times, and a mask.
 *
 * A kernel without CONFIG_DRM_VFENCE_INJECTION has none of this.
 */

/* What can be injected; the table in vgpu_injection.c has names and texts. */
enum vgpu_injection {
	VGPU_INJECT_FAIL_MONITORED_UPDATE,
	VGPU_INJECT_FAIL_CURRENT_UPDATE,
	VGPU_INJECT_WRONG_FENCE,
	VGPU_INJECT_LOSE_INTERRUPT,
	VGPU_INJECT_HOLD_POSTS,
	VGPU_INJECT_STOP_CMP,
	VGPU_INJECT_NOTIFY_WORK,
	VGPU_INJECT_LOSE_SUSPEND,
	VGPU_INJECT_WRONG_SUSPEND,
	VGPU_INJECT_IGNORE_SUSPEND,
	VGPU_INJECT_IGNORE_LIMIT,
	VGPU_INJECT_HANG_COPIES,
	VGPU_INJECT_HANG_PAGING,
	VGPU_INJECT_END_HANGS,
	VGPU_INJECT_STOP_ENGINES,
	VGPU_INJECT_PAGE_FAULT_FLAGS,
	VGPU_INJECT_FINISH_BEFORE_SNAPSHOT,
	VGPU_INJECT_FINISH_BEFORE_RESET,
	VGPU_INJECT_INTERRUPT_AFTER_RESET,
	VGPU_INJECT_WRONG_LAST_ABORTED,
	VGPU_INJECT_WRONG_DEPENDENTS,
	VGPU_INJECT_FAIL_ENGINE_RESET,
	VGPU_INJECT_FAIL_ENGINE_RESUME,
	VGPU_INJECT_SURVIVE_RESET,
	VGPU_INJECT_SLOW_RESET,
	VGPU_INJECT_FAIL_ADAPTER_RESET,
	VGPU_INJECT_FAIL_RESTART,
	VGPU_INJECT_FAIL_WORLD,
	VGPU_INJECT_LOSE_BUSY,
	VGPU_INJECT_HOLD_EDGE,
	VGPU_INJECTIONS,
};

/**
 * struct vgpu_injections - the injections of a function
 */
struct vgpu_injections {
#if IS_ENABLED(CONFIG_DRM_VFENCE_INJECTION)
	/** @value: By &enum vgpu_injection; tests and the virtual GPU write it. */
	u32 value[VGPU_INJECTIONS];
#endif
};

#if IS_ENABLED(CONFIG_DRM_VFENCE_INJECTION)
/** vgpu_injected - return the value of an injection; 0 is none. Any context. */
static inline u32 vgpu_injected(const struct vgpu_injections *injections, enum vgpu_injection id)
{
	return READ_ONCE(injections->value[id]);
}

/** vgpu_injection_set - change an injection. Any context. */
static inline void vgpu_injection_set(struct vgpu_injections *injections, enum vgpu_injection id,
				      u32 value)
{
	WRITE_ONCE(injections->value[id], value);
}

/**
 * vgpu_injection_take - take an injection once, if it is there; a test may write it meanwhile
 * @injections: those of the function
 * @id: the injection
 *
 * Any context. Inline, because a call would cost its callers a stack frame also without injection.
 */
static inline bool vgpu_injection_take(struct vgpu_injections *injections, enum vgpu_injection id)
{
	u32 *value = &injections->value[id], left = READ_ONCE(*value);

	while (unlikely(left))
		if (try_cmpxchg(value, &left, left - 1))
			return true;
	return false;
}

struct vgpu_injections *vgpu_injections_of(struct vgpu *gpu);
const char *vgpu_injection_name(enum vgpu_injection id);
const char *vgpu_injection_text(enum vgpu_injection id);
#else
static inline u32 vgpu_injected(const struct vgpu_injections *injections, enum vgpu_injection id)
{
	return 0;
}

static inline void vgpu_injection_set(struct vgpu_injections *injections, enum vgpu_injection id,
				      u32 value)
{
}

static inline bool vgpu_injection_take(struct vgpu_injections *injections, enum vgpu_injection id)
{
	return false;
}
#endif

#endif
