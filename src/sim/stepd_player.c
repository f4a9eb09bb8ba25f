/* SPDX-License-Identifier: Apache-2.0 */
/* A model of slurmstepd: takes its work over the inherited socket, listens for a node daemon that comes
 * back, lasts for a while, and keeps its report until it is acknowledged. */
#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "host/process.h"
#include "host/stream.h"
#include "schema/messages.h"
#include "sched/layout.h"
#include "sim/cast.h"
#include "slurmd/impl.h"

#include <stdio.h>
#include <string.h>

struct stepd {
	struct cast *cast;
	uint64_t key;
	struct loop *loop;
	struct conn *conn; /* to slurmd, present one */
	struct listener *listener;
	struct timer *timer;
	char spool[256];
	uint32_t job_id, attempt, step_id, node;
	bool launched, over, leaving;
	struct step_end end;
	struct run *run;
};

uint32_t expected_exit(uint32_t job_id)
{
	return job_id % 5 == 0 ? 1 + job_id % 3 : 0;
}

static void leave_later(void *arg, uint64_t key);

static void stepd_free(struct stepd *s)
{
	map_remove(&s->cast->stepds, s->key);
	conn_close(s->conn);
	listener_free(s->listener);
	timer_free(s->timer);
	loop_free(s->loop);
	free(s);
}

static void leave_later(void *arg, uint64_t key)
{
	struct cast *c = arg;
	struct stepd *s = map_get(&c->stepds, key);
	if (s)
		stepd_free(s);
}

static void on_reported(void *arg, const void *reply, const struct error *err)
{
	struct stepd *s = arg;
	(void)err;
	if (!reply || s->leaving)
		return;
	s->leaving = true;
	world_at(the_world, 10, leave_later, s->cast, s->key);
}

static void report(struct stepd *s)
{
	if (!s->conn || !s->over || s->leaving)
		return;
	struct stepd_state state = { .job_id = s->job_id, .attempt = s->attempt, .step_id = s->step_id,
				     .has_end = true, .end = s->end };
	conn_call(s->conn, MSG_STEPD_REPORT, &state, 0, on_reported, s);
}

static void work_over(struct stepd *s, uint32_t code, uint32_t signal)
{
	if (s->over)
		return;
	s->over = true;
	s->run->ended = true;
	s->run->killed = signal != 0;
	s->end = (struct step_end){ .job_id = s->job_id, .attempt = s->attempt, .step_id = s->step_id,
				    .exit_code = code, .exit_signal = signal };
	world_tell("n%u: step %u.%u of attempt %u ends with %u:%u", s->node + 1, s->job_id,
		   s->step_id == STEP_BATCH ? 9999 : s->step_id, s->attempt, code, signal);
	report(s);
}

static void work_done(void *arg)
{
	struct stepd *s = arg;
	work_over(s, expected_exit(s->job_id), 0);
}

static struct run *run_of(struct cast *c, const struct stepd *s)
{
	uint64_t key = hash_mix(hash_mix(((uint64_t)s->job_id << 32) | s->attempt, s->step_id), s->node);
	struct run *r = map_get(&c->runs, key);
	if (!r) {
		r = NEW(struct run);
		*r = (struct run){ .job_id = s->job_id, .attempt = s->attempt, .step_id = s->step_id, .node = s->node };
		map_put(&c->runs, key, r);
	}
	return r;
}

static void on_accept(void *arg, struct stream *stream);

static void launch(struct stepd *s, struct request *r)
{
	const struct launch *l = r->body;
	char path[320];
	struct error err = {};
	s->job_id = l->job_id;
	s->attempt = l->attempt;
	s->step_id = l->step_id;
	s->node = l->step.alloc[l->node_pos].node;
	char name[HELD_NAME_MAX];
	held_name(s->job_id, s->attempt, s->step_id, name);
	snprintf(path, sizeof(path), "%s/%s.sock", s->spool, name);
	if (listener_unix(s->loop, path, 0600, on_accept, s, &s->listener, &err) < 0) {
		request_fail(r, &err);
		return;
	}
	s->launched = true;
	s->run = run_of(s->cast, s);
	s->run->starts++;
	world_tell("n%u: step %u.%u of attempt %u starts", s->node + 1, s->job_id,
		   s->step_id == STEP_BATCH ? 9999 : s->step_id, s->attempt);
	timer_start(s->timer, (usec_t)(1000 + world_draw(s->cast->w, 20000000)), 0);
	request_reply(r, &(struct empty){});
}

