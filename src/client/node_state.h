/* SPDX-License-Identifier: Apache-2.0 */
/* node_state.h - how a node is, in the words of sinfo and scontrol.
 *
 * A status is a base state and flags, as in Slurm; the words are derived from it by rules that
 * sinfo(1), NODE STATE CODES, dictates.  Pure functions, tested as a table. */
#pragma once
#include "base/cleanup.h"
#include "schema/states.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct error;
struct node;

struct node_status {
	enum node_state base;
	uint32_t flags; /* 1u << NODE_FLAG_x */
};

static inline bool node_status_has(struct node_status s, enum node_flag flag)
{
	return s.flags >> flag & 1;
}

struct node_status node_status_of(const struct node *n);
/* Runs or cleans up after something. */
bool node_status_is_busy(struct node_status s);
/* Takes no new work: idle CPUs count as "other". */
bool node_status_is_out(struct node_status s);
/* The number Slurm would have for it: what sinfo sorts by. */
uint32_t node_status_number(struct node_status s);

/* IDLE+DRAIN, MIXED+PLANNED, DOWN*+DRAIN: scontrol show node. */
void node_status_print(struct node_status s, struct buf *out);
/* DRAINED, MIXED-, DOWN*: one word and at most one sign. */
void node_status_print_word(struct node_status s, bool is_short, struct buf *out);

/* sinfo -t: words separated by commas, any of which is enough; a+b wants both, ~a the opposite. */
NODISCARD int node_states_check(const char *list, struct error *err);
bool node_states_match(const char *list, struct node_status s); /* the list was checked */
