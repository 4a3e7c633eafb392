/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Acquire and release by the compiler's atomics. ThreadSanitizer knows nothing of
 * smp_mb(), smp_rmb() and smp_wmb(): litmus tests check the code that relies on them.
 */
#ifndef SHIM_TSAN_ASM_BARRIER_H
#define SHIM_TSAN_ASM_BARRIER_H

#include_next <asm/barrier.h>

#undef __smp_load_acquire
#undef __smp_store_release

#define __smp_load_acquire(p)		tsan_load(p, __ATOMIC_ACQUIRE)
#define __smp_store_release(p, v)	tsan_store(p, v, __ATOMIC_RELEASE)

#endif /* SHIM_TSAN_ASM_BARRIER_H */
