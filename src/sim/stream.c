/* SPDX-License-Identifier: Apache-2.0 */
/* host/stream.h between simulated processes.
 *
 * A stream has a peer; what is written arrives there after a while, in order, in one or two pieces.
 * Faults break connections: everything under way is lost, and the two ends notice at different times.
 * Local sockets never break by themselves. */
#include "host/stream.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "host/process.h"
#include "sim/world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct stream {
	uint64_t key, peer; /* peer 0: not connected, or the other end is gone */
	struct loop *loop;
	const struct stream_handler *handler;
	void *arg;
	bool local, paused, over; /* over: `closed` is on its way */
	usec_t last_arrival;      /* of what was written so far: order is kept */
	struct buf inbox;         /* arrived while paused */
	bool end_in_inbox;
	char addr[64];
};

struct listener {
	uint64_t key;
	struct loop *loop;
	accept_fn accepted;
	void *arg;
	uint16_t port;
	char *path; /* local */
};

struct packet {
	uint64_t to;
	struct buf data;
};

static struct stream *stream_new(struct loop *l, bool local)
{
	struct stream *s = NEW(struct stream);
	s->key = world_key(the_world);
	s->loop = l;
	s->local = local;
	snprintf(s->addr, sizeof(s->addr), "%s", l && l->machine ? l->machine->name : "?");
	map_put(&the_world->streams, s->key, s);
	return s;
}

static void stream_drop(struct stream *s)
{
	map_remove(&the_world->streams, s->key);
	buf_done(&s->inbox);
	free(s);
}

/* ---- ends -------------------------------------------------------------------------------------- */

struct ending {
	struct stream *s;
	int status;
};

static void call_closed(void *arg)
{
	struct ending *e = arg;
	const struct stream_handler *h = e->s->handler;
	void *harg = e->s->arg;
	stream_drop(e->s);
	if (h)
		h->closed(harg, e->status);
}

static void end_due(void *arg, uint64_t key)
{
	struct stream *s = map_get(&the_world->streams, key);
	if (!s || !s->loop->alive)
		return;
	if (s->paused && s->inbox.len) {
		s->end_in_inbox = true;
		return;
	}
	struct ending e = { s, (int)(intptr_t)arg };
	loop_turn(s->loop, call_closed, &e);
}

static void end_later(struct stream *s, usec_t delay, int status)
{
	if (s->over)
		return;
	s->over = true;
	s->peer = 0;
	world_at(the_world, delay, end_due, (void *)(intptr_t)status, s->key);
}

static usec_t latency(const struct stream *s)
{
	struct world *w = the_world;
	if (s->local)
		return 1 + (usec_t)world_draw(w, 20);
	usec_t t = 20 + (usec_t)world_draw(w, (uint64_t)w->faults.latency);
	return world_chance(w, w->faults.slow) ? t + (usec_t)world_draw(w, 3000000) : t;
}

/* The other end notices: soon when we closed, or only after a time-out when the network is gone. */
static void tell_peer(struct stream *s, int status, bool silently)
{
	struct stream *peer = s->peer ? map_get(&the_world->streams, s->peer) : NULL;
	s->peer = 0;
	if (!peer)
		return;
	usec_t when = s->last_arrival > the_world->now ? s->last_arrival - the_world->now : 0;
	when += silently ? (usec_t)world_draw(the_world, 20000000) : latency(s);
	end_later(peer, when, status);
}

void stream_close(struct stream *s)
{
	if (!s)
		return;
	if (s->loop->alive)
		tell_peer(s, 0, false);
	stream_drop(s);
}

void stream_finish(struct stream *s)
{
	stream_close(s); /* what was written is on its way already */
}

void streams_break(struct loop *l)
{
	struct stream *s;
	for (size_t i = 0; (s = map_next(&the_world->streams, &i));)
		if (s->loop == l && s->peer)
			tell_peer(s, 0, false);
	struct listener *n;
	for (size_t i = 0; (n = map_next(&the_world->listeners, &i));)
		if (n->loop == l)
			n->accepted = NULL; /* nobody answers any more; the socket file stays */
}

/* ---- data -------------------------------------------------------------------------------------- */

struct delivery {
	struct stream *s;
	struct buf data;
};

