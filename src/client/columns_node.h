/* SPDX-License-Identifier: Apache-2.0 */
/* columns_node.h - the lines of sinfo: groups of nodes that look the same in the columns shown.
 *
 * Nodes are put on one line when every `key` column of the format shows the same for them; with `exact`
 * the `range` columns count too.  Memory is in the arena given. */
#pragma once
#include "client/node_state.h"
#include "client/table.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct node;
struct node_list;
struct partition;
struct partition_list;
struct show_context;

struct node_group {
	const struct partition *partition; /* the first one it was found in */
	uint32_t partition_pos;            /* its place in the configuration */
	const struct node **nodes;
	uint32_t count, cap;
	struct bitset members; /* by position in the list */
};

struct node_groups {
	VEC(struct node_group *) at;
};

struct node_filter {
	const char *states; /* as node_states_check accepts; NULL is any */
	char *const *names; /* NULL is any */
	uint32_t name_count;
	char *const *partitions;
	uint32_t partition_count;
	bool hidden;           /* hidden partitions too */
	bool responding, dead; /* only those */
	bool with_reason;      /* only down, drained or failed ones with a reason */
	bool per_node;         /* -N: a line for each node and partition */
	bool exact;
};

void node_groups_make(struct node_groups *g, const struct table *t, const struct node_filter *f,
		      const struct show_context *c, const struct node_list *nodes,
		      const struct partition_list *partitions, struct arena *a);
/* A table_value_fn; `ctx` is a struct show_context, `obj` a struct node_group. */
void node_column(const void *ctx, const void *obj, const struct column_row *row, struct buf *out);
bool node_column_number(const struct node_group *g, const struct column_row *row, int64_t *ret);
bool node_column_is_known(const struct column_row *row);
