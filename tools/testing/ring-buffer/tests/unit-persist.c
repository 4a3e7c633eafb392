// SPDX-License-Identifier: GPL-2.0
/* Memory that survives a reboot: where it ends, what is found in it, and damage. */
#include <linux/fs.h>
#include <linux/panic_notifier.h>
#include "test.h"

#define RANGE_BYTES	(64UL << 12)

#define NR_CPUS_HERE	4
#define PER_CPU		15	/* sub-buffers of a CPU in such a range, or 7 of each ring */
#define PAGE_HDR	16

int ring_buffer_meta_seq_init(struct file *file, struct trace_buffer *buffer, int cpu);

static bool all_are(unsigned long from, unsigned long to, u8 byte)
{
	for (; from < to; from++) {
		if (*(u8 *)from != byte)
			return false;
	}
	return true;
}

/* As a reboot: the buffers are new, the memory is as it was */
static bool reboot(unsigned long start, unsigned long bytes, unsigned int flags)
{
	free_buffers();
	return boot(start, bytes, flags);
}

/* The same with new memory, and nothing that was written is known */
static unsigned long first_boot(unsigned int flags)
{
	static unsigned long start;

	begin(2, true);
	if (start)
		free_pages(start, get_order(RANGE_BYTES));
	start = shim_alloc_range(RANGE_BYTES);
	return reboot(start, RANGE_BYTES, flags) ? start : 0;
}

/* The numbers of a ring before a reboot are true after it, too */
static void numbers(long unused)
{
	static const int records[] = { 1, PER_SUBBUF, 3 * PER_SUBBUF + 5, 12 * PER_SUBBUF,
				       60 * PER_SUBBUF };
	unsigned long start, entries, bytes, over, lost, told;
	int i, k;
	u64 ts;

	for (i = 0; i < 3 * ARRAY_SIZE(records); i++) {
		start = first_boot(0);
		/* the reader has one as well, so that all can be full */
		put_n(PER_SUBBUF);
		consume(buf, 0, 1);
		put_n(records[i / 3]);
		consume(buf, 0, i % 3 * (PER_SUBBUF / 2 + 1));
		entries = ring_buffer_entries_cpu(buf, 0);
		bytes = ring_buffer_bytes_cpu(buf, 0);
		reboot(start, RANGE_BYTES, 0);
		over = ring_buffer_overrun_cpu(buf, 0);
		EXPECT_EQ(ring_buffer_entries_cpu(buf, 0) + over, entries);
		EXPECT(over <= PER_SUBBUF, "%lu", over);
		if (!over)
			EXPECT_EQ(ring_buffer_bytes_cpu(buf, 0), bytes);
		put_n(3);
		EXPECT_EQ(ring_buffer_read_events_cpu(buf, 0), 0);
		entries = ring_buffer_entries_cpu(buf, 0);
		for (k = 0, told = 0; k <= entries; k++, told += lost) {
			lost = 0;
			if (!ring_buffer_consume(buf, 0, &ts, &lost))
				break;
			EXPECT(!lost || !k, "%lu are lost before record %d", lost, k);
		}
		EXPECT_EQ(k, entries);
		EXPECT_EQ(told, ring_buffer_overrun_cpu(buf, 0));
		EXPECT_EQ(ring_buffer_bytes_cpu(buf, 0), 0);
	}
}

/* Kept records are the first to be overwritten: the reader has not begun with them */
static void overwritten(long unused)
{
	unsigned long start = first_boot(0);
	struct ring_buffer_event *e;
	u64 ts, before;

	put_n(2 * PER_SUBBUF);
	before = ring_buffer_time_stamp(buf);
	reboot(start, RANGE_BYTES, 0);
	put_n(20 * PER_SUBBUF);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0) + ring_buffer_overrun_cpu(buf, 0),
		  22 * PER_SUBBUF);
	e = ring_buffer_consume(buf, 0, &ts, NULL);
	EXPECT(e && ts > before, "a record of the last boot is left");
}

/* ---- where the memory ends ------------------------------------------------ */

static void fill_cpu(int cpu)
{
	int was = host_cpu_switch(cpu);

	put_n(40 * PER_SUBBUF);
	host_cpu_switch(was);
	consume(buf, cpu, PER_SUBBUF + 1);
}

/* Nothing is written in front of a range of any size or behind it */
static void bounds(long unused)
{
	unsigned long room = 32 * PAGE_SIZE, memory = shim_alloc_range(room), start, bytes;
	int i;

	for (i = 0; i < 60; i++) {
		start = memory + 64 + 4 * (i % 3);
		bytes = 18 * PAGE_SIZE + i * 264;
		fresh(2 * SUBBUF_DATA, true);
		memset((void *)memory, 0x77, room);
		shim_set_online(3, 0);
		if (!reboot(start, bytes, 0))
			continue;
		shim_cpu_up(3);
		fill_cpu(0);
		fill_cpu(3);
		EXPECT(all_are(memory, start, 0x77), "in front");
		EXPECT(all_are(start + bytes, memory + room, 0x77), "behind %lu bytes", bytes);
		free_buffers();
	}
}

/* Three sub-buffers of each CPU are the least, and where they are depends on the end only */
static void least(long unused)
{
	unsigned long start = first_boot(0), bytes, data = NR_CPUS_HERE * 3 * PAGE_SIZE;

	ring_buffer_free(buf);
	for (bytes = 64; bytes < data + PAGE_SIZE; bytes += 64) {
		buf = range_buffer(0, 0, 0, start, bytes);
		EXPECT(!buf, "%lu bytes", bytes);
	}
	if (!reboot(start, data + 2 * PAGE_SIZE, 0))
		return;
	EXPECT_EQ(ring_buffer_size(buf, 0), 2 * SUBBUF_DATA);
	put_n(3);
	if (!reboot(start + 4, RANGE_BYTES - 4, 0))
		return;
	put_n(5);
	if (!reboot(start + 8, RANGE_BYTES - 8, 0))
		return;
	EXPECT_EQ(ring_buffer_entries(buf), 5);
}

/* An invalid range or a failure leaves nothing behind */
static void refused(long unused)
{
	unsigned long start = first_boot(0);
	struct { unsigned long start, bytes; } bad[] = {
		{ 0, RANGE_BYTES }, { start, -1UL }, { start + 4, 2 }, { -4UL, 2 }, { start, 64 },
		{ start, PAGE_SIZE }, { start, 12 * PAGE_SIZE },
	};
	long before, i;

	free_buffers();
	before = shim_allocated;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		buf = range_buffer(0, 0, 0, bad[i].start, bad[i].bytes);
		EXPECT(!buf, "%lx, %lu bytes", bad[i].start, bad[i].bytes);
		shim_rcu_run();
		EXPECT_EQ(shim_allocated, before);
	}
	shim_panic();
	for (i = 0; i < 4; i++) {
		buf = NULL;
		buf2 = NULL;
		reboot(start, RANGE_BYTES, RB_FL_SPARE);
		EXPECT_EQ(PTR_ERR(ring_buffer_alloc_spare(buf)), -EBUSY);
		ring_buffer_free(i & 1 ? buf : buf2);
		ring_buffer_free(i & 1 ? buf2 : buf);
		shim_rcu_run();
		EXPECT_EQ(shim_allocated, before);
		shim_panic();
	}
	buf = NULL;
	buf2 = NULL;
}

