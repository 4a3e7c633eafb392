// SPDX-License-Identifier: GPL-2.0
/*
 * The directory /proc/PID/perf/ring-buffers: the ring buffers of the perf events that a task has
 * open, N.txt and N.trace for the lowest file descriptor N of each.
 *
 * The descriptors come and go, so each access looks again whether there is one.
 */
#include <linux/cleanup.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/perf_dump.h>
#include <linux/proc_fs.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/xarray.h>

#include "internal.h"

/* The files of a ring, in the order of their endings */
enum { PERF_TEXT, PERF_DATA, PERF_FILES };

static const char * const proc_perf_ending[PERF_FILES] = { ".txt", ".trace" };

/**
 * struct proc_perf_name - a file in the directory
 * @fd:	  the descriptor
 * @kind: PERF_TEXT or PERF_DATA
 */
struct proc_perf_name {
	unsigned int	fd;
	unsigned int	kind;
};

static bool proc_perf_parse(const struct qstr *qstr, struct proc_perf_name *name)
{
	for (name->kind = 0; name->kind < PERF_FILES; name->kind++) {
		size_t len = strlen(proc_perf_ending[name->kind]);
		struct qstr number;

		if (qstr->len <= len ||
		    memcmp(qstr->name + qstr->len - len, proc_perf_ending[name->kind], len))
			continue;
		number = (struct qstr)QSTR_INIT(qstr->name, qstr->len - len);
		name->fd = name_to_int(&number);
		return name->fd != ~0U;
	}
	return false;
}

static int proc_perf_may(struct task_struct *task)
{
	return ptrace_may_access(task, PTRACE_MODE_READ_FSCREDS) ? 0 : -EACCES;
}

/* The file at the descriptor, or at the next one with a file */
static struct file *proc_perf_next(struct task_struct *task, unsigned int *fd)
{
	guard(rcu)();
	return task_lookup_next_fdget_rcu(task, fd);
}

/* Is it the lowest descriptor of a ring? */
static bool proc_perf_exists(struct task_struct *task, unsigned int fd)
{
	struct file *file __free(fput) = fget_task(task, fd);
	unsigned long ring = file ? perf_dump_ring(file) : 0;
	unsigned int at;

	if (!ring)
		return false;
	for (at = 0; at < fd; at++) {
		struct file *other __free(fput) = proc_perf_next(task, &at);

		if (!other || at >= fd)
			break;
		if (perf_dump_ring(other) == ring || fatal_signal_pending(current))
			return false;
		cond_resched();
	}
	return true;
}

/* Is the task still there, with the program of an open file, and may the caller see it? */
static int proc_perf_check(struct task_struct *task, const struct perf_dump *dump)
{
	int ret = down_read_killable(&task->signal->exec_update_lock);

	if (ret)
		return ret;
	ret = proc_perf_may(task);
	if (READ_ONCE(task->self_exec_id) != perf_dump_exec_id(dump))
		ret = -ESRCH;
	up_read(&task->signal->exec_update_lock);
	return ret;
}

static struct perf_dump *proc_perf_take(struct task_struct *task, unsigned int fd, bool data)
{
	struct file *file __free(fput) = NULL;
	struct perf_dump *dump;
	u64 exec_id;
	int ret;

	/* The descriptor is one of the program that is checked. */
	ret = down_read_killable(&task->signal->exec_update_lock);
	if (ret)
		return ERR_PTR(ret);
	ret = proc_perf_may(task);
	exec_id = READ_ONCE(task->self_exec_id);
	if (!ret)
		file = fget_task(task, fd);
	up_read(&task->signal->exec_update_lock);
	if (ret)
		return ERR_PTR(ret);
	if (!file || !proc_perf_exists(task, fd))
		return ERR_PTR(-ENOENT);
	dump = perf_dump_take(no_free_ptr(file), fd, data, exec_id);
	if (IS_ERR(dump))
		return dump;
	ret = proc_perf_check(task, dump);
	if (!ret)
		return dump;
	perf_dump_free(dump);
	return ERR_PTR(ret);
}

