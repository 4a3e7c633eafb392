// SPDX-License-Identifier: GPL-2.0
/*
 * A global buffer: one ring for all CPUs. At every instruction of a write, an interrupt or
 * an NMI comes, or another CPU writes, reads, cuts or resizes. Each record is in the ring once,
 * with its CPU, in the order of the times, or is counted.
 */
#include "test.h"

#define RING_SUBBUFS 3
#define NR_RECORDS 512

enum { NONE, OPEN, COMMITTED, DISCARDED, SEEN };

static struct {
	u8	state, cpu;
} records[NR_RECORDS];

static u32 nr;
static unsigned long refused;
static u64 now;

static u64 tick(void) { return now += 8; }

static struct ring_buffer_event *reserve(unsigned int len, u32 *num)
{
	struct ring_buffer_event *e = ring_buffer_lock_reserve(buf, len);

	if (!e) {
		refused++;
		return NULL;
	}
	*num = nr++;
	if (nr == NR_RECORDS)
		host_die("too many records");
	records[*num].state = OPEN;
	records[*num].cpu = raw_smp_processor_id();
	memset(ring_buffer_event_data(e), *num, len);
	memcpy(ring_buffer_event_data(e), num, sizeof(*num));
	return e;
}

static void write(unsigned int len)
{
	u32 num;

	if (!reserve(len, &num))
		return;
	records[num].state = COMMITTED;
	ring_buffer_unlock_commit(buf);
}

static void discard(unsigned int len)
{
	struct ring_buffer_event *e;
	u32 num;

	e = reserve(len, &num);
	if (!e)
		return;
	records[num].state = DISCARDED;
	ring_buffer_discard_commit(buf, e);
}

static void read_all(struct trace_buffer *b)
{
	struct ring_buffer_event *e;
	u64 ts, before = 0;
	unsigned int len;
	u32 num;

	while ((e = ring_buffer_consume(b, 0, &ts, NULL))) {
		len = ring_buffer_event_length(e);
		memcpy(&num, ring_buffer_event_data(e), sizeof(num));
		if (num >= nr || records[num].state != COMMITTED) {
			fault(F_DATA, "record %u of %u is in state %d", num, nr,
			      num < nr ? records[num].state : -1);
			return;
		}
		records[num].state = SEEN;
		EXPECT_EQ(ring_buffer_global_cpu(ring_buffer_event_data(e), len),
			  records[num].cpu);
		EXPECT_EQ(((u8 *)ring_buffer_event_data(e))[4], (u8)num);
		if (ts <= before)
			fault(F_ORDER, "record %u at %llu after %llu", num, ts, before);
		before = ts;
	}
}

/* ---- the operation, and the actions ------------------------------------- */

static void op_write(void) { write(24); }
static void op_long(void) { write(1200); }
static void op_discard(void) { discard(40); }
static void op_nest(void)
{
	u32 num;

	if (!reserve(16, &num))
		return;
	ring_buffer_nest_start(buf);
	write(20);
	ring_buffer_nest_end(buf);
	records[num].state = COMMITTED;
	ring_buffer_unlock_commit(buf);
}

static void fill_stage(void)
{
	int i;

	for (i = 0; i < 25; i++)
		write(200);
}

static void irq_write(void) { in_context(CTX_IRQ, op_write); }
static void irq_fill(void) { in_context(CTX_IRQ, fill_stage); }
static void nmi_write(void) { in_context(CTX_NMI, op_write); }
static void nmi_discard(void) { in_context(CTX_NMI, op_discard); }
static void nmi_fill(void) { in_context(CTX_NMI, fill_stage); }

static void cut(void)
{
	int ret = cut_one(buf, buf2, RING_BUFFER_ALL_CPUS);

	if (ret)
		fault(F_REFUSED, "ring_buffer_cut_all: %d", ret);
}

static void nmi_cut(void) { in_context(CTX_NMI, cut); }
static void read_now(void) { read_all(buf); }

static void grow(void) { resize_to(2 * RING_SUBBUFS); }