/* The memory identifies the kernel by this address. */

#define MOVED_TEXT	1
#define MOVED_DATA	2

/* Behind the address of a function is that of a variable */
static void move_kernel(unsigned long start, int what)
{
	u64 *word, was = (unsigned long)ring_buffer_last_boot_delta;

	free_buffers();
	for (word = (u64 *)start; word < (u64 *)(start + PAGE_SIZE); word++) {
		if (word[0] != was)
			continue;
		if (what & MOVED_TEXT)
			word[0] -= 0x1000;
		if (what & MOVED_DATA)
			word[1] -= 0x3000;
	}
}

static void expect_moved(int what)
{
	long text = 1, data = 1;

	EXPECT_EQ(ring_buffer_last_boot_delta(buf, &text, &data), !!what);
	EXPECT_EQ(text, what & MOVED_TEXT ? 0x1000 : 0);
	EXPECT_EQ(data, what & MOVED_DATA ? 0x3000 : 0);
}

/* Without memory for the check of the old records, none is kept, and all else works */
static void no_memory(long unused)
{
	unsigned long start = first_boot(RB_FL_SPARE);
	long n, before, kept, lost = 0;

	/* one CPU has records */
	shim_set_online(1, 0);
	put_n(40 * PER_SUBBUF);
	free_buffers();
	before = shim_allocated;
	for (n = 0; n < 200; n++) {
		buf = NULL;
		reboot(start, RANGE_BYTES, RB_FL_SPARE);
		put_n(30 * PER_SUBBUF);
		EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
		put_n(30 * PER_SUBBUF);
		move_kernel(start, MOVED_TEXT);
		EXPECT_EQ(shim_allocated, before);
		shim_fail_alloc_after = n;
		buf = range_buffer(0, RB_FL_OVERWRITE | RB_FL_SPARE, 0, start, RANGE_BYTES);
		if (shim_fail_alloc_after >= 0)
			break;
		if (!buf)
			continue;
		shim_fail_alloc_after = -1;
		ring_buffer_set_clock(buf, test_clock);
		kept = ring_buffer_entries_cpu(buf, 0);
		EXPECT(!kept || kept >= 6 * PER_SUBBUF, "%ld", kept);
		lost += !kept;
		expect_moved(kept ? MOVED_TEXT : 0);
		put_n(3);
		reboot(start, RANGE_BYTES, RB_FL_SPARE);
		if (!kept)
			EXPECT_EQ(ring_buffer_entries_cpu(buf, 0), 3);
		free_buffers();
	}
	shim_fail_alloc_after = -1;
	shim_set_online(1, 1);
	EXPECT(n > 5 && n < 200, "%ld allocations", n);
	EXPECT_EQ(lost, 1);
}

/*
 * While user space still sees the ring that a cut has taken, no other spare buffer is made of its
 * memory.
 */
static void mapped(long unused)
{
	first_boot(RB_FL_SPARE);
	put_n(3 * PER_SUBBUF);
	EXPECT_EQ(map_area(0, 1, VM_READ | VM_MAYREAD | VM_SHARED | VM_MAYSHARE), 0);
	EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
	ring_buffer_free(buf2);
	buf2 = NULL;
	EXPECT_EQ(PTR_ERR(ring_buffer_alloc_spare(buf)), -EBUSY);
	EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
	/* A mapping of the live ring is no reason. */
	EXPECT_EQ(map_area(0, 1, VM_READ | VM_MAYREAD | VM_SHARED | VM_MAYSHARE), 0);
	buf2 = ring_buffer_alloc_spare(buf);
	EXPECT(!IS_ERR(buf2), "%ld", PTR_ERR(buf2));
	EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
}

/* A mapping does not show the former content of the memory */
static void others_data(long unused)
{
	unsigned long start = first_boot(0), i;

	free_buffers();
	memset((void *)start, 0x5a, RANGE_BYTES);
	reboot(start, RANGE_BYTES, 0);
	EXPECT_EQ(map_area(0, 5, VM_READ | VM_MAYREAD | VM_SHARED | VM_MAYSHARE), 0);
	for (i = 1; i < 5; i++)
		EXPECT(!memchr(page_address(shim_vma_pages[i]), 0x5a, PAGE_SIZE), "page %lu", i);
	EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
}

/* ---- the end of a boot ---------------------------------------------------- */

static int other_panic(struct notifier_block *nb, unsigned long event, void *unused)
{
	put_n(1);
	return NOTIFY_DONE;
}

/* A panic stops the live buffer after all other notifiers have recorded */
static void panics(long unused)
{
	struct notifier_block other = { .notifier_call = other_panic, .priority = -1 };
	unsigned long start = first_boot(RB_FL_SPARE);

	put_n(1);
	atomic_notifier_chain_register(&panic_notifier_list, &other);
	ring_buffer_free(buf2);
	buf2 = NULL;
	shim_panic();
	EXPECT_EQ(ring_buffer_entries(buf), 2);
	EXPECT_EQ(shim_flushed[0], start);
	EXPECT_EQ(shim_flushed[1], start + RANGE_BYTES);
	EXPECT(!put(buf, REC_LEN, PUT_COMMIT), "the buffer is off");
	atomic_notifier_chain_unregister(&panic_notifier_list, &other);
}

/* ---- CPUs that are not online after the reboot ---------------------------- */

static void boot_without_cpu_2(unsigned long start)
{
	shim_set_online(2, 0);
	reboot(start, RANGE_BYTES, RB_FL_SPARE);
}

static void refused_cut(void)
{
	shim_set_online(0, 0);
	EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), -EBUSY);
	shim_set_online(0, 1);
}

/*
 * The records of a CPU that is not online are there, too, unless they are thrown away, in
 * this boot or, with @again, in the one before
 */
