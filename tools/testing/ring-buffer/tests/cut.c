// SPDX-License-Identifier: GPL-2.0
/*
 * A cut: the records go to the spare buffer, and the spare's ring takes the place of
 * the live one, without its old records (rule 7). An interrupt or another CPU cuts at
 * every instruction of a write, and writes at every instruction of a cut. Each record
 * is in the spare or in the live buffer, once, and no older record comes back.
 */
#include "test.h"

#define RING_SUBBUFS 3

enum { BY_NMI, BY_IRQ, BY_OTHER_CPU, TWICE, NOTHING, CUT_IN_CUT };

static int how, cuts, refused, writes_before, writes_after;
static bool inside;

static void cut(void)
{
	int ret = cut_one(buf, buf2, RING_BUFFER_ALL_CPUS);

	if (ret == -EBUSY && inside)
		refused++;
	else if (ret)
		fault(F_REFUSED, "ring_buffer_cut_all: %d", ret);
	else
		cuts++;
}

static void op_commit(void) { put(buf, REC_LEN, PUT_COMMIT); }
static void op_discard(void) { put(buf, REC_LEN, PUT_DISCARD); }
static void op_long(void) { put(buf, 400, PUT_COMMIT); }
static void op_read(void) { consume(buf, 0, 2); }

static void interrupt(void)
{
	/*
	 * Behind the cut that is interrupted another one would throw away all of it,
	 * and that one the counters of this one.
	 */
	bool early = how == CUT_IN_CUT && !ring_buffer_empty_cpu(buf, 0) &&
		     !ring_buffer_overrun_cpu(buf, 0);

	put_n(writes_before);
	if (how <= BY_IRQ)
		cut();
	if (early) {
		int before = cuts;

		cut();
		/* Nor may that one do away with this one's. */
		if (cuts != before)
			consume(buf2, 0, -1);
	}
	put_n(writes_after);
}

static void once(void) { cut(); }

/* Read the records between the two cuts: the second one drops them. */
static void twice(void)
{
	cut();
	if (cuts)
		consume(buf2, 0, -1);
	/* The counters go with the ring: nothing may be in them. */
	if (!ring_buffer_overrun_cpu(buf2, 0))
		cut();
}

static void act(void)
{
	inside = true;
	switch (how) {
	case BY_OTHER_CPU:
		step_remote(1, once, false);
		break;
	case TWICE:
		step_remote(1, twice, false);
		break;
	case BY_IRQ:
	case CUT_IN_CUT:
		in_context(CTX_IRQ, interrupt);
		break;
	default:
		in_context(CTX_NMI, interrupt);
		break;
	}
	inside = false;
}

/* Without a cut, the spare holds the records from before this run. */
static void read_spare(void)
{
	host_cpu_switch(1);
	shim_rcu_run();
	if (cuts)
		consume(buf2, 0, -1);
	host_cpu_switch(0);
}

/*
 * The spare was live before, and is full of records that no reader may get. If @used,
 * the live ring holds records, else the next record is its first.
 */
static void prepare(const struct place *p, bool used)
{
	fresh(RING_SUBBUFS * SUBBUF_DATA, p->overwrite);
	fresh2(RING_SUBBUFS * SUBBUF_DATA);
	fill(p);
	cut();
	put_n(2 * PER_SUBBUF + 5);
	consume(buf, 0, 3);
	cut();
	start_over();
	cuts = 0;
	if (used)
		fill(p);
}

/* Read all records, and check that the next cut finds the next one. */
static void finish(void)
{
	put_n(1);
	read_spare();
	/* The counters go with the ring: nothing may be in them. */
	if (!ring_buffer_overrun_cpu(buf2, 0)) {
		cut();
		put_n(1);
		read_spare();
	}
	consume(buf, 0, -1);
}

struct how {
	int	how;
	void	(*op)(void);
};

