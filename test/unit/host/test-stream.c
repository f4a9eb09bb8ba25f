/* SPDX-License-Identifier: Apache-2.0 */
/* Streams against themselves: an echo server and clients on one loop, and the ways to end badly. */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "host/loop.h"
#include "host/process.h"
#include "host/stream.h"

#include "../cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

struct world {
	struct loop *loop;
	struct listener *listener;
	struct timer *guard;
	char dir[64], path[96];
	int open; /* streams that have not ended yet */
};

struct end {
	struct world *world;
	struct stream *stream;
	struct buf got;
	int opened, drained, closed, status;
	size_t want; /* stop the loop when this much has arrived */
	bool close_on_data, close_on_open, pause_on_data;
	bool stop_on_close, stop_on_drain;
	size_t refill; /* bytes left to write, a piece at each `drained` */
};

static void too_long(void *arg)
{
	(void)arg;
	fail_msg("nothing happened for ten seconds");
}

static int setup(void **state)
{
	struct world *w = NEW(struct world);
	w->loop = loop_new();
	w->guard = timer_new(w->loop, too_long, NULL);
	timer_start(w->guard, 10 * USEC_PER_SEC, 0);
	snprintf(w->dir, sizeof(w->dir), "/tmp/muster-stream-XXXXXX");
	if (!mkdtemp(w->dir))
		return -1;
	snprintf(w->path, sizeof(w->path), "%s/sock", w->dir);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	listener_free(w->listener);
	timer_free(w->guard);
	loop_free(w->loop);
	unlink(w->path);
	rmdir(w->dir);
	free(w);
	return 0;
}

/* ---- one end of a stream ------------------------------------------------------------------------ */

static void on_opened(void *arg)
{
	struct end *e = arg;
	e->opened++;
	if (e->close_on_open)
		stream_close(TAKE_PTR(e->stream));
}

static void on_data(void *arg, const uint8_t *data, size_t len)
{
	struct end *e = arg;
	buf_put(&e->got, data, len);
	if (e->pause_on_data)
		stream_pause(e->stream);
	if (e->close_on_data)
		stream_close(TAKE_PTR(e->stream));
	if (e->want > 0 && e->got.len >= e->want)
		loop_stop(e->world->loop);
}

static void on_drained(void *arg)
{
	struct end *e = arg;
	e->drained++;
	if (e->stop_on_drain)
		loop_stop(e->world->loop);
}

static void on_closed(void *arg, int status)
{
	struct end *e = arg;
	e->closed++;
	e->status = status;
	e->stream = NULL;
	if (e->stop_on_close)
		loop_stop(e->world->loop);
}

static const struct stream_handler end_handler = { on_opened, on_data, on_drained, on_closed };

static void end_done(struct end *e)
{
	stream_close(TAKE_PTR(e->stream));
	buf_done(&e->got);
}

/* ---- the echo server ---------------------------------------------------------------------------- */

struct echo {
	struct world *world;
	struct stream *stream;
};

static void echo_data(void *arg, const uint8_t *data, size_t len)
{
	struct echo *e = arg;
	stream_write(e->stream, data, len);
	if (stream_queued(e->stream) > (1 << 20))
		stream_pause(e->stream);
}

static void echo_drained(void *arg)
{
	stream_resume(((struct echo *)arg)->stream);
}

static void echo_closed(void *arg, int status)
{
	struct echo *e = arg;
	(void)status;
	if (--e->world->open == 0)
		loop_stop(e->world->loop);
	free(e);
}

static const struct stream_handler echo_handler = { NULL, echo_data, echo_drained, echo_closed };

static void echo_accepted(void *arg, struct stream *s)
{
	struct echo *e = NEW(struct echo);
	e->world = arg;
	e->stream = s;
	e->world->open++;
	stream_set_handler(s, &echo_handler, e);
}

static void serve_tcp(struct world *w, accept_fn fn)
{
	struct error err = {};
	int r = listener_tcp(w->loop, "127.0.0.1", 0, fn, w, &w->listener, &err);
	if (r < 0)
		fail_msg("%s", err.text);
}

/* ---- tests -------------------------------------------------------------------------------------- */

