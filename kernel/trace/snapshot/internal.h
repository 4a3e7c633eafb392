/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Snapshots: types and functions that the files of this directory share.
 *
 * Each file calls only files above it in this list:
 *
 *   clocks.c    what other clocks show
 *   persist.c   the note about a snapshot in memory that survives a reboot
 *   buffer.c    memory: allocate, count, trim, settle, free
 *   slot.c      the lock; the buffers of a slot: provide, hold, erase, release
 *   report.c    why something fails: error_log
 *   take.c      the cut
 *   delay.c     requests that are postponed
 *   request.c   requests of the kernel, triggers and latency tracers
 *   crash.c     requests of a panic, an oops, a warning
 *   func.c      requests of functions
 *   change.c    changes of the trace array that snapshots follow
 *   list.c      the lines of "snapshots"
 *   publish.c   the read-only instance of a kept snapshot
 *   keep.c      which snapshots are kept
 *   own.c       snapshots that belong to a file descriptor
 *   files.c     the files of an instance
 *   array.c     create and destroy; the worker; the command line
 *   none.c      instead of all others in a kernel without snapshots
 */
#ifndef _KERNEL_TRACE_SNAPSHOT_INTERNAL_H
#define _KERNEL_TRACE_SNAPSHOT_INTERNAL_H

/* For all files of this directory, with what trace.h includes. */
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/llist.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/wait.h>

#include "../trace.h"

/* The kind of requester. */
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
	SNAP_BY_UNKNOWN,	/* the previous boot did not record it */
};

/**
 * struct snap_info - a snapshot and its requester
 * @by:     its kind
 * @nmi:    the request came from an NMI
 * @cpu:    CPU of the requester
 * @pid:    PID of the requester
 * @comm:   name of its task
 * @uid:    user of its task
 * @nice:   nice value of its task
 * @policy: scheduling policy of its task
 * @prio:   real-time priority of its task
 * @event:  event of the trigger, or empty
 * @filter: begin of its filter, or empty
 * @ip:     address of the function, or 0
 * @asked:  time of a postponed request, by the clock of the trace; 0 for others
 * @cuts:   &snap_past.cuts, as the requester sees it before it gets the lock
 * @on_all: tracing_all_generation() before @end
 * @ring:   ring that its CPU, which is @cpu for the user's slot, writes to then; 0 if that
 *	    does not matter
 * @since:  end of the cut before it, by the clock of the trace, or the time when recording was
 *	    switched on; U64_MAX if its CPUs were not cut off together, or that time is not known
 * @until:  time when recording was switched off, if it is; else U64_MAX
 * @from:   records of an earlier time are left out; 0 if none are, or of one CPU only
 * @begin:  time before the first CPU was cut off
 * @end:    time after the last CPU was cut off
 * @clocks: other clocks after @end; and before the records, at the end of the last cut of all CPUs
 *	    before or where the clock of the trace was set
 */
struct snap_info {
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
	char			filter[64];
	unsigned long		ip;
	u64			asked;
	unsigned int		cuts;
	unsigned int		on_all;
	unsigned long		ring;
	u64			since;
	u64			until;
	u64			from;
	u64			begin;
	u64			end;
	struct trace_clocks	clocks[2];
};

/**
 * struct snap_request - a request for a snapshot
 * @cpu:     CPU to cut off, or RING_BUFFER_ALL_CPUS
 * @by:      kind of the requester
 * @waits:   the requester is a task that handles errors; they are not counted
 * @now:     the request is never postponed
 * @span:    time before the cut of which it wants the records, in ns; 0 for what snapshot_keep says
 * @alone:   the channels of a session are not cut with it
 * @crash:   number of the crash that it is of, or 0
 * @tsk:     task that the snapshot is about, or NULL for the current one
 * @tsk_cpu: CPU of @tsk
 * @latency: of @tsk, for a latency tracer
 * @event:   event of the trigger, or NULL
 * @filter:  its filter, or NULL
 * @ip:      address of the function, or 0
 * @cond:    condition, or NULL
 * @waiter:  waits for the snapshot if it is postponed, or NULL
 * @own:     buffer for this request alone, or NULL
 * @taken:   where the snapshot is stored, with a user for the requester, which is to own it; or
 *	     NULL
 */
