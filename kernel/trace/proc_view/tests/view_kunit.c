// SPDX-License-Identifier: GPL-2.0
/*
 * Which records belong to a thread group, what a store keeps of too many, and what is copied while
 * writers overwrite it.
 */
#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "../../instance/internal.h"
#include "../../ring_buffer/format.h"
#include "../../tests/tracefs.h"
#include "../../trace_output.h"
#include "../internal.h"

#define VIEW_TEST_SINCE	1000
#define VIEW_TEST_UNTIL	2000
/* Too late for the time that a record has room for */
#define VIEW_TEST_LATE	(5ULL << 32)

/* Three threads: 10, 20 and 30. */
static void view_test_group(struct view_group *group, struct view_thread *thread)
{
	int i;

	for (i = 0; i < 3; i++)
		thread[i] = (struct view_thread){ .nr = 10 * (i + 1), .since = VIEW_TEST_SINCE };
	*group = (struct view_group){ .until = VIEW_TEST_UNTIL, .nr = 3, .thread = thread };
}

struct view_test_record {
	int	pid;
	int	flags;
	u64	ts;
	int	found;
};

/* The times are open at the begin, and closed at the end; interrupts belong to nobody. */
static void view_test_find(struct kunit *test)
{
	static const struct view_test_record records[] = {
		{ 10, 0, 1500, 10 }, { 20, 0, 1500, 20 }, { 30, 0, 1500, 30 },
		{ 9, 0, 1500, 0 }, { 15, 0, 1500, 0 }, { 31, 0, 1500, 0 }, { 0, 0, 1500, 0 },
		{ 20, 0, VIEW_TEST_SINCE - 1, 0 }, { 20, 0, VIEW_TEST_SINCE, 0 },
		{ 20, 0, VIEW_TEST_SINCE + 1, 20 },
		{ 20, 0, VIEW_TEST_UNTIL, 20 }, { 20, 0, VIEW_TEST_UNTIL + 1, 0 },
		{ 20, TRACE_FLAG_HARDIRQ, 1500, 0 }, { 20, TRACE_FLAG_SOFTIRQ, 1500, 0 },
		{ 20, TRACE_FLAG_NMI, 1500, 0 },
		{ 20, TRACE_FLAG_IRQS_OFF | TRACE_FLAG_NEED_RESCHED, 1500, 20 },
		{ 20, TRACE_FLAG_BH_OFF, 1500, 20 },
	};
	struct view_thread thread[3], *found;
	struct view_group group;
	int i;

	view_test_group(&group, thread);
	for (i = 0; i < ARRAY_SIZE(records); i++) {
		struct trace_entry entry = { .pid = records[i].pid, .flags = records[i].flags };

		found = view_group_find(&group, &entry, records[i].ts);
		KUNIT_EXPECT_EQ_MSG(test, found ? found->nr : 0, records[i].found, "record %d", i);
	}
}

/* Nothing is shown from before the view, also of a thread with an older stamp, or with none. */
static void view_test_from(struct kunit *test)
{
	struct view_thread thread[3];
	struct view_group group;
	int i;

	view_test_group(&group, thread);
	thread[1].since = 0;
	thread[2].since = 1500;
	group.from = 1400;
	for (i = 0; i < 3; i++) {
		struct trace_entry entry = { .pid = thread[i].nr };
		u64 from = i == 2 ? 1500 : 1400;

		KUNIT_EXPECT_NULL(test, view_group_find(&group, &entry, from));
		KUNIT_EXPECT_PTR_EQ(test, view_group_find(&group, &entry, from + 1), &thread[i]);
	}
}

/* Only threads with records in the file count. */
static void view_test_settle(struct kunit *test)
{
	const struct trace_dat_record record[] = {
		{ .owner = 1 }, { .owner = 0 }, { .owner = 2 }, { .owner = 0 },
	};
	struct view_thread thread[3];
	struct view_group group;

	view_test_group(&group, thread);
	view_group_settle(&group, record + 1, 3);
	KUNIT_EXPECT_TRUE(test, thread[0].used);
	KUNIT_EXPECT_FALSE(test, thread[1].used);
	KUNIT_EXPECT_TRUE(test, thread[2].used);
}

/* As if the store had grown before. */
static struct view_store view_test_store(struct kunit *test, size_t limit)
{
	struct view_store store = { .limit = limit, .size = SZ_1M, .room = 10000 };

	store.data = kvmalloc(store.size, GFP_KERNEL);
	store.entry = kvmalloc_array(store.room, sizeof(*store.entry), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, store.data);
	KUNIT_ASSERT_NOT_NULL(test, store.entry);
	KUNIT_ASSERT_EQ(test, view_store_begin(&store, 4), 0);
	return store;
}

/* There may be one CPU only, so each record is of the first one of a member. */
static void view_test_add(struct kunit *test, struct view_store *store, u64 ts, int member)
{
	const struct trace_dat_record rec = { .ts = ts, .member = member, .len = 16 };

	KUNIT_ASSERT_EQ(test, view_store_add(store, &rec,
					     tfs_text(test, "%010llu.%04d\n", ts, member)), 0);
}

/* The records have 16 bytes each: are they those of these times, one at each, in order? */
static void view_test_expect(struct kunit *test, struct view_store *store, u64 first, u64 last)
{
	unsigned int i;
	char text[16];

	KUNIT_ASSERT_EQ(test, store->nr, last - first + 1);
	KUNIT_EXPECT_EQ(test, store->used, 16 * store->nr);
	for (i = 0; i < store->nr; i++) {
		KUNIT_EXPECT_EQ(test, store->entry[i].ts, first + i);
		KUNIT_EXPECT_EQ(test, store->entry[i].off, 16 * i);
		snprintf(text, sizeof(text), "%010llu.", first + i);
		KUNIT_EXPECT_EQ(test, memcmp(store->data + 16 * i, text, strlen(text)), 0);
	}
}

/* Times 0 .. @nr - 1 are spread over four members, which are added one after the other. */
static void view_test_fill(struct kunit *test, struct view_store *store, u64 nr)
{
	u64 member, ts;

	for (member = 0; member < 4; member++) {
		for (ts = member; ts < nr; ts += 4)
			view_test_add(test, store, ts, member);
	}
	KUNIT_ASSERT_EQ(test, view_store_settle(store), 0);
}