static void call_data(void *arg)
{
	struct delivery *d = arg;
	d->s->handler->data(d->s->arg, d->data.data, d->data.len);
}

static void deliver(struct stream *s, const uint8_t *data, size_t len)
{
	if (s->paused) {
		buf_put(&s->inbox, data, len);
		return;
	}
	struct delivery d = { .s = s };
	buf_put(&d.data, data, len);
	loop_turn(s->loop, call_data, &d);
	buf_done(&d.data);
}

static void packet_due(void *arg, uint64_t key)
{
	struct packet *p = arg;
	struct stream *s = map_get(&the_world->streams, key);
	if (s && s->loop->alive && s->handler && s->handler->data) {
		size_t cut = p->data.len > 1 && world_chance(the_world, 4) ? 1 + p->data.len / 3 : p->data.len;
		deliver(s, p->data.data, cut);
		s = map_get(&the_world->streams, key);
		if (s && s->loop->alive && cut < p->data.len)
			deliver(s, p->data.data + cut, p->data.len - cut);
	}
	buf_done(&p->data);
	free(p);
}

void stream_write(struct stream *s, const void *data, size_t len)
{
	struct world *w = the_world;
	struct stream *peer = s->peer ? map_get(&w->streams, s->peer) : NULL;
	if (!s->loop->alive || !peer || !len)
		return;
	bool cut = !s->local && ((s->loop->machine && s->loop->machine->cut) ||
				 (peer->loop->machine && peer->loop->machine->cut));
	if (cut || (!s->local && world_chance(w, w->faults.link_break))) {
		world_tell("net: the connection %s - %s breaks", s->addr, peer->addr);
		tell_peer(s, -ETIMEDOUT, true);
		end_later(s, (usec_t)world_draw(w, 20000000), -ETIMEDOUT);
		return;
	}
	usec_t arrival = w->now + latency(s);
	s->last_arrival = arrival > s->last_arrival ? arrival : s->last_arrival;
	struct packet *p = NEW(struct packet);
	buf_put(&p->data, data, len);
	world_at(w, s->last_arrival - w->now, packet_due, p, peer->key);
}

size_t stream_queued(const struct stream *s)
{
	(void)s;
	return 0;
}

void stream_pause(struct stream *s)
{
	s->paused = true;
}

static void resume_due(void *arg, uint64_t key)
{
	struct stream *s = map_get(&the_world->streams, key);
	(void)arg;
	if (!s || s->paused || !s->loop->alive || !s->inbox.len)
		return;
	struct buf held = s->inbox;
	s->inbox = (struct buf){};
	bool end = s->end_in_inbox;
	deliver(s, held.data, held.len);
	buf_done(&held);
	s = map_get(&the_world->streams, key);
	if (s && end)
		world_at(the_world, 0, end_due, NULL, key);
}

void stream_resume(struct stream *s)
{
	s->paused = false;
	world_at(the_world, 0, resume_due, NULL, s->key);
}

void stream_set_handler(struct stream *s, const struct stream_handler *h, void *arg)
{
	s->handler = h;
	s->arg = arg;
}

void stream_get_peer(const struct stream *s, struct stream_peer *ret)
{
	*ret = (struct stream_peer){ .local = s->local };
	const struct stream *peer = s->peer ? map_get(&the_world->streams, s->peer) : NULL;
	snprintf(ret->addr, sizeof(ret->addr), "%s", peer ? peer->addr : "?");
}

/* ---- connecting -------------------------------------------------------------------------------- */

struct call {
	uint64_t from;
	uint16_t port;
	char *path;
};

static struct listener *find_listener(const struct call *c, const struct machine *from)
{
	struct listener *l;
	for (size_t i = 0; (l = map_next(&the_world->listeners, &i));) {
		if (!l->accepted || !l->loop->alive)
			continue;
		if (c->path ? l->path && str_eq(l->path, c->path) && l->loop->machine == from :
			      !l->path && l->port == c->port)
			return l;
	}
	return NULL;
}

struct acceptance {
	struct listener *l;
	struct stream *s;
};

static void call_accepted(void *arg)
{
	struct acceptance *a = arg;
	a->l->accepted(a->l->arg, a->s);
}

static void call_opened(void *arg)
{
	struct stream *s = arg;
	if (s->handler && s->handler->opened)
		s->handler->opened(s->arg);
}

