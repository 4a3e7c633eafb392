// SPDX-License-Identifier: GPL-2.0
/*
 * Readers: record by record, whole pages, without consuming, and those that wait.
 */
#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "torture.h"

/* In the commit field of a page that was read. */
#define RBT_PAGE_HDR		(sizeof(u64) + sizeof(long))
#define RBT_MISSED		BIT(31)
#define RBT_MISSED_STORED	BIT(30)
#define RBT_COMMIT		(RBT_MISSED_STORED - 1)

/**
 * rbt_random_buffer() - choose a buffer
 * @rnd: the source
 *
 * Context: Any context.
 * Return: its index, mostly that of the buffer that is written.
 */
int rbt_random_buffer(struct rnd_state *rnd)
{
	return !rbt_random(rnd, 4);
}

/* The values cannot be checked while other tasks are at work. */
static void rbt_look(struct trace_buffer *rb, int cpu)
{
	ring_buffer_entries_cpu(rb, cpu);
	ring_buffer_bytes_cpu(rb, cpu);
	ring_buffer_overrun_cpu(rb, cpu);
	ring_buffer_oldest_event_ts(rb, cpu);
	ring_buffer_empty_cpu(rb, cpu);
	ring_buffer_size(rb, cpu);
}

static void rbt_consume_begin(int buffer, int cpu)
{
	mutex_lock(&rbt_cpus[cpu]->consume[buffer]);
	down_read(&rbt_buffers[buffer].ctl);
}

static void rbt_consume_end(int buffer, int cpu)
{
	up_read(&rbt_buffers[buffer].ctl);
	mutex_unlock(&rbt_cpus[cpu]->consume[buffer]);
}

/* Consume up to @most records; return how many there were. */
static unsigned int rbt_consume(int buffer, int cpu, unsigned int most, const char *how)
{
	struct trace_buffer *rb = rbt_buffers[buffer].rb;
	struct ring_buffer_event *event;
	unsigned long lost;
	struct rbt_from from;
	unsigned int n;
	u64 ts;

	for (n = 0; n < most; n++) {
		from = rbt_from(how, buffer, cpu);
		event = ring_buffer_consume(rb, cpu, &ts, &lost);
		if (!event)
			break;
		rbt_account(&from, ring_buffer_event_data(event), ring_buffer_event_length(event),
			    ts, lost);
		if (!(n % 256))
			cond_resched();
	}
	return n;
}

static void rbt_peek(int buffer, int cpu)
{
	struct rbt_from from = rbt_from("peek", buffer, cpu);
	struct ring_buffer_event *event;
	u64 ts;

	event = ring_buffer_peek(rbt_buffers[buffer].rb, cpu, &ts, NULL);
	if (event)
		rbt_valid(&from, ring_buffer_event_data(event), ring_buffer_event_length(event),
			  ts);
}

/**
 * rbt_consumer() - a task that consumes record by record
 * @rnd: random state of the task
 * @nr:  not used
 *
 * Context: A kernel thread that holds &rbt_stand for reading.
 */
void rbt_consumer(struct rnd_state *rnd, int nr)
{
	int buffer = rbt_random_buffer(rnd), cpu = rbt_random(rnd, nr_cpu_ids);

	rbt_consume_begin(buffer, cpu);
	if (!rbt_random(rnd, 4))
		rbt_peek(buffer, cpu);
	rbt_consume(buffer, cpu, rbt_random(rnd, 400), "consume");
	rbt_consume_end(buffer, cpu);
	if (!rbt_random(rnd, 4))
		rbt_look(rbt_buffers[buffer].rb, cpu);
}

