/* SPDX-License-Identifier: Apache-2.0 */
/* show_job.c - scontrol show job.
 *
 * The keys, their order and the line breaks are those that scripts have come to parse; keys of features
 * that do not exist here show what Slurm shows where they are not used. */
#include "base/buf.h"
#include "base/str.h"
#include "client/job_text.h"
#include "client/show.h"
#include "client/table.h"
#include "sched/plan.h"
#include "text/duration.h"
#include "text/hostlist.h"

#include <stdlib.h>

void show_break(const struct show_context *c, struct buf *out)
{
	buf_puts(out, c->one_line ? " " : "\n   ");
}

void show_end(const struct show_context *c, struct buf *out)
{
	buf_puts(out, c->one_line ? "\n" : "\n\n");
}

static void put_span(usec_t span, const char *none, struct buf *out)
{
	char text[DURATION_TEXT];
	duration_print_long(span, text);
	buf_puts(out, span || !none ? text : none);
}

static void put_key(const char *key, const char *value, struct buf *out)
{
	buf_puts(out, key);
	text_put_or(value, "(null)", out);
}

static void put_time(const struct show_context *c, const char *key, usec_t when, const char *none,
		     struct buf *out)
{
	buf_puts(out, key);
	text_put_time(c, when, none, out);
}

static void show_identity(const struct job *j, const struct show_context *c, struct buf *out)
{
	buf_printf(out, "JobId=%u ", j->id);
	if (j->array_job_id) {
		buf_printf(out, "ArrayJobId=%u ArrayTaskId=", j->array_job_id);
		job_print_tasks(j, c, out);
		if (j->array_limit)
			buf_printf(out, " ArrayTaskThrottle=%u", j->array_limit);
		buf_putc(out, ' ');
	}
	put_key("JobName=", j->spec.name, out);
	show_break(c, out);
	buf_puts(out, "UserId=");
	text_put_or(j->user, "nobody", out);
	buf_printf(out, "(%u) GroupId=", j->uid);
	text_put_or(j->group, "nogroup", out);
	buf_printf(out, "(%u) MCS_label=N/A", j->gid);
	show_break(c, out);
	buf_printf(out, "Priority=%u Nice=%lld", j->priority, (long long)j->spec.nice);
	put_key(" Account=", j->spec.account, out);
	put_key(" QOS=", j->spec.qos, out);
	if (!str_empty(j->spec.wckey))
		put_key(" WCKey=", j->spec.wckey, out);
}

static void show_state(const struct job *j, const struct show_context *c, struct buf *out)
{
	show_break(c, out);
	buf_printf(out, "JobState=%s Reason=", job_state_word(j, false));
	size_t from = out->len;
	job_print_reason(j, out);
	for (size_t i = from; i < out->len; i++) /* a value has no blanks: scripts split at them */
		if (out->data[i] == ' ')
			out->data[i] = '_';
	put_key(" Dependency=", j->spec.dependency, out);
	show_break(c, out);
	buf_printf(out, "Requeue=%d Restarts=%u BatchFlag=%d Reboot=0 ExitCode=%u:%u", j->requeue,
		   j->attempt > 1 ? j->attempt - 1 : 0, j->spec.batch, j->exit_code,
		   j->exit_signal);
	if (!c->details)
		return;
	show_break(c, out);
	buf_printf(out, "DerivedExitCode=%u:0", j->derived_exit);
}

static void show_times(const struct job *j, const struct show_context *c, struct buf *out)
{
	usec_t begin = j->spec.has_begin_time ? j->spec.begin_time : 0;
	show_break(c, out);
	buf_puts(out, "RunTime=");
	put_span(job_run_time(j, c->now), NULL, out);
	buf_puts(out, " TimeLimit=");
	put_span(j->time_limit, "UNLIMITED", out);
	buf_puts(out, " TimeMin=");
	put_span(j->spec.has_time_min ? j->spec.time_min : 0, "N/A", out);
	show_break(c, out);
	put_time(c, "SubmitTime=", j->submit_time, "Unknown", out);
	put_time(c, " EligibleTime=", j->eligible_time ? j->eligible_time : begin, "Unknown", out);
	show_break(c, out);
	put_time(c, "AccrueTime=", j->eligible_time, "Unknown", out);
	show_break(c, out);
	put_time(c, "StartTime=", job_start_time(j), "Unknown", out);
	put_time(c, " EndTime=", job_end_time(j), "Unknown", out);
	put_time(c, " Deadline=", j->spec.has_deadline ? j->spec.deadline : 0, "N/A", out);
	show_break(c, out);
	put_time(c, "SuspendTime=None SecsPreSuspend=0 LastSchedEval=", j->last_sched_eval,
		 "Unknown", out);
	buf_puts(out, " Scheduler=Main");
}

