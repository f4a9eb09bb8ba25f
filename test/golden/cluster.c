/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.c - the records of the canned cluster, as they are at 2026-11-15T04:00:55 UTC. */
#include "canned.h"

#include "base/arena.h"
#include "base/vec.h"
#include "sched/layout.h"
#include "schema/messages.h"

#define AT(m, s)   ((1794715200 + (m)*60 + (s)) * USEC_PER_SEC) /* 04:mm:ss */
#define NOW        AT(0, 55)
#define TEXT(a, s) arena_strdup((a), (s))

enum { TESTER = 2001, NODES = 8, CPUS = 32 };

/* ---- nodes and partitions ---------------------------------------------------------------------- */

static void make_node(struct arena *a, uint32_t i, struct node *n)
{
	static const uint64_t free_mem[NODES] = { 22544, 22544, 22551, 22543,
						  22544, 22554, 22552, 22543 };
	n->index = i;
	n->conf = (struct node_conf) {
		.name = arena_printf(a, "node%u", i + 1),
		.addr = TEXT(a, "127.0.0.1"),
		.port = 17101 + i,
		.cpus = CPUS,
		.boards = 1,
		.sockets = 2,
		.cores_per_socket = 16,
		.threads_per_core = 1,
		.real_memory_mib = 8000,
		.gres = TEXT(a, "gpu:a100:4"),
		.features = TEXT(a, "ib,a100,rack1"),
		.weight = 1,
	};
	n->facts = (struct node_facts) {
		.arch = TEXT(a, "x86_64"),
		.os = TEXT(a, "Linux 6.18.44-fc-v445 #1 SMP PREEMPT_DYNAMIC @0"),
		.version = TEXT(a, "26.05.3"),
		.boot_time = AT(-114, 29),
		.slurmd_start_time = AT(0, 3),
		.hostname = TEXT(a, "vm"),
	};
	n->registered = n->responding = true;
	n->cpu_load = 7.26;
	n->free_mem_mib = free_mem[i];
	n->last_busy = i == 0 ? AT(0, 33) : AT(0, 3);
	n->last_response = NOW;
	n->partitions = TEXT(a, i < 4 ? "debug" : "debug,gpu");
	n->features = n->conf.features;
	n->gres = ARENA_NEW(a, struct node_gres);
	n->n_gres = 1;
	n->gres[0] =
		(struct node_gres) { .name = TEXT(a, "gpu"), .type = TEXT(a, "a100"), .count = 4 };
	bitset_init_in(&n->used_cores, CPUS, a);
}

static void set_used(struct arena *a, struct node *n, uint32_t more_cpus, uint64_t mem)
{
	bitset_add_range(&n->used_cores, 0, 2 + more_cpus);
	bitset_add_range(&n->used_cores, 16, 2);
	n->used_mem_mib = mem;
	n->job_count = 1 + more_cpus;
	bitset_init_in(&n->gres[0].used, 4, a);
	bitset_add_range(&n->gres[0].used, 0, 2);
}

void canned_nodes(struct arena *a, struct node_list *ret)
{
	ret->nodes = ARENA_ARRAY(a, struct node, NODES);
	ret->n_nodes = NODES;
	ret->time = NOW;
	for (uint32_t i = 0; i < NODES; i++)
		make_node(a, i, &ret->nodes[i]);
	set_used(a, &ret->nodes[4], 3, 1300);
	set_used(a, &ret->nodes[5], 0, 1000);
	ret->nodes[0].planned = ret->nodes[4].planned = true;
	struct node *drained = &ret->nodes[6];
	drained->drain = true;
	drained->reason = TEXT(a, "bad dimm");
	drained->reason_time = AT(0, 23);
	drained->user_reason = TEXT(a, "root");
}

static void make_partition(struct arena *a, const char *name, uint32_t first, uint32_t count,
			   struct partition *p)
{
	p->conf = (struct partition_conf) {
		.name = TEXT(a, name),
		.nodes = arena_printf(a, "node[%u-%u]", first + 1, first + count),
		.priority_tier = 1,
		.priority_job_factor = 1,
		.oversubscribe = TEXT(a, "NO"),
		.allow_groups = TEXT(a, "ALL"),
		.allow_accounts = TEXT(a, "ALL"),
		.allow_qos = TEXT(a, "ALL"),
		.alloc_nodes = TEXT(a, "ALL"),
		.preempt_mode = TEXT(a, "OFF"),
	};
	bitset_init_in(&p->nodes, NODES, a);
	bitset_add_range(&p->nodes, first, count);
	p->total_nodes = count;
	p->total_cpus = count * CPUS;
}

