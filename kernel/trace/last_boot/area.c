// SPDX-License-Identifier: GPL-2.0
/*
 * The area: a log that describes records, in memory that survives a reboot.
 *
 * The machine can stop at each store, and the memory can have any contents after that. So an entry
 * is stored before the number of bytes in use counts it, and has a checksum; a name that replaces
 * another one in place has a checksum, too. area_open() looks at each entry once, and nothing is
 * found that it has not looked at.
 */
#include <linux/align.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/jhash.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/string.h>

#include "area.h"

/* "lastboo", and a number that changes with the layout. */
#define AREA_MAGIC		0x6c617374626f6f01ULL

/* One of so many bytes is for names of tasks. */
#define AREA_TASKS_SHARE	4

/*
 * Functions may have one of so many bytes of the log: each word of a record can add one, while the
 * other entries are few.
 */
#define AREA_SYMBOLS_SHARE	2

/* An entry of the index for so many bytes of the log; more entries than that are refused. */
#define AREA_INDEX_SHARE	32

/* Another kernel may read them: see AREA_MAGIC. */
static_assert(sizeof(struct area_header) == 24);
static_assert(sizeof(struct area_entry) == 16);
static_assert(sizeof(struct area_task) == 24);

static size_t area_nr_slots(size_t size)
{
	return roundup_pow_of_two(max(size / AREA_INDEX_SHARE, 16));
}

/**
 * area_index_size() - how much memory does the index of an area need?
 * @size: bytes of the area
 *
 * Context: Any context.
 * Return: bytes.
 */
size_t area_index_size(size_t size)
{
	return area_nr_slots(size) * sizeof(u32);
}

/**
 * area_place() - divide the memory of an area
 * @a:      the area, which area_begin() or area_open() has to follow for
 * @memory: its memory, aligned to 8 bytes
 * @size:   bytes of it, 64 at least
 * @index:  area_index_size() bytes of other memory; all 0
 *
 * Context: Any context.
 */
void area_place(struct area *a, void *memory, size_t size, void *index)
{
	size = ALIGN_DOWN(min(size, S32_MAX), sizeof(u64));
	*a = (struct area){
		.header = memory,
		.task = memory + sizeof(*a->header),
		.nr_tasks = size / AREA_TASKS_SHARE / sizeof(*a->task),
		.slot = index,
		.mask = area_nr_slots(size) - 1,
		.seed = get_random_u32(),
	};
	a->log = a->task + a->nr_tasks;
	a->room = size - (a->log - memory);
}

/**
 * area_erase() - let the next boot find no area
 * @memory: memory of an area
 *
 * Context: Any context.
 */
void area_erase(void *memory)
{
	struct area_header *h = memory;

	WRITE_ONCE(h->magic, 0);
}

/**
 * area_begin() - begin a new area
 * @a:      the area
 * @kernel: identifies this kernel
 *
 * Context: Any context; nobody else uses the area.
 */
void area_begin(struct area *a, u64 kernel)
{
	struct area_header *h = a->header;

	/* A machine that stops in here leaves nothing. */
	area_erase(h);
	barrier();
	memset(a->task, 0, a->nr_tasks * sizeof(*a->task));
	memset(a->slot, 0, (a->mask + 1) * sizeof(*a->slot));
	a->nr = 0;
	h->kernel = kernel;
	h->used = 0;
	h->dropped = 0;
	barrier();
	WRITE_ONCE(h->magic, AREA_MAGIC);
}

static struct area_entry *area_entry_at(const struct area *a, u32 offset)
{
	return a->log + offset;
}

static u32 area_entry_size(size_t len)
{
	return ALIGN(sizeof(struct area_entry) + len, sizeof(u64));
}

static u32 area_sum(const struct area_entry *entry)
{
	size_t begin = sizeof(entry->sum);

	return jhash((const void *)entry + begin, sizeof(*entry) - begin + entry->len, 0);
}

/* The slot that an entry has, or would have. There always is a free one. */
static u32 area_slot(const struct area *a, enum area_kind kind, u64 key)
{
	u32 i = jhash_3words(key, key >> 32, kind, a->seed) & a->mask;
	const struct area_entry *entry;

	for (; a->slot[i]; i = (i + 1) & a->mask) {
		entry = area_entry_at(a, a->slot[i] - 1);
		if (entry->kind == kind && entry->key == key)
			break;
	}
	return i;
}

/* Let the entry at @offset be found. Return: false if the index is full. */
static bool area_index(struct area *a, u32 offset)
{
	const struct area_entry *entry = area_entry_at(a, offset);
	u32 i = area_slot(a, entry->kind, entry->key);

	if (!a->slot[i]) {
		if (a->nr == a->mask)
			return false;
		a->nr++;
	}
	a->slot[i] = offset + 1;
	return true;
}

/**
 * area_open() - read an area that another boot has left
 * @a: the area, which can have any contents, and does not change any more
 *
 * An entry that is damaged is passed over. Behind one with a wrong length nothing is found.
 *
 * Context: Any context.
 * Return: false if there is none.
 */
bool area_open(struct area *a)
{
	const struct area_entry *entry;
	u32 pos, used, size;

	if (a->header->magic != AREA_MAGIC)
		return false;
	used = min(a->header->used, a->room);
	for (pos = 0; used - pos >= sizeof(*entry); pos += size) {
		entry = area_entry_at(a, pos);
		size = area_entry_size(entry->len);
		if (size > used - pos) {
			a->bad++;
			break;
		}
		if (entry->kind >= AREA_NR_KINDS || entry->sum != area_sum(entry) ||
		    !area_index(a, pos))
			a->bad++;
	}
	return true;
}

