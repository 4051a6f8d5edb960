/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_CARD_H
#define VFENCE_CARD_H

#include <sys/types.h>

#include "vfence.h"

/* The nodes of an adapter in /dev/dri: renderD<n> and card<number>. */
struct card {
	unsigned int number;
	dev_t render, primary;
};

int card_find(struct vf_adapter *adapter, struct card *card);

#endif
