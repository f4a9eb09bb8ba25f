/* SPDX-License-Identifier: Apache-2.0 */
/* stream_uv.c - reading, writing and closing byte streams.
 *
 * A stream is a non-blocking descriptor watched by a poll handle of libuv, and a buffer of output.
 *
 * Output.  stream_write appends to the buffer and marks the stream dirty; at the end of the turn
 * every dirty stream is written out, so that many small messages leave in one system call, in the
 * same turn.  What the kernel does not take waits for the descriptor to become writable.
 *
 * Input.  A readable stream is read into the buffer of the loop and handed to `data`, a few times in
 * a row at most, so that one busy peer does not starve the others.
 *
 * The end.  Handlers are called from the loop only, never from inside a call of theirs: a failing
 * stream_write or connect is remembered in `status` and reported at the end of the turn.  When
 * writing fails the peer may have said why before it went, so what can still be read is handed over
 * first.  After every callback the state is looked at again, because the callback may have closed
 * the stream; the memory stays until libuv has let go of the handle, which is never inside a
 * callback of the same stream.
 *
 * stream_finish writes the rest, says the end of the output, and then reads and drops until the peer
 * has closed too (or LINGER has passed): closing a socket with unread input would make the kernel
 * reset the connection, and the peer might lose the answer it was about to read.
 *
 * Files that cannot be polled (regular ones, /dev/null) are read one piece per turn through an idle
 * handle, so that standard input of a command may be anything. */
#include "host/stream_uv.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>

#define READS_PER_TURN       4
#define WRITE_BYTES_PER_TURN ((size_t)1 << 20)
#define WRITE_EARLY_BYTES                                                                          \
	((size_t)256 << 10)                 /* do not wait for the end of the turn with this much */
#define OUT_KEEP_BYTES  ((size_t)4096)      /* an idle connection keeps no more than this */
#define FINISH_PATIENCE (10 * USEC_PER_SEC) /* without any output leaving */
#define LINGER          (2 * USEC_PER_SEC)

static void on_poll(uv_poll_t *h, int status, int events);
static void on_idle(uv_idle_t *h);
static void read_some(struct stream *s, int times);
static void write_some(struct stream *s);
static void report_closed(struct stream *s, int status);

/* ---- birth -------------------------------------------------------------------------------------- */

struct stream *stream_new(struct loop *l, const struct stream_handler *h, void *arg)
{
	struct stream *s = NEW(struct stream);
	s->loop = l;
	s->handler = h;
	s->arg = arg;
	s->fd = -1;
	s->restore_flags = -1;
	s->next = l->streams;
	s->link = &l->streams;
	if (s->next)
		s->next->link = &s->next;
	l->streams = s;
	return s;
}

int stream_attach(struct stream *s, int fd)
{
	s->fd = fd;
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0)
		return -errno;
	s->may_read = (flags & O_ACCMODE) != O_WRONLY;
	s->may_write = (flags & O_ACCMODE) != O_RDONLY;

	int domain = 0;
	socklen_t len = sizeof(domain);
	s->is_socket = getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0;
	s->is_local = s->is_socket && domain == AF_UNIX;
	if (!s->is_socket && !(flags & O_NONBLOCK))
		s->restore_flags = flags;

	union stream_handle *h = NEW(union stream_handle);
	int r = uv_poll_init(&s->loop->uv, &h->poll, fd);
	if (r == UV_EPERM) {
		s->restore_flags = -1;
		s->is_idle = true;
		r = uv_idle_init(&s->loop->uv, &h->idle);
	}
	if (r < 0) {
		free(h);
		return r;
	}
	h->any.data = s;
	s->handle = h;
	return 0;
}

struct stream *stream_adopt(struct loop *l, int fd, const struct stream_handler *h, void *arg)
{
	struct stream *s = stream_new(l, h, arg);
	s->state = STREAM_OPEN;
	int r = stream_attach(s, fd);
	if (r < 0) {
		stream_fail(s, r);
		return s;
	}
	socklen_t len = sizeof(s->peer);
	if (s->is_socket && !s->is_local && getpeername(fd, &s->peer.any, &len) == 0)
		socket_options(fd, s->peer.any.sa_family);
	stream_set_watch(s);
	return s;
}

