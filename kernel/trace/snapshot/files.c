// SPDX-License-Identifier: GPL-2.0
/*
 * The files "snapshot", "snapshots" and per_cpu/cpuN/snapshot[_raw]; errors of all files.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/poll.h>
#include <linux/ring_buffer.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "internal.h"

static const char * const snap_errs[] = {
	[SNAP_ERR_VALUE]	= "Invalid value",
	[SNAP_ERR_MEMORY]	= "No memory for a snapshot of this size",
	[SNAP_ERR_LIMIT]	= "Needs more memory than snapshot_limit_kb allows",
	[SNAP_ERR_HELD]		= "Snapshots have more memory than that already",
	[SNAP_ERR_ENOUGH]	= "snapshot_keep allows no more: remove a kept snapshot",
	[SNAP_ERR_PENDING]	= "A snapshot is pending, see snapshot_delay",
	[SNAP_ERR_ARMED]	= "A trigger needs the snapshot buffer: remove it first",
	[SNAP_ERR_READ]		= "The snapshot is being read: close it first",
	[SNAP_ERR_BUSY]		= "The buffer is being erased or resized: try again",
	[SNAP_ERR_DELAY]	= "Cancelled by a write to snapshot_delay",
	[SNAP_ERR_TRACER]	= "A latency tracer needs it: change current_tracer first",
	[SNAP_ERR_CPU]		= "One CPU's part cannot be freed, or the CPU never was online",
	[SNAP_ERR_PERSIST]	= "Add ^snapshot to trace_instance=, to have room for one",
	[SNAP_ERR_ONE]		= "Memory that survives a reboot has room for one snapshot",
};

/**
 * snap_fail() - tell in error_log why a write fails
 * @tr:   the trace array
 * @file: name of the file
 * @cmd:  the text that was written
 * @err:  the reason, one of SNAP_ERR_*
 * @ret:  the error
 *
 * Context: May sleep.
 * Return: @ret.
 */
int snap_fail(struct trace_array *tr, const char *file, const char *cmd, int err, int ret)
{
	tracing_log_err(tr, file, cmd, (const char **)snap_errs, err, 0);
	return ret;
}

/**
 * snap_copy_value() - copy a value from user space
 * @tr:   the trace array
 * @file: name of the file
 * @buf:  buffer for the value
 * @size: bytes at @buf
 * @ubuf: the value in user space
 * @cnt:  bytes at @ubuf
 *
 * Context: May sleep.
 * Return: the text without blanks around it; -EINVAL if it is too long; -EFAULT.
 */
char *snap_copy_value(struct trace_array *tr, const char *file, char *buf, size_t size,
		      const char __user *ubuf, size_t cnt)
{
	size_t len = min(cnt, size - 1);

	if (copy_from_user(buf, ubuf, len))
		return ERR_PTR(-EFAULT);
	buf[len] = '\0';
	if (len < cnt)
		return ERR_PTR(snap_fail(tr, file, buf, SNAP_ERR_VALUE, -EINVAL));
	return strim(buf);
}

/**
 * trace_snapshot_help() - print help instead of an empty snapshot
 * @m:    the file
 * @iter: its iterator
 *
 * Context: May sleep.
 */
void trace_snapshot_help(struct seq_file *m, struct trace_iterator *iter)
{
	bool all = iter->cpu_file == RING_BUFFER_ALL_CPUS;
	struct trace_snapshots *s = iter->tr->snapshots;
	bool ready;

	mutex_lock(&s->mutex);
	ready = snap_is_ready(s, &s->user);
	mutex_unlock(&s->mutex);

	seq_printf(m, "#\n# * Snapshot is %s *\n#\n", ready ? "allocated" : "freed");
	seq_puts(m, "# Write to this file\n");
	seq_printf(m, "#   1  to take a snapshot%s, and to allocate memory for it if need be\n",
		   all ? "" : " of this CPU");
	if (all)
		seq_puts(m, "#   0  to free it\n");
	seq_puts(m, "#   2  or another number to erase it, but to keep the memory\n");
}

/**
 * snap_expand() - give the live buffer its full size before a buffer like it is allocated
 * @tr:   the trace array
 * @file: name of the file that was written to
 * @cmd:  the text that was written
 *
 * Memory that survives a reboot has its size from the boot on.
 *
 * Context: May sleep.
 * Return: 0; -ENOMEM, or -ENOSPC as snap_charge(); then error_log tells the reason.
 */
