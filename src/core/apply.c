/* SPDX-License-Identifier: Apache-2.0 */
/* apply() makes events true.  It trusts them: whatever could be refused was refused when the event
 * was decided, and a journal that was accepted by decide_*() is applied without a question.  The
 * assertions say what an event may rely on. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "core/cluster.h"
#include "core/internal.h"
#include "sched/layout.h"

#include <assert.h>
#include <string.h>

static void set_text(char **at, const char *text)
{
	char *copy = mem_strdup(text);
	free(*at);
	*at = copy;
}

static void copy_alloc(struct node_alloc **to, uint32_t *to_count, const struct node_alloc *from,
		       uint32_t count)
{
	*to = count ? mem_alloc(count * sizeof(**to)) : NULL;
	*to_count = count;
	for (uint32_t i = 0; i < count; i++)
		record_copy(&node_alloc_record, &(*to)[i], &from[i], NULL);
}

static void drop_alloc(struct node_alloc **list, uint32_t *count)
{
	for (uint32_t i = 0; i < *count; i++)
		record_done(&node_alloc_record, &(*list)[i]);
	free(*list);
	*list = NULL;
	*count = 0;
}

/* ---- nodes ------------------------------------------------------------------------------------- */

static void mark_cores(struct node *n, const struct bitset *cores, bool take)
{
	for (uint32_t i = bitset_next(cores, 0); i != BITSET_NONE; i = bitset_next(cores, i + 1)) {
		if (i >= n->used_cores.bits)
			continue; /* the node was configured smaller meanwhile */
		assert(bitset_has(&n->used_cores, i) != take);
		take ? bitset_add(&n->used_cores, i) : bitset_remove(&n->used_cores, i);
	}
}

void node_take(struct cluster *c, const struct job *j, const struct node_alloc *a)
{
	struct node *n = cluster_edit_node(c, a->node);
	mark_cores(n, &a->cores, true);
	n->used_mem_mib += a->mem_mib;
	n->job_count++;
	n->last_busy = j->start_time > n->last_busy ? j->start_time : n->last_busy;
	for (uint32_t i = 0; i < a->n_gres; i++)
		gres_mark(n, &a->gres[i], true);
	if (j->exclusive == EXCLUSIVE_KIND_NODE)
		n->exclusive_job = j->id;
	if (j->exclusive == EXCLUSIVE_KIND_USER) {
		n->owner_uid = j->uid;
		n->owner_jobs++;
	}
}

void node_give(struct cluster *c, const struct job *j, const struct node_alloc *a)
{
	struct node *n = cluster_edit_node(c, a->node);
	mark_cores(n, &a->cores, false);
	n->used_mem_mib -= a->mem_mib;
	n->job_count--;
	for (uint32_t i = 0; i < a->n_gres; i++)
		gres_mark(n, &a->gres[i], false);
	if (n->exclusive_job == j->id)
		n->exclusive_job = 0;
	if (j->exclusive == EXCLUSIVE_KIND_USER && --n->owner_jobs == 0)
		n->owner_uid = 0;
}

static void node_gres_set(struct node *n, const struct node_configured *ev)
{
	for (uint32_t i = 0; i < n->n_gres; i++)
		record_done(&node_gres_record, &n->gres[i]);
	free(n->gres);
	n->gres = ev->n_gres ? mem_alloc(ev->n_gres * sizeof(*n->gres)) : NULL;
	n->n_gres = ev->n_gres;
	for (uint32_t i = 0; i < ev->n_gres; i++) {
		struct node_gres *g = &n->gres[i];
		record_copy(&node_gres_record, g, &ev->gres[i], NULL);
		free(g->each_used);
		g->each_used = g->n_each ? mem_alloc(g->n_each * sizeof(*g->each_used)) : NULL;
		g->n_each_used = g->n_each;
	}
}

/* A changed node loses its marks; what the jobs there hold is marked again. */
static void node_remark(struct cluster *c, struct node *n)
{
	bitset_done(&n->used_cores);
	bitset_init(&n->used_cores, n->conf.cpus);
	n->used_mem_mib = 0;
	n->job_count = 0;
	n->completing_count = 0;
	n->owner_uid = n->owner_jobs = 0;
	struct job_entry *e;
	for (size_t i = 0; (e = map_next(&c->active, &i));) {
		int at = alloc_position(e->job.alloc, e->job.n_alloc, n->index);
		if (at < 0 || e->job.alloc[at].clean)
			continue;
		node_take(c, &e->job, &e->job.alloc[at]);
		n->completing_count += e->job.completing;
	}
}

