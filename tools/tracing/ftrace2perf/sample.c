// SPDX-License-Identifier: GPL-2.0
/*
 * The records of the event perf:sample: Documentation/trace/perf-events.rst.
 */
#include <stdlib.h>
#include <string.h>

#include "ftrace2perf.h"

/* The fields, with an offset for each one in struct event.sample */
enum {
	IP, ADDR, PERIOD, EVENT, KERNEL, USER, TGID, MODE, NR_FIELDS
};

static const struct {
	const char	*name;
	unsigned int	size;
} fields[NR_FIELDS] = {
	[IP]	 = { "u64 ip", 8 },
	[ADDR]	 = { "u64 addr", 8 },
	[PERIOD] = { "u64 period", 8 },
	[EVENT]	 = { "__data_loc char[] event", 4 },
	[KERNEL] = { "__data_loc unsigned long[] kernel", 4 },
	[USER]	 = { "__data_loc unsigned long[] user", 4 },
	[TGID]	 = { "u32 tgid", 4 },
	[MODE]	 = { "u32 mode", 4 },
};

/* "\tfield:TYPE NAME;\toffset:N;\tsize:N;": is it the one of this number? */
static bool is_field(const char *line, int nr, unsigned int *offset)
{
	size_t n = strlen(fields[nr].name);
	unsigned int size;

	if (strncmp(line, "\tfield:", strlen("\tfield:")))
		return false;
	line += strlen("\tfield:");
	return !strncmp(line, fields[nr].name, n) &&
	       sscanf(line + n, ";\toffset:%u;\tsize:%u;", offset, &size) == 2 &&
	       size == fields[nr].size;
}

/**
 * sample_format() - find the fields of perf:sample
 * @format: content of the format file of an event
 *
 * Return: their offsets, for &event.sample; NULL if they are not those that a sample has.
 */
unsigned int *sample_format(struct cursor format)
{
	unsigned int *offsets = zalloc(NR_FIELDS * sizeof(*offsets)), seen = 0;
	char line[256];
	int i;

	while (cursor_line(&format, line, sizeof(line))) {
		for (i = 0; i < NR_FIELDS; i++) {
			if (is_field(line, i, &offsets[i]))
				seen |= 1U << i;
		}
	}
	if (seen == (1U << NR_FIELDS) - 1)
		return offsets;
	free(offsets);
	return NULL;
}

static uint64_t field(const struct event *event, struct cursor bytes, int nr)
{
	cursor_skip(&bytes, event->sample[nr], fields[nr].name);
	return cursor_number(&bytes, fields[nr].size, fields[nr].name);
}

/* The bytes that a field says the place of: the size is above the offset. */
static struct cursor located(const struct event *event, struct cursor bytes, int nr)
{
	uint32_t place = field(event, bytes, nr);

	cursor_skip(&bytes, place & 0xffff, fields[nr].name);
	return cursor_part(&bytes, place >> 16, fields[nr].name);
}

/**
 * sample_read() - read a record of perf:sample
 * @record: the record
 * @sample: the sample is stored here; its event has no name if that is too long for one
 *
 * A record that is damaged ends the program.
 *
 * Return: whether it is one of perf:sample.
 */
bool sample_read(const struct record *record, struct sample *sample)
{
	const struct event *event = record->event;
	struct cursor bytes = record->bytes, name;
	size_t n;

	if (!event || !event->sample)
		return false;
	*sample = (struct sample) {
		.ip = field(event, bytes, IP),
		.addr = field(event, bytes, ADDR),
		.period = field(event, bytes, PERIOD),
		.tgid = field(event, bytes, TGID),
		.mode = field(event, bytes, MODE),
		.kernel = located(event, bytes, KERNEL),
		.user = located(event, bytes, USER),
	};
	name = located(event, bytes, EVENT);
	n = cursor_left(&name);
	if (n < sizeof(sample->name))
		cursor_get(&name, sample->name, n, "event");
	return true;
}
