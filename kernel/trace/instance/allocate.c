// SPDX-License-Identifier: GPL-2.0
/*
 * The file "buffer_allocate": take the memory of an instance now, or give it back.
 */
#include "../trace_text.h"
#include "internal.h"

static ssize_t
allocate_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file->private_data;
	const char *text = trace_array_is_unexpanded(tr) ? "0\n" : "1\n";

	return simple_read_from_buffer(ubuf, cnt, ppos, text, 2);
}

static int allocate_free(struct trace_array *tr)
{
	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	return instance_unexpand(tr);
}

static int allocate_fail(struct trace_array *tr, const char *text, int ret)
{
	const char *why =
		ret == -EBUSY ?
		"The buffer is in use: disable events, tracer and snapshots, close its files" :
		ret == -ENOTEMPTY ? "The buffer holds records: empty it first" :
		"Not enough memory";

	tracing_log(tr, "buffer_allocate", "error", text, why, 0);
	return ret == -ENOTEMPTY ? -EBUSY : ret;
}

static ssize_t
allocate_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file->private_data;
	int on = trace_write_bool(file, ubuf, cnt), ret;

	if (on < 0)
		return on;
	ret = on ? trace_array_expand(tr) : allocate_free(tr);
	if (ret)
		return allocate_fail(tr, on ? "1" : "0", ret);
	*ppos += cnt;
	return cnt;
}

static const struct file_operations allocate_fops = {
	.open		= tracing_open_generic_tr,
	.read		= allocate_read,
	.write		= allocate_write,
	.llseek		= generic_file_llseek,
	.release	= tracing_release_generic_tr,
};

/**
 * trace_array_create_allocate() - create "buffer_allocate"
 * @tr:  the instance
 * @dir: its directory
 *
 * Context: May sleep.
 */
void trace_array_create_allocate(struct trace_array *tr, struct dentry *dir)
{
	trace_create_file("buffer_allocate", TRACE_MODE_WRITE, dir, tr, &allocate_fops);
}
