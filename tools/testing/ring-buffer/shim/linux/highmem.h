/* SPDX-License-Identifier: GPL-2.0 */
/* As where kernel and user addresses have caches of their own: a flush is noted. */
#ifndef ARCH_IMPLEMENTS_FLUSH_KERNEL_VMAP_RANGE
#define ARCH_IMPLEMENTS_FLUSH_KERNEL_VMAP_RANGE 1
void flush_kernel_vmap_range(void *vaddr, int size);
#endif

#include_next <linux/highmem.h>
