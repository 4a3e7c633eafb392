// SPDX-License-Identifier: GPL-2.0
/*
 * Rings that user space reads in place: mmap() of trace_pipe_raw.
 *
 *   offset                        content
 *   0                             meta page, padded to a sub-buffer's size
 *   subbuf_size                   sub-buffer 0, the reader's at first
 *   2 * subbuf_size               sub-buffer 1
 *   ...
 *
 * The mapping is read-only. TRACE_MMAP_IOCTL_GET_READER consumes what is in
 * the reader's sub-buffer, and names it in the meta page.
 */
#include <linux/export.h>
#include <linux/highmem.h>
#include <linux/slab.h>

#include "internal.h"

/**
 * rb_map_update() - tell user space where the reader is
 * @rcpu: the CPU's part
 * @ring: its ring
 *
 * Context: &rb_ring.lock is held.
 */
void rb_map_update(struct rb_cpu *rcpu, struct rb_ring *ring)
{
	struct trace_buffer_meta *meta = rcpu->meta_page;
	struct rb_reader *rd = &ring->reader;

	if (!meta)
		return;

	meta->reader.read = rd->pos;
	meta->reader.id = rd->sb->map_id;
	meta->reader.lost_events = rcpu->map_lost;
	meta->entries = rb_ring_written(ring) - ring->num_base;
	meta->overrun = rb_ring_overrun(ring);
	meta->read = rd->read;

	/* Where the caches of kernel and user addresses are not one. */
	flush_kernel_vmap_range(meta, PAGE_SIZE);
}

/*
 * Number the sub-buffers: the reader's first, then those in the slots, oldest
 * first. Which sub-buffer is in a slot changes under the lock only.
 */
static void rb_map_number(struct rb_cpu *rcpu)
{
	struct trace_buffer_meta *meta = rcpu->meta_page;
	struct rb_subbuf *sb;
	struct rb_ring *ring;
	unsigned long flags;
	unsigned int i;
	u64 word;

	ring = rb_read_lock(rcpu, &flags);
	for (i = 0; i <= ring->nr; i++) {
		sb = ring->reader.sb;
		if (i) {
			word = atomic64_read(rb_slot(ring, ring->reader.seq + i));
			sb = ring->subbufs[rb_slot_id(word)];
		}
		sb->map_id = i;
		rcpu->map_pages[i] = sb->page;
	}

	meta->meta_struct_len = sizeof(*meta);
	meta->nr_subbufs = ring->nr + 1;
	meta->subbuf_size = rb_subbuf_size(ring->order);
	meta->meta_page_size = meta->subbuf_size;
	/* Where somebody has taken the sub-buffer, but consumed nothing of it. */
	rcpu->map_lost = ring->reader.pos ? 0 : ring->reader.lost;
	rb_map_update(rcpu, ring);
	rb_read_unlock(ring, flags);
}

/* Memory for the meta page and the numbers, for the first mapping. */
static int rb_map_prepare(struct rb_cpu *rcpu)
{
	struct rb_ring *ring = rcu_dereference_protected(rcpu->read_ring, true);

	rcpu->meta_page = (void *)get_zeroed_page(GFP_USER);
	rcpu->map_pages = kvcalloc(ring->nr + 1, sizeof(*rcpu->map_pages), GFP_KERNEL);
	if (!rcpu->meta_page || !rcpu->map_pages)
		return -ENOMEM;
	rb_map_number(rcpu);
	return 0;
}

static void rb_map_release(struct rb_cpu *rcpu)
{
	struct trace_buffer_meta *meta = rcpu->meta_page;
	struct rb_ring *ring;
	unsigned long flags;

	ring = rb_read_lock(rcpu, &flags);
	rcpu->meta_page = NULL;
	rb_read_unlock(ring, flags);
	free_page((unsigned long)meta);
	kvfree(rcpu->map_pages);
	rcpu->map_pages = NULL;
}

#ifdef CONFIG_MMU
/* The page at @offset pages into the mapping, or NULL behind its end. */
static struct page *rb_map_page(struct rb_cpu *rcpu, unsigned long offset)
{
	unsigned int order = rcpu->buffer->order;
	unsigned long index = offset >> order, rest = offset & ((1UL << order) - 1);

	if (index > rcpu->meta_page->nr_subbufs)
		return NULL;
	if (index)
		return virt_to_page(rcpu->map_pages[index - 1]) + rest;
	return rest ? ZERO_PAGE(0) : virt_to_page(rcpu->meta_page);
}

static int rb_map_vma(struct rb_cpu *rcpu, struct vm_area_struct *vma)
{
	unsigned long n = vma_pages(vma), i, left;
	struct page **pages;
	int ret = -EINVAL;

	/* User space looks, and shares what it sees. */
	if (vma->vm_flags & (VM_WRITE | VM_EXEC) || !(vma->vm_flags & VM_MAYSHARE))
		return -EPERM;
	if (vma->vm_pgoff & ((1UL << rcpu->buffer->order) - 1))
		return -EINVAL;
	if (n > (rcpu->meta_page->nr_subbufs + 1UL) << rcpu->buffer->order)
		return -EINVAL;

	pages = kvcalloc(n, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		pages[i] = rb_map_page(rcpu, vma->vm_pgoff + i);
		if (!pages[i])
			goto out;
	}

	/* Nor may it become writable, be copied by fork() or grow. */
	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE);
	left = n;
	ret = vm_insert_pages(vma, vma->vm_start, pages, &left);
out:
	kvfree(pages);
	return ret;
}
#else
static int rb_map_vma(struct rb_cpu *rcpu, struct vm_area_struct *vma)
{
	return -EOPNOTSUPP;
}
#endif

