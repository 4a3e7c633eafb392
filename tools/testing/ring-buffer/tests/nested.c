// SPDX-License-Identifier: GPL-2.0
/*
 * An interrupt at every instruction of a write: R1, R2, R3. The written
 * operations and the actions of the interrupt are two tables; a scenario is a pair.
 */
#include "test.h"

#define RING_SUBBUFS 3

/* ---- the interrupted operation ------------------------------------------ */

static void op_commit(void) { put(buf, REC_LEN, PUT_COMMIT); }
static void op_discard(void) { put(buf, REC_LEN, PUT_DISCARD); }
static void op_write(void) { put(buf, REC_LEN, PUT_WRITE); }
static void op_long(void) { put(buf, 400, PUT_COMMIT); }

static void (* const ops[])(void) = { op_commit, op_discard, op_write, op_long };
enum { OP_COMMIT, OP_DISCARD, OP_WRITE, OP_LONG };

/* ---- the action of the interrupt ---------------------------------------- */

static void irq_commit(void) { put_in(CTX_IRQ, buf, REC_LEN, PUT_COMMIT); }
static void nmi_commit(void) { put_in(CTX_NMI, buf, REC_LEN, PUT_COMMIT); }
static void irq_write(void) { put_in(CTX_IRQ, buf, 8, PUT_WRITE); }
static void irq_discard(void) { put_in(CTX_IRQ, buf, REC_LEN, PUT_DISCARD); }
static void nmi_discard(void) { put_in(CTX_NMI, buf, 64, PUT_DISCARD); }
static void nmi_long(void) { put_in(CTX_NMI, buf, 3000, PUT_COMMIT); }

static void irq_mixed(void)
{
	irq_commit();
	irq_discard();
	put_in(CTX_IRQ, buf, 1000, PUT_COMMIT);
	put_in(CTX_IRQ, buf, 12, PUT_COMMIT);
}

static void nmi_fails(void)
{
	/* longer than a sub-buffer: refused before anything is reserved */
	shim_ctx_enter(CTX_NMI);
	if (ring_buffer_lock_reserve(buf, SUBBUF_DATA + 1))
		fault(F_VALUE, "reserved more than a sub-buffer");
	shim_ctx_exit(CTX_NMI);
}

static void burst(int ctx, int n)
{
	if (ctx == CTX_IRQ && shim_irqs_off())
		return;
	shim_ctx_enter(ctx);
	while (n--)
		put(buf, REC_LEN, PUT_COMMIT);
	shim_ctx_exit(ctx);
}

static void nmi_subbuf(void) { burst(CTX_NMI, PER_SUBBUF); }
static void irq_round(void) { burst(CTX_IRQ, (RING_SUBBUFS + 1) * PER_SUBBUF + 3); }

/* A full ring has room again, and an interrupt uses it */
static void read_irq(void)
{
	host_cpu_switch(1);
	consume(buf, 0, PER_SUBBUF + 1);
	host_cpu_switch(0);
	irq_commit();
}

static void irq_round_long(void)
{
	int i;

	if (shim_irqs_off())
		return;
	shim_ctx_enter(CTX_IRQ);
	for (i = 0; i < 2 * RING_SUBBUFS; i++)
		put(buf, 3000, PUT_COMMIT);
	shim_ctx_exit(CTX_IRQ);
}

static void (* const acts[])(void) = {
	irq_commit, nmi_commit, irq_write, irq_discard, nmi_discard, nmi_long, irq_mixed,
	nmi_fails, nmi_subbuf, irq_round, irq_round_long, read_irq,
};

enum {
	IRQ_COMMIT, NMI_COMMIT, IRQ_WRITE, IRQ_DISCARD, NMI_DISCARD, NMI_LONG, IRQ_MIXED,
	NMI_FAILS, NMI_SUBBUF, IRQ_ROUND, IRQ_ROUND_LONG, READ_IRQ,
};

/* ---- clocks ------------------------------------------------------------- */

static const struct {
	int n;
	s64 step[MAX_CLOCK_STEPS];
} clocks[] = {
	{ 1, { 8 } },
	{ 2, { 8, 1LL << 27 } },
	{ 3, { (1LL << 46) + 3, 5, 1LL << 46 } },
	{ 1, { 0 } },
	{ 4, { 1000, -300, 7, 1LL << 30 } },
	{ 4, { 100000, 5, -(1LL << 28), 9 } },
	{ 1, { 8 } },
};

/* The last one is plain, and each record gets an absolute stamp all the same */
enum { CLK_PLAIN, CLK_EXTEND, CLK_FAR, CLK_STOPPED, CLK_BACK, CLK_FAR_BACK, CLK_ABSOLUTE };

#define PAIR(op, act, clk)	((clk) << 16 | (act) << 8 | (op))

