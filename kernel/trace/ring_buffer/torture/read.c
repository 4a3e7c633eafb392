// SPDX-License-Identifier: GPL-2.0
/*
 * Readers: record by record, whole pages, without consuming, and those that wait.
 */
#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "torture.h"

/* In the commit field of a page that was read. */
#define TOR_PAGE_HDR		(sizeof(u64) + sizeof(long))
#define TOR_MISSED		BIT(31)
#define TOR_MISSED_STORED	BIT(30)
#define TOR_COMMIT		(TOR_MISSED_STORED - 1)

/**
 * tor_random_buffer() - choose a buffer
 * @rnd: the source
 *
 * Context: Any context.
 * Return: its index, mostly that of the buffer that is written.
 */
int tor_random_buffer(struct rnd_state *rnd)
{
	return !tor_random(rnd, 4);
}

/* The values cannot be checked while other tasks are at work. */
static void tor_look(struct trace_buffer *rb, int cpu)
{
	ring_buffer_entries_cpu(rb, cpu);
	ring_buffer_bytes_cpu(rb, cpu);
	ring_buffer_overrun_cpu(rb, cpu);
	ring_buffer_oldest_event_ts(rb, cpu);
	ring_buffer_empty_cpu(rb, cpu);
	ring_buffer_size(rb, cpu);
}

static void tor_consume_begin(int buffer, int cpu)
{
	mutex_lock(&tor_cpus[cpu]->consume[buffer]);
	down_read(&tor_buffers[buffer].ctl);
}

static void tor_consume_end(int buffer, int cpu)
{
	up_read(&tor_buffers[buffer].ctl);
	mutex_unlock(&tor_cpus[cpu]->consume[buffer]);
}

/* Consume up to @most records; return how many there were. */
static unsigned int tor_consume(int buffer, int cpu, unsigned int most, const char *how)
{
	struct trace_buffer *rb = tor_buffers[buffer].rb;
	struct ring_buffer_event *event;
	unsigned long lost;
	struct tor_from from;
	unsigned int n;
	u64 ts;

	for (n = 0; n < most; n++) {
		from = tor_from(how, buffer, cpu);
		event = ring_buffer_consume(rb, cpu, &ts, &lost);
		if (!event)
			break;
		tor_account(&from, ring_buffer_event_data(event), ring_buffer_event_length(event),
			    ts, lost);
		if (!(n % 256))
			cond_resched();
	}
	return n;
}

static void tor_peek(int buffer, int cpu)
{
	struct tor_from from = tor_from("peek", buffer, cpu);
	struct ring_buffer_event *event;
	u64 ts;

	event = ring_buffer_peek(tor_buffers[buffer].rb, cpu, &ts, NULL);
	if (event)
		tor_valid(&from, ring_buffer_event_data(event), ring_buffer_event_length(event),
			  ts);
}

/**
 * tor_consumer() - a task that consumes record by record
 * @rnd: random state of the task
 * @nr:  not used
 *
 * Context: A kernel thread that holds &tor_stand for reading.
 */
void tor_consumer(struct rnd_state *rnd, int nr)
{
	int buffer = tor_random_buffer(rnd), cpu = tor_random(rnd, nr_cpu_ids);

	tor_consume_begin(buffer, cpu);
	if (!tor_random(rnd, 4))
		tor_peek(buffer, cpu);
	tor_consume(buffer, cpu, tor_random(rnd, 400), "consume");
	tor_consume_end(buffer, cpu);
	if (!tor_random(rnd, 4))
		tor_look(tor_buffers[buffer].rb, cpu);
}

/* Account for a page that was read; return the number of its records. */
static unsigned int tor_page(const struct tor_from *from, const void *page, unsigned int size,
			     unsigned int start)
{
	unsigned long commit = ((const unsigned long *)page)[1], lost = 0;
	unsigned int used = commit & TOR_COMMIT, room = size - TOR_PAGE_HDR;
	const u8 *data = page + TOR_PAGE_HDR, *rest;

	if (used > room || start > used) {
		tor_fault(TOR_PAGE, "%s %d/%d: %u to %u of %u bytes are used", from->how,
			  from->buffer, from->cpu, start, used, room);
		return 0;
	}
	rest = data + used;
	if (commit & TOR_MISSED_STORED && room - used >= sizeof(lost)) {
		memcpy(&lost, rest, sizeof(lost));
		rest += sizeof(lost);
	}
	if (!(commit & TOR_MISSED) != !lost) {
		if (!lost && room - used < sizeof(lost))
			atomic_inc(&tor_cpus[from->cpu]->some);
		else
			tor_fault(TOR_PAGE, "%s %d/%d: flags %#lx, %lu lost, %u of %u used",
				  from->how, from->buffer, from->cpu, commit, lost, used, room);
	}
	if (memchr_inv(rest, 0, data + room - rest))
		tor_fault(TOR_PAGE, "%s %d/%d: something is left behind %u of %u bytes", from->how,
			  from->buffer, from->cpu, used, room);
	return tor_account_page(from, page, start, used, lost);
}

