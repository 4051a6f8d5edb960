// SPDX-License-Identifier: GPL-2.0-only
/* The files by which an administrator changes an adapter: in debugfs, sysfs and configfs. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The path of the file of injections in the adapter's folder in debugfs. */
static int switch_path(struct vf_adapter *adapter, char path[PATH_MAX])
{
	struct card card;
	int ret = card_find(adapter, &card);

	if (!ret)
		snprintf(path, PATH_MAX, "/sys/kernel/debug/dri/%u/inject", card.number);
	return ret;
}

/* Inject a fault, or take it back. Return: 0 or a negative errno; -EINVAL without such a fault. */
int switch_inject(struct vf_adapter *adapter, const char *name, const char *value)
{
	char path[PATH_MAX], *text;
	int ret = switch_path(adapter, path);

	if (ret)
		return ret;
	if (asprintf(&text, "%s %s", name, value) < 0)
		return -ENOMEM;
	ret = switch_write(path, text);
	free(text);
	return ret;
}

/* Read the value of an injection. Return: 0 or a negative errno; -EINVAL without such a fault. */
int switch_injected(struct vf_adapter *adapter, const char *name, uint32_t *value)
{
	char path[PATH_MAX], line[256];
	size_t length = strlen(name);
	int ret = switch_path(adapter, path);
	FILE *f;

	if (ret)
		return ret;
	f = fopen(path, "re");
	if (!f)
		return -errno;
	ret = -EINVAL;
	while (ret && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, length) && line[length] == ' ' &&
		    sscanf(line + length, " %" SCNx32, value) == 1)
			ret = 0;
	fclose(f);
	return ret;
}
