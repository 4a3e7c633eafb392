// SPDX-License-Identifier: GPL-2.0
/* The functions of the API that take a whole ring: resizing, swapping, waiting. */
#include <linux/cpumask.h>
#include "test.h"

/* ---- resize, swap -------------------------------------------------------- */

static void resize(long unused)
{
	static const int sizes[] = { 2, 3, 5, 8, 16, 40 };
	static const int records[] = { 0, 1, PER_SUBBUF, 3 * PER_SUBBUF + 1, 50 * PER_SUBBUF };
	int i, from, to, before;
	u64 entries, overrun;

	for (i = 0; i < 6 * 6 * 5 * 2 * 2; i++) {
		from = sizes[i % 6];
		to = sizes[i / 6 % 6];
		before = i / 180 % 2 ? 5 : 0;
		begin(from, i / 360);
		put_n(records[i / 36 % 5]);
		consume(buf, 0, before);
		entries = ring_buffer_entries_cpu(buf, 0);
		overrun = ring_buffer_overrun_cpu(buf, 0);
		if (ring_buffer_resize(buf, to * SUBBUF_DATA,
				       i & 1 ? 0 : RING_BUFFER_ALL_CPUS) < 0)
			fault(F_REFUSED, "resize %d to %d", from, to);
		EXPECT(ring_buffer_size(buf, 0) >= to * SUBBUF_DATA, "%d to %d: %lu", from, to,
		       ring_buffer_size(buf, 0));
		if (to >= from) {
			EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), entries);
			EXPECT_EQ(ring_buffer_overrun_cpu(buf, 0), overrun);
		} else {
			EXPECT_EQ(ring_buffer_entries_cpu(buf, 0) +
				  ring_buffer_overrun_cpu(buf, 0), entries + overrun);
			/* the writer goes on in one sub-buffer */
			if (entries >= (to + 1) * PER_SUBBUF)
				EXPECT(ring_buffer_entries_cpu(buf, 0) > (to - 2) * PER_SUBBUF,
				       "%d to %d of %llu: %lu are left", from, to, entries,
				       ring_buffer_entries_cpu(buf, 0));
		}
		iterate(buf, 0, NULL);
		put_n(PER_SUBBUF / 2);
		/* without overwriting, what was dropped when it was full is not read */
		consume(buf, 0, -1);
		check_end(0, 0, "%d to %d, %d records, %d read before", from, to,
			  records[i / 36 % 5], before);
	}
	begin(4, true);
	EXPECT(ring_buffer_resize(buf, 1UL << 60, RING_BUFFER_ALL_CPUS) < 0, "too much");
	put_n(5);
	consume(buf, 0, -1);
	check_end(0, 0, "after a resize that failed");
}

static void swap_cpu(long unused)
{
	int i, ret;

	begin(3, true);
	fresh2(3 * SUBBUF_DATA);
	for (i = 0; i < 20; i++) {
		put_n(i * PER_SUBBUF / 3);
		ret = ring_buffer_swap_cpu(buf, buf2, 0);
		if (ret)
			fault(F_REFUSED, "ring_buffer_swap_cpu: %d", ret);
		put_n(i);
		consume(buf2, 0, -1);
		EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), i);
		if (i & 1)
			consume(buf, 0, i / 2);
	}
	consume(buf, 0, -1);
	check_end(0, END_NO_LOST, "swap");
	EXPECT(ring_buffer_swap_cpu(buf, buf2, 3) < 0, "no such CPU");
}

static void swap_while_reading(long unused)
{
	struct ring_buffer_iter *it;
	u64 ts;
	int n;

	begin(3, true);
	fresh2(3 * SUBBUF_DATA);
	put_n(2 * PER_SUBBUF);
	it = ring_buffer_read_start(buf, 0, GFP_KERNEL);
	for (n = 0; n < 20 && ring_buffer_iter_peek(it, &ts); n++)
		ring_buffer_iter_advance(it);
	if (ring_buffer_swap_cpu(buf, buf2, 0))
		fault(F_REFUSED, "ring_buffer_swap_cpu with an iterator");
	put_n(5);
	while (ring_buffer_iter_peek(it, &ts)) {
		ring_buffer_iter_advance(it);
		if (++n > 100 * PER_SUBBUF)
			break;
	}
	EXPECT(n <= 2 * PER_SUBBUF + 5, "%d records", n);
	ring_buffer_read_finish(it);
	consume(buf2, 0, -1);
	consume(buf, 0, -1);
	check_end(0, END_NO_LOST, "swap while reading");
}

