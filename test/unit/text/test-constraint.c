/* SPDX-License-Identifier: Apache-2.0 */
/* Constraints: how they are read, what is refused and in which words; random trees come back as they
 * were, and so does every text over a small alphabet that is taken at all. */
#include "text/constraint.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#include "../cm.h"
#include "../draw.h"

#include <errno.h>

/* The tree as an s-expression, which has no rules about brackets. */
static void dump(const struct constraint *c, struct buf *out)
{
	static const char *const kinds[] = { "", "and", "or", "same", "each" };
	if (c->kind == CONSTRAINT_NAME) {
		buf_puts(out, c->name);
	} else {
		buf_printf(out, "(%s", kinds[c->kind]);
		for (uint32_t i = 0; i < c->part_count; i++) {
			buf_putc(out, ' ');
			dump(c->parts[i], out);
		}
		buf_putc(out, ')');
	}
	if (c->count)
		buf_printf(out, "*%u", c->count);
}

static void parses(void **state)
{
	(void)state;
	static const struct {
		const char *text, *tree, *printed; /* printed NULL: as it was written */
	} rows[] = {
		{ "a", "a", NULL },
		{ "nps=4", "nps=4", NULL },
		{ "x86-64_v3.1+t:2/a@b", "x86-64_v3.1+t:2/a@b", NULL },
		{ "a&b", "(and a b)", NULL },
		{ "a|b|c", "(or a b c)", NULL },
		{ "foo|bar&baz", "(and (or foo bar) baz)", "(foo|bar)&baz" },
		{ "foo&bar|baz", "(or (and foo bar) baz)", "(foo&bar)|baz" },
		{ "foo&(bar|baz)", "(and foo (or bar baz))", NULL },
		{ "a|b&c|d", "(or (and (or a b) c) d)", "((a|b)&c)|d" },
		{ "(a|b)&(c|d)", "(and (or a b) (or c d))", NULL },
		{ "(a&b)&(c&(d))", "(and a b c d)", "a&b&c&d" },
		{ "((a))", "a", "a" },
		{ "a*4", "(each a*4)", NULL },
		{ "(a|b)*4", "(each (or a b)*4)", NULL },
		{ "(a)*4", "(each a*4)", "a*4" },
		{ "[a*4]", "(each a*4)", "a*4" },
		{ "gpu&a*4", "(and gpu (each a*4))", NULL },
		{ "a*4&gpu&ib", "(and (each a*4) gpu ib)", NULL },
		{ "x|y&a*4", "(and (or x y) (each a*4))", "(x|y)&a*4" },
		{ "[r1|r2]", "(same r1 r2)", NULL },
		{ "[r1]", "r1", "r1" },
		{ "[(a&b)|c|(d|e)]", "(same (and a b) c (or d e))", NULL },
		{ "gpu&[r1|r2]", "(and gpu (same r1 r2))", NULL },
		{ "[r1|r2]&gpu*2", "(and (same r1 r2) (each gpu*2))", NULL },
		{ "[a*2&b*4]", "(each a*2 b*4)", NULL },
		{ "[(a|b)*1&(c)*2]", "(each (or a b)*1 c*2)", "[(a|b)*1&c*2]" },
		{ "[(knl&snc4&flat)*4&haswell*1]", "(each (and knl snc4 flat)*4 haswell*1)", NULL },
		{ "[a*2&b*4]&ib", "(and (each a*2 b*4) ib)", NULL },
		{ "a*4294967294", "(each a*4294967294)", NULL },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf tree = {}, printed = {};
		struct constraint *c;
		struct error err = {};
		if (constraint_parse(rows[i].text, a, &c, &err) < 0)
			fail_msg("%s", err.text);
		dump(c, &tree);
		assert_string_equal(buf_text(&tree), rows[i].tree);
		constraint_print(c, &printed);
		assert_string_equal(buf_text(&printed),
				    rows[i].printed ? rows[i].printed : rows[i].text);
	}
}

static void nothing_is_no_constraint(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf out = {};
	struct constraint *c = (struct constraint *)a;
	assert_int_equal(constraint_parse("", a, &c, NULL), 0);
	assert_null(c);
	constraint_print(c, &out);
	assert_string_equal(buf_text(&out), "");
	assert_int_equal(constraint_each_name(NULL, NULL, NULL), 0);
}

