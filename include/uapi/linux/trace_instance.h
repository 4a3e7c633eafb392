/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Snapshots of tracefs that belong to an open file.
 */
#ifndef _UAPI_LINUX_TRACE_INSTANCE_H
#define _UAPI_LINUX_TRACE_INSTANCE_H

#include <linux/ioctl.h>

/*
 * Take a snapshot, by a file "snapshot" that is open for writing. The argument is 0. Returns
 * a descriptor with O_CLOEXEC that owns the snapshot: the last close() frees it. It is shown
 * by the instance with the name that read() of the descriptor gives.
 */
#define TRACE_IOC_SNAPSHOT	_IO('R', 0x31)

#endif /* _UAPI_LINUX_TRACE_INSTANCE_H */
