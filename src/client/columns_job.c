/* SPDX-License-Identifier: Apache-2.0 */
/* columns_job.c - what each column of squeue shows for a job.
 *
 * One small function per value, found by the `value` of the row in schema/formats.def.  A function that
 * writes nothing leaves the word to the row's `none`.  Columns that are numbers or times inside have a
 * second function for sorting, so that 9 comes before 10; unknown times sort last. */
#include "client/columns_job.h"

#include "base/buf.h"
#include "base/str.h"
#include "client/job_text.h"
#include "text/duration.h"

#include <string.h>

typedef void (*value_fn)(const struct show_context *c, const struct job *j, struct buf *out);
typedef int64_t (*number_fn)(const struct show_context *c, const struct job *j);

#define VALUE(name)                                                                                \
	static void name(UNUSED const struct show_context *c, const struct job *j, struct buf *out)
#define NUMBER(name) static int64_t name(UNUSED const struct show_context *c, const struct job *j)

static void put_text(const char *s, struct buf *out)
{
	if (s)
		buf_puts(out, s);
}

static void put_span(usec_t span, struct buf *out)
{
	char text[DURATION_TEXT];
	duration_print(span, text);
	buf_puts(out, text);
}

static int64_t or_last(usec_t when)
{
	return when ? when : INT64_MAX;
}

/* ---- texts of the specification ---------------------------------------------------------------- */

VALUE(account)
{
	put_text(j->spec.account, out);
}

VALUE(comment)
{
	put_text(j->spec.comment, out);
}

VALUE(dependency)
{
	put_text(j->spec.dependency, out);
}

VALUE(exc_nodes)
{
	put_text(j->spec.request.exclude, out);
}

VALUE(features)
{
	put_text(j->spec.request.constraint, out);
}

VALUE(prefer)
{
	put_text(j->spec.request.prefer, out);
}

VALUE(licenses)
{
	put_text(j->spec.request.licenses, out);
}

VALUE(licenses_alloc)
{
	put_text(j->licenses_alloc, out);
}

VALUE(name)
{
	put_text(j->spec.name, out);
}

VALUE(qos)
{
	put_text(j->spec.qos, out);
}

VALUE(req_nodes)
{
	put_text(j->spec.request.node_list, out);
}

VALUE(reservation)
{
	put_text(j->spec.reservation, out);
}

VALUE(submit_host)
{
	put_text(j->spec.submit_host, out);
}

VALUE(tres_bind)
{
	if (!str_empty(j->spec.gpu_bind))
		buf_printf(out, "gres/gpu:%s", j->spec.gpu_bind);
}

VALUE(wckey)
{
	put_text(j->spec.wckey, out);
}

VALUE(work_dir)
{
	put_text(j->spec.work_dir, out);
}

VALUE(command)
{
	job_print_command(j, out);
}

VALUE(std_in)
{
	job_print_file(j, JOB_FILE_IN, c->expand, out);
}

VALUE(std_out)
{
	job_print_file(j, JOB_FILE_OUT, c->expand, out);
}

VALUE(std_err)
{
	job_print_file(j, JOB_FILE_ERR, c->expand, out);
}

/* ---- what was asked for ------------------------------------------------------------------------ */

static void put_wish(bool has, uint32_t v, struct buf *out)
{
	if (has)
		text_put_u64(out, v);
	else
		buf_putc(out, '*');
}

VALUE(sockets_per_node)
{
	put_wish(j->spec.request.has_sockets_per_node, j->spec.request.sockets_per_node, out);
}

VALUE(cores_per_socket)
{
	put_wish(j->spec.request.has_cores_per_socket, j->spec.request.cores_per_socket, out);
}

VALUE(core_spec)
{
	if (j->spec.request.has_core_spec)
		buf_printf(out, "%u", j->spec.request.core_spec);
}

VALUE(threads_per_core)
{
	put_wish(j->spec.request.has_threads_per_core, j->spec.request.threads_per_core, out);
}

VALUE(sct)
{
	sockets_per_node(c, j, out);
	buf_putc(out, ':');
	cores_per_socket(c, j, out);
	buf_putc(out, ':');
	threads_per_core(c, j, out);
}

VALUE(exclusive)
{
	buf_puts(out, enum_text(&exclusive_kind_enum, j->spec.request.exclusive));
}

