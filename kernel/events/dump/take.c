// SPDX-License-Identifier: GPL-2.0
/*
 * The open file: a copy of the ring of a file descriptor.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/security.h>
#include <linux/uaccess.h>

#include "internal.h"

/* A ring without data pages has no records, and counts as none. */
static struct perf_buffer *ring_get(struct file *file, struct perf_event **event)
{
	const struct perf_event *of = perf_get_event(file);
	struct perf_buffer *rb;

	if (IS_ERR(of))
		return NULL;
	/* The file holds it. */
	*event = (struct perf_event *)of;
	rb = ring_buffer_get(*event);
	if (rb && !rb->nr_pages) {
		ring_buffer_put(rb);
		return NULL;
	}
	return rb;
}

/**
 * perf_dump_ring() - tell rings apart
 * @file: any file
 *
 * Return: a value that two files have in common if they are of one ring now, or 0.
 */
unsigned long perf_dump_ring(struct file *file)
{
	struct perf_event *event;
	struct perf_buffer *rb = ring_get(file, &event);

	if (rb)
		ring_buffer_put(rb);
	return (unsigned long)rb;
}

/**
 * perf_dump_may() - may the caller see the records of a ring?
 * @file: a file of the ring
 *
 * Context: May sleep.
 * Return: 0; -ENOENT if it has no ring; -EACCES, -EPERM or an error of a security module; -E2BIG
 *	   if the ring has too many events; -ENOMEM.
 */
int perf_dump_may(struct file *file)
{
	struct dump_events events = {};
	struct perf_event *event;
	struct perf_buffer *rb = ring_get(file, &event);
	int ret;

	if (!rb)
		return -ENOENT;
	ret = dump_events_get(rb, &events) ?: security_perf_event_read(event);
	dump_events_put(&events);
	ring_buffer_put(rb);
	return ret;
}

/**
 * perf_dump_free() - free a copy
 * @dump: the copy
 */
void perf_dump_free(struct perf_dump *dump)
{
	kvfree(dump->ring.data);
	dump_events_put(&dump->events);
	kvfree(dump->head);
	if (dump->ns)
		put_pid_ns(dump->ns);
	if (dump->ucounts)
		user_shm_unlock(dump->charged, dump->ucounts);
	kfree(dump);
}

/* A copy stays as long as its file is open, so a user has a limit. */
static int dump_charge(struct perf_dump *dump, size_t size)
{
	struct ucounts *ucounts = current_ucounts();

	if (!user_shm_lock(size, ucounts))
		return -EDQUOT;
	dump->ucounts = ucounts;
	dump->charged = size;
	return 0;
}

static int dump_fill(struct perf_dump *dump, struct perf_buffer *rb, bool backward)
{
	struct dump_events before = {};
	int ret = dump_events_get(rb, &before);
	size_t size = perf_data_size(rb) + before.nr * sizeof(*before.event);

	dump_events_put(&before);
	ret = ret ?: dump_charge(dump, size);
	if (ret)
		return ret;
	ret = dump_ring_copy(rb, backward, &dump->ring);
	if (ret)
		return ret;
	dump->kept = rb->overwrite;
	dump->paused = READ_ONCE(rb->paused);
	dump->dropped = local_read(&rb->lost);
	dump->aux_size = (unsigned long)READ_ONCE(rb->aux_nr_pages) << PAGE_SHIFT;
	/* Behind the copy: each record in it is of one of these, or of one that has left. */
	return dump_events_get(rb, &dump->events);
}

/**
 * perf_dump_take() - copy a ring
 * @file: a file of the ring; its reference is released, before the copy
 * @fd:	  its descriptor
 * @data: make a perf.data, not a text
 * @exec_id: number of the program that has the descriptor
 *
 * Context: May sleep.
 * Return: the copy, for perf_dump_free(); an error pointer: as perf_dump_may(); -EDQUOT if the
 *	   copies of the user are above RLIMIT_MEMLOCK; -EFBIG if the ring has 2 GB; -EINTR if the
 *	   caller is killed.
 */
struct perf_dump *perf_dump_take(struct file *file, unsigned int fd, bool data, u64 exec_id)
{
	struct perf_dump *dump = kzalloc(sizeof(*dump), GFP_KERNEL_ACCOUNT);
	struct perf_event *event;
	struct perf_buffer *rb;
	bool backward = false;
	int ret = -ENOENT;

	if (!dump) {
		fput(file);
		return ERR_PTR(-ENOMEM);
	}
	dump->fd = fd;
	dump->exec_id = exec_id;
	rb = ring_get(file, &event);
	if (rb) {
		dump->ns = get_pid_ns(event->ns);
		backward = event->attr.write_backward;
		/* As mmap() of the ring asks. */
		ret = security_perf_event_read(event);
	}
	fput(file);
	if (rb) {
		ret = ret ?: dump_fill(dump, rb, backward);
		ring_buffer_put(rb);
	}
	if (!ret && data)
		ret = dump_data_head(dump);
	if (!ret)
		return dump;
	perf_dump_free(dump);
	return ERR_PTR(ret);
}

/**
 * perf_dump_allowed() - may the caller see the records of a copy?
 * @dump: the copy
 *
 * Context: May sleep.
 * Return: 0, or a negative error.
 */
int perf_dump_allowed(const struct perf_dump *dump)
{
	return dump_events_allowed(&dump->events);
}

/**
 * perf_dump_exec_id() - the program that had the ring
 * @dump: the copy
 *
 * Return: its number.
 */
u64 perf_dump_exec_id(const struct perf_dump *dump)
{
	return dump->exec_id;
}

/**
 * perf_dump_size() - size of a perf.data
 * @dump: the copy
 *
 * Return: bytes.
 */
loff_t perf_dump_size(const struct perf_dump *dump)
{
	return (loff_t)dump->head_len + dump->ring.len;
}

/**
 * perf_dump_read() - read a perf.data
 * @dump: the copy
 * @ubuf: gets the bytes
 * @cnt:  their number
 * @ppos: where; is moved on
 *
 * Context: May sleep.
 * Return: bytes, 0 at the end, -EFAULT or -EINVAL.
 */
ssize_t perf_dump_read(const struct perf_dump *dump, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	const void *records = dump->ring.data + dump->ring.start;
	ssize_t head = 0, ret;
	loff_t pos;

	if (*ppos < (loff_t)dump->head_len) {
		head = simple_read_from_buffer(ubuf, cnt, ppos, dump->head, dump->head_len);
		if (head < 0 || head == cnt)
			return head;
	}
	pos = *ppos - dump->head_len;
	ret = simple_read_from_buffer(ubuf + head, cnt - head, &pos, records, dump->ring.len);
	if (ret < 0)
		return head ?: ret;
	*ppos += ret;
	return head + ret;
}
