// SPDX-License-Identifier: GPL-2.0
/*
 * The file of the last boot, of an instance in memory that survives a reboot.
 *
 * Its formats, names and functions are those that the last boot has stored, see last_boot/. The
 * pages of each CPU are those of the snapshot, and then those of the live buffer, as far as the
 * last boot has written them: records of the snapshot are older than live ones.
 */
#include <linux/cred.h>
#include <linux/ctype.h>
#include <linux/kallsyms.h>
#include <linux/sched/signal.h>
#include <linux/sort.h>
#include <linux/uio.h>

#include "internal.h"

static const char dat_last_table[] = "flyrecord";

/* Of each CPU, the pages of the snapshot and those of the live buffer */
#define DAT_LAST_PARTS	2

/**
 * struct dat_last - an open file of the last boot
 * @reading:  for reads; its mutex protects @pages and @next
 * @tr:       the instance
 * @snapshot: the snapshot, which does not change meanwhile
 * @pages:    pages of the snapshot, and of the live buffer
 * @range:    DAT_LAST_PARTS for each CPU
 * @next:     as many
 * @head:     the file up to the pages
 */
struct dat_last {
	struct dat_reading	reading;
	struct trace_array	*tr;
	struct array_buffer	*snapshot;
	struct dat_pages	pages[DAT_LAST_PARTS];
	struct dat_range	*range;
	struct dat_next		*next;
	struct dat_block	head;
};

static int dat_last_cmp(const void *a, const void *b)
{
	const struct format_text *x = a, *y = b;
	int ret = strcmp(x->system, y->system);

	/* Those of "ftrace" are in front of the others. */
	if (ret && !strcmp(x->system, "ftrace"))
		return -1;
	if (ret && !strcmp(y->system, "ftrace"))
		return 1;
	return ret;
}

/* The formats that can be read, by system. Return: how many there are; or -ENOMEM. */
static int dat_last_sort_formats(const struct area *a, struct format_text **formats)
{
	struct format_text *format = kvmalloc_array(a->nr + 1, sizeof(*format), GFP_KERNEL);
	const struct area_entry *entry;
	u32 pos = 0, nr = 0;

	*formats = format;
	if (!format)
		return -ENOMEM;
	while ((entry = area_next(a, &pos, AREA_FORMAT)))
		nr += format_open(&format[nr], entry->data, entry->len);
	sort(format, nr, sizeof(*format), dat_last_cmp, NULL);
	return nr;
}

/* The formats of the system of the first one. Return: how many these are. */
static u32 dat_last_put_system(struct dat_text *text, const struct format_text *format, u32 nr)
{
	size_t begin = dat_begin(text, sizeof(u32));
	u32 i;

	for (i = 0; i < nr && !strcmp(format[i].system, format->system); i++) {
		dat_put_u64(text, format[i].len);
		dat_put(text, format[i].text, format[i].len);
	}
	dat_set(text, sizeof(u32), begin, i);
	return i;
}

static void dat_last_put_formats(struct dat_text *text, const struct area *a)
{
	struct format_text *format;
	int nr = dat_last_sort_formats(a, &format), i = 0;
	u32 systems = 0;
	size_t begin;

	if (nr < 0) {
		text->err = nr;
		return;
	}
	if (nr && !strcmp(format->system, "ftrace"))
		i = dat_last_put_system(text, format, nr);
	else
		dat_put_u32(text, 0);
	begin = dat_begin(text, sizeof(u32));
	for (; i < nr; systems++) {
		dat_put_string(text, format[i].system);
		i += dat_last_put_system(text, format + i, nr - i);
	}
	dat_set(text, sizeof(u32), begin, systems);
	kvfree(format);
}

static void dat_last_print_symbols(struct seq_file *m, void *data)
{
	const struct area_entry *entry, *next;
	const struct area_symbol *symbol;
	unsigned int i;

	for (i = 0; (entry = last_boot_symbol(data, i)); i++) {
		symbol = (const void *)entry->data;
		next = last_boot_symbol(data, i + 1);
		seq_printf(m, "%0*llx %c %.*s\n", (int)(2 * sizeof(long)), entry->key,
			   symbol->size ? 't' : 'T', (int)(entry->len - sizeof(*symbol)),
			   symbol->name);
		/* A reader takes the next line for the end of a symbol. */
		if (symbol->size && (!next || next->key - entry->key > symbol->size))
			seq_printf(m, "%0*llx t end\n", (int)(2 * sizeof(long)),
				   entry->key + symbol->size);
	}
}

/* As "printk_formats" does. Other characters that do not fit in a line are question marks. */
static void dat_last_escape(struct seq_file *m, const void *data, size_t len)
{
	const char *c;

	for (c = data; c < (const char *)data + len; c++) {
		if (*c == '\n')
			seq_puts(m, "\\n");
		else if (*c == '\t')
			seq_puts(m, "\\t");
		else if (*c == '"')
			seq_puts(m, "\\\"");
		else
			seq_putc(m, isascii(*c) && isprint(*c) ? *c : '?');
	}
}

