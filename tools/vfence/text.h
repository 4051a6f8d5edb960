/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_TEXT_H
#define VFENCE_TEXT_H

#include <stddef.h>
#include <stdint.h>

void text_clean(char *to, size_t size, const char *from);
/* Numbers below this one can be states of a device. */
#define TEXT_DEVICE_STATES	8

const char *text_node_class(uint32_t class_id);
const char *text_device_state(uint32_t state);

#endif
