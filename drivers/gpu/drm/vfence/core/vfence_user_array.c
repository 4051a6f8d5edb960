// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrays of structures in user memory: all copies to and from them are made here, except that of
 * a single point in vfence_points_resolve().
 */

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "core/vfence_user_array.h"
#include "drm/vfence_drm.h"

/* Arrays of at most so many words are short. */
#define USER_ARRAY_WORDS	8

/** vfence_user_array_stride_valid - check a stride; one below the size of an element is legal */
bool vfence_user_array_stride_valid(u32 stride)
{
	return stride && stride % 8 == 0 && stride <= DRM_VFENCE_MAX_STRIDE;
}

static int user_array_copy(void *to, const void __user *from, size_t size)
{
	if (size > USER_ARRAY_WORDS * sizeof(u64) || size % sizeof(u64))
		return copy_from_user(to, from, size) ? -EFAULT : 0;
	return vfence_user_array_copy_words(to, from, size);
}

/**
 * vfence_user_array_get - copy an array from user memory
 * @in: the client's description; its count is not 0
 * @size: the driver's size of an element in bytes
 * @max: maximum number of elements
 * @room: room of the caller for a short array, or NULL
 * @room_size: its size in bytes
 *
 * The client may be older than the driver: members behind a shorter element are zero. It may
 * be newer: the rest of a longer element must be zero.
 *
 * Return: the array, to be freed with vfence_user_array_free(), without @room also with kvfree(),
 * or an ERR_PTR: -EINVAL, -EFAULT, -ENOMEM, or -E2BIG if a byte behind the first @size bytes of an
 * element is not zero.
 */
void *vfence_user_array_get(const struct drm_vfence_obj_array *in, size_t size, u32 max, void *room,
			    size_t room_size)
{
	void *array = room;
	int ret = 0;
	u32 i;

	if (in->count > max || !vfence_user_array_stride_valid(in->stride))
		return ERR_PTR(-EINVAL);
	if (size * in->count > room_size)
		array = kvmalloc_array(in->count, size, GFP_KERNEL_ACCOUNT);
	if (!array)
		return ERR_PTR(-ENOMEM);

	if (in->stride == size) {
		ret = user_array_copy(array, u64_to_user_ptr(in->array), size * in->count);
	} else {
		for (i = 0; !ret && i < in->count; i++)
			ret = copy_struct_from_user(array + i * size, size,
						    u64_to_user_ptr(in->array +
								    (u64)i * in->stride),
						    in->stride);
	}

	if (ret) {
		vfence_user_array_free(array, room);
		return ERR_PTR(ret);
	}
	return array;
}

/** vfence_user_array_free - free an array from vfence_user_array_get() with the same @room */
void vfence_user_array_free(void *array, const void *room)
{
	if (array != room)
		kvfree(array);
}

/**
 * vfence_user_array_put - copy one element to an array in user memory
 * @out: the client's description, checked by the caller
 * @index: index of the element
 * @obj: the element
 * @size: size of the element in bytes; a client with a shorter one gets its beginning
 *
 * Return: 0 or -EFAULT.
 */
int vfence_user_array_put(const struct drm_vfence_obj_array *out, u32 index, const void *obj,
			  size_t size)
{
	void __user *to = u64_to_user_ptr(out->array + (u64)index * out->stride);

	if (copy_to_user(to, obj, min_t(size_t, size, out->stride)))
		return -EFAULT;
	if (out->stride > size && clear_user(to + size, out->stride - size))
		return -EFAULT;
	return 0;
}
