/* SPDX-License-Identifier: Apache-2.0 */
/* disk_posix.c - files on a real file system.
 *
 * A new name in a directory is only safe once the directory is synced too; whoever makes a name here
 * (a new append file, a rename, a new directory) does that before it returns.  An append that fails
 * half-way is cut back to where it began, so that a full disk does not leave half a record behind. */
#include "host/disk.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct disk {
	int fd, lock_fd; /* -1: not locked */
	char *root;
};

struct disk_file {
	int fd;
	uint64_t size;
};

/* The directory that the path's last part is in, relative to the root. */
static int open_parent(struct disk *d, const char *path)
{
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *dir = slash ? mem_strdup(path) : NULL;
	if (dir)
		dir[slash - path] = 0;
	int fd = openat(d->fd, dir ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int sync_parent(struct disk *d, const char *path)
{
	AUTO_FD int fd = open_parent(d, path);
	if (fd < 0)
		return fd;
	return fsync(fd) < 0 ? -errno : 0;
}

int disk_open(const char *root, mode_t mode, struct disk **ret, struct error *err)
{
	if (mkdir(root, mode) < 0 && errno != EEXIST)
		return error_set(err, -errno, "cannot make the directory '%s': %s", root,
				 strerror(errno));
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, -errno, "cannot use the directory '%s': %s", root,
				 strerror(errno));
	struct disk *d = NEW(struct disk);
	d->fd = fd;
	d->lock_fd = -1;
	d->root = mem_strdup(root);
	*ret = d;
	return 0;
}

void disk_close(struct disk *d)
{
	if (!d)
		return;
	close(d->fd);
	if (d->lock_fd >= 0)
		close(d->lock_fd);
	free(d->root);
	free(d);
}

const char *disk_root(const struct disk *d)
{
	return d->root;
}

int disk_lock(struct disk *d, const char *path)
{
	if (d->lock_fd >= 0)
		return 0;
	AUTO_FD int fd = openat(d->fd, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	d->lock_fd = TAKE_FD(fd);
	return 0;
}

/* ---- appending ---------------------------------------------------------------------------------- */

static int open_append(struct disk *d, const char *path)
{
	int flags = O_WRONLY | O_APPEND | O_CLOEXEC;
	int fd = openat(d->fd, path, flags);
	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	fd = openat(d->fd, path, flags | O_CREAT, 0600);
	if (fd < 0)
		return -errno;
	int r = sync_parent(d, path);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

int disk_append_open(struct disk *d, const char *path, struct disk_file **ret, struct error *err)
{
	AUTO_FD int fd = open_append(d, path);
	struct stat st;
	int r = fd < 0 ? fd : fstat(fd, &st) < 0 ? -errno : 0;
	if (r < 0)
		return error_set(err, r, "cannot open '%s/%s' for writing: %s", d->root, path,
				 strerror(-r));
	struct disk_file *f = NEW(struct disk_file);
	f->size = (uint64_t)st.st_size;
	f->fd = TAKE_FD(fd);
	*ret = f;
	return 0;
}

static int write_all(int fd, const void *data, size_t len)
{
	const char *at = data;
	while (len > 0) {
		ssize_t n = write(fd, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int disk_append(struct disk_file *f, const void *data, size_t len)
{
	int r = write_all(f->fd, data, len);
	if (r == 0)
		f->size += len;
	else if (ftruncate(f->fd, (off_t)f->size) < 0)
		return r; /* whoever reads the file next finds a torn tail and cuts it */
	return r;
}

int disk_sync(struct disk_file *f)
{
	return fdatasync(f->fd) < 0 ? -errno : 0;
}

int disk_truncate(struct disk_file *f, uint64_t size)
{
	if (ftruncate(f->fd, (off_t)size) < 0)
		return -errno;
	f->size = size;
	return 0;
}

uint64_t disk_size(const struct disk_file *f)
{
	return f->size;
}

void disk_file_close(struct disk_file *f)
{
	if (!f)
		return;
	close(f->fd);
	free(f);
}

/* ---- whole files -------------------------------------------------------------------------------- */

int disk_read(struct disk *d, const char *path, struct buf *ret)
{
	AUTO_FD int fd = openat(d->fd, path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	size_t start = ret->len;
	/* One more than there is, so that the end is seen without growing. */
	buf_reserve(ret, (size_t)st.st_size + 1);
	for (;;) {
		ssize_t n = read(fd, ret->data + ret->len, ret->cap - 1 - ret->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int r = -errno;
			ret->len = start;
			ret->data[start] = 0;
			return r;
		}
		ret->len += (size_t)n;
		ret->data[ret->len] = 0;
		if (n == 0)
			return 0;
		if (ret->cap - 1 == ret->len)
			buf_reserve(ret, ret->len);
	}
}

static int write_synced(struct disk *d, const char *path, const void *data, size_t len)
{
	AUTO_FD int fd = openat(d->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	int r = write_all(fd, data, len);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	return r;
}

int disk_replace(struct disk *d, const char *path, const void *data, size_t len)
{
	char tmp[PATH_MAX];
	if (snprintf(tmp, sizeof(tmp), "%s.tmp", path) >= (int)sizeof(tmp))
		return -ENAMETOOLONG;
	int r = write_synced(d, tmp, data, len);
	if (r == 0)
		r = disk_rename(d, tmp, path);
	if (r < 0)
		unlinkat(d->fd, tmp, 0);
	return r;
}

int disk_rename(struct disk *d, const char *from, const char *to)
{
	if (renameat(d->fd, from, d->fd, to) < 0)
		return -errno;
	return sync_parent(d, to);
}

int disk_remove(struct disk *d, const char *path)
{
	if (unlinkat(d->fd, path, 0) == 0)
		return 0;
	if (errno == EISDIR)
		return unlinkat(d->fd, path, AT_REMOVEDIR) < 0 ? -errno : 0;
	return -errno;
}

int disk_mkdir(struct disk *d, const char *path, mode_t mode)
{
	if (mkdirat(d->fd, path, mode) < 0)
		return errno == EEXIST ? 0 : -errno;
	return sync_parent(d, path);
}

/* ---- listing ------------------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int disk_list(struct disk *d, const char *path, disk_list_fn fn, void *arg)
{
	int fd = openat(d->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	DIR *dir = fdopendir(fd);
	if (!dir) {
		int r = -errno;
		close(fd);
		return r;
	}
	VEC(char *) names = {};
	errno = 0;
	for (struct dirent *e; (e = readdir(dir)); errno = 0)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			vec_push(&names, mem_strdup(e->d_name));
	int r = -errno;
	closedir(dir);
	if (names.count > 0)
		qsort(names.at, names.count, sizeof(*names.at), by_name);
	for (size_t i = 0; i < names.count; i++) {
		if (r == 0)
			fn(arg, names.at[i]);
		free(names.at[i]);
	}
	vec_done(&names);
	return r;
}
