// SPDX-License-Identifier: GPL-2.0
/*
 * Whole pages for user space, which it reads into or maps: errors, release, and
 * layout.
 */
#include <linux/mm.h>
#include <linux/trace_mmap.h>
#include "test.h"

/* Full sub-buffers with @rest bytes that no record is in, fewer than a record has */
static void put_subbufs(int subbufs, int rest)
{
	while (subbufs--) {
		put(buf, SUBBUF_DATA - (PER_SUBBUF - 1) * (REC_LEN + 4) - 4 - rest, PUT_COMMIT);
		put_n(PER_SUBBUF - 1);
	}
}

static void saw_on_page(struct ring_buffer_event *e, u64 ts, long lost, void *first_lost)
{
	long *told = first_lost;

	saw(e, ts, *told, 0);
	*told = 0;
}

/* ---- pages to read into --------------------------------------------------- */

static struct buffer_data_read_page *page_get(void)
{
	struct buffer_data_read_page *rp = NULL;

	EXPECT_EQ(ring_buffer_alloc_read_page(buf, 0, &rp), 0);
	if (!rp)
		host_die("no page to read into");
	return rp;
}

/* One page is kept for the next caller, if it has the right size; all others are freed */
static void page_spare(long unused)
{
	struct buffer_data_read_page *a, *b;
	long before;
	void *data;

	begin(8, true);
	before = shim_allocated;
	a = page_get();
	b = page_get();
	EXPECT_EQ(shim_allocated, before + 4);
	ring_buffer_free_read_page(NULL, 0, a);
	EXPECT_EQ(shim_allocated, before + 2);
	ring_buffer_free_read_page(buf, 2, b);
	EXPECT_EQ(shim_allocated, before);
	a = page_get();
	b = page_get();
	ring_buffer_free_read_page(buf, 0, NULL);
	ring_buffer_free_read_page(buf, 0, a);
	EXPECT_EQ(shim_allocated, before + 3);
	ring_buffer_free_read_page(buf, 0, b);
	EXPECT_EQ(shim_allocated, before + 1);

	/* the page that is there is kept */
	a = page_get();
	data = ring_buffer_read_page_data(a);
	EXPECT_EQ(ring_buffer_alloc_read_page(buf, 0, &a), 0);
	EXPECT(ring_buffer_read_page_data(a) == data, "another page");
	EXPECT_EQ(shim_allocated, before + 2);
	ring_buffer_free_read_page(buf, 0, a);
	EXPECT_EQ(shim_allocated, before + 1);
	/* where there is no memory for another one */
	shim_fail_alloc_after = 1;
	a = page_get();
	EXPECT(shim_fail_alloc_after >= 0, "it takes a new page");
	shim_fail_alloc_after = -1;
	ring_buffer_free_read_page(buf, 0, a);

	/* the spare one is too small now: it goes where another one is needed */
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 1), 0);
	shim_rcu_run();
	before = shim_allocated;
	a = page_get();
	EXPECT_EQ(ring_buffer_read_page_size(a), 2 * PAGE_SIZE);
	EXPECT(ring_buffer_read_page_data(a) != data, "the one that is too small");
	EXPECT_EQ(shim_allocated, before + 1);
	b = page_get();
	EXPECT_EQ(shim_allocated, before + 3);

	/* these are too large */
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 0), 0);
	shim_rcu_run();
	before = shim_allocated;
	ring_buffer_free_read_page(buf, 0, b);
	EXPECT_EQ(shim_allocated, before - 2);
	EXPECT_EQ(ring_buffer_alloc_read_page(buf, 0, &a), 0);
	EXPECT_EQ(ring_buffer_read_page_size(a), PAGE_SIZE);
	EXPECT_EQ(shim_allocated, before - 2);
	ring_buffer_free_read_page(buf, 0, a);
	EXPECT_EQ(shim_allocated, before - 3);
}

/* A spare buffer keeps none, in both modes of a full ring: its memory is counted */
static void page_of_spare(long unused)
{
	struct buffer_data_read_page *rp;
	long before, i;

	for (i = 0; i < 3; i++) {
		begin(3, true);
		buf2 = ring_buffer_alloc_spare(buf);
		if (i)
			ring_buffer_change_overwrite(buf2, i == 2);
		before = shim_allocated;
		rp = NULL;
		EXPECT_EQ(ring_buffer_alloc_read_page(buf2, 0, &rp), 0);
		ring_buffer_free_read_page(buf2, 0, rp);
		EXPECT_EQ(shim_allocated, before);
	}
}

