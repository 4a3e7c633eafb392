// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of trace.dat besides its records. They are captured once.
 */
#include <linux/bitmap.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/utsname.h>

#include "../ring_buffer/format.h"
#include "internal.h"

/* Options of the file, by their number in the format. */
#define DAT_OPTION_CPUSTAT	2
#define DAT_OPTION_TRACECLOCK	4
#define DAT_OPTION_UNAME	5
#define DAT_OPTION_OFFSET	7
#define DAT_OPTION_VERSION	9

static void dat_put_headers(struct dat_text *text, unsigned int page_size)
{
	struct trace_seq *s = kmalloc(sizeof(*s), GFP_KERNEL);

	if (!s) {
		text->err = -ENOMEM;
		return;
	}
	trace_seq_init(s);
	rb_print_page_header(s, page_size);
	dat_put_string(text, "header_page");
	dat_put_u64(text, trace_seq_used(s));
	dat_put(text, s->buffer, trace_seq_used(s));

	trace_seq_init(s);
	ring_buffer_print_entry_header(s);
	dat_put_string(text, "header_event");
	dat_put_u64(text, trace_seq_used(s));
	dat_put(text, s->buffer, trace_seq_used(s));
	kfree(s);
}

static void dat_print_format(struct seq_file *m, void *call)
{
	trace_event_show_format(m, call);
}

static bool dat_wants(const struct trace_event_call *call, const unsigned long *types)
{
	return call->event.type <= U16_MAX && test_bit(call->event.type, types);
}

static bool dat_is_of(const struct trace_event_call *call, const char *system)
{
	return !strcmp(call->class->system, system);
}

/*
 * The wanted events of a system, behind their number. None of the events in front of @call is one.
 * @types: a bit for each number of an event that is wanted; those of this system are cleared
 */
static void dat_put_system(struct dat_text *text, struct trace_event_call *call,
			   const char *system, unsigned long *types)
{
	size_t begin = dat_begin(text, sizeof(u32));
	u32 nr = 0;

	list_for_each_entry_from(call, &ftrace_events, list) {
		if (!dat_wants(call, types) || !dat_is_of(call, system))
			continue;
		__clear_bit(call->event.type, types);
		dat_print_block(text, sizeof(u64), dat_print_format, call);
		nr++;
	}
	dat_set(text, sizeof(u32), begin, nr);
}

/**
 * dat_put_formats() - append formats of events: of those of "ftrace", then of others by system
 * @text:  the text
 * @types: a bit for each number of an event that is wanted; those that are appended are cleared
 *
 * Each system that is wanted costs a walk over all events.
 *
 * Context: May sleep, event_mutex is held.
 */
void dat_put_formats(struct dat_text *text, unsigned long *types)
{
	struct trace_event_call *call;
	size_t begin;
	u32 nr = 0;

	lockdep_assert_held(&event_mutex);
	call = list_first_entry(&ftrace_events, struct trace_event_call, list);
	dat_put_system(text, call, "ftrace", types);
	begin = dat_begin(text, sizeof(u32));
	list_for_each_entry(call, &ftrace_events, list) {
		if (!dat_wants(call, types))
			continue;
		dat_put_string(text, call->class->system);
		dat_put_system(text, call, call->class->system, types);
		nr++;
	}
	dat_set(text, sizeof(u32), begin, nr);
}

/**
 * dat_put_begin() - append the begin of the file, up to the formats
 * @text:      the text
 * @page_size: bytes of a page
 *
 * Context: May sleep.
 */
void dat_put_begin(struct dat_text *text, unsigned int page_size)
{
	static const char magic[] = "\x17\x08\x44tracing6";
	u8 sizes[] = { IS_ENABLED(CONFIG_CPU_BIG_ENDIAN), sizeof(long) };

	dat_put(text, magic, sizeof(magic));
	dat_put(text, sizes, sizeof(sizes));
	dat_put_u32(text, page_size);
	dat_put_headers(text, page_size);
}

/*
 * The events of members, and those of "ftrace": an instance that a module has made for some systems
 * has records of these as well.
 */
static void dat_find_types(struct trace_array *whole, unsigned long *types)
{
	struct trace_event_file *file;
	struct trace_array *tr;

	bitmap_set(types, 0, __TRACE_LAST_TYPE);
	for_each_session_member(tr, whole) {
		list_for_each_entry(file, &tr->events, list) {
			if (file->event_call->event.type <= U16_MAX)
				__set_bit(file->event_call->event.type, types);
		}
	}
}

