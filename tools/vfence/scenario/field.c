// SPDX-License-Identifier: GPL-2.0-only
/* Values of a JSON file that must be of a kind. Each function returns false after field_fail(). */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "field.h"
#include "scenario.h"

/* Write a place like clients.a.steps[3]. Return: its length. */
static size_t print_place(char *to, size_t size, const struct place *at)
{
	size_t length = at->up ? print_place(to, size, at->up) : 0;
	int n;

	if (length >= size)
		return length;
	if (at->key)
		n = snprintf(to + length, size - length, "%s%.40s", at->up ? "." : "", at->key);
	else
		n = snprintf(to + length, size - length, "[%zu]", at->index);
	return length + (size_t)n;
}

/* Write down what is wrong, and where; @at is NULL for the whole file. Return: always false. */
bool field_fail(struct field_error *error, const struct place *at, const char *format, ...)
{
	size_t length = at ? print_place(error->text, SCENARIO_ERROR, at) : 0;
	va_list args;

	if (length + 2 < SCENARIO_ERROR && at)
		length += (size_t)snprintf(error->text + length, SCENARIO_ERROR - length, ": ");
	if (length >= SCENARIO_ERROR)
		return false;
	va_start(args, format);
	vsnprintf(error->text + length, SCENARIO_ERROR - length, format, args);
	va_end(args);
	return false;
}

/* Return: true if @name is one of the words of a list. */
static bool is_word(const char *list, const char *name)
{
	size_t length = strlen(name);
	const char *at;

	for (at = list; (at = strstr(at, name)); at += length)
		if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

/* An object has no other keys than @key and those of a list. */
bool field_keys(struct field_error *error, const struct place *at, struct json_object *object,
	       const char *key, const char *others)
{
	json_object_object_foreach(object, name, value) {
		(void)value;
		if (!*name || strchr(name, ' ') || (strcmp(name, key) && !is_word(others, name)))
			return field_fail(error, at, "\"%.40s\" has no meaning here", name);
	}
	return true;
}

bool field_object(struct field_error *error, const struct place *at, struct json_object *object)
{
	return json_object_is_type(object, json_type_object) || field_fail(error, at, "not an object");
}

bool field_array(struct field_error *error, const struct place *at, struct json_object *array,
		size_t *count)
{
	if (!json_object_is_type(array, json_type_array))
		return field_fail(error, at, "not an array");
	*count = json_object_array_length(array);
	return true;
}

bool field_uint(struct field_error *error, const struct place *at, struct json_object *number,
	       uint64_t least, uint64_t most, uint64_t *value)
{
	/* A number below 0 is read as 0 by the other call. */
	if (json_object_is_type(number, json_type_int) && json_object_get_int64(number) >= 0) {
		*value = json_object_get_uint64(number);
		if (*value >= least && *value <= most)
			return true;
	}
	return field_fail(error, at, "not a number from %llu to %llu", (unsigned long long)least,
			 (unsigned long long)most);
}

bool field_text(struct field_error *error, const struct place *at, struct json_object *text,
	       const char **value)
{
	if (!json_object_is_type(text, json_type_string))
		return field_fail(error, at, "not a text");
	*value = json_object_get_string(text);
	return true;
}

/* Return: true for 1 to 40 letters, digits, "_" and "-": a name is also that of a file. */
bool field_is_name(const char *name)
{
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_-");

	return length && length <= 40 && !name[length];
}

bool field_name(struct field_error *error, const struct place *at, struct json_object *text,
	       const char **value)
{
	return field_text(error, at, text, value) &&
	       (field_is_name(*value) || field_fail(error, at, "not a name"));
}

/* A key that only says so. */
bool field_true(struct field_error *error, const struct place *at, struct json_object *value)
{
	return (json_object_is_type(value, json_type_boolean) && json_object_get_boolean(value)) ||
	       field_fail(error, at, "not true");
}

/* Return: true for what a file of the kernel takes: a number, a text, true or false. */
bool field_is_plain(struct json_object *value)
{
	return json_object_is_type(value, json_type_int) ||
	       json_object_is_type(value, json_type_string) ||
	       json_object_is_type(value, json_type_boolean);
}
