// SPDX-License-Identifier: GPL-2.0
/*
 * Store the area for the next boot.
 */
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/rculist.h>
#include <linux/reboot.h>
#include <linux/sched/clock.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/threads.h>
#include <linux/unaligned.h>
#include <linux/utsname.h>
#include <linux/workqueue.h>
#include <asm/ring_buffer.h>
#include <asm/sections.h>

#include "internal.h"

/* 1 of so many bytes of the memory, and so many at most */
#define KEEP_SHARE	16
#define KEEP_MAX	SZ_4M

/* The worker looks at so many bytes of the memory at a time. */
#define KEEP_STEP	SZ_1M

/* A panic and a reboot do not take longer for names, in ns. */
#define KEEP_TIME	(200 * NSEC_PER_MSEC)

/* The worker comes after so many seconds; and if it has seen all, and nothing new was recorded. */
#define KEEP_SECONDS		1
#define KEEP_SECONDS_QUIET	10

/**
 * struct keep_scan - a look at words of the memory
 * @until:  when it ends, by local_clock(); U64_MAX: never
 * @module: only functions of this one are stored; NULL: all
 * @panic:  nothing may be waited for
 */
struct keep_scan {
	u64			until;
	const struct module	*module;
	bool			panic;
};

/* All instances in memory that survives a reboot; event_mutex, walked under RCU in a panic. */
static LIST_HEAD(keep_all);

/* The worker can be queued. event_mutex */
static bool keep_ready;

static void keep_work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(keep_work, keep_work_fn);

static void keep_queue(unsigned int seconds)
{
	queue_delayed_work(system_power_efficient_wq, &keep_work,
			   round_jiffies_relative(seconds * HZ));
}

/**
 * last_boot_size() - tell how much memory is for the description of the records
 * @range_size: bytes of the memory of the instance
 *
 * Context: Any context.
 * Return: bytes.
 */
unsigned int last_boot_size(unsigned long range_size)
{
	return ALIGN_DOWN(clamp(range_size / KEEP_SHARE, 64, KEEP_MAX), sizeof(u64));
}

static void keep_put(struct last_boot *lb, enum area_kind kind, u64 key, const void *data,
		     size_t len)
{
	bool first = false;

	scoped_guard(raw_spinlock_irqsave, &lb->lock) {
		if (area_put(&lb->keep, kind, key, data, len))
			first = lb->keep.header->dropped == 1;
	}
	if (first)
		pr_warn("%s: no room for all of the description of the records\n",
			lb->tr->name);
}

/* Store what a function prints. */
static void keep_print(struct last_boot *lb, enum area_kind kind, u64 key,
		       void (*print)(struct seq_file *m, void *data), void *data)
{
	struct dat_block block = {};

	if (trace_dat_print(print, data, &block))
		pr_warn("%s: no memory to store it for the next boot\n", lb->tr->name);
	else
		keep_put(lb, kind, key, block.data, block.len);
	kvfree(block.data);
}

static void keep_print_format(struct seq_file *m, void *data)
{
	struct trace_event_call *call = data;

	seq_puts(m, call->class->system);
	seq_putc(m, '\0');
	trace_event_show_format(m, call);
}

static void keep_format(struct last_boot *lb, struct trace_event_call *call)
{
	keep_print(lb, AREA_FORMAT, call->event.type, keep_print_format, call);
}

static void keep_print_clock(struct seq_file *m, void *tr)
{
	m->private = tr;
	tracing_clock_show(m, NULL);
}

/* One of two stays if the machine stops in here. */
static void keep_moment(struct last_boot *lb)
{
	struct last_boot_moment now = { .in_ns = trace_clock_in_ns(lb->tr) };

	trace_read_clocks(lb->tr->array_buffer.buffer, &now.clocks);
	guard(raw_spinlock_irqsave)(&lb->lock);
	area_renew(&lb->keep, AREA_MOMENT, lb->moments++ % 2, &now, sizeof(now));
}

static void keep_clock(struct last_boot *lb)
{
	lb->clock_id = lb->tr->clock_id;
	keep_print(lb, AREA_CLOCK, 0, keep_print_clock, lb->tr);
	/* Both by this clock. */
	keep_moment(lb);
	keep_moment(lb);
}

/**
 * last_boot_keep_clock() - store the clock of an instance that has changed
 * @tr: the instance, which records nothing
 *
 * Context: May sleep.
 */
void last_boot_keep_clock(struct trace_array *tr)
{
	struct last_boot *lb = tr->last_boot;

	if (lb && READ_ONCE(lb->begun))
		keep_clock(lb);
}

