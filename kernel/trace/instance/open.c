// SPDX-License-Identifier: GPL-2.0
/*
 * The file "instance_open": each open file owns an instance.
 */
#include "../trace_owner.h"
#include "internal.h"

/* Number of the next one; trace_types_lock */
static u64 instance_next_fd;

/* Create the instance "fd-N", with the next free number. The owner has a reference. */
static struct trace_array *instance_create_owned(void)
{
	char name[sizeof("fd-18446744073709551615")];
	const struct instance_spec spec = { .name = name };
	struct trace_array *tr;

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	do
		sprintf(name, "fd-%llu", instance_next_fd++);
	while (trace_array_find(name));
	tr = instance_create(&spec);
	if (!IS_ERR(tr)) {
		tr->owned = true;
		tr->ref++;
	}
	return tr;
}

static int instance_owner_open(struct inode *inode, struct file *file)
{
	struct instance_owner *owner __free(kfree) = NULL;
	struct trace_array *tr;
	int ret;

	/* Programs that read all files, such as grep and tar, create nothing. */
	if (!(file->f_mode & FMODE_READ) || !(file->f_mode & FMODE_WRITE))
		return -EACCES;
	ret = tracing_check_open_get_tr(NULL);
	if (ret)
		return ret;
	owner = kzalloc(sizeof(*owner), GFP_KERNEL);
	if (!owner)
		return -ENOMEM;
	tr = instance_create_owned();
	if (IS_ERR(tr))
		return PTR_ERR(tr);
	owner->tr = tr;
	file->private_data = no_free_ptr(owner);
	return 0;
}

static ssize_t
instance_owner_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct instance_owner *owner = file->private_data;

	return trace_owner_read(owner->tr, ubuf, cnt, ppos);
}

static int instance_owner_release(struct inode *inode, struct file *file)
{
	instance_end_owner(file->private_data);
	return 0;
}

static const struct file_operations instance_open_fops = {
	.open		= instance_owner_open,
	.read		= instance_owner_read,
	.llseek		= default_llseek,
	.release	= instance_owner_release,
};

/**
 * instance_is_owner() - does an open file own an instance?
 * @file: the file, which stays open
 * @tr:   the instance; only its address is used
 *
 * Context: Any.
 * Return: true if so.
 */
bool instance_is_owner(const struct file *file, const struct trace_array *tr)
{
	const struct instance_owner *owner = file->private_data;

	return file->f_op == &instance_open_fops && owner->tr == tr;
}

/**
 * instance_create_open() - create the file "instance_open"
 * @top: the top directory of tracefs, NULL for its root
 *
 * Context: May sleep.
 */
void __init instance_create_open(struct dentry *top)
{
	trace_create_file("instance_open", TRACE_MODE_WRITE, top, NULL, &instance_open_fops);
}