static void refuses(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "&a", "'&a': a feature is missing before '&a'" },
		{ "a&", "'a&': a feature is missing at the end" },
		{ "a&&b", "'a&&b': a feature is missing before '&b'" },
		{ "a|", "'a|': a feature is missing at the end" },
		{ "()", "'()': a feature is missing before ')'" },
		{ "[]", "'[]': a feature is missing before ']'" },
		{ "*4", "'*4': a feature is missing before '*4'" },
		{ " a", "' a': no feature has a name that starts as ' a'" },
		{ ",a", "',a': no feature has a name that starts as ',a'" },
		{ "a b", "'a b': want & or | before ' b'" },
		{ "a(b)", "'a(b)': want & or | before '(b)'" },
		{ "a,b", "'a,b': features are joined by & or |, not by ','" },
		{ "a)", "'a)': ')' closes nothing" },
		{ "a]", "'a]': ']' closes nothing" },
		{ "(a|b", "'(a|b': the parenthesis of '(a|b' is not closed" },
		{ "x&(a|b", "'x&(a|b': the parenthesis of '(a|b' is not closed" },
		{ "(a b)", "'(a b)': want & or | before ' b)'" },
		{ "[a|b", "'[a|b': the bracket of '[a|b' is not closed" },
		{ "[a|b)", "'[a|b)': want &, | or ] before ')'" },
		{ "a*", "'a*': want a number of nodes behind 'a*', as in a*2" },
		{ "a*0", "'a*0': want a number of nodes behind 'a*', as in a*2" },
		{ "(a|b)*x", "'(a|b)*x': want a number of nodes behind '(a|b)*', as in (a|b)*2" },
		{ "a*-1", "'a*-1': want a number of nodes behind 'a*', as in a*2" },
		{ "a*4294967295", "'a*4294967295': the count of 'a' is too large" },
		{ "a*99999999999999999999999",
		  "'a*99999999999999999999999': the count of 'a' is too large" },
		{ "a*2*3", "'a*2*3': want & or | before '*3'" },
		{ "(a*2)&b",
		  "'(a*2)&b': the count of 'a' cannot stand in parentheses, only behind them" },
		{ "a*2&b*4",
		  "'a*2&b*4': 'b*4' is a second count; put all of them into one pair of brackets, as in "
		  "[a*2&b*4]" },
		{ "c*2&[a*2&b*4]",
		  "'c*2&[a*2&b*4]': all counts belong into one pair of brackets, as in [a*2&b*4]" },
		{ "a*2|b",
		  "'a*2|b': 'a*2' speaks of the whole job and cannot be an alternative of |" },
		{ "b|a*2",
		  "'b|a*2': 'a*2' speaks of the whole job and cannot be an alternative of |" },
		{ "[a|b]|c",
		  "'[a|b]|c': '[a|b]' speaks of the whole job and cannot be an alternative of |" },
		{ "[a|b]&c|d",
		  "'[a|b]&c|d': '[a|b]&c' speaks of the whole job and cannot be an alternative of |" },
		{ "[a|b]&[c|d]",
		  "'[a|b]&[c|d]': '[c|d]' is a second group in brackets; one is allowed" },
		{ "[a]&[b]", "'[a]&[b]': '[b]' is a second group in brackets; one is allowed" },
		{ "[a|[b]]", "'[a|[b]]': brackets inside brackets at '[b]]'" },
		{ "([a|b])", "'([a|b])': the brackets of '[a|b])' cannot stand in parentheses" },
		{ "[a|b]*2", "'[a|b]*2': a group in brackets has no count: '[a|b]*2'" },
		{ "[a&b]",
		  "'[a&b]': 'a' in brackets needs a count, as in [a*2&...]; without counts join features by "
		  "& outside of brackets" },
		{ "[a*2&b]",
		  "'[a*2&b]': 'b' in brackets needs a count, as in [b*2&...]; without counts join features "
		  "by & outside of brackets" },
		{ "[a*2|b*2]",
		  "'[a*2|b*2]': '[a*2|b*2]': items with counts are joined by &, not by |" },
		{ "[a|b&c]",
		  "'[a|b&c]': '[a|b&c]' mixes & and |; use parentheses inside the brackets" },
		{ "[(a*2)&b*2]",
		  "'[(a*2)&b*2]': the count of 'a' cannot stand in parentheses, only behind them" },
		{ "a\tb", "'a\tb': want & or | before '\tb'" },
		{ "a&\"b\"", "'a&\"b\"': no feature has a name that starts as '\"b\"'" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct constraint mark, *c = &mark;
		struct error err = {};
		int r = constraint_parse(rows[i].text, a, &c, &err);
		assert_true(r == -EINVAL || r == -ERANGE);
		assert_string_equal(err.text, rows[i].message);
		assert_ptr_equal(c, &mark);
	}
}

static void sizes_are_bounded(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf deep = {}, many = {};
	struct constraint *c;
	for (int i = 0; i < 100000; i++)
		buf_putc(&deep, '(');
	assert_int_equal(constraint_parse(buf_text(&deep), a, &c, NULL), -E2BIG);
	for (int i = 0; i < CONSTRAINT_COUNTS_MAX + 1; i++)
		buf_puts(&many, i ? "&a*1" : "[a*1");
	buf_putc(&many, ']');
	assert_int_equal(constraint_parse(buf_text(&many), a, &c, NULL), -E2BIG);
}

static int collect(void *arg, const char *name)
{
	buf_printf(arg, "%s ", name);
	return str_eq(name, "stop") ? -ENOENT : 0;
}

static void names_are_visited_in_order(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf seen = {};
	struct constraint *c;
	assert_int_equal(constraint_parse("[(a|b)*2&c*1]&d&e", a, &c, NULL), 0);
	assert_int_equal(constraint_each_name(c, collect, &seen), 0);
	assert_string_equal(buf_text(&seen), "a b c d e ");
	assert_int_equal(constraint_parse("a|(stop&b)", a, &c, NULL), 0);
	buf_clear(&seen);
	assert_int_equal(constraint_each_name(c, collect, &seen), -ENOENT);
	assert_string_equal(buf_text(&seen), "a stop ");
}

