/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - one look over the queue: what starts now, and why the rest waits.
 *
 * Pure: a view in, proposals out, memory in the arena of the pass.  The owner validates proposals
 * again when they come back, because the world went on meanwhile. */
#pragma once
#include "schema/job.h"
#include "sched/fit.h"

struct arena;
struct buf;
struct partition;
struct sched_view;

struct plan_start {
	uint32_t job_id;
	bool has_task;
	uint32_t task_id; /* of a pending array */
	const char *partition;
	enum exclusive_kind exclusive; /* by request or partition */
	const char *licenses; /* what it takes, as name:count,...; NULL for none */
	struct fit fit;
	uint32_t cpus_per_task;
};

struct plan_verdict {
	uint32_t job_id;
	enum job_reason reason;
};

struct plan {
	struct plan_start *starts;
	uint32_t start_count;
	struct plan_verdict *verdicts; /* only where the reason changes */
	uint32_t verdict_count;
	uint64_t steps;    /* requests that were tried */
	usec_t next_begin; /* earliest --begin, or end of waiting for --switches, still to come; 0 for none */
};

/* SchedulerParameters=max_switch_wait: the longest that --switches makes a job wait by default. */
#define SWITCHES_WAIT (300 * USEC_PER_SEC)

/* `budget` bounds the number of requests tried, so that a pass is repeatable and never endless. */
void plan_make(const struct sched_view *v, uint64_t budget, struct arena *a, struct plan *ret);

/* Could the request ever be met by this cluster?  On false `ret_why` says what is missing; the
 * partitions are those of the job. */
bool plan_possible(const struct sched_view *v, const struct resource_request *r,
		   const struct partition *p, struct buf *ret_why);
/* When --switches will have waited long enough; 0: never. */
usec_t plan_switches_until(const struct job *j);