static void dat_put_head(struct dat_text *text, struct trace_array *tr)
{
	unsigned long *types = bitmap_zalloc(U16_MAX + 1, GFP_KERNEL);

	if (!types) {
		text->err = -ENOMEM;
		return;
	}
	dat_find_types(tr, types);
	dat_put_begin(text, ring_buffer_subbuf_size_get(tr->array_buffer.buffer));
	dat_put_formats(text, types);
	bitmap_free(types);
}

struct dat_stat {
	struct trace_array	*tr;
	int			cpu;
};

/* Only counts that reading does not change. */
static void dat_print_stat(struct seq_file *m, void *data)
{
	struct dat_stat *stat = data;
	struct trace_buffer *buffer = stat->tr->array_buffer.buffer;

	seq_printf(m, "Buffer: %s\nCPU: %d\n", stat->tr->name, stat->cpu);
	seq_printf(m, "overrun: %lu\n", ring_buffer_overrun_cpu(buffer, stat->cpu));
	seq_printf(m, "commit overrun: %lu\n", ring_buffer_commit_overrun_cpu(buffer, stat->cpu));
	seq_printf(m, "dropped events: %lu\n", ring_buffer_dropped_events_cpu(buffer, stat->cpu));
}

static void dat_print_uname(struct seq_file *m, void *data)
{
	struct new_utsname *u = init_utsname();

	seq_printf(m, "%s %s %s %s", u->sysname, u->nodename, u->release, u->machine);
	seq_putc(m, '\0');
}

static void dat_put_stats(struct dat_text *text, struct trace_array *tr)
{
	struct dat_stat stat = { .tr = tr };

	for_each_tracing_cpu(stat.cpu) {
		dat_put_u16(text, DAT_OPTION_CPUSTAT);
		dat_print_block(text, sizeof(u32), dat_print_stat, &stat);
	}
}

/**
 * dat_put_options_clock() - append the begin of the options, up to that of the clock
 * @text: the text
 *
 * Context: May sleep.
 */
void dat_put_options_clock(struct dat_text *text)
{
	dat_put(text, "options  ", sizeof("options  "));
	/*
	 * Then the clocks follow the table of CPUs. trace-cmd 3.1 looks for one in the option, too:
	 * without a byte there, in memory that it has not set.
	 */
	dat_put_u16(text, DAT_OPTION_TRACECLOCK);
	dat_put_u32(text, sizeof(""));
	dat_put_string(text, "");
}

/**
 * dat_begin_uname() - begin the option that names the kernel
 * @text: the text
 *
 * Context: May sleep.
 * Return: where it begins, for dat_end() with 4 bytes.
 */
size_t dat_begin_uname(struct dat_text *text)
{
	dat_put_u16(text, DAT_OPTION_UNAME);
	return dat_begin(text, sizeof(u32));
}

/**
 * dat_put_options_begin() - append the first options
 * @text: the text
 *
 * Context: May sleep.
 */
void dat_put_options_begin(struct dat_text *text)
{
	size_t begin;

	dat_put_options_clock(text);
	begin = dat_begin_uname(text);
	dat_print(text, dat_print_uname, NULL);
	dat_end(text, sizeof(u32), begin);
}

struct dat_clocks {
	const struct trace_clocks	*clocks;
	unsigned int			nr;
};

static void dat_print_clocks(struct seq_file *m, void *data)
{
	const struct dat_clocks *all = data;
	const struct trace_clocks *clocks;

	seq_puts(m, "the kernel");
	for (clocks = all->clocks; clocks < all->clocks + all->nr; clocks++) {
		if (clocks->mono)
			seq_printf(m, "\nclocks trace=%llu mono=%llu boot=%llu real=%llu within=%llu",
				   clocks->trace, clocks->mono, clocks->boot, clocks->real,
				   clocks->within);
	}
	seq_putc(m, '\0');
}

/**
 * dat_put_clocks() - append what clocks have shown, as the version of the program
 * @text:   the text, in its options
 * @clocks: the clocks, at several moments
 * @nr:     number of @clocks
 *
 * Context: May sleep.
 */
