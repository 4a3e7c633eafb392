/* SPDX-License-Identifier: GPL-2.0 */
/* data_race() for ThreadSanitizer: the accesses in it are not looked at. */
#ifndef SHIM_TSAN_LINUX_KCSAN_CHECKS_H
#define SHIM_TSAN_LINUX_KCSAN_CHECKS_H

#include_next <linux/kcsan-checks.h>

#ifdef __SANITIZE_THREAD__
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);

/* (Its name says reads, it does writes as well.) */
#undef __kcsan_disable_current
#undef __kcsan_enable_current
#define __kcsan_disable_current()	AnnotateIgnoreReadsBegin(__FILE__, __LINE__)
#define __kcsan_enable_current()	AnnotateIgnoreReadsEnd(__FILE__, __LINE__)
#endif

#endif /* SHIM_TSAN_LINUX_KCSAN_CHECKS_H */
