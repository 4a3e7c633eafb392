// SPDX-License-Identifier: GPL-2.0
/*
 * The CPU's own ring is exchanged by an interrupt at every instruction of a
 * write (R5, rules 1, 3, 7, 14): every record of the old ring precedes every one
 * of the new, none is in both, none in neither.
 */
#include "test.h"

#define RING_SUBBUFS 3

static int ctx_of_swap, writes_before, writes_after;

static void op_commit(void) { put(buf, REC_LEN, PUT_COMMIT); }
static void op_discard(void) { put(buf, REC_LEN, PUT_DISCARD); }
static void op_long(void) { put(buf, 400, PUT_COMMIT); }
static void (* const ops[])(void) = { op_commit, op_discard, op_long };

static void swap_rings(void)
{
	int ret;

	put_n(writes_before);
	ret = ring_buffer_swap_cpu(buf, buf2, 0);
	if (ret)
		fault(F_REFUSED, "ring_buffer_swap_cpu: %d", ret);
	put_n(writes_after);
}

static void swapping(void) { in_context(ctx_of_swap, swap_rings); }

static void run_swap(long arg)
{
	static const int writes[][2] = { { 0, 0 }, { 0, 1 }, { 1, 1 }, { 0, PER_SUBBUF + 1 } };
	struct place p = { .overwrite = -1 };

	ctx_of_swap = arg & 0xf;
	while (next_place(&p, true)) {
		struct step s = { .op = ops[arg >> 4], .act = { swapping } };
		int w;

		for (w = 0; w < ARRAY_SIZE(writes); w++) {
			writes_before = writes[w][0];
			writes_after = writes[w][1];
			for_each_instruction(&s, stride) {
				fresh(RING_SUBBUFS * SUBBUF_DATA, p.overwrite);
				fresh2(RING_SUBBUFS * SUBBUF_DATA);
				fill(&p);
				if (!step_run(&s))
					continue;
				put(buf, REC_LEN, PUT_COMMIT);
				drain();
				check_end(0, END_NO_LOST, "at instruction %ld, %s", s.at[0],
					  place_name(&p));
			}
		}
	}
}

#define ARG(ctx, op) ((op) << 4 | (ctx))

const struct scenario swap_scenarios[] = {
	{ "swap.commit-nmi", run_swap, ARG(CTX_NMI, 0), SC_QUICK, "R5, 1, 14" },
	{ "swap.commit-irq", run_swap, ARG(CTX_IRQ, 0), 0, "R5, 1, 14" },
	{ "swap.discard-nmi", run_swap, ARG(CTX_NMI, 1), SC_QUICK, "R5, 1, 11" },
	{ "swap.long-nmi", run_swap, ARG(CTX_NMI, 2), 0, "R5, 1, 2" },
	{ }
};
