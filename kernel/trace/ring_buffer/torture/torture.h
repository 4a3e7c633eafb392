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

#define TOR_NAME	"ring_buffer-torture: "
#define TOR_BUFFERS	2
#define TOR_MAX_ORDER	3
#define TOR_MAX_WAITERS	16

/* Where a record is written from. */
enum tor_context { TOR_TASK, TOR_SOFTIRQ, TOR_HARDIRQ, TOR_NMI, TOR_CONTEXTS };

/* Changes besides writing and reading; a round has some of them. */
enum tor_change {
	TOR_RESIZE,	/* of one CPU or all */
	TOR_ORDER,	/* the size of sub-buffers */
	TOR_OVERWRITE,	/* the overwrite mode */
	TOR_SWAP,	/* of a CPU's rings, in any context */
	TOR_CUT,	/* buffer 1 takes the records of buffer 0, and drops its own */
	TOR_FORGET,	/* buffer 1 drops its records */
	TOR_TRIM,	/* buffer 1 frees unused sub-buffers */
	TOR_RESET,	/* at any moment */
	TOR_TOGGLE,	/* recording on and off */
	TOR_BOTH,	/* some records go to buffer 1 */
	TOR_EXPAND,	/* buffer 1 has no rings at first */
	TOR_HOTPLUG,	/* CPUs come and go */
	TOR_CHANGES
};

/* Kinds of faults. */
enum tor_fault {
	TOR_DAMAGE,	/* a record differs from the written one */
	TOR_TWICE,	/* it was read before */
	TOR_STALE,	/* it is of an earlier round, or was never written */
	TOR_ORDERED,	/* it came before an older one of its context */
	TOR_TIME,	/* it has not its time, or time goes back */
	TOR_HIDDEN,	/* records are missing that no reader reported */
	TOR_COUNT,	/* a counter, or the sum, is wrong */
	TOR_PAGE,	/* a page does not have the format */
	TOR_REFUSED,	/* an operation returned an invalid error */
	TOR_ASLEEP,	/* a waiter was not woken */
	TOR_FAULTS
};

/* Operations that the statistics count. */
enum tor_op {
	TOR_DID_RESIZE, TOR_DID_ORDER, TOR_DID_SWAP, TOR_DID_CUT, TOR_DID_FORGET, TOR_DID_TRIM,
	TOR_DID_RESET, TOR_DID_TOGGLE, TOR_DID_EXPAND, TOR_DID_ITERATE, TOR_DID_WAIT, TOR_DID_MAP,
	TOR_DID_PLUG, TOR_OPS
};

/* Operations that drop unread records. */
enum tor_drop { TOR_BY_CUT, TOR_BY_RESET, TOR_DROPS };

/* Faults on purpose, one time in &tor_params.busted_every. */
enum tor_busted {
	TOR_SOUND, TOR_LOSE, TOR_REPEAT, TOR_BEND, TOR_SHUFFLE, TOR_SHIFT, TOR_MISCOUNT,
	TOR_SHORT_CUT, TOR_SHORT_RESET,	/* it drops a record that it does not count */
	TOR_OVERSLEEP,	/* a waiter sleeps on */
	TOR_RACE,	/* a data race: KCSAN has to report it, the verdict is SUCCESS */
};

/* Parameters, see main.c. */
struct tor_params {
	int	duration, round_ms, stat_interval;
	int	writers, consumers, pagers, iterators, waiters, mappers, changers, sharers;
	bool	change[TOR_CHANGES];
	int	kbytes, records;
	uint	seed;
	char	*busted;
	int	busted_every;
};

/* The numbers that a context of a CPU gave to its records, and how many were refused. */
struct tor_writer {
	struct rnd_state	rnd;
	u32			next;
	unsigned long		refused;
};

/**
 * struct tor_counts - content of a ring, and its counters since it was emptied
 * @entries: records that can be read
 * @read:    records that were read
 * @overrun: records that were overwritten
 * @untold:  overwritten records that no reader reported
 * @refused: records without room
 */
struct tor_counts {
	u64			entries, read, overrun, untold, refused;
};

/**
 * struct tor_stream - last records that were read of a ring
 * @ts:     time of a record
 * @number: the record's number plus 1, by context
 */
struct tor_stream {
	u64			ts;
	u32			number[TOR_CONTEXTS];
};

/**
 * struct tor_read - a record that was read
 * @context: where it was written from
 * @number:  its number there
 * @ts:      its time
 * @lost:    records that were lost in front of it
 */
struct tor_read {
	enum tor_context	context;
	u32			number;
	u64			ts;
	unsigned long		lost;
};

/**
 * struct tor_cpu - state of a CPU's records in this round
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
 * @dropped:    records that were dropped unread, as each &enum tor_drop has counted them
 * @spare:      records that buffer 1 holds; its &tor_buffer.ctl is held for writing
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
struct tor_cpu {
	struct tor_writer	writer[TOR_CONTEXTS];
	unsigned long		*seen[TOR_CONTEXTS];
	atomic64_t		read;
	atomic_t		some;
	atomic_t		begun, done, flips;
	atomic_t		drops, dropping;
	bool			toggled;
	atomic64_t		dropped[TOR_DROPS];
	unsigned int		spare;
	struct {
		atomic64_t	read, overrun, untold, refused;
	} gone;
	struct mutex		consume[TOR_BUFFERS];	/* one reader at a time, as callers must */

	spinlock_t		lock;		/* the streams */
	struct tor_stream	stream[TOR_BUFFERS];
	u64			missing;
	u64			lost;

	struct tor_read		held;

	atomic_t		nmi_asked;
	struct hrtimer		hard;
	struct hrtimer		soft;
};

