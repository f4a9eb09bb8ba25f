/* SPDX-License-Identifier: Apache-2.0 */
/* Where standard streams go: -o, -e and -i, and --label.
 *
 * A name with %t, %n or %N in it means a file for each task or node and is opened there; any other is
 * opened here.  `none` is nothing, `all` the default, a number the streams of that task alone. */
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/srun.h"
#include "host/user.h"
#include "text/filename.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

static int open_file(const struct srun *s, const char *pattern, int flags, struct error *err)
{
	char user[256];
	user_name(getuid(), user, sizeof(user));
	const struct job *job = &s->al.job;
	struct filename_values v = {
		.job_id = s->al.job_id,
		.array_job_id = job->array_job_id ? job->array_job_id : s->al.job_id,
		.array_task_id = job->has_array_task_id ? job->array_task_id : UINT32_MAX - 1,
		.step_id = s->step.id,
		.step_name = arena_printf(s->o.arena, "%u", s->step.id),
		.user = user,
		.job_name = job->spec.name ? job->spec.name : "",
		.node_name = "",
	};
	const char *path = filename_expand(pattern, &v, s->o.arena);
	if (path[0] != '/' && s->o.at.spec.work_dir)
		path = arena_printf(s->o.arena, "%s/%s", s->o.at.spec.work_dir, path);
	int fd = open(path, flags | O_CLOEXEC, 0666);
	return fd >= 0 ? fd : error_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
}

/* A whole number is a task. */
static bool is_task(const char *text, uint32_t *ret)
{
	return text && str_to_u32(text, ret) == 0;
}

static int open_sink(struct srun *s, const char *name, int stream, struct error *err)
{
	struct sink *k = &s->sinks[stream];
	bool append = s->o.at.spec.has_open_append && s->o.at.spec.open_append;
	*k = (struct sink) { .fd = stream == IO_OUT ? STDOUT_FILENO : STDERR_FILENO };
	if (!name || str_eq(name, "all"))
		return 0;
	if (is_task(name, &k->task)) {
		k->only_one = true;
	} else if (str_eq(name, "none")) {
		k->fd = -1;
	} else if (filename_is_per_task(name)) {
		k->at_node = true;
	} else {
		k->fd = open_file(s, name, O_WRONLY | O_CREAT | (append ? O_APPEND : O_TRUNC), err);
		return k->fd < 0 ? k->fd : 0;
	}
	return 0;
}

static int open_input(struct srun *s, const char *name, struct error *err)
{
	uint32_t task;
	s->input_task = ALL_TASKS;
	s->input_fd = STDIN_FILENO;
	if (s->request.std_in) {
		s->input_fd = -1; /* the nodes open it, or there is none */
	} else if (is_task(name, &task)) {
		if (task >= s->step.ntasks)
			return error_set(err, -EINVAL, "--input=%u: the step has tasks 0 to %u",
					 task, s->step.ntasks - 1);
		s->input_task = task;
	} else if (name && !str_eq(name, "all")) {
		s->input_fd = open_file(s, name, O_RDONLY, err);
		return s->input_fd < 0 ? s->input_fd : 0;
	}
	return 0;
}

int output_open(struct srun *s, struct error *err)
{
	const struct job_spec *spec = &s->o.at.spec;
	int r = open_sink(s, spec->std_out, IO_OUT, err);
	if (r < 0)
		return r;
	r = open_sink(s, spec->std_err, IO_ERR, err);
	if (r < 0)
		return r;
	/* Without -e errors go where the output goes, when that is a file. */
	if (!spec->std_err && (s->sinks[IO_OUT].fd != STDOUT_FILENO || s->sinks[IO_OUT].only_one))
		s->sinks[IO_ERR] = s->sinks[IO_OUT];
	return open_input(s, spec->std_in, err);
}

/* ---- writing ----------------------------------------------------------------------------------- */

/* Blocks: that is the back-pressure.  Our terminal may be non-blocking because of others on it. */
static void write_all(struct srun *s, struct sink *k, const uint8_t *data, size_t len)
{
	while (len && k->fd >= 0) {
		ssize_t n = write(k->fd, data, len);
		if (n >= 0) {
			data += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			poll(&(struct pollfd) { .fd = k->fd, .events = POLLOUT }, 1, -1);
		} else if (errno != EINTR) {
			bool nobody = errno == EPIPE;
			log_verbose("output is lost: %s", strerror(errno));
			k->fd = -1;
			if (nobody) /* nobody reads any more: end as a program in a pipe does */
				step_abort(s, SIGPIPE);
		}
	}
}

static void write_labelled(struct srun *s, struct sink *k, uint32_t task, const uint8_t *line,
			   size_t len)
{
	AUTO_BUF struct buf out = {};
	buf_printf(&out, "%*u: ", s->label_width, task);
	buf_put(&out, line, len);
	if (len == 0 || line[len - 1] != '\n')
		buf_putc(&out, '\n');
	write_all(s, k, out.data, out.len);
}

void output_write(struct srun *s, uint32_t task, int stream, const uint8_t *data, size_t len)
{
	struct sink *k = &s->sinks[stream];
	if (k->fd < 0 || (k->only_one && k->task != task))
		return;
	if (!s->o.at.label) {
		write_all(s, k, data, len);
		return;
	}
	enum { LINE_MAX_BYTES = 64 << 10 };
	struct buf *held = &s->tasks[task].line[stream - IO_OUT];
	while (len) {
		const uint8_t *end = memchr(data, '\n', len);
		size_t take = end ? (size_t)(end - data) + 1 : len;
		buf_put(held, data, take);
		if (end || held->len > LINE_MAX_BYTES) {
			write_labelled(s, k, task, held->data, held->len);
			buf_clear(held);
		}
		data += take;
		len -= take;
	}
}

void output_end(struct srun *s, uint32_t task, int stream)
{
	struct buf *held = &s->tasks[task].line[stream - IO_OUT];
	if (held->len)
		write_labelled(s, &s->sinks[stream], task, held->data, held->len);
	buf_done(held);
}
