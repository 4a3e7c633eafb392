// SPDX-License-Identifier: GPL-2.0
/* Signals as interrupts: SIGUSR1 is an IRQ, SIGUSR2 an NMI, which may come in an IRQ. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include "../shim/shim.h"
#include "run.h"

static void (*irq_fn)(void), (*nmi_fn)(void);

/* Calls of the C library by the shim must leave the interrupted code as it was. */
static void on_irq(int sig)
{
	int err = errno;

	if (shim_irqs_off())
		return;
	shim_ctx_enter(CTX_IRQ);
	irq_fn();
	shim_ctx_exit(CTX_IRQ);
	shim_ipi();
	errno = err;
}

static void on_nmi(int sig)
{
	int err = errno;

	shim_ctx_enter(CTX_NMI);
	nmi_fn();
	shim_ctx_exit(CTX_NMI);
	errno = err;
}

void host_interrupts(void (*irq)(void), void (*nmi)(void))
{
	struct sigaction i = { .sa_handler = on_irq, .sa_flags = SA_RESTART };
	struct sigaction n = { .sa_handler = on_nmi, .sa_flags = SA_RESTART };

	irq_fn = irq;
	nmi_fn = nmi;
	sigaddset(&i.sa_mask, SIGURG);
	sigaddset(&n.sa_mask, SIGUSR1);
	sigaddset(&n.sa_mask, SIGURG);
	sigaction(SIGUSR1, &i, NULL);
	sigaction(SIGUSR2, &n, NULL);
}

void host_interrupts_on(int on)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(on ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL);
}

void host_send_irq(int cpu)
{
	host_signal(cpu, SIGUSR1);
}

void host_send_nmi(int cpu)
{
	host_signal(cpu, SIGUSR2);
}
