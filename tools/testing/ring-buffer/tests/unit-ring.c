// SPDX-License-Identifier: GPL-2.0
/* The functions of the API that take a whole ring: reading, resizing, swapping. */
#include <linux/cpumask.h>
#include <linux/trace_seq.h>
#include "test.h"

char *strstr(const char *haystack, const char *needle);

/* ---- iterators ---------------------------------------------------------- */

static void iterator(long unused)
{
	struct ring_buffer_iter *it, *it2;
	u64 ts, first = 0;
	int n;

	begin(4, true);
	it = ring_buffer_read_start(buf, 0, GFP_KERNEL);
	EXPECT(!IS_ERR_OR_NULL(it), "read_start");
	EXPECT(ring_buffer_iter_empty(it), "nothing was written");
	EXPECT(!ring_buffer_iter_peek(it, &ts), "nothing was written");
	ring_buffer_read_finish(it);

	put_n(2 * PER_SUBBUF + 5);
	it = ring_buffer_read_start(buf, 0, GFP_KERNEL);
	it2 = ring_buffer_read_start(buf, 0, GFP_KERNEL);
	EXPECT(!ring_buffer_iter_empty(it), "records are there");
	for (n = 0; ring_buffer_iter_peek(it, &ts); n++) {
		if (!n)
			first = ts;
		ring_buffer_iter_advance(it);
	}
	EXPECT_EQ(n, 2 * PER_SUBBUF + 5);
	EXPECT(ring_buffer_iter_empty(it), "at the end");
	EXPECT(!ring_buffer_iter_dropped(it), "nobody wrote");
	ring_buffer_iter_reset(it);
	EXPECT(ring_buffer_iter_peek(it, &ts), "after reset");
	EXPECT_EQ(ts, first);
	/* two iterators do not disturb each other */
	EXPECT(ring_buffer_iter_peek(it2, &ts), "second iterator");
	EXPECT_EQ(ts, first);
	ring_buffer_read_finish(it2);
	ring_buffer_read_finish(it);
	EXPECT_EQ(iterate(buf, 0, NULL), n);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), n);
	consume(buf, 0, PER_SUBBUF + 3);
	EXPECT_EQ(iterate(buf, 0, NULL), n - PER_SUBBUF - 3);
	consume(buf, 0, -1);
	EXPECT_EQ(iterate(buf, 0, NULL), 0);
	check_end(0, 0, "iterator");
}

/* R7: the writer goes on; the iterator reports overwritten records */
static void iterator_behind(long unused)
{
	struct ring_buffer_iter *it;
	bool dropped = false;
	u64 ts, last = 0;
	int n = 0;

	begin(4, true);
	put_n(4 * PER_SUBBUF);
	it = ring_buffer_read_start(buf, 0, GFP_KERNEL);
	while (ring_buffer_iter_peek(it, &ts)) {
		dropped |= ring_buffer_iter_dropped(it);
		EXPECT(ts > last, "time goes on");
		last = ts;
		ring_buffer_iter_advance(it);
		if (n++ == 10) {
			EXPECT(!dropped, "nothing was overwritten yet");
			put_n(12 * PER_SUBBUF);
		}
	}
	EXPECT(dropped, "all was overwritten");
	EXPECT(n > PER_SUBBUF, "%d records", n);
	ring_buffer_read_finish(it);
	consume(buf, 0, -1);
	check_end(0, 0, "iterator behind");
}

/* R6 R7: each resize hands over to the next ring, and the iterator follows */
static void iterator_resizes(long unused)
{
	struct ring_buffer_iter *it;
	u64 ts, last = 0;
	int n = 0;

	begin(8, true);
	put_n(4 * PER_SUBBUF);
	it = ring_buffer_read_start(buf, 0, GFP_KERNEL);
	while (ring_buffer_iter_peek(it, &ts)) {
		EXPECT(ts > last, "record %d again", n);
		last = ts;
		ring_buffer_iter_advance(it);
		if (n++ != PER_SUBBUF + PER_SUBBUF / 3)
			continue;
		EXPECT(ring_buffer_resize(buf, 12 * SUBBUF_DATA, RING_BUFFER_ALL_CPUS) >= 0,
		       "resize");
		EXPECT(ring_buffer_resize(buf, 16 * SUBBUF_DATA, RING_BUFFER_ALL_CPUS) >= 0,
		       "second resize");
	}
	EXPECT_EQ(n, 4 * PER_SUBBUF);
	ring_buffer_read_finish(it);
	consume(buf, 0, -1);
	check_end(0, 0, "iterator, two resizes");
}

