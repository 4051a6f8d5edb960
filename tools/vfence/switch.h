/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_SWITCH_H
#define VFENCE_SWITCH_H

#include <stddef.h>

#include "vfence.h"

int switch_write(const char *path, const char *text);
int switch_read(const char *path, char *text, size_t size);
int switch_set(struct vf_adapter *adapter, const char *name, const char *text);
int switch_get(struct vf_adapter *adapter, const char *name, char *text, size_t size);

#endif
