// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of what is printed of memory that survived a reboot, and can have any contents.
 */
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "../../ring_buffer/format.h"
#include "../../trace_output.h"
#include "../../tests/snapshots.h"

#define LAST_BOOT_TEXT		"a text of the last boot"

static const char last_boot_secret[] = "SECRET of this boot";

/* Let a snapshot and the live buffer each have a record of LAST_BOOT_TEXT, and reboot. */
static void last_boot_start(struct kunit *test, void (*damage)(struct print_entry *entry))
{
	char *memory = snap_kunit_range(test), *image = snap_kunit_range(test), *text;
	unsigned int found = 0;

	snap_kunit_boot(test, memory, NULL, true, TRACE_ARRAY_FL_SNAPSHOT);
	tfs_set(test, "trace_marker", LAST_BOOT_TEXT);
	tfs_set(test, "snapshot", "1");
	tfs_set(test, "trace_marker", LAST_BOOT_TEXT);
	memcpy(image, memory, SNAP_KUNIT_RANGE);
	for (text = image; text < image + SNAP_KUNIT_RANGE - SZ_4K; text++) {
		if (!strstarts(text, LAST_BOOT_TEXT))
			continue;
		found++;
		if (damage)
			damage(container_of((char (*)[])text, struct print_entry, buf));
	}
	KUNIT_ASSERT_EQ(test, found, 2U);
	snap_kunit_boot(test, memory, image, true, TRACE_ARRAY_FL_SNAPSHOT);
}

/* All that trace_pipe has. */
static const char *last_boot_pipe(struct kunit *test)
{
	struct file *file = tfs_open(test, "trace_pipe", O_RDONLY | O_NONBLOCK);
	char *text = tfs_zalloc(test, SZ_16K);
	size_t used = 0;
	ssize_t len = 1;

	while (len > 0) {
		len = tfs_read_file(test, file, text + used, SZ_16K - 1 - used);
		used += max_t(ssize_t, len, 0);
	}
	tfs_close(file);
	KUNIT_EXPECT_EQ(test, len, (ssize_t)-EAGAIN);
	return text;
}

static void last_boot_make_bprint(struct print_entry *entry)
{
	struct bprint_entry *bprint = (void *)entry;

	entry->ent.type = TRACE_BPRINT;
	bprint->fmt = last_boot_secret;
}

static void last_boot_make_bputs(struct print_entry *entry)
{
	struct bputs_entry *bputs = (void *)entry;

	entry->ent.type = TRACE_BPUTS;
	bputs->str = last_boot_secret;
}

/* Tables of PIDs have no places for these. */
static void last_boot_make_pid(struct print_entry *entry)
{
	entry->ent.pid = INT_MIN;
}

static const struct last_boot_damage {
	const char	*name;
	void		(*damage)(struct print_entry *entry);
	const char	*shows;
} last_boot_damages[] = {
	{ "a format", last_boot_make_bprint, ": bprint: ip=" },
	{ "a text", last_boot_make_bputs, ": bputs: ip=" },
	{ "a PID", last_boot_make_pid, "<...>--2147483648" },
};

KUNIT_ARRAY_PARAM_DESC(last_boot_damage, last_boot_damages, name);

/* A pointer in a record is printed as a number, by each file, with each option. */
static void last_boot_test_files(struct kunit *test)
{
	static const char * const options[] = {
		"raw", "hex", "bin", "fields", "verbose", "latency-format", "printk-msg-only",
		"record-tgid", "noirq-info",
	};
	static const char * const files[] = { "trace", "per_cpu/cpu0/trace", "snapshot" };
	const struct last_boot_damage *d = test->param_value;
	unsigned int i, k;
	const char *text;

	last_boot_start(test, d->damage);
	for (i = 0; i <= ARRAY_SIZE(options); i++) {
		for (k = 0; k < ARRAY_SIZE(files); k++) {
			text = tfs_read(test, files[k]);
			KUNIT_EXPECT_NULL_MSG(test, strstr(text, "SECRET"), "%s", text);
			KUNIT_EXPECT_EQ_MSG(test, tfs_count(text, d->shows), 1U, "%s", text);
		}
		if (i < ARRAY_SIZE(options))
			tfs_set(test, "trace_options", options[i]);
	}
	text = last_boot_pipe(test);
	KUNIT_EXPECT_NULL_MSG(test, strstr(text, "SECRET"), "%s", text);
	KUNIT_EXPECT_EQ_MSG(test, tfs_count(text, d->shows), 1U, "%s", text);
}

