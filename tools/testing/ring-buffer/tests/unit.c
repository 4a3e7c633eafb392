// SPDX-License-Identifier: GPL-2.0
/* The functions of the API, in one thread: writing, reading, and counters. */
#include "test.h"

/* ---- writing ------------------------------------------------------------ */

/* Each length comes back whole, with the length of the format */
static void sizes(long unused)
{
	unsigned long len, max;
	unsigned int got, i;

	begin(4, true);
	max = ring_buffer_max_event_size(buf);
	EXPECT(max >= 4000 && max <= SUBBUF_DATA, "max event size %lu", max);
	for (len = 0; len <= max; len++) {
		struct ring_buffer_event *e = ring_buffer_lock_reserve(buf, len);
		unsigned long lost = 0;
		u64 ts;

		if (!e) {
			fault(F_REFUSED, "length %lu", len);
			continue;
		}
		for (i = 0; i < len; i++)
			((u8 *)ring_buffer_event_data(e))[i] = i + len;
		EXPECT_EQ(ring_buffer_unlock_commit(buf), 0);
		e = ring_buffer_consume(buf, 0, &ts, &lost);
		if (!e) {
			fault(F_HIDDEN, "length %lu", len);
			continue;
		}
		got = ring_buffer_event_length(e);
		/* 4 more where a time extend would have the same length */
		if (got < len || got > max_t(unsigned long, ALIGN(len, 4), 4) + 4)
			fault(F_VALUE, "length %u for %lu", got, len);
		for (i = 0; i < len; i++) {
			if (((u8 *)ring_buffer_event_data(e))[i] != (u8)(i + len)) {
				fault(F_DATA, "length %lu, byte %u", len, i);
				break;
			}
		}
		/* R8: short ones have their length in the type, long ones in array[0] */
		if (got <= 112)
			EXPECT_EQ(e->type_len, got / 4);
		else
			EXPECT(!e->type_len && e->array[0] == got + 4,
			       "type_len %u, array[0] %u", e->type_len, e->array[0]);
	}
	EXPECT(!ring_buffer_lock_reserve(buf, max + 1), "more than max event size");
	EXPECT(!ring_buffer_lock_reserve(buf, SUBBUF_DATA + 1), "more than a sub-buffer");
	EXPECT(!ring_buffer_lock_reserve(buf, -1UL), "-1");
	EXPECT_EQ(ring_buffer_write(buf, max + 1, NULL), -EBUSY);
	EXPECT_EQ(shim_preempt_count(0), 0);
}

/* Fill a sub-buffer to each possible end */
static void edges(long unused)
{
	unsigned int len, i;

	for (len = 8; len < 400; len += 4) {
		begin(4, true);
		for (i = 0; i < 3 * SUBBUF_DATA / (len + 4); i++)
			put(buf, len, i % 5 == 4 ? PUT_DISCARD :
				      i % 5 == 3 ? PUT_WRITE : PUT_COMMIT);
		consume(buf, 0, -1);
		check_end(0, 0, "records of %u", len);
	}
}

static void keep_full(long unused)
{
	u64 n;

	begin(3, false);
	put_n(10 * PER_SUBBUF);
	n = put_count(0);
	EXPECT(n >= 2 * PER_SUBBUF, "%llu fit", n);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), n);
	EXPECT_EQ(ring_buffer_overrun_cpu(buf, 0), 0);
	EXPECT_EQ(ring_buffer_dropped_events_cpu(buf, 0), put_failed(0));
	/* 17: none fits, not even a small one, until there is room again */
	EXPECT(!put(buf, 8, PUT_COMMIT), "a small record in a full buffer");
	consume(buf, 0, PER_SUBBUF + 1);
	EXPECT(put(buf, 8, PUT_COMMIT), "a sub-buffer was read");
	consume(buf, 0, -1);
	check_end(0, 0, "keep");
}

