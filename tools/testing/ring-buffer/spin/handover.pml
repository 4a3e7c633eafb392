/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hand-over of sub-buffers: nested writers, a consuming reader, an iterator. And the
 * cut: a second ring, a taker that puts it in place and brings the first one back.
 *
 * Words and functions have the names of kernel/trace/ring_buffer/{ring,write,read,iterate,stat,
 * swap}.c.
 * Each access to memory that others look at is a step; a writer can be interrupted
 * between any two, by a writer of a higher level, which then runs to its end.
 * Memory is sequentially consistent here: weaker order is the litmus tests' part. The one
 * exception is rb_ring.nest, which a taker may see late, up to the writer's next exchange
 * of rb_ring.tail: rb_is_left() is there for that.
 *
 * Assertions:
 *   - a record that is read is whole, and is the one with the number that the
 *     reader expects: none twice, none out of order, none lost uncounted
 *   - the publish word of a sub-buffer never goes back
 *   - the writer opens no sub-buffer that the reader owns
 *   - in the end, written = read + overrun, and the reader was told of each loss; of a
 *     ring that was cut, in the generation that it has then, be it live or a snapshot
 *   - a record of the live ring is never among those that a cut has dropped
 *   - an iterator's copy is of one use of a sub-buffer
 *   - rb_ring_written() is not less than the records at its begin, nor more than
 *     those at its end
 *
 * NR, ROOM	slots, records in a sub-buffer
 * TASK, IRQ, NMI	records that each context writes
 * OVERWRITE	1 or 0
 * CONSUME	1: there is a consuming reader; 2: it begins when all others have ended
 * ITERATE	copies that an iterator makes
 * WRITTEN	calls of rb_ring_written()
 * CUTS		cuts, by another CPU at any moment; 0: there is one ring
 *
 * Left out:
 *   - time stamps, discards, waiters, mappings, and the code for a reset or a dead writer:
 *     no writer is there then
 *   - rb_cpu.write and the shares of special writers: here a writer has variables of its
 *     own, and each share is 1
 *   - an iterator beside cuts, and cuts of several CPUs: a CPU's rings know nothing of
 *     another's, and rb_cpu.exchange keeps other takers out
 *   - that a record is in the right one of two rings: see swap.pml
 *   - the reader's choice of a ring: it reads the one that was live at first all the time,
 *     also when a reader of either buffer would have found the other one
 *
 * Each name in an #ifdef that is not one of these is a way to break it.
 */
#include "ring.pml"

byte sb_seq[FRESH], tail[FRESH + 1], publish[FRESH];
short link[FRESH];
byte first[FRESH], count[FRESH], base[FRESH], records[FRESH], end[FRESH];
byte word_a[FRESH * ROOM], word_b[FRESH * ROOM];	/* a record's number plus 1, twice */
short slot[RINGS * NR];
byte ring_tail[RINGS], commit[RINGS], nest[RINGS];
byte overrun[RINGS], dropped[RINGS], commit_overrun[RINGS];
byte first_seq[RINGS], first_num[RINGS], first_lost[RINGS], first_refused[RINGS], generation[RINGS];

bit lock[RINGS];
byte rd_sb[RINGS], rd_seq[RINGS], rd_pos[RINGS], rd_num[RINGS];
byte rd_lost[RINGS], rd_read[RINGS], rd_generation[RINGS], carried[RINGS];
byte carried_refused[RINGS];

#if CUTS
byte live;		/* rb_cpu.ring */
byte seen[RINGS];	/* nest, as the taker's CPU sees it */
#define RB_VOID		1
#define NEXT(g)		(((g) | RB_VOID) + 1)
#endif

/* Variables of the model only. */
byte running;		/* the writer that has the CPU, by its _pid */
byte busy;		/* writers and takers that have not ended */
byte reserved[RINGS];	/* records */
byte gone[RINGS];	/* of them, in lives before this one */
byte refused[RINGS];	/* in this generation, behind a record that is not committed */
byte settled;		/* of them, when there last was no writer */

inline rb_publish_subbuf(which, final, units)
{
	atomic {
		assert(PUB(sb_seq[which], final, units) >= publish[which]);
		publish[which] = PUB(sb_seq[which], final, units);
	}
}

