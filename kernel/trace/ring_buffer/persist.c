// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers in memory that survives a reboot.
 *
 * The range holds, in this order, and at the same offsets in every boot:
 *
 *   struct rb_persist_header
 *   struct rb_persist_cpu    [CPU]
 *   scratch memory of the caller
 *   struct rb_persist_subbuf [CPU][ring][index]
 *   data pages               [CPU][ring][index], aligned to their size
 *
 * Nothing in it is an address that this boot has to follow. The order of the
 * sub-buffers is that of the sequences in their headers, and where a header or
 * a data page makes no sense, only that sub-buffer is lost. The headers of the rings
 * can't be checked.
 *
 * Where the range has room for a spare buffer, each CPU has two rings, and a cut
 * exchanges them. First it drops the records of the spare one, by the first sequence that
 * counts, then it notes which one is live.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/panic_notifier.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <asm/ring_buffer.h>

#include "boots.h"
#include "internal.h"
#include "../trace.h"

/* "ringbuf", and a number that changes with the layout. */
#define RB_PERSIST_MAGIC	0x72696e6762756604ULL

/* The live ring and the spare one. */
#define RB_PERSIST_RINGS	2

/* One is written, one may be overwritten, and the reader has one. */
#define RB_PERSIST_MIN		3

/*
 * A higher sequence is damaged: the writer begins near 2^40 in each boot. Above this there is
 * room for those of rb_persist_renumber().
 */
#define RB_PERSIST_SEQ_MAX	S64_MAX

/**
 * struct rb_persist_ring - a ring's header for the next boot
 * @first: sequence from which on sub-buffers hold something
 * @text:  where a function of the kernel that wrote the records was ...
 * @data:  ... and a variable: the printed form of addresses depends on it
 * @recent: how many sub-buffers the last boot had written when this one began, for a copy: their
 *	    sequences do not tell any more
 */
struct rb_persist_ring {
	u64	first;
	u64	text;
	u64	data;
	u64	recent;
};

/**
 * struct rb_persist_cpu - a CPU's header for the next boot
 * @live:  which of its rings was the live one
 * @rings: its rings
 */
struct rb_persist_cpu {
	u64			live;
	struct rb_persist_ring	rings[RB_PERSIST_RINGS];
};

/**
 * struct rb_persist_shape - where everything is; has to be the same to be found
 * @magic:       RB_PERSIST_MAGIC
 * @data:        offset of the first data page
 * @scratch:     bytes of scratch memory
 * @header_size: bytes of &struct rb_persist_header
 * @page_header: bytes in front of the records of a data page
 * @nr_cpus:     CPUs that have a part of the range
 * @nr_rings:    rings of each
 * @nr_subbufs:  sub-buffers of each ring
 * @subbuf_size: bytes of a data page
 */
struct rb_persist_shape {
	u64	magic;
	u64	data;
	u64	scratch;
	u32	header_size;
	u32	page_header;
	u32	nr_cpus;
	u32	nr_rings;
	u32	nr_subbufs;
	u32	subbuf_size;
};

/**
 * struct rb_persist_header - the beginning of the range
 * @shape: where everything is
 * @note:  for the owner of the spare buffer
 * @cpus:  the CPUs
 */
struct rb_persist_header {
	struct rb_persist_shape		shape;
	u64				note[RB_NOTE_SIZE / sizeof(u64)];
	struct rb_persist_cpu		cpus[];
};

/* Another kernel may read them: see RB_PERSIST_MAGIC. */
static_assert(sizeof(struct rb_persist_subbuf) == 16);
static_assert(sizeof(struct rb_persist_ring) == 32);
static_assert(sizeof(struct rb_persist_cpu) == 72);
static_assert(sizeof(struct rb_persist_shape) == 48);

/**
 * struct rb_persist - a buffer's range
 * @buffer:      the live buffer
 * @users:       this one, and the spare one if there is one
 * @start:       first byte
 * @end:         byte behind the last
 * @shape:       where everything is
 * @header:      the range's header
 * @scratch:     memory for the caller
 * @subbufs:     the sub-buffers' headers
 * @panic:       stops and flushes it
 */
struct rb_persist {
	struct trace_buffer		*buffer;
	atomic_t			users;
	unsigned long			start;
	unsigned long			end;
	struct rb_persist_shape		shape;
	struct rb_persist_header	*header;
	void				*scratch;
	struct rb_persist_subbuf	*subbufs;
	struct notifier_block		panic;
};

