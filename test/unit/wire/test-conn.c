/* SPDX-License-Identifier: Apache-2.0 */
/* Connections between well-behaved sides: who they are, calls and answers, and every kind of end. */
#include "base/str.h"
#include "host/process.h"
#include "schema/errors.h"
#include "schema/messages.h"

#include "../cm.h"
#include "world.h"

#include <errno.h>
#include <unistd.h>

static void both_sides_know_each_other(void **state)
{
	struct world *w = *state;
	struct end client;
	struct outcome ping = {}, refused = { .world = w };
	end_connect(&client, w);
	assert_int_equal(client.ready, 0); /* never from inside */
	world_wait(w, &client.ready, 1);
	assert_int_equal(w->peers[0].ready, 1);
	assert_int_equal(conn_peer(client.conn)->uid, geteuid());
	assert_int_equal(conn_peer(w->peers[0].conn)->uid, geteuid());
	assert_int_equal(conn_peer(w->peers[0].conn)->gid, getegid());
	assert_true(str_ends(conn_peer_name(w->peers[0].conn), " (test)"));
	end_ping(&client, &ping);
	world_wait(w, &ping.count, 1);
	assert_true(ping.ok);

	conn_call(client.conn, MSG_CONF_QUERY, NULL, 0, outcome_take, &refused);
	world_wait(w, &refused.count, 1);
	char text[128];
	snprintf(text, sizeof(text), "Invalid job id specified: asked by uid %u", geteuid());
	assert_string_equal(refused.err.text, text);
	assert_int_equal(refused.err.code, -E_INVALID_JOB_ID);

	struct outcome back = { .world = w }; /* and the other way round */
	conn_call(w->peers[0].conn, MSG_PING, NULL, 0, outcome_take, &back);
	world_wait(w, &back.count, 1);
	assert_true(back.ok);

	conn_close(client.conn);
	world_wait(w, &w->peers[0].closed, 1);
	assert_string_equal(w->peers[0].why, "closed by the other side");
	assert_int_equal(client.closed, 0); /* silent */
}

static void on_local_sockets_the_kernel_tells(void **state)
{
	struct world *w = *state;
	struct conn_options o = world_options(w);
	o.auth = NULL;
	w->server.auth = NULL;
	struct end client = { .world = w };
	struct outcome ping = {};
	client.conn = conn_connect_unix(w->path, &o, &end_handler, &client);
	end_ping(&client, &ping); /* before it is ready: waits until it may go */
	world_wait(w, &ping.count, 1);
	assert_true(ping.ok);
	assert_int_equal(conn_peer(client.conn)->uid, geteuid());
	assert_int_equal(conn_peer(w->peers[0].conn)->uid, geteuid());
	conn_close(client.conn);
}

static void answers_come_in_any_order(void **state)
{
	struct world *w = *state;
	enum { COUNT = 100 };
	struct end client;
	struct outcome out[COUNT] = {};
	int all = 0;
	end_connect(&client, w);
	for (int i = 0; i < COUNT; i++)
		end_hold(&client, &out[i], 0);
	world_wait(w, &w->held_count, COUNT);
	for (int i = COUNT - 1; i >= 0; i--) {
		struct job_list list = { .position = (uint64_t)i };
		AUTO_BUF struct buf body = {};
		record_encode(&job_list_record, &list, &body);
		if (i % 2)
			request_reply(w->held[i], &list);
		else
			request_reply_encoded(w->held[i], &body);
		w->held[i] = NULL;
	}
	for (int i = 0; i < COUNT; i++) {
		world_wait(w, &out[i].count, 1);
		all += out[i].ok;
	}
	assert_int_equal(all, COUNT);
	conn_close(client.conn);
}

static void calls_time_out_alone(void **state)
{
	struct world *w = *state;
	struct end client;
	struct outcome shorter = {}, longer = {}, ping = {};
	end_connect(&client, w);
	end_hold(&client, &longer, 40 * USEC_PER_MSEC);
	end_hold(&client, &shorter, 20 * USEC_PER_MSEC);
	world_wait(w, &shorter.count, 1);
	assert_int_equal(shorter.err.code, -E_SOCKET_TIMEOUT);
	assert_true(str_starts(shorter.err.text,
			       "Socket timed out on send/recv operation: job_query was not "
			       "answered by 127.0.0.1:"));
	world_wait(w, &longer.count, 1);
	assert_int_equal(longer.err.code, -E_SOCKET_TIMEOUT);
	world_wait(w, &w->held_count, 2);
	for (int i = 0; i < 2; i++) { /* too late: nobody is told again */
		request_reply(w->held[i], &(struct job_list) {});
		w->held[i] = NULL;
	}
	end_ping(&client, &ping);
	world_wait(w, &ping.count, 1);
	assert_true(ping.ok);
	assert_int_equal(shorter.count + longer.count, 2);
	conn_close(client.conn);
}

