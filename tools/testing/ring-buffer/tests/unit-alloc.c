// SPDX-License-Identifier: GPL-2.0
/* Allocation and release of buffers: their cost, lack of memory, and CPUs that come online. */
#include <linux/oom.h>
#include <linux/sched/signal.h>
#include "test.h"

static int resize(int subbufs)
{
	return ring_buffer_resize(buf, subbufs * (unsigned long)SUBBUF_DATA, 0);
}

static unsigned long subbufs_of(struct trace_buffer *b, int cpu)
{
	return ring_buffer_size(b, cpu) / SUBBUF_DATA;
}

static bool put_from(int cpu)
{
	int me = host_cpu_switch(cpu);
	bool ret = put(buf, REC_LEN, PUT_COMMIT);

	host_cpu_switch(me);
	return ret;
}

/* ---- how much ------------------------------------------------------------- */

/* Rings of all lengths, in memory that is aligned no more than it has to be */
static void lengths(long unused)
{
	int n;

	shim_alloc_odd = 1;
	for (n = 2; n < 540; n += n < 40 || n > 430 ? 1 : 97) {
		begin(n, true);
		put(buf, REC_LEN, PUT_COMMIT);
		EXPECT_EQ(subbufs_of(buf, 0), n);
		EXPECT_EQ(ring_buffer_size(buf, 0), n * SUBBUF_DATA);
		read_out("%d sub-buffers", n);
	}
}

/* A full ring drops new records at any sequence, and goes on when it was read */
static void full(long unused)
{
	int n, i;

	for (n = 2; n < 70; n++) {
		begin(n, false);
		for (i = 0; i < 2; i++) {
			put_n(n * PER_SUBBUF + 1);
			EXPECT_EQ(consume(buf, 0, n * PER_SUBBUF + 1), n * PER_SUBBUF);
		}
		check_end(0, 0, "%d sub-buffers", n);
	}
}