/**
 * struct rb_persist_part - a sub-buffer that is looked at after a reboot
 * @page:     its data page
 * @header:   its header
 * @seq:      sequence in the boot before
 * @count:    records
 * @consumed: records in front of @read
 * @time:     time of the record in front of @read
 * @bytes:    bytes of records
 * @read:     bytes that were consumed
 */
struct rb_persist_part {
	struct rb_data_page		*page;
	struct rb_persist_subbuf	*header;
	u64				seq;
	unsigned long			count;
	unsigned long			consumed;
	u64				time;
	unsigned int			bytes;
	unsigned int			read;
};

/* Its address says where the kernel's data is. */
static char rb_persist_landmark;

static u64 rb_persist_text(void)
{
	return (unsigned long)ring_buffer_last_boot_delta;
}

static u64 rb_persist_data(void)
{
	return (unsigned long)&rb_persist_landmark;
}

static size_t rb_persist_total(struct rb_persist *persist)
{
	return (size_t)nr_cpu_ids * persist->shape.nr_rings * persist->shape.nr_subbufs;
}

static struct rb_data_page *rb_persist_page(struct rb_persist *persist, size_t n)
{
	return (void *)persist->header + persist->shape.data + n * persist->shape.subbuf_size;
}

/*
 * Divide the range. The size comes from the command line: nothing is
 * multiplied that was not divided before.
 */
static int rb_persist_divide(struct rb_persist *persist)
{
	struct rb_persist_shape *shape = &persist->shape;
	unsigned long start, size, head, need, nr;

	start = ALIGN(persist->start, __alignof__(struct rb_persist_header));
	if (start < persist->start || start >= persist->end)
		return -EINVAL;

	/* The rest is for sub-buffers, if the alignment costs most. */
	size = persist->end - start;
	head = struct_size(persist->header, cpus, nr_cpu_ids);
	need = size_add(head + shape->subbuf_size, shape->scratch);
	if (size < need)
		return -ENOMEM;
	size -= need;

	nr = size / nr_cpu_ids / shape->nr_rings /
	     (sizeof(struct rb_persist_subbuf) + shape->subbuf_size);
	if (nr < RB_PERSIST_MIN)
		return -ENOMEM;

	shape->nr_subbufs = min(nr, RB_MAX_SUBBUFS / 2);
	persist->header = (struct rb_persist_header *)start;
	persist->scratch = (void *)(start + head);
	persist->subbufs = persist->scratch + shape->scratch;
	shape->data = ALIGN((unsigned long)(persist->subbufs + rb_persist_total(persist)),
			    shape->subbuf_size) - start;
	return 0;
}

/* From now on the records are this boot's. */
static void rb_persist_renew(struct rb_persist_ring *ring)
{
	WRITE_ONCE(ring->text, rb_persist_text());
	WRITE_ONCE(ring->data, rb_persist_data());
}

/* Keep the records of the last boot, or make room for new ones. */
static void rb_persist_begin(struct rb_persist *persist)
{
	struct rb_persist_header *header = persist->header;
	bool known = !memcmp(&header->shape, &persist->shape, sizeof(header->shape));

	if (!known) {
		/* A crash in here must not leave a shape with another's content. */
		WRITE_ONCE(header->shape.magic, 0);
		barrier();
		memset(header->note, 0, sizeof(header->note));
		memset(persist->scratch, 0, persist->shape.scratch);
		memset(persist->subbufs, 0, rb_persist_total(persist) * sizeof(*persist->subbufs));
		/* User space may map these: what was here before is not its business. */
		memset((void *)header + persist->shape.data, 0,
		       rb_persist_total(persist) * persist->shape.subbuf_size);
		barrier();
		header->shape = persist->shape;
	}
	pr_info("ring buffer: %zu sub-buffers that survive a reboot, %s\n",
		rb_persist_total(persist), known ? "as in the last boot" : "new");
}

#ifdef CONFIG_RING_BUFFER_PERSISTENT_INJECT
/*
 * Damage some of the sub-buffers that this CPU has written, also three in a row: the next boot
 * has to find them, see rb_persist_find().
 */
static void rb_persist_damage(struct rb_persist *persist)
{
	struct rb_cpu *rcpu;
	struct rb_ring *ring;
	struct rb_subbuf *sb;
	unsigned int i, nr = 0;

	if (!(persist->buffer->flags & RB_FL_TESTING))
		return;
	guard(preempt)();
	rcpu = rb_get_cpu(persist->buffer, smp_processor_id());
	if (!rcpu)
		return;
	ring = rb_untag(READ_ONCE(rcpu->ring));
	for (i = 0; i <= ring->nr; i++) {
		sb = ring->subbufs[i];
		if ((i % 2 && i % 5) || !sb->persist->seq || !local_read(&sb->page->commit))
			continue;
		local_add(rb_subbuf_size(ring->order), &sb->page->commit);
		sb->persist->damaged = 1;
		nr++;
	}
	pr_info("ring buffer: CPU %d: damaged %u sub-buffers for a test\n", rcpu->cpu, nr);
}
#else
static void rb_persist_damage(struct rb_persist *persist)
{
}
#endif

