// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile function: it cannot reach objects of its neighbours, and can delay them only within its
 * share.
 */

#include <sys/mman.h>

#include "world_fixture.h"

#define ATTACKER	0
#define VICTIM		1
/* Pages of the victim's buffer. */
#define PAGES		64

static uint64_t seed = 88172645463325252ull;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Objects of the victim, with known contents. */
struct treasure {
	struct guest *guest;
	struct vf_buffer *buffer;
	struct drm_vfence_bo_create bo;
	uint64_t registers;
};

static int treasure_make(struct treasure *t, struct guest *guest)
{
	unsigned int i;
	int ret;

	t->guest = guest;
	ret = vf_buffer_create(guest->adapter, PAGES * 4096, &t->buffer);
	if (ret)
		return ret;
	memset(vf_buffer_map(t->buffer), POISON, PAGES * 4096);
	t->bo.size = 4096;
	if (drmIoctl(vf_adapter_fd(guest->adapter), DRM_IOCTL_VFENCE_BO_CREATE, &t->bo))
		return -errno;
	for (i = 0; i < DRM_VFENCE_REGISTERS; i++)
		vf_cmd_set_register(guest->gfx, i, 77000 + i);
	vf_cmd_signal(guest->gfx, guest->fence, 12345);
	ret = vf_queue_submit(guest->gfx);
	return ret ? ret : drained(guest->gfx) ? 0 : -ETIME;
}

/* Return: true if nothing of it has changed. */
static bool treasure_is_whole(struct treasure *t)
{
	struct drm_vfence_fence_info query;
	uint8_t *bytes = vf_buffer_map(t->buffer);
	struct vf_buffer *registers;
	bool whole = true;
	unsigned int i;

	for (i = 0; i < PAGES * 4096; i++)
		whole &= bytes[i] == POISON;
	if (vf_buffer_create(t->guest->adapter, 4096, &registers))
		return false;
	for (i = 0; i < DRM_VFENCE_REGISTERS; i++)
		vf_cmd_read_register(t->guest->gfx, i, vf_buffer_va(registers) + 8 * i);
	whole &= !vf_queue_submit(t->guest->gfx) && drained(t->guest->gfx);
	for (i = 0; i < DRM_VFENCE_REGISTERS; i++)
		whole &= ((uint64_t *)vf_buffer_map(registers))[i] == 77000 + i;
	vf_buffer_destroy(registers);
	whole &= !vf_fence_query(t->guest->fence, &query) && query.current_value == 12345;
	return whole && vf_device_state(t->guest->device) == DRM_VFENCE_DEVICE_ACTIVE;
}

/* Store registers at an address with a device of its own. Return: true if that has faulted. */
static bool store_faults(struct vf_adapter *adapter, uint64_t va)
{
	struct vf_device *device = NULL;
	struct vf_queue *queue = NULL;
	bool faulted = false;

	if (!vf_device_create(adapter, &device) &&
	    !vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue)) {
		vf_cmd_set_register(queue, 0, 0xbad);
		vf_cmd_read_register(queue, 0, va);
		vf_queue_submit(queue);
		faulted = EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_FAULTED ||
				     queue_state(queue) == DRM_VFENCE_QUEUE_ABORTED);
	}
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	return faulted;
}

TEST_F(world, VF_10_addresses_of_a_neighbour_lead_nowhere)
{
	struct treasure treasure = { 0 };
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, treasure_make(&treasure, &self->guest[VICTIM]));
	/* The attacker has nothing at the end of the victim's buffer. */
	for (i = PAGES / 2; i < PAGES; i += 8)
		EXPECT_TRUE(store_faults(self->guest[ATTACKER].adapter,
					 vf_buffer_va(treasure.buffer) + i * 4096));
	/* No other address leads to the save areas or rings of either function. */
	for (i = 0; i < 64; i++)
		EXPECT_TRUE(store_faults(self->guest[ATTACKER].adapter,
					 next() >> (i % 40 + 8) << 12 | 1ull << 44));
	EXPECT_TRUE(treasure_is_whole(&treasure));
	vf_buffer_destroy(treasure.buffer);
}

