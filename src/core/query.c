/* SPDX-License-Identifier: Apache-2.0 */
/* Which jobs are meant by what users write: ids, array ids, tasks, names, users, states.
 *
 * An id may be a job's own, or that of an array: then it means the record that still waits and every
 * task that has become a job.  With a task id it means just that task, wherever it is. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "core/decide.h"
#include "schema/errors.h"
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

static bool on_nodes(const struct bitset *nodes, const struct job *j)
{
	for (uint32_t i = 0; i < j->n_alloc; i++)
		if (bitset_has(nodes, j->alloc[i].node))
			return true;
	return false;
}

int filter_prepare(const struct cluster *c, const struct job_filter *f, struct arena *a,
		   struct prepared_filter *ret, struct error *err)
{
	*ret = (struct prepared_filter){ .filter = f };
	struct hostlist names;
	if (str_empty(f->nodes))
		return 0;
	int e = hostlist_expand(f->nodes, a, &names, err);
	if (e < 0)
		return e;
	ret->by_node = true;
	bitset_init_in(&ret->nodes, cluster_node_count(c), a);
	for (uint32_t i = 0; i < names.count; i++) {
		const struct node *n = cluster_node_named(c, names.names[i]);
		if (!n)
			return error_set(err, -E_INVALID_NODE_NAME, "%s: '%s'",
					 enum_text(&error_code_enum, E_INVALID_NODE_NAME), names.names[i]);
		bitset_add(&ret->nodes, n->index);
	}
	return 0;
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

bool filter_matches(const struct prepared_filter *p, const struct job *j)
{
	const struct job_filter *f = p->filter;
	return is_named(f, j) && number_in(f->users, f->n_users, j->uid) &&
	       number_in(f->states, f->n_states, (uint32_t)j->state) &&
	       name_in(f->names, f->n_names, j->spec.name) &&
	       name_in(f->accounts, f->n_accounts, j->spec.account) &&
	       name_in(f->qos, f->n_qos, j->spec.qos) &&
	       name_in(f->partitions, f->n_partitions, j->partition) &&
	       (!p->by_node || on_nodes(&p->nodes, j)) &&
	       (f->all_states || f->n_states || f->n_ids || !job_is_ended(j) || j->completing);
}

/* One named id: the job itself, the tasks of its array, or one task of it. */
static int each_of(const struct cluster *c, const struct prepared_filter *p, uint32_t i, matched_fn fn,
		   void *arg)
{
	const struct job_filter *f = p->filter;
	struct job_filter one = *f;
	struct prepared_filter just = *p;
	just.filter = &one;
	one.ids = &f->ids[i];
	one.n_ids = 1;
	one.tasks = i < f->n_tasks ? &f->tasks[i] : NULL;
	one.n_tasks = i < f->n_tasks;
	uint32_t task = one.n_tasks ? one.tasks[0] : TASK_NONE;
	const struct job *j = cluster_job(c, f->ids[i]);
	int found = 0;
	if (j && j->array_job_id == 0) {
		if (task != TASK_NONE || !filter_matches(&just, j))
			return 0;
		return fn(arg, j, NULL) < 0 ? -ECANCELED : 1;
	}
	const struct job_entry *e; /* an array: its tasks may be anywhere */
	for (size_t pos = 0; (e = map_next(&c->jobs, &pos));) {
		const struct job *k = &e->job;
		if ((k->id != f->ids[i] && k->array_job_id != f->ids[i]) || !filter_matches(&just, k))
			continue;
		if (fn(arg, k, task != TASK_NONE && k->n_array_tasks ? &task : NULL) < 0)
			return -ECANCELED;
		found++;
	}
	return found;
}

int filter_each(const struct cluster *c, const struct prepared_filter *p, matched_fn fn, void *arg)
{
	const struct job_filter *f = p->filter;
	int total = 0;
	for (uint32_t i = 0; i < f->n_ids; i++) {
		int found = each_of(c, p, i, fn, arg);
		if (found < 0)
			return found;
		total += found;
	}
	if (f->n_ids)
		return total;
	const struct job_entry *e;
	for (size_t pos = 0; (e = map_next(&c->jobs, &pos));) {
		if (!filter_matches(p, &e->job))
			continue;
		if (fn(arg, &e->job, NULL) < 0)
			return -ECANCELED;
		total++;
	}
	return total;
}
