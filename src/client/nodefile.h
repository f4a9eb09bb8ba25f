/* SPDX-License-Identifier: Apache-2.0 */
/* nodefile.h - node names from a file, for -F and for -w with a path. */
#pragma once
#include "base/cleanup.h"

struct arena;
struct error;

/* Names separated by blanks, commas or line ends; `ret` is a comma list in `a`. */
NODISCARD int nodefile_read(const char *path, struct arena *a, const char **ret, struct error *err);
