// SPDX-License-Identifier: GPL-2.0
/*
 * Readers of mapped rings: they go through page tables as user space does, in
 * the address space of the task that loads the module.
 */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "torture.h"

#define TOR_MAX_SUBBUF	(PAGE_SIZE << TOR_MAX_ORDER)
/* An id that no sub-buffer has. */
#define TOR_NO_ID	UINT_MAX

static struct mm_struct *tor_mm;

/* The ring that a file maps. */
struct tor_target {
	struct trace_buffer	*rb;
	int			cpu;
};

/* A mapping that is being read. */
struct tor_map {
	struct tor_target	target;
	struct tor_from		from;
	unsigned long		addr;
	unsigned long		len;
	struct trace_buffer_meta meta;
	void			*copy;
};

static void tor_vm_open(struct vm_area_struct *vma)
{
	struct tor_target *t = vma->vm_file->private_data;

	ring_buffer_map_dup(t->rb, t->cpu);
}

static void tor_vm_close(struct vm_area_struct *vma)
{
	struct tor_target *t = vma->vm_file->private_data;
	int ret = ring_buffer_unmap(t->rb, t->cpu);

	if (ret)
		tor_fault(TOR_REFUSED, "unmap: %d", ret);
}

static int tor_vm_may_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static const struct vm_operations_struct tor_vm_ops = {
	.open		= tor_vm_open,
	.close		= tor_vm_close,
	.may_split	= tor_vm_may_split,
};

static int tor_file_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct tor_target *t = file->private_data;
	int ret = ring_buffer_map(t->rb, t->cpu, vma);

	if (!ret)
		vma->vm_ops = &tor_vm_ops;
	return ret;
}

static int tor_file_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

static const struct file_operations tor_fops = {
	.owner		= THIS_MODULE,
	.mmap		= tor_file_mmap,
	.release	= tor_file_release,
};

static bool tor_map_copy(struct tor_map *map, void *to, unsigned long offset, unsigned long len)
{
	if (offset + len <= map->len &&
	    !copy_from_user(to, (void __user *)map->addr + offset, len))
		return true;
	tor_fault(TOR_PAGE, "map %d/%d: cannot read %lu bytes at %#lx of %#lx", map->from.buffer,
		  map->from.cpu, len, offset, map->len);
	return false;
}

/* Map the meta page, then, as it says how much that is, everything. */
static long tor_map(struct tor_map *map, struct file *file)
{
	struct trace_buffer_meta *meta = &map->meta;
	unsigned long first;
	bool ok;

	map->len = PAGE_SIZE;
	first = vm_mmap(file, 0, map->len, PROT_READ, MAP_SHARED, 0);
	if (IS_ERR_VALUE(first))
		return first;
	map->addr = first;
	ok = tor_map_copy(map, meta, 0, sizeof(*meta));
	map->len = meta->meta_page_size + (unsigned long)meta->nr_subbufs * meta->subbuf_size;
	map->addr = vm_mmap(file, 0, map->len, PROT_READ, MAP_SHARED, 0);
	vm_munmap(first, PAGE_SIZE);
	if (IS_ERR_VALUE(map->addr))
		return map->addr;
	if (ok && meta->meta_page_size >= sizeof(*meta) && meta->subbuf_size <= TOR_MAX_SUBBUF &&
	    tor_map_copy(map, meta, 0, sizeof(*meta)))
		return 0;
	vm_munmap(map->addr, map->len);
	return -EFAULT;
}

/*
 * Consume once; return false if there was nothing. A reset is excluded meanwhile: it
 * changes the meta page, and would drop the consumed records before they are copied.
 */
