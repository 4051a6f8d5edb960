// SPDX-License-Identifier: GPL-2.0-only
/* The figures of the demo, and checks that they add up. */

#include <stddef.h>
#include <string.h>

#include <json-c/json.h>

#include "demo.h"

struct row {
	/* In JSON, where it stays, and in text. */
	const char *key, *name;
	uint64_t value[DEMO_ACTS];
};

#define MAX_ROWS 32

struct table {
	struct row row[MAX_ROWS];
	unsigned int rows;
};

struct check {
	const char *key, *name;
	bool good;
};

static uint64_t *add(struct table *t, const char *key, const char *name)
{
	struct row *row = &t->row[t->rows++];

	row->key = key;
	row->name = name;
	return row->value;
}

#define DELTA(r, act, from, to, field) ((r)->to[act].field - (r)->from[act].field)

static void fill_act(struct table *t, const struct demo_result *r, unsigned int act)
{
	const struct demo_act *a = &r->shared->report[DEMO_A].act[act];
	const struct demo_act *b = &r->shared->report[DEMO_B].act[act];
	unsigned int row = 0;

#define PUT(key, text, expression) do {						\
	uint64_t *_v = act ? t->row[row].value : add(t, key, text);			\
	_v[act] = (expression);							\
	row++;									\
} while (0)
	PUT("frames", "frames", r->frames);
	PUT("gpu_signals", "GPU signals executed", DELTA(r, act, before, after, signals));
	PUT("suppressed", "  suppressed (no interrupt)", DELTA(r, act, before, after, suppressed));
	PUT("interrupts_before_final_wait", "interrupts until the final wait",
	    DELTA(r, act, before, final, interrupts_raised));
	PUT("interrupts_in_final_wait", "interrupts in the final wait",
	    DELTA(r, act, final, after, interrupts_raised));
	PUT("coalesced", "  coalesced", DELTA(r, act, before, after, interrupts_coalesced));
	PUT("spurious_records", "  spurious records (legal)",
	    DELTA(r, act, before, after, records_spurious));
	PUT("proc_interrupts", "/proc/interrupts", r->proc_after[act] - r->proc_before[act]);
	PUT("cpu_waits", "CPU waits", a->cpu_waits + b->cpu_waits);
	PUT("waiters_woken", "waiters woken", DELTA(r, act, before, after, waits_satisfied));
	PUT("a_submissions", "A: submissions, steady state", a->submissions);
	PUT("a_system_calls", "A:   system calls", a->syscalls);
	PUT("a_page_faults", "A:   page faults", a->faults);
	PUT("b_submissions", "B: submissions, steady state", b->submissions);
	PUT("b_system_calls", "B:   system calls", b->syscalls);
	PUT("b_page_faults", "B:   page faults", b->faults);
	PUT("ioctls", "driver: ioctls", DELTA(r, act, before, after, ioctls));
	PUT("doorbell_faults", "driver: doorbell faults",
	    DELTA(r, act, before, after, doorbell_faults));
	PUT("log_entries_fetched", "log entries fetched", a->log_entries + b->log_entries);
	PUT("log_entries_lost", "log entries lost", a->log_lost + b->log_lost);
	PUT("microseconds", "microseconds", (uint64_t)(r->end[act] - r->begin[act]) / 1000);
#undef PUT
}

static void fill(struct table *t, const struct demo_result *r)
{
	unsigned int act;

	t->rows = 0;
	for (act = 0; act < DEMO_ACTS; act++)
		fill_act(t, r, act);
}

