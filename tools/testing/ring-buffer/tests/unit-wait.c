// SPDX-License-Identifier: GPL-2.0
/* Waiters: each one is woken at once by its own condition, and by nothing else. */
#include <linux/poll.h>
#include "test.h"

#define SUBBUFS	8
#define LEN	192U
#define PER	((int)(SUBBUF_DATA / (LEN + 8)))

static struct waiter {
	struct ring_buffer_reader *reader;	/* one of several, or NULL */
	int			cpu, full;
	int			woken;		/* how often, by the queue for its watermark */
	poll_table		table;
	int			queues;
	struct waiter_entry {
		struct waiter		*waiter;
		struct wait_queue_entry	entry;
	} entries[2];				/* for any record, and for a watermark */
} waiters[4];

static int nr_waiters;

static void begin_waits(void)
{
	begin(SUBBUFS, true);
	nr_waiters = 0;
}

static int wake_waiter(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key)
{
	struct waiter_entry *e = container_of(entry, struct waiter_entry, entry);
	struct waiter *w = e->waiter;

	if (e == &w->entries[w->full && w->cpu != RING_BUFFER_ALL_CPUS])
		w->woken++;
	return 1;
}

static void enqueue(struct file *file, wait_queue_head_t *head, poll_table *table)
{
	struct waiter *w = container_of(table, struct waiter, table);
	struct waiter_entry *e = &w->entries[w->queues++];

	e->waiter = w;
	e->entry.func = wake_waiter;
	add_wait_queue(head, &e->entry);
}

/* It checks its condition, and notifies the writers if it is false */
static bool look(struct waiter *w)
{
	if (w->reader)
		return ring_buffer_reader_poll(w->reader, NULL, NULL, w->full);
	return ring_buffer_poll_wait(buf, w->cpu, NULL, NULL, w->full);
}

/* As select() does: it is in the queue before it looks */
static struct waiter *wait_by(struct ring_buffer_reader *reader, int cpu, int full)
{
	struct waiter *w = &waiters[nr_waiters++];

	*w = (struct waiter){
		.reader = reader, .cpu = cpu, .full = full, .table._qproc = enqueue,
	};
	if (reader ? ring_buffer_reader_poll(reader, NULL, &w->table, full) :
		     ring_buffer_poll_wait(buf, cpu, NULL, &w->table, full))
		fault(F_VALUE, "a waiter for %d percent has not to wait", full);
	return w;
}

static struct waiter *wait_for(int cpu, int full)
{
	return wait_by(NULL, cpu, full);
}

/* All that look again after a grace period have done so, and have found nothing */
static void settle(void)
{
	int i;

	shim_rcu_run();
	for (i = 0; i < nr_waiters; i++)
		EXPECT(!look(&waiters[i]), "nothing was written");
	shim_rcu_run();
	for (i = 0; i < nr_waiters; i++)
		waiters[i].woken = 0;
}

/* Records; the wake-ups are those of the writers */
static void write(int n)
{
	while (n--)
		put(buf, LEN, PUT_COMMIT);
	shim_poll();
}

static void write_on(int cpu, int n)
{
	host_cpu_switch(cpu);
	write(n);
	host_cpu_switch(0);
}

/* So many sub-buffers have records, the last one of them a single one */
static void fill_to(int subbufs)
{
	write((subbufs - 1) * PER + 1 - (int)put_count(0));
}

/* How often the buffer waits for callbacks when it is freed */
static int barriers(void)
{
	shim_rcu_barriers = 0;
	ring_buffer_free(buf);
	buf = NULL;
	return shim_rcu_barriers;
}

/* A record wakes those that wait for one, and once */
static void one_record(long unused)
{
	struct waiter *cpu, *other, *all, *all_full, *full;

	begin_waits();
	cpu = wait_for(0, 0);
	other = wait_for(1, 0);
	all = wait_for(RING_BUFFER_ALL_CPUS, 0);
	full = wait_for(0, 50);
	settle();
	write(1);
	EXPECT_EQ(cpu->woken, 1);
	EXPECT_EQ(all->woken, 1);
	EXPECT_EQ(other->woken, 0);
	EXPECT_EQ(full->woken, 0);
	write(5);
	EXPECT_EQ(cpu->woken, 1);
	EXPECT_EQ(all->woken, 1);
	write_on(1, 1);
	EXPECT_EQ(other->woken, 1);
	EXPECT_EQ(all->woken, 2);
	EXPECT_EQ(cpu->woken, 1);
	/* again, once they have said so */
	consume(buf, 0, -1);
	consume(buf, 1, -1);
	EXPECT(!look(all), "all was read");
	write(1);
	EXPECT_EQ(all->woken, 3);

	/* there is no watermark for all CPUs */
	begin_waits();
	all_full = wait_for(RING_BUFFER_ALL_CPUS, 50);
	settle();
	write(1);
	EXPECT_EQ(all_full->woken, 1);
	EXPECT(look(all_full), "a record is there");
}

