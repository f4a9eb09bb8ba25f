/* SPDX-License-Identifier: Apache-2.0 */
#include "node_world.h"

#include "../cm.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "host/file.h"
#include "host/loop.h"
#include "host/process.h"
#include "host/stream.h"
#include "sched/layout.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the controller ----------------------------------------------------------------------------- */

static void end_receive(struct world *w, struct request *r)
{
	record_copy(&step_end_record, &w->ends[w->end_count++], r->body, w->arena);
	if (w->withhold)
		w->withheld[w->withheld_count++] = r;
	else
		request_reply(r, &(struct empty) {});
}

static void controller_request(void *arg, struct request *r)
{
	struct world *w = arg;

	switch (r->kind) {
	case MSG_NODE_REGISTER:
		record_copy(&node_register_record, &w->reg, r->body, w->arena);
		w->registrations++;
		request_reply(
			r, &(struct node_register_reply) { .heartbeat_usec = 200 * USEC_PER_MSEC });
		break;
	case MSG_NODE_HEARTBEAT:
		w->heartbeats++;
		request_reply(r, &(struct empty) {});
		break;
	case MSG_STEP_END:
		end_receive(w, r);
		break;
	case MSG_JOB_CLEAN:
		w->clean[w->clean_count++] = *(struct job_clean *)r->body;
		request_reply(r, &(struct empty) {});
		break;
	default:
		fail_msg("the node sent message %u", r->kind);
	}
}

static void controller_closed(void *arg, struct conn *c, const char *why)
{
	struct world *w = arg;

	(void)why;
	if (w->link == c)
		w->link = NULL;
}

static const struct conn_handler controller_handler = {
	.request = controller_request,
	.closed = controller_closed,
};

static void controller_accept(void *arg, struct stream *s)
{
	struct world *w = arg;
	struct conn_options o = {
		.loop = w->loop, .auth = w->auth, .program = "test", .cluster = "t"
	};

	conn_close(w->link);
	w->link = conn_accept(s, &o, &controller_handler, w);
}

/* ---- srun --------------------------------------------------------------------------------------- */

static void data_receive(struct world *w, const struct io_data *d)
{
	struct buf *to = d->stream == 1 ? &w->out[d->task] : &w->err[d->task];

	assert_in_range(d->task, 0, 15);
	assert_in_range(d->stream, 1, 2);
	buf_put(to, d->data.data, d->data.len);
}

static void srun_request(void *arg, struct request *r)
{
	struct world *w = arg;

	switch (r->kind) {
	case MSG_IO_HELLO:
		record_copy(&io_hello_record, &w->hello, r->body, w->arena);
		break;
	case MSG_IO_DATA:
		data_receive(w, r->body);
		break;
	case MSG_IO_EXIT:
		record_copy(&io_exit_record, &w->exits[w->exit_count++], r->body, w->arena);
		break;
	case MSG_IO_DONE:
		w->step_done = true;
		break;
	default:
		fail_msg("the step daemon sent message %u to srun", r->kind);
	}
	request_reply(r, NULL);
}

static void srun_closed(void *arg, struct conn *c, const char *why)
{
	struct world *w = arg;

	(void)why;
	(void)c;
	w->step = NULL;
	w->step_closed = true;
}

static const struct conn_handler srun_handler = { .request = srun_request, .closed = srun_closed };

static void srun_accept(void *arg, struct stream *s)
{
	struct world *w = arg;
	struct conn_options o = { .loop = w->loop, .program = "test", .skip_hello = true };

	w->step = conn_accept(s, &o, &srun_handler, w);
}

/* ---- waiting ------------------------------------------------------------------------------------ */

struct wait {
	struct world *w;
	world_fn is_true;
	usec_t until;
	bool late;
};

static void wait_tick(void *arg)
{
	struct wait *wait = arg;

	wait->late = loop_clock(wait->w->loop) > wait->until;
	if (wait->late || wait->is_true(wait->w))
		loop_stop(wait->w->loop);
}

