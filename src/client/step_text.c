/* SPDX-License-Identifier: Apache-2.0 */
/* step_text.c - ids, names and resources of a step in words. */
#include "client/step_text.h"

#include "base/buf.h"
#include "base/str.h"
#include "client/columns_job.h"
#include "client/job_text.h"
#include "sched/layout.h"
#include "sched/devices.h"

const char *step_word(unsigned id)
{
	return id == STEP_BATCH         ? "batch"
	       : id == STEP_EXTERN      ? "extern"
	       : id == STEP_INTERACTIVE ? "interactive"
					: NULL;
}

void step_print_id(const struct job_step *s, const struct show_context *c, struct buf *out)
{
	job_print_id(s->job, c, out);
	buf_putc(out, '.');
	const char *word = step_word(s->step->id);
	if (word)
		buf_puts(out, word);
	else
		text_put_u64(out, s->step->id);
}

void step_print_name(const struct job_step *s, struct buf *out)
{
	const char *word = step_word(s->step->id);
	if (!str_empty(s->step->name))
		buf_puts(out, s->step->name);
	else if (word)
		buf_puts(out, word);
}

void step_print_nodes(const struct job_step *s, struct buf *out)
{
	if (!str_empty(s->step->node_list))
		buf_puts(out, s->step->node_list);
	else if (s->step->id == STEP_BATCH && !str_empty(s->job->batch_host))
		buf_puts(out, s->job->batch_host);
	else if (!str_empty(s->job->node_list))
		buf_puts(out, s->job->node_list);
}

void step_print_tres_per_node(const struct job_step *s, struct buf *out)
{
	if (s->step->id == STEP_BATCH || !s->step->n_alloc)
		return;
	const struct node_alloc *first = &s->step->alloc[0];
	for (uint32_t i = 0; i < first->n_gres; i++) {
		buf_printf(out, "%sgres/%s:%llu", i ? "," : "", first->gres[i].name,
			   (unsigned long long)gres_alloc_count(&first->gres[i]));
	}
}

void step_print_tres_per_step(const struct job_step *s, struct buf *out)
{
	uint32_t cpus = cpus_in(s->step->alloc, s->step->n_alloc);
	if (cpus && s->step->id != STEP_BATCH)
		buf_printf(out, "cpu:%u", cpus);
}
