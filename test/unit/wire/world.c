/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "schema/errors.h"
#include "schema/messages.h"

#include "../cm.h"

#include <stdio.h>
#include <unistd.h>

/* ---- the server --------------------------------------------------------------------------------- */

static void on_ready(void *arg, struct conn *c)
{
	struct end *e = arg;
	e->ready++;
	if (e->close_in_ready) {
		conn_close(c);
		e->conn = NULL;
	}
	loop_stop(e->world->loop);
}

static void on_request(void *arg, struct request *r)
{
	struct end *e = arg;
	struct world *w = e->world;
	e->requests++;
	loop_stop(w->loop);
	if (e->close_in_request) {
		conn_close(e->conn);
		e->conn = NULL;
		assert_true(request_is_dead(r));
	}
	if (r->kind == MSG_JOB_QUERY) {
		w->held[w->held_count++] = r;
	} else if (r->kind == MSG_PING) {
		request_reply(r, NULL);
	} else if (r->kind == MSG_IO_SIGNAL) {
		e->seen[e->seen_count++] = ((struct io_signal *)r->body)->signal;
		if (e->seen_count == e->pause_at)
			conn_pause(e->conn);
		request_reply(r, NULL);
	} else {
		struct error err = {};
		wire_error(&err, -E_INVALID_JOB_ID, "asked by uid %u", r->from.uid);
		request_fail(r, &err);
	}
}

static void on_closed(void *arg, struct conn *c, const char *why)
{
	struct end *e = arg;
	assert_ptr_equal(e->conn, c);
	e->conn = NULL;
	e->closed++;
	snprintf(e->why, sizeof(e->why), "%s", why);
	loop_stop(e->world->loop);
}

const struct conn_handler end_handler = { on_ready, on_request, on_closed };

static void on_accept(void *arg, struct stream *s)
{
	struct world *w = arg;
	struct end *e = &w->peers[w->peer_count];
	if (w->peer_count++ == PEERS_MAX)
		fail_msg("too many connections");
	e->world = w;
	e->conn = conn_accept(s, &w->server, &end_handler, e);
	loop_stop(w->loop);
}

struct conn_options world_options(struct world *w)
{
	return (struct conn_options) {
		.loop = w->loop, .auth = w->auth, .program = "test", .cluster = "c1"
	};
}

static void too_long(void *arg)
{
	(void)arg;
	fail_msg("nothing happened for 20 s");
}

int world_setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error err = {};
	if (!getenv("WIRE_TEST_LOG"))
		log_start("test", LOG_QUIET);
	else
		log_start("test", LOG_DEBUG);
	snprintf(w->dir, sizeof(w->dir), "/tmp/test-wire.XXXXXX");
	if (!mkdtemp(w->dir))
		return -1;
	snprintf(w->key, sizeof(w->key), "%s/key", w->dir);
	snprintf(w->path, sizeof(w->path), "%s/sock", w->dir);
	w->loop = loop_new();
	w->watchdog = timer_new(w->loop, too_long, w);
	struct auth_options ao = { .type = "auth/slurm", .key_path = w->key, .cluster = "c1" };
	if (auth_make_key(w->key, &err) < 0 || auth_new(&ao, &w->auth, &err) < 0 ||
	    listener_tcp(w->loop, "127.0.0.1", 0, on_accept, w, &w->tcp, &err) < 0 ||
	    listener_unix(w->loop, w->path, 0600, on_accept, w, &w->local, &err) < 0) {
		print_error("%s\n", err.text);
		return -1;
	}
	w->port = listener_port(w->tcp);
	w->server = world_options(w);
	*state = w;
	return 0;
}

int world_teardown(void **state)
{
	struct world *w = *state;
	for (int i = 0; i < w->held_count; i++)
		if (w->held[i])
			request_reply(w->held[i], NULL);
	for (int i = 0; i < w->peer_count; i++)
		conn_close(w->peers[i].conn);
	listener_free(w->tcp);
	listener_free(w->local);
	timer_free(w->watchdog);
	loop_free(w->loop);
	auth_free(w->auth);
	unlink(w->key);
	rmdir(w->dir);
	free(w);
	return 0;
}

void world_wait(struct world *w, const int *flag, int least)
{
	timer_start(w->watchdog, 20 * USEC_PER_SEC, 0);
	while (*flag < least)
		loop_run(w->loop);
	timer_stop(w->watchdog);
}

