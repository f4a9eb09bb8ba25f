/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a configuration: the story of this folder.
 *
 *	load()           slurm.conf line by line, then the joining
 *	  load_file()      one file and those it includes (lex.c cuts it into pairs)
 *	    main_line()      a NodeName, PartitionName, ... line goes to its file; plain keys stay here
 *	  *_join()         what needs all lines: Nodes=ALL, DownNodes, addresses, controllers
 *	  gres_load() topology_load()
 *
 * A configuration that a command loads is the same walk with most of it left out: lines that begin
 * with NodeName and the like are passed over, keys without client=yes too. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "conf/loader.h"
#include "conf/value.h"
#include "host/file.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

enum {
	FILE_BYTES_MAX = 64 << 20,
	INCLUDE_DEPTH_MAX = 16,
	FILES_MAX = 1000,
	ERRORS_MAX = 100, /* enough to work on; the rest is likely one mistake repeated */
};

#define CONF_DEFAULT_PATH "/etc/slurm/slurm.conf"

/* ---- problems ------------------------------------------------------------------------------------- */

const char *where_is(struct loader *ld, const struct source *src, uint32_t line)
{
	return arena_printf(ld->arena, "%s:%u", src->name, line);
}

PRINTF_LIKE(2, 0)
static const char *format(struct loader *ld, const char *fmt, va_list args)
{
	AUTO_BUF struct buf text = {};
	buf_vprintf(&text, fmt, args);
	return arena_strdup(ld->arena, buf_text(&text));
}

void report(struct loader *ld, const char *where, const char *fmt, ...)
{
	if (ld->errors.count >= ERRORS_MAX)
		return;
	va_list args;
	va_start(args, fmt);
	vec_push(&ld->errors, (struct conf_note){ where, format(ld, fmt, args) });
	va_end(args);
}

/* The same remark is made once, however many lines give cause for it. */
void remark(struct loader *ld, const char *where, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	const char *text = format(ld, fmt, args);
	va_end(args);
	if (map_put_str(&ld->noted, text, ld) != NULL)
		return;
	vec_push(&ld->notes, (struct conf_note){ where, text });
}

/* ---- files ---------------------------------------------------------------------------------------- */

static bool is_open(const struct source *src, const char *path)
{
	for (; src; src = src->outer)
		if (strcmp(src->path, path) == 0)
			return true;
	return false;
}

