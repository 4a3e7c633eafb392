// SPDX-License-Identifier: GPL-2.0
/*
 * The ring buffer of lttng-modules, as its clients use it: a ring for each CPU, four
 * sub-buffers, a compact header (5 bits of event, 27 of time), one field for each
 * record. Compiled against its headers, linked to its two files.
 */
#include <linux/types.h>
#include <linux/cpuhotplug.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timer.h>
#include <linux/version.h>
#include <lttng/kernel-version.h>
#include <lttng/cpuhotplug.h>
#include <ringbuffer/config.h>
#include "../../shim/shim.h"
#include "../bench.h"
#include "../clock.h"

struct peer {
	struct lttng_kernel_ring_buffer_channel	*chan;
	u64					(*clock)(void);
	bool					overwrite;
};

/* Its headers call these two, which each client defines before it includes them */
static __always_inline u64
lib_ring_buffer_clock_read(struct lttng_kernel_ring_buffer_channel *chan);

static __always_inline size_t
record_header_size(const struct lttng_kernel_ring_buffer_config *config,
		   struct lttng_kernel_ring_buffer_channel *chan, size_t offset, size_t *pad,
		   struct lttng_kernel_ring_buffer_ctx *ctx, void *client_ctx)
{
	*pad = -offset & 3;
	return *pad + (ctx->priv.rflags & RING_BUFFER_RFLAG_FULL_TSC ? 16 : 4);
}

#include <ringbuffer/api.h>
#include <ringbuffer/backend.h>
#include <ringbuffer/frontend.h>

static __always_inline u64
lib_ring_buffer_clock_read(struct lttng_kernel_ring_buffer_channel *chan)
{
	return ((struct peer *)channel_get_private(chan))->clock();
}

static u64 cb_clock(struct lttng_kernel_ring_buffer_channel *chan)
{
	return lib_ring_buffer_clock_read(chan);
}

static size_t cb_record_header(const struct lttng_kernel_ring_buffer_config *config,
			       struct lttng_kernel_ring_buffer_channel *chan, size_t offset,
			       size_t *pad, struct lttng_kernel_ring_buffer_ctx *ctx, void *c)
{
	return record_header_size(config, chan, offset, pad, ctx, c);
}

/* The size of the header that its tracer puts in front; left empty here */
static size_t cb_subbuf_header(void)
{
	return 96;
}

static void cb_begin(struct lttng_kernel_ring_buffer *buf, u64 time, unsigned int idx)
{
}

static void cb_end(struct lttng_kernel_ring_buffer *buf, u64 time, unsigned int idx,
		   unsigned long size, const struct lttng_kernel_ring_buffer_ctx *ctx)
{
}

static int cb_create(struct lttng_kernel_ring_buffer *buf, void *priv, int cpu, const char *name)
{
	return 0;
}

static void cb_finalize(struct lttng_kernel_ring_buffer *buf, void *priv, int cpu)
{
}

#define CONFIG(how_full)						\
{									\
	.cb = {								\
		.ring_buffer_clock_read = cb_clock,			\
		.record_header_size = cb_record_header,			\
		.subbuffer_header_size = cb_subbuf_header,		\
		.buffer_begin = cb_begin,				\
		.buffer_end = cb_end,					\
		.buffer_create = cb_create,				\
		.buffer_finalize = cb_finalize,				\
	},								\
	.tsc_bits = 27,							\
	.alloc = RING_BUFFER_ALLOC_PER_CPU,				\
	.sync = RING_BUFFER_SYNC_PER_CPU,				\
	.mode = (how_full),						\
	.backend = RING_BUFFER_PAGE,					\
	.output = RING_BUFFER_SPLICE,					\
	.oops = RING_BUFFER_OOPS_CONSISTENCY,				\
	.ipi = RING_BUFFER_IPI_BARRIER,					\
	.wakeup = RING_BUFFER_WAKEUP_BY_TIMER,				\
}

static const struct lttng_kernel_ring_buffer_config overwriting = CONFIG(RING_BUFFER_OVERWRITE);
static const struct lttng_kernel_ring_buffer_config dropping = CONFIG(RING_BUFFER_DISCARD);

int lttng_cpuhp_rb_backend_prepare(unsigned int cpu, struct lttng_cpuhp_node *node);

static int prepare(unsigned int cpu, struct hlist_node *n)
{
	struct lttng_cpuhp_node *node = container_of(n, struct lttng_cpuhp_node, node);

	if (node->component != LTTNG_RING_BUFFER_BACKEND)
		return 0;
	return lttng_cpuhp_rb_backend_prepare(cpu, node);
}

static struct trace_buffer *op_alloc(unsigned long bytes, int overwrite, enum bench_clock clk)
{
	struct peer *p = kzalloc(sizeof(*p), GFP_KERNEL);

