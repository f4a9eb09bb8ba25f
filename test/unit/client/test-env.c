/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of jobs: the container, and a whole job as Slurm shows it to its script and tasks. */
#include "../cm.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "client/env.h"
#include "client/jobenv.h"
#include "sched/cpubind.h"
#include "sched/layout.h"
#include "schema/job.h"
#include "schema/node.h"

#include <string.h>

static void test_each_name_once(void **state)
{
	(void)state;
	struct env e = {};
	AUTO_BUF struct buf block = {};
	char **array;

	env_set(&e, "A", "%d", 1);
	env_set(&e, "AB", "%s", "two");
	env_set(&e, "A", "%d", 3);
	assert_int_equal(e.entries.count, 2);
	assert_string_equal(env_get(&e, "A"), "3");
	assert_string_equal(env_get(&e, "AB"), "two");
	assert_null(env_get(&e, "ABC"));
	env_unset(&e, "A");
	env_unset(&e, "A");
	assert_null(env_get(&e, "A"));
	env_to_block(&e, &block);
	assert_int_equal(block.len, sizeof("AB=two"));
	array = env_to_array(&e);
	assert_string_equal(array[0], "AB=two");
	assert_null(array[1]);
	free(array);
	env_done(&e);
}

static void test_blocks(void **state)
{
	(void)state;
	static const struct {
		const char *block;
		size_t len;
		const char *name, *value;
		size_t count;
	} cases[] = {
		{ "A=1\0B=2", 8, "B", "2", 2 }, { "A=1\0A=2\0", 8, "A", "2", 1 },
		{ "A=\0", 3, "A", "", 1 },      { "rubbish\0=x\0A=b=c\0", 17, "A", "b=c", 1 },
		{ "A=1", 3, "A", "1", 1 }, /* not even the last zero byte */
		{ "", 0, "A", NULL, 0 },        { "\0\0\0", 3, "A", NULL, 0 },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct env e = {};
		env_from_block(&e, (const uint8_t *)cases[i].block, cases[i].len);
		assert_int_equal(e.entries.count, cases[i].count);
		if (cases[i].value)
			assert_string_equal(env_get(&e, cases[i].name), cases[i].value);
		else
			assert_null(env_get(&e, cases[i].name));
		env_done(&e);
	}
}

/* sbatch -N2 --ntasks-per-node=2 -c2 --gpus-per-task=1 --mem=1000 on node[5-6] of cluster ref. */
static struct node_alloc *two_nodes(struct arena *a)
{
	struct node_alloc *alloc = ARENA_ARRAY(a, struct node_alloc, 2);

	for (int i = 0; i < 2; i++) {
		alloc[i].tasks = 2;
		bitset_init_in(&alloc[i].cores, 4, a);
		bitset_fill(&alloc[i].cores);
		alloc[i].gres = ARENA_NEW(a, struct gres_alloc);
		alloc[i].n_gres = 1;
		alloc[i].gres[0].name = (char *)"gpu";
		bitset_init_in(&alloc[i].gres[0].devices, 2, a);
		bitset_fill(&alloc[i].gres[0].devices);
	}
	return alloc;
}

static struct job *job_2270(struct arena *a)
{
	struct job *j = ARENA_NEW(a, struct job);
	struct resource_request *r = &j->spec.request;

	*j = (struct job) {
		.id = 2270,
		.uid = 2001,
		.gid = 2001,
		.user = "tester",
		.group = "tester",
		.attempt = 1,
		.partition = "debug",
		.node_list = "node[5-6]",
		.ntasks = 4,
		.start_time = 1794715362 * USEC_PER_SEC,
		.end_time = 1794715662 * USEC_PER_SEC,
		.spec = { .name = "envjob",
			  .account = "ml",
			  .qos = "normal",
			  .submit_host = "vm",
			  .work_dir = "/home/tester" },
	};
	j->alloc = two_nodes(a);
	j->n_alloc = 2;
	r->has_ntasks_per_node = r->has_cpus_per_task = r->has_mem_per_node_mib = true;
	r->ntasks_per_node = r->cpus_per_task = 2;
	r->mem_per_node_mib = 1000;
	r->gres_per_task = ARENA_NEW(a, struct gres_request);
	r->gres_per_task[0] = (struct gres_request) { .name = "gpu", .count = 1 };
	r->n_gres_per_task = 1;
	return j;
}

