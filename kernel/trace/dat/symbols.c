// SPDX-License-Identifier: GPL-2.0
/*
 * The names of the addresses that records have.
 *
 * All symbols of a kernel take megabytes, and those that the records of a snapshot need
 * take kilobytes. So each word of the records is looked up: a field or a stack entry that
 * is an address is one of these words.
 */
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/sort.h>
#include <linux/unaligned.h>
#include <asm/sections.h>

#include "internal.h"

#define DAT_RECENT_BITS	10

/**
 * struct dat_words - a set of words
 * @word:   the words, in any order, some of them several times
 * @nr:     number of entries of @word
 * @size:   number of entries that it has room for
 * @gfp:    flags of its memory, besides GFP_KERNEL
 * @job:    the job that collects them, or NULL
 * @err:    0, -ENOMEM or -EINTR
 * @recent: words that were added lately
 */
struct dat_words {
	unsigned long	*word;
	size_t		nr;
	size_t		size;
	gfp_t		gfp;
	const struct trace_job *job;
	int		err;
	unsigned long	recent[1 << DAT_RECENT_BITS];
};

/* A sort of millions of words takes seconds. */
static int dat_words_cmp(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	cond_resched();
	return x < y ? -1 : x > y;
}

static void dat_words_sort(struct dat_words *w)
{
	size_t i, nr = 0;

	sort(w->word, w->nr, sizeof(*w->word), dat_words_cmp, NULL);
	for (i = 0; i < w->nr; i++) {
		cond_resched();
		if (!nr || w->word[i] != w->word[nr - 1])
			w->word[nr++] = w->word[i];
	}
	w->nr = nr;
}

static void dat_words_grow(struct dat_words *w)
{
	size_t size = max_t(size_t, 2 * w->size, 1024);
	unsigned long *word;

	dat_words_sort(w);
	if (w->size && w->nr <= w->size / 2)
		return;
	word = kvmalloc_array(size, sizeof(*word), GFP_KERNEL | w->gfp);
	if (!word) {
		w->err = -ENOMEM;
		return;
	}
	if (w->nr)
		memcpy(word, w->word, w->nr * sizeof(*word));
	kvfree(w->word);
	w->word = word;
	w->size = size;
}

static void dat_words_add(struct dat_words *w, unsigned long word)
{
	unsigned long *recent = &w->recent[hash_long(word, DAT_RECENT_BITS)];

	if (*recent == word)
		return;
	*recent = word;
	if (w->nr == w->size)
		dat_words_grow(w);
	if (!w->err)
		w->word[w->nr++] = word;
}

/* Records and their fields are aligned to 4 bytes. */
static void dat_words_scan(struct dat_words *w, const void *page, size_t len)
{
	unsigned long word;
	size_t pos;

	for (pos = 0; !w->err && pos + sizeof(word) <= len; pos += sizeof(u32)) {
		word = get_unaligned((const unsigned long *)(page + pos));
		if (is_kernel(word) || is_vmalloc_or_module_addr((void *)word))
			dat_words_add(w, word);
	}
}

#ifdef CONFIG_TRACE_SNAPSHOT_KUNIT_TEST
void (*dat_scan_hook)(void);
#endif

static bool dat_words_are_unwanted(const struct dat_words *w)
{
	return fatal_signal_pending(current) || (w->job && trace_job_is_stopped(w->job));
}

static void dat_words_scan_cpu(struct dat_words *w, struct trace_buffer *buffer, int cpu)
{
	struct buffer_data_read_page *page = NULL;
	struct ring_buffer_place place = {};

	w->err = ring_buffer_alloc_read_page(buffer, cpu, &page);
	/* This CPU never was online. */
	if (w->err == -ENODEV)
		w->err = 0;
	if (!page)
		return;
	while (!w->err && ring_buffer_copy_page(buffer, cpu, &place, page)) {
		dat_words_scan(w, ring_buffer_read_page_data(page),
			       ring_buffer_read_page_size(page));
		dat_scan_point();
		cond_resched();
		if (dat_words_are_unwanted(w))
			w->err = -EINTR;
	}
	ring_buffer_free_read_page(buffer, cpu, page);
}

/* A symbol as in a line of /proc/kallsyms; @module is empty for the kernel. */
struct dat_symbol {
	unsigned long	addr;
	char		type;
	const char	*name;
	char		module[MODULE_NAME_LEN];
};