	shim_prepare = prepare;
	p->clock = bench_clocks[clk];
	p->overwrite = overwrite;
	p->chan = channel_create(overwrite ? &overwriting : &dropping, "bench", p, NULL,
				 rounddown_pow_of_two(bytes) / 4, 4, 0, 0);
	return (struct trace_buffer *)p;
}

/* Reserves, and writes the header; 0 is success, and then put() must follow */
static __always_inline int reserve(const struct lttng_kernel_ring_buffer_config *config,
				   struct peer *p, struct lttng_kernel_ring_buffer_ctx *ctx,
				   unsigned int len)
{
	int cpu = lib_ring_buffer_get_cpu(config);
	u32 header;

	if (cpu < 0)
		return cpu;
	lib_ring_buffer_ctx_init(ctx, NULL, len, 1, NULL);
	memset(&ctx->priv, 0, sizeof(ctx->priv));
	ctx->priv.chan = p->chan;
	ctx->priv.reserve_cpu = cpu;
	if (lib_ring_buffer_reserve(config, ctx, NULL)) {
		lib_ring_buffer_put_cpu(config);
		return -ENOBUFS;
	}
	lib_ring_buffer_backend_get_pages(config, ctx, &ctx->priv.backend_pages);
	header = 1 | (u32)ctx->priv.tsc << 5;
	lib_ring_buffer_write(config, ctx, &header, sizeof(header));
	return 0;
}

static __always_inline void put(const struct lttng_kernel_ring_buffer_config *config,
				struct lttng_kernel_ring_buffer_ctx *ctx, unsigned int len,
				u64 value)
{
	u64 data[16];

	bench_fill(data, len, value);
	lib_ring_buffer_write(config, ctx, data, len);
	lib_ring_buffer_commit(config, ctx);
	lib_ring_buffer_put_cpu(config);
}

static __always_inline unsigned long
write_with(const struct lttng_kernel_ring_buffer_config *config, struct peer *p,
	   unsigned int len, unsigned long n)
{
	unsigned long i, refused = 0;

	for (i = 0; i < n; i++) {
		struct lttng_kernel_ring_buffer_ctx ctx;

		if (reserve(config, p, &ctx, len))
			refused++;
		else
			put(config, &ctx, len, i);
	}
	return refused;
}

static __always_inline unsigned long overwrite_n(void *on, unsigned int len, unsigned long n)
{
	return write_with(&overwriting, on, len, n);
}

static __always_inline unsigned long drop_n(void *on, unsigned int len, unsigned long n)
{
	return write_with(&dropping, on, len, n);
}

static noinline unsigned long op_write(struct trace_buffer *b, unsigned int len, unsigned long n)
{
	if (!((struct peer *)b)->overwrite)
		return bench_known_len(drop_n, b, len, n);
	return bench_known_len(overwrite_n, b, len, n);
}

static noinline unsigned long op_write_nested(struct trace_buffer *b, unsigned int len,
					      unsigned long n)
{
	unsigned long i, refused = 0;

	for (i = 0; i < n; i += 2) {
		struct lttng_kernel_ring_buffer_ctx ctx;
		int ret = reserve(&overwriting, (struct peer *)b, &ctx, len);

		preempt_count_add(HARDIRQ_OFFSET);
		refused += op_write(b, len, 1);
		preempt_count_sub(HARDIRQ_OFFSET);
		if (ret)
			refused++;
		else
			put(&overwriting, &ctx, len, i);
	}
	return refused;
}

const struct bench_ops bench_ops_lttng = {
	.alloc = op_alloc, .write = op_write, .write_nested = op_write_nested,
};

/* Functions of the kernel and of lttng-modules that it uses; without timers and its own readers */
void add_timer_on(struct timer_list *t, int cpu)
{
}

void init_timer_key(struct timer_list *t, void (*func)(struct timer_list *t), unsigned int flags,
		    const char *name, struct lock_class_key *key)
{
}

void channel_iterator_reset(struct lttng_kernel_ring_buffer_channel *chan)
{
}

void lib_ring_buffer_iterator_reset(struct lttng_kernel_ring_buffer *buf)
{
}

int channel_iterator_init(struct lttng_kernel_ring_buffer_channel *chan)
{
	return 0;
}

void *vmalloc_node_noprof(unsigned long size, int node)
{
	return vmalloc_noprof(size);
}

/* it has a field of size bytes for the name */
ssize_t sized_strscpy(char *to, const char *from, size_t size)
{
	size_t n = min(strlen(from), size - 1);

	memcpy(to, from, n);
	to[n] = 0;
	return n;
}

/* kfree() of the shim frees any memory */
bool is_vmalloc_addr(const void *p)
{
	return false;
}

unsigned long __usecs_to_jiffies(const unsigned int us)
{
	return DIV_ROUND_UP(us * (HZ / 100), USEC_PER_SEC / 100);
}