static void one_run(struct step *s, const struct place *p, int clk)
{
	int i;

	fresh(RING_SUBBUFS * SUBBUF_DATA, p->overwrite);
	clock_set(1ULL << 50);
	clock_steps(clocks[clk].n, clocks[clk].step);
	ring_buffer_set_time_stamp_abs(buf, clk == CLK_ABSOLUTE);
	fill(p);
	if (!step_run(s))
		return;
	/* all records must be there at once, and so must the next one */
	for (i = 0; i < 2; i++) {
		host_cpu_switch(1);
		consume(buf, 0, -1);
		host_cpu_switch(0);
		check_end(0, 0, "at instruction %ld/%ld, %s", s->at[0], s->at[1], place_name(p));
		put(buf, 16, PUT_COMMIT);
	}
}

static void run_nested(long pair)
{
	struct place p = { .overwrite = -1 };
	int clk = pair >> 16;

	while (next_place(&p, false)) {
		struct step s = {
			.op = ops[pair & 0xff], .act = { acts[pair >> 8 & 0xff] },
		};

		for_each_instruction(&s, stride)
			one_run(&s, &p, clk);
	}
}

/* ---- two levels: an NMI at every instruction of the interrupt ------------ */

static int inner_op;

static void inner(void)
{
	ops[inner_op]();
}

static void irq_stepped(void)
{
	if (shim_irqs_off())
		return;
	shim_ctx_enter(CTX_IRQ);
	step_nested(inner);
	shim_ctx_exit(CTX_IRQ);
}

static void run_two_levels(long pair)
{
	/* primes, so that the positions of different places differ */
	int step0 = exhaustive ? 1 : 5, step1 = exhaustive ? 1 : 7;
	struct place p = { .overwrite = -1 };

	inner_op = pair & 0xff;
	while (next_place(&p, true)) {
		struct step s = {
			.op = ops[pair & 0xff],
			.act = { irq_stepped, acts[pair >> 8 & 0xff] },
		};
		long last1;

		for_each_instruction(&s, step0) {
			last1 = 0;
			for (s.at[1] = 0; s.at[1] <= last1; s.at[1] += s.at[1] ? step1 : 1) {
				s.n[1] = 0;
				one_run(&s, &p, CLK_PLAIN);
				if (!s.at[1])
					last1 = s.n[1];
			}
		}
	}
}

/* An interrupt writes and switches the buffer off */
static void irq_write_off(void)
{
	if (shim_irqs_off())
		return;
	shim_ctx_enter(CTX_IRQ);
	put(buf, REC_LEN, PUT_COMMIT);
	ring_buffer_record_disable(buf);
	shim_ctx_exit(CTX_IRQ);
}

static void run_off(long arg)
{
	struct step s = { .op = op_commit, .act = { irq_write_off } };

	for_each_instruction(&s, 1) {
		fresh(RING_SUBBUFS * SUBBUF_DATA, true);
		put(buf, 8, PUT_COMMIT);
		if (!step_run(&s))
			continue;
		if (!ring_buffer_record_is_on(buf) && ring_buffer_lock_reserve(buf, 8)) {
			fault(F_VALUE, "records while off, after instruction %ld", s.at[0]);
			ring_buffer_unlock_commit(buf);
			leak();
		}
	}
}

