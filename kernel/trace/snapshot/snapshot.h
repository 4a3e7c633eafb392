/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Snapshots of trace arrays: the interface for the rest of tracing; a part of trace.h.
 */
#ifndef _KERNEL_TRACE_SNAPSHOT_H
#define _KERNEL_TRACE_SNAPSHOT_H

/**
 * struct snap_cond - condition of a request
 * @wanted: tells whether a snapshot is wanted; called in any context, changes nothing
 * @taken:  stores that one was taken; called with interrupts off, one at a time for each
 *	    trace array, and behind a @wanted that returned true
 * @data:   for both
 * @lasts:  @data is there until trace_snapshot_forget(): if the request waits for a snapshot,
 *	    @taken is called once when that is taken; otherwise when it begins to wait
 */
struct snap_cond {
	bool (*wanted)(void *data);
	void (*taken)(void *data);
	void *data;
	bool lasts;
};

/**
 * struct trace_clocks - what clocks show at one moment
 * @trace:  the clock of the trace, in its unit; the others were read after this
 * @mono:   CLOCK_MONOTONIC, in ns; 0 if none was read
 * @boot:   CLOCK_BOOTTIME, in ns
 * @real:   CLOCK_REALTIME, in ns since 1970
 * @within: from @trace until all were read, by the clock of the trace
 */
struct trace_clocks {
	u64	trace;
	u64	mono;
	u64	boot;
	u64	real;
	u64	within;
};

int tracing_alloc_snapshot(void);

extern const struct file_operations trace_kept_enable_fops;

/* Is an instance a kept snapshot? */
static inline bool trace_is_kept(struct trace_array *tr)
{
	return IS_ENABLED(CONFIG_TRACER_SNAPSHOT) && tr->shows;
}

#ifdef CONFIG_TRACER_SNAPSHOT
extern const struct file_operations trace_snapshot_raw_fops;

int trace_snapshot_init(struct trace_array *tr);
void trace_snapshot_stop(struct trace_array *tr);
void trace_snapshot_exit(struct trace_array *tr);
void trace_snapshot_create_files(struct trace_array *tr, struct dentry *dir);
bool trace_snapshot_list_cpu(unsigned int nr, struct tracefs_entry *entry);
bool trace_kept_list_cpu(unsigned int nr, struct tracefs_entry *entry);
void trace_snapshot_help(struct seq_file *m, struct trace_iterator *iter);

int event_trace_add_kept(struct trace_array *tr, struct trace_array *from);
void event_trace_del_kept(struct trace_array *tr);
bool trace_snapshot_is_keeping(struct trace_array *tr);
int trace_snapshot_remove(struct trace_array *tr);
void trace_snapshot_retire(struct trace_array *tr);
void trace_snapshot_last_put(struct trace_array *tr);
struct trace_array *trace_snapshot_owner(struct trace_array *tr);
int trace_snapshot_charge(struct trace_array *tr, unsigned long kb);
void trace_read_clocks(struct trace_buffer *buffer, struct trace_clocks *clocks);
const struct trace_clocks *trace_snapshot_clocks(struct trace_array *tr);

/* Is this per_cpu/cpuN/snapshot_raw, not trace_pipe_raw? */
static inline bool trace_is_snapshot(struct file *file)
{
	return file->f_op == &trace_snapshot_raw_fops;
}

struct array_buffer *trace_snapshot_get(struct trace_array *tr, bool max);
void trace_snapshot_put(struct array_buffer *buf);
int trace_snapshot_get_all(struct trace_array *tr, struct array_buffer **bufs);
bool trace_snapshot_is_part(const struct array_buffer *buf);
struct trace_channels *
trace_snapshot_set_channels(struct trace_array *tr, struct trace_channels *channels,
			    struct trace_array *ch, struct trace_array *session);
void trace_snapshot_add_rings(struct trace_array *ch);

int trace_snapshot_begin_change(struct trace_array *tr, unsigned long size, int cpu, int order);
void trace_snapshot_end_change(struct trace_array *tr, bool done);
unsigned long trace_snapshot_entries(struct trace_array *tr);
unsigned int trace_snapshot_moves(struct trace_array *tr);
void trace_snapshot_set_clock(struct trace_array *tr, int clock_id, u64 (*clock)(void));
void trace_snapshot_erase(struct trace_array *tr);
void trace_snapshot_end_event(struct trace_array *tr, int type);
int trace_snapshot_erase_max(struct trace_array *tr, int cpu);
void trace_snapshot_begin_anew(struct trace_array *tr);

