/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processors with store buffers, for the models beside this file. A store waits in its
 * processor's buffer until the machine performs it; a load does not wait. On x86 this
 * order loses wake-ups, and a full barrier prevents that.
 *
 * A model names its shared words in an mtype-like list of #defines below WORDS and
 * its processors by numbers below PROCS. A processor must not load a word while its own
 * store to that word is in the buffer. LOAD() asserts this: no model needs such a load.
 */

byte mem[WORDS];
chan buffer[PROCS] = [3] of { byte, byte };

/* WRITE_ONCE() and smp_store_release(). */
#define STORE(word, value)	buffer[me]!word, value
/* READ_ONCE(), smp_load_acquire(). */
#define LOAD(word, to)								\
	atomic { assert(!(buffer[me]??[eval(word), _])); to = mem[word] }
/* smp_mb(), and the full barrier of every atomic that returns a value. */
#define FULL_BARRIER		empty(buffer[me])

/* A lock: to take it is an atomic, to release it a release store. */
#define LOCK(word)		atomic { empty(buffer[me]) && !mem[word] -> mem[word] = 1 }
#define UNLOCK(word)		STORE(word, 0)

/* The machine performs the stores of processor me, in order, at any time. */
proctype machine(byte me)
{
	byte word, value;

end:	do
	:: atomic { buffer[me]?word, value -> mem[word] = value }
	od
}

#define START_MACHINE						\
	byte cpu;						\
	atomic {						\
		for (cpu : 0 .. PROCS - 1) { run machine(cpu) }	\
	}
