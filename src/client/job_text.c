/* SPDX-License-Identifier: Apache-2.0 */
/* job_text.c - states, times, sizes, ids and file names of a job in words.
 *
 * A record holds what was asked for (spec), what was given (alloc) and where it stands.  Commands show a
 * mixture: a pending job's CPUs are those it asks for, a running one's those it has; a job that will not
 * start before a given time shows that time as its start; a task of an array shows the array's id.  The
 * rules are here so that squeue and scontrol cannot disagree. */
#include "client/job_text.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "client/table.h"
#include "text/billing.h"
#include "text/date.h"
#include "text/filename.h"
#include "text/idset.h"
#include "text/size.h"
#include "sched/devices.h"

#include <stdlib.h>
#include <string.h>

enum { TASK_TEXT_MAX = 64, NOT_A_TASK = 0xfffffffe };

void show_context_init(struct show_context *c)
{
	c->task_text_max = TASK_TEXT_MAX;
	const char *text = getenv("SLURM_BITSTR_LEN");
	uint32_t max;
	if (text && str_to_u32(text, &max) >= 0)
		c->task_text_max = max;
	text = getenv("SLURM_TIME_FORMAT");
	if (!str_empty(text) && !str_eq(text, "standard"))
		c->time_format = text;
}

/* ---- states and times -------------------------------------------------------------------------- */

bool job_is_pending(const struct job *j)
{
	return j->state == JOB_STATE_PENDING;
}

bool job_is_ended(const struct job *j)
{
	return j->state != JOB_STATE_PENDING && j->state != JOB_STATE_RUNNING &&
	       j->state != JOB_STATE_SUSPENDED;
}

const char *job_state_word(const struct job *j, bool is_short)
{
	if (j->completing)
		return is_short ? enum_short(&job_flag_enum, JOB_FLAG_COMPLETING)
				: enum_text(&job_flag_enum, JOB_FLAG_COMPLETING);
	return is_short ? enum_short(&job_state_enum, j->state)
			: enum_text(&job_state_enum, j->state);
}

usec_t job_start_time(const struct job *j)
{
	if (j->start_time || !job_is_pending(j))
		return j->start_time;
	return j->spec.has_begin_time ? j->spec.begin_time : 0;
}

usec_t job_end_time(const struct job *j)
{
	if (!job_is_pending(j))
		return j->end_time;
	usec_t start = job_start_time(j);
	return start && j->time_limit ? start + j->time_limit : 0;
}

usec_t job_run_time(const struct job *j, usec_t now)
{
	if (job_is_pending(j) || !j->start_time)
		return 0;
	usec_t end = job_is_ended(j) && j->end_time ? j->end_time : now;
	return end > j->start_time ? end - j->start_time : 0;
}

/* ---- counts ------------------------------------------------------------------------------------ */

uint32_t cpus_in(const struct node_alloc *alloc, uint32_t count)
{
	uint32_t cpus = 0;
	for (uint32_t i = 0; i < count; i++)
		cpus += bitset_count(&alloc[i].cores);
	return cpus;
}

static uint32_t at_least(uint32_t value, uint32_t least)
{
	return value > least ? value : least;
}

uint32_t job_node_count(const struct job *j)
{
	return j->n_alloc ? j->n_alloc : at_least(j->spec.request.nodes_min, 1);
}

uint32_t job_cpu_count(const struct job *j)
{
	if (j->n_alloc)
		return cpus_in(j->alloc, j->n_alloc);
	uint32_t asked = at_least(j->ntasks, 1) * at_least(j->cpus_per_task, 1);
	return at_least(asked, at_least(j->spec.request.nodes_min, 1));
}

uint32_t job_min_cpus(const struct job *j)
{
	const struct resource_request *r = &j->spec.request;
	uint32_t cpus = at_least(j->cpus_per_task, 1);
	if (r->has_ntasks_per_node)
		cpus *= at_least(r->ntasks_per_node, 1);
	return r->has_mincpus ? at_least(cpus, r->mincpus) : cpus;
}

/* ---- ids and words ----------------------------------------------------------------------------- */

void text_put_or(const char *s, const char *none, struct buf *out)
{
	buf_puts(out, str_empty(s) ? none : s);
}

