/* SPDX-License-Identifier: Apache-2.0 */
/* world.h - a loop, a key, a listening server and whatever a test puts beside them. */
#pragma once
#include "base/buf.h"
#include "base/error.h"
#include "host/loop.h"
#include "host/stream.h"
#include "wire/auth.h"
#include "wire/conn.h"
#include "wire/frame.h"

#include <stdbool.h>

enum { PEERS_MAX = 64, HELD_MAX = 256 };

struct world;

/* One end of a connection, as its owner sees it. */
struct end {
	struct world *world;
	struct conn *conn; /* NULL once closed */
	int ready, closed; /* how often it was told */
	int requests;
	char why[256];
	bool close_in_ready, close_in_request;
	uint32_t seen[HELD_MAX]; /* signal numbers of the io_signal messages that came, in order */
	int seen_count;
	int pause_at; /* pause when so many have come; 0: never */
};

/* What a call brought. */
struct outcome {
	struct world *world;
	struct end *close; /* close this end inside the callback */
	int count;
	bool ok;
	struct error err;
};

struct world {
	char dir[64], key[96], path[96];
	struct loop *loop;
	struct timer *watchdog;
	struct auth *auth;
	struct listener *tcp, *local;
	uint16_t port;
	struct conn_options server;  /* of connections accepted from now on */
	struct end peers[PEERS_MAX]; /* accepted, in order */
	int peer_count;
	struct request
		*held[HELD_MAX]; /* job_query is held, ping is answered, others are refused */
	int held_count;
};

int world_setup(void **state);
int world_teardown(void **state);
/* Runs the loop until `*flag` is at least `least`; fails the test after 20 s. */
void world_wait(struct world *w, const int *flag, int least);
/* Lets the loop turn a few times, for what must not happen. */
void world_turns(struct world *w, int turns);

struct conn_options world_options(struct world *w);
extern const struct conn_handler end_handler;
void end_connect(struct end *e, struct world *w); /* over TCP with credentials */
void outcome_take(void *arg, const void *reply, const struct error *err); /* a reply_fn */
void end_ping(struct end *e, struct outcome *o);
void end_hold(struct end *e, struct outcome *o, usec_t timeout);

/* A client that sends bytes of the test's choice and keeps what it gets. */
struct raw {
	struct world *world;
	struct stream *stream;
	struct buf in;
	int closed, heard; /* heard: whole frames */
};
void raw_connect(struct raw *r, struct world *w);
void raw_put(struct raw *r, uint16_t kind, uint64_t id, uint8_t flags, const struct record *d,
	     const void *obj);
void raw_hello(struct raw *r, struct auth *auth, const char *cluster, usec_t now);
void raw_close(struct raw *r);
/* The n-th frame that came; its body too. */
struct frame raw_frame(const struct raw *r, int n, const uint8_t **ret_body);
