// SPDX-License-Identifier: GPL-2.0
/*
 * The whole file of records that were copied, in memory: the pages, and all in front of them.
 *
 * All memory is charged to the reader, and made with no lock held. Only the formats of events, and
 * those of trace_printk(), need locks: a worker makes them, and they are copied once more.
 */
#include <linux/bitmap.h>
#include <linux/log2.h>
#include <linux/sizes.h>

#include "../ring_buffer/format.h"
#include "internal.h"

static const char dat_copy_table[] = "flyrecord";

/* Bytes of the pages, at most; a page that ends early is as large as others. */
#define DAT_COPY_PAGES	SZ_8M

/* Follows the last record of a CPU */
#define DAT_COPY_END	U32_MAX

/*
 * Link the records of each CPU in the order of time. One pass, so that a CPU without records costs
 * nothing. Return: numbers of the first record of each CPU, and behind them of the next record of
 * the same CPU for each record; NULL without memory.
 */
static u32 *dat_copy_link(const struct trace_dat_copy *copy)
{
	u32 *first = kvmalloc_array(nr_cpu_ids + copy->nr, sizeof(*first), GFP_KERNEL_ACCOUNT);
	unsigned int i;

	if (!first)
		return NULL;
	memset32(first, DAT_COPY_END, nr_cpu_ids);
	for (i = copy->nr; i-- > 0;) {
		first[nr_cpu_ids + i] = first[copy->record[i].cpu];
		first[copy->record[i].cpu] = i;
	}
	return first;
}

/* Large sub-buffers cost nothing until a record needs them. */
static unsigned int dat_copy_page_size(const struct trace_dat_copy *copy)
{
	unsigned int i, size = PAGE_SIZE;

	for (i = 0; i < copy->nr; i++)
		size = max(size, RB_PAGE_HDR + rb_record_len(copy->record[i].len));
	return roundup_pow_of_two(size);
}

/*
 * Fill a page with records of a CPU, from number @i on. A loss can be told in front of a page only.
 * Return: the number of the record behind them.
 */
static u32 dat_copy_fill(const struct trace_dat_copy *copy, const u32 *next, u32 i,
			 struct rb_data_page *page)
{
	unsigned int room = copy->page_size - RB_PAGE_HDR, used = 0, total, stamp;
	const struct trace_dat_record *record;
	struct ring_buffer_event *rec;
	u64 time = copy->record[i].ts, delta;

	memset(page, 0, copy->page_size);
	page->time_stamp = time;
	for (; i != DAT_COPY_END; i = next[i]) {
		record = &copy->record[i];
		delta = record->ts - time;
		stamp = delta > RB_DELTA_MAX ? RB_STAMP_LEN : 0;
		total = rb_record_len(record->len);
		/* The first one always has room. */
		if (used && (record->lost || used + stamp + total > room))
			break;
		rec = (void *)page->data + used;
		if (stamp) {
			rb_set_stamp(rec, RINGBUF_TYPE_TIME_EXTEND, delta);
			rec = (void *)rec + stamp;
			delta = 0;
		}
		rb_set_record(rec, total, delta);
		memcpy(rb_payload(rec), copy->data + record->off, record->len);
		used += stamp + total;
		time = record->ts;
	}
	local_set(&page->commit, used);
	return i;
}

static void dat_copy_put_cpu(struct dat_text *text, const struct trace_dat_copy *copy,
			     const u32 *first, int cpu, struct rb_data_page *page)
{
	u32 i = first[cpu], next;
	bool lost = copy->lost;

	for (; !text->err && i != DAT_COPY_END; i = next) {
		next = dat_copy_fill(copy, first + nr_cpu_ids, i, page);
		if (lost || copy->record[i].lost)
			local_set(&page->commit, local_read(&page->commit) | RB_MISSED_EVENTS);
		lost = false;
		if (text->m.count + copy->page_size > DAT_COPY_PAGES)
			text->err = -EFBIG;
		dat_put(text, page, copy->page_size);
		cond_resched();
	}
}