VALUE(oversubscribe)
{
	buf_puts(out, j->spec.request.oversubscribe ? "YES" : "NO");
}

VALUE(req_switch)
{
	if (j->spec.request.has_switches)
		text_put_u64(out, j->spec.request.switches);
}

VALUE(segment_size)
{
	if (j->spec.request.has_segment)
		text_put_u64(out, j->spec.request.segment);
}

VALUE(contiguous)
{
	text_put_u64(out, j->spec.request.contiguous);
}

VALUE(cpus_per_tres)
{
	if (j->spec.request.has_cpus_per_gpu)
		buf_printf(out, "gres/gpu:%u", j->spec.request.cpus_per_gpu);
}

VALUE(mem_per_tres)
{
	if (j->spec.request.has_mem_per_gpu_mib)
		buf_printf(out, "gres/gpu:%llu",
			   (unsigned long long)j->spec.request.mem_per_gpu_mib);
}

VALUE(min_memory)
{
	const struct resource_request *r = &j->spec.request;
	uint64_t mib = r->has_mem_per_node_mib  ? r->mem_per_node_mib
		       : r->has_mem_per_cpu_mib ? r->mem_per_cpu_mib
						: 0;
	text_put_memory(c, mib, out);
}

VALUE(min_tmp_disk)
{
	text_put_memory(c, j->spec.request.has_tmp_mib ? j->spec.request.tmp_mib : 0, out);
}

VALUE(ntasks_per_node)
{
	if (j->spec.request.has_ntasks_per_node)
		text_put_u64(out, j->spec.request.ntasks_per_node);
}

VALUE(tres_per_node)
{
	gres_requests_print(j->spec.request.gres_per_node, j->spec.request.n_gres_per_node, ':',
			    out);
}

VALUE(tres_per_job)
{
	gres_requests_print(j->spec.request.gres_per_job, j->spec.request.n_gres_per_job, ':', out);
}

VALUE(tres_per_socket)
{
	gres_requests_print(j->spec.request.gres_per_socket, j->spec.request.n_gres_per_socket, ':',
			    out);
}

VALUE(tres_per_task)
{
	job_print_tres_per_task(j, out);
}

VALUE(tres_alloc)
{
	if (j->n_alloc)
		job_print_alloc_tres(j, c, out);
	else if (job_is_pending(j))
		job_print_req_tres(j, c, out);
}

/* ---- identity and state ------------------------------------------------------------------------ */

VALUE(array_task_id)
{
	job_print_tasks(j, c, out);
}

VALUE(job_array_id)
{
	job_print_id(j, c, out);
}

VALUE(batch_host)
{
	put_text(j->batch_host, out);
}

VALUE(cluster)
{
	(void)j;
	put_text(c->cluster, out);
}

VALUE(group)
{
	if (!str_empty(j->group))
		buf_puts(out, j->group);
	else
		text_put_u64(out, j->gid);
}

VALUE(user)
{
	if (!str_empty(j->user))
		buf_puts(out, j->user);
	else
		text_put_u64(out, j->uid);
}

VALUE(node_list)
{
	put_text(j->node_list, out);
}

VALUE(partition)
{
	buf_puts(out, job_partition(j));
}

VALUE(reason)
{
	job_print_reason(j, out);
}

/* squeue(1), %R: why it waits or failed, otherwise where it runs. */
VALUE(reason_list)
{
	bool ended_badly = j->state == JOB_STATE_FAILED || j->state == JOB_STATE_TIMEOUT ||
			   j->state == JOB_STATE_OUT_OF_MEMORY || j->state == JOB_STATE_DEADLINE;
	if (!job_is_pending(j) && !ended_badly) {
		put_text(j->node_list, out);
		return;
	}
	buf_putc(out, '(');
	job_print_reason(j, out);
	buf_putc(out, ')');
}

VALUE(state)
{
	buf_puts(out, job_state_word(j, false));
}

VALUE(state_short)
{
	buf_puts(out, job_state_word(j, true));
}

VALUE(exit_code)
{
	buf_printf(out, "%u:%u", j->exit_code, j->exit_signal);
}

VALUE(derived_exit)
{
	buf_printf(out, "%u:0", j->derived_exit);
}

VALUE(priority_share)
{
	buf_printf(out, "%.14f", (double)j->priority / (double)UINT32_MAX);
}