void job_print_tasks(const struct job *j, const struct show_context *c, struct buf *out)
{
	if (!j->array_job_id)
		return;
	if (j->has_array_task_id) {
		text_put_u64(out, j->array_task_id);
		return;
	}
	idset_print((const struct idset_range *)j->array_tasks, j->n_array_tasks, c->task_text_max,
		    out);
	if (j->array_limit && !c->bare_tasks) {
		buf_putc(out, '%');
		text_put_u64(out, j->array_limit);
	}
}
_Static_assert(sizeof(struct id_range) == sizeof(struct idset_range), "both are first, last");

void job_print_id(const struct job *j, const struct show_context *c, struct buf *out)
{
	text_put_u64(out, j->array_job_id ? j->array_job_id : j->id);
	if (!j->array_job_id)
		return;
	buf_putc(out, '_');
	if (!j->has_array_task_id)
		buf_putc(out, '[');
	job_print_tasks(j, c, out);
	if (!j->has_array_task_id)
		buf_putc(out, ']');
}

void job_print_reason(const struct job *j, struct buf *out)
{
	buf_puts(out, enum_text(&job_reason_enum, j->reason));
	if (j->reason == JOB_REASON_REQ_NODE_NOT_AVAIL && !str_empty(j->reason_detail))
		buf_printf(out, ", %s", j->reason_detail);
}

const char *job_partition(const struct job *j)
{
	if (job_is_pending(j) && !str_empty(j->spec.partition))
		return j->spec.partition;
	return j->partition ? j->partition : "";
}

void job_print_command(const struct job *j, struct buf *out)
{
	if (str_empty(j->spec.command))
		return;
	buf_puts(out, j->spec.command);
	for (uint32_t i = 0; i < j->spec.n_argv; i++)
		buf_printf(out, " %s", j->spec.argv[i]);
}

/* ---- resources --------------------------------------------------------------------------------- */

void gres_requests_print(const struct gres_request *g, uint32_t count, char sep, struct buf *out)
{
	for (uint32_t i = 0; i < count; i++) {
		buf_printf(out, "%sgres/%s", i ? "," : "", g[i].name ? g[i].name : "");
		if (!str_empty(g[i].type))
			buf_printf(out, ":%s", g[i].type);
		buf_putc(out, sep);
		text_put_u64(out, g[i].count);
	}
}

void job_print_tres_per_task(const struct job *j, struct buf *out)
{
	const struct resource_request *r = &j->spec.request;
	if (r->has_cpus_per_task)
		buf_printf(out, "cpu=%u", r->cpus_per_task);
	if (r->has_cpus_per_task && r->n_gres_per_task)
		buf_putc(out, ',');
	gres_requests_print(r->gres_per_task, r->n_gres_per_task, '=', out);
}

void text_put_memory(const struct show_context *c, uint64_t mib, struct buf *out)
{
	char text[SIZE_TEXT];
	if (c->noconvert && mib) {
		buf_printf(out, "%lluM", (unsigned long long)mib);
		return;
	}
	size_print_mib(mib, text);
	buf_puts(out, text);
}

/* Totals by name, whatever the type. */
struct gres_totals {
	struct {
		const char *name;
		uint64_t count;
	} at[64];
	uint32_t count;
};

static uint64_t *total_of(struct gres_totals *t, const char *name)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (str_eq(t->at[i].name, name))
			return &t->at[i].count;
	if (t->count == ARRAY_COUNT(t->at))
		return &t->at[t->count - 1].count;
	t->at[t->count].name = name;
	return &t->at[t->count++].count;
}

/* One kind of request; the kinds (per node, per task, per job) describe the same devices, so the largest
 * of their totals is what the job asks for. */
static void total_requests(struct gres_totals *all, const struct gres_request *g, uint32_t count,
			   uint64_t times)
{
	struct gres_totals kind = {};
	for (uint32_t i = 0; i < count; i++)
		*total_of(&kind, g[i].name) += g[i].count * times;
	for (uint32_t i = 0; i < kind.count; i++) {
		uint64_t *total = total_of(all, kind.at[i].name);
		if (kind.at[i].count > *total)
			*total = kind.at[i].count;
	}
}