/* A size that is no multiple of a sub-buffer is rounded up, one that is too small as well */
static void rounded(long unused)
{
	static const struct { unsigned long bytes, subbufs; } sizes[] = {
		{ 0, 2 }, { 1, 2 }, { 2 * SUBBUF_DATA, 2 }, { 2 * SUBBUF_DATA + 1, 3 },
		{ 3 * SUBBUF_DATA - 1, 3 }, { 3 * SUBBUF_DATA, 3 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		fresh(sizes[i].bytes, true);
		EXPECT_EQ(subbufs_of(buf, 0), sizes[i].subbufs);
	}
}

/* The memory of a CPU, and of a sub-buffer, beside pages */
static void small(long unused)
{
	long before, each;

	begin(2, true);
	before = shim_objects;
	shim_cpu_up(2);
	EXPECT_EQ(subbufs_of(buf, 2), 2);
	EXPECT(shim_objects - before <= 4096, "%ld bytes", shim_objects - before);
	free_buffers();
	shim_set_online(2, 0);

	/* So many fit into objects that kmalloc() does not round up by much. */
	before = shim_objects;
	begin(2, true);
	before = shim_objects - before;
	each = -shim_objects;
	begin(970, true);
	each = (each + shim_objects - before) / (2 * 968);
	EXPECT(each <= 152, "%ld bytes for each sub-buffer", each);
}

/* A size that cannot fit is refused before any allocation */
static void too_much(long unused)
{
	unsigned long bytes = 64 << 12, start = shim_alloc_range(bytes), available = shim_available;
	struct trace_buffer *range;
	int order, n;

	begin(3, true);
	for (order = 0; order < 3; order++) {
		EXPECT_EQ(ring_buffer_subbuf_order_set(buf, order), 0);
		n = ring_buffer_subbuf_size_get(buf) - 16;
		/* one for each slot, and the reader's */
		shim_available = (12 << order) - 1;
		shim_fail_alloc_after = 0;
		EXPECT_EQ(ring_buffer_resize(buf, 11 * n, 0), -ENOMEM);
		EXPECT_EQ(shim_fail_alloc_after, 0);
		shim_fail_alloc_after = -1;
		shim_available++;
		EXPECT_EQ(ring_buffer_resize(buf, 11 * n, 0), 0);
		EXPECT_EQ(ring_buffer_size(buf, 0), 11 * n);
		shim_available = available;
		EXPECT_EQ(ring_buffer_resize(buf, 4 * n, 0), 0);
	}
	/* A range needs pages only for the structures beside it. */
	shim_available = 0;
	range = range_buffer(bytes, RB_FL_OVERWRITE, 0, start, bytes);
	EXPECT(range, "its memory is there");
	if (range)
		ring_buffer_free(range);

	/* More than the number of a sub-buffer can hold */
	shim_available = available;
	begin(3, true);
	shim_available = LONG_MAX;
	shim_fail_alloc_after = 0;
	EXPECT_EQ(resize(1 << 21), -ENOMEM);
	EXPECT_EQ(shim_fail_alloc_after, 0);
	EXPECT_EQ(resize((1 << 21) - 1), -ENOMEM);
	EXPECT(shim_fail_alloc_after < 0, "that many could be");
	shim_available = available;
	EXPECT_EQ(subbufs_of(buf, 0), 3);
}

/* ---- the OOM killer, and tasks that are killed ----------------------------- */

#define MANY	200

static void be_user(bool user)
{
	static char mm[64];

	current->mm = user ? (void *)mm : NULL;
}

static void be_killed(bool killed)
{
	if (killed) {
		sigaddset(&current->pending.signal, SIGKILL);
		set_tsk_thread_flag(current, TIF_SIGPENDING);
	} else {
		clear_tsk_thread_flag(current, TIF_SIGPENDING);
		sigdelset(&current->pending.signal, SIGKILL);
	}
}

/* The one that asks for too much is killed for it, if it is a task of user space */
static void oom_origin(long unused)
{
	int user;

	begin(3, true);
	for (user = 0; user < 2; user++) {
		be_user(user);
		shim_alloc_check = 1;
		shim_alloc_origin = 0;
		EXPECT_EQ(resize(MANY + user), 0);
		EXPECT(user ? shim_alloc_origin >= MANY : !shim_alloc_origin,
		       "user %d: %ld allocations", user, shim_alloc_origin);
		EXPECT(!current->signal->oom_flag_origin, "user %d, afterwards", user);

		shim_fail_alloc_after = MANY / 2;
		EXPECT_EQ(resize(2 * MANY), -ENOMEM);
		shim_fail_alloc_after = -1;
		EXPECT(!current->signal->oom_flag_origin, "user %d, after a failure", user);
		shim_alloc_check = 0;
	}
	/* Of a kernel thread it is none of our business. */
	be_user(false);
	set_current_oom_origin();
	EXPECT_EQ(resize(3), 0);
	EXPECT(current->signal->oom_flag_origin, "it was not ours");
}

/* A task that is killed stops asking for more; a kernel thread is not killed */
static void killed(long unused)
{
	long before, used;

	begin(3, true);
	resize(MANY);
	resize(3);
	shim_rcu_run();
	before = shim_allocated;
	be_user(true);
	be_killed(true);
	shim_fail_alloc_after = 10 * MANY;
	EXPECT_EQ(resize(MANY), -ENOMEM);
	used = 10 * MANY - shim_fail_alloc_after;
	shim_fail_alloc_after = -1;
	EXPECT(used < MANY / 2, "%ld allocations", used);
	shim_rcu_run();
	EXPECT_EQ(shim_allocated, before);
	EXPECT_EQ(subbufs_of(buf, 0), 3);

	be_user(false);
	EXPECT_EQ(resize(MANY), 0);
	be_user(true);
	be_killed(false);
	EXPECT_EQ(resize(3), 0);
}

/* ---- CPUs that come online -------------------------------------------------- */

/* Its ring is as long as those of the others, or short where they differ */
static void cpu_up(long unused)
{
	static const int sizes[][3] = {	/* of CPUs 0 and 1, and the expected one of CPU 2 */
		{ 5, 5, 5 }, { 5, 7, 2 }, { 7, 5, 2 }, { 2, 2, 2 }, { 2, 5, 2 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		begin(4, true);
		ring_buffer_resize(buf, sizes[i][0] * SUBBUF_DATA, 0);
		ring_buffer_resize(buf, sizes[i][1] * SUBBUF_DATA, 1);
		EXPECT_EQ(ring_buffer_size(buf, 2), 0);
		shim_cpu_up(2);
		EXPECT_EQ(subbufs_of(buf, 2), sizes[i][2]);
		put_on(2, buf, 5);
		EXPECT_EQ(ring_buffer_entries_cpu(buf, 2), 5);
		consume(buf, 2, 2);

		/* It keeps its records when it goes offline and comes online again. */
		shim_set_online(2, 0);
		ring_buffer_resize(buf, 9 * SUBBUF_DATA, 2);
		shim_cpu_up(2);
		EXPECT_EQ(subbufs_of(buf, 2), 9);
		EXPECT_EQ(consume(buf, 2, -1), 3);
		check_end(2, 0, "CPU %d comes online", 2);

		/* Two are alike, and the third is not. */
		ring_buffer_resize(buf, 9 * SUBBUF_DATA, 1);
		shim_cpu_up(3);
		EXPECT_EQ(subbufs_of(buf, 3), sizes[i][0] == 9 ? 9 : 2);
		free_buffers();
		/* No buffer is left that it could be given a part of. */
		shim_set_online(3, 0);
		shim_set_online(2, 0);
		shim_cpu_up(2);
		shim_set_online(2, 0);
	}
}

/* It writes as the others do: absolute stamps, and nothing is seen before it is committed */
static void cpu_up_writes(long unused)
{
	struct buffer_data_read_page *rp = NULL;
	struct ring_buffer_event *e;
	u32 *page;

	begin(3, true);
	ring_buffer_set_time_stamp_abs(buf, true);
	shim_cpu_up(2);
	host_cpu_switch(2);
	e = ring_buffer_lock_reserve(buf, 8);
	EXPECT(e, "there is room");
	put_in(CTX_IRQ, buf, REC_LEN, PUT_COMMIT);
	EXPECT(ring_buffer_empty_cpu(buf, 2), "the record below is not committed");
	if (e)
		ring_buffer_unlock_commit(buf);
	host_cpu_switch(0);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 2), 2);

	EXPECT_EQ(ring_buffer_alloc_read_page(buf, 2, &rp), 0);
	EXPECT(ring_buffer_read_page(buf, rp, 4096, 2, 0) >= 0, "records are there");
	page = ring_buffer_read_page_data(rp);
	/* behind the page's header */
	EXPECT_EQ(page[4] & 31, RINGBUF_TYPE_TIME_STAMP);
	ring_buffer_free_read_page(buf, 2, rp);
}

