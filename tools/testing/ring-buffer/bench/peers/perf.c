// SPDX-License-Identifier: GPL-2.0
/*
 * perf's ring buffer, as a sample is written to it: header, time, raw payload. One
 * buffer for each CPU, as events have. PEER_SRC is kernel/events/ring_buffer.c.
 */
#include PEER_SRC
#include "../bench.h"
#include "../clock.h"

struct peer {
	u64			(*clock)(void);
	struct perf_event	event[NR_CPUS];
};

/* there is no reader that waits */
static void wake_nobody(struct irq_work *w)
{
}

static struct trace_buffer *op_alloc(unsigned long bytes, int overwrite, enum bench_clock clk)
{
	int flags = overwrite ? 0 : RING_BUFFER_WRITABLE;
	struct peer *p = vzalloc(sizeof(*p));
	int cpu;

	p->clock = bench_clocks[clk];
	for_each_online_cpu(cpu) {
		int pages = rounddown_pow_of_two(bytes) >> PAGE_SHIFT;

		init_irq_work(&p->event[cpu].pending_irq, wake_nobody);
		rcu_assign_pointer(p->event[cpu].rb, rb_alloc(pages, 0, cpu, flags));
	}
	return (struct trace_buffer *)p;
}

static void op_free(struct trace_buffer *b)
{
	struct peer *p = (struct peer *)b;
	int cpu;

	for_each_possible_cpu(cpu) {
		if (p->event[cpu].rb)
			rb_free(p->event[cpu].rb);
	}
	vfree(p);
}

struct sample {
	struct perf_event_header	header;
	u64				time;
};

struct record {
	struct perf_output_handle	handle;
	struct perf_sample_data		data;
};

static __always_inline bool reserve(struct peer *p, struct record *r, unsigned int len)
{
	return !perf_output_begin(&r->handle, &r->data, &p->event[raw_smp_processor_id()],
				  sizeof(struct sample) + len);
}

static __always_inline void commit(struct peer *p, struct record *r, unsigned int len, u64 value)
{
	struct sample s = { .header = { .type = PERF_RECORD_SAMPLE,
					.size = sizeof(struct sample) + len } };
	u64 data[16];

	s.time = p->clock();
	perf_output_copy(&r->handle, &s, sizeof(s));
	bench_fill(data, len, value);
	perf_output_copy(&r->handle, data, len);
	perf_output_end(&r->handle);
}

#include "../loops.h"

const struct bench_ops bench_ops_perf = {
	.alloc = op_alloc, .free = op_free, .write = op_write, .write_nested = op_write_nested,
};

/* After a refusal perf writes a record that tells of it, through these */
void perf_event_header__init(struct perf_event_header *h, struct perf_sample_data *d, u32 type,
			     u16 misc, u16 size, struct perf_event *e)
{
	*h = (struct perf_event_header){ .type = type, .misc = misc, .size = size };
}

void perf_event__output_id_sample(struct perf_event *e, struct perf_output_handle *h,
				  struct perf_sample_data *d)
{
}