void world_wait(struct world *w, world_fn is_true, const char *what)
{
	struct wait wait = { .w = w,
			     .is_true = is_true,
			     .until = loop_clock(w->loop) + 20 * USEC_PER_SEC };
	struct timer *t = timer_new(w->loop, wait_tick, &wait);

	timer_start(t, 0, 2 * USEC_PER_MSEC);
	loop_run(w->loop);
	timer_free(t);
	if (wait.late)
		fail_msg("waited too long for %s; the log says:\n%s", what,
			 world_read(w, "slurmd.log"));
}

static uint32_t wanted;
static const char *wanted_file;

static bool enough_ends(struct world *w)
{
	return w->end_count >= wanted;
}

void world_wait_ends(struct world *w, uint32_t count)
{
	wanted = count;
	world_wait(w, enough_ends, "ends of steps");
}

static bool enough_clean(struct world *w)
{
	return w->clean_count >= wanted;
}

void world_wait_clean(struct world *w, uint32_t count)
{
	wanted = count;
	world_wait(w, enough_clean, "clean jobs");
}

static bool enough_registrations(struct world *w)
{
	return w->registrations >= wanted;
}

void world_wait_registered(struct world *w, uint32_t count)
{
	wanted = count;
	world_wait(w, enough_registrations, "registrations");
}

static bool file_is_there(struct world *w)
{
	return access(world_path(w, wanted_file), F_OK) == 0;
}

void world_wait_file(struct world *w, const char *name)
{
	wanted_file = name;
	world_wait(w, file_is_there, name);
}

static bool enough_exits(struct world *w)
{
	uint32_t tasks = 0;

	for (uint32_t i = 0; i < w->exit_count; i++)
		tasks += w->exits[i].n_tasks;
	return tasks >= wanted;
}

void world_wait_exits(struct world *w, uint32_t tasks)
{
	wanted = tasks;
	world_wait(w, enough_exits, "exits of tasks");
}

static bool is_done(struct world *w)
{
	return w->step_done;
}

void world_wait_done(struct world *w)
{
	world_wait(w, is_done, "the last word of the step daemon");
}

/* Or waits only for somebody to ask how it ended. */
static bool is_gone(struct world *w)
{
	AUTO_BUF struct buf stat = {};

	(void)!file_read(arena_printf(w->arena, "/proc/%u/stat", wanted), 4096, &stat);
	return !stat.len || strstr(buf_text(&stat), ") Z");
}

void world_wait_gone(struct world *w, pid_t pid)
{
	wanted = (uint32_t)pid;
	world_wait(w, is_gone, "the end of a process");
}

void world_wait_spool_empty(struct world *w)
{
	world_wait(w, world_spool_is_empty, "an empty spool");
}

/* ---- slurmd ------------------------------------------------------------------------------------- */

static void slurmd_exited(void *arg, pid_t pid, int status)
{
	struct world *w = arg;

	(void)status;
	if (w->slurmd == pid) {
		w->slurmd = 0;
		w->slurmd_gone = true;
	}
}

/* The programs lie in build/bin, the tests in build/test/unit. */
static const char *program(struct world *w, const char *name)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(n > 0);
	self[n] = 0;
	*strrchr(self, '/') = 0;
	return arena_printf(w->arena, "%s/../../bin/%s", self, name);
}

void world_start_slurmd(struct world *w)
{
	struct error err = {};
	const char *path = program(w, "slurmd");
	const char *argv[] = { path, "-D", "-N", "n1", "-f", world_path(w, "slurm.conf"), NULL };
	uint32_t before = w->registrations;
	int r = process_spawn(
		w->loop,
		&(struct spawn) {
			.path = path, .argv = argv, .fds = (int[]) { -1, -1, 2 }, .fd_count = 3 },
		slurmd_exited, w, &w->slurmd, &err);

	if (r < 0)
		fail_msg("%s", err.text);
	w->slurmd_gone = false;
	world_wait_registered(w, before + 1);
}

