/* SPDX-License-Identifier: Apache-2.0 */
/* affinity.c - which CPUs of the machine a task may use.
 *
 * The controller counts a node's CPUs by socket, core and thread; the node daemon hands over the
 * machine's numbers in that order.  Tasks are bound to their own CPUs, with --cpu-bind=sockets to all of
 * the step's.  The list is not handed over when the node only pretends to have CPUs (several
 * nodes on one machine, config_overrides), and then nothing is bound. */
#include "base/str.h"
#include "slurmstepd/stepd.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "0-3,8,4-7" in the order written; returns how many there are. */
static uint32_t list_parse(const char *text, uint32_t *cpus, uint32_t max)
{
	uint32_t count = 0;

	while (isdigit((unsigned char)*text)) {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long i = first; i <= last && count < max; i++)
			cpus[count++] = (uint32_t)i;
		text = *end == ',' ? end + 1 : end;
	}
	return count;
}

/* The last word of --cpu-bind; those before it are about what is printed. */
static bool bind_is(const struct step *step, const char *word)
{
	const char *comma = step->cpu_bind ? strrchr(step->cpu_bind, ',') : NULL;

	return str_ieq(comma ? comma + 1 : step->cpu_bind, word);
}

bool affinity_of(const struct stepd *s, const struct task *t, cpu_set_t *ret)
{
	const struct step *step = &s->launch.step;
	uint32_t cpus[CPU_SETSIZE], have, skip = 0, want = UINT32_MAX, at = 0;
	const struct bitset *cores;

	if (!s->cpus || s->launch.node_pos >= step->n_alloc || bind_is(step, "none") ||
	    bind_is(step, "no"))
		return false;
	cores = &step->alloc[s->launch.node_pos].cores;
	have = list_parse(s->cpus, cpus, CPU_SETSIZE);
	/* With enough CPUs for everybody each task has its own, otherwise they share all. */
	if (!stepd_is_batch(s) && step->cpus_per_task && !bind_is(step, "sockets") &&
	    (uint64_t)step->cpus_per_task * s->task_count <= bitset_count(cores)) {
		want = step->cpus_per_task;
		skip = want * t->local_id;
	}
	CPU_ZERO(ret);
	for (uint32_t i = bitset_next(cores, 0); i != BITSET_NONE;
	     i = bitset_next(cores, i + 1), at++) {
		if (i >= have)
			return false;
		if (at >= skip && at - skip < want)
			CPU_SET(cpus[i], ret);
	}
	return CPU_COUNT(ret) > 0;
}
