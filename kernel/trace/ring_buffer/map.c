// SPDX-License-Identifier: GPL-2.0
/*
 * Rings that user space reads in place: mmap() of trace_pipe_raw.
 *
 *   offset                        content
 *   0                             meta page, padded to a sub-buffer's size
 *   subbuf_size                   sub-buffer 0, the reader's at first
 *   2 * subbuf_size               sub-buffer 1
 *   ...
 *   (1 + nr_subbufs - 2) * size   two more, for copies
 *
 * The mapping is read-only. TRACE_MMAP_IOCTL_GET_READER consumes the reader's
 * sub-buffer, and names it in the meta page.
 *
 * A cut takes the ring of these sub-buffers away. They stay as they are: that ring is not
 * recorded to again while it is mapped. From then on the reader is given copies of unread
 * records, in turns, so that each has another name than the one before: libtracefs takes
 * the same name for nothing new.
 */
#include <linux/export.h>
#include <linux/highmem.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "internal.h"

/* In the mapping, behind the ring's sub-buffers. */
#define RB_MAP_COPIES	2

/**
 * rb_map_update() - tell user space how much there is
 * @rcpu: the CPU's part
 * @ring: its ring
 *
 * And where the reader is, where that is in a sub-buffer that is mapped.
 *
 * Context: &rb_ring.lock is held, and &rb_cpu.map_lock or &trace_buffer.mutex.
 */
void rb_map_update(struct rb_cpu *rcpu, struct rb_ring *ring)
{
	struct rb_map *map = rcpu->map;
	struct rb_reader *rd = &ring->reader;
	struct trace_buffer_meta *meta;
	u64 oldest = rd->seq + 1;
	struct rb_view view;

	lockdep_assert_held(&ring->lock);
	lockdep_assert(lockdep_is_held(&rcpu->map_lock) ||
		       lockdep_is_held(&rcpu->buffer->mutex));
	if (!map)
		return;

	meta = map->meta;
	if (ring == map->ring) {
		meta->reader.read = rd->pos;
		meta->reader.id = rd->sb->map_id;
	}
	meta->reader.lost_events = map->lost;
	meta->entries = rb_ring_written(ring) - rd->num_base;
	meta->overrun = rb_ring_overrun(ring);
	meta->read = rd->read;
	/* Each sub-buffer up to the oldest one was taken by the reader, or was overwritten. */
	rb_locate(ring, &oldest, &view);
	meta->pages_lost = max_t(s64, oldest - 1 - rd->from - rd->taken, 0);
	meta->pages_touched = max_t(s64, READ_ONCE(READ_ONCE(ring->commit)->seq) - 1 - rd->from, 0);

	/* Where the caches of kernel and user addresses are not one. */
	flush_kernel_vmap_range(meta, PAGE_SIZE);
}

/*
 * Number the sub-buffers: the reader's first, then those in the slots, oldest
 * first. Which sub-buffer is in a slot changes under the lock only.
 */
static void rb_map_number(struct rb_map *map)
{
	struct rb_ring *ring = map->ring;
	struct trace_buffer_meta *meta = map->meta;
	struct rb_subbuf *sb;
	unsigned long flags;
	unsigned int i;
	u64 word;

	local_irq_save(flags);
	rb_ring_lock(ring, RB_LOCK_WAIT);
	for (i = 0; i <= ring->nr; i++) {
		sb = ring->reader.sb;
		if (i) {
			word = atomic64_read(rb_slot(ring, ring->reader.seq + i));
			sb = ring->subbufs[rb_slot_id(word)];
		}
		sb->map_id = i;
		map->pages[i] = sb->page;
	}

	meta->meta_struct_len = sizeof(*meta);
	meta->nr_subbufs = map->nr;
	meta->subbuf_size = rb_subbuf_size(ring->order);
	meta->meta_page_size = meta->subbuf_size;
	meta->reader.read = ring->reader.pos;
	/* A reader may have taken the sub-buffer, but consumed nothing of it. */
	map->lost = ring->reader.pos ? 0 : ring->reader.lost;
	rb_read_unlock(ring, flags);
}

/* From here on, no cut lets the ring be recorded to again. */
static struct rb_ring *rb_map_hold(struct rb_cpu *rcpu)
{
	struct rb_ring *ring;

	rb_exchange_lock(rcpu);
	ring = rb_untag(READ_ONCE(rcpu->ring));
	atomic_inc(&ring->mapped);
	refcount_inc(&ring->ref);
	rb_exchange_unlock(rcpu);
	return ring;
}

static void rb_map_free(struct rb_map *map)
{
	struct rb_ring *ring = map->ring;
	unsigned int i;

	for (i = map->nr - RB_MAP_COPIES; map->pages && i < map->nr; i++)
		rb_data_page_free(map->pages[i], ring->order);
	kvfree(map->pages);
	free_page((unsigned long)map->meta);
	kfree(map);

	atomic_dec(&ring->mapped);
	rb_ring_put(ring);
}

