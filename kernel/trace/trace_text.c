// SPDX-License-Identifier: GPL-2.0
/*
 * Texts that user space writes to files: numbers with units.
 */
#include <linux/ctype.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "trace_text.h"

const struct trace_unit trace_times[] = {
	/* The longest that fits is shown. */
	{ "s", NSEC_PER_SEC }, { "ms", NSEC_PER_MSEC }, { "us", NSEC_PER_USEC }, { "ns", 1 }, { }
};

const struct trace_unit trace_sizes[] = {
	{ "K", 1 << 10 }, { "k", 1 << 10 }, { "M", 1 << 20 }, { "m", 1 << 20 },
	{ "G", 1 << 30 }, { "g", 1 << 30 }, { "", 1 << 10 }, { }
};

const struct trace_unit trace_numbers[] = { { "", 1 }, { } };

/* The longest unit that the text begins with; NULL if there is none. */
static const struct trace_unit *text_find_unit(const char *text, const struct trace_unit *units)
{
	const struct trace_unit *unit, *found = NULL;

	for (unit = units; unit->name; unit++) {
		if (!strncmp(text, unit->name, strlen(unit->name)) &&
		    (!found || strlen(unit->name) > strlen(found->name)))
			found = unit;
	}
	return found;
}

/**
 * trace_read_number() - read a number with its unit
 * @text:   the number in decimal digits, and the unit behind it; nothing else. 0 needs no unit.
 * @units:  trace_times, trace_sizes or trace_numbers
 * @max:    the largest value
 * @number: is set to the value, in the smallest unit, if @text is valid
 *
 * Context: Any context.
 * Return: NULL; the first character that is wrong, which is that of the number if it is too
 *	   large.
 */
const char *trace_read_number(const char *text, const struct trace_unit *units, u64 max,
			      u64 *number)
{
	const char *at = text, *end;
	const struct trace_unit *unit;
	bool large = false;
	u64 n = 0;

	for (; isdigit(*at); at++)
		large |= check_mul_overflow(n, 10, &n) || check_add_overflow(n, *at - '0', &n);
	unit = text_find_unit(at, units);
	end = at + (unit ? strlen(unit->name) : 0);
	if (at == text || *end)
		return at == text ? at : end;
	if (!unit && (n || large))
		return end;
	if (large || (unit && check_mul_overflow(n, unit->factor, &n)) || n > max)
		return text;
	*number = n;
	return NULL;
}
