// SPDX-License-Identifier: GPL-2.0-only
/* What the processes of a scenario share. */

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "stage.h"

#define SECOND	1000000000

int stage_make(struct stage *stage, const struct scenario *s, unsigned int adapter)
{
	size_t clients = s->client_count * sizeof(*stage->clients);
	size_t fences = s->fence_count * sizeof(*stage->fences);
	size_t labels = s->label_count * sizeof(*stage->labels);

	*stage = (struct stage){ .scenario = s, .adapter = adapter };
	stage->adapters = calloc(s->adapter_count + 1, sizeof(*stage->adapters));
	if (!stage->adapters)
		return -ENOMEM;
	stage->size = clients + fences + labels;
	stage->memory = mmap(NULL, stage->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			     -1, 0);
	if (stage->memory == MAP_FAILED) {
		free(stage->adapters);
		return -ENOMEM;
	}
	stage->clients = stage->memory;
	stage->fences = (void *)((char *)stage->memory + clients);
	stage->labels = (void *)((char *)stage->memory + clients + fences);
	return 0;
}

void stage_free(struct stage *stage)
{
	munmap(stage->memory, stage->size);
	free(stage->adapters);
}

/* Return: the number by which the library opens the adapter or the function of a client. */
unsigned int stage_adapter(const struct stage *stage, const struct script *client)
{
	unsigned int adapter = client->adapter == NO_INDEX ? stage->adapter :
							     stage->adapters[client->adapter];

	return client->function ? 16 * (adapter + 1) + client->function - 1 : adapter;
}

uint64_t stage_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* A step has ended: those that wait for it go on, in all processes. */
void stage_end_label(struct stage *stage, uint32_t label)
{
	struct label_report *l = &stage->labels[label];

	l->at = stage_now();
	/* Release: the time comes first. Partner: the load in stage_await_label(). */
	__atomic_store_n(&l->ended, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &l->ended, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Wait until a step has ended. Return: 0 or -ETIME. */
int stage_await_label(struct stage *stage, uint32_t label, int64_t deadline)
{
	struct label_report *l = &stage->labels[label];
	const struct timespec t = { deadline / SECOND, deadline % SECOND };

	while (!__atomic_load_n(&l->ended, __ATOMIC_ACQUIRE))
		if (syscall(SYS_futex, &l->ended, FUTEX_WAIT_BITSET, 0, &t, NULL,
			    FUTEX_BITSET_MATCH_ANY) && errno == ETIMEDOUT)
			return -ETIME;
	return 0;
}

bool stage_tell(int sock, char what)
{
	return send(sock, &what, 1, MSG_NOSIGNAL) == 1;
}

/* Return: false if the other end says something else, or has died. */
bool stage_hear(int sock, char what)
{
	char byte;

	return recv(sock, &byte, 1, 0) == 1 && byte == what;
}
