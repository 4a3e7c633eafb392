// SPDX-License-Identifier: GPL-2.0
/* Requests of the ring buffer to the kernel: grace periods, workers, memory. */
#include <linux/gfp.h>
#include <linux/poll.h>
#include <linux/string.h>
#include "test.h"

#define SUBBUFS	4

/* ---- a waiter that a writer has missed ----------------------------------- */

static void op_write(void) { put(buf, REC_LEN, PUT_COMMIT); }

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
		read_out("at instruction %ld", s.at[0]);
	}
}

/* ---- CPU hotplug: a grace period does not wait for a CPU that comes or goes ------ */

enum what { GROW, ORDER, RESET };
static enum what what;

static void change_and_reap(void)
{
	if (what == GROW)
		resize_to(8);
	else if (what == ORDER)
		EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 1), 0);
	else
		ring_buffer_reset(buf);
	shim_rcu_run();
}

static void act_grow(void) { step_remote(1, change_and_reap, 1); }

static void hotplug(long offline)
{
	struct step s = { .op = op_write, .act = { act_grow } };

	what = GROW;
	for_each_instruction(&s, 1) {
		begin(SUBBUFS, true);
		put_n(100);
		if (offline)
			shim_set_online(0, 0);
		if (!step_run(&s))
			break;
		shim_set_online(0, 1);
		consume(buf, 0, -1);
		check_end(0, END_NO_LOST, "at instruction %ld", s.at[0]);
	}
}

/* A CPU leaves with a writer in its ring, as one that died: nobody else gets the memory */
static void hotplug_left(long change)
{
	struct ring_buffer_event *e;
	int me;

	begin(SUBBUFS, true);
	put_n(100);
	e = ring_buffer_lock_reserve(buf, 8);
	shim_set_online(0, 0);
	me = host_cpu_switch(1);
	what = change;
	change_and_reap();
	put_n(1);
	shim_rcu_run();
	host_cpu_switch(me);
	shim_set_online(0, 1);
	memset(ring_buffer_event_data(e), 0xff, 8);
	ring_buffer_unlock_commit(buf);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), change == RESET ? 101 : 0);
	EXPECT_EQ(ring_buffer_overrun_cpu(buf, 0), change == RESET ? 0 : 101);
	EXPECT_EQ(ring_buffer_commit_overrun_cpu(buf, 0), 0);
	EXPECT(put(buf, REC_LEN, PUT_COMMIT), "the next one");
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), change == RESET ? 102 : 1);
	EXPECT_EQ(host_warnings, 0);
}

/* Records of such a CPU are refused and counted, but not where recording is off */
static void hotplug_counts(long global)
{
	int i;

	begin(SUBBUFS, true);
	if (global) {
		free_buffers();
		buf = ring_buffer_alloc_unexpanded(RB_FL_OVERWRITE);
		EXPECT_EQ(ring_buffer_set_global(buf, true), 0);
		EXPECT_EQ(ring_buffer_expand(buf, SUBBUFS * SUBBUF_DATA), 0);
	} else {
		buf2 = ring_buffer_alloc_spare(buf);
	}
	shim_set_online(0, 0);
	for (i = 0; i < 3; i++)
		EXPECT(!put(buf, REC_LEN, PUT_COMMIT), "a record of a CPU that is offline");
	ring_buffer_record_off(buf);
	EXPECT(!put(buf, REC_LEN, PUT_COMMIT), "recording is off");
	ring_buffer_record_on(buf);
	tracing_off_all();
	EXPECT(!put(buf, REC_LEN, PUT_COMMIT), "all are off");
	shim_set_online(0, 1);
	EXPECT(!put(buf, REC_LEN, PUT_COMMIT), "all are off, and the CPU is back");
	shim_set_online(0, 0);
	tracing_on_all();
	EXPECT(!put(buf, REC_LEN, PUT_COMMIT), "all are on, and the CPU is offline");
	EXPECT_EQ(ring_buffer_commit_overrun_cpu(buf, 0), 4);
	if (buf2) {
		EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), -EBUSY);
		EXPECT_EQ(ring_buffer_swap_cpu(buf, buf2, 1), -EBUSY);
	}
	shim_set_online(0, 1);
	EXPECT(put(buf, REC_LEN, PUT_COMMIT), "the CPU is back");
	if (buf2)
		EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
}

/* ---- freeing -------------------------------------------------------------- */

/* Nothing is freed in a callback of RCU, where nothing else could run meanwhile */
static void free_in_task(long unused)
{
	struct ring_buffer_iter *iter;

	begin(SUBBUFS, true);
	shim_freed_atomic = 0;
	put(buf, REC_LEN, PUT_COMMIT);
	iter = ring_buffer_read_start(buf, 0, GFP_KERNEL);
	resize_to(9);
	EXPECT(ring_buffer_iter_peek(iter, NULL), "the record is in the new ring");
	resize_to(2);
	shim_rcu_run();
	EXPECT(ring_buffer_iter_peek(iter, NULL), "and in the next one");
	ring_buffer_read_finish(iter);
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 2), 0);
	no_leak("rings");
	EXPECT_EQ(shim_freed_atomic, 0);
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
	range = range_buffer(bytes, RB_FL_OVERWRITE, 0, start, bytes);
	check_policy("range", true);
	shim_alloc_check = 0;
	EXPECT(range, "there is memory");
	ring_buffer_free(range);
}

const struct scenario kernel_scenarios[] = {
	{ "unit.wait-hurry", wait_hurry, 0, SC_QUICK, "13" },
	{ "unit.hotplug-online", hotplug, 0, SC_QUICK, "19" },
	{ "unit.hotplug-offline", hotplug, 1, SC_QUICK, "19" },
	{ "unit.hotplug-grow", hotplug_left, GROW, SC_QUICK, "19" },
	{ "unit.hotplug-order", hotplug_left, ORDER, SC_QUICK, "19" },
	{ "unit.hotplug-reset", hotplug_left, RESET, SC_QUICK, "19" },
	{ "unit.hotplug-counts", hotplug_counts, 0, SC_QUICK, "19" },
	{ "unit.hotplug-global", hotplug_counts, 1, SC_QUICK, "19" },
	{ "unit.free-in-task", free_in_task, 0, SC_QUICK, "R6" },
	{ "unit.free-barrier", free_barrier, 0, SC_QUICK, "13" },
	{ "unit.memory-policy", policy, 0, SC_QUICK, "R6" },
	{ }
};
