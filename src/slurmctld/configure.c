/* SPDX-License-Identifier: Apache-2.0 */
/* The files become a command of the core.  An error leaves the configuration in force as it is. */
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "host/loop.h"
#include "sched/limits.h"
#include "slurmctld/ctld.h"
#include "text/licenses.h"
#include "text/selectparams.h"

#include <errno.h>
#include <stdio.h>

static void set_settings(struct settings *to, const struct slurm_conf *from)
{
	*to = (struct settings){ .max_job_count = from->max_job_count,
				 .max_array_size = from->max_array_size,
				 .first_job_id = from->first_job_id,
				 .max_job_id = from->max_job_id,
				 .max_batch_requeue = from->max_batch_requeue,
				 .kill_wait_sec = from->kill_wait,
				 .return_to_service = from->return_to_service,
				 .min_job_age = (usec_t)from->min_job_age * USEC_PER_SEC,
				 .job_requeue = from->job_requeue != 0,
				 .has_def_mem_per_cpu = from->has_def_mem_per_cpu_mib,
				 .def_mem_per_cpu = from->def_mem_per_cpu_mib,
				 .has_def_mem_per_node = from->has_def_mem_per_node_mib,
				 .def_mem_per_node = from->def_mem_per_node_mib,
				 .has_def_mem_per_gpu = from->has_def_mem_per_gpu_mib,
				 .def_mem_per_gpu = from->def_mem_per_gpu_mib,
				 .has_def_cpu_per_gpu = from->has_def_cpu_per_gpu,
				 .def_cpu_per_gpu = from->def_cpu_per_gpu,
				 .enforce_part_limits = str_ieq(from->enforce_part_limits, "ALL") ? ENFORCE_ALL :
							str_ieq(from->enforce_part_limits, "ANY") ? ENFORCE_ANY :
												    ENFORCE_NO,
				 .disable_root_jobs = from->disable_root_jobs,
				 .allow_spec = from->allow_spec_resources_usage,
				 .bills_largest = from->priority_flags && limits_listed(from->priority_flags, "MAX_TRES"),
				 .max_memory = { from->has_max_mem_per_cpu_mib ? from->max_mem_per_cpu_mib : 0,
						 from->has_max_mem_per_node_mib ? from->max_mem_per_node_mib : 0 } };
	if (select_rules_parse(from->select_type_parameters ? from->select_type_parameters : "", &to->select, NULL) < 0)
		to->select = (struct select_rules){}; /* cannot be: it was checked when it was loaded */
	snprintf(to->gres_types, sizeof(to->gres_types), "%s", from->gres_types ? from->gres_types : "");
}

/* The configuration was checked when it was loaded. */
static void set_licenses(struct cluster *c, const struct slurm_conf *from, struct arena *a)
{
	struct license_list totals = {};
	if (licenses_parse_totals(from->licenses ? from->licenses : "", a, &totals, NULL) == 0)
		cluster_set_licenses(c, &totals);
}

/* Devices are given out one by one, the rest by count.  GPUs that somebody shares are told apart even
 * when no file is known. */
static bool has_devices(const struct node_gres *g, const struct node_gres *all, uint32_t count)
{
	bool is_shared = false;
	for (uint32_t i = 0; i < count; i++)
		is_shared |= all[i].n_each != 0;
	return !str_empty(g->files) || (is_shared && str_eq(g->name, "gpu"));
}

static int describe_nodes(const struct conf *conf, struct arena *a, struct configured_node **ret,
			  struct error *err)
{
	*ret = ARENA_ARRAY(a, struct configured_node, conf->node_count + 1);
	for (size_t i = 0; i < conf->node_count; i++) {
		struct node_gres *gres;
		uint32_t count;
		int e = conf_node_gres(conf, &conf->nodes[i], a, &gres, &count, err);
		if (e < 0)
			return e;
		for (uint32_t g = 0; g < count; g++)
			if (has_devices(&gres[g], gres, count))
				bitset_init_in(&gres[g].used, (uint32_t)gres[g].count, a);
		(*ret)[i] = (struct configured_node){ &conf->nodes[i], gres, count };
	}
	return 0;
}

int ctld_configure(struct ctld *s, struct conf *conf, struct error *err)
{
	AUTO_ARENA struct arena *turn = arena_new();
	struct configured_node *nodes;
	int e = describe_nodes(conf, turn, &nodes, err);
	if (e >= 0)
		e = topologies_check(conf, err);
	if (e < 0)
		return e;
	struct configuration wanted = { .nodes = nodes,
					.node_count = (uint32_t)conf->node_count,
					.partitions = conf->partitions,
					.partition_count = (uint32_t)conf->partition_count };
	struct decision d;
	decision_init(&d, turn);
	e = decide_configure(&s->cluster, &wanted, loop_now(s->loop), &d, err);
	if (e < 0) {
		decision_done(&d);
		return e;
	}
	set_settings(&s->cluster.settings, &conf->main);
	set_licenses(&s->cluster, &conf->main, turn);
	if (s->cluster.next_job_id < conf->main.first_job_id)
		decision_event(&d, EVENT_COUNTERS)->counters.next_job_id = conf->main.first_job_id;
	ctld_commit(s, &d);
	topologies_set(s, conf);
	planner_wake(s);
	return 0;
}

/* What a running controller has built on: its identity, its door, its memory. */
static int check_unchanged(const struct slurm_conf *now, const struct slurm_conf *then, struct error *err)
{
	char ports[2][16];
	snprintf(ports[0], sizeof(ports[0]), "%u", now->slurmctld_port);
	snprintf(ports[1], sizeof(ports[1]), "%u", then->slurmctld_port);
	const struct {
		const char *key, *now, *then;
	} fixed[] = {
		{ "ClusterName", now->cluster_name, then->cluster_name },
		{ "SlurmctldPort", ports[0], ports[1] },
		{ "SlurmUser", now->slurm_user, then->slurm_user },
		{ "AuthType", now->auth_type, then->auth_type },
		{ "AuthInfo", now->auth_info, then->auth_info },
		{ "StateSaveLocation", now->state_save_location, then->state_save_location },
	};
	for (size_t i = 0; i < ARRAY_COUNT(fixed); i++)
		if (!str_eq(fixed[i].now, fixed[i].then))
			return error_set(err, -EBUSY, "%s=%s: it is %s now, and only a restart of slurmctld changes it",
					 fixed[i].key, fixed[i].then ? fixed[i].then : "",
					 fixed[i].now ? fixed[i].now : "not set");
	return 0;
}

int ctld_reconfigure(struct ctld *s, struct error *err)
{
	struct conf *fresh = NULL;
	int e = conf_load(s->conf->path, &fresh, err);
	if (e >= 0)
		e = check_unchanged(&s->conf->main, &fresh->main, err);
	if (e >= 0)
		e = ctld_configure(s, fresh, err);
	if (e < 0) {
		log_error("reconfigure refused, the configuration in force stays: %s", err->text);
		conf_free(fresh);
		return e;
	}
	conf_free(s->conf);
	s->conf = fresh;
	struct empty body = {};
	for (size_t i = 0; i < s->links.count; i++)
		if (s->links.at[i].conn)
			conn_send(s->links.at[i].conn, MSG_NODE_RECONFIGURE, &body);
	log_info("configuration read again: %zu nodes, %zu partitions", fresh->node_count,
		 fresh->partition_count);
	return 0;
}
