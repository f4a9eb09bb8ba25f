/* SPDX-License-Identifier: Apache-2.0 */
/* processes.c - what runs for a site, found in /proc, and how it is ended.
 *
 * A daemon of the site has the site's slurm.conf on its command line or in its environment; a step
 * daemon inherits the environment of its node daemon; a task has SLURM_CONF and SLURMD_NODENAME of
 * its job, or descends from a step daemon.  SLURMD_NODENAME keeps the shell of `salloc` out, which is
 * the user's own and not the cluster's.  Pid files are not asked: they may be stale or missing.
 *
 * Ending: daemons first, with TERM, so that they close their files; then tasks (TERM, KILL); then the
 * step daemons, which would otherwise wait for a node daemon that never comes. */
#include "cmd/muster/muster.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"
#include "host/file.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { DAEMON_WAIT_MSEC = 10000, TASK_WAIT_MSEC = 2000, KILL_WAIT_MSEC = 5000 };

struct process_list {
	VEC(struct process) all;
};

/* The block of NUL-separated strings in /proc/PID/`file`; empty when it cannot be read. */
static void read_block(pid_t pid, const char *file, struct buf *ret)
{
	char path[64];

	buf_clear(ret);
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	if (file_read(path, TEXT_MAX, ret) < 0)
		buf_clear(ret);
	buf_putc(ret, '\0');
}

static const char *block_find(const struct buf *block, const char *start)
{
	const char *p = buf_text(block), *end = p + block->len;

	for (; p < end; p += strlen(p) + 1)
		if (str_starts(p, start))
			return p;
	return NULL;
}

static bool block_has(const struct buf *block, const char *text)
{
	const char *p = buf_text(block), *end = p + block->len;

	for (; p < end; p += strlen(p) + 1)
		if (str_eq(p, text))
			return true;
	return false;
}

/* The argument after `option`, copied. */
static const char *block_after(const struct buf *block, const char *option, struct arena *a)
{
	const char *p = buf_text(block), *end = p + block->len;

	for (; p < end; p += strlen(p) + 1)
		if (str_eq(p, option) && p + strlen(p) + 1 < end)
			return arena_strdup(a, p + strlen(p) + 1);
	return NULL;
}

static pid_t parent_of(pid_t pid, char *ret_state)
{
	AUTO_BUF struct buf stat = {};
	int parent = 0;

	*ret_state = 'Z';
	read_block(pid, "stat", &stat);
	const char *p = strrchr(buf_text(&stat), ')'); /* the name before it may have anything in it */
	if (p && sscanf(p + 1, " %c %d", ret_state, &parent) != 2)
		*ret_state = 'Z';
	return (pid_t)parent;
}

bool process_is_gone(pid_t pid)
{
	char state;

	parent_of(pid, &state);
	return state == 'Z' || state == 'X';
}

static enum process_kind kind_of(const struct site *s, const struct buf *args, const struct buf *env)
{
	AUTO_BUF struct buf mark = {}, conf = {};
	const char *name = strrchr(buf_text(args), '/');

	name = name ? name + 1 : buf_text(args);
	buf_printf(&mark, "MUSTER_DIR=%s", s->root);
	buf_printf(&conf, "SLURM_CONF=%s", s->conf);
	bool has_conf = block_has(env, buf_text(&conf));
	bool is_ours = has_conf || block_has(args, s->conf) || block_has(env, buf_text(&mark));

	if (!is_ours)
		return PROCESS_OTHER;
	if (str_eq(name, "slurmctld"))
		return PROCESS_CONTROLLER;
	if (str_eq(name, "slurmd"))
		return PROCESS_NODE;
	if (str_starts(name, "slurmstepd"))
		return PROCESS_STEP;
	return has_conf && block_find(env, "SLURMD_NODENAME=") ? PROCESS_TASK : PROCESS_OTHER;
}

/* Children of step daemons, and theirs, whatever they did to their environment. */
static void mark_descendants(struct process_list *list)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < list->all.count; i++) {
			if (list->all.at[i].kind != PROCESS_OTHER)
				continue;
			for (size_t j = 0; j < list->all.count; j++) {
				enum process_kind kind = list->all.at[j].kind;
				if (list->all.at[j].pid != list->all.at[i].parent ||
				    (kind != PROCESS_STEP && kind != PROCESS_TASK))
					continue;
				list->all.at[i].kind = PROCESS_TASK;
				changed = true;
			}
		}
	}
}

