// SPDX-License-Identifier: GPL-2.0-only
/*
 * A window of a trace as a part of a picture, without scripts. Work is a bar, waiting a thin line,
 * a signal a stroke in the colour of its fence. The colours follow the reader's choice of a light
 * or a dark page.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "panel.h"

#define LEFT		150
#define RIGHT		(PANEL_WIDTH - 14)
/* A picture has no more rows than this: the others are counted. */
#define MAX_ROWS	40
#define DENSE		400
/* Room for the ticks below the rows. */
#define FOOT		34

/* Where a row is, and up to where its labels have been written, and arrows end. */
struct place {
	bool shown;
	double y, room, arrow;
	/* The last pixels that were drawn, by kinds: do not draw one twice. */
	long drawn[SHAPE_KINDS][2];
};

struct drawing {
	const struct panel *panel;
	FILE *to;
	struct place *places;
	unsigned int rows, hidden;
	/* There is so much in the window that a reader sees where things happen, and not what. */
	bool dense;
	/* The window, which is never empty. */
	uint64_t from, until;
	double y;
};

/*
 * Print a text of clean characters (text_clean()) in XML, and not more of them than has room.
 */
void panel_text(FILE *to, const char *text, unsigned int room)
{
	unsigned int printed = 0;

	for (; *text; text++) {
		/* Not the first byte of a character of UTF-8. */
		bool goes_on = ((unsigned char)*text & 0xc0) == 0x80;

		if (!goes_on && printed++ == room) {
			fputs("…", to);
			return;
		}
		switch (*text) {
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '&':
			fputs("&amp;", to);
			break;
		case '\'':
			fputs("&#39;", to);
			break;
		default:
			fputc(*text, to);
		}
	}
}

static double row_height(const struct row *row)
{
	return row->kind == ROW_ENGINE ? 42 : row->kind == ROW_INTERRUPTS ? 22 : 24;
}

static bool drawing_has(const struct drawing *d, const struct shape *shape)
{
	return shape->end >= d->from && shape->begin <= d->until;
}

/* Signals of progress fences are drawn where they release a wait. */
static bool panel_shows(const struct panel *panel, const struct shape *shape)
{
	return shape->kind != SHAPE_SIGNAL || shape->releases ||
	       !panel->scene->fences[shape->fence].progress;
}

static unsigned int panel_colour(const struct panel *panel, const struct shape *shape)
{
	return panel->scene->fences[shape->fence].colour;
}

/* Find the rows that have something in the window. Return: false without memory. */
static bool drawing_begin(struct drawing *d, const struct panel *panel, double y)
{
	const struct scene *scene = panel->scene;
	unsigned int i, shown = 0;

	memset(d, 0, sizeof(*d));
	d->panel = panel;
	d->from = panel->from;
	d->until = panel->until > panel->from ? panel->until : panel->from + 1;
	d->y = y;
	d->places = calloc(scene->row_count + 1, sizeof(*d->places));
	if (!d->places)
		return false;
	for (i = 0; i < scene->shape_count && scene->shapes[i].begin <= d->until; i++) {
		if (!drawing_has(d, &scene->shapes[i]))
			continue;
		d->places[scene->shapes[i].row].shown = true;
		shown++;
	}
	d->dense = shown > DENSE;
	y += panel->title ? 26 : 6;
	y += panel->verdict ? 18 : 0;
	for (i = 0; i < scene->row_count; i++) {
		struct place *place = &d->places[i];

		if (place->shown && d->rows == MAX_ROWS) {
			place->shown = false;
			d->hidden++;
		}
		if (!place->shown)
			continue;
		place->y = y;
		y += row_height(&scene->rows[i]);
		d->rows++;
	}
	d->y = y;
	return true;
}

/* Return: the height of a panel in pixels. */
double panel_height(const struct panel *panel)
{
	struct drawing d;
	double height;

	if (!drawing_begin(&d, panel, 0))
		return 0;
	height = d.y + FOOT;
	free(d.places);
	return height;
}

static double drawing_x(const struct drawing *d, uint64_t time)
{
	double x;

	if (time <= d->from)
		return LEFT;
	if (time >= d->until)
		return RIGHT;
	x = LEFT + (double)(time - d->from) * (RIGHT - LEFT) / (double)(d->until - d->from);
	return round(x * 10) / 10;
}

