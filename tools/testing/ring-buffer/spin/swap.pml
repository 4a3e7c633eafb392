/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The exchange of a CPU's ring under its writers.
 *
 * A ring is a row of records here, with a tail that counts them; how it is divided
 * is the subject of handover.pml. Words and functions have the names of
 * kernel/trace/ring_buffer/{ring,write,swap}.c.
 *
 * Left out:
 *   - the other buffer's words: here nobody writes to it, and readers find a ring by a
 *     pointer of their own, behind the ring's lock
 *   - that the count of exchanges has six bits: a writer that was stopped for 64 of them
 *     could take a ring for the one that it entered
 *   - a cut, which also empties the ring that goes live: see handover.pml
 *
 * Assertions:
 *   - in each ring, records lie in the order of their times
 *   - a record is in the ring that was live when its clock was read, so that the
 *     records in a ring that was exchanged out are older than those in the other one
 *   - in the end both rings have published all, and nobody is inside
 *
 * TASK, IRQ, NMI	records that each context writes
 * SWAPS		exchanges, by another CPU at any moment
 */
#include "ring.pml"

#define EPOCH(live)	((live) >> 1)

byte live;		/* rb_cpu.ring */
byte tail[2], publish[2], nest[2];
byte clock = 1;

/* Variables of the model only. */
byte running, writers;
byte newest[2];		/* time of the newest record of a ring */
byte oldest[SWAPS + 1];	/* that of the first record for which the ring was live, or 0 */
byte latest[SWAPS + 1];	/* that of the last one */

/* The outermost one publishes, and looks once more. */
inline rb_leave(ring)
{
	if
	:: nest[ring] != 1 -> nest[ring]--
	:: else ->
		do
		:: look = tail[ring];
		   atomic {
			assert(look >= publish[ring]);
			publish[ring] = look
		   }
		   nest[ring] = 0;
		   if
		   :: look == tail[ring] || tail[ring] == publish[ring] -> break
		   :: else -> nest[ring] = 1
		   fi
		od
	fi
}

proctype writer(byte todo) provided (running <= _pid)
{
	byte saved, entered, ring, before, now, look;
	byte e, when;		/* of the exchanges: only this model knows */

	do
	:: todo == 0 -> break
	:: else ->
		atomic {
			running < _pid;
			saved = running;
			running = _pid;
			todo--
		}
enter:
		entered = live;			/* rb_enter() */
		ring = RING(entered);
		nest[ring]++;
again:
		before = tail[ring];		/* rb_look() */
#ifdef EARLY_RECHECK
		if
		:: live != entered -> rb_leave(ring); goto enter
		:: else
		fi;
#endif
		atomic { now = clock; clock++; when = EPOCH(live) }
#ifdef NO_TAG
		if
		:: RING(live) != ring -> rb_leave(ring); goto enter
		:: else
		fi;
#else
#ifndef NO_RECHECK
#ifndef EARLY_RECHECK
		if
		:: live != entered -> rb_leave(ring); goto enter
		:: else
		fi;
#endif
#endif
#endif
		atomic {
			if
			:: tail[ring] != before -> goto again
			:: else ->
				tail[ring] = before + 1;
				assert(now > newest[ring]);
				newest[ring] = now;
				e = EPOCH(entered);
				assert(e == 0 || now > latest[e - 1]);
				assert(e == SWAPS || oldest[e + 1] == 0 || now < oldest[e + 1]);
				assert(e == when);
				if :: oldest[e] == 0 -> oldest[e] = now :: else fi;
				latest[e] = now
			fi
		}
#ifdef COMMIT_LIVE
		ring = RING(live);
#endif
		rb_leave(ring);
		atomic { running = saved; saved = 0; entered = 0; ring = 0; before = 0;
			 now = 0; look = 0; e = 0; when = 0 }
	od;
	writers--
}

/* rb_swap(); rb_cpu.exchange keeps others out. */
proctype swapper()
{
	byte todo = SWAPS;

	do
	:: todo == 0 -> break
	:: else ->
		atomic {
			live = LIVE(1 - RING(live), (live >> 1) + 1);
			todo--
		}
	od;

	writers == 0;
	assert(nest[0] == 0 && nest[1] == 0);
	assert(publish[0] == tail[0] && publish[1] == tail[1]);
	assert(tail[0] + tail[1] == TASK + IRQ + NMI)
}

init
{
	atomic {
		writers = (TASK > 0) + (IRQ > 0) + (NMI > 0);
		run writer(TASK);
		if :: IRQ -> run writer(IRQ) :: else fi;
		if :: NMI -> run writer(NMI) :: else fi;
		run swapper()
	}
}
