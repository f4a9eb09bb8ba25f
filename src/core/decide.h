/* SPDX-License-Identifier: Apache-2.0 */
/* decide.h - what the controller answers to what it is told.
 *
 * Each decide_*() reads the cluster, changes nothing, and appends to a decision: the events that make
 * the answer true and the effects that the world must see once these are on disk.  A refusal fills
 * `err` and appends nothing.  `now`, random numbers and everything looked up outside are arguments. */
#pragma once
#include "base/cleanup.h"
#include "core/cluster.h"
#include "schema/messages.h"

struct arena;
struct error;
struct plan_start;

struct caller {
	uint32_t uid, gid;
	bool admin; /* SlurmUser or root */
};

enum effect_kind {
	EFFECT_LAUNCH,    /* start a step's part on a node */
	EFFECT_SIGNAL,    /* signal a step's tasks, or those of all steps */
	EFFECT_TERMINATE, /* end everything of a job on a node */
};

enum { NODE_EACH = UINT32_MAX };

struct effect {
	enum effect_kind kind;
	uint32_t job_id, attempt;
	bool has_step;
	uint32_t step_id;
	uint32_t node; /* NODE_EACH: every node that the job or step still has */
	uint32_t signal;
	bool batch_only, full;
};

struct decision {
	struct arena *arena; /* what events point to */
	VEC(struct event) events;
	VEC(struct effect) effects;
};

void decision_init(struct decision *d, struct arena *a);
void decision_done(struct decision *d);
struct event *decision_event(struct decision *d, enum event_kind kind); /* zeroed but for the kind */
void decision_effect(struct decision *d, struct effect e);
/* Scripts and environments are kept once however many jobs share them; 0 stands for an empty one. */
uint64_t decide_blob(const struct cluster *c, const struct bytes *data, struct decision *out);

/* configure.c: the configuration as it is now; only differences become events. */
struct configured_node {
	const struct node_conf *conf;
	const struct node_gres *gres;
	uint32_t gres_count;
};
struct configuration {
	const struct configured_node *nodes;
	uint32_t node_count;
	const struct partition_conf *partitions;
	uint32_t partition_count;
};
NODISCARD int decide_configure(const struct cluster *c, const struct configuration *conf, usec_t now,
			       struct decision *out, struct error *err);

/* submit.c */
struct submission {
	const struct submit_request *request;
	struct caller caller;
	const char *user, *group;
	const uint32_t *groups;
	uint32_t group_count;
	const char *const *group_names; /* for AllowGroups; may be NULL */
	uint32_t group_name_count;
	usec_t now;
};
NODISCARD int decide_submit(const struct cluster *c, const struct submission *s, struct decision *out,
			    struct submit_reply *reply, struct error *err);

/* start.c: a proposal of the planner, checked against the present.  A stale one is refused quietly. */
NODISCARD int decide_start(const struct cluster *c, const struct plan_start *p, uint64_t cookie,
			   usec_t now, struct decision *out);

/* finish.c: what nodes report. */
void decide_step_end(const struct cluster *c, uint32_t node, const struct step_end *end, usec_t now,
		     struct decision *out);
void decide_job_clean(const struct cluster *c, uint32_t node, const struct job_clean *clean, usec_t now,
		      struct decision *out);
NODISCARD int decide_release(const struct cluster *c, const struct job_release *r,
			     const struct caller *who, usec_t now, struct decision *out, struct error *err);

/* cancel.c */
NODISCARD int decide_cancel(const struct cluster *c, const struct cancel_request *r,
			    const struct caller *who, usec_t now, struct decision *out,
			    struct cancel_reply *reply, struct error *err);
NODISCARD int decide_requeue(const struct cluster *c, const struct job_requeue *r,
			     const struct caller *who, usec_t now, struct decision *out,
			     struct cancel_reply *reply, struct error *err);

/* change.c */
NODISCARD int decide_job_update(const struct cluster *c, const struct job_update *u,
				const struct caller *who, usec_t now, struct decision *out,
				struct cancel_reply *reply, struct error *err);

/* steps.c: a share of the job's allocation.  -E_STEP_BUSY when waiting would help. */
struct step_command {
	const struct step_request *request;
	struct caller caller;
	uint64_t cookie;
	usec_t now;
};
NODISCARD int decide_step_create(const struct cluster *c, const struct step_command *s,
				 struct decision *out, struct error *err);

/* nodes.c */
struct registration {
	const struct node_register *request;
	usec_t now;
};
NODISCARD int decide_register(const struct cluster *c, const struct registration *r,
			      struct decision *out, uint32_t *ret_node, struct error *err);
void decide_heartbeat(const struct cluster *c, uint32_t node, const struct node_heartbeat *h,
		      struct decision *out);
/* Is anything of a job left on the node, as far as is known? */
bool cluster_node_has_work(const struct cluster *c, uint32_t node);
/* The node has been silent for longer than SlurmdTimeout. */
void decide_node_lost(const struct cluster *c, uint32_t node, usec_t now, struct decision *out);
NODISCARD int decide_node_update(const struct cluster *c, const struct node_update *u,
				 const struct caller *who, usec_t now, struct decision *out,
				 struct error *err);

/* tick.c: what time alone brings about: limits reached, old jobs forgotten. */
void decide_tick(const struct cluster *c, usec_t now, struct decision *out);
/* When decide_tick next has something to do, or 0. */
usec_t cluster_next_time(const struct cluster *c);

/* finish.c, for its neighbours: the job's work is over in this way. */
struct ending {
	enum job_state state;
	enum job_reason reason;
	uint32_t exit_code, exit_signal;
	bool has_by_uid;
	uint32_t by_uid;
	bool requeue;
	enum hold_kind requeue_hold;
};
void decide_ending(const struct job *j, const struct ending *e, usec_t now, struct decision *out);
/* This node will never report about the job again: count it as clean.  `ending` must be decided. */
void decide_clean(const struct job *j, uint32_t node, usec_t now, struct decision *out);

/* query.c: which jobs a filter means.  Preparing looks up what needs the cluster; matching a prepared
 * filter needs only the job, so that readers in other threads can do it on a view. */
struct prepared_filter {
	const struct job_filter *filter;
	bool by_node;
	struct bitset nodes;
};
NODISCARD int filter_prepare(const struct cluster *c, const struct job_filter *f, struct arena *a,
			     struct prepared_filter *ret, struct error *err);
bool filter_matches(const struct prepared_filter *p, const struct job *j);
/* Every job that the filter's ids name, arrays by their tasks; without ids every job that matches.
 * `task` is set for one task of a pending array.  Returns how many, or -ECANCELED when `fn` was
 * negative. */
typedef int (*matched_fn)(void *arg, const struct job *j, const uint32_t *task);
int filter_each(const struct cluster *c, const struct prepared_filter *p, matched_fn fn, void *arg);

/* snapshot.c: the events that lead to what a view shows; `ev` is valid during the call. */
typedef void (*view_event_fn)(void *arg, const struct event *ev);
void view_events(const struct view *v, view_event_fn emit, void *arg);
