/* SPDX-License-Identifier: Apache-2.0 */
/* sorting.h - squeue -S and sinfo -S: order by letters of columns, `-` before one turns it round.
 *
 * The keys of every line are computed once, then compared; lines that agree in all of them keep their
 * order. */
#pragma once
#include "base/cleanup.h"
#include "client/table.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct error;

enum { SORT_KEYS_MAX = 8 };

struct sorting {
	struct {
		const struct column_row *row;
		bool descending;
		bool configured; /* `#`: by the place in the configuration */
	} keys[SORT_KEYS_MAX];
	uint32_t count;
};

struct sort_value {
	int64_t number;
	const char *text; /* NULL: the number counts */
};

/* The value of key `row` for `obj`; memory in `a`. */
typedef struct sort_value (*sort_value_fn)(const void *ctx, const void *obj,
					   const struct column_row *row, bool configured,
					   struct arena *a);

NODISCARD int sorting_parse(struct sorting *s, enum column_of of, const char *text,
			    struct error *err);
void sorting_apply(const struct sorting *s, sort_value_fn value, const void *ctx, const void **objs,
		   size_t count, struct arena *a);
