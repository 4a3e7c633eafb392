// SPDX-License-Identifier: GPL-2.0
/*
 * Rings that user space reads in place: the meta page, and operations that are refused
 * meanwhile.
 */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mman.h>

#include "world.h"

#define SUBBUFS		4

/* In the mapping: the ring's, that of its reader, and two for copies. */
#define MAPPED		(SUBBUFS + 3)

static int map_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct rbt *w = file->private_data;

	return ring_buffer_map(w->buffer, w->cpu, vma);
}

static const struct file_operations map_fops = {
	.mmap = map_mmap,
};

/* Map @pages pages. Return: an error, or 0. */
static long map_try(struct rbt *w, unsigned int pages, unsigned long prot, unsigned long flags)
{
	unsigned long addr;
	struct file *file;

	file = anon_inode_getfile("rb_map_test", &map_fops, w, O_RDWR);
	KUNIT_ASSERT_FALSE(w->test, IS_ERR(file));
	addr = kunit_vm_mmap(w->test, file, 0, pages * PAGE_SIZE, prot, flags, 0);
	fput(file);
	if (!addr)
		return -ENOMEM;
	return IS_ERR_VALUE(addr) ? (long)addr : 0;
}

static struct trace_buffer_meta *map_open(struct rbt *w)
{
	struct rb_map *map;

	KUNIT_ASSERT_EQ(w->test, map_try(w, MAPPED + 1, PROT_READ, MAP_SHARED), 0L);
	map = w->buffer->cpus[w->cpu]->map;
	KUNIT_ASSERT_NOT_NULL(w->test, map);
	KUNIT_EXPECT_EQ(w->test, map->meta->nr_subbufs, (u32)MAPPED);
	KUNIT_EXPECT_EQ(w->test, map->meta->subbuf_size, (u32)PAGE_SIZE);
	return map->meta;
}

/* State of a reader of the mapping after its last turn. */
struct map_reader {
	struct rbt	*w;
	u32		id;
	unsigned int	records;
	u64		next;
};

/* One turn: the sub-buffer that it names holds the next records, behind its earlier ones. */
static bool map_turn(struct map_reader *r)
{
	struct rb_map *map = r->w->buffer->cpus[r->w->cpu]->map;
	struct kunit *test = r->w->test;
	struct rbt_page page;
	u64 first;

	KUNIT_ASSERT_EQ(test, ring_buffer_map_get_reader(r->w->buffer, r->w->cpu), 0);
	KUNIT_ASSERT_LT(test, map->meta->reader.id, map->nr);
	if (map->meta->reader.id != r->id) {
		r->id = map->meta->reader.id;
		r->records = 0;
	}
	KUNIT_EXPECT_TRUE(test, rbt_parse(map->pages[r->id], PAGE_SIZE, &page, NULL, NULL));
	if (page.records == r->records)
		return false;
	/* The time of the first one, or of the one before that in the same sub-buffer. */
	first = r->next - r->records;
	KUNIT_EXPECT_GE(test, page.time, r->w->recs[first ? first - 1 : 0].time);
	KUNIT_EXPECT_LE(test, page.time, r->w->recs[first].time);
	r->next += page.records - r->records;
	r->records = page.records;
	return true;
}

/* Turn until there is nothing new. */
static void map_read(struct map_reader *r)
{
	unsigned int turns = 0;

	while (map_turn(r) && !r->w->failed)
		KUNIT_ASSERT_LT(r->w->test, turns++, 2U * MAPPED);
}

/* Records that are read through the mapping count as read; the meta page says where they are. */
static void map_test_read(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct map_reader r = { .w = w, .id = U32_MAX };
	struct trace_buffer_meta *meta;
	unsigned int touched;

	rbt_open(w, SUBBUFS, RB_FL_OVERWRITE);
	rbt_write_n(w, 300, 30);
	meta = map_open(w);
	KUNIT_EXPECT_EQ(test, meta->entries, 30ULL);
	touched = DIV_ROUND_UP(30, rbt_room_for(w, 300)) - 1;
	KUNIT_EXPECT_EQ(test, meta->pages_touched, (u64)touched);
	KUNIT_EXPECT_EQ(test, meta->pages_lost, 0ULL);
	/* A swap brings a ring that somebody may have read, and records to this one. */
	rbt_open_other(w, SUBBUFS, RB_FL_OVERWRITE);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), -EBUSY);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->other, w->buffer, w->cpu), -EBUSY);
	map_read(&r);
	KUNIT_EXPECT_EQ(test, r.next, 30ULL);
	KUNIT_EXPECT_EQ(test, meta->read, 30ULL);
	KUNIT_EXPECT_LT(test, meta->reader.id, SUBBUFS + 1U);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty_cpu(w->buffer, w->cpu));

	/* It stays as it is, and where it is. */
	KUNIT_EXPECT_EQ(test, ring_buffer_resize(w->buffer, 9 * PAGE_SIZE, w->cpu), -EBUSY);
	KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, 1), -EBUSY);

	KUNIT_EXPECT_EQ(test, ring_buffer_unmap(w->buffer, w->cpu), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_unmap(w->buffer, w->cpu), -ENODEV);
	KUNIT_EXPECT_EQ(test, ring_buffer_map_get_reader(w->buffer, w->cpu), -ENODEV);
	KUNIT_EXPECT_EQ(test, ring_buffer_resize(w->buffer, 9 * PAGE_SIZE, w->cpu), 0);
}

