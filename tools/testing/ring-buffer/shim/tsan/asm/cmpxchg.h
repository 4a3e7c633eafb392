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

#define arch_try_cmpxchg(p, old, new)						\
	__atomic_compare_exchange_n((p), (old), (new), 0, __ATOMIC_SEQ_CST,	\
				    __ATOMIC_SEQ_CST)
#define arch_cmpxchg(p, old, new)						\
({										\
	__auto_type ptr_ = (p);							\
	__typeof__(*ptr_) old_ = (__typeof__(*ptr_))(old);			\
										\
	arch_try_cmpxchg(ptr_, &old_, (new));					\
	old_;									\
})
/* the generic form: page table entries are structures */
#define arch_xchg(p, new)							\
({										\
	__auto_type ptr_ = (p);							\
	__typeof__(*ptr_) new_ = (new), old_;					\
										\
	__atomic_exchange(ptr_, &new_, &old_, __ATOMIC_SEQ_CST);			\
	old_;									\
})
#define xadd(p, inc)		__atomic_fetch_add((p), (inc), __ATOMIC_SEQ_CST)

#define arch_cmpxchg_local	arch_cmpxchg
#define arch_try_cmpxchg_local	arch_try_cmpxchg
#define arch_sync_cmpxchg	arch_cmpxchg
#define arch_sync_try_cmpxchg	arch_try_cmpxchg
#define arch_cmpxchg64		arch_cmpxchg
#define arch_cmpxchg64_local	arch_cmpxchg
#define arch_try_cmpxchg64	arch_try_cmpxchg
#define arch_try_cmpxchg64_local arch_try_cmpxchg
#define system_has_cmpxchg128()	0

#endif /* ASM_X86_CMPXCHG_H */
