/* SPDX-License-Identifier: Apache-2.0 */
/* topo_impl.h - what the kinds of topologies share.
 *
 * A kind is a const vtable.  All but the flat one sort the nodes into leaves: leaf switches, blocks, rings,
 * tori.  A leaf knows its nodes as words of a node bitset, so that its share of any set of nodes is counted
 * by a popcount or two; leaves stand in the order in which ranks follow them, so that whatever lies above
 * them (a switch, an aggregated block) is a run of leaves and its count a difference of two sums.
 *
 * Tree and block choose by places: a leaf, or a run of leaves that a segment must not leave. */
#pragma once
#include "base/arena.h"
#include "sched/topo.h"

struct span { /* the part of a leaf that falls into one word of a node bitset */
	uint32_t word;
	uint64_t mask;
};

struct leaf {
	const char *name;
	const char *where;
	struct span *spans; /* ascending */
	uint32_t span_count;
	uint32_t *nodes; /* as listed */
	uint32_t node_count;
	uint32_t x, y, z; /* of a torus */
};

struct topology {
	const struct topo_ops *ops;
	struct arena *arena; /* everything, this struct included */
	const char *name;
	bool is_default;
	uint32_t node_count;
	struct leaf *leaves; /* in the order of ranks */
	uint32_t leaf_count;
	uint32_t *leaf_of; /* by node: leaf + 1, 0 for none */
	void *own;         /* of the kind */
};

struct choosing { /* one question */
	const struct topology *t;
	const struct bitset *candidates;
	const struct topo_wish *wish;
	uint32_t required; /* how many nodes must be among them */
	struct arena *arena;
	uint32_t *ret;
	uint32_t filled;
	uint32_t leaves_used;
};

struct build { /* one topology in the making */
	struct topology *t;
	const struct topo_spec *spec;
	topo_node_fn node_index;
	void *arg;
};

struct topo_ops {
	enum topo_kind kind;
	const char *noun; /* of a leaf: switch, block */
	int (*build)(struct build *b, struct error *err);
	bool (*choose)(struct choosing *c);
	void (*address)(const struct topology *t, uint32_t leaf, struct buf *addr,
			struct buf *pattern);
	uint32_t (*show)(const struct topology *t, const struct topo_show *show, struct buf *out);
};

extern const struct topo_ops topo_flat_ops, topo_tree_ops, topo_block_ops, topo_ring_ops,
	topo_torus_ops;

/* topo.c */
/* Resolves unit->nodes into the next leaf; refuses unknown nodes and those that a leaf has already. */
int leaf_add(struct build *b, const struct topo_unit *unit, struct error *err);
/* Refuses a name that an earlier unit has. */
int unit_names_check(const struct build *b, struct error *err);
/* " Nodes=n[1-4]" of a run of leaves, in the order of node indexes. */
void leaves_show(const struct topology *t, uint32_t first, uint32_t count,
		 const struct topo_show *show, struct buf *out);
/* The kinds whose leaves are all there is: "RingName=r Nodes=..." */
uint32_t leaves_show_plain(const struct topology *t, const char *key, const struct topo_show *show,
			   struct buf *out);

/* topo_pick.c: places */
struct place {
	uint32_t leaf, leaves; /* the run of leaves it is */
	uint32_t free;         /* candidates */
	uint32_t room;         /* as many of them as whole segments can use */
	uint32_t least;        /* that must be taken: required nodes, in whole segments */
	uint32_t take;         /* chosen */
	uint32_t crowd;        /* candidates of what lies above: fuller neighbourhoods first */
	uint64_t weight;       /* sum over the candidates */
};

uint32_t leaf_count_in(const struct leaf *l, const struct bitset *set);
/* Places of `leaves_each` leaves over all leaves; false when a required node is outside of all of them. */
bool places_make(struct choosing *c, uint32_t leaves_each, uint32_t segment, struct place **ret,
		 uint32_t *ret_count);
/* The fewest of these places that give `want` nodes; 0 when they cannot. */
uint32_t places_needed(const struct place *p, uint32_t count, uint32_t want, struct arena *a);
/* Sets `take`: so few places, the one that is filled last the one that fits best. */
void places_take(struct place *p, uint32_t count, uint32_t want, struct arena *a);
/* Writes the nodes of what was taken. */
void places_emit(struct choosing *c, const struct place *p, uint32_t count);

struct score { /* of a run of places, smaller is better */
	uint32_t needed;
	uint32_t free;
	uint32_t crowd;
	uint64_t weight;
};
bool score_better(const struct score *a, const struct score *b);

/* topo_run.c: neighbours */
struct run_scope {
	const uint32_t *order; /* node by position; NULL: positions are node indexes */
	uint32_t first, count;
	bool wraps;
	/* What a window costs, fewer first; 0: it is not allowed.  NULL: all are alike. */
	uint32_t (*cost)(const void *arg, uint32_t start);
	const void *arg;
};
struct run {
	uint32_t start, length; /* length of the free stretch that it is cut from */
	uint32_t cost;
	uint64_t weight;
	bool found;
};
/* Finds the best window of `want` positions that are all candidates and contain all required nodes; keeps
 * `best` when nothing in this scope is better. */
void run_find(const struct choosing *c, const struct run_scope *s, struct run *best);
void run_emit(struct choosing *c, const struct run_scope *s, const struct run *r);

struct line { /* the leaves' nodes one after another, for --contiguous */
	uint32_t *order;
	uint32_t *first; /* position at which leaf i begins; one more than leaves */
};
struct line line_make(const struct topology *t, struct arena *a);
/* Does the window that starts there have whole segments in every run of `each` leaves? */
bool line_keeps_segments(const struct choosing *c, const struct line *l, uint32_t each,
			 uint32_t start);
