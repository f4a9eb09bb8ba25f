/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol_show.c - scontrol show ENTITY [NAME].
 *
 * An entity is one row of a table and may be shortened (show part, show job, show conf).  Its name may
 * follow as a word or behind `=`: show hostnames=n[1-3] is what some scripts write. */
#include "cmd/scontrol.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "client/columns_job.h"
#include "client/jobref.h"
#include "client/show.h"
#include "schema/errors.h"
#include "schema/messages.h"
#include "text/hostlist.h"

#include <string.h>

/* ---- jobs -------------------------------------------------------------------------------------- */

static bool load_jobs(struct scontrol *s, const struct jobrefs *refs, struct job_list *ret)
{
	struct job_query query = { .filter.all_states = true };
	struct error err = {};
	jobrefs_to_filter(refs, s->ask->arena, &query.filter);
	int r = s->ask->call(s->ask, MSG_JOB_QUERY, &query, ret, 0, &err);
	if (r >= 0 && refs->at.count && !ret->n_jobs)
		r = error_set(&err, -E_INVALID_JOB_ID, "%s",
			      enum_text(&error_code_enum, E_INVALID_JOB_ID));
	if (r < 0) {
		scontrol_fail(s, "slurm_load_jobs error: %s", err.text);
		return false;
	}
	s->context.now = ret->time;
	s->context.cluster = ret->cluster;
	return true;
}

/* Names by index, for the shares that -d shows. */
static bool load_node_names(struct scontrol *s, struct node_names *ret)
{
	struct node_query query = {};
	struct node_list list = {};
	struct error err = {};
	if (s->ask->call(s->ask, MSG_NODE_QUERY, &query, &list, 0, &err) < 0) {
		scontrol_fail(s, "slurm_load_node error: %s", err.text);
		return false;
	}
	uint32_t count = 0;
	for (uint32_t i = 0; i < list.n_nodes; i++)
		count = list.nodes[i].index >= count ? list.nodes[i].index + 1 : count;
	char **names = ARENA_ARRAY(s->ask->arena, char *, count + 1);
	for (uint32_t i = 0; i < list.n_nodes; i++)
		names[list.nodes[i].index] = list.nodes[i].conf.name;
	*ret = (struct node_names) { names, count };
	return true;
}

static bool parse_refs(struct scontrol *s, const char *value, int argc, char **argv,
		       struct jobrefs *ret)
{
	struct error err = {};
	int r = value ? jobrefs_parse(value, s->ask->arena, ret, &err) : 0;
	for (int i = 0; r >= 0 && i < argc; i++)
		r = jobrefs_parse(argv[i], s->ask->arena, ret, &err);
	if (r < 0)
		scontrol_fail(s, "%s: error: %s", s->ask->program, err.text);
	return r >= 0;
}

static void show_jobs(struct scontrol *s, const char *value, int argc, char **argv)
{
	struct jobrefs refs = {};
	struct job_list list = {};
	struct node_names names = {};
	if (parse_refs(s, value, argc, argv, &refs) && load_jobs(s, &refs, &list) &&
	    (!s->context.details || load_node_names(s, &names))) {
		for (uint32_t i = 0; i < list.n_jobs; i++)
			show_job(&list.jobs[i], &s->context, &names, &s->ask->out);
		if (!list.n_jobs)
			buf_puts(&s->ask->out, "No jobs in the system\n");
	}
	vec_done(&refs.at);
}

static bool is_step_wanted(const struct jobrefs *refs, const struct job *j, const struct step *st)
{
	for (size_t i = 0; i < refs->at.count; i++) {
		const struct jobref *r = &refs->at.at[i];
		bool task = r->task == JOBREF_NO_TASK ||
			    (j->has_array_task_id && j->array_task_id == r->task);
		if ((j->id == r->id || j->array_job_id == r->id) && task &&
		    (!r->has_step || r->step == st->id))
			return true;
	}
	return refs->at.count == 0;
}

static void show_steps(struct scontrol *s, const char *value, int argc, char **argv)
{
	struct jobrefs refs = {};
	struct job_list list = {};
	uint32_t shown = 0;
	if (parse_refs(s, value, argc, argv, &refs) && load_jobs(s, &refs, &list)) {
		for (uint32_t i = 0; i < list.n_jobs; i++) {
			for (uint32_t k = 0; k < list.jobs[i].n_steps; k++) {
				struct job_step one = { &list.jobs[i], &list.jobs[i].steps[k] };
				if (!is_step_wanted(&refs, one.job, one.step))
					continue;
				show_step(&one, &s->context, &s->ask->out);
				shown++;
			}
		}
		if (!shown && refs.at.count)
			scontrol_fail(s, "no such step runs");
		else if (!shown)
			buf_puts(&s->ask->out, "No job steps in the system\n");
	}
	vec_done(&refs.at);
}

