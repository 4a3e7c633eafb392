// SPDX-License-Identifier: GPL-2.0
/*
 * The content of a page: lengths, deltas, stamps, the page header and its report of
 * losses, against a parser of the test's own.
 */
#include <linux/preempt.h>
#include <linux/trace_seq.h>

#include "parse.h"
#include "world.h"

static struct rbt *layout_writer;
static unsigned int layout_interrupts;

struct layout_got {
	struct rbt	*w;
	u32		num[64];
	unsigned int	nr;
};

static void layout_record(void *data, const void *rec, const void *payload, unsigned int max,
			  u64 time)
{
	struct layout_got *got = data;
	u32 num = rbt_check(got->w, payload, time);

	if (got->w->recs[num].len > max)
		rbt_fail(got->w, "record %u of %u bytes has %u", num, got->w->recs[num].len, max);
	if (got->nr < ARRAY_SIZE(got->num))
		got->num[got->nr++] = num;
}

/* Read a page and parse it. Return: false if there was nothing to read. */
static bool layout_read(struct rbt *w, struct rbt_page *page, struct layout_got *got)
{
	struct buffer_data_read_page *rpage;
	int ret;

	memset(got, 0, sizeof(*got));
	got->w = w;
	rpage = rbt_page(w, w->buffer);
	ret = ring_buffer_read_page(w->buffer, rpage, rb_subbuf_size(w->buffer->order), w->cpu, 0);
	if (!ret)
		KUNIT_EXPECT_TRUE(w->test, rbt_parse(ring_buffer_read_page_data(rpage),
						     ring_buffer_read_page_size(rpage), page,
						     layout_record, got));
	ring_buffer_free_read_page(w->buffer, w->cpu, rpage);
	return !ret;
}

/* Bytes on the page of a record, as the format has always had it. */
static unsigned int layout_total(unsigned int len)
{
	if (IS_ENABLED(CONFIG_HAVE_64BIT_ALIGNED_ACCESS))
		return roundup(8 + len, 8);
	return roundup(len, 4) + (len > 112 ? 8 : 4);
}

static const unsigned int lengths[] = {
	4, 5, 7, 8, 9, 11, 12, 13, 108, 109, 111, 112, 113, 116, 117, 119, 120, 121, 500, 1000,
};

static void layout_desc_len(const unsigned int *len, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u bytes", *len);
}

KUNIT_ARRAY_PARAM(layout_len, lengths, layout_desc_len);

/* The length of a record is in its header, or behind it. */
static void layout_test_length(struct kunit *test)
{
	unsigned int len = *(const unsigned int *)test->param_value;
	struct rbt *w = test->priv;
	struct layout_got got;
	struct rbt_page page;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	rbt_write_n(w, len, 3);
	KUNIT_ASSERT_TRUE(test, layout_read(w, &page, &got));
	KUNIT_EXPECT_EQ(test, page.records, 3U);
	KUNIT_EXPECT_EQ(test, page.bytes, 3 * layout_total(len));
	KUNIT_EXPECT_EQ(test, page.time, w->recs[0].time);
	KUNIT_EXPECT_EQ(test, page.extends + page.absolutes, 0U);
	KUNIT_EXPECT_FALSE(test, page.missed);
}

/* Each length comes back whole, with the length that the format gives it. */
static void layout_test_lengths(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct ring_buffer_event *rec;
	unsigned int len, max;

	rbt_open(w, 4, RB_FL_OVERWRITE);
	max = ring_buffer_max_event_size(w->buffer);
	for (len = 0; len <= max && !w->failed; len++) {
		if (len < sizeof(u32)) {
			KUNIT_EXPECT_EQ(test, ring_buffer_write(w->buffer, len, "abc"), 0);
			rec = ring_buffer_consume(w->buffer, w->cpu, NULL, NULL);
			KUNIT_ASSERT_NOT_NULL(test, rec);
			KUNIT_EXPECT_MEMEQ(test, ring_buffer_event_data(rec), "abc", len);
			continue;
		}
		KUNIT_EXPECT_TRUE(test, rbt_write(w, len));
		rec = ring_buffer_peek(w->buffer, w->cpu, NULL, NULL);
		KUNIT_ASSERT_NOT_NULL(test, rec);
		KUNIT_EXPECT_EQ(test, ring_buffer_event_length(rec),
				layout_total(len) - (rec->type_len ? 4 : 8));
		KUNIT_EXPECT_TRUE(test, rbt_consume(w));
	}
	KUNIT_EXPECT_NULL(test, ring_buffer_lock_reserve(w->buffer, -1UL));
	KUNIT_EXPECT_EQ(test, ring_buffer_write(w->buffer, max + 1, NULL), -EBUSY);
}

