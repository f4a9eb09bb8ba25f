/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of nodes and of the work on them.
 *
 * A node daemon says what it holds when it registers and in every heartbeat; both sides compare.  Work
 * that the controller knows and the node does not is launched (the order got lost on the way; a node
 * never forgets what it once started until the controller has acknowledged its end), unless the
 * machine has booted since: then it is gone.  Work that the node holds and the controller does not
 * know is ended. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "core/decide.h"
#include "schema/errors.h"
#include "text/hostlist.h"

#include <errno.h>
#include <string.h>

/* ---- losing work ------------------------------------------------------------------------------- */

static bool may_requeue(const struct cluster *c, const struct job *j)
{
	return j->spec.batch && j->requeue && j->attempt <= c->settings.max_batch_requeue;
}

/* The node has nothing of the job any more and will not report about it. */
static void lose_job(const struct cluster *c, const struct job *j, uint32_t node, usec_t now,
		     struct decision *out)
{
	if (!job_is_ended(j)) {
		struct ending e = { .state = JOB_STATE_NODE_FAIL,
				    .reason = JOB_REASON_NODE_DOWN,
				    .requeue = may_requeue(c, j) };
		decide_ending(j, &e, now, out);
	}
	decide_clean(j, node, now, out);
}

static void lose_node(const struct cluster *c, uint32_t node, usec_t now, struct decision *out)
{
	const struct job_entry *e;
	for (size_t i = 0; (e = map_next(&c->active, &i));) {
		int at = alloc_position(e->job.alloc, e->job.n_alloc, node);
		if (at >= 0 && !e->job.alloc[at].clean)
			lose_job(c, &e->job, node, now, out);
	}
}

bool cluster_node_has_work(const struct cluster *c, uint32_t node)
{
	const struct job_entry *e;
	for (size_t i = 0; (e = map_next(&c->active, &i));) {
		int at = alloc_position(e->job.alloc, e->job.n_alloc, node);
		if (at >= 0 && !e->job.alloc[at].clean)
			return true;
	}
	return false;
}

static struct node_changed *node_change(uint32_t node, usec_t now, struct decision *out)
{
	struct node_changed *ev = &decision_event(out, EVENT_NODE_CHANGED)->node_changed;
	ev->node = node;
	ev->time = now;
	return ev;
}

void decide_node_lost(const struct cluster *c, uint32_t node, usec_t now, struct decision *out)
{
	const struct node *n = cluster_node(c, node);
	if (!n || n->down)
		return;
	struct node_changed *ev = node_change(node, now, out);
	ev->has_down = ev->down = true;
	ev->has_reason = true;
	ev->reason = arena_strdup(out->arena, "Not responding");
	lose_node(c, node, now, out);
}

/* ---- comparing --------------------------------------------------------------------------------- */

struct held_list {
	const struct node_held *at;
	uint32_t count;
};

static bool holds(const struct held_list *h, const struct job *j, uint32_t step_id)
{
	for (uint32_t i = 0; i < h->count; i++)
		if (h->at[i].job_id == j->id && h->at[i].attempt == j->attempt && h->at[i].step_id == step_id)
			return true;
	return false;
}

static void launch_missing(const struct job *j, uint32_t node, const struct held_list *held,
			   struct decision *out)
{
	for (uint32_t i = 0; i < j->n_steps; i++) {
		const struct step *s = &j->steps[i];
		int at = alloc_position(s->alloc, s->n_alloc, node);
		if (at < 0 || bitset_has(&s->ended, (uint32_t)at) || holds(held, j, s->id))
			continue;
		decision_effect(out, (struct effect){ .kind = EFFECT_LAUNCH,
						      .job_id = j->id,
						      .attempt = j->attempt,
						      .has_step = true,
						      .step_id = s->id,
						      .node = node });
	}
}

static void compare(const struct cluster *c, uint32_t node, const struct held_list *held,
		    struct decision *out)
{
	const struct job_entry *e;
	for (size_t i = 0; (e = map_next(&c->active, &i));) {
		const struct job *j = &e->job;
		int at = alloc_position(j->alloc, j->n_alloc, node);
		if (at < 0 || j->alloc[at].clean)
			continue;
		if (j->completing)
			decision_effect(out, (struct effect){ .kind = EFFECT_TERMINATE,
							      .job_id = j->id,
							      .attempt = j->attempt,
							      .node = node });
		else
			launch_missing(j, node, held, out);
	}
	for (uint32_t i = 0; i < held->count; i++) {
		const struct node_held *h = &held->at[i];
		const struct job *j = cluster_job(c, h->job_id);
		bool ours = j && j->attempt == h->attempt && job_is_active(j) &&
			    alloc_position(j->alloc, j->n_alloc, node) >= 0;
		if (!ours && !h->ended)
			decision_effect(out, (struct effect){ .kind = EFFECT_TERMINATE,
							      .job_id = h->job_id,
							      .attempt = h->attempt,
							      .node = node });
	}
}

