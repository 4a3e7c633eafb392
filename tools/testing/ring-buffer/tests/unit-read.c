// SPDX-License-Identifier: GPL-2.0
/* A reader and empty sub-buffers, an exchanged ring, an NMI. */
#include "test.h"

/* ---- sub-buffers with nothing in them -------------------------------------- */

/*
 * The writer leaves a sub-buffer behind with nothing in it: the first record there is
 * taken back, after an interrupt has asked for more than was left.
 */
static bool leave_empty(void)
{
	struct ring_buffer_event *first, *second;

	first = ring_buffer_lock_reserve(buf, 8);
	if (!first)
		return false;
	shim_ctx_enter(CTX_IRQ);
	second = ring_buffer_lock_reserve(buf, ring_buffer_max_event_size(buf));
	if (second)
		ring_buffer_discard_commit(buf, second);
	shim_ctx_exit(CTX_IRQ);
	ring_buffer_discard_commit(buf, first);
	return second;
}

static void expect_records(int n, const char *where)
{
	bool none = !n;
	u64 ts;

	EXPECT(ring_buffer_empty_cpu(buf, 0) == none, "%s: %d records", where, n);
	EXPECT(ring_buffer_empty(buf) == none, "%s: %d records", where, n);
	EXPECT_EQ(iterate(buf, 0), n);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), n);
	EXPECT(!ring_buffer_peek(buf, 0, &ts, NULL) == none, "%s: %d records", where, n);
	EXPECT(ring_buffer_empty_cpu(buf, 0) == none, "%s: %d records, after a peek", where, n);
}

static void empty_run(int subbufs, int read, int empties, int records)
{
	int i;

	begin(subbufs, true);
	if (read) {
		put_n(read);
		EXPECT_EQ(consume(buf, 0, -1), read);
		/* Leave the sub-buffer that the reader has. */
		put_n(PER_SUBBUF - read % PER_SUBBUF);
		EXPECT_EQ(consume(buf, 0, -1), PER_SUBBUF - read % PER_SUBBUF);
	}
	expect_records(0, "at first");
	for (i = 0; i < empties; i++)
		EXPECT(leave_empty() || read, "sub-buffer %d of %d", i, empties);
	expect_records(0, "empty sub-buffers");
	put_n(records);
	for (i = 0; i < empties; i++)
		leave_empty();
	put_n(records);
	if (empties * 2 + 2 < subbufs) {
		/* Nothing is overwritten. */
		EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 2 * records);
		EXPECT(ring_buffer_empty_cpu(buf, 0) == !records, "%d records", records);
		EXPECT_EQ(iterate(buf, 0), 2 * records);
	} else {
		EXPECT(ring_buffer_empty_cpu(buf, 0) == !records, "%d records", records);
	}
	consume(buf, 0, -1);
	expect_records(0, "at the end");
	check_end(0, 0, "%d sub-buffers, %d read, %d empty ones, %d records", subbufs, read,
		  empties, records);
}

static void empty_subbufs(long unused)
{
	static const int subbufs[] = { 2, 3, 8 }, read[] = { 0, 1, PER_SUBBUF };
	int i, empties;

	for (i = 0; i < 3 * 3 * 3; i++) {
		for (empties = 0; empties < 12; empties++)
			empty_run(subbufs[i % 3], read[i / 3 % 3], empties, i / 9);
	}
}

/* ---- the end of a sub-buffer ------------------------------------------------- */

/* ---- losses and counts across a resize and a cut ------------------------------ */

struct counts {
	unsigned long entries, overrun, commit_overrun, dropped, read;
};

static struct counts counts_of(struct trace_buffer *b)
{
	return (struct counts){
		.entries = ring_buffer_entries_cpu(b, 0),
		.overrun = ring_buffer_overrun_cpu(b, 0),
		.commit_overrun = ring_buffer_commit_overrun_cpu(b, 0),
		.dropped = ring_buffer_dropped_events_cpu(b, 0),
		.read = ring_buffer_read_events_cpu(b, 0),
	};
}

static void expect_counts(struct trace_buffer *b, struct counts want, int round)
{
	struct counts is = counts_of(b);

	EXPECT(!memcmp(&is, &want, sizeof(is)),
	       "round %d: %lu %lu %lu %lu %lu, not %lu %lu %lu %lu %lu", round, is.entries,
	       is.overrun, is.commit_overrun, is.dropped, is.read, want.entries, want.overrun,
	       want.commit_overrun, want.dropped, want.read);
}

/* The records of an interrupt that find no place as long as the one below is not committed */
static void overrun_commit(void)
{
	struct ring_buffer_event *e = ring_buffer_lock_reserve(buf, 8);
	int i;

	for (i = 0; i < 5 * PER_SUBBUF; i++)
		put_in(CTX_IRQ, buf, REC_LEN, PUT_COMMIT);
	if (e)
		ring_buffer_unlock_commit(buf);
}