/* A watermark wakes those that wait for it, and once */
static void watermark(long unused)
{
	struct waiter *half, *any;

	begin_waits();
	half = wait_for(0, 50);
	settle();
	fill_to(3);
	EXPECT_EQ(half->woken, 0);
	EXPECT(!look(half), "less than a half is filled");
	shim_rcu_run();
	EXPECT_EQ(half->woken, 0);
	fill_to(4);
	EXPECT_EQ(half->woken, 1);
	EXPECT(look(half), "more than a half is filled");
	/* no waiter is left */
	consume(buf, 0, -1);
	any = wait_for(0, 0);
	shim_rcu_run();
	half->woken = 0;
	any->woken = 0;
	write(1);
	EXPECT_EQ(any->woken, 1);
	write(10 * PER);
	EXPECT_EQ(half->woken, 0);
	EXPECT_EQ(any->woken, 1);
}

/* Of several waiters each one is woken by its own watermark, in whichever order they came */
static void watermarks(long high_first)
{
	struct waiter *low, *high;

	begin_waits();
	if (high_first) {
		high = wait_for(0, 75);
		settle();
		low = wait_for(0, 25);
	} else {
		low = wait_for(0, 25);
		settle();
		high = wait_for(0, 75);
	}
	settle();
	/* that one looks once more, and the writers go on to know of the other */
	look(high);
	fill_to(1);
	EXPECT_EQ(low->woken, 0);
	fill_to(2);
	EXPECT_EQ(low->woken, 1);
	EXPECT(look(low), "a quarter is filled");
	/* only the other one waits again, and notifies the writers */
	EXPECT(!look(high), "three quarters are not");
	shim_rcu_run();
	high->woken = 0;
	fill_to(5);
	EXPECT_EQ(high->woken, 0);
	fill_to(6);
	EXPECT_EQ(high->woken, 1);
	EXPECT(look(high), "three quarters are filled");
}

/* A reader that reads nothing does not have one in front of it woken before its watermark */
static void beside_idle(long resize)
{
	struct ring_buffer_reader *idle, *front;
	struct waiter *half;
	unsigned long lost;
	u64 ts;

	begin_waits();
	idle = ring_buffer_reader_open(buf, 0);
	front = ring_buffer_reader_open(buf, 0);
	fill_to(6);
	while (ring_buffer_reader_peek(front, 0, &ts, &lost))
		ring_buffer_reader_advance(front, 0);
	if (resize)
		resize_to(2 * SUBBUFS);
	half = wait_by(front, 0, resize ? 25 : 50);
	settle();
	fill_to(9);
	EXPECT_EQ(half->woken, 0);
	EXPECT(!look(half), "less than a half is filled");
	fill_to(10);
	EXPECT_EQ(half->woken, 1);
	EXPECT(look(half), "a half is filled behind it");
	ring_buffer_reader_close(idle);
	ring_buffer_reader_close(front);
}

/* The watermark is met by exactly its number of sub-buffers */
static void exact(long unused)
{
	int nr, full;

	for (full = 25; full <= 100; full += 25) {
		begin_waits();
		nr = ring_buffer_size(buf, 0) / SUBBUF_DATA;
		EXPECT_EQ(nr % 4, 0);
		fill_to(nr * full / 100 - 1);
		EXPECT(!ring_buffer_poll_wait(buf, 0, NULL, NULL, full), "%d percent", full);
		fill_to(nr * full / 100);
		EXPECT(ring_buffer_poll_wait(buf, 0, NULL, NULL, full), "%d percent", full);
	}
	/* where the writer is laps ahead, too */
	fill_to(5 * nr);
	EXPECT(ring_buffer_poll_wait(buf, 0, NULL, NULL, 100), "all is filled");
}

