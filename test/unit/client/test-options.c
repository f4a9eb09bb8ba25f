/* SPDX-License-Identifier: Apache-2.0 */
/* The option table read from command lines, variables and script lines: table tests of
 * {input, result or error, exit code}. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "client/options.h"
#include "client/options_step.h"
#include "client/script.h"
#include "schema/environment.h"

#include "../cm.h"

enum { WORDS = 24 };

/* Splits at blanks; the texts of the tests need no quoting. */
static int split(const char *text, struct arena *a, char **words)
{
	char *copy = arena_strdup(a, text), *save = NULL;
	int n = 0;
	for (char *w = strtok_r(copy, " ", &save); w && n < WORDS - 1;
	     w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	words[n] = NULL;
	return n;
}

struct run {
	struct arena *arena;
	struct options o;
	struct error err;
	char *argv[WORDS + 1], *vars[WORDS];
	int result;
};

static void run_init(struct run *r, enum option_cmds command)
{
	*r = (struct run) { .arena = arena_new() };
	options_init(&r->o, command, 1800000000 * USEC_PER_SEC, r->arena);
}

static void run_done(struct run *r)
{
	options_done(&r->o);
	arena_free(r->arena);
}

/* `line` as a command line (without the command), `env` as variables, `script` as text. */
static void run_all(struct run *r, const char *line, const char *env, const char *script, bool step)
{
	r->argv[0] = (char *)"cmd";
	int argc = 1 + split(line, r->arena, r->argv + 1);
	split(env ? env : "", r->arena, r->vars);
	r->result = options_scan_args(&r->o, argc, r->argv, &r->err);
	if (r->result == 0 && script) {
		struct script s = { .name = "job.sh",
				    .text = arena_strdup(r->arena, script),
				    .len = strlen(script) };
		r->result = script_scan(&s, &r->o, &r->err);
	}
	options_scan_env(&r->o, r->vars);
	if (step)
		options_enter_step(&r->o);
	if (r->result == 0)
		r->result = options_apply(&r->o, &r->err);
	if (r->result == 0)
		r->result = options_check(&r->o, &r->err);
}

/* ---- values ------------------------------------------------------------------------------------ */

static const struct value_case {
	enum option_cmds command;
	const char *line, *env, *script;
	const char *expect; /* the command_options that result, as record_print shows them */
} value_cases[] = {
#define SB  OPTION_CMDS_SBATCH
#define SA  OPTION_CMDS_SALLOC
#define SR  OPTION_CMDS_SRUN
#define ONE "nodes_min=1 nodes_max=1"
#define FEW " use_min_nodes=yes" /* a range that follows from tasks or GPUs */
	{ SB, "", NULL, NULL, "spec={request={" ONE "}}" },
	{ SB, "-N4", NULL, NULL, "spec={request={nodes_min=4 nodes_max=4}}" },
	{ SB, "-N 2-4", NULL, NULL, "spec={request={nodes_min=2 nodes_max=4}}" },
	{ SB, "--nodes=1k", NULL, NULL, "spec={request={nodes_min=1024 nodes_max=1024}}" },
	{ SB, "-n 8", NULL, NULL, "spec={request={nodes_min=1 nodes_max=8 ntasks=8" FEW "}}" },
	{ SB, "-n8 --ntasks-per-node=4", NULL, NULL,
	  "spec={request={nodes_min=2 nodes_max=8 ntasks=8 ntasks_per_node=4" FEW "}}" },
	{ SB, "-c4 --mem=4G", NULL, NULL,
	  "spec={request={" ONE " cpus_per_task=4 mem_per_node_mib=4096}}" },
	{ SB, "--mem 0", NULL, NULL, "spec={request={" ONE " mem_per_node_mib=0}}" },
	{ SB, "--mem-per-cpu=500", NULL, NULL, "spec={request={" ONE " mem_per_cpu_mib=500}}" },
	{ SB, "--gres=gpu:h100:4,shard:2", NULL, NULL,
	  "spec={request={" ONE
	  " gres_per_node={name='gpu' type='h100' count=4} gres_per_node={name='shard' count=2}}}" },
	{ SB, "-G 8", NULL, NULL,
	  "spec={request={nodes_min=1 nodes_max=8 gres_per_job={name='gpu' count=8}" FEW "}}" },
	{ SB, "-N2 --gpus-per-node=h100:8", NULL, NULL,
	  "spec={request={nodes_min=2 nodes_max=2 gres_per_node={name='gpu' type='h100' count=8}}}" },
	{ SB, "--gpus=8 --gpus-per-node=4", NULL, NULL,
	  "spec={request={nodes_min=2 nodes_max=2 gres_per_node={name='gpu' count=4} gres_per_job={name='gpu' count=8}}}" },
	{ SB, "--gpus=8 --gpus-per-task=2", NULL, NULL,
	  "spec={request={nodes_min=1 nodes_max=8 ntasks=4 gres_per_job={name='gpu' count=8} "
	  "gres_per_task={name='gpu' count=2}" FEW "}}" },
	{ SB, "-N2 --ntasks-per-node=4 --gpus-per-task=1", NULL, NULL,
	  "spec={request={nodes_min=2 nodes_max=2 ntasks=8 ntasks_per_node=4 gres_per_task={name='gpu' count=1}}}" },
	{ SB, "-n2 --tres-per-task=cpu=4,gres/gpu:a100=1", NULL, NULL,
	  "spec={request={nodes_min=1 nodes_max=2 ntasks=2 cpus_per_task=4 "
	  "gres_per_task={name='gpu' type='a100' count=1}" FEW "}}" },
	/* node counts */
	{ SB, "-N 8,2,4,2", NULL, NULL,
	  "spec={request={nodes_min=2 nodes_max=8 node_counts=2 node_counts=4 node_counts=8}}" },
	{ SB, "-N 1-15:4", NULL, NULL,
	  "spec={request={nodes_min=1 nodes_max=13 node_counts=1 node_counts=5 node_counts=9 node_counts=13}}" },
	{ SB, "-N 2-3,1k", NULL, NULL,
	  "spec={request={nodes_min=2 nodes_max=1024 node_counts=2 node_counts=3 node_counts=1024}}" },
	{ SB, "-N 0-2", NULL, NULL, "spec={request={nodes_min=1 nodes_max=2}}" },
	{ SB, "-N3", NULL, "#!/bin/sh\n#SBATCH -N 1,2\n",
	  "spec={request={nodes_min=3 nodes_max=3}}" },
	{ SB, "-N 4,8 -n2", NULL, NULL, "spec={request={nodes_min=2 nodes_max=2 ntasks=2}}" },
	{ SB, "-N2-4 --use-min-nodes", NULL, NULL,
	  "spec={request={nodes_min=2 nodes_max=4 use_min_nodes=yes}}" },
	{ SB, "-n4 --spread-job", NULL, NULL,
	  "spec={request={nodes_min=1 nodes_max=4 ntasks=4 spread_job=yes}}" },
	{ SA, "", "SALLOC_SPREAD_JOB=1 SALLOC_USE_MIN_NODES=", NULL,
	  "spec={request={" ONE " spread_job=yes use_min_nodes=yes}}" },
	/* the shape of nodes, and tasks on it */
	{ SB, "-B 2:16:1", NULL, NULL,
	  "spec={request={" ONE " sockets_per_node=2 cores_per_socket=16 threads_per_core=1}}" },
	{ SB, "-B *:4", NULL, NULL, "spec={request={" ONE " cores_per_socket=4}}" },
	{ SB, "--sockets-per-node=2 --cores-per-socket=8 --threads-per-core=2", NULL, NULL,
	  "spec={request={" ONE " sockets_per_node=2 cores_per_socket=8 threads_per_core=2}}" },
	{ SB, "--ntasks-per-socket=2 --ntasks-per-core=1", NULL, NULL,
	  "spec={request={" ONE " ntasks_per_socket=2 ntasks_per_core=1}}" },
	{ SB, "", "SBATCH_HINT=NoMultiThread", NULL,
	  "spec={request={" ONE " hint='nomultithread'}}" },
	{ SB, "--threads-per-core=1", "SLURM_HINT=multithread", NULL,
	  "spec={request={" ONE " threads_per_core=1}}" },
	{ SB, "-S2", NULL, NULL, "spec={request={" ONE " exclusive=NODE core_spec=2}}" },
	{ SB, "--thread-spec=4 --exclusive=user", NULL, NULL,
	  "spec={request={" ONE " exclusive=USER thread_spec=4}}" },
	/* GPUs and tasks */
	{ SB, "-n8 --ntasks-per-gpu=2", NULL, NULL,
	  "spec={request={nodes_min=1 nodes_max=8 ntasks=8 gres_per_job={name='gpu' count=4} "
	  "ntasks_per_gpu=2" FEW "} gpu_bind='single:2'}" },
	{ SB, "-G h100:4 --ntasks-per-gpu=2", NULL, NULL,
	  "spec={request={nodes_min=1 nodes_max=8 ntasks=8 gres_per_job={name='gpu' type='h100' "
	  "count=4} ntasks_per_gpu=2" FEW "} gpu_bind='single:2'}" },
	{ SB, "-N2 --gres=gpu:4 --ntasks-per-gpu=1 --gpu-bind=closest", NULL, NULL,
	  "spec={request={nodes_min=2 nodes_max=2 ntasks=8 gres_per_node={name='gpu' count=4} "
	  "ntasks_per_gpu=1} gpu_bind='closest'}" },
	{ SB, "--gpus-per-socket=2 --sockets-per-node=2", NULL, NULL,
	  "spec={request={" ONE " gres_per_socket={name='gpu' count=2} sockets_per_node=2}}" },
	{ SB, "--cpus-per-gpu=4 -G1", NULL, "#!/bin/sh\n#SBATCH -c 2\n",
	  "spec={request={" ONE " gres_per_job={name='gpu' count=1} cpus_per_gpu=4}}" },
	{ SB, "--gres-flags=Enforce-Binding,one-task-per-sharing", NULL, NULL,
	  "spec={request={" ONE " gres_flags='enforce-binding,one-task-per-sharing'}}" },
	{ SR, "--gres-flags=allow-task-sharing", NULL, NULL,
	  "spec={request={" ONE " gres_flags='allow-task-sharing'}}" },
	{ SB, "--gpu-freq=medium,memory=900,verbose", NULL, NULL,
	  "spec={request={" ONE " gpu_freq='medium,memory=900,verbose'}}" },
	{ SB, "-t 10", NULL, NULL, "spec={time_limit=600000000 request={" ONE "}}" },
	{ SB, "-tUNLIMITED", NULL, NULL, "spec={time_limit=0 request={" ONE "}}" },
	{ SB, "--begin=now+1hour", NULL, NULL,
	  "spec={begin_time=1800003600000000 request={" ONE "}}" },
	{ SB, "-a 0-15:4,20%4", NULL, NULL, "spec={array='0-15:4,20%4' request={" ONE "}}" },
	{ SB, "-p a,b -A x -q y -J n --comment=hi", NULL, NULL,
	  "spec={name='n' partition='a,b' account='x' qos='y' comment='hi' request={" ONE "}}" },
	{ SB, "-d afterok:7:8_1,after:9+5?singleton", NULL, NULL,
	  "spec={dependency='afterok:7:8_1,after:9+5?singleton' request={" ONE "}}" },
	{ SB, "--nice --priority=TOP -H", NULL, NULL,
	  "spec={nice=100 priority=4294967294 hold=yes request={" ONE "}}" },
	{ SB, "--nice=-5", NULL, NULL, "spec={nice=-5 request={" ONE "}}" },
	{ SB, "--exclusive", NULL, NULL, "spec={request={" ONE " exclusive=NODE}}" },
	{ SB, "--exclusive=user -O --contiguous", NULL, NULL,
	  "spec={request={" ONE " exclusive=USER overcommit=yes contiguous=yes}}" },
	{ SB, "-w n[1-2] -x n3 -C a&b", NULL, NULL,
	  "spec={request={" ONE " node_list='n[1-2]' exclude='n3' constraint='a&b'}}" },
	{ SB, "-C a*4 --prefer=x|y", NULL, NULL,
	  "spec={request={nodes_min=4 nodes_max=4 constraint='a*4' prefer='x|y'}}" },
	{ SB, "-C [a*2&b*1] -n8", NULL, NULL,
	  "spec={request={nodes_min=3 nodes_max=8 ntasks=8 constraint='[a*2&b*1]'" FEW "}}" },
	{ SB, "-C a*4 -N6", NULL, NULL, "spec={request={nodes_min=6 nodes_max=6 constraint='a*4'}}" },
	{ SB, "-N8 --switches=1@2:30 --segment=4 --spread-segments", NULL, NULL,
	  "spec={request={nodes_min=8 nodes_max=8 switches=1 switches_wait=150000000 segment=4 spread_segments=yes}}" },
	{ SB, "--switches 2", "SBATCH_REQ_SWITCH=1 SBATCH_WAIT4SWITCH=10", NULL,
	  "spec={request={" ONE " switches=2 switches_wait=600000000}}" },
	{ SB, "--segment=1 --consolidate-segments", "SBATCH_SEGMENT_SIZE=4", NULL,
	  "spec={request={" ONE " segment=1 consolidate_segments=yes}}" },
	{ SB, "--requeue --no-requeue", NULL, NULL, "spec={requeue=no request={" ONE "}}" },
	{ SB, "--open-mode=append -o o.%j -e e -i /dev/null", NULL, NULL,
	  "spec={std_in='/dev/null' std_out='o.%j' std_err='e' open_append=yes request={" ONE
	  "}}" },
	{ SB, "-D /tmp --wrap=true --parsable -Q -vv -W", NULL, NULL,
	  "spec={work_dir='/tmp' request={" ONE
	  "}} wrap='true' parsable=yes quiet=1 verbose=2 wait=yes" },
	{ SB, "-Hs", NULL, NULL,
	  "spec={hold=yes request={" ONE " oversubscribe=yes}}" }, /* bundled */
	{ SB, "-HN2", NULL, NULL, "spec={hold=yes request={nodes_min=2 nodes_max=2}}" },
	{ SB, "--parti=x --cpus-per-ta 2", NULL, NULL,
	  "spec={partition='x' request={" ONE " cpus_per_task=2}}" },
	{ SB, "-k", NULL, NULL, "spec={request={" ONE "} no_kill=yes}" },
	{ SB, "-k --no-kill=off", NULL, NULL, "spec={request={" ONE "}}" },
	{ SB, "--mail-type=END,FAIL --mail-user=me", NULL, NULL,
	  "spec={request={" ONE "} mail_type='END,FAIL' mail_user='me'}" },
	{ SB, "--export=NONE --wckey=k --reservation=r -L foo:2", NULL, NULL,
	  "spec={request={" ONE " licenses='foo:2'} reservation='r' wckey='k' export='NONE'}" },
	{ SB, "--wait-all-nodes=1 --ignore-pbs", NULL, NULL,
	  "spec={request={" ONE "}} ignore_pbs=yes" },
	/* precedence: command line, environment, script */
	{ SB, "", NULL, "#!/bin/sh\n#SBATCH --nodes=4\n",
	  "spec={request={nodes_min=4 nodes_max=4}}" },
	{ SB, "--nodes=2", NULL, "#!/bin/sh\n#SBATCH --nodes=4\n",
	  "spec={request={nodes_min=2 nodes_max=2}}" },
	{ SB, "", "SBATCH_PARTITION=e", "#!/bin/sh\n#SBATCH -p s\n",
	  "spec={partition='e' request={" ONE "}}" },
	{ SB, "-p c", "SBATCH_PARTITION=e", "#!/bin/sh\n#SBATCH -p s\n",
	  "spec={partition='c' request={" ONE "}}" },
	{ SB, "--mem=1G", "SBATCH_MEM_PER_CPU=100", NULL,
	  "spec={request={" ONE " mem_per_node_mib=1024}}" },
	{ SB, "--gpus-per-node=2", NULL, "#!/bin/sh\n#SBATCH --gres=gpu:4,lustre:1\n",
	  "spec={request={" ONE
	  " gres_per_node={name='lustre' count=1} gres_per_node={name='gpu' count=2}}}" },
	{ SB, "", "SBATCH_REQUEUE=1 SBATCH_OVERCOMMIT=0 SBATCH_DEBUG=3 SBATCH_EXCLUSIVE=", NULL,
	  "spec={requeue=yes request={" ONE " exclusive=NODE}} verbose=3" },
	{ SB, "", "SALLOC_PARTITION=x SLURM_PARTITION=y", NULL, "spec={request={" ONE "}}" },
	{ SA, "", "SALLOC_PARTITION=x SALLOC_TIMELIMIT=1", NULL,
	  "spec={partition='x' time_limit=60000000 request={" ONE "}}" },
	{ SA, "-I --no-shell -KINT --no-bell", NULL, NULL,
	  "spec={request={" ONE "}} no_shell=yes immediate_sec=1 bell=no kill_command=2" },
	{ SR, "-l -u -K -W60 --immediate=2 -X --exact", NULL, NULL,
	  "spec={request={" ONE
	  "}} immediate_sec=2 label=yes unbuffered=yes exact=yes disable_status=yes wait_sec=60 "
	  "kill_on_bad_exit=yes" },
	{ SR, "--kill-on-bad-exit=0 --mpi=none --cpu-bind=none --ntasks-per-node=1 -mcyclic", NULL,
	  NULL,
	  "spec={request={" ONE
	  " ntasks_per_node=1} distribution='cyclic' cpu_bind='none'} mpi='none' kill_on_bad_exit=no" },
	{ SR, "--gpu-bind=per_task:1 --overlap -r1 --jobid=7", NULL, NULL,
	  "spec={request={" ONE "} gpu_bind='per_task:1'} job_id=7 overlap=yes relative=1" },
	{ SR, "--cpu-bind=v,socket --gpu-bind=v,closest -m plane=2:block", NULL, NULL,
	  "spec={request={" ONE " distribution='plane=2:block'} distribution='plane=2:block' "
	  "gpu_bind='v,closest' cpu_bind='verbose,sockets'}" },
	{ SR, "--cpu-bind=q,mask_cpu:0x3 -m cyclic:fcyclic,Pack", NULL, NULL,
	  "spec={request={" ONE " distribution='cyclic:fcyclic,Pack'} "
	  "distribution='cyclic:fcyclic,Pack' cpu_bind='quiet,mask_cpu:0x3'}" },
	{ SR, "--tres-bind=gres/gpu:per_task:2", NULL, NULL,
	  "spec={request={" ONE "} gpu_bind='per_task:2'}" },
	{ SR, "--gres=none", NULL, NULL, "spec={request={" ONE "}} no_gres=yes" },
};

static void values_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(value_cases); i++) {
		const struct value_case *c = &value_cases[i];
		AUTO_BUF struct buf got = {};
		struct run r;
		run_init(&r, c->command);
		run_all(&r, c->line, c->env, c->script, false);
		if (r.result < 0)
			fail_msg("'%s': %s", c->line, r.err.text);
		record_print(&command_options_record, &r.o.at, &got);
		if (!str_eq(buf_text(&got), c->expect))
			fail_msg("'%s' %s\n  gives    %s\n  and not  %s", c->line,
				 c->env ? c->env : "", buf_text(&got), c->expect);
		run_done(&r);
	}
}

