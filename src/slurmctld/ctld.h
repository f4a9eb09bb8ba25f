/* SPDX-License-Identifier: Apache-2.0 */
/* ctld.h - the controller: everything between the sockets, the journal and the core.
 *
 * One loop thread owns a `struct ctld`.  The story of a request: serve.c checks who asks and calls a
 * decide_*() of core/; commit.c journals and applies what was decided; when it is on disk the answer
 * leaves and act.c tells the nodes.  Reads are answered from views in worker threads (read.c); the
 * planner thinks in another (planner.c).  The program's main() and the simulator both make one of
 * these; nothing here knows which. */
#pragma once
#include "base/cleanup.h"
#include "base/map.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "core/decide.h"
#include "wire/conn.h"

#include <stdbool.h>

struct auth;
struct buf;
struct disk;
struct error;
struct journal;
struct listener;
struct loop;
struct timer;

/* A connection to a node daemon that has registered. */
struct link {
	struct conn *conn;
	uint32_t node;
};

/* What happens once the journal has reached a position: answers, effects, notifications. */
struct after {
	uint64_t position;
	void (*fn)(void *arg);
	void (*drop)(void *arg); /* instead of fn, when it never gets there */
	void *arg;
};

/* A message to a node that is not answered yet (act.c). */
struct told {
	struct ctld *s;
	uint32_t node, job_id, attempt, step_id;
	bool is_launch;
	struct told *next, **prev;
};

/* A request that waits for a job (waits.c). */
struct wait {
	struct request *request;
	uint32_t job_id;
	bool for_start, for_end;
};

struct planner {
	bool wanted, running;
	struct timer *begin; /* the next --begin */
};

struct ctld {
	struct loop *loop;
	struct conf *conf;
	struct auth *auth;
	struct disk *disk;
	struct journal *journal;
	struct listener *listener;
	struct cluster cluster;
	struct conn_options conn_options;
	uint32_t slurm_uid;
	usec_t boot_time;

	VEC(struct after) after; /* FIFO, positions ascend */
	size_t after_head;
	bool flush_asked;
	bool snapshot_running;
	uint64_t snapshot_bytes; /* journal size that asks for the next snapshot */

	struct told *told;
	VEC(struct conn *) conns;
	VEC(struct link) links; /* by node index; conn NULL when down */
	VEC(struct wait) waits;
	VEC(struct request *) step_waits; /* step_create requests whose resources are taken */
	struct planner planner;
	struct timer *tick;
	bool stopping, journal_failed;
	unsigned busy;              /* pieces of work in other threads */
	void (*on_stop)(void *arg); /* shutdown was asked for */
	void *on_stop_arg;
	void (*stopped)(void *arg); /* ctld_stop has come to its end */
	void *stopped_arg;
	void (*after_apply)(void *arg, const struct event *ev); /* the simulator's checks; may be NULL */
	void *after_apply_arg;
};

struct ctld_options {
	struct loop *loop;
	struct conf *conf; /* taken over */
	struct auth *auth; /* borrowed */
	struct disk *disk; /* StateSaveLocation; borrowed */
	uint32_t slurm_uid;
	void (*on_stop)(void *arg);
	void *arg;
	void (*after_apply)(void *arg, const struct event *ev);
	bool no_listener; /* tests */
};

/* Restores the state, reads the configuration into it and listens. */
NODISCARD int ctld_new(const struct ctld_options *o, struct ctld **ret, struct error *err);
/* Takes nothing more, refuses what waits, and calls `stopped` once everything decided is on disk and no
 * other thread works for it any more; only then may it be freed. */
void ctld_stop(struct ctld *s, void (*stopped)(void *arg), void *arg);
void ctld_free(struct ctld *s); /* NULL is fine */
/* loop_work, counted so that ctld_stop can wait for it. */
void ctld_work(struct ctld *s, void (*work)(void *arg), void (*done)(void *arg), void *arg);
void ctld_check_stopped(struct ctld *s);

/* commit.c */
/* Makes the decision true: journal and memory now, disk soon.  Clears the decision. */
void ctld_commit(struct ctld *s, struct decision *d);
/* Runs `fn` once everything committed so far is on disk; at once when it is. */
void ctld_after(struct ctld *s, void (*fn)(void *arg), void (*drop)(void *arg), void *arg);
void ctld_drop_after(struct ctld *s); /* at the end */
/* Answers when everything committed so far is on disk. */
void ctld_reply(struct ctld *s, struct request *r, const void *reply);
void ctld_reply_encoded(struct ctld *s, struct request *r, struct buf *take_body);
int ctld_open_journal(struct ctld *s, struct error *err);

/* serve.c */
void ctld_accept(void *arg, struct stream *stream);
void ctld_forget_conn(struct ctld *s, const struct conn *c);
struct caller ctld_caller(const struct ctld *s, const struct request *r);

/* act.c */
void ctld_act(struct ctld *s, const struct effect *e);
void act_done(struct ctld *s);

/* links.c */
void links_register(struct ctld *s, struct request *r);
void links_heartbeat(struct ctld *s, struct request *r);
void links_closed(struct ctld *s, struct conn *c);
void links_tick(struct ctld *s, usec_t now);
struct conn *links_conn(const struct ctld *s, uint32_t node); /* NULL: not connected */
bool links_node_of(const struct ctld *s, const struct conn *c, uint32_t *ret);

/* planner.c */
void planner_start(struct ctld *s);
void planner_wake(struct ctld *s);
void planner_stop(struct ctld *s);

/* waits.c */
void waits_add(struct ctld *s, struct request *r);
void waits_job_changed(struct ctld *s, uint32_t job_id); /* right after apply() */
void waits_step(struct ctld *s, struct request *r);
void waits_drop(struct ctld *s); /* refuse all: stopping */

/* read.c */
void read_jobs(struct ctld *s, struct request *r);
void read_nodes(struct ctld *s, struct request *r);
void read_partitions(struct ctld *s, struct request *r);
void read_licenses(struct ctld *s, struct request *q);
void read_conf(struct ctld *s, struct request *r);

/* topology.c */
void read_topology(struct ctld *s, struct request *r);
/* Can fabrics be made of what the files say?  The error names file and line. */
NODISCARD int topologies_check(const struct conf *conf, struct error *err);
/* Makes them with the indexes that the nodes have; the configuration was checked and is applied. */
void topologies_set(struct ctld *s, const struct conf *conf);

/* configure.c */
int ctld_configure(struct ctld *s, struct conf *conf, struct error *err);
int ctld_reconfigure(struct ctld *s, struct error *err); /* the files again; the old ones stay on error */

/* persist.c */
void persist_maybe_snapshot(struct ctld *s);
