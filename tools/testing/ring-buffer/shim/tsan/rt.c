// SPDX-License-Identifier: GPL-2.0
/*
 * With --param tsan-distinguish-volatile=1 gcc calls these before a volatile
 * access that asm/rwonce.h does not make: it orders nothing, and is no race.
 */
#define VOLATILE(n)								\
	void __tsan_volatile_read##n(void *addr) { }				\
	void __tsan_volatile_write##n(void *addr) { }

VOLATILE(1) VOLATILE(2) VOLATILE(4) VOLATILE(8) VOLATILE(16)
