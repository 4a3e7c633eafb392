/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hand-over of sub-buffers: nested writers, a consuming reader, an iterator.
 *
 * Words and functions have the names of kernel/trace/ring_buffer/{write,read,iterate}.c.
 * Each access to memory that others look at is a step; a writer can be interrupted
 * between any two, by a writer of a higher level, which then runs to its end.
 * Memory is sequentially consistent here: weaker order is the litmus tests' part.
 *
 * What is asserted:
 *   - a record that is read is whole, and is the one with the number that the
 *     reader expects: none twice, none out of order, none lost uncounted
 *   - the publish word of a sub-buffer never goes back
 *   - the writer opens no sub-buffer that the reader owns
 *   - in the end, written = read + overrun, and the reader was told of each loss
 *   - an iterator's copy is of one use of a sub-buffer
 *   - rb_ring_written() is not less than what was written when it began, nor more than
 *     what is when it ends
 *
 * NR, ROOM	slots, records in a sub-buffer
 * TASK, IRQ, NMI	records that each context writes
 * OVERWRITE	1 or 0
 * CONSUME	1: there is a consuming reader
 * ITERATE	copies that an iterator makes
 * WRITTEN	calls of rb_ring_written()
 * Each name in an #ifdef that is not one of these is a way to break it.
 */
#include "ring.pml"

byte sb_seq[NSB], tail[NSB], publish[NSB], link[NSB];
byte first[NSB], count[NSB], base[NSB], records[NSB], end[NSB];
byte word_a[NSB * ROOM], word_b[NSB * ROOM];	/* a record's number plus 1, twice */
byte slot[NR];
byte ring_tail, commit, nest;
byte overrun, dropped, commit_overrun;

bit lock;
byte rd_sb, rd_seq, rd_pos, rd_num, rd_lost, rd_read;

/* What only this model knows. */
byte running;		/* the writer that has the CPU, by its _pid */
byte writers;		/* that have not ended */
byte reserved;		/* records */
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
	c = commit;
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
	   if
	   :: SLOT_SEQ(link[c]) != sb_seq[c] + 1 -> break
	   :: else
	   fi;
	   w = SLOT_ID(link[c]);
	   first[w] = first[c] + count[c];
	   commit = w;
	   c = w
	od
}

inline rb_all_published(yes)
{
	c = commit;
	t = tail[c];
	if
	:: IS_CLOSED(t) -> yes = (publish[c] & RB_PUB_FINAL) && c == ring_tail
	:: else -> yes = UNITS(publish[c]) == UNITS(t)
	fi
}

inline rb_leave()
{
	if
#ifdef INNER_PUBLISHES
	:: false
#else
	:: nest != 1 -> nest--
#endif
	:: else ->
		do
		:: c = commit;
		   look = tail[c];
		   if
		   :: !IS_CLOSED(look) -> rb_publish_subbuf(c, 0, UNITS(look))
		   :: else -> rb_publish()
		   fi;
#ifdef INNER_PUBLISHES
		   nest--;
		   break;
#endif
		   nest = 0;
#ifdef NO_SECOND_LOOK
		   break;
#endif
		   c = commit;
		   if
		   :: !IS_CLOSED(look) && look == tail[c] -> break
		   :: else
		   fi;
		   rb_all_published(ok);
		   if
		   :: ok -> break
		   :: else -> nest = 1
		   fi
		od
	fi
}

inline rb_claim_slot(next)
{
	w = slot[next % NR];
	do
	:: SLOT_SEQ(w) == next -> goto claimed
	:: else ->
		if
		:: !OVERWRITE && !(w & RB_SLOT_EMPTY) -> dropped++; goto refuse
		:: else
		fi;
#ifdef PLAIN_CLAIM
		slot[next % NR] = SLOT(next, SLOT_ID(w), 0);
		ok = true;
#else
		cmpxchg(slot[next % NR], w, SLOT(next, SLOT_ID(w), 0), ok);
#endif
		if
		:: ok -> break
		:: else -> w = slot[next % NR]
		fi
	od;
	if
#ifdef COUNT_EMPTY
	:: true -> overrun = overrun + count[SLOT_ID(w)]
#else
	:: !(w & RB_SLOT_EMPTY) -> overrun = overrun + count[SLOT_ID(w)]
	:: else
#endif
	fi;
claimed:
	w = SLOT_ID(w)
}

