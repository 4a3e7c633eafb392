/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ring buffer: types and functions that the files of this directory share.
 *
 * Each file calls only files above it in this list:
 *
 *   format.c    records and pages, as callers and user space know them
 *   check.c     do the records of a sub-buffer add up?
 *   ring.c      a ring: enter the next sub-buffer, publish, find, count
 *   hotplug.c   CPUs that all buffers refuse: in hotplug, or all buffers are off
 *   read.c      the readers' lock; the reader's sub-buffer and position
 *   quiesce.c   rings that a writer never leaves
 *   wait.c      wait for records, wake
 *   control.c   switches of a buffer: recording, the overwrite mode, the clock
 *   persist.c   memory that survives a reboot
 *   alloc.c     rings and sub-buffers: allocate, hold, free
 *   consume.c   read record by record
 *   page.c      read whole pages
 *   write.c     reserve, commit, discard
 *   global.c    one ring for all CPUs
 *   remote.c    buffers that are written elsewhere (Linux 7.2 and later)
 *   iterate.c   read without consuming
 *   share.c     several readers that consume together
 *   stat.c      statistics
 *   map.c       rings that user space maps
 *   swap.c      swap, cut, reset
 *   resize.c    number and size of sub-buffers
 *   buffer.c    buffers and their CPUs: allocate, come online, free
 *
 * Below is first how all of them play together, then the structures, and the functions by file,
 * in that order. subbuf.h has the words that writers and readers exchange.
 */
#ifndef _RING_BUFFER_INTERNAL_H
#define _RING_BUFFER_INTERNAL_H

