/* SPDX-License-Identifier: GPL-2.0 */
/* An address dependency, see ../asm/rwonce.h. */
#ifndef SHIM_TSAN_LINUX_RCUPDATE_H
#define SHIM_TSAN_LINUX_RCUPDATE_H

#include_next <linux/rcupdate.h>

#undef rcu_dereference_raw
#define rcu_dereference_raw(p)	tsan_load(&(p), __ATOMIC_ACQUIRE)

#endif /* SHIM_TSAN_LINUX_RCUPDATE_H */