/* Each allocation fails once: of a page, and of one in place of another of the old size */
static void page_no_memory(long unused)
{
	struct buffer_data_read_page *rp;
	long i, before, failed;
	int other, ret;

	for (other = 0; other < 2; other++) {
		for (i = 0; i < 10; i++) {
			begin(8, true);
			before = shim_allocated;
			rp = NULL;
			if (other) {
				rp = page_get();
				EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 1), 0);
				shim_rcu_run();
				before = shim_allocated - 2;
			}
			shim_fail_alloc_after = i;
			ret = ring_buffer_alloc_read_page(buf, 0, &rp);
			failed = shim_fail_alloc_after < 0;
			shim_fail_alloc_after = -1;
			if (!failed)
				break;
			EXPECT_EQ(ret, -ENOMEM);
			EXPECT(!rp, "allocation %ld failed", i);
			EXPECT_EQ(shim_allocated, before);
		}
		EXPECT(i > 0 && i < 10, "allocation %ld", i);
		EXPECT_EQ(ret, 0);
		EXPECT_EQ(ring_buffer_read_page_size(rp), PAGE_SIZE << other);
		ring_buffer_free_read_page(buf, 0, rp);
	}
}

/*
 * A sub-buffer is exchanged for the page where all of it may go, and where how many were
 * lost in front of it has room behind it. Else a part of it is copied.
 */
static void page_exchange(long unused)
{
	struct buffer_data_read_page *rp;
	long lost, told;
	int rest, lossy;
	void *before;
	u64 *page;
	bool all;

	for (rest = 0; rest <= 16; rest += 4) {
		for (lossy = 0; lossy < 2; lossy++) {
			begin(3, true);
			put_subbufs(lossy ? 9 : 2, rest);
			rp = page_get();
			before = ring_buffer_read_page_data(rp);
			EXPECT_EQ(ring_buffer_read_page(buf, rp, PAGE_SIZE - rest, 0, 0), 0);
			page = ring_buffer_read_page_data(rp);
			all = !lossy || rest >= sizeof(long);
			EXPECT((page != before) == all, "%d bytes of rest, lossy %d", rest, lossy);
			EXPECT_EQ(page_missed(page, &told), lossy);
			lost = lossy ? ring_buffer_overrun_cpu(buf, 0) : 0;
			EXPECT_EQ(told, lost);
			EXPECT(page_rest_is_clear(page, PAGE_SIZE), "%d bytes of rest", rest);
			EXPECT_EQ(page_parse(page, PAGE_SIZE, saw_on_page, &lost),
				  PER_SUBBUF - !all);
			ring_buffer_free_read_page(buf, 0, rp);
			read_out("%d bytes of rest, lossy %d", rest, lossy);
		}
	}
}

/* A page takes as many records as fit, whatever stands in front of them */
static void page_stamps(long unused)
{
	struct buffer_data_read_page *rp;
	long told = 0;
	int i;

	begin(3, true);
	ring_buffer_set_time_stamp_abs(buf, true);
	put_n(30);
	rp = page_get();
	for (i = 10; i <= 20; i += 10) {
		EXPECT_EQ(ring_buffer_read_page(buf, rp, 16 + i * (REC_LEN + 12), 0, 0), 0);
		EXPECT_EQ(page_parse(ring_buffer_read_page_data(rp), PAGE_SIZE, saw_on_page,
				     &told), i);
	}
	ring_buffer_free_read_page(buf, 0, rp);
	check_end(0, 0, "records with stamps");
}

/* ---- mappings ------------------------------------------------------------- */

#define MAP_FLAGS (VM_READ | VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC | VM_SHARED | VM_MAYSHARE)

/* The ring's sub-buffers, the reader's, two for copies and the meta page, in pages */
static unsigned long map_pages(unsigned int order)
{
	return (ring_buffer_size(buf, 0) / ((PAGE_SIZE << order) - 16) + 4) << order;
}

static struct trace_buffer_meta *map_all(unsigned int order)
{
	EXPECT_EQ(map_area(0, map_pages(order), MAP_FLAGS), 0);
	EXPECT_EQ(shim_nr_vma_pages, map_pages(order));
	if (!shim_nr_vma_pages)
		host_die("nothing is mapped");
	return page_address(shim_vma_pages[0]);
}

/* The page that the meta page names */
static void *map_page(struct trace_buffer_meta *meta, unsigned int order)
{
	EXPECT(meta->reader.id < meta->nr_subbufs, "sub-buffer %u", meta->reader.id);
	return page_address(shim_vma_pages[(1 + meta->reader.id) << order]);
}

