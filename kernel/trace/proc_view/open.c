// SPDX-License-Identifier: GPL-2.0
/*
 * The open file in /proc/PID/trace.
 */
#include <linux/bitmap.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "internal.h"

/**
 * struct view_file - an open file
 * @user: its user, or NULL
 * @copy: the threads that it shows, and the records as text or as a trace.dat
 * @head: text in front of the records
 * @size: bytes of the file
 * @part: the file
 */
struct view_file {
	struct view_user	*user;
	struct view_copy	copy;
	char			head[512];
	loff_t			size;
	struct dat_block	part[2];
};

static void view_file_free(struct view_file *f)
{
	view_group_put(&f->copy.group);
	view_store_free(&f->copy.store);
	trace_dat_copy_free(&f->copy.dat);
	view_user_put(f->user);
	static_branch_dec(&trace_view_used);
	kfree(f);
}

static void view_lay_out_text(struct view_file *f)
{
	struct view_copy *copy = &f->copy;
	struct view_store *store = &copy->store;
	size_t len;

	len = scnprintf(f->head, sizeof(f->head),
			"# instance=%s pid=%d records=%u dropped=%lu gaps=%lu\n"
			"#           TASK-PID     CPU#  |||||  TIMESTAMP  EVENT\n",
			copy->view->name, copy->group.vnr, store->nr, store->dropped, copy->gaps);
	/* Where each record begins is of no use any more, nor is what was dropped in front. */
	kvfree(store->entry);
	store->entry = NULL;
	bitmap_free(store->missed);
	store->missed = NULL;
	f->part[0] = (struct dat_block){ f->head, len };
	f->part[1] = (struct dat_block){ store->data, store->used };
}

/* An iterator with its &trace_iterator.buffer_iter behind it */
static struct trace_iterator *view_iter_alloc(void)
{
	struct trace_iterator *iter;

	iter = kzalloc(sizeof(*iter) + nr_cpu_ids * sizeof(*iter->buffer_iter), GFP_KERNEL_ACCOUNT);
	if (!iter)
		return NULL;
	trace_seq_init(&iter->tmp_seq);
	iter->buffer_iter = (void *)(iter + 1);
	return iter;
}

static int view_file_fill(struct view_file *f, struct pid *pid, struct pid_namespace *ns)
{
	struct view_copy *copy = &f->copy;
	int ret;

	copy->iter = view_iter_alloc();
	if (!copy->iter)
		return -ENOMEM;
	/* Other files of the user wait. */
	ret = f->user ? mutex_lock_killable(&f->user->busy) : 0;
	if (!ret) {
		ret = view_collect(copy, pid, ns);
		if (f->user)
			mutex_unlock(&f->user->busy);
	}
	kfree(copy->iter->fmt);
	kfree(copy->iter);
	if (ret)
		return ret;
	if (copy->dat.head.data) {
		/* The records are no longer wanted behind their trace.dat. */
		view_store_free(&copy->store);
		f->part[0] = copy->dat.head;
		f->part[1] = copy->dat.pages;
	} else {
		view_lay_out_text(f);
	}
	f->size = f->part[0].len + f->part[1].len;
	return 0;
}

static struct view_file *view_file_alloc(void)
{
	struct view_file *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	struct view_user *user;

	if (!f)
		return ERR_PTR(-ENOMEM);
	user = view_user_get();
	if (IS_ERR(user)) {
		kfree(f);
		return ERR_CAST(user);
	}
	f->user = user;
	return f;
}

/**
 * trace_view_open() - open a file in /proc/PID/trace
 * @file: the file
 * @pid:  identity of PID
 * @ns:   namespace of the reader
 * @name: name of the file
 * @len:  its length
 *
 * Context: May sleep.
 * Return: 0, then trace_view_release() has to follow; -ENOENT if no instance has the name;
 *	   -EDQUOT if the user has too many open; and as view_collect().
 */
int trace_view_open(struct file *file, struct pid *pid, struct pid_namespace *ns,
		    const char *name, unsigned int len)
{
	enum trace_view_kind kind;
	struct trace_stamp since;
	struct trace_view *view;
	struct view_file *f;
	int ret;

	view = view_get(name, len, &kind, &since);
	if (!view)
		return -ENOENT;
	f = view_file_alloc();
	if (IS_ERR(f)) {
		static_branch_dec(&trace_view_used);
		view_put(view);
		return PTR_ERR(f);
	}
	f->copy = (struct view_copy){
		.view = view,
		.since = since,
		.store.limit = VIEW_LIMIT,
		.dat.symbols = kallsyms_show_value(file->f_cred),
		.take = kind == TRACE_VIEW_TEXT ? view_text_take : view_raw_take,
		.finish = kind == TRACE_VIEW_TEXT ? view_text_finish : view_raw_finish,
	};
	ret = view_file_fill(f, pid, ns);
	view_put(view);
	if (ret)
		view_file_free(f);
	else
		file->private_data = f;
	return ret;
}

/* Copy bytes at @pos, up to the end of a part and of a page of the caller. */
static ssize_t view_copy(struct view_file *f, char __user *ubuf, size_t cnt, loff_t pos)
{
	const struct dat_block *part = f->part;
	int ret;

	while (pos >= part->len)
		pos -= part++->len;
	cnt = min3(cnt, part->len - (size_t)pos, PAGE_SIZE - offset_in_page(ubuf));
	ret = view_group_copy_out(&f->copy.group, ubuf, part->data + pos, cnt);
	return ret ?: cnt;
}

/**
 * trace_view_read() - read() of a file in /proc/PID/trace
 * @file: the file
 * @ubuf: user memory
 * @cnt:  bytes of it
 * @ppos: position in the file
 *
 * Context: May sleep.
 * Return: number of bytes; errors as view_group_copy_out().
 */
ssize_t trace_view_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct view_file *f = file->private_data;
	ssize_t ret = 0, done = 0;

	while (done < cnt && *ppos < f->size) {
		ret = fatal_signal_pending(current) ? -EINTR :
		      view_copy(f, ubuf + done, cnt - done, *ppos);
		if (ret < 0)
			break;
		*ppos += ret;
		done += ret;
		cond_resched();
	}
	return done ?: min(ret, 0);
}

/**
 * trace_view_llseek() - lseek() of a file in /proc/PID/trace
 * @file:   the file
 * @offset: as of lseek()
 * @whence: as of lseek()
 *
 * Context: May sleep.
 * Return: the new position, or -EINVAL.
 */
loff_t trace_view_llseek(struct file *file, loff_t offset, int whence)
{
	struct view_file *f = file->private_data;

	return fixed_size_llseek(file, offset, whence, f->size);
}

/**
 * trace_view_release() - release a file in /proc/PID/trace
 * @file: the file
 *
 * Context: May sleep.
 */
void trace_view_release(struct file *file)
{
	view_file_free(file->private_data);
}
