// SPDX-License-Identifier: GPL-2.0
/*
 * The file tracing_on_all: one switch for all ring buffers; and why nothing is recorded.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/ring_buffer.h>
#include <linux/seq_file.h>
#include <linux/workqueue.h>

#include "trace.h"
#include "trace_text.h"

/* The file; NULL if it could not be created */
static struct dentry *on_all_file __ro_after_init;

/*
 * Behind a switch of all, and behind that of one trace array by a CPU in hotplug, which could not
 * do this itself.
 */
static void off_all_tell(struct work_struct *work)
{
	struct trace_array *tr;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		trace_session_switched(tr);
		ring_buffer_wake_waiters(tr->array_buffer.buffer, RING_BUFFER_ALL_CPUS);
	}
}

static DECLARE_WORK(off_all_work, off_all_tell);

static void off_all_queue(struct irq_work *work)
{
	queue_work(system_dfl_wq, &off_all_work);
}

static DEFINE_IRQ_WORK(off_all_irq, off_all_queue);

/* A CPU that comes online sees to it itself, see rb_cpu_starting(). */
static int off_all_dead(unsigned int cpu)
{
	ring_buffer_end_hotplug();
	return 0;
}

/**
 * trace_on_all_permission() - may the writer of a line write tracing_on_all as well?
 * @opener: as of trace_text_permission()
 *
 * Context: As trace_text_permission().
 * Return: 0 or -EACCES.
 */
int trace_on_all_permission(const struct cred *opener)
{
	return on_all_file ? trace_text_permission(on_all_file, MAY_WRITE, opener) : -EACCES;
}

/* Trace arrays that are on record again: an earlier stop is no longer a reason. */
static void on_all(void)
{
	bool were_off = !tracing_is_on_all();
	struct trace_array *tr;

	guard(mutex)(&trace_types_lock);
	tracing_on_all();
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (were_off)
			trace_snapshot_begin_anew(tr);
		if (tracer_tracing_is_on(tr))
			WRITE_ONCE(tr->stopped, false);
	}
}

/**
 * trace_show_off() - print a line for each reason why nothing is recorded
 * @m:    the file "trace"
 * @iter: its iterator
 *
 * Context: May sleep.
 */
void trace_show_off(struct seq_file *m, struct trace_iterator *iter)
{
	struct trace_array *tr = iter->tr;
	struct trace_buffer *buffer = tr->array_buffer.buffer;

	if (iter->snapshot || trace_is_kept(tr))
		return;
	if (!tracing_is_on_all())
		seq_puts(m, "# stopped: tracing_on_all is 0\n");
	if (!tracer_tracing_is_on(tr))
		seq_puts(m, "# stopped: tracing_on is 0\n");
	else if (tracing_is_on_all() && !ring_buffer_is_switched_on(buffer))
		seq_puts(m, "# stopped: tracing_on of the session is 0\n");
	if (!cpumask_intersects(tr->tracing_cpumask, cpu_online_mask))
		seq_puts(m, "# stopped: tracing_cpumask has no CPU that is online\n");
	if (!ring_buffer_is_expanded(buffer))
		seq_puts(m, "# empty: the first event, tracer or marker allocates the buffer\n");
}

static ssize_t on_all_read(struct file *file, char __user *ubuf, size_t count, loff_t *pos)
{
	return simple_read_from_buffer(ubuf, count, pos, tracing_is_on_all() ? "1\n" : "0\n", 2);
}

static ssize_t on_all_write(struct file *file, const char __user *ubuf, size_t count, loff_t *pos)
{
	int on = trace_write_bool(file, ubuf, count);

	if (on < 0)
		return on;
	if (on)
		on_all();
	else
		tracing_off_all();
	return count;
}

static const struct file_operations on_all_fops = {
	.open	= tracing_open_generic,
	.read	= on_all_read,
	.write	= on_all_write,
	.llseek	= generic_file_llseek,
};

static __init int on_all_init(void)
{
	int ret = tracing_init_dentry();

	if (ret)
		return ret;
	on_all_file = trace_create_file("tracing_on_all", TRACE_MODE_WRITE, NULL, NULL,
					&on_all_fops);
	ring_buffer_set_off_work(&off_all_irq);
	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "trace/off_all:dead", NULL,
					off_all_dead);
	return min(ret, 0);
}
fs_initcall(on_all_init);