static bool is_new(struct place *place, enum shape_kind kind, double from, double until)
{
	long a = lround(from * 2), b = lround(until * 2);

	if (place->drawn[kind][0] == a && place->drawn[kind][1] == b)
		return false;
	place->drawn[kind][0] = a;
	place->drawn[kind][1] = b;
	return true;
}

/* Write a value, if it meets no other one of its row. */
static void draw_value(struct drawing *d, struct place *place, const struct shape *shape, double x,
		       double y)
{
	char text[24];
	double width;

	if (shape->value == UINT64_MAX)
		snprintf(text, sizeof(text), "max");
	else
		snprintf(text, sizeof(text), "%llu", (unsigned long long)shape->value);
	width = 6.3 * (double)strlen(text) + 4;
	if (x < place->room || x + width > RIGHT + 14)
		return;
	place->room = x + width + (d->dense ? 30 : 0);
	fprintf(d->to, "<text class='v t%u' x='%.1f' y='%.1f'>%s</text>\n", panel_colour(d->panel, shape),
		x, y, text);
}

/* The text that a browser shows when the reader points at a shape. */
static void draw_title(struct drawing *d, const char *what, const struct shape *shape)
{
	fprintf(d->to, "<title>%s", what);
	if (shape->kind == SHAPE_WORK)
		fprintf(d->to, " queue %u", shape->queue);
	else if (shape->kind != SHAPE_INTERRUPT)
		fprintf(d->to, " fence %u %s %llu", d->panel->scene->fences[shape->fence].number,
			shape->kind == SHAPE_WAIT ? "to reach" : "=",
			(unsigned long long)shape->value);
	if (shape->end > shape->begin)
		fprintf(d->to, ", %.1f µs", (double)(shape->end - shape->begin) / 1000);
	fputs("</title>", d->to);
}

static void draw_work(struct drawing *d, struct place *place, const struct shape *s)
{
	double x0 = drawing_x(d, s->begin), x1 = drawing_x(d, s->end);

	if (!is_new(place, s->kind, x0, x1))
		return;
	fprintf(d->to, "<rect class='work' x='%.1f' y='%.1f' width='%.1f' height='16'>", x0,
		place->y + 3, x1 - x0 > 0.5 ? x1 - x0 : 0.5);
	draw_title(d, "executes", s);
	fputs("</rect>\n", d->to);
}

static void draw_wait(struct drawing *d, struct place *place, const struct shape *s)
{
	double x0 = drawing_x(d, s->begin), x1 = drawing_x(d, s->end), y = place->y + 16;

	if (!is_new(place, s->kind, x0, x1))
		return;
	fprintf(d->to, "<path class='wait s%u' d='M%.1f,%.1f H%.1f'>", panel_colour(d->panel, s),
		x0, y, x1 - x0 > 1 ? x1 : x0 + 1);
	draw_title(d, "waits for", s);
	fputs("</path>\n", d->to);
	if (x1 - x0 > 20)
		draw_value(d, place, s, x0, y - 4);
}

static void draw_signal(struct drawing *d, struct place *place, const struct shape *s)
{
	double x = drawing_x(d, s->begin);
	bool engine = d->panel->scene->rows[s->row].kind == ROW_ENGINE;

	if (!is_new(place, s->kind, x, x))
		return;
	fprintf(d->to, "<rect class='signal f%u' x='%.1f' y='%.1f' width='%g' height='%d'>",
		panel_colour(d->panel, s), x - 1.2, place->y + (engine ? 1 : 5),
		d->dense ? 0.6 : 2.5, engine ? 20 : 12);
	draw_title(d, "signals", s);
	fputs("</rect>\n", d->to);
	draw_value(d, place, s, x + 3, place->y + (engine ? 34 : 28));
}

static void draw_interrupt(struct drawing *d, struct place *place, const struct shape *s)
{
	double x = drawing_x(d, s->begin);

	if (is_new(place, s->kind, x, x))
		fprintf(d->to, "<path class='irq' d='M%.1f,%.1f l-4,-9 h8 z'/>\n", x, place->y + 16);
}

static void draw_shapes(struct drawing *d)
{
	static void (*const draw[SHAPE_KINDS])(struct drawing *, struct place *,
					       const struct shape *) = {
		draw_work, draw_wait, draw_signal, draw_interrupt,
	};
	const struct scene *scene = d->panel->scene;
	unsigned int i;

	for (i = 0; i < scene->shape_count && scene->shapes[i].begin <= d->until; i++) {
		const struct shape *s = &scene->shapes[i];

		if (drawing_has(d, s) && d->places[s->row].shown && panel_shows(d->panel, s))
			draw[s->kind](d, &d->places[s->row], s);
	}
}

