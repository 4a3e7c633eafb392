// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of boot: snapshots that the command line requests, and those of the last boot.
 */
#include <linux/err.h>
#include <linux/init.h>
#include <linux/kmsg_dump.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/trace_clock.h>

#include <asm/setup.h>	/* COMMAND_LINE_SIZE */

#include "../../tests/snapshots.h"

#define BAD_READ	"The snapshot is being read: close it first"
#define BAD_PERSIST	"Add ^snapshot to trace_instance=, to have room for one"
#define BAD_ONE		"Memory that survives a reboot has room for one snapshot"

static void boot_first(struct kunit *test, void *memory)
{
	snap_kunit_boot(test, memory, NULL, true, TRACE_ARRAY_FL_SNAPSHOT);
}

/* Reboot: the memory keeps its contents, or has those of @image if that is not NULL. */
static void boot_again(struct kunit *test, void *memory, const void *image)
{
	void *copy = snap_kunit_range(test);

	memcpy(copy, image ?: memory, SNAP_KUNIT_RANGE);
	snap_kunit_boot(test, memory, copy, true, TRACE_ARRAY_FL_SNAPSHOT);
}

/* The note about a snapshot, with the layout of struct snap_saved in persist.c. */
struct boot_note {
	u32		size;
	u32		state;
	struct snap_info info;
};

static struct boot_note *boot_note(struct kunit *test)
{
	struct boot_note *note;

	KUNIT_ASSERT_NOT_NULL(test, snap_kunit(test)->user.last);
	note = ring_buffer_note(snap_kunit(test)->user.last->buf.buffer);
	KUNIT_ASSERT_NOT_NULL(test, note);
	return note;
}

/* Take a snapshot with the record "one", then write "two" to the live buffer. */
static void boot_take(struct kunit *test)
{
	tfs_set(test, "trace_marker", "one");
	tfs_set(test, "snapshot", "1");
	tfs_set(test, "trace_marker", "two");
}

/* A snapshot and its line survive reboots, until the next snapshot replaces it. */
static void persist_test_reboot(struct kunit *test)
{
	void *memory = snap_kunit_range(test);
	const char *before, *after, *cut, *kb;
	struct trace_snap *snap;
	unsigned int i;

	boot_first(test, memory);
	tfs_expect(test, "snapshot_allocate", "1\n");
	KUNIT_EXPECT_STREQ(test, snap_kunit_line(test), "");
	boot_take(test);
	snap = snap_kunit(test)->user.last;
	snap->info.since = 1000000001;
	boot_note(test)->info.since = 1000000001;
	before = snap_kunit_line(test);
	KUNIT_EXPECT_NULL(test, strstr(before, "boot=last"));
	kb = strstr(before, " kb=");
	KUNIT_ASSERT_NOT_NULL(test, kb);
	for (i = 0; i < 2; i++) {
		boot_again(test, memory, NULL);
		after = snap_kunit_line(test);
		cut = strstr(after, " boot=last cut=");
		KUNIT_ASSERT_NOT_NULL(test, cut);
		KUNIT_EXPECT_EQ(test, strncmp(before, after, cut - after), 0);
		KUNIT_EXPECT_EQ(test, strncmp(before + (cut - after), cut + strlen(" boot=last"),
					      kb - before - (cut - after)), 0);
		tfs_expect_in(test, "snapshot", "one\n");
		tfs_expect_not_in(test, "snapshot", "two\n");
		tfs_expect_in(test, "trace", "two\n");
		tfs_expect_in(test, "snapshots", "# taken: 1\n");
		tfs_expect(test, "snapshot_allocate", "1\n");
		KUNIT_EXPECT_EQ(test, snap_kunit(test)->gen, 2U);
	}
	tfs_set(test, "snapshot", "1");
	tfs_expect_in(test, "snapshot", "two\n");
	snap_kunit_begins(test, "2 by=write ");
	tfs_expect_not_in(test, "snapshots", "boot=last");
}

/* Once a reader came, older records are left out after a reboot, too; before, all are there. */
static void persist_test_span(struct kunit *test)
{
	void *memory = snap_kunit_range(test);
	bool read;

	boot_first(test, memory);
	for (read = true;; read = false) {
		tfs_set(test, "trace_clock", "mono");
		tfs_set(test, "trace_marker", "one");
		tfs_set(test, "snapshot", "1ns");
		if (read)
			tfs_expect_not_in(test, "snapshot", "one\n");
		boot_again(test, memory, NULL);
		/* It does not say that something is left out where all are there. */
		tfs_expect_not_in(test, "snapshots", " from=");
		if (!read)
			break;
		tfs_expect_not_in(test, "snapshot", "one\n");
	}
	tfs_expect_in(test, "snapshot", "one\n");
}

