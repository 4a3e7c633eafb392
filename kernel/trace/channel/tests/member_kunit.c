// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of sessions: which instances can be channels, and what a session does to them.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/mnt_idmapping.h>
#include <linux/ring_buffer.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "../../ring_buffer/internal.h"
#include "session.h"

/* Expect that the session has these channels, "1 3 " for kunit_1 and kunit_3. */
static void member_expect(struct kunit *test, const char *want)
{
	struct trace_array *tr = test->priv, *ch;
	char have[64] = "";

	scoped_guard(mutex, &trace_types_lock) {
		for_each_channel(ch, tr) {
			KUNIT_EXPECT_PTR_EQ(test, ch->session, tr);
			strlcat(have, ch->name + strlen("kunit_"), sizeof(have));
			strlcat(have, " ", sizeof(have));
		}
	}
	KUNIT_EXPECT_STREQ(test, have, want);
}

/* A wrong write changes nothing, and error_log has the reason. */
static void member_refuse(struct kunit *test, const char *text, int err, const char *why)
{
	tfs_fails(test, "channels", text, err, why);
	member_expect(test, "1 ");
}

static void member_test_refused(struct kunit *test)
{
	static const char session[] = "A session cannot be a channel, nor a channel a session";
	static const char none[] = "No such instance, or not a channel of this session";
	char many[300];

	chan_kunit_open(test, 6);
	chan_kunit_join(test, 1);
	member_refuse(test, "kunit_none", -ENOENT, none);
	member_refuse(test, "kunit_1", -EEXIST, "Is a channel of this session");
	member_refuse(test, "kunit", -ELOOP, "An instance cannot be a channel of itself");
	memset(many, 'k', sizeof(many));
	many[sizeof(many) - 1] = '\0';
	tfs_refuse(test, "channels", many, -EINVAL);
	tfs_expect_in(test, "error_log", "error: Longer than a name");
	tfs_empty(test, "error_log");

	/* The session and its channel use all that there is room for. */
	session_cut_max = 3 * num_possible_cpus() - 1;
	member_refuse(test, "kunit_2", -E2BIG,
		      "Too many: a snapshot of all channels would hold off interrupts too long");
	session_cut_max = 4096;

	/* Of another session; a session; a session of its own channel. */
	KUNIT_EXPECT_EQ(test, trace_session_join(chan_kunit[2], "kunit_3", NULL), 0);
	member_refuse(test, "kunit_3", -EBUSY,
		      "Is a channel of another session: remove it there first");
	member_refuse(test, "kunit_2", -ELOOP, session);
	KUNIT_EXPECT_EQ(test, trace_session_join(chan_kunit[3], "kunit_2", NULL), -ELOOP);
	KUNIT_EXPECT_EQ(test, trace_session_join(chan_kunit[3], "kunit_4", NULL), -ELOOP);
	KUNIT_EXPECT_EQ(test, trace_session_join(chan_kunit[1], "kunit", NULL), -ELOOP);
	KUNIT_EXPECT_NULL(test, trace_channels_of(chan_kunit[1]));
	KUNIT_EXPECT_NULL(test, trace_channels_of(chan_kunit[3]));

	/* Another clock. */
	tfs_set(test, "/instances/kunit_5/trace_clock", "global");
	member_refuse(test, "kunit_5", -EINVAL, "Has another trace_clock than the session");

	/* A kept snapshot. */
	tfs_set(test, "/instances/kunit_6/snapshot_keep", "1");
	tfs_set(test, "/instances/kunit_6/snapshot", "1");
	KUNIT_EXPECT_TRUE(test, tfs_exists(test, "/instances/kunit_6@1"));
	member_refuse(test, "kunit_6@1", -EPERM,
		      "A read-only instance cannot be a channel, nor can a kept snapshot");
	KUNIT_EXPECT_EQ(test, trace_session_leave(chan_kunit[2], "kunit_3"), 0);
}

