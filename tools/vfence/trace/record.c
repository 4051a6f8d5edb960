// SPDX-License-Identifier: GPL-2.0-only
/* Recording of a trace, which trace-cmd does: of a command, or of all that runs for some time. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record.h"

#define WORDS	280

/* An instance of its own: other users of tracing do not see it, and do not clear it. */
static const char *const recorder[] = {
	"trace-cmd", "record", "-q", "-B", "vfence", "-C", "mono", "-e", "vgpu", "-e", "vfence",
	"-o",
};

#define N_RECORDER	(sizeof(recorder) / sizeof(recorder[0]))

/* A shell that says in the trace what is recorded on which kernel, and becomes the command. */
static const char *const marker[] = {
	"sh", "-c", "printf 'W|%s, Linux %s\\n' \"$*\" \"$(uname -r)\" >/sys/kernel/tracing/instances/vfence/trace_marker;"
	" exec \"$@\"", "sh",
};

#define N_MARKER	(sizeof(marker) / sizeof(marker[0]))

/* Return: the exit code of a command, or a negative error. */
static int run(const char **words)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return -errno;
	if (!child) {
		/* What trace-cmd says is of no interest; what the command says is. */
		execvp(words[0], (char *const *)words);
		_exit(127);
	}
	if (waitpid(child, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

/*
 * Record a command, or all that runs for some seconds. Return: 0, or a negative error: -ENOPKG
 * without trace-cmd, -EIO if it has recorded nothing.
 */
int record(const char *file, char **command, unsigned int words, unsigned int seconds)
{
	const char *all[WORDS] = { NULL };
	unsigned int i, n = 0;
	char time[16];
	int ret;

	if (words + N_RECORDER + N_MARKER + 4 > WORDS)
		return -E2BIG;
	for (i = 0; i < N_RECORDER; i++)
		all[n++] = recorder[i];
	all[n++] = file;
	for (i = 0; i < N_MARKER; i++)
		all[n++] = marker[i];
	snprintf(time, sizeof(time), "%u", seconds);
	if (!words) {
		all[n++] = "sleep";
		all[n++] = time;
	}
	for (i = 0; i < words; i++)
		all[n++] = command[i];
	ret = run(all);
	if (ret == 127)
		return -ENOPKG;
	return ret > 0 ? -EIO : ret;
}
