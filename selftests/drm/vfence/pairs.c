// SPDX-License-Identifier: GPL-2.0-only
/*
 * pairs [SLICE/SLICES [SHARE SEED]]: every call beside every other one, on the same objects. Of the
 * rounds that hold twice, or are slow, one of SHARE is played; which ones depends on the seed.
 * pairs CALL HOLD OTHER LATER: plays one round again; LATER may be "none".
 * pairs -s SEED COUNT: three calls at once, under seeds that delay the steps.
 *
 * A round is a client in a process of its own. It has an object of each kind, see pairs_scene.h. A
 * thread makes the first call, and stays at a hold which the call, or a work that follows from it,
 * passes. Meanwhile another thread makes the second call: it ends, or waits for what is held. Then
 * the held thread goes on, and the client gives up all it has. What follows from the first call may
 * be held in its turn meanwhile, so that it is the last one that uses the objects. First each call is
 * tried with each hold, and with each later one, to learn which it passes.
 *
 * What nobody may do is use memory that is free, warn, wait for ever, or leave an object behind. The
 * kernel reports the first two and the guest stops. A wait without a time-out ends, as at last each
 * round signals what everything waits for.
 *
 * The driver itself names its ioctls and its holds, so that none is forgotten. Needs a test build of
 * the module (VFENCE_RACE_POINTS=y).
 */

#include "pairs_scene.h"

#define HOLD		"/sys/module/vfence/parameters/hold"
#define HOLDS		"/sys/module/vfence/parameters/holds"
#define SEED		"/sys/module/vfence/parameters/race_seed"
#define IOCTLS		(sizeof(calls) / sizeof(*calls))
#define OTHERS		(sizeof(others) / sizeof(*others))
#define CALLS		(IOCTLS + OTHERS)
#define MAX_HOLDS	64
#define THREADS		3
/* The other call has so long before the held one goes on, if it waits for that. */
#define SOON		(20 * SECOND / 1000)

struct hold {
	char name[32];
	unsigned int reached;
};

static struct hold holds[MAX_HOLDS];
static unsigned int n_holds;

/* A round: the second call and the later hold may be missing. */
struct round {
	const struct call *first, *second;
	const char *hold, *later;
};

/* What a round leaves for the process that has begun it. */
struct result {
	int held, held_later, waited;
	char wrong[160];
};

static struct result *result;

struct sum {
	unsigned int rounds, waited, holds;
};

struct thread {
	const struct call *call;
	struct scene *scene;
	pthread_t thread;
	int done;
};

static const struct call *call_at(unsigned int i)
{
	return i < IOCTLS ? &calls[i] : &others[i - IOCTLS];
}

static bool is_first(unsigned int i)
{
	return call_at(i)->name && !call_at(i)->only_second;
}

static const struct call *call_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < CALLS; i++)
		if (call_at(i)->name && !strcmp(call_at(i)->name, name))
			return call_at(i);
	return NULL;
}

static bool is_held(void)
{
	char text[40] = "";
	int fd = open(HOLD, O_RDONLY | O_CLOEXEC);
	bool held;

	held = fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && strstr(text, " 1");
	close(fd);
	return held;
}

static void nap(void)
{
	const struct timespec time = { .tv_nsec = 50000 };

	nanosleep(&time, NULL);
}

