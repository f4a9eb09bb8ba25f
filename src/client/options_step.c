/* SPDX-License-Identifier: Apache-2.0 */
/* srun inside an allocation: what it inherits through the environment, and what its own command
 * line puts out of force.
 *
 * The job's variables (SLURM_NTASKS, SLURM_JOB_NUM_NODES, SLURM_GPUS_PER_NODE, ...) make a plain
 * `srun prog` use the whole job.  Once the command line names a part of it, what described the whole
 * does not apply: `srun -N1` is not two tasks on one node because the job has two, and `srun -w n2`
 * runs on n2 alone.  So uses that come from the environment are struck out before they are applied. */
#include "base/str.h"
#include "client/options.h"
#include "client/options_step.h"

static const char *find(const struct options *o, enum option_source source, const char *name)
{
	const char *value = NULL;
	for (size_t i = 0; i < o->uses.count; i++)
		if (o->uses.at[i].source == source && str_eq(o->uses.at[i].row->long_name, name))
			value = o->uses.at[i].value ? o->uses.at[i].value : "";
	return value;
}

static bool on_line(const struct options *o, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (find(o, OPTION_ARGS, names[i]))
			return true;
	return false;
}

static void strike(struct options *o, const char *name)
{
	for (size_t i = o->uses.count; i-- > 0;)
		if (o->uses.at[i].source == OPTION_ENV &&
		    str_eq(o->uses.at[i].row->long_name, name))
			vec_remove(&o->uses, i);
}

/* Did nobody ask for this many tasks, is it only one (or --ntasks-per-node) for each of the nodes? */
static bool ntasks_is_derived(const struct options *o)
{
	const char *tasks = find(o, OPTION_ENV, "ntasks"), *nodes = find(o, OPTION_ENV, "nodes");
	const char *each = find(o, OPTION_ENV, "ntasks-per-node");
	uint32_t t, n, e = 1;
	return tasks && nodes && str_to_u32(tasks, &t) == 0 && str_to_u32(nodes, &n) == 0 &&
	       (!each || str_to_u32(each, &e) == 0) && t == n * e;
}

void options_enter_step(struct options *o)
{
	enum { GRES_NAMING = 6 }; /* how many of them name resources; the others bind them */
	static const char *const gres[] = {
		"gres",          "gpus",     "gpus-per-node", "gpus-per-task", "gpus-per-socket",
		"tres-per-task", "gpu-bind", "tres-bind"
	};
	/* The job's name, limit and total are not those of each step, and what its nodes, CPUs and
	 * memory were chosen and counted by has been allocated. */
	static const char *const of_the_job[] = {
		"job-name",         "time",           "gpus",
		"cpus-per-gpu",     "mem-per-gpu",    "ntasks-per-core",
		"threads-per-core", "ntasks-per-gpu", "gpus-per-socket",
		"gres-flags",       "gpu-freq",       "hint",
	};
	static const char *const memory[] = { "mem", "mem-per-cpu", "mem-per-gpu" };
	static const char *const places[] = { "nodelist", "nodefile", "exclude", "relative" };
	o->in_allocation = true;
	for (size_t i = o->uses.count; i-- > 0;)
		if (o->uses.at[i].source == OPTION_ENV &&
		    o->uses.at[i].row->scope == OPTION_SCOPE_JOB)
			vec_remove(&o->uses, i);
	for (size_t i = 0; i < ARRAY_COUNT(of_the_job); i++)
		strike(o, of_the_job[i]);
	if (on_line(o, gres, GRES_NAMING))
		for (size_t i = 0; i < ARRAY_COUNT(gres); i++)
			strike(o, gres[i]);
	if (on_line(o, memory, ARRAY_COUNT(memory)))
		for (size_t i = 0; i < ARRAY_COUNT(memory); i++)
			strike(o, memory[i]);
	bool part = find(o, OPTION_ARGS, "nodes") || on_line(o, places, ARRAY_COUNT(places));
	if (part && !find(o, OPTION_ARGS, "ntasks") && ntasks_is_derived(o))
		strike(o, "ntasks");
	if (part)
		strike(o, "nodes");
	if (find(o, OPTION_ARGS, "ntasks") && !find(o, OPTION_ARGS, "ntasks-per-node"))
		strike(o, "ntasks-per-node");
	if (find(o, OPTION_ARGS, "ntasks-per-node") && !find(o, OPTION_ARGS, "ntasks"))
		strike(o, "ntasks");
	if (find(o, OPTION_ARGS, "ntasks-per-gpu")) {
		strike(o, "ntasks-per-node");
		strike(o, find(o, OPTION_ARGS, "ntasks") ? "gpus-per-node" : "ntasks");
		strike(o, "gpu-bind");
		strike(o, "tres-bind");
		strike(o, "tres-per-task");
	}
}