/* ---- nodes and partitions ---------------------------------------------------------------------- */

static const struct node *find_node(const struct node_list *list, const char *name)
{
	for (uint32_t i = 0; i < list->n_nodes; i++)
		if (str_eq(list->nodes[i].conf.name, name))
			return &list->nodes[i];
	return NULL;
}

static void show_nodes(struct scontrol *s, const char *value, int argc, char **argv)
{
	struct node_query query = {};
	struct node_list list = {};
	struct hostlist names = {};
	struct error err = {};
	(void)argc, (void)argv;
	if (value && hostlist_expand(value, s->ask->arena, &names, &err) < 0) {
		scontrol_fail(s, "%s: error: %s", s->ask->program, err.text);
		return;
	}
	if (s->ask->call(s->ask, MSG_NODE_QUERY, &query, &list, 0, &err) < 0) {
		scontrol_fail(s, "slurm_load_node error: %s", err.text);
		return;
	}
	s->context.now = list.time;
	for (uint32_t i = 0; i < list.n_nodes && !value; i++)
		show_node(&list.nodes[i], &s->context, &s->ask->out);
	for (uint32_t i = 0; i < names.count; i++) {
		const struct node *n = find_node(&list, names.names[i]);
		if (n)
			show_node(n, &s->context, &s->ask->out);
		else
			scontrol_fail(s, "Node %s not found", names.names[i]);
	}
}

static void show_partitions(struct scontrol *s, const char *value, int argc, char **argv)
{
	struct partition_query query = {};
	struct partition_list list = {};
	struct error err = {};
	uint32_t shown = 0;
	(void)argc, (void)argv;
	if (s->ask->call(s->ask, MSG_PARTITION_QUERY, &query, &list, 0, &err) < 0) {
		scontrol_fail(s, "slurm_load_partitions error: %s", err.text);
		return;
	}
	s->context.now = list.time;
	for (uint32_t i = 0; i < list.n_partitions; i++) {
		const struct partition *p = &list.partitions[i];
		if (value ? !str_eq(value, p->conf.name) : p->conf.hidden && !s->all)
			continue;
		show_partition(p, &s->context, &s->ask->out);
		shown++;
	}
	if (!shown && value)
		scontrol_fail(s, "Partition %s not found", value);
}

static void show_licenses(struct scontrol *s, const char *value, int argc, char **argv)
{
	struct license_query query = { .name = (char *)(uintptr_t)value };
	struct license_report list = {};
	struct error err = {};
	(void)argc, (void)argv;
	if (s->ask->call(s->ask, MSG_LICENSE_QUERY, &query, &list, 0, &err) < 0) {
		scontrol_fail(s, "slurm_load_licenses error: %s", err.text);
		return;
	}
	for (uint32_t i = 0; i < list.n_licenses; i++)
		show_license(&list.licenses[i], &s->context, &s->ask->out);
	if (!list.n_licenses && value)
		scontrol_fail(s, "License %s not found", value);
	else if (!list.n_licenses)
		buf_puts(&s->ask->out, "No licenses configured in Slurm.\n");
}

static void show_config(struct scontrol *s, const char *value, int argc, char **argv)
{
	struct empty body = {};
	struct conf_reply reply = {};
	struct error err = {};
	(void)argc, (void)argv;
	if (s->ask->call(s->ask, MSG_CONF_QUERY, &body, &reply, 0, &err) < 0) {
		scontrol_fail(s, "slurm_load_ctl_conf error: %s", err.text);
		return;
	}
	s->context.now = reply.time;
	buf_puts(&s->ask->out, "Configuration data as of ");
	text_put_time(&s->context, reply.time, "Unknown", &s->ask->out);
	buf_putc(&s->ask->out, '\n');
	for (uint32_t i = 0; i < reply.n_lines; i++) {
		const struct conf_line *l = &reply.lines[i];
		if (!value || str_istarts(l->key, value))
			buf_printf(&s->ask->out, "%-23s = %s\n", l->key, l->value ? l->value : "");
	}
	buf_putc(&s->ask->out, '\n');
	scontrol_ping(s, 1, (char *[]) { (char[]) { "ping" }, NULL });
}

