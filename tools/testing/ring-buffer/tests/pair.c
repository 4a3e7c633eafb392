// SPDX-License-Identifier: GPL-2.0
/*
 * Two operations that are half done at the same time, on two CPUs: one is stopped at
 * an instruction, the other one runs as far as one of its own, both stand while CPU 0
 * is interrupted and writes. Then the first one goes on, to its end or to where it has
 * to wait for the second, and the second one after it. With the two in each other's
 * place the one that began later comes first. (That one as a whole between two
 * instructions of the other is the first run for each point.)
 *
 * The flags of the other operation say which waits an operation is allowed;
 * the table in internal.h agrees with this file.
 */
#include <linux/poll.h>
#include "test.h"

#define RING_SUBBUFS	3
#define LONG		400U	/* few rounds for operations that count or copy records */
#define PER_LONG	((int)(SUBBUF_DATA / (LONG + 8)))

/* Locks and the like that an operation holds where it is stopped, or waits for */
#define LOCK	(1 << 0)	/* rb_ring.lock, interrupts are off */
#define MUTEX	(1 << 1)	/* trace_buffer.mutex */
#define EXCH	(1 << 2)	/* rb_cpu.exchange */
#define GRACE	(1 << 3)	/* preemption is off; or waits for that */
#define MAPLOCK	(1 << 4)	/* rb_cpu.map_lock */
#define CPUS	(1 << 5)	/* trace_buffer.cpu_mutex */

#define WRITES	(1 << 0)	/* runs on CPU 0 */
#define READS	(1 << 1)	/* takes records */
#define RESHAPES (1 << 2)	/* the log does not give the value of lost_events */
#define LOSES	(1 << 3)	/* drops records uncounted */
#define DROPS	(1 << 4)	/* refused without being counted */
#define SPARE	(1 << 5)	/* changes the content of buf2 */
#define ERASES	(1 << 6)	/* drops all of that */
#define REFUSES	(1 << 7)	/* an exchange, while the operation or its effect lasts */
#define MAPS	(1 << 8)	/* the buffer is mapped before */
#define REMAPS	(1 << 9)
#define WAITS	(1 << 10)

static const struct op {
	const char	*name;
	void		(*fn)(void);
	unsigned int	waits_for, holds, flags;
} *op_a, *op_b;

static struct place place;
static bool look;
static int cuts;

/* ---- operations --------------------------------------------------------- */

/* A swap, what keeps one out, and another size are met with an error */
static void result(const char *what, int ret)
{
	const struct op *other = shim_cpu() == 2 ? op_a : op_b;

	if (ret && !(other->holds & EXCH || other->flags & REFUSES))
		fault(F_REFUSED, "%s beside %s: %d", what, other->name, ret);
}

static void op_write(void) { put(buf, LONG, PUT_COMMIT); }
static void op_consume(void) { consume(buf, 0, 1); }
static void op_page(void) { read_pages(buf, 0, false, place.subbufs > 1 ? 1000 : 0, 1); }

static void op_iterate(void)
{
	struct ring_buffer_iter *it = ring_buffer_read_start(buf, 0, GFP_KERNEL);
	u64 ts, before = 0;
	int i;

	for (i = 0; it && i < 3 && ring_buffer_iter_peek(it, &ts); i++) {
		if (ts <= before)
			fault(F_ORDER, "iterator: time went back by %llu", before - ts);
		before = ts;
		ring_buffer_iter_advance(it);
	}
	ring_buffer_read_finish(it);
}

/* One that is published may not be noted as committed yet */
static void op_statistics(void)
{
	u64 entries = ring_buffer_entries_cpu(buf, 0), overrun = ring_buffer_overrun_cpu(buf, 0);

	if (entries > put_count(0) + 1 || overrun > put_count(0) + 1)
		fault(F_VALUE, "%llu entries, overrun %llu of %llu", entries, overrun,
		      put_count(0));
	ring_buffer_bytes_cpu(buf, 0);
	ring_buffer_oldest_event_ts(buf, 0);
	ring_buffer_nr_dirty_pages(buf, 0);
}

static void op_resize(void)
{
	result("resize", ring_buffer_resize(buf, (place.overwrite ? 2 : 2 * RING_SUBBUFS) *
					    SUBBUF_DATA, 0));
}

static void op_order(void) { result("order", ring_buffer_subbuf_order_set(buf, 1)); }
static void op_trim(void) { result("trim", ring_buffer_trim(buf2)); }
static void op_swap(void) { result("swap", ring_buffer_swap_cpu(buf, buf2, 0)); }

static void op_cut(void)
{
	int ret = cut_one(buf, buf2, RING_BUFFER_ALL_CPUS);

	cuts += !ret;
	result("cut", ret);
}

