// SPDX-License-Identifier: GPL-2.0
/*
 * "trace_pipe" of a session: print, wait, poll.
 */
#include <linux/completion.h>
#include <linux/slab.h>
#include <linux/wait.h>

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
	enum print_line_t ret;

	if (sub == iter)
		return print_trace_line(iter);
	trace_seq_init(&sub->seq);
	/* A tracer that has consumed the record looks at this overflow, and prints it again. */
	sub->seq.seq.size = iter->seq.seq.size - trace_seq_used(&iter->seq);
	if (!sub->seq.seq.size)
		return TRACE_TYPE_PARTIAL_LINE;
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
	__poll_t mask = ring_buffer_poll_wait(iter->array_buffer->buffer, iter->cpu_file, file,
					      table, full);
	__poll_t all = mask, one;
	unsigned int i;

	for (i = 0; i < m->nr_iters; i++) {
		one = ring_buffer_poll_wait(m->iters[i]->array_buffer->buffer, iter->cpu_file,
					    file, table, full);
		mask |= one;
		all &= one;
	}
	return (mask & (EPOLLIN | EPOLLRDNORM)) | (all & EPOLLERR);
}

/**
 * trace_pipe_wait() - wait for a record of a session
 * @iter: iterator of an open file of it that consumes
 *
 * It may return without a record, as when the session is switched off.
 *
 * Context: May sleep.
 * Return: 0; -ENODEV for a CPU that never was online; -ENOMEM; -ERESTARTSYS on a signal.
 */
int trace_pipe_wait(struct trace_iterator *iter)
{
	unsigned int nr = iter->merge->nr_iters + 1;
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
	/* Tested once more: a retirement before this waited did not wake it. */
	else if (!mask && !READ_ONCE(iter->tr->retired))
		ret = wait_for_completion_interruptible(&waiter->woken);
	while (waiter->nr--)
		remove_wait_queue(waiter->entries[waiter->nr].head,
				  &waiter->entries[waiter->nr].entry);
	kfree(waiter);
	return ret;
}
