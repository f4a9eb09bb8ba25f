/* SPDX-License-Identifier: Apache-2.0 */
/* handshake.c - hello and welcome: how both sides learn who the other is.
 *
 *	connecting side                        accepting side
 *	hello {token, cluster, challenge}  ->  verify the token
 *	verify the answer                  <-  welcome {uid, token that repeats the challenge}
 *	                                       or failure, and the end
 *
 * On a local socket the kernel names the user and no token is needed.  A challenge is sent by sides
 * that can check the answer, those with `auth`.
 *
 * Making and checking credentials is a `struct check`: with munge it goes through the pool, and the
 * connection may be gone before it comes back; with auth/slurm it is done at once. */
#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "host/loop.h"
#include "host/stream.h"
#include "schema/errors.h"
#include "schema/messages.h"
#include "wire/auth_impl.h"
#include "wire/conn_impl.h"

#include <unistd.h>

struct check {
	struct conn *conn; /* NULL once that is gone */
	struct auth *auth; /* held */
	struct buf given;  /* token to be verified; empty: nothing is */
	uint64_t given_challenge;
	bool sign; /* make one too */
	uint64_t sign_challenge;
	usec_t now;
	void (*done)(struct conn *c, const struct check *k);

	struct buf made;
	struct identity who;
	struct error err;
};

/* ---- checking ----------------------------------------------------------------------------------- */

static void check_run(void *arg)
{
	struct check *k = arg;
	struct identity self = { geteuid(), getegid() };
	if (k->given.len > 0) {
		int r = k->given_challenge
				? auth_verify_answer(k->auth, k->given.data, k->given.len,
						     k->given_challenge, k->now, &k->who, &k->err)
				: auth_verify(k->auth, k->given.data, k->given.len, k->now, &k->who,
					      &k->err);
		if (r < 0)
			return;
	}
	if (k->sign && k->sign_challenge)
		(void)!auth_sign_answer(k->auth, &self, k->sign_challenge, k->now, &k->made,
					&k->err);
	else if (k->sign)
		(void)!auth_sign(k->auth, &self, k->now, &k->made, &k->err);
}

static void check_free(struct check *k)
{
	buf_done(&k->given);
	buf_done(&k->made);
	auth_free(k->auth);
	free(k);
}

static void check_done(void *arg)
{
	struct check *k = arg;
	struct conn *c = k->conn;
	if (c) {
		c->check = NULL;
		conn_enter(c);
		k->done(c, k);
		conn_go_on(c);
		conn_leave(c);
	}
	check_free(k);
}

/* Runs it and calls `done`, now or later. */
static void check_start(struct conn *c, struct check *k)
{
	k->conn = c;
	k->auth = auth_hold(c->o.auth);
	k->now = loop_now(c->o.loop);
	if (auth_may_block(k->auth)) {
		c->check = k;
		stream_pause(c->stream);
		loop_work(c->o.loop, check_run, check_done, k);
		return;
	}
	check_run(k);
	k->done(c, k);
	check_free(k);
}

void handshake_drop(struct conn *c)
{
	if (c->check)
		c->check->conn = NULL;
	c->check = NULL;
}

/* ---- the connecting side ------------------------------------------------------------------------ */

static void send_frame(struct conn *c, const struct frame *f, const struct record *r,
		       const void *obj)
{
	AUTO_BUF struct buf out = {};
	(void)!frame_put(&out, f, r, obj, NULL); /* bounded: a token is at most 64 KiB */
	stream_write(c->stream, out.data, out.len);
}

static void send_hello(struct conn *c, struct bytes token)
{
	struct hello hello = {
		.version = WIRE_VERSION,
		.program = (char *)c->o.program,
		.token = token,
		.cluster = (char *)c->o.cluster,
		.challenge = c->challenge,
	};
	send_frame(c, &(struct frame) { .kind = MSG_HELLO }, &hello_record, &hello);
	c->state = CONN_EXPECT_WELCOME;
}

static void hello_signed(struct conn *c, const struct check *k)
{
	if (k->err.code)
		conn_end(c, k->err.code, "%s", k->err.text);
	else
		send_hello(c, (struct bytes) { k->made.data, k->made.len });
}

void handshake_start(struct conn *c)
{
	if (c->local || !c->o.auth) {
		send_hello(c, (struct bytes) {});
		return;
	}
	while (c->challenge == 0)
		loop_random(c->o.loop, &c->challenge, sizeof(c->challenge));
	struct check *k = NEW(struct check);
	k->sign = true;
	k->done = hello_signed;
	check_start(c, k);
}

static void welcome_checked(struct conn *c, const struct check *k)
{
	if (k->err.code) {
		conn_end(c, k->err.code, "the other side could not prove who it is: %s",
			 k->err.text);
		return;
	}
	c->peer = k->who;
	conn_open_up(c);
}

