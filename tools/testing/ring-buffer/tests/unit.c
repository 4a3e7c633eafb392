// SPDX-License-Identifier: GPL-2.0
/* The functions of the API, in one thread: writing, times, swaps, and a CPU that goes offline. */
#include "test.h"

/* Fill a sub-buffer to each possible end */
static void edges(long unused)
{
	unsigned int len, i;

	for (len = 8; len < 400; len += 4) {
		begin(4, true);
		for (i = 0; i < 3 * SUBBUF_DATA / (len + 4); i++)
			put(buf, len, i % 5 == 4 ? PUT_DISCARD :
				      i % 5 == 3 ? PUT_WRITE : PUT_COMMIT);
		read_out("records of %u", len);
	}
}

/* ---- time --------------------------------------------------------------- */

/* Absolute stamps have 59 bits; the upper five change, or are set. */
static const struct {
	const char	*what;
	u64		start;
	int		n;
	s64		steps[MAX_CLOCK_STEPS];
} times[] = {
	{ "plain", 0, 1, { 8 } },
	{ "stopped", 12345, 1, { 0 } },
	{ "just no extend", 0, 1, { (1 << 27) - 1 } },
	{ "extend", 0, 1, { 1 << 27 } },
	{ "far", 1, 4, { 1LL << 45, 3, 1LL << 46, 1LL << 47 } },
	{ "mixed", 1ULL << 40, 4, { 1, 1LL << 31, (1LL << 46) - 1, 0 } },
	{ "46 bits wrap", (1ULL << 46) - 4000, 1, { 8 } },
	{ "59 bits wrap", (1ULL << 59) - 4000, 1, { 8 } },
	{ "59 bits wrap, extends", (1ULL << 59) - (100LL << 30), 1, { 1LL << 30 } },
	{ "upper bits set", 3ULL << 61, 1, { 8 } },
	{ "back a little", 1ULL << 40, 4, { 1000, -300, 7, 1LL << 30 } },
	{ "back", 1ULL << 40, 4, { 5, 5, -9, 5 } },
	{ "back far", 1ULL << 50, 3, { 1LL << 28, -(1LL << 27), 5 } },
};

static void time_of_records(long unused)
{
	int i, k;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		clock_set(times[i].start);
		clock_steps(times[i].n, times[i].steps);
		fresh(4 * SUBBUF_DATA, true);
		for (k = 0; k < 6 * PER_SUBBUF; k++)
			put(buf, 16 + 4 * (k % 9), k % 7 == 3 ? PUT_DISCARD : PUT_COMMIT);
		iterate(buf, 0);
		consume(buf, 0, PER_SUBBUF / 2);
		read_pages(buf, 0, false, 300, 2);
		read_pages(buf, 0, false, 0, 1);
		read_out("%s", times[i].what);
	}
}

static void time_absolute(long unused)
{
	static const s64 plain[] = { 8 }, far[] = { 1LL << 33 };

	begin(2, true);
	EXPECT(!ring_buffer_time_stamp_abs(buf), "not set");
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
	iterate(buf, 0);
	consume(buf, 0, 100);
	read_pages(buf, 0, false, 0, -1);
	read_out("absolute");
}

/* ---- a whole ring -------------------------------------------------------- */

static void swap_cpu(long unused)
{
	int i;

	begin_two(3);
	for (i = 0; i < 20; i++) {
		put_n(i * PER_SUBBUF / 3);
		EXPECT_EQ(ring_buffer_swap_cpu(buf, buf2, 0), 0);
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

static void offline_cpu(long unused)
{
	begin(3, true);
	put_on(1, buf, 10);
	shim_set_online(1, 0);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 1), 10);
	EXPECT_EQ(iterate(buf, 1), 10);
	consume(buf, 1, -1);
	check_end(1, 0, "offline CPU");
	EXPECT(!ring_buffer_consume(buf, 2, NULL, NULL), "was never online");
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

const struct scenario unit_scenarios[] = {
	{ "unit.edges", edges, 0, SC_QUICK, "R3, 2" },
	{ "unit.time", time_of_records, 0, SC_QUICK, "R2, 10" },
	{ "unit.time-absolute", time_absolute, 0, SC_QUICK, "R2 R8, 10" },
	{ "unit.swap", swap_cpu, 0, SC_QUICK, "R5, 3, 7" },
	{ "unit.offline-cpu", offline_cpu, 0, SC_QUICK, "R4 R6" },
	{ }
};
