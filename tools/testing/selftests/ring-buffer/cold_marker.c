// SPDX-License-Identifier: GPL-2.0
/*
 * cold_marker FILE MARKER [BYTES]
 *
 * Write the first 32 bytes, or BYTES, of FILE to MARKER, from a mapping that nobody has touched:
 * the kernel meets a page that is in no page table. With "-" for FILE, write from an address
 * that is not mapped, which has to fail. Print what write() returned.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>

int main(int argc, char **argv)
{
	size_t bytes = argc > 3 ? strtoul(argv[3], NULL, 0) : 32;
	int from = -1, to;
	char *text;
	ssize_t n;

	if (argc < 3)
		errx(2, "usage: cold_marker FILE MARKER [BYTES]");
	to = open(argv[2], O_WRONLY);
	if (to < 0)
		err(1, "%s", argv[2]);
	if (strcmp(argv[1], "-")) {
		from = open(argv[1], O_RDONLY);
		if (from < 0)
			err(1, "%s", argv[1]);
		text = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, from, 0);
	} else {
		text = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	if (text == MAP_FAILED)
		err(1, "mmap");
	/* One fault maps one page. */
	madvise(text, bytes, MADV_RANDOM);
	n = write(to, text, bytes);
	printf("%zd%s%s\n", n, n < 0 ? " " : "", n < 0 ? strerror(errno) : "");
	return n != (ssize_t)bytes;
}
