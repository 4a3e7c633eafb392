/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A parser of data pages that shares nothing with the ring buffer: it follows
 * events/header_page and events/header_event.
 */
#ifndef _RING_BUFFER_TESTS_PARSE_H
#define _RING_BUFFER_TESTS_PARSE_H

#include <linux/types.h>

/* Content of a page */
struct rbt_page {
	u64		time;		/* the page's time stamp */
	unsigned int	bytes;		/* bytes of records */
	bool		missed;		/* records in front of it were lost */
	bool		stored;		/* their number is stored behind the records */
	unsigned long	lost;		/* that number */
	unsigned int	records;	/* records with data */
	unsigned int	extends;	/* time extends */
	unsigned int	absolutes;	/* absolute time stamps */
};

typedef void (*rbt_record_fn)(void *data, const void *rec, const void *payload, unsigned int max,
			      u64 time);

bool rbt_parse(const void *memory, unsigned int size, struct rbt_page *page,
	       rbt_record_fn fn, void *data);

#endif /* _RING_BUFFER_TESTS_PARSE_H */
