// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin of QEMU that counts how often each block of instructions is executed. At the end it writes
 * a line for each: its address and the number of its instructions that were executed.
 *
 * Debian's QEMU packages have no qemu-plugin.h. The functions below are those of version 1 of the
 * interface, which QEMU keeps.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS		(1 << 18)

struct qemu_plugin_tb;
typedef uint64_t qemu_plugin_id_t;

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*translated)(qemu_plugin_id_t id,
							      struct qemu_plugin_tb *tb));
/* @operation: 0 adds @value to *@to. */
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int operation, void *to,
					      uint64_t value);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*end)(qemu_plugin_id_t id, void *data),
				    void *data);

/* The instructions of all blocks that begin at an address. */
struct block {
	struct block *next;
	uint64_t address;
	uint64_t executed;
};

static struct block *buckets[BUCKETS];
static const char *output;

/* The vCPUs take turns on one thread, so no lock is needed. */
static struct block *block_at(uint64_t address)
{
	struct block **list = &buckets[(address ^ (address >> 18)) % BUCKETS], *block;

	for (block = *list; block; block = block->next)
		if (block->address == address)
			return block;
	block = calloc(1, sizeof(*block));
	if (!block)
		abort();
	block->address = address;
	block->next = *list;
	*list = block;
	return block;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct block *block = block_at(qemu_plugin_tb_vaddr(tb));

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, 0, &block->executed,
						 qemu_plugin_tb_n_insns(tb));
}

static void end(qemu_plugin_id_t id, void *data)
{
	FILE *f = fopen(output, "w");
	struct block *block;
	unsigned int i;

	(void)id;
	(void)data;
	if (!f)
		return;
	for (i = 0; i < BUCKETS; i++)
		for (block = buckets[i]; block; block = block->next)
			if (block->executed)
				fprintf(f, "%" PRIx64 " %" PRIu64 "\n", block->address,
					block->executed);
	fclose(f);
}

__attribute__((visibility("default")))
int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4))
		return -1;
	output = argv[0] + 4;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, end, NULL);
	return 0;
}