static void connect_due(void *arg, uint64_t key)
{
	struct call *c = arg;
	struct stream *s = map_get(&the_world->streams, key);
	if (s && s->loop->alive) {
		struct listener *l = find_listener(c, s->loop->machine);
		bool cut = l && !s->local && ((l->loop->machine && l->loop->machine->cut) ||
					      (s->loop->machine && s->loop->machine->cut));
		if (!l || cut) {
			end_later(s, cut ? 2000000 : 0, cut ? -ETIMEDOUT : -ECONNREFUSED);
		} else {
			struct stream *other = stream_new(l->loop, s->local);
			other->peer = s->key;
			s->peer = other->key;
			struct acceptance a = { l, other };
			loop_turn(l->loop, call_accepted, &a);
			if (map_get(&the_world->streams, key) == s && s->loop->alive)
				loop_turn(s->loop, call_opened, s);
		}
	}
	free(c->path);
	free(c);
}

static struct stream *begin_connect(struct loop *l, const char *path, uint16_t port,
				    const struct stream_handler *h, void *arg)
{
	struct stream *s = stream_new(l, path != NULL);
	stream_set_handler(s, h, arg);
	struct call *c = NEW(struct call);
	*c = (struct call){ s->key, port, mem_strdup(path) };
	world_at(the_world, latency(s), connect_due, c, s->key);
	return s;
}

struct stream *stream_connect_tcp(struct loop *l, const char *host, uint16_t port,
				  const struct stream_handler *h, void *arg)
{
	(void)host; /* ports are unique in a world */
	return begin_connect(l, NULL, port, h, arg);
}

struct stream *stream_connect_unix(struct loop *l, const char *path, const struct stream_handler *h,
				   void *arg)
{
	return begin_connect(l, path, 0, h, arg);
}

struct stream *stream_adopt(struct loop *l, int fd, const struct stream_handler *h, void *arg)
{
	struct stream *s = map_remove(&the_world->sockets, (uint64_t)fd);
	if (!s)
		return NULL;
	s->loop = l;
	stream_set_handler(s, h, arg);
	if (s->inbox.len)
		world_at(the_world, 0, resume_due, NULL, s->key);
	return s;
}

int process_socketpair(int ret[2])
{
	struct stream *a = stream_new(NULL, true), *b = stream_new(NULL, true);
	a->peer = b->key;
	b->peer = a->key;
	ret[0] = the_world->next_fd++;
	ret[1] = the_world->next_fd++;
	map_put(&the_world->sockets, (uint64_t)ret[0], a);
	map_put(&the_world->sockets, (uint64_t)ret[1], b);
	return 0;
}

/* ---- listening --------------------------------------------------------------------------------- */

static struct listener *listener_new(struct loop *l, uint16_t port, const char *path, accept_fn fn, void *arg)
{
	struct listener *n = NEW(struct listener);
	*n = (struct listener){ world_key(the_world), l, fn, arg, port, mem_strdup(path) };
	map_put(&the_world->listeners, n->key, n);
	return n;
}

int listener_tcp(struct loop *l, const char *host, uint16_t port, accept_fn accepted, void *arg,
		 struct listener **ret, struct error *err)
{
	(void)host;
	struct call c = { .port = port };
	if (port && find_listener(&c, NULL))
		return error_set(err, -EADDRINUSE, "port %u is in use", port);
	*ret = listener_new(l, port ? port : (uint16_t)(40000 + world_key(the_world) % 20000), NULL, accepted, arg);
	return 0;
}

int listener_unix(struct loop *l, const char *path, mode_t mode, accept_fn accepted, void *arg,
		  struct listener **ret, struct error *err)
{
	(void)mode;
	struct call c = { .path = (char *)(uintptr_t)path };
	if (find_listener(&c, l->machine))
		return error_set(err, -EADDRINUSE, "%s: somebody listens there", path);
	*ret = listener_new(l, 0, path, accepted, arg);
	socket_file_add(path);
	return 0;
}

uint16_t listener_port(const struct listener *l)
{
	return l->port;
}

void listener_free(struct listener *l)
{
	if (!l)
		return;
	if (l->path && l->loop->alive)
		socket_file_remove(l->path);
	map_remove(&the_world->listeners, l->key);
	free(l->path);
	free(l);
}