static void dat_last_print_strings(struct seq_file *m, void *data)
{
	const struct area_entry *entry;
	u32 pos = 0;

	while ((entry = area_next(data, &pos, AREA_STRING))) {
		seq_printf(m, "0x%llx : \"", entry->key);
		dat_last_escape(m, entry->data, entry->len);
		seq_puts(m, "\"\n");
	}
}

static void dat_last_print_tasks(struct seq_file *m, void *data)
{
	const struct area *a = data;
	const struct area_task *task;
	u32 i;

	for (i = 0; i < a->nr_tasks; i++) {
		task = area_task_at(a, i);
		if (!task)
			continue;
		seq_printf(m, "%u ", task->pid);
		dat_last_escape(m, task->comm, strlen(task->comm));
		seq_putc(m, '\n');
	}
}

/* A text of the last boot: it ends where it has a byte that is none. */
static void dat_last_put_text(struct dat_text *text, const struct area *a, enum area_kind kind)
{
	const struct area_entry *entry = area_find(a, kind, 0);
	size_t len = 0;

	while (entry && len < entry->len && isascii(entry->data[len]) &&
	       (isprint(entry->data[len]) || entry->data[len] == '\n'))
		len++;
	dat_put(text, entry ? entry->data : NULL, len);
}

/* Get the time by all clocks, at the newer moment first. Return: number of moments. */
static unsigned int dat_last_moments(const struct area *a, struct last_boot_moment m[2])
{
	const struct area_entry *entry;
	unsigned int nr = 0;
	u64 key;

	for (key = 0; key < 2; key++) {
		entry = area_find(a, AREA_MOMENT, key);
		if (entry && entry->len == sizeof(*m))
			memcpy(&m[nr++], entry->data, sizeof(*m));
	}
	if (nr == 2 && m[0].clocks.mono < m[1].clocks.mono)
		swap(m[0], m[1]);
	return nr;
}

static bool dat_last_knows_time(const struct area *a)
{
	struct last_boot_moment m[2];

	return dat_last_moments(a, m) && m->in_ns && m->clocks.mono;
}

static void dat_last_put_clocks(struct dat_text *text, const struct area *a, bool real)
{
	struct trace_clocks clocks[2];
	struct last_boot_moment m[2];
	unsigned int nr = dat_last_moments(a, m), i;

	for (i = 0; i < nr; i++)
		clocks[i] = m[i].clocks;
	dat_put_clocks(text, clocks, nr);
	if (real)
		dat_put_offset(text, clocks);
}

static void dat_last_put_options(struct dat_text *text, const struct area *a, bool real)
{
	size_t begin;

	dat_put_u32(text, nr_cpu_ids);
	dat_put_options_clock(text);
	begin = dat_begin_uname(text);
	dat_last_put_text(text, a, AREA_UNAME);
	dat_put_string(text, "");
	dat_end(text, sizeof(u32), begin);
	dat_last_put_clocks(text, a, real);
	dat_put_u16(text, 0);
}

/* The pages follow; @table is where the head has the offsets of them. */
static void dat_last_put_padding(struct dat_last *f, struct dat_text *text, size_t table)
{
	unsigned int page_size = f->pages[0].page_size, cpu;
	struct dat_range range;
	static const char zero;

	while (!text->err && text->m.count % page_size)
		dat_put(text, &zero, sizeof(zero));
	if (text->err)
		return;
	f->reading.size = dat_place(f->range, DAT_LAST_PARTS * nr_cpu_ids, text->m.count);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		range = f->range[DAT_LAST_PARTS * cpu];
		range.size += f->range[DAT_LAST_PARTS * cpu + 1].size;
		memcpy(text->m.buf + table + cpu * sizeof(range), &range, sizeof(range));
	}
}

static void dat_last_put_clock(struct dat_text *text, const struct area *a)
{
	size_t begin = dat_begin(text, sizeof(u64));

	dat_last_put_text(text, a, AREA_CLOCK);
	dat_end(text, sizeof(u64), begin);
}

static int dat_last_make_head(struct dat_last *f, bool symbols)
{
	const struct area *a = last_boot_area(f->tr);
	struct dat_text text = {};
	size_t table;

	dat_put_begin(&text, f->pages[0].page_size);
	dat_last_put_formats(&text, a);
	/* Both have addresses. */
	if (symbols) {
		dat_print_block(&text, sizeof(u32), dat_last_print_symbols, f->tr);
		dat_print_block(&text, sizeof(u32), dat_last_print_strings, (void *)a);
	} else {
		dat_put_u64(&text, 0);
	}
	dat_print_block(&text, sizeof(u64), dat_last_print_tasks, (void *)a);
	dat_last_put_options(&text, a, f->reading.real);
	dat_put(&text, dat_last_table, sizeof(dat_last_table));
	table = text.m.count;
	/* It has half as many entries. */
	dat_put(&text, f->range, nr_cpu_ids * sizeof(*f->range));
	dat_last_put_clock(&text, a);
	dat_last_put_padding(f, &text, table);
	return dat_finish(&text, &f->head);
}

