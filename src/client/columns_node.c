/* SPDX-License-Identifier: Apache-2.0 */
/* columns_node.c - what each column of sinfo shows for a group of nodes.
 *
 * A group has a partition and nodes that are alike.  Columns of the partition and `key` columns look at the
 * partition and at the first node, which speaks for the others; `range` columns show the smallest value,
 * with a `+` when others have more; `sum` columns count.  A group without nodes stands for a partition in
 * which nothing matched and shows the row's `none`. */
#include "client/columns_node.h"

#include "base/buf.h"
#include "base/str.h"
#include "client/job_text.h"
#include "client/node_text.h"
#include "schema/node.h"
#include "text/duration.h"
#include "text/hostlist.h"

#include <ctype.h>
#include <string.h>

#define VALUE(name)                                                                                \
	static void name(UNUSED const struct show_context *c, const struct node_group *g,          \
			 struct buf *out)
/* The value of one node, or of the first of several that are equal in it. */
#define NODE_VALUE(fn, expr)                                                                       \
	VALUE(fn)                                                                                  \
	{                                                                                          \
		if (g->count) {                                                                    \
			const struct node *n = g->nodes[0];                                        \
			expr;                                                                      \
		}                                                                                  \
	}

static void put_text(const char *s, struct buf *out)
{
	if (s)
		buf_puts(out, s);
}

/* Lower case, as sinfo prints words that the configuration has in capitals. */
static void put_lower(const char *s, struct buf *out)
{
	for (; s && *s; s++)
		buf_putc(out, (char)tolower((unsigned char)*s));
}

/* ---- the partition ----------------------------------------------------------------------------- */

VALUE(alloc_nodes)
{
	const char *s = g->partition->conf.alloc_nodes;
	if (!str_ieq(s, "ALL"))
		put_text(s, out);
}

VALUE(available)
{
	buf_puts(out, enum_short(&partition_state_enum, g->partition->conf.state));
}

static void put_limit(usec_t limit, struct buf *out)
{
	char text[DURATION_TEXT];
	if (!limit)
		return;
	duration_print(limit, text);
	buf_puts(out, text);
}

VALUE(default_time)
{
	put_limit(g->partition->conf.default_time, out);
}

VALUE(time_limit)
{
	put_limit(g->partition->conf.max_time, out);
}

VALUE(groups)
{
	const char *s = g->partition->conf.allow_groups;
	if (!str_ieq(s, "ALL"))
		put_text(s, out);
}

VALUE(max_cpus_per_node)
{
	if (g->partition->conf.max_cpus_per_node)
		text_put_u64(out, g->partition->conf.max_cpus_per_node);
}

VALUE(oversubscribe)
{
	if (g->partition->conf.exclusive == EXCLUSIVE_KIND_NODE)
		buf_puts(out, "EXCLUSIVE");
	else
		put_text(g->partition->conf.oversubscribe, out);
}

VALUE(partition_name)
{
	buf_puts(out, g->partition->conf.name);
}

VALUE(partition)
{
	partition_name(c, g, out);
	if (g->partition->conf.is_default)
		buf_putc(out, '*');
}

VALUE(preempt_mode)
{
	put_text(g->partition->conf.preempt_mode, out);
}

VALUE(priority_job_factor)
{
	text_put_u64(out, g->partition->conf.priority_job_factor);
}

VALUE(priority_tier)
{
	text_put_u64(out, g->partition->conf.priority_tier);
}

VALUE(root)
{
	buf_puts(out, g->partition->conf.root_only ? "yes" : "no");
}

VALUE(size)
{
	uint32_t min = g->partition->conf.min_nodes ? g->partition->conf.min_nodes : 1;
	uint32_t max = g->partition->conf.max_nodes;
	text_put_u64(out, min);
	if (!max)
		buf_puts(out, "-infinite");
	else if (max != min)
		buf_printf(out, "-%u", max);
}

/* ---- one node for all -------------------------------------------------------------------------- */