inline rb_publish()
{
	c = commit[ring];
	do
	:: t = tail[c];
	   if
	   :: !IS_CLOSED(t) -> rb_publish_subbuf(c, 0, UNITS(t)); break
	   :: else
	   fi;
	   if
	   :: !(publish[c] & RB_PUB_FINAL) ->
		t = records[c];
		count[c] = t - base[c];
		rb_publish_subbuf(c, RB_PUB_FINAL, end[c]);
		base[c] = t
	   :: else
	   fi;
	   if :: SLOT_SEQ(link[c]) != sb_seq[c] + 1 -> break :: else fi;
	   w = SLOT_ID(link[c]);
	   first[w] = first[c] + count[c];
#if CUTS
#ifndef NO_FIRST_NUM
	   if :: sb_seq[w] == first_seq[ring] -> first_num[ring] = first[w] :: else fi;
#endif
#endif
	   commit[ring] = w;
	   c = w
	od
}

inline rb_all_published(yes)
{
	c = commit[ring];
	t = tail[c];
	w = publish[c];
	if
	:: IS_CLOSED(t) ->
		t = ring_tail[ring];
		yes = (w & RB_PUB_FINAL) && (t == c || t == FRESH)
	:: else -> yes = UNITS(w) == UNITS(t)
	fi
}

inline rb_leave()
{
	if
#ifdef INNER_PUBLISHES
	:: false
#else
	:: nest[ring] != 1 -> nest[ring]--
#endif
	:: else ->
		do
		:: c = commit[ring];
		   look = tail[c];
		   if
		   :: !IS_CLOSED(look) -> rb_publish_subbuf(c, 0, UNITS(look))
		   :: else -> rb_publish()
		   fi;
#ifdef INNER_PUBLISHES
		   nest[ring]--;
		   break;
#endif
		   nest[ring] = 0;
#ifdef NO_SECOND_LOOK
		   break;
#endif
		   if :: !IS_CLOSED(look) && look == tail[c] -> break :: else fi;
		   rb_all_published(ok);
		   if
		   :: ok -> break
		   :: else -> nest[ring] = 1
		   fi
		od
	fi
}

#ifdef DEAD_COUNT
#define rb_slot_is_free(seq, word)	((word) & RB_SLOT_EMPTY)
#else
#define rb_slot_is_free(seq, word)	((word) & RB_SLOT_EMPTY || (seq) < NR + first_seq[ring])
#endif

inline rb_claim_slot(next)
{
	w = RB_SLOT(ring, next);
	do
	:: SLOT_SEQ(w) == next -> goto claimed
	:: else ->
		if
		:: !OVERWRITE && !rb_slot_is_free(next, w) -> dropped[ring]++; goto refuse
		:: else
		fi;
#ifdef PLAIN_CLAIM
		RB_SLOT(ring, next) = SLOT(next, SLOT_ID(w), 0);
		ok = true;
#else
		cmpxchg(RB_SLOT(ring, next), w, SLOT(next, SLOT_ID(w), 0), ok);
#endif
		if
		:: ok -> break
		:: else -> w = RB_SLOT(ring, next)
		fi
	od;
	if
#ifdef COUNT_EMPTY
	:: true -> overrun[ring] = overrun[ring] + count[SLOT_ID(w)]
#else
	:: !rb_slot_is_free(next, w) -> overrun[ring] = overrun[ring] + count[SLOT_ID(w)]
	:: else
#endif
	fi;
claimed:
	w = SLOT_ID(w)
}

inline rb_open_subbuf(which, next)
{
	assert(which != rd_sb[ring]);
	sb_seq[which] = next;
	atomic {
		assert(PUB(next, 0, 0) >= publish[which]);
		publish[which] = PUB(next, 0, 0);
	}
	t = tail[which];
	if
	:: IS_CLOSED(t) && t != TAIL(next, RB_CLOSED) ->
		cmpxchg(tail[which], t, RB_OPEN_EMPTY, ok)
#ifdef PLAIN_OPEN
	:: else -> tail[which] = RB_OPEN_EMPTY
#else
	:: else
#endif
	fi
}