static void absent_run(const char *how, bool again, unsigned int live, unsigned int spare)
{
	unsigned long start = first_boot(RB_FL_SPARE);
	int was;

	shim_cpu_up(2);
	was = host_cpu_switch(2);
	put_n(10);
	EXPECT_EQ(cut_one(buf, buf2, 2), 0);
	put_n(7);
	host_cpu_switch(was);
	boot_without_cpu_2(start);
	put_n(2);
	if (!strcmp(how, "reset"))
		ring_buffer_reset(buf);
	else if (!strcmp(how, "forget"))
		EXPECT_EQ(ring_buffer_forget(buf2), 0);
	else if (!strcmp(how, "cut"))
		EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
	else if (!strcmp(how, "refused cut"))
		refused_cut();
	put_n(3);
	if (again)
		boot_without_cpu_2(start);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 2), live);
	EXPECT_EQ(ring_buffer_entries_cpu(buf2, 2), spare);
	shim_cpu_up(2);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 2), live);
	EXPECT_EQ(ring_buffer_entries_cpu(buf2, 2), spare);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 0) + ring_buffer_entries_cpu(buf2, 0),
		  strcmp(how, "reset") ? 5 : 3);
	host_cpu_switch(2);
	put_n(4);
	host_cpu_switch(was);
	reboot(start, RANGE_BYTES, RB_FL_SPARE);
	EXPECT_EQ(ring_buffer_entries_cpu(buf, 2), live + 4);
	EXPECT_EQ(ring_buffer_entries_cpu(buf2, 2), spare);
	shim_set_online(2, 0);
}

static void absent(long unused)
{
	absent_run("nothing", false, 7, 10);
	absent_run("nothing", true, 7, 10);
	absent_run("reset", false, 0, 10);
	absent_run("reset", true, 0, 10);
	absent_run("forget", false, 7, 0);
	absent_run("cut", false, 0, 7);
	absent_run("refused cut", false, 7, 10);
}

/* ---- another kernel, another shape ---------------------------------------- */

/* A CPU that is not online has records of another kernel, until they are reset */
static void moved_absent(long unused)
{
	unsigned long start = first_boot(RB_FL_SPARE);

	shim_cpu_up(2);
	put_on(2, buf, 10);
	move_kernel(start, MOVED_TEXT);
	boot_without_cpu_2(start);
	expect_moved(MOVED_TEXT);
	ring_buffer_reset(buf);
	expect_moved(0);
}

/* The addresses are those of the kernel that wrote the remaining records */
static void moved(long unused)
{
	unsigned long start;
	long text = 1, data = 1;
	int what, how;

	for (what = 0; what < 4; what++) {
		for (how = 0; how < 4; how++) {
			start = first_boot(0);
			if (how)
				put_n(20 * PER_SUBBUF);
			if (how == 2)
				ring_buffer_reset(buf);
			if (how == 3)
				consume(buf, 0, -1);
			move_kernel(start, what);
			reboot(start, RANGE_BYTES, 0);
			expect_moved(how == 1 ? what : 0);
		}
	}
	fresh(2 * SUBBUF_DATA, true);
	EXPECT(!ring_buffer_last_boot_delta(buf, &text, &data), "no range");
	EXPECT(!text && !data, "%ld %ld", text, data);
	text = 1;
	data = 1;
	EXPECT(!ring_buffer_last_boot_delta(NULL, &text, &data), "no buffer");
	EXPECT(!text && !data, "%ld %ld", text, data);
}

/* Dropped sub-buffers do not count, and the first one behind a cut does */
static void moved_cut(long unused)
{
	unsigned long start = first_boot(RB_FL_SPARE);

	put_n(3 * PER_SUBBUF);
	EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
	put_n(1);
	EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
	move_kernel(start, MOVED_TEXT);
	reboot(start, RANGE_BYTES, RB_FL_SPARE);
	EXPECT_EQ(ring_buffer_entries(buf), 0);
	expect_moved(0);
	EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
	put_n(1);
	move_kernel(start, MOVED_TEXT);
	reboot(start, RANGE_BYTES, RB_FL_SPARE);
	EXPECT_EQ(ring_buffer_entries(buf), 1);
	expect_moved(MOVED_TEXT);
}

/* Of memory that held something else nothing is believed */
static void garbage(long unused)
{
	unsigned long start = first_boot(RB_FL_SPARE), note;
	static const u8 bytes[] = { 0, 1, 0x77, 0xff };
	int i, round;
	u64 *word;

	for (i = 0; i < ARRAY_SIZE(bytes); i++) {
		free_buffers();
		memset((void *)start, bytes[i], RANGE_BYTES);
		for (word = (u64 *)start + 128; word < (u64 *)(start + RANGE_BYTES); word++)
			*word &= i & 1 ? 0x00000000000000ffULL : ~0ULL;
		reboot(start, RANGE_BYTES, RB_FL_SPARE);
		note = (unsigned long)ring_buffer_note(buf2);
		EXPECT(all_are(note, note + RB_NOTE_SIZE, 0), "a note");
		expect_moved(0);
		EXPECT(strstr(host_said, "new"), "%s", host_said);
		for (round = 1; round < 4; round++) {
			EXPECT(ring_buffer_empty(buf2), "nothing was cut");
			put_n(3);
			EXPECT_EQ(ring_buffer_entries(buf), 3 * round);
			reboot(start, RANGE_BYTES, RB_FL_SPARE);
		}
		/* another shape: the magic number is the first word */
		ring_buffer_free(buf2);
		buf2 = NULL;
		++*(u64 *)start;
		reboot(start, RANGE_BYTES, 0);
		EXPECT(ring_buffer_empty(buf), "of another layout");
		reboot(start, RANGE_BYTES, RB_FL_SPARE);
		EXPECT(ring_buffer_empty(buf), "of another layout");
	}
}

/* A damaged word of the header costs no record, unless it is a length */
static void header(long unused)
{
	unsigned long start = first_boot(0);
	u64 was, *word;
	int gone = 0;

	put_n(3 * PER_SUBBUF);
	ring_buffer_free(buf);
	for (word = (u64 *)start; word < (u64 *)start + 60; word++) {
		u8 *copy = (u8 *)shim_alloc_range(RANGE_BYTES);

		memcpy(copy, (void *)start, RANGE_BYTES);
		was = *word;
		*word = 1;
		buf = NULL;
		reboot(start, RANGE_BYTES, 0);
		if (ring_buffer_entries(buf) != 3 * PER_SUBBUF) {
			EXPECT(ring_buffer_empty(buf), "%lu", ring_buffer_entries(buf));
			EXPECT(word < (u64 *)start + 8, "word %ld was %llx",
			       word - (u64 *)start, was);
			gone++;
		}
		ring_buffer_free(buf);
		memcpy((void *)start, copy, RANGE_BYTES);
		free_pages((unsigned long)copy, get_order(RANGE_BYTES));
	}
	EXPECT(gone, "the shape");
	buf = NULL;
}

/* ---- memory with any contents --------------------------------------------- */

#define FUZZ_ROUNDS	4000
#define FUZZ_SUBBUFS	(NR_CPUS_HERE * 2 * 7)

static u32 fuzz_state;

static u32 fuzz_random(u32 below)
{
	fuzz_state = fuzz_state * 1664525 + 1013904223;
	return (fuzz_state >> 8) % below;
}