/* What placement can tell apart of a node that has nothing running: all but names and addresses. */
static void node_reshape(struct node *n)
{
	AUTO_BUF struct buf bytes = {};
	struct node_conf conf = n->conf;
	conf.name = conf.addr = conf.hostname = conf.state = conf.reason = NULL;
	conf.port = 0;
	conf.features = n->features;
	record_encode(&node_conf_record, &conf, &bytes);
	for (uint32_t i = 0; i < n->n_gres; i++) {
		struct node_gres g = n->gres[i];
		g.used = (struct bitset){ .bits = g.used.bits };
		g.used_count = 0;
		g.n_each_used = 0;
		g.files = NULL;
		uint64_t zero[16] = {};
		g.used.words = zero;
		if (g.used.bits <= 16 * 64)
			record_encode(&node_gres_record, &g, &bytes);
	}
	n->shape = hash_bytes(bytes.data, bytes.len);
}

static void apply_node_configured(struct cluster *c, const struct node_configured *ev)
{
	struct node *n = cluster_node(c, ev->node) ? cluster_edit_node(c, ev->node) :
						     node_insert(c, ev->node, ev->conf.name);
	record_done(&node_conf_record, &n->conf);
	record_copy(&node_conf_record, &n->conf, &ev->conf, NULL);
	set_text(&n->features, ev->conf.features);
	n->removed = false;
	node_gres_set(n, ev);
	node_reshape(n);
	node_remark(c, n);
}

static void apply_node_registered(struct cluster *c, const struct node_registered *ev)
{
	struct node *n = cluster_edit_node(c, ev->node);
	record_done(&node_facts_record, &n->facts);
	record_copy(&node_facts_record, &n->facts, &ev->facts, NULL);
	n->registered = true;
}

static void apply_node_changed(struct cluster *c, const struct node_changed *ev)
{
	struct node *n = cluster_edit_node(c, ev->node);
	if (ev->has_down)
		n->down = ev->down;
	if (ev->has_drain)
		n->drain = ev->drain;
	if (ev->has_fail)
		n->fail = ev->fail;
	if (ev->has_reason) {
		bool cleared = str_empty(ev->reason);
		set_text(&n->reason, cleared ? NULL : ev->reason);
		n->reason_uid = cleared ? 0 : ev->by_uid;
		n->reason_time = cleared ? 0 : ev->time;
	}
	if (ev->has_weight)
		n->conf.weight = ev->weight;
	if (ev->has_features)
		set_text(&n->features, ev->features);
	if (ev->has_comment)
		set_text(&n->comment, ev->comment);
	if (ev->has_extra)
		set_text(&n->extra, ev->extra);
	node_reshape(n);
}

/* ---- jobs -------------------------------------------------------------------------------------- */

static void apply_job_submitted(struct cluster *c, const struct job_submitted *ev)
{
	const struct job *j = &ev->job;
	job_insert(c, j);
	if (j->id >= c->next_job_id)
		c->next_job_id = j->id + 1;
	if (job_is_active(j))
		licenses_mark(c, j, true);
	for (uint32_t i = 0; i < j->n_alloc; i++) {
		if (j->alloc[i].clean || !job_is_active(j))
			continue;
		node_take(c, j, &j->alloc[i]);
		if (j->completing)
			cluster_edit_node(c, j->alloc[i].node)->completing_count++;
	}
}

static void remove_task(struct job *j, uint32_t task)
{
	for (uint32_t i = 0; i < j->n_array_tasks; i++) {
		struct id_range *r = &j->array_tasks[i];
		if (task < r->first || task > r->last)
			continue;
		if (r->first == r->last) {
			memmove(r, r + 1, (j->n_array_tasks - i - 1) * sizeof(*r));
			j->n_array_tasks--;
		} else if (task == r->first) {
			r->first++;
		} else if (task == r->last) {
			r->last--;
		} else {
			uint32_t last = r->last;
			r->last = task - 1;
			j->array_tasks = mem_grow(j->array_tasks, j->n_array_tasks + 1, sizeof(*r));
			r = &j->array_tasks[i];
			memmove(r + 2, r + 1, (j->n_array_tasks - i - 1) * sizeof(*r));
			r[1] = (struct id_range){ task + 1, last };
			j->n_array_tasks++;
		}
		return;
	}
	assert(false && "the task is pending in its array");
}

