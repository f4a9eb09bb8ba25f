/* SPDX-License-Identifier: Apache-2.0 */
/* Peers that send rubbish, too much, somebody else's credential or none: each loses its connection or
 * its request and nothing more, and a well-behaved neighbour never notices. */
#include "base/crc.h"
#include "base/mem.h"
#include "base/str.h"
#include "schema/errors.h"
#include "schema/messages.h"

#include "../cm.h"
#include "world.h"

#include <errno.h>
#include <unistd.h>

struct hostile {
	struct world *w;
	struct raw raw;
	struct auth *other_key, *other_cluster;
	struct buf token; /* of the last good hello, to be replayed */
};

static void put_random(struct hostile *h)
{
	uint8_t bytes[4096];
	uint64_t x = 88172645463325252u;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		bytes[i] = (uint8_t)x;
	}
	stream_write(h->raw.stream, bytes, sizeof(bytes));
}

static void put_http(struct hostile *h)
{
	const char *text = "GET / HTTP/1.1\r\nHost: controller\r\n\r\n";
	stream_write(h->raw.stream, text, strlen(text));
}

static void put_header(struct hostile *h, struct frame f, int bend)
{
	uint8_t header[FRAME_HEADER];
	frame_header_put(&f, header);
	if (bend >= 0)
		header[bend] ^= 0x40;
	stream_write(h->raw.stream, header, sizeof(header));
}

static void put_wrong_crc(struct hostile *h)
{
	put_header(h, (struct frame) { .kind = MSG_HELLO, .len = 10 }, 21);
}

static void put_large_hello(struct hostile *h)
{
	put_header(h, (struct frame) { .kind = MSG_HELLO, .len = 1 << 20 }, -1);
}

static void put_huge_hello(struct hostile *h)
{
	put_header(h, (struct frame) { .kind = MSG_HELLO, .len = UINT32_MAX }, -1);
}

static void put_ping_first(struct hostile *h)
{
	raw_put(&h->raw, MSG_PING, 5, 0, NULL, NULL);
}

static void put_unknown_first(struct hostile *h)
{
	raw_put(&h->raw, 9999, 5, 0, NULL, NULL);
}

static void put_reply_first(struct hostile *h)
{
	raw_put(&h->raw, MSG_HELLO, 0, FRAME_REPLY, &welcome_record, &(struct welcome) {});
}

static void put_hello_body(struct hostile *h, const void *data, size_t len)
{
	put_header(h, (struct frame) { .kind = MSG_HELLO, .len = (uint32_t)len }, -1);
	stream_write(h->raw.stream, data, len);
}

static void put_broken_hello(struct hostile *h)
{
	put_hello_body(h, "\x12\xff\xff\xff\xff\x0f", 6);
}

static void put_empty_hello(struct hostile *h)
{
	put_hello_body(h, "", 0);
}

static void put_token(struct hostile *h, const void *token, size_t len, const char *cluster)
{
	struct hello hello = { .token = { (uint8_t *)token, len }, .cluster = (char *)cluster };
	raw_put(&h->raw, MSG_HELLO, 0, 0, &hello_record, &hello);
}

static void put_bad_token(struct hostile *h)
{
	put_token(h,
		  "\x01"
		  "0123456789012345678901234567890123456789",
		  41, "c1");
}

static void put_other_key(struct hostile *h)
{
	raw_hello(&h->raw, h->other_key, "c1", loop_now(h->w->loop));
}

static void put_other_cluster(struct hostile *h)
{
	raw_hello(&h->raw, h->other_cluster, "", loop_now(h->w->loop));
}

static void put_other_cluster_name(struct hostile *h)
{
	raw_hello(&h->raw, h->w->auth, "c2", loop_now(h->w->loop));
}

static void put_expired(struct hostile *h)
{
	raw_hello(&h->raw, h->w->auth, "c1", loop_now(h->w->loop) - USEC_PER_HOUR);
}

static void put_future(struct hostile *h)
{
	raw_hello(&h->raw, h->w->auth, "c1", loop_now(h->w->loop) + USEC_PER_HOUR);
}

static void put_replayed(struct hostile *h)
{
	put_token(h, h->token.data, h->token.len, "c1");
}

