/* SPDX-License-Identifier: Apache-2.0 */
/* owners.h - whose jobs are on which node, for those who share nodes with their own jobs only
 * (--exclusive=user, partitions with Exclusive=USER). */
#pragma once
#include "base/bitset.h"
#include "schema/job.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;

struct owners {
	uint64_t *uid;       /* by node: 0 nobody's, 1 + the only user's, OWNERS_MIXED */
	struct bitset owned; /* where somebody is who does not share with others */
};
#define OWNERS_MIXED UINT64_MAX

void owners_init(struct owners *o, const struct job *const *running, uint32_t count, uint32_t nodes,
		 struct arena *a);
void owners_add(struct owners *o, const struct node_alloc *alloc, uint32_t uid, bool alone);
/* Can ownership keep this request from a node? */
bool owners_matter(const struct owners *o, bool alone);
/* Adds the nodes that a job of `uid` must not use; `alone`: it shares with its own kind only. */
void owners_block(const struct owners *o, uint32_t uid, bool alone, struct bitset *blocked);