/* ---- pages -------------------------------------------------------------- */

static void pages(long unused)
{
	static const size_t lens[] = { 0, 52, 60, 100, 1000, 4096 };
	int i, full, before, lost;

	for (lost = 0; lost < 2; lost++) {
		for (i = 0; i < ARRAY_SIZE(lens) * 2 * 4; i++) {
			full = i & 1;
			before = i / 2 % 4;
			begin(4, true);
			put_n((lost ? 9 : 2) * PER_SUBBUF + 7);
			consume(buf, 0, before);
			read_pages(buf, 0, full, full ? 0 : lens[i / 8], -1);
			if (full)	/* the last one is not full */
				consume(buf, 0, -1);
			EXPECT(ring_buffer_empty_cpu(buf, 0), "pages of %zu, full %d", lens[i / 8],
			       full);
			consume(buf, 0, -1);
			check_end(0, 0, "pages of %zu, full %d, %d read before", lens[i / 8], full,
				  before);
		}
	}
}

/* The page's header: time of the first record, length, what was lost before */
static void page_header(long unused)
{
	struct buffer_data_read_page *rp = NULL;
	unsigned long missed = 0;
	u64 *page, ts;
	long lost;

	begin(3, true);
	EXPECT_EQ(ring_buffer_alloc_read_page(buf, 0, &rp), 0);
	EXPECT_EQ(ring_buffer_read_page_size(rp), 4096);
	EXPECT(ring_buffer_read_page(buf, rp, 4096, 0, 0) < 0, "nothing was written");
	EXPECT(ring_buffer_read_page(buf, rp, 8, 0, 0) < 0, "no room for a header");
	put_n(10 * PER_SUBBUF);
	EXPECT(ring_buffer_peek(buf, 0, &ts, &missed), "records are there");
	EXPECT(ring_buffer_read_page(buf, rp, 4096, 0, 0) >= 0, "records are there");
	page = ring_buffer_read_page_data(rp);
	EXPECT_EQ(page[0], ts);
	EXPECT(page_missed((void *)page, &lost), "the oldest ones are lost");
	if (lost != LOST_UNKNOWN)
		EXPECT_EQ(lost, ring_buffer_overrun_cpu(buf, 0));
	EXPECT_EQ(page_parse(page, 4096, NULL, NULL), PER_SUBBUF);
	EXPECT(ring_buffer_read_page(buf, rp, 4096, 0, 0) >= 0, "more are there");
	EXPECT(!page_missed(ring_buffer_read_page_data(rp), &lost), "nothing since");
	ring_buffer_free_read_page(buf, 0, rp);
}

/* R8: events/header_page and header_event as tools parse them */
static void header_text(long unused)
{
	static const char * const want[] = {
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;",
		"\tfield: local_t commit;\toffset:8;\tsize:8;",
		"\tfield: int overwrite;\toffset:8;\tsize:1;",
		"\tfield: char data;\toffset:16;\tsize:4080;",
		"\ttype_len    :    5 bits\n", "\ttime_delta  :   27 bits\n",
		"\tarray       :   32 bits\n", "\tpadding     : type == 29\n",
		"\ttime_extend : type == 30\n", "\ttime_stamp : type == 31\n",
		"\tdata max type_len  == 28\n",
	};
	static struct trace_seq s;
	int i;

	begin(2, true);
	memset(&s, 0, sizeof(s));
	ring_buffer_print_page_header(buf, &s);
	ring_buffer_print_entry_header(&s);
	for (i = 0; i < ARRAY_SIZE(want); i++)
		EXPECT(strstr(s.buffer, want[i]), "\"%s\" is missing in \"%s\"", want[i], s.buffer);
}

