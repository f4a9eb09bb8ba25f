/* SPDX-License-Identifier: Apache-2.0 */
/* hostlist.h - node names as people write them: n[1-3,7],gpu[001-016]x.
 *
 * Expanding gives names in the written order, duplicates kept.  Compressing keeps the order of the
 * names and folds neighbours with equal prefix, suffix and zero padding.  Sizes are bounded so that
 * n[1-4000000000] is an error and not a memory problem. */
#pragma once
#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct error;

enum { HOSTLIST_MAX = 1 << 20 };

struct hostlist {
	char **names;
	uint32_t count;
};

/* Memory in `a`.  "" is the empty list.  Errors quote the part that is wrong. */
NODISCARD int hostlist_expand(const char *text, struct arena *a, struct hostlist *ret,
			      struct error *err);
void hostlist_compress(char *const *names, uint32_t count, struct buf *out);
/* By prefix, then by number, so that n2 comes before n10. */
int hostname_compare(const char *a, const char *b);
void hostlist_sort(struct hostlist *h);
