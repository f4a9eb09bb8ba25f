/* SPDX-License-Identifier: Apache-2.0 */
/* squeue.c - the queue: which jobs are asked for, and how they are shown.
 *
 * The story of one run: options become a filter, a format and an order; from the columns of both follow
 * the fields to ask for, so that a list of a hundred thousand jobs carries only what is printed; the
 * answer is narrowed by what the controller does not filter (flags of states, --notme, hidden
 * partitions), expanded with --array, sorted, and printed. */
#include "cmd/ask.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "client/cmdline.h"
#include "client/columns_job.h"
#include "client/connect.h"
#include "client/job_text.h"
#include "client/jobref.h"
#include "client/sorting.h"
#include "client/table.h"
#include "schema/errors.h"
#include "schema/messages.h"

#include <errno.h>
#include <string.h>

#define FORMAT_DEFAULT "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
#define FORMAT_LONG    "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"
#define FORMAT_START   "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R"
#define FORMAT_STEPS   "%.15i %.8j %.9P %.8u %.9M %N"
#define FORMAT_STATE   "%.18i %.2t"

struct squeue {
	struct ask *ask;
	const char *format, *long_format, *sort;
	bool all, array, noheader, is_long, notme, start, steps, only_state, help, version;
	bool has_users, has_states, all_states;
	uint32_t iterate;
	uint32_t base_states, flag_states; /* bits by number */
	struct jobrefs refs;
	struct jobrefs step_refs;
	struct job_query query;
	struct show_context context;
	struct table table;
	struct sorting sorting;
};

/* ---- options ----------------------------------------------------------------------------------- */

static void add_users(struct squeue *q, const char *list)
{
	struct job_filter *f = &q->query.filter;
	uint32_t count;
	char **names = ask_split(q->ask, list, &count);
	f->users = ARENA_ARRAY(q->ask->arena, uint32_t, count + 1);
	f->n_users = 0;
	q->has_users = true;
	for (uint32_t i = 0; i < count; i++) {
		uid_t uid;
		if (q->ask->user_uid(names[i], &uid) < 0)
			ask_complain(q->ask, "Invalid user: %s\n", names[i]);
		else
			f->users[f->n_users++] = uid;
	}
}

static int parse_states(struct squeue *q, const char *list, struct error *err)
{
	uint32_t count;
	char **words = ask_split(q->ask, list, &count);
	q->has_states = true;
	q->all_states = false;
	q->base_states = q->flag_states = 0;
	for (uint32_t i = 0; i < count; i++) {
		int number;
		if (str_ieq(words[i], "all"))
			q->all_states = true;
		else if (enum_parse(&job_state_enum, words[i], &number))
			q->base_states |= 1u << number;
		else if (enum_parse(&job_flag_enum, words[i], &number))
			q->flag_states |= 1u << number;
		else
			return error_set(
				err, -EINVAL,
				"'%s' is no state of a job; states are PENDING, RUNNING, SUSPENDED, COMPLETING, "
				"COMPLETED, CANCELLED, FAILED, TIMEOUT, NODE_FAIL, PREEMPTED, OUT_OF_MEMORY, "
				"BOOT_FAIL, DEADLINE and all",
				words[i]);
	}
	return 0;
}