static void apply_job_split(struct cluster *c, const struct job_split *ev)
{
	struct job *array = cluster_edit_job(c, ev->job_id);
	remove_task(array, ev->task_id);
	if (ev->new_job_id == ev->job_id) {
		assert(array->n_array_tasks == 0);
		array->has_array_task_id = true;
		array->array_task_id = ev->task_id;
		return;
	}
	struct job task = *array; /* shallow: job_insert makes the copy */
	task.id = ev->new_job_id;
	task.array_tasks = NULL;
	task.n_array_tasks = 0;
	task.has_array_task_id = true;
	task.array_task_id = ev->task_id;
	task.array_running = 0;
	task.reason = JOB_REASON_NONE;
	job_insert(c, &task);
	if (ev->new_job_id >= c->next_job_id)
		c->next_job_id = ev->new_job_id + 1;
}

/* The record of an array that still waits counts the tasks that run, for the %limit. */
static void count_array_task(struct cluster *c, const struct job *j, int change)
{
	if (!j->array_job_id)
		return;
	const struct job *array = cluster_job(c, j->array_job_id);
	if (!array || !array->n_array_tasks)
		return;
	struct job *edit = cluster_edit_job(c, array->id);
	edit->array_running = (uint32_t)((int)edit->array_running + change);
}

static void add_step(struct cluster *c, struct job *j, const struct step *s)
{
	j->steps = mem_grow(j->steps, j->n_steps + 1, sizeof(*j->steps));
	record_copy(&step_record, &j->steps[j->n_steps++], s, NULL);
	blob_ref(c, s->env_blob);
}

static void add_batch_step(struct cluster *c, struct job *j, const struct job_started *ev)
{
	struct step s = { .id = STEP_BATCH,
			  .name = (char[]){ "batch" },
			  .alloc = ev->alloc,
			  .n_alloc = 1,
			  .ntasks = 1,
			  .cpus_per_task = ev->cpus_per_task,
			  .start_time = ev->time,
			  .cookie = ev->cookie,
			  .node_list = ev->batch_host };
	bitset_init(&s.ended, 1);
	add_step(c, j, &s);
	bitset_done(&s.ended);
}

static void apply_job_started(struct cluster *c, const struct job_started *ev)
{
	struct job *j = cluster_edit_job(c, ev->job_id);
	assert(j->state == JOB_STATE_PENDING && j->n_alloc == 0);
	queue_remove(c, j);
	j->state = JOB_STATE_RUNNING;
	j->reason = JOB_REASON_NONE;
	j->start_time = ev->time;
	j->last_sched_eval = ev->time;
	j->end_time = ev->end_time;
	j->ntasks = ev->ntasks;
	j->cpus_per_task = ev->cpus_per_task;
	set_text(&j->partition, ev->partition);
	const struct partition *p = cluster_partition(c, ev->partition);
	set_text(&j->billing_weights, p ? p->conf.tres_billing_weights : NULL);
	set_text(&j->node_list, ev->node_list);
	set_text(&j->batch_host, ev->batch_host);
	set_text(&j->licenses_alloc, ev->licenses);
	j->exclusive = ev->exclusive;
	licenses_mark(c, j, true);
	copy_alloc(&j->alloc, &j->n_alloc, ev->alloc, ev->n_alloc);
	if (j->spec.batch)
		add_batch_step(c, j, ev);
	map_put(&c->active, j->id, map_get(&c->jobs, j->id));
	for (uint32_t i = 0; i < j->n_alloc; i++)
		node_take(c, j, &j->alloc[i]);
	count_array_task(c, j, 1);
}

static void drop_steps(struct cluster *c, struct job *j)
{
	for (uint32_t i = 0; i < j->n_steps; i++) {
		blob_unref(c, j->steps[i].env_blob);
		record_done(&step_record, &j->steps[i]);
	}
	free(j->steps);
	j->steps = NULL;
	j->n_steps = 0;
}

/* Nothing of the job is left anywhere. */
static void job_over(struct cluster *c, struct job *j)
{
	j->completing = false;
	licenses_mark(c, j, false);
	drop_steps(c, j);
	map_remove(&c->active, j->id);
	ended_add(c, j);
}