/*
 * Records that a cut takes away can be read there, and stay in the mapping as they were.
 * Later records can be read through the mapping, too.
 */
static void map_test_cut(struct kunit *test)
{
	unsigned char *seen, *was = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	struct rbt *w = test->priv;
	struct map_reader r = { .w = w, .id = U32_MAX };
	struct trace_buffer_meta *meta;
	struct trace_buffer *third;
	unsigned int cuts;
	u64 read, first;

	KUNIT_ASSERT_NOT_NULL(test, was);
	rbt_open_two(w, SUBBUFS, RB_FL_OVERWRITE);
	third = ring_buffer_alloc_spare(w->buffer);
	KUNIT_ASSERT_FALSE(test, IS_ERR(third));
	rbt_write_n(w, 300, 30);
	meta = map_open(w);
	KUNIT_EXPECT_TRUE(test, map_turn(&r));
	read = r.next;
	seen = (void *)w->buffer->cpus[w->cpu]->map->pages[r.id];
	memcpy(was, seen, PAGE_SIZE);

	KUNIT_ASSERT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), 0);
	KUNIT_EXPECT_TRUE(test, ring_buffer_is_mapped(w->other));
	KUNIT_EXPECT_FALSE(test, ring_buffer_is_mapped(w->buffer));
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(w->other, w->cpu), 30 - (unsigned long)read);
	/* Nothing is recorded to it, exchanged with it, or freed of it. */
	KUNIT_EXPECT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), -EBUSY);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), -EBUSY);
	KUNIT_EXPECT_EQ(test, ring_buffer_resize(w->other, 9 * PAGE_SIZE, w->cpu), -EBUSY);

	for (cuts = 0; cuts < 5; cuts++) {
		r.next = w->nr;
		/* Here one is read again when it has grown, there others follow. */
		rbt_write_n(w, 300, 3);
		map_read(&r);
		KUNIT_EXPECT_EQ(test, r.next, (u64)w->nr);
		KUNIT_EXPECT_GT(test, meta->reader.id, (u32)SUBBUFS);
		rbt_write_n(w, 300, 30);
		map_read(&r);
		KUNIT_EXPECT_EQ(test, r.next, (u64)w->nr);
		KUNIT_EXPECT_EQ(test, meta->read, 33ULL);
		rbt_write_n(w, 300, 7);
		KUNIT_ASSERT_EQ(test, rbt_cut(w->buffer, third, w->cpu), 0);
		KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(third, w->cpu), 7UL);
	}
	KUNIT_EXPECT_MEMEQ(test, was, seen, PAGE_SIZE);

	/* It may go before the mapping does. */
	for (first = read; first < 30; first++) {
		struct ring_buffer_event *rec;
		u64 ts;

		rec = ring_buffer_consume(w->other, w->cpu, &ts, NULL);
		rbt_expect(w, rec, ts, (u32)first);
	}
	ring_buffer_free(w->other);
	w->other = NULL;
	/* Long enough for the worker that frees rings. */
	rcu_barrier();
	schedule_timeout_uninterruptible(2);
	KUNIT_EXPECT_MEMEQ(test, was, seen, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, ring_buffer_unmap(w->buffer, w->cpu), 0);
	ring_buffer_free(third);
}

/* A reader of records that has not come to a loss is told of it, too, beside the mapping. */
static void map_test_told(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct ring_buffer_reader *reader;
	unsigned long overrun, lost = 0;
	u64 ts;

	rbt_open(w, SUBBUFS, RB_FL_OVERWRITE);
	map_open(w);
	reader = ring_buffer_reader_open(w->buffer, w->cpu);
	KUNIT_ASSERT_NOT_NULL(test, reader);
	rbt_write_n(w, 100, 3 * SUBBUFS * rbt_room_for(w, 100));
	overrun = ring_buffer_overrun_cpu(w->buffer, w->cpu);
	KUNIT_EXPECT_GT(test, overrun, 0UL);
	KUNIT_EXPECT_EQ(test, ring_buffer_map_get_reader(w->buffer, w->cpu), 0);
	KUNIT_EXPECT_GT(test, ring_buffer_read_events_cpu(w->buffer, w->cpu), 0UL);
	KUNIT_EXPECT_NOT_NULL(test, ring_buffer_reader_peek(reader, w->cpu, &ts, &lost));
	KUNIT_EXPECT_EQ(test, lost, overrun);
	ring_buffer_reader_close(reader);
	KUNIT_EXPECT_EQ(test, ring_buffer_unmap(w->buffer, w->cpu), 0);
}

