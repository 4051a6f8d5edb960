/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NTSYNC_H
#define NTSYNC_H

/*
 * The part of the kernel's ntsync that is measured. Debian 12 has no header of it, so its numbers
 * are repeated here; they are ABI.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>

#define NTSYNC_MAX_WAIT_COUNT	64

struct ntsync_event_args {
	uint32_t manual;
	uint32_t signaled;
};

struct ntsync_wait_args {
	uint64_t timeout;
	uint64_t objs;
	uint32_t count;
	uint32_t index;
	uint32_t flags;
	uint32_t owner;
	uint32_t alert;
	uint32_t pad;
};

#define NTSYNC_IOC_WAIT_ANY	_IOWR('N', 0x82, struct ntsync_wait_args)
#define NTSYNC_IOC_CREATE_EVENT	_IOW('N', 0x87, struct ntsync_event_args)
#define NTSYNC_IOC_EVENT_SET	_IOR('N', 0x88, uint32_t)

/* Return: the descriptor of a new event, or -1. */
static inline int ntsync_event(int device, bool manual, bool signaled)
{
	struct ntsync_event_args args = { .manual = manual, .signaled = signaled };

	return ioctl(device, NTSYNC_IOC_CREATE_EVENT, &args);
}

static inline int ntsync_set(int event)
{
	uint32_t before;

	return ioctl(event, NTSYNC_IOC_EVENT_SET, &before);
}

static inline int ntsync_wait_any(int device, const int *events, unsigned int count)
{
	struct ntsync_wait_args args = {
		.timeout = UINT64_MAX,
		.objs = (uintptr_t)events,
		.count = count,
		.owner = 1,
	};

	return ioctl(device, NTSYNC_IOC_WAIT_ANY, &args);
}

#endif
