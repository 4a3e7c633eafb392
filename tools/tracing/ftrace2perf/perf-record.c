// SPDX-License-Identifier: GPL-2.0
/*
 * Write a record of a perf.data.
 */
#include <linux/perf_event.h>

#include "ftrace2perf.h"

/**
 * put() - write bytes
 * @out:  where to; an error is noticed when it is closed
 * @data: the bytes
 * @size: number of bytes
 */
void put(FILE *out, const void *data, size_t size)
{
	if (size)
		fwrite(data, 1, size, out);
}

/**
 * put_record() - write a record that is no sample
 * @out:       where to
 * @type:      PERF_RECORD_*
 * @misc:      PERF_RECORD_MISC_*
 * @body:      the part behind the header
 * @size:      bytes of @body, a multiple of 8
 * @sample_id: the last part, or NULL
 */
void put_record(FILE *out, uint32_t type, uint16_t misc, const void *body, size_t size,
		const struct sample_id *sample_id)
{
	struct perf_event_header header = { .type = type, .misc = misc };

	header.size = sizeof(header) + size + (sample_id ? sizeof(*sample_id) : 0);
	put(out, &header, sizeof(header));
	put(out, body, size);
	if (sample_id)
		put(out, sample_id, sizeof(*sample_id));
}
