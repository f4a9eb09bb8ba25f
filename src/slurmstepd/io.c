/* SPDX-License-Identifier: Apache-2.0 */
/* io.c - the streams of the tasks, and srun at their other end.
 *
 * Batch jobs write into files and do not pass here.  The tasks of srun write into pipes; what they
 * write goes to srun as io_data messages, srun's input comes back the same way, exits follow as
 * io_exit and io_done says that nothing more will come.  Memory is bounded both ways: beyond
 * OUTPUT_MAX waiting for srun the tasks are no longer read, beyond INPUT_MAX waiting for a task srun
 * is no longer read. */
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "slurmstepd/stepd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1 << 20, INPUT_MAX = 256 << 10, CHUNK = 32 << 10 };
enum { STREAM_IN, STREAM_OUT, STREAM_ERR };
#define ALL_TASKS UINT32_MAX
static const usec_t PART_PATIENCE = 2 * USEC_PER_SEC;

static int connect_to(const struct sockaddr *addr, socklen_t len)
{
	AUTO_FD int fd = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval limit = { .tv_sec = 10 };
	int on = 1;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	if (connect(fd, addr, len) < 0)
		return -errno;
	return TAKE_FD(fd);
}

static int connect_address(const char *text, uint16_t port)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		return connect_to((struct sockaddr *)&v4, sizeof(v4));
	if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1)
		return connect_to((struct sockaddr *)&v6, sizeof(v6));
	return -EINVAL;
}

static int connect_host(const char *host, uint16_t port)
{
	char address[64];
	int fd = connect_address(host, port);

	if (fd != -EINVAL)
		return fd;
	fd = resolve_name(host, address);
	return fd < 0 ? fd : connect_address(address, port);
}

int io_connect(struct stepd *s, struct error *err)
{
	const struct launch *l = &s->launch;
	int fd = connect_host(l->step.srun_host, (uint16_t)l->step.srun_port);
	uint32_t *ids;

	if (fd < 0)
		return error_set(err, fd, "cannot reach srun at %s:%u: %s", l->step.srun_host,
				 l->step.srun_port, strerror(-fd));
	talk_init(&s->srun, fd);
	ids = ARENA_ARRAY(s->arena, uint32_t, s->task_count + 1);
	for (uint32_t i = 0; i < s->task_count; i++)
		ids[i] = s->tasks[i].id;
	talk_tell(&s->srun, MSG_IO_HELLO, &io_hello_record,
		  &(struct io_hello) {
			  .job_id = l->job_id,
			  .step_id = l->step_id,
			  .node_pos = l->node_pos,
			  .node_name = l->node_name,
			  .cookie = l->step.cookie,
			  .ntasks = s->task_count,
			  .first_task = s->task_count ? ids[0] : 0,
			  .task_ids = ids,
			  .n_task_ids = s->task_count,
		  });
	return 0;
}

void io_lost(struct stepd *s)
{
	talk_done(&s->srun);
	for (uint32_t i = 0; i < s->task_count; i++) {
		for (int which = 0; which < 2; which++) {
			if (s->tasks[i].out[which] >= 0)
				close(s->tasks[i].out[which]);
			s->tasks[i].out[which] = -1;
		}
	}
	stepd_on(s, ON_SRUN_LOST, NULL);
}

/* Output. */

bool io_may_read_tasks(const struct stepd *s)
{
	return s->srun.out.len < OUTPUT_MAX;
}

static void data_tell(struct stepd *s, uint32_t task, int stream, const void *data, size_t len)
{
	talk_tell(&s->srun, MSG_IO_DATA, &io_data_record,
		  &(struct io_data) {
			  .task = task,
			  .stream = (uint32_t)stream,
			  .data = { .data = (uint8_t *)data, .len = len },
			  .eof = len == 0,
		  });
}

