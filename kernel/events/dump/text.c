// SPDX-License-Identifier: GPL-2.0
/*
 * A record as a line of text.
 */
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/string_helpers.h>

#include "internal.h"

/* Bytes of a record of no known type on a line */
#define DUMP_HEX	32

/**
 * struct dump_type - how a type of records is printed
 * @name:   its name
 * @fields: names of the fields behind the header, each with its form: d and D are numbers of 32
 *	    and 64 bits; h, x and X are hexadecimal, with 16, 32 and 64 bits; s is a string; * is
 *	    the number of bytes that are left
 */
struct dump_type {
	const char *name;
	const char *fields;
};

#define DUMP_MMAP2 \
	"pid:d tid:d addr:X len:X pgoff:X maj:d min:d ino:D gen:D prot:x flags:x filename:s"

static const struct dump_type dump_types[PERF_RECORD_MAX] = {
	[PERF_RECORD_MMAP]		= { "MMAP", "pid:d tid:d addr:X len:X pgoff:X filename:s" },
	[PERF_RECORD_LOST]		= { "LOST", "id:D lost:D" },
	[PERF_RECORD_COMM]		= { "COMM", "pid:d tid:d comm:s" },
	[PERF_RECORD_EXIT]		= { "EXIT", "pid:d ppid:d tid:d ptid:d time:D" },
	[PERF_RECORD_THROTTLE]		= { "THROTTLE", "time:D id:D stream_id:D" },
	[PERF_RECORD_UNTHROTTLE]	= { "UNTHROTTLE", "time:D id:D stream_id:D" },
	[PERF_RECORD_FORK]		= { "FORK", "pid:d ppid:d tid:d ptid:d time:D" },
	[PERF_RECORD_READ]		= { "READ", "pid:d tid:d values:*" },
	[PERF_RECORD_MMAP2]		= { "MMAP2", DUMP_MMAP2 },
	[PERF_RECORD_AUX]		= { "AUX", "aux_offset:X aux_size:X flags:X" },
	[PERF_RECORD_ITRACE_START]	= { "ITRACE_START", "pid:d tid:d" },
	[PERF_RECORD_LOST_SAMPLES]	= { "LOST_SAMPLES", "lost:D" },
	[PERF_RECORD_SWITCH]		= { "SWITCH", "" },
	[PERF_RECORD_SWITCH_CPU_WIDE]	= { "SWITCH_CPU_WIDE", "next_prev_pid:d next_prev_tid:d" },
	[PERF_RECORD_NAMESPACES]	= { "NAMESPACES", "pid:d tid:d nr:D namespaces:*" },
	[PERF_RECORD_KSYMBOL]		= { "KSYMBOL", "addr:X len:d type:h flags:h name:s" },
	[PERF_RECORD_BPF_EVENT]		= { "BPF_EVENT", "type:h flags:h id:d tag:X" },
	[PERF_RECORD_CGROUP]		= { "CGROUP", "id:D path:s" },
	[PERF_RECORD_TEXT_POKE]		= { "TEXT_POKE", "addr:X old_len:h new_len:h bytes:*" },
	[PERF_RECORD_AUX_OUTPUT_HW_ID]	= { "AUX_OUTPUT_HW_ID", "hw_id:X" },
};

/* A name that the task has chosen: it may have any byte. */
static void show_string(struct seq_file *m, struct dump_fields *f)
{
	size_t len = strnlen(f->at, f->end - f->at);

	seq_putc(m, '"');
	seq_escape_mem(m, f->at, len, ESCAPE_ANY | ESCAPE_NAP | ESCAPE_APPEND, "\"\\");
	seq_putc(m, '"');
	f->at = f->end;
}

static void show_field(struct seq_file *m, char form, struct dump_fields *f)
{
	switch (form) {
	case 'd':
		seq_printf(m, "%u", dump_take_u32(f));
		break;
	case 'D':
		seq_printf(m, "%llu", dump_take_u64(f));
		break;
	case 'h':
		seq_printf(m, "%#x", dump_take_u16(f));
		break;
	case 'x':
		seq_printf(m, "%#x", dump_take_u32(f));
		break;
	case 'X':
		seq_printf(m, "%#llx", dump_take_u64(f));
		break;
	case 's':
		show_string(m, f);
		break;
	default:
		seq_printf(m, "%zu", f->end - f->at);
		f->at = f->end;
		break;
	}
}