/* Without memory it has no part, and the others are as they were */
static void cpu_up_fails(long unused)
{
	long before;
	int i;

	for (i = 0; i < 100; i++) {
		shim_set_online(2, 0);
		begin(3, true);
		put_on(0, buf, 3);
		before = shim_allocated;
		shim_fail_alloc_after = i;
		shim_cpu_up(2);
		if (shim_fail_alloc_after >= 0)
			break;
		EXPECT(!cpu_online(2), "CPU 2 comes online, allocation %d failed", i);
		EXPECT_EQ(shim_allocated, before);
		EXPECT_EQ(ring_buffer_size(buf, 2), 0);
		host_cpu_switch(2);
		EXPECT(!ring_buffer_lock_reserve(buf, 8), "there is no place for it");
		host_cpu_switch(0);
		EXPECT_EQ(ring_buffer_entries(buf), 3);

		shim_cpu_up(2);
		EXPECT(cpu_online(2), "CPU 2 comes online, there is memory");
		EXPECT_EQ(subbufs_of(buf, 2), 3);
		put_on(2, buf, 2);
		consume(buf, 0, -1);
		consume(buf, 2, -1);
		check_end(0, 0, "CPU 0, allocation %d failed", i);
		check_end(2, 0, "CPU 2, allocation %d failed", i);
	}
	shim_fail_alloc_after = -1;
	EXPECT(i > 5 && i < 100, "%d allocations", i);
}

/* A record of a CPU that came online later wakes those that wait for any */
static void cpu_up_wakes(long unused)
{
	begin(3, true);
	/* There is no watermark for all CPUs. */
	EXPECT(waits(RING_BUFFER_ALL_CPUS, 50, never), "there is no record");
	shim_cpu_up(2);
	EXPECT(sleeps(), "there still is none");
	put_on(2, buf, 1);
	EXPECT(!sleeps(), "a record is there");
	consume(buf, 2, -1);
	check_end(2, 0, "CPU 2 wakes");
}

/* A CPU that comes online within a resize gets the size of the others */
static void up_2(void) { shim_cpu_up(2); }
static void up_2_remote(void) { step_remote(1, up_2, 1); }
static void op_resize(void) { resize_to(6); }

static void cpu_up_resize(long unused)
{
	struct step s = { .op = op_resize, .act = { up_2_remote } };

	for_each_instruction(&s, 1 + s.last / 400) {
		begin(3, true);
		if (!step_run(&s) || !s.at[0])
			continue;
		EXPECT(cpu_online(2), "at instruction %ld, CPU 2 is not online", s.at[0]);
		EXPECT_EQ(subbufs_of(buf, 2), 6);
		put_on(2, buf, 3);
		consume(buf, 2, -1);
		check_end(2, 0, "at instruction %ld", s.at[0]);
		shim_set_online(2, 0);
	}
}

/* A switch that is changed during its preparation holds for it */
static void abs_on(void) { ring_buffer_set_time_stamp_abs(buf, true); }
static void remote_abs(void) { step_remote(1, abs_on, 1); }
static void off_2(void) { ring_buffer_record_disable_cpu(buf, 2); }
static void remote_off(void) { step_remote(1, off_2, 1); }

static void cpu_up_switches(long off)
{
	struct step s = { .op = up_2, .act = { off ? remote_off : remote_abs } };

	for_each_instruction(&s, 1) {
		begin(2, true);
		if (!step_run(&s) || !s.at[0])
			continue;
		if (off) {
			EXPECT(!put_from(2), "at instruction %ld, CPU 2 is on", s.at[0]);
			ring_buffer_record_enable_cpu(buf, 2);
		}
		EXPECT(put_from(2), "at instruction %ld, CPU 2 is off", s.at[0]);
		/* with a stamp */
		EXPECT_EQ(ring_buffer_bytes_cpu(buf, 2), REC_LEN + (off ? 4 : 12));
		free_buffers();
		shim_set_online(2, 0);
	}
}

/* ---- buffers that get their rings later ---------------------------------------- */

/* In place of a buffer with rings; begin() has reset all counts */
static void begin_unexpanded(void)
{
	begin(3, true);
	ring_buffer_free(buf);
	shim_rcu_run();
	buf = ring_buffer_alloc_unexpanded(RB_FL_OVERWRITE);
	ring_buffer_set_clock(buf, test_clock);
}

static void begin_expanded(void)
{
	begin_unexpanded();
	EXPECT_EQ(ring_buffer_expand(buf, 3 * SUBBUF_DATA), 0);
}