/* Goes to again or refuse. */
inline rb_next_subbuf()
{
	was = sb;
#if CUTS
	if
	:: sb == FRESH ->
		sb = commit[ring];
		before = tail[sb]
	:: else
	fi;
#endif
	next = sb_seq[sb] + 1;
	if
	:: !IS_CLOSED(before) ->
		cmpxchg(tail[sb], before, TAIL(sb_seq[sb], RB_CLOSED), ok);
		if :: !ok -> goto again :: else fi;
		end[sb] = UNITS(before)
	:: else
	fi;
	if :: ring_tail[ring] != was -> goto again :: else fi;
#if CUTS
	if
	:: was == FRESH ->		/* rb_begin_generation() */
		t = overrun[ring];
		look = commit_overrun[ring];
#ifndef NO_GENERATION_LOOK
		if :: ring_tail[ring] != FRESH -> goto again :: else fi;
#endif
		first_lost[ring] = t;
		first_refused[ring] = look;
		first_seq[ring] = next
	:: else
	fi;
#endif
#ifndef NO_COMMIT_BOUND
	if
	:: next >= sb_seq[commit[ring]] + NR ->
		atomic { commit_overrun[ring]++; refused[ring]++ }
		goto refuse
	:: else
	fi;
#endif
	rb_claim_slot(next);
	rb_open_subbuf(w, next);
	link[sb] = SLOT(next, w, 0);
	atomic {
		if
		:: ring_tail[ring] == was ->
			ring_tail[ring] = w;
			if
			:: was == FRESH -> gone[ring] = reserved[ring]; refused[ring] = 0
			:: else
			fi
		:: else
		fi;
		/* A full barrier. */
#if CUTS
		seen[0] = nest[0];
		seen[1] = nest[1]
#endif
	}
	goto again
}

/*
 * A writer. The task has _pid 1, its interrupts have higher ones: it gets on while
 * nobody above it is at work, and begins when somebody below it is.
 */
proctype writer(byte todo) provided (running <= _pid)
{
	byte saved, entered, ring, sb, was, before, next, c, t, look;
	short w;
	bit ok;

	do
	:: todo == 0 -> break
	:: else ->
		atomic {
			running < _pid;
			saved = running;
			running = _pid;
			todo--
		}
enter:					/* rb_enter() */
#if CUTS
		entered = live;
		ring = RING(entered);
#endif
		nest[ring]++;
again:
		sb = ring_tail[ring];	/* rb_look() */
		before = tail[sb];
#if CUTS
		if
		:: live != entered -> rb_leave(); goto enter
		:: else
		fi;
#endif
		if :: UNITS(before) >= ROOM -> rb_next_subbuf() :: else fi;
		atomic {
			if
			:: tail[sb] == before ->
				tail[sb] = before + 1;
				reserved[ring]++;
				w = reserved[ring];
#if CUTS
				assert(entered != live || ring_tail[ring] != FRESH)
#endif
			:: else -> goto again
			fi
		}
		records[sb]++;
		word_a[sb * ROOM + before] = w;
		word_b[sb * ROOM + before] = w;

		c = commit[ring];	/* rb_finish() */
		look = tail[c];
		if
		:: nest[ring] != 1 -> goto refuse
#ifndef PUBLISH_CLOSED
		:: nest[ring] == 1 && IS_CLOSED(look) -> goto refuse
#endif
		:: else
		fi;
		rb_publish_subbuf(c, 0, UNITS(look));
		nest[ring] = 0;
#ifndef NO_SECOND_LOOK
		if
		:: tail[c] != look -> nest[ring] = 1
		:: else -> goto out
		fi;
#else
		goto out;
#endif
refuse:
		rb_leave();		/* rb_finish_slow() */
out:
		atomic { if :: saved == 0 -> settled = reserved[0] :: else fi;
			 running = saved; saved = 0; entered = 0; ring = 0; sb = 0; was = 0;
			 before = 0; next = 0; c = 0; t = 0; w = 0; look = 0; ok = 0 }
	od;
	busy--
}

