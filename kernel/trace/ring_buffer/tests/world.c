// SPDX-License-Identifier: GPL-2.0
/*
 * Shared by all suites: see world.h.
 */
#include <linux/sort.h>

#include "world.h"

u64 rbt_step, rbt_now;

/* The clock's answer to each write in progress, an inner one behind its outer. */
static u64 rbt_answer[RBT_DEPTH];
static unsigned int rbt_depth;

static u64 rbt_clock(void)
{
	rbt_now += rbt_step;
	rbt_answer[rbt_depth] = rbt_now;
	return rbt_now;
}

/* Make a world, the priv of @test then, without a buffer yet. Without memory the test ends. */
int rbt_init(struct kunit *test)
{
	struct rbt *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->test = test;
	w->recs = kunit_kcalloc(test, RBT_RECORDS, sizeof(*w->recs), GFP_KERNEL);
	w->seen = kunit_kcalloc(test, RBT_RECORDS, sizeof(*w->seen), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w->recs);
	KUNIT_ASSERT_NOT_NULL(test, w->seen);
	test->priv = w;
	rbt_step = 1;
	rbt_now = 1000;
	rbt_depth = 0;
	/* The tests are about the CPU that they run on, the first one of a buffer. */
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	return 0;
}

void rbt_exit(struct kunit *test)
{
	struct rbt *w = test->priv;

	rb_race_hook = NULL;
	if (!w)
		return;
	rbt_close(w);
}

/* Report the first fault of a test. */
void rbt_fail(struct rbt *w, const char *fmt, ...)
{
	char text[160];
	va_list args;

	if (w->failed)
		return;
	w->failed = true;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	KUNIT_FAIL(w->test, "%s: %s", w->what, text);
}

static struct trace_buffer *
rbt_alloc(struct rbt *w, unsigned int subbufs, unsigned int flags)
{
	struct trace_buffer *buffer;

	buffer = ring_buffer_alloc((unsigned long)subbufs * rb_subbuf_room(0), flags);
	KUNIT_ASSERT_NOT_NULL(w->test, buffer);
	ring_buffer_set_clock(buffer, rbt_clock);
	return buffer;
}

/* Make a new buffer with rings of @subbufs sub-buffers, and forget all that was written. */
void rbt_open(struct rbt *w, unsigned int subbufs, unsigned int flags)
{
	rbt_close(w);
	w->buffer = rbt_alloc(w, subbufs, flags);
	w->nr = 0;
	w->nr_seen = 0;
	w->swapped = false;
	memset(w->recs, 0, RBT_RECORDS * sizeof(*w->recs));
}

/* Make a second buffer, to swap with. */
void rbt_open_other(struct rbt *w, unsigned int subbufs, unsigned int flags)
{
	w->other = rbt_alloc(w, subbufs, flags);
}

/* Two new buffers of the same shape. */
void rbt_open_two(struct rbt *w, unsigned int subbufs, unsigned int flags)
{
	rbt_open(w, subbufs, flags);
	rbt_open_other(w, subbufs, flags);
}

/* Go on with another buffer, of the same records; rbt_close() frees it. */
void rbt_use(struct rbt *w, struct trace_buffer *buffer)
{
	KUNIT_ASSERT_NOT_NULL(w->test, buffer);
	rbt_close(w);
	w->buffer = buffer;
	ring_buffer_set_clock(buffer, rbt_clock);
}

void rbt_close(struct rbt *w)
{
	if (w->buffer)
		ring_buffer_free(w->buffer);
	if (w->other)
		ring_buffer_free(w->other);
	w->buffer = NULL;
	w->other = NULL;
}

/* ring_buffer_cut_all() of one buffer. */
int rbt_cut(struct trace_buffer *live, struct trace_buffer *spare, int cpu)
{
	const struct ring_buffer_cut one = { .live = live, .spare = spare };

	return ring_buffer_cut_all(&one, cpu);
}

/* Byte @i of the payload of record @num; the first four are the number. */
static u8 rbt_byte(u32 num, unsigned int i)
{
	return i < sizeof(num) ? ((u8 *)&num)[i] : num * 37 + i * 11 + (i >> 8);
}

/**
 * rbt_reserve() - begin a record
 * @w:   the world
 * @len: bytes of payload, at least 4
 * @num: where its number is returned
 *
 * Context: Any context.
 * Return: the record, or NULL if there was no place.
 */
struct ring_buffer_event *rbt_reserve(struct rbt *w, unsigned int len, u32 *num)
{
	struct ring_buffer_event *rec;
	struct rbt_rec *r;
	unsigned int i;
	u8 *payload;

