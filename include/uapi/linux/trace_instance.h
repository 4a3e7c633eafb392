/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Instances and snapshots of tracefs that belong to an open file.
 */
#ifndef _UAPI_LINUX_TRACE_INSTANCE_H
#define _UAPI_LINUX_TRACE_INSTANCE_H

#include <linux/ioctl.h>

/*
 * Open the directory of the instance that the file owns: of "instance_open", or of the
 * descriptor that TRACE_IOC_SNAPSHOT returned. The argument is 0. Returns a descriptor with
 * O_PATH and O_CLOEXEC, for openat(). It owns nothing. EXDEV: the mount of the file does not
 * have that directory.
 */
#define TRACE_IOC_INSTANCE_DIR	_IO('R', 0x30)

/*
 * Take a snapshot, by a file "snapshot" that is open for writing. The argument is 0. Returns
 * a descriptor with O_CLOEXEC that owns the snapshot: the last close() frees it. It is shown
 * by an instance with the name that read() gives.
 */
#define TRACE_IOC_SNAPSHOT	_IO('R', 0x31)

#endif /* _UAPI_LINUX_TRACE_INSTANCE_H */
