/* SPDX-License-Identifier: Apache-2.0 */
/* defaults.h - what a job gets that does not say, from its partition and the cluster. */
#pragma once

struct arena;
struct job_spec;
struct partition;
struct sched_view;
struct settings;

/* Memory and CPUs by GPU, the binding that follows from --ntasks-per-gpu; and where MaxMemPerCPU is
 * smaller than what a CPU should have, as many more CPUs as bring the memory. */
void defaults_fill(const struct settings *set, const struct sched_view *v, const struct partition *p,
		   struct job_spec *s, struct arena *a);
