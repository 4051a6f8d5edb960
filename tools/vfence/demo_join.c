// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the signal that released each wait. The logs are joined by fence and value; the
 * demo's own plan is not used.
 */

#include <stdlib.h>

#include "demo.h"

static int by_fence_and_value(const void *a, const void *b)
{
	const struct demo_entry *x = *(const struct demo_entry *const *)a;
	const struct demo_entry *y = *(const struct demo_entry *const *)b;

	if (x->fence != y->fence)
		return x->fence < y->fence ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static unsigned int collect(const struct demo_result *r, enum demo_op op,
			    const struct demo_entry **to, unsigned int max)
{
	unsigned int i, k, n = 0;

	for (k = 0; k < DEMO_CLIENTS; k++) {
		const struct demo_report *rep = &r->shared->report[k];

		for (i = 0; i < rep->entry_count && n < max; i++)
			if (rep->entry[i].op == op && rep->entry[i].fence <= DEMO_COPIED)
				to[n++] = &rep->entry[i];
	}
	return n;
}

/* Return the first signal of the wait's fence that reaches the wait's value. */
static const struct demo_entry *releaser(const struct demo_entry **signals, unsigned int count,
					 const struct demo_entry *wait)
{
	unsigned int low = 0, high = count;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (by_fence_and_value(&signals[mid], &wait) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == count || signals[low]->fence != wait->fence)
		return NULL;
	return signals[low]->end <= wait->end ? signals[low] : NULL;
}

unsigned int demo_join(const struct demo_result *result, struct demo_join *join,
		       unsigned int max)
{
	unsigned int room = 2 * DEMO_ENTRIES, i, n = 0, waits, signals;
	const struct demo_entry **w = calloc(room, sizeof(*w));
	const struct demo_entry **s = calloc(room, sizeof(*s));

	if (!w || !s)
		goto out;
	waits = collect(result, DEMO_WAIT, w, room);
	signals = collect(result, DEMO_SIGNAL, s, room);
	qsort(s, signals, sizeof(*s), by_fence_and_value);
	for (i = 0; i < waits && n < max; i++) {
		const struct demo_entry *signal = releaser(s, signals, w[i]);

		/* No signal released a wait that did not block. */
		if (signal && w[i]->end > w[i]->begin)
			join[n++] = (struct demo_join){ w[i], signal };
	}
out:
	free(w);
	free(s);
	return n;
}