void dat_put_clocks(struct dat_text *text, const struct trace_clocks *clocks, unsigned int nr)
{
	struct dat_clocks all = { clocks, nr };

	dat_put_u16(text, DAT_OPTION_VERSION);
	dat_print_block(text, sizeof(u32), dat_print_clocks, &all);
}

static void dat_print_offset(struct seq_file *m, void *data)
{
	const struct trace_clocks *clocks = data;

	seq_printf(m, "%lld", (s64)(clocks->real - clocks->trace));
	seq_putc(m, '\0');
}

/**
 * dat_put_offset() - append what trace-cmd has to add to times, from the clock of the trace to
 * CLOCK_REALTIME
 * @text:   the text, in its options
 * @clocks: the clocks, in ns
 *
 * Context: May sleep.
 */
void dat_put_offset(struct dat_text *text, const struct trace_clocks *clocks)
{
	dat_put_u16(text, DAT_OPTION_OFFSET);
	dat_print_block(text, sizeof(u32), dat_print_offset, (void *)clocks);
}

/**
 * dat_put_printk() - append the formats of trace_printk()
 * @text: the text
 *
 * Context: May sleep.
 */
void dat_put_printk(struct dat_text *text)
{
	size_t begin = dat_begin(text, sizeof(u32));

	dat_print_all(text, &trace_printk_formats_seq_ops);
	dat_end(text, sizeof(u32), begin);
}

static void dat_put_tail(struct dat_text *text, struct trace_array *whole)
{
	struct trace_array *tr;
	size_t begin;

	dat_put_printk(text);
	begin = dat_begin(text, sizeof(u64));
	dat_print_all(text, &tracing_saved_cmdlines_seq_ops);
	dat_end(text, sizeof(u64), begin);

	dat_put_u32(text, nr_cpu_ids);
	/* Other options follow: those of channels have offsets that an open file knows. */
	dat_put_options_begin(text);
	dat_put_clocks(text, trace_snapshot_clocks(whole), 2);
	for_each_session_member(tr, whole)
		dat_put_stats(text, tr);
}

static void dat_print_clock(struct seq_file *m, void *data)
{
	tracing_clock_show(m, NULL);
}

/**
 * dat_put_clock() - append the clocks, with the one in use in brackets
 * @text: the text
 * @tr:   the instance
 *
 * Context: May sleep.
 */
void dat_put_clock(struct dat_text *text, struct trace_array *tr)
{
	text->m.private = tr;
	dat_print_block(text, sizeof(u64), dat_print_clock, NULL);
}

static void dat_free(struct trace_dat *dat)
{
	int i;

	for (i = 0; i < DAT_NR_PARTS; i++)
		kvfree(dat->part[i].data);
	kfree(dat);
}

static int dat_charge(struct trace_array *tr, struct trace_dat *dat, size_t size)
{
	unsigned long kb = DIV_ROUND_UP(size, 1024);
	int ret = trace_snapshot_charge(tr, kb);

	if (!ret)
		dat->kb += kb;
	return ret;
}

/**
 * dat_capture() - capture the parts of trace.dat of a kept snapshot that need none of its records
 * @tr: the instance of the snapshot
 *
 * These are all but DAT_SYMBOLS.
 *
 * Context: May sleep, event_mutex is held.
 * Return: 0, also if that was done before; -ENODEV if the snapshot was retired; -ENOMEM;
 *	   -ENOSPC if snapshot_limit_kb does not allow it.
 */
int dat_capture(struct trace_array *tr)
{
	static void (*const put[])(struct dat_text *text, struct trace_array *tr) = {
		[DAT_HEAD] = dat_put_head,
		[DAT_TAIL] = dat_put_tail,
		[DAT_CLOCK] = dat_put_clock,
	};
	struct trace_dat *dat;
	size_t size = sizeof(*dat);
	int i, ret = 0;

	lockdep_assert_held(&event_mutex);
	if (tr->dat)
		return 0;
	/* The instance was retired after the caller had found it: its events are removed. */
	if (!tr->event_dir)
		return -ENODEV;
	dat = kzalloc(sizeof(*dat), GFP_KERNEL);
	if (!dat)
		return -ENOMEM;
	mutex_init(&dat->mutex);
	for (i = 0; !ret && i < DAT_NR_PARTS; i++) {
		struct dat_text text = {};

		if (!put[i])
			continue;
		put[i](&text, tr);
		ret = dat_finish(&text, &dat->part[i]);
		size += dat->part[i].len;
	}
	ret = ret ?: dat_charge(tr, dat, size);
	if (ret) {
		dat_free(dat);
		return ret;
	}
	tr->dat = dat;
	return 0;
}

