/* SPDX-License-Identifier: Apache-2.0 */
/* A real node daemon and real step daemons under a controller and an srun played by the test. */
#include "../cm.h"
#include "node_world.h"

#include "base/arena.h"
#include "base/str.h"
#include "sched/layout.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char wait_for_go[] = "while [ ! -e go ]; do sleep 0.02; done";

static void test_registers(void **state)
{
	struct world *w = *state;

	assert_string_equal(w->reg.name, "n1");
	assert_int_equal(w->reg.facts.cpus, NODE_CPUS); /* as configured, not as it is */
	assert_int_equal(w->reg.facts.real_memory_mib, 1000);
	assert_int_equal(w->reg.n_held, 0);
	assert_true(strlen(w->reg.facts.boot_id) > 30);
}

static void test_batch_job(void **state)
{
	struct world *w = *state;
	struct launch *l = world_batch(w, 7,
				       "echo $SLURM_JOB_ID $SLURMD_NODENAME $1; id -u; echo $0; "
				       "echo oops >&2; pwd; exit 3");
	char *args[] = { (char *)"word" };

	l->job.spec.argv = args;
	l->job.spec.n_argv = 1;
	world_launch(w, l);
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].job_id, 7);
	assert_int_equal(w->ends[0].attempt, 1);
	assert_int_equal(w->ends[0].step_id, STEP_BATCH);
	assert_int_equal(w->ends[0].exit_code, 3);
	assert_int_equal(w->ends[0].exit_signal, 0);
	assert_true(w->ends[0].job_clean);
	assert_null(w->ends[0].launch_error);
	assert_int_equal(w->launched, 1);
	assert_string_equal(
		world_read(w, "work/slurm-7.out"),
		arena_printf(w->arena,
			     "7 n1 word\n%u\n%s/spool/job00007/slurm_script\noops\n%s/work\n",
			     w->uid, w->dir, w->dir));
	world_wait_spool_empty(w);
}

static void test_output_files(void **state)
{
	struct world *w = *state;
	struct launch *l = world_batch(w, 8, "read x; echo out $x; echo err >&2");
	FILE *f = fopen(world_path(w, "work/in"), "w");

	fputs("given\n", f);
	fclose(f);
	l->std_in = (char *)"in";
	l->std_out = (char *)"o-%j-%x";
	l->std_err = (char *)"e-%4j";
	l->open_append = true;
	world_launch(w, l);
	world_wait_ends(w, 1);
	l->attempt = l->job.attempt = 2;
	world_launch(w, l);
	world_wait_ends(w, 2);
	assert_int_equal(w->ends[1].attempt, 2);
	assert_string_equal(world_read(w, "work/o-8-test"), "out given\nout given\n");
	assert_string_equal(world_read(w, "work/e-0008"), "err\nerr\n");
}

static void test_array_output(void **state)
{
	struct world *w = *state;
	struct launch *l = world_batch(w, 12, "echo $SLURM_ARRAY_TASK_ID");

	l->job.array_job_id = 10;
	l->job.has_array_task_id = true;
	l->job.array_task_id = 5;
	world_launch(w, l);
	world_wait_ends(w, 1);
	assert_string_equal(world_read(w, "work/slurm-10_5.out"), "5\n");
}

static void test_bad_output_file(void **state)
{
	struct world *w = *state;
	struct launch *l = world_batch(w, 9, "true");

	l->std_out = (char *)"/no/such/directory/out";
	world_launch(w, l);
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].exit_code, 1);
	assert_non_null(strstr(w->ends[0].launch_error, "/no/such/directory/out"));
	assert_true(w->ends[0].job_clean);
	world_wait_spool_empty(w);
}

static void test_missing_directory(void **state)
{
	struct world *w = *state;
	struct launch *l = world_batch(w, 9, "pwd");

	l->job.spec.work_dir = (char *)"/no/such/directory";
	l->std_out = (char *)world_path(w, "work/out");
	world_launch(w, l);
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].exit_code, 0);
	assert_non_null(strstr(world_read(w, "work/out"), "/no/such/directory"));
	assert_true(str_ends(world_read(w, "work/out"), "\n/tmp\n"));
}

