/* SPDX-License-Identifier: Apache-2.0 */
/* Tables, indexes and copy-on-write.
 *
 * Time inside the cluster is counted in epochs; taking a view ends one.  An entry knows the epoch in
 * which it was made; a view of epoch E shows entries born up to E.  Writing to an entry that an
 * outstanding view shows makes a copy, born now, and retires the old one until the last view that
 * could show it has been released.  Without views nothing is ever copied.
 *
 * Invariants: I1 an entry is in `jobs` under its id; I2 it is in `active` iff job_is_active; I3 a
 * pending job is in `pending` exactly once, sorted by (tier desc, priority desc, id asc); I4 pointers
 * in all indexes are to the current entry, never to a retired one. */
#include "core/cluster.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "core/internal.h"
#include "sched/topo_set.h"

#include <assert.h>
#include <string.h>

void cluster_init(struct cluster *c)
{
	*c = (struct cluster){ .next_job_id = 1, .epoch = 1 };
	c->settings = (struct settings){ .max_job_count = 10000,
					 .max_array_size = 1001,
					 .first_job_id = 1,
					 .max_job_id = 67043328,
					 .max_batch_requeue = 5,
					 .kill_wait_sec = 30,
					 .min_job_age = 300 * USEC_PER_SEC,
					 .job_requeue = true };
}

static void entry_free(void *entry, const struct record *record)
{
	record_done(record, entry);
	free(entry);
}

void cluster_done(struct cluster *c)
{
	assert(c->views.count == 0);
	struct job_entry *e;
	for (size_t i = 0; (e = map_next(&c->jobs, &i));)
		entry_free(e, &job_record);
	struct blob *b;
	for (size_t i = 0; (b = map_next(&c->blobs, &i));) {
		free(b->data.data);
		free(b);
	}
	for (size_t i = 0; i < c->nodes.count; i++)
		if (c->nodes.at[i])
			entry_free(c->nodes.at[i], &node_record);
	for (size_t i = 0; i < c->partitions.count; i++)
		entry_free(c->partitions.at[i], &partition_record);
	for (size_t i = 0; i < c->retired.count; i++)
		entry_free(c->retired.at[i].entry, c->retired.at[i].record);
	map_done(&c->jobs);
	map_done(&c->active);
	map_done(&c->tokens);
	map_done(&c->blobs);
	map_done(&c->requests);
	map_done(&c->node_names);
	licenses_done(c);
	vec_done(&c->nodes);
	vec_done(&c->partitions);
	vec_done(&c->pending);
	vec_done(&c->ended);
	vec_done(&c->views);
	vec_done(&c->retired);
	topo_set_unref(c->topologies);
}

/* ---- looking up -------------------------------------------------------------------------------- */

const struct job *cluster_job(const struct cluster *c, uint32_t id)
{
	const struct job_entry *e = map_get(&c->jobs, id);
	return e ? &e->job : NULL;
}

const struct node *cluster_node(const struct cluster *c, uint32_t index)
{
	return index < c->nodes.count && c->nodes.at[index] ? &c->nodes.at[index]->node : NULL;
}

const struct node *cluster_node_named(const struct cluster *c, const char *name)
{
	const struct node_entry *e = map_get_str(&c->node_names, name);
	return e ? &e->node : NULL;
}

static int partition_index(const struct cluster *c, const char *name)
{
	for (size_t i = 0; i < c->partitions.count; i++)
		if (str_eq(c->partitions.at[i]->partition.conf.name, name))
			return (int)i;
	return -1;
}

const struct partition *cluster_partition(const struct cluster *c, const char *name)
{
	int i = partition_index(c, name);
	return i < 0 ? NULL : &c->partitions.at[i]->partition;
}

const struct partition *cluster_default_partition(const struct cluster *c)
{
	for (size_t i = 0; i < c->partitions.count; i++)
		if (c->partitions.at[i]->partition.conf.is_default)
			return &c->partitions.at[i]->partition;
	return NULL;
}

const struct blob *cluster_blob(const struct cluster *c, uint64_t id)
{
	return id ? map_get(&c->blobs, id) : NULL;
}

const struct job *cluster_job_by_token(const struct cluster *c, uint64_t token)
{
	const struct job_entry *e = token ? map_get(&c->tokens, token) : NULL;
	return e ? &e->job : NULL;
}

