// SPDX-License-Identifier: GPL-2.0
/*
 * The read-only instance that shows a kept snapshot: NAME@SEQ.
 */
#include <linux/fs.h>
#include <linux/tracefs.h>

#include "../trace_text.h"
#include "internal.h"

/* "trace-cmd extract" has to open two files to erase and disable: only the write fails. */
static ssize_t
kept_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return -EPERM;
}

static const struct file_operations kept_trace_fops = {
	.open		= tracing_open,
	.read		= seq_read,
	.read_iter	= seq_read_iter,
	.splice_read	= copy_splice_read,
	.write		= kept_write,
	.llseek		= tracing_lseek,
	.release	= tracing_release,
};

/* No event is enabled. */
static ssize_t kept_enable_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return simple_read_from_buffer(ubuf, cnt, ppos, "0\n", 2);
}

const struct file_operations trace_kept_enable_fops = {
	.open		= tracing_open_generic_tr,
	.read		= kept_enable_read,
	.write		= kept_write,
	.release	= tracing_release_generic_tr,
};

/*
 * Each CPU's ring has the size of its records. A program such as Perfetto reads no more
 * pages of a CPU than are in this file, so it holds the largest size, not "X".
 */
static int kept_size_show(struct seq_file *m, void *v)
{
	struct trace_array *tr = m->private;
	unsigned long size = 0;
	int cpu;

	for_each_tracing_cpu(cpu)
		size = max(size, per_cpu_ptr(tr->array_buffer.data, cpu)->entries);
	seq_printf(m, "%lu\n", size >> 10);
	return 0;
}

static int kept_list_show(struct seq_file *m, void *v)
{
	struct trace_array *tr = m->private;

	snap_show(m, tr, tr->shows);
	return 0;
}

/* As the file of a session. */
static int kept_channels_show(struct seq_file *m, void *v)
{
	struct trace_array *tr = m->private, *part;

	guard(mutex)(&trace_types_lock);
	for_each_channel(part, tr)
		snap_show_part(m, part);
	return 0;
}

static const struct trace_text_file kept_size = TRACE_TEXT_FILE(kept_size_show, NULL, NULL);
static const struct trace_text_file kept_list = TRACE_TEXT_FILE(kept_list_show, NULL, NULL);
static const struct trace_text_file kept_channels =
	TRACE_TEXT_FILE(kept_channels_show, NULL, NULL);

static int kept_open(struct inode *inode, struct file *file);

/* Read-only versions of the files of a normal instance. */
static const struct kept_file {
	const char			*name;
	const struct file_operations	*of;
	struct file_operations		fops;
} kept_files[] = {
#define KEPT_FILE(name, of) { name, of, { .open = kept_open } }
	KEPT_FILE("trace", &kept_trace_fops),
	KEPT_FILE("trace_pipe", &tracing_pipe_fops),
	KEPT_FILE("trace_clock", &trace_clock_fops),
	KEPT_FILE("trace_options", &tracing_iter_fops),
	KEPT_FILE("saved_cmdlines", &tracing_saved_cmdlines_fops),
	KEPT_FILE("saved_tgids", &tracing_saved_tgids_fops),
	KEPT_FILE("timestamp_mode", &trace_time_stamp_mode_fops),
	KEPT_FILE("current_tracer", &set_tracer_fops),
	KEPT_FILE("tracing_on", &rb_simple_fops),
	KEPT_FILE("buffer_size_kb", &kept_size.fops),
	KEPT_FILE("buffer_total_size_kb", &tracing_total_entries_fops),
	KEPT_FILE("buffer_subbuf_size_kb", &buffer_subbuf_size_fops),
	KEPT_FILE("snapshots", &kept_list.fops),
	KEPT_FILE("trace.dat", &trace_dat_fops),
	KEPT_FILE("realtime.dat", &trace_realtime_dat_fops),
	KEPT_FILE("channels", &kept_channels.fops),
}, kept_cpu_files[] = {
	KEPT_FILE("trace", &kept_trace_fops),
	KEPT_FILE("trace_pipe", &tracing_pipe_fops),
	KEPT_FILE("trace_pipe_raw", &tracing_buffers_fops),
	KEPT_FILE("stats", &tracing_stats_fops),
	KEPT_FILE("buffer_size_kb", &tracing_entries_fops),
};

