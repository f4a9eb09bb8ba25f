/* SPDX-License-Identifier: Apache-2.0 */
/* NodeName, NodeSet and DownNodes lines.
 *
 * A NodeName line is read into one record, checked and completed once, and then copied for every
 * node it names; texts are shared between the copies.  Rows with each=yes (addresses, ports) are
 * lists that run in parallel to the names.  Sockets, cores, threads and CPUs are derived from what is
 * given, as slurm.conf(5) has it: CPUs is the product of the others, or the number of cores where
 * only cores are to be scheduled; CPUs alone means that many sockets of one core. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "conf/loader.h"
#include "conf/value.h"
#include "text/hostlist.h"
#include "text/idset.h"

#include <string.h>

enum { NODES_MAX = 1 << 16, EACH_MAX = 8, CPUS_MAX = 65536 };

struct each { /* a row with each=yes and its list */
	const struct field *field;
	const char *text;
	uint32_t line;
	struct hostlist list;
};

struct node_text { /* a NodeName line before it is spread over its nodes */
	const struct source *src;
	const char *where;
	struct node_conf conf;
	struct each each[EACH_MAX];
	size_t each_count;
};

bool is_default_line(const struct lex_line *line)
{
	return str_ieq(line->pairs[0].value, "DEFAULT");
}

/* ---- one line ------------------------------------------------------------------------------------- */

static bool is_given(const struct lex_line *line, size_t upto, const char *key)
{
	for (size_t i = 0; i < upto; i++)
		if (str_ieq(line->pairs[i].key, key))
			return true;
	return false;
}

static bool read_pairs(struct loader *ld, const struct lex_line *line, struct node_text *t)
{
	bool good = true, is_default = is_default_line(line);
	for (size_t i = 1; i < line->count; i++) {
		struct lex_pair pair = line->pairs[i];
		const struct field *f = pair_field(ld, &node_conf_record, t->src, &pair);
		if (!f || is_given(line, i, line->pairs[i].key)) {
			if (f)
				report(ld, where_is(ld, t->src, pair.line),
				       "%s is given twice on this line", f->key);
			good = false;
		} else if (!is_default && field_says(f, "each", "yes") && t->each_count < EACH_MAX) {
			t->each[t->each_count++] = (struct each){ f, pair.value, pair.line, {} };
		} else {
			good &= pair_set(ld, f, &t->conf, t->src, &pair);
		}
	}
	return good;
}

static bool sockets_agree(struct loader *ld, const char *where, struct node_conf *n)
{
	if (!n->sockets_per_board)
		return true;
	uint64_t sockets = (uint64_t)n->boards * n->sockets_per_board;
	if (n->sockets && n->sockets != sockets) {
		report(ld, where, "Sockets=%u is not Boards=%u times SocketsPerBoard=%u", n->sockets,
		       n->boards, n->sockets_per_board);
		return false;
	}
	n->sockets = sockets <= CPUS_MAX ? (uint32_t)sockets : CPUS_MAX + 1;
	return true;
}

/* Sockets that were not given follow from CPUs. */
static bool sockets_derive(struct loader *ld, const char *where, struct node_conf *n)
{
	uint64_t threads = (uint64_t)n->cores_per_socket * n->threads_per_core;
	if (n->sockets)
		return true;
	if (!n->cpus)
		n->sockets = n->boards;
	else if (n->cpus % threads == 0)
		n->sockets = (uint32_t)(n->cpus / threads);
	else if (n->cpus % n->cores_per_socket == 0)
		n->sockets = n->cpus / n->cores_per_socket;
	else {
		report(ld, where, "CPUs=%u is no multiple of CoresPerSocket=%u: give Sockets too", n->cpus,
		       n->cores_per_socket);
		return false;
	}
	return true;
}

