// SPDX-License-Identifier: GPL-2.0
/* Iterators: the place that each one has in the ring, and the losses that it reports. */
#include <linux/gfp.h>
#include "test.h"

#define LEN	192U
#define PER	((int)(SUBBUF_DATA / (LEN + 8)))	/* records of a sub-buffer */
#define NR	1000

static u64 times[NR];
static int nr;
static struct ring_buffer_iter *it;

static void begin_iter(int subbufs)
{
	begin(subbufs, true);
	nr = 0;
}

static struct ring_buffer_event *reserve(void)
{
	struct ring_buffer_event *e = ring_buffer_lock_reserve(buf, LEN);

	if (!e) {
		fault(F_REFUSED, "record %d", nr);
		return NULL;
	}
	*(int *)ring_buffer_event_data(e) = nr;
	times[nr++] = ring_buffer_event_time_stamp(buf, e);
	return e;
}

/* Records with running numbers */
static void mark(int n)
{
	while (n-- && reserve())
		ring_buffer_unlock_commit(buf);
}

static void take(int n)
{
	while (n-- && ring_buffer_consume(buf, 0, NULL, NULL))
		;
}

/* The number of the record that the reader is at */
static int at_reader(void)
{
	struct ring_buffer_event *e = ring_buffer_peek(buf, 0, NULL, NULL);

	return e ? *(int *)ring_buffer_event_data(e) : -1;
}

static void open_iter(struct trace_buffer *b)
{
	it = ring_buffer_read_start(b, 0, GFP_KERNEL);
	EXPECT(it, "ring_buffer_read_start");
}

/* The iterator is at this record, and goes on */
static void look(int num, bool dropped)
{
	struct ring_buffer_event *e;
	u64 ts;
	int got;

	e = ring_buffer_iter_peek(it, &ts);
	if (!e) {
		fault(F_HIDDEN, "record %d", num);
		return;
	}
	got = *(int *)ring_buffer_event_data(e);
	if (got != num)
		fault(F_ORDER, "record %d, not %d", got, num);
	else if (ts != times[num])
		fault(F_TIME, "record %d: %lld more", num, (s64)(ts - times[num]));
	if (ring_buffer_iter_dropped(it) != dropped)
		fault(F_LOST, "record %d: dropped is %d", num, !dropped);
	ring_buffer_iter_advance(it);
}

static void look_from(int num, int behind)
{
	while (num < behind && !nr_faults)
		look(num++, false);
}

/* It stays at the end */
static void none(void)
{
	u64 ts = 1;
	int i;

	for (i = 0; i < 2; i++) {
		if (ring_buffer_iter_peek(it, &ts))
			fault(F_VALUE, "there is no record %d", nr);
		EXPECT_EQ(ts, 0);
		EXPECT(ring_buffer_iter_empty(it), "%d records", nr);
		ring_buffer_iter_advance(it);
	}
}

static void end(void)
{
	ring_buffer_read_finish(it);
	take(NR);
	check_end(1, 0, "warnings");
	no_leak("an iterator");
}

/* A sub-buffer is read as it is written, in parts */
static void parts(long unused)
{
	int i;

	begin_iter(4);
	open_iter(buf);
	none();
	for (i = 0; i < 3; i++) {
		mark(3);
		look_from(nr - 3, nr);
		none();
	}
	/* The next one is begun, and nothing is in it */
	mark(PER - nr);
	look_from(9, PER);
	reserve();
	none();
	ring_buffer_unlock_commit(buf);
	look(PER, false);
	none();
	mark(PER);
	look_from(PER + 1, nr);
	none();
	end();
}

/* So many records are left up to the bound: shown, or some of them lost */
static void up_to_bound(int left, bool lost)
{
	for (; ring_buffer_iter_peek(it, NULL) && !ring_buffer_iter_at_bound(it); left--)
		ring_buffer_iter_advance(it);
	EXPECT_EQ(ring_buffer_iter_missed(it), left);
	EXPECT_EQ(!!left, lost);
}

