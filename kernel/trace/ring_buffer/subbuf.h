/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A sub-buffer, and the words that writers and readers exchange.
 */
#ifndef _RING_BUFFER_SUBBUF_H
#define _RING_BUFFER_SUBBUF_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cache.h>
#include <asm/local64.h>

#include "record.h"

/*
 * The tail word of a sub-buffer: where the next record goes, and when the
 * record before it was written. Only the sub-buffer's own CPU changes it, by
 * a compare-and-exchange that only an interrupt can make fail.
 *
 *    63                         18 17                 0
 *   +----------------------------+-------------------+
 *   |  time since the epoch      |  offset / RB_UNIT |   open
 *   |  sequence, low 46 bits     |  RB_CLOSED        |   left for good
 *   +----------------------------+-------------------+
 *
 * A closed word carries the sequence, so that no two uses of a sub-buffer end
 * in the same word: an interrupted helper's exchange of an old one fails.
 */
#define RB_TAIL_BITS		18
#define RB_CLOSED		((1U << RB_TAIL_BITS) - 1)
#define RB_OPEN_EMPTY		0ULL

/* The longest time since the epoch that a tail word holds. */
#define RB_SINCE_MAX		((1ULL << (64 - RB_TAIL_BITS)) - 1)

/*
 * A stamp begins another epoch when the time since the last one is longer. The
 * records that do without can then add up to no more than the 46 bits hold: a
 * sub-buffer has less than 2^18 of them, each less than 2^27 after the one before.
 */
#define RB_EPOCH_MAX		(RB_SINCE_MAX >> 1)

static_assert(RB_EPOCH_MAX + (RB_DELTA_MAX << RB_TAIL_BITS) <= RB_SINCE_MAX);

static __always_inline u64 rb_tail_word(u64 high, u32 low)
{
	return high << RB_TAIL_BITS | low;
}

static __always_inline u32 rb_tail_units(u64 tail)
{
	return tail & RB_CLOSED;
}

static __always_inline bool rb_tail_closed(u64 tail)
{
	return rb_tail_units(tail) == RB_CLOSED;
}

/*
 * The publish word: the part of a sub-buffer that readers may see. One word, so that
 * "nothing new" and "nothing will come any more" are learned in one load.
 *
 *    63            19    18    17             0
 *   +---------------+---------+----------------+
 *   |   sequence    |  final  | bytes / RB_UNIT |
 *   +---------------+---------+----------------+
 */
#define RB_PUB_FINAL		BIT_ULL(RB_TAIL_BITS)
#define RB_PUB_SEQ_SHIFT	(RB_TAIL_BITS + 1)

static __always_inline u64 rb_pub_word(u64 seq, u64 final, u32 units)
{
	return seq << RB_PUB_SEQ_SHIFT | final | units;
}

static __always_inline unsigned int rb_pub_bytes(u64 pub)
{
	return (pub & RB_CLOSED) * RB_UNIT;
}

/* How far the sequence of @pub is ahead of @seq. */
static __always_inline s64 rb_pub_ahead(u64 pub, u64 seq)
{
	s64 diff = (pub >> RB_PUB_SEQ_SHIFT) - seq;

	return diff << RB_PUB_SEQ_SHIFT >> RB_PUB_SEQ_SHIFT;
}

static __always_inline bool rb_pub_is(u64 pub, u64 seq)
{
	return !rb_pub_ahead(pub, seq);
}

/*
 * The slot word: which sub-buffer holds which sequence. Writer and reader
 * both move it by an SMP compare-and-exchange, once per sub-buffer.
 *
 *    63            24 23             2   1      0
 *   +----------------+----------------+------+-------+
 *   |    sequence    | sub-buffer id  | held | empty |
 *   +----------------+----------------+------+-------+
 *
 * empty: the sub-buffer holds nothing of this sequence, the writer may use it
 *        for the next one. Either the reader took the one that did and left
 *        this one, or it was never written.
 * held:  as well: kept for a sub-buffer of the ring before a resize. A writer
 *        that may not overwrite leaves it alone.
 */