/* Read all through the mapping, of which nothing was read before */
static void map_read(struct trace_buffer_meta *meta, unsigned int order)
{
	u64 unread;
	long lost;

	while ((unread = ring_buffer_entries_cpu(buf, 0))) {
		EXPECT_EQ(ring_buffer_map_get_reader(buf, 0), 0);
		lost = meta->reader.lost_events;
		EXPECT_EQ(page_parse(map_page(meta, order), PAGE_SIZE << order, saw_on_page, &lost),
			  unread - ring_buffer_entries_cpu(buf, 0));
		EXPECT_EQ(meta->read, ring_buffer_read_events_cpu(buf, 0));
		EXPECT_EQ(meta->overrun, ring_buffer_overrun_cpu(buf, 0));
		if (nr_faults)
			break;
	}
}

/* A mapping is refused for writing, for execution, and as a private copy */
static void map_refused(long unused)
{
	const vm_flags_t never = VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP;
	long before;

	begin(3, true);
	before = shim_allocated;
	EXPECT_EQ(map_area(0, 1, MAP_FLAGS | VM_WRITE), -EPERM);
	EXPECT_EQ(map_area(0, 1, MAP_FLAGS | VM_EXEC), -EPERM);
	EXPECT_EQ(map_area(0, 1, MAP_FLAGS & ~VM_MAYSHARE), -EPERM);
	EXPECT_EQ(map_area(0, map_pages(0) + 1, MAP_FLAGS), -EINVAL);
	EXPECT_EQ(map_area(1, map_pages(0), MAP_FLAGS), -EINVAL);
	EXPECT_EQ(map_area(map_pages(0), 1, MAP_FLAGS), -EINVAL);
	EXPECT_EQ(shim_nr_vma_pages, 0);
	EXPECT_EQ(shim_allocated, before);
	EXPECT_EQ(ring_buffer_unmap(buf, 0), -ENODEV);
	EXPECT_EQ(ring_buffer_map_get_reader(buf, 0), -ENODEV);

	EXPECT_EQ(ring_buffer_map(buf, 2, NULL), -EINVAL);
	EXPECT_EQ(ring_buffer_unmap(buf, 2), -EINVAL);
	EXPECT_EQ(ring_buffer_map_get_reader(buf, 2), -EINVAL);

	EXPECT_EQ(map_area(0, 1, MAP_FLAGS), 0);
	EXPECT_EQ(map_flags, (MAP_FLAGS & ~(VM_MAYWRITE | VM_MAYEXEC)) | never);
	EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
}

/* The layout of the mapping, whole or in parts */
static void map_layout(long unused)
{
	static struct page *all[64];
	unsigned long i, k, n, per;
	struct trace_buffer_meta *meta;
	int order;

	for (order = 0; order <= 2; order++) {
		begin(16, true);
		EXPECT_EQ(ring_buffer_subbuf_order_set(buf, order), 0);
		meta = map_all(order);
		n = shim_nr_vma_pages;
		per = 1UL << order;
		memcpy(all, shim_vma_pages, n * sizeof(*all));
		EXPECT_EQ(meta->meta_struct_len, sizeof(*meta));
		EXPECT_EQ(meta->nr_subbufs, (n >> order) - 1);
		EXPECT_EQ(meta->subbuf_size, PAGE_SIZE << order);
		EXPECT_EQ(meta->meta_page_size, PAGE_SIZE << order);
		for (i = 1; i < n; i++) {
			k = i & (per - 1);
			EXPECT(all[i] == (i < per ? ZERO_PAGE(0) : all[i - k] + k), "page %lu", i);
			for (k = i & (per - 1) ? i : 0; k < i; k++)
				EXPECT(all[i] != all[k], "pages %lu and %lu", i, k);
		}
		for (i = 0; i < n; i += per) {
			EXPECT_EQ(map_area(i, n - i, MAP_FLAGS), 0);
			EXPECT_EQ(shim_nr_vma_pages, n - i);
			EXPECT(!memcmp(shim_vma_pages, all + i, (n - i) * sizeof(*all)),
			       "from page %lu on", i);
			EXPECT_EQ(map_area(i, n - i + 1, MAP_FLAGS), -EINVAL);
			EXPECT_EQ(map_area(i + per / 2, 1, MAP_FLAGS), order ? -EINVAL : 0);
			EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
			if (!order)
				EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
		}
		EXPECT_EQ(map_area(n, per, MAP_FLAGS), -EINVAL);
		EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
		EXPECT_EQ(ring_buffer_unmap(buf, 0), -ENODEV);
	}
}

