// SPDX-License-Identifier: GPL-2.0-only
/* The picture of vfence bench fences: a panel for each figure, with bars side by side. */

#include <stddef.h>

#include "bench_fences.h"

#define WIDTH	1200
#define COLUMNS	3
#define PANEL_W	(WIDTH / COLUMNS)
#define PANEL_H	250
#define TOP	84
/* The base line and the height of a panel's bars. */
#define BASE	(PANEL_H - 40)
#define HIGH	150

static const struct figure {
	const char *title;
	size_t at;
} figures[] = {
	{ "CPU interrupts", offsetof(struct fence_cost, interrupts) },
	{ "looks at all waiters", offsetof(struct fence_cost, scans) },
	{ "kernel entries of the client", offsetof(struct fence_cost, entries) },
	{ "context switches", offsetof(struct fence_cost, switches) },
	{ "CPU time, ns (here: instructions)", offsetof(struct fence_cost, cpu_ns) },
	{ "signal to release, ns", offsetof(struct fence_cost, latency_ns) },
};

#define FIGURES	(sizeof(figures) / sizeof(figures[0]))

static uint64_t value_of(const struct fence_results *r, unsigned int kind, unsigned int share,
			 const struct figure *f)
{
	return *(const uint64_t *)((const char *)&r->chain[kind][share] + f->at);
}

static uint64_t highest(const struct fence_results *r, const struct figure *f)
{
	uint64_t max = 1;
	unsigned int k, i;

	for (k = 0; k < FENCE_KINDS; k++)
		for (i = 0; r->have[k] && i < FENCE_SHARES; i++)
			if (value_of(r, k, i, f) > max)
				max = value_of(r, k, i, f);
	return max;
}

/* Print a number that is no wider than a bar. */
static void number(FILE *f, uint64_t v)
{
	if (v >= 10000000)
		fprintf(f, "%lluM", (unsigned long long)v / 1000000);
	else if (v >= 1000000)
		fprintf(f, "%.1fM", (double)v / 1e6);
	else if (v >= 10000)
		fprintf(f, "%lluk", (unsigned long long)v / 1000);
	else
		fprintf(f, "%llu", (unsigned long long)v);
}

static void bar(FILE *f, unsigned int kind, double x, double width, uint64_t v, uint64_t max)
{
	double h = (double)v * HIGH / (double)max;

	if (v && h < 1)
		h = 1;
	fprintf(f, "<rect class='k%u' x='%.1f' y='%.1f' width='%.1f' height='%.1f'/>\n", kind, x,
		BASE - h, width - 1, h);
	fprintf(f, "<text class='v' transform='translate(%.1f,%.1f) rotate(-90)'>",
		x + width / 2 + 3, BASE - h - 3);
	number(f, v);
	fputs("</text>\n", f);
}

static void panel(FILE *f, const struct fence_results *r, const struct figure *figure,
		  unsigned int n)
{
	double group = (PANEL_W - 40) / (double)FENCE_SHARES, width = group / (FENCE_KINDS + 1);
	uint64_t max = highest(r, figure);
	unsigned int i, k;

	fprintf(f, "<g transform='translate(%u,%u)'><text class='h' x='20' y='18'>%s</text>\n",
		n % COLUMNS * PANEL_W, TOP + n / COLUMNS * PANEL_H, figure->title);
	for (i = 0; i < FENCE_SHARES; i++) {
		double x = 20 + i * group;

		for (k = 0; k < FENCE_KINDS; k++)
			if (r->have[k])
				bar(f, k, x + k * width, width, value_of(r, k, i, figure), max);
		fprintf(f, "<text class='s' x='%.1f' y='%u'>%u %%</text>\n", x + width,
			BASE + 16, fence_shares[i]);
	}
	fprintf(f, "<path class='l' d='M16,%u H%u'/></g>\n", BASE, PANEL_W - 16);
}

static void legend(FILE *f)
{
	unsigned int k;

	for (k = 0; k < FENCE_KINDS; k++)
		fprintf(f, "<rect class='k%u' x='%u' y='52' width='14' height='14'/>"
			"<text x='%u' y='64'>%s</text>\n", k, 20 + k * 200, 40 + k * 200,
			fence_kind_names[k]);
}

/* Draw the chain only; the fan is in the table. */
int bench_fences_svg(const struct fence_results *r, const char *path)
{
	unsigned int n, rows = (FIGURES + COLUMNS - 1) / COLUMNS;
	FILE *f = fopen(path, "we");

	if (!f)
		return -errno;
	fprintf(f, "<svg xmlns='http://www.w3.org/2000/svg' width='%u' height='%u' "
		"viewBox='0 0 %u %u'>\n", WIDTH, TOP + rows * PANEL_H, WIDTH,
		TOP + rows * PANEL_H);
	fputs("<style>text{font:13px sans-serif;fill:#222}.t{font-size:20px;font-weight:bold}"
	      ".h{font-size:14px;font-weight:bold}.s{font-size:12px;fill:#555}"
	      ".v{font-size:11px}.l{stroke:#888}.k0{fill:#0a7d32}.k1{fill:#c9472c}"
	      ".k2{fill:#1f6fb2}.k3{fill:#8a63b8}</style>\n"
	      "<rect width='100%' height='100%' fill='#fff'/>\n"
	      "<text class='t' x='20' y='32'>What 1,000 signals between two engines cost the "
	      "CPU, by the share of them that a thread waits for</text>\n", f);
	legend(f);
	for (n = 0; n < FIGURES; n++)
		panel(f, r, &figures[n], n);
	fputs("</svg>\n", f);
	return fclose(f) ? -errno : 0;
}