NODE_VALUE(alloc_mem, text_put_u64(out, n->used_mem_mib))
NODE_VALUE(comment, put_text(n->comment, out))
NODE_VALUE(extra, put_text(n->extra, out))
NODE_VALUE(features, put_text(n->conf.features, out))
NODE_VALUE(active_features, put_text(node_active_features(n), out))
NODE_VALUE(gres, node_print_gres(n, out))
NODE_VALUE(gres_used, node_print_gres_used(n, out))
NODE_VALUE(node_addr, put_text(node_address(n), out))
NODE_VALUE(host_name, put_text(node_hostname(n), out))
NODE_VALUE(port, text_put_u64(out, n->conf.port))
NODE_VALUE(reason, put_text(n->reason, out))
NODE_VALUE(version, put_text(n->facts.version, out))

VALUE(state_short)
{
	if (!g->count)
		return;
	AUTO_BUF struct buf word = {};
	node_status_print_word(node_status_of(g->nodes[0]), true, &word);
	put_lower(buf_text(&word), out);
}

VALUE(state)
{
	if (!g->count)
		return;
	AUTO_BUF struct buf word = {};
	node_status_print_word(node_status_of(g->nodes[0]), false, &word);
	put_lower(buf_text(&word), out);
}

VALUE(state_complete)
{
	if (!g->count)
		return;
	AUTO_BUF struct buf word = {};
	node_status_print(node_status_of(g->nodes[0]), &word);
	put_lower(buf_text(&word), out);
}

static bool has_reason(const struct node_group *g)
{
	return g->count && !str_empty(g->nodes[0]->reason);
}

VALUE(timestamp)
{
	if (has_reason(g))
		text_put_time(c, g->nodes[0]->reason_time, "Unknown", out);
}

VALUE(user)
{
	if (has_reason(g))
		node_print_user(g->nodes[0], out);
}

VALUE(user_long)
{
	if (!has_reason(g))
		return;
	node_print_user(g->nodes[0], out);
	buf_printf(out, "(%u)", g->nodes[0]->reason_uid);
}

/* ---- ranges ------------------------------------------------------------------------------------ */

typedef uint64_t (*measure_fn)(const struct node *n);

static void put_range(const struct node_group *g, measure_fn measure, struct buf *out)
{
	if (!g->count)
		return;
	uint64_t min = measure(g->nodes[0]), max = min;
	for (uint32_t i = 1; i < g->count; i++) {
		uint64_t v = measure(g->nodes[i]);
		min = v < min ? v : min;
		max = v > max ? v : max;
	}
	text_put_u64(out, min);
	if (max > min)
		buf_putc(out, '+');
}