static const struct layout_delta {
	const char	*name;
	u64		start;		/* when the first record is written */
	s64		pause;		/* from there to the second */
	unsigned int	extends;
	unsigned int	absolutes;
	bool		next_page;	/* the second is on a page of its own */
} deltas[] = {
	{ "none", 1000, 0 },
	{ "one", 1000, 1 },
	{ "largest", 1000, (1 << 27) - 1 },
	{ "largest + 1", 1000, 1 << 27, .extends = 1 },
	{ "a minute", 1000, 60000000000, .extends = 1 },
	{ "ten hours", 1000, 36000000000000, .absolutes = 1 },
	{ "a day", 1000, 86400000000000, .absolutes = 1 },
	{ "over 45 bits", BIT_ULL(45) - 1, 1 },
	{ "over 46 bits", BIT_ULL(46) - 1, 1 },
	{ "to the end of an epoch", 1000, (1LL << 45) - 1, .extends = 1 },
	{ "over the end of an epoch", 1000, 1LL << 45, .absolutes = 1 },
	{ "a whole word", 1000, 1LL << 46, .absolutes = 1 },
	{ "a year", 1000, 31536000000000000, .absolutes = 1 },
	{ "back by one", 1000000, -1, .absolutes = 1 },
	{ "back to the start", BIT_ULL(40), -(1LL << 40), .absolutes = 1 },
	{ "into 60 bits", BIT_ULL(59) - 1, 1 },
	{ "into 60 bits, a long pause", BIT_ULL(59) - 1, 1LL << 50, .next_page = true },
	{ "60 bits, a long pause", BIT_ULL(59), 1LL << 50, .absolutes = 1 },
	{ "60 bits, back", BIT_ULL(59) + 1000, -10, .next_page = true },
	{ "60 bits, an extend", BIT_ULL(59) + 1000, 1 << 28, .extends = 1 },
};

KUNIT_ARRAY_PARAM_DESC(layout_delta, deltas, name);

/* The time of a record: a delta, an extend, an absolute stamp, another page. */
static void layout_test_delta(struct kunit *test)
{
	const struct layout_delta *d = test->param_value;
	struct rbt *w = test->priv;
	struct layout_got got;
	struct rbt_page page;

	rbt_open(w, 3, RB_FL_OVERWRITE);
	rbt_step = 0;
	rbt_now = d->start;
	rbt_write(w, 8);
	rbt_now += d->pause;
	rbt_write_n(w, 8, 2);

	KUNIT_ASSERT_TRUE(test, layout_read(w, &page, &got));
	KUNIT_EXPECT_EQ(test, page.records, d->next_page ? 1U : 3U);
	KUNIT_EXPECT_EQ(test, page.extends, d->extends);
	KUNIT_EXPECT_EQ(test, page.absolutes, d->absolutes);
	KUNIT_EXPECT_EQ(test, page.bytes, page.records * layout_total(8) +
			8 * (d->extends + d->absolutes));
	if (d->next_page) {
		KUNIT_ASSERT_TRUE(test, layout_read(w, &page, &got));
		KUNIT_EXPECT_EQ(test, page.time, d->start + d->pause);
		KUNIT_EXPECT_EQ(test, page.records, 2U);
	}
	KUNIT_EXPECT_FALSE(test, layout_read(w, &page, &got));
}

/* With absolute stamps, each record has one. */
static void layout_test_absolute(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct layout_got got;
	struct rbt_page page;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	ring_buffer_set_time_stamp_abs(w->buffer, true);
	KUNIT_EXPECT_TRUE(test, ring_buffer_time_stamp_abs(w->buffer));
	rbt_write_n(w, 16, 5);
	KUNIT_ASSERT_TRUE(test, layout_read(w, &page, &got));
	KUNIT_EXPECT_EQ(test, page.absolutes, 5U);
	KUNIT_EXPECT_EQ(test, page.records, 5U);
}

