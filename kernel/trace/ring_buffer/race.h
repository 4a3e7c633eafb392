/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The places between two steps where it matters if something comes in: an interrupt,
 * another CPU. The unit tests let something happen at each of them; in other
 * kernels nothing is left of it.
 */
#ifndef _RING_BUFFER_RACE_H
#define _RING_BUFFER_RACE_H

#include <linux/compiler.h>

enum rb_race {
	/* reserve */
	RB_RACE_ENTER, RB_RACE_ENTERED, RB_RACE_LOOK, RB_RACE_LOOKED, RB_RACE_CLOCK,
	RB_RACE_CHOSEN, RB_RACE_CHECKED, RB_RACE_RESERVED, RB_RACE_COUNTED, RB_RACE_STAMP,
	RB_RACE_STAMPED, RB_RACE_RESERVE, RB_RACE_FAST, RB_RACE_FAST_DONE, RB_RACE_PUSH,
	RB_RACE_PUSHED, RB_RACE_POP,
	/* the next sub-buffer */
	RB_RACE_CLOSE, RB_RACE_CLOSED, RB_RACE_NEXT, RB_RACE_CLAIM, RB_RACE_CLAIMED,
	RB_RACE_OPEN, RB_RACE_OPEN_SET, RB_RACE_OPENED, RB_RACE_LINKED,
	RB_RACE_BEGIN_GENERATION, RB_RACE_FIRST_SEQ,
	/* commit */
	RB_RACE_FINISH, RB_RACE_FINISHED, RB_RACE_FINISH_OUT, RB_RACE_LET_GO, RB_RACE_LEAVE,
	RB_RACE_LEFT, RB_RACE_PUBLISH, RB_RACE_PUBLISH_COPY, RB_RACE_PUBLISHED, RB_RACE_FINAL,
	RB_RACE_BASE, RB_RACE_NUMBERED, RB_RACE_COMMITTED,
	/* discard */
	RB_RACE_FORGET, RB_RACE_UNCOUNTED, RB_RACE_TAKEN_BACK, RB_RACE_MOVE, RB_RACE_MOVED,
	/* read */
	RB_RACE_LOCATE, RB_RACE_LOCATED, RB_RACE_FILL, RB_RACE_TAKE, RB_RACE_TAKEN,
	RB_RACE_READ, RB_RACE_COPY, RB_RACE_COPIED, RB_RACE_PAGE, RB_RACE_PAGE_DONE,
	RB_RACE_PLACE, RB_RACE_PLACE_COPIED, RB_RACE_WRITTEN, RB_RACE_ENTRIES,
	/* one ring for all CPUs */
	RB_RACE_STAGE_LOCK, RB_RACE_STAGE_LOOK, RB_RACE_STAGE_COPIED, RB_RACE_STAGE_RENEW,
	RB_RACE_STAGE_MOVED,
	/* exchange the ring */
	RB_RACE_CUT_LOOK, RB_RACE_CUT, RB_RACE_CUT_FRESH, RB_RACE_SWAP, RB_RACE_SWAP_HALF,
	RB_RACE_SWAP_LIVE, RB_RACE_SWAP_READER, RB_RACE_GO_LIVE, RB_RACE_LIVE, RB_RACE_ADOPT,
	RB_RACE_ADOPTED, RB_RACE_SUCCESSOR, RB_RACE_PART, RB_RACE_RELEASE, RB_RACE_FOLLOW,
	RB_RACE_REFUSING, RB_RACE_RESET, RB_RACE_WAITED,
	/* wait */
	RB_RACE_WAIT, RB_RACE_WAIT_TOLD,
	RB_RACE_NR
};

#ifdef CONFIG_RING_BUFFER_KUNIT_TEST

extern void (*rb_race_hook)(enum rb_race point, const char *name);

static __always_inline void rb_race_at(enum rb_race point, const char *name)
{
	if (unlikely(rb_race_hook))
		rb_race_hook(point, name);
}

#else

static __always_inline void rb_race_at(enum rb_race point, const char *name)
{
}

#endif

#define rb_race_point(name)	rb_race_at(RB_RACE_##name, #name)

#endif /* _RING_BUFFER_RACE_H */