/* Sets v_seq, v_word, v_sb, v_pub; found says whether there is something. */
inline rb_locate()
{
	do
	:: v_word = RB_SLOT(r, v_seq);
	   if
	   :: SLOT_SEQ(v_word) > v_seq ->
		v_sb = commit[r];
		v_pub = publish[v_sb];
		if
		:: PUB_SEQ(v_pub) > SLOT_SEQ(v_word) -> v_seq = PUB_SEQ(v_pub) - NR + 1
		:: else -> v_seq = SLOT_SEQ(v_word) - NR + 1
		fi
#ifdef LAP_TOO_FAR
		; v_seq++
#endif
	   :: SLOT_SEQ(v_word) < v_seq || (v_word & RB_SLOT_EMPTY) -> found = 0; break
	   :: else ->
		v_sb = SLOT_ID(v_word);
		v_pub = publish[v_sb];
		if
		:: PUB_SEQ(v_pub) == v_seq ->
			found = (v_pub & (RB_PUB_FINAL | RB_CLOSED)) != 0;
			break
		:: else ->
#ifdef NO_SEQUENCE
			found = (v_pub & (RB_PUB_FINAL | RB_CLOSED)) != 0;
			break
#endif
			if
			:: RB_SLOT(r, v_seq) == v_word -> found = 0; break
			:: else
			fi
		fi
	   fi
	od
}

/* The running number of the next record: sets num. */
inline rb_ring_written()
{
	do
	:: v_sb = commit[r];
#ifdef NUMBER_ONCE
	   v_seq = sb_seq[v_sb];
	   v_pub = publish[v_sb];
	   f = first[v_sb];
#else
	   f = first[v_sb];
	   v_pub = publish[v_sb];
#endif
	   if
	   :: v_pub & RB_PUB_FINAL -> num = f + count[v_sb]
	   :: else ->
		num = f + records[v_sb];
		num = num - base[v_sb]
	   fi;
	   if
	   :: commit[r] == v_sb ->
		if
#ifdef NUMBER_ONCE
		:: v_seq == sb_seq[v_sb] ->
			if
			:: (v_pub & RB_PUB_FINAL) == (publish[v_sb] & RB_PUB_FINAL) -> break
			:: else
			fi
#else
		:: f == first[v_sb] ->
			if
			:: v_pub / RB_PUB_FINAL == publish[v_sb] / RB_PUB_FINAL -> break
			:: else
			fi
#endif
		:: else
		fi
	   :: else
	   fi
	od
}

inline forget()
{
	atomic { v_seq = 0; v_word = 0; v_sb = 0; v_pub = 0; found = 0; a = 0; b = 0 }
}

#if CUTS
/* Code under the lock is one step. */
inline rb_reader_begin(seq, number, losses, refusals)
{
	v_pub = publish[rd_sb[r]];
	atomic {
		rd_seq[r] = seq;
		rd_num[r] = number;
		rd_pos[r] = UNITS(v_pub);
		rd_lost[r] = 0;
		rd_read[r] = 0;
		carried[r] = losses;
		carried_refused[r] = refusals
	}
}

inline rb_reader_renew()
{
	do
	:: a = generation[r];
	   sb = commit[r];
	   v_seq = sb_seq[sb];
	   if
	   :: ring_tail[r] != FRESH && !(a & RB_VOID) ->
		if
		:: v_seq >= first_seq[r] ->
			rd_generation[r] = a;
			a = first_seq[r];
			num = first_num[r];
			b = first_lost[r];
			f = first_refused[r];
			rb_reader_begin(a - 1, num, b, f);
			break
		:: else
		fi
	   :: else
	   fi;
	   a = commit_overrun[r];
	   b = overrun[r];
	   rb_ring_written();
	   if
	   :: commit[r] == sb -> rb_reader_begin(sb_seq[sb], num, b, a); waits = 1; break
	   :: else
	   fi
	od;
	atomic { sb = 0; num = 0; f = 0 }
}
#endif

