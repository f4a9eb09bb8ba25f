/* SPDX-License-Identifier: Apache-2.0 */
/* scancel.c - end or signal jobs and steps.
 *
 * The options make a filter, the words name jobs; both together must be true of a job.  One request carries
 * all whole jobs, and each step named is one more.  With --interactive the jobs are asked for first, and
 * each that is confirmed is cancelled by its id.
 *
 * A job that is not known or has ended is reported but is no failure: what was wanted is already so. */
#include "cmd/ask.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "client/cmdline.h"
#include "client/connect.h"
#include "client/job_text.h"
#include "client/jobref.h"
#include "schema/errors.h"
#include "schema/messages.h"
#include "text/signame.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

struct scancel {
	struct ask *ask;
	bool interactive, quiet, help, version, has_filter;
	uint32_t verbose;
	struct cancel_request request; /* its filter without ids */
	struct jobrefs refs;
	int exit_code;
};

static int parse_signal(struct scancel *s, const char *value, struct error *err)
{
	int signo;
	if (signame_parse(value, &signo) < 0 || signo <= 0)
		return error_set(err, -EINVAL,
				 "'%s' is no signal; write a name like USR1 or a number", value);
	s->request.signal = (uint32_t)signo;
	return 0;
}

static int parse_states(struct scancel *s, const char *value, struct error *err)
{
	struct job_filter *f = &s->request.filter;
	uint32_t count;
	char **words = ask_split(s->ask, value, &count);
	f->states = ARENA_ARRAY(s->ask->arena, uint32_t, count + 1);
	f->n_states = 0;
	for (uint32_t i = 0; i < count; i++) {
		int number;
		if (!enum_parse(&job_state_enum, words[i], &number) || number > JOB_STATE_SUSPENDED)
			return error_set(
				err, -EINVAL,
				"'%s' is no state to cancel jobs in: PENDING, RUNNING or SUSPENDED",
				words[i]);
		f->states[f->n_states++] = (uint32_t)number;
	}
	return 0;
}

static int set_user(struct scancel *s, uid_t uid)
{
	struct job_filter *f = &s->request.filter;
	f->users = ARENA_NEW(s->ask->arena, uint32_t);
	f->users[0] = uid;
	f->n_users = 1;
	return 0;
}

static int set_filter(struct scancel *s, const struct query_option_row *row, const char *value,
		      struct error *err)
{
	struct job_filter *f = &s->request.filter;
	uid_t uid;
	s->has_filter = true;
	switch ((int)row->sets) {
	case QUERY_OPTION_SETS_ACCOUNT:
		f->accounts = ask_split(s->ask, value, &f->n_accounts);
		return 0;
	case QUERY_OPTION_SETS_ME:
		return set_user(s, s->ask->uid);
	case QUERY_OPTION_SETS_NAME:
		f->names = ask_split(s->ask, value, &f->n_names);
		return 0;
	case QUERY_OPTION_SETS_NODELIST:
		f->nodes = arena_strdup(s->ask->arena, value);
		return 0;
	case QUERY_OPTION_SETS_PARTITION:
		f->partitions = ask_split(s->ask, value, &f->n_partitions);
		return 0;
	case QUERY_OPTION_SETS_QOS:
		f->qos = ask_split(s->ask, value, &f->n_qos);
		return 0;
	case QUERY_OPTION_SETS_RESERVATION:
		f->reservation = arena_strdup(s->ask->arena, value);
		return 0;
	case QUERY_OPTION_SETS_STATES:
		return parse_states(s, value, err);
	case QUERY_OPTION_SETS_USER:
		if (s->ask->user_uid(value, &uid) < 0)
			return error_set(err, -EINVAL, "nobody here is called '%s'", value);
		return set_user(s, uid);
	default:
		return error_set(err, -ENOTSUP, "scancel does not know what to do with it");
	}
}

static int set_option(void *ctx, const struct query_option_row *row, const char *value,
		      struct error *err)
{
	struct scancel *s = ctx;
	switch ((int)row->sets) {
	case QUERY_OPTION_SETS_BATCH:
		s->request.batch_only = true;
		return 0;
	case QUERY_OPTION_SETS_CTLD:
		return 0; /* it is always one request */
	case QUERY_OPTION_SETS_FULL:
		s->request.full = true;
		return 0;
	case QUERY_OPTION_SETS_HELP:
		s->help = true;
		return 0;
	case QUERY_OPTION_SETS_INTERACTIVE:
		s->interactive = true;
		return 0;
	case QUERY_OPTION_SETS_QUIET:
		s->quiet = true;
		return 0;
	case QUERY_OPTION_SETS_SIGNAL:
		return parse_signal(s, value, err);
	case QUERY_OPTION_SETS_VERBOSE:
		s->verbose++;
		return 0;
	case QUERY_OPTION_SETS_VERSION:
		s->version = true;
		return 0;
	default:
		return set_filter(s, row, value, err);
	}
}

/* ---- doing it ---------------------------------------------------------------------------------- */

static bool is_already_so(const char *text)
{
	return strstr(text, enum_text(&error_code_enum, E_ALREADY_DONE)) ||
	       strstr(text, enum_text(&error_code_enum, E_INVALID_JOB_ID));
}

static void report(struct scancel *s, const char *text)
{
	bool harmless = is_already_so(text);
	if (!harmless)
		s->exit_code = 1;
	if (!harmless || !s->quiet)
		ask_complain(s->ask, "Kill job error on job id %s", text);
}

