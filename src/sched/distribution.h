/* SPDX-License-Identifier: Apache-2.0 */
/* distribution.h - the words of -m: how ranks follow nodes, sockets and cores.
 *
 * srun(1): node[:socket[:core]][,Pack|NoPack], each level `*` for the default. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct error;

enum dist_nodes { DIST_NODES_DEFAULT, DIST_NODES_BLOCK, DIST_NODES_CYCLIC, DIST_NODES_PLANE, DIST_NODES_ARBITRARY };

enum dist_level {
	DIST_LEVEL_BLOCK,   /* neighbours share: one is filled before the next is begun */
	DIST_LEVEL_CYCLIC,  /* neighbours go round; the CPUs of one task stay together */
	DIST_LEVEL_FCYCLIC, /* every single CPU goes round */
};

struct distribution {
	enum dist_nodes nodes;
	uint32_t plane;                /* tasks side by side; at least 1 with DIST_NODES_PLANE */
	enum dist_level sockets, cores; /* defaults filled in: cyclic, and as the sockets */
	bool pack, no_pack;
};

/* NULL and "" are the defaults. */
NODISCARD int distribution_parse(const char *text, struct distribution *ret, struct error *err);
/* For texts that were checked when they came in: what cannot be read counts as the default. */
struct distribution distribution_of(const char *text);
/* The name of the node level for a step of so many tasks: block, cyclic, plane or arbitrary. */
const char *distribution_word(const struct distribution *d, uint32_t ntasks, uint32_t nodes);
/* SLURM_DISTRIBUTION: the node level, and the others where they were written; the size of a plane
 * has a variable of its own. */
void distribution_print(const char *text, uint32_t ntasks, uint32_t nodes, struct buf *out);
