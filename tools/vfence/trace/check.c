// SPDX-License-Identifier: GPL-2.0-only
/* vfence check: does a trace obey the rules? What does not is shown with the events that prove it. */

#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "timeline.h"
#include "tool.h"

static const struct checker *const checkers[] = {
	&check_waits, &check_monitored, &check_engines, &check_steps,
};

#define N_CHECKERS	(sizeof(checkers) / sizeof(checkers[0]))

/*
 * Keep the times of the first violation for the picture. Leave out a last event that comes much later
 * than the others, such as the end of a wait that was lost: the picture would show nothing else.
 */
static void check_keep_first(struct check *check, const uint32_t *proof, unsigned int count)
{
	uint64_t times[2] = { 0 }, time;
	unsigned int i, n = 0;

	for (i = 0; i < count; i++) {
		if (proof[i] == NO_EVENT)
			continue;
		time = check->events->list[proof[i]].time;
		if (n++ >= 2 && time - times[0] > 20 * (times[1] - times[0]))
			break;
		times[n == 1 ? 0 : 1] = time;
	}
	check->first.from = times[0];
	check->first.until = n > 1 ? times[1] : times[0];
}

/*
 * Report a violation of @rule. @proof: the events that prove it, in the order of time; NO_EVENT is
 * left out.
 */
void check_found(struct check *check, const char *rule, const uint32_t *proof, unsigned int count,
		 const char *format, ...)
{
	const struct event *before = NULL;
	va_list args;
	unsigned int i;

	if (check->found++ >= check->limit)
		return;
	fprintf(check->to, "\n%s: ", rule);
	va_start(args, format);
	vfprintf(check->to, format, args);
	va_end(args);
	if (check->found == 1) {
		int length = snprintf(check->first.text, sizeof(check->first.text), "%s: ", rule);

		check->first.rule = rule;
		va_start(args, format);
		vsnprintf(check->first.text + length, sizeof(check->first.text) - (size_t)length,
			  format, args);
		va_end(args);
		check_keep_first(check, proof, count);
	}
	fputs("\n", check->to);
	for (i = 0; i < count; i++) {
		const struct event *e;

		if (proof[i] == NO_EVENT)
			continue;
		e = &check->events->list[proof[i]];
		if (before && e > before + 1)
			fprintf(check->to, "%19s  ... %td events\n", "", e - before - 1);
		events_print(check->events, e, check->to);
		before = e;
	}
}

static void check_part(struct check *check, uint32_t from, uint32_t to, bool last)
{
	void *state;
	uint32_t i;
	size_t k;

	for (k = 0; k < N_CHECKERS && !check->no_memory; k++) {
		state = checkers[k]->begin();
		if (!state) {
			check->no_memory = true;
			return;
		}
		for (i = from; i < to && !check->no_memory; i++)
			checkers[k]->event(check, state, &check->events->list[i], i);
		checkers[k]->end(check, state, last);
	}
}

/* A time of which the trace does not have the events of a processor. */
struct gap {
	uint64_t begin, end;
};

