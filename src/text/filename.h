/* SPDX-License-Identifier: Apache-2.0 */
/* filename.h - output file patterns: slurm-%A_%a.out, log.%5j.%t. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;

struct filename_values {
	uint32_t job_id, array_job_id, array_task_id; /* array_task_id 4294967294 outside arrays */
	uint32_t step_id, task_id, node_pos, restart;
	const char *step_name; /* "batch" or the number as text */
	const char *node_name, *user, *job_name;
};

/* %% %A %a %b %J %j %N %n %r %s %t %u %x; a width pads numbers with zeros, up to 10.  A backslash
 * anywhere switches expansion off and is left out itself.  Other letters stay as they are. */
char *filename_expand(const char *pattern, const struct filename_values *v, struct arena *a);
/* Would tasks (or nodes) get different files? */
bool filename_is_per_task(const char *pattern);
