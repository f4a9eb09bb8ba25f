/* SPDX-License-Identifier: Apache-2.0 */
/* Whole configurations: what is read, what is refused and in which words. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "conf/value.h"
#include "files.h"
#include "../cm.h"

#include <time.h>

#define HEAD "SlurmctldHost=ctl\n"
#define TAIL "NodeName=tail\nPartitionName=last Nodes=tail\n"

static struct conf *load_good(const char *text)
{
	const struct test_file files[] = { { "/etc/slurm/slurm.conf", text }, {} };
	struct conf *c = NULL;
	struct error err = {};
	if (test_load(files, &c, &err) < 0)
		fail_msg("refused: %s", err.text);
	return c;
}

/* ---- refusals ------------------------------------------------------------------------------------- */

/* The line is the second of the file. */
static const struct {
	const char *line, *want;
} refusals[] = {
	{ "SlurmctldPrt=1", "SlurmctldPrt: unknown key, did you mean SlurmctldPort?" },
	{ "Xyzzyplugh=1", "Xyzzyplugh: unknown key" },
	{ "NodeNam=x", "NodeNam: unknown key, did you mean NodeName?" },
	{ "ControlMachine=x", "ControlMachine is gone: write SlurmctldHost=NAME" },
	{ "RealMemory=10", "RealMemory belongs on a line that begins with NodeName=" },
	{ "MaxTime=10", "MaxTime belongs on a line that begins with PartitionName=" },
	{ "NodeName=a KillWait=3", "KillWait belongs on a line of its own" },
	{ "NodeName=a MaxTime=3", "MaxTime belongs on a line that begins with PartitionName=" },
	{ "SlurmctldPort=abc", "SlurmctldPort=abc: not a number: write 1 to 65535" },
	{ "SlurmctldPort=0", "SlurmctldPort=0: out of range: write 1 to 65535" },
	{ "SlurmctldPort=70000", "SlurmctldPort=70000: out of range: write 1 to 65535" },
	{ "SlurmctldPort=-1", "SlurmctldPort=-1: not a number: write 1 to 65535" },
	{ "KillWait=30s", "KillWait=30s: not a number: write seconds, 0 to 65533" },
	{ "KillWait=UNLIMITED", "KillWait=UNLIMITED: not a number: write seconds, 0 to 65533" },
	{ "OverTimeLimit=x", "OverTimeLimit=x: not a number: write minutes, 0 to 65533, or UNLIMITED" },
	{ "AuthType=auth/none", "AuthType=auth/none: not known: write auth/munge or auth/slurm" },
	{ "EnforcePartLimits=some", "EnforcePartLimits=some: not known: write NO, ANY or ALL" },
	{ "TrackWCKey=maybe", "TrackWCKey=maybe: neither yes nor no: write YES or NO" },
	{ "DefMemPerCPU=4X", "DefMemPerCPU=4X: not a size: write MiB, or a number with K, M, G or T" },
	{ "SlurmctldDebug=loud",
	  "SlurmctldDebug=loud: not a log level: write quiet, fatal, error, info, verbose, debug, debug2 or "
	  "debug3" },
	{ "PriorityMaxAge=1h",
	  "PriorityMaxAge=1h: not a time: write minutes, m:s, h:m:s, d-h, d-h:m or d-h:m:s" },
	{ "SlurmctldHost=a,b", "SlurmctldHost=a,b: not a host: write NAME or NAME(ADDRESS), one a line" },
	{ "SlurmctldHost=a()", "SlurmctldHost=a(): not a host: write NAME or NAME(ADDRESS), one a line" },
	{ "AuthInfo=sokcet=/x", "AuthInfo=sokcet: not known: write socket=PATH or key=PATH" },
	{ "Licenses=a:x", "Licenses=a:x: license 'a': 'x' is no count, want name:count" },
	{ "SelectTypeParameters=CR_Memory", "SelectTypeParameters=CR_Memory: CR_Memory is not built yet" },
	{ "PartitionName=p OverSubscribe=FORCE:4",
	  "OverSubscribe=FORCE:4: sharing CPUs is not built yet: write NO or EXCLUSIVE" },
	{ "PartitionName=p Exclusive=TOPO", "Exclusive=TOPO is not built yet: write NO, NODE or USER" },
	{ "PartitionName=p TRESBillingWeights=CPU=x",
	  "TRESBillingWeights=CPU=x: 'CPU=x': the weight is no number" },
	{ "NodeName=a CPUs=4 CoreSpecCount=4", "CoreSpecCount=4 leaves nothing of 4 cores" },
	{ "NodeName=a CPUs=4 CpuSpecList=4", "CpuSpecList=4: write numbers of CPUs below 4, as in 0,2-3" },
	{ "stray", "'stray' is not Key=Value" },
	{ "PartitionName=p MaxTime=1h",
	  "MaxTime=1h: not a time: write minutes, m:s, h:m:s, d-h, d-h:m or d-h:m:s, or UNLIMITED" },
	{ "PartitionName=p State=UPP", "State=UPP: not known: write UP, DOWN, DRAIN or INACTIVE" },
	{ "PartitionName=p MaxNodes=x", "MaxNodes=x: not a number: write 0 to 4294967295, or UNLIMITED" },
	{ "PartitionName=p OverSubscribe=SOME",
	  "OverSubscribe=SOME: not known: write NO, YES:n, FORCE:n or EXCLUSIVE" },
	{ "PartitionName=p Nodes=tail,nope",
	  "Nodes=tail,nope: node nope is not configured: give it a NodeName line" },
	{ "PartitionName=p Nodes=n[1-", NULL },
	{ "PartitionName=p MaxTime=10 DefaultTime=20",
	  "DefaultTime=00:20:00 is longer than MaxTime=00:10:00" },
	{ "PartitionName=p MinNodes=4 MaxNodes=2", "MinNodes=4 is more than MaxNodes=2" },
	{ "PartitionName=p DefMemPerCPU=1 DefMemPerNode=1",
	  "DefMemPerCPU and DefMemPerNode exclude each other: give one of them" },
	{ "PartitionName=p Default=YES Default=NO", "Default is given twice on this line" },
	{ "PartitionName=p,q", "PartitionName=p,q: a line is about one partition" },
	{ "PartitionName=p Priority=3", "Priority is gone: write PriorityTier and PriorityJobFactor" },
	{ "NodeName=a CPUs=4 CPUs=5", "CPUs is given twice on this line" },
	{ "NodeName=a[1-3] NodeAddr=x[1-2]", "NodeAddr=x[1-2]: 2 of them for 3 nodes" },
	{ "NodeName=a Port=70000", "Port=70000: out of range: write 0 to 65535" },
	{ "NodeName=a CPUs=6 Sockets=2 CoresPerSocket=2",
	  "CPUs=6 does not fit Sockets=2 CoresPerSocket=2 ThreadsPerCore=1: write CPUs=4" },
	{ "NodeName=a CPUs=6 Sockets=2 CoresPerSocket=2 ThreadsPerCore=2",
	  "CPUs=6 does not fit Sockets=2 CoresPerSocket=2 ThreadsPerCore=2: write CPUs=8, or the number of "
	  "cores" },
	{ "NodeName=a CPUs=6 CoresPerSocket=4",
	  "CPUs=6 is no multiple of CoresPerSocket=4: give Sockets too" },
	{ "NodeName=a Boards=2 SocketsPerBoard=2 Sockets=2",
	  "Sockets=2 is not Boards=2 times SocketsPerBoard=2" },
	{ "NodeName=a Sockets=60000 CoresPerSocket=2",
	  "Sockets=60000 CoresPerSocket=2 ThreadsPerCore=1 are more than 65536 CPUs" },
	{ "NodeName=a RealMemory=10 MemSpecLimit=10", "MemSpecLimit=10 leaves nothing of RealMemory=10" },
	{ "NodeName=a State=BROKEN",
	  "State=BROKEN: not known: write UNKNOWN, DOWN, DRAIN, FAIL, CLOUD or FUTURE" },
	{ "NodeName=a Gres=gpu:4", "Gres=gpu:4: gpu is not in GresTypes: write GresTypes=gpu" },
	{ "NodeName=ALL", "NodeName=ALL: this word means something else in node lists" },
	{ "NodeName=a,a", "node a is configured twice, first in slurm.conf:2" },
	{ "NodeName=a Feature=x Weigth=2", "Weigth: unknown key, did you mean Weight?" },
	{ "NodeSet=s", "NodeSet=s needs Nodes= or Feature=" },
	{ "NodeSet=tail Nodes=tail", "NodeSet=tail: a node has this name" },
	{ "DownNodes=nope", "DownNodes=nope: node nope is not configured: give it a NodeName line" },
	{ "DownNodes=tail State=ILL", "State=ILL: not known: write DOWN, DRAIN or FAIL" },
	{ "Include nowhere.conf",
	  "Include nowhere.conf: cannot read '/etc/slurm/nowhere.conf': No such file or directory" },
	{ "Include slurm.conf", "Include slurm.conf: the file includes itself" },
};

