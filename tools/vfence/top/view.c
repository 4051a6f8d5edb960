// SPDX-License-Identifier: GPL-2.0-only
/* Prints the difference of two samples of an adapter, as a text and as JSON. */

#include <inttypes.h>

#include <json-c/json.h>

#include "view.h"

/* Return: the part of the time between the samples that @from to @to is, in percent. */
static double view_share(const struct sample *before, const struct sample *now, uint64_t from,
			 uint64_t to)
{
	return now->time > before->time && to > from ?
	       100.0 * (double)(to - from) / (double)(now->time - before->time) : 0;
}

static double view_rate(const struct sample *before, const struct sample *now, uint64_t from,
			uint64_t to)
{
	return view_share(before, now, from, to) * 1e7;
}

/* Return: what a client has had of an engine, in percent. One that is new had nothing before. */
static double view_client_share(const struct sample *before, const struct sample *now,
				const struct sample_client *c, unsigned int node)
{
	const struct sample_client *was = sample_find_client(before, c->id);

	return view_share(before, now, was ? was->engine_ns[node] : 0, c->engine_ns[node]);
}

static void text_engines(const struct sample *before, const struct sample *now, FILE *to)
{
	unsigned int i, k;

	for (i = 0; i < now->engine_count; i++) {
		double busy = view_share(before, now, before->engines[i].busy_ns,
					 now->engines[i].busy_ns);

		fprintf(to, "%-8s %5.1f %% ", now->engines[i].name, busy);
		for (k = 0; k < 50 && k * 2 + 1 < busy; k++)
			fputc('|', to);
		fputc('\n', to);
	}
}

static void text_counters(const struct sample *before, const struct sample *now, FILE *to)
{
	const struct vf_counters *a = &before->counters, *b = &now->counters;

	if (!now->counted) {
		fputs("counters need debugfs: run as root\n", to);
		return;
	}
	fprintf(to, "per second: %.0f signals, %.0f of them without an interrupt; %.0f interrupts, "
		"%.0f waits of threads, %.0f ioctls\n", view_rate(before, now, a->signals, b->signals),
		view_rate(before, now, a->suppressed, b->suppressed),
		view_rate(before, now, a->interrupts_raised, b->interrupts_raised),
		view_rate(before, now, a->waits_begun, b->waits_begun),
		view_rate(before, now, a->ioctls, b->ioctls));
	fprintf(to, "so far: %" PRIu64 " resets of engines, %" PRIu64 " of the adapter\n",
		b->engine_resets, b->adapter_resets);
}

static void text_clients(const struct sample *before, const struct sample *now, FILE *to)
{
	unsigned int i, k;

	fprintf(to, "\n%-8s%8s %-16s", "client", "pid", "command");
	for (k = 0; k < now->engine_count; k++)
		fprintf(to, "%8s", now->engines[k].name);
	fprintf(to, "%12s%6s%6s\n", "memory", "hung", "lost");
	for (i = 0; i < now->client_count; i++) {
		const struct sample_client *c = &now->clients[i];

		fprintf(to, "%-8" PRIu64 "%8d %-16s", c->id, c->pid, c->comm);
		for (k = 0; k < now->engine_count; k++)
			fprintf(to, "%6.1f %%", view_client_share(before, now, c, k));
		fprintf(to, "%8" PRIu64 " KiB%6" PRIu64 "%6" PRIu64 "\n", c->memory >> 10, c->hung,
			c->reset);
	}
}

/* What a queue waits for, and how far that is. */
static void text_blocked(const struct sample *now, const struct sample_queue *q, FILE *to)
{
	const struct sample_fence *f = sample_find_fence(now, q->fence);

	if (q->suspended)
		fputs("is suspended", to);
	else if (q->fence && f)
		fprintf(to, "waits for fence %u to reach %" PRIu64 ", it has %" PRIu64, q->fence,
			q->value, f->current);
	else if (q->fence)
		fprintf(to, "waits for fence %u to reach %" PRIu64, q->fence, q->value);
}

