/* SPDX-License-Identifier: GPL-2.0 */
/*
 * trace.dat: types and functions that the files of this directory share.
 *
 * Each file calls only files above it in this list:
 *
 *   text.c      text that grows
 *   pin.c       instances that stay while no lock is held
 *   symbols.c   names of the addresses that records have
 *   capture.c   the parts besides the records, captured once
 *   pages.c     the pages of a CPU as one run of bytes
 *   layout.c    the parts of the file, and where they are
 *   file.c      the open file
 *   copy.c      the whole file of records that were copied
 *   last_boot.c the file of the last boot
 */
#ifndef _KERNEL_TRACE_DAT_INTERNAL_H
#define _KERNEL_TRACE_DAT_INTERNAL_H

/* For all files of this directory, with what trace.h includes. */
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "../trace.h"
#include "../trace_job.h"

/**
 * DOC: trace.dat
 *
 * The file has version 6 of the format of trace-cmd:
 *
 * =========================  ===========================================================
 * Part                       Content
 * =========================  ===========================================================
 * DAT_HEAD                   magic, version, sizes; header_page, header_event; formats
 * size, DAT_SYMBOLS          kallsyms; empty for a file that was opened without
 *                            kallsyms_show_value()
 * DAT_TAIL                   formats of trace_printk(), names of tasks, CPUs, options
 * more options               of realtime.dat: the offset of its times; of each channel: its name,
 *                            and the offset of its table
 * table, DAT_CLOCK           of each CPU: offset and size of its pages; then the clocks,
 *                            with the one in use in brackets
 * table, DAT_CLOCK           the same of each channel
 * zeros                      up to a multiple of the size of a sub-buffer
 * pages                      of CPU 0, then of CPU 1, and so on; then of each channel
 * =========================  ===========================================================
 *
 * **Members.** The file of a session's snapshot has the records of its own buffer, and those of
 * the channels' parts of the cut: each of these buffers is a member. Their sub-buffers have one
 * size, because the format has one. Any other file has one member.
 *
 * **Clocks.** A text in the options, "version" for trace-cmd, has what the clocks have shown at the
 * cut and before the records. realtime.dat is the same file, with an option that has trace-cmd add
 * the difference of CLOCK_REALTIME and the clock of the trace, as it was at the cut. The files of
 * the last boot have what its clocks have shown at two moments, and the difference at the later
 * one.
 *
 * **Capture.** The first open captures the parts DAT_*. All but DAT_SYMBOLS are also captured
 * before the first of the snapshot's events is removed, since the number of that event may be used
 * for another one from then on. For DAT_SYMBOLS all records are read: no lock of tracing is held
 * meanwhile, and a fatal signal ends it. DAT_SYMBOLS is also captured before a module is removed,
 * since its names are removed with it. A captured part never changes. The parts stay, and count
 * against snapshot_limit_kb, until the instance of the snapshot is freed.
 *
 * **Slow tasks.** The task that opens the file may be throttled. If it held event_mutex or
 * &trace_dat.mutex, changes of events and removals of modules would wait as long. So a worker
 * captures, and the task waits for it, see trace_job_run(). A kill of the task also ends the wait
 * of the worker for these two.
 *
 * **Locks.** event_mutex: &trace_array.dat is set once. &trace_dat.mutex: DAT_SYMBOLS is set once.
 * &dat_file.mutex: the page that an open file has copied, and its places.
 */

/**
 * struct dat_text - text that grows
 * @m:   the text; &seq_file.private is free for the caller
 * @gfp: flags of its memory, besides GFP_KERNEL
 * @job: the job that makes it, or NULL
 * @err: 0, or -ENOMEM, -EINTR or -EFBIG: the text is not complete
 */
struct dat_text {
	struct seq_file		m;
	gfp_t			gfp;
	const struct trace_job	*job;
	int			err;
};

enum dat_part {
	DAT_HEAD,
	DAT_SYMBOLS,
	DAT_TAIL,
	DAT_CLOCK,
	DAT_NR_PARTS
};

/**
 * struct trace_dat - captured parts of trace.dat of a kept snapshot
 * @mutex:   serializes scans of the records
 * @scanned: DAT_SYMBOLS is captured
 * @kb:      memory that counts against the limit
 * @part:    parts of the file
 */
struct trace_dat {
	struct mutex		mutex;		/* scans */
	bool			scanned;
	unsigned long		kb;
	struct dat_block	part[DAT_NR_PARTS];
};

/**
 * struct dat_pins - instances that are not freed
 * @nr: number of @tr
 * @tr: the instances, each with a reference
 */
struct dat_pins {
	unsigned int		nr;
	struct trace_array	*tr[];
};

/**
 * struct dat_range - an entry of the table of CPUs, as in the file
 * @offset: of the CPU's pages in the file, in bytes
 * @size:   of the CPU's pages, in bytes
 */
struct dat_range {
	u64			offset;
	u64			size;
};

/**
 * struct dat_next - where to go on with the pages of a CPU
 * @at:    offset in the file of the page behind those that were passed; 0: none was
 * @place: this page
 * @run:   of a part of the last boot, &ring_buffer_place.run of its pages when the file was opened
 */
struct dat_next {
	u64				at;
	struct ring_buffer_place	place;
	u64				run;
};

/**
 * struct dat_pages - the pages of a snapshot
 * @buffer:    the records
 * @page_size: size of a page in bytes
 * @last_boot: only the pages of the last boot count, and others may write meanwhile
 * @rpage:     the page that was copied last, or NULL
 * @cpu:       its CPU
 * @at:        its offset in the file; 0: none was copied
 */
