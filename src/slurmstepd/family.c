/* SPDX-License-Identifier: Apache-2.0 */
/* family.c - all processes of the step: the tasks and whatever they started.
 *
 * The step daemon is a subreaper: a process whose parent ends becomes its child, however it hides from
 * sessions and groups.  So the descendants are a tree below us, found through /proc, and nothing is
 * left when waitpid says that there are no children. */
#include "base/str.h"
#include "base/vec.h"
#include "slurmstepd/stepd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of looks for new processes: one that cannot be stopped must not hold us up for ever. */
enum { HOLD_ROUNDS_MAX = 100 };

typedef VEC(pid_t) pid_list;

static void file_take(const char *path, struct buf *out)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	do {
		buf_reserve(out, 4096);
		if (fd >= 0)
			n = read(fd, out->data + out->len, 4095);
		out->len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	out->data[out->len] = 0;
}

static void children_parse(const char *path, pid_list *out)
{
	AUTO_BUF struct buf text = {};
	char *at, *end;

	file_take(path, &text);
	for (at = (char *)text.data; *at; at = end) {
		long pid = strtol(at, &end, 10);
		if (end == at)
			break;
		if (pid > 0)
			vec_push(out, (pid_t)pid);
	}
}

/* Stopped or dead: it starts nothing any more. */
static bool is_still(const char *path)
{
	AUTO_BUF struct buf text = {};
	const char *name_end;

	file_take(path, &text);
	name_end = strrchr((char *)text.data, ')');
	return !name_end || strlen(name_end) < 3 || strchr("TtZX", name_end[2]);
}

/* Every thread has children of its own.  True when none of them can have more: asked first. */
static bool children_of(pid_t pid, pid_list *out)
{
	char path[64];
	struct dirent *thread;
	bool still = true;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return true;
	while ((thread = readdir(dir))) {
		if (thread->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat", pid, thread->d_name);
		still = is_still(path) && still;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", pid, thread->d_name);
		children_parse(path, out);
	}
	closedir(dir);
	return still;
}

/* True when all of them were still when they were looked at. */
static bool family_list(pid_list *out)
{
	bool still = true;

	/* The list grows while it is walked: children of children. */
	children_of(getpid(), out);
	for (size_t i = 0; i < out->count; i++)
		still = children_of(out->at[i], out) && still;
	return still;
}

static void list_signal(const pid_list *pids, int signo)
{
	for (size_t i = 0; i < pids->count; i++)
		kill(pids->at[i], signo);
}

void family_signal(struct stepd *s, int signo)
{
	pid_list pids = {};

	family_list(&pids);
	list_signal(&pids, signo);
	if (!pids.count)
		tasks_signal(s, signo); /* a kernel without the children files */
	vec_done(&pids);
}

static bool is_same(const pid_list *a, const pid_list *b)
{
	return a->count == b->count &&
	       (a->count == 0 || memcmp(a->at, b->at, a->count * sizeof(a->at[0])) == 0);
}

/* A process that starts others is listed in vain: what is born between the look and the signal would not
 * hear of it.  So all are held until a look finds every one still and nobody new; then they are told, and
 * what they start after that they start in the knowledge.  A stopped job goes on, to hear it too. */
void family_terminate(struct stepd *s)
{
	pid_list pids = {}, before = {};

	for (int round = 0; round < HOLD_ROUNDS_MAX; round++) {
		pid_list spare = before;
		before = pids;
		pids = spare;
		pids.count = 0;
		if (family_list(&pids) && is_same(&pids, &before))
			break;
		list_signal(&pids, SIGSTOP);
		if (round > 1)
			poll(NULL, 0, 1); /* it may have to come out of the kernel first */
	}
	list_signal(&pids, SIGTERM);
	list_signal(&pids, SIGCONT);
	if (!pids.count) {
		tasks_signal(s, SIGCONT);
		tasks_signal(s, SIGTERM);
	}
	vec_done(&pids);
	vec_done(&before);
}

void tasks_signal(struct stepd *s, int signo)
{
	for (uint32_t i = 0; i < s->task_count; i++)
		if (s->tasks[i].pid > 0 && kill(-s->tasks[i].pid, signo) < 0)
			kill(s->tasks[i].pid, signo); /* it has no session of its own yet */
}

static void task_exited(struct stepd *s, struct task *t, int status)
{
	uint32_t code = WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status) : 0;
	uint32_t signal = WIFSIGNALED(status) ? (uint32_t)WTERMSIG(status) : 0;

	t->pid = 0;
	t->exited = true;
	t->exit_code = code;
	t->exit_signal = signal;
	s->running--;
	if (code > s->end.exit_code)
		s->end.exit_code = code;
	if (signal)
		s->end.exit_signal = signal;
	io_drain(s, t);
	if ((code || signal) && s->launch.step.kill_on_bad_exit && s->running)
		stepd_on(s, ON_TERMINATE,
			 &(struct terminate_job) { .why = (char *)"DUE TO TASK FAILURE",
						   .kill_wait_sec = s->launch.kill_wait_sec });
}

void family_reap(struct stepd *s)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (uint32_t i = 0; i < s->task_count; i++)
			if (s->tasks[i].pid == pid)
				task_exited(s, &s->tasks[i], status);
	s->family_gone = pid < 0 && errno == ECHILD;
}
