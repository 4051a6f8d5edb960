// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hangs at random of two virtual functions, in any engine and in any phase of a world switch, while two
 * others use the same engines, and policies change. VFENCE_TEST_SEED repeats what a run has chosen.
 */

#include "innocent.h"
#include "world_fixture.h"

#define CULPRITS	2
#define FUNCTIONS	4
#define INNOCENTS	4

/* A function that hangs; its client has a new device after each reset. */
struct culprit {
	struct guest guest;
	struct vf_queue *mm;
	int number;
	unsigned int rounds;
};

static int culprit_open(struct culprit *c)
{
	int ret = guest_open(&c->guest, VF(c->number));

	return ret ?: vf_queue_create(c->guest.device, DRM_VFENCE_NODE_MM, 4096, &c->mm);
}

static void culprit_close(struct culprit *c)
{
	if (c->mm)
		vf_queue_abort(c->mm);
	vf_queue_destroy(c->mm);
	guest_close(&c->guest);
	memset(&c->guest, 0, sizeof(c->guest));
	c->mm = NULL;
}

static int culprit_inject(struct culprit *c, const char *name, const char *value)
{
	return inject(VF(c->number), name, value);
}

static void culprit_draw(struct culprit *c)
{
	vf_cmd_draw(c->guest.gfx, 1 + dice(30), 100000);
	vf_queue_submit(c->guest.gfx);
}

static void culprit_pause(struct culprit *c, const char *on)
{
	char path[32];

	snprintf(path, sizeof(path), "vf%d/pause", c->number);
	configure(path, on);
}

/* Hang in some way, of which each ends with a reset of the function, and of no other one. */
static void culprit_hang(struct culprit *c)
{
	static const char *const commands[] = { "0x2", "0x4", "0x8", "0x10", "0x80" };

	switch (dice(7)) {
	case 0:
		hang_on(c->guest.gfx);
		break;
	case 1:
		hang_on(c->mm);
		break;
	case 2:
		/* One command of the next switches. */
		culprit_inject(c, "fail_world", commands[dice(ARRAY_SIZE(commands))]);
		culprit_draw(c);
		break;
	case 3:
		culprit_draw(c);
		culprit_inject(c, "stop_engines", dice(2) ? "0x1" : "0xf");
		break;
	case 4:
		hang_on(c->guest.gfx);
		/* Its driver gets no interrupt. */
		culprit_inject(c, "stop_cmp", "1");
		break;
	case 5:
		/* It keeps the engines for itself. */
		culprit_draw(c);
		culprit_inject(c, "mailbox", "1");
		break;
	default:
		culprit_draw(c);
		break;
	}
	if (!dice(4)) {
		culprit_pause(c, "1");
		culprit_pause(c, "0");
	}
	/* Whatever has come of it. */
	culprit_inject(c, "mailbox", "5");
}

/* Return: true once the function was reset, and its client has a new device that works. */
static bool culprit_round(struct culprit *c)
{
	uint64_t resets = stat_of(c->number, "gfx", "resets") + stat_of(c->number, "mm", "resets");

	culprit_hang(c);
	if (!EVENTUALLY(stat_of(c->number, "gfx", "resets") +
			stat_of(c->number, "mm", "resets") > resets) ||
	    !EVENTUALLY(vf_device_state(c->guest.device) != DRM_VFENCE_DEVICE_ACTIVE))
		return false;
	culprit_inject(c, "fail_world", "0");
	culprit_inject(c, "stop_engines", "0");
	culprit_inject(c, "stop_cmp", "0");
	c->rounds++;
	culprit_close(c);
	/* An earlier request may reset it once more. */
	return EVENTUALLY(!culprit_open(c) || (culprit_close(c), false));
}

struct storm {
	struct culprit culprit;
	pthread_t thread;
	unsigned int rounds;
	bool failed;
	_Atomic bool over;
};

