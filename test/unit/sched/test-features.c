/* SPDX-License-Identifier: Apache-2.0 */
/* Features of nodes: matching against truth tables, counts against every assignment of nodes to
 * places, and the choice that comes out of it against every set of nodes. */
#include "sched/features.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "schema/node.h"

#include "../cm.h"
#include "../draw.h"

#include <string.h>

static const struct constraint *read_constraint(const char *text, struct arena *a)
{
	struct constraint *c;
	struct error err = {};
	if (constraint_parse(text, a, &c, &err) < 0)
		fail_msg("%s", err.text);
	return c;
}

static void whole_names_count(void **state)
{
	(void)state;
	static char list[] = "even,fast,a100-sxm", one[] = "fast", none[] = "";
	struct node n = { .features = list };
	static const struct {
		const char *name;
		bool has;
	} rows[] = { { "even", true },  { "fast", true }, { "a100-sxm", true },
		     { "a100", false }, { "eve", false }, { "even,fast", false },
		     { "as", false },   { "sxm", false } };
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		assert_int_equal(node_has_feature(&n, rows[i].name), rows[i].has);
	n.features = one;
	assert_true(node_has_feature(&n, "fast"));
	n.features = none;
	assert_false(node_has_feature(&n, "fast"));
	n.features = NULL;
	assert_false(node_has_feature(&n, "fast"));
	assert_true(features_match(NULL, &n));
}

/* ---- one node against a formula kept as a truth table ------------------------------------------- */

/* Writes a random formula over the features a..d; the result has bit m set when nodes with the features
 * of the bits of m match it.  Within a run of operators the text is read from left to right. */
static uint16_t draw_formula(uint64_t *seed, unsigned depth, struct buf *text)
{
	uint16_t value = 0;
	uint32_t terms = 1 + draw_below(seed, 3);
	for (uint32_t t = 0; t < terms; t++) {
		static const uint16_t columns[] = { 0xaaaa, 0xcccc, 0xf0f0, 0xff00 };
		bool is_and = draw_below(seed, 2);
		uint16_t right;
		if (t)
			buf_putc(text, is_and ? '&' : '|');
		if (depth && draw_below(seed, 2)) {
			buf_putc(text, '(');
			right = draw_formula(seed, depth - 1, text);
			buf_putc(text, ')');
		} else {
			uint32_t f = draw_below(seed, 4);
			buf_putc(text, (char)('a' + f));
			right = columns[f];
		}
		value = t == 0 ? right : is_and ? value & right : value | right;
	}
	return value;
}

static struct node node_with(uint32_t features, struct arena *a)
{
	AUTO_BUF struct buf list = {};
	for (uint32_t f = 0; f < 4; f++)
		if (features >> f & 1)
			buf_printf(&list, "%s%c", list.len ? "," : "", (char)('a' + f));
	return (struct node) { .features = arena_strdup(a, buf_text(&list)) };
}

static void matching_agrees_with_truth_tables(void **state)
{
	(void)state;
	uint64_t seed = 21;
	for (int round = 0; round < 3000; round++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf text = {};
		uint16_t want = draw_formula(&seed, 3, &text);
		const struct constraint *c = read_constraint(buf_text(&text), a);
		for (uint32_t m = 0; m < 16; m++) {
			struct node n = node_with(m, a);
			if (features_match(c, &n) != (want >> m & 1))
				fail_msg("%s on features %u", buf_text(&text), m);
		}
	}
}

static void choices_have_one_alternative_each(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *choices[4];
	} rows[] = {
		{ "a&b", { "a&b" } },
		{ "[a|b]", { "a", "b" } },
		{ "x&[a|b|(c&d)]", { "x&a", "x&b", "x&(c&d)" } },
		{ "[a|b]&c*3", { "a&c*3", "b&c*3" } },
		{ "[a*2&b*1]", { "[a*2&b*1]" } },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		const struct constraint *const *choices;
		uint32_t count = features_choices(read_constraint(rows[i].text, a), a, &choices);
		for (uint32_t k = 0; k < count; k++) {
			AUTO_BUF struct buf out = {};
			constraint_print(choices[k], &out);
			assert_string_equal(buf_text(&out), rows[i].choices[k]);
		}
		assert_null(rows[i].choices[count]);
	}
	AUTO_ARENA struct arena *a = arena_new();
	const struct constraint *const *choices;
	assert_int_equal(features_choices(NULL, a, &choices), 1);
	assert_null(choices[0]);
}

static void counts_are_found_and_added(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	assert_null(features_counts(NULL));
	assert_null(features_counts(read_constraint("a&b", a)));
	assert_int_equal(features_nodes(read_constraint("a&b", a)), 0);
	assert_int_equal(features_nodes(read_constraint("x&[a*2&b*4]", a)), 6);
	assert_int_equal(features_nodes(read_constraint("a*7", a)), 7);
	assert_int_equal(features_nodes(read_constraint("[a*4294967294&b*9]", a)), UINT32_MAX);
	struct node n = node_with(5, a); /* a and c */
	assert_int_equal(features_parts(read_constraint("[a*1&b*1&c*2&(b|c)*1]", a), &n), 13);
	assert_true(features_match(read_constraint("[b*2&d*1]", a), &n));
	assert_false(features_match(read_constraint("[b*2&d*1]&b", a), &n));
}

/* ---- counts against brute force ------------------------------------------------------------------ */

enum { NODES_MAX = 7, PARTS_MAX = 3 };

