// SPDX-License-Identifier: MIT
/*
 * Pages of values. The private fences of an open file share pages; each is mapped once, however many
 * fences have their values in it: a process may have only so many mappings.
 */

#include <search.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "vf_private.h"

struct vf_page {
	uint64_t offset;
	struct vf_mapping mapping;
	/* Fences whose values are in the page. */
	unsigned int fences;
};

static int page_compare(const void *a, const void *b)
{
	const struct vf_page *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Return the entry of the page, which is made if it is missing, or NULL. */
static struct vf_page *page_find_locked(struct vf_pages *pages, uint64_t offset)
{
	struct vf_page *page = calloc(1, sizeof(*page));
	struct vf_page **found;

	if (!page)
		return NULL;
	page->offset = offset;
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
	p = page_find_locked(pages, offset);
	if (!p) {
		ret = -ENOMEM;
	} else if (!p->mapping.map) {
		ret = vf_mapping_init(adapter, &p->mapping, offset, PROT_READ, UINT64_MAX);
		if (ret)
			page_drop_locked(pages, p);
	}
	if (!ret) {
		p->fences++;
		*page = p;
		*map = p->mapping.map;
	}
	pthread_mutex_unlock(&pages->lock);
	return ret;
}

void vf_page_put(struct vf_adapter *adapter, struct vf_page *page)
{
	struct vf_pages *pages = &adapter->pages;

	pthread_mutex_lock(&pages->lock);
	if (!--page->fences) {
		vf_mapping_fini(&page->mapping);
		page_drop_locked(pages, page);
	}
	pthread_mutex_unlock(&pages->lock);
}
