/* SPDX-License-Identifier: Apache-2.0 */
/* Which jobs are meant by what users write: ids, array ids, tasks, names, users, states.
 *
 * An id may be a job's own, or that of an array: then it means the record that still waits and every
 * task that has become a job.  With a task id it means just that task, wherever it is. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "core/decide.h"
#include "text/hostlist.h"

#include <errno.h>

enum { TASK_NONE = UINT32_MAX };

static bool number_in(const uint32_t *list, uint32_t count, uint32_t value)
{
	for (uint32_t i = 0; i < count; i++)
		if (list[i] == value)
			return true;
	return count == 0;
}

static bool name_in(char *const *list, uint32_t count, const char *value)
{
	for (uint32_t i = 0; i < count; i++)
		if (str_eq(list[i], value))
			return true;
	return count == 0;
}

static bool on_nodes(const struct cluster *c, const char *nodes, const struct job *j)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct hostlist names;
	if (hostlist_expand(nodes, a, &names, NULL) < 0)
		return false;
	for (uint32_t i = 0; i < names.count; i++) {
		const struct node *n = cluster_node_named(c, names.names[i]);
		if (n && alloc_position(j->alloc, j->n_alloc, n->index) >= 0)
			return true;
	}
	return false;
}

static bool is_named(const struct job_filter *f, const struct job *j)
{
	for (uint32_t i = 0; i < f->n_ids; i++) {
		uint32_t task = i < f->n_tasks ? f->tasks[i] : TASK_NONE;
		if (task == TASK_NONE && (j->id == f->ids[i] || j->array_job_id == f->ids[i]))
			return true;
		if (task != TASK_NONE && j->array_job_id == f->ids[i] && j->has_array_task_id &&
		    j->array_task_id == task)
			return true;
		for (uint32_t k = 0; task != TASK_NONE && j->id == f->ids[i] && k < j->n_array_tasks; k++)
			if (task >= j->array_tasks[k].first && task <= j->array_tasks[k].last)
				return true;
	}
	return f->n_ids == 0;
}

bool filter_matches(const struct cluster *c, const struct job_filter *f, const struct job *j)
{
	return is_named(f, j) && number_in(f->users, f->n_users, j->uid) &&
	       number_in(f->states, f->n_states, (uint32_t)j->state) &&
	       name_in(f->names, f->n_names, j->spec.name) &&
	       name_in(f->accounts, f->n_accounts, j->spec.account) &&
	       name_in(f->qos, f->n_qos, j->spec.qos) &&
	       name_in(f->partitions, f->n_partitions, j->partition) &&
	       (str_empty(f->nodes) || on_nodes(c, f->nodes, j)) &&
	       (f->all_states || f->n_states || f->n_ids || !job_is_ended(j) || j->completing);
}

/* One named id: the job itself, the tasks of its array, or one task of it. */
static int each_of(const struct cluster *c, const struct job_filter *f, uint32_t i, matched_fn fn, void *arg)
{
	struct job_filter one = *f;
	one.ids = &f->ids[i];
	one.n_ids = 1;
	one.tasks = i < f->n_tasks ? &f->tasks[i] : NULL;
	one.n_tasks = i < f->n_tasks;
	uint32_t task = one.n_tasks ? one.tasks[0] : TASK_NONE;
	const struct job *j = cluster_job(c, f->ids[i]);
	int found = 0;
	if (j && j->array_job_id == 0) {
		if (task != TASK_NONE || !filter_matches(c, &one, j))
			return 0;
		return fn(arg, j, NULL) < 0 ? -ECANCELED : 1;
	}
	const struct job_entry *e; /* an array: its tasks may be anywhere */
	for (size_t pos = 0; (e = map_next(&c->jobs, &pos));) {
		const struct job *k = &e->job;
		if ((k->id != f->ids[i] && k->array_job_id != f->ids[i]) || !filter_matches(c, &one, k))
			continue;
		if (fn(arg, k, task != TASK_NONE && k->n_array_tasks ? &task : NULL) < 0)
			return -ECANCELED;
		found++;
	}
	return found;
}

int filter_each(const struct cluster *c, const struct job_filter *f, matched_fn fn, void *arg)
{
	int total = 0;
	for (uint32_t i = 0; i < f->n_ids; i++) {
		int found = each_of(c, f, i, fn, arg);
		if (found < 0)
			return found;
		total += found;
	}
	if (f->n_ids)
		return total;
	const struct job_entry *e;
	for (size_t pos = 0; (e = map_next(&c->jobs, &pos));) {
		if (!filter_matches(c, f, &e->job))
			continue;
		if (fn(arg, &e->job, NULL) < 0)
			return -ECANCELED;
		total++;
	}
	return total;
}
