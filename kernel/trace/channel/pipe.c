// SPDX-License-Identifier: GPL-2.0
/*
 * Readers that consume: how they wait; and "trace_pipe" of a session: print, wait, poll.
 */
#include <linux/completion.h>
#include <linux/fdtable.h>

#include "internal.h"

/**
 * trace_pipe_print() - print the current record of an open file that consumes
 * @iter: iterator of the file
 *
 * A channel's iterator has a buffer of its own for text; it is copied to that of @iter.
 *
 * Context: May sleep, trace_event_read_lock() was called.
 * Return: as print_trace_line().
 */
enum print_line_t trace_pipe_print(struct trace_iterator *iter)
{
	struct trace_iterator *sub = trace_merge_current(iter);
	unsigned int room = seq_buf_buffer_left(&iter->seq.seq);
	enum print_line_t ret;

	if (sub == iter)
		return print_trace_line(iter);
	if (!room)
		return TRACE_TYPE_PARTIAL_LINE;
	trace_seq_init(&sub->seq);
	/* A tracer that has consumed the record looks at this overflow, and prints it again. */
	seq_buf_init(&sub->seq.seq, sub->seq.buffer, room);
	ret = print_trace_line(sub);
	if (trace_seq_has_overflowed(&sub->seq))
		return TRACE_TYPE_PARTIAL_LINE;
	trace_seq_putmem(&iter->seq, sub->seq.buffer, trace_seq_used(&sub->seq));
	return ret;
}

/* A task that waits for any of several buffers */
struct pipe_waiter {
	poll_table		table;
	struct completion	woken;
	unsigned int		nr;
	struct pipe_wait_entry {
		struct pipe_waiter	*waiter;
		wait_queue_head_t	*head;
		wait_queue_entry_t	entry;
	} entries[];
};

static int pipe_wake(wait_queue_entry_t *entry, unsigned int mode, int flags, void *key)
{
	complete(&container_of(entry, struct pipe_wait_entry, entry)->waiter->woken);
	return 1;
}

static void pipe_queue(struct file *file, wait_queue_head_t *head, poll_table *table)
{
	struct pipe_waiter *waiter = container_of(table, struct pipe_waiter, table);
	struct pipe_wait_entry *e = &waiter->entries[waiter->nr++];

	e->waiter = waiter;
	e->head = head;
	init_waitqueue_func_entry(&e->entry, pipe_wake);
	add_wait_queue(head, &e->entry);
}

/* Where nothing is recorded, no more than there is fills a ring. */
static int pipe_full(struct trace_buffer *buffer, int full)
{
	return ring_buffer_is_switched_on(buffer) ? full : 0;
}

/**
 * trace_pipe_poll() - poll for a record of a session
 * @iter:  iterator of an open file of it that consumes
 * @file:  the file that is polled, or NULL
 * @table: of the poll
 * @full:  percentage of a CPU's ring that must be filled, or 0; for a file of one CPU
 *
 * Context: May sleep.
 * Return: EPOLLIN | EPOLLRDNORM if the session or a channel has something to read, else 0;
 *	   EPOLLERR if all are for a CPU that never was online.
 */
__poll_t trace_pipe_poll(struct trace_iterator *iter, struct file *file, poll_table *table,
			 int full)
{
	struct trace_merge *m = iter->merge;
	struct trace_buffer *buffer = iter->array_buffer->buffer;
	__poll_t mask = ring_buffer_reader_poll(iter->reader, file, table,
						pipe_full(buffer, full));
	__poll_t all = mask, one;
	unsigned int i;

	for (i = 0; i < m->nr_iters; i++) {
		buffer = m->iters[i]->array_buffer->buffer;
		one = ring_buffer_reader_poll(m->iters[i]->reader, file, table,
					      pipe_full(buffer, full));
		mask |= one;
		all &= one;
	}
	return (mask & (EPOLLIN | EPOLLRDNORM)) | (all & EPOLLERR);
}

/*
 * Wait for a record of a session, or until @cond of @data. It may return without either, and does
 * when the session is switched off.
 */
