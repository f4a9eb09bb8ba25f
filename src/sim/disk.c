/* SPDX-License-Identifier: Apache-2.0 */
/* host/disk.h in memory.  A file is what has been synced and what has only been written; a crash keeps
 * the first and a random part of the second, its last bytes perhaps bent.  A disk whose process is dead
 * takes nothing more. */
#include "host/disk.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_file {
	char *path;
	struct buf data;
	size_t synced;
	bool socket;
};

struct disk {
	char *root;
	bool dead; /* its process crashed; what it still writes reaches nothing */
};

struct disk_file {
	struct disk *disk;
	struct sim_file *file; /* NULL once the disk is dead */
	uint64_t size;
};

static struct sim_file *file_get(const char *path, bool create)
{
	struct sim_file *f = map_get_str(&the_world->files, path);
	if (f || !create)
		return f;
	f = NEW(struct sim_file);
	f->path = mem_strdup(path);
	map_put_str(&the_world->files, path, f);
	return f;
}

static void file_drop(const char *path)
{
	struct sim_file *f = map_remove_str(&the_world->files, path);
	if (!f)
		return;
	buf_done(&f->data);
	free(f->path);
	free(f);
}

void files_free(struct world *w)
{
	struct sim_file *f;
	for (size_t i = 0; (f = map_next(&w->files, &i));) {
		buf_done(&f->data);
		free(f->path);
		free(f);
	}
	map_done(&w->files);
	vec_done(&w->disks);
}

void socket_file_add(const char *path)
{
	file_get(path, true)->socket = true;
}

void socket_file_remove(const char *path)
{
	file_drop(path);
}

void disk_crash(struct world *w, const char *root)
{
	size_t len = strlen(root);
	for (size_t i = 0; i < w->disks.count; i++)
		if (str_eq(w->disks.at[i]->root, root))
			w->disks.at[i]->dead = true;
	struct sim_file *f;
	for (size_t i = 0; (f = map_next(&w->files, &i));) {
		if (strncmp(f->path, root, len) != 0 || f->path[len] != '/' || f->socket)
			continue;
		size_t loose = f->data.len - f->synced;
		size_t keep = f->synced + world_draw(w, loose + 1);
		f->data.len = keep;
		if (keep > f->synced && world_chance(w, 3))
			f->data.data[keep - 1 - world_draw(w, keep - f->synced)] ^= 0x55;
		if (loose)
			world_tell("disk: %s keeps %zu of %zu unsynced bytes", f->path, keep - f->synced, loose);
		f->synced = keep;
	}
}

/* ---- host/disk.h ------------------------------------------------------------------------------- */

static void path_of(const struct disk *d, const char *path, char *ret, size_t size)
{
	if (str_eq(path, "."))
		snprintf(ret, size, "%s", d->root);
	else
		snprintf(ret, size, "%s/%s", d->root, path);
}

int disk_open(const char *root, mode_t mode, struct disk **ret, struct error *err)
{
	(void)mode;
	(void)err;
	struct disk *d = NEW(struct disk);
	d->root = mem_strdup(root);
	vec_push(&the_world->disks, d);
	*ret = d;
	return 0;
}

void disk_close(struct disk *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < the_world->disks.count; i++) {
		if (the_world->disks.at[i] == d) {
			vec_remove(&the_world->disks, i);
			break;
		}
	}
	free(d->root);
	free(d);
}

const char *disk_root(const struct disk *d)
{
	return d->root;
}

int disk_lock(struct disk *d, const char *path)
{
	(void)d;
	(void)path;
	return 0; /* a process that is dead here holds nothing */
}

int disk_append_open(struct disk *d, const char *path, struct disk_file **ret, struct error *err)
{
	char full[512];
	(void)err;
	path_of(d, path, full, sizeof(full));
	struct disk_file *f = NEW(struct disk_file);
	f->disk = d;
	f->file = d->dead ? NULL : file_get(full, true);
	f->size = f->file ? f->file->data.len : 0;
	*ret = f;
	return 0;
}

int disk_append(struct disk_file *f, const void *data, size_t len)
{
	if (f->disk->dead)
		return -EIO;
	buf_put(&f->file->data, data, len);
	f->size = f->file->data.len;
	return 0;
}

int disk_sync(struct disk_file *f)
{
	if (f->disk->dead)
		return -EIO;
	f->file->synced = f->file->data.len;
	return 0;
}

int disk_truncate(struct disk_file *f, uint64_t size)
{
	if (f->disk->dead)
		return -EIO;
	f->file->data.len = (size_t)size;
	f->file->synced = f->file->synced < size ? f->file->synced : (size_t)size;
	f->size = size;
	return 0;
}

uint64_t disk_size(const struct disk_file *f)
{
	return f->size;
}

void disk_file_close(struct disk_file *f)
{
	free(f);
}

int disk_read(struct disk *d, const char *path, struct buf *ret)
{
	char full[512];
	path_of(d, path, full, sizeof(full));
	const struct sim_file *f = file_get(full, false);
	if (!f)
		return -ENOENT;
	buf_put(ret, f->data.data, f->data.len);
	return 0;
}

int disk_replace(struct disk *d, const char *path, const void *data, size_t len)
{
	char full[512];
	if (d->dead)
		return -EIO;
	path_of(d, path, full, sizeof(full));
	struct sim_file *f = file_get(full, true);
	buf_clear(&f->data);
	buf_put(&f->data, data, len);
	f->synced = len;
	return 0;
}

int disk_rename(struct disk *d, const char *from, const char *to)
{
	char old[512], new[512];
	if (d->dead)
		return -EIO;
	path_of(d, from, old, sizeof(old));
	path_of(d, to, new, sizeof(new));
	struct sim_file *f = map_remove_str(&the_world->files, old);
	if (!f)
		return -ENOENT;
	file_drop(new);
	free(f->path);
	f->path = mem_strdup(new);
	map_put_str(&the_world->files, new, f);
	return 0;
}

int disk_remove(struct disk *d, const char *path)
{
	char full[512];
	if (d->dead)
		return -EIO;
	path_of(d, path, full, sizeof(full));
	if (!file_get(full, false))
		return -ENOENT;
	file_drop(full);
	return 0;
}

int disk_mkdir(struct disk *d, const char *path, mode_t mode)
{
	(void)d;
	(void)path;
	(void)mode;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int disk_list(struct disk *d, const char *path, disk_list_fn fn, void *arg)
{
	char full[512];
	path_of(d, path, full, sizeof(full));
	size_t len = strlen(full);
	VEC(char *) names = {};
	const struct sim_file *f;
	for (size_t i = 0; (f = map_next(&the_world->files, &i));)
		if (strncmp(f->path, full, len) == 0 && f->path[len] == '/' && !strchr(f->path + len + 1, '/'))
			vec_push(&names, mem_strdup(f->path + len + 1));
	if (names.count)
		qsort(names.at, names.count, sizeof(*names.at), by_name);
	for (size_t i = 0; i < names.count; i++) {
		fn(arg, names.at[i]);
		free(names.at[i]);
	}
	vec_done(&names);
	return 0;
}
