/* SPDX-License-Identifier: Apache-2.0 */
/* topology.conf and topology.yaml: what is read, which of them counts, and what is refused with the line. */
#include "base/buf.h"
#include "base/error.h"
#include "files.h"
#include "../cm.h"

#define MAIN "SlurmctldHost=ctl\nNodeName=n[1-8]\nPartitionName=p Nodes=ALL Default=YES\n"

static int load(const char *topology, struct conf **ret, struct error *err)
{
	const struct test_file files[] = {
		{ "/etc/slurm/slurm.conf", MAIN }, { "/etc/slurm/topology.conf", topology }, {}
	};
	return test_load(files, ret, err);
}

static const struct {
	const char *text, *want;
} refusals[] = {
	{ "SwitchName=a", "topology.conf:1: SwitchName=a needs Nodes= or Switches=" },
	{ "SwitchName=a Nodes=n1 Switches=b", "topology.conf:1: SwitchName=a has Nodes and Switches: give one of them" },
	{ "SwitchName=a[1-2] Nodes=n1", "topology.conf:1: SwitchName=a[1-2]: a line is about one switch" },
	{ "SwitchName=a Node=n1", "topology.conf:1: Node: unknown key, did you mean Nodes?" },
	{ "Nodes=n1", "topology.conf:1: Nodes: a line of topology.conf begins with SwitchName=, BlockName= or BlockSizes=" },
	{ "BlockName=a", "topology.conf:1: BlockName=a needs Nodes=" },
	{ "BlockName=b[1-2] Nodes=n1", "topology.conf:1: BlockName=b[1-2]: a line is about one block" },
	{ "BlockSizes=4,x", "topology.conf:1: BlockSizes=4,x: 'x' is no number of nodes, as in 4,8,16" },
	{ "BlockSizes=4\nBlockSizes=8", "topology.conf:2: BlockSizes is given twice, first in topology.conf:1" },
};

static void test_refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(refusals); i++) {
		struct conf *c = NULL;
		struct error err = {};
		if (load(refusals[i].text, &c, &err) >= 0)
			fail_msg("accepted: %s", refusals[i].text);
		assert_string_equal(err.text, refusals[i].want);
	}
}

static void test_conf(void **state)
{
	(void)state;
	AUTO_CONF struct conf *c = NULL;
	struct error err = {};
	assert_int_equal(load("SwitchName=spine Switches=leaf[0-1]\n"
			      "SwitchName=leaf0 Nodes=n[1-4] LinkSpeed=100\nSwitchName=leaf1 Nodes=n[5-7]\n"
			      "BlockName=b1 Nodes=n[1-8]\nBlockSizes=4,8\n", &c, &err), 0);
	assert_int_equal(c->topology_count, 1);
	const struct topology_conf *t = &c->topologies[0];
	assert_string_equal(t->name, "default");
	assert_int_equal(t->kind, TOPOLOGY_KIND_TREE);
	assert_true(t->cluster_default);
	assert_int_equal(t->n_units, 3);
	assert_string_equal(t->units[0].switches, "leaf[0-1]");
	assert_string_equal(t->units[1].nodes, "n[1-4]");
	assert_string_equal(t->units[1].link_speed, "100");
	assert_string_equal(t->units[2].where, "topology.conf:3");
	assert_string_equal(c->main.topology_plugin, "topology/tree");
}

/* ---- which of the files, and which of its lines ---------------------------------------------------- */

static int load_both(const char *extra, const char *topology, const char *yaml, struct conf **ret, struct error *err)
{
	AUTO_BUF struct buf text = {};
	buf_printf(&text, "%s%s", extra, MAIN);
	const struct test_file files[] = { { "/etc/slurm/slurm.conf", buf_text(&text) },
					   { "/etc/slurm/topology.conf", topology },
					   { yaml ? "/etc/slurm/topology.yaml" : NULL, yaml },
					   {} };
	return test_load(files, ret, err);
}

