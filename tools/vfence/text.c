// SPDX-License-Identifier: GPL-2.0-only
/* Texts that others have written, and names that several commands print. */

#include <string.h>

#include "text.h"
#include "vfence.h"

/*
 * Return: the number of bytes of the character at @c, or 0 if it is none of XML and of JSON: not
 * UTF-8, a control character, a surrogate, or no character at all.
 */
static size_t text_length(const unsigned char *c)
{
	static const uint32_t least[] = { 0, 0x20, 0x80, 0x800, 0x10000 };
	size_t length = *c < 0x80 ? 1 : *c >= 0xc0 && *c < 0xe0 ? 2 : *c >= 0xe0 && *c < 0xf0 ? 3 :
			*c >= 0xf0 && *c < 0xf8 ? 4 : 0, i;
	uint32_t code = length > 1 ? *c & (0x7f >> length) : *c;

	for (i = 1; i < length; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (c[i] & 0x3f);
	}
	if (!length || code < least[length] || code == 0x7f || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000) || (code & 0xfffe) == 0xfffe)
		return 0;
	return length;
}

/*
 * Copy a text that a client may have chosen, such as the name of a thread. Bytes that
 * are no character become spaces, and a character that does not fit is left out.
 */
void text_clean(char *to, size_t size, const char *from)
{
	size_t length;

	while (*from) {
		length = text_length((const unsigned char *)from);
		if ((length ? length : 1) >= size)
			break;
		if (length)
			memcpy(to, from, length);
		else
			*to = ' ';
		length = length ? length : 1;
		to += length;
		from += length;
		size -= length;
	}
	*to = 0;
}

/* Return: the name of a class of engines, enum drm_vfence_node_class. */
const char *text_node_class(uint32_t class_id)
{
	static const char *const names[] = { "GFX", "COMPUTE", "COPY", "MM", "PAGING" };

	return class_id < sizeof(names) / sizeof(names[0]) ? names[class_id] : "?";
}

/* Return: the name of a state of a device, enum drm_vfence_device_state. */
const char *text_device_state(uint32_t state)
{
	static const char *const names[TEXT_DEVICE_STATES] = {
		[DRM_VFENCE_DEVICE_ACTIVE] = "ACTIVE", [DRM_VFENCE_DEVICE_RESET] = "RESET",
		[DRM_VFENCE_DEVICE_HUNG] = "HUNG", [DRM_VFENCE_DEVICE_STOPPED] = "STOPPED",
		[DRM_VFENCE_DEVICE_ERROR_DMAFAULT] = "ERROR_DMAFAULT",
		[DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT] = "ERROR_DMAPAGEFAULT",
	};

	return state < TEXT_DEVICE_STATES && names[state] ? names[state] : "?";
}
