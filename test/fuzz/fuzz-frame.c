/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-frame.c - a whole connection at the mercy of what the other side sends.
 *
 * The first byte chooses: whether a hello is expected (bit 0), and whether the rest is sent as it is or
 * cut into frames with proper headers (bit 1), since random bytes never get past the checksum.  The
 * connection has calls under way, answers some requests at once and keeps others until it has ended.
 * Whatever came: every call is told once, the end is told once, and nothing is left behind. */
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"
#include "host/loop.h"
#include "host/process.h"
#include "host/stream.h"
#include "schema/errors.h"
#include "schema/messages.h"
#include "wire/conn.h"
#include "wire/frame.h"

#include "fuzz.h"

#include <assert.h>
#include <unistd.h>

enum { CALLS = 4 };

struct trial {
	struct loop *loop;
	struct conn *conn;
	VEC(struct request *) held;
	int told[CALLS], closed;
};

static void on_request(void *arg, struct request *r)
{
	struct trial *t = arg;
	struct error err = { .code = -E_PROTOCOL, .text = "no" };
	switch (r->id % 4) {
	case 0:
		request_reply(r, NULL);
		break;
	case 1:
		request_fail(r, &err);
		break;
	default:
		vec_push(&t->held, r);
	}
}

static void on_closed(void *arg, struct conn *c, const char *why)
{
	struct trial *t = arg;
	assert(c == t->conn && *why);
	t->closed++;
	loop_stop(t->loop);
}

static const struct conn_handler handler = { .request = on_request, .closed = on_closed };

static void on_reply(void *arg, const void *reply, const struct error *err)
{
	assert(!reply == (err && err->code));
	++*(int *)arg;
}

/* [flags] [message] [request id] [length] body, again and again. */
static void put_frames(const uint8_t *data, size_t size, struct buf *out)
{
	while (size >= 4) {
		size_t len = data[3] < size - 4 ? data[3] : size - 4;
		struct frame f = { .flags = data[0] & 7,
				   .kind = data[1] % (MSG_COUNT + 3),
				   .id = data[2] % 8 };
		int r = frame_put_header(out, &f, len, NULL);
		assert(r == 0);
		buf_put(out, data + 4, len);
		data += 4 + len;
		size -= 4 + len;
	}
	buf_put(out, data, size);
}

static void run(struct trial *t, int fds[2], const struct buf *bytes, bool hello)
{
	struct conn_options o = {
		.loop = t->loop, .cluster = "c1", .skip_hello = !hello, .body_max = 64
	};
	static const struct stream_handler none = {};
	t->conn = hello ? conn_accept(stream_adopt(t->loop, fds[0], &none, NULL), &o, &handler, t)
			: conn_adopt(fds[0], &o, &handler, t);
	for (int i = 0; i < CALLS; i++)
		conn_call(t->conn, i % 2 ? MSG_PING : MSG_TOKEN, NULL, i ? USEC_PER_MIN : 0,
			  on_reply, &t->told[i]);
	ssize_t sent = write(fds[1], bytes->data, bytes->len);
	assert(sent == (ssize_t)bytes->len);
	close(fds[1]);
	loop_run(t->loop);
	assert(t->closed == 1);
	for (int i = 0; i < CALLS; i++)
		assert(t->told[i] == 1);
	for (size_t i = 0; i < t->held.count; i++) {
		assert(request_is_dead(t->held.at[i]));
		request_reply(t->held.at[i], NULL);
	}
	vec_done(&t->held);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_BUF struct buf bytes = {};
	int fds[2];
	if (size < 2 || process_socketpair(fds) < 0)
		return 0;
	if (data[0] & 2)
		put_frames(data + 1, size - 1, &bytes);
	else
		buf_put(&bytes, data + 1, size - 1);
	struct trial t = { .loop = loop_new() };
	run(&t, fds, &bytes, data[0] & 1);
	loop_free(t.loop);
	return 0;
}
