/* SPDX-License-Identifier: GPL-2.0 */
/*
 * READ_ONCE() and WRITE_ONCE() by the compiler's atomics: ThreadSanitizer sees the
 * access, and that it orders nothing. Accesses that order are in barrier.h, cmpxchg.h
 * and atomic.h, by their own names.
 *
 * An address is an exception: a load through it comes after the load of it. The
 * compiler has no such order. The next stronger one is an acquire, which also orders
 * accesses that do not depend on the address. So only the code that relies on the
 * dependency has it: the functions of RB_DEPENDS() and rcu_dereference().
 */
#ifndef SHIM_TSAN_ASM_RWONCE_H
#define SHIM_TSAN_ASM_RWONCE_H

#include <asm-generic/rwonce.h>

#undef __READ_ONCE
#undef __WRITE_ONCE

/* A writer finds the ring by &rb_cpu.ring, and takes no lock. */
#define RB_DEPENDS(function)	(!__builtin_strcmp(function, "rb_enter") ||	\
				 !__builtin_strcmp(function, "rb_still_full"))

/* Values of any type, page table entries are structures, without qualifiers. */
#define tsan_load(ptr, order)							\
({										\
	__auto_type ptr_ = (ptr);						\
	typeof(({ *ptr_; })) once_;						\
										\
	__atomic_load((typeof(once_) *)ptr_, &once_, order);			\
	once_;									\
})

#define tsan_store(ptr, val, order)						\
do {										\
	__auto_type ptr_ = (ptr);						\
	typeof(({ *ptr_; })) once_ = (val);					\
										\
	__atomic_store((typeof(once_) *)ptr_, &once_, order);			\
} while (0)

#define __READ_ONCE(x)								\
({										\
	__auto_type at_ = &(x);							\
										\
	RB_DEPENDS(__func__) ? tsan_load(at_, __ATOMIC_ACQUIRE) :		\
			       tsan_load(at_, __ATOMIC_RELAXED);		\
})
#define __WRITE_ONCE(x, val)	tsan_store(&(x), val, __ATOMIC_RELAXED)

#endif /* SHIM_TSAN_ASM_RWONCE_H */