static const struct {
	const char *name;
	void (*put)(struct hostile *h);
	int code;         /* of the failure that is sent; 0: none is */
	const char *part; /* of the server's log */
} before_hello[] = {
	{ "random bytes", put_random, 0, "does not speak this protocol" },
	{ "another protocol", put_http, 0, "it sent 47 45 54 20" },
	{ "wrong crc", put_wrong_crc, 0, "wrong checksum" },
	{ "large hello", put_large_hello, 0,
	  "a message of 1048576 bytes is too large, at most 131072" },
	{ "huge hello", put_huge_hello, 0, "a message of 4294967295 bytes is too large" },
	{ "no hello", put_ping_first, E_PROTOCOL, "message 3 came before the hello" },
	{ "unknown message first", put_unknown_first, E_PROTOCOL,
	  "message 9999 came before the hello" },
	{ "an answer first", put_reply_first, E_PROTOCOL, "message 1 came before the hello" },
	{ "broken hello", put_broken_hello, E_PROTOCOL, "a hello that cannot be read: " },
	{ "empty hello", put_empty_hello, E_AUTH, "a credential is needed and none was sent" },
	{ "bad token", put_bad_token, E_AUTH, "signature is wrong" },
	{ "another key", put_other_key, E_AUTH, "both sides need the same key file" },
	{ "token of another cluster", put_other_cluster, E_AUTH,
	  "is for cluster 'c2', this is cluster 'c1'" },
	{ "another cluster's name", put_other_cluster_name, E_AUTH,
	  "this is cluster 'c1', not 'c2'" },
	{ "expired token", put_expired, E_AUTH, "expired 3540 s ago" },
	{ "token from the future", put_future, E_AUTH, "s in the future" },
	{ "replayed token", put_replayed, E_AUTH, "was used before" },
};

static void hostile_init(struct hostile *h, struct world *w)
{
	char path[128];
	*h = (struct hostile) { .w = w };
	snprintf(path, sizeof(path), "%s/other", w->dir);
	assert_int_equal(auth_make_key(path, NULL), 0);
	struct auth_options o = { .type = "auth/slurm", .key_path = path, .cluster = "c1" };
	assert_int_equal(auth_new(&o, &h->other_key, NULL), 0);
	unlink(path);
	o.key_path = w->key;
	o.cluster = "c2";
	assert_int_equal(auth_new(&o, &h->other_cluster, NULL), 0);
}

static void hostile_done(struct hostile *h)
{
	auth_free(h->other_key);
	auth_free(h->other_cluster);
	buf_done(&h->token);
}

/* Lets one in with a token that is then used up. */
static void use_token(struct hostile *h)
{
	struct identity me = { geteuid(), getegid() };
	assert_int_equal(auth_sign(h->w->auth, &me, loop_now(h->w->loop), &h->token, NULL), 0);
	raw_connect(&h->raw, h->w);
	put_replayed(h);
	world_wait(h->w, &h->raw.heard, 1);
	const uint8_t *body;
	assert_int_equal(raw_frame(&h->raw, 0, &body).flags, FRAME_REPLY);
	raw_close(&h->raw);
}

static void strangers_are_refused(void **state)
{
	struct world *w = *state;
	struct hostile h;
	struct end neighbour;
	struct outcome ping = {};
	hostile_init(&h, w);
	use_token(&h);
	end_connect(&neighbour, w);
	world_wait(w, &neighbour.ready, 1);
	for (size_t i = 0; i < ARRAY_COUNT(before_hello); i++) {
		raw_connect(&h.raw, w);
		before_hello[i].put(&h);
		raw_put(&h.raw, MSG_PING, 77, 0, NULL, NULL); /* is not answered */
		world_wait(w, &h.raw.closed, 1);
		struct end *peer = &w->peers[w->peer_count - 1];
		if (!strstr(peer->why, before_hello[i].part))
			fail_msg("%s: '%s' lacks '%s'", before_hello[i].name, peer->why,
				 before_hello[i].part);
		assert_int_equal(peer->closed, 1);
		assert_int_equal(peer->ready + peer->requests, 0);
		assert_int_equal(h.raw.heard, before_hello[i].code ? 1 : 0);
		if (before_hello[i].code) {
			const uint8_t *body;
			struct error err = {};
			struct frame f = raw_frame(&h.raw, 0, &body);
			assert_int_equal(f.flags, FRAME_REPLY | FRAME_FAILURE);
			assert_int_equal(frame_get_failure(body, f.len, &err),
					 -before_hello[i].code);
			assert_non_null(strstr(err.text, before_hello[i].part));
		}
		raw_close(&h.raw);
		end_ping(&neighbour, &ping);
		world_wait(w, &ping.count, 1);
		assert_true(ping.ok);
	}
	conn_close(neighbour.conn);
	hostile_done(&h);
}