static void overwrite_count(long unused)
{
	int i;

	for (i = 1; i < 8 * PER_SUBBUF; i += 7) {
		begin(3, true);
		put_n(i);
		EXPECT_EQ(ring_buffer_entries_cpu(buf, 0) + ring_buffer_overrun_cpu(buf, 0), i);
		EXPECT_EQ(ring_buffer_entries(buf) + ring_buffer_overruns(buf), i);
		consume(buf, 0, -1);
		EXPECT_EQ(ring_buffer_read_events_cpu(buf, 0), seen_count(0));
		check_end(0, 0, "%d records", i);
	}
}

/* Bytes are those of the entries, also where the writer is laps ahead of the reader */
static void overwrite_bytes(long unused)
{
	unsigned long n, bytes;

	begin(4, true);
	put_n(3);
	EXPECT_EQ(consume(buf, 0, 1), 1);
	put_n(20 * PER_SUBBUF);
	do {
		n = ring_buffer_entries_cpu(buf, 0);
		bytes = ring_buffer_bytes_cpu(buf, 0);
		EXPECT(bytes >= n * REC_LEN && bytes <= n * (REC_LEN + 12),
		       "%lu records in %lu bytes", n, bytes);
	} while (consume(buf, 0, 1));
	check_end(0, 0, "bytes");
}

static void statistics(long unused)
{
	unsigned long lost = 0, bytes;
	u64 ts, first;
	int i;

	begin(4, true);
	EXPECT(ring_buffer_empty(buf), "nothing was written");
	EXPECT(ring_buffer_empty_cpu(buf, 0), "nothing was written");
	EXPECT_EQ(ring_buffer_bytes_cpu(buf, 0), 0);
	EXPECT(!ring_buffer_peek(buf, 0, &ts, &lost), "nothing was written");
	put_n(3);
	EXPECT(!ring_buffer_empty(buf), "3 were written");
	EXPECT(!ring_buffer_empty_cpu(buf, 0), "3 were written");
	EXPECT(ring_buffer_empty_cpu(buf, 1), "nothing was written there");
	bytes = ring_buffer_bytes_cpu(buf, 0);
	EXPECT(bytes >= 3 * REC_LEN && bytes <= 3 * (REC_LEN + 12), "%lu bytes", bytes);
	EXPECT(ring_buffer_peek(buf, 0, &first, &lost), "3 were written");
	EXPECT_EQ(ring_buffer_oldest_event_ts(buf, 0), first);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 3);
	for (i = 0; i < 5; i++) {
		EXPECT(ring_buffer_peek(buf, 0, &ts, &lost), "peek takes nothing");
		EXPECT_EQ(ts, first);
	}
	EXPECT_EQ(consume(buf, 0, 1), 1);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 2);
	EXPECT_EQ(ring_buffer_read_events_cpu(buf, 0), 1);
	EXPECT_EQ(ring_buffer_commit_overrun_cpu(buf, 0), 0);
	EXPECT_EQ(ring_buffer_dropped_events_cpu(buf, 0), 0);
	EXPECT(ring_buffer_size(buf, 0) >= 4 * SUBBUF_DATA, "size %lu", ring_buffer_size(buf, 0));
	EXPECT_EQ(ring_buffer_subbuf_order_get(buf), 0);
	EXPECT_EQ(ring_buffer_subbuf_size_get(buf), 4096);
	EXPECT(ring_buffer_nr_dirty_pages(buf, 0) <= 4, "dirty pages");
	consume(buf, 0, -1);
	EXPECT(ring_buffer_empty(buf), "all was read");
	check_end(0, 0, "statistics");
	/* CPUs that do not exist */
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 3), 0);
	EXPECT(ring_buffer_empty_cpu(buf, 3), "no such CPU");
	EXPECT(!ring_buffer_consume(buf, 3, &ts, &lost), "no such CPU");
}

