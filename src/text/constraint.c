/* SPDX-License-Identifier: Apache-2.0 */
/* Constraints, read by descent in one pass:
 *
 *	constraint := term { ('&' | '|') term }          joined from left to right
 *	term       := NAME | NAME '*' N | '(' plain ')' | '(' plain ')' '*' N | group
 *	plain      := as constraint, but of names and parentheses alone
 *	group      := '[' item { '|' item } ']' | '[' item '*' N { '&' item '*' N } ']'
 *	item       := NAME | '(' plain ')'
 *
 * Names and parentheses speak of one node.  Counts and groups speak of the job as a whole, which has a
 * clear meaning only beside an `&`: what an `|` would join to them is refused, and so is a second group
 * or a second count, with the part that is wrong in the words.
 *
 * Runs of one operator become one node of the tree whatever parentheses they were written with, so that
 * a tree has one spelling and the spelling one tree. */
#include "text/constraint.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

enum { QUOTE_MAX = 80, DEPTH_MAX = 32 };

typedef VEC(struct constraint *) part_vec;

struct reader {
	const char *at;
	struct arena *arena;
	struct error *err;
	unsigned depth; /* open parentheses */
	bool has_group; /* a bracket was opened, perhaps closed again */
	bool has_counts;
};

static int parse_joined(struct reader *in, struct constraint **ret);

static int clip(size_t len)
{
	return len < QUOTE_MAX ? (int)len : QUOTE_MAX;
}

static struct constraint *new_node(struct reader *in, enum constraint_kind kind,
				   const part_vec *parts)
{
	struct constraint *c = ARENA_NEW(in->arena, struct constraint);
	c->kind = kind;
	c->parts = arena_dup(in->arena, parts->at, parts->count * sizeof(*parts->at));
	c->part_count = (uint32_t)parts->count;
	return c;
}

/* ---- names, counts, parentheses ----------------------------------------------------------------- */

static bool is_name_char(char c)
{
	unsigned char u = (unsigned char)c;
	return u > ' ' && u != 0x7f && !strchr("&|*[](),\"'`\\", c);
}

static int refuse_no_name(struct reader *in)
{
	if (*in->at == '\0')
		return error_set(in->err, -EINVAL, "a feature is missing at the end");
	if (strchr("&|*])", *in->at))
		return error_set(in->err, -EINVAL, "a feature is missing before '%.*s'", QUOTE_MAX,
				 in->at);
	return error_set(in->err, -EINVAL, "no feature has a name that starts as '%.*s'", QUOTE_MAX,
			 in->at);
}

static int parse_name(struct reader *in, struct constraint **ret)
{
	const char *start = in->at;
	while (is_name_char(*in->at))
		in->at++;
	if (in->at == start)
		return refuse_no_name(in);
	*ret = ARENA_NEW(in->arena, struct constraint);
	(*ret)->name = arena_strndup(in->arena, start, (size_t)(in->at - start));
	return 0;
}

/* What stands where an operator or the end should be. */
static int refuse_rest(struct reader *in)
{
	switch (*in->at) {
	case ')':
	case ']':
		return error_set(in->err, -EINVAL, "'%c' closes nothing", *in->at);
	case ',':
		return error_set(in->err, -EINVAL, "features are joined by & or |, not by ','");
	default:
		return error_set(in->err, -EINVAL, "want & or | before '%.*s'", QUOTE_MAX, in->at);
	}
}

static int parse_parentheses(struct reader *in, struct constraint **ret)
{
	const char *start = in->at++;
	if (++in->depth > DEPTH_MAX)
		return error_set(in->err, -E2BIG, "more than %d parentheses inside each other",
				 DEPTH_MAX);
	int r = parse_joined(in, ret);
	if (r < 0)
		return r;
	if (*in->at != ')' && *in->at)
		return refuse_rest(in);
	if (*in->at != ')')
		return error_set(in->err, -EINVAL, "the parenthesis of '%.*s' is not closed",
				 QUOTE_MAX, start);
	in->at++;
	in->depth--;
	return 0;
}

static int parse_item(struct reader *in, struct constraint **ret)
{
	return *in->at == '(' ? parse_parentheses(in, ret) : parse_name(in, ret);
}

/* `*N` behind what started at `start`; no count leaves 0. */
static int parse_count(struct reader *in, const char *start, uint32_t *ret)
{
	*ret = 0;
	if (*in->at != '*')
		return 0;
	int len = clip((size_t)(in->at - start));
	uint64_t v = 0;
	const char *digits = ++in->at;
	for (; isdigit((unsigned char)*in->at); in->at++)
		v = v > UINT32_MAX ? v : v * 10 + (uint64_t)(*in->at - '0');
	if (in->at == digits || v == 0)
		return error_set(in->err, -EINVAL,
				 "want a number of nodes behind '%.*s*', as in %.*s*2", len, start,
				 len, start);
	if (v >= UINT32_MAX)
		return error_set(in->err, -ERANGE, "the count of '%.*s' is too large", len, start);
	if (in->depth)
		return error_set(
			in->err, -EINVAL,
			"the count of '%.*s' cannot stand in parentheses, only behind them", len,
			start);
	*ret = (uint32_t)v;
	return 0;
}

