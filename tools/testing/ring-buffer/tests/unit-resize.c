// SPDX-License-Identifier: GPL-2.0
/* A resize and a change of the sub-buffer size: kept records, counts, release, waits. */
#include "test.h"

#define REC_BYTES	(REC_LEN + 4)		/* with its header */

static int put_until_full(void)
{
	int n = 0;

	while (n < 100 * PER_SUBBUF && put(buf, REC_LEN, PUT_COMMIT))
		n++;
	return n;
}

/* ---- kept records --------------------------------------------------------- */

/* Sub-buffers of 0 to some laps, then a ring that overwrites nothing: it is filled as a new one */
static void phase(int from, int to, int subbufs, int more)
{
	int all = subbufs * PER_SUBBUF + more, used = subbufs + !!more;
	int held = min(used, from), kept = min(held, to - 1), i, n;
	unsigned long entries;
	u64 oldest, ts = 0;

	begin(from, true);
	put_n(all);
	oldest = ring_buffer_oldest_event_ts(buf, 0);
	resize_to(to);

	entries = ring_buffer_entries_cpu(buf, 0);
	EXPECT_EQ(entries, all - (used - min(held, to)) * PER_SUBBUF);
	EXPECT_EQ(ring_buffer_overrun_cpu(buf, 0), all - entries);
	EXPECT_EQ(ring_buffer_bytes_cpu(buf, 0), entries * REC_BYTES);
	EXPECT_EQ(ring_buffer_size(buf, 0), to * SUBBUF_DATA);
	EXPECT_EQ(ring_buffer_nr_dirty_pages(buf, 0), kept);
	if (to < from)
		oldest = ring_buffer_oldest_event_ts(buf, 0);

	ring_buffer_change_overwrite(buf, 0);
	n = put_until_full();
	EXPECT(n == (to - kept) * PER_SUBBUF, "%d to %d, %d records: %d more fit", from, to, all,
	       n);
	ring_buffer_peek(buf, 0, &ts, NULL);
	EXPECT(!all || ts == oldest, "oldest %llu, not %llu", ts, oldest);
	/* The reader leaves its sub-buffers, and each one is full once more */
	for (i = 0; i < 3 * to; i++) {
		consume(buf, 0, PER_SUBBUF);
		put_until_full();
		EXPECT(ring_buffer_entries_cpu(buf, 0) >= (to - 1) * PER_SUBBUF,
		       "%lu records fit", ring_buffer_entries_cpu(buf, 0));
	}
	EXPECT_EQ(ring_buffer_overrun_cpu(buf, 0), all - entries);
	read_out("%d to %d, %d records", from, to, all);
}

static void phases(long unused)
{
	static const int sizes[][2] = {
		{ 2, 3 }, { 2, 8 }, { 4, 2 }, { 4, 3 }, { 4, 8 }, { 7, 2 }, { 7, 3 }, { 3, 4 },
	};
	int i, n;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (n = 0; n <= sizes[i][0] + 2 * sizes[i][1] + 2; n++) {
			phase(sizes[i][0], sizes[i][1], n, 0);
			phase(sizes[i][0], sizes[i][1], n, 7);
		}
	}
}

/* A sub-buffer in which all was discarded takes no place from one that holds records */
static void empty_last(long unused)
{
	begin(8, true);
	put_n(5 * PER_SUBBUF);
	put(buf, REC_LEN, PUT_DISCARD);
	resize_to(3);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 3 * PER_SUBBUF);
	put_n(1);
	read_out("an empty sub-buffer");
}

/*
 * The writer first overwrites the records that did not fit into the slots, also after
 * another resize: a ring does not hold more than its size.
 */
