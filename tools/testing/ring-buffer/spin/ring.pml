/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring as internal.h has it, in small: the words, and the variables that a
 * writer and a reader of it share. Sub-buffers are numbers, those of a second ring behind those
 * of the first, and their fields are arrays.
 *
 * NR slots; ROOM records in a sub-buffer. A record is two words, so that a half of
 * it can be seen. The time in a tail word is left out, as if the clock stood
 * still: then an exchange has the least to tell two uses apart.
 */
#define NSB		(NR + 1)
#if CUTS
#define RINGS		2
#else
#define RINGS		1
#endif
#define FRESH		(RINGS * NSB)	/* rb_fresh */
#define SEQ0		(2 * NR)

#define RB_CLOSED	7
#define TAIL(seq, low)	((seq) * 8 + (low))
#define UNITS(tail)	((tail) & 7)
#define IS_CLOSED(tail)	(UNITS(tail) == RB_CLOSED)
#define RB_OPEN_EMPTY	0

#define RB_PUB_FINAL	8
#define PUB(seq, final, units)	((seq) * 16 + (final) + (units))
#define PUB_SEQ(pub)	((pub) >> 4)

#define RB_SLOT_EMPTY	1
#define RB_SLOT_HELD	2
#define SLOT(seq, id, flags)	((seq) * 64 + (id) * 4 + (flags))
#define SLOT_SEQ(word)	((word) >> 6)
#define SLOT_ID(word)	(((word) >> 2) & 15)
#define RB_SLOT(ring, seq)	slot[(ring) * NR + (seq) % NR]

/* rb_cpu.ring: which one, and a count of exchanges */
#define LIVE(ring, tag)	((tag) * 2 + (ring))
#define RING(live)	((live) & 1)

/* One step of a machine: all of it happens at once. */
inline cmpxchg(place, old, new, done)
{
	atomic {
		done = (place == old);
		if :: done -> place = new :: else fi
	}
}
