/* SPDX-License-Identifier: Apache-2.0 */
/* show_step.c - scontrol show step. */
#include "base/buf.h"
#include "base/str.h"
#include "client/columns_job.h"
#include "client/job_text.h"
#include "client/show.h"
#include "client/step_text.h"
#include "sched/distribution.h"
#include "sched/layout.h"

#include <ctype.h>
#include <string.h>

/* "Block" for block. */
static void put_distribution(const struct step *st, struct buf *out)
{
	size_t at = out->len + strlen(" Dist=");
	buf_puts(out, " Dist=");
	distribution_print(st->distribution, st->ntasks, st->n_alloc, out);
	out->data[at] = (uint8_t)toupper(out->data[at]);
}

void show_step(const struct job_step *s, const struct show_context *c, struct buf *out)
{
	const struct step *st = s->step;
	bool is_batch = step_word(st->id) != NULL;
	buf_puts(out, "StepId=");
	step_print_id(s, c, out);
	buf_printf(out, " UserId=%u StartTime=", s->job->uid);
	text_put_time(c, st->start_time, "Unknown", out);
	buf_puts(out, " TimeLimit=UNLIMITED");
	show_break(c, out);
	buf_puts(out, "State=RUNNING Partition=");
	text_put_or(s->job->partition, "(null)", out);
	buf_puts(out, " NodeList=");
	step_print_nodes(s, out);
	show_break(c, out);
	buf_printf(out, "Nodes=%u CPUs=%u Tasks=%u Name=", st->n_alloc ? st->n_alloc : 1,
		   is_batch ? 0 : cpus_in(st->alloc, st->n_alloc), st->ntasks ? st->ntasks : 1);
	step_print_name(s, out);
	buf_puts(out, " Network=(null)");
	show_break(c, out);
	buf_puts(out, "TRES=");
	if (is_batch)
		buf_puts(out, "(null)");
	else
		step_print_tres(st, c, out);
	show_break(c, out);
	buf_puts(out, "ResvPorts=(null)");
	show_break(c, out);
	buf_puts(out, "CPUFreqReq=Default");
	if (!is_batch)
		put_distribution(st, out);
	show_break(c, out);
	buf_printf(out, "SrunHost:Pid=%s:%u", str_empty(st->srun_host) ? "(null)" : st->srun_host,
		   st->srun_pid);
	if (!is_batch) {
		show_break(c, out);
		buf_puts(out, "TresPerStep=");
		step_print_tres_per_step(s, out);
		size_t from = out->len;
		show_break(c, out);
		buf_puts(out, "TresPerNode=");
		size_t value = out->len;
		step_print_tres_per_node(s, out);
		if (out->len == value)
			out->len = from;
		if (st->cpus_per_task > 1) {
			show_break(c, out);
			buf_printf(out, "TresPerTask=cpu=%u", st->cpus_per_task);
		}
	}
	show_end(c, out);
}
