/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ftrace2perf: a trace of ftrace as a perf.data.
 *
 * A trace is read whole: from tracefs (tracefs.c) or from a trace.dat (dat.c). The records
 * of its CPUs are merged by time (record.c) and written (perf-data.c and other perf-*.c). Files
 * call only functions of files that stand above them here.
 */
#ifndef FTRACE2PERF_H
#define FTRACE2PERF_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The number of an event has 16 bits in a record. */
#define NR_IDS		65536

/* More CPUs than any kernel is built for. */
#define MAX_CPUS	65536

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Whether this machine has the largest byte of a number first */
#define BIG_HERE	(__BYTE_ORDER == __BIG_ENDIAN)

/* A file that was read. A 0 follows its bytes. */
struct blob {
	char	*data;
	size_t	size;
};

struct bytes;

/**
 * struct cursor - a place in bytes that may come from anyone
 * @of:  the bytes, which only cursor.c sees
 * @at:  offset of the next byte
 * @end: offset behind the last byte
 * @big: numbers have their largest byte first
 *
 * One that is all 0 has no bytes.
 */
struct cursor {
	const struct bytes	*of;
	size_t			at;
	size_t			end;
	bool			big;
};

/**
 * struct event - an event that the trace can have
 * @id:     its number in a record
 * @system: name of its system, "ftrace" for those that cannot be enabled
 * @name:   its name
 * @format: text of its file "format"
 * @wanted: -e names it
 * @records: number of records that are converted
 * @attr:   its place among the attributes of the perf.data, -1 for none
 * @sample: of perf:sample, where its fields are in a record, see sample.c; else NULL
 */
struct event {
	int		id;
	const char	*system;
	char		*name;
	struct cursor	format;
	bool		wanted;
	unsigned long	records;
	int		attr;
	unsigned int	*sample;
};

/**
 * struct cpu_pages - the sub-buffers of a CPU, oldest first
 * @cpu:    number of the CPU
 * @pages:  the sub-buffers, struct trace.subbuf_size bytes each
 * @skip:   bytes of the first sub-buffer that were consumed before
 * @before: records lost before the first one, beside those that the sub-buffers tell
 * @after:  records lost behind the last one
 */
struct cpu_pages {
	int			cpu;
	struct cursor		pages;
	size_t			skip;
	unsigned long long	before;
	unsigned long long	after;
};

/**
 * struct trace - all that is read of a trace
 * @name:         as messages call it
 * @header_page:  text of events/header_page
 * @header_event: text of events/header_event
 * @kallsyms:     text of /proc/kallsyms
 * @printk:       text of printk_formats
 * @cmdlines:     text of saved_cmdlines
 * @tgids:        text of saved_tgids
 * @events:       the events
 * @nr_events:    number of @events
 * @by_id:        of each number, its event or NULL
 * @nr_ids:       number of @by_id
 * @cpus:         the CPUs that may have records
 * @nr_cpus:      number of @cpus
 * @nr_present:   number of CPUs of the machine
 * @subbuf_size:  in bytes, with the header
 * @long_size:    bytes of a long of the traced kernel
 * @page_size:    of the traced machine, in bytes
 * @big:          the traced machine has the largest byte of a number first
 * @clock:        its trace_clock
 * @hostname:     name of the traced machine, or NULL
 * @release:      version of its kernel, or NULL
 * @machine:      its architecture, or NULL
 * @here:         it was recorded by the running kernel
 * @global:       one ring has the records of all CPUs: a word behind each one tells its CPU
 * @cpu_list:     of a global one, the CPUs that are wanted; NULL for all
 * @instead:      if it has no records, what may have some; or NULL
 */
