// SPDX-License-Identifier: GPL-2.0
/*
 * The parser of data pages, see parse.h.
 */
#include <linux/string.h>

#include "parse.h"

/* As trace-cmd does it: from the middle of nowhere, aligned or not. */
static u32 parse_u32(const u8 *at)
{
	u32 value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void parse_header(u32 word, unsigned int *type, u32 *delta)
{
#ifdef __BIG_ENDIAN
	*type = word >> 27;
	*delta = word << 5 >> 5;
#else
	*type = word & 31;
	*delta = word >> 5;
#endif
}

/**
 * rbt_parse() - read a page
 * @memory: the page
 * @size:   bytes of it
 * @page:   receives its content
 * @fn:     called for each record with data; NULL for none
 * @data:   for @fn
 *
 * Context: Any context.
 * Return: false if it is not a page of records.
 */
bool rbt_parse(const void *memory, unsigned int size, struct rbt_page *page,
	       rbt_record_fn fn, void *data)
{
	const u8 *start = memory, *at, *end;
	unsigned long commit;
	unsigned int type, len;
	u32 delta;
	u64 time;

	memset(page, 0, sizeof(*page));
	memcpy(&page->time, start, 8);
	memcpy(&commit, start + 8, sizeof(commit));
	at = start + 8 + sizeof(commit);
	page->missed = commit >> 31 & 1;
	page->stored = commit >> 30 & 1;
	page->bytes = commit & 0xfffff;
	end = at + page->bytes;
	if (end > start + size || (commit & 0x3ff00000UL))
		return false;
	if (page->stored) {
		if (!page->missed || end + sizeof(page->lost) > start + size)
			return false;
		memcpy(&page->lost, end, sizeof(page->lost));
	} else if (page->missed && end + sizeof(page->lost) <= start + size) {
		return false;	/* there is room for the number */
	}

	for (time = page->time; at < end; at += len) {
		if (end - at < 4)
			return false;
		parse_header(parse_u32(at), &type, &delta);
		if (type == 29 && !delta)
			break;
		if (type >= 1 && type <= 28) {
			len = 4 + 4 * type;
		} else {
			if (end - at < 8)
				return false;
			len = type >= 30 ? 8 : 4 + parse_u32(at + 4);
		}
		if (len > end - at || len < 4 || len % 4)
			return false;

		if (type == 30) {
			page->extends++;
			time += ((u64)parse_u32(at + 4) << 27) + delta;
		} else if (type == 31) {
			page->absolutes++;
			time = (time & ~((1ULL << 59) - 1)) |
			       (((u64)parse_u32(at + 4) << 27) + delta);
		} else {
			time += delta;
		}
		if (type > 28)
			continue;
		page->records++;
		if (fn)
			fn(data, at, at + (type ? 4 : 8), len - (type ? 4 : 8), time);
	}
	return true;
}