/* ---- refusals ---------------------------------------------------------------------------------- */

static const struct refusal_case {
	enum option_cmds command;
	const char *line, *env, *script;
	int exit_code;
	const char *part; /* of the message */
} refusal_cases[] = {
	{ SB, "--nosuch", NULL, NULL, 255, "unrecognized option '--nosuch'" },
	{ SB, "--partitoin=x", NULL, NULL, 255, "did you mean --partition?" },
	{ SB, "-y", NULL, NULL, 255, "unrecognized option '-y'" },
	{ SB, "--no", NULL, NULL, 255, "short for several options: --no-kill" },
	{ SB, "-N", NULL, NULL, 255, "option '-N' needs a value" },
	{ SB, "--hold=yes", NULL, NULL, 255, "option '--hold' takes no value" },
	{ SB, "", NULL, "#!/bin/bash\n#SBATCH --nosuch=3\ntrue\n", 255,
	  "job.sh:2: unrecognized option '--nosuch=3'" },
	{ SB, "", NULL, "#!/bin/bash\n#SBATCH --nodeNum=3\n", 255,
	  "job.sh:2: unrecognized option '--nodeNum=3'" },
	{ SB, "", NULL, "#!/bin/bash\n\n#SBATCH -J 'a b\n", 255,
	  "job.sh:3: a quote is not closed" },
	{ SB, "", NULL, "#!/bin/bash\n#SBATCH foo\n", 255, "job.sh:2: 'foo' is no option" },
	{ SB, "", NULL, "#!/bin/bash\n#SBATCH hetjob\n", 255,
	  "heterogeneous jobs are not supported" },
	{ SB, "-t banana", NULL, NULL, 255, "-t banana: " },
	{ SB, "--time=banana", NULL, NULL, 255, "--time=banana: " },
	{ SB, "-t5", NULL, "#!/bin/sh\n#SBATCH -t banana\n", 255, "job.sh:2: -t banana: " },
	{ SB, "", "SBATCH_TIMELIMIT=banana", NULL, 255, "SBATCH_TIMELIMIT=banana: " },
	{ SB, "--begin=whenever", NULL, NULL, 255, "--begin=whenever: " },
	{ SB, "-n -1", NULL, NULL, 1, "'-1' is not a whole number from 1 up" },
	{ SB, "-n 0", NULL, NULL, 1, "'0' is not a whole number from 1 up" },
	{ SB, "-c x", NULL, NULL, 1, "'x' is not a whole number" },
	{ SB, "-N x", NULL, NULL, 255, "'x' is no number of nodes" },
	{ SB, "-N 4-2", NULL, NULL, 255, "the most nodes are fewer than the least" },
	{ SB, "-N 0", NULL, NULL, 255, "at least one node" },
	{ SB, "-N 1,x", NULL, NULL, 255, "'x' is no number of nodes" },
	{ SB, "-N 1,4-2", NULL, NULL, 255, "the most nodes are fewer" },
	{ SB, "-N 1-9:0", NULL, NULL, 255, "the step behind the colon" },
	{ SB, "-N ,", NULL, NULL, 255, "no node count is given" },
	{ SB, "-N 1-9:2:3", NULL, NULL, 255, "'2:3' is no number of nodes" },
	{ SB, "-N 1-5000:1", NULL, NULL, 255, "more than 1024 node counts" },
	{ SB, "-N2,4 --gpus=6 --gpus-per-node=2", NULL, NULL, 1, "take 3 nodes" },
	{ SB, "-B 2:x", NULL, NULL, 1, "'x' is neither a number" },
	{ SB, "-B 1:1:1:1", NULL, NULL, 1, "as in 2:16:1" },
	{ SB, "--hint=fast", NULL, NULL, 255, "'fast' is no hint" },
	{ SB, "--hint=multithread --ntasks-per-core=1", NULL, NULL, 1,
	  "--hint and --ntasks-per-core exclude each other" },
	{ SB, "-S1 --thread-spec=1", NULL, NULL, 1, "exclude each other" },
	{ SB, "--ntasks-per-gpu=2", NULL, NULL, 1, "needs a request for GPUs or --ntasks" },
	{ SB, "-n7 --ntasks-per-gpu=2", NULL, NULL, 1, "not a multiple of --ntasks-per-gpu" },
	{ SB, "-n7 -G4 --ntasks-per-gpu=2", NULL, NULL, 1, "make 8 tasks, but --ntasks is 7" },
	{ SB, "-N1-2 --gres=gpu:4 --ntasks-per-gpu=2", NULL, NULL, 1, "needs a fixed --nodes" },
	{ SB, "-n4 --ntasks-per-gpu=2 --gpus-per-task=1", NULL, NULL, 1, "exclude each other" },
	{ SB, "-n4 --ntasks-per-gpu=2 --ntasks-per-node=2", NULL, NULL, 1, "exclude each other" },
	{ SB, "--gpus-per-socket=1", NULL, NULL, 1, "needs --sockets-per-node" },
	{ SB, "--gres-flags=wat", NULL, NULL, 255, "'wat' is no flag" },
	{ SB, "--gres-flags=allow-task-sharing", NULL, NULL, 255, "is no flag" },
	{ SB, "--gres-flags=enforce-binding,disable-binding", NULL, NULL, 255,
	  "exclude each other" },
	{ SB, "--gpu-freq=fast", NULL, NULL, 255, "'fast' is no clock rate" },
	{ SB, "--gpu-freq=low,high", NULL, NULL, 255, "two clock rates" },
	{ SB, "--gpu-freq=verbose", NULL, NULL, 255, "no clock rate is given" },
	{ SB, "--mem=much", NULL, NULL, 255, "--mem=much: " },
	{ SB, "--gres=gpu:1:tesla:v100", NULL, NULL, 1, "--gres=gpu:1:tesla:v100: " },
	{ SB, "--gpus-per-task=1", NULL, NULL, 1,
	  "Invalid generic resource (gres) specification: --gpus-per-task needs" },
	{ SB, "--gpus=3 --gpus-per-node=2", NULL, NULL, 1, "not a multiple" },
	{ SB, "-N3 --gpus=4 --gpus-per-node=2", NULL, NULL, 1, "take 2 nodes" },
	{ SB, "--gpus=4 --gpus-per-task=2 -n3", NULL, NULL, 1, "make 2 tasks, but --ntasks is 3" },
	{ SB, "--gpus=1 --gpus-per-node=2", NULL, NULL, 1, "--gpus is less than" },
	{ SB, "-n1 --gpus-per-node=1 --gpus-per-task=2", NULL, NULL, 1,
	  "fewer than --gpus-per-task" },
	{ SB, "-n6 --gpus-per-node=4 --gpus-per-task=2 --ntasks-per-node=3", NULL, NULL, 1,
	  "makes 2 tasks on a node" },
	{ SB, "--gres=gpu:2 --gpus-per-node=2", NULL, NULL, 1, "say the same thing" },
	{ SB, "--gres=gpu:2,gpu:a100:1", NULL, NULL, 1, "with and without a type" },
	{ SB, "--mem=10 --mem-per-cpu=10", NULL, NULL, 1,
	  "--mem and --mem-per-cpu exclude each other" },
	{ SB, "--exclusive -s", NULL, NULL, 1, "exclude each other" },
	{ SB, "-t5 --time-min=10", NULL, NULL, 1, "--time-min is longer" },
	{ SB, "--array=x", NULL, NULL, 1, "--array=x: " },
	{ SB, "-d wibble:1", NULL, NULL, 1, "'wibble:1' is no kind of dependency" },
	{ SB, "-d afterok", NULL, NULL, 1, "'afterok' names no job" },
	{ SB, "-d afterok:x", NULL, NULL, 1, "'x' is no list of job ids" },
	{ SB, "-w n]1-2[", NULL, NULL, 1, "-w n]1-2[: " },
	{ SB, "-w n[3-1]", NULL, NULL, 1, "-w n[3-1]: " },
	{ SB, "-x bad[", NULL, NULL, 1, "-x bad[: " },
	{ SB, "--signal=WAT@10", NULL, NULL, 255,
	  "--signal is not supported by this version of Muster" },
	{ SB, "", "SBATCH_CLUSTER_CONSTRAINT=a", NULL, 255,
	  "SBATCH_CLUSTER_CONSTRAINT=a: --cluster-constraint is not supported" },
	{ SB, "", NULL, "#!/bin/sh\n#SBATCH --cluster-constraint=a\n", 255,
	  "job.sh:2: --cluster-constraint=a: --cluster-constraint is not supported" },
	{ SB, "--switches=many", NULL, NULL, 255, "'many' is no number of switches; n or n@time is meant" },
	{ SB, "--switches=0", NULL, NULL, 255, "'0' is no number of switches" },
	{ SB, "--switches=1@soon", NULL, NULL, 255, "time limit 'soon'" },
	{ SB, "-N5 --segment=2", NULL, NULL, 1, "--nodes=5 is not a multiple of --segment=2" },
	{ SB, "-N4 --spread-segments", NULL, NULL, 1, "--spread-segments needs --segment" },
	{ SB, "-N4 --segment=2 --spread-segments --consolidate-segments", NULL, NULL, 1,
	  "--spread-segments and --consolidate-segments exclude each other" },
	{ SB, "--exclusive=me", NULL, NULL, 255, "say nothing, user, mcs or topo" },
	{ SB, "--mail-type=NEVER", NULL, NULL, 255, "'NEVER' is no kind of mail" },
	{ SB, "--open-mode=x", NULL, NULL, 255, "say append or truncate" },
	{ SB, "--nice=9999999999", NULL, NULL, 255, "not a number from" },
	{ SB, "--priority=x", NULL, NULL, 255, "nor TOP" },
	{ SB, "-l", NULL, NULL, 255, "unrecognized option '-l'" },
	{ SR, "--gpu-bind=wat", NULL, NULL, 255, "'wat' is no GPU binding" },
	{ SR, "--gpu-bind=single", NULL, NULL, 255, "no GPU binding" },
	{ SR, "--gpu-bind=per_task:0", NULL, NULL, 255, "needs a number" },
	{ SR, "--gpu-bind=verbose,closer", NULL, NULL, 255, "'closer' is no GPU binding" },
	{ SR, "--gpu-bind=map:0,x", NULL, NULL, 255, "no list of GPU numbers" },
	{ SR, "--cpu-bind=map_cpu:a", NULL, NULL, 255, "no list of CPU numbers" },
	{ SB, "-c2 --cpus-per-gpu=2", NULL, NULL, 1, "exclude each other" },
	{ SR, "--cpu-bind=wat", NULL, NULL, 255, "'wat' is no CPU binding" },
	{ SR, "-m plane=0", NULL, NULL, 255, "plane= needs a number" },
	{ SR, "-m wat", NULL, NULL, 255, "no distribution" },
	{ SR, "--mpi=pmix", NULL, NULL, 1, "'pmix' is not supported" },
	{ SR, "--multi-prog", NULL, NULL, 255,
	  "--multi-prog is not supported by this version of Muster" },
	{ SR, "--jobid=x", NULL, NULL, 1, "'x' is not a job id" },
	{ SR, "--oom-kill-step=1", NULL, NULL, 255, "only 0" },
	{ SR, "--wrap=x", NULL, NULL, 255, "unrecognized option '--wrap=x'" },
};

