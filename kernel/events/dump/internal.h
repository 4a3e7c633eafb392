/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /proc/PID/perf/ring-buffers: types and functions that the files of this directory share.
 *
 * Each file calls only files above it in this list:
 *
 *   ring.c    copy a ring while it is written, and find the records in the copy
 *   event.c   the events of a ring, and whether the caller may see their records
 *   record.c  the event of a record, and the fields of a record
 *   text.c    a record as a line of text
 *   data.c    a perf.data of all
 *   take.c    the open file
 */
#ifndef _KERNEL_EVENTS_DUMP_INTERNAL_H
#define _KERNEL_EVENTS_DUMP_INTERNAL_H

#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/perf_dump.h>
#include <linux/perf_event.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>
#include <linux/types.h>

#include "../internal.h"

/**
 * DOC: /proc/PID/perf/ring-buffers
 *
 * An open file is a copy of one ring, made by open(). It holds no event and no ring, and open()
 * holds only the ring while it copies, not the event. So munmap(), PERF_EVENT_IOC_SET_OUTPUT and
 * close() go on as without it.
 *
 * **Positions.** A ring of &perf_data_size() bytes has the bytes of the positions from its head
 * on: the size before the head, or behind it if it is written backward. A position is an unsigned
 * long that wraps, as &perf_buffer.head does.
 *
 * ============================  ==========================  ================================
 * field                         written by                  and here
 * ============================  ==========================  ================================
 * &perf_buffer.head             the writer, in reserving    trusted; only read
 * user_page->data_head          the writer, in committing;  only read; a value that is not near
 *                               user space can, too         &perf_buffer.head is not used
 * user_page->data_tail          user space                  only read; a value outside of the ring
 *                                                           is not used
 * the data                      the writer; perhaps user    only read, and only through
 *                               space                       &perf_buffer.data_pages
 * &perf_buffer.event_list       attach and detach, under    read under &perf_buffer.event_lock,
 *                               &perf_buffer.event_lock     which no writer takes
 * &perf_buffer.left             detach, under               the same
 *                               &perf_buffer.event_lock
 * ============================  ==========================  ================================
 *
 * **The copy.** In this order:
 *
 * 1. data_head, then smp_rmb(), then the data. It pairs with the smp_wmb() (B) between data and
 *    data_head in perf_output_put_handle(): records before data_head are complete.
 * 2. The data, then smp_rmb(), then &perf_buffer.head. A writer moves the head before it writes:
 *    if the copy has a byte of a record, the head that is read later is beyond that record. So
 *    bytes that are a ring or more from the later head may be those of two records, and are
 *    dropped. This order of the writer is given by local_cmpxchg() on x86, where stores stay in
 *    order, and where local_t is an atomic_long_t, since that cmpxchg is fully ordered. On
 *    machines with a local_t of their own, one grace period stands between data and head: a
 *    writer is an RCU reader.
 * 3. data_tail is read again after the later head. If the consumer has moved it meanwhile, the
 *    writer may have overwritten what lies before it (behind it in a ring that is written
 *    backward): the consumer has those records.
 *
 * The first data_tail is read in front of data_head and behind it, until both are the same: see
 * ring_bounds().
 *
 * Nothing of a copy is trusted. A size that is too small, not a multiple of 8, or over the end
 * ends the records; each step of a walk goes on by 8 bytes at least.
 *
 * **Where the records begin.**
 *
 * ==================  =============================================================
 * ring                first record
 * ==================  =============================================================
 * forward             at data_tail
 * forward, overwrite  unknown. Each record ends where the next one begins, and the last one at
 *                     the head: the oldest position from which this chain leads to the head
 * backward            at the head, the newest; the copy is turned around later
 * ==================  =============================================================
 *
 * **Rights.** open() checks the access to the process, and takes the file descriptor, under one
 * hold of exec_update_lock, so the descriptor is one of the program that was checked. Each event
 * that outputs to the ring now must be one that the caller could open: see dump_needs(). An event
 * that has left the ring may have left records of any kind, so from then on the ring needs every
 * right. The events are looked at after the copy: each record in it was written by one of them,
 * or by one that has left. They are looked at before it, too, so that a caller without rights
 * copies nothing.
 *
 * Only the event of the descriptor is held, by its file, and only until the copy begins. Of the
 * others, fields are read while they are on the list: a reference to one would disturb
 * perf_event_open(), which frees an event that it cannot complete, and warns if there is another
 * reference. So only for the event of the descriptor a security module is asked whether it may be
 * read, as mmap() does.
 *
 * Each read() checks the access to the process, and the rights that the events need, for its own
 * caller.
 *
 * **Memory.** All of it is charged to the memory cgroup of the reader. The copy with its events is
 * charged to RLIMIT_MEMLOCK of the user, too, as a locked segment of shared memory is.
 */