/* An iterator reports records that were neither shown nor consumed */
static void iterate_loss(long unused)
{
	struct ring_buffer_iter *it;
	bool dropped;
	u64 ts;
	int i;

	begin(8, true);
	put_n(6 * PER_SUBBUF);
	it = ring_buffer_read_start(buf, 0, GFP_KERNEL);
	EXPECT(it, "iterator");
	if (!it)
		return;
	for (i = 0; i < 3; i++) {
		EXPECT(ring_buffer_iter_peek(it, &ts), "one of many");
		EXPECT(!ring_buffer_iter_dropped(it), "nothing was lost yet");
		ring_buffer_iter_advance(it);
	}
	/* the reader gets the newest that does not fit, the others go */
	ring_buffer_resize(buf, 3 * SUBBUF_DATA, RING_BUFFER_ALL_CPUS);
	/* the rest of the copy that it has comes first */
	for (i = 0, dropped = false; i < 3 * PER_SUBBUF && !dropped; i++) {
		if (!ring_buffer_iter_peek(it, &ts))
			break;
		dropped = ring_buffer_iter_dropped(it);
		ring_buffer_iter_advance(it);
	}
	EXPECT(dropped, "records were overwritten");
	ring_buffer_read_finish(it);
	consume(buf, 0, -1);
}

/* A record that was consumed stays for its caller, whatever becomes of the rings */
static void kept_record(long unused)
{
	static const int orders[] = { 1, 0, 2, 3, 1 };
	static u8 copy[2100];
	struct ring_buffer_event *e;
	unsigned int len;
	u64 ts;
	int i;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		begin(4, true);
		EXPECT(!ring_buffer_subbuf_order_set(buf, i % 2), "order");
		ring_buffer_reset(buf);
		put(buf, 2000, PUT_COMMIT);
		e = ring_buffer_consume(buf, 0, &ts, NULL);
		EXPECT(e, "one was written");
		if (!e)
			return;
		len = ring_buffer_event_length(e) + sizeof(*e);
		memcpy(copy, e, len);
		EXPECT(!ring_buffer_subbuf_order_set(buf, orders[i]), "order");
		EXPECT(!ring_buffer_resize(buf, 6 * SUBBUF_DATA, RING_BUFFER_ALL_CPUS), "size");
		put(buf, 1000, PUT_COMMIT);
		ring_buffer_consume(buf, 0, &ts, NULL);
		EXPECT(!memcmp(copy, e, len), "order %d to %d: another record", i % 2, orders[i]);
	}
}

/* A discarded record leaves no trace, at any place */
static void discard(long unused)
{
	struct ring_buffer_event *e;
	u64 bytes;
	int i;

	begin(3, true);
	put_n(1);
	bytes = ring_buffer_bytes_cpu(buf, 0);
	for (i = 0; i < 1000; i++)
		put(buf, REC_LEN, PUT_DISCARD);
	EXPECT_EQ(ring_buffer_bytes_cpu(buf, 0), bytes);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 1);
	/* not the newest any more */
	for (i = 0; i < 3 * PER_SUBBUF; i++) {
		e = ring_buffer_lock_reserve(buf, 40);
		put_in(CTX_IRQ, buf, REC_LEN, PUT_COMMIT);
		if (e)
			ring_buffer_discard_commit(buf, e);
	}
	consume(buf, 0, -1);
	check_end(0, 0, "discards");
}

static void recording(long unused)
{
	begin(3, true);
	EXPECT(ring_buffer_record_is_on(buf), "after alloc");
	EXPECT(ring_buffer_record_is_set_on(buf), "after alloc");
	ring_buffer_record_disable(buf);
	ring_buffer_record_disable(buf);
	ring_buffer_record_enable(buf);
	EXPECT(!put(buf, 16, PUT_COMMIT), "disabled once still");
	EXPECT(!ring_buffer_record_is_on(buf), "disabled");
	EXPECT(ring_buffer_record_is_set_on(buf), "not switched off");
	ring_buffer_record_enable(buf);
	EXPECT(put(buf, 16, PUT_COMMIT), "enabled");
	ring_buffer_record_off(buf);
	EXPECT(!ring_buffer_record_is_set_on(buf), "off");
	EXPECT(!put(buf, 16, PUT_COMMIT), "off");
	EXPECT(!put(buf, 16, PUT_WRITE), "off");
	ring_buffer_record_on(buf);
	EXPECT(put(buf, 16, PUT_WRITE), "on");
	ring_buffer_record_disable_cpu(buf, 0);
	EXPECT(!put(buf, 16, PUT_COMMIT), "CPU disabled");
	host_cpu_switch(1);
	EXPECT(put(buf, 16, PUT_COMMIT), "another CPU disabled");
	host_cpu_switch(0);
	ring_buffer_record_enable_cpu(buf, 0);
	EXPECT(put(buf, 16, PUT_COMMIT), "CPU enabled");
	EXPECT_EQ(ring_buffer_entries(buf), put_count(0) + put_count(1));
	consume(buf, 0, -1);
	consume(buf, 1, -1);
	check_end(0, END_NO_DROP, "cpu 0");
	check_end(1, END_NO_DROP, "cpu 1");
}

