// SPDX-License-Identifier: GPL-2.0-only
/*
 * vfence shrink: makes a scenario smaller that is not as expected, as long as it fails in the
 * same way.
 *
 * A cut takes a run of elements from an array, a key from an object, or half of a number. Cuts
 * are tried one after the other, large ones first, until none is left after which the failure is
 * the same. What a cut makes of the file need not be a scenario: then the cut is not taken.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenario.h"
#include "tool.h"

enum cut_kind { CUT_ELEMENTS, CUT_KEY, CUT_NUMBER, CUT_KINDS };

/* The cut of a kind that is to be made: those before it are counted down. */
struct cut {
	enum cut_kind kind;
	unsigned int left;
	bool made;
};

static bool cut_is_it(struct cut *cut)
{
	cut->made = !cut->left--;
	return cut->made;
}

static void cut_elements(struct cut *cut, struct json_object *array)
{
	size_t length = json_object_array_length(array), size, at;

	for (size = length; size; size /= 2)
		for (at = 0; at < length; at += size) {
			if (!cut_is_it(cut))
				continue;
			json_object_array_del_idx(array, at,
						  size < length - at ? size : length - at);
			return;
		}
}

/* Halve a number, down to 1; bytes stay a multiple of 4. */
static void cut_number(struct cut *cut, struct json_object *object, const char *key,
		       struct json_object *value)
{
	bool bytes = !strcmp(key, "fill") || !strcmp(key, "copy");
	double number = json_object_get_double(value);

	if (!bytes && strcmp(key, "repeat") && strcmp(key, "count") && strcmp(key, "draw_us") &&
	    strcmp(key, "sleep_us"))
		return;
	if (number <= (bytes ? 4 : 1) || !cut_is_it(cut))
		return;
	json_object_object_add(object, key,
			       json_object_new_uint64((uint64_t)(number / 2) & ~(bytes ? 3ull : 0)));
}

/* Go through the file, and make the cut when its turn comes. */
static void cut_walk(struct cut *cut, struct json_object *json)
{
	size_t i;

	if (json_object_is_type(json, json_type_array)) {
		if (cut->kind == CUT_ELEMENTS)
			cut_elements(cut, json);
		for (i = 0; !cut->made && i < json_object_array_length(json); i++)
			cut_walk(cut, json_object_array_get_idx(json, i));
		return;
	}
	if (!json_object_is_type(json, json_type_object))
		return;
	json_object_object_foreach(json, key, value) {
		if (cut->kind == CUT_NUMBER)
			cut_number(cut, json, key, value);
		else if (cut->kind == CUT_KEY && cut_is_it(cut))
			json_object_object_del(json, key);
		if (cut->made)
			return;
		cut_walk(cut, value);
		if (cut->made)
			return;
	}
}

/* ------------------------------------------------------- does it fail the same */

struct shrink {
	unsigned int adapter;
	/* The rules that a trace of it breaks decide. */
	bool check;
	/* The command that decides, with "{}" for the file; or none. */
	char **command;
	unsigned int words;
	/* How the whole scenario fails: its verdict, or the exit code of the command. */
	struct verdict verdict;
	int code;
	unsigned int runs;
	bool interrupted;
};

