/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instances: functions that the files of this directory share.
 *
 * Each file calls only files above it in this list:
 *
 *   expand.c    allocate the rings of an instance when they are needed, and free them
 *   allocate.c  the file "buffer_allocate"
 *   global.c    the option "global-buffer"
 *   find.c      look up instances by name, and count their references
 *   session.c   which channels a session has
 *   create.c    allocate instances and their files, and free them
 *   remove.c    remove instances that nothing holds
 *   retire.c    retire instances of open files that have ended
 *   open.c      the file "instance_open"
 *   holder.c    which task has files of an instance open
 *   report.c    errors of mkdir and rmdir in error_log
 *   dir.c       the directory "instances", and functions for modules
 *   boot.c      instances of the command line
 */
#ifndef _KERNEL_TRACE_INSTANCE_INTERNAL_H
#define _KERNEL_TRACE_INSTANCE_INTERNAL_H

/* For all files of this directory, with what trace.h includes. */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/lockdep.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../proc_view/proc_view.h"
#include "../trace.h"

/* With these flags others record in an instance. */
#define INSTANCE_FED_FLAGS	TRACE_ITER(TRACE_PRINTK)

/* These flags are not taken from the top directory. */
#define INSTANCE_OWN_FLAGS \
	(TRACE_ITER(EVENT_FORK) | TRACE_ITER(FUNC_FORK) | INSTANCE_FED_FLAGS)

/**
 * struct instance_spec - what a new instance is to be
 * @name:    its name
 * @systems: systems of its events, with commas between; NULL for all of them
 * @start:   address of memory that survives a reboot; 0 if its buffer has none
 * @size:    bytes of it
 * @flags:   TRACE_ARRAY_FL_*
 */
struct instance_spec {
	const char	*name;
	const char	*systems;
	unsigned long	start, size;
	unsigned int	flags;
};

/**
 * struct instance_owner - an open file that owns an instance
 * @tr:    the instance; it holds a reference
 * @ended: link of the owners that have ended
 */
struct instance_owner {
	struct trace_array	*tr;
	struct llist_node	ended;
};

/**
 * struct instance_busy - what holds an instance that was not removed
 * @tr:     the instance; to compare, it may be gone
 * @dir:    its directory, or that of a kept snapshot that holds it; a reference
 * @counts: text with the number of references, and a task
 * @text:   memory of that
 * @why:    the reason, for error_log
 */
struct instance_busy {
	const struct trace_array	*tr;
	struct dentry			*dir;
	struct seq_buf			counts;
	char				text[256];
	const char			*why;
};

/* expand.c */
int instance_unexpand(struct trace_array *tr);

/* session.c */
void instance_leave_session(struct trace_array *tr);
struct trace_channels *instance_disband_session(struct trace_array *tr);
void instance_let_go(struct trace_channels *channels);

/* create.c */
struct trace_array *instance_create(const struct instance_spec *spec);
int instance_create_files(struct trace_array *tr);
void instance_dismantle(struct trace_array *tr);

/* remove.c */
void instance_stop(struct trace_array *tr);
int instance_remove(struct trace_array *tr);

/* retire.c */
void instance_end_owner(struct instance_owner *owner);

/* open.c */
bool instance_is_owner(const struct file *file, const struct trace_array *tr);
void instance_create_open(struct dentry *top);

/* holder.c */
void instance_find_holder(struct instance_busy *busy);

/* report.c */
void instance_report_mkdir(const char *name, int err);
void instance_note_busy(struct trace_array *tr, struct instance_busy *busy);
void instance_report_busy(const char *name, struct instance_busy *busy);

#endif /* _KERNEL_TRACE_INSTANCE_INTERNAL_H */