/* ---- CPUs ---------------------------------------------------------------- */

static void offline_cpu(long unused)
{
	unsigned long lost;
	u64 ts;

	begin(3, true);
	put_on(1, buf, 10);
	shim_set_online(1, 0);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 1), 10);
	EXPECT_EQ(iterate(buf, 1, NULL), 10);
	consume(buf, 1, -1);
	check_end(1, 0, "offline CPU");
	EXPECT(!ring_buffer_consume(buf, 2, &ts, &lost), "was never online");
	EXPECT(ring_buffer_empty_cpu(buf, 2), "was never online");
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 2), 0);
	ring_buffer_resize(buf, 8 * SUBBUF_DATA, RING_BUFFER_ALL_CPUS);
	ring_buffer_reset(buf);
	shim_set_online(1, 1);
	start_over();
	put_on(1, buf, 4 * PER_SUBBUF);
	EXPECT_EQ(ring_buffer_overrun_cpu(buf, 1), 0);
	consume(buf, 1, -1);
	check_end(1, 0, "online again");
}

/* ---- waiting ------------------------------------------------------------ */

static bool never(void *data)
{
	return false;
}

static ring_buffer_cond_fn wait_cond;
static int wait_full, wait_ret;

static void waiter(void)
{
	host_cpu_switch(1);
	wait_ret = ring_buffer_wait(buf, 0, wait_full, wait_cond, NULL);
}

/* A reader sleeps until there is enough; not before, and not for ever */
static void waiting(long unused)
{
	static const int percent[] = { 0, 1, 25, 50, 100 };
	int i, n;

	for (i = 0; i < ARRAY_SIZE(percent); i++) {
		begin(8, true);
		wait_full = percent[i];
		wait_cond = never;
		EXPECT(!co_start(waiter), "nothing was written");
		EXPECT_EQ(co_waits_for(), WAIT_SLEEP);
		for (n = 0; n < 20 * PER_SUBBUF && co_active(); n++) {
			put_n(1);
			shim_poll();
			co_resume();
		}
		EXPECT(!co_active(), "it sleeps for ever, %d percent", percent[i]);
		if (!percent[i])
			EXPECT_EQ(n, 1);
		else
			EXPECT(n >= percent[i] * (8 * PER_SUBBUF) / 100 - PER_SUBBUF &&
			       n <= (percent[i] * 9 / 100 + 2) * PER_SUBBUF,
			       "%d percent: woken after %d records", percent[i], n);
		co_abandon();
		consume(buf, 0, -1);
		check_end(0, 0, "waiting");
	}
	/* data is there already */
	begin(4, true);
	put_n(1);
	wait_full = 0;
	EXPECT(co_start(waiter), "a record is there");
	EXPECT_EQ(wait_ret, 0);
	consume(buf, 0, -1);
	/* woken for no data, as on close */
	wait_cond = NULL;
	EXPECT(!co_start(waiter), "all was read");
	ring_buffer_wake_waiters(buf, 0);
	for (i = 0; i < 20 && co_active(); i++) {
		shim_poll();
		co_resume();
	}
	EXPECT(!co_active(), "wake_waiters");
	co_abandon();
}

const struct scenario ring_scenarios[] = {
	{ "unit.resize", resize, 0, SC_QUICK, "R6, 9" },
	{ "unit.swap", swap_cpu, 0, SC_QUICK, "R5, 3, 7" },
	{ "unit.swap-while-reading", swap_while_reading, 0, SC_QUICK, "R5 R7, 8" },
	{ "unit.offline-cpu", offline_cpu, 0, SC_QUICK, "R4 R6" },
	{ "unit.waiting", waiting, 0, SC_QUICK, "13" },
	{ }
};