/* It refuses records, and readers find it empty */
static void is_unexpanded(const char *when)
{
	struct buffer_data_read_page *rp = NULL;
	int cpu;

	EXPECT(!ring_buffer_is_expanded(buf), "%s", when);
	for (cpu = 0; cpu < 3; cpu++) {
		host_cpu_switch(cpu);
		ring_buffer_nest_start(buf);
		EXPECT(!ring_buffer_lock_reserve(buf, 8), "%s, CPU %d", when, cpu);
		ring_buffer_nest_end(buf);
		EXPECT_EQ(ring_buffer_size(buf, cpu), 0);
		EXPECT_EQ(ring_buffer_entries_cpu(buf, cpu), 0);
		EXPECT(ring_buffer_empty_cpu(buf, cpu), "%s, CPU %d", when, cpu);
		EXPECT(!ring_buffer_consume(buf, cpu, NULL, NULL), "%s, CPU %d", when, cpu);
		EXPECT(!ring_buffer_read_start(buf, cpu, GFP_KERNEL), "%s, CPU %d", when, cpu);
		/* One that never was online gets no ring later, either. */
		if (!cpu_online(cpu)) {
			EXPECT_EQ(ring_buffer_poll_wait(buf, cpu, NULL, NULL, 0), EPOLLERR);
			EXPECT_EQ(ring_buffer_alloc_read_page(buf, cpu, &rp), -ENODEV);
			continue;
		}
		EXPECT_EQ(ring_buffer_poll_wait(buf, cpu, NULL, NULL, 0), 0);
		EXPECT_EQ(ring_buffer_alloc_read_page(buf, cpu, &rp), 0);
		EXPECT_EQ(ring_buffer_read_page(buf, rp, 4096, cpu, 0), -1);
		ring_buffer_free_read_page(buf, cpu, rp);
		rp = NULL;
	}
	host_cpu_switch(0);
	EXPECT_EQ(ring_buffer_alloc_read_page(buf, nr_cpu_ids, &rp), -ENODEV);
	EXPECT(ring_buffer_empty(buf), "%s", when);
	ring_buffer_reset(buf);
	ring_buffer_record_disable_cpu(buf, 0);
	ring_buffer_record_enable_cpu(buf, 0);
}

/* It has the CPUs that were online, with what was set before, and gives it all back */
static void expand(long unused)
{
	struct ring_buffer_iter *it;
	unsigned long room;
	long before;
	int i;

	for (i = 0; i < 3; i++) {
		begin_unexpanded();
		is_unexpanded("new");
		EXPECT_EQ(ring_buffer_subbuf_order_set(buf, i), 0);
		ring_buffer_set_time_stamp_abs(buf, true);
		shim_cpu_up(2);
		is_unexpanded("CPU 2 came online");
		EXPECT_EQ(ring_buffer_expand_cpu(buf, 1, 3, 1), -ENODEV);
		EXPECT_EQ(ring_buffer_expand_cpu(buf, 1, 1, 1UL << (BITS_PER_LONG - 2)), -ENOMEM);
		is_unexpanded("the size of one CPU was refused");
		shim_rcu_run();

		EXPECT_EQ(ring_buffer_expand(buf, 4 * (ring_buffer_subbuf_size_get(buf) - 16)), 0);
		EXPECT_EQ(ring_buffer_expand(buf, 1), 1);
		EXPECT_EQ(ring_buffer_size(buf, 1), 4 * (ring_buffer_subbuf_size_get(buf) - 16));
		EXPECT_EQ(ring_buffer_size(buf, 2), ring_buffer_size(buf, 0));
		EXPECT_EQ(ring_buffer_size(buf, 3), 0);
		shim_cpu_up(3);
		EXPECT_EQ(ring_buffer_size(buf, 3), ring_buffer_size(buf, 0));
		put_on(0, buf, 3);
		put_on(2, buf, 2);
		before = shim_allocated;
		EXPECT_EQ(ring_buffer_unexpand(buf), -EBUSY);
		shim_rcu_run();
		EXPECT_EQ(shim_allocated, before);
		EXPECT_EQ(consume(buf, 0, -1), 3);
		EXPECT_EQ(ring_buffer_unexpand(buf), -EBUSY);
		EXPECT_EQ(consume(buf, 2, -1), 2);
		check_end(0, 0, "order %d", i);
		check_end(2, 0, "order %d", i);

		it = ring_buffer_read_start(buf, 2, GFP_KERNEL);
		EXPECT(it, "CPU 2 has its ring");
		EXPECT_EQ(ring_buffer_unexpand(buf), -EBUSY);
		ring_buffer_read_finish(it);
		if (!i) {
			EXPECT_EQ(map_buffer(4), 0);
			EXPECT_EQ(ring_buffer_unexpand(buf), -EBUSY);
			EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
		}
		EXPECT_EQ(ring_buffer_unexpand(buf), 0);
		EXPECT_EQ(ring_buffer_unexpand(buf), 0);
		is_unexpanded("given back");
		room = ring_buffer_subbuf_size_get(buf) - 16;
		EXPECT_EQ(ring_buffer_expand_cpu(buf, 1, 3, 5 * room), 0);
		EXPECT_EQ(ring_buffer_size(buf, 3), 5 * room);
		EXPECT(ring_buffer_size(buf, 0) < 5 * room, "CPU 0 is smaller");
		free_buffers();
		shim_set_online(2, 0);
		shim_set_online(3, 0);
	}
}

