// SPDX-License-Identifier: GPL-2.0
/* Swap, cut and reset of several CPUs: exchange, errors, kept records, waits. */
#include <linux/trace_mmap.h>
#include "test.h"

#define ALL	RING_BUFFER_ALL_CPUS

static void holds(struct trace_buffer *b, unsigned long n0, unsigned long n1)
{
	EXPECT_EQ(ring_buffer_entries_cpu(b, 0), n0);
	EXPECT_EQ(ring_buffer_entries_cpu(b, 1), n1);
}

static void read_all(const char *what)
{
	int cpu;

	for (cpu = 0; cpu < 2; cpu++) {
		consume(buf2, cpu, -1);
		consume(buf, cpu, -1);
		check_end(cpu, END_NO_LOST, "%s", what);
	}
}

/* ---- refused ------------------------------------------------------------- */

/* The id of a CPU's ring is its own, and another one after a cut of that CPU */
static void ring_id(long unused)
{
	unsigned long id[2];

	begin_two(4);
	put_on(0, buf, 3);
	put_on(1, buf, 3);
	id[0] = ring_buffer_ring_id(buf, 0);
	id[1] = ring_buffer_ring_id(buf, 1);
	EXPECT(id[0] && id[1] && id[0] != id[1], "%lx and %lx", id[0], id[1]);
	EXPECT_EQ(cut_one(buf, buf2, 1), 0);
	EXPECT_EQ(ring_buffer_ring_id(buf, 0), id[0]);
	EXPECT_EQ(ring_buffer_ring_id(buf2, 1), id[1]);
	EXPECT(ring_buffer_ring_id(buf, 1) != id[1], "CPU 1 was cut");
}

/* A buffer that lacks a CPU: it came online before the other buffer was there */
static void lacks_cpu(long unused)
{
	begin(4, true);
	shim_set_online(2, 1);
	fresh2(4 * SUBBUF_DATA);
	put_on(0, buf, 3);
	put_on(0, buf2, 4);
	EXPECT_EQ(ring_buffer_swap_cpu(buf, buf2, 2), -EINVAL);
	EXPECT_EQ(ring_buffer_swap_cpu(buf2, buf, 2), -EINVAL);
	EXPECT_EQ(cut_one(buf, buf2, 2), 0);	/* of nothing */
	EXPECT_EQ(cut_one(buf2, buf, 2), -EINVAL);
	EXPECT_EQ(cut_one(buf2, buf, ALL), -EINVAL);
	holds(buf, 3, 0);
	holds(buf2, 4, 0);
	EXPECT_EQ(cut_one(buf, buf2, ALL), 0);
	holds(buf, 0, 0);
	holds(buf2, 3, 0);
	ring_buffer_reset_cpu(buf, 2);
	ring_buffer_reset_cpu(buf2, 3);
}

/* Mappings: of a live buffer, and of a ring that was cut off */
static void mapped(long unused)
{
	struct trace_buffer *third;

	begin_two(4);
	third = ring_buffer_alloc_spare(buf);
	EXPECT(!IS_ERR(third), "a spare buffer");
	put_on(0, buf, 3);
	if (map_buffer(4))
		fault(F_REFUSED, "ring_buffer_map");
	EXPECT_EQ(ring_buffer_swap_cpu(buf, buf2, 0), -EBUSY);
	EXPECT_EQ(ring_buffer_swap_cpu(buf2, buf, 0), -EBUSY);
	EXPECT_EQ(cut_one(buf2, buf, 0), -EBUSY);
	EXPECT_EQ(cut_one(buf2, buf, ALL), -EBUSY);
	EXPECT_EQ(ring_buffer_swap_cpu(buf, buf2, 1), 0);

	/* Now the ring is in the snapshot, and the mapping still that of the buffer */
	EXPECT_EQ(cut_one(buf, buf2, 0), 0);
	holds(buf2, 3, 0);
	EXPECT_EQ(ring_buffer_swap_cpu(buf, third, 0), -EBUSY);
	EXPECT_EQ(ring_buffer_swap_cpu(third, buf, 0), -EBUSY);
	EXPECT_EQ(cut_one(third, buf, 0), -EBUSY);
	EXPECT_EQ(ring_buffer_swap_cpu(third, buf2, 0), -EBUSY);
	EXPECT_EQ(ring_buffer_swap_cpu(buf2, third, 0), -EBUSY);
	EXPECT_EQ(cut_one(third, buf2, 0), -EBUSY);
	EXPECT_EQ(cut_one(buf, buf2, ALL), -EBUSY);
	EXPECT_EQ(ring_buffer_resize(buf, 5 * SUBBUF_DATA, 0), -EBUSY);
	EXPECT_EQ(ring_buffer_resize(buf2, 5 * SUBBUF_DATA, 0), -EBUSY);
	EXPECT_EQ(ring_buffer_trim(buf2), -EBUSY);
	holds(buf2, 3, 0);

	ring_buffer_unmap(buf, 0);
	EXPECT_EQ(cut_one(third, buf2, 0), 0);
	ring_buffer_free(third);
}