static void member_test_leave(struct kunit *test)
{
	chan_kunit_open(test, 4);
	chan_kunit_join(test, 2);
	chan_kunit_join(test, 1);
	chan_kunit_join(test, 3);
	member_expect(test, "2 1 3 ");
	KUNIT_EXPECT_EQ(test, trace_session_leave(test->priv, "kunit_4"), -ENOENT);
	KUNIT_EXPECT_EQ(test, trace_session_leave(test->priv, "kunit_none"), -ENOENT);
	KUNIT_EXPECT_EQ(test, trace_session_leave(chan_kunit[4], "kunit_1"), -ENOENT);
	member_expect(test, "2 1 3 ");
	tfs_set(test, "channels", "!kunit_1\n");
	member_expect(test, "2 3 ");
	KUNIT_EXPECT_NULL(test, chan_kunit[1]->session);
	tfs_set(test, "channels", " kunit_1\t\n");
	member_expect(test, "2 3 1 ");
	tfs_refuse(test, "channels", "!kunit_4", -ENOENT);
	/* The caret is below the name. */
	tfs_expect_in(test, "error_log", "Command: !kunit_4\n            ^\n");
	/* One that has left can be a session, or a channel of another one. */
	tfs_set(test, "channels", "!kunit_3");
	KUNIT_EXPECT_EQ(test, trace_session_join(chan_kunit[4], "kunit_3", NULL), 0);
	KUNIT_EXPECT_EQ(test, trace_session_leave(chan_kunit[4], "kunit_3"), 0);
	KUNIT_EXPECT_EQ(test, trace_session_join(chan_kunit[3], "kunit_4", NULL), 0);
	KUNIT_EXPECT_EQ(test, trace_session_leave(chan_kunit[3], "kunit_4"), 0);
}

static bool member_is_on(unsigned int ch)
{
	return ring_buffer_record_is_on(chan_kunit[ch]->array_buffer.buffer);
}

/* An empty line ends all memberships, of a session that has some or none. */
static void member_test_clear(struct kunit *test)
{
	unsigned int i;
	struct file *file;
	char *text;

	chan_kunit_open(test, 3);
	chan_kunit_join(test, 2);
	chan_kunit_join(test, 1);
	tfs_set(test, "tracing_on", "0");
	KUNIT_EXPECT_FALSE(test, member_is_on(1));
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, tfs_write(test, "channels", "\n"), (ssize_t)1);
		member_expect(test, "");
		KUNIT_EXPECT_TRUE(test, member_is_on(1));
		KUNIT_EXPECT_TRUE(test, member_is_on(2));
	}
	tfs_set(test, "tracing_on", "1");
	chan_kunit_join(test, 1);
	member_expect(test, "1 ");

	/* It does so in a file that was read and written, but not as the rest of a text. */
	text = tfs_zalloc(test, 5001);
	file = tfs_open(test, "channels", O_RDWR);
	KUNIT_EXPECT_GT(test, tfs_read_file(test, file, text, 5000), 0L);
	KUNIT_EXPECT_EQ(test, tfs_write_file(test, file, "\n"), 1L);
	member_expect(test, "");
	memset(text, ' ', 5000);
	memcpy(text, "kunit_1\n", 8);
	KUNIT_EXPECT_EQ(test, tfs_write_file(test, file, text), 8L);
	KUNIT_EXPECT_EQ(test, tfs_write_file(test, file, text + 8), 4095L);
	KUNIT_EXPECT_EQ(test, tfs_write_file(test, file, text + 8 + 4095), 897L);
	member_expect(test, "1 ");
	KUNIT_EXPECT_EQ(test, tfs_write_file(test, file, "\n"), 1L);
	member_expect(test, "");
	/* A write that fails leaves no rest. */
	KUNIT_EXPECT_EQ(test, tfs_write_file(test, file, "kunit_1\nx"), 8L);
	KUNIT_EXPECT_EQ(test, tfs_write_file(test, file, "x"), (ssize_t)-ENOENT);
	KUNIT_EXPECT_EQ(test, tfs_write_file(test, file, "\n"), 1L);
	member_expect(test, "");
	tfs_close(file);
}

