/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_TOOL_H
#define VFENCE_TOOL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "vfence.h"

/* The options of the command line. */
struct options {
	unsigned int adapter;
	unsigned int frames;
	const char *output;
	bool json;
};

int info_main(const struct options *options);
int demo_main(const struct options *options);
int bench_main(const struct options *options);
int bench_fences_main(const struct options *options);

#endif