struct process *processes_of(const struct site *s, struct arena *a, size_t *ret_count)
{
	AUTO_BUF struct buf args = {}, env = {};
	struct process_list list = {};
	size_t kept = 0;
	DIR *dir = opendir("/proc");

	for (const struct dirent *e; dir && (e = readdir(dir));) {
		uint32_t pid;
		char state;
		if (str_to_u32(e->d_name, &pid) < 0 || (pid_t)pid == getpid())
			continue;
		struct process p = { .pid = (pid_t)pid };
		p.parent = parent_of(p.pid, &state);
		read_block(p.pid, "cmdline", &args);
		read_block(p.pid, "environ", &env);
		if (state == 'Z' || state == 'X')
			continue;
		p.kind = kind_of(s, &args, &env);
		if (p.kind == PROCESS_NODE)
			p.node = block_after(&args, "-N", a);
		vec_push(&list.all, p);
	}
	if (dir)
		closedir(dir);
	mark_descendants(&list);
	struct process *ret = ARENA_ARRAY(a, struct process, list.all.count + 1);
	for (size_t i = 0; i < list.all.count; i++)
		if (list.all.at[i].kind != PROCESS_OTHER)
			ret[kept++] = list.all.at[i];
	vec_done(&list.all);
	*ret_count = kept;
	return ret;
}

static int64_t clock_msec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits for one process by its pidfd; true when it is gone. */
static bool wait_gone(int pidfd, int64_t deadline)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	for (;;) {
		int64_t left = deadline - clock_msec();
		int r = poll(&p, 1, left > 0 ? (int)left : 0);
		if (r > 0)
			return true;
		if (r == 0 || errno != EINTR)
			return false;
	}
}

size_t processes_end(const struct site *s, unsigned kinds, int signo, int wait_msec, size_t *ret_left)
{
	AUTO_ARENA struct arena *a = arena_new();
	size_t count, matched = 0;
	const struct process *list = processes_of(s, a, &count);
	int *fds = ARENA_ARRAY(a, int, count + 1);

	*ret_left = 0;
	for (size_t i = 0; i < count; i++) {
		fds[i] = -1;
		if (!(kinds & 1u << list[i].kind))
			continue;
		matched++;
		fds[i] = (int)syscall(SYS_pidfd_open, list[i].pid, 0);
		if (fds[i] < 0)
			continue; /* gone already */
		/* So that one that is stopped can heed the signal.  First, because it takes a stop back that
		 * is on its way to the process: a debugger's, or the leak check's when it leaves. */
		if (signo == SIGTERM)
			syscall(SYS_pidfd_send_signal, fds[i], SIGCONT, NULL, 0);
		syscall(SYS_pidfd_send_signal, fds[i], signo, NULL, 0);
	}
	int64_t deadline = clock_msec() + wait_msec;
	for (size_t i = 0; i < count; i++) {
		if (fds[i] < 0)
			continue;
		if (!wait_gone(fds[i], deadline))
			(*ret_left)++;
		close(fds[i]);
	}
	return matched;
}

struct ended processes_end_all(const struct site *s)
{
	const unsigned controller = 1u << PROCESS_CONTROLLER, node = 1u << PROCESS_NODE,
		       step = 1u << PROCESS_STEP, task = 1u << PROCESS_TASK;
	AUTO_ARENA struct arena *a = arena_new();
	struct ended e = {};
	size_t count, left;
	const struct process *list = processes_of(s, a, &count);

	for (size_t i = 0; i < count; i++) {
		e.controllers += list[i].kind == PROCESS_CONTROLLER;
		e.nodes += list[i].kind == PROCESS_NODE;
		e.steps += list[i].kind == PROCESS_STEP;
	}
	processes_end(s, controller | node, SIGTERM, DAEMON_WAIT_MSEC, &left);
	if (left > 0)
		e.killed += processes_end(s, controller | node, SIGKILL, KILL_WAIT_MSEC, &left);
	processes_end(s, task, SIGTERM, TASK_WAIT_MSEC, &left);
	/* A task may have started others between the look and the signal: look again until it is quiet. */
	for (int round = 0; round < 5; round++)
		if (processes_end(s, step | task, SIGKILL, KILL_WAIT_MSEC, &left) == 0)
			break;
	processes_of(s, a, &e.left);
	return e;
}
