/* SPDX-License-Identifier: Apache-2.0 */
/* gres.h - what reading gres.conf and joining it with the nodes have in common. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct bitset;
struct error;
struct gres_spec;

/* Parts of a GPU: counted, never devices of their own. */
bool gres_is_shared(const char *name);
/* The entries of Gres= on a NodeName line. */
NODISCARD int gres_of_node(const char *text, struct arena *a, struct gres_spec **ret,
			   uint32_t *ret_count, struct error *err);
/* Cores=0-7,16-23, as CPUs: core n is CPUs n * per_core up to the next core's.  `ret` NULL only
 * checks.  -EINVAL, or -ERANGE for a core that is not below core_count. */
NODISCARD int cores_parse(const char *text, uint32_t core_count, uint32_t per_core,
			  struct bitset *ret);
