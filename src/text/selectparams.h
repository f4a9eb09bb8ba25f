/* SPDX-License-Identifier: Apache-2.0 */
/* selectparams.h - SelectTypeParameters of slurm.conf: what is given out, and how nodes are filled. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>

struct error;

/* All false is CR_Core_Memory, the default: whole cores, and memory is counted. */
struct select_rules {
	bool by_cpu;            /* CR_CPU: single hardware threads */
	bool by_socket;         /* CR_Socket: whole sockets */
	bool ignores_memory;    /* no _Memory: a node must have as much, but nobody counts */
	bool one_task_per_core; /* CR_ONE_TASK_PER_CORE */
	bool pack_nodes;        /* CR_Pack_Nodes: fill one node with tasks before the next */
	bool least_loaded;      /* CR_LLN: the node with most free CPUs first */
};

/* A comma list; words that exist but are not built are refused as such. */
NODISCARD int select_rules_parse(const char *text, struct select_rules *ret, struct error *err);
