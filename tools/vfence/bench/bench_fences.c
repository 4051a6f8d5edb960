// SPDX-License-Identifier: GPL-2.0-only
/*
 * vfence bench fences: the same work with native and with monitored fences. Native fences
 * promise that signals between engines cost the CPU nothing, and that a signal with a CPU
 * waiter costs at most one interrupt.
 *
 * The work is a chain: two engines hand a token to and fro, 100 us apart, and a thread
 * waits for every n-th hand-over. A fan is one signal with many waiters.
 */

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include "bench.h"
#include "bench_fences.h"

#define SIGNALS		1000
/* Rounds in a batch: a kernel-mode queue holds few more submissions at once. */
#define PORTION		250
#define APART_NS	100000

const unsigned int fence_shares[FENCE_SHARES] = { 0, 1, 10, 100 };
const unsigned int fence_fans[FENCE_FANS] = { 1, 10, 100, 1000 };
const char *const fence_kind_names[FENCE_KINDS] = {
	"native", "monitored, interrupt", "monitored, basic", "monitored, software",
};

struct ring {
	enum fence_kind kind;
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue[2];
	/* The fence that each engine signals for the other. */
	struct vf_fence *fence[2];
	uint64_t value;
	/* The fence that starts a batch. */
	struct vf_fence *gate;
	uint64_t gate_value;
};

struct snapshot {
	struct vf_counters counters;
	uint64_t cpu_ns, switches, time;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* -------------------------------------------------------------------- cost */

/* The threads of the virtual GPU have names like vfence0-engine1 and vfence0-cmp. */
static bool is_gpu(const char *comm)
{
	return !strncmp(comm, "vfence", 6) && (strstr(comm, "-engine") || strstr(comm, "-cmp"));
}

static void add_thread(const char *path, struct snapshot *s)
{
	unsigned long long ns, waited, slices;
	char file[300], comm[32] = "";
	FILE *f;

	snprintf(file, sizeof(file), "%s/comm", path);
	f = fopen(file, "re");
	if (!f)
		return;
	if (!fgets(comm, sizeof(comm), f))
		comm[0] = 0;
	fclose(f);
	snprintf(file, sizeof(file), "%s/schedstat", path);
	f = fopen(file, "re");
	if (!f)
		return;
	if (!is_gpu(comm) && fscanf(f, "%llu %llu %llu", &ns, &waited, &slices) == 3) {
		s->cpu_ns += ns;
		s->switches += slices;
	}
	fclose(f);
}

static void add_process(const char *pid, struct snapshot *s)
{
	char path[280];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/%.20s/task/%.20s", pid, entry->d_name);
		if (entry->d_name[0] != '.')
			add_thread(path, s);
	}
	if (tasks)
		closedir(tasks);
}

/* Add the threads of all other processes: no unrelated program may run meanwhile. */
static void look_at_others(struct snapshot *s)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc)))
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' &&
		    atoi(entry->d_name) != getpid())
			add_process(entry->d_name, s);
	if (proc)
		closedir(proc);
}

