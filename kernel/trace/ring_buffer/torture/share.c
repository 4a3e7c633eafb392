// SPDX-License-Identifier: GPL-2.0
/*
 * Several readers that consume together, in a buffer of their own.
 *
 * The records of a CPU have running numbers. Each reader sees them in order, and is told of each
 * gap, exactly; but for what a cut or a reset drops, which counts as no loss. Meanwhile readers end
 * and begin, and the buffer gets other sizes, is cut and is reset.
 */
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "torture.h"

#define TOR_MAX_SHARERS		8

/**
 * struct tor_share_cpu - the records of a CPU
 * @lock:    held while a reader looks at records: all use the same copies
 * @written: the next number; own CPU, with preemption off
 */
struct tor_share_cpu {
	struct mutex		lock;	/* the copies of records */
	u32			written;
};

/**
 * struct tor_sharer - a reader
 * @reader: of the ring buffer
 * @at:	    by CPU: the number behind its last record, and the drops that were over before that
 */
static struct tor_sharer {
	struct ring_buffer_reader	*reader;
	struct tor_share_at {
		u32			next;
		int			drops;
		bool			begun;
	} *at;
} tor_sharers[TOR_MAX_SHARERS];

/* The buffer, and one that takes its records in a cut; numbers of cuts and resets */
static struct trace_buffer *tor_share_live, *tor_share_spare;
static struct tor_share_cpu *tor_share_cpus;
static atomic_t tor_share_begun, tor_share_done;
static DEFINE_MUTEX(tor_share_change);

static void tor_share_write(struct rnd_state *rnd)
{
	unsigned int n = tor_random(rnd, 300), words = 1 + tor_random(rnd, 60);
	struct ring_buffer_event *event;
	struct tor_share_cpu *c;
	u32 *rec;

	guard(preempt)();
	c = &tor_share_cpus[smp_processor_id()];
	while (n--) {
		event = ring_buffer_lock_reserve(tor_share_live, words * sizeof(*rec));
		if (!event)
			continue;
		rec = ring_buffer_event_data(event);
		*rec = c->written;
		WRITE_ONCE(c->written, c->written + 1);
		ring_buffer_unlock_commit(tor_share_live);
	}
}

/* Is a gap of @count explained by cuts and resets? One may have begun before the last look. */
static bool tor_share_explained(const struct tor_share_at *at, s32 count)
{
	return !count || (count > 0 && atomic_read(&tor_share_begun) != at->drops);
}

/* Read up to @most records. The CPU's lock is held. */
static void tor_share_read(struct tor_sharer *s, int cpu, unsigned int most)
{
	struct tor_share_at *at = &s->at[cpu];
	struct ring_buffer_event *event;
	unsigned long lost;
	int done;
	s32 gap;
	u32 num;

	while (most--) {
		done = atomic_read_acquire(&tor_share_done);
		event = ring_buffer_reader_peek(s->reader, cpu, NULL, &lost);
		if (!event)
			break;
		num = *(u32 *)ring_buffer_event_data(event);
		gap = num - at->next - (u32)lost;
		if (at->begun && !tor_share_explained(at, gap))
			tor_fault(TOR_HIDDEN, "share %d: %u behind %u, told of %lu", cpu, num,
				  at->next, lost);
		at->next = num + 1;
		at->drops = done;
		at->begun = true;
		ring_buffer_reader_advance(s->reader, cpu);
		if (!(most % 256))
			cond_resched();
	}
}

static void tor_share_drop(struct rnd_state *rnd)
{
	atomic_inc_return(&tor_share_begun);
	if (tor_random(rnd, 2))
		tor_hook_cut(tor_share_live, tor_share_spare, RING_BUFFER_ALL_CPUS, NULL, NULL);
	else
		ring_buffer_reset_cpu(tor_share_live, tor_random_cpu(rnd));
	atomic_inc_return(&tor_share_done);
}

/* A reader begins with the oldest records that are not consumed, and the one before it ends. */
static void tor_share_reopen(struct tor_sharer *s)
{
	struct ring_buffer_reader *reader;
	int cpu;

	reader = ring_buffer_reader_open(tor_share_live, RING_BUFFER_ALL_CPUS);
	if (!reader)
		return;
	ring_buffer_reader_close(s->reader);
	s->reader = reader;
	for_each_possible_cpu(cpu)
		s->at[cpu].begun = false;
}

