// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the copy of a ring of perf: a ring is written as the kernel does it, or as user
 * space that wants to do harm does it, also while it is copied.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/prandom.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "../internal.h"

#define PAGES	2
#define SIZE	(PAGES * PAGE_SIZE)
#define ROUNDS	300

/* A record that the tests write: a sample with an ID and a number, and words that repeat it */
struct numbered {
	struct perf_event_header	header;
	u64				id;
	u64				nr;
	u64				more[];
};

/**
 * struct world - a ring, and its copy
 * @rb:	      the ring
 * @backward: it is written backward
 * @next:     number of the next record
 * @dump:     the copy
 * @event:    its event
 * @text:     memory for text
 */
struct world {
	struct perf_buffer	*rb;
	bool			backward;
	u64			next;
	struct perf_dump	dump;
	struct dump_event	event;
	char			*text;
};

static struct world *world;

static void ring_put(unsigned long pos, const void *data, size_t len)
{
	const char *from = data;

	for (; len; len--, pos++) {
		char *page = world->rb->data_pages[(pos >> PAGE_SHIFT) % PAGES];

		page[pos % PAGE_SIZE] = *from++;
	}
}

/* Reserve, write and commit, as the kernel does. */
static void ring_write(const void *record, size_t len)
{
	struct perf_buffer *rb = world->rb;
	unsigned long head = local_read(&rb->head), at = head;

	if (world->backward)
		at = head -= len;
	else
		head += len;
	local_set(&rb->head, head);
	ring_put(at, record, len);
	rb->user_page->data_head = head;
}

/*
 * The last word of a record looks like a header, from which no record can be reached: where the
 * next one would be, there is a number.
 */
static u64 word_of(u64 nr, size_t word)
{
	struct perf_event_header header = { PERF_RECORD_COMM, 0, 3 * sizeof(u64) };
	u64 value;

	memcpy(&value, &header, sizeof(value));
	return word + 1 == nr % 13 ? value : nr;
}

/* Sizes vary, so that records wrap in each place. */
static void ring_write_numbered(void)
{
	size_t words = world->next % 13, len = sizeof(struct numbered) + words * sizeof(u64);
	struct numbered *record = kzalloc(len, GFP_KERNEL);

	record->header = (struct perf_event_header){ PERF_RECORD_SAMPLE, 2, len };
	record->id = 7;
	record->nr = world->next++;
	while (words--)
		record->more[words] = word_of(record->nr, words);
	ring_write(record, len);
	kfree(record);
}

static void ring_write_bytes(unsigned long bytes)
{
	unsigned long from = local_read(&world->rb->head);

	while (abs((long)(local_read(&world->rb->head) - from)) < bytes)
		ring_write_numbered();
}

static void world_make(struct kunit *test, bool backward, bool overwrite)
{
	struct perf_buffer *rb;
	int i;

	world = kunit_kzalloc(test, sizeof(*world), GFP_KERNEL);
	rb = kunit_kzalloc(test, struct_size(rb, data_pages, PAGES), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, world && rb);
	rb->nr_pages = PAGES;
	rb->overwrite = overwrite;
	rb->user_page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, rb->user_page);
	for (i = 0; i < PAGES; i++) {
		rb->data_pages[i] = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
		KUNIT_ASSERT_TRUE(test, rb->data_pages[i]);
	}
	world->rb = rb;
	world->backward = backward;
	world->event.id = 7;
	world->event.attr.size = PERF_ATTR_SIZE_VER0;
	world->event.attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ADDR;
	world->dump.events = (struct dump_events){ &world->event, 1, 0, DUMP_FIND_ANY };
	world->dump.ns = &init_pid_ns;
	world->text = kunit_kzalloc(test, SIZE * 4, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, world->text);
}

static void world_forget_copy(void)
{
	kvfree(world->dump.ring.data);
	kvfree(world->dump.head);
	memset(&world->dump.ring, 0, sizeof(world->dump.ring));
	world->dump.head = NULL;
}

static void world_exit(struct kunit *test)
{
	dump_ring_hook = NULL;
	if (world)
		world_forget_copy();
	world = NULL;
}

static struct dump_ring *copy(struct kunit *test)
{
	world_forget_copy();
	KUNIT_ASSERT_EQ(test, dump_ring_copy(world->rb, world->backward, &world->dump.ring), 0);
	return &world->dump.ring;
}

