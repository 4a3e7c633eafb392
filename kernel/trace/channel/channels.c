// SPDX-License-Identifier: GPL-2.0
/*
 * The file "channels": which channels a session has.
 */
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

static const struct {
	int		err;
	const char	*why;
} channels_failures[] = {
	{ -ELOOP, "A session cannot be a channel, nor a channel a session" },
	{ -EEXIST, "Is a channel of this session" },
	{ -EXFULL, "Its memory has no room for the snapshots of the session: see snapshot.rst" },
	{ -E2BIG, "Too many: a snapshot of all channels would hold off interrupts too long" },
	{ -ENODEV, "The session ends with its open files: it gets no channels any more" },
	{ -EBUSY, "Is a channel of another session: remove it there first" },
	{ -EPERM, "A read-only instance cannot be a channel, nor can a kept snapshot" },
	{ -EACCES, "Not permitted: a session needs the right to read and write a channel's trace" },
	{ -EINVAL, "Has another trace_clock than the session" },
};

static void channels_fail(struct trace_array *tr, const char *text, int ret, unsigned int pos)
{
	const char *name = text + pos, *why = "No such instance, or not a channel of this session";
	char session[NAME_MAX + sizeof(", session ")] = "", *both;
	unsigned int i = 0;

	while (i < ARRAY_SIZE(channels_failures) && channels_failures[i].err != ret)
		i++;
	if (i < ARRAY_SIZE(channels_failures)) {
		why = channels_failures[i].why;
	} else if (name[strcspn(name, " \t")]) {
		/* A name may have blanks, so there is none that is all of them. */
		why = "Expected one name in each line";
		pos += strcspn(name, " \t");
	}
	if (ret == -ELOOP && tr->name && !strcmp(name, tr->name))
		why = "An instance cannot be a channel of itself";
	if (ret == -EBUSY)
		channels_print_session(name, session, sizeof(session));
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

static int channels_change(void *data, char *text, const struct cred *opener)
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
	ret = leave ? trace_session_leave(data, name) : trace_session_join(data, name, opener);
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
