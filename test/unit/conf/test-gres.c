/* SPDX-License-Identifier: Apache-2.0 */
/* gres.conf and its join with Gres= of the nodes. */
#include "base/arena.h"
#include "base/bitset.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "files.h"
#include "../cm.h"

#define HEAD "SlurmctldHost=ctl\nGresTypes=gpu,shard,mps,nic\n"
#define TAIL "\nPartitionName=p Nodes=ALL Default=YES\n"

static int load(const char *node_line, const char *gres, struct conf **ret, struct error *err)
{
	AUTO_BUF struct buf text = {};
	buf_printf(&text, HEAD "%s" TAIL, node_line);
	const struct test_file files[] = {
		{ "/etc/slurm/slurm.conf", buf_text(&text) }, { "/etc/slurm/gres.conf", gres }, {}
	};
	return test_load(files, ret, err);
}

/* name:type:count@first(files)[cpus]{links}/parts of GPUs/flags for each entry of node n1, or the error. */
static void print_gres(const struct conf *c, struct buf *out)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct node_gres *g;
	uint32_t count;
	struct error err = {};
	if (conf_node_gres(c, conf_node(c, "n1"), a, &g, &count, &err) < 0) {
		buf_printf(out, "!%s", err.text);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		buf_printf(out, "%s%s:%s:%llu@%u", i ? " " : "", g[i].name, g[i].type ? g[i].type : "",
			   (unsigned long long)g[i].count, g[i].first);
		if (g[i].files)
			buf_printf(out, "(%s)", g[i].files);
		if (!bitset_empty(&g[i].cores)) {
			buf_putc(out, '[');
			bitset_print(&g[i].cores, out);
			buf_putc(out, ']');
		}
		for (uint32_t k = 0; k < g[i].n_links_to; k++)
			buf_printf(out, "%s%u%s", k ? "," : "{", g[i].links_to[k], k + 1 == g[i].n_links_to ? "}" : "");
		for (uint32_t k = 0; k < g[i].n_each; k++)
			buf_printf(out, "%s%u%s", k ? "," : "/", g[i].each[k], k + 1 == g[i].n_each ? "/" : "");
		buf_printf(out, "%s%s%s", g[i].no_consume ? "!" : "", g[i].one_sharing ? "one" : "",
			   g[i].is_explicit ? "explicit" : "");
	}
}

#define NODE "NodeName=n[1-4] Sockets=2 CoresPerSocket=4 "

