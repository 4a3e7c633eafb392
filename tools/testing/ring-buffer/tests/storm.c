// SPDX-License-Identifier: GPL-2.0
/*
 * Real threads. CPU 0 writes and is interrupted by signals, CPU 1 reads, CPU 2
 * does the rest; all at random, for a fixed number of records, and at the end
 * every one of them is accounted for.
 */
#include "test.h"

#define RING_SUBBUFS 8

enum {
	S_OVERWRITE	= 1 << 0,
	S_PAGES		= 1 << 1,	/* the reader takes pages too */
	S_DISCARD	= 1 << 2,
	S_ITERATE	= 1 << 3,
	S_RESIZE	= 1 << 4,
	S_SWAP		= 1 << 5,
	S_RESET		= 1 << 6,
	S_MODE		= 1 << 7,	/* overwrite and recording on and off */
	S_STAT		= 1 << 8,
	S_IDLE		= 1 << 9,	/* no reader until the end */
	S_CUT		= 1 << 10,
	S_FRESH		= 1 << 11,	/* each swap brings a ring that was just allocated */
};

static long mix, nr_records;
static int stop, kick_stop, ready;

static unsigned int rnd(unsigned int *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 16;
}

static void put_random(unsigned int *seed)
{
	unsigned int len = 24 + 4 * (rnd(seed) % 50);

	put(buf, len, mix & S_DISCARD && !(rnd(seed) % 5) ? PUT_DISCARD : PUT_COMMIT);
}

static void irq(void)
{
	static unsigned int seed = 1;
	int i, n = 1 + rnd(&seed) % 3;

	for (i = 0; i < n; i++)
		put_random(&seed);
}

static void nmi(void)
{
	static unsigned int seed = 2;

	put_random(&seed);
}

static void writer(void *unused)
{
	unsigned int seed = 3;
	long i;

	host_interrupts_on(1);
	host_cpu_enter(0);
	WRITE_ONCE(ready, 1);
	for (i = 0; i < nr_records; i++) {
		put_random(&seed);
		if (!(rnd(&seed) & 63))
			shim_poll();
	}
	/* its writes are through before the others end, and theirs before it does */
	smp_store_release(&kick_stop, 1);
	/* see above */
	while (!smp_load_acquire(&stop)) {
		shim_poll();
		host_pause();
	}
	host_interrupts_on(0);
	host_cpu_leave();
}

/* more interrupts than a timer gives */
static void kicker(void *unused)
{
	unsigned int seed = 7, n;

	/* pairs with writer(), as all that wait for kick_stop */
	while (!smp_load_acquire(&kick_stop)) {
		if (rnd(&seed) & 3)
			host_send_irq(0);
		else
			host_send_nmi(0);
		for (n = rnd(&seed) % 4000; n; n--)
			cpu_relax();
	}
}

static void swap_and_drain(void)
{
	int ret;

	if (mix & S_FRESH) {
		ring_buffer_free(buf2);
		fresh2(RING_SUBBUFS * SUBBUF_DATA);
	}
	ret = ring_buffer_swap_cpu(buf, buf2, 0);
	if (ret) {
		fault(F_REFUSED, "ring_buffer_swap_cpu: %d", ret);
		return;
	}
	synchronize_rcu();
	consume(buf2, 0, -1);
}

static void reader(unsigned int *seed)
{
	if (mix & S_SWAP && !(rnd(seed) % 64))
		swap_and_drain();
	if (mix & S_PAGES && rnd(seed) & 1)
		read_pages(buf, 0, false, rnd(seed) & 1 ? 0 : 500, 1 + rnd(seed) % 4);
	else if (!(mix & S_IDLE))
		consume(buf, 0, rnd(seed) % 200);
	shim_poll();
}