static int set_option(void *ctx, const struct query_option_row *row, const char *value,
		      struct error *err)
{
	struct squeue *q = ctx;
	struct job_filter *f = &q->query.filter;
	switch ((int)row->sets) {
	case QUERY_OPTION_SETS_ACCOUNT:
		f->accounts = ask_split(q->ask, value, &f->n_accounts);
		break;
	case QUERY_OPTION_SETS_ALL:
		q->all = true;
		break;
	case QUERY_OPTION_SETS_ARRAY:
		q->array = true;
		break;
	case QUERY_OPTION_SETS_EXPAND:
		q->context.expand = true;
		break;
	case QUERY_OPTION_SETS_FORMAT:
		q->format = value;
		q->long_format = NULL;
		break;
	case QUERY_OPTION_SETS_LONG_FORMAT:
		q->long_format = value;
		q->format = NULL;
		break;
	case QUERY_OPTION_SETS_HELP:
		q->help = true;
		break;
	case QUERY_OPTION_SETS_HIDE:
		q->all = false;
		break;
	case QUERY_OPTION_SETS_ITERATE:
		if (str_to_u32(value, &q->iterate) < 0 || !q->iterate)
			return error_set(err, -EINVAL, "'%s' is no number of seconds", value);
		break;
	case QUERY_OPTION_SETS_JOBS:
		return value ? jobrefs_parse(value, q->ask->arena, &q->refs, err) : 0;
	case QUERY_OPTION_SETS_LONG:
		q->is_long = true;
		break;
	case QUERY_OPTION_SETS_ME:
		f->users = ARENA_NEW(q->ask->arena, uint32_t);
		f->users[0] = q->ask->uid;
		f->n_users = 1;
		q->has_users = true;
		break;
	case QUERY_OPTION_SETS_NAME:
		f->names = ask_split(q->ask, value, &f->n_names);
		break;
	case QUERY_OPTION_SETS_NOCONVERT:
		q->context.noconvert = true;
		break;
	case QUERY_OPTION_SETS_NODELIST:
		f->nodes = arena_strdup(q->ask->arena, value);
		break;
	case QUERY_OPTION_SETS_NOHEADER:
		q->noheader = true;
		break;
	case QUERY_OPTION_SETS_NOTME:
		q->notme = true;
		break;
	case QUERY_OPTION_SETS_ONLY_STATE:
		q->only_state = true;
		break;
	case QUERY_OPTION_SETS_PARTITION:
		f->partitions = ask_split(q->ask, value, &f->n_partitions);
		break;
	case QUERY_OPTION_SETS_QOS:
		f->qos = ask_split(q->ask, value, &f->n_qos);
		break;
	case QUERY_OPTION_SETS_RESERVATION:
		f->reservation = arena_strdup(q->ask->arena, value);
		break;
	case QUERY_OPTION_SETS_SORT:
		q->sort = value;
		break;
	case QUERY_OPTION_SETS_START:
		q->start = true;
		break;
	case QUERY_OPTION_SETS_STATES:
		return parse_states(q, value, err);
	case QUERY_OPTION_SETS_STEPS:
		q->steps = true;
		return value ? jobrefs_parse(value, q->ask->arena, &q->step_refs, err) : 0;
	case QUERY_OPTION_SETS_USER:
		add_users(q, value);
		break;
	case QUERY_OPTION_SETS_VERBOSE:
		break; /* there is nothing more to say about a list */
	case QUERY_OPTION_SETS_VERSION:
		q->version = true;
		break;
	default:
		return error_set(err, -ENOTSUP, "squeue does not know what to do with it");
	}
	return 0;
}