TEST_F(world, VF_10_handles_and_offsets_of_a_neighbour_name_nothing)
{
	struct treasure treasure = { 0 };
	struct vf_fence *fence[8];
	struct vf_queue *queue[8];
	int fd[2];
	unsigned int i;
	void *map;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, treasure_make(&treasure, &self->guest[VICTIM]));
	for (i = 0; i < 2; i++)
		fd[i] = vf_adapter_fd(self->guest[i].adapter);
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, vf_fence_create(self->guest[VICTIM].device, 0, 0, &fence[i]));
		ASSERT_EQ(0, vf_queue_create(self->guest[VICTIM].device, DRM_VFENCE_NODE_GFX, 4096,
					     &queue[i]));
	}
	/* Its buffer can be mapped with its own file, and with no other one. */
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd[VICTIM],
		   (off_t)treasure.bo.mmap_offset);
	ASSERT_NE(MAP_FAILED, map);
	munmap(map, 4096);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd[ATTACKER],
		   (off_t)treasure.bo.mmap_offset);
	EXPECT_EQ(MAP_FAILED, map);
	/* Its handles name nothing in the other file. */
	for (i = 0; i < 8; i++) {
		struct drm_vfence_queue_abort abort = { .queue = vf_queue_handle(queue[i]) };

		EXPECT_EQ(-ENOENT, destroy_object(fd[ATTACKER], DRM_VFENCE_OBJECT_FENCE,
						  vf_fence_handle(fence[i])));
		EXPECT_EQ(-ENOENT, raw(fd[ATTACKER], DRM_IOCTL_VFENCE_QUEUE_ABORT, &abort));
		EXPECT_EQ(0, vf_queue_submit(queue[i]));
		EXPECT_TRUE(drained(queue[i]));
		vf_queue_destroy(queue[i]);
		vf_fence_destroy(fence[i]);
	}
	/* A signal of its own fence does not change the fence of the neighbour. */
	EXPECT_EQ(0, vf_fence_signal(self->guest[ATTACKER].fence, 99999));
	EXPECT_TRUE(treasure_is_whole(&treasure));
	vf_buffer_destroy(treasure.buffer);
}

/* A message affects its sender only. */
TEST_F(world, VF_10_messages_are_of_their_sender_alone)
{
	static const char *const messages[] = { "2", "4", "5", "201", "3", "0", "4294967295" };
	struct treasure treasure = { 0 };
	struct vf_counters before, after;
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, treasure_make(&treasure, &self->guest[VICTIM]));
	ASSERT_EQ(0, configure("access_limit_ms", "60000"));
	ASSERT_EQ(0, inject(VF(VICTIM + 1), "mailbox", "1"));
	ASSERT_TRUE(EVENTUALLY(received(VICTIM + 1, "ready_to_access") == 1));
	ASSERT_TRUE(settled(self->guest[VICTIM].adapter, &before));
	for (i = 0; i < ARRAY_SIZE(messages); i++)
		ASSERT_EQ(0, inject(VF(ATTACKER + 1), "mailbox", messages[i]));
	/* The attacker is reset, as it wants, and waits for the engines then. */
	EXPECT_TRUE(EVENTUALLY(received(ATTACKER + 1, "flr_done") == 1));
	EXPECT_EQ(0, stat_of(VICTIM + 1, "gfx", "resets"));
	EXPECT_EQ(0, received(ATTACKER + 1, "ready_to_access"));
	EXPECT_EQ(1, received(VICTIM + 1, "ready_to_access"));
	EXPECT_EQ(0, received(VICTIM + 1, "flr_notice"));
	/* No interrupt, no signal, no ioctl of it is counted on the victim. */
	ASSERT_TRUE(settled(self->guest[VICTIM].adapter, &after));
	EXPECT_EQ(before.interrupts_raised, after.interrupts_raised);
	EXPECT_EQ(before.signals, after.signals);
	ASSERT_EQ(0, inject(VF(VICTIM + 1), "mailbox", "2"));
	EXPECT_TRUE(treasure_is_whole(&treasure));
	vf_buffer_destroy(treasure.buffer);
}

/* The attack of a function while its neighbour draws a frame. */
FIXTURE(attack) { FIXTURE_DATA(world) world; };
FIXTURE_VARIANT(attack) {
	/* queues that have work, queues that have none, and messages to the host */
	unsigned int busy, idle, messages;
	/* short work, then none, again and again */
	bool flaps;
	/* how much longer the frame may take than beside one queue with work */
	int64_t extra;
};
FIXTURE_VARIANT_ADD(attack, busy_queues) { .busy = 48, .extra = MS / 2, };
FIXTURE_VARIANT_ADD(attack, idle_queues) { .busy = 1, .idle = 62, .extra = MS / 10, };
FIXTURE_VARIANT_ADD(attack, messages) { .busy = 1, .messages = 50, .extra = MS / 2, };
FIXTURE_VARIANT_ADD(attack, edges) { .flaps = true, .extra = MS / 2, };

