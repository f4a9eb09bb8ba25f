/* SPDX-License-Identifier: Apache-2.0 */
/* task.c - starting the tasks of a step.
 *
 * Everything that can fail for the step as a whole is done before the first fork: files, pipes, the
 * script, the connection to srun.  The child then only puts itself in order - session, streams, CPUs,
 * environment, identity, directory - and becomes the program; what goes wrong there it says on its
 * own standard error and exits with the errno, as users know it (2 for a program that is missing). */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "client/jobenv.h"
#include "sched/layout.h"
#include "slurmstepd/stepd.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static void close_given(struct task *t)
{
	for (int i = 0; i < 3; i++) {
		if (t->given[i] >= 0)
			close(t->given[i]);
		t->given[i] = -1;
	}
}

static int make_pipe(int *ret_read, int *ret_write, int ours)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	fcntl(fds[ours], F_SETFL, O_NONBLOCK);
	*ret_read = fds[0];
	*ret_write = fds[1];
	return 0;
}

/* Pipes towards srun for the streams that are not files. */
static int open_pipes(struct task *t, struct error *err)
{
	int r = 0;

	if (t->given[0] < 0)
		r = make_pipe(&t->given[0], &t->in.fd, 1);
	for (int i = 0; i < 2 && r == 0; i++)
		if (t->given[i + 1] < 0)
			r = make_pipe(&t->out[i], &t->given[i + 1], 0);
	return r < 0 ? error_set(err, r, "cannot make the task's pipes: %s", strerror(-r)) : 0;
}

/* --pty: the first task gets a terminal, the others nothing to read. */
static int open_terminal(struct task *t, struct error *err)
{
	AUTO_FD int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	char name[128];
	int slave;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 ||
	    ptsname_r(master, name, sizeof(name)) != 0)
		return error_set(err, -errno, "cannot make a terminal: %s", strerror(errno));
	slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return error_set(err, -errno, "cannot open '%s': %s", name, strerror(errno));
	close_given(t);
	for (int i = 0; i < 3; i++)
		t->given[i] = i ? fcntl(slave, F_DUPFD_CLOEXEC, 0) : slave;
	t->out[0] = t->in.fd = TAKE_FD(master);
	return 0;
}

