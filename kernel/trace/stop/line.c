// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of stop_on: add and remove them; stops by an event.
 *
 * An event stops by a trigger that no trigger file can set or remove. It runs after the event is
 * committed. It is the last one in the list of its event, so that a snapshot trigger runs
 * before.
 */
#include <linux/rculist.h>

#include "internal.h"

static void stop_trigger(struct event_trigger_data *data, struct trace_buffer *buffer, void *rec,
			 struct ring_buffer_event *event)
{
	stop_by(data->private_data);
}

/* Scripts remove each line of a trigger file that is no comment. */
static int stop_trigger_print(struct seq_file *m, struct event_trigger_data *data)
{
	struct stop_line *line = data->private_data;

	seq_printf(m, "# stop_on: %s\n", line->text);
	return 0;
}

/* The trigger is on no list. The triggers of a trace array can be removed before its lines. */
static void stop_trigger_free(struct event_trigger_data *data)
{
	struct stop_line *line = data->private_data;

	line->trigger = NULL;
	/* The line can be freed next, so no probe may use it, unless all triggers have waited. */
	if (!(data->flags & EVENT_TRIGGER_FL_GOING)) {
		trace_wait_for_probes();
		data->flags |= EVENT_TRIGGER_FL_GOING;
	}
	trigger_data_free(data);
}

/* The command is not registered: only stop_on sets it. */
static struct event_command stop_command = {
	.name		= "stop_on",
	.trigger_type	= ETT_STOP_ON,
	.flags		= EVENT_CMD_FL_POST_TRIGGER,
	.set_filter	= set_trigger_filter,
	.trigger	= stop_trigger,
	.print		= stop_trigger_print,
	.free		= stop_trigger_free,
};

static void stop_disarm_event(struct stop_line *line)
{
	if (!line->trigger)
		return;
	list_del_rcu(&line->trigger->list);
	trace_event_trigger_enable_disable(line->file, 0);
	update_cond_flag(line->file);
	stop_trigger_free(line->trigger);
}

static int stop_no_memory(struct stop_fault *fault)
{
	return stop_fail(fault, -ENOMEM, "No memory for another line");
}

/* create_event_filter() reports an error of the filter. */
static int stop_set_filter(struct stop_line *line, const char *filter, struct stop_fault *fault)
{
	char *text;
	int ret;

	if (!filter)
		return 0;
	text = kasprintf(GFP_KERNEL, "if %s", filter);
	ret = text ? set_trigger_filter(text, line->trigger, line->file) : -ENOMEM;
	kfree(text);
	if (ret == -ENOMEM)
		return stop_no_memory(fault);
	return ret ? stop_fail(fault, -EINVAL, NULL) : 0;
}

static int stop_arm_event(struct stop_line *line, const char *filter, struct stop_fault *fault)
{
	struct trace_event_file *file = line->file;
	int ret;

	line->trigger = trigger_data_alloc(&stop_command, NULL, NULL, line);
	if (!line->trigger)
		return stop_no_memory(fault);
	ret = stop_set_filter(line, filter, fault);
	if (ret) {
		stop_trigger_free(line->trigger);
		return ret;
	}
	list_add_tail_rcu(&line->trigger->list, &file->triggers);
	update_cond_flag(file);
	ret = trace_event_trigger_enable_disable(file, 1);
	if (ret >= 0)
		return 0;
	stop_disarm_event(line);
	stop_line_cancel(line);
	return ret == -ENOMEM ? stop_no_memory(fault) :
				stop_fail(fault, -EBUSY, "The event cannot be enabled");
}

/* The line is on its list, so its delayed stop can be cancelled as soon as there is one. */
static int stop_arm(struct stop_line *line, const struct stop_spec *spec, struct stop_fault *fault)
{
	if (line->kind == STOP_EVENT)
		return stop_arm_event(line, spec->filter, fault);
	guard(mutex)(&stop_mutex);
	stop_crash_add(line);
	return 0;
}