/**
 * DOC: ring buffer
 *
 * A buffer has a ring for each CPU, and a ring is written by its own CPU only. (In a global
 * buffer, the holder of a lock is that CPU: see global.c.)
 * Writers are tasks and the interrupts that come there; readers are anywhere.
 *
 * ::
 *
 *   trace_buffer              the handle that callers have
 *     rb_cpu [CPU]            for the buffer's lifetime: writes in progress, waiters
 *       rb_ring               the part that a swap or a resize exchanges
 *         slots[nr]           which sub-buffer holds which sequence
 *         rb_subbuf           tail word, publish word, numbers, data page
 *
 * **Sequences.** Each sub-buffer that the writer enters gets the next number,
 * its sequence; slot ``sequence % nr`` names it. The slots therefore hold the
 * last nr sequences, and nothing ever has to be moved along. The reader owns
 * one sub-buffer more, which is in no slot.
 *
 * **States of a sub-buffer**, by the words below:
 *
 * =========  ===============================  ================================
 * State      Word that says so                End of the state
 * =========  ===============================  ================================
 * empty      slot word: empty                 the writer enters it
 * open       tail word: an offset             there is no room for a record
 * closed     tail word: RB_CLOSED, sequence   the outermost writer's commit
 * final      publish word: RB_PUB_FINAL       the writer comes round and
 *                                             overwrites it, or the reader
 *                                             takes it
 * taken      slot word: empty, other id       the reader takes the next one and
 *                                             leaves this one as its spare
 * =========  ===============================  ================================
 *
 * The reader may take a sub-buffer that is still open, as soon as anything of
 * it is published; the writer goes on in it until it is full.
 *
 * **Reserve.** The tail word holds the offset of the next record and the time
 * of the last one. Reserve reads it, then the clock, and exchanges it for the
 * word behind the new record. Only an interrupt on this CPU can make that fail,
 * and then it has written a record itself; the loop ends after as many rounds
 * as there were interrupts. Place and time of a record are taken as one, so
 * records lie in the order of their times, each with the time that its own
 * reserve read, nested ones included.
 *
 * The tail word has 46 bits for the time and counts from &rb_subbuf.epoch, which
 * is the time of the first record. After a long pause, or when the clock steps
 * back, 46 bits are not enough: the record gets an absolute stamp and begins another
 * epoch. While the epoch changes, its value is far from any time, so an interrupt
 * writes a stamp of its own.
 *
 * **Commit.** &rb_ring.nest counts the writers inside a ring. Only the
 * outermost one publishes: all that it and its interrupts wrote, up to the tail
 * word. It does so before it takes @nest to 0, and looks at the tail word once
 * more after, since an interrupt in between has left its record to it.
 *
 * Reserve leaves in &rb_cpu.write all that commit needs. An interrupt that
 * writes finds it in use, saves it and puts it back.
 *
 * **The next sub-buffer** is entered in four steps: close the tail word, claim
 * the slot, open the tail word of the sub-buffer in it, move &rb_ring.tail. Each
 * is an exchange from the one value it can follow. An interrupt between any two
 * of them does the rest, and the steps that the interrupted writer then takes change
 * nothing. All helpers set the fields of a sub-buffer to the same values, and no
 * writer can publish while there is another one to help. Only one of them sets the
 * fields that could differ: the time stamp, the count.
 * A sequence may be entered only less than a lap ahead of the one being
 * committed: otherwise an interrupt would overtake the record that it
 * interrupted.
 *
 * **Reading.** The reader takes a sequence by exchanging its slot word for one
 * that names the reader's old sub-buffer as a spare. If the writer was there
 * first, the exchange fails and the oldest sequence is another one; if the
 * reader was first, the writer finds the spare. An iterator copies and looks
 * whether the slot word is still the same.
 *
 * **Loss.** Records have running numbers. A sub-buffer stores that of its first
 * record, so the loss of a reader is a difference; the writer that overwrites
 * an unread sub-buffer adds its count to &rb_ring.overrun. For every ring:
 * written = read + overrun + still there.
 *
 * **Several readers** consume together. Each has a place in the ring, in front of the reader or
 * where that is. The reader consumes the records that all of them have read, and takes a
 * sub-buffer only for the slowest one. A place is valid in one generation of one ring, and holds no
 * reference to it; where it is not valid, it is that of the reader. See share.c.
 *
 * **Swap** exchanges &rb_cpu.ring. A writer has noted in &rb_cpu.write which
 * ring it entered, and commits there. It looks at the pointer again after the
 * clock and before its exchange: a record that is later than the first one of
 * the new ring goes to the new ring.
 *
 * **Cut** is a swap after which the live ring is empty. &rb_ring.tail is rb_fresh,
 * which has no room: the next writer begins a generation of the ring behind all that was
 * published before. Sequences below &rb_ring.first_seq are of generations before it. If the cut
 * was asked for the records from a time on, ring_buffer_drop_older() moves the reader there.
 *
 * **Resize** exchanges a new ring in, waits until no writer is in the old one, and
 * moves the memory of its sub-buffers into the new one, the oldest last and in parts. Between two
 * of them a reader that finds nothing more in the old ring goes on in the new one; see resize.c.
 *
 * **Discard** takes back the newest record by the reverse exchange. Where
 * interrupts wrote behind it, they are moved down: no reader has seen them yet.
 *
 * **CPU hotplug.** RCU does not wait for a CPU that comes online or goes offline, while the
 * function tracer may well write there. So from rb_cpu_dying() to rb_cpu_starting() its records
 * are refused, and counted with those that nest too deep. &rb_place of a CPU says where a
 * writer finds its part: in &trace_buffer.cpus or, where records are refused in all buffers,
 * in &trace_buffer.nobody. Both callbacks run on that CPU, between records, so that a writer
 * inside a ring is always one that a grace period waits for. Swap and cut do not care, but do
 * not begin on such a CPU: what they find could be freed under them.
 *
 * ===============  =================  ===========================================
 * CPU              &rb_place          Until
 * ===============  =================  ===========================================
 * alive            its own            rb_cpu_dying(), tracing_off_all()
 * refused by all   nobody[RB_ALL_OFF] tracing_on_all(); may be in hotplug as well
 * in hotplug       nobody[RB_IN_...]  rb_cpu_starting(); also offline, or never online
 * ===============  =================  ===========================================
 *
 * **Locks**
 *
 * ====================  ===========  ==========================================
 * Lock                  Kind         Protects; taken in
 * ====================  ===========  ==========================================
 * rb_cpu.map_lock       mutex        the mapping of a CPU's ring; task
 * trace_buffer.mutex    mutex        size, order, flags, the right to reset; task,
 *                                    inside map_lock; held while writers are
 *                                    waited for
 * .cpu_mutex            mutex        the CPUs that there are or are off, and the
 *                                    size of a new one; task, inside mutex and
 *                                    in CPU hotplug, which allocates inside; no
 *                                    reader takes it
 * rb_cpu.exchange       try lock     that the ring pointers stay; any context,
 *                                    only tasks wait for it
 * rb_ring.lock          raw spin     the reader's position, carried statistics; any context with
 *                                    interrupts off, in an NMI by trylock. Inside it only the next
 *                                    two
 * rb_cpu.places         raw spin     the places of several readers, which go from ring to ring; any
 *                                    context but NMI, inside the lock of the ring that readers use
 * rb_share_mutex        mutex        changes of &trace_buffer.readers; task. Looked at with
 *                                    interrupts off, which RCU waits for
 * rb_hotplug_lock       raw spin     the count of CPUs that came or went; task, and with
 *                                    interrupts off. Innermost.
 * rb_global.lock        try lock     writing to the one ring of a global buffer; any
 *                                    context with interrupts off, for a bounded time
 * preemption off        RCU          that a ring found by a pointer stays
 * ====================  ===========  ==========================================
 *
 * Writers take none of them, but those of a global buffer rb_global.lock.
 *
 * **Operations at the same time**: "-" anything goes, "L" one after the other
 * by rb_ring.lock, "M" by &trace_buffer.mutex, "E" by rb_cpu.exchange: a swap gets -EBUSY
 * and the others wait, "B" the resize gets -EBUSY, "Q" the row waits for writers
 * to leave the ring it replaced, which stops no writer, "D" writers are refused
 * meanwhile.
 *
 * ===========  =====  =======  =======  ======  ====  =====  ===
 * .            write  consume  iterate  resize  swap  reset  map
 * ===========  =====  =======  =======  ======  ====  =====  ===
 * write        \-     \-       \-       \-      \-    \-     \-
 * consume      \-     L        L        L       \-    L      L
 * iterate      \-     L        L        L       \-    L      L
 * resize       Q      L        L        M       E     M      B
 * swap         \-     \-       \-       E       E     E      E
 * reset        D      L        L        M       E     M      M
 * map          \-     L        L        B       E     M      M
 * ===========  =====  =======  =======  ======  ====  =====  ===
 *
 * **Barriers.** Against interrupts on the own CPU the compiler's order is
 * enough, and barrier() gives it. Between CPUs there are these pairs:
 *
 * ======================  =========================  ===========================
 * Writer                  Reader                     Orders
 * ======================  =========================  ===========================
 * rb_publish_subbuf:A     rb_locate:B,               records, first number, count;
 *                         rb_reader_pub:A,           the publish word
 *                         rb_ring_written:C
 * rb_claim_slot:A         rb_locate:A,               the slot; later stores to
 *                         rb_view_holds:A,           the sub-buffer
 *                         rb_ring_bytes:B
 * rb_publish:A            rb_ring_written:A,         numbers of a sub-buffer;
 *                         rb_ring_written:D,         &rb_ring.commit
 *                         rb_ring_bytes:A,
 *                         rb_reader_renew:B
 * rb_next_subbuf:A        rb_reader_renew:A          first_seq of a generation; its first
 *                                                    &rb_ring.tail
 * rb_next_subbuf:A        rb_is_left:A               writers in the ring before; the first
 *                                                    tail of the generation
 * rb_forget:A             rb_reader_renew:C          the tail of a new generation; its number
 * rb_forget:A             rb_is_read:A               that a ring leaves a spare; its generation
 * rb_forget:B             rb_reader_find:A,          a generation; what is written in it
 *                         rb_reader_is_settled:A
 * rb_publish:B            rb_ring_written:B          final; the next use's base
 * rb_leave:A,             rb_forget:A                all that writers stored;
 * rb_finish:A                                        &rb_ring.nest is 0
 * rb_claim_slot:A         rb_reader_take:A,          all use of a sub-buffer by others;
 *                         rb_adopt:A, rb_adopt:B     the slot word
 * rb_adopt:C              rb_locate:A                a sub-buffer in the new ring; its old slot
 * rb_inherit:A            rb_iter_is_void:A,         all of a successor; its address
 *                         ring_buffer_iter_bound:A,
 *                         rb_iter_load_dump:A
 * rb_swap:A,              rb_enter:A                 a ring's content; its address
 * rb_go_live:A
 * rb_cpu_add:A            rb_get_cpu:A               a CPU's part; its bit in cpumask
 * rb_place_set:A          rb_switch_all:A            the word of a CPU; the switch of all buffers
 * rb_obey:A               rb_obey:A                  a switch; the word of a CPU
 * rb_obey_all:A           rb_obey:A                  a switch; a part that comes just then
 * rb_obey:A               rb_wait_tell:A             a switch; a waiter that looks at it
 * rb_wake_work:A          ring_buffer_wait:A         a record; the count of wake-ups
 * rb_wait_recheck:A       rb_wait_pending:A          all use of the wait queues; no callback left
 * ======================  =========================  ===========================
 *
 * rb_publish_subbuf() stores the page's commit field with release order, too: the other
 * side is a program in user space, which polls that field in a mapping.
 *
 * rb_ring_quiesce() needs none of them. It comes behind a grace period, which orders all
 * that writers stored in the ring.
 */

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "boots.h"
#include "race.h"
#include "subbuf.h"

