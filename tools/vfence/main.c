// SPDX-License-Identifier: GPL-2.0-only
/* The vfence command: options and subcommands. */

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "vfence_version.h"

/* The topic of a command that works on files, and needs no adapter. */
static const char on_files[] = "FILE...";
/* The topic of a command that runs another one, which may be left out. */
static const char on_words[] = "-- COMMAND...";
/* The same, behind a file. */
static const char on_file_and_words[] = "FILE -- COMMAND...";

static const struct command {
	const char *name;
	/* The word that follows the name, or NULL. */
	const char *topic;
	int (*run)(const struct options *options);
	/* The options that the command takes, by their letters. */
	const char *takes;
	const char *help;
} commands[] = {
	{ "info", NULL, info_main, "aj", "adapters, engines, capabilities, counters" },
	{ "demo", NULL, demo_main, "anoj",
	  "two processes, two engines, native fences, and what they cost" },
	{ "demo", "hang", demo_hang_main, "ao",
	  "an engine hangs; what others do meanwhile, one picture" },
	{ "bench", NULL, bench_main, "aj",
	  "interrupts that signals cost, by the number of waiters" },
	{ "bench", "fences", bench_fences_main, "oj", "native and monitored fences side by side" },
	{ "bench", "peers", bench_peers_main, "wl",
	  "operations beside drm_syncobj, ntsync, eventfd, futex" },
	{ "bench", "growth", bench_growth_main, "o", "submissions and signals beside others" },
	{ "bench", "memory", bench_memory_main, "j", "bytes of the kernel that objects take" },
	{ "compare", on_files, compare_main, "oK", "what bench peers has measured, as a table" },
	{ "bench", "functions", bench_functions_main, "aoRwj",
	  "virtual functions by policy, measured and modelled" },
	{ "simulate", NULL, simulate_main, "Rw", "the same, modelled only, without an adapter" },
	{ "functions", NULL, functions_main, "apW",
	  "virtual functions, and what each has had" },
	{ "gap", on_files, gap_main, "j", "score how unevenly functions get their frames" },
	{ "hang", NULL, hang_main, "aNkt", "let an engine hang, to test what others do then" },
	{ "top", NULL, top_main, "aOWj", "engines, clients and queues, live" },
	{ "trace", on_words, trace_main, "oisW",
	  "record what a command does, and write views of it" },
	{ "check", on_files, check_main, "o", "does a trace obey the rules" },
	{ "run", on_files, run_main, "acj", "do what a scenario says, and see whether all is as expected" },
	{ "shrink", on_file_and_words, shrink_main, "ac",
	  "make a scenario smaller that fails" },
	{ "dump", NULL, dump_main, "ar",
	  "what the first engine did that hung, packets decoded" },
};

/* Exit codes: the command has done what it should, or has said why not; it was not understood. */
enum { DONE, FAILED, NOT_UNDERSTOOD };

static const struct argp_option option_list[] = {
	{ "adapter", 'a', "N", 0, "number of the adapter (default 0; info: all)", 0 },
	{ "frames", 'n', "N", 0, "frames of each act, 20 to 1000", 0 },
	{ "output", 'o', "DIR", 0, "write pictures and figures to it (bench growth: to this file)", 0 },
	{ "node", 'N', "NODE", 0, "gfx (default), compute, copy or mm", 0 },
	{ "kind", 'k', "KIND", 0, "submission (default) or another kind of hang, see vfence-hang(1)", 0 },
	{ "after", 't', "S", 0, "seconds to wait before, 0 to 3600 (default 0)", 0 },
	{ "release", 'r', NULL, 0, "keep the dump no longer, so that the next hang has one", 0 },
	{ "policy", 'p', "NAME", 0, "share the engines by another policy", 0 },
	{ "watch", 'W', "S", 0, "for S seconds, 1 to 86400: print what each has, or record all", 0 },
	{ "random", 'R', "N", 0, "N configurations at random, 1 to 128", 0 },
	{ "row", 'w', "TEXT", 0, "only rows with TEXT in their names (bench peers: this row of vfence)", 0 },
	{ "wall", 'l', NULL, 0, "what has peers, and draws, on the clock of the host", 0 },
	{ "input", 'i', "FILE", 0, "a trace that trace-cmd has recorded", 0 },
	{ "section", 's', "TEXT", 0, "draw the sections with TEXT in their titles", 0 },
	{ "check", 'c', NULL, 0, "record it, and check the rules on the trace", 0 },
	{ "once", 'O', NULL, 0, "print one table", 0 },
	{ "kept", 'K', "FILE", 0, "has anything become slower than it was", 0 },
	{ "json", 'j', NULL, 0, "print JSON", 0 },
	{ NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0 },
	{ 0 },
};

#define N_OPTIONS (sizeof(option_list) / sizeof(option_list[0]) - 1)

/* Return: the long name of an option, or NULL if there is no such option. */
static const char *option_name(int letter)
{
	size_t i;

	for (i = 0; i < N_OPTIONS && option_list[i].key != letter; i++)
		;
	return i < N_OPTIONS ? option_list[i].name : NULL;
}

/* Print the commands, each with its options, behind those that argp prints. */
static void print_commands(FILE *to)
{
	const char *letter;
	size_t i;

	fputs("Commands, and the options that each of them takes:\n", to);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		fprintf(to, "  %-10s%-14s%s\n", commands[i].name,
			commands[i].topic ? commands[i].topic : "", commands[i].help);
		if (*commands[i].takes)
			fprintf(to, "%26s", "");
		for (letter = commands[i].takes; *letter; letter++)
			fprintf(to, "--%s%s", option_name(*letter), letter[1] ? ", " : "\n");
	}
	fputs("\nExit codes: 0 done, 1 failed, 2 not understood.", to);
}

