// SPDX-License-Identifier: GPL-2.0
/*
 * A session with channels for each unit test: "kunit", and "kunit_1", "kunit_2", ... The functions
 * may sleep.
 */
#include <linux/ring_buffer.h>
#include <linux/smp.h>

#include "session.h"

u64 chan_kunit_now;
unsigned long merge_compared;
void (*merge_race_hook)(unsigned int i);
struct trace_array *chan_kunit[CHAN_KUNIT_MAX + 1];

static u64 chan_kunit_clock(void)
{
	return chan_kunit_now;
}

/**
 * chan_kunit_init() - create the session, without channels
 * @test: the test
 *
 * Return: 0.
 */
int chan_kunit_init(struct kunit *test)
{
	int ret = tfs_init_small(test);

	chan_kunit[0] = test->priv;
	chan_kunit_now = 1000;
	return ret;
}

/**
 * chan_kunit_exit() - remove the session and all channels
 * @test: the test
 */
void chan_kunit_exit(struct kunit *test)
{
	merge_race_hook = NULL;
	memset(chan_kunit, 0, sizeof(chan_kunit));
	tfs_exit(test);
}

/**
 * chan_kunit_join() - make an instance a channel of the session, and expect success
 * @test: the test
 * @ch:   number of the instance
 */
void chan_kunit_join(struct kunit *test, unsigned int ch)
{
	KUNIT_ASSERT_EQ(test, trace_session_join(chan_kunit[0], chan_kunit[ch]->name, NULL), 0);
}

/**
 * chan_kunit_open() - create instances with small buffers
 * @test: the test
 * @nr:   number of instances
 */
void chan_kunit_open(struct kunit *test, unsigned int nr)
{
	unsigned int i;

	KUNIT_ASSERT_LE(test, nr, (unsigned int)CHAN_KUNIT_MAX);
	for (i = 1; i <= nr; i++)
		chan_kunit[i] = tfs_add(test, tfs_text(test, "kunit_%u", i), "sched", "16");
}

/**
 * chan_kunit_begin() - create three instances, and make some of them channels
 * @test: the test
 * @nr:   number of channels, the first ones
 *
 * Return: the snapshots of the session.
 */
struct trace_snapshots *chan_kunit_begin(struct kunit *test, unsigned int nr)
{
	unsigned int ch;

	chan_kunit_open(test, 3);
	for (ch = 1; ch <= nr; ch++)
		chan_kunit_join(test, ch);
	return chan_kunit[0]->snapshots;
}

/**
 * chan_kunit_set_clock() - have the session and all instances use the clock of the test
 */
void chan_kunit_set_clock(void)
{
	unsigned int i;

	for (i = 0; i <= CHAN_KUNIT_MAX; i++) {
		if (chan_kunit[i])
			ring_buffer_set_clock(chan_kunit[i]->array_buffer.buffer, chan_kunit_clock);
	}
}

struct chan_kunit_call {
	struct chan_kunit_rec	rec;
	struct trace_buffer	*buffer;
	int			ret;
};

static void chan_kunit_write_here(void *data)
{
	struct chan_kunit_call *call = data;

	call->ret = ring_buffer_write(call->buffer, sizeof(call->rec), &call->rec);
}

/**
 * chan_kunit_write() - write a record
 * @ch:  number of the instance, 0 for the session
 * @cpu: CPU that writes
 * @ts:  its time
 * @num: its number
 *
 * Context: May sleep; after chan_kunit_set_clock().
 * Return: true if it was written.
 */
bool chan_kunit_write(unsigned int ch, int cpu, u64 ts, u32 num)
{
	struct chan_kunit_call call = {
		.rec.num = num,
		.buffer = chan_kunit[ch]->array_buffer.buffer,
	};

	chan_kunit_now = ts;
	return !smp_call_function_single(cpu, chan_kunit_write_here, &call, true) && !call.ret;
}

/**
 * chan_kunit_mark() - write a text to trace_marker of an instance
 * @test: the test
 * @ch:   number of the instance, 0 for the session
 * @text: the text
 */
void chan_kunit_mark(struct kunit *test, unsigned int ch, const char *text)
{
	tfs_set(test, tfs_text(test, "/instances/%s/trace_marker", chan_kunit[ch]->name), text);
}
