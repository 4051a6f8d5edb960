// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a scenario: a process for each client. The parent passes the shared fences on, lets all
 * begin at once, and judges what they tell at the end::
 *
 *    parent                         each client
 *                                   makes what it has, sends its shared fences
 *    sends each the fences of others
 *                                   STAGE_READY
 *    STAGE_GO to all
 *                                   does its steps
 *                                   STAGE_DONE
 *    STAGE_REPORT to all
 *                                   tells fences and device
 *                                   STAGE_REPORTED
 *    STAGE_LEAVE to all
 */

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "changes.h"
#include "stage.h"
#include "text.h"

struct run {
	struct stage stage;
	const struct scenario *scenario;
	struct verdict *verdict;
	pid_t child[SCENARIO_CLIENTS];
	/* The parent's end of each client's socket. */
	int sock[SCENARIO_CLIENTS];
};

static void run_fails(struct verdict *verdict, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Keep the first thing that is not as expected. */
static void run_fails(struct verdict *verdict, const char *format, ...)
{
	va_list args;

	if (*verdict->text)
		return;
	va_start(args, format);
	vsnprintf(verdict->text, sizeof(verdict->text), format, args);
	va_end(args);
	snprintf(verdict->kind, sizeof(verdict->kind), "%s", verdict->text);
}

/* Return: false without another process. */
static bool run_start(struct run *run, uint32_t i)
{
	int pair[2];
	uint32_t k;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return false;
	fflush(NULL);
	run->child[i] = fork();
	if (!run->child[i]) {
		/* An end of the parent's that stays open would hide its death. */
		for (k = 0; k < i; k++)
			close(run->sock[k]);
		close(pair[0]);
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		client_main(&run->stage, i, pair[1]);
	}
	close(pair[1]);
	run->sock[i] = pair[0];
	return run->child[i] > 0;
}

/* Take the descriptors of the shared fences, which each client sends in their order. */
static bool run_collect_fences(struct run *run, int *fds)
{
	const struct scenario *s = run->scenario;
	uint32_t client, i;

	for (client = 0; client < s->client_count; client++)
		for (i = 0; i < s->fence_count; i++) {
			if (s->fences[i].owner != client || !stage_is_shared(&s->fences[i]))
				continue;
			fds[i] = vf_recv_fd(run->sock[client]);
			if (fds[i] < 0)
				return false;
		}
	return true;
}

static bool run_pass_fences(struct run *run, const int *fds)
{
	const struct scenario *s = run->scenario;
	uint32_t client, i;

	for (client = 0; client < s->client_count; client++)
		for (i = 0; i < s->fence_count; i++)
			if (stage_shares(&s->fences[i], client) &&
			    vf_send_fd(run->sock[client], fds[i]))
				return false;
	return true;
}

static bool run_share_fences(struct run *run)
{
	const struct scenario *s = run->scenario;
	int *fds = calloc(s->fence_count + 1, sizeof(*fds));
	bool ok;
	uint32_t i;

	if (!fds)
		return false;
	for (i = 0; i < s->fence_count; i++)
		fds[i] = -1;
	ok = run_collect_fences(run, fds) && run_pass_fences(run, fds);
	for (i = 0; i < s->fence_count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(fds);
	return ok;
}

static void run_tell_all(struct run *run, char what)
{
	uint32_t i;

	for (i = 0; i < run->scenario->client_count; i++)
		stage_tell(run->sock[i], what);
}

/* Wait until each client has said @what; @may_die: one that exits by its steps need not. */
static bool run_hear_all(struct run *run, char what, bool may_die)
{
	const struct scenario *s = run->scenario;
	bool ok = true;
	uint32_t i;

	for (i = 0; i < s->client_count; i++) {
		if (stage_hear(run->sock[i], what) || (may_die && s->clients[i].exits))
			continue;
		/* One that has told why it ends has not died. */
		if (!*run->stage.clients[i].verdict.text)
			run_fails(run->verdict, "%s has died", s->clients[i].name);
		ok = false;
	}
	return ok;
}

static bool run_start_all(struct run *run)
{
	uint32_t i;

	for (i = 0; i < run->scenario->client_count; i++)
		if (!run_start(run, i))
			return false;
	return run_share_fences(run) && run_hear_all(run, STAGE_READY, false);
}

static void run_end_all(struct run *run)
{
	uint32_t i;

	for (i = 0; i < run->scenario->client_count; i++) {
		if (run->sock[i] >= 0)
			close(run->sock[i]);
		if (run->child[i] <= 0)
			continue;
		while (waitpid(run->child[i], NULL, 0) < 0 && errno == EINTR)
			;
		/* The number may be that of another process soon. */
		run->child[i] = 0;
	}
}

static void run_kill_all(struct run *run)
{
	uint32_t i;

	for (i = 0; i < run->scenario->client_count; i++)
		if (run->child[i] > 0)
			kill(run->child[i], SIGKILL);
}

/* ----------------------------------------------------------------- verdict */

/* Of what clients have found the first in time counts: the rest may follow from it. */
static void run_judge_clients(struct run *run)
{
	const struct client_report *first = NULL;
	uint32_t i;

	for (i = 0; i < run->scenario->client_count; i++) {
		const struct client_report *report = &run->stage.clients[i];

		if (*report->verdict.text && (!first || report->failed_at < first->failed_at))
			first = report;
	}
	if (first)
		*run->verdict = first->verdict;
}

/* A number of a fence is not as expected. In the next run it may be another one. */
static void run_fails_by(struct verdict *verdict, const char *fence,
			 const struct fence_claim *claim, uint64_t value)
{
	const char *number = scenario_fence_number(claim->number);

	if (*verdict->text)
		return;
	run_fails(verdict, "fence %s: %s is %llu, and %llu%s was expected", fence, number,
		  (unsigned long long)value,
		  (unsigned long long)(value < claim->least ? claim->least : claim->most),
		  claim->least == claim->most ? "" :
		  value < claim->least ? " or more" : " or less");
	snprintf(verdict->kind, sizeof(verdict->kind), "fence %s: %s", fence, number);
}

static void run_judge_fence(struct run *run, const struct fence_claim *claim)
{
	const struct fence_report *report = &run->stage.fences[claim->fence];
	const char *name = run->scenario->fences[claim->fence].name;
	uint64_t value = report->number[claim->number];

	if (!report->known)
		run_fails(run->verdict, "no client is left that knows fence %s", name);
	else if (value < claim->least || value > claim->most)
		run_fails_by(run->verdict, name, claim, value);
}

static void run_judge_device(struct run *run, const struct device_claim *claim)
{
	int state = run->stage.clients[claim->client].device_state;

	if (state != (int)claim->state)
		run_fails(run->verdict, "the device of %s is %s, and %s was expected",
			  run->scenario->clients[claim->client].name,
			  text_device_state((uint32_t)state), text_device_state(claim->state));
}

static void run_judge_order(struct run *run, const struct order_claim *claim)
{
	const struct label_report *first = &run->stage.labels[claim->first];
	const struct label_report *second = &run->stage.labels[claim->second];

	if (!first->ended || !second->ended || first->at > second->at)
		run_fails(run->verdict, "%s did not end before %s",
			  run->scenario->labels[claim->first],
			  run->scenario->labels[claim->second]);
}

static void run_judge(struct run *run)
{
	const struct scenario *s = run->scenario;
	unsigned int i;

	run_judge_clients(run);
	for (i = 0; i < s->fence_claim_count; i++)
		run_judge_fence(run, &s->fence_claims[i]);
	for (i = 0; i < s->device_claim_count; i++)
		run_judge_device(run, &s->device_claims[i]);
	for (i = 0; i < s->order_count; i++)
		run_judge_order(run, &s->orders[i]);
}

static void run_print(const struct run *run)
{
	uint32_t i;

	for (i = 0; i < run->scenario->client_count; i++) {
		const struct client_report *report = &run->stage.clients[i];

		printf("  %-16s %6llu steps", run->scenario->clients[i].name,
		       (unsigned long long)report->steps);
		if (report->ns)
			printf(" in %9.3f ms", (double)report->ns / 1e6);
		printf("%s\n", run->scenario->clients[i].exits ? ", and exits" : "");
	}
}

/* --------------------------------------------------------------------- run */

static volatile sig_atomic_t interrupted;
/* The clients of the scenario that runs. */
static pid_t *running;

/* The clients end, so that no call goes on to wait for them. */
static void run_interrupted(int number)
{
	unsigned int i;

	(void)number;
	interrupted = 1;
	for (i = 0; i < SCENARIO_CLIENTS; i++)
		if (running[i] > 0)
			kill(running[i], SIGKILL);
}

static bool run_perform(struct run *run)
{
	/* A client that has begun meanwhile was not killed. */
	if (!run_start_all(run) || interrupted)
		return false;
	run_tell_all(run, STAGE_GO);
	if (!run_hear_all(run, STAGE_DONE, true))
		return false;
	run_tell_all(run, STAGE_REPORT);
	if (!run_hear_all(run, STAGE_REPORTED, true))
		return false;
	run_tell_all(run, STAGE_LEAVE);
	return true;
}

/* Return: 0; or a negative errno of a client that could not begin. */
static int run_clients(struct run *run, bool quiet)
{
	bool performed;
	int error = 0;
	uint32_t i;

	for (i = 0; i < SCENARIO_CLIENTS; i++)
		run->sock[i] = -1;
	performed = run_perform(run);
	if (!performed)
		run_kill_all(run);
	run_end_all(run);
	if (performed)
		run_judge(run);
	else
		run_judge_clients(run);
	if (!performed)
		run_fails(run->verdict, "the clients did not begin");
	for (i = 0; i < run->scenario->client_count; i++)
		error = error ? error : run->stage.clients[i].error;
	if (!quiet && !error)
		run_print(run);
	return error;
}

/* What was changed is undone then. */
static void run_catch_signals(struct run *run, struct sigaction before[3])
{
	const struct sigaction action = { .sa_handler = run_interrupted };

	interrupted = 0;
	running = run->child;
	sigaction(SIGINT, &action, &before[0]);
	sigaction(SIGTERM, &action, &before[1]);
	sigaction(SIGHUP, &action, &before[2]);
}

/*
 * Run a scenario. Return: 0, and the verdict is empty; 1, and it says what was not as expected;
 * or a negative errno if the scenario cannot run, and it says why; -EINTR after SIGINT, SIGHUP or
 * SIGTERM.
 */
int scenario_run(const struct scenario *scenario, unsigned int adapter, bool quiet,
		 struct verdict *verdict)
{
	struct run run = { .scenario = scenario, .verdict = verdict };
	struct sigaction before[3];
	struct changes changes;
	int ret;

	*verdict = (struct verdict){ .text = "" };
	ret = stage_make(&run.stage, scenario, adapter);
	if (ret)
		return ret;
	run_catch_signals(&run, before);
	ret = changes_make(&changes, &run.stage, verdict->text);
	if (!ret)
		ret = run_clients(&run, quiet);
	changes_undo(&changes);
	sigaction(SIGINT, &before[0], NULL);
	sigaction(SIGTERM, &before[1], NULL);
	sigaction(SIGHUP, &before[2], NULL);
	stage_free(&run.stage);
	if (interrupted) {
		*verdict->text = 0;
		ret = -EINTR;
	}
	return ret ? ret : *verdict->text != 0;
}
