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
	user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
	if (!user)
		return ERR_PTR(-ENOMEM);
	user->uid = uid;
	mutex_init(&user->busy);
	list_add(&user->list, &view_users);
	return user;
}

/**
 * view_user_get() - count an open file of the caller
 *
 * Context: May sleep.
 * Return: the user, for view_user_put(); -EDQUOT if the user has too many; -ENOMEM.
 */
struct view_user *view_user_get(void)
{
	struct view_user *user;

	guard(mutex)(&view_user_mutex);
	user = view_user_find(current_uid());
	if (IS_ERR(user))
		return user;
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