/* An operation, and what comes in at each of its instructions */
static const struct pair {
	void	(*op)(void);
	void	(*act)(void);
	bool	remote;			/* on CPU 1 */
	bool	may_wait;
	bool	cuts;
} *pair;

/* ---- a run -------------------------------------------------------------- */

static u64 lost_at;	/* the clock when CPU 1 dropped records, or 0 */

static void do_act(void)
{
	unsigned long before = ring_buffer_commit_overrun_cpu(buf, 0);

	if (!pair->remote) {
		pair->act();
		return;
	}
	step_remote(1, pair->act, pair->may_wait);
	if (ring_buffer_commit_overrun_cpu(buf, 0) != before)
		lost_at = now;
}

static struct trace_buffer *new_global(bool overwrite)
{
	struct trace_buffer *b = ring_buffer_alloc_unexpanded(overwrite ? RB_FL_OVERWRITE : 0);

	if (!b || ring_buffer_set_global(b, true))
		host_die("no global buffer");
	ring_buffer_set_clock(b, tick);
	if (ring_buffer_expand(b, RING_SUBBUFS * SUBBUF_DATA))
		host_die("no rings");
	return b;
}

static void fresh_global(bool overwrite)
{
	/* For all CPUs that are online */
	fresh(PAGE_SIZE, true);
	free_buffers();
	memset(records, 0, sizeof(records));
	nr = 0;
	refused = 0;
	buf = new_global(overwrite);
	if (pair->cuts)
		buf2 = new_global(overwrite);
}

static unsigned long lost(struct trace_buffer *b)
{
	return ring_buffer_overrun_cpu(b, 0) + ring_buffer_commit_overrun_cpu(b, 0) +
	       ring_buffer_dropped_events_cpu(b, 0);
}

/* Each one that was committed was seen or is counted, as each that was refused is */
static void account(const struct step *s)
{
	unsigned long missed = 0, counted = lost(buf) + (buf2 ? lost(buf2) : 0);
	u32 i;

	for (i = 0; i < nr; i++) {
		if (records[i].state == COMMITTED)
			missed++;
	}
	if (missed + refused != counted)
		fault(F_LOSS, "at instruction %ld: %lu missed, %lu refused, %lu counted",
		      s->at[0], missed, refused, counted);
}

static void one_run(struct step *s, bool overwrite, int before)
{
	u64 since;
	int i;

	fresh_global(overwrite);
	lost_at = 0;
	while (before--)
		write(100);
	if (!step_run(s))
		return;
	since = ring_buffer_complete_since(buf, 0);
	if (lost_at && since <= lost_at)
		fault(F_LOSS, "at instruction %ld: complete since %llu, lost at %llu", s->at[0],
		      since, lost_at);
	for (i = 0; i < 2; i++) {
		if (buf2)
			read_all(buf2);
		read_all(buf);
		account(s);
		/* and so must the next one */
		write(8);
		host_cpu_switch(1);
		write(8);
		host_cpu_switch(0);
	}
}

static void run_global(long arg)
{
	/* A ring that is empty, one that is nearly full, and a full one, in both modes */
	static const int before[] = { 0, 3 * 36 - 1, 4 * 36 };
	struct step s = { .act = { do_act } };
	int i, overwrite;

	pair = (const struct pair *)arg;
	s.op = pair->op;
	for (i = 0; i < ARRAY_SIZE(before); i++) {
		for (overwrite = 0; overwrite < 2; overwrite++)
			for_each_instruction(&s, stride)
				one_run(&s, overwrite, before[i]);
	}
}