/*
 * The same context again is a recursion. One level of it is accepted, since an
 * interrupt that has not recorded its context yet looks like one.
 */
static void recursion(long unused)
{
	struct ring_buffer_event *e[4];
	int n, i, levels;

	for (levels = 0; levels < 2; levels++) {
		begin(3, true);
		for (n = 0; n < 4; n++) {
			if (levels && n == 1)
				ring_buffer_nest_start(buf);
			e[n] = ring_buffer_lock_reserve(buf, 16);
			if (!e[n])
				break;
		}
		EXPECT(n > levels && n < 4, "%d in one context", n);
		for (i = n - 1; i >= 0; i--) {
			ring_buffer_discard_commit(buf, e[i]);
			if (levels && i == 1)
				ring_buffer_nest_end(buf);
		}
		EXPECT_EQ(shim_preempt_count(0), 0);
		EXPECT(ring_buffer_empty(buf), "all were discarded");
		put_n(1);
		put_in(CTX_SOFTIRQ, buf, 16, PUT_COMMIT);
		put_in(CTX_IRQ, buf, 16, PUT_COMMIT);
		put_in(CTX_NMI, buf, 16, PUT_COMMIT);
		EXPECT_EQ(put_count(0), 4);
		consume(buf, 0, -1);
		check_end(0, END_NO_DROP, "recursion, %d levels", levels + 1);
	}
}

/* ---- time --------------------------------------------------------------- */

static void time_run(const char *what, int n, const s64 *steps, u64 start)
{
	int i;

	clock_set(start);
	clock_steps(n, steps);
	fresh(4 * SUBBUF_DATA, true);
	for (i = 0; i < 6 * PER_SUBBUF; i++)
		put(buf, 16 + 4 * (i % 9), i % 7 == 3 ? PUT_DISCARD : PUT_COMMIT);
	iterate(buf, 0, NULL);
	consume(buf, 0, PER_SUBBUF / 2);
	read_pages(buf, 0, false, 300, 2);
	read_pages(buf, 0, false, 0, 1);
	consume(buf, 0, -1);
	check_end(0, 0, "%s", what);
}

static void time_forward(long unused)
{
	static const s64 plain[] = { 8 }, stopped[] = { 0 }, edge[] = { (1 << 27) - 1 },
			 extend[] = { 1 << 27 }, far[] = { 1LL << 45, 3, 1LL << 46, 1LL << 47 },
			 mixed[] = { 1, 1LL << 31, (1LL << 46) - 1, 0 };

	time_run("plain", 1, plain, 0);
	time_run("stopped", 1, stopped, 12345);
	time_run("just no extend", 1, edge, 0);
	time_run("extend", 1, extend, 0);
	time_run("far", 4, far, 1);
	time_run("mixed", 4, mixed, 1ULL << 40);
	time_run("46 bits wrap", 1, plain, (1ULL << 46) - 4000);
}

static void time_high_bits(long unused)
{
	static const s64 plain[] = { 8 }, extend[] = { 1LL << 30 };

	/* absolute stamps have 59 bits; the upper five change, or are set */
	time_run("59 bits wrap", 1, plain, (1ULL << 59) - 4000);
	time_run("59 bits wrap, extends", 1, extend, (1ULL << 59) - (100LL << 30));
	time_run("upper bits set", 1, plain, 3ULL << 61);
}