static void test_refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(refusals); i++) {
		AUTO_BUF struct buf text = {}, want = {};
		buf_printf(&text, HEAD "%s\n" TAIL, refusals[i].line);
		const struct test_file files[] = { { "/etc/slurm/slurm.conf", buf_text(&text) }, {} };
		struct conf *c = NULL;
		struct error err = {};
		int r = test_load(files, &c, &err);
		if (r >= 0)
			fail_msg("accepted: %s", refusals[i].line);
		assert_null(c);
		assert_int_equal(err.code, r);
		assert_true(str_starts(err.text, "slurm.conf:2: "));
		buf_printf(&want, "slurm.conf:2: %s", refusals[i].want ? refusals[i].want : "");
		if (refusals[i].want)
			assert_string_equal(err.text, buf_text(&want));
	}
}

static const struct {
	const char *text, *want;
} wholes[] = {
	{ "", "there is no SlurmctldHost line in '/etc/slurm/slurm.conf'" },
	{ HEAD, "there is no NodeName line in '/etc/slurm/slurm.conf'" },
	{ HEAD "NodeName=a", "there is no PartitionName line in '/etc/slurm/slurm.conf'" },
	{ HEAD "NodeName=a\nNodeName=b,a\n", "slurm.conf:3: node a is configured twice, first in slurm.conf:2" },
	{ HEAD "NodeName=a\nPartitionName=p\nPartitionName=p\n",
	  "slurm.conf:4: partition p is configured twice, first in slurm.conf:3" },
	{ HEAD "NodeName=a \\\n CPUs=4 \\\n RealMemory=x\n",
	  "slurm.conf:4: RealMemory=x: not a size: write MiB, or a number with K, M, G or T" },
};