static bool slurmd_is_gone(struct world *w)
{
	return w->slurmd_gone;
}

void world_kill_slurmd(struct world *w, int signo)
{
	kill(w->slurmd, signo);
	world_wait(w, slurmd_is_gone, "the end of slurmd");
}

/* ---- orders ------------------------------------------------------------------------------------- */

static void order_answered(void *arg, const void *reply, const struct error *err)
{
	struct world *w = arg;

	(void)err;
	w->launched += reply != NULL;
}

void world_order(struct world *w, uint16_t kind, const void *body)
{
	assert_non_null(w->link);
	conn_call(w->link, kind, body, 0, order_answered, w);
}

void world_launch(struct world *w, const struct launch *l)
{
	world_order(w, MSG_LAUNCH, l);
}

static struct launch *launch_new(struct world *w, uint32_t job_id, uint32_t step_id)
{
	struct launch *l = ARENA_NEW(w->arena, struct launch);
	struct node_alloc *alloc = ARENA_NEW(w->arena, struct node_alloc);
	static char *node_names[] = { (char *)"n1" };
	static const char env[] = "PATH=/usr/bin:/bin\0TERM=dumb";

	bitset_init_in(&alloc->cores, NODE_CPUS, w->arena);
	bitset_add_range(&alloc->cores, 0, 2);
	alloc->tasks = 1;
	l->job_id = l->job.id = job_id;
	l->attempt = l->job.attempt = 1;
	l->step_id = l->step.id = step_id;
	l->uid = l->job.uid = w->uid;
	l->gid = l->job.gid = w->gid;
	l->groups = ARENA_NEW(w->arena, uint32_t);
	l->groups[0] = w->gid;
	l->n_groups = 1;
	l->user = l->job.user = (char *)"tester";
	l->job.spec.name = (char *)"test";
	l->job.spec.work_dir = (char *)world_path(w, "work");
	l->job.node_list = (char *)"n1";
	l->job.alloc = l->step.alloc = alloc;
	l->job.n_alloc = l->step.n_alloc = 1;
	l->node_name = (char *)"n1";
	l->node_names = node_names;
	l->n_node_names = 1;
	l->cluster = (char *)"t";
	l->env = (struct bytes) { (uint8_t *)env, sizeof(env) };
	l->kill_wait_sec = 30;
	return l;
}

struct launch *world_batch(struct world *w, uint32_t job_id, const char *script)
{
	struct launch *l = launch_new(w, job_id, STEP_BATCH);
	char *text = arena_printf(w->arena, "#!/bin/sh\n%s\n", script);

	l->script = (struct bytes) { (uint8_t *)text, strlen(text) };
	return l;
}

struct launch *world_step(struct world *w, uint32_t job_id, uint32_t ntasks, const char *shell)
{
	struct launch *l = launch_new(w, job_id, 0);

	l->step.ntasks = l->step.alloc[0].tasks = ntasks;
	l->step.cpus_per_task = 1;
	l->step.srun_host = (char *)"127.0.0.1";
	l->step.srun_port = listener_port(w->srun);
	l->step.cookie = 4711;
	l->step.argv = ARENA_ARRAY(w->arena, char *, 3);
	l->step.argv[0] = (char *)"sh";
	l->step.argv[1] = (char *)"-c";
	l->step.argv[2] = arena_strdup(w->arena, shell);
	l->step.n_argv = 3;
	return l;
}

/* ---- files -------------------------------------------------------------------------------------- */

const char *world_path(struct world *w, const char *name)
{
	return arena_printf(w->arena, "%s/%s", w->dir, name);
}

char *world_read(struct world *w, const char *name)
{
	AUTO_BUF struct buf b = {};

	(void)!file_read(world_path(w, name), 16 << 20, &b);
	return arena_strndup(w->arena, buf_text(&b), b.len);
}

pid_t world_read_pid(struct world *w, const char *name)
{
	return (pid_t)strtol(world_read(w, name), NULL, 10);
}

