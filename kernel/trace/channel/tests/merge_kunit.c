// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the merge: the records of a session and of its channels, by time.
 */
#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/prandom.h>
#include <linux/ring_buffer.h>
#include <linux/seq_file.h>
#include <linux/sort.h>

#include "session.h"

#define MERGE_RECORDS	3000

/* A record that was written, in the order of the merge */
struct merge_rec {
	u64		ts;
	int		cpu;
	unsigned int	ch;
	u32		num;
};

static struct merge_rec merge_recs[MERGE_RECORDS];
static unsigned int merge_nr;

static int merge_init(struct kunit *test)
{
	merge_nr = 0;
	return chan_kunit_init(test);
}

/* A session with @nr channels. */
static void merge_begin(struct kunit *test, unsigned int nr)
{
	unsigned int i;

	chan_kunit_open(test, nr);
	for (i = 1; i <= nr; i++)
		chan_kunit_join(test, i);
	chan_kunit_set_clock();
}

static int merge_cmp(const void *lhs, const void *rhs)
{
	const struct merge_rec *a = lhs, *b = rhs;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu - b->cpu;
	if (a->ch != b->ch)
		return (int)a->ch - (int)b->ch;
	return (int)a->num - (int)b->num;
}

/* Write a record, its number is that of the write. */
static void merge_write(struct kunit *test, unsigned int ch, int cpu, u64 ts)
{
	KUNIT_ASSERT_LT(test, merge_nr, (unsigned int)MERGE_RECORDS);
	KUNIT_ASSERT_TRUE(test, chan_kunit_write(ch, cpu, ts, merge_nr));
	merge_recs[merge_nr] = (struct merge_rec){
		.ts = ts, .cpu = cpu, .ch = ch, .num = merge_nr,
	};
	merge_nr++;
}

/* The file that a test reads, its iterator, and whether it consumes the records */
static struct file *merge_file;
static struct trace_iterator *merge_iter;
static bool merge_consumes;

static void merge_open(struct kunit *test, const char *path, bool consumes)
{
	merge_file = tfs_open(test, path, O_RDONLY);
	merge_consumes = consumes;
	merge_iter = consumes ? merge_file->private_data :
				((struct seq_file *)merge_file->private_data)->private;
}

/* The next record has to be number @n. */
static void merge_next(struct kunit *test, unsigned int n)
{
	struct trace_iterator *sub = trace_find_next_entry_inc(merge_iter);
	const struct merge_rec *want = &merge_recs[n];

	KUNIT_ASSERT_NOT_NULL(test, sub);
	KUNIT_ASSERT_EQ(test, container_of(sub->ent, struct chan_kunit_rec, ent)->num, want->num);
	KUNIT_EXPECT_PTR_EQ(test, sub->tr, chan_kunit[want->ch]);
	KUNIT_EXPECT_PTR_EQ(test, trace_merge_current(merge_iter), sub);
	KUNIT_EXPECT_EQ(test, sub->ts, want->ts);
	KUNIT_EXPECT_EQ(test, sub->cpu, want->cpu);
	KUNIT_EXPECT_EQ(test, sub->lost_events, 0UL);
	if (merge_consumes)
		ring_buffer_reader_advance(sub->reader, sub->cpu);
}

static void merge_expect_end(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_NULL(test, trace_find_next_entry_inc(merge_iter));
		KUNIT_EXPECT_PTR_EQ(test, trace_merge_current(merge_iter), merge_iter);
	}
}

/* Expect the end, and close the file. */
static void merge_end(struct kunit *test)
{
	merge_expect_end(test);
	tfs_close(merge_file);
}

static void merge_sort(void)
{
	sort(merge_recs, merge_nr, sizeof(merge_recs[0]), merge_cmp, NULL);
}

static void merge_expect(struct kunit *test, const char *path, bool consumes)
{
	unsigned int i;

	merge_open(test, path, consumes);
	merge_sort();
	for (i = 0; i < merge_nr; i++)
		merge_next(test, i);
	merge_end(test);
}

static const struct merge_case {
	unsigned int	channels;
	unsigned int	step;		/* of the clock, at most */
	bool		empty;		/* every second channel is */
	bool		bursts;
} merge_cases[] = {
	{ 1, 0 }, { 1, 5 }, { 2, 1 }, { 3, 2 }, { 7, 1 }, { 8, 3, true }, { 5, 0 },
	{ 16, 1 }, { 16, 9, true, true }, { 33, 2 }, { 40, 1, false, true },
};

static void merge_desc(const struct merge_case *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u channels, steps of %u%s%s", p->channels, p->step,
		 p->empty ? ", empty ones" : "", p->bursts ? ", bursts" : "");
}

