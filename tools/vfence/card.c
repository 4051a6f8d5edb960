// SPDX-License-Identifier: GPL-2.0-only
/* The nodes of an adapter. Its folder in debugfs has the number of the primary node. */

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "card.h"

static int card_read(const char *folder, unsigned int number, struct card *card)
{
	char path[PATH_MAX];
	unsigned int major_of, minor_of;
	int found;
	FILE *f;

	snprintf(path, sizeof(path), "%s/card%u/dev", folder, number);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	found = fscanf(f, "%u:%u", &major_of, &minor_of);
	fclose(f);
	if (found != 2)
		return -EIO;
	card->number = number;
	card->primary = makedev(major_of, minor_of);
	return 0;
}

/*
 * Ask the device for its nodes: from 64 devices on, the minor numbers of the two nodes have nothing in
 * common. Return: 0, -ENODEV if the device has no primary node, or another negative errno.
 */
int card_find(struct vf_adapter *adapter, struct card *card)
{
	struct dirent *entry;
	char folder[64];
	struct stat st;
	int ret = -ENODEV;
	DIR *dir;

	if (fstat(vf_adapter_fd(adapter), &st))
		return -errno;
	card->render = st.st_rdev;
	snprintf(folder, sizeof(folder), "/sys/dev/char/%u:%u/device/drm", major(st.st_rdev),
		 minor(st.st_rdev));
	dir = opendir(folder);
	while (dir && ret == -ENODEV && (entry = readdir(dir))) {
		unsigned int number;
		char rest;

		if (sscanf(entry->d_name, "card%u%c", &number, &rest) == 1)
			ret = card_read(folder, number, card);
	}
	if (dir)
		closedir(dir);
	return ret;
}
