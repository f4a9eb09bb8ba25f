/* SPDX-License-Identifier: Apache-2.0 */
/* Fabrics as tables: what is refused and where, which nodes a job gets and in which order, and how a topology
 * is shown. */
#include "base/arena.h"
#include "fabric.h"
#include "../cm.h"

/* ---- refusals ---------------------------------------------------------------------------------- */

static const struct {
	enum topo_kind kind;
	struct topo_unit units[4];
	uint32_t sizes[3];
	const char *want;
} refusals[] = {
	{ TOPO_TREE,
	  { { "a", "n1", .where = "t:1" }, { "b", "n[1-2]", .where = "t:2" } },
	  {},
	  "t:2: node n1 is already in switch a (t:1)" },
	{ TOPO_TREE,
	  { { "a", "n[1,1]", .where = "t:1" } },
	  {},
	  "t:1: node n1 is already in switch a (t:1)" },
	{ TOPO_TREE,
	  { { "a", "n99", .where = "t:1" } },
	  {},
	  "t:1: switch a: node n99 is not configured: give it a NodeName line" },
	{ TOPO_TREE,
	  { { "a", .switches = "b", .where = "t:1" } },
	  {},
	  "t:1: switch a: there is no switch b below it" },
	{ TOPO_TREE,
	  { { "a", .switches = "a", .where = "t:1" } },
	  {},
	  "t:1: switch a is below itself" },
	{ TOPO_TREE,
	  { { "x", "n1", .where = "t:1" },
	    { "a", .switches = "b", .where = "t:2" },
	    { "b", .switches = "c", .where = "t:3" },
	    { "c", .switches = "a", .where = "t:4" } },
	  {},
	  "t:2: switch a is below itself" },
	{ TOPO_TREE,
	  { { "l", "n1", .where = "t:1" },
	    { "a", .switches = "l", .where = "t:2" },
	    { "b", .switches = "l", .where = "t:3" } },
	  {},
	  "t:3: switch l is already below a (t:2)" },
	{ TOPO_TREE,
	  { { "a", "n1", .where = "t:1" }, { "a", "n2", .where = "t:2" } },
	  {},
	  "t:2: switch a is configured twice, first in t:1" },
	{ TOPO_TREE,
	  { { "a", .where = "t:1" } },
	  {},
	  "t:1: switch a needs nodes or switches below it" },
	{ TOPO_TREE,
	  { { "a", "n1", "b", .where = "t:1" } },
	  {},
	  "t:1: switch a has nodes and switches below it: give one of them" },
	{ TOPO_BLOCK,
	  { { "a", "n[0-3]", .where = "t:1" }, { "b", "n3", .where = "t:2" } },
	  {},
	  "t:2: node n3 is already in block a (t:1)" },
	{ TOPO_BLOCK,
	  { { "a", "n[0-3]", .where = "t:1" } },
	  { 8 },
	  "t:1: block a has 4 nodes, fewer than the block size of 8" },
	{ TOPO_BLOCK,
	  { { "a", "n[0-3]", .where = "t:1" } },
	  { 4, 12 },
	  "t:0: block size 12: sizes ascend, and each is a power of two times the base of 4 nodes" },
	{ TOPO_BLOCK,
	  { { "a", "n[0-3]", .where = "t:1" } },
	  { 4, 4 },
	  "t:0: block size 4: sizes ascend, and each is a power of two times the base of 4 nodes" },
	{ TOPO_BLOCK, { { "a", .where = "t:1" } }, {}, "t:1: block a has no nodes" },
	{ TOPO_RING, { { "a", .where = "t:1" } }, {}, "t:1: ring a has no nodes" },
	{ TOPO_TORUS3D,
	  { { "a", "n[0-7]", .where = "t:1", .x = 2, .y = 2, .z = 3 } },
	  {},
	  "t:1: torus a is 2x2x3 but has 8 nodes" },
	{ TOPO_TORUS3D,
	  { { "a", "n[0-7]", .where = "t:1", .x = 8, .y = 1 } },
	  {},
	  "t:1: torus a needs nodes and a size in x, y and z" },
	{ TOPO_FLAT, { { "a", "n1", .where = "t:1" } }, {}, "t:1: a flat topology has no units" },
};

static void test_refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(refusals); i++) {
		struct topo_spec spec = { .name = "default",
					  .kind = refusals[i].kind,
					  .where = "t:0",
					  .units = refusals[i].units,
					  .block_sizes = refusals[i].sizes };
		while (spec.unit_count < 4 && refusals[i].units[spec.unit_count].name)
			spec.unit_count++;
		while (spec.block_size_count < 3 && refusals[i].sizes[spec.block_size_count])
			spec.block_size_count++;
		struct topology *t = NULL;
		struct error err = {};
		if (fabric_new(&spec, 16, &t, &err) >= 0)
			fail_msg("accepted, instead of: %s", refusals[i].want);
		assert_string_equal(err.text, refusals[i].want);
	}
}

