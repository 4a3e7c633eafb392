// SPDX-License-Identifier: GPL-2.0
/*
 * The oracle. It notes records that are written by context and number, and records
 * that are read in the order of reading; check_end() compares the two at the end.
 */
#include "test.h"

/* From the C library, with the types that both sides agree on */
void qsort(void *base, size_t n, size_t size, int (*cmp)(const void *, const void *));

#define NR_RECS	(1 << 14)
#define NR_SAW	(1 << 15)
#define NR_TS	4

enum rec_state { REC_OPEN, REC_FAILED, REC_COMMITTED, REC_DISCARDED };

struct rec {
	u64	ts[NR_TS];		/* clock values of its reserve */
	u16	nr_ts;
	u8	state;
	u8	seen;
	u32	idx;			/* among the committed, by time */
};

/* The log is for one run of the stepper; live runs use only the counts */
struct stream {
	struct rec	*rec;
	struct rec	*reserving;
	u64		nr, committed, failed, last_seen, last_committed;
};

struct seen {
	u64	id, ts;
	long	lost;
};

struct trace_buffer *buf, *buf2;
bool live, any_order, clock_ties, clock_steps_back;

static struct stream streams[SHIM_MAX_CPUS][NR_CTX];
static struct seen *seen_log[SHIM_MAX_CPUS];
static u64 nr_seen[SHIM_MAX_CPUS], last_ts[SHIM_MAX_CPUS], lost_sum[SHIM_MAX_CPUS];

/* ---- identity of a record: its first eight bytes ------------------------ */

#define ID(ctx, cpu, len, n)	((u64)(ctx) << 60 | (u64)(cpu) << 56 | (u64)(len) << 40 | (n))
#define ID_CTX(id)		((int)((id) >> 60))
#define ID_CPU(id)		((int)((id) >> 56) & 15)
#define ID_LEN(id)		((unsigned int)((id) >> 40) & 0xffff)
#define ID_N(id)		((id) & ((1ULL << 40) - 1))

/* "where: record" in front of the fault; where may be NULL */
static __printf(4, 5)
void fault_at(enum fault_kind kind, const char *where, u64 id, const char *fmt, ...)
{
	char what[120];
	va_list ap;

	va_start(ap, fmt);
	host_vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	fault(kind, "%s%scpu %d context %d record %llu%s", where ?: "", where ? ": " : "",
	      ID_CPU(id), ID_CTX(id), ID_N(id), what);
}

static u8 pattern(u64 id, unsigned int i)
{
	return id * 31 + i * 7 + ID_LEN(id);
}

/* id, time, number among those committed, then bytes */
static void payload(u64 *p, u64 id, u64 ts, u64 committed)
{
	unsigned int i, len = ID_LEN(id);

	p[0] = id;
	if (len >= 16)
		p[1] = ts;
	if (len >= 24)
		p[2] = committed;
	for (i = 24; i < len; i++)
		((u8 *)p)[i] = pattern(id, i);
}

/* ---- the clock ---------------------------------------------------------- */

static atomic64_t clock_now;
static s64 clock_step[MAX_CLOCK_STEPS] = { 8 };
static int nr_clock_steps = 1;
static unsigned int clock_reads;

void clock_set(u64 now)
{
	atomic64_set(&clock_now, now);
}

void clock_steps(int n, const s64 *steps)
{
	int i;

	clock_ties = false;
	clock_steps_back = false;
	nr_clock_steps = n;
	for (i = 0; i < n; i++) {
		clock_step[i] = steps[i];
		clock_ties |= !steps[i];
		clock_steps_back |= steps[i] < 0;
	}
}

u64 test_clock(void)
{
	struct rec *r = streams[shim_cpu()][shim_ctx()].reserving;
	u64 now = atomic64_add_return(clock_step[clock_reads++ % nr_clock_steps], &clock_now);

	if (r) {
		r->ts[r->nr_ts % NR_TS] = now;
		r->nr_ts++;
	}
	return now;
}

static u64 rec_time(struct rec *r)
{
	return r->ts[(r->nr_ts - 1) % NR_TS];
}

