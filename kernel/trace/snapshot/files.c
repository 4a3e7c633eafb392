// SPDX-License-Identifier: GPL-2.0
/*
 * The files of an instance: what they show and accept, and why a write fails.
 */
#include <linux/ctype.h>
#include <linux/poll.h>

#include <uapi/linux/trace_instance.h>

#include "../trace_text.h"
#include "internal.h"

/* The longest value is "first", a number and a time, with blanks and a newline. */
#define SNAP_TEXT_SIZE	sizeof("first 4294967295 18446744073709551614ns\n")

/**
 * struct snap_file - a file of an instance
 * @name:    its name
 * @invalid: text of error_log for an invalid value
 * @show:    prints it, if it is a &struct seq_file of the snapshots
 * @store:   takes what is written to it, with a CPU or RING_BUFFER_ALL_CPUS, or NULL;
 *	     returns 0 or an error that snap_report() explains; with -EINVAL it sets @at to
 *	     the first character that is wrong
 * @fops:    its operations, which lead to this structure
 */
struct snap_file {
	const char	*name;
	const char	*invalid;
	int		(*show)(struct seq_file *m, void *v);
	int (*store)(struct trace_snapshots *s, const char *text, int cpu, const char **at);
	struct file_operations	fops;
};

/* Tell in error_log why a write fails. Return: the error for user space. */
static int snap_fail(struct trace_array *tr, const struct snap_file *of, const char *text, int err,
		     size_t at)
{
	if (err == -EINVAL) {
		tracing_log(tr, of->name, "error", text, of->invalid, at);
		return err;
	}
	guard(mutex)(&tr->snapshots->mutex);
	return snap_report(tr->snapshots, NULL, of->name, text, err);
}

/* Give the live buffer its full size before a buffer like it is allocated. */
static int snap_expand(struct trace_array *tr)
{
	if (tr->range_addr_start && !(tr->flags & TRACE_ARRAY_FL_SNAPSHOT))
		return -EOPNOTSUPP;
	return snap_expand_live(tr);
}

/**
 * trace_snapshot_help() - print help instead of an empty snapshot
 * @m:    the file
 * @iter: its iterator
 *
 * Context: May sleep.
 */
void trace_snapshot_help(struct seq_file *m, struct trace_iterator *iter)
{
	bool all = iter->cpu_file == RING_BUFFER_ALL_CPUS;
	struct trace_snapshots *s = iter->tr->snapshots;
	bool ready;

	scoped_guard(mutex, &s->mutex)
		ready = snap_is_ready(s, &s->user);

	seq_printf(m, "#\n# * Snapshot is %s *\n#\n# Write to this file\n"
		   "#   1  to take a snapshot%s, and to allocate memory for it if need be\n"
		   "#   20ms  or another time to take one of the records of that time\n",
		   ready ? "allocated" : "freed", all ? "" : " of this CPU");
	seq_printf(m, "%s#   2  or another number to erase it, but to keep the memory\n",
		   all ? "#   0  to free it\n" : "");
}

/* Of a cut of one CPU that has no ring, tell why. */
static int snap_no_ring(struct trace_snapshots *s, int cpu, int err)
{
	if (err != -EINVAL)
		return err;
	return ring_buffer_is_global(s->tr->array_buffer.buffer) ? -ENOLINK : -ENODATA;
}

static int snap_take_now(struct trace_snapshots *s, int cpu, u64 span)
{
	struct snap_waiter waiter = { };
	struct snap_request req = {
		.cpu = cpu,
		.by = SNAP_BY_WRITE,
		.span = span,
		.waits = true,
		.waiter = &waiter,
	};
	int ret;

	/* At the limit, kept snapshots may make room. */
	if (READ_ONCE(s->keeper.want.nr))
		snap_tend(s);
	scoped_guard(mutex, &s->mutex)
		ret = snap_take_wait(s, &req);
	if (ret == -EINPROGRESS)
		ret = snap_delay_wait(s, &waiter);
	/* The writer finds the instance of the snapshot. */
	if (READ_ONCE(s->keeper.want.nr))
		snap_tend(s);
	return snap_no_ring(s, cpu, ret);
}

static int snap_free_now(struct trace_snapshots *s)
{
	int ret = snap_relied_on(s);

	if (ret)
		return ret;
	if (atomic_long_read(&s->pending.requests))
		return -EINPROGRESS;
	s->pinned = false;
	snap_free_all(s);
	return 0;
}

