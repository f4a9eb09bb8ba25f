/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - what the planner looks at: arrays of records that do not change while it looks.
 *
 * The owner of the cluster state makes a view and lends it to the planner's thread; the records are
 * those of schema/, so nothing here knows how the owner keeps them. */
#pragma once
#include "base/time.h"
#include "schema/job.h"
#include "schema/node.h"
#include "sched/limits.h"
#include "text/selectparams.h"

struct topology;

struct sched_view {
	usec_t now;
	const struct node *const *nodes; /* by node index; NULL where there is none */
	uint32_t node_count;
	const struct partition *const *partitions;
	uint32_t partition_count;
	const struct job *const *pending; /* in the order in which they should start */
	uint32_t pending_count;
	const struct job *const *running; /* those that hold nodes; only in views for planning */
	uint32_t running_count;
	struct select_rules select;
	struct memory_limits max_memory; /* of the cluster, for partitions without their own */
	const struct license *licenses;
	uint32_t license_count;
	uint32_t unexplained; /* pending jobs whose reason is still None */
	const struct topology *const *topologies;
	uint32_t topology_count;
};

const struct partition *view_partition(const struct sched_view *v, const char *name);
/* The one that the partition names, else the default; NULL, which is flat, when there is none. */
const struct topology *view_topology(const struct sched_view *v, const struct partition *p);
