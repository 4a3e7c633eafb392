/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Takes the place of arch/x86/include/asm/irqflags.h, the only kernel header
 * that is replaced. Instead of the processor's flag a per-CPU word says whether
 * interrupts are on: the shim holds "IRQ" signals back while it is clear, and
 * always delivers "NMI" signals.
 */
#ifndef _X86_IRQFLAGS_H_
#define _X86_IRQFLAGS_H_

#include <asm/processor-flags.h>

#ifndef __ASSEMBLY__
#include <linux/types.h>
#include <asm/nospec-branch.h>

static __always_inline unsigned long arch_local_save_flags(void)
{
	unsigned long flags;

	asm volatile("movq %%gs:shim_irq_flags(%%rip), %0" : "=r" (flags) : : "memory");
	return flags;
}

static __always_inline void arch_local_irq_disable(void)
{
	asm volatile("movq $0, %%gs:shim_irq_flags(%%rip)" : : : "memory");
}

static __always_inline void arch_local_irq_enable(void)
{
	asm volatile("movq $0x200, %%gs:shim_irq_flags(%%rip)" : : : "memory");
}

static __always_inline int arch_irqs_disabled_flags(unsigned long flags)
{
	return !(flags & X86_EFLAGS_IF);
}

static __always_inline int arch_irqs_disabled(void)
{
	return arch_irqs_disabled_flags(arch_local_save_flags());
}

static __always_inline unsigned long arch_local_irq_save(void)
{
	unsigned long flags = arch_local_save_flags();

	arch_local_irq_disable();
	return flags;
}

static __always_inline void arch_local_irq_restore(unsigned long flags)
{
	if (!arch_irqs_disabled_flags(flags))
		arch_local_irq_enable();
}

/* Names that other headers of arch/x86 use */
#define native_save_fl		arch_local_save_flags
#define native_irq_disable	arch_local_irq_disable
#define native_irq_enable	arch_local_irq_enable
#define native_local_irq_save	arch_local_irq_save
#define native_local_irq_restore arch_local_irq_restore

static __always_inline void native_safe_halt(void) { arch_local_irq_enable(); }
static __always_inline void native_halt(void) { }
static __always_inline void arch_safe_halt(void) { arch_local_irq_enable(); }
static __always_inline void halt(void) { }

#endif /* __ASSEMBLY__ */
#endif /* _X86_IRQFLAGS_H_ */
