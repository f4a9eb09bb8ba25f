/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmctld/ctld.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "host/loop.h"
#include "host/stream.h"
#include "store/journal.h"
#include "wire/auth.h"

enum { TICK_USEC = 1000000 };

static void tick(void *arg)
{
	struct ctld *s = arg;
	usec_t now = loop_now(s->loop);
	usec_t due = cluster_next_time(&s->cluster);
	if (s->stopping)
		return;
	if (due && due <= now) {
		AUTO_ARENA struct arena *turn = arena_new();
		struct decision d;
		decision_init(&d, turn);
		decide_tick(&s->cluster, now, &d);
		ctld_commit(s, &d);
	}
	links_tick(s, now);
}

static int listen_for_all(struct ctld *s, struct error *err)
{
	int e = listener_tcp(s->loop, NULL, (uint16_t)s->conf->main.slurmctld_port, ctld_accept, s, &s->listener,
			     err);
	return e < 0 ? error_wrap(err, e, "SlurmctldPort=%u", s->conf->main.slurmctld_port) : 0;
}

int ctld_new(const struct ctld_options *o, struct ctld **ret, struct error *err)
{
	struct ctld *s = NEW(struct ctld);
	s->loop = o->loop;
	s->conf = o->conf;
	s->auth = o->auth;
	s->disk = o->disk;
	s->slurm_uid = o->slurm_uid;
	s->on_stop = o->on_stop;
	s->on_stop_arg = o->arg;
	s->after_apply = o->after_apply;
	s->after_apply_arg = o->arg;
	s->boot_time = loop_now(s->loop);
	s->conn_options = (struct conn_options){ .loop = s->loop,
						 .auth = s->auth,
						 .program = "slurmctld",
						 .cluster = auth_cluster(s->auth) };
	cluster_init(&s->cluster);
	int e = ctld_open_journal(s, err);
	if (e < 0)
		goto fail;
	planner_start(s);
	e = ctld_configure(s, s->conf, err);
	if (e >= 0 && !o->no_listener)
		e = listen_for_all(s, err);
	if (e < 0)
		goto fail;
	s->tick = timer_new(s->loop, tick, s);
	timer_start(s->tick, TICK_USEC, TICK_USEC);
	*ret = s;
	return 0;
fail:
	s->conf = NULL; /* still the caller's */
	ctld_free(s);
	return e;
}

struct work {
	struct ctld *s;
	void (*work)(void *arg);
	void (*done)(void *arg);
	void *arg;
};

static void work_run(void *arg)
{
	struct work *w = arg;
	w->work(w->arg);
}

static void work_done(void *arg)
{
	struct work *w = arg;
	struct ctld *s = w->s;
	s->busy--;
	w->done(w->arg);
	free(w);
	ctld_check_stopped(s);
}

void ctld_work(struct ctld *s, void (*work)(void *arg), void (*done)(void *arg), void *arg)
{
	struct work *w = NEW(struct work);
	*w = (struct work){ s, work, done, arg };
	s->busy++;
	loop_work(s->loop, work_run, work_done, w);
}

void ctld_check_stopped(struct ctld *s)
{
	bool settled = s->journal_failed || journal_synced(s->journal) == journal_position(s->journal);
	if (!s->stopped || s->busy || s->snapshot_running || !settled)
		return;
	void (*stopped)(void *) = s->stopped;
	s->stopped = NULL;
	stopped(s->stopped_arg);
}

void ctld_stop(struct ctld *s, void (*stopped)(void *arg), void *arg)
{
	s->stopping = true;
	s->stopped = stopped;
	s->stopped_arg = arg;
	listener_free(s->listener);
	s->listener = NULL;
	waits_drop(s);
	ctld_check_stopped(s);
}

void ctld_free(struct ctld *s)
{
	if (!s)
		return;
	s->stopping = true;
	listener_free(s->listener);
	timer_free(s->tick);
	planner_stop(s);
	waits_drop(s);
	ctld_drop_after(s);
	while (s->conns.count)
		conn_finish(s->conns.at[--s->conns.count]);
	act_done(s); /* closing a connection drops its calls */
	vec_done(&s->conns);
	vec_done(&s->links);
	journal_close(s->journal);
	cluster_done(&s->cluster);
	conf_free(s->conf);
	free(s);
}
