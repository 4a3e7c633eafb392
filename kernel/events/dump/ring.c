// SPDX-License-Identifier: GPL-2.0
/*
 * Copy a ring of perf while it is written, and find the records in the copy.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "internal.h"

/* So often a head is read that the writer moves away at once. */
#define DUMP_TRIES	10

#define DUMP_GFP	(GFP_KERNEL_ACCOUNT | __GFP_NOWARN)

#if IS_ENABLED(CONFIG_PERF_DUMP_KUNIT_TEST)
void (*dump_ring_hook)(struct perf_buffer *rb);

static void ring_hook(struct perf_buffer *rb)
{
	if (dump_ring_hook)
		dump_ring_hook(rb);
}
#else
static void ring_hook(struct perf_buffer *rb) { }
#endif

/* A walk over a ring of 1 GB takes long: it ends early if the caller is killed. */
static bool ring_killed(void)
{
	cond_resched();
	return fatal_signal_pending(current);
}

/**
 * dump_record_size() - size of the record at a place, if there can be one
 * @data: the place, aligned to 8 bytes
 * @room: bytes there
 *
 * Return: the size, a multiple of 8, or 0.
 */
unsigned int dump_record_size(const void *data, unsigned long room)
{
	const struct perf_event_header *header = data;

	if (room < sizeof(*header) || header->size < sizeof(*header) || header->size > room ||
	    header->size % sizeof(u64))
		return 0;
	return header->size;
}

/* The number of records that seem to lie in a range */
static unsigned long ring_count(const void *data, unsigned long len)
{
	unsigned long at = 0, nr = 0;
	unsigned int size;

	for (; (size = dump_record_size(data + at, len - at)) && !ring_killed(); at += size)
		nr++;
	return nr;
}

/* Find the records from the start on, and say what is behind them. */
static void ring_find(struct dump_ring *ring, unsigned long end)
{
	unsigned long at = ring->start;
	unsigned int size;

	for (; (size = dump_record_size(ring->data + at, end - at)) && !ring_killed(); at += size)
		ring->records++;
	ring->len = at - ring->start;
	ring->damaged = end - at;
}

/*
 * Find the first place in [from, end] from which each record leads to the next one, and the last
 * one to the end. A chain is known from its end on.
 */
static int ring_sync(const struct dump_ring *ring, unsigned long from, unsigned long end,
		     unsigned long *start)
{
	unsigned long w, first = end / sizeof(u64), last = first;

	unsigned long *begins __free(kvfree) = kvcalloc(BITS_TO_LONGS(last + 1), sizeof(*begins),
							DUMP_GFP);

	if (!begins)
		return -ENOMEM;
	__set_bit(last, begins);
	for (w = last; w-- > from / sizeof(u64); ) {
		const struct perf_event_header *header = ring->data + w * sizeof(u64);
		unsigned int size = dump_record_size(header, end - w * sizeof(u64));

		if (w % PAGE_SIZE == 0 && ring_killed())
			break;
		if (!size || !header->type || header->type >= PERF_RECORD_MAX)
			continue;
		if (!test_bit(w + size / sizeof(u64), begins))
			continue;
		__set_bit(w, begins);
		first = w;
	}
	*start = first * sizeof(u64);
	return 0;
}

/*
 * Count the records in @gone that lead to the first one which is left. There may be none: bytes of
 * a record that was overwritten in part before, or zeroes, where nothing was ever written.
 */
static int ring_count_gone(struct dump_ring *ring)
{
	/* More than any record has */
	unsigned long first, rest = min(ring->start - ring->gone, 1UL + U16_MAX);
	int ret = ring_sync(ring, 0, ring->start, &first);

	if (ret)
		return ret;
	ring->lost = ring_count(ring->data + first, ring->start - first);
	if (!ring->lost && rest && !memchr_inv(ring->data + ring->gone, 0, rest))
		ring->gone = 0;
	return 0;
}

static void words_turn(u64 *word, unsigned long nr)
{
	unsigned long i;

	for (i = 0; i < nr / 2; i++) {
		swap(word[i], word[nr - 1 - i]);
		if (i % PAGE_SIZE == 0 && ring_killed())
			break;
	}
}

/*
 * Put the oldest record first. All words are turned around, and then those of each record again.
 * Between these, the header of a record is its last word.
 */
static void ring_turn(struct dump_ring *ring)
{
	u64 *word = ring->data + ring->start;
	unsigned long end = ring->len / sizeof(u64);

	words_turn(word, end);
	while (end && !ring_killed()) {
		const struct perf_event_header *header = (void *)&word[end - 1];
		unsigned int nr = header->size / sizeof(u64);

		end -= nr;
		words_turn(word + end, nr);
	}
}

static int ring_read(struct perf_buffer *rb, void *to, unsigned long pos, unsigned long len)
{
	unsigned int shift = PAGE_SHIFT + page_order(rb);

	while (len) {
		const void *page = rb->data_pages[(pos >> shift) & (rb->nr_pages - 1)];
		unsigned long offset = pos & ((1UL << shift) - 1);
		unsigned long n = min3(len, (1UL << shift) - offset, PAGE_SIZE);

		/* The writer may write there. It is found out later. */
		data_race(memcpy(to, page + offset, n));
		to += n;
		pos += n;
		len -= n;
		ring_hook(rb);
		if (ring_killed())
			return -EINTR;
	}
	return 0;
}