/* Each allocation fails once: nothing has changed then */
static void expand_fails(long unused)
{
	long before;
	int i, ret;

	for (i = 0; i < 1000; i++) {
		begin_unexpanded();
		shim_rcu_run();
		before = shim_allocated;
		shim_fail_alloc_after = i;
		ret = ring_buffer_expand(buf, 3 * SUBBUF_DATA);
		if (shim_fail_alloc_after >= 0)
			break;
		EXPECT_EQ(ret, -ENOMEM);
		is_unexpanded("no memory");
		shim_rcu_run();
		EXPECT_EQ(shim_allocated, before);
		EXPECT_EQ(ring_buffer_expand(buf, 3 * SUBBUF_DATA), 0);
		put_on(1, buf, 2);
		EXPECT_EQ(consume(buf, 1, -1), 2);
		check_end(1, 0, "allocation %d failed", i);
	}
	shim_fail_alloc_after = -1;
	EXPECT_EQ(ret, 0);
	EXPECT(i > 10 && i < 1000, "%d allocations", i);
	shim_fail_alloc_after = 0;
	EXPECT_EQ(ring_buffer_unexpand(buf), -ENOMEM);
	shim_fail_alloc_after = -1;
	EXPECT_EQ(ring_buffer_size(buf, 1), 3 * SUBBUF_DATA);
	EXPECT_EQ(ring_buffer_unexpand(buf), 0);
	shim_rcu_run();
	EXPECT_EQ(shim_allocated, before);
}

/* Is it as @says, and does a record tell the same? */
static void expect_on(int cpu, bool on, const char *says)
{
	EXPECT(ring_buffer_record_is_on_cpu(buf, cpu) == on, "%s", says);
	EXPECT(put_from(cpu) == on, "%s", says);
}

/* A CPU that was switched off before it has its part is off then, as often as it was */
static void expand_off(long global)
{
	begin_unexpanded();
	if (global)
		EXPECT_EQ(ring_buffer_set_global(buf, true), 0);
	ring_buffer_record_disable_cpu(buf, 1);
	ring_buffer_record_disable_cpu(buf, 1);
	ring_buffer_record_disable_cpu(buf, 2);
	ring_buffer_record_disable_cpu(buf, nr_cpu_ids);
	EXPECT(!ring_buffer_record_is_on_cpu(buf, 1), "CPU 1 is off without a part");
	EXPECT(!ring_buffer_record_is_on_cpu(buf, nr_cpu_ids), "there is no such CPU");
	EXPECT_EQ(ring_buffer_expand(buf, 3 * SUBBUF_DATA), 0);
	expect_on(0, true, "CPU 0 is on");
	expect_on(1, false, "CPU 1 is off");
	ring_buffer_record_enable_cpu(buf, 1);
	expect_on(1, false, "CPU 1 is still off");
	ring_buffer_record_enable_cpu(buf, 1);
	expect_on(1, true, "CPU 1 is on");

	shim_cpu_up(2);
	expect_on(2, false, "CPU 2 is off");
	ring_buffer_record_enable_cpu(buf, 2);
	expect_on(2, true, "CPU 2 is on");
	ring_buffer_record_disable_cpu(buf, 3);
	ring_buffer_record_enable_cpu(buf, 3);
	shim_cpu_up(3);
	expect_on(3, true, "CPU 3 is on again");

	ring_buffer_reset(buf);
	ring_buffer_record_disable_cpu(buf, 0);
	EXPECT_EQ(ring_buffer_unexpand(buf), 0);
	EXPECT_EQ(ring_buffer_expand(buf, 3 * SUBBUF_DATA), 0);
	expect_on(0, false, "CPU 0 is off");
	expect_on(1, true, "CPU 1 stays on");
	ring_buffer_record_off(buf);
	expect_on(1, false, "all are off");
}

/* One ring for all CPUs, and a record of CPU 1, which has a stage */
static void begin_global(void)
{
	begin_unexpanded();
	EXPECT_EQ(ring_buffer_set_global(buf, true), 0);
	EXPECT_EQ(ring_buffer_expand(buf, 3 * SUBBUF_DATA), 0);
	EXPECT(put_from(1), "CPU 1 has a stage");
}

/* It gives back its ring and its stages once no record is left; they are freed with it, too */
static void unexpand_global(long unused)
{
	long before;

	begin_unexpanded();
	EXPECT_EQ(ring_buffer_set_global(buf, true), 0);
	shim_rcu_run();
	before = shim_allocated;
	EXPECT_EQ(ring_buffer_expand(buf, 3 * SUBBUF_DATA), 0);
	EXPECT(put_from(1), "CPU 1 has a stage");
	EXPECT_EQ(ring_buffer_unexpand(buf), -EBUSY);
	ring_buffer_reset(buf);
	EXPECT_EQ(ring_buffer_unexpand(buf), 0);
	shim_rcu_run();
	EXPECT_EQ(shim_allocated, before);
	EXPECT_EQ(ring_buffer_expand(buf, 3 * SUBBUF_DATA), 0);
	EXPECT(put_from(1), "CPU 1 has a stage");
	no_leak("a global buffer");
}

static bool is_over(void *unused) { return true; }

/*
 * Its one ring has an id for all CPUs, each of which can be waited for. A reset of the CPUs
 * that are online empties it, also if its CPU is not one of them.
 */
static void global(long unused)
{
	begin_global();
	EXPECT(ring_buffer_ring_id(buf, 0), "there is a ring");
	EXPECT_EQ(ring_buffer_ring_id(buf, 1), ring_buffer_ring_id(buf, 0));
	EXPECT_EQ(ring_buffer_wait(buf, 1, 0, is_over, NULL), 0);
	EXPECT_EQ(ring_buffer_wait(buf, nr_cpu_ids, 0, is_over, NULL), -ENODEV);
	EXPECT_EQ(ring_buffer_entries(buf), 1);
	shim_set_online(ring_buffer_home(), 0);
	ring_buffer_reset_online_cpus(buf);
	shim_set_online(ring_buffer_home(), 1);
	EXPECT_EQ(ring_buffer_entries(buf), 0);
}

