// SPDX-License-Identifier: GPL-2.0-only
/* vfence top: what an adapter does, live on a terminal, or once as a text or as JSON. */

#include <curses.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "view.h"

struct top {
	struct vf_adapter *adapter;
	unsigned int index;
	struct sample before, now;
};

static int top_open(struct top *top, unsigned int index)
{
	int ret = vf_adapter_open(index, &top->adapter);

	top->index = index;
	return ret ? ret : sample_take(top->adapter, index, &top->now);
}

/* The last sample becomes the one before. */
static int top_next(struct top *top)
{
	sample_free(&top->before);
	top->before = top->now;
	memset(&top->now, 0, sizeof(top->now));
	return sample_take(top->adapter, top->index, &top->now);
}

static void top_close(struct top *top)
{
	sample_free(&top->before);
	sample_free(&top->now);
	vf_adapter_close(top->adapter);
}

/* Print one table, or one each second. */
static int top_print(struct top *top, unsigned int times, bool json)
{
	const struct timespec second = { .tv_sec = 1 };
	unsigned int i;
	int ret = 0;

	for (i = 0; i < times && !ret; i++) {
		nanosleep(&second, NULL);
		ret = top_next(top);
		if (!ret && json)
			view_json(&top->before, &top->now, stdout);
		else if (!ret)
			view_text(&top->before, &top->now, stdout);
		if (i + 1 < times)
			putchar('\n');
		fflush(stdout);
	}
	return ret;
}

/* Draw the text from a line on; a terminal that is too small shows the beginning. */
static int top_draw(const struct top *top, int first)
{
	char *text = NULL, *line, *next;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	int n;

	if (!to)
		return -ENOMEM;
	view_text(&top->before, &top->now, to);
	fclose(to);
	erase();
	for (line = text, n = 0; line && *line; line = next, n++) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (n >= first && n - first < LINES - 1)
			mvaddnstr(n - first, 0, line, COLS);
	}
	attron(A_REVERSE);
	mvaddnstr(LINES - 1, 0, " q quit   up, down: scroll ", COLS);
	attroff(A_REVERSE);
	refresh();
	free(text);
	return 0;
}

#define MS	INT64_C(1000000)

/* Until the user presses q, or the terminal is gone. */
static int top_live(struct top *top)
{
	/* The first table soon, though its rates are those of a short time. */
	int64_t due = vf_deadline(250 * MS), left;
	int key = 0, first = 0, ret = 0;

	if (!initscr())
		return -ENOTTY;
	noecho();
	cbreak();
	curs_set(0);
	keypad(stdscr, TRUE);
	while (!ret && key != 'q') {
		left = due - vf_deadline(0);
		timeout(left > 0 ? (int)((left + MS - 1) / MS) : 0);
		key = getch();
		left = due - vf_deadline(0);
		/* No key, and the time is not up: there is no terminal any more. */
		if (key == ERR && left > MS)
			break;
		if (left <= 0) {
			ret = top_next(top);
			due = vf_deadline(1000 * MS);
		}
		if (key == KEY_DOWN)
			first++;
		if (key == KEY_UP && first)
			first--;
		if (!ret && top->before.time)
			ret = top_draw(top, first);
	}
	endwin();
	return ret;
}

int top_main(const struct options *options)
{
	struct top top = { 0 };
	int ret = top_open(&top, options->adapter == UINT32_MAX ? 0 : options->adapter);

	if (ret) {
		if (top.adapter)
			vf_adapter_close(top.adapter);
		return tool_fail("top", ret);
	}
	if (options->once || options->json || options->watch || !isatty(STDOUT_FILENO) ||
	    !isatty(STDIN_FILENO))
		ret = top_print(&top, options->watch ? options->watch : 1, options->json);
	else
		ret = top_live(&top);
	top_close(&top);
	return ret ? tool_fail("top", ret) : 0;
}
