/* SPDX-License-Identifier: Apache-2.0 */
/* The key file of auth/slurm: whoever can read it can be any user, so its mode is checked and a new
 * one appears whole or not at all.  Read once when a daemon starts, before its loop runs; that is
 * why the file is opened here and not behind host/. */
#include "base/buf.h"
#include "base/error.h"
#include "wire/auth_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_MIN = 32, KEY_MAX = 64 << 10, KEY_NEW = 64 };

/* Group members may read a key that root gave them; nobody else but the owner ever may. */
static int check_mode(const char *path, uid_t owner, const struct stat *st, struct error *err)
{
	if (!S_ISREG(st->st_mode))
		return error_set(err, -EINVAL, "key file '%s' is not a regular file", path);
	if (st->st_uid != 0 && st->st_uid != geteuid() && st->st_uid != owner)
		return error_set(err, -EACCES,
				 "key file '%s' belongs to uid %u, it must belong to root, to "
				 "SlurmUser, or to uid %u, which runs this daemon",
				 path, st->st_uid, geteuid());
	mode_t wrong = st->st_uid == 0 ? S_IWGRP | S_IRWXO : S_IRWXG | S_IRWXO;
	if (st->st_mode & wrong)
		return error_set(err, -EACCES,
				 "key file '%s' has mode %04o, so other users could use it to "
				 "pass for anyone: run chmod 600 %s",
				 path, st->st_mode & 07777, path);
	return 0;
}

int auth_key_read(const char *path, uid_t owner, struct buf *ret, struct error *err)
{
	if (!path || !*path)
		return error_set(err, -EINVAL,
				 "auth/slurm needs a key file and none is configured");
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, -errno, "cannot open key file '%s': %s", path,
				 strerrordesc_np(errno));
	int r = check_mode(path, owner, &st, err);
	if (r < 0)
		return r;
	if (st.st_size < KEY_MIN || st.st_size > KEY_MAX)
		return error_set(err, -EINVAL, "key file '%s' has %lld bytes, a key has %d to %d",
				 path, (long long)st.st_size, KEY_MIN, KEY_MAX);
	buf_reserve(ret, (size_t)st.st_size);
	ssize_t n = read(fd, ret->data, (size_t)st.st_size);
	if (n != st.st_size)
		return error_set(err, n < 0 ? -errno : -EIO, "cannot read key file '%s'", path);
	ret->len = (size_t)n;
	return 0;
}

static int write_key(int fd)
{
	uint8_t key[KEY_NEW];
	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return -EIO;
	ssize_t n = write(fd, key, sizeof(key));
	explicit_bzero(key, sizeof(key));
	if (n != sizeof(key))
		return n < 0 ? -errno : -ENOSPC;
	return fsync(fd) < 0 ? -errno : 0;
}

int auth_make_key(const char *path, struct error *err)
{
	if (access(path, F_OK) == 0)
		return 0;
	AUTO_BUF struct buf beside = {};
	buf_printf(&beside, "%s.XXXXXX", path);
	AUTO_FD int fd = mkostemp((char *)beside.data, O_CLOEXEC); /* mode 0600 */
	if (fd < 0)
		return error_set(err, -errno, "cannot create key file '%s': %s", path,
				 strerrordesc_np(errno));
	int r = write_key(fd);
	if (r == 0 && link(buf_text(&beside), path) < 0 && errno != EEXIST)
		r = -errno;
	unlink(buf_text(&beside));
	if (r < 0)
		return error_set(err, r, "cannot write key file '%s': %s", path,
				 strerrordesc_np(-r));
	return 0;
}