struct ring_buffer_remote;
struct rb_global;
struct rb_remote;
struct rb_persist;
struct rb_persist_ring;

/**
 * struct rb_losses - records of a ring that cannot be read
 * @overrun:	   overwritten
 * @commit_overrun: refused because a sub-buffer in the way was not committed
 * @dropped:	   refused because the ring was full of unread ones
 */
struct rb_losses {
	unsigned long		overrun;
	unsigned long		commit_overrun;
	unsigned long		dropped;
};

/* &rb_ring.generation: the present one is dropped, also what is in flight; the next one */
#define RB_VOID			1U
#define RB_GENERATION		2U

/* Nothing of the generation is there to be read. The position is behind the one before. */
#define RB_READER_WAITS		BIT(0)
/*
 * A resize gave the reader its sub-buffer, which did not fit into the slots. It is still the
 * oldest of the ring, as if it were in one.
 */
#define RB_READER_INHERITED	BIT(1)

/**
 * struct rb_reader - the consuming reader of a ring, under &rb_ring.lock
 * @sb:		the sub-buffer that it owns
 * @seq:	the sequence in it
 * @pos:	bytes of it that were consumed
 * @time:	time of the record before @pos, or U64_MAX if that is not known
 * @num:	running number of the next record to consume
 * @next:	the sub-buffer that it is about to take, or has half taken, or NULL: for a dump
 * @lost:	records lost in front of the one that will be consumed next
 * @read:	records that were consumed
 * @older:	records that were dropped, see ring_buffer_drop_older()
 * @taken:	sub-buffers behind @from that it has owned
 * @from:	sequence behind which &rb_ring.refused counts
 * @since:	time since which the rings before have all records, see rb_ring_since()
 * @num_base:	running number from which statistics count
 * @carried:	losses of the rings before, and less those of the generations before
 * @generation:	&rb_ring.generation of all this
 * @unsettled:	RB_READER_* that rb_reader_settle() looks at
 */
struct rb_reader {
	struct rb_subbuf	*sb;
	u64			seq;
	unsigned int		pos;
	u64			time;
	u64			num;
	struct rb_subbuf	*next;
	unsigned long		lost;
	unsigned long		read;
	unsigned long		older;
	u64			taken;
	u64			from;
	u64			since;
	u64			num_base;
	struct rb_losses	carried;
	unsigned int		generation;
	u8			unsettled;
};

/**
 * struct rb_ring - one CPU's ring of sub-buffers
 *
 * The part that a swap or a resize exchanges.
 *
 * @tail:	sub-buffer being written; own CPU
 * @commit:	last sub-buffer with published records; outermost writer, read
 *		by all
 * @nest:	the shares of the writers inside this ring; own CPU, read by a taker;
 *		set to 0 where a writer died, see quiesce.c
 * @overrun:	records overwritten before they were read; own CPU
 * @commit_overrun: records refused because a sub-buffer in the way was not
 *		committed; own CPU
 * @dropped:	records refused because the ring was full of unread ones; own CPU
 * @refused:	sequence of the last sub-buffer behind which a record was refused; own CPU
 * @first_seq:	first sequence of this generation; own CPU, read by all
 * @first_num:	running number of its first record; outermost writer, valid once
 *		@commit is there
 * @first_lost:	@overrun, @commit_overrun and @dropped as they were before it;
 *		own CPU
 * @lock:	serializes readers, and readers with the exchange of the ring
 * @reader:	the consuming reader
 * @missed:	the same as @refused of a global buffer, for records that did not get here; any CPU
 * @generation:	counts resets, the cuts that put the ring in place of a live one, and its end
 *		by two, in steps of RB_GENERATION; RB_VOID: its records are dropped; taker, or
 *		@lock where there is none
 * @erased:	counts what makes the copies of iterators void: resets, also of the rings
 *		before, and its end, in the same steps; @lock, read by all
 * @successor:	ring that takes over the records, set once; @lock
 * @successor_num: running number at which the successor's number 0 stands
 * @left:	@successor has all of them, and readers use that; @lock
 * @ref:	one for &rb_cpu, one for each iterator, one for each &rb_map
 * @id:		no other ring ever has it
 * @mapped:	how many of those: its sub-buffers keep their pages, and it is not put
 *		in place of a live one
 * @persist:	header that survives a reboot, or NULL
 * @this_boot:	first sequence of this boot: what is before it, another boot has left in memory
 *		that survived; 0 in other memory. Does not change once readers can find the ring
 * @last_boot:	first sequence of the boot before this one: what is before it, earlier boots have
 *		left; as @this_boot
 * @rcu:	for the grace period before its sub-buffers are freed, and then the
 *		one before it is itself
 * @reap:	frees them
 * @nr:		slots
 * @order:	pages of a sub-buffer, as a power of two
 * @nr_subbufs:	length of @subbufs
 * @subbufs:	sub-buffers by id: as many as slots, the reader's, and one without memory.
 *		They stay; a resize moves their memory
 * @slots:	slot words, by sequence modulo @nr
 */
struct rb_ring {
	struct rb_subbuf	*tail;
	struct rb_subbuf	*commit;
	unsigned int		nest;
	local_t			overrun;
	local_t			commit_overrun;
	local_t			dropped;
	u64			first_seq;
	u64			first_num;
	struct rb_losses	first_lost;
	local64_t		refused;

	raw_spinlock_t		lock ____cacheline_aligned_in_smp;
	struct rb_reader	reader;
	atomic64_t		missed;
	unsigned int		generation;
	unsigned int		erased;
	struct rb_ring		*successor;
	u64			successor_num;
	bool			left;

	refcount_t		ref;
	atomic_t		mapped;
	u64			id;
	struct rb_persist_ring	*persist;
	u64			this_boot;
	u64			last_boot;
	struct rcu_head		rcu;
	struct work_struct	reap;
	unsigned int		nr;
	unsigned int		order;
	unsigned int		nr_subbufs;
	struct rb_subbuf	**subbufs;
	atomic64_t		slots[];
};

/**
 * struct rb_write - a write in progress
 * @live:	&rb_cpu.ring when the writer entered: where the record goes, and
 *		its commit; 0 if there is no write. Set first and cleared last
 * @sb:		the record's sub-buffer
 * @before:	tail word that the record replaced
 * @now:	time of the record, all 64 bits
 * @share:	its part of &rb_ring.nest; constant in the plain case
 * @nested:	level of ring_buffer_nest_start(), where it is special
 * @level:	interrupt_context_level() of the writer, where it is special
 * @reentered:	this context was writing already, where the write is special
 */
