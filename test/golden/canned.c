/* SPDX-License-Identifier: Apache-2.0 */
/* canned.c - a controller that knows the canned cluster and nothing else. */
#include "canned.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "cmd/ask.h"
#include "conf/conf.h"
#include "sched/topo.h"
#include "schema/errors.h"
#include "schema/messages.h"

#include <errno.h>
#include <string.h>

static bool number_in(const uint32_t *list, uint32_t count, uint32_t v)
{
	for (uint32_t i = 0; i < count; i++)
		if (list[i] == v)
			return true;
	return count == 0;
}

static bool name_in(char *const *list, uint32_t count, const char *v)
{
	for (uint32_t i = 0; i < count; i++)
		if (str_eq(list[i], v))
			return true;
	return count == 0;
}

static bool is_named(const struct job_filter *f, const struct job *j)
{
	for (uint32_t i = 0; i < f->n_ids; i++) {
		uint32_t task = f->tasks[i];
		bool is_task = task == UINT32_MAX ||
			       (j->has_array_task_id && j->array_task_id == task) ||
			       (j->n_array_tasks && task >= j->array_tasks[0].first &&
				task <= j->array_tasks[0].last);
		if ((j->id == f->ids[i] || j->array_job_id == f->ids[i]) && is_task)
			return true;
	}
	return f->n_ids == 0;
}

static bool matches(const struct job_filter *f, const struct job *j)
{
	bool over = j->state > JOB_STATE_SUSPENDED && !j->completing;
	return is_named(f, j) && number_in(f->users, f->n_users, j->uid) &&
	       number_in(f->states, f->n_states, (uint32_t)j->state) &&
	       name_in(f->names, f->n_names, j->spec.name) &&
	       name_in(f->accounts, f->n_accounts, j->spec.account) &&
	       name_in(f->qos, f->n_qos, j->spec.qos) &&
	       name_in(f->partitions, f->n_partitions, j->partition) &&
	       (!f->nodes || (j->node_list && strstr(j->node_list, f->nodes))) &&
	       (!over || f->all_states || f->n_states || f->n_ids);
}

static struct field_mask mask_of(const uint32_t *tags, uint32_t count)
{
	struct field_mask m = {};
	for (uint32_t i = 0; i < count; i++)
		field_mask_add(&m, tags[i]);
	return m;
}

/* Only what was asked for arrives. */
static void send_job(const struct job_query *q, const struct job *j, struct arena *a,
		     struct job *ret)
{
	struct field_mask job_mask = mask_of(q->fields, q->n_fields);
	struct field_mask spec_mask = mask_of(q->spec_fields, q->n_spec_fields);
	AUTO_BUF struct buf bytes = {};
	struct job thin = *j;
	thin.spec = (struct job_spec) {};
	record_encode_some(&job_spec_record, &j->spec, q->n_spec_fields ? &spec_mask : NULL,
			   &bytes);
	if (record_decode(&job_spec_record, &thin.spec, bytes.data, bytes.len, a, NULL) < 0)
		abort();
	buf_clear(&bytes);
	record_encode_some(&job_record, &thin, q->n_fields ? &job_mask : NULL, &bytes);
	if (record_decode(&job_record, ret, bytes.data, bytes.len, a, NULL) < 0)
		abort();
}

static int answer_jobs(struct arena *a, const struct job_query *q, struct job_list *ret)
{
	struct job_list all = {};
	canned_jobs(a, &all);
	*ret = all;
	ret->jobs = ARENA_ARRAY(a, struct job, all.n_jobs);
	ret->n_jobs = 0;
	for (uint32_t i = 0; i < all.n_jobs; i++)
		if (matches(&q->filter, &all.jobs[i]))
			send_job(q, &all.jobs[i], a, &ret->jobs[ret->n_jobs++]);
	return 0;
}

static int answer_conf(struct arena *a, struct conf_reply *ret)
{
	struct conf_line lines[] = {
		{ arena_strdup(a, "AccountingStorageBackupHost"), arena_strdup(a, "(null)") },
		{ arena_strdup(a, "ClusterName"), arena_strdup(a, "ref") },
		{ arena_strdup(a, "SlurmctldHost[0]"), arena_strdup(a, "vm(127.0.0.1)") },
	};
	*ret = (struct conf_reply) { .time = 1794715256 * USEC_PER_SEC,
				     .n_lines = ARRAY_COUNT(lines) };
	ret->lines = arena_dup(a, lines, sizeof(lines));
	return 0;
}

static int answer_licenses(struct arena *a, const struct license_query *q, struct license_report *ret)
{
	struct license have[] = { { arena_strdup(a, "ansys"), 4, 0 }, { arena_strdup(a, "matlab"), 10, 3 } };
	ret->licenses = ARENA_ARRAY(a, struct license, ARRAY_COUNT(have));
	for (size_t i = 0; i < ARRAY_COUNT(have); i++)
		if (str_empty(q->name) || str_eq(q->name, have[i].name))
			ret->licenses[ret->n_licenses++] = have[i];
	return 0;
}

static int node_number(void *arg, const char *name)
{
	(void)arg;
	return name[strlen("node")] - '1';
}

static const char *node_text(void *arg, uint32_t node)
{
	return arena_printf(arg, "node%u", node + 1);
}