/* `name` beside the file at `path`, or as it is when it says where it is from the root. */
static const char *beside(struct loader *ld, const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	if (*name == '/' || !slash)
		return arena_strdup(ld->arena, name);
	return arena_printf(ld->arena, "%.*s/%s", (int)(slash - path), path, name);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void include(struct loader *ld, const struct source *src, const struct lex_line *line)
{
	struct source inner = {
		.path = beside(ld, src->path, line->include),
		.name = arena_strdup(ld->arena, line->include),
		.outer = src,
		.depth = src->depth + 1,
	};
	const char *where = where_is(ld, src, line->line);
	if (is_open(src, inner.path))
		report(ld, where, "Include %s: the file includes itself", line->include);
	else if (inner.depth > INCLUDE_DEPTH_MAX)
		report(ld, where, "Include %s: more than %d files inside each other", line->include,
		       INCLUDE_DEPTH_MAX);
	else {
		int r = load_file(ld, &inner, ld->on_line);
		if (r < 0)
			report(ld, where, "Include %s: cannot read '%s': %s", line->include, inner.path,
			       strerror(-r));
	}
}

static void read_lines(struct loader *ld, const struct source *src, char *text, size_t len)
{
	struct lexer lex;
	struct lex_line line;
	struct error err;
	int r;
	lex_init(&lex, text, len);
	while ((r = lex_next(&lex, &line, &err)) != 0) {
		if (r < 0)
			report(ld, where_is(ld, src, line.line), "%s", err.text);
		else if (line.include)
			include(ld, src, &line);
		else
			ld->on_line(ld, src, &line);
	}
	lex_done(&lex);
}

int load_file(struct loader *ld, const struct source *src, line_fn on_line)
{
	AUTO_BUF struct buf text = {};
	if (++ld->files > FILES_MAX)
		return -EMFILE;
	int r = ld->read(ld->read_arg, src->path, &text);
	if (r < 0)
		return r;
	if (text.len && memchr(text.data, 0, text.len)) {
		report(ld, src->name, "there is a zero byte in it: not a text file");
		return 0;
	}
	line_fn before = ld->on_line;
	ld->on_line = on_line;
	if (text.len) {
		char *copy = arena_strndup(ld->arena, (char *)text.data, text.len);
		read_lines(ld, src, copy, text.len);
	}
	ld->on_line = before;
	return 0;
}

void load_sibling(struct loader *ld, const char *name, line_fn on_line)
{
	struct source src = { .path = beside(ld, ld->conf->path, name), .name = name };
	int r = load_file(ld, &src, on_line);
	if (r < 0 && r != -ENOENT)
		report(ld, name, "cannot read '%s': %s", src.path, strerror(-r));
}

char *load_sibling_text(struct loader *ld, const char *name, size_t *ret_len)
{
	AUTO_BUF struct buf text = {};
	const char *path = beside(ld, ld->conf->path, name);
	int r = ld->read(ld->read_arg, path, &text);
	if (r < 0 && r != -ENOENT)
		report(ld, name, "cannot read '%s': %s", path, strerror(-r));
	if (r < 0)
		return NULL;
	*ret_len = text.len;
	return arena_strndup(ld->arena, buf_text(&text), text.len);
}

/* ---- the lines of slurm.conf ---------------------------------------------------------------------- */

static const struct {
	const char *key;
	line_fn read;
} openers[] = {
	{ "NodeName", node_read },
	{ "PartitionName", partition_read },
	{ "NodeSet", nodeset_read },
	{ "DownNodes", down_read },
};

/* A plain key given again replaces the value, as in Slurm, but hardly anybody means it. */
static void note_again(struct loader *ld, const struct field *f, const char *where)
{
	const char *before = map_put_str(&ld->seen, f->key, (void *)(uintptr_t)where);
	if (before && !(f->flags & FIELD_REPEATED))
		remark(ld, where, "%s: given again, this replaces %s", f->key, before);
}

static void main_line(struct loader *ld, const struct source *src, const struct lex_line *line)
{
	for (size_t i = 0; i < ARRAY_COUNT(openers); i++) {
		if (!str_ieq(openers[i].key, line->pairs[0].key))
			continue;
		if (!ld->client)
			openers[i].read(ld, src, line);
		return;
	}
	for (size_t i = 0; i < line->count; i++) {
		struct lex_pair pair = line->pairs[i];
		const struct field *f = pair_field(ld, &slurm_conf_record, src, &pair);
		if (!f)
			continue;
		pair_set(ld, f, &ld->conf->main, src, &pair);
		if (!ld->client)
			note_again(ld, f, where_is(ld, src, pair.line));
	}
}

/* ---- the whole ------------------------------------------------------------------------------------ */

static void loader_done(struct loader *ld)
{
	for (size_t i = 0; i < KEYTAB_COUNT; i++)
		map_done(&ld->keytabs[i].fields);
	map_done(&ld->seen);
	map_done(&ld->noted);
	vec_done(&ld->errors);
	vec_done(&ld->notes);
	vec_done(&ld->nodes);
	vec_done(&ld->node_lines);
	vec_done(&ld->partitions);
	vec_done(&ld->nodesets);
	vec_done(&ld->downs);
	vec_done(&ld->gres);
	vec_done(&ld->gres_nodes);
	vec_done(&ld->switches);
	vec_done(&ld->blocks);
	vec_done(&ld->topologies);
	vec_done(&ld->block_sizes);
}

/* From a growing array to the conf's own. */
#define KEEP(ld, v) ((v).count ? arena_dup((ld)->arena, (v).at, (v).count * sizeof(*(v).at)) : NULL)

static void keep(struct loader *ld)
{
	struct conf *c = ld->conf;
	c->gres = KEEP(ld, ld->gres);
	c->gres_count = ld->gres.count;
	c->gres_nodes = KEEP(ld, ld->gres_nodes);
	c->topologies = KEEP(ld, ld->topologies);
	c->topology_count = ld->topologies.count;
	c->notes = KEEP(ld, ld->notes);
	c->note_count = ld->notes.count;
}

static void load_all(struct loader *ld)
{
	value_defaults(&node_conf_record, &ld->node_default, false, ld->arena);
	value_defaults(&partition_conf_record, &ld->partition_default, false, ld->arena);
	struct source src = { .path = ld->conf->path, .name = base_name(ld->conf->path) };
	int r = load_file(ld, &src, main_line);
	if (r < 0)
		report(ld, NULL, "cannot read '%s': %s", src.path, strerror(-r));
	if (ld->errors.count)
		return;
	endpoint_join(ld);
	if (ld->client)
		return;
	policy_check(ld);
	nodes_join(ld);
	if (!ld->errors.count)
		partitions_join(ld);
	gres_load(ld);
	topology_load(ld);
}

/* Always gives a conf; it may be used when ld->errors is empty. */
static void load(struct loader *ld, const char *path)
{
	struct arena *a = arena_new();
	ld->arena = a;
	ld->conf = ARENA_NEW(a, struct conf);
	ld->conf->arena = a;
	ld->conf->path = arena_strdup(a, path);
	value_defaults(&slurm_conf_record, &ld->conf->main, ld->client, a);
	load_all(ld);
	keep(ld);
}

static const char *path_or_default(const char *path)
{
	if (!path)
		path = getenv("SLURM_CONF");
	return str_empty(path) ? CONF_DEFAULT_PATH : path;
}

static int read_file(void *arg, const char *path, struct buf *ret)
{
	(void)arg;
	return file_read(path, FILE_BYTES_MAX, ret);
}

static int load_or_fail(struct loader *ld, const char *path, struct conf **ret, struct error *err)
{
	int r = 0;
	load(ld, path);
	if (ld->errors.count) {
		const struct conf_note *e = &ld->errors.at[0];
		r = error_set(err, -EINVAL, "%s%s%s", e->where ? e->where : "", e->where ? ": " : "",
			      e->text);
		conf_free(ld->conf);
	} else {
		*ret = ld->conf;
	}
	loader_done(ld);
	return r;
}

int conf_load_with(const char *path, conf_read_fn read, void *arg, struct conf **ret,
		   struct error *err)
{
	struct loader ld = { .read = read, .read_arg = arg };
	return load_or_fail(&ld, path, ret, err);
}

int conf_load(const char *path, struct conf **ret, struct error *err)
{
	return conf_load_with(path_or_default(path), read_file, NULL, ret, err);
}

int conf_load_client(const char *path, struct conf **ret, struct error *err)
{
	struct loader ld = { .read = read_file, .client = true };
	return load_or_fail(&ld, path_or_default(path), ret, err);
}

static void print_notes(const char *kind, const struct conf_note *notes, size_t count,
			struct buf *out)
{
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "%s%s%s: %s\n", notes[i].where ? notes[i].where : "",
			   notes[i].where ? ": " : "", kind, notes[i].text);
}