struct dat_pages {
	struct trace_buffer		*buffer;
	unsigned int			page_size;
	bool				last_boot;
	struct buffer_data_read_page	*rpage;
	int				cpu;
	u64				at;
};

/**
 * struct dat_member - a buffer with records of an open file
 * @tr:    the instance
 * @pages: its pages
 */
struct dat_member {
	struct trace_array	*tr;
	struct dat_pages	pages;
};

/**
 * struct dat_reading - an open file, for reads and lseek
 * @mutex: serializes reads
 * @size:  bytes of the file
 * @copy:  copies some of the bytes at @pos to @to, as copy_to_iter() does, or fails; @mutex is held
 * @real:  it is realtime.dat
 */
struct dat_reading {
	struct mutex	mutex;		/* reads */
	u64		size;
	ssize_t		(*copy)(struct dat_reading *reading, u64 pos, struct iov_iter *to);
	bool		real;
};

/**
 * struct dat_file - an open file
 * @reading: for reads; its mutex protects &dat_member.pages and @next
 * @symbols: bytes of the part of symbols
 * @options: the offset of times, options of channels, and the name of the first table
 * @range:   the tables of all members, of nr_cpu_ids entries each
 * @next:    as many as @range
 * @part:    the parts in front of the zeros
 * @nr_parts: number of @part
 * @begin:   offset of the first page
 * @pins:    the instance of the file, then the parts of its channels
 * @nr:      number of @member
 * @member:  the same, with their pages
 */
struct dat_file {
	struct dat_reading	reading;
	u32			symbols;
	struct dat_block	options;
	struct dat_range	*range;
	struct dat_next		*next;
	struct dat_block	*part;
	unsigned int		nr_parts;
	u64			begin;
	struct dat_pins		*pins;
	unsigned int		nr;
	struct dat_member	member[];
};

/* text.c */
void dat_put(struct dat_text *text, const void *data, size_t len);
#define dat_put_u16(text, value) dat_put(text, &(u16){ value }, sizeof(u16))
#define dat_put_u32(text, value) dat_put(text, &(u32){ value }, sizeof(u32))
#define dat_put_u64(text, value) dat_put(text, &(u64){ value }, sizeof(u64))
void dat_put_string(struct dat_text *text, const char *string);
void dat_print(struct dat_text *text, void (*print)(struct seq_file *m, void *data), void *data);
void dat_print_block(struct dat_text *text, size_t width,
		     void (*print)(struct seq_file *m, void *data), void *data);
void dat_print_all(struct dat_text *text, const struct seq_operations *op);
size_t dat_begin(struct dat_text *text, size_t width);
void dat_set(struct dat_text *text, size_t width, size_t begin, u64 value);
void dat_end(struct dat_text *text, size_t width, size_t begin);
int dat_finish(struct dat_text *text, struct dat_block *block);

/* A unit test looks at a scan behind each page. */
#ifdef CONFIG_TRACE_SNAPSHOT_KUNIT_TEST
extern void (*dat_scan_hook)(void);
#endif

static inline void dat_scan_point(void)
{
#ifdef CONFIG_TRACE_SNAPSHOT_KUNIT_TEST
	if (dat_scan_hook)
		dat_scan_hook();
#endif
}

/* pin.c */
struct dat_pins *dat_pin_members(struct trace_array *whole);
struct dat_pins *dat_pin_kept(void);
void dat_unpin(struct dat_pins *pins);

/* symbols.c */
void dat_put_symbols(struct dat_text *text, const struct dat_pins *pins);
void dat_put_symbols_in(struct dat_text *text, const void *data, size_t len);

/* capture.c */
void dat_put_begin(struct dat_text *text, unsigned int page_size);
void dat_put_formats(struct dat_text *text, unsigned long *types);
void dat_put_printk(struct dat_text *text);
void dat_put_options_clock(struct dat_text *text);
size_t dat_begin_uname(struct dat_text *text);
void dat_put_options_begin(struct dat_text *text);
void dat_put_clocks(struct dat_text *text, const struct trace_clocks *clocks, unsigned int nr);
void dat_put_offset(struct dat_text *text, const struct trace_clocks *clocks);
void dat_put_clock(struct dat_text *text, struct trace_array *tr);
int dat_capture(struct trace_array *tr);
int dat_capture_symbols(const struct dat_pins *pins, const struct trace_job *job);
void dat_capture_all(void);

/* pages.c */
void dat_pages_init(struct dat_pages *pages, struct trace_buffer *buffer);
void dat_pages_exit(struct dat_pages *pages);
int dat_pages_size(struct dat_pages *pages, int cpu, u64 *size);
int dat_pages_size_last(struct dat_pages *pages, struct dat_next *next, int cpu, u64 *size);
const void *dat_pages_at(struct dat_pages *pages, const struct dat_range *range,
			 struct dat_next *next, int cpu, u64 at);

/* layout.c */
u64 dat_place(struct dat_range *range, unsigned int nr, u64 begin);
unsigned int dat_find(const struct dat_range *range, u64 pos);
int dat_lay_out(struct dat_file *f, bool symbols);
void dat_free_layout(struct dat_file *f);

/* file.c */
ssize_t dat_read_iter(struct kiocb *iocb, struct iov_iter *to);
loff_t dat_llseek(struct file *file, loff_t offset, int whence);
#define DAT_FOPS(how_open, how_release) {	\
	.open		= how_open,		\
	.read_iter	= dat_read_iter,	\
	.splice_read	= copy_splice_read,	\
	.llseek		= dat_llseek,		\
	.release	= how_release,		\
}

#endif /* _KERNEL_TRACE_DAT_INTERNAL_H */