static void inherited(long unused)
{
	static const int next[] = { 0, 2, 3, 4, 9 };
	unsigned long before;
	int i, n;

	for (i = 0; i < ARRAY_SIZE(next) * 6; i++) {
		int size = next[i / 6] ?: 3;

		begin(8, true);
		put_n(8 * PER_SUBBUF);
		resize_to(3);
		EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 3 * PER_SUBBUF);
		if (next[i / 6])
			resize_to(size);
		before = ring_buffer_entries_cpu(buf, 0);
		n = (i % 6 + 1) * PER_SUBBUF;
		put_n(n);
		/* It is in no slot, so as long as nothing is overwritten it is one more */
		if (before + n > (size + 1) * PER_SUBBUF)
			EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), size * PER_SUBBUF);
		else
			EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), before + n);
		read_out("8 to 3 to %d, %d records", next[i / 6], n);
	}
}

/* The reader goes on where it is, with the times that it needs */
static void begun(long unused)
{
	static const int sizes[] = { 2, 5, 9 };
	int i, read, at;
	u64 oldest;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (read = 1; read < 3 * PER_SUBBUF; read += 17) {
			begin(8, true);
			put_n(3 * PER_SUBBUF + 5);
			consume(buf, 0, read);
			at = read % PER_SUBBUF;
			oldest = ring_buffer_oldest_event_ts(buf, 0);
			resize_to(sizes[i]);
			EXPECT_EQ(ring_buffer_read_events_cpu(buf, 0), read);
			if (at)
				EXPECT_EQ(ring_buffer_oldest_event_ts(buf, 0), oldest);
			EXPECT_EQ(ring_buffer_bytes_cpu(buf, 0),
				  ring_buffer_entries_cpu(buf, 0) * REC_BYTES);
			put_n(PER_SUBBUF);
			EXPECT_EQ(ring_buffer_entries_cpu(buf, 0) + read +
				  ring_buffer_overrun_cpu(buf, 0), put_count(0));
			consume(buf, 0, 3);
			resize_to(sizes[i] + 1);
			read_out("to %d, %d read", sizes[i], read);
		}
	}
}

/* ---- counters ------------------------------------------------------------ */

static void counters_keep(long unused)
{
	unsigned long dropped, n;
	int i;

	begin(2, false);
	for (i = 0; i < 4; i++) {
		put_until_full();
		put_n(5);
		dropped = ring_buffer_dropped_events_cpu(buf, 0);
		EXPECT_EQ(dropped, put_failed(0));
		n = ring_buffer_entries_cpu(buf, 0);
		if (i == 2)
			consume(buf, 0, 10);
		if (i < 3)
			resize_to(5 + i);
		else
			EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 1), 0);
		EXPECT_EQ(ring_buffer_dropped_events_cpu(buf, 0), dropped);
		EXPECT_EQ(ring_buffer_commit_overrun_cpu(buf, 0), 0);
		EXPECT_EQ(ring_buffer_overrun_cpu(buf, 0), i < 3 ? 0 : n);
	}
	/* Nothing is kept, so all of the new ring is free */
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 0);
	EXPECT_EQ(ring_buffer_read_events_cpu(buf, 0), 10);
	n = 2 * SUBBUF_DATA + 16;
	EXPECT_EQ(put_until_full(), ring_buffer_size(buf, 0) / n * (n / REC_BYTES));
	read_out("counters without overwriting");
}

/* ---- memory -------------------------------------------------------------- */

/* The old ring's sub-buffers are freed, whether an iterator holds that ring or not */
static void strip(long unused)
{
	long few;
	struct ring_buffer_iter *it;

	begin(2, true);
	shim_rcu_run();
	few = shim_allocated;
	resize_to(60);
	put_n(3);
	it = ring_buffer_read_start(buf, 0, GFP_KERNEL);
	resize_to(2);
	shim_rcu_run();
	EXPECT(shim_allocated < few + 10, "%ld objects more, with an iterator",
	       shim_allocated - few);
	ring_buffer_read_finish(it);
	shim_rcu_run();
	EXPECT_EQ(shim_allocated, few);
	no_leak("an iterator over a resize");
}

