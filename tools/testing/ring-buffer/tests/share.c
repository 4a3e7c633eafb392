// SPDX-License-Identifier: GPL-2.0
/*
 * Several readers that consume together: one of them, a resize or a reset on CPU 1 is stepped, and
 * at each of its instructions CPU 0 writes, cuts, or is another of the readers. Each of them sees
 * every record or, exactly, the number of those that it lost.
 */
#include "test.h"

#define RING_SUBBUFS	6
#define READERS		3

/*
 * @next: number of the record behind the last one that it has seen; @begins: in the middle: then it
 * is told also of those that were overwritten in front of that
 */
static struct reader {
	struct ring_buffer_reader	*reader;
	u64				next;
	bool				begins;
} readers[READERS];

static bool cut, dropped;	/* the ring was cut off, or reset */
static u64 unread;		/* number of a record that was cut off with it, and one lacks */
static u64 from;		/* the first record behind that */
static int burst_len;

static void open_one(struct reader *r, u64 next)
{
	r->reader = ring_buffer_reader_open(buf, 0);
	r->next = next;
	r->begins = next;
	if (!r->reader)
		fault(F_REFUSED, "ring_buffer_reader_open");
}

static void close_all(void)
{
	int i;

	for (i = 0; i < READERS; i++)
		ring_buffer_reader_close(readers[i].reader);
}

/* Read up to @max records, each of which is the next one or behind as many as are lost */
static int take(struct reader *r, int max)
{
	struct ring_buffer_event *e;
	unsigned long lost;
	int n, stepping;
	u64 ts, num;

	for (n = 0; n != max; n++) {
		e = ring_buffer_reader_peek(r->reader, 0, &ts, &lost);
		if (!e)
			break;
		stepping = step_pause();
		num = record_number(e, 0);
		if (num < r->next)
			fault(F_ORDER, "reader %d sees %llu behind %llu", (int)(r - readers), num,
			      r->next);
		else if (num != r->next + lost && !((cut || dropped) && num == from && !lost) &&
			 !r->begins)
			fault(F_LOST, "reader %d is told of %lu between %llu and %llu",
			      (int)(r - readers), lost, r->next, num);
		r->next = num + 1;
		r->begins = false;
		step_resume(stepping);
		ring_buffer_reader_advance(r->reader, 0);
	}
	return n;
}

/* ---- what is stepped, and what comes in between ------------------------------- */

static void op_slow(void) { take(&readers[0], 3); }
static void op_middle(void) { take(&readers[1], 3); }
static void op_fast(void) { take(&readers[2], 3); }
/* One: the record of the other one is valid until the next but one look */
static void one_slow(void) { take(&readers[0], 1); }
static void one_middle(void) { take(&readers[1], 1); }
static void one_fast(void) { take(&readers[2], 1); }
static void op_grow(void) { resize_to(9); }
static void op_shrink(void) { resize_to(3); }

/* It begins where the slowest one of the others is, which may have to go behind its last record */
static void op_reopen(void)
{
	ring_buffer_reader_close(readers[0].reader);
	open_one(&readers[0], readers[1].next - 1);
}

static void op_reset(void)
{
	dropped = true;
	from = put_count(0);
	ring_buffer_reset_cpu(buf, 0);
}

static void burst(void)
{
	int i;

	for (i = 0; i < burst_len; i++)
		put(buf, REC_LEN, PUT_COMMIT);
}

static void cut_here(void)
{
	int ret = cut_one(buf, buf2, 0);

	if (ret)
		fault(F_REFUSED, "ring_buffer_cut_all: %d", ret);
	from = put_count(0);
	burst();
}

static void act_write(void) { step_remote(0, burst, 0); }
static void act_cut(void) { step_remote(0, cut_here, 0); }
/* One that the stepped one comes past is in the next ring then, where numbers are large */
static void act_cut_middle(void)
{
	unread = min(readers[1].next, readers[2].next);
	act_cut();
	step_remote(2, one_middle, 1);
}

static void act_slow(void) { step_remote(2, one_slow, 1); }
static void act_fast(void) { step_remote(2, one_fast, 1); }
static void act_reopen(void) { step_remote(2, op_reopen, 1); }

/* @before: records that the slowest one has read before */
struct share {
	void	(*op)(void);
	void	(*act)(void);
	int	before;
};

/* ---- a run ---------------------------------------------------------------------- */