KUNIT_ARRAY_PARAM(merge, merge_cases, merge_desc);

static void merge_write_all(struct kunit *test, const struct merge_case *p)
{
	struct rnd_state rnd;
	unsigned int i, ch = 0;
	int cpu = 0;
	u64 ts = 1000;

	prandom_seed_state(&rnd, p->channels);
	for (i = 0; i < 20 * p->channels; i++) {
		if (!p->bursts || !(prandom_u32_state(&rnd) % 8)) {
			ch = prandom_u32_state(&rnd) % (p->channels + 1);
			cpu = cpumask_nth(prandom_u32_state(&rnd) % num_online_cpus(),
					  cpu_online_mask);
		}
		ts += prandom_u32_state(&rnd) % (p->step + 1);
		merge_write(test, p->empty ? ch & ~1 : ch, cpu, ts);
	}
	/* A poll that comes later finds all. */
	chan_kunit_now++;
}

/* "trace", twice, "snapshot" and "trace_pipe" have all of it in the same order. */
static void merge_test_order(struct kunit *test)
{
	const struct merge_case *p = test->param_value;

	merge_begin(test, p->channels);
	merge_write_all(test, p);
	merge_expect(test, "trace", false);
	merge_expect(test, "trace", false);
	merge_expect(test, "trace_pipe", true);
	merge_nr = 0;
	merge_expect(test, "trace", false);
	merge_write_all(test, p);
	tfs_set(test, "snapshot", "1");
	merge_expect(test, "snapshot", false);
	merge_nr = 0;
	merge_expect(test, "trace", false);
}

/* Files of one CPU. */
static void merge_test_cpu(struct kunit *test)
{
	struct merge_rec *all = merge_recs + MERGE_RECORDS / 2;
	unsigned int i, n = 0;
	int cpu;

	merge_begin(test, 3);
	for_each_online_cpu(cpu) {
		for (i = 0; i < 40; i++)
			merge_write(test, i % 4, cpu, 1000 + i / 3);
	}
	chan_kunit_now++;
	memcpy(all, merge_recs, MERGE_RECORDS / 2 * sizeof(merge_recs[0]));
	for_each_online_cpu(cpu) {
		memcpy(merge_recs, all + n, 40 * sizeof(merge_recs[0]));
		merge_nr = 40;
		n += 40;
		merge_expect(test, tfs_text(test, "per_cpu/cpu%d/trace", cpu), false);
		merge_expect(test, tfs_text(test, "per_cpu/cpu%d/trace_pipe", cpu), true);
	}
}

/*
 * The next record of n sources costs O(log n) comparisons. To sift down a heap of n costs two for
 * each of its levels at most, and the sources come to it and leave it once each.
 */
static void merge_test_cost(struct kunit *test)
{
	static const unsigned int counts[] = { 1, 2, 4, 8, 16, 32, 40 };
	unsigned int i, ch, have = 0, sources, levels, records;
	u64 ts = 1000;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		if (!have)
			chan_kunit_open(test, CHAN_KUNIT_MAX);
		chan_kunit_set_clock();
		for (; have < counts[i]; have++)
			chan_kunit_join(test, have + 1);
		merge_nr = 0;
		for (records = 0; records < 20; records++) {
			for (ch = 0; ch <= have; ch++)
				merge_write(test, (records + ch * 7) % (have + 1), 0, ts++);
		}
		chan_kunit_now++;
		merge_open(test, "trace_pipe", true);
		merge_compared = 0;
		for (records = 0; records < merge_nr; records++)
			merge_next(test, records);
		merge_expect_end(test);
		sources = have + 1;
		levels = order_base_2(sources + 1);
		kunit_info(test, "%u sources: %lu comparisons for %u records", sources,
			   merge_compared, merge_nr);
		KUNIT_EXPECT_LE(test, merge_compared, (unsigned long)(merge_nr + 2 * sources) *
				2 * levels);
		tfs_close(merge_file);
	}
}

