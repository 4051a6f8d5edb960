// SPDX-License-Identifier: GPL-2.0-only
/*
 * vfence gap: score how much the frame rates of virtual functions vary, compared with those of a GPU
 * that is not shared (VF-44). For curves of n frames, each with a frame rate of its own::
 *
 *    gap = sum of | (b[i + 1] - b[i]) - s * (x[i + 1] - x[i]) | over all curves x and all i
 *
 * where s is avg(b) / avg(x), and avg() is n frames by the time that they took. The score says
 * nothing of speed: a curve that has half of every frame rate has 0.
 */

#include <json.h>
#include <math.h>
#include <stdlib.h>

#include "tool.h"

#define GAP_FRAMES	65536

/* The frame rates of one run. */
struct curve {
	const char *file;
	double *fps;
	unsigned int frames;
	/* Frames divided by the time that they took. */
	double avg;
	/* The score of the curve. */
	double gap;
};

/* One frame rate in each line. */
static int curve_read(struct curve *c, const char *file)
{
	FILE *f = fopen(file, "re");
	double seconds = 0, fps;
	char line[64], *end;

	c->file = file;
	c->fps = f ? calloc(GAP_FRAMES, sizeof(*c->fps)) : NULL;
	if (!c->fps) {
		int ret = -errno;

		if (f)
			fclose(f);
		return ret;
	}
	while (fgets(line, sizeof(line), f)) {
		fps = strtod(line, &end);
		if (end == line || (*end && *end != '\n') || !isfinite(fps) || fps <= 0 ||
		    c->frames == GAP_FRAMES) {
			fclose(f);
			return -EINVAL;
		}
		c->fps[c->frames++] = fps;
		seconds += 1 / fps;
	}
	fclose(f);
	c->avg = c->frames / seconds;
	return c->frames < 2 ? -EINVAL : 0;
}

static double curve_gap(const struct curve *bare, const struct curve *c)
{
	double scale = bare->avg / c->avg, gap = 0;
	unsigned int i;

	for (i = 0; i + 1 < bare->frames; i++)
		gap += fabs(bare->fps[i + 1] - bare->fps[i] - scale * (c->fps[i + 1] - c->fps[i]));
	return gap;
}

static void gap_print(const struct curve *bare, const struct curve *c, unsigned int count,
		      double sum, double per_term)
{
	unsigned int i;

	printf("%-24s%10s%10s%10s\n", "", "avg fps", "scale", "gap");
	printf("%-24s%10.3f\n", bare->file, bare->avg);
	for (i = 0; i < count; i++)
		printf("%-24s%10.3f%10.4f%10.2f\n", c[i].file, c[i].avg, bare->avg / c[i].avg,
		       c[i].gap);
	printf("gap %.2f, per term %.4f; avg is %u frames divided by the time that they took\n", sum,
	       per_term, bare->frames);
}

static void gap_print_json(const struct curve *bare, const struct curve *c, unsigned int count,
			   double sum, double per_term)
{
	json_object *all = json_object_new_object(), *each = json_object_new_array();
	unsigned int i;

	for (i = 0; i < count; i++)
		json_object_array_add(each, json_object_new_double(c[i].gap));
	json_object_object_add(all, "frames", json_object_new_int64(bare->frames));
	json_object_object_add(all, "gap", json_object_new_double(sum));
	json_object_object_add(all, "gap_of_each", each);
	json_object_object_add(all, "gap_per_term", json_object_new_double(per_term));
	puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
	json_object_put(all);
}

static void gap_report(const struct curve *bare, struct curve *c, unsigned int count, bool json)
{
	double sum = 0, per_term;
	unsigned int i;

	for (i = 0; i < count; i++) {
		c[i].gap = curve_gap(bare, &c[i]);
		sum += c[i].gap;
	}
	per_term = sum / (count * (bare->frames - 1.0));
	if (json)
		gap_print_json(bare, c, count, sum, per_term);
	else
		gap_print(bare, c, count, sum, per_term);
}

int gap_main(const struct options *options)
{
	unsigned int count = options->file_count, i;
	struct curve *c;
	int ret = 0;

	if (count < 2) {
		fputs("vfence: gap: name a file of the GPU alone, and one of each function\n", stderr);
		return -EINVAL;
	}
	c = calloc(count, sizeof(*c));
	if (!c)
		return tool_fail("gap", -ENOMEM);
	for (i = 0; i < count && !ret; i++) {
		ret = curve_read(&c[i], options->files[i]);
		if (!ret && c[i].frames != c[0].frames)
			ret = -EINVAL;
		if (ret)
			fprintf(stderr, "vfence: gap: %s: %s\n", options->files[i],
				ret == -EINVAL ? "not one frame rate in each of as many lines" :
						 strerror(-ret));
	}
	if (!ret)
		gap_report(c, c + 1, count - 1, options->json);
	for (i = 0; i < count; i++)
		free(c[i].fps);
	free(c);
	return ret;
}