static const struct {
	const char *node, *gres, *want;
} joins[] = {
	{ NODE, "", "" },
	{ NODE "Gres=gpu:8", "", "gpu::8@0" },
	{ NODE "Gres=gpu:a100:2,gpu:h100:3,nic", "", "gpu:a100:2@0 gpu:h100:3@2 nic::1@0" },
	{ NODE "Gres=gpu:8", "Name=gpu File=/dev/nvidia[0-7]", "gpu::8@0(/dev/nvidia[0-7])" },
	{ NODE "Gres=gpu:8", "NodeName=n[1-2] Name=gpu File=/dev/nvidia[0-7]",
	  "gpu::8@0(/dev/nvidia[0-7])" },
	{ NODE "Gres=gpu:8", "NodeName=n[2-4] Name=gpu File=/dev/nvidia[0-7]", "gpu::8@0" },
	{ NODE "Gres=gpu:a100:8", "Name=gpu File=/dev/nvidia[0-7]", "gpu:a100:8@0(/dev/nvidia[0-7])" },
	{ NODE "Gres=gpu:8", "Name=gpu Type=a100 File=/dev/nvidia[0-7]", "gpu:a100:8@0(/dev/nvidia[0-7])" },
	{ NODE "Gres=gpu:h100:2,gpu:a100:2",
	  "Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-3\nName=gpu Type=h100 File=/dev/nvidia[2-3] "
	  "Cores=4-7",
	  "gpu:h100:2@2(/dev/nvidia[2-3])[4-7] gpu:a100:2@0(/dev/nvidia[0-1])[0-3]" },
	{ NODE "Gres=gpu:a:2,gpu:b:1", "Name=gpu File=/dev/nvidia[0-3]",
	  "gpu:a:2@0(/dev/nvidia[0-1]) gpu:b:1@2(/dev/nvidia2)" },
	{ NODE "Gres=gpu:2", "Name=gpu File=/dev/nvidia0\nName=gpu File=/dev/nvidia1",
	  "gpu::2@0(/dev/nvidia[0-1])" },
	{ NODE "Gres=gpu:2", "Name=gpu Count=2", "gpu::2@0" },
	{ NODE "Gres=gpu:2,shard:64,mps:200", "Name=gpu File=/dev/nvidia[0-1]\nName=shard Count=64\n"
	  "Name=mps Count=150 File=/dev/nvidia0\nName=mps Count=50 File=/dev/nvidia1",
	  "gpu::2@0(/dev/nvidia[0-1]) shard::64@0/32,32/ mps::200@0/150,50/one" },
	{ NODE "Gres=gpu:h100:4,shard:10", "", "gpu:h100:4@0 shard:h100:10@0/3,3,2,2/" },
	{ NODE "Gres=shard:h100:2,gpu:a100:1,gpu:h100:2,shard:a100:3", "",
	  "gpu:a100:1@0 gpu:h100:2@1 shard:h100:2@1/1,1/ shard:a100:3@0/3/" },
	{ NODE "Gres=gpu:a100:1,gpu:h100:2,shard:9", "",
	  "gpu:a100:1@0 gpu:h100:2@1 shard:a100:3@0/3/ shard:h100:6@1/3,3/" },
	{ NODE "Gres=gpu:2,mps:100", "Name=mps Count=100 Flags=all_sharing", "gpu::2@0 mps::100@0/50,50/" },
	{ NODE "Gres=gpu:2,shard:5", "Name=gpu File=/dev/nvidia[0-1]\nName=shard Count=5 File=/dev/nvidia1 "
	  "Flags=one_sharing", "gpu::2@0(/dev/nvidia[0-1]) shard::5@0/0,5/one" },
	{ NODE "Gres=gpu:4", "Name=gpu File=/dev/nvidia0 Cores=0-3 Links=-1,4,0,0\n"
	  "Name=gpu File=/dev/nvidia1 Cores=0-3 Links=4,-1,0,0\n"
	  "Name=gpu File=/dev/nvidia2 Cores=4-7 Links=0,0,-1,4\nName=gpu File=/dev/nvidia3 Cores=4-7 Links=0,0,4,-1",
	  "gpu::2@0(/dev/nvidia[0-1])[0-3]{0,4,0,0,4,0,0,0} gpu::2@2(/dev/nvidia[2-3])[4-7]{0,0,0,4,0,0,4,0}" },
	{ NODE "Gres=nic:fast:no_consume:4G", "", "nic:fast:4294967296@0!" },
	{ NODE "Gres=nic:4", "Name=nic File=/dev/nic[0-3] Flags=CountOnly,explicit", "nic::4@0explicit" },
	{ NODE "Gres=nic:2,nic:2", "", "nic::4@0" },
	{ NODE "Gres=nic:4", "Name=nic Count=2 Cores=0-3\nName=nic Count=2 Cores=4-7", "nic::4@0" },
	{ NODE "Gres=shard:8", "", "!node n1: Gres=shard:8, but the node has no such GPUs to share (0)" },
	{ NODE "Gres=gpu:a100:1,shard:h100:8", "",
	  "!node n1: Gres=shard:h100:8, but the node has no such GPUs to share (0)" },
	{ NODE "Gres=gpu:1,shard:8", "Name=gpu File=/dev/nvidia0\nName=shard Count=4 File=/dev/nvidia0",
	  "!node n1: Gres=shard:8, but gres.conf gives its GPUs another number of parts (4)" },
	{ NODE "Gres=gpu:1,shard:8", "Name=gpu File=/dev/nvidia0\nName=shard Count=8 File=/dev/nvidia1",
	  "!gres.conf:2: File=/dev/nvidia1: node n1 has no GPU with this file" },
	{ NODE "Gres=gpu:a:1,shard:8,shard:a:2", "",
	  "!node n1: Gres=shard:a:2, but another entry shares the same GPUs, from number (0)" },
	{ NODE "ThreadsPerCore=2 Gres=gpu:1", "Name=gpu File=/dev/nvidia0 Cores=1-2,4",
	  "gpu::1@0(/dev/nvidia0)[2-5,8-9]" },
	{ NODE "Gres=gpu:1", "NodeName=n1 Name=gpu MultipleFiles=/dev/nvidia0,/dev/cap[1-2]",
	  "gpu::1@0(/dev/nvidia0,/dev/cap[1-2])" },
	{ NODE "Gres=gpu:1", "AutoDetect=off\nName=gpu File=/dev/nvidia0", "gpu::1@0(/dev/nvidia0)" },
	{ NODE "Gres=gpu:8", "Name=gpu File=/dev/nvidia[0-3]",
	  "!node n1: Gres=gpu:8, but gres.conf gives it 4 of them" },
	{ NODE "Gres=gpu:a100:2", "Name=gpu Type=h100 File=/dev/nvidia[0-3]",
	  "!node n1: Gres=gpu:a100:2, but gres.conf gives it 0 of them" },
	{ NODE "Gres=gpu:1", "\nName=gpu File=/dev/nvidia0 Cores=4-8",
	  "!gres.conf:2: Cores=4-8: node n1 has cores 0 to 7" },
};