/* A record of a source that had none comes in the order of its time. */
static void merge_test_late(struct kunit *test)
{
	unsigned int i, n;

	merge_begin(test, 2);
	merge_open(test, "trace_pipe", true);
	merge_expect_end(test);
	for (i = 0; i < 10; i++) {
		merge_nr = 0;
		/* This one is found by a look at all sources. */
		merge_write(test, 1, 0, 1010 + 100 * i);
		chan_kunit_now = 1020 + 100 * i;
		merge_next(test, 0);
		/* The top is newer than that look, and so is what comes now. */
		merge_write(test, 1, 0, 1030 + 100 * i);
		merge_write(test, 2, 0, 1040 + 100 * i);
		merge_write(test, 0, 0, 1040 + 100 * i);
		merge_write(test, 1, 0, 1050 + 100 * i);
		merge_sort();
		for (n = 1; n <= 4; n++)
			merge_next(test, n);
		KUNIT_EXPECT_EQ(test, merge_recs[2].ch, 0U);
		/* At the time of the look itself. */
		if (i % 2)
			merge_expect_end(test);
	}
	tfs_close(merge_file);
}

/* One that is equal to the time of the last look: the source that had nothing is first. */
static void merge_test_equal(struct kunit *test)
{
	merge_begin(test, 2);
	merge_write(test, 2, 0, 1000);
	merge_open(test, "trace_pipe", true);
	merge_next(test, 0);
	merge_expect_end(test);
	merge_write(test, 2, 0, 1010);
	merge_write(test, 1, 0, 1010);
	merge_next(test, 2);
	merge_next(test, 1);
	merge_end(test);
}

/* Each source is looked at again if time has gone back, as with another clock. */
static void merge_test_back(struct kunit *test)
{
	unsigned int ch;

	merge_begin(test, 3);
	for (ch = 0; ch < 3; ch++)
		merge_write(test, ch, 0, 1000000 + ch);
	chan_kunit_now++;
	merge_open(test, "trace_pipe", true);
	merge_next(test, 0);
	/* The other two are known, but not of channel 3. */
	for (ch = 0; ch <= 3; ch++)
		tracing_reset_all_cpus(&chan_kunit[ch]->array_buffer);
	merge_nr = 0;
	merge_write(test, 3, 0, 2000);
	merge_write(test, 2, 0, 2010);
	merge_write(test, 1, 0, 2020);
	merge_write(test, 1, 0, 2030);
	merge_write(test, 3, 0, 2040);
	chan_kunit_now++;
	for (ch = 0; ch < merge_nr; ch++)
		merge_next(test, ch);
	merge_end(test);
}

static unsigned int merge_looks;

static void merge_count_look(unsigned int i)
{
	merge_looks++;
}

/* A record that is later than now, as of the last boot, costs one look at the others. */
static void merge_test_future(struct kunit *test)
{
	unsigned int i, sources = 4 * num_possible_cpus();

	merge_begin(test, 3);
	for (i = 0; i < 20; i++)
		merge_write(test, 1, 0, 1000000 + i);
	chan_kunit_now = 2000;
	merge_open(test, "trace_pipe", true);
	merge_next(test, 0);
	merge_looks = 0;
	merge_race_hook = merge_count_look;
	for (i = 1; i < 10; i++)
		merge_next(test, i);
	merge_race_hook = NULL;
	KUNIT_EXPECT_GT(test, merge_looks, 0U);
	KUNIT_EXPECT_LE(test, merge_looks, 9 * (sources - 1));
	/* A record of now is next. */
	merge_write(test, 2, 0, 3000);
	merge_next(test, 20);
	for (; i < 20; i++)
		merge_next(test, i);
	merge_end(test);
}

/* The race: before source @merge_race_at is looked at, a writer writes to two channels. */
static unsigned int merge_race_at, merge_race_first, merge_race_second;
static struct kunit *merge_race_test;

static void merge_race(unsigned int i)
{
	if (i != merge_race_at)
		return;
	merge_race_hook = NULL;
	merge_write(merge_race_test, merge_race_first, raw_smp_processor_id(), chan_kunit_now + 1);
	merge_write(merge_race_test, merge_race_second, raw_smp_processor_id(), chan_kunit_now + 1);
	chan_kunit_now++;
}

/* All that was written, also meanwhile; a look may be over before the writes. */
static void merge_expect_all(struct kunit *test)
{
	struct trace_iterator *sub;
	unsigned int i, looks;

	for (i = 0, looks = 0; looks < 3; looks++) {
		while ((sub = trace_find_next_entry_inc(merge_iter))) {
			KUNIT_ASSERT_LT(test, i, merge_nr);
			KUNIT_EXPECT_EQ(test, sub->ts, merge_recs[i].ts);
			KUNIT_EXPECT_PTR_EQ(test, sub->tr, chan_kunit[merge_recs[i].ch]);
			ring_buffer_reader_advance(sub->reader, sub->cpu);
			i++;
		}
	}
	KUNIT_EXPECT_EQ(test, i, merge_nr);
}

