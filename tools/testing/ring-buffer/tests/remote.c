// SPDX-License-Identifier: GPL-2.0
/*
 * CPU 1 does something at every instruction of a write of CPU 0. A reader, an
 * iterator and a switch must come through while the writer is stopped (R1 the
 * other way round, R7); a resize or a reset may wait for it, and goes on when
 * the write is through.
 */
#include "test.h"

#define RING_SUBBUFS 4

static u64 committed_before;

static void op_commit(void) { put(buf, REC_LEN, PUT_COMMIT); }

/* ---- actions of CPU 1 --------------------------------------------------- */

static void consume_one(void) { consume(buf, 0, 1); }

/* R4: all that was committed before the write began must be there */
static void see_all(void)
{
	if (last_seen(0, CTX_TASK) < committed_before + 1)
		fault(F_HIDDEN, "record %llu is committed, but the reader ends after %lld",
		      committed_before, (s64)last_seen(0, CTX_TASK) - 1);
}

static void consume_all(void)
{
	consume(buf, 0, -1);
	see_all();
}

static void page_full(void) { read_pages(buf, 0, true, 0, 1); }
static void page_any(void)
{
	read_pages(buf, 0, false, 0, -1);
	see_all();
}

static void page_part(void) { read_pages(buf, 0, false, 200, 2); }

static void iterate_all(void)
{
	int n = iterate(buf, 0), want = ring_buffer_entries_cpu(buf, 0);

	/* the writer may have taken the oldest sub-buffer and not counted it yet */
	if (n < want - 1 - PER_SUBBUF)
		fault(F_HIDDEN, "iterator saw %d of %d", n, want);
}

static void iterate_twice(void)
{
	iterate_all();
	consume_one();
	iterate_all();
}

static void swap_rings(void)
{
	int ret = ring_buffer_swap_cpu(buf, buf2, 0);

	if (ret)
		fault(F_REFUSED, "ring_buffer_swap_cpu: %d", ret);
}

/* A record in flight is in the spare buffer then, and none was given up */
static void cut_and_wait(void)
{
	EXPECT_EQ(cut_one(buf, buf2, 0), 0);
	ring_buffer_wait_writers(buf2);
	EXPECT_EQ(ring_buffer_commit_overrun_cpu(buf2, 0), 0);
}

static void grow(void) { resize_to(2 * RING_SUBBUFS); }
static void shrink(void) { resize_to(2); }
static void order(void) { EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 1), 0); }

static void same_size(void)
{
	resize_to(RING_SUBBUFS);
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 0), 0);
}

static void grow_shrink(void)
{
	grow();
	shrink();
}

static void reset(void) { ring_buffer_reset_cpu(buf, 0); }
static void reset_online(void) { ring_buffer_reset_online_cpus(buf); }

static void overwrite_switch(void)
{
	ring_buffer_change_overwrite(buf, 0);
	consume_one();
	ring_buffer_change_overwrite(buf, 1);
}

static void keep_mode(void) { ring_buffer_change_overwrite(buf, 0); }

static void disable_enable(void)
{
	ring_buffer_record_disable(buf);
	consume_one();
	ring_buffer_record_enable(buf);
}

static void off_on(void)
{
	ring_buffer_record_off(buf);
	ring_buffer_record_disable_cpu(buf, 0);
	ring_buffer_record_enable_cpu(buf, 0);
	ring_buffer_record_on(buf);
}

static void statistics(void)
{
	ring_buffer_entries(buf);
	ring_buffer_overruns(buf);
	ring_buffer_bytes_cpu(buf, 0);
	ring_buffer_oldest_event_ts(buf, 0);
	ring_buffer_empty(buf);
	ring_buffer_nr_dirty_pages(buf, 0);
	ring_buffer_size(buf, 0);
}

/* Records that are read but not counted as written yet must not make it negative */
static void entries_left(void)
{
	unsigned long n;

	consume(buf, 0, -1);
	n = ring_buffer_entries_cpu(buf, 0);
	if (n > put_count(0) + 1)
		fault(F_VALUE, "%ld entries of %llu", (long)n, put_count(0));
}

