/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_TOOL_H
#define VFENCE_TOOL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "vfence.h"

/* Numbers of adapters are below: 16 adapters and 16 virtual functions of each. */
#define ADAPTER_NUMBERS	272

/* The options of the command line. */
struct options {
	unsigned int adapter;
	unsigned int frames;
	const char *output;
	/* hang: names, or NULL, and seconds. */
	const char *node;
	const char *kind;
	unsigned int after;
	/* dump: let the kernel take the next one. */
	bool release;
	/* bench peers: the clock is that of the host. */
	bool wall;
	/* bench functions: number of configurations at random, or 0. */
	unsigned int random;
	/* functions: name of a policy, or NULL; and seconds to print what each has. */
	const char *policy;
	unsigned int watch;
	/* run, shrink: a trace of it must obey the rules. */
	bool check;
	/* top: print one table. */
	bool once;
	/* bench functions, simulate: part of the names of the rows, or NULL. */
	const char *row;
	/* compare: file with the figures of before, or NULL. */
	const char *kept;
	/* trace: a recorded trace, or NULL. */
	const char *input;
	/* trace: part of the titles of the sections to draw, or NULL. */
	const char *section;
	/* gap, compare, check: the files; trace: the words of the command. */
	char **files;
	unsigned int file_count;
	bool json;
};

/* Say why a command fails, and what to do about it. Return the error. */
static inline int tool_fail(const char *command, int error)
{
	const char *hint = "";

	if (error == -ENODEV)
		hint = "; vfence info shows the adapters that are there";
	else if (error == -EACCES)
		hint = "; the counters of the adapter are for root";
	else if (error == -ENOENT)
		hint = "; the counters of the adapter need debugfs: mount it on /sys/kernel/debug";
	fprintf(stderr, "vfence: %s: %s%s\n", command, strerror(-error), hint);
	return error;
}

int info_main(const struct options *options);
int demo_main(const struct options *options);
int demo_hang_main(const struct options *options);
int bench_main(const struct options *options);
int bench_fences_main(const struct options *options);
int bench_peers_main(const struct options *options);
int bench_growth_main(const struct options *options);
int bench_memory_main(const struct options *options);
int compare_main(const struct options *options);
int bench_functions_main(const struct options *options);
int functions_main(const struct options *options);
int gap_main(const struct options *options);
int simulate_main(const struct options *options);
int hang_main(const struct options *options);
int dump_main(const struct options *options);
int top_main(const struct options *options);
int trace_main(const struct options *options);
int check_main(const struct options *options);
int run_main(const struct options *options);
int shrink_main(const struct options *options);

#endif