static void test_launch_is_not_repeated(void **state)
{
	struct world *w = *state;
	struct launch *l = world_batch(w, 20,
				       arena_printf(w->arena, "echo once >> ran; %s", wait_for_go));

	world_launch(w, l);
	world_launch(w, l);
	world_wait_file(w, "work/ran");
	world_launch(w, l);
	world_touch(w, "work/go");
	world_wait_ends(w, 1);
	world_wait_spool_empty(w);
	assert_int_equal(w->launched, 3);
	assert_int_equal(w->end_count, 1);
	assert_string_equal(world_read(w, "work/ran"), "once\n");
}

static void test_wrong_node(void **state)
{
	struct world *w = *state;
	struct launch *l = world_batch(w, 21, "true");

	l->node_name = (char *)"n2";
	world_launch(w, l);
	world_wait_ends(w, 1);
	assert_non_null(strstr(w->ends[0].launch_error, "n2"));
}

static void test_end_is_kept_until_acknowledged(void **state)
{
	struct world *w = *state;

	w->withhold = true;
	world_launch(w, world_batch(w, 22, "exit 5"));
	world_wait_ends(w, 1);
	conn_close(w->link);
	w->link = NULL;
	world_wait_registered(w, 2);
	assert_int_equal(w->reg.n_held, 1);
	assert_true(w->reg.held[0].ended);
	world_wait_ends(w, 2);
	/* Now slurmd itself is lost; the step daemon still has the report. */
	world_kill_slurmd(w, SIGKILL);
	w->withhold = false;
	world_start_slurmd(w);
	assert_int_equal(w->reg.n_held, 1);
	assert_true(w->reg.held[0].ended);
	world_wait_ends(w, 3);
	assert_int_equal(w->ends[2].exit_code, 5);
	assert_true(w->ends[2].job_clean);
	world_wait_spool_empty(w);
}

static void test_adoption(void **state)
{
	struct world *w = *state;

	world_launch(w, world_batch(w, 23,
				    arena_printf(w->arena, "touch ran; %s; exit 6", wait_for_go)));
	world_wait_file(w, "work/ran");
	world_kill_slurmd(w, SIGKILL);
	world_start_slurmd(w);
	assert_int_equal(w->reg.n_held, 1);
	assert_int_equal(w->reg.held[0].job_id, 23);
	assert_int_equal(w->reg.held[0].step_id, STEP_BATCH);
	assert_false(w->reg.held[0].ended);
	/* Also when it stops in peace. */
	world_kill_slurmd(w, SIGTERM);
	world_start_slurmd(w);
	assert_int_equal(w->reg.n_held, 1);
	world_touch(w, "work/go");
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].exit_code, 6);
	world_wait_spool_empty(w);
}

static void test_ends_while_slurmd_is_away(void **state)
{
	struct world *w = *state;

	world_launch(w, world_batch(w, 24,
				    arena_printf(w->arena, "touch ran; %s; touch over; exit 4",
						 wait_for_go)));
	world_wait_file(w, "work/ran");
	world_kill_slurmd(w, SIGKILL);
	world_touch(w, "work/go");
	world_wait_file(w, "work/over");
	world_start_slurmd(w);
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].exit_code, 4);
	world_wait_spool_empty(w);
}

/* The shell's parent is the step daemon. */
static struct launch *job_with_child(struct world *w, uint32_t job_id)
{
	return world_batch(w, job_id,
			   "echo $PPID > stepd; setsid sleep 1000 & echo $! > child; "
			   "echo $$ > shell; touch ran; wait");
}

static void test_lost_step_daemon(void **state)
{
	struct world *w = *state;

	world_launch(w, job_with_child(w, 25));
	world_wait_file(w, "work/ran");
	kill(world_read_pid(w, "work/stepd"), SIGKILL);
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].exit_signal, 9);
	assert_string_equal(w->ends[0].launch_error, "step daemon lost");
	assert_true(w->ends[0].job_clean);
	world_wait_gone(w, world_read_pid(w, "work/shell"));
	world_wait_gone(w, world_read_pid(w, "work/child"));
	world_wait_spool_empty(w);
}

static void test_lost_while_slurmd_is_away(void **state)
{
	struct world *w = *state;

	world_launch(w, job_with_child(w, 26));
	world_wait_file(w, "work/ran");
	world_kill_slurmd(w, SIGKILL);
	kill(world_read_pid(w, "work/stepd"), SIGKILL);
	world_wait_gone(w, world_read_pid(w, "work/stepd"));
	world_start_slurmd(w);
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].exit_signal, 9);
	assert_string_equal(w->ends[0].launch_error, "step daemon lost");
	world_wait_gone(w, world_read_pid(w, "work/child"));
	world_wait_spool_empty(w);
}

