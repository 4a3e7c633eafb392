// SPDX-License-Identifier: GPL-2.0
/*
 * Another number of sub-buffers, or another size of them.
 *
 * A ring of the new shape takes the place of the old one by the exchange of a
 * pointer, and the writers go on in it. When the last of them has left the old
 * ring, its sub-buffers go into the new one as the sequences before its first,
 * the newest first, each by a compare-and-exchange from the empty slot: where
 * the writer was faster, that one and the older ones do not fit any more, and
 * are counted as overwritten. That is done in parts. Readers stay on the old ring until it holds
 * nothing more for them.
 *
 * A struct rb_subbuf stays in its ring; its memory and the numbers of its records move. The
 * writer may claim a slot at any moment, so they move to a sub-buffer in no slot, and the
 * exchange of the slot word puts that one in place. The replaced one takes the next move.
 */
#include <linux/export.h>

#include "internal.h"

/* Sub-buffers that move at a time with interrupts off */
#define RB_PART		32

/* The writer has a slot, so one less is left for the old sub-buffers. */
static unsigned int rb_adoptable(struct rb_ring *ring)
{
	return ring->nr - 1;
}

/* Slot word of sequence @seq before the ring's first one, still unused. */
static u64 rb_untouched(struct rb_ring *ring, u64 seq, u64 flags)
{
	return rb_slot_word(seq, rb_slot(ring, seq) - ring->slots, RB_SLOT_EMPTY | flags);
}

/*
 * Keep slots for @n sub-buffers. @ring is not live yet, so plain stores do.
 */
static void rb_hold_slots(struct rb_ring *ring, unsigned int n)
{
	u64 seq = ring->reader.seq;

	for (n = min(n, rb_adoptable(ring)); n; n--, seq--)
		atomic64_set(rb_slot(ring, seq), rb_untouched(ring, seq, RB_SLOT_HELD));
}

/* Release the held slots that got no sub-buffer. */
static void rb_release_slots(struct rb_ring *ring, u64 first)
{
	u64 seq, word;

	for (seq = first - rb_adoptable(ring); seq != first; seq++) {
		word = rb_untouched(ring, seq, RB_SLOT_HELD);
		atomic64_try_cmpxchg(rb_slot(ring, seq), &word, rb_untouched(ring, seq, 0));
		if ((first - seq) % RB_PART == 0)
			cond_resched();
	}
}

/*
 * Let @sb, which no writer or reader can find, hold the records of @from, of @old, as sequence
 * @seq, with numbers that count from there. @sb was never written: its tail is open and
 * empty already, as rb_open_subbuf() leaves it.
 */
static void rb_take_over(struct rb_subbuf *sb, struct rb_subbuf *from, u64 seq,
			 struct rb_ring *old)
{
	unsigned int units = rb_tail_units(atomic64_read(&from->publish));
	struct rb_subbuf *last = old->commit;

	sb->page = from->page;
	sb->seq = seq;
	sb->stamped = seq;
	sb->first = from->first - old->successor_num;
	sb->first_byte = from->first_byte - last->first_byte - last->end * RB_UNIT;
	sb->count = from->count;
	sb->end = from->end;
	sb->link = rb_slot_word(seq, 0, 0);
	atomic64_set(&sb->publish, rb_pub_word(seq, RB_PUB_FINAL, units));
}

/**
 * struct rb_move - how far a resize has moved the records of a CPU
 * @from:   sequence in the old ring of the next sub-buffer to move
 * @spare:  sub-buffer of the new ring that is in no slot and has no memory
 * @missed: sub-buffer of the old ring for which there was no slot any more, or NULL
 * @oldest: time of the oldest record that was moved
 */
struct rb_move {
	u64			from;
	struct rb_subbuf	*spare;
	struct rb_subbuf	*missed;
	u64			oldest;
};

/*
 * Move the memory of @sb, of the old ring, into @move->spare, and put that into the slot in front
 * of those that were moved. @sb gets the memory of the sub-buffer that was in the slot, which is
 * spare from then on.
 *
 * Return: false if the writer has claimed the slot.
 */
