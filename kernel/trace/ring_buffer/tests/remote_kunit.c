// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers that are written elsewhere. The remote is simple_ring_buffer.c here, with a clock of the
 * test, so that each record can be accounted for.
 */
#include <linux/gfp.h>
#include <linux/simple_ring_buffer.h>
#include <linux/trace_seq.h>

#include "world.h"

/* Pages of the remote, with the reader's */
#define PAGES	5

struct remote {
	struct kunit			*test;
	struct trace_buffer		*buffer;
	int				cpu;
	struct ring_buffer_remote	from;
	struct simple_rb_per_cpu	rb;
	u64				now;		/* clock of the remote */
	u64				step;		/* of the clock, for each record */
	u32				written;	/* records since the last reset */
	u32				next;		/* record that is to be read next */
	unsigned int			swaps;
	bool				refuses;
};

static int remote_swap(unsigned int cpu, void *priv)
{
	struct remote *r = priv;

	KUNIT_EXPECT_EQ(r->test, cpu, (unsigned int)r->cpu);
	r->swaps++;
	return r->refuses ? -EBUSY : simple_ring_buffer_swap_reader_page(&r->rb);
}

static int remote_reset(unsigned int cpu, void *priv)
{
	struct remote *r = priv;

	KUNIT_EXPECT_EQ(r->test, cpu, (unsigned int)r->cpu);
	return r->refuses ? -EBUSY : simple_ring_buffer_reset(&r->rb);
}

static void remote_free_page(void *page)
{
	free_page((unsigned long)page);
}

static unsigned long remote_page(struct kunit *test)
{
	void *page = (void *)__get_free_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	memset(page, 0x5a, PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, remote_free_page, page), 0);
	return (unsigned long)page;
}

static void remote_open(struct remote *r)
{
	r->buffer = ring_buffer_alloc_remote(&r->from);
	KUNIT_ASSERT_NOT_NULL(r->test, r->buffer);
}

static void remote_close(struct remote *r)
{
	if (r->buffer)
		ring_buffer_free(r->buffer);
	r->buffer = NULL;
}

static int remote_init(struct kunit *test)
{
	struct remote *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct simple_buffer_page *bpages;
	struct trace_buffer_desc *desc;
	struct ring_buffer_desc *ring;

	KUNIT_ASSERT_NOT_NULL(test, r);
	test->priv = r;
	r->test = test;
	/* Perhaps it is offline. */
	r->cpu = cpumask_last(cpu_possible_mask);
	r->now = 1000;
	r->step = 100;

	bpages = kunit_kcalloc(test, PAGES, sizeof(*bpages), GFP_KERNEL);
	desc = kunit_kzalloc(test, sizeof(*desc) + struct_size(ring, page_va, PAGES), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bpages);
	KUNIT_ASSERT_NOT_NULL(test, desc);
	desc->nr_cpus = 1;
	desc->struct_len = sizeof(*desc) + struct_size(ring, page_va, PAGES);
	ring = __first_ring_buffer_desc(desc);
	ring->cpu = r->cpu;
	ring->meta_va = remote_page(test);
	while (ring->nr_page_va < PAGES) {
		ring->nr_page_va++;
		ring->page_va[ring->nr_page_va - 1] = remote_page(test);
	}
	KUNIT_ASSERT_EQ(test, simple_ring_buffer_init(&r->rb, bpages, ring), 0);
	KUNIT_ASSERT_EQ(test, simple_ring_buffer_enable_tracing(&r->rb, true), 0);

	r->from = (struct ring_buffer_remote){
		.desc			= desc,
		.swap_reader_page	= remote_swap,
		.reset			= remote_reset,
		.priv			= r,
	};
	remote_open(r);
	return 0;
}

static void remote_exit(struct kunit *test)
{
	remote_close(test->priv);
}

static unsigned int remote_len(u32 num)
{
	return sizeof(num) + num * 7 % 29;
}

static u64 remote_time(struct remote *r, u32 num)
{
	return 1000 + r->step * (num + 1ULL);
}

/* Write a record of @len bytes: its number, and bytes that follow from it. */
static void remote_write_len(struct remote *r, unsigned int len)
{
	u8 *data;

	r->now += r->step;
	data = simple_ring_buffer_reserve(&r->rb, len, r->now);
	KUNIT_ASSERT_NOT_NULL(r->test, data);
	memset(data, r->written % 251, len);
	memcpy(data, &r->written, sizeof(r->written));
	simple_ring_buffer_commit(&r->rb);
	r->written++;
}