static void time_back(long unused)
{
	static const s64 a[] = { 1000, -300, 7, 1LL << 30 }, b[] = { 5, 5, -9, 5 },
			 c[] = { 1LL << 28, -(1LL << 27), 5 };

	time_run("back a little", 4, a, 1ULL << 40);
	time_run("back", 4, b, 1ULL << 40);
	time_run("back far", 3, c, 1ULL << 50);
}

static void time_absolute(long unused)
{
	static const s64 plain[] = { 8 }, far[] = { 1LL << 33 };

	EXPECT(!ring_buffer_time_stamp_abs(buf ?: (begin(2, true), buf)), "not set");
	clock_set(1ULL << 45);
	clock_steps(1, plain);
	fresh(4 * SUBBUF_DATA, true);
	ring_buffer_set_time_stamp_abs(buf, true);
	EXPECT(ring_buffer_time_stamp_abs(buf), "set");
	put_n(3 * PER_SUBBUF);
	clock_steps(1, far);
	put_n(10);
	ring_buffer_set_time_stamp_abs(buf, false);
	put_n(10);
	iterate(buf, 0, NULL);
	consume(buf, 0, 100);
	read_pages(buf, 0, false, 0, -1);
	consume(buf, 0, -1);
	check_end(0, 0, "absolute");
}

/* Questions that a writer may ask about a record that it has not committed */
static void time_of_event(long unused)
{
	static const s64 steps[] = { 8, 1LL << 28, 1LL << 46 };
	u64 ts, told, lost_ts[8];
	unsigned long lost = 0;
	int i;

	clock_set(1ULL << 41);
	clock_steps(3, steps);
	fresh(4 * SUBBUF_DATA, true);
	for (i = 0; i < 8; i++) {
		struct ring_buffer_event *e = ring_buffer_lock_reserve(buf, 16);

		lost_ts[i] = ring_buffer_event_time_stamp(buf, e);
		ring_buffer_unlock_commit(buf);
	}
	for (i = 0; i < 8; i++) {
		if (!ring_buffer_consume(buf, 0, &ts, &lost))
			fault(F_HIDDEN, "record %d", i);
		told = lost_ts[i];
		if (told != ts)
			fault(F_TIME, "record %d: the writer got %lld more", i,
			      (s64)(told - ts));
	}
	ts = ring_buffer_time_stamp(buf);
	EXPECT(ts > told, "the buffer's clock goes on");
	ring_buffer_normalize_time_stamp(buf, 0, &ts);
}

const struct scenario unit_scenarios[] = {
	{ "unit.sizes", sizes, 0, SC_QUICK, "R8" },
	{ "unit.edges", edges, 0, SC_QUICK, "R3, 2" },
	{ "unit.keep-full", keep_full, 0, SC_QUICK, "R3, 17" },
	{ "unit.overwrite", overwrite_count, 0, SC_QUICK, "R3, 5" },
	{ "unit.bytes", overwrite_bytes, 0, SC_QUICK, "R8" },
	{ "unit.statistics", statistics, 0, SC_QUICK, "R3 R8" },
	{ "unit.iterate-shrink", iterate_loss, 0, SC_QUICK, "R6 R7, 8" },
	{ "unit.kept-record", kept_record, 0, SC_QUICK, "R4, 15" },
	{ "unit.discard", discard, 0, SC_QUICK, "R3, 11" },
	{ "unit.recording", recording, 0, SC_QUICK, "R3" },
	{ "unit.recursion", recursion, 0, SC_QUICK, "R1, 16" },
	{ "unit.time", time_forward, 0, SC_QUICK, "R2, 10" },
	{ "unit.time-high-bits", time_high_bits, 0, SC_QUICK, "R2, 10" },
	{ "unit.time-back", time_back, 0, SC_QUICK, "R2, 10" },
	{ "unit.time-absolute", time_absolute, 0, SC_QUICK, "R2 R8, 10" },
	{ "unit.time-of-event", time_of_event, 0, SC_QUICK, "R2, 16" },
	{ }
};
