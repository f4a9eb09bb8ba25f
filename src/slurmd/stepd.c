/* SPDX-License-Identifier: Apache-2.0 */
/* stepd.c - the step daemons: starting one, talking to it, and what its silence means.
 *
 * A step daemon is started with one end of a socket pair and gets its whole work in one message; its
 * answer says that it listens on its socket file, from where on a restart of ours cannot lose it.
 * Its report at the end is answered only when the controller has acknowledged it, so that the report
 * exists somewhere at every moment: the step daemon keeps it when we die, we keep it when it dies.
 *
 * When the connection ends without a report the step daemon was killed.  Its tasks die with it; what
 * they have started is found by the environment it carries, and ended. */
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "host/disk.h"
#include "host/process.h"
#include "sched/layout.h"
#include "slurmd/impl.h"
#include "wire/conn.h"

#include <errno.h>
#include <signal.h>

static const usec_t STEPD_PATIENCE = 60 * USEC_PER_SEC;

/* The end of a step that never said how it ended, or never started. */
static void end_with(struct held *h, uint32_t code, uint32_t signal, const char *why)
{
	struct step_end end = {
		.job_id = h->job_id,
		.attempt = h->attempt,
		.step_id = h->step_id,
		.exit_code = code,
		.exit_signal = signal,
		.launch_error = (char *)why,
	};

	stepd_ended(h, &end);
}

void stepd_ended(struct held *h, const struct step_end *end)
{
	if (h->state >= HELD_ENDED)
		return;
	h->state = HELD_ENDED;
	record_copy(&step_end_record, &h->end, end, NULL);
	held_answer(&h->launch);
	link_send_end(h);
}

/* What a killed step daemon left on disk.  It stays until the controller knows of the end: it is what
 * tells the next node daemon, should this one die first, that the step has been here. */
static void remove_remains(const struct held *h)
{
	AUTO_ARENA struct arena *a = arena_new();

	(void)!disk_remove(h->d->spool, arena_printf(a, "%s.sock", h->name));
	if (h->step_id != STEP_BATCH)
		return;
	(void)!disk_remove(h->d->spool, arena_printf(a, "job%05u/slurm_script", h->job_id));
	(void)!disk_remove(h->d->spool, arena_printf(a, "job%05u", h->job_id));
}

/* A step daemon that lives removes what it has on disk by itself when it leaves. */
void stepd_release(struct held *h)
{
	if (!h->conn) {
		remove_remains(h);
		held_free(h);
		return;
	}
	h->state = HELD_ACKNOWLEDGED;
	if (!h->report)
		return; /* it is still to come; then it is answered at once */
	request_reply(TAKE_PTR(h->report), &(struct empty) {});
	conn_finish(h->conn);
	held_free(h);
}

static void report_receive(struct held *h, struct request *r)
{
	const struct stepd_state *state = r->body;

	held_answer(&h->report); /* it has asked again */
	h->report = r;
	if (h->state == HELD_ACKNOWLEDGED)
		stepd_release(h);
	else if (state->has_end)
		stepd_ended(h, &state->end);
}

static void on_request(void *arg, struct request *r)
{
	struct held *h = arg;
	struct error err = {};

	if (r->kind == MSG_STEPD_REPORT) {
		report_receive(h, r);
		return;
	}
	error_set(&err, -ENOSYS, "a step daemon may only report");
	request_fail(r, &err);
}

/* Processes that the step's tasks left behind when their step daemon was killed. */
static void kill_strays(const struct held *h)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *marks[] = {
		arena_printf(a, "SLURM_JOB_ID=%u", h->job_id),
		arena_printf(a, "SLURM_STEP_ID=%d", (int32_t)h->step_id),
		arena_printf(a, "SLURMD_NODENAME=%s", h->d->node->name),
		/* Another cluster on this machine may have such a job too. */
		arena_printf(a, "SLURM_CONF=%s", h->d->conf->path),
		NULL,
	};
	size_t killed = process_signal_marked(marks, SIGKILL);

	if (killed)
		log_info("step %s: ended %zu processes that were left over", h->name, killed);
}

static void on_closed(void *arg, struct conn *c, const char *why)
{
	struct held *h = arg;
	bool forget = h->adopting && h->clear;

	(void)c;
	h->conn = NULL;
	held_forget_request(&h->report);
	h->adopting = false;
	if (h->state == HELD_ACKNOWLEDGED) {
		remove_remains(h);
		held_free(h);
	} else if (h->state != HELD_ENDED) {
		log_error("step %s: its step daemon is lost: %s", h->name, why);
		kill_strays(h);
		if (forget) {
			remove_remains(h);
			held_free(h);
		} else {
			end_with(h, 0, SIGKILL, "step daemon lost");
		}
	}
}

static const struct conn_handler stepd_handler = {
	.request = on_request,
	.closed = on_closed,
};

static struct conn_options stepd_conn_options(const struct slurmd *d)
{
	return (struct conn_options) { .loop = d->loop, .program = "slurmd", .skip_hello = true };
}

/* Starting. */