/* Is there a unit behind the digits, as in "20ms"? */
static bool snap_is_time(const char *text)
{
	return isdigit(*text) && isalpha(text[strspn(text, "0123456789")]);
}

/* Read a time before a cut. Return: 0; -EINVAL and @at; -ETIME if the clock counts no time. */
static int snap_read_span(struct trace_snapshots *s, const char *text, u64 *span, const char **at)
{
	*at = trace_read_number(text, trace_times, U64_MAX - 1, span);
	if (!*at && !*span)
		*at = text;
	if (*at)
		return -EINVAL;
	return trace_clock_in_ns(s->tr) ? 0 : -ETIME;
}

static int snap_store(struct trace_snapshots *s, const char *text, int cpu, const char **at)
{
	bool all = cpu == RING_BUFFER_ALL_CPUS;
	u64 val, span;

	if (snap_is_time(text))
		return snap_read_span(s, text, &span, at) ?: snap_expand(s->tr) ?:
		       snap_take_now(s, cpu, span);
	*at = trace_read_number(text, trace_numbers, ULONG_MAX, &val);
	if (*at)
		return -EINVAL;
	if (val == 1)
		return snap_expand(s->tr) ?: snap_take_now(s, cpu, 0);
	if (!all) {
		guard(mutex)(&trace_types_lock);
		return val ? snap_erase_cpu_all(s, cpu) : -ENXIO;
	}
	guard(mutex)(&s->mutex);
	/* Scripts write 0 while a trigger is set, which needs its buffer. */
	if (!val && snap_relied_on(s) != -EADDRINUSE)
		return snap_free_now(s);
	snap_erase_all(s);
	return 0;
}

static int snap_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	int ret = tracing_check_open_get_tr(tr);

	if (ret || !(file->f_mode & FMODE_READ))
		return ret;
	ret = PTR_ERR_OR_ZERO(__tracing_open(inode, file, true));
	if (ret)
		trace_array_put(tr);
	return ret;
}

/* A file is ready when there is a snapshot that it does not show. */
static __poll_t snap_poll(struct file *file, poll_table *wait)
{
	struct trace_array *tr = file_inode(file)->i_private;
	struct seq_file *m = file->private_data;
	struct trace_iterator *iter;

	if (!(file->f_mode & FMODE_READ))
		return EPOLLERR;
	iter = m->private;
	poll_wait(file, &tr->snapshots->wait, wait);
	return READ_ONCE(tr->snapshots->user.seq) > snap_of(iter->array_buffer)->seq ?
		EPOLLIN | EPOLLRDNORM : 0;
}

static int snap_list_show(struct seq_file *m, void *v)
{
	struct trace_snapshots *s = m->private;

	snap_tend(s);
	guard(mutex)(&trace_types_lock);
	guard(mutex)(&s->mutex);
	m->poll_event = s->keeper.news;
	snap_recount_all(s);
	snap_show_all(m, s);
	return 0;
}

static int snap_allocate_show(struct seq_file *m, void *v)
{
	struct trace_snapshots *s = m->private;

	guard(mutex)(&s->mutex);
	seq_printf(m, "%d\n", snap_is_needed(s, &s->max) || snap_is_ready(s, &s->user));
	return 0;
}

static int
snap_allocate_store(struct trace_snapshots *s, const char *text, int cpu, const char **at)
{
	u64 val;
	int ret;

	*at = trace_read_number(text, trace_numbers, 1, &val);
	if (*at)
		return -EINVAL;
	ret = val ? snap_expand(s->tr) : 0;
	if (ret)
		return ret;
	guard(mutex)(&s->mutex);
	if (snap_is_needed(s, &s->max))
		return -EUSERS;
	return val ? snap_provide(s, &s->user) : snap_free_now(s);
}

/* With the longest unit that it is a whole number of. */
static void snap_print_ns(struct seq_file *m, u64 ns)
{
	const struct trace_unit *unit = trace_times;
	u64 rest;

	while (div64_u64_rem(ns, unit->factor, &rest), rest)
		unit++;
	seq_printf(m, "%llu%s", div64_u64(ns, unit->factor), ns ? unit->name : "");
}

static int snap_delay_show(struct seq_file *m, void *v)
{
	struct trace_snapshots *s = m->private;

	snap_print_ns(m, s->pending.delay);
	seq_putc(m, '\n');
	return 0;
}

