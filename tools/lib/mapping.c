// SPDX-License-Identifier: MIT
/*
 * Pages of the driver that the process has mapped. The kernel does not copy these mappings when the
 * process forks, so the child maps the pages again, at the same addresses: the objects of the parent
 * work there, and to read a value costs no look at who reads it.
 */

#include <sys/mman.h>

#include "vf_private.h"

#define PAGE	4096

static pthread_mutex_t mapping_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t mapping_once = PTHREAD_ONCE_INIT;
/* All mappings of the process; under mapping_lock. */
static struct vf_mapping *mapping_first;

static void mapping_before_fork(void)
{
	pthread_mutex_lock(&mapping_lock);
}

static void mapping_in_parent(void)
{
	pthread_mutex_unlock(&mapping_lock);
}

/* The adapter has gone: what the page had then stands in memory of the process. */
static void mapping_substitute(const struct vf_mapping *mapping)
{
	uint64_t *page = mmap(mapping->map, PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	unsigned int i;

	if (page != mapping->map)
		return;
	for (i = 0; i < PAGE / sizeof(*page); i++)
		page[i] = mapping->lost;
	mprotect(page, PAGE, mapping->prot);
}

static void mapping_in_child(void)
{
	const struct vf_mapping *m;

	for (m = mapping_first; m; m = m->next)
		if (mmap(m->map, PAGE, m->prot, MAP_SHARED | MAP_FIXED_NOREPLACE, m->fd,
			 (off_t)m->offset) != m->map)
			mapping_substitute(m);
	pthread_mutex_unlock(&mapping_lock);
}

static void mapping_begin(void)
{
	pthread_atfork(mapping_before_fork, mapping_in_parent, mapping_in_child);
}

int vf_mapping_init(struct vf_adapter *adapter, struct vf_mapping *mapping, uint64_t offset, int prot,
		    uint64_t lost)
{
	*mapping = (struct vf_mapping) {
		.fd = adapter->fd, .offset = offset, .prot = prot, .lost = lost,
	};
	pthread_once(&mapping_once, mapping_begin);
	pthread_mutex_lock(&mapping_lock);
	mapping->map = vf_mmap(adapter, offset, PAGE, prot);
	if (mapping->map) {
		mapping->next = mapping_first;
		mapping->link = &mapping_first;
		if (mapping_first)
			mapping_first->link = &mapping->next;
		mapping_first = mapping;
	}
	pthread_mutex_unlock(&mapping_lock);
	return mapping->map ? 0 : -errno;
}

void vf_mapping_fini(struct vf_mapping *mapping)
{
	if (!mapping->map)
		return;
	pthread_mutex_lock(&mapping_lock);
	*mapping->link = mapping->next;
	if (mapping->next)
		mapping->next->link = mapping->link;
	pthread_mutex_unlock(&mapping_lock);
	munmap(mapping->map, PAGE);
	mapping->map = NULL;
}