/* The last chance to write the caches back to memory. */
static int rb_persist_panic(struct notifier_block *nb, unsigned long event, void *unused)
{
	struct rb_persist *persist = container_of(nb, struct rb_persist, panic);

	ring_buffer_record_off(persist->buffer);
	rb_persist_damage(persist);
	arch_ring_buffer_flush_range(persist->start, persist->end);
	return NOTIFY_DONE;
}

/**
 * rb_persist_attach() - put a buffer into memory that survives a reboot
 * @buffer: the buffer, without sub-buffers yet
 * @start:  where the memory is mapped
 * @size:   bytes of it
 * @scratch: bytes of it for the caller
 * @spare:  there shall be room for a spare buffer, too
 *
 * The content of the memory is kept if it is that of a buffer of the same shape.
 *
 * Context: May sleep.
 * Return: the number of slots that each CPU's ring can have; -EINVAL if that is no range;
 *         -ENOMEM if it is too small or there is no memory. Then there is nothing to detach.
 */
int rb_persist_attach(struct trace_buffer *buffer, unsigned long start, unsigned long size,
		      unsigned long scratch, bool spare)
{
	struct rb_persist *persist;
	unsigned long end;
	int ret;

	if (!start || check_add_overflow(start, size, &end) || scratch > size)
		return -EINVAL;

	persist = kzalloc(sizeof(*persist), RB_GFP);
	if (!persist)
		return -ENOMEM;
	persist->buffer = buffer;
	atomic_set(&persist->users, 1);
	persist->start = start;
	persist->end = end;
	persist->shape = (struct rb_persist_shape){
		.magic		= RB_PERSIST_MAGIC,
		.scratch	= ALIGN(scratch, sizeof(u64)),
		.header_size	= sizeof(*persist->header),
		.page_header	= RB_PAGE_HDR,
		.nr_cpus	= nr_cpu_ids,
		.nr_rings	= spare ? RB_PERSIST_RINGS : 1,
		.subbuf_size	= rb_subbuf_size(buffer->order),
	};
	ret = rb_persist_divide(persist);
	if (ret) {
		pr_warn("ring buffer: %lu bytes do not suffice for %u CPUs\n", size, nr_cpu_ids);
		kfree(persist);
		return ret;
	}

	buffer->persist = persist;
	rb_persist_begin(persist);
	persist->panic.notifier_call = rb_persist_panic;
	/*
	 * Others may have something to record, or take a snapshot. The caller comes behind it, and
	 * then s390, which boots again.
	 */
	persist->panic.priority = INT_MIN + 2;
	atomic_notifier_chain_register(&panic_notifier_list, &persist->panic);
	return persist->shape.nr_subbufs - 1;
}

/**
 * rb_persist_share() - let a spare buffer have its part of the memory
 * @buffer: the spare buffer, without sub-buffers yet
 * @live:   the live one
 *
 * The records that the last cut before a reboot has left there are kept.
 *
 * Context: May sleep.
 * Return: the number of slots that each CPU's ring can have; -EINVAL if there is no room for
 *         a spare buffer; -EBUSY if there is one already, or if that memory is still mapped to
 *         user space because of an earlier one.
 */
int rb_persist_share(struct trace_buffer *buffer, struct trace_buffer *live)
{
	struct rb_persist *persist = live->persist;
	int cpu;

	if (persist->shape.nr_rings < RB_PERSIST_RINGS)
		return -EINVAL;
	if (atomic_cmpxchg(&persist->users, 1, 2) != 1)
		return -EBUSY;
	/* Without a spare buffer there is no cut, so none moves another mapping there. */
	rb_for_each_cpu(live, cpu) {
		if (rb_map_is_behind(rb_get_cpu(live, cpu))) {
			atomic_dec(&persist->users);
			return -EBUSY;
		}
	}
	buffer->persist = persist;
	return persist->shape.nr_subbufs - 1;
}

/**
 * rb_persist_detach() - take a buffer out of memory that survives a reboot
 * @buffer: the buffer; its sub-buffers are not used any more
 *
 * The memory keeps its content.
 *
 * Context: May sleep.
 */
