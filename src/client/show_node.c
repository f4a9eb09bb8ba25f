/* SPDX-License-Identifier: Apache-2.0 */
/* show_node.c - scontrol show node.  Blanks at the ends of some lines are Slurm's; scripts that compare
 * whole lines know them. */
#include "base/buf.h"
#include "base/str.h"
#include "client/job_text.h"
#include "client/node_state.h"
#include "client/node_text.h"
#include "client/show.h"
#include "schema/node.h"
#include "sched/cores.h"

static void show_hardware(const struct node *n, const struct show_context *c, struct buf *out)
{
	buf_printf(out, "NodeName=%s ", n->conf.name);
	if (!str_empty(n->facts.arch))
		buf_printf(out, "Arch=%s ", n->facts.arch);
	buf_printf(out, "CoresPerSocket=%u ", n->conf.cores_per_socket);
	show_break(c, out);
	buf_printf(out, "CPUAlloc=%u CPUEfctv=%u CPUTot=%u CPULoad=", node_cpus_used(n),
		   node_job_cpus(n), node_cpus(n));
	if (n->last_response)
		buf_printf(out, "%.2f", n->cpu_load);
	else
		buf_puts(out, "N/A");
	show_break(c, out);
	buf_puts(out, "AvailableFeatures=");
	text_put_or(n->conf.features, "(null)", out);
	show_break(c, out);
	buf_puts(out, "ActiveFeatures=");
	text_put_or(node_active_features(n), "(null)", out);
	show_break(c, out);
	buf_puts(out, "Gres=");
	if (n->n_gres || !str_empty(n->conf.gres))
		node_print_gres(n, out);
	else
		buf_puts(out, "(null)");
	if (!c->details)
		return;
	show_break(c, out);
	buf_puts(out, "GresDrain=N/A");
	show_break(c, out);
	buf_puts(out, "GresUsed=");
	if (n->n_gres)
		node_print_gres_used(n, out);
	else
		buf_puts(out, "(null)");
}

enum { SLURMD_PORT = 6818 };

/* What the system keeps, when it keeps something. */
static void show_set_aside(const struct node *n, const struct show_context *c, struct buf *out)
{
	const struct node_conf *conf = &n->conf;
	if (!conf->core_spec_count && str_empty(conf->cpu_spec_list) && !conf->mem_spec_limit_mib)
		return;
	show_break(c, out);
	const char *between = "";
	if (conf->core_spec_count) {
		buf_printf(out, "CoreSpecCount=%u", conf->core_spec_count);
		between = " ";
	}
	if (conf->core_spec_count || !str_empty(conf->cpu_spec_list)) {
		struct bitset cpus;
		bitset_init(&cpus, conf->cpus);
		node_spec_cpus(n, &cpus);
		buf_printf(out, "%sCPUSpecList=", between);
		bitset_print(&cpus, out);
		bitset_done(&cpus);
		between = " ";
	}
	if (conf->mem_spec_limit_mib)
		buf_printf(out, "%sMemSpecLimit=%llu", between,
			   (unsigned long long)conf->mem_spec_limit_mib);
}

static void show_machine(const struct node *n, const struct show_context *c, struct buf *out)
{
	show_break(c, out);
	buf_printf(out, "NodeAddr=%s NodeHostName=%s ", node_address(n), node_hostname(n));
	if (n->conf.port && n->conf.port != SLURMD_PORT)
		buf_printf(out, "Port=%u ", n->conf.port);
	buf_puts(out, "Version=");
	text_put_or(n->facts.version, "(null)", out);
	if (!str_empty(n->facts.os)) {
		show_break(c, out);
		buf_printf(out, "OS=%s ", n->facts.os);
	}
	show_break(c, out);
	buf_printf(out, "RealMemory=%llu AllocMem=%llu FreeMem=",
		   (unsigned long long)n->conf.real_memory_mib,
		   (unsigned long long)n->used_mem_mib);
	if (n->free_mem_mib) /* nothing is known before the first heartbeat */
		buf_printf(out, "%llu", (unsigned long long)n->free_mem_mib);
	else
		buf_puts(out, "N/A");
	buf_printf(out, " Sockets=%u Boards=%u", n->conf.sockets, n->conf.boards);
	show_set_aside(n, c, out);
}

static void show_state(const struct node *n, const struct show_context *c, struct buf *out)
{
	show_break(c, out);
	buf_puts(out, "State=");
	node_status_print(node_status_of(n), out);
	buf_printf(out, " ThreadsPerCore=%u TmpDisk=%llu Weight=%u Owner=", n->conf.threads_per_core,
		   (unsigned long long)n->conf.tmp_disk_mib, n->conf.weight);
	if (n->owner_jobs)
		buf_printf(out, "%s(%u)", n->owner ? n->owner : "", n->owner_uid);
	else
		buf_puts(out, "N/A");
	buf_puts(out, " MCS_label=N/A");
	if (!str_empty(n->partitions)) {
		show_break(c, out);
		buf_printf(out, "Partitions=%s ", n->partitions);
	}
	show_break(c, out);
	buf_puts(out, "BootTime=");
	text_put_time(c, n->facts.boot_time, "None", out);
	buf_puts(out, " SlurmdStartTime=");
	text_put_time(c, n->facts.slurmd_start_time, "None", out);
	show_break(c, out);
	buf_puts(out, "LastBusyTime=");
	text_put_time(c, n->last_busy, "Unknown", out);
	buf_puts(out, " ResumeAfterTime=None SuspendTime=INFINITE");
}

static void show_notes(const struct node *n, const struct show_context *c, struct buf *out)
{
	if (!str_empty(n->reason)) {
		show_break(c, out);
		buf_printf(out, "Reason=%s [", n->reason);
		node_print_user(n, out);
		buf_putc(out, '@');
		text_put_time(c, n->reason_time, "Unknown", out);
		buf_putc(out, ']');
	}
	if (!str_empty(n->comment)) {
		show_break(c, out);
		buf_printf(out, "Comment=%s", n->comment);
	}
	if (!str_empty(n->extra)) {
		show_break(c, out);
		buf_printf(out, "Extra=%s", n->extra);
	}
}

void show_node(const struct node *n, const struct show_context *c, struct buf *out)
{
	show_hardware(n, c, out);
	show_machine(n, c, out);
	show_state(n, c, out);
	show_break(c, out);
	buf_puts(out, "CfgTRES=");
	node_print_cfg_tres(n, c, out);
	show_break(c, out);
	buf_puts(out, "AllocTRES=");
	node_print_alloc_tres(n, c, out);
	show_break(c, out);
	buf_puts(out, "CurrentWatts=0 AveWatts=0");
	show_notes(n, c, out);
	show_end(c, out);
}