void world_touch(struct world *w, const char *name)
{
	int fd = open(world_path(w, name), O_WRONLY | O_CREAT, 0644);

	assert_true(fd >= 0);
	close(fd);
}

bool world_spool_is_empty(struct world *w)
{
	DIR *dir = opendir(world_path(w, "spool"));
	struct dirent *e;
	bool empty = true;

	assert_non_null(dir);
	while ((e = readdir(dir)))
		empty = empty && e->d_name[0] == '.';
	closedir(dir);
	return empty;
}

static void write_conf(struct world *w)
{
	FILE *f = fopen(world_path(w, "slurm.conf"), "w");

	assert_non_null(f);
	fprintf(f,
		"ClusterName=t\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=%u\n"
		"AuthType=auth/slurm\nAuthInfo=socket=%s/auth.sock,key=%s/key\n"
		"SlurmdSpoolDir=%s/spool\nSlurmdPidFile=%s/slurmd.pid\nSlurmdLogFile=%s/slurmd.log\n"
		"SlurmdDebug=debug\nSlurmdParameters=config_overrides\n"
		"NodeName=n1 CPUs=%d RealMemory=1000\nPartitionName=p Nodes=n1 Default=YES\n",
		listener_port(w->controller), w->dir, w->dir, w->dir, w->dir, w->dir, NODE_CPUS);
	fclose(f);
}

int world_setup(void **state)
{
	struct world *w = mem_alloc(sizeof(*w));
	struct error err = {};
	bool root = geteuid() == 0;

	log_set_level(LOG_QUIET);
	w->arena = arena_new();
	w->loop = loop_new();
	/* As root the jobs are somebody else's, which is the harder case. */
	w->uid = root ? 65534 : geteuid();
	w->gid = root ? 65534 : getegid();
	snprintf(w->dir, sizeof(w->dir), "/tmp/muster-node-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	chmod(w->dir, 0755);
	assert_int_equal(mkdir(world_path(w, "work"), 0777), 0);
	chmod(world_path(w, "work"), 0777);
	assert_int_equal(auth_make_key(world_path(w, "key"), &err), 0);
	assert_int_equal(auth_new(&(struct auth_options) { .type = "auth/slurm",
							   .cluster = "t",
							   .key_path = world_path(w, "key") },
				  &w->auth, &err),
			 0);
	assert_int_equal(
		listener_tcp(w->loop, "127.0.0.1", 0, controller_accept, w, &w->controller, &err),
		0);
	assert_int_equal(listener_tcp(w->loop, "127.0.0.1", 0, srun_accept, w, &w->srun, &err), 0);
	write_conf(w);
	world_start_slurmd(w);
	*state = w;
	return 0;
}

/* A step daemon stays until somebody takes its report. */
static bool steps_are_over(struct world *w)
{
	return w->slurmd_gone || world_spool_is_empty(w);
}

int world_teardown(void **state)
{
	struct world *w = *state;

	w->withhold = false;
	if (w->slurmd) {
		world_wait(w, steps_are_over, "the end of all steps");
		world_kill_slurmd(w, SIGTERM);
	}
	/* Steps that a failed test left running; the path tells them from those of a test beside. */
	process_signal_marked(
		(const char *[]) { arena_printf(w->arena, "SLURM_CONF=%s",
						world_path(w, "slurm.conf")),
				   NULL },
		SIGKILL);
	conn_close(w->link);
	conn_close(w->step);
	for (uint32_t i = 0; i < w->withheld_count; i++)
		request_reply(w->withheld[i], &(struct empty) {});
	listener_free(w->controller);
	listener_free(w->srun);
	auth_free(w->auth);
	loop_free(w->loop);
	for (int i = 0; i < 16; i++) {
		buf_done(&w->out[i]);
		buf_done(&w->err[i]);
	}
	char command[128];
	snprintf(command, sizeof(command), "rm -rf '%s'", w->dir);
	(void)!system(command);
	arena_free(w->arena);
	free(w);
	return 0;
}