static void test_wholes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(wholes); i++) {
		const struct test_file files[] = { { "/etc/slurm/slurm.conf", wholes[i].text }, {} };
		struct conf *c = NULL;
		struct error err = {};
		assert_true(test_load(files, &c, &err) < 0);
		assert_string_equal(err.text, wholes[i].want);
	}
	const struct test_file none[] = { {} };
	struct conf *c = NULL;
	struct error err = {};
	assert_true(test_load(none, &c, &err) < 0);
	assert_string_equal(err.text, "cannot read '/etc/slurm/slurm.conf': No such file or directory");
}

/* ---- what is read --------------------------------------------------------------------------------- */

static void test_every_default_is_readable(void **state)
{
	(void)state;
	const struct record *records[] = { &slurm_conf_record, &node_conf_record, &partition_conf_record,
					   &down_conf_record };
	AUTO_ARENA struct arena *a = arena_new();
	for (size_t i = 0; i < ARRAY_COUNT(records); i++)
		value_defaults(records[i], arena_alloc(a, records[i]->size), false, a); /* asserts */
}

static void test_main(void **state)
{
	(void)state;
	AUTO_CONF struct conf *c = load_good("clustername=c1 SLURMCTLDHOST=vm(127.0.0.1)\n"
					     "SlurmctldHost=backup\n"
					     "SlurmctldPort=17 KillWait=5 # comment\n"
					     "AuthType=AUTH/slurm\n"
					     "AuthInfo=socket=/tmp/s,key=/tmp/k\n"
					     "DefMemPerCPU=2G EnforcePartLimits=yes\n"
					     "SlurmctldDebug=5\n" TAIL);
	assert_string_equal(c->main.cluster_name, "c1");
	assert_int_equal(c->controller_count, 2);
	assert_string_equal(c->controller_names[0], "vm");
	assert_string_equal(c->controller_addresses[0], "127.0.0.1");
	assert_string_equal(c->controller_names[1], "backup");
	assert_string_equal(c->controller_addresses[1], "backup");
	assert_int_equal(c->main.slurmctld_port, 17);
	assert_int_equal(c->main.slurmd_port, 6818);
	assert_int_equal(c->main.kill_wait, 5);
	assert_string_equal(c->main.auth_type, "auth/slurm");
	assert_string_equal(c->auth_socket, "/tmp/s");
	assert_string_equal(c->auth_key, "/tmp/k");
	assert_true(c->main.has_def_mem_per_cpu_mib);
	assert_int_equal(c->main.def_mem_per_cpu_mib, 2048);
	assert_false(c->main.has_def_mem_per_node_mib);
	assert_string_equal(c->main.enforce_part_limits, "ALL");
	assert_string_equal(c->main.slurmctld_debug, "debug");
}

