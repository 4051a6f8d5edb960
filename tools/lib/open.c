// SPDX-License-Identifier: MIT
/* Opening and closing adapters. */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "vf_private.h"

static bool is_vfence(int fd)
{
	drmVersionPtr version = drmGetVersion(fd);
	/* Another major version gives the numbers of the ioctls to other calls. */
	bool match = version && !strcmp(version->name, "vfence") && version->version_major == 2;

	drmFreeVersion(version);
	return match;
}

/*
 * Find the adapter by its own number and not by the order of render nodes: that
 * order changes when a device is unbound and bound again.
 */
static int open_index(unsigned int index)
{
	char path[64];
	struct dirent *entry;
	int fd = -ENODEV;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/bus/platform/devices/vfence.%u/drm", index);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ENODEV : -errno;
	while (fd < 0 && (entry = readdir(dir))) {
		char node[300];

		if (strncmp(entry->d_name, "renderD", 7))
			continue;
		snprintf(node, sizeof(node), "/dev/dri/%s", entry->d_name);
		fd = open(node, O_RDWR | O_CLOEXEC);
		if (fd < 0) {
			fd = -errno;
		} else if (!is_vfence(fd)) {
			close(fd);
			fd = -ENODEV;
		}
	}
	closedir(dir);
	return fd;
}

VF_EXPORT int vf_adapter_open(unsigned int index, struct vf_adapter **adapter)
{
	struct vf_adapter *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	pthread_mutex_init(&a->events.lock, NULL);
	pthread_mutex_init(&a->lifetime.lock, NULL);
	pthread_mutex_init(&a->pages.lock, NULL);
	pthread_mutex_init(&a->buffers.lock, NULL);
	a->fd = open_index(index);
	if (a->fd < 0) {
		int ret = a->fd;

		free(a);
		return ret;
	}
	*adapter = a;
	return 0;
}

VF_EXPORT void vf_adapter_close(struct vf_adapter *adapter)
{
	if (!adapter)
		return;
	close(adapter->fd);
	vf_lifetime_fini(adapter);
	free(adapter->events.ring);
	pthread_mutex_destroy(&adapter->events.lock);
	pthread_mutex_destroy(&adapter->pages.lock);
	pthread_mutex_destroy(&adapter->buffers.lock);
	free(adapter);
}
