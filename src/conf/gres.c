/* SPDX-License-Identifier: Apache-2.0 */
/* gres.conf: which devices there are, on which nodes.
 *
 * A line is kept as written; which nodes it is about and how many devices it names is worked out
 * here once, so that conf_node_gres has only to add up. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "conf/gres.h"
#include "conf/loader.h"
#include "text/gres.h"
#include "text/hostlist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 1024 };

static const char *const flag_words[] = {
	"CountOnly",	    "explicit",	       "one_sharing",	  "all_sharing", "env_uuid",
	"nvidia_gpu_env",   "amd_gpu_env",     "intel_gpu_env",	  "opencl_env",	 "no_gpu_env",
	"nvidia_uuid_env",  "amd_uuid_env",
};

bool conf_has_word(const char *list, const char *word)
{
	size_t len = strlen(word);
	for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (str_istarts(p, word) && (p[len] == ',' || p[len] == '\0'))
			return true;
	return false;
}

/* ---- Gres= of a node ------------------------------------------------------------------------------ */

/* One entry; bandwidth:lustre:no_consume:4G has a word that no request has. */
static int entry_parse(char *text, struct arena *a, struct gres_spec **ret, uint32_t *ret_count,
		       bool *ret_no_consume, struct error *err)
{
	static const char word[] = ":no_consume";
	char *at = strcasestr(text, word);
	*ret_no_consume = at != NULL;
	if (at)
		memmove(at, at + strlen(word), strlen(at + strlen(word)) + 1);
	return gres_parse(text, a, ret, ret_count, err);
}

/* Entries of equal name and type are one. */
static struct gres_entry *entry_of(struct gres_entry *list, uint32_t count, const struct gres_spec *s)
{
	for (uint32_t i = 0; i < count; i++)
		if (str_eq(list[i].spec.name, s->name) && str_eq(list[i].spec.type, s->type))
			return &list[i];
	return NULL;
}

int gres_of_node(const char *text, struct arena *a, struct gres_entry **ret, uint32_t *ret_count,
		 struct error *err)
{
	uint32_t most = 1;
	for (const char *p = text; p && *p; p++)
		most += *p == ',';
	*ret = ARENA_ARRAY(a, struct gres_entry, most);
	*ret_count = 0;
	if (str_empty(text))
		return 0;
	char *rest = arena_strdup(a, text), *word;
	while ((word = strsep(&rest, ","))) {
		struct gres_spec *spec;
		uint32_t count;
		bool no_consume;
		int r = entry_parse(word, a, &spec, &count, &no_consume, err);
		if (r < 0)
			return r;
		if (!count) /* none, or none of them */
			continue;
		struct gres_entry *known = entry_of(*ret, *ret_count, spec);
		if (known)
			known->spec.count += spec->count;
		else
			(*ret)[(*ret_count)++] = (struct gres_entry){ *spec, no_consume };
	}
	return 0;
}

