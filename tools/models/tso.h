/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processors with store buffers, for the models beside this file: a store waits in
 * its processor's buffer until the machine gets round to it, a load does not wait.
 * That is how x86 loses wake-ups, and what a full barrier is for.
 *
 * A model names its shared words in an mtype-like list of #defines below WORDS and
 * its processors by numbers below PROCS. A processor does not load what it stored
 * itself while that is in the buffer (asserted): no model needs it.
 */

byte mem[WORDS];
chan buffer[PROCS] = [3] of { byte, byte };

/* What the compiler and the processor see of WRITE_ONCE() and smp_store_release(). */
#define STORE(word, value)	buffer[me]!word, value
/* READ_ONCE(), smp_load_acquire(). */
#define LOAD(word, to)								\
	atomic { assert(!(buffer[me]??[eval(word), _])); to = mem[word] }
/* smp_mb(), and what every atomic that returns something implies. */
#define FULL_BARRIER		empty(buffer[me])

/* A lock: taking it is an atomic, dropping it a release store. */
#define LOCK(word)		atomic { empty(buffer[me]) && !mem[word] -> mem[word] = 1 }
#define UNLOCK(word)		STORE(word, 0)

/* The machine, getting round to the stores of processor me. */
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
