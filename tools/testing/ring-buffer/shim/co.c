// SPDX-License-Identifier: GPL-2.0
/*
 * One coroutine: an operation of another CPU that is started while this CPU is
 * stopped between two instructions. When it has to wait, the stopped CPU goes
 * on, and the operation is resumed later. It keeps its own %gs.
 */
#include <stdlib.h>
#include "shim.h"

#define CO_STACK (256 << 10)

static void *co_sp, *main_sp;
static char *co_stack;
static void (*co_fn)(void);
static volatile int inside, active;
static int co_cpu;
static enum host_wait_for waits_for;
void (*co_needed)(void);

void co_switch(void **save, void *to);
__asm__(".text\n"
	".globl co_switch\n"
	"co_switch:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n"
	"	push %r13\n	push %r14\n	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n"
	"	pop %r12\n	pop %rbx\n	pop %rbp\n"
	"	ret\n");

static void co_main(void)
{
	co_fn();
	active = 0;
	co_switch(&co_sp, main_sp);
	abort();
}

static int co_enter(int cpu)
{
	int me = host_cpu_switch(cpu);

	inside = 1;
	co_switch(&main_sp, co_sp);
	inside = 0;
	co_cpu = host_cpu_switch(me);
	return !active;
}

int co_start(void (*fn)(void))
{
	void **sp;

	if (!co_stack)
		co_stack = host_malloc(CO_STACK, 4096);
	sp = (void **)(co_stack + CO_STACK - 8);
	*--sp = (void *)co_main;
	sp -= 6;		/* for co_switch() to pop */
	co_sp = sp;
	co_fn = fn;
	active = 1;
	return co_enter(shim_cpu());
}

int co_resume(void)
{
	return co_enter(co_cpu);
}

void host_wait(enum host_wait_for what)
{
	if (!inside) {
		if (active && co_needed)
			co_needed();
		else
			host_pause();
		return;
	}
	waits_for = what;
	inside = 0;
	co_switch(&co_sp, main_sp);
	inside = 1;
}

int co_active(void) { return active; }
int co_inside(void) { return inside; }
void co_abandon(void) { active = inside = 0; }
enum host_wait_for co_waits_for(void) { return waits_for; }