struct snap_request {
	int			cpu;
	enum snap_by		by;
	bool			waits;
	bool			now;
	u64			span;
	bool			alone;
	unsigned int		crash;
	struct task_struct	*tsk;
	int			tsk_cpu;
	unsigned long		latency;
	const char		*event;
	const char		*filter;
	unsigned long		ip;
	const struct snap_cond	*cond;
	struct snap_waiter	*waiter;
	struct trace_snap	*own;
	struct trace_snap	**taken;
};

/**
 * struct trace_snap - a buffer for a snapshot, or with one
 * @buf:       the records
 * @gone:      link of &trace_snapshots.gone
 * @fresh:     link of &snap_keeper.fresh
 * @node:      link of &snap_keeper.kept, .parts, .owned or .leaving
 * @kept:      the instance that shows it, or NULL
 * @owner:     the snapshots that it belongs to
 * @parts:     the first snapshot of a channel that was cut with this one of a session, until
 *	       the keeper has taken them; or NULL
 * @next_part: the next one of the same cut
 * @kb:        its memory, in KiB, as snap_recount() has found it
 * @kept_kb:   memory of @kept, in KiB
 * @owned:     it belongs to a file descriptor, and the keeper leaves it alone
 * @users:     readers, @kept, the taker until the keeper has decided, a task that waits for its
 *	       writers; grows only under the lock
 * @gen:       &trace_snapshots.gen that its size belongs to; 0 if it is not to be used again
 * @settled:   all writers have committed; cleared by a cut, set by snap_settle()
 * @at:        the moment of the cut
 * @last_boot: it was taken before the last reboot
 * @clock_id:  clock of its time stamps
 * @info:      its requester and its times
 * @seq:       its number, from 1
 * @cut:       identifies the cut: the session's part and those of its channels have the same; 0
 *	       for the cut of one trace array
 * @pending:   a keeper or an owner is about to keep it; its own one, or that of a session
 */
struct trace_snap {
	struct array_buffer	buf;
	struct llist_node	gone;
	struct llist_node	fresh;
	struct list_head	node;
	struct trace_array	*kept;
	struct trace_snapshots	*owner;
	struct trace_snap	*parts;
	struct trace_snap	*next_part;
	unsigned long		kb;
	unsigned long		kept_kb;
	bool			owned;
	atomic_t		users;
	unsigned int		gen;
	bool			settled;
	struct ring_buffer_moment at;
	bool			last_boot;
	int			clock_id;
	struct snap_info	info;
	u64			seq;
	unsigned long		cut;
	bool			pending;
};

/**
 * struct snap_slot - the buffers of one taker
 * @last:  the newest snapshot, or NULL
 * @spare: empty buffer for the next one, or NULL; then the next one takes the place of @last
 * @next:  buffer of the size that the live buffer is about to get, or NULL; &trace_snapshots.mutex
 * @seq:   number of snapshots taken
 * @armed: number of users that rely on a buffer for the next one
 */
struct snap_slot {
	struct trace_snap	*last;
	struct trace_snap	*spare;
	struct trace_snap	*next;
	u64			seq;
	atomic_t		armed;
};

/**
 * struct snap_keep - which snapshots are kept
 * @nr:    how many, 0 for none
 * @first: keep the first ones, not the newest
 * @span:  time before a cut of which a snapshot has the records, in ns; 0 for all records
 */
struct snap_keep {
	unsigned int		nr;
	bool			first;
	u64			span;
};

/**
 * struct snap_waiter - a task that waits for a postponed snapshot
 * @next: the next waiter; under the lock
 * @ret:  result of the request, see snap_take()
 * @done: @ret is valid
 */
struct snap_waiter {
	struct snap_waiter	*next;
	int			ret;
	bool			done;
};

/* So many conditions can wait for a postponed snapshot; others are refused, and counted. */
#define SNAP_CELLS	8

/**
 * struct snap_pending - the postponed request
 * @delay:    ns from a request to its cut; under the lock
 * @requests: number of requests that its snapshot answers, 0 if there is none
 * @partial:  how many of them have a time of their own; under the lock
 * @span:     the longest of these, in ns; under the lock
 * @info:     the first requester
 * @waiters:  tasks that wait for it; under the lock
 * @cells:    conditions to be told that it was taken, and unused cells, which are 0; under the
 *	      lock
 * @at:       earliest time of the cut, in ns of CLOCK_MONOTONIC
 * @start:    starts @timer from any context
 * @timer:    takes the snapshot
 *
 * The requester that makes @requests 1 fills the rest, and then queues @start. @partial and @span
 * are 0 if @requests is: snap_claim_pending() takes all of them.
 */