inline rb_open_subbuf(which, next)
{
	assert(which != rd_sb);
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
	next = sb_seq[sb] + 1;
	if
	:: !IS_CLOSED(before) ->
		cmpxchg(tail[sb], before, TAIL(sb_seq[sb], RB_CLOSED), ok);
		if
		:: !ok -> goto again
		:: else
		fi;
		end[sb] = UNITS(before)
	:: else
	fi;
	if
	:: ring_tail != sb -> goto again
	:: else
	fi;
#ifndef NO_COMMIT_BOUND
	if
	:: next >= sb_seq[commit] + NR -> commit_overrun++; goto refuse
	:: else
	fi;
#endif
	rb_claim_slot(next);
	rb_open_subbuf(w, next);
	link[sb] = SLOT(next, w, 0);
#ifdef PLAIN_TAIL
	ring_tail = w;
#else
	cmpxchg(ring_tail, sb, w, ok);
#endif
	goto again
}

/*
 * A writer. The task has _pid 1, what can interrupt it a higher one: it gets on while
 * nobody above it is at work, and begins when somebody below it is.
 */
proctype writer(byte todo) provided (running <= _pid)
{
	byte saved, sb, before, next, c, t, w, look;
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
		nest++;			/* rb_enter() */
again:
		sb = ring_tail;		/* rb_look() */
		before = tail[sb];
		if
		:: UNITS(before) >= ROOM -> rb_next_subbuf()
		:: else
		fi;
		atomic {
			if
			:: tail[sb] == before ->
				tail[sb] = before + 1;
				reserved++;
				w = reserved
			:: else -> goto again
			fi
		}
		records[sb]++;
		word_a[sb * ROOM + before] = w;
		word_b[sb * ROOM + before] = w;

		if			/* rb_finish() */
		:: nest != 1 || commit != sb -> goto refuse
		:: else
		fi;
		rb_publish_subbuf(sb, 0, UNITS(before + 1));
		nest = 0;
#ifndef NO_SECOND_LOOK
		if
		:: tail[sb] != before + 1 ->
			rb_all_published(ok);
			if
			:: !ok -> nest = 1; goto refuse
			:: else
			fi
		:: else
		fi;
#endif
		goto out;
refuse:
		rb_leave();		/* rb_finish_slow() */
out:
		atomic { if :: saved == 0 -> settled = reserved :: else fi;
			 running = saved; saved = 0; sb = 0; before = 0; next = 0;
			 c = 0; t = 0; w = 0; look = 0; ok = 0 }
	od;
	writers--
}

/* Sets v_seq, v_word, v_sb, v_pub; found says whether there is something. */
inline rb_locate()
{
	do
	:: v_word = slot[v_seq % NR];
	   if
	   :: SLOT_SEQ(v_word) > v_seq -> v_seq = SLOT_SEQ(v_word) - NR + 1
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
			:: slot[v_seq % NR] == v_word -> found = 0; break
			:: else
			fi
		fi
	   fi
	od
}

inline forget()
{
	atomic { v_seq = 0; v_word = 0; v_sb = 0; v_pub = 0; found = 0; a = 0; b = 0 }
}

#if CONSUME
proctype reader()
{
	byte v_seq, v_word, v_sb, v_pub, a, b;
	bit found, ended;

	do
	:: atomic { lock == 0 -> lock = 1; ended = (writers == 0) }
fill:
	   v_pub = publish[rd_sb];	/* rb_reader_fill() */
	   if
	   :: rd_pos < UNITS(v_pub) ->
		a = word_a[rd_sb * ROOM + rd_pos];
		b = word_b[rd_sb * ROOM + rd_pos];
		atomic {
			assert(a == b);
			assert(a == rd_num + 1);
			rd_pos++; rd_num++; rd_read++;
			forget();
			lock = 0
		}
	   :: else ->
		if
		:: !(v_pub & RB_PUB_FINAL) -> goto nothing
		:: else
		fi;
again:
		v_seq = rd_seq + 1;
		rb_locate();
		if
		:: !found -> goto nothing
		:: else
		fi;
		/* rb_reader_take(): the fields of the reader are under the lock. */
#ifdef PLAIN_TAKE
		slot[v_seq % NR] = SLOT(v_seq, rd_sb, RB_SLOT_EMPTY);
		rd_sb = v_sb;
#else
		atomic {
			if
			:: slot[v_seq % NR] != v_word -> goto again
			:: else ->
				slot[v_seq % NR] = SLOT(v_seq, rd_sb, RB_SLOT_EMPTY);
				rd_sb = v_sb
			fi
		}
#endif
		atomic {
			rd_seq = v_seq;
			rd_pos = 0;
			rd_lost = rd_lost + first[rd_sb] - rd_num;
			rd_num = first[rd_sb];
			goto fill
		}
nothing:
		atomic { forget(); lock = 0 }
		if
		:: ended -> break
		:: else
		fi
	   fi
	od;

	/* Nobody writes any more, and the reader has found nothing. */
	assert(nest == 0);
	assert(reserved == rd_read + overrun);
	assert(rd_lost == overrun);
	assert(rd_num == reserved)
}
#endif

