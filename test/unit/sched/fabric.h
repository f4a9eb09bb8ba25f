/* SPDX-License-Identifier: Apache-2.0 */
/* fabric.h - topologies of nodes n0, n1, ... for tests. */
#pragma once
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "sched/topo.h"

#include <stdio.h>
#include <string.h>

static inline int fabric_index(void *arg, const char *name)
{
	uint32_t n;
	return name[0] == 'n' && str_to_u32(name + 1, &n) >= 0 && n < *(const uint32_t *)arg
		       ? (int)n
		       : -1;
}

static inline const char *fabric_name(void *arg, uint32_t node)
{
	char(*names)[16] = arg;
	snprintf(names[node], sizeof(names[node]), "n%u", node);
	return names[node];
}

static inline int fabric_new(const struct topo_spec *spec, uint32_t nodes, struct topology **ret,
			     struct error *err)
{
	return topology_new(spec, nodes, fabric_index, &nodes, ret, err);
}

/* "0-3,7" */
static inline void fabric_set(const char *text, struct bitset *ret)
{
	while (*text) {
		char *end;
		uint32_t from = (uint32_t)strtoul(text, &end, 10), to = from;
		if (*end == '-')
			to = (uint32_t)strtoul(end + 1, &end, 10);
		bitset_add_range(ret, from, to - from + 1);
		text = *end ? end + 1 : end;
	}
}