static bool rb_adopt(struct rb_ring *ring, struct rb_ring *old, struct rb_move *move,
		     struct rb_subbuf *sb)
{
	struct rb_reader *rd = &ring->reader;
	u64 held = rb_untouched(ring, rd->seq, RB_SLOT_HELD);
	u64 empty = rb_untouched(ring, rd->seq, 0);
	struct rb_subbuf *was = ring->subbufs[rb_slot_id(empty)], *spare = move->spare;
	u64 word = rb_slot_word(rd->seq, spare->id, 0), stamp = sb->page->time_stamp, first;

	rb_take_over(spare, sb, rd->seq, old);
	first = spare->first;
	rb_race_point(ADOPT);
	/*
	 * All of it before the slot says so: the writer may be right behind. Pairs with
	 * rb_claim_slot:A, in a slot that was kept and in another. RBB(rb_adopt:A)
	 */
	if (!atomic64_try_cmpxchg(rb_slot(ring, rd->seq), &held, word) &&
	    /* Pairs with rb_claim_slot:A. RBB(rb_adopt:B) */
	    !atomic64_try_cmpxchg(rb_slot(ring, rd->seq), &empty, word)) {
		spare->page = NULL;
		return false;
	}
	rb_race_point(ADOPTED);
	/* The writer may have it by now. */
	move->oldest = stamp;
	/* In this order: a dump in between may not find numbers in front of the reader's. */
	rd->num = first;
	barrier();
	rd->seq--;
	/*
	 * Only then it is no longer in the old ring, as if a reader had taken it: a dump finds it
	 * in one of them. Pairs with rb_locate:A. RBB(rb_adopt:C)
	 */
	atomic64_xchg(rb_slot(old, move->from), rb_slot_word(move->from, sb->id, RB_SLOT_EMPTY));
	WRITE_ONCE(sb->page, was->page);
	was->page = NULL;
	move->spare = was;
	return true;
}

/* Let the reader of @ring own the records of @sb, of the old ring. */
static void rb_own(struct rb_ring *ring, struct rb_ring *old, struct rb_subbuf *sb)
{
	struct rb_reader *rd = &ring->reader;
	struct rb_data_page *page = rd->sb->page;

	rb_take_over(rd->sb, sb, rd->seq, old);
	/* A dump may still look there. */
	atomic64_set(&sb->publish, rb_pub_word(sb->seq, RB_PUB_FINAL, 0));
	WRITE_ONCE(sb->page, page);
}

/*
 * Begin to move the unread records from @old, which has no writers, to @ring. The time is @now.
 * From here on those that find nothing more in @old look into @ring, see rb_hand_over() and
 * rb_iter_follow().
 */
static void rb_inherit(struct rb_ring *ring, struct rb_ring *old, u64 now)
{
	lockdep_assert_held(&old->lock);
	rb_ring_close(old);
	ring->reader.since = min(rb_ring_since(old), now);
	ring->erased = old->erased;
	old->successor_num = rb_ring_written(old) - ring->reader.num;
	refcount_inc(&ring->ref);
	/*
	 * With all that is in @ring. Pairs with rb_iter_is_void:A, rb_iter_load_dump:A and
	 * ring_buffer_iter_bound:A.
	 */
	smp_store_release(&old->successor, ring); /* RBB(rb_inherit:A) */
}

/* Move a part of them. Return: false when all that fit were moved. */
static bool rb_move_some(struct rb_ring *ring, struct rb_ring *old, struct rb_move *move)
{
	struct rb_subbuf *sb;
	unsigned int n;
	u64 word;

	for (n = 0; n < RB_PART; n++, move->from--) {
		if ((s64)(move->from - old->reader.seq) <= 0)
			return false;
		word = atomic64_read(rb_slot(old, move->from));
		if (rb_slot_ahead(word, move->from))
			return false;
		sb = old->subbufs[rb_slot_id(word)];
		/* Where the writer was faster it stays so: the older ones do not fit, either. */
		if (sb->end && !rb_adopt(ring, old, move, sb)) {
			move->missed = sb;
			return false;
		}
	}
	return true;
}