/* Account for a page that was read; return the number of its records. */
static unsigned int rbt_page(const struct rbt_from *from, const void *page, unsigned int size,
			     unsigned int start)
{
	unsigned long commit = ((const unsigned long *)page)[1], lost = 0;
	unsigned int used = commit & RBT_COMMIT, room = size - RBT_PAGE_HDR;
	const u8 *data = page + RBT_PAGE_HDR, *rest;

	if (used > room || start > used) {
		rbt_fault(RBT_PAGE, "%s %d/%d: %u to %u of %u bytes are used", from->how,
			  from->buffer, from->cpu, start, used, room);
		return 0;
	}
	rest = data + used;
	if (commit & RBT_MISSED_STORED && room - used >= sizeof(lost)) {
		memcpy(&lost, rest, sizeof(lost));
		rest += sizeof(lost);
	}
	if (!(commit & RBT_MISSED) != !lost) {
		if (!lost && room - used < sizeof(lost))
			atomic_inc(&rbt_cpus[from->cpu]->some);
		else
			rbt_fault(RBT_PAGE, "%s %d/%d: flags %#lx, %lu lost, %u of %u used",
				  from->how, from->buffer, from->cpu, commit, lost, used, room);
	}
	if (memchr_inv(rest, 0, data + room - rest))
		rbt_fault(RBT_PAGE, "%s %d/%d: something is left behind %u of %u bytes", from->how,
			  from->buffer, from->cpu, used, room);
	return rbt_account_page(from, page, start, used, lost);
}

/* Read up to @most pages; return the records in them. */
static unsigned int rbt_read_pages(struct rnd_state *rnd, int buffer, int cpu, unsigned int most,
				   bool all, const char *how)
{
	struct trace_buffer *rb = rbt_buffers[buffer].rb;
	struct buffer_data_read_page *rpage = NULL;
	unsigned int size, len, records = 0;
	struct rbt_from from;
	int start;

	while (most--) {
		/* Exchanges the page if the sub-buffers have got another size. */
		if (ring_buffer_alloc_read_page(rb, cpu, &rpage))
			return records;
		size = ring_buffer_read_page_size(rpage);
		len = size;
		if (!all && !rbt_random(rnd, 4))
			len = RBT_PAGE_HDR + rbt_random(rnd, size);

		from = rbt_from(how, buffer, cpu);
		start = ring_buffer_read_page(rb, rpage, len, cpu, !all && rbt_random(rnd, 2));
		if (start < 0)
			break;
		records += rbt_page(&from, ring_buffer_read_page_data(rpage), size, start);
		cond_resched();
	}
	ring_buffer_free_read_page(rb, cpu, rpage);
	return records;
}

/**
 * rbt_pager() - a task that reads whole pages
 * @rnd: random state of the task
 * @nr:  not used
 *
 * Context: A kernel thread that holds &rbt_stand for reading.
 */
void rbt_pager(struct rnd_state *rnd, int nr)
{
	int buffer = rbt_random_buffer(rnd), cpu = rbt_random(rnd, nr_cpu_ids);

	rbt_consume_begin(buffer, cpu);
	rbt_read_pages(rnd, buffer, cpu, rbt_random(rnd, 8), false, "page");
	rbt_consume_end(buffer, cpu);
}

/* Last number that an iterator has seen, plus 1; 0 if the next one may be any. */
struct rbt_walk {
	u32	next[RBT_CONTEXTS];
	u64	ts;
};