/* A buffer does not grow by changes back and forth */
static void orders(long unused)
{
	long first = 0;
	int i;

	begin(8, true);
	for (i = 0; i < 6; i++) {
		put_n(3);
		EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 1), 0);
		put_n(3);
		/* The same size: nothing happens */
		EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 1), 0);
		EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 3);
		EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 0), 0);
		EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 0);
		EXPECT_EQ(ring_buffer_size(buf, 0), 8 * SUBBUF_DATA);
		shim_rcu_run();
		if (!i)
			first = shim_allocated;
		EXPECT_EQ(shim_allocated, first);
	}
	no_leak("other sizes of sub-buffers");
}

/* The records are as they were; the buffer works, and can be changed */
static void nothing_changed(int order, unsigned long size, unsigned long entries, int turn)
{
	EXPECT_EQ(ring_buffer_subbuf_order_get(buf), order);
	EXPECT_EQ(ring_buffer_size(buf, 0), size);
	EXPECT_EQ(ring_buffer_size(buf, 1), size);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), entries);
	iterate(buf, 0);
	put_n(PER_SUBBUF);
	read_out("allocation %d failed", turn);
}

/* An allocation fails, whichever it is: it is said, and nothing has changed */
static void no_memory(long order)
{
	long held;
	unsigned long size, entries;
	int i, ret;

	for (i = 0; i < 1000; i++) {
		begin(3, true);
		put_n(9 * PER_SUBBUF);
		shim_rcu_run();
		size = ring_buffer_size(buf, 0);
		entries = ring_buffer_entries_cpu(buf, 0);
		held = shim_allocated;
		shim_fail_alloc_after = i;
		ret = order ? ring_buffer_subbuf_order_set(buf, order) :
			      ring_buffer_resize(buf, 9 * SUBBUF_DATA, RING_BUFFER_ALL_CPUS);
		if (shim_fail_alloc_after >= 0)
			break;
		shim_fail_alloc_after = -1;
		EXPECT_EQ(ret, -ENOMEM);
		shim_rcu_run();
		EXPECT_EQ(shim_allocated, held);
		nothing_changed(0, size, entries, i);
		no_leak("an allocation that failed");
	}
	shim_fail_alloc_after = -1;
	EXPECT_EQ(ret, 0);
	EXPECT(i > 15, "%d allocations", i);
	no_leak("the last turn");
}

/* ---- errors --------------------------------------------------------------- */

static void refused(long unused)
{
	struct ring_buffer_iter *it;
	int cpu;

	begin(4, true);
	put_n(5);
	/* The offset of a record has 18 bits */
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 9), -EINVAL);
	for (cpu = 0; cpu < 2; cpu++) {
		it = ring_buffer_read_start(buf, cpu, GFP_KERNEL);
		EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 1), -EBUSY);
		EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 0), 0);
		ring_buffer_read_finish(it);
	}
	if (map_buffer(4))
		fault(F_REFUSED, "ring_buffer_map");
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 1), -EBUSY);
	EXPECT_EQ(ring_buffer_resize(buf, 5 * SUBBUF_DATA, 0), -EBUSY);
	EXPECT_EQ(ring_buffer_resize(buf, 5 * SUBBUF_DATA, RING_BUFFER_ALL_CPUS), -EBUSY);
	EXPECT_EQ(ring_buffer_size(buf, 1), 4 * SUBBUF_DATA);
	EXPECT_EQ(ring_buffer_resize(buf, 5 * SUBBUF_DATA, 1), 0);
	EXPECT_EQ(ring_buffer_resize(buf, 4 * SUBBUF_DATA, 0), 0);
	ring_buffer_unmap(buf, 0);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 5);
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 1), 0);
	resize_to(5);
}

/* The largest that is possible */
static void largest(long unused)
{
	begin(2, true);
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 8), 0);
	EXPECT_EQ(ring_buffer_subbuf_size_get(buf), 1 << 20);
	put_n(40000 / 36);
	read_out("order 8");
	/* A shift by so much would be none. */
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 64), -EINVAL);
	EXPECT_EQ(ring_buffer_subbuf_size_get(buf), 1 << 20);
}

/* ---- readers that come meanwhile ---------------------------------------------- */