static void text_queues(const struct sample *before, const struct sample *now, FILE *to)
{
	unsigned int i;

	if (!now->has_state) {
		fputs("\nqueues need debugfs: run as root\n", to);
		return;
	}
	fprintf(to, "\n%-8s%-8s%-9s%-8s%-9s%10s%11s\n", "queue", "client", "engine", "kind", "state",
		"busy", "packets/s");
	for (i = 0; i < now->queue_count; i++) {
		const struct sample_queue *q = &now->queues[i], *was = sample_find_queue(before, q->queue);

		fprintf(to, "%-8u%-8" PRIu64 "%-9s%-8s%-9s%8.1f %%%11.0f  ", q->queue, q->client,
			q->node < now->engine_count ? now->engines[q->node].name : "?", q->kind,
			q->state, view_share(before, now, was ? was->busy_ns : 0, q->busy_ns),
			view_rate(before, now, was ? was->packets : 0, q->packets));
		text_blocked(now, q, to);
		fputc('\n', to);
	}
	for (i = 0; i < now->fence_count; i++) {
		const struct sample_fence *f = &now->fences[i];

		fprintf(to, "%sfence %u, %s: has %" PRIu64 ", %" PRIu64 " waiters, the first for %" PRIu64
			"\n", i ? "" : "\nawaited by threads and submissions\n", f->fence, f->kind,
			f->current, f->waiters, f->value);
	}
}

static void text_functions(const struct sample *before, const struct sample *now, FILE *to)
{
	unsigned int i;

	for (i = 0; now->function_count > 1 && i < now->function_count; i++)
		fprintf(to, "%sfunction %-4u%8.1f %% of the graphics engines, %.0f turns/s\n",
			i ? "" : "\n", i, view_share(before, now, before->functions[i].run_ns,
						     now->functions[i].run_ns),
			view_rate(before, now, before->functions[i].turns, now->functions[i].turns));
}

void view_text(const struct sample *before, const struct sample *now, FILE *to)
{
	fprintf(to, "vfence%u: %u clients, %u queues, in %.1f s\n", now->adapter, now->client_count,
		now->queue_count, (double)(now->time - before->time) / 1e9);
	text_engines(before, now, to);
	text_counters(before, now, to);
	text_clients(before, now, to);
	text_queues(before, now, to);
	text_functions(before, now, to);
}

static void put_number(json_object *to, const char *key, double value)
{
	json_object_object_add(to, key, json_object_new_double(value));
}

/* Values of 64 bits are strings. */
static void put_value(json_object *to, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	json_object_object_add(to, key, json_object_new_string(text));
}

static void put_text(json_object *to, const char *key, const char *text)
{
	json_object_object_add(to, key, json_object_new_string(text));
}

static json_object *json_engines(const struct sample *before, const struct sample *now)
{
	json_object *list = json_object_new_array();
	unsigned int i;

	for (i = 0; i < now->engine_count; i++) {
		json_object *o = json_object_new_object();

		put_text(o, "engine", now->engines[i].name);
		put_number(o, "busy_percent", view_share(before, now, before->engines[i].busy_ns,
							 now->engines[i].busy_ns));
		json_object_array_add(list, o);
	}
	return list;
}

static json_object *json_clients(const struct sample *before, const struct sample *now)
{
	json_object *list = json_object_new_array();
	unsigned int i, k;

	for (i = 0; i < now->client_count; i++) {
		json_object *o = json_object_new_object(), *shares = json_object_new_object();
		const struct sample_client *c = &now->clients[i];

		put_value(o, "client", c->id);
		json_object_object_add(o, "pid", json_object_new_int(c->pid));
		put_text(o, "command", c->comm);
		for (k = 0; k < now->engine_count; k++)
			put_number(shares, now->engines[k].name,
				   view_client_share(before, now, c, k));
		json_object_object_add(o, "busy_percent", shares);
		put_value(o, "memory_bytes", c->memory);
		put_value(o, "devices_hung", c->hung);
		put_value(o, "devices_reset", c->reset);
		json_object_array_add(list, o);
	}
	return list;
}