static void keep_print_uname(struct seq_file *m, void *unused)
{
	struct new_utsname *u = init_utsname();

	seq_printf(m, "%s %s %s %s", u->sysname, u->nodename, u->release, u->machine);
}

/* Formats of trace_printk(), and texts of tracepoints: they stay as long as the kernel runs. */
static void keep_strings(struct last_boot *lb)
{
	const struct seq_operations *op = &trace_printk_formats_seq_ops;
	const char **text;
	loff_t pos = 0;

	for (text = op->start(NULL, &pos); text; text = op->next(NULL, text, &pos)) {
		if (*text)
			keep_put(lb, AREA_STRING, (unsigned long)*text, *text, strlen(*text));
	}
	op->stop(NULL, text);
}

static void keep_symbol(struct last_boot *lb, unsigned long addr, u32 size, const char *name,
			const char *module)
{
	char data[sizeof(struct area_symbol) + KSYM_NAME_LEN + MODULE_NAME_LEN + 3]
		__aligned(__alignof__(struct area_symbol));
	struct area_symbol *symbol = (void *)data;
	int len;

	symbol->size = size;
	len = scnprintf(symbol->name, sizeof(data) - sizeof(*symbol), module ? "%s\t[%s]" : "%s",
			name, module);
	keep_put(lb, AREA_SYMBOL, addr, data, sizeof(*symbol) + len);
}

static void keep_begin(struct last_boot *lb)
{
	struct trace_event_call *call;

	lockdep_assert_held(&event_mutex);
	/* A backup shows the last boot only. */
	if (lb->begun || lb->copy)
		return;
	area_begin(&lb->keep, last_boot_kernel());
	WRITE_ONCE(lb->begun, true);
	keep_print(lb, AREA_UNAME, 0, keep_print_uname, NULL);
	keep_clock(lb);
	/* perf resolves the addresses between these only. */
	keep_symbol(lb, (unsigned long)_text, 0, "_text", NULL);
	keep_symbol(lb, (unsigned long)_etext, 0, "_etext", NULL);
	list_for_each_entry(call, &ftrace_events, list) {
		if (!strcmp(call->class->system, "ftrace"))
			keep_format(lb, call);
	}
	keep_strings(lb);
	if (keep_ready)
		keep_queue(KEEP_SECONDS);
}

/**
 * last_boot_keep_event() - store the format of an event
 * @file: the event of an instance, before it is enabled
 *
 * Context: May sleep, event_mutex is held.
 */
void last_boot_keep_event(struct trace_event_file *file)
{
	struct last_boot *lb = file->tr->last_boot;

	if (!lb)
		return;
	keep_begin(lb);
	if (lb->begun)
		keep_format(lb, file->event_call);
}

/* At the boot, the enumerations in formats have no values yet. */
static void keep_settle(struct last_boot *lb)
{
	struct trace_event_file *file;

	list_for_each_entry(file, &lb->tr->events, list) {
		if (area_find(&lb->keep, AREA_FORMAT, file->event_call->event.type))
			keep_format(lb, file->event_call);
	}
	lb->settled = true;
}

static void keep_task(void *data, int pid, const char *comm)
{
	struct last_boot *lb = data;

	guard(raw_spinlock_irqsave)(&lb->lock);
	area_put_task(&lb->keep, pid, comm);
}

/* Tasks that have recorded, and have not been switched out since. The list can be damaged. */
static void keep_running(struct last_boot *lb, u64 until)
{
	struct task_struct *process, *task;
	unsigned int nr = 0;

	guard(rcu)();
	for_each_process_thread(process, task) {
		if (nr++ >= PID_MAX_LIMIT || local_clock() > until)
			return;
		if (task_is_running(task) || task == current)
			keep_task(lb, task->pid, task->comm);
	}
}

static bool keep_wants(unsigned long word, const struct module *module)
{
	if (module)
		return within_module(word, module);
	return core_kernel_text(word) || is_vmalloc_or_module_addr((void *)word);
}

/*
 * Store the name of the function at @word, if it is that of one that is wanted.
 * Return: true if it was looked up, which takes a while.
 */
static bool keep_word(struct last_boot *lb, unsigned long word, const struct module *only,
		      char *name)
{
	unsigned long *recent = &lb->recent[hash_long(word, LAST_BOOT_RECENT_BITS)];
	unsigned long size, offset;
	char *module = NULL;

	if (*recent == word || !keep_wants(word, only))
		return false;
	*recent = word;
	/* Keeps the module that is found, and so its name. */
	guard(rcu)();
	if (kallsyms_lookup(word, &size, &offset, &module, name))
		keep_symbol(lb, word - offset, size, name, module);
	return true;
}