/* They come from two buffers in turn, so that only their number is looked at */
static int take(struct trace_buffer *b, int max)
{
	int n;

	for (n = 0; n != max && ring_buffer_consume(b, 0, NULL, NULL); n++)
		;
	return n;
}

/* A cut takes the counters along; the live buffer counts, and reads, from the cut on */
static void cut_counts(long looks)
{
	struct counts before = { };
	unsigned long lost;
	int round;
	u64 ts;

	begin_two(3);
	for (round = 0; round < 12; round++) {
		ring_buffer_change_overwrite(buf, round % 3);
		if (round & 1)
			overrun_commit();
		put_n((1 + round % 4 * 2) * PER_SUBBUF + 5);
		if (round % 4 != 3)
			take(buf, 7 + round * PER_SUBBUF / 6);
		before = counts_of(buf);
		EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
		ring_buffer_wait_writers(buf2);
		if (looks) {
			expect_counts(buf, (struct counts){ }, round);
			EXPECT(ring_buffer_empty_cpu(buf, 0), "after a cut");
		}
		if (looks < 2)
			expect_counts(buf2, before, round);

		put_n(3);
		if (looks)
			expect_counts(buf, (struct counts){ .entries = 3 }, round);
		lost = 1;
		EXPECT(ring_buffer_peek(buf, 0, &ts, &lost), "three are there");
		EXPECT_EQ(lost, 0);
		EXPECT_EQ(take(buf, 2), 2);
		expect_counts(buf, (struct counts){ .entries = 1, .read = 2 }, round);
		EXPECT_EQ(take(buf2, -1), before.entries);
	}
	EXPECT(before.entries, "the last round left some");
}

/* A loss that a reader has found and not told is none in front of the records behind a cut. */
static void cut_untold(long unused)
{
	unsigned long lost = 0;
	int cuts;
	u64 ts;

	begin_two(3);
	put_n(8 * PER_SUBBUF);
	EXPECT(ring_buffer_peek(buf, 0, &ts, &lost), "the newest ones are there");
	EXPECT(lost, "the oldest ones are lost");
	/* The same ring comes to be live again. */
	for (cuts = 0; cuts < 4; cuts++) {
		EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
		ring_buffer_wait_writers(buf2);
		put_n(1);
		EXPECT(ring_buffer_peek(buf, 0, &ts, &lost), "one is there");
		EXPECT_EQ(lost, 0);
	}
}

/* ---- a ring that is exchanged ------------------------------------------------ */

static int taken;

static void take_one(void) { taken += consume(buf, 0, 1); }
static void look(void) { taken += !ring_buffer_empty_cpu(buf, 0); }
static void (*reader)(void);
static void read_remote(void) { step_remote(1, reader, 1); }

static void op_resize(void) { resize_to(6); }

/* A reader that waits for the lock of a ring finds the records in the one after it */
static void resize_locked(long looks)
{
	struct step s = { .op = op_resize, .act = { read_remote }, .may_wait = 1 };

	reader = looks ? look : take_one;
	for_each_instruction(&s, 1 + s.last / 1000) {
		begin(4, true);
		put_n(2 * PER_SUBBUF + 5);
		taken = 0;
		if (!step_run(&s) || !s.at[0])
			continue;
		EXPECT(taken == 1, "at instruction %ld of %ld, a reader sees nothing", s.at[0],
		       s.last);
		read_out("at instruction %ld of %ld", s.at[0], s.last);
	}
}

/* ---- an NMI or a dump, which cannot wait for the lock -------------------------- */

static void dump_look(void)
{
	struct ring_buffer_iter *it = ring_buffer_dump_start(buf, 0);
	u64 ts;

	EXPECT(ring_buffer_iter_peek(it, &ts), "records are there");
	EXPECT(!ring_buffer_iter_empty(it), "records are there");
}

static void nmi_look(void)
{
	shim_ctx_enter(CTX_NMI);
	dump_look();
	shim_ctx_exit(CTX_NMI);
}

/* A debugger or an oops is no NMI, but may have stopped the reader that has the lock. */
static void oops_look(void)
{
	oops_in_progress = 1;
	EXPECT_EQ(ring_buffer_overruns(buf), 0);
	ring_buffer_entries(buf);
	dump_look();
	oops_in_progress = 0;
}

static void op_look(void)
{
	u64 ts;

	EXPECT(ring_buffer_peek(buf, 0, &ts, NULL), "records are there");
}

static void swap_rings(void) { EXPECT_EQ(ring_buffer_swap_cpu(buf, buf2, 0), 0); }
static void swap_remote(void) { step_remote(1, swap_rings, 0); }