uint32_t cluster_node_count(const struct cluster *c)
{
	return (uint32_t)c->nodes.count;
}

bool job_is_ended(const struct job *j)
{
	return j->state != JOB_STATE_PENDING && j->state != JOB_STATE_RUNNING && j->state != JOB_STATE_SUSPENDED;
}

bool job_is_active(const struct job *j)
{
	return j->state == JOB_STATE_RUNNING || j->state == JOB_STATE_SUSPENDED || j->completing;
}

const struct step *job_step(const struct job *j, uint32_t step_id)
{
	for (uint32_t i = 0; i < j->n_steps; i++)
		if (j->steps[i].id == step_id)
			return &j->steps[i];
	return NULL;
}

int alloc_position(const struct node_alloc *alloc, uint32_t count, uint32_t node)
{
	for (uint32_t i = 0; i < count; i++)
		if (alloc[i].node == node)
			return (int)i;
	return -1;
}

/* ---- copy on write ----------------------------------------------------------------------------- */

static bool is_shown(const struct cluster *c, uint64_t born)
{
	return c->views.count && c->views.at[c->views.count - 1]->epoch >= born;
}

/* A copy of `entry` that may be written to; the old one is kept for those who look at it. */
static void *entry_copy(struct cluster *c, void *entry, size_t size, const struct record *record)
{
	void *copy = mem_alloc(size);
	record_copy(record, copy, entry, NULL);
	vec_push(&c->retired, (struct retired){ entry, record, c->epoch });
	return copy;
}

static void entry_drop(struct cluster *c, void *entry, uint64_t born, const struct record *record)
{
	if (is_shown(c, born))
		vec_push(&c->retired, (struct retired){ entry, record, c->epoch });
	else
		entry_free(entry, record);
}

static struct queue_entry key_of(const struct cluster *c, const struct job *j)
{
	const struct partition *p = cluster_partition(c, j->partition);
	return (struct queue_entry){ p ? p->conf.priority_tier : 0, j->priority, j->id, NULL };
}

static bool starts_before(const struct queue_entry *a, const struct queue_entry *b)
{
	if (a->tier != b->tier)
		return a->tier > b->tier;
	if (a->priority != b->priority)
		return a->priority > b->priority;
	return a->id < b->id;
}

