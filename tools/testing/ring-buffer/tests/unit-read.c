// SPDX-License-Identifier: GPL-2.0
/* What a reader meets: sub-buffers with nothing in them, a ring that is exchanged, an NMI. */
#include "test.h"

static void begin(int subbufs, bool overwrite)
{
	static const s64 step = 8;

	clock_set(1000000);
	clock_steps(1, &step);
	fresh(subbufs * SUBBUF_DATA, overwrite);
}

static void put_n(int n)
{
	while (n--)
		put(buf, REC_LEN, PUT_COMMIT);
}

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
	EXPECT_EQ(iterate(buf, 0, NULL), n);
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
		EXPECT_EQ(iterate(buf, 0, NULL), 2 * records);
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

/* A record that ends with its sub-buffer is copied to its end, and no further */
static void page_end(long unused)
{
	int len, n;

	for (len = 8; len < 600; len += 4) {
		if (SUBBUF_DATA % (len + 4))
			continue;
		n = SUBBUF_DATA / (len + 4);
		begin(2, true);
		while (n--)
			put(buf, len, PUT_COMMIT);
		EXPECT_EQ(consume(buf, 0, -1), SUBBUF_DATA / (len + 4));
		check_end(0, 0, "records of %d", len);
	}
}

/* ---- a ring that is exchanged ------------------------------------------------ */

static int taken;

static void take_one(void) { taken += consume(buf, 0, 1); }
static void look(void) { taken += !ring_buffer_empty_cpu(buf, 0); }
static void (*reader)(void);
static void read_remote(void) { step_remote(1, reader, 1); }

static void op_resize(void)
{
	EXPECT_EQ(ring_buffer_resize(buf, 6 * SUBBUF_DATA, RING_BUFFER_ALL_CPUS), 0);
}

/* A reader that waits for the lock of a ring finds the records in the one after it */
static void resize_locked(long looks)
{
	struct step s = { .op = op_resize, .act = { read_remote }, .may_wait = 1 };
	long last = 0, at;

	reader = looks ? look : take_one;
	for (at = 0; at <= last; at += at ? 1 + last / 1000 : 1) {
		begin(4, true);
		put_n(2 * PER_SUBBUF + 5);
		taken = 0;
		s.at[0] = at;
		if (!step_run(&s)) {
			leak();
			continue;
		}
		if (!at) {
			last = s.n[0];
			nr_positions = last;
			continue;
		}
		EXPECT(taken == 1, "at instruction %ld of %ld, a reader sees nothing", at, last);
		consume(buf, 0, -1);
		check_end(0, 0, "at instruction %ld of %ld", at, last);
	}
}

const struct scenario read_scenarios[] = {
	{ "unit.empty-subbufs", empty_subbufs, 0, SC_QUICK, "R4" },
	{ "unit.page-end", page_end, 0, SC_QUICK, "R4" },
	{ "unit.resize-locked", resize_locked, 0, SC_QUICK, "R6, 9" },
	{ "unit.resize-look", resize_locked, 1, SC_QUICK, "R6, 9" },
	{ }
};