void stream_set_handler(struct stream *s, const struct stream_handler *h, void *arg)
{
	assert(s->state == STREAM_CONNECTING || s->state == STREAM_OPEN);
	s->handler = h;
	s->arg = arg;
	stream_set_watch(s);
}

/* ---- what the kernel is asked for --------------------------------------------------------------- */

static int wanted_events(const struct stream *s)
{
	switch (s->state) {
	case STREAM_CONNECTING:
		return UV_WRITABLE;
	case STREAM_OPEN:
	case STREAM_FINISHING:
	case STREAM_LINGERING:
		break;
	case STREAM_GONE:
		return 0;
	}
	bool reads = s->may_read && !s->paused && s->status == 0 && !s->announce &&
		     (s->handler || s->state != STREAM_OPEN);
	int want = (reads ? UV_READABLE : 0) | (s->blocked ? UV_WRITABLE : 0);
	if (want == 0 && !s->may_read && s->status == 0)
		want = UV_DISCONNECT; /* nobody reads our pipe any more */
	return want;
}

void stream_set_watch(struct stream *s)
{
	if (!s->handle)
		return;
	int want = wanted_events(s);
	if (want == s->watching)
		return;
	s->watching = want;
	if (s->is_idle && (want & UV_READABLE))
		uv_idle_start(&s->handle->idle, on_idle);
	else if (s->is_idle)
		uv_idle_stop(&s->handle->idle);
	else if (want)
		uv_poll_start(&s->handle->poll, want, on_poll);
	else
		uv_poll_stop(&s->handle->poll);
}

static void on_poll(uv_poll_t *h, int status, int events)
{
	struct stream *s = h->data;
	if (status < 0) {
		/* An error is pending and libuv stopped watching: reading or writing will name it. */
		s->watching = 0;
		events = UV_READABLE | UV_WRITABLE | UV_DISCONNECT;
	}
	if (s->state == STREAM_CONNECTING) {
		connect_ready(s);
		return;
	}
	if ((events & UV_DISCONNECT) && !s->may_read) {
		report_closed(s, -EPIPE);
		return;
	}
	if (events & UV_WRITABLE) {
		s->blocked = false;
		write_some(s);
	}
	if (s->state != STREAM_GONE && (events & UV_READABLE) && !s->paused && s->status == 0)
		read_some(s, READS_PER_TURN);
	if (s->state != STREAM_GONE)
		stream_set_watch(s);
}

static void on_idle(uv_idle_t *h)
{
	read_some(h->data, 1);
}

/* ---- input -------------------------------------------------------------------------------------- */

static void read_ended(struct stream *s, int status)
{
	if (s->state == STREAM_FINISHING && status == 0 && stream_queued(s) > 0) {
		s->may_read = false; /* the peer says no more but may still read our answer */
		stream_set_watch(s);
		return;
	}
	report_closed(s, status);
}

static void read_some(struct stream *s, int times)
{
	for (int i = 0; i < times; i++) {
		ssize_t n = read(s->fd, s->loop->read_buffer, LOOP_READ_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n <= 0) {
			/* The master side of a terminal says EIO when its programs are gone. */
			bool over = n == 0 || (errno == EIO && !s->is_socket);
			read_ended(s, over ? 0 : -errno);
			return;
		}
		if (s->handler)
			s->handler->data(s->arg, s->loop->read_buffer, (size_t)n);
		if (s->state == STREAM_GONE || s->paused || (size_t)n < LOOP_READ_BYTES)
			return;
	}
}

void stream_pause(struct stream *s)
{
	s->paused = true;
	stream_set_watch(s);
}

void stream_resume(struct stream *s)
{
	s->paused = false;
	stream_set_watch(s);
}

/* ---- output ------------------------------------------------------------------------------------- */

size_t stream_queued(const struct stream *s)
{
	return s->out.len - s->out_sent;
}