/* A dump in an NMI: what it finds is a record, also where the records are moving */
static void nmi_drain(void)
{
	struct ring_buffer_event *e;
	int n = 0;
	u64 ts;

	shim_ctx_enter(CTX_NMI);
	while (n++ < 1000 && (e = ring_buffer_consume(buf, 0, &ts, NULL)))
		EXPECT(ts && ring_buffer_event_length(e) >= REC_LEN, "%u bytes at %llu",
		       ring_buffer_event_length(e), ts);
	EXPECT(n <= 1000, "a dump does not end");
	shim_ctx_exit(CTX_NMI);
}

static void op_grow(void) { EXPECT_EQ(ring_buffer_resize(buf, 9 * SUBBUF_DATA, 0), 0); }

static void dump_meanwhile(long begun)
{
	struct step s = { .op = op_grow, .act = { nmi_drain } };

	for_each_instruction(&s, 3) {
		begin(4, true);
		put_n(3 * PER_SUBBUF);
		EXPECT_EQ(consume(buf, 0, begun), begun);
		if (!step_run(&s))
			return;
	}
}

/*
 * More sub-buffers than move at a time. At any moment a dump and an iterator find all records that
 * are unread, and a reader gets as many as it asks for.
 */
#define PARTS		70
#define LONG		1000U
#define PER_LONG	((int)(SUBBUF_DATA / (LONG + 8)))

static int parts_want, parts_left;

static void parts_look(void)
{
	if (parts_want)
		parts_left -= consume(buf, 0, parts_want);
	EXPECT_EQ(iterate(buf, 0), parts_left);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), parts_left);
	EXPECT_EQ(ring_buffer_bytes_cpu(buf, 0), parts_left * (LONG + 8));
}

static void parts_dump(void)
{
	struct ring_buffer_iter *it;
	unsigned long flags;
	int n = 0;

	local_irq_save(flags);
	shim_ctx_enter(CTX_NMI);
	it = ring_buffer_dump_start(buf, 0);
	while (ring_buffer_iter_peek(it, NULL)) {
		EXPECT(!ring_buffer_iter_dropped(it), "record %d", n);
		ring_buffer_iter_advance(it);
		n++;
	}
	EXPECT_EQ(n, parts_left);
	shim_ctx_exit(CTX_NMI);
	local_irq_restore(flags);
}

static void parts_beside(void) { step_remote(1, parts_look, 1); }
static void parts_op(void) { resize_to(PARTS + 10); }

static void parts(long want)
{
	struct step s = {
		.op = parts_op, .act = { want < 0 ? parts_dump : parts_beside }, .may_wait = 1,
	};
	int i;

	parts_want = want < 0 ? 0 : want;
	for_each_instruction(&s, 17) {
		begin(PARTS, true);
		parts_left = (PARTS - 2) * PER_LONG;
		for (i = 0; i < parts_left; i++)
			put(buf, LONG, PUT_COMMIT);
		/* The reader has begun the first one */
		parts_left -= consume(buf, 0, 1);
		if (!step_run(&s))
			return;
		parts_look();
		parts_want = want;
		read_out("at instruction %ld", s.at[0]);
	}
}

/*
 * Two that read together: one has read some, the other one nothing. In the middle of the resize the
 * first one reads all the rest, or that and the other one ends, which leaves nothing unread.
 */
static struct ring_buffer_reader *shared[2];
static bool shared_close;

static int shared_read(struct ring_buffer_reader *r, int most)
{
	struct ring_buffer_event *e;
	unsigned long lost;
	int n;
	u64 ts;

	for (n = 0; n < most && (e = ring_buffer_reader_peek(r, 0, &ts, &lost)); n++) {
		EXPECT_EQ(lost, 0);
		ring_buffer_reader_advance(r, 0);
	}
	return n;
}

static void shared_all(void)
{
	EXPECT(!ring_buffer_reader_empty(shared[1], 0), "%d are left", parts_left);
	EXPECT_EQ(shared_read(shared[1], INT_MAX), parts_left);
	EXPECT(ring_buffer_reader_empty(shared[1], 0), "all were read");
	parts_left = 0;
}