static void test_auth_defaults(void **state)
{
	(void)state;
	AUTO_CONF struct conf *c = load_good(HEAD "AuthType=auth/slurm\n" TAIL);
	assert_string_equal(c->auth_socket, "/run/slurm/auth.sock");
	assert_string_equal(c->auth_key, "/etc/slurm/slurm.key");
	AUTO_CONF struct conf *munge = load_good(HEAD TAIL);
	assert_string_equal(munge->main.auth_type, "auth/munge");
	assert_null(munge->auth_socket);
	assert_null(munge->auth_key);
}

static void test_nodes(void **state)
{
	(void)state;
	AUTO_CONF struct conf *c = load_good(
		HEAD "SlurmdPort=7000\n"
		     "NodeName=DEFAULT RealMemory=8000 State=UNKNOWN\n"
		     "NodeName=n[1-3] NodeAddr=10.0.0.[1-3] NodeHostname=host Port=[17101-17103] Procs=4\n"
		     "NodeName=DEFAULT Weight=7\n"
		     "NodeName=g[01-02],x Feature=a,b Sockets=2 CoresPerSocket=8 ThreadsPerCore=2\n"
		     "NodeName=h Port=1-1 CPUs=8 CoresPerSocket=4 ThreadsPerCore=2 Boards=1\n"
		     "NodeName=c CPUs=4 CoresPerSocket=4 ThreadsPerCore=2\n"
		     "NodeName=b Boards=2 SocketsPerBoard=2 CoresPerSocket=4 RealMemory=1G\n"
		     "DownNodes=n2,x State=DRAIN Reason=\"bad dimm\"\n"
		     "PartitionName=p Nodes=ALL Default=YES\n");
	assert_int_equal(c->node_count, 9);
	const struct node_conf *n = conf_node(c, "n2");
	assert_ptr_equal(n, &c->nodes[1]);
	assert_string_equal(n->addr, "10.0.0.2");
	assert_string_equal(n->hostname, "host");
	assert_int_equal(n->port, 17102);
	assert_int_equal(n->cpus, 4);
	assert_int_equal(n->sockets, 4);
	assert_int_equal(n->cores_per_socket, 1);
	assert_int_equal(n->real_memory_mib, 8000);
	assert_int_equal(n->weight, 1);
	assert_string_equal(n->state, "DRAIN");
	assert_string_equal(n->reason, "bad dimm");
	n = conf_node(c, "g01");
	assert_string_equal(n->addr, "g01");
	assert_string_equal(n->hostname, "g01");
	assert_int_equal(n->port, 7000);
	assert_int_equal(n->cpus, 32);
	assert_int_equal(n->weight, 7);
	assert_string_equal(n->features, "a,b");
	assert_string_equal(n->state, "UNKNOWN");
	n = conf_node(c, "h");
	assert_int_equal(n->port, 1);
	assert_int_equal(n->sockets, 1);
	n = conf_node(c, "c"); /* only the cores are scheduled */
	assert_int_equal(n->sockets, 1);
	assert_int_equal(n->cpus, 4);
	n = conf_node(c, "b");
	assert_int_equal(n->sockets, 4);
	assert_int_equal(n->cpus, 16);
	assert_int_equal(n->real_memory_mib, 1024);
	assert_null(conf_node(c, "nope"));
	assert_string_equal(conf_partition(c, "p")->nodes, "n[1-3],g[01-02],x,h,c,b");
}

