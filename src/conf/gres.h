/* SPDX-License-Identifier: Apache-2.0 */
/* gres.h - what reading gres.conf and joining it with the nodes have in common. */
#pragma once
#include "base/cleanup.h"
#include "base/vec.h"
#include "schema/node.h"
#include "text/gres.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct bitset;
struct conf;
struct error;
struct node_conf;

/* An entry of Gres= on a NodeName line. */
struct gres_entry {
	struct gres_spec spec;
	bool no_consume;
};

/* The entries of Gres=, those of equal name and type added up. */
NODISCARD int gres_of_node(const char *text, struct arena *a, struct gres_entry **ret,
			   uint32_t *ret_count, struct error *err);
/* Is `word` in the comma list?  Case does not matter. */
bool conf_has_word(const char *list, const char *word);
/* Is this line of gres.conf about that node (by position)? */
bool gres_line_is_about(const struct conf *c, size_t line, uint32_t node);

typedef VEC(struct node_gres) node_gres_vec;

/* Adds shard or mps of a node to its GPUs, which must be in `found` already. */
struct sharing {
	const struct conf *conf;
	const struct node_conf *node;
	uint32_t position; /* of the node */
	struct arena *arena;
	node_gres_vec *found;
};
NODISCARD int sharing_join(const struct sharing *s, const struct gres_spec *e, struct error *err);
/* Cores=0-7,16-23, as CPUs: core n is CPUs n * per_core up to the next core's.  `ret` NULL only
 * checks.  -EINVAL, or -ERANGE for a core that is not below core_count. */
NODISCARD int cores_parse(const char *text, uint32_t core_count, uint32_t per_core,
			  struct bitset *ret);