static void *thread_run(void *arg)
{
	struct thread *t = arg;

	t->call->make(t->scene);
	__atomic_store_n(&t->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void thread_begin(struct thread *t, struct scene *scene, const struct call *call)
{
	*t = (struct thread){ .call = call, .scene = scene };
	pthread_create(&t->thread, NULL, thread_run, t);
}

static bool thread_is_done(struct thread *t)
{
	return __atomic_load_n(&t->done, __ATOMIC_ACQUIRE);
}

/* The first thing that is wrong counts. */
static void wrong(const char *what, const struct call *call, int error)
{
	if (result->wrong[0])
		return;
	snprintf(result->wrong, sizeof(result->wrong), "%s: %s (%s)", what,
		 call ? call->name : "scene", strerror(error));
}

/* A suspension, or a submission, may come after the signal: signal, until the call has ended. */
static void thread_end(struct thread *t, struct scene *s)
{
	if (EVENTUALLY((scene_finish(s), thread_is_done(t))))
		pthread_join(t->thread, NULL);
	else
		wrong("a call does not end", t->call, ETIME);
}

/* Return: true if a thread is held. A work that follows from a call may come after it. */
static bool comes_to_hold(struct thread *t)
{
	unsigned int i;

	if (!EVENTUALLY(is_held() || thread_is_done(t)))
		return false;
	for (i = 0; i < 40 && !is_held(); i++)
		nap();
	return is_held();
}

/*
 * In a process of its own. A call that only waits is neither held nor done: then nothing holds it
 * within the time that a work takes.
 */
static bool comes_to_hold_soon(struct thread *t)
{
	int64_t until = vf_deadline(SOON);

	while (!is_held() && !thread_is_done(t) && vf_deadline(0) < until)
		nap();
	return is_held() || (thread_is_done(t) && comes_to_hold(t));
}

/* The second call has ended, or waits for what is held. */
static void play_second(struct thread *t, struct scene *s, const struct call *call)
{
	int64_t until;

	thread_begin(t, s, call);
	until = vf_deadline(call->slow ? 5 * SOON : SOON);
	while (!thread_is_done(t) && vf_deadline(0) < until)
		nap();
	result->waited = !thread_is_done(t);
}

/* The process that has begun the round ends a later hold. */
static void play(const struct round *round)
{
	struct thread a, b;
	struct scene s = { 0 };
	int ret = scene_open(&s, 0), i;

	/* What the scene itself has caused is over. */
	nap();
	ret = ret ? ret : write_text(HOLD, round->hold);
	if (ret) {
		wrong("cannot begin", NULL, -ret);
		return;
	}
	thread_begin(&a, &s, round->first);
	result->held = comes_to_hold_soon(&a);
	if (round->second)
		play_second(&b, &s, round->second);
	write_text(HOLD, round->later ? round->later : "none");
	for (i = 0; round->later && i < 10 && !result->held_later; i++) {
		nap();
		result->held_later = is_held();
	}
	thread_end(&a, &s);
	if (round->second)
		thread_end(&b, &s);
	/* The end of a process ends what this would wait for. */
	if (!result->wrong[0])
		scene_close(&s);
}

static void play_together(const struct call *const *call, uint64_t seed)
{
	struct thread t[THREADS];
	struct scene s = { 0 };
	char text[24];
	unsigned int i;
	int ret = scene_open(&s, 0);

	snprintf(text, sizeof(text), "%" PRIu64, seed);
	ret = ret ? ret : write_text(SEED, text);
	if (ret) {
		wrong("cannot begin", NULL, -ret);
		return;
	}
	for (i = 0; i < THREADS; i++)
		thread_begin(&t[i], &s, call[i]);
	for (i = 0; i < THREADS; i++)
		thread_end(&t[i], &s);
	if (!result->wrong[0])
		scene_close(&s);
}

/* Return: true if the adapter works, bound anew if a call has ended it. */
static bool adapter_mend(void)
{
	struct vf_adapter *adapter;
	bool works = !inject(0, "fail_restart", "0") && !vf_adapter_open(0, &adapter);

	if (works) {
		works = working(adapter);
		vf_adapter_close(adapter);
	}
	if (works)
		return true;
	driver("unbind", 0);
	if (driver("bind", 0) || vf_adapter_open(0, &adapter))
		return false;
	works = !tdr_configure(0, "debug_mode", "3") && working(adapter);
	vf_adapter_close(adapter);
	return works;
}

/* Return: true if a process that plays a round has ended well. */
static bool round_end(pid_t pid, bool ends_process, bool ends_adapter)
{
	int64_t until = vf_deadline(10 * SOON);
	int status = 0;
	pid_t ended;

	/* One that was killed cannot let the held thread go on. */
	while (!(ended = waitpid(pid, &status, WNOHANG)) && vf_deadline(0) < until)
		nap();
	if (!ended)
		write_text(HOLD, "none");
	if (!ended && !EVENTUALLY(waitpid(pid, &status, WNOHANG) == pid)) {
		wrong("a process does not end", NULL, ETIME);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	write_text(HOLD, "none");
	if (!result->wrong[0] && status && !(ends_process && WIFSIGNALED(status)))
		snprintf(result->wrong, sizeof(result->wrong), "the process ends with 0x%x", status);
	if (!result->wrong[0] && ends_adapter && !adapter_mend())
		wrong("the adapter does not work", NULL, EIO);
	return !result->wrong[0];
}

static bool ends_process(const struct round *round)
{
	return round->first->ends_process || (round->second && round->second->ends_process);
}

/* As play() does, after the process that does it was killed. Its end may wait for what is held. */
static void play_killed(const struct round *round)
{
	int64_t until = vf_deadline(2 * SOON);
	int i;

	while (vf_deadline(0) < until)
		nap();
	result->held = is_held();
	write_text(HOLD, round->later ? round->later : "none");
	for (i = 0; round->later && i < 10 && !result->held_later; i++) {
		nap();
		result->held_later = is_held();
	}
}

static bool round_play(const struct round *round)
{
	const struct call *first = round->first, *second = round->second;
	pid_t pid;

	memset(result, 0, sizeof(*result));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		play(round);
		_exit(!!result->wrong[0]);
	}
	if (ends_process(round))
		play_killed(round);
	if (round_end(pid, ends_process(round), first->ends_adapter || (second && second->ends_adapter)))
		return true;
	printf("\n# %s %s %s %s: %s\n", first->name, round->hold, second ? second->name : "nothing",
	       round->later ? round->later : "none", result->wrong);
	return false;
}

/* Return: true if no object is left that belongs to a client. */
static bool nothing_is_left(void)
{
	struct vf_adapter *adapter;
	struct vf_counters c;
	bool left;

	if (!adapter_mend() || vf_adapter_open(0, &adapter))
		return false;
	left = !EVENTUALLY((c = counters(adapter), !c.queues && !c.doorbells_connected &&
			    c.fences_created == c.fences_destroyed &&
			    c.submissions == c.submissions_done + c.submissions_lost));
	if (left)
		printf("# left: %" PRIu64 " queues, %" PRIu64 " fences, %" PRIu64 " submissions\n",
		       c.queues, c.fences_created - c.fences_destroyed,
		       c.submissions - c.submissions_done - c.submissions_lost);
	vf_adapter_close(adapter);
	return !left;
}

static uint64_t state, share = 1;

static uint64_t dice(uint64_t sides)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % sides;
}

/* Each other call beside one that is held, and may be held again. */
static bool rounds_play(struct round round, struct sum *sum)
{
	bool right = true;
	unsigned int i;

	/* A process that was killed makes no second call: the round without one is all. */
	if (round.first->ends_process) {
		sum->rounds++;
		return true;
	}
	for (i = 0; i < CALLS && right; i++) {
		round.second = call_at(i);
		if (!round.second->name)
			continue;
		if ((round.later || round.first->slow || round.second->slow) && dice(share))
			continue;
		right = round_play(&round);
		sum->waited += result->waited;
		sum->rounds++;
	}
	return right;
}

/* All rounds of one call and one hold, if the call passes the hold. */
static bool hold_play(struct round round, struct sum *sum)
{
	unsigned int h;

	if (!round_play(&round))
		return false;
	if (!result->held)
		return true;
	printf("# %s passes %s, and then:", round.first->name, round.hold);
	sum->holds++;
	if (!rounds_play(round, sum))
		return false;
	for (h = 0; h < n_holds; h++) {
		round.later = holds[h].name;
		if (!round_play(&round))
			return false;
		if (!result->held_later)
			continue;
		printf(" %s", round.later);
		if (!rounds_play(round, sum))
			return false;
	}
	printf("\n");
	return true;
}

/* All rounds of one call. */
static bool row_play(const struct call *first, struct sum *sum)
{
	bool right = true;
	unsigned int h;

	for (h = 0; h < n_holds && right; h++) {
		unsigned int before = sum->holds;

		right = hold_play((struct round){ .first = first, .hold = holds[h].name }, sum);
		holds[h].reached += sum->holds - before;
	}
	return right && nothing_is_left();
}

/* Return: true if the table has each ioctl of the driver: one that it has not is EINVAL. */
static bool table_is_whole(void)
{
	struct vf_adapter *adapter;
	unsigned int nr, found = 0, named = 0;
	bool whole = true;

	if (vf_adapter_open(0, &adapter))
		return false;
	for (nr = 0; nr < DRM_COMMAND_END - DRM_COMMAND_BASE; nr++) {
		unsigned long request = DRM_IOWR(DRM_COMMAND_BASE + nr, uint64_t);
		bool known = nr < IOCTLS && calls[nr].name;

		named += known;
		if (raw(vf_adapter_fd(adapter), request, NULL) == -EFAULT) {
			found++;
			whole &= known;
			if (!known)
				printf("# ioctl %u has no call\n", nr);
		}
	}
	vf_adapter_close(adapter);
	return whole && found == named;
}

static bool holds_read(void)
{
	FILE *f = fopen(HOLDS, "re");

	while (f && n_holds < MAX_HOLDS && fscanf(f, "%31s", holds[n_holds].name) == 1)
		n_holds++;
	if (f)
		fclose(f);
	return n_holds;
}

static int say(bool right, unsigned int n, const char *name, const struct sum *sum)
{
	printf("%sok %u pairs.%s", right ? "" : "not ", n, name);
	if (sum)
		printf(" # %u rounds, in %u of them the other call waits", sum->rounds, sum->waited);
	printf("\n");
	fflush(stdout);
	return !right;
}

/* Return: true if at least half of the holds are passed; few calls may pass fewer. */
static bool holds_are_passed(bool few)
{
	unsigned int i, passed = 0;

	for (i = 0; i < n_holds; i++) {
		passed += !!holds[i].reached;
		if (!holds[i].reached)
			printf("# no call of this slice passes %s\n", holds[i].name);
	}
	return few || 2 * passed >= n_holds;
}

static int play_rows(unsigned int slice, unsigned int slices)
{
	unsigned int i, n = 0;
	int ret;

	for (i = 0; i < CALLS; i++)
		n += is_first(i) && i % slices == slice;
	printf("1..%u\n", n + 2);
	ret = say(table_is_whole(), 1, "each_ioctl_has_a_call", NULL);
	for (i = n = 0; i < CALLS; i++) {
		struct sum sum = { 0 };
		bool right;

		if (!is_first(i) || i % slices != slice)
			continue;
		right = row_play(call_at(i), &sum);
		ret |= say(right, ++n + 1, call_at(i)->name, &sum);
	}
	return ret | say(holds_are_passed(slices > 2), n + 2, "holds_are_passed", NULL);
}

static const struct call *draw(void)
{
	const struct call *call;

	do
		call = call_at((unsigned int)dice(CALLS));
	while (!call->name || call->ends_process || call->only_second);
	return call;
}

static bool together_play(uint64_t seed)
{
	const struct call *call[THREADS];
	bool ends_adapter = false;
	unsigned int i;
	pid_t pid;

	state = seed;
	for (i = 0; i < THREADS; i++) {
		call[i] = draw();
		ends_adapter |= call[i]->ends_adapter;
	}
	memset(result, 0, sizeof(*result));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		play_together(call, seed);
		_exit(!!result->wrong[0]);
	}
	if (round_end(pid, false, ends_adapter))
		return true;
	printf("# seed %" PRIu64 ": %s, %s and %s: %s\n", seed, call[0]->name, call[1]->name,
	       call[2]->name, result->wrong);
	return false;
}