/* ---- brackets ----------------------------------------------------------------------------------- */

struct group {
	const char *text; /* from its bracket on */
	char joint;       /* '&' or '|'; 0 while there is one item */
	part_vec items;
};

/* [a*2&b*4]: every item has its count. */
static int finish_each(struct reader *in, const struct group *g, struct constraint **ret)
{
	for (size_t i = 0; i < g->items.count; i++) {
		AUTO_BUF struct buf item = {};
		if (g->items.at[i]->count)
			continue;
		constraint_print(g->items.at[i], &item);
		return error_set(
			in->err, -EINVAL,
			"'%.*s' in brackets needs a count, as in [%.*s*2&...]; without counts join "
			"features by & outside of brackets",
			QUOTE_MAX, buf_text(&item), QUOTE_MAX, buf_text(&item));
	}
	if (in->has_counts)
		return error_set(in->err, -EINVAL,
				 "all counts belong into one pair of brackets, as in [a*2&b*4]");
	if (g->items.count > CONSTRAINT_COUNTS_MAX)
		return error_set(in->err, -E2BIG, "more than %d counts", CONSTRAINT_COUNTS_MAX);
	in->has_counts = true;
	*ret = new_node(in, CONSTRAINT_EACH, &g->items);
	return 0;
}

/* [a|b]: no item has a count. */
static int finish_same(struct reader *in, const struct group *g, struct constraint **ret)
{
	for (size_t i = 0; i < g->items.count; i++)
		if (g->items.at[i]->count)
			return error_set(in->err, -EINVAL,
					 "'%.*s': items with counts are joined by &, not by |",
					 clip((size_t)(in->at - g->text)), g->text);
	*ret = g->items.count == 1 ? g->items.at[0] : new_node(in, CONSTRAINT_SAME, &g->items);
	return 0;
}

static int parse_items(struct reader *in, struct group *g)
{
	for (;;) {
		struct constraint *item;
		uint32_t count;
		const char *start = in->at;
		if (*start == '[')
			return error_set(in->err, -EINVAL, "brackets inside brackets at '%.*s'",
					 QUOTE_MAX, start);
		int r = parse_item(in, &item);
		if (r < 0 || (r = parse_count(in, start, &count)) < 0)
			return r;
		item->count = count;
		vec_push(&g->items, item);
		if (*in->at == ']') {
			in->at++;
			return 0;
		}
		if (*in->at == '\0')
			return error_set(in->err, -EINVAL, "the bracket of '%.*s' is not closed",
					 QUOTE_MAX, g->text);
		if (*in->at != '&' && *in->at != '|')
			return error_set(in->err, -EINVAL, "want &, | or ] before '%.*s'",
					 QUOTE_MAX, in->at);
		if (g->joint && g->joint != *in->at)
			return error_set(
				in->err, -EINVAL,
				"'%.*s' mixes & and |; use parentheses inside the brackets",
				QUOTE_MAX, g->text);
		g->joint = *in->at++;
	}
}

static int parse_group(struct reader *in, struct constraint **ret)
{
	struct group g = { .text = in->at };
	if (in->depth)
		return error_set(in->err, -EINVAL,
				 "the brackets of '%.*s' cannot stand in parentheses", QUOTE_MAX,
				 in->at);
	if (in->has_group)
		return error_set(in->err, -EINVAL,
				 "'%.*s' is a second group in brackets; one is allowed", QUOTE_MAX,
				 in->at);
	in->has_group = true;
	in->at++;
	int r = parse_items(in, &g);
	if (r == 0) {
		bool each = g.joint == '&' || (g.joint == 0 && g.items.at[0]->count);
		r = each ? finish_each(in, &g, ret) : finish_same(in, &g, ret);
	}
	vec_done(&g.items);
	if (r == 0 && *in->at == '*')
		return error_set(in->err, -EINVAL, "a group in brackets has no count: '%.*s'",
				 QUOTE_MAX, g.text);
	return r;
}

/* ---- joining ------------------------------------------------------------------------------------ */

