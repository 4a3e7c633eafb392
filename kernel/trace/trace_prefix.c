// SPDX-License-Identifier: GPL-2.0
/*
 * The begin of each line of text: who has recorded it, where and when.
 *
 * It is written by hand. vsnprintf() takes longer to read a format than to write such fields, and
 * num_to_str() longer to turn its digits around.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "trace.h"
#include "trace_output.h"

/* Characters of the longest numbers, and of all */
#define PREFIX_U32	10
#define PREFIX_U64	20
#define PREFIX_LEN	(TASK_COMM_LEN + 3 * PREFIX_U32 + TRACE_LAT_LEN + PREFIX_U64 + 16)

/* The text is written from its end to its begin. Each of these returns the new begin. */

/* The digits of @number, with @fill in front of less than @width of them */
static __always_inline char *
prefix_number(char *end, u64 number, unsigned int width, char fill)
{
	char *at = end;
	u32 digit;

	do {
		number = div_u64_rem(number, 10, &digit);
		*--at = '0' + digit;
	} while (number);
	while (at > end - width)
		*--at = fill;
	return at;
}

/* " seconds.microseconds: ", or " count: " of a clock that does not count nanoseconds */
static char *prefix_time(char *at, struct trace_iterator *iter)
{
	u32 usecs;
	u64 secs;

	*--at = ' ';
	*--at = ':';
	if (iter->iter_flags & TRACE_FILE_TIME_IN_NS) {
		secs = div_u64_rem(ns2usecs(iter->ts), USEC_PER_SEC, &usecs);
		at = prefix_number(at, usecs, 6, '0');
		*--at = '.';
		at = prefix_number(at, secs, 5, ' ');
	} else {
		at = prefix_number(at, iter->ts, 12, ' ');
	}
	*--at = ' ';
	return at;
}

/* "(   tgid) " */
static char *prefix_tgid(char *at, unsigned int tgid)
{
	*--at = ' ';
	*--at = ')';
	at = tgid ? prefix_number(at, tgid, 7, ' ') : memset(at - 7, '-', 7);
	*--at = '(';
	return at;
}

/* "            comm-pid     ": blanks behind the PID make 7 characters, and there is one more. */
static char *prefix_task(char *at, unsigned int pid)
{
	char comm[TASK_COMM_LEN];
	unsigned int power;
	size_t len;

	for (power = 1000000; power > pid && power > 1; power /= 10)
		*--at = ' ';
	*--at = ' ';
	at = prefix_number(at, pid, 0, ' ');
	*--at = '-';

	trace_find_cmdline(pid, comm);
	len = strnlen(comm, sizeof(comm) - 1);
	memset(at - sizeof(comm), ' ', sizeof(comm));
	memcpy(at - len, comm, len);
	return at - sizeof(comm);
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
	char text[PREFIX_LEN], *end = text + sizeof(text), *at = prefix_time(end, iter);

	if (iter->tr->trace_flags & TRACE_ITER(IRQ_INFO)) {
		at -= TRACE_LAT_LEN;
		trace_lat_text(at, iter->ent);
	}
	*--at = ' ';
	*--at = ']';
	at = prefix_number(at, iter->cpu, 3, '0');
	*--at = '[';
	if (iter->tr->trace_flags & TRACE_ITER(RECORD_TGID))
		at = prefix_tgid(at, trace_find_tgid(iter->ent->pid));
	at = prefix_task(at, iter->ent->pid);
	trace_seq_putmem(&iter->seq, at, end - at);
	return !trace_seq_has_overflowed(&iter->seq);
}