void rb_persist_detach(struct trace_buffer *buffer)
{
	struct rb_persist *persist = buffer->persist;

	if (buffer == persist->buffer)
		atomic_notifier_chain_unregister(&panic_notifier_list, &persist->panic);
	if (atomic_dec_and_test(&persist->users))
		kfree(persist);
}

/**
 * rb_persist_ring() - choose the ring of a buffer among those of a CPU
 * @buffer: of which buffer
 * @cpu:    of which CPU
 *
 * Context: Any context.
 * Return: the one that was live for the live buffer, the other one for the spare.
 */
struct rb_persist_ring *rb_persist_ring(struct trace_buffer *buffer, int cpu)
{
	struct rb_persist *persist = buffer->persist;
	struct rb_persist_cpu *part = &persist->header->cpus[cpu];

	/* Nothing but 0 or 1, unless it is damaged. */
	if (part->live >= persist->shape.nr_rings)
		part->live = 0;
	return &part->rings[part->live ^ (buffer != persist->buffer)];
}

/**
 * rb_persist_forget() - note that the records of a ring are dropped
 * @ring: the ring
 *
 * And that from now on it holds records of this boot.
 *
 * Context: Any context, including NMI.
 */
void rb_persist_forget(struct rb_ring *ring)
{
	struct rb_subbuf *last = READ_ONCE(ring->tail);

	/* Records in flight are dropped as well. */
	if (last == &rb_fresh)
		last = READ_ONCE(ring->commit);
	WRITE_ONCE(ring->persist->first, READ_ONCE(last->seq) + 1);
	barrier();
	rb_persist_renew(ring->persist);
}

/**
 * rb_persist_go_live() - note that a ring is about to be the live one
 * @rcpu: the CPU's part
 * @ring: the ring
 *
 * Context: Any context, including NMI.
 */
void rb_persist_go_live(struct rb_cpu *rcpu, struct rb_ring *ring)
{
	struct rb_persist_cpu *cpu = &rcpu->buffer->persist->header->cpus[rcpu->cpu];

	WRITE_ONCE(cpu->live, ring->persist - cpu->rings);
}

/**
 * ring_buffer_note() - memory for a note about the records of a spare buffer
 * @spare: the spare buffer
 *
 * The memory stays as long as the spare buffer, and survives a reboot together with it.
 *
 * Context: Any context, including NMI.
 * Return: RB_NOTE_SIZE bytes, 0 at first; NULL if @spare does not survive a reboot.
 */
void *ring_buffer_note(struct trace_buffer *spare)
{
	return spare->persist ? spare->persist->header->note : NULL;
}

/**
 * ring_buffer_meta_scratch() - memory of the caller's in memory that survives a reboot
 * @buffer: the buffer, or NULL
 * @size:   is set to its bytes, or NULL
 *
 * Its content is not trusted, as that of the note is not: see Documentation/trace/ring-buffer.rst.
 *
 * Context: Any context.
 * Return: at least as many bytes as __ring_buffer_alloc_range() was asked for, 0 at first; NULL if
 *	   @buffer does not survive a reboot.
 */
void *ring_buffer_meta_scratch(struct trace_buffer *buffer, unsigned int *size)
{
	if (!buffer || !buffer->persist)
		return NULL;
	if (size)
		*size = buffer->persist->shape.scratch;
	return buffer->persist->scratch;
}

/**
 * rb_persist_place() - give a sub-buffer its memory
 * @rcpu:  the CPU's part
 * @sb:    the sub-buffer
 * @index: which of the ring's it is
 *
 * Context: Any context. Without a place for @index @sb->page stays NULL.
 */
void rb_persist_place(struct rb_cpu *rcpu, struct rb_subbuf *sb, unsigned int index)
{
	struct rb_persist *persist = rcpu->buffer->persist;
	struct rb_persist_cpu *cpu = &persist->header->cpus[rcpu->cpu];
	size_t n = rb_persist_ring(rcpu->buffer, rcpu->cpu) - cpu->rings;

	if (WARN_ON_ONCE(index >= persist->shape.nr_subbufs))
		return;
	n = ((size_t)rcpu->cpu * persist->shape.nr_rings + n) * persist->shape.nr_subbufs + index;
	sb->page = rb_persist_page(persist, n);
	sb->persist = &persist->subbufs[n];
}

/*
 * Bytes of the record or stamp at @rec, or 0 if no writer leaves it like that. @left
 * bytes of records are there.
 */
