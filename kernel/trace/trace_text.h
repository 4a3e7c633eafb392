/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts of files: numbers with units, and lines.
 */
#ifndef _KERNEL_TRACE_TEXT_H
#define _KERNEL_TRACE_TEXT_H

#include <linux/fs.h>
#include <linux/types.h>

struct cred;
struct dentry;
struct seq_file;
struct trace_array;

/**
 * struct trace_unit - a unit of a number
 * @name:   text behind the number; "" for a number without unit
 * @factor: value of one of it, in the smallest unit
 */
struct trace_unit {
	const char	*name;
	u64		factor;
};

/* In nanoseconds; ends with one that has no name. A time that is not 0 needs a unit. */
extern const struct trace_unit trace_times[];
/* In bytes; a number without unit is in KiB. */
extern const struct trace_unit trace_sizes[];
/* A number has no unit. */
extern const struct trace_unit trace_numbers[];

const char *trace_read_number(const char *text, const struct trace_unit *units, u64 max,
			      u64 *number);

char *trace_value_trim(char *buf, size_t size, size_t cnt);
char *trace_value_copy(char *buf, size_t size, const char __user *ubuf, size_t cnt);
int trace_write_bool(struct file *file, const char __user *ubuf, size_t cnt);

/**
 * struct trace_text_file - a file of a trace array that is printed in one go, and takes lines
 * @show:   prints it, with the trace array as &seq_file.private
 * @change: takes a line for the trace array, without blanks around it, or "" for an empty one, and
 *	    the credentials of the task that has opened the file; returns 0 or an error; with
 *	    trace_text_write() only
 * @fops:   its operations, which lead to this structure
 */
struct trace_text_file {
	int			(*show)(struct seq_file *m, void *v);
	int			(*change)(void *tr, char *line, const struct cred *opener);
	struct file_operations	fops;
};

#define TRACE_TEXT_FILE(_show, _write, _change)			\
{								\
	.show = _show,						\
	.change = _change,					\
	.fops = {						\
		.open		= trace_text_open,		\
		.read		= seq_read,			\
		.write		= _write,			\
		.llseek		= seq_lseek,			\
		.release	= tracing_single_release_tr,	\
	},							\
}

void trace_print_time(struct seq_file *m, struct trace_array *tr, const char *before, u64 ts);
int trace_single_open(struct inode *inode, struct file *file,
		      int (*show)(struct seq_file *m, void *v), void *data);
int trace_text_open(struct inode *inode, struct file *file);
int trace_text_permission(struct dentry *file, int mask, const struct cred *opener);
ssize_t trace_text_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos);

/* trace_on_all.c */
int trace_on_all_permission(const struct cred *opener);

#endif /* _KERNEL_TRACE_TEXT_H */
