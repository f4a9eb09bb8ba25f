/* SPDX-License-Identifier: Apache-2.0 */
/* fabric.h - nodes that are wired close together and meet the counts of a constraint. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct bitset;
struct constraint;
struct topo_wish;
struct topology;

/* As topology_choose, for a set that also meets `counts` (features.h); `parts` is by node index. */
bool fabric_choose(const struct topology *t, const struct bitset *usable, const struct topo_wish *wish,
		   const struct constraint *counts, const uint64_t *parts, struct arena *a, uint32_t *ret);