#define MAY_WAIT	(1 << 0)	/* for a grace period, a lock, an interrupt there */
#define TWO_BUFFERS	(1 << 1)
#define IS_RESET	(1 << 2)
#define LOST_OPEN	(1 << 3)	/* the log does not give the value of lost_events */
#define DROPS		(1 << 4)	/* refused without being counted */

struct action {
	void		(*fn)(void);
	unsigned int	flags;
};

static const struct action *action;

static void remote(void)
{
	step_remote(1, action->fn, action->flags & MAY_WAIT);
}

/* CPU 1 waits still: more writes, then it goes on */
static void more_writes(void)
{
	put(buf, REC_LEN, PUT_COMMIT);
	put_in(CTX_IRQ, buf, REC_LEN, PUT_COMMIT);
}

static void one_run(struct step *s, const struct place *p)
{
	unsigned int end = 0;

	fresh(RING_SUBBUFS * SUBBUF_DATA, p->overwrite);
	if (action->flags & TWO_BUFFERS)
		fresh2(RING_SUBBUFS * SUBBUF_DATA);
	if (action->flags & LOST_OPEN)
		end |= END_NO_LOST;
	if (action->flags & IS_RESET)
		end |= END_NO_LOSS | END_NO_LOST;
	if (action->flags & DROPS)
		end |= END_NO_DROP;
	fill(p);
	committed_before = put_count(0) ? last_put(0, CTX_TASK) : -1ULL;
	if (!step_run(s))
		return;
	put(buf, REC_LEN, PUT_COMMIT);
	drain();
	check_end(0, end, "at instruction %ld, %s", s->at[0], place_name(p));
}

static void run_remote(long arg)
{
	struct place p = { .overwrite = -1 };

	action = (const struct action *)arg;
	while (next_place(&p, false)) {
		struct step s = { .op = op_commit, .act = { remote }, .after = more_writes };

		for_each_instruction(&s, stride)
			one_run(&s, &p);
	}
}

#define REMOTE(name, fn, how, fl, proves)	\
	{ "remote." name, run_remote, (long)&(const struct action){ fn, how }, fl, proves }

const struct scenario remote_scenarios[] = {
	REMOTE("consume-one", consume_one, 0, SC_QUICK, "R3 R4, 4"),
	REMOTE("consume-all", consume_all, 0, SC_QUICK, "R4, 4"),
	REMOTE("page-full", page_full, 0, 0, "R4 R8"),
	REMOTE("page-any", page_any, 0, SC_QUICK, "R4 R8, 4"),
	REMOTE("page-part", page_part, 0, 0, "R4 R8"),
	REMOTE("iterate", iterate_all, 0, SC_QUICK, "R7, 8"),
	REMOTE("iterate-twice", iterate_twice, 0, 0, "R7, 8"),
	REMOTE("swap", swap_rings, TWO_BUFFERS | LOST_OPEN, SC_QUICK, "R5, 1, 3, 14"),
	REMOTE("grow", grow, MAY_WAIT, SC_QUICK, "R6, 9"),
	REMOTE("shrink", shrink, MAY_WAIT | LOST_OPEN, 0, "R6, 9"),
	REMOTE("grow-shrink", grow_shrink, MAY_WAIT | LOST_OPEN, 0, "R6, 9"),
	REMOTE("order", order, MAY_WAIT, SC_QUICK, "R6, 9"),
	REMOTE("same-size", same_size, 0, SC_QUICK, "R6"),
	REMOTE("cut-wait", cut_and_wait, MAY_WAIT | TWO_BUFFERS | LOST_OPEN, SC_QUICK, "R5, 7"),
	REMOTE("reset", reset, MAY_WAIT | IS_RESET, 0, "7"),
	REMOTE("reset-online", reset_online, MAY_WAIT | IS_RESET, 0, "7"),
	REMOTE("overwrite", overwrite_switch, 0, 0, "R3"),
	REMOTE("keep", keep_mode, 0, 0, "R3"),
	REMOTE("disable", disable_enable, DROPS, 0, "R3"),
	REMOTE("off", off_on, DROPS, 0, "R3"),
	REMOTE("statistics", statistics, 0, 0, "R7"),
	REMOTE("entries", entries_left, 0, SC_QUICK, "R3 R7"),
	{ }
};