static bool rec_read_clock(struct rec *r, u64 ts)
{
	int i;

	for (i = 0; i < NR_TS && i < r->nr_ts; i++) {
		if (r->ts[i] == ts)
			return true;
	}
	return false;
}

/* ---- writing ------------------------------------------------------------ */

bool put(struct trace_buffer *b, unsigned int len, enum put_how how)
{
	int ctx = shim_ctx(), cpu = shim_cpu();
	struct stream *s = &streams[cpu][ctx];
	u64 n = s->nr++, id = ID(ctx, cpu, len, n);
	struct rec *r = &s->rec[n % NR_RECS];
	struct ring_buffer_event *e;
	u64 copy[512];

	r->nr_ts = 0;
	r->seen = 0;
	r->state = REC_OPEN;
	barrier();
	s->reserving = r;
	barrier();
	if (how == PUT_WRITE) {
		int ret;

		payload(copy, id, 0, s->committed + 1);
		ret = ring_buffer_write(b, len, copy);
		s->reserving = NULL;
		if (ret) {
			r->state = REC_FAILED;
			s->failed++;
			return false;
		}
		goto committed;
	}
	e = ring_buffer_lock_reserve(b, len);
	barrier();
	s->reserving = NULL;
	if (!e) {
		r->state = REC_FAILED;
		s->failed++;
		return false;
	}
	if (!live && (ring_buffer_event_length(e) < len || ring_buffer_event_length(e) > len + 8))
		fault(F_VALUE, "length %u for %u", ring_buffer_event_length(e), len);
	payload(ring_buffer_event_data(e), id, r->nr_ts ? rec_time(r) : 0, s->committed + 1);
	if (how == PUT_DISCARD) {
		ring_buffer_discard_commit(b, e);
		r->state = REC_DISCARDED;
		return true;
	}
	ring_buffer_unlock_commit(b);
committed:
	r->state = REC_COMMITTED;
	s->committed++;
	s->last_committed = n;
	return true;
}

void put_in(int ctx, struct trace_buffer *b, unsigned int len, enum put_how how)
{
	if (ctx == CTX_IRQ && shim_irqs_off())
		return;
	shim_ctx_enter(ctx);
	put(b, len, how);
	shim_ctx_exit(ctx);
}

void in_context(int ctx, void (*fn)(void))
{
	if (ctx == CTX_IRQ && shim_irqs_off())
		return;
	shim_ctx_enter(ctx);
	fn();
	shim_ctx_exit(ctx);
}

void put_n(int n)
{
	while (n--)
		put(buf, REC_LEN, PUT_COMMIT);
}

void put_on(int cpu, struct trace_buffer *b, int n)
{
	int me = host_cpu_switch(cpu);

	while (n--)
		put(b, REC_LEN, PUT_COMMIT);
	host_cpu_switch(me);
}

u64 put_count(int cpu)
{
	u64 n = 0;
	int i;

	for (i = 0; i < NR_CTX; i++)
		n += streams[cpu][i].committed;
	return n;
}

u64 put_failed(int cpu)
{
	u64 n = 0;
	int i;

	for (i = 0; i < NR_CTX; i++)
		n += streams[cpu][i].failed;
	return n;
}

u64 last_put(int cpu, int ctx)
{
	return streams[cpu][ctx].last_committed;
}

/* ---- reading ------------------------------------------------------------ */

static bool is_whole(struct ring_buffer_event *e, int cpu, u64 *id)
{
	u64 *p = ring_buffer_event_data(e);
	unsigned int i, len;

	*id = p[0];
	len = ID_LEN(*id);
	if (ID_CTX(*id) >= NR_CTX || ID_CPU(*id) != cpu || len < 8 ||
	    ring_buffer_event_length(e) < len || ring_buffer_event_length(e) > len + 8 ||
	    ID_N(*id) >= streams[cpu][ID_CTX(*id)].nr) {
		fault(F_DATA, "no record of ours: %#llx, length %u", *id,
		      ring_buffer_event_length(e));
		return false;
	}
	for (i = 24; i < len; i++) {
		if (((u8 *)p)[i] != pattern(*id, i)) {
			fault_at(F_DATA, NULL, *id, ": byte %u of %u", i, len);
			return false;
		}
	}
	return true;
}