static int parse_term(struct reader *in, struct constraint **ret)
{
	const char *start = in->at;
	uint32_t count;
	if (*start == '[')
		return parse_group(in, ret);
	int r = parse_item(in, ret);
	if (r < 0 || (r = parse_count(in, start, &count)) < 0 || count == 0)
		return r;
	if (in->has_counts)
		return error_set(
			in->err, -EINVAL,
			"'%.*s' is a second count; put all of them into one pair of brackets, as in "
			"[a*2&b*4]",
			clip((size_t)(in->at - start)), start);
	in->has_counts = true;
	(*ret)->count = count;
	part_vec one = { .at = ret, .count = 1 };
	*ret = new_node(in, CONSTRAINT_EACH, &one);
	return 0;
}

/* Does it speak of one node alone?  Groups are never deeper than in an AND at the top. */
static bool is_plain(const struct constraint *c)
{
	if (c->kind == CONSTRAINT_AND)
		for (uint32_t i = 0; i < c->part_count; i++)
			if (!is_plain(c->parts[i]))
				return false;
	return c->kind != CONSTRAINT_SAME && c->kind != CONSTRAINT_EACH;
}

/* Terms of one operator, in a row. */
struct run {
	enum constraint_kind kind;
	part_vec parts;
};

static int add_part(struct reader *in, struct run *run, struct constraint *c)
{
	if (run->kind == CONSTRAINT_OR && !is_plain(c)) {
		AUTO_BUF struct buf text = {};
		constraint_print(c, &text);
		return error_set(in->err, -EINVAL,
				 "'%.*s' speaks of the whole job and cannot be an alternative of |",
				 QUOTE_MAX, buf_text(&text));
	}
	if (c->kind != run->kind)
		vec_push(&run->parts, c);
	else
		for (uint32_t i = 0; i < c->part_count; i++)
			vec_push(&run->parts, c->parts[i]);
	return 0;
}

static int parse_run(struct reader *in, struct run *run, struct constraint *left,
		     struct constraint **ret)
{
	char joint = *in->at;
	run->kind = joint == '&' ? CONSTRAINT_AND : CONSTRAINT_OR;
	int r = add_part(in, run, left);
	while (r == 0 && *in->at == joint) {
		struct constraint *right;
		in->at++;
		r = parse_term(in, &right);
		if (r == 0)
			r = add_part(in, run, right);
	}
	if (r == 0)
		*ret = new_node(in, run->kind, &run->parts);
	return r;
}

static int parse_joined(struct reader *in, struct constraint **ret)
{
	struct constraint *left;
	int r = parse_term(in, &left);
	while (r == 0 && (*in->at == '&' || *in->at == '|')) {
		struct run run = {};
		r = parse_run(in, &run, left, &left);
		vec_done(&run.parts);
	}
	if (r == 0)
		*ret = left;
	return r;
}

int constraint_parse(const char *text, struct arena *a, struct constraint **ret, struct error *err)
{
	struct reader in = { .at = text, .arena = a, .err = err };
	struct constraint *c = NULL;
	int r = 0;
	if (*text)
		r = parse_joined(&in, &c);
	if (r == 0 && *in.at)
		r = refuse_rest(&in);
	if (r < 0)
		return error_wrap(err, r, "'%.*s'", QUOTE_MAX, text);
	*ret = c;
	return 0;
}

/* ---- the other way ------------------------------------------------------------------------------ */

static void print_parts(const struct constraint *c, char joint, struct buf *out)
{
	for (uint32_t i = 0; i < c->part_count; i++) {
		const struct constraint *part = c->parts[i];
		bool closed = part->kind == CONSTRAINT_AND || part->kind == CONSTRAINT_OR;
		if (i)
			buf_putc(out, joint);
		if (closed)
			buf_putc(out, '(');
		constraint_print(part, out);
		if (closed)
			buf_putc(out, ')');
		if (c->kind == CONSTRAINT_EACH)
			buf_printf(out, "*%u", part->count);
	}
}

void constraint_print(const struct constraint *c, struct buf *out)
{
	if (!c)
		return;
	bool brackets = c->kind == CONSTRAINT_SAME ||
			(c->kind == CONSTRAINT_EACH && c->part_count > 1);
	if (c->kind == CONSTRAINT_NAME)
		buf_puts(out, c->name);
	if (brackets)
		buf_putc(out, '[');
	print_parts(c, c->kind == CONSTRAINT_AND || c->kind == CONSTRAINT_EACH ? '&' : '|', out);
	if (brackets)
		buf_putc(out, ']');
}

int constraint_each_name(const struct constraint *c, constraint_name_fn fn, void *arg)
{
	int r = 0;
	if (!c)
		return 0;
	if (c->kind == CONSTRAINT_NAME)
		return fn(arg, c->name);
	for (uint32_t i = 0; i < c->part_count && r >= 0; i++)
		r = constraint_each_name(c->parts[i], fn, arg);
	return r;
}