/**
 * struct tor_buffer - one of the two
 * @rb:        the buffer
 * @ctl:       read: to consume, to map, or to put other rings in place; write: to keep
 *             all from that. Iterators, writers and swaps do not care. A cut of buffer 0
 *             holds that of buffer 1 for writing. That of buffer 0 is the outer one
 * @reset:     held by a reset beside others, and by a reader of a mapping: see tor_map_read()
 */
struct tor_buffer {
	struct trace_buffer	*rb;
	struct rw_semaphore	ctl;
	struct mutex		reset;		/* resets beside others */
};

/**
 * struct tor_round - properties of the round; changed while all tasks stand still
 * @number:   rounds so far
 * @open:     writers may write
 * @over:     waiters return
 * @full:     a writer has no more numbers
 * @changes:  bits of &enum tor_change
 * @raced:    counted by all readers without a lock or a mark, for a data race
 */
struct tor_round {
	unsigned int		number;
	bool			open;
	bool			over;
	bool			full;
	unsigned long		changes;
	unsigned long		raced;
};

/**
 * struct tor_from - where a record comes from
 * @how:    name of the reader
 * @buffer: index of the buffer
 * @cpu:    CPU of the record
 * @begun:  swaps of that CPU that had begun
 * @steady: no swap was in progress
 * @ring:   if steady, the ring of the buffer
 */
struct tor_from {
	const char		*how;
	int			buffer;
	int			cpu;
	int			begun;
	bool			steady;
	int			ring;
};

/**
 * struct tor_record - the payload
 * @sum:     checksum of the rest
 * @words:   length in units of four bytes
 * @context: &enum tor_context
 * @round:   &tor_round.number
 * @cpu:     where it was written
 * @number:  running number of its CPU, context and round
 * @stamp:   its time, as returned to the writer
 * @fill:    padding of variable length
 */
struct tor_record {
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
struct tor_sum {
	u64			written[TOR_CONTEXTS];
	u64			read[TOR_CONTEXTS];
	u64			overrun, dropped[TOR_DROPS], refused;
};

/* main.c */
extern struct tor_params tor_params;
extern struct tor_buffer tor_buffers[TOR_BUFFERS];
extern struct tor_cpu **tor_cpus;
extern struct tor_round tor_round;
extern struct rw_semaphore tor_stand;
extern const char * const tor_contexts[TOR_CONTEXTS];

__printf(2, 3) void tor_fault(enum tor_fault fault, const char *fmt, ...);
void tor_did(enum tor_op op, long ret);
bool tor_bust(enum tor_busted how);

static inline bool tor_changes(enum tor_change change)
{
	return tor_round.changes & BIT(change);
}

static inline u32 tor_random(struct rnd_state *rnd, u32 below)
{
	return prandom_u32_state(rnd) % below;
}

int tor_random_cpu(struct rnd_state *rnd);
void tor_pause(struct rnd_state *rnd);

/* write.c */
int tor_writers_start(void);
void tor_writers_stop(void);
void tor_task_writer(struct rnd_state *rnd, int nr);
u32 tor_sum(const struct tor_record *rec);
bool tor_have_nmi(void);

/* account.c */
struct tor_from tor_from(const char *how, int buffer, int cpu);
const struct tor_record *
tor_valid(const struct tor_from *from, const void *data, unsigned int len, u64 ts);
void tor_account(const struct tor_from *from, const void *data, unsigned int len, u64 ts,
		 unsigned long lost);
void tor_account_lost(int cpu, unsigned long lost);
unsigned int tor_account_page(const struct tor_from *from, const void *data, unsigned int start,
			      unsigned int end, unsigned long lost);
void tor_drop_begin(int cpu);
void tor_drop(int cpu, enum tor_drop how, const struct tor_counts *counts);
void tor_drop_end(int cpu);
void tor_settle(int cpu, struct tor_sum *sum);
void tor_forget(int cpu);

/* read.c */
void tor_consumer(struct rnd_state *rnd, int nr);
void tor_pager(struct rnd_state *rnd, int nr);
void tor_iterator(struct rnd_state *rnd, int nr);
void tor_waiter(struct rnd_state *rnd, int nr);
int tor_random_buffer(struct rnd_state *rnd);
void tor_wake_all(void);
unsigned int tor_last_look(int buffer, int cpu);
void tor_drain(struct rnd_state *rnd, int buffer, int cpu);

/* share.c */
int tor_share_start(void);
void tor_share_stop(void);
void tor_share(struct rnd_state *rnd, int nr);
void tor_share_end(void);

/* map.c */
void tor_map_start(void);
void tor_map_stop(void);
bool tor_have_map(void);
void tor_mapper(struct rnd_state *rnd, int nr);

/* change.c */
void tor_changer(struct rnd_state *rnd, int nr);
void tor_plugger(struct rnd_state *rnd, int nr);
void tor_note_toggle(void);
void tor_swap(int cpu);

/* hooks.c: compiled with the internals of the ring buffer */
void tor_hook_count(struct trace_buffer *buffer, int cpu, struct tor_counts *counts);
int tor_hook_cut(struct trace_buffer *live, struct trace_buffer *spare, int cpu,
		 void (*drop)(void *data), void *data);
void tor_hook_reset(struct trace_buffer *buffer, int cpu,
		    void (*drop)(int cpu, const struct tor_counts *counts));
bool tor_hook_filled(struct trace_buffer *buffer, int cpu, unsigned int percent);

#endif /* _RING_BUFFER_TORTURE_H */