/* ---- sizes ---------------------------------------------------------------- */

/* Rings of several sizes change places, but not those of a CPU that has written nothing */
static void cut_sizes(long unused)
{
	begin_two(4);
	EXPECT_EQ(ring_buffer_resize(buf2, 7 * SUBBUF_DATA, ALL), 0);
	put_on(0, buf, 3);
	put_on(1, buf, 3);
	EXPECT_EQ(cut_one(buf, buf2, ALL), 0);
	EXPECT_EQ(ring_buffer_size(buf, 0), 7 * SUBBUF_DATA);
	EXPECT_EQ(ring_buffer_size(buf, 1), 7 * SUBBUF_DATA);
	put_on(1, buf, 4);
	EXPECT_EQ(cut_one(buf, buf2, ALL), 0);
	EXPECT_EQ(ring_buffer_size(buf, 0), 7 * SUBBUF_DATA);
	EXPECT_EQ(ring_buffer_size(buf2, 0), 4 * SUBBUF_DATA);
	EXPECT_EQ(ring_buffer_size(buf, 1), 4 * SUBBUF_DATA);
	EXPECT_EQ(ring_buffer_size(buf2, 1), 7 * SUBBUF_DATA);
	holds(buf2, 0, 4);
	put_on(0, buf, 2);
	EXPECT_EQ(cut_one(buf, buf2, 0), 0);
	EXPECT_EQ(ring_buffer_size(buf, 0), 4 * SUBBUF_DATA);
	EXPECT_EQ(ring_buffer_size(buf, 1), 4 * SUBBUF_DATA);
	holds(buf2, 2, 4);
	EXPECT_EQ(ring_buffer_forget(buf2), 0);
	holds(buf2, 0, 0);
}

/* A cut of one CPU drops the records of the others too, but only if it does not fail */
static void cut_drops(long unused)
{
	struct ring_buffer_cut one = { .drops = true };
	struct ring_buffer_event *e;

	begin_two(4);
	one.live = buf;
	one.spare = buf2;
	put_on(0, buf, 3);
	put_on(1, buf, 4);
	host_cpu_switch(1);
	e = ring_buffer_lock_reserve(buf, REC_LEN);
	host_cpu_switch(0);
	EXPECT_EQ(cut_one(buf, buf2, ALL), 0);
	put_on(0, buf, 2);
	EXPECT_EQ(ring_buffer_cut_all(&one, 1), -EBUSY);
	/* And one in flight */
	holds(buf2, 3, 5);
	host_cpu_switch(1);
	ring_buffer_discard_commit(buf, e);
	host_cpu_switch(0);
	EXPECT_EQ(ring_buffer_cut_all(&one, 0), 0);
	holds(buf2, 2, 0);
	holds(buf, 0, 0);
}

/* ---- memory that survives a reboot ----------------------------------------- */

#define RANGE	(128UL << 12)

static void reboot(unsigned long start)
{
	if (!boot(start, RANGE, RB_FL_SPARE))
		host_die("no buffers in the range");
}

