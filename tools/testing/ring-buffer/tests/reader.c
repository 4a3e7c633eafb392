// SPDX-License-Identifier: GPL-2.0
/*
 * The other way round: a reader, a resize, a reset or a swap of CPU 1 is
 * stepped, and CPU 0 writes at each of its instructions, from one record up to
 * several times round the ring. The writer never waits (R1).
 */
#include "test.h"

#define RING_SUBBUFS 8

static int burst_len;

static void burst(void)
{
	int i;

	for (i = 0; i < burst_len; i++)
		put(buf, REC_LEN, PUT_COMMIT);
}

static void remote_burst(void)
{
	if (shim_cpu() == 1) {
		step_remote(0, burst, 0);
		return;
	}
	/* the operation does something on CPU 0, by an interrupt or a work: interrupt that */
	if (shim_irqs_off())
		return;
	shim_ctx_enter(CTX_IRQ);
	burst();
	shim_ctx_exit(CTX_IRQ);
}

/* ---- what CPU 1 does ---------------------------------------------------- */

static void op_consume(void) { consume(buf, 0, 1); }
static void op_consume_3(void) { consume(buf, 0, 3); }

static void op_peek(void)
{
	unsigned long lost = 0;
	u64 ts;

	ring_buffer_peek(buf, 0, &ts, &lost);
}

static void op_page_full(void) { read_pages(buf, 0, true, 0, 1); }
static void op_page_any(void) { read_pages(buf, 0, false, 0, 1); }
static void op_page_part(void) { read_pages(buf, 0, false, 150, 1); }
static void op_iterate(void) { iterate(buf, 0, NULL); }

static void op_iterate_some(void)
{
	struct ring_buffer_iter *it = ring_buffer_read_start(buf, 0, GFP_KERNEL);
	u64 ts;
	int i;

	for (i = 0; it && i < 3 && ring_buffer_iter_peek(it, &ts); i++)
		ring_buffer_iter_advance(it);
	ring_buffer_read_finish(it);
}

static void op_grow(void)
{
	if (ring_buffer_resize(buf, 12 * SUBBUF_DATA, RING_BUFFER_ALL_CPUS) < 0)
		fault(F_REFUSED, "ring_buffer_resize");
}

static void op_shrink(void)
{
	if (ring_buffer_resize(buf, 3 * SUBBUF_DATA, RING_BUFFER_ALL_CPUS) < 0)
		fault(F_REFUSED, "ring_buffer_resize");
}

static void op_shrink_one(void)
{
	if (ring_buffer_resize(buf, 3 * SUBBUF_DATA, 0) < 0)
		fault(F_REFUSED, "ring_buffer_resize");
}

static void op_reset(void) { ring_buffer_reset_cpu(buf, 0); }

static void op_swap(void)
{
	int ret = ring_buffer_swap_cpu(buf, buf2, 0);

	if (ret)
		fault(F_REFUSED, "ring_buffer_swap_cpu: %d", ret);
}

/* Two counters are read at two times; each for itself is never too large */
static void op_statistics(void)
{
	u64 entries = ring_buffer_entries_cpu(buf, 0), overrun = ring_buffer_overrun_cpu(buf, 0);

	if (entries > put_count(0) || overrun > put_count(0))
		fault(F_VALUE, "%llu entries, overrun %llu of %llu", entries, overrun,
		      put_count(0));
	ring_buffer_bytes_cpu(buf, 0);
	ring_buffer_oldest_event_ts(buf, 0);
	ring_buffer_empty_cpu(buf, 0);
	ring_buffer_nr_dirty_pages(buf, 0);
}

#define NEEDS_TWO	(1 << 0)
#define LOSES		(1 << 1)
#define LOST_OPEN	(1 << 2)
#define FEW_BURSTS	(1 << 3)
#define DROPS		(1 << 4)

static const struct reader {
	void		(*op)(void);
	unsigned int	flags;
} readers[] = {
	{ op_consume }, { op_consume_3, FEW_BURSTS }, { op_peek }, { op_page_full },
	{ op_page_any, FEW_BURSTS }, { op_page_part, FEW_BURSTS },
	{ op_iterate_some, FEW_BURSTS }, { op_iterate, FEW_BURSTS },
	{ op_grow, LOST_OPEN | FEW_BURSTS | DROPS }, { op_shrink, LOST_OPEN | FEW_BURSTS | DROPS },
	{ op_shrink_one, LOST_OPEN | FEW_BURSTS | DROPS },
	{ op_reset, LOSES | FEW_BURSTS }, { op_swap, NEEDS_TWO | LOST_OPEN },
	{ op_statistics },
};

