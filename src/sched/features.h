/* SPDX-License-Identifier: Apache-2.0 */
/* features.h - which nodes a constraint admits, one by one and as a group.
 *
 * Most constraints are a question about one node.  [a|b] is one about the whole job: it is tried once
 * for each alternative, as a constraint without it.  Counts ([a*2&b*4]) are met by choosing so many
 * nodes for each part, no node for two; nodes beyond the counts may be any that the partition has. */
#pragma once
#include "text/constraint.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct node;

bool node_has_feature(const struct node *n, const char *name);
/* May this node be one of the job's?  Counts ask nothing of a single node; of [a|b] one must hold.
 * Everything is admitted by NULL. */
bool features_match(const struct constraint *c, const struct node *n);

/* The constraints to try one after the other: one for each part of a SAME, else `c` itself.  None of
 * them has a SAME in it. */
uint32_t features_choices(const struct constraint *c, struct arena *a,
			  const struct constraint *const **ret);

/* The EACH in it; NULL when it has no counts. */
const struct constraint *features_counts(const struct constraint *c);
/* How many nodes the counts need, at most UINT32_MAX; 0 without counts. */
uint32_t features_nodes(const struct constraint *c);
/* The parts of the EACH that this node could serve, a bit for each. */
uint64_t features_parts(const struct constraint *each, const struct node *n);

/* Chooses `want` nodes that together meet the counts.  `order` has `count` positions in `parts` (what
 * features_parts says of each node), the best node first; on success those chosen come first in it.
 * Each of them stands as early in the given order as any choice allows: no other set of that size has
 * a better first, second, ... node, nor a larger sum of anything that falls along the order.  On
 * failure no such set exists and the order is as it was. */
NODISCARD bool features_order(const struct constraint *each, const uint64_t *parts, uint32_t *order,
			      uint32_t count, uint32_t want, struct arena *a);
/* Do these nodes, taken together, meet the counts? */
NODISCARD bool features_counts_met(const struct constraint *each, const uint64_t *parts, uint32_t count,
				   struct arena *a);
