/* SPDX-License-Identifier: Apache-2.0 */
/* topo_set.h - all topologies of a cluster, as one reading of the configuration gave them.
 *
 * Immutable but for the count of its holders: the owner of the cluster state holds the set in force, every view
 * the one it was taken with.  References are taken and dropped by the owner's thread alone; other threads only
 * read through a view that holds one. */
#pragma once
#include <stdint.h>

struct topology;

struct topo_set {
	struct topology **at;
	uint32_t count;
	uint32_t refs;
};

struct topo_set *topo_set_new(void); /* empty, held once */
void topo_set_add(struct topo_set *s, struct topology *take);
struct topo_set *topo_set_ref(struct topo_set *s); /* NULL stays NULL */
void topo_set_unref(struct topo_set *s);           /* NULL is fine */
