/* SPDX-License-Identifier: Apache-2.0 */
/* node_groups.c - putting nodes that look the same on one line of sinfo.
 *
 * For each partition and each of its nodes that passes the filter, the texts of the columns that must agree
 * are put together into a key, and the key finds the line.  The key is printed by the very functions that
 * print the columns, so what is on one line is equal to the reader's eyes by construction.  Without a
 * column of the partition in the format a node may reach a line from two partitions; it counts once. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/str.h"
#include "client/columns_node.h"
#include "schema/messages.h"

struct grouping {
	struct node_groups *groups;
	const struct table *table;
	const struct node_filter *filter;
	const struct show_context *context;
	struct arena *arena;
	uint32_t node_count;
	struct map by_key;
	struct buf key;
};

static bool is_named(char *const *names, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (str_eq(names[i], name))
			return true;
	return count == 0;
}

static bool node_passes(const struct node_filter *f, const struct node *n)
{
	struct node_status s = node_status_of(n);
	if (f->responding && node_status_has(s, NODE_FLAG_NO_RESPOND))
		return false;
	if (f->dead && !node_status_has(s, NODE_FLAG_NO_RESPOND))
		return false;
	if (f->with_reason && (str_empty(n->reason) || !node_status_is_out(s)))
		return false;
	if (f->states && !node_states_match(f->states, s))
		return false;
	return !f->names || is_named(f->names, f->name_count, n->conf.name);
}

static bool partition_passes(const struct node_filter *f, const struct partition *p)
{
	if (f->partition_count)
		return is_named(f->partitions, f->partition_count, p->conf.name);
	return f->hidden || !p->conf.hidden;
}

static void build_key(struct grouping *g, const struct node_group *one)
{
	buf_clear(&g->key);
	for (size_t i = 0; i < g->table->columns.count; i++) {
		const struct column_row *row = g->table->columns.at[i].row;
		if (!row || row->merge == COLUMN_MERGE_SUM ||
		    (row->merge == COLUMN_MERGE_RANGE && !g->filter->exact))
			continue;
		node_column(g->context, one, row, &g->key);
		buf_putc(&g->key, '\x1f');
	}
	if (g->filter->per_node) {
		buf_puts(&g->key, one->partition->conf.name);
		buf_putc(&g->key, '\x1f');
		if (one->count)
			buf_puts(&g->key, one->nodes[0]->conf.name);
	}
	if (!one->count)
		buf_puts(&g->key, "\x1fnone");
}

static struct node_group *group_for(struct grouping *g, const struct partition *p, uint32_t pos)
{
	struct node_group *found = map_get_str(&g->by_key, buf_text(&g->key));
	if (found)
		return found;
	found = ARENA_NEW(g->arena, struct node_group);
	found->partition = p;
	found->partition_pos = pos;
	bitset_init_in(&found->members, g->node_count, g->arena);
	map_put_str(&g->by_key, buf_text(&g->key), found);
	vec_push(&g->groups->at, found);
	return found;
}

static void group_add(struct grouping *g, struct node_group *to, const struct node *n,
		      uint32_t index)
{
	if (bitset_has(&to->members, index))
		return;
	bitset_add(&to->members, index);
	if (to->count == to->cap) {
		uint32_t cap = to->cap ? to->cap * 2 : 8;
		const struct node **grown = ARENA_ARRAY(g->arena, const struct node *, cap);
		for (uint32_t i = 0; i < to->count; i++)
			grown[i] = to->nodes[i];
		to->nodes = grown;
		to->cap = cap;
	}
	to->nodes[to->count++] = n;
}

/* A line that says "0 nodes", so that a partition without a match is still seen. */
static bool shows_empty(const struct node_filter *f)
{
	return !f->names && !f->with_reason && !f->per_node && !f->responding && !f->dead;
}

static void add_partition(struct grouping *g, const struct partition *p, uint32_t pos,
			  const struct node_list *nodes)
{
	bool any = false;
	for (uint32_t i = 0; i < nodes->n_nodes; i++) {
		const struct node *n = &nodes->nodes[i];
		if (!bitset_has(&p->nodes, n->index) || !node_passes(g->filter, n))
			continue;
		struct node_group one = { .partition = p, .nodes = &n, .count = 1 };
		build_key(g, &one);
		group_add(g, group_for(g, p, pos), n, i);
		any = true;
	}
	if (any || !shows_empty(g->filter))
		return;
	struct node_group none = { .partition = p };
	build_key(g, &none);
	group_for(g, p, pos);
}

void node_groups_make(struct node_groups *ret, const struct table *t, const struct node_filter *f,
		      const struct show_context *c, const struct node_list *nodes,
		      const struct partition_list *partitions, struct arena *a)
{
	struct grouping g = {
		.groups = ret,
		.table = t,
		.filter = f,
		.context = c,
		.arena = a,
		.node_count = nodes->n_nodes,
	};
	for (uint32_t i = 0; i < partitions->n_partitions; i++)
		if (partition_passes(f, &partitions->partitions[i]))
			add_partition(&g, &partitions->partitions[i], i, nodes);
	map_done(&g.by_key);
	buf_done(&g.key);
}