#if CONSUME
proctype reader()
{
	byte r, done, v_seq, v_sb, v_pub, a, b, sb, num, f;
	short v_word;
	bit found, ended, waits;

	CONSUME == 1 || busy == 0;
	do
	:: ended = (busy == 0);
	   atomic {
		/* The ring that is live at first; in the end each of them. */
		r = (ended -> done : 0);
		lock[r] == 0 -> lock[r] = 1
	   }
#if CUTS
	   waits = 0;
	   if				/* rb_reader_settle() */
	   :: rd_generation[r] != generation[r] -> rb_reader_renew()
	   :: else
	   fi;
	   if				/* rb_reader_pub() */
	   :: waits -> goto nothing
	   :: else
	   fi;
#endif
fill:
	   v_pub = publish[rd_sb[r]];	/* rb_reader_fill() */
	   if
	   :: rd_pos[r] < UNITS(v_pub) ->
		a = word_a[rd_sb[r] * ROOM + rd_pos[r]];
		b = word_b[rd_sb[r] * ROOM + rd_pos[r]];
		atomic {
			assert(a == b);
			assert(a == rd_num[r] + 1);
			rd_pos[r]++; rd_num[r]++; rd_read[r]++;
			forget();
			lock[r] = 0
		}
	   :: else ->
		if :: !(v_pub & RB_PUB_FINAL) -> goto nothing :: else fi;
again:
		v_seq = rd_seq[r] + 1;
		rb_locate();
		if :: !found -> goto nothing :: else fi;
#if CUTS
#ifndef NO_GENERATION
		if :: rd_generation[r] != generation[r] -> goto nothing :: else fi;
#endif
#endif
		/* rb_reader_take(): the fields of the reader are under the lock. */
#ifdef PLAIN_TAKE
		RB_SLOT(r, v_seq) = SLOT(v_seq, rd_sb[r], RB_SLOT_EMPTY);
		rd_sb[r] = v_sb;
#else
		atomic {
			if
			:: RB_SLOT(r, v_seq) != v_word -> goto again
			:: else ->
				RB_SLOT(r, v_seq) = SLOT(v_seq, rd_sb[r], RB_SLOT_EMPTY);
				rd_sb[r] = v_sb
			fi
		}
#endif
		atomic {
			rd_seq[r] = v_seq;
			rd_pos[r] = 0;
			rd_lost[r] = rd_lost[r] + first[rd_sb[r]] - rd_num[r];
			rd_num[r] = first[rd_sb[r]];
			goto fill
		}
nothing:
		atomic { forget(); lock[r] = 0 }
		if
		:: ended ->
			/* Nobody writes any more, and the reader has found nothing. */
			assert(nest[r] == 0);
			if
			:: ring_tail[r] == FRESH -> assert(rd_read[r] == 0)
#if CUTS
			:: ring_tail[r] != FRESH && generation[r] & RB_VOID ->
				assert(rd_read[r] == 0)
#endif
			:: else ->
				assert(reserved[r] - gone[r] ==
				       rd_read[r] + overrun[r] - carried[r]);
				assert(rd_lost[r] == overrun[r] - carried[r]);
				assert(refused[r] == commit_overrun[r] - carried_refused[r]);
				assert(rd_num[r] == reserved[r])
			fi;
			done++;
			if :: done == RINGS -> break :: else fi
		:: else
		fi
	   fi
	od
}
#endif

#if ITERATE
proctype iterator()
{
	byte r, v_seq, v_sb, v_pub, a, b, f, i;
	byte seq, pos, num, got[ROOM], half[ROOM], todo = ITERATE;
	short v_word;
	bit found, own;

	atomic { lock[r] == 0 -> seq = rd_seq[r]; pos = rd_pos[r]; num = rd_num[r] }
	do
	:: todo == 0 -> break
	:: else ->
		atomic {
			lock[r] == 0 -> lock[r] = 1;
			todo--;
			if
			:: rd_seq[r] > seq || (rd_seq[r] == seq && pos < rd_pos[r]) ->
				seq = rd_seq[r]; pos = rd_pos[r]; num = rd_num[r]
			:: else
			fi
		}
		do
		:: if
		   :: seq == rd_seq[r] ->
			own = 1;
			v_sb = rd_sb[r];
			v_pub = publish[v_sb]
		   :: else ->
			own = 0;
			v_seq = seq;
			rb_locate();
			if
			:: !found -> break
			:: v_seq != seq -> pos = 0
			:: else
			fi;
			seq = v_seq
		   fi;
		   if
		   :: pos < UNITS(v_pub) ->
			/* rb_iter_copy() */
			f = first[v_sb];
			i = pos;
			do
			:: i == UNITS(v_pub) -> break
			:: else ->
				got[i] = word_a[v_sb * ROOM + i];
				half[i] = word_b[v_sb * ROOM + i];
				i++
			od;
			if
#ifndef NO_RECHECK
			:: !own && RB_SLOT(r, seq) != v_word -> skip	/* once more */
#endif
			:: else ->
				atomic {
					if :: pos == 0 -> num = f :: else fi;
					do
					:: pos == UNITS(v_pub) -> break
					:: else ->
						assert(got[pos] == half[pos]);
						assert(got[pos] == num + 1);
						num++;
						pos++
					od
				}
				break
			fi
		   :: pos >= UNITS(v_pub) && (v_pub & RB_PUB_FINAL) -> seq++; pos = 0
		   :: else -> break
		   fi
		od;
		atomic { forget(); f = 0; i = 0; own = 0; got[0] = 0; half[0] = 0;
			 got[ROOM - 1] = 0; half[ROOM - 1] = 0; lock[r] = 0 }
	od
}
#endif

