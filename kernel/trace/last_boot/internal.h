/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The last boot: types and functions that the files of this directory share.
 *
 * Each file calls only files above it in this list:
 *
 *   area.c      a log in memory that survives a reboot
 *   format.c    the text of a file "format" of another kernel
 *   recall.c    find the area of the last boot
 *   keep.c      store the area for the next boot
 */
#ifndef _KERNEL_TRACE_LAST_BOOT_INTERNAL_H
#define _KERNEL_TRACE_LAST_BOOT_INTERNAL_H

#include "../trace.h"

/**
 * DOC: last boot
 *
 * Records in memory that survives a reboot are numbers: the number of an event, a PID, addresses of
 * functions and of texts. The next kernel may give other meanings to them. So 1/16 of that memory,
 * 4 MB at most, is the *area*, which has these meanings. The ring buffer gets the rest.
 *
 * ::
 *
 *   area_header       magic, identity of the kernel, bytes of the log in use, entries dropped
 *   area_task [N]     names of tasks, by PID modulo N: a quarter of the area
 *   area_entry ...    the log: formats of events, constant texts, functions, clock, uname
 *
 * **Times of stores.** The write path of a record stores nothing here.
 *
 * =====================  ===============================================================
 * Contents               Stored
 * =====================  ===============================================================
 * uname, clock           before the first event of the instance is enabled, and when the
 *                        clock changes
 * time by other clocks   as those; by a worker each second; in a panic or a reboot:
 *                        two moments in turn, so that one is whole
 * formats of "ftrace"    as those
 * format of an event     before the event is enabled in the instance
 *                        again when a module is loaded: it can have enumerations
 * constant texts         at the beginning, and when a module is loaded
 * names of tasks         by that worker: those of "saved_cmdlines"; in a panic or a
 *                        reboot also those, and those of running tasks
 * functions              by that worker: it looks at 1 MB of the memory in turn, and each
 *                        word there that is the address of a function adds the name of
 *                        that. All of the memory in a panic and in a reboot; before a
 *                        module is removed, for functions of the module
 * =====================  ===============================================================
 *
 * After a look at all of the memory without a new record, the worker comes each 10 seconds.
 *
 * **Panic.** The ring buffer stops and writes the caches back first: the records are safe. Names of
 * tasks follow, and then functions. Both end after 200 ms, as a watchdog may wait and lists may be
 * damaged. A reboot takes no longer.
 *
 * A machine that stops without a panic loses what is less than a second old, and names of functions
 * that the worker has not come to; those of the kernel itself are found all the same if the next
 * kernel is the same one.
 *
 * **Room.** A name of a task replaces the one in its place. The log only grows. An entry without
 * room is counted, perhaps several times. The kernel log tells it once, and that of the next boot
 * has the number. Functions get one half of the log at most, so that formats have the other one.
 *
 * **A machine that stops anywhere.** An entry counts when it is whole, by a store behind it. The
 * area of a boot begins with the magic number erased, and ends so if the machine stops there. Each
 * entry has a checksum, and so has each name of a task.
 *
 * **Which records.** The area is that of one boot. At the next boot it is copied to ordinary
 * memory and erased at once, also if the copy fails, and the copy is checked. It is used for
 * records that are one boot old, as the ring buffer tells by their sequences. Earlier ones are
 * printed without it, and are not in trace.dat. So no record is printed by the area of another
 * boot. A boot that stops early leaves records that are two boots old, and no area. A backup of
 * Linux 7 gets its area from that copy.
 *
 * **Hostile contents.** Nothing in the area is an address or an index that is followed. Lengths are
 * checked against the area, texts have only characters that can be printed, and the numbers in a
 * format are checked against each record. The functions that print events are not called, see
 * trace_last_boot.c: they believe what is in a record.
 *
 * **Locks.** event_mutex: the list of &struct last_boot, and &last_boot.begun. &last_boot.lock: the
 * area of this boot. A panic walks the list under RCU, and leaves out an area with a lock that is
 * held. The copy that the last boot has left does not change.
 */

#define LAST_BOOT_RECENT_BITS	10

/**
 * struct last_boot - the last boot of an instance, and the area for the next one
 * @node:    link in the list of all
 * @tr:      the instance
 * @lock:    protects @keep, @moments
 * @copy:    the memory is a copy: nothing is stored
 * @begun:   @keep is of this boot
 * @settled: the formats have their final texts
 * @same_kernel: @recall is of this kernel
 * @clock_id: &trace_array.clock_id that is stored
 * @moments: how often clocks were read
 * @scanned: bytes of the memory that were looked at in this turn
 * @looked:  bytes that were looked at since a record came
 * @records: number of records that were written when the worker came last
 * @recent:  words that were looked at lately; event_mutex, or in a panic
 * @keep:    the area
 * @recall:  a copy of the area of the last boot; header NULL: there is none
 * @symbol:  functions in @recall, by address
 * @nr_symbols: number of @symbol
 */
struct last_boot {
	struct list_head		node;
	struct trace_array		*tr;
	raw_spinlock_t			lock;
	bool				copy;
	bool				begun;
	bool				settled;
	bool				same_kernel;
	int				clock_id;
	unsigned int			moments;
	size_t				scanned;
	size_t				looked;
	u64				records;
	unsigned long			recent[1 << LAST_BOOT_RECENT_BITS];
	struct area			keep;
	struct area			recall;
	const struct area_entry		**symbol;
	unsigned int			nr_symbols;
};

/* Of the linker: the notes of the kernel */
extern const void __start_notes __weak;
extern const void __stop_notes __weak;

/* recall.c */
u64 last_boot_kernel(void);
void last_boot_recall(struct last_boot *lb, size_t size);
void last_boot_forget(struct last_boot *lb);

/* keep.c */
void last_boot_keep_panic(void);

#endif
