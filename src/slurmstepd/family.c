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
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef VEC(pid_t) pid_list;

static void children_parse(const char *path, pid_list *out)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	AUTO_BUF struct buf text = {};
	char *at, *end;
	ssize_t n;

	if (fd < 0)
		return;
	do {
		buf_reserve(&text, 4096);
		n = read(fd, text.data + text.len, 4096);
		text.len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	text.data[text.len] = 0;
	for (at = (char *)text.data; *at; at = end) {
		long pid = strtol(at, &end, 10);
		if (end == at)
			break;
		if (pid > 0)
			vec_push(out, (pid_t)pid);
	}
}

/* Every thread has children of its own. */
static void children_of(pid_t pid, pid_list *out)
{
	char path[64];
	struct dirent *thread;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((thread = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", pid, thread->d_name);
		if (thread->d_name[0] != '.')
			children_parse(path, out);
	}
	closedir(dir);
}

void family_signal(struct stepd *s, int signo)
{
	pid_list pids = {};

	/* The list grows while it is walked: children of children. */
	children_of(getpid(), &pids);
	for (size_t i = 0; i < pids.count; i++)
		children_of(pids.at[i], &pids);
	for (size_t i = 0; i < pids.count; i++)
		kill(pids.at[i], signo);
	if (!pids.count)
		tasks_signal(s, signo); /* a kernel without the children files */
	vec_done(&pids);
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