/* A discarded record is not on the page, and the time of the next one is right. */
static void layout_test_discard(struct kunit *test)
{
	static const s64 pauses[] = { 1, 1 << 26, (1 << 27) - 1, 1 << 27, 1LL << 40, 1LL << 46 };
	struct rbt *w = test->priv;
	struct ring_buffer_event *rec;
	struct layout_got got;
	struct rbt_page page;
	unsigned int i, k;
	u32 num;

	for (i = 0; i < ARRAY_SIZE(pauses); i++) {
		for (k = 0; k < ARRAY_SIZE(pauses); k++) {
			rbt_open(w, 2, RB_FL_OVERWRITE);
			rbt_write(w, 12);
			rbt_now += pauses[i];
			rec = rbt_must_reserve(w, 40, &num);
			rbt_discard(w, rec, num);
			rbt_now += pauses[k];
			rbt_write(w, 12);
			KUNIT_ASSERT_TRUE(test, layout_read(w, &page, &got));
			KUNIT_EXPECT_EQ(test, page.records, 2U);
			KUNIT_EXPECT_EQ(test, page.bytes, 2 * layout_total(12) +
					8 * (page.extends + page.absolutes));
		}
	}
}

/* A discarded record that was the first one leaves the page's time to the next one. */
static void layout_test_discard_first(struct kunit *test)
{
	static const u64 pauses[] = { 1, 1 << 20, 1 << 27, 1ULL << 46, 1ULL << 63 };
	struct rbt *w = test->priv;
	struct ring_buffer_event *rec;
	struct layout_got got;
	struct rbt_page page;
	unsigned int i;
	u32 num;

	for (i = 0; i < ARRAY_SIZE(pauses); i++) {
		rbt_open(w, 2, RB_FL_OVERWRITE);
		rec = rbt_must_reserve(w, 40, &num);
		rbt_discard(w, rec, num);
		rbt_now += pauses[i];
		rbt_write_n(w, 12, 2);
		KUNIT_ASSERT_TRUE(test, layout_read(w, &page, &got));
		KUNIT_EXPECT_EQ(test, page.records, 2U);
		KUNIT_EXPECT_EQ(test, page.time, w->recs[1].time);
		KUNIT_EXPECT_EQ(test, page.bytes, 2 * layout_total(12));
	}
}

/* A record that an interrupt wrote behind the one that is discarded keeps its time. */
static void layout_test_discard_under(struct kunit *test)
{
	static const u64 pauses[] = {
		0, 1, 5, RB_DELTA_MAX - 5, RB_DELTA_MAX - 4, RB_DELTA_MAX, 1 << 27, 1ULL << 46,
	};
	struct rbt *w = test->priv;
	struct ring_buffer_event *rec;
	struct layout_got got;
	struct rbt_page page;
	unsigned int i, k;
	u32 num;

	rbt_step = 0;
	for (i = 0; i < ARRAY_SIZE(pauses) * ARRAY_SIZE(pauses); i++) {
		u64 a = pauses[i % ARRAY_SIZE(pauses)], b = pauses[i / ARRAY_SIZE(pauses)];
		/* The sum of the pauses behind the last absolute stamp. */
		u64 sum = (a >> 46 ? 0 : a) + b;

		for (k = 4; k < 200; k += 160) {
			rbt_open(w, 2, RB_FL_OVERWRITE);
			rbt_write(w, 12);
			rbt_now += a;
			rec = rbt_must_reserve(w, k, &num);
			rbt_now += b;
			__preempt_count_add(SOFTIRQ_OFFSET);
			rbt_write_n(w, 12, 2);
			__preempt_count_sub(SOFTIRQ_OFFSET);
			rbt_discard(w, rec, num);
			KUNIT_ASSERT_TRUE(test, layout_read(w, &page, &got));
			KUNIT_EXPECT_EQ(test, page.records, 3U);
			KUNIT_EXPECT_EQ(test, page.absolutes, (a >> 46) + (b >> 46));
			KUNIT_EXPECT_EQ(test, page.extends,
					(unsigned int)(!(b >> 46) && sum > RB_DELTA_MAX));
			KUNIT_EXPECT_EQ(test, page.bytes, 3 * layout_total(12) +
					8 * (page.extends + page.absolutes));
			KUNIT_EXPECT_EQ(test, page.bytes % 4, 0U);
		}
	}
}

