/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the snapshots share.
 */
#ifndef _KERNEL_TRACE_SNAP_H
#define _KERNEL_TRACE_SNAP_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "trace.h"

/* Who asked for a snapshot. */
enum snap_by {
	SNAP_BY_WRITE,
	SNAP_BY_TRIGGER,
	SNAP_BY_KERNEL,
	SNAP_BY_TRACER,
	SNAP_BY_BOOT,
};

/**
 * struct snap_request - what is asked for
 * @cpu:       whose records, or RING_BUFFER_ALL_CPUS
 * @by:        who asks
 * @waits:     whoever asks tries again, and is told
 * @tsk:       whom the snapshot is about
 * @tsk_cpu:   and where that runs
 * @cond:      ask &trace_array.cond_snapshot
 * @cond_data: and tell it this
 */
struct snap_request {
	int			cpu;
	enum snap_by		by;
	bool			waits;
	struct task_struct	*tsk;
	int			tsk_cpu;
	bool			cond;
	void			*cond_data;
};

/**
 * struct trace_snap - a buffer for a snapshot, or with one
 * @buf:     what was recorded
 * @gone:    link of &trace_snapshots.gone
 * @fresh:   link of &trace_snapshots.fresh
 * @keep:    link of &trace_snapshots.kept or .leaving
 * @kept:    the instance that shows it, or NULL
 * @kb:      memory, as it is counted
 * @users:   who reads it; grows only where &trace_snapshots.busy is held
 * @misfit:  the live buffer has changed its size since this was allocated
 * @trimmed: it is for what it holds, not for the next snapshot
 * @settled: no record of it is in the making any more; &trace_snapshots.mutex
 * @seq:     which snapshot it is, from 1
 * @by:      who asked for it
 * @nmi:     in an NMI
 * @cpu:     where
 * @pid:     and as what
 * @comm:    process
 * @since:   when the one before was taken, by the clock of the trace
 * @begin:   when the first CPU was cut off
 * @end:     when all were
 */
struct trace_snap {
	struct array_buffer	buf;
	struct llist_node	gone;
	struct llist_node	fresh;
	struct list_head	keep;
	struct trace_array	*kept;
	unsigned long		kb;
	atomic_t		users;
	bool			misfit;
	bool			trimmed;
	bool			settled;
	bool			nmi;
	enum snap_by		by;
	u64			seq;
	int			cpu;
	pid_t			pid;
	char			comm[TASK_COMM_LEN];
	u64			since;
	u64			begin;
	u64			end;
};

/**
 * struct snap_slot - the snapshots of one who takes them
 * @last:       the newest, or NULL
 * @spare:      an empty buffer for the next one, or NULL; if so, it takes that of @last
 * @next:       what takes the place of @spare when the live buffer has been changed;
 *		&trace_snapshots.mutex
 * @parked:     what is to come back if it could not be changed; the same
 * @was_misfit: of @last, the same
 * @seq:        how many were taken
 * @armed:      how many want the next one not to fail
 */
struct snap_slot {
	struct trace_snap	*last;
	struct trace_snap	*spare;
	struct trace_snap	*next;
	struct trace_snap	*parked;
	bool			was_misfit;
	u64			seq;
	atomic_t		armed;
};

/**
 * struct snap_keep - which snapshots are kept
 * @nr:    how many, 0 for none
 * @first: the first ones, and not the newest
 */
struct snap_keep {
	unsigned int		nr;
	bool			first;
};

/* Of &trace_snapshots.func. */
enum {
	SNAP_FUNC,
	SNAP_FUNC_COUNTED,
};

/* Of &trace_snapshots.busy. */
enum {
	SNAP_IDLE,
	SNAP_CUTTING,		/* something special */
	SNAP_CUTTING_ALL,	/* the user's, of all CPUs, whatever is asked for */
	SNAP_CHANGING,		/* by a task on CPU 0, and so on */
};

/**
 * struct trace_snapshots - the snapshots of a trace array
 * @tr:       the trace array
 * @busy:     somebody takes a snapshot, or changes what follows; taken by a try only
 * @user:     what is taken through files, by triggers and by the kernel
 * @max:      what a latency tracer keeps
 * @end:      when the last one was taken
 * @claims:   how many want the next one not to fail, of both slots; or as a negative
 *	      number how many map the live buffer: one excludes the other
 * @joined:   requests that came while this cut is under way
 * @merged:   such requests that have got their snapshot so
 * @no_spare: requests refused because no buffer was ready
 * @refused:  requests refused for another reason
 * @enough:   requests refused as the first ones are kept
 * @unkept:   snapshots that could not be kept
 * @starved:  no buffer was ready, @work shall try to allocate one
 * @mutex:    they change the buffers one at a time
 * @gone:     superseded, to be freed
 * @held:     the same, but somebody reads them; @mutex
 * @keep:     which snapshots are kept
 * @room:     how many more may be taken; @busy
 * @fresh:    taken, and to be kept
 * @kept:     are kept, the oldest first; &trace_types_lock
 * @nr_kept:  how many these are
 * @leaving:  are not kept any more, but their instances are open; the same
 * @shows:    of the instance of a kept snapshot: that
 * @kb:       memory of all snapshots, kept or not; @mutex
 * @limit_kb: as much as that may be, 0 for no limit; the same
 * @pinned:   the kernel's memory for the user's next snapshot; only users free it
 * @max_latency: of the one in @max
 * @func:     SNAP_FUNC_* of function commands that are armed
 * @wait:     who polls
 * @irq_work: makes room for @work, from any context
 * @work:     frees, allocates and wakes
 */