static void test_partitions(void **state)
{
	(void)state;
	AUTO_CONF struct conf *c = load_good(
		HEAD "NodeName=n[1-8] Features=odd,big\nNodeName=m[1-2]\n"
		     "NodeSet=bigs Feature=big\nNodeSet=some Nodes=n1,m[1-2]\n"
		     "PartitionName=DEFAULT MaxTime=2-0 DefMemPerCPU=100 State=DOWN\n"
		     "PartitionName=a Nodes=n[5-8],n1,n5 Default=YES State=UP Shared=EXCLUSIVE\n"
		     "PartitionName=b Nodes=bigs,m2 MaxTime=UNLIMITED DefMemPerNode=50 ExclusiveUser=YES\n"
		     "PartitionName=c Nodes=some DefaultTime=30 MaxNodes=UNLIMITED MinNodes=2 Default=yes\n"
		     "PartitionName=d\n");
	const struct partition_conf *p = conf_partition(c, "a");
	assert_int_equal(c->partition_count, 4);
	assert_string_equal(p->nodes, "n[1,5-8]");
	assert_int_equal(p->max_time, 2 * USEC_PER_DAY);
	assert_int_equal(p->state, PARTITION_STATE_UP);
	assert_int_equal(p->exclusive, EXCLUSIVE_KIND_NODE);
	assert_false(p->is_default);
	assert_true(p->has_def_mem_per_cpu_mib);
	p = conf_partition(c, "b");
	assert_string_equal(p->nodes, "n[1-8],m2");
	assert_int_equal(p->max_time, 0);
	assert_int_equal(p->state, PARTITION_STATE_DOWN);
	assert_int_equal(p->exclusive, EXCLUSIVE_KIND_USER);
	assert_false(p->has_def_mem_per_cpu_mib);
	assert_int_equal(p->def_mem_per_node_mib, 50);
	p = conf_partition(c, "c");
	assert_string_equal(p->nodes, "n1,m[1-2]");
	assert_int_equal(p->default_time, 30 * USEC_PER_MIN);
	assert_int_equal(p->min_nodes, 2);
	assert_true(p->is_default);
	assert_null(conf_partition(c, "d")->nodes);
	assert_null(conf_partition(c, "e"));
}

static void test_includes(void **state)
{
	(void)state;
	const struct test_file files[] = {
		{ "/etc/slurm/slurm.conf", HEAD "Include parts/nodes.conf\nPartitionName=p Nodes=ALL\n" },
		{ "/etc/slurm/parts/nodes.conf", "NodeName=a\ninclude more.conf\n" },
		{ "/etc/slurm/parts/more.conf", "NodeName=b\nInclude /abs.conf\n" },
		{ "/abs.conf", "NodeName=c\n" },
		{},
	};
	AUTO_CONF struct conf *c = NULL;
	struct error err = {};
	assert_int_equal(test_load(files, &c, &err), 0);
	assert_string_equal(conf_partition(c, "p")->nodes, "a,b,c");
	const struct test_file bad[] = {
		{ "/etc/slurm/slurm.conf", HEAD "Include x\n" TAIL },
		{ "/etc/slurm/x", "\nNodeName=a CPUs=none\n" },
		{},
	};
	struct conf *none = NULL;
	assert_true(test_load(bad, &none, &err) < 0);
	assert_string_equal(err.text, "x:2: CPUs=none: not a number: write 1 to 65536");
	const struct test_file loop[] = {
		{ "/etc/slurm/slurm.conf", "Include x\n" },
		{ "/etc/slurm/x", "Include y\n" },
		{ "/etc/slurm/y", "Include x\n" },
		{},
	};
	assert_true(test_load(loop, &none, &err) < 0);
	assert_string_equal(err.text, "y:1: Include x: the file includes itself");
}

/* ---- notes ---------------------------------------------------------------------------------------- */

