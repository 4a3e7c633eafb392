// SPDX-License-Identifier: GPL-2.0
/* Notifiers, clocks, trace_seq and seq_file, which the ring buffer merely links to. */
#include <linux/kernel.h>
#include <linux/fs.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sched/clock.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/trace_clock.h>
#include <linux/trace_seq.h>
#include <asm/msr.h>
#include "shim.h"

bool static_key_initialized = true;
int oops_in_progress;
struct atomic_notifier_head panic_notifier_list;
static struct notifier_block *panic_blocks[64];

int atomic_notifier_chain_register(struct atomic_notifier_head *h, struct notifier_block *n)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(panic_blocks); i++) {
		if (!panic_blocks[i]) {
			panic_blocks[i] = n;
			break;
		}
	}
	return 0;
}

int atomic_notifier_chain_unregister(struct atomic_notifier_head *h, struct notifier_block *n)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(panic_blocks); i++) {
		if (panic_blocks[i] == n)
			panic_blocks[i] = NULL;
	}
	return 0;
}

/* The notifiers of panic(), one after the other, the highest priority first */
void shim_panic(void)
{
	struct notifier_block *next, *last = NULL;
	int i;

	do {
		for (next = NULL, i = 0; i < ARRAY_SIZE(panic_blocks); i++) {
			struct notifier_block *n = panic_blocks[i];

			if (n && (!last || n->priority < last->priority) &&
			    (!next || n->priority > next->priority))
				next = n;
		}
		if (next)
			next->notifier_call(next, 0, NULL);
		last = next;
	} while (next);
}

unsigned long shim_flushed[2];

void shim_flush_range(unsigned long start, unsigned long end)
{
	shim_flushed[0] = start;
	shim_flushed[1] = end;
}

void sort(void *base, size_t num, size_t size, cmp_func_t cmp, swap_func_t swap_func)
{
	host_sort(base, num, size, cmp);
}

int sched_clock_stable(void)
{
	return 1;
}

u64 notrace trace_clock_local(void)
{
	return rdtsc_ordered();
}

u64 sched_clock_noinstr(void)
{
	return rdtsc_ordered();
}

static void seq_vprintf_to(struct trace_seq *s, const char *fmt, va_list ap)
{
	size_t room = sizeof(s->buffer) - s->seq.len;
	int n = host_vsnprintf(s->buffer + s->seq.len, room, fmt, ap);

	if (n >= room)
		s->full = 1;
	else
		s->seq.len += n;
}

void trace_seq_printf(struct trace_seq *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	seq_vprintf_to(s, fmt, ap);
	va_end(ap);
}

void trace_seq_puts(struct trace_seq *s, const char *str)
{
	trace_seq_printf(s, "%s", str);
}

void trace_seq_putc(struct trace_seq *s, unsigned char c)
{
	trace_seq_printf(s, "%c", c);
}

int seq_open(struct file *f, const struct seq_operations *o)
{
	struct seq_file *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return -ENOMEM;
	m->op = o;
	f->private_data = m;
	return 0;
}

void seq_printf(struct seq_file *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	m->count += host_vsnprintf(m->buf + m->count, m->size - m->count, fmt, ap);
	va_end(ap);
}

/* Read a file to its end, and close it; without the items that show() refuses */
void shim_seq_text(struct file *f, char *text, unsigned long size)
{
	struct seq_file *m = f->private_data;
	loff_t pos = 0;
	size_t count;
	void *v;

	m->buf = text;
	m->size = size;
	for (v = m->op->start(m, &pos); v; v = m->op->next(m, v, &pos)) {
		count = m->count;
		if (m->op->show(m, v))
			m->count = count;
	}
	m->op->stop(m, v);
	text[m->count] = 0;
	kfree(m);
}

unsigned long _find_next_zero_bit(const unsigned long *addr, unsigned long nbits,
				  unsigned long start)
{
	while (start < nbits && test_bit(start, addr))
		start++;
	return min(start, nbits);
}

/* printk() does not wait here */
void __printk_deferred_enter(void) { }
void __printk_deferred_exit(void) { }

/* Messages are not limited */
int ___ratelimit(struct ratelimit_state *rs, const char *func)
{
	return 1;
}
