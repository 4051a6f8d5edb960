/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_RECORD_H
#define VFENCE_RECORD_H

int record(const char *file, char **command, unsigned int words, unsigned int seconds);

#endif
