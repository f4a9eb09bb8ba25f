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

/* name:type:count@first(files)[cpus]{links} for each entry of node n1, or the error. */
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
		if (g[i].links)
			buf_printf(out, "{%s}", g[i].links);
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
	  "Cores=4-7 Links=-1,4",
	  "gpu:h100:2@2(/dev/nvidia[2-3])[4-7]{-1,4} gpu:a100:2@0(/dev/nvidia[0-1])[0-3]" },
	{ NODE "Gres=gpu:a:2,gpu:b:1", "Name=gpu File=/dev/nvidia[0-3]",
	  "gpu:a:2@0(/dev/nvidia[0-1]) gpu:b:1@2(/dev/nvidia2)" },
	{ NODE "Gres=gpu:2", "Name=gpu File=/dev/nvidia0\nName=gpu File=/dev/nvidia1",
	  "gpu::1@0(/dev/nvidia0) gpu::1@1(/dev/nvidia1)" },
	{ NODE "Gres=gpu:2", "Name=gpu Count=2", "gpu::2@0" },
	{ NODE "Gres=gpu:2,shard:64,mps:200", "Name=gpu File=/dev/nvidia[0-1]\nName=shard Count=64\n"
	  "Name=mps Count=100 File=/dev/nvidia0", "gpu::2@0(/dev/nvidia[0-1]) shard::64@0 mps::200@0" },
	{ NODE "Gres=nic:fast:no_consume:4G", "", "nic:fast:4294967296@0" },
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
	assert_int_equal(load(NODE, "AutoDetect=nvml\nNodeName=x1 Name=gpu\nName=fpga Flags=CountOnly\n", &c, &err),
			 0);
	assert_int_equal(c->note_count, 4);
	assert_string_equal(c->notes[0].text, "AutoDetect=nvml: understood, has no effect yet");
	assert_string_equal(c->notes[1].text, "NodeName=x1: a node that is not configured, x1 among them");
	assert_string_equal(c->notes[2].text, "Flags: understood, has no effect yet");
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