static json_object *json_queues(const struct sample *before, const struct sample *now)
{
	json_object *list = json_object_new_array();
	unsigned int i;

	for (i = 0; i < now->queue_count; i++) {
		const struct sample_queue *q = &now->queues[i], *was = sample_find_queue(before, q->queue);
		json_object *o = json_object_new_object();

		json_object_object_add(o, "queue", json_object_new_int64(q->queue));
		put_value(o, "client", q->client);
		json_object_object_add(o, "node", json_object_new_int64(q->node));
		put_text(o, "kind", q->kind);
		put_text(o, "state", q->state);
		json_object_object_add(o, "suspended", json_object_new_boolean(q->suspended));
		put_number(o, "busy_percent", view_share(before, now, was ? was->busy_ns : 0,
							 q->busy_ns));
		if (q->fence) {
			json_object_object_add(o, "fence", json_object_new_int64(q->fence));
			put_value(o, "value", q->value);
		}
		json_object_array_add(list, o);
	}
	return list;
}

static json_object *json_fences(const struct sample *now)
{
	json_object *list = json_object_new_array();
	unsigned int i;

	for (i = 0; i < now->fence_count; i++) {
		const struct sample_fence *f = &now->fences[i];
		json_object *o = json_object_new_object();

		json_object_object_add(o, "fence", json_object_new_int64(f->fence));
		put_text(o, "kind", f->kind);
		put_value(o, "current", f->current);
		put_value(o, "monitored", f->monitored);
		put_value(o, "waiters", f->waiters);
		put_value(o, "least_awaited", f->value);
		json_object_array_add(list, o);
	}
	return list;
}

static json_object *json_functions(const struct sample *before, const struct sample *now)
{
	json_object *list = json_object_new_array();
	unsigned int i;

	for (i = 0; i < now->function_count; i++) {
		json_object *o = json_object_new_object();

		json_object_object_add(o, "function", json_object_new_int64(i));
		put_number(o, "gfx_percent", view_share(before, now, before->functions[i].run_ns,
							now->functions[i].run_ns));
		json_object_array_add(list, o);
	}
	return list;
}

static json_object *json_rates(const struct sample *before, const struct sample *now)
{
	const struct vf_counters *a = &before->counters, *b = &now->counters;
	json_object *o = json_object_new_object();

	put_number(o, "signals", view_rate(before, now, a->signals, b->signals));
	put_number(o, "suppressed", view_rate(before, now, a->suppressed, b->suppressed));
	put_number(o, "interrupts", view_rate(before, now, a->interrupts_raised,
					      b->interrupts_raised));
	put_number(o, "cpu_waits", view_rate(before, now, a->waits_begun, b->waits_begun));
	put_number(o, "ioctls", view_rate(before, now, a->ioctls, b->ioctls));
	return o;
}

void view_json(const struct sample *before, const struct sample *now, FILE *to)
{
	json_object *o = json_object_new_object();

	json_object_object_add(o, "adapter", json_object_new_int64(now->adapter));
	put_number(o, "seconds", (double)(now->time - before->time) / 1e9);
	json_object_object_add(o, "engines", json_engines(before, now));
	json_object_object_add(o, "clients", json_clients(before, now));
	if (now->counted) {
		json_object_object_add(o, "per_second", json_rates(before, now));
		put_value(o, "engine_resets", now->counters.engine_resets);
		put_value(o, "adapter_resets", now->counters.adapter_resets);
	}
	if (now->has_state) {
		json_object_object_add(o, "queues", json_queues(before, now));
		json_object_object_add(o, "awaited_fences", json_fences(now));
	}
	if (now->function_count)
		json_object_object_add(o, "functions", json_functions(before, now));
	fprintf(to, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
}