/* After a reboot the snapshot is that of the last cut, not of one that failed */
static void persist(long unused)
{
	unsigned long start = shim_alloc_range(RANGE);
	struct ring_buffer_event *e;
	struct trace_buffer *other;

	begin(2, true);
	free_buffers();
	reboot(start);
	put_on(0, buf, 5);
	put_on(1, buf, 6);
	EXPECT_EQ(ring_buffer_swap_cpu(buf, buf2, 0), -EINVAL);
	host_cpu_switch(1);
	e = ring_buffer_lock_reserve(buf, REC_LEN);
	host_cpu_switch(0);
	EXPECT_EQ(cut_one(buf, buf2, ALL), 0);
	put_on(0, buf, 3);
	EXPECT_EQ(cut_one(buf, buf2, ALL), -EBUSY);
	host_cpu_switch(1);
	ring_buffer_discard_commit(buf, e);
	host_cpu_switch(0);
	EXPECT_EQ(ring_buffer_resize(buf, 2 * SUBBUF_DATA, ALL), -EBUSY);
	EXPECT_EQ(ring_buffer_resize(buf2, 2 * SUBBUF_DATA, 0), -EBUSY);
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 1), -EBUSY);

	other = ring_buffer_alloc(ring_buffer_size(buf, 0), RB_FL_OVERWRITE);
	EXPECT_EQ(ring_buffer_swap_cpu(buf, other, 0), -EINVAL);
	EXPECT_EQ(ring_buffer_swap_cpu(other, buf, 0), -EINVAL);
	EXPECT_EQ(cut_one(buf, other, 0), -EINVAL);
	EXPECT_EQ(cut_one(other, buf, 0), -EINVAL);
	ring_buffer_free(other);

	reboot(start);
	holds(buf, 3, 0);
	holds(buf2, 5, 6);
	put_on(1, buf, 2);
	EXPECT_EQ(cut_one(buf, buf2, 0), 0);
	EXPECT_EQ(ring_buffer_forget(buf2), 0);
	reboot(start);
	holds(buf2, 0, 0);
	holds(buf, 0, 2);
	ring_buffer_reset(buf);
	reboot(start);
	holds(buf, 0, 0);
}

/* A reset also resets the memory, and later records survive again */
static void persist_reset(long unused)
{
	unsigned long start = shim_alloc_range(RANGE);
	int n;

	begin(2, true);
	free_buffers();
	reboot(start);
	for (n = 0; n < 5 * PER_SUBBUF; n += PER_SUBBUF / 2 + 1) {
		put_on(0, buf, n);
		consume(buf, 0, n / 3);
		ring_buffer_reset(buf);
		reboot(start);
		holds(buf, 0, 0);
		put_on(0, buf, n);
		ring_buffer_reset(buf);
		ring_buffer_reset(buf);
		put_on(0, buf, 3);
		reboot(start);
		holds(buf, 3, 0);
		consume(buf, 0, 2);
	}

	/* Only a reset of all CPUs drops the records of an offline CPU */
	put_on(1, buf, 6);
	shim_set_online(1, 0);
	reboot(start);
	ring_buffer_reset_cpu(buf, 0);
	ring_buffer_reset_online_cpus(buf);
	shim_set_online(1, 1);
	reboot(start);
	holds(buf, 0, 6);
	shim_set_online(1, 0);
	reboot(start);
	ring_buffer_reset(buf);
	/* It has released all locks */
	ring_buffer_reset(buf);
	shim_set_online(1, 1);
	reboot(start);
	holds(buf, 0, 0);
}

/* ---- reset ------------------------------------------------------------------ */

/* One CPU after the other: the records of the other one stay */
static void reset_one(long unused)
{
	begin_two(4);
	put_on(0, buf, 5);
	put_on(1, buf, 6);
	ring_buffer_reset_cpu(buf, 0);
	holds(buf, 0, 6);
	put_on(0, buf, 3);
	ring_buffer_reset_cpu(buf, 1);
	holds(buf, 3, 0);
	put_on(1, buf, 2);
	ring_buffer_reset_cpu(buf, 3);
	holds(buf, 3, 2);
	shim_set_online(1, 0);
	ring_buffer_reset_online_cpus(buf);
	holds(buf, 0, 2);
	put_on(0, buf, 1);
	ring_buffer_reset(buf);
	holds(buf, 0, 0);
	shim_set_online(1, 1);
	put_on(0, buf, 1);
	put_on(1, buf, 1);
	holds(buf, 1, 1);
	EXPECT_EQ(ring_buffer_swap_cpu(buf, buf2, 0), 0);
	EXPECT_EQ(ring_buffer_swap_cpu(buf, buf2, 1), 0);

	/* So many slots that there is no memory left behind them */
	begin_two(1000);
	put_on(0, buf, 5);
	ring_buffer_reset(buf);
	holds(buf, 0, 0);
}

