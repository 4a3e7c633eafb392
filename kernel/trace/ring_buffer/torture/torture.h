/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of the torture test.
 *
 * Two buffers of the same shape, 0 is written most and 1 is the other side of
 * the swaps. The test runs in rounds: writers, readers and changers go on until
 * the round is over, then all of them stand still, the test reads the rest, and
 * every written record must have been read, be counted as overwritten by the ring,
 * or be counted by the cut, forget or reset that dropped it. That operation counts
 * the records of the ring at a moment at which no task writes to it or reads it.
 */
#ifndef _RING_BUFFER_TORTURE_H
#define _RING_BUFFER_TORTURE_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/ring_buffer.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>

#define RBT_NAME	"ring_buffer-torture: "
#define RBT_BUFFERS	2
#define RBT_MAX_ORDER	3
#define RBT_MAX_WAITERS	16

/* Where a record is written from. */
enum rbt_context { RBT_TASK, RBT_SOFTIRQ, RBT_HARDIRQ, RBT_NMI, RBT_CONTEXTS };

/* Changes besides writing and reading; a round has some of them. */
enum rbt_change {
	RBT_RESIZE,	/* of one CPU or all */
	RBT_ORDER,	/* the size of sub-buffers */
	RBT_OVERWRITE,	/* the overwrite mode */
	RBT_SWAP,	/* of a CPU's rings, in any context */
	RBT_CUT,	/* buffer 1 takes the records of buffer 0, and drops its own */
	RBT_FORGET,	/* buffer 1 drops its records */
	RBT_TRIM,	/* buffer 1 frees unused sub-buffers */
	RBT_RESET,	/* at any moment */
	RBT_TOGGLE,	/* recording on and off */
	RBT_BOTH,	/* some records go to buffer 1 */
	RBT_EXPAND,	/* buffer 1 has no rings at first */
	RBT_HOTPLUG,	/* CPUs come and go */
	RBT_CHANGES
};

/* Kinds of faults. */
enum rbt_fault {
	RBT_DAMAGE,	/* a record differs from the written one */
	RBT_TWICE,	/* it was read before */
	RBT_STALE,	/* it is of an earlier round, or was never written */
	RBT_ORDERED,	/* it came before an older one of its context */
	RBT_TIME,	/* it has not its time, or time goes back */
	RBT_HIDDEN,	/* records are missing that no reader reported */
	RBT_COUNT,	/* a counter, or the sum, is wrong */
	RBT_PAGE,	/* a page does not have the format */
	RBT_REFUSED,	/* an operation returned an invalid error */
	RBT_ASLEEP,	/* a waiter was not woken */
	RBT_FAULTS
};

/* Operations that the statistics count. */
enum rbt_op {
	RBT_DID_RESIZE, RBT_DID_ORDER, RBT_DID_SWAP, RBT_DID_CUT, RBT_DID_FORGET, RBT_DID_TRIM,
	RBT_DID_RESET, RBT_DID_TOGGLE, RBT_DID_EXPAND, RBT_DID_ITERATE, RBT_DID_WAIT, RBT_DID_MAP,
	RBT_DID_PLUG, RBT_OPS
};

/* Operations that drop unread records. */
enum rbt_drop { RBT_BY_CUT, RBT_BY_RESET, RBT_DROPS };

/* Faults on purpose, one time in &rbt_params.busted_every. */
enum rbt_busted {
	RBT_SOUND, RBT_LOSE, RBT_REPEAT, RBT_BEND, RBT_SHUFFLE, RBT_SHIFT, RBT_MISCOUNT,
	RBT_SHORT_CUT, RBT_SHORT_RESET,	/* it drops a record that it does not count */
	RBT_OVERSLEEP,	/* a waiter sleeps on */
	RBT_RACE,	/* a data race: KCSAN has to report it, the verdict is SUCCESS */
};

/* Parameters, see main.c. */
struct rbt_params {
	int	duration, round_ms, stat_interval;
	int	writers, consumers, pagers, iterators, waiters, mappers, changers;
	bool	change[RBT_CHANGES];
	int	kbytes, records;
	uint	seed;
	char	*busted;
	int	busted_every;
};

/* The numbers that a context of a CPU gave to its records, and how many were refused. */
struct rbt_writer {
	struct rnd_state	rnd;
	u32			next;
	unsigned long		refused;
};

