// SPDX-License-Identifier: GPL-2.0
/*
 * Records that were copied, in the order of time, and the newest ones of too many.
 */
#include <linux/bitmap.h>
#include <linux/sizes.h>
#include <linux/sort.h>

#include "internal.h"

/* Records of one CPU of a buffer have been added in the order of time; equal times keep it. */
static int view_entry_cmp(const void *a, const void *b)
{
	const struct trace_dat_record *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->off < y->off ? -1 : x->off > y->off;
}

/* The bit of a record's CPU, of those of all members */
static unsigned int view_store_bit(const struct trace_dat_record *rec)
{
	return rec->member * nr_cpu_ids + rec->cpu;
}

/* Drop a record: the next one of its CPU tells that. */
static void view_store_drop(struct view_store *store, const struct trace_dat_record *rec)
{
	__set_bit(view_store_bit(rec), store->missed);
	store->dropped++;
}

/* Keep a record, behind the earlier ones of its CPU. */
static void view_store_keep(struct view_store *store, struct trace_dat_record *rec)
{
	if (__test_and_clear_bit(view_store_bit(rec), store->missed))
		rec->lost = true;
}

/**
 * view_store_free() - free the memory of a store
 * @store: the store, which is empty afterwards
 *
 * Context: May sleep.
 */
void view_store_free(struct view_store *store)
{
	kvfree(store->data);
	kvfree(store->entry);
	bitmap_free(store->missed);
	*store = (struct view_store){ .limit = store->limit };
}

/**
 * view_store_begin() - make a store ready for records
 * @store:   the store, which is new or empty
 * @members: number of instances that the records are of
 *
 * Context: May sleep, with no lock held that others wait for.
 * Return: 0 or -ENOMEM; in either case view_store_empty() or view_store_free() has to follow.
 */
int view_store_begin(struct view_store *store, unsigned int members)
{
	trace_may_charge();
	store->missed = bitmap_zalloc(members * nr_cpu_ids, GFP_KERNEL_ACCOUNT);
	return store->missed ? 0 : -ENOMEM;
}

/**
 * view_store_empty() - forget the records of a store
 * @store: the store, which keeps its room
 *
 * Context: May sleep.
 */
void view_store_empty(struct view_store *store)
{
	bitmap_free(store->missed);
	store->missed = NULL;
	store->used = 0;
	store->nr = 0;
	store->dropped = 0;
	store->floor = 0;
}

/**
 * view_store_grow() - make room for more records than a store had room for
 * @store: the store, after -ENOBUFS and view_store_empty(), or a new one
 *
 * A worker that has no room releases all locks, and the reader begins again: memory is charged to
 * the cgroup of the reader, and that can take seconds. The size is four times the last one, so that
 * the last try takes the longest time.
 *
 * Context: May sleep, with no lock held that others wait for.
 * Return: 0 or -ENOMEM.
 */
int view_store_grow(struct view_store *store)
{
	struct view_store next = {
		.limit = store->limit, .size = store->size, .room = store->room,
	};

	trace_may_charge();
	if (!store->full_of_bytes)
		next.room = max(4 * store->room, 1024U);
	if (!store->size || store->full_of_bytes)
		next.size = max(4 * store->size, SZ_64K);
	view_store_free(store);
	next.data = kvmalloc(next.size, GFP_KERNEL_ACCOUNT);
	next.entry = kvmalloc_array(next.room, sizeof(*next.entry), GFP_KERNEL_ACCOUNT);
	*store = next;
	return next.data && next.entry ? 0 : -ENOMEM;
}

/* Return: bytes of the records since a time. */
static size_t view_store_since(const struct view_store *store, u64 floor)
{
	size_t size = 0;
	unsigned int i;

	for (i = 0; i < store->nr; i++)
		size += store->entry[i].ts >= floor ? store->entry[i].len : 0;
	return size;
}