static void op_forget(void) { result("forget", ring_buffer_forget(buf2)); }
static void op_reset(void) { ring_buffer_reset_cpu(buf, 0); }

static void op_get_reader(void)
{
	if (look)
		map_look();
	if (ring_buffer_map_get_reader(buf, 0))
		fault(F_REFUSED, "get_reader");
	if (look)
		map_look();
}

static void op_map(void)
{
	int ret = map_buffer(ring_buffer_size(buf, 0) / SUBBUF_DATA);

	result("map", ret);
	if (!ret && ring_buffer_unmap(buf, 0))
		fault(F_REFUSED, "unmap");
}

static void op_overwrite(void)
{
	ring_buffer_change_overwrite(buf, !place.overwrite);
	ring_buffer_change_overwrite(buf, place.overwrite);
}

static void op_off(void)
{
	ring_buffer_record_off(buf);
	ring_buffer_record_disable_cpu(buf, 0);
	ring_buffer_record_enable_cpu(buf, 0);
	ring_buffer_record_on(buf);
}

/* ---- waiters ------------------------------------------------------------ */

static struct waiter {
	int			full;
	bool			asleep, woken;
	poll_table		table;
	int			queues;
	struct waiter_entry {
		struct waiter		*waiter;
		struct wait_queue_entry	entry;
	} entries[2];
} waiters[3];			/* CPU 0: was waiting before; 1 and 2: does so now */

