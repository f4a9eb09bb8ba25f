/* SPDX-License-Identifier: Apache-2.0 */
/* jobref.h - jobs and steps as users name them: 36, 36_4, 36_[1-3,7], 36_*, 36.0, 36_4.batch. */
#pragma once
#include "base/cleanup.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct error;
struct job_filter;

enum { JOBREF_NO_TASK = UINT32_MAX };

struct jobref {
	uint32_t id, task; /* JOBREF_NO_TASK: the job, or all of the array */
	bool has_step;
	uint32_t step;
};

struct jobrefs {
	VEC(struct jobref) at;
};

/* Appends what a comma separated list names; commas inside brackets belong to the tasks. */
NODISCARD int jobrefs_parse(const char *text, struct arena *a, struct jobrefs *ret,
			    struct error *err);
/* Ids and tasks into the filter; with `step` only those that name that step. */
void jobrefs_to_filter(const struct jobrefs *refs, struct arena *a, struct job_filter *f);
