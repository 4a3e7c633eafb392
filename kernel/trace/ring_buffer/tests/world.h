/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A buffer, a clock that only the test moves, and a list of all written records:
 * with these every record and its time can be accounted for.
 */
#ifndef _RING_BUFFER_TESTS_WORLD_H
#define _RING_BUFFER_TESTS_WORLD_H

#include <kunit/test.h>

#include "../internal.h"
#include "parse.h"

#define RBT_RECORDS	8192	/* that a test can write */
#define RBT_DEPTH	8	/* writes inside writes */

/* State of a record */
enum rbt_state {
	RBT_REFUSED,			/* there was no place */
	RBT_OPEN,			/* it is reserved */
	RBT_WRITTEN,			/* it was committed */
	RBT_TAKEN_BACK,			/* it was discarded */
	RBT_READ,			/* it was committed and consumed */
	RBT_GONE,			/* a reset dropped it */
};

/* A record that was written, or should have been */
struct rbt_rec {
	u64		time;		/* clock value of its reserve */
	u32		len;		/* bytes of payload */
	u8		state;		/* enum rbt_state */
};

/* A record that was consumed */
struct rbt_seen {
	u32		num;		/* its number */
	unsigned long	lost;		/* losses in front of it that the reader reported */
	bool		late;		/* it was in the ring that a swap put in place */
};

/* The world of one test */
struct rbt {
	struct kunit		*test;
	struct trace_buffer	*buffer;
	struct trace_buffer	*other;		/* one to swap with, or NULL */
	int			cpu;		/* the CPU that all of it is about */
	char			what[96];	/* part of the test, for messages */
	bool			failed;		/* a fault was reported; later ones are not */
	struct rbt_rec		*recs;		/* written ones, in the order of reserves */
	u32			nr;		/* of recs */
	struct rbt_seen		*seen;		/* consumed records, in that order */
	u32			nr_seen;	/* of seen */
	bool			swapped;	/* the two buffers were exchanged */
};

/* Step of the clock from one read to the next. */
extern u64 rbt_step;

/* Time of the last read. */
extern u64 rbt_now;

int rbt_init(struct kunit *test);
void rbt_exit(struct kunit *test);

/* The suite ring_buffer_@what, of what##_test_cases[], with a world for each test. */
#define RBT_SUITE(what)							\
	static struct kunit_suite what##_test_suite = {			\
		.name = "ring_buffer_" #what,				\
		.init = rbt_init,					\
		.exit = rbt_exit,					\
		.test_cases = what##_test_cases,			\
	};								\
	kunit_test_suite(what##_test_suite)

__printf(2, 3) void rbt_fail(struct rbt *w, const char *fmt, ...);

void rbt_open(struct rbt *w, unsigned int subbufs, unsigned int flags);
void rbt_open_other(struct rbt *w, unsigned int subbufs, unsigned int flags);
void rbt_open_two(struct rbt *w, unsigned int subbufs, unsigned int flags);
void rbt_use(struct rbt *w, struct trace_buffer *buffer);
void rbt_close(struct rbt *w);

int rbt_cut(struct trace_buffer *live, struct trace_buffer *spare, int cpu);

struct ring_buffer_event *rbt_reserve(struct rbt *w, unsigned int len, u32 *num);
struct ring_buffer_event *rbt_must_reserve(struct rbt *w, unsigned int len, u32 *num);
void rbt_commit(struct rbt *w, struct ring_buffer_event *rec, u32 num);
void rbt_discard(struct rbt *w, struct ring_buffer_event *rec, u32 num);
bool rbt_write(struct rbt *w, unsigned int len);
void rbt_write_n(struct rbt *w, unsigned int len, unsigned int n);
unsigned int rbt_room_for(struct rbt *w, unsigned int len);

u32 rbt_check(struct rbt *w, const void *payload, u64 ts);
void rbt_expect(struct rbt *w, struct ring_buffer_event *rec, u64 ts, u32 num);
bool rbt_consume(struct rbt *w);
void rbt_consume_n(struct rbt *w, unsigned int n);
struct ring_buffer_iter *rbt_iter(struct rbt *w, struct trace_buffer *buffer);
u32 rbt_iterate(struct rbt *w, struct ring_buffer_iter *iter, u32 from, u32 end);
void rbt_take_page(struct rbt *w, struct buffer_data_read_page *rpage, bool late,
		   struct rbt_page *page);
void rbt_account(struct rbt *w);
void rbt_drop_all(struct rbt *w);
void rbt_expect_empty(struct rbt *w, struct trace_buffer *buffer);
u32 rbt_count(struct rbt *w, enum rbt_state state);

struct rb_ring *rbt_ring(struct rbt *w);
void rbt_resize(struct rbt *w, unsigned int subbufs);
struct buffer_data_read_page *rbt_page(struct rbt *w, struct trace_buffer *buffer);

#endif /* _RING_BUFFER_TESTS_WORLD_H */