/* They wake the waiters of the given CPU; an invalid CPU has none */
static void wake_waiters(long unused)
{
	struct waiter *cpu, *full, *other, *all;
	int i;

	begin_waits();
	cpu = wait_for(0, 0);
	full = wait_for(0, 50);
	other = wait_for(1, 0);
	all = wait_for(RING_BUFFER_ALL_CPUS, 0);
	settle();
	ring_buffer_wake_waiters(NULL, 0);
	ring_buffer_wake_waiters(buf, SHIM_MAX_CPUS);
	ring_buffer_wake_waiters(buf, -7);
	shim_poll();
	for (i = 0; i < nr_waiters; i++)
		EXPECT_EQ(waiters[i].woken, 0);
	ring_buffer_wake_waiters(buf, 0);
	shim_poll();
	EXPECT_EQ(cpu->woken, 1);
	EXPECT_EQ(full->woken, 1);
	EXPECT_EQ(other->woken, 0);
	EXPECT_EQ(all->woken, 1);
	/* One that has not looked again is awake still */
	for (i = 0; i < nr_waiters; i++) {
		waiters[i].woken = 0;
		look(&waiters[i]);
	}
	ring_buffer_wake_waiters(buf, RING_BUFFER_ALL_CPUS);
	for (i = 0; i < 2; i++) {
		host_cpu_switch(i);
		shim_poll();
	}
	host_cpu_switch(0);
	for (i = 0; i < nr_waiters; i++)
		EXPECT(waiters[i].woken, "waiter %d", i);
}

/* ---- the second look ------------------------------------------------------ */

/* Of two waiters the first one has it done, and one grace period does */
static void looks_once(long unused)
{
	int i;

	begin_waits();
	for (i = 0; i < 3; i++)
		ring_buffer_poll_wait(buf, 0, NULL, NULL, 0);
	rcu_barrier();
	EXPECT_EQ(barriers(), 0);

	/* one that has set its watermark has nothing more to do */
	begin_waits();
	ring_buffer_poll_wait(buf, 0, NULL, NULL, 50);
	shim_rcu_run();
	for (i = 0; i < 3; i++)
		ring_buffer_poll_wait(buf, 0, NULL, NULL, 50);
	EXPECT_EQ(barriers(), 0);

	/* one that finds enough has not, either */
	begin_waits();
	fill_to(6);
	EXPECT(ring_buffer_poll_wait(buf, 0, NULL, NULL, 50), "more than a half is filled");
	EXPECT_EQ(barriers(), 0);
}

/* A second one that comes during the grace period gets another, also from a buffer that goes */
static void looks_again(long unused)
{
	struct waiter *w;

	begin_waits();
	w = wait_for(0, 30);
	ring_buffer_poll_wait(buf, 0, NULL, NULL, 20);
	rcu_barrier();
	EXPECT_EQ(w->woken, 1);
	rcu_barrier();
	EXPECT_EQ(w->woken, 2);
	rcu_barrier();
	EXPECT_EQ(w->woken, 2);
	EXPECT_EQ(barriers(), 0);

	/* a watermark concerns one CPU */
	begin_waits();
	ring_buffer_poll_wait(buf, 0, NULL, NULL, 30);
	EXPECT_EQ(barriers(), 1);

	/* both CPUs have had theirs, and the whole buffer has begun a second one */
	begin_waits();
	ring_buffer_poll_wait(buf, 0, NULL, NULL, 0);
	ring_buffer_poll_wait(buf, 1, NULL, NULL, 0);
	rcu_barrier();
	EXPECT_EQ(barriers(), 1);
	shim_rcu_run();
}

/* ---- a waiter that a writer has missed ------------------------------------ */

static struct waiter *late;
static int wait_cpu, wait_full;

static void op_write(void) { put(buf, LEN, PUT_COMMIT); }

static void come(void)
{
	struct waiter *w = &waiters[nr_waiters++];

	*w = (struct waiter){ .cpu = wait_cpu, .full = wait_full, .table._qproc = enqueue };
	if (!ring_buffer_poll_wait(buf, wait_cpu, NULL, &w->table, wait_full))
		late = w;
}

static void remote_come(void) { step_remote(1, come, 1); }

/*
 * A waiter comes between any two instructions of the write that it waits for, alone or beside
 * a waiter for more, and is woken within a grace period.
 */
static void missed(long full)
{
	struct step s = { .op = op_write, .act = { remote_come } };
	int more, before = full ? (SUBBUFS * full / 100 - 1) * PER : 0;
	long lates = 0;

	for (more = 0; more < 3; more++) {
		wait_cpu = more == 2 && !full ? RING_BUFFER_ALL_CPUS : 0;
		wait_full = full;
		for_each_instruction(&s, 1) {
			begin_waits();
			late = NULL;
			write(before);
			if (more) {
				wait_for(0, 90);
				settle();
			}
			if (!step_run(&s))
				continue;
			shim_poll();
			/* one grace period: the callbacks of another one come later */
			rcu_barrier();
			lates += !!late;
			if (late && !late->woken)
				fault(F_STUCK, "for %ld percent, from instruction %ld on", full,
				      s.at[0]);
			read_out("at instruction %ld", s.at[0]);
		}
		EXPECT(lates > 10, "%ld have come in time", lates);
	}
}