/* `squeue -j 12` and `squeue -s 12.0`: the value of an optional argument may be a word of its own. */
static int take_words(struct squeue *q, int count, char **words, struct error *err)
{
	for (int i = 0; i < count; i++) {
		int r = jobrefs_parse(words[i], q->ask->arena, q->steps ? &q->step_refs : &q->refs,
				      err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- what to ask for --------------------------------------------------------------------------- */

static int choose_format(struct squeue *q, struct error *err)
{
	enum column_of of = q->steps ? COLUMN_OF_STEP : COLUMN_OF_JOB;
	AUTO_BUF struct buf complaints = {};
	const char *format = q->format       ? q->format
			     : q->steps      ? FORMAT_STEPS
			     : q->start      ? FORMAT_START
			     : q->only_state ? FORMAT_STATE
			     : q->is_long    ? FORMAT_LONG
					     : FORMAT_DEFAULT;
	if (q->long_format)
		table_parse_names(&q->table, of, q->long_format, q->ask->arena, &complaints);
	else
		table_parse_letters(&q->table, of, format, q->ask->arena, &complaints);
	for (char *line = (char *)complaints.data, *end; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		buf_printf(&q->ask->err, "%s: error: %.*s\n", q->ask->program, (int)(end - line),
			   line);
	}
	const char *sort = q->sort         ? q->sort
			   : q->steps      ? "P,i"
			   : q->start      ? "S"
			   : q->only_state ? "t"
					   : "P,t,-p";
	int r = sorting_parse(&q->sorting, of, sort, err);
	return r < 0 ? error_wrap(err, r, "--sort") : 0;
}

static uint32_t *tags_of(struct squeue *q, uint64_t bits, uint32_t *ret_count)
{
	uint32_t *tags = ARENA_ARRAY(q->ask->arena, uint32_t, 64);
	*ret_count = 0;
	for (uint32_t tag = 1; tag < 64; tag++)
		if (bits >> tag & 1)
			tags[(*ret_count)++] = tag;
	return tags;
}

static void choose_fields(struct squeue *q)
{
	struct job_fields f = {};
	job_fields_add(&f, "id,state,completing");
	if (q->steps)
		job_fields_add(
			&f,
			"array_job_id,array_task_id,array_tasks,array_limit,uid,user,partition,node_list,"
			"batch_host,steps");
	if (q->notme)
		job_fields_add(&f, "uid");
	if (q->array)
		job_fields_add(&f, "array_job_id,array_task_id,array_tasks,array_limit");
	if (!q->all && !q->query.filter.n_partitions)
		job_fields_add(&f, "partition");
	for (size_t i = 0; i < q->table.columns.count && !q->steps; i++)
		if (q->table.columns.at[i].row)
			job_fields_add(&f, q->table.columns.at[i].row->fields);
	for (uint32_t i = 0; i < q->sorting.count && !q->steps; i++)
		job_fields_add(&f, q->sorting.keys[i].row->fields);
	q->query.no_steps = !q->steps;
	q->query.fields = tags_of(q, f.job, &q->query.n_fields);
	q->query.spec_fields = tags_of(q, f.spec, &q->query.n_spec_fields);
}

enum {
	ACTIVE_STATES = 1u << JOB_STATE_PENDING | 1u << JOB_STATE_RUNNING |
			1u << JOB_STATE_SUSPENDED
};

static void choose_states(struct squeue *q)
{
	struct job_filter *f = &q->query.filter;
	if (q->start && !q->has_states) {
		q->has_states = true;
		q->base_states = 1u << JOB_STATE_PENDING;
	}
	f->all_states = q->all_states || (q->base_states & ~(uint32_t)ACTIVE_STATES) || f->n_ids;
	if (q->all_states || q->flag_states || f->n_ids)
		return;
	f->states = ARENA_ARRAY(q->ask->arena, uint32_t, JOB_STATE_COUNT);
	for (uint32_t s = 0; s < JOB_STATE_COUNT; s++)
		if (q->base_states >> s & 1)
			f->states[f->n_states++] = s;
}

/* ---- the answer -------------------------------------------------------------------------------- */

static bool has_wanted_state(const struct squeue *q, const struct job *j)
{
	if (q->all_states)
		return true;
	if (!q->has_states)
		return !job_is_ended(j) || j->completing;
	return q->base_states >> j->state & 1 ||
	       (j->completing && q->flag_states >> JOB_FLAG_COMPLETING & 1);
}

/* Leaves only the hidden partitions in the list: usually none. */
static void keep_hidden(struct partition_list *parts)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < parts->n_partitions; i++)
		if (parts->partitions[i].conf.hidden)
			parts->partitions[n++] = parts->partitions[i];
	parts->n_partitions = n;
}

static bool is_hidden(const struct partition_list *hidden, const struct job *j)
{
	for (uint32_t i = 0; i < hidden->n_partitions; i++)
		if (str_eq(hidden->partitions[i].conf.name, j->partition))
			return true;
	return false;
}

struct lines {
	VEC(const void *) at;
};

/* The tasks that a record stands for, each as a job of its own. */
static void add_tasks(struct squeue *q, const struct job *j, struct lines *out)
{
	for (uint32_t r = 0; r < j->n_array_tasks; r++)
		for (uint32_t task = j->array_tasks[r].first; task <= j->array_tasks[r].last;
		     task++) {
			struct job *one = arena_dup(q->ask->arena, j, sizeof(*j));
			one->has_array_task_id = true;
			one->array_task_id = task;
			vec_push(&out->at, one);
		}
}

static bool is_step_wanted(const struct squeue *q, const struct job *j, const struct step *s)
{
	for (size_t i = 0; i < q->step_refs.at.count; i++) {
		const struct jobref *r = &q->step_refs.at.at[i];
		bool job = j->id == r->id || j->array_job_id == r->id;
		bool task = r->task == JOBREF_NO_TASK ||
			    (j->has_array_task_id && j->array_task_id == r->task);
		if (job && task && (!r->has_step || r->step == s->id))
			return true;
	}
	return q->step_refs.at.count == 0;
}

static void add_steps(struct squeue *q, const struct job *j, struct lines *out)
{
	for (uint32_t i = 0; i < j->n_steps; i++) {
		if (!is_step_wanted(q, j, &j->steps[i]))
			continue;
		struct job_step *s = ARENA_NEW(q->ask->arena, struct job_step);
		*s = (struct job_step) { j, &j->steps[i] };
		vec_push(&out->at, s);
	}
}

static void collect(struct squeue *q, const struct job_list *list,
		    const struct partition_list *hidden, struct lines *out)
{
	for (uint32_t i = 0; i < list->n_jobs; i++) {
		const struct job *j = &list->jobs[q->only_state ? list->n_jobs - 1 - i : i];
		if (!has_wanted_state(q, j) || (q->notme && j->uid == q->ask->uid) ||
		    is_hidden(hidden, j))
			continue;
		if (q->steps)
			add_steps(q, j, out);
		else if (q->array && j->array_job_id && !j->has_array_task_id)
			add_tasks(q, j, out);
		else
			vec_push(&out->at, j);
	}
}

static struct sort_value sort_value(const void *ctx, const void *obj, const struct column_row *row,
				    bool configured, struct arena *a)
{
	const struct squeue *q = ctx;
	struct sort_value v = {};
	(void)configured;
	if (q->steps ? step_column_number(&q->context, obj, row, &v.number)
		     : job_column_number(&q->context, obj, row, &v.number))
		return v;
	if (!q->steps &&
	    (row->value == COLUMN_VALUE_STATE || row->value == COLUMN_VALUE_STATE_SHORT)) {
		v.text = job_state_word(obj, row->value == COLUMN_VALUE_STATE_SHORT);
		return v;
	}
	if (!q->steps && row->value == COLUMN_VALUE_PARTITION) {
		v.text = job_partition(obj);
		return v;
	}
	AUTO_BUF struct buf text = {};
	(q->steps ? step_column : job_column)(&q->context, obj, row, &text);
	v.text = arena_strdup(a, buf_text(&text));
	return v;
}

static void print(struct squeue *q, const struct job_list *list,
		  const struct partition_list *hidden)
{
	struct lines lines = {};
	q->context.now = list->time;
	q->context.cluster = list->cluster;
	collect(q, list, hidden, &lines);
	sorting_apply(&q->sorting, sort_value, q, lines.at.at, lines.at.count, q->ask->arena);
	if (q->is_long || q->iterate)
		ask_put_date(q->ask, list->time);
	if (q->table.columns.count && !q->noheader)
		table_print_header(&q->table, &q->ask->out);
	for (size_t i = 0; i < lines.at.count && q->table.columns.count; i++)
		table_print_row(&q->table, q->steps ? step_column : job_column, &q->context,
				lines.at.at[i], &q->ask->out);
	vec_done(&lines.at);
}

static int fail(struct squeue *q, const struct error *err)
{
	if (err->code <= -E_INVALID_PARTITION) /* ours: the words that tools look for */
		buf_printf(&q->ask->err, "slurm_load_jobs error: %s\n", err->text);
	else
		ask_complain(q->ask, "%s", err->text);
	return connect_exit_error();
}

static int show(struct squeue *q)
{
	struct error err = {};
	struct job_list list = {};
	struct partition_list parts = {};
	struct partition_query every = {};
	bool nobody = q->has_users && !q->query.filter.n_users;
	if (!nobody && q->ask->call(q->ask, MSG_JOB_QUERY, &q->query, &list, 0, &err) < 0)
		return fail(q, &err);
	if (q->refs.at.count == 1 && !list.n_jobs && !nobody) {
		error_set(&err, -E_INVALID_JOB_ID, "%s",
			  enum_text(&error_code_enum, E_INVALID_JOB_ID));
		return fail(q, &err);
	}
	if (list.n_jobs && !q->all && !q->query.filter.n_partitions &&
	    q->ask->call(q->ask, MSG_PARTITION_QUERY, &every, &parts, 0, &err) < 0)
		return fail(q, &err);
	keep_hidden(&parts);
	print(q, &list, &parts);
	return 0;
}

int squeue_run(struct ask *ask, int argc, char **argv)
{
	struct squeue *q = ARENA_NEW(ask->arena, struct squeue);
	struct error err = {};
	int first;
	q->ask = ask;
	show_context_init(&q->context);
	const struct cmdline line = { QUERY_OPTION_CMDS_SQUEUE, set_option, q };
	int r = cmdline_parse(&line, argc, argv, ask->arena, &first, &err);
	if (r >= 0 && q->help) {
		cmdline_help(QUERY_OPTION_CMDS_SQUEUE, "squeue [options]", &ask->out);
		return 0;
	}
	if (r >= 0 && q->version) {
		buf_printf(&ask->out, "slurm %s\n", MUSTER_VERSION);
		return 0;
	}
	if (r >= 0)
		r = take_words(q, argc - first, argv + first, &err);
	if (r >= 0)
		r = choose_format(q, &err);
	if (r < 0) {
		ask_complain(ask, "%s", err.text);
		return 1;
	}
	q->context.bare_tasks = q->only_state;
	jobrefs_to_filter(q->refs.at.count ? &q->refs : &q->step_refs, ask->arena,
			  &q->query.filter);
	choose_states(q);
	choose_fields(q);
	if (!q->iterate)
		return show(q);
	for (AUTO_ARENA struct arena *turn = ask->arena = arena_new();; arena_clear(turn)) {
		show(q);
		buf_putc(&ask->out, '\n');
		ask->pause(ask, q->iterate);
	}
}