/* Arrows that end at one place are drawn once. */
static void draw_arrows(struct drawing *d)
{
	const struct panel *p = d->panel;
	unsigned int i;

	for (i = 0; i < p->scene->arrow_count && !d->dense; i++) {
		const struct arrow *a = &p->scene->arrows[i];
		struct place *from = &d->places[a->from_row], *to = &d->places[a->to_row];
		double x0 = drawing_x(d, a->from), x1 = drawing_x(d, a->to);
		bool up = to->y < from->y;

		if (a->from < d->from || a->to > d->until || !from->shown || !to->shown ||
		    fabs(x1 - to->arrow) < 2)
			continue;
		to->arrow = x1;
		fprintf(d->to, "<path class='arrow' d='M%.1f,%.1f L%.1f,%.1f'/>\n", x0,
			from->y + (up ? 1 : 21), x1, to->y + (up ? 19 : 13));
	}
}

/* Return: the least of 1, 2, 5, 10, 20 and so on that is not less than @value. */
static double round_up(double value)
{
	double ten = pow(10, floor(log10(value)));

	return value <= ten ? ten : value <= 2 * ten ? 2 * ten : value <= 5 * ten ? 5 * ten :
	       10 * ten;
}

static void draw_ticks(struct drawing *d)
{
	double span = (double)(d->until - d->from), step = round_up(span / 7), t;
	double unit = step >= 1e9 ? 1e9 : step >= 1e6 ? 1e6 : step >= 1e3 ? 1e3 : 1;
	const char *name = step >= 1e9 ? "s" : step >= 1e6 ? "ms" : step >= 1e3 ? "µs" : "ns";
	char text[32];
	unsigned int i;

	for (i = 0, t = 0; t <= span; t = ++i * step) {
		double x = LEFT + t * (RIGHT - LEFT) / span;

		fprintf(d->to, "<path class='tick' d='M%.1f,%.1f v4'/>\n", x, d->y);
		/* The last one may stand out of the picture. */
		if (x + 3 + 7 * snprintf(text, sizeof(text), "%.10g %s", t / unit, name) < RIGHT + 14)
			fprintf(d->to, "<text class='small' x='%.1f' y='%.1f'>%s</text>\n", x + 3,
				d->y + 13, text);
	}
}

static void draw_rows(struct drawing *d)
{
	const struct scene *scene = d->panel->scene;
	unsigned int i;

	for (i = 0; i < scene->row_count; i++) {
		const struct row *row = &scene->rows[i];
		double y = d->places[i].y;

		if (!d->places[i].shown)
			continue;
		fprintf(d->to, "<text class='%s' x='%d' y='%.1f'>",
			row->kind == ROW_ENGINE ? "name" : "small", 14, y + 15);
		panel_text(d->to, row->name, 20);
		fprintf(d->to, "</text>\n<path class='line' d='M%d,%.1f H%d'/>\n", LEFT,
			y + row_height(row) - 2, RIGHT);
	}
	if (d->hidden)
		fprintf(d->to, "<text class='small' x='14' y='%.1f'>and %u rows more</text>\n",
			d->y + 13, d->hidden);
}

/* Draw a panel with its upper edge at @y. Return: its lower edge. */
double panel_draw(const struct panel *panel, double y, FILE *to)
{
	struct drawing d;

	if (!drawing_begin(&d, panel, y))
		return y;
	d.to = to;
	if (panel->title) {
		fprintf(to, "<text class='head' x='14' y='%.1f'>", y + 16);
		panel_text(to, panel->title, 95);
		fputs("</text>\n", to);
	}
	if (panel->verdict) {
		fprintf(to, "<text class='said' x='14' y='%.1f'>", y + 34);
		panel_text(to, panel->verdict, 120);
		fputs("</text>\n", to);
	}
	draw_rows(&d);
	draw_shapes(&d);
	draw_arrows(&d);
	draw_ticks(&d);
	free(d.places);
	return d.y + FOOT;
}

