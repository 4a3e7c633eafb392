// SPDX-License-Identifier: GPL-2.0
/*
 * Common functions of open files that own an instance or a snapshot: read() gives the name
 * of the instance, and an ioctl() opens its directory.
 */
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/mount.h>
#include <linux/path.h>

#include <uapi/linux/trace_instance.h>

#include "trace.h"
#include "trace_owner.h"

/**
 * trace_owner_read() - read() of an open file that owns an instance
 * @tr:   the instance; the file holds a reference
 * @ubuf: user memory for the name, with a newline behind it
 * @cnt:  bytes of it
 * @ppos: position in the file
 *
 * Context: May sleep.
 * Return: number of bytes; -EFAULT.
 */
ssize_t trace_owner_read(struct trace_array *tr, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char name[NAME_MAX + 2];
	int len = scnprintf(name, sizeof(name), "%s\n", tr->name);

	return simple_read_from_buffer(ubuf, cnt, ppos, name, len);
}

/**
 * trace_owner_ioctl() - ioctl() of an open file that owns an instance
 * @tr:  the instance; the file holds a reference, so that its directory stays
 * @mnt: mount of tracefs where the caller gets the directory
 * @cmd: TRACE_IOC_INSTANCE_DIR
 * @arg: 0
 *
 * The descriptor owns nothing: a file that was opened with O_PATH has no release().
 *
 * Context: May sleep.
 * Return: the descriptor; -ENOTTY for another @cmd; -EINVAL for another @arg; -EXDEV if the
 *	   directory is outside of @mnt, as where a directory of tracefs is mounted alone;
 *	   -EMFILE, -ENFILE and -ENOMEM as open().
 */
long trace_owner_ioctl(struct trace_array *tr, struct vfsmount *mnt, unsigned int cmd,
		       unsigned long arg)
{
	struct path path = { .mnt = mnt, .dentry = tr->dir };
	struct file *file;
	int fd;

	if (cmd != TRACE_IOC_INSTANCE_DIR)
		return -ENOTTY;
	if (arg)
		return -EINVAL;
	if (!is_subdir(path.dentry, mnt->mnt_root))
		return -EXDEV;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	file = dentry_open(&path, O_PATH | O_DIRECTORY, current_cred());
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	fd_install(fd, file);
	return fd;
}