static void send_request(struct scancel *s, const struct cancel_request *r)
{
	struct cancel_reply reply = {};
	struct error err = {};
	if (s->ask->call(s->ask, MSG_CANCEL, r, &reply, 0, &err) < 0) {
		if (err.code != -E_INVALID_JOB_ID || r->filter.n_ids != 1) {
			if (err.code != -E_INVALID_JOB_ID)
				s->exit_code = connect_exit_error();
			if (err.code != -E_INVALID_JOB_ID || !s->quiet)
				ask_complain(s->ask, "%s", err.text);
			return;
		}
		report(s, arena_printf(s->ask->arena, "%u: %s", r->filter.ids[0], err.text));
		return;
	}
	for (uint32_t i = 0; i < reply.n_failures; i++)
		report(s, reply.failures[i]);
}

static void say(struct scancel *s, const struct jobref *ref)
{
	if (!s->verbose)
		return;
	buf_printf(&s->ask->err, "%s: ", s->ask->program);
	if (s->request.signal)
		buf_printf(&s->ask->err, "Signal %s to ", signame_print((int)s->request.signal));
	else
		buf_puts(&s->ask->err, "Terminating ");
	if (!ref)
		buf_puts(&s->ask->err, "every job that matches");
	else
		buf_printf(&s->ask->err, "job %u", ref->id);
	if (ref && ref->task != JOBREF_NO_TASK)
		buf_printf(&s->ask->err, "_%u", ref->task);
	if (ref && ref->has_step)
		buf_printf(&s->ask->err, " step %d", (int)ref->step);
	buf_putc(&s->ask->err, '\n');
}

/* Whole jobs go in one request; a step has one of its own. */
static void cancel_refs(struct scancel *s, const struct jobrefs *refs)
{
	struct jobrefs jobs = {};
	for (size_t i = 0; i < refs->at.count; i++) {
		const struct jobref *ref = &refs->at.at[i];
		say(s, ref);
		if (!ref->has_step) {
			vec_push(&jobs.at, *ref);
			continue;
		}
		struct cancel_request r = s->request;
		struct jobrefs one = {};
		vec_push(&one.at, *ref);
		jobrefs_to_filter(&one, s->ask->arena, &r.filter);
		vec_done(&one.at);
		r.has_step_id = true;
		r.step_id = ref->step;
		send_request(s, &r);
	}
	if (jobs.at.count) {
		struct cancel_request r = s->request;
		jobrefs_to_filter(&jobs, s->ask->arena, &r.filter);
		send_request(s, &r);
	}
	vec_done(&jobs.at);
}

static bool is_confirmed(struct scancel *s, const struct job *j)
{
	AUTO_BUF struct buf prompt = {}, answer = {};
	struct show_context c = {};
	buf_puts(&prompt, "Cancel job_id=");
	job_print_id(j, &c, &prompt);
	buf_printf(&prompt, " name=%s partition=%s [y/n]? ", j->spec.name ? j->spec.name : "",
		   job_partition(j));
	while (s->ask->read_line(s->ask, buf_text(&prompt), &answer)) {
		if (answer.len && strchr("yYnN", answer.data[0]) && answer.data[0])
			return answer.data[0] == 'y' || answer.data[0] == 'Y';
	}
	return false;
}

static void cancel_interactively(struct scancel *s)
{
	struct job_query query = { .filter = s->request.filter, .no_steps = true };
	struct job_list list = {};
	struct error err = {};
	jobrefs_to_filter(&s->refs, s->ask->arena, &query.filter);
	if (s->ask->call(s->ask, MSG_JOB_QUERY, &query, &list, 0, &err) < 0) {
		s->exit_code = connect_exit_error();
		ask_complain(s->ask, "%s", err.text);
		return;
	}
	struct jobrefs chosen = {};
	for (uint32_t i = 0; i < list.n_jobs; i++)
		if (!job_is_ended(&list.jobs[i]) && is_confirmed(s, &list.jobs[i]))
			vec_push(&chosen.at,
				 (struct jobref) { .id = list.jobs[i].id, .task = JOBREF_NO_TASK });
	cancel_refs(s, &chosen);
	vec_done(&chosen.at);
}

static int check(struct scancel *s, struct error *err)
{
	if (!s->has_filter && !s->refs.at.count)
		return error_set(
			err, -EINVAL,
			"no job was named: give job ids, or a filter such as --user or --name");
	if (s->request.batch_only && s->request.full)
		return error_set(err, -EINVAL, "--batch and --full exclude each other");
	if (s->request.signal == SIGKILL && !s->request.batch_only && !s->request.full)
		s->request.signal = 0; /* scancel(1): KILL without a target ends the job */
	s->request.quiet_done = !s->refs.at.count;
	return 0;
}

int scancel_run(struct ask *ask, int argc, char **argv)
{
	struct scancel *s = ARENA_NEW(ask->arena, struct scancel);
	struct error err = {};
	int first = argc;
	s->ask = ask;
	const struct cmdline line = { QUERY_OPTION_CMDS_SCANCEL, set_option, s };
	int r = cmdline_parse(&line, argc, argv, ask->arena, &first, &err);
	if (r >= 0 && s->help) {
		cmdline_help(QUERY_OPTION_CMDS_SCANCEL,
			     "scancel [options] [job_id[_array_id][.step_id]...]", &ask->out);
		return 0;
	}
	if (r >= 0 && s->version) {
		buf_printf(&ask->out, "slurm %s\n", MUSTER_VERSION);
		return 0;
	}
	for (int i = first; r >= 0 && i < argc; i++)
		r = jobrefs_parse(argv[i], ask->arena, &s->refs, &err);
	if (r >= 0)
		r = check(s, &err);
	if (r < 0) {
		ask_complain(ask, "%s", err.text);
		return 1;
	}
	if (s->interactive) {
		cancel_interactively(s);
	} else if (s->refs.at.count) {
		cancel_refs(s, &s->refs);
	} else {
		say(s, NULL);
		send_request(s, &s->request);
	}
	return s->exit_code;
}
