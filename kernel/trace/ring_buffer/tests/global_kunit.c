// SPDX-License-Identifier: GPL-2.0
/*
 * Global buffers: each record is in the one ring once, with its CPU, in the order of the times,
 * or is counted as lost; also where something interrupts a commit at any step.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "world.h"

#define GLOBAL_SUBBUFS	4
#define GLOBAL_MAX	4096	/* numbers of records */

/* A global buffer and all that was written to it */
struct global_world {
	struct trace_buffer	*buffer;
	struct trace_buffer	*spare;		/* of a cut, or NULL */
	u32			nr;		/* records that were reserved */
	unsigned long		kept[BITS_TO_LONGS(GLOBAL_MAX)];	/* committed, by number */
	unsigned long		seen[BITS_TO_LONGS(GLOBAL_MAX)];	/* consumed */
	unsigned long		refused;	/* reserves that failed */
};

static struct global_world *global;
static u64 global_now;

static u64 global_clock(void)
{
	return ++global_now;
}

static struct rb_cpu *global_stage(void)
{
	return global->buffer->cpus[raw_smp_processor_id()];
}

static struct trace_buffer *global_alloc(struct kunit *test, unsigned int flags)
{
	struct trace_buffer *buffer = ring_buffer_alloc_unexpanded(flags);

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	ring_buffer_set_clock(buffer, global_clock);
	KUNIT_ASSERT_EQ(test, ring_buffer_set_global(buffer, true), 0);
	KUNIT_ASSERT_EQ(test, ring_buffer_expand(buffer, GLOBAL_SUBBUFS * rb_subbuf_room(0)), 0);
	return buffer;
}

static void global_open(struct kunit *test, unsigned int flags)
{
	memset(global, 0, sizeof(*global));
	global->buffer = global_alloc(test, flags);
}

static void global_close(void)
{
	if (global->spare)
		ring_buffer_free(global->spare);
	if (global->buffer)
		ring_buffer_free(global->buffer);
	global->spare = NULL;
	global->buffer = NULL;
}

static int global_init(struct kunit *test)
{
	global = kunit_kzalloc(test, sizeof(*global), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, global);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	return 0;
}

static void global_exit(struct kunit *test)
{
	rb_race_hook = NULL;
	if (!global)
		return;
	global_close();
}

static struct ring_buffer_event *global_reserve(unsigned int len, u32 *num)
{
	struct ring_buffer_event *rec = ring_buffer_lock_reserve(global->buffer, len);

	if (!rec) {
		global->refused++;
		return NULL;
	}
	*num = global->nr++;
	memset(ring_buffer_event_data(rec), (u8)*num, len);
	memcpy(ring_buffer_event_data(rec), num, sizeof(*num));
	return rec;
}

static void global_commit(u32 num)
{
	set_bit(num, global->kept);
	ring_buffer_unlock_commit(global->buffer);
}

static bool global_write(unsigned int len)
{
	u32 num;

	if (!global_reserve(len, &num))
		return false;
	global_commit(num);
	return true;
}

/* Consume all of @buffer: each number once, in the order of the times, with the CPU. */
static void global_consume(struct kunit *test, struct trace_buffer *buffer)
{
	struct ring_buffer_event *rec;
	u64 ts, before = 0;
	u32 num, len;

	while ((rec = ring_buffer_consume(buffer, rb_home(), &ts, NULL))) {
		len = ring_buffer_event_length(rec);
		memcpy(&num, ring_buffer_event_data(rec), sizeof(num));
		KUNIT_ASSERT_LT(test, num, global->nr);
		KUNIT_EXPECT_FALSE_MSG(test, test_and_set_bit(num, global->seen), "%u twice", num);
		KUNIT_EXPECT_TRUE_MSG(test, test_bit(num, global->kept), "%u not kept", num);
		KUNIT_EXPECT_GT_MSG(test, ts, before, "record %u", num);
		KUNIT_EXPECT_EQ_MSG(test, ring_buffer_global_cpu(ring_buffer_event_data(rec), len),
				    raw_smp_processor_id(), "record %u of %u bytes", num, len);
		before = ts;
	}
}

static unsigned long global_lost(struct trace_buffer *buffer)
{
	return ring_buffer_overrun_cpu(buffer, rb_home()) +
	       ring_buffer_commit_overrun_cpu(buffer, rb_home()) +
	       ring_buffer_dropped_events_cpu(buffer, rb_home());
}