static void resize(unsigned int *seed)
{
	int ret = ring_buffer_resize(buf, (2 + rnd(seed) % 12) * SUBBUF_DATA,
				     rnd(seed) & 1 ? 0 : RING_BUFFER_ALL_CPUS);

	if (ret < 0)
		fault(F_REFUSED, "ring_buffer_resize: %d", ret);
}

static void toggle(unsigned int *seed)
{
	switch (rnd(seed) % 4) {
	case 0:
		ring_buffer_change_overwrite(buf, rnd(seed) & 1);
		break;
	case 1:
		ring_buffer_record_disable(buf);
		cpu_relax();
		ring_buffer_record_enable(buf);
		break;
	case 2:
		ring_buffer_record_disable_cpu(buf, 0);
		ring_buffer_record_enable_cpu(buf, 0);
		break;
	case 3:
		ring_buffer_record_off(buf);
		ring_buffer_record_on(buf);
		break;
	}
}

/* Iterate over the records in the spare buffer, or let the next cut drop them. */
static void cut(unsigned int *seed)
{
	int ret = cut_one(buf, buf2, RING_BUFFER_ALL_CPUS);

	/* A record from before the last cut may be in flight. */
	if (ret && ret != -EBUSY)
		fault(F_REFUSED, "ring_buffer_cut_all: %d", ret);
	if (rnd(seed) & 1) {
		ring_buffer_wait_writers(buf2);
		iterate(buf2, 0);
	}
}

static void others(void *unused)
{
	unsigned int seed = 11;

	host_cpu_enter(2);
	/* pairs with writer() */
	while (!smp_load_acquire(&kick_stop)) {
		if (mix & S_ITERATE)
			iterate(buf, 0);
		if (mix & S_RESIZE && !(rnd(&seed) % 16))
			resize(&seed);
		if (mix & S_RESET && !(rnd(&seed) % 16))
			ring_buffer_reset_cpu(buf, 0);
		if (mix & S_CUT && !(rnd(&seed) % 4))
			cut(&seed);
		if (mix & S_MODE)
			toggle(&seed);
		if (mix & S_STAT) {
			ring_buffer_entries(buf);
			ring_buffer_bytes_cpu(buf, 0);
			ring_buffer_oldest_event_ts(buf, 0);
		}
		shim_poll();
		/* A grace period orders all: let the writer find a new ring without one. */
		if (!(mix & S_IDLE))
			shim_rcu_run();
		host_pause();
	}
	host_cpu_leave();
}

static void one_storm(void)
{
	void *w, *k, *o = NULL;
	unsigned int seed = 5, end = 0;
	u64 drained;

	shim_set_online(2, 1);
	live = true;
	fresh(RING_SUBBUFS * SUBBUF_DATA, mix & S_OVERWRITE);
	if (mix & (S_SWAP | S_CUT))
		fresh2(RING_SUBBUFS * SUBBUF_DATA);
	stop = 0;
	kick_stop = 0;
	ready = 0;
	host_interrupts(irq, nmi);
	host_interrupts_on(0);
	w = host_thread(writer, NULL);
	while (!READ_ONCE(ready))
		host_pause();
	if (mix & (S_ITERATE | S_RESIZE | S_RESET | S_MODE | S_STAT | S_CUT))
		o = host_thread(others, NULL);
	k = host_thread(kicker, NULL);
	host_cpu_enter(1);
	/* pairs with writer(): all that it wrote is there for the last look */
	while (!smp_load_acquire(&kick_stop))
		reader(&seed);
	host_join(k);
	if (o)
		host_join(o);
	if (mix & S_SWAP)
		swap_and_drain();
	consume(buf, 0, -1);
	/* pairs with writer(): it leaves after the last look */
	smp_store_release(&stop, 1);
	host_join(w);
	host_cpu_leave();

	/* nothing is in flight: all that is left must come now, at once */
	drained = seen_count(0);
	consume(buf, 0, -1);
	host_cpu_switch(0);
	shim_rcu_run();
	if (mix & S_MODE)
		end |= END_NO_DROP;
	if (mix & (S_RESIZE | S_SWAP))
		end |= END_NO_LOST;
	if (mix & (S_RESET | S_CUT | S_FRESH))
		end |= END_NO_LOST | END_NO_LOSS;
	/* a last record reports the loss before it */
	ring_buffer_change_overwrite(buf, 1);
	put(buf, 24, PUT_COMMIT);
	host_cpu_switch(1);
	consume(buf, 0, -1);
	host_cpu_switch(0);
	nr_runs += put_count(0);
	check_end(0, end, "mix %#lx, drained at %llu", mix, drained);
	live = false;
}

