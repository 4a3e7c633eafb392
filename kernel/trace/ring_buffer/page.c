// SPDX-License-Identifier: GPL-2.0
/*
 * Reading whole data pages: trace_pipe_raw and splice.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "internal.h"

/**
 * struct buffer_data_read_page - a page to read into
 * @order: its size
 * @dirty: bytes behind the page header that may be other than 0
 * @data:  the memory; read_page may exchange it
 */
struct buffer_data_read_page {
	unsigned int		order;
	unsigned int		dirty;
	struct rb_data_page	*data;
};

/* &rb_cpu.spare: a data page, and its order in the bits below PAGE_SIZE. */
static struct rb_data_page *rb_spare_get(struct rb_cpu *rcpu, unsigned int order)
{
	unsigned long spare = xchg(&rcpu->spare, 0);
	struct rb_data_page *page = (void *)(spare & PAGE_MASK);

	if ((spare & ~PAGE_MASK) == order)
		return page;
	rb_data_page_free(page, spare & ~PAGE_MASK);
	return NULL;
}

static void rb_spare_put(struct rb_cpu *rcpu, struct rb_data_page *page, unsigned int order)
{
	unsigned long none = 0;

	/* A page that is still in a pipe belongs to the pipe as well. */
	if (READ_ONCE(rcpu->buffer->flags) & RB_FL_SPARE ||
	    page_ref_count(virt_to_page(page)) > 1 ||
	    order != READ_ONCE(rcpu->buffer->order) ||
	    !try_cmpxchg(&rcpu->spare, &none, (unsigned long)page | order))
		rb_data_page_free(page, order);
}

/**
 * ring_buffer_alloc_read_page() - get a page for ring_buffer_read_page()
 * @buffer: the buffer to read
 * @cpu:    CPU of the records
 * @rpage:  where the page is returned; one that is there already is kept if it
 *          has the buffer's sub-buffer size, and exchanged if not
 *
 * Context: May sleep.
 * Return: 0, -ENODEV if @cpu never was online, -EINVAL without @rpage, -ENOMEM.
 */
int ring_buffer_alloc_read_page(struct trace_buffer *buffer, int cpu,
				struct buffer_data_read_page **rpage)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	struct buffer_data_read_page *rp;
	unsigned int order = READ_ONCE(buffer->order);

	if (!rcpu && rb_is_absent(buffer, cpu))
		return -ENODEV;
	if (!rpage)
		return -EINVAL;

	rp = *rpage;
	if (rp) {
		if (rp->order == order)
			return 0;
		rb_data_page_free(rp->data, rp->order);
	} else {
		rp = kzalloc(sizeof(*rp), GFP_KERNEL);
		if (!rp)
			return -ENOMEM;
	}

	rp->order = order;
	rp->dirty = rb_subbuf_room(order);
	rp->data = rcpu ? rb_spare_get(rcpu, order) : NULL;
	if (!rp->data) {
		rp->dirty = 0;
		rp->data = rb_data_page_alloc(cpu, order, GFP_KERNEL);
	}
	if (!rp->data) {
		kfree(rp);
		rp = NULL;
	}
	*rpage = rp;
	return rp ? 0 : -ENOMEM;
}
EXPORT_SYMBOL_GPL(ring_buffer_alloc_read_page);

/**
 * ring_buffer_free_read_page() - give a page back
 * @buffer: the buffer it was for
 * @cpu:    the CPU it was for
 * @rpage:  the page, or NULL
 *
 * Context: Any context but NMI.
 */
void ring_buffer_free_read_page(struct trace_buffer *buffer, int cpu,
				struct buffer_data_read_page *rpage)
{
	struct rb_cpu *rcpu = buffer ? rb_get_cpu(buffer, cpu) : NULL;

	if (!rpage)
		return;
	if (rcpu)
		rb_spare_put(rcpu, rpage->data, rpage->order);
	else
		rb_data_page_free(rpage->data, rpage->order);
	kfree(rpage);
}
EXPORT_SYMBOL_GPL(ring_buffer_free_read_page);

/* Hand the reader's data page over for the one in @rpage. */
static void rb_page_exchange(struct rb_ring *ring, struct buffer_data_read_page *rpage,
			     unsigned int end)
{
	struct rb_reader *rd = &ring->reader;

	rb_reader_skip(ring, end, U64_MAX, rd->sb->first + rd->sb->count - rd->num);
	swap(rd->sb->page, rpage->data);
	rpage->dirty = rb_subbuf_room(rpage->order);
	/* The page that came still has its former records. */
	rb_reader_clear(ring);
}

/*
 * Find the end of the whole records that fit into @len bytes, the stamps in front of them
 * included. Return: how many they are; @c is moved behind them unless there are none.
 */
