// SPDX-License-Identifier: GPL-2.0
/* WARN() and BUG() are ud2; host.c gets SIGILL and asks here for the kind. */
#include <linux/kernel.h>
#include <linux/bug.h>
#include <linux/refcount.h>
#include "shim.h"

extern struct bug_entry __start___bug_table[], __stop___bug_table[];

int shim_bug(unsigned long rip, const char **file, int *line)
{
	struct bug_entry *b;

	for (b = __start___bug_table; b < __stop___bug_table; b++) {
		if ((unsigned long)&b->bug_addr_disp + b->bug_addr_disp != rip)
			continue;
#ifdef CONFIG_DEBUG_BUGVERBOSE
		*file = (const char *)&b->file_disp + b->file_disp;
		*line = b->line;
#endif
		if (!(b->flags & BUGFLAG_WARNING))
			return 0;
		if (b->flags & BUGFLAG_DONE)
			return 2;
		b->flags |= BUGFLAG_DONE;
		return 1;
	}
	return -1;
}

void refcount_warn_saturate(refcount_t *r, enum refcount_saturation_type t)
{
	WARN(1, "refcount saturated (%d)\n", t);
}
