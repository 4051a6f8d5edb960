// SPDX-License-Identifier: GPL-2.0-only
/* The files by which an administrator changes an adapter: in debugfs, sysfs and configfs. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "card.h"
#include "switch.h"

/* Return: 0 or a negative errno. */
int switch_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* Read a line, without its end. Return: 0 or a negative errno. */
int switch_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	int ret;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	ret = n < 0 ? -errno : 0;
	close(fd);
	text[n > 0 ? n : 0] = 0;
	text[strcspn(text, "\n")] = 0;
	return ret;
}

/* The path of a switch in the adapter's folder in debugfs. */
static int switch_path(struct vf_adapter *adapter, const char *name, char path[PATH_MAX])
{
	struct card card;
	int ret = card_find(adapter, &card);

	if (!ret)
		snprintf(path, PATH_MAX, "/sys/kernel/debug/dri/%u/%s", card.number, name);
	return ret;
}

int switch_set(struct vf_adapter *adapter, const char *name, const char *text)
{
	char path[PATH_MAX];
	int ret = switch_path(adapter, name, path);

	return ret ? ret : switch_write(path, text);
}

int switch_get(struct vf_adapter *adapter, const char *name, char *text, size_t size)
{
	char path[PATH_MAX];
	int ret = switch_path(adapter, name, path);

	return ret ? ret : switch_read(path, text, size);
}
