// SPDX-License-Identifier: GPL-2.0
/*
 * BPF's ring buffer. It has one ring and one spinlock for all CPUs, keeps no time
 * and does not overwrite: the payload carries a clock's value, and the writing loop
 * moves the consumer along now and then. PEER_SRC is kernel/bpf/ringbuf.c.
 */
#include <linux/types.h>
#include <linux/vmalloc.h>

/* declared by the kernel's headers only where BPF is configured */
void *bpf_map_area_alloc(u64 size, int node);
void bpf_map_area_free(void *p);

#include PEER_SRC
#include "../bench.h"
#include "../clock.h"

struct peer {
	struct bpf_ringbuf_map	map;
	u64			(*clock)(void);
	bool			overwrite;
	unsigned long		records;
};

static struct trace_buffer *op_alloc(unsigned long bytes, int overwrite, enum bench_clock clk)
{
	struct peer *p = kzalloc(sizeof(*p), GFP_KERNEL);

	p->clock = bench_clocks[clk];
	p->overwrite = overwrite;
	p->map.rb = bpf_ringbuf_alloc(rounddown_pow_of_two(bytes), NUMA_NO_NODE);
	return (struct trace_buffer *)p;
}

struct record {
	u64	*data;
};

static __always_inline bool reserve(struct peer *p, struct record *r, unsigned int len)
{
	struct bpf_ringbuf *rb = p->map.rb;

	/* The consumer catches up, every 64 records */
	if (!(p->records++ & 63) && p->overwrite)
		/* the reads come before a writer may use the space */
		smp_store_release(&rb->consumer_pos, READ_ONCE(rb->producer_pos));
	r->data = (void *)bpf_ringbuf_reserve((unsigned long)&p->map.map, len + sizeof(u64), 0,
					      0, 0);
	return r->data;
}

static __always_inline void commit(struct peer *p, struct record *r, unsigned int len, u64 value)
{
	r->data[0] = p->clock();
	bench_fill(r->data + 1, len, value);
	bpf_ringbuf_submit((unsigned long)r->data, BPF_RB_NO_WAKEUP, 0, 0, 0);
}

#include "../loops.h"

static noinline unsigned long op_discard(struct trace_buffer *b, unsigned int len,
					 unsigned long n)
{
	struct peer *p = (struct peer *)b;
	unsigned long i, refused = 0;

	for (i = 0; i < n; i++) {
		struct record r;

		if (reserve(p, &r, len)) {
			r.data[0] = p->clock();
			bpf_ringbuf_discard((unsigned long)r.data, BPF_RB_NO_WAKEUP, 0, 0, 0);
		} else {
			refused++;
		}
	}
	return refused;
}

const struct bench_ops bench_ops_bpf = {
	.alloc = op_alloc, .write = op_write, .write_nested = op_write_nested,
	.discard = op_discard,
};

/* Nobody reads across the end, so the data need not be mapped a second time behind it */
void *vmap(struct page **pages, unsigned int n, unsigned long flags, pgprot_t prot)
{
	return vzalloc((unsigned long)n << PAGE_SHIFT);
}

void *bpf_map_area_alloc(u64 size, int node)
{
	return vzalloc(size);
}

pteval_t __default_kernel_pte_mask = ~0UL;
