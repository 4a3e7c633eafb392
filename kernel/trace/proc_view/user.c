// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of each user: open files, which limits the memory, and one open at a time, which limits
 * the load. A user counts once in each memory cgroup, so that no container takes the files of
 * another one, where root has the same UID. A task with CAP_SYS_RESOURCE has no limits, and is
 * counted nowhere.
 */
#include <linux/cred.h>
#include <linux/memcontrol.h>

#include "internal.h"

static DEFINE_MUTEX(view_user_mutex);
static LIST_HEAD(view_users);

static struct view_user *view_user_find(kuid_t uid, struct mem_cgroup *memcg)
{
	struct view_user *user;

	list_for_each_entry(user, &view_users, list) {
		if (uid_eq(user->uid, uid) && user->memcg == memcg)
			return user;
	}
	return NULL;
}

static void view_user_free(struct view_user *user)
{
	if (!user)
		return;
	mem_cgroup_put(user->memcg);
	kfree(user);
}

DEFINE_FREE(view_user, struct view_user *, view_user_free(_T))

static struct view_user *view_user_alloc(void)
{
	/* A user may stay longer than the caller, so the memory cgroup is not charged. */
	struct view_user *user = kzalloc(sizeof(*user), GFP_KERNEL);

	if (!user)
		return NULL;
	user->uid = current_uid();
	user->memcg = get_mem_cgroup_from_current();
	mutex_init(&user->busy);
	return user;
}

/**
 * view_user_get() - count an open file of the caller
 *
 * Context: May sleep.
 * Return: the user, for view_user_put(); NULL if the caller has no limits; -EDQUOT if the user has
 *	   too many; -ENOMEM.
 */
struct view_user *view_user_get(void)
{
	struct view_user *new __free(view_user) = NULL;
	struct view_user *user;

	if (ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE))
		return NULL;
	new = view_user_alloc();
	if (!new)
		return ERR_PTR(-ENOMEM);
	guard(mutex)(&view_user_mutex);
	user = view_user_find(new->uid, new->memcg);
	if (!user) {
		user = no_free_ptr(new);
		list_add(&user->list, &view_users);
	}
	if (user->files == VIEW_FILES)
		return ERR_PTR(-EDQUOT);
	user->files++;
	return user;
}

/**
 * view_user_put() - end view_user_get()
 * @user: the user, or NULL
 *
 * Context: May sleep.
 */
void view_user_put(struct view_user *user)
{
	if (!user)
		return;
	guard(mutex)(&view_user_mutex);
	if (--user->files)
		return;
	list_del(&user->list);
	view_user_free(user);
}