static int open_streams(struct stepd *s, struct task *t, struct error *err)
{
	int r;

	if (s->launch.step.uses_pty && t->id == 0)
		return open_terminal(t, err);
	r = files_open(s, t, err);
	if (r < 0)
		return r;
	if (s->launch.step.uses_pty && t->given[0] < 0)
		t->given[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return open_pipes(t, err);
}

static void layout_local(struct stepd *s)
{
	uint32_t one = 0, count = 1, *ids = &one;

	if (!stepd_is_batch(s))
		ids = layout_tasks(&s->launch.step, s->launch.node_pos, s->arena, &count);
	s->tasks = ARENA_ARRAY(s->arena, struct task, count + 1);
	s->task_count = count;
	for (uint32_t i = 0; i < count; i++)
		s->tasks[i] = (struct task) { .id = ids[i],
					      .local_id = i,
					      .out = { -1, -1 },
					      .in.fd = -1,
					      .given = { -1, -1, -1 } };
}

/* The user's directory, or /tmp as the last resort; the output files are relative to it.  Asked with the
 * user's identity, which is the effective one here: access(2) would ask with root's. */
static void choose_work_dir(struct stepd *s)
{
	const struct launch *l = &s->launch;
	const char *dir = str_empty(l->step.work_dir) ? l->job.spec.work_dir : l->step.work_dir;
	struct stat st;

	s->wanted_dir = str_empty(dir) ? "/" : dir;
	s->work_dir = s->wanted_dir;
	if (stat(s->wanted_dir, &st) < 0 || eaccess(s->wanted_dir, X_OK) < 0)
		s->work_dir = "/tmp";
}

/* sbatch and srun hand the user's umask over in the environment. */
static void take_umask(struct stepd *s)
{
	const char *text = env_get(&s->env, "SLURM_UMASK");
	char *end;

	s->umask = 022;
	if (text) {
		unsigned long mask = strtoul(text, &end, 8);
		if (!*end && mask <= 0777)
			s->umask = (mode_t)mask;
	}
	if (stepd_is_batch(s))
		env_unset(&s->env, "SLURM_UMASK");
	umask(s->umask);
}

static int open_all(struct stepd *s, struct error *err)
{
	int r = user_enter(&s->launch, err);

	if (r < 0)
		return r;
	choose_work_dir(s);
	for (uint32_t i = 0; i < s->task_count && r == 0; i++)
		r = open_streams(s, &s->tasks[i], err);
	user_leave();
	return r;
}

/* Three descriptors and their other ends for each task. */
static void raise_file_limit(uint32_t tasks)
{
	struct rlimit limit;

	if (tasks < 100 || getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void become_user(const struct launch *l)
{
	if (geteuid() != 0 || l->uid == 0)
		return;
	if (setgroups(l->n_groups, l->groups) < 0 || setresgid(l->gid, l->gid, l->gid) < 0 ||
	    setresuid(l->uid, l->uid, l->uid) < 0) {
		dprintf(2, "slurmstepd: error: cannot become uid %u: %s\n", l->uid,
			strerror(errno));
		_exit(errno);
	}
}

static void build_env(struct stepd *s, const struct task *t)
{
	const struct launch *l = &s->launch;
	bool batch = stepd_is_batch(s);

	jobenv_add(batch ? JOBENV_BATCH : JOBENV_TASK,
		   &(struct jobenv) {
			   .job = &l->job,
			   .step = &l->step,
			   .cluster = l->cluster,
			   .conf_path = l->conf_path,
			   .node_names = (const char *const *)l->node_names,
			   .node_count = l->n_node_names,
			   .node_pos = l->node_pos,
			   .node_name = l->node_name,
			   .task_id = t->id,
			   .local_id = t->local_id,
			   .gres = l->gres,
			   .gres_count = l->n_gres,
			   .cpu_node = &s->cpu_node,
			   .bound = batch ? NULL : &s->bound,
			   .really_bound = s->cpu_node.machine != NULL,
			   .pid = (uint32_t)getpid(),
			   .srun_addr = l->step.srun_host,
			   .topology_addr = l->topology_addr,
			   .topology_pattern = l->topology_pattern,
		   },
		   &s->env);
}

static char **build_argv(const struct stepd *s)
{
	const struct launch *l = &s->launch;
	bool batch = stepd_is_batch(s);
	char **given = batch ? l->job.spec.argv : l->step.argv;
	uint32_t count = batch ? l->job.spec.n_argv : l->step.n_argv, at = 0;
	char **argv = ARENA_ARRAY(s->arena, char *, count + 2);

	if (batch)
		argv[at++] = s->script_path;
	for (uint32_t i = 0; i < count; i++)
		argv[at++] = given[i];
	return argv;
}

/* Like execvpe(3), but with the task's own PATH and without trying a shell. */
static void exec_program(struct stepd *s, char **argv, char **envp)
{
	const char *path = env_get(&s->env, "PATH"), *name = argv[0];
	int error = ENOENT;

	if (strchr(name, '/')) {
		execve(name, argv, envp);
		return;
	}
	for (path = path ? path : "/usr/local/bin:/usr/bin:/bin"; *path;) {
		size_t len = strcspn(path, ":");
		char *full = len ? arena_printf(s->arena, "%.*s/%s", (int)len, path, name)
				 : arena_strdup(s->arena, name);
		execve(full, argv, envp);
		if (errno == EACCES)
			error = EACCES;
		path += len + (path[len] == ':');
	}
	errno = error;
}

static void enter_work_dir(const struct stepd *s)
{
	if (chdir(s->wanted_dir) == 0)
		return;
	dprintf(2, "slurmstepd: error: cannot enter directory '%s': %s; using /tmp instead\n",
		s->wanted_dir, strerror(errno));
	if (chdir("/tmp") < 0)
		_exit(errno);
}

static void reset_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
}

static void __attribute__((noreturn)) task_run(struct stepd *s, struct task *t)
{
	cpu_set_t cpus;
	char **argv, **envp;
	bool is_bound;

	setsid();
	if (s->launch.step.uses_pty && t->id == 0)
		ioctl(t->given[0], TIOCSCTTY, 0);
	for (int i = 0; i < 3; i++)
		dup2(t->given[i], i);
	reset_signals();
	is_bound = affinity_of(s, t, &cpus) && sched_setaffinity(0, sizeof(cpus), &cpus) == 0;
	affinity_tell(s, t, is_bound);
	build_env(s, t);
	argv = build_argv(s);
	envp = env_to_array(&s->env);
	become_user(&s->launch);
	/* Without its step daemon nobody would ever end it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	enter_work_dir(s);
	if (!argv[0]) {
		dprintf(2, "slurmstepd: error: the step has no program to run\n");
		_exit(EINVAL);
	}
	exec_program(s, argv, envp);
	dprintf(2, "slurmstepd: error: execve(): %s: %s\n",
		stepd_is_batch(s) && s->launch.job.spec.command ? s->launch.job.spec.command
								: argv[0],
		strerror(errno));
	_exit(errno);
}

static int task_fork(struct stepd *s, struct task *t, struct error *err)
{
	pid_t pid = fork();

	if (pid < 0)
		return error_set(err, -errno, "cannot start task %u: %s", t->id, strerror(errno));
	if (pid == 0)
		task_run(s, t);
	t->pid = pid;
	t->started = true;
	s->running++;
	return 0;
}

int tasks_start(struct stepd *s, struct error *err)
{
	const struct launch *l = &s->launch;
	bool batch = stepd_is_batch(s);
	int r;

	env_from_block(&s->env, l->env.data, l->env.len);
	take_umask(s);
	layout_local(s);
	affinity_plan(s);
	raise_file_limit(s->task_count);
	r = batch ? files_write_script(s, err) : 0;
	if (r == 0 && l->step.srun_port)
		r = io_connect(s, err);
	if (r == 0)
		r = open_all(s, err);
	if (r < 0)
		return r;
	if (batch)
		s->err_fd = fcntl(s->tasks[0].given[2], F_DUPFD_CLOEXEC, 0);
	for (uint32_t i = 0; i < s->task_count && r == 0; i++)
		r = task_fork(s, &s->tasks[i], err);
	for (uint32_t i = 0; i < s->task_count; i++)
		close_given(&s->tasks[i]);
	return r;
}