/* All records are consumed, or are counted: those that were refused at the reserve, too. */
static void global_account(struct kunit *test, const char *what)
{
	struct rb_ring *ring = rb_untag(global_stage()->ring);
	unsigned long kept, seen;

	if (global->spare)
		global_consume(test, global->spare);
	global_consume(test, global->buffer);
	kept = bitmap_weight(global->kept, GLOBAL_MAX);
	seen = bitmap_weight(global->seen, GLOBAL_MAX);
	KUNIT_EXPECT_EQ_MSG(test, kept + global->refused, seen + global_lost(global->buffer) +
			    (global->spare ? global_lost(global->spare) : 0), "%s", what);
	KUNIT_EXPECT_EQ_MSG(test, global_stage()->depth, 0U, "%s", what);
	KUNIT_EXPECT_EQ_MSG(test, ring->nest, 0U, "%s", what);
	KUNIT_EXPECT_EQ_MSG(test, local64_read(&ring->commit->tail), RB_OPEN_EMPTY, "%s", what);
}

static void global_test_lengths(struct kunit *test)
{
	unsigned int max, len;

	global_open(test, RB_FL_OVERWRITE);
	max = ring_buffer_max_event_size(global->buffer);
	for (len = 4; len <= max; len += 1 + len / 16) {
		KUNIT_ASSERT_TRUE(test, global_write(len));
		global_consume(test, global->buffer);
		KUNIT_EXPECT_TRUE(test, test_bit(global->nr - 1, global->seen));
	}
	KUNIT_EXPECT_TRUE(test, global_write(max));
	KUNIT_EXPECT_FALSE(test, global_write(max + 1));
	/* That one is refused as in any buffer, without a count. */
	global->refused = 0;
	global_account(test, "lengths");
}

static void global_test_setting(struct kunit *test)
{
	struct buffer_data_read_page *rpage = NULL;
	struct trace_buffer *buffer;
	int cpu;

	global_open(test, RB_FL_OVERWRITE);
	buffer = global->buffer;
	KUNIT_EXPECT_TRUE(test, ring_buffer_is_global(buffer));
	KUNIT_EXPECT_EQ(test, ring_buffer_set_global(buffer, false), -EBUSY);
	KUNIT_EXPECT_TRUE(test, global_write(8));
	for_each_possible_cpu(cpu) {
		bool home = cpu == ring_buffer_home();

		KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(buffer, cpu), home ? 1UL : 0UL);
		KUNIT_EXPECT_EQ(test, ring_buffer_size(buffer, cpu),
				home ? (unsigned long)GLOBAL_SUBBUFS * rb_subbuf_room(0) : 0UL);
		/* Readers of any CPU can wait. */
		KUNIT_EXPECT_EQ(test, ring_buffer_alloc_read_page(buffer, cpu, &rpage), 0);
		ring_buffer_free_read_page(buffer, cpu, rpage);
		rpage = NULL;
	}
	KUNIT_EXPECT_EQ(test, ring_buffer_unexpand(buffer), -EBUSY);
	global_account(test, "setting");
	KUNIT_EXPECT_EQ(test, ring_buffer_unexpand(buffer), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_set_global(buffer, false), 0);
	KUNIT_EXPECT_FALSE(test, ring_buffer_is_global(buffer));
	KUNIT_EXPECT_EQ(test, ring_buffer_expand(buffer, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_write(buffer, 4, &cpu), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(buffer, raw_smp_processor_id()), 1UL);
}

static int global_is_absent(void *ended)
{
	rb_is_absent(global->buffer, 0);
	WRITE_ONCE(*(bool *)ended, true);
	return 0;
}

static int global_set(void *ended)
{
	ring_buffer_set_global(global->buffer, false);
	WRITE_ONCE(*(bool *)ended, true);
	return 0;
}

