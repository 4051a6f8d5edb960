/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The snapshot of a reset against completions (WDDM-144, 145, 151). The first turn hangs, and may
 * end by itself at any moment. The driver decides on each turn once: it is told that the turn is
 * done, or the reset has aborted it. Nothing that is done is forgotten, nothing is both, and the
 * reset takes no turn but the one that the snapshot has found.
 *
 * What happens under the lock of the chip, and of the interrupt, is atomic here: the snapshot, the
 * abort, a pick, the end of a turn, the handling of a record. What remains is their order. A
 * record is posted after the turn has ended, and is handled any time later.
 *
 * Mutants: SNAPSHOT_APART NOT_HELD NOT_READ_AGAIN READ_AGAIN_FIRST GONE_IS_RESET
 */
#define TURNS	3

#define OPEN	0
#define DONE	1
#define ABORTED	2

byte submitted, completed;	/* ids of the node */
byte running;			/* the turn on the engine, or 0 */
bool held;			/* the engine picks nothing */
bool masked;			/* the driver ignores records of the engine */
bool suspected;			/* the first turn counts as hung */
byte outcome[TURNS + 1];	/* what the driver has decided */
chan irq = [TURNS] of { byte };

/* engine_run(): pick, and leave when the turn has ended. A hung turn ends, or is aborted. */
active proctype engine()
{
	byte turn;

end:	do
	:: atomic { running == 0 && !held && submitted < TURNS ->
		submitted++;
		running = submitted;
		turn = running;
		suspected = turn == 1 }
	   do
	   :: atomic { running == turn ->
		completed = turn;
		running = 0;
		suspected = false }
	      /* step SUBMISSION_DONE */
	      irq!turn;
	      break
	   :: running != turn -> break
	   od
	od
}

/* irq_dispatch_locked() */
active proctype handler()
{
	byte turn;

end:	do
	:: atomic { irq?turn ->
		if
		:: masked
		:: !masked && outcome[turn] == OPEN -> outcome[turn] = DONE
		:: !masked && outcome[turn] != OPEN
		fi }
	od
}

/* vfence_irq_unmask(): what was ignored is read from the ids. */
inline read_again()
{
	atomic {
		for (k : 1 .. completed) {
			if
			:: outcome[k] == OPEN -> outcome[k] = DONE
			:: else
			fi
		}
	}
}

/* recovery_run() */
active proctype recovery()
{
	byte k, aborted, turn, from, to;

end:	suspected;
	/* step PREEMPT_ASKED, which asks the turn that hangs in vain */
	/* step HANG_FOUND */
	/* The snapshot. */
#ifdef SNAPSHOT_APART
	atomic { turn = running; from = completed; to = submitted; held = true };
	masked = true;
#else
	atomic {
		masked = true;
		turn = running;
		from = completed;
		to = submitted;
#ifndef NOT_HELD
		held = true
#endif
	};
#endif
	/* step ENGINE_HELD */
	if
#ifndef GONE_IS_RESET
	:: turn != 1
	:: turn == 1 ->
#else
	:: true ->
#endif
		/* step RECORDS_FLUSHED */
		/* step DEPENDENTS_HELD */
		/* vgpu_reset_engine(): what runs is told to leave, and leaves. */
		atomic {
			if
			:: running != 0 -> aborted = running; running = 0
			:: running == 0 -> aborted = 0
			fi
		};
		/* step TURN_ABORTED */
		atomic {
			if
			:: aborted == 0 -> aborted = completed
			:: else
			fi;
			completed = aborted
		};
		assert(from <= aborted && aborted <= to);
		assert(outcome[aborted] == OPEN);
		outcome[aborted] = ABORTED
	fi;
	/* step ENGINES_CHECKED */
	/* recovery_resume() */
#ifdef READ_AGAIN_FIRST
	read_again();
	held = false;
	masked = false
#else
	masked = false;
	/* step UNMASKED */
#ifndef NOT_READ_AGAIN
	read_again();
#endif
	held = false
#endif
}

init
{
	byte k;

	timeout ->
	assert(submitted == TURNS && running == 0);
	for (k : 1 .. TURNS) {
		assert(outcome[k] != OPEN);
		/* Only the turn that hung can be lost. */
		assert(k == 1 || outcome[k] == DONE)
	}
}
