// SPDX-License-Identifier: GPL-2.0
/*
 * The instance that shows a kept snapshot: NAME@SEQ.
 */
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>
#include <linux/tracefs.h>

#include "internal.h"

static ssize_t
kept_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return -EPERM;
}

/*
 * "trace-cmd extract" opens it for writing when it is done, to empty it, and ends
 * where it can't.
 */
static int kept_trace_open(struct inode *inode, struct file *file)
{
	file->f_flags &= ~O_TRUNC;
	return tracing_open(inode, file);
}

static const struct file_operations kept_trace_fops = {
	.open		= kept_trace_open,
	.read		= seq_read,
	.read_iter	= seq_read_iter,
	.splice_read	= copy_splice_read,
	.write		= kept_write,
	.llseek		= tracing_lseek,
	.release	= tracing_release,
};

/*
 * No event is enabled. But tools disable all of them when they are done, and
 * "trace-cmd extract" ends where it can't open the file for that.
 */
static ssize_t kept_enable_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return simple_read_from_buffer(ubuf, cnt, ppos, "0\n", 2);
}

const struct file_operations trace_kept_enable_fops = {
	.open		= tracing_open_generic_tr,
	.read		= kept_enable_read,
	.write		= kept_write,
	.release	= tracing_release_generic_tr,
};

/*
 * Each CPU's ring has the size of its records. A program such as Perfetto reads no more
 * pages of a CPU than are in this file, so it holds the largest size, not "X".
 */
static ssize_t kept_size_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file_inode(file)->i_private;
	unsigned long size = 0;
	char buf[24];
	int cpu, len;

	for_each_tracing_cpu(cpu)
		size = max(size, per_cpu_ptr(tr->array_buffer.data, cpu)->entries);
	len = scnprintf(buf, sizeof(buf), "%lu\n", size >> 10);
	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static const struct file_operations kept_size_fops = {
	.open		= tracing_open_generic_tr,
	.read		= kept_size_read,
	.write		= kept_write,
	.llseek		= generic_file_llseek,
	.release	= tracing_release_generic_tr,
};

/* Of the instance, and of each CPU; all for reading only. */
static const struct snap_kept_file {
	const char			*name;
	const struct file_operations	*fops;
	bool				open;	/* for writing, but then nothing can be */
} kept_files[] = {
	{ "trace",			&kept_trace_fops, true },
	{ "trace_pipe",			&tracing_pipe_fops },
	{ "trace_clock",		&trace_clock_fops },
	{ "trace_options",		&tracing_iter_fops },
	{ "saved_cmdlines",		&tracing_saved_cmdlines_fops },
	{ "saved_tgids",		&tracing_saved_tgids_fops },
	{ "timestamp_mode",		&trace_time_stamp_mode_fops },
	{ "current_tracer",		&set_tracer_fops },
	{ "tracing_on",			&rb_simple_fops },
	{ "buffer_size_kb",		&kept_size_fops },
	{ "buffer_total_size_kb",	&tracing_total_entries_fops },
	{ "buffer_subbuf_size_kb",	&buffer_subbuf_size_fops },
	{ "snapshots",			&trace_snapshots_fops },
}, kept_cpu_files[] = {
	{ "trace",			&kept_trace_fops, true },
	{ "trace_pipe",			&tracing_pipe_fops },
	{ "trace_pipe_raw",		&tracing_buffers_fops },
	{ "stats",			&tracing_stats_fops },
	{ "buffer_size_kb",		&tracing_entries_fops },
};

static struct lock_class_key kept_mutex;

/*
 * Most functions of these files write as well. Root may, whatever the mode says; but
 * nobody may write to an immutable file.
 */
static int snap_create_files(struct trace_array *tr, struct dentry *dir, int cpu,
			     const struct snap_kept_file *files, unsigned int nr)
{
	const umode_t mode = TRACE_MODE_READ;
	struct dentry *dentry;

	for (; nr; nr--, files++) {
		dentry = trace_create_cpu_file(files->name, mode, dir, tr, cpu, files->fops);
		if (!dentry)
			return -ENOMEM;
		if (!files->open)
			d_inode(dentry)->i_flags |= S_IMMUTABLE;
	}
	return 0;
}

static int snap_create_cpu_dirs(struct trace_array *tr)
{
	struct dentry *dir = tracefs_create_dir("per_cpu", tr->dir), *cpu_dir;
	char name[16];
	int cpu, ret;

	if (!dir)
		return -ENOMEM;
	for_each_tracing_cpu(cpu) {
		snprintf(name, sizeof(name), "cpu%d", cpu);
		cpu_dir = tracefs_create_dir(name, dir);
		if (!cpu_dir)
			return -ENOMEM;
		ret = snap_create_files(tr, cpu_dir, cpu, kept_cpu_files,
					ARRAY_SIZE(kept_cpu_files));
		if (ret)
			return ret;
	}
	return 0;
}

