// SPDX-License-Identifier: GPL-2.0-only
/* Reads the steps of the clients, with packets and points. */

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

#define DEFAULT_TIMEOUT_MS	10000
#define MAX_US			(SCENARIO_TIMEOUT_MS * 1000.0)

/* ------------------------------------------------------- numbers and points */

/* "n", "n+1", "2n-1": the round of the repetition. */
static bool read_round(struct reader *r, const struct place *at, const char *text,
		       struct number *number)
{
	char *end;
	uint64_t factor = 1, plus = 0;
	bool less;

	errno = 0;
	if (*text >= '0' && *text <= '9') {
		factor = strtoull(text, &end, 10);
		text = end;
	}
	if (*text != 'n')
		return field_fail(&r->error, at, "neither a number nor one like \"n-1\"");
	text++;
	less = *text == '-';
	if (*text == '+' || *text == '-') {
		if (text[1] < '0' || text[1] > '9')
			return field_fail(&r->error, at, "neither a number nor one like \"n-1\"");
		plus = strtoull(text + 1, &end, 10);
		text = end;
	}
	if (*text || errno)
		return field_fail(&r->error, at, "neither a number nor one like \"n-1\"");
	if (!r->repeats)
		return field_fail(&r->error, at, "\"n\" counts the rounds of a \"repeat\"");
	*number = (struct number){ factor, less ? -plus : plus };
	return true;
}

static bool read_number(struct reader *r, const struct place *at, struct json_object *json,
			struct number *number)
{
	number->factor = 0;
	if (json_object_is_type(json, json_type_string))
		return read_round(r, at, json_object_get_string(json), number);
	return field_uint(&r->error, at, json, 0, UINT64_MAX, &number->plus);
}

static bool read_point(struct reader *r, const struct place *at, const char *name,
		       struct json_object *value, bool signals, struct point *point)
{
	*point = (struct point){ .fence = NO_INDEX, .queue = NO_INDEX };
	if (*name == '@') {
		point->queue = reader_find_queue(r->client, name + 1);
		if (point->queue == NO_INDEX)
			return field_fail(&r->error, at, "the client has no such queue");
		if (signals)
			return field_fail(&r->error, at, "only its queue signals a progress fence");
	} else {
		point->fence = reader_find_fence(r->scenario, name);
		if (point->fence == NO_INDEX)
			return field_fail(&r->error, at, "no client has such a fence");
		r->scenario->fences[point->fence].users |= UINT64_C(1) << r->client_index;
	}
	return read_number(r, at, value, &point->value);
}

/* An object of fences and values. */
static bool read_points(struct reader *r, const struct place *at, struct json_object *json,
			bool signals, struct points *points)
{
	unsigned int n = 0;

	if (!json_object_is_type(json, json_type_object) || !json_object_object_length(json))
		return field_fail(&r->error, at, "not an object of fences and their values");
	points->list = reader_array(r, (size_t)json_object_object_length(json),
				  sizeof(*points->list));
	json_object_object_foreach(json, name, value) {
		const struct place here = { at, name, 0 };

		if (!read_point(r, &here, name, value, signals, &points->list[n]))
			return false;
		points->count = ++n;
	}
	return true;
}

static bool read_us(struct reader *r, const struct place *at, struct json_object *json,
		    uint64_t *ns)
{
	double us = json_object_get_double(json);

	if ((!json_object_is_type(json, json_type_int) &&
	     !json_object_is_type(json, json_type_double)) || !(us >= 0 && us <= MAX_US))
		return field_fail(&r->error, at, "not a time in us, from 0 to %g", MAX_US);
	*ns = (uint64_t)llround(us * 1000);
	return true;
}

/* ----------------------------------------------------------------- packets */

static bool read_draw(struct reader *r, const struct place *at, struct json_object *json,
		      struct packet *packet)
{
	struct json_object *count;
	uint64_t n = 1;

	if (json_object_object_get_ex(json, "count", &count)) {
		const struct place here = { at, "count", 0 };

		if (!field_uint(&r->error, &here, count, 1, UINT32_MAX, &n))
			return false;
	}
	packet->count = (unsigned int)n;
	return read_us(r, at, json_object_object_get(json, "draw_us"), &packet->size);
}

static bool read_bytes(struct reader *r, const struct place *at, struct json_object *json,
		       struct packet *packet)
{
	if (!field_uint(&r->error, at, json, 4, SCENARIO_BUFFER, &packet->size))
		return false;
	if (packet->size % 4)
		return field_fail(&r->error, at, "not a multiple of 4 bytes");
	if (packet->size > r->client->buffer)
		r->client->buffer = packet->size;
	return true;
}

