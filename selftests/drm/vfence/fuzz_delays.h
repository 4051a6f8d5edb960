/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The delays of the fuzzer on a test build of the module (VFENCE_RACE_POINTS=y): a seed that delays
 * threads at the steps, and holds, at which the first thread that comes stays while others go
 * on. Without the test build all of this does nothing.
 *
 * The module has one seed and one hold for all processes. The episode that began last has
 * chosen the seed. One process at a time owns the hold, and releases it; if it cannot, because
 * it was killed, the process that starts the episodes does.
 */

#ifndef VFENCE_FUZZ_DELAYS_H
#define VFENCE_FUZZ_DELAYS_H

#include <stdatomic.h>

#include "vfence_test.h"

#define DELAYS_HOLD	"/sys/module/vfence/parameters/hold"
#define DELAYS_HOLDS	"/sys/module/vfence/parameters/holds"
#define DELAYS_SEED	"/sys/module/vfence/parameters/race_seed"
#define DELAYS_MAX_HOLDS 64
#define DELAYS_MS	(SECOND / 1000)
/* The longest hold. */
#define DELAYS_MAX_MS	40

/* In the memory that all processes share. */
struct delays {
	/* The process that has set the hold, or 0. */
	_Atomic pid_t owner;
	/* When the owner releases it; INT64_MAX until it has said so. */
	_Atomic int64_t until;
	_Atomic uint64_t set, met;
};

static char delays_name[DELAYS_MAX_HOLDS][32];
static unsigned int delays_names;

/* Read the names of the holds, once for all processes. */
static void delays_open(struct delays *d)
{
	FILE *f = fopen(DELAYS_HOLDS, "re");

	d->until = INT64_MAX;
	while (f && delays_names < DELAYS_MAX_HOLDS &&
	       fscanf(f, "%31s", delays_name[delays_names]) == 1)
		delays_names++;
	if (f)
		fclose(f);
}

/* Choose the seed of an episode. One of four episodes has no delays at the steps. */
static void delays_begin(uint64_t random)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, random % 4 ? random >> 32 : 0);
	if (delays_names)
		write_text(DELAYS_SEED, text);
}

static bool delays_met(void)
{
	char text[40] = "";
	int fd = open(DELAYS_HOLD, O_RDONLY | O_CLOEXEC);
	bool met = fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && strstr(text, " 1");

	if (fd >= 0)
		close(fd);
	return met;
}

/* Release the hold if @owner has set it. */
static void delays_disown(struct delays *d, pid_t owner)
{
	if (!owner || d->owner != owner)
		return;
	d->met += delays_met();
	write_text(DELAYS_HOLD, "none");
	d->until = INT64_MAX;
	/* Only now may another process set one. */
	d->owner = 0;
}

static void delays_end(struct delays *d)
{
	delays_disown(d, getpid());
}

/*
 * Another hold takes the place of the last one at once, because what follows from it comes
 * late, too.
 */
static void delays_set(struct delays *d, uint64_t random)
{
	d->until = vf_deadline((int64_t)(1 + (random >> 8) % DELAYS_MAX_MS) * DELAYS_MS);
	d->set++;
	write_text(DELAYS_HOLD, delays_name[(random >> 16) % delays_names]);
}

/*
 * Set a hold, replace it by another one, or release it. Call it after a few calls of the
 * episode, or when the hold's time is over.
 */
static void delays_turn(struct delays *d, uint64_t random)
{
	pid_t none = 0;

	if (!delays_names)
		return;
	if (d->owner != getpid()) {
		if (atomic_compare_exchange_strong(&d->owner, &none, getpid()))
			delays_set(d, random);
	} else if (random % 4) {
		d->met += delays_met();
		delays_set(d, random);
	} else {
		delays_end(d);
	}
}

static bool delays_over(struct delays *d)
{
	return d->owner == getpid() && vf_deadline(0) >= d->until;
}

/*
 * Release the hold of a process whose time is over. It may be held itself: it was killed, or it
 * closes its files.
 */
static void delays_limit(struct delays *d)
{
	if (d->owner && vf_deadline(0) > d->until)
		delays_disown(d, d->owner);
}

#endif
