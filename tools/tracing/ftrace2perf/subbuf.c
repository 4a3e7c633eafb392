// SPDX-License-Identifier: GPL-2.0
/*
 * The records of a sub-buffer, one after the other.
 *
 * It has a time, a long with the number of its bytes and flags above that, then these bytes. Each
 * record, stamp and padding among them begins with a word of a type, or length, and a time. The
 * walk only goes on, by at least this word, and no further than the bytes that the
 * sub-buffer says it has. The type is in the first bits of the word: those are the lowest ones,
 * or on a big-endian machine the highest ones.
 */
#include "ftrace2perf.h"

#define COMMIT_SIZE	((1UL << 27) - 1)
#define LOST_STORED	(1UL << 30)	/* their number is behind the last record */
#define LOST		(1UL << 31)

/* Types of what has no length in the word; those below are the length in words. */
enum {
	TYPE_LARGE	= 0,
	TYPE_PADDING	= 29,
	TYPE_EXTEND	= 30,
	TYPE_STAMP	= 31,
};

#define DELTA_BITS	27
#define STAMP_MASK	((1ULL << 59) - 1)

/**
 * subbuf_begin() - begin with a sub-buffer
 * @subbuf:    the state is stored here
 * @bytes:     all of the sub-buffer
 * @long_size: bytes of a long of the traced kernel
 *
 * A sub-buffer that is damaged ends the program, here and in subbuf_next().
 */
void subbuf_begin(struct subbuf *subbuf, struct cursor bytes, unsigned int long_size)
{
	uint64_t commit;

	*subbuf = (struct subbuf){};
	subbuf->time = cursor_number(&bytes, 8, "time of a sub-buffer");
	commit = cursor_number(&bytes, long_size, "size of a sub-buffer's records");
	subbuf->first = bytes.at;
	subbuf->rest = cursor_part(&bytes, commit & COMMIT_SIZE, "records of a sub-buffer");
	if (!(commit & LOST))
		return;
	if (commit & LOST_STORED) {
		subbuf->lost = cursor_number(&bytes, long_size, "number of lost records");
	} else {
		/* At least one, more is not known. */
		subbuf->vague = true;
		subbuf->lost = 1;
	}
}

/* The length of what has it in a word of its own, which it counts. */
static uint64_t read_length(struct cursor *rest, const char *what)
{
	struct cursor from = *rest;
	uint64_t n = cursor_number(rest, 4, what);

	if (n < 4)
		cursor_fail(&from, "%s is %llu, expected 4 or more", what, (unsigned long long)n);
	return n - 4;
}

/**
 * subbuf_next() - go to the next record
 * @subbuf: the state; &subbuf.time and &subbuf.at are those of the record
 * @record: the bytes of the record are stored here
 *
 * Return: false if there is none.
 */
bool subbuf_next(struct subbuf *subbuf, struct cursor *record)
{
	struct cursor *rest = &subbuf->rest;
	uint64_t stamp, delta;
	uint32_t head, type;

	while (cursor_left(rest)) {
		subbuf->at = rest->at - subbuf->first;
		head = cursor_number(rest, 4, "head of a record");
		type = rest->big ? head >> DELTA_BITS : head & 31;
		delta = rest->big ? head & ((1U << DELTA_BITS) - 1) : head >> 5;
		switch (type) {
		case TYPE_EXTEND:
		case TYPE_STAMP:
			stamp = (cursor_number(rest, 4, "time stamp") << DELTA_BITS) + delta;
			/* An absolute one lacks the upper bits. */
			subbuf->time = type == TYPE_EXTEND ? subbuf->time + stamp :
				       (subbuf->time & ~STAMP_MASK) | stamp;
			break;
		case TYPE_PADDING:
			/* The rest is unused. */
			if (!delta)
				return false;
			subbuf->time += delta;
			cursor_skip(rest, read_length(rest, "size of padding"), "padding");
			break;
		case TYPE_LARGE:
			subbuf->time += delta;
			delta = read_length(rest, "size of a record");
			*record = cursor_part(rest, (delta + 3) & ~3ULL, "record");
			return true;
		default:
			subbuf->time += delta;
			*record = cursor_part(rest, type * 4, "record");
			return true;
		}
	}
	return false;
}
