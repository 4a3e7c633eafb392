// SPDX-License-Identifier: GPL-2.0
/*
 * The file tracing_on_all: one switch for all ring buffers.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>

#include "trace.h"

/* The longest value, with blanks and the line's end */
#define ON_ALL_SIZE	16

static ssize_t on_all_read(struct file *file, char __user *ubuf, size_t count, loff_t *pos)
{
	return simple_read_from_buffer(ubuf, count, pos, tracing_is_on_all() ? "1\n" : "0\n", 2);
}

static ssize_t on_all_write(struct file *file, const char __user *ubuf, size_t count, loff_t *pos)
{
	static const char * const errs[] = { "Invalid value, expected 0 or 1" };
	char buf[ON_ALL_SIZE] = "", *text;

	if (copy_from_user(buf, ubuf, min(count, sizeof(buf) - 1)))
		return -EFAULT;
	text = strim(buf);
	if (count >= sizeof(buf) || (strcmp(text, "0") && strcmp(text, "1"))) {
		tracing_log_err(NULL, "tracing_on_all", text, (const char **)errs, 0, 0);
		return -EINVAL;
	}
	if (*text == '1')
		tracing_on_all();
	else
		tracing_off_all();
	return count;
}

static const struct file_operations on_all_fops = {
	.open	= tracing_open_generic,
	.read	= on_all_read,
	.write	= on_all_write,
	.llseek	= generic_file_llseek,
};

static __init int on_all_init(void)
{
	int ret = tracing_init_dentry();

	if (!ret)
		trace_create_file("tracing_on_all", TRACE_MODE_WRITE, NULL, NULL, &on_all_fops);
	return ret;
}
fs_initcall(on_all_init);
