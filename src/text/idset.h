/* SPDX-License-Identifier: Apache-2.0 */
/* idset.h - sets of task ids as ranges: 0-15:4,20%4 of --array, and 5-1024%4 as squeue shows them.
 *
 * Memory grows with the number of ranges, not with the number of ids. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct error;

struct idset_range {
	uint32_t first, last;
};

struct idset {
	struct idset_range *ranges; /* ascending, disjoint, not touching */
	uint32_t count;
};

struct array_spec {
	struct idset ids;
	uint32_t total, min, max, step; /* step: the common distance, 1 when there is none */
	uint32_t limit;                 /* %n; 0 is none */
};

/* Ids must be below `id_max` (MaxArraySize). */
NODISCARD int array_parse(const char *text, uint32_t id_max, struct arena *a, struct array_spec *ret,
			  struct error *err);
/* "5-6,9", or "0-12:4" for more than two ids of one distance.  More than `text_max` characters end in
 * ",..." as SLURM_BITSTR_LEN asks; 0 is no limit. */
void idset_print(const struct idset_range *ranges, uint32_t count, uint32_t text_max, struct buf *out);
uint64_t idset_total(const struct idset_range *ranges, uint32_t count);
bool idset_has(const struct idset_range *ranges, uint32_t count, uint32_t id);