static void refusals_name_what_is_wrong(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(refusal_cases); i++) {
		const struct refusal_case *c = &refusal_cases[i];
		struct run r;
		run_init(&r, c->command);
		run_all(&r, c->line, c->env, c->script, false);
		if (r.result == 0)
			fail_msg("'%s' was accepted", c->line);
		if (!strstr(r.err.text, c->part))
			fail_msg("'%s' says '%s' and not '%s'", c->line, r.err.text, c->part);
		if (r.o.exit_code != c->exit_code)
			fail_msg("'%s' would exit with %d", c->line, r.o.exit_code);
		run_done(&r);
	}
}

/* ---- the rest ---------------------------------------------------------------------------------- */

static void options_end_at_the_first_other_word(void **state)
{
	(void)state;
	struct run r;
	run_init(&r, SB);
	run_all(&r, "-N2 job.sh --image x -y", NULL, NULL, false);
	assert_int_equal(r.result, 0);
	assert_int_equal(r.o.rest_count, 4);
	assert_string_equal(r.o.rest[0], "job.sh");
	assert_string_equal(r.o.rest[3], "-y");
	run_done(&r);

	run_init(&r, SR);
	run_all(&r, "-n2 -- -N", NULL, NULL, false);
	assert_int_equal(r.o.rest_count, 1);
	assert_string_equal(r.o.rest[0], "-N");
	run_done(&r);
}