static void echo_some(struct world *w, struct end *e, size_t len)
{
	AUTO_FREE uint8_t *data = mem_alloc(len);
	for (size_t i = 0; i < len; i++)
		data[i] = (uint8_t)(i * 7 + i / 251);
	for (size_t at = 0; at < len;) { /* many writes of a turn, of all sizes */
		size_t piece = at % 977 + 1 < len - at ? at % 977 + 1 : len - at;
		stream_write(e->stream, data + at, piece);
		at += piece;
	}
	e->want = len;
	loop_run(w->loop);
	assert_int_equal(e->got.len, len);
	assert_memory_equal(e->got.data, data, len);
	assert_true(e->drained > 0);
	assert_int_equal(stream_queued(e->stream), 0);
	stream_close(TAKE_PTR(e->stream));
	loop_run(w->loop); /* until the server has seen the end */
}

static void test_echo_over_tcp(void **state)
{
	struct world *w = *state;
	static const char *const hosts[] = { "127.0.0.1", "localhost" };
	serve_tcp(w, echo_accepted);
	for (size_t i = 0; i < ARRAY_COUNT(hosts); i++) {
		struct end e = { .world = w };
		e.stream = stream_connect_tcp(w->loop, hosts[i], listener_port(w->listener),
					      &end_handler, &e);
		echo_some(w, &e, i == 0 ? 1 : 20 << 20);
		assert_int_equal(e.opened, 1);
		assert_int_equal(e.closed, 0);
		end_done(&e);
	}
}

