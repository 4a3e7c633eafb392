/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stops: functions that the files of this directory share.
 *
 * Each file calls only files above it in this list:
 *
 *   parse.c  read a line of stop_on
 *   stop.c   stop a trace array or all ring buffers, at once or later
 *   crash.c  stops by a panic, an oops, a warning
 *   line.c   add and remove lines; stops by an event
 *   file.c   the file "stop_on"
 */
#ifndef _KERNEL_TRACE_STOP_INTERNAL_H
#define _KERNEL_TRACE_STOP_INTERNAL_H

/* For all files of this directory, with what trace.h includes. */
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../trace.h"

/**
 * DOC: stops of a trace array
 *
 * The first line gives a trace array its &struct trace_stop, which stays until the trace array is
 * removed. event_mutex serializes changes of the lines. stop_mutex, which is innermost, lets
 * trace_stop_cancel() walk them.
 *
 * A &struct stop_record has the cause of a stop: &trace_stop.why that of the last stop, and
 * &stop_line.later that of a stop that the timer of the line will make. A CPU locks the record in
 * any context by stop_try_lock(), and never waits there: if the record is locked, an NMI or another
 * CPU is describing a cause already. Preemption is off while a record is locked, so a task on
 * another CPU may wait. Readers try again if &stop_record.seq has changed.
 *
 * A line with "all" switches off its trace array, and then every ring buffer. tracing_on_all()
 * lets the others record again; that trace array stays off, and keeps the reason. If it was
 * switched on before tracing_on_all(), it keeps the reason until then.
 *
 * A cause throws the switches also if it finds &trace_stop.why locked. Before that it sets
 * &trace_array.stopped. tracer_tracing_on(), which can be called in any context, clears the flag
 * after it has switched on. So a trace array that is off while the flag is set was stopped by
 * &trace_stop.why. A start and a stop at the same time may leave it off without a reason, but
 * never with the reason of an earlier stop. The flag is not in &struct trace_stop, because triggers
 * that start the trace array may outlive that.
 *
 * The first cause claims &stop_line.later, and sets &stop_line.pending. The timer or
 * stop_line_cancel() releases it. A cause finds its line under RCU or in a probe; removing a line
 * waits for both.
 *
 * **Barriers.** Each pair has a test in Documentation/litmus-tests/tracing/.
 *
 * ==================  ==================  ======================================
 * Writer              Reader              What it orders
 * ==================  ==================  ======================================
 * stop_unlock:A       stop_read:A         the cause; the even number
 * stop_try_lock:A     stop_read:B         the odd number; a part of the next cause
 * stop_try_lock:A     stop_on_show:A      the odd number; &stop_line.pending
 * stop_try_lock:A     stop_read_why:A     the odd number; &trace_array.stopped
 * stop_line_timer:A   stop_try_lock:A     reads of the cause; &stop_line.pending, against
 *                                         the next cause
 * ==================  ==================  ======================================
 *
 * &trace_array.stopped and the switch need none: each change of the switch is fully ordered.
 */

/* The longest line of stop_on, with its end */
#define STOP_LINE_SIZE	256

/* Causes that stop recording. Those before STOP_EVENT are crashes. */
enum stop_kind {
	STOP_PANIC,
	STOP_OOPS,
	STOP_WARN,
	STOP_EVENT,
};

/**
 * struct stop_fault - why a line is refused
 * @why: text for error_log; NULL if that has one already
 * @at:  place of the error in the line
 * @has: with -EEXIST, the line that the cause has
 */
struct stop_fault {
	const char	*why;
	const char	*at;
	char		has[STOP_LINE_SIZE];
};

static inline int stop_fail(struct stop_fault *fault, int err, const char *why)
{
	fault->why = why;
	return err;
}

/**
 * struct stop_spec - a line of stop_on, in parts
 * @kind:   the cause
 * @system: system of the event
 * @event:  name of the event
 * @filter: filter of the event, or NULL
 * @time:   text of @after, or NULL
 * @after:  time from the cause to the stop, in nanoseconds
 * @all:    stop every ring buffer
 * @denied: error of a line with @all that is new; 0 if the writer may add it
 */
struct stop_spec {
	enum stop_kind	kind;
	const char	*system, *event, *filter, *time;
	u64		after;
	bool		all;
	int		denied;
};

/**
 * struct stop_cause - the cause of a stop
 * @ts:   time of the cause, by the clock of the trace array
 * @off:  time of the stop; no record of CPU @cpu is later, if the stop was not delayed
 * @cpu:  CPU of the cause
 * @pid:  task that ran there
 * @comm: name of the task
 * @line: the line of stop_on
 */
struct stop_cause {
	u64		ts, off;
	int		cpu;
	pid_t		pid;
	char		comm[TASK_COMM_LEN];
	char		line[STOP_LINE_SIZE];
};

/**
 * struct stop_record - a stop that has happened, or will
 * @seq:   odd while it is locked
 * @cause: its cause; changes only while @seq is odd
 */
struct stop_record {
	atomic_t		seq;
	struct stop_cause	cause;
};

/**
 * struct stop_line - a line of stop_on
 * @list:    entry of &trace_stop.lines
 * @crash:   entry of the list of all lines of crashes, or empty
 * @tr:      the trace array
 * @kind:    the cause
 * @file:    the event
 * @trigger: the trigger of @file
 * @after:   time from the cause to the stop, in nanoseconds
 * @at:      end of that time, in nanoseconds of CLOCK_MONOTONIC
 * @all:     stop every ring buffer
 * @pending: @timer will make a stop
 * @later:   that stop
 * @start:   starts @timer
 * @timer:   makes the stop
 * @text:    the line
 */
struct stop_line {
	struct list_head		list;
	struct list_head		crash;
	struct trace_array		*tr;
	enum stop_kind			kind;
	struct trace_event_file		*file;
	struct event_trigger_data	*trigger;
	u64				after, at;
	bool				all;
	bool				pending;
	struct stop_record		later;
	struct irq_work			start;
	struct hrtimer			timer;
	char				text[STOP_LINE_SIZE];
};

/**
 * struct trace_stop - stops of a trace array
 * @lines: the lines of stop_on
 * @why:   the last stop that has happened, see &trace_array.stopped
 */
struct trace_stop {
	struct list_head	lines;
	struct stop_record	why;
};

/* Names of the kinds */
extern const char * const stop_kinds[STOP_EVENT + 1];
/* For &trace_stop.lines, see DOC: stops of a trace array */
extern struct mutex stop_mutex;

/* parse.c */
int stop_parse(char *text, struct stop_spec *spec, struct stop_fault *fault);
bool stop_print(const struct stop_spec *spec, char *text);

/* stop.c */
void stop_by(struct stop_line *line);
void stop_line_init(struct stop_line *line);
void stop_line_cancel(struct stop_line *line);
void stop_read(struct stop_record *rec, struct stop_cause *cause);
bool stop_read_why(struct trace_array *tr, struct stop_cause *cause);

/* crash.c */
void stop_crash_add(struct stop_line *line);
void stop_crash_del(struct stop_line *line);
bool stop_oops(bool last);

/* line.c */
int stop_add(struct trace_array *tr, const struct stop_spec *spec, struct stop_fault *fault);
int stop_remove(struct trace_array *tr, const struct stop_spec *spec, struct stop_fault *fault);
void stop_remove_all(struct trace_array *tr);

#endif /* _KERNEL_TRACE_STOP_INTERNAL_H */
