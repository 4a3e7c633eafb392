// SPDX-License-Identifier: GPL-2.0
/* Spin locks, mutexes and semaphores. Each wait calls host_wait(). */
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include "shim.h"

#ifdef CONFIG_QUEUED_SPINLOCKS
void queued_spin_lock_slowpath(struct qspinlock *lock, u32 val)
{
	do {
		while (atomic_read(&lock->val))
			host_wait(WAIT_LOCK);
	} while (atomic_cmpxchg_acquire(&lock->val, 0, _Q_LOCKED_VAL));
}
#endif

void _raw_spin_lock(raw_spinlock_t *l)
{
	preempt_disable();
	arch_spin_lock(&l->raw_lock);
}

int _raw_spin_trylock(raw_spinlock_t *l)
{
	preempt_disable();
	if (arch_spin_trylock(&l->raw_lock))
		return 1;
	preempt_enable();
	return 0;
}

void _raw_spin_unlock(raw_spinlock_t *l)
{
	arch_spin_unlock(&l->raw_lock);
	preempt_enable();
}

void _raw_spin_lock_irq(raw_spinlock_t *l)
{
	arch_local_irq_disable();
	_raw_spin_lock(l);
}

void _raw_spin_unlock_irq(raw_spinlock_t *l)
{
	arch_spin_unlock(&l->raw_lock);
	arch_local_irq_enable();
	preempt_enable();
}

unsigned long _raw_spin_lock_irqsave(raw_spinlock_t *l)
{
	unsigned long flags = arch_local_irq_save();

	_raw_spin_lock(l);
	return flags;
}

void _raw_spin_unlock_irqrestore(raw_spinlock_t *l, unsigned long flags)
{
	arch_spin_unlock(&l->raw_lock);
	arch_local_irq_restore(flags);
	preempt_enable();
}

#ifdef LINUX_7
void mutex_init_generic(struct mutex *m)
#else
void __mutex_init(struct mutex *m, const char *name, struct lock_class_key *key)
#endif
{
	atomic_long_set(&m->owner, 0);
}

int mutex_trylock(struct mutex *m)
{
	return !atomic_long_cmpxchg_acquire(&m->owner, 0, 1);
}

void mutex_lock(struct mutex *m)
{
	while (!mutex_trylock(m))
		host_wait(WAIT_MUTEX);
}

void mutex_unlock(struct mutex *m) { atomic_long_set_release(&m->owner, 0); }

void down_write(struct rw_semaphore *s) { }
void up_write(struct rw_semaphore *s) { }