struct rb_write {
	unsigned long		live;
	struct rb_subbuf	*sb;
	u64			before;
	u64			now;
	u16			share;
	u8			level;
	u8			nested;
	bool			reentered;
};

/* A commit is plain if the ring has one writer, and that a plain one. */
#define RB_SHARE_PLAIN		1
#define RB_SHARE_SPECIAL	0x100

/* Writers on one CPU: a plain one; four contexts and a re-entered one on each level. */
#define RB_NEST_LEVELS		4
#define RB_MAX_WRITES		(1 + 5 * RB_NEST_LEVELS)

/*
 * &rb_cpu.state: a task waits for a record; number of those that switched this CPU off;
 * the buffer is off, see rb_obey()
 */
#define RB_STATE_WAKE		BIT(0)
#define RB_STATE_OFF_ONE	BIT(1)
#define RB_STATE_OFF		GENMASK(15, 1)
#define RB_STATE_REFUSE		BIT(16)

static_assert((RB_STATE_OFF & -RB_STATE_OFF) == RB_STATE_OFF_ONE);

/* Kinds of waiters, see wait.c. */
#define RB_WAKE_ANY		BIT(0)
#define RB_WAKE_FULL		BIT(1)

/**
 * struct rb_wait - waiters of one CPU, or of the whole buffer, also while it has no rings
 * @any:	those that wait for a record
 * @full:	those that wait for a watermark
 * @seq:	counts the wake-ups
 * @off:	number of those that switched the CPU off, see &rb_cpu.state
 * @recheck:	a second look after a grace period, see wait.c
 * @pending:	1: @recheck is queued; 2: and has to be once more
 */
struct rb_wait {
	wait_queue_head_t	any;
	wait_queue_head_t	full;
	atomic_t		seq;
	u16			off;
	struct rcu_head		recheck;
	atomic_t		pending;
};

/**
 * struct rb_copies - copies of the records that callers read
 * @rec:  as large as a sub-buffer; used in turn, so that one survives the next call
 * @boots_ago: of each copy, how many boots ago it was written; if @rec is of memory that survives
 * @turn: index of the next one
 * @len:  bytes of the longest record
 * @before: shorter ones that these replaced: a caller may still look at a record
 *	  there. They only become longer, so these are less than @rec in sum
 */
struct rb_copies {
	struct rb_data_page	*rec[2];
	u8			boots_ago[2];
	unsigned int		turn;
	unsigned int		len;
	struct rb_copies	*before;
};

/**
 * struct rb_view - a sub-buffer that rb_locate() found
 * @sb:   the sub-buffer
 * @slot: its slot
 * @word: the slot word that says so, or RB_SLOT_NONE if the reader owns it
 * @pub:  its publish word
 */
struct rb_view {
	struct rb_subbuf	*sb;
	atomic64_t		*slot;
	u64			word;
	u64			pub;
};

/**
 * struct rb_map - a CPU's ring as user space has mapped it
 * @ring:   the ring of the sub-buffers, not necessarily the live one
 * @meta:   the meta page; &rb_ring.lock of the live one
 * @pages:  data pages by the user's index: those of @ring, then some for copies
 * @nr:     number of @pages
 * @seq:    sequence in @ring that the reader was given last
 * @copy:   index of the copy that it was given last
 * @lost:   records lost in front of it
 */
struct rb_map {
	struct rb_ring			*ring;
	struct trace_buffer_meta	*meta;
	struct rb_data_page		**pages;
	unsigned int			nr;
	u64				seq;
	unsigned int			copy;
	unsigned long			lost;
};

/**
 * struct ring_buffer_iter - a non-consuming read of one CPU, see iterate.c
 * @rcpu: part of the CPU of the records
 * @ring: the ring they are in, or were when the read began
 * @seq:  sequence of the sub-buffer that is being read
 * @base: position there of the copy's first byte
 * @generation: &rb_ring.generation that it reads
 * @erased: &rb_ring.erased that it has met
 * @num:  running number of the record at the cursor
 * @from: records with a lower number were seen already
 * @end:  number of the first record that came behind ring_buffer_iter_bound()
 * @bounded: there is such a number
 * @missed: how many were overwritten in front of the next one
 * @told: as many of those count no more if a shared place goes behind the record looked at
 * @c:    walk over the copy
 * @rec:  record that was peeked at, or NULL
 * @ts:   its time
 * @next: the cursor behind it
 * @single: a copy has one record, and @data is not its own
 * @dump: it waits for no lock, and has @data in common with those of the other CPUs
 * @ring_id: &rb_ring.id of the ring of a shared place, which holds no reference to it; else 0
 * @order: pages of @data, as a power of two
 * @size: bytes of @data that a copy can have
 * @data: the copy
 */
struct ring_buffer_iter {
	struct rb_cpu			*rcpu;
	struct rb_ring			*ring;
	u64				seq;
	unsigned int			base;
	unsigned int			generation;
	unsigned int			erased;
	u64				num;
	u64				from;
	u64				end;
	bool				bounded;
	unsigned long			missed;
	unsigned long			told;
	struct rb_cursor		c;
	struct ring_buffer_event	*rec;
	u64				ts;
	struct rb_cursor		next;
	bool				single;
	bool				dump;
	u64				ring_id;
	unsigned int			order;
	unsigned int			size;
	unsigned char			*data;
};

/**
 * struct ring_buffer_reader - one of several readers that consume together, see share.c
 * @node:   in &trace_buffer.readers
 * @rcu:    for the grace period before it is freed
 * @buffer: the buffer
 * @cpu:    CPU of the records, or RING_BUFFER_ALL_CPUS
 * @at:	    where it is, by CPU, or of that CPU alone; &rb_cpu.places
 */
struct ring_buffer_reader {
	struct list_head		node;
	struct rcu_head			rcu;
	struct trace_buffer		*buffer;
	int				cpu;
	struct ring_buffer_iter		at[];
};

