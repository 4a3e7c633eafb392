# SPDX-License-Identifier: GPL-2.0
#
# Mutants of the writer that are the same program, as run-mutants names them, each with the
# reason: no test can tell them from the source as it is.
kernel/trace/ring_buffer/write.c: rb_clock: if (IS_ENABLED(CONFIG_MITIGATION_RETPOLINE) && likely(clock == trace_clock_local)) => if (1 && likely(clock == trace_clock_local))
	The same clock is called, directly or by its address.
kernel/trace/ring_buffer/write.c: rb_choose_stamp: return 0; => return 1;
	The tail is closed: the record has no room, and what stamp it needs is chosen anew in the next sub-buffer.
kernel/trace/ring_buffer/write.c: rb_choose_stamp: ((now ^ stamp) & ~RB_ABS_MASK || *delta > S64_MAX / 2)) => ((now ^ stamp) & ~RB_ABS_MASK || *delta >= S64_MAX / 2))
	The delta is never that value: the upper five bits are those of the page's stamp, so it is less than 2^59 forward or back, or near 2^63 where no time belongs to the epoch.
kernel/trace/ring_buffer/write.c: rb_begin_life: return false; => return true;
	An interrupt has begun this life. Going on, the writer does once more what the interrupt has done, which changes nothing: the slot is claimed, the sub-buffer is open or closed for this sequence, and the tail is another one.
kernel/trace/ring_buffer/write.c: rb_push: if (nested >= RB_NEST_LEVELS || WARN_ON_ONCE(rcpu->depth >= ARRAY_SIZE(rcpu->below))) { => if (nested >= RB_NEST_LEVELS || 0) {
	There are never so many writes: rb_may_nest() lets in one of each context and an odd one on each of RB_NEST_LEVELS.
kernel/trace/ring_buffer/write.c: rb_push: if (nested >= RB_NEST_LEVELS || WARN_ON_ONCE(rcpu->depth >= ARRAY_SIZE(rcpu->below))) { => if (nested >= RB_NEST_LEVELS || WARN_ON_ONCE(rcpu->depth > ARRAY_SIZE(rcpu->below))) {
	There are never so many writes: rb_may_nest() lets in one of each context and an odd one on each of RB_NEST_LEVELS.
kernel/trace/ring_buffer/write.c: rb_push: if (rcpu->full && rb_still_full(rcpu)) => if (1 && rb_still_full(rcpu))
	A ring that is full refuses the record all the same, and counts it the same, when the writer comes to the slot.
kernel/trace/ring_buffer/write.c: rb_reserve: if (unlikely(delta > RB_DELTA_MAX || end > data_race(sb->room) || => if (unlikely(delta >= RB_DELTA_MAX || end > data_race(sb->room) ||
	The slow way takes such a delta the same way, with no stamp.
kernel/trace/ring_buffer/write.c: rb_reserve: if (unlikely(delta > RB_DELTA_MAX || end > data_race(sb->room) || => if (unlikely(delta > RB_DELTA_MAX || end >= data_race(sb->room) ||
	The slow way finds that the record just fits, and writes the same.
kernel/trace/ring_buffer/write.c: rb_publish: rb_publish_subbuf(sb, 0, rb_tail_units(tail)); => ;
	rb_leave() finds that not all is published, and publishes it in the next round: an open sub-buffer is the last one.
