// SPDX-License-Identifier: GPL-2.0
/*
 * The file "tracing_max_latency", and the notification of its watchers.
 */
#include <linux/dcache.h>
#include <linux/fsnotify.h>
#include <linux/irq_work.h>
#include <linux/workqueue.h>

#include "internal.h"

#ifdef LATENCY_FS_NOTIFY
static void latency_work(struct work_struct *work)
{
	struct trace_array *tr = container_of(work, struct trace_array, fsnotify_work);

	fsnotify_inode(d_inode(tr->d_max_latency), FS_MODIFY);
}

static void latency_irq_work(struct irq_work *irq_work)
{
	struct trace_array *tr = container_of(irq_work, struct trace_array, fsnotify_irqwork);

	queue_work(system_dfl_wq, &tr->fsnotify_work);
}

/**
 * latency_fsnotify() - notify watchers of "tracing_max_latency" of a change
 * @tr: the trace array; nothing happens before it has the file
 *
 * Context: Any context, also in the scheduler, where no work can be queued.
 */
void latency_fsnotify(struct trace_array *tr)
{
	/* Pairs with the release in trace_create_maxlat_file(): the work is initialized. */
	if (smp_load_acquire(&tr->d_max_latency))
		irq_work_queue(&tr->fsnotify_irqwork);
}

static void latency_init(struct trace_array *tr)
{
	INIT_WORK(&tr->fsnotify_work, latency_work);
	init_irq_work(&tr->fsnotify_irqwork, latency_irq_work);
}

static void latency_wait(struct trace_array *tr)
{
	irq_work_sync(&tr->fsnotify_irqwork);
	cancel_work_sync(&tr->fsnotify_work);
}
#else
static inline void latency_init(struct trace_array *tr) { }
static inline void latency_wait(struct trace_array *tr) { }
#endif /* LATENCY_FS_NOTIFY */

/**
 * trace_forget_maxlat() - wait until watchers are notified
 * @tr: the trace array; no tracer of it runs
 *
 * Context: May sleep.
 */
void trace_forget_maxlat(struct trace_array *tr)
{
	if (tr->d_max_latency)
		latency_wait(tr);
}

static ssize_t latency_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file->private_data;

	return tracing_nsecs_read(&tr->max_latency, ubuf, cnt, ppos);
}

static ssize_t latency_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file->private_data;

	return tracing_nsecs_write(&tr->max_latency, ubuf, cnt, ppos);
}

static const struct file_operations latency_fops = {
	.open		= tracing_open_generic_tr,
	.read		= latency_read,
	.write		= latency_write,
	.llseek		= generic_file_llseek,
	.release	= tracing_release_generic_tr,
};

/**
 * trace_create_maxlat_file() - create "tracing_max_latency"
 * @tr:  the trace array
 * @dir: its directory
 *
 * Context: May sleep.
 */
void trace_create_maxlat_file(struct trace_array *tr, struct dentry *dir)
{
	struct dentry *dentry;

	latency_init(tr);
	dentry = trace_create_file("tracing_max_latency", TRACE_MODE_WRITE, dir, tr,
				   &latency_fops);
	/* Pairs with latency_fsnotify(). */
	smp_store_release(&tr->d_max_latency, dentry);
}
