/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A panic that ends behind the notifiers of tracing.
 */
#ifndef _KERNEL_TRACE_TESTS_PANIC_H
#define _KERNEL_TRACE_TESTS_PANIC_H

#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/rcupdate.h>

static inline int kunit_panic_end(struct notifier_block *self, unsigned long event, void *unused)
{
	return NOTIFY_STOP;
}

/* Call the panic notifiers of snapshots and of stops, and none that comes before or after. */
static inline void kunit_panic(struct kunit *test)
{
	struct notifier_block last = {
		.notifier_call	= kunit_panic_end,
		.priority	= INT_MAX - 3,
	};
	struct notifier_block *first[8], *nb;
	unsigned int i, nr = 0;

	/* Those before print or hang, and those after would end this machine. */
	while (nr < ARRAY_SIZE(first)) {
		nb = rcu_access_pointer(panic_notifier_list.head);
		if (!nb || nb->priority < INT_MAX - 1)
			break;
		first[nr++] = nb;
		atomic_notifier_chain_unregister(&panic_notifier_list, nb);
	}
	KUNIT_ASSERT_EQ(test, atomic_notifier_chain_register(&panic_notifier_list, &last), 0);
	atomic_notifier_call_chain(&panic_notifier_list, 0, "");
	atomic_notifier_chain_unregister(&panic_notifier_list, &last);
	for (i = 0; i < nr; i++)
		atomic_notifier_chain_register(&panic_notifier_list, first[i]);
}

#endif /* _KERNEL_TRACE_TESTS_PANIC_H */
