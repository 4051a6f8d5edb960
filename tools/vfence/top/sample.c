// SPDX-License-Identifier: GPL-2.0-only
/*
 * One moment of an adapter: what ioctls, debugfs, the fdinfo of all processes and sysfs say. What the
 * user may not see is left out.
 */

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../card.h"
#include "../functions.h"
#include "../text.h"
#include "sample.h"

/* Make room for one entry more of an array, and return it zeroed, or NULL. */
static void *sample_grow(void **array, unsigned int *count, size_t size)
{
	char *more;

	if (!(*count & (*count - 1))) {
		more = realloc(*array, size * (*count ? 2 * *count : 1));
		if (!more)
			return NULL;
		*array = more;
	}
	more = (char *)*array + size * (*count)++;
	return memset(more, 0, size);
}

/* Find the text of "key=text" in a line. Return: false if it is not there. */
static bool line_text(const char *line, const char *key, char *text, size_t size)
{
	size_t length = strlen(key);
	const char *at = line;

	while ((at = strstr(at, key))) {
		if ((at == line || at[-1] == ' ') && at[length] == '=') {
			at += length + 1;
			snprintf(text, size, "%.*s", (int)strcspn(at, " \n"), at);
			return true;
		}
		at += length;
	}
	return false;
}

static uint64_t line_number(const char *line, const char *key)
{
	char text[SAMPLE_TEXT];

	return line_text(line, key, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

static int sample_add_queue(struct sample *s, const char *line)
{
	struct sample_queue *q = sample_grow((void **)&s->queues, &s->queue_count, sizeof(*q));

	if (!q)
		return -ENOMEM;
	q->queue = (uint32_t)line_number(line, "queue");
	q->client = line_number(line, "client");
	q->node = (uint32_t)line_number(line, "node");
	q->context = (uint32_t)line_number(line, "context");
	q->packets = line_number(line, "packets");
	q->busy_ns = line_number(line, "busy_ns");
	q->fence = (uint32_t)line_number(line, "fence");
	q->value = line_number(line, "value");
	q->suspended = line_number(line, "suspended");
	line_text(line, "kind", q->kind, sizeof(q->kind));
	line_text(line, "state", q->state, sizeof(q->state));
	return 0;
}

static int sample_add_fence(struct sample *s, const char *line)
{
	struct sample_fence *f = sample_grow((void **)&s->fences, &s->fence_count, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->fence = (uint32_t)line_number(line, "fence");
	f->current = line_number(line, "current");
	f->monitored = line_number(line, "monitored");
	f->waiters = line_number(line, "waiters");
	f->value = line_number(line, "value");
	line_text(line, "kind", f->kind, sizeof(f->kind));
	return 0;
}

static int sample_state(struct sample *s, const struct card *card)
{
	char path[64], line[512];
	int ret = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%u/state", card->number);
	f = fopen(path, "re");
	s->has_state = f;
	while (f && !ret && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "queue=", 6))
			ret = sample_add_queue(s, line);
		else if (!strncmp(line, "fence=", 6))
			ret = sample_add_fence(s, line);
	}
	if (f)
		fclose(f);
	return ret;
}

/* Read one line of fdinfo. */
static void client_line(struct sample_client *c, const struct sample *s, const char *line)
{
	char name[SAMPLE_TEXT];
	unsigned long long value;
	unsigned int i, k;

	if (sscanf(line, "drm-client-id: %llu", &value) == 1)
		c->id = value;
	else if (sscanf(line, "vfence-devices-hung: %llu", &value) == 1)
		c->hung = value;
	else if (sscanf(line, "vfence-devices-reset: %llu", &value) == 1)
		c->reset = value;
	else if (sscanf(line, "drm-total-memory: %llu KiB", &value) == 1)
		c->memory = strstr(line, "MiB") ? value << 20 : strstr(line, "KiB") ? value << 10 : value;
	else if (sscanf(line, "drm-engine-%23[a-z]: %llu", name, &value) == 2)
		for (i = 0; i < s->engine_count; i++) {
			for (k = 0; name[k] && tolower(s->engines[i].name[k]) == name[k]; k++)
				;
			if (!name[k] && !s->engines[i].name[k])
				c->engine_ns[i] = value;
		}
}

static int by_client(const void *a, const void *b)
{
	const struct sample_client *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_queue(const void *a, const void *b)
{
	const struct sample_queue *x = a, *y = b;

	return x->queue < y->queue ? -1 : x->queue > y->queue;
}

static int by_fence(const void *a, const void *b)
{
	const struct sample_fence *x = a, *y = b;

	return x->fence < y->fence ? -1 : x->fence > y->fence;
}

/*
 * Sort queues, fences and clients by their numbers. Several descriptors may belong to one client,
 * such as inherited ones: keep one of them.
 */
static void sample_sort(struct sample *s)
{
	unsigned int i, n = 0;

	if (s->queue_count)
		qsort(s->queues, s->queue_count, sizeof(*s->queues), by_queue);
	if (s->fence_count)
		qsort(s->fences, s->fence_count, sizeof(*s->fences), by_fence);
	if (s->client_count)
		qsort(s->clients, s->client_count, sizeof(*s->clients), by_client);
	for (i = 0; i < s->client_count; i++)
		if (!n || s->clients[n - 1].id != s->clients[i].id)
			s->clients[n++] = s->clients[i];
	s->client_count = n;
}

/* An open file of a process, if it is one of this adapter. Return: 0 or -ENOMEM. */
static int sample_file(struct sample *s, const char *pid, const char *fd,
		       const struct card *card)
{
	struct sample_client client = { .pid = atoi(pid) }, *to;
	char path[600], line[160];
	struct stat st;
	ssize_t length;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/fd/%s", pid, fd);
	/* Do not touch other files: one of a file system that is away would stop the command. */
	length = readlink(path, line, sizeof(line) - 1);
	line[length > 0 ? length : 0] = 0;
	if (strncmp(line, "/dev/dri/", 9))
		return 0;
	if (stat(path, &st) || !S_ISCHR(st.st_mode) ||
	    (st.st_rdev != card->render && st.st_rdev != card->primary))
		return 0;
	snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		client_line(&client, s, line);
	if (f)
		fclose(f);
	if (!client.id)
		return 0;
	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		text_clean(client.comm, sizeof(client.comm), line);
	}
	if (f)
		fclose(f);
	to = sample_grow((void **)&s->clients, &s->client_count, sizeof(*to));
	if (!to)
		return -ENOMEM;
	*to = client;
	return 0;
}

static int sample_process(struct sample *s, const char *pid, const struct card *card)
{
	char path[300];
	struct dirent *entry;
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	while (dir && !ret && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			ret = sample_file(s, pid, entry->d_name, card);
	if (dir)
		closedir(dir);
	return ret;
}

static int sample_clients(struct sample *s, const struct card *card)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	int ret = 0;

	while (dir && !ret && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			ret = sample_process(s, entry->d_name, card);
	if (dir)
		closedir(dir);
	return ret;
}

static int sample_engines(struct vf_adapter *adapter, struct sample *s)
{
	struct drm_vfence_node_info nodes[SAMPLE_NODES];
	struct vf_node_totals totals[SAMPLE_NODES] = { 0 };
	unsigned int count = SAMPLE_NODES, total_count = SAMPLE_NODES, i;
	int ret = vf_adapter_nodes(adapter, nodes, &count);

	/* They stay zero for users other than root. */
	vf_adapter_node_totals(adapter, totals, &total_count);
	for (i = 0; !ret && i < count && i < SAMPLE_NODES; i++) {
		snprintf(s->engines[i].name, SAMPLE_TEXT, "%s", text_node_class(nodes[i].class_id));
		s->engines[i].busy_ns = totals[i].busy_ns;
		s->engine_count++;
	}
	return ret;
}

static void sample_functions(struct sample *s)
{
	char text[16], folder[16];
	unsigned int i;

	if (functions_read(s->adapter, "sriov_numvfs", text, sizeof(text)))
		return;
	s->function_count = (unsigned int)atoi(text) + 1;
	if (s->function_count > SAMPLE_FUNCTIONS)
		s->function_count = SAMPLE_FUNCTIONS;
	for (i = 0; i < s->function_count; i++) {
		snprintf(folder, sizeof(folder), i ? "vf%u" : "pf", i);
		s->functions[i].run_ns = functions_stat(s->adapter, folder, "gfx", "run_ns");
		s->functions[i].turns = functions_stat(s->adapter, folder, "gfx", "turns");
	}
}

/* Take a sample. Return: 0 or a negative error; then there is nothing to free. */
int sample_take(struct vf_adapter *adapter, unsigned int index, struct sample *sample)
{
	struct timespec now;
	struct card card;
	int ret;

	memset(sample, 0, sizeof(*sample));
	sample->adapter = index;
	clock_gettime(CLOCK_MONOTONIC, &now);
	sample->time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	ret = card_find(adapter, &card);
	ret = ret ? ret : sample_engines(adapter, sample);
	if (ret)
		return ret;
	sample->counted = !vf_adapter_counters(adapter, &sample->counters);
	sample_functions(sample);
	ret = sample_state(sample, &card);
	ret = ret ? ret : sample_clients(sample, &card);
	if (ret)
		sample_free(sample);
	else
		sample_sort(sample);
	return ret;
}

void sample_free(struct sample *sample)
{
	free(sample->queues);
	free(sample->fences);
	free(sample->clients);
	memset(sample, 0, sizeof(*sample));
}

/* Return: a fence of a sample, or NULL. A sample has only fences that threads or submissions await. */
const struct sample_fence *sample_find_fence(const struct sample *sample, uint32_t fence)
{
	const struct sample_fence key = { .fence = fence };

	return sample->fence_count ? bsearch(&key, sample->fences, sample->fence_count, sizeof(key),
					     by_fence) : NULL;
}

/* Return: a client of a sample, or NULL. */
const struct sample_client *sample_find_client(const struct sample *sample, uint64_t id)
{
	const struct sample_client key = { .id = id };

	return sample->client_count ? bsearch(&key, sample->clients, sample->client_count,
					      sizeof(key), by_client) : NULL;
}

/* Return: a queue of a sample, or NULL. */
const struct sample_queue *sample_find_queue(const struct sample *sample, uint32_t queue)
{
	const struct sample_queue key = { .queue = queue };

	return sample->queue_count ? bsearch(&key, sample->queues, sample->queue_count, sizeof(key),
					     by_queue) : NULL;
}