/* The word behind a record of a global buffer names a CPU that there can be, or none */
static void global_word(long unused)
{
	u64 mark = U32_MAX, word = mark;

	EXPECT_EQ(ring_buffer_global_cpu(&word, sizeof(word)), 0);
	EXPECT_EQ(ring_buffer_global_cpu(&word, sizeof(word) - 1), -EINVAL);
	word = (u64)(nr_cpu_ids - 1) << 32 | mark;
	EXPECT_EQ(ring_buffer_global_cpu(&word, sizeof(word)), (int)nr_cpu_ids - 1);
	word = (u64)nr_cpu_ids << 32 | mark;
	EXPECT_EQ(ring_buffer_global_cpu(&word, sizeof(word)), -EINVAL);
	word = mark - 1;
	EXPECT_EQ(ring_buffer_global_cpu(&word, sizeof(word)), -EINVAL);
}

/* A waiter without rings sleeps until it is woken */
static void wakes_once(int cpu, int full)
{
	begin_unexpanded();
	EXPECT(waits(cpu, full, NULL), "nobody has woken it");
	ring_buffer_wake_waiters(buf, 0);
	EXPECT(!sleeps(), "it was woken");
}

/* A waiter of before the expansion sleeps until there is a record, or it is woken */
static void expand_wakes(long cpu)
{
	begin_unexpanded();
	EXPECT(waits(cpu, cpu ? 50 : 0, never), "there is no record");
	EXPECT_EQ(ring_buffer_expand(buf, 3 * SUBBUF_DATA), 0);
	EXPECT(sleeps(), "there still is none");
	put_on(0, buf, 1);
	EXPECT(!sleeps(), "a record is there");
	read_out("CPU 0 wakes");

	wakes_once(cpu, 0);
	wakes_once(0, 50);
}

/* A dump finds a CPU with its ring, or none: in an NMI, while the rings go */
static void nmi_look(void)
{
	shim_ctx_enter(CTX_NMI);
	EXPECT(ring_buffer_empty_cpu(buf, 0), "there is no record");
	EXPECT(!ring_buffer_consume(buf, 0, NULL, NULL), "there is no record");
	shim_ctx_exit(CTX_NMI);
}

static void unexpand_there(void) { EXPECT_EQ(ring_buffer_unexpand(buf), 0); }
static void remote_unexpand(void) { step_remote(1, unexpand_there, 1); }

static void unexpand_dump(long unused)
{
	struct step s = { .op = nmi_look, .act = { remote_unexpand }, .may_wait = 1 };

	for_each_instruction(&s, 1) {
		begin_expanded();
		if (!step_run(&s) || !s.at[0])
			continue;
		is_unexpanded("beside a dump");
	}
}

/* And both are half done: a dump that found the ring has it until its end */
static void look_nested(void) { step_nested(nmi_look); }
static void look_remote(void) { step_remote(0, look_nested, 1); }

static void unexpand_during_dump(struct step *s)
{
	begin_expanded();
	host_cpu_switch(1);
	if (!step_run(s)) {
		fault(F_STUCK, "at instruction %ld, the dump at %ld", s->at[0], s->at[1]);
		return;
	}
	host_cpu_switch(0);
	is_unexpanded("with a dump half done");
}

static void unexpand_half_dump(long unused)
{
	struct step s = { .op = unexpand_there, .act = { look_remote, step_stop }, .may_wait = 1 };

	step_both(&s, 40, unexpand_during_dump);
}

/* An expansion comes before or after it: there are all rings, or none */
static void expand_there(void)
{
	int ret = ring_buffer_expand(buf, 3 * SUBBUF_DATA);

	EXPECT(!ret || ret == 1, "it returns %d", ret);
}

static void remote_expand(void) { step_remote(1, expand_there, 1); }

static void unexpand_expand(long unused)
{
	struct step s = { .op = unexpand_there, .act = { remote_expand }, .may_wait = 1 };

	for_each_instruction(&s, 1) {
		begin_expanded();
		if (!step_run(&s) || !s.at[0])
			continue;
		if (ring_buffer_is_expanded(buf))
			EXPECT(put_from(0) && put_from(1), "at instruction %ld", s.at[0]);
		else
			is_unexpanded("beside an expansion");
	}
}

/* A CPU that comes online meanwhile has a ring when the buffer has rings again */
static void unexpand_cpu_up(long unused)
{
	struct step s = { .op = unexpand_there, .act = { up_2_remote }, .may_wait = 1 };

	for_each_instruction(&s, 1) {
		begin_expanded();
		if (!step_run(&s) || !s.at[0])
			continue;
		EXPECT_EQ(ring_buffer_expand(buf, 3 * SUBBUF_DATA), 0);
		EXPECT(put_from(2), "at instruction %ld", s.at[0]);
		no_leak("a CPU that comes online");
		shim_set_online(2, 0);
	}
}

/* A nesting that began without rings does not end one of the rings */
static void expand_nested(long unused)
{
	begin_unexpanded();
	ring_buffer_nest_start(buf);
	EXPECT_EQ(ring_buffer_expand(buf, 3 * SUBBUF_DATA), 0);
	ring_buffer_nest_end(buf);
	put_n(2);
	put_in(CTX_IRQ, buf, REC_LEN, PUT_COMMIT);
	EXPECT_EQ(consume(buf, 0, -1), 3);
	check_end(0, 0, "%s", "nested");
}