static struct perf_dump *proc_perf_open(struct inode *inode, bool data)
{
	struct task_struct *task __free(put_task) = get_proc_task(inode);

	return task ? proc_perf_take(task, PROC_I(inode)->fd, data) : ERR_PTR(-ESRCH);
}

/* A descriptor may have come to a reader with fewer rights. */
static int proc_perf_read_check(struct file *file, const struct perf_dump *dump)
{
	struct task_struct *task __free(put_task) = get_proc_task(file_inode(file));
	int ret;

	if (!task)
		return -ESRCH;
	ret = proc_perf_check(task, dump);
	return ret ?: perf_dump_allowed(dump);
}

static int proc_perf_text_open(struct inode *inode, struct file *file)
{
	struct perf_dump *dump = proc_perf_open(inode, false);
	int ret;

	if (IS_ERR(dump))
		return PTR_ERR(dump);
	ret = seq_open(file, &perf_dump_text);
	if (ret)
		perf_dump_free(dump);
	else
		((struct seq_file *)file->private_data)->private = dump;
	return ret;
}

static ssize_t proc_perf_text_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	int ret = proc_perf_read_check(file, m->private);

	return ret ?: seq_read(file, ubuf, cnt, ppos);
}

static int proc_perf_text_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	perf_dump_free(m->private);
	return seq_release(inode, file);
}

static const struct file_operations proc_perf_text_operations = {
	.open		= proc_perf_text_open,
	.read		= proc_perf_text_read,
	.llseek		= seq_lseek,
	.release	= proc_perf_text_release,
};

static int proc_perf_data_open(struct inode *inode, struct file *file)
{
	struct perf_dump *dump = proc_perf_open(inode, true);

	if (IS_ERR(dump))
		return PTR_ERR(dump);
	file->private_data = dump;
	return 0;
}

static ssize_t proc_perf_data_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	int ret = proc_perf_read_check(file, file->private_data);

	return ret ?: perf_dump_read(file->private_data, ubuf, cnt, ppos);
}

static loff_t proc_perf_data_llseek(struct file *file, loff_t offset, int whence)
{
	return fixed_size_llseek(file, offset, whence, perf_dump_size(file->private_data));
}

static int proc_perf_data_release(struct inode *inode, struct file *file)
{
	perf_dump_free(file->private_data);
	return 0;
}

static const struct file_operations proc_perf_data_operations = {
	.open		= proc_perf_data_open,
	.read		= proc_perf_data_read,
	.llseek		= proc_perf_data_llseek,
	.release	= proc_perf_data_release,
};

static const struct inode_operations proc_perf_file_inode_operations = {
	.getattr	= pid_getattr,
	.setattr	= proc_nochmod_setattr,
};

static int proc_perf_revalidate(struct dentry *dentry, unsigned int flags)
{
	struct task_struct *task __free(put_task) = NULL;
	int ret;

	if (flags & LOOKUP_RCU)
		return -ECHILD;
	task = get_proc_task(d_inode(dentry));
	if (!task)
		return 0;
	ret = proc_perf_may(task);
	if (ret)
		return ret;
	if (!proc_perf_exists(task, PROC_I(d_inode(dentry))->fd))
		return 0;
	pid_update_inode(task, d_inode(dentry));
	return 1;
}

static const struct dentry_operations proc_perf_dentry_operations = {
	.d_revalidate	= proc_perf_revalidate,
	.d_delete	= pid_delete_dentry,
};