int snap_expand(struct trace_array *tr, const char *file, const char *cmd)
{
	int ret = tr->range_addr_start ? 0 : tracing_update_buffers(tr);

	if (ret >= 0)
		return 0;
	return snap_fail(tr, file, cmd, ret == -ENOSPC ? SNAP_ERR_LIMIT : SNAP_ERR_MEMORY, ret);
}

static bool snap_is_possible(struct trace_array *tr)
{
	return !tr->range_addr_start || tr->flags & TRACE_ARRAY_FL_SNAPSHOT;
}

static int snap_take_now(struct trace_array *tr, const char *cmd, int cpu)
{
	struct snap_waiter waiter = { };
	struct snap_request req = {
		.cpu = cpu,
		.by = SNAP_BY_WRITE,
		.waits = true,
		.waiter = &waiter,
	};
	struct trace_snapshots *s = tr->snapshots;
	int ret = snap_take_wait(s, &s->user, &req);

	if (ret == -EINPROGRESS) {
		mutex_unlock(&s->mutex);
		ret = snap_delay_wait(s, &waiter);
		mutex_lock(&s->mutex);
	}
	switch (ret) {
	case 0:
	case -EINTR:
		return ret;
	case -ENOMEM:
		return snap_fail(tr, "snapshot", cmd, SNAP_ERR_MEMORY, -ENOMEM);
	case -ENOSPC:
		return snap_fail(tr, "snapshot", cmd,
				 READ_ONCE(s->room) > 0 ? SNAP_ERR_LIMIT : SNAP_ERR_ENOUGH,
				 -ENOSPC);
	case -ENOBUFS:
		return snap_fail(tr, "snapshot", cmd, SNAP_ERR_READ, -EBUSY);
	case -ECANCELED:
		return snap_fail(tr, "snapshot", cmd, SNAP_ERR_DELAY, -EBUSY);
	case -EINVAL:
		return snap_fail(tr, "snapshot", cmd,
				 snap_is_possible(tr) ? SNAP_ERR_CPU : SNAP_ERR_PERSIST, -EINVAL);
	default:
		return snap_fail(tr, "snapshot", cmd,
				 tr->range_addr_start ? SNAP_ERR_READ : SNAP_ERR_BUSY, -EBUSY);
	}
}

/**
 * snap_free_now() - free the memory of the user's snapshots
 * @tr:   the trace array
 * @file: name of the file that was written to
 * @cmd:  the text that was written
 *
 * Context: May sleep, &trace_snapshots.mutex is held.
 * Return: 0; -EBUSY if a trigger or a pending snapshot needs it.
 */
int snap_free_now(struct trace_array *tr, const char *file, const char *cmd)
{
	struct trace_snapshots *s = tr->snapshots;

	if (atomic_read(&s->user.armed))
		return snap_fail(tr, file, cmd, SNAP_ERR_ARMED, -EBUSY);
	if (atomic_long_read(&s->pending.requests))
		return snap_fail(tr, file, cmd, SNAP_ERR_PENDING, -EBUSY);
	s->pinned = false;
	snap_release(s, &s->user, true);
	return 0;
}

static int snap_erase_now(struct trace_array *tr, const char *cmd, int cpu)
{
	struct trace_snapshots *s = tr->snapshots;

	if (cpu == RING_BUFFER_ALL_CPUS)
		snap_erase(s, &s->user);
	else if (snap_erase_cpu(s, &s->user, cpu))
		return snap_fail(tr, "snapshot", cmd, SNAP_ERR_READ, -EBUSY);
	return 0;
}

/**
 * snap_parse() - parse a number
 * @tr:   the trace array
 * @file: name of the file that was written to
 * @text: the text that was written
 * @max:  the largest valid number
 * @val:  is set to the number
 *
 * Context: May sleep.
 * Return: 0; -EINVAL for another text; then error_log tells the reason.
 */
int snap_parse(struct trace_array *tr, const char *file, const char *text,
	       unsigned long max, unsigned long *val)
{
	if (kstrtoul(text, 10, val) || *val > max)
		return snap_fail(tr, file, text, SNAP_ERR_VALUE, -EINVAL);
	return 0;
}