static void show_fields(struct seq_file *m, const char *fields, struct dump_fields *f)
{
	while (*fields && !f->cut) {
		size_t len = strcspn(fields, ":");

		seq_printf(m, " %.*s=", (int)len, fields);
		show_field(m, fields[len + 1], f);
		fields += len + 2;
		fields += *fields == ' ';
	}
}

static void show_build_id(struct seq_file *m, struct dump_fields *f)
{
	const u8 *id;

	show_fields(m, "pid:d tid:d addr:X len:X pgoff:X", f);
	id = dump_take(f, 24);
	if (id)
		seq_printf(m, " build_id=%*phN", min(id[0], 20), id + 4);
	show_fields(m, "prot:x flags:x filename:s", f);
}

/* Bytes of the counts in a sample */
static size_t read_size(u64 format, struct dump_fields *f)
{
	size_t nr = 1, each, head = 0;

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		head += sizeof(u64);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		head += sizeof(u64);
	each = sizeof(u64);
	if (format & PERF_FORMAT_ID)
		each += sizeof(u64);
	if (format & PERF_FORMAT_LOST)
		each += sizeof(u64);
	/* No more than a record has room for. */
	if (format & PERF_FORMAT_GROUP)
		nr = min(dump_take_u64(f), (u64)U16_MAX);
	return head + nr * each;
}

static void show_callchain(struct seq_file *m, struct dump_fields *f)
{
	u64 i, nr = dump_take_u64(f);

	seq_puts(m, " callchain=[");
	for (i = 0; i < nr && !f->cut; i++) {
		u64 ip = dump_take_u64(f);

		if (!f->cut)
			seq_printf(m, i ? " %#llx" : "%#llx", ip);
	}
	seq_putc(m, ']');
}

static void show_sample(struct seq_file *m, const struct perf_event_attr *attr,
			struct dump_fields *f)
{
	static const struct {
		u64		bit;
		const char	*fields;
	} simple[] = {
		{ PERF_SAMPLE_IDENTIFIER,	"identifier:D" },
		{ PERF_SAMPLE_IP,		"ip:X" },
		{ PERF_SAMPLE_TID,		"pid:d tid:d" },
		{ PERF_SAMPLE_TIME,		"time:D" },
		{ PERF_SAMPLE_ADDR,		"addr:X" },
		{ PERF_SAMPLE_ID,		"id:D" },
		{ PERF_SAMPLE_STREAM_ID,	"stream_id:D" },
		{ PERF_SAMPLE_CPU,		"cpu:d res:d" },
		{ PERF_SAMPLE_PERIOD,		"period:D" },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(simple) && !f->cut; i++) {
		if (attr->sample_type & simple[i].bit)
			show_fields(m, simple[i].fields, f);
	}
	if (!f->cut && attr->sample_type & PERF_SAMPLE_READ) {
		size_t size = read_size(attr->read_format, f);

		dump_take(f, size);
		seq_printf(m, " read=%zu", size);
	}
	if (!f->cut && attr->sample_type & PERF_SAMPLE_CALLCHAIN)
		show_callchain(m, f);
	if (!f->cut && attr->sample_type & PERF_SAMPLE_RAW) {
		u32 size = dump_take_u32(f);

		dump_take(f, size);
		seq_printf(m, " raw=%u", size);
	}
	if (!f->cut && f->at != f->end)
		seq_printf(m, " more=%zu", f->end - f->at);
}

/* The fields at the end of a record that is no sample */
static void show_id(struct seq_file *m, const struct perf_event_attr *attr, struct dump_fields id)
{
	static const struct {
		u64		bit;
		const char	*fields;
	} part[] = {
		{ PERF_SAMPLE_TID,		"pid:d tid:d" },
		{ PERF_SAMPLE_TIME,		"time:D" },
		{ PERF_SAMPLE_ID,		"id:D" },
		{ PERF_SAMPLE_STREAM_ID,	"stream_id:D" },
		{ PERF_SAMPLE_CPU,		"cpu:d res:d" },
		{ PERF_SAMPLE_IDENTIFIER,	"identifier:D" },
	};
	int i;

	seq_puts(m, " |");
	for (i = 0; i < ARRAY_SIZE(part); i++) {
		if (attr->sample_type & part[i].bit)
			show_fields(m, part[i].fields, &id);
	}
}

