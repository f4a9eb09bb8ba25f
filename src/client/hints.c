/* SPDX-License-Identifier: Apache-2.0 */
/* First the script is looked through once: which commands it starts by itself, and which through srun
 * or another program that reaches all nodes.  Then every kind of mistake is one function that puts its
 * line when it is sure.
 *
 * Sure means: a launcher hidden in a variable, in a function or in a file that the script calls is not
 * seen, and where something might reach the other nodes after all, nothing is said. */
#include "client/hints.h"

#include "base/arena.h"
#include "base/str.h"
#include "client/options.h"
#include "client/shell.h"
#include "schema/job.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A program that starts workers on its own node. */
struct launcher {
	const char *name;  /* as a user would call it; NULL: none */
	const char *nproc; /* what --nproc-per-node says; NULL: nothing */
};

struct look {
	const struct hint_input *in;
	const struct resource_request *q;
	struct arena *arena;
	struct shell_script script;
	uint32_t nodes, tasks;      /* of the job */
	struct launcher bare;       /* started by the script itself */
	bool bare_python;
	struct launcher stepped;    /* started by srun ... */
	uint32_t stepped_tasks;     /* ... so often; 0: who knows */
	uint32_t started[8];        /* numbers of tasks that srun and mpirun are told */
	uint32_t started_count;
	bool reaches_nodes;         /* something in the script starts work on other nodes, or may */
	const char **hints;
	uint32_t count;
};

static void hint(struct look *l, const char *text)
{
	if (l->count < HINTS_MOST)
		l->hints[l->count++] = text;
}

/* ---- commands ---------------------------------------------------------------------------------- */

static const char *base_name(const char *word)
{
	const char *slash = strrchr(word, '/');
	return slash ? slash + 1 : word;
}

static bool is_one_of(const char *word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(base_name(word), list[i]))
			return true;
	return false;
}

/* Leaves out words like `env A=b`, `numactl --localalloc`, `timeout 60`, `conda run -n x`. */
static struct shell_command unwrap(struct shell_command c)
{
	static const char *const wrappers[] = { "env",  "nice", "ionice",  "timeout", "stdbuf", "numactl",
						"taskset", "nsys", "conda", "mamba", "uv", "poetry" };
	while (c.count && is_one_of(c.words[0], wrappers, ARRAY_COUNT(wrappers))) {
		bool takes_name = false;
		do {
			takes_name = str_eq(c.words[0], "-n") || str_eq(c.words[0], "-p") ||
				     str_eq(c.words[0], "-c") || str_eq(c.words[0], "-o");
			c.words++;
			c.count--;
		} while (c.count && (c.words[0][0] == '-' || takes_name || strchr(c.words[0], '=') ||
				     isdigit((unsigned char)c.words[0][0]) || str_eq(c.words[0], "run") ||
				     str_eq(c.words[0], "profile")));
	}
	return c;
}

static bool is_python(const char *word)
{
	const char *name = base_name(word);
	return str_starts(name, "python") && strspn(name + 6, "0123456789.") == strlen(name + 6);
}

/* The value of --name=value or --name value, with - and _ meaning the same. */
static const char *value_of(const struct shell_command *c, const char *name)
{
	size_t len = strlen(name);
	for (uint32_t i = 1; i < c->count; i++) {
		const char *w = c->words[i] + strspn(c->words[i], "-");
		size_t k = 0;
		while (w != c->words[i] && k < len && (w[k] == name[k] || (w[k] == '-' && name[k] == '_')))
			k++;
		if (k < len)
			continue;
		if (w[len] == '=')
			return w + len + 1;
		if (w[len] == '\0' && i + 1 < c->count)
			return c->words[i + 1];
	}
	return NULL;
}

