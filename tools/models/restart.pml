/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A wait for two points {A >= 1, B >= 1} that signals to the thread interrupt. The value of A
 * comes and goes while the call is in progress, then that of B comes. The wait stays armed
 * between the calls, so that the point of A stays reached.
 *
 * The parts that take the fence's lock are atomic here. What remains is the order of the
 * decision, of the sleep and of the signal: the sleeper puts itself on the list of sleepers
 * before it looks, and others change what it looks at before they wake the list. A list has
 * a lock, so there are no store buffers.
 *
 * Mutants: RESTART_ANEW LOOK_BEFORE_LIST SIGNAL_ENDS_THE_WAIT
 */
bool value[2];
bool armed[2], reached[2];	/* the points; under the lock of their fence */
bool decided;			/* vfence_wait.state is REACHED */
bool listed;			/* the sleeper is on the list, and not awake since */
bool pending;			/* a signal to the thread */
bool done;

/* vfence_drain_and_arm_all(): a point whose value is there is not armed. */
inline arm(k)
{
	atomic {
		if
		:: value[k] -> reached[k] = true
		:: else -> armed[k] = true
		fi;
		decided = reached[0] && reached[1]
	}
}

/* Store a value, complete the point that it satisfies, decide the wait, wake the sleeper. */
inline fence_signal(k)
{
	value[k] = true;
	if
	:: atomic { armed[k] -> armed[k] = false; reached[k] = true }
	:: else
	fi;
	if
	:: reached[0] && reached[1] -> decided = true; listed = false
	:: else
	fi
}

active proctype signaler()
{
	armed[0] || reached[0];
	fence_signal(0);
	value[0] = false;
	fence_signal(1)
}

active proctype interrupter()
{
	byte n;

	for (n : 1 .. 2) {
		pending = true;
		listed = false
	}
}

active proctype sleeper()
{
	arm(0);
	arm(1);
call:
	/* wait_ioctl_sleep() */
	do
	:: true ->
#ifdef LOOK_BEFORE_LIST
		if
		:: decided || pending
		:: else -> listed = true; !listed
		fi;
#else
		listed = true;		/* prepare_to_wait() */
#endif
		if
		:: decided -> goto end
		:: else
		fi;
		if
		:: pending -> break
		:: else
		fi;
#ifndef LOOK_BEFORE_LIST
		!listed			/* schedule() */
#endif
	od;
	listed = false;
	pending = false;
	/* step WAIT_INTERRUPTED */
#ifdef SIGNAL_ENDS_THE_WAIT
	goto out;
#endif
#ifdef RESTART_ANEW
	atomic { armed[0] = false; reached[0] = false; armed[1] = false; reached[1] = false;
		decided = false };
	arm(0);
	arm(1);
#endif
	/* vfence_wait_restart_keep(), the handler, vfence_wait_restart_take() */
	goto call;
end:
	done = true;
out:
	skip
}

init
{
	timeout ->
	assert(done)
}