#if ITERATE
proctype iterator()
{
	byte v_seq, v_word, v_sb, v_pub, a, b, f, i;
	byte seq, pos, num, got[ROOM], half[ROOM], todo = ITERATE;
	bit found, own;

	atomic { lock == 0 -> lock = 1; seq = rd_seq; pos = rd_pos; num = rd_num; lock = 0 }
	do
	:: todo == 0 -> break
	:: else ->
		atomic {
			lock == 0 -> lock = 1;
			todo--;
			if
			:: rd_seq > seq || (rd_seq == seq && pos < rd_pos) ->
				seq = rd_seq; pos = rd_pos; num = rd_num
			:: else
			fi
		}
		do
		:: if
		   :: seq == rd_seq ->
			own = 1;
			v_sb = rd_sb;
			v_pub = publish[rd_sb]
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
			:: !own && slot[seq % NR] != v_word -> skip	/* once more */
#endif
			:: else ->
				atomic {
					if
					:: pos == 0 -> num = f
					:: else
					fi;
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
			 got[ROOM - 1] = 0; half[ROOM - 1] = 0; lock = 0 }
	od
}
#endif

#if WRITTEN
proctype stat()
{
	byte sb, seq, pub, num, f, least, todo = WRITTEN;

	do
	:: todo == 0 -> break
	:: else ->
		atomic { todo--; least = settled }
again:
		sb = commit;
#ifdef NUMBER_ONCE
		seq = sb_seq[sb];
		pub = publish[sb];
		f = first[sb];
#else
		f = first[sb];
		pub = publish[sb];
#endif
		if
		:: pub & RB_PUB_FINAL -> num = f + count[sb]
		:: else ->
			num = f + records[sb];
			num = num - base[sb]
		fi;
		if
		:: commit != sb -> goto again
		:: else
		fi;
		if
#ifdef NUMBER_ONCE
		:: seq != sb_seq[sb] -> goto again
#else
		:: f != first[sb] -> goto again
#endif
		:: else
		fi;
		if
#ifdef NUMBER_ONCE
		:: (pub & RB_PUB_FINAL) != (publish[sb] & RB_PUB_FINAL) -> goto again
#else
		:: pub / RB_PUB_FINAL != publish[sb] / RB_PUB_FINAL -> goto again
#endif
		:: else
		fi;
		atomic {
			assert(num >= least && num <= reserved);
			sb = 0; seq = 0; pub = 0; num = 0; f = 0; least = 0
		}
	od
}
#endif

init
{
	byte i;

	/* rb_ring_init() */
	atomic {
		i = 0;
		do
		:: i == NR -> break
		:: else ->
			sb_seq[i] = SEQ0 - NR + i;
			link[i] = SLOT(SEQ0 - NR + i, 0, 0);
			tail[i] = TAIL(SEQ0 - NR + i, RB_CLOSED);
			publish[i] = PUB(SEQ0 - NR + i, RB_PUB_FINAL, 0);
			slot[i] = SLOT(SEQ0 - NR + i, i, RB_SLOT_EMPTY);
			i++
		od;
		sb_seq[0] = SEQ0;
		tail[0] = RB_OPEN_EMPTY;
		publish[0] = PUB(SEQ0, 0, 0);
		slot[0] = SLOT(SEQ0, 0, 0);
		rd_sb = NR;
		rd_seq = SEQ0 - 1;
		sb_seq[NR] = SEQ0 - 1;
		link[NR] = SLOT(SEQ0 - 1, 0, 0);
		tail[NR] = TAIL(SEQ0 - 1, RB_CLOSED);
		publish[NR] = PUB(SEQ0 - 1, RB_PUB_FINAL, 0);

		writers = (TASK > 0) + (IRQ > 0) + (NMI > 0);
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
		i = 0
	}
}
