/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A session with channels for each unit test, and a clock that only the test moves.
 */
#ifndef _KERNEL_TRACE_CHANNEL_TESTS_SESSION_H
#define _KERNEL_TRACE_CHANNEL_TESTS_SESSION_H

#include "../../tests/snapshots.h"
#include "../internal.h"

#define CHAN_KUNIT_MAX	40

/* The time of the clock */
extern u64 chan_kunit_now;

/* The channels; chan_kunit[0] is the session "kunit" itself. */
extern struct trace_array *chan_kunit[CHAN_KUNIT_MAX + 1];

/**
 * struct chan_kunit_rec - a record
 * @ent: as of each event
 * @num: its number
 */
struct chan_kunit_rec {
	struct trace_entry	ent;
	u32			num;
};

int chan_kunit_init(struct kunit *test);
void chan_kunit_exit(struct kunit *test);
void chan_kunit_open(struct kunit *test, unsigned int nr);
void chan_kunit_join(struct kunit *test, unsigned int ch);
struct trace_snapshots *chan_kunit_begin(struct kunit *test, unsigned int nr);
void chan_kunit_set_clock(void);
bool chan_kunit_write(unsigned int ch, int cpu, u64 ts, u32 num);
void chan_kunit_mark(struct kunit *test, unsigned int ch, const char *text);

#endif /* _KERNEL_TRACE_CHANNEL_TESTS_SESSION_H */