static void map_see(void *data, const void *rec, const void *payload, unsigned int max, u64 time)
{
	struct map_reader *r = data;

	KUNIT_EXPECT_EQ(r->w->test, rbt_check(r->w, payload, time), (u32)r->next++);
}

/* @n consumed beside the mapping, and then a turn: a page with records @from to @to. */
static void map_beside(struct rbt *w, unsigned int n, u64 from, u64 to)
{
	struct rb_map *map = w->buffer->cpus[w->cpu]->map;
	struct map_reader r = { .w = w, .next = from };
	struct rbt_page page;
	u64 ts;

	while (n--)
		KUNIT_ASSERT_NOT_NULL(w->test, ring_buffer_consume(w->buffer, w->cpu, &ts, NULL));
	KUNIT_ASSERT_EQ(w->test, ring_buffer_map_get_reader(w->buffer, w->cpu), 0);
	KUNIT_EXPECT_TRUE(w->test, rbt_parse(map->pages[map->meta->reader.id], PAGE_SIZE, &page,
					     map_see, &r));
	KUNIT_EXPECT_EQ(w->test, r.next, to + 1);
	KUNIT_EXPECT_EQ(w->test, map->meta->reader.read, page.bytes);
}

/* The copies lack records that other readers have consumed meanwhile. */
static void map_test_beside(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct trace_buffer_meta *meta;
	u32 id;

	rbt_open_two(w, SUBBUFS, RB_FL_OVERWRITE);
	meta = map_open(w);
	KUNIT_ASSERT_EQ(test, rbt_cut(w->buffer, w->other, w->cpu), 0);
	rbt_write_n(w, 100, 5);
	map_beside(w, 2, 2, 4);
	id = meta->reader.id;
	/* Of the same sub-buffer, and somewhere else all the same. */
	rbt_write_n(w, 100, 2);
	map_beside(w, 0, 5, 6);
	KUNIT_EXPECT_NE(test, meta->reader.id, id);
	id = meta->reader.id;
	rbt_write_n(w, 100, 4);
	map_beside(w, 1, 8, 10);
	KUNIT_EXPECT_NE(test, meta->reader.id, id);
	KUNIT_EXPECT_EQ(test, ring_buffer_unmap(w->buffer, w->cpu), 0);
}

/* Map the ring, expect only unread and new records, and unmap it. */
static void map_expect_new(struct rbt *w, unsigned int n)
{
	u64 unread = ring_buffer_entries_cpu(w->buffer, w->cpu);
	struct map_reader r = { .w = w, .id = U32_MAX, .next = w->nr - unread };
	struct trace_buffer_meta *meta = map_open(w);
	struct rb_map *map = w->buffer->cpus[w->cpu]->map;

	KUNIT_EXPECT_EQ(w->test, local_read(&map->pages[meta->reader.id]->commit), 0L);
	KUNIT_EXPECT_EQ(w->test, meta->reader.read, 0U);
	rbt_write_n(w, 300, n);
	map_read(&r);
	KUNIT_EXPECT_EQ(w->test, r.next, (u64)w->nr);
	KUNIT_EXPECT_EQ(w->test, ring_buffer_unmap(w->buffer, w->cpu), 0);
}

/* Records that were reset do not come back with a mapping, and no mapping keeps them. */
static void map_test_reset(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct map_reader r = { .w = w, .id = U32_MAX };
	unsigned int i;

	rbt_open(w, SUBBUFS, RB_FL_OVERWRITE);
	for (i = 0; i < 3; i++) {
		rbt_write_n(w, 300, 5 + 30 * i);
		r.next = w->nr - ring_buffer_entries_cpu(w->buffer, w->cpu);
		r.id = U32_MAX;
		map_open(w);
		map_turn(&r);
		if (i == 1)
			ring_buffer_unmap(w->buffer, w->cpu);
		ring_buffer_reset(w->buffer);
		if (i != 1)
			ring_buffer_unmap(w->buffer, w->cpu);
		map_expect_new(w, 5 * i);
		ring_buffer_reset_cpu(w->buffer, w->cpu);
	}
}

