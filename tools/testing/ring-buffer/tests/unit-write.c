// SPDX-License-Identifier: GPL-2.0
/*
 * A writer and the rest: the clock, waiters, the switches, and tasks that wait for it
 * to finish.
 */
#include "test.h"

/* ---- the clock ------------------------------------------------------------ */

static u64 now;
static int looks;

static u64 counting_clock(void)
{
	looks++;
	EXPECT(shim_preempt_count(0), "a writer could be moved to another CPU");
	return now++;
}

static int looks_of_write(unsigned int len, int ret)
{
	u64 data[64] = { };

	looks = 0;
	EXPECT_EQ(ring_buffer_write(buf, len, data), ret);
	return looks;
}

/* A record reads the clock once, with any stamp; a refused one does not */
static void clock_looks(long unused)
{
	static const u64 pauses[] = { 0, 1, 1ULL << 27, 1ULL << 46, -1000ULL };
	int i, abs;

	for (abs = 0; abs < 2; abs++) {
		begin(4, true);
		ring_buffer_set_clock(buf, counting_clock);
		ring_buffer_set_time_stamp_abs(buf, abs);
		now = 1000000;
		for (i = 0; i < ARRAY_SIZE(pauses); i++) {
			now += pauses[i];
			EXPECT_EQ(looks_of_write(16, 0), 1);
		}
	}
	begin(2, false);
	ring_buffer_set_clock(buf, counting_clock);
	while (!ring_buffer_dropped_events_cpu(buf, 0))
		ring_buffer_write(buf, sizeof(now), &now);
	EXPECT_EQ(looks_of_write(16, -EBUSY), 0);
	EXPECT_EQ(looks_of_write(400, -EBUSY), 0);
	EXPECT_EQ(ring_buffer_dropped_events_cpu(buf, 0), 3);
	EXPECT(ring_buffer_time_stamp(buf) < now, "the buffer's clock");
	EXPECT_EQ(shim_preempt_count(0), 0);
	ring_buffer_set_clock(buf, test_clock);
}

/* Without a record there is no time of a record */
static void no_event(long unused)
{
	begin(2, true);
	EXPECT_EQ(ring_buffer_event_time_stamp(buf, NULL), 0);
	EXPECT_EQ(host_warnings, 1);
	host_warnings = 0;
}

/*
 * Inside of a plain write two more writes of the same context are accepted, as they may
 * come from interrupts; a third one is refused. Interrupts that have a context of their
 * own are accepted, too.
 */
static void let_in(long unused)
{
	struct ring_buffer_event *e;
	int n;

	begin(3, true);
	put_in(CTX_IRQ, buf, REC_LEN, PUT_COMMIT);
	put_n(1);
	for (n = 0; n < 5; n++) {
		e = ring_buffer_lock_reserve(buf, 16);
		if (!e)
			break;
	}
	EXPECT_EQ(n, 3);
	put_in(CTX_SOFTIRQ, buf, REC_LEN, PUT_COMMIT);
	put_in(CTX_NMI, buf, REC_LEN, PUT_COMMIT);
	while (n--)
		ring_buffer_unlock_commit(buf);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 2 + 3 + 2);

	/* one that was let in is seen below others */
	for (n = 0; n < 4; n++) {
		if (n == 1)
			shim_ctx_enter(CTX_IRQ);
		EXPECT(ring_buffer_lock_reserve(buf, 16), "write %d", n);
		if (n == 1)
			shim_ctx_exit(CTX_IRQ);
	}
	shim_ctx_enter(CTX_IRQ);
	EXPECT(!ring_buffer_lock_reserve(buf, 16), "the interrupt writes already");
	shim_ctx_exit(CTX_IRQ);
	while (n--)
		ring_buffer_unlock_commit(buf);
	EXPECT_EQ(shim_preempt_count(0), 0);
}

/* ---- waiters -------------------------------------------------------------- */

static int asked;

