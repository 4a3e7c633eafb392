/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A parser of data pages that shares nothing with the ring buffer: it follows
 * events/header_page and events/header_event.
 */
#ifndef _RING_BUFFER_TESTS_PARSE_H
#define _RING_BUFFER_TESTS_PARSE_H

#include <linux/types.h>

/**
 * struct rbt_page - content of a page
 * @time:      the page's time stamp
 * @bytes:     bytes of records
 * @missed:    records in front of it were lost
 * @stored:    their number is stored behind the records
 * @lost:      that number
 * @records:   records with data
 * @extends:   time extends
 * @absolutes: absolute time stamps
 */
struct rbt_page {
	u64		time;
	unsigned int	bytes;
	bool		missed;
	bool		stored;
	unsigned long	lost;
	unsigned int	records;
	unsigned int	extends;
	unsigned int	absolutes;
};

typedef void (*rbt_record_fn)(void *data, const void *rec, const void *payload, unsigned int max,
			      u64 time);

bool rbt_parse(const void *memory, unsigned int size, struct rbt_page *page,
	       rbt_record_fn fn, void *data);

#endif /* _RING_BUFFER_TESTS_PARSE_H */