static int play_seeds(uint64_t first, uint64_t count)
{
	struct sum sum = { 0 };
	bool right = true;
	uint64_t seed;

	printf("1..1\n");
	for (seed = first; seed < first + count && right; seed++)
		right = together_play(seed);
	write_text(SEED, "0");
	sum.rounds = (unsigned int)(seed - first);
	return say(right && nothing_is_left(), 1, "three_at_once", &sum);
}

static int play_one(char **argv)
{
	struct round round = { .first = call_find(argv[1]), .hold = argv[2],
			       .second = call_find(argv[3]) };
	bool right;

	if (!round.first || !round.second)
		return 2;
	round.later = strcmp(argv[4], "none") ? argv[4] : NULL;
	printf("1..1\n");
	right = round_play(&round);
	printf("# held: %d, later: %d, the other call waits: %d\n", result->held,
	       result->held_later, result->waited);
	return say(right && nothing_is_left(), 1, "one", NULL);
}

int main(int argc, char **argv)
{
	unsigned int slice = 0, slices = 1;

	result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (result == MAP_FAILED || !holds_read() || tdr_configure(0, "debug_mode", "3")) {
		printf("1..0 # SKIP needs root and a test build of the module\n");
		return 4;
	}
	printf("TAP version 13\n");
	if (argc == 4 && !strcmp(argv[1], "-s"))
		return play_seeds(strtoull(argv[2], NULL, 0), strtoull(argv[3], NULL, 0));
	if (argc == 5)
		return play_one(argv);
	if (argc == 4) {
		share = strtoull(argv[2], NULL, 0);
		state = strtoull(argv[3], NULL, 0);
	}
	if (argc > 1 && sscanf(argv[1], "%u/%u", &slice, &slices) != 2)
		return 2;
	if (!share || !slices || slice > slices)
		return 2;
	return play_rows(slice ? slice - 1 : 0, slices);
}
