/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_VIEW_H
#define VFENCE_VIEW_H

#include "sample.h"

void view_text(const struct sample *before, const struct sample *now, FILE *to);
void view_json(const struct sample *before, const struct sample *now, FILE *to);

#endif