/* Give the open file the operations of a normal instance, unless it is open for writing. */
static int kept_open(struct inode *inode, struct file *file)
{
	const struct file_operations *of = container_of(file->f_op, struct kept_file, fops)->of;

	if ((file->f_mode & FMODE_WRITE) && of->write != kept_write)
		return -EPERM;
	file->f_flags &= ~O_TRUNC;
	replace_fops(file, of);
	return of->open(inode, file);
}

/**
 * trace_kept_list_cpu() - describe a file of a CPU of a kept snapshot
 * @nr:    its number
 * @entry: destination of the description
 *
 * Context: As tracefs_list.
 * Return: false if there are not so many.
 */
bool trace_kept_list_cpu(unsigned int nr, struct tracefs_entry *entry)
{
	if (nr >= ARRAY_SIZE(kept_cpu_files))
		return false;
	entry->name = kept_cpu_files[nr].name;
	entry->mode = TRACE_MODE_READ;
	entry->fops = &kept_cpu_files[nr].fops;
	return true;
}

static int snap_fill_dir(struct trace_array *tr)
{
	const struct kept_file *file;

	for (file = kept_files; file < kept_files + ARRAY_SIZE(kept_files); file++) {
		if (!trace_create_file(file->name, TRACE_MODE_READ, tr->dir, tr, &file->fops))
			return -ENOMEM;
	}
	return trace_array_create_cpus(tr, tr->dir);
}

/* Memory of a file or a directory in tracefs, and of an event in eventfs */
#define KEPT_FILE_BYTES		(sizeof(struct inode) + sizeof(struct dentry) + 64)
#define KEPT_EVENT_BYTES	(sizeof(struct trace_event_file) + 256)

/* The memory of an instance, in KiB. Its "per_cpu" takes some when it is looked into. */
static unsigned long snap_instance_kb(struct trace_array *tr)
{
	unsigned long files = 3 + ARRAY_SIZE(kept_files);

	return DIV_ROUND_UP(sizeof(*tr) + files * KEPT_FILE_BYTES +
			    list_count_nodes(&tr->events) * KEPT_EVENT_BYTES, 1024);
}

/* The files become visible before the trace array is in the list: they cannot be opened yet. */
static int snap_create_files(struct trace_array *tr, struct trace_array *from)
{
	/*
	 * Those who could not read the records of an instance cannot read its snapshots, either.
	 * The rights of the top directory are those of the way to any instance.
	 */
	return trace_array_mkdir(tr, from->name ? from->dir : NULL) ?:
	       snap_fill_dir(tr) ?: event_trace_add_kept(tr, from);
}

static void snap_remove_dir(struct trace_array *tr)
{
	event_trace_del_kept(tr);
	tracefs_remove(tr->dir);
}

static void snap_free_array(struct trace_array *tr)
{
	trace_dat_free(tr);
	trace_array_free(tr);
}

/* Room in a name for .2 and so on, and for .CHANNEL of a part. */
#define KEPT_NUMBER_LEN	((int)sizeof(".4294967295") - 1)
#define KEPT_PART_LEN	64

static char *snap_name(struct trace_snap *snap, struct trace_array *whole)
{
	const char *from = snap->buf.tr->name ?: "top";
	char seq[24];
	int len;

	if (whole)
		return kasprintf(GFP_KERNEL, "%s.%.*s", whole->name,
				 NAME_MAX - KEPT_NUMBER_LEN - 1 - (int)strlen(whole->name), from);
	len = snprintf(seq, sizeof(seq), "@%llu", snap->seq);
	return kasprintf(GFP_KERNEL, "%.*s%s", NAME_MAX - KEPT_PART_LEN - KEPT_NUMBER_LEN - len,
			 from, seq);
}

