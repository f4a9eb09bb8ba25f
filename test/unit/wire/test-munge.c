/* SPDX-License-Identifier: Apache-2.0 */
/* auth/munge against a real munged. */
#include "base/buf.h"
#include "base/error.h"
#include "schema/errors.h"
#include "wire/auth.h"
#include "wire/auth_impl.h"

#include "../cm.h"
#include "munged.h"
#include "world.h"

#include <unistd.h>

static int setup(void **state)
{
	static struct munged m;
	const char *why = munged_start(&m);
	if (why)
		print_message("auth/munge is not tested: %s\n", why);
	*state = why ? NULL : &m;
	return 0;
}

static int teardown(void **state)
{
	if (*state)
		munged_stop(*state);
	return 0;
}

static struct auth *open_auth(const struct munged *m, const char *cluster)
{
	struct auth *a = NULL;
	struct error err = {};
	struct auth_options o = { .type = "auth/munge",
				  .cluster = cluster,
				  .munge_socket = m->socket };
	if (auth_new(&o, &a, &err) < 0)
		fail_msg("%s", err.text);
	return a;
}

static void munge_vouches_for_the_caller(void **state)
{
	struct munged *m = *state;
	if (!m)
		skip();
	struct auth *a = open_auth(m, "c1"), *other = open_auth(m, "c2");
	AUTO_BUF struct buf token = {}, again = {};
	struct identity me = { geteuid(), getegid() }, root_or_so = { geteuid() + 1, 0 }, who = {};
	struct error err = {};
	assert_true(auth_may_block(a) && !auth_can_vouch(a));
	assert_int_equal(auth_sign(a, &me, 0, &token, &err), 0);
	assert_int_equal(auth_verify(a, token.data, token.len, 0, &who, &err), 0);
	assert_int_equal(who.uid, me.uid);
	assert_int_equal(who.gid, me.gid);
	assert_int_equal(auth_verify(a, token.data, token.len, 0, &who, &err), -E_AUTH);
	assert_string_equal(
		err.text,
		"Protocol authentication error: munge refuses the credential: Replayed credential");

	assert_int_equal(munge_token(m->socket, "c2", &again, &err), 0); /* as commands do */
	assert_int_equal(auth_verify(a, again.data, again.len, 0, &who, &err), -E_AUTH);
	assert_non_null(strstr(err.text, "it says 'muster 0000000000000000 c2'"));

	assert_int_equal(auth_sign(a, &root_or_so, 0, &again, &err), -E_AUTH);
	assert_int_equal(auth_verify(a, "\x01gibberish", 10, 0, &who, &err), -E_AUTH);
	assert_int_equal(auth_verify(a, "MUNGE:gibberish:", 16, 0, &who, &err), -E_AUTH);
	auth_free(a);
	auth_free(other);
}

static void a_dead_munged_is_named(void **state)
{
	struct munged *m = *state;
	if (!m)
		skip();
	AUTO_BUF struct buf token = {};
	struct error err = {};
	assert_int_equal(munge_token("/nowhere/munge.socket", "c1", &token, &err), -E_AUTH);
	assert_non_null(strstr(err.text, "/nowhere/munge.socket"));
}

/* Connections whose credentials take a while: the pool checks them, the loop goes on. */
static void connections_use_munge_both_ways(void **state)
{
	struct munged *m = *state;
	if (!m)
		skip();
	void *world = NULL;
	assert_int_equal(world_setup(&world), 0);
	struct world *w = world;
	auth_free(w->auth);
	w->auth = w->server.auth = open_auth(m, "c1");
	struct end client, gone;
	struct outcome ping = {};
	end_connect(&client, w);
	end_ping(&client, &ping);
	world_wait(w, &ping.count, 1);
	assert_true(ping.ok);
	assert_int_equal(conn_peer(client.conn)->uid, geteuid());
	assert_int_equal(conn_peer(w->peers[0].conn)->uid, geteuid());

	struct raw impatient; /* goes away while its credential is looked at */
	raw_connect(&impatient, w);
	raw_hello(&impatient, w->auth, "c1", 0);
	world_wait(w, &w->peer_count, 2);
	raw_close(&impatient);
	world_wait(w, &w->peers[1].closed, 1);

	end_connect(&gone, w);
	world_wait(w, &w->peer_count, 3);
	conn_close(gone.conn); /* while ours is being made, or just after */
	world_wait(w, &w->peers[2].closed, 1);

	struct auth *other = open_auth(m, "c2");
	struct conn_options o = world_options(w);
	o.auth = other;
	struct end stranger = { .world = w };
	stranger.conn = conn_connect_tcp("127.0.0.1", w->port, &o, &end_handler, &stranger);
	world_wait(w, &stranger.closed, 1);
	assert_non_null(strstr(stranger.why, "made for another cluster or purpose"));
	conn_close(client.conn);
	auth_free(other);
	assert_int_equal(world_teardown(&world), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(munge_vouches_for_the_caller),
		cmocka_unit_test(a_dead_munged_is_named),
		cmocka_unit_test(connections_use_munge_both_ways),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
