// SPDX-License-Identifier: GPL-2.0
/*
 * Convert the files that libFuzzer makes, by main() of ftrace2perf, in one process.
 *
 * run-tests compiles ftrace2perf with other names for main(), exit() and the functions that open
 * files and allocate. Here they are, so that one conversion leaves nothing for the next and calls
 * the kernel seldom, and so that the fuzzer also finds
 *
 * - a read behind the end of the file: the program has a copy of its size;
 * - memory without bounds: what is allocated is compared with the size of the file;
 * - time without bounds: each function that is entered counts as a step, and the steps are
 *   compared with the bytes of the file and of the memory;
 * - a perf.data with a record that is not whole, or not in the byte order of the file.
 */
#include <assert.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Compressed sections may become 16 MB and 1024 times the file. */
#define MEMORY_FIRST	(24UL << 20)
#define MEMORY_EACH	1500
#define STEPS_FIRST	100000
#define STEPS_EACH	200

/* Where a trace.dat of version 6 or 7 has its byte order */
#define BYTE_ORDER_AT	12

/* The file that is converted, and the perf.data. */
static const uint8_t *input;
static size_t input_size, input_at;
static char output[16 << 20];

static void **blocks;
static size_t nr_blocks, room_blocks;
static size_t allocated, steps;
static jmp_buf end;

int ftrace2perf_main(int argc, char **argv);
void *fuzz_reallocarray(void *old, size_t nr, size_t size);
void fuzz_free(void *p);
int fuzz_vasprintf(char **s, const char *fmt, va_list args);
int fuzz_fstat(int fd, struct stat *st);
ssize_t fuzz_read(int fd, void *to, size_t size);
FILE *fuzz_fdopen(int fd, const char *mode);
void fuzz_exit(int status) __attribute__((noreturn));
void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);
int fuzz_begin(int *argc, char ***argv) __asm__("LLVMFuzzerInitialize");
int fuzz_one(const uint8_t *data, size_t size) __asm__("LLVMFuzzerTestOneInput");

/* Take it off the list of what is freed at the end. (Most often it is one of the last.) */
static void forget(void *p)
{
	size_t i = nr_blocks;

	if (!p)
		return;
	do
		assert(i);
	while (blocks[--i] != p);
	blocks[i] = blocks[--nr_blocks];
}

void *fuzz_reallocarray(void *old, size_t nr, size_t size)
{
	void *p;

	if (__builtin_mul_overflow(nr, size, &size))
		return NULL;
	allocated += size;
	assert(allocated <= MEMORY_FIRST + MEMORY_EACH * input_size);
	forget(old);
	p = realloc(old, size);
	if (nr_blocks == room_blocks) {
		room_blocks = room_blocks ? room_blocks * 2 : 1024;
		blocks = realloc(blocks, room_blocks * sizeof(*blocks));
	}
	blocks[nr_blocks++] = p ? p : old;
	return p;
}

void fuzz_free(void *p)
{
	forget(p);
	free(p);
}

int fuzz_vasprintf(char **s, const char *fmt, va_list args)
{
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	*s = fuzz_reallocarray(NULL, n + 1, 1);
	return vsnprintf(*s, n + 1, fmt, args);
}

int fuzz_fstat(int fd, struct stat *st)
{
	/* (Of the file to convert the size counts, of the perf.data the kind.) */
	*st = (struct stat){ .st_size = input_size, .st_mode = S_IFCHR };
	return 0;
}

ssize_t fuzz_read(int fd, void *to, size_t size)
{
	if (size > input_size - input_at)
		size = input_size - input_at;
	memcpy(to, input + input_at, size);
	input_at += size;
	return size;
}

FILE *fuzz_fdopen(int fd, const char *mode)
{
	close(fd);
	return fmemopen(output, sizeof(output), "w");
}

void fuzz_exit(int status)
{
	longjmp(end, 1 + !!status);
}

void __cyg_profile_func_enter(void *function, void *caller)
{
	steps++;
	assert(steps <= STEPS_FIRST + STEPS_EACH * (input_size + allocated));
}

void __cyg_profile_func_exit(void *function, void *caller)
{
}

/* A number of @size bytes of the perf.data */
static uint64_t number(size_t at, size_t size, bool big)
{
	uint64_t n = 0;
	size_t i;

	assert(at + size <= sizeof(output));
	for (i = 0; i < size; i++)
		n = n << 8 | (uint8_t)output[at + (big ? i : size - 1 - i)];
	return n;
}

/* The header, in the byte order of the input, and records that end where their section ends. */
static void check_perf_data(void)
{
	bool big = input[BYTE_ORDER_AT];
	uint64_t at, behind, size;

	assert(!memcmp(output, big ? "2ELIFREP" : "PERFILE2", 8));
	at = number(40, 8, big);
	behind = at + number(48, 8, big);
	assert(at <= behind && behind <= sizeof(output));
	for (; at + 8 <= behind; at += size) {
		size = number(at + 6, 2, big);
		assert(size >= 8 && size % 8 == 0);
	}
	assert(at == behind);
}

int fuzz_begin(int *argc, char ***argv)
{
	/* Of messages, only the last ones are written, at the end. */
	setvbuf(stderr, NULL, _IOFBF, 1 << 16);
	return 0;
}

int fuzz_one(const uint8_t *data, size_t size)
{
	/* Of an odd size, another buffer than the top one. */
	char *argv[8] = { "ftrace2perf", "-f", "/dev/null", "-o", "/dev/null",
			 size & 1 ? "-i" : NULL, "b", NULL };

	input = data;
	input_size = size;
	input_at = 0;
	/* (It begins with the first option again.) */
	optind = 0;
	allocated = 0;
	steps = 0;
	if (!setjmp(end)) {
		assert(!ftrace2perf_main(size & 1 ? 7 : 5, argv));
		check_perf_data();
	}
	while (nr_blocks)
		free(blocks[--nr_blocks]);
	return 0;
}
