/* SPDX-License-Identifier: Apache-2.0 */
/* listener_uv.c - waiting for connections on a TCP port or a local socket.
 *
 * Accepting takes what is there, up to ACCEPTS_PER_TURN a turn.  When the process has no descriptor
 * left, a spare one is given up for a moment to accept and drop the connection: leaving it in the
 * queue would make the loop spin on it.
 *
 * A local socket file outlives its process, so one that nobody answers on is removed.  Several daemons
 * of one machine may find the same stale file at the same time; looking and replacing therefore happen
 * under a lock on the directory, or the second would remove the first one's fresh socket.  The file is
 * removed at the end only if it is still ours. */
#include "host/stream_uv.h"

#include "base/error.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>

#define ACCEPTS_PER_TURN 64
#define BACKLOG          4096
#define LOCK_TRIES       200 /* of 10 ms: a lock that somebody holds for ever must not hold us */

struct listener {
	struct loop *loop;
	uv_poll_t poll;
	int fd, spare_fd;
	accept_fn accepted;
	void *arg;
	bool closed;
	char *path; /* of a local socket */
	dev_t dev;  /* of the socket file, to know it again */
	ino_t ino;
};

/* ---- accepting ---------------------------------------------------------------------------------- */

static void take_connection(struct listener *l, int fd, const union address *from)
{
	struct stream *s = stream_new(l->loop, NULL, NULL);
	s->state = STREAM_OPEN;
	if (l->path)
		s->path = mem_strdup(l->path);
	else
		s->peer = *from;
	socket_options(fd, l->path ? AF_UNIX : from->any.sa_family);
	if (stream_attach(s, fd) < 0) {
		stream_close(s);
		return;
	}
	l->accepted(l->arg, s);
}

