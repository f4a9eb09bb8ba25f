/* SPDX-License-Identifier: Apache-2.0 */
/* sbatch - queue a batch script.
 *
 * Options come from the command line, the environment and the script's #SBATCH lines; the script is
 * the first word that is no option, standard input, or made from --wrap.  The job is on the
 * controller's disk before its id is printed. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "client/command.h"
#include "client/connect.h"
#include "client/hints.h"
#include "client/options.h"
#include "client/script.h"
#include "client/submit.h"
#include "schema/errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int load_script(const struct options *o, struct script *ret, struct error *err)
{
	/* --wrap is needed before options are applied, to know whether there is a script to read. */
	const char *wrap = NULL;
	for (size_t i = 0; i < o->uses.count; i++)
		if (o->uses.at[i].row->target && str_eq(o->uses.at[i].row->target, "wrap"))
			wrap = o->uses.at[i].value;
	if (wrap && o->rest_count)
		return error_set(err, -1, "--wrap makes the script; '%s' cannot be one too",
				 o->rest[0]);
	if (wrap) {
		script_wrap(wrap, o->arena, ret);
		return 0;
	}
	int r = o->rest_count ? script_load(o->rest[0], getenv("PATH"), o->arena, ret, err)
			      : script_read_fd(STDIN_FILENO, o->arena, ret, err);
	return r < 0 ? r : script_check(ret, err);
}

static bool is_over(const struct job *j)
{
	return j->state >= JOB_STATE_COMPLETED;
}

/* 1 for a job that a signal ended, or that never ran. */
static int job_code(const struct job *j)
{
	return j->exit_signal || (j->state != JOB_STATE_COMPLETED && !j->exit_code)
		       ? 1
		       : (int)j->exit_code;
}

/* Follows the job, or every task of the array, to its end; the highest code counts.  Ended jobs are
 * forgotten after a while, so all of them are looked at once a minute. */
static int wait_for_end(struct connection *c, uint32_t job_id)
{
	struct error err = {};
	int code = 0;
	for (;;) {
		AUTO_ARENA struct arena *a = arena_new();
		struct job_list list;
		struct job_query query = {
			.filter = { .ids = &job_id, .n_ids = 1, .all_states = true },
			.no_steps = true
		};
		int r = connect_wait(c, MSG_JOB_QUERY, &query, a, &list, 0, &err);
		if (r < 0 && r != -E_SOCKET_TIMEOUT && r != -E_INVALID_JOB_ID) {
			log_error("cannot follow job %u: %s", job_id, err.text);
			return connect_exit_error();
		}
		const struct job *open = NULL;
		for (uint32_t i = 0; r == 0 && i < list.n_jobs; i++) {
			if (!is_over(&list.jobs[i]))
				open = open ? open : &list.jobs[i];
			else if (job_code(&list.jobs[i]) > code)
				code = job_code(&list.jobs[i]);
		}
		if (!open && r != -E_SOCKET_TIMEOUT)
			return code;
		if (!open)
			continue;
		struct job_wait ask = { .job_id = open->id, .for_end = true };
		struct job_wait_reply reply;
		r = connect_wait(c, MSG_JOB_WAIT, &ask, a, &reply, USEC_PER_MIN, &err);
		if (r < 0)
			log_debug("waiting for job %u: %s", ask.job_id, err.text);
	}
}

/* One line for each mistake that shows; SLURM_HINTS=0 or -Q keeps them away. */
static void give_hints(const struct options *o, const struct submit_request *q,
		       const struct submit_reply *reply)
{
	const char *gres = options_value(o, "gres"), *choice = getenv("SLURM_HINTS");
	const struct hint_input in = { .spec = &q->spec,
				       .script = (const char *)q->script.data,
				       .script_len = q->script.len,
				       .by_gres = gres && strstr(gres, "gpu"),
				       .default_memory = reply->default_memory };
	const char *lines[HINTS_MOST];
	if (str_eq(choice, "0"))
		return;
	uint32_t count = hints_find(&in, o->arena, lines);
	for (uint32_t i = 0; i < count; i++)
		log_info("hint: %s", lines[i]);
}

static int submit(struct options *o, const struct submit_request *q)
{
	struct connection c = {};
	struct error err = {};
	struct submit_reply reply = {};
	int code = 0, r = connect_open(&c, o->program, &err);
	if (r == 0)
		r = submit_send(&c, q, o->arena, &reply, &err);
	if (r == 0)
		give_hints(o, q, &reply);
	if (r < 0 && o->at.test_only) {
		fprintf(stderr, "allocation failure: %s\n", err.text);
		code = connect_exit_error();
	} else if (r < 0) {
		log_error("Batch job submission failed: %s", err.text);
		code = connect_exit_error();
	} else if (o->at.test_only) {
		submit_print_test(&c, o, &reply);
	} else {
		if (o->at.parsable)
			printf("%u\n", reply.job_id);
		else if (!o->at.quiet)
			printf("Submitted batch job %u\n", reply.job_id);
		fflush(stdout);
		if (o->at.wait)
			code = wait_for_end(&c, reply.job_id);
	}
	connect_close(&c);
	return code;
}

int main(int argc, char **argv)
{
	struct options o;
	struct script script;
	struct submit_request request;
	struct error err = {};
	int code = 0;
	if (command_start(&o, OPTION_CMDS_SBATCH, argc, argv, &code))
		return code;
	int r = load_script(&o, &script, &err);
	if (r < 0)
		return command_fail(&o, &err, connect_exit_error());
	r = submit_read_options(&o, environ, &script, &err);
	if (r < 0)
		return command_fail(&o, &err, o.exit_code);
	command_talk(&o);
	r = submit_fill(&o, &script, argc, argv, environ, &request, &err);
	if (r < 0)
		return command_fail(&o, &err, connect_exit_error());
	return submit(&o, &request);
}