/**
 * struct dump_ring - a copy of a ring
 * @data:     the copy
 * @size:     of the ring
 * @start:    where the records begin in @data
 * @len:      bytes of records
 * @records:  their number
 * @damaged:  bytes behind @len that are no records
 * @gone:     bytes that may have been overwritten during the copy, and are left out
 * @lost:     number of whole records in @gone, as far as it can be told
 * @backward: the ring is written backward
 * @bad_tail: data_tail is outside of the ring
 */
struct dump_ring {
	void		*data;
	unsigned long	size;
	unsigned long	start;
	unsigned long	len;
	unsigned long	records;
	unsigned long	damaged;
	unsigned long	gone;
	unsigned long	lost;
	bool		backward;
	bool		bad_tail;
};

/* Rights that a ring needs beside access to the process */
#define DUMP_KERNEL	BIT(0)	/* has addresses of the kernel: perf_allow_kernel() */
#define DUMP_CPU	BIT(1)	/* has records of all tasks of a CPU: perf_allow_cpu() */
#define DUMP_RAW	BIT(2)	/* has raw data: perf_allow_tracepoint() */
#define DUMP_PERFMON	BIT(3)	/* CAP_PERFMON */
#define DUMP_REGS	BIT(4)	/* has registers of the kernel: not with LOCKDOWN_PERF */
#define DUMP_ALL	GENMASK(4, 0)

/**
 * struct dump_event - an event that outputs to the ring
 * @attr: its attributes
 * @id:   its ID in records
 * @lost: records that had no room
 * @cpu:  its CPU, or -1
 * @task: the task that it counts for, with a reference, or NULL
 */
struct dump_event {
	struct perf_event_attr	attr;
	u64			id;
	u64			lost;
	int			cpu;
	struct task_struct	*task;
};

/* How is the event of a record found? */
enum dump_find {
	DUMP_FIND_ANY,	/* all have records of the same form */
	DUMP_FIND_ID,	/* each record has an ID at a fixed place */
	DUMP_FIND_NOT,
};

/**
 * struct dump_events - the events of a ring
 * @event: in the order of their IDs
 * @nr:    their number
 * @needs: rights that the ring needs
 * @find:  how the event of a record is found
 */
struct dump_events {
	struct dump_event	*event;
	unsigned int		nr;
	unsigned int		needs;
	enum dump_find		find;
};

/**
 * struct perf_dump - a copy of a ring, with its events
 * @ring:     the copy
 * @events:   the events
 * @fd:       the file descriptor
 * @exec_id:  number of the program that has the descriptor
 * @kept:     the ring has an overwrite mode: it keeps the newest records
 * @paused:   the writer is stopped
 * @dropped:  records without room that the ring has not reported yet
 * @aux_size: bytes of the AUX area
 * @ns:       the namespace of the PIDs in records
 * @charged:  bytes that @ucounts has for this copy
 * @ucounts:  the user of the opener, with a reference, or NULL
 * @head:     of a perf.data: all in front of the records
 * @head_len: bytes of @head
 */
struct perf_dump {
	struct dump_ring	ring;
	struct dump_events	events;
	unsigned int		fd;
	u64			exec_id;
	bool			kept;
	bool			paused;
	unsigned long		dropped;
	unsigned long		aux_size;
	struct pid_namespace	*ns;
	size_t			charged;
	struct ucounts		*ucounts;
	void			*head;
	size_t			head_len;
};

/* ring.c */
int dump_ring_copy(struct perf_buffer *rb, bool backward, struct dump_ring *ring);
unsigned int dump_record_size(const void *data, unsigned long room);

#if IS_ENABLED(CONFIG_PERF_DUMP_KUNIT_TEST)
/* Acts while a ring is copied, behind each page. */
extern void (*dump_ring_hook)(struct perf_buffer *rb);
#endif

/* event.c */
int dump_events_get(struct perf_buffer *rb, struct dump_events *events);
void dump_events_put(struct dump_events *events);
void dump_events_sort(struct dump_events *events);
unsigned int dump_needs(const struct perf_event_attr *attr, bool task, bool tracepoint);
int dump_events_allowed(const struct dump_events *events);

/* record.c */

/**
 * struct dump_fields - what is left of a record
 * @at:  the next field
 * @end: behind the last one
 * @cut: a field was missing
 */
struct dump_fields {
	const void	*at;
	const void	*end;
	bool		cut;
};

const struct dump_event *dump_event_of(const struct dump_events *events,
				       const struct perf_event_header *header);
unsigned int dump_id_size(const struct perf_event_attr *attr);
const void *dump_take(struct dump_fields *f, size_t size);
u64 dump_take_u64(struct dump_fields *f);
u32 dump_take_u32(struct dump_fields *f);
u16 dump_take_u16(struct dump_fields *f);
bool dump_sample_tid(const struct dump_events *events, const struct perf_event_header *header,
		     u32 *pid, u32 *tid);

/* data.c */
int dump_data_head(struct perf_dump *dump);

#endif