static void run_cut(long arg)
{
	const struct how *h = (const struct how *)arg;
	static const int nr_writes[][2] = { { 0, 0 }, { 0, 1 }, { 1, 1 }, { 0, PER_SUBBUF + 1 } };
	struct place p = { .overwrite = -1 };
	int w, used;

	how = h->how;
	while (next_place(&p, true)) {
		struct step s = { .op = h->op, .act = { act } };

		for (w = 0; w < 2 * ARRAY_SIZE(nr_writes); w++) {
			used = w & 1;
			writes_before = nr_writes[w / 2][0];
			writes_after = nr_writes[w / 2][1];
			for_each_instruction(&s, stride) {
				prepare(&p, used);
				if (!step_run(&s))
					continue;
				finish();
				check_end(0, END_NO_LOST | END_NO_DROP, "at instruction %ld, %s%s",
					  s.at[0], place_name(&p), used ? "" : ", first record");
			}
			if (how == BY_OTHER_CPU || how == TWICE)
				w |= 6;	/* nothing to vary */
		}
	}
}

/* A record in flight of a spare that was dropped is committed: no look at it finds that. */
static void look(void)
{
	u64 num = ring_buffer_entries_cpu(buf2, 0) + ring_buffer_bytes_cpu(buf2, 0) +
		  ring_buffer_oldest_event_ts(buf2, 0);

	if (num || !ring_buffer_empty_cpu(buf2, 0) || ring_buffer_consume(buf2, 0, NULL, NULL))
		fault(F_VALUE, "a record that was dropped");
}

static void commit(void)
{
	int me = host_cpu_switch(0);

	ring_buffer_unlock_commit(buf);
	host_cpu_switch(me);
}

static void run_in_flight(long unused)
{
	struct step s = { .op = look, .act = { commit } };

	for_each_instruction(&s, 1) {
		fresh(RING_SUBBUFS * SUBBUF_DATA, true);
		fresh2(RING_SUBBUFS * SUBBUF_DATA);
		put_n(PER_SUBBUF / 2);
		/* The reader has the sub-buffer */
		consume(buf, 0, 1);
		ring_buffer_lock_reserve(buf, REC_LEN);
		cut();
		if (ring_buffer_forget(buf2))
			fault(F_REFUSED, "ring_buffer_forget");
		host_cpu_switch(1);
		if (!step_run(&s))
			commit();
		look();
		host_cpu_switch(0);
	}
}

#define ARG(by, fn)	((long)&(const struct how){ by, fn })

const struct scenario cut_scenarios[] = {
	{ "cut.commit-nmi", run_cut, ARG(BY_NMI, op_commit), SC_QUICK, "R5, 1, 7" },
	{ "cut.commit-irq", run_cut, ARG(BY_IRQ, op_commit), 0, "R5, 1, 7" },
	{ "cut.discard-nmi", run_cut, ARG(BY_NMI, op_discard), 0, "R5, 7, 11" },
	{ "cut.long-nmi", run_cut, ARG(BY_NMI, op_long), 0, "R5, 2, 7" },
	{ "cut.commit-remote", run_cut, ARG(BY_OTHER_CPU, op_commit), SC_QUICK, "R5, 1, 7" },
	{ "cut.long-remote", run_cut, ARG(BY_OTHER_CPU, op_long), 0, "R5, 2, 7" },
	{ "cut.twice-remote", run_cut, ARG(TWICE, op_commit), SC_QUICK, "R5, 7" },
	{ "cut.forget-in-flight", run_in_flight, 0, SC_QUICK, "23" },
	{ "cut.cut-nmi", run_cut, ARG(NOTHING, cut), SC_QUICK, "R5, 7" },
	{ "cut.read-nmi", run_cut, ARG(NOTHING, op_read), SC_QUICK, "R5, 3, 7" },
	{ "cut.cut-in-cut", run_cut, ARG(CUT_IN_CUT, cut), 0, "R5, 7" },
	{ }
};