static void put_kind(struct hostile *h, uint16_t kind, const void *data, size_t len)
{
	put_header(h, (struct frame) { .kind = kind, .id = 50, .len = (uint32_t)len }, -1);
	stream_write(h->raw.stream, data, len);
}

static void put_unknown(struct hostile *h)
{
	put_kind(h, 9999, "what", 4);
}

static void put_unused(struct hostile *h)
{
	put_kind(h, 9, "", 0);
}

static void put_hello_again(struct hostile *h)
{
	put_kind(h, MSG_HELLO, "", 0);
}

static void put_undecodable(struct hostile *h)
{
	put_kind(h, MSG_SUBMIT, "\xff\xff\xff", 3);
}

static void put_oversized(struct hostile *h)
{
	void *data = mem_alloc(300000);
	put_kind(h, MSG_SUBMIT, data, 300000);
	free(data);
}

static void put_reply_to_nothing(struct hostile *h)
{
	raw_put(&h->raw, MSG_PING, 12345, FRAME_REPLY, &empty_record, &(struct empty) {});
}

static void put_failure_to_nothing(struct hostile *h)
{
	raw_put(&h->raw, MSG_PING, 1, FRAME_REPLY | FRAME_FAILURE, &empty_record,
		&(struct empty) {});
}

static void put_bad_magic(struct hostile *h)
{
	put_header(h, (struct frame) { .kind = MSG_PING, .id = 50 }, 0);
}

static void put_bad_crc_later(struct hostile *h)
{
	put_header(h, (struct frame) { .kind = MSG_PING, .id = 50 }, 17);
}

/* Of somebody who said a proper hello. */
static const struct {
	const char *name;
	void (*put)(struct hostile *h);
	int code; /* of the failure that is sent; 0: none is */
	const char *part;
	bool ends; /* the connection */
} after_hello[] = {
	{ "unknown message", put_unknown, E_PROTOCOL, "message number 9999 is not known here",
	  false },
	{ "unused number", put_unused, E_PROTOCOL, "message number 9 is not known here", false },
	{ "hello twice", put_hello_again, E_PROTOCOL, "hello was said before", false },
	{ "undecodable body", put_undecodable, E_PROTOCOL, "submit cannot be read: ", false },
	{ "oversized body", put_oversized, E_PROTOCOL,
	  "a message of 300000 bytes is too large, at most 200000", false },
	{ "reply to nothing", put_reply_to_nothing, 0, "", false },
	{ "failure to nothing", put_failure_to_nothing, 0, "", false },
	{ "wrong magic", put_bad_magic, 0, "does not speak this protocol", true },
	{ "wrong crc", put_bad_crc_later, 0, "wrong checksum", true },
	{ "random bytes", put_random, 0, "does not speak this protocol", true },
};

