// SPDX-License-Identifier: GPL-2.0
/* Memory that survives a reboot, beyond the range scenarios of unit-ring.c. */
#include "test.h"

#define RANGE_BYTES	(64UL << 12)

static bool boot(unsigned long start)
{
	buf = ring_buffer_alloc_range(RANGE_BYTES, RB_FL_OVERWRITE, 0, start, RANGE_BYTES);
	if (!buf) {
		fault(F_REFUSED, "ring_buffer_alloc_range");
		return false;
	}
	ring_buffer_set_clock(buf, test_clock);
	return true;
}

/* A clock that steps back makes absolute stamps, and no damage */
static void clock_back(long unused)
{
	static const s64 steps[] = { 1000, -300, 7, 1LL << 30 };
	static const u64 starts[] = { 1ULL << 40, 3ULL << 60 };
	unsigned long start = shim_alloc_range(RANGE_BYTES), entries;
	int i, n;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		memset((void *)start, 0, RANGE_BYTES);
		clock_set(starts[i]);
		clock_steps(ARRAY_SIZE(steps), steps);
		fresh(2 * SUBBUF_DATA, true);
		ring_buffer_free(buf);
		if (!boot(start))
			return;
		for (n = 0; n < 380; n++)
			put(buf, REC_LEN, PUT_COMMIT);
		entries = ring_buffer_entries_cpu(buf, 0);
		/* no free: the machine stops here */
		if (!boot(start))
			return;
		EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), entries);
		EXPECT_EQ(consume(buf, 0, -1), entries);
		ring_buffer_free(buf);
		buf = NULL;
	}
}

const struct scenario persist_scenarios[] = {
	{ "unit.range-clock-back", clock_back, 0, SC_QUICK, "12" },
	{ }
};