FIXTURE_SETUP(attack)
{
	if (geteuid() || access(DEVICE "drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	memset(self, 0, sizeof(*self));
}

FIXTURE_TEARDOWN(attack)
{
	EXPECT_EQ(0, world_end(&self->world));
}

static int attack_begin(struct guest *g, struct vf_queue **queue, unsigned int busy,
			unsigned int idle)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < busy + idle && !ret; i++) {
		ret = vf_queue_create(g->device, DRM_VFENCE_NODE_GFX, 4096, &queue[i]);
		if (ret || i >= busy)
			continue;
		vf_cmd_draw(queue[i], 100000, 50000);
		ret = vf_queue_submit(queue[i]);
	}
	return ret;
}

/* Give the engine short work, and wait until it has none any more. */
static int flap(struct guest *attacker)
{
	int ret;

	vf_cmd_draw(attacker->gfx, 1, 1000);
	ret = vf_queue_submit(attacker->gfx);
	if (!ret && !EVENTUALLY(is_done(attacker) &&
				queue_state(attacker->gfx) == DRM_VFENCE_QUEUE_IDLE))
		ret = -ETIME;
	return ret;
}

/* Attack while the victim has a frame in flight. Return: 0, or a negative error. */
static int attack_frame(struct guest *attacker, struct guest *victim, unsigned int messages,
			bool flaps)
{
	uint64_t edges = stat_of(ATTACKER + 1, "gfx", "turned_idle");
	int64_t until = DEADLINE;
	int ret = 0;

	while (messages-- && !ret)
		ret = inject(VF(ATTACKER + 1), "mailbox", "99");
	/*
	 * Until there was an edge, at least: the frame may have ended before this thread gets its
	 * processor, and work that comes at once after other work makes no edge.
	 */
	while (flaps && !ret && (!is_done(victim) ||
				 stat_of(ATTACKER + 1, "gfx", "turned_idle") == edges))
		ret = vf_deadline(0) < until ? flap(attacker) : -ETIME;
	return ret;
}

/* The victim's frames take as long as beside a function that has one queue with work. */
TEST_F_TIMEOUT(attack, VF_10_a_hostile_function_takes_its_share_and_no_more, 120)
{
	struct guest *attacker = &self->world.guest[ATTACKER], *victim = &self->world.guest[VICTIM];
	struct vf_queue *plain = NULL, *queue[64] = { NULL };
	int64_t fair, attacked = 0, begun;
	uint64_t edges;
	unsigned int i;

	ASSERT_EQ(0, world_make(&self->world, 2));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "1000"));
	ASSERT_EQ(0, attack_begin(attacker, &plain, 1, 0));
	fair = longest_frame(victim, 20);
	vf_queue_abort(plain);
	vf_queue_destroy(plain);
	ASSERT_LT(0, fair);

	ASSERT_EQ(0, attack_begin(attacker, queue, variant->busy, variant->idle));
	edges = stat_of(ATTACKER + 1, "gfx", "turned_idle");
	for (i = 0; i < 20; i++) {
		begun = vf_deadline(0);
		ASSERT_EQ(0, draw_frame(victim));
		ASSERT_EQ(0, attack_frame(attacker, victim, variant->messages, variant->flaps));
		ASSERT_TRUE(drained(victim->gfx));
		begun = vf_deadline(0) - begun;
		attacked = begun > attacked ? begun : attacked;
	}
	edges = stat_of(ATTACKER + 1, "gfx", "turned_idle") - edges;
	TH_LOG("the longest frame takes %.3f ms, and %.3f ms beside the attack, with %llu edges",
	       (double)fair / 1e6, (double)attacked / 1e6, (unsigned long long)edges);
	EXPECT_LE(variant->flaps ? 20 : 0, edges);
	EXPECT_LE(20 * variant->messages, guard_stat(ATTACKER + 1, "mailbox", false));
	if (deterministic())
		EXPECT_GT(fair + variant->extra, attacked);
	for (i = 0; i < variant->busy + variant->idle; i++) {
		vf_queue_abort(queue[i]);
		vf_queue_destroy(queue[i]);
	}
}

TEST_HARNESS_MAIN