static int answer_topology(struct arena *a, const struct topo_query *q, struct topo_reply *ret, struct error *err)
{
	static const struct topo_unit units[] = { { "leaf1", "node[1-4]", .where = "" },
						  { "leaf2", "node[5-8]", .where = "" },
						  { "spine", .switches = "leaf[1-2]", .where = "" } };
	struct topo_spec spec = { .name = "default", .kind = TOPO_TREE, .units = units, .unit_count = ARRAY_COUNT(units) };
	struct topo_show show = { q->unit, q->node ? (uint32_t)node_number(NULL, q->node) : BITSET_NONE, node_text, a };
	struct topology *t;
	AUTO_BUF struct buf text = {};
	if (q->name && !str_eq(q->name, "default"))
		return error_set(err, -E_NO_SUCH_TOPOLOGY, "%s", enum_text(&error_code_enum, E_NO_SUCH_TOPOLOGY));
	if (topology_new(&spec, 8, node_number, NULL, &t, err) < 0)
		abort();
	topology_show(t, &show, &text);
	ret->text = arena_strdup(a, buf_text(&text));
	topology_free(t);
	return 0;
}

/* Changes of jobs are refused when none is meant, and each ended job is a failure. */
static int answer_change(struct arena *a, const struct job_filter *f, struct cancel_reply *ret,
			 struct error *err)
{
	struct job_list all = {};
	canned_jobs(a, &all);
	ret->failures = ARENA_ARRAY(a, char *, all.n_jobs);
	for (uint32_t i = 0; i < all.n_jobs; i++) {
		if (!matches(f, &all.jobs[i]))
			continue;
		ret->matched++;
		if (all.jobs[i].state > JOB_STATE_SUSPENDED && f->n_ids)
			ret->failures[ret->n_failures++] = arena_printf(
				a, "%u: %s", all.jobs[i].id,
				enum_text(&error_code_enum, E_ALREADY_DONE));
	}
	if (!ret->matched && f->n_ids)
		return error_set(err, -E_INVALID_JOB_ID, "%s",
				 enum_text(&error_code_enum, E_INVALID_JOB_ID));
	return 0;
}

static int canned_call(struct ask *ask, uint16_t kind, const void *body, void *reply,
		       usec_t timeout, struct error *err)
{
	struct canned *c = ask->world;
	(void)timeout;
	memset(reply, 0, message_descs[kind].reply->size);
	switch ((int)kind) {
	case MSG_JOB_QUERY:
		return answer_jobs(ask->arena, body, reply);
	case MSG_NODE_QUERY:
		canned_nodes(ask->arena, reply);
		return 0;
	case MSG_PARTITION_QUERY:
		canned_partitions(ask->arena, reply);
		return 0;
	case MSG_LICENSE_QUERY:
		return answer_licenses(ask->arena, body, reply);
	case MSG_TOPO_QUERY:
		return answer_topology(ask->arena, body, reply, err);
	case MSG_CONF_QUERY:
		return answer_conf(ask->arena, reply);
	default:
		break;
	}
	buf_printf(&c->requests, "%s ", message_descs[kind].name);
	record_print(message_descs[kind].request, body, &c->requests);
	buf_putc(&c->requests, '\n');
	if (kind == MSG_JOB_UPDATE)
		return answer_change(ask->arena, &((const struct job_update *)body)->filter, reply,
				     err);
	if (kind == MSG_CANCEL)
		return answer_change(ask->arena, &((const struct cancel_request *)body)->filter,
				     reply, err);
	if (kind == MSG_JOB_REQUEUE)
		return answer_change(ask->arena, &((const struct job_requeue *)body)->filter, reply,
				     err);
	if (kind == MSG_JOB_WAIT)
		return error_set(err, -E_INVALID_JOB_ID, "%s",
				 enum_text(&error_code_enum, E_INVALID_JOB_ID));
	return 0;
}

static int canned_uid(const char *name, uid_t *ret)
{
	if (str_eq(name, "tester") || str_eq(name, "2001"))
		*ret = 2001;
	else if (str_eq(name, "root"))
		*ret = 0;
	else
		return -ENOENT;
	return 0;
}

static int canned_ping(struct ask *ask, uint32_t which, const char **ret_name, struct error *err)
{
	(void)ask, (void)err;
	*ret_name = "vm";
	return which ? -ENOENT : 0;
}

static int read_conf(void *arg, const char *path, struct buf *ret)
{
	(void)arg;
	if (str_ends(path, "slurm.conf"))
		buf_puts(
			ret,
			"ClusterName=ref\nSlurmctldHost=vm(127.0.0.1)\nTopologyPlugin=topology/tree\n"
			"NodeName=node[1-8] CPUs=32\nPartitionName=debug Nodes=node[1-8]\n");
	else
		return -ENOENT;
	return 0;
}

static const struct conf *canned_conf(struct ask *ask, struct error *err)
{
	struct canned *c = ask->world;
	if (!c->conf && conf_load_with("/etc/slurm/slurm.conf", read_conf, NULL, &c->conf, err) < 0)
		return NULL;
	return c->conf;
}

static bool canned_line(struct ask *ask, const char *prompt, struct buf *line)
{
	struct canned *c = ask->world;
	buf_puts(&ask->out, prompt);
	size_t n = strcspn(c->input, "\n");
	if (!*c->input)
		return false;
	buf_clear(line);
	buf_put(line, c->input, n);
	c->input += n + (c->input[n] == '\n');
	return true;
}

static void canned_flush(struct ask *ask)
{
	(void)ask; /* the runner reads the buffers */
}

void canned_world(struct ask *ask, struct canned *c)
{
	ask->uid = 0;
	ask->call = canned_call;
	ask->user_uid = canned_uid;
	ask->conf = canned_conf;
	ask->ping = canned_ping;
	ask->read_line = canned_line;
	ask->flush = canned_flush;
	ask->world = c;
}