/* A 0 that ends a string is no line, nor are blanks without a newline. */
static void member_test_zero(struct kunit *test)
{
	void __user *zeros = tfs_user(test, PAGE_SIZE);
	struct file *file;

	chan_kunit_open(test, 1);
	chan_kunit_join(test, 1);
	file = tfs_open(test, "channels", O_WRONLY);
	KUNIT_EXPECT_EQ(test, vfs_write(file, zeros, 1, &file->f_pos), 1L);
	KUNIT_EXPECT_EQ(test, vfs_write(file, zeros, 9, &file->f_pos), 9L);
	KUNIT_EXPECT_EQ(test, tfs_write_file(test, file, " "), 1L);
	member_expect(test, "1 ");
	/* As an empty line does */
	KUNIT_ASSERT_EQ(test, copy_to_user(zeros, "\n", 1), 0UL);
	KUNIT_EXPECT_EQ(test, vfs_write(file, zeros, 2, &file->f_pos), 2L);
	member_expect(test, "");
	tfs_close(file);
}

/* The credentials of a user without rights; the caller releases them. */
static struct cred *member_user(struct kunit *test)
{
	struct cred *cred = prepare_creds();

	KUNIT_ASSERT_NOT_NULL(test, cred);
	cred->fsuid = KUIDT_INIT(1000);
	cred->fsgid = KGIDT_INIT(1000);
	cap_clear(cred->cap_effective);
	return cred;
}

static int member_join_as(const struct cred *user, struct trace_array *tr, const char *name)
{
	const struct cred *old = override_creds(user);
	int ret = trace_session_join(tr, name, NULL);

	revert_creds(old);
	return ret;
}

/* Write a text to a file of the session that this user has opened. */
static ssize_t member_write_as(struct kunit *test, const struct cred *user, const char *path,
			       const char *text)
{
	struct file *file = tfs_open(test, path, O_WRONLY);
	const struct cred *opener = file->f_cred;
	ssize_t ret;

	file->f_cred = user;
	ret = tfs_write_file(test, file, text);
	file->f_cred = opener;
	tfs_close(file);
	return ret;
}

/*
 * Let this user write it to a file that a task with all rights has opened: a worker of io_uring has
 * all rights, too, but for the write.
 */
static ssize_t member_write_by(struct kunit *test, const struct cred *user, const char *path,
			       const char *text)
{
	struct file *file = tfs_open(test, path, O_WRONLY);
	const struct cred *old = override_creds(user);
	ssize_t ret = tfs_write_file(test, file, text);

	revert_creds(old);
	tfs_close(file);
	return ret;
}

static void member_set_attr(struct kunit *test, const char *path, struct iattr *attr)
{
	struct file *file = tfs_open(test, path, O_PATH);
	struct dentry *dentry = file->f_path.dentry;

	inode_lock(d_inode(dentry));
	KUNIT_EXPECT_EQ(test, notify_change(&nop_mnt_idmap, dentry, attr, NULL), 0);
	inode_unlock(d_inode(dentry));
	tfs_close(file);
}

static void member_chown(struct kunit *test, const struct cred *user, const char *path)
{
	struct iattr attr = { .ia_valid = ATTR_UID, .ia_uid = user->fsuid };

	member_set_attr(test, path, &attr);
}

/* Let others search a directory, or not. */
static void member_let_search(struct kunit *test, const char *path, bool may)
{
	struct file *file = tfs_open(test, path, O_PATH);
	struct iattr attr = { .ia_valid = ATTR_MODE };

	attr.ia_mode = (file_inode(file)->i_mode & ~0001) | (may ? 0001 : 0);
	tfs_close(file);
	member_set_attr(test, path, &attr);
}