int trace_snapshot_arm_tracer(struct trace_array *tr, struct tracer *t);
void trace_snapshot_disarm_tracer(struct trace_array *tr, struct tracer *t);
void trace_snapshot_trim(struct trace_array *tr);
bool trace_snapshot_is_used(struct trace_array *tr);
void trace_snapshot_boot(struct trace_array *tr, const char *name);
void trace_snapshot_warn(void);

void update_max_tr(struct trace_array *tr, struct task_struct *tsk, int tsk_cpu, int cpu,
		   unsigned long latency);

bool trace_snapshot_filtered(struct trace_event_file *file, const char *filter,
			     const struct snap_cond *cond);
bool trace_snapshot_trigger(struct trace_event_file *file, const struct snap_cond *cond);
void trace_snapshot_forget(struct trace_array *tr, void *data, void (*end)(void *data));
void tracing_snapshot_instance(struct trace_array *tr);
int tracing_alloc_snapshot_instance(struct trace_array *tr);
int tracing_arm_snapshot(struct trace_array *tr);
void tracing_disarm_snapshot(struct trace_array *tr);
#else
static inline int trace_snapshot_init(struct trace_array *tr) { return 0; }
static inline void trace_snapshot_stop(struct trace_array *tr) { }
static inline void trace_snapshot_exit(struct trace_array *tr) { }
static inline void trace_snapshot_create_files(struct trace_array *tr, struct dentry *dir) { }

static inline bool
trace_snapshot_list_cpu(unsigned int nr, struct tracefs_entry *entry) { return false; }
static inline bool
trace_kept_list_cpu(unsigned int nr, struct tracefs_entry *entry) { return false; }

static inline void trace_snapshot_help(struct seq_file *m, struct trace_iterator *iter) { }

static inline bool trace_snapshot_is_keeping(struct trace_array *tr) { return false; }
static inline int trace_snapshot_remove(struct trace_array *tr) { return 0; }
static inline void trace_snapshot_retire(struct trace_array *tr) { }
static inline void trace_snapshot_last_put(struct trace_array *tr) { }
static inline struct trace_array *
trace_snapshot_owner(struct trace_array *tr) { return NULL; }
static inline bool trace_is_snapshot(struct file *file) { return false; }
static inline struct array_buffer *
trace_snapshot_get(struct trace_array *tr, bool max) { return NULL; }
static inline void trace_snapshot_put(struct array_buffer *buf) { }
static inline int
trace_snapshot_get_all(struct trace_array *tr, struct array_buffer **bufs) { return -ENOMEM; }
static inline bool trace_snapshot_is_part(const struct array_buffer *buf) { return true; }

static inline struct trace_channels *
trace_snapshot_set_channels(struct trace_array *tr, struct trace_channels *channels,
			    struct trace_array *ch, struct trace_array *session)
{
	return trace_channels_set(tr, channels, ch, session);
}

static inline void trace_snapshot_add_rings(struct trace_array *ch) { }

static inline int
trace_snapshot_begin_change(struct trace_array *tr, unsigned long size, int cpu, int order)
{
	return 0;
}

static inline void trace_snapshot_end_change(struct trace_array *tr, bool done) { }

static inline unsigned long trace_snapshot_entries(struct trace_array *tr) { return 0; }

static inline void
trace_snapshot_set_clock(struct trace_array *tr, int clock_id, u64 (*clock)(void))
{
	tr->clock_id = clock_id;
	ring_buffer_set_clock(tr->array_buffer.buffer, clock);
}

static inline void trace_snapshot_erase(struct trace_array *tr) { }
static inline void trace_snapshot_end_event(struct trace_array *tr, int type) { }
static inline int trace_snapshot_erase_max(struct trace_array *tr, int cpu) { return 0; }
static inline void trace_snapshot_begin_anew(struct trace_array *tr) { }
static inline int trace_snapshot_arm_tracer(struct trace_array *tr, struct tracer *t) { return 0; }
static inline void trace_snapshot_disarm_tracer(struct trace_array *tr, struct tracer *t) { }
static inline void trace_snapshot_trim(struct trace_array *tr) { }
static inline bool trace_snapshot_is_used(struct trace_array *tr) { return false; }
static inline void trace_snapshot_boot(struct trace_array *tr, const char *name) { }
static inline void trace_snapshot_warn(void) { }

static inline void tracing_snapshot_instance(struct trace_array *tr) { }
static inline int tracing_alloc_snapshot_instance(struct trace_array *tr) { return 0; }
static inline int tracing_arm_snapshot(struct trace_array *tr) { return -ENODEV; }
static inline void tracing_disarm_snapshot(struct trace_array *tr) { }
#endif /* CONFIG_TRACER_SNAPSHOT */

#endif
