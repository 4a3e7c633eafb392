/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stops of tracing by a crash, see Documentation/trace/recorder.rst.
 */
#ifndef _LINUX_TRACE_STOP_H
#define _LINUX_TRACE_STOP_H

#include <linux/types.h>

#ifdef CONFIG_TRACING
bool trace_stop_oops(void);
void trace_stop_panic(void);
#else
static inline bool trace_stop_oops(void) { return false; }
static inline void trace_stop_panic(void) { }
#endif

#endif /* _LINUX_TRACE_STOP_H */