/*
 * NAME@SEQ, and for a part NAME@SEQ.CHANNEL; a long NAME or CHANNEL is shortened. With .2 and
 * so on behind it if there is an instance of this name.
 */
static char *snap_alloc_name(struct trace_snap *snap, struct trace_array *whole)
{
	char *base __free(kfree) = snap_name(snap, whole);
	char *name = base ? kstrdup(base, GFP_KERNEL) : NULL;
	unsigned int n;

	for (n = 2; name && trace_array_find(name); n++) {
		kfree(name);
		name = kasprintf(GFP_KERNEL, "%s.%u", base, n);
	}
	return name;
}

static struct trace_array *snap_alloc_array(struct trace_snap *snap, struct trace_array *whole)
{
	char *name __free(kfree) = snap_alloc_name(snap, whole);
	struct trace_array *tr = name ? trace_array_alloc(name) : NULL, *from = snap->buf.tr;
	struct tracer *t = from->current_trace;
	int cpu;

	if (!tr)
		return NULL;
	tr->shows = snap;
	tr->array_buffer = snap->buf;
	tr->array_buffer.tr = tr;
	for_each_tracing_cpu(cpu)
		per_cpu_ptr(tr->array_buffer.data, cpu)->entries =
			ring_buffer_size(tr->array_buffer.buffer, cpu);
	tr->ring_buffer_expanded = true;

	/* A latency tracer would show its own snapshot. */
	tr->current_trace = t->allow_instances && !t->use_max_tr ? t : &nop_trace;
	tr->clock_id = snap->clock_id;
	/* Nothing is recorded. */
	tr->trace_flags = from->trace_flags &
			  ~(TRACE_ITER(PAUSE_ON_TRACE) | TRACE_ITER(PRINTK) | TRACE_ITER(MARKERS));
	return tr;
}

/*
 * The instances of kept snapshots change under these. &trace_snapshots.mutex is taken for one
 * of them at a time: a channel may be the session of its session later.
 */
static void snap_assert_names(void)
{
	lockdep_assert_held(&event_mutex);
	lockdep_assert_held(&trace_types_lock);
}

/**
 * snap_publish() - create the instance that shows a kept snapshot
 * @s:     the snapshots of the owner
 * @snap:  the snapshot; the caller holds it
 * @whole: the instance of the session's snapshot that it is a part of, or NULL
 *
 * The instance is a user of the snapshot.
 *
 * Context: May sleep, event_mutex and trace_types_lock are held.
 * Return: 0 or -ENOMEM; -ENODEV if the owner is removed; -ENOSPC as snap_check_limit(), for
 *	   &trace_snap.kept_kb.
 */
int snap_publish(struct trace_snapshots *s, struct trace_snap *snap, struct trace_array *whole)
{
	struct trace_channels *channels = NULL;
	struct trace_array *tr;
	int ret;

	snap_assert_names();
	guard(mutex)(&s->mutex);
	if (s->dead)
		return -ENODEV;
	tr = snap_alloc_array(snap, whole);
	if (!tr)
		return -ENOMEM;
	if (whole)
		channels = trace_channels_with(whole, tr);
	ret = whole && !channels ? -ENOMEM : snap_create_files(tr, snap->buf.tr);
	if (!ret) {
		snap->kept_kb = snap_instance_kb(tr);
		ret = snap_check_limit(s, snap->kept_kb);
	}
	if (ret) {
		kvfree(channels);
		snap_remove_dir(tr);
		snap_free_array(tr);
		return ret;
	}
	/* Events that are registered later do not belong to it. */
	tr->system_names = "";
	ring_buffer_record_off(snap->buf.buffer);
	scoped_guard(snap_change, s)
		snap_get(snap);
	snap->kept = tr;
	snap_recount(snap);
	/* The owner has a reference. */
	tr->owned = snap->owned;
	tr->ref = 1 + snap->owned;
	list_add(&tr->list, &ftrace_trace_arrays);
	list_add_tail(&snap->node, whole ? &s->keeper.parts :
				   snap->owned ? &s->keeper.owned : &s->keeper.kept);
	if (whole)
		channels = trace_channels_set(whole, channels, tr, whole);
	kvfree_rcu(channels, rcu);
	return 0;
}