/* Each record is whole, and they have the numbers from @first to @last - 1. */
static void expect_numbers(struct kunit *test, u64 first, u64 last)
{
	const struct dump_ring *ring = &world->dump.ring;
	const void *at = ring->data + ring->start, *end = at + ring->len;
	const struct numbered *record;
	u64 nr = first;

	KUNIT_EXPECT_EQ(test, ring->records, (unsigned long)(last - first));
	for (; at < end; at += record->header.size, nr++) {
		size_t words;

		record = at;
		words = (record->header.size - sizeof(*record)) / sizeof(u64);
		KUNIT_ASSERT_EQ(test, record->header.type, (u32)PERF_RECORD_SAMPLE);
		KUNIT_ASSERT_EQ(test, record->nr, nr);
		KUNIT_ASSERT_EQ(test, words, (size_t)(nr % 13));
		while (words--)
			KUNIT_ASSERT_EQ(test, record->more[words], word_of(nr, words));
	}
	KUNIT_EXPECT_EQ(test, nr, last);
	KUNIT_EXPECT_PTR_EQ(test, at, end);
}

/* The text of all, made in memory of its size: more would be written nowhere. */
static const char *text_of(struct kunit *test)
{
	struct seq_file m = { .buf = world->text, .size = SIZE * 4 - 1, .private = &world->dump };
	unsigned long lines = 0;
	void *v;

	for (v = perf_dump_text.start(&m, &m.index); v; v = perf_dump_text.next(&m, v, &m.index)) {
		perf_dump_text.show(&m, v);
		if (seq_has_overflowed(&m))
			m.count = 0;
		lines++;
	}
	world->text[m.count] = 0;
	KUNIT_EXPECT_EQ(test, lines, world->dump.ring.records + 1);
	return world->text;
}

static unsigned long first_shown(void)
{
	const struct dump_ring *ring = &world->dump.ring;

	return ring->len ? ((struct numbered *)(ring->data + ring->start))->nr : world->next;
}

/* Records between the tail and the head, at each place in the ring */
static void dump_test_forward(struct kunit *test)
{
	u64 first = 0;

	world_make(test, false, false);
	for (int i = 0; i < ROUNDS; i++) {
		ring_write_numbered();
		ring_write_numbered();
		copy(test);
		expect_numbers(test, first, world->next);
		KUNIT_EXPECT_EQ(test, world->dump.ring.damaged, 0UL);
		if (i % 3 == 2) {
			first = world->next;
			world->rb->user_page->data_tail = local_read(&world->rb->head);
		}
	}
	KUNIT_EXPECT_EQ(test, world->dump.ring.lost, 0UL);
}

/* All whole records of a ring that is overwritten, the oldest one first */
static void dump_test_overwrite(struct kunit *test, bool backward)
{
	world_make(test, backward, true);
	for (int i = 0; i < ROUNDS; i++) {
		const struct dump_ring *ring = copy(test);

		expect_numbers(test, first_shown(), world->next);
		/* The bytes that are left out are less than a record, or were never written. */
		if (first_shown())
			KUNIT_EXPECT_GT(test, ring->len + sizeof(struct numbered) +
					13 * sizeof(u64), SIZE);
		KUNIT_EXPECT_EQ(test, ring->damaged, 0UL);
		KUNIT_EXPECT_EQ(test, ring->lost, 0UL);
		ring_write_numbered();
	}
	KUNIT_EXPECT_GT(test, first_shown(), 0UL);
}

static void dump_test_overwrite_forward(struct kunit *test)
{
	dump_test_overwrite(test, false);
}

static void dump_test_overwrite_backward(struct kunit *test)
{
	dump_test_overwrite(test, true);
}

static unsigned long hook_bytes;
static unsigned int hook_page;

/*
 * A writer that is faster than the copy; it acts behind one page, or each. Where the tail counts,
 * the first time is behind the head.
 */
static void hook_write(struct perf_buffer *rb)
{
	if (hook_page-- == 0)
		ring_write_bytes(hook_bytes);
}

/* A writer, and a consumer in front of it */
static void hook_consume(struct perf_buffer *rb)
{
	if (hook_page-- == 0) {
		world->rb->user_page->data_tail = local_read(&rb->head);
		ring_write_bytes(hook_bytes);
	}
}

/* Records that may be overwritten are left out and counted; the others are whole. */
static void dump_test_raced(struct kunit *test, bool backward)
{
	unsigned int page, part;

	/* Where the copy begins within a page, its end is read on its own. */
	for (page = 0; page <= PAGES; page++) {
		for (part = 1; part < 12; part++) {
			const struct dump_ring *ring;
			unsigned long whole;
			u64 last;

			world_exit(test);
			world_make(test, backward, true);
			ring_write_bytes(3 * SIZE + part * 72);
			last = world->next;
			whole = copy(test)->records;
			hook_page = page;
			hook_bytes = part * SIZE / 8;
			dump_ring_hook = hook_write;
			ring = copy(test);
			dump_ring_hook = NULL;
			expect_numbers(test, min_t(u64, first_shown(), last), last);
			KUNIT_EXPECT_GT(test, ring->gone, 0UL);
			/* They are still known if they were read before they were overwritten. */
			if (page == PAGES)
				KUNIT_EXPECT_EQ(test, ring->lost, whole - ring->records);
			KUNIT_EXPECT_LE(test, ring->len, SIZE - min(hook_bytes, SIZE));
			KUNIT_EXPECT_EQ(test, ring->damaged, 0UL);
			if (part < 7)
				KUNIT_EXPECT_GT(test, ring->records, 0UL);
			text_of(test);
			KUNIT_EXPECT_NOT_NULL(test, strstr(world->text, "# lost="));
		}
	}
}