static size_t queue_find(const struct cluster *c, const struct queue_entry *key)
{
	size_t low = 0, high = c->pending.count;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (starts_before(&c->pending.at[mid], key))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void queue_insert(struct cluster *c, struct job *j)
{
	struct queue_entry e = key_of(c, j);
	e.job = j;
	size_t at = queue_find(c, &e);
	vec_insert(&c->pending, at, e);
	c->unexplained += j->reason == JOB_REASON_NONE;
}

void queue_remove(struct cluster *c, const struct job *j)
{
	struct queue_entry key = key_of(c, j);
	size_t at = queue_find(c, &key);
	assert(at < c->pending.count && c->pending.at[at].id == j->id);
	c->unexplained -= j->reason == JOB_REASON_NONE;
	vec_remove(&c->pending, at);
}

static int by_start(const void *a, const void *b)
{
	return starts_before(a, b) ? -1 : 1;
}

void queue_rebuild(struct cluster *c)
{
	for (size_t i = 0; i < c->pending.count; i++) {
		struct job *j = c->pending.at[i].job;
		c->pending.at[i] = key_of(c, j);
		c->pending.at[i].job = j;
	}
	if (c->pending.count)
		qsort(c->pending.at, c->pending.count, sizeof(*c->pending.at), by_start);
}

struct job *cluster_edit_job(struct cluster *c, uint32_t id)
{
	struct job_entry *e = map_get(&c->jobs, id);
	assert(e);
	if (!is_shown(c, e->born))
		return &e->job;
	struct job_entry *copy = entry_copy(c, e, sizeof(*e), &job_record);
	copy->born = c->epoch;
	map_put(&c->jobs, id, copy);
	if (map_get(&c->active, id))
		map_put(&c->active, id, copy);
	if (copy->job.submit_token && map_get(&c->tokens, copy->job.submit_token) == e)
		map_put(&c->tokens, copy->job.submit_token, copy);
	if (copy->job.state == JOB_STATE_PENDING) {
		struct queue_entry key = key_of(c, &copy->job);
		c->pending.at[queue_find(c, &key)].job = &copy->job;
	}
	return &copy->job;
}

struct node *cluster_edit_node(struct cluster *c, uint32_t index)
{
	struct node_entry *e = c->nodes.at[index];
	assert(e);
	if (!is_shown(c, e->born))
		return &e->node;
	struct node_entry *copy = entry_copy(c, e, sizeof(*e), &node_record);
	copy->born = c->epoch;
	c->nodes.at[index] = copy;
	if (map_get_str(&c->node_names, copy->node.conf.name) == e)
		map_put_str(&c->node_names, copy->node.conf.name, copy);
	return &copy->node;
}

struct partition *cluster_edit_partition(struct cluster *c, const char *name)
{
	int i = partition_index(c, name);
	assert(i >= 0);
	struct partition_entry *e = c->partitions.at[i];
	if (!is_shown(c, e->born))
		return &e->partition;
	struct partition_entry *copy = entry_copy(c, e, sizeof(*e), &partition_record);
	copy->born = c->epoch;
	c->partitions.at[i] = copy;
	return &copy->partition;
}

/* ---- requests ---------------------------------------------------------------------------------- */

static uint64_t request_key(uint64_t signature, const char *partition)
{
	return hash_mix(hash_mix(1, signature), partition ? hash_bytes(partition, strlen(partition)) : 0);
}

bool cluster_knows_request(const struct cluster *c, uint64_t signature, const char *partition)
{
	return map_get(&c->requests, request_key(signature, partition)) != NULL;
}

static void request_count(struct cluster *c, const struct job *j, int change)
{
	if (!j->eval_signature)
		return;
	uint64_t key = request_key(j->eval_signature, j->spec.partition);
	uintptr_t count = (uintptr_t)map_get(&c->requests, key) + (uintptr_t)change;
	if (count)
		map_put(&c->requests, key, (void *)count);
	else
		map_remove(&c->requests, key);
}

void request_forget(struct cluster *c, const struct job *j)
{
	request_count(c, j, -1);
}

void request_remember(struct cluster *c, const struct job *j)
{
	request_count(c, j, 1);
}

/* ---- inserting and dropping -------------------------------------------------------------------- */

void job_insert(struct cluster *c, const struct job *j)
{
	struct job_entry *e = NEW(struct job_entry);
	record_copy(&job_record, &e->job, j, NULL);
	e->born = c->epoch;
	void *before = map_put(&c->jobs, j->id, e);
	assert(!before);
	if (j->submit_token && (!j->has_array_task_id || j->id == j->array_job_id))
		map_put(&c->tokens, j->submit_token, e);
	request_count(c, &e->job, 1);
	blob_ref(c, j->script_blob);
	blob_ref(c, j->env_blob);
	for (uint32_t i = 0; i < j->n_steps; i++)
		blob_ref(c, j->steps[i].env_blob);
	if (j->state == JOB_STATE_PENDING)
		queue_insert(c, &e->job);
	if (job_is_active(j))
		map_put(&c->active, j->id, e);
	if (job_is_ended(j) && !j->completing)
		ended_add(c, j);
}

void ended_add(struct cluster *c, const struct job *j)
{
	vec_push(&c->ended, (struct ended){ j->end_time, j->id });
}

/* As a rule the oldest one goes: only then is nothing moved. */
void ended_remove(struct cluster *c, uint32_t id)
{
	size_t i = c->ended_head;
	while (i < c->ended.count && c->ended.at[i].id != id)
		i++;
	if (i == c->ended.count)
		return;
	if (i > c->ended_head) {
		vec_remove(&c->ended, i);
		return;
	}
	if (++c->ended_head < c->ended.count / 2)
		return;
	memmove(c->ended.at, c->ended.at + c->ended_head,
		(c->ended.count - c->ended_head) * sizeof(*c->ended.at));
	c->ended.count -= c->ended_head;
	c->ended_head = 0;
}

void job_drop(struct cluster *c, uint32_t id)
{
	struct job_entry *e = map_remove(&c->jobs, id);
	assert(e);
	if (e->job.state == JOB_STATE_PENDING)
		queue_remove(c, &e->job);
	map_remove(&c->active, id);
	if (e->job.submit_token && map_get(&c->tokens, e->job.submit_token) == e)
		map_remove(&c->tokens, e->job.submit_token);
	request_count(c, &e->job, -1);
	blob_unref(c, e->job.script_blob);
	blob_unref(c, e->job.env_blob);
	entry_drop(c, e, e->born, &job_record);
}

struct node *node_insert(struct cluster *c, uint32_t index, const char *name)
{
	while (c->nodes.count <= index)
		vec_push(&c->nodes, NULL);
	struct node_entry *e = NEW(struct node_entry);
	e->born = c->epoch;
	e->node.index = index;
	e->node.conf.name = mem_strdup(name);
	c->nodes.at[index] = e;
	map_put_str(&c->node_names, name, e);
	return &e->node;
}

void partition_insert(struct cluster *c, const struct partition_configured *ev)
{
	int at = partition_index(c, ev->conf.name);
	if (at < 0) {
		struct partition_entry *e = NEW(struct partition_entry);
		vec_push(&c->partitions, e);
		at = (int)c->partitions.count - 1;
	} else {
		struct partition_entry *old = c->partitions.at[at];
		c->partitions.at[at] = NEW(struct partition_entry);
		entry_drop(c, old, old->born, &partition_record);
	}
	struct partition_entry *e = c->partitions.at[at];
	e->born = c->epoch;
	record_copy(&partition_conf_record, &e->partition.conf, &ev->conf, NULL);
	e->partition.nodes = bitset_dup(&ev->nodes, NULL);
	queue_rebuild(c);
}

void partition_drop(struct cluster *c, const char *name)
{
	int at = partition_index(c, name);
	if (at < 0)
		return;
	struct partition_entry *e = c->partitions.at[at];
	vec_remove(&c->partitions, (size_t)at);
	entry_drop(c, e, e->born, &partition_record);
	queue_rebuild(c);
}

void blob_ref(struct cluster *c, uint64_t id)
{
	struct blob *b = id ? map_get(&c->blobs, id) : NULL;
	if (b)
		b->refs++;
}

void blob_unref(struct cluster *c, uint64_t id)
{
	struct blob *b = id ? map_get(&c->blobs, id) : NULL;
	if (!b || --b->refs > 0)
		return;
	map_remove(&c->blobs, id);
	free(b->data.data);
	free(b);
}

/* ---- what is not journaled --------------------------------------------------------------------- */

void cluster_set_reason(struct cluster *c, uint32_t job_id, enum job_reason reason)
{
	const struct job *j = cluster_job(c, job_id);
	if (!j || j->state != JOB_STATE_PENDING || j->reason == reason)
		return;
	struct job *edit = cluster_edit_job(c, job_id);
	c->unexplained -= edit->reason == JOB_REASON_NONE;
	c->unexplained += reason == JOB_REASON_NONE;
	edit->reason = reason;
}

void cluster_set_link(struct cluster *c, uint32_t node, bool up, usec_t now)
{
	const struct node *n = cluster_node(c, node);
	if (!n)
		return;
	struct node *edit = cluster_edit_node(c, node);
	edit->responding = up;
	edit->last_response = now;
}

void cluster_set_load(struct cluster *c, uint32_t node, double cpu_load, uint64_t free_mem_mib, usec_t now)
{
	if (!cluster_node(c, node))
		return;
	struct node *edit = cluster_edit_node(c, node);
	edit->cpu_load = cpu_load;
	edit->free_mem_mib = free_mem_mib;
	edit->last_response = now;
}

void cluster_set_topologies(struct cluster *c, struct topo_set *take)
{
	topo_set_unref(c->topologies);
	c->topologies = take;
}

static void view_topologies(const struct cluster *c, struct sched_view *v)
{
	if (!c->topologies)
		return;
	v->topologies = (const struct topology *const *)c->topologies->at;
	v->topology_count = c->topologies->count;
}

const struct topology *cluster_topology(const struct cluster *c, const char *partition)
{
	struct sched_view v = {};
	view_topologies(c, &v);
	return view_topology(&v, cluster_partition(c, partition));
}

/* ---- views ------------------------------------------------------------------------------------- */

static const struct partition *const *partition_list(const struct cluster *c, struct arena *a)
{
	const struct partition **list = ARENA_ARRAY(a, const struct partition *, c->partitions.count + 1);
	for (size_t i = 0; i < c->partitions.count; i++)
		list[i] = &c->partitions.at[i]->partition;
	return list;
}

static const struct node *const *node_list(const struct cluster *c, struct arena *a)
{
	const struct node **list = ARENA_ARRAY(a, const struct node *, c->nodes.count + 1);
	for (size_t i = 0; i < c->nodes.count; i++)
		list[i] = c->nodes.at[i] ? &c->nodes.at[i]->node : NULL;
	return list;
}

void cluster_look(const struct cluster *c, usec_t now, struct arena *a, struct sched_view *ret)
{
	*ret = (struct sched_view){ .now = now,
				    .nodes = node_list(c, a),
				    .node_count = (uint32_t)c->nodes.count,
				    .partitions = partition_list(c, a),
				    .partition_count = (uint32_t)c->partitions.count,
				    .select = c->settings.select,
				    .max_memory = c->settings.max_memory,
				    .licenses = licenses_look(c, a),
				    .license_count = (uint32_t)c->licenses.count,
				    .unexplained = c->unexplained };
	view_topologies(c, ret);
}

static void view_pending(const struct cluster *c, struct view *v)
{
	const struct job **list = ARENA_ARRAY(v->arena, const struct job *, c->pending.count + 1);
	for (size_t i = 0; i < c->pending.count; i++)
		list[i] = c->pending.at[i].job;
	v->sched.pending = list;
	v->sched.pending_count = (uint32_t)c->pending.count;
	cluster_look_running(c, v->arena, &v->sched);
}

void cluster_look_running(const struct cluster *c, struct arena *a, struct sched_view *ret)
{
	const struct job **list = ARENA_ARRAY(a, const struct job *, c->active.count + 1);
	const struct job_entry *e;
	ret->running_count = 0;
	for (size_t i = 0; (e = map_next(&c->active, &i));)
		list[ret->running_count++] = &e->job;
	ret->running = list;
}

static void view_jobs(const struct cluster *c, struct view *v)
{
	const struct job **list = ARENA_ARRAY(v->arena, const struct job *, c->jobs.count + 1);
	const struct job_entry *e;
	for (size_t i = 0; (e = map_next(&c->jobs, &i));)
		list[v->job_count++] = &e->job;
	v->jobs = list;
}

/* Blobs do not change, but the last job that refers to one may go: the view holds a reference. */
static void view_blobs(struct cluster *c, struct view *v)
{
	const struct blob **list = ARENA_ARRAY(v->arena, const struct blob *, c->blobs.count + 1);
	struct blob *b;
	for (size_t i = 0; (b = map_next(&c->blobs, &i));) {
		b->refs++;
		list[v->blob_count++] = b;
	}
	v->blobs = list;
}

struct view *cluster_view(struct cluster *c, unsigned parts, usec_t now)
{
	struct arena *a = arena_new();
	struct view *v = ARENA_NEW(a, struct view);
	v->arena = a;
	cluster_look(c, now, a, &v->sched);
	if (parts & VIEW_PENDING)
		view_pending(c, v);
	if (parts & VIEW_JOBS)
		view_jobs(c, v);
	if (parts & VIEW_BLOBS)
		view_blobs(c, v);
	v->topologies = topo_set_ref(c->topologies);
	v->next_job_id = c->next_job_id;
	v->epoch = c->epoch++;
	vec_push(&c->views, v);
	return v;
}

/* An entry retired in epoch R is shown by views before R only. */
static void free_retired(struct cluster *c)
{
	uint64_t oldest = c->views.count ? c->views.at[0]->epoch : UINT64_MAX;
	size_t keep = 0;
	for (size_t i = 0; i < c->retired.count; i++) {
		struct retired r = c->retired.at[i];
		if (r.since <= oldest)
			entry_free(r.entry, r.record);
		else
			c->retired.at[keep++] = r;
	}
	c->retired.count = keep;
}

void cluster_view_release(struct cluster *c, struct view *v)
{
	for (size_t i = 0; i < c->views.count; i++) {
		if (c->views.at[i] == v) {
			vec_remove(&c->views, i);
			break;
		}
	}
	for (uint32_t i = 0; i < v->blob_count; i++)
		blob_unref(c, v->blobs[i]->id);
	topo_set_unref(v->topologies);
	arena_free(v->arena);
	free_retired(c);
}
