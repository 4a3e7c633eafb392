// SPDX-License-Identifier: GPL-2.0
/* Memory: objects from the C library, pages from an arena with struct pages. */
#include <linux/kernel.h>
#include <linux/bitmap.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>
#include "shim.h"

struct kmem_cache *kmalloc_caches[NR_KMALLOC_TYPES][KMALLOC_SHIFT_HIGH + 1];
long shim_fail_alloc_after = -1;
long shim_allocated, shim_freed_atomic, shim_alloc_oom, shim_alloc_anywhere, shim_alloc_origin;
long shim_taken, shim_objects;
long shim_available = 1L << 22;
int shim_alloc_check, shim_alloc_odd;

void (*shim_on_alloc)(void);

static bool alloc_fails(void)
{
	return shim_fail_alloc_after >= 0 && !shim_fail_alloc_after--;
}

static void note_policy(gfp_t gfp, int node)
{
	if (shim_on_alloc)
		shim_on_alloc();
	if (!READ_ONCE(shim_alloc_check))
		return;
	shim_alloc_oom += !(gfp & (__GFP_RETRY_MAYFAIL | __GFP_NORETRY));
	shim_alloc_anywhere += node == NUMA_NO_NODE;
	shim_alloc_origin += current->signal->oom_flag_origin;
}

static void note_free(void)
{
	__atomic_sub_fetch(&shim_allocated, 1, __ATOMIC_RELAXED);
	if (shim_ctx() != CTX_TASK)
		__atomic_add_fetch(&shim_freed_atomic, 1, __ATOMIC_RELAXED);
}

size_t kmalloc_size_roundup(size_t size)
{
	if (size > 2 * PAGE_SIZE)
		return PAGE_SIZE << get_order(size);
	if (size > 64 && size <= 96)
		return 96;
	if (size > 128 && size <= 192)
		return 192;
	return max(8UL, roundup_pow_of_two(size));
}

static void note_alloc(size_t size)
{
	__atomic_add_fetch(&shim_allocated, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shim_taken, size, __ATOMIC_RELAXED);
}

static void *obj_alloc(size_t size, gfp_t gfp, int node)
{
	size_t align = 64, odd = 0;
	void *p;

	note_policy(gfp, node);
	/* kmalloc() aligns powers of two to their size; larger memory comes in pages */
	if (size > PAGE_SIZE)
		align = PAGE_SIZE;
	else if (is_power_of_2(size))
		align = max(size, align);
	else if (shim_alloc_odd)
		odd = ARCH_SLAB_MINALIGN;
	p = alloc_fails() ? NULL : host_malloc(size + odd, align);
	if (p)
		p += odd;
	if (p && (gfp & __GFP_ZERO))
		memset(p, 0, size);
	else if (p)
		memset(p, 0x5a, min_t(size_t, size, 4096));
	if (p) {
		note_alloc(kmalloc_size_roundup(size));
		__atomic_add_fetch(&shim_objects, kmalloc_size_roundup(size), __ATOMIC_RELAXED);
	}
	return p;
}

static void obj_free(const void *p)
{
	if (ZERO_OR_NULL_PTR(p))
		return;
	note_free();
	host_free((void *)ALIGN_DOWN((unsigned long)p, 2 * ARCH_SLAB_MINALIGN));
}

void *__kmalloc_noprof(size_t size, gfp_t gfp) { return obj_alloc(size, gfp, NUMA_NO_NODE); }
void *__kmalloc_node_noprof(DECL_BUCKET_PARAMS(size, b), gfp_t gfp, int node)
{
	return obj_alloc(size, gfp, node);
}

void *__kmalloc_cache_noprof(struct kmem_cache *s, gfp_t gfp, size_t size)
{
	return obj_alloc(size, gfp, NUMA_NO_NODE);
}

void *__kmalloc_cache_node_noprof(struct kmem_cache *s, gfp_t gfp, int node, size_t size)
{
	return obj_alloc(size, gfp, node);
}

void *__kmalloc_large_noprof(size_t size, gfp_t gfp) { return obj_alloc(size, gfp, NUMA_NO_NODE); }
void *__kmalloc_large_node_noprof(size_t size, gfp_t gfp, int node)
{
	return obj_alloc(size, gfp, node);
}

#ifdef LINUX_7
void *__kvmalloc_node_noprof(DECL_KMALLOC_PARAMS(size, b, token), unsigned long align, gfp_t gfp,
			     int node)
#else
void *__kvmalloc_node_noprof(DECL_BUCKET_PARAMS(size, b), gfp_t gfp, int node)
#endif
{
	return obj_alloc(size, gfp, node);
}

void *vmalloc_noprof(unsigned long size) { return obj_alloc(size, 0, NUMA_NO_NODE); }
void *vzalloc_noprof(unsigned long size) { return obj_alloc(size, __GFP_ZERO, NUMA_NO_NODE); }
void vfree(const void *p) { obj_free(p); }
void kvfree(const void *p) { obj_free(p); }
void kfree(const void *p) { obj_free(p); }

unsigned long *bitmap_alloc(unsigned int n, gfp_t gfp)
{
	return obj_alloc(BITS_TO_LONGS(n) * sizeof(long), gfp, NUMA_NO_NODE);
}

void bitmap_free(const unsigned long *p) { obj_free(p); }

void __bitmap_clear(unsigned long *map, unsigned int start, int len)
{
	while (len-- > 0)
		__clear_bit(start++, map);
}

