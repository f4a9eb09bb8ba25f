/* SPDX-License-Identifier: Apache-2.0 */
/* The story of one sbatch: connect to the controller, ask the local daemon for a credential (one
 * round trip on a local socket), then send hello and request with one write and read welcome and
 * answer, usually with one read.  Waiting for the welcome first would cost a round trip more.
 *
 * The controller is connected to before the credential is fetched: where the controller is down the
 * daemon that vouches is often down too, and what the user must read is that the controller is.
 *
 * After an error that leaves the stream in the middle of something the session is broken and every
 * further call fails; a call that timed out while waiting is not such an error, its late answer is
 * recognised by its id and dropped. */
#include "wire/session.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "schema/errors.h"
#include "schema/messages.h"
#include "wire/auth_impl.h"
#include "wire/channel.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const usec_t TIMEOUT = 10 * USEC_PER_SEC;
static const usec_t AUTH_PATIENCE = 2 *
				    USEC_PER_SEC; /* another daemon takes over within a second */

struct session {
	struct channel channel;
	usec_t timeout;
	struct buf out; /* what the next call must send first: the hello */
	uint64_t last_id;
	bool broken;
	char where[320]; /* host and port, for errors */
};

static int timed_out(struct error *err, const char *where)
{
	return wire_error(err, -E_SOCKET_TIMEOUT, "no answer from %s in time", where);
}

/* A failed read or write on the way to `where`, in the words that users know. */
static int lost(struct error *err, int r, const struct error *detail, const char *where)
{
	if (r == -ETIMEDOUT)
		return timed_out(err, where);
	if (r == -EBADMSG || r == -EMSGSIZE)
		return wire_error(err, -E_PROTOCOL, "%s: %s", where, detail->text);
	return wire_error(err, -E_CONTROLLER_CONNECT,
			  "%s closed the connection without an answer (%s)", where,
			  strerrordesc_np(-r));
}

/* The address within "name(address)", or the whole. */
static void host_address(const char *text, char *ret, size_t size)
{
	const char *open = strchr(text, '(');
	const char *from = open ? open + 1 : text;
	snprintf(ret, size, "%.*s", (int)strcspn(from, ")"), from);
}

static int connect_any(struct session *s, const struct session_options *o, struct error *err)
{
	AUTO_BUF struct buf tried = {};
	usec_t end = channel_clock() + s->timeout;
	for (uint32_t i = 0; i < o->host_count; i++) {
		char host[256];
		struct error why = {};
		host_address(o->hosts[i], host, sizeof(host));
		usec_t now = channel_clock();
		s->channel.deadline = now + (end - now) / (o->host_count -
							   i); /* a share of what is left */
		snprintf(s->where, sizeof(s->where), "%s:%u", host, o->port);
		if (channel_connect_tcp(&s->channel, host, o->port, &why) == 0)
			return 0;
		buf_printf(&tried, "%s%s (port %u)", i ? "; " : "", why.text, o->port);
	}
	return wire_error(err, -E_CONTROLLER_CONNECT, "%s",
			  o->host_count ? buf_text(&tried) : "no controller is configured");
}

/* A daemon that ends while it is asked leaves the socket to another one: ask that. */
static bool went_away(int code, usec_t end)
{
	return (code == -ECONNRESET || code == -EPIPE) && channel_clock() < end;
}

/* One question on the daemon's local socket; the kernel tells it who asks. */
static int ask_token(struct channel *c, const struct session_options *o, struct arena *a,
		     struct token_reply *ret, struct error *err)
{
	AUTO_BUF struct buf ask = {};
	struct token_request body = { .cluster = (char *)o->cluster };
	struct frame f = { .kind = MSG_TOKEN, .id = 1 };
	const uint8_t *answer;
	struct error why = {};
	int r = frame_put(&ask, &f, &token_request_record, &body, err);
	if (r < 0)
		return r;
	usec_t end = channel_clock() + AUTH_PATIENCE;
	do {
		channel_close(c);
		why = (struct error){};
		r = channel_connect_unix(c, o->auth_socket, AUTH_PATIENCE);
		if (r < 0 && r != -ETIMEDOUT)
			return wire_error(err, -E_AUTH,
					  "no daemon gives out credentials at '%s': %s; start "
					  "slurmctld or slurmd on this host",
					  o->auth_socket, strerrordesc_np(-r));
		if (r == 0)
			r = channel_write(c, ask.data, ask.len);
		if (r == 0)
			r = channel_read_frame(c, &f, &answer, &why);
	} while (went_away(r, end));
	if (r == -ETIMEDOUT)
		return timed_out(err, o->auth_socket);
	if (r < 0)
		return wire_error(err, -E_AUTH, "the daemon at '%s' gave no credential: %s",
				  o->auth_socket, why.code ? why.text : strerrordesc_np(-r));
	if (f.flags & FRAME_FAILURE)
		return frame_get_failure(answer, f.len, err);
	if (record_decode(&token_reply_record, ret, answer, f.len, a, &why) < 0)
		return wire_error(err, -E_AUTH, "the credential from '%s': %s", o->auth_socket,
				  why.text);
	return 0;
}