/* Walk over up to @most records; return how many there were. */
static unsigned int rbt_iterate(int buffer, int cpu, unsigned int most, bool alone,
				const char *how)
{
	struct rbt_cpu *c = rbt_cpus[cpu];
	int drops = atomic_read_acquire(&c->drops);
	const struct rbt_record *rec;
	struct ring_buffer_event *event;
	struct ring_buffer_iter *iter;
	struct rbt_walk walk = { };
	struct rbt_from from;
	unsigned int n = 0;
	u64 ts;

	from = rbt_from(how, buffer, cpu);
	iter = ring_buffer_read_start(rbt_buffers[buffer].rb, cpu, GFP_KERNEL);
	rbt_did(RBT_DID_ITERATE, iter ? 0 : -ENODEV);
	while (iter && n < most) {
		event = ring_buffer_iter_peek(iter, &ts);
		if (!event)
			break;
		rec = rbt_valid(&from, ring_buffer_event_data(event),
				ring_buffer_event_length(event), ts);
		if (!rec)
			break;

		if (ring_buffer_iter_dropped(iter))
			memset(walk.next, 0, sizeof(walk.next));
		if (ts < walk.ts)
			rbt_fault(RBT_TIME, "%s %d/%d: %s %u at %llu after one at %llu", how,
				  buffer, cpu, rbt_contexts[rec->context], rec->number, ts,
				  walk.ts);
		if (rec->number < walk.next[rec->context])
			rbt_fault(RBT_ORDERED, "%s %d/%d: %s %u after %u", how, buffer, cpu,
				  rbt_contexts[rec->context], rec->number,
				  walk.next[rec->context] - 1);
		/* Without a consumer a gap is a loss, which the iterator reports. */
		if (alone && walk.next[rec->context] && rec->number > walk.next[rec->context] &&
		    !rbt_changes(RBT_SWAP) && !rbt_changes(RBT_BOTH) &&
		    !atomic_read_acquire(&c->dropping) && drops == atomic_read(&c->drops))
			rbt_fault(RBT_HIDDEN, "%s %d/%d: %s %u after %u", how, buffer, cpu,
				  rbt_contexts[rec->context], rec->number,
				  walk.next[rec->context] - 1);
		walk.next[rec->context] = rec->number + 1;
		walk.ts = ts;
		ring_buffer_iter_advance(iter);
		n++;
		if (!(n % 256))
			cond_resched();
	}
	if (iter)
		ring_buffer_read_finish(iter);
	return n;
}

/**
 * rbt_iterator() - a task that reads without consuming
 * @rnd: random state of the task
 * @nr:  not used
 *
 * Context: A kernel thread that holds &rbt_stand for reading.
 */
void rbt_iterator(struct rnd_state *rnd, int nr)
{
	int buffer = rbt_random_buffer(rnd), cpu = rbt_random(rnd, nr_cpu_ids);
	bool alone = rbt_random(rnd, 2);

	if (alone)
		mutex_lock(&rbt_cpus[cpu]->consume[buffer]);
	rbt_iterate(buffer, cpu, rbt_random(rnd, 2000), alone, "iterate");
	if (alone)
		mutex_unlock(&rbt_cpus[cpu]->consume[buffer]);
}

/* A task that waits for records, and its condition. */
static struct rbt_waiter {
	bool			waiting;
	int			buffer;
	int			cpu;
	unsigned int		percent;
} rbt_waiters[RBT_MAX_WAITERS];

static bool rbt_wait_over(void *unused)
{
	return READ_ONCE(rbt_round.over);
}

/**
 * rbt_waiter() - a task that waits until there is something to read
 * @rnd: random state of the task
 * @nr:  its number among the waiters
 *
 * Context: A kernel thread.
 */
void rbt_waiter(struct rnd_state *rnd, int nr)
{
	struct rbt_waiter *w = &rbt_waiters[nr];
	int ret;

	down_read(&rbt_stand);
	w->buffer = rbt_random_buffer(rnd);
	w->cpu = rbt_random(rnd, 4) ? rbt_random_cpu(rnd) : RING_BUFFER_ALL_CPUS;
	w->percent = w->cpu >= 0 && rbt_random(rnd, 2) ? rbt_random(rnd, 101) : 0;
	WRITE_ONCE(w->waiting, true);
	up_read(&rbt_stand);

	ret = ring_buffer_wait(rbt_buffers[w->buffer].rb, w->cpu, w->percent, rbt_wait_over, NULL);
	rbt_did(RBT_DID_WAIT, ret);
	if (ret)
		rbt_fault(RBT_REFUSED, "wait for %d/%d: %d", w->buffer, w->cpu, ret);
	while (rbt_bust(RBT_OVERSLEEP) && !READ_ONCE(rbt_round.over))
		schedule_timeout_uninterruptible(1);
	WRITE_ONCE(w->waiting, false);
}