static __always_inline unsigned long rb_page_fit(struct rb_cursor *c, unsigned int len)
{
	unsigned int start = c->pos;
	struct rb_cursor end = *c;
	struct ring_buffer_event *rec;
	unsigned long records = 0;

	for (;;) {
		records += rb_cursor_skip_plain(&end, start + len);
		if (records)
			*c = end;
		/* Only a final sub-buffer can end in stamps, of a discarded record. */
		rec = rb_cursor_next(&end);
		if (!rec)
			return records;
		rb_cursor_skip(&end, rec);
		if (end.pos - start > len)
			return records;
		records++;
	}
}

/*
 * Copy as many whole records as fit into @len bytes.
 *
 * Return: bytes that were copied, or 0 if not even one fits.
 */
static unsigned int rb_page_copy(struct rb_ring *ring, struct rb_data_page *to,
				 unsigned int len, u64 pub)
{
	struct rb_reader *rd = &ring->reader;
	struct rb_data_page *from = rd->sb->page;
	struct rb_cursor c = rb_cursor(from, rd->pos, rb_pub_bytes(pub), rd->time);
	unsigned int start = rd->pos;
	unsigned long records;

	to->time_stamp = rd->time;
	if (pub & RB_PUB_FINAL && c.end - start <= len) {
		c.pos = c.end;
		c.time = U64_MAX;
		records = rd->sb->first + rd->sb->count - rd->num;
	} else {
		records = rb_page_fit(&c, len);
		if (!records)
			return 0;
	}
	memcpy(to->data, from->data + start, c.pos - start);
	rb_reader_skip(ring, c.pos, c.time, records);
	return c.pos - start;
}

/**
 * rb_page_tell() - say on a page what it holds
 * @page:  the page, which will not change any more
 * @order: its size in pages, as a power of two
 * @used:  bytes of records
 * @lost:  records lost in front of them
 *
 * Context: Any context but NMI.
 * Return: bytes in use, with the number of lost records where that has room.
 */
unsigned int rb_page_tell(struct rb_data_page *page, unsigned int order, unsigned int used,
			  unsigned long lost)
{
	unsigned long commit = used;

	if (lost) {
		commit |= RB_MISSED_EVENTS;
		if (rb_subbuf_room(order) - used >= sizeof(lost)) {
			memcpy(&page->data[used], &lost, sizeof(lost));
			commit |= RB_MISSED_STORED;
			used += sizeof(lost);
		}
	}
	local_set(&page->commit, commit);
	return used;
}

/* Say on the page how many bytes of records it holds, and how many records were lost before. */
static void rb_page_finish(struct buffer_data_read_page *rpage, unsigned int used,
			   unsigned long lost)
{
	struct rb_data_page *page = rpage->data;

	used = rb_page_tell(page, rpage->order, used, lost);
	/* User space does not see the former content. */
	if (rpage->dirty > used)
		memset(&page->data[used], 0, rpage->dirty - used);
	rpage->dirty = used;
}

/**
 * ring_buffer_read_page() - consume a page of records
 * @buffer:    the buffer to read
 * @data_page: from ring_buffer_alloc_read_page()
 * @len:       bytes that may be used of it, the page header included
 * @cpu:       CPU of the records
 * @full:      only if no more records will come on the page
 *
 * The page is exchanged for the ring's where all of that may go; else records
 * are copied. Its commit field says how many bytes of records it holds,
 * RB_MISSED_EVENTS that records before them were lost, and RB_MISSED_STORED
 * that their number, a long, stands behind them.
 *
 * Context: Any context but NMI.
 * Return: 0, the offset of the first record; -1 if there was nothing to read,
 *         the first record does not fit into @len, or the page is not full.
 */
int ring_buffer_read_page(struct trace_buffer *buffer, struct buffer_data_read_page *data_page,
			  size_t len, int cpu, int full)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	unsigned int used, room, fit;
	struct rb_reader *rd;
	struct rb_ring *ring;
	unsigned long flags, lost;
	int ret = -1;
	u64 pub, num;

	if (!rcpu || !data_page || len <= RB_PAGE_HDR)
		return -1;
	room = rb_subbuf_room(data_page->order);
	len = min_t(size_t, len - RB_PAGE_HDR, room);

	ring = rb_read_lock(rcpu, &flags);
	rd = &ring->reader;
