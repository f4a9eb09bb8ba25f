/* SPDX-License-Identifier: Apache-2.0 */
/* Questions are answered from a view by a worker: the owner takes the picture, which costs a copy of
 * pointers, and goes on; filtering and encoding a hundred thousand jobs happens elsewhere.  The answer
 * leaves when everything the view shows is on disk, so that nobody reads what a crash could undo. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "host/loop.h"
#include "host/user.h"
#include "sched/pool.h"
#include "slurmctld/ctld.h"
#include "store/journal.h"
#include "text/hostlist.h"
#include "text/size.h"

#include <string.h>

struct reading {
	struct ctld *s;
	struct request *request;
	struct view *view;
	uint64_t position;
	void (*encode)(struct reading *r);
	struct prepared_filter filter; /* jobs */
	struct field_mask mask, spec_mask;
	bool all_fields;
	struct bitset nodes; /* nodes asked for; size 0: all */
	struct buf body;
};

static void work(void *arg)
{
	struct reading *r = arg;
	r->encode(r);
}

static void done(void *arg)
{
	struct reading *r = arg;
	cluster_view_release(&r->s->cluster, r->view);
	ctld_reply_encoded(r->s, r->request, &r->body);
	free(r);
}

static struct reading *reading_new(struct ctld *s, struct request *q, unsigned parts,
				   void (*encode)(struct reading *))
{
	struct reading *r = NEW(struct reading);
	*r = (struct reading){ .s = s, .request = q, .encode = encode };
	r->view = cluster_view(&s->cluster, parts, loop_now(s->loop));
	r->position = journal_position(s->journal);
	return r;
}

/* ---- jobs -------------------------------------------------------------------------------------- */

/* A step's cookie opens the door of its srun: only srun and the step daemons are told. */
static void hide_cookies(struct job *j, struct arena *a)
{
	j->steps = arena_dup(a, j->steps, j->n_steps * sizeof(*j->steps));
	for (uint32_t i = 0; i < j->n_steps; i++)
		j->steps[i].cookie = 0;
}

static void encode_jobs(struct reading *r)
{
	AUTO_ARENA struct arena *a = arena_new();
	uint32_t tag = record_field(&job_list_record, "jobs")->tag;
	for (uint32_t i = 0; i < r->view->job_count; i++) {
		const struct job *j = r->view->jobs[i];
		struct job shown;
		if (!filter_matches(&r->filter, j))
			continue;
		if (j->n_steps) {
			shown = *j;
			hide_cookies(&shown, a);
			j = &shown;
		}
		record_encode_item(tag, &job_record, j, r->all_fields ? NULL : &r->mask, &r->body);
	}
	struct job_list rest = { .time = r->view->sched.now,
				 .position = r->position,
				 .cluster = r->s->conf->main.cluster_name };
	record_encode(&job_list_record, &rest, &r->body);
}

void read_jobs(struct ctld *s, struct request *q)
{
	const struct job_query *body = q->body;
	struct prepared_filter filter;
	struct error err = {};
	if (filter_prepare(&s->cluster, &body->filter, q->arena, &filter, &err) < 0) {
		request_fail(q, &err);
		return;
	}
	struct reading *r = reading_new(s, q, VIEW_JOBS, encode_jobs);
	r->filter = filter;
	r->all_fields = body->n_fields == 0;
	for (uint32_t i = 0; i < body->n_fields; i++)
		field_mask_add(&r->mask, body->fields[i]);
	for (uint32_t i = 0; i < body->n_spec_fields; i++)
		field_mask_add(&r->spec_mask, body->spec_fields[i]);
	if (body->n_spec_fields) {
		r->mask.sub_tag = record_field(&job_record, "spec")->tag;
		r->mask.sub = &r->spec_mask;
	}
	ctld_work(s, work, done, r);
}

/* ---- nodes ------------------------------------------------------------------------------------- */

static void partitions_of(const struct sched_view *v, uint32_t node, struct buf *out)
{
	for (uint32_t i = 0; i < v->partition_count; i++)
		if (bitset_has(&v->partitions[i]->nodes, node))
			buf_printf(out, "%s%s", out->len ? "," : "", v->partitions[i]->conf.name);
}

static void encode_nodes(struct reading *r)
{
	const struct sched_view *v = &r->view->sched;
	uint32_t tag = record_field(&node_list_record, "nodes")->tag;
	AUTO_BUF struct buf partitions = {};
	for (uint32_t i = 0; i < v->node_count; i++) {
		if (!v->nodes[i] || v->nodes[i]->removed || (r->nodes.bits && !bitset_has(&r->nodes, i)))
			continue;
		struct node n = *v->nodes[i];
		char user[256] = "", owner[256] = "";
		buf_clear(&partitions);
		partitions_of(v, i, &partitions);
		n.partitions = (char *)(uintptr_t)buf_text(&partitions);
		if (n.reason && user_name(n.reason_uid, user, sizeof(user)) == 0)
			n.user_reason = user;
		if (n.owner_jobs && user_name(n.owner_uid, owner, sizeof(owner)) == 0)
			n.owner = owner;
		record_encode_item(tag, &node_record, &n, NULL, &r->body);
	}
	struct node_list rest = { .time = v->now, .position = r->position };
	record_encode(&node_list_record, &rest, &r->body);
}