/* No cause finds the line any more, and no stop is pending. */
static void stop_free(struct stop_line *line)
{
	scoped_guard(mutex, &stop_mutex)
		list_del(&line->list);
	kfree(line);
}

static void stop_remove_line(struct stop_line *line)
{
	if (line->kind == STOP_EVENT) {
		stop_disarm_event(line);
	} else {
		scoped_guard(mutex, &stop_mutex)
			stop_crash_del(line);
		/* A crash may have found it before. */
		synchronize_rcu();
	}
	stop_line_cancel(line);
	stop_free(line);
}

static bool stop_is_of(const struct stop_line *line, const struct stop_spec *spec)
{
	const struct trace_event_call *call;

	if (line->kind != spec->kind)
		return false;
	if (line->kind != STOP_EVENT)
		return true;
	call = line->file->event_call;
	return !strcmp(call->class->system, spec->system) &&
	       !strcmp(trace_event_name((struct trace_event_call *)call), spec->event);
}

/* A cause has one line at most. */
static struct stop_line *stop_find(struct trace_stop *stop, const struct stop_spec *spec)
{
	struct stop_line *line;

	if (!stop)
		return NULL;
	list_for_each_entry(line, &stop->lines, list) {
		if (stop_is_of(line, spec))
			return line;
	}
	return NULL;
}

/* Is @spec this line? @has is set to the text of the line. */
static bool stop_is_line(const struct stop_line *line, const struct stop_spec *spec, char *has)
{
	char text[STOP_LINE_SIZE];

	strscpy(has, line->text, STOP_LINE_SIZE);
	return stop_print(spec, text) && !strcmp(text, has);
}

static struct trace_event_file *stop_find_event(struct trace_array *tr,
						const struct stop_spec *spec)
{
	struct trace_event_file *file = __find_event_file(tr, spec->system, spec->event);

	/* trace_marker calls triggers, too, though its event cannot be enabled. */
	if (file && file->event_call->event.type == TRACE_PRINT)
		return file;
	return find_event_file(tr, spec->system, spec->event);
}

static struct trace_stop *stop_of(struct trace_array *tr)
{
	struct trace_stop *stop = tr->stop_on;

	if (stop)
		return stop;
	stop = kzalloc(sizeof(*stop), GFP_KERNEL);
	if (!stop)
		return NULL;
	INIT_LIST_HEAD(&stop->lines);
	scoped_guard(mutex, &stop_mutex)
		tr->stop_on = stop;
	return stop;
}

/**
 * stop_add() - add a line
 * @tr:    the trace array
 * @spec:  the line
 * @fault: is set to the reason of an error
 *
 * Context: May sleep, event_mutex is held.
 * Return: 0, also if it has this line; -EEXIST if the cause has another line; &stop_spec.denied;
 *	   -ENOENT if there is no such event; -EINVAL for its filter, or a line that is too long;
 *	   -EBUSY if the event cannot be enabled; -ENOMEM. On an error nothing has changed.
 */
int stop_add(struct trace_array *tr, const struct stop_spec *spec, struct stop_fault *fault)
{
	struct trace_event_file *file = NULL;
	struct stop_line *line = stop_find(tr->stop_on, spec);
	struct trace_stop *stop;
	int ret;

	lockdep_assert_held(&event_mutex);
	if (line && stop_is_line(line, spec, fault->has))
		return 0;
	if (line)
		return stop_fail(fault, -EEXIST, "This cause has another line: remove that first");
	if (spec->all && spec->denied)
		return stop_fail(fault, spec->denied,
				 "Not permitted: all needs the right to write tracing_on_all");
	if (spec->kind == STOP_EVENT) {
		if (trace_array_add_events(tr))
			return stop_no_memory(fault);
		file = stop_find_event(tr, spec);
		if (!file) {
			fault->at = spec->system;
			return stop_fail(fault, -ENOENT, "No such event in this instance");
		}
	}
	stop = stop_of(tr);
	line = stop ? kzalloc(sizeof(*line), GFP_KERNEL) : NULL;
	if (!line)
		return stop_no_memory(fault);
	line->tr = tr;
	line->kind = spec->kind;
	line->file = file;
	line->all = spec->all;
	line->after = spec->after;
	stop_line_init(line);
	if (!stop_print(spec, line->text)) {
		kfree(line);
		return stop_fail(fault, -EINVAL,
				 "The line is too long, expected 255 characters at most");
	}
	scoped_guard(mutex, &stop_mutex)
		list_add_tail(&line->list, &stop->lines);
	ret = stop_arm(line, spec, fault);
	if (ret)
		stop_free(line);
	return ret;
}