static void test_echo_over_unix(void **state)
{
	struct world *w = *state;
	assert_int_equal(
		listener_unix(w->loop, w->path, 0640, echo_accepted, w, &w->listener, NULL), 0);
	struct stat st;
	assert_int_equal(stat(w->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	struct end e = { .world = w };
	e.stream = stream_connect_unix(w->loop, w->path, &end_handler, &e);
	echo_some(w, &e, 3 << 20);
	end_done(&e);
	listener_free(TAKE_PTR(w->listener));
	assert_int_equal(stat(w->path, &st), -1);
}

static void test_connect_failures(void **state)
{
	struct world *w = *state;
	serve_tcp(w, echo_accepted);
	uint16_t port = listener_port(w->listener);
	listener_free(TAKE_PTR(w->listener));
	char lengthy[200];
	memset(lengthy, 'x', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = 0;
	char missing[160];
	snprintf(missing, sizeof(missing), "%s/none", w->dir);
	const struct {
		const char *host, *path;
		int status;
	} cases[] = {
		{ "127.0.0.1", NULL, -ECONNREFUSED },
		{ "::1", NULL, -ECONNREFUSED },
		{ "localhost", NULL, -ECONNREFUSED },
		{ "no such host", NULL, -ENXIO },
		{ "", NULL, -ENXIO },
		{ lengthy, NULL, -ENXIO },
		{ NULL, missing, -ENOENT },
		{ NULL, lengthy, -ENAMETOOLONG },
	};
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct end e = { .world = w, .stop_on_close = true };
		e.stream = cases[i].path
				   ? stream_connect_unix(w->loop, cases[i].path, &end_handler, &e)
				   : stream_connect_tcp(w->loop, cases[i].host, port, &end_handler,
							&e);
		assert_int_equal(e.closed, 0); /* never from inside the call */
		stream_write(e.stream, "x", 1);
		loop_run(w->loop);
		assert_int_equal(e.opened, 0);
		assert_int_equal(e.closed, 1);
		if (e.status != cases[i].status && e.status != -EADDRNOTAVAIL &&
		    e.status != -EAFNOSUPPORT)
			fail_msg("case %zu: %d", i, e.status);
		end_done(&e);
	}
}

static void stop_loop(void *arg)
{
	loop_stop(((struct world *)arg)->loop);
}

static void test_close_at_any_moment(void **state)
{
	struct world *w = *state;
	serve_tcp(w, echo_accepted);
	uint16_t port = listener_port(w->listener);
	struct end at_once = { .world = w }, resolving = { .world = w },
		   opening = { .world = w, .close_on_open = true },
		   reading = { .world = w, .close_on_data = true, .want = 1 };
	at_once.stream = stream_connect_tcp(w->loop, "127.0.0.1", port, &end_handler, &at_once);
	resolving.stream = stream_connect_tcp(w->loop, "localhost", port, &end_handler, &resolving);
	stream_write(at_once.stream, "x", 1);
	stream_close(TAKE_PTR(at_once.stream));
	stream_close(TAKE_PTR(resolving.stream));
	opening.stream = stream_connect_tcp(w->loop, "127.0.0.1", port, &end_handler, &opening);
	stream_write(opening.stream, "x", 1);
	reading.stream = stream_connect_tcp(w->loop, "127.0.0.1", port, &end_handler, &reading);
	stream_write(reading.stream, "xyz", 3);
	loop_run(w->loop);
	assert_int_equal(opening.opened, 1);
	assert_int_equal(opening.closed + reading.closed + at_once.closed + resolving.closed, 0);
	assert_null(reading.stream);
	if (w->open > 0)
		loop_run(w->loop);
	end_done(&reading);
}

/* A server that answers, refuses to read on, and closes. */
static void answer_and_finish(void *arg, struct stream *s)
{
	(void)arg;
	AUTO_FREE char *text = mem_alloc(3 << 20);
	memset(text, 'a', 3 << 20);
	stream_write(s, text, 3 << 20);
	stream_finish(s);
}

static void test_finish_delivers_everything(void **state)
{
	struct world *w = *state;
	serve_tcp(w, answer_and_finish);
	struct end e = { .world = w, .stop_on_close = true };
	e.stream = stream_connect_tcp(w->loop, "127.0.0.1", listener_port(w->listener),
				      &end_handler, &e);
	AUTO_FREE char *text = mem_alloc(8 << 20);
	stream_write(e.stream, text,
		     8 << 20); /* nobody will read it: a plain close would reset us */
	loop_run(w->loop);
	assert_int_equal(e.got.len, 3 << 20);
	assert_int_equal(e.closed, 1);
	end_done(&e);
}

static void say_no_and_close(void *arg, struct stream *s)
{
	struct world *w = arg;
	(void)w;
	stream_write(s, "no\n", 3);
	stream_finish(s);
}

static void test_last_words_are_read_before_the_write_error(void **state)
{
	struct world *w = *state;
	int fds[2];
	assert_int_equal(process_socketpair(fds), 0);
	struct end e = { .world = w, .stop_on_close = true };
	e.stream = stream_adopt(w->loop, fds[0], &end_handler, &e);
	assert_int_equal(write(fds[1], "no\n", 3), 3);
	close(fds[1]);
	stream_write(e.stream, "hello", 5);
	loop_run(w->loop);
	assert_int_equal(e.closed, 1);
	assert_int_equal(e.status, -EPIPE);
	assert_string_equal(buf_text(&e.got), "no\n");
	end_done(&e);

	serve_tcp(w, say_no_and_close);
	e = (struct end) { .world = w, .stop_on_close = true };
	e.stream = stream_connect_tcp(w->loop, "127.0.0.1", listener_port(w->listener),
				      &end_handler, &e);
	loop_run(w->loop);
	assert_int_equal(e.status, 0);
	assert_string_equal(buf_text(&e.got), "no\n");
	end_done(&e);
}

static void test_pause_stops_reading(void **state)
{
	struct world *w = *state;
	int fds[2];
	assert_int_equal(process_socketpair(fds), 0);
	struct end from = { .world = w }, to = { .world = w, .pause_on_data = true };
	from.stream = stream_adopt(w->loop, fds[0], &end_handler, &from);
	to.stream = stream_adopt(w->loop, fds[1], &end_handler, &to);
	AUTO_FREE char *data = mem_alloc(4 << 20);
	stream_write(from.stream, data, 4 << 20);
	struct timer *t = timer_new(w->loop, stop_loop, w);
	timer_start(t, 20 * USEC_PER_MSEC, 0);
	loop_run(w->loop);
	assert_true(to.got.len > 0 && to.got.len <= 65536);
	assert_true(stream_queued(from.stream) > 0);
	assert_int_equal(from.drained, 0);
	to.pause_on_data = false;
	to.want = 4 << 20;
	stream_resume(to.stream);
	loop_run(w->loop);
	assert_int_equal(to.got.len, 4 << 20);
	assert_int_equal(from.drained, 1);
	timer_free(t);
	end_done(&from);
	end_done(&to);
}

static void test_adopted_pipes_and_files(void **state)
{
	struct world *w = *state;
	int fds[2];
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	int dup_read = dup(fds[0]);
	struct end in = { .world = w, .want = 5 }, out = { .world = w, .stop_on_close = true };
	in.stream = stream_adopt(w->loop, fds[0], &end_handler, &in);
	out.stream = stream_adopt(w->loop, fds[1], &end_handler, &out);
	stream_write(out.stream, "hello", 5);
	loop_run(w->loop);
	assert_string_equal(buf_text(&in.got), "hello");
	assert_true(fcntl(dup_read, F_GETFL) & O_NONBLOCK);
	stream_close(TAKE_PTR(in.stream));
	assert_false(fcntl(dup_read, F_GETFL) & O_NONBLOCK); /* others share it: as it was before */
	close(dup_read);
	loop_run(w->loop); /* no reader left: said without writing */
	assert_int_equal(out.status, -EPIPE);
	end_done(&in);

	snprintf(w->path, sizeof(w->path), "%s/file", w->dir);
	int fd = open(w->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct end file = { .world = w, .stop_on_drain = true };
	file.stream = stream_adopt(w->loop, fd, &end_handler, &file);
	AUTO_FREE char *data = mem_alloc(3 << 20);
	stream_write(file.stream, data, 3 << 20);
	loop_run(w->loop);
	end_done(&file);
	file = (struct end) { .world = w, .stop_on_close = true };
	file.stream = stream_adopt(w->loop, open(w->path, O_RDONLY | O_CLOEXEC), &end_handler,
				   &file);
	loop_run(w->loop);
	assert_int_equal(file.got.len, 3 << 20);
	assert_int_equal(file.status, 0);
	end_done(&file);
}

static void say_and_stop(void *arg)
{
	struct end *e = arg;
	stream_write(e->stream, "bye", 3);
	loop_stop(e->world->loop);
}

static void test_what_the_last_turn_writes_leaves(void **state)
{
	struct world *w = *state;
	int fds[2];
	char got[8] = "";
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	struct end e = { .world = w };
	e.stream = stream_adopt(w->loop, fds[0], &end_handler, &e);
	struct timer *t = timer_new(w->loop, say_and_stop, &e);
	timer_start(t, 1000, 0);
	loop_run(w->loop);
	assert_int_equal(recv(fds[1], got, sizeof(got), MSG_DONTWAIT), 3);
	assert_string_equal(got, "bye");
	timer_free(t);
	end_done(&e);
	close(fds[1]);
}

static void test_bad_descriptor_is_reported(void **state)
{
	struct world *w = *state;
	struct end e = { .world = w, .stop_on_close = true };
	e.stream = stream_adopt(w->loop, 9999, &end_handler, &e);
	loop_run(w->loop);
	assert_int_equal(e.status, -EBADF);
	end_done(&e);
}

static void test_large_answer_to_a_peer_that_left(void **state)
{
	struct world *w = *state;
	int fds[2];
	assert_int_equal(process_socketpair(fds), 0);
	close(fds[1]);
	struct stream *s = stream_adopt(w->loop, fds[0], NULL, NULL);
	AUTO_FREE char *data = mem_alloc(1 << 20);
	stream_write(s, data, 1 << 20); /* written at once, and fails at once */
	stream_write(s, data, 1);
	assert_int_equal(stream_queued(s), 0);
	stream_finish(s);
	struct timer *t = timer_new(w->loop, stop_loop, w);
	timer_start(t, 0, 0);
	loop_run(w->loop);
	timer_free(t);
}

/* ---- local sockets ------------------------------------------------------------------------------ */

static void peer_accepted(void *arg, struct stream *s)
{
	struct world *w = arg;
	struct stream_peer p;
	stream_get_peer(s, &p);
	assert_true(p.local);
	assert_int_equal(p.uid, getuid());
	assert_int_equal(p.gid, getgid());
	assert_int_equal(p.pid, getpid());
	assert_string_equal(p.addr, w->path);
	stream_close(s);
}

static void test_peer_of_a_local_socket(void **state)
{
	struct world *w = *state;
	assert_int_equal(
		listener_unix(w->loop, w->path, 0666, peer_accepted, w, &w->listener, NULL), 0);
	struct end e = { .world = w, .stop_on_close = true };
	e.stream = stream_connect_unix(w->loop, w->path, &end_handler, &e);
	loop_run(w->loop);
	assert_int_equal(e.opened, 1);
	end_done(&e);
}

static void tcp_peer_accepted(void *arg, struct stream *s)
{
	(void)arg;
	struct stream_peer p;
	stream_get_peer(s, &p);
	assert_false(p.local);
	assert_memory_equal(p.addr, "127.0.0.1:", 10);
	stream_close(s);
}

static void test_peer_of_a_tcp_connection(void **state)
{
	struct world *w = *state;
	assert_int_equal(listener_tcp(w->loop, NULL, 0, tcp_peer_accepted, w, &w->listener, NULL),
			 0);
	struct end e = { .world = w, .stop_on_close = true };
	e.stream = stream_connect_tcp(w->loop, "127.0.0.1", listener_port(w->listener),
				      &end_handler, &e);
	loop_run(w->loop);
	end_done(&e);
}

static void make_stale(const char *path)
{
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
}

static void test_stale_live_and_wrong_socket_files(void **state)
{
	struct world *w = *state;
	struct error err = {};
	struct listener *second = NULL;
	make_stale(w->path);
	assert_int_equal(
		listener_unix(w->loop, w->path, 0600, echo_accepted, w, &w->listener, &err), 0);
	assert_int_equal(listener_unix(w->loop, w->path, 0600, echo_accepted, w, &second, &err),
			 -EADDRINUSE);
	assert_non_null(strstr(err.text, w->path));
	assert_null(second);
	listener_free(TAKE_PTR(w->listener));

	close(open(w->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_int_equal(listener_unix(w->loop, w->path, 0600, echo_accepted, w, &second, &err),
			 -EEXIST);
	assert_non_null(strstr(err.text, "not a socket"));

	char lengthy[200];
	memset(lengthy, 'x', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = 0;
	assert_int_equal(listener_unix(w->loop, lengthy, 0600, echo_accepted, w, &second, &err),
			 -ENAMETOOLONG);
	assert_non_null(strstr(err.text, "107"));
}

static void test_port_in_use_is_said(void **state)
{
	struct world *w = *state;
	serve_tcp(w, echo_accepted);
	struct error err = {};
	struct listener *second = NULL;
	uint16_t port = listener_port(w->listener);
	assert_int_equal(listener_tcp(w->loop, "127.0.0.1", port, echo_accepted, w, &second, &err),
			 -EADDRINUSE);
	char number[8];
	snprintf(number, sizeof(number), "%u", port);
	assert_non_null(strstr(err.text, number));
}

/* ---- many --------------------------------------------------------------------------------------- */

#define MANY 2000

struct many {
	struct world *world;
	struct stream *streams[MANY];
	size_t bytes;
};

static void many_data(void *arg, const uint8_t *data, size_t len)
{
	struct many *m = arg;
	(void)data;
	m->bytes += len;
	if (m->bytes == MANY * 6)
		loop_stop(m->world->loop);
}

static void many_opened(void *arg)
{
	(void)arg;
}

static void many_closed(void *arg, int status)
{
	(void)arg;
	fail_msg("a connection ended: %s", strerror(-status));
}

static const struct stream_handler many_handler = { many_opened, many_data, NULL, many_closed };

static void test_thousands_of_connections(void **state)
{
	struct world *w = *state;
	struct rlimit lim;
	getrlimit(RLIMIT_NOFILE, &lim);
	if (lim.rlim_max < 2 * MANY + 64)
		skip();
	lim.rlim_cur = 2 * MANY + 64;
	setrlimit(RLIMIT_NOFILE, &lim);
	assert_int_equal(
		listener_unix(w->loop, w->path, 0600, echo_accepted, w, &w->listener, NULL), 0);
	struct many *m = NEW(struct many);
	m->world = w;
	for (size_t i = 0; i < MANY; i++) {
		m->streams[i] = stream_connect_unix(w->loop, w->path, &many_handler, m);
		stream_write(m->streams[i], "abc", 3);
		stream_write(m->streams[i], "def", 3);
	}
	loop_run(w->loop);
	assert_int_equal(w->open, MANY);
	for (size_t i = 0; i < MANY; i++)
		stream_close(m->streams[i]);
	loop_run(w->loop);
	assert_int_equal(w->open, 0);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_echo_over_tcp, setup, teardown),
		cmocka_unit_test_setup_teardown(test_echo_over_unix, setup, teardown),
		cmocka_unit_test_setup_teardown(test_connect_failures, setup, teardown),
		cmocka_unit_test_setup_teardown(test_close_at_any_moment, setup, teardown),
		cmocka_unit_test_setup_teardown(test_finish_delivers_everything, setup, teardown),
		cmocka_unit_test_setup_teardown(test_last_words_are_read_before_the_write_error,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_pause_stops_reading, setup, teardown),
		cmocka_unit_test_setup_teardown(test_adopted_pipes_and_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_the_last_turn_writes_leaves, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_descriptor_is_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(test_large_answer_to_a_peer_that_left, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_peer_of_a_local_socket, setup, teardown),
		cmocka_unit_test_setup_teardown(test_peer_of_a_tcp_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stale_live_and_wrong_socket_files, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_port_in_use_is_said, setup, teardown),
		cmocka_unit_test_setup_teardown(test_thousands_of_connections, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