/* ---- without memory ---------------------------------------------------------- */

/* Free it; all CPUs have their part */
static void free_whole(struct trace_buffer *b, const char *what)
{
	int cpu;

	for_each_online_cpu(cpu)
		EXPECT(ring_buffer_size(b, cpu), "%s: CPU %d has no part", what, cpu);
	ring_buffer_free(b);
}

/*
 * Each allocation in alloc() fails once, and then all is freed. Without the memory for
 * restoring the records of the boot before, it goes on.
 */
static void each_fails(const char *what, struct trace_buffer *(*alloc)(void), int spared)
{
	struct trace_buffer *b = NULL;
	long before = shim_allocated;
	int i, made = 0;

	for (i = 0; i < 1000; i++) {
		shim_fail_alloc_after = i;
		b = alloc();
		if (shim_fail_alloc_after >= 0)
			break;
		if (IS_ERR(b)) {
			EXPECT_EQ(PTR_ERR(b), -ENOMEM);
		} else if (b) {
			made++;
			free_whole(b, what);
		}
		shim_rcu_run();
		EXPECT(shim_allocated == before, "%s: allocation %d failed, %ld leak", what, i,
		       shim_allocated - before);
		before = shim_allocated;
	}
	shim_fail_alloc_after = -1;
	EXPECT_EQ(made, spared);
	EXPECT(i > 10 && i < 1000, "%s: %d allocations", what, i);
	if (IS_ERR_OR_NULL(b)) {
		fault(F_REFUSED, "%s: there is memory", what);
		return;
	}
	free_whole(b, what);
	shim_rcu_run();
	EXPECT_EQ(shim_allocated, before);
}

static unsigned long range_start, range_bytes = 64 << 12;

static struct trace_buffer *alloc_plain(void)
{
	return ring_buffer_alloc(3 * SUBBUF_DATA, RB_FL_OVERWRITE);
}

static struct trace_buffer *alloc_range(void)
{
	return range_buffer(range_bytes, RB_FL_OVERWRITE, 0, range_start, range_bytes);
}

static struct trace_buffer *alloc_spare(void)
{
	return ring_buffer_alloc_spare(buf);
}

static void fails(long unused)
{
	range_start = shim_alloc_range(range_bytes);
	begin(3, true);
	each_fails("buffer", alloc_plain, 0);
	/* A list of the old records of each CPU that is possible */
	each_fails("range", alloc_range, 4);
	each_fails("spare", alloc_spare, 0);
	free_buffers();
	buf = range_buffer(range_bytes, RB_FL_OVERWRITE | RB_FL_SPARE, 0, range_start,
			   range_bytes);
	EXPECT(buf, "a range with a spare");
	each_fails("spare of a range", alloc_spare, 4);
}

/* tracing_off_all() finds two buffers that were allocated at the same time */
static void op_alloc(void) { buf = alloc_plain(); }
static void alloc_second(void) { buf2 = alloc_plain(); }
static void remote_alloc(void) { step_remote(1, alloc_second, 1); }

static void alloc_twice(long unused)
{
	struct step s = { .op = op_alloc, .act = { remote_alloc }, .may_wait = 1 };

	for_each_instruction(&s, 1) {
		begin(2, true);
		free_buffers();
		if (!step_run(&s) || !s.at[0])
			continue;
		/* The first write of each CPU looks at the switch in any case. */
		EXPECT(put(buf, 8, PUT_COMMIT) && put(buf2, 8, PUT_COMMIT), "both are on");
		tracing_off_all();
		EXPECT(!put(buf, 8, PUT_COMMIT) && !put(buf2, 8, PUT_COMMIT),
		       "at instruction %ld", s.at[0]);
		tracing_on_all();
	}
}

/* ---- free ---------------------------------------------------------------------- */

/* A page that a reader gave back goes with the buffer, whatever its size */
static void free_spare_page(long unused)
{
	struct buffer_data_read_page *rp;
	int order;

	for (order = 0; order < 3; order++) {
		begin(3, true);
		EXPECT_EQ(ring_buffer_subbuf_order_set(buf, order), 0);
		rp = NULL;
		EXPECT_EQ(ring_buffer_alloc_read_page(buf, 0, &rp), 0);
		put(buf, REC_LEN, PUT_COMMIT);
		EXPECT(ring_buffer_read_page(buf, rp, ring_buffer_read_page_size(rp), 0, 0) >= 0,
		       "a record is there");
		ring_buffer_free_read_page(buf, 0, rp);
		no_leak("a page of a reader");
	}
}

/* A pending wake-up ends before the buffer is freed */
static void free_woken(long unused)
{
	begin(3, true);
	ring_buffer_wake_waiters(buf, RING_BUFFER_ALL_CPUS);
	free_buffers();
	shim_poll();
}

/* ---- a spare ------------------------------------------------------------------ */