static void test_terminate(void **state)
{
	struct world *w = *state;

	world_launch(w, world_batch(w, 27, "echo started; touch ran; sleep 1000"));
	world_wait_file(w, "work/ran");
	world_order(w, MSG_TERMINATE_JOB,
		    &(struct terminate_job) { .job_id = 27, .attempt = 2, .kill_wait_sec = 30 });
	world_wait_clean(w, 1); /* of the attempt that is not here */
	assert_int_equal(w->end_count, 0);
	world_order(w, MSG_TERMINATE_JOB,
		    &(struct terminate_job) { .job_id = 27,
					      .attempt = 1,
					      .kill_wait_sec = 30,
					      .why = (char *)"DUE TO TIME LIMIT" });
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].exit_signal, SIGTERM);
	assert_true(w->ends[0].job_clean);
	assert_int_equal(w->clean_count, 1);
	assert_non_null(strstr(world_read(w, "work/slurm-27.out"),
			       "slurmstepd: error: *** JOB 27 ON n1 CANCELLED AT "));
	assert_non_null(strstr(world_read(w, "work/slurm-27.out"), " DUE TO TIME LIMIT ***\n"));
}

static void test_terminate_stubborn(void **state)
{
	struct world *w = *state;

	world_launch(w, world_batch(w, 28, "trap '' TERM; touch ran; sleep 1000; sleep 1000"));
	world_wait_file(w, "work/ran");
	world_order(w, MSG_TERMINATE_JOB,
		    &(struct terminate_job) { .job_id = 28, .attempt = 1, .kill_wait_sec = 1 });
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].exit_signal, SIGKILL);
	assert_true(str_ends(world_read(w, "work/slurm-28.out"), " ***\n"));
	assert_null(strstr(world_read(w, "work/slurm-28.out"), "DUE TO"));
}

/* What tidies up after TERM has kill_wait for it, even when the shell above it has gone. */
static void test_terminate_is_patient(void **state)
{
	struct world *w = *state;

	world_launch(w, world_batch(w, 29,
				    "sh -c \"trap 'sleep 0.3; touch tidy; exit' TERM; touch ran; "
				    "while :; do sleep 0.02; done\" & wait"));
	world_wait_file(w, "work/ran");
	world_order(w, MSG_TERMINATE_JOB,
		    &(struct terminate_job) { .job_id = 29, .attempt = 1, .kill_wait_sec = 30 });
	world_wait_ends(w, 1);
	assert_int_equal(access(world_path(w, "work/tidy"), F_OK), 0);
}

/* Nothing slips through that is started while the processes are looked up. */
static void test_terminate_amid_forks(void **state)
{
	struct world *w = *state;

	world_launch(w, world_batch(w, 34,
				    "for i in $(seq 300); do [ $i = 50 ] && : > ran; "
				    "sleep 1000 & done; wait"));
	world_wait_file(w, "work/ran");
	world_order(w, MSG_TERMINATE_JOB,
		    &(struct terminate_job) { .job_id = 34, .attempt = 1, .kill_wait_sec = 3600 });
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].exit_signal, SIGTERM);
}

static void test_terminate_one_step(void **state)
{
	struct world *w = *state;

	world_launch(w, world_batch(w, 33,
				    arena_printf(w->arena, "touch ran; %s; exit 8", wait_for_go)));
	world_launch(w, world_step(w, 33, 1, "sleep 1000"));
	world_wait_file(w, "work/ran");
	world_order(w, MSG_TERMINATE_JOB,
		    &(struct terminate_job) { .job_id = 33,
					      .attempt = 1,
					      .kill_wait_sec = 30,
					      .has_step_id = true,
					      .step_id = 0 });
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].step_id, 0);
	assert_int_equal(w->ends[0].exit_signal, SIGTERM);
	assert_false(w->ends[0].job_clean);
	world_touch(w, "work/go");
	world_wait_ends(w, 2);
	assert_int_equal(w->ends[1].exit_code, 8);
	assert_int_equal(w->clean_count, 0);
}