static bool look_at_sub_buffers(int laps, int read)
{
	int i;

	/* Each sub-buffer can be used again, and none is there twice */
	for (i = 0; i < laps; i++) {
		put_on(0, buf, PER_SUBBUF);
		if (i % 3 == 1)
			consume(buf, 0, read);
	}
	read_out("after a reset");
	return !nr_faults;
}

/* All begins anew, from any place of the reader and the writer in the ring */
static void reset_places(long unused)
{
	int subbufs, more, read;
	unsigned long fit;

	for (subbufs = 0; subbufs < 9; subbufs++) {
		for (more = 0; more < 4; more++) {
			for (read = 0; read < 5; read++) {
				begin_two(3);
				put_on(0, buf, subbufs * PER_SUBBUF + (more == 1) * 7);
				consume(buf, 0, read * PER_SUBBUF / 2);
				if (more >= 2)
					EXPECT_EQ(cut_one(buf, buf2, 0), 0);
				if (more == 3)
					EXPECT_EQ(cut_one(buf, buf2, 0), 0);
				ring_buffer_reset(buf2);
				ring_buffer_reset(buf);
				start_over();
				holds(buf, 0, 0);
				EXPECT_EQ(ring_buffer_overrun_cpu(buf, 0), 0);
				EXPECT_EQ(ring_buffer_read_events_cpu(buf, 0), 0);
				EXPECT_EQ(ring_buffer_bytes_cpu(buf, 0), 0);
				EXPECT_EQ(ring_buffer_oldest_event_ts(buf, 0), 0);
				EXPECT_EQ(ring_buffer_nr_dirty_pages(buf, 0), 0);
				ring_buffer_change_overwrite(buf, 0);
				for (fit = 0; put(buf, REC_LEN, PUT_COMMIT); fit++)
					;
				EXPECT_EQ(fit, 3 * PER_SUBBUF);
				EXPECT_EQ(consume(buf, 0, -1), fit);
				check_end(0, 0, "%d sub-buffers, %d, %d read", subbufs, more, read);
				ring_buffer_change_overwrite(buf, 1);
				if (!look_at_sub_buffers(8, 2 * PER_SUBBUF))
					return;
			}
		}
	}
}

/* All counters, also those of rings that it has taken over from */
static void reset_counters(long unused)
{
	struct ring_buffer_event *e;
	int i, n;

	begin_two(3);
	for (i = 0; i < 2; i++) {
		/* An interrupt writes more than the ring holds */
		e = ring_buffer_lock_reserve(buf, REC_LEN);
		for (n = 0; n < 9 * PER_SUBBUF; n++)
			put_in(CTX_NMI, buf, REC_LEN, PUT_COMMIT);
		ring_buffer_discard_commit(buf, e);
		put_on(0, buf, 9 * PER_SUBBUF);
		ring_buffer_change_overwrite(buf, 0);
		put_on(0, buf, PER_SUBBUF + 1);
		ring_buffer_change_overwrite(buf, 1);
		/* Levels that are too many */
		for (n = 0; n < 6; n++)
			ring_buffer_nest_start(buf);
		put_on(0, buf, 1);
		for (n = 0; n < 6; n++)
			ring_buffer_nest_end(buf);
		if (!i)
			resize_to(4);
	}
	EXPECT(ring_buffer_commit_overrun_cpu(buf, 0), "records behind one in flight");
	EXPECT(ring_buffer_overrun_cpu(buf, 0), "records that were overwritten");
	EXPECT(ring_buffer_dropped_events_cpu(buf, 0), "records that were dropped");
	ring_buffer_reset(buf);
	EXPECT_EQ(ring_buffer_commit_overrun_cpu(buf, 0), 0);
	EXPECT_EQ(ring_buffer_overrun_cpu(buf, 0), 0);
	EXPECT_EQ(ring_buffer_dropped_events_cpu(buf, 0), 0);
	start_over();
	EXPECT(look_at_sub_buffers(9, 5), "after it, all is counted");
}