/**
 * struct rb_cpu - a CPU's part of a buffer, for the buffer's whole lifetime
 * @ring:	the ring that is written, and a count of exchanges in the bits
 *		that its alignment leaves free
 * @state:	RB_STATE_*; records are refused while it says off
 * @nested:	level of ring_buffer_nest_start(); own CPU
 * @full:	the last record found no room, the next one may not either; own CPU
 * @stamp_abs:	every record gets an absolute stamp
 * @special:	the four above at once: 0 in the plain case
 * @write:	the innermost write in progress; own CPU
 * @wake_full:	a task waits for a watermark
 * @depth:	number of writes in @below; own CPU
 * @below:	the writes that it interrupted; own CPU
 * @read_ring:	the ring that readers use: @ring but for a resize in progress
 * @exchange:	held while @ring may change: the owner, or 0
 * @iterators:	open iterators
 * @buffer:	the buffer
 * @cpu:	the CPU
 * @mapped:	user mappings; @map_lock
 * @map_lock:	serializes mapping; inside it comes &trace_buffer.mutex
 * @map:	the mapping, or NULL; changed under both
 * @nest_drops:	records refused because writers nest too deep or the CPU is in hotplug, and
 *		those that a stage of a global buffer dropped; own CPU
 * @spare:	data page that a reader gave back, and its order, or 0
 * @copies:	copies of records for callers; &rb_ring.lock
 * @places:	lock of &ring_buffer_reader.at
 * @dump:	where a dump is, see ring_buffer_dump_start()
 * @wanted:	first sequence that a task with a watermark waits for
 * @wanted_ring: &rb_ring.id of its ring, or 0: not known; both without a lock
 * @due:	RB_WAKE_* that are left for @wake_work
 * @wake_work:	does the waking, in hard interrupt context
 * @next_ring:	ring that is being put in place; &trace_buffer.mutex
 * @next_copies: the same for @copies; &trace_buffer.mutex
 * @resetting:	part of the reset in progress; &trace_buffer.mutex
 * @idle:	the CPU has written nothing since the last cut; set by the taker, which
 *		holds @exchange
 * @oldest:	&ring_buffer_cut.from of the last cut that gave this spare part records, or 0
 * @drain:	of the stage of a global buffer: moves its records to the one ring; else NULL
 */
struct rb_cpu {
	unsigned long		ring;
	union {
		struct {
			atomic_t	state;
			u8		nested;
			u8		full;
			u8		stamp_abs;
		};
		u64		special;
	};
	struct rb_write		write;
	atomic_t		wake_full;
	unsigned int		depth;
	struct rb_write		below[RB_MAX_WRITES - 1];

	struct rb_ring __rcu	*read_ring ____cacheline_aligned_in_smp;
	atomic_long_t		exchange;
	atomic_t		iterators;
	struct trace_buffer	*buffer;
	int			cpu;
	unsigned int		mapped;
	struct mutex		map_lock;	/* @mapped, @map */
	struct rb_map		*map;
	local_t			nest_drops;
	unsigned long		spare;
	struct rb_copies	copies;
	raw_spinlock_t		places;		/* &ring_buffer_reader.at */
	struct ring_buffer_iter	dump;
	u64			wanted;
	u64			wanted_ring;
	atomic_t		due;
	struct irq_work		wake_work;
	struct rb_ring		*next_ring;
	struct rb_copies	next_copies;
	bool			resetting;
	bool			idle;
	u64			oldest;
	void			(*drain)(struct rb_cpu *stage);
};

static_assert(offsetofend(struct rb_cpu, stamp_abs) <= offsetofend(struct rb_cpu, special));
static_assert(RB_SHARE_SPECIAL <= U16_MAX && RB_MAX_WRITES < RB_SHARE_SPECIAL);

/**
 * struct rb_switched - when a buffer has begun and ended to refuse records
 * @offs:     stops: &trace_buffer.record_disabled is not 0 any more; counted before it
 * @ons:      starts: it is 0 again; counted after it
 * @busy:     contexts that tell the CPUs now, so that some may differ from that word
 * @cpus_off: sum of &rb_wait.off of all CPUs; counted before that, and until the start is noted
 * @off_at:   time before a stop, of the last one or of an older one
 * @on_at:    time after the last start that is counted, of the buffer or of a CPU
 *
 * See ring_buffer_was_on(). Times are in the unit of the buffer's clock, and 0 for another clock.
 */
struct rb_switched {
	atomic_t	offs, ons, busy, cpus_off;
	atomic64_t	off_at, on_at;
};

/**
 * struct trace_buffer - the handle that callers have
 * @record_disabled: records are refused while this is not 0
 * @switched:	when records were refused, in it or on a CPU, and taken again
 * @flags:	&enum ring_buffer_flags
 * @stamp_abs:	every record gets an absolute stamp; @cpu_mutex
 * @clock:	where time comes from; called with preemption off
 * @cpumask:	CPUs that have their part
 * @mutex:	serializes changes of size, order, flags, mappings, and reset; held while
 *		they wait for writers
 * @cpu_mutex:	protects @cpumask, @seen, @expanded, @order, @stamp_abs and &rb_wait.off.
 *		Inside @mutex.
 *		CPU hotplug takes it: nothing waits for a grace period in it
 * @order:	pages of a sub-buffer, as a power of two; @mutex and @cpu_mutex
 * @longest:	the longest payload; @mutex and @cpu_mutex
 * @node:	in the CPU hotplug state's list
 * @expanded:	CPUs have their part when they come online; until then it has no rings
 * @seen:	CPUs that have their part, or get it when it is expanded; never cleared, and set
 *		before @cpumask
 * @lock_key:	lockdep class of the readers' locks
 * @persist:	memory that survives a reboot, or NULL
 * @readers:	&ring_buffer_reader.node of those that consume together, by RCU
 * @wait:	waiters for any CPU
 * @cpu_wait:	waiters by CPU
 * @wake_work:	wakes them while there are no rings, in hard interrupt context
 * @global:	of a global buffer, see global.c; else NULL
 * @remote:	of a buffer that is written elsewhere, see remote.c; else NULL
 * @parts:	by CPU: the parts that have what is read; @cpus, but in a global buffer
 * @nobody:	&rb_no_cpu, for CPUs that all buffers refuse; by RB_IN_HOTPLUG and RB_ALL_OFF
 * @cpus:	by CPU: the parts that writers use; &rb_no_cpu until a CPU was online
 */
struct trace_buffer {
	atomic_t		record_disabled;
	struct rb_switched	switched;
	unsigned int		flags;
	bool			stamp_abs;
	u64			(*clock)(void);
	cpumask_var_t		cpumask;
	struct mutex		mutex;		/* size, order, flags, reset */
	struct mutex		cpu_mutex;	/* read by CPU hotplug */
	unsigned int		order;
	unsigned int		longest;
	struct hlist_node	node;
	bool			expanded;
	cpumask_var_t		seen;
	struct lock_class_key	*lock_key;
	struct rb_persist	*persist;
	struct list_head	readers;
	struct rb_wait		wait;
	struct rb_wait		*cpu_wait;
	struct irq_work		wake_work;
	struct rb_global	*global;
	struct rb_remote	*remote;
	struct rb_cpu		**parts;
	struct rb_cpu		*nobody[4];
	struct rb_cpu		*cpus[];
};

