/* SPDX-License-Identifier: Apache-2.0 */
/* user_posix.c - users and groups from NSS, with names remembered per thread for a while.
 *
 * A listing asks for the same few names a hundred thousand times.  The cache is a handful of slots in
 * memory of the thread, so that nobody waits for anybody; a name is asked for again after some minutes,
 * a number that nobody had after some seconds. */
#include "host/user.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/time.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CACHE_SLOTS      64
#define CACHE_NAME       64
#define KNOWN_SPAN_SEC   300
#define UNKNOWN_SPAN_SEC 10
#define LOOKUP_BYTES_MAX ((size_t)1 << 20)

struct cached_name {
	bool used, is_group, is_known;
	uint32_t id;
	int64_t until_sec;
	char name[CACHE_NAME];
};

static _Thread_local struct cached_name cache[CACHE_SLOTS];

static int64_t clock_sec(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return ts.tv_sec;
}

static struct cached_name *cache_slot(bool is_group, uint32_t id)
{
	return &cache[(id * 2654435761u >> 16 ^ (is_group ? 1u : 0u)) % CACHE_SLOTS];
}

static const struct cached_name *cache_get(bool is_group, uint32_t id)
{
	const struct cached_name *c = cache_slot(is_group, id);
	bool hit = c->used && c->is_group == is_group && c->id == id && clock_sec() <= c->until_sec;
	return hit ? c : NULL;
}

static void cache_put(bool is_group, uint32_t id, bool is_known, const char *name)
{
	if (strlen(name) >= CACHE_NAME)
		return;
	struct cached_name *c = cache_slot(is_group, id);
	*c = (struct cached_name) {
		.used = true, .is_group = is_group, .is_known = is_known, .id = id
	};
	c->until_sec = clock_sec() + (is_known ? KNOWN_SPAN_SEC : UNKNOWN_SPAN_SEC);
	snprintf(c->name, sizeof(c->name), "%s", name);
}

/* ---- NSS, whose functions want a buffer of unknown size ----------------------------------------- */

struct lookup {
	union {
		struct passwd pw;
		struct group gr;
	};
	char *buffer;
	size_t size;
};

static void lookup_done(struct lookup *u)
{
	free(u->buffer);
}

/* True while the call that gave `r` should be made again with a larger buffer. */
static bool lookup_again(struct lookup *u, int r)
{
	if (r != ERANGE || u->size >= LOOKUP_BYTES_MAX)
		return false;
	u->size *= 4;
	u->buffer = mem_grow(u->buffer, u->size, 1);
	return true;
}

static struct lookup lookup_new(void)
{
	return (struct lookup) { .buffer = mem_alloc(4096), .size = 4096 };
}

static int find_user(struct lookup *u, const char *name, uid_t uid)
{
	struct passwd *found = NULL;
	int r;
	do
		r = name ? getpwnam_r(name, &u->pw, u->buffer, u->size, &found)
			 : getpwuid_r(uid, &u->pw, u->buffer, u->size, &found);
	while (lookup_again(u, r));
	return found ? 0 : -ENOENT;
}

static int find_group(struct lookup *u, const char *name, gid_t gid)
{
	struct group *found = NULL;
	int r;
	do
		r = name ? getgrnam_r(name, &u->gr, u->buffer, u->size, &found)
			 : getgrgid_r(gid, &u->gr, u->buffer, u->size, &found);
	while (lookup_again(u, r));
	return found ? 0 : -ENOENT;
}

/* ---- names and numbers -------------------------------------------------------------------------- */

static int id_name(bool is_group, uint32_t id, char *ret, size_t size)
{
	const struct cached_name *c = cache_get(is_group, id);
	if (c) {
		snprintf(ret, size, "%s", c->name);
		return c->is_known ? 0 : -ENOENT;
	}
	CLEANUP(lookup_done) struct lookup u = lookup_new();
	int r = is_group ? find_group(&u, NULL, id) : find_user(&u, NULL, id);
	char number[16];
	snprintf(number, sizeof(number), "%u", id);
	const char *name = r < 0 ? number : is_group ? u.gr.gr_name : u.pw.pw_name;
	cache_put(is_group, id, r == 0, name);
	snprintf(ret, size, "%s", name);
	return r;
}

int user_name(uid_t uid, char *ret, size_t size)
{
	return id_name(false, uid, ret, size);
}

int group_name(gid_t gid, char *ret, size_t size)
{
	return id_name(true, gid, ret, size);
}

int user_uid(const char *name_or_number, uid_t *ret)
{
	CLEANUP(lookup_done) struct lookup u = lookup_new();
	if (find_user(&u, name_or_number, 0) == 0) {
		*ret = u.pw.pw_uid;
		return 0;
	}
	uint32_t number;
	if (str_to_u32(name_or_number, &number) < 0 || number == UINT32_MAX)
		return -ENOENT;
	*ret = number;
	return 0;
}

int group_gid(const char *name_or_number, gid_t *ret)
{
	CLEANUP(lookup_done) struct lookup u = lookup_new();
	if (find_group(&u, name_or_number, 0) == 0) {
		*ret = u.gr.gr_gid;
		return 0;
	}
	uint32_t number;
	if (str_to_u32(name_or_number, &number) < 0 || number == UINT32_MAX)
		return -ENOENT;
	*ret = number;
	return 0;
}

int user_lookup(uid_t uid, struct user_info *ret)
{
	CLEANUP(lookup_done) struct lookup u = lookup_new();
	int r = find_user(&u, NULL, uid);
	if (r < 0)
		return r;
	*ret = (struct user_info) { .uid = u.pw.pw_uid, .gid = u.pw.pw_gid };
	snprintf(ret->name, sizeof(ret->name), "%s", u.pw.pw_name);
	snprintf(ret->home, sizeof(ret->home), "%s", u.pw.pw_dir ? u.pw.pw_dir : "/");
	snprintf(ret->shell, sizeof(ret->shell), "%s",
		 str_empty(u.pw.pw_shell) ? "/bin/sh" : u.pw.pw_shell);
	return 0;
}

int user_groups(const char *name, gid_t gid, uint32_t **ret, uint32_t *ret_count)
{
	int count = 32;
	AUTO_FREE gid_t *list = mem_alloc((size_t)count * sizeof(*list));
	while (getgrouplist(name, gid, list, &count) < 0) {
		/* The call says how many it wants; they may grow until it is asked again. */
		if (count > 65536)
			return -E2BIG;
		list = mem_grow(list, (size_t)count, sizeof(*list));
	}
	*ret = TAKE_PTR(list);
	*ret_count = (uint32_t)count;
	return 0;
}

int user_become(uid_t uid, struct error *err)
{
	struct user_info who;
	if (geteuid() == uid)
		return 0;
	if (geteuid() != 0)
		return error_set(err, -EPERM,
				 "a process of uid %u cannot become uid %u, only one of root can",
				 geteuid(), uid);
	int r = user_lookup(uid, &who);
	if (r < 0)
		return error_set(err, r, "cannot become uid %u: there is no such user", uid);
	if (initgroups(who.name, who.gid) < 0 || setresgid(who.gid, who.gid, who.gid) < 0 ||
	    setresuid(uid, uid, uid) < 0)
		return error_set(err, -errno, "cannot become user %s: %s", who.name,
				 strerror(errno));
	return 0;
}