static int named_nodes(struct ctld *s, const char *names, struct arena *a, struct bitset *ret,
		       struct error *err)
{
	struct hostlist list;
	if (str_empty(names))
		return 0;
	int e = hostlist_expand(names, a, &list, err);
	if (e < 0)
		return e;
	bitset_init_in(ret, cluster_node_count(&s->cluster), a);
	for (uint32_t i = 0; i < list.count; i++) {
		const struct node *n = cluster_node_named(&s->cluster, list.names[i]);
		if (n)
			bitset_add(ret, n->index);
	}
	return 0;
}

void read_nodes(struct ctld *s, struct request *q)
{
	const struct node_query *body = q->body;
	struct error err = {};
	struct bitset nodes = {};
	if (named_nodes(s, body->names, q->arena, &nodes, &err) < 0) {
		request_fail(q, &err);
		return;
	}
	struct reading *r = reading_new(s, q, 0, encode_nodes);
	r->nodes = nodes;
	ctld_work(s, work, done, r);
}

/* ---- partitions -------------------------------------------------------------------------------- */

struct total {
	char name[64];
	uint64_t count;
};

static void count_gres(const struct node *n, struct total *totals, uint32_t *count)
{
	for (uint32_t g = 0; g < n->n_gres; g++) {
		uint32_t i = 0;
		while (i < *count && !str_eq(totals[i].name, n->gres[g].name))
			i++;
		if (i == 16)
			return; /* more kinds than anybody prints */
		if (i == *count) {
			(*count)++;
			snprintf(totals[i].name, sizeof(totals[i].name), "%s", n->gres[g].name);
		}
		totals[i].count += n->gres[g].count;
	}
}

/* TRES= of scontrol show partition: cpu=256,mem=62.50G,node=8,billing=256,gres/gpu=32 */
static void add_up(const struct sched_view *v, struct partition *p, struct buf *tres)
{
	struct total totals[16] = {};
	uint32_t kinds = 0;
	uint64_t mem = 0;
	p->total_cpus = p->total_nodes = 0;
	for (uint32_t i = bitset_next(&p->nodes, 0); i != BITSET_NONE; i = bitset_next(&p->nodes, i + 1)) {
		const struct node *n = v->nodes[i];
		if (!n || n->removed)
			continue;
		p->total_nodes++;
		p->total_cpus += n->conf.cpus;
		mem += node_memory(n);
		count_gres(n, totals, &kinds);
	}
	char size[SIZE_TEXT];
	size_print_mib(mem, size);
	buf_printf(tres, "cpu=%u,mem=%s,node=%u,billing=%u", p->total_cpus, size, p->total_nodes, p->total_cpus);
	for (uint32_t i = 0; i < kinds; i++)
		buf_printf(tres, ",gres/%s=%llu", totals[i].name, (unsigned long long)totals[i].count);
}

static void encode_partitions(struct reading *r)
{
	const struct partition_query *body = r->request->body;
	const struct sched_view *v = &r->view->sched;
	uint32_t tag = record_field(&partition_list_record, "partitions")->tag;
	AUTO_BUF struct buf tres = {};
	for (uint32_t i = 0; i < v->partition_count; i++) {
		struct partition p = *v->partitions[i];
		if (!str_empty(body->name) && !str_eq(body->name, p.conf.name))
			continue;
		buf_clear(&tres);
		add_up(v, &p, &tres);
		p.tres = (char *)(uintptr_t)buf_text(&tres);
		record_encode_item(tag, &partition_record, &p, NULL, &r->body);
	}
	struct partition_list rest = { .time = v->now, .position = r->position };
	record_encode(&partition_list_record, &rest, &r->body);
}

void read_partitions(struct ctld *s, struct request *q)
{
	struct reading *r = reading_new(s, q, 0, encode_partitions);
	ctld_work(s, work, done, r);
}

/* ---- licences ----------------------------------------------------------------------------------- */

static void encode_licenses(struct reading *r)
{
	const struct license_query *body = r->request->body;
	const struct sched_view *v = &r->view->sched;
	uint32_t tag = record_field(&license_report_record, "licenses")->tag;
	for (uint32_t i = 0; i < v->license_count; i++)
		if (str_empty(body->name) || str_eq(body->name, v->licenses[i].name))
			record_encode_item(tag, &license_record, &v->licenses[i], NULL, &r->body);
	struct license_report rest = { .time = v->now, .position = r->position };
	record_encode(&license_report_record, &rest, &r->body);
}

void read_licenses(struct ctld *s, struct request *q)
{
	struct reading *r = reading_new(s, q, 0, encode_licenses);
	ctld_work(s, work, done, r);
}

/* ---- configuration ----------------------------------------------------------------------------- */

void read_conf(struct ctld *s, struct request *q)
{
	struct conf_reply reply = { .time = loop_now(s->loop),
				    .boot_time = s->boot_time,
				    .next_job_id = s->cluster.next_job_id };
	conf_show(s->conf, s->boot_time, s->cluster.next_job_id, q->arena, &reply.lines, &reply.n_lines);
	reply.hosts = ARENA_ARRAY(q->arena, char *, s->conf->controller_count + 1);
	for (uint32_t i = 0; i < s->conf->controller_count; i++)
		reply.hosts[reply.n_hosts++] = (char *)(uintptr_t)s->conf->controller_names[i];
	ctld_reply(s, q, &reply);
}
