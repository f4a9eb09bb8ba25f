/* SPDX-License-Identifier: Apache-2.0 */
/* disk.h - files that must survive: what the journal, the snapshots and the spool are made of.
 *
 * A `struct disk` is a root directory to work below; paths are relative to it.  Calls block and may
 * be made from any thread (one thread per file at a time).  Implemented by host/disk_posix.c and by
 * sim/, where unsynced bytes are lost or torn at a crash.  All return 0 or a negative errno. */
#pragma once
#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct disk;
struct disk_file;
struct error;

/* Creates the directory with `mode` when it is missing. */
NODISCARD int disk_open(const char *root, mode_t mode, struct disk **ret, struct error *err);
void disk_close(struct disk *d);
const char *disk_root(const struct disk *d);
/* One process at a time: holds the file `path` locked until disk_close or the end of the process.
 * -EWOULDBLOCK when another process has it. */
NODISCARD int disk_lock(struct disk *d, const char *path);

/* An append-only file, created with mode 0600 when missing. */
NODISCARD int disk_append_open(struct disk *d, const char *path, struct disk_file **ret,
			       struct error *err);
NODISCARD int disk_append(struct disk_file *f, const void *data, size_t len);
NODISCARD int disk_sync(struct disk_file *f);
NODISCARD int disk_truncate(struct disk_file *f, uint64_t size);
uint64_t disk_size(const struct disk_file *f);
void disk_file_close(struct disk_file *f); /* NULL is fine; does not sync */

NODISCARD int disk_read(struct disk *d, const char *path, struct buf *ret); /* the whole file */
/* All or nothing: written beside, synced, renamed over. */
NODISCARD int disk_replace(struct disk *d, const char *path, const void *data, size_t len);
NODISCARD int disk_rename(struct disk *d, const char *from, const char *to); /* synced */
NODISCARD int disk_remove(struct disk *d, const char *path); /* a file or an empty directory */
NODISCARD int disk_mkdir(struct disk *d, const char *path, mode_t mode); /* existing is fine */

typedef void (*disk_list_fn)(void *arg, const char *name);
NODISCARD int disk_list(struct disk *d, const char *path, disk_list_fn fn, void *arg); /* sorted */
