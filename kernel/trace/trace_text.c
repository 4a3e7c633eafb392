// SPDX-License-Identifier: GPL-2.0
/*
 * Texts of files: numbers with units, and lines.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>

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

/* Copy the begin of a write. Where that is not all of it, cut it behind a line. */
static char *text_copy(const char __user *ubuf, size_t cnt)
{
	size_t size = min(cnt, TEXT_SIZE - 1), len;
	char *text = memdup_user_nul(ubuf, size), *end = NULL;
	bool more = cnt >= TEXT_SIZE;

	if (IS_ERR(text))
		return text;
	len = strlen(text);
	more = more && *skip_spaces(text);
	if (more)
		end = strrchr(text, '\n');
	/* Programs may write the 0 that ends a string, but nothing behind it. */
	if ((more && !end) || memchr_inv(text + len, 0, size - len)) {
		kfree(text);
		return ERR_PTR(-EINVAL);
	}
	if (more)
		end[1] = '\0';
	return text;
}

/**
 * trace_write_line() - take one line of a write
 * @ubuf:   the written text
 * @cnt:    length of it
 * @ppos:   position in the file
 * @change: takes a line, without blanks around it; returns 0 or an error
 * @data:   for @change
 *
 * Lines that begin with "#", and empty ones among others, are ignored. A text that has more
 * lines is not taken as a whole: the caller of write(2) writes the rest again. So a write that
 * fails has changed nothing. Only the first write to an open file can be an empty line for
 * @change: a later one may be the rest of a text.
 *
 * Context: May sleep.
 * Return: how much is taken of the text; -EINVAL for a line that is longer than any one may be,
 *	   or for a text behind a 0; the error of @change; -EFAULT; -ENOMEM.
 */
ssize_t trace_write_line(const char __user *ubuf, size_t cnt, loff_t *ppos,
			 int (*change)(void *data, char *line), void *data)
{
	bool comment = false, first = !*ppos;
	char *text, *line, *next;
	ssize_t ret = 0, all;

	if (!cnt)
		return 0;
	text = text_copy(ubuf, cnt);
	if (IS_ERR(text))
		return PTR_ERR(text);
	all = cnt < TEXT_SIZE ? cnt : strlen(text);
	line = text_next_line(text, &comment);
	next = line + strcspn(line, "\n");
	if (*next) {
		*next++ = '\0';
		next = text_next_line(next, &comment);
	}
	/* Blanks at the end are taken with the last line. */
	if (*next)
		all = next - text;
	if (*line || (first && !comment && cnt < TEXT_SIZE))
		ret = change(data, strim(line));
	if (!ret) {
		ret = all;
		*ppos += ret;
	}
	kfree(text);
	return ret;
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

/**
 * trace_text_write() - write() to a &struct trace_text_file
 * @file: the file
 * @ubuf: the written text
 * @cnt:  length of it
 * @ppos: position in the file
 *
 * Context: May sleep.
 * Return: as trace_write_line().
 */
ssize_t trace_text_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return trace_write_line(ubuf, cnt, ppos, text_file(file)->change,
				file_inode(file)->i_private);
}