enum {
	CONSUME, CONSUME_3, PEEK, PAGE_FULL, PAGE_ANY, PAGE_PART, ITERATE_SOME, ITERATE, GROW,
	SHRINK, SHRINK_ONE, RESET, SWAP, STATS,
};

static void one_run(struct step *s, const struct reader *r, bool overwrite, int before, int n)
{
	unsigned int end = 0;

	fresh(RING_SUBBUFS * SUBBUF_DATA, overwrite);
	if (r->flags & NEEDS_TWO)
		fresh2(RING_SUBBUFS * SUBBUF_DATA);
	if (r->flags & LOST_OPEN)
		end |= END_NO_LOST;
	if (r->flags & LOSES)
		end |= END_NO_LOSS | END_NO_LOST;
	if (r->flags & DROPS)
		end |= END_NO_DROP;
	burst_len = before;
	burst();
	host_cpu_switch(1);
	if (before <= PER_SUBBUF + 1)
		consume(buf, 0, -1);	/* the reader has caught up with the writer */
	burst_len = n;
	if (!step_run(s)) {
		leak();
		host_cpu_switch(0);
		return;
	}
	shim_rcu_run();
	if (buf2)
		consume(buf2, 0, -1);
	consume(buf, 0, -1);
	host_cpu_switch(0);
	/* what comes now must be found as well */
	put(buf, REC_LEN, PUT_COMMIT);
	host_cpu_switch(1);
	consume(buf, 0, -1);
	host_cpu_switch(0);
	check_end(0, end, "at instruction %ld, %s, %d records before, burst of %d", s->at[0],
		  overwrite ? "overwrite" : "keep", before, n);
}

static void run_reader(long which)
{
	static const int before[] = { 0, 1, PER_SUBBUF - 1, PER_SUBBUF, PER_SUBBUF + 1,
				      5 * PER_SUBBUF };
	static const int bursts[] = { 1, 3 * PER_SUBBUF, PER_SUBBUF, 20 * PER_SUBBUF, 2 };
	const struct reader *r = &readers[which];
	int ow, i, k, nr = r->flags & FEW_BURSTS && !exhaustive ? 2 : ARRAY_SIZE(bursts);

	for (ow = 0; ow < 2; ow++) {
		for (i = 0; i < ARRAY_SIZE(before) * nr && faults[F_STUCK] < 100; i++) {
			struct step s = { .op = r->op, .act = { remote_burst } };
			long last = 0, step = stride;

			k = i % nr;
			for (s.at[0] = 0; s.at[0] <= last; s.at[0] += s.at[0] ? step : 1) {
				one_run(&s, r, ow, before[i / nr], bursts[k]);
				if (s.at[0])
					continue;
				last = s.n[0];
				nr_positions += last;
				/* long operations: a prime, unless all was asked for */
				if (!exhaustive && last > 1000)
					step = last > 20000 ? 331 : last > 5000 ? 61 : 7;
			}
		}
	}
}

const struct scenario reader_scenarios[] = {
	{ "reader.consume", run_reader, CONSUME, SC_QUICK, "R3 R4, 4" },
	{ "reader.consume-3", run_reader, CONSUME_3, 0, "R3 R4, 4" },
	{ "reader.peek", run_reader, PEEK, 0, "R4, 15" },
	{ "reader.page-full", run_reader, PAGE_FULL, SC_QUICK, "R3 R4 R8" },
	{ "reader.page-any", run_reader, PAGE_ANY, 0, "R3 R4 R8" },
	{ "reader.page-part", run_reader, PAGE_PART, 0, "R3 R4 R8" },
	{ "reader.iterate-some", run_reader, ITERATE_SOME, SC_QUICK, "R7, 8" },
	{ "reader.iterate", run_reader, ITERATE, 0, "R7, 8" },
	{ "reader.grow", run_reader, GROW, 0, "R6, 9" },
	{ "reader.shrink", run_reader, SHRINK, 0, "R6, 9" },
	{ "reader.shrink-one", run_reader, SHRINK_ONE, 0, "R6, 9" },
	{ "reader.reset", run_reader, RESET, 0, "7" },
	{ "reader.swap", run_reader, SWAP, SC_QUICK, "R5, 1, 3" },
	{ "reader.statistics", run_reader, STATS, 0, "R3 R7" },
	{ }
};