/* Let the readers go on in the successor of @old. Records that have not moved are overwritten. */
static void rb_move_end(struct rb_cpu *rcpu, struct rb_ring *old, const struct rb_move *move)
{
	struct rb_ring *ring = old->successor;
	struct rb_reader *rd = &ring->reader, *was = &old->reader;
	struct rb_subbuf *missed = move->missed;
	bool begun = was->pos < rb_pub_bytes(rb_reader_pub(was));
	u64 seq = was->seq + 1, lost = 0;
	struct rb_view view;

	if (missed && rb_locate(old, &seq, &view))
		lost = missed->first - view.sb->first + (begun ? missed->count : 0);
	rb_reader_inherit(old, lost);
	/* The reader's own does not need a slot: one more fits. */
	if (begun) {
		/* The records that do not fit are behind the reader's. */
		if (lost)
			rd->since = max(rd->since, move->oldest);
		rb_own(ring, old, was->sb);
		rd->pos = was->pos;
		rd->time = was->time;
		rd->unsettled = was->unsettled & RB_READER_INHERITED;
	} else if (missed) {
		rd->time = missed->page->time_stamp;
		rb_own(ring, old, missed);
		rd->unsettled = RB_READER_INHERITED;
		rd->lost += rd->sb->first - rd->num;
		rd->num = rd->sb->first;
	}
	rb_race_point(SUCCESSOR);
	rb_reader_leave(rcpu, old);
}

/* Move all unread records, with interrupts on between the parts. @flags are those of the lock. */
static void rb_move(struct rb_cpu *rcpu, struct rb_ring *old, u64 now, unsigned long *flags)
{
	struct rb_ring *ring = rcpu->next_ring;
	struct rb_move move = {
		.spare = ring->subbufs[ring->nr + 1],
		.oldest = now,
	};
	bool more;

	rb_inherit(ring, old, now);
	move.from = old->commit->seq;
	for (;;) {
		rb_ring_lock(ring, RB_LOCK_NEXT);
		/* A reader that has met the end has left it. */
		more = !old->left && rb_move_some(ring, old, &move);
		if (!more && !old->left)
			rb_move_end(rcpu, old, &move);
		rb_ring_unlock(ring);
		if (!more)
			return;
		rb_read_unlock(old, *flags);
		rb_race_point(PART);
		cond_resched();
		local_irq_save(*flags);
		rb_ring_lock(old, RB_LOCK_WAIT);
	}
}

/*
 * The sub-buffers change their size: count unread records as overwritten, and as lost for
 * each reader.
 */
static void rb_disinherit(struct rb_cpu *rcpu, struct rb_ring *ring, struct rb_ring *old)
{
	lockdep_assert_held(&old->lock);
	ring->reader.read = old->reader.read;
	ring->reader.lost = old->reader.lost + rb_ring_written(old) - old->reader.num;
	rb_reader_carry(ring, old, rb_ring_entries(old));
	ring->reader.num_base -= ring->reader.carried.overrun + ring->reader.read;
	rb_readers_follow(rcpu, old, ring, rb_ring_written(old) - ring->reader.num);
	rb_iters_end(old);
}

/*
 * Slots for all sub-buffers that are unread: behind the reader's, which may be begun,
 * and with one that the writer may begin until the exchange.
 */
static unsigned int rb_ring_unread(struct rb_cpu *rcpu)
{
	unsigned int unread;
	struct rb_ring *ring;
	unsigned long flags;

	ring = rb_read_lock(rcpu, &flags);
	unread = rb_ring_dirty(ring) + 2;
	rb_read_unlock(ring, flags);
	return unread;
}