static const struct {
	const char *plugin, *lines;
	enum topology_kind want;
	uint32_t units;
} kinds[] = {
	{ "", "", TOPOLOGY_KIND_FLAT, 0 },
	{ "", "SwitchName=s Nodes=n[1-8]\n", TOPOLOGY_KIND_TREE, 1 },
	{ "", "BlockName=b Nodes=n[1-8]\n", TOPOLOGY_KIND_BLOCK, 1 },
	{ "TopologyPlugin=topology/flat\n", "SwitchName=s Nodes=n[1-8]\n", TOPOLOGY_KIND_FLAT, 0 },
	{ "TopologyPlugin=topology/none\n", "SwitchName=s Nodes=n[1-8]\n", TOPOLOGY_KIND_FLAT, 0 },
	{ "TopologyPlugin=topology/block\n", "SwitchName=s Nodes=n[1-8]\nBlockName=b Nodes=n[1-8]\nBlockSizes=4\n",
	  TOPOLOGY_KIND_BLOCK, 1 },
	{ "TopologyPlugin=topology/tree\n", "BlockName=b Nodes=n[1-8]\n", TOPOLOGY_KIND_FLAT, 0 },
};

static void test_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
		AUTO_CONF struct conf *c = NULL;
		struct error err = {};
		if (load_both(kinds[i].plugin, kinds[i].lines, NULL, &c, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(c->topology_count, 1);
		assert_int_equal(c->topologies[0].kind, kinds[i].want);
		assert_int_equal(c->topologies[0].n_units, kinds[i].units);
	}
}

#define TREE "- topology: fabric\n  tree:\n    switches:\n"
static const char several[] =
	"---\n" TREE "      - switch: spine\n        children: leaf[1-2]\n"
	"      - {switch: leaf1, nodes: 'n[1-4]', link_speed: 400}\n      - {switch: leaf2, nodes: 'n[5-8]'}\n"
	"- topology: racks\n  cluster_default: true\n  block:\n    block_sizes: [2, 4]\n"
	"    blocks:\n      - block: b1\n        nodes: n[1-4]\n"
	"- topology: round\n  ring:\n    rings:\n      - ring: r\n        nodes: n[1-8]\n"
	"- topology: cube\n  torus3d:\n    tori:\n      - {torus: t, x: 2, y: 2, z: 2, nodes: 'n[1-8]'}\n"
	"- topology: plain\n  cluster_default: false\n  flat: true\n";