long si_mem_available(void)
{
	return shim_available;
}

/* ---- pages: blocks of the arena, a free list for each order ------------- */

#define MAX_FREE	(1 << 14)
static struct page *free_pages_of[MAX_PAGE_ORDER + 1][MAX_FREE];
static int nr_free[MAX_PAGE_ORDER + 1];
/* By the first page; the order that it was allocated with */
static unsigned char order_of[SHIM_ARENA_PAGES];
static unsigned long arena_next;
static arch_spinlock_t page_lock = __ARCH_SPIN_LOCK_UNLOCKED;

struct page *__alloc_pages_noprof(gfp_t gfp, unsigned int order, int nid, nodemask_t *nm)
{
	struct page *page = NULL;

	note_policy(gfp, nid);
	if (order > MAX_PAGE_ORDER || alloc_fails())
		return NULL;
	arch_spin_lock(&page_lock);
	if (nr_free[order]) {
		page = free_pages_of[order][--nr_free[order]];
	} else {
		arena_next = ALIGN(arena_next, 1UL << order);
		/* AddressSanitizer reports an access to the page behind it, which is unused */
		if (arena_next + (1UL << order) < SHIM_ARENA_PAGES) {
			page = (struct page *)vmemmap_base + arena_next;
			order_of[arena_next] = order;
			arena_next += 1UL << order;
			host_poison(page_address(page) + (PAGE_SIZE << order), PAGE_SIZE);
			arena_next++;
		}
	}
	arch_spin_unlock(&page_lock);
	if (!page)
		return NULL;
	/* ThreadSanitizer does not see the lock */
	host_acquire(page);
	note_alloc(PAGE_SIZE << order);
	host_unpoison(page_address(page), PAGE_SIZE << order);
	memset(page_address(page), gfp & __GFP_ZERO ? 0 : 0x5a, PAGE_SIZE << order);
	set_page_count(page, 1);
	return page;
}

static void free_block(struct page *page, unsigned int order)
{
	host_release(page);
	host_poison(page_address(page), PAGE_SIZE << order);
	note_free();
	arch_spin_lock(&page_lock);
	if (nr_free[order] < MAX_FREE)
		free_pages_of[order][nr_free[order]++] = page;
	arch_spin_unlock(&page_lock);
}

void __free_pages(struct page *page, unsigned int order)
{
	WARN_ON(order_of[page - (struct page *)vmemmap_base] != order);
	if (put_page_testzero(page))
		free_block(page, order);
}

/* By put_page() */
void __folio_put(struct folio *folio)
{
	free_block(&folio->page, order_of[&folio->page - (struct page *)vmemmap_base]);
}

void free_pages(unsigned long addr, unsigned int order)
{
	if (addr)
		__free_pages(virt_to_page((void *)addr), order);
}

unsigned long get_free_pages_noprof(gfp_t gfp, unsigned int order)
{
	struct page *page = __alloc_pages_noprof(gfp, order, 0, NULL);

	return page ? (unsigned long)page_address(page) : 0;
}

unsigned long get_zeroed_page_noprof(gfp_t gfp)
{
	return get_free_pages_noprof(gfp | __GFP_ZERO, 0);
}

/* memory that outlives a "reboot", for ring_buffer_alloc_range() */
unsigned long shim_alloc_range(unsigned long bytes)
{
	return get_free_pages_noprof(GFP_KERNEL | __GFP_ZERO, get_order(bytes));
}

unsigned long max_pfn = ULONG_MAX;

/* No memory is mapped a second time */
bool is_vmalloc_addr(const void *addr)
{
	return false;
}

struct page *vmalloc_to_page(const void *addr)
{
	return NULL;
}

/* ---- mmap: the pages are noted, so that a test can look at them --------- */

struct page *shim_vma_pages[512];
unsigned long shim_nr_vma_pages;

int vm_insert_pages(struct vm_area_struct *vma, unsigned long addr, struct page **pages,
		    unsigned long *num)
{
	while (*num) {
		if (shim_nr_vma_pages == ARRAY_SIZE(shim_vma_pages))
			return -ENOMEM;
		shim_vma_pages[shim_nr_vma_pages++] = *pages++;
		--*num;
	}
	return 0;
}

/* ---- caches: the content of the memory at its last flush ----------------- */

#define NR_FLUSHED	8
static struct {
	const void *addr;
	u64 sum;
	int size;
} flushed[NR_FLUSHED];
static unsigned int nr_flushed;
int shim_flush_check;

static u64 sum_of(const u64 *word, int size)
{
	u64 sum = size;

	for (; size > 0; size -= sizeof(*word))
		sum = sum * 31 + *word++;
	return sum;
}

void flush_kernel_vmap_range(void *vaddr, int size)
{
	unsigned int i;

	if (!READ_ONCE(shim_flush_check))
		return;
	i = nr_flushed++ % NR_FLUSHED;
	flushed[i].addr = vaddr;
	flushed[i].size = size;
	flushed[i].sum = sum_of(vaddr, size);
}

/* Was it flushed as a whole, and has not changed since? */
int shim_is_flushed(const void *addr, int size)
{
	int i;

	for (i = 0; i < NR_FLUSHED; i++) {
		if (flushed[i].addr == addr && flushed[i].size == size &&
		    flushed[i].sum == sum_of(addr, size))
			return 1;
	}
	return 0;
}