/* Nor does the old content of a page that was exchanged for one of the ring's. */
static void map_test_exchanged(struct kunit *test)
{
	struct buffer_data_read_page *rpage;
	struct rbt *w = test->priv;
	struct rbt_page page;
	unsigned int i;

	rbt_open(w, SUBBUFS, RB_FL_OVERWRITE);
	rpage = rbt_page(w, w->buffer);
	/* Some are overwritten, so that the first page reports a loss. */
	rbt_write_n(w, 300, 100);
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, ring_buffer_read_page(w->buffer, rpage, PAGE_SIZE, w->cpu,
							    1), 0);
		rbt_take_page(w, rpage, false, &page);
	}
	map_expect_new(w, 0);
	ring_buffer_free_read_page(w->buffer, w->cpu, rpage);
}

/* A mapping is refused for writing, as a private copy, and beyond its end. */
static void map_test_refused(struct kunit *test)
{
	struct rbt *w = test->priv;

	rbt_open(w, SUBBUFS, RB_FL_OVERWRITE);
	KUNIT_EXPECT_EQ(test, map_try(w, 1, PROT_READ | PROT_WRITE, MAP_SHARED), (long)-EPERM);
	KUNIT_EXPECT_EQ(test, map_try(w, 1, PROT_READ, MAP_PRIVATE), (long)-EPERM);
	KUNIT_EXPECT_EQ(test, map_try(w, 1, PROT_READ | PROT_EXEC, MAP_SHARED), (long)-EPERM);
	KUNIT_EXPECT_EQ(test, map_try(w, MAPPED + 2, PROT_READ, MAP_SHARED), (long)-EINVAL);
	KUNIT_EXPECT_NULL(test, w->buffer->cpus[w->cpu]->map);
	KUNIT_EXPECT_EQ(test, ring_buffer_unmap(w->buffer, nr_cpu_ids), -EINVAL);
	KUNIT_EXPECT_EQ(test, ring_buffer_resize(w->buffer, 9 * PAGE_SIZE, w->cpu), 0);
}

/* The sub-buffer behind the lost records reports their number, once, and no other one does. */
static void map_test_lost(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct trace_buffer_meta *meta;
	unsigned long lost;
	struct rb_map *map;
	struct rbt_page page;
	u64 ts;

	rbt_open(w, SUBBUFS, RB_FL_OVERWRITE);
	rbt_write_n(w, 300, 100);
	meta = map_open(w);
	map = w->buffer->cpus[w->cpu]->map;
	lost = ring_buffer_overrun_cpu(w->buffer, w->cpu);
	KUNIT_ASSERT_GT(test, lost, 0UL);
	KUNIT_EXPECT_EQ(test, meta->reader.lost_events, 0ULL);
	KUNIT_ASSERT_EQ(test, ring_buffer_map_get_reader(w->buffer, w->cpu), 0);
	KUNIT_EXPECT_EQ(test, meta->reader.lost_events, (u64)lost);
	KUNIT_EXPECT_TRUE(test, rbt_parse(map->pages[meta->reader.id], PAGE_SIZE, &page, NULL,
					  NULL));
	KUNIT_EXPECT_EQ(test, page.lost, lost);
	KUNIT_ASSERT_EQ(test, ring_buffer_map_get_reader(w->buffer, w->cpu), 0);
	KUNIT_EXPECT_EQ(test, meta->reader.lost_events, 0ULL);

	KUNIT_EXPECT_EQ(test, ring_buffer_unmap(w->buffer, w->cpu), 0);

	/* A new mapping reports it as well, but not after another reader got the report. */
	ring_buffer_reset(w->buffer);
	rbt_write_n(w, 300, 100);
	KUNIT_EXPECT_NOT_NULL(test, ring_buffer_peek(w->buffer, w->cpu, &ts, &lost));
	KUNIT_ASSERT_GT(test, lost, 0UL);
	meta = map_open(w);
	KUNIT_EXPECT_EQ(test, meta->reader.lost_events, (u64)lost);
	KUNIT_EXPECT_EQ(test, ring_buffer_unmap(w->buffer, w->cpu), 0);
	KUNIT_EXPECT_NOT_NULL(test, ring_buffer_consume(w->buffer, w->cpu, &ts, NULL));
	meta = map_open(w);
	KUNIT_EXPECT_EQ(test, meta->reader.lost_events, 0ULL);
	KUNIT_EXPECT_EQ(test, ring_buffer_unmap(w->buffer, w->cpu), 0);
}

static struct kunit_case map_test_cases[] = {
	KUNIT_CASE(map_test_read),
	KUNIT_CASE(map_test_cut),
	KUNIT_CASE(map_test_told),
	KUNIT_CASE(map_test_beside),
	KUNIT_CASE(map_test_reset),
	KUNIT_CASE(map_test_exchanged),
	KUNIT_CASE(map_test_refused),
	KUNIT_CASE(map_test_lost),
	{}
};

RBT_SUITE(map);