/* A reboot restores no snapshot if none was taken, or if it was erased or freed. */
static void persist_test_none(struct kunit *test)
{
	void *memory = snap_kunit_range(test);
	unsigned int i;

	boot_first(test, memory);
	for (i = 0; i < 3; i++) {
		boot_again(test, memory, NULL);
		KUNIT_EXPECT_STREQ(test, snap_kunit_line(test), "");
		tfs_expect_in(test, "snapshots", "# taken: 0\n");
		tfs_expect(test, "snapshot_allocate", "1\n");
		boot_take(test);
		tfs_expect_in(test, "snapshot", "one\n");
		tfs_set(test, "snapshot", i ? "0" : "2");
		KUNIT_EXPECT_STREQ(test, snap_kunit_line(test), "");
	}
}

/* A cut reads the clock when it begins: boot_clock() copies the memory at that moment. */
static struct trace_array *boot_tr;
static void *boot_image;

static u64 boot_clock(void)
{
	if (boot_tr)
		memcpy(boot_image, (void *)boot_tr->range_addr_start, SNAP_KUNIT_RANGE);
	boot_tr = NULL;
	return trace_clock_local();
}

/* Request a snapshot, and copy the memory to @image when the cut begins. */
static void boot_cut(struct kunit *test, void *image, int ret)
{
	const struct snap_request req = {
		.cpu = RING_BUFFER_ALL_CPUS, .by = SNAP_BY_KERNEL, .waits = true,
	};
	struct trace_array *tr = test->priv;

	boot_image = image;
	ring_buffer_set_clock(tr->array_buffer.buffer, boot_clock);
	boot_tr = tr;
	KUNIT_EXPECT_EQ(test, snap_take(tr->snapshots, &tr->snapshots->user, &req), ret);
	KUNIT_EXPECT_NULL(test, boot_tr);
	ring_buffer_set_clock(tr->array_buffer.buffer, trace_clock_local);
}

/*
 * A failed cut keeps the previous snapshot; its buffer still has an uncommitted record.
 * After a crash within a cut, its line is unknown.
 */
static void persist_test_failed(struct kunit *test)
{
	void *memory = snap_kunit_range(test), *image = snap_kunit_range(test);

	boot_first(test, memory);
	tfs_set(test, "trace_marker", "one");
	snap_kunit_die(test, test->priv);
	tfs_set(test, "snapshot", "1");
	boot_cut(test, image, -EBUSY);
	boot_again(test, memory, NULL);
	snap_kunit_begins(test, "1 by=write ");
	tfs_expect_in(test, "snapshot", "one\n");
	boot_again(test, memory, image);
	snap_kunit_begins(test, "1 by=unknown cpu=0 pid=0 boot=last ");
	tfs_expect_in(test, "snapshots", " cut=0.000000000..");

	/* The same without a previous snapshot. */
	tfs_set(test, "snapshot", "2");
	snap_kunit_die(test, test->priv);
	tfs_set(test, "snapshot", "1");
	tfs_set(test, "snapshot", "2");
	boot_cut(test, image, -EBUSY);
	boot_again(test, memory, NULL);
	KUNIT_EXPECT_STREQ(test, snap_kunit_line(test), "");
}

static void boot_change_state(struct boot_note *note) { note->state = 77; }
static void boot_change_size(struct boot_note *note) { note->size--; }
static void boot_change_by(struct boot_note *note) { note->info.by = SNAP_BY_UNKNOWN + 1; }
static void boot_change_minus(struct boot_note *note) { note->info.by = -1; }
static void boot_change_unknown(struct boot_note *note) { note->info.by = SNAP_BY_UNKNOWN; }
static void boot_change_nmi(struct boot_note *note) { *(u8 *)&note->info.nmi = 2; }

static void boot_change_names(struct boot_note *note)
{
	strscpy(note->info.comm, "ab\001cd", sizeof(note->info.comm));
	strscpy(note->info.event, "ef\ngh", sizeof(note->info.event));
}