void gres_check_node(struct loader *ld, const char *where, const char *gres)
{
	struct gres_entry *entries;
	uint32_t count;
	struct error err;
	if (gres_of_node(gres, ld->arena, &entries, &count, &err) < 0) {
		report(ld, where, "Gres=%.100s: %s", gres, err.text);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		if (!conf_has_word(ld->conf->main.gres_types, entries[i].spec.name))
			report(ld, where, "Gres=%.100s: %s is not in GresTypes: write GresTypes=%s%s%s", gres,
			       entries[i].spec.name, ld->conf->main.gres_types ? ld->conf->main.gres_types : "",
			       ld->conf->main.gres_types ? "," : "", entries[i].spec.name);
}

/* ---- small languages of a line -------------------------------------------------------------------- */

int cores_parse(const char *text, uint32_t core_count, uint32_t per_core, struct bitset *ret)
{
	for (const char *p = text; *p;) {
		char *end;
		unsigned long first = strtoul(p, &end, 10), last = first;
		if (end == p || *p == '-' || *p == '+' || *p == ' ')
			return -EINVAL;
		if (*end == '-') {
			p = end + 1;
			last = strtoul(p, &end, 10);
			if (end == p || *p == '-' || *p == '+' || *p == ' ' || last < first)
				return -EINVAL;
		}
		if (*end && (*end != ',' || !end[1]))
			return -EINVAL;
		if (last >= core_count)
			return -ERANGE;
		if (ret)
			bitset_add_range(ret, (uint32_t)first * per_core,
					 (uint32_t)(last - first + 1) * per_core);
		p = *end ? end + 1 : end;
	}
	return 0;
}

static bool links_are_good(const char *text)
{
	for (const char *p = text; *p;) {
		char *end;
		long n = strtol(p, &end, 10);
		if (end == p || n < -1 || (*end && *end != ','))
			return false;
		p = *end ? end + 1 : end;
	}
	return true;
}

static bool flags_are_good(struct loader *ld, const struct gres_conf *g)
{
	char *rest = arena_strdup(ld->arena, g->flags), *word;
	while ((word = strsep(&rest, ","))) {
		size_t i = 0;
		while (i < ARRAY_COUNT(flag_words) && !str_ieq(word, flag_words[i]))
			i++;
		if (i < ARRAY_COUNT(flag_words))
			continue;
		const char *close = str_closest(word, flag_words, ARRAY_COUNT(flag_words));
		report(ld, g->where, "Flags=%.60s: unknown flag%s%s%s", word,
		       close ? ", did you mean " : "", close ? close : "", close ? "?" : "");
		return false;
	}
	return true;
}

/* ---- a line --------------------------------------------------------------------------------------- */

/* How many devices File= or MultipleFiles= name. */
static bool files_count(struct loader *ld, struct gres_conf *g)
{
	const char *key = g->file ? "File" : "MultipleFiles", *text = g->file ? g->file : g->multiple_files;
	struct hostlist files;
	struct error err;
	if (!text)
		return true;
	if (g->file && g->multiple_files) {
		report(ld, g->where, "File and MultipleFiles exclude each other: give one of them");
		return false;
	}
	if (hostlist_expand(text, ld->arena, &files, &err) < 0) {
		report(ld, g->where, "%s=%.100s: %s", key, text, err.text);
		return false;
	}
	if (files.count > DEVICES_MAX) {
		report(ld, g->where, "%s=%.100s: %u files, %d is the most", key, text, files.count,
		       DEVICES_MAX);
		return false;
	}
	g->files = g->file ? files.count : 1;
	if (g->has_count && !gres_is_shared(g->name) && g->count != g->files) {
		report(ld, g->where, "Count=%llu, but %s=%.100s is %u devices: leave Count out",
		       (unsigned long long)g->count, key, text, g->files);
		return false;
	}
	return true;
}

static bool line_check(struct loader *ld, struct gres_conf *g)
{
	if (!g->name) {
		if (!g->autodetect)
			report(ld, g->where, "Name= is missing: write Name=gpu or another of GresTypes");
		return g->autodetect != NULL;
	}
	if (g->cores && cores_parse(g->cores, UINT16_MAX, 1, NULL) < 0) {
		report(ld, g->where, "Cores=%.100s: not a list of cores: write 0-7,16-23", g->cores);
		return false;
	}
	if (g->links && !links_are_good(g->links)) {
		report(ld, g->where, "Links=%.100s: not a list of links: write -1,16,16,16", g->links);
		return false;
	}
	if (g->flags && !flags_are_good(ld, g))
		return false;
	if (g->flags && conf_has_word(g->flags, "one_sharing") && conf_has_word(g->flags, "all_sharing")) {
		report(ld, g->where, "Flags=%.60s: one_sharing and all_sharing exclude each other", g->flags);
		return false;
	}
	if (!conf_has_word(ld->conf->main.gres_types, g->name))
		remark(ld, g->where, "Name=%s: has no effect, it is not in GresTypes of slurm.conf", g->name);
	if (!files_count(ld, g))
		return false;
	if (g->links && g->files > 1) {
		report(ld, g->where, "Links=%.60s is about one device, but File names %u: give each a line of its own",
		       g->links, g->files);
		return false;
	}
	return true;
}

/* The nodes the line is about; a set of size 0 stands for all. */
static bool nodes_of(struct loader *ld, const struct gres_conf *g, struct bitset *ret)
{
	struct hostlist names;
	struct error err;
	*ret = (struct bitset){};
	if (!g->node_names)
		return true;
	if (hostlist_expand(g->node_names, ld->arena, &names, &err) < 0) {
		report(ld, g->where, "NodeName=%.100s: %s", g->node_names, err.text);
		return false;
	}
	bitset_init_in(ret, (uint32_t)ld->nodes.count, ld->arena);
	for (uint32_t i = 0; i < names.count; i++) {
		uintptr_t at = (uintptr_t)map_get_str(&ld->conf->node_index, names.names[i]);
		if (at && at <= ld->nodes.count)
			bitset_add(ret, (uint32_t)(at - 1));
		else
			remark(ld, g->where, "NodeName=%.100s: a node that is not configured, %s among them",
			       g->node_names, names.names[i]);
		if (!at)
			break;
	}
	return true;
}

static void gres_line(struct loader *ld, const struct source *src, const struct lex_line *line)
{
	struct gres_conf g = {};
	struct bitset nodes;
	if (!line_set(ld, &gres_conf_record, &g, src, line))
		return;
	g.where = (char *)(uintptr_t)where_is(ld, src, line->line);
	if (!line_check(ld, &g) || !nodes_of(ld, &g, &nodes))
		return;
	if (g.autodetect && !str_eq(g.autodetect, "off"))
		remark(ld, g.where, "AutoDetect=%s: understood, has no effect yet", g.autodetect);
	vec_push(&ld->gres, g);
	vec_push(&ld->gres_nodes, nodes);
}

void gres_load(struct loader *ld)
{
	load_sibling(ld, "gres.conf", gres_line);
}
