/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - what a partition allows, whatever is free: length, size, memory, accounts.
 *
 * The same answer keeps a job waiting with its reason and, where EnforcePartLimits says so, out. */
#pragma once
#include "schema/job.h"

#include <stdint.h>

struct buf;
struct demand;
struct partition;
struct sched_view;

/* MaxMemPerCPU and MaxMemPerNode of a partition, or those of the cluster where it has none; 0 is no
 * limit. */
struct memory_limits {
	uint64_t per_cpu, per_node; /* MiB; never both */
};
struct memory_limits limits_memory(const struct sched_view *v, const struct partition *p);

/* Why the partition does not take the job as it is; JOB_REASON_NONE when it does.  `ret_why`, if not
 * NULL, gets a sentence about it. */
enum job_reason limits_refuse(const struct sched_view *v, const struct partition *p, const struct job *j,
			      struct buf *ret_why);

/* Puts the partition's rules and those of SelectTypeParameters into a demand. */
void limits_bind(const struct sched_view *v, const struct partition *p, struct demand *d);

/* Is `name` among a comma list?  The list may be ALL. */
bool limits_listed(const char *list, const char *name);