/* Change some words: of the headers, of those of sub-buffers, of the first records of pages */
static void fuzz_change(unsigned long start, unsigned long data)
{
	static const u32 values[] = { 0, 1, 4, 0xff, 0xfff, 4080, 4081, 0x7fffffff, 0x80000000,
				      0xc0000fff, 0xfffffffc, 0xffffffff };
	unsigned long at;
	int changes = 1 + fuzz_random(6);
	u32 value;

	while (changes--) {
		switch (fuzz_random(3)) {
		case 0:
			at = start + fuzz_random(2048);
			break;
		case 1:
			at = data + fuzz_random(FUZZ_SUBBUFS) * PAGE_SIZE + fuzz_random(64);
			break;
		default:
			at = start + fuzz_random(RANGE_BYTES - 4);
			break;
		}
		value = fuzz_random(2) ? values[fuzz_random(ARRAY_SIZE(values))] :
					 *(u32 *)(at & -4) ^ 1U << fuzz_random(32);
		*(u32 *)(at & -4) = value;
	}
}

/* Return: how many records an iterator sees, all of the last boot and within a sub-buffer */
static unsigned long fuzz_iterate(struct trace_buffer *b, int cpu)
{
	struct ring_buffer_iter *iter = ring_buffer_read_start(b, cpu, GFP_KERNEL);
	struct ring_buffer_event *e;
	unsigned long n = 0;

	if (!iter)
		return 0;
	for (; (e = ring_buffer_iter_peek(iter, NULL)); n++) {
		EXPECT(ring_buffer_event_length(e) <= SUBBUF_DATA, "record %lu", n);
		EXPECT(ring_buffer_iter_last_boot(iter), "record %lu", n);
		ring_buffer_iter_advance(iter);
	}
	ring_buffer_read_finish(iter);
	return n;
}

static unsigned long fuzz_consume(struct trace_buffer *b, int cpu, bool last)
{
	struct ring_buffer_event *e;
	unsigned long n = 0;
	u64 ts;

	for (; (e = ring_buffer_consume(b, cpu, &ts, NULL)); n++) {
		EXPECT(ring_buffer_event_length(e) <= SUBBUF_DATA, "record %lu", n);
		EXPECT_EQ(ring_buffer_last_boot(b, cpu, ring_buffer_event_data(e)), last);
	}
	return n;
}

static void fuzz_see(struct ring_buffer_event *e, u64 ts, long lost, void *unused)
{
	EXPECT(ring_buffer_event_length(e) <= SUBBUF_DATA, "a record on a page");
}

/* The records of a spare buffer are consumed by the page */
static unsigned long fuzz_pages(struct trace_buffer *b, int cpu)
{
	struct buffer_data_read_page *rpage = NULL;
	unsigned long n = 0;
	int got;

	if (ring_buffer_alloc_read_page(b, cpu, &rpage))
		return 0;
	while (ring_buffer_read_page(b, rpage, PAGE_SIZE, cpu, 0) >= 0) {
		got = page_parse(ring_buffer_read_page_data(rpage), PAGE_SIZE, fuzz_see, NULL);
		EXPECT(got > 0, "a page: %d", got);
		n += max(got, 0);
	}
	ring_buffer_free_read_page(b, cpu, rpage);
	return n;
}

/* No contents make a reader leave a sub-buffer, and what follows is written and read as ever */
static void fuzz(long unused)
{
	unsigned long start = first_boot(RB_FL_SPARE), entries, all = 0;
	u8 *image = (u8 *)shim_alloc_range(RANGE_BYTES);
	int round, i, cpu;

	put_n(4 * PER_SUBBUF + 7);
	put(buf, 1000, PUT_COMMIT);
	put_on(1, buf, 2 * PER_SUBBUF);
	consume(buf, 0, PER_SUBBUF / 2);
	EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
	put_n(3 * PER_SUBBUF);
	put_on(1, buf, PER_SUBBUF / 3);
	free_buffers();
	memcpy(image, (void *)start, RANGE_BYTES);
	fuzz_state = 1;
	for (round = 0; round < FUZZ_ROUNDS; round++) {
		memcpy((void *)start, image, RANGE_BYTES);
		fuzz_change(start, start + ((u64 *)image)[1]);
		reboot(start, RANGE_BYTES, RB_FL_SPARE);
		for (i = 0; i < 2 * NR_CPUS_HERE; i++) {
			struct trace_buffer *b = i & 1 ? buf2 : buf;

			cpu = i / 2;
			entries = ring_buffer_entries_cpu(b, cpu);
			EXPECT_EQ(fuzz_iterate(b, cpu), entries);
			EXPECT_EQ(b == buf2 ? fuzz_pages(b, cpu) : fuzz_consume(b, cpu, true),
				  entries);
			all += entries;
		}
		for (i = 0; i < 3; i++)
			EXPECT_EQ(ring_buffer_write(buf, 8, &start), 0);
		EXPECT_EQ(fuzz_consume(buf, 0, false), 3);
		free_buffers();
	}
	EXPECT(all > FUZZ_ROUNDS * 7UL * PER_SUBBUF, "%lu are left", all);
	free_pages((unsigned long)image, get_order(RANGE_BYTES));
}

/* ---- a machine that stops while the memory is divided anew ---------------- */

#define TORN_BYTES	(28 * PAGE_SIZE)
#define TORN_NOTE	0x6012

static unsigned long torn, torn_copy;

static void op_divide(void)
{
	buf = range_buffer(0, RB_FL_OVERWRITE, 0, torn, TORN_BYTES);
}

/* The next boot has the old kernel: it finds all of its records, or none */
static void stop_here(void)
{
	int paused = step_pause();
	struct trace_buffer *a, *b;
	u32 *note;

	memcpy((void *)torn_copy, (void *)torn, TORN_BYTES);
	a = range_buffer(0, RB_FL_OVERWRITE | RB_FL_SPARE, 0, torn_copy, TORN_BYTES);
	b = ring_buffer_alloc_spare(a);
	note = ring_buffer_note(b);
	if (*note)
		EXPECT(*note == TORN_NOTE && ring_buffer_entries(a) == 5 &&
		       ring_buffer_entries(b) == PER_SUBBUF, "%lu and %lu with %x",
		       ring_buffer_entries(a), ring_buffer_entries(b), *note);
	else
		EXPECT(ring_buffer_empty(a) && ring_buffer_empty(b), "%lu and %lu",
		       ring_buffer_entries(a), ring_buffer_entries(b));
	ring_buffer_free(b);
	ring_buffer_free(a);
	step_resume(paused);
}

static void divided(long unused)
{
	struct step s = { .op = op_divide, .act = { stop_here } };
	unsigned long before = shim_alloc_range(TORN_BYTES);

	torn = first_boot(RB_FL_SPARE);
	reboot(torn, TORN_BYTES, RB_FL_SPARE);
	torn_copy = shim_alloc_range(TORN_BYTES);
		put_n(PER_SUBBUF);
	EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
	*(u32 *)ring_buffer_note(buf2) = TORN_NOTE;
	put_n(5);
	free_buffers();
	memcpy((void *)before, (void *)torn, TORN_BYTES);
	for_each_instruction(&s, stride) {
		memcpy((void *)torn, (void *)before, TORN_BYTES);
		if (!step_run(&s))
			return;
		free_buffers();
		/* the last part makes the rings */
		if (!s.at[0])
			s.n[0] /= 2;
	}
	buf = NULL;
}

