/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BENCH_FUNCTIONS_H
#define BENCH_FUNCTIONS_H

#include "simulate.h"

/* A command of a world switch that the engines have done. */
struct world_event {
	/* in ns since the first frames */
	int64_t at;
	/* enum vgpu_vf_switch_command */
	unsigned int command;
	/* 0 is the physical function */
	unsigned int function;
};

/* What happened in a run, for the picture. Times are in ns since the first frames. */
struct recording {
	/* the time of the first frames, of CLOCK_MONOTONIC */
	int64_t begin;
	/* of each function: when each frame was submitted, and when the GPU had done it */
	uint64_t *submitted[16], *done[16];
	unsigned int frames[16];
	/* commands of the group of graphics engines, if the run was traced */
	struct world_event *event;
	unsigned int events;
};

/* One row: a workload under a policy, measured and modelled. */
struct comparison {
	char name[48];
	struct simulation sim;
	struct outcome measured, model;
	/* the run that was measured, and a shorter one that was traced */
	struct recording recording, traced;
};

/*
 * Run a simulation on the functions of an adapter. @recording: gets the frames; or NULL. Return: 0 or a
 * negative errno.
 */
int bench_functions_run(unsigned int adapter, const struct simulation *sim, struct outcome *out,
			struct recording *recording);

/* Trace the commands of world switches. Return: true if that works; then call recording_stop(). */
bool recording_start(void);
/* Add them to a recording, which has the frames already. Return: 0 or -EIO. */
int recording_stop(struct recording *r, unsigned int adapter);
void recording_forget(struct recording *r);

/* Return: true if the picture has a time line of the row. */
bool bench_functions_svg_lines(const struct comparison *row);
/* Return: 0 or a negative errno. */
int bench_functions_svg(const struct comparison *rows, unsigned int count, const char *path);

#endif