static void apply_job_ending(struct cluster *c, const struct job_ending *ev)
{
	struct job *j = cluster_edit_job(c, ev->job_id);
	assert(!job_is_ended(j));
	bool was_pending = j->state == JOB_STATE_PENDING;
	if (was_pending)
		queue_remove(c, j);
	else
		count_array_task(c, j, -1);
	j->state = ev->state;
	j->reason = ev->reason;
	j->exit_code = ev->exit_code;
	j->exit_signal = ev->exit_signal;
	j->end_time = ev->time;
	j->has_cancelled_by = ev->has_by_uid;
	j->cancelled_by = ev->by_uid;
	j->requeue_when_clean = ev->requeue;
	j->requeue_hold = ev->requeue_hold;
	if (was_pending) {
		ended_add(c, j);
		return;
	}
	j->completing = true;
	for (uint32_t i = 0; i < j->n_alloc; i++)
		cluster_edit_node(c, j->alloc[i].node)->completing_count++;
}

static void apply_job_node_clean(struct cluster *c, const struct job_node_clean *ev)
{
	struct job *j = cluster_edit_job(c, ev->job_id);
	int at = alloc_position(j->alloc, j->n_alloc, ev->node);
	assert(j->completing && at >= 0 && !j->alloc[at].clean);
	node_give(c, j, &j->alloc[at]);
	j->alloc[at].clean = true;
	struct node *n = cluster_edit_node(c, ev->node);
	n->completing_count--;
	n->last_busy = ev->time;
	for (uint32_t i = 0; i < j->n_alloc; i++)
		if (!j->alloc[i].clean)
			return;
	job_over(c, j);
}

static void apply_job_requeued(struct cluster *c, const struct job_requeued *ev)
{
	struct job *j = cluster_edit_job(c, ev->job_id);
	assert(job_is_ended(j) && !j->completing);
	ended_remove(c, j->id);
	drop_alloc(&j->alloc, &j->n_alloc);
	set_text(&j->node_list, NULL);
	set_text(&j->batch_host, NULL);
	set_text(&j->licenses_alloc, NULL);
	j->state = JOB_STATE_PENDING;
	j->reason = JOB_REASON_NONE;
	j->attempt = ev->attempt;
	j->hold = ev->hold;
	j->start_time = j->end_time = 0;
	j->exit_code = j->exit_signal = 0;
	j->has_cancelled_by = false;
	j->requeue_when_clean = false;
	j->next_step = 0;
	if (ev->begin_time) {
		j->spec.has_begin_time = true;
		j->spec.begin_time = ev->begin_time;
	}
	queue_insert(c, j);
}

static void apply_job_changed(struct cluster *c, const struct job_changed *ev)
{
	struct job *j = cluster_edit_job(c, ev->job_id);
	bool pending = j->state == JOB_STATE_PENDING;
	if (pending)
		queue_remove(c, j);
	request_forget(c, j);
	if (ev->has_hold)
		j->hold = ev->hold;
	if (ev->has_priority)
		j->priority = ev->priority;
	if (ev->has_nice)
		j->spec.nice = ev->nice;
	if (ev->has_time_limit) {
		j->time_limit = ev->time_limit;
		j->spec.has_time_limit = true;
		j->spec.time_limit = ev->time_limit;
	}
	if (ev->has_end_time)
		j->end_time = ev->end_time;
	if (ev->has_name)
		set_text(&j->spec.name, ev->name);
	if (ev->has_comment)
		set_text(&j->spec.comment, ev->comment);
	if (ev->has_account)
		set_text(&j->spec.account, ev->account);
	if (ev->has_qos)
		set_text(&j->spec.qos, ev->qos);
	if (ev->has_begin_time) {
		j->spec.has_begin_time = true;
		j->spec.begin_time = ev->begin_time;
	}
	if (ev->has_array_limit)
		j->array_limit = ev->array_limit;
	if (ev->has_requeue)
		j->requeue = ev->requeue;
	if (ev->has_partition) {
		set_text(&j->partition, ev->partition);
		set_text(&j->spec.partition, ev->partition);
	}
	if (ev->has_request) {
		record_done(&resource_request_record, &j->spec.request);
		record_copy(&resource_request_record, &j->spec.request, &ev->request, NULL);
		j->eval_signature = 0; /* asks for something of its own now */
	}
	request_remember(c, j);
	if (pending) {
		j->reason = JOB_REASON_NONE;
		queue_insert(c, j);
	}
}

/* ---- steps ------------------------------------------------------------------------------------- */

