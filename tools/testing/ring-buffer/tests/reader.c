// SPDX-License-Identifier: GPL-2.0
/*
 * The other way round: a reader, a resize, a reset or a swap of CPU 1 is
 * stepped, and CPU 0 writes at each of its instructions, from one record up to
 * several times round the ring. The writer never waits (R1).
 */
#include <linux/mm.h>
#include <linux/trace_mmap.h>
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
	in_context(CTX_IRQ, burst);
}

/* ---- actions of CPU 1 --------------------------------------------------- */

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
static void op_iterate(void) { iterate(buf, 0); }

static void op_iterate_some(void)
{
	struct ring_buffer_iter *it = ring_buffer_read_start(buf, 0, GFP_KERNEL);
	u64 ts;
	int i;

	for (i = 0; it && i < 3 && ring_buffer_iter_peek(it, &ts); i++)
		ring_buffer_iter_advance(it);
	ring_buffer_read_finish(it);
}

static void op_grow(void) { resize_to(12); }
static void op_shrink(void) { resize_to(3); }

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

struct reader {
	void		(*op)(void);
	unsigned int	flags;
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
	if (!step_run(s))
		return;
	drain();
	host_cpu_switch(0);
	/* the next record must be found as well */
	put(buf, REC_LEN, PUT_COMMIT);
	drain();
	check_end(0, end, "at instruction %ld, %s, %d records before, burst of %d", s->at[0],
		  overwrite ? "overwrite" : "keep", before, n);
}

/* A long operation has a prime, unless -x takes each instruction */
static int stride_of(long n)
{
	if (exhaustive || n <= 1000)
		return stride;
	return n > 20000 ? 331 : n > 5000 ? 61 : 7;
}

static void run_reader(long arg)
{
	static const int before[] = { 0, 1, PER_SUBBUF - 1, PER_SUBBUF, PER_SUBBUF + 1,
				      5 * PER_SUBBUF };
	static const int bursts[] = { 1, 3 * PER_SUBBUF, PER_SUBBUF, 20 * PER_SUBBUF, 2 };
	const struct reader *r = (const struct reader *)arg;
	int ow, i, nr = r->flags & FEW_BURSTS && !exhaustive ? 2 : ARRAY_SIZE(bursts);

	for (ow = 0; ow < 2; ow++) {
		for (i = 0; i < ARRAY_SIZE(before) * nr && faults[F_STUCK] < 100; i++) {
			struct step s = { .op = r->op, .act = { remote_burst } };

			for_each_instruction(&s, stride_of(s.last))
				one_run(&s, r, ow, before[i / nr], bursts[i % nr]);
		}
	}
}

/* ---- a writer that comes back to the sub-buffer that is counted ----------- */

static unsigned long entries;

static void op_entries(void)
{
	entries = ring_buffer_entries_cpu(buf, 0);
}

/* It has fewer records than before then, but the ring has not */
static void run_entries_lap(long unused)
{
	struct step s = { .op = op_entries, .act = { remote_burst } };
	unsigned long before = 2 * PER_SUBBUF - 2;

	for_each_instruction(&s, 1) {
		fresh(RING_SUBBUFS * SUBBUF_DATA, true);
		burst_len = before;
		burst();
		burst_len = (RING_SUBBUFS - 1) * PER_SUBBUF + 3;
		host_cpu_switch(1);
		if (!step_run(&s))
			continue;
		EXPECT(entries >= before && entries <= before + burst_len,
		       "%lu entries at instruction %ld, %lu before", entries, s.at[0], before);
		consume(buf, 0, -1);
		host_cpu_switch(0);
		check_end(0, 0, "at instruction %ld", s.at[0]);
	}
}

/* ---- a writer that laps the resize --------------------------------------- */

/*
 * A writer goes twice round the new ring and overwrites the sub-buffers that the
 * resize hands over; most instructions of the resize only allocate.
 */
