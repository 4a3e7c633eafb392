// SPDX-License-Identifier: GPL-2.0
/*
 * Several buffers are cut at once: at every instruction of that, an interrupt or another CPU
 * writes to all of them, on all CPUs, or cuts them as well. Each record is in a live buffer or
 * in a spare one, once. It is in the spare one if it was written before the cut, and not
 * if it was written after it. A CPU is cut off from all buffers before the next CPU is. A
 * cut that is refused moves no record at all.
 */
#include "test.h"

#define NR_BUFS	3
#define NR_CPUS_USED 2
#define RING_SUBBUFS 3
#define MAX_RECS 200

enum { BY_NMI, BY_IRQ, BY_OTHER_CPU, CUT, CUT_ONE };

/* A record: what it holds, and where it was found */
struct cut_rec {
	int buf, cpu;
	int round;		/* 0: before the cut, 1: meanwhile, 2: after it */
	int seen;
	bool in_spare;
};

struct cut_payload {
	u64 n;
	u64 check;
	u64 old;		/* from before the test */
};

static struct trace_buffer *lives[NR_BUFS], *spares[NR_BUFS];
static struct ring_buffer_cut parts[NR_BUFS];
static struct cut_rec recs[MAX_RECS];
static bool erased[NR_BUFS];	/* the spare has no old records */
static int olds[NR_BUFS][NR_CPUS_USED];
static int nr_recs, cut_round, how, cuts, inner_cuts, inner_refused, op_ret;

static void write_one(int b)
{
	struct cut_payload p = { .n = nr_recs, .check = ~(u64)nr_recs, .old = cut_round < 0 };
	int me = nr_recs++;

	if (me >= MAX_RECS)
		host_die("too many records");
	recs[me] = (struct cut_rec){ .buf = b, .cpu = shim_cpu(), .round = cut_round };
	if (ring_buffer_write(lives[b], sizeof(p), &p))
		fault(F_REFUSED, "a write to buffer %d, CPU %d", b, shim_cpu());
}

static void write_here(void)
{
	int b;

	for (b = 0; b < NR_BUFS; b++)
		write_one(b);
}

static void write_everywhere(void)
{
	int cpu, me;

	for (cpu = 0; cpu < NR_CPUS_USED; cpu++) {
		me = host_cpu_switch(cpu);
		write_here();
		host_cpu_switch(me);
	}
}

static void cut(void)
{
	op_ret = ring_buffer_cut_all(parts, RING_BUFFER_ALL_CPUS);
	if (!op_ret)
		cuts++;
}

static void write_op(void)
{
	write_one(1);
}

static void inner_cut(void)
{
	int ret = how == CUT_ONE ? cut_one(lives[1], spares[1], RING_BUFFER_ALL_CPUS) :
				   ring_buffer_cut_all(parts, RING_BUFFER_ALL_CPUS);

	if (ret == -EBUSY)
		inner_refused++;
	else if (ret)
		fault(F_REFUSED, "a cut: %d", ret);
	else
		inner_cuts++;
}

static void act(void)
{
	cut_round = 1;
	switch (how) {
	case BY_IRQ:
		in_context(CTX_IRQ, write_here);
		break;
	case BY_OTHER_CPU:
		step_remote(1, write_here, false);
		break;
	case CUT:
	case CUT_ONE:
		in_context(CTX_NMI, inner_cut);
		break;
	default:
		in_context(CTX_NMI, write_everywhere);
		break;
	}
	cut_round = 2;
}

static void prepare(void)
{
	int b;

	begin(RING_SUBBUFS, true);
	for (b = 0; b < NR_BUFS; b++) {
		lives[b] = ring_buffer_alloc(RING_SUBBUFS * SUBBUF_DATA, RB_FL_OVERWRITE);
		spares[b] = ring_buffer_alloc(RING_SUBBUFS * SUBBUF_DATA, RB_FL_OVERWRITE);
		if (!lives[b] || !spares[b])
			host_die("ring_buffer_alloc failed");
		ring_buffer_set_clock(lives[b], test_clock);
		ring_buffer_set_clock(spares[b], test_clock);
		parts[b] = (struct ring_buffer_cut){
			.live = lives[b], .spare = spares[b],
			.next = b + 1 < NR_BUFS ? &parts[b + 1] : NULL,
		};
	}
	/* Both have been live, and hold records that no reader may get. */
	nr_recs = 0;
	cut_round = -1;
	memset(erased, 0, sizeof(erased));
	write_everywhere();
	if (ring_buffer_cut_all(parts, RING_BUFFER_ALL_CPUS))
		fault(F_REFUSED, "the first cut");
	write_everywhere();
	if (ring_buffer_cut_all(parts, RING_BUFFER_ALL_CPUS))
		fault(F_REFUSED, "the second cut");
	nr_recs = 0;
	cut_round = 0;
	cuts = 0;
	inner_cuts = 0;
	inner_refused = 0;
	write_everywhere();
}

