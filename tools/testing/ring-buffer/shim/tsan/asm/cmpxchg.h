/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Takes the place of arch/x86/include/asm/cmpxchg.h in ThreadSanitizer builds:
 * compare-and-exchange and all that is built on it, atomic_t and spin locks
 * too, by the compiler's atomics.
 */
#ifndef ASM_X86_CMPXCHG_H
#define ASM_X86_CMPXCHG_H

#include <linux/compiler.h>
#include <asm/cpufeatures.h>
#include <asm/alternative.h>

/* One that fails orders nothing. */
#define tsan_try_cmpxchg(p, old, new, order)					\
	__atomic_compare_exchange_n((p), (old), (new), 0, order, __ATOMIC_RELAXED)
#define tsan_cmpxchg(p, old, new, order)					\
({										\
	__auto_type ptr_ = (p);							\
	__typeof__(*ptr_) old_ = (__typeof__(*ptr_))(old);			\
										\
	tsan_try_cmpxchg(ptr_, &old_, (new), order);				\
	old_;									\
})
/* the generic form: page table entries are structures */
#define tsan_xchg(p, new, order)						\
({										\
	__auto_type ptr_ = (p);							\
	__typeof__(*ptr_) new_ = (new), old_;					\
										\
	__atomic_exchange(ptr_, &new_, &old_, order);				\
	old_;									\
})

#define arch_try_cmpxchg(p, old, new)		tsan_try_cmpxchg(p, old, new, __ATOMIC_SEQ_CST)
#define arch_try_cmpxchg_acquire(p, old, new)	tsan_try_cmpxchg(p, old, new, __ATOMIC_ACQUIRE)
#define arch_try_cmpxchg_release(p, old, new)	tsan_try_cmpxchg(p, old, new, __ATOMIC_RELEASE)
#define arch_try_cmpxchg_relaxed(p, old, new)	tsan_try_cmpxchg(p, old, new, __ATOMIC_RELAXED)
#define arch_cmpxchg(p, old, new)		tsan_cmpxchg(p, old, new, __ATOMIC_SEQ_CST)
#define arch_cmpxchg_acquire(p, old, new)	tsan_cmpxchg(p, old, new, __ATOMIC_ACQUIRE)
#define arch_cmpxchg_release(p, old, new)	tsan_cmpxchg(p, old, new, __ATOMIC_RELEASE)
#define arch_cmpxchg_relaxed(p, old, new)	tsan_cmpxchg(p, old, new, __ATOMIC_RELAXED)
#define arch_xchg(p, new)			tsan_xchg(p, new, __ATOMIC_SEQ_CST)
#define arch_xchg_acquire(p, new)		tsan_xchg(p, new, __ATOMIC_ACQUIRE)
#define arch_xchg_release(p, new)		tsan_xchg(p, new, __ATOMIC_RELEASE)
#define arch_xchg_relaxed(p, new)		tsan_xchg(p, new, __ATOMIC_RELAXED)
#define xadd(p, inc)		__atomic_fetch_add((p), (inc), __ATOMIC_SEQ_CST)

#define arch_cmpxchg_local	arch_cmpxchg_relaxed
#define arch_try_cmpxchg_local	arch_try_cmpxchg_relaxed
#define arch_sync_cmpxchg	arch_cmpxchg
#define arch_sync_try_cmpxchg	arch_try_cmpxchg
#define arch_cmpxchg64		arch_cmpxchg
#define arch_cmpxchg64_local	arch_cmpxchg_relaxed
#define arch_try_cmpxchg64	arch_try_cmpxchg
#define arch_try_cmpxchg64_local arch_try_cmpxchg_relaxed
#define system_has_cmpxchg128()	0

#endif /* ASM_X86_CMPXCHG_H */
