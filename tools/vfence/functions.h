/* SPDX-License-Identifier: GPL-2.0-only */
/* Virtual functions of an adapter: the files in its folder sriov_admin. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <stdint.h>

/* Write a file of an adapter's device. Return: 0 or a negative errno. */
int functions_write(unsigned int adapter, const char *file, const char *value);
int functions_write_number(unsigned int adapter, const char *file, uint64_t value);
/* Read the first line of such a file. */
int functions_read(unsigned int adapter, const char *file, char *text, unsigned int size);
/* Return: a number of sriov_admin/FOLDER/stat in a group, or 0; the folder "." has the totals. */
uint64_t functions_stat(unsigned int adapter, const char *folder, const char *group,
			const char *key);
/* Return: the number that vf_adapter_open() has for a virtual function, from 1. */
unsigned int functions_number(unsigned int adapter, unsigned int function);

#endif
