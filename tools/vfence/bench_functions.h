/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BENCH_FUNCTIONS_H
#define BENCH_FUNCTIONS_H

#include "simulate.h"

/* One row: a workload under a policy, measured and modelled. */
struct comparison {
	char name[48];
	struct simulation sim;
	struct outcome measured, model;
};

/* Run a simulation on the functions of an adapter. Return: 0 or a negative errno. */
int bench_functions_run(unsigned int adapter, const struct simulation *sim,
			struct outcome *out);

#endif