static int pipe_wait(struct trace_iterator *iter, ring_buffer_cond_fn cond, void *data)
{
	/* Each polls in two queues. */
	unsigned int nr = 2 * (iter->merge->nr_iters + 1);
	struct pipe_waiter *waiter;
	__poll_t mask;
	int ret = 0;

	waiter = kzalloc(struct_size(waiter, entries, nr), GFP_KERNEL);
	if (!waiter)
		return -ENOMEM;
	init_completion(&waiter->woken);
	init_poll_funcptr(&waiter->table, pipe_queue);
	mask = trace_pipe_poll(iter, NULL, &waiter->table, 0);
	if (mask & EPOLLERR)
		ret = -ENODEV;
	/* Tested behind the poll: what came before it does not wake. */
	else if (!mask && !cond(data))
		ret = wait_for_completion_interruptible(&waiter->woken);
	while (waiter->nr--)
		remove_wait_queue(waiter->entries[waiter->nr].head,
				  &waiter->entries[waiter->nr].entry);
	kfree(waiter);
	return ret;
}

static int reader_has(const void *file, struct file *pos, unsigned int fd)
{
	return pos == file;
}

/**
 * trace_reader_is_closed() - has the task closed a file of raw records that it reads?
 * @iter: iterator of the file
 * @file: the file
 *
 * &trace_iterator.closed says only that a descriptor of it was closed, maybe a copy.
 *
 * Context: Task that reads the file.
 * Return: true if no descriptor of the task's is left.
 */
bool trace_reader_is_closed(struct trace_iterator *iter, struct file *file)
{
	return READ_ONCE(iter->closed) &&
	       (!current->files || !iterate_fd(current->files, 0, reader_has, file));
}

/**
 * trace_reader_full() - how much a reader that polls waits for
 * @iter: iterator of the open file
 *
 * Context: Any context.
 * Return: the percentage of the ring, or 0 for any record: where nothing is recorded, no more
 *	   comes.
 */
int trace_reader_full(struct trace_iterator *iter)
{
	return pipe_full(iter->array_buffer->buffer, iter->tr->buffer_percent);
}

struct reader_wait {
	struct trace_iterator	*iter;
	struct file		*file;
	int			index, full;
	bool			on;
};

/* Another thread, the end of the instance's owner, or a switch ends it. */
static bool reader_ends(void *data)
{
	struct reader_wait *wait = data;
	struct trace_iterator *iter = wait->iter;

	if (atomic_read_acquire(&iter->wait_index) != wait->index || READ_ONCE(iter->tr->retired) ||
	    trace_reader_is_closed(iter, wait->file))
		return true;
	if (ring_buffer_is_switched_on(iter->array_buffer->buffer))
		return false;
	/* Less than a watermark is all that there will be. */
	return wait->on ||
	       (wait->full && !ring_buffer_empty_cpu(iter->array_buffer->buffer, iter->cpu_file));
}

/**
 * trace_reader_wait() - wait for a record
 * @iter: iterator of an open file that consumes
 * @file: the file
 * @full: percentage of the CPU's ring that must be filled, or 0
 * @on:   it was on when the caller looked, and there is no use to wait when it is off
 *
 * It may return without a record.
 *
 * Context: Task that reads the file; may sleep.
 * Return: 0; -ENODEV for a CPU that never was online; -ENOMEM; -ERESTARTSYS on a signal.
 */
int trace_reader_wait(struct trace_iterator *iter, struct file *file, int full, bool on)
{
	struct reader_wait wait = {
		.iter = iter,
		.file = file,
		.index = atomic_read_acquire(&iter->wait_index),
		.full = full,
		.on = on,
	};

	/* An iterator of a snapshot has all that it will. */
	if (iter->buffer_iter)
		return 0;
	if (iter->merge)
		return pipe_wait(iter, reader_ends, &wait);
	if (iter->reader)
		return ring_buffer_reader_wait(iter->reader, reader_ends, &wait);
	return ring_buffer_wait(iter->array_buffer->buffer, iter->cpu_file, full, reader_ends,
				&wait);
}