static void dump_test_raced_forward(struct kunit *test)
{
	dump_test_raced(test, false);
}

static void dump_test_raced_backward(struct kunit *test)
{
	dump_test_raced(test, true);
}

/* Nothing is lost where nothing was ever written, or in the rest of the oldest record. */
static void dump_test_raced_nothing(struct kunit *test)
{
	struct {
		struct perf_event_header	header;
		char				rest[504];
	} large = { { PERF_RECORD_COMM, 0, sizeof(large) } };
	int backward, full;

	memset(large.rest, 0xff, sizeof(large.rest));
	for (backward = 0; backward < 2; backward++) {
		for (full = 0; full < 2; full++) {
			u64 last;

			world_exit(test);
			world_make(test, backward, true);
			if (full)
				ring_write(&large, sizeof(large));
			ring_write_bytes(full ? SIZE - 400 : SIZE / 2);
			last = world->next;
			hook_page = PAGES;
			hook_bytes = 100;
			dump_ring_hook = hook_write;
			copy(test);
			dump_ring_hook = NULL;
			expect_numbers(test, 0, last);
			KUNIT_EXPECT_EQ(test, world->dump.ring.lost, 0UL);
			KUNIT_EXPECT_EQ(test, world->dump.ring.gone > 0, full);
		}
	}
}

/* A ring that has been consumed in part, and was written to three quarters of its size */
static void world_make_consumed(struct kunit *test, bool backward)
{
	world_exit(test);
	world_make(test, backward, false);
	ring_write_bytes(SIZE / 4);
	world->rb->user_page->data_tail = local_read(&world->rb->head);
	ring_write_bytes(SIZE / 2);
}

static void copy_consumed(struct kunit *test, unsigned int page, unsigned long bytes)
{
	hook_page = page;
	hook_bytes = bytes;
	dump_ring_hook = hook_consume;
	copy(test);
	dump_ring_hook = NULL;
}

/* Records that the consumer has taken meanwhile are not lost. */
static void dump_test_raced_consumer(struct kunit *test)
{
	int backward, part;
	u64 last;

	for (backward = 0; backward < 2; backward++) {
		for (part = 1; part < 7; part++) {
			if (part == 4)
				continue;	/* Near the size of the ring, it may be either. */

			world_make_consumed(test, backward);
			last = world->next;
			copy_consumed(test, 1, part * SIZE / 8);
			/* All of them, or those that the consumer has left: none. */
			if (world->dump.ring.records)
				expect_numbers(test, first_shown(), last);
			KUNIT_EXPECT_EQ(test, world->dump.ring.lost, 0UL);
			KUNIT_EXPECT_EQ(test, world->dump.ring.damaged, 0UL);
			KUNIT_EXPECT_EQ(test, !world->dump.ring.records, part > 4);
		}
	}
}

/* A tail that the consumer moves beyond a head which was read already is no bad tail. */
static void dump_test_raced_tail(struct kunit *test)
{
	int backward, part;
	u64 consumed;

	for (backward = 0; backward < 2; backward++) {
		for (part = 0; part < 7; part++) {
			world_make_consumed(test, backward);
			consumed = world->next;
			copy_consumed(test, 0, part * SIZE / 8);
			KUNIT_EXPECT_FALSE(test, world->dump.ring.bad_tail);
			expect_numbers(test, consumed, world->next);
			KUNIT_EXPECT_EQ(test, world->dump.ring.lost, 0UL);
			KUNIT_EXPECT_EQ(test, world->dump.ring.damaged, 0UL);
		}
	}
}