static void known_peers_lose_the_request_or_the_connection(void **state)
{
	struct world *w = *state;
	struct hostile h;
	hostile_init(&h, w);
	w->server.body_max = 200000;
	for (size_t i = 0; i < ARRAY_COUNT(after_hello); i++) {
		raw_connect(&h.raw, w);
		raw_hello(&h.raw, w->auth, "c1", loop_now(w->loop));
		after_hello[i].put(&h);
		raw_put(&h.raw, MSG_PING, 77, 0, NULL, NULL);
		int frames = 1 + (after_hello[i].code ? 1 : 0) + (after_hello[i].ends ? 0 : 1);
		if (after_hello[i].ends)
			world_wait(w, &h.raw.closed, 1);
		world_wait(w, &h.raw.heard, frames);
		const uint8_t *body;
		struct error err = {};
		if (after_hello[i].code) {
			struct frame f = raw_frame(&h.raw, 1, &body);
			assert_int_equal(f.id, 50);
			assert_int_equal(frame_get_failure(body, f.len, &err),
					 -after_hello[i].code);
			if (!strstr(err.text, after_hello[i].part))
				fail_msg("%s: '%s' lacks '%s'", after_hello[i].name, err.text,
					 after_hello[i].part);
		}
		if (after_hello[i].ends) {
			assert_non_null(strstr(w->peers[i].why, after_hello[i].part));
		} else { /* the next request is served as if nothing had been */
			struct frame f = raw_frame(&h.raw, frames - 1, &body);
			assert_int_equal(f.id, 77);
			assert_int_equal(f.flags, FRAME_REPLY);
		}
		raw_close(&h.raw);
	}
	hostile_done(&h);
}

/* ---- a server that is not the controller -------------------------------------------------------- */

struct rogue {
	struct world *w;
	struct raw raw;
	int mode; /* 0: no proof, 1: the client's own token, 2: a token stolen elsewhere */
	struct listener *listener;
};

static void rogue_opened(void *arg)
{
	(void)arg;
}

static void rogue_data(void *arg, const uint8_t *data, size_t len)
{
	struct rogue *r = arg;
	struct arena *a = NULL;
	struct hello hello = {};
	AUTO_BUF struct buf stolen = {};
	assert_true(len > FRAME_HEADER);
	assert_int_equal(record_decode(&hello_record, &hello, data + FRAME_HEADER,
				       len - FRAME_HEADER, a, NULL),
			 0);
	assert_true(hello.challenge != 0);
	struct welcome welcome = { .version = 1 };
	if (r->mode == 1)
		welcome.token = hello.token;
	if (r->mode == 2) {
		struct identity root = { 0, 0 };
		assert_int_equal(auth_sign(r->w->auth, &root, loop_now(r->w->loop), &stolen, NULL),
				 0);
		welcome.token = (struct bytes) { stolen.data, stolen.len };
	}
	raw_put(&r->raw, MSG_HELLO, 0, FRAME_REPLY, &welcome_record, &welcome);
	raw_put(&r->raw, MSG_SHUTDOWN, 1, 0, NULL, NULL);
	record_done(&hello_record, &hello);
}

static void rogue_closed(void *arg, int status)
{
	struct rogue *r = arg;
	(void)status;
	r->raw.stream = NULL;
	r->raw.closed++;
	loop_stop(r->w->loop);
}

static const struct stream_handler rogue_handler = { rogue_opened, rogue_data, NULL, rogue_closed };

static void rogue_accept(void *arg, struct stream *s)
{
	struct rogue *r = arg;
	r->raw.stream = s;
	stream_set_handler(s, &rogue_handler, r);
}

static void only_the_controller_gives_orders(void **state)
{
	struct world *w = *state;
	const char *const why[] = { "the other side did not prove who it is",
				    "it does not answer our challenge",
				    "it does not answer our challenge" };
	for (int mode = 0; mode < 3; mode++) {
		struct rogue r = { .w = w, .raw = { .world = w }, .mode = mode };
		struct end node = { .world = w };
		struct conn_options o = world_options(w);
		assert_int_equal(
			listener_tcp(w->loop, "127.0.0.1", 0, rogue_accept, &r, &r.listener, NULL),
			0);
		node.conn = conn_connect_tcp("127.0.0.1", listener_port(r.listener), &o,
					     &end_handler, &node);
		world_wait(w, &node.closed, 1);
		if (!strstr(node.why, why[mode]))
			fail_msg("'%s' lacks '%s'", node.why, why[mode]);
		assert_int_equal(node.ready + node.requests, 0);
		world_wait(w, &r.raw.closed, 1);
		listener_free(r.listener);
	}
}

#define WORLD_TEST(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(strangers_are_refused),
		WORLD_TEST(known_peers_lose_the_request_or_the_connection),
		WORLD_TEST(only_the_controller_gives_orders),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