static void boot_change_ends(struct boot_note *note)
{
	memset(note->info.comm, 'c', sizeof(note->info.comm));
	memset(note->info.event, 'e', sizeof(note->info.event));
	memset(note->info.filter, 'f', sizeof(note->info.filter));
}

static const struct boot_change {
	const char	*name;
	void		(*change)(struct boot_note *note);
	const char	*shows, *comm;
} boot_changes[] = {
	{ "a state that is none", boot_change_state, "1 by=unknown cpu=0 pid=0 ", "" },
	{ "another size", boot_change_size, "1 by=unknown cpu=0 pid=0 ", "" },
	{ "a reason that is none", boot_change_by, "1 by=unknown cpu=0 pid=0 ", "" },
	{ "a negative reason", boot_change_minus, "1 by=unknown cpu=0 pid=0 ", "" },
	{ "an unknown reason", boot_change_unknown, "1 by=unknown cpu=0 pid=7 ", "x" },
	{ "no boolean", boot_change_nmi, "1 by=write,nmi cpu=0 pid=7 ", "x" },
	{ "names that can't be printed", boot_change_names, "1 by=write:ef cpu=0 pid=7 ", "ab" },
	{ "names without an end", boot_change_ends, "1 by=write:eeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
	  "ccccccccccccccc" },
};

KUNIT_ARRAY_PARAM_DESC(boot_change, boot_changes, name);

/* The kernel replaces each invalid member of the note, and still shows the records. */
static void persist_test_damage(struct kunit *test)
{
	const struct boot_change *c = test->param_value;
	void *memory = snap_kunit_range(test);
	const struct snap_info *info;
	struct boot_note *note;
	const char *line;

	boot_first(test, memory);
	boot_take(test);
	note = boot_note(test);
	note->info.pid = 7;
	strscpy(note->info.comm, "x", sizeof(note->info.comm));
	c->change(note);
	boot_again(test, memory, NULL);
	line = snap_kunit_line(test);
	KUNIT_EXPECT_TRUE_MSG(test, strstarts(line, c->shows), "%s", line);
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(line, tfs_text(test, " comm=%s\n", c->comm)), "%s",
				  line);
	info = &snap_kunit(test)->user.last->info;
	KUNIT_EXPECT_LT(test, strlen(info->event), (size_t)MAX_EVENT_NAME_LEN);
	KUNIT_EXPECT_LT(test, strnlen(info->filter, sizeof(info->filter)), sizeof(info->filter));
	tfs_expect_in(test, "snapshot", "one\n");
}

/* The list shows addresses as of this boot. Each buffer has the deltas of its own records. */
static void persist_test_moved(struct kunit *test)
{
	void *memory = snap_kunit_range(test);
	struct trace_array *tr = test->priv;
	struct array_buffer *live = &tr->array_buffer;
	struct trace_snap *snap;

	boot_first(test, memory);
	boot_take(test);
	boot_note(test)->info.ip = (unsigned long)boot_take - 4096;
	snap_kunit_move(memory, 4096);
	boot_again(test, memory, NULL);
	tfs_expect_in(test, "snapshots", "1 by=write:boot_take ");
	snap = tr->snapshots->user.last;
	KUNIT_EXPECT_EQ(test, snap->buf.text_delta, 4096L);
	KUNIT_ASSERT_EQ(test, live->text_delta, 4096L);
	live->data_delta = 8192;

	/* A cut of one CPU copies the deltas: other CPUs may have records of the last boot. */
	tfs_set(test, "per_cpu/cpu0/snapshot", "1");
	tfs_expect_in(test, "snapshot", "two\n");
	KUNIT_EXPECT_EQ(test, live->text_delta, 4096L);
	KUNIT_EXPECT_EQ(test, live->data_delta, 8192L);
	snap = tr->snapshots->user.last;
	KUNIT_EXPECT_EQ(test, snap->buf.text_delta, 4096L);
	KUNIT_EXPECT_EQ(test, snap->buf.data_delta, 8192L);
	snap->buf.text_delta = 1;
	snap->buf.data_delta = 1;
	tfs_set(test, "snapshot", "1");
	snap = tr->snapshots->user.last;
	KUNIT_EXPECT_EQ(test, snap->buf.text_delta, 4096L);
	KUNIT_EXPECT_EQ(test, snap->buf.data_delta, 8192L);
	KUNIT_EXPECT_EQ(test, live->text_delta, 0L);
	KUNIT_EXPECT_EQ(test, live->data_delta, 0L);
	boot_note(test)->info.ip = 0;
	boot_again(test, memory, NULL);
	tfs_expect_in(test, "snapshots", "1 by=write cpu=0 ");
}