/* While a CPU comes online, what changes the CPUs that there are waits; a look at one does not. */
static void global_test_hotplug(struct kunit *test)
{
	static const struct {
		int (*op)(void *ended);
		bool waits;
	} ops[] = { { global_is_absent, false }, { global_set, true } };
	struct task_struct *task;
	unsigned int i;
	bool ended;

	global_open(test, RB_FL_OVERWRITE);
	KUNIT_ASSERT_EQ(test, ring_buffer_unexpand(global->buffer), 0);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		ended = false;
		task = kthread_create(ops[i].op, &ended, "kunit-global");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		get_task_struct(task);
		/* As trace_rb_cpu_prepare() does. */
		mutex_lock(&global->buffer->cpu_mutex);
		wake_up_process(task);
		/* The bit is MUTEX_FLAG_WAITERS of kernel/locking/: a task sleeps for the lock. */
		while (!(atomic_long_read(&global->buffer->cpu_mutex.owner) & 1) &&
		       !READ_ONCE(ended))
			schedule_timeout_uninterruptible(1);
		KUNIT_EXPECT_EQ(test, READ_ONCE(ended), !ops[i].waits);
		mutex_unlock(&global->buffer->cpu_mutex);
		kthread_stop_put(task);
		KUNIT_EXPECT_TRUE(test, ended);
	}
}

/* Switches work on the writer's CPU, or on all of them. */
static void global_test_switches(struct kunit *test)
{
	int cpu = raw_smp_processor_id();
	struct ring_buffer_event *rec;
	u32 num;

	global_open(test, RB_FL_OVERWRITE);
	ring_buffer_record_disable_cpu(global->buffer, cpu);
	KUNIT_EXPECT_FALSE(test, global_write(8));
	ring_buffer_record_enable_cpu(global->buffer, cpu);
	KUNIT_EXPECT_TRUE(test, global_write(8));
	/* A record in flight is still committed. */
	rec = global_reserve(8, &num);
	KUNIT_ASSERT_NOT_NULL(test, rec);
	ring_buffer_record_off(global->buffer);
	global_commit(num);
	KUNIT_EXPECT_FALSE(test, global_write(8));
	ring_buffer_record_on(global->buffer);
	KUNIT_EXPECT_TRUE(test, global_write(8));
	global->refused = 0;
	global_account(test, "switches");
	KUNIT_EXPECT_EQ(test, bitmap_weight(global->seen, GLOBAL_MAX), 3U);
}

/* More than the ring holds, in both modes. */
static void global_test_full(struct kunit *test)
{
	unsigned int flags, i;

	for (flags = 0; flags <= RB_FL_OVERWRITE; flags += RB_FL_OVERWRITE) {
		global_open(test, flags);
		for (i = 0; i < 400; i++)
			KUNIT_EXPECT_TRUE(test, global_write(200));
		KUNIT_EXPECT_EQ(test, ring_buffer_overrun_cpu(global->buffer, rb_home()) > 0,
				flags > 0);
		KUNIT_EXPECT_EQ(test, ring_buffer_dropped_events_cpu(global->buffer, rb_home()) > 0,
				!flags);
		KUNIT_EXPECT_GT(test, ring_buffer_entries(global->buffer), 40UL);
		global_account(test, flags ? "overwrite" : "keep");
		KUNIT_EXPECT_EQ(test, test_bit(0, global->seen), !flags);
		KUNIT_EXPECT_EQ(test, test_bit(399, global->seen), !!flags);
		/* There is room again. */
		KUNIT_EXPECT_TRUE(test, global_write(200));
		global_account(test, "room");
		KUNIT_EXPECT_TRUE(test, test_bit(400, global->seen));
		global_close();
	}
}

/* Interrupts that fill the stage while a record is not committed are counted. */
static void global_test_full_stage(struct kunit *test)
{
	unsigned int flags, i;
	u32 num;

	for (flags = 0; flags <= RB_FL_OVERWRITE; flags += RB_FL_OVERWRITE) {
		global_open(test, flags);
		KUNIT_ASSERT_NOT_NULL(test, global_reserve(100, &num));
		__preempt_count_add(HARDIRQ_OFFSET);
		for (i = 0; i < 50; i++)
			global_write(200);
		__preempt_count_sub(HARDIRQ_OFFSET);
		KUNIT_EXPECT_GT(test, global->refused, 20UL);
		KUNIT_EXPECT_EQ(test, ring_buffer_entries(global->buffer), 0UL);
		global_commit(num);
		KUNIT_EXPECT_EQ(test, ring_buffer_commit_overrun_cpu(global->buffer, rb_home()),
				global->refused);
		KUNIT_EXPECT_GT(test, ring_buffer_entries(global->buffer), 10UL);
		/* The stage is empty again. */
		KUNIT_EXPECT_TRUE(test, global_write(2000));
		global_account(test, "full stage");
		global_close();
	}
}