static void on_launched(void *arg, const void *reply, const struct error *err)
{
	struct held *h = arg;

	if (reply) {
		if (h->state == HELD_STARTING)
			h->state = HELD_RUNNING;
		held_answer(&h->launch);
		return;
	}
	if (!h->conn || h->state != HELD_STARTING)
		return; /* the connection's end is dealt with where it is noticed */
	conn_close(h->conn);
	h->conn = NULL;
	if (err->code == -EADDRINUSE) {
		log_info("step %s: %s; taking it over", h->name, err->text);
		stepd_connect(h);
		return;
	}
	end_with(h, 1, 0, err->text);
}

/* Only its own life matters to us, and that shows on the connection. */
static void on_exited(void *arg, pid_t pid, int status)
{
	(void)arg;
	if (status)
		log_verbose("step daemon %d ended with status %#x", (int)pid, (unsigned)status);
}

static int spawn(struct held *h, struct error *err)
{
	struct slurmd *d = h->d;
	AUTO_ARENA struct arena *a = arena_new();
	const char *argv[12];
	int pair[2], n = 0;
	pid_t pid;
	int r = process_socketpair(pair);

	if (r < 0)
		return error_set(err, r, "cannot make a socket pair: %s", strerror(-r));
	argv[n++] = arena_printf(a, "slurmstepd: [%s]", h->name);
	argv[n++] = "-s";
	argv[n++] = disk_root(d->spool);
	argv[n++] = "-l";
	argv[n++] = log_level_name(log_get_level());
	if (d->o.stepd_cpus) {
		argv[n++] = "-b";
		argv[n++] = d->o.stepd_cpus;
	}
	if (d->o.log_path) {
		argv[n++] = "-L";
		argv[n++] = d->o.log_path;
	}
	argv[n] = NULL;
	r = process_spawn(d->loop,
			  &(struct spawn) {
				  .path = d->o.stepd_path,
				  .argv = argv,
				  .cwd = "/",
				  .fds = (int[]) { -1, -1, d->o.log_path ? -1 : 2, pair[1] },
				  .fd_count = 4,
				  .detach = true,
			  },
			  on_exited, d, &pid, err);
	close(pair[1]);
	if (r < 0) {
		close(pair[0]);
		return r;
	}
	struct conn_options o = stepd_conn_options(d);
	h->conn = conn_adopt(pair[0], &o, &stepd_handler, h);
	return 0;
}

void stepd_launch(struct held *h, struct launch *l)
{
	struct error err = {};

	/* The node's own configuration is what its jobs shall use. */
	l->conf_path = (char *)h->d->conf->path;
	if (spawn(h, &err) < 0) {
		log_error("step %s: %s", h->name, err.text);
		end_with(h, 1, 0, err.text);
		return;
	}
	/* However slow it is: it has the work, and would do it after we had given up. */
	conn_call(h->conn, MSG_STEPD_LAUNCH, l, 0, on_launched, h);
}

/* Taking over. */

static void adopted(struct held *h)
{
	if (!h->adopting)
		return;
	h->adopting = false;
	adopt_done_one(h->d);
}

static void on_found(void *arg, const void *reply, const struct error *err)
{
	struct held *h = arg;
	const struct stepd_state *state = reply;

	(void)err;
	if (h->state == HELD_STARTING)
		h->state = HELD_RUNNING;
	if (state && state->has_end)
		stepd_ended(h, &state->end);
	else if (reply)
		log_info("step %s: taken over", h->name);
	held_answer(&h->launch);
	adopted(h);
}

static void on_found_ready(void *arg, struct conn *c)
{
	conn_call(c, MSG_STEPD_QUERY, &(struct empty) {}, STEPD_PATIENCE, on_found, arg);
}

static void on_found_closed(void *arg, struct conn *c, const char *why)
{
	struct held *h = arg;
	struct slurmd *d = h->d;
	bool waited = h->adopting;

	on_closed(h, c, why);
	if (waited)
		adopt_done_one(d);
}

static const struct conn_handler found_handler = {
	.ready = on_found_ready,
	.request = on_request,
	.closed = on_found_closed,
};

void stepd_connect(struct held *h)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct conn_options o = stepd_conn_options(h->d);
	const char *path = arena_printf(a, "%s/%s.sock", disk_root(h->d->spool), h->name);

	h->conn = conn_connect_unix(path, &o, &found_handler, h);
}

/* Orders. */

static void ignore_reply(void *arg, const void *reply, const struct error *err)
{
	(void)arg;
	if (!reply)
		log_debug("step daemon: %s", err->text);
}

void stepd_signal(struct held *h, const struct signal_step *sig)
{
	if (h->conn && h->state < HELD_ENDED)
		conn_call(h->conn, MSG_STEPD_SIGNAL, sig, STEPD_PATIENCE, ignore_reply, NULL);
}

void stepd_terminate(struct held *h, const struct terminate_job *t)
{
	if (h->conn && h->state < HELD_ENDED)
		conn_call(h->conn, MSG_STEPD_TERMINATE, t, STEPD_PATIENCE, ignore_reply, NULL);
}