/* All records can be read there, and the meta page counts them */
static void map_count(long order)
{
	int turn, per = (order + 1) * PER_SUBBUF + order;
	struct trace_buffer_meta *meta;

	begin(8, true);
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, order), 0);
	for (turn = 0; turn < 2; turn++) {
		put_n((order + 1) * 12 * PER_SUBBUF);
		consume(buf, 0, 2);
		meta = map_all(order);
		EXPECT_EQ(meta->entries, put_count(0));
		EXPECT_EQ(meta->overrun, ring_buffer_overrun_cpu(buf, 0));
		EXPECT_EQ(meta->read, 2);
		EXPECT_EQ(meta->reader.id, 0);
		EXPECT_EQ(meta->reader.read, 2 * (REC_LEN + 4));
		EXPECT_EQ(meta->reader.lost_events, 0);
		EXPECT_EQ(meta->pages_touched, put_count(0) / per - !(put_count(0) % per));
		EXPECT_EQ(meta->pages_lost, meta->overrun / per);
		consume(buf, 0, -1);
		put_n(3 * PER_SUBBUF + 5);
		/* the rest of the sub-buffer that the reader has */
		EXPECT_EQ(ring_buffer_map_get_reader(buf, 0), 0);
		EXPECT_EQ(meta->entries, put_count(0));
		EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
		start_over();
		ring_buffer_reset(buf);
		put_n((order + 1) * 12 * PER_SUBBUF);
		meta = map_all(order);
		EXPECT_EQ(meta->entries, put_count(0));
		EXPECT_EQ(meta->reader.read, 0);
		map_read(meta, order);
		check_end(0, 0, "order %ld", order);
		EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
		start_over();
		ring_buffer_reset(buf);
	}
}

/* Each mapping counts, also one that fork() made; the last one frees the memory */
static void map_nested(long unused)
{
	struct trace_buffer_meta *meta;
	long before;

	begin(3, true);
	put_n(7);
	before = shim_allocated;
	meta = map_all(0);
	EXPECT_EQ(map_area(0, 1, MAP_FLAGS), 0);
	ring_buffer_map_dup(buf, 0);
	EXPECT(page_address(shim_vma_pages[0]) == meta, "the same meta page");
	EXPECT(ring_buffer_is_mapped(buf), "three times");
	EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
	EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
	EXPECT(ring_buffer_is_mapped(buf), "one is left");
	EXPECT_EQ(map_area(0, 100, MAP_FLAGS), -EINVAL);
	EXPECT_EQ(ring_buffer_map_get_reader(buf, 0), 0);
	EXPECT_EQ(meta->read, 7);
	EXPECT_EQ(ring_buffer_resize(buf, 5 * SUBBUF_DATA, 0), -EBUSY);
	EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
	EXPECT(!ring_buffer_is_mapped(buf), "none is left");
	EXPECT_EQ(shim_allocated, before);
	EXPECT_EQ(ring_buffer_unmap(buf, 0), -ENODEV);
	EXPECT_EQ(host_warnings, 0);

	/* invalid requests */
	ring_buffer_map_dup(buf, 2);
	ring_buffer_map_dup(buf, 0);
	EXPECT_EQ(host_warnings, 2);
	EXPECT_EQ(ring_buffer_unmap(buf, 0), -ENODEV);
	host_warnings = 0;
	EXPECT_EQ(ring_buffer_resize(buf, 5 * SUBBUF_DATA, 0), 0);
}

/* Each allocation fails once: of the first mapping, and of another one */
static void map_no_memory(long unused)
{
	long i, before, failed;
	int second, ret;

	for (second = 0; second < 2; second++) {
		for (i = 0; i < 20; i++) {
			begin(3, true);
			put_n(7);
			if (second)
				map_all(0);
			before = shim_allocated;
			shim_fail_alloc_after = i;
			ret = map_area(0, map_pages(0), MAP_FLAGS);
			failed = shim_fail_alloc_after < 0;
			shim_fail_alloc_after = -1;
			if (!failed)
				break;
			EXPECT_EQ(ret, -ENOMEM);
			EXPECT_EQ(shim_nr_vma_pages, 0);
			EXPECT_EQ(shim_allocated, before);
			EXPECT_EQ(ring_buffer_is_mapped(buf), second);
			EXPECT_EQ(ring_buffer_map_get_reader(buf, 0), second ? 0 : -ENODEV);
			EXPECT_EQ(ring_buffer_resize(buf, 5 * SUBBUF_DATA, 0), second ? -EBUSY : 0);
			if (second)
				EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
			EXPECT_EQ(ring_buffer_unmap(buf, 0), -ENODEV);
		}
		EXPECT(i > 0 && i < 20, "allocation %ld", i);
		EXPECT_EQ(ret, 0);
		if (second)
			EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
		EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
	}

	/* where there is no memory for page tables: the shim has room for 512 pages */
	begin(600, true);
	before = shim_allocated;
	EXPECT_EQ(map_area(0, map_pages(0), MAP_FLAGS), -ENOMEM);
	EXPECT_EQ(ring_buffer_unmap(buf, 0), -ENODEV);
	EXPECT_EQ(shim_allocated, before);
}