static void few_tasks_lower_the_nodes(void **state)
{
	(void)state;
	struct run r;
	run_init(&r, SB);
	run_all(&r, "-N2-4 -n1", NULL, NULL, false);
	assert_int_equal(r.result, 0);
	assert_int_equal(r.o.at.spec.request.nodes_min, 1);
	assert_int_equal(r.o.at.spec.request.nodes_max, 1);
	assert_int_equal(r.o.warnings.count, 1);
	assert_string_equal(r.o.warnings.at[0],
			    "warning: -n 1 is less than the 2 nodes of -N, using 1");
	run_done(&r);
}

static const struct step_case {
	const char *line, *env;
	uint32_t nodes_min, nodes_max, ntasks; /* 0: not said */
} step_cases[] = {
#define JOB2                                                                                       \
	"SLURM_JOB_NUM_NODES=2 SLURM_NTASKS=2 SLURM_NPROCS=2 SLURM_JOB_NAME=x SLURM_TIMELIMIT=1 SLURM_PARTITION=p"
	{ "", JOB2, 2, 2, 2 },
	{ "-N1", JOB2, 1, 1, 0 }, /* one name, not two tasks on one node */
	{ "-N1", "SLURM_JOB_NUM_NODES=2 SLURM_NTASKS=8", 1, 1, 8 }, /* eight were asked for */
	{ "-n1", JOB2, 1, 1, 1 },
	{ "-n8", JOB2, 2, 2, 8 },
	{ "-w n2", JOB2, 1, 1, 0 },
	{ "-w n[2-4]", JOB2, 3, 3, 0 },
	{ "-x n2", JOB2, 0, 0, 0 }, /* whatever is left */
	{ "-r1", JOB2, 0, 0, 0 },
	{ "-n4", "", 0, 0, 4 },
	{ "-N3", JOB2, 3, 3, 0 },
	{ "--ntasks-per-node=3", JOB2 " SLURM_NTASKS_PER_NODE=1", 2, 2, 0 },
	{ "", JOB2 " SLURM_NTASKS_PER_GPU=2 SLURM_GPU_BIND=single:2 SLURM_TRES_BIND=gres/gpu:single:2",
	  2, 2, 2 },
	{ "--ntasks-per-gpu=2", JOB2 " SLURM_GPUS_PER_NODE=4 SLURM_GPU_BIND=closest", 2, 2, 16 },
	{ "-n4 --ntasks-per-gpu=2", JOB2 " SLURM_GPUS_PER_NODE=4", 2, 2, 4 },
};

