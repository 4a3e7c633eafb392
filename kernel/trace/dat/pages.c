// SPDX-License-Identifier: GPL-2.0
/*
 * The pages of a CPU as one run of bytes.
 *
 * One page is copied at a time. The place behind it is kept for each CPU, as tools read the pages
 * of all CPUs by turns. A page in front of it is found by walking from the CPU's first one, which
 * copies nothing.
 */
#include <linux/sched/signal.h>

#include "../ring_buffer/boots.h"
#include "internal.h"

/**
 * dat_pages_init() - begin to read the pages of a snapshot
 * @pages:  where the state is
 * @buffer: the records, which nobody writes or consumes
 *
 * Context: Any context.
 */
void dat_pages_init(struct dat_pages *pages, struct trace_buffer *buffer)
{
	*pages = (struct dat_pages){
		.buffer = buffer,
		.page_size = ring_buffer_subbuf_size_get(buffer),
	};
}

/* Go to the next page; with @last_boot, to the next one of the last boot. */
static bool dat_pages_next(const struct dat_pages *pages, int cpu,
			   struct ring_buffer_place *place, struct buffer_data_read_page *rpage)
{
	unsigned int ago = 1;
	bool found;

	do {
		found = ring_buffer_copy_page(pages->buffer, cpu, place, rpage);
		if (found && pages->last_boot)
			ago = ring_buffer_place_boots_ago(pages->buffer, cpu, place);
	} while (found && ago > 1);
	return found && ago;
}

/**
 * dat_pages_exit() - release the page that was copied
 * @pages: the state
 *
 * Context: May sleep.
 */
void dat_pages_exit(struct dat_pages *pages)
{
	ring_buffer_free_read_page(pages->buffer, pages->cpu, pages->rpage);
}

/* See that there is a page to copy those of @cpu to. */
static int dat_pages_prepare(struct dat_pages *pages, int cpu)
{
	int ret;

	pages->at = 0;
	ret = ring_buffer_alloc_read_page(pages->buffer, cpu, &pages->rpage);
	if (!ret)
		pages->cpu = cpu;
	return ret;
}

/**
 * dat_pages_size() - tell the size of the pages of a CPU
 * @pages: the state
 * @cpu:   the CPU
 * @size:  set to the size, in bytes
 *
 * Context: May sleep.
 * Return: 0 or -EINTR.
 */
int dat_pages_size(struct dat_pages *pages, int cpu, u64 *size)
{
	struct ring_buffer_place place = {};

	*size = 0;
	while (dat_pages_next(pages, cpu, &place, NULL)) {
		*size += pages->page_size;
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

/**
 * dat_pages_size_last() - tell the size of the pages of a CPU that the last boot has written
 * @pages: the state
 * @next:  of the CPU
 * @cpu:   the CPU
 * @size:  set to the size, in bytes
 *
 * Pages that are overwritten meanwhile do not count.
 *
 * Context: May sleep.
 * Return: 0, -ENOMEM or -EINTR.
 */
int dat_pages_size_last(struct dat_pages *pages, struct dat_next *next, int cpu, u64 *size)
{
	struct ring_buffer_place *place = &next->place;
	int ret = dat_pages_prepare(pages, cpu);

	*size = 0;
	/* The CPU never was online. */
	if (ret == -ENODEV)
		return 0;
	while (!ret && dat_pages_next(pages, cpu, place, pages->rpage)) {
		if (*size && place->run != next->run)
			*size = 0;
		next->run = place->run;
		*size += pages->page_size;
		cond_resched();
		if (fatal_signal_pending(current))
			ret = -EINTR;
	}
	return ret;
}

/**
 * dat_pages_at() - copy a page
 * @pages: the state
 * @range: where the CPU's pages are in the file
 * @next:  of the CPU; all 0 at first
 * @cpu:   the CPU
 * @at:    offset of the page in the file
 *
 * Context: May sleep.
 * Return: the bytes of the page; -EINTR; -ENOMEM; -EIO if there is no such page, or not any more.
 */
const void *dat_pages_at(struct dat_pages *pages, const struct dat_range *range,
			 struct dat_next *next, int cpu, u64 at)
{
	bool found = true, wanted;
	int ret;

	if (pages->at == at)
		return ring_buffer_read_page_data(pages->rpage);
	ret = dat_pages_prepare(pages, cpu);
	if (ret)
		return ERR_PTR(ret);
	if (!next->at || next->at > at)
		*next = (struct dat_next){ .at = range->offset, .run = next->run };
	while (found && next->at <= at) {
		wanted = next->at == at || pages->last_boot;
		found = dat_pages_next(pages, cpu, &next->place, wanted ? pages->rpage : NULL);
		/* Else the oldest ones were overwritten: the others are at other offsets. */
		if (pages->last_boot && next->place.run != next->run)
			found = false;
		next->at += pages->page_size;
		cond_resched();
		if (fatal_signal_pending(current))
			return ERR_PTR(-EINTR);
	}
	if (!found) {
		next->at = 0;
		return ERR_PTR(-EIO);
	}
	pages->at = at;
	return ring_buffer_read_page_data(pages->rpage);
}