/* The offsets count from the first page. */
static int dat_copy_put_pages(struct dat_text *text, const struct trace_dat_copy *copy,
			      const u32 *first)
{
	struct rb_data_page *page = kvmalloc(copy->page_size, GFP_KERNEL_ACCOUNT);
	int cpu;

	if (!page)
		return -ENOMEM;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		copy->range[cpu].offset = text->m.count;
		dat_copy_put_cpu(text, copy, first, cpu, page);
		copy->range[cpu].size = text->m.count - copy->range[cpu].offset;
	}
	kvfree(page);
	return text->err;
}

static int dat_copy_make_pages(struct trace_dat_copy *copy)
{
	struct dat_text text = { .gfp = __GFP_ACCOUNT };
	u32 *first;

	copy->page_size = dat_copy_page_size(copy);
	copy->range = kvcalloc(nr_cpu_ids, sizeof(*copy->range), GFP_KERNEL_ACCOUNT);
	if (!copy->range)
		return -ENOMEM;
	first = dat_copy_link(copy);
	if (!first)
		return -ENOMEM;
	text.err = dat_copy_put_pages(&text, copy, first);
	kvfree(first);
	return dat_finish(&text, &copy->pages);
}

/**
 * trace_dat_make_pages() - make the pages of records that were copied
 * @copy: the records; &trace_dat_copy.pages, its page_size and its range are set
 *
 * If they need more than 8 MB, since a loss begins a new page, the older half of the records is
 * left out, and again, until they fit. Then &trace_dat_copy.record and its nr tell the rest.
 *
 * Context: May sleep.
 * Return: 0; -EFBIG if one record needs so much; -ENOMEM. In each case trace_dat_copy_free() has
 *	   to follow.
 */
int trace_dat_make_pages(struct trace_dat_copy *copy)
{
	int ret = dat_copy_make_pages(copy);

	while (ret == -EFBIG && copy->nr > 1) {
		trace_dat_copy_free(copy);
		copy->record += copy->nr / 2;
		copy->nr -= copy->nr / 2;
		/* Missing records are told in front of the first page of each CPU. */
		copy->lost = true;
		ret = dat_copy_make_pages(copy);
	}
	return ret;
}

static int dat_copy_find_types(struct trace_dat_copy *copy)
{
	unsigned int i;

	copy->types = bitmap_zalloc(U16_MAX + 1, GFP_KERNEL_ACCOUNT);
	if (!copy->types)
		return -ENOMEM;
	for (i = 0; i < copy->nr; i++) {
		const struct trace_entry *entry = copy->data + copy->record[i].off;

		__set_bit(entry->type, copy->types);
	}
	return 0;
}

/**
 * trace_dat_scan() - find the events and the names of functions in records that were copied
 * @copy: the records; &trace_dat_copy.types is set, and &trace_dat_copy.names if
 *	  &trace_dat_copy.symbols is
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM; in either case trace_dat_copy_free() has to follow.
 */
int trace_dat_scan(struct trace_dat_copy *copy)
{
	struct dat_text text = { .gfp = __GFP_ACCOUNT };
	size_t begin = copy->nr ? copy->record->off : 0;
	int ret = dat_copy_find_types(copy);

	if (ret)
		return ret;
	if (copy->symbols)
		dat_put_symbols_in(&text, copy->data + begin, copy->len - begin);
	return dat_finish(&text, &copy->names);
}

/**
 * trace_dat_put_printk() - get formats of trace_printk() for records that were copied
 * @copy: the records; &trace_dat_copy.printk is set
 *
 * The memory is charged to nobody, until trace_dat_make_head() copies it. The formats are printed
 * under a lock that the removal of a module takes, so a worker does it.
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM; in either case trace_dat_copy_free() has to follow.
 */
int trace_dat_put_printk(struct trace_dat_copy *copy)
{
	struct dat_text text = {};

	/* They have addresses: without symbols, a block of length 0. */
	if (copy->symbols)
		dat_put_printk(&text);
	else
		dat_put_u32(&text, 0);
	return dat_finish(&text, &copy->printk);
}

