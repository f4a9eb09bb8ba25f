/* SPDX-License-Identifier: Apache-2.0 */
/* Finding options in words: what getopt_long does, over the rows of schema/options.def.
 *
 * Long names may be cut to a unique prefix, a value follows behind `=` or as the next word, an
 * optional one only behind `=`.  Short letters may be bundled; the rest of the word is the value of
 * the first that takes one.  The first word that is no option ends the options, so that the
 * arguments of a script stay its own. */
#include "client/options.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

struct scan {
	struct options *o;
	enum option_source source;
	const char *where; /* "job.sh:3: " or "" */
	int argc, at;
	char *const *argv;
};

static const char *command_name(enum option_cmds command)
{
	return command == OPTION_CMDS_SBATCH   ? "sbatch"
	       : command == OPTION_CMDS_SALLOC ? "salloc"
					       : "srun";
}

void options_init(struct options *o, enum option_cmds command, usec_t now, struct arena *a)
{
	*o = (struct options) { .arena = a, .command = command, .now = now };
	o->program = command_name(command);
}

void options_done(struct options *o)
{
	vec_done(&o->uses);
	vec_done(&o->warnings);
}

bool option_takes_value(const struct option_row *row)
{
	return row->value != NULL;
}

bool option_needs_value(const struct option_row *row)
{
	return row->value && !(row->value[0] == '[' && str_ends(row->value, "]"));
}

const struct option_row *option_find(enum option_cmds command, const char *name)
{
	for (size_t i = 0; i < OPTION_ROW_COUNT; i++)
		if ((options_table[i].cmds & command) && str_eq(options_table[i].long_name, name))
			return &options_table[i];
	return NULL;
}

enum option_source options_source(const struct options *o, const char *name)
{
	const struct option_row *row = option_find(o->command, name);
	return row ? o->source[row - options_table] : OPTION_UNSET;
}

const char *options_value(const struct options *o, const char *name)
{
	const struct option_row *row = option_find(o->command, name);
	return row ? o->value[row - options_table] : NULL;
}

/* ---- scanning ---------------------------------------------------------------------------------- */

static int scan_fail(struct scan *s, struct error *err, const char *text)
{
	s->o->exit_code = OPTION_EXIT_USAGE;
	return error_set(err, -EINVAL, "%s%s", s->where, text);
}

static int unknown_option(struct scan *s, const char *word, const char *name, struct error *err)
{
	const char *names[OPTION_ROW_COUNT];
	size_t count = 0;
	for (size_t i = 0; i < OPTION_ROW_COUNT; i++)
		if (options_table[i].cmds & s->o->command)
			names[count++] = options_table[i].long_name;
	const char *near = name ? str_closest(name, names, count) : NULL;
	struct arena *a = s->o->arena;
	return scan_fail(
		s, err,
		near ? arena_printf(a, "unrecognized option '%s', did you mean --%s?", word, near)
		     : arena_printf(a, "unrecognized option '%s', see %s --help", word,
				    s->o->program));
}

/* The row with this name, or the only one that it is a prefix of. */
static int find_long(struct scan *s, const char *word, const char *name,
		     const struct option_row **ret, struct error *err)
{
	const struct option_row *found = option_find(s->o->command, name), *other = NULL;
	for (size_t i = 0; !found && i < OPTION_ROW_COUNT; i++) {
		const struct option_row *row = &options_table[i];
		if (!(row->cmds & s->o->command) || !str_starts(row->long_name, name))
			continue;
		for (size_t k = i + 1; k < OPTION_ROW_COUNT; k++)
			if ((options_table[k].cmds & s->o->command) &&
			    str_starts(options_table[k].long_name, name))
				other = &options_table[k];
		if (other)
			return scan_fail(
				s, err,
				arena_printf(s->o->arena,
					     "'%s' is short for several options: --%s, --%s", word,
					     row->long_name, other->long_name));
		found = row;
	}
	if (!found)
		return unknown_option(s, word, name, err);
	*ret = found;
	return 0;
}

