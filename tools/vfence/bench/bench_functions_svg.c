// SPDX-License-Identifier: GPL-2.0-only
/*
 * The picture of vfence bench functions: bars for the rows of R4, the frame rates of each function,
 * time lines of the engines with their owners, and the commands of one switch. It has no panel for a
 * row that was not measured, and no time line without a trace.
 */

#include <string.h>

#include "bench_functions.h"
#include "tool.h"
#include "vgpu_vf_switch.h"

#define WIDTH		1400
#define HEIGHT		870
/* The bars: the left half. */
#define BARS_X		190
#define BARS_Y		112
#define BARS_W		290
#define BAR_STEP	36
#define MOST_FPS	430
/* A panel of frame rates; four are in the right half. */
#define CURVE_X		680
#define CURVE_W		310
#define CURVE_H		106
/*
 * What they show: the average rate of so many frames, in this part of the run behind the warm-up, up
 * to a highest one.
 */
#define CURVE_FRAMES	10
#define CURVE_NS	2000000000ll
#define CURVE_FPS	120
/* The time lines: the whole width, for this time. */
#define LINE_X		190
#define LINE_W		1180
#define LINE_NS		50000000ll
#define LANE		20
/* The commands of one switch, and the time before and after. */
#define SWITCH_Y	810
#define AROUND_NS	60000ll

/* The rows with time lines. */
#define ROBIN		"R4, round-robin"
#define DEMAND		"R4, on-demand"

struct panel {
	FILE *f;
	double x, y, width;
	/* The time that it shows, in ns. */
	int64_t from, to;
};

static double x_of(const struct panel *p, int64_t at)
{
	if (at < p->from)
		at = p->from;
	if (at > p->to)
		at = p->to;
	return p->x + (double)(at - p->from) * p->width / (double)(p->to - p->from);
}

static const struct comparison *row_named(const struct comparison *rows, unsigned int count,
					  const char *name)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static void begin(FILE *f)
{
	unsigned int k;

	fprintf(f, "<svg xmlns='http://www.w3.org/2000/svg' width='%u' height='%u' "
		"viewBox='0 0 %u %u'>\n", WIDTH, HEIGHT, WIDTH, HEIGHT);
	fputs("<style>text{font:13px sans-serif;fill:#222}.t{font-size:20px;font-weight:bold}"
	      ".h{font-size:14px;font-weight:bold}.s{font-size:12px;fill:#555}.bar{fill:#4a7ba6}"
	      ".l{stroke:#bbb;fill:none}.m{stroke:#222;stroke-width:2}"
	      ".f1{fill:#c9472c}.f2{fill:#1f6fb2}.f3{fill:#0a7d32}.f4{fill:#c78500}"
	      ".c1{stroke:#c9472c}.c2{stroke:#1f6fb2}.c3{stroke:#0a7d32}.c4{stroke:#c78500}"
	      ".c{fill:none;stroke-width:1.5}.own{fill-opacity:.22}.w{fill:#444}"
	      ".k{fill:#6f42a5}</style>\n"
	      "<rect width='100%' height='100%' fill='#fff'/>\n"
	      "<text class='t' x='20' y='34'>Four functions share a GPU: who gets its engines, "
	      "and what comes of it</text>\n", f);
	for (k = 1; k <= 4; k++)
		fprintf(f, "<rect class='f%u' x='%u' y='50' width='14' height='14'/>"
			"<text x='%u' y='62'>function %u</text>\n", k, k * 110 - 90, k * 110 - 70,
			k);
}

static void bar(FILE *f, const struct comparison *r, const char *name, double y)
{
	double w = r->measured.total_fps * BARS_W / MOST_FPS;
	double model = BARS_X + r->model.total_fps * BARS_W / MOST_FPS;

	fprintf(f, "<text x='%u' y='%.1f' text-anchor='end'>%s</text>"
		"<rect class='bar' x='%u' y='%.1f' width='%.1f' height='24'/>"
		"<path class='m' d='M%.1f,%.1f v30'/>", BARS_X - 10, y + 17, name, BARS_X, y, w,
		model, y - 3);
	fprintf(f, "<text x='%.1f' y='%.1f'>%.1f, p99 %.1f ms</text>\n", BARS_X + w + 8, y + 17,
		r->measured.total_fps, r->measured.p99);
}

static void draw_bars(FILE *f, const struct comparison *rows, unsigned int count)
{
	const struct comparison *alone = row_named(rows, count, "one of 4, on-demand");
	double y = BARS_Y;
	unsigned int i;

	fprintf(f, "<text class='h' x='20' y='%u'>R4: frames per second of all, and the 99th "
		"percentile of frame times</text>\n", BARS_Y - 16);
	if (alone) {
		bar(f, alone, "one function alone", y);
		y += BAR_STEP;
	}
	for (i = 0; i < count; i++) {
		if (strncmp(rows[i].name, "R4, ", 4))
			continue;
		bar(f, &rows[i], rows[i].name + 4, y);
		y += BAR_STEP;
	}
	fprintf(f, "<text class='s' x='%u' y='%.1f'>bars: measured in the driver; black lines: "
		"the model</text>\n", BARS_X, y + 8);
}