/* Count a mapping; the first one keeps the ring where it is. */
static void rb_map_count(struct rb_cpu *rcpu, int by)
{
	rb_exchange_lock(rcpu);
	WRITE_ONCE(rcpu->mapped, rcpu->mapped + by);
	rb_exchange_unlock(rcpu);
}

/**
 * ring_buffer_map() - map a CPU's ring into user space
 * @buffer: the buffer
 * @cpu:    whose ring
 * @vma:    where to
 *
 * While it is mapped, the ring is not resized or swapped.
 *
 * Context: May sleep, the mmap lock is held for writing.
 * Return: 0; -EINVAL if @cpu never was online or @vma does not fit; -EPERM for
 *         a mapping that is private, writable or executable; -ENOMEM;
 *         -EOPNOTSUPP without an MMU.
 */
int ring_buffer_map(struct trace_buffer *buffer, int cpu, struct vm_area_struct *vma)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	int ret = 0;

	if (!rcpu)
		return -EINVAL;

	mutex_lock(&rcpu->map_lock);
	mutex_lock(&buffer->mutex);
	rb_map_count(rcpu, 1);
	if (!rcpu->meta_page)
		ret = rb_map_prepare(rcpu);
	if (!ret)
		ret = rb_map_vma(rcpu, vma);
	if (ret) {
		rb_map_count(rcpu, -1);
		if (!rcpu->mapped)
			rb_map_release(rcpu);
	}
	mutex_unlock(&buffer->mutex);
	mutex_unlock(&rcpu->map_lock);
	return ret;
}

/**
 * ring_buffer_map_dup() - note that a mapping was duplicated
 * @buffer: the buffer
 * @cpu:    whose ring
 *
 * Context: May sleep, the mmap lock is held for writing.
 */
void ring_buffer_map_dup(struct trace_buffer *buffer, int cpu)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);

	if (WARN_ON_ONCE(!rcpu))
		return;
	mutex_lock(&rcpu->map_lock);
	mutex_lock(&buffer->mutex);
	if (!WARN_ON_ONCE(!rcpu->mapped))
		rb_map_count(rcpu, 1);
	mutex_unlock(&buffer->mutex);
	mutex_unlock(&rcpu->map_lock);
}

/**
 * ring_buffer_unmap() - note that a mapping is gone
 * @buffer: the buffer
 * @cpu:    whose ring
 *
 * Context: May sleep, the mmap lock is held for writing.
 * Return: 0; -EINVAL if @cpu never was online; -ENODEV if it is not mapped.
 */
int ring_buffer_unmap(struct trace_buffer *buffer, int cpu)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	int ret = 0;

	if (!rcpu)
		return -EINVAL;
	mutex_lock(&rcpu->map_lock);
	mutex_lock(&buffer->mutex);
	if (rcpu->mapped) {
		rb_map_count(rcpu, -1);
		if (!rcpu->mapped)
			rb_map_release(rcpu);
	} else {
		ret = -ENODEV;
	}
	mutex_unlock(&buffer->mutex);
	mutex_unlock(&rcpu->map_lock);
	return ret;
}

/*
 * Say on a page that will not change any more what was lost in front of it, as
 * ring_buffer_read_page() does.
 */
static void rb_map_tell_lost(struct rb_ring *ring, struct rb_subbuf *sb, unsigned int end,
			     unsigned long lost)
{
	unsigned long commit = end | RB_MISSED_EVENTS;

	if (rb_subbuf_room(ring->order) - end >= sizeof(lost)) {
		memcpy(&sb->page->data[end], &lost, sizeof(lost));
		commit |= RB_MISSED_STORED;
	}
	local_set(&sb->page->commit, commit);
}

/**
 * ring_buffer_map_get_reader() - consume for who reads a mapping
 * @buffer: the buffer
 * @cpu:    whose ring
 *
 * If the reader's sub-buffer holds nothing new, the next one becomes the
 * reader's. All of it counts as read then.
 *
 * Context: May sleep.
 * Return: 0; -EINVAL if @cpu never was online; -ENODEV if it is not mapped.
 */
int ring_buffer_map_get_reader(struct trace_buffer *buffer, int cpu)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	struct rb_subbuf *before;
	struct rb_reader *rd;
	struct rb_cursor c;
	struct rb_ring *ring;
	unsigned long flags, records = 0;
	struct ring_buffer_event *rec;
	unsigned int end;
	u64 pub;

	if (!rcpu)
		return -EINVAL;
	mutex_lock(&rcpu->map_lock);
	if (!rcpu->mapped) {
		mutex_unlock(&rcpu->map_lock);
		return -ENODEV;
	}

	ring = rb_read_lock(rcpu, &flags);
	rd = &ring->reader;
	before = rd->sb;
	if (rb_reader_fill(ring)) {
		/* How much there is and that it is all, from one load. */
		pub = atomic64_read_acquire(&rd->sb->publish);
		end = rb_pub_bytes(pub);
		/* A loss that nobody was told of may be older than the call. */
		if (rd->sb != before || rd->lost)
			rcpu->map_lost = rd->lost;
		if (rd->lost && pub & RB_PUB_FINAL)
			rb_map_tell_lost(ring, rd->sb, end, rd->lost);
		rd->lost = 0;

		c = rb_cursor(rd->sb->page, rd->pos, end, rd->time);
		while ((rec = rb_cursor_next(&c))) {
			rb_cursor_skip(&c, rec);
			records++;
		}
		rb_reader_skip(ring, c.pos, c.time, records);
	}
	flush_kernel_vmap_range(rd->sb->page, rb_subbuf_size(ring->order));
	rb_map_update(rcpu, ring);
	rb_read_unlock(ring, flags);

	mutex_unlock(&rcpu->map_lock);
	return 0;
}
