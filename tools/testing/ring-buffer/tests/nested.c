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
	while (n--)
		put_in(ctx, buf, REC_LEN, PUT_COMMIT);
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

	for (i = 0; i < 2 * RING_SUBBUFS; i++)
		put_in(CTX_IRQ, buf, 3000, PUT_COMMIT);
}

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

struct pair {
	void	(*op)(void);
	void	(*act)(void);
	int	clk;
};

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

static void run_nested(long arg)
{
	const struct pair *pair = (const struct pair *)arg;
	struct place p = { .overwrite = -1 };

	while (next_place(&p, false)) {
		struct step s = { .op = pair->op, .act = { pair->act } };

		for_each_instruction(&s, stride)
			one_run(&s, &p, pair->clk);
	}
}

/* ---- two levels: an NMI at every instruction of the interrupt ------------ */

static void (*inner_op)(void);

static void inner(void) { step_nested(inner_op); }
static void irq_stepped(void) { in_context(CTX_IRQ, inner); }

static void run_two_levels(long arg)
{
	const struct pair *pair = (const struct pair *)arg;
	/* primes, so that the positions of different places differ */
	int step0 = exhaustive ? 1 : 5, step1 = exhaustive ? 1 : 7;
	struct place p = { .overwrite = -1 };

	inner_op = pair->op;
	while (next_place(&p, true)) {
		struct step s = { .op = pair->op, .act = { irq_stepped, pair->act } };
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
static void write_off(void)
{
	put(buf, REC_LEN, PUT_COMMIT);
	ring_buffer_record_disable(buf);
}

static void irq_write_off(void) { in_context(CTX_IRQ, write_off); }

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
#define N(name, op, act, clk, fl, proves)	\
	{ "nested." name, run_nested, (long)&(const struct pair){ op, act, clk }, fl, proves }
	N("commit-irq", op_commit, irq_commit, CLK_PLAIN, SC_QUICK, "R1 R2 R3"),
	N("commit-nmi", op_commit, nmi_commit, CLK_PLAIN, SC_QUICK, "R1 R2 R3"),
	N("commit-irq-write", op_commit, irq_write, CLK_PLAIN, 0, "R1 R2"),
	N("commit-irq-discard", op_commit, irq_discard, CLK_PLAIN, SC_QUICK, "R3, 6"),
	N("commit-nmi-discard", op_commit, nmi_discard, CLK_PLAIN, 0, "R3, 6"),
	N("commit-nmi-long", op_commit, nmi_long, CLK_PLAIN, SC_QUICK, "2, 17"),
	N("commit-irq-mixed", op_commit, irq_mixed, CLK_PLAIN, SC_QUICK, "R2, 2, 11"),
	N("commit-nmi-fails", op_commit, nmi_fails, CLK_PLAIN, 0, "6"),
	N("commit-nmi-subbuf", op_commit, nmi_subbuf, CLK_PLAIN, SC_QUICK, "2, 5"),
	N("commit-irq-round", op_commit, irq_round, CLK_PLAIN, SC_QUICK, "R1, 6"),
	N("commit-irq-round-long", op_commit, irq_round_long, CLK_PLAIN, 0, "R1, 6, 17"),
	N("discard-irq", op_discard, irq_commit, CLK_PLAIN, SC_QUICK, "R2 R3, 11"),
	N("discard-nmi", op_discard, nmi_commit, CLK_PLAIN, 0, "R2 R3, 11"),
	N("discard-irq-discard", op_discard, irq_discard, CLK_PLAIN, 0, "R3, 11"),
	N("discard-irq-mixed", op_discard, irq_mixed, CLK_PLAIN, SC_QUICK, "R2 R3, 11"),
	N("discard-nmi-subbuf", op_discard, nmi_subbuf, CLK_PLAIN, 0, "2, 11"),
	N("discard-irq-round", op_discard, irq_round, CLK_PLAIN, 0, "6, 11"),
	N("write-irq", op_write, irq_commit, CLK_PLAIN, 0, "R1 R2 R3"),
	N("write-nmi-long", op_write, nmi_long, CLK_PLAIN, 0, "2, 17"),
	N("long-irq", op_long, irq_commit, CLK_PLAIN, SC_QUICK, "2: a small record in the gap"),
	N("long-irq-mixed", op_long, irq_mixed, CLK_PLAIN, 0, "2"),
	N("long-nmi-long", op_long, nmi_long, CLK_PLAIN, 0, "2"),
	N("extend-irq", op_commit, irq_commit, CLK_EXTEND, SC_QUICK, "R2"),
	N("extend-irq-mixed", op_commit, irq_mixed, CLK_EXTEND, 0, "R2, 11"),
	N("extend-discard-irq", op_discard, irq_commit, CLK_EXTEND, 0, "R2, 11"),
	N("extend-discard-mixed", op_discard, irq_mixed, CLK_EXTEND, 0, "R2, 11"),
	N("far-irq", op_commit, irq_commit, CLK_FAR, SC_QUICK, "R2, 10"),
	N("far-irq-mixed", op_commit, irq_mixed, CLK_FAR, 0, "R2, 10"),
	N("far-discard-irq", op_discard, irq_commit, CLK_FAR, 0, "R2, 10, 11"),
	N("stopped-irq", op_commit, irq_commit, CLK_STOPPED, 0, "R2"),
	N("stopped-discard-irq", op_discard, irq_commit, CLK_STOPPED, 0, "11"),
	N("stopped-discard-mixed", op_discard, irq_mixed, CLK_STOPPED, 0, "11"),
	N("back-irq", op_commit, irq_commit, CLK_BACK, SC_QUICK, "R2, 10"),
	N("back-discard-mixed", op_discard, irq_mixed, CLK_BACK, 0, "R2, 10, 11"),
	N("absolute-irq", op_commit, irq_commit, CLK_ABSOLUTE, SC_QUICK, "R1 R2, 10"),
	N("absolute-nmi-subbuf", op_commit, nmi_subbuf, CLK_ABSOLUTE, 0, "R1 R2, 2, 10"),
	N("absolute-discard-mixed", op_discard, irq_mixed, CLK_ABSOLUTE, SC_QUICK, "R2 R3, 11"),
	N("commit-read-irq", op_commit, read_irq, CLK_PLAIN, SC_QUICK, "R3 R4, 17"),
	N("far-back-irq", op_commit, irq_commit, CLK_FAR_BACK, 0, "R2, 10"),
#define T(name, op, act, fl, proves)	\
	{ "nested2." name, run_two_levels, (long)&(const struct pair){ op, act }, fl, proves }
	T("commit-nmi", op_commit, nmi_commit, 0, "R1 R2 R3"),
	T("commit-nmi-long", op_commit, nmi_long, SC_QUICK, "R1 R2, 2"),
	T("commit-nmi-discard", op_commit, nmi_discard, 0, "R2 R3, 11"),
	T("discard-nmi", op_discard, nmi_commit, 0, "R2 R3, 11"),
	T("long-nmi-subbuf", op_long, nmi_subbuf, 0, "2, 5, 6"),
	{ }
};