static bool count_asked(void *data)
{
	asked++;
	return false;
}

/*
 * A waiter is woken by the writer that publishes: not by an interrupt inside of it, and
 * also where interrupts have filled the sub-buffer behind it.
 */
static void wake_once(long unused)
{
	struct ring_buffer_event *e;
	int n, before;

	for (n = 1; n <= 2 * PER_SUBBUF; n += PER_SUBBUF) {
		begin(4, true);
		EXPECT(waits(0, 0, count_asked), "nothing was written");
		e = ring_buffer_lock_reserve(buf, REC_LEN);
		EXPECT(e, "there is room");
		if (!e)
			return;
		before = asked;
		shim_ctx_enter(CTX_IRQ);
		put_n(n);
		shim_ctx_exit(CTX_IRQ);
		EXPECT(sleeps(), "nothing is committed");
		EXPECT_EQ(asked, before);
		ring_buffer_discard_commit(buf, e);
		EXPECT(!sleeps(), "%d records are there", n);
		read_out("%d records in an interrupt", n);
	}
}

/* ---- the switches ----------------------------------------------------------- */

/* Off is off for the next record, however often it was switched before */
static void switches(long unused)
{
	int i;

	begin(3, true);
	for (i = 0; i < 0x10010; i++) {
		ring_buffer_record_off(buf);
		if (ring_buffer_record_is_on(buf) || !ring_buffer_write(buf, sizeof(i), &i))
			break;
		ring_buffer_record_on(buf);
		if (!ring_buffer_record_is_on(buf) || ring_buffer_write(buf, sizeof(i), &i))
			break;
	}
	EXPECT_EQ(i, 0x10010);
}

/* One switch for all buffers, also for new ones; each keeps its own switches meanwhile */
static void all_off(long unused)
{
	begin(3, true);
	put_n(2);
	tracing_off_all();
	tracing_off_all();
	EXPECT(!tracing_is_on_all(), "off");
	EXPECT(!ring_buffer_record_is_on(buf), "off");
	EXPECT(ring_buffer_record_is_set_on(buf), "its own switch is on");
	fresh2(3 * SUBBUF_DATA);
	EXPECT(!put(buf, 8, PUT_COMMIT), "a record while all are off");
	EXPECT(!put(buf, 8, PUT_COMMIT), "a second one");
	EXPECT(!put(buf2, 8, PUT_COMMIT), "a record of another buffer");
	ring_buffer_record_off(buf2);
	ring_buffer_record_on(buf2);
	EXPECT(!put(buf2, 8, PUT_COMMIT), "a record of another buffer");
	ring_buffer_record_off(buf2);

	tracing_on_all();
	EXPECT(tracing_is_on_all(), "on");
	EXPECT(ring_buffer_record_is_on(buf), "on");
	EXPECT(!ring_buffer_record_is_on(buf2), "its own switch is off");
	EXPECT(!put(buf2, 8, PUT_COMMIT), "a record of another buffer");
	put_n(2);
	EXPECT_EQ(consume(buf, 0, -1), 4);
	EXPECT_EQ(consume(buf2, 0, -1), 0);
	check_end(0, END_NO_DROP, "all off and on");
}

static void nmi_all_off(void) { in_context(CTX_NMI, tracing_off_all); }

static void op_put(void) { put(buf, REC_LEN, PUT_COMMIT); }
static void op_expand(void)
{
	EXPECT_EQ(ring_buffer_expand(buf2, 3 * SUBBUF_DATA), 0);
}

/* A writer that finds a ring, and has looked, before the NMI */
static void put_all_off(void)
{
	put_in(CTX_IRQ, buf2, REC_LEN, PUT_COMMIT);
	nmi_all_off();
}

static void op_on_off(void)
{
	ring_buffer_record_off(buf);
	ring_buffer_record_on(buf);
}

/* Another CPU frees a buffer, and its memory */
static struct trace_buffer *third;

