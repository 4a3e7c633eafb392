// SPDX-License-Identifier: GPL-2.0
/*
 * The unavoidable cost of any ring buffer, as two that lack nearly everything.
 * bench_ops_floor: the clock, and the stores of a header and the payload; as
 * reader, a walk along the headers, or memcpy(). No interrupt may come and no
 * other CPU may look.
 * bench_ops_minimal: the least that a writer with interrupts can do: preemption
 * off, clock, one unlocked compare-and-exchange, header, payload, publish. No
 * sub-buffers, no reader.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <asm/local.h>
#include "bench.h"
#include "clock.h"

struct floor_ring {
	u64		(*clock)(void);
	u64		last;		/* time of the last record */
	unsigned long	end;		/* floor: where the next record goes */
	unsigned long	bytes;
	local_t		reserve;	/* minimal: the same; readers may see up to here */
	unsigned long	commit;
	void		*data;
	unsigned long	mask;
};

static struct trace_buffer *floor_alloc(unsigned long bytes, int overwrite, enum bench_clock clk)
{
	struct floor_ring *r;

	if (!overwrite)
		return NULL;
	r = kzalloc(sizeof(*r), GFP_KERNEL);
	r->clock = bench_clocks[clk];
	r->bytes = bytes;
	r->mask = (1UL << ilog2(bytes)) - 1;
	r->data = vzalloc(bytes + PAGE_SIZE);
	return (struct trace_buffer *)r;
}

static void floor_free(struct trace_buffer *b)
{
	struct floor_ring *r = (void *)b;

	vfree(r->data);
	kfree(r);
}

static void floor_reset(struct trace_buffer *b)
{
	((struct floor_ring *)b)->end = 0;
}

/* words of payload, and the time since the record before */
static u32 header(unsigned int len, u64 delta)
{
	return (len >> 2) | (u32)delta << 8;
}

static __always_inline unsigned long floor_n(void *on, unsigned int len, unsigned long n)
{
	struct floor_ring *r = on;
	unsigned long i;

	for (i = 0; i < n; i++) {
		u64 ts = r->clock();
		u32 *rec = r->data + r->end;

		WRITE_ONCE(*rec, header(len, ts - r->last));
		r->last = ts;
		bench_fill((u64 *)(rec + 1), len, i);
		r->end += len + 4;
		if (unlikely(r->end + len + 4 > r->bytes))
			r->end = 0;
	}
	return 0;
}

static noinline unsigned long floor_write(struct trace_buffer *b, unsigned int len,
					  unsigned long n)
{
	return bench_known_len(floor_n, b, len, n);
}

static noinline unsigned long floor_walk(struct trace_buffer *b, int cpu)
{
	struct floor_ring *r = (void *)b;
	unsigned long off = 0, n = 0;
	u64 ts = 0;

	while (off < r->end) {
		u32 h = READ_ONCE(*(u32 *)(r->data + off));

		ts += h >> 8;
		off += (h & 255) * 4 + 4;
		n++;
	}
	r->last = ts;
	return n;
}

static unsigned long floor_consume(struct trace_buffer *b, int cpu, unsigned long max)
{
	return floor_walk(b, cpu);
}

static noinline unsigned long floor_read(struct trace_buffer *b, int cpu, unsigned int chunk)
{
	static char page[PAGE_SIZE];
	struct floor_ring *r = (void *)b;
	unsigned long off;

	if (!chunk)
		return 0;
	for (off = 0; off + chunk <= r->end; off += chunk) {
		memcpy(page, r->data + off, chunk);
		barrier_data(page);
	}
	return off;
}

const struct bench_ops bench_ops_floor = {
	.alloc = floor_alloc, .free = floor_free, .reset = floor_reset,
	.write = floor_write, .write_nested = floor_write, .write_copy = floor_write,
	.consume = floor_consume, .iterate = floor_walk, .read_pages = floor_read,
};

static noinline u32 *minimal_reserve(struct floor_ring *r, unsigned int len)
{
	long old, new;
	u64 ts, delta;
	u32 *rec;

	preempt_disable_notrace();
	old = local_read(&r->reserve);
	do {
		ts = r->clock();
		delta = ts - r->last;
		if (unlikely(delta >> 24))
			delta = 0;
		new = old + len + 4;
		/* no record lies across two pages */
		if (unlikely((old ^ new) & PAGE_MASK)) {
			old = new & PAGE_MASK;
			new = old + len + 4;
			local_set(&r->reserve, old);
		}
	} while (unlikely(!local_try_cmpxchg(&r->reserve, &old, new)));
	r->last = ts;
	rec = r->data + (old & r->mask);
	*rec = header(len, delta);
	return rec + 1;
}

static noinline void minimal_commit(struct floor_ring *r)
{
	/* the payload comes before the commit that shows it, as to a reader elsewhere */
	smp_store_release(&r->commit, local_read(&r->reserve));
	preempt_enable_notrace();
}

static __always_inline unsigned long minimal_n(void *on, unsigned int len, unsigned long n)
{
	struct floor_ring *r = on;
	unsigned long i;

	for (i = 0; i < n; i++) {
		bench_fill((u64 *)minimal_reserve(r, len), len, i);
		minimal_commit(r);
	}
	return 0;
}

static noinline unsigned long minimal_write(struct trace_buffer *b, unsigned int len,
					    unsigned long n)
{
	return bench_known_len(minimal_n, b, len, n);
}

const struct bench_ops bench_ops_minimal = {
	.alloc = floor_alloc, .free = floor_free, .write = minimal_write,
};