/* ---- choices ----------------------------------------------------------------------------------- */

static const struct topo_unit tree_units[] = {
	{ "leaf0", "n[0-3]", .where = "t" },
	{ "leaf1", "n[4-7]", .where = "t" },
	{ "leaf2", "n[8-11]", .where = "t" },
	{ "leaf3", "n[12-15]", .where = "t" },
	{ "pod0", .switches = "leaf[0-1]", .where = "t" },
	{ "pod1", .switches = "leaf[2-3]", .where = "t" },
	{ "spine", .switches = "pod[0-1]", .where = "t" },
	{ "island", "n[16-19]", .where = "t" },
};
static const uint32_t four_eight[] = { 4, 8 };
static const struct topo_unit block_units[] = {
	{ "b0", "n[0-3]", .where = "t" },   { "b1", "n[4-7]", .where = "t" },
	{ "b2", "n[8-11]", .where = "t" },  { "b3", "n[12-15]", .where = "t" },
	{ "b4", "n[16-20]", .where = "t" },
};
static const struct topo_unit ring_units[] = { { "r0", "n[0-7]", .where = "t" },
					       { "r1", "n[8-15]", .where = "t" } };
static const struct topo_unit torus_units[] = { { "pod", "n[0-26]", .where = "t", .x = 3, .y = 3,
						  .z = 3 } };

static const struct topo_spec tree = {
	"default", TOPO_TREE, true, tree_units, ARRAY_COUNT(tree_units), "t", NULL, 0
};
static const struct topo_spec block = {
	"nvl", TOPO_BLOCK, false, block_units, ARRAY_COUNT(block_units), "t", four_eight, 2
};
static const struct topo_spec ring = {
	"ring", TOPO_RING, false, ring_units, ARRAY_COUNT(ring_units), "t", NULL, 0
};
static const struct topo_spec torus = {
	"torus", TOPO_TORUS3D, false, torus_units, 1, "t", NULL, 0
};
static const struct topo_spec flat = { "flat", TOPO_FLAT, false, NULL, 0, "t", NULL, 0 };

enum { NODES = 32 };
static const uint32_t late_first[NODES] = { [0 ... 7] = 5, [8 ... 31] = 1 };

