/* SPDX-License-Identifier: Apache-2.0 */
/* columns_step.c - what each column of squeue -s shows for a step. */
#include "base/buf.h"
#include "base/str.h"
#include "client/columns_job.h"
#include "client/job_text.h"
#include "client/step_text.h"
#include "text/duration.h"

#define VALUE(name)                                                                                \
	static void name(UNUSED const struct show_context *c, const struct job_step *s,            \
			 struct buf *out)

VALUE(array_job_id)
{
	if (s->job->array_job_id)
		text_put_u64(out, s->job->array_job_id);
}

VALUE(array_task_id)
{
	job_print_tasks(s->job, c, out);
}

VALUE(cluster)
{
	(void)s;
	if (c->cluster)
		buf_puts(out, c->cluster);
}

VALUE(job_id)
{
	text_put_u64(out, s->job->id);
}

VALUE(node_list)
{
	step_print_nodes(s, out);
}

VALUE(cpus)
{
	text_put_u64(out, cpus_in(s->step->alloc, s->step->n_alloc));
}

VALUE(ntasks)
{
	text_put_u64(out, s->step->ntasks);
}

VALUE(partition)
{
	if (s->job->partition)
		buf_puts(out, s->job->partition);
}

VALUE(start_time)
{
	text_put_time(c, s->step->start_time, "", out);
}

VALUE(step_id)
{
	step_print_id(s, c, out);
}

VALUE(name)
{
	step_print_name(s, out);
}

VALUE(state)
{
	(void)s;
	buf_puts(out, enum_text(&job_state_enum, JOB_STATE_RUNNING));
}

static usec_t run_time(const struct show_context *c, const struct job_step *s)
{
	usec_t start = s->step->start_time;
	return start && c->now > start ? c->now - start : 0;
}

VALUE(time_used)
{
	char text[DURATION_TEXT];
	duration_print(run_time(c, s), text);
	buf_puts(out, text);
}

VALUE(tres_bind)
{
	if (!str_empty(s->step->gpu_bind))
		buf_printf(out, "gres/gpu:%s", s->step->gpu_bind);
}

VALUE(tres_per_node)
{
	step_print_tres_per_node(s, out);
}

VALUE(tres_per_step)
{
	step_print_tres_per_step(s, out);
}

VALUE(tres_per_task)
{
	if (s->step->cpus_per_task)
		buf_printf(out, "cpu:%u", s->step->cpus_per_task);
}

VALUE(uid)
{
	text_put_u64(out, s->job->uid);
}

VALUE(user)
{
	if (!str_empty(s->job->user))
		buf_puts(out, s->job->user);
	else
		text_put_u64(out, s->job->uid);
}

static void (*const step_values[])(const struct show_context *, const struct job_step *,
				   struct buf *) = {
	[COLUMN_VALUE_ARRAY_JOB_ID] = array_job_id,
	[COLUMN_VALUE_ARRAY_TASK_ID] = array_task_id,
	[COLUMN_VALUE_CLUSTER] = cluster,
	[COLUMN_VALUE_JOB_ID] = job_id,
	[COLUMN_VALUE_NODE_LIST] = node_list,
	[COLUMN_VALUE_CPUS] = cpus,
	[COLUMN_VALUE_NTASKS] = ntasks,
	[COLUMN_VALUE_PARTITION] = partition,
	[COLUMN_VALUE_START_TIME] = start_time,
	[COLUMN_VALUE_STEP_ID] = step_id,
	[COLUMN_VALUE_NAME] = name,
	[COLUMN_VALUE_STATE] = state,
	[COLUMN_VALUE_TIME_USED] = time_used,
	[COLUMN_VALUE_TRES_BIND] = tres_bind,
	[COLUMN_VALUE_TRES_PER_NODE] = tres_per_node,
	[COLUMN_VALUE_TRES_PER_STEP] = tres_per_step,
	[COLUMN_VALUE_TRES_PER_TASK] = tres_per_task,
	[COLUMN_VALUE_UID] = uid,
	[COLUMN_VALUE_USER] = user,
};

bool step_column_is_known(const struct column_row *row)
{
	return row->value == COLUMN_VALUE_ABSENT ||
	       ((size_t)row->value < ARRAY_COUNT(step_values) && step_values[row->value]);
}

void step_column(const void *ctx, const void *obj, const struct column_row *row, struct buf *out)
{
	if (step_column_is_known(row) && row->value != COLUMN_VALUE_ABSENT)
		step_values[row->value](ctx, obj, out);
}

bool step_column_number(const struct show_context *c, const struct job_step *s,
			const struct column_row *row, int64_t *ret)
{
	if (row->value == COLUMN_VALUE_STEP_ID)
		*ret = (int64_t)((uint64_t)s->job->id << 32 | s->step->id);
	else if (row->value == COLUMN_VALUE_TIME_USED)
		*ret = run_time(c, s);
	else if (row->value == COLUMN_VALUE_NTASKS)
		*ret = s->step->ntasks;
	else if (row->value == COLUMN_VALUE_UID)
		*ret = s->job->uid;
	else
		return false;
	return true;
}
