/* SPDX-License-Identifier: Apache-2.0 */
/* Peers: step daemons that call in, what they say, and the input they are sent.
 *
 * A caller counts only after an io_hello with the step's cookie; anything else on the port is
 * dropped.  Output is written as it comes, and while srun blocks in writing nothing more is read:
 * so a slow terminal slows the tasks down instead of filling memory.  Input is read only while every
 * peer keeps up. */
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "cmd/srun.h"
#include "host/loop.h"
#include "host/stream.h"
#include "schema/errors.h"
#include "wire/conn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BODY_MAX = 2 << 20, INPUT_QUEUE_MAX = 1 << 20, STRANGERS_MAX = 4096 };

/* A connection before its hello. */
struct caller {
	struct srun *srun;
	struct peer *peer; /* once it is known */
};

static const usec_t INPUT_PAUSE = 5 * USEC_PER_MSEC;

/* ---- the end ----------------------------------------------------------------------------------- */

void io_check_end(struct srun *s)
{
	if (s->done == s->peer_count)
		loop_stop(s->loop);
}

static void peer_done(struct srun *s, struct peer *p)
{
	if (p->done)
		return;
	p->done = true;
	s->done++;
	io_check_end(s);
}

void io_peer_lost(struct srun *s, struct peer *p, const char *why)
{
	if (p->done)
		return;
	log_error("%s: lost: %s", p->name, why);
	conn_close(TAKE_PTR(p->conn));
	exit_note_lost(s, p);
	peer_done(s, p);
	if (s->done < s->peer_count && !s->o.at.spec.no_kill)
		step_abort(s, SIGTERM); /* the others would wait for it for ever */
}

/* ---- peers ------------------------------------------------------------------------------------- */

static void dismiss(struct srun *s, struct conn *stranger)
{
	s->strangers--;
	conn_close(stranger);
}

static void take_hello(struct caller *c, struct request *r)
{
	struct srun *s = c->srun;
	const struct io_hello *h = r->body;
	if (h->cookie != s->step.cookie || h->job_id != s->al.job_id || h->step_id != s->step.id ||
	    h->node_pos >= s->peer_count || s->peers[h->node_pos].called) {
		log_error("a caller from %s does not belong to this step", conn_peer_name(r->conn));
		dismiss(s, r->conn);
		return;
	}
	struct peer *p = &s->peers[h->node_pos];
	p->called = true;
	p->conn = r->conn;
	p->name = h->node_name ? arena_strdup(s->o.arena, h->node_name) : p->name;
	c->peer = p;
	s->strangers--;
	for (uint32_t i = 0; i < h->n_task_ids; i++) {
		if (h->task_ids[i] >= s->step.ntasks)
			continue;
		s->tasks[h->task_ids[i]].known = true;
		s->tasks[h->task_ids[i]].peer = p->node_pos;
	}
	if (s->aborting) /* it came too late to hear of the end */
		conn_send(p->conn, MSG_IO_SIGNAL,
			  &(struct io_signal) {
				  .signal = s->kill_stage ? SIGKILL : (uint32_t)s->abort_signo });
	if (++s->called == s->peer_count) {
		if (s->o.at.pty)
			io_send_winsize(s);
		io_start_input(s);
	}
}

static void take_data(struct srun *s, const struct io_data *d)
{
	if (d->task >= s->step.ntasks || (d->stream != IO_OUT && d->stream != IO_ERR))
		return;
	if (d->data.len)
		output_write(s, d->task, (int)d->stream, d->data.data, d->data.len);
	if (d->eof)
		output_end(s, d->task, (int)d->stream);
}

static void on_request(void *arg, struct request *r)
{
	struct caller *c = arg;
	struct srun *s = c->srun;
	if (!r->oneway) {
		struct error err = {};
		error_set(&err, -E_PROTOCOL, "srun answers no questions");
		request_fail(r, &err);
		return;
	}
	if (!c->peer) {
		if (r->kind == MSG_IO_HELLO)
			take_hello(c, r);
		else
			dismiss(s, r->conn);
	} else if (r->kind == MSG_IO_DATA) {
		take_data(s, r->body);
	} else if (r->kind == MSG_IO_EXIT) {
		exit_note(s, c->peer, r->body);
	} else if (r->kind == MSG_IO_DONE) {
		struct conn *conn = TAKE_PTR(c->peer->conn);
		peer_done(s, c->peer);
		conn_finish(conn); /* it waits for us to close */
	}
	request_reply(r, NULL);
}

