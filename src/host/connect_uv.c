/* SPDX-License-Identifier: Apache-2.0 */
/* connect_uv.c - from a name to a connected stream.
 *
 * A numeric address is connected to at once; a name is resolved in the pool of threads first.  Every
 * address that a name has is tried in order until one answers.  A local socket whose queue is full
 * says EAGAIN instead of letting us wait for it, so that one is tried again after a moment.
 *
 * Nothing is reported from inside stream_connect_*: success and failure both arrive at the end of a
 * turn.  `struct connecting` is apart from the stream because a look-up cannot be stopped once a
 * thread has it: the stream may be gone when the answer comes. */
#include "host/stream_uv.h"

#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <sys/un.h>

#define ADDRESSES_MAX    16
#define UNIX_RETRY_FIRST (1 * USEC_PER_MSEC)
#define UNIX_RETRIES     200 /* growing to UNIX_RETRY_LAST: some ten seconds in all */
#define UNIX_RETRY_LAST  (50 * USEC_PER_MSEC)

struct connecting {
	struct stream *stream; /* NULL: nobody waits any more */
	uv_getaddrinfo_t look_up;
	bool looking_up;
	uint16_t port;
	union address addrs[ADDRESSES_MAX];
	size_t count, next;
	struct timer *retry; /* of a local socket */
	usec_t retry_delay;
	int retries;
};

static socklen_t address_len(const union address *a)
{
	return a->any.sa_family == AF_INET ? sizeof(a->v4) : sizeof(a->v6);
}

static void connected(struct stream *s)
{
	connect_drop(s);
	s->state = s->finish ? STREAM_FINISHING : STREAM_OPEN;
	s->announce = !s->finish;
	stream_mark_dirty(s);
	stream_set_watch(s);
}

/* Opens a socket for the address and starts connecting.  0: connected, -EINPROGRESS: wait. */
static int start_connect(struct stream *s, const struct sockaddr *addr, socklen_t len)
{
	int fd = socket(addr->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	socket_options(fd, addr->sa_family);
	int r = connect(fd, addr, len) < 0 ? -errno : 0;
	if (r < 0 && r != -EINPROGRESS && r != -EINTR) {
		close(fd);
		return r;
	}
	int a = stream_attach(s, fd);
	return a < 0 ? a : r;
}

static void try_next_address(struct stream *s, int last)
{
	struct connecting *c = s->connecting;
	while (c->next < c->count) {
		const union address *a = &c->addrs[c->next++];
		s->peer = *a;
		int r = start_connect(s, &a->any, address_len(a));
		if (r == 0) {
			connected(s);
			return;
		}
		if (r == -EINPROGRESS || r == -EINTR) {
			stream_set_watch(s);
			return;
		}
		stream_detach(s);
		last = r;
	}
	stream_fail(s, last);
}

void connect_ready(struct stream *s)
{
	int failed = 0;
	socklen_t len = sizeof(failed);
	if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &failed, &len) < 0)
		failed = errno;
	if (failed == 0) {
		connected(s);
	} else {
		stream_detach(s);
		try_next_address(s, -failed);
	}
}

void connect_drop(struct stream *s)
{
	struct connecting *c = TAKE_PTR(s->connecting);
	if (!c)
		return;
	c->stream = NULL;
	timer_free(TAKE_PTR(c->retry));
	if (c->looking_up)
		uv_cancel((uv_req_t *)&c->look_up); /* look_up_done frees it, now or later */
	else
		free(c);
}

static void add_address(struct connecting *c, const struct sockaddr *sa)
{
	if (c->count == ADDRESSES_MAX)
		return;
	union address *a = &c->addrs[c->count];
	if (sa->sa_family == AF_INET) {
		memcpy(&a->v4, sa, sizeof(a->v4));
		a->v4.sin_port = htons(c->port);
	} else if (sa->sa_family == AF_INET6) {
		memcpy(&a->v6, sa, sizeof(a->v6));
		a->v6.sin6_port = htons(c->port);
	} else {
		return;
	}
	c->count++;
}

static void look_up_done(uv_getaddrinfo_t *req, int status, struct addrinfo *found)
{
	struct connecting *c = req->data;
	c->looking_up = false;
	for (struct addrinfo *ai = found; ai; ai = ai->ai_next)
		add_address(c, ai->ai_addr);
	uv_freeaddrinfo(found);
	if (!c->stream)
		free(c);
	else
		try_next_address(c->stream, status == UV_ENOMEM ? -ENOMEM : -ENXIO);
}

static bool numeric_address(struct connecting *c, const char *host)
{
	union address a = {};
	if (inet_pton(AF_INET, host, &a.v4.sin_addr) == 1)
		a.any.sa_family = AF_INET;
	else if (inet_pton(AF_INET6, host, &a.v6.sin6_addr) == 1)
		a.any.sa_family = AF_INET6;
	else
		return false;
	add_address(c, &a.any);
	return true;
}

static struct connecting *connecting_new(struct stream *s)
{
	struct connecting *c = NEW(struct connecting);
	c->stream = s;
	s->connecting = c;
	return c;
}

struct stream *stream_connect_tcp(struct loop *l, const char *host, uint16_t port,
				  const struct stream_handler *h, void *arg)
{
	struct stream *s = stream_new(l, h, arg);
	struct connecting *c = connecting_new(s);
	c->port = port;
	if (numeric_address(c, host)) {
		try_next_address(s, -ENXIO);
		return s;
	}
	c->look_up.data = c;
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG };
	int r = uv_getaddrinfo(&l->uv, &c->look_up, look_up_done, host, NULL, &hints);
	if (r < 0)
		stream_fail(s, -ENXIO); /* not even a name: empty, too long */
	else
		c->looking_up = true;
	return s;
}

static void connect_unix(void *arg)
{
	struct stream *s = arg;
	struct connecting *c = s->connecting;
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	memcpy(un.sun_path, s->path, strlen(s->path) + 1);
	int r = start_connect(s, (const struct sockaddr *)&un, sizeof(un));
	if (r == 0) {
		connected(s);
	} else if (r == -EAGAIN && c->retries++ < UNIX_RETRIES) {
		if (!c->retry) {
			c->retry = timer_new(s->loop, connect_unix, s);
			c->retry_delay = UNIX_RETRY_FIRST;
		}
		timer_start(c->retry, c->retry_delay, 0);
		c->retry_delay = c->retry_delay < UNIX_RETRY_LAST ? c->retry_delay * 2
								  : UNIX_RETRY_LAST;
	} else {
		stream_detach(s);
		stream_fail(s, r);
	}
}

struct stream *stream_connect_unix(struct loop *l, const char *path, const struct stream_handler *h,
				   void *arg)
{
	struct stream *s = stream_new(l, h, arg);
	connecting_new(s);
	s->path = mem_strdup(path);
	if (strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		stream_fail(s, -ENAMETOOLONG);
	else
		connect_unix(s);
	return s;
}