/* ---- nobody waits for a resize, which waits for memory ------------------------ */

enum change { TO_EIGHT, TO_ORDER, TO_EXPANDED };
static enum change change;

static void op_change(void)
{
	int ret;

	if (change == TO_EIGHT)
		ret = ring_buffer_resize(buf, 8 * SUBBUF_DATA, RING_BUFFER_ALL_CPUS);
	else if (change == TO_ORDER)
		ret = ring_buffer_subbuf_order_set(buf, 1);
	else
		ret = ring_buffer_expand(buf, 8 * SUBBUF_DATA);
	EXPECT_EQ(ret, 0);
}

static void begin_change(void)
{
	shim_set_online(2, 0);
	begin(4, true);
	if (change != TO_EXPANDED)
		return;
	free_buffers();
	buf = ring_buffer_alloc_unexpanded(RB_FL_OVERWRITE);
}

static int polled;
static void poll_it(void) { ring_buffer_poll_wait(buf, polled, NULL, NULL, 0); }
static void act_poll(void) { step_remote(1, poll_it, 0); }

static void poll_change(long arg)
{
	struct step s = { .op = op_change, .act = { act_poll } };

	change = arg % 3;
	polled = arg < 3 ? 1 : RING_BUFFER_ALL_CPUS;
	for_each_instruction(&s, 7) {
		begin_change();
		if (!step_run(&s))
			break;
	}
}

/* A CPU comes online at each allocation, waits for nothing, and has the new shape */
static long allocations;
static void up_2(void) { shim_cpu_up(2); }

static void up_at_allocation(void)
{
	if (allocations--)
		return;
	shim_on_alloc = NULL;
	step_remote(1, up_2, 0);
}

static void up_change(long which)
{
	struct step s = { .op = op_change };
	long i;

	change = which;
	for (i = 0; i < 1000; i++) {
		begin_change();
		allocations = i;
		shim_on_alloc = up_at_allocation;
		step_run(&s);
		if (shim_on_alloc || !buf)
			break;
		EXPECT_EQ(ring_buffer_size(buf, 2), ring_buffer_size(buf, 0));
	}
	EXPECT(i > 10, "%ld allocations", i);
	shim_on_alloc = NULL;
}

const struct scenario wait_scenarios[] = {
	{ "unit.wait-record", one_record, 0, SC_QUICK, "13" },
	{ "unit.wait-watermark", watermark, 0, SC_QUICK, "13" },
	{ "unit.wait-low-high", watermarks, 0, SC_QUICK, "13" },
	{ "unit.wait-high-low", watermarks, 1, SC_QUICK, "13" },
	{ "unit.wait-idle", beside_idle, false, SC_QUICK, "13" },
	{ "unit.wait-idle-resize", beside_idle, true, SC_QUICK, "13" },
	{ "unit.wait-exact", exact, 0, SC_QUICK, "13" },
	{ "unit.wait-wake", wake_waiters, 0, SC_QUICK, "13" },
	{ "unit.wait-once", looks_once, 0, SC_QUICK, "13" },
	{ "unit.wait-again", looks_again, 0, SC_QUICK, "13" },
	{ "unit.poll-resize", poll_change, TO_EIGHT, SC_QUICK, "22" },
	{ "unit.poll-order", poll_change, TO_ORDER, SC_QUICK, "22" },
	{ "unit.poll-expand", poll_change, TO_EXPANDED, SC_QUICK, "22" },
	{ "unit.poll-all-resize", poll_change, 3 + TO_EIGHT, SC_QUICK, "22" },
	{ "unit.cpu-up-in-resize", up_change, TO_EIGHT, SC_QUICK, "22" },
	{ "unit.cpu-up-in-order", up_change, TO_ORDER, SC_QUICK, "22" },
	{ "unit.cpu-up-in-expand", up_change, TO_EXPANDED, SC_QUICK, "22" },
	{ "unit.wait-missed", missed, 0, SC_QUICK, "13" },
	{ "unit.wait-missed-full", missed, 25, SC_QUICK, "13" },
	{ }
};