struct trace {
	char			*name;
	struct cursor		header_page;
	struct cursor		header_event;
	struct cursor		kallsyms;
	struct cursor		printk;
	struct cursor		cmdlines;
	struct cursor		tgids;
	struct event		*events;
	int			nr_events;
	struct event		**by_id;
	unsigned int		nr_ids;
	struct cpu_pages	*cpus;
	int			nr_cpus;
	unsigned int		nr_present;
	unsigned int		subbuf_size;
	unsigned int		long_size;
	unsigned int		page_size;
	bool			big;
	char			*clock;
	char			*hostname;
	char			*release;
	char			*machine;
	bool			here;
	bool			global;
	const char		*cpu_list;
	char			*instead;
};

/**
 * struct record - the next record, or a loss
 * @event: its event; NULL for a loss
 * @cpu:   number of its CPU
 * @time:  in the units of the clock
 * @bytes: its bytes, with the common fields
 * @lost:  number of records that were lost
 */
struct record {
	struct event		*event;
	int			cpu;
	unsigned long long	time;
	struct cursor		bytes;
	unsigned long long	lost;
};

/**
 * struct subbuf - a place in a sub-buffer
 * @rest:  the records that follow
 * @first: offset of the first record, in the bytes of @rest
 * @at:    the record's offset behind @first
 * @time:  the record's time
 * @lost:  number of records lost in front of the sub-buffer
 * @vague: @lost is not known, and is 1 or more
 */
struct subbuf {
	struct cursor	rest;
	size_t		first;
	size_t		at;
	uint64_t	time;
	uint64_t	lost;
	bool		vague;
};

/**
 * struct sample - a record of perf:sample
 * @name:   name of the event of perf; "" if it is too long for one
 * @ip:     address of the instruction
 * @addr:   address of the data, or 0
 * @period: number of events that it stands for
 * @tgid:   PID of the process
 * @mode:   where @ip is: PERF_RECORD_MISC_KERNEL, PERF_RECORD_MISC_USER ...
 * @kernel: stack in the kernel, longs
 * @user:   stack in user space, longs
 */
struct sample {
	char		name[64];
	uint64_t	ip;
	uint64_t	addr;
	uint64_t	period;
	uint32_t	tgid;
	uint32_t	mode;
	struct cursor	kernel;
	struct cursor	user;
};

/**
 * struct counter - an event of perf that has samples
 * @name:    its name
 * @type:    PERF_TYPE_*, or the number of a PMU
 * @config:  the event, as its type numbers it
 * @period:  that of the first sample
 * @records: number of samples
 * @attr:    its place among the attributes of the perf.data
 */
struct counter {
	char		*name;
	uint32_t	type;
	uint64_t	config;
	uint64_t	period;
	unsigned long	records;
	int		attr;
};

/**
 * struct counters - all of them
 * @all: in the order of their names
 * @nr:  number of them
 */
struct counters {
	struct counter	*all;
	int		nr;
};

/* util.c */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void *zalloc(size_t size);
void *resize(void *old, size_t nr, size_t size);
void *grow(void *old, size_t nr, size_t size);
char *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool read_file(const char *path, struct blob *blob);
FILE *create_file(const char *path);
void close_file(FILE *out, const char *path);

/* uncompress.c */
void uncompress_check(const char *name, const char *how);
bool uncompress_bytes(const char *how, void *to, size_t room, const void *from, size_t size);