/* Read up to @most pages; return the records in them. */
static unsigned int tor_read_pages(struct rnd_state *rnd, int buffer, int cpu, unsigned int most,
				   bool all, const char *how)
{
	struct trace_buffer *rb = tor_buffers[buffer].rb;
	struct buffer_data_read_page *rpage = NULL;
	unsigned int size, len, records = 0;
	struct tor_from from;
	int start;

	while (most--) {
		/* Exchanges the page if the sub-buffers have got another size. */
		if (ring_buffer_alloc_read_page(rb, cpu, &rpage))
			return records;
		size = ring_buffer_read_page_size(rpage);
		len = size;
		if (!all && !tor_random(rnd, 4))
			len = TOR_PAGE_HDR + tor_random(rnd, size);

		from = tor_from(how, buffer, cpu);
		start = ring_buffer_read_page(rb, rpage, len, cpu, !all && tor_random(rnd, 2));
		if (start < 0)
			break;
		records += tor_page(&from, ring_buffer_read_page_data(rpage), size, start);
		cond_resched();
	}
	ring_buffer_free_read_page(rb, cpu, rpage);
	return records;
}

/**
 * tor_pager() - a task that reads whole pages
 * @rnd: random state of the task
 * @nr:  not used
 *
 * Context: A kernel thread that holds &tor_stand for reading.
 */
void tor_pager(struct rnd_state *rnd, int nr)
{
	int buffer = tor_random_buffer(rnd), cpu = tor_random(rnd, nr_cpu_ids);

	tor_consume_begin(buffer, cpu);
	tor_read_pages(rnd, buffer, cpu, tor_random(rnd, 8), false, "page");
	tor_consume_end(buffer, cpu);
}

/* Last number that an iterator has seen, plus 1; 0 if the next one may be any. */
struct tor_walk {
	u32	next[TOR_CONTEXTS];
	u64	ts;
};