	if (w->nr == RBT_RECORDS || rbt_depth + 1 == RBT_DEPTH) {
		rbt_fail(w, "the test writes too much");
		return NULL;
	}
	*num = w->nr++;
	r = &w->recs[*num];
	r->len = len;
	r->state = RBT_REFUSED;

	rbt_depth++;
	rec = ring_buffer_lock_reserve(w->buffer, len);
	if (rec)
		r->time = rbt_answer[rbt_depth];
	rbt_depth--;
	if (!rec)
		return NULL;

	r->state = RBT_OPEN;
	if (ring_buffer_event_time_stamp(w->buffer, rec) != r->time)
		rbt_fail(w, "record %u has the time %llu, its clock said %llu", *num,
			 ring_buffer_event_time_stamp(w->buffer, rec), r->time);
	payload = ring_buffer_event_data(rec);
	for (i = 0; i < len; i++)
		payload[i] = rbt_byte(*num, i);
	return rec;
}

/* As rbt_reserve(); the test ends if there is no room. */
struct ring_buffer_event *rbt_must_reserve(struct rbt *w, unsigned int len, u32 *num)
{
	struct ring_buffer_event *rec = rbt_reserve(w, len, num);

	KUNIT_ASSERT_NOT_NULL(w->test, rec);
	return rec;
}

void rbt_commit(struct rbt *w, struct ring_buffer_event *rec, u32 num)
{
	w->recs[num].state = RBT_WRITTEN;
	ring_buffer_unlock_commit(w->buffer);
}

void rbt_discard(struct rbt *w, struct ring_buffer_event *rec, u32 num)
{
	w->recs[num].state = RBT_TAKEN_BACK;
	ring_buffer_discard_commit(w->buffer, rec);
}

/* Write a record of @len bytes, at least 4. Return: false if it was refused. */
bool rbt_write(struct rbt *w, unsigned int len)
{
	struct ring_buffer_event *rec;
	u32 num;

	rec = rbt_reserve(w, len, &num);
	if (rec)
		rbt_commit(w, rec, num);
	return rec;
}

void rbt_write_n(struct rbt *w, unsigned int len, unsigned int n)
{
	while (n--)
		rbt_write(w, len);
}

/* Return: how many records of @len bytes of payload a sub-buffer holds. */
unsigned int rbt_room_for(struct rbt *w, unsigned int len)
{
	return rb_subbuf_room(w->buffer->order) / rb_record_len(len);
}

/* The test ends if it cannot have @subbufs sub-buffers. */
void rbt_resize(struct rbt *w, unsigned int subbufs)
{
	unsigned long size = subbufs * (unsigned long)rb_subbuf_room(w->buffer->order);

	KUNIT_ASSERT_EQ(w->test, ring_buffer_resize(w->buffer, size, w->cpu), 0);
}

/* A page to read into; the test ends without one. */
struct buffer_data_read_page *rbt_page(struct rbt *w, struct trace_buffer *buffer)
{
	struct buffer_data_read_page *rpage = NULL;

	KUNIT_ASSERT_EQ(w->test, ring_buffer_alloc_read_page(buffer, w->cpu, &rpage), 0);
	return rpage;
}

/* There is no record, and none is counted. */
void rbt_expect_empty(struct rbt *w, struct trace_buffer *buffer)
{
	KUNIT_EXPECT_TRUE(w->test, ring_buffer_empty(buffer));
	KUNIT_EXPECT_EQ(w->test, ring_buffer_entries(buffer), 0UL);
	KUNIT_EXPECT_EQ(w->test, ring_buffer_overruns(buffer), 0UL);
	KUNIT_EXPECT_EQ(w->test, ring_buffer_commit_overrun_cpu(buffer, w->cpu), 0UL);
	KUNIT_EXPECT_EQ(w->test, ring_buffer_dropped_events_cpu(buffer, w->cpu), 0UL);
	KUNIT_EXPECT_EQ(w->test, ring_buffer_read_events_cpu(buffer, w->cpu), 0UL);
	KUNIT_EXPECT_EQ(w->test, ring_buffer_bytes_cpu(buffer, w->cpu), 0UL);
	KUNIT_EXPECT_EQ(w->test, ring_buffer_oldest_event_ts(buffer, w->cpu), 0ULL);
	KUNIT_EXPECT_NULL(w->test, ring_buffer_consume(buffer, w->cpu, NULL, NULL));
}

/* The ring that is written; the caller sees to it that it stays. */
struct rb_ring *rbt_ring(struct rbt *w)
{
	return rb_untag(w->buffer->cpus[w->cpu]->ring);
}

/**
 * rbt_check() - is this a record that was written?
 * @w:       the world
 * @payload: its payload
 * @ts:      its time
 *
 * Context: Any context.
 * Return: its number; a fault is reported.
 */
