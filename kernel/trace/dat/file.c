// SPDX-License-Identifier: GPL-2.0
/*
 * The open file trace.dat of a kept snapshot.
 */
#include <linux/cred.h>
#include <linux/kallsyms.h>
#include <linux/sched/signal.h>
#include <linux/uio.h>

#include "internal.h"

/* In error_log of the instance that the snapshot was taken of: this one has none. */
static void dat_log(struct trace_array *tr, bool real, int ret)
{
	const char *why =
		ret == -ENOSPC ? "snapshot_limit_kb allows no more memory" :
		ret == -ENODATA ? "the time of the day is not known: read trace.dat" :
		ret != -EOPNOTSUPP ? NULL :
		"Its channels have several sizes of sub-buffers: read trace.dat of each";

	if (!why)
		return;
	guard(mutex)(&trace_types_lock);
	tracing_log(trace_snapshot_owner(tr), real ? "realtime.dat" : "trace.dat", "error",
		    tr->name, why, 0);
}

static ssize_t dat_copy_page(struct dat_file *f, u64 pos, struct iov_iter *to)
{
	unsigned int page_size = f->member[0].pages.page_size;
	unsigned int skip = (pos - f->begin) & (page_size - 1);
	unsigned int i = dat_find(f->range, pos);
	struct dat_member *member = &f->member[i / nr_cpu_ids];
	const char *page;

	page = dat_pages_at(&member->pages, &f->range[i], &f->next[i], i % nr_cpu_ids, pos - skip);
	if (IS_ERR(page))
		return PTR_ERR(page);
	return copy_to_iter(page + skip, page_size - skip, to);
}

/* Copy some of the bytes at @pos. */
static ssize_t dat_copy(struct dat_reading *reading, u64 pos, struct iov_iter *to)
{
	struct dat_file *f = container_of(reading, struct dat_file, reading);
	size_t at = pos;
	unsigned int i;

	if (pos >= f->begin)
		return dat_copy_page(f, pos, to);
	for (i = 0; i < f->nr_parts; at -= f->part[i++].len) {
		if (at < f->part[i].len)
			return copy_to_iter(f->part[i].data + at, f->part[i].len - at, to);
	}
	return iov_iter_zero(f->begin - pos, to);
}

static struct dat_file *dat_begin_reading(struct trace_array *whole)
{
	struct dat_pins *pins = dat_pin_members(whole);
	struct dat_file *f;

	if (IS_ERR(pins))
		return ERR_CAST(pins);
	f = kvzalloc(struct_size(f, member, pins->nr), GFP_KERNEL);
	if (!f) {
		dat_unpin(pins);
		return ERR_PTR(-ENOMEM);
	}
	f->pins = pins;
	for (; f->nr < pins->nr; f->nr++)
		f->member[f->nr].tr = pins->tr[f->nr];
	mutex_init(&f->reading.mutex);
	f->reading.copy = dat_copy;
	return f;
}

static void dat_end_reading(struct dat_file *f)
{
	dat_free_layout(f);
	dat_unpin(f->pins);
	kvfree(f);
}

/* The first open captures. */
struct dat_first {
	struct trace_job	job;
	const struct dat_pins	*pins;
};

static int dat_capture_pinned(struct trace_job *job)
{
	const struct dat_pins *pins = container_of(job, struct dat_first, job)->pins;
	int ret = mutex_lock_interruptible(&event_mutex);

	if (ret)
		return ret;
	ret = dat_capture(pins->tr[0]);
	mutex_unlock(&event_mutex);
	return ret ?: dat_capture_symbols(pins, job);
}

static int dat_open_kept(struct trace_array *tr, struct file *file, bool real)
{
	struct dat_first first = { .job.fn = dat_capture_pinned };
	struct dat_file *f;
	int ret;

	if (real && !(trace_clock_in_ns(tr) && trace_snapshot_clocks(tr)->mono))
		return -ENODATA;
	f = dat_begin_reading(tr);
	if (IS_ERR(f))
		return PTR_ERR(f);
	f->reading.real = real;
	first.pins = f->pins;
	ret = trace_job_run(&first.job);
	ret = ret ?: dat_lay_out(f, kallsyms_show_value(file->f_cred));
	if (ret)
		dat_end_reading(f);
	else
		file->private_data = &f->reading;
	return ret;
}

static int dat_open(struct inode *inode, struct file *file)
{
	bool real = file->f_op == &trace_realtime_dat_fops;
	struct trace_array *tr = inode->i_private;
	int ret = tracing_check_open_get_tr(tr);

	if (ret)
		return ret;
	/* All writers have committed: a snapshot has no instance before that. */
	ret = dat_open_kept(tr, file, real);
	dat_log(tr, real, ret);
	trace_array_put(tr);
	return ret;
}

static int dat_release(struct inode *inode, struct file *file)
{
	dat_end_reading(container_of(file->private_data, struct dat_file, reading));
	return 0;
}

/**
 * dat_read_iter() - read from an open file: &file_operations.read_iter
 * @iocb: the file, with a &struct dat_reading as its private data, and where to read
 * @to:   where to
 *
 * Context: May sleep.
 * Return: bytes; -EINTR for a fatal signal; -EFAULT; or an error of &dat_reading.copy.
 */
ssize_t dat_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct dat_reading *reading = iocb->ki_filp->private_data;
	ssize_t done = 0, ret = 0;

	guard(mutex)(&reading->mutex);
	while (iov_iter_count(to) && iocb->ki_pos < reading->size) {
		ret = fatal_signal_pending(current) ? -EINTR :
						      reading->copy(reading, iocb->ki_pos, to);
		if (!ret)
			ret = -EFAULT;
		if (ret < 0)
			break;
		iocb->ki_pos += ret;
		done += ret;
	}
	return done ?: ret;
}

/**
 * dat_llseek() - set where to read: &file_operations.llseek
 * @file:   as for dat_read_iter()
 * @offset: bytes
 * @whence: from where
 *
 * Context: May sleep.
 * Return: the offset; -EINVAL if it is not in the file.
 */
loff_t dat_llseek(struct file *file, loff_t offset, int whence)
{
	struct dat_reading *reading = file->private_data;

	return fixed_size_llseek(file, offset, whence, reading->size);
}

const struct file_operations trace_dat_fops = DAT_FOPS(dat_open, dat_release);
/* The same file, with times of the day. */
const struct file_operations trace_realtime_dat_fops = DAT_FOPS(dat_open, dat_release);