/* Records of one writer come in their order, wherever it comes into a look at all sources. */
static void merge_test_race(struct kunit *test)
{
	unsigned int at, n, filled;

	merge_begin(test, 3);
	merge_race_test = test;
	merge_open(test, "trace_pipe", true);
	for (at = 0; at < 4 * nr_cpu_ids; at++) {
		for (n = 0; n < 16 * 2; n++) {
			filled = n % 2;
			merge_race_first = n / 2 % 4;
			merge_race_second = n / 8;
			merge_nr = 0;
			/* One that is found by the same look. */
			if (filled)
				merge_write(test, 1, raw_smp_processor_id(), chan_kunit_now + 1);
			merge_race_at = at;
			merge_race_hook = merge_race;
			merge_expect_all(test);
			merge_race_hook = NULL;
			merge_expect_end(test);
		}
	}
	tfs_close(merge_file);
}

/* Each channel tells its own losses, once, and "channels" the sum. */
static void merge_test_lost(struct kunit *test)
{
	unsigned long lost[3] = { }, seen[3] = { };
	struct trace_iterator *sub;
	struct trace_buffer *buffer;
	struct file *file;
	unsigned int i, ch;
	char head[512] = "";
	const char *line;
	u32 last[3] = { };

	merge_begin(test, 2);
	for (i = 1; i <= 6000; i++) {
		ch = i % 16 ? 1 : i / 16 % 2 ? 0 : 2;
		KUNIT_ASSERT_TRUE(test, chan_kunit_write(ch, 0, 1000 + i, i));
	}
	chan_kunit_now++;
	buffer = chan_kunit[1]->array_buffer.buffer;
	tfs_expect_in(test, "channels",
		      tfs_text(test, "lost=%lu\nkunit_2 ", ring_buffer_overruns(buffer)));
	line = tfs_text(test, "# channel kunit_1: %lu/%u\n", ring_buffer_entries(buffer),
			6000 / 16 * 15);
	file = tfs_open(test, "trace", O_RDONLY);
	KUNIT_ASSERT_GT(test, tfs_read_file(test, file, head, sizeof(head) - 1), 0L);
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(head, line), "no %s in %s", line, head);
	tfs_close(file);

	merge_open(test, "trace_pipe", true);
	for (i = 0; (sub = trace_find_next_entry_inc(merge_iter)); i++) {
		ch = sub->tr == chan_kunit[1] ? 1 : sub->tr == chan_kunit[2] ? 2 : 0;
		lost[ch] += sub->lost_events;
		KUNIT_ASSERT_TRUE(test, !sub->lost_events || !seen[ch]);
		seen[ch]++;
		ring_buffer_reader_advance(sub->reader, sub->cpu);
		KUNIT_EXPECT_GT(test, ((struct chan_kunit_rec *)sub->ent)->num, last[ch]);
		last[ch] = ((struct chan_kunit_rec *)sub->ent)->num;
	}
	KUNIT_EXPECT_EQ(test, lost[1], ring_buffer_overruns(buffer));
	KUNIT_EXPECT_GT(test, lost[1], 1000UL);
	KUNIT_EXPECT_EQ(test, lost[0] + lost[2], 0UL);
	KUNIT_EXPECT_EQ(test, seen[0] + seen[1] + seen[2] + lost[1], 6000UL);
	tfs_close(merge_file);
}

/* Writers overwrite the record that was found to be the oldest of a channel. */
static void merge_test_overwritten(struct kunit *test)
{
	struct trace_iterator *sub;
	u64 last = 0, total = 0;
	unsigned int i;

	merge_begin(test, 2);
	for (i = 0; i < 10; i++)
		KUNIT_ASSERT_TRUE(test, chan_kunit_write(1 + i % 2, 0, 1000 + i, i));
	merge_open(test, "trace_pipe", true);
	/* This one looks at the oldest record of each channel. */
	KUNIT_ASSERT_NOT_NULL(test, trace_find_next_entry_inc(merge_iter));
	for (i = 10; i < 5000; i++)
		KUNIT_ASSERT_TRUE(test, chan_kunit_write(2, 0, 1000 + i, i));
	chan_kunit_now++;
	while ((sub = trace_find_next_entry_inc(merge_iter))) {
		KUNIT_ASSERT_GE(test, sub->ts, last);
		KUNIT_ASSERT_EQ(test, sub->ts, 1000ULL + ((struct chan_kunit_rec *)sub->ent)->num);
		last = sub->ts;
		total += 1 + sub->lost_events;
		ring_buffer_reader_advance(sub->reader, sub->cpu);
	}
	KUNIT_EXPECT_EQ(test, last, 5999ULL);
	KUNIT_EXPECT_EQ(test, total, 5000ULL);
	tfs_close(merge_file);
}

