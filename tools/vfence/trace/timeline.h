/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_TIMELINE_H
#define VFENCE_TIMELINE_H

#include "joins.h"

int timeline_write_svg(const struct events *events, const struct joins *joins, const char *path,
		       const char *section);
int timeline_write_window(const struct events *events, const struct joins *joins, const char *path,
			  uint64_t from, uint64_t until, const char *title);
int timeline_write_html(const struct events *events, const struct joins *joins, const char *path);

#endif
