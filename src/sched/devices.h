/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h - which of a node's free devices a job gets.
 *
 * Those close to the CPUs that the job will have (Cores of gres.conf) come first, then those that are
 * best connected among each other and to the ones taken before (Links), then the lowest indexes.  How a
 * site cut its gres.conf into lines does not matter. */
#pragma once
#include "base/bitset.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct gres_alloc;
struct node_gres;
struct pool_node;

struct device_want {
	const char *name, *type; /* type NULL: any */
	uint64_t count;
	uint32_t cores;   /* that the job takes on the node */
	uint32_t sockets; /* bit per socket: only devices close to one of these */
	uint32_t close;   /* sockets that the job has devices close to already; 0: none */
	bool anywhere;    /* --gres-flags=disable-binding */
};

/* Adds up to `count` free devices that are not in `taken`, by index among the node's devices of the
 * name; returns how many.  `want->close` learns the sockets that they are close to. */
uint64_t devices_choose(const struct pool_node *n, struct device_want *want, struct arena *a, struct bitset *taken);
/* The sockets that devices of this entry are close to; all of them when gres.conf says nothing. */
uint32_t devices_sockets(const struct pool_node *n, const struct node_gres *g);
/* Size of a set of the node's devices of one name. */
uint32_t devices_bits(const struct pool_node *n, const char *name);

/* How many of the resource an allocation has: devices, or parts, or a mere count. */
uint64_t gres_alloc_count(const struct gres_alloc *g);