/* Members, a bit for each, of which some were dropped: their first record that is left says so. */
static void view_test_expect_lost(struct kunit *test, const struct view_store *store,
				  unsigned int lost)
{
	const struct trace_dat_record *entry = store->entry;
	unsigned int i;

	for (i = 0; i < store->nr; i++, entry++) {
		KUNIT_EXPECT_EQ_MSG(test, !!entry->lost, !!(lost & BIT(entry->member)), "%u of %u",
				    i, store->nr);
		lost &= ~BIT(entry->member);
	}
}

/* Of too many, also for what is stored between, the newest ones are left, without a gap. */
static void view_test_limit(struct kunit *test)
{
	static const struct {
		size_t		limit;
		u64		nr, dropped;
	} cases[] = {
		{ 16 * 400, 400, 0 }, { 16 * 100 + 5, 4000, 3900 }, { 8, 0, 0 },
		/* A record that is longer than the limit stays if it is the newest one. */
		{ 8, 40, 39 },
	};
	struct view_store store;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		store = view_test_store(test, cases[i].limit);
		view_test_fill(test, &store, cases[i].nr);
		view_test_expect(test, &store, cases[i].dropped, cases[i].nr - 1);
		KUNIT_EXPECT_EQ(test, store.dropped, cases[i].dropped);
		view_test_expect_lost(test, &store, store.dropped ? 0xf : 0);
		view_store_free(&store);
	}
}

/* More than the limit at one time: not all are stored, and the count is right. */
static void view_test_one_time(struct kunit *test)
{
	const struct trace_dat_record rec = { .ts = 7, .len = 16 };
	struct view_store store = view_test_store(test, 16 * 100);
	int i;

	for (i = 0; i < 1000; i++)
		KUNIT_ASSERT_EQ(test, view_store_add(&store, &rec, "one of many tim"), 0);
	KUNIT_EXPECT_LE(test, store.used, 2 * store.limit);
	KUNIT_ASSERT_EQ(test, view_store_settle(&store), 0);
	KUNIT_EXPECT_EQ(test, store.nr, 100);
	KUNIT_EXPECT_EQ(test, store.dropped, 900);
	view_test_expect_lost(test, &store, BIT(0));
	view_store_free(&store);
}

/* The first record that is left of a member says so if earlier ones of that were dropped. */
static void view_test_lost(struct kunit *test)
{
	static const struct {
		u64	ts;
		int	member;
	} records[] = {
		{ 1, 0 }, { 20, 0 }, { 21, 0 }, { 2, 1 }, { 3, 2 }, { 22, 2 }, { 23, 3 }, { 24, 3 },
	};
	struct view_store store;
	unsigned int i, trim;

	for (trim = 0; trim < 2; trim++) {
		store = view_test_store(test, 16 * (5 - trim));
		for (i = 0; i < ARRAY_SIZE(records); i++)
			view_test_add(test, &store, records[i].ts, records[i].member);
		KUNIT_EXPECT_EQ(test, store.dropped, 0UL);
		/* Beyond twice the limit: the oldest four are dropped, and later the next one. */
		if (trim)
			view_test_add(test, &store, 25, 1);
		KUNIT_EXPECT_EQ(test, store.dropped, trim ? 4UL : 0UL);
		KUNIT_ASSERT_EQ(test, view_store_settle(&store), 0);
		KUNIT_EXPECT_EQ(test, store.dropped, trim ? 5UL : 3UL);
		view_test_expect(test, &store, trim ? 22 : 20, trim ? 25 : 24);
		view_test_expect_lost(test, &store, trim ? BIT(1) | BIT(2) : BIT(0) | BIT(2));
		view_store_free(&store);
	}
}

/* Behind twice the limit the oldest ones go; others of the earliest time that is left stay. */
static void view_test_trim(struct kunit *test)
{
	struct view_store store = view_test_store(test, 16 * 10);
	u64 ts;

	for (ts = 1; ts <= 20; ts++)
		view_test_add(test, &store, ts, 0);
	KUNIT_EXPECT_EQ(test, store.nr, 20);
	view_test_add(test, &store, 5, 1);
	KUNIT_EXPECT_EQ(test, store.floor, 11);
	KUNIT_EXPECT_EQ(test, store.nr, 10);
	KUNIT_EXPECT_EQ(test, store.used, 16 * 10);
	KUNIT_EXPECT_EQ(test, store.dropped, 11);
	view_test_add(test, &store, 11, 1);
	view_test_add(test, &store, 10, 1);
	KUNIT_EXPECT_EQ(test, store.nr, 11);
	KUNIT_EXPECT_EQ(test, store.dropped, 12);
	KUNIT_ASSERT_EQ(test, view_store_settle(&store), 0);
	view_test_expect(test, &store, 11, 20);
	KUNIT_EXPECT_EQ(test, store.dropped, 13);
	view_store_free(&store);
}

/* A record that finds no room changes nothing. Then there is more: for bytes, or for records. */
static void view_test_grow(struct kunit *test)
{
	struct trace_dat_record rec = { .ts = 1, .len = SZ_4K };
	struct view_store store = { .limit = VIEW_LIMIT };
	char *data = tfs_zalloc(test, SZ_4K);
	unsigned int i, n, nr = 0, tries;
	size_t used = 0;

	for (i = 0; i < 2; i++, rec.len = 4) {
		for (tries = 0; tries < 3; tries++) {
			for (n = 0; !view_store_add(&store, &rec, data); n++)
				;
			KUNIT_EXPECT_EQ(test, store.nr, n);
			KUNIT_EXPECT_EQ(test, store.used, (size_t)n * rec.len);
			KUNIT_EXPECT_EQ(test, view_store_add(&store, &rec, data), -ENOBUFS);
			KUNIT_EXPECT_EQ(test, store.used, (size_t)n * rec.len);
			KUNIT_EXPECT_TRUE(test, !tries || store.used > used || store.nr > nr);
			used = store.used;
			nr = store.nr;
			view_store_empty(&store);
			KUNIT_ASSERT_EQ(test, view_store_grow(&store), 0);
			KUNIT_ASSERT_EQ(test, view_store_begin(&store, 1), 0);
		}
		view_store_free(&store);
	}
	KUNIT_EXPECT_GT(test, nr, 1024U);
}