/* Each of them finds records, and leaves locks and interrupts as they were */
static void in_nmi_each(void (*op)(void), void (*act)(void))
{
	struct step s = { .op = op, .act = { act } };
	struct trace_buffer *b;

	for_each_instruction(&s, 1) {
		begin(4, true);
		put_n(5);
		fresh2(4 * SUBBUF_DATA);
		EXPECT_EQ(cut_one(buf, buf2, 0), 0);
		put_n(7);
		b = buf2;
		if (!step_run(&s))
			continue;
		EXPECT(!shim_irqs_off(), "at instruction %ld", s.at[0]);
		EXPECT_EQ(take(buf, -1) + take(b, -1), 12);
	}
}

static void nmi_reads(long unused)
{
	in_nmi_each(op_look, nmi_look);
	in_nmi_each(op_look, oops_look);
	in_nmi_each(nmi_look, swap_remote);
	begin_two(4);
	put_n(3);
	EXPECT_EQ(cut_one(buf, buf2, 0), 0);
	put_n(3);
	ring_buffer_wait_writers(buf2);
	EXPECT_EQ(cut_one(buf, buf2, 0), 0);
	put_n(5);
	shim_ctx_enter(CTX_NMI);
	EXPECT_EQ(take(buf, 2), 2);
	shim_ctx_exit(CTX_NMI);
	EXPECT_EQ(take(buf, -1), 3);
}

/* A dump finds the records of a ring that has come to be live again since the last dump */
static void op_peek(void) { ring_buffer_peek(buf, 0, NULL, NULL); }

static void nmi_look_again(void)
{
	struct ring_buffer_iter *it;
	u64 cut_at = 0, ts = 0;
	int cuts;

	shim_ctx_enter(CTX_NMI);
	it = ring_buffer_dump_start(buf, 0);
	EXPECT(ring_buffer_iter_peek(it, &ts), "records are there");
	for (cuts = 0; cuts < 2; cuts++) {
		EXPECT_EQ(cut_one(buf, buf2, 0), 0);
		cut_at = ring_buffer_time_stamp(buf);
		put_n(3);
	}
	EXPECT(ring_buffer_iter_peek(it, &ts) && ts > cut_at, "cut at %llu, but at %llu",
	       cut_at, ts);
	shim_ctx_exit(CTX_NMI);
}

static void nmi_cuts(long unused)
{
	struct step s = { .op = op_peek, .act = { nmi_look_again } };

	for_each_instruction(&s, 1) {
		begin_two(4);
		put_n(5);
		EXPECT_EQ(take(buf, 1), 1);
		if (!step_run(&s) || !s.at[0])
			continue;
		EXPECT_EQ(take(buf, -1), 3);
	}
}

/* ---- a reader of a spare buffer, the ring of which goes live ---------------- */

#define OLD	50		/* of the snapshot before, and of that which comes meanwhile */
#define NEWER	5
#define LIVE	3		/* written to the live buffer then, in an NMI */

static int live_records;	/* that the reader got */

static void see(struct ring_buffer_event *e, u64 ts, long lost, void *unused)
{
	live_records += e && *(u64 *)ring_buffer_event_data(e) >> 60 == CTX_NMI;
}

static void spare_consume(void) { see(ring_buffer_consume(buf2, 0, NULL, NULL), 0, 0, NULL); }
static void spare_peek(void) { see(ring_buffer_peek(buf2, 0, NULL, NULL), 0, 0, NULL); }

static void spare_iterate(void)
{
	struct ring_buffer_iter *it = ring_buffer_read_start(buf2, 0, GFP_KERNEL);
	struct ring_buffer_event *e;
	int n;

	for (n = 0; n < 2 * OLD && (e = ring_buffer_iter_peek(it, NULL)); n++) {
		see(e, 0, 0, NULL);
		ring_buffer_iter_advance(it);
	}
	EXPECT(n < 2 * OLD, "the iterator does not end");
	ring_buffer_read_finish(it);
}

static void spare_page(long copy)
{
	struct buffer_data_read_page *rpage = NULL;
	struct ring_buffer_place place = { };
	bool got;

	if (ring_buffer_alloc_read_page(buf2, 0, &rpage))
		return;
	do {
		got = copy ? ring_buffer_copy_page(buf2, 0, &place, rpage) :
			     !ring_buffer_read_page(buf2, rpage, PAGE_SIZE, 0, 0);
		if (got)
			page_parse(ring_buffer_read_page_data(rpage), PAGE_SIZE, see, NULL);
	} while (got);
	ring_buffer_free_read_page(buf2, 0, rpage);
}

static void spare_read_page(void) { spare_page(false); }
static void spare_copy_page(void) { spare_page(true); }