static ssize_t snap_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file_inode(file)->i_private;
	int cpu = tracing_get_cpu(file_inode(file)), ret;
	struct trace_snapshots *s = tr->snapshots;
	char buf[32], *text;
	unsigned long val;

	text = snap_copy_value(tr, "snapshot", buf, sizeof(buf), ubuf, cnt);
	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = snap_parse(tr, "snapshot", text, ULONG_MAX, &val);
	if (!ret)
		ret = snap_expand(tr, "snapshot", text);
	if (ret)
		return ret;

	/* At the limit, kept snapshots may make room. */
	if (val == 1 && READ_ONCE(s->keep.nr))
		snap_tend(tr);
	mutex_lock(&s->mutex);
	if (val == 1)
		ret = snap_take_now(tr, text, cpu);
	else if (val)
		ret = snap_erase_now(tr, text, cpu);
	else if (cpu != RING_BUFFER_ALL_CPUS)
		ret = snap_fail(tr, "snapshot", text, SNAP_ERR_CPU, -EINVAL);
	else if (atomic_read(&s->user.armed))
		/* Scripts write 0 while a trigger is set, which needs its buffer. */
		ret = snap_erase_now(tr, text, cpu);
	else
		ret = snap_free_now(tr, "snapshot", text);
	mutex_unlock(&s->mutex);
	if (ret)
		return ret;
	/* The writer finds the instance of the snapshot. */
	if (val == 1 && READ_ONCE(s->keep.nr))
		snap_tend(tr);
	*ppos += cnt;
	return cnt;
}

static int snap_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret || !(file->f_mode & FMODE_READ))
		return ret;
	ret = PTR_ERR_OR_ZERO(__tracing_open(inode, file, true));
	if (ret)
		trace_array_put(tr);
	return ret;
}

static int snap_close(struct inode *inode, struct file *file)
{
	if (file->f_mode & FMODE_READ)
		return tracing_release(inode, file);
	trace_array_put(inode->i_private);
	return 0;
}

/* A file is ready when there is a snapshot that it does not show. */
static __poll_t snap_poll(struct file *file, poll_table *wait)
{
	struct trace_array *tr = file_inode(file)->i_private;
	struct seq_file *m = file->private_data;
	struct trace_iterator *iter;

	if (!(file->f_mode & FMODE_READ))
		return EPOLLERR;
	iter = m->private;
	poll_wait(file, &tr->snapshots->wait, wait);
	return READ_ONCE(tr->snapshots->user.seq) > snap_of(iter->array_buffer)->seq ?
		EPOLLIN | EPOLLRDNORM : 0;
}

static int snap_list_show(struct seq_file *m, void *v)
{
	struct trace_array *tr = m->private;
	struct trace_snapshots *s = tr->snapshots;

	snap_tend(tr);
	mutex_lock(&trace_types_lock);
	mutex_lock(&s->mutex);
	snap_show_counts(m, s);
	snap_show_all(m, tr);
	mutex_unlock(&s->mutex);
	mutex_unlock(&trace_types_lock);
	return 0;
}

static int snap_list_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	int ret = tracing_check_open_get_tr(tr);

	if (ret)
		return ret;
	ret = single_open(file, snap_list_show, tr);
	if (ret)
		trace_array_put(tr);
	return ret;
}

static const struct file_operations snap_list_fops = {
	.open		= snap_list_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= tracing_single_release_tr,
};

static const struct file_operations snap_fops = {
	.open		= snap_open,
	.read		= seq_read,
	.write		= snap_write,
	.poll		= snap_poll,
	.llseek		= tracing_lseek,
	.release	= snap_close,
};

const struct file_operations trace_snapshot_raw_fops = {
	.open		= tracing_buffers_open,
	.read		= tracing_buffers_read,
	.splice_read	= tracing_buffers_splice_read,
	.release	= tracing_buffers_release,
};

/**
 * snap_create_files() - create "snapshot" and "snapshots" of an instance
 * @tr:  the trace array
 * @dir: its directory
 *
 * Context: May sleep.
 */
void snap_create_files(struct trace_array *tr, struct dentry *dir)
{
	trace_create_file("snapshot", TRACE_MODE_WRITE, dir, tr, &snap_fops);
	trace_create_file("snapshots", TRACE_MODE_READ, dir, tr, &snap_list_fops);
}

/**
 * trace_snapshot_create_cpu_files() - create the files of a CPU
 * @tr:  the trace array
 * @dir: the CPU's directory
 * @cpu: the CPU
 *
 * Context: May sleep.
 */
void trace_snapshot_create_cpu_files(struct trace_array *tr, struct dentry *dir, int cpu)
{
	trace_create_cpu_file("snapshot", TRACE_MODE_WRITE, dir, tr, cpu, &snap_fops);
	trace_create_cpu_file("snapshot_raw", TRACE_MODE_READ, dir, tr, cpu,
			      &trace_snapshot_raw_fops);
}
