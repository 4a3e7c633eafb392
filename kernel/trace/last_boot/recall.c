// SPDX-License-Identifier: GPL-2.0
/*
 * Copy the area that the last boot has left, check it, and find entries of it.
 */
#include <linux/ctype.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/trace_seq.h>
#include <linux/utsname.h>

#include "internal.h"

/**
 * last_boot_kernel() - identify this kernel
 *
 * Context: Any context.
 * Return: a number that another build does not have; the notes include the build ID.
 */
u64 last_boot_kernel(void)
{
	u32 notes = jhash(&__start_notes, &__stop_notes - &__start_notes, 0);

	return (u64)jhash(linux_banner, strlen(linux_banner), 0) << 32 | notes;
}

/**
 * last_boot_area() - the area that the last boot of an instance has left
 * @tr: the instance
 *
 * Context: Any context.
 * Return: the area, which does not change; NULL if there is none.
 */
const struct area *last_boot_area(const struct trace_array *tr)
{
	return tr->last_boot && tr->last_boot->recall.header ? &tr->last_boot->recall : NULL;
}

/**
 * last_boot_same_kernel() - was the kernel of the last boot this one?
 * @tr: the instance
 *
 * Context: Any context.
 * Return: true if it was, or if that is not known.
 */
bool last_boot_same_kernel(const struct trace_array *tr)
{
	return !last_boot_area(tr) || tr->last_boot->same_kernel;
}

/**
 * last_boot_find() - find an entry of the last boot
 * @tr:   the instance
 * @kind: kind of the entry
 * @key:  subject of the entry, see &enum area_kind
 *
 * Context: Any context.
 * Return: the entry, or NULL.
 */
const struct area_entry *last_boot_find(const struct trace_array *tr, enum area_kind kind, u64 key)
{
	const struct area *a = last_boot_area(tr);

	return a ? area_find(a, kind, key) : NULL;
}

/**
 * last_boot_symbol() - look at a function of the last boot
 * @tr: the instance
 * @nr: its number, in the order of addresses
 *
 * Context: Any context.
 * Return: the entry, with a name that can be printed; NULL if there are not so many.
 */
const struct area_entry *last_boot_symbol(const struct trace_array *tr, unsigned int nr)
{
	const struct last_boot *lb = tr->last_boot;

	return lb && nr < lb->nr_symbols ? lb->symbol[nr] : NULL;
}

/**
 * last_boot_find_symbol() - find the function at an address of the last boot
 * @tr:   the instance
 * @addr: the address
 *
 * Context: Any context.
 * Return: the entry; NULL if the last boot has not noted that function.
 */
const struct area_entry *last_boot_find_symbol(const struct trace_array *tr, u64 addr)
{
	const struct last_boot *lb = tr->last_boot;
	unsigned int begin = 0, end = lb ? lb->nr_symbols : 0, middle;
	const struct area_symbol *symbol;

	while (begin < end) {
		middle = begin + (end - begin) / 2;
		if (lb->symbol[middle]->key <= addr)
			begin = middle + 1;
		else
			end = middle;
	}
	if (!begin)
		return NULL;
	symbol = (const void *)lb->symbol[begin - 1]->data;
	return addr - lb->symbol[begin - 1]->key < symbol->size ? lb->symbol[begin - 1] : NULL;
}

/**
 * last_boot_put_symbol() - print an address of the last boot as a function, as %pS does
 * @tr:   the instance
 * @s:    destination; gets nothing if last_boot_find_symbol() does not find it
 * @addr: the address
 *
 * Context: Any context.
 */
void last_boot_put_symbol(const struct trace_array *tr, struct trace_seq *s, u64 addr)
{
	const struct area_entry *entry = last_boot_find_symbol(tr, addr);
	const struct area_symbol *symbol;
	const char *module;
	int len;

	if (!entry)
		return;
	symbol = (const void *)entry->data;
	len = entry->len - sizeof(*symbol);
	module = memchr(symbol->name, '\t', len);
	trace_seq_printf(s, "%.*s+0x%llx/0x%x", module ? (int)(module - symbol->name) : len,
			 symbol->name, addr - entry->key, symbol->size);
	if (module)
		trace_seq_printf(s, " %.*s", (int)(symbol->name + len - module - 1), module + 1);
}

static bool last_boot_symbol_is_good(const struct area_entry *entry)
{
	const struct area_symbol *symbol = (const void *)entry->data;
	unsigned int i;

	if (entry->len <= sizeof(*symbol))
		return false;
	for (i = 0; i < entry->len - sizeof(*symbol); i++) {
		if (!isascii(symbol->name[i]) ||
		    (!isgraph(symbol->name[i]) && (symbol->name[i] != '\t' || !i)))
			return false;
	}
	return true;
}

static int last_boot_symbol_cmp(const void *a, const void *b)
{
	const struct area_entry *x = *(const struct area_entry **)a;
	const struct area_entry *y = *(const struct area_entry **)b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static void last_boot_sort_symbols(struct last_boot *lb)
{
	const struct area_entry *entry;
	u32 pos = 0, nr = 0;

	lb->symbol = kvmalloc_array(lb->recall.nr, sizeof(*lb->symbol), GFP_KERNEL);
	if (!lb->symbol)
		return;
	while ((entry = area_next(&lb->recall, &pos, AREA_SYMBOL))) {
		if (last_boot_symbol_is_good(entry))
			lb->symbol[nr++] = entry;
	}
	sort(lb->symbol, nr, sizeof(*lb->symbol), last_boot_symbol_cmp, NULL);
	lb->nr_symbols = nr;
}

/**
 * last_boot_recall() - copy the area that the last boot has left
 * @lb:   &last_boot.recall is set; &last_boot.keep has the memory
 * @size: bytes of the area
 *
 * Without memory nothing is known of the last boot, as if it had left nothing.
 *
 * Context: Boot, may sleep.
 */
void last_boot_recall(struct last_boot *lb, size_t size)
{
	void *index = kvzalloc(area_index_size(size), GFP_KERNEL);
	void *copy = kvmalloc(size, GFP_KERNEL);
	struct area *a = &lb->recall;

	if (copy && index) {
		memcpy(copy, lb->keep.header, size);
		area_place(a, copy, size, index);
		if (area_open(a)) {
			lb->same_kernel = a->header->kernel == last_boot_kernel();
			last_boot_sort_symbols(lb);
			if (a->bad || a->header->dropped)
				pr_warn("%s: of the last boot's description, %u parts are damaged, %u had no room\n",
					lb->tr->name, a->bad, a->header->dropped);
			return;
		}
	}
	*a = (struct area){};
	kvfree(index);
	kvfree(copy);
}

/**
 * last_boot_copy() - let a copy of the memory of an instance have the area of its last boot
 * @tr:   the instance
 * @copy: a copy of all its memory, which this boot has not written to yet
 *
 * In the memory itself the area is erased.
 *
 * Context: Any context.
 */
void last_boot_copy(const struct trace_array *tr, void *copy)
{
	const struct area *a = last_boot_area(tr);

	if (a)
		memcpy(copy + ((unsigned long)tr->last_boot->keep.header - tr->range_addr_start),
		       a->header, last_boot_size(tr->range_addr_size));
}

/**
 * last_boot_forget() - free the memory of last_boot_recall()
 * @lb: the last boot
 *
 * Context: May sleep.
 */
void last_boot_forget(struct last_boot *lb)
{
	kvfree(lb->symbol);
	kvfree(lb->recall.slot);
	kvfree(lb->recall.header);
}