/* Put &rb_cpu.next_ring in place of the live ring. */
static void rb_go_live(struct rb_cpu *rcpu)
{
	rb_exchange_lock(rcpu);
	rb_hold_slots(rcpu->next_ring, rb_ring_unread(rcpu));
	rb_race_point(GO_LIVE);
	/* Pairs with rb_enter:A. */
	xchg(&rcpu->ring, rb_retag(rcpu->next_ring, rcpu->ring)); /* RBB(rb_go_live:A) */
	rb_race_point(LIVE);
}

/*
 * Have longer copies, if the new sub-buffers need them. The records that
 * callers were given stay in place: they do not know that the size has changed.
 */
static void rb_copies_replace(struct rb_cpu *rcpu)
{
	struct rb_copies *next = &rcpu->next_copies;

	if (!next->len)
		return;
	*next->before = rcpu->copies;
	rcpu->copies = *next;
	memset(next, 0, sizeof(*next));
}

/* Let the readers follow. Writers have left the ring before, which was replaced before @since. */
static void rb_go_on(struct rb_cpu *rcpu, unsigned long since, bool inherit)
{
	struct rb_ring *ring = rcpu->next_ring, *old;
	u64 first = ring->reader.seq + 1, now;
	unsigned long flags;

	old = rb_read_lock(rcpu, &flags);
	if (!rb_ring_quiesce(old, rcpu->cpu, since)) {
		/* Nobody but its writer uses it any more, and it stays for good. */
		refcount_inc(&old->ref);
		inherit = false;
	}
	now = ring_buffer_time_stamp(rcpu->buffer);
	if (inherit) {
		rb_move(rcpu, old, now, &flags);
	} else {
		ring->reader.since = now;
		rb_disinherit(rcpu, ring, old);
		rb_copies_replace(rcpu);
		rb_race_point(SUCCESSOR);
		rcu_assign_pointer(rcpu->read_ring, ring);
	}
	rb_read_unlock(old, flags);
	rb_race_point(RELEASE);
	rb_release_slots(ring, first);
	/* Some may have looked into the old one. */
	rb_wake_writer(rcpu, ring);

	rcpu->next_ring = NULL;
	rb_exchange_unlock(rcpu);
	/* Iterators that still hold it need no more of it than its successor. */
	if (inherit)
		rb_ring_strip(old);
	rb_ring_put(old);
}

/*
 * Exchange every ring that has a successor. While that waits for writers, a CPU may
 * come online; it gets the size of the others, see trace_rb_cpu_prepare().
 */
static void rb_exchange_rings(struct trace_buffer *buffer, bool inherit)
{
	unsigned long since;
	bool any = false;
	int cpu;

	lockdep_assert_held(&buffer->mutex);
	lockdep_assert_held(&buffer->cpu_mutex);
	rb_for_each_cpu(buffer, cpu) {
		if (buffer->parts[cpu]->next_ring) {
			rb_go_live(buffer->parts[cpu]);
			any = true;
		}
	}
	if (!any)
		return;
	mutex_unlock(&buffer->cpu_mutex);
	since = rb_wait_for_writers();
	mutex_lock(&buffer->cpu_mutex);
	rb_for_each_cpu(buffer, cpu) {
		if (buffer->parts[cpu]->next_ring)
			rb_go_on(buffer->parts[cpu], since, inherit);
	}
}

/* Free the successors that were not put in place. */
static void rb_free_successors(struct trace_buffer *buffer)
{
	struct rb_cpu *rcpu;
	int cpu;

	rb_for_each_cpu(buffer, cpu) {
		rcpu = buffer->parts[cpu];
		if (rcpu->next_ring)
			rb_ring_put(rcpu->next_ring);
		rcpu->next_ring = NULL;
		rb_copies_free(&rcpu->next_copies);
	}
}

/**
 * struct rb_shape - what a resize wants
 * @cpu:   of one CPU, or RING_BUFFER_ALL_CPUS
 * @nr:    slots; 0 for those that hold something. A change of @order keeps the size instead
 * @order: pages of a sub-buffer, as a power of two
 */