/* A record with a size that cannot be ends the records; those before it are shown. */
static void dump_test_bad_size(struct kunit *test)
{
	static const u16 sizes[] = { 0, 1, 4, 7, 9, 12, 20, 0xfff8, 0xffff };
	int i, backward;

	for (backward = 0; backward < 2; backward++) {
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			struct perf_event_header bad[3] = { { PERF_RECORD_COMM, 0, sizes[i] } };

			world_exit(test);
			world_make(test, backward, false);
			ring_write_numbered();
			ring_write(bad, sizeof(bad));
			ring_write_numbered();
			copy(test);
			KUNIT_EXPECT_EQ(test, world->dump.ring.records, 1UL);
			KUNIT_EXPECT_EQ(test, first_shown(), backward ? 1UL : 0UL);
			KUNIT_EXPECT_GT(test, world->dump.ring.damaged, 0UL);
			KUNIT_EXPECT_NOT_NULL(test, strstr(text_of(test), "# damaged: "));
		}
	}
}

/* A tail or a head that no consumer or writer would write */
static void dump_test_bad_tail(struct kunit *test)
{
	static const u64 offsets[] = { 1, 4, 12, SIZE + 8, U64_MAX / 2, U64_MAX - 7, U64_MAX - 11,
					     1ULL << 32 };
	int i, backward;

	for (backward = 0; backward < 2; backward++) {
		for (i = 0; i < ARRAY_SIZE(offsets); i++) {
			unsigned long head, far;

			world_exit(test);
			world_make(test, backward, false);
			ring_write_bytes(SIZE / 2);
			head = local_read(&world->rb->head);
			world->rb->user_page->data_tail = head + offsets[i];
			far = backward ? offsets[i] : -offsets[i];
			copy(test);
			if (far <= SIZE && far % 8 == 0)
				continue;	/* In 32 bits it is none. */
			KUNIT_EXPECT_TRUE(test, world->dump.ring.bad_tail);
			expect_numbers(test, 0, world->next);
			KUNIT_EXPECT_NOT_NULL(test, strstr(text_of(test), "# data_tail is out"));
		}
	}
}

static void dump_test_bad_head(struct kunit *test)
{
	static const u64 heads[] = { 1, 3 * SIZE, U64_MAX / 2, U64_MAX - 6, 20 };
	int i, backward;

	for (backward = 0; backward < 2; backward++) {
		for (i = 0; i < ARRAY_SIZE(heads); i++) {
			world_exit(test);
			world_make(test, backward, backward);
			ring_write_bytes(SIZE / 2);
			world->rb->user_page->data_head = heads[i];
			copy(test);
			expect_numbers(test, 0, world->next);
		}
	}
}

/* A record that is reserved and not complete is not shown, and hides none. */
static void dump_test_in_flight(struct kunit *test)
{
	int backward;

	for (backward = 0; backward < 2; backward++) {
		u64 committed, junk[3] = { U64_MAX, U64_MAX, U64_MAX };

		world_exit(test);
		world_make(test, backward, backward);
		ring_write_bytes(SIZE / 2);
		committed = world->rb->user_page->data_head;
		ring_write(junk, sizeof(junk));
		world->rb->user_page->data_head = committed;
		copy(test);
		expect_numbers(test, 0, world->next);
		KUNIT_EXPECT_EQ(test, world->dump.ring.damaged, 0UL);
	}
}

/* Any bytes, in data and control: there is an end, and nothing outside is touched. */
static void dump_test_random(struct kunit *test)
{
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 20151);
	for (int i = 0; i < ROUNDS; i++) {
		const struct dump_ring *ring;

		world_exit(test);
		world_make(test, i & 1, i & 2);
		world->event.attr.sample_type = prandom_u32_state(&rnd) & 0x1ffffff;
		world->event.attr.read_format = prandom_u32_state(&rnd) & 0x1f;
		world->event.attr.sample_id_all = i & 4;
		world->dump.events.find = i % 3;
		for (int page = 0; page < PAGES; page++) {
			u64 *word = world->rb->data_pages[page];

			for (int w = 0; w < PAGE_SIZE / 8; w++) {
				u32 low = prandom_u32_state(&rnd);

				/* Often a header that could be one */
				word[w] = (u64)prandom_u32_state(&rnd) << 32 | low;
				if (low & 1)
					*(struct perf_event_header *)&word[w] =
						(struct perf_event_header){ low % 30, low >> 8,
						low / 32 % (i & 8 ? 2000 : 200) & ~7 };
			}
		}
		local_set(&world->rb->head, prandom_u32_state(&rnd) & ~7);
		world->rb->user_page->data_head = local_read(&world->rb->head) -
			(i & 16 ? prandom_u32_state(&rnd) : 0);
		world->rb->user_page->data_tail = local_read(&world->rb->head) -
			(i & 32 ? prandom_u32_state(&rnd) : (i & 1 ? -8 * i : 8 * i));
		hook_page = i % PAGES;
		hook_bytes = i & 64 ? SIZE / 3 : 0;
		dump_ring_hook = hook_write;
		ring = copy(test);
		dump_ring_hook = NULL;
		KUNIT_ASSERT_LE(test, ring->start + ring->len, SIZE);
		text_of(test);
		KUNIT_ASSERT_EQ(test, dump_data_head(&world->dump), 0);
	}
}