#if WRITTEN
proctype stat()
{
	byte r, v_sb, v_seq, v_pub, num, f, least, todo = WRITTEN;

	do
	:: todo == 0 -> break
	:: else ->
		atomic { todo--; least = settled }
		rb_ring_written();
		atomic {
			assert(num >= least && num <= reserved[r]);
			v_sb = 0; v_seq = 0; v_pub = 0; num = 0; f = 0; least = 0
		}
	od
}
#endif

#if CUTS
/* ring_buffer_cut_all() of one CPU; rb_cpu.exchange keeps other takers out. */
proctype taker()
{
	byte todo = CUTS, ring;
	bit idle;

	do
	:: todo == 0 -> break
	:: else ->
		atomic {
			todo--;
			ring = 1 - RING(live);
			/* The store of a writer is seen now or later. */
			if
			:: seen[ring] = nest[ring]
			:: skip
			fi
		}
		/* rb_is_left() */
		idle = (ring_tail[RING(live)] == FRESH);
#ifndef NO_NEST
		if :: seen[ring] -> goto busy_still :: else fi;
#endif
		if
#ifndef NO_IDLE
		:: idle ->		/* rb_make_void() */
			generation[ring] = generation[ring] | RB_VOID;
			goto busy_still
#endif
		:: else
		fi;
		/* rb_forget() */
#ifdef GENERATION_FIRST
		generation[ring] = NEXT(generation[ring]);
		ring_tail[ring] = FRESH;
#else
		ring_tail[ring] = FRESH;
		generation[ring] = NEXT(generation[ring]);
#endif
		/* rb_swap() */
		live = LIVE(ring, (live >> 1) + 1);
busy_still:
		atomic { ring = 0; idle = 0 }
	od;
	busy--
}
#endif

init
{
	byte i, r;

	/* rb_ring_init() */
	atomic {
		for (r : 0 .. RINGS - 1) {
			for (i : 0 .. NSB - 1) {
				/* The last one is the reader's. */
				sb_seq[r * NSB + i] = (i < NR -> SEQ0 - NR + i : SEQ0 - 1)
			}
			sb_seq[r * NSB] = SEQ0;
			for (i : r * NSB .. (r + 1) * NSB - 1) {
				link[i] = SLOT(sb_seq[i], 0, 0);
				tail[i] = TAIL(sb_seq[i], RB_CLOSED);
				publish[i] = PUB(sb_seq[i], RB_PUB_FINAL, 0)
			}
			for (i : 0 .. NR - 1) {
				RB_SLOT(r, SEQ0 + i) = SLOT(sb_seq[r * NSB + i], r * NSB + i,
							    RB_SLOT_EMPTY)
			}
			i = r * NSB;
			link[i] = SLOT(SEQ0 - NR, 0, 0);
			tail[i] = RB_OPEN_EMPTY;
			publish[i] = PUB(SEQ0, 0, 0);
			RB_SLOT(r, SEQ0) = SLOT(SEQ0, i, 0);
			ring_tail[r] = i;
			commit[r] = i;
			rd_sb[r] = i + NR;
			rd_seq[r] = SEQ0 - 1
		}
		tail[FRESH] = RB_CLOSED;

		busy = (TASK > 0) + (IRQ > 0) + (NMI > 0) + (CUTS > 0);
		run writer(TASK);
		if :: IRQ -> run writer(IRQ) :: else fi;
		if :: NMI -> run writer(NMI) :: else fi;
#if CONSUME
		run reader();
#endif
#if ITERATE
		run iterator();
#endif
#if WRITTEN
		run stat();
#endif
#if CUTS
		run taker();
#endif
		i = 0; r = 0
	}
}