/* Nobody finds a trace array through them yet. */
static int snap_create_dir(struct trace_array *tr, struct trace_array *from)
{
	int ret;

	/* The user may have given the name to an instance. */
	if (trace_array_find(tr->name))
		return -EEXIST;
	tr->dir = tracefs_create_dir(tr->name, trace_instance_dir);
	if (!tr->dir)
		return -ENOMEM;
	ret = snap_create_files(tr, tr->dir, RING_BUFFER_ALL_CPUS, kept_files,
				ARRAY_SIZE(kept_files));
	ret = ret ?: event_trace_add_kept(tr, from);
	return ret ?: snap_create_cpu_dirs(tr);
}

static void snap_remove_dir(struct trace_array *tr)
{
	event_trace_del_kept(tr);
	tracefs_remove(tr->dir);
	tr->dir = NULL;
}

static void snap_free_array(struct trace_array *tr)
{
	trace_snapshot_exit(tr);
	free_cpumask_var(tr->pipe_cpumask);
	kfree(tr->name);
	kfree(tr);
}

/* What is as it was when the snapshot was taken, or nearly so. */
static void snap_inherit(struct trace_array *tr, struct trace_snap *snap)
{
	struct trace_array *from = snap->buf.tr;
	struct tracer *t = from->current_trace;

	/* A latency tracer shows what it has kept itself. */
	tr->current_trace = t->allow_instances && !t->use_max_tr ? t : &nop_trace;
	tr->clock_id = snap->clock_id;
	/* Nothing is recorded, so nothing has to be stopped. */
	tr->trace_flags = from->trace_flags &
			  ~(TRACE_ITER_PAUSE_ON_TRACE | TRACE_ITER_PRINTK | TRACE_ITER_MARKERS);
}

static struct trace_array *snap_alloc_array(struct trace_snap *snap)
{
	struct trace_array *from = snap->buf.tr, *tr = kzalloc(sizeof(*tr), GFP_KERNEL);
	int cpu;

	if (!tr)
		return NULL;
	tr->name = kasprintf(GFP_KERNEL, "%s@%llu", from->name ?: "top", snap->seq);
	if (!tr->name || !zalloc_cpumask_var(&tr->pipe_cpumask, GFP_KERNEL) || snap_init(tr)) {
		snap_free_array(tr);
		return NULL;
	}
	/* It comes behind that of the owner. */
	lockdep_set_class(&tr->snapshots->mutex, &kept_mutex);
	tr->snapshots->shows = snap;
	INIT_LIST_HEAD(&tr->systems);
	INIT_LIST_HEAD(&tr->events);
	ftrace_init_trace_array(tr);

	tr->array_buffer = snap->buf;
	tr->array_buffer.tr = tr;
	for_each_tracing_cpu(cpu)
		per_cpu_ptr(tr->array_buffer.data, cpu)->entries =
			ring_buffer_size(tr->array_buffer.buffer, cpu);
	tr->ring_buffer_expanded = true;
	snap_inherit(tr, snap);
	return tr;
}

/**
 * snap_publish() - make the instance that shows a kept snapshot
 * @s:    whose
 * @snap: that somebody holds
 *
 * Context: May sleep, event_mutex, trace_types_lock and &trace_snapshots.mutex are held.
 * Return: 0; -ENOMEM; -EEXIST if there is an instance of that name.
 */
int snap_publish(struct trace_snapshots *s, struct trace_snap *snap)
{
	struct trace_array *tr = snap_alloc_array(snap);
	int ret;

	if (!tr)
		return -ENOMEM;
	ret = snap_create_dir(tr, snap->buf.tr);
	if (ret) {
		snap_remove_dir(tr);
		snap_free_array(tr);
		return ret;
	}
	/* Events that are registered later are of no system that it has. */
	tr->system_names = "";
	ring_buffer_record_off(snap->buf.buffer);
	snap->kept = tr;
	tr->ref = 1;
	list_add(&tr->list, &ftrace_trace_arrays);
	return 0;
}

/**
 * snap_forget_kept() - the end of snap_publish()
 * @s:    whose
 * @snap: that is not shown any more, and the instance is not open
 *
 * Context: May sleep, the same are held.
 */
void snap_forget_kept(struct trace_snapshots *s, struct trace_snap *snap)
{
	snap_free_array(snap->kept);
	snap->kept = NULL;
	snap_unhold(snap);
}

/**
 * snap_retire() - let the instance of a kept snapshot go
 * @s:    whose
 * @snap: which
 *
 * It can't be opened any more.
 *
 * Context: May sleep, the same are held.
 * Return: true if somebody has it open: then snap_forget_kept() has to follow when
 *         &trace_array.ref is 0. Else that was done here.
 */
bool snap_retire(struct trace_snapshots *s, struct trace_snap *snap)
{
	struct trace_array *tr = snap->kept;

	list_del(&tr->list);
	snap_remove_dir(tr);
	if (--tr->ref)
		return true;
	snap_forget_kept(s, snap);
	return false;
}
