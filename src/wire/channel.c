/* SPDX-License-Identifier: Apache-2.0 */
/* Reading is done in large bites: the welcome and the answer of a short call arrive with one recv.
 * A number is not looked up by name, because that would load the name service into a command that
 * lives for a millisecond. */
#include "wire/channel.h"

#include "base/error.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

enum { BITE = 32 << 10, RETRY_MSEC = 20 };

usec_t channel_clock(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (usec_t)ts.tv_sec * USEC_PER_SEC + ts.tv_nsec / 1000;
}

void channel_close(struct channel *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->taken = 0;
	buf_done(&c->in);
}

/* Milliseconds for poll, rounded up so that a short rest does not spin. */
static int time_left(const struct channel *c)
{
	if (c->deadline == USEC_FOREVER)
		return -1;
	usec_t left = c->deadline - channel_clock();
	if (left <= 0)
		return 0;
	return left > USEC_PER_DAY ? (int)(USEC_PER_DAY / 1000) : (int)((left + 999) / 1000);
}

static int wait_for(const struct channel *c, short events)
{
	struct pollfd p = { .fd = c->fd, .events = events };
	for (;;) {
		int r = poll(&p, 1, time_left(c));
		if (r > 0)
			return 0;
		if (r == 0 && time_left(c) == 0)
			return -ETIMEDOUT;
		if (r < 0 && errno != EINTR)
			return -errno;
	}
}

int channel_connect_unix(struct channel *c, const char *path, usec_t patience)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, strlen(path));
	usec_t end = channel_clock() + patience;
	for (;;) {
		c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (c->fd < 0)
			return -errno;
		if (connect(c->fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
			return 0;
		int r = -errno;
		channel_close(c);
		if (r != -EAGAIN && r != -EINTR && r != -ENOENT && r != -ECONNREFUSED)
			return r;
		if (time_left(c) == 0)
			return r == -EAGAIN ? -ETIMEDOUT : r;
		if (r != -EAGAIN && channel_clock() >= end)
			return r;
		poll(NULL, 0,
		     RETRY_MSEC); /* nothing to wait on: the daemon's queue is full or it is away */
	}
}

static int connect_addr(struct channel *c, const struct sockaddr *addr, socklen_t len)
{
	c->fd = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		return -errno;
	int one = 1, r = 0;
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(c->fd, addr, len) < 0) {
		r = -errno;
		if (r == -EINPROGRESS || r == -EINTR)
			r = wait_for(c, POLLOUT);
		socklen_t size = sizeof(int);
		int status = 0;
		if (r == 0 && getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &status, &size) == 0)
			r = -status;
	}
	if (r < 0)
		channel_close(c);
	return r;
}

static int connect_name(struct channel *c, const char *host, uint16_t port, struct error *err)
{
	char service[8];
	snprintf(service, sizeof(service), "%u", port);
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV },
			*list = NULL;
	int r = getaddrinfo(host, service, &hints, &list);
	if (r != 0)
		return error_set(err, -EHOSTUNREACH, "no address for '%s': %s", host,
				 gai_strerror(r));
	r = -EHOSTUNREACH;
	for (struct addrinfo *a = list; a && r < 0; a = a->ai_next)
		r = connect_addr(c, a->ai_addr, a->ai_addrlen);
	freeaddrinfo(list);
	return r < 0 ? error_set(err, r, "%s: %s", host, strerrordesc_np(-r)) : 0;
}

int channel_connect_tcp(struct channel *c, const char *host, uint16_t port, struct error *err)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	int r;
	if (inet_pton(AF_INET, host, &v4.sin_addr) == 1)
		r = connect_addr(c, (struct sockaddr *)&v4, sizeof(v4));
	else if (inet_pton(AF_INET6, host, &v6.sin6_addr) == 1)
		r = connect_addr(c, (struct sockaddr *)&v6, sizeof(v6));
	else
		return connect_name(c, host, port, err);
	return r < 0 ? error_set(err, r, "%s: %s", host, strerrordesc_np(-r)) : 0;
}

int channel_write(struct channel *c, const void *data, size_t len)
{
	const char *at = data;
	while (len > 0) {
		ssize_t n = send(c->fd, at, len, MSG_NOSIGNAL);
		if (n > 0) {
			at += n;
			len -= (size_t)n;
			continue;
		}
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		int r = wait_for(c, POLLOUT);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_some(struct channel *c, size_t want)
{
	int r = c->in.len == 0 ? wait_for(c, POLLIN) : 0; /* an answer is rarely there already */
	buf_reserve(&c->in, want);
	for (; r == 0; r = wait_for(c, POLLIN)) {
		ssize_t n = recv(c->fd, c->in.data + c->in.len, want, 0);
		if (n > 0)
			c->in.len += (size_t)n;
		if (n >= 0)
			return n > 0 ? 0 : -ECONNRESET;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return r;
}

static int read_until(struct channel *c, size_t len)
{
	int r = 0;
	while (r == 0 && c->in.len < len)
		r = read_some(c, len - c->in.len > BITE ? len - c->in.len : BITE);
	return r;
}

int channel_read_frame(struct channel *c, struct frame *ret, const uint8_t **ret_body,
		       struct error *err)
{
	buf_drop(&c->in, c->taken);
	c->taken = 0;
	int r = read_until(c, FRAME_HEADER);
	if (r == 0)
		r = frame_header_get(c->in.data, FRAME_BODY_MAX, ret, err);
	if (r == 0)
		r = read_until(c, FRAME_HEADER + ret->len);
	if (r < 0)
		return r;
	c->taken = FRAME_HEADER + ret->len;
	*ret_body = c->in.data + FRAME_HEADER;
	return 0;
}