/* Return: the earliest time with no more bytes since then than the limit, or the last one. */
static u64 view_store_floor(const struct view_store *store)
{
	u64 low = U64_MAX, high = 0, mid;
	unsigned int i;

	for (i = 0; i < store->nr; i++) {
		low = min(low, store->entry[i].ts);
		high = max(high, store->entry[i].ts);
	}
	while (low < high) {
		mid = low + (high - low) / 2;
		if (view_store_since(store, mid) <= store->limit)
			high = mid;
		else
			low = mid + 1;
	}
	return high;
}

/*
 * Drop the oldest records beyond the limit, and leave the others in the order in which they came.
 * No memory is allocated and nothing is sorted, since the worker holds the semaphore of a view.
 */
static void view_store_trim(struct view_store *store)
{
	struct trace_dat_record *entry = store->entry;
	unsigned int i, nr = 0;
	size_t used = 0;

	store->floor = view_store_floor(store);
	for (i = 0; i < store->nr; i++) {
		if (entry[i].ts < store->floor) {
			view_store_drop(store, &entry[i]);
			continue;
		}
		view_store_keep(store, &entry[i]);
		memmove(store->data + used, store->data + entry[i].off, entry[i].len);
		entry[nr] = entry[i];
		entry[nr++].off = used;
		used += entry[i].len;
	}
	store->nr = nr;
	store->used = used;
}

/**
 * view_store_add() - add a record
 * @store: the store, after view_store_begin()
 * @rec:   time, CPU and member of the record, its number of bytes, and its thread as owner; those
 *	   of one CPU of a member come in the order of time
 * @data:  its bytes
 *
 * No memory is allocated, since the worker holds locks.
 *
 * Context: Any context.
 * Return: 0, also if the record is dropped; -ENOBUFS if there is no room: see view_store_grow().
 */
int view_store_add(struct view_store *store, const struct trace_dat_record *rec, const void *data)
{
	if (store->nr > 1 && store->used + rec->len > 2 * store->limit)
		view_store_trim(store);
	/* More than the limit at one time: */
	if (rec->ts < store->floor ||
	    (store->nr > 1 && store->used + rec->len > 2 * store->limit)) {
		view_store_drop(store, rec);
		return 0;
	}
	store->full_of_bytes = store->nr < store->room;
	if (store->nr == store->room || store->size - store->used < rec->len)
		return -ENOBUFS;
	store->entry[store->nr] = *rec;
	view_store_keep(store, &store->entry[store->nr]);
	store->entry[store->nr++].off = store->used;
	memcpy(store->data + store->used, data, rec->len);
	store->used += rec->len;
	return 0;
}

/*
 * Return: the first record of the newest ones that the limit allows, at least one; @size is set
 * to their bytes.
 */
static unsigned int view_store_first(struct view_store *store, size_t *size)
{
	unsigned int first = store->nr - 1;

	*size = store->entry[first].len;
	while (first && *size + store->entry[first - 1].len <= store->limit)
		*size += store->entry[--first].len;
	return first;
}

/**
 * view_store_settle() - sort the records by time, and drop the oldest ones beyond the limit
 * @store: the store
 *
 * Their bytes follow each other in that order, from the begin of &view_store.data. The first one of
 * each CPU of a member is marked as &trace_dat_record.lost if others in front of it were dropped.
 *
 * Context: May sleep.
 * Return: 0; -ENOMEM, then nothing has been dropped.
 */
int view_store_settle(struct view_store *store)
{
	unsigned int i, first;
	size_t used = 0, size;
	char *data;

	if (!store->nr)
		return 0;
	sort(store->entry, store->nr, sizeof(*store->entry), view_entry_cmp, NULL);
	first = view_store_first(store, &size);
	trace_may_charge();
	data = kvmalloc(size, GFP_KERNEL_ACCOUNT);
	if (!data)
		return -ENOMEM;
	for (i = 0; i < first; i++)
		view_store_drop(store, &store->entry[i]);
	for (; i < store->nr; i++) {
		struct trace_dat_record *entry = &store->entry[i];

		view_store_keep(store, entry);
		memcpy(data + used, store->data + entry->off, entry->len);
		entry->off = used;
		used += entry->len;
		store->entry[i - first] = *entry;
	}
	kvfree(store->data);
	store->data = data;
	store->used = used;
	store->size = size;
	store->nr -= first;
	return 0;
}
