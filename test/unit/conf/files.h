/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - configuration files that exist only in a test: a list of paths and contents. */
#pragma once
#include "base/buf.h"
#include "conf/conf.h"

#include <errno.h>
#include <string.h>

struct test_file {
	const char *path, *text;
};

struct test_files {
	const struct test_file *files; /* up to one whose path is NULL */
};

static inline int test_read(void *arg, const char *path, struct buf *ret)
{
	const struct test_files *all = arg;
	for (const struct test_file *f = all->files; f->path; f++) {
		if (strcmp(f->path, path) == 0) {
			buf_puts(ret, f->text);
			return 0;
		}
	}
	return -ENOENT;
}

static inline int test_load(const struct test_file *files, struct conf **ret, struct error *err)
{
	struct test_files all = { files };
	return conf_load_with("/etc/slurm/slurm.conf", test_read, &all, ret, err);
}
