/* SPDX-License-Identifier: Apache-2.0 */
/* topo.h - how the nodes are wired, and which of them belong together.
 *
 * A topology is immutable once built; views share it.  A partition uses the one it names, else the
 * cluster's default; flat when nothing is configured.  Choosing is pure: given the nodes that could be
 * used, it says which `want` of them a job of that size should get, in the order its ranks follow.
 * NULL is a topology too, a flat one, so that callers need no case for clusters without a fabric. */
#pragma once
#include "base/bitset.h"
#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct error;
struct topology;

enum topo_kind { TOPO_FLAT, TOPO_TREE, TOPO_BLOCK, TOPO_RING, TOPO_TORUS3D };

/* One line of the configuration, whatever file it came from. */
struct topo_unit {
	const char *name;
	const char *nodes;    /* hostlist; leaf switches, blocks, rings */
	const char *switches; /* hostlist of units below it; tree */
	const char *link_speed;
	const char *where;    /* "topology.conf:3", for errors */
	uint32_t x, y, z;     /* size of a torus; its nodes are listed with x running fastest, then y */
};

struct topo_spec {
	const char *name; /* of the topology; "default" from topology.conf */
	enum topo_kind kind;
	bool is_default;
	const struct topo_unit *units;
	uint32_t unit_count;
	const char *where;           /* of the topology itself */
	const uint32_t *block_sizes; /* in nodes: the base, then its multiples; none: all of them */
	uint32_t block_size_count;
};

/* Node index of a name, or negative. */
typedef int (*topo_node_fn)(void *arg, const char *name);

/* Refuses with file and line: a node twice, a switch in a loop, an unknown node or switch. */
NODISCARD int topology_new(const struct topo_spec *spec, uint32_t node_count, topo_node_fn node_index,
			   void *arg, struct topology **ret, struct error *err);
void topology_free(struct topology *t); /* NULL is fine */
enum topo_kind topology_kind(const struct topology *t);
const char *topology_name(const struct topology *t);
bool topology_is_default(const struct topology *t);
/* The first node that no unit connects, or BITSET_NONE; nothing is connected in a flat one. */
uint32_t topology_loose_node(const struct topology *t, const struct bitset *nodes);

struct topo_wish {
	uint32_t want;                   /* nodes */
	const struct bitset *required;   /* must be among them; NULL: none */
	uint32_t switches_max;           /* leaf switches at most; 0: as few as possible */
	uint32_t segment;                /* 0: no segments */
	bool spread_segments, consolidate_segments;
	bool contiguous;
	const uint32_t *weight;          /* by node index: lower first among equals; NULL: all equal */
};

/* Chooses `want` of `candidates`; false when the topology has no such set.  `ret` has room for `want`
 * node indexes; `ret_switches` (may be NULL) gets the number of leaf switches (or blocks) used. */
bool topology_choose(const struct topology *t, const struct bitset *candidates,
		     const struct topo_wish *wish, struct arena *a, uint32_t *ret, uint32_t *ret_switches);

/* SLURM_TOPOLOGY_ADDR and its pattern: "spine.leaf2.node5", "switch.switch.node". */
void topology_address(const struct topology *t, uint32_t node, const char *node_name, struct buf *addr,
		      struct buf *pattern);

typedef const char *(*topo_name_fn)(void *arg, uint32_t node);
struct topo_show {
	const char *unit;       /* only this one; NULL: all */
	uint32_t node;          /* only units that have this node; BITSET_NONE: all */
	topo_name_fn node_name; /* NULL for an index that no node has */
	void *arg;
};
/* The lines of scontrol show topology; says how many there are. */
uint32_t topology_show(const struct topology *t, const struct topo_show *show, struct buf *out);
