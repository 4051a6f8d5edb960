// SPDX-License-Identifier: GPL-2.0-only
/*
 * vfence bench functions: virtual functions under each policy, measured and modelled. The reference
 * workload R4 is four functions, each a game that the processor limits, with two frames in flight.
 */

#include <json.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_functions.h"
#include "functions.h"
#include "tool.h"
#include "vfence_policy.h"

#define US	1000ull
#define MS	1000000ull
#define ROWS	128

static struct comparison rows[ROWS];
static unsigned int row_count;

static struct simulation *row(const char *name)
{
	struct comparison *r = &rows[row_count++];

	snprintf(r->name, sizeof(r->name), "%s", name);
	return &r->sim;
}

/*
 * Two functions, 2 ms of GPU and 1 ms of CPU, slices of 4 ms, no costs. With exactly 2 ms a frame ends
 * at the very end of a slice, and misses it if any thread wakes up a nanosecond late. Under a policy
 * that does not begin with the first function, that one has to have work first.
 */
static void add_example(const char *name, unsigned int kind, uint64_t gpu_ns, uint64_t later_ns)
{
	struct simulation *s = row(name);
	unsigned int i;

	*s = (struct simulation){
		.kind = kind, .slice_ns = 4 * MS, .functions = 2,
		.warmup_ns = 160 * MS, .end_ns = 2160 * MS,
	};
	for (i = 0; i < 2; i++)
		s->workload[i] = (struct workload){
			.gpu_ns = gpu_ns, .draw_ns = gpu_ns / 40, .cpu_ns = MS, .depth = 1,
			.start_ns = i * later_ns,
		};
}

static struct simulation *add_r4(const char *name, unsigned int kind, uint64_t slice_ns)
{
	struct simulation *s = row(name);

	simulate_r4(s, kind, slice_ns);
	s->end_ns = 4500 * MS;
	return s;
}

static void add_one_of(const char *name, unsigned int kind, unsigned int functions)
{
	struct simulation *s = add_r4(name, kind, 6 * MS);
	unsigned int i;

	s->functions = functions;
	for (i = 1; i < functions; i++)
		s->workload[i] = (struct workload){ .idle = true };
}

/* Some of four functions are busy without an end, the others do nothing. */
static void add_busy(const char *name, unsigned int kind, unsigned int busy)
{
	struct simulation *s = add_r4(name, kind, 6 * MS);
	unsigned int i;

	s->response_ns = 400 * US;
	for (i = 0; i < 4; i++)
		s->workload[i] = (struct workload){
			.gpu_ns = 2 * MS, .draw_ns = 50 * US, .cpu_ns = 100 * US, .depth = 3,
			.idle = i >= busy,
		};
}

static void add_lock(const char *name, unsigned int kind, unsigned int functions)
{
	struct simulation *s = add_r4(name, kind, 6 * MS);
	unsigned int i;

	s->functions = functions;
	s->end_ns = 2500 * MS;
	for (i = 0; i < functions; i++) {
		s->workload[i] = s->workload[0];
		s->workload[i].lock_ns = 16666667;
		s->workload[i].start_ns = 0;
	}
}

/* One function streams jobs of 20 ms that cannot be interrupted, three run at 60 Hz. */
static void add_noisy(const char *name, unsigned int kind, uint64_t slice_ns)
{
	struct simulation *s = add_r4(name, kind, slice_ns);
	unsigned int i;

	s->workload[0] = (struct workload){
		.gpu_ns = 20 * MS, .draw_ns = 20 * MS, .depth = 3,
	};
	for (i = 1; i < 4; i++)
		s->workload[i] = (struct workload){
			.gpu_ns = 2 * MS, .draw_ns = 50 * US, .depth = 2,
			.lock_ns = 16666667, .start_ns = i * 16666667ull / 7,
		};
}