static int snap_delay_store(struct trace_snapshots *s, const char *text, int cpu, const char **at)
{
	u64 ns;

	*at = trace_read_number(text, trace_times, KTIME_MAX / 2, &ns);
	if (*at)
		return -EINVAL;
	snap_delay_set(s, ns);
	return 0;
}

static int snap_keep_show(struct seq_file *m, void *v)
{
	struct trace_snapshots *s = m->private;

	const struct snap_keep *keep = &s->keeper.want;

	guard(mutex)(&s->mutex);
	if (keep->nr || keep->span)
		seq_puts(m, keep->first ? "first " : "last ");
	if (keep->nr || !keep->span)
		seq_printf(m, "%u", keep->nr);
	if (keep->nr && keep->span)
		seq_putc(m, ' ');
	if (keep->span)
		snap_print_ns(m, keep->span);
	seq_putc(m, '\n');
	return 0;
}

/* Read the number in front of a blank. Return: the text behind it, or NULL and @at. */
static const char *snap_read_nr(const char *text, unsigned int *nr, const char **at)
{
	size_t len = strcspn(text, " \t");
	char word[SNAP_TEXT_SIZE];
	u64 value;

	strscpy(word, text, len + 1);
	*at = trace_read_number(word, trace_numbers, UINT_MAX, &value);
	if (*at) {
		*at = text + (*at - word);
		return NULL;
	}
	*nr = value;
	return skip_spaces(text + len);
}

/* A number, a time, or a number and a time; "first" needs the number. */
static int snap_keep_store(struct trace_snapshots *s, const char *text, int cpu, const char **at)
{
	size_t len = str_has_prefix(text, "first ");
	struct snap_keep keep = { .first = len };
	const char *time;
	int ret;

	if (!len)
		len = str_has_prefix(text, "last ");
	text = skip_spaces(text + len);
	time = text;
	if (keep.first || !snap_is_time(text)) {
		time = snap_read_nr(text, &keep.nr, at);
		if (time && keep.first && !keep.nr)
			*at = text;
		if (*at)
			return -EINVAL;
	}
	ret = *time ? snap_read_span(s, time, &keep.span, at) : 0;
	return ret ?: snap_keep_set(s, keep);
}

static int snap_limit_kb_show(struct seq_file *m, void *v)
{
	struct trace_snapshots *s = m->private;

	seq_printf(m, "%lu\n", READ_ONCE(s->memory.limit_kb));
	return 0;
}

static int
snap_limit_kb_store(struct trace_snapshots *s, const char *text, int cpu, const char **at)
{
	u64 bytes, kb;

	*at = trace_read_number(text, trace_sizes,
				BITS_PER_LONG == 32 ? (u64)ULONG_MAX << 10 : U64_MAX, &bytes);
	if (*at)
		return -EINVAL;
	kb = bytes >> 10;
	guard(mutex)(&s->mutex);
	snap_recount_all(s);
	if (kb && s->memory.kb > kb)
		return -EFBIG;
	s->memory.limit_kb = kb;
	return 0;
}

static int snap_file_open(struct inode *inode, struct file *file)
{
	const struct snap_file *of = container_of(file->f_op, struct snap_file, fops);
	struct trace_snapshots *s = ((struct trace_array *)inode->i_private)->snapshots;
	int ret = trace_single_open(inode, file, of->show, s);

	if (ret)
		return ret;
	((struct seq_file *)file->private_data)->poll_event = READ_ONCE(s->keeper.news);

	/* A sequential file is read in order, but any offset of a write is good. */
	if (file->f_mode & FMODE_WRITE)
		file->f_mode |= FMODE_PWRITE;
	return 0;
}

static ssize_t snap_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	const struct snap_file *of = container_of(file->f_op, struct snap_file, fops);
	struct trace_array *tr = file_inode(file)->i_private;
	char buf[SNAP_TEXT_SIZE], *text;
	const char *at;
	int ret;

	if (!of->store)
		return -EINVAL;
	text = trace_value_copy(buf, sizeof(buf), ubuf, cnt);
	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = of->store(tr->snapshots, text, tracing_get_cpu(file_inode(file)), &at);
	if (ret)
		return snap_fail(tr, of, text, ret, at ? at - text : 0);
	*ppos += cnt;
	return cnt;
}