static void free_third(void)
{
	ring_buffer_free(third);
	third = NULL;
	shim_rcu_run();
}

static void remote_free(void) { step_remote(1, free_third, 1); }
static void irq_put(void) { put_in(CTX_IRQ, buf, REC_LEN, PUT_COMMIT); }
static void second_buffer(void) { fresh2(3 * SUBBUF_DATA); }

static void second_unexpanded(void)
{
	buf2 = ring_buffer_alloc_unexpanded(RB_FL_OVERWRITE);
	ring_buffer_set_clock(buf2, test_clock);
}

static void third_buffer(void)
{
	third = ring_buffer_alloc(2 * SUBBUF_DATA, RB_FL_OVERWRITE);
	second_buffer();
}

static void second_was_off(void)
{
	second_buffer();
	op_on_off();
}

/*
 * All are switched off in an operation, or the switch itself is interrupted: the next record is
 * refused. A writer that comes before it does not take its request for fulfilled.
 */
struct all_off {
	void	(*prepare)(void);
	void	(*op)(void);
	void	(*act)(void);
	int	by;
};

static void all_off_meanwhile(long arg)
{
	const struct all_off *a = (const struct all_off *)arg;
	struct step s = { .op = a->op, .act = { a->act }, .may_wait = 1 };

	any_order = true;	/* one buffer is read after the other */
	for_each_instruction(&s, a->by) {
		begin(3, true);
		put_n(1);
		if (a->prepare)
			a->prepare();
		if (!step_run(&s))
			continue;
		if (!s.at[0])
			nmi_all_off();
		EXPECT(!put(buf, 8, PUT_COMMIT), "a record, instruction %ld", s.at[0]);
		EXPECT(!put(buf2, 8, PUT_COMMIT), "another buffer, instruction %ld", s.at[0]);
		tracing_on_all();
		EXPECT(put(buf, 8, PUT_COMMIT), "on again, instruction %ld", s.at[0]);
		EXPECT(put(buf2, 8, PUT_COMMIT), "another buffer, instruction %ld", s.at[0]);
		consume(buf, 0, -1);
		EXPECT(consume(buf2, 0, -1), "another buffer, instruction %ld", s.at[0]);
		check_end(0, END_NO_DROP | END_NO_LOST, "all off, instruction %ld", s.at[0]);
	}
}

/* Two CPUs throw a switch at once, or one while the buffer gets its rings: writers obey it */
static void on_2(void) { ring_buffer_record_on(buf2); }
static void off_2(void) { ring_buffer_record_off(buf2); }
static void remote_on_2(void) { step_remote(1, on_2, 0); }
static void remote_off_2(void) { step_remote(1, off_2, 0); }

static void switch_beside(long n)
{
	static const struct step steps[] = {
		{ .op = on_2, .act = { remote_off_2 } },
		{ .op = off_2, .act = { remote_on_2 } },
		{ .op = op_expand, .act = { remote_off_2 } },
	};
	struct step s = steps[n];

	for_each_instruction(&s, n == 2 ? 3 : 1) {
		begin(3, true);
		buf2 = ring_buffer_alloc_unexpanded(RB_FL_OVERWRITE);
		if (n != 2)
			op_expand();
		if (!n)
			off_2();
		if (step_run(&s))
			EXPECT_EQ(put(buf2, 8, PUT_COMMIT), ring_buffer_record_is_on(buf2));
	}
}

/* A long record does not fit, and a short one of an interrupt does: both are written */
static void op_long(void) { EXPECT(put(buf, 400, PUT_COMMIT), "there is a next sub-buffer"); }
static void nmi_short(void) { put_in(CTX_NMI, buf, 8, PUT_COMMIT); }

static void close_meanwhile(long unused)
{
	struct step s = { .op = op_long, .act = { nmi_short } };

	for_each_instruction(&s, 1) {
		begin(3, true);
		put_n(PER_SUBBUF - 1);
		if (!step_run(&s))
			continue;
		read_out("at instruction %ld", s.at[0]);
	}
}