/* R4 and the noisy neighbour under each policy there is, also one that has just been written. */
static void add_each_policy(void)
{
	unsigned int kind;
	char name[40];

	for (kind = 0; kind < VFENCE_POLICIES; kind++) {
		snprintf(name, sizeof(name), "R4, %s, 4 ms", vfence_policies[kind].name);
		add_r4(name, kind, 4 * MS);
		snprintf(name, sizeof(name), "noisy, %s, 4 ms", vfence_policies[kind].name);
		add_noisy(name, kind, 4 * MS);
	}
}

static void add_crowd(const char *name, unsigned int functions)
{
	struct simulation *s = add_r4(name, VFENCE_POLICY_FAIR, 2 * MS);
	unsigned int i;

	s->functions = functions;
	s->end_ns = 2500 * MS;
	for (i = 0; i < functions; i++)
		s->workload[i] = (struct workload){
			.gpu_ns = 2 * MS, .draw_ns = 100 * US, .cpu_ns = 100 * US, .depth = 3,
		};
}

static uint64_t seed = 1;

static uint64_t dice(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

/* A configuration at random. Times are not so short that the emulation is what is measured. */
static void add_random(unsigned int number)
{
	struct simulation *s;
	unsigned int i;
	char name[48];

	seed = 0x9e3779b97f4a7c15 * (number + 1);
	snprintf(name, sizeof(name), "seed %u", number);
	s = row(name);
	*s = (struct simulation){
		.kind = (unsigned int)dice(VFENCE_POLICIES),
		.response_ns = dice(400) * US, .switch_ns = (20 + dice(300)) * US,
		.slice_ns = (1000 + dice(8000)) * US, .functions = 2 + (unsigned int)dice(4),
		.warmup_ns = 300 * MS, .end_ns = 1800 * MS,
	};
	for (i = 0; i < s->functions; i++) {
		uint64_t gpu = (1000 + dice(6000)) * US;

		s->workload[i] = (struct workload){
			.gpu_ns = gpu, .draw_ns = gpu / (1 + dice(40)),
			.cpu_ns = (500 + dice(8000)) * US, .depth = 1 + (unsigned int)dice(3),
			.start_ns = dice(5000) * US,
		};
		s->workload[i].gpu_ns -= gpu % s->workload[i].draw_ns;
	}
}

static void print_row(const struct comparison *r)
{
	const struct outcome *o = &r->measured, *m = &r->model;

	printf("%-26s%8.1f%8.1f%8.2f%8.2f%9.5f%9.2f%9.2f%7llu\n", r->name, o->total_fps,
	       m->total_fps, o->p99, m->p99, o->jain, o->first_ms[0], o->first_ms[1],
	       (unsigned long long)o->preemptions);
}

static json_object *of_each(const double *value, unsigned int functions)
{
	json_object *j = json_object_new_array();
	unsigned int i;

	for (i = 0; i < functions; i++)
		json_object_array_add(j, json_object_new_double(value[i]));
	return j;
}

static json_object *outcome_json(const struct outcome *o, unsigned int functions)
{
	json_object *j = json_object_new_object();

	json_object_object_add(j, "total_fps", json_object_new_double(o->total_fps));
	json_object_object_add(j, "p99_ms", json_object_new_double(o->p99));
	json_object_object_add(j, "fps", of_each(o->fps, functions));
	json_object_object_add(j, "p99_ms_each", of_each(o->p99_ms, functions));
	json_object_object_add(j, "first_ms", of_each(o->first_ms, functions));
	json_object_object_add(j, "jain", json_object_new_double(o->jain));
	json_object_object_add(j, "switching", json_object_new_double(o->switching));
	json_object_object_add(j, "switches", json_object_new_int64((int64_t)o->switches));
	json_object_object_add(j, "preemptions", json_object_new_int64((int64_t)o->preemptions));
	return j;
}

static void print_json(void)
{
	json_object *all = json_object_new_array();
	unsigned int i;

	for (i = 0; i < row_count; i++) {
		json_object *j = json_object_new_object();

		json_object_object_add(j, "name", json_object_new_string(rows[i].name));
		json_object_object_add(j, "policy", json_object_new_string(
				       vfence_policies[rows[i].sim.kind].name));
		json_object_object_add(j, "measured", outcome_json(&rows[i].measured,
								   rows[i].sim.functions));
		json_object_object_add(j, "model", outcome_json(&rows[i].model,
								rows[i].sim.functions));
		json_object_array_add(all, j);
	}
	puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
	json_object_put(all);
}

static void add_rows(void)
{
	add_example("example, round-robin", VFENCE_POLICY_ROUND_ROBIN, 1980 * US, 0);
	add_example("example, on-demand", VFENCE_POLICY_ON_DEMAND, 2 * MS, 20 * US);
	add_busy("four busy, round-robin", VFENCE_POLICY_ROUND_ROBIN, 4);
	add_busy("one busy, fixed", VFENCE_POLICY_FIXED, 1);
	add_busy("four busy, fixed", VFENCE_POLICY_FIXED, 4);
	add_busy("one busy, fair", VFENCE_POLICY_FAIR, 1);
	add_busy("four busy, fair", VFENCE_POLICY_FAIR, 4);
	add_r4("R4, round-robin", VFENCE_POLICY_ROUND_ROBIN, 6 * MS);
	add_r4("R4, elevator", VFENCE_POLICY_ELEVATOR, 6 * MS);
	add_r4("R4, on-demand", VFENCE_POLICY_ON_DEMAND, 6 * MS);
	add_r4("R4, on-demand, 2.32 ms", VFENCE_POLICY_ON_DEMAND, 2320 * US);
	add_r4("R4, fair", VFENCE_POLICY_FAIR, 6 * MS);
	add_r4("R4, ahead", VFENCE_POLICY_AHEAD, 6 * MS);
	add_r4("R4, ahead, 4 ms", VFENCE_POLICY_AHEAD, 4 * MS);
	add_one_of("one of 4, round-robin", VFENCE_POLICY_ROUND_ROBIN, 4);
	add_one_of("one of 16, round-robin", VFENCE_POLICY_ROUND_ROBIN, 16);
	add_one_of("one of 4, on-demand", VFENCE_POLICY_ON_DEMAND, 4);
	add_one_of("one of 16, on-demand", VFENCE_POLICY_ON_DEMAND, 16);
	add_lock("60 Hz, 4, on-demand", VFENCE_POLICY_ON_DEMAND, 4);
	add_lock("60 Hz, 6, on-demand", VFENCE_POLICY_ON_DEMAND, 6);
	add_lock("60 Hz, 8, on-demand", VFENCE_POLICY_ON_DEMAND, 8);
	add_noisy("noisy, round-robin", VFENCE_POLICY_ROUND_ROBIN, 6 * MS);
	add_noisy("noisy, on-demand", VFENCE_POLICY_ON_DEMAND, 6 * MS);
	add_noisy("noisy, fair", VFENCE_POLICY_FAIR, 6 * MS);
	add_noisy("noisy, ahead", VFENCE_POLICY_AHEAD, 6 * MS);
	add_noisy("noisy, ahead, 4 ms", VFENCE_POLICY_AHEAD, 4 * MS);
	add_crowd("crowd of 2, fair", 2);
	add_crowd("crowd of 8, fair", 8);
	add_crowd("crowd of 16, fair", 16);
}

/* Drop the rows that are not wanted. Return: 0, or -ENOENT if none is left. */
static int keep_named(const char *text)
{
	unsigned int i, kept = 0;

	for (i = 0; i < row_count; i++)
		if (!text || strstr(rows[i].name, text))
			rows[kept++] = rows[i];
	row_count = kept;
	return kept ? 0 : -ENOENT;
}

static double off(const struct comparison *r)
{
	double d = r->model.total_fps ? r->measured.total_fps / r->model.total_fps - 1 : 0;

	return d < 0 ? -d : d;
}

static int add_all(const struct options *options, bool modelled)
{
	unsigned int i;

	if (!options->random)
		add_rows();
	if (!options->random && modelled)
		add_each_policy();
	for (i = 0; i < options->random && i < ROWS; i++)
		add_random(i);
	return keep_named(options->row);
}

static int no_such_row(const struct options *options)
{
	fprintf(stderr, "vfence: no row has \"%s\" in its name\n", options->row);
	return -ENOENT;
}

int simulate_main(const struct options *options)
{
	unsigned int i;

	if (add_all(options, true))
		return no_such_row(options);
	printf("%-26s%-12s%8s%8s%9s%8s%8s%8s%8s\n", "", "policy", "fps", "p99 ms", "Jain", "busy %",
	       "switch %", "idle %", "preem.");
	for (i = 0; i < row_count; i++) {
		const struct outcome *o = &rows[i].model;

		simulate_run(&rows[i].sim, &rows[i].model);
		printf("%-26s%-12s%8.1f%8.2f%9.5f%8.1f%8.1f%8.1f%8llu\n", rows[i].name,
		       vfence_policies[rows[i].sim.kind].name, o->total_fps, o->p99, o->jain,
		       100 * o->busy, 100 * o->switching, 100 * o->idle_with_work,
		       (unsigned long long)o->preemptions);
	}
	return 0;
}

/* Trace a row again, for a shorter time: tracing costs time, which must not be in the figures. */
static int trace_row(unsigned int adapter, struct comparison *r)
{
	struct simulation sim = r->sim;
	struct outcome outcome;
	int ret, error;

	if (!recording_start())
		return 0;
	sim.end_ns = sim.warmup_ns + 100 * MS;
	ret = bench_functions_run(adapter, &sim, &outcome, &r->traced);
	error = recording_stop(&r->traced, adapter);
	return ret ? ret : error;
}

static int trace_rows(unsigned int adapter)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < row_count && !ret; i++)
		if (bench_functions_svg_lines(&rows[i]))
			ret = trace_row(adapter, &rows[i]);
	return ret;
}

