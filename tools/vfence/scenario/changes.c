// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a scenario changes in the machine, and how it was before: adapters that are made by
 * configfs, and injections that let the GPU fail.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "changes.h"
#include "switch.h"

#define FOLDER	"/sys/kernel/config/vfence"

/* The path of an adapter's folder, or of a file in it. Two scenarios may run at a time. */
static const char *changes_path(const struct scripted_adapter *adapter, const char *file)
{
	static char path[200];

	snprintf(path, sizeof(path), FOLDER "/run-%d-%s%s%s", (int)getpid(), adapter->name,
		 *file ? "/" : "", file);
	return path;
}

static int changes_configure(const struct scripted_adapter *adapter, char error[SCENARIO_ERROR])
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < adapter->parameter_count; i++) {
		const struct parameter *p = &adapter->parameters[i];

		ret = switch_write(changes_path(adapter, p->name), p->value);
		if (ret)
			snprintf(error, SCENARIO_ERROR, "adapter %s, %s: %s", adapter->name, p->name,
				 ret == -ENOENT || ret == -EACCES ? "no such parameter" :
				 strerror(-ret));
	}
	return ret;
}

static int changes_make_adapter(struct changes *changes, char error[SCENARIO_ERROR])
{
	unsigned int i = changes->adapters;
	const struct scripted_adapter *adapter = &changes->stage->scenario->adapters[i];
	char text[16];
	int ret;

	if (mkdir(changes_path(adapter, ""), 0777)) {
		ret = -errno;
		snprintf(error, SCENARIO_ERROR, "adapter %s: %s%s", adapter->name, strerror(-ret),
			 ret == -ENOENT || ret == -EACCES ? "; needs root and configfs" : "");
		return ret;
	}
	changes->adapters++;
	ret = changes_configure(adapter, error);
	if (ret)
		return ret;
	ret = switch_write(changes_path(adapter, "enable"), "1");
	if (!ret)
		ret = switch_read(changes_path(adapter, "adapter"), text, sizeof(text));
	if (ret)
		snprintf(error, SCENARIO_ERROR, "adapter %s: %s", adapter->name,
			 ret == -EINVAL ? "these parameters are not possible" : strerror(-ret));
	else
		changes->stage->adapters[i] = (unsigned int)atoi(text);
	return ret;
}

static int changes_keep_fault(struct changes *changes, const struct script *client,
			      const char *name, char error[SCENARIO_ERROR])
{
	struct fault *fault = &changes->faults[changes->fault_count];
	int ret = vf_adapter_open(stage_adapter(changes->stage, client), &fault->adapter);

	if (ret) {
		snprintf(error, SCENARIO_ERROR, "%s: %s", client->name, strerror(-ret));
		return ret;
	}
	changes->fault_count++;
	fault->name = name;
	ret = switch_injected(fault->adapter, name, &fault->before);
	fault->kept = !ret;
	if (ret)
		snprintf(error, SCENARIO_ERROR, "%s, fault %s: %s", client->name, name,
			 ret == -EINVAL ? "the adapter has no such fault" :
			 ret == -ENOENT ? "needs root, debugfs and CONFIG_DRM_VFENCE_INJECTION" : strerror(-ret));
	return ret;
}

/* Keep the values of the injections that the steps will change. Return: 0 or a negative errno. */
static int changes_keep_faults(struct changes *changes, const struct script *client,
			       const struct step *steps, unsigned int count,
			       char error[SCENARIO_ERROR])
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < count; i++) {
		if (steps[i].kind == STEP_FAULT)
			ret = changes_keep_fault(changes, client, steps[i].fault, error);
		else if (steps[i].kind == STEP_REPEAT)
			ret = changes_keep_faults(changes, client, steps[i].steps,
						  steps[i].step_count, error);
	}
	return ret;
}

/* Make what a scenario needs. Call changes_undo() also after an error, which @error explains. */
int changes_make(struct changes *changes, struct stage *stage, char error[SCENARIO_ERROR])
{
	const struct scenario *s = stage->scenario;
	unsigned int i, total = 0;
	int ret = 0;

	*changes = (struct changes){ .stage = stage };
	for (i = 0; i < s->client_count; i++)
		total += s->clients[i].total;
	changes->faults = calloc(total + 1, sizeof(*changes->faults));
	if (!changes->faults)
		return -ENOMEM;
	while (!ret && changes->adapters < s->adapter_count)
		ret = changes_make_adapter(changes, error);
	for (i = 0; !ret && i < s->client_count; i++)
		ret = changes_keep_faults(changes, &s->clients[i], s->clients[i].steps,
					  s->clients[i].step_count, error);
	return ret;
}

/* Undo the changes, the last one first: an injection that is set twice is as before. */
void changes_undo(struct changes *changes)
{
	while (changes->fault_count) {
		struct fault *fault = &changes->faults[--changes->fault_count];
		char value[16];

		snprintf(value, sizeof(value), "%u", fault->before);
		if (fault->kept)
			switch_inject(fault->adapter, fault->name, value);
		vf_adapter_close(fault->adapter);
	}
	free(changes->faults);
	while (changes->adapters) {
		const char *path = changes_path(&changes->stage->scenario->adapters[--changes->adapters],
						"");

		if (rmdir(path))
			fprintf(stderr, "vfence: run: %s stays: %s\n", path, strerror(errno));
	}
}