static void steps_inherit_what_they_do_not_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(step_cases); i++) {
		const struct step_case *c = &step_cases[i];
		struct run r;
		run_init(&r, SR);
		run_all(&r, c->line, c->env, NULL, true);
		if (r.result < 0)
			fail_msg("'%s': %s", c->line, r.err.text);
		const struct resource_request *q = &r.o.at.spec.request;
		uint32_t ntasks = q->has_ntasks ? q->ntasks : 0;
		if (q->nodes_min != c->nodes_min || q->nodes_max != c->nodes_max ||
		    ntasks != c->ntasks)
			fail_msg("'%s' gives nodes %u-%u tasks %u", c->line, q->nodes_min,
				 q->nodes_max, ntasks);
		assert_null(r.o.at.spec.name);
		assert_null(r.o.at.spec.partition);
		assert_false(r.o.at.spec.has_time_limit);
		assert_int_equal(r.o.warnings.count, 0);
		run_done(&r);
	}
}

static void gres_on_the_line_replaces_the_job_s(void **state)
{
	(void)state;
	const char *env =
		"SLURM_GPUS_PER_NODE=8 SLURM_TRES_PER_TASK=cpu=2,gres/gpu=1 SLURM_MEM_PER_NODE=100";
	struct run r;
	run_init(&r, SR);
	run_all(&r, "-G1 --mem-per-cpu=5", env, NULL, true);
	assert_int_equal(r.result, 0);
	assert_int_equal(r.o.at.spec.request.n_gres_per_node, 0);
	assert_int_equal(r.o.at.spec.request.n_gres_per_task, 0);
	assert_int_equal(r.o.at.spec.request.n_gres_per_job, 1);
	assert_false(r.o.at.spec.request.has_mem_per_node_mib);
	run_done(&r);
}

