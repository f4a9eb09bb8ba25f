/* SPDX-License-Identifier: Apache-2.0 */
/* gres.h - generic resources as users write them: gpu:h100:4,shard:2 and --gpus=h100:4. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct error;

struct gres_spec {
	char *name, *type; /* type NULL: any */
	uint64_t count;
};

/* name[:type][:count], comma list, optional "gres/" or "gres:" prefix, `=` before the count allowed.
 * Count defaults to 1, suffixes as in count_parse, entries with count 0 are dropped, "none" is the
 * empty list.  gpu:1:tesla:v100 is refused with the right order spelled out. */
NODISCARD int gres_parse(const char *text, struct arena *a, struct gres_spec **ret, uint32_t *ret_count,
			 struct error *err);
/* [type:]n[,type:n] of --gpus and its kin; every entry gets `name`. */
NODISCARD int gres_parse_counts(const char *text, const char *name, struct arena *a,
				struct gres_spec **ret, uint32_t *ret_count, struct error *err);
/* Parts of a GPU (shard, mps): counted, never devices of their own. */
bool gres_is_shared(const char *name);
/* gpu:h100:4 behind `prefix`: "" for Gres=, "gres/" for TresPerNode= and their like. */
void gres_print(const struct gres_spec *g, const char *prefix, struct buf *out);