/* Store the functions that words of the memory name, which may be written meanwhile. */
static void keep_words(struct last_boot *lb, size_t begin, size_t end,
		       const struct keep_scan *scan)
{
	const void *memory = (void *)lb->tr->range_addr_start;
	char name[KSYM_NAME_LEN];
	unsigned long word;
	bool slow;

	for (; begin + sizeof(word) <= end; begin += sizeof(u32)) {
		/* A word that changes is looked at again later. */
		word = data_race(get_unaligned((const unsigned long *)(memory + begin)));
		slow = keep_word(lb, word, scan->module, name);
		/* As long as a page of records takes */
		if (!slow && !IS_ALIGNED(begin, PAGE_SIZE))
			continue;
		if (local_clock() > scan->until)
			return;
		if (!scan->panic)
			cond_resched();
	}
}

static void keep_all_words(struct last_boot *lb, const struct keep_scan *scan)
{
	keep_words(lb, 0, lb->tr->range_addr_size, scan);
}

/* Have all of the memory and all names been looked at since the last record? */
static bool keep_is_quiet(struct last_boot *lb)
{
	struct trace_buffer *buffer = lb->tr->array_buffer.buffer;
	u64 records = ring_buffer_entries(buffer) + ring_buffer_overruns(buffer);
	int cpu;

	/* As many were written: also where a consumer keeps up. */
	for_each_tracing_cpu(cpu)
		records += ring_buffer_read_events_cpu(buffer, cpu);
	if (records != lb->records)
		lb->looked = 0;
	lb->records = records;
	return lb->looked >= lb->tr->range_addr_size;
}

/* Return: true if there is nothing to do for now. */
static bool keep_step(struct last_boot *lb)
{
	size_t begin = lb->scanned, end = min(begin + KEEP_STEP, lb->tr->range_addr_size);
	bool quiet = keep_is_quiet(lb);

	keep_moment(lb);
	if (!quiet) {
		trace_each_cmdline(keep_task, lb, true);
		keep_words(lb, begin, end, &(struct keep_scan){ .until = U64_MAX });
		lb->scanned = end < lb->tr->range_addr_size ? end : 0;
		lb->looked += end - begin;
	}
	/* It has changed while the area began. */
	if (lb->clock_id != lb->tr->clock_id)
		keep_clock(lb);
	if (!lb->settled && system_state == SYSTEM_RUNNING)
		keep_settle(lb);
	return quiet;
}

static void keep_work_fn(struct work_struct *work)
{
	bool quiet = true, begun = false;
	struct last_boot *lb;

	guard(mutex)(&event_mutex);
	list_for_each_entry(lb, &keep_all, node) {
		if (!lb->begun)
			continue;
		begun = true;
		quiet &= keep_step(lb);
	}
	if (begun)
		keep_queue(quiet ? KEEP_SECONDS_QUIET : KEEP_SECONDS);
}

/**
 * last_boot_attach() - find the area of the last boot, and store one for the next one
 * @tr:     an instance in memory that survives a reboot
 * @memory: the part of it that the ring buffer has left to the caller, of last_boot_size() bytes
 * @copy:   the memory is a copy, which the next boot will not find: nothing is stored
 *
 * Without memory nothing is known of the last boot, and nothing is stored.
 *
 * Context: Boot, may sleep, event_mutex is held.
 */
void last_boot_attach(struct trace_array *tr, void *memory, bool copy)
{
	size_t size = last_boot_size(tr->range_addr_size);
	struct last_boot *lb = kvzalloc(sizeof(*lb), GFP_KERNEL);
	void *index = kvzalloc(area_index_size(size), GFP_KERNEL);

	lockdep_assert_held(&event_mutex);
	if (!lb || !index) {
		pr_warn("%s: no memory for the description of the last boot's records\n", tr->name);
		if (!copy)
			area_erase(memory);
		kvfree(index);
		kvfree(lb);
		return;
	}
	lb->tr = tr;
	lb->copy = copy;
	raw_spin_lock_init(&lb->lock);
	area_place(&lb->keep, memory, size, index);
	last_boot_recall(lb, size);
	/* Not for the records of this boot, whenever the machine stops. */
	if (!copy)
		area_erase(memory);
	tr->last_boot = lb;
	list_add_tail_rcu(&lb->node, &keep_all);
}

/**
 * last_boot_detach() - free the memory of last_boot_attach()
 * @tr: the instance, which nobody uses any more
 *
 * Context: May sleep, event_mutex is held.
 */
