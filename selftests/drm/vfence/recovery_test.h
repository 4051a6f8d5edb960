/* SPDX-License-Identifier: GPL-2.0-only */
/* What tests of resets share: an engine that hangs beside another client, uevents, dumps. */
#ifndef _RECOVERY_TEST_H_
#define _RECOVERY_TEST_H_

#include <libgen.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "vfence_test.h"

/* Return: a socket that gets all uevents from now on. */
static inline int uevents(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Return: number of uevents that are there and have all three variables. */
static inline unsigned int told(int events, const char *a, const char *b, const char *c)
{
	unsigned int count = 0;
	char text[4096];
	ssize_t n;

	while ((n = recv(events, text, sizeof(text) - 1, 0)) > 0) {
		unsigned int found = 0;
		char *at;

		text[n] = 0;
		for (at = text; at < text + n; at += strlen(at) + 1)
			found |= (!strcmp(at, a)) | (!strcmp(at, b) << 1) | (!strcmp(at, c) << 2);
		count += found == 7;
	}
	return count;
}

#define DUMPS	"/sys/class/devcoredump"

/* Open the dump of an adapter. Return: a descriptor, or -1. */
static inline int open_dump(unsigned int index, int flags)
{
	char path[PATH_MAX], target[PATH_MAX], name[20];
	struct dirent *entry;
	DIR *dir = opendir(DUMPS);
	int fd = -1;

	snprintf(name, sizeof(name), "vfence.%u", index);
	while (dir && fd < 0 && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), DUMPS "/%s/failing_device", entry->d_name);
		if (!realpath(path, target) || strcmp(basename(target), name))
			continue;
		snprintf(path, sizeof(path), DUMPS "/%s/data", entry->d_name);
		fd = open(path, flags | O_CLOEXEC);
	}
	if (dir)
		closedir(dir);
	return fd;
}

/* Return: the length of the dump, which is in @text. */
static inline ssize_t read_dump(unsigned int index, char *text, size_t size)
{
	int fd = open_dump(index, O_RDONLY);
	ssize_t n = 0, got;

	while (fd >= 0 && n < (ssize_t)size - 1 && (got = read(fd, text + n, size - 1 - n)) > 0)
		n += got;
	if (fd >= 0)
		close(fd);
	text[n] = 0;
	return n;
}

/* Return: true if there is no dump; releases one if there is. */
static inline bool no_dump(unsigned int index)
{
	int fd = open_dump(index, O_WRONLY);

	if (fd < 0)
		return true;
	if (write(fd, "0", 1) != 1)
		perror("# cannot release a dump");
	close(fd);
	return false;
}

/* Return: true if there is no dump any more, also of the module as it was loaded before. */
static inline bool release_dump(unsigned int index)
{
	return EVENTUALLY(no_dump(index));
}

static inline void fault_on(struct vf_queue *queue)
{
	vf_cmd_fill(queue, NOWHERE, 64, 0);
	vf_queue_publish(queue);
}

/* Return: true if the dump of an adapter has the line; then it is released. */
static inline bool dump_says(unsigned int index, const char *line)
{
	static char text[16384];
	bool says;

	if (!EVENTUALLY(read_dump(index, text, sizeof(text)) > 0))
		return false;
	says = strstr(text, line);
	return release_dump(index) && says;
}

#define TRACING	"/sys/kernel/tracing/"

/* One line of the trace. */
struct step {
	unsigned int node, step;
	unsigned long long submitted, completed, aborted;
};

/* Return: number of steps in the trace, at most @max. */
static inline unsigned int traced(struct step *step, unsigned int max)
{
	FILE *f = fopen(TRACING "trace", "re");
	unsigned int adapter, function, count = 0;
	char line[500], *at;

	while (f && count < max && fgets(line, sizeof(line), f)) {
		at = strstr(line, "vfence_recovery: ");
		if (at && sscanf(at, "vfence_recovery: adapter=%u function=%u node=%u step=%u submitted=%llu completed=%llu aborted=%llu",
				 &adapter, &function, &step->node, &step->step, &step->submitted,
				 &step->completed, &step->aborted) == 7) {
			step++;
			count++;
		}
	}
	if (f)
		fclose(f);
	return count;
}

static inline int trace_recovery(const char *on)
{
	return write_text(TRACING "trace", "") ?:
	       write_text(TRACING "events/vfence/vfence_recovery/enable", on);
}

#endif