/* Why all buffers refuse the records of a CPU. */
#define RB_IN_HOTPLUG		BIT(0)
#define RB_ALL_OFF		BIT(1)

/* Offsets in struct trace_buffer: where the writers of a CPU find their part. */
#define RB_PLACE(cpu)		(offsetof(struct trace_buffer, cpus) + (cpu) * sizeof(void *))
#define RB_NOBODY(reasons)	offsetof(struct trace_buffer, nobody[reasons])

static_assert(RB_NOBODY(RB_IN_HOTPLUG | RB_ALL_OFF) + sizeof(void *) == RB_PLACE(0));

/* The reasons in a place; 0: its records are not refused. */
static __always_inline unsigned long rb_refused(unsigned long place)
{
	return place >= RB_PLACE(0) ? 0 : (place - RB_NOBODY(0)) / sizeof(void *);
}

#define rb_for_each_cpu(buffer, cpu)	for_each_cpu(cpu, (buffer)->cpumask)

/* The part of a CPU, or NULL if it never was online, or the buffer has no rings. */
static __always_inline struct rb_cpu *rb_get_cpu(struct trace_buffer *buffer, int cpu)
{
	if ((unsigned int)cpu >= nr_cpu_ids || !cpumask_test_cpu(cpu, buffer->cpumask))
		return NULL;
	/* Pairs with rb_cpu_add:A. */
	smp_rmb(); /* RBB(rb_get_cpu:A) */
	return buffer->parts[cpu];
}

/* One ring has the records of all CPUs, also in a snapshot of such a buffer. */
static __always_inline bool rb_is_global(struct trace_buffer *buffer)
{
	return READ_ONCE(buffer->flags) & RB_FL_GLOBAL;
}

/* Something else than this kernel writes it: see remote.c. */
static __always_inline bool rb_is_remote(struct trace_buffer *buffer)
{
	return IS_ENABLED(CONFIG_TRACE_REMOTE) && buffer->remote;
}

/* The CPU that the one ring of a global buffer counts for. */
static inline int rb_home(void)
{
	return cpumask_first(cpu_possible_mask);
}

/* A ring has at least that many slots: one is written, one may be read. */
#define RB_MIN_SLOTS	2

/* For memory of a buffer: fail rather than call the OOM killer. */
#define RB_GFP			(GFP_KERNEL | __GFP_RETRY_MAYFAIL)

/* &rb_cpu.ring: a ring's address leaves this many bits for the count. */
#define RB_RING_ALIGN		64
#define RB_RING_TAG		(RB_RING_ALIGN - 1UL)

static __always_inline struct rb_ring *rb_untag(unsigned long tagged)
{
	return (struct rb_ring *)(tagged & ~RB_RING_TAG);
}

/* The word that puts @ring in place of the one in @tagged. */
static inline unsigned long rb_retag(struct rb_ring *ring, unsigned long tagged)
{
	return (unsigned long)ring | ((tagged + 1) & RB_RING_TAG);
}

static inline atomic64_t *rb_slot(struct rb_ring *ring, u64 seq)
{
	u32 index;

	div_u64_rem(seq, ring->nr, &index);
	return &ring->slots[index];
}

static inline unsigned int rb_subbuf_size(unsigned int order)
{
	return PAGE_SIZE << order;
}

static inline unsigned int rb_subbuf_room(unsigned int order)
{
	return rb_subbuf_size(order) - RB_PAGE_HDR;
}

/* The longest payload: behind a header and a length, alone on its page. */
static inline unsigned int rb_max_payload(unsigned int order)
{
	return rb_subbuf_room(order) - RB_RECORD_HDR - sizeof(u32);
}

/* Behind a record of a global buffer comes a word; each of its stages has one page. */
static inline void rb_set_order(struct trace_buffer *buffer, unsigned int order)
{
	unsigned int longest = rb_max_payload(order);

	if (rb_is_global(buffer))
		longest = min(longest, rb_max_payload(0)) - RB_GLOBAL_WORD - RB_STAMP_LEN;
	WRITE_ONCE(buffer->order, order);
	WRITE_ONCE(buffer->longest, longest);
}

static __always_inline bool rb_overwrites(struct trace_buffer *buffer)
{
	return READ_ONCE(buffer->flags) & RB_FL_OVERWRITE;
}

/*
 * A 64-bit access that is made of a lock must not be done in an NMI, which may have come while the
 * lock was held: a dump finds nothing, and a switch has no time.
 */
static inline bool rb_refuse_read(void)
{
	return IS_ENABLED(CONFIG_GENERIC_ATOMIC64) && in_nmi();
}

/*
 * Load a field that the writer may be storing at this moment, without a lock or a mark.
 * Then a second look finds another word, and the caller begins anew.
 */
#define rb_glance(x)	data_race(READ_ONCE(x))

/**
 * rb_exchange_trylock() - try to get the right to exchange a CPU's ring
 * @rcpu:  the CPU's part
 * @owner: 1, or an address that only the owner uses
 *
 * Context: Any context, including NMI.
 * Return: false if there is an owner.
 */
static inline bool rb_exchange_trylock(struct rb_cpu *rcpu, long owner)
{
	return !atomic_long_cmpxchg_acquire(&rcpu->exchange, 0, owner);
}

/**
 * rb_exchange_lock() - wait for the right to exchange a CPU's ring
 * @rcpu: the CPU's part
 *
 * Only a swap can be in the way, and that does not sleep; other waiters are
 * kept out by &trace_buffer.mutex.
 *
 * Context: May sleep, &trace_buffer.mutex is held.
 */
static inline void rb_exchange_lock(struct rb_cpu *rcpu)
{
	lockdep_assert_held(&rcpu->buffer->mutex);
	while (!rb_exchange_trylock(rcpu, 1))
		cond_resched();
}

/**
 * rb_exchange_unlock() - give up the right to exchange a CPU's ring
 * @rcpu: the CPU's part
 *
 * Context: Any context, including NMI.
 */
static inline void rb_exchange_unlock(struct rb_cpu *rcpu)
{
	atomic_long_set_release(&rcpu->exchange, 0);
}

/**
 * rb_persist_opened() - note that a sub-buffer holds a new sequence
 * @sb: the sub-buffer; its page says already that there are no records
 *
 * After a crash the page's commit field decides, so none of its former records is
 * believed, even if only some of these stores were done. Several writers may do
 * them, all with the same values.
 *
 * Context: Any context, including NMI.
 */
