// SPDX-License-Identifier: GPL-2.0-only
/* Runs a scenario while the tracer records it, and checks the rules on the trace. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenario.h"
#include "trace/check.h"
#include "trace/record.h"

/* Record another process of this command, which runs the scenario and says what it finds. */
static int checked_record(const char *trace, const char *path, unsigned int adapter)
{
	char number[16], self[PATH_MAX], run[] = "run", option[] = "--adapter", end[] = "--";
	char *words[] = { self, run, option, number, end, (char *)path };
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return -errno;
	self[length] = 0;
	snprintf(number, sizeof(number), "%u", adapter);
	return record(trace, words, sizeof(words) / sizeof(words[0]), 0);
}

/* The same, where the output of this process is for something else. */
static int checked_record_quietly(const char *trace, const char *path, unsigned int adapter)
{
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), ret = -EBADF;

	fflush(NULL);
	if (out >= 0 && null >= 0 && dup2(null, STDOUT_FILENO) >= 0) {
		ret = checked_record(trace, path, adapter);
		dup2(out, STDOUT_FILENO);
	}
	close(null);
	close(out);
	return ret;
}

/*
 * Run the scenario of a file with another process of this command, which says what it finds. The
 * verdict is the first rule that the trace breaks. Return: 0; 1 if a rule is broken or the scenario
 * is not as expected; or a negative errno.
 */
int scenario_run_checked(const char *path, unsigned int adapter, bool quiet,
			 struct verdict *verdict)
{
	char folder[] = "/tmp/vfence-run-XXXXXX", trace[64], text[CHECK_TEXT];
	const char *rule = NULL;
	int code, ret;

	*verdict = (struct verdict){ .text = "" };
	if (!mkdtemp(folder))
		return -errno;
	snprintf(trace, sizeof(trace), "%s/trace.dat", folder);
	code = (quiet ? checked_record_quietly : checked_record)(trace, path, adapter);
	ret = code < 0 ? code : check_trace(trace, &rule, text);
	if (ret > 0) {
		snprintf(verdict->text, sizeof(verdict->text), "%s", text);
		snprintf(verdict->kind, sizeof(verdict->kind), "%s", rule);
	} else if (!ret && code) {
		snprintf(verdict->text, sizeof(verdict->text), SCENARIO_NO_RULE);
		snprintf(verdict->kind, sizeof(verdict->kind), "%s", verdict->text);
	}
	unlink(trace);
	rmdir(folder);
	return ret < 0 ? ret : *verdict->text != 0;
}