static int wake_waiter(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key)
{
	container_of(entry, struct waiter_entry, entry)->waiter->woken = true;
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

static void look_again(struct waiter *w)
{
	w->woken = false;
	w->asleep = !ring_buffer_poll_wait(buf, 0, NULL, NULL, w->full);
}

/* As select() does: it is in the queue before it looks */
static void wait_for(int percent)
{
	struct waiter *w = &waiters[shim_cpu()];

	w->full = percent;
	w->table._qproc = enqueue;
	w->queues = 0;
	w->woken = false;
	w->asleep = !ring_buffer_poll_wait(buf, 0, NULL, &w->table, percent);
}

static void op_wait_any(void) { wait_for(0); }
static void op_wait_some(void) { wait_for(30); }
static void op_wait_full(void) { wait_for(100); }

/* Has each one been woken that has something to read? */
static void check_woken(const char *when)
{
	struct waiter *w;
	bool again;

	do {
		again = false;
		for (w = waiters; w < waiters + ARRAY_SIZE(waiters); w++) {
			shim_poll();
			if (!w->asleep || !w->woken)
				continue;
			look_again(w);
			again = true;
		}
	} while (again);
	for (w = waiters; w < waiters + ARRAY_SIZE(waiters); w++) {
		if (w->asleep && ring_buffer_poll_wait(buf, 0, NULL, NULL, w->full))
			fault(F_STUCK, "a waiter for %d percent sleeps, %s", w->full, when);
	}
}

/*
 * First the two operations and the grace period after them wake waiters. When all
 * waiters have looked again, each write wakes its waiters at once.
 */
static void check_waiters(bool reshaped)
{
	int i;

	if (!reshaped) {
		shim_rcu_run();
		check_woken("a grace period after");
	}
	for (i = 0; i < ARRAY_SIZE(waiters); i++) {
		if (waiters[i].asleep)
			look_again(&waiters[i]);
	}
	shim_rcu_run();
	for (i = 0; i < (RING_SUBBUFS + 1) * PER_LONG; i++) {
		put(buf, LONG, PUT_COMMIT);
		if (i % PER_LONG < 2)
			check_woken("writers went on");
	}
}

/* ---- the table ---------------------------------------------------------- */

#define RESIZES	(LOCK | MUTEX | EXCH | GRACE)

static const struct op ops[] = {
	{ "write", op_write, 0, GRACE, WRITES },
	{ "consume", op_consume, LOCK, LOCK | GRACE, READS },
	{ "page", op_page, LOCK, LOCK | GRACE, READS },
	{ "iterate", op_iterate, LOCK, LOCK | GRACE, REFUSES },
	{ "statistics", op_statistics, LOCK, LOCK | GRACE },
	{ "resize", op_resize, RESIZES | CPUS, RESIZES | CPUS, RESHAPES | DROPS },
	{ "order", op_order, RESIZES | CPUS, RESIZES | CPUS, RESHAPES | DROPS | REFUSES },
	{ "trim", op_trim, RESIZES, RESIZES, SPARE },
	{ "swap", op_swap, 0, EXCH | GRACE, SPARE | RESHAPES },
	{ "cut", op_cut, 0, EXCH | GRACE, SPARE | RESHAPES | ERASES | DROPS },
	{ "forget", op_forget, 0, EXCH | GRACE, SPARE | ERASES },
	{ "reset", op_reset, RESIZES, RESIZES, RESHAPES | LOSES | REFUSES },
	{ "get-reader", op_get_reader, MAPLOCK | LOCK, MAPLOCK | LOCK | GRACE,
	  READS | MAPS | REFUSES },
	{ "map", op_map, MAPLOCK | MUTEX | EXCH | LOCK, MAPLOCK | MUTEX | EXCH | LOCK | GRACE,
	  REFUSES | REMAPS },
	{ "overwrite", op_overwrite, MUTEX, MUTEX },
	{ "off", op_off, CPUS, CPUS | GRACE, DROPS | REFUSES },
	{ "wait-any", op_wait_any, LOCK | CPUS, LOCK | CPUS | GRACE, WAITS },
	{ "wait-some", op_wait_some, LOCK | CPUS, LOCK | CPUS | GRACE, WAITS },
	{ "wait-full", op_wait_full, LOCK | CPUS, LOCK | CPUS | GRACE, WAITS },
};

static struct step step;
static int burst_len;

/* An interrupt of CPU 0, which may be in a write; it never waits */
static void burst(void)
{
	int i, me = host_cpu_switch(0);

	step.may_wait = 0;
	for (i = 0; i < burst_len; i++)
		put_in(CTX_IRQ, buf, LONG, PUT_COMMIT);
	step.may_wait = op_a->waits_for & op_b->holds;
	host_cpu_switch(me);
}

static void second(void) { step_nested(op_b->fn); }

static void both(void)
{
	step_remote(op_b->flags & WRITES ? 0 : 2, second, op_b->waits_for & op_a->holds);
	burst();
}

/* ---- a run -------------------------------------------------------------- */

/* One ring only, for three CPUs */
static void begin_pair(unsigned int any)
{
	bool stale = any & SPARE && op_a->fn != op_swap && op_b->fn != op_swap;
	int i;

	for (i = 1; i < 3; i++)
		shim_set_online(i, 0);
	fresh(RING_SUBBUFS * SUBBUF_DATA, place.overwrite);
	if (any & SPARE)
		fresh2(RING_SUBBUFS * SUBBUF_DATA);
	for (i = 1; i < 3; i++)
		shim_set_online(i, 1);
	/* buf2 was live before, and is full of records that no reader may get */
	for (i = 0; i < 2 && stale; i++) {
		burst_len = 2 * PER_LONG + 5;
		burst();
		cut_one(buf, buf2, RING_BUFFER_ALL_CPUS);
	}
	if (stale)
		start_over();
	cuts = 0;
	burst_len = place.subbufs * PER_LONG + place.records;
	burst();
	if (!place.subbufs && !(any & MAPS))
		consume(buf, 0, -1);
	for (i = 0; i < ARRAY_SIZE(waiters); i++)
		waiters[i].asleep = false;
	/* one that waits for more, beside one that will */
	if (any & WAITS)
		wait_for(op_a->fn == op_wait_full || op_b->fn == op_wait_full ? 30 : 100);
	if (any & MAPS && map_buffer(RING_SUBBUFS))
		fault(F_REFUSED, "ring_buffer_map");
	if (look)
		map_look();
}

static void finish(unsigned int any, unsigned int end)
{
	int i;

	burst_len = 1;
	burst();
	host_cpu_switch(1);
	shim_rcu_run();
	host_cpu_switch(0);
	if (any & WAITS)
		check_waiters(any & (RESHAPES | LOSES));
	host_cpu_switch(1);
	/* nothing of the run is in a spare that was not cut into */
	if (buf2 && !cuts && op_a->fn != op_swap && op_b->fn != op_swap) {
		ring_buffer_free(buf2);
		buf2 = NULL;
	}
	if (buf2)
		consume(buf2, 0, -1);
	for (i = 0; i < 3 * RING_SUBBUFS && look; i++)
		op_get_reader();
	consume(buf, 0, -1);
	host_cpu_switch(0);
	check_end(0, end, "%s at instruction %ld, %s at %ld, %s", op_a->name, step.at[0],
		  op_b->name, step.at[1], place_name(&place));
	if (any & MAPS)
		ring_buffer_unmap(buf, 0);
}

static void one_run(void)
{
	static const int bursts[] = { 1, 0, 2 * PER_LONG };
	unsigned int both_have = op_a->flags & op_b->flags, any = op_a->flags | op_b->flags;
	const struct op *other;
	unsigned int end = 0;

	/* user space finds the new records, unless another task reads, maps or exchanges them */
	other = op_a->flags & MAPS ? op_b : op_a;
	look = any & MAPS && !(other->flags & (READS | RESHAPES | LOSES | SPARE | REMAPS));
	any_order = both_have & READS || any & SPARE;
	if (any & (RESHAPES | LOSES))
		end |= END_NO_LOST;
	if (any & DROPS)
		end |= END_NO_DROP;
	/* or the log lacks records that were read through a mapping */
	if (any & LOSES || (any & ERASES && both_have & SPARE) || (any & MAPS && !look))
		end |= END_NO_LOSS | END_NO_LOST;
	begin_pair(any);
	burst_len = bursts[nr_runs % ARRAY_SIZE(bursts)];
	host_cpu_switch(op_a->flags & WRITES ? 0 : 1);
	if (!step_run(&step)) {
		fault(F_STUCK, "%s, %s, %s", op_a->name, op_b->name, place_name(&place));
		host_cpu_switch(0);
		return;
	}
	host_cpu_switch(0);
	finish(any, end);
}

/* The second one as a whole, where the first one stands; notes its points */
static void note_second(void)
{
	long at = step.at[1];

	step.at[1] = 0;
	step.n[1] = 0;
	one_run();
	step.at[1] = at;
}

/*
 * A fault needs a narrow place in one of the two, mostly, and a wide one in the other:
 * the first is stopped at many points, and the second at few beside each. These go on
 * from row to row (89 is a prime), so that they go through it, too.
 */
static void run_one_pair(long row)
{
	long points = exhaustive ? 2000 : 100, beside = exhaustive ? 16 : 2;
	long last, missed, step0, step1;

	step = (struct step){ .op = op_a->fn, .act = { both, step_stop }, .after = burst };
	one_run();
	last = step.n[0];
	nr_positions += last;
	step0 = DIV_ROUND_UP(last, points);
	for (step.at[0] = 1 + row % step0; step.at[0] <= last; step.at[0] += step0, row++) {
		/* its way may become longer, too */
		if (step.at[0] <= step0 || row % 8 == 0)
			note_second();
		step1 = DIV_ROUND_UP(step.n[1], beside) ?: 1;
		step.at[1] = 1 + row * 89 % step1;
		for (; step.at[1] <= step.n[1]; step.at[1] += step1) {
			missed = nr_missed;
			one_run();
			if (nr_missed == missed)
				continue;
			/* the first one has come so far that the second goes another way */
			note_second();
			nr_missed = missed;
			if (step.at[1] <= step.n[1])
				one_run();
			if (nr_missed != missed)
				fault(F_STUCK, "%s at %ld: %s does not reach %ld of %ld",
				      op_a->name, step.at[0], op_b->name, step.at[1], step.n[1]);
		}
		if (faults[F_STUCK] > 20)
			return;
	}
}

static void run_pair(long first)
{
	static const struct place places[] = {
		{ 1, 4, PER_LONG },	/* the next write overwrites the next record to read */
		{ 1, 1, PER_LONG },	/* nothing is lost, it begins a sub-buffer */
		{ 1, 0, PER_LONG },	/* the same, and all was read */
		{ 0, 4, PER_LONG },	/* it finds room only if one is taken */
	};
	int i, k, later;

	op_a = &ops[first];
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		op_b = &ops[i];
		later = first > i;
		/* a CPU writes to its own ring only, and no two threads use one mapping so */
		if (op_a->flags & op_b->flags & (WRITES | MAPS) || (!first && !i))
			continue;
		for (k = 0; k < ARRAY_SIZE(places); k++) {
			/* two in the one order, and two in the other */
			if (!exhaustive && (k + first + i + later) % 2)
				continue;
			place = places[k];
			run_one_pair(i + k);
		}
	}
}

