// SPDX-License-Identifier: GPL-2.0
/* The shim's use of the C library, and virtual CPUs as threads. */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "shim.h"

volatile long host_warnings;
int host_quiet;
static volatile pid_t owner[SHIM_MAX_CPUS];
static __thread int my_cpu = -1;
static __thread char me;	/* its address identifies the thread */
static char *deputy;

void host_die(const char *msg)
{
	fprintf(stderr, "shim: %s\n", msg);
	abort();
}

void *host_malloc(unsigned long size, unsigned long align)
{
	void *p;

	return posix_memalign(&p, align < 16 ? 16 : align, size ? size : 1) ? NULL : p;
}

void host_sort(void *base, unsigned long n, unsigned long size,
	       int (*cmp)(const void *a, const void *b))
{
	qsort(base, n, size, cmp);
}

void host_free(void *p)
{
	free(p);
}

void host_pause(void)
{
	static __thread unsigned int n;

	__builtin_ia32_pause();
	if (!(++n & 1023))
		sched_yield();
}

void host_membarrier(void)
{
	__sync_synchronize();
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
		host_die("membarrier");
}

/* CPU time of this thread, without that of other programs */
unsigned long long host_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

int host_vsnprintf(char *buf, unsigned long n, const char *fmt, va_list ap)
{
	return vsnprintf(buf, n, fmt, ap);
}

void host_printf(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
}

/* printk() and WARN() text; a level is two bytes in front */
char host_said[256];

static int print_kernel(const char *fmt, va_list ap)
{
	if (fmt[0] == '\001' && fmt[1])
		fmt += 2;
	vsnprintf(host_said, sizeof(host_said), fmt, ap);
	return host_quiet ? 0 : fprintf(stderr, "%s", host_said);
}

int _printk(const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = print_kernel(fmt, ap);
	va_end(ap);
	return n;
}

void __warn_printk(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_kernel(fmt, ap);
	va_end(ap);
}

#ifdef __SANITIZE_ADDRESS__
void __asan_poison_memory_region(void const volatile *p, size_t n);
void __asan_unpoison_memory_region(void const volatile *p, size_t n);
void host_poison(void *p, unsigned long n) { __asan_poison_memory_region(p, n); }
void host_unpoison(void *p, unsigned long n) { __asan_unpoison_memory_region(p, n); }
#else
void host_poison(void *p, unsigned long n) { }
void host_unpoison(void *p, unsigned long n) { }
#endif

#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
void host_acquire(void *addr) { __tsan_acquire(addr); }
void host_release(void *addr) { __tsan_release(addr); }
#else
void host_acquire(void *addr) { }
void host_release(void *addr) { __asm__ volatile("" : : : "memory"); }
#endif

static void on_ud2(int sig, siginfo_t *si, void *arg)
{
	ucontext_t *uc = arg;
	unsigned long rip = uc->uc_mcontext.gregs[REG_RIP];
	const char *file = "?";
	int line = 0, kind = shim_bug(rip, &file, &line);

	if (kind > 0) {
		__atomic_add_fetch(&host_warnings, 1, __ATOMIC_RELAXED);
		if (kind == 1)
			fprintf(stderr, "shim: WARN at %s:%d (%#lx)\n", file, line, rip);
		uc->uc_mcontext.gregs[REG_RIP] += 2;	/* over the ud2 */
		return;
	}
	fprintf(stderr, "shim: %s at %s:%d (%#lx)\n", kind ? "SIGILL" : "BUG", file, line, rip);
	signal(SIGILL, SIG_DFL);
}

/* Where it was, for addr2line; the default action follows */
static void on_segv(int sig, siginfo_t *si, void *arg)
{
	ucontext_t *uc = arg;
	void *frame[16];

	fprintf(stderr, "shim: SIGSEGV at %#llx, address %p\n",
		uc->uc_mcontext.gregs[REG_RIP], si->si_addr);
	signal(SIGSEGV, SIG_DFL);
	backtrace_symbols_fd(frame, backtrace(frame, 16), STDERR_FILENO);
}

static void on_kick(int sig)
{
	int err = errno;

	shim_ipi();
	errno = err;
}

int host_cpu_switch(int cpu)
{
	int old = my_cpu;

	my_cpu = cpu;
	/* ARCH_SET_GS; the syscall works under valgrind too, wrgsbase does not */
	if (old != cpu && syscall(SYS_arch_prctl, 0x1001, shim_gs(cpu)))
		host_die("ARCH_SET_GS");
	return old;
}

void host_cpu_enter(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu % sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
	/* not while another thread acts for that CPU */
	while (!host_deputy())
		host_pause();
	host_cpu_switch(cpu);
	owner[cpu] = syscall(SYS_gettid);
	host_deputy_end();
}

void host_cpu_leave(void)
{
	shim_poll();
	owner[my_cpu] = 0;
}

int host_deputy(void)
{
	char *none = NULL;

	/* pairs with host_deputy_end(): the next one goes on where the last one ended */
	return __atomic_compare_exchange_n(&deputy, &none, &me, 0, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

int host_is_deputy(void)
{
	return __atomic_load_n(&deputy, __ATOMIC_RELAXED) == &me;
}

void host_deputy_end(void)
{
	/* pairs with host_deputy() */
	__atomic_store_n(&deputy, NULL, __ATOMIC_RELEASE);
}

int host_cpu_owned(int cpu)
{
	return owner[cpu] != 0;
}

void host_signal(int cpu, int sig)
{
	pid_t tid = owner[cpu];

	if (tid)
		syscall(SYS_tgkill, getpid(), tid, sig);
}

void host_kick(int cpu)
{
	host_signal(cpu, SIGURG);
}

struct thread {
	pthread_t	pt;
	void		(*fn)(void *arg);
	void		*arg;
};

static void *thread_main(void *arg)
{
	struct thread *t = arg;

	t->fn(t->arg);
	return NULL;
}

void *host_thread(void (*fn)(void *arg), void *arg)
{
	struct thread *t = malloc(sizeof(*t));

	t->fn = fn;
	t->arg = arg;
	if (pthread_create(&t->pt, NULL, thread_main, t))
		host_die("pthread_create");
	return t;
}

void host_join(void *thread)
{
	struct thread *t = thread;

	pthread_join(t->pt, NULL);
	free(t);
}

void host_init(int possible, int online)
{
	struct sigaction ud2 = { .sa_sigaction = on_ud2, .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction kick = { .sa_handler = on_kick, .sa_flags = SA_RESTART };
	struct sigaction segv = { .sa_sigaction = on_segv, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	static char stack[64 << 10];
	stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };
	int prot = PROT_READ | PROT_WRITE;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *arena, *vmemmap;

	/* struct page is 64 bytes; the first one of the array is the arena's first page */
	arena = mmap(NULL, SHIM_ARENA_PAGES << 12, prot, flags, -1, 0);
	vmemmap = mmap(NULL, SHIM_ARENA_PAGES * 64, prot, flags, -1, 0);
	if (arena == MAP_FAILED || vmemmap == MAP_FAILED)
		host_die("mmap");
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0))
		host_die("membarrier");
	sigaction(SIGILL, &ud2, NULL);
	sigaction(SIGURG, &kick, NULL);
	sigaltstack(&alt, NULL);
	sigaction(SIGSEGV, &segv, NULL);
	shim_init(possible, online, (unsigned long)arena, (unsigned long)vmemmap);
}
