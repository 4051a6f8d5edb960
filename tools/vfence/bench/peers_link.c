// SPDX-License-Identifier: GPL-2.0-only
/* vfence bench peers: two threads that hand over to each other, with each primitive. */

#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <xf86drm.h>

#include "ntsync.h"
#include "peers.h"

/* The most objects that one side waits for. */
#define OBJECTS		512

struct side {
	/* The number of objects that this side waits for. */
	unsigned int n;
	struct vf_fence *fence[OBJECTS];
	struct vf_point point[OBJECTS];
	struct vf_wait_set *set;
	uint32_t syncobj[OBJECTS];
	uint64_t value[OBJECTS];
	int fd[OBJECTS];
	/* The two ends of a pipe. */
	int pipe[2];
	_Atomic uint32_t futex;
	/* How often this side was told, and how often it has seen that. */
	uint64_t told, seen;
};

struct link {
	struct bench_world *world;
	enum peer peer;
	struct side side[2];
};

/* The keys of the cells in the file. */
const char *const peer_names[PEERS] = {
	"vfence", "vfence_two_calls", "vfence_wait_set", "vfence_mapped", "drm_syncobj",
	"ntsync", "eventfd", "futex", "pipe", "no_op_ioctl",
};

static int side_open_vfence(struct link *link, struct side *side)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < side->n; i++) {
		ret = vf_fence_create(link->world->device, 0, 0, &side->fence[i]);
		side->point[i] = (struct vf_point){ side->fence[i], 1 };
	}
	return ret;
}

/* All objects but the last one stay on their fences. */
static int side_open_set(struct link *link, struct side *side)
{
	struct vf_wait_set_entry update[OBJECTS];
	unsigned int i;
	int ret = side_open_vfence(link, side);

	ret = ret ? ret : vf_wait_set_create(link->world->adapter, side->n, &side->set);
	for (i = 0; i < side->n - 1; i++)
		update[i] = (struct vf_wait_set_entry){ i, side->fence[i], 1 };
	return ret ? ret : vf_wait_set_update(side->set, update, side->n - 1);
}

static int side_open_syncobj(struct link *link, struct side *side)
{
	unsigned int i;

	for (i = 0; i < side->n; i++) {
		if (drmSyncobjCreate(link->world->fd, 0, &side->syncobj[i]))
			return -errno;
		side->value[i] = 1;
	}
	return 0;
}

static int side_open_ntsync(struct link *link, struct side *side)
{
	unsigned int i;

	if (link->world->ntsync < 0 || side->n > NTSYNC_MAX_WAIT_COUNT)
		return -EOPNOTSUPP;
	for (i = 0; i < side->n; i++) {
		side->fd[i] = ntsync_event(link->world->ntsync, false, false);
		if (side->fd[i] < 0)
			return -errno;
	}
	return 0;
}

static int side_open(struct link *link, struct side *side)
{
	switch (link->peer) {
	case PEER_VFENCE:
	case PEER_VFENCE_APART:
		return side_open_vfence(link, side);
	case PEER_VFENCE_SET:
		return side_open_set(link, side);
	case PEER_SYNCOBJ:
		return side_open_syncobj(link, side);
	case PEER_NTSYNC:
		return side_open_ntsync(link, side);
	default:
		/* The others wait for one object. */
		if (side->n > 1)
			return -EOPNOTSUPP;
		side->fd[0] = eventfd(0, EFD_CLOEXEC);
		return side->fd[0] < 0 || pipe2(side->pipe, O_CLOEXEC) ? -errno : 0;
	}
}

static void side_close(struct link *link, struct side *side)
{
	unsigned int i;

	vf_wait_set_destroy(side->set);
	for (i = 0; i < side->n; i++) {
		vf_fence_destroy(side->fence[i]);
		if (side->syncobj[i])
			drmSyncobjDestroy(link->world->fd, side->syncobj[i]);
		if (side->fd[i] > 0)
			close(side->fd[i]);
	}
	for (i = 0; i < 2; i++)
		if (side->pipe[i] > 0)
			close(side->pipe[i]);
}

struct link *link_open(struct bench_world *world, enum peer peer, unsigned int n)
{
	struct link *link = calloc(1, sizeof(*link));
	int ret;

