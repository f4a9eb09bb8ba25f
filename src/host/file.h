/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - reading a whole small file by its path: configuration, keys, scripts. */
#pragma once
#include "base/cleanup.h"

#include <stddef.h>

struct buf;

/* Appends the content.  -EFBIG when it is longer than `max`, -EISDIR for a directory, else -errno. */
NODISCARD int file_read(const char *path, size_t max, struct buf *ret);
