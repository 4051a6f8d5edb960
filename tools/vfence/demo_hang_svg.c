// SPDX-License-Identifier: GPL-2.0-only
/* The picture of vfence demo hang: both engines over the whole time, and the nine steps. */

#include "demo_hang.h"

#define WIDTH	1400
#define LEFT	90
#define RIGHT	1380
#define LANE	46
#define TOP	110
#define STEPS_Y	320
#define HEIGHT	640

struct view {
	FILE *f;
	const struct hang_result *r;
	int64_t from, to;
};

static double x_of(const struct view *v, int64_t t)
{
	return LEFT + (double)(t - v->from) * (RIGHT - LEFT) / (double)(v->to - v->from);
}

static double ms(int64_t ns)
{
	return (double)ns / 1e6;
}

static void begin(FILE *f)
{
	fprintf(f, "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
		"viewBox='0 0 %d %d'>\n", WIDTH, HEIGHT, WIDTH, HEIGHT);
	fputs("<style>text{font:13px sans-serif;fill:#222}.t{font-size:20px;font-weight:bold}"
	      ".h{font-size:14px;font-weight:bold}.s{font-size:12px;fill:#555}"
	      ".p0,.p3{fill:#c9472c}.p1{fill:#1f6fb2}.p2{fill:#0a7d32}.p3{stroke:#222}"
	      ".x{fill:url(#stripes);stroke:#c9472c}.l{stroke:#bbb}.m{stroke:#6f42a5}"
	      ".b{fill:#6f42a5}</style>\n"
	      "<defs><pattern id='stripes' width='8' height='8' patternUnits='userSpaceOnUse' "
	      "patternTransform='rotate(45)'><rect width='8' height='8' fill='#f8ddd6'/>"
	      "<rect width='3' height='8' fill='#c9472c'/></pattern></defs>\n"
	      "<rect width='100%' height='100%' fill='#fff'/>\n"
	      "<text class='t' x='20' y='32'>An engine hangs: what the others do meanwhile</text>\n",
	      f);
}

static void legend(FILE *f)
{
	static const char *const text[] = {
		"client A: frames, until it hangs", "client B, on the same engine",
		"client C, on the copy engine", "client A with a new device",
	};
	unsigned int k;

	for (k = 0; k < HANG_PLAYERS; k++)
		fprintf(f, "<rect class='p%u' x='%u' y='50' width='14' height='14'/>"
			"<text x='%u' y='62'>%s</text>\n", k, 20 + k * 260, 42 + k * 260, text[k]);
	fputs("<rect class='x' x='1060' y='50' width='14' height='14'/>"
	      "<text x='1082' y='62'>a packet that does not end</text>\n", f);
}

static void draw_frames(const struct view *v, enum hang_player_id id, double y)
{
	const struct hang_frame *frame = v->r->frame[id];
	unsigned int i;

	for (i = 0; i < v->r->frames[id]; i++)
		if (frame[i].end)
			fprintf(v->f, "<rect class='p%u' x='%.2f' y='%.1f' width='%.2f' "
				"height='%d'/>\n", id, x_of(v, frame[i].begin) + 0.5, y,
				x_of(v, frame[i].end) - x_of(v, frame[i].begin) - 1, LANE - 14);
}

/* Time in ms, below the lanes. */
static void axis(const struct view *v, double y, int64_t step)
{
	int64_t t;

	for (t = 0; t <= v->to - v->from; t += step)
		fprintf(v->f, "<path class='l' d='M%.1f,%.1f v6'/><text class='s' x='%.1f' "
			"y='%.1f' text-anchor='middle'>%g ms</text>\n", x_of(v, v->from + t), y,
			x_of(v, v->from + t), y + 20, ms(t));
}

static void draw_lanes(const struct view *v)
{
	const struct hang_result *r = v->r;
	/* Until the engine was reset, or until the loss was seen if that was not traced. */
	int64_t end = r->steps == HANG_STEPS ? r->at[6] : r->seen;

	fprintf(v->f, "<text class='h' x='20' y='%d'>GFX</text>"
		"<text class='h' x='20' y='%d'>COPY</text>\n", TOP + 22, TOP + LANE + 22);
	draw_frames(v, HANG_CULPRIT, TOP);
	draw_frames(v, HANG_BESIDE, TOP);
	draw_frames(v, HANG_AGAIN, TOP);
	draw_frames(v, HANG_COPY, TOP + LANE);
	fprintf(v->f, "<rect class='x' x='%.2f' y='%d' width='%.2f' height='%d'/>\n",
		x_of(v, r->hang), TOP, x_of(v, end) - x_of(v, r->hang), LANE - 14);
	if (r->steps)
		fprintf(v->f, "<path class='m' d='M%.1f,%d V%d'/>\n", x_of(v, r->at[0]), TOP - 8,
			TOP + 2 * LANE);
	axis(v, TOP + 2 * LANE, v->to - v->from < 200000000 ? 10000000 : 100000000);
}

/* One line for each step, with its place in the time of the reset. */
static void draw_steps(FILE *f, const struct hang_result *r)
{
	static const char *const what[HANG_STEPS + 1] = {
		[1] = "what runs on the engine is to leave it",
		"it makes no progress, and stays",
		"at once: the engine picks nothing else, its ids are read, its reports ignored",
		"has it ended by itself meanwhile? no",
		"what the engine has reported before is handled",
		"queues on dependent engines leave them",
		"the engine is reset",
		"is the id possible, the engine empty and silent? yes",
		"the engine goes on",
	};
	int64_t all = r->at[HANG_STEPS - 1] - r->at[0];
	struct view v = { f, r, r->at[0], r->at[0] + (all ? all : 1) };
	unsigned int i;

	fprintf(f, "<text class='h' x='20' y='%d'>The reset, %.0f us: the violet line above"
		"</text>\n", STEPS_Y - 40, (double)all / 1e3);
	/* The right half has the texts. */
	for (i = 0; i < HANG_STEPS; i++) {
		double x = LEFT + (x_of(&v, r->at[i]) - LEFT) * 0.45, y = STEPS_Y + i * 32;

		fprintf(f, "<path class='l' d='M%d,%.1f H%d'/>"
			"<rect class='b' x='%.1f' y='%.1f' width='5' height='18'/>"
			"<text class='s' x='%.1f' y='%.1f'>%.0f us</text>\n", LEFT, y + 9.0, 760,
			x - 2, y, x + 8, y + 5, (double)(r->at[i] - r->at[0]) / 1e3);
		fprintf(f, "<text class='h' x='780' y='%.1f'>%u %s</text>"
			"<text x='880' y='%.1f'>%s</text>\n", y + 13, r->step[i],
			hang_step_names[r->step[i]], y + 13, what[r->step[i]]);
	}
}

/* All times are relative to the first frame. */
int demo_hang_svg(const struct hang_result *r, const char *path)
{
	struct view v = { .r = r };
	unsigned int k;

	v.from = r->frame[HANG_CULPRIT][0].begin;
	v.to = v.from + 1;
	for (k = 0; k < HANG_PLAYERS; k++) {
		const struct hang_frame *last = &r->frame[k][r->frames[k] - 1];

		if (r->frame[k][0].begin < v.from)
			v.from = r->frame[k][0].begin;
		if (last->end > v.to)
			v.to = last->end;
	}
	v.f = fopen(path, "we");
	if (!v.f)
		return -errno;
	begin(v.f);
	legend(v.f);
	draw_lanes(&v);
	if (r->steps == HANG_STEPS)
		draw_steps(v.f, r);
	fputs("</svg>\n", v.f);
	return fclose(v.f) ? -errno : 0;
}