/* Allocate the memory for the first mapping. */
static struct rb_map *rb_map_alloc(struct rb_cpu *rcpu)
{
	struct rb_map *map = kzalloc(sizeof(*map), GFP_KERNEL);
	unsigned int i;

	if (!map)
		return NULL;
	map->ring = rb_map_hold(rcpu);
	map->nr = map->ring->nr + 1 + RB_MAP_COPIES;
	map->meta = (void *)get_zeroed_page(GFP_USER);
	map->pages = kvcalloc(map->nr, sizeof(*map->pages), GFP_KERNEL);
	if (!map->meta || !map->pages)
		goto fail;
	for (i = map->nr - RB_MAP_COPIES; i < map->nr; i++) {
		map->pages[i] = rb_data_page_alloc(rcpu->cpu, map->ring->order, GFP_KERNEL);
		if (!map->pages[i])
			goto fail;
	}
	rb_map_number(map);
	return map;
fail:
	rb_map_free(map);
	return NULL;
}

/* Before the first mapping. */
static int rb_map_prepare(struct rb_cpu *rcpu)
{
	struct rb_ring *ring;
	unsigned long flags;

	rcpu->map = rb_map_alloc(rcpu);
	if (!rcpu->map)
		return -ENOMEM;
	ring = rb_read_lock(rcpu, &flags);
	rb_map_update(rcpu, ring);
	rb_read_unlock(ring, flags);
	return 0;
}

static void rb_map_release(struct rb_cpu *rcpu)
{
	if (rcpu->map)
		rb_map_free(rcpu->map);
	rcpu->map = NULL;
}

#ifdef CONFIG_MMU
/* Memory that survives a reboot can be mapped as by vmap(). */
static struct page *rb_page_of(const void *addr)
{
	return is_vmalloc_addr(addr) ? vmalloc_to_page(addr) : virt_to_page(addr);
}

/*
 * The page at @offset pages into the mapping, or NULL behind its end. memmap= may have taken a page
 * behind all that the kernel knows as memory: such a one cannot be mapped.
 */
static struct page *rb_map_page(struct rb_cpu *rcpu, unsigned long offset)
{
	unsigned int order = rcpu->buffer->order;
	unsigned long index = offset >> order, rest = offset & ((1UL << order) - 1);
	struct page *page;

	if (index > rcpu->map->nr)
		return NULL;
	if (!index)
		return rest ? ZERO_PAGE(0) : virt_to_page(rcpu->map->meta);
	page = rb_page_of((void *)rcpu->map->pages[index - 1] + rest * PAGE_SIZE);
	return page_to_pfn(page) < max_pfn ? page : NULL;
}

static int rb_map_vma(struct rb_cpu *rcpu, struct vm_area_struct *vma)
{
	unsigned long n = vma_pages(vma), i, left;
	struct page **pages;
	int ret = -EINVAL;

	/* User space only looks, at the memory itself. */
	if (vma->vm_flags & (VM_WRITE | VM_EXEC) || !(vma->vm_flags & VM_MAYSHARE))
		return -EPERM;
	if (vma->vm_pgoff & ((1UL << rcpu->buffer->order) - 1))
		return -EINVAL;
	if (n > (rcpu->map->nr + 1UL) << rcpu->buffer->order)
		return -EINVAL;

	pages = kvcalloc(n, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		pages[i] = rb_map_page(rcpu, vma->vm_pgoff + i);
		if (!pages[i])
			goto out;
	}

	/* Nor may it become writable or executable, be copied by fork() or grow. */
	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
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

/*
 * Count a mapping. As long as there is one, nothing is cut into this buffer: a cut that does
 * not see the first one is over before rb_map_hold() looks at the ring.
 */
static void rb_map_count(struct rb_cpu *rcpu, int by)
{
	lockdep_assert_held(&rcpu->map_lock);
	lockdep_assert_held(&rcpu->buffer->mutex);
	WRITE_ONCE(rcpu->mapped, rcpu->mapped + by);
}

/**
 * ring_buffer_map() - map a CPU's ring into user space
 * @buffer: the buffer
 * @cpu:    CPU of the ring
 * @vma:    where to
 *
 * While it is mapped, the ring is not resized.
 *
 * Context: May sleep, the mmap lock is held for writing.
 * Return: 0; -EINVAL if @cpu never was online, or @vma or the memory does not fit; -EPERM for
 *         a mapping that is private, writable or executable; -ENOMEM;
 *         -EOPNOTSUPP without an MMU.
 */
int ring_buffer_map(struct trace_buffer *buffer, int cpu, struct vm_area_struct *vma)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	int ret = 0;

	if (!rcpu)
		return -EINVAL;

	guard(mutex)(&rcpu->map_lock);
	guard(mutex)(&buffer->mutex);
	rb_map_count(rcpu, 1);
	if (!rcpu->map)
		ret = rb_map_prepare(rcpu);
	if (!ret)
		ret = rb_map_vma(rcpu, vma);
	if (ret) {
		rb_map_count(rcpu, -1);
		if (!rcpu->mapped)
			rb_map_release(rcpu);
	}
	return ret;
}