static struct launcher find_launcher(const struct shell_command *c)
{
	static const char *const modules[] = { "torch.distributed.launch", "torch.distributed.run" };
	struct launcher found = {};
	if (!c->count)
		return found;
	const char *name = base_name(c->words[0]);
	if (str_eq(name, "torchrun"))
		found.name = "torchrun";
	else if (str_eq(name, "accelerate") && c->count > 1 && str_eq(c->words[1], "launch"))
		found.name = "accelerate launch";
	for (uint32_t i = 1; is_python(c->words[0]) && i + 1 < c->count && c->words[i][0] == '-'; i++)
		if (str_eq(c->words[i], "-m") && is_one_of(c->words[i + 1], modules, ARRAY_COUNT(modules)))
			found.name = base_name(c->words[i + 1]);
	if (found.name)
		found.nproc = value_of(c, "nproc_per_node");
	return found;
}

/* A number, or a variable that has the number of nodes; 0: neither. */
static uint32_t number_of(const struct look *l, const char *text)
{
	static const char *const nodes[] = { "$SLURM_NNODES", "${SLURM_NNODES}", "$SLURM_JOB_NUM_NODES",
					     "${SLURM_JOB_NUM_NODES}" };
	uint32_t n = 0;
	for (size_t i = 0; text && i < ARRAY_COUNT(nodes); i++)
		if (str_eq(text, nodes[i]))
			return l->nodes;
	return text && str_to_u32(text, &n) == 0 ? n : 0;
}

static const char *use_of(const struct options *o, const char *name)
{
	const char *value = NULL;
	for (size_t i = 0; i < o->uses.count; i++)
		if (str_eq(o->uses.at[i].row->long_name, name))
			value = o->uses.at[i].value;
	return value;
}

static void note_start(struct look *l, uint32_t tasks)
{
	if (tasks && l->started_count < ARRAY_COUNT(l->started))
		l->started[l->started_count++] = tasks;
}

/* Tasks of a step, by its own options or the job's; 0: who knows. */
static uint32_t step_tasks(const struct look *l, const struct options *o)
{
	const char *tasks = use_of(o, "ntasks"), *each = use_of(o, "ntasks-per-node");
	const char *nodes = use_of(o, "nodes");
	if (tasks)
		return number_of(l, tasks);
	if (nodes && number_of(l, nodes) != l->nodes)
		return 0;
	return each ? number_of(l, each) * l->nodes : l->tasks;
}

static void look_at_srun(struct look *l, const struct shell_command *c)
{
	struct options o;
	l->reaches_nodes = true;
	options_init(&o, OPTION_CMDS_SRUN, 0, l->arena);
	if (options_scan_args(&o, (int)c->count, c->words, NULL) == 0) {
		struct shell_command inner = { (char **)(uintptr_t)o.rest, (uint32_t)o.rest_count };
		inner = unwrap(inner);
		struct launcher found = find_launcher(&inner);
		note_start(l, number_of(l, use_of(&o, "ntasks")));
		if (found.name) {
			l->stepped = found;
			l->stepped_tasks = step_tasks(l, &o);
		} else if (inner.count && strchr(inner.words[0], '$')) {
			l->stepped.name = "?"; /* whatever it is, it runs on all nodes */
		}
	}
	options_done(&o);
}