/* Every row: its target exists, its letter is unique in each command, help is written. */
static void rows_are_sound(void **state)
{
	(void)state;
	for (size_t i = 0; i < OPTION_ROW_COUNT; i++) {
		const struct option_row *row = &options_table[i];
		assert_true(row->cmds != 0);
		assert_non_null(row->help);
		for (size_t k = 0; k < i; k++) {
			const struct option_row *other = &options_table[k];
			if (!(row->cmds & other->cmds))
				continue;
			if (str_eq(row->long_name, other->long_name) ||
			    (row->letter && str_eq(row->letter, other->letter)))
				fail_msg("--%s and --%s clash", row->long_name, other->long_name);
		}
		if (!row->target)
			continue;
		const struct record *rec = &command_options_record;
		AUTO_ARENA struct arena *a = arena_new();
		char *save = NULL;
		for (char *p = strtok_r(arena_strdup(a, row->target), ".", &save); p;
		     p = strtok_r(NULL, ".", &save)) {
			const struct field *f = rec ? record_field(rec, p) : NULL;
			if (!f)
				fail_msg("--%s: no member %s", row->long_name, row->target);
			rec = f->sub;
		}
	}
}

static bool names_variable(const char *list, const char *name)
{
	size_t len = strlen(name);
	for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (strncmp(p, name, len) == 0 && (p[len] == ',' || p[len] == '\0'))
			return true;
	return false;
}