/* Records of this boot, behind those of the last one, are printed as they always are. */
static void last_boot_test_both(struct kunit *test)
{
	const char *text[3];
	unsigned int i;

	last_boot_start(test, NULL);
	tfs_set(test, "trace_marker", "and one of this boot");
	text[0] = tfs_read(test, "trace");
	text[1] = last_boot_pipe(test);
	/* Of a ring that has moved to the snapshot as well. */
	tfs_set(test, "trace_marker", "and one of this boot");
	tfs_set(test, "snapshot", "1");
	text[2] = tfs_read(test, "snapshot");
	for (i = 0; i < ARRAY_SIZE(text); i++) {
		KUNIT_EXPECT_EQ_MSG(test, tfs_count(text[i], ": print: ip="), i < 2, "%s", text[i]);
		KUNIT_EXPECT_EQ_MSG(test, tfs_count(text[i], " buf=" LAST_BOOT_TEXT "\n"), i < 2,
				    "%s", text[i]);
		KUNIT_EXPECT_EQ_MSG(test, tfs_count(text[i], "write: and one of this boot"), 1,
				    "%s", text[i]);
	}
}

/* A cut moves a ring: what it has of the last boot stays that. */
static void last_boot_test_moved(struct kunit *test)
{
	const char *text;

	last_boot_start(test, last_boot_make_bprint);
	tfs_set(test, "snapshot", "1");
	text = tfs_read(test, "snapshot");
	KUNIT_EXPECT_EQ_MSG(test, tfs_count(text, ": bprint: ip="), 1U, "%s", text);
	KUNIT_EXPECT_NULL_MSG(test, strstr(text, "SECRET"), "%s", text);
}

/* A record can be shorter than what each record begins with. */
static void last_boot_test_short(struct kunit *test)
{
	char *memory = snap_kunit_range(test), *image = snap_kunit_range(test), *text;
	struct trace_array *tr = test->priv;
	struct ring_buffer_event *rec;
	struct rb_data_page *page;

	snap_kunit_boot(test, memory, NULL, true, TRACE_ARRAY_FL_SNAPSHOT);
	KUNIT_ASSERT_EQ(test, ring_buffer_write(tr->array_buffer.buffer, 8, "8 bytes"), 0);
	memcpy(image, memory, SNAP_KUNIT_RANGE);
	for (text = image; strcmp(text, "8 bytes"); text++)
		KUNIT_ASSERT_LT(test, text - image, (long)SNAP_KUNIT_RANGE - 8);
	page = PTR_ALIGN_DOWN((struct rb_data_page *)text, PAGE_SIZE);
	rec = (void *)page->data;
	/* The header has the length, or the word behind it. */
	if (RB_ALIGN_8)
		rec->array[0] = sizeof(rec->array[0]);
	else
		rec->type_len = 1;
	local_set(&page->commit, sizeof(*rec) + sizeof(rec->array[0]));
	snap_kunit_boot(test, memory, image, true, TRACE_ARRAY_FL_SNAPSHOT);
	tfs_expect_in(test, "trace", ": <damaged> ");
}

/* A record that ends where memory ends, and text in front of it. */
struct last_boot_record {
	struct trace_iterator	*iter;
	char			*memory;
	size_t			room;
};

static void last_boot_init(struct kunit *test, struct last_boot_record *r)
{
	struct trace_array *tr = test->priv;

	r->room = PAGE_SIZE;
	/* Behind it is a page that cannot be read. */
	r->memory = vmalloc(r->room);
	r->iter = kunit_kzalloc(test, sizeof(*r->iter), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, r->memory);
	KUNIT_ASSERT_NOT_NULL(test, r->iter);
	r->iter->tr = tr;
	r->iter->array_buffer = &tr->array_buffer;
}

