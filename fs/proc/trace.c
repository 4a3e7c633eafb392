// SPDX-License-Identifier: GPL-2.0
/*
 * The directory /proc/PID/trace: the records of a thread group, of each trace instance that has
 * proc_view set.
 *
 * The instances come and go, so each access looks again whether there is one of the name.
 */
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/pid_namespace.h>
#include <linux/proc_fs.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/trace_view.h>

#include "internal.h"

static int proc_trace_open(struct inode *inode, struct file *file)
{
	const struct qstr *name = &file->f_path.dentry->d_name;

	return trace_view_open(file, proc_pid(inode), proc_pid_ns(inode->i_sb), name->name,
			       name->len);
}

static int proc_trace_release(struct inode *inode, struct file *file)
{
	trace_view_release(file);
	return 0;
}

static const struct file_operations proc_trace_file_operations = {
	.open		= proc_trace_open,
	.read		= trace_view_read,
	.llseek		= trace_view_llseek,
	.release	= proc_trace_release,
};

static const struct inode_operations proc_trace_file_inode_operations = {
	.getattr	= pid_getattr,
	.setattr	= proc_nochmod_setattr,
};

/*
 * A name that is still shown stays, or open files of it would be called "(deleted)". It is not
 * cached for a caller that may not look it up.
 */
static int proc_trace_revalidate(struct dentry *dentry, unsigned int flags)
{
	struct task_struct *task __free(put_task) = NULL;
	int ret;

	if (flags & LOOKUP_RCU)
		return -ECHILD;
	task = get_proc_task(d_inode(dentry));
	if (!task || !trace_view_exists(dentry->d_name.name, dentry->d_name.len))
		return 0;
	ret = trace_view_may(task);
	if (ret)
		return ret;
	pid_update_inode(task, d_inode(dentry));
	return 1;
}

static const struct dentry_operations proc_trace_dentry_operations = {
	.d_revalidate	= proc_trace_revalidate,
	.d_delete	= pid_delete_dentry,
};

/*
 * The mode lets all open it: trace_view_open() decides. As other files that disappear with their
 * task, it is no mount point.
 */
static struct dentry *proc_trace_instantiate(struct dentry *dentry, struct task_struct *task,
					     const void *ptr)
{
	struct inode *inode = proc_pid_make_inode(dentry->d_sb, task, S_IFREG | 0444);

	if (!inode)
		return ERR_PTR(-ENOENT);
	inode->i_op = &proc_trace_file_inode_operations;
	inode->i_fop = &proc_trace_file_operations;
	pid_update_inode(task, inode);
	return proc_splice_unmountable(inode, dentry, &proc_trace_dentry_operations);
}

static struct dentry *proc_trace_lookup(struct inode *dir, struct dentry *dentry,
					unsigned int flags)
{
	struct task_struct *task __free(put_task) = get_proc_task(dir);
	int ret;

	if (!task)
		return ERR_PTR(-ENOENT);
	ret = trace_view_may(task);
	if (ret)
		return ERR_PTR(ret);
	if (!trace_view_exists(dentry->d_name.name, dentry->d_name.len))
		return ERR_PTR(-ENOENT);
	return proc_trace_instantiate(dentry, task, NULL);
}

static int proc_trace_readdir(struct file *file, struct dir_context *ctx)
{
	struct task_struct *task __free(put_task) = get_proc_task(file_inode(file));
	struct trace_view_name *name __free(kfree) = kmalloc(sizeof(*name), GFP_KERNEL);
	int ret;

	if (!task)
		return -ENOENT;
	if (!name)
		return -ENOMEM;
	ret = trace_view_may(task);
	if (ret)
		return ret;
	if (!dir_emit_dots(file, ctx))
		return 0;
	for (; trace_view_list(ctx->pos - 2, name); ctx->pos++) {
		if (!proc_fill_cache(file, ctx, name->text, name->len, proc_trace_instantiate,
				     task, NULL))
			break;
	}
	return 0;
}

const struct file_operations proc_trace_operations = {
	.read		= generic_read_dir,
	.iterate_shared	= proc_trace_readdir,
	.llseek		= generic_file_llseek,
};

const struct inode_operations proc_trace_inode_operations = {
	.lookup		= proc_trace_lookup,
	.getattr	= pid_getattr,
	.setattr	= proc_nochmod_setattr,
};