/* Behind a discarded last record the page has its old content. */
static void layout_test_discard_last(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct ring_buffer_event *rec;
	unsigned int i;
	u32 num;

	rbt_step = RB_DELTA_MAX;
	rbt_open(w, 2, RB_FL_OVERWRITE);
	for (i = 0; i < 6; i++) {
		rbt_write_n(w, 900, 8);
		while (rbt_consume(w))
			;
		rbt_write(w, 900);
		rec = rbt_must_reserve(w, 900, &num);
		__preempt_count_add(SOFTIRQ_OFFSET);
		/* It goes to the next sub-buffer. */
		rbt_write(w, 3000);
		__preempt_count_sub(SOFTIRQ_OFFSET);
		rbt_discard(w, rec, num);
		/* To read the page would put a new one in its place. */
		KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->buffer, w->cpu), 2UL);
		KUNIT_EXPECT_EQ(test, ring_buffer_bytes_cpu(w->buffer, w->cpu),
				(unsigned long)layout_total(900) + layout_total(3000));
	}
	rbt_account(w);
}

/* A record that is too long leaves the page as it is, with any kind of stamp. */
static void layout_test_too_long(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct layout_got got;
	struct rbt_page page;
	u32 num, abs;

	for (abs = 0; abs < 2; abs++) {
		rbt_open(w, 3, RB_FL_OVERWRITE);
		ring_buffer_set_time_stamp_abs(w->buffer, abs);
		rbt_write(w, 8);
		KUNIT_EXPECT_NULL(test, rbt_reserve(w, 2 * PAGE_SIZE, &num));
		rbt_write(w, 8);
		KUNIT_ASSERT_TRUE(test, layout_read(w, &page, &got));
		KUNIT_EXPECT_EQ(test, page.records, 2U);
	}
}

static void layout_interrupt(enum rb_race point, const char *name)
{
	if (point != RB_RACE_CLOCK || in_hardirq() || !layout_interrupts)
		return;
	layout_interrupts--;
	__preempt_count_add(HARDIRQ_OFFSET);
	rbt_write(layout_writer, 8);
	__preempt_count_sub(HARDIRQ_OFFSET);
}

/* A record that needs no stamp, then one that @hook comes into, and @n interrupts that write. */
static void layout_write_under(struct rbt *w, void (*hook)(enum rb_race point, const char *name),
			       unsigned int n)
{
	rbt_open(w, 2, RB_FL_OVERWRITE);
	rbt_step = 0;
	rbt_write(w, 8);
	layout_writer = w;
	layout_interrupts = n;
	WRITE_ONCE(rb_race_hook, hook);
	rbt_write(w, 8);
	WRITE_ONCE(rb_race_hook, NULL);
}

/* Interrupts at the same time: none of the records needs a stamp. */
static void layout_test_same_time(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct layout_got got;
	struct rbt_page page;

	layout_write_under(w, layout_interrupt, 2);
	KUNIT_ASSERT_TRUE(test, layout_read(w, &page, &got));
	KUNIT_EXPECT_EQ(test, page.records, 4U);
	KUNIT_EXPECT_EQ(test, page.bytes, 4 * layout_total(8));
}

/* The first look at the clock is in vain, the second one comes as late as a delta allows. */
static void layout_late(enum rb_race point, const char *name)
{
	if (point != RB_RACE_LOOKED || in_hardirq())
		return;
	if (!layout_interrupts) {
		rbt_now += RB_DELTA_MAX;
		return;
	}
	layout_interrupts--;
	__preempt_count_add(HARDIRQ_OFFSET);
	rbt_write(layout_writer, 8);
	__preempt_count_sub(HARDIRQ_OFFSET);
}