/* An iterator with a bound ends there, while the writer goes on, also over other rings */
static void bound(long unused)
{
	begin_iter(4);
	open_iter(buf);
	ring_buffer_iter_bound(it);
	mark(5);
	up_to_bound(0, false);
	ring_buffer_iter_bound(it);
	mark(3 * PER);
	up_to_bound(5, false);
	ring_buffer_iter_bound(it);
	mark(7);
	up_to_bound(3 * PER, false);

	/* It has a copy of some; the others are lost, but not those behind */
	mark(2 * PER);
	ring_buffer_iter_bound(it);
	mark(6 * PER);
	up_to_bound(7 + 2 * PER, true);
	ring_buffer_iter_told(it);
	up_to_bound(0, false);
	/* Those are told in front of the next record */
	EXPECT(ring_buffer_iter_dropped(it), "losses behind the bound are not told");

	ring_buffer_iter_reset(it);
	EXPECT(!ring_buffer_iter_at_bound(it), "a bound");
	ring_buffer_iter_bound(it);
	EXPECT_EQ(ring_buffer_resize(buf, 12 * SUBBUF_DATA, 0), 0);
	mark(PER);
	up_to_bound(ring_buffer_entries_cpu(buf, 0) - PER, false);
	/* Erased records are not lost */
	ring_buffer_iter_bound(it);
	ring_buffer_reset_cpu(buf, 0);
	up_to_bound(0, false);
	mark(3);
	up_to_bound(0, false);
	end();
}

/* The next sub-buffer is begun by a record that is taken back */
static void taken_back(long unused)
{
	begin_iter(4);
	open_iter(buf);
	mark(3);
	look_from(0, 3);
	none();
	mark(PER - 3);
	look_from(3, PER);
	put(buf, 2000, PUT_DISCARD);
	none();
	mark(2);
	look_from(PER, nr);
	none();
	end();
}

/* Time that passed in front of a record that is taken back counts once */
static void stamps(long unused)
{
	static const s64 far[] = { 1LL << 30 };

	begin_iter(4);
	clock_steps(1, far);
	open_iter(buf);
	mark(2);
	put(buf, LEN, PUT_DISCARD);
	look_from(0, 2);
	none();
	mark(1);
	look(2, false);
	put(buf, LEN, PUT_DISCARD);
	put(buf, 20, PUT_DISCARD);
	none();
	mark(PER);
	look_from(3, nr);
	none();
	end();
}

/* A reader overtakes: the iterator passes over the consumed records without a loss */
static void overtaken_by_reader(long unused)
{
	begin_iter(8);
	open_iter(buf);
	mark(3);
	look_from(0, 3);
	none();
	/* in the same sub-buffer */
	mark(5);
	take(6);
	look_from(6, 8);
	none();
	/* in the middle of the next one */
	mark(3 * PER - nr);
	take(PER + 4 - 6);
	look_from(PER + 4, 2 * PER);
	/* it has consumed all records that the iterator passed, and is in the next sub-buffer */
	take(PER - 4);
	EXPECT_EQ(at_reader(), 2 * PER);
	look_from(2 * PER, nr);
	none();
	end();
}

/* The iterator reports no loss of records behind it */
static void reader_loses(long unused)
{
	begin_iter(4);
	mark(3 * PER);
	open_iter(buf);
	look_from(0, 2 * PER);
	while (ring_buffer_overrun_cpu(buf, 0) < 2 * PER)
		mark(1);
	EXPECT_EQ(at_reader(), 2 * PER);
	look_from(2 * PER, nr);
	none();
	end();
}