static bool cpus_derive(struct loader *ld, const char *where, struct node_conf *n)
{
	if (!n->cores_per_socket)
		n->cores_per_socket = 1;
	if (!sockets_agree(ld, where, n) || !sockets_derive(ld, where, n))
		return false;
	uint64_t cores = (uint64_t)n->sockets * n->cores_per_socket;
	uint64_t threads = cores * n->threads_per_core; /* each factor has 16 bits: no overflow */
	if (threads > CPUS_MAX) {
		report(ld, where, "Sockets=%u CoresPerSocket=%u ThreadsPerCore=%u are more than %d CPUs",
		       n->sockets, n->cores_per_socket, n->threads_per_core, CPUS_MAX);
		return false;
	}
	if (!n->cpus)
		n->cpus = (uint32_t)threads;
	if (n->cpus != threads && n->cpus != cores) {
		report(ld, where,
		       "CPUs=%u does not fit Sockets=%u CoresPerSocket=%u ThreadsPerCore=%u: write CPUs=%llu%s",
		       n->cpus, n->sockets, n->cores_per_socket, n->threads_per_core,
		       (unsigned long long)threads, cores != threads ? ", or the number of cores" : "");
		return false;
	}
	n->sockets_per_board = n->sockets / n->boards;
	return true;
}

static bool check_line(struct loader *ld, struct node_text *t)
{
	struct node_conf *n = &t->conf;
	bool good = cpus_derive(ld, t->where, n);
	if (n->core_spec_count && n->cpu_spec_list) {
		report(ld, t->where, "CoreSpecCount and CpuSpecList exclude each other: give one of them");
		good = false;
	}
	if (n->core_spec_count && n->core_spec_count >= n->sockets * n->cores_per_socket) {
		report(ld, t->where, "CoreSpecCount=%u leaves nothing of %u cores", n->core_spec_count,
		       n->sockets * n->cores_per_socket);
		good = false;
	}
	struct array_spec cpus;
	if (n->cpu_spec_list && array_parse(n->cpu_spec_list, n->cpus, ld->arena, &cpus, NULL) < 0) {
		report(ld, t->where, "CpuSpecList=%s: write numbers of CPUs below %u, as in 0,2-3", n->cpu_spec_list,
		       n->cpus);
		good = false;
	}
	if (n->mem_spec_limit_mib && n->mem_spec_limit_mib >= n->real_memory_mib) {
		report(ld, t->where, "MemSpecLimit=%llu leaves nothing of RealMemory=%llu",
		       (unsigned long long)n->mem_spec_limit_mib, (unsigned long long)n->real_memory_mib);
		good = false;
	}
	if (str_eq(n->state, "CLOUD") || str_eq(n->state, "FUTURE"))
		remark(ld, t->where, "State=%s: understood, has no effect yet", n->state);
	return good;
}

/* ---- from a line to its nodes --------------------------------------------------------------------- */

/* Port=7001-7010 is written without brackets too. */
static const char *as_hostlist(struct loader *ld, const struct each *e)
{
	if (e->field->kind == FIELD_STR || strchr(e->text, '['))
		return e->text;
	return arena_printf(ld->arena, "[%s]", e->text);
}

static bool expand(struct loader *ld, const char *where, const char *key, const char *text,
		   struct hostlist *ret)
{
	struct error err;
	if (hostlist_expand(text, ld->arena, ret, &err) < 0) {
		report(ld, where, "%s=%.100s: %s", key, text, err.text);
		return false;
	}
	return true;
}

static bool expand_each(struct loader *ld, struct node_text *t, uint32_t nodes)
{
	bool good = true;
	for (size_t i = 0; i < t->each_count; i++) {
		struct each *e = &t->each[i];
		const char *where = where_is(ld, t->src, e->line);
		if (field_says(e->field, "use", "no"))
			remark(ld, where, "%s: understood, has no effect yet", e->field->key);
		if (!expand(ld, where, e->field->key, as_hostlist(ld, e), &e->list)) {
			good = false;
		} else if (e->list.count != 1 && e->list.count != nodes) {
			report(ld, where, "%s=%.100s: %u of them for %u nodes", e->field->key, e->text,
			       e->list.count, nodes);
			good = false;
		}
	}
	return good;
}