/**
 * trace_dat_put_formats() - get formats of events and clocks for records that were copied
 * @copy:  the records, after trace_dat_scan()
 * @whole: the instance that they are of; its events have not changed since
 *
 * The memory is charged to nobody, until trace_dat_make_head() copies it. A worker does it, see
 * trace_job_run().
 *
 * Context: May sleep, event_mutex and trace_types_lock are held.
 * Return: 0 or -ENOMEM; in either case trace_dat_copy_free() has to follow.
 */
int trace_dat_put_formats(struct trace_dat_copy *copy, struct trace_array *whole)
{
	struct dat_text formats = {}, clock = {}, clocks = {};
	struct trace_clocks now;
	int ret;

	lockdep_assert_held(&trace_types_lock);
	dat_put_formats(&formats, copy->types);
	dat_put_clock(&clock, whole);
	trace_read_clocks(whole->array_buffer.buffer, &now);
	dat_put_clocks(&clocks, &now, 1);
	ret = dat_finish(&formats, &copy->formats);
	ret = dat_finish(&clock, &copy->clock) ?: ret;
	return dat_finish(&clocks, &copy->clocks) ?: ret;
}

/* Move a block into the text. */
static void dat_copy_put_block(struct dat_text *text, struct dat_block *block)
{
	dat_put(text, block->data, block->len);
	kvfree(block->data);
	*block = (struct dat_block){};
}

/* The pages follow; @table is where the head has the offsets of them. */
static void dat_copy_put_padding(struct dat_text *text, const struct trace_dat_copy *copy,
				 size_t table)
{
	static const char zeros[256];
	size_t begin = round_up(text->m.count, copy->page_size);
	struct dat_range range;
	int cpu;

	while (!text->err && text->m.count < begin)
		dat_put(text, zeros, min(sizeof(zeros), begin - text->m.count));
	for (cpu = 0; !text->err && cpu < nr_cpu_ids; cpu++) {
		range = copy->range[cpu];
		range.offset += begin;
		memcpy(text->m.buf + table + cpu * sizeof(range), &range, sizeof(range));
	}
}

/**
 * trace_dat_make_head() - make the file of records that were copied, up to the pages
 * @copy: the records, after all the functions above; &trace_dat_copy.head is set
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM; in either case trace_dat_copy_free() has to follow.
 */
int trace_dat_make_head(struct trace_dat_copy *copy)
{
	struct dat_text text = { .gfp = __GFP_ACCOUNT };
	size_t table;

	dat_put_begin(&text, copy->page_size);
	dat_copy_put_block(&text, &copy->formats);
	dat_put_u32(&text, copy->names.len);
	dat_copy_put_block(&text, &copy->names);
	dat_copy_put_block(&text, &copy->printk);
	dat_print_block(&text, sizeof(u64), copy->print_names, copy->private);
	dat_put_u32(&text, nr_cpu_ids);
	dat_put_options_begin(&text);
	dat_copy_put_block(&text, &copy->clocks);
	dat_put_u16(&text, 0);
	dat_put(&text, dat_copy_table, sizeof(dat_copy_table));
	table = text.m.count;
	dat_put(&text, copy->range, nr_cpu_ids * sizeof(*copy->range));
	dat_copy_put_block(&text, &copy->clock);
	dat_copy_put_padding(&text, copy, table);
	return dat_finish(&text, &copy->head);
}

/**
 * trace_dat_copy_free() - free the memory of a file of records that were copied
 * @copy: the records, which stay
 *
 * Context: May sleep.
 */
void trace_dat_copy_free(struct trace_dat_copy *copy)
{
	bitmap_free(copy->types);
	kvfree(copy->names.data);
	kvfree(copy->printk.data);
	kvfree(copy->formats.data);
	kvfree(copy->clock.data);
	kvfree(copy->clocks.data);
	kvfree(copy->head.data);
	kvfree(copy->pages.data);
	kvfree(copy->range);
	memset_startat(copy, 0, types);
}
