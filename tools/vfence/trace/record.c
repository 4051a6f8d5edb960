// SPDX-License-Identifier: GPL-2.0-only
/* Recording of a trace, which trace-cmd does: of a command, or of all that runs for some time. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record.h"

#define WORDS	280

/*
 * An instance of its own: other users of tracing do not see it, and do not clear it. Its buffers, in
 * KiB for each processor, hold what a flood of submissions leaves before the recorder runs again.
 */
static const char *const recorder[] = {
	"trace-cmd", "record", "-q", "-B", "vfence", "-b", "4096", "-C", "mono", "-e", "vgpu",
	"-e", "vfence", "-o",
};

#define N_RECORDER	(sizeof(recorder) / sizeof(recorder[0]))

/*
 * A shell that says in the trace what is recorded on which kernel, runs the command, and leaves its
 * exit code in a file, whose name is the first word.
 */
static const char *const marker[] = {
	"sh", "-c", "printf 'W|%s, Linux %s\\n' \"$*\" \"$(uname -r)\" >" RECORD_INSTANCE "/trace_marker;"
	" \"$@\"; echo $? >\"$0\"",
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

/* Return: the exit code that the shell has left, or -EIO. */
static int read_code(int fd)
{
	char text[8] = { 0 };

	return pread(fd, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : -EIO;
}

static int record_to(const char *file, const char *code, char **command, unsigned int words,
		     unsigned int seconds)
{
	const char *all[WORDS] = { NULL };
	unsigned int i, n = 0;
	char time[16];
	int ret;

	for (i = 0; i < N_RECORDER; i++)
		all[n++] = recorder[i];
	all[n++] = file;
	for (i = 0; i < N_MARKER; i++)
		all[n++] = marker[i];
	all[n++] = code;
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

/*
 * Record a command, or all that runs for some seconds. Return: the exit code of the command, or a
 * negative error: -ENOPKG without trace-cmd, -EBUSY beside another recording, -EIO if trace-cmd has
 * recorded nothing.
 */
int record(const char *file, char **command, unsigned int words, unsigned int seconds)
{
	char code[] = "/tmp/vfence-code-XXXXXX";
	int fd, ret;

	if (words + N_RECORDER + N_MARKER + 5 > WORDS)
		return -E2BIG;
	if (!access(RECORD_INSTANCE, F_OK))
		return -EBUSY;
	fd = mkstemp(code);
	if (fd < 0)
		return -errno;
	ret = record_to(file, code, command, words, seconds);
	if (!ret)
		ret = read_code(fd);
	close(fd);
	unlink(code);
	return ret;
}