/* It reports records that were overwritten in front of it with the next record, once */
static void writer_laps(long before)
{
	int oldest;

	begin_iter(4);
	open_iter(buf);
	mark(before);
	look_from(0, 5);
	mark(10 * PER);
	if (before > 5)
		look_from(5, min_t(int, before, PER));
	else
		EXPECT(!ring_buffer_iter_empty(it), "10 sub-buffers were written");
	oldest = ring_buffer_overrun_cpu(buf, 0);
	look(oldest, true);
	look(oldest + 1, false);
	mark(10 * PER);
	look_from(oldest + 2, oldest + PER);
	EXPECT(!ring_buffer_iter_empty(it), "10 more were written");
	EXPECT(ring_buffer_iter_dropped(it), "all was overwritten");
	/* back to the oldest record, with which the reader reports the loss */
	ring_buffer_iter_reset(it);
	EXPECT(!ring_buffer_iter_dropped(it), "it begins anew");
	oldest = at_reader();
	EXPECT_EQ(oldest, ring_buffer_overrun_cpu(buf, 0));
	ring_buffer_iter_reset(it);
	look(oldest, false);
	EXPECT(!ring_buffer_iter_empty(it), "the second one");
	ring_buffer_iter_reset(it);
	look_from(oldest, nr);
	none();
	ring_buffer_iter_reset(NULL);
	end();
}

/* Records that did not fit into a smaller ring are overwritten first, also under an iterator */
static void shrunk(long unused)
{
	int oldest, inherited;

	begin_iter(8);
	mark(6 * PER);
	open_iter(buf);
	look_from(0, 3);
	resize_to(3);
	inherited = ring_buffer_overrun_cpu(buf, 0);
	while (ring_buffer_bytes_cpu(buf, 0) && (int)ring_buffer_overrun_cpu(buf, 0) == inherited)
		mark(1);
	look_from(3, PER);
	EXPECT(!ring_buffer_iter_empty(it), "records are there");
	oldest = at_reader();
	look(oldest, true);
	look_from(oldest + 1, nr);
	none();
	end();
}

/* The same without a read of statistics meanwhile: the iterator checks itself */
static void shrunk_alone(long unused)
{
	int n, oldest, got;

	for (n = 1; n <= 3 * PER; n++) {
		struct ring_buffer_event *e;

		begin_iter(8);
		mark(6 * PER);
		open_iter(buf);
		look_from(0, PER);
		resize_to(3);
		mark(n);
		e = ring_buffer_iter_peek(it, NULL);
		got = e ? *(int *)ring_buffer_event_data(e) : -1;
		oldest = at_reader();
		EXPECT(got == oldest, "%d, not %d, after %d more", got, oldest, n);
		EXPECT(ring_buffer_iter_dropped(it), "not all did fit");
		end();
	}
}

/* A resize takes the iterator along, from ring to ring; each one is freed then */
static void resizes(long unused)
{
	static const int sizes[] = { 9, 16, 12, 20 };
	int i;

	begin_iter(8);
	mark(5 * PER);
	open_iter(buf);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		look_from(i * PER, i * PER + 3);
		EXPECT_EQ(ring_buffer_resize(buf, sizes[i] * SUBBUF_DATA, 0), 0);
		look_from(i * PER + 3, (i + 1) * PER);
		mark(3);
		shim_rcu_run();
	}
	/* Back to the oldest, in another ring than the one that it began with */
	ring_buffer_iter_reset(it);
	look_from(0, nr);
	ring_buffer_iter_reset(it);
	EXPECT_EQ(ring_buffer_resize(buf, 30 * SUBBUF_DATA, 0), 0);
	ring_buffer_iter_reset(it);
	shim_rcu_run();
	look_from(0, nr);
	none();
	end();
}

/* A resize finds the iterator in the middle of the sub-buffer that is written */
static void resize_in_part(long unused)
{
	begin_iter(8);
	mark(PER);
	open_iter(buf);
	mark(3);
	look_from(0, PER + 3);
	none();
	mark(5);
	EXPECT_EQ(ring_buffer_resize(buf, 12 * SUBBUF_DATA, 0), 0);
	look_from(PER + 3, PER + 8);
	none();
	mark(PER);
	look_from(PER + 8, nr);
	none();
	end();
}

