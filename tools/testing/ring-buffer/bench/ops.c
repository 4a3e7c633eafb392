// SPDX-License-Identifier: GPL-2.0
/* The measured loops; compiled once for each ring buffer. */
#include <linux/kernel.h>
#include <linux/err.h>
#include <linux/ring_buffer.h>
#include "../shim/shim.h"
#include "bench.h"
#include "clock.h"

static struct trace_buffer *op_alloc(unsigned long bytes, int overwrite, enum bench_clock clk)
{
	struct trace_buffer *b;

	shim_prepare = trace_rb_cpu_prepare;
	b = ring_buffer_alloc(bytes, overwrite ? RB_FL_OVERWRITE : 0);
	if (b)
		ring_buffer_set_clock(b, bench_clocks[clk]);
	return b;
}

struct record {
	struct ring_buffer_event *event;
};

static __always_inline bool reserve(struct trace_buffer *b, struct record *r, unsigned int len)
{
	r->event = ring_buffer_lock_reserve(b, len);
	return r->event;
}

static __always_inline void commit(struct trace_buffer *b, struct record *r, unsigned int len,
				   u64 value)
{
	bench_fill(ring_buffer_event_data(r->event), len, value);
	ring_buffer_unlock_commit(b);
}

#include "loops.h"

static noinline unsigned long op_discard(struct trace_buffer *b, unsigned int len, unsigned long n)
{
	unsigned long i, refused = 0;

	for (i = 0; i < n; i++) {
		struct ring_buffer_event *e = ring_buffer_lock_reserve(b, len);

		/*
		 * One in many stays: the time since the last one that did must not
		 * become so long that it needs a stamp of its own.
		 */
		if (!e)
			refused++;
		else if (i % 256)
			ring_buffer_discard_commit(b, e);
		else
			ring_buffer_unlock_commit(b);
	}
	return refused;
}

static noinline unsigned long op_write_copy(struct trace_buffer *b, unsigned int len,
					    unsigned long n)
{
	static u64 data[512];
	unsigned long i, refused = 0;

	for (i = 0; i < n; i++)
		refused += ring_buffer_write(b, len, data) != 0;
	return refused;
}

static noinline unsigned long op_consume(struct trace_buffer *b, int cpu, unsigned long max)
{
	unsigned long n, lost;
	u64 ts;

	for (n = 0; n < max && ring_buffer_consume(b, cpu, &ts, &lost); n++)
		;
	return n;
}

static noinline unsigned long op_iterate(struct trace_buffer *b, int cpu)
{
	struct ring_buffer_iter *it = ring_buffer_read_start(b, cpu, GFP_KERNEL);
	unsigned long n;
	u64 ts;

	if (IS_ERR_OR_NULL(it))
		return 0;
	for (n = 0; ring_buffer_iter_peek(it, &ts); n++)
		ring_buffer_iter_advance(it);
	ring_buffer_read_finish(it);
	return n;
}

static noinline unsigned long op_iterator(struct trace_buffer *b, int cpu, unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++) {
		struct ring_buffer_iter *it = ring_buffer_read_start(b, cpu, GFP_KERNEL);

		if (IS_ERR_OR_NULL(it))
			break;
		ring_buffer_read_finish(it);
	}
	return i;
}

static noinline unsigned long op_read_pages(struct trace_buffer *b, int cpu, unsigned int chunk)
{
	unsigned int size = ring_buffer_subbuf_size_get(b);
	struct buffer_data_read_page *rp = NULL;
	unsigned long bytes = 0, pages = 0;

	if (ring_buffer_alloc_read_page(b, cpu, &rp) < 0)
		return 0;
	while (ring_buffer_read_page(b, rp, chunk ?: size, cpu, !chunk) >= 0) {
		bytes += ((u64 *)ring_buffer_read_page_data(rp))[1] & 0xfffff;
		pages++;
	}
	ring_buffer_free_read_page(b, cpu, rp);
	return chunk ? bytes : pages;
}

static noinline int op_swap(struct trace_buffer *a, struct trace_buffer *b, int cpu,
			    unsigned long n)
{
	int ret = 0;

	while (n-- && !ret)
		ret = ring_buffer_swap_cpu(a, b, cpu);
	return ret;
}

/*
 * Every CPU's ring goes to the other buffer. Of the base that is a swap for each CPU: it does
 * not empty the ring that it puts in place, and in the kernel each CPU swaps its own ring in
 * an interrupt; neither is counted. Its snapshot of all CPUs exchanges two pointers above the
 * ring buffer instead; the benchmark of the guest counts the cost of that and of all else.
 */
static noinline int op_cut(struct trace_buffer *a, struct trace_buffer *b, unsigned long n)
{
	int ret = 0;

#ifdef BENCH_BASE
	int cpu;

	while (n--) {
		for_each_online_cpu(cpu)
			ret |= ring_buffer_swap_cpu(a, b, cpu);
	}
#else
	const struct ring_buffer_cut one = { .live = a, .spare = b };

	while (n--)
		ret |= ring_buffer_cut_all(&one, RING_BUFFER_ALL_CPUS);
#endif
	return ret;
}

static int op_resize(struct trace_buffer *b, unsigned long bytes)
{
	return ring_buffer_resize(b, bytes, RING_BUFFER_ALL_CPUS);
}

static void op_free(struct trace_buffer *b)
{
	ring_buffer_free(b);
	shim_rcu_run();
}

static void op_reset(struct trace_buffer *b)
{
	ring_buffer_reset(b);
}

const struct bench_ops BENCH_OPS = {
	.alloc = op_alloc, .free = op_free, .reset = op_reset,
	.write = op_write, .write_nested = op_write_nested, .write_copy = op_write_copy,
	.discard = op_discard, .consume = op_consume,
	.iterate = op_iterate, .iterator = op_iterator,
	.read_pages = op_read_pages, .swap = op_swap, .cut = op_cut, .resize = op_resize,
};
