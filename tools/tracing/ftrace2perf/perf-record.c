// SPDX-License-Identifier: GPL-2.0
/*
 * Write the numbers and records of a perf.data.
 *
 * A sample has a record of the trace as it is. So all numbers have the byte order of the traced
 * machine: perf sees by the magic at the begin whether it has to swap them. Only this file knows
 * the order.
 */
#include <linux/perf_event.h>

#include "ftrace2perf.h"

/**
 * put() - write bytes
 * @out:  where to
 * @data: the bytes
 * @size: number of bytes
 */
void put(struct out *out, const void *data, size_t size)
{
	if (size)
		fwrite(data, 1, size, out->file);
}

static void put_number(struct out *out, uint64_t n, size_t size)
{
	unsigned char bytes[sizeof(n)];
	size_t i;

	for (i = 0; i < size; i++)
		bytes[out->big ? size - 1 - i : i] = n >> 8 * i;
	put(out, bytes, size);
}

/**
 * put_u16() - write a number of 2 bytes
 * @out: where to
 * @n:   the number
 */
void put_u16(struct out *out, uint16_t n)
{
	put_number(out, n, sizeof(n));
}

/**
 * put_u32() - write a number of 4 bytes
 * @out: where to
 * @n:   the number
 */
void put_u32(struct out *out, uint32_t n)
{
	put_number(out, n, sizeof(n));
}

/**
 * put_u64() - write a number of 8 bytes
 * @out: where to
 * @n:   the number
 */
void put_u64(struct out *out, uint64_t n)
{
	put_number(out, n, sizeof(n));
}

/**
 * put_words() - write numbers of 8 bytes
 * @out:   where to
 * @words: the numbers
 * @nr:    number of @words
 */
void put_words(struct out *out, const uint64_t *words, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		put_u64(out, words[i]);
}

/**
 * put_bits() - write 64 fields of a bit
 * @out:  where to
 * @bits: the first one is bit 0
 *
 * A big-endian machine begins with the highest bit of the first byte.
 */
void put_bits(struct out *out, uint64_t bits)
{
	unsigned char bytes[sizeof(bits)] = {};
	int i;

	for (i = 0; i < 64; i++)
		bytes[i / 8] |= (bits >> i & 1) << (out->big ? 7 - i % 8 : i % 8);
	put(out, bytes, sizeof(bytes));
}

/**
 * put_header() - begin a record
 * @out:  where to
 * @type: PERF_RECORD_*
 * @misc: PERF_RECORD_MISC_*
 * @size: number of bytes that follow, a multiple of 8
 */
void put_header(struct out *out, uint32_t type, uint16_t misc, size_t size)
{
	put_u32(out, type);
	put_u16(out, misc);
	put_u16(out, sizeof(struct perf_event_header) + size);
}

/**
 * put_sample_id() - end a record that is no sample
 * @out: where to
 * @id:  the last SAMPLE_ID_SIZE bytes
 */
void put_sample_id(struct out *out, const struct sample_id *id)
{
	put_u32(out, id->pid);
	put_u32(out, id->tid);
	put_u64(out, id->time);
	put_u32(out, id->cpu);
	put_u32(out, 0);
	put_u64(out, id->id);
}
