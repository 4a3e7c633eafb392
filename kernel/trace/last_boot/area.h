/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The area: a log that describes records, in memory that survives a reboot.
 *
 * area.c needs nothing of tracing.
 */
#ifndef _KERNEL_TRACE_LAST_BOOT_AREA_H
#define _KERNEL_TRACE_LAST_BOOT_AREA_H

#include <linux/types.h>

/**
 * enum area_kind - contents of an entry, and the meaning of its key
 * @AREA_UNAME:  system, host, release and machine, as text; key 0
 * @AREA_CLOCK:  the clocks, as the file "trace_clock" shows them; key 0
 * @AREA_MOMENT: &struct last_boot_moment; 0 and 1 in turn
 * @AREA_FORMAT: system of an event, a 0, and the text of its file "format"; its number
 * @AREA_STRING: a constant text, such as a format of trace_printk(); its address
 * @AREA_SYMBOL: &struct area_symbol; the address of a function
 * @AREA_NR_KINDS: number of these
 */
enum area_kind {
	AREA_UNAME,
	AREA_CLOCK,
	AREA_MOMENT,
	AREA_FORMAT,
	AREA_STRING,
	AREA_SYMBOL,
	AREA_NR_KINDS
};

/**
 * struct area_entry - an entry of the log
 * @sum:  checksum of all that follows
 * @kind: &enum area_kind
 * @len:  bytes of @data
 * @key:  with @kind, the subject of the entry: a later one replaces an earlier one
 * @data: the contents; zeros follow up to the next multiple of 8
 */
struct area_entry {
	u32	sum;
	u16	kind;
	u16	len;
	u64	key;
	u8	data[];
};

/**
 * struct area_symbol - contents of an entry of AREA_SYMBOL
 * @size: bytes of the function
 * @name: its name, without a 0 at the end; behind a tab and in brackets, its module
 */
struct area_symbol {
	u32	size;
	char	name[];
};

#define AREA_COMM_LEN	16

/**
 * struct area_task - the name of a task
 * @sum:  checksum of all that follows
 * @pid:  PID
 * @comm: the name, with a 0 at the end unless it is damaged
 */
struct area_task {
	u32	sum;
	u32	pid;
	char	comm[AREA_COMM_LEN];
};

/**
 * struct area_header - the beginning of the area
 * @magic:   AREA_MAGIC if the rest is valid
 * @kernel:  identifies the kernel that wrote it
 * @used:    bytes of the log
 * @dropped: entries that had no room
 */
struct area_header {
	u64	magic;
	u64	kernel;
	u32	used;
	u32	dropped;
};

/**
 * struct area - an area, and an index of its log in other memory
 * @header:   the area: this, then the tasks, then the log
 * @task:     table of tasks; PID modulo @nr_tasks
 * @log:      the entries
 * @nr_tasks: number of @task
 * @room:     bytes of @log
 * @slot:     offset of an entry, plus 1, by a hash of its kind and key; 0: free
 * @mask:     number of @slot, less 1
 * @seed:     of the hash, which the contents of the memory cannot depend on
 * @nr:       number of @slot in use
 * @bad:      entries that area_open() has passed over
 */
struct area {
	struct area_header	*header;
	struct area_task	*task;
	void			*log;
	u32			nr_tasks;
	u32			room;
	u32			*slot;
	u32			mask;
	u32			seed;
	u32			nr;
	u32			bad;
};

size_t area_index_size(size_t size);
void area_place(struct area *a, void *memory, size_t size, void *index);
void area_erase(void *memory);
void area_begin(struct area *a, u64 kernel);
bool area_open(struct area *a);
int area_put(struct area *a, enum area_kind kind, u64 key, const void *data, size_t len);
int area_renew(struct area *a, enum area_kind kind, u64 key, const void *data, size_t len);
const struct area_entry *area_find(const struct area *a, enum area_kind kind, u64 key);
const struct area_entry *area_next(const struct area *a, u32 *nr, enum area_kind kind);
void area_put_task(struct area *a, u32 pid, const char *comm);
const struct area_task *area_task_at(const struct area *a, u32 nr);
const struct area_task *area_find_task(const struct area *a, u32 pid);

#endif