/**
 * struct rbt_counts - content of a ring, and its counters since it was emptied
 * @entries: records that can be read
 * @read:    records that were read
 * @overrun: records that were overwritten
 * @untold:  overwritten records that no reader reported
 * @refused: records without room
 */
struct rbt_counts {
	u64			entries, read, overrun, untold, refused;
};

/**
 * struct rbt_stream - last records that were read of a ring
 * @ts:     time of a record
 * @number: the record's number plus 1, by context
 */
struct rbt_stream {
	u64			ts;
	u32			number[RBT_CONTEXTS];
};

/**
 * struct rbt_read - a record that was read
 * @context: where it was written from
 * @number:  its number there
 * @ts:      its time
 * @lost:    records that were lost in front of it
 */
struct rbt_read {
	enum rbt_context	context;
	u32			number;
	u64			ts;
	unsigned long		lost;
};

/**
 * struct rbt_cpu - state of a CPU's records in this round
 * @writer:     writers by context; own CPU only
 * @seen:       bit by number: the record was read
 * @read:       records that were read
 * @some:       losses that were reported without a number, for want of room
 * @begun:      swaps and cuts that have begun
 * @done:       swaps that are over
 * @flips:      swaps and cuts that exchanged rings
 * @drops:      cuts, resets and the like that are over: readers do not report dropped records
 * @dropping:   cuts, resets and the like in progress
 * @toggled:    recording was off for a while: records were refused that no ring counted
 * @dropped:    records that were dropped unread, as each &enum rbt_drop has counted them
 * @spare:      records that buffer 1 holds; its &rbt_buffer.ctl is held for writing
 * @gone:       the other counters of dropped rings
 * @consume:    held by the task that consumes, by buffer
 * @lock:       for the fields below
 * @stream:     last records, by ring
 * @missing:    numbers that were passed over
 * @lost:       lost records that readers reported
 * @held:       a record that a broken reader keeps back
 * @nmi_asked:  an NMI is pending
 * @hard:       writes from hard interrupts
 * @soft:       writes from soft interrupts
 */
struct rbt_cpu {
	struct rbt_writer	writer[RBT_CONTEXTS];
	unsigned long		*seen[RBT_CONTEXTS];
	atomic64_t		read;
	atomic_t		some;
	atomic_t		begun, done, flips;
	atomic_t		drops, dropping;
	bool			toggled;
	atomic64_t		dropped[RBT_DROPS];
	unsigned int		spare;
	struct {
		atomic64_t	read, overrun, untold, refused;
	} gone;
	struct mutex		consume[RBT_BUFFERS];	/* one reader at a time, as callers must */

	spinlock_t		lock;		/* the streams */
	struct rbt_stream	stream[RBT_BUFFERS];
	u64			missing;
	u64			lost;

	struct rbt_read		held;

	atomic_t		nmi_asked;
	struct hrtimer		hard;
	struct hrtimer		soft;
};

/**
 * struct rbt_buffer - one of the two
 * @rb:        the buffer
 * @ctl:       read: to consume, to map, or to put other rings in place; write: to keep
 *             all from that. Iterators, writers and swaps do not care. A cut of buffer 0
 *             holds that of buffer 1 for writing. That of buffer 0 is the outer one
 * @reset:     held by a reset beside others, and by a reader of a mapping: see rbt_map_read()
 */
struct rbt_buffer {
	struct trace_buffer	*rb;
	struct rw_semaphore	ctl;
	struct mutex		reset;		/* resets beside others */
};

/**
 * struct rbt_round - properties of the round; changed while all tasks stand still
 * @number:   rounds so far
 * @open:     writers may write
 * @over:     waiters return
 * @full:     a writer has no more numbers
 * @changes:  bits of &enum rbt_change
 * @raced:    counted by all readers without a lock or a mark, for a data race
 */
struct rbt_round {
	unsigned int		number;
	bool			open;
	bool			over;
	bool			full;
	unsigned long		changes;
	unsigned long		raced;
};

/**
 * struct rbt_from - where a record comes from
 * @how:    name of the reader
 * @buffer: index of the buffer
 * @cpu:    CPU of the record
 * @begun:  swaps of that CPU that had begun
 * @steady: no swap was in progress
 * @ring:   if steady, the ring of the buffer
 */
struct rbt_from {
	const char		*how;
	int			buffer;
	int			cpu;
	int			begun;
	bool			steady;
	int			ring;
};