/* ---- a machine that stops while the records are restored ------------------- */

#define STOPPED_BYTES	(42 * PAGE_SIZE)
#define RING_SUBBUFS	5		/* in such a range, with a spare buffer */
#define HEADERS_BYTES	(2 * RING_SUBBUFS * 16)
#define LONG_REC	1000		/* four of them fill a sub-buffer */
#define STOPS_IN_A_ROW	2
#define KEPT_STATE	5		/* the next boot is stopped, too, behind this one */
#define COARSE		8

/* The headers of the sub-buffers of a CPU, those of its first ring first */
static u64 *ring_headers(int cpu)
{
	return (u64 *)(torn + 48 + RB_NOTE_SIZE + NR_CPUS_HERE * 72 + cpu * HEADERS_BYTES);
}

/* The header of the last sub-buffer of CPU 0 but @but */
static u64 *last_header(int but)
{
	u64 *headers = ring_headers(0), *last = headers, *h, below = U64_MAX;

	for (; but >= 0; but--, below = *last) {
		for (last = NULL, h = headers; h < headers + 2 * RING_SUBBUFS; h += 2) {
			if (*h < below && (!last || *h > *last))
				last = h;
		}
	}
	return last;
}

static void put_long(int n)
{
	while (n--)
		put(buf, LONG_REC, PUT_COMMIT);
}

/* Both rings hold records, and the live one sub-buffers of before the cuts */
static void leave_cut(void)
{
	put_long(13);
	EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
	put_long(9);
	EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
	put_long(8);
}

/* Two boots have left them, and the first ones are read */
static void leave_boots(void)
{
	leave_cut();
	reboot(torn, STOPPED_BYTES, RB_FL_SPARE);
	put_long(6);
	consume(buf, 0, 5);
}

/* One sub-buffer more than can be kept, and a part of it is read */
static void leave_full(void)
{
	put_long(4);
	consume(buf, 0, 1);
	put_long(15);
}

/*
 * The readers of both buffers have come to the end of a sub-buffer. That of the live one has the
 * memory for the tail, as all others are full
 */
static void leave_read(void)
{
	EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
	put_long(5);
	EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
	read_pages(buf2, 0, false, 0, 1);
	put_long(4);
	consume(buf, 0, 4);
	put_long(16);
}

static void move_sequences(u64 by)
{
	u64 *h = ring_headers(0);

	for (; h < ring_headers(1); h += 2)
		*h += *h ? by : 0;
}

/* The reader has come to the middle of a record. Boots that were stopped have raised them */
static void leave_damaged(void)
{
	leave_full();
	*(u32 *)(last_header(2) + 1) = 4;
	move_sequences(1ULL << 50);
}

/* The writer has begun with a lower one than it does here */
static void leave_twice(void)
{
	leave_full();
	*last_header(1) = *last_header(2);
	move_sequences(100 - (1ULL << 40));
}

static const struct stopped {
	const char	*what;
	void		(*leave)(void);
	int		live;		/* records that the next boot finds in the live buffer */
	int		spare;
	bool		damaged;
	bool		no_memory;	/* to look at them, so that all are dropped */
} stops[] = {
	{ "behind a cut", leave_cut, 8, 9 },
	{ "two boots", leave_boots, 9, 9 },
	{ "full", leave_full, 15 },
	{ "read", leave_read, 16, 1 },
	{ "damaged", leave_damaged, 14, .damaged = true },
	{ "a sequence twice", leave_twice, 14, .damaged = true },
	{ "no memory", leave_full, 15, .no_memory = true },
};

static const struct stopped *stopped;
static unsigned long stopped_from, stopped_last, stopped_kept;
static int stopped_states, stopped_fails;
static bool stopped_close, stopped_changed, stopped_end;

static void op_boot(void)
{
	shim_fail_alloc_after = stopped_fails;
	buf = range_buffer(0, RB_FL_OVERWRITE | RB_FL_SPARE, 0, torn, STOPPED_BYTES);
	shim_fail_alloc_after = -1;
}

static void op_spare(void)
{
	buf2 = ring_buffer_alloc_spare(buf);
}

/* The next boot finds the same records, or none if this one drops them */
static void expect_all(void)
{
	struct trace_buffer *a, *b;
	long fails = shim_fail_alloc_after;

	shim_fail_alloc_after = -1;
	memcpy((void *)torn_copy, (void *)torn, STOPPED_BYTES);
	a = range_buffer(0, RB_FL_OVERWRITE | RB_FL_SPARE, 0, torn_copy, STOPPED_BYTES);
	b = ring_buffer_alloc_spare(a);
	EXPECT((iterate(a, 0) == stopped->live && iterate(b, 0) == stopped->spare) ||
	       (stopped->no_memory && ring_buffer_empty(a)),
	       "%s, state %d: %lu and %lu records", stopped->what, stopped_states,
	       ring_buffer_entries(a), ring_buffer_entries(b));
	EXPECT(stopped->damaged || (ring_buffer_complete_since(a, 0) != U64_MAX &&
				    ring_buffer_complete_since(b, 0) != U64_MAX),
	       "%s, state %d: damaged", stopped->what, stopped_states);
	ring_buffer_free(b);
	ring_buffer_free(a);
	shim_fail_alloc_after = fails;
}

static void stop_and_boot(void)
{
	unsigned long next = (unsigned long)ring_headers(1);
	int paused = step_pause();

	stopped_end = memcmp((void *)next, (void *)(next - torn + stopped_last), HEADERS_BYTES);
	stopped_changed = memcmp((void *)stopped_last, (void *)torn, STOPPED_BYTES);
	if (stopped_close && stopped_changed && !stopped_end) {
		memcpy((void *)stopped_last, (void *)torn, STOPPED_BYTES);
		if (++stopped_states == KEPT_STATE)
			memcpy((void *)stopped_kept, (void *)torn, STOPPED_BYTES);
		expect_all();
	}
	step_resume(paused);
}

/* @at: the instruction, or 0 to go on to the end. CPU 1 has not written anything */
static bool stop_at(struct step *s, long at)
{
	s->at[0] = at;
	memcpy((void *)torn, (void *)stopped_from, STOPPED_BYTES);
	memset(ring_headers(1), 0, HEADERS_BYTES);
	if (s->op == op_spare)
		op_boot();
	if (!at)
		memcpy((void *)stopped_last, (void *)torn, STOPPED_BYTES);
	if (!step_run(s))
		return false;
	if (!at) {
		expect_all();
		EXPECT(stopped->no_memory || *last_header(0) == *last_header(1) + 1,
		       "%s: a gap in front of the tail", stopped->what);
	}
	free_buffers();
	return true;
}