static void on_ready(void *arg, struct conn *c)
{
	(void)arg, (void)c;
}

static void on_closed(void *arg, struct conn *conn, const char *why)
{
	struct caller *c = arg;
	(void)conn;
	if (!c->peer) {
		c->srun->strangers--;
		return;
	}
	c->peer->conn = NULL;
	if (!c->peer->done)
		io_peer_lost(c->srun, c->peer, why);
}

static void on_accept(void *arg, struct stream *stream)
{
	static const struct conn_handler handler = { on_ready, on_request, on_closed };
	struct srun *s = arg;
	if (s->strangers >= STRANGERS_MAX) {
		stream_close(stream);
		return;
	}
	s->strangers++;
	struct caller *c = ARENA_NEW(s->o.arena, struct caller);
	const struct conn_options o = {
		.loop = s->loop, .program = "srun", .body_max = BODY_MAX, .skip_hello = true
	};
	c->srun = s;
	conn_accept(stream, &o, &handler, c);
}

int io_listen(struct srun *s, struct error *err)
{
	char host[256];
	connect_own_address(&s->c, host, sizeof(host));
	const char *only = strncmp(host, "127.", 4) == 0 ? host : NULL;
	return listener_tcp(s->loop, only, 0, on_accept, s, &s->listener, err);
}

void io_signal(struct srun *s, int signo)
{
	for (uint32_t i = 0; i < s->peer_count; i++)
		if (s->peers[i].conn && !s->peers[i].done)
			conn_send(s->peers[i].conn, MSG_IO_SIGNAL,
				  &(struct io_signal) { .signal = (uint32_t)signo });
}

void io_send_winsize(struct srun *s)
{
	struct winsize w;
	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &w) < 0)
		return;
	struct io_winsize body = { .rows = w.ws_row, .cols = w.ws_col };
	for (uint32_t i = 0; i < s->peer_count; i++)
		if (s->peers[i].conn)
			conn_send(s->peers[i].conn, MSG_IO_WINSIZE, &body);
}

/* ---- standard input ---------------------------------------------------------------------------- */

static bool is_behind(const struct srun *s)
{
	for (uint32_t i = 0; i < s->peer_count; i++)
		if (s->peers[i].conn && conn_queued(s->peers[i].conn) > INPUT_QUEUE_MAX)
			return true;
	return false;
}

static void input_send(struct srun *s, const uint8_t *data, size_t len, bool eof)
{
	struct io_data body = { .task = s->input_task, .stream = IO_IN, .eof = eof };
	body.data = (struct bytes) { (uint8_t *)data, len };
	for (uint32_t i = 0; i < s->peer_count; i++) {
		struct peer *p = &s->peers[i];
		bool wanted = s->input_task == ALL_TASKS || s->tasks[s->input_task].peer == i;
		if (p->conn && !p->done && wanted)
			conn_send(p->conn, MSG_IO_DATA, &body);
	}
}

static void input_again(void *arg)
{
	struct srun *s = arg;
	if (!s->input)
		return;
	if (is_behind(s))
		timer_start(s->input_timer, INPUT_PAUSE, 0);
	else
		stream_resume(s->input);
}

static void input_data(void *arg, const uint8_t *data, size_t len)
{
	struct srun *s = arg;
	input_send(s, data, len, false);
	if (is_behind(s)) {
		stream_pause(s->input);
		timer_start(s->input_timer, INPUT_PAUSE, 0);
	}
}

/* A terminal that we may not read from (srun in the background) is not the end of input. */
static void input_closed(void *arg, int status)
{
	struct srun *s = arg;
	s->input = NULL;
	s->input_ended = true;
	if (status != -EIO)
		input_send(s, NULL, 0, true);
}

void io_start_input(struct srun *s)
{
	static const struct stream_handler handler = { .data = input_data, .closed = input_closed };
	if (s->input_started || s->input_fd < 0)
		return;
	s->input_started = true;
	s->input_timer = timer_new(s->loop, input_again, s);
	/* A copy: our own descriptor 0 stays what it is, for the terminal's settings. */
	int fd = fcntl(s->input_fd, F_DUPFD_CLOEXEC, 3);
	if (fd >= 0)
		s->input = stream_adopt(s->loop, fd, &handler, s);
	else
		input_send(s, NULL, 0, true); /* closed before we began: nothing to read */
}
