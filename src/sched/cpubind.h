/* SPDX-License-Identifier: Apache-2.0 */
/* cpubind.h - which of a step's CPUs on a node each task is bound to (--cpu-bind).
 *
 * Computed the same way for a step that runs and for a dry run; whether the machine really has these
 * CPUs is the step daemon's affair.  CPUs are counted as the controller counts them, by socket, core
 * and thread. */
#pragma once
#include "base/bitset.h"
#include "base/cleanup.h"
#include "sched/nodefit.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct error;
struct step;

enum cpubind_kind {
	CPUBIND_AUTO, /* nothing was said */
	CPUBIND_NONE,
	CPUBIND_SOCKETS,
	CPUBIND_CORES,
	CPUBIND_THREADS,
	CPUBIND_RANK,
	CPUBIND_MAP,
	CPUBIND_MASK,
	CPUBIND_ALL, /* of the step's CPUs: what auto comes to when nothing else fits */
};

struct cpubind {
	enum cpubind_kind kind;
	bool quiet, verbose;
	const char *list; /* of map_cpu and mask_cpu; points into the text that was read */
};

/* NULL and "" are auto. */
NODISCARD int cpubind_parse(const char *text, struct cpubind *ret, struct error *err);
/* none, sockets, ..., map_cpu:, mask_cpu:; auto is "" */
const char *cpubind_word(enum cpubind_kind kind);

struct cpubind_node {
	const struct step *step;
	uint32_t pos; /* of the node in the step */
	struct geometry geometry;
	/* The machine's number of each CPU, for map_cpu and mask_cpu, which speak of those; NULL: the
	 * same as ours. */
	const uint32_t *machine;
	uint32_t machine_count;
};

struct cpubind_result {
	struct cpubind how;   /* as asked for */
	enum cpubind_kind kind; /* auto resolved; CPUBIND_NONE: tasks are not to be bound */
	struct bitset *tasks; /* one for each local task */
	bool *outside;        /* the task's list named CPUs that are not the step's: it has all */
	uint32_t count;
};

void cpubind_tasks(const struct cpubind_node *n, struct arena *a, struct cpubind_result *ret);
/* 0x3 for CPUs 0 and 1, in the machine's numbers where they are known. */
void cpubind_print_mask(const struct cpubind_node *n, const struct bitset *cpus, struct buf *out);