/* ---- the table --------------------------------------------------------------------------------- */

static void show_topology(struct scontrol *s, const char *value, int argc, char **argv)
{
	struct topo_query query = {};
	struct topo_reply reply = {};
	struct error err = {};
	for (int i = -1; i < argc; i++) {
		char *word = i < 0 ? (char *)(uintptr_t)value : argv[i];
		if (!word)
			continue;
		if (str_istarts(word, "unit="))
			query.unit = word + strlen("unit=");
		else if (str_istarts(word, "node="))
			query.node = word + strlen("node=");
		else
			query.name = word;
	}
	int r = s->ask->call(s->ask, MSG_TOPO_QUERY, &query, &reply, 0, &err);
	if (r == -E_NO_SUCH_TOPOLOGY) /* scripts look at what is printed: the exit code stays 0 */
		buf_printf(&s->ask->err, "slurm_load_topo error: %s\n", err.text);
	else if (r < 0)
		scontrol_fail(s, "slurm_load_topo error: %s", err.text);
	else if (!str_empty(reply.text))
		buf_puts(&s->ask->out, reply.text);
	else if (query.unit || query.node)
		scontrol_fail(s, "nothing in the topology matches %s", query.unit ? query.unit : query.node);
	else
		scontrol_fail(s, "No topology information available: the nodes are not wired in any way that matters");
}

static void show_daemons(struct scontrol *s, const char *value, int argc, char **argv)
{
	(void)value, (void)argc, (void)argv;
	scontrol_show_daemons(s);
}

static void show_hostnames(struct scontrol *s, const char *value, int argc, char **argv)
{
	(void)argc, (void)argv;
	scontrol_show_hosts(s, "hostnames", value);
}

static void show_hostlist(struct scontrol *s, const char *value, int argc, char **argv)
{
	(void)argc, (void)argv;
	scontrol_show_hosts(s, "hostlist", value);
}

static void show_hostlistsorted(struct scontrol *s, const char *value, int argc, char **argv)
{
	(void)argc, (void)argv;
	scontrol_show_hosts(s, "hostlistsorted", value);
}

static const struct entity {
	const char *word;
	void (*show)(struct scontrol *s, const char *value, int argc,
		     char **argv); /* NULL: not built yet */
	bool takes_words;          /* more than one word may follow */
} entities[] = {
	{ "jobs", show_jobs, true },
	{ "nodes", show_nodes, false },
	{ "partitions", show_partitions, false },
	{ "steps", show_steps, true },
	{ "config", show_config, false },
	{ "hostnames", show_hostnames, false },
	{ "hostlist", show_hostlist, false },
	{ "hostlistsorted", show_hostlistsorted, false },
	{ "licenses", show_licenses, false },
	{ "topology", show_topology, true },
	{ "daemons", show_daemons, false },
	{ "aliases", NULL, false },
	{ "assoc_mgr", NULL, false },
	{ "bbstat", NULL, false },
	{ "burstbuffer", NULL, false },
	{ "dwstat", NULL, false },
	{ "federations", NULL, false },
	{ "reservations", NULL, false },
	{ "slurmd", NULL, false },
	{ "topoconf", NULL, false },
};

static const struct entity *find_entity(const char *word)
{
	for (size_t i = 0; i < ARRAY_COUNT(entities); i++)
		if (str_ieq(entities[i].word, word))
			return &entities[i];
	for (size_t i = 0; i < ARRAY_COUNT(entities) && *word; i++)
		if (str_istarts(entities[i].word, word))
			return &entities[i];
	return NULL;
}

void scontrol_show(struct scontrol *s, int argc, char **argv)
{
	if (argc < 2) {
		scontrol_fail(s, "too few arguments for keyword:show");
		return;
	}
	char *word = arena_strdup(s->ask->arena, argv[1]);
	char *equals = strchr(word, '=');
	if (equals)
		*equals++ = 0;
	const struct entity *e = find_entity(word);
	int at = 2;
	const char *value = equals ? equals : at < argc ? argv[at++] : NULL;
	if (!e)
		scontrol_fail(s, "invalid entity:%s for keyword:show", word);
	else if (!e->show)
		scontrol_fail(s, "%s: error: show %s is not supported yet", s->ask->program,
			      e->word);
	else if (at < argc && !e->takes_words)
		scontrol_fail(s, "too many arguments for keyword:show: '%s'", argv[at]);
	else
		e->show(s, value, argc - at, argv + at);
}