struct turns {
	struct loop *loop;
	int left;
};

static void one_turn(void *arg)
{
	struct turns *t = arg;
	t->left--;
	loop_stop(t->loop);
}

void world_turns(struct world *w, int turns)
{
	struct turns t = { w->loop, turns };
	struct timer *timer = timer_new(w->loop, one_turn, &t);
	timer_start(timer, 0, USEC_PER_MSEC);
	while (t.left > 0)
		loop_run(w->loop);
	timer_free(timer);
}

/* ---- clients ------------------------------------------------------------------------------------ */

void end_connect(struct end *e, struct world *w)
{
	struct conn_options o = world_options(w);
	*e = (struct end) { .world = w };
	e->conn = conn_connect_tcp("127.0.0.1", w->port, &o, &end_handler, e);
}

void outcome_take(void *arg, const void *reply, const struct error *err)
{
	struct outcome *o = arg;
	o->count++;
	o->ok = reply;
	assert_true(!reply == !!err);
	if (err)
		o->err = *err;
	if (o->close) {
		conn_close(o->close->conn);
		o->close->conn = NULL;
	}
	loop_stop(o->world->loop);
}

void end_ping(struct end *e, struct outcome *o)
{
	*o = (struct outcome) { .world = e->world, .close = o->close };
	conn_call(e->conn, MSG_PING, &(struct empty) {}, 0, outcome_take, o);
}

void end_hold(struct end *e, struct outcome *o, usec_t timeout)
{
	*o = (struct outcome) { .world = e->world, .close = o->close };
	conn_call(e->conn, MSG_JOB_QUERY, &(struct job_query) {}, timeout, outcome_take, o);
}

/* ---- raw bytes ---------------------------------------------------------------------------------- */

static void raw_opened(void *arg)
{
	(void)arg;
}

static void raw_data(void *arg, const uint8_t *data, size_t len)
{
	struct raw *r = arg;
	buf_put(&r->in, data, len);
	r->heard = 0;
	for (size_t at = 0; at + FRAME_HEADER <= r->in.len; r->heard++) {
		struct frame f;
		assert_int_equal(frame_header_get(r->in.data + at, FRAME_BODY_MAX, &f, NULL), 0);
		at += FRAME_HEADER + f.len;
		if (at > r->in.len)
			break;
	}
	loop_stop(r->world->loop);
}

static void raw_closed(void *arg, int status)
{
	struct raw *r = arg;
	(void)status;
	r->stream = NULL;
	r->closed++;
	loop_stop(r->world->loop);
}

static const struct stream_handler raw_handler = { raw_opened, raw_data, NULL, raw_closed };

void raw_connect(struct raw *r, struct world *w)
{
	*r = (struct raw) { .world = w };
	r->stream = stream_connect_tcp(w->loop, "127.0.0.1", w->port, &raw_handler, r);
}

void raw_put(struct raw *r, uint16_t kind, uint64_t id, uint8_t flags, const struct record *d,
	     const void *obj)
{
	AUTO_BUF struct buf out = {};
	struct frame f = { .flags = flags, .kind = kind, .id = id };
	assert_int_equal(frame_put(&out, &f, d, obj, NULL), 0);
	stream_write(r->stream, out.data, out.len);
}

void raw_hello(struct raw *r, struct auth *auth, const char *cluster, usec_t now)
{
	AUTO_BUF struct buf token = {};
	struct identity who = { geteuid(), getegid() };
	assert_int_equal(auth_sign(auth, &who, now, &token, NULL), 0);
	struct hello hello = { .version = 1,
			       .program = "raw",
			       .cluster = (char *)cluster,
			       .token = { token.data, token.len } };
	raw_put(r, MSG_HELLO, 0, 0, &hello_record, &hello);
}

void raw_close(struct raw *r)
{
	stream_close(r->stream);
	buf_done(&r->in);
}

struct frame raw_frame(const struct raw *r, int n, const uint8_t **ret_body)
{
	struct frame f = {};
	size_t at = 0;
	assert_true(n < r->heard);
	for (int i = 0; i <= n; i++) {
		if (i > 0)
			at += FRAME_HEADER + f.len;
		assert_int_equal(frame_header_get(r->in.data + at, FRAME_BODY_MAX, &f, NULL), 0);
	}
	*ret_body = r->in.data + at + FRAME_HEADER;
	return f;
}
