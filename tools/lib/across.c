// SPDX-License-Identifier: MIT
/* Fences of several adapters in one call: each adapter has an event for its part of the points. */

#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "vf_private.h"

/* Move the points of the first point's adapter to @part. Return their number. */
static unsigned int take_part(struct vf_point *points, unsigned int *count, struct vf_point *part)
{
	struct vf_adapter *adapter = points[0].fence->adapter;
	unsigned int i, n = 0, left = 0;

	for (i = 0; i < *count; i++) {
		if (points[i].fence->adapter == adapter)
			part[n++] = points[i];
		else
			points[left++] = points[i];
	}
	*count = left;
	return n;
}

VF_EXPORT int vf_event_arm_across(const struct vf_point *points, unsigned int count,
				  uint32_t flags, int eventfd, struct vf_event *events,
				  unsigned int *event_count)
{
	struct vf_point *rest, *part;
	unsigned int n = 0;
	int ret = 0;

	if (!count)
		return -EINVAL;
	rest = calloc(count, 2 * sizeof(*rest));
	if (!rest)
		return -ENOMEM;
	part = rest + count;
	memcpy(rest, points, count * sizeof(*rest));
	while (!ret && count) {
		unsigned int in_part = take_part(rest, &count, part);

		if (n == *event_count) {
			ret = -ENOSPC;
			break;
		}
		events[n].adapter = part[0].fence->adapter;
		ret = vf_event_arm(events[n].adapter, part, in_part, flags, eventfd,
				   &events[n].event);
		ret = ret < 0 ? ret : 0;
		n += !ret;
	}
	free(rest);
	if (ret)
		vf_event_cancel_across(events, n);
	else
		*event_count = n;
	return ret;
}

VF_EXPORT void vf_event_cancel_across(const struct vf_event *events, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (events[i].event)
			vf_event_cancel(events[i].adapter, events[i].event);
}

/* What vf_wait_across() waits for: points of one adapter that must all be reached. */
struct part {
	struct vf_point *points;
	unsigned int count;
	uint32_t event;
	int efd;
};

/* With @any each point is a part. Return the number of parts. */
static unsigned int split(struct vf_point *rest, unsigned int count, bool any,
			  struct vf_point *sorted, struct part *parts)
{
	unsigned int n;

	for (n = 0; count; n++) {
		parts[n] = (struct part){ .points = sorted, .efd = -1 };
		if (any) {
			*sorted = *rest++;
			parts[n].count = 1;
			count--;
		} else {
			parts[n].count = take_part(rest, &count, sorted);
		}
		sorted += parts[n].count;
	}
	return n;
}

static int part_arm(struct part *part)
{
	int ret;

	part->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (part->efd < 0)
		return -errno;
	ret = vf_event_arm(part->points[0].fence->adapter, part->points, part->count, 0,
			   part->efd, &part->event);
	return ret < 0 ? ret : 0;
}

static void part_end(struct part *part)
{
	if (part->event)
		vf_event_cancel(part->points[0].fence->adapter, part->event);
	if (part->efd >= 0)
		close(part->efd);
}

/* The event of the part has fired. It also fires if a fence or an adapter has gone. */
static int part_result(const struct part *part)
{
	int ret = vf_wait(part->points[0].fence->adapter, part->points, part->count, 0, 0, NULL);

	/* The fence was there when the event was armed. */
	if (ret == -ENOENT)
		return -ECANCELED;
	/* A value that was reached may be lower by now. */
	return ret == -ETIME ? 0 : ret;
}

/* Sleep until the descriptor can be read. Return 0, -ETIME or another error. */
static int sleep_on(struct pollfd *polls, unsigned int count, int64_t timeout_ns)
{
	struct timespec left, *limit = timeout_ns == VF_FOREVER ? NULL : &left;
	int64_t ns;
	int ret;

	do {
		ns = timeout_ns - vf_deadline(0);
		ns = ns > 0 ? ns : 0;
		left = (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
		ret = ppoll(polls, count, limit, NULL);
	} while (ret < 0 && errno == EINTR);
	return ret > 0 ? 0 : ret ? -errno : -ETIME;
}

/* Return the index of a part that is reached, or a negative errno. */
static int wait_for_any(const struct part *parts, unsigned int count, struct pollfd *polls,
			int64_t timeout_ns)
{
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++)
		polls[i] = (struct pollfd){ .fd = parts[i].efd, .events = POLLIN };
	ret = sleep_on(polls, count, timeout_ns);
	if (ret)
		return ret;
	for (i = 0; i < count && !(polls[i].revents & POLLIN); i++)
		;
	/* The caller has closed a descriptor that is not its own. */
	if (i == count)
		return -EBADF;
	ret = part_result(&parts[i]);
	return ret ? ret : (int)i;
}

static int wait_for_all(const struct part *parts, unsigned int count, struct pollfd *polls,
			int64_t timeout_ns)
{
	unsigned int i;
	int ret = 0;

	/* Each event stays signaled, so the order does not matter. */
	for (i = 0; !ret && i < count; i++) {
		*polls = (struct pollfd){ .fd = parts[i].efd, .events = POLLIN };
		ret = sleep_on(polls, 1, timeout_ns);
		ret = ret ? ret : part_result(&parts[i]);
	}
	return ret;
}

VF_EXPORT int vf_wait_across(const struct vf_point *points, unsigned int count, uint32_t flags,
			     int64_t timeout_ns, unsigned int *first)
{
	bool any = flags & DRM_VFENCE_WAIT_ANY;
	struct pollfd *polls = NULL;
	struct part *parts = NULL;
	struct vf_point *rest;
	unsigned int n, i;
	int ret = 0;

	if (!count || count > DRM_VFENCE_MAX_POINTS || flags & ~DRM_VFENCE_WAIT_ANY ||
	    timeout_ns < 0)
		return -EINVAL;
	rest = calloc(count, 2 * sizeof(*rest));
	parts = calloc(count, sizeof(*parts));
	polls = calloc(count, sizeof(*polls));
	if (!rest || !parts || !polls) {
		ret = -ENOMEM;
		goto free;
	}

	memcpy(rest, points, count * sizeof(*rest));
	n = split(rest, count, any, rest + count, parts);
	for (i = 0; !ret && i < n; i++)
		ret = part_arm(&parts[i]);
	if (!ret)
		ret = any ? wait_for_any(parts, n, polls, timeout_ns) :
			    wait_for_all(parts, n, polls, timeout_ns);
	for (i = 0; i < n; i++)
		part_end(&parts[i]);

	if (ret >= 0 && any && first)
		*first = (unsigned int)ret;
	ret = ret < 0 ? ret : 0;
free:
	free(polls);
	free(parts);
	free(rest);
	return ret;
}
