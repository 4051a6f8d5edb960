// SPDX-License-Identifier: GPL-2.0-only
/* The picture of vfence compare: a panel for each kernel, with bars for each operation. */

#include "compare.h"

#define PANEL_W		690
#define LEFT		24
#define BAR_X		150
#define BAR_W		430
#define TOP		84
#define BAR_STEP	19
#define ROW_GAP		38

static const struct series {
	/* Its key in the file, and what the picture says. */
	const char *who, *title;
	const char *style;
} series[] = {
	{ "vfence", "vfence", "v" },
	{ "vfence_two_calls", "vfence, two calls", "v2" },
	{ "vfence_wait_set", "vfence, wait set", "v" },
	{ "vfence_mapped", "vfence, mapped value", "v2" },
	{ "drm_syncobj", "drm_syncobj", "p" },
	{ "ntsync", "ntsync", "p" },
	{ "eventfd", "eventfd", "p" },
	{ "futex", "futex", "p" },
	{ "pipe", "pipe", "p" },
	{ "no_op_ioctl", "no-op ioctl", "l" },
};

#define N_SERIES (sizeof(series) / sizeof(series[0]))

/* Print an integer with commas between groups of three digits. */
static void print_grouped(FILE *f, int64_t value)
{
	if (value >= 1000) {
		print_grouped(f, value / 1000);
		fprintf(f, ",%03d", (int)(value % 1000));
	} else {
		fprintf(f, "%d", (int)value);
	}
}

/* The bars of a row have one scale. Return where the next row begins. */
static double draw_row(FILE *f, const struct figures *figures, const struct compare_row *row,
		       double x, double y)
{
	int64_t most = 0;
	unsigned int i;

	fprintf(f, "<text class='h' x='%.0f' y='%.0f'>%s</text>\n", x, y, row->name);
	for (i = 0; i < N_SERIES; i++) {
		int64_t value = compare_median(figures, row->key, series[i].who);

		most = value > most ? value : most;
	}
	for (i = 0; i < N_SERIES; i++) {
		int64_t value = compare_median(figures, row->key, series[i].who);
		double w = most ? (double)value * BAR_W / (double)most : 0;

		if (!value)
			continue;
		y += BAR_STEP;
		fprintf(f, "<text x='%.0f' y='%.0f' text-anchor='end'>%s</text>"
			"<rect class='%s' x='%.0f' y='%.0f' width='%.1f' height='14'/>"
			"<text x='%.1f' y='%.0f'>", x + BAR_X - 8, y, series[i].title,
			series[i].style, x + BAR_X, y - 11, w, x + BAR_X + w + 6, y);
		print_grouped(f, value);
		fputs("</text>\n", f);
	}
	return y + ROW_GAP;
}

static double draw_panel(FILE *f, const struct figures *figures, double x)
{
	double y = TOP + 34;
	unsigned int i;

	fprintf(f, "<text class='k' x='%.0f' y='%u'>Linux %s</text>\n", x, TOP, figures->kernel);
	for (i = 0; i < COMPARE_WITH_PEERS; i++)
		y = draw_row(f, figures, &compare_rows[i], x, y);
	return y;
}

/* Return: the height of the panel of a kernel. */
static unsigned int height_of(const struct figures *figures)
{
	unsigned int i, k, bars = 0;

	for (i = 0; i < COMPARE_WITH_PEERS; i++)
		for (k = 0; k < N_SERIES; k++)
			bars += compare_median(figures, compare_rows[i].key, series[k].who) != 0;
	return TOP + 34 + bars * BAR_STEP + COMPARE_WITH_PEERS * ROW_GAP;
}

static void draw(FILE *f, const struct figures *figures, unsigned int count)
{
	unsigned int i, height = 0, width = LEFT + count * PANEL_W;

	for (i = 0; i < count; i++)
		height = height_of(&figures[i]) > height ? height_of(&figures[i]) : height;
	fprintf(f, "<svg xmlns='http://www.w3.org/2000/svg' width='%u' height='%u' "
		"viewBox='0 0 %u %u'>\n", width, height, width, height);
	fputs("<style>text{font:12px sans-serif;fill:#222}.t{font-size:20px;font-weight:bold}"
	      ".k{font-size:16px;font-weight:bold}.h{font-size:14px;font-weight:bold}"
	      ".s{fill:#555}.v{fill:#1f6fb2}.v2{fill:#8db8dc}.p{fill:#b9a06a}.l{fill:#888}</style>\n"
	      "<rect width='100%' height='100%' fill='#fff'/>\n", f);
	fprintf(f, "<text class='t' x='%u' y='32'>What an operation costs, in instructions</text>\n"
		"<text class='s' x='%u' y='54'>median; each operation has a scale of its own; grey: "
		"entering a DRM driver and doing nothing</text>\n", LEFT, LEFT);
	for (i = 0; i < count; i++)
		draw_panel(f, &figures[i], LEFT + i * PANEL_W);
	fputs("</svg>\n", f);
}

int compare_draw(const char *folder, const struct figures *figures, unsigned int count)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/bench.svg", folder);
	f = fopen(path, "we");
	if (!f)
		return -errno;
	draw(f, figures, count);
	return fclose(f) ? -EIO : 0;
}