/* A task of CPU 1 died between reserve and commit: CPU 0 goes on, CPU 1 counts, until a reset */
static void run_dead(long unused)
{
	struct step none = { };
	u32 num;
	int i;

	pair = &(const struct pair){ };
	fresh_global(true);
	host_cpu_switch(1);
	if (!reserve(100, &num))
		host_die("no record");
	records[num].state = NONE;
	preempt_enable_notrace();
	/* One at a time looks like an interrupt. */
	for (i = 0; i < 60; i++)
		write(100);
	host_cpu_switch(0);
	EXPECT_EQ(refused > 20, true);
	EXPECT_EQ(lost(buf), refused);
	memset(records, 0, sizeof(records));
	for (i = 0; i < 60; i++)
		write(100);
	EXPECT_EQ(ring_buffer_entries(buf), 60UL);
	read_all(buf);
	account(&none);

	ring_buffer_reset(buf);
	EXPECT_EQ(lost(buf), 0UL);
	refused = 0;
	host_cpu_switch(1);
	for (i = 0; i < 60; i++)
		write(100);
	host_cpu_switch(0);
	EXPECT_EQ(ring_buffer_entries(buf), 60UL);
	read_all(buf);
	account(&none);
}

/* A CPU that comes online has a stage; without memory it stays offline */
static void run_cpu_up(long unused)
{
	struct step none = { };
	int i;

	pair = &(const struct pair){ .cuts = true };
	for (i = 0; i < 100; i++) {
		shim_set_online(2, 0);
		fresh_global(true);
		shim_fail_alloc_after = i;
		shim_cpu_up(2);
		if (shim_fail_alloc_after >= 0)
			break;
		EXPECT(!cpu_online(2), "CPU 2 comes online, allocation %d failed", i);
	}
	shim_fail_alloc_after = -1;
	EXPECT(i > 1 && i < 100, "%d allocations", i);
	EXPECT(cpu_online(2), "there is memory, and the spare buffer needs none");
	host_cpu_switch(2);
	write(100);
	host_cpu_switch(0);
	write(100);
	cut();
	EXPECT_EQ(ring_buffer_entries(buf2), 2UL);
	read_all(buf2);
	account(&none);
}

/* Without memory a buffer stays as it is */
static void run_no_memory(long unused)
{
	fresh(PAGE_SIZE, true);
	free_buffers();
	buf = ring_buffer_alloc_unexpanded(RB_FL_OVERWRITE);
	shim_fail_alloc_after = 0;
	EXPECT_EQ(ring_buffer_set_global(buf, true), -ENOMEM);
	EXPECT(!ring_buffer_is_global(buf), "it is not global");
	EXPECT_EQ(ring_buffer_set_global(buf, true), 0);
	EXPECT(ring_buffer_is_global(buf), "there is memory");
}

const struct scenario global_scenarios[] = {
	{ "global.dead", run_dead, 0, SC_QUICK, "R1 R3" },
	{ "global.cpu-up", run_cpu_up, 0, SC_QUICK, "R1 R6" },
	{ "global.no-memory", run_no_memory, 0, SC_QUICK, "R6" },
#define G(name, fl, ...)	\
	{ "global." name, run_global, (long)&(const struct pair){ __VA_ARGS__ }, fl, "R1 R2 R3" }
	G("write-irq", 0, op_write, irq_write),
	G("write-irq-fill", 0, op_write, irq_fill),
	G("write-nmi", SC_QUICK, op_write, nmi_write),
	G("write-nmi-discard", 0, op_write, nmi_discard),
	G("write-nmi-fill", SC_QUICK, op_write, nmi_fill),
	G("write-nmi-cut", 0, op_write, nmi_cut, .cuts = true),
	G("write-cpu", SC_QUICK, op_write, op_write, .remote = true),
	G("write-cpu-fill", 0, op_write, fill_stage, .remote = true),
	G("write-cpu-cut", 0, op_write, cut, .remote = true, .cuts = true),
	G("write-cpu-read", 0, op_write, read_now, .remote = true),
	G("write-cpu-grow", 0, op_write, grow, .remote = true, .may_wait = true),
	G("long-nmi", 0, op_long, nmi_write),
	G("long-cpu", 0, op_long, op_write, .remote = true),
	G("discard-irq", 0, op_discard, irq_write),
	G("discard-nmi", 0, op_discard, nmi_write),
	G("nest-irq", 0, op_nest, irq_write),
	G("nest-nmi", 0, op_nest, nmi_write),
	{ }
};