static int get_token(const struct session_options *o, usec_t deadline, struct buf *ret,
		     struct error *err)
{
	if (str_eq(o->auth_type, "auth/munge"))
		return munge_token(o->auth_socket, o->cluster, ret, err);
	if (!str_eq(o->auth_type, "auth/slurm") || str_empty(o->auth_socket))
		return wire_error(err, -E_AUTH,
				  "AuthType '%s' with socket '%s' is not usable, set "
				  "AuthType=auth/slurm or auth/munge and AuthInfo=socket=PATH",
				  o->auth_type ? o->auth_type : "",
				  o->auth_socket ? o->auth_socket : "");
	AUTO_ARENA struct arena *a = arena_new();
	struct channel c = { .fd = -1, .deadline = deadline };
	struct token_reply reply = {};
	int r = ask_token(&c, o, a, &reply, err);
	if (r == 0)
		buf_put(ret, reply.token.data, reply.token.len);
	channel_close(&c);
	return r;
}

static int prepare_hello(struct session *s, const struct session_options *o, struct error *err)
{
	AUTO_BUF struct buf token = {};
	int r = get_token(o, s->channel.deadline, &token, err);
	if (r < 0)
		return r;
	struct hello hello = {
		.version = WIRE_VERSION,
		.program = (char *)o->program,
		.token = { token.data, token.len },
		.cluster = (char *)o->cluster,
	};
	return frame_put(&s->out, &(struct frame) { .kind = MSG_HELLO }, &hello_record, &hello,
			 err);
}

int session_open(const struct session_options *o, struct session **ret, struct error *err)
{
	struct session *s = NEW(struct session);
	s->channel.fd = -1;
	s->timeout = o->timeout ? o->timeout : TIMEOUT;
	usec_t start = channel_clock();
	int r = connect_any(s, o, err);
	if (r == 0) {
		s->channel.deadline = start + s->timeout;
		r = prepare_hello(s, o, err);
	}
	if (r < 0) {
		session_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void session_close(struct session *s)
{
	if (!s)
		return;
	channel_close(&s->channel);
	buf_done(&s->out);
	free(s);
}

int session_fd(const struct session *s)
{
	return s->channel.fd;
}

/* Reads until the answer to `id` is there.  Id 0 answers our hello: only a refusal matters, and it
 * ends the session.  Anything else on the way is an answer that came too late. */
static int wait_answer(struct session *s, uint64_t id, struct frame *ret, const uint8_t **ret_body,
		       struct error *err)
{
	for (;;) {
		struct error why = {};
		int r = channel_read_frame(&s->channel, ret, ret_body, &why);
		if (r < 0) {
			s->broken = r != -ETIMEDOUT;
			return lost(err, r, &why, s->where);
		}
		if (!(ret->flags & FRAME_REPLY))
			continue;
		if (ret->id == id)
			return 0;
		if (ret->id == 0 && ret->flags & FRAME_FAILURE) {
			s->broken = true;
			return frame_get_failure(*ret_body, ret->len, err);
		}
	}
}

static int send_request(struct session *s, uint16_t kind, const void *body, struct error *err)
{
	struct frame f = { .kind = kind, .id = s->last_id + 1 };
	int r = frame_put(&s->out, &f, message_descs[kind].request, body, err);
	if (r < 0)
		return r;
	s->last_id++;
	r = channel_write(&s->channel, s->out.data, s->out.len);
	buf_clear(&s->out);
	if (r == -EPIPE || r == -ECONNRESET)
		return 0; /* closed, but its reason may be waiting to be read */
	if (r < 0)
		s->broken = true;
	return r < 0 ? lost(err, r, NULL, s->where) : 0;
}

static int is_usable(const struct session *s, struct error *err)
{
	return s->broken ? wire_error(err, -E_CONTROLLER_CONNECT, "the connection to %s is gone", s->where) : 0;
}

static void set_deadline(struct session *s, usec_t timeout)
{
	usec_t span = timeout ? timeout : s->timeout;
	s->channel.deadline = span < 0 ? USEC_FOREVER : channel_clock() + span;
}

int session_send(struct session *s, uint16_t kind, const void *body, struct error *err)
{
	assert(kind < MSG_COUNT && message_descs[kind].reply);
	int r = is_usable(s, err);
	if (r < 0)
		return r;
	set_deadline(s, 0);
	return send_request(s, kind, body, err);
}

int session_receive(struct session *s, uint16_t kind, struct arena *a, void *reply, usec_t timeout,
		    struct error *err)
{
	const struct record *expected = message_descs[kind].reply;
	memset(reply, 0, expected->size);
	int r = is_usable(s, err);
	if (r < 0)
		return r;
	set_deadline(s, timeout);
	struct frame f;
	const uint8_t *answer;
	r = wait_answer(s, s->last_id, &f, &answer, err);
	if (r < 0)
		return r;
	if (f.flags & FRAME_FAILURE)
		return frame_get_failure(answer, f.len, err);
	struct error why = {};
	r = record_decode(expected, reply, answer, f.len, a, &why);
	return r < 0 ? wire_error(err, -E_PROTOCOL, "%s's answer to %s: %s", s->where,
				  message_descs[kind].name, why.text)
		     : 0;
}

int session_call(struct session *s, uint16_t kind, const void *body, struct arena *a, void *reply,
		 usec_t timeout, struct error *err)
{
	int r = session_send(s, kind, body, err);
	return r < 0 ? r : session_receive(s, kind, a, reply, timeout, err);
}