/* ---- random trees -------------------------------------------------------------------------------- */

static struct constraint *new_node(struct arena *a, enum constraint_kind kind, uint32_t parts)
{
	struct constraint *c = ARENA_NEW(a, struct constraint);
	c->kind = kind;
	c->part_count = parts;
	c->parts = ARENA_ARRAY(a, struct constraint *, parts);
	return c;
}

/* Of names, AND and OR; not of the kind `but`. */
static struct constraint *draw_plain(uint64_t *seed, struct arena *a, unsigned depth,
				     enum constraint_kind but)
{
	enum constraint_kind kind = depth ? (enum constraint_kind)draw_below(seed, 3)
					  : CONSTRAINT_NAME;
	if (kind == but || kind == CONSTRAINT_NAME) {
		struct constraint *c = new_node(a, CONSTRAINT_NAME, 0);
		c->name = arena_printf(a, "f%u", draw_below(seed, 20));
		return c;
	}
	struct constraint *c = new_node(a, kind, 2 + draw_below(seed, 3));
	for (uint32_t i = 0; i < c->part_count; i++)
		c->parts[i] = draw_plain(seed, a, depth - 1, kind);
	return c;
}

static struct constraint *draw_group(uint64_t *seed, struct arena *a, enum constraint_kind kind)
{
	struct constraint *c = new_node(a, kind,
					(kind == CONSTRAINT_SAME ? 2 : 1) + draw_below(seed, 3));
	for (uint32_t i = 0; i < c->part_count; i++) {
		c->parts[i] = draw_plain(seed, a, 2, CONSTRAINT_NAME);
		c->parts[i]->count = kind == CONSTRAINT_EACH ? 1 + draw_below(seed, 9) : 0;
	}
	return c;
}

/* Parts of an AND at the top in any order; a group needs the only brackets there are. */
static struct constraint *draw_tree(uint64_t *seed, struct arena *a)
{
	uint32_t shape = draw_below(seed, 5);
	if (shape == 0)
		return draw_plain(seed, a, 4, CONSTRAINT_NAME);
	if (shape == 1)
		return draw_group(seed, a, draw_below(seed, 2) ? CONSTRAINT_SAME : CONSTRAINT_EACH);
	struct constraint *c = new_node(a, CONSTRAINT_AND, 2 + draw_below(seed, 3));
	for (uint32_t i = 0; i < c->part_count; i++)
		c->parts[i] = draw_plain(seed, a, 3, CONSTRAINT_AND);
	uint32_t at = draw_below(seed, c->part_count);
	if (shape == 2)
		c->parts[at] = draw_group(seed, a, CONSTRAINT_EACH);
	else
		c->parts[at] = draw_group(seed, a, CONSTRAINT_SAME);
	if (shape == 4) {
		struct constraint *each = draw_group(seed, a, CONSTRAINT_EACH);
		each->part_count = 1;
		c->parts[(at + 1) % c->part_count] = each;
	}
	return c;
}

static void reads_what_it_prints(void **state)
{
	(void)state;
	uint64_t seed = 11;
	for (int round = 0; round < 20000; round++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf text = {}, want = {}, got = {};
		struct constraint *c = draw_tree(&seed, a), *back;
		struct error err = {};
		constraint_print(c, &text);
		if (constraint_parse(buf_text(&text), a, &back, &err) < 0)
			fail_msg("%s", err.text);
		dump(c, &want);
		dump(back, &got);
		assert_string_equal(buf_text(&got), buf_text(&want));
	}
}

/* Any text of operators and names is refused, or reads the same after printing. */
static void every_text_has_one_tree(void **state)
{
	(void)state;
	static const char *const words[] = { "a", "b", "&", "|", "(", ")", "[", "]", "*2", "*" };
	uint64_t seed = 12;
	uint32_t taken = 0;
	for (int round = 0; round < 200000; round++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf text = {}, first = {}, second = {};
		struct constraint *c, *back;
		uint32_t len = 1 + draw_below(&seed, 12);
		for (uint32_t i = 0; i < len; i++)
			buf_puts(&text, words[draw_below(&seed, ARRAY_COUNT(words))]);
		if (constraint_parse(buf_text(&text), a, &c, NULL) < 0)
			continue;
		taken++;
		constraint_print(c, &first);
		assert_int_equal(constraint_parse(buf_text(&first), a, &back, NULL), 0);
		constraint_print(back, &second);
		assert_string_equal(buf_text(&first), buf_text(&second));
	}
	assert_true(taken > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses),
		cmocka_unit_test(nothing_is_no_constraint),
		cmocka_unit_test(refuses),
		cmocka_unit_test(sizes_are_bounded),
		cmocka_unit_test(names_are_visited_in_order),
		cmocka_unit_test(reads_what_it_prints),
		cmocka_unit_test(every_text_has_one_tree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
