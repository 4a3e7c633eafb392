/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the snapshots share.
 */
#ifndef _KERNEL_TRACE_SNAPSHOT_INTERNAL_H
#define _KERNEL_TRACE_SNAPSHOT_INTERNAL_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../trace.h"

/* Who asked for a snapshot. */
enum snap_by {
	SNAP_BY_WRITE,
	SNAP_BY_TRIGGER,
	SNAP_BY_FUNCTION,
	SNAP_BY_KERNEL,
	SNAP_BY_TRACER,
	SNAP_BY_BOOT,
	SNAP_BY_PANIC,
	SNAP_BY_OOPS,
	SNAP_BY_WARN,
	SNAP_BY_UNKNOWN,	/* the last boot has not told */
};

/**
 * struct snap_who - who has asked for a snapshot
 * @by:     what kind
 * @nmi:    in an NMI
 * @cpu:    where
 * @pid:    and as what
 * @comm:   process, whose
 * @uid:    user,
 * @nice:   nice value,
 * @policy: policy and
 * @prio:   real-time priority are for the latency format
 * @event:  of which trigger, or empty
 * @ip:     of which function, or 0
 * @asked:  when, by the clock of the trace; 0 if it was taken at once
 */
struct snap_who {
	enum snap_by		by;
	bool			nmi;
	int			cpu;
	pid_t			pid;
	char			comm[TASK_COMM_LEN];
	kuid_t			uid;
	int			nice;
	unsigned int		policy;
	unsigned int		prio;
	char			event[MAX_EVENT_NAME_LEN];
	unsigned long		ip;
	u64			asked;
};

/**
 * struct snap_request - what is asked for
 * @cpu:       whose records, or RING_BUFFER_ALL_CPUS
 * @by:        who asks
 * @waits:     whoever asks tries again, and is told
 * @now:       it can't be put off
 * @tsk:       whom the snapshot is about
 * @tsk_cpu:   and where that runs
 * @event:     of which trigger, or NULL
 * @ip:        of which function, or 0
 * @update:    whether one is to be taken, or NULL; asked one at a time
 * @cond_data: and told this
 * @who:       has asked before: now it is due
 * @waiter:    waits for it if it is put off, or NULL
 */