static void run_grow_lap(long unused)
{
	struct step s = { .op = op_grow, .act = { remote_burst } };

	for_each_instruction(&s, stride) {
		if (s.at[0] && s.at[0] < s.last - 4000 && !exhaustive)
			s.at[0] = s.last - 4000;
		fresh(RING_SUBBUFS * SUBBUF_DATA, true);
		burst_len = 5 * PER_SUBBUF;
		burst();
		burst_len = 20 * PER_SUBBUF;
		host_cpu_switch(1);
		if (!step_run(&s))
			continue;
		drain();
		host_cpu_switch(0);
		burst_len = 30 * PER_SUBBUF;
		burst();
		drain();
		check_end(0, END_NO_LOST, "at instruction %ld of %ld", s.at[0], s.last);
	}
}

/* ---- a dump by an NMI that meets a reader -------------------------------- */

#define NR_DUMP	(3 * PER_SUBBUF + 7)

static int read_before;

static void expect_time(struct ring_buffer_event *e, u64 ts)
{
	u64 is = ((u64 *)ring_buffer_event_data(e))[1];

	if (is != ts)
		fault(F_TIME, "dump: time is off by %lld", (s64)(ts - is));
}

/*
 * As ftrace_dump() does: it shows all, and takes nothing. The records come in the order of
 * their times, up to the last one, and each at its time.
 */
static int dump(u64 *first)
{
	struct ring_buffer_iter *it = ring_buffer_dump_start(buf, 0);
	struct ring_buffer_event *e;
	u64 ts, last = 0;
	int n;

	for (n = 0; n < 2 * NR_DUMP; n++) {
		e = ring_buffer_iter_peek(it, &ts);
		if (!e)
			break;
		if (!n)
			*first = ts;
		if (ts <= last)
			fault(F_ORDER, "dump: time went back by %llu", last - ts);
		expect_time(e, ts);
		last = ts;
		ring_buffer_iter_advance(it);
	}
	return n;
}

/* A peek at another CPU overwrites the copy of this record, but keeps its place */
static int dump_two(void)
{
	struct ring_buffer_iter *it = ring_buffer_dump_start(buf, 0);
	struct ring_buffer_iter *other = ring_buffer_dump_start(buf, 1);
	struct ring_buffer_event *e;
	u64 is, ts;
	int n;

	for (n = 0; n < 2 * NR_DUMP; n++) {
		ring_buffer_iter_peek(it, &ts);
		ring_buffer_iter_peek(other, &is);
		e = ring_buffer_iter_peek(it, &is);
		if (!e)
			break;
		EXPECT_EQ(is, ts);
		expect_time(e, ts);
		ring_buffer_iter_advance(it);
	}
	return n;
}

static bool reads_one;

static void nmi_dump(void)
{
	int want = NR_DUMP - read_before, n;
	u64 first = 0, again = 0;

	shim_ctx_enter(CTX_NMI);
	n = dump(&first);
	if (n != want && !(reads_one && n == want - 1))
		fault(F_HIDDEN, "dump: %d of %d records", n, want);
	EXPECT_EQ(dump_two(), n);
	/* it begins anew */
	EXPECT_EQ(dump(&again), n);
	EXPECT_EQ(again, first);
	shim_ctx_exit(CTX_NMI);
}

static void dump_at(void (*op)(void), int before)
{
	struct step s = { .op = op, .act = { nmi_dump } };

	reads_one = op == op_consume;
	read_before = before;
	for_each_instruction(&s, stride) {
		begin(RING_SUBBUFS, true);
		burst_len = NR_DUMP;
		burst();
		put_on(1, buf, 3);
		consume(buf, 0, before);
		if (!step_run(&s))
			continue;
		EXPECT_EQ(consume(buf, 0, -1), NR_DUMP - before - reads_one);
		consume(buf, 1, -1);
		check_end(0, 0, "at instruction %ld, %d before", s.at[0], before);
	}
}

static void run_dump(long before)
{
	dump_at(op_peek, before);
	dump_at(op_consume, before);
	dump_at(op_consume, before + PER_SUBBUF);
}

