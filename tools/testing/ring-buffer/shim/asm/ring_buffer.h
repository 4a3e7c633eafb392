/* SPDX-License-Identifier: GPL-2.0 */
/* Caches are not flushed here: the calls are noted. */
#ifndef _RB_SHIM_ASM_RING_BUFFER_H
#define _RB_SHIM_ASM_RING_BUFFER_H

#include "../shim.h"

#define arch_ring_buffer_flush_range(start, end)	shim_flush_range(start, end)

#endif /* _RB_SHIM_ASM_RING_BUFFER_H */
