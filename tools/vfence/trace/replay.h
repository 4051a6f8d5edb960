/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_REPLAY_H
#define VFENCE_REPLAY_H

#include "events.h"
#include "joins.h"

int replay_write(const struct events *events, const struct joins *joins, const char *path);

#endif