static void show_place(const struct job *j, const struct show_context *c, struct buf *out)
{
	show_break(c, out);
	buf_puts(out, "Partition=");
	buf_puts(out, job_partition(j));
	put_key(" AllocNode:Sid=", j->spec.submit_host, out);
	buf_printf(out, ":%u", j->spec.submit_sid);
	show_break(c, out);
	put_key("ReqNodeList=", j->spec.request.node_list, out);
	put_key(" ExcNodeList=", j->spec.request.exclude, out);
	show_break(c, out);
	buf_puts(out, "NodeList=");
	text_put_or(j->node_list, "", out);
	if (!str_empty(j->batch_host)) {
		show_break(c, out);
		put_key("BatchHost=", j->batch_host, out);
	}
}

static void put_wish(bool has, uint32_t v, struct buf *out)
{
	if (has)
		text_put_u64(out, v);
	else
		buf_putc(out, '*');
}

static void show_size(const struct job *j, const struct show_context *c, struct buf *out)
{
	const struct resource_request *r = &j->spec.request;
	show_break(c, out);
	buf_printf(out, "NumNodes=%u", job_node_count(j));
	if (job_is_pending(j) && r->nodes_max)
		buf_printf(out, "-%u", r->nodes_max);
	buf_printf(out, " NumCPUs=%u NumTasks=%u CPUs/Task=%u ReqB:S:C:T=0:", job_cpu_count(j),
		   j->ntasks ? j->ntasks : 1, j->cpus_per_task ? j->cpus_per_task : 1);
	buf_printf(out, "%u:", r->has_sockets_per_node ? r->sockets_per_node : 0);
	put_wish(r->has_cores_per_socket, r->cores_per_socket, out);
	buf_putc(out, ':');
	put_wish(r->has_threads_per_core, r->threads_per_core, out);
	show_break(c, out);
	buf_puts(out, "ReqTRES=");
	job_print_req_tres(j, c, out);
	show_break(c, out);
	buf_puts(out, "AllocTRES=");
	size_t from = out->len;
	job_print_alloc_tres(j, c, out);
	if (out->len == from)
		buf_puts(out, "(null)");
	show_break(c, out);
	buf_puts(out, "Socks/Node=");
	put_wish(r->has_sockets_per_node, r->sockets_per_node, out);
	buf_printf(out, " NtasksPerN:B:S:C=%u:0:*:* ",
		   r->has_ntasks_per_node ? r->ntasks_per_node : 0);
	buf_puts(out, r->has_thread_spec ? "ThreadSpec=" : "CoreSpec=");
	put_wish(r->has_core_spec || r->has_thread_spec,
		 r->has_thread_spec ? r->thread_spec : r->core_spec, out);
}

/* Do two nodes of the allocation have the same share?  Then they are on one line. */
static bool is_equal_share(const struct node_alloc *a, const struct node_alloc *b)
{
	if (a->mem_mib != b->mem_mib || a->n_gres != b->n_gres ||
	    !bitset_equal(&a->cores, &b->cores))
		return false;
	for (uint32_t i = 0; i < a->n_gres; i++)
		if (!record_equal(&gres_alloc_record, &a->gres[i], &b->gres[i]))
			return false;
	return true;
}

static void show_share(const struct node_alloc *first, uint32_t count,
		       const struct node_names *names, struct buf *out)
{
	AUTO_FREE char **list = mem_grow(NULL, count, sizeof(*list));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t index = first[i].node;
		list[i] = names && index < names->count && names->at[index] ? names->at[index]
									    : NULL;
		if (!list[i])
			return;
	}
	buf_puts(out, "  Nodes=");
	hostlist_compress(list, count, out);
	buf_puts(out, " CPU_IDs=");
	bitset_print(&first->cores, out);
	buf_printf(out, " Mem=%llu GRES=", (unsigned long long)first->mem_mib);
	alloc_print_gres(first, 1, true, out);
}

static void show_details(const struct job *j, const struct show_context *c,
			 const struct node_names *names, struct buf *out)
{
	if (!c->details || !j->n_alloc)
		return;
	show_break(c, out);
	buf_puts(out, "JOB_GRES=");
	size_t from = out->len;
	alloc_print_gres(j->alloc, j->n_alloc, false, out);
	if (out->len == from)
		buf_puts(out, "(null)");
	for (uint32_t i = 0; i < j->n_alloc;) {
		uint32_t n = 1;
		while (i + n < j->n_alloc && is_equal_share(&j->alloc[i], &j->alloc[i + n]))
			n++;
		show_break(c, out);
		show_share(&j->alloc[i], n, names, out);
		i += n;
	}
}

