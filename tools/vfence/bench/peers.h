/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PEERS_H
#define PEERS_H

#include <stddef.h>
#include <time.h>

#include "tool.h"

/* What is measured beside each other in one run. */
enum peer {
	/* Signal and wait in one call. */
	PEER_VFENCE,
	/* Two calls. */
	PEER_VFENCE_APART,
	/* One call, with a wait set that names again what has changed. */
	PEER_VFENCE_SET,
	/* The mapped value, without a call. */
	PEER_VFENCE_MAPPED,
	PEER_SYNCOBJ,
	PEER_NTSYNC,
	PEER_EVENTFD,
	PEER_FUTEX,
	PEER_PIPE,
	/* A DRM ioctl that does nothing: what entering the driver costs. */
	PEER_NOOP,
	PEERS,
};

extern const char *const peer_names[PEERS];

/* What all measurements share. */
struct bench_world {
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *gfx, *copy;
	struct vf_fence *fence, *gate, *back;
	struct vf_buffer *buffer;
	/* Last value of @fence, and of @gate and @back. */
	uint64_t value, gate_value;
	/* DRM file descriptor of the adapter; /dev/ntsync, or -1. */
	int fd, ntsync;
	/* Measure this row only, and no peers in it; or NULL. */
	const char *row;
	/* The clock is that of the host: measure what has peers. */
	bool wall;
};

/* The samples of one cell of the table, in ns. */
#define SAMPLES_MAX	1000
struct samples {
	uint64_t ns[SAMPLES_MAX];
	unsigned int count;
};

static inline uint64_t bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ------------------------------------------------------------- peers_link.c */

/* Two threads that hand over to each other. Side 0 waits for any of @n objects, side 1 for one. */
struct link;

struct link *link_open(struct bench_world *world, enum peer peer, unsigned int n);
void link_close(struct link *link);
/* Tell the other side, and wait until it has told @side; the first call of side 1 only waits. */
int link_pass(struct link *link, unsigned int side);
int link_wait(struct link *link, unsigned int side);
int link_signal(struct link *link, unsigned int side);

/* -------------------------------------------------------------- peers_gpu.c */

/* Each returns 0 or a negative errno. */
int gpu_place_engines(unsigned int processor);
int gpu_packet(struct bench_world *world, struct samples *s, bool signals);
int gpu_release(struct bench_world *world, struct samples *s);
int gpu_submit_busy(struct bench_world *world, struct samples *s);
int gpu_submit_idle(struct bench_world *world, struct samples *s);
int gpu_wake(struct bench_world *world, struct samples *s, unsigned int idle_queues,
	     unsigned int waiters);
int gpu_draws(struct bench_world *world, struct samples *s, uint64_t draw_ns);

#endif