static void out_drop(struct stream *s)
{
	s->out_sent = 0;
	if (s->out.cap > OUT_KEEP_BYTES)
		buf_done(&s->out);
	else
		buf_clear(&s->out);
}

static void write_failed(struct stream *s, int status)
{
	out_drop(s);
	s->blocked = false;
	if (s->state == STREAM_OPEN)
		stream_fail(s, status);
	else
		stream_close(s); /* finishing: nobody is to be told */
}

/* Sends until everything has left, the kernel is full or the share of this turn is used up. */
static void send_queued(struct stream *s)
{
	size_t share = WRITE_BYTES_PER_TURN;
	while (stream_queued(s) > 0 && !s->blocked) {
		const uint8_t *from = s->out.data + s->out_sent;
		size_t len = stream_queued(s) < share ? stream_queued(s) : share;
		ssize_t n = s->is_socket ? send(s->fd, from, len, MSG_NOSIGNAL)
					 : write(s->fd, from, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			s->blocked = true;
		} else if (n < 0) {
			write_failed(s, -errno);
			return;
		} else {
			s->out_sent += (size_t)n;
			s->moved = true;
			share -= (size_t)n;
			if (share == 0)
				s->blocked = true; /* the kernel says at once when it wants more */
		}
	}
	if (s->is_idle && s->blocked) {
		s->blocked = false; /* a file cannot be polled: go on next turn */
		stream_mark_dirty(s);
	}
}

static void linger_over(void *arg)
{
	stream_close(arg);
}

static void finish_output(struct stream *s)
{
	if (!s->is_socket || !s->may_read || shutdown(s->fd, SHUT_WR) < 0) {
		stream_close(s);
		return;
	}
	s->state = STREAM_LINGERING;
	timer_free(s->timer);
	s->timer = timer_new(s->loop, linger_over, s);
	timer_start(s->timer, LINGER, 0);
	stream_set_watch(s);
}

static void write_some(struct stream *s)
{
	bool had = stream_queued(s) > 0;
	send_queued(s);
	if (s->state == STREAM_GONE || s->status < 0 || stream_queued(s) > 0)
		return;
	if (had)
		out_drop(s);
	if (s->state == STREAM_FINISHING)
		finish_output(s);
	else if (had && s->handler && s->handler->drained)
		s->handler->drained(s->arg);
}

void stream_write(struct stream *s, const void *data, size_t len)
{
	assert(s->state == STREAM_CONNECTING || s->state == STREAM_OPEN);
	if (s->status < 0 || len == 0)
		return; /* it has failed; the handler is about to be told */
	if (s->out_sent > WRITE_EARLY_BYTES && s->out_sent > s->out.len / 2) {
		buf_drop(&s->out, s->out_sent);
		s->out_sent = 0;
	}
	buf_put(&s->out, data, len);
	if (s->state != STREAM_OPEN || s->blocked)
		return;
	stream_mark_dirty(s);
	if (stream_queued(s) >= WRITE_EARLY_BYTES && s->handle) {
		send_queued(s);
		stream_set_watch(s);
	}
}

/* ---- the end of the turn ------------------------------------------------------------------------ */

static void clean(struct stream *s)
{
	if (!s->is_dirty)
		return;
	s->is_dirty = false;
	*s->dirty_link = s->dirty_next;
	if (s->dirty_next)
		s->dirty_next->dirty_link = s->dirty_link;
}

/* The stream has failed.  Whatever the peer said before it went is handed over, then the reason. */
static void settle_failed(struct stream *s)
{
	int status = s->status;
	bool readable = s->handle && s->state == STREAM_OPEN && s->may_read && s->is_socket;
	for (int i = 0; readable && i < 16 && s->handler && !s->paused; i++) {
		ssize_t n = recv(s->fd, s->loop->read_buffer, LOOP_READ_BYTES, MSG_DONTWAIT);
		if (n <= 0)
			break;
		s->handler->data(s->arg, s->loop->read_buffer, (size_t)n);
		if (s->state == STREAM_GONE)
			return;
	}
	report_closed(s, status);
}

