/* SPDX-License-Identifier: Apache-2.0 */
/* Blocking sessions, as commands use them, in a thread beside the server's loop; and the local socket
 * that gives them their credentials. */
#include "base/arena.h"
#include "base/str.h"
#include "schema/errors.h"
#include "schema/messages.h"
#include "wire/authd.h"
#include "wire/session.h"

#include "../cm.h"
#include "world.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

/* What the thread is to do and what came of it. */
struct errand {
	struct world *w;
	struct session_options o;
	const char *hosts[3];
	uint16_t kind;
	int calls;
	usec_t timeout;
	char socket[128];

	int opened, called; /* results of the last calls */
	struct error err;
	struct job_list list;
	struct timer *poll;
	int done;
};

static void *errand_thread(void *arg)
{
	struct errand *j = arg;
	AUTO_ARENA struct arena *a = arena_new();
	struct session *s = NULL;
	union {
		struct empty empty;
		struct job_list list;
		struct cancel_reply cancel;
		struct conf_reply conf;
	} reply;
	j->opened = session_open(&j->o, &s, &j->err);
	for (int i = 0; i < j->calls && j->opened == 0; i++)
		j->called = session_call(s, j->kind, NULL, a, &reply, j->timeout, &j->err);
	if (j->opened == 0 && j->called == 0 && j->kind == MSG_JOB_QUERY)
		j->list.position = reply.list.position;
	session_close(s);
	__atomic_store_n(&j->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void look(void *arg)
{
	loop_stop(((struct errand *)arg)->w->loop);
}

static void errand_init(struct errand *j, struct world *w)
{
	*j = (struct errand) {
		.w = w, .hosts = { "controller(127.0.0.1)" }, .kind = MSG_PING, .calls = 1
	};
	snprintf(j->socket, sizeof(j->socket), "%s/auth.sock", w->dir);
	j->o = (struct session_options) { .hosts = j->hosts,
					  .host_count = 1,
					  .port = w->port,
					  .auth_type = "auth/slurm",
					  .auth_socket = j->socket,
					  .cluster = "c1",
					  .program = "sping",
					  .timeout = 5 * USEC_PER_SEC };
}

/* Runs the session in a thread and the loop here until it is over. */
static void errand_run(struct errand *j)
{
	pthread_t thread;
	struct timer *t = timer_new(j->w->loop, look, j);
	timer_start(t, 0, USEC_PER_MSEC);
	assert_int_equal(pthread_create(&thread, NULL, errand_thread, j), 0);
	while (!__atomic_load_n(&j->done, __ATOMIC_ACQUIRE))
		loop_run(j->w->loop);
	pthread_join(thread, NULL);
	timer_free(t);
}

static void start_authd(struct world *w, const struct errand *j, struct authd **ret)
{
	struct error err = {};
	if (authd_start(w->loop, w->auth, j->socket, ret, &err) < 0)
		fail_msg("%s", err.text);
}

static void a_session_asks_and_is_answered(void **state)
{
	struct world *w = *state;
	struct errand j;
	struct authd *d;
	errand_init(&j, w);
	start_authd(w, &j, &d);
	j.calls = 50;
	errand_run(&j);
	if (j.opened || j.called)
		fail_msg("%s", j.err.text);
	assert_int_equal(w->peers[0].requests, 50);
	assert_int_equal(w->peers[0].ready, 1);

	errand_init(&j, w);
	j.kind = MSG_CANCEL;
	errand_run(&j);
	assert_int_equal(j.opened, 0);
	assert_int_equal(j.called, -E_INVALID_JOB_ID);
	char text[128];
	snprintf(text, sizeof(text), "Invalid job id specified: asked by uid %u", geteuid());
	assert_string_equal(j.err.text, text);
	authd_free(d);
	assert_int_not_equal(access(j.socket, F_OK), 0);
}

static void silence_times_out(void **state)
{
	struct world *w = *state;
	struct errand j;
	struct authd *d;
	errand_init(&j, w);
	start_authd(w, &j, &d);
	j.kind = MSG_JOB_QUERY; /* is held */
	j.timeout = 50 * USEC_PER_MSEC;
	errand_run(&j);
	assert_int_equal(j.called, -E_SOCKET_TIMEOUT);
	assert_true(str_starts(
		j.err.text, "Socket timed out on send/recv operation: no answer from 127.0.0.1:"));
	authd_free(d);
}

static void hosts_are_tried_in_order(void **state)
{
	struct world *w = *state;
	struct errand j;
	struct authd *d;
	errand_init(&j, w);
	start_authd(w, &j, &d);
	j.hosts[0] = "first(127.0.0.2)"; /* nobody listens there */
	j.hosts[1] = "second(127.0.0.3)";
	j.hosts[2] = "127.0.0.1";
	j.o.host_count = 3;
	errand_run(&j);
	assert_int_equal(j.opened, 0);
	assert_int_equal(j.called, 0);

	errand_init(&j, w);
	j.hosts[0] = "first(127.0.0.2)";
	j.hosts[1] = "127.0.0.3";
	j.o.host_count = 2;
	errand_run(&j);
	assert_int_equal(j.opened, -E_CONTROLLER_CONNECT);
	char text[256];
	snprintf(text, sizeof(text),
		 "Unable to contact slurm controller (connect failure): 127.0.0.2: "
		 "Connection refused (port %u); 127.0.0.3: Connection refused (port %u)",
		 w->port, w->port);
	assert_string_equal(j.err.text, text);
	authd_free(d);
}

static void missing_credentials_are_named(void **state)
{
	struct world *w = *state;
	struct errand j;
	errand_init(&j, w);
	errand_run(
		&j); /* nobody serves the socket; that takes the two seconds in which one might come back */
	assert_int_equal(j.opened, -E_AUTH);
	assert_true(str_starts(
		j.err.text, "Protocol authentication error: no daemon gives out credentials at '"));
	assert_true(str_ends(j.err.text,
			     "No such file or directory; start slurmctld or slurmd on this host"));

	errand_init(&j, w);
	j.o.auth_type = "auth/none";
	errand_run(&j);
	assert_int_equal(j.opened, -E_AUTH);

	struct authd *d;
	errand_init(&j, w);
	start_authd(w, &j, &d);
	j.o.cluster = "c2";
	errand_run(&j);
	assert_int_equal(j.opened, -E_AUTH);
	assert_true(str_ends(j.err.text, "gives credentials for cluster 'c1', not for 'c2'"));
	authd_free(d);
}

static void a_refused_hello_is_the_answer(void **state)
{
	struct world *w = *state;
	struct errand j;
	struct authd *d;
	errand_init(&j, w);
	start_authd(w, &j, &d);
	w->server.cluster = "another";
	errand_run(&j);
	assert_int_equal(j.opened, 0);
	assert_int_equal(j.called, -E_AUTH);
	assert_string_equal(j.err.text,
			    "Protocol authentication error: this is cluster 'another', not 'c1'");
	assert_int_equal(w->peers[0].requests, 0);
	authd_free(d);
}

/* The other side takes the connection and goes away. */
static void a_lost_connection_is_a_connect_failure(void **state)
{
	struct world *w = *state;
	struct errand j;
	struct authd *d;
	errand_init(&j, w);
	start_authd(w, &j, &d);
	w->peers[0].close_in_request = true;
	errand_run(&j);
	assert_int_equal(j.called, -E_CONTROLLER_CONNECT);
	assert_true(str_starts(j.err.text,
			       "Unable to contact slurm controller (connect failure): 127.0.0.1:"));
	authd_free(d);
}

static void another_daemon_takes_over(void **state)
{
	struct world *w = *state;
	struct errand j;
	struct authd *first, *second, *never;
	struct error err = {};
	errand_init(&j, w);
	start_authd(w, &j, &first);
	start_authd(w, &j, &second); /* waits quietly */
	authd_free(first);
	errand_run(&j); /* waits for the second one */
	if (j.opened || j.called)
		fail_msg("%s", j.err.text);
	authd_free(second);
	assert_int_equal(authd_start(w->loop, w->auth, "/nowhere/auth.sock", &never, &err),
			 -ENOENT);
	assert_true(str_starts(err.text, "no credentials can be given on this host: "));
}

struct asking {
	struct end end;
	int count;
	struct error err;
	struct buf token;
};

static void take_token(void *arg, const void *reply, const struct error *err)
{
	struct asking *a = arg;
	const struct token_reply *t = reply;
	a->count++;
	if (err)
		a->err = *err;
	else
		buf_put(&a->token, t->token.data, t->token.len);
	loop_stop(a->end.world->loop);
}

static void tokens_are_for_the_caller_and_nothing_else_is_served(void **state)
{
	struct world *w = *state;
	struct errand j;
	struct authd *d;
	struct asking a = { .end = { .world = w } };
	struct conn_options o = { .loop = w->loop, .skip_hello = true };
	struct identity who;
	errand_init(&j, w);
	start_authd(w, &j, &d);
	a.end.conn = conn_connect_unix(j.socket, &o, &end_handler, &a.end);
	conn_call(a.end.conn, MSG_TOKEN, &(struct token_request) { .cluster = "c1" }, 0, take_token,
		  &a);
	world_wait(w, &a.count, 1);
	assert_int_equal(
		auth_verify(w->auth, a.token.data, a.token.len, loop_now(w->loop), &who, NULL), 0);
	assert_int_equal(who.uid, geteuid());
	assert_int_equal(who.gid, getegid());
	conn_call(a.end.conn, MSG_SHUTDOWN, NULL, 0, take_token, &a);
	world_wait(w, &a.count, 2);
	assert_int_equal(a.err.code, -E_PROTOCOL);
	authd_free(d); /* with a connection open */
	world_wait(w, &a.end.closed, 1);
	buf_done(&a.token);
}

#define WORLD_TEST(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(a_session_asks_and_is_answered),
		WORLD_TEST(silence_times_out),
		WORLD_TEST(hosts_are_tried_in_order),
		WORLD_TEST(missing_credentials_are_named),
		WORLD_TEST(a_refused_hello_is_the_answer),
		WORLD_TEST(a_lost_connection_is_a_connect_failure),
		WORLD_TEST(another_daemon_takes_over),
		WORLD_TEST(tokens_are_for_the_caller_and_nothing_else_is_served),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