/*
 * Stop @op after each store to the memory, until it comes to CPU 1. No word is stored twice in so
 * few instructions that the first look misses it.
 */
static bool stop_everywhere(void (*op)(void))
{
	struct step s = { .op = op, .act = { stop_and_boot } };
	long at, near;

	stopped_states = 0;
	stopped_end = false;
	if (!stop_at(&s, 0))
		return false;
	for (at = COARSE; at <= s.n[0] && !stopped_end; at += COARSE) {
		stopped_close = false;
		if (!stop_at(&s, at))
			return false;
		stopped_close = true;
		for (near = at - COARSE + 1; stopped_changed && near <= at; near++) {
			if (!stop_at(&s, near))
				return false;
			stopped_changed = true;
		}
	}
	nr_positions += at;
	EXPECT(stopped_end && stopped_states, "%s: %d states", stopped->what, stopped_states);
	return true;
}

/* Return: the allocation without which a boot finds no records, but has all of its rings; or -1 */
static int needless_alloc(void)
{
	int i, found = -1;

	for (i = 0; i < 200 && found < 0; i++) {
		memcpy((void *)torn, (void *)stopped_from, STOPPED_BYTES);
		stopped_fails = i;
		op_boot();
		if (buf && ring_buffer_empty(buf))
			found = i;
		free_buffers();
	}
	EXPECT(found >= 0, "%d allocations", i);
	return found;
}

static void restored(long unused)
{
	int i;

	torn_copy = shim_alloc_range(STOPPED_BYTES);
	stopped_from = shim_alloc_range(STOPPED_BYTES);
	stopped_last = shim_alloc_range(STOPPED_BYTES);
	stopped_kept = shim_alloc_range(STOPPED_BYTES);
	for (stopped = stops; stopped < stops + ARRAY_SIZE(stops); stopped++) {
		torn = first_boot(RB_FL_SPARE);
		reboot(torn, STOPPED_BYTES, RB_FL_SPARE);
		stopped->leave();
		free_buffers();
		memcpy((void *)stopped_from, (void *)torn, STOPPED_BYTES);
		stopped_fails = stopped->no_memory ? needless_alloc() : -1;
		for (i = 0; i < STOPS_IN_A_ROW; i++) {
			if (stopped->spare && !stop_everywhere(op_spare))
				return;
			if (!stop_everywhere(op_boot))
				return;
			EXPECT(i || stopped_states > KEPT_STATE, "%s", stopped->what);
			memcpy((void *)stopped_from, (void *)stopped_kept, STOPPED_BYTES);
		}
	}
}

/* ---- valid and invalid contents of a page ---------------------------------- */

#define ROOM		SUBBUF_DATA
#define HDR(type, delta)	((type) | (delta) << 5)
#define LOW(type, time)	HDR(type, (u32)((time) & ((1 << 27) - 1)))
#define HIGH(time)	((u32)((time) >> 27))
#define EXTEND		30
#define ABSOLUTE	31
#define SINCE_MAX	((1ULL << 46) - 1)
#define UPPER		(3ULL << 60)

static const struct left {
	const char	*what;
	int		records;	/* that are believed */
	unsigned int	commit;
	u32		word[16];
	u64		time;
	int		more;		/* a word far behind: its place and its value */
	u32		value;
} lefts[] = {
	{ "a record", 1, 12, { HDR(2, 0) } },
	{ "a record, as it is read out", 1, 12 | 3U << 30, { HDR(2, 0) } },
	{ "a whole page", 1, ROOM, { HDR(0, 0), ROOM - 4 } },
	{ "more than a page", 0, ROOM + 4, { HDR(0, 0), ROOM } },
	{ "far more than a page", 0, 1 << 26, { HDR(0, 0), (1 << 26) - 4 } },
	{ "an end within a record", 0, 8, { HDR(2, 0) } },
	{ "an end within a word", 0, 13, { HDR(2, 0) } },
	{ "padding", 0, 44, { 0x1d1d1d1d, HDR(9, 0) } },
	{ "a header without a length", 0, 12, { HDR(1, 0) } },
	{ "a stamp without its end", 0, 16, { HDR(2, 0), 0, 0, HDR(EXTEND, 5) } },
	{ "a stamp at the end", 1, 20, { HDR(2, 0), 0, 0, LOW(EXTEND, 5), HIGH(5) } },
	{ "no length", 0, 44, { HDR(0, 0), HDR(9, 0) } },
	{ "no length, in front of a long record", 0, 304, { HDR(0, 0), HDR(0, 0), 296 } },
	{ "a length for the header", 0, 44, { HDR(0, 0), 40 } },
	{ "a long record", 1, 304, { HDR(0, 0), 300 } },
	{ "a long record behind the end", 0, 300, { HDR(0, 0), 300 } },
	{ "a length of 2 GB", 0, 304, { HDR(0, 0), 0x7ffffff4 } },
	{ "a length of 4 GB", 0, 304, { HDR(0, 0), 0xfffffffc } },
	{ "an odd length", 0, 424, { HDR(0, 0), 301 }, .more = 77, .value = 115 << 8 },
	{ "the longest time", 2, 32, { HDR(2, 0), 0, 0,
	  LOW(EXTEND, SINCE_MAX), HIGH(SINCE_MAX), HDR(2, 0) } },
	{ "a longer time", 0, 32, { HDR(2, 0), 0, 0,
	  LOW(EXTEND, SINCE_MAX), HIGH(SINCE_MAX), HDR(2, 1) } },
	{ "a time of 59 bits", 0, 32, { HDR(2, 0), 0, 0,
	  LOW(EXTEND, U64_MAX), U32_MAX, HDR(2, 0) } },
	{ "padding for a stamp", 0, 32, { HDR(2, 0), 0, 0, HDR(29, 1), 4, HDR(2, 0) } },
	{ "the longest times in sum", 2, 40, { LOW(EXTEND, SINCE_MAX - 99), HIGH(SINCE_MAX - 99),
	  HDR(2, 50), 0, 0,
	  LOW(EXTEND, 40), HIGH(40), HDR(2, 9) } },
	{ "longer times in sum", 0, 40, { LOW(EXTEND, SINCE_MAX - 99), HIGH(SINCE_MAX - 99),
	  HDR(2, 50), 0, 0,
	  LOW(EXTEND, 40), HIGH(40), HDR(2, 10) } },
	{ "an absolute time between the longest ones", 2, 48,
	  { LOW(EXTEND, SINCE_MAX), HIGH(SINCE_MAX),
	  HDR(2, 0), 0, 0, LOW(ABSOLUTE, 1000), HIGH(1000),
	  LOW(EXTEND, SINCE_MAX), HIGH(SINCE_MAX), HDR(2, 0) } },
	{ "the last time", 1, 12, { HDR(2, 1) }, U64_MAX - 1 },
	{ "a time behind that", 0, 12, { HDR(2, 1) }, U64_MAX },
	{ "a time behind that, by a stamp", 0, 20, { LOW(EXTEND, SINCE_MAX), HIGH(SINCE_MAX),
	  HDR(2, 0) }, U64_MAX - SINCE_MAX + 1 },
	{ "the same absolute time", 1, 20, { LOW(ABSOLUTE, 1000), HIGH(1000),
	  HDR(2, 0) }, UPPER | 1000 },
	{ "a later absolute time", 1, 20, { LOW(ABSOLUTE, 1001), HIGH(1001),
	  HDR(2, 0) }, UPPER | 1000 },
	{ "an absolute time before that", 0, 20, { LOW(ABSOLUTE, 999), HIGH(999), HDR(2, 0) },
	  UPPER | 1000 },
	{ "an absolute time before that, without upper bits", 1, 20,
	  { LOW(ABSOLUTE, 999), HIGH(999), HDR(2, 0) }, 1000 },
};