/* A channel is off while the buffer of its session is, and keeps its own switch */
static void follow(long unused)
{
	begin_two(3);
	ring_buffer_follow_switch(buf2, buf);
	EXPECT(put(buf2, 8, PUT_COMMIT), "both are on");
	ring_buffer_record_off(buf);
	ring_buffer_follow_switch(buf2, buf);
	EXPECT(!put(buf2, 8, PUT_COMMIT), "the session is off");
	EXPECT(!ring_buffer_record_is_on(buf2), "the session is off");
	EXPECT(ring_buffer_record_is_set_on(buf2), "its own switch is on");
	ring_buffer_record_off(buf2);
	ring_buffer_record_on(buf);
	ring_buffer_follow_switch(buf2, buf);
	EXPECT(put(buf, 8, PUT_COMMIT), "the session is on");
	EXPECT(!put(buf2, 8, PUT_COMMIT), "its own switch is off");
	ring_buffer_record_on(buf2);
	EXPECT(put(buf2, 8, PUT_COMMIT), "both are on");
	ring_buffer_record_disable(buf);
	ring_buffer_follow_switch(buf2, buf);
	EXPECT(put(buf2, 8, PUT_COMMIT), "a switch, not a count");
	ring_buffer_record_enable(buf);

	ring_buffer_record_off(buf);
	ring_buffer_follow_switch(buf2, buf);
	EXPECT(!put(buf2, 8, PUT_COMMIT), "the session is off");
	ring_buffer_follow_switch(buf2, NULL);
	EXPECT(put(buf2, 8, PUT_COMMIT), "it has left the session");
	EXPECT_EQ(consume(buf2, 0, -1), 4);
}

/* As in instance/session.c, a switch of the session is followed by a walk of its channels */
static bool is_channel;

static void session_switched(void)
{
	/* Pairs with op_join(). */
	smp_mb();
	if (READ_ONCE(is_channel))
		ring_buffer_follow_switch(buf2, buf);
}

static void op_join(void)
{
	WRITE_ONCE(is_channel, true);
	/* Pairs with session_switched(). */
	smp_mb();
	ring_buffer_follow_switch(buf2, buf);
}

static void op_leave(void)
{
	WRITE_ONCE(is_channel, false);
	ring_buffer_follow_switch(buf2, NULL);
}

static void op_switch_on(void)
{
	ring_buffer_record_on(buf);
	session_switched();
}

static void op_switch_off(void)
{
	ring_buffer_record_off(buf);
	session_switched();
}

static void nmi_switch(void)
{
	in_context(CTX_NMI, ring_buffer_record_is_set_on(buf) ? op_switch_off : op_switch_on);
}

struct follow {
	void		(*op)(void);
	bool		member;		/* before */
	bool		off;		/* before */
	bool		after;		/* member after */
};

/* An NMI throws the switch at each instruction: the last word counts */
static void follow_nmi(long arg)
{
	const struct follow *f = (const struct follow *)arg;
	struct step s = { .op = f->op, .act = { nmi_switch }, .may_wait = 1 };
	bool want;

	for_each_instruction(&s, 1) {
		begin_two(3);
		is_channel = f->member;
		if (f->off)
			op_switch_off();
		if (!step_run(&s))
			continue;
		want = !f->after || ring_buffer_record_is_set_on(buf);
		EXPECT_EQ(put(buf2, 8, PUT_COMMIT), want);
		EXPECT_EQ(ring_buffer_record_is_on(buf2), want);
	}
}

static void op_off(void) { ring_buffer_record_off(buf); }
static void disable_cpu(void) { ring_buffer_record_disable_cpu(buf, 0); }
static void op_on(void) { ring_buffer_record_on(buf); }
static void enable_cpu(void) { ring_buffer_record_enable_cpu(buf, 0); }
static void disable(void) { ring_buffer_record_disable(buf); }
static void enable(void) { ring_buffer_record_enable(buf); }