/* The owner of a session reads, erases and stops no instance of another user. */
static void member_test_rights(struct kunit *test)
{
	static const char * const above[] = { "/.", "/instances" };
	struct trace_array *tr = test->priv;
	struct cred *user = member_user(test);
	unsigned int i;

	chan_kunit_open(test, 2);
	KUNIT_EXPECT_EQ(test, member_join_as(user, tr, "kunit_none"), -ENOENT);
	KUNIT_EXPECT_EQ(test, member_join_as(user, tr, "kunit_1"), -EACCES);
	KUNIT_EXPECT_EQ(test, member_write_as(test, user, "channels", "kunit_1\n"),
			(ssize_t)-EACCES);
	tfs_expect_in(test, "error_log", "channels: error: Not permitted: a session needs ");
	member_expect(test, "");

	/* A channel that is there can be written again, and removed. */
	chan_kunit_join(test, 1);
	KUNIT_EXPECT_EQ(test, member_join_as(user, tr, "kunit_1"), -EEXIST);
	KUNIT_EXPECT_EQ(test, member_write_as(test, user, "channels", "!kunit_1\n"), 9L);
	member_expect(test, "");

	/* The file and each directory above it are on the way to the records. */
	for (i = 0; i < ARRAY_SIZE(above); i++)
		member_let_search(test, above[i], true);
	member_chown(test, user, "/instances/kunit_1/trace");
	KUNIT_EXPECT_EQ(test, member_join_as(user, tr, "kunit_1"), -EACCES);
	member_chown(test, user, "/instances/kunit_2");
	KUNIT_EXPECT_EQ(test, member_join_as(user, tr, "kunit_2"), -EACCES);
	member_chown(test, user, "/instances/kunit_1");
	for (i = 0; i < ARRAY_SIZE(above); i++) {
		member_let_search(test, above[i], false);
		KUNIT_EXPECT_EQ(test, member_write_as(test, user, "channels", "kunit_1\n"),
				(ssize_t)-EACCES);
		KUNIT_EXPECT_EQ(test, member_write_by(test, user, "channels", "kunit_1\n"),
				(ssize_t)-EACCES);
		member_let_search(test, above[i], true);
	}
	member_expect(test, "");
	KUNIT_EXPECT_EQ(test, member_write_by(test, user, "channels", "kunit_1\n"), 8L);
	member_expect(test, "1 ");
	KUNIT_EXPECT_EQ(test, member_write_as(test, user, "channels", "!kunit_1\n"), 9L);
	KUNIT_EXPECT_EQ(test, member_write_as(test, user, "channels", "kunit_1\n"), 8L);
	member_expect(test, "1 ");

	/* Nor does the owner stop all. */
	KUNIT_EXPECT_EQ(test, member_write_by(test, user, "stop_on", "warn after 1000s all\n"),
			(ssize_t)-EACCES);
	KUNIT_EXPECT_EQ(test, member_write_as(test, user, "stop_on", "warn after 1000s all\n"),
			(ssize_t)-EACCES);
	tfs_expect_in(test, "error_log",
		      "stop_on: error: Not permitted: all needs the right to write tracing_on_all\n"
		      "  Command: warn after 1000s all\n");
	KUNIT_EXPECT_EQ(test, member_write_as(test, user, "stop_on", "panic\n"), 6L);
	tfs_expect(test, "stop_on", "panic\n");
	for (i = 0; i < ARRAY_SIZE(above); i++)
		member_let_search(test, above[i], false);
	put_cred(user);
}

/* A CPU in hotplug finds no channel: they follow the session at the end of the hotplug. */
static void member_test_hotplug(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	bool before;
	int on;

	chan_kunit_open(test, 2);
	chan_kunit_join(test, 1);
	for (on = 0; on < 2; on++) {
		scoped_guard(irqsave) {
			rb_cpu_dying(smp_processor_id());
			if (on)
				tracer_tracing_on(tr);
			else
				tracer_tracing_off(tr);
			before = member_is_on(1);
			rb_cpu_starting(smp_processor_id());
		}
		KUNIT_EXPECT_EQ(test, before, !on);
		tfs_wait(test, member_is_on(1) == on);
		KUNIT_EXPECT_TRUE(test, member_is_on(2));
	}
}