struct trace_snapshots {
	struct trace_array	*tr;
	atomic_t		busy;
	struct snap_slot	user;
	struct snap_slot	max;
	u64			end;
	atomic_t		claims;
	atomic_t		joined;
	atomic_long_t		merged;
	atomic_long_t		no_spare;
	atomic_long_t		refused;
	atomic_long_t		enough;
	atomic_long_t		unkept;
	bool			starved;
	struct mutex		mutex;		/* for those who may sleep */
	struct llist_head	gone;
	struct llist_node	*held;
	struct snap_keep	keep;
	int			room;
	struct llist_head	fresh;
	struct list_head	kept;
	unsigned int		nr_kept;
	struct list_head	leaving;
	struct trace_snap	*shows;
	unsigned long		kb;
	unsigned long		limit_kb;
	bool			pinned;
	unsigned long		max_latency;
	unsigned long		func;
	wait_queue_head_t	wait;
	struct irq_work		irq_work;
	struct work_struct	work;
};

extern const struct file_operations trace_snapshots_fops;
extern const struct file_operations trace_snapshot_keep_fops;
extern const struct file_operations trace_snapshot_limit_fops;

#define snap_of(buffer) container_of(buffer, struct trace_snap, buf)

unsigned long snap_change_begin(struct trace_snapshots *s);
void snap_change_end(struct trace_snapshots *s, unsigned long flags);
int snap_take(struct trace_snapshots *s, struct snap_slot *slot, const struct snap_request *req);
int snap_take_wait(struct trace_snapshots *s, struct snap_slot *slot,
		   const struct snap_request *req);

int snap_charge(struct trace_snapshots *s, unsigned long kb);
struct trace_snap *snap_alloc_spare(struct trace_snapshots *s);
bool snap_settle(struct trace_snap *snap);
int snap_trim(struct trace_snapshots *s, struct trace_snap *snap);
void snap_discard(struct trace_snapshots *s, struct trace_snap *snap);
void snap_collect(struct trace_snapshots *s);
struct trace_snap *snap_hold(struct trace_snapshots *s, struct snap_slot *slot);
void snap_unhold(struct trace_snap *snap);

bool snap_is_ready(const struct snap_slot *slot);
int snap_provide(struct trace_snapshots *s, struct snap_slot *slot);
int snap_arm(struct trace_snapshots *s, struct snap_slot *slot);
void snap_disarm(struct trace_snapshots *s, struct snap_slot *slot);
void snap_erase(struct trace_snapshots *s, struct snap_slot *slot);
int snap_erase_cpu(struct trace_snapshots *s, struct snap_slot *slot, int cpu);
void snap_release(struct trace_snapshots *s, struct snap_slot *slot, bool all);

int snap_keep_parse(const char *text, struct snap_keep *keep);
unsigned int snap_keep_surplus(struct snap_keep keep, unsigned int have);
int snap_keep_room(struct snap_keep keep, unsigned int have);
void snap_keep_queue(void);
void snap_keep_set(struct trace_snapshots *s, struct snap_keep keep);
void snap_tend(struct trace_array *tr);

int snap_publish(struct trace_snapshots *s, struct trace_snap *snap);
bool snap_retire(struct trace_snapshots *s, struct trace_snap *snap);
void snap_forget_kept(struct trace_snapshots *s, struct trace_snap *snap);

/* Of what error_log tells. */
enum {
	SNAP_ERR_VALUE,
	SNAP_ERR_MEMORY,
	SNAP_ERR_LIMIT,
	SNAP_ERR_HELD,
	SNAP_ERR_ENOUGH,
	SNAP_ERR_ARMED,
	SNAP_ERR_READ,
	SNAP_ERR_BUSY,
	SNAP_ERR_TRACER,
	SNAP_ERR_CPU,
};

int snap_fail(struct trace_array *tr, const char *file, const char *cmd, int err, int ret);
char *snap_copy_value(struct trace_array *tr, const char *file, char *buf, size_t size,
		      const char __user *ubuf, size_t cnt);
#endif