static void settle(struct stream *s)
{
	if (s->status < 0) {
		settle_failed(s);
		return;
	}
	if (s->announce) {
		s->announce = false;
		if (s->handler)
			s->handler->opened(s->arg);
		if (s->state == STREAM_GONE || s->status < 0)
			return; /* a failure is dirty by itself */
	}
	if (s->state == STREAM_OPEN || s->state == STREAM_FINISHING)
		write_some(s);
	if (s->state != STREAM_GONE)
		stream_set_watch(s);
}

static void settle_all(void *arg)
{
	struct loop *l = arg;
	/* Streams that become dirty meanwhile are a new list with a deferred call of its own. */
	struct stream *batch = l->dirty;
	l->dirty = NULL;
	if (batch)
		batch->dirty_link = &batch;
	while (batch) {
		struct stream *s = batch;
		clean(s);
		settle(s);
	}
}

void stream_mark_dirty(struct stream *s)
{
	if (s->is_dirty)
		return;
	struct loop *l = s->loop;
	if (!l->dirty)
		loop_defer(l, settle_all, l);
	s->is_dirty = true;
	s->dirty_next = l->dirty;
	s->dirty_link = &l->dirty;
	if (s->dirty_next)
		s->dirty_next->dirty_link = &s->dirty_next;
	l->dirty = s;
}

void stream_fail(struct stream *s, int status)
{
	assert(status < 0);
	if (s->status == 0)
		s->status = status;
	stream_mark_dirty(s);
	stream_set_watch(s);
}

/* ---- death -------------------------------------------------------------------------------------- */

static void stream_release(struct stream *s)
{
	buf_done(&s->out);
	free(s->path);
	free(s);
}

static void handle_closed(uv_handle_t *h)
{
	if (h->data)
		stream_release(h->data);
	free(h);
}

static void fd_drop(struct stream *s)
{
	if (s->fd < 0)
		return;
	if (s->restore_flags >= 0)
		fcntl(s->fd, F_SETFL, s->restore_flags);
	close(s->fd);
	s->fd = -1;
}

void stream_detach(struct stream *s)
{
	if (s->handle) {
		s->handle->any.data = NULL; /* the stream lives on without it */
		uv_close(&s->handle->any, handle_closed);
		s->handle = NULL;
		s->watching = 0;
	}
	fd_drop(s);
}

static void finish_timer(void *arg)
{
	struct stream *s = arg;
	if (!s->moved)
		stream_close(s); /* the peer does not read */
	else
		s->moved = false;
}

void stream_finish(struct stream *s)
{
	if (!s || s->state == STREAM_GONE)
		return;
	if (s->status < 0) {
		stream_close(s);
		return;
	}
	s->handler = NULL;
	s->paused = false;
	if (s->state == STREAM_CONNECTING)
		s->finish = true;
	else
		s->state = STREAM_FINISHING;
	stream_mark_dirty(s);
	timer_free(s->timer);
	s->timer = timer_new(s->loop, finish_timer, s);
	timer_start(s->timer, FINISH_PATIENCE, FINISH_PATIENCE);
}

void stream_close(struct stream *s)
{
	if (!s || s->state == STREAM_GONE)
		return;
	s->state = STREAM_GONE;
	s->handler = NULL;
	clean(s);
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	connect_drop(s);
	timer_free(TAKE_PTR(s->timer));
	if (s->handle)
		uv_close(&s->handle->any,
			 handle_closed); /* first: the descriptor is still watched */
	fd_drop(s);
	if (!s->handle)
		stream_release(s);
}

static void report_closed(struct stream *s, int status)
{
	const struct stream_handler *h = s->handler;
	void *arg = s->arg;
	stream_close(s);
	if (h)
		h->closed(arg, status);
}

void streams_done(struct loop *l)
{
	for (struct stream *s = l->streams, *next; s; s = next) {
		next = s->next;
		if (s->state == STREAM_FINISHING || s->state == STREAM_LINGERING || s->finish)
			stream_close(s);
	}
	assert(!l->streams); /* everything else belongs to somebody who must have closed it */
}