static double rate_y(const struct panel *p, double fps)
{
	return p->y + CURVE_H - (fps < CURVE_FPS ? fps : CURVE_FPS) * CURVE_H / CURVE_FPS;
}

static void curve(const struct panel *p, const struct recording *r, unsigned int i)
{
	const char *pen = "M";
	unsigned int k;

	fprintf(p->f, "<path class='c c%u' d='", i + 1);
	for (k = CURVE_FRAMES; k < r->frames[i]; k++) {
		int64_t at = (int64_t)r->done[i][k];
		int64_t took = at - (int64_t)r->done[i][k - CURVE_FRAMES];

		if (at < p->from || at > p->to || took <= 0)
			continue;
		fprintf(p->f, "%s%.1f,%.1f", pen, x_of(p, at),
			rate_y(p, CURVE_FRAMES * 1e9 / (double)took));
		pen = "L";
	}
	fputs("'/>\n", p->f);
}

static void draw_curves(FILE *f, const struct comparison *row, const char *what, unsigned int place)
{
	struct panel p = { .f = f, .width = CURVE_W };
	unsigned int i, fps;

	if (!row)
		return;
	p.x = CURVE_X + place % 2 * (CURVE_W + 60);
	p.y = BARS_Y + place / 2 * (CURVE_H + 64);
	p.from = (int64_t)row->sim.warmup_ns;
	p.to = p.from + CURVE_NS;
	fprintf(f, "<text class='h' x='%.1f' y='%.1f'>%s: frame rate of each</text>\n", p.x,
		p.y - 16, what);
	for (fps = 0; fps <= CURVE_FPS; fps += 40)
		fprintf(f, "<path class='l' d='M%.1f,%.1f h%u'/><text class='s' x='%.1f' y='%.1f' "
			"text-anchor='end'>%u</text>\n", p.x, rate_y(&p, fps), CURVE_W, p.x - 6,
			rate_y(&p, fps) + 4, fps);
	fprintf(f, "<text class='s' x='%.1f' y='%.1f'>two seconds, averages of %u frames</text>\n", p.x,
		p.y + CURVE_H + 18, CURVE_FRAMES);
	for (i = 0; i < row->sim.functions && i < 4; i++)
		curve(&p, &row->recording, i);
}

static void block(const struct panel *p, const char *class, int64_t from, int64_t to, double y)
{
	if (to <= p->from || from >= p->to || to <= from)
		return;
	fprintf(p->f, "<rect class='%s' x='%.2f' y='%.1f' width='%.2f' height='%d'/>\n", class,
		x_of(p, from), y, x_of(p, to) - x_of(p, from), LANE - 4);
}

static double lane_y(const struct panel *p, unsigned int function)
{
	return p->y + (function - 1) * LANE;
}

/* A function owns the engines: it works as long as a frame of it is submitted and not done. */
static void draw_turn(const struct panel *p, const struct recording *r, unsigned int function,
		      int64_t from, int64_t to)
{
	double y = lane_y(p, function);
	unsigned int i = function - 1, k;
	int64_t done = from;
	char class[16];

	snprintf(class, sizeof(class), "own f%u", function);
	block(p, class, from, to, y);
	for (k = 0; k < r->frames[i]; k++) {
		int64_t begins = (int64_t)r->submitted[i][k], ends = (int64_t)r->done[i][k];

		/* In their order, and none before the one in front of it is done. */
		begins = begins > done ? begins : done;
		ends = ends < to ? ends : to;
		block(p, class + 4, begins, ends, y);
		done = ends > done ? ends : done;
	}
}

static void draw_owners(const struct panel *p, const struct recording *r)
{
	int64_t runs = p->from, left = p->from;
	unsigned int i, owner = 0;

	for (i = 0; i < r->events; i++) {
		const struct world_event *e = &r->event[i];

		if (e->command == VGPU_VF_SWITCH_CMD_IDLE) {
			if (owner && owner <= 4)
				draw_turn(p, r, owner, runs, e->at);
			left = e->at;
			owner = 0;
		} else if (e->command == VGPU_VF_SWITCH_CMD_RUN) {
			block(p, "w", left, e->at, p->y + 4 * LANE);
			owner = e->function;
			runs = e->at;
		}
	}
	if (owner && owner <= 4)
		draw_turn(p, r, owner, runs, p->to);
}