static void remote_write(struct remote *r, unsigned int n)
{
	while (n--)
		remote_write_len(r, remote_len(r->written));
}

static void remote_poll(struct remote *r)
{
	KUNIT_EXPECT_EQ(r->test, ring_buffer_poll_remote(r->buffer, r->cpu), 0);
}

/* Is @rec record @num? Its length is rounded up. */
static void remote_check(struct remote *r, struct ring_buffer_event *rec, u64 ts, u32 num)
{
	u8 *data = ring_buffer_event_data(rec);
	unsigned int len = remote_len(num);
	u32 got;

	memcpy(&got, data, sizeof(got));
	KUNIT_ASSERT_EQ(r->test, got, num);
	KUNIT_EXPECT_EQ(r->test, ts, remote_time(r, num));
	KUNIT_EXPECT_GE(r->test, ring_buffer_event_length(rec), len);
	KUNIT_EXPECT_LT(r->test, ring_buffer_event_length(rec), len + RB_RECORD_ALIGN);
	KUNIT_EXPECT_NULL(r->test, memchr_inv(data + sizeof(got), num % 251, len - sizeof(got)));
}

/* Consume @n records, and what is there if it is U32_MAX. Return: how many were lost. */
static u32 remote_consume(struct remote *r, u32 n)
{
	struct ring_buffer_event *rec, *seen;
	unsigned long lost, before;
	u32 all = 0;
	u64 ts;

	while (n-- && !ring_buffer_empty_cpu(r->buffer, r->cpu)) {
		seen = ring_buffer_peek(r->buffer, r->cpu, &ts, &before);
		KUNIT_ASSERT_NOT_NULL(r->test, seen);
		rec = ring_buffer_consume(r->buffer, r->cpu, &ts, &lost);
		KUNIT_ASSERT_NOT_NULL(r->test, rec);
		KUNIT_EXPECT_EQ(r->test, lost, before);
		all += lost;
		r->next += lost;
		remote_check(r, rec, ts, r->next++);
	}
	return all;
}

/* Each record was read, is there, or is counted as overwritten. */
static void remote_account(struct remote *r, u32 read)
{
	unsigned long overrun = ring_buffer_overrun_cpu(r->buffer, r->cpu);

	KUNIT_EXPECT_EQ(r->test, ring_buffer_read_events_cpu(r->buffer, r->cpu),
			(unsigned long)read);
	KUNIT_EXPECT_EQ(r->test, read + overrun + ring_buffer_entries_cpu(r->buffer, r->cpu),
			(unsigned long)r->written);
}

/* All records come once, with their times, also those that come to a page that was read before. */
static void remote_test_consume(struct kunit *test)
{
	struct remote *r = test->priv;
	unsigned int i;

	KUNIT_EXPECT_TRUE(test, ring_buffer_empty(r->buffer));
	for (i = 0; i < 60; i++) {
		remote_write(r, i);
		remote_poll(r);
		KUNIT_EXPECT_EQ(test, ring_buffer_entries(r->buffer), (unsigned long)i);
		KUNIT_EXPECT_EQ(test, remote_consume(r, U32_MAX), 0U);
		KUNIT_EXPECT_EQ(test, r->next, r->written);
		remote_account(r, r->written);
	}
	/* It is asked for a page only if there is one. */
	i = r->swaps;
	remote_poll(r);
	KUNIT_EXPECT_EQ(test, r->swaps, i);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty(r->buffer));
}

/* Records that are overwritten, there or here, are told as lost. */
static void remote_test_lost(struct kunit *test)
{
	struct remote *r = test->priv;
	u32 lost, read = 0, i;

	remote_write(r, 1500);
	remote_poll(r);
	lost = r->rb.meta->overrun;
	KUNIT_EXPECT_GT(test, lost, 0U);
	KUNIT_EXPECT_EQ(test, ring_buffer_overrun_cpu(r->buffer, r->cpu), (unsigned long)lost);
	remote_account(r, 0);
	KUNIT_EXPECT_EQ(test, remote_consume(r, 1), lost);
	KUNIT_EXPECT_EQ(test, remote_consume(r, U32_MAX), 0U);
	read = r->written - lost;
	remote_account(r, read);

	/* Looked at now and then, and hardly read. */
	for (i = 0; i < 40; i++) {
		remote_write(r, 37 * i % 900);
		remote_poll(r);
		remote_account(r, read);
		if (i % 8 == 7) {
			lost = remote_consume(r, 10);
			read += 10;
			remote_account(r, read);
		}
	}
	remote_consume(r, U32_MAX);
	KUNIT_EXPECT_EQ(test, r->next, r->written);
}