static int dat_last_lay_out(struct dat_last *f, bool symbols)
{
	struct trace_buffer *buffers[DAT_LAST_PARTS] = {
		f->snapshot->buffer, f->tr->array_buffer.buffer,
	};
	unsigned int i;
	u64 size = 0;
	int ret;

	f->range = kvcalloc(DAT_LAST_PARTS * nr_cpu_ids, sizeof(*f->range), GFP_KERNEL);
	f->next = kvcalloc(DAT_LAST_PARTS * nr_cpu_ids, sizeof(*f->next), GFP_KERNEL);
	if (!f->range || !f->next)
		return -ENOMEM;
	for (i = 0; i < DAT_LAST_PARTS; i++) {
		dat_pages_init(&f->pages[i], buffers[i]);
		f->pages[i].last_boot = true;
	}
	for (i = 0; i < DAT_LAST_PARTS * nr_cpu_ids; i++) {
		ret = dat_pages_size_last(&f->pages[i % DAT_LAST_PARTS], &f->next[i],
					  i / DAT_LAST_PARTS, &f->range[i].size);
		if (ret)
			return ret;
		size += f->range[i].size;
	}
	return size ? dat_last_make_head(f, symbols) : -ENODATA;
}

static void dat_last_free(struct dat_last *f)
{
	unsigned int i;

	for (i = 0; i < DAT_LAST_PARTS; i++)
		dat_pages_exit(&f->pages[i]);
	if (f->snapshot)
		trace_snapshot_put(f->snapshot);
	trace_array_put(f->tr);
	kvfree(f->head.data);
	kvfree(f->next);
	kvfree(f->range);
	kfree(f);
}

static ssize_t dat_last_copy(struct dat_reading *reading, u64 pos, struct iov_iter *to)
{
	struct dat_last *f = container_of(reading, struct dat_last, reading);
	unsigned int page_size = f->pages[0].page_size, i, skip;
	const void *page;

	if (pos < f->head.len)
		return copy_to_iter(f->head.data + pos, f->head.len - pos, to);
	i = dat_find(f->range, pos);
	skip = (pos - f->head.len) & (page_size - 1);
	page = dat_pages_at(&f->pages[i % DAT_LAST_PARTS], &f->range[i], &f->next[i],
			    i / DAT_LAST_PARTS, pos - skip);
	return IS_ERR(page) ? PTR_ERR(page) : copy_to_iter(page + skip, page_size - skip, to);
}

static int dat_last_log(const struct dat_last *f, int ret, const char *why)
{
	guard(mutex)(&trace_types_lock);
	tracing_log(f->tr, f->reading.real ? "realtime.dat" : "trace.dat", "error", f->tr->name,
		    why, 0);
	return ret;
}

static int dat_last_fill(struct dat_last *f, const struct cred *cred)
{
	const struct area *a = last_boot_area(f->tr);
	int ret = -ENODATA;

	if (a && f->reading.real && !dat_last_knows_time(a))
		return dat_last_log(f, ret, "the time of the day is not known: read trace.dat");
	if (a) {
		f->snapshot = trace_snapshot_get(f->tr, false);
		ret = f->snapshot ? dat_last_lay_out(f, kallsyms_show_value(cred)) : -ENOMEM;
	}
	if (ret == -ENODATA)
		dat_last_log(f, ret, "the last boot has left no records, or did not describe them");
	return ret;
}

static int dat_last_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	int ret = tracing_check_open_get_tr(tr);
	struct dat_last *f;

	if (ret)
		return ret;
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f) {
		trace_array_put(tr);
		return -ENOMEM;
	}
	mutex_init(&f->reading.mutex);
	f->reading.copy = dat_last_copy;
	f->tr = tr;
	f->reading.real = file->f_op == &trace_realtime_dat_last_boot_fops;
	ret = dat_last_fill(f, file->f_cred);
	if (ret)
		dat_last_free(f);
	else
		file->private_data = &f->reading;
	return ret;
}

static int dat_last_release(struct inode *inode, struct file *file)
{
	dat_last_free(container_of(file->private_data, struct dat_last, reading));
	return 0;
}

const struct file_operations trace_dat_last_boot_fops = DAT_FOPS(dat_last_open, dat_last_release);
/* The same file, with times of the day. */
const struct file_operations trace_realtime_dat_last_boot_fops =
	DAT_FOPS(dat_last_open, dat_last_release);