static const struct {
	const char *key, *others;
} packet_keys[PACKET_KINDS] = {
	[PACKET_WAIT] = { "wait", "" },
	[PACKET_KEPT_WAIT] = { "kept_wait", "" },
	[PACKET_SIGNAL] = { "signal", "" },
	[PACKET_DRAW] = { "draw_us", "count" },
	[PACKET_FILL] = { "fill", "" },
	[PACKET_COPY] = { "copy", "" },
	[PACKET_MARKER] = { "marker", "" },
	[PACKET_HANG] = { "hang", "" },
	[PACKET_INVALID] = { "invalid", "" },
};

static bool read_packet(struct reader *r, const struct place *at, struct json_object *json,
			struct packet *packet)
{
	struct json_object *value = NULL;
	enum packet_kind kind;

	if (!json_object_is_type(json, json_type_object))
		return field_fail(&r->error, at, "not an object");
	for (kind = 0; kind < PACKET_KINDS; kind++)
		if (json_object_object_get_ex(json, packet_keys[kind].key, &value))
			break;
	if (kind == PACKET_KINDS)
		return field_fail(&r->error, at, "no packet that there is");
	packet->kind = kind;
	if (!field_keys(&r->error, at, json, packet_keys[kind].key, packet_keys[kind].others))
		return false;
	switch (kind) {
	case PACKET_WAIT:
	case PACKET_KEPT_WAIT:
	case PACKET_SIGNAL:
		return read_points(r, at, value, kind == PACKET_SIGNAL, &packet->points);
	case PACKET_DRAW:
		return read_draw(r, at, json, packet);
	case PACKET_MARKER:
		return read_number(r, at, value, &packet->marker);
	case PACKET_FILL:
	case PACKET_COPY:
		return read_bytes(r, at, value, packet);
	default:
		return field_true(&r->error, at, value);
	}
}

static bool read_packets(struct reader *r, const struct place *at, struct json_object *json,
			 struct step *step)
{
	size_t i, count;

