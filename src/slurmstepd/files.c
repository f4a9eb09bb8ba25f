/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - the files of a step: its output and input, and the batch script.
 *
 * Files are opened with the user's own identity, so that the kernel and a root-squashing file server
 * decide what the user may do; never with root's.  All tasks' files are opened before the first task
 * is started: truncating cannot then cut what a neighbour has written. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "sched/layout.h"
#include "slurmstepd/stepd.h"
#include "text/filename.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool stepd_is_batch(const struct stepd *s)
{
	return s->launch.step_id == STEP_BATCH;
}

int user_enter(const struct launch *l, struct error *err)
{
	if (geteuid() == l->uid)
		return 0;
	if (geteuid() != 0)
		return error_set(err, -EPERM,
				 "this node daemon runs as uid %u and cannot start jobs of uid %u",
				 geteuid(), l->uid);
	if (setgroups(l->n_groups, l->groups) < 0 || setegid(l->gid) < 0 || seteuid(l->uid) < 0) {
		int r = -errno;
		user_leave();
		return error_set(err, r, "cannot become uid %u: %s", l->uid, strerror(-r));
	}
	return 0;
}

/* Going back cannot fail for a process that is root underneath; carrying on half-way would. */
void user_leave(void)
{
	if (getuid() != 0 || geteuid() == 0)
		return;
	if (seteuid(0) < 0 || setegid(0) < 0 || setgroups(0, NULL) < 0)
		abort();
}

static char *expand(const struct stepd *s, const struct task *t, const char *pattern)
{
	const struct launch *l = &s->launch;
	const struct job *j = &l->job;
	bool array = j->array_job_id && j->has_array_task_id;
	struct filename_values v = {
		.job_id = l->job_id,
		.array_job_id = array ? j->array_job_id : l->job_id,
		.array_task_id = array ? j->array_task_id : UINT32_MAX - 1,
		.step_id = l->step_id,
		.task_id = t->id,
		.node_pos = l->node_pos,
		.restart = l->attempt ? l->attempt - 1 : 0,
		.step_name = stepd_is_batch(s) ? "batch" : arena_printf(s->arena, "%u", l->step_id),
		.node_name = l->node_name,
		.user = l->user,
		.job_name = j->spec.name ? j->spec.name : "",
	};
	char *path = filename_expand(pattern, &v, s->arena);

	if (path[0] == '/')
		return path;
	return arena_printf(s->arena, "%s/%s", s->work_dir, path);
}

static int open_one(const struct stepd *s, const struct task *t, const char *pattern,
		    const char *what, int flags, struct error *err)
{
	const char *path = expand(s, t, pattern);
	int fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0666);

	if (fd < 0)
		return error_set(err, -errno, "cannot open the job's %s '%s': %s", what, path,
				 strerror(errno));
	return fd;
}

/* Where a batch script's output goes when nothing was said. */
static const char *default_output(const struct stepd *s)
{
	const struct job *j = &s->launch.job;

	return j->array_job_id && j->has_array_task_id ? "slurm-%A_%a.out" : "slurm-%j.out";
}

/* Fills t->given where files are named; -1 stays where srun is at the other end. */
int files_open(struct stepd *s, struct task *t, struct error *err)
{
	const struct launch *l = &s->launch;
	bool batch = stepd_is_batch(s);
	int write_flags = O_WRONLY | O_CREAT | (l->open_append ? O_APPEND : O_TRUNC);
	const char *in = l->std_in, *out = l->std_out;

	/* Several tasks may share a file: each write goes to its end. */
	write_flags |= batch ? 0 : O_APPEND;
	if (batch) {
		in = str_empty(in) ? "/dev/null" : in;
		out = str_empty(out) ? default_output(s) : out;
	}
	if (!str_empty(in)) {
		t->given[0] = open_one(s, t, in, "input file", O_RDONLY, err);
		if (t->given[0] < 0)
			return t->given[0];
	}
	if (!str_empty(out)) {
		t->given[1] = open_one(s, t, out, "output file", write_flags, err);
		if (t->given[1] < 0)
			return t->given[1];
	}
	if (!str_empty(l->std_err))
		t->given[2] = open_one(s, t, l->std_err, "error file", write_flags, err);
	else if (t->given[1] >= 0)
		t->given[2] = fcntl(t->given[1], F_DUPFD_CLOEXEC, 0);
	else
		return 0;
	return t->given[2] < 0 ? t->given[2] : 0;
}

static int write_all(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Puts the script where the user's shell can read it and nobody else: SPOOL/job00007/slurm_script. */
int files_write_script(struct stepd *s, struct error *err)
{
	const struct launch *l = &s->launch;
	AUTO_FD int fd = -1;
	int r;

	s->script_dir = arena_printf(s->arena, "%s/job%05u", s->spool, l->job_id);
	s->script_path = arena_printf(s->arena, "%s/slurm_script", s->script_dir);
	if (mkdir(s->script_dir, 0700) < 0 && errno != EEXIST)
		return error_set(err, -errno, "cannot create '%s': %s", s->script_dir,
				 strerror(errno));
	unlink(s->script_path);
	fd = open(s->script_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	r = fd < 0 ? -errno : write_all(fd, l->script.data, l->script.len);
	/* The user's umask is for the user's files. */
	if (r == 0 && (fchmod(fd, 0700) < 0 || chmod(s->script_dir, 0700) < 0))
		r = -errno;
	if (r == 0 && geteuid() == 0 &&
	    (fchown(fd, l->uid, l->gid) < 0 || chown(s->script_dir, l->uid, l->gid) < 0))
		r = -errno;
	if (r < 0)
		return error_set(err, r, "cannot write '%s': %s", s->script_path, strerror(-r));
	return 0;
}

void files_remove_script(struct stepd *s)
{
	if (!s->script_path)
		return;
	unlink(s->script_path);
	rmdir(s->script_dir);
	s->script_path = NULL;
}
