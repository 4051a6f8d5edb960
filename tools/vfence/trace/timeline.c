// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pictures of a trace: one with a window of each section, and a page with all of it. A section is
 * what a program has marked; a trace without marks is one section. Neither has scripts: a page
 * opens its windows by itself, by touch and by keyboard.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "panel.h"
#include "timeline.h"

/* Arrows in the window of a section; shapes in a window of the page, and windows of it. */
#define WINDOW_ARROWS	12
#define WINDOW_SHAPES	60
#define MAX_WINDOWS	200
/* Sections that are drawn; a program may mark any number. */
#define MAX_SECTIONS	50

struct section {
	uint64_t from, until;
	char title[120], verdict[240];
};

struct timeline {
	const struct events *events;
	struct scene scene;
	struct section *sections;
	/* The sections that are drawn, and those that are not. */
	unsigned int count, more;
	/* What was recorded, or an empty text. */
	const char *what;
};

/* "1 signal", "2 signals". */
static const char *number_of(unsigned int n, const char *noun, char *text, size_t size)
{
	snprintf(text, size, "%u %s%s", n, noun, n == 1 ? "" : "s");
	return text;
}

/* Return: the first event that is not before a time. */
static unsigned int first_event(const struct events *events, uint64_t time)
{
	unsigned int low = 0, high = events->count;

	while (low < high) {
		unsigned int middle = low + (high - low) / 2;

		if (events->list[middle].time < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Say in words what the events between two times have been. */
static void say_verdict(const struct events *events, struct section *s, const char *said)
{
	unsigned int signals = 0, interrupts = 0, sleeps = 0, i;
	char text[3][40];

	for (i = first_event(events, s->from); i < events->count; i++) {
		const struct event *e = &events->list[i];

		if (e->time > s->until)
			break;
		signals += e->kind == EVENT_SIGNAL;
		interrupts += e->kind == EVENT_INTERRUPT;
		sleeps += (e->kind == EVENT_CPU_WAIT && e->type == 'B') ||
			  (e->kind == EVENT_EVENT && e->step == 0);
	}
	snprintf(s->verdict, sizeof(s->verdict), "%s of the GPU, %s, %s of threads%s%s",
		 number_of(signals, "signal", text[0], sizeof(text[0])),
		 number_of(interrupts, "interrupt", text[1], sizeof(text[1])),
		 number_of(sleeps, "wait", text[2], sizeof(text[2])), said ? "; " : "",
		 said ? said : "");
}

/* Find the sections that the program has marked. Return: 0 or -ENOMEM. */
static int timeline_find_sections(struct timeline *t)
{
	const struct events *events = t->events;
	unsigned int i, k;

	t->what = "";
	t->sections = calloc(MAX_SECTIONS, sizeof(*t->sections));
	if (!t->sections)
		return -ENOMEM;
	for (i = 0; i < events->mark_count; i++) {
		const struct trace_mark *mark = &events->marks[i];
		struct section *s = &t->sections[t->count % MAX_SECTIONS];
		const char *said = NULL;

		if (mark->text[0] == 'W')
			t->what = mark->text + 2;
		if (mark->text[0] != 'B')
			continue;
		if (t->count == MAX_SECTIONS) {
			t->more++;
			continue;
		}
		s->from = mark->time;
		s->until = events->list[events->count - 1].time;
		snprintf(s->title, sizeof(s->title), "%s", mark->text + 2);
		for (k = i + 1; k < events->mark_count && events->marks[k].text[0] == 'W'; k++)
			;
		if (k < events->mark_count) {
			s->until = events->marks[k].time;
			said = events->marks[k].text[0] == 'E' ? events->marks[k].text + 2 : NULL;
		}
		/* A section without events has no picture. */
		if (first_event(events, s->from) == events->count || s->until <= s->from)
			continue;
		say_verdict(events, s, said);
		t->count++;
	}
	if (t->count)
		return 0;
	t->sections[0].from = events->list[0].time;
	t->sections[0].until = events->list[events->count - 1].time;
	snprintf(t->sections[0].title, sizeof(t->sections[0].title), "%s",
		 *t->what ? t->what : "The trace");
	say_verdict(events, &t->sections[0], NULL);
	t->count = 1;
	return 0;
}

/* Return: the time of the interrupt in the middle of a section, or the middle. */
static uint64_t section_middle(const struct timeline *t, const struct section *s)
{
	uint64_t middle = s->from + (s->until - s->from) / 2, best = 0, gap = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < t->scene.shape_count; i++) {
		uint64_t at = t->scene.shapes[i].begin;
		uint64_t off = at > middle ? at - middle : middle - at;

		if (t->scene.shapes[i].kind != SHAPE_INTERRUPT || at < s->from || at > s->until ||
		    off >= gap)
			continue;
		best = at;
		gap = off;
	}
	/* One at the very end is that of the last wait. */
	return gap < (s->until - s->from) / 4 ? best : middle;
}

/* Choose a window of a section that shows so many releases that a reader can count them. */
static struct panel section_panel(const struct timeline *t, const struct section *s)
{
	struct panel panel = {
		.scene = &t->scene, .from = s->from, .until = s->until, .title = s->title,
		.verdict = s->verdict,
	};
	uint64_t middle = section_middle(t, s), times[WINDOW_ARROWS + 1] = { 0 };
	unsigned int i, n = 0, after = 0;

	for (i = 0; i < t->scene.arrow_count && after < WINDOW_ARROWS / 2; i++) {
		uint64_t at = t->scene.arrows[i].to;

		if (at < s->from || at > s->until)
			continue;
		times[n++ % (WINDOW_ARROWS + 1)] = at;
		after += at > middle;
	}
	if (!n)
		return panel;
	panel.until = times[(n - 1) % (WINDOW_ARROWS + 1)];
	if (n > WINDOW_ARROWS)
		panel.from = times[n % (WINDOW_ARROWS + 1)];
	/* A little more, so that nothing ends at the edges. */
	panel.until += (panel.until - panel.from) / (2 * WINDOW_ARROWS);
	return panel;
}

static int timeline_begin(struct timeline *t, const struct events *events,
			  const struct joins *joins)
{
	int ret;

	memset(t, 0, sizeof(*t));
	t->events = events;
	ret = scene_make(events, joins, &t->scene);
	return ret ? ret : timeline_find_sections(t);
}

static void timeline_end(struct timeline *t)
{
	scene_free(&t->scene);
	free(t->sections);
}

/* Write a picture of some windows, below each other. */
static int timeline_write_panels(const struct timeline *t, const struct panel *panels,
				 unsigned int count, const char *path)
{
	double height = 0, y;
	unsigned int i;
	FILE *to = fopen(path, "we");

	if (!to)
		return -errno;
	for (i = 0; i < count; i++)
		height += panel_height(&panels[i]) + 8;
	panel_begin(to, height + 74);
	for (i = 0, y = 8; i < count; i++)
		y = panel_draw(&panels[i], y, to) + 8;
	y = panel_legend(&t->scene, y + 4, to);
	fprintf(to, "<text class='small' x='14' y='%.0f'>", y + 10);
	panel_text(to, t->what, 120);
	fputs("</text>\n", to);
	panel_end(to);
	return fclose(to) ? -errno : 0;
}

/*
 * Write one picture with a window of each section, or of those with @section in their titles.
 * Return: 0 or a negative error: -ENODATA if there is no such section.
 */
int timeline_write_svg(const struct events *events, const struct joins *joins, const char *path,
		       const char *section)
{
	struct panel *panels = NULL;
	struct timeline t;
	unsigned int i, n = 0;
	int ret = timeline_begin(&t, events, joins);

	if (!ret)
		panels = calloc(t.count, sizeof(*panels));
	if (!ret && !panels)
		ret = -ENOMEM;
	for (i = 0; !ret && i < t.count; i++)
		if (!section || strstr(t.sections[i].title, section))
			panels[n++] = section_panel(&t, &t.sections[i]);
	if (!ret)
		ret = n ? timeline_write_panels(&t, panels, n, path) : -ENODATA;
	free(panels);
	timeline_end(&t);
	return ret;
}

/* Write a picture of what is between two times. Return: 0 or a negative error. */
int timeline_write_window(const struct events *events, const struct joins *joins, const char *path,
			  uint64_t from, uint64_t until, const char *title)
{
	/* A little more, so that nothing begins or ends at the edges. */
	uint64_t more = (until - from) / 20 + 1000;
	struct panel panel = {
		.from = from > more ? from - more : 0,
		.until = until < UINT64_MAX - more ? until + more : UINT64_MAX, .title = title,
	};
	struct timeline t;
	int ret = timeline_begin(&t, events, joins);

	panel.scene = &t.scene;
	if (!ret)
		ret = timeline_write_panels(&t, &panel, 1, path);
	timeline_end(&t);
	return ret;
}

/* The shapes of one window of the page: from @first up to @last, which is the next one's. */
struct window {
	unsigned int first, last;
};

/* Divide a trace into windows: of some shapes each, and not across an idle time. */
static unsigned int timeline_windows(const struct timeline *t, struct window **windows)
{
	const struct shape *shapes = t->scene.shapes;
	unsigned int i, n = 0, first = 0, count = t->scene.shape_count;

	*windows = calloc(count / 8 + 2, sizeof(**windows));
	for (i = 1; *windows && i <= count; i++) {
		bool idle = i < count && i - first >= 8 && shapes[i].begin - shapes[i - 1].begin >
			    4 * (shapes[i - 1].begin - shapes[first].begin);

		if (i < count && i - first < WINDOW_SHAPES && !idle)
			continue;
		(*windows)[n++] = (struct window){ first, i };
		first = i;
	}
	return n;
}

static void html_panel(const struct panel *panel, FILE *to)
{
	double height = panel_height(panel);

	panel_begin(to, height);
	panel_draw(panel, 0, to);
	panel_end(to);
}

static void html_window(const struct timeline *t, const struct window *w, FILE *to)
{
	const struct shape *shapes = t->scene.shapes;
	struct section s = { .from = shapes[w->first].begin };
	struct panel panel = { .scene = &t->scene, .from = s.from };
	unsigned int i;

	/* The last shape may last long: a window ends with the next one's beginning. */
	for (i = w->first; i < w->last; i++)
		if (shapes[i].begin > s.until)
			s.until = shapes[i].begin;
	panel.until = s.until + (s.until - s.from) / 40;
	say_verdict(t->events, &s, NULL);
	fprintf(to, "<details><summary>%.1f µs to %.1f µs: ",
		(double)(s.from - t->events->list[0].time) / 1000,
		(double)(s.until - t->events->list[0].time) / 1000);
	panel_text(to, s.verdict, 120);
	fputs("</summary>\n", to);
	html_panel(&panel, to);
	fputs("</details>\n", to);
}

static void html_windows(const struct timeline *t, FILE *to)
{
	struct window *windows;
	unsigned int n = timeline_windows(t, &windows), every = n / MAX_WINDOWS + 1, i;

	fprintf(to, "<h2>Window by window</h2>\n<p>Times are those since the first event. ");
	if (every > 1)
		fprintf(to, "The trace has %u windows, and the page has one of %u: for the others "
			"record less, or take the trace into ui.perfetto.dev.", n, every);
	fputs("</p>\n", to);
	for (i = 0; i < n; i += every)
		html_window(t, &windows[i], to);
	free(windows);
}

static void html_begin(const struct timeline *t, FILE *to)
{
	fputs("<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>\n"
	      "<meta name='viewport' content='width=device-width,initial-scale=1'>\n"
	      "<meta name='color-scheme' content='light dark'>\n<title>vfence: ", to);
	panel_text(to, *t->what ? t->what : "trace", 120);
	fprintf(to, "</title>\n<style>body{max-width:%dpx;margin:1em auto;padding:0 .5em;"
		"font:15px/1.45 system-ui,sans-serif}svg{max-width:100%%;height:auto}"
		"summary{cursor:pointer;padding:.2em 0}h1{font-size:1.3em}h2{font-size:1.1em}"
		"</style></head><body>\n<h1>", PANEL_WIDTH);
	panel_text(to, *t->what ? t->what : "A trace of vfence", 120);
	fputs("</h1>\n", to);
}

/* The whole trace in one window, and what the shapes are. */
static void html_overview(const struct timeline *t, FILE *to)
{
	const struct events *events = t->events;
	struct section all = {
		.from = events->list[0].time, .until = events->list[events->count - 1].time,
	};
	const struct panel panel = {
		.scene = &t->scene, .from = all.from, .until = all.until,
	};

	say_verdict(events, &all, NULL);
	fprintf(to, "<p>%u events in %.1f ms: %s.", events->count,
		(double)(all.until - all.from) / 1e6, all.verdict);
	if (events->missed)
		fprintf(to, " The tracer has lost %llu events: what is between is not known.",
			(unsigned long long)events->missed);
	fputs("</p>\n", to);
	panel_begin(to, 64);
	panel_legend(&t->scene, 14, to);
	panel_end(to);
	fputs("<h2>All of it</h2>\n", to);
	html_panel(&panel, to);
}

/* Write a page that needs no other file. Return: 0 or a negative error. */
int timeline_write_html(const struct events *events, const struct joins *joins, const char *path)
{
	struct timeline t;
	unsigned int i;
	FILE *to;
	int ret = timeline_begin(&t, events, joins);

	to = ret ? NULL : fopen(path, "we");
	if (!to) {
		timeline_end(&t);
		return ret ? ret : -errno;
	}
	html_begin(&t, to);
	html_overview(&t, to);
	for (i = 0; i < t.count; i++) {
		const struct panel panel = section_panel(&t, &t.sections[i]);

		fputs("<section>\n", to);
		html_panel(&panel, to);
		fputs("</section>\n", to);
	}
	if (t.more)
		fprintf(to, "<p>%u sections more are not drawn.</p>\n", t.more);
	html_windows(&t, to);
	fputs("</body></html>\n", to);
	timeline_end(&t);
	return fclose(to) ? -errno : 0;
}