/* ---- numbers: the value is what is sorted by ---------------------------------------------------- */

NUMBER(array_job_id_number)
{
	return j->array_job_id ? j->array_job_id : j->id;
}

NUMBER(batch_flag_number)
{
	return j->spec.batch;
}

NUMBER(cpus_per_task_number)
{
	return j->cpus_per_task;
}

NUMBER(cpus_number)
{
	return job_cpu_count(j);
}

NUMBER(gid_number)
{
	return j->gid;
}

NUMBER(job_id_number)
{
	return j->id;
}

/* Tasks of one array stay together, in order, and those that wait come last. */
NUMBER(job_array_id_number)
{
	if (!j->array_job_id)
		return (int64_t)j->id << 32;
	uint32_t task = j->has_array_task_id ? j->array_task_id : UINT32_MAX;
	return (int64_t)((uint64_t)j->array_job_id << 32 | task);
}

NUMBER(array_task_id_number)
{
	return j->has_array_task_id ? j->array_task_id : UINT32_MAX;
}

NUMBER(max_nodes_number)
{
	return j->spec.request.nodes_max;
}

NUMBER(min_cpus_number)
{
	return job_min_cpus(j);
}

NUMBER(nice_number)
{
	return j->spec.nice;
}

NUMBER(nodes_number)
{
	return job_node_count(j);
}

NUMBER(ntasks_number)
{
	return j->ntasks ? j->ntasks : 1;
}

NUMBER(pending_time_number)
{
	usec_t until = job_is_pending(j) || !j->start_time ? c->now : j->start_time;
	return until > j->submit_time ? (until - j->submit_time) / USEC_PER_SEC : 0;
}

NUMBER(priority_number)
{
	return j->priority;
}

NUMBER(requeue_number)
{
	return j->requeue;
}

NUMBER(restarts_number)
{
	return j->attempt > 1 ? j->attempt - 1 : 0;
}

NUMBER(submit_sid_number)
{
	return j->spec.submit_sid;
}

NUMBER(uid_number)
{
	return j->uid;
}

static void put_number(int64_t v, struct buf *out)
{
	if (v < 0)
		buf_putc(out, '-');
	text_put_u64(out, v < 0 ? (uint64_t)-v : (uint64_t)v);
}

/* ---- times ------------------------------------------------------------------------------------- */

VALUE(accrue_time)
{
	text_put_time(c, j->eligible_time, "", out);
}

VALUE(deadline)
{
	text_put_time(c, j->spec.has_deadline ? j->spec.deadline : 0, "", out);
}

VALUE(eligible_time)
{
	usec_t begin = j->spec.has_begin_time ? j->spec.begin_time : 0;
	text_put_time(c, j->eligible_time ? j->eligible_time : begin, "", out);
}

VALUE(end_time)
{
	text_put_time(c, job_end_time(j), "", out);
}

VALUE(last_sched_eval)
{
	text_put_time(c, j->last_sched_eval, "", out);
}

VALUE(start_time)
{
	text_put_time(c, job_start_time(j), "", out);
}

VALUE(submit_time)
{
	text_put_time(c, j->submit_time, "", out);
}

VALUE(time_limit)
{
	if (j->time_limit)
		put_span(j->time_limit, out);
}

VALUE(time_min)
{
	if (j->spec.has_time_min && j->spec.time_min)
		put_span(j->spec.time_min, out);
}

VALUE(time_used)
{
	put_span(job_run_time(j, c->now), out);
}

static usec_t left(const struct show_context *c, const struct job *j)
{
	usec_t span = j->time_limit - job_run_time(j, c->now);
	return span > 0 ? span : 0;
}

VALUE(time_left)
{
	if (j->time_limit)
		put_span(left(c, j), out);
}

NUMBER(end_time_number)
{
	return or_last(job_end_time(j));
}

NUMBER(start_time_number)
{
	return or_last(job_start_time(j));
}

NUMBER(submit_time_number)
{
	return j->submit_time;
}

NUMBER(time_limit_number)
{
	return or_last(j->time_limit);
}

NUMBER(time_left_number)
{
	return j->time_limit ? left(c, j) : INT64_MAX;
}

NUMBER(time_used_number)
{
	return job_run_time(j, c->now);
}