static void end(void)
{
	int b;

	for (b = 0; b < NR_BUFS; b++) {
		ring_buffer_free(lives[b]);
		ring_buffer_free(spares[b]);
	}
	shim_rcu_run();
}

static void look(struct trace_buffer *buffer, int b, int cpu, bool spare)
{
	struct ring_buffer_event *e;
	struct cut_payload *p;
	unsigned long lost;
	u64 ts, last = 0;

	while ((e = ring_buffer_consume(buffer, cpu, &ts, &lost))) {
		p = ring_buffer_event_data(e);
		if (p->old && spare) {
			olds[b][cpu]++;
			continue;
		}
		if (p->old || p->n >= (u64)nr_recs || p->check != ~p->n) {
			fault(F_DATA, "buffer %d, CPU %d", b, cpu);
			return;
		}
		/* Old records went when this buffer was cut, and only then. */
		if (spare && olds[b][cpu])
			fault(F_VALUE, "buffer %d, CPU %d has records of two cuts", b, cpu);
		if (recs[p->n].buf != b || recs[p->n].cpu != cpu)
			fault(F_DATA, "record %llu in buffer %d, CPU %d", p->n, b, cpu);
		if (lost || ts < last)
			fault(F_ORDER, "record %llu, lost %lu", p->n, lost);
		last = ts;
		recs[p->n].seen++;
		recs[p->n].in_spare = spare;
	}
}

static void check_rec(const struct cut_rec *r, bool done, long at)
{
	int n = r - recs;

	/* The later one of two cuts drops what the earlier one has taken, all of it. */
	if (inner_cuts && !r->round && (how == CUT || r->buf == 1)) {
		if (r->seen)
			fault(F_VALUE, "record %d is of neither cut, at instruction %ld", n, at);
		return;
	}
	if (r->seen != 1)
		fault(F_LOSS, "record %d was read %d times, at instruction %ld", n, r->seen, at);
	if (!r->round && r->in_spare != done)
		fault(F_VALUE, "record %d of buffer %d, CPU %d, before the cut, at instruction %ld",
		      n, r->buf, r->cpu, at);
	if (r->round == 2 && r->in_spare)
		fault(F_VALUE, "record %d of buffer %d, CPU %d, after the cut, at instruction %ld",
		      n, r->buf, r->cpu, at);
}

/* Records that came meanwhile on all CPUs: CPUs are cut off in turn */
static void check_order(long at)
{
	int n, first = NR_CPUS_USED;

	for (n = 0; n < nr_recs; n++) {
		if (recs[n].round != 1)
			continue;
		if (!recs[n].in_spare && recs[n].cpu > first)
			fault(F_VALUE, "CPU %d is cut off before CPU %d, at instruction %ld",
			      recs[n].cpu, first, at);
		if (recs[n].in_spare && first == NR_CPUS_USED)
			first = recs[n].cpu;
	}
}

static void check(bool done, long at)
{
	int b, cpu, n;

	memset(olds, 0, sizeof(olds));
	for (b = 0; b < NR_BUFS; b++) {
		for (cpu = 0; cpu < NR_CPUS_USED; cpu++) {
			look(spares[b], b, cpu, true);
			look(lives[b], b, cpu, false);
		}
	}
	for (n = 0; n < nr_recs; n++) {
		check_rec(&recs[n], done, at);
		if (!recs[n].round && !recs[n].in_spare && recs[n].seen &&
		    olds[recs[n].buf][recs[n].cpu] == erased[recs[n].buf])
			fault(F_VALUE, "buffer %d, CPU %d lost its last snapshot", recs[n].buf,
			      recs[n].cpu);
	}
	if (done && how <= BY_IRQ)
		check_order(at);
}

/* One CPU was cut off */
static void check_cpu(int cpu)
{
	int n;

	for (n = 0; n < nr_recs; n++)
		recs[n].round = recs[n].cpu == cpu ? 0 : 2;
	check(true, 0);
}

