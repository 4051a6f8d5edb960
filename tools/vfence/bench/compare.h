/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPARE_H
#define COMPARE_H

#include <json-c/json.h>

#include "tool.h"

/* One kernel's figures, as vfence bench peers has written them. */
struct figures {
	json_object *file;
	const char *kernel;
	/* The clock was that of the host: only figures of one run are comparable. */
	bool wall;
	json_object *rows;
};

/* A row of the table. */
struct compare_row {
	const char *key;
	const char *name;
};

#define COMPARE_ROWS	20
/* Rows before this one have peers. */
#define COMPARE_WITH_PEERS 6
extern const struct compare_row compare_rows[COMPARE_ROWS];

/* Return: the number of a cell, or its median, in instructions; 0 if it was not measured. */
int64_t compare_number(const struct figures *figures, const char *row, const char *who,
		       const char *name);
int64_t compare_median(const struct figures *figures, const char *row, const char *who);
/* Read a file. Return: 0 or a negative errno. */
int compare_read(const char *path, struct figures *figures);
int compare_draw(const char *folder, const struct figures *figures, unsigned int count);

#endif