static void shared_end(void)
{
	ring_buffer_reader_close(shared[0]);
	shared[0] = NULL;
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), parts_left);
}

static void shared_beside(void) { step_remote(1, shared_close ? shared_end : shared_all, 1); }

static void parts_shared(long close)
{
	struct step s = { .op = parts_op, .act = { shared_beside }, .may_wait = 1 };
	int i;

	shared_close = close;
	for_each_instruction(&s, 17) {
		begin(PARTS, true);
		for (i = 0; i < 2; i++)
			shared[i] = ring_buffer_reader_open(buf, 0);
		parts_left = (PARTS - 2) * PER_LONG;
		for (i = 0; i < parts_left; i++)
			put(buf, LONG, PUT_COMMIT);
		/* Of the last one as much as is not in the first parts that move, or all */
		parts_left -= shared_read(shared[1], close ? parts_left : PER_LONG + 1);
		if (!step_run(&s))
			return;
		/* Without another look of the slowest one, or a record behind them */
		if (shared[0] && !close) {
			EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), (PARTS - 2) * PER_LONG);
			if (parts_left)
				shared_all();
			shared_end();
		} else if (shared[0]) {
			shared_end();
		}
		EXPECT_EQ(ring_buffer_read_events_cpu(buf, 0), (PARTS - 2) * PER_LONG);
		ring_buffer_reader_close(shared[1]);
		start_over();
	}
}

/* The sub-buffers change their size while an iterator is opened: its copy stays too short */
static struct ring_buffer_iter *opened;

static void open_iter(void) { opened = ring_buffer_read_start(buf, 0, GFP_KERNEL); }
static void remote_open(void) { step_remote(1, open_iter, 1); }
static void op_larger(void) { ring_buffer_subbuf_order_set(buf, 3); }

static void open_meanwhile(long unused)
{
	struct step s = { .op = op_larger, .act = { remote_open }, .may_wait = 1 };
	struct ring_buffer_event *e;
	unsigned int i, len, sum;
	u64 ts;

	for_each_instruction(&s, 3) {
		begin(4, true);
		put_n(5);
		if (!step_run(&s))
			return;
		if (!opened)
			open_iter();
		/* As long as a copy: it would end in the middle of this. */
		put(buf, min(ring_buffer_max_event_size(buf), 6000UL), PUT_COMMIT);
		ring_buffer_iter_reset(opened);
		while ((e = ring_buffer_iter_peek(opened, &ts))) {
			len = ring_buffer_event_length(e);
			for (i = sum = 0; i < len; i++)
				sum += ((u8 *)ring_buffer_event_data(e))[i];
			EXPECT(sum && len >= REC_LEN, "%u bytes", len);
			ring_buffer_iter_advance(opened);
		}
		ring_buffer_read_finish(opened);
		opened = NULL;
		no_leak("an iterator");
	}
}

/* ---- snapshots ------------------------------------------------------------ */

/* The snapshot of each CPU uses the sub-buffers with records; a CPU with few slots keeps them */
static void trim(long unused)
{
	long held;
	int i, ret = 0;

	for (i = -1; i < 200; i++) {
		begin_two(20);
		EXPECT_EQ(ring_buffer_resize(buf, 2 * SUBBUF_DATA, 1), 0);
		put_n(PER_SUBBUF / 2);
		put_on(1, buf, PER_SUBBUF / 2);
		EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
		ring_buffer_wait_writers(buf2);
		shim_rcu_run();
		held = shim_allocated;
		shim_fail_alloc_after = i;
		ret = ring_buffer_trim(buf2);
		if (i < 0 || shim_fail_alloc_after >= 0) {
			shim_fail_alloc_after = -1;
			EXPECT_EQ(ret, 0);
			EXPECT_EQ(ring_buffer_size(buf2, 0), 2 * SUBBUF_DATA);
			shim_rcu_run();
			EXPECT(shim_allocated <= held - 18, "it frees %ld objects",
			       held - shim_allocated);
			if (i >= 0)
				break;
		} else {
			shim_fail_alloc_after = -1;
			EXPECT_EQ(ret, -ENOMEM);
			EXPECT_EQ(ring_buffer_size(buf2, 0), 20 * SUBBUF_DATA);
		}
		EXPECT_EQ(ring_buffer_size(buf2, 1), 2 * SUBBUF_DATA);
		consume(buf2, 0, -1);
		consume(buf2, 1, -1);
		check_end(0, 0, "trimmed");
		check_end(1, 0, "trimmed");
	}
	EXPECT(i < 200, "it never succeeds");
	no_leak("snapshots that were trimmed");
}

