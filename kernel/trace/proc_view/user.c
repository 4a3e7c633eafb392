// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of each user: open files, which limits the memory, and one open at a time, which limits
 * the load.
 */
#include <linux/cleanup.h>
#include <linux/cred.h>
#include <linux/slab.h>

#include "internal.h"

static DEFINE_MUTEX(view_user_mutex);
static LIST_HEAD(view_users);

static struct view_user *view_user_find(kuid_t uid)
{
	struct view_user *user;

	list_for_each_entry(user, &view_users, list) {
		if (uid_eq(user->uid, uid))
			return user;
	}
	return NULL;
}

/**
 * view_user_get() - count an open file of the caller
 *
 * Context: May sleep.
 * Return: the user, for view_user_put(); -EDQUOT if the user has too many; -ENOMEM.
 */
struct view_user *view_user_get(void)
{
	/* It may stay longer than the caller, so its group is not charged. */
	struct view_user *new __free(kfree) = kzalloc(sizeof(*new), GFP_KERNEL);
	struct view_user *user;

	if (!new)
		return ERR_PTR(-ENOMEM);
	guard(mutex)(&view_user_mutex);
	user = view_user_find(current_uid());
	if (!user) {
		user = no_free_ptr(new);
		user->uid = current_uid();
		mutex_init(&user->busy);
		list_add(&user->list, &view_users);
	}
	if (user->files == VIEW_FILES)
		return ERR_PTR(-EDQUOT);
	user->files++;
	return user;
}

/**
 * view_user_put() - end view_user_get()
 * @user: the user
 *
 * Context: May sleep.
 */
void view_user_put(struct view_user *user)
{
	guard(mutex)(&view_user_mutex);
	if (--user->files)
		return;
	list_del(&user->list);
	kfree(user);
}