/* What a job finds in its environment must not keep it from starting steps: a variable that srun reads
 * belongs to an option that is built, or that no job can have been submitted with. */
static void srun_understands_what_jobs_are_given(void **state)
{
	(void)state;
	for (size_t v = 0; v < VARIABLE_ROW_COUNT; v++) {
		const struct variable_row *var = &variables_table[v];
		for (size_t i = 0; i < OPTION_ROW_COUNT; i++) {
			const struct option_row *row = &options_table[i];
			if (!(row->cmds & SR) || !names_variable(row->srun, var->name))
				continue;
			if (row->parse == OPTION_PARSE_NONE &&
			    (var->kind == VARIABLE_KIND_FIXED || !(row->cmds & SB)))
				fail_msg("%s is set in jobs, and srun refuses --%s", var->name,
					 row->long_name);
			if (var->kind != VARIABLE_KIND_FIXED)
				continue;
			struct run r;
			run_init(&r, SR);
			run_all(&r, "", arena_printf(r.arena, "%s=%s", var->name, var->value), NULL,
				true);
			if (r.result < 0)
				fail_msg("%s", r.err.text);
			run_done(&r);
		}
	}
}

static void help_lists_what_works(void **state)
{
	(void)state;
	AUTO_BUF struct buf out = {};
	struct run r;
	run_init(&r, SB);
	run_all(&r, "--help --nosuch", NULL, NULL, false);
	assert_int_equal(r.result, 0);
	assert_int_equal(r.o.asked, OPTION_PARSE_HELP);
	options_help(&r.o, &out);
	assert_non_null(strstr(buf_text(&out), "\n  -N, --nodes=min[-max]|a,b     How many nodes"));
	assert_non_null(
		strstr(buf_text(&out), "      --nice[=n]                Lower the priority"));
	assert_null(strstr(buf_text(&out), "\n      --signal"));
	for (const char *p = buf_text(&out); p && *p;
	     p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
		assert_in_range(strcspn(p, "\n"), 0, 80);
	run_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_read),
		cmocka_unit_test(refusals_name_what_is_wrong),
		cmocka_unit_test(options_end_at_the_first_other_word),
		cmocka_unit_test(few_tasks_lower_the_nodes),
		cmocka_unit_test(steps_inherit_what_they_do_not_say),
		cmocka_unit_test(gres_on_the_line_replaces_the_job_s),
		cmocka_unit_test(rows_are_sound),
		cmocka_unit_test(srun_understands_what_jobs_are_given),
		cmocka_unit_test(help_lists_what_works),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
