/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_SCENARIO_READER_H
#define VFENCE_SCENARIO_READER_H

#include "field.h"
#include "scenario.h"

/* The parts of the reader. What returns a bool has said what is wrong where it returns false. */

struct reader {
	struct scenario *scenario;
	struct field_error error;
	/* The client that is read. */
	struct script *client;
	uint32_t client_index;
	/* The steps that are read are repeated. */
	bool repeats;
};

void *reader_array(struct reader *r, size_t count, size_t size);
char *reader_text(struct reader *r, const char *text);

/* Indices, or NO_INDEX. */
uint32_t reader_find_fence(const struct scenario *s, const char *name);
uint32_t reader_find_client(const struct scenario *s, const char *name);
uint32_t reader_find_adapter(const struct scenario *s, const char *name);
uint32_t reader_find_queue(const struct script *client, const char *name);
uint32_t reader_find_label(const struct scenario *s, const struct script *client,
			   const char *name);
uint32_t reader_find_event(const struct script *client, const char *name);

bool reader_adapters(struct reader *r, const struct place *at, struct json_object *json);
bool reader_clients(struct reader *r, const struct place *at, struct json_object *json);
bool reader_steps(struct reader *r, const struct place *at, struct json_object *json,
		  struct step **steps, unsigned int *step_count);
bool reader_claims(struct reader *r, const struct place *at, struct json_object *json);

#endif
