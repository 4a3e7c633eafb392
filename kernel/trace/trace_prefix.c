// SPDX-License-Identifier: GPL-2.0
/*
 * The begin of each line of text: who has recorded it, where and when.
 *
 * It is written by hand. vsnprintf() takes longer to read a format than to write such fields.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "trace.h"
#include "trace_output.h"

/* Characters of the longest numbers */
#define PREFIX_U32	10
#define PREFIX_U64	20

static char *prefix_number(char *at, u64 number, unsigned int width)
{
	return at + num_to_str(at, PREFIX_U64, number, width);
}

/* The digits of @number behind @mark; with zeros in front up to those of @power, a power of ten. */
static char *prefix_padded(char *at, char mark, unsigned int number, unsigned int power)
{
	char *digits = at + (number >= power);
	char *end = prefix_number(digits, number < power ? power + number : number, 0);

	/* In place of the digit of @power */
	*at = mark;
	return end;
}

/* "            comm-pid     (   tgid) [cpu] " */
static void prefix_task(struct trace_iterator *iter)
{
	char text[TASK_COMM_LEN + 4 * PREFIX_U32], comm[TASK_COMM_LEN], *at = text, *end;
	unsigned int pid = iter->ent->pid, tgid, len;

	trace_find_cmdline(pid, comm);
	len = strnlen(comm, sizeof(comm) - 1);
	memset(at, ' ', TASK_COMM_LEN);
	memcpy(at + TASK_COMM_LEN - len, comm, len);
	at += TASK_COMM_LEN;
	*at++ = '-';
	/* Blanks behind it make 7 characters. */
	memset(at, ' ', 7);
	end = prefix_number(at, pid, 0);
	at = max(at + 7, end);
	*at++ = ' ';

	if (iter->tr->trace_flags & TRACE_ITER(RECORD_TGID)) {
		tgid = trace_find_tgid(pid);
		*at++ = '(';
		if (tgid)
			at = prefix_number(at, tgid, 7);
		else
			at = memset(at, '-', 7) + 7;
		*at++ = ')';
		*at++ = ' ';
	}

	at = prefix_padded(at, '[', iter->cpu, 1000);
	*at++ = ']';
	*at++ = ' ';
	trace_seq_putmem(&iter->seq, text, at - text);
}

/* " seconds.microseconds: ", or " count: " of a clock that does not count nanoseconds */
static void prefix_time(struct trace_iterator *iter)
{
	char text[PREFIX_U64 + 16], *at = text;
	u32 usecs;
	u64 secs;

	*at++ = ' ';
	if (iter->iter_flags & TRACE_FILE_TIME_IN_NS) {
		secs = div_u64_rem(ns2usecs(iter->ts), USEC_PER_SEC, &usecs);
		at = prefix_padded(prefix_number(at, secs, 5), '.', usecs, USEC_PER_SEC);
	} else {
		at = prefix_number(at, iter->ts, 12);
	}
	*at++ = ':';
	*at++ = ' ';
	trace_seq_putmem(&iter->seq, text, at - text);
}

/**
 * trace_print_context() - begin the line of a record
 * @iter: has the record, and the text
 *
 * Context: Any context that trace_find_cmdline() can be called in.
 * Return: 1, or 0 if the text is full.
 */
int trace_print_context(struct trace_iterator *iter)
{
	prefix_task(iter);
	if (iter->tr->trace_flags & TRACE_ITER(IRQ_INFO))
		trace_print_lat_fmt(&iter->seq, iter->ent);
	prefix_time(iter);
	return !trace_seq_has_overflowed(&iter->seq);
}