static unsigned int rb_persist_len(struct ring_buffer_event *rec, unsigned int left)
{
	unsigned int len;

	/* The writer leaves no padding. */
	if (rec->type_len == RINGBUF_TYPE_PADDING)
		return 0;
	/* array[0] is the length: look at it if it is there. A small one is in the header. */
	if (!rec->type_len && (left < RB_RECORD_HDR + sizeof(rec->array[0]) ||
			       !rec->array[0] || rb_is_small(rec->array[0])))
		return 0;
	/* One that wraps is less than RB_UNIT: it is not aligned, or 0. */
	len = rb_total_len(rec);
	return len <= left && IS_ALIGNED(len, RB_RECORD_ALIGN) ? len : 0;
}

/*
 * Advance @time past @rec; false if no writer leaves such a time there. @since sums up
 * the deltas from the last complete time: the page's, or an absolute stamp.
 *
 * After a clock step backwards the writer stores an absolute stamp, or, if the upper
 * bits of the time are in use, begins a new sub-buffer: see rb_choose_stamp().
 */
static bool rb_persist_time(struct rb_persist_part *part, struct ring_buffer_event *rec,
			    u64 *time, u64 *since)
{
	u64 next = rb_advance_time(rec, *time);

	if (rec->type_len == RINGBUF_TYPE_TIME_STAMP) {
		if (next < *time && part->page->time_stamp & ~RB_ABS_MASK)
			return false;
		*since = 0;
	} else {
		/* No clock comes to the end of its 64 bits. */
		if (next < *time)
			return false;
		/* The tail word holds the sum. */
		*since += next - *time;
		if (*since > RB_SINCE_MAX)
			return false;
	}
	*time = next;
	return true;
}

/* Look at every record of a sub-buffer: can a writer have left it like that? */
static bool rb_persist_check(struct rb_persist_part *part, unsigned int room)
{
	unsigned long commit = local_read(&part->page->commit);
	u64 time = part->page->time_stamp, since = 0;
	u32 read = READ_ONCE(part->header->read);
	struct ring_buffer_event *rec;
	unsigned int pos, len;
	bool found = false;

	commit &= ~(RB_MISSED_EVENTS | RB_MISSED_STORED);
	if (commit > room || part->header->seq > RB_PERSIST_SEQ_MAX)
		return false;

	/* The walk does not come to an end that is not aligned. */
	for (pos = 0;; pos += len) {
		if (pos == read) {
			part->time = time;
			part->consumed = part->count;
			found = true;
		}
		if (pos == commit)
			break;

		rec = (struct ring_buffer_event *)(part->page->data + pos);
		len = rb_persist_len(rec, commit - pos);
		if (!len || !rb_persist_time(part, rec, &time, &since))
			return false;
		part->count += rb_is_data(rec);
	}
	part->bytes = commit;
	part->read = read;
	return found;
}

/* Newest first; nothing comes last. */
static int rb_persist_cmp(const void *a, const void *b)
{
	const struct rb_persist_part *x = a, *y = b;

	return x->seq < y->seq ? 1 : x->seq > y->seq ? -1 : 0;
}

/**
 * struct rb_persist_bad - sub-buffers that are not good
 * @nr:     of all
 * @tested: those that the last boot has damaged for a test
 * @missed: how many of these look good
 */
struct rb_persist_bad {
	unsigned int	nr;
	unsigned int	tested;
	unsigned int	missed;
};

/*
 * Find the good ones of the ring's sub-buffers, newest first, and the others
 * behind them.
 *
 * Return: how many are good and hold something unread; those that are not
 *         good add to @bad.
 */
static unsigned int rb_persist_find(struct rb_ring *ring, u64 first,
				    struct rb_persist_part *parts, struct rb_persist_bad *bad)
{
	unsigned int i, found = 0, nr = 0;
	struct rb_persist_part *part;
	bool good, tested;

	for (i = 0; i <= ring->nr; i++) {
		part = &parts[i];
		part->page = ring->subbufs[i]->page;
		part->header = ring->subbufs[i]->persist;
		/* An earlier generation of the ring has left it. */
		if (part->header->seq < first)
			WRITE_ONCE(part->header->seq, 0);
		tested = part->header->damaged;
		part->header->damaged = 0;
		if (!part->header->seq)
			continue;
		good = rb_persist_check(part, rb_subbuf_room(ring->order));
		bad->tested += tested;
		bad->missed += tested && good;
		if (!good) {
			bad->nr++;
		} else if (part->count != part->consumed) {
			part->seq = part->header->seq;
			found++;
		}
		cond_resched();
	}
	/* From here on all sequences count. */
	barrier();
	WRITE_ONCE(ring->persist->first, 0);
	sort(parts, ring->nr + 1, sizeof(*parts), rb_persist_cmp, NULL);