static void tor_share_turn(struct rnd_state *rnd, struct tor_sharer *s)
{
	unsigned long size = (1 + tor_random(rnd, 2 * tor_params.kbytes)) * 1024UL;
	int order = tor_random(rnd, TOR_MAX_ORDER + 1);

	guard(mutex)(&tor_share_change);
	switch (tor_random(rnd, 8)) {
	case 0:
		ring_buffer_subbuf_order_set(tor_share_live, order);
		ring_buffer_subbuf_order_set(tor_share_spare, order);
		break;
	case 1:
		ring_buffer_change_overwrite(tor_share_live, tor_random(rnd, 3));
		break;
	case 2:
		tor_share_reopen(s);
		break;
	case 3:
	case 4:
		tor_share_drop(rnd);
		break;
	default:
		ring_buffer_resize(tor_share_live, size, tor_random(rnd, 2) ?
				   tor_random_cpu(rnd) : RING_BUFFER_ALL_CPUS);
	}
}

/**
 * tor_share() - a task that is one of several readers, and a writer
 * @rnd: random state of the task
 * @nr:  its number among them
 *
 * Context: A kernel thread that holds &tor_stand for reading.
 */
void tor_share(struct rnd_state *rnd, int nr)
{
	struct tor_sharer *s = &tor_sharers[nr];
	int cpu = tor_random_cpu(rnd);

	tor_share_write(rnd);
	mutex_lock(&tor_share_cpus[cpu].lock);
	tor_share_read(s, cpu, tor_random(rnd, nr ? 400 : 100));
	mutex_unlock(&tor_share_cpus[cpu].lock);
	if (!tor_random(rnd, 8))
		tor_share_turn(rnd, s);
}

/**
 * tor_share_end() - check that each reader gets to the last record, and that nothing is left then
 *
 * Context: Task. All tasks stand still.
 */
void tor_share_end(void)
{
	struct tor_sharer *s;
	int cpu;
	s32 gap;

	for_each_possible_cpu(cpu) {
		for (s = tor_sharers; s < tor_sharers + tor_params.sharers; s++) {
			tor_share_read(s, cpu, UINT_MAX);
			/* The next record tells of what a new size of sub-buffers dropped. */
			gap = tor_share_cpus[cpu].written - s->at[cpu].next;
			if (s->at[cpu].begun && gap < 0)
				tor_fault(TOR_COUNT, "share %d: a reader ends %d behind %u",
					  cpu, -gap, tor_share_cpus[cpu].written);
			if (!ring_buffer_reader_empty(s->reader, cpu))
				tor_fault(TOR_COUNT, "share %d: something is left", cpu);
		}
		if (tor_params.sharers && ring_buffer_entries_cpu(tor_share_live, cpu))
			tor_fault(TOR_COUNT, "share %d: %lu entries, all have read all", cpu,
				  ring_buffer_entries_cpu(tor_share_live, cpu));
	}
}

/**
 * tor_share_start() - allocate the buffer, and begin to read
 *
 * Context: Task.
 * Return: 0 or -ENOMEM; tor_share_stop() has to follow.
 */
int tor_share_start(void)
{
	unsigned long size = tor_params.kbytes * 1024UL;
	struct tor_sharer *s;
	int cpu;

	tor_params.sharers = clamp(tor_params.sharers, 0, TOR_MAX_SHARERS);
	if (!tor_params.sharers)
		return 0;
	tor_share_live = ring_buffer_alloc(size, RB_FL_OVERWRITE);
	tor_share_spare = ring_buffer_alloc(size, RB_FL_OVERWRITE);
	tor_share_cpus = kcalloc(nr_cpu_ids, sizeof(*tor_share_cpus), GFP_KERNEL);
	if (!tor_share_live || !tor_share_spare || !tor_share_cpus)
		return -ENOMEM;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		mutex_init(&tor_share_cpus[cpu].lock);
	for (s = tor_sharers; s < tor_sharers + tor_params.sharers; s++) {
		s->at = kcalloc(nr_cpu_ids, sizeof(*s->at), GFP_KERNEL);
		s->reader = ring_buffer_reader_open(tor_share_live, RING_BUFFER_ALL_CPUS);
		if (!s->at || !s->reader)
			return -ENOMEM;
		/* All begin with the first record. */
		for (cpu = 0; cpu < nr_cpu_ids; cpu++)
			s->at[cpu].begun = true;
	}
	return 0;
}

/**
 * tor_share_stop() - end all readers, and free the buffer
 *
 * Context: Task.
 */
void tor_share_stop(void)
{
	struct tor_sharer *s;

	for (s = tor_sharers; s < tor_sharers + TOR_MAX_SHARERS; s++) {
		ring_buffer_reader_close(s->reader);
		kfree(s->at);
		s->reader = NULL;
		s->at = NULL;
	}
	if (tor_share_live)
		ring_buffer_free(tor_share_live);
	if (tor_share_spare)
		ring_buffer_free(tor_share_spare);
	kfree(tor_share_cpus);
}