void canned_partitions(struct arena *a, struct partition_list *ret)
{
	ret->partitions = ARENA_ARRAY(a, struct partition, 3);
	ret->n_partitions = 3;
	ret->time = NOW;
	make_partition(a, "debug", 0, 8, &ret->partitions[0]);
	make_partition(a, "gpu", 4, 4, &ret->partitions[1]);
	make_partition(a, "secret", 0, 2, &ret->partitions[2]);
	ret->partitions[0].conf.is_default = true;
	ret->partitions[0].tres = TEXT(a, "cpu=256,mem=62.50G,node=8,billing=256,gres/gpu=32");
	ret->partitions[1].conf.max_time = 2 * USEC_PER_DAY;
	ret->partitions[1].tres = TEXT(a, "cpu=128,mem=32000M,node=4,billing=128,gres/gpu=16");
	ret->partitions[2].conf.hidden = true;
}

/* ---- jobs -------------------------------------------------------------------------------------- */

static struct job make_job(struct arena *a, uint32_t id, const char *name, enum job_state state,
			   const char *line)
{
	return (struct job) {
		.id = id,
		.spec = { .name = TEXT(a, name),
			  .partition = TEXT(a, "debug"),
			  .account = TEXT(a, "ml"),
			  .qos = TEXT(a, "normal"),
			  .work_dir = TEXT(a, "/home/tester"),
			  .std_out = TEXT(a, "/dev/null"),
			  .submit_line = TEXT(a, line),
			  .submit_host = TEXT(a, "localhost"),
			  .submit_sid = 1618,
			  .batch = true,
			  .request = { .nodes_min = 1,
				       .has_mem_per_cpu_mib = true,
				       .mem_per_cpu_mib = 100 } },
		.uid = TESTER,
		.gid = TESTER,
		.user = TEXT(a, "tester"),
		.group = TEXT(a, "tester"),
		.state = state,
		.priority = 6,
		.attempt = 1,
		.requeue = true,
		.partition = TEXT(a, "debug"),
		.submit_time = AT(0, 23),
		.eligible_time = AT(0, 23),
		.last_sched_eval = AT(0, 33),
		.ntasks = 1,
		.cpus_per_task = 1,
	};
}

struct share {
	uint32_t nodes, first_cpu, cpus, gpus;
	uint64_t mem;
	bool both_sockets;
};

static void give(struct arena *a, struct job *j, const char *nodes, struct share s)
{
	j->alloc = ARENA_ARRAY(a, struct node_alloc, s.nodes);
	j->n_alloc = s.nodes;
	j->node_list = TEXT(a, nodes);
	j->batch_host = TEXT(a, "node5");
	j->start_time = AT(0, 33);
	for (uint32_t i = 0; i < s.nodes; i++) {
		struct node_alloc *n = &j->alloc[i];
		*n = (struct node_alloc) { .node = 4 + i,
					   .mem_mib = s.mem,
					   .tasks = j->ntasks / s.nodes };
		bitset_init_in(&n->cores, CPUS, a);
		bitset_add_range(&n->cores, s.first_cpu, s.cpus);
		if (s.both_sockets)
			bitset_add_range(&n->cores, 16 + s.first_cpu, s.cpus);
		if (!s.gpus)
			continue;
		n->gres = ARENA_NEW(a, struct gres_alloc);
		n->n_gres = 1;
		n->gres[0] = (struct gres_alloc) { .name = TEXT(a, "gpu"),
						   .type = TEXT(a, "a100") };
		bitset_init_in(&n->gres[0].devices, 4, a);
		bitset_add_range(&n->gres[0].devices, 0, s.gpus);
	}
}

static void add_batch_step(struct arena *a, struct job *j)
{
	j->steps = ARENA_ARRAY(a, struct step, 2);
	j->n_steps = 1;
	j->steps[0] = (struct step) { .id = STEP_BATCH,
				      .alloc = j->alloc,
				      .n_alloc = 1,
				      .ntasks = 1,
				      .start_time = j->start_time };
}