static void add_use(struct scan *s, const struct option_row *row, const char *written,
		    const char *value)
{
	struct arena *a = s->o->arena;
	const char *where = value && option_takes_value(row)
				    ? arena_printf(a, "%s%s%s%s", s->where, written,
						   str_starts(written, "--") ? "=" : " ", value)
				    : arena_printf(a, "%s%s", s->where, written);
	vec_push(&s->o->uses, (struct option_use) { row, value, where, s->source });
	if (row->parse == OPTION_PARSE_HELP || row->parse == OPTION_PARSE_USAGE ||
	    row->parse == OPTION_PARSE_VERSION)
		s->o->asked = s->o->asked ? s->o->asked : row->parse;
}

static int next_word(struct scan *s, const char *written, const char **ret, struct error *err)
{
	if (s->at + 1 >= s->argc)
		return scan_fail(s, err,
				 arena_printf(s->o->arena, "option '%s' needs a value", written));
	*ret = s->argv[++s->at];
	return 0;
}

static int scan_long(struct scan *s, const char *word, struct error *err)
{
	const char *equals = strchr(word, '='), *value = equals ? equals + 1 : NULL;
	size_t len = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
	const char *name = arena_strndup(s->o->arena, word + 2, len);
	const struct option_row *row = NULL;
	int r = find_long(s, word, name, &row, err);
	if (r < 0)
		return r;
	const char *written = arena_printf(s->o->arena, "--%s", row->long_name);
	if (value && !option_takes_value(row))
		return scan_fail(s, err,
				 arena_printf(s->o->arena, "option '%s' takes no value", written));
	if (!value && option_needs_value(row)) {
		r = next_word(s, written, &value, err);
		if (r < 0)
			return r;
	}
	add_use(s, row, written, value);
	return 0;
}

static const struct option_row *find_short(const struct options *o, char letter)
{
	for (size_t i = 0; i < OPTION_ROW_COUNT; i++) {
		const struct option_row *row = &options_table[i];
		if ((row->cmds & o->command) && row->letter && row->letter[0] == letter)
			return row;
	}
	return NULL;
}

static int scan_short(struct scan *s, const char *word, struct error *err)
{
	for (const char *p = word + 1; *p; p++) {
		const char *written = arena_printf(s->o->arena, "-%c", *p), *value = NULL;
		const struct option_row *row = find_short(s->o, *p);
		if (!row)
			return unknown_option(s, written, NULL, err);
		if (option_takes_value(row) && p[1]) {
			value = p + 1;
		} else if (option_needs_value(row)) {
			int r = next_word(s, written, &value, err);
			if (r < 0)
				return r;
		}
		add_use(s, row, written, value);
		if (value)
			break;
	}
	return 0;
}

/* Leaves s->at at the first word that is no option. */
static int scan_words(struct scan *s, struct error *err)
{
	for (; s->at < s->argc; s->at++) {
		const char *word = s->argv[s->at];
		if (word[0] != '-' || word[1] == '\0')
			return 0;
		if (str_eq(word, "--")) {
			s->at++;
			return 0;
		}
		int r = word[1] == '-' ? scan_long(s, word, err) : scan_short(s, word, err);
		if (r < 0)
			return r;
		if (s->o->asked)
			return 0;
	}
	return 0;
}

int options_scan_args(struct options *o, int argc, char *const *argv, struct error *err)
{
	struct scan s = { o, OPTION_ARGS, "", argc, 1, argv };
	int r = scan_words(&s, err);
	if (r < 0)
		return r;
	o->rest = argv + s.at;
	o->rest_count = s.at < argc ? argc - s.at : 0;
	return 0;
}

int options_scan_line(struct options *o, int argc, char *const *argv, const char *where,
		      struct error *err)
{
	struct scan s = { o, OPTION_SCRIPT, arena_printf(o->arena, "%s: ", where), argc, 0, argv };
	int r = scan_words(&s, err);
	if (r < 0)
		return r;
	if (s.at < argc)
		return scan_fail(&s, err, arena_printf(o->arena, "'%s' is no option", argv[s.at]));
	return 0;
}

