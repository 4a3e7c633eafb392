/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The last boot of an instance in memory that survives a reboot: the interface for the rest of
 * tracing; a part of trace.h.
 */
#ifndef _KERNEL_TRACE_LAST_BOOT_H
#define _KERNEL_TRACE_LAST_BOOT_H

#include "../ring_buffer/boots.h"
#include "area.h"
#include "format.h"

/**
 * struct last_boot_moment - contents of an entry of AREA_MOMENT
 * @clocks: the time by all clocks
 * @in_ns:  is 1 if the clock of the trace counts ns
 */
struct last_boot_moment {
	struct trace_clocks	clocks;
	u64			in_ns;
};

struct last_boot;
struct trace_event_file;
struct trace_seq;

#ifdef CONFIG_TRACER_SNAPSHOT
unsigned int last_boot_size(unsigned long range_size);
void last_boot_attach(struct trace_array *tr, void *memory, bool copy);
void last_boot_detach(struct trace_array *tr);
void last_boot_copy(const struct trace_array *tr, void *copy);
void last_boot_keep_event(struct trace_event_file *file);
void last_boot_keep_clock(struct trace_array *tr);

const struct area *last_boot_area(const struct trace_array *tr);
bool last_boot_same_kernel(const struct trace_array *tr);
const struct area_entry *last_boot_find(const struct trace_array *tr, enum area_kind kind, u64 key);
const struct area_entry *last_boot_find_symbol(const struct trace_array *tr, u64 addr);
const struct area_entry *last_boot_symbol(const struct trace_array *tr, unsigned int nr);
void last_boot_put_symbol(const struct trace_array *tr, struct trace_seq *s, u64 addr);
#else
static inline unsigned int last_boot_size(unsigned long range_size) { return 0; }
static inline void last_boot_attach(struct trace_array *tr, void *memory, bool copy) { }
static inline void last_boot_detach(struct trace_array *tr) { }
static inline void last_boot_copy(const struct trace_array *tr, void *copy) { }
static inline void last_boot_keep_event(struct trace_event_file *file) { }
static inline const struct area *last_boot_area(const struct trace_array *tr) { return NULL; }
static inline bool last_boot_same_kernel(const struct trace_array *tr) { return true; }
static inline const struct area_entry *
last_boot_find(const struct trace_array *tr, enum area_kind kind, u64 key) { return NULL; }
static inline const struct area_entry *
last_boot_find_symbol(const struct trace_array *tr, u64 addr) { return NULL; }
static inline void
last_boot_put_symbol(const struct trace_array *tr, struct trace_seq *s, u64 addr) { }
#endif

#endif
