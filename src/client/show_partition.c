/* SPDX-License-Identifier: Apache-2.0 */
/* show_partition.c - scontrol show partition. */
#include "base/buf.h"
#include "base/str.h"
#include "client/job_text.h"
#include "client/show.h"
#include "client/table.h"
#include "schema/node.h"
#include "text/duration.h"

static const char *yes_no(bool b)
{
	return b ? "YES" : "NO";
}

static void put_count(const char *key, uint32_t v, struct buf *out)
{
	buf_puts(out, key);
	if (v)
		text_put_u64(out, v);
	else
		buf_puts(out, "UNLIMITED");
}

static void put_limit(const char *key, usec_t v, const char *none, struct buf *out)
{
	char text[DURATION_TEXT];
	duration_print_long(v, text);
	buf_printf(out, "%s%s", key, v ? text : none);
}

/* One of two lists: who may, or who may not. */
static void put_access(const char *what, const char *allow, const char *deny, struct buf *out)
{
	if (!str_empty(deny))
		buf_printf(out, " Deny%s=%s", what, deny);
	else
		buf_printf(out, " Allow%s=%s", what, str_empty(allow) ? "ALL" : allow);
}

static void show_access(const struct partition_conf *p, const struct show_context *c,
			struct buf *out)
{
	buf_puts(out, "AllowGroups=");
	text_put_or(p->allow_groups, "ALL", out);
	put_access("Accounts", p->allow_accounts, p->deny_accounts, out);
	put_access("Qos", p->allow_qos, p->deny_qos, out);
	show_break(c, out);
	buf_puts(out, "AllocNodes=");
	text_put_or(p->alloc_nodes, "ALL", out);
	if (!str_empty(p->alternate))
		buf_printf(out, " Alternate=%s", p->alternate);
	buf_printf(out, " Default=%s QoS=", yes_no(p->is_default));
	text_put_or(p->qos, "N/A", out);
}

static void show_limits(const struct partition_conf *p, const struct show_context *c,
			struct buf *out)
{
	put_limit("DefaultTime=", p->default_time, "NONE", out);
	buf_printf(out, " DisableRootJobs=%s Exclusive=%s GraceTime=%u Hidden=%s",
		   yes_no(p->disable_root_jobs), enum_text(&exclusive_kind_enum, p->exclusive),
		   p->grace_time, yes_no(p->hidden));
	show_break(c, out);
	put_count("MaxNodes=", p->max_nodes, out);
	put_limit(" MaxTime=", p->max_time, "UNLIMITED", out);
	buf_printf(out, " MinNodes=%u LLN=%s", p->min_nodes, yes_no(p->lln));
	put_count(" MaxCPUsPerNode=", p->max_cpus_per_node, out);
	put_count(" MaxCPUsPerSocket=", p->max_cpus_per_socket, out);
	show_break(c, out);
	buf_puts(out, "Nodes=");
	text_put_or(p->nodes, "(null)", out);
	show_break(c, out);
	buf_printf(out,
		   "PriorityJobFactor=%u PriorityTier=%u RootOnly=%s ReqResv=%s OverSubscribe=",
		   p->priority_job_factor, p->priority_tier, yes_no(p->root_only),
		   yes_no(p->req_resv));
	text_put_or(p->oversubscribe, "NO", out);
	show_break(c, out);
	buf_puts(out, "OverTimeLimit=");
	if (p->over_time_limit)
		text_put_u64(out, p->over_time_limit);
	else
		buf_puts(out, "NONE");
	buf_puts(out, " PreemptMode=");
	text_put_or(p->preempt_mode, "OFF", out);
}

/* Memory is limited for each node or for each CPU. */
static void put_memory(const char *what, bool per_cpu, uint64_t cpu, bool per_node, uint64_t node,
		       struct buf *out)
{
	buf_printf(out, "%sMemPer%s=", what, per_cpu ? "CPU" : "Node");
	if (per_cpu)
		text_put_u64(out, cpu);
	else if (per_node && node)
		text_put_u64(out, node);
	else
		buf_puts(out, "UNLIMITED");
}

void show_partition(const struct partition *part, const struct show_context *c, struct buf *out)
{
	const struct partition_conf *p = &part->conf;
	buf_printf(out, "PartitionName=%s", p->name);
	show_break(c, out);
	show_access(p, c, out);
	show_break(c, out);
	show_limits(p, c, out);
	show_break(c, out);
	buf_printf(out, "State=%s TotalCPUs=%u TotalNodes=%u SelectTypeParameters=",
		   enum_text(&partition_state_enum, p->state), part->total_cpus, part->total_nodes);
	text_put_or(p->select_type_parameters, "NONE", out);
	show_break(c, out);
	buf_puts(out, "JobDefaults=");
	text_put_or(p->job_defaults, "(null)", out);
	show_break(c, out);
	put_memory("Def", p->has_def_mem_per_cpu_mib, p->def_mem_per_cpu_mib,
		   p->has_def_mem_per_node_mib, p->def_mem_per_node_mib, out);
	buf_putc(out, ' ');
	put_memory("Max", p->has_max_mem_per_cpu_mib, p->max_mem_per_cpu_mib,
		   p->has_max_mem_per_node_mib, p->max_mem_per_node_mib, out);
	show_break(c, out);
	buf_puts(out, "TRES=");
	text_put_or(part->tres, "(null)", out);
	if (!str_empty(p->tres_billing_weights)) {
		show_break(c, out);
		buf_printf(out, "TRESBillingWeights=%s", p->tres_billing_weights);
	}
	show_end(c, out);
}