int conf_check_print_with(const char *path, conf_read_fn read, void *arg, struct buf *out)
{
	struct loader ld = { .read = read, .read_arg = arg };
	load(&ld, path);
	print_notes("error", ld.errors.at, ld.errors.count, out);
	print_notes("note", ld.notes.at, ld.notes.count, out);
	int r = ld.errors.count ? -EINVAL : 0;
	conf_free(ld.conf);
	loader_done(&ld);
	return r;
}

int conf_check_print(const char *path, struct buf *out)
{
	return conf_check_print_with(path_or_default(path), read_file, NULL, out);
}

void conf_free(struct conf *c)
{
	if (!c)
		return;
	map_done(&c->node_index);
	map_done(&c->partition_index);
	arena_free(c->arena); /* the conf itself is in it */
}

static uint32_t find(const struct map *index, const char *name)
{
	return (uint32_t)(uintptr_t)map_get_str(index, name);
}

const struct node_conf *conf_node(const struct conf *c, const char *name)
{
	uint32_t at = find(&c->node_index, name);
	return at ? &c->nodes[at - 1] : NULL;
}

const struct partition_conf *conf_partition(const struct conf *c, const char *name)
{
	uint32_t at = find(&c->partition_index, name);
	return at ? &c->partitions[at - 1] : NULL;
}
