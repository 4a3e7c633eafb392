// SPDX-License-Identifier: GPL-2.0
/*
 * With --param tsan-distinguish-volatile=1 gcc calls these before a volatile
 * access that asm/rwonce.h does not make: an acquire before a read and a release
 * before a write, and no race between them.
 */
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);

#define VOLATILE(n)								\
	void __tsan_volatile_read##n(void *addr) { __tsan_acquire(addr); }	\
	void __tsan_volatile_write##n(void *addr) { __tsan_release(addr); }

VOLATILE(1) VOLATILE(2) VOLATILE(4) VOLATILE(8) VOLATILE(16)
