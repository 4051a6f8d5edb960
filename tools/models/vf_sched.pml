/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that turn busy and idle, and the host that gives them the engines (VF-17..19, VF-31).
 *
 * One of two functions has two rings, with two jobs each. The engines execute rings of the owner
 * alone. A word of the function has a bit for each ring with work, and an edge of the word sends a
 * message, which may overtake another one. The host sleeps without a message. In the end all jobs
 * are done, and the host knows that no function has work.
 *
 * Mutants: WORD_BEFORE_NEWS MESSAGE_BELIEVED SET_THEN_REREAD
 */
#define FUNCTIONS	2
#define RINGS		3	/* of both */
#define JOBS		2
#define NOBODY		FUNCTIONS	/* value of owner while no function owns the engines */

byte word[FUNCTIONS];
chan mail = [8] of { byte, bool };	/* messages under way: function, and what it was */
bool news[FUNCTIONS];			/* vfence_vf_sched: engine_group.news */
bool believed[FUNCTIONS];
bool known[FUNCTIONS];
byte owner;
byte ended;

/* vgpu_vf_switch_update_locked(): word and message change under vgpu_chip.sched. */
inline set_bit(f, r)
{
#ifdef SET_THEN_REREAD
	/* As published: two rings that turn busy at once see each other, and neither reports. */
	atomic { word[f] = word[f] | (1 << r) };
	atomic {
		if
		:: word[f] == (1 << r) -> mail!f, true
		:: else
		fi
	}
#else
	atomic {
		if
		:: word[f] == 0 -> mail!f, true
		:: else
		fi;
		word[f] = word[f] | (1 << r)
	}
	/* step EDGE: the message is under way */
#endif
}

inline clear_bit(f, r)
{
	atomic {
		word[f] = word[f] & ~(1 << r);
		if
		:: word[f] == 0 -> mail!f, false
		:: else
		fi
	}
}

/* A client of one ring, and the engine that executes it. */
proctype ring(byte f; byte r)
{
	byte i;

	for (i : 1 .. JOBS) {
		set_bit(f, r);
		owner == f;
		clear_bit(f, r)
	}
	ended++
}

/* vf_sched_edge(): the messages arrive, in any order. */
proctype wires()
{
	byte f;
	bool busy;

end:	do
	:: atomic { mail??0, busy -> news[0] = true; believed[0] = busy }
	:: atomic { mail??1, busy -> news[1] = true; believed[1] = busy }
	od
}

/* engine_group_read_news_locked() */
inline read_news(f)
{
#ifdef WORD_BEFORE_NEWS
	seen = word[f] != 0;
	atomic { told = news[f]; news[f] = false };
#else
	/* barrier engine_group_read_news_locked */
	atomic { told = news[f]; news[f] = false };
	/* step NEWS_TAKEN */
	seen = word[f] != 0;
#endif
#ifdef MESSAGE_BELIEVED
	seen = believed[f];
#endif
	if
	:: told -> known[f] = seen
	:: else
	fi
}

/* engine_group_switch_locked(): between the two nothing is executed. */
inline give(f)
{
	owner = NOBODY;
	/* step ENGINES_IDLE; step ENGINES_LOADED */
	owner = f
}

/* vfence_engine_group_thread(): an owner without work yields to a function that has some. */
proctype host()
{
	bool told, seen;
	byte round, next;

end:	do
	:: news[0] || news[1] ->
		for (round : 1 .. 2) {
			/* Once to decide, and once more after the response time: step SWITCH_DUE. */
			read_news(0);
			read_news(1)
		}
		if
		:: !known[owner] && known[1 - owner] -> next = 1 - owner; give(next)
		:: else
		fi
	od
}

init
{
	atomic {
		run ring(0, 0);
		run ring(0, 1);
		run ring(1, 0);
		run wires();
		run host()
	}
	timeout ->
	assert(ended == RINGS);
	assert(!known[0] && !known[1])
}
