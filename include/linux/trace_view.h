/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /proc/PID/trace: functions for fs/proc/.
 */
#ifndef _LINUX_TRACE_VIEW_H
#define _LINUX_TRACE_VIEW_H

#include <linux/limits.h>
#include <linux/types.h>

struct file;
struct pid;
struct pid_namespace;
struct task_struct;

/* Endings of the two files of an instance have this length. */
#define TRACE_VIEW_ENDING	4

enum trace_view_kind {
	TRACE_VIEW_TEXT,
	TRACE_VIEW_DAT,
	TRACE_VIEW_NR_KINDS
};

/**
 * struct trace_view_name - name of a file in /proc/PID/trace
 * @len:  length of the name
 * @text: the name, with a 0 behind it
 */
struct trace_view_name {
	unsigned int	len;
	char		text[NAME_MAX + 1];
};

int trace_view_may(struct task_struct *task);
bool trace_view_list(unsigned int nr, struct trace_view_name *name);
bool trace_view_exists(const char *name, unsigned int len);
int trace_view_open(struct file *file, struct pid *pid, struct pid_namespace *ns,
		    const char *name, unsigned int len);
ssize_t trace_view_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos);
loff_t trace_view_llseek(struct file *file, loff_t offset, int whence);
void trace_view_release(struct file *file);

#endif /* _LINUX_TRACE_VIEW_H */