/* The head, behind all records that are complete. */
static unsigned long ring_head(struct perf_buffer *rb, bool backward)
{
	unsigned long head, far, size = perf_data_size(rb);
	int i;

	for (i = 0; i < DUMP_TRIES; i++) {
		head = READ_ONCE(rb->user_page->data_head);
		/* C, pairs with B in perf_output_put_handle(). */
		smp_rmb();
		far = local_read(&rb->head) - head;
		if (backward)
			far = -far;
		if (far <= size && head % sizeof(u64) == 0)
			return head;
	}
	/* User space has written there. A record that is not complete is of no importance then. */
	return local_read(&rb->head);
}

/* Now a head is read that is beyond each record that the copy has a byte of. */
static unsigned long ring_later_head(struct perf_buffer *rb)
{
#if !defined(CONFIG_X86) && !defined(_ASM_GENERIC_LOCAL_H)
	/* local_cmpxchg() orders nothing there. */
	synchronize_rcu();
#endif
	/* Pairs with the cmpxchg of &perf_buffer.head in __perf_output_begin(). */
	smp_rmb();
	return local_read(&rb->head);
}

static unsigned long ring_tail(struct perf_buffer *rb)
{
	return READ_ONCE(rb->user_page->data_tail);
}

/*
 * Read the head, and the tail at that moment: the consumer and the writer may go on between two
 * reads. Returns false if the tail is not that of a consumer.
 */
static bool ring_bounds(struct perf_buffer *rb, bool backward, unsigned long *head,
			unsigned long *tail)
{
	unsigned long far;
	int i;

	for (i = 0; i < DUMP_TRIES; i++) {
		*tail = ring_tail(rb);
		/* A consumer is at a head that it has read: not beyond that one, read here. */
		smp_rmb();
		*head = ring_head(rb, backward);
		ring_hook(rb);
		/* A writer has room by a tail: not by a later one than that, read here. */
		smp_rmb();
		if (ring_tail(rb) == *tail)
			break;
	}
	far = backward ? *tail - *head : *head - *tail;
	return far <= perf_data_size(rb) && *tail % sizeof(u64) == 0;
}

static int ring_copy_forward(struct perf_buffer *rb, struct dump_ring *ring)
{
	unsigned long head, from, tail, safe, size = ring->size;
	bool known = false;
	int ret;

	if (rb->overwrite) {
		head = ring_head(rb, false);
	} else {
		known = ring_bounds(rb, false, &head, &tail);
		ring->bad_tail = !known;
	}
	from = known ? tail : head - size;
	ret = ring_read(rb, ring->data, from, head - from);
	if (ret)
		return ret;
	safe = ring_later_head(rb) - size;
	/* Pairs with the control dependency (A) on data_tail in __perf_output_begin(). */
	smp_rmb();
	tail = ring_tail(rb);
	if ((long)(safe - from) > 0) {
		ring->start = min(safe - from, head - from);
		if (known && tail % sizeof(u64) == 0 && tail - safe <= size) {
			/* The consumer has them. */
			ring->start = min(tail - from, head - from);
		} else {
			ring->gone = ring->start;
			known = false;
		}
	}
	if (!known) {
		ret = ring_sync(ring, ring->start, head - from, &ring->start);
		if (!ret && ring->gone)
			ret = ring_count_gone(ring);
		if (ret)
			return ret;
	}
	ring_find(ring, head - from);
	return 0;
}

static int ring_copy_backward(struct perf_buffer *rb, struct dump_ring *ring)
{
	unsigned long head, tail, safe, room, size = ring->size;
	unsigned long len = size;
	bool known = false;
	int ret;

	if (rb->overwrite) {
		head = ring_head(rb, true);
	} else {
		known = ring_bounds(rb, true, &head, &tail);
		ring->bad_tail = !known;
	}
	if (known)
		len = tail - head;
	ret = ring_read(rb, ring->data, head, len);
	if (ret)
		return ret;
	safe = ring_later_head(rb) + size;
	room = (long)(safe - head) > 0 ? min(safe - head, len) : 0;
	/* As in ring_copy_forward(). */
	smp_rmb();
	tail = ring_tail(rb);
	if (room < len && known && tail % sizeof(u64) == 0 && safe - tail <= size) {
		/* The consumer has those behind its tail. */
		room = (long)(tail - head) > 0 ? min(tail - head, len) : 0;
		len = room;
	}
	ring_find(ring, room);
	if (room < len) {
		/* Records that were there are lost. No size: nothing was ever there. */
		const struct perf_event_header *next = ring->data + ring->len;

		if (!ring->damaged || next->size) {
			ring->gone = len - ring->len;
			ring->lost = ring_count(next, ring->gone);
		}
		ring->damaged = 0;
	} else if (rb->overwrite) {
		/* Behind the oldest record lies a part of an older one, or nothing. */
		ring->damaged = 0;
	}
	ring_turn(ring);
	return 0;
}

/**
 * dump_ring_copy() - copy the records of a ring
 * @rb:	      the ring, with a reference
 * @backward: it is written backward
 * @ring:     gets the copy; zeroed. It is to be freed also after an error
 *
 * The records are in the order of writing. The ring stays as it is, and writers go on.
 *
 * Context: May sleep.
 * Return: 0; -ENOMEM; -EFBIG if the ring has 2 GB or more; -EINTR if the caller is killed.
 */
int dump_ring_copy(struct perf_buffer *rb, bool backward, struct dump_ring *ring)
{
	int ret;

	ring->size = perf_data_size(rb);
	ring->backward = backward;
	if (ring->size > INT_MAX)
		return -EFBIG;
	ring->data = kvmalloc(ring->size, DUMP_GFP);
	if (!ring->data)
		return -ENOMEM;
	ret = backward ? ring_copy_backward(rb, ring) : ring_copy_forward(rb, ring);
	/* A walk may have ended early. */
	return fatal_signal_pending(current) ? -EINTR : ret;
}