static void last_boot_fill(struct last_boot_record *r, unsigned int size, int byte)
{
	memset(r->memory, 'P', r->room - size);
	memset(r->memory + r->room - size, byte, size);
	r->iter->ent_size = size;
	r->iter->ent = (void *)r->memory + r->room - size;
}

/* One line, without any of the text in front of the record. */
static void last_boot_print(struct kunit *test, struct last_boot_record *r)
{
	struct seq_buf *s = &r->iter->seq.seq;
	enum print_line_t ret;

	trace_seq_init(&r->iter->seq);
	ret = trace_print_last_boot(r->iter);
	if (ret == TRACE_TYPE_PARTIAL_LINE)
		return;
	if (!seq_buf_used(s) || memchr(s->buffer, '\n', s->len) != s->buffer + s->len - 1 ||
	    strnstr(s->buffer, "PPPP", s->len) || strnstr(s->buffer, "50505050", s->len))
		KUNIT_FAIL(test, "%u bytes of type %u: %.*s", r->iter->ent_size,
			   r->iter->ent->type, (int)s->len, s->buffer);
}

/* Each word of a record, in turn, has a value that means something behind its end. */
static void last_boot_print_words(struct kunit *test, struct last_boot_record *r, unsigned int type)
{
	unsigned int size = 72, i, k;
	u32 *word;

	for (i = 0; i < size / sizeof(*word); i++) {
		const u32 values[] = {
			U32_MAX, S32_MAX, size | 1 << 16, (size - 4) | 5 << 16, 0xffff,
			U16_MAX << 16, (u32)-4 & U16_MAX, (size - i * 4 - 4) | 4 << 16,
		};

		for (k = 0; k < ARRAY_SIZE(values); k++) {
			last_boot_fill(r, size, 0);
			word = (u32 *)r->iter->ent + i;
			*word = values[k];
			r->iter->ent->type = type;
			last_boot_print(test, r);
		}
	}
}

/* Of each event, no record makes the printer read anything else. */
static void last_boot_test_events(struct kunit *test)
{
	static const unsigned int sizes[] = { 8, 12, 16, 20, 24, 28, 40, 64, 256, 2048 };
	static const int bytes[] = { 0, 1, 0x7f, 0xff, '%' };
	struct last_boot_record r;
	unsigned int type, i, k;

	last_boot_init(test, &r);
	for (type = 0; type <= U16_MAX; type++) {
		trace_event_read_lock();
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			for (k = 0; k < ARRAY_SIZE(bytes); k++) {
				last_boot_fill(&r, sizes[i], bytes[k]);
				r.iter->ent->type = type;
				last_boot_print(test, &r);
			}
			/* The numbers that no event has are all alike. */
			if (!ftrace_find_event(type) && type % 1024)
				break;
		}
		if (ftrace_find_event(type))
			last_boot_print_words(test, &r, type);
		trace_event_read_unlock();
		cond_resched();
	}
	for (i = 0; i < sizeof(struct trace_entry); i++) {
		last_boot_fill(&r, i, 0xff);
		trace_event_read_lock();
		trace_seq_init(&r.iter->seq);
		trace_print_last_boot(r.iter);
		trace_event_read_unlock();
		KUNIT_EXPECT_NOT_NULL(test, strnstr(r.iter->seq.buffer, ": <damaged> ",
						    r.iter->seq.seq.len));
	}
	vfree(r.memory);
}

static struct kunit_case last_boot_cases[] = {
	KUNIT_CASE_PARAM(last_boot_test_files, last_boot_damage_gen_params),
	KUNIT_CASE(last_boot_test_both),
	KUNIT_CASE(last_boot_test_moved),
	KUNIT_CASE(last_boot_test_short),
	KUNIT_CASE(last_boot_test_events),
	{ }
};

/* The option record-tgid allocates a table for ever, which is no leak of a test. */
static int last_boot_suite_init(struct kunit_suite *suite)
{
	return trace_alloc_tgid_map();
}

static struct kunit_suite last_boot_suite = {
	.name = "trace_last_boot",
	.suite_init = last_boot_suite_init,
	.init = tfs_init,
	.exit = tfs_exit,
	.test_cases = last_boot_cases,
};

kunit_test_suites(&last_boot_suite);