static void run_cut_all(long arg)
{
	struct step s = { .op = cut, .act = { act } };

	how = arg;
	for_each_instruction(&s, stride) {
		prepare();
		if (!step_run(&s))
			continue;
		cut_round = 2;
		write_everywhere();
		EXPECT_EQ(op_ret, 0);
		EXPECT_EQ(shim_preempt_count(0), 0);
		check(true, s.at[0]);
		end();
	}
}

/* The cut runs in an NMI, or on another CPU, at each instruction of a write */
static void cut_act(void)
{
	if (how == BY_OTHER_CPU)
		step_remote(1, cut, false);
	else
		in_context(how == BY_IRQ ? CTX_IRQ : CTX_NMI, cut);
}

static void run_write(long arg)
{
	struct step s = { .op = write_op, .act = { cut_act } };

	how = arg;
	for_each_instruction(&s, stride) {
		prepare();
		cut_round = 1;
		op_ret = 0;
		if (!step_run(&s))
			continue;
		cut_round = 2;
		EXPECT_EQ(op_ret, 0);
		write_everywhere();
		check(cuts, s.at[0]);
		end();
	}
}

/* One of the buffers refuses: no buffer is cut */
static void run_refused(long arg)
{
	struct ring_buffer_event *e;
	struct cut_payload *p;
	int i, b, cpu;

	for (i = 0; i < NR_BUFS * NR_CPUS_USED; i++) {
		b = i % NR_BUFS;
		cpu = i / NR_BUFS;
		/* A record of a CPU is in flight since the last cut. */
		prepare();
		host_cpu_switch(cpu);
		e = ring_buffer_lock_reserve(lives[b], sizeof(*p));
		p = ring_buffer_event_data(e);
		host_cpu_switch(0);
		recs[nr_recs] = (struct cut_rec){ .buf = b, .cpu = cpu };
		p->n = nr_recs++;
		p->check = ~p->n;
		p->old = 0;
		cut();
		EXPECT_EQ(op_ret, 0);
		cut_round = 2;
		write_everywhere();
		cut();
		EXPECT_EQ(op_ret, -EBUSY);
		host_cpu_switch(cpu);
		ring_buffer_unlock_commit(lives[b]);
		host_cpu_switch(0);
		check(true, 0);
		/* It has left no CPU of any buffer locked. */
		cut();
		EXPECT_EQ(op_ret, 0);
		end();

		/* Its sub-buffers have another size. */
		prepare();
		EXPECT_EQ(ring_buffer_subbuf_order_set(spares[b], 1), 0);
		erased[b] = true;
		cut();
		EXPECT_EQ(op_ret, -EINVAL);
		check(false, 0);
		EXPECT_EQ(ring_buffer_subbuf_order_set(lives[b], 1), 0);
		cut();
		EXPECT_EQ(op_ret, 0);
		end();
	}
}

/* A CPU without a ring in one of the buffers, and a cut of one CPU */
static void run_cpu(long arg)
{
	int cpu, n;

	for (cpu = 0; cpu < NR_CPUS_USED; cpu++) {
		prepare();
		EXPECT_EQ(ring_buffer_cut_all(parts, cpu), 0);
		check_cpu(cpu);
		end();
	}
	prepare();
	for (n = 0; n < NR_BUFS; n++)
		parts[n].next = NULL;
	EXPECT_EQ(ring_buffer_cut_all(&parts[1], RING_BUFFER_ALL_CPUS), 0);
	for (n = 0; n < nr_recs; n++)
		recs[n].round = recs[n].buf == 1 ? 0 : 2;
	check(true, 0);
	end();
}

const struct scenario cut_all_scenarios[] = {
	{ "cut_all.nmi", run_cut_all, BY_NMI, SC_QUICK, "R5, 7" },
	{ "cut_all.irq", run_cut_all, BY_IRQ, 0, "R5, 7" },
	{ "cut_all.remote", run_cut_all, BY_OTHER_CPU, SC_QUICK, "R5, 7" },
	{ "cut_all.cut-nmi", run_cut_all, CUT, SC_QUICK, "R5, 7" },
	{ "cut_all.cut-one-nmi", run_cut_all, CUT_ONE, 0, "R5, 7" },
	{ "cut_all.write-nmi", run_write, BY_NMI, SC_QUICK, "R5, 1, 7" },
	{ "cut_all.write-irq", run_write, BY_IRQ, 0, "R5, 1, 7" },
	{ "cut_all.write-remote", run_write, BY_OTHER_CPU, 0, "R5, 1, 7" },
	{ "cut_all.refused", run_refused, 0, SC_QUICK, "R5, 7" },
	{ "cut_all.cpu", run_cpu, 0, SC_QUICK, "R5, 7" },
	{ }
};