/* There is only one buffer. While a reader holds it, only a panic takes a snapshot. */
static void persist_test_reader(struct kunit *test)
{
	void *memory = snap_kunit_range(test);
	struct trace_snapshots *s;
	struct file *file;

	boot_first(test, memory);
	s = snap_kunit(test);
	boot_take(test);
	tfs_fails(test, "snapshot_keep", "2", -EINVAL, BAD_ONE);
	tfs_set(test, "snapshot_keep", "0");

	file = tfs_open(test, "snapshot", O_RDONLY);
	tfs_fails(test, "snapshot", "1", -EBUSY, BAD_READ);
	tfs_set(test, "snapshot_allocate", "1");
	tfs_set(test, "snapshot", "2");
	tfs_fails(test, "snapshot", "1", -EBUSY, BAD_READ);
	tfs_fails(test, "snapshot_allocate", "1", -EBUSY, BAD_READ);
	tfs_expect(test, "snapshot_allocate", "0\n");
	tfs_close(file);
	tfs_expect(test, "snapshot_allocate", "1\n");

	tfs_set(test, "snapshot", "1");
	file = tfs_open(test, "snapshot", O_RDONLY);
	xchg(&snap_crash_on, BIT(SNAP_BY_PANIC) | BIT(SNAP_BY_OOPS));
	trace_snapshot_crash(SNAP_BY_OOPS);
	KUNIT_EXPECT_EQ(test, s->user.seq, 2ULL);
	trace_snapshot_crash(SNAP_BY_PANIC);
	KUNIT_EXPECT_EQ(test, s->user.seq, 3ULL);
	xchg(&snap_crash_on, 0);
	tfs_close(file);
}

/* Without room for a snapshot, a write fails with -EINVAL, and error_log gives the reason. */
static void persist_test_no_room(struct kunit *test)
{
	void *memory = snap_kunit_range(test);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		snap_kunit_boot(test, memory, NULL, false, i ? TRACE_ARRAY_FL_SNAPSHOT : 0);
		tfs_expect(test, "snapshot_allocate", "0\n");
		tfs_fails(test, "snapshot_keep", "1", -EINVAL, BAD_ONE);
		tfs_set(test, "trace_marker", "one");
		tfs_expect_in(test, "trace", "one\n");
		if (i)
			continue;
		tfs_fails(test, "snapshot", "1", -EINVAL, BAD_PERSIST);
		tfs_fails(test, "per_cpu/cpu0/snapshot", "1", -EINVAL, BAD_PERSIST);
		tfs_fails(test, "snapshot_allocate", "1", -EINVAL, BAD_PERSIST);
	}
}

/* After a crash within a cut, records of a snapshot that was erased before do not come back. */
static void persist_test_erased(struct kunit *test)
{
	void *memory = snap_kunit_range(test), *image = snap_kunit_range(test);

	boot_first(test, memory);
	boot_take(test);
	tfs_set(test, "snapshot", "2");
	boot_cut(test, image, 0);
	boot_again(test, memory, image);
	snap_kunit_begins(test, "1 by=unknown ");
	tfs_expect_not_in(test, "snapshot", "one\n");
	tfs_expect_in(test, "trace", "two\n");
}

static struct kunit_case persist_cases[] = {
	KUNIT_CASE(persist_test_reboot),
	KUNIT_CASE(persist_test_span),
	KUNIT_CASE(persist_test_none),
	KUNIT_CASE(persist_test_failed),
	KUNIT_CASE(persist_test_erased),
	KUNIT_CASE_PARAM(persist_test_damage, boot_change_gen_params),
	KUNIT_CASE(persist_test_moved),
	KUNIT_CASE(persist_test_reader),
	KUNIT_CASE(persist_test_no_room),
	{ }
};

static struct kunit_suite persist_suite = {
	.name = "trace_snapshot_persist",
	.init = tfs_init,
	.exit = tfs_exit,
	.test_cases = persist_cases,
};

kunit_test_suites(&persist_suite);