/**
 * ring_buffer_map_dup() - note that a mapping was duplicated
 * @buffer: the buffer
 * @cpu:    CPU of the ring
 *
 * Context: May sleep, the mmap lock is held for writing.
 */
void ring_buffer_map_dup(struct trace_buffer *buffer, int cpu)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);

	if (WARN_ON_ONCE(!rcpu))
		return;
	guard(mutex)(&rcpu->map_lock);
	guard(mutex)(&buffer->mutex);
	if (!WARN_ON_ONCE(!rcpu->mapped))
		rb_map_count(rcpu, 1);
}

/**
 * ring_buffer_unmap() - end a mapping
 * @buffer: the buffer
 * @cpu:    CPU of the ring
 *
 * Context: May sleep, the mmap lock is held for writing.
 * Return: 0; -EINVAL if @cpu never was online; -ENODEV if it is not mapped.
 */
int ring_buffer_unmap(struct trace_buffer *buffer, int cpu)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);

	if (!rcpu)
		return -EINVAL;
	guard(mutex)(&rcpu->map_lock);
	guard(mutex)(&buffer->mutex);
	if (!rcpu->mapped)
		return -ENODEV;
	rb_map_count(rcpu, -1);
	if (!rcpu->mapped)
		rb_map_release(rcpu);
	return 0;
}

/**
 * ring_buffer_is_mapped() - does user space map a ring of a buffer?
 * @buffer: the buffer
 *
 * Context: Any context, including NMI.
 * Return: true if a ring of it was mapped, here or in another buffer, and still is. Then
 *         it can't be the spare one of a cut.
 */
bool ring_buffer_is_mapped(struct trace_buffer *buffer)
{
	struct rb_cpu *rcpu;
	int cpu;

	/* A ring that is found stays so long. */
	guard(preempt_notrace)();
	rb_for_each_cpu(buffer, cpu) {
		rcpu = rb_get_cpu(buffer, cpu);
		if (atomic_read(&rb_untag(READ_ONCE(rcpu->ring))->mapped))
			return true;
	}
	return false;
}

/**
 * rb_map_is_behind() - is the ring mapped that a cut has taken away?
 * @rcpu: the CPU's part
 *
 * Context: May sleep.
 * Return: true if so.
 */
bool rb_map_is_behind(struct rb_cpu *rcpu)
{
	guard(mutex)(&rcpu->map_lock);
	return rcpu->map && rcpu->map->ring != rb_untag(READ_ONCE(rcpu->ring));
}

/*
 * Show the reader's sub-buffer to user space, in its own memory or, if that is not mapped,
 * in a copy.
 *
 * Return: the page that is seen, in @fresh whether it is another one than before, and in @end
 * where it ends.
 */
static struct rb_data_page *
rb_map_show(struct rb_map *map, struct rb_ring *ring, unsigned int *end, bool *fresh)
{
	struct trace_buffer_meta *meta = map->meta;
	struct rb_reader *rd = &ring->reader;
	struct rb_data_page *from = rd->sb->page, *to;

	if (ring == map->ring) {
		*fresh = map->seq != rd->seq;
		map->seq = rd->seq;
		return from;
	}

	*fresh = true;
	*end -= rd->pos;
	map->copy ^= 1;
	meta->reader.id = map->nr - RB_MAP_COPIES + map->copy;
	meta->reader.read = *end;
	to = map->pages[meta->reader.id];
	to->time_stamp = rd->time;
	memcpy(to->data, from->data + rd->pos, *end);
	local_set(&to->commit, *end);
	return to;
}

/**
 * ring_buffer_map_get_reader() - consume for the reader of a mapping
 * @buffer: the buffer
 * @cpu:    CPU of the ring
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
	struct rb_data_page *page;
	struct rb_reader *rd;
	struct rb_cursor c;
	struct rb_ring *ring;
	unsigned long flags, records;
	unsigned int end, shown;
	bool fresh;
	u64 pub;

	if (!rcpu)
		return -EINVAL;
	guard(mutex)(&rcpu->map_lock);
	if (!rcpu->mapped)
		return -ENODEV;

	ring = rb_read_lock(rcpu, &flags);
	rd = &ring->reader;
	if (rb_reader_fill(ring)) {
		/* How much there is and that it is all, from one load. */
		pub = atomic64_read_acquire(&rd->sb->publish);
		end = rb_pub_bytes(pub);
		shown = end;
		page = rb_map_show(rcpu->map, ring, &shown, &fresh);
		if (fresh)
			rcpu->map->lost = rd->lost;
		if (rd->lost && pub & RB_PUB_FINAL)
			rb_page_tell(page, ring->order, shown, rd->lost);
		rb_reader_told(rcpu, ring, rd->num);

		c = rb_cursor(rd->sb->page, rd->pos, end, rd->time);
		records = rb_cursor_count(&c);
		rb_reader_skip(ring, c.pos, c.time, records);
		flush_kernel_vmap_range(page, rb_subbuf_size(ring->order));
	}
	rb_map_update(rcpu, ring);
	rb_read_unlock(ring, flags);
	return 0;
}