static bool set_each(struct loader *ld, const struct node_text *t, struct node_conf *n, uint32_t i)
{
	for (size_t k = 0; k < t->each_count; k++) {
		const struct each *e = &t->each[k];
		struct error err;
		if (value_set(e->field, n, e->list.names[e->list.count == 1 ? 0 : i], ld->arena, &err) < 0) {
			report(ld, where_is(ld, t->src, e->line), "%s", err.text);
			return false;
		}
	}
	return true;
}

static const char *where_node(const struct loader *ld, size_t index)
{
	size_t i = ld->node_lines.count - 1;
	while (ld->node_lines.at[i].first > index)
		i--;
	return ld->node_lines.at[i].where;
}

/* Enters the name; says where it stands already. */
static bool node_name_take(struct loader *ld, const char *where, const char *name)
{
	if (str_ieq(name, "ALL") || str_ieq(name, "DEFAULT")) {
		report(ld, where, "NodeName=%s: this word means something else in node lists", name);
		return false;
	}
	uintptr_t before = (uintptr_t)map_get_str(&ld->conf->node_index, name);
	if (before) {
		report(ld, where, "node %s is configured twice, first in %s", name,
		       where_node(ld, before - 1));
		return false;
	}
	uintptr_t at = ld->nodes.count + 1;
	map_put_str(&ld->conf->node_index, name, (void *)at);
	return true;
}

static void spread(struct loader *ld, struct node_text *t, const struct hostlist *names)
{
	vec_push(&ld->node_lines, (struct node_line){ ld->nodes.count, names->count, t->where });
	vec_reserve(&ld->nodes, ld->nodes.count + names->count);
	for (uint32_t i = 0; i < names->count; i++) {
		struct node_conf n = t->conf;
		n.name = names->names[i];
		if (!set_each(ld, t, &n, i) || !node_name_take(ld, t->where, n.name))
			return;
		vec_push(&ld->nodes, n);
	}
}

void node_read(struct loader *ld, const struct source *src, const struct lex_line *line)
{
	struct node_text t = { .src = src,
			       .where = where_is(ld, src, line->line),
			       .conf = ld->node_default };
	bool good = read_pairs(ld, line, &t);
	if (is_default_line(line)) {
		if (good)
			ld->node_default = t.conf;
		return;
	}
	struct hostlist names;
	if (!good || !check_line(ld, &t) ||
	    !expand(ld, t.where, "NodeName", line->pairs[0].value, &names) ||
	    !expand_each(ld, &t, names.count))
		return;
	if (names.count == 0)
		report(ld, t.where, "NodeName names no node");
	else if (ld->nodes.count + names.count > NODES_MAX)
		report(ld, t.where, "more than %d nodes", NODES_MAX);
	else
		spread(ld, &t, &names);
}

void nodeset_read(struct loader *ld, const struct source *src, const struct lex_line *line)
{
	struct nodeset_line l = { .where = where_is(ld, src, line->line) };
	if (!line_set(ld, &nodeset_conf_record, &l.conf, src, line))
		return;
	if (!l.conf.nodes && !l.conf.feature)
		report(ld, l.where, "NodeSet=%s needs Nodes= or Feature=", l.conf.name);
	else
		vec_push(&ld->nodesets, l);
}

void down_read(struct loader *ld, const struct source *src, const struct lex_line *line)
{
	struct down_line l = { .where = where_is(ld, src, line->line) };
	value_defaults(&down_conf_record, &l.conf, false, ld->arena);
	if (line_set(ld, &down_conf_record, &l.conf, src, line))
		vec_push(&ld->downs, l);
}

/* ---- when all lines are known --------------------------------------------------------------------- */