/* Does alloc_snapshot request memory for an instance @name? NULL is the top trace array. */
static bool __init boot_asks(struct kunit *test, struct trace_array *tr, const char *name)
{
	bool asks;

	trace_snapshot_boot(tr, name);
	mutex_lock(&tr->snapshots->mutex);
	asks = snap_is_ready(tr->snapshots, &tr->snapshots->user);
	KUNIT_EXPECT_EQ(test, tr->snapshots->pinned, asks);
	snap_free_slot(tr->snapshots, &tr->snapshots->user, true);
	tr->snapshots->pinned = false;
	mutex_unlock(&tr->snapshots->mutex);
	return asks;
}

/* alloc_snapshot takes several names, until COMMAND_LINE_SIZE bytes are used up. */
static void __init boot_test_names(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	size_t room = COMMAND_LINE_SIZE - 1 - strlen(",kunit-boot,xkunit,kunitx,,kunit,aa,b,");
	char *all = tfs_zalloc(test, COMMAND_LINE_SIZE);

	tfs_option(test, "alloc_snapshot", "=xkunit,kunitx,");
	KUNIT_EXPECT_FALSE(test, boot_asks(test, tr, "kunit"));
	KUNIT_EXPECT_FALSE(test, boot_asks(test, tr, ""));
	tfs_option(test, "alloc_snapshot", "=kunit,aa,b");
	KUNIT_EXPECT_TRUE(test, boot_asks(test, tr, "kunit"));
	KUNIT_EXPECT_TRUE(test, boot_asks(test, tr, "xkunit"));
	KUNIT_EXPECT_TRUE(test, boot_asks(test, tr, "aa"));
	KUNIT_EXPECT_TRUE(test, boot_asks(test, tr, "b"));
	KUNIT_EXPECT_FALSE(test, boot_asks(test, tr, "a"));
	KUNIT_EXPECT_FALSE(test, boot_asks(test, tr, "="));

	/* One character too many, then the longest name that fits with its comma. */
	all[0] = '=';
	memset(all + 1, 'z', room);
	tfs_option(test, "alloc_snapshot", all);
	KUNIT_EXPECT_FALSE(test, boot_asks(test, tr, all + 1));
	all[room] = '\0';
	tfs_option(test, "alloc_snapshot", all);
	KUNIT_EXPECT_TRUE(test, boot_asks(test, tr, all + 1));
}

/* alloc_snapshot without a name requests memory for the top trace array. */
static void __init boot_test_top(struct kunit *test)
{
	struct trace_array *top = top_trace_array();

	KUNIT_ASSERT_NOT_NULL(test, top);
	KUNIT_EXPECT_FALSE(test, boot_asks(test, top, NULL));
	tfs_option(test, "alloc_snapshot", "");
	KUNIT_EXPECT_TRUE(test, boot_asks(test, top, NULL));
	tfs_expect_not_in(test, "/buffer_size_kb", "expanded");
}

/* Each trace array with memory for a snapshot takes one, unless it has one of the last boot. */
static void __init boot_test_take(struct kunit *test)
{
	static const char taken[] = ": ** Boot snapshot taken **\n";
	struct trace_array *full = tfs_add(test, "kunit-full", NULL, NULL);
	struct trace_array *none = tfs_add(test, "kunit-none", NULL, NULL);
	void *memory = snap_kunit_range(test);

	tfs_set(test, "/instances/kunit-full/snapshot_keep", "first 1");
	tfs_set(test, "/instances/kunit-full/snapshot", "1");
	KUNIT_EXPECT_EQ(test, tracing_arm_snapshot(full), 0);
	tfs_set(test, "snapshot_allocate", "1");
	ftrace_boot_snapshot();
	tfs_expect_in(test, "snapshots", "# taken: 0\n");

	tfs_option(test, "ftrace_boot_snapshot", "=kunit-boot");
	KUNIT_EXPECT_TRUE(test, boot_asks(test, none, "kunit-boot"));
	tfs_set(test, "trace_marker", "one");
	ftrace_boot_snapshot();
	tfs_expect_in(test, "snapshots", "1 by=boot ");
	tfs_expect_in(test, "snapshot", "one\n");
	tfs_expect_in(test, "trace", taken);
	/* The second one replaces the first. */
	ftrace_boot_snapshot();
	tfs_expect_in(test, "snapshots", "2 by=boot ");
	tfs_expect_in(test, "/instances/kunit-none/snapshots", "# taken: 0\n");
	tfs_expect(test, "/instances/kunit-none/snapshot_allocate", "0\n");
	tfs_expect_not_in(test, "/instances/kunit-none/trace", taken);
	tfs_expect_not_in(test, "/instances/kunit-full/trace", taken);
	tfs_expect_in(test, "/instances/kunit-full/snapshots", "# taken: 1\n");

	boot_first(test, memory);
	boot_take(test);
	boot_again(test, memory, NULL);
	ftrace_boot_snapshot();
	tfs_expect_in(test, "snapshots", "1 by=write ");
	tfs_set(test, "snapshot", "1");
	ftrace_boot_snapshot();
	tfs_expect_in(test, "snapshots", "3 by=boot ");
}