static int write_picture(const char *dir)
{
	char path[4096];

	if (mkdir(dir, 0777) && errno != EEXIST)
		return -errno;
	snprintf(path, sizeof(path), "%s/functions.svg", dir);
	return bench_functions_svg(rows, row_count, path);
}

int bench_functions_main(const struct options *options)
{
	unsigned int adapter = options->adapter == UINT32_MAX ? 0 : options->adapter, i;
	double worst = 0;
	int ret = 0;

	if (add_all(options, false))
		return no_such_row(options);
	if (!options->json)
		printf("%-26s%8s%8s%8s%8s%9s%9s%9s%7s\n", "", "fps", "model", "p99 ms", "model",
		       "Jain", "first 1", "first 2", "preem.");
	for (i = 0; i < row_count && !ret; i++) {
		simulate_run(&rows[i].sim, &rows[i].model);
		ret = bench_functions_run(adapter, &rows[i].sim, &rows[i].measured,
					  options->output ? &rows[i].recording : NULL);
		if (!ret && !options->json)
			print_row(&rows[i]);
		if (!ret && off(&rows[i]) > worst)
			worst = off(&rows[i]);
	}
	if (!ret && options->output)
		ret = trace_rows(adapter);
	if (!ret && options->output)
		ret = write_picture(options->output);
	for (i = 0; i < row_count; i++) {
		recording_forget(&rows[i].recording);
		recording_forget(&rows[i].traced);
	}
	if (ret)
		return tool_fail("bench functions", ret);
	if (options->json)
		print_json();
	else
		printf("measured and modelled frames differ by %.2f %% at most\n", 100 * worst);
	return 0;
}