/* Is the condition of @w true, due to a writer, which has to wake @w? */
static bool rbt_must_wake(const struct rbt_waiter *w)
{
	struct trace_buffer *rb = rbt_buffers[w->buffer].rb;
	bool spare = w->buffer == 1 && (rbt_changes(RBT_CUT) || rbt_changes(RBT_TRIM));

	/* A swap, a cut or a smaller ring may have made it true instead. */
	if (rbt_changes(RBT_SWAP) || spare ||
	    (w->percent && (rbt_changes(RBT_RESIZE) || rbt_changes(RBT_ORDER))))
		return false;
	return w->cpu >= 0 ? rbt_hook_filled(rb, w->cpu, w->percent) : !ring_buffer_empty(rb);
}

/*
 * Wait for a wake-up that is on its way. The limit only keeps the test from hanging. It counts
 * turns of this task, not time: while the machine stands still, there are none.
 */
static void rbt_awake(const struct rbt_waiter *w, const char *what)
{
	unsigned int turns = 0;

	while (READ_ONCE(w->waiting)) {
		if (++turns > 30 * HZ) {
			rbt_fault(RBT_ASLEEP, "a waiter for %u%% of %d/%d was not woken by %s",
				  w->percent, w->buffer, w->cpu, what);
			return;
		}
		schedule_timeout_uninterruptible(1);
	}
}

/**
 * rbt_wake_all() - check that writers have woken their waiters, then wake the others
 *
 * Context: Task. All other tasks stand still.
 */
void rbt_wake_all(void)
{
	struct rbt_waiter *w;
	int b;

	for (w = rbt_waiters; w < rbt_waiters + rbt_params.waiters; w++) {
		if (READ_ONCE(w->waiting) && rbt_must_wake(w))
			rbt_awake(w, "writers");
	}
	WRITE_ONCE(rbt_round.over, true);
	for (b = 0; b < RBT_BUFFERS; b++)
		ring_buffer_wake_waiters(rbt_buffers[b].rb, RING_BUFFER_ALL_CPUS);
	for (w = rbt_waiters; w < rbt_waiters + rbt_params.waiters; w++)
		rbt_awake(w, "request");
}

/**
 * rbt_last_look() - check that a ring holds the number of records that it reports
 * @buffer: index of the buffer
 * @cpu:    CPU of the ring
 *
 * Context: Task. No task writes to the ring or reads it.
 * Return: number of records.
 */
unsigned int rbt_last_look(int buffer, int cpu)
{
	unsigned int entries = ring_buffer_entries_cpu(rbt_buffers[buffer].rb, cpu), n;

	/* If a task does so all the same, give it the time. */
	usleep_range(500, 3000);
	n = rbt_iterate(buffer, cpu, UINT_MAX, true, "last look");
	if (n != entries)
		rbt_fault(RBT_COUNT, "%d/%d: %u entries, an iterator found %u", buffer, cpu,
			  entries, n);
	return entries;
}

/**
 * rbt_drain() - read the rest
 * @rnd:    chooses the way
 * @buffer: index of the buffer
 * @cpu:    CPU of the ring
 *
 * Context: Task. All tasks stand still.
 */
void rbt_drain(struct rnd_state *rnd, int buffer, int cpu)
{
	struct trace_buffer *rb = rbt_buffers[buffer].rb;
	unsigned int entries = rbt_last_look(buffer, cpu), n;

	n = rbt_random(rnd, 2) ? rbt_consume(buffer, cpu, UINT_MAX, "drain") :
				 rbt_read_pages(rnd, buffer, cpu, UINT_MAX, true, "drain pages");
	if (n != entries)
		rbt_fault(RBT_COUNT, "%d/%d: %u entries, %u could be read", buffer, cpu, entries,
			  n);
	entries = ring_buffer_entries_cpu(rb, cpu);
	if (entries || !ring_buffer_empty_cpu(rb, cpu) || ring_buffer_bytes_cpu(rb, cpu))
		rbt_fault(RBT_COUNT, "%d/%d: all was read, but %u entries and %lu bytes are left",
			  buffer, cpu, entries, ring_buffer_bytes_cpu(rb, cpu));
}