/* cursor.c */
struct cursor cursor_new(const char *name, const char *part, const void *data, size_t size);
void cursor_fail(const struct cursor *cursor, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
struct cursor cursor_more(const struct cursor *like, const char *part, const void *data,
			  size_t size);
size_t cursor_left(const struct cursor *cursor);
struct cursor cursor_part(struct cursor *cursor, uint64_t size, const char *what);
void cursor_skip(struct cursor *cursor, uint64_t size, const char *what);
void cursor_get(struct cursor *cursor, void *to, size_t size, const char *what);
uint64_t cursor_number(struct cursor *cursor, size_t size, const char *what);
char *cursor_name(struct cursor *cursor, const char *what);
bool cursor_line(struct cursor *cursor, char *line, size_t size);
void cursor_write(struct cursor cursor, FILE *out);
void cursor_uncompress(struct cursor cursor, const char *how, void *to, size_t room);

/* subbuf.c */
void subbuf_begin(struct subbuf *subbuf, struct cursor bytes, unsigned int long_size);
bool subbuf_next(struct subbuf *subbuf, struct cursor *record);

/* sample.c */
unsigned int *sample_format(struct cursor format);
bool sample_read(const struct record *record, struct sample *sample);

/* counter.c */
struct counter *counter_find(const struct counters *counters, const char *name);
struct counter *counter_add(struct counters *counters, const char *name);

/* trace.c */
char *first_word(struct cursor cursor);
void trace_add_event(struct trace *trace, const char *system, struct cursor format);
struct cpu_pages *trace_add_cpu(struct trace *trace, int cpu);
void trace_sort_events(struct trace *trace);
void trace_want_cpus(struct trace *trace, const char *list);
void trace_want_events(struct trace *trace, char **wanted, int nr);
bool cpu_wanted(const char *list, int cpu);

/* tracefs.c */
void tracefs_read(struct trace *trace, const char *dir, const char *cpus, bool consume);

/* dat.c */
void dat_read(struct trace *trace, const char *path, const char *buffer);

/* record.c */
struct merge;

struct merge *merge_begin(struct trace *trace);
bool merge_next(struct merge *merge, struct record *record);
bool merge_is_global(struct trace *trace);
void merge_report(struct merge *merge);
void merge_free(struct merge *merge);

/* task.c */
struct task {
	int	tid;
	int	tgid;
	char	comm[16];
};

int tasks_read(struct trace *trace, struct task **tasks);
int task_tgid(const struct task *tasks, int nr, int tid);
void task_set_tgid(struct task *tasks, int nr, int tid, int tgid);

/* perf-record.c */

/* It is behind each record but a sample. */
struct sample_id {
	uint32_t	pid;
	uint32_t	tid;
	uint64_t	time;
	uint32_t	cpu;
	uint32_t	reserved;
	uint64_t	id;
};

#define SAMPLE_ID_SIZE	32

/**
 * struct out - a perf.data that is written
 * @file: the file; an error is noticed when it is closed
 * @big:  numbers have their largest byte first, as those in the records of the trace
 */
struct out {
	FILE	*file;
	bool	big;
};

void put(struct out *out, const void *data, size_t size);
void put_u16(struct out *out, uint16_t n);
void put_u32(struct out *out, uint32_t n);
void put_u64(struct out *out, uint64_t n);
void put_bits(struct out *out, uint64_t bits);
void put_words(struct out *out, const uint64_t *words, size_t nr);
void put_header(struct out *out, uint32_t type, uint16_t misc, size_t size);
void put_sample_id(struct out *out, const struct sample_id *id);

/* perf-attr.c */

/**
 * struct attr - an attribute of a perf.data
 * @name:        name of its event
 * @type:        PERF_TYPE_*, or the number of a PMU
 * @config:      the event, as its type numbers it
 * @period:      number of events that a sample stands for
 * @sample_type: PERF_SAMPLE_*: parts of its samples
 */
struct attr {
	char		*name;
	uint32_t	type;
	uint64_t	config;
	uint64_t	period;
	uint64_t	sample_type;
};

/**
 * struct attrs - all of them
 * @all:   the attributes; the ID of each one is its place + 1
 * @nr:    number of them
 * @clock: number of a POSIX clock of the same times, or -1
 */
struct attrs {
	struct attr	*all;
	int		nr;
	int		clock;
};

#define ATTR_SIZE	96

void put_attr(struct out *out, const struct attrs *attrs, int i);

/* perf-map.c */
void symbols_write(const char *path, const struct trace *trace);
void put_maps(struct out *out, const struct trace *trace);

/* perf-feature.c */
uint64_t put_features(struct out *out, struct trace *trace, const struct attrs *attrs,
		      const unsigned long long *span, char **argv);

/* perf-data.c */
void perf_data_write(const char *path, struct trace *trace, char **argv);

#endif /* FTRACE2PERF_H */
