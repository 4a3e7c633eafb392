// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics that CPU 1 asks for while CPU 0 writes: at each instruction CPU 0 does
 * some writes, and the answer is one that was right meanwhile.
 */
#include "test.h"

#define SUBBUFS	3
#define LEN	1000U
#define PER	4	/* records of a sub-buffer */

static struct trace_buffer *asked;
static u64 answer;

static void op_entries(void) { answer = ring_buffer_entries_cpu(asked, 0); }
static void op_bytes(void) { answer = ring_buffer_bytes_cpu(asked, 0); }
static void op_oldest(void) { answer = ring_buffer_oldest_event_ts(asked, 0); }

static void (*const ops[])(void) = { op_entries, op_bytes, op_oldest };

/* How a ring is filled, how much of it is consumed, and how much CPU 0 writes then */
static const struct filling {
	int	overwrite, before, read, burst;
	bool	blocked;	/* in an interrupt of a record that is not committed */
} fillings[] = {
	{ 1, 0, 0, 1 }, { 1, 0, 0, SUBBUFS * PER }, { 1, 2, 0, PER }, { 1, 2, 1, 1 },
	{ 1, 2, 1, PER }, { 1, 2, 1, 5 * PER }, { 1, 2, 2, 2 * PER }, { 1, PER + 1, 1, 1 },
	{ 1, PER + 1, 1, 2 * PER }, { 1, PER + 1, 1, SUBBUFS * PER }, { 1, PER, PER, 1 },
	{ 1, 5 * PER + 1, 0, SUBBUFS * PER }, { 1, 5 * PER + 1, 1, SUBBUFS * PER },
	{ 1, 5 * PER + 1, 1, (SUBBUFS + 1) * PER }, { 1, 5 * PER + 1, 1, 1 }, { 0, 2, 0, 5 * PER },
	{ 0, 2 * PER + 1, 1, 1 }, { 0, 2 * PER + 1, PER + 1, 5 * PER }, { 1, 2, 0, 5 * PER, true },
	{ 1, PER + 2, 1, 5 * PER, true },
};

static const struct filling *filling;
static struct ring_buffer_event *blocking;
static u64 added, bytes[5 * PER + 1];

static void fill_ring(void)
{
	int i;

	fresh(SUBBUFS * SUBBUF_DATA, filling->overwrite);
	asked = buf;
	for (i = 0; i < filling->before; i++)
		put(buf, LEN, PUT_COMMIT);
	consume(buf, 0, filling->read);
	blocking = filling->blocked ? ring_buffer_lock_reserve(buf, LEN) : NULL;
}

static void burst(void)
{
	u64 count = put_count(0);
	int i;

	for (i = 0; i < filling->burst; i++)
		put_in(CTX_IRQ, buf, LEN, PUT_COMMIT);
	added = put_count(0) - count;
}

/* The bytes that there are after each record of the burst */
static void note_bytes(void)
{
	int i;

	fill_ring();
	for (i = 0; i <= filling->burst; i++) {
		bytes[i] = ring_buffer_bytes_cpu(buf, 0);
		put_in(CTX_IRQ, buf, LEN, PUT_COMMIT);
	}
	if (blocking)
		ring_buffer_unlock_commit(buf);
}

static bool were_bytes(u64 got)
{
	int i;

	for (i = 0; i <= filling->burst; i++) {
		if (got == bytes[i])
			return true;
	}
	return false;
}

static void remote_burst(void) { step_remote(0, burst, 0); }

static u64 ask(void (*op)(void))
{
	op();
	return answer;
}

/*
 * For entries a third answer is right: the overruns are read first, and may grow before
 * the records are counted.
 */
static void one_run(struct step *s, void (*op)(void), const char *name)
{
	u64 before, after, got;

	fill_ring();
	host_cpu_switch(1);
	before = ask(op);
	added = 0;
	if (!step_run(s))
		return;
	got = answer;
	after = ask(op);
	host_cpu_switch(0);
	if (blocking)
		ring_buffer_unlock_commit(buf);
	if (got != before && got != after && (op != op_entries || got != before + added) &&
	    (op != op_bytes || !were_bytes(got)))
		fault(F_VALUE, "%s: %llu, not %llu or %llu, at instruction %ld of filling %d",
		      name, got, before, after, s->at[0], (int)(filling - fillings));
}

