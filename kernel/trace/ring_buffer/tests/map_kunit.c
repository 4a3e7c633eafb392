// SPDX-License-Identifier: GPL-2.0
/*
 * Rings that user space reads in place: the meta page, and who may not touch
 * the ring meanwhile.
 */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mman.h>

#include "world.h"

#define SUBBUFS		4

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

/* What is read through the mapping counts as read; the meta page says where it is. */
static void map_test_read(struct kunit *test)
{
	struct rbt *w = test->priv;
	struct trace_buffer_meta *meta;
	struct rb_cpu *rcpu;
	struct rbt_page page;
	u64 read = 0;
	u32 id, i;

	rbt_open(w, SUBBUFS, RB_FL_OVERWRITE);
	rbt_write_n(w, 300, 30);
	KUNIT_ASSERT_EQ(test, map_try(w, SUBBUFS + 2, PROT_READ, MAP_SHARED), 0L);
	rcpu = w->buffer->cpus[w->cpu];
	meta = rcpu->meta_page;
	KUNIT_ASSERT_NOT_NULL(test, meta);
	KUNIT_EXPECT_EQ(test, meta->nr_subbufs, SUBBUFS + 1U);
	KUNIT_EXPECT_EQ(test, meta->subbuf_size, (u32)PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, meta->entries, 30ULL);

	/* Each turn names a sub-buffer, whose records are the next ones. */
	for (i = 0; i < SUBBUFS + 1; i++) {
		KUNIT_ASSERT_EQ(test, ring_buffer_map_get_reader(w->buffer, w->cpu), 0);
		if (meta->read == read)
			break;
		id = meta->reader.id;
		KUNIT_ASSERT_LT(test, id, meta->nr_subbufs);
		KUNIT_EXPECT_TRUE(test, rbt_parse(rcpu->map_pages[id], PAGE_SIZE, &page, NULL,
						  NULL));
		KUNIT_EXPECT_EQ(test, page.time, w->recs[read].time);
		KUNIT_EXPECT_EQ(test, (u64)page.records, meta->read - read);
		read = meta->read;
	}
	KUNIT_EXPECT_EQ(test, read, 30ULL);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty_cpu(w->buffer, w->cpu));

	/* It stays what and where it is. */
	KUNIT_EXPECT_EQ(test, ring_buffer_resize(w->buffer, 9 * PAGE_SIZE, w->cpu), -EBUSY);
	KUNIT_EXPECT_EQ(test, ring_buffer_subbuf_order_set(w->buffer, 1), -EBUSY);
	rbt_open_other(w, SUBBUFS, RB_FL_OVERWRITE);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), -EBUSY);

	KUNIT_EXPECT_EQ(test, ring_buffer_unmap(w->buffer, w->cpu), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_unmap(w->buffer, w->cpu), -ENODEV);
	KUNIT_EXPECT_EQ(test, ring_buffer_map_get_reader(w->buffer, w->cpu), -ENODEV);
	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(w->buffer, w->other, w->cpu), 0);
}

/* Nobody writes to it, keeps a copy of it, or maps more than there is. */
static void map_test_refused(struct kunit *test)
{
	struct rbt *w = test->priv;

	rbt_open(w, SUBBUFS, RB_FL_OVERWRITE);
	KUNIT_EXPECT_EQ(test, map_try(w, 1, PROT_READ | PROT_WRITE, MAP_SHARED), (long)-EPERM);
	KUNIT_EXPECT_EQ(test, map_try(w, 1, PROT_READ, MAP_PRIVATE), (long)-EPERM);
	KUNIT_EXPECT_EQ(test, map_try(w, SUBBUFS + 3, PROT_READ, MAP_SHARED), (long)-EINVAL);
	KUNIT_EXPECT_NULL(test, w->buffer->cpus[w->cpu]->meta_page);
	KUNIT_EXPECT_EQ(test, ring_buffer_unmap(w->buffer, nr_cpu_ids), -EINVAL);
	KUNIT_EXPECT_EQ(test, ring_buffer_resize(w->buffer, 9 * PAGE_SIZE, w->cpu), 0);
}

static struct kunit_case map_test_cases[] = {
	KUNIT_CASE(map_test_read),
	KUNIT_CASE(map_test_refused),
	{}
};

static struct kunit_suite map_test_suite = {
	.name = "ring_buffer_map",
	.init = rbt_init,
	.exit = rbt_exit,
	.test_cases = map_test_cases,
};

kunit_test_suite(map_test_suite);
