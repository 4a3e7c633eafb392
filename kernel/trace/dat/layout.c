// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of the file, and where they are.
 */
#include "internal.h"

#define DAT_OPTION_BUFFER	3

/* In front of each table of CPUs. */
static const char dat_table_name[] = "flyrecord";

/* The parts of a file with one member, and how many more of each other one */
#define DAT_FILE_PARTS		7
#define DAT_CHANNEL_PARTS	3

static void dat_add_part(struct dat_file *f, const void *data, size_t len)
{
	f->part[f->nr_parts++] = (struct dat_block){ data, len };
	f->begin += len;
}

static size_t dat_table_size(void)
{
	return nr_cpu_ids * sizeof(struct dat_range);
}

/* Of a part, the name behind that of the snapshot. */
static const char *dat_channel_name(struct dat_file *f, unsigned int i)
{
	return f->member[i].tr->name + strlen(f->member[0].tr->name) + 1;
}

/* @at is the offset of the options. */
static int dat_put_options(struct dat_file *f, u64 at)
{
	size_t clock = f->member[0].tr->dat->part[DAT_CLOCK].len;
	struct dat_text text = {};
	unsigned int i;

	if (f->reading.real) {
		dat_put_offset(&text, trace_snapshot_clocks(f->member[0].tr));
		at += text.m.count;
	}
	/* The end of the options, the name of the first table, it, and the clocks */
	at += sizeof(u16) + sizeof(dat_table_name) + dat_table_size() + clock;
	for (i = 1; i < f->nr; i++)
		at += sizeof(u16) + sizeof(u32) + sizeof(u64) + strlen(dat_channel_name(f, i)) + 1;
	for (i = 1; i < f->nr; i++) {
		dat_put_u16(&text, DAT_OPTION_BUFFER);
		dat_put_u32(&text, sizeof(u64) + strlen(dat_channel_name(f, i)) + 1);
		dat_put_u64(&text, at);
		dat_put_string(&text, dat_channel_name(f, i));
		at += sizeof(dat_table_name) + dat_table_size() + clock;
	}
	dat_put_u16(&text, 0);
	dat_put(&text, dat_table_name, sizeof(dat_table_name));
	return dat_finish(&text, &f->options);
}

/**
 * dat_place() - say where the pages of each CPU are
 * @range: the tables of all members, in which the sizes are set; the offsets will be
 * @nr:    number of entries of @range
 * @begin: offset of the first page in the file, in bytes
 *
 * Context: Any context.
 * Return: the size of the file, in bytes.
 */
u64 dat_place(struct dat_range *range, unsigned int nr, u64 begin)
{
	for (; nr--; range++) {
		range->offset = begin;
		begin += range->size;
	}
	return begin;
}

/**
 * dat_find() - find the pages that an offset is in
 * @range: the tables of all members
 * @pos:   the offset, in the file, of a byte of a page
 *
 * Context: Any context.
 * Return: the index in @range.
 */
unsigned int dat_find(const struct dat_range *range, u64 pos)
{
	unsigned int i = 0;

	while (pos >= range[i].offset + range[i].size)
		i++;
	return i;
}

static int dat_lay_out_pages(struct dat_file *f)
{
	struct dat_range *range = f->range;
	struct dat_member *member;
	unsigned int cpu;
	int ret;

	for (member = f->member; member < f->member + f->nr; member++) {
		for (cpu = 0; cpu < nr_cpu_ids; cpu++, range++) {
			ret = dat_pages_size(&member->pages, cpu, &range->size);
			if (ret)
				return ret;
		}
	}
	f->begin = round_up(f->begin, f->member[0].pages.page_size);
	f->reading.size = dat_place(f->range, f->nr * nr_cpu_ids, f->begin);
	return 0;
}

/**
 * dat_lay_out() - say where all parts of a file are
 * @f:       the open file, with its members
 * @symbols: the reader may have names of functions
 *
 * Context: May sleep. The members are captured, and nobody consumes from them.
 * Return: 0; -EOPNOTSUPP if the members have sub-buffers of several sizes; -EINTR; -ENOMEM. In each
 *	   case dat_free_layout() has to follow.
 */
int dat_lay_out(struct dat_file *f, bool symbols)
{
	struct dat_block *captured = f->member[0].tr->dat->part;
	unsigned int i;
	int ret;

	f->range = kvcalloc(f->nr, dat_table_size(), GFP_KERNEL);
	f->next = kvcalloc(f->nr * nr_cpu_ids, sizeof(*f->next), GFP_KERNEL);
	f->part = kvcalloc(DAT_FILE_PARTS + DAT_CHANNEL_PARTS * (f->nr - 1), sizeof(*f->part),
			   GFP_KERNEL);
	if (!f->range || !f->next || !f->part)
		return -ENOMEM;
	for (i = 0; i < f->nr; i++) {
		dat_pages_init(&f->member[i].pages, f->member[i].tr->array_buffer.buffer);
		if (f->member[i].pages.page_size != f->member[0].pages.page_size)
			return -EOPNOTSUPP;
	}

	f->symbols = symbols ? captured[DAT_SYMBOLS].len : 0;
	dat_add_part(f, captured[DAT_HEAD].data, captured[DAT_HEAD].len);
	dat_add_part(f, &f->symbols, sizeof(f->symbols));
	dat_add_part(f, captured[DAT_SYMBOLS].data, f->symbols);
	dat_add_part(f, captured[DAT_TAIL].data, captured[DAT_TAIL].len);
	ret = dat_put_options(f, f->begin);
	if (ret)
		return ret;
	dat_add_part(f, f->options.data, f->options.len);
	for (i = 0; i < f->nr; i++) {
		if (i)
			dat_add_part(f, dat_table_name, sizeof(dat_table_name));
		dat_add_part(f, f->range + i * nr_cpu_ids, dat_table_size());
		dat_add_part(f, captured[DAT_CLOCK].data, captured[DAT_CLOCK].len);
	}
	return dat_lay_out_pages(f);
}

/**
 * dat_free_layout() - free the memory of dat_lay_out()
 * @f: the open file
 *
 * Context: May sleep.
 */
void dat_free_layout(struct dat_file *f)
{
	unsigned int i;

	for (i = 0; i < f->nr; i++)
		dat_pages_exit(&f->member[i].pages);
	kvfree(f->options.data);
	kvfree(f->part);
	kvfree(f->next);
	kvfree(f->range);
}