static const struct nodeset_line *nodeset_find(const struct loader *ld, const char *name)
{
	for (size_t i = 0; i < ld->nodesets.count; i++)
		if (str_eq(ld->nodesets.at[i].conf.name, name))
			return &ld->nodesets.at[i];
	return NULL;
}

static bool nodes_add(struct loader *ld, const char *name, struct bitset *ret)
{
	uintptr_t at = (uintptr_t)map_get_str(&ld->conf->node_index, name);
	const struct nodeset_line *set;
	if (at)
		bitset_add(ret, (uint32_t)(at - 1));
	else if (str_ieq(name, "ALL"))
		bitset_fill(ret);
	else if ((set = nodeset_find(ld, name)) && set->members.bits)
		bitset_or(ret, &set->members);
	else
		return false;
	return true;
}

bool nodes_find(struct loader *ld, const char *where, const char *key, const char *text,
		struct bitset *ret)
{
	struct hostlist names;
	bitset_init_in(ret, (uint32_t)ld->nodes.count, ld->arena);
	if (!expand(ld, where, key, text, &names))
		return false;
	for (uint32_t i = 0; i < names.count; i++) {
		if (nodes_add(ld, names.names[i], ret))
			continue;
		report(ld, where, "%s=%.100s: node %s is not configured: give it a NodeName line", key,
		       text, names.names[i]);
		return false;
	}
	return true;
}

static bool has_feature(const struct node_conf *n, const char *feature)
{
	size_t len = strlen(feature);
	for (const char *p = n->features; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (strncmp(p, feature, len) == 0 && (p[len] == ',' || p[len] == '\0'))
			return true;
	return false;
}

static void nodeset_join(struct loader *ld, struct nodeset_line *l)
{
	struct bitset members;
	if (map_get_str(&ld->conf->node_index, l->conf.name)) {
		report(ld, l->where, "NodeSet=%s: a node has this name", l->conf.name);
		return;
	}
	if (!nodes_find(ld, l->where, "Nodes", l->conf.nodes ? l->conf.nodes : "", &members))
		return;
	for (size_t i = 0; l->conf.feature && i < ld->nodes.count; i++)
		if (has_feature(&ld->nodes.at[i], l->conf.feature))
			bitset_add(&members, (uint32_t)i);
	l->members = members;
}

static void down_join(struct loader *ld, const struct down_line *l)
{
	struct bitset nodes;
	if (!nodes_find(ld, l->where, "DownNodes", l->conf.nodes, &nodes))
		return;
	for (uint32_t i = bitset_next(&nodes, 0); i != BITSET_NONE; i = bitset_next(&nodes, i + 1)) {
		ld->nodes.at[i].state = l->conf.state;
		ld->nodes.at[i].reason = l->conf.reason;
	}
}

static void addresses_join(struct loader *ld)
{
	for (size_t i = 0; i < ld->nodes.count; i++) {
		struct node_conf *n = &ld->nodes.at[i];
		n->hostname = n->hostname ? n->hostname : n->name;
		n->addr = n->addr ? n->addr : n->hostname;
		n->port = n->port ? n->port : ld->conf->main.slurmd_port;
	}
}

void nodes_join(struct loader *ld)
{
	if (ld->nodes.count == 0) {
		report(ld, NULL, "there is no NodeName line in '%s'", ld->conf->path);
		return;
	}
	addresses_join(ld);
	for (size_t i = 0; i < ld->nodesets.count; i++)
		nodeset_join(ld, &ld->nodesets.at[i]);
	for (size_t i = 0; i < ld->downs.count; i++)
		down_join(ld, &ld->downs.at[i]);
	for (size_t i = 0; i < ld->node_lines.count; i++) {
		const struct node_line *l = &ld->node_lines.at[i];
		gres_check_node(ld, l->where, ld->nodes.at[l->first].gres);
	}
	ld->conf->nodes = arena_dup(ld->arena, ld->nodes.at, ld->nodes.count * sizeof(*ld->nodes.at));
	ld->conf->node_count = ld->nodes.count;
}