static void spare_look(void)
{
	unsigned long entries = ring_buffer_entries_cpu(buf2, 0);

	ring_buffer_poll_wait(buf2, 0, NULL, NULL, 0);
	ring_buffer_bytes_cpu(buf2, 0);
	ring_buffer_complete_since(buf2, 0);
	if (entries != OLD && entries != NEWER)
		fault(F_VALUE, "%lu entries", entries);
}

static void cut_off(void) { cut_one(buf, buf2, RING_BUFFER_ALL_CPUS); }

static void cut_and_write(void)
{
	int i;

	step_remote(1, cut_off, 0);
	for (i = 0; i < LIVE; i++)
		put_in(CTX_NMI, buf, REC_LEN, PUT_COMMIT);
}

/* Not one record that is written behind the cut is for it, nor lost to the live buffer */
static void spare_goes_live(long op)
{
	struct step s = { .op = (void *)op, .act = { cut_and_write } };

	for_each_instruction(&s, 1) {
		begin_two(8);
		put_n(OLD);
		cut_off();
		put_n(NEWER);
		live_records = 0;
		if (!step_run(&s))
			continue;
		if (s.at[0]) {
			EXPECT(!live_records, "at instruction %ld", s.at[0]);
			EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), LIVE);
			EXPECT_EQ(take(buf, -1), LIVE);
			EXPECT(take(buf2, -1) <= NEWER, "at instruction %ld", s.at[0]);
		}
		start_over();
	}
}

/* The other way round: a reader comes to the spare buffer at each instruction of the cut */
static struct ring_buffer_iter *spare_iter;

static void come_to_spare(void)
{
	spare_iter = ring_buffer_read_start(buf2, 0, GFP_KERNEL);
	see(ring_buffer_iter_peek(spare_iter, NULL), 0, 0, NULL);
	spare_consume();
}

static void come_remote(void) { step_remote(2, come_to_spare, 0); }

static void spare_in_cut(long unused)
{
	struct step s = { .op = cut_off, .act = { come_remote } };
	int i;

	for_each_instruction(&s, 1) {
		begin_two(8);
		put_n(OLD);
		cut_off();
		put_n(NEWER);
		live_records = 0;
		spare_iter = NULL;
		host_cpu_switch(1);
		if (!step_run(&s))
			continue;
		host_cpu_switch(0);
		for (i = 0; i < LIVE; i++)
			put_in(CTX_NMI, buf, REC_LEN, PUT_COMMIT);
		for (i = 0; spare_iter && i < 2 * OLD; i++) {
			see(ring_buffer_iter_peek(spare_iter, NULL), 0, 0, NULL);
			ring_buffer_iter_advance(spare_iter);
		}
		if (spare_iter)
			ring_buffer_read_finish(spare_iter);
		EXPECT(!live_records, "at instruction %ld", s.at[0]);
		EXPECT_EQ(take(buf, -1), LIVE);
		start_over();
	}
}

const struct scenario read_scenarios[] = {
	{ "unit.empty-subbufs", empty_subbufs, 0, SC_QUICK, "R4" },
	{ "unit.cut-counts", cut_counts, 0, SC_QUICK, "7" },
	{ "unit.cut-counts-looked", cut_counts, 1, SC_QUICK, "7" },
	{ "unit.cut-counts-late", cut_counts, 2, SC_QUICK, "7" },
	{ "unit.cut-untold", cut_untold, 0, SC_QUICK, "R3, 7" },
	{ "unit.resize-locked", resize_locked, 0, SC_QUICK, "R6, 9" },
	{ "unit.nmi-reads", nmi_reads, 0, SC_QUICK, "R4, 15" },
	{ "unit.nmi-cuts", nmi_cuts, 0, SC_QUICK, "R4, 7 15" },
	{ "unit.resize-look", resize_locked, 1, SC_QUICK, "R6, 9" },
	{ "unit.spare-consume", spare_goes_live, (long)spare_consume, SC_QUICK, "R5, 20" },
	{ "unit.spare-peek", spare_goes_live, (long)spare_peek, SC_QUICK, "R5, 20" },
	{ "unit.spare-iterate", spare_goes_live, (long)spare_iterate, SC_QUICK, "R5, 20" },
	{ "unit.spare-page", spare_goes_live, (long)spare_read_page, SC_QUICK, "R5, 20" },
	{ "unit.spare-copy", spare_goes_live, (long)spare_copy_page, SC_QUICK, "R5, 20" },
	{ "unit.spare-in-cut", spare_in_cut, 0, SC_QUICK, "R5, 20" },
	{ "unit.spare-look", spare_goes_live, (long)spare_look, SC_QUICK, "R5, 20" },
	{ }
};
