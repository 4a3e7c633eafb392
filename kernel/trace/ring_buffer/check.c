// SPDX-License-Identifier: GPL-2.0
/*
 * CONFIG_RING_BUFFER_VALIDATE_TIME_DELTAS: walk over the records each time they
 * are published, and check that they add up.
 */
#include <linux/bug.h>

#include "subbuf.h"

/**
 * rb_check_subbuf() - see that a sub-buffer's records add up
 * @sb:    the sub-buffer
 * @units: of it that are being published
 * @final: nothing more will be
 *
 * The deltas must lead to the time in the tail word, the lengths to its
 * offset, and there must be as many records as were counted.
 *
 * Context: The outermost writer inside the ring.
 */
void rb_check_subbuf(struct rb_subbuf *sb, u32 units, bool final)
{
	struct rb_cursor c = rb_cursor(sb->page, 0, units * RB_UNIT, sb->page->time_stamp);
	u64 tail = local64_read(&sb->tail);
	struct ring_buffer_event *rec;
	unsigned long records = 0, counted;
	u64 since;

	while ((rec = rb_cursor_next(&c))) {
		rb_cursor_skip(&c, rec);
		records++;
	}
	if (final) {
		WARN_ONCE(records != sb->count || c.pos != units * RB_UNIT,
			  "ring buffer: %lu records up to %u, should be %lu up to %u\n",
			  records, c.pos, sb->count, units * RB_UNIT);
		return;
	}
	/* An interrupt may have come, since @units was read or while we walked. */
	counted = local_read(&sb->records) - sb->base;
	/* A record that was discarded may have taken the epoch along. */
	since = c.time - local64_read(&sb->epoch);
	barrier();
	if (!units || rb_tail_units(tail) != units || local64_read(&sb->tail) != tail)
		return;
	WARN_ONCE((since <= RB_EPOCH_MAX && since != tail >> RB_TAIL_BITS) ||
		  c.pos != units * RB_UNIT || records != counted,
		  "ring buffer: %lu records up to %u at %llx, tail %llx, counted %lu\n",
		  records, c.pos, c.time, tail, counted);
}