/* The darkness of the first two colours differs, so that they can be told without colours. */
static const char style[] =
	"text{font:12px system-ui,sans-serif;fill:#1c2733}"
	".head{font-size:15px;font-weight:600}.said{fill:#3c4b5a}.name{font-weight:600}"
	".small{font-size:11px;fill:#55636f}.v{font-size:11px}"
	".paper{fill:#fff}.work{fill:#d3dbe4;stroke:#8796a6;stroke-width:.6}"
	".wait{stroke-width:2.2;fill:none}.irq{fill:#c0182b}"
	".arrow{stroke:#55636f;stroke-width:.9;fill:none;marker-end:url(#tip)}.tip{fill:#55636f}"
	".line{stroke:#e4e9ee}.tick{stroke:#8796a6}"
	".f0{fill:#0b3c8c}.f1{fill:#d9730d}.f2{fill:#12806a}.f3{fill:#b0308f}.f4{fill:#6b4f1d}"
	".f5{fill:#6a6f75}.s0{stroke:#0b3c8c}.s1{stroke:#d9730d}.s2{stroke:#12806a}"
	".s3{stroke:#b0308f}.s4{stroke:#6b4f1d}.s5{stroke:#6a6f75}"
	".t0{fill:#0b3c8c}.t1{fill:#a85400}.t2{fill:#0d6a57}.t3{fill:#b0308f}.t4{fill:#6b4f1d}"
	".t5{fill:#565b61}"
	"@media (prefers-color-scheme:dark){text{fill:#e6edf3}.said{fill:#b6c2ce}"
	".small{fill:#9fadba}.paper{fill:#10161d}.work{fill:#36424f;stroke:#74879a}"
	".irq{fill:#ff7b86}.arrow{stroke:#9fadba}.tip{fill:#9fadba}.line{stroke:#232d38}"
	".tick{stroke:#74879a}"
	".f0,.t0{fill:#6fa8ff}.f1,.t1{fill:#ffc46b}.f2,.t2{fill:#4fd1b0}.f3,.t3{fill:#f48fd6}"
	".f4,.t4{fill:#d3b67c}.f5,.t5{fill:#b9c1c9}.s0{stroke:#6fa8ff}.s1{stroke:#ffc46b}"
	".s2{stroke:#4fd1b0}.s3{stroke:#f48fd6}.s4{stroke:#d3b67c}.s5{stroke:#b9c1c9}}";

/* Begin a picture. It has a height, so that a page keeps room for it. */
void panel_begin(FILE *to, double height)
{
	fprintf(to, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %.0f' width='%d' "
		"height='%.0f' role='img'>\n<style>%s</style>\n"
		"<defs><marker id='tip' markerWidth='7' markerHeight='6' refX='6' refY='3' "
		"orient='auto'><path class='tip' d='M0,0 L7,3 L0,6 z'/></marker></defs>\n"
		"<rect class='paper' width='100%%' height='100%%'/>\n", PANEL_WIDTH, height,
		PANEL_WIDTH, height, style);
}

void panel_end(FILE *to)
{
	fputs("</svg>\n", to);
}

/* What the shapes are. Return: the y below. */
double panel_legend(const struct scene *scene, double y, FILE *to)
{
	unsigned int i, shown = 0;
	double x = 14;

	fprintf(to, "<rect class='work' x='14' y='%.1f' width='22' height='12'/>"
		"<text class='small' x='41' y='%.1f'>an engine works</text>"
		"<path class='wait s0' d='M150,%.1f h22'/>"
		"<text class='small' x='177' y='%.1f'>waits for the value above it</text>"
		"<rect class='f0' x='345' y='%.1f' width='2.5' height='14'/>"
		"<text class='small' x='352' y='%.1f'>signals the value below it</text>"
		"<path class='arrow' d='M505,%.1f h22'/>"
		"<text class='small' x='532' y='%.1f'>releases a wait</text>"
		"<path class='irq' d='M640,%.1f l-4,-9 h8 z'/>"
		"<text class='small' x='649' y='%.1f'>interrupt</text>\n",
		y, y + 10, y + 6, y + 10, y - 1, y + 10, y + 6, y + 10, y + 10, y + 10);
	y += 20;
	for (i = 0; i < scene->fence_count && shown < SCENE_COLOURS - 1; i++) {
		if (scene->fences[i].progress)
			continue;
		fprintf(to, "<rect class='f%u' x='%.0f' y='%.1f' width='10' height='10'/>"
			"<text class='small' x='%.0f' y='%.1f'>fence %u</text>\n", scene->fences[i].colour, x, y,
			x + 15, y + 9, scene->fences[i].number);
		x += 90;
		shown++;
	}
	return y + 22;
}
