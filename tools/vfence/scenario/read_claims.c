// SPDX-License-Identifier: GPL-2.0-only
/* Reads what must be true at the end. */

#include <string.h>

#include "reader.h"
#include "text.h"

static const char *const number_names[FENCE_NUMBERS] = {
	[FENCE_VALUE] = "value", [FENCE_MONITORED] = "monitored",
	[FENCE_INTERRUPTS] = "interrupts", [FENCE_SPURIOUS] = "spurious",
	[FENCE_WOKEN] = "woken", [FENCE_SIGNALS] = "signals",
};

const char *scenario_fence_number(enum fence_number number)
{
	return number_names[number];
}

/* A number, or the least and the most that it may be. */
static bool read_bounds(struct reader *r, const struct place *at, struct json_object *json,
			struct fence_claim *claim)
{
	if (!json_object_is_type(json, json_type_array)) {
		if (!field_uint(&r->error, at, json, 0, UINT64_MAX, &claim->least))
			return false;
		claim->most = claim->least;
		return true;
	}
	if (json_object_array_length(json) != 2)
		return field_fail(&r->error, at, "neither a number nor the least and the most");
	return field_uint(&r->error, at, json_object_array_get_idx(json, 0), 0, UINT64_MAX,
			 &claim->least) &&
	       field_uint(&r->error, at, json_object_array_get_idx(json, 1), claim->least,
			 UINT64_MAX, &claim->most);
}

static bool read_fence_claim(struct reader *r, const struct place *at, uint32_t fence,
			     struct json_object *json)
{
	struct scenario *s = r->scenario;

	if (!field_object(&r->error, at, json))
		return false;
	json_object_object_foreach(json, name, value) {
		struct fence_claim *claim = &s->fence_claims[s->fence_claim_count];
		const struct place here = { at, name, 0 };

		while (claim->number < FENCE_NUMBERS && strcmp(number_names[claim->number], name))
			claim->number++;
		if (claim->number == FENCE_NUMBERS)
			return field_fail(&r->error, &here, "no number of a fence");
		claim->fence = fence;
		if (!read_bounds(r, &here, value, claim))
			return false;
		s->fence_claim_count++;
	}
	return true;
}

static bool read_fence_claims(struct reader *r, const struct place *at, struct json_object *json)
{
	struct scenario *s = r->scenario;
	uint32_t fence;

	if (!json)
		return true;
	if (!field_object(&r->error, at, json))
		return false;
	/* One more, as the next one is written before its name is known. */
	s->fence_claims = reader_array(r, (size_t)json_object_object_length(json) * FENCE_NUMBERS + 1,
				     sizeof(*s->fence_claims));
	json_object_object_foreach(json, name, value) {
		const struct place here = { at, name, 0 };

		fence = reader_find_fence(s, name);
		if (fence == NO_INDEX)
			return field_fail(&r->error, &here, "no client has such a fence");
		if (!read_fence_claim(r, &here, fence, value))
			return false;
	}
	return true;
}

static bool read_device_claims(struct reader *r, const struct place *at, struct json_object *json)
{
	struct scenario *s = r->scenario;

	if (!json)
		return true;
	if (!field_object(&r->error, at, json))
		return false;
	s->device_claims = reader_array(r, (size_t)json_object_object_length(json),
				      sizeof(*s->device_claims));
	json_object_object_foreach(json, name, value) {
		struct device_claim *claim = &s->device_claims[s->device_claim_count++];
		const struct place here = { at, name, 0 };
		const char *state;

		claim->client = reader_find_client(s, name);
		if (claim->client == NO_INDEX)
			return field_fail(&r->error, &here, "no such client");
		if (!field_name(&r->error, &here, value, &state))
			return false;
		while (claim->state < TEXT_DEVICE_STATES &&
		       strcmp(text_device_state(claim->state), state))
			claim->state++;
		if (claim->state == TEXT_DEVICE_STATES)
			return field_fail(&r->error, &here, "no state of a device");
	}
	return true;
}

static bool read_order(struct reader *r, const struct place *at, struct json_object *json,
		       uint32_t *label, size_t i)
{
	const char *name;

	if (!field_text(&r->error, at, json_object_array_get_idx(json, i), &name))
		return false;
	*label = reader_find_label(r->scenario, NULL, name);
	return *label != NO_INDEX || field_fail(&r->error, at, "no step has the label \"%s\"", name);
}

static bool read_orders(struct reader *r, const struct place *at, struct json_object *json)
{
	struct scenario *s = r->scenario;
	size_t i, count, length;

	if (!json)
		return true;
	if (!field_array(&r->error, at, json, &count))
		return false;
	s->orders = reader_array(r, count, sizeof(*s->orders));
	for (i = 0; i < count; i++) {
		struct json_object *pair = json_object_array_get_idx(json, i);
		const struct place here = { at, NULL, i };

		if (!field_array(&r->error, &here, pair, &length))
			return false;
		if (length != 2)
			return field_fail(&r->error, &here, "not two labels");
		if (!read_order(r, &here, pair, &s->orders[i].first, 0) ||
		    !read_order(r, &here, pair, &s->orders[i].second, 1))
			return false;
		s->order_count++;
	}
	return true;
}

bool reader_claims(struct reader *r, const struct place *at, struct json_object *json)
{
	const struct place fences = { at, "fences", 0 }, devices = { at, "devices", 0 },
			   order = { at, "order", 0 };

	if (!json)
		return true;
	return field_object(&r->error, at, json) &&
	       field_keys(&r->error, at, json, "", "fences devices order") &&
	       read_fence_claims(r, &fences, json_object_object_get(json, "fences")) &&
	       read_device_claims(r, &devices, json_object_object_get(json, "devices")) &&
	       read_orders(r, &order, json_object_object_get(json, "order"));
}