/* The data page that holds something */
static u64 *used_page(unsigned long start)
{
	unsigned long at;

	for (at = start + PAGE_SIZE; at < start + RANGE_BYTES; at += PAGE_SIZE) {
		if (((u64 *)at)[1])
			return (u64 *)at;
	}
	return NULL;
}

static void left_over(long unused)
{
	const struct left *l;
	unsigned long start;
	const char *said;
	u64 *page;

	for (l = lefts; l < lefts + ARRAY_SIZE(lefts); l++) {
		start = first_boot(0);
		put_n(1);
		free_buffers();
		page = used_page(start);
		memset(page, 0, PAGE_SIZE);
		page[0] = l->time ?: 1000;
		page[1] = l->commit;
		memcpy((void *)page + PAGE_HDR, l->word, sizeof(l->word));
		if (l->more)
			((u32 *)((void *)page + PAGE_HDR))[l->more] = l->value;
		reboot(start, RANGE_BYTES, 0);
		EXPECT(ring_buffer_entries(buf) == l->records, "%s: %lu records", l->what,
		       ring_buffer_entries(buf));
		said = l->records ? "kept 1 records in 1 " : "dropped 1 damaged";
		EXPECT(l->records > 1 || strstr(host_said, said), "%s: %s", l->what, host_said);
		EXPECT(l->records ? page[1] == (l->commit & 0xffff) : !used_page(start),
		       "%s: the page says %llx", l->what, page[1]);
	}
}

/* Nothing behind the last page is looked at, where a length would be */
static void last_word(long unused)
{
	unsigned long data = (1 + NR_CPUS_HERE * PER_CPU) * PAGE_SIZE;
	unsigned long start = first_boot(0), behind = start + data;
	u64 *page = (u64 *)(behind - PAGE_SIZE);

	shim_cpu_up(3);
	fill_cpu(3);
	shim_set_online(3, 0);
	free_buffers();
	EXPECT(page[1] > SUBBUF_DATA / 2 && page[1] <= SUBBUF_DATA, "the last page: %llu", page[1]);
	memset((void *)page + PAGE_HDR, 0, SUBBUF_DATA);
	page[1] = SUBBUF_DATA;
	((u32 *)page)[5] = SUBBUF_DATA - 8;
	host_poison((void *)behind, PAGE_SIZE);
	reboot(start, RANGE_BYTES, 0);
	shim_cpu_up(3);
	EXPECT(strstr(host_said, "CPU 3: dropped 1 damaged"), "%s", host_said);
	shim_set_online(3, 0);
	host_unpoison((void *)behind, PAGE_SIZE);
}

/* ---- the headers of sub-buffers ------------------------------------------- */

/*
 * Each header is a sequence and how much was read. The writer begins with the last one and
 * goes down, so where some were written there are sequences in a row, the first one last.
 */
static u64 *headers(unsigned long start)
{
	u64 *word, *last = NULL;

	for (word = (u64 *)start; word < (u64 *)(start + PAGE_SIZE) - 6; word++) {
		if (word[4] && word[2] == word[4] + 1 && word[0] == word[4] + 2)
			last = word;
	}
	EXPECT(last, "three in a row");
	return last ? last - 2 * (PER_CPU - 3) : NULL;
}

static u64 *filled_headers(unsigned long *start, int subbufs)
{
	*start = first_boot(0);
	put_n(subbufs * PER_SUBBUF);
	return headers(*start);
}

/* Of two that have the same sequence the first one is believed */
static void twice(void)
{
	unsigned long start;
	u64 ts, *header = filled_headers(&start, 5);

	if (!header)
		return;
	EXPECT_EQ(ring_buffer_complete_since(buf, 0), 0);
	reboot(start, RANGE_BYTES, 0);
	EXPECT_EQ(ring_buffer_complete_since(buf, 0), 0);
	header[2 * 12] = header[2 * 13];
	reboot(start, RANGE_BYTES, 0);
	EXPECT_EQ(ring_buffer_complete_since(buf, 0), U64_MAX);
	EXPECT(strstr(host_said, "dropped 1 damaged sub-buffers, kept 452 records in 4"), "%s",
	       host_said);
	EXPECT(ring_buffer_peek(buf, 0, &ts, NULL), "the oldest is left");
	EXPECT(ts < 1000000 + PER_SUBBUF * 8, "the oldest is missing: %llu", ts);
	EXPECT_EQ(consume(buf, 0, PER_SUBBUF), PER_SUBBUF);
	EXPECT(ring_buffer_peek(buf, 0, &ts, NULL), "something is left");
	EXPECT(ts > 1000000 + 2 * PER_SUBBUF * 8, "the wrong one was kept: %llu", ts);
	EXPECT_EQ(consume(buf, 0, -1), 3 * PER_SUBBUF);
	reboot(start, RANGE_BYTES, 0);
	EXPECT(strstr(host_said, "as in the last boot"), "%s", host_said);
	EXPECT(!used_page(start), "the header of an empty page");
}

/* Only the oldest can be read in part: the field of another one is ignored */
static void read_in_part(void)
{
	unsigned long start;
	u64 *header = filled_headers(&start, 4);

	if (!header)
		return;
	header[2 * 13 + 1] = 5 * (REC_LEN + 4);
	reboot(start, RANGE_BYTES, 0);
	EXPECT_EQ(ring_buffer_entries(buf), 4 * PER_SUBBUF);
	EXPECT_EQ(consume(buf, 0, PER_SUBBUF), PER_SUBBUF);
	reboot(start, RANGE_BYTES, 0);
	EXPECT_EQ(ring_buffer_entries(buf), 3 * PER_SUBBUF);
	EXPECT_EQ(consume(buf, 0, 5), 5);
	reboot(start, RANGE_BYTES, 0);
	EXPECT_EQ(ring_buffer_entries(buf), 3 * PER_SUBBUF - 5);
}