/* No file takes a line that is longer. */
static void member_test_long(struct kunit *test)
{
	char *text = tfs_zalloc(test, 4097);

	chan_kunit_open(test, 1);
	memset(text, 'x', 4096);
	tfs_refuse(test, "channels", text, -EINVAL);
	tfs_expect_in(test, "error_log", "channels: error: The line is too long, expected 4095 ");
}

/* A channel cannot be removed, a session can. */
static void member_test_remove(struct kunit *test)
{
	struct trace_array *tr;
	unsigned int ch;

	chan_kunit_open(test, 3);
	chan_kunit_join(test, 1);
	trace_array_put(chan_kunit[1]);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(chan_kunit[1]), -EBUSY);
	KUNIT_EXPECT_EQ(test, trace_array_get(chan_kunit[1]), 0);
	member_expect(test, "1 ");
	tfs_remove(test, chan_kunit[1]);
	member_expect(test, "");

	tr = tfs_add(test, "kunit_session", "sched", NULL);
	for (ch = 2; ch <= 3; ch++)
		KUNIT_EXPECT_EQ(test, trace_session_join(tr, chan_kunit[ch]->name, NULL), 0);
	tracer_tracing_off(tr);
	KUNIT_EXPECT_FALSE(test, member_is_on(2));
	tfs_remove(test, tr);
	for (ch = 2; ch <= 3; ch++) {
		KUNIT_EXPECT_NULL(test, chan_kunit[ch]->session);
		KUNIT_EXPECT_TRUE(test, member_is_on(ch));
		chan_kunit_mark(test, ch, "mark");
	}
	chan_kunit_join(test, 2);
	chan_kunit_join(test, 3);
	member_expect(test, "2 3 ");
}

/* A channel records if its own switch and that of the session are on. */
static void member_test_switch(struct kunit *test)
{
	unsigned int own, of_session, joined;
	const char *shown;

	chan_kunit_open(test, 2);
	for (own = 0; own < 2; own++) {
		tfs_set(test, "/instances/kunit_1/tracing_on", own ? "1" : "0");
		for (of_session = 0; of_session < 2; of_session++) {
			/* It joins behind the switch, and before it. */
			tfs_set(test, "tracing_on", of_session ? "1" : "0");
			chan_kunit_join(test, 1);
			for (joined = 0; joined < 2; joined++) {
				KUNIT_EXPECT_EQ(test, member_is_on(1), own && of_session);
				KUNIT_EXPECT_TRUE(test, member_is_on(2));
				tfs_set(test, "tracing_on", of_session ? "0" : "1");
				KUNIT_EXPECT_EQ(test, member_is_on(1), own && !of_session);
				tfs_set(test, "tracing_on", of_session ? "1" : "0");
			}
			shown = own && of_session ? " on=1 " : " on=0 ";
			tfs_expect_in(test, "channels", shown);
			KUNIT_EXPECT_EQ(test, trace_session_leave(chan_kunit[0], "kunit_1"), 0);
			KUNIT_EXPECT_EQ(test, member_is_on(1), own);
			tfs_set(test, "tracing_on", of_session ? "0" : "1");
			KUNIT_EXPECT_EQ(test, member_is_on(1), own);
		}
	}
}