/**
 * area_put() - store an entry
 * @a:    the area, after area_begin()
 * @kind: kind of the entry
 * @key:  subject of the entry, see &enum area_kind
 * @data: its contents
 * @len:  number of bytes
 *
 * One that is there already with the same contents is not stored again.
 *
 * Context: Any context; callers do not run at once.
 * Return: 0; -ENOSPC if it has no room, which is counted.
 */
int area_put(struct area *a, enum area_kind kind, u64 key, const void *data, size_t len)
{
	const struct area_entry *old = area_find(a, kind, key);
	u32 pos = a->header->used, room = a->room, slots = a->mask, size;
	struct area_entry *entry;

	if (old && old->len == len && !memcmp(old->data, data, len))
		return 0;
	if (len > U16_MAX)
		goto full;
	size = area_entry_size(len);
	if (kind == AREA_SYMBOL) {
		room /= AREA_SYMBOLS_SHARE;
		slots /= AREA_SYMBOLS_SHARE;
	}
	if (pos > room || size > room - pos || (!old && a->nr >= slots))
		goto full;
	entry = area_entry_at(a, pos);
	memset((void *)entry + size - sizeof(u64), 0, sizeof(u64));
	entry->kind = kind;
	entry->len = len;
	entry->key = key;
	memcpy(entry->data, data, len);
	entry->sum = area_sum(entry);
	/* The next boot does not find it before it is whole. */
	barrier();
	WRITE_ONCE(a->header->used, pos + size);
	area_index(a, pos);
	return 0;
full:
	a->header->dropped++;
	return -ENOSPC;
}

/**
 * area_renew() - store an entry in the place of the older one, so that it takes no more room
 * @a:    the area, after area_begin()
 * @kind: kind of the entry
 * @key:  subject of the entry, see &enum area_kind
 * @data: its contents
 * @len:  number of bytes, always as many
 *
 * A machine that stops in here leaves neither of the two.
 *
 * Context: Any context; callers do not run at once.
 * Return: 0; -ENOSPC if it has no room, which is counted.
 */
int area_renew(struct area *a, enum area_kind kind, u64 key, const void *data, size_t len)
{
	struct area_entry *entry = (struct area_entry *)area_find(a, kind, key);

	if (!entry || entry->len != len)
		return area_put(a, kind, key, data, len);
	memcpy(entry->data, data, len);
	entry->sum = area_sum(entry);
	return 0;
}

/**
 * area_find() - find an entry
 * @a:    the area
 * @kind: kind of the entry
 * @key:  subject of the entry, see &enum area_kind
 *
 * Context: Any context.
 * Return: the newest one, or NULL.
 */
const struct area_entry *area_find(const struct area *a, enum area_kind kind, u64 key)
{
	u32 i = area_slot(a, kind, key);

	return a->slot[i] ? area_entry_at(a, a->slot[i] - 1) : NULL;
}

/**
 * area_next() - walk the entries of a kind
 * @a:    the area
 * @nr:   where to go on; 0 for the first one; moves on
 * @kind: kind of the entries
 *
 * Context: Any context.
 * Return: an entry, each once, in any order; NULL behind the last one.
 */
const struct area_entry *area_next(const struct area *a, u32 *nr, enum area_kind kind)
{
	const struct area_entry *entry;

	while (*nr <= a->mask) {
		u32 slot = a->slot[(*nr)++];

		if (!slot)
			continue;
		entry = area_entry_at(a, slot - 1);
		if (entry->kind == kind)
			return entry;
	}
	return NULL;
}

static u32 area_task_sum(const struct area_task *task)
{
	return jhash(&task->pid, sizeof(*task) - sizeof(task->sum), 0);
}

/**
 * area_put_task() - store the name of a task
 * @a:    the area, after area_begin()
 * @pid:  PID of the task
 * @comm: its name, of AREA_COMM_LEN bytes with the 0 at most
 *
 * It replaces that of another task with the same place in the table.
 *
 * Context: Any context; callers do not run at once.
 */
void area_put_task(struct area *a, u32 pid, const char *comm)
{
	struct area_task *to, task = { .pid = pid };

	if (!a->nr_tasks)
		return;
	to = &a->task[pid % a->nr_tasks];
	strscpy(task.comm, comm, sizeof(task.comm));
	task.sum = area_task_sum(&task);
	if (memcmp(to, &task, sizeof(task)))
		memcpy(to, &task, sizeof(task));
}

/**
 * area_task_at() - look at a place of the table of tasks
 * @a:  the area
 * @nr: number of the place
 *
 * Context: Any context.
 * Return: the task, if there is one with a good name; or NULL.
 */
const struct area_task *area_task_at(const struct area *a, u32 nr)
{
	const struct area_task *task = &a->task[nr];

	return task->pid && task->sum == area_task_sum(task) &&
	       !task->comm[AREA_COMM_LEN - 1] ? task : NULL;
}

/**
 * area_find_task() - find the name of a task
 * @a:   the area
 * @pid: PID of the task
 *
 * Context: Any context.
 * Return: the task, or NULL.
 */
const struct area_task *area_find_task(const struct area *a, u32 pid)
{
	const struct area_task *task = a->nr_tasks ? area_task_at(a, pid % a->nr_tasks) : NULL;

	return task && task->pid == pid ? task : NULL;
}