static struct job make_gpu_job(struct arena *a)
{
	struct job j = make_job(
		a, 2230, "gpujob", JOB_STATE_RUNNING,
		"sbatch -J gpujob -q high -N2 --gpus-per-node=2 --ntasks-per-node=2 -c2 --mem=1000 -C ib "
		"--comment=hello -o g.%j.out -t 30 --wrap=srun sleep 60");
	struct resource_request *r = &j.spec.request;
	j.spec.qos = TEXT(a, "high");
	j.spec.comment = TEXT(a, "hello");
	j.spec.std_out = TEXT(a, "g.%j.out");
	j.priority = 14;
	j.ntasks = 4;
	j.cpus_per_task = 2;
	j.time_limit = 30 * USEC_PER_MIN;
	*r = (struct resource_request) { .nodes_min = 2,
					 .nodes_max = 2,
					 .has_mem_per_node_mib = true,
					 .mem_per_node_mib = 1000,
					 .has_cpus_per_task = true,
					 .cpus_per_task = 2,
					 .has_ntasks_per_node = true,
					 .ntasks_per_node = 2 };
	r->constraint = TEXT(a, "ib");
	r->gres_per_node = ARENA_NEW(a, struct gres_request);
	r->n_gres_per_node = 1;
	r->gres_per_node[0] = (struct gres_request) { .name = TEXT(a, "gpu"), .count = 2 };
	give(a, &j, "node[5-6]",
	     (struct share) {
		     .nodes = 2, .cpus = 2, .both_sockets = true, .mem = 1000, .gpus = 2 });
	j.end_time = j.start_time + j.time_limit;
	add_batch_step(a, &j);
	j.n_steps = 2;
	j.steps[1] = (struct step) { .id = 0,
				     .name = TEXT(a, "sleep"),
				     .alloc = j.alloc,
				     .n_alloc = 2,
				     .ntasks = 4,
				     .cpus_per_task = 2,
				     .start_time = j.start_time,
				     .node_list = j.node_list,
				     .srun_host = TEXT(a, "vm"),
				     .srun_pid = 16040 };
	return j;
}

#define ARRAY_LINE "sbatch -J arr --array=1-6%2 -o /dev/null --wrap=sleep 20"

static struct job make_task(struct arena *a, uint32_t id, uint32_t task)
{
	bool runs = task > 2;
	struct job j = make_job(a, id, "arr", runs ? JOB_STATE_RUNNING : JOB_STATE_COMPLETED,
				ARRAY_LINE);
	j.array_job_id = 2229;
	j.has_array_task_id = true;
	j.array_task_id = task;
	j.array_limit = 2;
	give(a, &j, "node5",
	     (struct share) { .nodes = 1, .first_cpu = task, .cpus = 1, .mem = 100 });
	if (runs) {
		j.start_time = AT(0, 54);
		add_batch_step(a, &j);
	} else {
		j.end_time = AT(0, 53);
		j.time_limit = 365 * USEC_PER_DAY;
	}
	return j;
}

static struct job make_ended(struct arena *a, uint32_t id, const char *name, enum job_state state,
			     uint32_t code)
{
	struct job j = make_job(a, id, name, state,
				arena_printf(a, "sbatch -A ml -n2 %s.sh", name));
	j.spec.command = arena_printf(a, "/home/tester/%s.sh", name);
	j.spec.std_out = arena_printf(a, "/home/tester/%s.out", name);
	j.ntasks = 2;
	give(a, &j, "node5", (struct share) { .nodes = 1, .cpus = 2, .mem = 200 });
	j.end_time = j.start_time;
	j.time_limit = 365 * USEC_PER_DAY;
	j.exit_code = code;
	j.reason = code ? JOB_REASON_EXIT_CODE : JOB_REASON_NONE;
	return j;
}

static struct job make_limited(struct arena *a)
{
	struct job j = make_job(a, 2228, "tojob", JOB_STATE_RUNNING,
				"sbatch -J tojob -t 1 --wrap=sleep 300");
	j.priority = 5;
	j.time_limit = USEC_PER_MIN;
	give(a, &j, "node5", (struct share) { .nodes = 1, .first_cpu = 2, .cpus = 1, .mem = 100 });
	j.end_time = j.start_time + j.time_limit;
	add_batch_step(a, &j);
	return j;
}