struct snap_pending {
	u64			delay;
	atomic_long_t		requests;
	long			partial;
	u64			span;
	struct snap_info	info;
	struct snap_waiter	*waiters;
	struct snap_cond	cells[SNAP_CELLS];
	u64			at;
	struct irq_work		start;
	struct hrtimer		timer;
};

/**
 * struct snap_claim - pending requests that one cut answers
 * @requests: how many
 * @partial:  how many of them have a time of their own
 * @span:     the longest of these, in ns
 * @asked:    time of the first one, by the clock of the trace; U64_MAX if there is none
 */
struct snap_claim {
	long			requests;
	long			partial;
	u64			span;
	u64			asked;
};

/**
 * struct snap_func - commands of functions
 * @ops:   operations of these commands
 * @left:  how many snapshots each function may still take, or NULL for any number
 * @armed: there are commands, and they rely on a buffer
 */
struct snap_func {
#if defined(CONFIG_FUNCTION_TRACER) && defined(CONFIG_DYNAMIC_FTRACE)
	struct ftrace_probe_ops	ops;
	struct ftrace_func_mapper *left;
	bool			armed;
#endif
};

/* Bits of &snap_worker.work_for. */
enum {
	SNAP_WORK_QUEUED,	/* the worker will run */
	SNAP_WORK_FREE,		/* a buffer was discarded */
	SNAP_WORK_SPARE,	/* a request was refused: make a buffer ready */
	SNAP_WORK_KEEP,		/* look after kept snapshots */
};

/**
 * struct snap_off - when recording is off; each number is another one each time
 * @own: ring_buffer_off_id(), or 0
 * @all: tracing_all_generation(), or 0 if that switch is on
 */
struct snap_off {
	unsigned int		own;
	unsigned int		all;
};

/**
 * struct snap_past - earlier cuts; under the lock
 * @cuts:       counts the begin and the end of each cut of all CPUs for the user's slot: odd
 *              during one
 * @done:       @cuts in the last of them that succeeded
 * @span:       time before that one of which it has the records, in ns; U64_MAX for all of them
 * @done_moves: @moves in that one
 * @moves:      counts the cuts of any kind, and changes of the size
 * @end:        end of the last cut
 * @clocks:     other clocks after the end of the last cut of all CPUs
 * @on_all:     tracing_all_generation() before @end
 * @off:        the switches that were off before the last cut
 */
struct snap_past {
	unsigned int		cuts;
	unsigned int		done;
	u64			span;
	unsigned int		done_moves;
	unsigned int		moves;
	u64			end;
	struct trace_clocks	clocks;
	unsigned int		on_all;
	struct snap_off		off;
};

/**
 * struct snap_cut - the part of a trace array in the cut in progress; under the lock
 * @rb:      its ring buffers
 * @snap:    the buffer that gets the records, or NULL if there are none
 * @saved:   state of the note about @snap before the cut
 * @answers: pending requests that the cut answers
 * @off:     the switches that are off before the cut
 * @alone:   the channels have no part in it
 */
struct snap_cut {
	struct ring_buffer_cut	rb;
	struct trace_snap	*snap;
	u32			saved;
	struct snap_claim	answers;
	bool			alone;
	struct snap_off		off;
};

/**
 * struct snap_counts - requests that took no snapshot, and snapshots that were not kept
 * @merged:   requests that share the snapshot of another one
 * @no_spare: requests refused because no buffer was ready
 * @refused:  requests refused for another reason
 * @enough:   requests refused because the first ones are kept
 * @late:     requests refused because their CPU had been cut off by a cut in progress, or
 *	      because that cut leaves out records that they want
 * @off:      requests refused because recording was off since before the last cut
 * @unkept:   snapshots that could not be kept
 */
struct snap_counts {
	atomic_long_t		merged;
	atomic_long_t		no_spare;
	atomic_long_t		refused;
	atomic_long_t		enough;
	atomic_long_t		late;
	atomic_long_t		off;
	atomic_long_t		unkept;
};