u32 rbt_check(struct rbt *w, const void *payload, u64 ts)
{
	const u8 *byte = payload;
	struct rbt_rec *r;
	unsigned int i;
	u32 num;

	memcpy(&num, payload, sizeof(num));
	if (num >= w->nr) {
		rbt_fail(w, "data: there is no record %u", num);
		return 0;
	}
	r = &w->recs[num];
	if (r->state != RBT_WRITTEN && r->state != RBT_READ)
		rbt_fail(w, "hidden: record %u is seen in state %u", num, r->state);
	for (i = 0; i < r->len; i++) {
		if (byte[i] != rbt_byte(num, i)) {
			rbt_fail(w, "data: record %u differs at byte %u", num, i);
			break;
		}
	}
	if (ts != r->time)
		rbt_fail(w, "time: record %u of %llu is seen at %llu", num, r->time, ts);
	return num;
}

/* @rec is record @num, with its time; the test ends if it is NULL. */
void rbt_expect(struct rbt *w, struct ring_buffer_event *rec, u64 ts, u32 num)
{
	KUNIT_ASSERT_NOT_NULL(w->test, rec);
	KUNIT_EXPECT_EQ(w->test, rbt_check(w, ring_buffer_event_data(rec), ts), num);
}

/* Note that record @num was consumed. Return: false if it was consumed before. */
static bool rbt_note_read(struct rbt *w, u32 num, unsigned long lost, bool late)
{
	if (w->recs[num].state == RBT_READ) {
		rbt_fail(w, "twice: record %u was consumed before", num);
		return false;
	}
	w->recs[num].state = RBT_READ;
	w->seen[w->nr_seen++] = (struct rbt_seen){ num, lost, late };
	return true;
}

static bool rbt_consume_of(struct rbt *w, struct trace_buffer *buffer)
{
	struct ring_buffer_event *rec;
	bool late = w->swapped && buffer == w->buffer;
	unsigned long lost = ~0UL;
	u64 ts = 0;
	u32 num;

	rec = ring_buffer_consume(buffer, w->cpu, &ts, &lost);
	if (!rec || w->failed)
		return false;
	num = rbt_check(w, ring_buffer_event_data(rec), ts);
	return rbt_note_read(w, num, lost, late);
}

/* Consume a record and check it. Return: false if there was none. */
bool rbt_consume(struct rbt *w)
{
	return rbt_consume_of(w, w->buffer);
}

/* Up to @n records. */
void rbt_consume_n(struct rbt *w, unsigned int n)
{
	while (n-- && rbt_consume(w))
		;
}

/* An iterator; the test ends without one. */
struct ring_buffer_iter *rbt_iter(struct rbt *w, struct trace_buffer *buffer)
{
	struct ring_buffer_iter *iter = ring_buffer_read_start(buffer, w->cpu, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(w->test, iter);
	return iter;
}

/* Expect all records from number @from on. Return: the number behind the last one, at most @end. */
u32 rbt_iterate(struct rbt *w, struct ring_buffer_iter *iter, u32 from, u32 end)
{
	struct ring_buffer_event *rec;
	u64 ts;

	while (from < end && !w->failed && (rec = ring_buffer_iter_peek(iter, &ts))) {
		rbt_expect(w, rec, ts, from++);
		if (ring_buffer_iter_dropped(iter))
			rbt_fail(w, "lost: some in front of record %u", from - 1);
		ring_buffer_iter_advance(iter);
	}
	return from;
}

struct rbt_take {
	struct rbt	*w;
	unsigned long	lost;
	bool		late;
};

static void rbt_take_record(void *data, const void *rec, const void *payload, unsigned int max,
			    u64 time)
{
	struct rbt_take *take = data;
	struct rbt *w = take->w;
	u32 num;

	if (w->failed)
		return;
	num = rbt_check(w, payload, time);
	if (!rbt_note_read(w, num, take->lost, take->late))
		return;
	if (w->recs[num].len > max)
		rbt_fail(w, "data: record %u of %u bytes has %u", num, w->recs[num].len, max);
	take->lost = 0;
}

/**
 * rbt_take_page() - parse a page that was read, and note its records
 * @w:     the world
 * @rpage: the page
 * @late:  a swap had brought the ring that it was read from
 * @page:  receives its content
 *
 * Context: Any context.
 */
void rbt_take_page(struct rbt *w, struct buffer_data_read_page *rpage, bool late,
		   struct rbt_page *page)
{
	const void *memory = ring_buffer_read_page_data(rpage);
	unsigned int size = ring_buffer_read_page_size(rpage);
	struct rbt_take take = { .w = w, .late = late };
	const void *rest;