/* Run the command on a file. Return: its exit code, or a negative errno. */
static int shrink_execute(const struct shrink *s, const char *path)
{
	char *words[260] = { NULL };
	unsigned int i;
	int status, null;
	pid_t child;

	for (i = 0; i < s->words; i++)
		words[i] = strcmp(s->command[i], "{}") ? s->command[i] : (char *)path;
	fflush(NULL);
	child = fork();
	if (child < 0)
		return -errno;
	if (!child) {
		null = open("/dev/null", O_RDWR);
		dup2(null, 1);
		dup2(null, 2);
		execvp(words[0], words);
		_exit(127);
	}
	if (waitpid(child, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Run what needs a file. Return: as shrink_run(). */
static int shrink_run_file(const struct shrink *s, struct json_object *file,
			   struct verdict *verdict)
{
	char path[] = "/tmp/vfence-shrink-XXXXXX";
	int fd = mkstemp(path), code;

	if (fd < 0)
		return -errno;
	code = json_object_to_fd(fd, file, JSON_C_TO_STRING_PLAIN) ? -EIO : 0;
	close(fd);
	if (!code)
		code = s->words ? shrink_execute(s, path) :
				  scenario_run_checked(path, s->adapter, true, verdict);
	unlink(path);
	return code;
}

/*
 * Return: the exit code of the command, or 1 with a verdict if there is none; or a negative errno.
 */
static int shrink_run(struct shrink *s, struct json_object *file, struct verdict *verdict)
{
	struct scenario scenario;
	int ret = scenario_read(file, &scenario, verdict->text);

	if (!ret) {
		s->runs++;
		ret = s->words || s->check ? shrink_run_file(s, file, verdict) :
			scenario_run(&scenario, s->adapter, true, verdict);
	}
	scenario_free(&scenario);
	s->interrupted |= ret == -EINTR;
	return ret;
}

static bool shrink_fails_alike(struct shrink *s, struct json_object *file)
{
	struct verdict verdict = { .text = "" };

	return shrink_run(s, file, &verdict) == s->code && !strcmp(verdict.kind, s->verdict.kind);
}

/* ------------------------------------------------------------------ command */

/*
 * Try the cuts of a kind, and keep those that do not change the failure. Return: true if there is
 * one.
 */
static bool shrink_cuts(struct shrink *s, enum cut_kind kind, struct json_object **best)
{
	struct cut cut = { .kind = kind };
	unsigned int n = 0;
	bool any = false;

	while (!s->interrupted) {
		struct json_object *next = NULL;

		if (json_object_deep_copy(*best, &next, NULL))
			break;
		cut = (struct cut){ .kind = kind, .left = n };
		cut_walk(&cut, next);
		if (!cut.made) {
			json_object_put(next);
			break;
		}
		if (!shrink_fails_alike(s, next)) {
			json_object_put(next);
			n++;
			continue;
		}
		/* The cut of this number is another one now. */
		json_object_put(*best);
		*best = next;
		any = true;
	}
	return any;
}

static void shrink_all(struct shrink *s, struct json_object **best)
{
	enum cut_kind kind;
	bool any;

	do {
		any = false;
		for (kind = 0; kind < CUT_KINDS; kind++)
			any |= shrink_cuts(s, kind, best);
	} while (any && !s->interrupted);
}

/* See how the whole scenario fails. Return: 0 or a negative errno. */
static int shrink_begin(struct shrink *s, struct json_object *file)
{
	int ret = shrink_run(s, file, &s->verdict);

	s->code = ret;
	if (ret > 0 && s->check && !s->words && !strcmp(s->verdict.kind, SCENARIO_NO_RULE))
		return fputs("vfence: shrink: no rule is broken\n", stderr), -EINVAL;
	if (ret > 0 && !(s->words && ret == 127))
		return 0;
	if (ret < 0)
		fprintf(stderr, "vfence: shrink: %s\n",
			*s->verdict.text ? s->verdict.text : strerror(-ret));
	else if (!ret)
		fputs("vfence: shrink: all is as expected, so there is nothing to look for\n", stderr);
	else
		fprintf(stderr, "vfence: shrink: no such command: %s\n", s->command[0]);
	return ret < 0 ? ret : -EINVAL;
}

int shrink_main(const struct options *options)
{
	struct shrink s = { .adapter = options->adapter == UINT32_MAX ? 0 : options->adapter };
	struct json_object *best;
	int ret;

	if (!options->file_count)
		return fputs("vfence: shrink: name a scenario\n", stderr), -EINVAL;
	s.check = options->check;
	s.command = options->files + 1;
	s.words = options->file_count - 1;
	best = json_object_from_file(options->files[0]);
	if (!best)
		return fprintf(stderr, "vfence: shrink: %s", json_util_get_last_err()), -EINVAL;
	ret = shrink_begin(&s, best);
	if (!ret) {
		shrink_all(&s, &best);
		printf("%s\n", json_object_to_json_string_ext(best, JSON_C_TO_STRING_PRETTY |
							      JSON_C_TO_STRING_NOSLASHESCAPE));
		fprintf(stderr, "vfence: shrink: %u runs; what is left fails as before: %s\n", s.runs,
			s.words ? "the command exits with the same code" : s.verdict.text);
	}
	json_object_put(best);
	return ret;
}