/* Two switch a CPU off: when one takes that back, the other's is still there */
static void two_switches(long unused)
{
	struct step s = { .op = op_off, .act = { disable_cpu } };

	for_each_instruction(&s, 1) {
		begin(3, true);
		put(buf, 8, PUT_COMMIT);
		if (!step_run(&s))
			continue;
		if (!s.at[0])
			disable_cpu();
		ring_buffer_record_enable_cpu(buf, 0);
		EXPECT(!put(buf, 8, PUT_COMMIT), "records while off, instruction %ld", s.at[0]);
		ring_buffer_record_on(buf);
		EXPECT(put(buf, 8, PUT_COMMIT), "on again, instruction %ld", s.at[0]);
	}
}

/* Ways to switch it off and on */
static const struct off_way {
	void	(*off)(void);
	void	(*on)(void);
} off_ways[] = {
	{ op_off, op_on },
	{ disable, enable },
	{ disable_cpu, enable_cpu },
};

static const struct off_way *off_way;

/* Times when @buf was off, and whether one of them was in what was claimed */
static u64 off_times[4];
static unsigned int nr_off_times, nr_claims;

static void off_for_a_time(void)
{
	off_way->off();
	off_times[nr_off_times++] = ring_buffer_time_stamp(buf);
	off_way->on();
}

static void off_twice_and_stay(void)
{
	off_for_a_time();
	off_for_a_time();
	off_way->off();
}

static void look_was_on(void)
{
	unsigned int i, before = nr_off_times;
	u64 since, until;

	if (!ring_buffer_was_on(buf, &since, &until))
		return;
	nr_claims++;
	for (i = 0; i < before; i++)
		EXPECT(off_times[i] < since || off_times[i] > until,
		       "was off at %llu, claimed on from %llu to %llu", off_times[i], since, until);
	EXPECT(since >= until || until != U64_MAX || put(buf, 8, PUT_COMMIT),
	       "is off, and claimed on");
}

/* That it was on is never claimed of a time when it was off, nor is it never claimed */
static void was_on(long way)
{
	struct step s = { .op = off_twice_and_stay, .act = { look_was_on } };
	struct step look = { .op = look_was_on, .act = { off_for_a_time } };

	off_way = &off_ways[way];
	for_each_instruction(&s, 1) {
		begin(3, true);
		nr_off_times = 0;
		nr_claims = 0;
		if (!step_run(&s))
			continue;
		look_was_on();
		EXPECT(nr_claims, "nothing is claimed behind it, instruction %ld", s.at[0]);
	}
	for_each_instruction(&look, 1) {
		begin(3, true);
		nr_off_times = 0;
		off_for_a_time();
		if (!step_run(&look))
			continue;
		nr_claims = 0;
		look_was_on();
		EXPECT(nr_claims, "nothing is claimed behind it, instruction %ld", look.at[0]);
	}
}

/* ---- mappings --------------------------------------------------------------- */

/* A record is written under any number of mappings and any nested write */
static void mapped(long unused)
{
	struct ring_buffer_event *e;
	int i;

	begin(3, true);
	for (i = 0; i < 30; i++)
		EXPECT_EQ(map_buffer(3), 0);
	e = ring_buffer_lock_reserve(buf, REC_LEN);
	put_in(CTX_SOFTIRQ, buf, REC_LEN, PUT_COMMIT);
	put_in(CTX_IRQ, buf, REC_LEN, PUT_COMMIT);
	EXPECT(e, "there is room");
	if (e)
		ring_buffer_discard_commit(buf, e);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 2);
	while (i--)
		EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
	read_out("mapped");
}

/* ---- a discard under the records of interrupts -------------------------------- */

static struct ring_buffer_event *below;
static void op_take_back(void) { ring_buffer_discard_commit(buf, below); }