struct snap_request {
	int			cpu;
	enum snap_by		by;
	bool			waits;
	bool			now;
	struct task_struct	*tsk;
	int			tsk_cpu;
	const char		*event;
	unsigned long		ip;
	cond_update_fn_t	update;
	void			*cond_data;
	const struct snap_who	*who;
	struct snap_waiter	*waiter;
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
 * @settled: all writers have committed; cleared by a cut, set by snap_settle()
 * @seq:     which snapshot it is, from 1
 * @last_boot: it was taken then
 * @clock_id: of the trace, then
 * @who:     who asked for it
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
	bool			last_boot;
	int			clock_id;
	struct snap_who		who;
	u64			seq;
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
 * @lent:       the memory came with the request that has still to succeed, and nobody else
 *		wants it; &trace_snapshots.mutex
 */
struct snap_slot {
	struct trace_snap	*last;
	struct trace_snap	*spare;
	struct trace_snap	*next;
	struct trace_snap	*parked;
	bool			was_misfit;
	bool			lent;
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

/**
 * struct snap_waiter - waits for a snapshot that was put off
 * @ret:  what has become of it, as snap_take()
 * @done: that is known
 */
struct snap_waiter {
	int			ret;
	bool			done;
};

/**
 * struct snap_due - a request of which the cut has still to come; &trace_snapshots.busy
 * @pending: there is one
 * @closing: and there shall be none
 * @who:     of whom
 * @waiter:  who waits for it while it is @pending, or NULL
 * @at:      nanoseconds of the monotonic clock: when it comes
 * @start:   starts @timer, from any context
 * @timer:   takes it
 */
struct snap_due {
	bool			pending;
	bool			closing;
	struct snap_who		who;
	struct snap_waiter	*waiter;
	u64			at;
	struct irq_work		start;
	struct hrtimer		timer;
};

/* Of &snap_func.armed. */
enum {
	SNAP_FUNC,
	SNAP_FUNC_COUNTED,
};

/**
 * struct snap_func - commands of functions
 * @armed:   kinds of them that there are, by SNAP_FUNC_*
 * @left:    how many each function may still take, of those that were given a count
 * @counted: what ftrace calls for these
 */
struct snap_func {
#if defined(CONFIG_FUNCTION_TRACER) && defined(CONFIG_DYNAMIC_FTRACE)
	unsigned long		armed;
	struct ftrace_func_mapper *left;
	struct ftrace_probe_ops	counted;
#endif
};

/* Of &trace_snapshots.busy. */
enum {
	SNAP_IDLE,
	SNAP_CUTTING,		/* something special */
	SNAP_CUTTING_ALL,	/* the user's, of all CPUs, whatever is asked for */
	SNAP_CHANGING,		/* by a task on CPU 0, and so on */
	/* More than CPUs: for each request that comes while this cut is under way */
	SNAP_JOINED = BIT(16),
};

/**
 * struct trace_snapshots - the snapshots of a trace array
 * @tr:       the trace array
 * @all:      link of the list of all trace arrays
 * @busy:     somebody takes a snapshot, or changes what follows; taken by a try only
 * @user:     what is taken through files, by triggers and by the kernel
 * @max:      what a latency tracer keeps
 * @end:      when the last one was taken
 * @merged:   requests that came while another one was taken, and were a part of that
 * @no_spare: requests refused because no buffer was ready
 * @refused:  requests refused for another reason
 * @enough:   requests refused as the first ones are kept
 * @late:     requests that came while one was due, and have become of nothing
 * @changing: the live buffer is about to have another size; @busy
 * @delay:    nanoseconds from a request to its cut; @busy
 * @due:      the one that is due
 * @unkept:   snapshots that could not be kept
 * @starved:  no buffer was ready, or a record of it was in flight: @work shall try to allocate one
 * @mutex:    they change the buffers one at a time
 * @gone:     superseded, to be freed
 * @held:     the same, but somebody reads them; @mutex
 * @wanting:  the limit leaves no room for a buffer, what is kept shall make some
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
 * @func:     commands of functions
 * @wait:     who polls
 * @irq_work: makes room for @work, from any context
 * @work:     frees, allocates and wakes
 */
struct trace_snapshots {
	struct trace_array	*tr;
	struct list_head	all;
	atomic_t		busy;
	struct snap_slot	user;
	struct snap_slot	max;
	u64			end;
	atomic_long_t		merged;
	atomic_long_t		no_spare;
	atomic_long_t		refused;
	atomic_long_t		enough;
	atomic_long_t		late;
	bool			changing;
	u64			delay;
	struct snap_due		due;
	atomic_long_t		unkept;
	bool			starved;
	struct mutex		mutex;		/* for those who may sleep */
	struct llist_head	gone;
	struct llist_node	*held;
	bool			wanting;
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
	struct snap_func	func;
	wait_queue_head_t	wait;
	struct irq_work		irq_work;
	struct work_struct	work;
};

extern const struct file_operations trace_snapshots_fops;

#define snap_of(buffer) container_of(buffer, struct trace_snap, buf)

int snap_init(struct trace_array *tr);
unsigned long snap_change_begin(struct trace_snapshots *s);
void snap_change_end(struct trace_snapshots *s, unsigned long flags);
int snap_take(struct trace_snapshots *s, struct snap_slot *slot, const struct snap_request *req);
int snap_take_wait(struct trace_snapshots *s, struct snap_slot *slot,
		   const struct snap_request *req);

int snap_charge(struct trace_snapshots *s, unsigned long kb);
struct trace_snap *snap_alloc_spare(struct trace_snapshots *s);
void snap_settle(struct trace_snap *snap);
unsigned long snap_trimmed_kb(struct trace_snap *snap);
int snap_trim(struct trace_snapshots *s, struct trace_snap *snap);
void snap_discard(struct trace_snapshots *s, struct trace_snap *snap);
void snap_collect(struct trace_snapshots *s);
void snap_request_function(struct trace_array *tr, unsigned long ip);

struct trace_snap *snap_hold(struct trace_snapshots *s, struct snap_slot *slot);
void snap_unhold(struct trace_snap *snap);

bool snap_is_ready(const struct snap_slot *slot);
int snap_provide(struct trace_snapshots *s, struct snap_slot *slot);
int snap_arm(struct trace_snapshots *s, struct snap_slot *slot);
void snap_disarm(struct snap_slot *slot);
void snap_unarm(struct trace_snapshots *s, struct snap_slot *slot);
void snap_give_back(struct trace_snapshots *s, struct snap_slot *slot);
void snap_erase(struct trace_snapshots *s, struct snap_slot *slot);
int snap_erase_cpu(struct trace_snapshots *s, struct snap_slot *slot, int cpu);
void snap_release(struct trace_snapshots *s, struct snap_slot *slot, bool all);
void snap_drop_spare(struct trace_snapshots *s, struct snap_slot *slot);

void snap_note_who(struct snap_who *who, const struct snap_request *req);
bool snap_ask(struct trace_snapshots *s, const struct snap_request *req);
void snap_count(struct trace_snapshots *s, int ret, int n);

void snap_delay_init(struct trace_snapshots *s);
void snap_delay_exit(struct trace_snapshots *s);
int snap_delay_parse(const char *text, u64 *ns);
int snap_delay_print(char *buf, size_t size, u64 ns);
bool snap_is_delayed(struct trace_snapshots *s, struct snap_slot *slot,
		     const struct snap_request *req);
int snap_defer(struct trace_snapshots *s, const struct snap_request *req);
void snap_delay_set(struct trace_snapshots *s, u64 ns);
void snap_due_end(struct trace_snapshots *s, int ret);
int snap_delay_wait(struct trace_snapshots *s, struct snap_waiter *waiter);

u32 snap_save_begin(struct trace_snap *snap);
void snap_save_cancel(struct trace_snap *snap, u32 state);
void snap_save(struct trace_snap *snap, int cpu);
void snap_unsave(struct trace_snap *snap);
void snap_recall(struct trace_snapshots *s);

void snap_crash_add(struct trace_snapshots *s);
void snap_crash_del(struct trace_snapshots *s);
int snap_crash_parse(char *text, unsigned long *on);
unsigned long snap_crash_set(unsigned long on);
void trace_snapshot_crash(enum snap_by by);

int snap_keep_parse(const char *text, struct snap_keep *keep);
unsigned int snap_keep_surplus(struct snap_keep keep, unsigned int have);
int snap_keep_room(struct snap_keep keep, unsigned int have);
void snap_keep_queue(struct trace_snapshots *s);
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
	SNAP_ERR_DUE,
	SNAP_ERR_ARMED,
	SNAP_ERR_READ,
	SNAP_ERR_BUSY,
	SNAP_ERR_DELAY,
	SNAP_ERR_TRACER,
	SNAP_ERR_CPU,
	SNAP_ERR_PERSIST,
	SNAP_ERR_ONE,
};

int snap_expand(struct trace_array *tr, const char *file, const char *cmd);
int snap_fail(struct trace_array *tr, const char *file, const char *cmd, int err, int ret);
char *snap_copy_value(struct trace_array *tr, const char *file, char *buf, size_t size,
		      const char __user *ubuf, size_t cnt);
int snap_parse(struct trace_array *tr, const char *file, const char *text,
	       unsigned long max, unsigned long *val);
int snap_free_now(struct trace_array *tr, const char *file, const char *cmd);

void snap_create_values(struct trace_array *tr, struct dentry *dir);
#endif