/* All that the remote has fits. */
static void remote_test_room(struct kunit *test)
{
	struct remote *r = test->priv;

	remote_write(r, 5);
	remote_poll(r);
	while (!r->rb.meta->overrun)
		remote_write(r, 1);
	remote_poll(r);
	KUNIT_EXPECT_EQ(test, ring_buffer_overrun_cpu(r->buffer, r->cpu),
			(unsigned long)r->rb.meta->overrun);
	KUNIT_EXPECT_EQ(test, remote_consume(r, U32_MAX), (u32)r->rb.meta->overrun);
	KUNIT_EXPECT_EQ(test, r->next, r->written);
}

static u32 remote_iterate(struct remote *r, u32 from)
{
	struct ring_buffer_event *rec;
	struct ring_buffer_iter *iter;
	u64 ts;

	iter = ring_buffer_read_start(r->buffer, r->cpu, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(r->test, iter);
	while ((rec = ring_buffer_iter_peek(iter, &ts))) {
		KUNIT_EXPECT_FALSE(r->test, ring_buffer_iter_dropped(iter));
		remote_check(r, rec, ts, from++);
		ring_buffer_iter_advance(iter);
	}
	ring_buffer_read_finish(iter);
	return from;
}

/* An iterator looks by itself, tells of no loss in front of all, and consumes nothing. */
static void remote_test_iterate(struct kunit *test)
{
	struct remote *r = test->priv;
	u32 lost;

	KUNIT_EXPECT_EQ(test, remote_iterate(r, 0), 0U);
	remote_write(r, 3);
	KUNIT_EXPECT_EQ(test, remote_iterate(r, 0), 3U);
	remote_write(r, 30);
	KUNIT_EXPECT_EQ(test, remote_iterate(r, 0), 33U);
	KUNIT_EXPECT_EQ(test, remote_iterate(r, 0), 33U);
	remote_consume(r, 20);
	KUNIT_EXPECT_EQ(test, remote_iterate(r, 20), 33U);

	/* The remote has overwritten some. After a reset it does not write to the reader's page. */
	ring_buffer_reset(r->buffer);
	r->written = 0;
	r->next = 0;
	r->now = 1000;
	remote_write(r, 3000);
	remote_poll(r);
	lost = ring_buffer_overrun_cpu(r->buffer, r->cpu);
	KUNIT_EXPECT_GT(test, lost, 0U);
	KUNIT_EXPECT_EQ(test, remote_iterate(r, lost), r->written);
	KUNIT_EXPECT_EQ(test, remote_consume(r, U32_MAX), lost);
	KUNIT_EXPECT_EQ(test, remote_iterate(r, 0), 0U);
}

/* Times between which there is a long pause, of lengths that need a stamp in the remote or here. */
static void remote_test_pause(struct kunit *test)
{
	static const u64 steps[] = { 0, 1, RB_DELTA_MAX, RB_DELTA_MAX + 1, 1ULL << 44, 1ULL << 50 };
	struct remote *r = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		r->step = steps[i];
		r->now = 1000;
		remote_write(r, 250);
		remote_poll(r);
		KUNIT_EXPECT_EQ(test, remote_consume(r, U32_MAX), 0U);
		KUNIT_EXPECT_EQ(test, r->next, r->written);
		ring_buffer_reset_cpu(r->buffer, r->cpu);
		r->written = 0;
		r->next = 0;
	}
}

