// SPDX-License-Identifier: GPL-2.0
/*
 * The file "channels": which channels a session has.
 */
#include <linux/fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../trace_text.h"
#include "internal.h"

static const char channels_usage[] =
	"# Write the name of an instance to make it a channel, \"!NAME\" to end that, and an\n"
	"# empty line to end all\n";

/* Print the name of the session that an instance is a channel of, or nothing. */
static void channels_print_session(const char *name, char *buf, size_t size)
{
	struct trace_array *ch;

	guard(mutex)(&trace_types_lock);
	ch = trace_array_find(name);
	if (ch && ch->session)
		snprintf(buf, size, ", session %s", ch->session->name ?: "top");
}

static void channels_fail(struct trace_array *tr, const char *text, int ret, unsigned int pos)
{
	char session[NAME_MAX + sizeof(", session ")] = "", *both;
	const char *name = text + pos, *why;

	switch (ret) {
	case -ELOOP:
		why = tr->name && !strcmp(name, tr->name) ?
			"An instance cannot be a channel of itself" :
			"A session cannot be a channel, nor a channel a session";
		break;
	case -EEXIST:
		why = "Is a channel of this session";
		break;
	case -EXFULL:
		why = "Its memory has no room for the snapshots of the session: see snapshot.rst";
		break;
	case -E2BIG:
		why = "Too many: a snapshot of all channels would hold off interrupts too long";
		break;
	case -ENODEV:
		why = "The session ends with its open files: it gets no channels any more";
		break;
	case -EBUSY:
		why = "Is a channel of another session: remove it there first";
		channels_print_session(name, session, sizeof(session));
		break;
	case -EPERM:
		why = "A kept snapshot cannot be a channel";
		break;
	case -EINVAL:
		why = "Has another trace_clock than the session";
		break;
	default:
		why = "No such instance, or not a channel of this session";
		/* A name may have blanks, so there is none that is all of them. */
		if (name[strcspn(name, " \t")]) {
			why = "Expected one name in each line";
			pos += strcspn(name, " \t");
		}
	}
	both = kasprintf(GFP_KERNEL, "%s%s", text, session);
	tracing_log(tr, "channels", "error", both ?: text, why, pos);
	kfree(both);
}

/* Cut off what is read behind the name. Return: false if there is nothing of it. */
static bool channels_cut_state(char *name)
{
	static const char state[] = " mode=";
	char *at, *next = strstr(name, state);

	if (!next)
		return false;
	do {
		at = next;
		next = strstr(at + 1, state);
	} while (next);
	if (!strstr(at, " on=") || !strstr(at, " lost="))
		return false;
	*at = '\0';
	return true;
}

static int channels_change(void *data, char *text)
{
	bool leave = *text == '!', state = channels_cut_state(text);
	char *name = text + leave;
	int ret;

	if (!*text) {
		trace_session_end(data);
		return 0;
	}
	if (strlen(name) > NAME_MAX) {
		tracing_log(data, "channels", "error", "", "Longer than a name can be", 0);
		return -EINVAL;
	}
	ret = leave ? trace_session_leave(data, name) : trace_session_join(data, name);
	/* As it was read: it is there. */
	if (ret == -EEXIST && state)
		return 0;
	if (ret)
		channels_fail(data, text, ret, leave);
	/* As "snapshot" and "snapshot_keep" of such memory do. */
	return ret == -EXFULL ? -EINVAL : ret;
}

/* In KiB; an instance without rings has none. */
static unsigned long channel_kb(struct trace_buffer *buffer)
{
	unsigned long kb = 0;
	int cpu;

	for_each_tracing_cpu(cpu)
		kb += ring_buffer_size(buffer, cpu) >> 10;
	return kb;
}

static int channels_show(struct seq_file *m, void *v)
{
	struct trace_array *tr = m->private, *ch;
	struct trace_buffer *buffer;

	guard(mutex)(&trace_types_lock);
	if (!trace_channels_of(tr) && !trace_is_kept(tr))
		seq_puts(m, channels_usage);
	for_each_channel(ch, tr) {
		buffer = ch->array_buffer.buffer;
		trace_show_channel(m, ch, ring_buffer_record_is_on(buffer), channel_kb(buffer));
	}
	return 0;
}

static const struct trace_text_file channels_file =
	TRACE_TEXT_FILE(channels_show, trace_text_write, channels_change);

/**
 * trace_array_create_channels() - create "channels"
 * @tr:  the trace array
 * @dir: its directory
 *
 * Context: May sleep.
 */
void trace_array_create_channels(struct trace_array *tr, struct dentry *dir)
{
	trace_create_file("channels", TRACE_MODE_WRITE, dir, tr, &channels_file.fops);
}