	/* First how many were lost: it stands behind the records. */
	if (!rbt_parse(memory, size, page, NULL, NULL)) {
		rbt_fail(w, "page: there is no page of records");
		return;
	}
	rest = memory + RB_PAGE_HDR + page->bytes + (page->stored ? sizeof(page->lost) : 0);
	if (memchr_inv(rest, 0, memory + size - rest))
		rbt_fail(w, "page: something is left behind the records");
	take.lost = page->lost;
	rbt_parse(memory, size, page, rbt_take_record, &take);
}

/* A reset has dropped all records. */
void rbt_drop_all(struct rbt *w)
{
	u32 i;

	for (i = 0; i < w->nr; i++)
		w->recs[i].state = RBT_GONE;
	w->nr_seen = 0;
}

/* Return: how many records are in @state. */
u32 rbt_count(struct rbt *w, enum rbt_state state)
{
	u32 n = 0, i;

	for (i = 0; i < w->nr; i++)
		n += w->recs[i].state == state;
	return n;
}

static int rbt_by_time(const void *a, const void *b, const void *priv)
{
	const struct rbt *w = priv;
	u64 x = w->recs[*(const u32 *)a].time, y = w->recs[*(const u32 *)b].time;

	return x < y ? -1 : x > y;
}

/* Numbers of the written records, by time. */
static u32 rbt_sort(struct rbt *w, u32 *by_time)
{
	u32 n = 0, i;

	for (i = 0; i < w->nr; i++) {
		if (w->recs[i].state == RBT_WRITTEN || w->recs[i].state == RBT_READ)
			by_time[n++] = i;
	}
	sort_r(by_time, n, sizeof(*by_time), rbt_by_time, NULL, w);
	return n;
}

/**
 * rbt_account() - read the rest, and account for every record
 * @w: the world; no write is in progress
 *
 * In the order of their times, each written record was consumed, or is one of those
 * that the reader reported as lost in front of the next one. The statistics agree.
 *
 * Context: May sleep.
 */
void rbt_account(struct rbt *w)
{
	struct trace_buffer *buffers[] = { w->swapped ? w->other : NULL, w->buffer };
	unsigned long overrun = 0, read = 0, told = 0, refused = 0;
	u32 *by_time, n, at, i;

	/* The ring that was swapped out is older than the other one. */
	for (i = 0; i < ARRAY_SIZE(buffers); i++) {
		if (!buffers[i])
			continue;
		while (rbt_consume_of(w, buffers[i]))
			;
		overrun += ring_buffer_overrun_cpu(buffers[i], w->cpu);
		read += ring_buffer_read_events_cpu(buffers[i], w->cpu);
		refused += ring_buffer_dropped_events_cpu(buffers[i], w->cpu) +
			   ring_buffer_commit_overrun_cpu(buffers[i], w->cpu);
		if (ring_buffer_entries_cpu(buffers[i], w->cpu))
			rbt_fail(w, "stat: %lu entries are left",
				 ring_buffer_entries_cpu(buffers[i], w->cpu));
	}
	for (i = 0; i < w->nr_seen; i++)
		told += w->seen[i].lost;
	if (w->failed)
		return;

	by_time = kmalloc_array(w->nr + 1, sizeof(*by_time), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(w->test, by_time);
	n = rbt_sort(w, by_time);

	if (told != overrun)
		rbt_fail(w, "lost_events: %lu are told, %lu were overwritten", told, overrun);
	at = 0;
	for (i = 0; i < 2 * w->nr_seen; i++) {
		const struct rbt_seen *seen = &w->seen[i % w->nr_seen];

		/* The older ring first, in any order of reading. */
		if (seen->late ? i < w->nr_seen : i >= w->nr_seen)
			continue;
		at += seen->lost;
		if (at >= n) {
			rbt_fail(w, "lost_events: %u of %u records, read or lost", at + 1, n);
			break;
		}
		if (by_time[at] != seen->num) {
			rbt_fail(w, "order: record %u (lost %lu) where %u has to come",
				 seen->num, seen->lost, by_time[at]);
			break;
		}
		at++;
	}
	if (at != n)
		rbt_fail(w, "loss: %u of %u records are accounted for, %lu overwritten, %lu told",
			 at, n, overrun, told);
	if (read != w->nr_seen || read + overrun != n)
		rbt_fail(w, "stat: %u written, %lu read, %lu overwritten", n, read, overrun);
	if (refused != rbt_count(w, RBT_REFUSED))
		rbt_fail(w, "stat: %lu refused are counted, not %u", refused,
			 rbt_count(w, RBT_REFUSED));
	kfree(by_time);
}
