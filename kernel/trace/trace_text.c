// SPDX-License-Identifier: GPL-2.0
/*
 * Texts of files: numbers with units, and lines.
 */
#include <linux/cleanup.h>
#include <linux/cred.h>
#include <linux/ctype.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mnt_idmapping.h>
#include <linux/overflow.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/uaccess.h>

#include "trace.h"
#include "trace_text.h"

/* Bytes of a write that are looked at: a line has to fit */
#define TEXT_SIZE	4096

const struct trace_unit trace_times[] = {
	/* The longest that fits is shown. */
	{ "s", NSEC_PER_SEC }, { "ms", NSEC_PER_MSEC }, { "us", NSEC_PER_USEC }, { "ns", 1 }, { }
};

const struct trace_unit trace_sizes[] = {
	{ "K", 1 << 10 }, { "k", 1 << 10 }, { "M", 1 << 20 }, { "m", 1 << 20 },
	{ "G", 1 << 30 }, { "g", 1 << 30 }, { "", 1 << 10 }, { }
};

const struct trace_unit trace_numbers[] = { { "", 1 }, { } };

/* The longest unit that the text begins with; NULL if there is none. */
static const struct trace_unit *text_find_unit(const char *text, const struct trace_unit *units)
{
	const struct trace_unit *unit, *found = NULL;

	for (unit = units; unit->name; unit++) {
		if (!strncmp(text, unit->name, strlen(unit->name)) &&
		    (!found || strlen(unit->name) > strlen(found->name)))
			found = unit;
	}
	return found;
}

/**
 * trace_read_number() - read a number with its unit
 * @text:   the number in decimal digits, and the unit behind it; nothing else. 0 needs no unit.
 * @units:  trace_times, trace_sizes or trace_numbers
 * @max:    the largest value
 * @number: is set to the value, in the smallest unit, if @text is valid
 *
 * Context: Any context.
 * Return: NULL; the first character that is wrong, which is that of the number if it is too
 *	   large.
 */
const char *trace_read_number(const char *text, const struct trace_unit *units, u64 max,
			      u64 *number)
{
	const char *at = text, *end;
	const struct trace_unit *unit;
	bool large = false;
	u64 n = 0;

	for (; isdigit(*at); at++)
		large |= check_mul_overflow(n, 10, &n) || check_add_overflow(n, *at - '0', &n);
	unit = text_find_unit(at, units);
	end = at + (unit ? strlen(unit->name) : 0);
	if (at == text || *end)
		return at == text ? at : end;
	if (!unit && (n || large))
		return end;
	if (large || (unit && check_mul_overflow(n, unit->factor, &n)) || n > max)
		return text;
	*number = n;
	return NULL;
}

/**
 * trace_value_trim() - prepare the text of a write to a file that takes one value
 * @buf:  the begin of the text; is changed
 * @size: size of @buf: more than @cnt, or at least 4, then the text is cut
 * @cnt:  length of the write
 *
 * Programs may write the 0 that ends a string, but nothing behind it. A 0 before other bytes
 * becomes "@", and a text that is cut ends with "...". No number and no name of such a file has
 * these, so the caller refuses the text, and error_log shows the reason.
 *
 * Context: Any context.
 * Return: the text, without blanks around it.
 */
char *trace_value_trim(char *buf, size_t size, size_t cnt)
{
	size_t len = min(cnt, size - 1);

	buf[len] = '\0';
	if (len < cnt)
		memcpy(buf + len - 3, "...", 3);
	while (len && !buf[len - 1])
		len--;
	while (len--) {
		if (!buf[len])
			buf[len] = '@';
	}
	return strim(buf);
}

/**
 * trace_value_copy() - copy the text of a write to a file that takes one value
 * @buf:  destination
 * @size: size of @buf, at least 4: a longer text is cut
 * @ubuf: the written text
 * @cnt:  length of it
 *
 * Context: May sleep.
 * Return: as trace_value_trim(); ERR_PTR(-EFAULT).
 */
