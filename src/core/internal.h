/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - what the files of core/ share and nobody else needs. */
#pragma once
#include "core/cluster.h"

/* The pending queue: kept sorted, so that the planner finds the order ready-made. */
void queue_insert(struct cluster *c, struct job *j);
void queue_remove(struct cluster *c, const struct job *j);
void queue_rebuild(struct cluster *c); /* after tiers changed */

void job_insert(struct cluster *c, const struct job *j); /* copies; fills every index */
void job_drop(struct cluster *c, uint32_t id);
/* Around a change of what a job asks for. */
void request_forget(struct cluster *c, const struct job *j);
void request_remember(struct cluster *c, const struct job *j);
void ended_add(struct cluster *c, const struct job *j);
void ended_remove(struct cluster *c, uint32_t id);
void partition_insert(struct cluster *c, const struct partition_configured *ev);
void partition_drop(struct cluster *c, const char *name);
struct node *node_insert(struct cluster *c, uint32_t index, const char *name);

void blob_ref(struct cluster *c, uint64_t id);
void blob_unref(struct cluster *c, uint64_t id);

/* licenses.c: what a job holds is counted as used, or no longer. */
void licenses_mark(struct cluster *c, const struct job *j, bool take);
const struct license *licenses_look(const struct cluster *c, struct arena *a);
void licenses_done(struct cluster *c);

/* gres.c: are these free on the node, and mark them as used or as free again. */
bool gres_is_free(const struct node *n, const struct gres_alloc *g);
void gres_mark(struct node *n, const struct gres_alloc *g, bool take);

/* What a job has on a node is marked as used, or as free again. */
void node_take(struct cluster *c, const struct job *j, const struct node_alloc *a);
void node_give(struct cluster *c, const struct job *j, const struct node_alloc *a);

/* expect.c: fills the answer to --test-only for a job that was accepted. */
struct submit_reply;
void expect_job(const struct cluster *c, const struct sched_view *v, const struct job *j, struct arena *a,
		struct submit_reply *reply);