static void test_joins(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(joins); i++) {
		AUTO_CONF struct conf *c = NULL;
		AUTO_BUF struct buf out = {};
		struct error err = {};
		if (load(joins[i].node, joins[i].gres, &c, &err) < 0)
			fail_msg("%s: %s", joins[i].gres, err.text);
		print_gres(c, &out);
		assert_string_equal(buf_text(&out), joins[i].want);
	}
}

static const struct {
	const char *gres, *want;
} refusals[] = {
	{ "Nme=gpu", "gres.conf:1: Nme: unknown key, did you mean Name?" },
	{ "Type=a100", "gres.conf:1: Name= is missing: write Name=gpu or another of GresTypes" },
	{ "\nName=gpu File=/dev/nvidia[0-7] Count=4",
	  "gres.conf:2: Count=4, but File=/dev/nvidia[0-7] is 8 devices: leave Count out" },
	{ "Name=gpu Count=x", "gres.conf:1: Count=x: not a count: write a number, or one with K, M, G or T" },
	{ "Name=gpu File=/dev/n[0-2000]", "gres.conf:1: File=/dev/n[0-2000]: 2001 files, 1024 is the most" },
	{ "Name=gpu File=/a MultipleFiles=/b",
	  "gres.conf:1: File and MultipleFiles exclude each other: give one of them" },
	{ "Name=gpu Cores=0-x", "gres.conf:1: Cores=0-x: not a list of cores: write 0-7,16-23" },
	{ "Name=gpu Cores=3-1", "gres.conf:1: Cores=3-1: not a list of cores: write 0-7,16-23" },
	{ "Name=gpu Cores=1,", "gres.conf:1: Cores=1,: not a list of cores: write 0-7,16-23" },
	{ "Name=gpu Links=-1,-2", "gres.conf:1: Links=-1,-2: not a list of links: write -1,16,16,16" },
	{ "Name=gpu Flags=CountOnyl", "gres.conf:1: Flags=CountOnyl: unknown flag, did you mean CountOnly?" },
	{ "Name=gpu File=/dev/nvidia[0-1] Links=-1,4", "gres.conf:1: Links=-1,4 is about one device, but File "
	  "names 2: give each a line of its own" },
	{ "Name=mps Flags=one_sharing,all_sharing",
	  "gres.conf:1: Flags=one_sharing,all_sharing: one_sharing and all_sharing exclude each other" },
	{ "AutoDetect=nvlm",
	  "gres.conf:1: AutoDetect=nvlm: not known: write off, nvml, nvidia, rsmi, oneapi, nrt or full" },
};

static void test_refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(refusals); i++) {
		struct conf *c = NULL;
		struct error err = {};
		if (load(NODE, refusals[i].gres, &c, &err) >= 0)
			fail_msg("accepted: %s", refusals[i].gres);
		assert_string_equal(err.text, refusals[i].want);
	}
}

static void test_notes(void **state)
{
	(void)state;
	AUTO_CONF struct conf *c = NULL;
	struct error err = {};
	assert_int_equal(load(NODE, "AutoDetect=nvml\nNodeName=x1 Name=gpu\nName=fpga Flags=opencl_env\n", &c, &err),
			 0);
	assert_int_equal(c->note_count, 4);
	assert_string_equal(c->notes[0].text, "AutoDetect=nvml: understood, has no effect yet");
	assert_string_equal(c->notes[1].text, "NodeName=x1: a node that is not configured, x1 among them");
	assert_string_equal(c->notes[2].text, "Flags=opencl_env: understood, has no effect yet");
	assert_string_equal(c->notes[3].where, "gres.conf:3");
	assert_string_equal(c->notes[3].text, "Name=fpga: has no effect, it is not in GresTypes of slurm.conf");
}

static void test_paths(void **state)
{
	(void)state;
	struct node_conf n = { .name = (char[]){ "n7" }, .hostname = (char[]){ "host.example.org" } };
	AUTO_ARENA struct arena *a = arena_new();
	assert_string_equal(conf_expand_path("/var/%n/%h.%%n%x%", &n, a), "/var/n7/host.%n%x%");
	n.hostname = NULL;
	assert_string_equal(conf_expand_path("%h", &n, a), "n7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joins),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_paths),
	};
	return cmocka_run_group_tests_name("conf-gres", tests, NULL, NULL);
}
