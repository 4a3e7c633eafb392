// SPDX-License-Identifier: GPL-2.0
/*
 * user_event FILE NAME
 *
 * Register the event NAME of user space with FILE, which is user_events_data of tracefs, say so
 * by a line, and keep it until the input ends. The kernel deletes it then.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <linux/user_events.h>
#include <sys/ioctl.h>

int main(int argc, char **argv)
{
	static int enabled;
	struct user_reg reg = { .size = sizeof(reg), .enable_size = sizeof(enabled) };
	char c;
	int fd;

	if (argc != 3)
		errx(2, "usage: user_event FILE NAME");
	fd = open(argv[1], O_RDWR);
	if (fd < 0)
		err(1, "%s", argv[1]);
	reg.enable_addr = (uintptr_t)&enabled;
	reg.name_args = (uintptr_t)argv[2];
	if (ioctl(fd, DIAG_IOCSREG, &reg))
		err(1, "%s", argv[2]);
	puts("registered");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	return 0;
}