/* Those of one interrupt are there, another interrupt comes: both keep their records and times */
static void discard_below(long clock_step)
{
	struct step s = { .op = op_take_back, .act = { irq_put } };
	s64 step = clock_step;
	int records;

	for (records = 0; records < 3; records++) {
		for_each_instruction(&s, 1) {
			begin(3, true);
			clock_steps(1, &step);
			put_n(2);
			below = ring_buffer_lock_reserve(buf, 60);
			if (records)
				irq_put();
			if (records > 1)
				irq_put();
			if (!step_run(&s))
				continue;
			put_n(1);
			read_out("%d records, instruction %ld", records, s.at[0]);
		}
	}
}

#define FOLLOW(name, ...)	\
	{ "unit." name, follow_nmi, (long)&(const struct follow){ __VA_ARGS__ }, SC_QUICK, \
	  "off is off" }
#define ALL_OFF(name, ...)	\
	{ "unit." name, all_off_meanwhile, (long)&(const struct all_off){ __VA_ARGS__ }, \
	  SC_QUICK, "off is off" }

const struct scenario write_scenarios[] = {
	{ "unit.clock-looks", clock_looks, 0, SC_QUICK, "R2, 17" },
	{ "unit.no-event", no_event, 0, SC_QUICK, "16" },
	{ "unit.let-in", let_in, 0, SC_QUICK, "R1, 16" },
	{ "unit.wake-once", wake_once, 0, SC_QUICK, "13" },
	{ "unit.switches", switches, 0, SC_QUICK, "off is off" },
	{ "unit.two-switches", two_switches, 0, SC_QUICK, "off is off" },
	{ "unit.switch-beside-on", switch_beside, 0, SC_QUICK, "off is off" },
	{ "unit.switch-beside-off", switch_beside, 1, SC_QUICK, "off is off" },
	{ "unit.switch-beside-expand", switch_beside, 2, SC_QUICK, "off is off" },
	{ "unit.was-on", was_on, 0, SC_QUICK, "off is off" },
	{ "unit.was-on-disable", was_on, 1, SC_QUICK, "off is off" },
	{ "unit.was-on-cpu", was_on, 2, SC_QUICK, "off is off" },
	{ "unit.all-off", all_off, 0, SC_QUICK, "off is off" },
	ALL_OFF("all-off-write", second_buffer, op_put, nmi_all_off, 1),
	ALL_OFF("all-off-new", NULL, second_buffer, nmi_all_off, 7),
	ALL_OFF("all-off-expand", second_unexpanded, op_expand, put_all_off, 3),
	ALL_OFF("all-off-switch", second_buffer, op_on_off, nmi_all_off, 1),
	ALL_OFF("all-off-beside", second_was_off, tracing_off_all, irq_put, 1),
	ALL_OFF("all-off-freed", third_buffer, tracing_off_all, remote_free, 1),
	{ "unit.follow", follow, 0, SC_QUICK, "off is off" },
	FOLLOW("follow-join-on", op_join, false, false, true),
	FOLLOW("follow-join-off", op_join, false, true, true),
	FOLLOW("follow-leave-on", op_leave, true, false, false),
	FOLLOW("follow-leave-off", op_leave, true, true, false),
	FOLLOW("follow-on", op_switch_on, true, true, true),
	FOLLOW("follow-off", op_switch_off, true, false, true),
	{ "unit.discard-below", discard_below, 8, SC_QUICK, "R2 R3, 11" },
	{ "unit.discard-below-near", discard_below, (1 << 27) - 100, SC_QUICK, "R2 R3, 11" },
	{ "unit.discard-below-far", discard_below, 1 << 28, SC_QUICK, "R2 R3, 11" },
	{ "unit.write-close", close_meanwhile, 0, SC_QUICK, "R1 R3, 2" },
	{ "unit.write-mapped", mapped, 0, SC_QUICK, "R8" },
	{ }
};
