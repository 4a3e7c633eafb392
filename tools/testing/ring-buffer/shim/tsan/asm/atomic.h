/* SPDX-License-Identifier: GPL-2.0 */
/* What arch/x86/include/asm/atomic.h has as inline assembly, by the compiler's atomics. */
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

#define arch_atomic_add(i, v)			((void)tsan_op(fetch_add, i, v))
#define arch_atomic_sub(i, v)			((void)tsan_op(fetch_sub, i, v))
#define arch_atomic_inc(v)			((void)tsan_op(fetch_add, 1, v))
#define arch_atomic_dec(v)			((void)tsan_op(fetch_sub, 1, v))
#define arch_atomic_and(i, v)			((void)tsan_op(fetch_and, i, v))
#define arch_atomic_or(i, v)			((void)tsan_op(fetch_or, i, v))
#define arch_atomic_xor(i, v)			((void)tsan_op(fetch_xor, i, v))
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

#endif /* SHIM_TSAN_ASM_ATOMIC_H */
