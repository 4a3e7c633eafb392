/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The loops of a writer, in the file of a ring buffer that has before it:
 *   struct record	a record that is reserved
 *   reserve()		false: it was refused
 *   commit()		fills and commits it
 */
#ifndef _RB_BENCH_LOOPS_H
#define _RB_BENCH_LOOPS_H

static __always_inline unsigned long write_n(void *on, unsigned int len, unsigned long n)
{
	unsigned long i, refused = 0;

	for (i = 0; i < n; i++) {
		struct record r;

		if (reserve(on, &r, len))
			commit(on, &r, len, i);
		else
			refused++;
	}
	return refused;
}

static noinline unsigned long op_write(struct trace_buffer *b, unsigned int len, unsigned long n)
{
	return bench_known_len(write_n, b, len, n);
}

/* An interrupt between reserve and commit of each record; counts both */
static noinline unsigned long op_write_nested(struct trace_buffer *b, unsigned int len,
					      unsigned long n)
{
	unsigned long i, refused = 0;

	for (i = 0; i < n; i += 2) {
		struct record r;
		bool reserved = reserve((void *)b, &r, len);

		preempt_count_add(HARDIRQ_OFFSET);
		refused += op_write(b, len, 1);
		preempt_count_sub(HARDIRQ_OFFSET);
		if (reserved)
			commit((void *)b, &r, len, i);
		else
			refused++;
	}
	return refused;
}

#endif /* _RB_BENCH_LOOPS_H */