/* Sub-buffers that a cut takes away stay while they are mapped, and are freed then */
static void map_keeps(long unused)
{
	struct trace_buffer_meta *meta;
	long lost = 0;
	void *page;

	begin_two(3);
	put_n(PER_SUBBUF);
	meta = map_all(0);
	EXPECT_EQ(ring_buffer_map_get_reader(buf, 0), 0);
	page = map_page(meta, 0);
	EXPECT_EQ(cut_one(buf, buf2, 0), 0);
	ring_buffer_free(buf2);
	buf2 = NULL;
	shim_rcu_run();
	EXPECT_EQ(page_parse(page, PAGE_SIZE, saw_on_page, &lost), PER_SUBBUF);
	EXPECT_EQ(meta->reader.read, PER_SUBBUF * (REC_LEN + 4));

	/* the live ring is read through the copies, and may be resized afterwards */
	put_n(3);
	map_read(meta, 0);
	EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
	EXPECT_EQ(ring_buffer_resize(buf, 5 * SUBBUF_DATA, 0), 0);
	no_leak("a mapping");
}

/*
 * A final sub-buffer has the number of records that were lost in front of it behind its
 * records, if there is room; the meta page has it in any case, for that sub-buffer only.
 */
static void map_lost(long cut)
{
	struct trace_buffer_meta *meta;
	long lost, told;
	int rest;

	for (rest = 0; rest <= 16; rest += 4) {
		begin_two(3);
		meta = map_all(0);
		if (cut)
			EXPECT_EQ(cut_one(buf, buf2, 0), 0);
		put_subbufs(9, rest);
		lost = ring_buffer_overrun_cpu(buf, 0);
		EXPECT(lost, "nine sub-buffers in three");
		EXPECT_EQ(ring_buffer_map_get_reader(buf, 0), 0);
		EXPECT_EQ(meta->reader.lost_events, lost);
		EXPECT(page_missed(map_page(meta, 0), &told), "%d bytes of rest", rest);
		EXPECT_EQ(told, rest < sizeof(long) ? LOST_UNKNOWN : lost);
		page_parse(map_page(meta, 0), PAGE_SIZE, saw_on_page, &lost);
		EXPECT_EQ(ring_buffer_map_get_reader(buf, 0), 0);
		EXPECT_EQ(meta->reader.lost_events, 0);
		EXPECT(!page_missed(map_page(meta, 0), &told), "the next one");
		page_parse(map_page(meta, 0), PAGE_SIZE, saw_on_page, &lost);
		map_read(meta, 0);
		check_end(0, 0, "%d bytes of rest, cut %ld", rest, cut);
		EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
	}
}

/* The sub-buffer that is written reports no loss there; the loss in front of it stays reported */
static void map_lost_open(long unused)
{
	struct trace_buffer_meta *meta;
	long told;
	int i;

	begin(8, true);
	put_n(10);
	/* these are lost, and the sub-buffer that is written now reports them */
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 1), 0);
	meta = map_all(1);
	for (i = 1; i <= 3; i++) {
		put_n(3);
		EXPECT_EQ(ring_buffer_map_get_reader(buf, 0), 0);
		EXPECT_EQ(meta->reader.lost_events, 10);
		EXPECT(!page_missed(map_page(meta, 1), &told), "it is written still");
		EXPECT_EQ(page_parse(map_page(meta, 1), 2 * PAGE_SIZE, NULL, NULL), 3 * i);
		EXPECT_EQ(meta->reader.read, 3 * i * (REC_LEN + 4));
	}
	/* the next one is behind nothing that was lost */
	put_n(3 * PER_SUBBUF);
	EXPECT_EQ(ring_buffer_map_get_reader(buf, 0), 0);
	EXPECT_EQ(meta->reader.lost_events, 10);
	EXPECT_EQ(ring_buffer_map_get_reader(buf, 0), 0);
	EXPECT_EQ(meta->reader.lost_events, 0);
	EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
}

