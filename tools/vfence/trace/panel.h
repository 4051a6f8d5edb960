/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_PANEL_H
#define VFENCE_PANEL_H

#include <stdio.h>

#include "scene.h"

/* The width of all pictures, in pixels: that of a page of text. */
#define PANEL_WIDTH	830

/* A window of a scene, drawn as a part of a picture. */
struct panel {
	const struct scene *scene;
	/* Times in ns. */
	uint64_t from, until;
	/* Texts, or NULL. */
	const char *title, *verdict;
};

double panel_height(const struct panel *panel);
double panel_draw(const struct panel *panel, double y, FILE *to);
void panel_begin(FILE *to, double height);
void panel_end(FILE *to);
double panel_legend(const struct scene *scene, double y, FILE *to);
void panel_text(FILE *to, const char *text, unsigned int room);

#endif