static int dat_scan(const struct dat_pins *pins, struct trace_dat *dat, const struct trace_job *job)
{
	struct dat_text text = { .job = job };
	struct dat_block block = {};
	int ret;

	dat_put_symbols(&text, pins);
	ret = dat_finish(&text, &block) ?: dat_charge(pins->tr[0], dat, block.len);
	if (ret) {
		kvfree(block.data);
		return ret;
	}
	dat->part[DAT_SYMBOLS] = block;
	dat->scanned = true;
	return 0;
}

/**
 * dat_capture_symbols() - capture the symbols of the addresses in the records of a kept snapshot
 * @pins: the members of the snapshot, from dat_pin_members()
 * @job:  the job that does it; NULL for the caller
 *
 * Context: May sleep, after dat_capture() of the first one. No lock is held that others wait for.
 * Return: 0, also if that was done before; -EINTR; -ENOMEM; -ENOSPC as dat_capture().
 */
int dat_capture_symbols(const struct dat_pins *pins, const struct trace_job *job)
{
	struct trace_dat *dat = pins->tr[0]->dat;
	int ret = job ? mutex_lock_interruptible(&dat->mutex) : mutex_lock_killable(&dat->mutex);

	if (ret)
		return ret;
	if (!dat->scanned)
		ret = dat_scan(pins, dat, job);
	mutex_unlock(&dat->mutex);
	return ret;
}

static int dat_capture_whole(struct trace_array *tr)
{
	struct dat_pins *pins;
	int ret;

	scoped_guard(mutex, &event_mutex)
		ret = dat_capture(tr);
	if (ret)
		return ret;
	pins = dat_pin_members(tr);
	if (IS_ERR(pins))
		return PTR_ERR(pins);
	ret = dat_capture_symbols(pins, NULL);
	dat_unpin(pins);
	return ret;
}

/**
 * dat_capture_all() - capture the parts of trace.dat of all kept snapshots
 *
 * Without memory, or when a fatal signal comes, symbols of some records may be missing later.
 *
 * Context: May sleep.
 */
void dat_capture_all(void)
{
	struct dat_pins *pins = dat_pin_kept();
	unsigned int i;
	int ret;

	if (IS_ERR(pins)) {
		pr_warn("trace.dat: no memory for the names of functions\n");
		return;
	}
	for (i = 0; i < pins->nr; i++) {
		ret = dat_capture_whole(pins->tr[i]);
		if (ret && ret != -ENODEV)
			pr_warn("%s/trace.dat: no names of functions: %d\n",
				pins->tr[i]->name, ret);
	}
	dat_unpin(pins);
}

#ifdef CONFIG_MODULES
/* The names of its functions go with it. */
static int dat_notify_module(struct notifier_block *nb, unsigned long event, void *module)
{
	if (event == MODULE_STATE_GOING)
		dat_capture_all();
	return NOTIFY_OK;
}

/* Before its events are removed */
static struct notifier_block dat_module_nb = {
	.notifier_call	= dat_notify_module,
	.priority	= INT_MAX,
};

static int __init dat_init_modules(void)
{
	return register_module_notifier(&dat_module_nb);
}
fs_initcall(dat_init_modules);
#endif

/**
 * trace_dat_end_event() - capture before an event of an instance is removed
 * @tr: the instance
 *
 * The number of records makes no difference to the time. Without memory, the records of the
 * event stay undecoded.
 *
 * Context: May sleep, event_mutex is held.
 */
void trace_dat_end_event(struct trace_array *tr)
{
	int ret;

	if (!trace_is_kept(tr))
		return;
	/* The file of a session has its event as well. */
	ret = tr->session ? dat_capture(tr->session) : 0;
	ret = dat_capture(tr) ?: ret;
	if (ret)
		pr_warn("%s/trace.dat: no formats of removed events: %d\n", tr->name, ret);
}

/**
 * trace_dat_free() - free the captured parts
 * @tr: the instance of a kept snapshot; nobody has it open
 *
 * Context: May sleep.
 */
void trace_dat_free(struct trace_array *tr)
{
	if (tr->dat)
		dat_free(tr->dat);
	tr->dat = NULL;
}
