/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_SWITCH_H
#define VFENCE_SWITCH_H

#include <stddef.h>
#include <stdint.h>

#include "vfence.h"

int switch_write(const char *path, const char *text);
int switch_read(const char *path, char *text, size_t size);
int switch_inject(struct vf_adapter *adapter, const char *name, const char *value);
int switch_injected(struct vf_adapter *adapter, const char *name, uint32_t *value);

#endif