static void run_answers(long which)
{
	static const char * const names[] = { "entries", "bytes", "oldest" };
	struct step s = { .op = ops[which], .act = { remote_burst } };

	for (filling = fillings; filling < fillings + ARRAY_SIZE(fillings); filling++) {
		note_bytes();
		for_each_instruction(&s, stride)
			one_run(&s, ops[which], names[which]);
	}
}

/* ---- an NMI that meets a reader ------------------------------------------ */

static void op_peek(void)
{
	u64 ts;

	ring_buffer_peek(buf, 0, &ts, NULL);
}

/* It cannot wait for the reader: it gets the number, or 0 */
static void nmi_asks(void)
{
	u64 entries, size;

	shim_ctx_enter(CTX_NMI);
	entries = ring_buffer_entries_cpu(buf, 0);
	size = ring_buffer_size(buf, 0);
	shim_ctx_exit(CTX_NMI);
	EXPECT(!entries || entries == 5, "%llu", entries);
	EXPECT(!size || size == SUBBUFS * SUBBUF_DATA, "%llu", size);
}

static void nmi(long unused)
{
	struct step s = { .op = op_peek, .act = { nmi_asks } };
	int i;

	for_each_instruction(&s, stride) {
		fresh(SUBBUFS * SUBBUF_DATA, true);
		for (i = 0; i < 5; i++)
			put(buf, LEN, PUT_COMMIT);
		if (!step_run(&s))
			return;
		EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 5);
	}
}

/* ---- since when the records are complete ------------------------------------ */

#ifdef RB_NOTE_SIZE	/* not in the base kernel */
#define TRIES	2000

static struct {
	u64	before, after;
	bool	taken;
} tries[TRIES];
static unsigned int nr_tries;

static void try_put(void)
{
	if (nr_tries == TRIES)
		return;
	tries[nr_tries].before = ring_buffer_time_stamp(buf);
	tries[nr_tries].taken = put(buf, LEN, PUT_COMMIT);
	tries[nr_tries++].after = ring_buffer_time_stamp(buf);
}

/* From the time that is told on, each record that somebody tried to write is there */
static void expect_complete(const char *what)
{
	u64 since = ring_buffer_complete_since(buf, 0), oldest = 0, ts;
	struct ring_buffer_iter *it = ring_buffer_read_start(buf, 0, GFP_KERNEL);
	bool lost = false, refused = false, gap = false;
	unsigned int i;

	for (i = 0; i < nr_tries; i++) {
		if (it && tries[i].taken && ring_buffer_iter_peek(it, &ts) &&
		    ts <= tries[i].after) {
			ring_buffer_iter_advance(it);
			oldest = oldest ?: ts;
			continue;
		}
		lost = true;
		gap |= oldest;
		refused |= !tries[i].taken;
		if (tries[i].before >= since)
			fault(F_VALUE, "%s: complete since %llu, try %d of %u at %llu is %s", what,
			      since, i, nr_tries, tries[i].before,
			      tries[i].taken ? "gone" : "refused");
	}
	ring_buffer_read_finish(it);
	/* And it is no later than need be */
	if (!lost)
		EXPECT_EQ(since, 0);
	else if (!refused && !gap && oldest)
		EXPECT(since <= oldest, "%s: since %llu, the oldest is at %llu", what, since,
		       oldest);
}