/* A reset erases what was copied and what was not, at any place in a page. */
static void remote_test_reset(struct kunit *test)
{
	struct remote *r = test->priv;
	unsigned int i;

	for (i = 0; i < 12; i++) {
		remote_write(r, 40 * i);
		remote_poll(r);
		remote_consume(r, 25 * i);
		remote_write(r, 60 * (i & 1));
		ring_buffer_reset(r->buffer);
		r->written = 0;
		r->next = 0;
		r->now = 1000;
		remote_poll(r);
		KUNIT_EXPECT_TRUE(test, ring_buffer_empty(r->buffer));
		remote_account(r, 0);
		KUNIT_EXPECT_EQ(test, remote_iterate(r, 0), 0U);
		remote_write(r, 7);
		KUNIT_EXPECT_EQ(test, remote_iterate(r, 0), 7U);
		remote_account(r, 0);
	}

	/* One that the remote refuses erases what is here. */
	remote_consume(r, U32_MAX);
	remote_write(r, 5);
	remote_poll(r);
	remote_write(r, 5);
	r->refuses = true;
	ring_buffer_reset(r->buffer);
	r->refuses = false;
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty(r->buffer));
	remote_poll(r);
	r->next += 5;
	KUNIT_EXPECT_EQ(test, remote_consume(r, U32_MAX), 0U);
	KUNIT_EXPECT_EQ(test, r->next, r->written);
	r->from.reset = NULL;
	ring_buffer_reset(r->buffer);
	remote_write(r, 5);
	remote_poll(r);
	KUNIT_EXPECT_EQ(test, remote_consume(r, U32_MAX), 0U);
	KUNIT_EXPECT_EQ(test, r->next, r->written);
}

/* The remote does not give its page for some time. */
static void remote_test_busy(struct kunit *test)
{
	struct remote *r = test->priv;

	remote_write(r, 5);
	r->refuses = true;
	remote_poll(r);
	KUNIT_EXPECT_EQ(test, r->swaps, 1U);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty(r->buffer));
	r->refuses = false;
	remote_poll(r);
	KUNIT_EXPECT_EQ(test, remote_consume(r, U32_MAX), 0U);
	/* They come to the reader's page. */
	r->refuses = true;
	remote_write(r, 5);
	remote_poll(r);
	KUNIT_EXPECT_EQ(test, remote_consume(r, U32_MAX), 0U);
	KUNIT_EXPECT_EQ(test, r->next, 10U);
}

/* A length that cannot be costs the records behind it, and no others. */
static void remote_test_damage(struct kunit *test)
{
	static const u32 lengths[] = { 0, 3, 5000, U32_MAX, U32_MAX - 3, U32_MAX - 7 };
	struct remote *r = test->priv;
	struct ring_buffer_event *rec;
	u32 was, i, k, got;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		was = r->rb.tail_page->write;
		remote_write(r, 1);
		if (r->rb.tail_page->write < was)
			was = 0;
		rec = (void *)r->rb.tail_page->page->data + was;
		if (rec->type_len)
			rec = (void *)rec + RB_STAMP_LEN;
		rec->array[0] = lengths[i];
		remote_write(r, 1);
		remote_poll(r);
		KUNIT_EXPECT_TRUE(test, ring_buffer_empty(r->buffer));
		r->next = r->written;
		remote_write(r, 3);
		remote_poll(r);
		/* Their times count from one that is not known. */
		for (k = 0; k < 3; k++) {
			rec = ring_buffer_consume(r->buffer, r->cpu, NULL, NULL);
			KUNIT_ASSERT_NOT_NULL(test, rec);
			memcpy(&got, ring_buffer_event_data(rec), sizeof(got));
			KUNIT_EXPECT_EQ(test, got, r->next++);
		}
		KUNIT_EXPECT_EQ(test, r->next, r->written);
	}
}

/* A page that has fewer bytes than a record needs: what is behind them is no record. */
static void remote_test_short(struct kunit *test)
{
	struct remote *r = test->priv;
	struct buffer_data_page *page;
	struct ring_buffer_event *rec;
	u32 bytes;

	for (bytes = 1; bytes < RB_RECORD_HDR + sizeof(u32); bytes++) {
		page = r->rb.reader_page->page;
		rec = (void *)page->data;
		*rec = (struct ring_buffer_event){ .type_len = RINGBUF_TYPE_TIME_EXTEND };
		rec->array[0] = 0;
		rec = (void *)rec + RB_STAMP_LEN;
		*rec = (struct ring_buffer_event){};
		rec->array[0] = 2 * sizeof(u32);
		local_set(&page->commit, bytes);
		remote_poll(r);
		KUNIT_EXPECT_TRUE(test, ring_buffer_empty(r->buffer));
		local_set(&page->commit, 0);
		ring_buffer_reset(r->buffer);
	}
}