/**
 * struct snap_keeper - the kept snapshots, and the worker that keeps them
 * @want:    which snapshots are kept; under the lock
 * @room:    how many more may be taken; under the lock
 * @fresh:   snapshots to be kept
 * @backlog: number of snapshots that @work has not kept yet; under the lock
 * @kept:    kept snapshots, the oldest first; &trace_types_lock
 * @parts:   snapshots that a session keeps together with its own; &trace_types_lock
 * @owned:   kept snapshots that belong to a file descriptor; &trace_types_lock
 * @leaving: retired snapshots with open instances; &trace_types_lock
 * @nr:      number of entries of @kept, and of those that @work is about to add;
 *           &trace_snapshots.mutex
 * @news:    counts snapshots that were kept, for poll(); &trace_snapshots.mutex
 * @work:    creates and removes the instances of kept snapshots
 * @mutex:   serializes @work and tasks that do the same; outside of event_mutex
 * @pause:   end of the pause of @work, in jiffies; @work
 */
struct snap_keeper {
	struct snap_keep	want;
	int			room;
	struct llist_head	fresh;
	unsigned int		backlog;
	struct list_head	kept;
	struct list_head	parts;
	struct list_head	owned;
	struct list_head	leaving;
	unsigned int		nr;
	int			news;
	struct work_struct	work;
	struct mutex		mutex;		/* taken before event_mutex */
	unsigned long		pause;
};

/**
 * struct snap_memory - memory of the snapshots; &trace_snapshots.mutex
 * @kb:       sum of &trace_snap.kb, in KiB
 * @limit_kb: upper bound of @kb, or 0
 * @needs_kb: value of @limit_kb that would have allowed what it refused last
 */
struct snap_memory {
	unsigned long		kb;
	unsigned long		limit_kb;
	unsigned long		needs_kb;
};

/**
 * struct snap_worker - work that any context leaves to a task
 * @work_for: work to do, by SNAP_WORK_*
 * @irq_work: starts @work from any context
 * @work:     frees and allocates buffers
 * @reported: error of the last try to have a buffer for the next snapshot, or 0;
 *            &trace_snapshots.mutex
 */
struct snap_worker {
	unsigned long		work_for;
	struct irq_work		irq_work;
	struct work_struct	work;
	int			reported;
};

/**
 * struct trace_snapshots - the snapshots of a trace array
 * @tr:      the trace array
 * @ref:     references: of @tr, and of @keeper while it is queued or runs
 * @dead:    @tr is being removed, or only @keeper is left; @mutex
 * @all:     link of the list of all trace arrays
 * @owner:   the lock: CPU that holds it, plus 1; or 0
 * @mutex:   serializes tasks that change buffers
 * @user:    snapshots of files, triggers and the kernel
 * @max:     snapshots of a latency tracer
 * @gen:     generation of the live buffer's size, odd while it changes; under the lock
 * @gone:    superseded buffers, to be freed when nobody reads them
 * @past:    earlier cuts
 * @cut:     its part of the cut in progress
 * @tasks:   tasks that come before other requests; under the lock
 * @pending: the postponed request
 * @count:   requests that took no snapshot
 * @keeper:  the kept snapshots
 * @memory:  memory of all of them
 * @worker:  work that any context leaves to a task
 * @pinned:  the kernel relies on the buffer of @user; only user space frees it
 * @func:    commands of functions, without and with a count
 * @wait:    tasks that poll or wait
 * @oops_of: the task of the last oops that took a snapshot: a panic that follows is the same
 *           crash. Another task may get its memory
 * @oops_start: start time of that task
 * @crash:   number of the last crash that took a snapshot
 */
struct trace_snapshots {
	struct trace_array	*tr;
	refcount_t		ref;
	bool			dead;
	struct list_head	all;
	atomic_t		owner;
	struct mutex		mutex;		/* tasks that change buffers */
	struct snap_slot	user;
	struct snap_slot	max;
	unsigned int		gen;
	struct llist_head	gone;
	struct snap_past	past;
	struct snap_cut		cut;
	unsigned int		tasks;
	struct snap_pending	pending;
	struct snap_counts	count;
	struct snap_keeper	keeper;
	struct snap_memory	memory;
	struct snap_worker	worker;
	bool			pinned;
	struct snap_func	func[2];
	wait_queue_head_t	wait;
	struct task_struct	*oops_of;
	u64			oops_start;
	unsigned int		crash;
};

