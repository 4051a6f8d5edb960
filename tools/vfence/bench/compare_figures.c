// SPDX-License-Identifier: GPL-2.0-only
/* The figures of vfence bench peers: files, rows and cells. */

#include "compare.h"

const struct compare_row compare_rows[COMPARE_ROWS] = {
	{ "signal", "signal, nobody waits" },
	{ "wait_reached", "wait for a value that is reached" },
	{ "hand_off", "hand over to the other processor" },
	{ "any_64", "the same, one side waits for any of 64" },
	{ "any_512", "the same, one side waits for any of 512" },
	{ "eventfd", "eventfd: arm, signal, read" },
	{ "signal_below_1", "signal, 1 waits for more" },
	{ "signal_below_1000", "signal, 1,000 wait for more" },
	{ "signal_below_64000", "signal, 64,000 wait for more" },
	{ "gpu_signal", "GPU: signal, with its log entry" },
	{ "gpu_nop", "GPU: packet that does nothing" },
	{ "gpu_release", "GPU: release a queue of another engine" },
	{ "submit_busy", "submit wait, draw, signal to a busy queue" },
	{ "submit_idle", "submit to an idle queue, until it begins" },
	{ "submit_idle_apart", "the same, engine on the other processor" },
	{ "wake", "GPU signal until its waiter runs" },
	{ "wake_60_queues", "the same, beside 60 idle queues" },
	{ "wake_1000_waiters", "the same, 1,000 wait elsewhere" },
	{ "draw_25us", "draw of 25 us, one of 1,000" },
	{ "draw_100us", "draw of 100 us, one of 1,000" },
};

static json_object *cell_of(const struct figures *f, const char *row, const char *who)
{
	json_object *cells, *cell;

	if (!json_object_object_get_ex(f->rows, row, &cells) ||
	    !json_object_object_get_ex(cells, who, &cell))
		return NULL;
	return cell;
}

int64_t compare_number(const struct figures *f, const char *row, const char *who,
		       const char *name)
{
	json_object *cell = cell_of(f, row, who), *number;

	if (!cell || !json_object_object_get_ex(cell, name, &number))
		return 0;
	return json_object_get_int64(number);
}

int64_t compare_median(const struct figures *f, const char *row, const char *who)
{
	return compare_number(f, row, who, "median");
}

int compare_read(const char *path, struct figures *f)
{
	json_object *kernel, *clock;

	f->file = json_object_from_file(path);
	if (!f->file || !json_object_object_get_ex(f->file, "kernel", &kernel) ||
	    !json_object_object_get_ex(f->file, "rows", &f->rows) ||
	    !json_object_is_type(f->rows, json_type_object)) {
		fprintf(stderr, "vfence: compare: %s: not a file of vfence bench peers\n",
			path);
		return -EINVAL;
	}
	f->kernel = json_object_get_string(kernel);
	f->wall = json_object_object_get_ex(f->file, "clock", &clock) &&
		  !strcmp(json_object_get_string(clock), "wall");
	return 0;
}