static void held_requests_outlive_the_connection(void **state)
{
	struct world *w = *state;
	struct end client;
	struct outcome out = {};
	end_connect(&client, w);
	end_hold(&client, &out, 0);
	world_wait(w, &w->held_count, 1);
	assert_false(request_is_dead(w->held[0]));
	conn_close(client.conn);
	world_wait(w, &w->peers[0].closed, 1);
	assert_true(request_is_dead(w->held[0]));
	assert_int_equal(out.count, 0); /* closed by its owner: dropped */
	request_reply(w->held[0], &(struct job_list) {});
	w->held[0] = NULL;
}

static void calls_fail_when_the_connection_ends(void **state)
{
	struct world *w = *state;
	struct end client;
	struct outcome out[3] = {};
	end_connect(&client, w);
	for (int i = 0; i < 3; i++)
		end_hold(&client, &out[i], i ? USEC_PER_MIN : 0);
	world_wait(w, &w->held_count, 3);
	conn_close(w->peers[0].conn);
	w->peers[0].conn = NULL;
	world_wait(w, &client.closed, 1);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(out[i].count, 1);
		assert_int_equal(out[i].err.code, -ECONNRESET);
		assert_non_null(strstr(out[i].err.text, ": closed by the other side"));
	}
	assert_int_equal(client.closed, 1);
}

/* The owner lets go inside every kind of callback. */
static void closing_inside_callbacks_is_allowed(void **state)
{
	struct world *w = *state;
	struct end client;

	end_connect(&client, w);
	client.close_in_ready = true;
	world_wait(w, &client.ready, 1);
	world_wait(w, &w->peers[0].closed, 1);

	struct outcome ping = { .close = &client };
	end_connect(&client, w);
	end_ping(&client, &ping);
	world_wait(w, &ping.count, 1);
	world_wait(w, &w->peers[1].closed, 1);

	struct outcome lost[3] = { { .close = &client } };
	end_connect(&client, w);
	for (int i = 0; i < 3; i++)
		end_hold(&client, &lost[i], 0);
	world_wait(w, &w->held_count, 3);
	conn_close(w->peers[2].conn);
	w->peers[2].conn = NULL;
	world_wait(w, &lost[0].count,
		   1); /* closes its end: the other two are dropped, nobody is told */
	world_turns(w, 5);
	assert_int_equal(lost[1].count + lost[2].count + client.closed, 0);

	struct outcome late[3] = { { .close = &client } };
	end_connect(&client, w);
	for (int i = 0; i < 3; i++)
		end_hold(&client, &late[i], 5 * USEC_PER_MSEC);
	world_wait(w, &late[0].count, 1);
	world_turns(w, 10);
	assert_int_equal(late[1].count + late[2].count + client.closed, 0);

	struct outcome cut = {};
	int before = w->peer_count;
	end_connect(&client, w);
	world_wait(w, &client.ready, 1);
	w->peers[before].close_in_request = true;
	end_ping(&client, &cut);
	world_wait(w, &client.closed, 1);
	assert_int_equal(cut.count, 1);
	assert_false(cut.ok);
}

static void finish_sends_what_was_said(void **state)
{
	struct world *w = *state;
	struct end client;
	struct outcome out = {};
	end_connect(&client, w);
	end_hold(&client, &out, 0);
	world_wait(w, &w->held_count, 1);
	struct job_list list = { .position = 7 };
	request_reply(w->held[0], &list);
	w->held[0] = NULL;
	conn_finish(w->peers[0].conn);
	w->peers[0].conn = NULL;
	world_wait(w, &client.closed, 1);
	assert_true(out.ok);
}

static void inherited_sockets_need_no_hello(void **state)
{
	struct world *w = *state;
	int fds[2];
	assert_int_equal(process_socketpair(fds), 0);
	struct conn_options o = { .loop = w->loop };
	struct end a = { .world = w }, b = { .world = w };
	struct outcome ping = {};
	a.conn = conn_adopt(fds[0], &o, &end_handler, &a);
	b.conn = conn_adopt(fds[1], &o, &end_handler, &b);
	assert_int_equal(a.ready + b.ready, 0);
	end_ping(&a, &ping);
	world_wait(w, &ping.count, 1);
	assert_true(ping.ok);
	assert_int_equal(a.ready, 1);
	assert_int_equal(b.ready, 1);
	assert_int_equal(conn_peer(a.conn)->uid, geteuid());
	conn_close(a.conn);
	world_wait(w, &b.closed, 1);
}

