// SPDX-License-Identifier: GPL-2.0
/*
 * Instances that stay while no lock is held.
 */
#include "internal.h"

static struct dat_pins *dat_pins_alloc(unsigned int nr)
{
	struct dat_pins *pins = kvzalloc(struct_size(pins, tr, nr), GFP_KERNEL);

	return pins ?: ERR_PTR(-ENOMEM);
}

static void dat_pin(struct dat_pins *pins, struct trace_array *tr)
{
	tr->ref++;
	pins->tr[pins->nr++] = tr;
}

/**
 * dat_pin_members() - hold references to the members of a snapshot
 * @whole: the instance of the snapshot; its parts belong to it
 *
 * Context: May sleep.
 * Return: the members, for dat_unpin(); -ENOMEM or -EINTR.
 */
struct dat_pins *dat_pin_members(struct trace_array *whole)
{
	struct trace_array *tr;
	struct dat_pins *pins;

	if (mutex_lock_killable(&trace_types_lock))
		return ERR_PTR(-EINTR);
	pins = dat_pins_alloc(1 + trace_nr_channels(whole));
	if (!IS_ERR(pins)) {
		for_each_session_member(tr, whole)
			dat_pin(pins, tr);
	}
	mutex_unlock(&trace_types_lock);
	return pins;
}

/**
 * dat_pin_kept() - hold references to the instances of all kept snapshots
 *
 * Context: May sleep.
 * Return: the instances, for dat_unpin(); -ENOMEM.
 */
struct dat_pins *dat_pin_kept(void)
{
	struct trace_array *tr;
	struct dat_pins *pins;
	unsigned int nr = 0;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list)
		nr += trace_is_kept(tr);
	pins = dat_pins_alloc(nr);
	if (IS_ERR(pins))
		return pins;
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (trace_is_kept(tr))
			dat_pin(pins, tr);
	}
	return pins;
}

/**
 * dat_unpin() - put references
 * @pins: the instances
 *
 * Context: May sleep.
 */
void dat_unpin(struct dat_pins *pins)
{
	while (pins->nr)
		trace_array_put(pins->tr[--pins->nr]);
	kvfree(pins);
}