static int by_begin(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Find the gaps, in the order of time; those that overlap are one. Return: their number. */
static int check_find_gaps(const struct events *events, struct gap **gaps)
{
	uint32_t i, n = 0, k = 0;
	struct gap *gap;

	for (i = 0; i < events->count; i++)
		n += events->list[i].kind == EVENT_LOST;
	gap = calloc(n + 1, sizeof(*gap));
	*gaps = gap;
	if (!gap)
		return -ENOMEM;
	for (i = n = 0; i < events->count; i++)
		if (events->list[i].kind == EVENT_LOST)
			gap[n++] = (struct gap){ events->list[i].from, events->list[i].time };
	qsort(gap, n, sizeof(*gap), by_begin);
	for (i = 1; i < n; i++) {
		if (gap[i].begin > gap[k].end)
			gap[++k] = gap[i];
		else if (gap[i].end > gap[k].end)
			gap[k].end = gap[i].end;
	}
	return n ? (int)k + 1 : 0;
}

/* Check the parts between the gaps, each for itself. */
static void check_parts(struct check *check, const struct gap *gaps, int count)
{
	const struct events *events = check->events;
	uint32_t from = 0, to = 0;
	int i;

	for (i = 0; i < count; i++) {
		for (to = from; to < events->count && events->list[to].time <= gaps[i].begin; to++)
			;
		check_part(check, from, to, false);
		for (from = to; from < events->count && events->list[from].time < gaps[i].end; from++)
			;
	}
	check_part(check, from, events->count, true);
}

/* Events of both systems are needed: without those of the GPU the driver has no causes. */
static bool check_is_whole(const struct events *events)
{
	bool gpu = false, needs = false;
	uint32_t i;

	for (i = 0; i < events->count; i++) {
		gpu |= events->list[i].kind < EVENT_HANDLE;
		needs |= events->list[i].kind == EVENT_HANDLED ||
			 events->list[i].kind == EVENT_SIGNAL_LOGGED;
	}
	return gpu || !needs;
}

/* Draw the first violation of file @number. Return: 0 or a negative error. */
static int check_draw(const struct check *check, const char *dir, unsigned int number)
{
	struct joins joins;
	char path[4096];
	int ret;

	if (!dir)
		return 0;
	if (mkdir(dir, 0777) && errno != EEXIST)
		return -errno;
	snprintf(path, sizeof(path), number > 1 ? "%s/violation-%u.svg" : "%s/violation.svg", dir,
		 number);
	/* A picture of an earlier trace would be taken for one of this. */
	if (unlink(path) && errno != ENOENT)
		return -errno;
	if (!check->found)
		return 0;
	ret = joins_make(check->events, &joins);
	if (ret)
		return ret;
	ret = timeline_write_window(check->events, &joins, path, check->first.from,
				    check->first.until, check->first.text);
	joins_free(&joins);
	return ret;
}

/* Return: the number of violations, or a negative error. */
static int check_all(struct check *check)
{
	struct gap *gaps;
	int count;

	if (!check_is_whole(check->events))
		return -ENODATA;
	count = check_find_gaps(check->events, &gaps);
	if (count >= 0)
		check_parts(check, gaps, count);
	free(gaps);
	return count < 0 || check->no_memory ? -ENOMEM : (int)check->found;
}

/* The same, and say what they are. */
static int check_events(const struct events *events, FILE *to, const char *dir,
			unsigned int number)
{
	struct check check = { .events = events, .to = to, .limit = 10 };
	int found = check_all(&check), ret;

	if (found < 0)
		return found;
	if (check.found > check.limit)
		fprintf(to, "\n... and %u more\n", check.found - check.limit);
	ret = check_draw(&check, dir, number);
	return ret ? ret : found;
}

/*
 * Check events without printing anything. Return: the number of violations, of which @first is the
 * first one and @rule its rule; or a negative error.
 */
int check_list(const struct events *events, const char **rule, char first[CHECK_TEXT])
{
	struct check check = { .events = events, .limit = 1 };
	int ret;

	check.to = fopen("/dev/null", "we");
	ret = check.to ? check_all(&check) : -errno;
	if (check.to)
		fclose(check.to);
	*rule = check.first.rule;
	snprintf(first, CHECK_TEXT, "%s", check.first.text);
	return ret;
}

/* The same for a file. */
int check_trace(const char *path, const char **rule, char first[CHECK_TEXT])
{
	struct events events;
	int ret = events_load(path, &events);

	if (ret)
		return ret;
	ret = check_list(&events, rule, first);
	events_free(&events);
	return ret;
}

static int check_file(const char *path, const char *dir, unsigned int number)
{
	struct events events;
	int ret = events_load(path, &events);

	if (ret) {
		fprintf(stderr, "vfence: check: %s: %s\n", path,
			ret == -ENOMSG ? "no events of vfence or vgpu" : strerror(-ret));
		return ret;
	}
	ret = check_events(&events, stdout, dir, number);
	if (ret < 0)
		fprintf(stderr, "vfence: check: %s: %s\n", path, ret == -ENODATA ?
			"no events of vgpu; record both systems, as vfence trace does" :
			strerror(-ret));
	else
		printf("%s%s: %u events, %llu lost, %d violations\n", ret ? "\n" : "", path,
		       events.count, (unsigned long long)events.missed, ret);
	events_free(&events);
	return ret;
}

int check_main(const struct options *options)
{
	unsigned int i;
	int ret = 0;

	if (!options->file_count) {
		fputs("vfence: check: name a trace that vfence trace or trace-cmd has recorded\n",
		      stderr);
		return -EINVAL;
	}
	for (i = 0; i < options->file_count; i++)
		ret |= check_file(options->files[i], options->output, i + 1);
	return ret;
}