static bool whole(struct ring_buffer_event *e, int cpu, u64 *id)
{
	int stepping = step_pause();
	bool ret = is_whole(e, cpu, id);

	step_resume(stepping);
	return ret;
}

/* The number that a record has among those of its context */
u64 record_number(struct ring_buffer_event *e, int cpu)
{
	u64 id;

	return whole(e, cpu, &id) ? ID_N(id) : 0;
}

void saw(struct ring_buffer_event *e, u64 ts, long lost, int cpu)
{
	struct stream *s;
	struct seen *l;
	u64 id, *p;

	if (!whole(e, cpu, &id))
		return;
	p = ring_buffer_event_data(e);
	s = &streams[cpu][ID_CTX(id)];
	if (ID_LEN(id) >= 16 && p[1] && p[1] != ts &&
	    (live || !rec_read_clock(&s->rec[ID_N(id) % NR_RECS], ts)))
		fault_at(F_TIME, NULL, id, ": time is off by %lld", (s64)(ts - p[1]));
	if (nr_seen[cpu] && ts < last_ts[cpu] && !clock_steps_back && !any_order)
		fault_at(F_ORDER, NULL, id, ": time went back by %llu", last_ts[cpu] - ts);
	if (s->last_seen && ID_N(id) < s->last_seen && !any_order)
		fault_at(F_ORDER, NULL, id, " after record %llu", s->last_seen - 1);
	s->last_seen = ID_N(id) + 1;
	last_ts[cpu] = ts;
	if (lost > 0)
		lost_sum[cpu] += lost;
	if (nr_seen[cpu] < NR_SAW) {
		l = &seen_log[cpu][nr_seen[cpu]];
		l->id = id;
		l->ts = ts;
		l->lost = lost;
	} else if (!live) {
		host_die("log of read records is full");
	}
	nr_seen[cpu]++;
}

u64 seen_count(int cpu)
{
	return nr_seen[cpu];
}

/* the number after the last one, 0: none */
u64 last_seen(int cpu, int ctx)
{
	return streams[cpu][ctx].last_seen;
}

int consume(struct trace_buffer *b, int cpu, int max)
{
	struct ring_buffer_event *e;
	unsigned long lost;
	u64 ts;
	int n;

	for (n = 0; n != max; n++) {
		lost = 0;
		e = ring_buffer_consume(b, cpu, &ts, &lost);
		if (!e)
			break;
		saw(e, ts, lost, cpu);
	}
	return n;
}

/* Checks each record, which another reader may see again */
int iterate(struct trace_buffer *b, int cpu)
{
	struct ring_buffer_iter *it = ring_buffer_read_start(b, cpu, GFP_KERNEL);
	struct ring_buffer_event *e;
	u64 ts, last = 0, id, before[NR_CTX] = { };
	int n = 0;

	if (IS_ERR_OR_NULL(it)) {
		fault(F_REFUSED, "ring_buffer_read_start");
		return 0;
	}
	while ((e = ring_buffer_iter_peek(it, &ts))) {
		if (whole(e, cpu, &id)) {
			if (n && ts < last && !clock_steps_back)
				fault_at(F_ORDER, "iterator", id, ": time went back by %llu",
					 last - ts);
			if (ID_N(id) < before[ID_CTX(id)])
				fault_at(F_ORDER, "iterator", id, " again");
			before[ID_CTX(id)] = ID_N(id) + 1;
			last = ts;
		}
		n++;
		ring_buffer_iter_advance(it);
	}
	ring_buffer_read_finish(it);
	return n;
}

static void saw_on_page(struct ring_buffer_event *e, u64 ts, long lost, void *arg)
{
	saw(e, ts, lost, (long)arg);
}