static inline void rb_persist_opened(struct rb_subbuf *sb)
{
	if (!sb->persist)
		return;
	WRITE_ONCE(sb->persist->read, 0);
	WRITE_ONCE(sb->persist->seq, sb->seq);
}

/**
 * rb_boots_ago() - how many boots ago was a sub-buffer written?
 * @ring: the ring
 * @seq:  sequence of the sub-buffer
 *
 * Context: Any context.
 * Return: 0, it is of this boot; 1, of the last one; 2, of an earlier one.
 */
static inline unsigned int rb_boots_ago(const struct rb_ring *ring, u64 seq)
{
	return (seq < ring->this_boot) + (seq < ring->last_boot);
}

/**
 * rb_persist_consumed() - note how far a sub-buffer was read
 * @sb:  the sub-buffer
 * @pos: bytes that were consumed
 *
 * Context: &rb_ring.lock is held, and the reader owns @sb.
 */
static inline void rb_persist_consumed(struct rb_subbuf *sb, unsigned int pos)
{
	if (sb->persist)
		WRITE_ONCE(sb->persist->read, pos);
}

/**
 * rb_persist_emptied() - note that a sub-buffer holds nothing
 * @sb: the sub-buffer
 *
 * Context: No writer is in @sb. &rb_ring.lock is held, or the ring is not in use yet.
 */
static inline void rb_persist_emptied(struct rb_subbuf *sb)
{
	if (sb->persist)
		WRITE_ONCE(sb->persist->seq, 0);
}

/* ring.c */
extern struct rb_subbuf rb_fresh;
void rb_note_refused(struct rb_ring *ring, u64 seq);
bool rb_next_subbuf(struct rb_ring *ring, struct rb_subbuf *sb, u64 tail, bool overwrite);
void rb_publish(struct rb_ring *ring);
void rb_ring_close(struct rb_ring *ring);
bool rb_locate(struct rb_ring *ring, u64 *seq, struct rb_view *view);
bool rb_view_holds(const struct rb_view *view);
u64 rb_ring_written(struct rb_ring *ring);
unsigned long rb_ring_overrun(struct rb_ring *ring);
unsigned long rb_ring_entries(struct rb_ring *ring);
unsigned int rb_ring_dirty(struct rb_ring *ring);

/* Publish @sb up to @units. */
static __always_inline void rb_publish_subbuf(struct rb_subbuf *sb, u64 final, u32 units)
{
	if (IS_ENABLED(CONFIG_RING_BUFFER_VALIDATE_TIME_DELTAS))
		rb_check_subbuf(sb, units, final);

	rb_race_point(PUBLISH);
	/*
	 * A copy for a crash dump, and for user space, which polls it in a mapping, see
	 * rb_publish_subbuf+mapping.litmus.
	 */
	rb_set_commit_release(sb->page, units * RB_UNIT);
	rb_race_point(PUBLISH_COPY);
	/*
	 * Pairs with rb_locate:B, rb_reader_pub:A and rb_ring_written:C: a reader
	 * that sees these bytes published sees their content, &rb_subbuf.first, and
	 * the count of a final one.
	 */
	atomic64_set_release(&sb->publish, /* RBB(rb_publish_subbuf:A) */
			     sb->pub_seq | final | units);
	rb_race_point(PUBLISHED);
}

/* hotplug.c */
extern struct rb_cpu rb_no_cpu;
DECLARE_PER_CPU_READ_MOSTLY(unsigned long, rb_place);
int rb_cpu_starting(unsigned int cpu);
int rb_cpu_dying(unsigned int cpu);
void rb_tell_on(void);
unsigned long rb_wait_for_writers(void);
bool rb_was_alive(int cpu, unsigned long since);

/* Of this CPU, with preemption off. Others change it at any time. */
static __always_inline unsigned long rb_this_place(void)
{
	/* A word that is loaded whole */
	return data_race(raw_cpu_read(rb_place));
}

/* The part that a CPU writes to, or NULL if there is none. */
static inline struct rb_cpu *rb_get_writer(struct trace_buffer *buffer, int cpu)
{
	struct rb_cpu *rcpu;

	if (!buffer->global)
		return rb_get_cpu(buffer, cpu);
	if ((unsigned int)cpu >= nr_cpu_ids)
		return NULL;
	rcpu = READ_ONCE(buffer->cpus[cpu]);
	return rcpu == &rb_no_cpu ? NULL : rcpu;
}

/* Number of the next record to show. Numbers pass 0, so the later one is not the larger. */
static inline u64 rb_iter_num(const struct ring_buffer_iter *iter)
{
	return (s64)(iter->from - iter->num) > 0 ? iter->from : iter->num;
}

/* Where a reader is on a CPU, or NULL if it does not read that one. */
static inline struct ring_buffer_iter *rb_reader_at(struct ring_buffer_reader *reader, int cpu)
{
	if (reader->cpu == RING_BUFFER_ALL_CPUS)
		return &reader->at[cpu];
	return reader->cpu == cpu ? reader->at : NULL;
}

/* Is a place of one of several readers in @ring, and in the generation that the reader is in? */
static inline bool rb_is_in(const struct rb_ring *ring, const struct ring_buffer_iter *at)
{
	return at->ring_id == ring->id && at->generation == ring->reader.generation;
}

/* read.c */
void rb_reader_clear(struct rb_ring *ring);
unsigned int rb_reader_fill(struct rb_ring *ring);
bool rb_reader_empty(struct rb_ring *ring);
s64 rb_reader_ahead(struct rb_ring *ring, const struct ring_buffer_iter *at);
bool rb_place_empty(struct rb_ring *ring, const struct ring_buffer_iter *at);
bool rb_reader_is_settled(struct rb_ring *ring);
bool rb_is_absent(struct trace_buffer *buffer, int cpu);
bool rb_reader_find(struct rb_ring *ring, const struct rb_reader *rd, u64 *seq,
		    struct rb_view *view);
void rb_reader_settle(struct rb_ring *ring, struct rb_reader *rd);
enum rb_lock { RB_LOCK_WAIT, RB_LOCK_TRY, RB_LOCK_NEXT };
bool rb_ring_lock(struct rb_ring *ring, enum rb_lock how);
void rb_ring_unlock(struct rb_ring *ring);
void rb_reader_carry(struct rb_ring *ring, struct rb_ring *old, unsigned long overwritten);
void rb_reader_inherit(struct rb_ring *old, unsigned long overwritten);
void rb_place_enter(struct ring_buffer_iter *at, struct rb_ring *ring, u64 num);
void rb_place_join(struct ring_buffer_iter *at, struct rb_ring *ring, u64 num);
void rb_places_miss(struct rb_cpu *rcpu, struct rb_ring *ring, u64 num);
void rb_readers_follow(struct rb_cpu *rcpu, struct rb_ring *old, struct rb_ring *ring, u64 less);
void rb_reader_leave(struct rb_cpu *rcpu, struct rb_ring *old);
struct rb_ring *rb_read_lock(struct rb_cpu *rcpu, unsigned long *flags);
struct rb_ring *rb_read_try(struct rb_cpu *rcpu, unsigned long *flags);
struct rb_ring *rb_read_trylock(struct rb_cpu *rcpu, unsigned long *flags);
void rb_read_unlock(struct rb_ring *ring, unsigned long flags);