static void total_allocs(struct gres_totals *t, const struct node_alloc *alloc, uint32_t count,
			 uint64_t *mem)
{
	for (uint32_t i = 0; i < count; i++) {
		*mem += alloc[i].mem_mib;
		for (uint32_t k = 0; k < alloc[i].n_gres; k++)
			*total_of(t, alloc[i].gres[k].name) += gres_alloc_count(&alloc[i].gres[k]);
	}
}

static void put_tres(const struct job *j, const struct show_context *c, uint32_t cpus, uint64_t mem,
		     uint32_t nodes, const struct gres_totals *t, struct buf *out)
{
	struct billing_gres gres[ARRAY_COUNT(t->at)];
	struct billing_counts counts = { cpus, mem, nodes, gres, t->count };
	for (uint32_t i = 0; i < t->count; i++)
		gres[i] = (struct billing_gres) { t->at[i].name, t->at[i].count };
	buf_printf(out, "cpu=%u", cpus);
	if (mem) {
		buf_puts(out, ",mem=");
		text_put_memory(c, mem, out);
	}
	buf_printf(out, ",node=%u,billing=%llu", nodes,
		   (unsigned long long)billing(j->billing_weights, j->billing_max, &counts));
	for (uint32_t i = 0; i < t->count; i++)
		if (t->at[i].count)
			buf_printf(out, ",gres/%s=%llu", t->at[i].name,
				   (unsigned long long)t->at[i].count);
}

void job_print_req_tres(const struct job *j, const struct show_context *c, struct buf *out)
{
	const struct resource_request *r = &j->spec.request;
	uint32_t nodes = at_least(r->nodes_min, 1);
	uint32_t cpus = at_least(at_least(j->ntasks, 1) * at_least(j->cpus_per_task, 1), nodes);
	struct gres_totals t = {};
	total_requests(&t, r->gres_per_node, r->n_gres_per_node, nodes);
	total_requests(&t, r->gres_per_socket, r->n_gres_per_socket, nodes);
	total_requests(&t, r->gres_per_job, r->n_gres_per_job, 1);
	total_requests(&t, r->gres_per_task, r->n_gres_per_task, at_least(j->ntasks, 1));
	uint64_t mem = r->has_mem_per_node_mib  ? r->mem_per_node_mib * nodes
		       : r->has_mem_per_cpu_mib ? r->mem_per_cpu_mib * cpus
						: 0;
	if (r->has_mem_per_gpu_mib)
		mem = r->mem_per_gpu_mib * *total_of(&t, "gpu");
	put_tres(j, c, cpus, mem, nodes, &t, out);
}

void job_print_alloc_tres(const struct job *j, const struct show_context *c, struct buf *out)
{
	if (!j->n_alloc)
		return;
	struct gres_totals t = {};
	uint64_t mem = 0;
	total_allocs(&t, j->alloc, j->n_alloc, &mem);
	put_tres(j, c, cpus_in(j->alloc, j->n_alloc), mem, j->n_alloc, &t, out);
}

void step_print_tres(const struct step *s, const struct show_context *c, struct buf *out)
{
	struct gres_totals t = {};
	uint64_t mem = 0;
	total_allocs(&t, s->alloc, s->n_alloc, &mem);
	buf_printf(out, "cpu=%u", cpus_in(s->alloc, s->n_alloc));
	for (uint32_t i = 0; i < t.count; i++)
		if (t.at[i].count)
			buf_printf(out, ",gres/%s=%llu", t.at[i].name,
				   (unsigned long long)t.at[i].count);
	if (mem) {
		buf_puts(out, ",mem=");
		text_put_memory(c, mem, out);
	}
	buf_printf(out, ",node=%u", s->n_alloc);
}

static bool is_same_kind(const struct gres_alloc *a, const struct gres_alloc *b)
{
	return str_eq(a->name, b->name) &&
	       str_eq(str_empty(a->type) ? "" : a->type, str_empty(b->type) ? "" : b->type);
}

