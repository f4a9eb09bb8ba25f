/* SPDX-License-Identifier: Apache-2.0 */
/* Counts on a tree of three leaves against every set of nodes: what fabric_choose gives meets the counts
 * and stays on one leaf where that is asked for; what it denies does not exist. */
#include "sched/fabric.h"

#include "base/arena.h"
#include "fabric.h"
#include "sched/features.h"

#include "../cm.h"
#include "../draw.h"

enum { NODES = 9, ROUNDS = 20000 };

static struct topology *new_tree(void)
{
	static const struct topo_unit units[] = {
		{ .name = "l0", .nodes = "n[0,3,6]", .where = "t" },
		{ .name = "l1", .nodes = "n[1,4,7]", .where = "t" },
		{ .name = "l2", .nodes = "n[2,5,8]", .where = "t" },
		{ .name = "top", .switches = "l[0-2]", .where = "t" }
	};
	struct topo_spec spec = {
		.name = "tree", .kind = TOPO_TREE, .units = units, .unit_count = 4
	};
	struct topology *t;
	struct error err = {};
	if (fabric_new(&spec, NODES, &t, &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

struct question {
	const struct constraint *counts;
	uint64_t parts[NODES];
	uint32_t usable, required; /* as bits */
	uint32_t want;
	bool one_leaf;
};

static struct question draw_question(uint64_t *seed, struct arena *a)
{
	static const char *const texts[] = { "a*1", "a*2", "[a*1&b*1]", "[a*2&b*1]", "[a*1&b*2]" };
	struct question q = { .want = 1 + draw_below(seed, 5), .one_leaf = draw_below(seed, 2) };
	struct constraint *c;
	assert_int_equal(constraint_parse(texts[draw_below(seed, ARRAY_COUNT(texts))], a, &c, NULL),
			 0);
	q.counts = c;
	for (uint32_t i = 0; i < NODES; i++) {
		q.parts[i] = draw_below(seed, 4) & ((1u << c->part_count) - 1);
		q.usable |= (uint32_t)(draw_below(seed, 4) > 0) << i;
		q.required |= (uint32_t)(draw_below(seed, 20) == 0) << i;
	}
	q.required &= q.usable;
	return q;
}

static bool set_is_right(const struct question *q, uint32_t set, struct arena *a)
{
	uint64_t parts[NODES];
	uint32_t count = 0, leaves = 0;
	for (uint32_t i = 0; i < NODES; i++) {
		if (!(set >> i & 1))
			continue;
		parts[count++] = q->parts[i];
		leaves |= 1u << i % 3;
	}
	return count == q->want && (set & q->usable) == set && (set & q->required) == q->required &&
	       !(q->one_leaf && leaves & (leaves - 1)) &&
	       features_counts_met(q->counts, parts, count, a);
}

static bool exists(const struct question *q, struct arena *a)
{
	for (uint32_t set = 1; set < 1u << NODES; set++)
		if ((uint32_t)__builtin_popcount(set) == q->want && set_is_right(q, set, a))
			return true;
	return false;
}

static void choices_agree_with_every_set(void **state)
{
	(void)state;
	struct topology *t = new_tree();
	uint64_t seed = 51;
	uint32_t found = 0;
	for (int round = 0; round < ROUNDS; round++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct question q = draw_question(&seed, a);
		struct bitset usable, required;
		uint32_t got[NODES], set = 0;
		bitset_init_in(&usable, NODES, a);
		bitset_init_in(&required, NODES, a);
		*usable.words = q.usable;
		*required.words = q.required;
		struct topo_wish wish = { .want = q.want,
					  .required = q.required ? &required : NULL,
					  .switches_max = q.one_leaf };
		bool ok = fabric_choose(t, &usable, &wish, q.counts, q.parts, a, got);
		for (uint32_t i = 0; ok && i < q.want; i++)
			set |= 1u << got[i];
		if (ok != exists(&q, a) || (ok && !set_is_right(&q, set, a)))
			fail_msg("round %d: %d", round, ok);
		found += ok;
	}
	assert_true(found > ROUNDS / 10 && found < ROUNDS * 9 / 10);
	topology_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(choices_agree_with_every_set) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
