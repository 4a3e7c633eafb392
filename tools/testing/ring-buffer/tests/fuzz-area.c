// SPDX-License-Identifier: GPL-2.0
/*
 * Read the description of the last boot's records, with damage that libFuzzer makes; see fuzz.c.
 */
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "../shim/shim.h"

ssize_t sized_strscpy(char *to, const char *from, size_t size)
{
	size_t len = strnlen(from, size);

	if (len == size)
		len--;
	memcpy(to, from, len);
	to[len] = '\0';
	return len;
}

u32 get_random_u32(void)
{
	return 42;
}

#include "../../../../kernel/trace/last_boot/area.c"
#include "../../../../kernel/trace/last_boot/format.c"

#define MUST(cond)								\
	do {									\
		if (!(cond))							\
			host_die(__FILE__ ":" __stringify(__LINE__) ": " #cond);	\
	} while (0)

extern void (*fuzz_also)(const u8 *data, size_t size);

#define AREA_BYTES	1024

static void area_fill(struct area *a)
{
	static const char format[] = "sched\0name: e\nID: 1\nformat:\n"
		"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		"\tfield:__data_loc char[] s;\toffset:24;\tsize:4;\tsigned:1;\n"
		"\nprint fmt: \"%s\"\n";

	area_begin(a, 1);
	MUST(!area_put(a, AREA_FORMAT, 1, format, sizeof(format) - 1));
	MUST(!area_put(a, AREA_SYMBOL, 2, "\1\0\0\0name", 8));
	MUST(!area_put(a, AREA_STRING, 3, "text", 4));
	MUST(!area_put(a, AREA_FORMAT, 1, format, sizeof(format) - 2));
	area_put_task(a, 4, "task");
}

/* Damage that has the right checksums goes further. */
static void area_mend(struct area *a)
{
	struct area_entry *entry;
	u32 pos, size;

	for (pos = 0; a->room - pos >= sizeof(*entry); pos += size) {
		entry = area_entry_at(a, pos);
		size = area_entry_size(entry->len);
		if (size > a->room - pos)
			break;
		entry->sum = area_sum(entry);
	}
}

static void area_read(const struct area *a)
{
	const struct area_entry *entry;
	char name[FORMAT_NAME_LEN];
	struct format_field field;
	struct format_text format;
	u32 kind, nr, pid;
	size_t pos;

	for (kind = 0; kind < AREA_NR_KINDS; kind++) {
		for (nr = 0; (entry = area_next(a, &nr, kind));) {
			MUST(area_find(a, kind, entry->key) == entry);
			if (!format_open(&format, entry->data, entry->len))
				continue;
			format_name(&format, name);
			MUST(strlen(name) < sizeof(name));
			for (pos = 0; format_next_field(&format, &pos, &field);)
				MUST(*field.name && *field.type);
		}
	}
	for (pid = 0; pid < 100; pid++)
		area_find_task(a, pid);
}

/* Each four bytes change one byte of an area: offset, change, and whether it is mended. */
static void fuzz_area(const u8 *data, size_t size)
{
	u8 *memory = kzalloc(AREA_BYTES, GFP_KERNEL);
	void *index = kzalloc(area_index_size(AREA_BYTES), GFP_KERNEL);
	bool mend = false;
	struct area a;

	MUST(memory && index);
	area_place(&a, memory, AREA_BYTES, index);
	area_fill(&a);
	for (size = min(size, 256); size >= 4; size -= 4, data += 4) {
		memory[(data[0] | data[1] << 8) % AREA_BYTES] ^= data[2];
		mend |= data[3];
	}
	if (mend) {
		a.header->magic = AREA_MAGIC;
		area_mend(&a);
	}
	memset(index, 0, area_index_size(AREA_BYTES));
	area_place(&a, memory, AREA_BYTES, index);
	if (area_open(&a))
		area_read(&a);
	kfree(index);
	kfree(memory);
}

static void __attribute__((constructor)) fuzz_area_begin(void)
{
	fuzz_also = fuzz_area;
}