static void kill_current(bool kill)
{
	guard(spinlock_irq)(&current->sighand->siglock);
	if (kill) {
		sigaddset(&current->pending.signal, SIGKILL);
		set_thread_flag(TIF_SIGPENDING);
	} else {
		sigdelset(&current->pending.signal, SIGKILL);
		recalc_sigpending();
	}
}

/* A reader that is killed makes no more lines of the text, and no copy. */
static void dump_test_killed(struct kunit *test)
{
	struct seq_file m = { .index = 1 };
	int text, ring;

	world_make(test, false, false);
	ring_write_numbered();
	copy(test);
	m.buf = world->text;
	m.size = SIZE;
	m.private = &world->dump;
	kill_current(true);
	text = perf_dump_text.show(&m, NULL);
	world_forget_copy();
	ring = dump_ring_copy(world->rb, false, &world->dump.ring);
	kill_current(false);
	KUNIT_EXPECT_EQ(test, text, -EINTR);
	KUNIT_EXPECT_EQ(test, ring, -EINTR);
	KUNIT_EXPECT_EQ(test, m.count, (size_t)0);
}

/* Records of the types that are known, and of others */
static void dump_test_text(struct kunit *test)
{
	static const struct {
		struct perf_event_header header;
		u32 word[10];
		const char *line;
	} cases[] = {
		{ { PERF_RECORD_COMM, 0, 40 }, { 1, 2, 0x22410a61, 0, 0, 0, 9, 0 },
		  "\nCOMM misc=0x0 pid=1 tid=2 comm=\"a\\nA\\\"\" | identifier=9\n" },
		{ { PERF_RECORD_COMM, 0, 8 }, { }, "\nCOMM misc=0x0 pid=0 (cut off)\n" },
		{ { PERF_RECORD_LOST, 0, 32 }, { 7, 0, 5, 0, 7, 0 },
		  "\nLOST misc=0x0 id=7 lost=5 | identifier=7\n" },
		{ { PERF_RECORD_EXIT, 0, 40 }, { 1, 2, 3, 4, 5, 0, 7, 0 },
		  "\nEXIT misc=0x0 pid=1 ppid=2 tid=3 ptid=4 time=5 | identifier=7\n" },
		{ { PERF_RECORD_THROTTLE, 0, 40 }, { 1, 0, 2, 0, 3, 0, 7, 0 },
		  "\nTHROTTLE misc=0x0 time=1 id=2 stream_id=3 | identifier=7\n" },
		{ { PERF_RECORD_SAMPLE, 2, 24 }, { 7, 0, 0x1000, 0 },
		  "\nSAMPLE misc=0x2 identifier=7 addr=0x1000\n" },
		{ { PERF_RECORD_SAMPLE, 2, 16 }, { 7, 0 },
		  "\nSAMPLE misc=0x2 identifier=7 addr=0x0 (cut off)\n" },
		{ { PERF_RECORD_SAMPLE, 2, 8 }, { }, "\nSAMPLE misc=0x2 identifier=0 (cut off)\n" },
		{ { PERF_RECORD_SAMPLE, 2, 32 }, { 7, 0, 1, 0, 2, 3 },
		  "\nSAMPLE misc=0x2 identifier=7 addr=0x1 more=8\n" },
		{ { PERF_RECORD_MMAP2, 1 << 14, 32 }, { 1, 2, 0, 0, 7, 0 },
		  "\nMMAP2 misc=0x4000 pid=1 tid=2 addr=0x0 len=0x0 | identifier=7 (cut off)\n" },
		/* A deferred callchain, which Linux 6.12 does not know */
		{ { 22, 2, 40 }, { 9, 0, 1, 0, 0x1000, 0, 7, 0 }, PERF_RECORD_MAX > 22 ?
		  "\nCALLCHAIN_DEFERRED misc=0x2 cookie=0x9 nr=1 ips=8 | identifier=7\n" :
		  "\ntype=22 misc=0x2 size=40 data=0900" },
		{ { 99, 3, 16 }, { 0x03020100, 0x07060504 },
		  "\ntype=99 misc=0x3 size=16 data=0001020304050607\n" },
		{ { 0, 0, 8 }, { }, "\ntype=0 misc=0x0 size=8 data=\n" },
		{ { U32_MAX, 0, 8 }, { }, "\ntype=4294967295 misc=0x0 size=8 data=\n" },
	};

	if (IS_ENABLED(CONFIG_CPU_BIG_ENDIAN))
		kunit_skip(test, "the words are those of the other byte order");
	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		world_exit(test);
		world_make(test, false, false);
		world->event.attr.sample_id_all = 1;
		world->dump.ring.len = cases[i].header.size;
		world->dump.ring.records = 1;
		world->dump.ring.data = kvmalloc(cases[i].header.size, GFP_KERNEL);
		memcpy(world->dump.ring.data, &cases[i], cases[i].header.size);
		KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(text_of(test), cases[i].line),
					  "no %s in %s", cases[i].line, world->text);
	}
}

