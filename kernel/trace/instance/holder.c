// SPDX-License-Identifier: GPL-2.0
/*
 * Which task has files of an instance open.
 */
#include <linux/dcache.h>
#include <linux/fdtable.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "internal.h"

static int holder_has(const void *busy, struct file *file, unsigned int fd)
{
	const struct instance_busy *b = busy;

	if (file->f_path.dentry->d_sb != b->dir->d_sb)
		return false;
	return is_subdir(file->f_path.dentry, b->dir) || instance_is_owner(file, b->tr);
}

static bool holder_is(struct task_struct *task, const struct instance_busy *busy)
{
	bool ret;

	task_lock(task);
	ret = task->files && iterate_fd(task->files, 0, holder_has, busy);
	task_unlock(task);
	return ret;
}

/**
 * instance_find_holder() - find a task that holds an instance by an open file
 * @busy: the instance; the counts get the name and PID of the task, if there is one
 *
 * A mapping of a closed file is not found.
 *
 * Context: A task, in proportion to all open files; neither event_mutex nor trace_types_lock is
 *	    held.
 */
void instance_find_holder(struct instance_busy *busy)
{
	struct task_struct *leader, *task;

	guard(rcu)();
	for_each_process_thread(leader, task) {
		/* Threads that share their files were seen with the first one. */
		if (task != leader && task->files == leader->files)
			continue;
		if (holder_is(task, busy)) {
			/* A program can set its name to anything. */
			seq_buf_printf(&busy->counts, ", open in %*pE-%d",
				       (int)strnlen(task->comm, TASK_COMM_LEN), task->comm,
				       task_pid_nr(task));
			return;
		}
	}
}