/*
 * An operation is interrupted at each point. (Where these tests run, the buffer refuses records
 * of an NMI, so that a hard interrupt stands for it.)
 */

static void global_do_write(void)
{
	global_write(12);
}

static void global_do_fill(void)
{
	unsigned int i;

	for (i = 0; i < 25; i++)
		global_write(200);
}

static void global_do_discard(void)
{
	struct ring_buffer_event *rec;
	u32 num;

	rec = global_reserve(40, &num);
	if (rec)
		ring_buffer_discard_commit(global->buffer, rec);
}

static void global_do_cut(void)
{
	/* Busy while a record of before the last one is in flight. */
	if (global->spare)
		rbt_cut(global->buffer, global->spare, RING_BUFFER_ALL_CPUS);
	global_write(12);
}

static void global_do_long(void)
{
	global_write(1500);
}

static void global_do_nest(void)
{
	u32 num;

	if (!global_reserve(16, &num))
		return;
	ring_buffer_nest_start(global->buffer);
	global_write(20);
	ring_buffer_nest_end(global->buffer);
	global_commit(num);
}

/* An action of an interrupt */
struct global_action {
	const char	*name;		/* for messages */
	void		(*run)(void);	/* does it, in the context of a hard interrupt */
	bool		nmi;		/* it comes also where interrupts are off */
	bool		cut;		/* it needs a spare buffer */
};

static const struct global_action global_actions[] = {
	{ "irq writes",		global_do_write },
	{ "irq fills",		global_do_fill },
	{ "irq discards",	global_do_discard },
	{ "irq cuts",		global_do_cut,	false, true },
	{ "nmi writes",		global_do_write,	true },
	{ "nmi fills",		global_do_fill,	true },
	{ "nmi discards",	global_do_discard,	true },
	{ "nmi cuts",		global_do_cut,	true, true },
};

static void (*const global_ops[])(void) = {
	global_do_write, global_do_long, global_do_discard, global_do_nest,
};

static struct {
	const struct global_action *action;
	unsigned int		at, count;
	bool			busy;
	bool			locked;		/* it has come between lock and unlock */
	const char		*name;
	unsigned long		met;		/* how often */
	unsigned long		taken[BITS_TO_LONGS(RB_RACE_NR)];
} global_race;

static void global_hook(enum rb_race point, const char *name)
{
	unsigned long flags;

	if (global_race.busy || global_race.count++ != global_race.at)
		return;
	/* An interrupt does not come where they are off. */
	if (irqs_disabled() && !global_race.action->nmi) {
		global_race.at++;
		return;
	}
	global_race.busy = true;
	global_race.name = name;
	set_bit(point, global_race.taken);
	global_race.locked = point >= RB_RACE_STAGE_LOOK && point <= RB_RACE_STAGE_MOVED;
	local_irq_save(flags);
	__preempt_count_add(HARDIRQ_OFFSET);
	global_race.action->run();
	__preempt_count_sub(HARDIRQ_OFFSET);
	local_irq_restore(flags);
}

static bool global_race_at(struct kunit *test, void (*op)(void), unsigned int at)
{
	const struct global_action *action = global_race.action;

	global_race.at = at;
	global_race.count = 0;
	global_race.busy = false;
	global_race.locked = false;
	global_open(test, RB_FL_OVERWRITE);
	/* One that consumes. */
	if (action->cut)
		global->spare = global_alloc(test, RB_FL_OVERWRITE);
	global_write(50);
	global_write(50);
	rb_race_hook = global_hook;
	op();
	rb_race_hook = NULL;
	/* It did not wait for its own CPU, and what it wrote is not lost. */
	if (global_race.locked)
		global_race.met++;
	global_account(test, global_race.name);
	global_close();
	return global_race.busy;
}

static void global_test_race(struct kunit *test)
{
	unsigned int i, k, at;

	bitmap_zero(global_race.taken, RB_RACE_NR);
	for (i = 0; i < ARRAY_SIZE(global_actions); i++) {
		global_race.action = &global_actions[i];
		global_race.met = 0;
		for (k = 0; k < ARRAY_SIZE(global_ops); k++) {
			for (at = 0; global_race_at(test, global_ops[k], at); at++)
				;
			KUNIT_EXPECT_GT_MSG(test, at, 10U, "%s", global_actions[i].name);
		}
		/* Each step of the drain was met by an NMI, and by no interrupt. */
		if (global_actions[i].nmi)
			KUNIT_EXPECT_GT(test, global_race.met, 10UL);
		else
			KUNIT_EXPECT_EQ(test, global_race.met, 0UL);
	}
	for (at = RB_RACE_STAGE_LOCK; at <= RB_RACE_STAGE_MOVED; at++)
		KUNIT_EXPECT_TRUE_MSG(test, test_bit(at, global_race.taken), "point %u", at);
}

