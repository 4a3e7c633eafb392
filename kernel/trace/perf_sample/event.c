// SPDX-License-Identifier: GPL-2.0
/*
 * The trace event perf:sample.
 *
 * For user space, the event is like others: it has a format, a filter, triggers and histograms.
 * There is no tracepoint, because a sample is for the one instance that has asked for it.
 */
#include "../trace_output.h"
#include "internal.h"

#define SAMPLE_FIELD(_type, _name, _size) \
	{ .type = _type, .name = _name, .size = _size, .align = 4, .filter_type = FILTER_OTHER }

/* In the order of struct sample_entry, and without gaps: see the assertion */
static struct trace_event_fields sample_fields[] = {
	SAMPLE_FIELD("u64", "ip", sizeof(u64)),
	SAMPLE_FIELD("u64", "addr", sizeof(u64)),
	SAMPLE_FIELD("u64", "period", sizeof(u64)),
	SAMPLE_FIELD("__data_loc char[]", "event", sizeof(u32)),
	SAMPLE_FIELD("__data_loc unsigned long[]", "kernel", sizeof(u32)),
	SAMPLE_FIELD("__data_loc unsigned long[]", "user", sizeof(u32)),
	SAMPLE_FIELD("u32", "tgid", sizeof(u32)),
	SAMPLE_FIELD("u32", "mode", sizeof(u32)),
	{}
};

static_assert(offsetof(struct sample_entry, data) ==
	      sizeof(struct trace_entry) + 3 * sizeof(u64) + 5 * sizeof(u32));

static const char * const sample_modes[] = {
	[PERF_RECORD_MISC_CPUMODE_UNKNOWN]	= "unknown",
	[PERF_RECORD_MISC_KERNEL]		= "kernel",
	[PERF_RECORD_MISC_USER]			= "user",
	[PERF_RECORD_MISC_HYPERVISOR]		= "hypervisor",
	[PERF_RECORD_MISC_GUEST_KERNEL]		= "guest-kernel",
	[PERF_RECORD_MISC_GUEST_USER]		= "guest-user",
};

/* Addresses of the kernel have names, those of user space are numbers. */
static void sample_print_ip(struct trace_iterator *iter, u64 ip, bool kernel, int flags)
{
	if (kernel)
		seq_print_ip_sym(&iter->seq, ip + iter->array_buffer->text_delta, flags);
	else
		trace_seq_printf(&iter->seq, "<%016llx>", ip);
}

/* Whole lines: the caller says below them that there is no room for more. */
#define SAMPLE_TOO_BIG	sizeof("[LINE TOO BIG]\n")

static void sample_print_stack(struct trace_iterator *iter, u32 loc, bool kernel, int flags)
{
	unsigned long *stack = (void *)iter->ent + (loc & 0xffff);
	unsigned int i, len, nr = (loc >> 16) / sizeof(*stack);
	struct trace_seq *s = &iter->seq;

	for (i = 0; i < nr && !trace_seq_has_overflowed(s); i++) {
		len = s->seq.len;
		trace_seq_puts(s, " => ");
		sample_print_ip(iter, stack[i], kernel, flags);
		trace_seq_putc(s, '\n');
		if (trace_seq_has_overflowed(s) || seq_buf_buffer_left(&s->seq) < SAMPLE_TOO_BIG) {
			s->seq.len = len;
			s->full = 1;
		}
	}
}

static enum print_line_t
sample_print(struct trace_iterator *iter, int flags, struct trace_event *event)
{
	struct sample_entry *entry = (void *)iter->ent;
	struct trace_seq *s = &iter->seq;
	int ret = trace_raw_output_prep(iter, event);

	if (ret != TRACE_TYPE_HANDLED)
		return ret;
	trace_seq_printf(s, "event=%s mode=%s ip=", (char *)entry + (entry->event & 0xffff),
			 sample_modes[entry->mode < ARRAY_SIZE(sample_modes) ? entry->mode : 0]);
	sample_print_ip(iter, entry->ip, entry->mode == PERF_RECORD_MISC_KERNEL,
			flags | TRACE_ITER(SYM_OFFSET));
	trace_seq_printf(s, " addr=0x%llx period=%llu tgid=%u\n", entry->addr, entry->period,
			 entry->tgid);
	sample_print_stack(iter, entry->kernel, true, flags);
	sample_print_stack(iter, entry->user, false, flags);
	return trace_handle_return(s);
}