static void since_when(long overwrite)
{
	unsigned int seed, n, op, i;

	for (seed = 1; seed <= 300; seed++) {
		begin(SUBBUFS, overwrite);
		nr_tries = 0;
		n = seed * 2654435761U;
		EXPECT_EQ(ring_buffer_complete_since(buf, 0), 0);
		for (op = 0; op < 12; op++) {
			n = n * 1664525 + 1013904223;
			switch (n >> 28) {
			case 0 ... 7:
				for (i = 0; i < (n >> 16) % (3 * PER); i++)
					try_put();
				expect_complete("put");
				break;
			case 8 ... 10:
				consume(buf, 0, 1 + (n >> 16) % PER);
				expect_complete("consume");
				break;
			case 11 ... 12:
				read_pages(buf, 0, false, PAGE_SIZE, 1 + (n >> 16) % 2);
				expect_complete("read pages");
				break;
			case 13:
				consume(buf, 0, -1);
				expect_complete("consume all");
				break;
			case 14:
				EXPECT_EQ(ring_buffer_resize(buf, (2 + (n >> 16) % 6) * SUBBUF_DATA,
							     0), 0);
				expect_complete("resize");
				break;
			case 15:
				ring_buffer_reset(buf);
				nr_tries = 0;
				EXPECT_EQ(ring_buffer_complete_since(buf, 0), 0);
				break;
			}
		}
	}
}

/*
 * A full ring refuses a record. At each instruction, a reader makes room, and an interrupt
 * fills the ring and is refused as well: that counts, which is the later one.
 */
static u64 refused_at;

static void op_put(void) { put(buf, LEN, PUT_COMMIT); }
static void take_all(void) { consume(buf, 0, -1); }

static void put_until_refused(void)
{
	do {
		refused_at = ring_buffer_time_stamp(buf);
	} while (put(buf, LEN, PUT_COMMIT));
}

static void take_and_fill(void)
{
	step_remote(1, take_all, 0);
	in_context(CTX_IRQ, put_until_refused);
}

static void since_refused(long unused)
{
	struct step s = { .op = op_put, .act = { take_and_fill } };
	u64 since;
	int i;

	for_each_instruction(&s, 1) {
		begin(SUBBUFS, false);
		/* None was refused before: the writer does not know yet that it is full. */
		for (i = 0; i < SUBBUFS * PER; i++)
			EXPECT(put(buf, LEN, PUT_COMMIT), "record %d", i);
		if (!step_run(&s) || !s.at[0])
			continue;
		since = ring_buffer_complete_since(buf, 0);
		EXPECT(since > refused_at, "at instruction %ld, since %llu, refused at %llu",
		       s.at[0], since, refused_at);
		read_out("at instruction %ld", s.at[0]);
	}
}

/* Behind a record of the last time that a clock can give, no time is left */
static void since_last(long unused)
{
	begin(SUBBUFS, true);
	clock_set(U64_MAX - 8);
	put(buf, LEN, PUT_COMMIT);
	EXPECT_EQ(consume(buf, 0, -1), 1);
	EXPECT_EQ(ring_buffer_complete_since(buf, 0), U64_MAX);
	check_end(0, 0, "%s", "the last time");
}
#endif

/* ---- sizes, and sums over CPUs --------------------------------------------- */

static void sums(long unused)
{
	struct trace_buffer *small __maybe_unused;
	long taken __maybe_unused;
	unsigned long max;
	int i;

	fresh(SUBBUFS * SUBBUF_DATA, true);
	for (i = 0; i < 7 * PER; i++) {
		host_cpu_switch(i & 1);
		put(buf, LEN, PUT_COMMIT);
		put(buf, LEN, PUT_COMMIT);
	}
	host_cpu_switch(0);
	EXPECT(ring_buffer_overrun_cpu(buf, 1), "CPU 1 has lost some");
	EXPECT_EQ(ring_buffer_overruns(buf),
		  ring_buffer_overrun_cpu(buf, 0) + ring_buffer_overrun_cpu(buf, 1));
	EXPECT_EQ(ring_buffer_entries(buf),
		  ring_buffer_entries_cpu(buf, 0) + ring_buffer_entries_cpu(buf, 1));
	EXPECT_EQ(ring_buffer_entries(buf) + ring_buffer_overruns(buf),
		  put_count(0) + put_count(1));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(ring_buffer_size(buf, i), i < 2 ? SUBBUFS * SUBBUF_DATA : 0);
		EXPECT_EQ(ring_buffer_nr_dirty_pages(buf, i), i < 2 ? SUBBUFS : 0);
		EXPECT_EQ(!ring_buffer_oldest_event_ts(buf, i), i >= 2);
	}
