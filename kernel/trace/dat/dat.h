/* SPDX-License-Identifier: GPL-2.0 */
/*
 * trace.dat of kept snapshots: the interface for the rest of tracing; a part of trace.h.
 */
#ifndef _KERNEL_TRACE_DAT_H
#define _KERNEL_TRACE_DAT_H

struct array_buffer;
struct seq_file;

/**
 * struct dat_block - bytes in memory
 * @data: their address; from kvmalloc() where a file of trace.dat owns them
 * @len:  number of bytes
 */
struct dat_block {
	const void		*data;
	size_t			len;
};

/**
 * struct trace_dat_record - a record that was copied
 * @ts:  its time
 * @off: offset of its bytes
 * @len: number of bytes
 * @cpu: its CPU
 * @member: number of its instance, for the caller
 * @lost: records of this CPU in front of it are missing
 * @owner: for the caller
 */
struct trace_dat_record {
	u64			ts;
	u32			off;
	u32			len;
	u16			cpu;
	u16			member;
	u32			lost : 1;
	u32			owner : 31;
};

#if NR_CPUS > 0x10000
#error "A record has no room for the number of its CPU"
#endif

struct dat_range;

/**
 * struct trace_dat_copy - records that were copied, and the file of them
 * @record:  the records, in the order of time
 * @nr:      number of @record
 * @data:    the bytes of all records, in that order
 * @len:     number of bytes of @data
 * @lost:    records in front of the first one of each CPU are missing
 * @symbols: the reader may have names of functions
 * @print_names: prints the names of tasks, "PID NAME" in a line
 * @private: for @print_names; trace_dat_copy_free() frees and clears all members behind it
 * @types:   numbers of the events that have records, from trace_dat_scan(); used up by
 *	     trace_dat_put_formats()
 * @names:   names of functions, from trace_dat_scan()
 * @printk:  formats of trace_printk(), from trace_dat_put_printk()
 * @formats: formats of the events of @types, from trace_dat_put_formats()
 * @clock:   the clocks, from trace_dat_put_formats()
 * @clocks:  an option with what they show, from trace_dat_put_formats()
 * @head:    the file up to the pages, from trace_dat_make_head(), which has these parts then
 * @pages:   the pages, from trace_dat_make_pages()
 * @page_size: bytes of a page
 * @range:   pages of each CPU; NULL if there are none yet
 */
struct trace_dat_copy {
	const struct trace_dat_record	*record;
	unsigned int			nr;
	const void			*data;
	size_t				len;
	bool				lost;
	bool				symbols;
	void				(*print_names)(struct seq_file *m, void *private);
	void				*private;
	unsigned long			*types;
	struct dat_block		names;
	struct dat_block		printk;
	struct dat_block		formats;
	struct dat_block		clock;
	struct dat_block		clocks;
	struct dat_block		head;
	struct dat_block		pages;
	unsigned int			page_size;
	struct dat_range		*range;
};

extern const struct file_operations trace_dat_last_boot_fops;
extern const struct file_operations trace_realtime_dat_last_boot_fops;

#ifdef CONFIG_TRACER_SNAPSHOT
extern const struct file_operations trace_dat_fops;
extern const struct file_operations trace_realtime_dat_fops;

void trace_dat_end_event(struct trace_array *tr);
void trace_dat_free(struct trace_array *tr);
int trace_dat_print(void (*print)(struct seq_file *m, void *data), void *data,
		    struct dat_block *block);
int trace_dat_make_pages(struct trace_dat_copy *copy);
int trace_dat_scan(struct trace_dat_copy *copy);
int trace_dat_put_printk(struct trace_dat_copy *copy);
int trace_dat_put_formats(struct trace_dat_copy *copy, struct trace_array *whole);
int trace_dat_make_head(struct trace_dat_copy *copy);
void trace_dat_copy_free(struct trace_dat_copy *copy);
#else
static inline void trace_dat_end_event(struct trace_array *tr) { }
#endif

#endif