static void failed_connects_say_why(void **state)
{
	struct world *w = *state;
	struct conn_options o = world_options(w);
	struct end e = { .world = w }, f = { .world = w };
	struct outcome ping = {};
	listener_free(w->tcp);
	w->tcp = NULL;
	e.conn = conn_connect_tcp("127.0.0.1", w->port, &o, &end_handler, &e);
	end_ping(&e, &ping);
	world_wait(w, &e.closed, 1);
	assert_string_equal(e.why, "cannot connect: Connection refused");
	assert_int_equal(ping.count, 1);
	assert_int_equal(ping.err.code, -ECONNREFUSED);
	f.conn = conn_connect_unix("/nowhere/at/all", &o, &end_handler, &f);
	world_wait(w, &f.closed, 1);
	assert_string_equal(f.why, "cannot connect: No such file or directory");
}

static void silence_is_bounded(void **state)
{
	struct world *w = *state;
	struct raw mute;
	w->server.hello_timeout = 30 * USEC_PER_MSEC;
	raw_connect(&mute, w);
	world_wait(w, &mute.closed, 1);
	assert_string_equal(w->peers[0].why, "no hello within 0 s");
	raw_close(&mute);

	struct end client;
	struct outcome ping = {};
	w->server.hello_timeout = 0;
	w->server.idle_timeout = 60 * USEC_PER_MSEC;
	end_connect(&client, w);
	world_wait(w, &client.ready, 1);
	for (int i = 0; i < 5; i++) { /* speaking keeps it alive */
		end_ping(&client, &ping);
		world_wait(w, &ping.count, 1);
	}
	world_wait(w, &client.closed, 1);
	assert_true(str_starts(w->peers[1].why, "nothing was heard for "));
}

static void a_peer_that_does_not_read_is_dropped(void **state)
{
	struct world *w = *state;
	int fds[2];
	assert_int_equal(process_socketpair(fds), 0);
	struct conn_options o = { .loop = w->loop, .queue_max = 1 << 20 };
	struct end a = { .world = w };
	struct outcome ping = {};
	a.conn = conn_adopt(fds[0], &o, &end_handler, &a);
	world_wait(w, &a.ready, 1);
	static uint8_t data[100000];
	struct io_data body = { .data = { data, sizeof(data) } };
	for (int i = 0; i < 100; i++)
		conn_send(a.conn, MSG_IO_DATA, &body);
	assert_true(conn_queued(a.conn) <= (1 << 20) + sizeof(data) + 100);
	end_ping(&a, &ping);
	assert_int_equal(a.closed + ping.count, 0); /* never from inside */
	world_wait(w, &a.closed, 1);
	assert_true(str_starts(a.why, "the other side does not read: "));
	assert_int_equal(ping.count, 1);
	close(fds[1]);
}

static void paused_requests_wait_in_order(void **state)
{
	struct world *w = *state;
	struct end client;
	end_connect(&client, w);
	world_wait(w, &client.ready, 1);
	struct end *peer = &w->peers[0];
	peer->pause_at = 10;
	for (uint32_t i = 0; i < 100; i++)
		conn_send(client.conn, MSG_IO_SIGNAL, &(struct io_signal) { .signal = i });
	world_wait(w, &peer->seen_count, 10);
	world_turns(w, 5);
	assert_int_equal(peer->seen_count, 10);
	conn_resume(peer->conn);
	assert_int_equal(peer->seen_count, 10); /* never from inside */
	world_wait(w, &peer->seen_count, 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(peer->seen[i], i);
	conn_close(client.conn);
}

#define WORLD_TEST(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(both_sides_know_each_other),
		WORLD_TEST(on_local_sockets_the_kernel_tells),
		WORLD_TEST(answers_come_in_any_order),
		WORLD_TEST(calls_time_out_alone),
		WORLD_TEST(held_requests_outlive_the_connection),
		WORLD_TEST(calls_fail_when_the_connection_ends),
		WORLD_TEST(closing_inside_callbacks_is_allowed),
		WORLD_TEST(finish_sends_what_was_said),
		WORLD_TEST(inherited_sockets_need_no_hello),
		WORLD_TEST(failed_connects_say_why),
		WORLD_TEST(silence_is_bounded),
		WORLD_TEST(a_peer_that_does_not_read_is_dropped),
		WORLD_TEST(paused_requests_wait_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