/* A loss that a reader found, and a reset or cut dropped, is none in front of a new mapping */
static void map_lost_before(long cuts)
{
	struct trace_buffer_meta *meta;
	int i;

	begin_two(4);
	put_n(9 * PER_SUBBUF + 5);
	EXPECT(ring_buffer_peek(buf, 0, NULL, NULL), "it takes the oldest that is left");
	for (i = 0; i < cuts; i++) {
		EXPECT_EQ(cut_one(buf, buf2, RING_BUFFER_ALL_CPUS), 0);
		put_n(3);
	}
	if (!cuts)
		ring_buffer_reset(buf);
	meta = map_all(0);
	EXPECT_EQ(meta->reader.lost_events, 0);
	EXPECT_EQ(meta->overrun, 0);
	EXPECT_EQ(meta->entries, cuts ? 3 : 0);
	EXPECT_EQ(ring_buffer_map_get_reader(buf, 0), 0);
	EXPECT_EQ(meta->reader.lost_events, 0);
	EXPECT_EQ(meta->read, cuts ? 3 : 0);
	EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
}

/* The caches hold nothing of the pages that user space sees */
static void map_flush(long cut)
{
	struct trace_buffer_meta *meta;

	begin_two(3);
	shim_flush_check = 1;
	put_n(5);
	meta = map_all(0);
	EXPECT(shim_is_flushed(meta, PAGE_SIZE), "the meta page at first");
	if (cut)
		EXPECT_EQ(cut_one(buf, buf2, 0), 0);
	put_n(6 * PER_SUBBUF);
	EXPECT_EQ(ring_buffer_map_get_reader(buf, 0), 0);
	EXPECT(shim_is_flushed(meta, PAGE_SIZE), "the meta page");
	EXPECT(shim_is_flushed(map_page(meta, 0), PAGE_SIZE), "the records");
	ring_buffer_reset_cpu(buf, 0);
	EXPECT(shim_is_flushed(meta, PAGE_SIZE), "the meta page after a reset");
	EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
}

static int mapper_ret;

static void mapper(void)
{
	host_cpu_switch(1);
	mapper_ret = map_area(0, map_pages(0), MAP_FLAGS);
}

static void map_waits(void *unused)
{
	EXPECT(!co_start(mapper), "the ring is about to be exchanged");
}

int rb_cut_all(const struct ring_buffer_cut *first, int cpu, void (*drop)(void *data), void *data);

/* Where a cut has begun, what is mapped is the ring that it brings */
static void map_beside_cut(long unused)
{
	struct ring_buffer_cut one = { };

	begin_two(3);
	put_n(5);
	one.live = buf;
	one.spare = buf2;
	EXPECT_EQ(rb_cut_all(&one, 0, map_waits, NULL), 0);
	EXPECT(!sleeps(), "it waits for ever");
	EXPECT_EQ(mapper_ret, 0);
	EXPECT(ring_buffer_is_mapped(buf), "the live ring");
	EXPECT(!ring_buffer_is_mapped(buf2), "the buffer with the cut-off records");
	EXPECT_EQ(ring_buffer_unmap(buf, 0), 0);
}

/*
 * With absolute stamps, a discarded record in front of the record of an interrupt leaves
 * its stamp. A sub-buffer with nothing else is no page, and reports no loss.
 */
static void page_only_stamps(long records)
{
	struct ring_buffer_event *e;
	int i;

	begin(3, true);
	ring_buffer_set_time_stamp_abs(buf, true);
	put_n(9 * 92);
	put(buf, 3900, PUT_DISCARD);
	for (i = 0; i < 3; i++) {
		e = ring_buffer_lock_reserve(buf, 3900);
		put_in(CTX_NMI, buf, 3900, PUT_DISCARD);
		ring_buffer_discard_commit(buf, e);
	}
	put_n(3);
	/* An iterator goes on behind them. */
	EXPECT_EQ(iterate(buf, 0), ring_buffer_entries_cpu(buf, 0));
	if (records)
		consume(buf, 0, -1);
	else
		read_pages(buf, 0, false, 0, -1);
	check_end(0, 0, "only stamps");
}

/* ---- pages that are copied, and stay --------------------------------------- */

#define COPIES	64

static void saw_on_read_page(struct ring_buffer_event *e, u64 ts, long lost, void *unused)
{
	saw(e, ts, lost, 0);
}