static void fill_ring(int before, int laps)
{
	int i;

	fresh(RING_SUBBUFS * SUBBUF_DATA, true);
	fresh2(RING_SUBBUFS * SUBBUF_DATA);
	for (i = 0; i < RING_SUBBUFS * PER_SUBBUF; i++)
		put(buf2, REC_LEN, PUT_COMMIT);
	start_over();
	cut = false;
	dropped = false;
	from = 0;
	for (i = 0; i < READERS; i++)
		open_one(&readers[i], 0);
	burst_len = 3 * PER_SUBBUF + 5;
	burst();
	take(&readers[0], before);
	for (i = 1; i < READERS; i++)
		take(&readers[i], i * (PER_SUBBUF + 1));
	burst_len = laps * PER_SUBBUF;
	burst();
}

static void check_all(const struct step *s, int laps)
{
	int i;

	host_cpu_switch(0);
	burst_len = 2;
	burst();
	for (i = 0; i < READERS; i++) {
		take(&readers[i], -1);
		EXPECT(readers[i].next == put_count(0),
		       "at instruction %ld, %d laps, reader %d ends at %llu of %llu", s->at[0],
		       laps, i, readers[i].next, put_count(0));
		EXPECT(ring_buffer_reader_empty(readers[i].reader, 0),
		       "at instruction %ld, %d laps, reader %d", s->at[0], laps, i);
	}
	EXPECT(!ring_buffer_entries_cpu(buf, 0), "at instruction %ld, %d laps, %lu are left",
	       s->at[0], laps, ring_buffer_entries_cpu(buf, 0));
	if (!dropped && !cut)
		EXPECT_EQ(ring_buffer_read_events_cpu(buf, 0) + ring_buffer_overrun_cpu(buf, 0),
			  put_count(0));
	close_all();
	start_over();
}

static void one_step(struct step *s, const struct share *sh, int laps)
{
	struct ring_buffer_event *e;

	fill_ring(sh->before, laps);
	cut = sh->act == act_cut || sh->act == act_cut_middle;
	unread = -1;
	burst_len = cut ? 3 : (RING_SUBBUFS + 2) * PER_SUBBUF;
	host_cpu_switch(1);
	if (!step_run(s))
		return;
	if (unread != -1) {
		e = ring_buffer_peek(buf2, 0, NULL, NULL);
		EXPECT(e && record_number(e, 0) <= unread, "at instruction %ld, %llu is lost",
		       s->at[0], unread);
	}
	/* The run without an action has cut nothing */
	if (cut && !s->at[0]) {
		host_cpu_switch(0);
		cut_here();
	}
	check_all(s, laps);
}

static void run_share(long arg)
{
	const struct share *sh = (const struct share *)arg;
	int laps, most = sh->act == act_cut || sh->act == act_cut_middle ? 1 : 5;

	for (laps = 0; laps < most; laps += 2) {
		struct step s = { .op = sh->op, .act = { sh->act }, .may_wait = 1 };

		for_each_instruction(&s, s.last > 5000 && !exhaustive ? 61 : stride)
			one_step(&s, sh, laps);
	}
}

#define SHARE(name, ...)							\
	{ "share." name, run_share, (long)&(const struct share){ __VA_ARGS__ }, 0, "R3, R4" }

const struct scenario share_scenarios[] = {
	SHARE("slow-write", op_slow, act_write),
	SHARE("middle-write", op_middle, act_write),
	SHARE("fast-write", op_fast, act_write),
	SHARE("reopen-write", op_reopen, act_write),
	SHARE("edge-write", op_slow, act_write, PER_SUBBUF - 2),
	SHARE("grow-write", op_grow, act_write),
	SHARE("shrink-write", op_shrink, act_write),
	SHARE("slow-cut", op_slow, act_cut),
	SHARE("fast-cut", op_fast, act_cut),
	SHARE("pass-cut", op_slow, act_cut_middle, PER_SUBBUF),
	SHARE("slow-fast", op_slow, act_fast),
	SHARE("fast-slow", op_fast, act_slow),
	SHARE("edge-fast", op_slow, act_fast, PER_SUBBUF - 2),
	SHARE("middle-reopen", op_middle, act_reopen),
	SHARE("grow-slow", op_grow, act_slow),
	SHARE("grow-fast", op_grow, act_fast),
	SHARE("shrink-slow", op_shrink, act_slow),
	SHARE("shrink-fast", op_shrink, act_fast),
	SHARE("grow-reopen", op_grow, act_reopen),
	SHARE("reset-fast", op_reset, act_fast),
	SHARE("reset-slow", op_reset, act_slow),
	{ }
};
