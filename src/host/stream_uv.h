/* SPDX-License-Identifier: Apache-2.0 */
/* stream_uv.h - the inside of a stream, shared by stream_uv.c, connect_uv.c and listener_uv.c. */
#pragma once
#include "base/buf.h"
#include "host/loop_uv.h"
#include "host/stream.h"

#include <netinet/in.h>
#include <sys/socket.h>

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

enum stream_state {
	STREAM_CONNECTING, /* resolving, or waiting for the other side */
	STREAM_OPEN,
	STREAM_FINISHING, /* nobody listens any more; the output still has to leave */
	STREAM_LINGERING, /* output has left; wait for the peer's end so that it can read it all */
	STREAM_GONE,      /* closed; the memory goes at the end of the turn */
};

struct connecting; /* connect_uv.c */

/* Apart from the stream because libuv lets go of it late, when another may have taken its place. */
union stream_handle {
	uv_handle_t any;
	uv_poll_t poll;
	uv_idle_t idle;
};

struct stream {
	struct loop *loop;
	const struct stream_handler *handler; /* NULL: not taken yet, or finishing */
	void *arg;
	enum stream_state state;
	int fd;            /* -1 while a name is resolved */
	int restore_flags; /* of an adopted descriptor that others may share; -1: nothing to do */
	bool is_socket, is_local, may_read, may_write;
	bool paused;
	bool blocked;                /* the kernel takes no more output for now */
	bool announce;               /* `opened` is due at the end of the turn */
	int status;                  /* negative: `closed` is due at the end of the turn */
	bool finish;                 /* asked to finish while still connecting */
	bool is_idle;                /* a file that cannot be polled is read turn by turn */
	int watching;                /* UV_READABLE | ... in force */
	union stream_handle *handle; /* NULL without a descriptor; its `data` is the stream */
	struct buf out;
	size_t out_sent;     /* of `out`, bytes that have left */
	bool moved;          /* output has left since the timer looked */
	struct timer *timer; /* patience while finishing */
	struct connecting *connecting;
	union address peer; /* sa_family 0: unknown */
	char *path;         /* of a local socket, when it has one */
	bool is_dirty;
	struct stream *next, **link;             /* in loop->streams */
	struct stream *dirty_next, **dirty_link; /* in loop->dirty while is_dirty */
};

struct stream *stream_new(struct loop *l, const struct stream_handler *h, void *arg);
/* Gives the stream its descriptor, which it owns from now on.  0 or negative errno. */
NODISCARD int stream_attach(struct stream *s, int fd);
void stream_detach(struct stream *s);           /* closes it again: another address is tried next */
void stream_set_watch(struct stream *s);        /* asks the kernel for what the state needs */
void stream_mark_dirty(struct stream *s);       /* look at it at the end of the turn */
void stream_fail(struct stream *s, int status); /* `closed` at the end of the turn */

void connect_ready(struct stream *s);    /* the descriptor of a connecting stream moved */
void connect_drop(struct stream *s);     /* forget about connecting */
void socket_options(int fd, int family); /* what every TCP connection here wants */