/* Walk over up to @most records; return how many there were. */
static unsigned int tor_iterate(int buffer, int cpu, unsigned int most, bool alone,
				const char *how)
{
	struct tor_cpu *c = tor_cpus[cpu];
	int drops = atomic_read_acquire(&c->drops);
	const struct tor_record *rec;
	struct ring_buffer_event *event;
	struct ring_buffer_iter *iter;
	struct tor_walk walk = { };
	struct tor_from from;
	unsigned int n = 0;
	u64 ts;

	from = tor_from(how, buffer, cpu);
	iter = ring_buffer_read_start(tor_buffers[buffer].rb, cpu, GFP_KERNEL);
	tor_did(TOR_DID_ITERATE, iter ? 0 : -ENODEV);
	while (iter && n < most) {
		event = ring_buffer_iter_peek(iter, &ts);
		if (!event)
			break;
		rec = tor_valid(&from, ring_buffer_event_data(event),
				ring_buffer_event_length(event), ts);
		if (!rec)
			break;

		if (ring_buffer_iter_dropped(iter))
			memset(walk.next, 0, sizeof(walk.next));
		if (ts < walk.ts)
			tor_fault(TOR_TIME, "%s %d/%d: %s %u at %llu after one at %llu", how,
				  buffer, cpu, tor_contexts[rec->context], rec->number, ts,
				  walk.ts);
		if (rec->number < walk.next[rec->context])
			tor_fault(TOR_ORDERED, "%s %d/%d: %s %u after %u", how, buffer, cpu,
				  tor_contexts[rec->context], rec->number,
				  walk.next[rec->context] - 1);
		/* Without a consumer a gap is a loss, which the iterator reports. */
		if (alone && walk.next[rec->context] && rec->number > walk.next[rec->context] &&
		    !tor_changes(TOR_SWAP) && !tor_changes(TOR_BOTH) &&
		    !atomic_read_acquire(&c->dropping) && drops == atomic_read(&c->drops))
			tor_fault(TOR_HIDDEN, "%s %d/%d: %s %u after %u", how, buffer, cpu,
				  tor_contexts[rec->context], rec->number,
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
 * tor_iterator() - a task that reads without consuming
 * @rnd: random state of the task
 * @nr:  not used
 *
 * Context: A kernel thread that holds &tor_stand for reading.
 */
void tor_iterator(struct rnd_state *rnd, int nr)
{
	int buffer = tor_random_buffer(rnd), cpu = tor_random(rnd, nr_cpu_ids);
	bool alone = tor_random(rnd, 2);

	if (alone)
		mutex_lock(&tor_cpus[cpu]->consume[buffer]);
	tor_iterate(buffer, cpu, tor_random(rnd, 2000), alone, "iterate");
	if (alone)
		mutex_unlock(&tor_cpus[cpu]->consume[buffer]);
}

/* A task that waits for records, and its condition. */
static struct tor_waiter {
	bool			waiting;
	int			buffer;
	int			cpu;
	unsigned int		percent;
} tor_waiters[TOR_MAX_WAITERS];

static bool tor_wait_over(void *unused)
{
	return READ_ONCE(tor_round.over);
}

/**
 * tor_waiter() - a task that waits until there is something to read
 * @rnd: random state of the task
 * @nr:  its number among the waiters
 *
 * Context: A kernel thread.
 */
void tor_waiter(struct rnd_state *rnd, int nr)
{
	struct tor_waiter *w = &tor_waiters[nr];
	int ret;

	down_read(&tor_stand);
	w->buffer = tor_random_buffer(rnd);
	w->cpu = tor_random(rnd, 4) ? tor_random_cpu(rnd) : RING_BUFFER_ALL_CPUS;
	w->percent = w->cpu >= 0 && tor_random(rnd, 2) ? tor_random(rnd, 101) : 0;
	WRITE_ONCE(w->waiting, true);
	up_read(&tor_stand);

	ret = ring_buffer_wait(tor_buffers[w->buffer].rb, w->cpu, w->percent, tor_wait_over, NULL);
	tor_did(TOR_DID_WAIT, ret);
	if (ret)
		tor_fault(TOR_REFUSED, "wait for %d/%d: %d", w->buffer, w->cpu, ret);
	while (tor_bust(TOR_OVERSLEEP) && !READ_ONCE(tor_round.over))
		schedule_timeout_uninterruptible(1);
	WRITE_ONCE(w->waiting, false);
}

/* Is the condition of @w true, due to a writer, which has to wake @w? */
static bool tor_must_wake(const struct tor_waiter *w)
{
	struct trace_buffer *rb = tor_buffers[w->buffer].rb;
	bool spare = w->buffer == 1 && (tor_changes(TOR_CUT) || tor_changes(TOR_TRIM));

	/* A swap, a cut or a smaller ring may have made it true instead. */
	if (tor_changes(TOR_SWAP) || spare ||
	    (w->percent && (tor_changes(TOR_RESIZE) || tor_changes(TOR_ORDER))))
		return false;
	return w->cpu >= 0 ? tor_hook_filled(rb, w->cpu, w->percent) : !ring_buffer_empty(rb);
}

/*
 * Wait for a wake-up that is on its way. The limit only keeps the test from hanging. It counts
 * turns of this task, not time: while the machine stands still, there are none.
 */
static void tor_awake(const struct tor_waiter *w, const char *what)
{
	unsigned int turns = 0;

	while (READ_ONCE(w->waiting)) {
		if (++turns > 30 * HZ) {
			tor_fault(TOR_ASLEEP, "a waiter for %u%% of %d/%d was not woken by %s",
				  w->percent, w->buffer, w->cpu, what);
			return;
		}
		schedule_timeout_uninterruptible(1);
	}
}

/**
 * tor_wake_all() - check that writers have woken their waiters, then wake the others
 *
 * Context: Task. All other tasks stand still.
 */
void tor_wake_all(void)
{
	struct tor_waiter *w;
	int b;

	for (w = tor_waiters; w < tor_waiters + tor_params.waiters; w++) {
		if (READ_ONCE(w->waiting) && tor_must_wake(w))
			tor_awake(w, "writers");
	}
	WRITE_ONCE(tor_round.over, true);
	for (b = 0; b < TOR_BUFFERS; b++)
		ring_buffer_wake_waiters(tor_buffers[b].rb, RING_BUFFER_ALL_CPUS);
	for (w = tor_waiters; w < tor_waiters + tor_params.waiters; w++)
		tor_awake(w, "request");
}

/**
 * tor_last_look() - check that a ring holds the number of records that it reports
 * @buffer: index of the buffer
 * @cpu:    CPU of the ring
 *
 * Context: Task. No task writes to the ring or reads it.
 * Return: number of records.
 */
unsigned int tor_last_look(int buffer, int cpu)
{
	unsigned int entries = ring_buffer_entries_cpu(tor_buffers[buffer].rb, cpu), n;

	/* If a task does so all the same, give it the time. */
	usleep_range(500, 3000);
	n = tor_iterate(buffer, cpu, UINT_MAX, true, "last look");
	if (n != entries)
		tor_fault(TOR_COUNT, "%d/%d: %u entries, an iterator found %u", buffer, cpu,
			  entries, n);
	return entries;
}

/**
 * tor_drain() - read the rest
 * @rnd:    chooses the way
 * @buffer: index of the buffer
 * @cpu:    CPU of the ring
 *
 * Context: Task. All tasks stand still.
 */
void tor_drain(struct rnd_state *rnd, int buffer, int cpu)
{
	struct trace_buffer *rb = tor_buffers[buffer].rb;
	unsigned int entries = tor_last_look(buffer, cpu), n;

	n = tor_random(rnd, 2) ? tor_consume(buffer, cpu, UINT_MAX, "drain") :
				 tor_read_pages(rnd, buffer, cpu, UINT_MAX, true, "drain pages");
	if (n != entries)
		tor_fault(TOR_COUNT, "%d/%d: %u entries, %u could be read", buffer, cpu, entries,
			  n);
	entries = ring_buffer_entries_cpu(rb, cpu);
	if (entries || !ring_buffer_empty_cpu(rb, cpu) || ring_buffer_bytes_cpu(rb, cpu))
		tor_fault(TOR_COUNT, "%d/%d: all was read, but %u entries and %lu bytes are left",
			  buffer, cpu, entries, ring_buffer_bytes_cpu(rb, cpu));
}