static void test_terminate_nothing(void **state)
{
	struct world *w = *state;

	world_order(w, MSG_TERMINATE_JOB, &(struct terminate_job) { .job_id = 99, .attempt = 1 });
	world_wait_clean(w, 1);
	assert_int_equal(w->clean[0].job_id, 99);
}

static void test_leftovers_are_ended(void **state)
{
	struct world *w = *state;

	world_launch(
		w,
		world_batch(
			w, 30,
			"setsid sh -c 'echo $$ > child; trap \"\" TERM HUP; "
			"while :; do sleep 0.05; done' & while [ ! -s child ]; do sleep 0.02; done"));
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].exit_code, 0);
	world_wait_gone(w, world_read_pid(w, "work/child"));
}

static void test_signals(void **state)
{
	struct world *w = *state;

	world_launch(w, world_batch(w, 31,
				    "trap 'echo usr1 >> got; exit 9' USR1; touch ran; "
				    "while :; do sleep 0.02; done"));
	world_wait_file(w, "work/ran");
	world_order(w, MSG_SIGNAL_STEP,
		    &(struct signal_step) {
			    .job_id = 31, .attempt = 1, .signal = SIGUSR2, .skip_batch = true });
	world_order(w, MSG_SIGNAL_STEP,
		    &(struct signal_step) {
			    .job_id = 31, .attempt = 1, .signal = SIGUSR1, .batch_only = true });
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].exit_code, 9);
	assert_string_equal(world_read(w, "work/got"), "usr1\n");
}

static void test_clean_only_with_the_last_step(void **state)
{
	struct world *w = *state;

	world_launch(w, world_batch(w, 32, arena_printf(w->arena, "touch ran; %s", wait_for_go)));
	world_wait_file(w, "work/ran");
	world_launch(w, world_step(w, 32, 1, "true"));
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].step_id, 0);
	assert_false(w->ends[0].job_clean);
	world_touch(w, "work/go");
	world_wait_ends(w, 2);
	assert_int_equal(w->ends[1].step_id, STEP_BATCH);
	assert_true(w->ends[1].job_clean);
}

/* ---- steps of srun ------------------------------------------------------------------------------ */

static void test_two_tasks(void **state)
{
	struct world *w = *state;

	world_launch(w, world_step(w, 40, 2,
				   "echo task $SLURM_PROCID of $SLURM_NTASKS; "
				   "echo err $SLURM_LOCALID >&2; exit $SLURM_PROCID"));
	world_wait_done(w);
	world_wait_ends(w, 1);
	assert_int_equal(w->hello.job_id, 40);
	assert_true(w->hello.cookie == 4711);
	assert_int_equal(w->hello.ntasks, 2);
	assert_string_equal(w->hello.node_name, "n1");
	assert_string_equal(buf_text(&w->out[0]), "task 0 of 2\n");
	assert_string_equal(buf_text(&w->out[1]), "task 1 of 2\n");
	assert_string_equal(buf_text(&w->err[0]), "err 0\n");
	assert_string_equal(buf_text(&w->err[1]), "err 1\n");
	world_wait_exits(w, 2);
	for (uint32_t i = 0; i < w->exit_count; i++)
		assert_int_equal(w->exits[i].tasks[0], w->exits[i].exit_code);
	assert_int_equal(w->ends[0].exit_code, 1);
	assert_true(w->ends[0].job_clean);
}

static void test_missing_program(void **state)
{
	struct world *w = *state;
	struct launch *l = world_step(w, 41, 1, "");

	l->step.argv[0] = (char *)"/no/such/program";
	world_launch(w, l);
	world_wait_done(w);
	assert_string_equal(
		buf_text(&w->err[0]),
		"slurmstepd: error: execve(): /no/such/program: No such file or directory\n");
	assert_int_equal(w->exits[0].exit_code, 2);
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].exit_code, 2);
}

static void send_input(struct world *w, uint32_t task, const char *text, bool eof)
{
	conn_send(w->step, MSG_IO_DATA,
		  &(struct io_data) {
			  .task = task, .data = { (uint8_t *)text, strlen(text) }, .eof = eof });
}

static bool step_is_there(struct world *w)
{
	return w->step && w->hello.ntasks;
}