char *trace_value_copy(char *buf, size_t size, const char __user *ubuf, size_t cnt)
{
	if (copy_from_user(buf, ubuf, min(cnt, size - 1)))
		return ERR_PTR(-EFAULT);
	return trace_value_trim(buf, size, cnt);
}

/* Tell in error_log of the trace array why a write to its file is invalid. */
static int text_fail(struct file *file, const char *text, const char *why, size_t at)
{
	tracing_log(file_inode(file)->i_private, file_dentry(file)->d_name.name, "error", text,
		    why, at);
	return -EINVAL;
}

/**
 * trace_write_bool() - take a 0 or 1
 * @file: a file of a trace array, or of the top directory
 * @ubuf: the written text
 * @cnt:  length of it
 *
 * Context: May sleep.
 * Return: 0 or 1; -EINVAL for other values, error_log has the reason; -EFAULT.
 */
int trace_write_bool(struct file *file, const char __user *ubuf, size_t cnt)
{
	char buf[16], *text = trace_value_copy(buf, sizeof(buf), ubuf, cnt);
	const char *wrong;
	u64 on;

	if (IS_ERR(text))
		return PTR_ERR(text);
	wrong = trace_read_number(text, trace_numbers, 1, &on);
	if (wrong)
		return text_fail(file, text, "Invalid value, expected 0 or 1", wrong - text);
	return on;
}

/* Go to the next line that is not empty and no comment; @comment: there was one. */
static char *text_next_line(char *text, bool *comment)
{
	char *line = skip_spaces(text);

	while (*line == '#') {
		*comment = true;
		line = skip_spaces(line + strcspn(line, "\n"));
	}
	return line;
}

/*
 * Check the begin of a write, which has @len bytes. If there is more of the write, cut it behind a
 * line, and change @len. Return: NULL, or why the write is invalid.
 */
static const char *text_cut(char *text, size_t *len, bool more)
{
	size_t end = strlen(text);
	char *last;

	/* Programs may write the 0 that ends a string, but nothing behind it. */
	if (memchr_inv(text + end, 0, *len - end))
		return "Text behind a zero byte, expected none";
	if (!more || !*skip_spaces(text))
		return NULL;
	last = strrchr(text, '\n');
	if (!last)
		return "The line is too long, expected 4095 bytes at most";
	last[1] = '\0';
	*len = last + 1 - text;
	return NULL;
}

/**
 * trace_print_time() - print a time in seconds if the clock counts nanoseconds, as in the trace
 * @m:      the file
 * @tr:     the trace array, for the clock
 * @before: text in front of the time
 * @ts:     the time
 *
 * Context: May sleep.
 */
void trace_print_time(struct seq_file *m, struct trace_array *tr, const char *before, u64 ts)
{
	u32 ns;

	seq_puts(m, before);
	if (!trace_clock_in_ns(tr)) {
		seq_printf(m, "%llu", ts);
		return;
	}
	ts = div_u64_rem(ts, NSEC_PER_SEC, &ns);
	seq_printf(m, "%llu.%09u", ts, ns);
}

/**
 * trace_single_open() - open a file of a trace array that is printed in one go
 * @inode: inode of the file
 * @file:  the file; tracing_single_release_tr() releases it
 * @show:  prints it
 * @data:  &seq_file.private for @show
 *
 * Context: May sleep.
 * Return: 0, or as single_open() and tracing_check_open_get_tr().
 */
int trace_single_open(struct inode *inode, struct file *file,
		      int (*show)(struct seq_file *m, void *v), void *data)
{
	struct trace_array *tr = inode->i_private;
	int ret = tracing_check_open_get_tr(tr);

	if (ret)
		return ret;
	ret = single_open(file, show, data);
	if (ret)
		trace_array_put(tr);
	return ret;
}

static const struct trace_text_file *text_file(struct file *file)
{
	return container_of(file->f_op, struct trace_text_file, fops);
}