static bool tor_map_read(struct tor_map *map)
{
	struct trace_buffer_meta *meta = &map->meta;
	unsigned int start, end, id;
	int ret;

	map->from = tor_from(map->from.how, map->from.buffer, map->from.cpu);
	if (!tor_map_copy(map, meta, 0, sizeof(*meta)))
		return false;
	id = meta->reader.id;
	start = meta->reader.read;
	ret = ring_buffer_map_get_reader(map->target.rb, map->target.cpu);
	if (ret) {
		tor_fault(TOR_REFUSED, "get reader: %d", ret);
		return false;
	}
	if (!tor_map_copy(map, meta, 0, sizeof(*meta)))
		return false;

	if (meta->reader.id != id)
		start = 0;
	end = meta->reader.read;
	if (start == end)
		return false;
	if (meta->reader.id >= meta->nr_subbufs || start > end ||
	    end > meta->subbuf_size - sizeof(u64) - sizeof(long)) {
		tor_fault(TOR_PAGE, "map %d/%d: sub-buffer %u from %u to %u", map->from.buffer,
			  map->from.cpu, meta->reader.id, start, end);
		return false;
	}
	if (tor_map_copy(map, map->copy,
			 meta->meta_page_size + (unsigned long)meta->reader.id * meta->subbuf_size,
			 meta->subbuf_size))
		tor_account_page(&map->from, map->copy, start, end,
				 start ? 0 : meta->reader.lost_events);
	return true;
}

static void tor_map_one(struct rnd_state *rnd, struct tor_map *map, struct file *file)
{
	struct tor_buffer *buffer = &tor_buffers[map->from.buffer];
	unsigned int turns = tor_random(rnd, 50);
	bool some;
	long ret;

	if (!ring_buffer_is_expanded(buffer->rb))
		return;
	down_read(&buffer->ctl);
	ret = tor_map(map, file);
	up_read(&buffer->ctl);
	tor_did(TOR_DID_MAP, ret);
	if (!ret) {
		while (turns--) {
			down_read(&buffer->ctl);
			mutex_lock(&buffer->reset);
			some = tor_map_read(map);
			mutex_unlock(&buffer->reset);
			up_read(&buffer->ctl);
			if (!some)
				tor_pause(rnd);
			cond_resched();
		}
		vm_munmap(map->addr, map->len);
	} else if (ret != -ENOMEM) {
		tor_fault(TOR_REFUSED, "map: %ld", ret);
	}
}

/**
 * tor_mapper() - a task that maps rings and reads them
 * @rnd: random state of the task
 * @nr:  not used
 *
 * Context: A kernel thread that holds &tor_stand for reading.
 */
void tor_mapper(struct rnd_state *rnd, int nr)
{
	int buffer = tor_random_buffer(rnd), cpu = tor_random_cpu(rnd);
	struct tor_map map = {
		.target = { tor_buffers[buffer].rb, cpu },
		.from = tor_from("map", buffer, cpu),
		.copy = kvmalloc(TOR_MAX_SUBBUF, GFP_KERNEL),
	};
	struct tor_target *target = kmemdup(&map.target, sizeof(map.target), GFP_KERNEL);
	struct file *file = ERR_PTR(-ENOMEM);

	if (map.copy && target)
		file = anon_inode_getfile("[ring_buffer_torture]", &tor_fops, target, O_RDONLY);
	if (!IS_ERR(file)) {
		kthread_use_mm(tor_mm);
		/* Other tasks must not consume meanwhile: this one would not notice. */
		mutex_lock(&tor_cpus[cpu]->consume[buffer]);
		tor_map_one(rnd, &map, file);
		mutex_unlock(&tor_cpus[cpu]->consume[buffer]);
		fput(file);
		kthread_unuse_mm(tor_mm);
	} else {
		kfree(target);
	}
	kvfree(map.copy);
}

/**
 * tor_map_start() - take hold of an address space to map in
 *
 * Context: The task that loads the module.
 */
void tor_map_start(void)
{
	tor_mm = get_task_mm(current);
}

/**
 * tor_map_stop() - release the address space
 *
 * Context: May sleep.
 */
void tor_map_stop(void)
{
	if (tor_mm)
		mmput(tor_mm);
	tor_mm = NULL;
}

/**
 * tor_have_map() - is there an address space to map in?
 *
 * Context: Any context.
 * Return: false where the test is built in, since no task loads it then.
 */
bool tor_have_map(void)
{
	return tor_mm;
}