/* It has the sizes, clock and stamps of the other, for CPUs that are offline as well */
static void spare_alike(long unused)
{
	static const int sizes[] = { 3, 7, 9 };
	int abs, cpu;
	u64 now;

	for (abs = 0; abs < 2; abs++) {
		begin(3, true);
		shim_cpu_up(2);
		for (cpu = 0; cpu < 3; cpu++)
			ring_buffer_resize(buf, sizes[cpu] * SUBBUF_DATA, cpu);
		shim_set_online(2, 0);
		ring_buffer_set_time_stamp_abs(buf, abs);
		buf2 = ring_buffer_alloc_spare(buf);
		for (cpu = 0; cpu < 3; cpu++)
			EXPECT_EQ(subbufs_of(buf2, cpu), sizes[cpu]);
		EXPECT_EQ(ring_buffer_size(buf2, 3), 0);
		EXPECT_EQ(ring_buffer_time_stamp_abs(buf2), abs);
		now = ring_buffer_time_stamp(buf);
		EXPECT_EQ(ring_buffer_time_stamp(buf2), now + 8);

		/* A cut needs all of this to be alike, and puts the spare's rings in place. */
		shim_cpu_up(2);
		put_on(2, buf, 5);
		EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
		put_on(2, buf, 12 * PER_SUBBUF);
		EXPECT_EQ(read_pages(buf2, 2, false, 0, -1), 5);
		EXPECT(ring_buffer_overrun_cpu(buf, 2), "it overwrites as the other does");
		consume(buf, 2, -1);
		check_end(2, END_NO_LOST, "spare, absolute stamps %d", abs);
		free_buffers();
		shim_set_online(2, 0);
	}
}

/* A CPU that comes online meanwhile has the same size in both */
static void up_1(void) { shim_cpu_up(1); }
static void up_1_remote(void) { step_remote(2, up_1, 1); }
static void op_spare(void) { buf2 = ring_buffer_alloc_spare(buf); }

static void spare_cpu_up(long unused)
{
	struct step s = { .op = op_spare, .act = { up_1_remote }, .may_wait = 1 };
	int cpu;

	for_each_instruction(&s, 1 + s.last / 400) {
		shim_set_online(1, 0);
		shim_set_online(2, 1);
		begin(7, true);
		if (!step_run(&s) || !s.at[0])
			continue;
		for (cpu = 0; cpu < 3; cpu++)
			EXPECT(subbufs_of(buf2, cpu) == 7, "at instruction %ld, CPU %d has %lu",
			       s.at[0], cpu, subbufs_of(buf2, cpu));
	}
}

const struct scenario alloc_scenarios[] = {
	{ "unit.alloc-lengths", lengths, 0, SC_QUICK, "R6" },
	{ "unit.alloc-full", full, 0, SC_QUICK, "R3" },
	{ "unit.alloc-rounded", rounded, 0, SC_QUICK, "R6" },
	{ "unit.alloc-small", small, 0, SC_QUICK, "R6" },
	{ "unit.alloc-too-much", too_much, 0, SC_QUICK, "R6" },
	{ "unit.alloc-oom-origin", oom_origin, 0, SC_QUICK, "R6" },
	{ "unit.alloc-killed", killed, 0, SC_QUICK, "R6" },
	{ "unit.alloc-fails", fails, 0, SC_QUICK, "R6" },
	{ "unit.alloc-twice", alloc_twice, 0, SC_QUICK, "R6" },
	{ "unit.free-page", free_spare_page, 0, SC_QUICK, "R6" },
	{ "unit.free-woken", free_woken, 0, SC_QUICK, "13" },
	{ "unit.cpu-up", cpu_up, 0, SC_QUICK, "R6" },
	{ "unit.cpu-up-writes", cpu_up_writes, 0, SC_QUICK, "R4 R6" },
	{ "unit.cpu-up-fails", cpu_up_fails, 0, SC_QUICK, "R6" },
	{ "unit.cpu-up-wakes", cpu_up_wakes, 0, SC_QUICK, "R6, 13" },
	{ "unit.cpu-up-resize", cpu_up_resize, 0, SC_QUICK, "R6, 9" },
	{ "unit.cpu-up-stamps", cpu_up_switches, 0, SC_QUICK, "R2 R6" },
	{ "unit.cpu-up-off", cpu_up_switches, 1, SC_QUICK, "R6" },
	{ "unit.spare", spare_alike, 0, SC_QUICK, "R5 R6" },
	{ "unit.spare-cpu-up", spare_cpu_up, 0, SC_QUICK, "R5 R6" },
	{ "unit.expand", expand, 0, SC_QUICK, "R6" },
	{ "unit.expand-fails", expand_fails, 0, SC_QUICK, "R6" },
	{ "unit.expand-off", expand_off, 0, SC_QUICK, "R6" },
	{ "unit.expand-off-global", expand_off, 1, SC_QUICK, "R6" },
	{ "unit.unexpand-global", unexpand_global, 0, SC_QUICK, "R6" },
	{ "unit.global", global, 0, SC_QUICK, "R5, 7, 13" },
	{ "unit.global-word", global_word, 0, SC_QUICK, "R3" },
	{ "unit.expand-wakes", expand_wakes, 0, SC_QUICK, "R6, 13" },
	{ "unit.expand-wakes-any", expand_wakes, RING_BUFFER_ALL_CPUS, SC_QUICK, "R6, 13" },
	{ "unit.unexpand-dump", unexpand_dump, 0, SC_QUICK, "R6, 15" },
	{ "unit.unexpand-half-dump", unexpand_half_dump, 0, SC_QUICK, "R6, 15" },
	{ "unit.unexpand-expand", unexpand_expand, 0, SC_QUICK, "R6" },
	{ "unit.unexpand-cpu-up", unexpand_cpu_up, 0, SC_QUICK, "R6" },
	{ "unit.expand-nested", expand_nested, 0, SC_QUICK, "R4 R6" },
	{ }
};