/* A callchain and raw data that claim more than there is */
static void dump_test_hostile_sample(struct kunit *test)
{
	u64 words[] = { 0, 0x10, U64_MAX, 1, 2 };
	struct perf_event_header *header = (void *)words;

	world_make(test, false, false);
	*header = (struct perf_event_header){ PERF_RECORD_SAMPLE, 0, sizeof(words) };
	world->event.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	ring_write(words, sizeof(words));
	copy(test);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text_of(test),
					   "ip=0x10 callchain=[0x1 0x2] (cut off)\n"));
	world->event.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_RAW;
	KUNIT_EXPECT_NOT_NULL(test, strstr(text_of(test), "ip=0x10 raw=4294967295 (cut off)\n"));
	world->event.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ;
	world->event.attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	KUNIT_EXPECT_NOT_NULL(test, strstr(text_of(test), "ip=0x10 read=1048560 (cut off)\n"));
}

/* The event of a record, by its ID */
static void dump_test_find(struct kunit *test)
{
	struct dump_event event[3] = { { .id = 30 }, { .id = 10 }, { .id = 20 } };
	struct dump_events events = { event, 3 };
	u64 sample[] = { 0, 20, 10 }, other[] = { 0, 20, 10 };
	struct perf_event_header *header;

	event[0].attr.sample_type = PERF_SAMPLE_IDENTIFIER;
	event[1].attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
	event[2].attr.sample_type = PERF_SAMPLE_IDENTIFIER;
	for (int i = 0; i < 3; i++)
		event[i].attr.sample_id_all = 1;
	dump_events_sort(&events);
	KUNIT_EXPECT_EQ(test, events.find, DUMP_FIND_ID);
	header = (void *)sample;
	*header = (struct perf_event_header){ PERF_RECORD_SAMPLE, 0, sizeof(sample) };
	KUNIT_EXPECT_PTR_EQ(test, dump_event_of(&events, header), &event[1]);
	header->size = 8;
	KUNIT_EXPECT_NULL(test, dump_event_of(&events, header));
	header->size = sizeof(sample);
	sample[1] = 15;
	KUNIT_EXPECT_NULL(test, dump_event_of(&events, header));
	header = (void *)other;
	*header = (struct perf_event_header){ PERF_RECORD_COMM, 0, sizeof(other) };
	KUNIT_EXPECT_PTR_EQ(test, dump_event_of(&events, header), &event[0]);
	KUNIT_EXPECT_EQ(test, event[0].id, 10ULL);

	event[2].attr.sample_type = PERF_SAMPLE_IP;
	dump_events_sort(&events);
	KUNIT_EXPECT_EQ(test, events.find, DUMP_FIND_NOT);
	KUNIT_EXPECT_NULL(test, dump_event_of(&events, header));
	for (int i = 0; i < 3; i++)
		event[i].attr.sample_type = PERF_SAMPLE_IP;
	dump_events_sort(&events);
	KUNIT_EXPECT_EQ(test, events.find, DUMP_FIND_ANY);
}