/* The clock of a user-mode kernel may count ticks: go on at a later time than before. */
static void view_test_later(void)
{
	u64 now = trace_stamp_now(TRACE_STAMP_LOCAL);

	while (trace_stamp_now(TRACE_STAMP_LOCAL) == now)
		usleep_range(100, 200);
}

/* A stamp is no earlier than what was before it, and no later than what is behind it. */
static void view_test_stamp(struct kunit *test)
{
	u64 before, stamp;
	int i;

	for (i = 0; i < TRACE_STAMP_NR; i++) {
		before = trace_stamp_now(i);
		trace_stamp_task(current);
		stamp = trace_stamp_at(&current->trace_stamp, i);
		KUNIT_EXPECT_GE(test, stamp, before);
		KUNIT_EXPECT_LE(test, stamp, trace_stamp_now(i));
	}
}

/* Where nothing is shown, no clock is read. */
static void view_test_no_stamp(struct kunit *test)
{
	u64 before[TRACE_STAMP_NR];
	struct cred *cred;
	int i;

	KUNIT_ASSERT_FALSE(test, trace_view_is_used());
	for (i = 0; i < TRACE_STAMP_NR; i++)
		before[i] = trace_stamp_at(&current->trace_stamp, i);
	view_test_later();
	cred = prepare_creds();
	KUNIT_ASSERT_NOT_NULL(test, cred);
	commit_creds(cred);
	for (i = 0; i < TRACE_STAMP_NR; i++)
		KUNIT_EXPECT_EQ(test, trace_stamp_at(&current->trace_stamp, i), before[i]);
	static_branch_inc(&trace_view_used);
	cred = prepare_creds();
	KUNIT_EXPECT_NOT_NULL(test, cred);
	if (cred)
		commit_creds(cred);
	static_branch_dec(&trace_view_used);
	for (i = 0; i < TRACE_STAMP_NR; i++)
		KUNIT_EXPECT_GT(test, trace_stamp_at(&current->trace_stamp, i), before[i]);
}

/* Expect the records of a page by the format of trace_pipe_raw: 4 bytes each, 1 ns between them. */
static void view_test_page(struct kunit *test, const struct rb_data_page *page, const char *data,
			   unsigned int nr)
{
	const void *at = page->data;
	u64 time = page->time_stamp, want = time;
	struct ring_buffer_event *event;

	for (; nr--; data += 4) {
		event = (struct ring_buffer_event *)at;
		if (event->type_len == RINGBUF_TYPE_TIME_EXTEND) {
			time += event->time_delta + ((u64)event->array[0] << 27);
			at += RB_STAMP_LEN;
			event = (struct ring_buffer_event *)at;
			KUNIT_EXPECT_EQ(test, (u32)event->time_delta, 0);
		}
		time += event->time_delta;
		/* The last one of all is late. */
		want = data[0] == 'Z' ? VIEW_TEST_LATE : want;
		KUNIT_EXPECT_EQ(test, time, want++);
		KUNIT_EXPECT_GE(test, ring_buffer_event_length(event), 4);
		KUNIT_EXPECT_EQ(test, memcmp(ring_buffer_event_data(event), data, 4), 0);
		at += rb_record_len(4);
	}
	KUNIT_EXPECT_EQ(test, at - (void *)page->data,
			local_read(&page->commit) & ~RB_MISSED_EVENTS);
}

/* A page begins where records are missing. */
static void view_test_pages(struct kunit *test)
{
	static const char data[] = "a123b123c123d123e123f123g123h123i123Z123";
	struct trace_dat_record record[10];
	struct trace_dat_copy dat = {
		.record = record, .nr = 10, .data = data, .len = 40, .lost = true,
	};
	const struct rb_data_page *page;
	int i;

	for (i = 0; i < 10; i++)
		record[i] = (struct trace_dat_record){
			.ts = i == 9 ? VIEW_TEST_LATE : 1000 + i, .off = 4 * i, .len = 4,
			.lost = i == 4,
		};
	for (i = 0; i < 2; i++) {
		dat.lost = i;
		KUNIT_ASSERT_EQ(test, trace_dat_make_pages(&dat), 0);
		KUNIT_ASSERT_EQ(test, dat.pages.len, 2 * PAGE_SIZE);
		page = dat.pages.data;
		KUNIT_EXPECT_EQ(test, page->time_stamp, 1000);
		KUNIT_EXPECT_EQ(test, local_read(&page->commit),
				4 * rb_record_len(4) | (i ? RB_MISSED_EVENTS : 0));
		view_test_page(test, page, data, 4);
		page = dat.pages.data + PAGE_SIZE;
		KUNIT_EXPECT_EQ(test, page->time_stamp, 1004);
		KUNIT_EXPECT_EQ(test, local_read(&page->commit),
				(6 * rb_record_len(4) + RB_STAMP_LEN) | RB_MISSED_EVENTS);
		view_test_page(test, page, data + 16, 6);
		trace_dat_copy_free(&dat);
	}
}

/*
 * The longest record tells the size of a page. Of pages that losses begin, as many are made as the
 * limit allows: those of the newer half of the records, or of the newer half of these.
 */
static void view_test_page_size(struct kunit *test)
{
	const unsigned int limit = SZ_8M / PAGE_SIZE / 2;
	const unsigned int nr[] = { 2, limit, limit + 2, 2 * limit + 4 };
	struct trace_dat_copy dat = { .len = 2 * PAGE_SIZE - 200 };
	const struct rb_data_page *page;
	struct trace_dat_record *record;
	unsigned int i, first;

	record = kunit_kcalloc(test, nr[3], sizeof(*record), GFP_KERNEL);
	dat.data = kunit_kzalloc(test, dat.len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, record);
	KUNIT_ASSERT_NOT_NULL(test, dat.data);
	for (i = 0; i < nr[3]; i++)
		record[i] = (struct trace_dat_record){ .ts = i, .len = 4, .lost = true };
	for (i = 0; i < ARRAY_SIZE(nr); i++) {
		for (first = 0; nr[i] - first > limit; )
			first += (nr[i] - first) / 2;
		/* It shares a page with the one before it, if that is not left out. */
		record[first].lost = false;
		record[nr[i] - 1].len = dat.len;
		dat.record = record;
		dat.nr = nr[i];
		dat.lost = false;
		KUNIT_ASSERT_EQ(test, trace_dat_make_pages(&dat), 0);
		KUNIT_EXPECT_PTR_EQ(test, dat.record, record + first);
		KUNIT_EXPECT_EQ(test, dat.nr, nr[i] - first);
		KUNIT_EXPECT_EQ(test, dat.lost, i >= 2);
		KUNIT_EXPECT_EQ(test, dat.page_size, 2 * PAGE_SIZE);
		KUNIT_EXPECT_EQ(test, dat.pages.len, 2 * PAGE_SIZE * dat.nr);
		page = dat.pages.data;
		KUNIT_EXPECT_EQ(test, page->time_stamp, first);
		KUNIT_EXPECT_EQ(test, !!(local_read(&page->commit) & RB_MISSED_EVENTS), i >= 2);
		trace_dat_copy_free(&dat);
		record[first].lost = true;
	}
}

