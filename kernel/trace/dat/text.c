// SPDX-License-Identifier: GPL-2.0
/*
 * Text that grows: what the functions of files in tracefs print, and numbers between.
 */
#include <linux/sizes.h>
#include <linux/unaligned.h>

#include "internal.h"

static void dat_may_allocate(const struct dat_text *text)
{
	if (text->gfp & __GFP_ACCOUNT)
		trace_may_charge();
}

static bool dat_grow(struct dat_text *text)
{
	struct seq_file *m = &text->m;
	size_t size = max_t(size_t, 2 * m->size, SZ_4K);
	void *buf;

	dat_may_allocate(text);
	buf = kvmalloc(size, GFP_KERNEL | text->gfp);
	if (!buf) {
		text->err = -ENOMEM;
		return false;
	}
	if (m->count)
		memcpy(buf, m->buf, m->count);
	kvfree(m->buf);
	m->buf = buf;
	m->size = size;
	return true;
}

/**
 * dat_put() - append bytes
 * @text: the text
 * @data: the bytes
 * @len:  number of bytes
 *
 * Context: May sleep.
 */
void dat_put(struct dat_text *text, const void *data, size_t len)
{
	size_t count = text->m.count;

	while (!text->err) {
		seq_write(&text->m, data, len);
		if (!seq_has_overflowed(&text->m))
			return;
		text->m.count = count;
		dat_grow(text);
	}
}

/**
 * dat_put_string() - append a string with the 0 at its end
 * @text:   the text
 * @string: the string
 *
 * Context: May sleep.
 */
void dat_put_string(struct dat_text *text, const char *string)
{
	dat_put(text, string, strlen(string) + 1);
}

/**
 * dat_print() - append what a function prints
 * @text:  the text
 * @print: the function; called again with more room if there was too little
 * @data:  for @print
 *
 * Context: May sleep.
 */
void dat_print(struct dat_text *text, void (*print)(struct seq_file *m, void *data), void *data)
{
	size_t count = text->m.count;

	while (!text->err) {
		print(&text->m, data);
		if (!seq_has_overflowed(&text->m))
			return;
		text->m.count = count;
		dat_grow(text);
	}
}

/**
 * dat_print_block() - append what a function prints, with its length in front
 * @text:  the text
 * @width: as of dat_begin()
 * @print: as of dat_print()
 * @data:  for @print
 *
 * Context: May sleep.
 */
void dat_print_block(struct dat_text *text, size_t width,
		     void (*print)(struct seq_file *m, void *data), void *data)
{
	size_t begin = dat_begin(text, width);

	dat_print(text, print, data);
	dat_end(text, width, begin);
}

/* Entries that are printed at a time: others wait for what the operations lock, by spinning. */
#define DAT_ENTRIES	32

/**
 * dat_print_all() - append the text of a sequential file
 * @text: the text
 * @op:   operations of the file, which do not use the file itself
 *
 * Context: May sleep. Memory is allocated outside of what @op locks.
 */
void dat_print_all(struct dat_text *text, const struct seq_operations *op)
{
	struct seq_file *m = &text->m;
	bool more = true, full;
	unsigned int nr;
	size_t count;
	loff_t pos = 0;
	void *v;

	while (more && !text->err) {
		full = false;
		v = op->start(m, &pos);
		for (nr = 0; nr < DAT_ENTRIES && !IS_ERR_OR_NULL(v); nr++) {
			count = m->count;
			op->show(m, v);
			full = seq_has_overflowed(m);
			if (full) {
				m->count = count;
				break;
			}
			v = op->next(m, v, &pos);
		}
		more = !IS_ERR_OR_NULL(v);
		op->stop(m, v);
		if (full)
			dat_grow(text);
		cond_resched();
	}
}

/**
 * dat_begin() - begin a block with its length or another number in front
 * @text:  the text
 * @width: bytes of the number, 4 or 8
 *
 * Context: May sleep.
 * Return: where the block begins, for dat_end() or dat_set().
 */
size_t dat_begin(struct dat_text *text, size_t width)
{
	u64 zero = 0;

	dat_put(text, &zero, width);
	return text->m.count;
}

/**
 * dat_set() - store the number in front of a block
 * @text:  the text
 * @width: as of dat_begin()
 * @begin: where the block begins
 * @value: the number
 *
 * Context: Any context.
 */
void dat_set(struct dat_text *text, size_t width, size_t begin, u64 value)
{
	char *at = text->m.buf + begin;

	if (text->err)
		return;
	if (width == sizeof(u32))
		put_unaligned((u32)value, (u32 *)(at - width));
	else
		put_unaligned(value, (u64 *)(at - width));
}

/**
 * dat_end() - store the length of a block
 * @text:  the text, which ends with the block
 * @width: as of dat_begin()
 * @begin: where the block begins
 *
 * Context: Any context.
 */
void dat_end(struct dat_text *text, size_t width, size_t begin)
{
	dat_set(text, width, begin, text->m.count - begin);
}

/**
 * dat_finish() - release a text, and keep a copy that is not larger than it
 * @text:  the text
 * @block: where the copy is stored
 *
 * Context: May sleep.
 * Return: 0; &dat_text.err if the text is not complete; -ENOMEM without memory for the copy.
 */
int dat_finish(struct dat_text *text, struct dat_block *block)
{
	struct seq_file *m = &text->m;

	dat_may_allocate(text);
	if (!text->err && m->count) {
		block->data = kvmemdup(m->buf, m->count, GFP_KERNEL | text->gfp);
		if (block->data)
			block->len = m->count;
		else
			text->err = -ENOMEM;
	}
	kvfree(m->buf);
	return text->err;
}

/**
 * trace_dat_print() - keep what a function prints
 * @print: the function; called again with more room if there was too little
 * @data:  for @print
 * @block: where the text is stored; kvfree() of its data frees it
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int trace_dat_print(void (*print)(struct seq_file *m, void *data), void *data,
		    struct dat_block *block)
{
	struct dat_text text = {};

	dat_print(&text, print, data);
	return dat_finish(&text, block);
}