/* The longest records are copied whole. */
static void remote_test_long(struct kunit *test)
{
	struct remote *r = test->priv;
	unsigned int most = PAGE_SIZE - BUF_PAGE_HDR_SIZE - 2 * sizeof(u32), i;
	struct ring_buffer_event *rec;
	unsigned long lost;
	u32 got;

	for (i = 0; i < 12; i++) {
		remote_write_len(r, most - i);
		remote_poll(r);
		rec = ring_buffer_consume(r->buffer, r->cpu, NULL, &lost);
		KUNIT_ASSERT_NOT_NULL(test, rec);
		KUNIT_EXPECT_EQ(test, lost, 0UL);
		memcpy(&got, ring_buffer_event_data(rec), sizeof(got));
		KUNIT_EXPECT_EQ(test, got, i);
		KUNIT_EXPECT_GE(test, ring_buffer_event_length(rec), most - i);
	}
}

/* A look wakes those that wait. */
static void remote_test_wait(struct kunit *test)
{
	struct remote *r = test->priv;
	struct rb_wait *wait = &r->buffer->cpu_wait[r->cpu];
	struct rb_cpu *rcpu = rb_get_cpu(r->buffer, r->cpu);
	int seq = atomic_read(&wait->seq);

	KUNIT_EXPECT_EQ(test, (int)ring_buffer_poll_wait(r->buffer, r->cpu, NULL, NULL, 0), 0);
	remote_poll(r);
	irq_work_sync(&rcpu->wake_work);
	KUNIT_EXPECT_EQ(test, atomic_read(&wait->seq), seq);
	remote_write(r, 1);
	KUNIT_EXPECT_EQ(test, ring_buffer_poll_remote(r->buffer, RING_BUFFER_ALL_CPUS), 0);
	irq_work_sync(&rcpu->wake_work);
	KUNIT_EXPECT_EQ(test, atomic_read(&wait->seq), seq + 1);
	KUNIT_EXPECT_NE(test, (int)ring_buffer_poll_wait(r->buffer, r->cpu, NULL, NULL, 0), 0);
}

/* Other CPUs have nothing, and this kernel writes nothing. */
static void remote_test_others(struct kunit *test)
{
	struct remote *r = test->priv;
	int other = r->cpu ? r->cpu - 1 : 1, cpu;
	struct trace_seq *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct ring_buffer_desc *ring = __first_ring_buffer_desc(r->from.desc);

	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_EXPECT_EQ(test, ring_buffer_poll_remote(r->buffer, other), -EINVAL);
	KUNIT_EXPECT_NULL(test, ring_buffer_read_start(r->buffer, other, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, ring_buffer_wait(r->buffer, other, 0, NULL, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, trace_rb_cpu_prepare(other, &r->buffer->node), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_poll_remote(r->buffer, other), -EINVAL);
	for_each_online_cpu(cpu)
		KUNIT_EXPECT_NULL(test, ring_buffer_lock_reserve(r->buffer, 8));

	trace_seq_init(s);
	KUNIT_EXPECT_NE(test, ring_buffer_print_page_header(NULL, s), 0);
	trace_seq_putc(s, 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(s->buffer, "field: char data;"));

	/* Descriptions that cannot be. */
	remote_close(r);
	ring->cpu = nr_cpu_ids;
	KUNIT_EXPECT_NULL(test, ring_buffer_alloc_remote(&r->from));
	ring->cpu = -1;
	KUNIT_EXPECT_NULL(test, ring_buffer_alloc_remote(&r->from));
	ring->cpu = r->cpu;
	ring->nr_page_va = 0;
	KUNIT_EXPECT_NULL(test, ring_buffer_alloc_remote(&r->from));
}

static struct kunit_case remote_test_cases[] = {
	KUNIT_CASE(remote_test_consume),
	KUNIT_CASE(remote_test_lost),
	KUNIT_CASE(remote_test_room),
	KUNIT_CASE(remote_test_iterate),
	KUNIT_CASE(remote_test_pause),
	KUNIT_CASE(remote_test_reset),
	KUNIT_CASE(remote_test_busy),
	KUNIT_CASE(remote_test_damage),
	KUNIT_CASE(remote_test_short),
	KUNIT_CASE(remote_test_long),
	KUNIT_CASE(remote_test_wait),
	KUNIT_CASE(remote_test_others),
	{}
};

static struct kunit_suite remote_test_suite = {
	.name = "ring_buffer_remote",
	.init = remote_init,
	.exit = remote_exit,
	.test_cases = remote_test_cases,
};

kunit_test_suite(remote_test_suite);