/* Have nobody find the instance of a kept snapshot any more. */
static void snap_hide(struct trace_snap *snap)
{
	struct trace_array *tr = snap->kept, *whole = tr->session;
	struct trace_channels *old = NULL;

	list_del_init(&tr->list);
	list_del(&snap->node);
	if (whole)
		old = trace_channels_set(whole, trace_channels_without(whole, tr), tr, NULL);
	kvfree_rcu(old, rcu);
	snap_remove_dir(tr);
	tr->ref--;
}

static void snap_free_instance(struct trace_snapshots *s, struct trace_snap *snap)
{
	lockdep_assert_held(&s->mutex);
	snap_free_array(snap->kept);
	snap->kept = NULL;
	snap_recount(snap);
	snap_put(s, snap);
}

/* Call @fn for each part of a kept snapshot. @fn removes it. */
static void snap_each_part(struct trace_snap *snap,
			   void (*fn)(struct trace_snapshots *s, struct trace_snap *part))
{
	struct trace_channels *parts;

	while ((parts = trace_channels_of(snap->kept)))
		fn(parts->ch[0]->shows->owner, parts->ch[0]->shows);
}

/**
 * snap_unpublish() - undo snap_publish() of a snapshot and of its parts
 * @s:    the snapshots of the owner
 * @snap: the snapshot, which nobody has found since
 *
 * Context: May sleep, event_mutex and trace_types_lock are held.
 */
void snap_unpublish(struct trace_snapshots *s, struct trace_snap *snap)
{
	snap_assert_names();
	snap_each_part(snap, snap_unpublish);
	guard(mutex)(&s->mutex);
	snap_hide(snap);
	snap_free_instance(s, snap);
}

/**
 * snap_forget_leaving() - free the instances of retired snapshots that nobody has open
 * @s: the snapshots of the owner
 *
 * Context: May sleep, event_mutex and trace_types_lock are held.
 */
void snap_forget_leaving(struct trace_snapshots *s)
{
	struct trace_snap *snap, *next;

	snap_assert_names();
	guard(mutex)(&s->mutex);
	list_for_each_entry_safe(snap, next, &s->keeper.leaving, node) {
		if (snap->kept->ref)
			continue;
		list_del(&snap->node);
		snap_free_instance(s, snap);
	}
}

/**
 * snap_retire() - remove the instance of a kept snapshot
 * @s:    the snapshots of the owner
 * @snap: the snapshot, an entry of &snap_keeper.kept, .parts or .owned
 *
 * Its parts are removed, too. If somebody has it open, snap_forget_leaving() has to
 * follow when &trace_array.ref is 0.
 *
 * Context: May sleep, event_mutex and trace_types_lock are held.
 */
void snap_retire(struct trace_snapshots *s, struct trace_snap *snap)
{
	bool counted = !snap->kept->session && !snap->owned;

	snap_assert_names();
	snap_each_part(snap, snap_retire);
	scoped_guard(mutex, &s->mutex) {
		/* The snapshot was taken for the owner alone. */
		if ((snap->kept->session ?: snap->kept)->shows->owned)
			snap_drop(s, &s->user, snap);
		s->keeper.nr -= counted;
		snap_hide(snap);
		list_add_tail(&snap->node, &s->keeper.leaving);
	}
	snap_forget_leaving(s);
	/* The keeper frees the memory of a whole; this worker that of another one. */
	if (!counted)
		queue_work(system_dfl_wq, &s->worker.work);
}

/**
 * snap_is_open() - has somebody a kept snapshot, or a part of it, open?
 * @snap: the snapshot
 *
 * Context: trace_types_lock is held.
 * Return: true if so.
 */
bool snap_is_open(struct trace_snap *snap)
{
	struct trace_array *part;

	lockdep_assert_held(&trace_types_lock);
	if (snap->kept->ref > 1)
		return true;
	for_each_channel(part, snap->kept) {
		if (part->ref > 1)
			return true;
	}
	return false;
}