static const char *environ_get(char *const *env, const char *name, size_t len)
{
	for (char *const *e = env; *e; e++)
		if (strncmp(*e, name, len) == 0 && (*e)[len] == '=')
			return *e + len + 1;
	return NULL;
}

void options_scan_env(struct options *o, char *const *env)
{
	for (size_t i = 0; i < OPTION_ROW_COUNT; i++) {
		const struct option_row *row = &options_table[i];
		const char *names = o->command == OPTION_CMDS_SBATCH   ? row->sbatch
				    : o->command == OPTION_CMDS_SALLOC ? row->salloc
								       : row->srun;
		for (size_t len; (row->cmds & o->command) && names && *names;
		     names += len + (names[len] == ',')) {
			len = strcspn(names, ",");
			const char *value = environ_get(env, names, len);
			if (!value)
				continue;
			const char *where = arena_printf(o->arena, "%.*s=%s", (int)len, names,
							 value);
			vec_push(&o->uses, (struct option_use) { row, value, where, OPTION_ENV });
		}
	}
}

/* ---- applying ---------------------------------------------------------------------------------- */

static int apply_use(struct options *o, const struct option_use *use, struct error *err)
{
	const struct option_row *row = use->row;
	size_t index = (size_t)(row - options_table);
	if (row->parse == OPTION_PARSE_NONE) {
		o->exit_code = OPTION_EXIT_USAGE;
		return use->source == OPTION_ARGS
			       ? error_set(err, -ENOTSUP,
					   "--%s is not supported by this version of Muster",
					   row->long_name)
			       : error_set(err, -ENOTSUP,
					   "%s: --%s is not supported by this version of Muster",
					   use->where, row->long_name);
	}
	struct error why = {};
	int r = option_value_parse(o, use, &why);
	if (r < 0)
		return error_set(err, r, "%s: %s", use->where, why.text);
	o->source[index] = (uint8_t)use->source;
	o->value[index] = use->value;
	return 0;
}

/* Options that say the same thing in different ways: one of a higher source puts all of the lower
 * ones out of force.  Several of one source are a contradiction, which options_check reports. */
static void drop_overridden(struct options *o)
{
	static const char *const groups[][3] = { { "mem", "mem-per-cpu", "mem-per-gpu" },
						 { "gpu-bind", "tres-bind", NULL },
						 { "nodelist", "nodefile", NULL },
						 { "cpus-per-task", "cpus-per-gpu", NULL },
						 { "hint", "ntasks-per-core", NULL },
						 { "hint", "threads-per-core", NULL },
						 { "hint", "extra-node-info", NULL } };
	for (size_t g = 0; g < ARRAY_COUNT(groups); g++) {
		enum option_source best = OPTION_UNSET;
		for (int pass = 0; pass < 2; pass++) {
			for (size_t i = o->uses.count; i-- > 0;) {
				const struct option_use *use = &o->uses.at[i];
				const char *const *n = groups[g];
				if (!str_eq(use->row->long_name, n[0]) &&
				    !str_eq(use->row->long_name, n[1]) &&
				    !str_eq(use->row->long_name, n[2]))
					continue;
				if (pass == 0)
					best = use->source > best ? use->source : best;
				else if (use->source < best)
					vec_remove(&o->uses, i);
			}
		}
	}
}

int options_apply(struct options *o, struct error *err)
{
	drop_overridden(o);
	for (int source = OPTION_SCRIPT; source < OPTION_SOURCE_COUNT; source++) {
		for (size_t i = 0; i < o->uses.count; i++) {
			if ((int)o->uses.at[i].source != source)
				continue;
			int r = apply_use(o, &o->uses.at[i], err);
			if (r < 0)
				return r;
		}
	}
	return 0;
}