static void apply_step_created(struct cluster *c, const struct step_created *ev)
{
	struct job *j = cluster_edit_job(c, ev->job_id);
	assert(j->state == JOB_STATE_RUNNING && !job_step(j, ev->step.id));
	add_step(c, j, &ev->step);
	if (ev->step.id < STEP_INTERACTIVE && ev->step.id >= j->next_step)
		j->next_step = ev->step.id + 1;
}

static void remove_step(struct cluster *c, struct job *j, struct step *s)
{
	blob_unref(c, s->env_blob);
	record_done(&step_record, s);
	memmove(s, s + 1, (size_t)(j->steps + j->n_steps - s - 1) * sizeof(*s));
	j->n_steps--;
}

static void apply_step_node_ended(struct cluster *c, const struct step_node_ended *ev)
{
	struct job *j = cluster_edit_job(c, ev->job_id);
	struct step *s = NULL;
	for (uint32_t i = 0; i < j->n_steps; i++)
		if (j->steps[i].id == ev->step_id)
			s = &j->steps[i];
	assert(s);
	int at = alloc_position(s->alloc, s->n_alloc, ev->node);
	assert(at >= 0 && !bitset_has(&s->ended, (uint32_t)at));
	bitset_add(&s->ended, (uint32_t)at);
	s->exit_code = ev->exit_code > s->exit_code ? ev->exit_code : s->exit_code;
	s->exit_signal = ev->exit_signal ? ev->exit_signal : s->exit_signal;
	s->out_of_memory |= ev->out_of_memory;
	if (bitset_count(&s->ended) < s->n_alloc)
		return;
	if (s->id != STEP_BATCH && s->exit_code > j->derived_exit)
		j->derived_exit = s->exit_code;
	remove_step(c, j, s);
}

/* ---- the switch -------------------------------------------------------------------------------- */

static void apply_blob_added(struct cluster *c, const struct blob_added *ev)
{
	if (map_get(&c->blobs, ev->id))
		return;
	struct blob *b = NEW(struct blob);
	b->id = ev->id;
	b->data.len = ev->data.len;
	b->data.data = mem_dup(ev->data.data, ev->data.len);
	map_put(&c->blobs, ev->id, b);
}

static void apply_job_purged(struct cluster *c, const struct job_purged *ev)
{
	job_drop(c, ev->job_id);
	ended_remove(c, ev->job_id);
}

void apply(struct cluster *c, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_COUNTERS:
		if (ev->counters.next_job_id > c->next_job_id)
			c->next_job_id = ev->counters.next_job_id;
		break;
	case EVENT_BLOB_ADDED:
		apply_blob_added(c, &ev->blob_added);
		break;
	case EVENT_NODE_CONFIGURED:
		apply_node_configured(c, &ev->node_configured);
		break;
	case EVENT_NODE_REMOVED:
		cluster_edit_node(c, ev->node_removed.node)->removed = true;
		break;
	case EVENT_PARTITION_CONFIGURED:
		partition_insert(c, &ev->partition_configured);
		break;
	case EVENT_PARTITION_REMOVED:
		partition_drop(c, ev->partition_removed.name);
		break;
	case EVENT_JOB_SUBMITTED:
		apply_job_submitted(c, &ev->job_submitted);
		break;
	case EVENT_JOB_SPLIT:
		apply_job_split(c, &ev->job_split);
		break;
	case EVENT_JOB_STARTED:
		apply_job_started(c, &ev->job_started);
		break;
	case EVENT_JOB_ENDING:
		apply_job_ending(c, &ev->job_ending);
		break;
	case EVENT_JOB_NODE_CLEAN:
		apply_job_node_clean(c, &ev->job_node_clean);
		break;
	case EVENT_JOB_CHANGED:
		apply_job_changed(c, &ev->job_changed);
		break;
	case EVENT_JOB_REQUEUED:
		apply_job_requeued(c, &ev->job_requeued);
		break;
	case EVENT_JOB_PURGED:
		apply_job_purged(c, &ev->job_purged);
		break;
	case EVENT_STEP_CREATED:
		apply_step_created(c, &ev->step_created);
		break;
	case EVENT_STEP_NODE_ENDED:
		apply_step_node_ended(c, &ev->step_node_ended);
		break;
	case EVENT_NODE_REGISTERED:
		apply_node_registered(c, &ev->node_registered);
		break;
	case EVENT_NODE_CHANGED:
		apply_node_changed(c, &ev->node_changed);
		break;
	case EVENT_KIND_COUNT:
		break;
	}
}