again:
	if (!rb_reader_fill(ring))
		goto out;
	pub = atomic64_read_acquire(&rd->sb->publish);
	rb_race_point(PAGE);
	if (full && !(pub & RB_PUB_FINAL))
		goto out;
	lost = rd->lost;
	num = rd->num;
	/* Only stamps of discarded records are left: the loss is in front of the next record. */
	if (lost && pub & RB_PUB_FINAL && rd->num == rd->sb->first + rd->sb->count) {
		rb_reader_skip(ring, rb_pub_bytes(pub), rd->time, 0);
		goto again;
	}
	/* How many were lost is told behind the records: leave room for that. */
	fit = lost ? min_t(size_t, len, room - sizeof(lost)) : len;

	if (pub & RB_PUB_FINAL && !rd->pos && rb_pub_bytes(pub) <= fit &&
	    !atomic_read(&ring->mapped) && !rd->sb->persist && data_page->order == ring->order) {
		used = rb_pub_bytes(pub);
		rb_page_exchange(ring, data_page, used);
	} else {
		used = rb_page_copy(ring, data_page->data, fit, pub);
		/* One record may be as long as the page: then only that it is so. */
		if (!used)
			used = rb_page_copy(ring, data_page->data, len, pub);
		if (!used)
			goto out;
	}
	rb_reader_told(rcpu, ring, num);
	rb_race_point(PAGE_DONE);

	rb_page_finish(data_page, used, lost);
	ret = 0;
out:
	rb_read_unlock(ring, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(ring_buffer_read_page);

/* Begin where the reader is, unless @place is behind that in the same ring. */
static void rb_place_begin(struct rb_ring *ring, struct ring_buffer_place *place)
{
	struct rb_reader *rd = &ring->reader;
	u64 skip = place->begun && place->ring != ring ? place->num - place->first : 0;

	if (place->ring == ring && ((s64)(place->seq - rd->seq) > 0 ||
				    (place->seq == rd->seq && place->pos >= rd->pos)))
		return;
	*place = (struct ring_buffer_place){
		.begun = true,
		.ring = ring,
		.first = rd->num,
		.skip = skip,
		.seq = rd->seq,
		.pos = rd->pos,
		.time = rd->time,
		.num = rd->num,
		.run = rd->num,
		.lost = rd->lost,
	};
}

/* Move @place on to the first sub-buffer with a record behind it, which is stored in @view. */
static bool rb_place_find(struct rb_ring *ring, struct ring_buffer_place *place,
			  struct rb_view *view)
{
	struct rb_reader *rd = &ring->reader;
	u64 seq;

	for (;; place->seq++, place->pos = 0) {
		seq = place->seq;
		if (seq == rd->seq) {
			view->sb = rd->sb;
			view->word = RB_SLOT_NONE;
			view->pub = rb_reader_pub(rd);
		} else if (!rb_reader_find(ring, rd, &seq, view)) {
			return false;
		} else if (seq != place->seq) {
			place->seq = seq;
			place->pos = 0;
		}

		if (place->pos < rb_pub_bytes(view->pub)) {
			if (!place->pos) {
				u64 first = rb_glance(view->sb->first);

				place->time = rb_glance(view->sb->page->time_stamp);
				if (first != place->num)
					place->run = first;
				place->lost += first - place->num;
				place->num = first;
			}
			/* Others may hold only stamps, of discarded records. */
			if (!(view->pub & RB_PUB_FINAL) ||
			    place->num != rb_glance(view->sb->first) + rb_glance(view->sb->count))
				return true;
		}
		if (!(view->pub & RB_PUB_FINAL))
			return false;
	}
}

/* Copy the records of a sub-buffer from a place on. The writer may be there again meanwhile. */
static void rb_place_take(const struct rb_view *view, unsigned int pos,
			  struct buffer_data_read_page *rpage)
{
	struct rb_data_page *page = READ_ONCE(view->sb->page);
	unsigned int len = rb_pub_bytes(view->pub) - pos;

	rb_race_point(PLACE);
	rpage->dirty = max(rpage->dirty, len);
	/* None of it is used before rb_view_holds(). */
	data_race(memcpy(rpage->data->data, page->data + pos, len));
	rb_race_point(PLACE_COPIED);
}

/*
 * Move @place behind the records that fit into a page of @room bytes. The ones from there on are at
 * @data, and @behind is the running number behind the last one of a final sub-buffer.
 * Return: bytes of these records.
 */
static unsigned int rb_place_pass(struct ring_buffer_place *place, u64 pub,
				  const unsigned char *data, unsigned int room, u64 behind)
{
	unsigned int fit = place->lost ? room - sizeof(place->lost) : room;
	struct rb_cursor c = {
		.data = data,
		.end = rb_pub_bytes(pub) - place->pos,
		.time = place->time,
	};

	if (pub & RB_PUB_FINAL && c.end <= fit) {
		c.pos = c.end;
		place->num = behind;
	} else {
		/* One record may be as long as the page. */
		place->num += rb_page_fit(&c, fit) ?: rb_page_fit(&c, room);
	}
	place->pos += c.pos;
	place->time = c.time;
	place->lost = 0;
	return c.pos;
}

/*
 * Copy the next page, or pass over it.
 * Return: false if there is none; @again: because a resize has moved it, and will move the rest, or
 * because it has been overwritten.
 */
static bool rb_place_copy(struct rb_cpu *rcpu, struct ring_buffer_place *place,
			  struct buffer_data_read_page *rpage, bool *again)
{
	struct ring_buffer_place next = *place, page;
	unsigned long flags;
	struct rb_view view;
	struct rb_ring *ring;
	unsigned int used;
	bool found;
	u64 behind;

	ring = rb_read_lock(rcpu, &flags);
	*again = ring->successor;
	rb_place_begin(ring, &next);
	if (next.skip)
		rpage = NULL;
	found = rb_place_find(ring, &next, &view) &&
		!WARN_ON_ONCE(rpage && rpage->order != ring->order);
	if (!found)
		goto out;

	page = next;
	behind = rb_glance(view.sb->first) + rb_glance(view.sb->count);
	if (rpage)
		rb_place_take(&view, page.pos, rpage);
	/* Else what was copied may be written to, and have no end. */
	found = rb_reader_is_settled(ring);
	if (!found)
		goto out;
	if (!rb_view_holds(&view)) {
		*again = true;
		rb_read_unlock(ring, flags);
		return false;
	}
	used = rb_place_pass(&next, view.pub,
			     rpage ? rpage->data->data : view.sb->page->data + page.pos,
			     rb_subbuf_room(ring->order), behind);
	if (rpage) {
		rpage->data->time_stamp = page.time;
		rb_page_finish(rpage, used, page.lost);
	}
out:
	*place = next;
	rb_read_unlock(ring, flags);
	return found;
}

/**
 * ring_buffer_copy_page() - copy a page of records, and consume nothing
 * @buffer: a buffer that nobody cuts into
 * @cpu:    CPU of the records
 * @place:  all 0 for the first page; moves on behind the page
 * @rpage:  from ring_buffer_alloc_read_page(), filled as by ring_buffer_read_page(); NULL to
 *	    move on only, in a buffer that nobody writes to
 *
 * A page that a writer overwrites meanwhile is not used: it goes on with the oldest one then, and
 * &ring_buffer_place.run changes.
 *
 * Each walk gives the same pages, also if a resize moves them to another ring, unless a reader
 * consumes meanwhile: then it goes on with the reader's position. Sub-buffers without records are
 * left out. The page says how many records were lost in front of it, so a sub-buffer without room
 * for that number makes two.
 *
 * Context: Task.
 * Return: true; false if there is no page any more.
 */
bool ring_buffer_copy_page(struct trace_buffer *buffer, int cpu,
			   struct ring_buffer_place *place,
			   struct buffer_data_read_page *rpage)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	bool found, skips, again;

	if (!rcpu)
		return false;
	do {
		found = rb_place_copy(rcpu, place, rpage, &again);
		/* In another ring, the pages of before come first. */
		skips = place->skip;
		if ((s64)(place->num - place->first - place->skip) >= 0)
			place->skip = 0;
		if (!found && again)
			cond_resched();
	} while (found ? skips : again);
	return found;
}
EXPORT_SYMBOL_GPL(ring_buffer_copy_page);