/* An open file shows the channels that there were; "rewind" begins again with their records. */
static void merge_test_rewind(struct kunit *test)
{
	unsigned int i, n;

	merge_begin(test, 3);
	for (i = 0; i < 30; i++)
		merge_write(test, 1 + i % 2, 0, 1000 + i);
	chan_kunit_now++;
	KUNIT_EXPECT_EQ(test, trace_session_leave(chan_kunit[0], "kunit_3"), 0);
	merge_open(test, "trace", false);
	chan_kunit_join(test, 3);
	KUNIT_EXPECT_EQ(test, trace_session_leave(chan_kunit[0], "kunit_2"), 0);
	trace_array_put(chan_kunit[2]);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(chan_kunit[2]), -EBUSY);
	KUNIT_EXPECT_NOT_NULL(test, trace_array_get_by_name("kunit_2", NULL));
	for (n = 0; n < 30; n += 7) {
		for (i = 0; i < n; i++)
			merge_next(test, i);
		tracing_iter_reset(merge_iter, 0);
		trace_merge_reset(merge_iter);
		KUNIT_EXPECT_PTR_EQ(test, trace_merge_current(merge_iter), merge_iter);
	}
	KUNIT_EXPECT_TRUE(test, chan_kunit_write(3, 0, 1010, 77));
	for (i = 0; i < 30; i++)
		merge_next(test, i);
	merge_end(test);
}

/* A file is empty if the session and all channels are. */
static void merge_test_empty(struct kunit *test)
{
	unsigned int ch;

	merge_begin(test, 2);
	for (ch = 0; ch < 3; ch++) {
		merge_open(test, "trace", false);
		KUNIT_EXPECT_TRUE(test, trace_empty(merge_iter));
		tfs_close(merge_file);
		KUNIT_EXPECT_TRUE(test, chan_kunit_write(ch, 0, 1000 + ch, ch));
		merge_open(test, "trace", false);
		KUNIT_EXPECT_FALSE(test, trace_empty(merge_iter));
		KUNIT_EXPECT_EQ(test, trace_merge_is_empty(merge_iter), !ch);
		tfs_close(merge_file);
		tfs_empty(test, "trace");
	}
}

/* If memory for a file of a session is short, nothing holds the channels. */
static void merge_test_memory(struct kunit *test)
{
	static const char * const files[] = { "trace", "trace_pipe", "snapshot" };
	struct file *file;
	unsigned int i, n;
	bool failed;

	tfs_need_failures(test);
	merge_begin(test, 3);
	KUNIT_EXPECT_TRUE(test, chan_kunit_write(2, 0, 1000, 0));
	tfs_set(test, "snapshot", "1");
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		n = 0;
		do {
			tfs_fail_nth(++n);
			file = tfs_try_open(test, files[i], O_RDONLY);
			failed = tfs_failed();
			if (failed && IS_ERR(file))
				KUNIT_EXPECT_EQ(test, PTR_ERR(file), (long)-ENOMEM);
			tfs_close(file);
			KUNIT_EXPECT_EQ(test, chan_kunit[0]->ref, 2);
			KUNIT_EXPECT_EQ(test, chan_kunit[1]->ref, 2);
			KUNIT_EXPECT_EQ(test, chan_kunit[3]->ref, 2);
			KUNIT_EXPECT_EQ(test, chan_kunit[2]->trace_ref, 0);
		} while (failed);
		KUNIT_EXPECT_FALSE(test, IS_ERR(file));
		KUNIT_EXPECT_GT(test, n, 3U);
	}
}

static struct kunit_case merge_test_cases[] = {
	KUNIT_CASE_PARAM(merge_test_order, merge_gen_params),
	KUNIT_CASE(merge_test_cpu),
	KUNIT_CASE(merge_test_cost),
	KUNIT_CASE(merge_test_late),
	KUNIT_CASE(merge_test_equal),
	KUNIT_CASE(merge_test_back),
	KUNIT_CASE(merge_test_future),
	KUNIT_CASE(merge_test_race),
	KUNIT_CASE(merge_test_lost),
	KUNIT_CASE(merge_test_overwritten),
	KUNIT_CASE(merge_test_rewind),
	KUNIT_CASE(merge_test_empty),
	KUNIT_CASE(merge_test_memory),
	{ }
};

static struct kunit_suite merge_suite = {
	.name = "trace_channel_merge",
	.init = merge_init,
	.exit = chan_kunit_exit,
	.test_cases = merge_test_cases,
};

kunit_test_suite(merge_suite);
