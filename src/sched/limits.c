/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/limits.h"

#include "base/buf.h"
#include "base/str.h"
#include "base/time.h"
#include "sched/demand.h"
#include "sched/view.h"

#include <inttypes.h>
#include <string.h>

typedef unsigned long long ull;

struct limits_check {
	const struct sched_view *v;
	const struct partition *p;
	const struct job *j;
	struct buf *why;
};

struct memory_limits limits_memory(const struct sched_view *v, const struct partition *p)
{
	const struct partition_conf *c = &p->conf;
	if (c->has_max_mem_per_cpu_mib || c->has_max_mem_per_node_mib)
		return (struct memory_limits){ c->has_max_mem_per_cpu_mib ? c->max_mem_per_cpu_mib : 0,
					       c->has_max_mem_per_node_mib ? c->max_mem_per_node_mib : 0 };
	return v->max_memory;
}

bool limits_listed(const char *list, const char *name)
{
	if (str_ieq(list, "ALL"))
		return true;
	for (const char *p = list; name && p && *p;) {
		size_t len = strcspn(p, ",");
		if (strlen(name) == len && strncasecmp(p, name, len) == 0)
			return true;
		p += len + (p[len] == ',');
	}
	return false;
}

#define WHY(c, ...)                                                                                \
	do {                                                                                       \
		if ((c)->why)                                                                      \
			buf_printf((c)->why, __VA_ARGS__);                                         \
	} while (0)

static enum job_reason check_time(const struct limits_check *c)
{
	usec_t most = c->p->conf.max_time;
	if (!most || (c->j->time_limit && c->j->time_limit <= most))
		return JOB_REASON_NONE;
	WHY(c, "partition %s allows %" PRId64 " minutes", c->p->conf.name, most / USEC_PER_MIN);
	return JOB_REASON_PART_TIME_LIMIT;
}

static enum job_reason check_nodes(const struct limits_check *c, const struct demand *d)
{
	const struct partition_conf *p = &c->p->conf;
	uint32_t most = bitset_count(&c->p->nodes);
	if (p->max_nodes && p->max_nodes < most)
		most = p->max_nodes;
	if (d->nodes_min > most)
		WHY(c, "partition %s allows %u nodes, %u are asked for", p->name, most, d->nodes_min);
	else if (d->nodes_max < p->min_nodes)
		WHY(c, "partition %s is for jobs of at least %u nodes, at most %u are asked for", p->name,
		    p->min_nodes, d->nodes_max);
	else
		return JOB_REASON_NONE;
	return JOB_REASON_PART_NODE_LIMIT;
}

static enum job_reason check_memory(const struct limits_check *c, const struct demand *d)
{
	struct memory_limits most = limits_memory(c->v, c->p);
	uint32_t tasks = d->tasks_follow_nodes && d->tasks_per_node ? d->tasks_per_node : 1;
	uint64_t cpus = (uint64_t)tasks * d->cpus_per_task;
	cpus = cpus < d->cpus_min ? d->cpus_min : cpus;
	uint64_t node = d->mem_per_node + d->mem_per_cpu * cpus;
	if (most.per_cpu && d->mem_per_cpu > most.per_cpu)
		WHY(c, "partition %s allows %llu MiB for each CPU, %llu are asked for", c->p->conf.name,
		    (ull)most.per_cpu, (ull)d->mem_per_cpu);
	else if (most.per_cpu && d->mem_per_node > most.per_cpu * cpus)
		WHY(c, "partition %s allows %llu MiB for each CPU, %llu are asked for with %llu CPUs", c->p->conf.name,
		    (ull)most.per_cpu, (ull)d->mem_per_node, (ull)cpus);
	else if (most.per_node && node > most.per_node)
		WHY(c, "partition %s allows %llu MiB on each node, %llu are asked for", c->p->conf.name,
		    (ull)most.per_node, (ull)node);
	else
		return JOB_REASON_NONE;
	return JOB_REASON_MAX_MEM_PER_LIMIT;
}

static enum job_reason check_names(const struct limits_check *c)
{
	const struct partition_conf *p = &c->p->conf;
	const char *account = c->j->spec.account, *qos = c->j->spec.qos;
	if ((!str_empty(p->allow_accounts) && !limits_listed(p->allow_accounts, account)) ||
	    (!str_empty(p->deny_accounts) && limits_listed(p->deny_accounts, account))) {
		WHY(c, "partition %s does not take jobs of %s%s", p->name, str_empty(account) ? "no account" : "account ",
		    str_empty(account) ? "" : account);
		return JOB_REASON_ACCOUNT_NOT_ALLOWED;
	}
	if ((!str_empty(p->allow_qos) && !limits_listed(p->allow_qos, qos)) ||
	    (!str_empty(p->deny_qos) && limits_listed(p->deny_qos, qos))) {
		WHY(c, "partition %s does not take jobs of %s%s", p->name, str_empty(qos) ? "no QOS" : "QOS ",
		    str_empty(qos) ? "" : qos);
		return JOB_REASON_QOS_NOT_ALLOWED;
	}
	return JOB_REASON_NONE;
}

enum job_reason limits_refuse(const struct sched_view *v, const struct partition *p, const struct job *j,
			      struct buf *ret_why)
{
	struct limits_check c = { v, p, j, ret_why };
	struct demand d;
	enum job_reason r = check_time(&c);
	if (r == JOB_REASON_NONE)
		r = check_names(&c);
	if (r != JOB_REASON_NONE || demand_from(&j->spec.request, &d, NULL) < 0)
		return r;
	r = check_nodes(&c, &d);
	return r == JOB_REASON_NONE ? check_memory(&c, &d) : r;
}

static void bind_nodes(const struct partition_conf *p, struct demand *d)
{
	if (d->nodes_min < p->min_nodes) {
		d->nodes_min = p->min_nodes;
		if (d->tasks_follow_nodes)
			d->ntasks = d->nodes_min * (d->tasks_per_node ? d->tasks_per_node : 1);
	}
	if (p->max_nodes && d->nodes_max > p->max_nodes)
		d->nodes_max = p->max_nodes;
}

void limits_bind(const struct sched_view *v, const struct partition *p, struct demand *d)
{
	bind_nodes(&p->conf, d);
	if (p->conf.exclusive == EXCLUSIVE_KIND_NODE || str_ieq(p->conf.oversubscribe, "EXCLUSIVE"))
		d->exclusive = true;
	if (p->conf.exclusive == EXCLUSIVE_KIND_USER)
		d->exclusive_user = true;
	d->mem_max = limits_memory(v, p).per_node;
	d->ignores_memory = v->select.ignores_memory;
	d->pack_nodes = v->select.pack_nodes;
	d->least_loaded = v->select.least_loaded || p->conf.lln;
	if (v->select.one_task_per_core && !d->ntasks_per_core)
		d->ntasks_per_core = 1;
}
