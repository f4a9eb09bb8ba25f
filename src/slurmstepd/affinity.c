/* SPDX-License-Identifier: Apache-2.0 */
/* affinity.c - which CPUs of the machine a task may use.
 *
 * The controller counts a node's CPUs by socket, core and thread; the node daemon hands over the
 * machine's numbers in that order.  Which of the node's CPUs a task gets is sched/cpubind.c's affair.
 * The list of numbers is not handed over when the node only pretends to have CPUs (several nodes on
 * one machine, config_overrides); then everything is computed as ever, and nothing is bound. */
#include "base/arena.h"
#include "base/str.h"
#include "sched/gpubind.h"
#include "slurmstepd/stepd.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Has the machine all CPUs that the step has here? */
static bool has_all(const struct bitset *cores, uint32_t have)
{
	for (uint32_t i = bitset_next(cores, 0); i != BITSET_NONE; i = bitset_next(cores, i + 1))
		if (i >= have)
			return false;
	return true;
}

void affinity_plan(struct stepd *s)
{
	const struct launch *l = &s->launch;
	struct cpubind_node *n = &s->cpu_node;

	*n = (struct cpubind_node) { .step = &l->step, .pos = l->node_pos };
	n->geometry = (struct geometry) { l->sockets, l->cores_per_socket, l->threads_per_core };
	s->bound = (struct cpubind_result) {};
	if (l->node_pos >= l->step.n_alloc)
		return;
	if (s->cpus) {
		uint32_t *cpus = ARENA_ARRAY(s->arena, uint32_t, CPU_SETSIZE);
		uint32_t have = list_parse(s->cpus, cpus, CPU_SETSIZE);
		if (has_all(&l->step.alloc[l->node_pos].cores, have)) {
			n->machine = cpus;
			n->machine_count = have;
		}
	}
	if (!stepd_is_batch(s))
		cpubind_tasks(n, s->arena, &s->bound);
}

bool affinity_of(const struct stepd *s, const struct task *t, cpu_set_t *ret)
{
	const struct cpubind_node *n = &s->cpu_node;
	const struct bitset *mine;

	if (!n->machine || (!stepd_is_batch(s) && (s->bound.kind == CPUBIND_NONE || t->local_id >= s->bound.count)))
		return false;
	mine = stepd_is_batch(s) ? &n->step->alloc[n->pos].cores : &s->bound.tasks[t->local_id];
	CPU_ZERO(ret);
	for (uint32_t i = bitset_next(mine, 0); i != BITSET_NONE; i = bitset_next(mine, i + 1))
		CPU_SET(n->machine[i], ret);
	return CPU_COUNT(ret) > 0;
}

static void tell_cpus(const struct stepd *s, const struct task *t, bool is_set)
{
	const struct cpubind_result *b = &s->bound;
	AUTO_BUF struct buf mask = {}, have = {};

	if (b->outside[t->local_id] && !b->how.quiet) {
		bitset_print(&s->cpu_node.step->alloc[s->cpu_node.pos].cores, &have);
		dprintf(2,
			"slurmstepd: error: --cpu-bind=%s gives task %u CPUs that are not the step's (%s); "
			"it may use all of them\n",
			s->launch.step.cpu_bind, t->id, buf_text(&have));
	}
	if (!b->how.verbose)
		return;
	cpubind_print_mask(&s->cpu_node, &b->tasks[t->local_id], &mask);
	dprintf(2, "cpu-bind=%s - %s, task %2u %2u [%d]: mask %s %s\n", b->kind == CPUBIND_NONE ? "NONE" : "MASK",
		s->launch.node_name, t->id, t->local_id, (int)getpid(), buf_text(&mask),
		is_set			  ? "set" :
		b->kind == CPUBIND_NONE ? "left alone" :
					    "not set, the node's CPUs are not the machine's");
}

static void tell_gpus(const struct stepd *s, const struct task *t)
{
	const struct launch *l = &s->launch;
	struct gpubind_node n = gpubind_at(&l->step, l->node_pos, &l->job.spec.request, s->bound.tasks);
	struct gpubind how;
	bool *outside;

	if (gpubind_parse(l->step.gpu_bind, &how, NULL) < 0 || how.quiet)
		return;
	n.gres = l->gres;
	n.gres_count = l->n_gres;
	gpubind_tasks(&n, s->arena, &outside);
	if (outside[t->local_id])
		dprintf(2,
			"slurmstepd: error: Bind request %s does not specify any devices within the allocation "
			"for task %u. Binding to the first device in the allocation instead.\n",
			str_empty(l->step.gpu_bind) ? "per_task" : l->step.gpu_bind, t->id);
}

void affinity_tell(const struct stepd *s, const struct task *t, bool is_set)
{
	if (stepd_is_batch(s) || t->local_id >= s->bound.count)
		return;
	tell_cpus(s, t, is_set);
	tell_gpus(s, t);
}