static void show_hex(struct seq_file *m, struct dump_fields *f)
{
	size_t n, len = f->end - f->at;

	seq_puts(m, " data=");
	for (; len; len -= n) {
		n = min_t(size_t, len, DUMP_HEX);
		seq_printf(m, "%*phN", (int)n, dump_take(f, n));
	}
}

static void show_record(struct seq_file *m, const struct perf_dump *dump,
			const struct perf_event_header *header)
{
	struct dump_fields f = { header + 1, (void *)header + header->size };
	const struct dump_event *event = dump_event_of(&dump->events, header);
	const struct dump_type *type = NULL;
	unsigned int id = event ? dump_id_size(&event->attr) : 0;

	if (header->type < PERF_RECORD_MAX)
		type = &dump_types[header->type];
	if (header->type == PERF_RECORD_SAMPLE) {
		seq_printf(m, "SAMPLE misc=%#x", header->misc);
		if (event)
			show_sample(m, &event->attr, &f);
		else
			show_hex(m, &f);
	} else if (!type || !type->name) {
		seq_printf(m, "type=%u misc=%#x size=%u", header->type, header->misc, header->size);
		show_hex(m, &f);
	} else {
		/* Without an event it is not known where the fields at the end begin. */
		id = min_t(size_t, id, f.end - f.at);
		f.end -= id;
		seq_printf(m, "%s misc=%#x", type->name, header->misc);
		if (header->type == PERF_RECORD_MMAP2 &&
		    header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
			show_build_id(m, &f);
		else
			show_fields(m, type->fields, &f);
		if (id)
			show_id(m, &event->attr, (struct dump_fields){ f.end, f.end + id });
	}
	seq_puts(m, f.cut ? " (cut off)\n" : "\n");
}

static void show_head(struct seq_file *m, const struct perf_dump *dump)
{
	const struct dump_ring *ring = &dump->ring;
	unsigned int i;

	seq_printf(m, "# fd=%u size=%lu %s%s%s records=%lu bytes=%lu dropped=%lu\n", dump->fd,
		   ring->size, ring->backward ? "backward" : "forward",
		   dump->kept ? " overwrite" : "", dump->paused ? " paused" : "", ring->records,
		   ring->len, dump->dropped);
	for (i = 0; i < dump->events.nr; i++) {
		const struct dump_event *event = &dump->events.event[i];

		seq_printf(m, "# event id=%llu type=%u config=%#llx %s cpu=%d sample_type=%#llx lost=%llu\n",
			   event->id, event->attr.type, event->attr.config,
			   event->task ? "task" : "all", event->cpu, event->attr.sample_type,
			   event->lost);
	}
	if (dump->aux_size)
		seq_printf(m, "# aux size=%lu\n", dump->aux_size);
	if (ring->gone)
		seq_printf(m, "# lost=%lu at least: overwritten during the copy, %lu bytes\n",
			   ring->lost, ring->gone);
	if (ring->bad_tail)
		seq_puts(m, "# data_tail is outside of the ring\n");
	if (ring->damaged)
		seq_printf(m, "# damaged: %lu bytes behind the last record\n", ring->damaged);
}

/* Position 0 is the head, position N is the record before which N - 1 bytes are. */
static void *text_start(struct seq_file *m, loff_t *pos)
{
	const struct perf_dump *dump = m->private;

	return *pos <= dump->ring.len ? m->private : NULL;
}

static void *text_next(struct seq_file *m, void *v, loff_t *pos)
{
	const struct perf_dump *dump = m->private;
	const struct perf_event_header *header;

	if (*pos) {
		header = dump->ring.data + dump->ring.start + *pos - 1;
		*pos += header->size;
	} else {
		*pos = 1;
	}
	return text_start(m, pos);
}

static void text_stop(struct seq_file *m, void *v) { }

static int text_show(struct seq_file *m, void *v)
{
	const struct perf_dump *dump = m->private;

	cond_resched();
	/* One read() far from the begin makes all lines in front of it. */
	if (fatal_signal_pending(current))
		return -EINTR;
	if (m->index)
		show_record(m, dump, dump->ring.data + dump->ring.start + m->index - 1);
	else
		show_head(m, dump);
	return 0;
}

const struct seq_operations perf_dump_text = {
	.start	= text_start,
	.next	= text_next,
	.stop	= text_stop,
	.show	= text_show,
};