/* What is set, against the lines of a real job; names that have no row yet are not in the lists. */
static void check_environment(const struct env *e, const char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *eq = strchr(lines[i], '=');
		char name[128];
		snprintf(name, sizeof(name), "%.*s", (int)(eq - lines[i]), lines[i]);
		if (!env_get(e, name))
			fail_msg("%s is not set", name);
		if (!str_eq(env_get(e, name), eq + 1))
			fail_msg("%s is '%s', not '%s'", name, env_get(e, name), eq + 1);
	}
	for (size_t i = 0; i < e->entries.count; i++) {
		bool known = false;
		for (size_t k = 0; k < count; k++)
			known = known || str_eq(lines[k], e->entries.at[i]);
		if (!known)
			fail_msg("'%s' should not be there", e->entries.at[i]);
	}
}

static void test_batch_environment(void **state)
{
	(void)state;
	static const char *const lines[] = {
		"CUDA_VISIBLE_DEVICES=0,1",
		"ENVIRONMENT=BATCH",
		"GPU_DEVICE_ORDINAL=0,1",
		"HOSTNAME=node5",
		"HYDRA_BOOTSTRAP=slurm",
		"HYDRA_LAUNCHER_EXTRA_ARGS=--external-launcher",
		"I_MPI_HYDRA_BOOTSTRAP=slurm",
		"I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS=--external-launcher",
		"OMPI_MCA_plm_slurm_args=--external-launcher",
		"PRTE_MCA_plm_slurm_args=--external-launcher",
		"ROCR_VISIBLE_DEVICES=0,1",
		"SLURMD_NODENAME=node5",
		"SLURM_CLUSTER_NAME=ref",
		"SLURM_CONF=/etc/slurm/slurm.conf",
		"SLURM_CPUS_ON_NODE=4",
		"SLURM_CPUS_PER_TASK=2",
		"SLURM_GPUS_ON_NODE=2",
		"SLURM_GTIDS=0",
		"SLURM_JOBID=2270",
		"SLURM_JOB_ACCOUNT=ml",
		"SLURM_JOB_CPUS_PER_NODE=4(x2)",
		"SLURM_JOB_END_TIME=1794715662",
		"SLURM_JOB_EXCLUSIVE=NO",
		"SLURM_JOB_GID=2001",
		"SLURM_JOB_GPUS=0,1",
		"SLURM_JOB_ID=2270",
		"SLURM_JOB_NAME=envjob",
		"SLURM_JOB_NODELIST=node[5-6]",
		"SLURM_JOB_NUM_NODES=2",
		"SLURM_JOB_OVERSUBSCRIBE=NO",
		"SLURM_JOB_PARTITION=debug",
		"SLURM_JOB_QOS=normal",
		"SLURM_JOB_START_TIME=1794715362",
		"SLURM_JOB_UID=2001",
		"SLURM_JOB_USER=tester",
		"SLURM_LOCALID=0",
		"SLURM_MEM_PER_NODE=1000",
		"SLURM_NNODES=2",
		"SLURM_NODEID=0",
		"SLURM_NODELIST=node[5-6]",
		"SLURM_NPROCS=4",
		"SLURM_NTASKS=4",
		"SLURM_NTASKS_PER_NODE=2",
		"SLURM_OOM_KILL_STEP=0",
		"SLURM_PRIO_PROCESS=0",
		"SLURM_PROCID=0",
		"SLURM_STEPID=-5",
		"SLURM_STEP_ID=-5",
		"SLURM_SUBMIT_DIR=/home/tester",
		"SLURM_SUBMIT_HOST=vm",
		"SLURM_TASKS_PER_NODE=2(x2)",
		"SLURM_TASK_PID=17825",
		"SLURM_TRES_BIND=gres/gpu:per_task:1",
		"SLURM_TRES_PER_TASK=cpu=2,gres/gpu=1",
		"ZE_AFFINITY_MASK=0,1",
	};
	AUTO_ARENA struct arena *a = arena_new();
	struct job *job = job_2270(a);
	struct step step = { .id = STEP_BATCH, .alloc = job->alloc, .n_alloc = 1, .ntasks = 1 };
	struct env e = {};

	jobenv_add(JOBENV_BATCH,
		   &(struct jobenv) { .job = job,
				      .step = &step,
				      .cluster = "ref",
				      .conf_path = "/etc/slurm/slurm.conf",
				      .node_name = "node5",
				      .pid = 17825 },
		   &e);
	check_environment(&e, lines, ARRAY_COUNT(lines));
	env_done(&e);
}