/* TRACE_IOC_SNAPSHOT takes a snapshot as a write does: the file has to be open for writing. */
static long snap_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	const struct snap_file *of = container_of(file->f_op, struct snap_file, fops);
	struct trace_array *tr = file_inode(file)->i_private;
	int cpu = tracing_get_cpu(file_inode(file)), ret;

	if (cmd != TRACE_IOC_SNAPSHOT)
		return -ENOTTY;
	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (arg)
		return -EINVAL;
	ret = snap_expand(tr);
	if (!ret)
		ret = snap_no_ring(tr->snapshots, cpu, snap_own(tr->snapshots, cpu));
	if (ret >= 0 || ret == -EMFILE || ret == -ENFILE || ret == -ENODEV)
		return ret;
	return snap_fail(tr, of, "TRACE_IOC_SNAPSHOT", ret, 0);
}

/* "snapshots" is ready when one was kept since it was opened, or read from its begin. */
static __poll_t snap_list_poll(struct file *file, poll_table *wait)
{
	struct seq_file *m = file->private_data;
	struct trace_snapshots *s = m->private;

	poll_wait(file, &s->wait, wait);
	return READ_ONCE(s->keeper.news) != m->poll_event ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct snap_file snap_files[] = {
	{ "snapshot", "Invalid value, expected a number, or a time such as 20ms",
	  NULL, snap_store, {
		.open		= snap_open,
		.read		= seq_read,
		.write		= snap_write,
		.poll		= snap_poll,
		.unlocked_ioctl	= snap_ioctl,
		.compat_ioctl	= compat_ptr_ioctl,
		.llseek		= tracing_lseek,
		.release	= tracing_release,
	} },
#define SNAP_FILE(name, expected, show, store)				\
	{ name, "Invalid value, expected " expected, show, store, {	\
		.open		= snap_file_open,			\
		.read		= seq_read,				\
		.write		= snap_write,				\
		.llseek		= seq_lseek,				\
		.release	= tracing_single_release_tr,		\
	} }
	{ "snapshots", "", snap_list_show, NULL, {
		.open		= snap_file_open,
		.read		= seq_read,
		.write		= snap_write,
		.poll		= snap_list_poll,
		.llseek		= seq_lseek,
		.release	= tracing_single_release_tr,
	} },
	SNAP_FILE("snapshot_allocate", "0 or 1", snap_allocate_show, snap_allocate_store),
	SNAP_FILE("snapshot_delay", "a whole number with ns, us, ms or s behind it, such as 5ms",
		  snap_delay_show, snap_delay_store),
	SNAP_FILE("snapshot_keep", "N, last N or first N, a time such as 20ms, or both",
		  snap_keep_show, snap_keep_store),
	SNAP_FILE("snapshot_limit_kb", "a number of KiB, or one with K, M or G behind it",
		  snap_limit_kb_show, snap_limit_kb_store),
};

const struct file_operations trace_snapshot_raw_fops = {
	.open		= tracing_buffers_open,
	.read		= tracing_buffers_read,
	.poll		= tracing_buffers_poll,
	.splice_read	= tracing_buffers_splice_read,
	.release	= tracing_buffers_release,
};

/**
 * trace_snapshot_create_files() - create the files of an instance
 * @tr:  the trace array
 * @dir: its directory
 *
 * Context: May sleep.
 */
void trace_snapshot_create_files(struct trace_array *tr, struct dentry *dir)
{
	const struct snap_file *file;

	for (file = snap_files; file < snap_files + ARRAY_SIZE(snap_files); file++)
		trace_create_file(file->name, file->store ? TRACE_MODE_WRITE : TRACE_MODE_READ,
				  dir, tr, &file->fops);
}

/**
 * trace_snapshot_list_cpu() - describe a file of a CPU
 * @nr:    its number
 * @entry: destination of the description
 *
 * Context: As tracefs_list.
 * Return: false if there are not so many.
 */
bool trace_snapshot_list_cpu(unsigned int nr, struct tracefs_entry *entry)
{
	if (nr > 1)
		return false;
	entry->name = nr ? "snapshot_raw" : "snapshot";
	entry->mode = nr ? TRACE_MODE_READ : TRACE_MODE_WRITE;
	entry->fops = nr ? &trace_snapshot_raw_fops : &snap_files[0].fops;
	return true;
}