static void drop_one(struct listener *l)
{
	close(l->spare_fd);
	int fd = accept(l->fd, NULL, NULL);
	if (fd >= 0)
		close(fd);
	l->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void on_incoming(uv_poll_t *h, int status, int events)
{
	(void)status;
	(void)events;
	struct listener *l = h->data;
	for (int i = 0; i < ACCEPTS_PER_TURN && !l->closed; i++) {
		union address from = {};
		socklen_t len = sizeof(from);
		int fd = accept4(l->fd, l->path ? NULL : &from.any, l->path ? NULL : &len,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			take_connection(l, fd, &from);
		else if (errno == EMFILE || errno == ENFILE)
			drop_one(l);
		else if (errno != EINTR && errno != ECONNABORTED)
			return;
	}
}

static int listener_start(struct loop *loop, int fd, accept_fn accepted, void *arg,
			  struct listener **ret, struct error *err)
{
	struct listener *l = NEW(struct listener);
	*l = (struct listener) { .loop = loop, .fd = fd, .accepted = accepted, .arg = arg };
	int r = uv_poll_init(&loop->uv, &l->poll, fd);
	if (r < 0) {
		free(l);
		return error_set(err, r, "cannot watch a listening socket: %s", strerror(-r));
	}
	l->poll.data = l;
	l->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	uv_poll_start(&l->poll, UV_READABLE, on_incoming);
	*ret = l;
	return 0;
}

static void listener_gone(uv_handle_t *h)
{
	free(h->data);
}

void listener_free(struct listener *l)
{
	if (!l)
		return;
	l->closed = true;
	struct stat st;
	if (l->path && lstat(l->path, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino)
		unlink(l->path);
	uv_close((uv_handle_t *)&l->poll, listener_gone);
	close(l->fd);
	if (l->spare_fd >= 0)
		close(l->spare_fd);
	free(TAKE_PTR(l->path));
}

/* ---- TCP ---------------------------------------------------------------------------------------- */

static int bind_tcp(const struct addrinfo *ai)
{
	AUTO_FD int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	int on = 1, off = 0;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (ai->ai_family == AF_INET6) /* the wildcard takes IPv4 too */
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* The first address of the wanted family that can be bound; negative errno otherwise. */
static int bind_first(const struct addrinfo *found, int family)
{
	int r = -EAFNOSUPPORT;
	for (const struct addrinfo *ai = found; ai; ai = ai->ai_next) {
		if (ai->ai_family != family)
			continue;
		r = bind_tcp(ai);
		if (r >= 0)
			break;
	}
	return r;
}

int listener_tcp(struct loop *l, const char *host, uint16_t port, accept_fn accepted, void *arg,
		 struct listener **ret, struct error *err)
{
	char service[8];
	snprintf(service, sizeof(service), "%u", port);
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *found = NULL;
	int gai = getaddrinfo(host, service, &hints, &found);
	if (gai != 0)
		return error_set(err, -EADDRNOTAVAIL, "cannot listen on host '%s': %s",
				 host ? host : "*", gai_strerror(gai));
	int fd = bind_first(found, AF_INET6);
	if (fd < 0 && fd != -EADDRINUSE) {
		int fd4 = bind_first(found, AF_INET);
		if (fd4 >= 0 || fd == -EAFNOSUPPORT)
			fd = fd4;
	}
	freeaddrinfo(found);
	if (fd < 0)
		return error_set(err, fd, "cannot listen on port %u of %s: %s%s", port,
				 host ? host : "all addresses", strerror(-fd),
				 fd == -EADDRINUSE ? " (another program listens there)" : "");
	int r = listener_start(l, fd, accepted, arg, ret, err);
	if (r < 0)
		close(fd);
	return r;
}

uint16_t listener_port(const struct listener *l)
{
	union address a = {};
	socklen_t len = sizeof(a);
	if (getsockname(l->fd, &a.any, &len) < 0)
		return 0;
	return ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
}

/* ---- local sockets ------------------------------------------------------------------------------ */

/* A descriptor that holds the lock; -1 when the directory cannot be locked, which bind explains. */
static int lock_directory(const char *path)
{
	AUTO_FREE char *copy = mem_strdup(path);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; fd >= 0 && i < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB) < 0; i++)
		poll(NULL, 0, 10);
	return fd;
}

static bool somebody_answers(const struct sockaddr_un *un)
{
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return fd < 0 || connect(fd, (const struct sockaddr *)un, sizeof(*un)) == 0 ||
	       errno != ECONNREFUSED;
}

static int bind_unix(int fd, const struct sockaddr_un *un, struct error *err)
{
	const struct sockaddr *any = (const struct sockaddr *)un;
	if (bind(fd, any, sizeof(*un)) == 0)
		return 0;
	struct stat st;
	if (errno == EADDRINUSE && lstat(un->sun_path, &st) == 0) {
		if (!S_ISSOCK(st.st_mode))
			return error_set(err, -EEXIST, "'%s' exists and is not a socket",
					 un->sun_path);
		if (somebody_answers(un))
			return error_set(err, -EADDRINUSE, "another process listens on '%s'",
					 un->sun_path);
		if (unlink(un->sun_path) == 0 && bind(fd, any, sizeof(*un)) == 0)
			return 0;
	}
	return error_set(err, -errno, "cannot make the socket '%s': %s", un->sun_path,
			 strerror(errno));
}

int listener_unix(struct loop *l, const char *path, mode_t mode, accept_fn accepted, void *arg,
		  struct listener **ret, struct error *err)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(un.sun_path))
		return error_set(
			err, -ENAMETOOLONG,
			"socket path '%s' has %zu bytes, the system allows %zu: use a shorter directory",
			path, strlen(path), sizeof(un.sun_path) - 1);
	memcpy(un.sun_path, path, strlen(path) + 1);

	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set(err, -errno, "cannot make a socket: %s", strerror(errno));
	fchmod(fd, 0600); /* nobody else gets in before the mode is what it should be */
	AUTO_FD int lock UNUSED = lock_directory(path);
	int r = bind_unix(fd, &un, err);
	if (r < 0)
		return r;
	struct stat st;
	if (chmod(path, mode) < 0 || listen(fd, BACKLOG) < 0 || lstat(path, &st) < 0) {
		r = error_set(err, -errno, "cannot listen on '%s': %s", path, strerror(errno));
		unlink(path);
		return r;
	}
	r = listener_start(l, fd, accepted, arg, ret, err);
	if (r < 0)
		return r;
	(*ret)->path = mem_strdup(path);
	(*ret)->dev = st.st_dev;
	(*ret)->ino = st.st_ino;
	(void)TAKE_FD(fd);
	return 0;
}