/* A drain that finds the lock held drops its records, and counts them. */
static void global_test_locked(struct kunit *test)
{
	struct trace_buffer *buffer;
	atomic_t *lock;
	unsigned int i;
	u32 num;

	global_open(test, RB_FL_OVERWRITE);
	buffer = global->buffer;
	KUNIT_EXPECT_TRUE(test, global_write(100));
	KUNIT_EXPECT_EQ(test, ring_buffer_complete_since(buffer, rb_home()), 0ULL);
	/* The first member of struct rb_global */
	lock = (atomic_t *)buffer->global;
	atomic_set(lock, 1);
	/* More than a stage holds: it is empty each time. */
	for (i = 1; i <= 60; i++) {
		KUNIT_EXPECT_TRUE(test, global_write(100));
		KUNIT_EXPECT_EQ(test, ring_buffer_commit_overrun_cpu(buffer, rb_home()), i);
	}
	atomic_set(lock, 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(buffer), 1UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_complete_since(buffer, rb_home()), U64_MAX);
	KUNIT_EXPECT_TRUE(test, global_write(100));
	global_account(test, "locked");
	KUNIT_EXPECT_TRUE(test, test_bit(61, global->seen));
	/* Behind the next sub-buffer it has all. */
	for (i = 0; i < 60; i++)
		KUNIT_EXPECT_TRUE(test, global_write(100));
	KUNIT_EXPECT_LT(test, ring_buffer_complete_since(buffer, rb_home()), global_now);
	ring_buffer_reset(buffer);
	KUNIT_EXPECT_EQ(test, ring_buffer_commit_overrun_cpu(buffer, rb_home()), 0UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_complete_since(buffer, rb_home()), 0ULL);
	/* A record that is discarded needs no lock; the loss of another one ends with a reset. */
	atomic_set(lock, 1);
	ring_buffer_discard_commit(buffer, global_reserve(100, &num));
	KUNIT_EXPECT_EQ(test, ring_buffer_complete_since(buffer, rb_home()), 0ULL);
	KUNIT_EXPECT_TRUE(test, global_write(100));
	atomic_set(lock, 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_complete_since(buffer, rb_home()), U64_MAX);
	ring_buffer_reset(buffer);
	KUNIT_EXPECT_EQ(test, ring_buffer_complete_since(buffer, rb_home()), 0ULL);
}

/* A resize, and larger sub-buffers: nothing that was not overwritten is lost. */
static void global_test_resize(struct kunit *test)
{
	unsigned int i;

	global_open(test, RB_FL_OVERWRITE);
	for (i = 0; i < 10; i++)
		global_write(200);
	KUNIT_EXPECT_EQ(test, ring_buffer_resize(global->buffer, 20 * rb_subbuf_room(0),
						 RING_BUFFER_ALL_CPUS), 0);
	for (i = 0; i < 200; i++)
		global_write(200);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(global->buffer), 210UL);
	global_account(test, "resize");
	KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(global->buffer, 1), 0);
	/* A record is not longer than a page all the same. */
	KUNIT_EXPECT_LT(test, ring_buffer_max_event_size(global->buffer), PAGE_SIZE);
	KUNIT_EXPECT_TRUE(test, global_write(ring_buffer_max_event_size(global->buffer)));
	global_account(test, "order");
}

static struct kunit_case global_cases[] = {
	KUNIT_CASE(global_test_lengths),
	KUNIT_CASE(global_test_setting),
	KUNIT_CASE(global_test_hotplug),
	KUNIT_CASE(global_test_switches),
	KUNIT_CASE(global_test_full),
	KUNIT_CASE(global_test_full_stage),
	KUNIT_CASE(global_test_locked),
	KUNIT_CASE(global_test_resize),
	KUNIT_CASE(global_test_race),
	{ }
};

static struct kunit_suite global_suite = {
	.name = "ring_buffer_global",
	.init = global_init,
	.exit = global_exit,
	.test_cases = global_cases,
};

kunit_test_suite(global_suite);