NUMBER(min_memory_number)
{
	const struct resource_request *r = &j->spec.request;
	return (int64_t)(r->has_mem_per_node_mib ? r->mem_per_node_mib : r->mem_per_cpu_mib);
}

/* ---- the table --------------------------------------------------------------------------------- */

struct job_value {
	value_fn print;   /* NULL: the number */
	number_fn number; /* NULL: sorts as text */
};

static const struct job_value job_values[] = {
	[COLUMN_VALUE_ACCOUNT] = { account },
	[COLUMN_VALUE_ACCRUE_TIME] = { accrue_time },
	[COLUMN_VALUE_ARRAY_JOB_ID] = { NULL, array_job_id_number },
	[COLUMN_VALUE_ARRAY_TASK_ID] = { array_task_id, array_task_id_number },
	[COLUMN_VALUE_BATCH_FLAG] = { NULL, batch_flag_number },
	[COLUMN_VALUE_BATCH_HOST] = { batch_host },
	[COLUMN_VALUE_CLUSTER] = { cluster },
	[COLUMN_VALUE_COMMAND] = { command },
	[COLUMN_VALUE_COMMENT] = { comment },
	[COLUMN_VALUE_CONTIGUOUS] = { contiguous },
	[COLUMN_VALUE_REQ_SWITCH] = { req_switch },
	[COLUMN_VALUE_SEGMENT_SIZE] = { segment_size },
	[COLUMN_VALUE_CORES_PER_SOCKET] = { cores_per_socket },
	[COLUMN_VALUE_CORE_SPEC] = { core_spec },
	[COLUMN_VALUE_CPUS_PER_TASK] = { NULL, cpus_per_task_number },
	[COLUMN_VALUE_CPUS_PER_TRES] = { cpus_per_tres },
	[COLUMN_VALUE_DEADLINE] = { deadline },
	[COLUMN_VALUE_DEPENDENCY] = { dependency },
	[COLUMN_VALUE_DERIVED_EXIT] = { derived_exit },
	[COLUMN_VALUE_ELIGIBLE_TIME] = { eligible_time },
	[COLUMN_VALUE_END_TIME] = { end_time, end_time_number },
	[COLUMN_VALUE_EXC_NODES] = { exc_nodes },
	[COLUMN_VALUE_EXCLUSIVE] = { exclusive },
	[COLUMN_VALUE_EXIT_CODE] = { exit_code },
	[COLUMN_VALUE_FEATURES] = { features },
	[COLUMN_VALUE_PREFER] = { prefer },
	[COLUMN_VALUE_TRES_PER_NODE] = { tres_per_node },
	[COLUMN_VALUE_GID] = { NULL, gid_number },
	[COLUMN_VALUE_GROUP] = { group },
	[COLUMN_VALUE_JOB_ARRAY_ID] = { job_array_id, job_array_id_number },
	[COLUMN_VALUE_JOB_ID] = { NULL, job_id_number },
	[COLUMN_VALUE_LAST_SCHED_EVAL] = { last_sched_eval },
	[COLUMN_VALUE_LICENSES] = { licenses },
	[COLUMN_VALUE_LICENSES_ALLOC] = { licenses_alloc },
	[COLUMN_VALUE_MAX_NODES] = { NULL, max_nodes_number },
	[COLUMN_VALUE_MEM_PER_TRES] = { mem_per_tres },
	[COLUMN_VALUE_MIN_CPUS] = { NULL, min_cpus_number },
	[COLUMN_VALUE_MIN_MEMORY] = { min_memory, min_memory_number },
	[COLUMN_VALUE_TIME_MIN] = { time_min },
	[COLUMN_VALUE_MIN_TMP_DISK] = { min_tmp_disk },
	[COLUMN_VALUE_NAME] = { name },
	[COLUMN_VALUE_NICE] = { NULL, nice_number },
	[COLUMN_VALUE_NODE_LIST] = { node_list },
	[COLUMN_VALUE_NTASKS_PER_NODE] = { ntasks_per_node },
	[COLUMN_VALUE_CPUS] = { NULL, cpus_number },
	[COLUMN_VALUE_NODES] = { NULL, nodes_number },
	[COLUMN_VALUE_NTASKS] = { NULL, ntasks_number },
	[COLUMN_VALUE_OVERSUBSCRIBE] = { oversubscribe },
	[COLUMN_VALUE_PARTITION] = { partition },
	[COLUMN_VALUE_PENDING_TIME] = { NULL, pending_time_number },
	[COLUMN_VALUE_PRIORITY_SHARE] = { priority_share, priority_number },
	[COLUMN_VALUE_PRIORITY] = { NULL, priority_number },
	[COLUMN_VALUE_QOS] = { qos },
	[COLUMN_VALUE_REASON] = { reason },
	[COLUMN_VALUE_REASON_LIST] = { reason_list },
	[COLUMN_VALUE_REQ_NODES] = { req_nodes },
	[COLUMN_VALUE_REQUEUE] = { NULL, requeue_number },
	[COLUMN_VALUE_RESERVATION] = { reservation },
	[COLUMN_VALUE_RESTARTS] = { NULL, restarts_number },
	[COLUMN_VALUE_SCT] = { sct },
	[COLUMN_VALUE_SOCKETS_PER_NODE] = { sockets_per_node },
	[COLUMN_VALUE_START_TIME] = { start_time, start_time_number },
	[COLUMN_VALUE_STATE] = { state },
	[COLUMN_VALUE_STATE_SHORT] = { state_short },
	[COLUMN_VALUE_STD_ERR] = { std_err },
	[COLUMN_VALUE_STD_IN] = { std_in },
	[COLUMN_VALUE_STD_OUT] = { std_out },
	[COLUMN_VALUE_SUBMIT_HOST] = { submit_host },
	[COLUMN_VALUE_SUBMIT_SID] = { NULL, submit_sid_number },
	[COLUMN_VALUE_SUBMIT_TIME] = { submit_time, submit_time_number },
	[COLUMN_VALUE_THREADS_PER_CORE] = { threads_per_core },
	[COLUMN_VALUE_TIME_LEFT] = { time_left, time_left_number },
	[COLUMN_VALUE_TIME_LIMIT] = { time_limit, time_limit_number },
	[COLUMN_VALUE_TIME_USED] = { time_used, time_used_number },
	[COLUMN_VALUE_TRES_ALLOC] = { tres_alloc },
	[COLUMN_VALUE_TRES_BIND] = { tres_bind },
	[COLUMN_VALUE_TRES_PER_JOB] = { tres_per_job },
	[COLUMN_VALUE_TRES_PER_SOCKET] = { tres_per_socket },
	[COLUMN_VALUE_TRES_PER_TASK] = { tres_per_task },
	[COLUMN_VALUE_UID] = { NULL, uid_number },
	[COLUMN_VALUE_USER] = { user },
	[COLUMN_VALUE_WCKEY] = { wckey },
	[COLUMN_VALUE_WORK_DIR] = { work_dir },
};