const struct scenario nested_scenarios[] = {
	{ "nested.off", run_off, 0, SC_QUICK, "off is off" },
#define N(name, op, act, clk, fl, proves)					\
	{ "nested." name, run_nested, PAIR(op, act, clk), fl, proves }
	N("commit-irq", OP_COMMIT, IRQ_COMMIT, CLK_PLAIN, SC_QUICK, "R1 R2 R3"),
	N("commit-nmi", OP_COMMIT, NMI_COMMIT, CLK_PLAIN, SC_QUICK, "R1 R2 R3"),
	N("commit-irq-write", OP_COMMIT, IRQ_WRITE, CLK_PLAIN, 0, "R1 R2"),
	N("commit-irq-discard", OP_COMMIT, IRQ_DISCARD, CLK_PLAIN, SC_QUICK, "R3, 6"),
	N("commit-nmi-discard", OP_COMMIT, NMI_DISCARD, CLK_PLAIN, 0, "R3, 6"),
	N("commit-nmi-long", OP_COMMIT, NMI_LONG, CLK_PLAIN, SC_QUICK, "2, 17"),
	N("commit-irq-mixed", OP_COMMIT, IRQ_MIXED, CLK_PLAIN, SC_QUICK, "R2, 2, 11"),
	N("commit-nmi-fails", OP_COMMIT, NMI_FAILS, CLK_PLAIN, 0, "6"),
	N("commit-nmi-subbuf", OP_COMMIT, NMI_SUBBUF, CLK_PLAIN, SC_QUICK, "2, 5"),
	N("commit-irq-round", OP_COMMIT, IRQ_ROUND, CLK_PLAIN, SC_QUICK, "R1, 6"),
	N("commit-irq-round-long", OP_COMMIT, IRQ_ROUND_LONG, CLK_PLAIN, 0, "R1, 6, 17"),
	N("discard-irq", OP_DISCARD, IRQ_COMMIT, CLK_PLAIN, SC_QUICK, "R2 R3, 11"),
	N("discard-nmi", OP_DISCARD, NMI_COMMIT, CLK_PLAIN, 0, "R2 R3, 11"),
	N("discard-irq-discard", OP_DISCARD, IRQ_DISCARD, CLK_PLAIN, 0, "R3, 11"),
	N("discard-irq-mixed", OP_DISCARD, IRQ_MIXED, CLK_PLAIN, SC_QUICK, "R2 R3, 11"),
	N("discard-nmi-subbuf", OP_DISCARD, NMI_SUBBUF, CLK_PLAIN, 0, "2, 11"),
	N("discard-irq-round", OP_DISCARD, IRQ_ROUND, CLK_PLAIN, 0, "6, 11"),
	N("write-irq", OP_WRITE, IRQ_COMMIT, CLK_PLAIN, 0, "R1 R2 R3"),
	N("write-nmi-long", OP_WRITE, NMI_LONG, CLK_PLAIN, 0, "2, 17"),
	N("long-irq", OP_LONG, IRQ_COMMIT, CLK_PLAIN, SC_QUICK, "2: a small record in the gap"),
	N("long-irq-mixed", OP_LONG, IRQ_MIXED, CLK_PLAIN, 0, "2"),
	N("long-nmi-long", OP_LONG, NMI_LONG, CLK_PLAIN, 0, "2"),
	N("extend-irq", OP_COMMIT, IRQ_COMMIT, CLK_EXTEND, SC_QUICK, "R2"),
	N("extend-irq-mixed", OP_COMMIT, IRQ_MIXED, CLK_EXTEND, 0, "R2, 11"),
	N("extend-discard-irq", OP_DISCARD, IRQ_COMMIT, CLK_EXTEND, 0, "R2, 11"),
	N("extend-discard-mixed", OP_DISCARD, IRQ_MIXED, CLK_EXTEND, 0, "R2, 11"),
	N("far-irq", OP_COMMIT, IRQ_COMMIT, CLK_FAR, SC_QUICK, "R2, 10"),
	N("far-irq-mixed", OP_COMMIT, IRQ_MIXED, CLK_FAR, 0, "R2, 10"),
	N("far-discard-irq", OP_DISCARD, IRQ_COMMIT, CLK_FAR, 0, "R2, 10, 11"),
	N("stopped-irq", OP_COMMIT, IRQ_COMMIT, CLK_STOPPED, 0, "R2"),
	N("stopped-discard-irq", OP_DISCARD, IRQ_COMMIT, CLK_STOPPED, 0, "11"),
	N("stopped-discard-mixed", OP_DISCARD, IRQ_MIXED, CLK_STOPPED, 0, "11"),
	N("back-irq", OP_COMMIT, IRQ_COMMIT, CLK_BACK, SC_QUICK, "R2, 10"),
	N("back-discard-mixed", OP_DISCARD, IRQ_MIXED, CLK_BACK, 0, "R2, 10, 11"),
	N("absolute-irq", OP_COMMIT, IRQ_COMMIT, CLK_ABSOLUTE, SC_QUICK, "R1 R2, 10"),
	N("absolute-nmi-subbuf", OP_COMMIT, NMI_SUBBUF, CLK_ABSOLUTE, 0, "R1 R2, 2, 10"),
	N("absolute-discard-mixed", OP_DISCARD, IRQ_MIXED, CLK_ABSOLUTE, SC_QUICK, "R2 R3, 11"),
	N("commit-read-irq", OP_COMMIT, READ_IRQ, CLK_PLAIN, SC_QUICK, "R3 R4, 17"),
	N("far-back-irq", OP_COMMIT, IRQ_COMMIT, CLK_FAR_BACK, 0, "R2, 10"),
#define T(name, op, act, fl, proves)						\
	{ "nested2." name, run_two_levels, PAIR(op, act, CLK_PLAIN), fl, proves }
	T("commit-nmi", OP_COMMIT, NMI_COMMIT, 0, "R1 R2 R3"),
	T("commit-nmi-long", OP_COMMIT, NMI_LONG, SC_QUICK, "R1 R2, 2"),
	T("commit-nmi-discard", OP_COMMIT, NMI_DISCARD, 0, "R2 R3, 11"),
	T("discard-nmi", OP_DISCARD, NMI_COMMIT, 0, "R2 R3, 11"),
	T("long-nmi-subbuf", OP_LONG, NMI_SUBBUF, 0, "2, 5, 6"),
	{ }
};
