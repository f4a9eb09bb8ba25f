/* SPDX-License-Identifier: Apache-2.0 */
/* PartitionName lines.  Nodes= is kept as written while lines are read; when all nodes are known it
 * becomes the plain list of their names in the order of the file, without ALL and NodeSets. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "conf/loader.h"
#include "text/billing.h"
#include "text/duration.h"
#include "text/hostlist.h"

#include <string.h>

static bool is_given(const struct lex_line *line, const char *key)
{
	for (size_t i = 1; i < line->count; i++)
		if (str_ieq(line->pairs[i].key, key))
			return true;
	return false;
}

/* Memory per CPU and per node exclude each other; one given here replaces the other of DEFAULT. */
static bool memory_choose(struct loader *ld, const char *where, const struct lex_line *line,
			  struct partition_conf *p)
{
	const struct {
		const char *cpu_key, *node_key;
		bool *has_cpu, *has_node;
	} rows[] = {
		{ "DefMemPerCPU", "DefMemPerNode", &p->has_def_mem_per_cpu_mib,
		  &p->has_def_mem_per_node_mib },
		{ "MaxMemPerCPU", "MaxMemPerNode", &p->has_max_mem_per_cpu_mib,
		  &p->has_max_mem_per_node_mib },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		bool cpu = is_given(line, rows[i].cpu_key), node = is_given(line, rows[i].node_key);
		if (cpu && node) {
			report(ld, where, "%s and %s exclude each other: give one of them",
			       rows[i].cpu_key, rows[i].node_key);
			return false;
		}
		*rows[i].has_cpu &= !node;
		*rows[i].has_node &= !cpu;
	}
	return true;
}

static bool check_limits(struct loader *ld, const char *where, const struct partition_conf *p)
{
	if (p->max_time && p->default_time > p->max_time) {
		char given[DURATION_TEXT], max[DURATION_TEXT];
		duration_print_long(p->default_time, given);
		duration_print_long(p->max_time, max);
		report(ld, where, "DefaultTime=%s is longer than MaxTime=%s", given, max);
		return false;
	}
	if (p->oversubscribe && !str_ieq(p->oversubscribe, "NO") && !str_ieq(p->oversubscribe, "EXCLUSIVE") &&
	    !str_ends(p->oversubscribe, ":1")) {
		report(ld, where, "OverSubscribe=%s: sharing CPUs is not built yet: write NO or EXCLUSIVE",
		       p->oversubscribe);
		return false;
	}
	struct error err = {};
	struct hostlist hosts;
	if (p->alloc_nodes && !str_ieq(p->alloc_nodes, "ALL") &&
	    hostlist_expand(p->alloc_nodes, ld->arena, &hosts, &err) < 0) {
		report(ld, where, "AllocNodes=%s: %s", p->alloc_nodes, err.text);
		return false;
	}
	if (p->tres_billing_weights && billing_check(p->tres_billing_weights, &err) < 0) {
		report(ld, where, "TRESBillingWeights=%s: %s", p->tres_billing_weights, err.text);
		return false;
	}
	if (p->exclusive > EXCLUSIVE_KIND_USER) {
		report(ld, where, "Exclusive=%s is not built yet: write NO, NODE or USER",
		       enum_text(&exclusive_kind_enum, (int)p->exclusive));
		return false;
	}
	if (p->max_nodes && p->min_nodes > p->max_nodes) {
		report(ld, where, "MinNodes=%u is more than MaxNodes=%u", p->min_nodes, p->max_nodes);
		return false;
	}
	return true;
}

static bool name_take(struct loader *ld, const char *where, const char *name)
{
	if (strpbrk(name, ",[] ")) {
		report(ld, where, "PartitionName=%.100s: a line is about one partition", name);
		return false;
	}
	uintptr_t before = (uintptr_t)map_get_str(&ld->conf->partition_index, name);
	if (before) {
		report(ld, where, "partition %s is configured twice, first in %s", name,
		       ld->partitions.at[before - 1].where);
		return false;
	}
	uintptr_t at = ld->partitions.count + 1;
	map_put_str(&ld->conf->partition_index, name, (void *)at);
	return true;
}

void partition_read(struct loader *ld, const struct source *src, const struct lex_line *line)
{
	struct partition_line l = { .conf = ld->partition_default,
				    .where = where_is(ld, src, line->line) };
	if (!line_set(ld, &partition_conf_record, &l.conf, src, line) ||
	    !memory_choose(ld, l.where, line, &l.conf))
		return;
	if (is_default_line(line))
		ld->partition_default = l.conf;
	else if (check_limits(ld, l.where, &l.conf) && name_take(ld, l.where, l.conf.name))
		vec_push(&ld->partitions, l);
}

/* ---- when all nodes are known --------------------------------------------------------------------- */

static void nodes_name(struct loader *ld, struct partition_line *l)
{
	struct bitset nodes;
	if (!l->conf.nodes || !nodes_find(ld, l->where, "Nodes", l->conf.nodes, &nodes))
		return;
	VEC(char *) names = {};
	AUTO_BUF struct buf text = {};
	for (uint32_t i = bitset_next(&nodes, 0); i != BITSET_NONE; i = bitset_next(&nodes, i + 1))
		vec_push(&names, ld->nodes.at[i].name);
	hostlist_compress(names.at, (uint32_t)names.count, &text);
	vec_done(&names);
	l->conf.nodes = arena_strdup(ld->arena, buf_text(&text));
}

/* Jobs that name no partition go to one; the last line that wants to be it is. */
static void default_choose(struct loader *ld)
{
	struct partition_line *chosen = NULL;
	for (size_t i = 0; i < ld->partitions.count; i++) {
		struct partition_line *l = &ld->partitions.at[i];
		if (!l->conf.is_default)
			continue;
		if (chosen) {
			remark(ld, l->where, "Default=YES: this replaces partition %s as the default",
			       chosen->conf.name);
			chosen->conf.is_default = false;
		}
		chosen = l;
	}
	if (!chosen)
		remark(ld, ld->partitions.at[0].where,
		       "no partition has Default=YES: every job must name one");
}

void partitions_join(struct loader *ld)
{
	if (ld->partitions.count == 0) {
		report(ld, NULL, "there is no PartitionName line in '%s'", ld->conf->path);
		return;
	}
	default_choose(ld);
	ld->conf->partitions = ARENA_ARRAY(ld->arena, struct partition_conf, ld->partitions.count);
	ld->conf->partition_count = ld->partitions.count;
	for (size_t i = 0; i < ld->partitions.count; i++) {
		nodes_name(ld, &ld->partitions.at[i]);
		ld->conf->partitions[i] = ld->partitions.at[i].conf;
	}
}