struct rb_shape {
	int		cpu;
	unsigned int	nr;
	unsigned int	order;
};

/* Tell the slots of a CPU's new ring, or 0 if its ring may stay. */
static unsigned int rb_new_slots(struct rb_cpu *rcpu, const struct rb_shape *shape)
{
	unsigned int nr = shape->nr;
	struct rb_ring *ring;

	/* A cut may take the ring away at any time. */
	guard(rcu)();
	ring = rb_untag(READ_ONCE(rcpu->ring));
	if (ring->order != shape->order) {
		/* By whole sub-buffers: their headers would add up, back and forth. */
		nr = DIV_ROUND_UP((unsigned long)ring->nr << ring->order, 1UL << shape->order);
		return rb_slots_for((unsigned long)rb_subbuf_room(shape->order) * nr,
				    shape->order);
	}
	if (!nr)
		nr = min(ring->nr, rb_ring_unread(rcpu));
	return nr == ring->nr ? 0 : nr;
}

/* Make a successor of a ring, with @nr slots, and copies that are as long as its sub-buffers. */
static int rb_succeed(struct rb_cpu *rcpu, unsigned int nr, unsigned int order)
{
	unsigned int len = rcpu->copies.len;

	if (rcpu->buffer->persist || rcpu->mapped ||
	    atomic_read(&rb_untag(READ_ONCE(rcpu->ring))->mapped))
		return -EBUSY;
	rcpu->next_ring = rb_ring_alloc(rcpu, nr, order);
	if (!rcpu->next_ring)
		return -ENOMEM;
	if (!len || rb_subbuf_room(order) <= len)
		return 0;
	return rb_copies_alloc(rcpu, order, &rcpu->next_copies);
}

/* The first CPU that still lacks a successor of @nr slots, or NULL. */
static struct rb_cpu *
rb_lacking(struct trace_buffer *buffer, const struct rb_shape *shape, unsigned int *nr)
{
	struct rb_cpu *rcpu;
	int cpu;

	rb_for_each_cpu(buffer, cpu) {
		rcpu = buffer->parts[cpu];
		if (rcpu->next_ring || (shape->cpu != RING_BUFFER_ALL_CPUS && shape->cpu != cpu))
			continue;
		*nr = rb_new_slots(rcpu, shape);
		if (*nr)
			return rcpu;
	}
	return NULL;
}

/*
 * Give the rings of a buffer another shape. The memory is there before &trace_buffer.cpu_mutex
 * is taken: CPU hotplug need not wait for it. A CPU that comes online meanwhile has the
 * former shape, and gets a successor, too.
 */
static int rb_reshape(struct trace_buffer *buffer, const struct rb_shape *shape)
{
	unsigned int nr, was = buffer->order;
	struct rb_cpu *rcpu;
	int ret = 0;

	lockdep_assert_held(&buffer->mutex);
	mutex_lock(&buffer->cpu_mutex);
	while (!ret && (rcpu = rb_lacking(buffer, shape, &nr))) {
		mutex_unlock(&buffer->cpu_mutex);
		ret = rb_succeed(rcpu, nr, shape->order);
		mutex_lock(&buffer->cpu_mutex);
	}
	if (!ret) {
		if (shape->order != was)
			rb_set_order(buffer, shape->order);
		rb_exchange_rings(buffer, shape->order == was);
	}
	rb_free_successors(buffer);
	mutex_unlock(&buffer->cpu_mutex);
	return ret;
}

/**
 * ring_buffer_resize() - change how much a buffer holds
 * @buffer: the buffer, or NULL
 * @size:   bytes for records, for each CPU
 * @cpu_id: CPU of the ring, or RING_BUFFER_ALL_CPUS
 *
 * Writers go on. The newest sub-buffers that fit are kept.
 *
 * Context: May sleep.
 * Return: 0, also where there is no such buffer; -ENOMEM; -EBUSY if a ring is
 *         mapped or lies in memory that survives a reboot. On an error nothing
 *         has changed.
 */