static void test_task_environment(void **state)
{
	(void)state;
	static const char *const lines[] = {
		"CUDA_VISIBLE_DEVICES=1",
		"GPU_DEVICE_ORDINAL=1",
		"ROCR_VISIBLE_DEVICES=1",
		"SLURMD_DEBUG=2",
		"SLURMD_NODENAME=node6",
		"SLURMD_TRES_BIND=gres/gpu:per_task:1",
		"SLURM_CLUSTER_NAME=ref",
		"SLURM_CONF=/etc/slurm/slurm.conf",
		"SLURM_CPUS_ON_NODE=4",
		"SLURM_CPUS_PER_TASK=2",
		"SLURM_DISTRIBUTION=block",
		"SLURM_GPUS_ON_NODE=2",
		"SLURM_GTIDS=2,3",
		"SLURM_JOBID=2270",
		"SLURM_JOB_ACCOUNT=ml",
		"SLURM_JOB_CPUS_PER_NODE=4(x2)",
		"SLURM_JOB_END_TIME=1794715662",
		"SLURM_JOB_EXCLUSIVE=NO",
		"SLURM_JOB_GID=2001",
		"SLURM_JOB_GPUS=0,1",
		"SLURM_JOB_GROUP=tester",
		"SLURM_JOB_ID=2270",
		"SLURM_JOB_NAME=envjob",
		"SLURM_JOB_NODELIST=node[5-6]",
		"SLURM_JOB_NUM_NODES=2",
		"SLURM_JOB_OVERSUBSCRIBE=NO",
		"SLURM_JOB_PARTITION=debug",
		"SLURM_JOB_QOS=normal",
		"SLURM_JOB_START_TIME=1794715362",
		"SLURM_JOB_UID=2001",
		"SLURM_JOB_USER=tester",
		"SLURM_LAUNCH_NODE_IPADDR=127.0.0.1",
		"SLURM_LOCALID=1",
		"SLURM_MEM_PER_NODE=1000",
		"SLURM_NNODES=2",
		"SLURM_NODEID=1",
		"SLURM_NODELIST=node[5-6]",
		"SLURM_NPROCS=4",
		"SLURM_NTASKS=4",
		"SLURM_NTASKS_PER_NODE=2",
		"SLURM_OOM_KILL_STEP=0",
		"SLURM_PRIO_PROCESS=0",
		"SLURM_PROCID=3",
		"SLURM_SRUN_COMM_HOST=127.0.0.1",
		"SLURM_SRUN_COMM_PORT=40223",
		"SLURM_STEPID=0",
		"SLURM_STEP_GPUS=1",
		"SLURM_STEP_ID=0",
		"SLURM_STEP_LAUNCHER_PORT=40223",
		"SLURM_STEP_NODELIST=node[5-6]",
		"SLURM_STEP_NUM_NODES=2",
		"SLURM_STEP_NUM_TASKS=4",
		"SLURM_STEP_TASKS_PER_NODE=2(x2)",
		"SLURM_SUBMIT_DIR=/home/tester",
		"SLURM_SUBMIT_HOST=vm",
		"SLURM_TASKS_PER_NODE=2(x2)",
		"SLURM_TASK_PID=17866",
		"SLURM_TRES_BIND=gres/gpu:per_task:1",
		"SLURM_TRES_PER_TASK=cpu=2,gres/gpu=1",
		"SRUN_DEBUG=3",
		"ZE_AFFINITY_MASK=1",
	};
	AUTO_ARENA struct arena *a = arena_new();
	struct job *job = job_2270(a);
	struct step step = { .id = 0,
			     .alloc = job->alloc,
			     .n_alloc = 2,
			     .ntasks = 4,
			     .cpus_per_task = 2,
			     .node_list = "node[5-6]",
			     .srun_port = 40223 };
	struct cpubind_node node = { .step = &step, .pos = 1 };
	struct cpubind_result bound;
	struct env e = {};

	/* From the script's environment srun hands these over; the second must not survive. */
	env_set(&e, "SLURM_JOB_GPUS", "0,1");
	env_set(&e, "SLURM_ARRAY_TASK_ID", "7");
	cpubind_tasks(&node, a, &bound);
	jobenv_add(JOBENV_TASK,
		   &(struct jobenv) { .job = job,
				      .step = &step,
				      .cluster = "ref",
				      .conf_path = "/etc/slurm/slurm.conf",
				      .node_name = "node6",
				      .node_pos = 1,
				      .task_id = 3,
				      .local_id = 1,
				      .cpu_node = &node,
				      .bound = &bound,
				      .pid = 17866,
				      .srun_addr = "127.0.0.1" },
		   &e);
	check_environment(&e, lines, ARRAY_COUNT(lines));
	env_done(&e);
}