/* All devices of the kind of `like`; those of nodes before `like` were counted with an earlier one. */
static uint64_t total_of_kind(const struct node_alloc *alloc, uint32_t count,
			      const struct gres_alloc *like)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < alloc[i].n_gres; k++)
			if (is_same_kind(&alloc[i].gres[k], like))
				total += gres_alloc_count(&alloc[i].gres[k]);
	return total;
}

static bool is_first_of_kind(const struct node_alloc *alloc, const struct gres_alloc *g)
{
	for (uint32_t i = 0;; i++)
		for (uint32_t k = 0; k < alloc[i].n_gres; k++)
			if (is_same_kind(&alloc[i].gres[k], g))
				return &alloc[i].gres[k] == g;
}

/* The devices of one kind on a node, which may be several lines of its gres.conf. */
static void print_index(const struct node_alloc *here, const struct gres_alloc *like, struct buf *out)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct bitset all = {};
	uint32_t bits = 0;
	for (uint32_t k = 0; k < here->n_gres; k++)
		if (is_same_kind(&here->gres[k], like) && here->gres[k].devices.bits > bits)
			bits = here->gres[k].devices.bits;
	bitset_init_in(&all, bits, a);
	for (uint32_t k = 0; k < here->n_gres; k++) {
		const struct bitset *d = &here->gres[k].devices;
		if (!is_same_kind(&here->gres[k], like))
			continue;
		for (uint32_t i = bitset_next(d, 0); i != BITSET_NONE; i = bitset_next(d, i + 1))
			bitset_add(&all, i);
	}
	if (bitset_empty(&all))
		return;
	buf_puts(out, "(IDX:");
	bitset_print(&all, out);
	buf_putc(out, ')');
}

void alloc_print_gres(const struct node_alloc *alloc, uint32_t count, bool with_index,
		      struct buf *out)
{
	bool first = true;
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < alloc[i].n_gres; k++) {
			const struct gres_alloc *g = &alloc[i].gres[k];
			if (!is_first_of_kind(alloc, g))
				continue;
			buf_printf(out, "%s%s", first ? "" : ",", g->name);
			if (!str_empty(g->type))
				buf_printf(out, ":%s", g->type);
			buf_printf(out, ":%llu",
				   (unsigned long long)total_of_kind(alloc, count, g));
			if (with_index)
				print_index(&alloc[i], g, out);
			first = false;
		}
	}
}

/* ---- files and times --------------------------------------------------------------------------- */

static const char *pattern_of(const struct job *j, enum job_file which)
{
	const char *pattern = which == JOB_FILE_IN    ? j->spec.std_in
			      : which == JOB_FILE_OUT ? j->spec.std_out
						      : j->spec.std_err;
	if (!str_empty(pattern) || which == JOB_FILE_ERR)
		return pattern;
	if (which == JOB_FILE_IN)
		return "/dev/null";
	return j->array_job_id ? "slurm-%A_%a.out" : "slurm-%j.out";
}

void job_print_file(const struct job *j, enum job_file which, bool expand, struct buf *out)
{
	const char *pattern = pattern_of(j, which);
	if (!j->spec.batch || str_empty(pattern))
		return;
	AUTO_ARENA struct arena *a = arena_new();
	const char *path = pattern;
	if (pattern[0] != '/')
		path = arena_printf(a, "%s/%s", j->spec.work_dir ? j->spec.work_dir : "", pattern);
	struct filename_values v = {
		.job_id = j->id,
		.array_job_id = j->array_job_id ? j->array_job_id : j->id,
		.array_task_id = j->has_array_task_id ? j->array_task_id : NOT_A_TASK,
		.step_name = "batch",
		.node_name = j->batch_host ? j->batch_host : "",
		.user = j->user ? j->user : "",
		.job_name = j->spec.name ? j->spec.name : "",
		.restart = j->attempt > 1 ? j->attempt - 1 : 0,
	};
	buf_puts(out, expand ? filename_expand(path, &v, a) : path);
}

void text_put_time(const struct show_context *c, usec_t when, const char *none, struct buf *out)
{
	char text[DATE_TEXT];
	if (!when) {
		buf_puts(out, none);
		return;
	}
	if (c->time_format)
		date_print_as(when, c->now, c->time_format, text);
	else
		date_print(when, text);
	buf_puts(out, text);
}