/**
 * stop_remove() - remove a line
 * @tr:    the trace array
 * @spec:  the line, or its cause only
 * @fault: is set to the reason of an error
 *
 * Its delayed stop is cancelled.
 *
 * Context: May sleep, event_mutex is held.
 * Return: 0, or -ENOENT if there is no such line.
 */
int stop_remove(struct trace_array *tr, const struct stop_spec *spec, struct stop_fault *fault)
{
	struct stop_line *line = stop_find(tr->stop_on, spec);

	lockdep_assert_held(&event_mutex);
	if (!line || ((spec->filter || spec->time || spec->all) &&
		      !stop_is_line(line, spec, fault->has)))
		return stop_fail(fault, -ENOENT, "No such line");
	stop_remove_line(line);
	return 0;
}

/**
 * stop_remove_all() - remove all lines of a trace array
 * @tr: the trace array
 *
 * Delayed stops are cancelled.
 *
 * Context: May sleep, takes event_mutex.
 */
void stop_remove_all(struct trace_array *tr)
{
	struct stop_line *line, *next;

	guard(mutex)(&event_mutex);
	if (!tr->stop_on)
		return;
	list_for_each_entry_safe(line, next, &tr->stop_on->lines, list)
		stop_remove_line(line);
}

/**
 * trace_stop_remove_event() - remove the line of an event
 * @file: the event of a trace array, which is about to go
 *
 * Context: May sleep, event_mutex is held.
 */
void trace_stop_remove_event(struct trace_event_file *file)
{
	struct stop_line *line;

	lockdep_assert_held(&event_mutex);
	if (!file->tr->stop_on)
		return;
	list_for_each_entry(line, &file->tr->stop_on->lines, list) {
		if (line->file == file) {
			stop_remove_line(line);
			return;
		}
	}
}

/**
 * trace_stop_exit() - let no crash stop a trace array any more
 * @tr: the trace array, which is about to be removed
 *
 * A crash that has found a line may use it until the end of a grace period. Events stop with
 * the triggers, which are removed as well.
 *
 * Context: May sleep, event_mutex is held.
 */
void trace_stop_exit(struct trace_array *tr)
{
	struct stop_line *line;

	lockdep_assert_held(&event_mutex);
	if (!tr->stop_on)
		return;
	guard(mutex)(&stop_mutex);
	list_for_each_entry(line, &tr->stop_on->lines, list) {
		if (line->kind != STOP_EVENT)
			stop_crash_del(line);
	}
}

/**
 * trace_stop_free() - free all lines of a trace array
 * @tr: the trace array; it has no triggers, and a grace period has passed since
 *	trace_stop_exit()
 *
 * Delayed stops are cancelled.
 *
 * Context: May sleep, event_mutex is held.
 */
void trace_stop_free(struct trace_array *tr)
{
	struct stop_line *line, *next;

	lockdep_assert_held(&event_mutex);
	if (!tr->stop_on)
		return;
	list_for_each_entry_safe(line, next, &tr->stop_on->lines, list) {
		stop_line_cancel(line);
		stop_free(line);
	}
	kfree(tr->stop_on);
	tr->stop_on = NULL;
}