static void query(struct stepd *s, struct request *r)
{
	struct stepd_state state = { .job_id = s->job_id, .attempt = s->attempt, .step_id = s->step_id,
				     .running = !s->over, .has_end = s->over, .end = s->end };
	request_reply(r, &state);
	report(s);
}

static void on_request(void *arg, struct request *r)
{
	struct stepd *s = arg;
	struct error err = {};
	switch (r->kind) {
	case MSG_STEPD_LAUNCH:
		launch(s, r);
		return;
	case MSG_STEPD_QUERY:
		query(s, r);
		return;
	case MSG_STEPD_SIGNAL:
		request_reply(r, &(struct empty){});
		return;
	case MSG_STEPD_TERMINATE:
		request_reply(r, &(struct empty){});
		work_over(s, 0, 15);
		return;
	default:
		error_set(&err, -1, "not for a step daemon");
		request_fail(r, &err);
	}
}

static void on_closed(void *arg, struct conn *c, const char *why)
{
	struct stepd *s = arg;
	(void)why;
	if (s->conn == c)
		s->conn = NULL;
	if (!s->launched && !s->leaving) { /* the work never came */
		s->leaving = true;
		world_at(the_world, 10, leave_later, s->cast, s->key);
	}
}

static const struct conn_handler handler = { .request = on_request, .closed = on_closed };

static struct conn_options options(struct stepd *s)
{
	return (struct conn_options){ .loop = s->loop, .program = "slurmstepd", .skip_hello = true };
}

static void on_accept(void *arg, struct stream *stream)
{
	struct stepd *s = arg;
	struct conn_options o = options(s);
	conn_close(s->conn);
	s->conn = conn_accept(stream, &o, &handler, s);
}

int stepd_player_spawn(void *arg, struct loop *parent, const struct spawn *spawn)
{
	struct cast *c = arg;
	struct stepd *s = NEW(struct stepd);
	s->cast = c;
	s->key = world_key(c->w);
	s->loop = loop_on(parent->machine);
	s->timer = timer_new(s->loop, work_done, s);
	for (size_t i = 0; spawn->argv[i] && spawn->argv[i + 1]; i++)
		if (strcmp(spawn->argv[i], "-s") == 0)
			snprintf(s->spool, sizeof(s->spool), "%s", spawn->argv[i + 1]);
	map_put(&c->stepds, s->key, s);
	struct conn_options o = options(s);
	s->conn = conn_adopt(spawn->fds[3], &o, &handler, s);
	return 0;
}

static void stepd_kill(struct stepd *s)
{
	world_tell("n%u: the step daemon of %u is killed", s->node + 1, s->job_id);
	if (s->run) {
		s->run->ended = true;
		s->run->killed = true;
	}
	loop_kill(s->loop);
	stepd_free(s);
}

void stepd_players_kill(struct cast *c, const struct machine *m, unsigned one_in)
{
	struct stepd *s;
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; (s = map_next(&c->stepds, &i));) {
			if ((m && s->loop->machine != m) || s->leaving || (one_in > 1 && !world_chance(c->w, one_in)))
				continue;
			c->step_kills += one_in > 1;
			stepd_kill(s);
			again = one_in == 1;
			break;
		}
	}
}

unsigned stepd_players_alive(const struct cast *c)
{
	return (unsigned)c->stepds.count;
}

void stepd_players_free(struct cast *c)
{
	struct stepd *s;
	for (size_t i = 0; (s = map_next(&c->stepds, &i)); i = 0) {
		loop_kill(s->loop);
		stepd_free(s);
	}
	map_done(&c->stepds);
}