/* Check every balance of every act. @before includes the ioctl that read it. */
static unsigned int checks(const struct demo_result *r, struct check *out)
{
	const struct demo_report *rep = r->shared->report;
	bool signals = true, posts = true, records = true, handler = true, logs = true;
	bool proc = true, ioctls = true, waits = true, silent = true, lost = true;
	unsigned int i, n = 0;

	for (i = 0; i < DEMO_ACTS; i++) {
		const struct vf_counters *c = &r->after[i];

		signals &= DELTA(r, i, before, after, signals) == 4ull * r->frames;
		posts &= c->signals == c->suppressed + c->posts &&
			 c->posts == c->cmp_rechecked_out + c->cmp_recorded + c->cmp_overflowed;
		records &= c->cmp_recorded == c->records_useful + c->records_spurious;
		handler &= c->handler_runs == c->interrupts_raised - c->interrupts_coalesced;
		logs &= c->log_packets == c->log_entries_read + c->log_entries_lost +
					  c->log_entries_unread;
		proc &= r->proc_after[i] - r->proc_before[i] ==
			DELTA(r, i, before, after, handler_runs);
		ioctls &= DELTA(r, i, before, after, ioctls) ==
			  rep[DEMO_A].act[i].ioctls + rep[DEMO_B].act[i].ioctls;
		waits &= c->waits_begun == c->waits_satisfied + c->waits_timed_out +
					   c->waits_cancelled;
		lost &= rep[DEMO_A].act[i].log_lost + rep[DEMO_B].act[i].log_lost ==
			DELTA(r, i, before, after, log_entries_lost);
	}
	silent = !DELTA(r, 0, before, final, interrupts_raised);
	out[n++] = (struct check){ "right_frames", "B found the right frame in every slot",
				   !rep[DEMO_B].bad_slots };
	out[n++] = (struct check){ "signals",
				   "signals = 2 queues x frames x (fence + progress)", signals };
	out[n++] = (struct check){ "posts",
				   "signals = suppressed + rechecked + recorded + overflowed",
				   posts };
	out[n++] = (struct check){ "records", "records = useful + spurious", records };
	out[n++] = (struct check){ "handler_runs", "handler runs = raises - coalesced", handler };
	out[n++] = (struct check){ "proc_interrupts", "handler runs = /proc/interrupts", proc };
	out[n++] = (struct check){ "waits", "waits = satisfied + timed out + cancelled", waits };
	out[n++] = (struct check){ "log_packets", "LOG packets = read + lost + unread", logs };
	out[n++] = (struct check){ "lost_entries",
				   "lost entries: queues' own count = adapter's", lost };
	out[n++] = (struct check){ "ioctls",
				   "ioctls: the clients' own count = the driver's", ioctls };
	out[n++] = (struct check){ "no_interrupt_in_act_1",
				   "act 1: no interrupt until the final wait", silent };
	return n;
}

static void print_text(const struct demo_result *r, const struct table *t,
		       const struct check *check, unsigned int n, FILE *to)
{
	const struct demo_report *rep = r->shared->report;
	unsigned int i, k;

	fprintf(to, "%-34s %12s %12s %12s\n", "", "act 1", "act 2", "act 3");
	fprintf(to, "%-34s %12s %12s %12s\n", "CPU waiter", "none", "every 10th", "eventfd");
	for (i = 0; i < t->rows; i++) {
		fprintf(to, "%-34s", t->row[i].name);
		for (k = 0; k < DEMO_ACTS; k++)
			fprintf(to, " %12llu", (unsigned long long)t->row[i].value[k]);
		fputc('\n', to);
	}
	for (k = 0; k < DEMO_CLIENTS; k++) {
		fprintf(to, "%c: kernel entries per submission  ", 'A' + (int)k);
		for (i = 0; i < DEMO_ACTS; i++) {
			const struct demo_act *a = &rep[k].act[i];

			if (a->counted)
				fprintf(to, " %12.3f", (double)(a->syscalls + a->faults) /
					(double)a->submissions);
			else
				fprintf(to, " %12s", "n/a");
		}
		fputc('\n', to);
	}
	fputc('\n', to);
	for (i = 0; i < n; i++)
		fprintf(to, "[%s] %s\n", check[i].good ? " ok " : "FAIL", check[i].name);
}

static void print_json(const struct demo_result *r, const struct table *t,
		       const struct check *check, unsigned int n, FILE *to)
{
	json_object *o = json_object_new_object(), *acts = json_object_new_array();
	json_object *list = json_object_new_object();
	unsigned int i, k;
	char text[24];

	for (k = 0; k < DEMO_ACTS; k++) {
		json_object *act = json_object_new_object();

		for (i = 0; i < t->rows; i++) {
			snprintf(text, sizeof(text), "%llu",
				 (unsigned long long)t->row[i].value[k]);
			json_object_object_add(act, t->row[i].key, json_object_new_string(text));
		}
		json_object_array_add(acts, act);
	}
	for (i = 0; i < n; i++)
		json_object_object_add(list, check[i].key, json_object_new_boolean(check[i].good));
	json_object_object_add(o, "frames", json_object_new_int((int)r->frames));
	json_object_object_add(o, "acts", acts);
	json_object_object_add(o, "checks", list);
	fprintf(to, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
}

int demo_summary(const struct demo_result *result, FILE *to, bool json)
{
	struct check check[16];
	struct table table;
	unsigned int i, n = checks(result, check);
	bool good = true;

	fill(&table, result);
	if (json)
		print_json(result, &table, check, n, to);
	else
		print_text(result, &table, check, n, to);
	for (i = 0; i < n; i++)
		good &= check[i].good;
	return good ? 0 : -EPROTO;
}
