/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A resize moves the sub-buffers of the old ring into the new one, which is
 * written meanwhile.
 *
 * The new ring is live, and nobody is in the old one any more. A sub-buffer holds one
 * record here; nested writers are the subject of handover.pml. Words and functions have
 * the names of kernel/trace/ring_buffer/{resize,read,ring,write}.c. Records are numbered on
 * across the two rings.
 *
 * Left out, as each would multiply the states and touches another part of the code:
 *   - a reader that has begun a sub-buffer, and empty ones in the old ring
 *   - a cut of the buffer meanwhile: rb_cpu.exchange keeps it out, and first_seq of a new
 *     ring is below all of its sequences
 *   - iterators, which follow under the lock; a change of the sub-buffers' size, which
 *     moves nothing; the counts of refused records, which are only carried over
 *
 * Assertions:
 *   - no sub-buffer is written while it is in the hands of the resize or the reader
 *   - the reader gets the records in order, and is told of each one that is missing
 *   - in the end, old records + written = read + overrun
 *   - without overwrite, all records that fit are kept
 *
 * NR		slots of the new ring
 * OLD		sub-buffers in the old ring; the reader has begun none of them
 * NEW		records that the writer tries to write
 * OVERWRITE	1 or 0
 */
#include "ring.pml"

#define UNTOUCHED(seq, flags)	SLOT(seq, (seq) % NR, RB_SLOT_EMPTY | (flags))

#define FIRST		(2 * NR)	/* the writer's first sequence */
#define ADOPTABLE	(NR - 1)
#define SPARE		(NR + 1)	/* the sub-buffer without memory */
#define OLD_SB		(NR + 2)	/* the old ring's sub-buffers are those from here on */
#define SUBBUFS		(OLD_SB + OLD)
#define NOBODY		255

short slot[NR];
/* By id; those of the old ring are numbered on. */
byte seq_of[SUBBUFS], final[SUBBUFS], first[SUBBUFS], count[SUBBUFS], page[SUBBUFS];
byte data[SUBBUFS];			/* by page */
byte commit;				/* the sub-buffer published last */
byte overrun, dropped, carried;
byte rd_sb, rd_seq, rd_num, rd_lost, rd_read;
bit inherited, moved;

/* Variables of the model only. */
byte written = OLD;
byte busy = 2;				/* the writer and the resize */
bit held_by[SUBBUFS];			/* by the resize or the reader */

inline fill_in(sb)
{
	assert(!held_by[sb]);
	final[sb] = 0;			/* rb_open_subbuf() */
	seq_of[sb] = next;
	assert(!held_by[sb]);
	first[sb] = written;
	assert(page[sb] != NOBODY);
	data[page[sb]] = written + 1;
	count[sb] = 1;
	commit = sb;			/* rb_publish() */
	atomic { assert(!held_by[sb]); final[sb] = 1; written++ }
}

proctype writer()
{
	byte todo = NEW, next = FIRST, sb;
	short word;
	bit ok;

	fill_in(0);			/* the slot that the ring began with */
	do
	:: todo == 0 -> break
	:: else ->
		todo--;
		next++;
		word = slot[next % NR];	/* rb_claim_slot() */
		do
		:: !OVERWRITE && (word & (RB_SLOT_EMPTY | RB_SLOT_HELD)) != RB_SLOT_EMPTY ->
			dropped++;
			next--;
			goto refused
		:: else ->
			cmpxchg(slot[next % NR], word, SLOT(next, SLOT_ID(word), 0), ok);
			if
			:: ok -> break
			:: else -> word = slot[next % NR]
			fi
		od;
		sb = SLOT_ID(word);
		if :: !(word & RB_SLOT_EMPTY) -> overrun = overrun + count[sb] :: else fi;
		fill_in(sb);
refused:
		skip
	od;
	busy--
}

/* The numbers are the same in both rings. */
inline rb_take_over(to, was, at)
{
	page[to] = page[was];
	seq_of[to] = at;
	first[to] = first[was];
	count[to] = count[was];
	final[to] = 1
}

/* The spare one goes into a slot that is as the resize has left it, if it did not yet. */
inline rb_put(flags)
{
	atomic {
		if
		:: !fits && slot[seq % NR] == UNTOUCHED(seq, flags) ->
			slot[seq % NR] = SLOT(seq, spare, 0);
			held_by[spare] = 0;
			held_by[seq % NR] = 1;
			fits = 1
		:: else
		fi
	}
}

/* rb_adopt(): fits says whether it went in. */
inline rb_adopt(sb, seq)
{
#ifndef LATE_RECORDS
	rb_take_over(spare, sb, seq);
#endif
	fits = 0;
#ifdef PLAIN_ADOPT
	if
	:: slot[seq % NR] == UNTOUCHED(seq, RB_SLOT_HELD) ||
	   slot[seq % NR] == UNTOUCHED(seq, 0) ->
		held_by[spare] = 0;
		slot[seq % NR] = SLOT(seq, spare, 0);
		fits = 1
	:: else
	fi;
#else
	rb_put(RB_SLOT_HELD);
	rb_put(0);
#endif
#ifdef LATE_RECORDS
	rb_take_over(spare, sb, seq);
#endif
	if
	:: fits ->
		spare = seq % NR;
		page[sb] = page[spare];
		page[spare] = NOBODY
	:: else -> page[spare] = NOBODY
	fi
}