	if (!link)
		return NULL;
	link->world = world;
	link->peer = peer;
	link->side[0].n = n;
	link->side[1].n = 1;
	ret = side_open(link, &link->side[0]);
	ret = ret ? ret : side_open(link, &link->side[1]);
	if (!ret)
		return link;
	link_close(link);
	errno = -ret;
	return NULL;
}

void link_close(struct link *link)
{
	side_close(link, &link->side[0]);
	side_close(link, &link->side[1]);
	free(link);
}

/* The last object of a side is the one that is signaled. */
int link_signal(struct link *link, unsigned int side)
{
	struct side *to = &link->side[!side];
	unsigned int last = to->n - 1;
	uint64_t one = 1;

	to->told++;
	switch (link->peer) {
	case PEER_VFENCE:
	case PEER_VFENCE_APART:
	case PEER_VFENCE_SET:
		return vf_fence_signal(to->fence[last], to->told);
	case PEER_SYNCOBJ:
		return drmSyncobjTimelineSignal(link->world->fd, &to->syncobj[last], &to->told, 1);
	case PEER_NTSYNC:
		return ntsync_set(to->fd[last]);
	case PEER_EVENTFD:
		return write(to->fd[0], &one, sizeof(one)) == sizeof(one) ? 0 : -errno;
	case PEER_PIPE:
		return write(to->pipe[1], &one, 1) == 1 ? 0 : -errno;
	default:
		to->futex++;
		return syscall(SYS_futex, &to->futex, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) < 0 ?
		       -errno : 0;
	}
}

/* Signal if there is a signal, arm the last object again, and wait for any. */
static int wait_by_set(struct side *own, const struct vf_point *signal)
{
	unsigned int last = own->n - 1, count = 1;
	struct vf_wait_set_entry update = { last, own->fence[last], own->seen };
	struct drm_vfence_wait_set_ready ready;
	int ret = vf_wait_set_wait(own->set, &update, 1, signal, !!signal, VF_FOREVER, &ready,
				   &count);

	return ret ? ret : ready.index == last ? 0 : -EILSEQ;
}

int link_wait(struct link *link, unsigned int side)
{
	struct side *own = &link->side[side];
	unsigned int last = own->n - 1, first;
	uint64_t count;

	own->seen++;
	own->point[last].value = own->seen;
	own->value[last] = own->seen;
	switch (link->peer) {
	case PEER_VFENCE:
	case PEER_VFENCE_APART:
		return vf_wait(link->world->adapter, own->point, own->n, DRM_VFENCE_WAIT_ANY,
			       VF_FOREVER, &first);
	case PEER_VFENCE_SET:
		return wait_by_set(own, NULL);
	case PEER_SYNCOBJ:
		return drmSyncobjTimelineWait(link->world->fd, own->syncobj, own->value, own->n,
					      INT64_MAX, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
					      &first);
	case PEER_NTSYNC:
		return ntsync_wait_any(link->world->ntsync, own->fd, own->n);
	case PEER_EVENTFD:
		return read(own->fd[0], &count, sizeof(count)) == sizeof(count) ? 0 : -errno;
	case PEER_PIPE:
		return read(own->pipe[0], &count, 1) == 1 ? 0 : -errno;
	default:
		while (own->futex < own->seen)
			syscall(SYS_futex, &own->futex, FUTEX_WAIT_PRIVATE, own->seen - 1, NULL,
				NULL, 0);
		return 0;
	}
}

int link_pass(struct link *link, unsigned int side)
{
	struct side *to = &link->side[!side], *own = &link->side[side];
	struct vf_point signal;
	int ret;

	if (link->peer != PEER_VFENCE && link->peer != PEER_VFENCE_SET) {
		ret = link_signal(link, side);
		return ret ? ret : link_wait(link, side);
	}
	signal = (struct vf_point){ to->fence[to->n - 1], ++to->told };
	own->point[own->n - 1].value = ++own->seen;
	if (link->peer == PEER_VFENCE_SET)
		return wait_by_set(own, &signal);
	return vf_signal_and_wait(link->world->adapter, &signal, 1, own->point, own->n,
				  DRM_VFENCE_WAIT_ANY, VF_FOREVER, NULL);
}