#ifdef RB_NOTE_SIZE	/* not in the base kernel */
	/* All that is allocated, for two CPUs, but for a list of their parts that is freed again */
	small = ring_buffer_alloc(2 * SUBBUF_DATA, RB_FL_OVERWRITE);
	taken = shim_taken + kmalloc_size_roundup((nr_cpu_ids + 1) * sizeof(void *));
	buf2 = ring_buffer_alloc_spare(small);
	EXPECT_EQ(ring_buffer_memory(buf2), shim_taken - taken);
	ring_buffer_free(buf2);
	ring_buffer_free(small);
	buf2 = ring_buffer_alloc_spare(buf);
	EXPECT_EQ(ring_buffer_memory(buf), ring_buffer_memory(buf2));
	EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
	EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
	put(buf, LEN, PUT_COMMIT);
#endif
	max = ring_buffer_max_event_size(buf);
	EXPECT_EQ(max, SUBBUF_DATA - 8);
	ring_buffer_set_time_stamp_abs(buf, true);
	EXPECT_EQ(ring_buffer_max_event_size(buf), max - 8);
	EXPECT(put(buf, max - 8, PUT_COMMIT), "with a stamp");
	EXPECT_EQ(ring_buffer_subbuf_order_get(NULL), -EINVAL);
	EXPECT_EQ(ring_buffer_subbuf_order_get(buf), 0);
}

/* A ring that comes back to the live buffer does not remember what it lacked before */
static void complete_cut(long unused)
{
	begin(4, true);
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 1), 0);
	EXPECT(ring_buffer_complete_since(buf, 0), "a change of the size erases");
	buf2 = ring_buffer_alloc_spare(buf);
	put_n(3);
	EXPECT_EQ(cut_one(buf, buf2, 0), 0);
	put_n(3);
	EXPECT(ring_buffer_complete_since(buf2, 0), "it still lacks them");
	ring_buffer_wait_writers(buf2);
	EXPECT_EQ(cut_one(buf, buf2, 0), 0);
	put_n(3);
	EXPECT_EQ(ring_buffer_complete_since(buf, 0), 0);
}

/* A record that was never committed is missing */
static void complete_died(long unused)
{
	begin(4, true);
	buf2 = ring_buffer_alloc_spare(buf);
	put_n(3);
	EXPECT(ring_buffer_lock_reserve(buf, 8), "its task dies");
	preempt_enable_notrace();
	EXPECT_EQ(cut_one(buf, buf2, 0), 0);
	ring_buffer_wait_writers(buf2);
	EXPECT(ring_buffer_complete_since(buf2, 0), "a record is missing");
}

const struct scenario stat_scenarios[] = {
	{ "unit.stat-entries", run_answers, 0, SC_QUICK, "R3 R7" },
	{ "unit.stat-bytes", run_answers, 1, SC_QUICK, "R7 R8" },
	{ "unit.stat-oldest", run_answers, 2, SC_QUICK, "R7" },
	{ "unit.stat-nmi", nmi, 0, SC_QUICK, "R7, 15" },
	{ "unit.stat-sums", sums, 0, SC_QUICK, "R3" },
#ifdef RB_NOTE_SIZE
	{ "unit.stat-complete", since_when, 1, SC_QUICK, "R3 R7" },
	{ "unit.stat-complete-cut", complete_cut, 0, SC_QUICK, "R3 R5" },
	{ "unit.stat-complete-died", complete_died, 0, SC_QUICK, "R3" },
	{ "unit.stat-complete-refused", since_refused, 0, SC_QUICK, "R3 R7" },
	{ "unit.stat-complete-last", since_last, 0, SC_QUICK, "R3 R7" },
	{ "unit.stat-complete-dropping", since_when, 0, SC_QUICK, "R3 R7" },
#endif
	{ }
};