/**
 * rb_reader_told() - note that the loss in front of the reader was told to a consumer
 * @rcpu: the CPU's part
 * @ring: the ring that readers use
 * @num:  running number of the record behind the loss
 *
 * For a consumer by other means than those of share.c. Readers of share.c that have not come to the
 * loss are told of their part of it later; but not if an NMI consumes.
 *
 * Context: &rb_ring.lock is held.
 */
static __always_inline void rb_reader_told(struct rb_cpu *rcpu, struct rb_ring *ring, u64 num)
{
	lockdep_assert_held(&ring->lock);
	if (likely(!ring->reader.lost))
		return;
	if (!in_nmi())
		rb_places_miss(rcpu, ring, num);
	ring->reader.lost = 0;
}

/**
 * rb_reader_pub() - what a reader may see of its own sub-buffer
 * @rd: the reader, or a copy of it
 *
 * While it waits, writers may still commit there what they began before a cut.
 *
 * Context: &rb_ring.lock is held, or @rd is a copy.
 * Return: the publish word, loaded with acquire order; while @rd waits, one that ends at its
 *	   position.
 */
static __always_inline u64 rb_reader_pub(const struct rb_reader *rd)
{
	if (unlikely(rd->unsettled & RB_READER_WAITS))
		return rb_pub_word(rd->seq, RB_PUB_FINAL, rd->pos / RB_UNIT);
	/* Pairs with rb_publish_subbuf:A. */
	return atomic64_read_acquire(&rd->sb->publish); /* RBB(rb_reader_pub:A) */
}

/**
 * rb_reader_skip() - note that records were consumed
 * @ring:    the ring
 * @pos:     position behind them
 * @time:    time of the last of them
 * @records: how many they were
 *
 * Context: &rb_ring.lock is held.
 */
static __always_inline void
rb_reader_skip(struct rb_ring *ring, unsigned int pos, u64 time, unsigned long records)
{
	struct rb_reader *rd = &ring->reader;

	lockdep_assert_held(&ring->lock);
	rd->pos = pos;
	rd->time = time;
	rd->num += records;
	rd->read += records;
	rb_persist_consumed(rd->sb, pos);
}

/* quiesce.c */
bool rb_ring_quiesce(struct rb_ring *ring, int cpu, unsigned long since);
void rb_forget_writes(struct rb_cpu *rcpu);

/* persist.c */
int rb_persist_attach(struct trace_buffer *buffer, unsigned long start, unsigned long size,
		      unsigned long scratch, bool spare);
int rb_persist_share(struct trace_buffer *buffer, struct trace_buffer *live);
void rb_persist_detach(struct trace_buffer *buffer);
void rb_persist_place(struct rb_cpu *rcpu, struct rb_subbuf *sb, unsigned int index);
void rb_persist_restore(struct rb_cpu *rcpu, struct rb_ring *ring);
struct rb_persist_ring *rb_persist_ring(struct trace_buffer *buffer, int cpu);
void rb_persist_forget(struct rb_ring *ring);
void rb_persist_go_live(struct rb_cpu *rcpu, struct rb_ring *ring);

/* alloc.c */
struct rb_ring *rb_ring_alloc(struct rb_cpu *rcpu, unsigned int nr, unsigned int order);
void rb_ring_put(struct rb_ring *ring);
void rb_iters_end(struct rb_ring *ring);
void rb_ring_strip(struct rb_ring *ring);
size_t rb_ring_memory(unsigned int nr, unsigned int order);
unsigned int rb_slots_for(unsigned long size, unsigned int order);
struct rb_data_page *rb_data_page_alloc(int cpu, unsigned int order, gfp_t gfp);
void rb_data_page_free(struct rb_data_page *page, unsigned int order);

/* consume.c */
struct ring_buffer_event *rb_reader_next(struct rb_ring *ring, struct rb_cursor *c);
int rb_copies_alloc(struct rb_cpu *rcpu, unsigned int order, struct rb_copies *copies);
void rb_copies_free(struct rb_copies *copies);

/* page.c */
unsigned int rb_page_tell(struct rb_data_page *page, unsigned int order, unsigned int used,
			  unsigned long lost);

/* wait.c */
void rb_wait_init(struct rb_wait *wait);
void rb_wait_destroy(struct trace_buffer *buffer);
void rb_wake_all(struct trace_buffer *buffer);
void rb_wake_empty_work(struct irq_work *work);
void rb_wake_work(struct irq_work *work);
void rb_wake_writer(struct rb_cpu *rcpu, struct rb_ring *ring);

/* control.c */
void rb_obey(struct trace_buffer *buffer, struct rb_cpu *rcpu);

/* write.c */
struct ring_buffer_event *rb_reserve_alone(struct rb_cpu *rcpu, unsigned long length);
void rb_commit_alone(struct rb_cpu *rcpu);

/* global.c */
struct rb_cpu *rb_stage_alloc(struct trace_buffer *buffer, int cpu);
unsigned long rb_stages_lost(struct trace_buffer *buffer);
void rb_stages_reset(struct trace_buffer *buffer, unsigned long since);

/* remote.c */
int rb_remote_attach(struct trace_buffer *buffer, struct ring_buffer_remote *from);
void rb_remote_poll(struct trace_buffer *buffer, int cpu);
void rb_remote_reset(struct rb_cpu *rcpu);

/* iterate.c */
bool rb_iter_load_from(struct ring_buffer_iter *iter, const struct rb_reader *rd);

/* stat.c */
u64 rb_ring_since(struct rb_ring *ring);

/* map.c */
void rb_map_update(struct rb_cpu *rcpu, struct rb_ring *ring);
bool rb_map_is_behind(struct rb_cpu *rcpu);

/* swap.c */
int rb_cut_all(const struct ring_buffer_cut *first, int cpu, void (*drop)(void *data), void *data);
typedef void (*rb_drop_fn)(struct rb_cpu *rcpu, struct rb_ring *ring, void *data);
void rb_reset(struct trace_buffer *buffer, const struct cpumask *which,
	      rb_drop_fn drop, void *data);

#endif /* _RING_BUFFER_INTERNAL_H */