void decide_heartbeat(const struct cluster *c, uint32_t node, const struct node_heartbeat *h,
		      struct decision *out)
{
	struct held_list held = { h->held, h->n_held };
	compare(c, node, &held, out);
}

/* ---- registering ------------------------------------------------------------------------------- */

/* A machine with less than is configured must not get work that counts on it. */
static char *too_small(const struct node *n, const struct node_facts *f, struct arena *a)
{
	if (f->cpus && f->cpus < n->conf.cpus)
		return arena_printf(a, "Low CPUs (reported:%u < configured:%u)", f->cpus, n->conf.cpus);
	if (f->real_memory_mib && f->real_memory_mib < n->conf.real_memory_mib)
		return arena_printf(a, "Low RealMemory (reported:%llu < configured:%llu)",
				    (unsigned long long)f->real_memory_mib,
				    (unsigned long long)n->conf.real_memory_mib);
	return NULL;
}

/* Down because it was silent: back by itself as ReturnToService says. */
static bool returns(const struct cluster *c, const struct node *n)
{
	if (!n->down)
		return false;
	return c->settings.return_to_service == 2 ||
	       (c->settings.return_to_service == 1 && str_eq(n->reason, "Not responding"));
}

static void judge(const struct cluster *c, const struct node *n, const struct node_facts *facts, usec_t now,
		  struct decision *out)
{
	char *small = too_small(n, facts, out->arena);
	if (small && !n->drain) {
		struct node_changed *ev = node_change(n->index, now, out);
		ev->has_drain = ev->drain = ev->has_reason = true;
		ev->reason = small;
	} else if (returns(c, n)) {
		struct node_changed *ev = node_change(n->index, now, out);
		ev->has_down = ev->has_reason = true;
		ev->reason = arena_strdup(out->arena, "");
	}
}

int decide_register(const struct cluster *c, const struct registration *r, struct decision *out,
		    uint32_t *ret_node, struct error *err)
{
	const struct node_register *q = r->request;
	const struct node *n = str_empty(q->name) ? NULL : cluster_node_named(c, q->name);
	/* One that was taken out of the configuration still brings its jobs to their end. */
	if (!n || (n->removed && !cluster_node_has_work(c, n->index)))
		return error_set(err, -E_INVALID_NODE_NAME, "%s: '%s' is not in slurm.conf",
				 enum_text(&error_code_enum, E_INVALID_NODE_NAME), q->name ? q->name : "");
	*ret_node = n->index;
	bool booted = n->registered && !str_eq(n->facts.boot_id, q->facts.boot_id);
	if (!n->registered || !record_equal(&node_facts_record, &n->facts, &q->facts)) {
		struct node_registered *ev = &decision_event(out, EVENT_NODE_REGISTERED)->node_registered;
		ev->node = n->index;
		ev->facts = q->facts;
		ev->time = r->now;
	}
	judge(c, n, &q->facts, r->now, out);
	if (booted) {
		lose_node(c, n->index, r->now, out);
		return 0;
	}
	struct held_list held = { q->held, q->n_held };
	compare(c, n->index, &held, out);
	return 0;
}

/* ---- scontrol update NodeName= ------------------------------------------------------------------ */

