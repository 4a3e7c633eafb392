// SPDX-License-Identifier: GPL-2.0
/*
 * The recorder: an instance that records from the boot on.
 *
 *   trace_recorder[=[EVENTS][@RESERVED] | off]
 *   trace_recorder_size=SIZE
 *   trace_stop_on=LINE[;LINE]...
 *
 * EVENTS are names with commas between them, as in trace_event=. Those that do not exist yet
 * may come with a module. RESERVED is the name of memory from the parameter reserve_mem=.
 */
#include <linux/init.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/printk.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/setup.h>

#include "../trace.h"
#include "../trace_text.h"
#include "recorder.h"

#undef pr_fmt
#define pr_fmt(fmt) "trace_recorder=: " fmt

static bool recorder_on __initdata = IS_ENABLED(CONFIG_TRACE_RECORDER);
static char recorder_value[COMMAND_LINE_SIZE] __initdata;
static char recorder_size[32] __initdata;
static char recorder_stops[COMMAND_LINE_SIZE] __initdata = "panic";

/* The recorder while it exists, and its events; event_mutex. */
static struct trace_array *recorder;
static char *recorder_events;

static int __init recorder_param(char *str)
{
	/* Another parameter may begin with the same name. */
	if (*str && *str++ != '=')
		return 0;
	recorder_on = strcmp(str, "off");
	strscpy(recorder_value, recorder_on ? str : "");
	return 1;
}
__setup("trace_recorder", recorder_param);

static int __init recorder_size_param(char *str)
{
	strscpy(recorder_size, str);
	return 1;
}
__setup("trace_recorder_size=", recorder_size_param);

static int __init recorder_stops_param(char *str)
{
	strscpy(recorder_stops, str);
	return 1;
}
__setup("trace_stop_on=", recorder_stops_param);

/**
 * recorder_parse_size() - read trace_recorder_size=
 * @text:  a number of KiB, or one with K, M or G behind it
 * @max:   the largest size, in bytes
 * @bytes: is set to the size, if it is valid
 *
 * Context: Any context.
 * Return: false if it is invalid.
 */
bool recorder_parse_size(const char *text, u64 max, unsigned long *bytes)
{
	u64 size;

	if (trace_read_number(text, trace_sizes, min(max, ULONG_MAX), &size) || !size)
		return false;
	*bytes = size;
	return true;
}

/* @mod: only events of this module; NULL for all */
static void recorder_enable(const struct module *mod)
{
	char *next = recorder_events, *event;
	int ret;

	lockdep_assert_held(&event_mutex);
	while ((event = strsep(&next, ","))) {
		ret = *event ? trace_set_module_events(recorder, event, 1, mod) : 0;
		if (ret == -EINVAL && !mod)
			pr_info("there is no event '%s', but a module may bring it\n", event);
		else if (ret && ret != -EINVAL)
			pr_warn("cannot enable '%s': %d\n", event, ret);
		/* For the next module */
		if (next)
			next[-1] = ',';
	}
}

static void __init recorder_add_stops(struct trace_array *tr)
{
	char *next = recorder_stops, *line;
	const char *at, *why;

	while ((line = strsep(&next, ";"))) {
		line = strim(line);
		if (!*line)
			continue;
		why = trace_stop_change(tr, line, &at);
		if (why)
			pr_warn("trace_stop_on=: a line is ignored at '%s': %s\n", at, why);
	}
}

static unsigned long __init recorder_per_cpu(void)
{
	u64 max = (u64)(totalram_pages() / 2 / num_possible_cpus()) << PAGE_SHIFT;
	unsigned long size = 0;

	if (*recorder_size && !recorder_parse_size(recorder_size, max, &size))
		pr_warn("trace_recorder_size=%s is ignored, expected 1 to %llu KiB, or such as 4M\n",
			recorder_size, max >> 10);
	return size;
}

static struct trace_array __init *recorder_create(const char *memory)
{
	const char *snapshot = IS_ENABLED(CONFIG_TRACER_SNAPSHOT) ? "^snapshot" : "";
	char *text = memory ? kasprintf(GFP_KERNEL, "recorder^traceoff%s@%s", snapshot, memory) :
			      kstrdup("recorder", GFP_KERNEL);
	struct trace_array *tr = NULL;
	unsigned long per_cpu;

	if (!text)
		return NULL;
	per_cpu = recorder_per_cpu();
	if (memory && per_cpu)
		pr_warn("trace_recorder_size= is ignored, the memory '%s' has a size\n", memory);
	/* The instance keeps a copy of its name. */
	tr = trace_create_boot_instance(text, memory ? 0 : per_cpu);
	kfree(text);
	return tr;
}

/**
 * trace_recorder_boot() - create the recorder, if it is wanted
 *
 * Context: Boot, may sleep.
 */
void __init trace_recorder_boot(void)
{
	char *memory = recorder_value, *events;
	struct trace_array *tr;

	if (!recorder_on)
		return;
	events = strsep(&memory, "@");
	tr = recorder_create(memory);
	if (!tr)
		return;
	recorder_add_stops(tr);
	guard(mutex)(&event_mutex);
	scoped_guard(mutex, &trace_types_lock)
		set_tracer_flag(tr, TRACE_ITER(OVERWRITE), 1);
	recorder = tr;
	recorder_events = kstrdup(*events ? events : CONFIG_TRACE_RECORDER_EVENTS, GFP_KERNEL);
	if (!recorder_events)
		pr_warn("no memory for the names of its events: it records none\n");
	recorder_enable(NULL);
}

/*
 * The records of the last boot become the snapshot, so that they do not mix with those of
 * this boot.
 */
static int __init recorder_start(void)
{
	struct trace_array *tr = recorder;

	/* In that memory it is never removed, and off until here. */
	if (!tr || !tr->range_addr_start)
		return 0;
	guard(mutex)(&trace_types_lock);
	if (!ring_buffer_empty(tr->array_buffer.buffer))
		tracing_snapshot_instance(tr);
	if (!ring_buffer_empty(tr->array_buffer.buffer))
		pr_warn("the memory has no room for a snapshot of the last boot\n");
	update_last_data(tr);
	tracer_tracing_on(tr);
	return 0;
}
core_initcall(recorder_start);

/**
 * trace_recorder_exit() - forget the recorder
 * @tr: a trace array that is about to be removed
 *
 * Context: event_mutex is held.
 */
void trace_recorder_exit(struct trace_array *tr)
{
	lockdep_assert_held(&event_mutex);
	if (tr == recorder)
		recorder = NULL;
}

#ifdef CONFIG_MODULES
static int recorder_module(struct notifier_block *self, unsigned long val, void *data)
{
	if (val != MODULE_STATE_COMING)
		return NOTIFY_OK;
	guard(mutex)(&event_mutex);
	if (recorder)
		recorder_enable(data);
	return NOTIFY_OK;
}

/* After trace_module_notify(), which adds the events, and before the module runs. */
static struct notifier_block recorder_module_nb = {
	.notifier_call	= recorder_module,
	.priority	= 0,
};

static int __init recorder_module_init(void)
{
	return register_module_notifier(&recorder_module_nb);
}
early_initcall(recorder_module_init);
#endif /* CONFIG_MODULES */
