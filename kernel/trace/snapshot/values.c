// SPDX-License-Identifier: GPL-2.0
/*
 * Files of one value: snapshot_allocate, snapshot_delay, snapshot_keep, snapshot_limit_kb.
 */
#include <linux/array_size.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "internal.h"

/* The longest is "first" and a number, or a delay, with blanks. */
#define SNAP_VALUE_SIZE	40

static int snap_allocate_show(struct trace_snapshots *s, char *buf, size_t size)
{
	return scnprintf(buf, size, "%d\n",
			 atomic_read(&s->max.armed) || snap_is_ready(s, &s->user));
}

static int snap_allocate_store(struct trace_snapshots *s, const char *file, const char *text)
{
	unsigned long val;
	int ret = snap_parse(s->tr, file, text, 1, &val);

	if (!ret)
		ret = snap_expand(s->tr, file, text);
	if (ret)
		return ret;

	mutex_lock(&s->mutex);
	if (atomic_read(&s->max.armed))
		ret = snap_fail(s->tr, file, text, SNAP_ERR_TRACER, -EBUSY);
	else if (!val)
		ret = snap_free_now(s->tr, file, text);
	else
		ret = snap_provide(s, &s->user);
	if (ret == -ENOMEM)
		snap_fail(s->tr, file, text, SNAP_ERR_MEMORY, ret);
	else if (ret == -ENOSPC)
		snap_fail(s->tr, file, text, SNAP_ERR_LIMIT, ret);
	else if (ret == -EINVAL)
		snap_fail(s->tr, file, text, SNAP_ERR_PERSIST, ret);
	else if (ret == -EBUSY && val && !atomic_read(&s->max.armed))
		snap_fail(s->tr, file, text, SNAP_ERR_READ, ret);
	mutex_unlock(&s->mutex);
	return ret;
}

static int snap_delay_show(struct trace_snapshots *s, char *buf, size_t size)
{
	return snap_delay_print(buf, size, s->delay);
}

static int snap_delay_store(struct trace_snapshots *s, const char *file, const char *text)
{
	u64 delay;

	if (snap_delay_parse(text, &delay))
		return snap_fail(s->tr, file, text, SNAP_ERR_VALUE, -EINVAL);
	snap_delay_set(s, delay);
	return 0;
}

static int snap_keep_show(struct trace_snapshots *s, char *buf, size_t size)
{
	if (!s->keep.nr)
		return scnprintf(buf, size, "0\n");
	return scnprintf(buf, size, "%s %u\n", s->keep.first ? "first" : "last", s->keep.nr);
}

static int snap_keep_store(struct trace_snapshots *s, const char *file, const char *text)
{
	struct snap_keep keep;

	if (snap_keep_parse(text, &keep))
		return snap_fail(s->tr, file, text, SNAP_ERR_VALUE, -EINVAL);
	/* The next snapshot needs its memory. */
	if (keep.nr && s->tr->range_addr_start)
		return snap_fail(s->tr, file, text, SNAP_ERR_ONE, -EINVAL);
	snap_keep_set(s, keep);
	return 0;
}

static int snap_limit_kb_show(struct trace_snapshots *s, char *buf, size_t size)
{
	return scnprintf(buf, size, "%lu\n", s->limit_kb);
}

static int snap_limit_kb_store(struct trace_snapshots *s, const char *file, const char *text)
{
	unsigned long kb;
	int ret = snap_parse(s->tr, file, text, ULONG_MAX, &kb);

	if (ret)
		return ret;
	mutex_lock(&s->mutex);
	if (kb && s->kb > kb)
		ret = snap_fail(s->tr, file, text, SNAP_ERR_HELD, -ENOSPC);
	else
		s->limit_kb = kb;
	mutex_unlock(&s->mutex);
	return ret;
}

static ssize_t snap_value_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos);
static ssize_t
snap_value_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos);

/**
 * struct snap_value - a file of one value
 * @name:  its name
 * @show:  prints the value to a buffer; &trace_snapshots.mutex is held
 * @store: sets the value
 * @fops:  its operations, which lead to this structure
 */
struct snap_value {
	const char	*name;
	int		(*show)(struct trace_snapshots *s, char *buf, size_t size);
	int		(*store)(struct trace_snapshots *s, const char *file, const char *text);
	struct file_operations	fops;
};

static const struct snap_value snap_values[] = {
#define SNAP_VALUE(value) {						\
		.name	= "snapshot_" #value,				\
		.show	= snap_##value##_show,				\
		.store	= snap_##value##_store,				\
		.fops	= {						\
			.open		= tracing_open_generic_tr,	\
			.read		= snap_value_read,		\
			.write		= snap_value_write,		\
			.llseek		= generic_file_llseek,		\
			.release	= tracing_release_generic_tr,	\
		},							\
	}
	SNAP_VALUE(allocate),
	SNAP_VALUE(delay),
	SNAP_VALUE(keep),
	SNAP_VALUE(limit_kb),
};

static const struct snap_value *snap_value_of(struct file *file)
{
	return container_of(file->f_op, struct snap_value, fops);
}

static ssize_t snap_value_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file->private_data;
	struct trace_snapshots *s = tr->snapshots;
	char buf[SNAP_VALUE_SIZE];
	int len;

	mutex_lock(&s->mutex);
	len = snap_value_of(file)->show(s, buf, sizeof(buf));
	mutex_unlock(&s->mutex);
	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static ssize_t
snap_value_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	const struct snap_value *value = snap_value_of(file);
	struct trace_array *tr = file->private_data;
	char buf[SNAP_VALUE_SIZE], *text;
	int ret;

	text = snap_copy_value(tr, value->name, buf, sizeof(buf), ubuf, cnt);
	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = value->store(tr->snapshots, value->name, text);
	if (ret)
		return ret;
	*ppos += cnt;
	return cnt;
}

/**
 * trace_snapshot_create_files() - create the files of an instance
 * @tr:  the trace array
 * @dir: its directory
 *
 * Context: May sleep.
 */
void trace_snapshot_create_files(struct trace_array *tr, struct dentry *dir)
{
	unsigned int i;

	snap_create_files(tr, dir);
	for (i = 0; i < ARRAY_SIZE(snap_values); i++)
		trace_create_file(snap_values[i].name, TRACE_MODE_WRITE, dir, tr,
				  &snap_values[i].fops);
}
