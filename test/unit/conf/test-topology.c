/* SPDX-License-Identifier: Apache-2.0 */
/* topology.conf: trees are accepted, everything else is refused with the line. */
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
	{ "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n[1-2]",
	  "topology.conf:2: node n1 is already in switch a (topology.conf:1)" },
	{ "SwitchName=a Nodes=n9", "topology.conf:1: Nodes=n9: node n9 is not configured: give it a NodeName line" },
	{ "SwitchName=a Switches=b", "topology.conf:1: Switches=b: there is no switch b" },
	{ "SwitchName=a Switches=a", "topology.conf:1: switch a is below itself" },
	{ "SwitchName=x Nodes=n1\nSwitchName=a Switches=b\nSwitchName=b Switches=c\nSwitchName=c Switches=a",
	  "topology.conf:2: switch a is below itself" },
	{ "SwitchName=l Nodes=n1\nSwitchName=a Switches=l\nSwitchName=b Switches=l",
	  "topology.conf:3: switch l is already below a (topology.conf:2)" },
	{ "SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2",
	  "topology.conf:2: switch a is configured twice, first in topology.conf:1" },
	{ "SwitchName=a", "topology.conf:1: SwitchName=a needs Nodes= or Switches=" },
	{ "SwitchName=a Nodes=n1 Switches=b", "topology.conf:1: SwitchName=a has Nodes and Switches: give one of them" },
	{ "SwitchName=a[1-2] Nodes=n1", "topology.conf:1: SwitchName=a[1-2]: a line is about one switch" },
	{ "SwitchName=a Node=n1", "topology.conf:1: Node: unknown key, did you mean Nodes?" },
	{ "Nodes=n1", "topology.conf:1: Nodes: a line of topology.conf begins with SwitchName=, BlockName= or BlockSizes=" },
	{ "BlockName=a Nodes=n[1-4]\nBlockName=b Nodes=n4",
	  "topology.conf:2: node n4 is already in block a (topology.conf:1)" },
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

static void test_tree(void **state)
{
	(void)state;
	AUTO_CONF struct conf *c = NULL;
	struct error err = {};
	assert_int_equal(load("SwitchName=spine Switches=leaf[0-1]\n"
			      "SwitchName=leaf0 Nodes=n[1-4] LinkSpeed=100\nSwitchName=leaf1 Nodes=n[5-7]\n"
			      "BlockName=b1 Nodes=n[1-8]\nBlockSizes=4,8\n", &c, &err), 0);
	assert_int_equal(c->switch_count, 3);
	assert_string_equal(c->switches[0].switches, "leaf[0-1]");
	assert_string_equal(c->switches[1].nodes, "n[1-4]");
	assert_int_equal(c->block_count, 2);
	assert_string_equal(c->blocks[1].sizes, "4,8");
	assert_string_equal(c->notes[c->note_count - 1].text, "no switch connects node n8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_tree),
	};
	return cmocka_run_group_tests_name("conf-topology", tests, NULL, NULL);
}
