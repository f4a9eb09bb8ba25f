/* SPDX-License-Identifier: Apache-2.0 */
/* user.h - names and numbers of users and groups, with a small cache.  May block on NSS. */
#pragma once
#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

/* Copies the name, or the number as text when nobody has it; returns 0 or -ENOENT. */
int user_name(uid_t uid, char *ret, size_t size);
int group_name(gid_t gid, char *ret, size_t size);
NODISCARD int user_uid(const char *name_or_number, uid_t *ret); /* -ENOENT */
NODISCARD int group_gid(const char *name_or_number, gid_t *ret);

struct user_info {
	uid_t uid;
	gid_t gid;
	char name[256], home[4096], shell[4096];
};
NODISCARD int user_lookup(uid_t uid, struct user_info *ret);
/* This process becomes the user, groups and all, for good.  Only root can; nothing to do for a process
 * that is that user already. */
NODISCARD int user_become(uid_t uid, struct error *err);
/* Supplementary groups including the primary one; the array is the caller's to free. */
NODISCARD int user_groups(const char *name, gid_t gid, uint32_t **ret, uint32_t *ret_count);
