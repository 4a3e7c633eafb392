/* SPDX-License-Identifier: GPL-2.0 */
/* The oracle and the helpers of the scenarios; compiled with kernel headers. */
#ifndef _RB_TEST_H
#define _RB_TEST_H

#include <linux/kernel.h>
#include <linux/err.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include "../shim/shim.h"
#include "run.h"

/* ---- the clock: every read is noted for the reserve that made it -------- */

#define MAX_CLOCK_STEPS 4
void clock_set(u64 now);
void clock_steps(int n, const s64 *steps);	/* applied in turn; default: 8 */
u64 test_clock(void);
extern bool clock_ties, clock_steps_back;

/* ---- writing: every record is noted, before it is reserved -------------- */

enum put_how { PUT_COMMIT, PUT_DISCARD, PUT_WRITE, NR_PUT };
bool put(struct trace_buffer *b, unsigned int len, enum put_how how);
void put_in(int ctx, struct trace_buffer *b, unsigned int len, enum put_how how);
void in_context(int ctx, void (*fn)(void));	/* an interrupt only where they are on */
void put_n(int n);				/* of REC_LEN bytes, to buf */
void put_on(int cpu, struct trace_buffer *b, int n);
u64 put_count(int cpu);				/* committed */
u64 put_failed(int cpu);

/* ---- reading: every record is checked and noted ------------------------- */

#define LOST_UNKNOWN (-1L)
void saw(struct ring_buffer_event *e, u64 ts, long lost, int cpu);
u64 record_number(struct ring_buffer_event *e, int cpu);
int consume(struct trace_buffer *b, int cpu, int max);
int iterate(struct trace_buffer *b, int cpu);
int read_pages(struct trace_buffer *b, int cpu, bool full, size_t len, int max);
u64 seen_count(int cpu);
u64 last_seen(int cpu, int ctx);
u64 last_put(int cpu, int ctx);

/* reader.c: mmap() of @n pages from page @at on, and as user space reads a mapping */
int map_area(unsigned long at, unsigned long n, unsigned long flags);
extern unsigned long map_flags;		/* of the last one */
int map_buffer(int subbufs);
int map_look(void);

/* page.c: by an independent parser of the page format; returns records or < 0 */
typedef void (*page_fn)(struct ring_buffer_event *e, u64 ts, long lost, void *arg);
int page_parse(void *page, unsigned int size, page_fn fn, void *arg);
bool page_missed(void *page, long *lost);
bool page_rest_is_clear(void *page, unsigned int size);

/* In memory that survives a reboot, none of it scratch memory, which the base 6.12 has not */
#if defined(RB_NOTE_SIZE) || defined(LINUX_7)
#define range_buffer(size, flags, order, start, bytes)	\
	__ring_buffer_alloc_range(size, flags, order, start, bytes, 0, NULL)
#else
#define range_buffer	ring_buffer_alloc_range
#endif

/* ---- a run -------------------------------------------------------------- */

extern struct trace_buffer *buf, *buf2;
extern bool live;		/* reader beside writer: the log of records wraps */
extern bool any_order;		/* two read: they note it in any order, so it is sorted */
void fresh(unsigned long bytes, bool overwrite);
void fresh2(unsigned long bytes);
void begin(int subbufs, bool overwrite);	/* fresh(), and a clock in steps of 8 */
void begin_two(int subbufs);	/* ... and another one, to exchange rings with */
void resize_to(int subbufs);			/* on all CPUs */
int cut_one(struct trace_buffer *live, struct trace_buffer *spare, int cpu);
void no_leak(const char *what);			/* frees the buffers, with all that begin() made */
void drain(void);

/* A task of CPU 1 begins to wait for a record; all wake-ups have come, and it sleeps */
bool waits(int cpu, int full, ring_buffer_cond_fn cond);
bool sleeps(void);
bool never(void *data);

bool boot(unsigned long start, unsigned long bytes, unsigned int flags);	/* of a range */
void start_over(void);		/* forgets all writes and reads */

#define END_NO_LOST	(1 << 0)	/* lost_events has no fixed value here */
#define END_NO_LOSS	(1 << 1)	/* reset: records may be dropped */
#define END_NO_DROP	(1 << 2)
#define END_NO_ORDER	(1 << 3)
void check_end(int cpu, unsigned int flags, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The usual end: the rest of CPU 0 is read, and all are accounted for */
#define read_out(fmt, ...)							\
	do {									\
		consume(buf, 0, -1);						\
		check_end(0, 0, fmt, ##__VA_ARGS__);				\
	} while (0)

/* ---- where in the buffer the stepped operation starts ------------------- */

#define SUBBUF_DATA	4080		/* R8: 4 KiB less the page header */
#define REC_LEN		32U
#define PER_SUBBUF	((int)(SUBBUF_DATA / (REC_LEN + 4)))

struct place {
	int overwrite;
	int subbufs;			/* filled before */
	int records;			/* on the sub-buffer that is written */
};

bool next_place(struct place *p, bool few);
const char *place_name(const struct place *p);	/* valid until the next call */
__printf(3, 4) int print(char *to, size_t size, const char *fmt, ...);
void fill(const struct place *p);

#define EXPECT(cond, fmt, ...)							\
	do {									\
		if (!(cond))							\
			fault(F_VALUE, "%s:%d: %s: " fmt, __func__, __LINE__,	\
			      #cond, ##__VA_ARGS__);				\
	} while (0)

#define EXPECT_EQ(a, b)								\
	do {									\
		long long a_ = (long long)(a), b_ = (long long)(b);		\
		if (a_ != b_)							\
			fault(F_VALUE, "%s:%d: %s is %lld, not %lld", __func__,	\
			      __LINE__, #a, a_, b_);				\
	} while (0)

#endif /* _RB_TEST_H */
