/* SPDX-License-Identifier: Apache-2.0 */
/* control.c - the step daemon's side towards the node daemon.
 *
 * The work arrives over an inherited socket.  Beside it the step daemon listens on a socket file named
 * after job, attempt and step, where a node daemon that was restarted finds it; the newest connection
 * counts.  Binding that name is also the lock that keeps a step from being started twice: whoever
 * finds a living listener there does not start. */
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "sched/layout.h"
#include "slurmstepd/stepd.h"

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void launch_receive(struct stepd *s, const struct frame *f, const uint8_t *body)
{
	struct error err = {};
	struct launch *l = &s->launch;
	int r;

	if (s->mode != STEPD_WAITING) {
		talk_refuse(&s->control, f, -EALREADY, "this step daemon has work already");
		return;
	}
	r = record_decode(&launch_record, l, body, f->len, s->arena, &err);
	if (r < 0) {
		talk_refuse(&s->control, f, r, err.text);
		return;
	}
	s->end.job_id = l->job_id;
	s->end.attempt = l->attempt;
	s->end.step_id = l->step_id;
	stepd_on(s, ON_LAUNCH, f);
}

static void query_answer(struct stepd *s, const struct frame *f)
{
	bool ended = s->mode == STEPD_REPORTING;
	struct stepd_state state = {
		.job_id = s->launch.job_id,
		.attempt = s->launch.attempt,
		.step_id = s->launch.step_id,
		.running = !ended,
		.has_end = ended,
		.end = s->end,
		.pid = (uint32_t)getpid(),
	};

	talk_reply(&s->control, f, &stepd_state_record, &state);
}

/* Decodes a request that becomes an event; the answer says that it was understood. */
static void event_receive(struct stepd *s, const struct frame *f, const uint8_t *body, void *obj,
			  const struct record *record, enum stepd_event e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct error err = {};
	int r = record_decode(record, obj, body, f->len, a, &err);

	if (r < 0) {
		talk_refuse(&s->control, f, r, err.text);
		return;
	}
	stepd_on(s, e, obj);
	talk_reply(&s->control, f, &empty_record, &(struct empty) {});
}

static void control_handle(struct stepd *s, const struct frame *f, const uint8_t *body)
{
	struct signal_step sig = {};
	struct terminate_job term = {};

	if (f->flags & FRAME_REPLY) {
		if (f->kind == MSG_STEPD_REPORT && f->id == s->report_id &&
		    !(f->flags & FRAME_FAILURE))
			stepd_on(s, ON_ACKNOWLEDGED, NULL);
		return;
	}
	switch (f->kind) {
	case MSG_STEPD_LAUNCH:
		launch_receive(s, f, body);
		break;
	case MSG_STEPD_QUERY:
		query_answer(s, f);
		break;
	case MSG_STEPD_SIGNAL:
		event_receive(s, f, body, &sig, &signal_step_record, ON_SIGNAL);
		break;
	case MSG_STEPD_TERMINATE:
		event_receive(s, f, body, &term, &terminate_job_record, ON_TERMINATE);
		break;
	default:
		talk_refuse(&s->control, f, -ENOSYS, "a step daemon does not answer this");
		break;
	}
}

void control_read(struct stepd *s)
{
	int gone = talk_read(&s->control), r = 0;
	const uint8_t *body;
	struct frame f;

	while (s->mode != STEPD_DONE && (r = talk_next(&s->control, &f, &body)) > 0)
		control_handle(s, &f, body);
	if (gone == 0 && r >= 0)
		return;
	talk_done(&s->control);
	stepd_on(s, ON_SLURMD_LOST, NULL);
}

/* Somebody listens there: the step is running already. */
static bool socket_is_alive(const struct sockaddr_un *addr)
{
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) == 0;
}

int control_listen(struct stepd *s, struct error *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const struct launch *l = &s->launch;
	char step[16];
	AUTO_FD int fd = -1;
	int n;

	if (l->step_id == STEP_BATCH)
		snprintf(step, sizeof(step), "b");
	else
		snprintf(step, sizeof(step), "%u", l->step_id);
	snprintf(s->name, sizeof(s->name), "%u.%u.%s", l->job_id, l->attempt, step);
	n = snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s.sock", s->spool, s->name);
	if (n >= (int)sizeof(addr.sun_path))
		return error_set(
			err, -ENAMETOOLONG,
			"'%s/%s.sock' is too long for a socket: SlurmdSpoolDir must be shorter",
			s->spool, s->name);
	if (socket_is_alive(&addr))
		return error_set(err, -EADDRINUSE, "step %s is running already", s->name);
	unlink(addr.sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    chmod(addr.sun_path, 0600) < 0 || listen(fd, 8) < 0)
		return error_set(err, -errno, "cannot listen on '%s': %s", addr.sun_path,
				 strerror(errno));
	s->listen_fd = TAKE_FD(fd);
	return 0;
}

void control_accept(struct stepd *s)
{
	AUTO_FD int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 ||
	    (peer.uid != 0 && peer.uid != geteuid())) {
		log_error("%s: a process of uid %u may not control this step", s->name, peer.uid);
		return;
	}
	talk_done(&s->control);
	talk_init(&s->control, TAKE_FD(fd));
	if (s->mode == STEPD_REPORTING)
		control_report(s);
}

void control_report(struct stepd *s)
{
	struct stepd_state state = {
		.job_id = s->end.job_id,
		.attempt = s->end.attempt,
		.step_id = s->end.step_id,
		.has_end = true,
		.end = s->end,
		.pid = (uint32_t)getpid(),
	};

	if (s->control.fd >= 0)
		s->report_id = talk_ask(&s->control, MSG_STEPD_REPORT, &stepd_state_record, &state);
}
