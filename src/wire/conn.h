/* SPDX-License-Identifier: Apache-2.0 */
/* conn.h - messages over a stream, event-driven, both ways at once.
 *
 * A connection opens with hello and welcome; nothing else is read before the other side is known.
 * Afterwards either side may ask, answers come in any order, and every queue has a bound: a peer
 * that sends rubbish, too much or nothing at all loses its connection and nothing more.
 *
 * The side that connects challenges the other one when it has `auth`: both then know who the other
 * is (conn_peer), so that a node daemon takes orders from its controller and from nobody else.
 *
 * Incoming requests are decoded into an arena of their own.  Whoever handles one answers it once
 * with request_reply, request_reply_encoded or request_fail, at once or later; that frees it.  When
 * the connection is gone meanwhile the answer goes nowhere, which request_is_dead can tell. */
#pragma once
#include "base/cleanup.h"
#include "base/time.h"
#include "wire/auth.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct auth;
struct buf;
struct conn;
struct error;
struct loop;
struct stream;

struct request {
	struct conn *conn; /* NULL once the connection is gone */
	uint16_t kind;     /* enum message_kind */
	uint64_t id;
	struct identity from;
	bool local;          /* came over a local socket */
	struct arena *arena; /* what the body and the handler's own scratch live in */
	void *body;          /* struct of message_descs[kind].request */
	bool oneway;
	size_t size;                  /* of the body as it came */
	struct request *next, **prev; /* list of the connection's open requests */
};

struct conn_handler {
	/* The other side is known; requests may be sent.  May be NULL. */
	void (*ready)(void *arg, struct conn *c);
	void (*request)(void *arg, struct request *r); /* NULL: all are refused */
	/* Exactly once, after which `c` is gone.  `why` is text for the log. */
	void (*closed)(void *arg, struct conn *c, const char *why);
};

struct conn_options {
	struct loop *loop;
	struct auth *auth;   /* verifies hello, and signs ours; NULL on local sockets */
	const char *program; /* for the hello */
	const char *cluster;
	usec_t hello_timeout; /* 0: 10 s */
	usec_t idle_timeout;  /* close when nothing arrives for so long; 0: never */
	size_t body_max;      /* 0: FRAME_BODY_MAX */
	size_t queue_max;     /* bytes waiting to be sent before the peer is dropped; 0: 64 MiB */
	bool skip_hello;      /* both ends are ours by construction (inherited socket) */
};

/* Takes over the stream.  The options are copied; what they point to must outlive the connection. */
struct conn *conn_accept(struct stream *s, const struct conn_options *o,
			 const struct conn_handler *h, void *arg);
struct conn *conn_connect_tcp(const char *host, uint16_t port, const struct conn_options *o,
			      const struct conn_handler *h, void *arg);
struct conn *conn_connect_unix(const char *path, const struct conn_options *o,
			       const struct conn_handler *h, void *arg);
/* A socket that both ends got from one process: there is no hello, as with skip_hello. */
struct conn *conn_adopt(int fd, const struct conn_options *o, const struct conn_handler *h,
			void *arg);
void conn_close(struct conn *c);  /* silent; pending calls are dropped; NULL is fine */
void conn_finish(struct conn *c); /* close once everything queued has been sent */

/* The answer to a call: `reply` is the decoded record, valid during the callback, or NULL with the
 * error.  Called exactly once, also with an error when the connection ends first, but never from
 * inside conn_call.  `timeout` 0 waits as long as the connection lasts. */
typedef void (*reply_fn)(void *arg, const void *reply, const struct error *err);
void conn_call(struct conn *c, uint16_t kind, const void *body, usec_t timeout, reply_fn fn,
	       void *arg);
void conn_send(struct conn *c, uint16_t kind, const void *body); /* wants no answer */
size_t conn_queued(const struct conn *c);
void conn_pause(struct conn *c); /* stop reading from the peer */
void conn_resume(struct conn *c);
/* Who the other side is; uid and gid (uid_t)-1 where it has not proved that: we connected without
 * `auth`, or over TCP with skip_hello. */
const struct identity *conn_peer(const struct conn *c);
const char *conn_peer_name(const struct conn *c); /* address and program, for logs */
/* For `closed`: did it end because of what the other side said?  Then it belongs into the log. */
bool conn_was_refused(const struct conn *c);

void request_reply(struct request *r, const void *reply);
void request_reply_encoded(struct request *r, const struct buf *body);
void request_fail(struct request *r, const struct error *err);
static inline bool request_is_dead(const struct request *r)
{
	return !r->conn;
}