/**
 * trace_text_open() - open() of a &struct trace_text_file
 * @inode: inode of the file
 * @file:  the file
 *
 * Context: May sleep.
 * Return: as trace_single_open().
 */
int trace_text_open(struct inode *inode, struct file *file)
{
	return trace_single_open(inode, file, text_file(file)->show, inode->i_private);
}

/*
 * May the current credentials open a file by its path? Nothing in tracefs is renamed, and a file
 * keeps the directories above it, so the path stays.
 */
static int text_may_open(struct dentry *file, int mask)
{
	int ret = inode_permission(&nop_mnt_idmap, d_inode(file), mask);

	while (!ret && !IS_ROOT(file)) {
		file = file->d_parent;
		ret = inode_permission(&nop_mnt_idmap, d_inode(file), MAY_EXEC);
	}
	return ret ? -EACCES : 0;
}

/**
 * trace_text_permission() - may the writer of a line use another file as well?
 * @file:   the other file, in tracefs
 * @mask:   MAY_READ and MAY_WRITE
 * @opener: credentials of the task that has opened the file of the line; NULL for those of the
 *	    writer
 *
 * Two tasks need the right: the writer, so that it gains none by an open file that was passed to
 * it; and the opener, so that a program with more rights lends none to the text that it prints.
 *
 * The writer has its current credentials. The real ones of a worker of io_uring are those of the
 * time when it was created, and the writer may have dropped rights since.
 *
 * Context: May sleep, with the credentials of the writer.
 * Return: 0; -EACCES if one of them may not use @file, or may not search a directory above it.
 */
int trace_text_permission(struct dentry *file, int mask, const struct cred *opener)
{
	int ret = text_may_open(file, mask);
	const struct cred *writer;

	if (ret || !opener)
		return ret;
	writer = override_creds(opener);
	ret = text_may_open(file, mask);
	revert_creds(writer);
	return ret;
}

/**
 * trace_text_write() - write() to a &struct trace_text_file: take one line
 * @file: the file
 * @ubuf: the written text
 * @cnt:  length of it
 * @ppos: position in the file
 *
 * Lines that begin with "#", and empty ones among others, are ignored. A text that has more
 * lines is not taken as a whole: the caller of write(2) writes the rest again. So a write that
 * fails has changed nothing. An empty line alone goes to &trace_text_file.change, unless the last
 * write to the open file was taken in part: then it is the rest of that text. Without a newline
 * there is no empty line: a 0 that ends a string, and blanks, are ignored.
 *
 * Context: May sleep.
 * Return: how much is taken of the text; -EINVAL for a line that is longer than any one may be,
 *	   or for a text behind a 0, error_log has the reason; the error of
 *	   &trace_text_file.change; -EFAULT; -ENOMEM.
 */
ssize_t trace_text_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char *text __free(kfree) = NULL;
	size_t len = min(cnt, TEXT_SIZE - 1);
	struct seq_file *m = file->private_data;
	/* Such a file has no poll(): this is set if the last write was taken in part. */
	bool ignore_empty = m->poll_event;
	char *line, *next;
	const char *why;
	int ret = 0;

	if (!cnt)
		return 0;
	m->poll_event = false;
	text = memdup_user_nul(ubuf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	why = text_cut(text, &len, len < cnt);
	if (why)
		return text_fail(file, "", why, 0);
	line = text_next_line(text, &ignore_empty);
	next = line + strcspn(line, "\n");
	if (*next) {
		*next++ = '\0';
		next = text_next_line(next, &ignore_empty);
	}
	/* Blanks at the end are taken with the last line. */
	if (*next)
		len = next - text;
	if (*line || (strchr(text, '\n') && !ignore_empty && len == cnt))
		ret = text_file(file)->change(file_inode(file)->i_private, strim(line),
					      file->f_cred);
	if (ret)
		return ret;
	m->poll_event = len < cnt;
	*ppos += len;
	return len;
}