/* A snapshot without an empty sub-buffer is as it was, and needs no memory */
static void trim_full(long unused)
{
	int i, ret;

	for (i = 0; i < 8 * PER_SUBBUF; i += PER_SUBBUF / 2) {
		begin_two(6);
		/* There is nothing to free of the other CPU. */
		EXPECT_EQ(ring_buffer_resize(buf2, 2 * SUBBUF_DATA, 1), 0);
		put_n(i);
		EXPECT_EQ(cut_one(buf, buf2, 0), 0);
		ring_buffer_wait_writers(buf2);
		shim_fail_alloc_after = 0;
		ret = ring_buffer_trim(buf2);
		shim_fail_alloc_after = -1;
		EXPECT_EQ(ring_buffer_size(buf2, 0), 6 * SUBBUF_DATA);
		EXPECT_EQ(ring_buffer_trim(buf2), 0);
		EXPECT((ring_buffer_size(buf2, 0) == 6 * SUBBUF_DATA) == !ret,
		       "%d records, %d without memory", i, ret);
		consume(buf2, 0, -1);
		check_end(0, 0, "%d records", i);
	}
}

const struct scenario resize_scenarios[] = {
	{ "unit.resize-phases", phases, 0, SC_QUICK, "R3 R6, 9" },
	{ "unit.resize-empty", empty_last, 0, SC_QUICK, "R6, 9" },
	{ "unit.resize-inherited", inherited, 0, SC_QUICK, "R3 R6, 9" },
	{ "unit.resize-begun", begun, 0, SC_QUICK, "R4 R6, 9" },
	{ "unit.resize-keep", counters_keep, 0, SC_QUICK, "R3 R6" },
	{ "unit.resize-strip", strip, 0, SC_QUICK, "R6" },
	{ "unit.resize-orders", orders, 0, SC_QUICK, "R6" },
	{ "unit.resize-no-memory", no_memory, 0, SC_QUICK, "R6" },
	{ "unit.order-no-memory", no_memory, 1, SC_QUICK, "R6" },
	{ "unit.resize-refused", refused, 0, SC_QUICK, "R6" },
	{ "unit.order-largest", largest, 0, SC_QUICK, "R6" },
	{ "unit.resize-dump", dump_meanwhile, 0, SC_QUICK, "R4 R6, 15" },
	{ "unit.resize-dump-begun", dump_meanwhile, 5, SC_QUICK, "R4 R6, 15" },
	{ "unit.resize-parts", parts, 0, SC_QUICK, "R4 R6 R7, 25" },
	{ "unit.resize-parts-read", parts, PER_LONG + 1, 0, "R3 R4 R6, 25" },
	{ "unit.resize-parts-most", parts, 50 * PER_LONG, SC_QUICK, "R3 R4 R6, 25" },
	{ "unit.resize-parts-all", parts, PARTS * PER_LONG, 0, "R3 R4 R6, 25" },
	{ "unit.resize-parts-dump", parts, -1, SC_QUICK, "R4 R6, 20, 25" },
	{ "unit.resize-parts-shared", parts_shared, false, SC_QUICK, "R3 R4 R6, 25" },
	{ "unit.resize-parts-close", parts_shared, true, SC_QUICK, "R3 R4 R6, 25" },
	{ "unit.order-iterator", open_meanwhile, 0, SC_QUICK, "R6 R7" },
	{ "unit.resize-trim", trim, 0, SC_QUICK, "R5 R6" },
	{ "unit.resize-trim-full", trim_full, 0, SC_QUICK, "R5 R6" },
	{ }
};
