/* SPDX-License-Identifier: Apache-2.0 */
/* canned.h - a controller made of fixed answers: eight nodes, two partitions and a queue at one moment.
 *
 * It stands behind struct ask in place of the real one.  Queries are filtered and sent through the codec
 * with exactly the fields that were asked for, so a column that forgets to ask for what it shows is caught;
 * requests that would change something are written down. */
#pragma once
#include "base/buf.h"

struct arena;
struct ask;
struct conf;
struct job_list;
struct node_list;
struct partition_list;

struct canned {
	struct buf requests; /* one line for each request that is no query */
	const char *input;   /* lines for read_line */
	struct conf *conf;
};

void canned_world(struct ask *ask, struct canned *c); /* ask->arena is set */

/* cluster.c */
void canned_jobs(struct arena *a, struct job_list *ret);
void canned_nodes(struct arena *a, struct node_list *ret);
void canned_partitions(struct arena *a, struct partition_list *ret);