/* No writer comes to such a sequence. A lower one is believed, but the next boot begins as ever */
static void too_high(void)
{
	unsigned long start;
	u64 *header = filled_headers(&start, 4);

	if (!header)
		return;
	header[2 * 13] = 1ULL << 63;
	reboot(start, RANGE_BYTES, 0);
	EXPECT(strstr(host_said, "dropped 1 damaged"), "%s", host_said);
	EXPECT_EQ(consume(buf, 0, -1), 3 * PER_SUBBUF);

	header = filled_headers(&start, 4);
	header[2 * 11] = (1ULL << 63) - 1;
	reboot(start, RANGE_BYTES, 0);
	put_n(PER_SUBBUF);
	reboot(start, RANGE_BYTES, 0);
	EXPECT(strstr(host_said, "kept 565 records in 5 "), "%s", host_said);
	EXPECT_EQ(consume(buf, 0, -1), 5 * PER_SUBBUF);
}

/* A damaged one leaves room for all the others: nothing is overwritten for them */
static void one_less(void)
{
	unsigned long start = first_boot(0), entries;
	u32 *page;

	put_n(PER_SUBBUF);
	consume(buf, 0, 1);
	put_n(60 * PER_SUBBUF);
	entries = ring_buffer_entries(buf);
	page = (u32 *)(start + (1 + 5) * PAGE_SIZE);
	page[(PAGE_HDR + 2 * (REC_LEN + 4)) / 4] = 0;
	reboot(start, RANGE_BYTES, 0);
	EXPECT(strstr(host_said, "dropped 1 damaged"), "%s", host_said);
	EXPECT_EQ(ring_buffer_entries(buf), entries - PER_SUBBUF);
	EXPECT_EQ(ring_buffer_overruns(buf), 0);
	EXPECT_EQ(consume(buf, 0, -1), entries - PER_SUBBUF);
	/* it is no longer there, so it is not reported again */
	reboot(start, RANGE_BYTES, 0);
	EXPECT(strstr(host_said, "as in the last boot"), "%s", host_said);
}

static void header_of_subbuf(long unused)
{
	shim_set_online(1, 0);
	twice();
	read_in_part();
	too_high();
	one_less();
}

/* ---- where sub-buffers are ------------------------------------------------ */

static void meta_text(char *text, unsigned long size)
{
	struct file *file = (struct file *)shim_alloc_range(sizeof(*file));

	EXPECT_EQ(ring_buffer_meta_seq_init(file, buf, SHIM_MAX_CPUS), -ENODEV);
	EXPECT_EQ(ring_buffer_meta_seq_init(file, buf, 0), 0);
	shim_seq_text(file, text, size);
	shim_fail_alloc_after = 0;
	EXPECT_EQ(ring_buffer_meta_seq_init(file, buf, 0), -ENOMEM);
	shim_fail_alloc_after = -1;
	free_pages((unsigned long)file, get_order(sizeof(*file)));
}

/* Take the bytes of records out of the text. Return: their sum */
static long meta_commits(char *text)
{
	static const char before[] = " (commit: ";
	char *to = text;
	long sum = 0, n;

	while (*text) {
		if (strncmp(text, before, sizeof(before) - 1)) {
			*to++ = *text++;
			continue;
		}
		text += sizeof(before) - 1;
		for (n = 0; *text >= '0' && *text <= '9'; text++)
			n = 10 * n + *text - '0';
		sum += n;
		EXPECT_EQ(*text, ')');
		if (*text)
			text++;
	}
	*to = 0;
	return sum;
}

/*
 * The slots have the sub-buffers from the last one on; the first two are exchanged here. All
 * of them together have @records records
 */
static void expect_meta(int head, int commit, int reader, int first, int second, int records)
{
	static char text[1024], want[1024];
	int n, i;

	meta_text(text, sizeof(text));
	EXPECT_EQ(meta_commits(text), records * (REC_LEN + 4));
	n = print(want, sizeof(want),
		  "head_buffer:   %d\ncommit_buffer: %d\nsubbuf_size:   4096\n"
		  "nr_subbufs:    %d\nbuffer[0]:    %d\n", head, commit, PER_CPU, reader);
	for (i = 1; i < PER_CPU; i++)
		n += print(want + n, sizeof(want) - n, "buffer[%d]:    %d\n", i,
			   i == 1 ? first : i == 2 ? second : PER_CPU - i);
	EXPECT(!strcmp(text, want), "%s is not %s", text, want);
}

static void meta(long unused)
{
	static char text[64];

	first_boot(0);
	expect_meta(14, 14, 0, 14, 13, 0);
	put_n(1);
	expect_meta(14, 14, 0, 14, 13, 1);
	put_n(2 * PER_SUBBUF);
	expect_meta(14, 12, 0, 14, 13, 2 * PER_SUBBUF + 1);
	/* the reader exchanges the one that it has for the oldest one */
	consume(buf, 0, 1);
	expect_meta(13, 12, 14, 0, 13, 2 * PER_SUBBUF + 1);
	consume(buf, 0, PER_SUBBUF);
	expect_meta(12, 12, 13, 0, 14, 2 * PER_SUBBUF + 1);
	fresh(2 * SUBBUF_DATA, true);
	meta_text(text, sizeof(text));
	EXPECT(!text[0], "no range: %s", text);
}

const struct scenario persist_scenarios[] = {
	{ "unit.range-numbers", numbers, 0, SC_QUICK, "12" },
	{ "unit.range-overwritten", overwritten, 0, SC_QUICK, "12" },
	{ "unit.range-bounds", bounds, 0, SC_QUICK, "12" },
	{ "unit.range-least", least, 0, SC_QUICK, "12" },
	{ "unit.range-refused", refused, 0, SC_QUICK, "12" },
	{ "unit.range-no-memory", no_memory, 0, SC_QUICK, "12" },
	{ "unit.range-mapped", mapped, 0, SC_QUICK, "12, R5" },
	{ "unit.range-others", others_data, 0, SC_QUICK, "12" },
	{ "unit.range-panic", panics, 0, SC_QUICK, "12" },
	{ "unit.range-absent", absent, 0, SC_QUICK, "12" },
	{ "unit.range-moved", moved, 0, SC_QUICK, "12" },
	{ "unit.range-moved-absent", moved_absent, 0, SC_QUICK, "12" },
	{ "unit.range-moved-cut", moved_cut, 0, SC_QUICK, "12, R5" },
	{ "unit.range-garbage", garbage, 0, SC_QUICK, "12" },
	{ "unit.range-header", header, 0, SC_QUICK, "12" },
	{ "unit.range-fuzz", fuzz, 0, SC_QUICK, "12" },
	{ "unit.range-divided", divided, 0, SC_QUICK, "12" },
	{ "unit.range-restored", restored, 0, SC_QUICK, "12" },
	{ "unit.range-left", left_over, 0, SC_QUICK, "12" },
	{ "unit.range-last-word", last_word, 0, SC_QUICK, "12" },
	{ "unit.range-headers", header_of_subbuf, 0, SC_QUICK, "12" },
	{ "unit.range-meta", meta, 0, SC_QUICK, "12" },
	{ }
};