/* Time between two tries to take a postponed snapshot, in ns */
#define SNAP_RETRY_NS	(50ULL * NSEC_PER_USEC)

/* So long other requests wait for a task that comes first, in ns */
#define SNAP_FIRST_NS	(1ULL * NSEC_PER_SEC)

/*
 * So many snapshots may wait for the keeper, each with a whole buffer. Then requests are refused
 * until it has kept one.
 */
#define SNAP_BACKLOG	4

/* Memory that notes which events of a kept snapshot are removed: a bit for each type */
#define SNAP_ENDED_BYTES (BITS_TO_LONGS(TRACE_EVENT_TYPE_MAX + 1) * sizeof(long))

#define snap_of(buffer) container_of(buffer, struct trace_snap, buf)

/* Is it kept, or about to be? A keeper says that it is not pending when it shows it. */
static inline bool snap_has_keeper(const struct trace_snap *snap)
{
	return snap->pending || snap->kept;
}

/* States of a note about a snapshot. */
enum {
	SNAP_SAVED_NONE,
	SNAP_SAVED_CUTTING,	/* a cut is in progress */
	SNAP_SAVED,
};

/* clocks.c */
void snap_show_clocks(struct seq_file *m, struct trace_array *tr, const char *name,
		      const struct trace_clocks *clocks);

/* persist.c */
u32 snap_save_state(struct trace_snap *snap, u32 state);
void snap_save(struct trace_snap *snap, int cpu);
void snap_unsave(struct trace_snap *snap);
bool snap_recall(struct trace_snap *snap);

/* buffer.c */
void snap_recount(struct trace_snap *snap);
void snap_recount_all(struct trace_snapshots *s);
int snap_check_limit(struct trace_snapshots *s, long more);
struct trace_snap *snap_alloc(struct trace_array *tr, struct trace_buffer *buffer);
unsigned long snap_buffer_kb(struct trace_buffer *buffer);
struct trace_snap *snap_alloc_like(struct trace_snapshots *s);
struct trace_snap *snap_alloc_spare(struct trace_snapshots *s);
void snap_free(struct trace_snapshots *s, struct trace_snap *snap);
unsigned long snap_trimmed_kb(struct trace_snap *snap);
int snap_trim(struct trace_snapshots *s, struct trace_snap *snap);
void snap_settle(struct trace_snap *snap);
void snap_put_owner(struct trace_snapshots *s);

static inline struct trace_snapshots *snap_next_part(struct trace_member_iter *it)
{
	struct trace_array *tr = trace_next_member(it);

	return tr ? tr->snapshots : NULL;
}

/* @s and its channels. The caller has the lock or the mutex of @s: the channels do not change. */
#define for_each_part(part, s)							\
	for (struct trace_member_iter it_ = trace_members_of((s)->tr);		\
	     ((part) = snap_next_part(&it_));)

/* slot.c */
bool snap_lock(struct trace_snapshots *s);
void snap_unlock(struct trace_snapshots *s);
bool snap_lock_all(struct trace_snapshots *s);
void snap_unlock_all(struct trace_snapshots *s);
unsigned long snap_change_begin(struct trace_snapshots *s, bool (*lock)(struct trace_snapshots *s));
void snap_change_end(struct trace_snapshots *s, void (*unlock)(struct trace_snapshots *s),
		     unsigned long flags);

/* The lock in a task, to the end of a block. */
DEFINE_LOCK_GUARD_1(snap_change, struct trace_snapshots,
		    _T->flags = snap_change_begin(_T->lock, snap_lock),
		    snap_change_end(_T->lock, snap_unlock, _T->flags), unsigned long flags)

/* The same for all parts of a cut. */
DEFINE_LOCK_GUARD_1(snap_change_all, struct trace_snapshots,
		    _T->flags = snap_change_begin(_T->lock, snap_lock_all),
		    snap_change_end(_T->lock, snap_unlock_all, _T->flags), unsigned long flags)