int read_pages(struct trace_buffer *b, int cpu, bool full, size_t len, int max)
{
	struct buffer_data_read_page *rp = NULL;
	int n = 0, got, stepping;
	unsigned int size;

	if (ring_buffer_alloc_read_page(b, cpu, &rp) < 0) {
		fault(F_REFUSED, "ring_buffer_alloc_read_page");
		return 0;
	}
	/* The buffer may have another order by now. */
	size = ring_buffer_read_page_size(rp);
	while (max-- && ring_buffer_read_page(b, rp, len ?: size, cpu, full) >= 0) {
		stepping = step_pause();
		if (!page_rest_is_clear(ring_buffer_read_page_data(rp), size))
			fault(F_PAGE, "something is left behind the records");
		step_resume(stepping);
		got = page_parse(ring_buffer_read_page_data(rp), size, saw_on_page,
				 (void *)(long)cpu);
		if (got < 0)
			break;
		n += got;
	}
	ring_buffer_free_read_page(b, cpu, rp);
	return n;
}

/* ---- begin and end of a run --------------------------------------------- */

void start_over(void)
{
	int cpu, ctx;

	for (cpu = 0; cpu < SHIM_MAX_CPUS; cpu++) {
		for (ctx = 0; ctx < NR_CTX; ctx++) {
			struct stream *s = &streams[cpu][ctx];
			struct rec *rec = s->rec;

			if (!rec)
				rec = host_malloc(NR_RECS * sizeof(*rec), 64);
			memset(s, 0, sizeof(*s));
			s->rec = rec;
		}
		if (!seen_log[cpu])
			seen_log[cpu] = host_malloc(NR_SAW * sizeof(**seen_log), 64);
		nr_seen[cpu] = 0;
		last_ts[cpu] = 0;
		lost_sum[cpu] = 0;
	}
	clock_reads = 0;
	host_warnings = 0;
}

static struct trace_buffer *new_buffer(unsigned long bytes, bool overwrite)
{
	struct trace_buffer *b;

	shim_prepare = trace_rb_cpu_prepare;
	b = ring_buffer_alloc(bytes, overwrite ? RB_FL_OVERWRITE : 0);
	if (!b)
		host_die("ring_buffer_alloc failed");
	ring_buffer_set_clock(b, test_clock);
	return b;
}

void free_buffers(void)
{
	if (buf)
		ring_buffer_free(buf);
	if (buf2)
		ring_buffer_free(buf2);
	leak();
	shim_rcu_run();
}

/* ring_buffer_cut_all() of one buffer */
int cut_one(struct trace_buffer *live, struct trace_buffer *spare, int cpu)
{
#ifdef RB_NOTE_SIZE	/* not in the base kernel */
	const struct ring_buffer_cut one = { .live = live, .spare = spare };

	return ring_buffer_cut_all(&one, cpu);
#else
	return -ENODEV;
#endif
}

/* On CPU 0, wherever the last run was abandoned */
void fresh(unsigned long bytes, bool overwrite)
{
	host_cpu_switch(0);
	shim_poll();
	free_buffers();
	start_over();
	buf = new_buffer(bytes, overwrite);
}

static long without_buffers = -1;	/* what is allocated when the first ones are freed */

void begin(int subbufs, bool overwrite)
{
	static const s64 step = 8;

	if (without_buffers < 0) {
		fresh(2 * SUBBUF_DATA, true);
		free_buffers();
		without_buffers = shim_allocated;
	}
	clock_set(1000000);
	clock_steps(1, &step);
	fresh(subbufs * (unsigned long)SUBBUF_DATA, overwrite);
}

/* The machine that stopped has freed nothing: only the memory of the range is left */
bool boot(unsigned long start, unsigned long bytes, unsigned int flags)
{
	leak();
	buf = range_buffer(bytes, RB_FL_OVERWRITE | flags, 0, start, bytes);
	if (!buf) {
		fault(F_REFUSED, "ring_buffer_alloc_range");
		return false;
	}
	ring_buffer_set_clock(buf, test_clock);
#ifdef RB_NOTE_SIZE	/* not in the base kernel */
	if (flags & RB_FL_SPARE) {
		buf2 = ring_buffer_alloc_spare(buf);
		if (IS_ERR_OR_NULL(buf2))
			host_die("no spare buffer in the range");
		ring_buffer_set_clock(buf2, test_clock);
	}
#endif
	return true;
}