#define PAIR(n, name, flags, proves) { "pair." name, run_pair, n, flags, proves }

const struct scenario pair_scenarios[] = {
	PAIR(0, "write", SC_QUICK, "R1 R3 R4"),
	PAIR(1, "consume", 0, "R3 R4, 4"),
	PAIR(2, "page", 0, "R3 R4 R8"),
	PAIR(3, "iterate", 0, "R7, 8"),
	PAIR(4, "statistics", 0, "R3 R7"),
	PAIR(5, "resize", 0, "R6, 9"),
	PAIR(6, "order", 0, "R6"),
	PAIR(7, "trim", 0, "R5 R6"),
	PAIR(8, "swap", 0, "R5, 1, 3"),
	PAIR(9, "cut", SC_QUICK, "R5, 3, 7"),
	PAIR(10, "forget", 0, "7"),
	PAIR(11, "reset", 0, "7"),
	PAIR(12, "get-reader", 0, "R3 R8"),
	PAIR(13, "map", 0, "R8"),
	PAIR(14, "overwrite", 0, "R3"),
	PAIR(15, "off", 0, "R3"),
	PAIR(16, "wait-any", 0, "13"),
	PAIR(17, "wait-some", SC_QUICK, "13"),
	PAIR(18, "wait-full", 0, "13"),
	{ }
};