/* What a task hears about its CPUs: nothing where nothing was asked for and the node only pretends. */
static void test_cpu_bind_environment(void **state)
{
	(void)state;
	static const struct {
		const char *how;
		bool really;
		const char *bind, *type, *list, *verbose;
	} table[] = {
		{ NULL, false, NULL, NULL, NULL, NULL },
		{ NULL, true, "quiet,mask_cpu:0x3,0xc", "mask_cpu:", "0x3,0xc", "quiet" },
		{ "none", true, "quiet,none", "none", NULL, "quiet" },
		{ "verbose,threads", false, "verbose,mask_cpu:0x3,0xc", "mask_cpu:", "0x3,0xc", "verbose" },
		{ "map_cpu:2,1", true, "quiet,mask_cpu:0x4,0x2", "mask_cpu:", "0x4,0x2", "quiet" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct node_alloc here = { .tasks = 2 };
		struct job job = { .id = 1 };
		struct step step = { .alloc = &here,
				     .n_alloc = 1,
				     .ntasks = 2,
				     .cpus_per_task = 2,
				     .distribution = (char *)"plane=2:block",
				     .cpu_bind = (char *)table[i].how };
		struct cpubind_node node = { .step = &step, .geometry = { 1, 4, 1 } };
		struct cpubind_result bound;
		struct env e = {};
		bitset_init_in(&here.cores, 4, a);
		bitset_fill(&here.cores);
		cpubind_tasks(&node, a, &bound);
		jobenv_add(JOBENV_TASK,
			   &(struct jobenv) { .job = &job,
					      .step = &step,
					      .cpu_node = &node,
					      .bound = &bound,
					      .really_bound = table[i].really },
			   &e);
		assert_true(str_eq(env_get(&e, "SLURM_CPU_BIND"), table[i].bind));
		assert_true(str_eq(env_get(&e, "SLURM_CPU_BIND_TYPE"), table[i].type));
		assert_true(str_eq(env_get(&e, "SLURM_CPU_BIND_LIST"), table[i].list));
		assert_true(str_eq(env_get(&e, "SLURM_CPU_BIND_VERBOSE"), table[i].verbose));
		assert_string_equal(env_get(&e, "SLURM_DISTRIBUTION"), "plane:block");
		assert_string_equal(env_get(&e, "SLURM_DIST_PLANESIZE"), "2");
		env_done(&e);
	}
}

static void test_array_environment(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	struct job *job = job_2270(a);
	struct step step = { .id = STEP_BATCH, .alloc = job->alloc, .n_alloc = 1 };
	struct env e = {};

	job->id = 2273;
	job->array_job_id = 2271;
	job->has_array_task_id = true;
	job->array_task_id = 5;
	job->array_count = 3;
	job->array_min = 3;
	job->array_max = 7;
	job->array_step = 2;
	job->attempt = 3;
	jobenv_add(JOBENV_BATCH, &(struct jobenv) { .job = job, .step = &step }, &e);
	assert_string_equal(env_get(&e, "SLURM_ARRAY_JOB_ID"), "2271");
	assert_string_equal(env_get(&e, "SLURM_ARRAY_TASK_ID"), "5");
	assert_string_equal(env_get(&e, "SLURM_ARRAY_TASK_COUNT"), "3");
	assert_string_equal(env_get(&e, "SLURM_ARRAY_TASK_MIN"), "3");
	assert_string_equal(env_get(&e, "SLURM_ARRAY_TASK_MAX"), "7");
	assert_string_equal(env_get(&e, "SLURM_ARRAY_TASK_STEP"), "2");
	assert_string_equal(env_get(&e, "SLURM_RESTART_COUNT"), "2");
	assert_string_equal(env_get(&e, "SLURM_JOB_ID"), "2273");
	env_done(&e);
}

static void test_alloc_environment(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	struct env e = {};

	env_set(&e, "HYDRA_BOOTSTRAP", "ssh");
	env_set(&e, "SLURM_SUBMIT_DIR", "/scratch");
	jobenv_add(JOBENV_ALLOC, &(struct jobenv) { .job = job_2270(a), .cluster = "ref" }, &e);
	assert_string_equal(env_get(&e, "SLURM_JOB_NODELIST"), "node[5-6]");
	assert_string_equal(env_get(&e, "SLURM_TASKS_PER_NODE"), "2(x2)");
	assert_string_equal(env_get(&e, "HYDRA_BOOTSTRAP"), "ssh");
	assert_string_equal(env_get(&e, "SLURM_SUBMIT_DIR"), "/scratch");
	assert_null(env_get(&e, "SLURM_PROCID"));
	env_done(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_name_once),    cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_batch_environment), cmocka_unit_test(test_task_environment),
		cmocka_unit_test(test_cpu_bind_environment),
		cmocka_unit_test(test_array_environment), cmocka_unit_test(test_alloc_environment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
