/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration is a command like any other: what differs from the state becomes events, so that
 * the journal alone leads to the state and a changed file is seen at the next start or reconfigure.
 * A node keeps its index for ever; one that is no longer configured is marked, because a job may
 * still run there. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "core/decide.h"
#include "schema/errors.h"
#include "text/hostlist.h"

static bool gres_same(const struct node *n, const struct configured_node *want)
{
	if (n->n_gres != want->gres_count)
		return false;
	for (uint32_t i = 0; i < n->n_gres; i++) {
		struct node_gres have = n->gres[i], wish = want->gres[i];
		have.used = wish.used; /* what is in use is not configuration */
		have.used_count = wish.used_count;
		have.each_used = wish.each_used;
		have.n_each_used = wish.n_each_used;
		if (!record_equal(&node_gres_record, &have, &wish) ||
		    n->gres[i].used.bits != want->gres[i].used.bits)
			return false;
	}
	return true;
}

static void configure_node(const struct cluster *c, const struct configured_node *want, uint32_t *next,
			   struct decision *out)
{
	const struct node *n = cluster_node_named(c, want->conf->name);
	if (n && !n->removed && record_equal(&node_conf_record, &n->conf, want->conf) && gres_same(n, want))
		return;
	struct node_configured *ev = &decision_event(out, EVENT_NODE_CONFIGURED)->node_configured;
	ev->node = n ? n->index : (*next)++;
	ev->conf = *want->conf;
	ev->gres = (struct node_gres *)(uintptr_t)want->gres;
	ev->n_gres = want->gres_count;
}

/* State=DOWN or DRAIN on a NodeName line holds from the moment the node is first seen. */
static void configured_state(const struct cluster *c, const struct configured_node *want, uint32_t index,
			     usec_t now, struct decision *out)
{
	bool down = str_ieq(want->conf->state, "DOWN");
	bool drain = str_ieq(want->conf->state, "DRAIN");
	if (cluster_node_named(c, want->conf->name) || (!down && !drain))
		return;
	struct node_changed *ev = &decision_event(out, EVENT_NODE_CHANGED)->node_changed;
	*ev = (struct node_changed){ .node = index,
				     .time = now,
				     .has_down = down,
				     .down = down,
				     .has_drain = drain,
				     .drain = drain,
				     .has_reason = true,
				     .reason = want->conf->reason ? want->conf->reason :
								    arena_strdup(out->arena, "configured so") };
}

static bool is_configured(const struct configuration *conf, const char *name)
{
	for (uint32_t i = 0; i < conf->node_count; i++)
		if (str_eq(conf->nodes[i].conf->name, name))
			return true;
	return false;
}

/* Index of every node name as it will be once the events so far are applied. */
static int node_index(const struct cluster *c, const struct decision *out, const char *name)
{
	const struct node *n = cluster_node_named(c, name);
	if (n)
		return (int)n->index;
	for (size_t i = 0; i < out->events.count; i++) {
		const struct event *ev = &out->events.at[i];
		if (ev->kind == EVENT_NODE_CONFIGURED && str_eq(ev->node_configured.conf.name, name))
			return (int)ev->node_configured.node;
	}
	return -1;
}

static int partition_nodes(const struct cluster *c, const struct partition_conf *p, uint32_t node_count,
			   const struct decision *out, struct bitset *ret, struct error *err)
{
	bitset_init_in(ret, node_count, out->arena);
	struct hostlist names;
	int e = hostlist_expand(p->nodes ? p->nodes : "", out->arena, &names, err);
	if (e < 0)
		return error_wrap(err, e, "partition %s", p->name);
	for (uint32_t i = 0; i < names.count; i++) {
		int index = node_index(c, out, names.names[i]);
		if (index < 0)
			return error_set(err, -E_INVALID_NODE_NAME, "partition %s: there is no node '%s'",
					 p->name, names.names[i]);
		bitset_add(ret, (uint32_t)index);
	}
	return 0;
}

static int configure_partition(const struct cluster *c, const struct partition_conf *want,
			       uint32_t node_count, struct decision *out, struct error *err)
{
	struct bitset nodes;
	int e = partition_nodes(c, want, node_count, out, &nodes, err);
	if (e < 0)
		return e;
	const struct partition *p = cluster_partition(c, want->name);
	if (p && record_equal(&partition_conf_record, &p->conf, want) && bitset_equal(&p->nodes, &nodes))
		return 0;
	struct partition_configured *ev =
		&decision_event(out, EVENT_PARTITION_CONFIGURED)->partition_configured;
	ev->conf = *want;
	ev->nodes = nodes;
	return 0;
}

static void remove_missing(const struct cluster *c, const struct configuration *conf, struct decision *out)
{
	for (uint32_t i = 0; i < cluster_node_count(c); i++) {
		const struct node *n = cluster_node(c, i);
		if (n && !n->removed && !is_configured(conf, n->conf.name))
			decision_event(out, EVENT_NODE_REMOVED)->node_removed.node = i;
	}
	for (size_t i = 0; i < c->partitions.count; i++) {
		char *name = c->partitions.at[i]->partition.conf.name;
		bool found = false;
		for (uint32_t k = 0; k < conf->partition_count; k++)
			found |= str_eq(conf->partitions[k].name, name);
		if (!found)
			decision_event(out, EVENT_PARTITION_REMOVED)->partition_removed.name = name;
	}
}

int decide_configure(const struct cluster *c, const struct configuration *conf, usec_t now,
		     struct decision *out, struct error *err)
{
	uint32_t next = cluster_node_count(c);
	for (uint32_t i = 0; i < conf->node_count; i++) {
		uint32_t index = next;
		configure_node(c, &conf->nodes[i], &next, out);
		configured_state(c, &conf->nodes[i], index, now, out);
	}
	for (uint32_t i = 0; i < conf->partition_count; i++) {
		int e = configure_partition(c, &conf->partitions[i], next, out, err);
		if (e < 0)
			return e;
	}
	remove_missing(c, conf, out);
	return 0;
}
