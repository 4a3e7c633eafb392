// SPDX-License-Identifier: GPL-2.0
/*
 * Read a line of stop_on:
 *
 *   panic [all]
 *   oops [after TIME] [all]
 *   warn [after TIME] [all]
 *   event SYSTEM:NAME [if FILTER] [after TIME] [all]
 */
#include <linux/ktime.h>

#include "../trace_text.h"
#include "internal.h"

const char * const stop_kinds[] = {
	[STOP_PANIC]	= "panic",
	[STOP_OOPS]	= "oops",
	[STOP_WARN]	= "warn",
	[STOP_EVENT]	= "event",
};

/* Cut off the first word. */
static char *stop_word(char **text)
{
	char *word = strsep(text, " \t");

	*text = *text ? skip_spaces(*text) : word + strlen(word);
	return word;
}

static bool stop_in_string(const char *text, const char *at)
{
	char quote = '\0';

	for (; text < at; text++) {
		if (quote)
			quote = *text == quote ? '\0' : quote;
		else if (*text == '"' || *text == '\'')
			quote = *text;
	}
	return quote;
}

/* Does the filter need a value or a field here, as it has an operator before? */
static bool stop_is_operand(const char *text, const char *at)
{
	while (at > text && isspace(at[-1]))
		at--;
	return at > text && strchr("=!<>&|~(", at[-1]);
}

static char *stop_last_word(char *text)
{
	char *at = text + strlen(text);

	while (at > text && !isspace(at[-1]))
		at--;
	return at;
}

/* Cut off the last word, if it is "all"; it may also be a value or in a string of a filter. */
static bool stop_cut_all(char *text)
{
	char *at = stop_last_word(text);

	if (strcmp(at, "all") || stop_in_string(text, at) || stop_is_operand(text, at))
		return false;
	*at = '\0';
	strim(text);
	return true;
}

/* The last but one word, if it is "after"; it may also be one of a filter, as "all". */
static char *stop_find_after(char *text)
{
	char *at = stop_last_word(text);

	while (at > text && isspace(at[-1]))
		at--;
	at -= min_t(size_t, strlen("after"), at - text);
	if (!str_has_prefix(at, "after") || !isspace(at[strlen("after")]) ||
	    (at > text && !isspace(at[-1])) || stop_in_string(text, at) ||
	    stop_is_operand(text, at))
		return NULL;
	return at;
}

static int stop_parse_name(char *name, struct stop_spec *spec, struct stop_fault *fault)
{
	spec->system = strsep(&name, ":");
	spec->event = name;
	if (!*spec->system || !name || !*name || strchr(name, ':'))
		return stop_fail(fault, -EINVAL, "Expected an event as SYSTEM:NAME");
	return 0;
}

/* "after TIME" */
static int stop_parse_after(char *text, struct stop_spec *spec, struct stop_fault *fault)
{
	const char *wrong;

	fault->at = text;
	if (spec->kind == STOP_PANIC)
		return stop_fail(fault, -EINVAL, "panic cannot have a delay: no timer runs then");
	spec->time = skip_spaces(text + strlen("after"));
	wrong = trace_read_number(spec->time, trace_times, KTIME_MAX / 2, &spec->after);
	if (wrong || !spec->after) {
		fault->at = wrong ?: spec->time;
		return stop_fail(fault, -EINVAL,
				 "Invalid time, expected a whole number with a unit: 5ms");
	}
	/* The filter ends here. */
	*text = '\0';
	return 0;
}

/**
 * stop_parse() - read a line of stop_on
 * @text:  the line, without blanks around it; is cut into words
 * @spec:  is set to its parts, which point into @text
 * @fault: is set to the reason and the place of an error
 *
 * Context: Any context.
 * Return: 0 or -EINVAL.
 */
int stop_parse(char *text, struct stop_spec *spec, struct stop_fault *fault)
{
	static const char rest[] = "Expected if FILTER (of events), after TIME, all or the end";
	char *after, *word;
	int kind, ret = 0;

	*spec = (struct stop_spec){ };
	fault->at = text + strcspn(text, "\n");
	if (*fault->at)
		return stop_fail(fault, -EINVAL, rest);
	fault->at = text;
	kind = match_string(stop_kinds, ARRAY_SIZE(stop_kinds), stop_word(&text));
	if (kind < 0)
		return stop_fail(fault, -EINVAL, "Expected panic, oops, warn or event SYSTEM:NAME");
	spec->kind = kind;
	if (kind == STOP_EVENT) {
		fault->at = text;
		ret = stop_parse_name(stop_word(&text), spec, fault);
	}
	spec->all = stop_cut_all(text);
	after = stop_find_after(text);
	if (!ret && after)
		ret = stop_parse_after(after, spec, fault);
	if (ret)
		return ret;
	text = strim(text);
	fault->at = text;
	if (!*text)
		return 0;
	word = stop_word(&text);
	if (kind != STOP_EVENT || strcmp(word, "if") || !*text)
		return stop_fail(fault, -EINVAL, rest);
	spec->filter = text;
	return 0;
}

/**
 * stop_print() - print a line of stop_on
 * @spec: its parts
 * @text: STOP_LINE_SIZE bytes for the line
 *
 * Context: Any context.
 * Return: false if the line is too long.
 */
bool stop_print(const struct stop_spec *spec, char *text)
{
	const char *name = stop_kinds[spec->kind];
	int len;

	len = snprintf(text, STOP_LINE_SIZE, "%s%s%s%s%s%s%s%s%s%s", name,
		       spec->event ? " " : "", spec->event ? spec->system : "",
		       spec->event ? ":" : "", spec->event ?: "",
		       spec->filter ? " if " : "", spec->filter ?: "",
		       spec->time ? " after " : "", spec->time ?: "",
		       spec->all ? " all" : "");
	return len < STOP_LINE_SIZE;
}