/* ---- resize, order, reset, swap ------------------------------------------ */

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

static void subbuf_order(long unused)
{
	int order;

	for (order = 0; order <= 4; order++) {
		unsigned int size = 4096 << order;
		int n = 3 * (size - 16) / (REC_LEN + 4);

		begin(8, true);
		put_n(10);
		EXPECT_EQ(ring_buffer_subbuf_order_set(buf, order), 0);
		EXPECT_EQ(ring_buffer_subbuf_order_get(buf), order);
		EXPECT_EQ(ring_buffer_subbuf_size_get(buf), size);
		/* The next reader reports the records of the old sub-buffers as lost. */
		put_n(3);
		consume(buf, 0, -1);
		check_end(0, 0, "report of order %d", order);
		start_over();
		ring_buffer_reset(buf);
		put_n(n);
		put(buf, ring_buffer_max_event_size(buf) & ~7UL, PUT_DISCARD);
		iterate(buf, 0, NULL);
		consume(buf, 0, 3);
		read_pages(buf, 0, false, 0, 1);
		consume(buf, 0, -1);
		check_end(0, 0, "order %d", order);
	}
	begin(2, true);
	EXPECT(ring_buffer_subbuf_order_set(buf, -1) < 0, "order -1");
	EXPECT(ring_buffer_subbuf_order_set(buf, 30) < 0, "order 30");
}

static void reset(long unused)
{
	int how;

	for (how = 0; how < 3; how++) {
		begin(3, true);
		put_n(9 * PER_SUBBUF);
		consume(buf, 0, 10);
		start_over();
		if (!how)
			ring_buffer_reset(buf);
		else if (how == 1)
			ring_buffer_reset_cpu(buf, 0);
		else
			ring_buffer_reset_online_cpus(buf);
		EXPECT(ring_buffer_empty(buf), "after reset");
		EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 0);
		EXPECT_EQ(ring_buffer_overrun_cpu(buf, 0), 0);
		EXPECT_EQ(ring_buffer_read_events_cpu(buf, 0), 0);
		EXPECT_EQ(ring_buffer_bytes_cpu(buf, 0), 0);
		put_n(7);
		EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 7);
		put_n(5 * PER_SUBBUF);
		consume(buf, 0, -1);
		check_end(0, 0, "reset %d", how);
	}
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

/* ---- CPUs, memory ------------------------------------------------------- */

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

/* Every allocation fails once; nothing leaks, breaks, or warns */
static void no_memory(long unused)
{
	struct trace_buffer *b;
	long i, before;

	before = allocated_without_buffers();
	for (i = 0; i < 1000; i++) {
		shim_fail_alloc_after = i;
		b = ring_buffer_alloc(3 * SUBBUF_DATA, RB_FL_OVERWRITE);
		if (b) {
			bool none_failed = shim_fail_alloc_after >= 0;

			shim_fail_alloc_after = -1;
			ring_buffer_free(b);
			shim_rcu_run();
			if (none_failed)
				break;
		}
		shim_fail_alloc_after = -1;
		shim_rcu_run();
		if (shim_allocated != before) {
			fault(F_VALUE, "allocation %ld failed: %ld objects leak", i,
			      shim_allocated - before);
			before = shim_allocated;
		}
	}
	EXPECT(i < 1000, "it never succeeds");
	for (i = 0; i < 1000; i++) {
		int ret;

		begin(3, true);
		put_n(9 * PER_SUBBUF);
		shim_fail_alloc_after = i;
		ret = ring_buffer_resize(buf, 9 * SUBBUF_DATA, RING_BUFFER_ALL_CPUS);
		if (shim_fail_alloc_after >= 0) {
			shim_fail_alloc_after = -1;
			EXPECT(ret >= 0, "resize without a failure: %d", ret);
			break;
		}
		shim_fail_alloc_after = -1;
		iterate(buf, 0, NULL);
		put_n(PER_SUBBUF);
		consume(buf, 0, -1);
		check_end(0, 0, "allocation %ld of a resize failed", i);
	}
	EXPECT_EQ(allocated_without_buffers(), before);
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

/* ---- a range of memory that is there after a reboot ---------------------- */

static void range(long unused)
{
	static const int records[] = { 0, 1, PER_SUBBUF / 2, PER_SUBBUF, 3 * PER_SUBBUF + 5,
				       60 * PER_SUBBUF };
	unsigned long bytes = 64 << 12, start = shim_alloc_range(bytes);
	int i, n, before;

	for (i = 0; i < ARRAY_SIZE(records); i++) {
		memset((void *)start, 0, bytes);
		begin(2, true);
		free_buffers();
		if (!boot(start, bytes, 0))
			return;
		EXPECT(ring_buffer_empty(buf), "the range is new");
		put_n(records[i]);
		before = ring_buffer_entries_cpu(buf, 0);
		if (!boot(start, bytes, 0))
			return;
		EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), before);
		n = consume(buf, 0, -1);
		EXPECT(n == before, "%d of %d records", n, before);
		put_n(3);
		EXPECT_EQ(consume(buf, 0, -1), 3);
		free_buffers();
	}
}