static void take_welcome(struct conn *c, const struct frame *f, const uint8_t *body)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct welcome welcome = {};
	struct error err = {};
	if (!(f->flags & FRAME_REPLY) || f->id != 0) {
		conn_end(c, -E_PROTOCOL, "message %u came before the welcome", f->kind);
		return;
	}
	if (f->flags & FRAME_FAILURE) {
		frame_get_failure(body, f->len, &c->refusal);
		conn_end(c, c->refusal.code, "refused: %s", c->refusal.text);
		return;
	}
	if (record_decode(&welcome_record, &welcome, body, f->len, a, &err) < 0) {
		conn_end(c, -E_PROTOCOL, "a welcome that cannot be read: %s", err.text);
		return;
	}
	if (!c->challenge) {
		conn_open_up(c);
		return;
	}
	if (welcome.token.len == 0) {
		conn_end(c, -E_AUTH, "the other side did not prove who it is");
		return;
	}
	struct check *k = NEW(struct check);
	buf_put(&k->given, welcome.token.data, welcome.token.len);
	k->given_challenge = c->challenge;
	k->done = welcome_checked;
	c->state = CONN_CHECKING;
	check_start(c, k);
}

/* ---- the accepting side ------------------------------------------------------------------------- */

/* Says why and ends; the stream sees to it that the words arrive. */
static void refuse(struct conn *c, const struct frame *f, const struct error *why)
{
	AUTO_BUF struct buf out = {};
	frame_put_failure(&out, f->kind, f->id, why);
	stream_write(c->stream, out.data, out.len);
	stream_finish(TAKE_PTR(c->stream));
	conn_end(c, why->code, "refused: %s", why->text);
}

static void let_in(struct conn *c, struct bytes token)
{
	struct welcome welcome = { .version = WIRE_VERSION, .uid = c->peer.uid, .token = token };
	send_frame(c, &(struct frame) { .flags = FRAME_REPLY, .kind = MSG_HELLO }, &welcome_record,
		   &welcome);
	conn_open_up(c);
}

static void hello_checked(struct conn *c, const struct check *k)
{
	if (k->err.code) {
		refuse(c, &(struct frame) { .kind = MSG_HELLO }, &k->err);
		return;
	}
	if (k->given.len > 0)
		c->peer = k->who;
	let_in(c, (struct bytes) { k->made.data, k->made.len });
}

/* The program's name is the peer's word and goes into logs: printable and short, or not at all. */
static void name_peer(struct conn *c, const char *program)
{
	if (str_empty(program))
		return;
	for (const char *p = program; *p; p++)
		if (*p <= ' ' || *p > '~')
			return;
	snprintf(c->name, sizeof(c->name), "%s (%.64s)", c->addr, program);
}

/* Is there anything to say against it, before the credential is looked at? */
static int judge_hello(const struct conn *c, const struct hello *hello, struct error *err)
{
	if (!str_empty(hello->cluster) && !str_empty(c->o.cluster) &&
	    !str_eq(hello->cluster, c->o.cluster))
		return wire_error(err, -E_AUTH, "this is cluster '%s', not '%s'", c->o.cluster,
				  hello->cluster);
	if (!c->local && !c->o.auth)
		return wire_error(err, -E_AUTH, "only local connections are taken here");
	if (!c->local && hello->token.len == 0)
		return wire_error(err, -E_AUTH, "a credential is needed and none was sent");
	return 0;
}

static void take_hello(struct conn *c, const struct frame *f, const uint8_t *body)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct hello hello = {};
	struct error err = {}, why = {};
	if (f->kind != MSG_HELLO || f->flags & FRAME_REPLY) {
		wire_error(&err, -E_PROTOCOL, "message %u came before the hello", f->kind);
		refuse(c, f, &err);
		return;
	}
	if (record_decode(&hello_record, &hello, body, f->len, a, &why) < 0)
		wire_error(&err, -E_PROTOCOL, "a hello that cannot be read: %s", why.text);
	else
		(void)!judge_hello(c, &hello, &err);
	if (err.code) {
		refuse(c, &(struct frame) { .kind = MSG_HELLO }, &err);
		return;
	}
	name_peer(c, hello.program);
	if (!c->o.auth || (c->local && !hello.challenge)) {
		let_in(c, (struct bytes) {});
		return;
	}
	struct check *k = NEW(struct check);
	if (!c->local) /* there the kernel's word is enough */
		buf_put(&k->given, hello.token.data, hello.token.len);
	k->sign = hello.challenge != 0;
	k->sign_challenge = hello.challenge;
	k->done = hello_checked;
	c->state = CONN_CHECKING;
	check_start(c, k);
}

void handshake_frame(struct conn *c, const struct frame *f, const uint8_t *body)
{
	if (c->state == CONN_EXPECT_HELLO)
		take_hello(c, f, body);
	else if (c->state == CONN_EXPECT_WELCOME)
		take_welcome(c, f, body);
	else
		conn_end(c, -E_PROTOCOL, "message %u came before our hello", f->kind);
}