static void dat_symbol_print(struct seq_file *m, void *data)
{
	struct dat_symbol *symbol = data;

	seq_printf(m, "%0*lx %c %s", (int)(2 * sizeof(long)), symbol->addr, symbol->type,
		   symbol->name);
	if (*symbol->module)
		seq_printf(m, "\t[%s]", symbol->module);
	seq_putc(m, '\n');
}

/* The range of the kernel's functions: perf resolves only the addresses in it. */
static void dat_print_bounds(struct dat_text *text)
{
	struct dat_symbol begin = { (unsigned long)_text, 'T', "_text" };
	struct dat_symbol end = { (unsigned long)_etext, 'T', "_etext" };

	dat_print(text, dat_symbol_print, &begin);
	dat_print(text, dat_symbol_print, &end);
}

/* Find the symbol of an address, which gets @name. Return: the end of it; 0 if there is none. */
static unsigned long dat_symbol_find(struct dat_symbol *symbol, unsigned long addr, char *name)
{
	unsigned long size, offset;
	char *module = NULL;

	/* Keeps the module that is found, and so its name. */
	guard(rcu)();
	*symbol = (struct dat_symbol){ .type = 't' };
	symbol->name = kallsyms_lookup(addr, &size, &offset, &module, name);
	if (!symbol->name)
		return 0;
	if (module)
		strscpy(symbol->module, module);
	symbol->addr = addr - offset;
	return symbol->addr + size;
}

static void dat_words_print(struct dat_words *w, struct dat_text *text)
{
	char *name = kmalloc(KSYM_NAME_LEN, GFP_KERNEL);
	unsigned long last = 0, end = 0, next;
	struct dat_symbol symbol;
	size_t i;

	if (!name) {
		text->err = -ENOMEM;
		return;
	}
	dat_print_bounds(text);
	dat_words_sort(w);
	for (i = 0; i < w->nr; i++) {
		cond_resched();
		next = dat_symbol_find(&symbol, w->word[i], name);
		if (!next || symbol.addr == last)
			continue;
		dat_print(text, dat_symbol_print, &symbol);
		last = symbol.addr;
		end = next;
	}
	/* A reader takes the next line for the end of a symbol. */
	if (last) {
		symbol = (struct dat_symbol){ .addr = end, .type = 't', .name = "end" };
		dat_print(text, dat_symbol_print, &symbol);
	}
	kfree(name);
}

/* Return: where words are collected; NULL if there are no symbols, or no memory. */
static struct dat_words *dat_words_begin(struct dat_text *text)
{
	struct dat_words *w;

	if (!IS_ENABLED(CONFIG_KALLSYMS))
		return NULL;
	w = kvzalloc(sizeof(*w), GFP_KERNEL | text->gfp);
	if (!w) {
		text->err = -ENOMEM;
		return NULL;
	}
	w->gfp = text->gfp;
	w->job = text->job;
	return w;
}

static void dat_words_end(struct dat_words *w, struct dat_text *text)
{
	text->err = text->err ?: w->err;
	if (!text->err)
		dat_words_print(w, text);
	kvfree(w->word);
	kvfree(w);
}

/**
 * dat_put_symbols_in() - append the symbols of the addresses in records
 * @text: the text
 * @data: the records
 * @len:  number of bytes
 *
 * Context: May sleep.
 */
void dat_put_symbols_in(struct dat_text *text, const void *data, size_t len)
{
	struct dat_words *w = dat_words_begin(text);

	if (!w)
		return;
	dat_words_scan(w, data, len);
	dat_words_end(w, text);
}

/**
 * dat_put_symbols() - append the symbols of the addresses in the records of a snapshot
 * @text: the text
 * @pins: the members of the snapshot
 *
 * All records are read. A fatal signal for the caller, or for the task of &dat_text.job, ends this
 * with -EINTR.
 *
 * Context: May sleep. No lock is held that others wait for.
 */
void dat_put_symbols(struct dat_text *text, const struct dat_pins *pins)
{
	struct dat_words *w;
	unsigned int i;
	int cpu;

	lockdep_assert_not_held(&event_mutex);
	lockdep_assert_not_held(&trace_types_lock);
	w = dat_words_begin(text);
	if (!w)
		return;
	for (i = 0; i < pins->nr; i++) {
		for_each_tracing_cpu(cpu) {
			if (!w->err)
				dat_words_scan_cpu(w, pins->tr[i]->array_buffer.buffer, cpu);
		}
	}
	dat_words_end(w, text);
}
