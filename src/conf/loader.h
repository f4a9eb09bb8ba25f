/* SPDX-License-Identifier: Apache-2.0 */
/* loader.h - what the files of this folder share while a configuration is being read.
 *
 * Reading goes on after an error, so that a check names all of them; a configuration with errors is
 * never given out.  First the lines are read (load.c hands each to the file that knows its kind),
 * then, when they were all right, the parts are joined: nodes, partitions, gres, topology. */
#pragma once
#include "base/bitset.h"
#include "base/map.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "conf/lex.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;

struct source { /* a file being read */
	const char *path;
	const char *name;           /* as people know it: slurm.conf, or as the Include says */
	const struct source *outer; /* who includes it */
	unsigned depth;
};

struct loader;
typedef void (*line_fn)(struct loader *ld, const struct source *src, const struct lex_line *line);

struct keytab { /* the rows of a record by key */
	const struct record *record;
	struct map fields; /* lower case key to struct field */
};

struct node_line { /* the nodes that one NodeName line made */
	size_t first, count;
	const char *where;
};

struct nodeset_line {
	struct nodeset_conf conf;
	const char *where;
	struct bitset members; /* by node, once all nodes are known */
};

struct down_line {
	struct down_conf conf;
	const char *where;
};

struct partition_line {
	struct partition_conf conf;
	const char *where;
};

enum { KEYTAB_COUNT = 8, SEEN_WORDS = 4 };

struct loader {
	struct conf *conf;
	struct arena *arena; /* the conf's */
	conf_read_fn read;
	void *read_arg;
	line_fn on_line;
	bool client;
	unsigned files;
	struct keytab keytabs[KEYTAB_COUNT];
	struct map seen;  /* keys of slurm.conf already given: where */
	struct map noted; /* notes already made */
	VEC(struct conf_note) errors;
	VEC(struct conf_note) notes;
	VEC(struct node_conf) nodes;
	VEC(struct node_line) node_lines;
	VEC(struct partition_line) partitions;
	VEC(struct nodeset_line) nodesets;
	VEC(struct down_line) downs;
	VEC(struct gres_conf) gres;
	VEC(struct bitset) gres_nodes;
	VEC(struct topology_unit_conf) switches, blocks; /* lines of topology.conf */
	VEC(struct topology_conf) topologies;
	VEC(uint32_t) block_sizes;
	const char *block_sizes_where;
	struct node_conf node_default;
	struct partition_conf partition_default;
};

/* ---- load.c: files, lines, problems --------------------------------------------------------------- */

/* Reads a file and what it includes; every line goes to `on_line`.  -ENOENT when it is not there. */
int load_file(struct loader *ld, const struct source *src, line_fn on_line);
/* A file beside slurm.conf, which need not exist. */
void load_sibling(struct loader *ld, const char *name, line_fn on_line);
/* The same as text in the conf's arena; NULL when it is not there or cannot be read, which is reported. */
char *load_sibling_text(struct loader *ld, const char *name, size_t *ret_len);
const char *where_is(struct loader *ld, const struct source *src, uint32_t line);
void report(struct loader *ld, const char *where, const char *fmt, ...) PRINTF_LIKE(3, 4);
void remark(struct loader *ld, const char *where, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* ---- fill.c: pairs into records ------------------------------------------------------------------- */

/* The row of the pair's key after older spellings were replaced; reports an unknown one. */
const struct field *pair_field(struct loader *ld, const struct record *r, const struct source *src,
			       struct lex_pair *pair);
/* The row if there is one, without a word. */
const struct field *key_field(struct loader *ld, const struct record *r, const char *key);
/* Sets the member, reports a bad value, remarks on a key without effect. */
bool pair_set(struct loader *ld, const struct field *f, void *obj, const struct source *src,
	      const struct lex_pair *pair);
/* All pairs of a line; false when one was wrong. */
bool line_set(struct loader *ld, const struct record *r, void *obj, const struct source *src,
	      const struct lex_line *line);

/* ---- the kinds of lines, and what is joined in the end -------------------------------------------- */

void node_read(struct loader *ld, const struct source *src, const struct lex_line *line);
void nodeset_read(struct loader *ld, const struct source *src, const struct lex_line *line);
void down_read(struct loader *ld, const struct source *src, const struct lex_line *line);
void nodes_join(struct loader *ld);
/* The nodes that `text` lists, by index into conf->nodes; ALL and the names of NodeSets are known
 * too.  Reports the first one that is not configured. */
bool nodes_find(struct loader *ld, const char *where, const char *key, const char *text,
		struct bitset *ret);
/* Is that the value of the key that begins the line: NodeName=DEFAULT? */
bool is_default_line(const struct lex_line *line);

void partition_read(struct loader *ld, const struct source *src, const struct lex_line *line);
void partitions_join(struct loader *ld);

void gres_load(struct loader *ld);
/* Gres= of a NodeName line: readable, and of kinds that GresTypes names. */
void gres_check_node(struct loader *ld, const char *where, const char *gres);
void topology_load(struct loader *ld);
/* topology_yaml.c: the file, if it is there; false when it is not. */
bool topology_yaml_load(struct loader *ld);
void policy_check(struct loader *ld); /* licences and what else steers scheduling */
void endpoint_join(struct loader *ld); /* controllers and auth paths */