/* The mode lets all open it: open() decides. */
static struct dentry *proc_perf_instantiate(struct dentry *dentry, struct task_struct *task,
					    const void *ptr)
{
	const struct proc_perf_name *name = ptr;
	struct inode *inode = proc_pid_make_inode(dentry->d_sb, task, S_IFREG | 0444);

	if (!inode)
		return ERR_PTR(-ENOENT);
	PROC_I(inode)->fd = name->fd;
	inode->i_op = &proc_perf_file_inode_operations;
	inode->i_fop = name->kind == PERF_TEXT ? &proc_perf_text_operations :
						 &proc_perf_data_operations;
	pid_update_inode(task, inode);
	return proc_splice_unmountable(inode, dentry, &proc_perf_dentry_operations);
}

static struct dentry *proc_perf_lookup(struct inode *dir, struct dentry *dentry,
				       unsigned int flags)
{
	struct task_struct *task __free(put_task) = get_proc_task(dir);
	struct proc_perf_name name;
	int ret;

	if (!task)
		return ERR_PTR(-ENOENT);
	ret = proc_perf_may(task);
	if (ret)
		return ERR_PTR(ret);
	if (!proc_perf_parse(&dentry->d_name, &name) || !proc_perf_exists(task, name.fd))
		return ERR_PTR(-ENOENT);
	return proc_perf_instantiate(dentry, task, &name);
}

/* List the files of a descriptor, from the position on. Returns false if there is no room. */
static bool proc_perf_fill(struct file *file, struct dir_context *ctx, struct task_struct *task,
			   unsigned int fd)
{
	loff_t first = 2 + (loff_t)fd * PERF_FILES;
	struct proc_perf_name name = { .fd = fd };

	ctx->pos = max(ctx->pos, first);
	for (; ctx->pos < first + PERF_FILES; ctx->pos++) {
		char text[10 + sizeof(".trace")];
		int len;

		name.kind = ctx->pos - first;
		len = scnprintf(text, sizeof(text), "%u%s", fd, proc_perf_ending[name.kind]);
		if (!proc_fill_cache(file, ctx, text, len, proc_perf_instantiate, task, &name))
			return false;
	}
	return true;
}

/* Rings that were seen at a lower descriptor: two are never closer than this shift says. */
#define PERF_SEEN_SHIFT	6

static int proc_perf_list(struct file *file, struct dir_context *ctx, struct task_struct *task,
			  struct xarray *seen)
{
	unsigned int fd;

	for (fd = 0; ; fd++) {
		struct file *at __free(fput) = proc_perf_next(task, &fd);
		unsigned long ring;

		if (!at)
			return 0;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
		ring = perf_dump_ring(at);
		if (!ring || xa_load(seen, ring >> PERF_SEEN_SHIFT))
			continue;
		if (xa_err(xa_store(seen, ring >> PERF_SEEN_SHIFT, xa_mk_value(1),
				    GFP_KERNEL_ACCOUNT)))
			return -ENOMEM;
		if (ctx->pos >= 2 + ((loff_t)fd + 1) * PERF_FILES || perf_dump_may(at))
			continue;
		if (!proc_perf_fill(file, ctx, task, fd))
			return 0;
	}
}

static int proc_perf_readdir(struct file *file, struct dir_context *ctx)
{
	struct task_struct *task __free(put_task) = get_proc_task(file_inode(file));
	struct xarray seen;
	int ret;

	if (!task)
		return -ENOENT;
	ret = proc_perf_may(task);
	if (ret)
		return ret;
	if (!dir_emit_dots(file, ctx))
		return 0;
	xa_init(&seen);
	ret = proc_perf_list(file, ctx, task, &seen);
	xa_destroy(&seen);
	return ret;
}

const struct file_operations proc_perf_rings_operations = {
	.read		= generic_read_dir,
	.iterate_shared	= proc_perf_readdir,
	.llseek		= generic_file_llseek,
};

const struct inode_operations proc_perf_rings_inode_operations = {
	.lookup		= proc_perf_lookup,
	.getattr	= pid_getattr,
	.setattr	= proc_nochmod_setattr,
};
