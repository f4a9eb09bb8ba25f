/* SPDX-License-Identifier: Apache-2.0 */
/* Property: every message and every answer arrives as it was sent, however the bytes are cut on the
 * way.  Two connections talk through a relay that passes on pieces of random length, one a turn. */
#include "base/arena.h"
#include "host/process.h"
#include "schema/messages.h"

#include "../cm.h"
#include "../fill.h"
#include "world.h"

/* ---- the relay ---------------------------------------------------------------------------------- */

struct relay {
	struct stream *from, *to;
	struct buf waiting;
	struct timer *timer;
	uint64_t seed;
};

static void relay_opened(void *arg)
{
	(void)arg;
}

static void relay_data(void *arg, const uint8_t *data, size_t len)
{
	struct relay *r = arg;
	buf_put(&r->waiting, data, len);
	timer_start(r->timer, 0, 0);
}

static void relay_pass(void *arg)
{
	struct relay *r = arg;
	static const size_t sizes[] = { 1, 7, 23, 24, 25, 100, 2000, 60000 };
	size_t len = 1 + fill_draw(&r->seed) % sizes[fill_draw(&r->seed) % ARRAY_COUNT(sizes)];
	if (len > r->waiting.len)
		len = r->waiting.len;
	stream_write(r->to, r->waiting.data, len);
	buf_drop(&r->waiting, len);
	if (r->waiting.len > 0)
		timer_start(r->timer, 0, 0);
}

static void relay_closed(void *arg, int status)
{
	struct relay *r = arg;
	(void)status;
	r->from = NULL;
}

static const struct stream_handler relay_handler = { relay_opened, relay_data, NULL, relay_closed };

static void relay_done(struct relay *r)
{
	stream_close(r->from);
	timer_free(r->timer);
	buf_done(&r->waiting);
}

/* ---- the two sides ------------------------------------------------------------------------------ */

struct exchange {
	struct world *w;
	struct arena *arena;
	uint64_t seed;
	void *asked[MSG_COUNT], *answered[MSG_COUNT];
	int arrived, replied;
	int expected_arrived, expected_replied;
};

static void check_request(void *arg, struct request *r)
{
	struct exchange *x = arg;
	const struct message_desc *d = &message_descs[r->kind];
	if (!record_equal(d->request, x->asked[r->kind], r->body))
		fail_msg("%s came out differently", d->name);
	assert_int_equal(r->oneway, !d->reply);
	x->arrived++;
	if (!d->reply) {
		request_reply(r, NULL);
	} else if (fill_draw(&x->seed) % 2) {
		request_reply(r, x->answered[r->kind]);
	} else {
		AUTO_BUF struct buf body = {};
		record_encode(d->reply, x->answered[r->kind], &body);
		request_reply_encoded(r, &body);
	}
	loop_stop(x->w->loop);
}

static void must_not_close(void *arg, struct conn *c, const char *why)
{
	(void)arg;
	(void)c;
	fail_msg("the connection ended: %s", why);
}

static const struct conn_handler exchange_handler = { NULL, check_request, must_not_close };

struct asked {
	struct exchange *x;
	uint16_t kind;
};

static void check_reply(void *arg, const void *reply, const struct error *err)
{
	struct asked *a = arg;
	if (err)
		fail_msg("%s: %s", message_descs[a->kind].name, err->text);
	if (!record_equal(message_descs[a->kind].reply, a->x->answered[a->kind], reply))
		fail_msg("the answer to %s came out differently", message_descs[a->kind].name);
	a->x->replied++;
	loop_stop(a->x->w->loop);
}

static void ask_everything(struct exchange *x, struct conn *c, struct asked *asked)
{
	for (uint16_t kind = 0; kind < MSG_COUNT; kind++) {
		const struct message_desc *d = &message_descs[kind];
		if (!d->name || kind == MSG_HELLO)
			continue;
		x->asked[kind] = arena_alloc(x->arena, d->request->size);
		fill_record(d->request, x->asked[kind], x->arena, &x->seed);
		x->expected_arrived++;
		asked[kind] = (struct asked) { x, kind };
		if (!d->reply) {
			conn_send(c, kind, x->asked[kind]);
			continue;
		}
		x->answered[kind] = arena_alloc(x->arena, d->reply->size);
		fill_record(d->reply, x->answered[kind], x->arena, &x->seed);
		x->expected_replied++;
		conn_call(c, kind, x->asked[kind], 0, check_reply, &asked[kind]);
	}
}

static void every_message_arrives_as_it_was_sent(void **state)
{
	struct world *w = *state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		int left[2], right[2];
		struct relay there = { .seed = seed * 31 }, back = { .seed = seed * 37 };
		struct exchange x = { .w = w, .arena = arena_new(), .seed = seed };
		struct asked asked[MSG_COUNT];
		struct conn_options o = { .loop = w->loop };
		assert_int_equal(process_socketpair(left) + process_socketpair(right), 0);
		struct conn *a = conn_adopt(left[0], &o, &exchange_handler, &x);
		struct conn *b = conn_adopt(right[0], &o, &exchange_handler, &x);
		there.from = back.to = stream_adopt(w->loop, left[1], &relay_handler, &there);
		back.from = there.to = stream_adopt(w->loop, right[1], &relay_handler, &back);
		there.timer = timer_new(w->loop, relay_pass, &there);
		back.timer = timer_new(w->loop, relay_pass, &back);

		ask_everything(&x, a, asked);
		world_wait(w, &x.arrived, x.expected_arrived);
		world_wait(w, &x.replied, x.expected_replied);
		assert_true(x.expected_arrived > 30 && x.expected_replied > 25);
		conn_close(a);
		conn_close(b);
		relay_done(&there);
		relay_done(&back);
		arena_free(x.arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_message_arrives_as_it_was_sent, world_setup,
						world_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