bool snap_fits(const struct trace_snapshots *s, const struct trace_snap *snap);
bool snap_is_free(const struct trace_snapshots *s, struct trace_snap *snap);
void snap_get(struct trace_snap *snap);
int snap_relied_on(struct trace_snapshots *s);
bool snap_is_needed(struct trace_snapshots *s, const struct snap_slot *slot);
bool snap_is_ready(const struct trace_snapshots *s, const struct snap_slot *slot);
void snap_discard(struct trace_snapshots *s, struct trace_snap *snap);
void snap_collect(struct trace_snapshots *s);
struct trace_snapshots *snap_get_channel(struct trace_snapshots *s, unsigned int n);
int snap_add_spare(struct trace_snapshots *s, struct snap_slot *slot);
int snap_provide_one(struct trace_snapshots *s, struct snap_slot *slot);
int snap_provide(struct trace_snapshots *s, struct snap_slot *slot);
int snap_arm(struct trace_snapshots *s, struct snap_slot *slot);
void snap_disarm(struct snap_slot *slot);
void snap_settle_next(struct trace_snapshots *s, struct snap_slot *slot);
void snap_free_slot(struct trace_snapshots *s, struct snap_slot *slot, bool all);
void snap_drop(struct trace_snapshots *s, struct snap_slot *slot, struct trace_snap *snap);
int snap_erase(struct trace_snapshots *s, struct snap_slot *slot, int cpu);
void snap_erase_all(struct trace_snapshots *s);
void snap_free_all(struct trace_snapshots *s);
int snap_erase_cpu_all(struct trace_snapshots *s, int cpu);
struct trace_snap *snap_get_last(struct trace_snapshots *s, struct snap_slot *slot);
void snap_put(struct trace_snapshots *s, struct trace_snap *snap);
struct trace_snap *snap_part_of(const struct trace_snap *whole, const struct trace_snapshots *part);

/* report.c */
int snap_report(struct trace_snapshots *s, struct trace_snapshots *of, const char *file,
		const char *what, int err);
void snap_report_next(struct trace_snapshots *s, int err);

/* take.c */
struct snap_off snap_off_now(const struct trace_snapshots *s);
int snap_take(struct trace_snapshots *s, struct snap_slot *slot, const struct snap_request *req);
void snap_first_begin(struct trace_snapshots *s);
void snap_first_end(struct trace_snapshots *s);
int snap_take_wait(struct trace_snapshots *s, struct snap_request *req);
void snap_keep_begin(struct trace_snapshots *s, struct snap_keep keep);
int snap_take_pending(struct trace_snapshots *s);
void snap_claim_pending(struct trace_snapshots *s, struct snap_claim *claim);
void snap_end_pending(struct trace_snapshots *s, long requests, int ret);

/* delay.c */
void snap_delay_init(struct trace_snapshots *s);
void snap_delay_set(struct trace_snapshots *s, u64 ns);
int snap_delay_wait(struct trace_snapshots *s, struct snap_waiter *waiter);

/* request.c */
int snap_expand_live(struct trace_array *tr);
int snap_arm_user(struct trace_array *tr, const char *file);

/* crash.c */
void snap_crash_add(struct trace_snapshots *s);
extern const char * const snap_by_names[];
extern unsigned long snap_crash_on;
const char *snap_crash_parse(char *text, unsigned long *on);
void trace_snapshot_crash(enum snap_by by);

/* list.c */
void snap_show(struct seq_file *m, struct trace_array *tr, struct trace_snap *snap);
void snap_show_part(struct seq_file *m, struct trace_array *part);
void snap_show_all(struct seq_file *m, struct trace_snapshots *s);

/* publish.c */
int snap_publish(struct trace_snapshots *s, struct trace_snap *snap, struct trace_array *whole);
void snap_retire(struct trace_snapshots *s, struct trace_snap *snap);
void snap_unpublish(struct trace_snapshots *s, struct trace_snap *snap);
bool snap_is_open(struct trace_snap *snap);
void snap_forget_leaving(struct trace_snapshots *s);

/* keep.c */
void snap_keep_queue(struct trace_snapshots *s);
void snap_keep_work(struct work_struct *work);
void snap_end_parts(struct trace_snap *whole);
int snap_keep_set(struct trace_snapshots *s, struct snap_keep keep);
int snap_keep_owned(struct trace_snapshots *s, int cpu, struct trace_snap **owned);
void snap_end_owned(struct trace_snap *snap);
int snap_tend(struct trace_snapshots *s);

/* own.c */
int snap_own(struct trace_snapshots *s, int cpu);
#endif /* _KERNEL_TRACE_SNAPSHOT_INTERNAL_H */
