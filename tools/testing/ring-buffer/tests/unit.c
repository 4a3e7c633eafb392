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

/* A switch of one CPU is for that one only */
static void recording(long unused)
{
	begin(3, true);
	ring_buffer_record_disable_cpu(buf, 0);
	EXPECT(!put(buf, 16, PUT_COMMIT), "CPU disabled");
	host_cpu_switch(1);
	EXPECT(put(buf, 16, PUT_COMMIT), "another CPU disabled");
	host_cpu_switch(0);
	ring_buffer_record_enable_cpu(buf, 0);
	EXPECT(put(buf, 16, PUT_COMMIT), "CPU enabled");
	EXPECT_EQ(ring_buffer_entries(buf), put_count(0) + put_count(1));
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
	{ "unit.bytes", overwrite_bytes, 0, SC_QUICK, "R8" },
	{ "unit.iterate-shrink", iterate_loss, 0, SC_QUICK, "R6 R7, 8" },
	{ "unit.kept-record", kept_record, 0, SC_QUICK, "R4, 15" },
	{ "unit.recording", recording, 0, SC_QUICK, "R3" },
	{ "unit.time", time_forward, 0, SC_QUICK, "R2, 10" },
	{ "unit.time-high-bits", time_high_bits, 0, SC_QUICK, "R2, 10" },
	{ "unit.time-back", time_back, 0, SC_QUICK, "R2, 10" },
	{ "unit.time-absolute", time_absolute, 0, SC_QUICK, "R2 R8, 10" },
	{ "unit.time-of-event", time_of_event, 0, SC_QUICK, "R2, 16" },
	{ }
};