/* As boot_test_take() has asked for. If the buffers are in use, each gets one of its own. */
static void __init boot_test_own(struct kunit *test)
{
	struct trace_array *both[] = { test->priv, tfs_add(test, "kunit-own", NULL, NULL) };
	struct trace_snap *spare[ARRAY_SIZE(both)];
	struct trace_snapshots *s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(both); i++) {
		KUNIT_ASSERT_EQ(test, tracing_alloc_snapshot_instance(both[i]), 0);
		spare[i] = both[i]->snapshots->user.spare;
		atomic_inc(&spare[i]->users);
	}
	ftrace_boot_snapshot();
	for (i = 0; i < ARRAY_SIZE(both); i++) {
		s = both[i]->snapshots;
		KUNIT_EXPECT_EQ(test, s->user.seq, 1ULL);
		KUNIT_ASSERT_NOT_NULL(test, s->user.last);
		KUNIT_EXPECT_PTR_EQ(test, s->user.last->owner, s);
		guard(mutex)(&s->mutex);
		snap_put(s, spare[i]);
	}
}

static int __init boot_run(void *done)
{
	ftrace_boot_snapshot();
	WRITE_ONCE(*(bool *)done, true);
	return 0;
}

/* As boot_test_take() has asked for. Instances come and go at that time, too: it waits. */
static void __init boot_test_waits(struct kunit *test)
{
	struct task_struct *task;
	bool done = false;

	task = kthread_create(boot_run, &done, "kunit-boot");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	mutex_lock(&trace_types_lock);
	wake_up_process(task);
	while (!tfs_has_waiter(&trace_types_lock) && !READ_ONCE(done))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_FALSE(test, done);
	mutex_unlock(&trace_types_lock);
	kthread_stop_put(task);
	KUNIT_EXPECT_TRUE(test, done);
}

/* Does a message of the kernel have this text? */
static bool __init boot_said(const char *text)
{
	static char line[200] __initdata;
	struct kmsg_dump_iter iter;

	kmsg_dump_rewind(&iter);
	while (kmsg_dump_get_line(&iter, false, line, sizeof(line) - 1, NULL)) {
		if (strstr(line, text))
			return true;
	}
	return false;
}

/* Without memory for a snapshot that tests before this have asked for, it says which one. */
static void __init boot_test_message(struct kunit *test)
{
	struct trace_array *tr = test->priv, *top = top_trace_array();

	KUNIT_ASSERT_NOT_NULL(test, top);
	tr->snapshots->memory.limit_kb = 1;
	trace_snapshot_boot(tr, "kunit");
	tr->snapshots->memory.limit_kb = 0;
	KUNIT_EXPECT_TRUE(test, boot_said("no room for a snapshot of kunit\n"));
	top->snapshots->memory.limit_kb = 1;
	trace_snapshot_boot(top, NULL);
	top->snapshots->memory.limit_kb = 0;
	KUNIT_EXPECT_TRUE(test, boot_said("no room for a snapshot of the top trace array\n"));
}

static struct kunit_case __refdata boot_cases[] = {
	KUNIT_CASE(boot_test_take),
	KUNIT_CASE(boot_test_own),
	KUNIT_CASE(boot_test_waits),
	KUNIT_CASE(boot_test_top),
	KUNIT_CASE(boot_test_names),
	KUNIT_CASE(boot_test_message),
	{ }
};

static struct kunit_suite boot_suite = {
	.name = "trace_snapshot_boot",
	.init = tfs_init,
	.exit = tfs_exit,
	.test_cases = boot_cases,
};

kunit_test_init_section_suites(&boot_suite);
