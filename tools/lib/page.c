// SPDX-License-Identifier: MIT
/*
 * Pages of values. The private fences of an open file share pages; each is mapped once, however many
 * fences have their values in it: a process may have only so many mappings. A child does not inherit
 * the mappings, and maps the pages of the fences that it makes itself.
 */

#include <search.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vf_private.h"

#define PAGE	4096

struct vf_page {
	uint64_t offset;
	void *map;
	/* The process that has mapped it. */
	pid_t process;
	/* Fences whose values are in the page. */
	unsigned int fences;
};

static int page_compare(const void *a, const void *b)
{
	const struct vf_page *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* After a fork() the tree is that of the parent. */
static void pages_begin_locked(struct vf_pages *pages)
{
	pid_t process = getpid();

	if (pages->process != process)
		pages->tree = NULL;
	pages->process = process;
}

/* Return the entry of the page, which is made if it is missing, or NULL. */
static struct vf_page *page_find_locked(struct vf_pages *pages, uint64_t offset)
{
	struct vf_page *page = calloc(1, sizeof(*page));
	struct vf_page **found;

	if (!page)
		return NULL;
	page->offset = offset;
	page->process = pages->process;
	found = tsearch(page, &pages->tree, page_compare);
	if (!found || *found != page)
		free(page);
	return found ? *found : NULL;
}

static void page_drop_locked(struct vf_pages *pages, struct vf_page *page)
{
	tdelete(page, &pages->tree, page_compare);
	free(page);
}

int vf_page_get(struct vf_adapter *adapter, uint64_t offset, struct vf_page **page,
		const void **map)
{
	struct vf_pages *pages = &adapter->pages;
	struct vf_page *p;
	int ret = 0;

	pthread_mutex_lock(&pages->lock);
	pages_begin_locked(pages);
	p = page_find_locked(pages, offset);
	if (!p) {
		ret = -ENOMEM;
	} else if (!p->map) {
		p->map = vf_mmap(adapter, offset, PAGE, PROT_READ);
		ret = p->map ? 0 : -errno;
		if (ret)
			page_drop_locked(pages, p);
	}
	if (!ret) {
		p->fences++;
		*page = p;
		*map = p->map;
	}
	pthread_mutex_unlock(&pages->lock);
	return ret;
}

void vf_page_put(struct vf_adapter *adapter, struct vf_page *page)
{
	struct vf_pages *pages = &adapter->pages;

	pthread_mutex_lock(&pages->lock);
	pages_begin_locked(pages);
	if (!--page->fences && page->process == pages->process) {
		munmap(page->map, PAGE);
		page_drop_locked(pages, page);
	} else if (!page->fences) {
		free(page);
	}
	pthread_mutex_unlock(&pages->lock);
}
