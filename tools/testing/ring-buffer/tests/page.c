// SPDX-License-Identifier: GPL-2.0
/* Pages, by the parser of the unit tests, which shares nothing with the ring buffer (R8). */
#include "test.h"
#include "../../../../kernel/trace/ring_buffer/tests/parse.h"

#define HEADER		16

/* The count of lost records stands behind the data when there is room for it */
static long page_lost(const struct rbt_page *page)
{
	return !page->missed ? 0 : page->stored ? (long)page->lost : LOST_UNKNOWN;
}

bool page_missed(void *memory, long *lost)
{
	struct rbt_page page;

	rbt_parse(memory, INT_MAX, &page, NULL, NULL);
	*lost = page_lost(&page);
	return page.missed;
}

/* Behind the records and that count there is nothing that could be read before */
bool page_rest_is_clear(void *memory, unsigned int size)
{
	const char *byte = memory;
	struct rbt_page page;
	unsigned int at;

	rbt_parse(memory, size, &page, NULL, NULL);
	at = HEADER + page.bytes + (page.stored ? sizeof(page.lost) : 0);
	while (at < size && !byte[at])
		at++;
	return at >= size;
}

struct page_walk {
	page_fn		fn;
	void		*arg;
	long		lost;
};

static void page_record(void *data, const void *rec, const void *payload, unsigned int max,
			u64 time)
{
	struct page_walk *w = data;

	w->fn((void *)rec, time, w->lost, w->arg);
	w->lost = 0;
}

int page_parse(void *memory, unsigned int size, page_fn fn, void *arg)
{
	struct page_walk w = { .fn = fn, .arg = arg };
	struct rbt_page page;

	if (!rbt_parse(memory, size, &page, NULL, NULL)) {
		fault(F_PAGE, "%u bytes of records: bad behind %u", page.bytes, page.records);
		return -EINVAL;
	}
	w.lost = page_lost(&page);
	if (fn)
		rbt_parse(memory, size, &page, page_record, &w);
	return page.records;
}