/* Returns whether there may be more. */
static bool output_read_some(struct stepd *s, struct task *t, int which)
{
	uint8_t chunk[CHUNK];
	ssize_t n = read(t->out[which], chunk, sizeof(chunk));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n > 0) {
		data_tell(s, t->id, STREAM_OUT + which, chunk, (size_t)n);
		return true;
	}
	/* The end, or EIO from a terminal that the last process has left. */
	if (t->in.fd == t->out[which]) {
		t->in.fd = -1;
		buf_done(&t->in.queue);
	}
	close(t->out[which]);
	t->out[which] = -1;
	data_tell(s, t->id, STREAM_OUT + which, NULL, 0);
	return false;
}

void io_output_read(struct stepd *s, struct task *t, int which)
{
	if (t->out[which] >= 0)
		output_read_some(s, t, which);
}

/* A task's last words should arrive before the word that it is over. */
void io_drain(struct stepd *s, struct task *t)
{
	for (int which = 0; which < 2; which++)
		while (t->out[which] >= 0 && io_may_read_tasks(s) && output_read_some(s, t, which))
			;
}

static bool output_is_read(const struct stepd *s)
{
	for (uint32_t i = 0; i < s->task_count; i++)
		if (s->tasks[i].out[0] >= 0 || s->tasks[i].out[1] >= 0)
			return false;
	return true;
}

bool io_is_flushed(const struct stepd *s)
{
	return output_is_read(s) && (s->srun.fd < 0 || (s->srun_done && s->srun.out.len == 0));
}

/* The last words to srun: what could not be started, and that nothing more will come. */
void io_finish(struct stepd *s)
{
	if (s->srun.fd < 0 || s->srun_done || !output_is_read(s))
		return;
	if (s->end.launch_error) {
		uint32_t *ids = ARENA_ARRAY(s->arena, uint32_t, s->task_count + 1), count = 0;
		for (uint32_t i = 0; i < s->task_count; i++)
			if (!s->tasks[i].told)
				ids[count++] = s->tasks[i].id;
		talk_tell(&s->srun, MSG_IO_EXIT, &io_exit_record,
			  &(struct io_exit) { .tasks = ids,
					      .n_tasks = count,
					      .exit_code = s->end.exit_code,
					      .error = s->end.launch_error });
	}
	talk_tell(&s->srun, MSG_IO_DONE, &empty_record, &(struct empty) {});
	s->srun_done = true;
}

void io_say(struct stepd *s, const char *fmt, ...)
{
	AUTO_BUF struct buf line = {};
	va_list args;

	buf_puts(&line, "slurmstepd: error: ");
	va_start(args, fmt);
	buf_vprintf(&line, fmt, args);
	va_end(args);
	buf_putc(&line, '\n');
	if (s->srun.fd >= 0 && s->task_count)
		data_tell(s, s->tasks[0].id, STREAM_ERR, line.data, line.len);
	else if (s->err_fd >= 0)
		(void)!write(s->err_fd, line.data, line.len);
}

/* Tasks that ended alike since the last turn go into one message. */
void io_tell_exits(struct stepd *s)
{
	if (s->srun.fd < 0 || !s->task_count)
		return;
	AUTO_ARENA struct arena *a = NULL;
	for (uint32_t i = 0; i < s->task_count; i++) {
		const struct task *first = &s->tasks[i];
		if (!first->exited || first->told)
			continue;
		a = a ? a : arena_new();
		uint32_t *ids = ARENA_ARRAY(a, uint32_t, s->task_count - i), count = 0;
		for (uint32_t k = i; k < s->task_count; k++) {
			struct task *t = &s->tasks[k];
			if (!t->exited || t->told || t->exit_code != first->exit_code ||
			    t->exit_signal != first->exit_signal)
				continue;
			ids[count++] = t->id;
			t->told = true;
		}
		talk_tell(&s->srun, MSG_IO_EXIT, &io_exit_record,
			  &(struct io_exit) { .tasks = ids,
					      .n_tasks = count,
					      .exit_code = first->exit_code,
					      .exit_signal = first->exit_signal });
	}
}