/* A reset also drops the sub-buffers that a resize left to the reader alone */
static void reset_inherited(long unused)
{
	int n;

	begin_two(8);
	put_on(0, buf, 8 * PER_SUBBUF);
	resize_to(3);
	ring_buffer_reset(buf);
	start_over();
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 0);
	for (n = 0; n < 7; n++) {
		put_on(0, buf, PER_SUBBUF);
		EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), min(n + 1, 3) * PER_SUBBUF);
	}
	read_out("a reset behind a resize");
}

/* A reset of a ring that has gone live again, of which the reader still has the last sub-buffer */
static void reset_fresh(long unused)
{
	unsigned long lost, all = 0;
	int i;

	begin_two(4);
	put_n(5);
	EXPECT_EQ(cut_one(buf, buf2, ALL), 0);
	for (i = 0; i < 5; i++)
		EXPECT(ring_buffer_consume(buf2, 0, NULL, NULL), "record %d", i);
	put_n(3);
	EXPECT_EQ(cut_one(buf, buf2, ALL), 0);
	ring_buffer_reset(buf);
	start_over();
	/* Often enough that each sub-buffer is used again. */
	for (i = 0; i < 6 * PER_SUBBUF; i++) {
		put_n(1);
		EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 1);
		EXPECT(ring_buffer_consume(buf, 0, NULL, &lost), "record %d", i);
		all += lost;
	}
	EXPECT_EQ(all, 0);
	EXPECT_EQ(ring_buffer_read_events_cpu(buf, 0), 6 * PER_SUBBUF);
}

static void op_reset(void) { ring_buffer_reset_cpu(buf, 0); }

static long reset_steps(int subbufs)
{
	struct step s = { .op = op_reset };

	begin(subbufs, true);
	put_n(3 * subbufs * PER_SUBBUF);
	step_run(&s);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 0);
	start_over();
	return s.n[0];
}

/* Interrupts are off for as long, and as short, in a large ring as in a small one */
static void reset_short(long unused)
{
	EXPECT_EQ(reset_steps(100), reset_steps(4));
}

/* User space sees that it is empty */
static void reset_mapped(long unused)
{
	struct trace_buffer_meta *meta;

	begin_two(2);
	put_on(0, buf, 9 * PER_SUBBUF);
	if (map_buffer(2))
		fault(F_REFUSED, "ring_buffer_map");
	meta = page_address(shim_vma_pages[0]);
	EXPECT_EQ(ring_buffer_map_get_reader(buf, 0), 0);
	EXPECT(meta->reader.lost_events && meta->overrun && meta->entries && meta->read,
	       "%llu lost, %llu overrun, %llu entries, %llu read",
	       (u64)meta->reader.lost_events, meta->overrun, meta->entries, meta->read);
	EXPECT(meta->pages_lost && meta->pages_touched > meta->pages_lost,
	       "%llu of %llu pages lost", meta->pages_lost, meta->pages_touched);
	ring_buffer_reset(buf);
	EXPECT_EQ(meta->pages_lost, 0);
	EXPECT_EQ(meta->pages_touched, 0);
	EXPECT_EQ(meta->reader.lost_events, 0);
	EXPECT_EQ(meta->overrun, 0);
	EXPECT_EQ(meta->entries, 0);
	EXPECT_EQ(meta->read, 0);
	EXPECT_EQ(meta->reader.read, 0);
	ring_buffer_unmap(buf, 0);
}

/* ---- two at once ------------------------------------------------------------ */

static void op_commit(void) { put(buf, REC_LEN, PUT_COMMIT); }
static void remote_reset(void) { step_remote(1, op_reset, 1); }