/* Its ring goes live again, without the records that the iterator had still to show */
static void goes_live(long unused)
{
	begin_iter(4);
	fresh2(4 * SUBBUF_DATA);
	mark(PER + 3);
	EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
	mark(5);
	open_iter(buf2);
	look_from(0, 3);
	EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
	/* the copy that it has is of then */
	look_from(3, PER);
	none();
	mark(2 * PER);
	none();
	ring_buffer_iter_reset(it);
	look_from(PER + 3, PER + 3 + 5);
	none();
	ring_buffer_read_finish(it);
	/* The ring that is live now was one before, and becomes another one */
	open_iter(buf);
	look_from(PER + 8, PER + 8 + 3);
	EXPECT_EQ(ring_buffer_resize(buf, 9 * SUBBUF_DATA, 0), 0);
	look_from(PER + 8 + 3, nr);
	none();
	end();
}

/* Sub-buffers keep their size while an iterator is open, and only then */
static void order(long unused)
{
	begin_iter(4);
	shim_fail_alloc_after = 0;
	EXPECT(!ring_buffer_read_start(buf, 0, GFP_KERNEL), "no memory");
	shim_fail_alloc_after = -1;
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 2), 0);
	open_iter(buf);
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 0), -EBUSY);
	mark(3 * PER);
	look_from(0, nr);
	none();
	ring_buffer_read_finish(it);
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 1), 0);
	EXPECT(!ring_buffer_read_start(buf, -1, GFP_KERNEL), "no such CPU");
	nr = 0;
	open_iter(buf);
	mark(3 * PER);
	look_from(0, nr);
	end();
}

/* The size changes while another CPU begins to iterate: its first iterator may not fit */
static int order_result;
static void op_order(void) { order_result = ring_buffer_subbuf_order_set(buf, 1); }
static void start(void) { open_iter(buf); }
static void start_nested(void) { step_nested(start); }
static void start_remote(void) { step_remote(2, start_nested, 1); }

static void start_in_order(struct step *s)
{
	begin_iter(3);
	mark(3);
	it = NULL;
	if (!step_run(s)) {
		fault(F_STUCK, "at instruction %ld, the iterator at %ld", s->at[0], s->at[1]);
		return;
	}
	EXPECT(!order_result || order_result == -EBUSY, "it returns %d", order_result);
	if (it)
		ring_buffer_read_finish(it);
	no_leak("an iterator beside a new size");
}

static void start_while_order(long unused)
{
	struct step s = { .op = op_order, .act = { start_remote, step_stop }, .may_wait = 1 };

	step_both(&s, 30, start_in_order);
}

const struct scenario iterate_scenarios[] = {
	{ "unit.iterate-start-while-order", start_while_order, 0, SC_QUICK, "8" },
	{ "unit.iterate-parts", parts, 0, SC_QUICK, "R7, 8" },
	{ "unit.iterate-bound", bound, 0, SC_QUICK, "R3 R7, 21" },
	{ "unit.iterate-taken-back", taken_back, 0, SC_QUICK, "R7, 8" },
	{ "unit.iterate-stamps", stamps, 0, SC_QUICK, "R2 R7, 8" },
	{ "unit.iterate-reader", overtaken_by_reader, 0, SC_QUICK, "R7, 8" },
	{ "unit.iterate-reader-loses", reader_loses, 0, SC_QUICK, "R7, 8" },
	{ "unit.iterate-lap", writer_laps, 5, SC_QUICK, "R7, 8" },
	{ "unit.iterate-lap-copy", writer_laps, PER + 7, SC_QUICK, "R7, 8" },
	{ "unit.iterate-shrunk", shrunk, 0, SC_QUICK, "R6 R7, 8" },
	{ "unit.iterate-shrunk-alone", shrunk_alone, 0, SC_QUICK, "R6 R7, 8" },
	{ "unit.iterate-resizes", resizes, 0, SC_QUICK, "R6 R7, 8 9" },
	{ "unit.iterate-resize-part", resize_in_part, 0, SC_QUICK, "R6 R7, 8 9" },
	{ "unit.iterate-goes-live", goes_live, 0, SC_QUICK, "R5 R7, 8" },
	{ "unit.iterate-order", order, 0, SC_QUICK, "R6 R7" },
	{ }
};