/**
 * ring_buffer_place_boots_ago() - how many boots ago was a page written?
 * @buffer: the buffer
 * @cpu:    CPU of the page
 * @place:  the place behind it, from ring_buffer_copy_page()
 *
 * Context: Any context but NMI.
 * Return: 0, 1, or 2 for earlier ones.
 */
unsigned int ring_buffer_place_boots_ago(struct trace_buffer *buffer, int cpu,
					 const struct ring_buffer_place *place)
{
	struct rb_cpu *rcpu = rb_get_cpu(buffer, cpu);
	unsigned int ago = 0;
	struct rb_ring *ring;
	unsigned long flags;

	if (!rcpu)
		return 0;
	ring = rb_read_lock(rcpu, &flags);
	if (place->ring == ring)
		ago = rb_boots_ago(ring, place->seq);
	rb_read_unlock(ring, flags);
	return ago;
}

/**
 * ring_buffer_read_page_data() - the memory of a page
 * @page: the page
 *
 * Context: Any context.
 * Return: its address: the page header, then the records.
 */
void *ring_buffer_read_page_data(struct buffer_data_read_page *page)
{
	return page->data;
}
EXPORT_SYMBOL_GPL(ring_buffer_read_page_data);

/**
 * ring_buffer_read_page_size() - the size of a page
 * @rpage: the page, or NULL
 *
 * Context: Any context.
 * Return: bytes, or 0 without a page.
 */
unsigned int ring_buffer_read_page_size(struct buffer_data_read_page *rpage)
{
	return rpage ? rb_subbuf_size(rpage->order) : 0;
}
EXPORT_SYMBOL_GPL(ring_buffer_read_page_size);