proctype resize()
{
	byte from = OLD, seq = FIRST - 1, spare = SPARE, lost, sb;
	bit fits = 1, free = 1;

	/* rb_inherit(), the newest first */
	do
	:: from == 0 -> break
	:: else ->
		from--;
		sb = OLD_SB + from;
		if
		:: fits && FIRST - seq <= ADOPTABLE -> rb_adopt(sb, seq)
		:: else -> fits = 0
		fi;
		if
		:: fits -> seq--
		:: !fits && free ->
			free = 0;
			inherited = 1;	/* rb_own() */
			rb_take_over(rd_sb, sb, seq);
			page[sb] = NOBODY;
			rd_lost = rd_lost + first[sb] - rd_num;
			rd_num = first[sb]
		:: else -> lost = lost + count[sb]
		fi
	od;
	if
	:: !inherited -> rd_num = 0; seq_of[rd_sb] = seq; final[rd_sb] = 0
	:: else
	fi;
	rd_seq = seq;

	from = FIRST - ADOPTABLE;	/* rb_release_slots() */
	do
	:: from == FIRST -> break
	:: else ->
		atomic {
			if
			:: slot[from % NR] == UNTOUCHED(from, RB_SLOT_HELD) ->
				slot[from % NR] = UNTOUCHED(from, 0)
			:: else
			fi
		}
		from++
	od;
	carried = lost;
#ifdef FORGET_LOST
	carried = 0;
#endif
	moved = 1;
	busy--
}

/* rb_locate(): found says whether sequence v_seq, or a later one, is there. */
inline rb_locate()
{
	do
	:: word = slot[v_seq % NR];
	   if
	   :: SLOT_SEQ(word) > v_seq ->
		sb = commit;
		sb = seq_of[sb];
		v_seq = (sb > SLOT_SEQ(word) -> sb : SLOT_SEQ(word)) - NR + 1
#ifdef LAP_TOO_FAR
		; v_seq++
#endif
	   :: SLOT_SEQ(word) < v_seq || (word & RB_SLOT_EMPTY) -> found = 0; break
	   :: else ->
		sb = SLOT_ID(word);
		found = (final[sb] && seq_of[sb] == v_seq);
		break
	   fi
	od
}

proctype reader()
{
	byte v_seq, sb;
	short word;
	bit found, ended;

	moved == 1;
	do
	:: /* rb_reader_settle() */
	   if
	   :: inherited ->
		inherited = 0;
		word = slot[(rd_seq + 1) % NR];
		if
		:: SLOT_SEQ(word) > rd_seq + 1 ->
			rd_num = rd_num + count[rd_sb];
			rd_lost = rd_lost + count[rd_sb];
			carried = carried + count[rd_sb]
		:: else ->
			assert(data[page[rd_sb]] == rd_num + 1);
			rd_num++;
			rd_read++
		fi
	   :: else
	   fi;
	   ended = (busy == 0);
again:
	   v_seq = rd_seq + 1;
	   rb_locate();
	   if
	   :: !found && ended -> break
	   :: !found && !ended
	   :: else ->
		atomic {		/* rb_reader_take() */
			if
			:: slot[v_seq % NR] != word -> goto again
			:: else ->
				slot[v_seq % NR] = SLOT(v_seq, rd_sb, RB_SLOT_EMPTY);
				held_by[rd_sb] = 0;
				held_by[sb] = 1;
				rd_sb = sb
			fi
		}
		rd_seq = v_seq;
		rd_lost = rd_lost + first[sb] - rd_num;
		rd_num = first[sb];
		assert(data[page[sb]] == rd_num + 1);
		rd_num++;
		rd_read++
	   fi
	od;

	assert(rd_num == written);
	assert(rd_read + overrun + carried == written);
	assert(rd_lost == overrun + carried);
	/* One more than the slots can take is the reader's own. */
	assert(OVERWRITE || overrun == 0);
	assert(OVERWRITE || OLD > NR || carried == 0)
}

init
{
	byte i;

	atomic {
		for (i : 0 .. NR - 1) {
			slot[i] = SLOT(FIRST - NR + i, i, RB_SLOT_EMPTY)
		}
		slot[0] = SLOT(FIRST, 0, 0);
		for (i : 0 .. SUBBUFS - 1) {
			page[i] = i
		}
		page[SPARE] = NOBODY;
		rd_sb = NR;
		held_by[NR] = 1;
		held_by[SPARE] = 1;
		for (i : 0 .. OLD - 1) {
			first[OLD_SB + i] = i;
			data[OLD_SB + i] = i + 1;	/* its page */
			count[OLD_SB + i] = 1;
			final[OLD_SB + i] = 1;
			held_by[OLD_SB + i] = 1
		}
#ifndef NOT_HELD
		/* rb_hold_slots() */
		i = 0;
		do
		:: i == OLD || i == ADOPTABLE -> break
		:: else ->
			slot[(FIRST - 1 - i) % NR] = UNTOUCHED(FIRST - 1 - i, RB_SLOT_HELD);
			i++
		od;
#endif
		i = 0;
		run writer();
		run resize();
		run reader()
	}
}
