/* SPDX-License-Identifier: Apache-2.0 */
/* loop.c - waits for whatever comes next and turns it into events.
 *
 * One poll(2) over the node daemon, the listening socket, srun, the signal descriptor and the pipes of
 * the tasks.  Back-pressure is in what is asked for: the tasks are not read while srun does not take
 * their output, and srun is not read while a task does not take its input. */
#include "base/arena.h"
#include "slurmstepd/stepd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum { SLOT_SIGNAL, SLOT_CONTROL, SLOT_LISTEN, SLOT_SRUN, SLOT_TASKS };
enum { SLOTS_PER_TASK = 3 };

usec_t stepd_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (usec_t)now.tv_sec * USEC_PER_SEC + now.tv_nsec / 1000;
}

/* poll(2) skips negative descriptors, so every source has its fixed slot. */
static void slots_fill(const struct stepd *s, struct pollfd *p)
{
	bool read_tasks = io_may_read_tasks(s);
	struct pollfd *t = p + SLOT_TASKS;

	p[SLOT_SIGNAL] = (struct pollfd) { .fd = s->signal_fd, .events = POLLIN };
	p[SLOT_CONTROL] = (struct pollfd) { .fd = s->control.fd,
					    .events = talk_wants(&s->control) };
	p[SLOT_LISTEN] = (struct pollfd) { .fd = s->listen_fd, .events = POLLIN };
	p[SLOT_SRUN] = (struct pollfd) { .fd = s->srun.fd, .events = talk_wants(&s->srun) };
	if (!io_may_read_srun(s))
		p[SLOT_SRUN].events &= (short)~POLLIN;
	for (uint32_t i = 0; i < s->task_count; i++, t += SLOTS_PER_TASK) {
		const struct task *task = &s->tasks[i];
		for (int which = 0; which < 2; which++)
			t[which] = (struct pollfd) { .fd = read_tasks ? task->out[which] : -1,
						     .events = POLLIN };
		t[2] = (struct pollfd) { .fd = task->in.queue.len ? task->in.fd : -1,
					 .events = POLLOUT };
	}
}

static int wait_msec(const struct stepd *s)
{
	usec_t left;

	if (!s->deadline)
		return -1;
	left = s->deadline - stepd_clock();
	return left <= 0 ? 0 : (int)((left + 999) / 1000);
}

static void signals_read(struct stepd *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			family_reap(s);
		else if (s->mode == STEPD_WAITING)
			s->mode = STEPD_DONE;
		else
			stepd_on(s, ON_TERMINATE,
				 &(struct terminate_job) {
					 .kill_wait_sec = s->launch.kill_wait_sec });
	}
}

static void slots_handle(struct stepd *s, const struct pollfd *p)
{
	uint32_t count = s->task_count;

	if (p[SLOT_SIGNAL].revents)
		signals_read(s);
	for (uint32_t i = 0; i < count; i++) {
		const struct pollfd *t = p + SLOT_TASKS + (size_t)i * SLOTS_PER_TASK;
		struct task *task = &s->tasks[i];
		for (int which = 0; which < 2; which++)
			if (t[which].revents)
				io_output_read(s, task, which);
		if (t[2].revents)
			io_input_write(s, task);
	}
	if (p[SLOT_SRUN].revents & (POLLIN | POLLHUP | POLLERR) && s->srun.fd >= 0)
		io_srun_read(s);
	if (p[SLOT_LISTEN].revents)
		control_accept(s);
	else if (p[SLOT_CONTROL].revents & (POLLIN | POLLHUP | POLLERR) && s->control.fd >= 0)
		control_read(s);
}

/* What follows from the turn as a whole. */
static void turn_end(struct stepd *s)
{
	if (s->deadline && s->deadline <= stepd_clock()) {
		s->deadline = 0;
		stepd_on(s, ON_TIMER, NULL);
	}
	if (s->mode == STEPD_SWEEPING)
		family_reap(s);
	if (s->family_gone) {
		stepd_on(s, ON_FAMILY_GONE, NULL);
	} else if (s->task_count && !s->running && !s->tasks_gone_told) {
		s->tasks_gone_told = true;
		stepd_on(s, ON_TASKS_GONE, NULL);
	}
	io_tell_exits(s);
	if (s->mode == STEPD_FLUSHING)
		io_finish(s);
	if (talk_flush(&s->srun) < 0)
		io_lost(s);
	if (s->mode == STEPD_FLUSHING && io_is_flushed(s))
		stepd_on(s, ON_FLUSHED, NULL);
	if (talk_flush(&s->control) < 0)
		talk_done(&s->control);
}

void stepd_loop(struct stepd *s)
{
	struct pollfd *slots = NULL;
	size_t have = 0;

	while (s->mode != STEPD_DONE) {
		size_t want = SLOT_TASKS + (size_t)s->task_count * SLOTS_PER_TASK;
		if (want > have) {
			slots = mem_grow(slots, want, sizeof(*slots));
			have = want;
		}
		slots_fill(s, slots);
		if (poll(slots, want, wait_msec(s)) < 0 && errno != EINTR)
			break;
		slots_handle(s, slots);
		turn_end(s);
	}
	io_part(s);
	free(slots);
}