	/*
	 * A sequence is written once: one of two has a damaged header. It is emptied now: once the
	 * other one has a new sequence, the next boot would believe both.
	 */
	for (i = 0; i < found; i++) {
		if (nr && parts[i].seq == parts[nr - 1].seq) {
			WRITE_ONCE(parts[i].header->seq, 0);
			bad->nr++;
			continue;
		}
		swap(parts[nr], parts[i]);
		nr++;
	}
	return nr;
}

/*
 * Let the first @kept of @parts, newest first, have the sequences before @seq.
 *
 * The machine may stop after each store. The next boot must find the parts in this order then, and
 * no sequence twice, but the new sequences may lie among the old ones. So the parts first get
 * sequences above both, the newest one first, and then the new ones, the oldest one first.
 *
 * A store changes only one half of a sequence: a 32-bit machine stores the halves one by one.
 */
static void rb_persist_renumber(struct rb_persist_part *parts, unsigned int kept, u64 seq)
{
	u64 high = upper_32_bits(max(parts[0].seq, seq)) + (u64)kept;
	unsigned int i;

	for (i = 0; i < kept; i++)
		WRITE_ONCE(parts[i].header->seq, (high - i) << 32 | lower_32_bits(parts[i].seq));
	for (i = 0; i < kept; i++)
		WRITE_ONCE(parts[i].header->seq, (high - i) << 32 | lower_32_bits(seq - 1 - i));
	for (i = kept; i > 0; i--)
		WRITE_ONCE(parts[i - 1].header->seq, seq - i);
}

/*
 * Let @sb hold @part as sequence @seq, or nothing if it is NULL. A @part has got its sequence from
 * rb_persist_renumber().
 */
static void rb_persist_fill(struct rb_subbuf *sb, u64 seq, struct rb_persist_part *part,
			    unsigned int pos)
{
	unsigned int bytes = part ? part->bytes : 0;

	/* First: if more was read than @bytes, the next boot would take it for a damaged one. */
	if (!part)
		rb_persist_emptied(sb);
	local_set(&sb->page->commit, bytes);
	WRITE_ONCE(sb->persist->read, pos);

	sb->seq = seq;
	sb->end = bytes / RB_UNIT;
	sb->count = part ? part->count : 0;
	local64_set(&sb->tail, rb_tail_word(seq, RB_CLOSED));
	atomic64_set(&sb->publish, rb_pub_word(seq, RB_PUB_FINAL, sb->end));
}

/*
 * Give the descriptors the memory in the order of @parts: the newest to the
 * slot of the last sequence before the tail's, the one behind those in slots to
 * the reader, and the rest to the slots that are left, the tail's last.
 */
static void rb_persist_deal(struct rb_ring *ring, struct rb_persist_part *parts,
			    unsigned int in_slots)
{
	unsigned int i, id;

	for (i = 0; i <= ring->nr; i++) {
		if (i < in_slots)
			id = ring->nr - 1 - i;
		else
			id = i == in_slots ? ring->nr : ring->nr - i;
		ring->subbufs[id]->page = parts[i].page;
		ring->subbufs[id]->persist = parts[i].header;
	}
}

/*
 * Lay the first @kept of @parts out as the sub-buffers written before the tail. The
 * tail needs memory, so one less than there are sub-buffers can be kept.
 */
static void rb_persist_lay(struct rb_ring *ring, struct rb_persist_part *parts,
			   unsigned int kept)
{
	struct rb_subbuf *tail = ring->tail, *sb;
	u64 num = tail->first, byte = tail->first_byte;
	struct rb_reader *rd = &ring->reader;
	struct rb_persist_part *oldest = NULL;
	unsigned long overrun = 0;
	unsigned int i, in_slots;
	u64 seq = tail->seq, word;

	if (kept > ring->nr) {
		kept = ring->nr;
		overrun = parts[kept].count - parts[kept].consumed;
		/* It would be newer than those that have got their new sequences. */
		WRITE_ONCE(parts[kept].header->seq, 0);
	}
	rb_persist_renumber(parts, kept, seq);

	/* A slot holds only sub-buffers that are unread from their beginning. */
	in_slots = kept;
	if (kept && (kept == ring->nr || parts[kept - 1].read))
		oldest = &parts[--in_slots];
	rb_persist_deal(ring, parts, in_slots);

	for (i = 0; i < in_slots; i++) {
		word = atomic64_read(rb_slot(ring, --seq));
		sb = ring->subbufs[rb_slot_id(word)];
		num -= parts[i].count;
		byte -= parts[i].bytes;
		sb->first = num;
		sb->first_byte = byte;
		rb_persist_fill(sb, seq, &parts[i], 0);
		atomic64_set(rb_slot(ring, seq), word & ~RB_SLOT_EMPTY);
	}

	rd->seq = --seq;
	rd->num = num;
	rb_persist_fill(rd->sb, seq, oldest, oldest ? oldest->read : 0);
	if (oldest) {
		rd->sb->first = num - oldest->count;
		rd->pos = oldest->read;
		rd->time = oldest->time;
		rd->num = rd->sb->first + oldest->consumed;
	}
	rd->lost = overrun;
	ring->reader.carried.overrun = overrun;
	ring->reader.num_base = rd->num - overrun;

	for (i = 1; i < ring->nr - in_slots; i++)
		rb_persist_fill(ring->subbufs[i], ring->subbufs[i]->seq, NULL, 0);
	rb_persist_emptied(tail);
	local_set(&tail->page->commit, 0);
	rb_persist_opened(tail);
}

