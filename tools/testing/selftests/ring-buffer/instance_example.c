// SPDX-License-Identifier: GPL-2.0
/*
 * An instance and a snapshot that end with this program, however it ends: it records a marker,
 * takes a snapshot, and prints it.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <linux/trace_instance.h>

#include <sys/ioctl.h>

static int check(int ret, const char *what)
{
	if (ret < 0)
		err(1, "%s", what);
	return ret;
}

static int open_at(int dir, const char *name, int flags)
{
	return check(openat(dir, name, flags | O_CLOEXEC), name);
}

/* The directory of what @owner owns. It owns nothing itself. */
static int dir_of(int owner)
{
	return check(ioctl(owner, TRACE_IOC_INSTANCE_DIR, 0), "TRACE_IOC_INSTANCE_DIR");
}

int main(void)
{
	int instance, dir, fd, snapshot, len;
	char text[4096];

	instance = open_at(AT_FDCWD, "/sys/kernel/tracing/instance_open", O_RDWR);
	dir = dir_of(instance);
	fd = open_at(dir, "trace_marker", O_WRONLY);
	check(dprintf(fd, "hello from C\n"), "trace_marker");

	fd = open_at(dir, "snapshot", O_WRONLY);
	snapshot = check(ioctl(fd, TRACE_IOC_SNAPSHOT, 0), "TRACE_IOC_SNAPSHOT");
	fd = open_at(dir_of(snapshot), "trace", O_RDONLY);
	while ((len = check(read(fd, text, sizeof(text)), "trace")))
		fwrite(text, 1, len, stdout);
	return 0;
}