/* Only the switch of the event changes. The counters follow it, see trace_samplers_follow(). */
static int sample_reg(struct trace_event_call *call, enum trace_reg type, void *data)
{
	return type == TRACE_REG_PERF_REGISTER ? -EOPNOTSUPP : 0;
}

static struct trace_event_class sample_class = {
	.system		= "perf",
	.fields_array	= sample_fields,
	.fields		= LIST_HEAD_INIT(sample_class.fields),
	.raw_init	= trace_event_raw_init,
	.reg		= sample_reg,
};

static struct trace_event_functions sample_functions = {
	.trace		= sample_print,
};

/*
 * Tools print the event by this, without names in the stack. libtraceevent 1.7 prints arrays as
 * decimal numbers, but a value that __print_symbolic() has no name for as a hexadecimal one. So
 * each of the first entries is an argument of its own. An event may have 63, but the text is to
 * be a string of 8,191 bytes at most. The index is in bytes, as libtraceevent takes that of a
 * dynamic array. The stack in user space is right behind that in the kernel.
 */
#define SAMPLE_BEHIND(_nr)								\
	"((__get_dynamic_array_len(kernel) + __get_dynamic_array_len(user)) > "		\
	"(" __stringify(__SIZEOF_LONG__) " * " _nr "))"
#define SAMPLE_ENTRY(_nr)								\
	SAMPLE_BEHIND(#_nr) " ? "							\
	"__print_symbolic(((unsigned long *)__get_dynamic_array(kernel))"		\
	"[(" __stringify(__SIZEOF_LONG__) " * " #_nr ")], { 0, \"0x0\" }) : \"\""
#define SAMPLE_ENTRIES(_sixteen)							\
	", " SAMPLE_ENTRY(_sixteen ## 0) ", " SAMPLE_ENTRY(_sixteen ## 1)			\
	", " SAMPLE_ENTRY(_sixteen ## 2) ", " SAMPLE_ENTRY(_sixteen ## 3)			\
	", " SAMPLE_ENTRY(_sixteen ## 4) ", " SAMPLE_ENTRY(_sixteen ## 5)			\
	", " SAMPLE_ENTRY(_sixteen ## 6) ", " SAMPLE_ENTRY(_sixteen ## 7)			\
	", " SAMPLE_ENTRY(_sixteen ## 8) ", " SAMPLE_ENTRY(_sixteen ## 9)			\
	", " SAMPLE_ENTRY(_sixteen ## a) ", " SAMPLE_ENTRY(_sixteen ## b)			\
	", " SAMPLE_ENTRY(_sixteen ## c) ", " SAMPLE_ENTRY(_sixteen ## d)			\
	", " SAMPLE_ENTRY(_sixteen ## e) ", " SAMPLE_ENTRY(_sixteen ## f)
#define SAMPLE_SIXTEEN	"%s %s %s %s %s %s %s %s %s %s %s %s %s %s %s %s "

#define SAMPLE_PRINT_FMT								\
	"\"event=%s mode=%s ip=%pS addr=0x%llx period=%llu tgid=%u stack="		\
	SAMPLE_SIXTEEN SAMPLE_SIXTEEN "%s\", __get_str(event), "				\
	"__print_symbolic(REC->mode, { 0, \"unknown\" }, { 1, \"kernel\" }, "		\
	"{ 2, \"user\" }, { 3, \"hypervisor\" }, { 4, \"guest-kernel\" }, "		\
	"{ 5, \"guest-user\" }), (void *)REC->ip, REC->addr, REC->period, REC->tgid"	\
	SAMPLE_ENTRIES(0x0) SAMPLE_ENTRIES(0x1)						\
	", " SAMPLE_BEHIND("0x20") " ? \"...\" : \"\""

struct trace_event_call sample_call = {
	.class		= &sample_class,
	.name		= "sample",
	.event.funcs	= &sample_functions,
	.print_fmt	= SAMPLE_PRINT_FMT,
};

static struct trace_event_call *sample_event __used __section("_ftrace_events") = &sample_call;