static void test_input(void **state)
{
	struct world *w = *state;

	world_launch(w, world_step(w, 42, 2, "cat"));
	world_wait(w, step_is_there, "the step daemon");
	send_input(w, UINT32_MAX, "for all\n", false);
	send_input(w, 1, "for one\n", false);
	send_input(w, UINT32_MAX, "", true);
	world_wait_done(w);
	assert_string_equal(buf_text(&w->out[0]), "for all\n");
	assert_string_equal(buf_text(&w->out[1]), "for all\nfor one\n");
}

/* A quarter of a second in which nothing arrives; unhindered, the task would be over by then. */
static bool output_has_stopped(struct world *w)
{
	w->quiet = w->out[0].len == w->seen ? w->quiet + 1 : 0;
	w->seen = w->out[0].len;
	return w->quiet > 125;
}

/* 40 MB from a task while srun does not read: nothing is lost, and the task is made to wait. */
static void test_slow_srun(void **state)
{
	struct world *w = *state;

	world_launch(
		w,
		world_step(w, 43, 1,
			   "head -c 40000000 /dev/zero; echo $PPID > stepd; echo end; touch ran"));
	world_wait(w, step_is_there, "the step daemon");
	conn_pause(w->step);
	world_wait(w, output_has_stopped, "a standstill");
	assert_int_not_equal(access(world_path(w, "work/ran"), F_OK), 0);
	conn_resume(w->step);
	world_wait_done(w);
	assert_int_equal(w->out[0].len, 40000000 + 4);
}

static void test_srun_signal(void **state)
{
	struct world *w = *state;

	world_launch(w, world_step(w, 44, 2, "echo up; exec sleep 1000"));
	world_wait(w, step_is_there, "the step daemon");
	conn_send(w->step, MSG_IO_SIGNAL, &(struct io_signal) { .signal = SIGINT });
	world_wait_exits(w, 2);
	assert_int_equal(w->exits[0].exit_signal, SIGINT);
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].exit_signal, SIGINT);
}

static void test_srun_goes_away(void **state)
{
	struct world *w = *state;

	world_launch(w, world_step(w, 45, 2, "sleep 1000"));
	world_wait(w, step_is_there, "the step daemon");
	conn_close(w->step);
	w->step = NULL;
	world_wait_ends(w, 1);
	assert_int_equal(w->ends[0].exit_signal, SIGTERM);
}

static void test_no_srun(void **state)
{
	struct world *w = *state;
	struct launch *l = world_step(w, 46, 1, "true");

	l->step.srun_port = 1;
	world_launch(w, l);
	world_wait_ends(w, 1);
	assert_non_null(strstr(w->ends[0].launch_error, "srun"));
}

/* srun may say the name of its host. */
static void test_srun_by_name(void **state)
{
	struct world *w = *state;
	struct launch *l = world_step(w, 51, 1, "echo here");

	l->step.srun_host = (char *)"localhost";
	world_launch(w, l);
	world_wait_done(w);
	assert_string_equal(buf_text(&w->out[0]), "here\n");
	l->job_id = 52;
	l->step.srun_host = (char *)"no-such-host.invalid";
	world_launch(w, l);
	world_wait_ends(w, 2);
	assert_non_null(strstr(w->ends[1].launch_error, "no-such-host.invalid"));
}

static void test_kill_on_bad_exit(void **state)
{
	struct world *w = *state;
	struct launch *l = world_step(w, 47, 3, "[ $SLURM_PROCID = 1 ] && exit 5; sleep 1000");

	l->step.kill_on_bad_exit = true;
	world_launch(w, l);
	world_wait_done(w);
	world_wait_ends(w, 1);
	assert_non_null(strstr(buf_text(&w->err[0]),
			       "slurmstepd: error: *** STEP 47.0 ON n1 CANCELLED AT "));
	assert_non_null(strstr(buf_text(&w->err[0]), "DUE TO TASK FAILURE ***"));
	assert_int_equal(w->ends[0].exit_code, 5);
	assert_int_equal(w->ends[0].exit_signal, SIGTERM);
}

static void test_files_per_task(void **state)
{
	struct world *w = *state;
	struct launch *l = world_step(w, 48, 2, "echo $SLURM_PROCID");

	l->std_out = (char *)"t-%J-%t";
	world_launch(w, l);
	world_wait_done(w);
	assert_string_equal(world_read(w, "work/t-48.0-0"), "0\n");
	assert_string_equal(world_read(w, "work/t-48.0-1"), "1\n");
	assert_int_equal(w->out[0].len, 0);
}