static void show_wishes(const struct job *j, const struct show_context *c, struct buf *out)
{
	const struct resource_request *r = &j->spec.request;
	show_break(c, out);
	buf_printf(out, "MinCPUsNode=%u ", job_min_cpus(j));
	buf_puts(out, r->has_mem_per_cpu_mib ? "MinMemoryCPU=" : "MinMemoryNode=");
	text_put_memory(c, r->has_mem_per_cpu_mib ? r->mem_per_cpu_mib : r->mem_per_node_mib, out);
	buf_puts(out, " MinTmpDiskNode=");
	text_put_memory(c, r->has_tmp_mib ? r->tmp_mib : 0, out);
	show_break(c, out);
	put_key("Features=", r->constraint, out);
	buf_puts(out, " DelayBoot=00:00:00");
	if (!str_empty(r->prefer)) {
		show_break(c, out);
		put_key("Prefer=", r->prefer, out);
	}
	if (!str_empty(j->spec.reservation)) {
		show_break(c, out);
		put_key("Reservation=", j->spec.reservation, out);
	}
	show_break(c, out);
	buf_printf(out, "OverSubscribe=%s Exclusive=%s Contiguous=%d",
		   r->oversubscribe ? "YES" : "NO", enum_text(&exclusive_kind_enum, r->exclusive),
		   r->contiguous);
	put_key(" Licenses=", r->licenses, out);
	put_key(" LicensesAlloc=", j->licenses_alloc, out);
	buf_puts(out, " Network=(null)");
}

static void show_text(const struct show_context *c, const char *key, const char *value,
		      struct buf *out)
{
	if (str_empty(value))
		return;
	show_break(c, out);
	put_key(key, value, out);
}

static void show_command(const struct job *j, const struct show_context *c, struct buf *out)
{
	static const char *const keys[] = {
		[JOB_FILE_IN] = "StdIn=", [JOB_FILE_OUT] = "StdOut=", [JOB_FILE_ERR] = "StdErr="
	};
	static const enum job_file order[] = { JOB_FILE_ERR, JOB_FILE_IN, JOB_FILE_OUT };
	show_break(c, out);
	buf_puts(out, "Command=");
	size_t from = out->len;
	job_print_command(j, out);
	if (out->len == from)
		buf_puts(out, "(null)");
	show_text(c, "SubmitLine=", j->spec.submit_line, out);
	show_break(c, out);
	put_key("WorkDir=", j->spec.work_dir, out);
	show_text(c, "Comment=", j->spec.comment, out);
	for (size_t i = 0; i < ARRAY_COUNT(order) && j->spec.batch; i++) {
		show_break(c, out);
		buf_puts(out, keys[order[i]]);
		job_print_file(j, order[i], true, out);
	}
}

static void show_placement(const struct job *j, const struct show_context *c, struct buf *out)
{
	const struct resource_request *r = &j->spec.request;
	if (r->has_segment) {
		show_break(c, out);
		buf_printf(out, "SegmentSize=%u", r->segment);
	}
	if (r->has_switches) {
		usec_t wait = r->has_switches_wait ? r->switches_wait : SWITCHES_WAIT;
		char text[DURATION_TEXT];
		duration_print_long(wait, text);
		show_break(c, out);
		buf_printf(out, "Switches=%u@%s", r->switches, wait == DURATION_FOREVER ? "UNLIMITED" : text);
	}
}

static void show_gres(const struct job *j, const struct show_context *c, struct buf *out)
{
	const struct resource_request *r = &j->spec.request;
	const struct {
		const char *key;
		const struct gres_request *list;
		uint32_t count;
	} kinds[] = {
		{ "TresPerJob=", r->gres_per_job, r->n_gres_per_job },
		{ "TresPerNode=", r->gres_per_node, r->n_gres_per_node },
		{ "TresPerSocket=", r->gres_per_socket, r->n_gres_per_socket },
	};
	if (r->has_cpus_per_gpu) {
		show_break(c, out);
		buf_printf(out, "CpusPerTres=gres/gpu:%u", r->cpus_per_gpu);
	}
	if (r->has_mem_per_gpu_mib) {
		show_break(c, out);
		buf_printf(out, "MemPerTres=gres/gpu:%llu", (unsigned long long)r->mem_per_gpu_mib);
	}
	if (!str_empty(j->spec.gpu_bind)) {
		show_break(c, out);
		buf_printf(out, "TresBind=gres/gpu:%s", j->spec.gpu_bind);
	}
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
		if (!kinds[i].count)
			continue;
		show_break(c, out);
		buf_puts(out, kinds[i].key);
		gres_requests_print(kinds[i].list, kinds[i].count, ':', out);
	}
	if (r->has_cpus_per_task || r->n_gres_per_task) {
		show_break(c, out);
		buf_puts(out, "TresPerTask=");
		job_print_tres_per_task(j, out);
	}
	if (!str_empty(j->spec.mail_type)) {
		show_break(c, out);
		put_key("MailUser=", str_empty(j->spec.mail_user) ? j->user : j->spec.mail_user,
			out);
		put_key(" MailType=", j->spec.mail_type, out);
	}
	if (r->has_ntasks_per_gpu) {
		show_break(c, out);
		buf_printf(out, "NtasksPerTRES=%u", r->ntasks_per_gpu);
	}
}

void show_job(const struct job *j, const struct show_context *c, const struct node_names *names,
	      struct buf *out)
{
	show_identity(j, c, out);
	show_state(j, c, out);
	show_times(j, c, out);
	show_place(j, c, out);
	show_size(j, c, out);
	show_details(j, c, names, out);
	show_wishes(j, c, out);
	show_command(j, c, out);
	show_placement(j, c, out);
	show_gres(j, c, out);
	show_end(c, out);
}
