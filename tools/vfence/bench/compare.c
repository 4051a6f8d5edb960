// SPDX-License-Identifier: GPL-2.0-only
/*
 * vfence compare: a table of what vfence bench peers has measured, beside the best peer, the limit and
 * the goal of each operation; or, with --kept, whether the figures are still what they were.
 */

#include <stdlib.h>

#include "compare.h"

#define OURS		"vfence"
#define SET		"vfence_wait_set"
#define LIMIT		"no_op_ioctl"
/* Figures may differ from those that are kept by so much, in percent. */
#define BAND		3

/* The goals: at most so much of another cell of the row, in percent, or so many instructions. */
static const struct goal {
	const char *row;
	const char *cell;
	const char *other;
	unsigned int most;
} goals[] = {
	{ "signal", OURS, LIMIT, 125 },
	{ "wait_reached", OURS, LIMIT, 120 },
	{ "hand_off", OURS, "eventfd", 105 },
	{ "hand_off", OURS, "ntsync", 95 },
	{ "hand_off", OURS, "drm_syncobj", 60 },
	{ "hand_off", "vfence_two_calls", "ntsync", 110 },
	{ "any_64", SET, "ntsync", 82 },
	{ "any_64", SET, "drm_syncobj", 66 },
	{ "any_512", SET, "drm_syncobj", 66 },
	{ "eventfd", OURS, "drm_syncobj", 70 },
	{ "gpu_signal", OURS, NULL, 650 },
	{ "gpu_nop", OURS, NULL, 250 },
	{ "gpu_release", OURS, NULL, 8000 },
	{ "submit_busy", OURS, NULL, 250 },
	{ "submit_idle", OURS, NULL, 12000 },
	{ "submit_idle_apart", OURS, NULL, 14000 },
	{ "wake", OURS, NULL, 20000 },
	{ "wake_60_queues", OURS, NULL, 20000 },
	{ "wake_1000_waiters", OURS, NULL, 20000 },
	{ "draw_25us", OURS, NULL, 25100 },
};

#define N_GOALS (sizeof(goals) / sizeof(goals[0]))

/* That on the clock of the host: GPU time is right within 2 %. */
static const struct goal wall_goal = { "draw_100us", OURS, NULL, 102000 };

static bool is_peer(const char *who)
{
	return strncmp(who, OURS, strlen(OURS)) && strcmp(who, LIMIT);
}

/* Return: the name of the fastest peer of a row, or NULL if it has none. */
static const char *best_peer(const struct figures *f, const char *row)
{
	const char *best = NULL;
	json_object *cells;

	if (!json_object_object_get_ex(f->rows, row, &cells))
		return NULL;
	json_object_object_foreach(cells, who, cell) {
		(void)cell;
		if (is_peer(who) &&
		    (!best || compare_median(f, row, who) < compare_median(f, row, best)))
			best = who;
	}
	return best;
}

static void print_ratio(int64_t ours, int64_t other)
{
	if (other)
		printf(" %7.2f", (double)ours / (double)other);
	else
		printf(" %7s", "");
}

static void print_row(const struct figures *f, const struct compare_row *row)
{
	int64_t ours = compare_median(f, row->key, OURS);
	const char *best = best_peer(f, row->key);
	int64_t peer = best ? compare_median(f, row->key, best) : 0;

	if (!ours)
		return;
	printf("%-42s %8lld %8lld", row->name, (long long)compare_number(f, row->key, OURS, "min"),
	       (long long)ours);
	print_ratio(ours, compare_median(f, "signal", LIMIT));
	if (best) {
		print_ratio(ours, peer);
		printf("  %s, %lld", best, (long long)peer);
	}
	putchar('\n');
}

static void print_goal(const struct figures *f, const struct goal *goal, const char *unit)
{
	int64_t ours = compare_median(f, goal->row, goal->cell);
	int64_t other = goal->other ? compare_median(f, goal->row, goal->other) : 0;
	double is, most;

	if (!ours || (goal->other && !other))
		return;
	is = goal->other ? (double)ours / (double)other : (double)ours;
	most = goal->other ? goal->most / 100.0 : goal->most;
	printf("%-18s %-18s %10.*f of %8.*f %-14s %s\n", goal->row, goal->cell, goal->other ? 2 : 0,
	       is, goal->other ? 2 : 0, most, goal->other ? goal->other : unit,
	       is <= most ? "reached" : "missed");
}

