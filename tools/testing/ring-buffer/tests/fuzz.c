// SPDX-License-Identifier: GPL-2.0
/*
 * Boot with the files that libFuzzer makes as the memory that the last boot left, and read it.
 *
 * A file has
 *
 *   struct fuzz_boot     how the memory is divided, and what is done with it
 *   1008 bytes           the beginning of the memory, where the headers are
 *   256 bytes            for each sub-buffer: its header, and 240 bytes of records, which are
 *                        repeated up to the end of the sub-buffer
 *
 * and 0 behind its end. So few bytes reach all of a sub-buffer, and most of them matter.
 * Besides, its first bytes damage the description of the records of the last boot: see fuzz-area.c.
 *
 * Any content must leave the readers with one view: iterators, copies of pages and consumed
 * records are the same, as many as the counts say, and in the order of time where no stamp allows
 * another one. A warning, a leak, an access outside of the memory or a step without an end ends
 * the program.
 */
#include <linux/kernel.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/ring_buffer.h>
#include "../shim/shim.h"
#include "../../../../kernel/trace/ring_buffer/tests/parse.h"

#define NR_CPUS_HERE	2
#define MAX_ORDER	2
#define MAX_SUBBUFS	16		/* of all rings together */
#define HEAD_BYTES	1008
#define PAGE_HDR	16
#define PART_BYTES	(PAGE_HDR + 240)

#define NOT_ONLINE	(1 << 0)	/* CPU 1, at first */
#define NO_SPARE	(1 << 1)
#define LESS		(1 << 2)	/* sub-buffers: the fewest that are possible */
#define KEEP		(1 << 3)	/* what is in the ring, where it is full */
#define ABSOLUTE	(1 << 4)	/* stamps */

struct fuzz_boot {
	u8	order;
	u8	flags;
	u8	ops[14];
};

struct fuzz_file {
	struct fuzz_boot	boot;
	u8			head[HEAD_BYTES];
	u8			part[MAX_SUBBUFS][PART_BYTES];
};

int fuzz_begin(int *argc, char ***argv) __asm__("LLVMFuzzerInitialize");
int fuzz_one(const u8 *data, size_t size) __asm__("LLVMFuzzerTestOneInput");
size_t fuzz_mutate(u8 *data, size_t size, size_t max, unsigned int seed)
	__asm__("LLVMFuzzerCustomMutator");
size_t fuzz_any(u8 *data, size_t size, size_t max) __asm__("LLVMFuzzerMutate");
const char *__asan_default_options(void);

/* Set by a file that fuzzes something else, if there is one: it may come later in the series. */
void (*fuzz_also)(const u8 *data, size_t size);

/* From the C library, with types that both sides agree on */
void *fopen(const char *path, const char *mode);
size_t fwrite(const void *from, size_t size, size_t n, void *file);
int fclose(void *file);
void *signal(int sig, void *fn);