void last_boot_detach(struct trace_array *tr)
{
	struct last_boot *lb = tr->last_boot;

	if (!lb)
		return;
	lockdep_assert_held(&event_mutex);
	list_del_rcu(&lb->node);
	/* A panic may walk the list. */
	synchronize_rcu();
	tr->last_boot = NULL;
	last_boot_forget(lb);
	kvfree(lb->keep.slot);
	kvfree(lb);
}

/* Write the caches back to memory: the ring buffer has done that before. */
static void keep_flush(struct last_boot *lb)
{
	arch_ring_buffer_flush_range((unsigned long)lb->keep.header,
				     (unsigned long)lb->keep.header +
				     last_boot_size(lb->tr->range_addr_size));
}

/**
 * last_boot_keep_panic() - store names of tasks and functions in a panic
 *
 * Other CPUs have stopped, perhaps in the middle of an entry. The records are safe. Lists of tasks
 * and modules may be damaged: names of tasks are safe before a function is looked up.
 *
 * Context: Any context; waits for nothing.
 */
void last_boot_keep_panic(void)
{
	struct keep_scan scan = { .until = local_clock() + KEEP_TIME, .panic = true };
	struct last_boot *lb;

	guard(rcu)();
	list_for_each_entry_rcu(lb, &keep_all, node) {
		if (!lb->begun || raw_spin_is_locked(&lb->lock))
			continue;
		keep_moment(lb);
		trace_each_cmdline(keep_task, lb, false);
		keep_flush(lb);
		keep_running(lb, scan.until);
		keep_flush(lb);
	}
	list_for_each_entry_rcu(lb, &keep_all, node) {
		if (!lb->begun || raw_spin_is_locked(&lb->lock))
			continue;
		keep_all_words(lb, &scan);
		keep_flush(lb);
	}
}

static int keep_panic(struct notifier_block *nb, unsigned long event, void *unused)
{
	last_boot_keep_panic();
	return NOTIFY_DONE;
}

static int keep_reboot(struct notifier_block *nb, unsigned long event, void *unused)
{
	struct keep_scan scan = { .until = local_clock() + KEEP_TIME };
	struct last_boot *lb;

	/* A task that hangs with it does not keep the machine from a reboot. */
	if (!mutex_trylock(&event_mutex))
		return NOTIFY_DONE;
	list_for_each_entry(lb, &keep_all, node) {
		if (!lb->begun)
			continue;
		keep_step(lb);
		keep_running(lb, scan.until);
		keep_all_words(lb, &scan);
	}
	mutex_unlock(&event_mutex);
	return NOTIFY_DONE;
}

/* After the ring buffer has stopped and written the caches back; s390 boots again at INT_MIN. */
static struct notifier_block keep_panic_nb = {
	.notifier_call	= keep_panic,
	.priority	= INT_MIN + 1,
};

static struct notifier_block keep_reboot_nb = {
	.notifier_call	= keep_reboot,
};

#ifdef CONFIG_MODULES
static void keep_coming(struct last_boot *lb)
{
	/* Another module may have been there. */
	memset(lb->recent, 0, sizeof(lb->recent));
	keep_strings(lb);
	if (lb->settled)
		keep_settle(lb);
}

static int keep_module(struct notifier_block *nb, unsigned long event, void *module)
{
	struct keep_scan scan = { .until = U64_MAX, .module = module };
	struct last_boot *lb;

	if (event != MODULE_STATE_COMING && event != MODULE_STATE_GOING)
		return NOTIFY_OK;
	guard(mutex)(&event_mutex);
	list_for_each_entry(lb, &keep_all, node) {
		if (!lb->begun)
			continue;
		if (event == MODULE_STATE_COMING)
			keep_coming(lb);
		else
			keep_all_words(lb, &scan);
	}
	return NOTIFY_OK;
}

/* After trace_printk() has copied the formats of the module, and its enumerations have values */
static struct notifier_block keep_module_nb = {
	.notifier_call	= keep_module,
	.priority	= -1,
};
#endif

static int __init keep_init(void)
{
	struct last_boot *lb;

	guard(mutex)(&event_mutex);
	if (list_empty(&keep_all))
		return 0;
	list_for_each_entry(lb, &keep_all, node)
		keep_begin(lb);
	atomic_notifier_chain_register(&panic_notifier_list, &keep_panic_nb);
	register_reboot_notifier(&keep_reboot_nb);
#ifdef CONFIG_MODULES
	register_module_notifier(&keep_module_nb);
#endif
	keep_ready = true;
	keep_queue(KEEP_SECONDS);
	return 0;
}
early_initcall(keep_init);
