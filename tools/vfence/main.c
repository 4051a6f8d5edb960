// SPDX-License-Identifier: GPL-2.0-only
/* The vfence command: options and subcommands. */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* The topic of a command that works on files, and needs no adapter. */
static const char on_files[] = "FILE...";

static const struct command {
	const char *name;
	/* The word that follows the name, or NULL. */
	const char *topic;
	int (*run)(const struct options *options);
	const char *help;
} commands[] = {
	{ "info", NULL, info_main, "adapters, engines, capabilities, counters" },
	{ "demo", NULL, demo_main, "two processes, two engines, native fences, one picture" },
	{ "demo", "hang", demo_hang_main, "an engine hangs; what others do meanwhile, one picture" },
	{ "bench", NULL, bench_main, "interrupts that signals cost, by the number of waiters" },
	{ "bench", "fences", bench_fences_main, "native and monitored fences side by side" },
	{ "bench", "peers", bench_peers_main, "operations beside drm_syncobj, ntsync, eventfd, futex" },
	{ "bench", "growth", bench_growth_main, "submissions and signals beside others" },
	{ "bench", "memory", bench_memory_main, "bytes of the kernel that objects take" },
	{ "compare", on_files, compare_main, "what bench peers has measured, as a table" },
	{ "bench", "functions", bench_functions_main,
	  "virtual functions under each policy, measured and modelled" },
	{ "simulate", NULL, simulate_main, "the same, modelled only, without an adapter" },
	{ "functions", NULL, functions_main, "virtual functions, and what each has had" },
	{ "gap", on_files, gap_main, "score how unevenly functions get their frames" },
	{ "hang", NULL, hang_main, "let an engine hang, to test what others do then" },
	{ "dump", NULL, dump_main, "what the first engine did that hung, packets decoded" },
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *to)
{
	size_t i;

	fputs("usage: vfence COMMAND [options]\n\ncommands:\n", to);
	for (i = 0; i < N_COMMANDS; i++)
		fprintf(to, "  %-10s%-10s%s\n", commands[i].name,
			commands[i].topic ? commands[i].topic : "", commands[i].help);
	fputs("\noptions:\n"
	      "  -a, --adapter N    adapter number (default 0; info: all)\n"
	      "  -n, --frames N     demo: frames of each act, 20 to 1000\n"
	      "  -o, --output DIR   demo: write timeline.svg, timeline.json, summary.txt;\n"
	      "                     demo hang: hang.svg; bench fences: fences.svg, fences.json;\n"
	      "                     bench functions: functions.svg; compare: bench.svg, bench.json\n"
	      "  -N, --node NODE    hang: gfx (default), compute, copy or mm\n"
	      "  -k, --kind KIND    hang: submission (default) or another, see vfence(1)\n"
	      "  -t, --after S      hang: seconds to wait before, 0 to 3600 (default 0)\n"
	      "  -r, --release      dump: keep it no longer, so that the next hang has one\n"
	      "  -p, --policy NAME  functions: share the engines by another policy\n"
	      "  -W, --watch S      functions: print what each has in each of S seconds, 1 to 86400\n"
	      "  -R, --random N     bench functions, simulate: N configurations at random, 1 to 128\n"
	      "  -w, --row TEXT     bench functions, simulate: only rows with TEXT in their names;\n"
	      "                     bench peers: only vfence in the row TEXT\n"
	      "  -l, --wall         bench peers: only what has peers, on the clock of the host\n"
	      "  -K, --kept FILE    compare: has anything become slower than it was\n"
	      "  -j, --json         info, demo, bench, bench memory, gap: print JSON\n"
	      "  -h, --help         this text\n", to);
}

static bool is_meant(const struct command *command, char **words, int count)
{
	if (strcmp(words[0], command->name))
		return false;
	if (command->topic == on_files)
		return true;
	if (count != (command->topic ? 2 : 1))
		return false;
	return !command->topic || !strcmp(words[1], command->topic);
}

static bool number(const char *text, unsigned int min, unsigned int max, unsigned int *value)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || *end || end == text || v < min || v > max) {
		fprintf(stderr, "vfence: not a number from %u to %u: %s\n", min, max, text);
		return false;
	}
	*value = (unsigned int)v;
	return true;
}

/* A number of seconds, with or without the unit: "2" or "2s". */
static bool seconds(char *text, unsigned int *value)
{
	size_t length = strlen(text);

	if (length > 1 && text[length - 1] == 's')
		text[length - 1] = 0;
	return number(text, 0, 3600, value);
}

static bool needs_adapter(const struct command *command)
{
	return command->topic != on_files && command->run != simulate_main;
}

/* Most commands need an adapter. Without one, print what the user can do. */
static bool any_adapter(void)
{
	struct vf_adapter *adapter;
	unsigned int i;

	for (i = 0; i < 64; i++) {
		if (vf_adapter_open(i, &adapter))
			continue;
		vf_adapter_close(adapter);
		return true;
	}
	fputs("vfence: no adapter found; load the module (insmod vfence.ko) or run 'make demo'\n",
	      stderr);
	return false;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "adapter", required_argument, NULL, 'a' },
		{ "frames", required_argument, NULL, 'n' },
		{ "output", required_argument, NULL, 'o' },
		{ "node", required_argument, NULL, 'N' },
		{ "kind", required_argument, NULL, 'k' },
		{ "after", required_argument, NULL, 't' },
		{ "release", no_argument, NULL, 'r' },
		{ "policy", required_argument, NULL, 'p' },
		{ "watch", required_argument, NULL, 'W' },
		{ "random", required_argument, NULL, 'R' },
		{ "row", required_argument, NULL, 'w' },
		{ "wall", no_argument, NULL, 'l' },
		{ "kept", required_argument, NULL, 'K' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct options options = { .adapter = UINT32_MAX, .frames = 1000 };
	size_t i;
	int opt;

	while ((opt = getopt_long(argc, argv, "a:n:o:N:k:t:p:W:R:w:K:lrjh", longs, NULL)) != -1) {
		switch (opt) {
		case 'a':
			if (!number(optarg, 0, 63, &options.adapter))
				return 2;
			break;
		case 'n':
			if (!number(optarg, 20, 1000, &options.frames))
				return 2;
			break;
		case 'o':
			options.output = optarg;
			break;
		case 'N':
			options.node = optarg;
			break;
		case 'k':
			options.kind = optarg;
			break;
		case 't':
			if (!seconds(optarg, &options.after))
				return 2;
			break;
		case 'R':
			if (!number(optarg, 1, 128, &options.random))
				return 2;
			break;
		case 'p':
			options.policy = optarg;
			break;
		case 'W':
			if (!number(optarg, 1, 86400, &options.watch))
				return 2;
			break;
		case 'w':
			options.row = optarg;
			break;
		case 'K':
			options.kept = optarg;
			break;
		case 'l':
			options.wall = true;
			break;
		case 'r':
			options.release = true;
			break;
		case 'j':
			options.json = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind == argc) {
		usage(stderr);
		return 2;
	}
	options.files = argv + optind + 1;
	options.file_count = (unsigned int)(argc - optind - 1);
	for (i = 0; i < N_COMMANDS; i++) {
		if (!is_meant(&commands[i], argv + optind, argc - optind))
			continue;
		if (needs_adapter(&commands[i]) && !any_adapter())
			return 1;
		return commands[i].run(&options) ? 1 : 0;
	}
	fprintf(stderr, "vfence: no such command: %s\n", argv[optind]);
	usage(stderr);
	return 2;
}