/* CPU 0: full at first, and once more when it is told. */
static void lap(void *unused)
{
	host_cpu_enter(0);
	put_n(RING_SUBBUFS * PER_SUBBUF);
	WRITE_ONCE(ready, 1);
	/* It orders nothing: only the slots do. */
	while (!READ_ONCE(stop))
		host_pause();
	put_n(2 * RING_SUBBUFS * PER_SUBBUF);
	host_cpu_leave();
}

/*
 * A resize moves records into all slots of a smaller ring but the writer's, and then the
 * writer overwrites them. The slot words alone order the two: no slot is left to release,
 * which would order them, too. So a missing order is a race each time.
 */
static void run_adopt(long arg)
{
	void *w;

	shim_set_online(2, 1);
	live = true;
	fresh(RING_SUBBUFS * SUBBUF_DATA, true);
	stop = 0;
	ready = 0;
	w = host_thread(lap, NULL);
	while (!READ_ONCE(ready))
		host_pause();
	host_cpu_enter(1);
	EXPECT_EQ(ring_buffer_resize(buf, RING_SUBBUFS / 2 * SUBBUF_DATA, 0), 0);
	WRITE_ONCE(stop, 1);
	host_join(w);
	consume(buf, 0, -1);
	host_cpu_leave();
	host_cpu_switch(0);
	nr_runs = put_count(0);
	check_end(0, END_NO_LOST, "adopt");
	live = false;
}

static void run_storm(long arg)
{
	int overwrite;

	for (overwrite = 0; overwrite < 2; overwrite++) {
		mix = arg | (overwrite ? S_OVERWRITE : 0);
		nr_records = exhaustive ? 20000000 : 1500000;
		if (arg & (S_ITERATE | S_RESIZE | S_SWAP | S_RESET | S_CUT))
			nr_records /= 3;
		nr_records /= RB_SLOW;
		one_storm();
	}
}

const struct scenario storm_scenarios[] = {
#define S(name, mix, fl, proves) { "storm." name, run_storm, mix, SC_THREADS | (fl), proves }
	S("consume", 0, SC_QUICK, "R1 R2 R3 R4"),
	S("idle", S_IDLE, 0, "R1 R2 R3"),
	S("pages", S_PAGES, SC_QUICK, "R3 R4 R8"),
	S("discard", S_DISCARD | S_PAGES, 0, "R2 R3, 11"),
	S("iterate", S_ITERATE | S_STAT, 0, "R7, 8"),
	S("mode", S_MODE | S_STAT, 0, "R3"),
	S("resize", S_RESIZE | S_PAGES, SC_QUICK, "R6, 9"),
	S("resize-idle", S_RESIZE | S_IDLE, 0, "R6, 9"),
	{ "storm.adopt", run_adopt, 0, SC_THREADS, "R6, 9" },
	S("swap", S_SWAP, SC_QUICK, "R5, 1, 3, 14"),
	S("swap-fresh", S_SWAP | S_FRESH, 0, "R5, 1"),
	S("reset", S_RESET, 0, "7"),
	S("cut", S_CUT | S_PAGES | S_STAT, 0, "7, 8"),
	S("all", S_PAGES | S_DISCARD | S_ITERATE | S_RESIZE | S_MODE | S_STAT, 0, "R1-R7"),
	{ }
};