/* Consume all, and compare it with copies of the pages that were made before. */
static void expect_copies(void)
{
	static unsigned char copies[COPIES][PAGE_SIZE];
	struct ring_buffer_place place = {}, again = {};
	struct buffer_data_read_page *rp = page_get();
	void *page = ring_buffer_read_page_data(rp);
	int n = 0, i = 0, records;

	for (; n < COPIES && ring_buffer_copy_page(buf, 0, &place, rp); n++) {
		EXPECT(page_rest_is_clear(page, PAGE_SIZE), "behind the records of page %d", n);
		memcpy(copies[n], page, PAGE_SIZE);
	}
	while (ring_buffer_copy_page(buf, 0, &again, NULL))
		i++;
	EXPECT_EQ(i, n);

	for (i = 0; ring_buffer_read_page(buf, rp, PAGE_SIZE, 0, 0) >= 0;) {
		page = ring_buffer_read_page_data(rp);
		records = page_parse(page, PAGE_SIZE, saw_on_read_page, NULL);
		if (records < 0)
			break;
		/* There is no copy of one with stamps only. */
		if (!records)
			continue;
		EXPECT(i < n && !memcmp(copies[i], page, PAGE_SIZE), "page %d of %d", i, n);
		i++;
	}
	EXPECT_EQ(i, n);
	ring_buffer_free_read_page(buf, 0, rp);
}

/* Discard a record in front of one of an interrupt, which stays or not. */
static void put_discarded(unsigned int len, bool stays)
{
	struct ring_buffer_event *e = ring_buffer_lock_reserve(buf, len);

	put_in(CTX_NMI, buf, len, stays ? PUT_COMMIT : PUT_DISCARD);
	if (e)
		ring_buffer_discard_commit(buf, e);
}

static void page_copies(long stamps)
{
	unsigned int seed, n, op;

	for (seed = 1; seed <= 200; seed++) {
		begin(2 + seed % 5, seed & 8);
		ring_buffer_set_time_stamp_abs(buf, stamps);
		n = seed * 2654435761U;
		for (op = 0; op < 16; op++) {
			n = n * 1664525 + 1013904223;
			switch (n >> 28) {
			case 0 ... 5:
				put_n((n >> 16) % (3 * PER_SUBBUF));
				break;
			case 6 ... 7:
				put(buf, (n >> 12) % 4000 + 8, PUT_COMMIT);
				break;
			case 8 ... 9:
				put_discarded((n >> 12) % 4000 + 8, n & 1024);
				break;
			case 10:
				put_subbufs(1 + n % 3, (n >> 16) % 5 * 4);
				break;
			case 11 ... 12:
				consume(buf, 0, 1 + (n >> 16) % PER_SUBBUF);
				break;
			case 13:
				EXPECT_EQ(ring_buffer_resize(buf, (2 + (n >> 16) % 6) * SUBBUF_DATA,
							     0), 0);
				break;
			default:
				expect_copies();
				break;
			}
		}
		expect_copies();
		/* Records that put_discarded() was refused are not noted. */
		check_end(0, END_NO_DROP, "copies, seed %u", seed);
	}
}

/* A page that cannot be filled stays as it is: one of another size, or behind the last record */
static void page_copies_refused(long unused)
{
	static unsigned char clear[2 * PAGE_SIZE];
	struct ring_buffer_place place = {};
	struct buffer_data_read_page *rp, *small;

	begin(3, true);
	small = page_get();
	memset(ring_buffer_read_page_data(small), 0, PAGE_SIZE);
	EXPECT_EQ(ring_buffer_subbuf_order_set(buf, 1), 0);
	rp = page_get();
	put_n(3);
	EXPECT(!ring_buffer_copy_page(buf, 0, &place, small), "it is too small");
	EXPECT(!memcmp(ring_buffer_read_page_data(small), clear, PAGE_SIZE), "it was filled");
	EXPECT_EQ(host_warnings, 1);
	host_warnings = 0;

	EXPECT(ring_buffer_copy_page(buf, 0, &place, rp), "there are records");
	memset(ring_buffer_read_page_data(rp), 0, sizeof(clear));
	EXPECT(!ring_buffer_copy_page(buf, 0, &place, rp), "there are no more");
	EXPECT(!memcmp(ring_buffer_read_page_data(rp), clear, sizeof(clear)), "it was filled");
	ring_buffer_free_read_page(buf, 0, small);
	ring_buffer_free_read_page(buf, 0, rp);
}

static void count_on_page(struct ring_buffer_event *e, u64 ts, long lost, void *sum)
{
	*(long *)sum += 1 + lost;
}