/* An instance of the tests, and a channel of it */
static struct trace_array *view_test_tr[2];

/* The task of the test; a hook runs in a worker */
static struct task_struct *view_test_task;

struct view_test_entry {
	struct trace_entry	ent;
	u32			num;
};

static void view_test_write(struct trace_array *tr, u32 num)
{
	struct view_test_entry entry = { .ent.pid = view_test_task->pid, .num = num };

	ring_buffer_write(tr->array_buffer.buffer, sizeof(entry), &entry);
}

static int view_test_take(struct view_copy *copy, struct view_thread *thread)
{
	struct trace_iterator *iter = copy->iter;
	const struct trace_dat_record rec = {
		.ts = iter->ts, .cpu = iter->cpu, .len = iter->ent_size, .lost = iter->lost_events,
		.member = copy->source, .owner = thread - copy->group.thread,
	};

	/* This one has no format. */
	if (((struct view_test_entry *)iter->ent)->num == U32_MAX)
		return -ENOENT;
	return view_store_add(&copy->store, &rec, iter->ent);
}

static u32 view_test_num(const struct view_copy *copy, unsigned int i)
{
	return ((struct view_test_entry *)(copy->store.data + copy->store.entry[i].off))->num;
}

static int view_test_end(struct view_copy *copy)
{
	view_group_settle(&copy->group, copy->store.entry, copy->store.nr);
	return 0;
}

static void view_test_prepare(struct kunit *test, struct view_copy *copy)
{
	copy->view = view_test_tr[0]->view;
	copy->store.limit = copy->store.limit ?: VIEW_LIMIT;
	copy->take = copy->take ?: view_test_take;
	copy->finish = copy->finish ?: view_test_end;
	copy->iter = kunit_kzalloc(test, sizeof(*copy->iter), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, copy->iter);
	copy->iter->buffer_iter = kunit_kcalloc(test, nr_cpu_ids, sizeof(*copy->iter->buffer_iter),
						GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, copy->iter->buffer_iter);
}

static void view_test_collect(struct kunit *test, struct view_copy *copy)
{
	view_test_prepare(test, copy);
	KUNIT_ASSERT_EQ(test, view_collect(copy, task_pid(current), &init_pid_ns), 0);
}

static void view_test_release(struct view_copy *copy)
{
	view_group_put(&copy->group);
	view_store_free(&copy->store);
}

/* How often a view is still to change, which one, and how many records were looked at */
static unsigned int view_test_changes, view_test_points;
static struct trace_view *view_test_changed;

static void view_test_count(struct trace_array *tr)
{
	view_test_points++;
}

/* Collect, with a hook that runs before each record is copied. */
static void view_test_race(struct kunit *test, struct view_copy *copy,
			   void (*hook)(struct trace_array *tr))
{
	view_test_points = 0;
	view_race_hook = hook;
	view_test_collect(test, copy);
	view_race_hook = NULL;
}

/* The records of a session are its own, and those of its channels, by time. */
static void view_test_members(struct kunit *test)
{
	struct view_copy copy = {};
	u32 i;

	for (i = 0; i < 20; i++) {
		view_test_write(view_test_tr[i % 3 == 0], i);
		view_test_later();
	}
	view_test_collect(test, &copy);
	KUNIT_EXPECT_EQ(test, copy.store.nr, 20);
	for (i = 0; i < copy.store.nr; i++)
		KUNIT_EXPECT_EQ(test, view_test_num(&copy, i), i);
	KUNIT_EXPECT_EQ(test, copy.store.dropped, 0);
	KUNIT_EXPECT_EQ(test, copy.gaps, 0);
	view_test_release(&copy);
}

/* A copy begins again as often as it needs more room, and the records are there once. */
static void view_test_room(struct kunit *test)
{
	struct view_copy copy = {};
	u32 i;

	for (i = 0; i < 3000; i++)
		view_test_write(view_test_tr[0], i);
	view_test_race(test, &copy, view_test_count);
	KUNIT_ASSERT_EQ(test, copy.store.nr, 3000);
	for (i = 0; i < copy.store.nr; i++)
		KUNIT_EXPECT_EQ(test, view_test_num(&copy, i), i);
	KUNIT_EXPECT_EQ(test, copy.store.dropped, 0);
	/* One try with room for 1024 */
	KUNIT_EXPECT_EQ(test, view_test_points, 1025 + 3000);
	view_test_release(&copy);
}

/* A record that cannot be shown is counted, and told in front of the next one. */
static void view_test_unknown(struct kunit *test)
{
	struct view_copy copy = {};
	unsigned int i;

	for (i = 0; i < 10; i++)
		view_test_write(view_test_tr[0], i == 5 ? U32_MAX : i);
	view_test_collect(test, &copy);
	KUNIT_EXPECT_EQ(test, copy.store.nr, 9);
	KUNIT_EXPECT_EQ(test, copy.store.dropped, 1);
	for (i = 0; i < copy.store.nr; i++)
		KUNIT_EXPECT_EQ(test, !!copy.store.entry[i].lost, view_test_num(&copy, i) == 6);
	view_test_release(&copy);
}

/* Overwrite all that was there, once. */
static void view_test_overwrite(struct trace_array *tr)
{
	int i;

	view_race_hook = NULL;
	view_test_later();
	for (i = 0; i < 20000; i++)
		view_test_write(tr, 1000000 + i);
}