/* Add our own threads, with those that have ended. */
static void look_at_us(struct snapshot *s)
{
	struct rusage usage;
	struct timespec t;

	getrusage(RUSAGE_SELF, &usage);
	s->switches += (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	s->cpu_ns += (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Take the two snapshots in mirrored order, so that the work does not include their cost. */
static void look_before(struct ring *r, struct snapshot *s)
{
	memset(s, 0, sizeof(*s));
	look_at_others(s);
	vf_adapter_counters(r->adapter, &s->counters);
	look_at_us(s);
	s->time = now();
}

static void look_after(struct ring *r, struct snapshot *s)
{
	memset(s, 0, sizeof(*s));
	s->time = now();
	look_at_us(s);
	vf_adapter_counters(r->adapter, &s->counters);
	look_at_others(s);
}

static struct fence_cost difference(const struct snapshot *a, const struct snapshot *b)
{
	const struct vf_counters *x = &a->counters, *y = &b->counters;

	return (struct fence_cost) {
		.interrupts = y->handler_runs - x->handler_runs,
		.scans = y->legacy_scans - x->legacy_scans + y->scans - x->scans,
		.entries = y->ioctls - x->ioctls + y->doorbell_faults - x->doorbell_faults,
		.switches = b->switches - a->switches,
		.cpu_ns = b->cpu_ns - a->cpu_ns + y->handler_ns - x->handler_ns,
	};
}

/* -------------------------------------------------------------------- work */

static int submit(struct ring *r, unsigned int i, struct vf_fence *wait, uint64_t wait_value,
		  struct vf_fence *signal, uint64_t value)
{
	struct vf_point before = { wait, wait_value }, after = { signal, value };
	struct vf_submit what = { .waits = &before, .wait_count = 1, .signals = &after };
	struct vf_queue *queue = r->queue[i];

	if (r->kind == FENCES_NATIVE)
		vf_cmd_wait(queue, wait, wait_value);
	vf_cmd_draw(queue, 1, APART_NS);
	if (r->kind == FENCES_SOFTWARE)
		what.signal_count = 1;
	else
		vf_cmd_signal(queue, signal, value);
	return r->kind == FENCES_NATIVE ? vf_queue_publish(queue) : vf_submit(&queue, 1, &what);
}

/* Hand the token to and fro; each hand-over is a submission of its own. */
static int hand_over(struct ring *r, unsigned int times)
{
	int ret = 0;

	while (!ret && times--) {
		ret = submit(r, 0, r->fence[1], r->value, r->fence[0], r->value + 1);
		r->value++;
		ret = ret ? ret : submit(r, 1, r->fence[0], r->value, r->fence[1], r->value);
	}
	return ret;
}

struct waiter {
	struct ring *ring;
	uint64_t base;
	/* The thread waits for every so many-th signal. */
	unsigned int every;
	int ret;
};

/* Signal n is on fence n % 2 and has the value base + n / 2 + 1. */
static void *wait_for_some(void *arg)
{
	struct waiter *w = arg;
	unsigned int n;

	for (n = w->every - 1; !w->ret && n < SIGNALS; n += w->every)
		w->ret = vf_fence_wait(w->ring->fence[n % 2], w->base + n / 2 + 1, VF_FOREVER);
	return NULL;
}

/*
 * The first hand-over of a batch waits for the gate. The gate opens when the whole batch is
 * submitted, and then the measurement begins. The main thread waits for the end of each
 * batch, so 2 of 1,000 signals have a CPU waiter in any case.
 */
static int run_portions(struct ring *r, uint64_t *ns)
{
	unsigned int i;
	int ret = 0;

	for (*ns = 0, i = 0; !ret && i < SIGNALS / 2 / PORTION; i++) {
		uint64_t begin;

		r->gate_value++;
		ret = submit(r, 0, r->gate, r->gate_value, r->fence[1], r->value);
		ret = ret ? ret : hand_over(r, PORTION);
		begin = now();
		ret = ret ? ret : vf_fence_signal(r->gate, r->gate_value);
		ret = ret ? ret : vf_fence_wait(r->fence[1], r->value, VF_FOREVER);
		*ns += now() - begin;
	}
	return ret;
}

static int run_chain(struct ring *r, unsigned int share, struct fence_cost *cost)
{
	struct waiter waiter = { .ring = r, .base = r->value, .every = share ? 100 / share : 1 };
	struct snapshot before, after;
	pthread_t thread;
	uint64_t ns;
	int ret;

	look_before(r, &before);
	if (share && pthread_create(&thread, NULL, wait_for_some, &waiter))
		return -ENOMEM;
	ret = run_portions(r, &ns);
	/* Wait for the thread to end, even after an error. */
	if (share)
		pthread_join(thread, NULL);
	look_after(r, &after);
	*cost = difference(&before, &after);
	ns /= SIGNALS;
	cost->latency_ns = ns > APART_NS ? ns - APART_NS : 0;
	return ret ? ret : waiter.ret;
}

static int await_events(int efd, uint64_t count)
{
	uint64_t n;

	while (count) {
		if (read(efd, &n, sizeof(n)) != sizeof(n))
			return -errno;
		count -= n < count ? n : count;
	}
	return 0;
}

/* Measure one signal with many waiters. */
static int run_fan(struct ring *r, unsigned int waiters, struct fence_cost *cost)
{
	struct vf_point point = { r->fence[0], r->value + 1 };
	struct snapshot before, after;
	int efd = eventfd(0, EFD_CLOEXEC);
	unsigned int i;
	int ret = 0;

	for (i = 0; ret >= 0 && i < waiters; i++)
		ret = vf_event_arm(r->adapter, &point, 1, 0, efd, NULL);
	look_before(r, &before);
	r->value++;
	ret = ret < 0 ? ret : submit(r, 0, r->fence[1], r->value - 1, r->fence[0], r->value);
	ret = ret ? ret : await_events(efd, waiters);
	look_after(r, &after);
	*cost = difference(&before, &after);
	cost->latency_ns = after.time - before.time - APART_NS;
	close(efd);
	/* Signal the other engine's half of the round from the CPU. */
	return ret ? ret : vf_fence_signal(r->fence[1], r->value);
}

/* ------------------------------------------------------------------- set-up */

/* Return whether an adapter with these flags suits a kind. */
static bool suits(enum fence_kind kind, uint32_t flags, const struct drm_vfence_fence_caps *caps)
{
	switch (kind) {
	case FENCES_NATIVE:
		/* The plain interrupt names the fences. */
		return caps->flags & DRM_VFENCE_CAP_NATIVE_FENCE &&
		       !(caps->flags & DRM_VFENCE_CAP_OPTIMIZED_INTERRUPT);
	case FENCES_INTERRUPT:
		return flags & DRM_VFENCE_ADAPTER_MONITORED_INTERRUPT;
	case FENCES_BASIC:
		return (flags & (DRM_VFENCE_ADAPTER_MONITORED_SIGNAL |
				 DRM_VFENCE_ADAPTER_MONITORED_INTERRUPT)) ==
		       DRM_VFENCE_ADAPTER_MONITORED_SIGNAL;
	default:
		return !(flags & DRM_VFENCE_ADAPTER_MONITORED_SIGNAL);
	}
}

/* Open the first adapter that suits. One adapter may suit native and basic. */
static int open_adapter(struct ring *r)
{
	struct drm_vfence_adapter_info info;
	struct drm_vfence_fence_caps caps;
	struct vf_counters counters;
	unsigned int i;
	int ret;

	for (i = 0; i < 64; i++) {
		ret = vf_adapter_open(i, &r->adapter);
		if (ret)
			continue;
		ret = vf_adapter_info(r->adapter, &info);
		ret = ret ? ret : vf_adapter_fence_caps(r->adapter, &caps);
		/* The benchmark compares counters of the adapter, which are for root. */
		ret = ret ? ret : vf_adapter_counters(r->adapter, &counters);
		if (ret == -EACCES || ret == -ENOENT) {
			vf_adapter_close(r->adapter);
			r->adapter = NULL;
			return ret;
		}
		if (!ret && suits(r->kind, info.flags, &caps))
			return 0;
		vf_adapter_close(r->adapter);
	}
	r->adapter = NULL;
	return -ENODEV;
}

static int set_up(struct ring *r)
{
	static const unsigned int node[2] = { DRM_VFENCE_NODE_GFX, DRM_VFENCE_NODE_COPY };
	unsigned int i;
	int ret = open_adapter(r);

	ret = ret ? ret : vf_device_create(r->adapter, &r->device);
	if (!ret && r->kind == FENCES_NATIVE)
		ret = vf_fence_create(r->device, 0, 0, &r->gate);
	else if (!ret)
		ret = vf_monitored_fence_create(r->device, 0, 0, &r->gate);
	for (i = 0; !ret && i < 2; i++) {
		if (r->kind == FENCES_NATIVE) {
			ret = vf_queue_create(r->device, node[i], 1 << 17, &r->queue[i]);
			ret = ret ? ret : vf_fence_create(r->device, 0, 0, &r->fence[i]);
		} else {
			ret = vf_kernel_queue_create(r->device, node[i], &r->queue[i]);
			ret = ret ? ret : vf_monitored_fence_create(r->device, 0, 0,
								    &r->fence[i]);
		}
	}
	return ret;
}

static void tear_down(struct ring *r)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		vf_queue_destroy(r->queue[i]);
		vf_fence_destroy(r->fence[i]);
	}
	vf_fence_destroy(r->gate);
	if (r->device)
		vf_device_destroy(r->device);
	if (r->adapter)
		vf_adapter_close(r->adapter);
}

static int run_kind(enum fence_kind kind, struct fence_results *results)
{
	struct ring r = { .kind = kind };
	struct fence_cost warm_up;
	unsigned int i;
	int ret = set_up(&r);

	results->have[kind] = !ret;
	ret = ret == -ENODEV ? 0 : ret;
	if (results->have[kind])
		ret = run_chain(&r, 1, &warm_up);
	for (i = 0; !ret && results->have[kind] && i < FENCE_SHARES; i++)
		ret = run_chain(&r, fence_shares[i], &results->chain[kind][i]);
	for (i = 0; !ret && results->have[kind] && i < FENCE_FANS; i++)
		ret = run_fan(&r, fence_fans[i], &results->fan[kind][i]);
	tear_down(&r);
	return ret;
}

/* ------------------------------------------------------------------ results */

static void print_row(const char *kind, unsigned int what, const char *unit,
		      const struct fence_cost *c)
{
	printf("  %-22s %5u%-2s %10llu %8llu %8llu %9llu %12llu %10llu\n", kind, what, unit,
	       (unsigned long long)c->interrupts, (unsigned long long)c->scans,
	       (unsigned long long)c->entries, (unsigned long long)c->switches,
	       (unsigned long long)c->cpu_ns, (unsigned long long)c->latency_ns);
}

static void print_table(const struct fence_results *r)
{
	unsigned int k, i;

	puts("1,000 signals between two engines, 100 us apart; a thread waits for some\n"
	     "  fences                waited interrupts    scans  entries  switches       cpu ns "
	     "latency ns");
	for (i = 0; i < FENCE_SHARES; i++)
		for (k = 0; k < FENCE_KINDS; k++)
			if (r->have[k])
				print_row(fence_kind_names[k], fence_shares[i], "%",
					  &r->chain[k][i]);
	puts("\none signal, from its submission to the last of who wait for it");
	for (i = 0; i < FENCE_FANS; i++)
		for (k = 0; k < FENCE_KINDS; k++)
			if (r->have[k])
				print_row(fence_kind_names[k], fence_fans[i], "", &r->fan[k][i]);
}

static void add_number(json_object *to, const char *name, uint64_t value)
{
	json_object_object_add(to, name, json_object_new_int64((int64_t)value));
}

static void add_row(json_object *list, const char *kind, const char *what, unsigned int value,
		    const struct fence_cost *c)
{
	json_object *o = json_object_new_object();

	json_object_object_add(o, "fences", json_object_new_string(kind));
	add_number(o, what, value);
	add_number(o, "interrupts", c->interrupts);
	add_number(o, "scans", c->scans);
	add_number(o, "kernel_entries", c->entries);
	add_number(o, "context_switches", c->switches);
	add_number(o, "cpu_ns", c->cpu_ns);
	add_number(o, "latency_ns", c->latency_ns);
	json_object_array_add(list, o);
}

static json_object *to_json(const struct fence_results *r)
{
	json_object *o = json_object_new_object();
	json_object *chain = json_object_new_array(), *fan = json_object_new_array();
	unsigned int k, i;

	for (k = 0; k < FENCE_KINDS; k++) {
		for (i = 0; r->have[k] && i < FENCE_SHARES; i++)
			add_row(chain, fence_kind_names[k], "waited_percent", fence_shares[i],
				&r->chain[k][i]);
		for (i = 0; r->have[k] && i < FENCE_FANS; i++)
			add_row(fan, fence_kind_names[k], "waiters", fence_fans[i], &r->fan[k][i]);
	}
	json_object_object_add(o, "per_1000_signals", chain);
	json_object_object_add(o, "one_signal", fan);
	return o;
}

static int write_results(const struct fence_results *r, json_object *json, const char *folder)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/fences.json", folder);
	if (json_object_to_file_ext(path, json, JSON_C_TO_STRING_PRETTY))
		return -EIO;
	snprintf(path, sizeof(path), "%s/fences.svg", folder);
	return bench_fences_svg(r, path);
}

int bench_fences_main(const struct options *options)
{
	struct fence_results *r = calloc(1, sizeof(*r));
	json_object *json;
	unsigned int k;
	int ret = r ? 0 : -ENOMEM;

	for (k = 0; !ret && k < FENCE_KINDS; k++)
		ret = run_kind((enum fence_kind)k, r);
	if (!ret) {
		json = to_json(r);
		if (options->json)
			puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY));
		else
			print_table(r);
		if (options->output)
			ret = write_results(r, json, options->output);
		json_object_put(json);
	}
	if (ret)
		tool_fail("bench fences", ret);
	free(r);
	return ret;
}
