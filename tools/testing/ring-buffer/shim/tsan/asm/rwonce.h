/* SPDX-License-Identifier: GPL-2.0 */
/*
 * READ_ONCE(), WRITE_ONCE() and what is built on them, up to smp_load_acquire()
 * and atomic_read(), by the compiler's atomics: an acquire and a release, so
 * that ThreadSanitizer sees the access and its order as one. Since READ_ONCE()
 * gives less order than that, plain accesses are what this build finds.
 */
#ifndef SHIM_TSAN_ASM_RWONCE_H
#define SHIM_TSAN_ASM_RWONCE_H

#include <asm-generic/rwonce.h>

#undef __READ_ONCE
#undef __WRITE_ONCE

/* Values of any type, page table entries are structures, without qualifiers. */
#define __READ_ONCE(x)								\
({										\
	__auto_type ptr_ = &(x);						\
	typeof(({ *ptr_; })) once_;						\
										\
	__atomic_load((typeof(once_) *)ptr_, &once_, __ATOMIC_ACQUIRE);		\
	once_;									\
})

#define __WRITE_ONCE(x, val)							\
do {										\
	__auto_type ptr_ = &(x);						\
	typeof(({ *ptr_; })) once_ = (val);					\
										\
	__atomic_store((typeof(once_) *)ptr_, &once_, __ATOMIC_RELEASE);	\
} while (0)

#endif /* SHIM_TSAN_ASM_RWONCE_H */