static void test_yaml(void **state)
{
	(void)state;
	AUTO_CONF struct conf *c = NULL;
	struct error err = {};
	if (load_both("", "SwitchName=ignored Nodes=n1\n", several, &c, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(c->topology_count, 5);
	const struct topology_conf *t = c->topologies;
	assert_string_equal(t[0].units[0].switches, "leaf[1-2]");
	assert_string_equal(t[0].units[1].link_speed, "400");
	assert_string_equal(t[0].units[2].where, "topology.yaml:8");
	assert_false(t[0].cluster_default);
	assert_true(t[1].cluster_default);
	assert_int_equal(t[1].kind, TOPOLOGY_KIND_BLOCK);
	assert_int_equal(t[1].n_block_sizes, 2);
	assert_int_equal(t[1].block_sizes[1], 4);
	assert_int_equal(t[2].kind, TOPOLOGY_KIND_RING);
	assert_int_equal(t[3].kind, TOPOLOGY_KIND_TORUS3D);
	assert_int_equal(t[3].units[0].z, 2);
	assert_int_equal(t[4].kind, TOPOLOGY_KIND_FLAT);
	assert_string_equal(c->main.topology_plugin, "topology/block");
}

static const struct {
	const char *text, *want;
} yaml_refusals[] = {
	{ "", "topology.yaml: a list of topologies is meant: lines that begin with - topology: NAME" },
	{ "topology: x", "topology.yaml: a list of topologies is meant: lines that begin with - topology: NAME" },
	{ "- topology: [", "topology.yaml:2: did not find expected node content" },
	{ "- topology: &a x\n", "topology.yaml:1: anchors and aliases (& and *) are not understood here" },
	{ "- topology: x\n", "topology.yaml:1: topology x: say what it is: tree, block, ring, torus3d or flat" },
	{ "- flat: true\n", "topology.yaml:1: topology: NAME is missing" },
	{ "- topology: x\n  flat: maybe\n", "topology.yaml:2: flat: true is all that can be said" },
	{ "- topology: x\n  flat: true\n  ring: {}\n", "topology.yaml:3: ring: the topology is a flat already" },
	{ "- topology: x\n  star: true\n",
	  "topology.yaml:2: star: a topology has topology, cluster_default and one of tree, block, ring, torus3d and flat" },
	{ "- topology: x\n  flat: true\n- topology: x\n  flat: true\n",
	  "topology.yaml:3: topology x is described twice, first in topology.yaml:1" },
	{ "- topology: x\n  cluster_default: true\n  flat: true\n- topology: y\n  cluster_default: true\n  flat: true\n",
	  "topology.yaml:4: cluster_default: there is one already, x" },
	{ "- topology: x\n  cluster_default: perhaps\n  flat: true\n",
	  "topology.yaml:2: cluster_default: 'perhaps' is neither true nor false" },
	{ TREE "      - nodes: n1\n", "topology.yaml:4: an entry of switches needs switch: NAME" },
	{ TREE "      - switch: a[1-2]\n        nodes: n1\n", "topology.yaml:4: a[1-2]: an entry is about one switch" },
	{ TREE "      - switch: a\n        x: 4\n",
	  "topology.yaml:5: x: a switch has switch and nodes children link_speed " },
	{ TREE "      - switch: a\n        nodes:\n", "topology.yaml:5: nodes needs a value" },
	{ TREE "      - switch: a\n        nodes: n1\n        nodes: n2\n",
	  "topology.yaml:6: nodes is given twice, first in line 5" },
	{ "- topology: x\n  block:\n    block_sizes: [a]\n    blocks: [{block: b, nodes: n1}]\n",
	  "topology.yaml:3: block_sizes: 'a' is no number of nodes" },
	{ "- topology: x\n  ring:\n    rings: []\n", "topology.yaml:2: ring: there is nothing in rings" },
	{ "- topology: x\n  flat: true\n---\n- topology: y\n", "topology.yaml:3: a second document begins here: one is read" },
};

static void test_yaml_refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(yaml_refusals); i++) {
		struct conf *c = NULL;
		struct error err = {};
		if (load_both("", "", yaml_refusals[i].text, &c, &err) >= 0)
			fail_msg("accepted: %s", yaml_refusals[i].text);
		assert_string_equal(err.text, yaml_refusals[i].want);
	}
}

static void test_partitions(void **state)
{
	(void)state;
	AUTO_CONF struct conf *c = NULL;
	struct error err = {};
	struct conf *none = NULL;
	assert_int_equal(load_both("PartitionName=q Nodes=ALL Topology=racks\n", "", several, &c, &err), 0);
	assert_string_equal(conf_partition(c, "q")->topology, "racks");
	assert_true(load_both("PartitionName=q Nodes=ALL Topology=nowhere\n", "", several, &none, &err) < 0);
	assert_string_equal(err.text, "slurm.conf:1: Topology=nowhere: there is no such topology");
	assert_true(load_both("PartitionName=q Nodes=ALL Topology=nowhere\n", "", NULL, &none, &err) < 0);
	assert_string_equal(err.text, "slurm.conf:1: Topology=nowhere: there is no such topology; "
				      "topology.yaml can describe several");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_conf),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_yaml),
		cmocka_unit_test(test_yaml_refusals),
		cmocka_unit_test(test_partitions),
	};
	return cmocka_run_group_tests_name("conf-topology", tests, NULL, NULL);
}
