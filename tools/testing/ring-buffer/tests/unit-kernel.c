// SPDX-License-Identifier: GPL-2.0
/* Requests of the ring buffer to the kernel: grace periods, workers, memory. */
#include <linux/gfp.h>
#include <linux/poll.h>
#include "test.h"

#define SUBBUFS	4

/* ---- a waiter that a writer has missed ----------------------------------- */

static void op_write(void) { put(buf, REC_LEN, PUT_COMMIT); }

static bool never(void *data)
{
	return false;
}

static void waiter(void)
{
	EXPECT_EQ(ring_buffer_wait(buf, 0, 0, never, NULL), 0);
}

static void wait_remote(void) { step_remote(1, waiter, 1); }

/* One grace period has to do: no barrier hurries the callbacks that may be late */
static void settle(void)
{
	int i;

	for (i = 0; i < 3 && co_active(); i++) {
		shim_poll();
		shim_rcu_run();
		co_resume();
	}
	if (!co_active())
		return;
	fault(F_STUCK, "a grace period after the record, the waiter sleeps");
	rcu_barrier();
}

static void wait_hurry(long unused)
{
	struct step s = { .op = op_write, .act = { wait_remote }, .after = settle };

	for_each_instruction(&s, 1) {
		begin(SUBBUFS, true);
		put(buf, REC_LEN, PUT_COMMIT);
		consume(buf, 0, -1);
		if (!step_run(&s))
			continue;
		consume(buf, 0, -1);
		check_end(0, 0, "at instruction %ld", s.at[0]);
	}
}

/* ---- freeing -------------------------------------------------------------- */

/* Nothing is freed in a callback of RCU, where nothing else could run meanwhile */
static void free_in_task(long unused)
{
	struct ring_buffer_iter *iter;
	long before;

	begin(SUBBUFS, true);
	put(buf, REC_LEN, PUT_COMMIT);
	free_buffers();
	shim_rcu_run();
	before = shim_allocated;
	shim_freed_atomic = 0;

	begin(SUBBUFS, true);
	put(buf, REC_LEN, PUT_COMMIT);
	iter = ring_buffer_read_start(buf, 0, GFP_KERNEL);
	EXPECT_EQ(ring_buffer_resize(buf, 9 * SUBBUF_DATA, RING_BUFFER_ALL_CPUS), 0);
	EXPECT(ring_buffer_iter_peek(iter, NULL), "the record is in the new ring");
	EXPECT_EQ(ring_buffer_resize(buf, 2 * SUBBUF_DATA, RING_BUFFER_ALL_CPUS), 0);
	shim_rcu_run();
	EXPECT(ring_buffer_iter_peek(iter, NULL), "and in the next one");
	ring_buffer_read_finish(iter);
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 2), 0);
	free_buffers();
	shim_rcu_run();
	EXPECT_EQ(shim_allocated, before);
	/* The handle, waiters and the parts of two CPUs: they do not grow with the buffer. */
	EXPECT_EQ(shim_freed_atomic, 4);
}

/* A buffer waits for callbacks only if there are some, and once for those of all CPUs */
static void free_barrier(long unused)
{
	int cpu, rounds;

	for (cpu = 2; cpu < 4; cpu++)
		shim_set_online(cpu, 1);
	for (rounds = 0; rounds < 3; rounds++) {
		begin(SUBBUFS, true);
		for (cpu = 0; cpu < 4 && rounds; cpu++) {
			ring_buffer_poll_wait(buf, cpu, NULL, NULL, 0);
			if (rounds == 2)
				ring_buffer_poll_wait(buf, cpu, NULL, NULL, 50);
		}
		shim_rcu_barriers = 0;
		free_buffers();
		EXPECT_EQ(shim_rcu_barriers, !!rounds);
	}
}

/* ---- memory ---------------------------------------------------------------- */

static void check_policy(const char *what, bool anywhere)
{
	EXPECT(!shim_alloc_oom, "%s: %ld allocations may call the OOM killer", what,
	       shim_alloc_oom);
	EXPECT(anywhere || !shim_alloc_anywhere, "%s: %ld allocations are for no node", what,
	       shim_alloc_anywhere);
	shim_alloc_oom = 0;
	shim_alloc_anywhere = 0;
}

/* Rather no buffer than a task that is killed for it; and it is where its CPU is */
static void policy(long unused)
{
	unsigned long bytes = 64 << 12, start = shim_alloc_range(bytes);
	struct ring_buffer_iter *iter;
	struct trace_buffer *range;

	shim_alloc_check = 1;
	begin(SUBBUFS, true);
	check_policy("alloc", true);
	ring_buffer_resize(buf, 9 * SUBBUF_DATA, RING_BUFFER_ALL_CPUS);
	check_policy("resize", false);
	ring_buffer_subbuf_order_set(buf, 1);
	check_policy("order", false);
	iter = ring_buffer_read_start(buf, 0, GFP_KERNEL);
	check_policy("iterator", false);
	ring_buffer_read_finish(iter);
	range = ring_buffer_alloc_range(bytes, RB_FL_OVERWRITE, 0, start, bytes);
	check_policy("range", true);
	shim_alloc_check = 0;
	EXPECT(range, "there is memory");
	ring_buffer_free(range);
}

const struct scenario kernel_scenarios[] = {
	{ "unit.wait-hurry", wait_hurry, 0, SC_QUICK, "13" },
	{ "unit.free-in-task", free_in_task, 0, SC_QUICK, "R6" },
	{ "unit.free-barrier", free_barrier, 0, SC_QUICK, "13" },
	{ "unit.memory-policy", policy, 0, SC_QUICK, "R6" },
	{ }
};
