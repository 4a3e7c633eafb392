/* SPDX-License-Identifier: GPL-2.0 */
/* local_t by the compiler's atomics, which ThreadSanitizer sees. It orders nothing. */
#ifndef _ARCH_LOCAL_H
#define _ARCH_LOCAL_H

#include <linux/percpu.h>
#include <linux/atomic.h>

#define local_t			atomic_long_t
#define LOCAL_INIT(i)		ATOMIC_LONG_INIT(i)
#define LOCAL_PTR(l)		(&(l)->counter)

#define local_read(l)		((long)__atomic_load_n(LOCAL_PTR(l), __ATOMIC_RELAXED))
#define local_set(l, i)		__atomic_store_n(LOCAL_PTR(l), (i), __ATOMIC_RELAXED)
#define local_xchg(l, n)	__atomic_exchange_n(LOCAL_PTR(l), (n), __ATOMIC_RELAXED)
#define local_add_return(i, l)	__atomic_add_fetch(LOCAL_PTR(l), (i), __ATOMIC_RELAXED)
#define local_sub_return(i, l)	__atomic_sub_fetch(LOCAL_PTR(l), (i), __ATOMIC_RELAXED)
#define local_add(i, l)		((void)local_add_return(i, l))
#define local_sub(i, l)		((void)local_sub_return(i, l))
#define local_inc(l)		local_add(1, l)
#define local_dec(l)		local_sub(1, l)
#define local_inc_return(l)	local_add_return(1, l)
#define local_dec_return(l)	local_sub_return(1, l)
#define local_dec_and_test(l)	(!local_dec_return(l))
#define local_inc_and_test(l)	(!local_inc_return(l))
#define local_sub_and_test(i, l) (!local_sub_return(i, l))

static inline bool local_try_cmpxchg(local_t *l, long *old, long new)
{
	return __atomic_compare_exchange_n(LOCAL_PTR(l), old, new, 0, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

static inline long local_cmpxchg(local_t *l, long old, long new)
{
	local_try_cmpxchg(l, &old, new);
	return old;
}

#define __local_inc(l)		local_inc(l)
#define __local_dec(l)		local_dec(l)
#define __local_add(i, l)	local_add(i, l)
#define __local_sub(i, l)	local_sub(i, l)

#endif /* _ARCH_LOCAL_H */