/**
 * struct rbt_record - the payload
 * @sum:     checksum of the rest
 * @words:   length in units of four bytes
 * @context: &enum rbt_context
 * @round:   &rbt_round.number
 * @cpu:     where it was written
 * @number:  running number of its CPU, context and round
 * @stamp:   its time, as returned to the writer
 * @fill:    padding of variable length
 */
struct rbt_record {
	u32			sum;
	u16			words;
	u8			context;
	u8			round;
	u32			cpu;
	u32			number;
	u64			stamp;
	u32			fill[];
} __packed __aligned(4);

/* Sums of a CPU, or of all, over all rounds. */
struct rbt_sum {
	u64			written[RBT_CONTEXTS];
	u64			read[RBT_CONTEXTS];
	u64			overrun, dropped[RBT_DROPS], refused;
};

/* main.c */
extern struct rbt_params rbt_params;
extern struct rbt_buffer rbt_buffers[RBT_BUFFERS];
extern struct rbt_cpu **rbt_cpus;
extern struct rbt_round rbt_round;
extern struct rw_semaphore rbt_stand;
extern const char * const rbt_contexts[RBT_CONTEXTS];

__printf(2, 3) void rbt_fault(enum rbt_fault fault, const char *fmt, ...);
void rbt_did(enum rbt_op op, long ret);
bool rbt_bust(enum rbt_busted how);

static inline bool rbt_changes(enum rbt_change change)
{
	return rbt_round.changes & BIT(change);
}

static inline u32 rbt_random(struct rnd_state *rnd, u32 below)
{
	return prandom_u32_state(rnd) % below;
}

int rbt_random_cpu(struct rnd_state *rnd);
void rbt_pause(struct rnd_state *rnd);

/* write.c */
int rbt_writers_start(void);
void rbt_writers_stop(void);
void rbt_task_writer(struct rnd_state *rnd, int nr);
u32 rbt_sum(const struct rbt_record *rec);
bool rbt_have_nmi(void);

/* account.c */
struct rbt_from rbt_from(const char *how, int buffer, int cpu);
const struct rbt_record *
rbt_valid(const struct rbt_from *from, const void *data, unsigned int len, u64 ts);
void rbt_account(const struct rbt_from *from, const void *data, unsigned int len, u64 ts,
		 unsigned long lost);
void rbt_account_lost(int cpu, unsigned long lost);
unsigned int rbt_account_page(const struct rbt_from *from, const void *data, unsigned int start,
			      unsigned int end, unsigned long lost);
void rbt_drop_begin(int cpu);
void rbt_drop(int cpu, enum rbt_drop how, const struct rbt_counts *counts);
void rbt_drop_end(int cpu);
void rbt_settle(int cpu, struct rbt_sum *sum);
void rbt_forget(int cpu);

/* read.c */
void rbt_consumer(struct rnd_state *rnd, int nr);
void rbt_pager(struct rnd_state *rnd, int nr);
void rbt_iterator(struct rnd_state *rnd, int nr);
void rbt_waiter(struct rnd_state *rnd, int nr);
int rbt_random_buffer(struct rnd_state *rnd);
void rbt_wake_all(void);
unsigned int rbt_last_look(int buffer, int cpu);
void rbt_drain(struct rnd_state *rnd, int buffer, int cpu);

/* map.c */
void rbt_map_start(void);
void rbt_map_stop(void);
bool rbt_have_map(void);
void rbt_mapper(struct rnd_state *rnd, int nr);

/* change.c */
void rbt_changer(struct rnd_state *rnd, int nr);
void rbt_plugger(struct rnd_state *rnd, int nr);
void rbt_note_toggle(void);
void rbt_swap(int cpu);

/* hooks.c: compiled with the internals of the ring buffer */
void rbt_hook_count(struct trace_buffer *buffer, int cpu, struct rbt_counts *counts);
int rbt_hook_cut(struct trace_buffer *live, struct trace_buffer *spare, int cpu,
		 void (*drop)(void *data), void *data);
void rbt_hook_reset(struct trace_buffer *buffer, int cpu,
		    void (*drop)(int cpu, const struct rbt_counts *counts));
bool rbt_hook_filled(struct trace_buffer *buffer, int cpu, unsigned int percent);

#endif /* _RING_BUFFER_TORTURE_H */