/* Records that are overwritten before they are copied: a gap is counted, also at the end. */
static void view_test_gap(struct kunit *test)
{
	struct view_copy copy = {};
	u32 i;

	for (i = 0; i < 2000; i++)
		view_test_write(view_test_tr[0], i);
	view_test_race(test, &copy, view_test_overwrite);
	KUNIT_EXPECT_EQ(test, copy.gaps, 1);
	KUNIT_EXPECT_GT(test, copy.store.nr, 0);
	KUNIT_EXPECT_LT(test, copy.store.nr, 2000);
	for (i = 0; i < copy.store.nr; i++)
		KUNIT_EXPECT_EQ(test, view_test_num(&copy, i), i);
	view_test_release(&copy);
}

/* A copy without records, to which view_text_take() adds @entry of the first CPU of a channel */
static void view_test_begin_text(struct kunit *test, struct view_copy *copy,
				 struct trace_entry *entry, unsigned int size)
{
	*copy = (struct view_copy){ .take = view_text_take, .finish = view_text_finish };
	view_test_collect(test, copy);
	KUNIT_ASSERT_EQ(test, copy->store.used, 0);
	view_members_put(copy);
	KUNIT_ASSERT_GE(test, view_members_get(copy), 0);
	KUNIT_ASSERT_EQ(test, copy->nr, 2);
	copy->source = 1;
	copy->cpu = 0;
	copy->iter->tr = view_test_tr[1];
	copy->iter->array_buffer = &view_test_tr[1]->array_buffer;
	copy->iter->channel = view_channel(copy, 1);
	copy->iter->ent = entry;
	copy->iter->ent_size = size;
}

static void view_test_take_text(struct kunit *test, struct view_copy *copy, bool lost, u64 ts)
{
	copy->iter->lost_events = lost;
	copy->iter->ts = ts;
	trace_event_read_lock();
	KUNIT_EXPECT_EQ(test, view_text_take(copy, copy->group.thread), 0);
	trace_event_read_unlock();
}

/* Settle the text. Return: it, with a 0 behind it. */
static const char *view_test_end_text(struct kunit *test, struct view_copy *copy)
{
	char *text;

	KUNIT_ASSERT_EQ(test, view_store_settle(&copy->store), 0);
	KUNIT_ASSERT_EQ(test, view_text_finish(copy), 0);
	text = tfs_zalloc(test, copy->store.used + 1);
	memcpy(text, copy->store.data, copy->store.used);
	KUNIT_EXPECT_EQ(test, strlen(text), copy->store.used);
	view_members_put(copy);
	view_test_release(copy);
	return text;
}

#define VIEW_TEST_LOST	"kunit_channel: CPU:0 [LOST EVENTS]\n"

/* The text says so in front of the next record, with the name of its channel. */
static void view_test_gap_text(struct kunit *test)
{
	struct view_test_entry entry = {};
	struct view_copy copy;
	const char *text;

	view_test_begin_text(test, &copy, &entry.ent, sizeof(entry));
	view_test_take_text(test, &copy, true, 1);
	view_test_take_text(test, &copy, false, 2);
	text = view_test_end_text(test, &copy);
	KUNIT_EXPECT_TRUE_MSG(test, strstarts(text, VIEW_TEST_LOST "kunit_channel: "), "%s", text);
	KUNIT_EXPECT_EQ(test, tfs_count(text, "[LOST EVENTS]"), 1U);
	KUNIT_EXPECT_EQ(test, tfs_count(text, "Unknown type 0\n"), 2U);
	KUNIT_EXPECT_EQ(test, text[strlen(text) - 1], '\n');
}

/* The same where the oldest ones were dropped, once, also if writers have overwritten others. */
static void view_test_dropped_text(struct kunit *test)
{
	struct view_test_entry entry = {};
	struct view_copy copy;
	const char *text;
	u64 gap, ts;

	for (gap = 0; gap <= 10; gap++) {
		view_test_begin_text(test, &copy, &entry.ent, sizeof(entry));
		copy.store.limit = 300;
		for (ts = 1; ts <= 10; ts++)
			view_test_take_text(test, &copy, ts == gap, ts);
		text = view_test_end_text(test, &copy);
		KUNIT_EXPECT_TRUE_MSG(test, strstarts(text, VIEW_TEST_LOST "kunit_channel:  "),
				      "%llu: %s", gap, text);
		KUNIT_EXPECT_GT(test, tfs_count(text, "Unknown type 0\n"), 1U);
		KUNIT_EXPECT_LT(test, tfs_count(text, "Unknown type 0\n"), 10U);
		KUNIT_EXPECT_LE(test, tfs_count(text, "[LOST EVENTS]"), 2U);
		/* In front of each record stands one line at most. */
		KUNIT_EXPECT_EQ(test, tfs_count(text, VIEW_TEST_LOST VIEW_TEST_LOST), 0U);
	}
}

/* Of too many, each member says so on its own. */
static void view_test_dropped_members(struct kunit *test)
{
	struct view_copy copy = {
		.take = view_text_take, .finish = view_text_finish, .store.limit = 500,
	};
	char *text;
	u32 i;

	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	for (i = 0; i < 40; i++) {
		view_test_write(view_test_tr[i & 1], i);
		view_test_later();
	}
	view_test_collect(test, &copy);
	KUNIT_EXPECT_GT(test, copy.store.dropped, 20UL);
	text = tfs_zalloc(test, copy.store.used + 1);
	memcpy(text, copy.store.data, copy.store.used);
	KUNIT_EXPECT_EQ(test, tfs_count(text, "[LOST EVENTS]\n"), 2U);
	KUNIT_EXPECT_EQ(test, tfs_count(text, VIEW_TEST_LOST "kunit_channel:  "), 1U);
	KUNIT_EXPECT_EQ(test, tfs_count(text, "Unknown type 0\n"), copy.store.nr);
	view_test_release(&copy);
}