/* Input. */

bool io_may_read_srun(const struct stepd *s)
{
	for (uint32_t i = 0; i < s->task_count; i++)
		if (s->tasks[i].in.queue.len > INPUT_MAX)
			return false;
	return true;
}

static void input_close(struct task *t)
{
	if (t->in.fd >= 0 && t->in.fd != t->out[0])
		close(t->in.fd);
	t->in.fd = -1;
	buf_done(&t->in.queue);
}

void io_input_write(struct stepd *s, struct task *t)
{
	struct task_input *in = &t->in;

	(void)s;
	while (in->fd >= 0 && in->queue.len) {
		ssize_t n = write(in->fd, in->queue.data, in->queue.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			input_close(t); /* the task does not read any more; nor do others suffer */
		else
			buf_drop(&in->queue, (size_t)n);
	}
	if (in->fd >= 0 && in->eof && !in->queue.len)
		input_close(t);
}

static void input_receive(struct stepd *s, const struct io_data *d)
{
	for (uint32_t i = 0; i < s->task_count; i++) {
		struct task *t = &s->tasks[i];
		if (t->in.fd < 0 || (d->task != ALL_TASKS && d->task != t->id))
			continue;
		buf_put(&t->in.queue, d->data.data, d->data.len);
		/* A terminal has no end of its own; the character for it is the user's to type. */
		t->in.eof = t->in.eof || (d->eof && !s->launch.step.uses_pty);
		io_input_write(s, t);
	}
}

static void winsize_receive(struct stepd *s, const struct io_winsize *w)
{
	struct winsize size = { .ws_row = (unsigned short)w->rows,
				.ws_col = (unsigned short)w->cols };

	if (s->launch.step.uses_pty && s->task_count && s->tasks[0].in.fd >= 0)
		ioctl(s->tasks[0].in.fd, TIOCSWINSZ, &size);
}

static int srun_handle(struct stepd *s, const struct frame *f, const uint8_t *body)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct io_data data = {};
	struct io_signal sig = {};
	struct io_winsize size = {};
	int r = 0;

	switch (f->kind) {
	case MSG_IO_DATA:
		r = record_decode(&io_data_record, &data, body, f->len, a, NULL);
		if (r == 0)
			input_receive(s, &data);
		return r;
	case MSG_IO_SIGNAL:
		r = record_decode(&io_signal_record, &sig, body, f->len, a, NULL);
		if (r == 0 && sig.signal < 65)
			stepd_on(s, ON_SIGNAL, &(struct signal_step) { .signal = sig.signal });
		return r;
	case MSG_IO_WINSIZE:
		r = record_decode(&io_winsize_record, &size, body, f->len, a, NULL);
		if (r == 0)
			winsize_receive(s, &size);
		return r;
	default:
		return -EBADMSG;
	}
}

/* Closing with unread input would make the kernel reset the connection, and srun might lose what it
 * has not read yet: so we read on until it has closed as well. */
void io_part(struct stepd *s)
{
	usec_t end = stepd_clock() + PART_PATIENCE;
	uint8_t drop[4096];

	while (s->srun.fd >= 0) {
		struct pollfd p = { .fd = s->srun.fd, .events = POLLIN };
		usec_t left = end - stepd_clock();
		if (left <= 0 || poll(&p, 1, (int)(left / USEC_PER_MSEC) + 1) < 0)
			return;
		ssize_t n = read(s->srun.fd, drop, sizeof(drop));
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return;
	}
}

void io_srun_read(struct stepd *s)
{
	int gone = talk_read(&s->srun), r = 0;
	const uint8_t *body;
	struct frame f;

	while (s->srun.fd >= 0 && (r = talk_next(&s->srun, &f, &body)) > 0)
		if ((r = srun_handle(s, &f, body)) < 0)
			break;
	if (gone < 0 || r < 0)
		io_lost(s);
}
