/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where preemption goes off and comes on again, a section that RCU waits for
 * begins and ends. The count itself is inline assembly, which ThreadSanitizer
 * does not see: see synchronize_rcu() in ../../rcu.c.
 */
#ifndef SHIM_TSAN_ASM_PREEMPT_H
#define SHIM_TSAN_ASM_PREEMPT_H

#include_next <asm/preempt.h>

extern int shim_rcu_order, shim_rcu_begin;
void host_acquire(void *addr);
void host_release(void *addr);

#define __preempt_count_add(val)						\
	(__preempt_count_add(val), host_acquire(&shim_rcu_begin))
#define __preempt_count_sub(val)						\
	(host_release(&shim_rcu_order), __preempt_count_sub(val))
#define __preempt_count_dec_and_test()						\
	(host_release(&shim_rcu_order), __preempt_count_dec_and_test())

#endif /* SHIM_TSAN_ASM_PREEMPT_H */