/* Return: how many of @parts, newest first, the last boot has written. */
static unsigned int rb_persist_recent(struct rb_ring *ring, const struct rb_persist_part *parts,
				      unsigned int kept, bool copy)
{
	unsigned int nr = 0;

	if (copy)
		return min_t(u64, READ_ONCE(ring->persist->recent), kept);
	/* Each boot begins with the same sequence: the last one has written from there on. */
	while (nr < kept && parts[nr].seq >= ring->this_boot)
		nr++;
	WRITE_ONCE(ring->persist->recent, nr);
	return nr;
}

/**
 * rb_persist_restore() - let a ring hold the records of the last boot
 * @rcpu: the CPU's part
 * @ring: its ring, as it was allocated
 *
 * Sub-buffers that make no sense are dropped, each for itself.
 *
 * Context: May sleep. @ring has no readers and no writers yet.
 */
void rb_persist_restore(struct rb_cpu *rcpu, struct rb_ring *ring)
{
	struct rb_persist_bad bad = { };
	struct rb_persist_part *parts;
	unsigned int kept, i;
	unsigned long unread;

	parts = kvcalloc(ring->nr + 1, sizeof(*parts), RB_GFP);
	if (!parts) {
		/* Sequences of two boots must not meet in the headers. No part of them stays. */
		pr_warn("ring buffer: CPU %d: no memory to restore the last boot's records\n",
			rcpu->cpu);
		WRITE_ONCE(ring->persist->first, U64_MAX);
		for (i = 0; i <= ring->nr; i++)
			rb_persist_emptied(ring->subbufs[i]);
		WRITE_ONCE(ring->persist->first, 0);
		local_set(&ring->tail->page->commit, 0);
		rb_persist_opened(ring->tail);
		rb_persist_renew(ring->persist);
		return;
	}

	ring->this_boot = ring->tail->seq;
	kept = rb_persist_find(ring, ring->persist->first, parts, &bad);
	ring->last_boot = ring->this_boot - rb_persist_recent(ring, parts, min(kept, ring->nr),
							      rcpu->buffer->flags & RB_FL_COPY);
	rb_persist_lay(ring, parts, kept);
	kvfree(parts);
	/* Without records there are no addresses of another boot. */
	if (!kept)
		rb_persist_renew(ring->persist);

	/* Where the damaged ones were is not known. */
	if (bad.nr)
		ring->reader.since = U64_MAX;
	kept = min(kept, ring->nr);
	unread = rb_ring_entries(ring);
	if (bad.nr)
		pr_warn("ring buffer: CPU %d: dropped %u damaged sub-buffers, kept %lu records in %u\n",
			rcpu->cpu, bad.nr, unread, kept);
	else if (kept)
		pr_info("ring buffer: CPU %d: kept %lu records in %u sub-buffers\n",
			rcpu->cpu, unread, kept);
	if (IS_ENABLED(CONFIG_RING_BUFFER_PERSISTENT_INJECT) && bad.tested)
		pr_warn("ring buffer: CPU %d: test of %u damaged sub-buffers: %s, %u missed\n",
			rcpu->cpu, bad.tested, bad.missed ? "FAILED" : "PASSED", bad.missed);
}

/**
 * ring_buffer_last_boot_delta() - how far the kernel has moved
 * @buffer: the buffer, or NULL
 * @text:   where it is returned how much higher functions are now
 * @data:   the same for variables
 *
 * For the addresses in records of the boot before.
 *
 * Context: Any context.
 * Return: true if the kernel is somewhere else than when the records in
 *         @buffer were written; false if not, or if it holds none of another
 *         boot.
 */