static bool sizes_were_printed(struct world *w)
{
	return strstr(buf_text(&w->out[0]), "33 77") != NULL;
}

static void test_terminal(void **state)
{
	struct world *w = *state;
	struct launch *l = world_step(
		w, 49, 2,
		"if [ $SLURM_PROCID = 0 ]; then tty && while :; do stty size; "
		"sleep 0.05; done; else tty; fi");

	l->step.uses_pty = true;
	world_launch(w, l);
	world_wait(w, step_is_there, "the step daemon");
	conn_send(w->step, MSG_IO_WINSIZE, &(struct io_winsize) { .rows = 33, .cols = 77 });
	world_wait(w, sizes_were_printed, "the window's size");
	assert_true(str_starts(buf_text(&w->out[0]), "/dev/pts/"));
	send_input(w, 0, "\003", false); /* control-C, as it is typed */
	world_wait_done(w);
	world_wait_ends(w, 1);
	assert_string_equal(buf_text(&w->out[1]), "not a tty\n");
	assert_int_equal(w->ends[0].exit_signal, SIGINT);
}

static bool beats(struct world *w)
{
	return w->heartbeats >= 3;
}

static void test_heartbeats(void **state)
{
	world_wait(*state, beats, "heartbeats");
}

static void test_reconfigure(void **state)
{
	struct world *w = *state;
	FILE *f = fopen(world_path(w, "slurm.conf"), "a");

	world_launch(w, world_batch(w, 50, arena_printf(w->arena, "touch ran; %s", wait_for_go)));
	world_wait_file(w, "work/ran");
	fputs("NodeName=n2 CPUs=1\n", f);
	fclose(f);
	kill(w->slurmd, SIGHUP);
	world_wait_registered(w, 2);
	assert_int_equal(w->reg.n_held, 1);
	/* A broken file changes nothing. */
	f = fopen(world_path(w, "slurm.conf"), "a");
	fputs("NoSuchKey=1\n", f);
	fclose(f);
	world_order(w, MSG_NODE_RECONFIGURE, &(struct empty) {});
	world_touch(w, "work/go");
	world_wait_ends(w, 1);
	assert_int_equal(w->registrations, 2);
}

static bool is_stopped(struct world *w)
{
	return w->slurmd_gone;
}

static void test_shutdown(void **state)
{
	struct world *w = *state;

	world_order(w, MSG_NODE_SHUTDOWN, &(struct empty) {});
	world_wait(w, is_stopped, "the end of slurmd");
	assert_int_not_equal(access(world_path(w, "slurmd.pid"), F_OK), 0);
}

#define NODE_TEST(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NODE_TEST(test_registers),
		NODE_TEST(test_batch_job),
		NODE_TEST(test_output_files),
		NODE_TEST(test_array_output),
		NODE_TEST(test_bad_output_file),
		NODE_TEST(test_missing_directory),
		NODE_TEST(test_launch_is_not_repeated),
		NODE_TEST(test_wrong_node),
		NODE_TEST(test_end_is_kept_until_acknowledged),
		NODE_TEST(test_adoption),
		NODE_TEST(test_ends_while_slurmd_is_away),
		NODE_TEST(test_lost_step_daemon),
		NODE_TEST(test_lost_while_slurmd_is_away),
		NODE_TEST(test_terminate),
		NODE_TEST(test_terminate_stubborn),
		NODE_TEST(test_terminate_is_patient),
		NODE_TEST(test_terminate_amid_forks),
		NODE_TEST(test_terminate_one_step),
		NODE_TEST(test_terminate_nothing),
		NODE_TEST(test_leftovers_are_ended),
		NODE_TEST(test_signals),
		NODE_TEST(test_clean_only_with_the_last_step),
		NODE_TEST(test_two_tasks),
		NODE_TEST(test_missing_program),
		NODE_TEST(test_input),
		NODE_TEST(test_slow_srun),
		NODE_TEST(test_srun_signal),
		NODE_TEST(test_srun_goes_away),
		NODE_TEST(test_no_srun),
		NODE_TEST(test_srun_by_name),
		NODE_TEST(test_kill_on_bad_exit),
		NODE_TEST(test_files_per_task),
		NODE_TEST(test_terminal),
		NODE_TEST(test_heartbeats),
		NODE_TEST(test_reconfigure),
		NODE_TEST(test_shutdown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