static const struct job_value *value_of(const struct column_row *row)
{
	static const struct job_value none = {};
	return (size_t)row->value < ARRAY_COUNT(job_values) ? &job_values[row->value] : &none;
}

bool job_column_is_known(const struct column_row *row)
{
	const struct job_value *v = value_of(row);
	return row->value == COLUMN_VALUE_ABSENT || v->print || v->number;
}

void job_column(const void *ctx, const void *obj, const struct column_row *row, struct buf *out)
{
	const struct job_value *v = value_of(row);
	if (v->print)
		v->print(ctx, obj, out);
	else if (v->number)
		put_number(v->number(ctx, obj), out);
}

bool job_column_number(const struct show_context *c, const struct job *j,
		       const struct column_row *row, int64_t *ret)
{
	const struct job_value *v = value_of(row);
	if (v->number)
		*ret = v->number(c, j);
	return v->number;
}

/* ---- fields ------------------------------------------------------------------------------------ */

static uint32_t tag_of(const struct record *r, const char *name, size_t len)
{
	for (size_t i = 0; i < r->field_count; i++)
		if (strncmp(r->fields[i].name, name, len) == 0 && !r->fields[i].name[len])
			return r->fields[i].tag;
	return 0;
}

void job_fields_add(struct job_fields *f, const char *names)
{
	while (names && *names) {
		size_t len = strcspn(names, ",");
		size_t first = strcspn(names, ",.");
		f->job |= 1ull << tag_of(&job_record, names, first);
		if (first < len)
			f->spec |= 1ull
				   << tag_of(&job_spec_record, names + first + 1, len - first - 1);
		names += len + (names[len] == ',');
	}
}
