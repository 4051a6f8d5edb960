/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who handles the posts of two engines: the thread of the CMP, or an engine at the end of the
 * step in which it has posted. Each post is handled by one of them, and no two handle at once.
 * The counts change under one lock, so that all processors see them in one order.
 *
 * Mutants: NOT_WOKEN END_UNSEEN TWO_AT_ONCE
 */
#define ENGINES		2
#define STEPS		2
#define ALL		(ENGINES * STEPS)

byte posted, taken, done;	/* vgpu_cmp.posted, .taken, .done */
bool working;			/* vgpu_cmp.working */
bool woken;			/* the thread has been woken since it looked for work */
bool handling;

/* cmp_handle_posts(): one record takes at least one post. */
inline handle()
{
	atomic {
		assert(!handling);
		handling = true;
		if
		:: taken++
		:: taken = posted
		fi
	};
	/* steps CMP_RECHECK and RAISE */
	atomic { done = taken; handling = false }
}

/* cmp_end() */
inline finish()
{
	atomic { working = false; left = posted != taken };
#ifndef END_UNSEEN
	if
	:: left -> woken = true
	:: else
	fi
#endif
}

/* cmp_begin_locked() */
#ifdef TWO_AT_ONCE
#define MAY_BEGIN	(posted != taken)
#else
#define MAY_BEGIN	(!working && posted != taken)
#endif

proctype engine()
{
	byte step;
	bool begun, left;

	for (step : 1 .. STEPS) {
		/* vgpu_cmp_post_in_step() */
		posted++;
		/* vgpu_cmp_run(): the posts before may not be paid for yet. */
		atomic {
			begun = false;
			if
			:: MAY_BEGIN && posted - taken == 1 -> working = true; begun = true
			:: true
			fi
		};
		if
		:: begun -> handle(); finish()
#ifndef NOT_WOKEN
		:: else -> woken = true
#else
		:: else
#endif
		fi
	}
}

/* cmp_thread(): wait_event() looks for work whenever it is woken. */
proctype thread()
{
	bool begun, left;

end:	do
	:: atomic { woken -> woken = false };
		do
		:: true ->
			atomic {
				begun = MAY_BEGIN;
				if
				:: begun -> working = true
				:: else
				fi
			};
			if
			:: begun -> handle(); finish()
			:: else -> break
			fi
		od
	od
}

init
{
	byte k;

	atomic {
		for (k : 1 .. ENGINES) {
			run engine()
		}
		run thread()
	}
	timeout -> assert(done == ALL)
}