/* A reset waits until the writer has left, takes all, and only then lets one in */
static void reset_waits(long unused)
{
	struct step s = { .op = op_commit, .act = { remote_reset } };
	int records;

	for (records = PER_SUBBUF - 2; records <= PER_SUBBUF; records += 2) {
		for_each_instruction(&s, 1) {
			begin_two(4);
			put_on(0, buf, records);
			if (!step_run(&s))
				continue;
			/* At most the record behind it is there, and none was given up */
			EXPECT(ring_buffer_entries_cpu(buf, 0) <= 1 || !s.at[0],
			       "%lu at instruction %ld", ring_buffer_entries_cpu(buf, 0), s.at[0]);
			EXPECT_EQ(ring_buffer_commit_overrun_cpu(buf, 0), 0);
			put_on(0, buf, 1);
			shim_rcu_run();
			consume(buf, 0, -1);
			EXPECT_EQ(last_seen(0, CTX_TASK), last_put(0, CTX_TASK) + 1);
			check_end(0, END_NO_LOSS | END_NO_LOST, "at instruction %ld", s.at[0]);
		}
	}
}

/* The sizes differ while the other CPU has come to one buffer only */
static void op_swap(void)
{
	int ret = ring_buffer_swap_cpu(buf, buf2, 0);

	EXPECT(!ret || ret == -EBUSY || ret == -EINVAL, "%d", ret);
}

static void op_cut(void)
{
	EXPECT_EQ(cut_one(buf, buf2, ALL), 0);
}

static void busy_cut(void)
{
	int ret = cut_one(buf, buf2, ALL);

	EXPECT(!ret || ret == -EBUSY, "%d", ret);
}

static void resize_both(void)
{
	resize_to(4);
	EXPECT_EQ(ring_buffer_resize(buf2, 4 * SUBBUF_DATA, ALL), 0);
}

static void remote_resize(void) { step_remote(1, resize_both, 1); }

/* A resize waits for a swap or a cut that is half done, and goes on with its result */
static void resize_waits(long cut)
{
	struct step s = { .op = cut ? busy_cut : op_swap, .act = { remote_resize } };

	for_each_instruction(&s, 1) {
		begin_two(3);
		put_on(0, buf, PER_SUBBUF + 5);
		put_on(1, buf, 7);
		if (!step_run(&s))
			continue;
		put_on(0, buf, 2);
		put_on(1, buf, 2);
		shim_rcu_run();
		read_all("a resize beside it");
		EXPECT_EQ(shim_preempt_count(0), 0);
		EXPECT_EQ(cut_one(buf, buf2, ALL), 0);
	}
}

const struct scenario exchange_scenarios[] = {
	{ "unit.cut-ring-id", ring_id, 0, SC_QUICK, "R5" },
	{ "unit.cut-lacks-cpu", lacks_cpu, 0, SC_QUICK, "R5" },
	{ "unit.swap-mapped", mapped, 0, SC_QUICK, "R5 R8" },
	{ "unit.cut-sizes", cut_sizes, 0, SC_QUICK, "R5" },
	{ "unit.cut-drops", cut_drops, 0, SC_QUICK, "R5" },
	{ "unit.cut-range", persist, 0, SC_QUICK, "R5, 12" },
	{ "unit.reset-range", persist_reset, 0, SC_QUICK, "12, 7" },
	{ "unit.reset-one", reset_one, 0, SC_QUICK, "R3, 7" },
	{ "unit.reset-places", reset_places, 0, SC_QUICK, "R3, 7" },
	{ "unit.reset-counters", reset_counters, 0, SC_QUICK, "R3, 7" },
	{ "unit.reset-fresh", reset_fresh, 0, SC_QUICK, "R3, 7" },
	{ "unit.reset-inherited", reset_inherited, 0, SC_QUICK, "R3 R6, 7" },
	{ "unit.reset-short", reset_short, 0, SC_QUICK, "25" },
	{ "unit.reset-mapped", reset_mapped, 0, SC_QUICK, "R8, 7" },
	{ "unit.reset-waits", reset_waits, 0, SC_QUICK, "7" },
	{ "unit.swap-resize", resize_waits, 0, SC_QUICK, "R5 R6" },
	{ "unit.cut-resize", resize_waits, 1, SC_QUICK, "R5 R6" },
	{ }
};