/* A sub-buffer that makes no sense is dropped; the rest is there */
static void range_corrupt(long unused)
{
	unsigned long bytes = 64 << 12, start = shim_alloc_range(bytes), at;
	int n, before, bad = 0;

	for (at = start; at < start + bytes; at += 4096) {
		u64 *page = (void *)at;

		memset((void *)start, 0, bytes);
		begin(2, true);
		free_buffers();
		if (!boot(start, bytes, 0))
			return;
		put_n(5 * PER_SUBBUF);
		before = ring_buffer_entries_cpu(buf, 0);
		/* a page with data in it: commit within the page, a time before */
		if (page[0] < 1000000 || page[0] > 2000000 || page[1] < 36 ||
		    page[1] > SUBBUF_DATA) {
			buf = NULL;
			continue;
		}
		bad++;
		page[1] = 0x7fffffff;
		if (!boot(start, bytes, 0))
			continue;
		n = consume(buf, 0, -1);
		EXPECT(n >= before - PER_SUBBUF && n < before, "%d of %d records are left", n,
		       before);
		put_n(3);
		EXPECT_EQ(consume(buf, 0, -1), 3);
		buf = NULL;
	}
	EXPECT(bad >= 5, "%d sub-buffers found in the range", bad);
	live = false;
}

const struct scenario ring_scenarios[] = {
	{ "unit.iterator", iterator, 0, SC_QUICK, "R7, 8" },
	{ "unit.iterator-behind", iterator_behind, 0, SC_QUICK, "R7, 8" },
	{ "unit.iterator-resizes", iterator_resizes, 0, SC_QUICK, "R6 R7, 8 9" },
	{ "unit.pages", pages, 0, SC_QUICK, "R3 R8" },
	{ "unit.page-header", page_header, 0, SC_QUICK, "R3 R8" },
	{ "unit.header-text", header_text, 0, SC_QUICK, "R8" },
	{ "unit.resize", resize, 0, SC_QUICK, "R6, 9" },
	{ "unit.subbuf-order", subbuf_order, 0, SC_QUICK, "R6 R8" },
	{ "unit.reset", reset, 0, SC_QUICK, "R3, 7" },
	{ "unit.swap", swap_cpu, 0, SC_QUICK, "R5, 3, 7" },
	{ "unit.swap-while-reading", swap_while_reading, 0, SC_QUICK, "R5 R7, 8" },
	{ "unit.offline-cpu", offline_cpu, 0, SC_QUICK, "R4 R6" },
	{ "unit.no-memory", no_memory, 0, SC_QUICK, "R6" },
	{ "unit.waiting", waiting, 0, SC_QUICK, "13" },
	{ "unit.range", range, 0, SC_QUICK, "12" },
	{ "unit.range-corrupt", range_corrupt, 0, SC_QUICK, "12" },
	{ }
};
