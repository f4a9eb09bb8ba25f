/* SPDX-License-Identifier: Apache-2.0 */
/* features.h - which nodes a constraint admits, one by one and as a group.
 *
 * Most constraints are a question about one node.  [a|b] is one about the whole job: it is tried once
 * for each alternative, as a plain constraint.  Counts ([a*2&b*4]) are met by choosing so many nodes
 * for each part; nodes beyond the counts may be any that the partition has. */
#pragma once
#include "base/bitset.h"
#include "text/constraint.h"

#include <stdbool.h>
#include <stdint.h>

struct node;

/* Does this node alone satisfy it?  For SAME and EACH: does it satisfy any part? */
bool features_match(const struct constraint *c, const struct node *n);
bool node_has_feature(const struct node *n, const char *name);

/* The plain constraints to try one after the other: the parts of a SAME, else the constraint itself. */
uint32_t features_choices(const struct constraint *c, const struct constraint *const **ret);

/* For EACH: may `chosen` (node indexes, `count` of them) be assigned so that every part has its count? */
bool features_counts_met(const struct constraint *c, const struct node *const *nodes,
			 const uint32_t *chosen, uint32_t count);
/* For EACH: an order of `candidates` whose first nodes meet the counts, fewest alternatives first. */
void features_order(const struct constraint *c, const struct node *const *nodes, uint32_t *candidates,
		    uint32_t count);
