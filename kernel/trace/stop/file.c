// SPDX-License-Identifier: GPL-2.0
/*
 * The file "stop_on": the lines that stop recording, and the stop that has happened.
 */
#include <linux/fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
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

static const struct stop_failure {
	int		ret;
	const char	*text;
} stop_failures[] = {
	[STOP_ERR_KIND] = { -EINVAL, "Expected panic, oops, warn or event SYSTEM:NAME" },
	[STOP_ERR_NAME] = { -EINVAL, "Expected an event as SYSTEM:NAME" },
	[STOP_ERR_REST] = { -EINVAL, "Expected if FILTER (of events), after TIME, all or the end" },
	[STOP_ERR_TIME] = { -EINVAL, "Invalid time, expected a whole number with a unit: 5ms" },
	[STOP_ERR_PANIC_AFTER] = { -EINVAL, "panic cannot have a delay: no timer runs then" },
	[STOP_ERR_LONG] = { -EINVAL, "The line is too long, expected 255 characters at most" },
	[STOP_ERR_NO_EVENT] = { -ENOENT, "No such event in this instance" },
	/* create_event_filter() reports it. */
	[STOP_ERR_FILTER] = { -EINVAL, NULL },
	[STOP_ERR_EXISTS] = { -EEXIST, "This cause has another line: remove that first" },
	[STOP_ERR_NO_LINE] = { -ENOENT, "No such line" },
	[STOP_ERR_MEMORY] = { -ENOMEM, "No memory for another line" },
	[STOP_ERR_ENABLE] = { -EBUSY, "The event cannot be enabled" },
};

/* @has: is set to the line that its cause has, with STOP_ERR_EXISTS */
static enum stop_err stop_change(struct trace_array *tr, char *text, const char **at, char *has)
{
	struct stop_spec spec;
	enum stop_err err;
	bool remove = *text == '!';

	text += remove;
	err = stop_parse(text, &spec, at);
	if (err)
		return err;
	guard(mutex)(&event_mutex);
	err = remove ? stop_remove(tr, &spec) : stop_add(tr, &spec, has);
	*at = err == STOP_ERR_NO_EVENT ? spec.system : text;
	return err;
}

/**
 * trace_stop_note() - tell in "error_log" that a 1 to tracing_on has no effect
 * @tr: the trace array; nothing is told if it has
 *
 * Context: May sleep.
 */
void trace_stop_note(struct trace_array *tr)
{
	static const char *const notes[] = { "tracing_on_all is 0: nothing is recorded" };

	if (!tracing_is_on_all())
		tracing_log_note(tr, "tracing_on", "1", notes);
}

/**
 * trace_stop_change() - add or remove a line of stop_on
 * @tr:   the trace array
 * @text: the line, behind a "!" if it is to be removed; is cut into words
 * @at:   is set to the place of an error in @text
 *
 * Context: May sleep.
 * Return: NULL, or why the line is refused; then nothing has changed.
 */
const char *trace_stop_change(struct trace_array *tr, char *text, const char **at)
{
	char has[STOP_LINE_SIZE];
	enum stop_err err = stop_change(tr, text, at, has);

	return err ? stop_failures[err].text ?: "Invalid filter" : NULL;
}

static int stop_fail(struct trace_array *tr, const char *text, enum stop_err err, size_t at,
		     const char *has)
{
	const struct stop_failure *failure = &stop_failures[err];
	char *both = NULL;

	if (err == STOP_ERR_EXISTS)
		both = kasprintf(GFP_KERNEL, "%s, has: %s", text, has);
	if (failure->text)
		tracing_log_err(tr, "stop_on", both ?: text, (const char **)&failure->text, 0, at);
	kfree(both);
	return failure->ret;
}

static int stop_on_change(void *data, char *text)
{
	enum stop_err err = STOP_ERR_MEMORY;
	char *copy, has[STOP_LINE_SIZE];
	const char *at;
	int ret = 0;

	if (!*text) {
		stop_remove_all(data);
		return 0;
	}
	copy = kstrdup(text, GFP_KERNEL);
	at = copy;
	/* It is cut into words; error_log has it as it was. */
	if (copy)
		err = stop_change(data, copy, &at, has);
	if (err)
		ret = stop_fail(data, text, err, at - copy, has);
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
		/* stop_try_lock() comes before it is set: stop_read() waits for its cause. */
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