#define RB_SLOT_EMPTY		BIT_ULL(0)
#define RB_SLOT_HELD		BIT_ULL(1)
#define RB_SLOT_NONE		RB_SLOT_EMPTY	/* in place of one that holds something */
#define RB_SLOT_ID_SHIFT	2
#define RB_SLOT_ID_BITS		22
#define RB_SLOT_SEQ_SHIFT	(RB_SLOT_ID_SHIFT + RB_SLOT_ID_BITS)
#define RB_MAX_SUBBUFS		BIT(RB_SLOT_ID_BITS)

static_assert(BIT(RB_SLOT_ID_SHIFT) > (RB_SLOT_EMPTY | RB_SLOT_HELD));
/* The field for a sequence, the shortest of all words, orders all sequences of a ring. */
static_assert(RB_SLOT_ID_BITS < 63 - RB_SLOT_SEQ_SHIFT);
static_assert(RB_PUB_SEQ_SHIFT < RB_SLOT_SEQ_SHIFT);

static __always_inline u64 rb_slot_word(u64 seq, u32 id, u64 flags)
{
	return seq << RB_SLOT_SEQ_SHIFT | (u64)id << RB_SLOT_ID_SHIFT | flags;
}

static __always_inline u32 rb_slot_id(u64 word)
{
	return (word >> RB_SLOT_ID_SHIFT) & (RB_MAX_SUBBUFS - 1);
}

/* How far the sequence of @word is ahead of @seq. */
static __always_inline s64 rb_slot_ahead(u64 word, u64 seq)
{
	s64 diff = (word >> RB_SLOT_SEQ_SHIFT) - seq;

	return diff << RB_SLOT_SEQ_SHIFT >> RB_SLOT_SEQ_SHIFT;
}

/**
 * struct rb_persist_subbuf - a sub-buffer's header for the next boot
 * @seq:  sequence that it holds, or 0 if it holds nothing
 * @read: bytes of it that were consumed
 * @damaged: 1: for a test, see rb_persist_damage()
 */
struct rb_persist_subbuf {
	u64	seq;
	u32	read;
	u32	damaged;
};

/**
 * struct rb_subbuf - a sub-buffer of a ring
 * @tail:	tail word; own CPU
 * @records:	records reserved here since boot, less the discarded ones; own
 *		CPU. Never reset, see @base
 * @page:	the memory. The reader that owns the sub-buffer may exchange it, and a
 *		resize moves it to another ring
 * @epoch:	time that the one in the tail word counts from; own CPU
 * @room:	units that @page has for records, or 0: look again whether there is
 *		an epoch; own CPU
 * @publish:	publish word; stored by the outermost writer, or at opening, while
 *		no writer can be outermost
 * @pub_seq:	@seq as it is in the publish word
 * @seq:	sequence that it holds, set at opening
 * @stamped:	sequence of the time stamp in @page; set by the first record
 * @link:	slot word of the sub-buffer that the writer went to from here;
 *		valid where its sequence is the one after @seq
 * @first:	running number of the first record; outermost writer
 * @first_byte:	the same in bytes of records
 * @base:	@records when the use before this one ended; outermost writer
 * @count:	records of this use, valid once it is final; outermost writer
 * @end:	units in use at closing; the writer that closed it
 * @id:		index in &rb_ring.subbufs
 * @map_id:	index in a user's mapping
 * @persist:	header that survives a reboot, or NULL. With one, @page is not from the
 *		page allocator, and stays
 */
struct rb_subbuf {
	local64_t		tail;
	local_t			records;
	struct rb_data_page	*page;
	atomic64_t		publish;
	u64			pub_seq;
	local64_t		epoch;
	u64			seq;
	u32			room;
	u32			end;

	u64			link;
	u64			stamped;
	u64			first;
	u64			first_byte;
	unsigned long		base;
	unsigned long		count;
	u32			id;
	u32			map_id;
	struct rb_persist_subbuf *persist;
} ____cacheline_aligned_in_smp;

/* There is one for each page of a buffer. */
static_assert(sizeof(struct rb_subbuf) <= 128 || SMP_CACHE_BYTES > 128);

void rb_check_subbuf(struct rb_subbuf *sb, u32 units, bool final);

#endif /* _RING_BUFFER_SUBBUF_H */