static void dump_test_needs(struct kunit *test)
{
	static const struct {
		struct perf_event_attr	attr;
		bool			task, tracepoint;
		unsigned int		needs;
	} cases[] = {
		{ { .exclude_kernel = 1 }, true, false, 0 },
		{ { }, true, false, DUMP_KERNEL },
		{ { .exclude_kernel = 1 }, false, false, DUMP_CPU },
		{ { .exclude_kernel = 1 }, true, true, DUMP_RAW },
		{ { .exclude_kernel = 1, .sample_type = PERF_SAMPLE_RAW }, true, false, DUMP_RAW },
		{ { .exclude_kernel = 1, .sample_type = PERF_SAMPLE_PHYS_ADDR }, true, false,
		  DUMP_KERNEL },
		{ { .exclude_kernel = 1, .sample_type = PERF_SAMPLE_BRANCH_STACK,
		    .branch_sample_type = PERF_SAMPLE_BRANCH_KERNEL }, true, false, DUMP_KERNEL },
		{ { .exclude_kernel = 1, .sample_type = PERF_SAMPLE_BRANCH_STACK,
		    .branch_sample_type = PERF_SAMPLE_BRANCH_USER }, true, false, 0 },
		{ { .exclude_kernel = 1, .sample_type = PERF_SAMPLE_CALLCHAIN }, true, false,
		  DUMP_KERNEL },
		{ { .exclude_kernel = 1, .exclude_callchain_kernel = 1,
		    .sample_type = PERF_SAMPLE_CALLCHAIN }, true, false, 0 },
		{ { .exclude_kernel = 1, .ksymbol = 1 }, true, false, DUMP_KERNEL },
		{ { .exclude_kernel = 1, .text_poke = 1 }, true, false, DUMP_KERNEL },
		{ { .exclude_kernel = 1, .sample_type = PERF_SAMPLE_AUX }, true, false,
		  DUMP_KERNEL },
		{ { .exclude_kernel = 1, .sample_type = PERF_SAMPLE_READ }, true, false, 0 },
		{ { .exclude_kernel = 1, .read_format = PERF_FORMAT_GROUP }, true, false, 0 },
		{ { .exclude_kernel = 1, .sample_type = PERF_SAMPLE_READ,
		    .read_format = PERF_FORMAT_GROUP }, true, false, DUMP_KERNEL },
		{ { .exclude_kernel = 1, .inherit_stat = 1,
		    .read_format = PERF_FORMAT_GROUP }, true, false, DUMP_KERNEL },
		{ { .exclude_kernel = 1, .namespaces = 1 }, true, false, DUMP_PERFMON },
		{ { .exclude_kernel = 1, .sample_type = PERF_SAMPLE_REGS_INTR }, true, false,
		  DUMP_REGS },
		{ { .namespaces = 1, .sample_type = PERF_SAMPLE_REGS_INTR }, false, true,
		  DUMP_ALL },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, dump_needs(&cases[i].attr, cases[i].task,
						     cases[i].tracepoint), cases[i].needs,
				    "case %d", i);
}

static u64 u64_at(const void *data, size_t at)
{
	u64 value;

	memcpy(&value, data + at, sizeof(value));
	return value;
}

/* Sections of a perf.data, the name of a thread that runs, and what was lost */
static void dump_test_data(struct kunit *test)
{
	struct {
		struct perf_event_header	header;
		u64				id;
		u32				pid, tid;
	} sample = { { PERF_RECORD_SAMPLE, 0, sizeof(sample) }, 7 }, gone = sample;
	const struct perf_event_header *header;
	const void *head;
	u64 data;

	world_make(test, false, false);
	world->event.attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID;
	world->event.attr.sample_id_all = 1;
	sample.pid = task_tgid_nr(current);
	sample.tid = task_pid_nr(current);
	gone.tid = S32_MAX;
	ring_write(&sample, sizeof(sample));
	ring_write(&gone, sizeof(gone));
	ring_write(&sample, sizeof(sample));
	copy(test);
	world->dump.ring.lost = 5;
	KUNIT_ASSERT_EQ(test, dump_data_head(&world->dump), 0);
	head = world->dump.head;
	KUNIT_EXPECT_EQ(test, u64_at(head, 0), 0x32454c4946524550ULL);
	/* The header of a file without features */
	KUNIT_EXPECT_EQ(test, u64_at(head, 8), 72ULL);
	KUNIT_EXPECT_EQ(test, u64_at(head, 16), 64ULL + 16);
	KUNIT_EXPECT_EQ(test, u64_at(head, 24), 104ULL + 8);
	KUNIT_EXPECT_EQ(test, u64_at(head, 32), 64ULL + 16);
	KUNIT_EXPECT_EQ(test, u64_at(head, 104), 7ULL);
	data = u64_at(head, 40);
	KUNIT_EXPECT_EQ(test, data, 104ULL + 8 + 64 + 16);
	KUNIT_EXPECT_EQ(test, data + u64_at(head, 48), (u64)perf_dump_size(&world->dump));
	KUNIT_EXPECT_EQ(test, perf_dump_size(&world->dump) - world->dump.head_len,
			3LL * sizeof(sample));
	header = head + data;
	KUNIT_EXPECT_EQ(test, header->type, (u32)PERF_RECORD_COMM);
	KUNIT_EXPECT_EQ(test, header->size, 8 + 8 + 16 + 16);
	KUNIT_EXPECT_STREQ(test, (const char *)header + 16, current->comm);
	header = (void *)header + header->size;
	KUNIT_EXPECT_EQ(test, header->type, (u32)PERF_RECORD_LOST);
	KUNIT_EXPECT_EQ(test, u64_at(header, 8), 7ULL);
	KUNIT_EXPECT_EQ(test, u64_at(header, 16), 5ULL);
	KUNIT_EXPECT_PTR_EQ(test, (void *)header + header->size, head + world->dump.head_len);
}