static void layout_test_late(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct layout_got got;
	struct rbt_page page;

	layout_write_under(w, layout_late, 1);
	KUNIT_ASSERT_TRUE(test, layout_read(w, &page, &got));
	KUNIT_EXPECT_EQ(test, w->recs[1].time - w->recs[2].time, (u64)RB_DELTA_MAX);
	KUNIT_EXPECT_EQ(test, page.records, 3U);
	KUNIT_EXPECT_EQ(test, page.bytes, 3 * layout_total(8));
}

/* A page without room for the number says only that there were losses. */
static void layout_test_missed_full(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct layout_got got;
	struct rbt_page page;

	rbt_open(w, 2, RB_FL_OVERWRITE);
	rbt_write_n(w, ring_buffer_max_event_size(w->buffer), 4);
	KUNIT_ASSERT_TRUE(test, layout_read(w, &page, &got));
	KUNIT_EXPECT_TRUE(test, page.missed);
	KUNIT_EXPECT_FALSE(test, page.stored);
	KUNIT_EXPECT_EQ(test, page.records, 1U);
	KUNIT_ASSERT_TRUE(test, layout_read(w, &page, &got));
	KUNIT_EXPECT_FALSE(test, page.missed);
	KUNIT_EXPECT_EQ(test, page.records, 1U);
	KUNIT_EXPECT_FALSE(test, layout_read(w, &page, &got));
}

/* Parsers outside the kernel go by these texts. */
static void layout_test_texts(struct kunit *test)
{
	static const char * const header[] = {
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;",
		"\tfield: char overwrite;\toffset:8;\tsize:1;",
	};
	static const char * const entry[] = {
		"\ttype_len    :    5 bits\n", "\ttime_delta  :   27 bits\n",
		"\tarray       :   32 bits\n", "\tpadding     : type == 29\n",
		"\ttime_extend : type == 30\n", "\ttime_stamp : type == 31\n",
		"\tdata max type_len  == 28\n",
	};
	struct trace_seq *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct rbt *w = test->priv;
	unsigned int i;
	char want[64];

	KUNIT_ASSERT_NOT_NULL(test, s);
	rbt_open(w, 2, RB_FL_OVERWRITE);
	trace_seq_init(s);
	KUNIT_EXPECT_NE(test, ring_buffer_print_page_header(w->buffer, s), 0);
	trace_seq_putc(s, 0);
	for (i = 0; i < ARRAY_SIZE(header); i++)
		KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(s->buffer, header[i]), "%s", header[i]);
	snprintf(want, sizeof(want), "\tfield: char data;\toffset:%zu;\tsize:%zu;",
		 8 + sizeof(long), (size_t)PAGE_SIZE - 8 - sizeof(long));
	KUNIT_EXPECT_NOT_NULL(test, strstr(s->buffer, want));
	snprintf(want, sizeof(want), "\tfield: local_t commit;\toffset:8;\tsize:%zu;",
		 sizeof(long));
	KUNIT_EXPECT_NOT_NULL(test, strstr(s->buffer, want));

	trace_seq_init(s);
	KUNIT_EXPECT_NE(test, ring_buffer_print_entry_header(s), 0);
	trace_seq_putc(s, 0);
	for (i = 0; i < ARRAY_SIZE(entry); i++)
		KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(s->buffer, entry[i]), "%s", entry[i]);
}

static struct kunit_case layout_test_cases[] = {
	KUNIT_CASE_PARAM(layout_test_length, layout_len_gen_params),
	KUNIT_CASE(layout_test_lengths),
	KUNIT_CASE_PARAM(layout_test_delta, layout_delta_gen_params),
	KUNIT_CASE(layout_test_absolute),
	KUNIT_CASE(layout_test_discard),
	KUNIT_CASE(layout_test_discard_first),
	KUNIT_CASE(layout_test_discard_under),
	KUNIT_CASE(layout_test_discard_last),
	KUNIT_CASE(layout_test_too_long),
	KUNIT_CASE(layout_test_same_time),
	KUNIT_CASE(layout_test_late),
	KUNIT_CASE(layout_test_missed_full),
	KUNIT_CASE(layout_test_texts),
	{}
};

RBT_SUITE(layout);