static char *help_text(int key, const char *text, void *input)
{
	char *commands_text = NULL;
	size_t size = 0;
	FILE *to;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	to = open_memstream(&commands_text, &size);
	if (!to)
		return (char *)text;
	print_commands(to);
	fclose(to);
	return commands_text;
}

/* Return: true if what follows the name of the command is no topic. */
static bool takes_words(const struct command *command)
{
	return command->topic == on_files || command->topic == on_words ||
	       command->topic == on_file_and_words;
}

static bool is_meant(const struct command *command, char **words, int count)
{
	if (strcmp(words[0], command->name))
		return false;
	if (takes_words(command))
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
	return !takes_words(command) && command->run != simulate_main;
}

/* Most commands need an adapter. Without one, print what the user can do. */
static bool any_adapter(void)
{
	struct vf_adapter *adapter;
	unsigned int i;

	for (i = 0; i < ADAPTER_NUMBERS; i++) {
		if (vf_adapter_open(i, &adapter))
			continue;
		vf_adapter_close(adapter);
		return true;
	}
	fputs("vfence: no adapter found; load the module (insmod vfence.ko) or run 'make demo'\n",
	      stderr);
	return false;
}

/* Return: false if the argument of an option is not understood, which it has said. */
static bool parse_numbers(int key, char *arg, struct options *options)
{
	switch (key) {
	case 'a':
		return number(arg, 0, ADAPTER_NUMBERS - 1, &options->adapter);
	case 'n':
		return number(arg, 20, 1000, &options->frames);
	case 't':
		return seconds(arg, &options->after);
	case 'R':
		return number(arg, 1, 128, &options->random);
	default:
		return number(arg, 1, 86400, &options->watch);
	}
}

static void parse_words(int key, char *arg, struct options *options)
{
	switch (key) {
	case 'o':
		options->output = arg;
		break;
	case 'N':
		options->node = arg;
		break;
	case 'k':
		options->kind = arg;
		break;
	case 'p':
		options->policy = arg;
		break;
	case 'w':
		options->row = arg;
		break;
	case 'K':
		options->kept = arg;
		break;
	case 'i':
		options->input = arg;
		break;
	case 's':
		options->section = arg;
		break;
	case 'c':
		options->check = true;
		break;
	case 'O':
		options->once = true;
		break;
	case 'l':
		options->wall = true;
		break;
	case 'r':
		options->release = true;
		break;
	default:
		options->json = true;
	}
}

/* What the command line says: options, and the words that are none. */
struct line {
	struct options options;
	/* The letters of the options that were given. */
	char given[32];
	char *words[256];
	int count;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct line *line = state->input;
	size_t given = strlen(line->given);

	switch (key) {
	case ARGP_KEY_ARG:
		if (line->count == sizeof(line->words) / sizeof(line->words[0]))
			argp_error(state, "too many words");
		line->words[line->count++] = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	}
	if (key <= 0 || !option_name(key))
		return ARGP_ERR_UNKNOWN;
	if (!strchr(line->given, key) && given + 1 < sizeof(line->given))
		line->given[given] = (char)key;
	if (!strchr("antRW", key))
		parse_words(key, arg, &line->options);
	else if (!parse_numbers(key, arg, &line->options))
		exit(NOT_UNDERSTOOD);
	return 0;
}

/* Return: true if the topic is a word that the user writes. */
static bool is_fixed(const struct command *command)
{
	return command->topic && !takes_words(command);
}

/* An option that means nothing for a command is refused, as it may be a mistake. */
static bool takes_all(const struct command *command, const struct line *line)
{
	const char *letter;

	for (letter = line->given; *letter; letter++) {
		if (strchr(command->takes, *letter))
			continue;
		fprintf(stderr, "vfence: %s%s%s does not take --%s\n", command->name,
			is_fixed(command) ? " " : "", is_fixed(command) ? command->topic : "",
			option_name(*letter));
		return false;
	}
	return true;
}

static int run(const struct command *command, struct line *line)
{
	if (!takes_all(command, line))
		return NOT_UNDERSTOOD;
	if (needs_adapter(command) && !any_adapter())
		return FAILED;
	line->options.files = line->words + 1;
	line->options.file_count = (unsigned int)(line->count - 1);
	return command->run(&line->options) ? FAILED : DONE;
}

/* The argument is a macro. */
#define TEXT(macro)	TEXT_OF(macro)
#define TEXT_OF(text)	#text

const char *argp_program_version = "vfence " TEXT(VFENCE_MAJOR) "." TEXT(VFENCE_MINOR);

int main(int argc, char **argv)
{
	static const struct argp argp = {
		option_list, parse, "COMMAND [TOPIC | FILE... | -- COMMAND...]",
		"Show, measure and test the virtual GPUs of the vfence driver.\v", NULL, help_text,
		NULL,
	};
	struct line line = { .options = { .adapter = UINT32_MAX, .frames = 1000 } };
	size_t i;

	argp_err_exit_status = NOT_UNDERSTOOD;
	argp_parse(&argp, argc, argv, 0, NULL, &line);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (is_meant(&commands[i], line.words, line.count))
			return run(&commands[i], &line);
	fprintf(stderr, "vfence: no such command: %s%s%s; see vfence --help\n", line.words[0],
		line.count > 1 ? " " : "", line.count > 1 ? line.words[1] : "");
	return NOT_UNDERSTOOD;
}