	if (!json)
		return true;
	if (!field_array(&r->error, at, json, &count))
		return false;
	step->packets = reader_array(r, count, sizeof(*step->packets));
	step->packet_count = (unsigned int)count;
	for (i = 0; i < count; i++) {
		const struct place here = { at, NULL, i };

		if (!read_packet(r, &here, json_object_array_get_idx(json, i), &step->packets[i]))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------- steps */

static bool read_step_queue(struct reader *r, const struct place *at, struct json_object *json,
			    struct step *step)
{
	const char *name;

	if (!field_text(&r->error, at, json, &name))
		return false;
	step->object = reader_find_queue(r->client, name);
	return step->object != NO_INDEX || field_fail(&r->error, at, "the client has no such queue");
}

/* Packets cannot let a kernel-mode queue wait; what the call takes, no user-mode queue has. */
static bool fits_queue(struct reader *r, const struct place *at, const struct step *step)
{
	bool kernel = r->client->queues[step->object].kernel;
	unsigned int i;

	if (!kernel && (step->waits.count || step->signals.count))
		return field_fail(&r->error, at, "a user-mode queue waits and signals by packets");
	for (i = 0; i < step->packet_count; i++)
		if (kernel && (step->packets[i].kind == PACKET_WAIT ||
			       step->packets[i].kind == PACKET_KEPT_WAIT))
			return field_fail(&r->error, at, "a kernel-mode queue takes \"waits\"");
	return true;
}

static bool read_submit(struct reader *r, const struct place *at, struct json_object *json,
			struct step *step)
{
	const struct place packets = { at, "packets", 0 }, waits = { at, "waits", 0 },
			   signals = { at, "signals", 0 };
	struct json_object *value;

	if (!read_step_queue(r, at, json_object_object_get(json, "submit"), step) ||
	    !read_packets(r, &packets, json_object_object_get(json, "packets"), step))
		return false;
	if (json_object_object_get_ex(json, "waits", &value) &&
	    !read_points(r, &waits, value, false, &step->waits))
		return false;
	if (json_object_object_get_ex(json, "signals", &value) &&
	    !read_points(r, &signals, value, true, &step->signals))
		return false;
	return fits_queue(r, at, step);
}

static bool read_any(struct reader *r, const struct place *at, struct json_object *json,
		     struct step *step)
{
	struct json_object *any;
	const struct place here = { at, "any", 0 };

	if (!json_object_object_get_ex(json, "any", &any))
		return true;
	step->any = true;
	return field_true(&r->error, &here, any);
}

static bool read_wait(struct reader *r, const struct place *at, struct json_object *json,
		      struct step *step)
{
	return read_points(r, at, json_object_object_get(json, "wait"), false, &step->waits) &&
	       read_any(r, at, json, step);
}

static bool read_signal(struct reader *r, const struct place *at, struct json_object *json,
			struct step *step)
{
	return read_points(r, at, json_object_object_get(json, "signal"), true, &step->signals);
}

static bool read_arm(struct reader *r, const struct place *at, struct json_object *json,
		     struct step *step)
{
	struct script *client = r->client;
	const char *name;

	if (!field_name(&r->error, at, json_object_object_get(json, "arm"), &name))
		return false;
	step->object = reader_find_event(client, name);
	if (step->object == NO_INDEX) {
		step->object = client->event_count;
		client->events[client->event_count++] = reader_text(r, name);
	}
	return read_points(r, at, json_object_object_get(json, "for"), false, &step->waits) &&
	       read_any(r, at, json, step);
}

static bool read_collect(struct reader *r, const struct place *at, struct json_object *json,
			 struct step *step)
{
	const char *name;

	if (!field_text(&r->error, at, json_object_object_get(json, "collect"), &name))
		return false;
	step->object = reader_find_event(r->client, name);
	return step->object != NO_INDEX ||
	       field_fail(&r->error, at, "no step before this one arms such an event");
}

static bool read_on_queue(struct reader *r, const struct place *at, struct json_object *json,
			  struct step *step)
{
	return read_step_queue(r, at,
			       json_object_object_get(json, scenario_step_name(step->kind)), step);
}

static bool read_sleep(struct reader *r, const struct place *at, struct json_object *json,
		       struct step *step)
{
	return read_us(r, at, json_object_object_get(json, "sleep_us"), &step->amount);
}

static bool read_fault(struct reader *r, const struct place *at, struct json_object *json,
		       struct step *step)
{
	struct json_object *value = json_object_object_get(json, "value");
	const char *name, *text;
	char *end;

	if (!field_name(&r->error, at, json_object_object_get(json, "fault"), &name))
		return false;
	/* A mask may be a text, such as "0x1f". */
	text = field_is_plain(value) ? json_object_get_string(value) : "";
	errno = 0;
	if (!isdigit((unsigned char)*text) || strtoul(text, &end, 0) > UINT32_MAX || errno || *end)
		return field_fail(&r->error, at, "\"value\" is not a number below 2^32");
	step->fault = reader_text(r, name);
	step->text = reader_text(r, text);
	return true;
}

static bool read_exit(struct reader *r, const struct place *at, struct json_object *json,
		      struct step *step)
{
	(void)step;
	r->client->exits = true;
	return field_true(&r->error, at, json_object_object_get(json, "exit"));
}

static bool read_repeat(struct reader *r, const struct place *at, struct json_object *json,
			struct step *step)
{
	const struct place here = { at, "steps", 0 };
	bool ok;

	if (r->repeats)
		return field_fail(&r->error, at, "a repetition has no other one inside");
	if (!field_uint(&r->error, at, json_object_object_get(json, "repeat"), 1, SCENARIO_ROUNDS,
		       &step->amount))
		return false;
	r->repeats = true;
	ok = reader_steps(r, &here, json_object_object_get(json, "steps"), &step->steps,
			&step->step_count);
	r->repeats = false;
	return ok;
}

#define MODIFIERS " label after expect timeout_ms at_least_us at_most_us"

static const struct {
	const char *key, *others;
	bool (*read)(struct reader *r, const struct place *at, struct json_object *json,
		     struct step *step);
} step_keys[STEP_KINDS] = {
	[STEP_SUBMIT] = { "submit", "packets waits signals" MODIFIERS, read_submit },
	[STEP_WAIT] = { "wait", "any" MODIFIERS, read_wait },
	[STEP_SIGNAL] = { "signal", MODIFIERS, read_signal },
	[STEP_ARM] = { "arm", "for any" MODIFIERS, read_arm },
	[STEP_COLLECT] = { "collect", MODIFIERS, read_collect },
	[STEP_IDLE] = { "idle", MODIFIERS, read_on_queue },
	[STEP_SUSPEND] = { "suspend", MODIFIERS, read_on_queue },
	[STEP_RESUME] = { "resume", MODIFIERS, read_on_queue },
	[STEP_ABORT] = { "abort", MODIFIERS, read_on_queue },
	[STEP_SLEEP] = { "sleep_us", MODIFIERS, read_sleep },
	[STEP_FAULT] = { "fault", "value" MODIFIERS, read_fault },
	[STEP_EXIT] = { "exit", "after", read_exit },
	[STEP_REPEAT] = { "repeat", "steps", read_repeat },
};

const char *scenario_step_name(enum step_kind kind)
{
	return step_keys[kind].key;
}

static bool read_expect(struct reader *r, const struct place *at, struct json_object *json,
			int *expect)
{
	const struct place here = { at, "expect", 0 };
	const char *text, *name;
	int e;

	if (!json)
		return true;
	if (!field_text(&r->error, &here, json, &text))
		return false;
	if (!strcmp(text, "ok"))
		return true;
	for (e = 1; e < 256; e++) {
		name = strerrorname_np(e);
		if (name && !strcmp(name, text)) {
			*expect = -e;
			return true;
		}
	}
	return field_fail(&r->error, &here, "neither \"ok\" nor an error such as \"ETIME\"");
}

static bool read_after(struct reader *r, const struct place *at, struct json_object *json,
		       struct labels *after)
{
	const struct place here = { at, "after", 0 };
	size_t i, count = 1;
	bool array = json_object_is_type(json, json_type_array);
	const char *name;

	if (!json)
		return true;
	if (array)
		count = json_object_array_length(json);
	after->list = reader_array(r, count, sizeof(*after->list));
	for (i = 0; i < count; i++) {
		if (!field_text(&r->error, &here, array ? json_object_array_get_idx(json, i) : json,
			       &name))
			return false;
		after->list[i] = reader_find_label(r->scenario, r->client, name);
		if (after->list[i] == NO_INDEX)
			return field_fail(&r->error, &here, "no step has the label \"%s\"", name);
		after->count++;
	}
	return true;
}

static bool read_modifiers(struct reader *r, const struct place *at, struct json_object *json,
			   struct step *step)
{
	const struct place timeout = { at, "timeout_ms", 0 }, least = { at, "at_least_us", 0 },
			   most = { at, "at_most_us", 0 };
	uint64_t ms = DEFAULT_TIMEOUT_MS;
	struct json_object *value = NULL;

	step->label = NO_INDEX;
	step->most_ns = UINT64_MAX;
	if (json_object_object_get_ex(json, "label", &value) && r->repeats)
		return field_fail(&r->error, at, "a step that is repeated has no label");
	if (value)
		step->label = reader_find_label(r->scenario, r->client, json_object_get_string(value));
	if (json_object_object_get_ex(json, "timeout_ms", &value) &&
	    !field_uint(&r->error, &timeout, value, 0, SCENARIO_TIMEOUT_MS, &ms))
		return false;
	step->timeout_ns = (int64_t)ms * 1000000;
	if (json_object_object_get_ex(json, "at_least_us", &value) &&
	    !read_us(r, &least, value, &step->least_ns))
		return false;
	if (json_object_object_get_ex(json, "at_most_us", &value) &&
	    !read_us(r, &most, value, &step->most_ns))
		return false;
	return read_expect(r, at, json_object_object_get(json, "expect"), &step->expect) &&
	       read_after(r, at, json_object_object_get(json, "after"), &step->after);
}

static bool read_step(struct reader *r, const struct place *at, struct json_object *json,
		      struct step *step)
{
	enum step_kind kind;

	if (!json_object_is_type(json, json_type_object))
		return field_fail(&r->error, at, "not an object");
	for (kind = 0; kind < STEP_KINDS; kind++)
		if (json_object_object_get_ex(json, step_keys[kind].key, NULL))
			break;
	if (kind == STEP_KINDS)
		return field_fail(&r->error, at, "no step that there is");
	step->kind = kind;
	step->number = ++r->client->total;
	return field_keys(&r->error, at, json, step_keys[kind].key, step_keys[kind].others) &&
	       read_modifiers(r, at, json, step) && step_keys[kind].read(r, at, json, step);
}

bool reader_steps(struct reader *r, const struct place *at, struct json_object *json,
		  struct step **steps, unsigned int *step_count)
{
	size_t i, count;

	if (!field_array(&r->error, at, json, &count))
		return false;
	*steps = reader_array(r, count, sizeof(**steps));
	*step_count = (unsigned int)count;
	for (i = 0; i < count; i++) {
		const struct place here = { at, NULL, i };

		if (!read_step(r, &here, json_object_array_get_idx(json, i), &(*steps)[i]))
			return false;
	}
	return true;
}

uint64_t scenario_number(const struct number *number, uint64_t round)
{
	return number->factor * round + number->plus;
}
