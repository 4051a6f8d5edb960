/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_USER_ARRAY_H_
#define _VFENCE_USER_ARRAY_H_

#include <linux/errno.h>
#include <linux/types.h>
#include <linux/uaccess.h>

struct drm_vfence_obj_array;

/*
 * Copy @size bytes, whole words, from user memory one by one: for a few words the checks of
 * copy_from_user() take longer. Return 0 or -EFAULT.
 */
static __always_inline int vfence_user_array_copy_words(void *to, const void __user *from,
							size_t size)
{
	const u64 __user *word = from;
	u64 *copy = to;

	if (!user_read_access_begin(from, size))
		return -EFAULT;
	for (; size; size -= sizeof(u64))
		unsafe_get_user(*copy++, word++, fault);
	user_read_access_end();
	return 0;

fault:
	user_read_access_end();
	return -EFAULT;
}

bool vfence_user_array_stride_valid(u32 stride);
void *vfence_user_array_get(const struct drm_vfence_obj_array *in, size_t size, u32 max, void *room,
			    size_t room_size);
void vfence_user_array_free(void *array, const void *room);
int vfence_user_array_put(const struct drm_vfence_obj_array *out, u32 index, const void *obj,
			  size_t size);

#endif