static void test_check_print(void **state)
{
	(void)state;
	const struct test_file good[] = {
		{ "/etc/slurm/slurm.conf",
		  HEAD "ProctrackType=proctrack/linuxproc\nKillWait=1\nKillWait=2\n"
		       "SlurmdParameters=config_overrides,x=1\n"
		       "NodeName=a Parameters=x\nNodeName=b Parameters=x State=CLOUD\n"
		       "PartitionName=p Nodes=a\n" },
		{},
	};
	struct test_files all = { good };
	AUTO_BUF struct buf out = {};
	assert_int_equal(conf_check_print_with("/etc/slurm/slurm.conf", test_read, &all, &out), 0);
	assert_string_equal(buf_text(&out),
			    "slurm.conf:2: note: ProctrackType: understood, has no effect yet\n"
			    "slurm.conf:4: note: KillWait: given again, this replaces slurm.conf:3\n"
			    "slurm.conf:5: note: SlurmdParameters=x=1: understood, has no effect yet\n"
			    "slurm.conf:6: note: Parameters: understood, has no effect yet\n"
			    "slurm.conf:7: note: State=CLOUD: understood, has no effect yet\n"
			    "slurm.conf:8: note: no partition has Default=YES: every job must name one\n");
	const struct test_file bad[] = {
		{ "/etc/slurm/slurm.conf", HEAD "KillWait=x\nFoo\nNodeName=a CPUs=x\n" },
		{},
	};
	all.files = bad;
	buf_clear(&out);
	assert_true(conf_check_print_with("/etc/slurm/slurm.conf", test_read, &all, &out) < 0);
	assert_string_equal(buf_text(&out),
			    "slurm.conf:2: error: KillWait=x: not a number: write seconds, 0 to 65533\n"
			    "slurm.conf:3: error: 'Foo' is not Key=Value\n"
			    "slurm.conf:4: error: CPUs=x: not a number: write 1 to 65536\n");
}

static void test_every_key_is_accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < slurm_conf_record.field_count; i++) {
		const struct field *f = &slurm_conf_record.fields[i];
		if (!f->key || str_eq(f->key, "AuthInfo"))
			continue;
		AUTO_BUF struct buf text = {};
		const char *value = f->def ? f->def : f->kind == FIELD_STR && !f->parse ? "x" :
				    f->kind == FIELD_BOOL ? "no" : str_eq(f->parse, "level") ? "info" :
				    f->min ? "10000" : "1";
		buf_printf(&text, HEAD "%s=\"%s\"\n" TAIL, f->key, value);
		AUTO_CONF struct conf *c = load_good(buf_text(&text));
		char use[8] = "";
		field_attr(f, "use", use, sizeof(use));
		size_t about = 0;
		for (size_t k = 0; k < c->note_count; k++)
			about += str_starts(c->notes[k].text, f->key) &&
				 str_ends(c->notes[k].text, ": understood, has no effect yet");
		char words[512];
		assert_int_equal(about, str_eq(use, "no") || field_attr(f, "words", words, sizeof(words)));
	}
}

/* ---- size ----------------------------------------------------------------------------------------- */

static void test_many_nodes(void **state)
{
	(void)state;
	struct timespec start, end;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	AUTO_CONF struct conf *c = load_good(
		HEAD "GresTypes=gpu\n"
		     "NodeName=n[1-10000] NodeAddr=10.0.[1-100].[1-100] CPUs=64 RealMemory=512000 Gres=gpu:8\n"
		     "PartitionName=a Nodes=ALL Default=YES\nPartitionName=b Nodes=n[1-5000]\n");
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	double msec = (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6;
	print_message("# 10,000 nodes in %.1f ms\n", msec); /* told, not asserted: machines differ */
	assert_int_equal(c->node_count, 10000);
	assert_string_equal(conf_node(c, "n101")->addr, "10.0.2.1");
	assert_string_equal(conf_partition(c, "b")->nodes, "n[1-5000]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_default_is_readable),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_wholes),
		cmocka_unit_test(test_main),
		cmocka_unit_test(test_auth_defaults),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_partitions),
		cmocka_unit_test(test_includes),
		cmocka_unit_test(test_check_print),
		cmocka_unit_test(test_every_key_is_accepted),
		cmocka_unit_test(test_many_nodes),
	};
	return cmocka_run_group_tests_name("conf-load", tests, NULL, NULL);
}