int ring_buffer_resize(struct trace_buffer *buffer, unsigned long size, int cpu_id)
{
	struct rb_shape shape = { .cpu = cpu_id };

	if (!buffer || (cpu_id != RING_BUFFER_ALL_CPUS && !rb_get_cpu(buffer, cpu_id)))
		return 0;

	guard(mutex)(&buffer->mutex);
	shape.order = buffer->order;
	shape.nr = rb_slots_for(size, shape.order);
	return rb_reshape(buffer, &shape);
}
EXPORT_SYMBOL_GPL(ring_buffer_resize);

#ifdef CONFIG_RING_BUFFER_ALLOW_SWAP
/**
 * ring_buffer_trimmed_memory() - tell the memory that ring_buffer_trim() leaves
 * @spare: a buffer that has been cut off, see ring_buffer_wait_writers()
 *
 * Context: Any context but NMI.
 * Return: bytes, as ring_buffer_memory().
 */
size_t ring_buffer_trimmed_memory(struct trace_buffer *spare)
{
	size_t sum = ring_buffer_memory(spare);
	unsigned int nr, trimmed;
	int cpu;

	rb_for_each_cpu(spare, cpu) {
		nr = ring_buffer_size(spare, cpu) / rb_subbuf_room(spare->order);
		trimmed = min(nr, rb_ring_unread(spare->parts[cpu]));
		sum += rb_ring_memory(trimmed, spare->order) - rb_ring_memory(nr, spare->order);
	}
	return sum;
}
EXPORT_SYMBOL_GPL(ring_buffer_trimmed_memory);

/**
 * ring_buffer_trim() - free the sub-buffers of a snapshot that hold nothing
 * @spare: a buffer that has been cut off, see ring_buffer_wait_writers()
 *
 * For a moment it needs as many as it will have.
 *
 * Context: May sleep.
 * Return: 0; -ENOMEM; -EBUSY if a ring is mapped or lies in memory that survives
 *         a reboot. On an error nothing has changed.
 */
int ring_buffer_trim(struct trace_buffer *spare)
{
	struct rb_shape shape = { .cpu = RING_BUFFER_ALL_CPUS };

	guard(mutex)(&spare->mutex);
	shape.order = spare->order;
	return rb_reshape(spare, &shape);
}
EXPORT_SYMBOL_GPL(ring_buffer_trim);
#endif

/**
 * ring_buffer_subbuf_order_set() - change the size of the sub-buffers
 * @buffer: the buffer
 * @order:  pages of a sub-buffer, as a power of two
 *
 * The size of the rings stays about the same. Their records go, and are
 * counted as overwritten and told as lost. Writers go on.
 *
 * Context: May sleep.
 * Return: 0; -EINVAL without @buffer or for a size that is not possible;
 *         -ENOMEM; -EBUSY while the buffer is iterated over or mapped, or if it
 *         lies in memory that survives a reboot. On an error nothing has
 *         changed.
 */
int ring_buffer_subbuf_order_set(struct trace_buffer *buffer, int order)
{
	struct rb_shape shape = { .cpu = RING_BUFFER_ALL_CPUS, .order = order };
	struct rb_cpu *rcpu;
	int cpu;

	/* The tail word counts that far. */
	if (!buffer || order < 0 || order > MAX_PAGE_ORDER ||
	    rb_subbuf_room(order) / RB_UNIT >= RB_CLOSED)
		return -EINVAL;

	guard(mutex)(&buffer->mutex);
	if (buffer->order == order)
		return 0;

	rb_for_each_cpu(buffer, cpu) {
		rcpu = rb_get_cpu(buffer, cpu);
		if (atomic_read(&rcpu->iterators))
			return -EBUSY;
	}
	return rb_reshape(buffer, &shape);
}
EXPORT_SYMBOL_GPL(ring_buffer_subbuf_order_set);
