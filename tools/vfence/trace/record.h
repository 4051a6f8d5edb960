/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_RECORD_H
#define VFENCE_RECORD_H

/* The instance of the tracer in which vfence trace records, and programs leave marks. */
#define RECORD_INSTANCE	"/sys/kernel/tracing/instances/vfence"

int record(const char *file, char **command, unsigned int words, unsigned int seconds);

#endif