static struct job make_waiting(struct arena *a, uint32_t id, const char *name,
			       enum job_reason reason, uint32_t priority)
{
	struct job j = make_job(a, id, name, JOB_STATE_PENDING,
				arena_printf(a, "sbatch -J %s --wrap=true", name));
	j.reason = reason;
	j.priority = priority;
	j.eligible_time = 0;
	return j;
}

static struct job make_later(struct arena *a)
{
	struct job j = make_waiting(a, 2235, "later", JOB_REASON_BEGIN_TIME, 1673);
	j.spec.submit_line = TEXT(a, "sbatch -J later --begin=now+1hour -o /dev/null --wrap=true");
	j.spec.has_begin_time = true;
	j.spec.begin_time = AT(60, 23);
	j.last_sched_eval = AT(0, 23);
	return j;
}

static struct job make_big(struct arena *a)
{
	struct job j = make_waiting(a, 2240, "bigpend", JOB_REASON_RESOURCES, 1);
	j.spec.submit_line = TEXT(
		a, "sbatch -J bigpend -N7 --exclusive -o /dev/null --nice=1000 --wrap=sleep 30");
	j.spec.request.nodes_min = j.spec.request.nodes_max = 7;
	j.spec.request.exclusive = EXCLUSIVE_KIND_NODE;
	j.spec.nice = 1000;
	j.ntasks = 7;
	j.submit_time = j.eligible_time = AT(0, 51);
	j.last_sched_eval = AT(0, 54);
	return j;
}

static struct job make_array(struct arena *a)
{
	struct job j = make_waiting(a, 2229, "arr", JOB_REASON_ARRAY_TASK_LIMIT, 6);
	j.spec.submit_line = TEXT(a, ARRAY_LINE);
	j.eligible_time = AT(0, 23);
	j.array_job_id = 2229;
	j.array_limit = 2;
	j.array_tasks = ARENA_NEW(a, struct id_range);
	j.n_array_tasks = 1;
	j.array_tasks[0] = (struct id_range) { 5, 6 };
	return j;
}

/* In the order of creation: the record of an array's waiting tasks is the youngest. */
void canned_jobs(struct arena *a, struct job_list *ret)
{
	VEC(struct job) jobs = {};
	vec_push(&jobs, make_ended(a, 2225, "ok", JOB_STATE_COMPLETED, 0));
	vec_push(&jobs, make_ended(a, 2226, "fail", JOB_STATE_FAILED, 3));
	vec_push(&jobs, make_limited(a));
	vec_push(&jobs, make_gpu_job(a));
	struct job clean = make_ended(a, 2231, "cleaning", JOB_STATE_COMPLETED, 0);
	clean.partition = TEXT(a, "secret");
	clean.completing = true;
	vec_push(&jobs, clean);
	struct job held = make_waiting(a, 2233, "heldjob", JOB_REASON_HELD_USER, 0);
	held.hold = HOLD_KIND_USER;
	held.spec.request.constraint = TEXT(a, "[rack1|rack2]");
	held.spec.request.prefer = TEXT(a, "a100");
	vec_push(&jobs, held);
	struct job dependent = make_waiting(a, 2234, "depjob", JOB_REASON_DEPENDENCY, 2);
	dependent.spec.dependency = TEXT(a, "afterok:2230(unfulfilled)");
	vec_push(&jobs, dependent);
	vec_push(&jobs, make_later(a));
	vec_push(&jobs, make_task(a, 2238, 1));
	vec_push(&jobs, make_task(a, 2239, 2));
	vec_push(&jobs, make_big(a));
	vec_push(&jobs, make_task(a, 2241, 3));
	vec_push(&jobs, make_task(a, 2242, 4));
	vec_push(&jobs, make_array(a));
	ret->jobs = arena_dup(a, jobs.at, jobs.count * sizeof(struct job));
	ret->n_jobs = (uint32_t)jobs.count;
	ret->time = NOW;
	ret->cluster = TEXT(a, "ref");
	vec_done(&jobs);
}
