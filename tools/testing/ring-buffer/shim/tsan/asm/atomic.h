/* SPDX-License-Identifier: GPL-2.0 */
/* The inline assembly of arch/x86/include/asm/atomic.h, as atomics of the compiler. */
#ifndef SHIM_TSAN_ASM_ATOMIC_H
#define SHIM_TSAN_ASM_ATOMIC_H

#include_next <asm/atomic.h>

#undef arch_atomic_inc
#undef arch_atomic_dec
#undef arch_atomic_sub_and_test
#undef arch_atomic_dec_and_test
#undef arch_atomic_inc_and_test
#undef arch_atomic_add_negative
#undef arch_atomic64_inc
#undef arch_atomic64_dec
#undef arch_atomic64_sub_and_test
#undef arch_atomic64_dec_and_test
#undef arch_atomic64_inc_and_test
#undef arch_atomic64_add_negative

#define tsan_op(op, i, v)	__atomic_##op(&(v)->counter, (i), __ATOMIC_SEQ_CST)
/* One that returns nothing orders nothing. */
#define tsan_do(op, i, v)	((void)__atomic_##op(&(v)->counter, (i), __ATOMIC_RELAXED))

#define arch_atomic_add(i, v)			tsan_do(fetch_add, i, v)
#define arch_atomic_sub(i, v)			tsan_do(fetch_sub, i, v)
#define arch_atomic_inc(v)			tsan_do(fetch_add, 1, v)
#define arch_atomic_dec(v)			tsan_do(fetch_sub, 1, v)
#define arch_atomic_and(i, v)			tsan_do(fetch_and, i, v)
#define arch_atomic_or(i, v)			tsan_do(fetch_or, i, v)
#define arch_atomic_xor(i, v)			tsan_do(fetch_xor, i, v)
#define arch_atomic_sub_and_test(i, v)		(!tsan_op(sub_fetch, i, v))
#define arch_atomic_dec_and_test(v)		(!tsan_op(sub_fetch, 1, v))
#define arch_atomic_inc_and_test(v)		(!tsan_op(add_fetch, 1, v))
#define arch_atomic_add_negative(i, v)		(tsan_op(add_fetch, i, v) < 0)

#define arch_atomic64_add			arch_atomic_add
#define arch_atomic64_sub			arch_atomic_sub
#define arch_atomic64_inc			arch_atomic_inc
#define arch_atomic64_dec			arch_atomic_dec
#define arch_atomic64_and			arch_atomic_and
#define arch_atomic64_or			arch_atomic_or
#define arch_atomic64_xor			arch_atomic_xor
#define arch_atomic64_sub_and_test		arch_atomic_sub_and_test
#define arch_atomic64_dec_and_test		arch_atomic_dec_and_test
#define arch_atomic64_inc_and_test		arch_atomic_inc_and_test
#define arch_atomic64_add_negative		arch_atomic_add_negative

/* The weaker ones, which x86 has not: without these, they would be as strong as the others. */
#define arch_atomic_cmpxchg_acquire(v, o, n) \
	tsan_cmpxchg(&(v)->counter, o, n, __ATOMIC_ACQUIRE)
#define arch_atomic_try_cmpxchg_acquire(v, o, n) \
	tsan_try_cmpxchg(&(v)->counter, o, n, __ATOMIC_ACQUIRE)
#define arch_atomic_xchg_acquire(v, n) \
	tsan_xchg(&(v)->counter, n, __ATOMIC_ACQUIRE)
#define arch_atomic_fetch_add_acquire(i, v) \
	__atomic_fetch_add(&(v)->counter, i, __ATOMIC_ACQUIRE)
#define arch_atomic_fetch_sub_acquire(i, v) \
	__atomic_fetch_sub(&(v)->counter, i, __ATOMIC_ACQUIRE)
#define arch_atomic_cmpxchg_release(v, o, n) \
	tsan_cmpxchg(&(v)->counter, o, n, __ATOMIC_RELEASE)
#define arch_atomic_try_cmpxchg_release(v, o, n) \
	tsan_try_cmpxchg(&(v)->counter, o, n, __ATOMIC_RELEASE)
#define arch_atomic_xchg_release(v, n) \
	tsan_xchg(&(v)->counter, n, __ATOMIC_RELEASE)
#define arch_atomic_fetch_add_release(i, v) \
	__atomic_fetch_add(&(v)->counter, i, __ATOMIC_RELEASE)
#define arch_atomic_fetch_sub_release(i, v) \
	__atomic_fetch_sub(&(v)->counter, i, __ATOMIC_RELEASE)
#define arch_atomic_cmpxchg_relaxed(v, o, n) \
	tsan_cmpxchg(&(v)->counter, o, n, __ATOMIC_RELAXED)
#define arch_atomic_try_cmpxchg_relaxed(v, o, n) \
	tsan_try_cmpxchg(&(v)->counter, o, n, __ATOMIC_RELAXED)
#define arch_atomic_xchg_relaxed(v, n) \
	tsan_xchg(&(v)->counter, n, __ATOMIC_RELAXED)
#define arch_atomic_fetch_add_relaxed(i, v) \
	__atomic_fetch_add(&(v)->counter, i, __ATOMIC_RELAXED)
#define arch_atomic_fetch_sub_relaxed(i, v) \
	__atomic_fetch_sub(&(v)->counter, i, __ATOMIC_RELAXED)

#define arch_atomic64_cmpxchg_acquire		arch_atomic_cmpxchg_acquire
#define arch_atomic64_try_cmpxchg_acquire	arch_atomic_try_cmpxchg_acquire
#define arch_atomic64_xchg_acquire		arch_atomic_xchg_acquire
#define arch_atomic64_fetch_add_acquire		arch_atomic_fetch_add_acquire
#define arch_atomic64_fetch_sub_acquire		arch_atomic_fetch_sub_acquire
#define arch_atomic64_cmpxchg_release		arch_atomic_cmpxchg_release
#define arch_atomic64_try_cmpxchg_release	arch_atomic_try_cmpxchg_release
#define arch_atomic64_xchg_release		arch_atomic_xchg_release
#define arch_atomic64_fetch_add_release		arch_atomic_fetch_add_release
#define arch_atomic64_fetch_sub_release		arch_atomic_fetch_sub_release
#define arch_atomic64_cmpxchg_relaxed		arch_atomic_cmpxchg_relaxed
#define arch_atomic64_try_cmpxchg_relaxed	arch_atomic_try_cmpxchg_relaxed
#define arch_atomic64_xchg_relaxed		arch_atomic_xchg_relaxed
#define arch_atomic64_fetch_add_relaxed		arch_atomic_fetch_add_relaxed
#define arch_atomic64_fetch_sub_relaxed		arch_atomic_fetch_sub_relaxed

#endif /* SHIM_TSAN_ASM_ATOMIC_H */
