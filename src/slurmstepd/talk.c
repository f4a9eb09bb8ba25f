/* SPDX-License-Identifier: Apache-2.0 */
/* talk.c - see talk.h. */
#include "slurmstepd/talk.h"

#include "schema/messages.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

void talk_init(struct talk *c, int fd)
{
	*c = (struct talk) { .fd = fd };
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void talk_done(struct talk *c)
{
	if (c->fd >= 0)
		close(c->fd);
	buf_done(&c->in);
	buf_done(&c->out);
	*c = (struct talk) { .fd = -1 };
}

short talk_wants(const struct talk *c)
{
	return (short)(POLLIN | (c->out.len ? POLLOUT : 0));
}

int talk_read(struct talk *c)
{
	buf_drop(&c->in, c->taken);
	c->taken = 0;
	for (;;) {
		enum { CHUNK = 64 << 10 };
		buf_reserve(&c->in, CHUNK);
		ssize_t n = read(c->fd, c->in.data + c->in.len, CHUNK);
		if (n == 0)
			return -ECONNRESET;
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		c->in.len += (size_t)n;
		c->in.data[c->in.len] = 0;
		if (n < CHUNK || c->in.len > FRAME_HEADER + TALK_BODY_MAX)
			return 0;
	}
}

int talk_next(struct talk *c, struct frame *ret, const uint8_t **ret_body)
{
	const uint8_t *at = c->in.data + c->taken;
	size_t left = c->in.len - c->taken;
	struct frame f;
	int r;

	if (left < FRAME_HEADER)
		return 0;
	r = frame_header_get(at, TALK_BODY_MAX, &f, NULL);
	if (r < 0)
		return r;
	if (left - FRAME_HEADER < f.len)
		return 0;
	c->taken += FRAME_HEADER + f.len;
	*ret = f;
	*ret_body = at + FRAME_HEADER;
	return 1;
}

/* The header is written once the length of the body is known. */
static void talk_put(struct talk *c, struct frame f, const struct record *r, const void *body)
{
	size_t start = c->out.len;
	uint8_t header[FRAME_HEADER] = {};

	if (c->fd < 0)
		return;
	buf_put(&c->out, header, FRAME_HEADER);
	record_encode(r, body, &c->out);
	f.len = (uint32_t)(c->out.len - start - FRAME_HEADER);
	frame_header_put(&f, header);
	memcpy(c->out.data + start, header, FRAME_HEADER);
}

uint64_t talk_ask(struct talk *c, uint16_t kind, const struct record *r, const void *body)
{
	uint64_t id = ++c->last_id;

	talk_put(c, (struct frame) { .kind = kind, .id = id }, r, body);
	return id;
}

void talk_tell(struct talk *c, uint16_t kind, const struct record *r, const void *body)
{
	talk_put(c, (struct frame) { .kind = kind, .flags = FRAME_ONEWAY }, r, body);
}

void talk_reply(struct talk *c, const struct frame *to, const struct record *r, const void *body)
{
	talk_put(c, (struct frame) { .kind = to->kind, .id = to->id, .flags = FRAME_REPLY }, r,
		 body);
}

void talk_refuse(struct talk *c, const struct frame *to, int code, const char *text)
{
	struct failure f = { .code = (uint32_t)-code, .text = (char *)text };

	talk_put(c,
		 (struct frame) {
			 .kind = to->kind, .id = to->id, .flags = FRAME_REPLY | FRAME_FAILURE },
		 &failure_record, &f);
}

int talk_flush(struct talk *c)
{
	while (c->fd >= 0 && c->out.len) {
		ssize_t n = send(c->fd, c->out.data, c->out.len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		buf_drop(&c->out, (size_t)n);
	}
	return 0;
}