/* Events with one attribute share it, with the IDs of all. */
static void dump_test_same_attr(struct kunit *test)
{
	static const u64 ids[] = { 10, 30, 20 };
	struct dump_event event[] = { { .id = 10 }, { .id = 20 }, { .id = 30 } };
	const size_t each = PERF_ATTR_SIZE_VER0 + 16;
	const void *head, *attr;

	world_make(test, false, false);
	for (int i = 0; i < 3; i++)
		event[i].attr.type = i == 1;
	world->dump.events = (struct dump_events){ event, 3, 0, DUMP_FIND_ANY };
	copy(test);
	KUNIT_ASSERT_EQ(test, dump_data_head(&world->dump), 0);
	head = world->dump.head;
	KUNIT_EXPECT_EQ(test, memcmp(head + 104, ids, sizeof(ids)), 0);
	KUNIT_EXPECT_EQ(test, u64_at(head, 24), 104ULL + sizeof(ids));
	KUNIT_ASSERT_EQ(test, u64_at(head, 32), 2ULL * each);
	KUNIT_EXPECT_EQ(test, u64_at(head, 40), 104ULL + sizeof(ids) + 2 * each);
	attr = head + 104 + sizeof(ids);
	KUNIT_EXPECT_EQ(test, u64_at(attr, PERF_ATTR_SIZE_VER0), 104ULL);
	KUNIT_EXPECT_EQ(test, u64_at(attr, PERF_ATTR_SIZE_VER0 + 8), 16ULL);
	KUNIT_EXPECT_EQ(test, ((u32 *)(attr + each))[0], 1U);
	KUNIT_EXPECT_EQ(test, u64_at(attr, each + PERF_ATTR_SIZE_VER0), 104ULL + 16);
	KUNIT_EXPECT_EQ(test, u64_at(attr, each + PERF_ATTR_SIZE_VER0 + 8), 8ULL);
}

/* An attribute ends behind its last field that is set, whatever size user space gave. */
static void dump_test_attr_size(struct kunit *test)
{
	static const struct { struct perf_event_attr attr; u64 want; } cases[] = {
		{ { .size = 0 }, PERF_ATTR_SIZE_VER0 },
		{ { .size = PERF_ATTR_SIZE_VER0 + 1 }, PERF_ATTR_SIZE_VER0 },
		{ { .size = sizeof(struct perf_event_attr) }, PERF_ATTR_SIZE_VER0 },
		{ { .size = PAGE_SIZE, .config2 = 1 }, PERF_ATTR_SIZE_VER1 },
		{ { .branch_sample_type = 1ULL << 63 }, PERF_ATTR_SIZE_VER2 },
		{ { .sample_max_stack = 1 }, PERF_ATTR_SIZE_VER5 },
		{ { .sig_data = 1 }, PERF_ATTR_SIZE_VER7 },
		{ { .config3 = 1 }, PERF_ATTR_SIZE_VER8 },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		world_exit(test);
		world_make(test, false, false);
		world->event.attr = cases[i].attr;
		copy(test);
		KUNIT_ASSERT_EQ(test, dump_data_head(&world->dump), 0);
		KUNIT_EXPECT_EQ(test, u64_at(world->dump.head, 16), cases[i].want + 16);
		KUNIT_EXPECT_EQ(test, u64_at(world->dump.head, 40), 104 + 8 + cases[i].want + 16);
	}
}

static struct kunit_case dump_test_cases[] = {
	KUNIT_CASE(dump_test_forward),
	KUNIT_CASE(dump_test_overwrite_forward),
	KUNIT_CASE(dump_test_overwrite_backward),
	KUNIT_CASE(dump_test_raced_forward),
	KUNIT_CASE(dump_test_raced_backward),
	KUNIT_CASE(dump_test_raced_nothing),
	KUNIT_CASE(dump_test_raced_consumer),
	KUNIT_CASE(dump_test_raced_tail),
	KUNIT_CASE(dump_test_bad_size),
	KUNIT_CASE(dump_test_bad_tail),
	KUNIT_CASE(dump_test_bad_head),
	KUNIT_CASE(dump_test_in_flight),
	KUNIT_CASE(dump_test_random),
	KUNIT_CASE(dump_test_killed),
	KUNIT_CASE(dump_test_text),
	KUNIT_CASE(dump_test_hostile_sample),
	KUNIT_CASE(dump_test_find),
	KUNIT_CASE(dump_test_needs),
	KUNIT_CASE(dump_test_data),
	KUNIT_CASE(dump_test_same_attr),
	KUNIT_CASE(dump_test_attr_size),
	{}
};

static struct kunit_suite dump_test_suite = {
	.name = "perf_dump",
	.exit = world_exit,
	.test_cases = dump_test_cases,
};

kunit_test_suite(dump_test_suite);