static void look_at(struct look *l, struct shell_command c)
{
	static const char *const mpi[] = { "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "prun" };
	static const char *const spread[] = { "ssh",  "pdsh", "clush", "parallel", "ray", "deepspeed",
					      "sbatch", "salloc", "horovodrun", "source", ".", "ibrun",
					      "flux", "jsrun", "bash", "sh", "eval" };
	c = unwrap(c);
	if (c.count == 0)
		return;
	if (str_eq(base_name(c.words[0]), "srun")) {
		look_at_srun(l, &c);
	} else if (is_one_of(c.words[0], mpi, ARRAY_COUNT(mpi))) {
		const char *n = value_of(&c, "np");
		l->reaches_nodes = true;
		note_start(l, number_of(l, n ? n : value_of(&c, "n")));
	} else if (is_one_of(c.words[0], (const char *const[]){ "export", "declare" }, 2) && c.count > 1 &&
		   str_eq(c.words[1], "-f")) {
		l->stepped.name = "?"; /* the function runs wherever srun calls it */
	} else if (find_launcher(&c).name) {
		l->bare = find_launcher(&c);
	} else if (is_python(c.words[0])) {
		l->bare_python = true;
	} else if (is_one_of(c.words[0], spread, ARRAY_COUNT(spread)) || strpbrk(c.words[0], "$/") ||
		   str_ends(c.words[0], ".sh")) {
		l->reaches_nodes = true;
	}
}

/* ---- the mistakes -------------------------------------------------------------------------------- */

static void launcher_without_srun(struct look *l)
{
	if (l->nodes < 2 || l->stepped.name)
		return;
	if (l->bare.name)
		hint(l, arena_printf(l->arena,
				     "%s runs only on the first of the %u nodes, where the script runs; start it "
				     "with srun, one task on each node",
				     l->bare.name, l->nodes));
	else if (l->bare_python && !l->reaches_nodes && l->tasks > l->nodes)
		hint(l, arena_printf(l->arena,
				     "the script runs once, on the first of the %u nodes; a program starts once for "
				     "each of the %u tasks when srun stands before it",
				     l->nodes, l->tasks));
}

static void workers_multiplied(struct look *l)
{
	uint32_t each = 0;
	if (!l->stepped.nproc || l->stepped_tasks <= l->nodes)
		return;
	if (str_to_u32(l->stepped.nproc, &each) == 0 && each > 1)
		hint(l, arena_printf(l->arena,
				     "srun starts %u tasks and %s in each of them %u workers, %llu in all; with %s ask "
				     "for --ntasks-per-node=1",
				     l->stepped_tasks, l->stepped.name, each,
				     (unsigned long long)l->stepped_tasks * each, l->stepped.name));
	else if (each != 1)
		hint(l, arena_printf(l->arena,
				     "srun starts %u tasks on %u node%s and %s workers in each of them; with %s ask for "
				     "--ntasks-per-node=1",
				     l->stepped_tasks, l->nodes, l->nodes == 1 ? "" : "s", l->stepped.name,
				     l->stepped.name));
}

/* A few tasks less than the nodes would take is an uneven job; a whole node's less is a mistake. */
static void tasks_contradict(struct look *l)
{
	const struct resource_request *q = l->q;
	uint64_t all = (uint64_t)l->nodes * q->ntasks_per_node;
	if (q->has_ntasks && q->has_ntasks_per_node && q->nodes_min == q->nodes_max && l->nodes > 1 &&
	    q->ntasks <= all - q->ntasks_per_node)
		hint(l, arena_printf(l->arena,
				     "--ntasks=%u wins over --ntasks-per-node=%u: %u tasks in all; without --ntasks it is "
				     "%llu",
				     q->ntasks, q->ntasks_per_node, q->ntasks, (unsigned long long)all));
}

static uint64_t gpus_of_node(const struct resource_request *q, const char **ret_type)
{
	uint64_t gpus = 0;
	for (uint32_t i = 0; i < q->n_gres_per_node; i++) {
		if (!str_eq(q->gres_per_node[i].name, "gpu"))
			continue;
		gpus += q->gres_per_node[i].count;
		*ret_type = q->gres_per_node[i].type;
	}
	return gpus;
}

/* Is $NAME, or ${NAME} without a default, in a word of a command that does more than print? */
static bool uses_variable(const struct look *l, const char *name)
{
	static const char *const talk[] = { "echo", "printf", "test", "[", "[[" };
	size_t len = strlen(name);
	for (uint32_t i = 0; i < l->script.count; i++) {
		const struct shell_command *c = &l->script.commands[i];
		for (uint32_t k = 0; k < c->count && !is_one_of(c->words[0], talk, ARRAY_COUNT(talk)); k++) {
			const char *p = c->words[k];
			while ((p = strchr(p, '$'))) {
				p += 1 + (p[1] == '{');
				char next = strncmp(p, name, len) == 0 ? p[len] : '_';
				if (!isalnum((unsigned char)next) && !strchr("_:-+?", next ? next : '.'))
					return true;
			}
		}
	}
	return false;
}

static bool assigns(const struct look *l, const char *name)
{
	size_t len = strlen(name);
	for (uint32_t i = 0; i < l->script.assigned_count; i++)
		if (strncmp(l->script.assigned[i], name, len) == 0 && l->script.assigned[i][len] == '=')
			return true;
	for (uint32_t i = 0; i < l->script.count; i++)
		for (uint32_t k = 1; k < l->script.commands[i].count; k++) /* export NAME=... */
			if (strncmp(l->script.commands[i].words[k], name, len) == 0)
				return true;
	return false;
}

/* As many GPUs on a node as there are tasks in the whole job: one for each was meant. */
static void gres_for_the_job(struct look *l)
{
	const struct resource_request *q = l->q;
	const char *type = NULL;
	uint64_t gpus = gpus_of_node(q, &type);
	bool matches = (q->has_ntasks || q->has_ntasks_per_node) && l->tasks == gpus;
	for (uint32_t i = 0; i < l->started_count; i++)
		matches |= l->started[i] == gpus;
	if (!l->in->by_gres || !matches || l->nodes < 2 || gpus <= l->nodes || gpus % l->nodes ||
	    q->n_gres_per_task || q->n_gres_per_job || l->in->spec->gpu_bind ||
	    uses_variable(l, "SLURM_GPUS_ON_NODE"))
		return;
	hint(l, arena_printf(l->arena,
			     "--gres=gpu:%s%s%llu is for each node, %llu GPUs on %u nodes; --gpus=%llu asks for %llu in all",
			     type ? type : "", type ? ":" : "", (unsigned long long)gpus,
			     (unsigned long long)gpus * l->nodes, l->nodes, (unsigned long long)gpus,
			     (unsigned long long)gpus));
}

static void exclusive_without_memory(struct look *l)
{
	if (l->q->exclusive == EXCLUSIVE_KIND_NODE && l->in->default_memory)
		hint(l, "--exclusive gives all CPUs and GPUs of a node, but only the default memory; --mem=0 gives all "
			"of it");
}

static void variable_that_is_not_set(struct look *l)
{
	const char *type = NULL;
	uint64_t gpus = gpus_of_node(l->q, &type);
	if (!uses_variable(l, "SLURM_GPUS_PER_NODE") || assigns(l, "SLURM_GPUS_PER_NODE"))
		return;
	if (!gpus)
		hint(l, "SLURM_GPUS_PER_NODE is set only with --gpus-per-node; SLURM_GPUS_ON_NODE always has the number");
	else if (type)
		hint(l, arena_printf(l->arena,
				     "SLURM_GPUS_PER_NODE is %s:%llu in this job; SLURM_GPUS_ON_NODE is the number alone",
				     type, (unsigned long long)gpus));
}

/* ---- all of them --------------------------------------------------------------------------------- */

static bool is_shell_script(const char *text, size_t len)
{
	static const char *const shells[] = { "sh", "bash", "dash", "ksh", "zsh" };
	char line[256], *save = NULL;
	size_t n = len < sizeof(line) - 1 ? len : sizeof(line) - 1;
	if (n < 2 || text[0] != '#' || text[1] != '!')
		return false;
	memcpy(line, text + 2, n - 2);
	line[n - 2] = '\0';
	line[strcspn(line, "\n")] = '\0';
	for (char *word = strtok_r(line, " \t\r", &save); word; word = strtok_r(NULL, " \t\r", &save))
		if (is_one_of(word, shells, ARRAY_COUNT(shells)))
			return true;
	return false;
}

uint32_t hints_find(const struct hint_input *in, struct arena *a, const char **ret)
{
	const struct resource_request *q = &in->spec->request;
	struct look l = { .in = in, .q = q, .arena = a, .hints = ret };
	l.nodes = q->nodes_min ? q->nodes_min : 1;
	l.tasks = q->has_ntasks ? q->ntasks : l.nodes * (q->has_ntasks_per_node ? q->ntasks_per_node : 1);
	if (in->script && is_shell_script(in->script, in->script_len))
		shell_read(in->script, in->script_len, a, &l.script);
	for (uint32_t i = 0; i < l.script.count; i++)
		look_at(&l, l.script.commands[i]);
	launcher_without_srun(&l);
	workers_multiplied(&l);
	tasks_contradict(&l);
	gres_for_the_job(&l);
	exclusive_without_memory(&l);
	variable_that_is_not_set(&l);
	return l.count;
}
