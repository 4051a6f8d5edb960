// SPDX-License-Identifier: GPL-2.0-only
/* vfence run: does what scenario files say, and says whether all was as expected. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scenario.h"
#include "tool.h"

static void print_text(struct json_object *text)
{
	size_t i;

	if (json_object_is_type(text, json_type_string))
		printf("  %s\n", json_object_get_string(text));
	if (!json_object_is_type(text, json_type_array))
		return;
	for (i = 0; i < json_object_array_length(text); i++)
		print_text(json_object_array_get_idx(text, i));
}

static unsigned int adapter_of(const struct options *options)
{
	return options->adapter == UINT32_MAX ? 0 : options->adapter;
}

/* Return: as scenario_run(). */
static int run_scenario(struct json_object *file, const struct options *options,
			struct verdict *verdict)
{
	struct scenario scenario;
	int ret = scenario_read(file, &scenario, verdict->text);

	if (!ret) {
		if (!options->json) {
			printf("%s\n", scenario.title);
			print_text(json_object_object_get(file, "text"));
		}
		ret = scenario_run(&scenario, adapter_of(options), options->json, verdict);
	}
	scenario_free(&scenario);
	return ret;
}

/* Return: as scenario_run(). */
static int run_file(const char *path, const struct options *options, struct json_object *file,
		    struct verdict *verdict)
{
	int ret = options->check ?
		scenario_run_checked(path, adapter_of(options), options->json, verdict) :
		run_scenario(file, options, verdict);

	if (ret < 0)
		fprintf(stderr, "vfence: run: %s: %s\n", path,
			*verdict->text ? verdict->text : strerror(-ret));
	else if (!options->json)
		printf("%s\n", ret ? verdict->text : options->check ? "no rule is broken" :
		       "as expected");
	return ret;
}

static struct json_object *run_result(const char *path, int ret, const struct verdict *verdict)
{
	struct json_object *result = json_object_new_object();

	json_object_object_add(result, "file", json_object_new_string(path));
	json_object_object_add(result, "expected", json_object_new_boolean(!ret));
	if (ret)
		json_object_object_add(result, "verdict", json_object_new_string(verdict->text));
	return result;
}

int run_main(const struct options *options)
{
	struct json_object *results;
	unsigned int i;
	int ret = 0;

	if (!options->file_count)
		return fputs("vfence: run: name a scenario\n", stderr), -EINVAL;
	results = json_object_new_array();
	for (i = 0; i < options->file_count && ret != -EINTR; i++) {
		const char *path = options->files[i];
		struct json_object *file = json_object_from_file(path);
		struct verdict verdict = { .text = "" };
		int failed;

		if (!file) {
			fprintf(stderr, "vfence: run: %s", json_util_get_last_err());
			ret = -EINVAL;
			continue;
		}
		failed = run_file(path, options, file, &verdict);
		json_object_array_add(results, run_result(path, failed, &verdict));
		json_object_put(file);
		ret = failed ? failed : ret;
	}
	if (options->json)
		printf("%s\n", json_object_to_json_string_ext(results, JSON_C_TO_STRING_PRETTY));
	json_object_put(results);
	return ret;
}