static void draw_line(FILE *f, const struct comparison *row, const char *what, double y)
{
	struct panel p = { .f = f, .x = LINE_X, .y = y, .width = LINE_W };
	unsigned int k;
	int64_t t;

	if (!row || !row->traced.events)
		return;
	p.from = (int64_t)row->sim.warmup_ns;
	p.to = p.from + LINE_NS;
	fprintf(f, "<text class='h' x='20' y='%.1f'>%s</text>\n", y - 10, what);
	for (k = 1; k <= 4; k++)
		fprintf(f, "<text class='s' x='%u' y='%.1f' text-anchor='end'>function %u</text>\n",
			LINE_X - 10, lane_y(&p, k) + 12, k);
	fprintf(f, "<text class='s' x='%u' y='%.1f' text-anchor='end'>switch</text>\n",
		LINE_X - 10, lane_y(&p, 5) + 12);
	draw_owners(&p, &row->traced);
	for (t = 0; t <= LINE_NS; t += 5000000)
		fprintf(f, "<path class='l' d='M%.1f,%.1f v6'/><text class='s' x='%.1f' y='%.1f' "
			"text-anchor='middle'>%lld ms</text>\n", x_of(&p, p.from + t), y + 5 * LANE,
			x_of(&p, p.from + t), y + 5 * LANE + 18, (long long)t / 1000000);
}

/* The first whole switch behind the warm-up: index of its IDLE, which SAVE, LOAD and RUN follow. */
static const struct world_event *whole_switch(const struct comparison *row)
{
	static const unsigned int order[] = {
		VGPU_VF_SWITCH_CMD_IDLE, VGPU_VF_SWITCH_CMD_SAVE, VGPU_VF_SWITCH_CMD_LOAD, VGPU_VF_SWITCH_CMD_RUN,
	};
	const struct recording *r = &row->traced;
	unsigned int i, k;

	for (i = 0; i + 4 <= r->events; i++) {
		for (k = 0; k < 4 && r->event[i + k].command == order[k]; k++)
			;
		if (k == 4 && r->event[i].at > (int64_t)row->sim.warmup_ns &&
		    r->event[i].function && r->event[i + 3].function)
			return &r->event[i];
	}
	return NULL;
}

/* Return when the last frame of a function was done before a time. */
static int64_t last_done(const struct recording *r, unsigned int function, int64_t at)
{
	unsigned int i = function - 1, k;
	int64_t last = 0;

	for (k = 0; k < r->frames[i] && (int64_t)r->done[i][k] <= at; k++)
		last = (int64_t)r->done[i][k];
	return last;
}

static void step(const struct panel *p, const char *class, const char *name, int64_t from,
		 int64_t to)
{
	block(p, class, from, to, p->y);
	fprintf(p->f, "<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>"
		"<text class='s' x='%.1f' y='%.1f' text-anchor='middle'>%.0f us</text>\n",
		(x_of(p, from) + x_of(p, to)) / 2, p->y - 8, name,
		(x_of(p, from) + x_of(p, to)) / 2, p->y + LANE + 12, (double)(to - from) / 1e3);
}

static void draw_switch(FILE *f, const struct comparison *row)
{
	const struct world_event *e = row ? whole_switch(row) : NULL;
	struct panel p = { .f = f, .x = LINE_X, .y = SWITCH_Y, .width = LINE_W };
	char class[8], name[64];
	int64_t done;

	if (!e)
		return;
	done = last_done(&row->traced, e[0].function, e[0].at);
	p.from = done - AROUND_NS;
	p.to = e[3].at + AROUND_NS;
	fprintf(f, "<text class='h' x='20' y='%d'>One switch of R4 under on-demand: the engines "
		"have nothing of function %u left</text>\n", SWITCH_Y - 34, e[0].function);
	snprintf(class, sizeof(class), "f%u", e[0].function);
	snprintf(name, sizeof(name), "function %u", e[0].function);
	step(&p, class, name, p.from, done);
	step(&p, "l", "response, IDLE", done, e[0].at);
	step(&p, "k", "SAVE", e[0].at, e[1].at);
	step(&p, "k", "LOAD, RUN", e[1].at, e[3].at);
	snprintf(class, sizeof(class), "f%u", e[3].function);
	snprintf(name, sizeof(name), "function %u", e[3].function);
	step(&p, class, name, e[3].at, p.to);
}

bool bench_functions_svg_lines(const struct comparison *row)
{
	return !strcmp(row->name, ROBIN) || !strcmp(row->name, DEMAND);
}

int bench_functions_svg(const struct comparison *rows, unsigned int count, const char *path)
{
	const struct comparison *robin = row_named(rows, count, ROBIN);
	const struct comparison *demand = row_named(rows, count, DEMAND);
	FILE *f = fopen(path, "we");

	if (!f)
		return -errno;
	begin(f);
	draw_bars(f, rows, count);
	draw_curves(f, robin, "R4, round-robin", 0);
	draw_curves(f, demand, "R4, on-demand", 1);
	draw_curves(f, row_named(rows, count, "noisy, round-robin"), "noisy, round-robin", 2);
	draw_curves(f, row_named(rows, count, "noisy, ahead"), "noisy, ahead", 3);
	draw_line(f, robin, "R4 under round-robin: pale where a function has the engines, "
		  "full where it works", 466);
	draw_line(f, demand, "R4 under on-demand", 634);
	draw_switch(f, demand);
	fputs("</svg>\n", f);
	return fclose(f) ? -errno : 0;
}