static int set_state(struct node_changed *ev, const struct node *n, const char *value, struct error *err)
{
	static const char *const states[] = { "DOWN", "DRAIN", "RESUME", "UNDRAIN", "IDLE", "FAIL" };
	if (str_ieq(value, "DOWN")) {
		ev->has_down = ev->down = true;
	} else if (str_ieq(value, "DRAIN")) {
		ev->has_drain = ev->drain = true;
	} else if (str_ieq(value, "FAIL")) {
		ev->has_fail = ev->fail = true;
	} else if (str_ieq(value, "UNDRAIN")) {
		ev->has_drain = true;
	} else if (str_ieq(value, "RESUME") || str_ieq(value, "IDLE")) {
		if (!n->down && !n->drain && !n->fail)
			return error_set(err, -E_INVALID_NODE_STATE, "%s: %s is neither down nor drained",
					 enum_text(&error_code_enum, E_INVALID_NODE_STATE), n->conf.name);
		ev->has_down = ev->has_drain = ev->has_fail = true;
		ev->has_reason = true;
		ev->reason = NULL;
	} else {
		const char *near = str_closest(value, states, ARRAY_COUNT(states));
		return error_set(err, -E_INVALID_NODE_STATE,
				 "%s: '%s'%s%s%s (one of DOWN, DRAIN, FAIL, RESUME, UNDRAIN, IDLE)",
				 enum_text(&error_code_enum, E_INVALID_NODE_STATE), value,
				 near ? ", did you mean " : "", near ? near : "", near ? "?" : "");
	}
	return 0;
}

static int set_key(struct node_changed *ev, const struct node *n, const struct conf_line *pair,
		   struct error *err)
{
	char *value = pair->value;
	if (str_ieq(pair->key, "State"))
		return set_state(ev, n, value, err);
	if (str_ieq(pair->key, "Reason")) {
		ev->has_reason = true;
		ev->reason = value;
	} else if (str_ieq(pair->key, "Weight")) {
		if (str_to_u32(value, &ev->weight) < 0)
			return error_set(err, -EINVAL, "Weight=%s is not a number", value);
		ev->has_weight = true;
	} else if (str_ieq(pair->key, "Features") || str_ieq(pair->key, "AvailableFeatures") ||
		   str_ieq(pair->key, "ActiveFeatures")) {
		ev->has_features = true;
		ev->features = value;
	} else if (str_ieq(pair->key, "Comment")) {
		ev->has_comment = true;
		ev->comment = value;
	} else if (str_ieq(pair->key, "Extra")) {
		ev->has_extra = true;
		ev->extra = value;
	} else {
		return error_set(err, -EINVAL, "Update of this parameter is not supported: %s=%s", pair->key, value);
	}
	return 0;
}

static int update_node(const struct node *n, const struct node_update *u, const struct caller *who,
		       usec_t now, struct decision *out, struct error *err)
{
	struct node_changed ev = { .node = n->index, .time = now, .by_uid = who->uid };
	for (uint32_t i = 0; i < u->n_keys; i++) {
		int e = set_key(&ev, n, &u->keys[i], err);
		if (e < 0)
			return e;
	}
	bool needs_reason = (ev.has_drain && ev.drain) || (ev.has_down && ev.down) || (ev.has_fail && ev.fail);
	if (needs_reason && str_empty(ev.reason) && str_empty(n->reason))
		return error_set(err, -EINVAL, "You must specify a reason when %s a node: Reason=\"...\"",
				 ev.has_drain ? "DRAINING" : "DOWNING");
	decision_event(out, EVENT_NODE_CHANGED)->node_changed = ev;
	return 0;
}

static int named_nodes(const struct cluster *c, const char *names, struct arena *a, struct hostlist *ret,
		       struct error *err)
{
	if (!str_ieq(names, "ALL"))
		return hostlist_expand(names, a, ret, err);
	ret->names = ARENA_ARRAY(a, char *, c->nodes.count + 1);
	ret->count = 0;
	for (uint32_t i = 0; i < cluster_node_count(c); i++)
		if (cluster_node(c, i) && !cluster_node(c, i)->removed)
			ret->names[ret->count++] = cluster_node(c, i)->conf.name;
	return 0;
}

int decide_node_update(const struct cluster *c, const struct node_update *u, const struct caller *who,
		       usec_t now, struct decision *out, struct error *err)
{
	struct hostlist names;
	int e = named_nodes(c, u->names ? u->names : "", out->arena, &names, err);
	for (uint32_t i = 0; e >= 0 && i < names.count; i++) {
		const struct node *n = cluster_node_named(c, names.names[i]);
		if (!n || n->removed)
			e = error_set(err, -E_INVALID_NODE_NAME, "%s: '%s'",
				      enum_text(&error_code_enum, E_INVALID_NODE_NAME), names.names[i]);
		else
			e = update_node(n, u, who, now, out, err);
		/* A node that an administrator takes down loses its jobs. */
		if (e >= 0 && out->events.at[out->events.count - 1].node_changed.down)
			lose_node(c, n->index, now, out);
	}
	if (e < 0) {
		vec_clear(&out->events); /* all or nothing */
		vec_clear(&out->effects);
		return e;
	}
	return 0;
}