/* Behind a page that is overwritten meanwhile, copies go on with what is left, and the loss */
static void page_copies_lost(long part)
{
	struct ring_buffer_place place = {};
	struct buffer_data_read_page *rp;
	void *page;
	long sum = 0;

	begin(3, true);
	rp = page_get();
	page = ring_buffer_read_page_data(rp);
	put_n(part);
	EXPECT(ring_buffer_copy_page(buf, 0, &place, rp), "there are records");
	EXPECT_EQ(page_parse(page, PAGE_SIZE, count_on_page, &sum), part);
	EXPECT_EQ(sum, part);
	put_n(5 * PER_SUBBUF);
	while (ring_buffer_copy_page(buf, 0, &place, rp))
		EXPECT(page_parse(page, PAGE_SIZE, count_on_page, &sum) > 0, "no records");
	EXPECT_EQ(sum, part + 5 * PER_SUBBUF);
	ring_buffer_free_read_page(buf, 0, rp);
}

/* A resize behind any page, to more and to less: the next copy is of the next page */
static void page_copies_move(long subbufs)
{
	struct buffer_data_read_page *rp;
	int i, at, all = 40 * PER_SUBBUF + 7;
	long sum = 0;

	for (at = 0; at < 41; at++, sum = 0) {
		struct ring_buffer_place place = {};

		begin(60, true);
		rp = page_get();
		put_n(all);
		consume(buf, 0, 5);
		for (i = 0; ring_buffer_copy_page(buf, 0, &place, rp); i++) {
			page_parse(ring_buffer_read_page_data(rp), PAGE_SIZE, count_on_page, &sum);
			if (i == at)
				EXPECT_EQ(ring_buffer_resize(buf, subbufs * SUBBUF_DATA, 0), 0);
		}
		EXPECT_EQ(sum, all - 5);
		ring_buffer_free_read_page(buf, 0, rp);
	}
}

const struct scenario page_scenarios[] = {
	{ "unit.page-spare", page_spare, 0, SC_QUICK, "R8" },
	{ "unit.page-of-spare", page_of_spare, 0, SC_QUICK, "R5 R8" },
	{ "unit.page-no-memory", page_no_memory, 0, SC_QUICK, "R8" },
	{ "unit.page-exchange", page_exchange, 0, SC_QUICK, "R3 R8" },
	{ "unit.page-stamps", page_stamps, 0, SC_QUICK, "R3 R8" },
	{ "unit.map-refused", map_refused, 0, SC_QUICK, "R8" },
	{ "unit.map-layout", map_layout, 0, SC_QUICK, "R8" },
	{ "unit.map-count", map_count, 0, SC_QUICK, "R3 R8" },
	{ "unit.map-count-order", map_count, 1, SC_QUICK, "R3 R8" },
	{ "unit.map-nested", map_nested, 0, SC_QUICK, "R8" },
	{ "unit.map-no-memory", map_no_memory, 0, SC_QUICK, "R8" },
	{ "unit.map-keeps", map_keeps, 0, SC_QUICK, "R5 R8" },
	{ "unit.map-flush", map_flush, 0, SC_QUICK, "R8" },
	{ "unit.map-flush-cut", map_flush, 1, SC_QUICK, "R5 R8" },
	{ "unit.map-beside-cut", map_beside_cut, 0, SC_QUICK, "R5 R8" },
	{ "unit.map-lost", map_lost, 0, SC_QUICK, "R3 R8" },
	{ "unit.map-lost-cut", map_lost, 1, SC_QUICK, "R3 R5 R8" },
	{ "unit.map-lost-open", map_lost_open, 0, SC_QUICK, "R3 R8" },
	{ "unit.map-lost-before-cuts", map_lost_before, 2, SC_QUICK, "R3 R5, 20" },
	{ "unit.map-lost-before-cut", map_lost_before, 1, SC_QUICK, "R3 R5, 20" },
	{ "unit.map-lost-before-reset", map_lost_before, 0, SC_QUICK, "R3 R5, 20" },
	{ "unit.page-only-stamps", page_only_stamps, 0, SC_QUICK, "R3 R8" },
	{ "unit.page-copies", page_copies, 0, SC_QUICK, "R3 R8" },
	{ "unit.page-copies-lost", page_copies_lost, PER_SUBBUF / 2, SC_QUICK, "R3 R8" },
	{ "unit.page-copies-grow", page_copies_move, 70, SC_QUICK, "R6 R8" },
	{ "unit.page-copies-shrink", page_copies_move, 42, SC_QUICK, "R6 R8" },
	{ "unit.page-copies-stamps", page_copies, 1, SC_QUICK, "R3 R8" },
	{ "unit.page-copies-refused", page_copies_refused, 0, SC_QUICK, "R8" },
	{ "unit.only-stamps", page_only_stamps, 1, SC_QUICK, "R3" },
	{ }
};