#define MUST(cond)								\
	do {									\
		if (!(cond))							\
			host_die(__FILE__ ":" __stringify(__LINE__) ": " #cond);	\
	} while (0)

static struct trace_buffer *buf, *buf2;
static struct fuzz_boot how;
static unsigned long start, end, subbuf_size;
static u64 now;
static unsigned int clock_reads;

static u64 fuzz_clock(void)
{
	/* One of four records has an extended time: see put_four() */
	static const u64 step[] = { 8, 1 << 28, 8, 8 };

	return now += step[clock_reads++ % ARRAY_SIZE(step)];
}

/* ---- boots ---------------------------------------------------------------- */

static void divide(void)
{
	unsigned long subbufs = how.flags & LESS ? 12 : MAX_SUBBUFS;

	subbuf_size = PAGE_SIZE << how.order % (MAX_ORDER + 1);
	/* (The memory behind is that of the run before.) */
	host_unpoison((void *)end, PAGE_SIZE);
	end = start + subbuf_size * (1 + subbufs);
	host_poison((void *)end, PAGE_SIZE);
}

static void boot(void)
{
	unsigned int flags = how.flags & KEEP ? 0 : RB_FL_OVERWRITE;

	flags |= how.flags & NO_SPARE ? 0 : RB_FL_SPARE;
	/* It divides what is left if the alignment costs most, so as much is not used. */
	buf = __ring_buffer_alloc_range(0, flags, how.order % (MAX_ORDER + 1), start,
					end - start + HEAD_BYTES, 0, NULL);
	MUST(buf);
	ring_buffer_set_clock(buf, fuzz_clock);
	ring_buffer_set_time_stamp_abs(buf, how.flags & ABSOLUTE);
	buf2 = how.flags & NO_SPARE ? NULL : ring_buffer_alloc_spare(buf);
	MUST(!IS_ERR(buf2));
}

static void shut_down(void)
{
	ring_buffer_free(buf);
	if (buf2)
		ring_buffer_free(buf2);
	shim_rcu_run();
	rcu_barrier();
}

/* ---- readers -------------------------------------------------------------- */

/* The view of a reader: how many records, and a sum over their times and contents */
struct seen {
	unsigned long	nr;
	u64		sum;
	u64		last;
	bool		in_order;
};

static void see(struct seen *seen, const void *payload, unsigned int len, u64 time)
{
	const u8 *byte = payload;

	MUST(len <= subbuf_size);
	if (time < seen->last)
		seen->in_order = false;
	seen->last = time;
	seen->sum = seen->sum * 31 + time + len;
	while (len--)
		seen->sum = seen->sum * 31 + *byte++;
	/* A record has 8 bytes at least. */
	MUST(++seen->nr <= (end - start) / 8);
}

static void see_event(struct seen *seen, struct ring_buffer_event *e, u64 time)
{
	see(seen, ring_buffer_event_data(e), ring_buffer_event_length(e), time);
}

static void see_parsed(void *seen, const void *rec, const void *payload, unsigned int len, u64 time)
{
	see(seen, payload, len, time);
}

static struct seen iterated(struct trace_buffer *b, int cpu)
{
	struct ring_buffer_iter *iter = ring_buffer_read_start(b, cpu, GFP_KERNEL);
	struct ring_buffer_event *e;
	struct seen seen = {};
	u64 time;

	MUST(!IS_ERR(iter));
	while (iter && (e = ring_buffer_iter_peek(iter, &time))) {
		see_event(&seen, e, time);
		ring_buffer_iter_advance(iter);
	}
	if (iter)
		ring_buffer_read_finish(iter);
	return seen;
}

static void parse(struct seen *seen, void *page)
{
	struct rbt_page parsed;

	seen->in_order = true;
	seen->last = 0;
	MUST(rbt_parse(page, subbuf_size, &parsed, see_parsed, seen));
	MUST(seen->in_order || parsed.absolutes);
}

static struct seen copied(struct trace_buffer *b, int cpu)
{
	struct buffer_data_read_page *page = NULL;
	struct ring_buffer_place place = {};
	struct seen seen = {};

	if (ring_buffer_alloc_read_page(b, cpu, &page))
		return seen;
	while (ring_buffer_copy_page(b, cpu, &place, page))
		parse(&seen, ring_buffer_read_page_data(page));
	ring_buffer_free_read_page(b, cpu, page);
	return seen;
}

static struct seen read_pages(struct trace_buffer *b, int cpu, size_t len, int max)
{
	struct buffer_data_read_page *page = NULL;
	struct seen seen = {};

	if (ring_buffer_alloc_read_page(b, cpu, &page))
		return seen;
	while (max-- && ring_buffer_read_page(b, page, len, cpu, 0) >= 0)
		parse(&seen, ring_buffer_read_page_data(page));
	ring_buffer_free_read_page(b, cpu, page);
	return seen;
}

static struct seen consumed(struct trace_buffer *b, int cpu, unsigned long max)
{
	struct ring_buffer_event *e;
	struct seen seen = {};
	unsigned long lost;
	u64 time;

	while (seen.nr < max && (e = ring_buffer_consume(b, cpu, &time, &lost)))
		see_event(&seen, e, time);
	return seen;
}

/* All that reads without consuming has one view */
static struct seen survey(struct trace_buffer *b, int cpu)
{
	struct seen seen = iterated(b, cpu), copy = copied(b, cpu);

	MUST(seen.nr == ring_buffer_entries_cpu(b, cpu));
	MUST(!seen.nr == ring_buffer_empty_cpu(b, cpu));
	MUST(seen.nr == copy.nr && seen.sum == copy.sum);
	MUST(ring_buffer_bytes_cpu(b, cpu) >= 8 * seen.nr);
	MUST(ring_buffer_bytes_cpu(b, cpu) <= end - start);
	return seen;
}

static void survey_all(void)
{
	long text, data;
	int cpu;

	for (cpu = 0; cpu < NR_CPUS_HERE; cpu++) {
		survey(buf, cpu);
		if (buf2)
			survey(buf2, cpu);
	}
	ring_buffer_last_boot_delta(buf, &text, &data);
}

static void read_out(struct trace_buffer *b, int cpu, bool by_page)
{
	struct seen seen = survey(b, cpu), got;

	got = by_page ? read_pages(b, cpu, subbuf_size, INT_MAX) : consumed(b, cpu, ULONG_MAX);
	MUST(got.nr == seen.nr && got.sum == seen.sum);
	MUST(ring_buffer_empty_cpu(b, cpu) && !ring_buffer_bytes_cpu(b, cpu));
}

/* ---- what is done with a buffer ------------------------------------------- */

/* With their headers and the stamp of one they are 240 bytes */
static void put_four(void)
{
	static const u8 lengths[2][4] = { { 8, 24, 56, 124 }, { 8, 24, 56, 104 } };
	static u8 payload[128];
	int i;

	for (i = 0; i < 4; i++) {
		memset(payload, now, sizeof(payload));
		ring_buffer_write(buf, lengths[!!(how.flags & ABSOLUTE)][i], payload);
	}
}

static void put_on(int cpu, int fours)
{
	int was = host_cpu_switch(cpu);

	while (cpu_online(cpu) && fours--)
		put_four();
	host_cpu_switch(was);
}

static void cut(int cpu)
{
	const struct ring_buffer_cut one = { .live = buf, .spare = buf2 };
	unsigned long entries = ring_buffer_entries(buf);
	int ret;

	if (!buf2)
		return;
	ret = ring_buffer_cut_all(&one, cpu);
	MUST(!ret || ret == -EBUSY);
	if (!ret && cpu == RING_BUFFER_ALL_CPUS)
		MUST(ring_buffer_empty(buf) && ring_buffer_entries(buf2) == entries);
}

/* The next boot finds what this one had, but for one sub-buffer if all are full */
static void reboot(void)
{
	unsigned long entries[NR_CPUS_HERE], entries2[NR_CPUS_HERE], over;
	int cpu;

	for (cpu = 0; cpu < NR_CPUS_HERE; cpu++) {
		entries[cpu] = ring_buffer_entries_cpu(buf, cpu);
		entries2[cpu] = buf2 ? ring_buffer_entries_cpu(buf2, cpu) : 0;
	}
	shut_down();
	boot();
	for (cpu = 0; cpu < NR_CPUS_HERE; cpu++) {
		over = ring_buffer_overrun_cpu(buf, cpu);
		MUST(ring_buffer_entries_cpu(buf, cpu) + over == entries[cpu]);
		over = buf2 ? ring_buffer_overrun_cpu(buf2, cpu) : 0;
		MUST(!buf2 || ring_buffer_entries_cpu(buf2, cpu) + over == entries2[cpu]);
	}
}

static void map(int cpu)
{
	static struct mm_struct mm;
	struct vm_area_struct vma = { .vm_mm = &mm, .vm_end = PAGE_SIZE };

	atomic_long_set(&mm.mmap_lock.count, 1);
	shim_nr_vma_pages = 0;
	if (ring_buffer_map(buf, cpu, &vma))
		return;
	ring_buffer_map_get_reader(buf, cpu);
	ring_buffer_map_get_reader(buf, cpu);
	put_on(cpu, 3);
	ring_buffer_unmap(buf, cpu);
}

static void act(u8 op)
{
	struct trace_buffer *b = op & 16 && buf2 ? buf2 : buf;
	int cpu = op >> 5 & 1, n = op >> 6, ret;
	u64 time;

	switch (op & 15) {
	case 0:
		consumed(buf, cpu, 1 + 13 * n);
		break;
	case 1:
		read_pages(b, cpu, n ? 200 * n : subbuf_size, 1 + n);
		break;
	case 2:
		put_on(cpu, 1 + (n << 2 * n));
		break;
	case 3:
		cut(n ? RING_BUFFER_ALL_CPUS : cpu);
		break;
	case 4:
		if (n == 0)
			ring_buffer_reset(b);
		else if (n == 1)
			ring_buffer_reset_online_cpus(b);
		else
			ring_buffer_reset_cpu(b, cpu);
		break;
	case 5:
		ret = ring_buffer_resize(b, n * subbuf_size, cpu);
		MUST(!ret || ret == -EBUSY);
		ret = ring_buffer_subbuf_order_set(b, n);
		MUST(!ret || ret == -EBUSY);
		break;
	case 6:
		reboot();
		break;
	case 7:
		if (cpu_online(1))
			shim_set_online(1, 0);
		else
			shim_cpu_up(1);
		break;
	case 8:
		MUST(!buf2 || ring_buffer_swap_cpu(buf, buf2, cpu));
		break;
	case 9:
		if (buf2)
			ring_buffer_forget(buf2);
		break;
	case 10:
		read_out(b, cpu, b == buf2 || n & 1);
		break;
	case 11:
		shim_panic();
		ring_buffer_record_on(buf);
		break;
	case 12:
		map(cpu);
		break;
	case 13:
		ring_buffer_peek(buf, cpu, &time, NULL);
		break;
	}
}

/* ---- files ---------------------------------------------------------------- */

static void unpack(const u8 *data, size_t size)
{
	static struct fuzz_file file;
	unsigned long at, page;
	int i;

	size = min(size, sizeof(file));
	memset(&file, 0, sizeof(file));
	memcpy(&file, data, size);
	how = file.boot;
	divide();
	memset((void *)start, 0, subbuf_size);
	memcpy((void *)start, file.head, HEAD_BYTES);
	for (i = 0, page = start + subbuf_size; page < end; page += subbuf_size, i++) {
		memcpy((void *)page, file.part[i], PAGE_HDR);
		for (at = PAGE_HDR; at < subbuf_size; at += PART_BYTES - PAGE_HDR)
			memcpy((void *)page + at, file.part[i] + PAGE_HDR,
			       min(subbuf_size - at, PART_BYTES - PAGE_HDR));
	}
}

int fuzz_one(const u8 *data, size_t size)
{
	unsigned long allocated = shim_allocated;
	int i, cpu;

	if (fuzz_also)
		fuzz_also(data, size);
	unpack(data, size);
	now = 1ULL << 40;
	clock_reads = 0;
	shim_set_online(1, !(how.flags & NOT_ONLINE));
	boot();
	survey_all();
	for (i = 0; i < ARRAY_SIZE(how.ops); i++) {
		act(how.ops[i]);
		survey(buf, how.ops[i] >> 5 & 1);
	}
	survey_all();
	for (cpu = 0; cpu < NR_CPUS_HERE; cpu++) {
		read_out(buf, cpu, false);
		if (buf2)
			read_out(buf2, cpu, true);
	}
	shut_down();
	shim_set_online(1, 1);
	MUST(shim_allocated == allocated);
	return 0;
}

/* In place: where a byte comes or goes, all behind it become other fields */
size_t fuzz_mutate(u8 *data, size_t size, size_t max, unsigned int seed)
{
	size_t head = offsetof(struct fuzz_file, part), room = sizeof(struct fuzz_file);
	size_t at;

	if (max < room)
		return fuzz_any(data, size, max);
	if (size < room)
		memset(data + size, 0, room - size);
	/* Half of all are in the headers, which are small. */
	at = seed & 1 ? seed / 2 % head : head + seed / 2 % (room - head);
	at = ALIGN_DOWN(at, PAGE_HDR);
	fuzz_any(data + at, PAGE_HDR, PAGE_HDR);
	return room;
}

/* A file of what this boot leaves */
static void pack(int nr)
{
	static struct fuzz_file file;
	char name[] = "seeds/00";
	unsigned long page;
	void *to;
	int i;

	memset(&file, 0, sizeof(file));
	file.boot = how;
	memcpy(file.head, (void *)start, HEAD_BYTES);
	for (i = 0, page = start + subbuf_size; page < end; page += subbuf_size, i++)
		memcpy(file.part[i], (void *)page, PART_BYTES);
	name[6] += nr / 10;
	name[7] += nr % 10;
	to = fopen(name, "w");
	if (to) {
		fwrite(&file, 1, offsetof(struct fuzz_file, part) + i * PART_BYTES, to);
		fclose(to);
	}
}

/*
 * Of all shapes; empty, half full, full, and with a snapshot; some are consumed in part, and of
 * some the times come close to the end of 64 bits
 */
static void make_seed(int nr)
{
	int fours = subbuf_size / 240 * (nr % 4 == 2 ? 9 : nr % 4) + 1, i;

	memset((void *)start, 0, end - start);
	now = nr / 2 % 2 ? 1ULL << 40 : -((u64)fours << 29) - (1 << 20);
	boot();
	put_on(0, nr % 4 ? fours : 0);
	put_on(1, fours / 2);
	if (nr % 4 == 3) {
		cut(RING_BUFFER_ALL_CPUS);
		put_on(0, fours / 2);
	}
	consumed(buf, 0, nr % 3);
	shut_down();
	for (i = 0; i < ARRAY_SIZE(how.ops); i++)
		how.ops[i] = nr + i * 19;
	pack(nr);
}

const char *__asan_default_options(void)
{
	return "detect_leaks=0:detect_stack_use_after_return=0:quarantine_size_mb=8";
}

int fuzz_begin(int *argc, char ***argv)
{
	unsigned long align = PAGE_SIZE << MAX_ORDER;
	int i;

	host_init(NR_CPUS_HERE, NR_CPUS_HERE);
	host_quiet = 1;
	/* The fuzzer shall see a fault, and a warning, and write the file. */
	signal(4, NULL);
	signal(11, NULL);
	host_cpu_switch(0);
	shim_prepare = trace_rb_cpu_prepare;
	start = ALIGN(shim_alloc_range(align * (2 + MAX_SUBBUFS) + PAGE_SIZE), align);
	end = start;
	for (i = 0; i < 48; i++) {
		how = (struct fuzz_boot){ .order = i % 3, .flags = i / 3 % 16 << 1 };
		divide();
		make_seed(i);
	}
	return 0;
}