/* A stack that has no room: the first functions, whole, and a word that others are missing. */
static void view_test_long_text(struct kunit *test)
{
	static const char end[] = "[LINE TOO BIG]\n";
	const unsigned int nr = 2000;
	struct stack_entry *entry = tfs_zalloc(test, struct_size(entry, caller, nr));
	struct view_copy copy;
	const char *text;
	unsigned int i;

	entry->ent.type = TRACE_STACK;
	entry->size = nr;
	for (i = 0; i < nr; i++)
		entry->caller[i] = (unsigned long)trace_array_get_by_name;
	view_test_begin_text(test, &copy, &entry->ent, struct_size(entry, caller, nr));
	view_test_take_text(test, &copy, false, 1);
	text = view_test_end_text(test, &copy);
	KUNIT_EXPECT_EQ(test, tfs_count(text, "<stack trace>\n"), 1U);
	KUNIT_EXPECT_GT(test, tfs_count(text, " => "), 100U);
	KUNIT_EXPECT_LT(test, tfs_count(text, " => "), nr);
	KUNIT_EXPECT_EQ(test, tfs_count(text, end), 1U);
	KUNIT_EXPECT_STREQ(test, text + strlen(text) - strlen(end), end);
}

/* A print function that goes beyond the end by itself leaves nothing of use. */
static enum print_line_t view_test_print_beyond(struct trace_iterator *iter, int flags,
						struct trace_event *event)
{
	seq_buf_printf(&iter->seq.seq, "%*s", TRACE_SEQ_SIZE, "beyond");
	return TRACE_TYPE_PARTIAL_LINE;
}

/* One that ends where the room ends: there is no place for the word yet. */
static enum print_line_t view_test_print_full(struct trace_iterator *iter, int flags,
					      struct trace_event *event)
{
	trace_seq_puts(&iter->seq, "begin");
	while (!trace_seq_has_overflowed(&iter->seq))
		trace_seq_putc(&iter->seq, 'x');
	return TRACE_TYPE_PARTIAL_LINE;
}

static void view_test_too_big(struct kunit *test)
{
	static struct trace_event_functions funcs[] = {
		{ .trace = view_test_print_beyond }, { .trace = view_test_print_full },
	};
	static struct trace_event event;
	struct trace_entry entry = {};
	struct view_copy copy;
	const char *text;
	int i;

	for (i = 0; i < 2; i++) {
		event = (struct trace_event){ .funcs = &funcs[i] };
		entry.type = register_trace_event(&event);
		KUNIT_ASSERT_NE(test, (int)entry.type, 0);
		view_test_begin_text(test, &copy, &entry, sizeof(entry));
		view_test_take_text(test, &copy, false, 1);
		unregister_trace_event(&event);
		text = view_test_end_text(test, &copy);
		KUNIT_EXPECT_TRUE(test, strstarts(text, "kunit_channel:  "));
		KUNIT_EXPECT_EQ(test, tfs_count(text, "[LINE TOO BIG]\n"), 1U);
		KUNIT_EXPECT_EQ(test, tfs_count(text, "beginxxxxx"), i ? 1U : 0U);
		KUNIT_EXPECT_EQ(test, tfs_count(text, "beyond"), 0U);
		KUNIT_EXPECT_EQ(test, text[strlen(text) - 1], '\n');
	}
}

static int view_test_take_cpu(struct view_copy *copy, struct view_thread *thread)
{
	view_test_points += copy->iter->cpu == copy->cpu;
	return view_test_take(copy, thread);
}

static void view_test_write_here(void *num)
{
	view_test_write(view_test_tr[0], *(u32 *)num);
}

/* The one ring of a global buffer is that of the first CPU; a record is printed with its own. */
static void view_test_cpu(struct kunit *test)
{
	struct view_copy copy = { .take = view_test_take_cpu };
	struct trace_array *tr = view_test_tr[0];
	unsigned int i;
	u32 cpu;
	int ret;

	tr->flags &= ~TRACE_ARRAY_FL_EXPANDED;
	scoped_guard(mutex, &event_mutex) {
		guard(mutex)(&trace_types_lock);
		ret = instance_unexpand(tr) ?: trace_array_set_global(tr, true);
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_ASSERT_EQ(test, trace_array_expand(tr), 0);
	for_each_online_cpu(cpu)
		smp_call_function_single(cpu, view_test_write_here, &cpu, 1);
	view_test_points = 0;
	view_test_collect(test, &copy);
	KUNIT_EXPECT_EQ(test, copy.store.nr, num_online_cpus());
	KUNIT_EXPECT_EQ(test, view_test_points, num_online_cpus());
	for (i = 0; i < copy.store.nr; i++)
		KUNIT_EXPECT_EQ(test, (u32)copy.store.entry[i].cpu, view_test_num(&copy, i));
	view_test_release(&copy);
}

/* As if an event were removed, @view_test_changes times. */
static void view_test_change(struct trace_array *tr)
{
	view_test_points++;
	if (!view_test_changes)
		return;
	view_test_changes--;
	atomic_inc(&view_test_changed->epoch);
}

static int view_test_finish(struct view_copy *copy)
{
	return view_members_are_same(copy) ? 0 : -EAGAIN;
}

/* An instance that changes meanwhile is copied again, but not for ever. */
static void view_test_again(struct kunit *test)
{
	struct view_copy copy = { .finish = view_test_finish };

	view_test_write(view_test_tr[0], 1);
	view_test_changes = 5;
	view_test_changed = view_test_tr[0]->view;
	view_test_race(test, &copy, view_test_change);
	KUNIT_EXPECT_EQ(test, view_test_changes, 0);
	KUNIT_EXPECT_EQ(test, copy.store.nr, 1);
	view_test_release(&copy);
	view_test_changes = 1000;
	view_race_hook = view_test_change;
	KUNIT_EXPECT_EQ(test, view_collect(&copy, task_pid(current), &init_pid_ns), -EAGAIN);
	view_race_hook = NULL;
}

/* A channel without records changes before it is entered: all are copied again. */
static void view_test_again_channel(struct kunit *test)
{
	struct view_copy copy = {};

	view_test_write(view_test_tr[0], 1);
	view_test_changes = 1;
	view_test_changed = view_test_tr[1]->view;
	view_test_race(test, &copy, view_test_change);
	KUNIT_EXPECT_EQ(test, view_test_points, 2);
	KUNIT_EXPECT_EQ(test, copy.store.nr, 1);
	view_test_release(&copy);
}

/* A snapshot of the session, and then a record in each member */
static void view_test_cut(struct trace_array *tr)
{
	int i;

	view_race_hook = NULL;
	tracing_snapshot_instance(view_test_tr[0]);
	view_test_later();
	for (i = 0; i < 2; i++)
		view_test_write(view_test_tr[i], 2);
}

/*
 * A snapshot takes records away that are copied, and others that are not yet: neither are shown,
 * only what is newer.
 */
static void view_test_again_cut(struct kunit *test)
{
	struct view_copy copy = {};
	int i;

	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(view_test_tr[0]), 0);
	for (i = 0; i < 2; i++)
		view_test_write(view_test_tr[i], 1);
	view_test_race(test, &copy, view_test_cut);
	KUNIT_ASSERT_EQ(test, copy.store.nr, 2);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, view_test_num(&copy, i), 2);
	KUNIT_EXPECT_EQ(test, copy.gaps, 0);
	view_test_release(&copy);
}