/* The clock is that of the session. */
static void member_test_clock(struct kunit *test)
{
	static const char why[] =
		"trace_clock: error: The clock is that of the session: set it there\n"
		"  Command: kunit\n";
	unsigned int ch;

	chan_kunit_open(test, 3);
	chan_kunit_join(test, 1);
	chan_kunit_join(test, 2);
	chan_kunit_mark(test, 1, "mark");
	tfs_set(test, "trace_clock", "mono");
	for (ch = 0; ch < 3; ch++)
		KUNIT_EXPECT_EQ(test, chan_kunit[ch]->clock_id, chan_kunit[0]->clock_id);
	KUNIT_EXPECT_NE(test, chan_kunit[3]->clock_id, chan_kunit[0]->clock_id);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(chan_kunit[1]->array_buffer.buffer), 0UL);
	tfs_refuse(test, "/instances/kunit_1/trace_clock", "global", -EBUSY);
	tfs_expect_in(test, "/instances/kunit_1/error_log", why);
	KUNIT_EXPECT_EQ(test, chan_kunit[1]->clock_id, chan_kunit[0]->clock_id);
	/* That which it has already. */
	tfs_set(test, "/instances/kunit_1/trace_clock", "mono");
	KUNIT_EXPECT_EQ(test, trace_session_leave(chan_kunit[0], "kunit_1"), 0);
	tfs_set(test, "/instances/kunit_1/trace_clock", "global");
}

static bool member_is_empty(unsigned int ch)
{
	return ring_buffer_empty(chan_kunit[ch]->array_buffer.buffer);
}

/* An erase of the session is one of the channels, too. */
static void member_test_erase(struct kunit *test)
{
	unsigned int ch, of_cpu;

	chan_kunit_open(test, 3);
	chan_kunit_join(test, 1);
	chan_kunit_join(test, 3);
	for (of_cpu = 0; of_cpu < 2; of_cpu++) {
		chan_kunit_set_clock();
		for (ch = 0; ch < 4; ch++)
			KUNIT_EXPECT_TRUE(test, chan_kunit_write(ch, 0, 1000, 0));
		tfs_empty(test, of_cpu ? "per_cpu/cpu0/trace" : "trace");
		for (ch = 0; ch < 4; ch++)
			KUNIT_EXPECT_EQ(test, member_is_empty(ch), ch != 2);
	}
}

/* A line for each channel. */
static void member_test_file(struct kunit *test)
{
	unsigned long kb;
	unsigned int i;

	chan_kunit_open(test, 2);
	KUNIT_EXPECT_EQ(test, *tfs_read(test, "channels"), '#');
	chan_kunit_join(test, 2);
	chan_kunit_join(test, 1);
	tfs_set(test, "/instances/kunit_1/options/overwrite", "0");
	tfs_set(test, "/instances/kunit_2/tracing_on", "0");
	chan_kunit_set_clock();
	for (i = 0; chan_kunit_write(1, 0, 1000 + i, i); i++)
		;
	kb = ring_buffer_size(chan_kunit[1]->array_buffer.buffer, 0) / SZ_1K * num_possible_cpus();
	tfs_expect(test, "channels",
		   tfs_text(test,
			    "kunit_2 mode=overwrite on=0 kb=%lu records=0 lost=0\n"
			    "kunit_1 mode=discard on=1 kb=%lu records=%u lost=1\n",
			    kb, kb, i));
}

static struct kunit_case member_cases[] = {
	KUNIT_CASE(member_test_refused),
	KUNIT_CASE(member_test_leave),
	KUNIT_CASE(member_test_clear),
	KUNIT_CASE(member_test_zero),
	KUNIT_CASE(member_test_rights),
	KUNIT_CASE(member_test_long),
	KUNIT_CASE(member_test_remove),
	KUNIT_CASE(member_test_switch),
	KUNIT_CASE(member_test_hotplug),
	KUNIT_CASE(member_test_clock),
	KUNIT_CASE(member_test_erase),
	KUNIT_CASE(member_test_file),
	{ }
};

static struct kunit_suite member_suite = {
	.name = "trace_channel_member",
	.init = chan_kunit_init,
	.exit = chan_kunit_exit,
	.test_cases = member_cases,
};

kunit_test_suite(member_suite);