bool ring_buffer_last_boot_delta(struct trace_buffer *buffer, long *text, long *data)
{
	struct rb_persist_ring *ring;
	unsigned int cpu;

	*text = 0;
	*data = 0;
	if (!buffer || !buffer->persist)
		return false;
	/* All are taken to be of one boot. */
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		ring = rb_persist_ring(buffer, cpu);
		*text = rb_persist_text() - READ_ONCE(ring->text);
		*data = rb_persist_data() - READ_ONCE(ring->data);
		if (*text || *data)
			return true;
	}
	return false;
}

/* Which sub-buffer of its ring's part of the range @sb is. */
static unsigned int rb_persist_index(struct rb_cpu *rcpu, struct rb_subbuf *sb)
{
	struct rb_persist *persist = rcpu->buffer->persist;

	return (size_t)(sb->persist - persist->subbufs) % persist->shape.nr_subbufs;
}

/**
 * struct rb_persist_view - the numbers in a part of the buffer_meta file
 * @head:    the oldest sub-buffer behind the reader's
 * @commit:  the one being written
 * @here:    the one at a position
 * @bytes:   bytes of records in it
 */
struct rb_persist_view {
	unsigned int	head;
	unsigned int	commit;
	unsigned int	here;
	long		bytes;
};

static void rb_persist_look(struct rb_cpu *rcpu, unsigned int pos, struct rb_persist_view *show)
{
	struct rb_subbuf *sb;
	struct rb_view view;
	struct rb_ring *ring;
	unsigned long flags;
	u64 seq;

	ring = rb_read_lock(rcpu, &flags);
	sb = READ_ONCE(ring->commit);
	show->commit = rb_persist_index(rcpu, sb);

	seq = ring->reader.seq + 1;
	if (rb_locate(ring, &seq, &view))
		sb = view.sb;
	show->head = rb_persist_index(rcpu, sb);

	sb = ring->reader.sb;
	if (pos)
		sb = ring->subbufs[rb_slot_id(atomic64_read(&ring->slots[pos - 1]))];
	show->here = rb_persist_index(rcpu, sb);
	show->bytes = local_read(&sb->page->commit);
	rb_read_unlock(ring, flags);
}

/* Position 0 is the file's head, 1 the reader's sub-buffer, then the slots. */
static void *rb_persist_seq_start(struct seq_file *m, loff_t *pos)
{
	struct rb_cpu *rcpu = m->private;
	struct rb_persist *persist = rcpu->buffer->persist;

	return persist && *pos <= persist->shape.nr_subbufs ? pos : NULL;
}

static void *rb_persist_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return rb_persist_seq_start(m, pos);
}

static void rb_persist_seq_stop(struct seq_file *m, void *v)
{
}

static int rb_persist_seq_show(struct seq_file *m, void *v)
{
	struct rb_cpu *rcpu = m->private;
	struct rb_persist *persist = rcpu->buffer->persist;
	unsigned int pos = *(loff_t *)v;
	struct rb_persist_view show;

	/* Printing may take its time: only the look is locked. */
	rb_persist_look(rcpu, pos ? pos - 1 : 0, &show);
	if (pos) {
		seq_printf(m, "buffer[%u]:    %u (commit: %ld)\n", pos - 1, show.here, show.bytes);
		return 0;
	}
	seq_printf(m, "head_buffer:   %u\n", show.head);
	seq_printf(m, "commit_buffer: %u\n", show.commit);
	seq_printf(m, "subbuf_size:   %u\n", persist->shape.subbuf_size);
	seq_printf(m, "nr_subbufs:    %u\n", persist->shape.nr_subbufs);
	return 0;
}

static const struct seq_operations rb_persist_seq_ops = {
	.start	= rb_persist_seq_start,
	.next	= rb_persist_seq_next,
	.stop	= rb_persist_seq_stop,
	.show	= rb_persist_seq_show,
};

/**
 * ring_buffer_meta_seq_init() - open a file that shows where sub-buffers are
 * @file:   the file, for seq_read()
 * @buffer: the buffer; it stays until the file is closed
 * @cpu:    the CPU
 *
 * The file is empty if the buffer is not in memory that survives a reboot.
 *
 * Context: May sleep.
 * Return: 0; -ENODEV if @cpu never was online; -ENOMEM.
 */
int ring_buffer_meta_seq_init(struct file *file, struct trace_buffer *buffer, int cpu)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	struct seq_file *m;
	int ret;

	if (!rcpu)
		return -ENODEV;
	ret = seq_open(file, &rb_persist_seq_ops);
	if (ret)
		return ret;
	m = file->private_data;
	m->private = rcpu;
	return 0;
}