/* An event is removed, and then the clock has no times of tasks. */
static void view_test_lose_clock(struct trace_array *tr)
{
	for (tr->clock_id = 0; trace_stamp_clock(tr) >= 0; tr->clock_id++)
		;
	atomic_inc(&tr->view->epoch);
}

/* A second try that fails at once has no task of the first one. */
static void view_test_fails_again(struct kunit *test)
{
	unsigned int before = refcount_read(&current->usage);
	int clock = view_test_tr[0]->clock_id;
	struct view_copy copy = { .finish = view_test_finish };

	view_test_write(view_test_tr[0], 1);
	view_test_collect(test, &copy);
	view_test_release(&copy);
	view_race_hook = view_test_lose_clock;
	KUNIT_EXPECT_EQ(test, view_collect(&copy, task_pid(current), &init_pid_ns), -EOPNOTSUPP);
	view_race_hook = NULL;
	KUNIT_EXPECT_EQ(test, refcount_read(&current->usage), before);
	view_test_tr[0]->clock_id = clock;
}

/* The number of the event may be used again: no record is taken behind a removal. */
static void view_test_removed(struct kunit *test)
{
	struct view_copy copy = {};
	u32 i;

	for (i = 0; i < 10; i++)
		view_test_write(view_test_tr[0], i);
	view_test_changes = 1;
	view_test_changed = view_test_tr[0]->view;
	view_test_race(test, &copy, view_test_change);
	/* The second one is refused, then all are copied. */
	KUNIT_EXPECT_EQ(test, view_test_points, 2 + 10);
	KUNIT_EXPECT_EQ(test, copy.store.nr, 10);
	view_test_release(&copy);
}

/* The job that has begun last */
static struct trace_job *view_test_job;

static void view_test_keep_job(struct trace_job *job)
{
	view_test_job = job;
}

static void view_test_kill_task(struct task_struct *task)
{
	spin_lock_irq(&task->sighand->siglock);
	sigaddset(&task->pending.signal, SIGKILL);
	signal_wake_up(task, true);
	spin_unlock_irq(&task->sighand->siglock);
}

/* Kill the reader behind the first record, and wait until it has told the worker. */
static void view_test_kill(struct trace_array *tr)
{
	unsigned int tries;

	if (view_test_points++)
		return;
	view_test_kill_task(view_test_task);
	for (tries = 0; tries < 1000 && !trace_job_is_stopped(view_test_job); tries++)
		schedule_timeout_uninterruptible(1);
}

/* A reader that is killed leaves the worker with the next record, and holds nothing. */
static void view_test_killed(struct kunit *test)
{
	unsigned int before = refcount_read(&current->usage);
	struct view_copy copy = {};
	u32 i;

	view_test_collect(test, &copy);
	view_test_release(&copy);
	for (i = 0; i < 10; i++)
		view_test_write(view_test_tr[0], i);
	view_test_points = 0;
	trace_job_hook = view_test_keep_job;
	view_race_hook = view_test_kill;
	KUNIT_EXPECT_EQ(test, view_collect(&copy, task_pid(current), &init_pid_ns), -EINTR);
	flush_signals(current);
	KUNIT_EXPECT_EQ(test, view_collect(&copy, task_pid(current), &init_pid_ns), 0);
	trace_job_hook = NULL;
	view_race_hook = NULL;
	/* The second point is the record that is refused. */
	KUNIT_EXPECT_EQ(test, view_test_points, 2 + 10);
	KUNIT_EXPECT_EQ(test, copy.store.nr, 10);
	view_test_release(&copy);
	KUNIT_EXPECT_EQ(test, refcount_read(&current->usage), before);
}

/* A reader in a thread of its own */
struct view_test_reader {
	struct view_copy	copy;
	struct completion	done;
	int			ret;
};

static int view_test_read_thread(void *data)
{
	struct view_test_reader *reader = data;

	reader->ret = view_collect(&reader->copy, task_pid(view_test_task), &init_pid_ns);
	complete(&reader->done);
	return 0;
}

/* The locks that a worker takes */
enum view_test_lock {
	VIEW_TEST_TYPES, VIEW_TEST_VIEW, VIEW_TEST_EVENTS, VIEW_TEST_LOCKS
};

static void view_test_hold(enum view_test_lock lock)
{
	if (lock == VIEW_TEST_TYPES)
		mutex_lock(&trace_types_lock);
	else
		down_write(lock == VIEW_TEST_VIEW ? &view_test_tr[0]->view->sem : &trace_event_sem);
}

static bool view_test_is_waited_for(enum view_test_lock lock)
{
	if (lock == VIEW_TEST_TYPES)
		return tfs_has_waiter(&trace_types_lock);
	return rwsem_is_contended(lock == VIEW_TEST_VIEW ? &view_test_tr[0]->view->sem :
							   &trace_event_sem);
}

static void view_test_release_lock(enum view_test_lock lock)
{
	if (lock == VIEW_TEST_TYPES)
		mutex_unlock(&trace_types_lock);
	else
		up_write(lock == VIEW_TEST_VIEW ? &view_test_tr[0]->view->sem : &trace_event_sem);
}

