// SPDX-License-Identifier: GPL-2.0
/*
 * The file "stop_on": the lines that stop recording, and the stop that has happened.
 */
#include <linux/string_helpers.h>

#include "../trace_text.h"
#include "internal.h"

static const char stop_usage[] =
	"# Write a line to stop recording then, \"!\" and the line to remove it, and an empty\n"
	"# line to remove all:\n"
	"#   panic [all]\n"
	"#   oops [after TIME] [all]\n"
	"#   warn [after TIME] [all]\n"
	"#   event SYSTEM:NAME [if FILTER] [after TIME] [all]\n";

/* @opener: credentials of the task that has opened "stop_on"; NULL for the command line */
static int stop_change(struct trace_array *tr, char *text, struct stop_fault *fault,
		       const struct cred *opener)
{
	bool remove = *text == '!';
	struct stop_spec spec;
	int ret;

	text += remove;
	ret = stop_parse(text, &spec, fault);
	if (ret)
		return ret;
	if (spec.all && opener)
		spec.denied = trace_on_all_permission(opener);
	fault->at = text;
	guard(mutex)(&event_mutex);
	return remove ? stop_remove(tr, &spec, fault) : stop_add(tr, &spec, fault);
}

/**
 * trace_stop_note() - tell in "error_log" that a 1 to tracing_on has no effect
 * @tr: the trace array; nothing is told if it has
 *
 * Context: May sleep.
 */
void trace_stop_note(struct trace_array *tr)
{
	if (!tracing_is_on_all())
		tracing_log(tr, "tracing_on", "note", "1",
			    "tracing_on_all is 0: nothing is recorded", 0);
}

/**
 * trace_stop_change() - add or remove a line of stop_on
 * @tr:   the trace array
 * @text: the line, behind a "!" if it is to be removed; is cut into words
 * @at:   is set to the place of an error in @text
 *
 * The caller has all rights: it takes the line from the command line.
 *
 * Context: May sleep.
 * Return: NULL, or why the line is refused; then nothing has changed.
 */
const char *trace_stop_change(struct trace_array *tr, char *text, const char **at)
{
	struct stop_fault fault;
	int ret = stop_change(tr, text, &fault, NULL);

	*at = fault.at;
	return ret ? fault.why ?: "Invalid filter" : NULL;
}

static int stop_on_change(void *tr, char *text, const struct cred *opener)
{
	struct stop_fault fault = { .why = "No memory for another line" };
	char *copy, *both = NULL;
	int ret;

	if (!*text) {
		stop_remove_all(tr);
		return 0;
	}
	/* stop_change() cuts the copy into words. error_log has the line as it was written. */
	copy = kstrdup(text, GFP_KERNEL);
	ret = copy ? stop_change(tr, copy, &fault, opener) : -ENOMEM;
	if (ret == -EEXIST)
		both = kasprintf(GFP_KERNEL, "%s, has: %s", text, fault.has);
	if (ret && fault.why)
		tracing_log(tr, "stop_on", "error", both ?: text, fault.why, fault.at - copy);
	kfree(both);
	kfree(copy);
	return ret;
}

static void stop_show_cause(struct seq_file *m, struct trace_array *tr, const char *state,
			    const struct stop_cause *cause)
{
	seq_printf(m, "# %s: %s\n", state, cause->line);
	trace_print_time(m, tr, "# cause=", cause->ts);
	if (cause->off)
		trace_print_time(m, tr, " stop=", cause->off);
	seq_printf(m, " cpu=%d pid=%d comm=", cause->cpu, cause->pid);
	/* A program can set its name to anything. */
	seq_escape(m, cause->comm, "\n\\");
	seq_putc(m, '\n');
}

static int stop_on_show(struct seq_file *m, void *v)
{
	struct trace_array *tr = m->private;
	struct stop_cause cause;
	struct stop_line *line;

	guard(mutex)(&event_mutex);
	if (!tr->stop_on || list_empty(&tr->stop_on->lines))
		seq_puts(m, stop_usage);
	if (!tr->stop_on)
		return 0;
	list_for_each_entry(line, &tr->stop_on->lines, list)
		seq_printf(m, "%s\n", line->text);
	list_for_each_entry(line, &tr->stop_on->lines, list) {
		/*
		 * stop_read() waits for the cause that has set it. Pairs with stop_try_lock:A.
		 * RBB(stop_on_show:A)
		 */
		if (!smp_load_acquire(&line->pending))
			continue;
		stop_read(&line->later, &cause);
		stop_show_cause(m, tr, "will stop by", &cause);
	}
	if (stop_read_why(tr, &cause))
		stop_show_cause(m, tr, "stopped by", &cause);
	return 0;
}

static const struct trace_text_file stop_on_file =
	TRACE_TEXT_FILE(stop_on_show, trace_text_write, stop_on_change);

/**
 * trace_array_create_stop_on() - create "stop_on"
 * @tr:  the trace array
 * @dir: its directory
 *
 * Context: May sleep.
 */
void trace_array_create_stop_on(struct trace_array *tr, struct dentry *dir)
{
	trace_create_file("stop_on", TRACE_MODE_WRITE, dir, tr, &stop_on_file.fops);
}