#define MEASURE(name, expr)                                                                        \
	static uint64_t name##_of(const struct node *n)                                            \
	{                                                                                          \
		return expr;                                                                       \
	}                                                                                          \
	VALUE(name)                                                                                \
	{                                                                                          \
		put_range(g, name##_of, out);                                                      \
	}

MEASURE(cores, n->conf.cores_per_socket)
MEASURE(cpus, node_cpus(n))
MEASURE(tmp_disk, n->conf.tmp_disk_mib)
MEASURE(memory, n->conf.real_memory_mib)
MEASURE(sockets, n->conf.sockets)
MEASURE(threads, n->conf.threads_per_core)
MEASURE(weight, n->conf.weight)

VALUE(sct)
{
	if (!g->count)
		return;
	sockets(c, g, out);
	buf_putc(out, ':');
	cores(c, g, out);
	buf_putc(out, ':');
	threads(c, g, out);
}

/* Load and free memory say both ends. */
VALUE(cpu_load)
{
	bool any = false;
	double min = 0, max = 0;
	for (uint32_t i = 0; i < g->count; i++) {
		double v = g->nodes[i]->cpu_load;
		if (!g->nodes[i]->last_response)
			continue;
		min = !any || v < min ? v : min;
		max = !any || v > max ? v : max;
		any = true;
	}
	if (any && max - min < 0.005)
		buf_printf(out, "%.2f", min);
	else if (any)
		buf_printf(out, "%.2f-%.2f", min, max);
}

VALUE(free_mem)
{
	bool any = false;
	uint64_t min = 0, max = 0;
	for (uint32_t i = 0; i < g->count; i++) {
		uint64_t v = g->nodes[i]->free_mem_mib;
		if (!v) /* nothing is known before the first heartbeat */
			continue;
		min = !any || v < min ? v : min;
		max = !any || v > max ? v : max;
		any = true;
	}
	if (any)
		text_put_u64(out, min);
	if (any && max > min)
		buf_printf(out, "-%llu", (unsigned long long)max);
}

/* ---- sums -------------------------------------------------------------------------------------- */

struct aiot {
	uint32_t alloc, idle, other, total;
};

static struct aiot count_cpus(const struct node_group *g)
{
	struct aiot t = {};
	for (uint32_t i = 0; i < g->count; i++) {
		const struct node *n = g->nodes[i];
		uint32_t all = node_cpus(n), used = node_cpus_used(n);
		uint32_t rest = all > used ? all - used : 0;
		t.alloc += used;
		t.total += all;
		if (node_status_is_out(node_status_of(n)))
			t.other += rest;
		else
			t.idle += rest;
	}
	return t;
}

static struct aiot count_nodes(const struct node_group *g)
{
	struct aiot t = { .total = g->count };
	for (uint32_t i = 0; i < g->count; i++) {
		struct node_status s = node_status_of(g->nodes[i]);
		if (s.base != NODE_STATE_DOWN && node_status_is_busy(s))
			t.alloc++;
		else if (node_status_is_out(s))
			t.other++;
		else
			t.idle++;
	}
	return t;
}

VALUE(cpus_state)
{
	struct aiot t = count_cpus(g);
	buf_printf(out, "%u/%u/%u/%u", t.alloc, t.idle, t.other, t.total);
}

VALUE(nodes_ai)
{
	struct aiot t = count_nodes(g);
	buf_printf(out, "%u/%u", t.alloc, t.idle);
}

VALUE(nodes_aiot)
{
	struct aiot t = count_nodes(g);
	buf_printf(out, "%u/%u/%u/%u", t.alloc, t.idle, t.other, t.total);
}

VALUE(node_list)
{
	VEC(char *) names = {};
	for (uint32_t i = 0; i < g->count; i++)
		vec_push(&names, g->nodes[i]->conf.name);
	struct hostlist h = { names.at, g->count };
	hostlist_sort(&h);
	hostlist_compress(h.names, h.count, out);
	vec_done(&names);
}

VALUE(nodes)
{
	text_put_u64(out, g->count);
}

/* ---- the table --------------------------------------------------------------------------------- */

static void (*const node_values[])(const struct show_context *, const struct node_group *,
				   struct buf *) = {
	[COLUMN_VALUE_ALLOC_MEM] = alloc_mem,
	[COLUMN_VALUE_ALLOC_NODES] = alloc_nodes,
	[COLUMN_VALUE_AVAILABLE] = available,
	[COLUMN_VALUE_COMMENT] = comment,
	[COLUMN_VALUE_CORES] = cores,
	[COLUMN_VALUE_CPUS] = cpus,
	[COLUMN_VALUE_CPU_LOAD] = cpu_load,
	[COLUMN_VALUE_CPUS_STATE] = cpus_state,
	[COLUMN_VALUE_DEFAULT_TIME] = default_time,
	[COLUMN_VALUE_TMP_DISK] = tmp_disk,
	[COLUMN_VALUE_EXTRA] = extra,
	[COLUMN_VALUE_FEATURES] = features,
	[COLUMN_VALUE_ACTIVE_FEATURES] = active_features,
	[COLUMN_VALUE_FREE_MEM] = free_mem,
	[COLUMN_VALUE_GRES] = gres,
	[COLUMN_VALUE_GRES_USED] = gres_used,
	[COLUMN_VALUE_GROUPS] = groups,
	[COLUMN_VALUE_MAX_CPUS_PER_NODE] = max_cpus_per_node,
	[COLUMN_VALUE_MEMORY] = memory,
	[COLUMN_VALUE_NODES_AI] = nodes_ai,
	[COLUMN_VALUE_NODES_AIOT] = nodes_aiot,
	[COLUMN_VALUE_NODE_ADDR] = node_addr,
	[COLUMN_VALUE_HOST_NAME] = host_name,
	[COLUMN_VALUE_NODE_LIST] = node_list,
	[COLUMN_VALUE_NODES] = nodes,
	[COLUMN_VALUE_OVERSUBSCRIBE] = oversubscribe,
	[COLUMN_VALUE_PARTITION] = partition,
	[COLUMN_VALUE_PARTITION_NAME] = partition_name,
	[COLUMN_VALUE_PORT] = port,
	[COLUMN_VALUE_PREEMPT_MODE] = preempt_mode,
	[COLUMN_VALUE_PRIORITY_JOB_FACTOR] = priority_job_factor,
	[COLUMN_VALUE_PRIORITY_TIER] = priority_tier,
	[COLUMN_VALUE_REASON] = reason,
	[COLUMN_VALUE_ROOT] = root,
	[COLUMN_VALUE_SIZE] = size,
	[COLUMN_VALUE_SCT] = sct,
	[COLUMN_VALUE_SOCKETS] = sockets,
	[COLUMN_VALUE_STATE_SHORT] = state_short,
	[COLUMN_VALUE_STATE_COMPLETE] = state_complete,
	[COLUMN_VALUE_STATE] = state,
	[COLUMN_VALUE_THREADS] = threads,
	[COLUMN_VALUE_TIME_LIMIT] = time_limit,
	[COLUMN_VALUE_TIMESTAMP] = timestamp,
	[COLUMN_VALUE_USER] = user,
	[COLUMN_VALUE_USER_LONG] = user_long,
	[COLUMN_VALUE_VERSION] = version,
	[COLUMN_VALUE_WEIGHT] = weight,
};

bool node_column_is_known(const struct column_row *row)
{
	return row->value == COLUMN_VALUE_ABSENT ||
	       ((size_t)row->value < ARRAY_COUNT(node_values) && node_values[row->value]);
}

void node_column(const void *ctx, const void *obj, const struct column_row *row, struct buf *out)
{
	if (node_column_is_known(row) && row->value != COLUMN_VALUE_ABSENT)
		node_values[row->value](ctx, obj, out);
}

bool node_column_number(const struct node_group *g, const struct column_row *row, int64_t *ret)
{
	const struct node *n = g->count ? g->nodes[0] : NULL;
	if (row->value == COLUMN_VALUE_STATE || row->value == COLUMN_VALUE_STATE_SHORT)
		*ret = n ? node_status_number(node_status_of(n)) : 0;
	else if (row->value == COLUMN_VALUE_NODES)
		*ret = g->count;
	else if (row->value == COLUMN_VALUE_TIMESTAMP)
		*ret = n ? n->reason_time : 0;
	else if (row->value == COLUMN_VALUE_CPUS)
		*ret = n ? node_cpus(n) : 0;
	else if (row->value == COLUMN_VALUE_MEMORY)
		*ret = n ? (int64_t)n->conf.real_memory_mib : 0;
	else if (row->value == COLUMN_VALUE_WEIGHT)
		*ret = n ? n->conf.weight : 0;
	else if (row->value == COLUMN_VALUE_TMP_DISK)
		*ret = n ? (int64_t)n->conf.tmp_disk_mib : 0;
	else if (row->value == COLUMN_VALUE_TIME_LIMIT)
		*ret = g->partition->conf.max_time ? g->partition->conf.max_time : INT64_MAX;
	else if (row->value == COLUMN_VALUE_PRIORITY_TIER)
		*ret = g->partition->conf.priority_tier;
	else
		return false;
	return true;
}
