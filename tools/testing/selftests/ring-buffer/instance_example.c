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

/* Open a file of the instance that @owner owns. */
static int open_of(int owner, const char *name, int flags)
{
	char path[600], instance[256];
	int len = check(pread(owner, instance, sizeof(instance), 0), "name");

	/* A newline is behind the name. */
	snprintf(path, sizeof(path), "/sys/kernel/tracing/instances/%.*s/%s", len - 1, instance,
		 name);
	return check(open(path, flags | O_CLOEXEC), path);
}

int main(void)
{
	int instance, fd, snapshot, len;
	char text[4096];

	instance = check(open("/sys/kernel/tracing/instance_open", O_RDWR | O_CLOEXEC), "open");
	fd = open_of(instance, "trace_marker", O_WRONLY);
	check(dprintf(fd, "hello from C\n"), "trace_marker");

	fd = open_of(instance, "snapshot", O_WRONLY);
	snapshot = check(ioctl(fd, TRACE_IOC_SNAPSHOT, 0), "TRACE_IOC_SNAPSHOT");
	fd = open_of(snapshot, "trace", O_RDONLY);
	while ((len = check(read(fd, text, sizeof(text)), "trace")))
		fwrite(text, 1, len, stdout);
	return 0;
}
