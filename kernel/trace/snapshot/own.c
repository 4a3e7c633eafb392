// SPDX-License-Identifier: GPL-2.0
/*
 * Snapshots that belong to a file descriptor.
 */
#include <linux/anon_inodes.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/workqueue.h>

#include "../trace_owner.h"
#include "internal.h"

/**
 * struct snap_owner - an open file that owns a snapshot
 * @snap: the snapshot, which is kept; NULL if it could not be taken
 * @end:  ends the life of the snapshot
 */
struct snap_owner {
	struct trace_snap	*snap;
	struct work_struct	end;
};

static ssize_t snap_owner_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct snap_owner *owner = file->private_data;

	return trace_owner_read(owner->snap->kept, ubuf, cnt, ppos);
}

static void snap_owner_end(struct work_struct *end)
{
	struct snap_owner *owner = container_of(end, struct snap_owner, end);

	snap_end_owned(owner->snap);
	kfree(owner);
}

/* The locks of the task that puts the last reference are unknown. */
static int snap_owner_release(struct inode *inode, struct file *file)
{
	struct snap_owner *owner = file->private_data;

	if (owner->snap)
		queue_work(system_dfl_wq, &owner->end);
	else
		kfree(owner);
	return 0;
}

static const struct file_operations snap_owner_fops = {
	.read		= snap_owner_read,
	.llseek		= default_llseek,
	.release	= snap_owner_release,
};

/**
 * snap_own() - take a snapshot that belongs to a new file descriptor
 * @s:   the snapshots of a trace array, of which the caller has a file open
 * @cpu: the CPU, or RING_BUFFER_ALL_CPUS
 *
 * Context: May sleep.
 * Return: the descriptor; -EMFILE, -ENFILE and -ENOMEM as open(); as snap_keep_owned().
 */
int snap_own(struct trace_snapshots *s, int cpu)
{
	struct snap_owner *owner = kzalloc(sizeof(*owner), GFP_KERNEL);
	struct file *file;
	int ret;

	CLASS(get_unused_fd, fd)(O_CLOEXEC);
	if (!owner)
		return -ENOMEM;
	INIT_WORK(&owner->end, snap_owner_end);
	/* Before the snapshot: without an owner its records would be lost. */
	file = anon_inode_getfile_fmode("[trace_snapshot]", &snap_owner_fops, owner, O_RDONLY,
					FMODE_PREAD);
	if (IS_ERR(file)) {
		kfree(owner);
		return PTR_ERR(file);
	}
	ret = fd < 0 ? fd : snap_keep_owned(s, cpu, &owner->snap);
	if (!ret) {
		fd_install(fd, file);
		return take_fd(fd);
	}
	owner->snap = NULL;
	fput(file);
	return ret;
}