/* ---- an NMI that looks while a reader comes to the rest of a shrink ------- */

enum { NO_LOOK, LOOK, DUMP };
static long look_how;

static void nmi_look(void)
{
	unsigned long lost;
	u64 ts, first;

	shim_ctx_enter(CTX_NMI);
	if (look_how == DUMP)
		dump(&first);
	else
		ring_buffer_peek(buf, 0, &ts, &lost);
	shim_ctx_exit(CTX_NMI);
}

static void lap_and_look(void)
{
	int i;

	for (i = 0; i < 3 * PER_SUBBUF; i++)
		put_in(CTX_NMI, buf, REC_LEN, PUT_COMMIT);
	if (look_how != NO_LOOK)
		step_remote(1, nmi_look, 0);
}

static void run_dump_shrink(long how)
{
	struct step s = { .op = op_consume, .act = { lap_and_look } };

	look_how = how;
	for_each_instruction(&s, stride) {
		begin(RING_SUBBUFS, true);
		put_n(RING_SUBBUFS * PER_SUBBUF);
		op_shrink();
		if (!step_run(&s))
			continue;
		read_out("at instruction %ld", s.at[0]);
	}
}

/* ---- a reader of mapped pages -------------------------------------------- */

static struct {
	struct trace_buffer_meta *meta;
	u64	time;		/* of the sub-buffer that is being read, and its number */
	u32	id;
	int	seen, at;	/* records of it that were seen, and where the parser is */
} map;

unsigned long map_flags;

int map_area(unsigned long at, unsigned long n, unsigned long flags)
{
	static struct mm_struct mm;
	struct vm_area_struct vma = {
		.vm_mm = &mm, .vm_pgoff = at, .vm_end = n * PAGE_SIZE, .vm_flags = flags,
	};
	int ret;

	/* as mmap() holds it, and the area with it */
	atomic_long_set(&mm.mmap_lock.count, 1);
	shim_nr_vma_pages = 0;
	ret = ring_buffer_map(buf, 0, &vma);
	map_flags = vma.vm_flags;
	return ret;
}

/* With the reader's sub-buffer, and the meta page */
int map_buffer(int subbufs)
{
	int ret = map_area(0, subbufs + 2, VM_READ | VM_SHARED | VM_MAYSHARE);

	if (!ret) {
		map.meta = page_address(shim_vma_pages[0]);
		map.id = -1;
	}
	return ret;
}

static void saw_mapped(struct ring_buffer_event *e, u64 ts, long lost, void *arg)
{
	if (map.at++ < map.seen)
		return;
	saw(e, ts, map.seen ? 0 : map.meta->reader.lost_events, 0);
	map.seen++;
}

/* As user space: all that is on the page that the meta page names */
int map_look(void)
{
	u64 *page = page_address(shim_vma_pages[1 + map.meta->reader.id]);
	u64 before = seen_count(0);

	if (map.meta->reader.id != map.id || page[0] != map.time) {
		map.id = map.meta->reader.id;
		map.time = page[0];
		map.seen = 0;
	}
	map.at = 0;
	page_parse(page, PAGE_SIZE, saw_mapped, NULL);
	return seen_count(0) - before;
}

static void op_get_reader(void)
{
	if (ring_buffer_map_get_reader(buf, 0))
		fault(F_REFUSED, "ring_buffer_map_get_reader");
}

/* The sub-buffer that is written comes behind a loss and one that was left empty */
static void fill_behind_empty(void)
{
	struct ring_buffer_event *e;

	burst_len = 6 * PER_SUBBUF;
	burst();
	put(buf, 200, PUT_DISCARD);
	e = ring_buffer_lock_reserve(buf, 200);
	put_in(CTX_NMI, buf, 3900, PUT_DISCARD);
	if (e)
		ring_buffer_discard_commit(buf, e);
	burst_len = 5;
	burst();
}