void no_leak(const char *what)
{
	free_buffers();
	EXPECT(shim_allocated == without_buffers, "%s: %ld objects leak", what,
	       shim_allocated - without_buffers);
}

void fresh2(unsigned long bytes)
{
	buf2 = new_buffer(bytes, true);
}

void leak(void)
{
	buf = NULL;
	buf2 = NULL;
}

void begin_two(int subbufs)
{
	begin(subbufs, true);
	fresh2(subbufs * SUBBUF_DATA);
}

void resize_to(int subbufs)
{
	EXPECT_EQ(ring_buffer_resize(buf, subbufs * SUBBUF_DATA, RING_BUFFER_ALL_CPUS), 0);
}

/* All of CPU 0 is read on CPU 1, after a grace period: of the spare buffer first */
void drain(void)
{
	int me = host_cpu_switch(1);

	shim_rcu_run();
	if (buf2)
		consume(buf2, 0, -1);
	consume(buf, 0, -1);
	host_cpu_switch(me);
}

/* ---- a task of CPU 1 that waits ------------------------------------------ */

static int wait_cpu, wait_full;
static ring_buffer_cond_fn wait_cond;

static void waiter(void)
{
	host_cpu_switch(1);
	EXPECT_EQ(ring_buffer_wait(buf, wait_cpu, wait_full, wait_cond, NULL), 0);
}

bool never(void *data)
{
	return false;
}

bool waits(int cpu, int full, ring_buffer_cond_fn cond)
{
	wait_cpu = cpu;
	wait_full = full;
	wait_cond = cond;
	return !co_start(waiter);
}

bool sleeps(void)
{
	int i, cpu;

	for (i = 0; i < 5 && co_active(); i++) {
		for_each_online_cpu(cpu) {
			host_cpu_switch(cpu);
			shim_poll();
		}
		host_cpu_switch(0);
		co_resume();
	}
	return co_active();
}

static int by_time(const void *a, const void *b)
{
	struct rec *x = *(struct rec **)a, *y = *(struct rec **)b;

	return rec_time(x) < rec_time(y) ? -1 : rec_time(x) > rec_time(y);
}

static int by_time_seen(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return x->ts < y->ts ? -1 : x->ts > y->ts;
}

static struct rec *order[NR_CTX * NR_RECS];

static u32 number_by_time(int cpu)
{
	u32 nr = 0, i;
	int ctx;
	u64 n;

	for (ctx = 0; ctx < NR_CTX; ctx++) {
		struct stream *s = &streams[cpu][ctx];

		if (s->nr > NR_RECS)
			host_die("log of records is full");
		for (n = 0; n < s->nr; n++) {
			if (s->rec[n].state == REC_COMMITTED && s->rec[n].nr_ts)
				order[nr++] = &s->rec[n];
		}
	}
	qsort(order, nr, sizeof(order[0]), by_time);
	for (i = 0; i < nr; i++)
		order[i]->idx = i;
	return nr;
}

static void check_log(int cpu, unsigned int flags, const char *where)
{
	u32 next = 0, nr = number_by_time(cpu), k;
	u64 i;

	for (k = 0; k < nr; k++)
		order[k]->seen = 0;
	if (any_order)
		qsort(seen_log[cpu], nr_seen[cpu], sizeof(**seen_log), by_time_seen);
	for (i = 0; i < nr_seen[cpu]; i++) {
		struct seen *l = &seen_log[cpu][i];
		struct rec *r = &streams[cpu][ID_CTX(l->id)].rec[ID_N(l->id)];

		if (r->state != REC_COMMITTED) {
			fault_at(F_LOSS, where, l->id, " was read, but %s",
				 r->state == REC_DISCARDED ? "discarded" : "never committed");
			continue;
		}
		if (r->seen++)
			fault_at(F_LOSS, where, l->id, " was read twice");
		if (!rec_read_clock(r, l->ts))
			fault_at(F_TIME, where, l->id, ": time is off by %lld",
				 (s64)(l->ts - rec_time(r)));
		if (!(flags & END_NO_LOST) && !clock_ties && !clock_steps_back &&
		    l->lost != LOST_UNKNOWN && l->lost != (long)r->idx - (long)next)
			fault_at(F_LOST, where, l->id, ": %ld reported lost, not %ld", l->lost,
				 (long)r->idx - (long)next);
		next = r->idx + 1;
	}
}