static void *storm_thread(void *data)
{
	struct storm *s = data;

	s->failed = culprit_open(&s->culprit);
	while (!s->failed && s->culprit.rounds < s->rounds)
		s->failed = !culprit_round(&s->culprit);
	culprit_close(&s->culprit);
	atomic_store(&s->over, true);
	return NULL;
}

TEST_F_TIMEOUT(world, TDR_25_hangs_in_switches_cost_no_other_function_anything, 900)
{
	static const char *const policies[] = { "round-robin", "elevator", "on-demand", "fair",
						"fixed", "ahead" };
	static const uint32_t nodes[] = { DRM_VFENCE_NODE_GFX, DRM_VFENCE_NODE_MM };
	unsigned int rounds = (wanted(300) + 1) / 2, i, changes = 0;
	struct innocent innocent[INNOCENTS];
	struct storm storm[CULPRITS];
	_Atomic bool stop = false;
	bool running = true;

	ASSERT_EQ(0, world_make(self, FUNCTIONS));
	roll_dice();
	/* Not so short that the thread of an engine which gets no processor is taken for a hang. */
	ASSERT_EQ(0, configure_all("preempt_timeout_us", "200000"));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "1000"));
	ASSERT_EQ(0, configure("access_limit_ms", "50"));
	for (i = 1; i <= FUNCTIONS; i++)
		ASSERT_EQ(0, tdr_configure(VF(i), "debug_mode", "3"));
	for (i = 0; i < INNOCENTS; i++) {
		innocent[i] = (struct innocent){
			.index = VF(1 + CULPRITS + i / 2), .node = nodes[i % 2], .stop = &stop,
		};
		ASSERT_EQ(0, innocent_open(&innocent[i]));
		ASSERT_EQ(0, pthread_create(&innocent[i].thread, NULL, innocent_thread,
					    &innocent[i]));
	}
	for (i = 0; i < CULPRITS; i++) {
		storm[i] = (struct storm){ .culprit.number = (int)i + 1, .rounds = rounds };
		ASSERT_EQ(0, pthread_create(&storm[i].thread, NULL, storm_thread, &storm[i]));
	}
	while (running) {
		uint64_t before = innocent[0].rounds;

		EXPECT_EQ(0, configure("policy", policies[changes++ % ARRAY_SIZE(policies)]));
		/* All go on under each policy. */
		if (!EVENTUALLY(innocent[0].rounds > before + 20))
			break;
		for (running = false, i = 0; i < CULPRITS; i++)
			running |= !atomic_load(&storm[i].over);
	}
	EXPECT_FALSE(running);
	atomic_store(&stop, true);
	for (i = 0; i < INNOCENTS; i++) {
		pthread_join(innocent[i].thread, NULL);
		EXPECT_EQ(0, innocent[i].lost);
		EXPECT_EQ(0, innocent[i].wrong);
		EXPECT_EQ(0, innocent[i].renewed);
		TH_LOG("vf%d, node %u: %llu rounds, the longest %lld us", 1 + CULPRITS + i / 2,
		       innocent[i].node, (unsigned long long)innocent[i].rounds,
		       (long long)innocent[i].longest / 1000);
	}
	for (i = 0; i < CULPRITS; i++) {
		pthread_join(storm[i].thread, NULL);
		EXPECT_FALSE(storm[i].failed);
		TH_LOG("vf%u: %u hangs, %llu resets", i + 1, storm[i].culprit.rounds,
		       (unsigned long long)(stat_of((int)i + 1, "gfx", "resets") +
					    stat_of((int)i + 1, "mm", "resets")));
	}
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, stat_of((int)(CULPRITS + i + 1), "gfx", "resets"));
		EXPECT_EQ(0, stat_of((int)(CULPRITS + i + 1), "mm", "resets"));
	}
	EXPECT_EQ(0, stat_of(-1, "gfx", "gpu_resets"));
	TH_LOG("%u changes of the policy", changes);
}

TEST_HARNESS_MAIN