static void one_map_run(struct step *s, int before, int n, bool peeked)
{
	int i;

	fresh(2 * SUBBUF_DATA, true);
	if (before < 0) {
		fill_behind_empty();
	} else {
		burst_len = before;
		burst();
	}
	host_cpu_switch(1);
	/* takes the sub-buffer without a word to the mapping */
	if (peeked)
		ring_buffer_peek(buf, 0, NULL, NULL);
	if (map_buffer(2) || shim_nr_vma_pages != 2 + 2)
		fault(F_REFUSED, "ring_buffer_map");
	burst_len = n;
	if (!step_run(s))
		return;
	shim_rcu_run();
	/* each sub-buffer, and as often the rest of the one that was written */
	for (i = 0; i < 8; i++) {
		map_look();
		op_get_reader();
	}
	map_look();
	host_cpu_switch(0);
	check_end(0, 0, "at instruction %ld, %d records before, burst of %d", s->at[0], before,
		  burst_len);
	ring_buffer_unmap(buf, 0);
}

static void run_map(long unused)
{
	static const int before[] = { -1, 0, 5, 3 * PER_SUBBUF + 5, 6 * PER_SUBBUF };
	static const int bursts[] = { 1, PER_SUBBUF, 3 * PER_SUBBUF };
	struct step s = { .op = op_get_reader, .act = { remote_burst } };
	int i, nr = ARRAY_SIZE(bursts);

	for (i = 0; i < ARRAY_SIZE(before) * nr && faults[F_STUCK] < 10; i++) {
		/* it counts the records: most of its instructions do that */
		for_each_instruction(&s, !exhaustive && s.last > 1000 ? 13 : stride) {
			/* first: the path that is noted is that of the last run */
			if (!s.at[0])
				one_map_run(&s, before[i / nr], bursts[i % nr], true);
			one_map_run(&s, before[i / nr], bursts[i % nr], false);
		}
	}
}

/* ---- a mapping that a cut comes into -------------------------------------- */

static int map_ret, cut_ret;

static void op_map(void)
{
	map_ret = map_buffer(3);
}

static void cut_there(void)
{
	cut_ret = cut_one(buf, buf2, 0);
}

static void remote_cut(void)
{
	if (shim_cpu() == 1)
		step_remote(0, cut_there, 0);
}

/* User space reads nothing again of the sub-buffer that others have begun to consume */
static void run_map_cut(long unused)
{
	struct step s = { .op = op_map, .act = { remote_cut } };

	for_each_instruction(&s, stride) {
		fresh(3 * SUBBUF_DATA, true);
		fresh2(3 * SUBBUF_DATA);
		burst_len = 5;
		burst();
		host_cpu_switch(1);
		consume(buf, 0, 2);
		cut_ret = -EBUSY;
		if (!step_run(&s))
			continue;
		EXPECT_EQ(map_ret, 0);
		EXPECT_EQ(map.meta->reader.id, 0);
		EXPECT(ring_buffer_is_mapped(buf) != ring_buffer_is_mapped(buf2), "one of them");
		/* the new ring, of which nothing was read, or that of before */
		EXPECT_EQ(map.meta->reader.read,
			  !cut_ret && ring_buffer_is_mapped(buf) ? 0 : 2 * (REC_LEN + 4));
		EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
		EXPECT(!ring_buffer_is_mapped(buf2), "at instruction %ld", s.at[0]);
		consume(buf2, 0, -1);
		host_cpu_switch(0);
		put(buf, REC_LEN, PUT_COMMIT);
		read_out("at instruction %ld", s.at[0]);
	}
}

/* ---- an iterator that begins while sub-buffers become larger -------------- */

static struct ring_buffer_iter *opened;

static void op_open(void)
{
	opened = ring_buffer_read_start(buf, 0, GFP_KERNEL);
}

/* Refused from the moment on when the iterator is counted */
static void larger_subbufs(void)
{
	int ret = ring_buffer_subbuf_order_set(buf, 3);

	if (ret && ret != -EBUSY)
		fault(F_REFUSED, "ring_buffer_subbuf_order_set: %d", ret);
	burst_len = 8 * PER_SUBBUF;
	burst();
}

