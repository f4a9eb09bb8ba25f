/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot is a short list of events that leads to the same state as the long one: nodes and
 * partitions first, then blobs, then jobs in whatever state they are.  Reads a view only, so that a
 * worker can write it while the owner goes on. */
#include "base/arena.h"
#include "core/decide.h"

struct emitter {
	view_event_fn emit;
	void *arg;
};

static void emit_node(const struct emitter *e, const struct node *n)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct event ev = { .kind = EVENT_NODE_CONFIGURED };
	ev.node_configured.node = n->index;
	ev.node_configured.conf = n->conf;
	ev.node_configured.n_gres = n->n_gres;
	ev.node_configured.gres = ARENA_ARRAY(a, struct node_gres, n->n_gres + 1);
	for (uint32_t i = 0; i < n->n_gres; i++) {
		struct node_gres *g = &ev.node_configured.gres[i];
		*g = n->gres[i];
		g->used_count = 0; /* follows from the jobs, as do the next ones */
		g->each_used = NULL;
		g->n_each_used = 0;
		bitset_init_in(&g->used, n->gres[i].used.bits, a);
	}
	e->emit(e->arg, &ev);
	if (n->registered) {
		ev = (struct event){ .kind = EVENT_NODE_REGISTERED };
		ev.node_registered.node = n->index;
		ev.node_registered.facts = n->facts;
		e->emit(e->arg, &ev);
	}
	ev = (struct event){ .kind = EVENT_NODE_CHANGED };
	ev.node_changed = (struct node_changed){
		.node = n->index, .time = n->reason_time, .by_uid = n->reason_uid,
		.has_down = true, .down = n->down, .has_drain = true, .drain = n->drain,
		.has_fail = true, .fail = n->fail, .has_reason = n->reason != NULL, .reason = n->reason,
		.has_features = n->features != NULL, .features = n->features,
		.has_comment = n->comment != NULL, .comment = n->comment,
		.has_extra = n->extra != NULL, .extra = n->extra,
	};
	e->emit(e->arg, &ev);
	if (n->removed) {
		ev = (struct event){ .kind = EVENT_NODE_REMOVED };
		ev.node_removed.node = n->index;
		e->emit(e->arg, &ev);
	}
}

static void emit_job(const struct emitter *e, const struct job *j)
{
	struct event ev = { .kind = EVENT_JOB_SUBMITTED };
	ev.job_submitted.job = *j;
	if (j->state == JOB_STATE_PENDING)
		ev.job_submitted.job.reason = JOB_REASON_NONE; /* found anew by the planner */
	e->emit(e->arg, &ev);
}

void view_events(const struct view *v, view_event_fn emit, void *arg)
{
	struct emitter e = { emit, arg };
	struct event ev = { .kind = EVENT_COUNTERS };
	ev.counters.next_job_id = v->next_job_id;
	ev.counters.time = v->sched.now;
	emit(arg, &ev);
	for (uint32_t i = 0; i < v->sched.node_count; i++)
		if (v->sched.nodes[i])
			emit_node(&e, v->sched.nodes[i]);
	for (uint32_t i = 0; i < v->sched.partition_count; i++) {
		ev = (struct event){ .kind = EVENT_PARTITION_CONFIGURED };
		ev.partition_configured.conf = v->sched.partitions[i]->conf;
		ev.partition_configured.nodes = v->sched.partitions[i]->nodes;
		emit(arg, &ev);
	}
	for (uint32_t i = 0; i < v->blob_count; i++) {
		ev = (struct event){ .kind = EVENT_BLOB_ADDED };
		ev.blob_added.id = v->blobs[i]->id;
		ev.blob_added.data = v->blobs[i]->data;
		emit(arg, &ev);
	}
	for (uint32_t i = 0; i < v->job_count; i++)
		emit_job(&e, v->jobs[i]);
}