static const struct {
	const struct topo_spec *spec;
	const char *candidates;
	struct topo_wish wish;
	const char *required;
	const char *want; /* NULL: there is no such set */
	uint32_t switches;
} choices[] = {
	/* tree: the lowest switch, few leaves, the tightest */
	{ &tree, "0-15", { .want = 4 }, "", "0,1,2,3", 1 },
	{ &tree, "0-3,5-7,8-15", { .want = 3 }, "", "5,6,7", 1 },
	{ &tree, "0-3,5-7,8-15", { .want = 2 }, "", "5,6", 1 },
	{ &tree, "0-1,4-5,8-9,12-15", { .want = 4 }, "", "12,13,14,15", 1 },
	{ &tree, "0-1,4-5,8-9,12-15", { .want = 5 }, "", "8,12,13,14,15", 2 },
	{ &tree, "0-1,4-5,8-9,12-14", { .want = 4 }, "", "0,1,4,5", 2 }, /* as tight as can be */
	{ &tree, "0-15", { .want = 4, .weight = late_first }, "", "8,9,10,11", 1 },
	{ &tree, "0-15", { .want = 9 }, "", "0,1,2,3,4,5,6,7,8", 3 },
	{ &tree, "0-19", { .want = 16 }, "", "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15", 4 },
	{ &tree, "0-19", { .want = 17 }, "", NULL, 0 }, /* nothing is above island and spine */
	{ &tree, "0-15", { .want = 3 }, "6", "4,5,6", 1 },
	{ &tree, "0-15", { .want = 2 }, "3,4", "3,4", 2 },
	{ &tree, "0-15", { .want = 2 }, "3,16", NULL, 0 },
	{ &tree, "0-15", { .want = 2 }, "17", NULL, 0 },
	{ &tree, "0,4,8-10", { .want = 3, .switches_max = 1 }, "", "8,9,10", 1 },
	{ &tree, "0,4,8-9", { .want = 2, .switches_max = 1 }, "", "8,9", 1 },
	{ &tree, "0,4,8,12", { .want = 3, .switches_max = 2 }, "", NULL, 0 },
	{ &tree, "0,1,4,5,8-10", { .want = 4, .switches_max = 2 }, "", "0,1,4,5", 2 },
	{ &tree, "0-15", { .want = 6, .segment = 3 }, "", "0,1,2,4,5,6", 2 },
	{ &tree, "0-15", { .want = 7, .segment = 3 }, "", NULL, 0 },
	{ &tree, "2-5,8-9", { .want = 4, .contiguous = true }, "", "2,3,4,5", 2 },
	{ &tree, "2-3,5,8-10", { .want = 4, .contiguous = true }, "", NULL, 0 },
	{ &tree, "20-31", { .want = 1 }, "", "20", 1 }, /* no switch connects it */
	{ &tree, "20-31", { .want = 2 }, "", NULL, 0 },
	/* block: inside a block, inside an aggregated one, no more blocks than it fills */
	{ &block, "0-20", { .want = 4 }, "", "0,1,2,3", 1 },
	{ &block, "0-2,4-7", { .want = 3 }, "", "0,1,2", 1 },
	{ &block, "0-2,4-6", { .want = 4 }, "", NULL, 0 },
	{ &block, "0-2,4-6", { .want = 5 }, "", "0,1,2,4,5", 2 },
	{ &block, "4-11", { .want = 8 }, "", NULL, 0 }, /* b[1-2] is no aggregated block */
	{ &block, "0-15", { .want = 8 }, "", "0,1,2,3,4,5,6,7", 2 },
	{ &block, "0-20", { .want = 9 }, "", "0,1,2,3,16,17,18,19,20", 2 },
	{ &block, "16-20", { .want = 5 }, "", "16,17,18,19,20", 1 }, /* larger than planned */
	{ &block, "0-20", { .want = 6, .segment = 2 }, "", "0,1,2,3,4,5", 2 },
	{ &block,
	  "0-20",
	  { .want = 6, .segment = 2, .spread_segments = true },
	  "",
	  "0,1,4,5,8,9",
	  3 },
	{ &block, "0-1,8-9,16-17", { .want = 6, .segment = 2 }, "", "0,1,8,9,16,17", 3 },
	{ &block,
	  "0-1,8-9,16-17",
	  { .want = 6, .segment = 2, .consolidate_segments = true },
	  "",
	  NULL,
	  0 },
	{ &block, "0-2,8-9", { .want = 6, .segment = 3 }, "", NULL, 0 },
	{ &block, "0-20", { .want = 8, .segment = 8 }, "9", "8,9,10,11,12,13,14,15", 2 },
	{ &block, "0-20", { .want = 16, .segment = 16 }, "", NULL, 0 },
	{ &block, "2-7", { .want = 4, .contiguous = true }, "", "4,5,6,7", 1 },
	/* ring: an arc, over the end */
	{ &ring, "0-1,6-7", { .want = 4 }, "", "6,7,0,1", 1 },
	{ &ring, "0-7,9-11", { .want = 3 }, "", "9,10,11", 1 },
	{ &ring, "0-15", { .want = 3 }, "7", "5,6,7", 1 },
	{ &ring, "0-15", { .want = 9 }, "", NULL, 0 },
	{ &ring, "0,2,4,6", { .want = 2 }, "", NULL, 0 },
	/* torus: boxes */
	{ &torus, "0-26", { .want = 8 }, "", "0,1,3,4,9,10,12,13", 1 },
	{ &torus, "0,2,9,11", { .want = 4 }, "", "2,0,11,9", 1 }, /* over a face */
	{ &torus,
	  "0-26",
	  { .want = 27 },
	  "26",
	  "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26",
	  1 },
	{ &torus, "0-26", { .want = 7 }, "", NULL, 0 },
	{ &torus, "0,4,8", { .want = 3 }, "", NULL, 0 },
	/* flat */
	{ &flat, "1,3,5-9", { .want = 3 }, "", "1,3,5", 1 },
	{ &flat, "1,3,5-9", { .want = 3, .contiguous = true }, "", "5,6,7", 1 },
	{ &flat, "1-3,5-9", { .want = 3, .contiguous = true }, "", "1,2,3", 1 },
	{ &flat, "1-3,5-9", { .want = 3, .contiguous = true }, "8", "6,7,8", 1 },
	{ &flat, "1,3,5-9", { .want = 3, .weight = late_first }, "5", "5,8,9", 1 },
	{ NULL, "4-9", { .want = 2 }, "", "4,5", 1 },
	{ NULL, "4-9", { .want = 7 }, "", NULL, 0 },
};