static void remote_order(void)
{
	if (shim_cpu() == 1)
		step_remote(0, larger_subbufs, 1);
}

static void run_iterate_order(long unused)
{
	struct step s = { .op = op_open, .act = { remote_order } };
	long allocated = 0;
	u64 ts;
	int n;

	for_each_instruction(&s, stride) {
		fresh(RING_SUBBUFS * SUBBUF_DATA, true);
		if (!s.at[0])
			allocated = shim_allocated;
		EXPECT_EQ(shim_allocated, allocated);
		burst_len = PER_SUBBUF / 2;
		burst();
		host_cpu_switch(1);
		if (!step_run(&s))
			continue;
		/* it may show the old records, the new, or say that some were dropped */
		for (n = 0; opened && n < 9 * PER_SUBBUF && ring_buffer_iter_peek(opened, &ts); n++)
			ring_buffer_iter_advance(opened);
		EXPECT(n < 9 * PER_SUBBUF, "it does not end at instruction %ld", s.at[0]);
		if (opened)
			ring_buffer_read_finish(opened);
		shim_rcu_run();
		consume(buf, 0, -1);
		host_cpu_switch(0);
		check_end(0, END_NO_LOSS | END_NO_LOST, "at instruction %ld", s.at[0]);
	}
}

#define READER(name, op, how, fl, proves)	\
	{ "reader." name, run_reader, (long)&(const struct reader){ op, how }, fl, proves }

const struct scenario reader_scenarios[] = {
	READER("consume", op_consume, 0, SC_QUICK, "R3 R4, 4"),
	READER("consume-3", op_consume_3, FEW_BURSTS, 0, "R3 R4, 4"),
	READER("peek", op_peek, 0, 0, "R4, 15"),
	READER("page-full", op_page_full, 0, SC_QUICK, "R3 R4 R8"),
	READER("page-any", op_page_any, FEW_BURSTS, 0, "R3 R4 R8"),
	READER("page-part", op_page_part, FEW_BURSTS, 0, "R3 R4 R8"),
	READER("iterate-some", op_iterate_some, FEW_BURSTS, SC_QUICK, "R7, 8"),
	READER("iterate", op_iterate, FEW_BURSTS, 0, "R7, 8"),
	READER("grow", op_grow, LOST_OPEN | FEW_BURSTS | DROPS, 0, "R6, 9"),
	READER("shrink", op_shrink, LOST_OPEN | FEW_BURSTS | DROPS, 0, "R6, 9"),
	READER("shrink-one", op_shrink_one, LOST_OPEN | FEW_BURSTS | DROPS, 0, "R6, 9"),
	{ "reader.grow-lap", run_grow_lap, 0, SC_QUICK, "R6, 9" },
	{ "reader.dump", run_dump, 1, SC_QUICK, "R4, 15" },
	{ "reader.dump-exchange", run_dump, 0, SC_QUICK, "R4, 15" },
	{ "reader.dump-shrink-no", run_dump_shrink, NO_LOOK, SC_QUICK, "R3 R6, 20" },
	{ "reader.dump-shrink", run_dump_shrink, LOOK, SC_QUICK, "R3 R6, 20" },
	{ "reader.dump-shrink-all", run_dump_shrink, DUMP, SC_QUICK, "R3 R6, 20" },
	{ "reader.map", run_map, 0, SC_QUICK, "R3 R8" },
	{ "reader.map-cut", run_map_cut, 0, SC_QUICK, "R5 R8" },
	{ "reader.iterate-order", run_iterate_order, 0, SC_QUICK, "R6 R7, 8" },
	READER("reset", op_reset, LOSES | FEW_BURSTS, 0, "7"),
	READER("swap", op_swap, NEEDS_TWO | LOST_OPEN, SC_QUICK, "R5, 1, 3"),
	{ "reader.entries-lap", run_entries_lap, 0, SC_QUICK, "R3 R7" },
	READER("statistics", op_statistics, 0, 0, "R3 R7"),
	{ }
};