/* CPU "cpu" is drained, and nothing is in flight */
void check_end(int cpu, unsigned int flags, const char *fmt, ...)
{
	u64 entries, overrun, dropped, wrote = put_count(cpu), failed = put_failed(cpu);
	char where[160];
	va_list ap;

	va_start(ap, fmt);
	host_vsnprintf(where, sizeof(where), fmt, ap);
	va_end(ap);

	entries = ring_buffer_entries_cpu(buf, cpu);
	overrun = ring_buffer_overrun_cpu(buf, cpu);
	dropped = ring_buffer_dropped_events_cpu(buf, cpu) +
		  ring_buffer_commit_overrun_cpu(buf, cpu);
	if (buf2) {
		entries += ring_buffer_entries_cpu(buf2, cpu);
		overrun += ring_buffer_overrun_cpu(buf2, cpu);
		dropped += ring_buffer_dropped_events_cpu(buf2, cpu) +
			   ring_buffer_commit_overrun_cpu(buf2, cpu);
	}
	if (!(flags & END_NO_LOSS) && (wrote != nr_seen[cpu] + overrun + entries || entries))
		fault(F_LOSS, "%s: wrote %llu, read %llu, overrun %llu, left %llu", where, wrote,
		      nr_seen[cpu], overrun, entries);
	if (!(flags & (END_NO_DROP | END_NO_LOSS)) && failed != dropped)
		fault(F_LOSS, "%s: %llu refused, but %llu counted as dropped", where, failed,
		      dropped);
	if (live && !(flags & END_NO_LOST) && lost_sum[cpu] != wrote - nr_seen[cpu])
		fault(F_LOST, "%s: %llu reported lost, not %llu", where, lost_sum[cpu],
		      wrote - nr_seen[cpu]);
	if (!live)
		check_log(cpu, flags, where);
	if (host_warnings) {
		fault(F_WARN, "%s: %ld kernel warnings", where, host_warnings);
		host_warnings = 0;
	}
}

/* ---- places ------------------------------------------------------------- */

/* Start with *p all zero and overwrite = -1 */
bool next_place(struct place *p, bool few)
{
	static const int subbufs[] = { 0, 4, 1, 2 };
	static const int records[] = { 0, PER_SUBBUF - 1, PER_SUBBUF, 1, PER_SUBBUF - 2 };
	int nr_s = few ? 2 : ARRAY_SIZE(subbufs), nr_r = few ? 3 : ARRAY_SIZE(records);
	int s, r, i;

	if (faults[F_STUCK] > 100)
		return false;		/* each costs a lot of time */
	if (p->overwrite < 0) {
		p->overwrite = 0;
		p->subbufs = subbufs[0];
		p->records = records[0];
		return true;
	}
	for (s = 0; subbufs[s] != p->subbufs; s++)
		;
	for (r = 0; records[r] != p->records; r++)
		;
	i = (p->overwrite * nr_s + s) * nr_r + r + 1;
	p->records = records[i % nr_r];
	p->subbufs = subbufs[i / nr_r % nr_s];
	p->overwrite = i / nr_r / nr_s;
	return p->overwrite < 2;
}

/* Not snprintf(), which is the C library's and wants another stack */
int print(char *to, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = host_vsnprintf(to, size, fmt, ap);
	va_end(ap);
	return n;
}

const char *place_name(const struct place *p)
{
	static char name[64];

	print(name, sizeof(name), "%s, %d sub-buffers and %d records before",
	      p->overwrite ? "overwrite" : "keep", p->subbufs, p->records);
	return name;
}

void fill(const struct place *p)
{
	int i;

	for (i = 0; i < p->subbufs * PER_SUBBUF + p->records; i++)
		put(buf, REC_LEN, PUT_COMMIT);
}
