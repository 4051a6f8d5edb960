/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_PERFETTO_H
#define VFENCE_PERFETTO_H

#include "joins.h"

int perfetto_write(const struct events *events, const struct joins *joins, const char *path);

#endif
