/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_SCENARIO_FIELD_H
#define VFENCE_SCENARIO_FIELD_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place in a file: a key, or an index where @key is NULL. */
struct place {
	const struct place *up;
	const char *key;
	size_t index;
};

/* Where the text goes that says what is wrong with a file. */
struct field_error {
	char *text;
};

bool field_fail(struct field_error *error, const struct place *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool field_keys(struct field_error *error, const struct place *at, struct json_object *object,
	       const char *key, const char *others);
bool field_object(struct field_error *error, const struct place *at, struct json_object *object);
bool field_array(struct field_error *error, const struct place *at, struct json_object *array,
		size_t *count);
bool field_uint(struct field_error *error, const struct place *at, struct json_object *number,
	       uint64_t least, uint64_t most, uint64_t *value);
bool field_text(struct field_error *error, const struct place *at, struct json_object *text,
	       const char **value);
bool field_name(struct field_error *error, const struct place *at, struct json_object *text,
	       const char **value);
bool field_true(struct field_error *error, const struct place *at, struct json_object *value);
bool field_is_name(const char *name);
bool field_is_plain(struct json_object *value);

#endif