struct puzzle {
	const struct constraint *each;
	uint64_t parts[NODES_MAX];
	uint32_t nodes;
};

static void draw_puzzle(uint64_t *seed, struct arena *a, struct puzzle *ret)
{
	AUTO_BUF struct buf text = {};
	uint32_t parts = 1 + draw_below(seed, PARTS_MAX);
	for (uint32_t p = 0; p < parts; p++)
		buf_printf(&text, "%cf%u*%u", p ? '&' : '[', p, 1 + draw_below(seed, 3));
	buf_putc(&text, ']');
	ret->each = read_constraint(buf_text(&text), a);
	ret->nodes = draw_below(seed, NODES_MAX + 1);
	for (uint32_t i = 0; i < ret->nodes; i++)
		ret->parts[i] = draw_below(seed, 1u << parts);
}

/* Tries every place for every node of the set, from the first on. */
static bool can_assign(const struct puzzle *z, uint32_t set, uint32_t node,
		       uint32_t left[PARTS_MAX])
{
	uint32_t missing = 0;
	for (uint32_t p = 0; p < z->each->part_count; p++)
		missing += left[p];
	if (missing == 0 || node == z->nodes)
		return missing == 0;
	for (uint32_t p = 0; set >> node & 1 && p < z->each->part_count; p++) {
		if (!(z->parts[node] >> p & 1) || left[p] == 0)
			continue;
		left[p]--;
		bool ok = can_assign(z, set, node + 1, left);
		left[p]++;
		if (ok)
			return true;
	}
	return can_assign(z, set, node + 1, left);
}

static bool meets(const struct puzzle *z, uint32_t set)
{
	uint32_t left[PARTS_MAX];
	for (uint32_t p = 0; p < z->each->part_count; p++)
		left[p] = z->each->parts[p]->count;
	return can_assign(z, set, 0, left);
}

static void counts_agree_with_every_assignment(void **state)
{
	(void)state;
	uint64_t seed = 31;
	uint32_t met = 0;
	for (int round = 0; round < 20000; round++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct puzzle z;
		draw_puzzle(&seed, a, &z);
		bool want = meets(&z, (1u << z.nodes) - 1);
		assert_int_equal(features_counts_met(z.each, z.parts, z.nodes, a), want);
		met += want;
	}
	assert_true(met > 2000 && met < 18000);
}

/* The first set of `want` nodes that meets the counts, sets compared by their earliest nodes in `order`;
 * 0 for none. */
static uint32_t first_set(const struct puzzle *z, const uint32_t *order, uint32_t want)
{
	uint32_t best = 0, best_key = 0;
	for (uint32_t set = 1; set < 1u << z->nodes; set++) {
		uint32_t key = 0;
		if ((uint32_t)__builtin_popcount(set) != want || !meets(z, set))
			continue;
		for (uint32_t i = 0; i < z->nodes; i++)
			key |= (set >> order[i] & 1) << (z->nodes - 1 - i);
		if (key > best_key) {
			best_key = key;
			best = set;
		}
	}
	return best;
}

static void the_best_set_is_chosen(void **state)
{
	(void)state;
	uint64_t seed = 41;
	uint32_t chosen = 0;
	for (int round = 0; round < 20000; round++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct puzzle z;
		uint32_t order[NODES_MAX], before[NODES_MAX];
		draw_puzzle(&seed, a, &z);
		for (uint32_t i = 0; i < z.nodes; i++) {
			uint32_t k = draw_below(&seed, i + 1);
			order[i] = order[k];
			order[k] = i;
		}
		memcpy(before, order, sizeof(before));
		uint32_t want = 1 + draw_below(&seed, NODES_MAX), set = 0;
		uint32_t best = want <= z.nodes ? first_set(&z, order, want) : 0;
		bool ok = features_order(z.each, z.parts, order, z.nodes, want, a);
		assert_int_equal(ok, best != 0);
		if (!ok) {
			assert_memory_equal(order, before, z.nodes * sizeof(*order));
			continue;
		}
		chosen++;
		for (uint32_t i = 0; i < want; i++)
			set |= 1u << order[i];
		assert_int_equal(set, best);
		for (uint32_t i = want; i < z.nodes; i++)
			set |= 1u << order[i];
		assert_int_equal(set, (1u << z.nodes) - 1);
	}
	assert_true(chosen > 2000);
}

/* Every node of the last part is seated by moving others. */
static void large_counts_are_quick(void **state)
{
	(void)state;
	enum { COUNT = 20000 };
	AUTO_ARENA struct arena *a = arena_new();
	const struct constraint *each = read_constraint("[a*5000&b*5000&c*5000]", a);
	uint64_t *parts = ARENA_ARRAY(a, uint64_t, COUNT);
	uint32_t *order = ARENA_ARRAY(a, uint32_t, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		order[i] = i;
		parts[i] = i < 5000 ? 7 : i < 10000 ? 3 : i < 15000 ? 1 : 0;
	}
	assert_true(features_order(each, parts, order, COUNT, 15000, a));
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(order[i], i);
	parts[0] = 3; /* now c has too few */
	assert_false(features_order(each, parts, order, COUNT, 15000, a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_names_count),
		cmocka_unit_test(matching_agrees_with_truth_tables),
		cmocka_unit_test(choices_have_one_alternative_each),
		cmocka_unit_test(counts_are_found_and_added),
		cmocka_unit_test(counts_agree_with_every_assignment),
		cmocka_unit_test(the_best_set_is_chosen),
		cmocka_unit_test(large_counts_are_quick),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