static void test_choices(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(choices); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct topology *t = NULL;
		struct error err = {};
		struct bitset candidates, required;
		struct topo_wish wish = choices[i].wish;
		uint32_t ret[NODES], switches = 0;
		AUTO_BUF struct buf got = {};
		if (choices[i].spec && fabric_new(choices[i].spec, NODES, &t, &err) < 0)
			fail_msg("%s", err.text);
		bitset_init_in(&candidates, NODES, a);
		bitset_init_in(&required, NODES, a);
		fabric_set(choices[i].candidates, &candidates);
		fabric_set(choices[i].required, &required);
		wish.required = &required;
		bool found = topology_choose(t, &candidates, &wish, a, ret, &switches);
		for (uint32_t k = 0; found && k < wish.want; k++)
			buf_printf(&got, "%s%u", k ? "," : "", ret[k]);
		if (found != !!choices[i].want ||
		    !str_eq(buf_text(&got), choices[i].want ? choices[i].want : "") ||
		    switches != choices[i].switches)
			fail_msg("choice %zu (%u of %s): got '%s' from %u, expected '%s' from %u",
				 i, wish.want, choices[i].candidates, buf_text(&got), switches,
				 choices[i].want ? choices[i].want : "", choices[i].switches);
		topology_free(t);
	}
}

/* ---- words ------------------------------------------------------------------------------------- */

static void expect_show(const struct topology *t, const char *unit, uint32_t node, const char *want)
{
	char names[NODES][16];
	struct topo_show show = { unit, node, fabric_name, names };
	AUTO_BUF struct buf out = {};
	uint32_t lines = 0, said = topology_show(t, &show, &out);
	assert_string_equal(buf_text(&out), want);
	for (const char *p = want; *p; p++)
		lines += *p == '\n';
	assert_int_equal(said, lines);
}

static void expect_address(const struct topology *t, uint32_t node, const char *addr,
			   const char *pattern)
{
	char names[NODES][16];
	AUTO_BUF struct buf a = {}, p = {};
	topology_address(t, node, fabric_name(names, node), &a, &p);
	assert_string_equal(buf_text(&a), addr);
	assert_string_equal(buf_text(&p), pattern);
}

static void test_words_of_trees(void **state)
{
	(void)state;
	struct topology *t = NULL;
	struct bitset all;
	assert_int_equal(fabric_new(&tree, NODES, &t, NULL), 0);
	expect_show(t, "leaf2", BITSET_NONE,
		    "SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[8-11]\n");
	expect_show(t, NULL, 5,
		    "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[4-7]\n"
		    "SwitchName=pod0 Level=1 LinkSpeed=1 Nodes=n[0-7] Switches=leaf[0-1]\n"
		    "SwitchName=spine Level=2 LinkSpeed=1 Nodes=n[0-15] Switches=pod[0-1]\n");
	expect_show(t, "leaf9", BITSET_NONE, "");
	expect_address(t, 13, "spine.pod1.leaf3.n13", "switch.switch.switch.node");
	expect_address(t, 17, "island.n17", "switch.node");
	expect_address(t, 30, "n30", "node");
	assert_int_equal(topology_kind(t), TOPO_TREE);
	assert_true(topology_is_default(t));
	bitset_init(&all, NODES);
	bitset_add_range(&all, 0, NODES);
	assert_int_equal(topology_loose_node(t, &all), 20);
	bitset_done(&all);
	topology_free(t);
}

static void test_words_of_others(void **state)
{
	(void)state;
	struct topology *t = NULL;
	assert_int_equal(fabric_new(&block, NODES, &t, NULL), 0);
	expect_show(t, NULL, 20, "BlockName=b4 BlockIndex=4 Nodes=n[16-20] BlockSize=4\n");
	expect_show(t, "b[2-3]", BITSET_NONE,
		    "AggregatedBlock=b[2-3] BlockIndex=6 Nodes=n[8-15] BlockSize=8\n");
	expect_address(t, 20, "b4.n20", "block.node");
	assert_string_equal(topology_name(t), "nvl");
	topology_free(t);
	assert_int_equal(fabric_new(&ring, NODES, &t, NULL), 0);
	expect_show(t, NULL, 9, "RingName=r1 Nodes=n[8-15]\n");
	expect_address(t, 9, "r1.n9", "ring.node");
	topology_free(t);
	assert_int_equal(fabric_new(&torus, NODES, &t, NULL), 0);
	expect_show(t, NULL, BITSET_NONE, "TorusName=pod Size=3x3x3 Nodes=n[0-26]\n");
	expect_address(t, 9, "pod.n9", "torus.node");
	topology_free(t);
	expect_show(NULL, NULL, BITSET_NONE, "");
	expect_address(NULL, 3, "n3", "node");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_words_of_trees),
		cmocka_unit_test(test_words_of_others),
	};
	return cmocka_run_group_tests_name("sched-topo", tests, NULL, NULL);
}