/* All of a row, with its distribution. */
static void print_wall_row(const struct figures *f, const struct compare_row *row)
{
	json_object *cells;

	if (!json_object_object_get_ex(f->rows, row->key, &cells))
		return;
	json_object_object_foreach(cells, who, cell) {
		(void)cell;
		printf("%-36s %-20s %8lld %8lld %8lld %8lld\n", row->name, who,
		       (long long)compare_number(f, row->key, who, "min"),
		       (long long)compare_median(f, row->key, who),
		       (long long)compare_number(f, row->key, who, "p90"),
		       (long long)compare_number(f, row->key, who, "p99"));
	}
}

static void print_wall_table(const struct figures *f)
{
	unsigned int i;

	printf("%s, two processors of this machine: ns of its clock, comparable in this run alone\n"
	       "%-57s %8s %8s %8s %8s\n", f->kernel, "", "min", "median", "p90", "p99");
	for (i = 0; i < COMPARE_ROWS; i++)
		print_wall_row(f, &compare_rows[i]);
	puts("\ngoal:");
	print_goal(f, &wall_goal, "ns");
}

static void print_table(const struct figures *f)
{
	unsigned int i;

	if (f->wall) {
		print_wall_table(f);
		return;
	}
	printf("%s: instructions\n%-42s %8s %8s %7s %7s  %s\n", f->kernel, "", "min", "median",
	       "/no-op", "/peer", "best peer");
	for (i = 0; i < COMPARE_ROWS; i++)
		print_row(f, &compare_rows[i]);
	puts("\ngoals:");
	for (i = 0; i < N_GOALS; i++)
		print_goal(f, &goals[i], "instructions");
	putchar('\n');
}

static int write_all(const char *folder, const struct figures *figures, unsigned int count)
{
	json_object *all = json_object_new_array();
	char path[4096];
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++)
		json_object_array_add(all, json_object_get(figures[i].file));
	snprintf(path, sizeof(path), "%s/bench.json", folder);
	ret = json_object_to_file_ext(path, all, JSON_C_TO_STRING_PRETTY) ? -EIO : 0;
	json_object_put(all);
	return ret ? ret : compare_draw(folder, figures, count);
}

/* --------------------------------------------------------------------- kept */

/* The low figure of a row of ours, as a multiple of the limit of its run; 0 if there is none. */
static double low_of(const struct figures *f, const char *row)
{
	int64_t limit = compare_number(f, "signal", LIMIT, "low");

	return limit ? (double)compare_number(f, row, OURS, "low") / (double)limit : 0;
}

/*
 * Has a row become slower? Print the result. The tenth of a hundred samples is compared: when other
 * threads of the kernel run decides how many samples are above it, and luck which are below.
 */
static bool check_row(const struct figures *kept, const struct figures *now, const char *row,
		      unsigned int number)
{
	double before = low_of(kept, row), is = low_of(now, row);
	bool good = is > 0 && is <= before * (100 + BAND) / 100;

	printf("%s %u bench.%s %.3f of the no-op ioctl, %.3f before\n", good ? "ok" : "not ok",
	       number, row, is, before);
	return good;
}

/* Return: 0 if nothing has become slower. What has become faster is to be kept. */
static int check_kept(const struct figures *kept, const struct figures *now)
{
	unsigned int number = 0;
	int ret = 0;

	json_object_object_foreach(kept->rows, row, cells) {
		(void)cells;
		if (low_of(kept, row) > 0 && !check_row(kept, now, row, ++number))
			ret = -ERANGE;
	}
	printf("1..%u\n", number);
	return ret;
}

/* ---------------------------------------------------------------------- all */

static int compare_files(const struct options *options, struct figures *figures)
{
	struct figures kept = { 0 };
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < options->file_count; i++)
		ret = compare_read(options->files[i], &figures[i]);
	if (!ret && options->kept) {
		ret = compare_read(options->kept, &kept);
		ret = ret ? ret : check_kept(&kept, figures);
		json_object_put(kept.file);
		return ret;
	}
	for (i = 0; !ret && i < options->file_count; i++)
		print_table(&figures[i]);
	if (!ret && options->output) {
		ret = write_all(options->output, figures, options->file_count);
		if (ret)
			tool_fail("compare", ret);
	}
	return ret;
}

int compare_main(const struct options *options)
{
	struct figures *figures;
	unsigned int i;
	int ret;

	if (!options->file_count || (options->kept && options->file_count != 1)) {
		fputs("usage: vfence compare [-o DIR] FILE...\n"
		      "       vfence compare --kept KEPT FILE\n", stderr);
		return -EINVAL;
	}
	figures = calloc(options->file_count, sizeof(*figures));
	if (!figures)
		return tool_fail("compare", -ENOMEM);
	ret = compare_files(options, figures);
	for (i = 0; i < options->file_count; i++)
		json_object_put(figures[i].file);
	free(figures);
	return ret;
}
