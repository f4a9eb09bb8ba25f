/* SPDX-License-Identifier: Apache-2.0 */
/* Fabrics from the files to the planner, and to scontrol show topology.
 *
 * They are not journaled: like the settings they are made anew from the files at every start and reconfigure.
 * First they are made on trial with the nodes as the files count them, so that a mistake refuses the whole
 * configuration before anything has changed; then, when the nodes have their indexes, for good.  Views that are
 * out keep the old ones. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "host/loop.h"
#include "sched/topo.h"
#include "sched/topo_set.h"
#include "schema/errors.h"
#include "slurmctld/ctld.h"

#include <assert.h>

static_assert((int)TOPO_FLAT == TOPOLOGY_KIND_FLAT && (int)TOPO_TREE == TOPOLOGY_KIND_TREE &&
		      (int)TOPO_BLOCK == TOPOLOGY_KIND_BLOCK &&
		      (int)TOPO_RING == TOPOLOGY_KIND_RING &&
		      (int)TOPO_TORUS3D == TOPOLOGY_KIND_TORUS3D,
	      "the kinds of the files are those of the planner");

/* ---- making ------------------------------------------------------------------------------------ */

static void set_spec(const struct topology_conf *from, struct arena *a, struct topo_spec *to)
{
	struct topo_unit *units = ARENA_ARRAY(a, struct topo_unit, from->n_units + 1);
	for (uint32_t i = 0; i < from->n_units; i++) {
		const struct topology_unit_conf *u = &from->units[i];
		units[i] = (struct topo_unit) { u->name,  u->nodes, u->switches, u->link_speed,
						u->where, u->x,     u->y,        u->z };
	}
	*to = (struct topo_spec) { .name = from->name,
				   .kind = (enum topo_kind)from->kind,
				   .is_default = from->cluster_default,
				   .units = units,
				   .unit_count = from->n_units,
				   .where = from->where,
				   .block_sizes = from->block_sizes,
				   .block_size_count = from->n_block_sizes };
}

static int make_all(const struct conf *conf, uint32_t node_count, topo_node_fn node_index,
		    void *arg, struct topo_set **ret, struct error *err)
{
	AUTO_ARENA struct arena *turn = arena_new();
	struct topo_set *set = topo_set_new();
	for (size_t i = 0; i < conf->topology_count; i++) {
		struct topo_spec spec;
		struct topology *t;
		set_spec(&conf->topologies[i], turn, &spec);
		int e = topology_new(&spec, node_count, node_index, arg, &t, err);
		if (e < 0) {
			topo_set_unref(set);
			return e;
		}
		topo_set_add(set, t);
	}
	*ret = set;
	return 0;
}

static int index_in_conf(void *arg, const char *name)
{
	const struct conf *conf = arg;
	const struct node_conf *n = conf_node(conf, name);
	return n ? (int)(n - conf->nodes) : -1;
}

int topologies_check(const struct conf *conf, struct error *err)
{
	struct topo_set *set;
	int e = make_all(conf, (uint32_t)conf->node_count, index_in_conf, (void *)(uintptr_t)conf,
			 &set, err);
	if (e >= 0)
		topo_set_unref(set);
	return e;
}

static int index_in_cluster(void *arg, const char *name)
{
	const struct node *n = cluster_node_named(arg, name);
	return n ? (int)n->index : -1;
}

/* A node without a place in the default fabric serves jobs of one node only; hardly anybody means that. */
static void log_loose(const struct ctld *s, const struct topo_set *set)
{
	struct bitset nodes;
	bitset_init(&nodes, cluster_node_count(&s->cluster));
	for (uint32_t i = 0; i < nodes.bits; i++) {
		const struct node *n = cluster_node(&s->cluster, i);
		if (n && !n->removed)
			bitset_add(&nodes, i);
	}
	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t loose = topology_is_default(set->at[i])
					 ? topology_loose_node(set->at[i], &nodes)
					 : BITSET_NONE;
		if (loose != BITSET_NONE)
			log_info(
				"topology %s connects not all nodes: %s, for one, will only run jobs of one node",
				topology_name(set->at[i]),
				cluster_node(&s->cluster, loose)->conf.name);
	}
	bitset_done(&nodes);
}

void topologies_set(struct ctld *s, const struct conf *conf)
{
	struct topo_set *set;
	struct error err = {};
	int e = make_all(conf, cluster_node_count(&s->cluster), index_in_cluster, &s->cluster, &set,
			 &err);
	if (e < 0) {
		log_error("the topologies stay as they were: %s", err.text);
		return;
	}
	log_loose(s, set);
	cluster_set_topologies(&s->cluster, set);
}

/* ---- showing ----------------------------------------------------------------------------------- */

struct showing {
	struct ctld *s;
	struct request *request;
	struct view *view;
	const struct topology *topology;
	uint32_t node;
	struct buf body;
};

static const char *name_of(void *arg, uint32_t node)
{
	const struct view *v = arg;
	const struct node *n = node < v->sched.node_count ? v->sched.nodes[node] : NULL;
	return n ? n->conf.name : NULL;
}

static void work(void *arg)
{
	struct showing *w = arg;
	const struct topo_query *query = w->request->body;
	struct topo_show show = { query->unit, w->node, name_of, w->view };
	AUTO_BUF struct buf text = {};
	topology_show(w->topology, &show, &text);
	struct topo_reply reply = { .text = (char *)(uintptr_t)buf_text(&text) };
	record_encode(&topo_reply_record, &reply, &w->body);
}

static void done(void *arg)
{
	struct showing *w = arg;
	cluster_view_release(&w->s->cluster, w->view);
	ctld_reply_encoded(w->s, w->request, &w->body);
	free(w);
}

static bool find_named(const struct view *v, const char *name, const struct topology **ret)
{
	*ret = view_topology(&v->sched, NULL);
	for (uint32_t i = 0; name && i < v->sched.topology_count; i++) {
		*ret = v->sched.topologies[i];
		if (str_eq(topology_name(*ret), name))
			return true;
	}
	return str_empty(name);
}

void read_topology(struct ctld *s, struct request *r)
{
	const struct topo_query *query = r->body;
	const struct node *n = str_empty(query->node)
				       ? NULL
				       : cluster_node_named(&s->cluster, query->node);
	struct error err = {};
	struct showing *w = NEW(struct showing);
	*w = (struct showing) { .s = s, .request = r, .node = n ? n->index : BITSET_NONE };
	w->view = cluster_view(&s->cluster, 0, loop_now(s->loop));
	if (!str_empty(query->node) && !n)
		error_set(&err, -E_INVALID_NODE_NAME, "%s: %s",
			  enum_text(&error_code_enum, E_INVALID_NODE_NAME), query->node);
	else if (!find_named(w->view, query->name, &w->topology))
		error_set(&err, -E_NO_SUCH_TOPOLOGY, "%s",
			  enum_text(&error_code_enum, E_NO_SUCH_TOPOLOGY));
	if (err.code) {
		cluster_view_release(&s->cluster, w->view);
		free(w);
		request_fail(r, &err);
		return;
	}
	ctld_work(s, work, done, w);
}