/* A reader that is killed also ends if another task holds a lock for which the worker waits. */
static void view_test_killed_waiting(struct kunit *test)
{
	struct view_test_reader *reader = tfs_zalloc(test, sizeof(*reader));
	struct task_struct *task;
	enum view_test_lock lock;
	unsigned long left;

	view_test_write(view_test_tr[0], 1);
	for (lock = 0; lock < VIEW_TEST_LOCKS; lock++) {
		memset(reader, 0, sizeof(*reader));
		init_completion(&reader->done);
		view_test_prepare(test, &reader->copy);
		task = kthread_create(view_test_read_thread, reader, "view_kunit");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		view_test_hold(lock);
		wake_up_process(task);
		tfs_wait(test, view_test_is_waited_for(lock) || completion_done(&reader->done));
		KUNIT_EXPECT_FALSE(test, completion_done(&reader->done));
		if (!completion_done(&reader->done))
			view_test_kill_task(task);
		left = wait_for_completion_timeout(&reader->done, 20 * HZ);
		KUNIT_EXPECT_NE_MSG(test, left, 0UL, "%u", lock);
		view_test_release_lock(lock);
		if (!left)
			wait_for_completion(&reader->done);
		KUNIT_EXPECT_EQ_MSG(test, reader->ret, -EINTR, "%u", lock);
		if (!reader->ret)
			view_test_release(&reader->copy);
	}
}

struct view_test_free {
	struct trace_array	*tr;
	struct completion	done;
	int			ret;
};

static int view_test_free_thread(void *data)
{
	struct view_test_free *call = data;

	scoped_guard(mutex, &event_mutex) {
		guard(mutex)(&trace_types_lock);
		call->ret = instance_unexpand(call->tr);
	}
	complete(&call->done);
	return 0;
}

/* The rings of an instance are not freed while a reader is there. */
static void view_test_free(struct kunit *test)
{
	struct view_test_free call = { .tr = view_test_tr[0] };
	struct trace_view *view = call.tr->view;
	int epoch = atomic_read(&view->epoch), ret;

	/* It was created at the boot. */
	call.tr->flags &= ~TRACE_ARRAY_FL_EXPANDED;
	init_completion(&call.done);
	KUNIT_ASSERT_EQ(test, view_enter(view, epoch), 0);
	KUNIT_EXPECT_FALSE(test, IS_ERR(kthread_run(view_test_free_thread, &call, "view_kunit")));
	while (!rwsem_is_contended(&view->sem) && !completion_done(&call.done))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_FALSE(test, completion_done(&call.done));
	KUNIT_EXPECT_FALSE(test, trace_array_is_unexpanded(call.tr));
	view_leave(view);
	wait_for_completion(&call.done);
	KUNIT_EXPECT_EQ(test, call.ret, 0);
	KUNIT_EXPECT_TRUE(test, trace_array_is_unexpanded(call.tr));
	/* It begins again. */
	ret = view_enter(view, epoch);
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
	if (!ret)
		view_leave(view);
}

static int view_test_init(struct kunit *test)
{
	static const char *const name[] = { "kunit_view", "kunit_channel" };
	struct trace_array *tr;
	int i;

	view_test_task = current;
	for (i = 0; i < 2; i++) {
		tr = trace_array_get_by_name(name[i], "sched");
		KUNIT_ASSERT_NOT_NULL(test, tr);
		view_test_tr[i] = tr;
		KUNIT_ASSERT_EQ(test, trace_array_expand(tr), 0);
		/* "local" is not exact on each machine. */
		KUNIT_ASSERT_EQ(test, tracing_set_clock(tr, "mono"), 0);
		KUNIT_ASSERT_GE(test, ring_buffer_resize(tr->array_buffer.buffer, 100000,
							 RING_BUFFER_ALL_CPUS), 0);
		KUNIT_ASSERT_NOT_NULL(test, tr->view);
	}
	/* Behind the fork of this thread */
	view_test_later();
	return trace_session_join(view_test_tr[0], name[1], NULL);
}

static void view_test_exit(struct kunit *test)
{
	int i;

	view_race_hook = NULL;
	trace_job_hook = NULL;
	if (view_test_tr[0])
		trace_session_leave(view_test_tr[0], "kunit_channel");
	for (i = 0; i < 2; i++) {
		if (!view_test_tr[i])
			continue;
		trace_array_put(view_test_tr[i]);
		KUNIT_EXPECT_EQ(test, trace_array_destroy(view_test_tr[i]), 0);
		view_test_tr[i] = NULL;
	}
}

static struct kunit_case view_test_copy_cases[] = {
	KUNIT_CASE(view_test_members),
	KUNIT_CASE(view_test_room),
	KUNIT_CASE(view_test_unknown),
	KUNIT_CASE(view_test_gap),
	KUNIT_CASE(view_test_gap_text),
	KUNIT_CASE(view_test_dropped_text),
	KUNIT_CASE(view_test_dropped_members),
	KUNIT_CASE(view_test_long_text),
	KUNIT_CASE(view_test_too_big),
	KUNIT_CASE(view_test_cpu),
	KUNIT_CASE(view_test_killed),
	KUNIT_CASE(view_test_killed_waiting),
	KUNIT_CASE(view_test_again),
	KUNIT_CASE(view_test_again_channel),
	KUNIT_CASE(view_test_again_cut),
	KUNIT_CASE(view_test_fails_again),
	KUNIT_CASE(view_test_removed),
	KUNIT_CASE(view_test_free),
	{}
};

static struct kunit_suite view_test_copy_suite = {
	.name = "trace_proc_view_copy",
	.init = view_test_init,
	.exit = view_test_exit,
	.test_cases = view_test_copy_cases,
};

static struct kunit_case view_test_cases[] = {
	KUNIT_CASE(view_test_find),
	KUNIT_CASE(view_test_from),
	KUNIT_CASE(view_test_settle),
	KUNIT_CASE(view_test_limit),
	KUNIT_CASE(view_test_one_time),
	KUNIT_CASE(view_test_lost),
	KUNIT_CASE(view_test_trim),
	KUNIT_CASE(view_test_grow),
	KUNIT_CASE(view_test_pages),
	KUNIT_CASE(view_test_page_size),
	KUNIT_CASE(view_test_stamp),
	KUNIT_CASE(view_test_no_stamp),
	{}
};

static struct kunit_suite view_test_suite = {
	.name = "trace_proc_view",
	.test_cases = view_test_cases,
};

kunit_test_suites(&view_test_suite, &view_test_copy_suite);

MODULE_DESCRIPTION("KUnit tests of /proc/PID/trace");
MODULE_LICENSE("GPL");
