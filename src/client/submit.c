/* SPDX-License-Identifier: Apache-2.0 */
/* What a submission says besides its options. */
#include "client/submit.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "client/connect.h"
#include "client/env.h"
#include "client/exportenv.h"
#include "client/options.h"
#include "client/script.h"
#include "client/task_text.h"
#include "sched/layout.h"
#include "sched/taskmap.h"
#include "text/date.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

int submit_read_options(struct options *o, char *const *vars, const struct script *script,
			struct error *err)
{
	int r = script ? script_scan(script, o, err) : 0;
	if (r < 0)
		return r;
	options_scan_env(o, vars);
	r = options_apply(o, err);
	return r < 0 ? r : options_check(o, err);
}

uint64_t submit_token(void)
{
	uint64_t token = 0;
	while (token == 0)
		if (getrandom(&token, sizeof(token), 0) != sizeof(token))
			token = (uint64_t)getpid();
	return token;
}

const char *submit_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

char *submit_current_directory(struct arena *a)
{
	char cwd[PATH_MAX];
	return arena_strdup(a, getcwd(cwd, sizeof(cwd)) ? cwd : "/");
}

/* umask can only be read by setting it. */
static mode_t current_umask(void)
{
	mode_t mask = umask(0);
	umask(mask);
	return mask;
}

int submit_environment(const struct options *o, char *const *vars, struct bytes *ret,
		       struct error *err)
{
	struct env env = {};
	AUTO_BUF struct buf block = {};
	const char *choice = o->at.spec.export;
	int r = export_env(choice, vars, &env, err);
	if (r == 0) {
		if (choice && o->command == OPTION_CMDS_SBATCH)
			env_set(&env, "SLURM_EXPORT_ENV", "%s", choice);
		if (!o->in_allocation)
			env_set(&env, "SLURM_SUBMIT_DIR", "%s", submit_current_directory(o->arena));
		env_set(&env, "SLURM_UMASK", "%04o", (unsigned)current_umask());
		env_to_block(&env, &block);
		ret->data = arena_dup(o->arena, block.data, block.len);
		ret->len = block.len;
	}
	env_done(&env);
	return r;
}

static char *join(int argc, char *const *argv, struct arena *a, size_t most)
{
	AUTO_BUF struct buf line = {};
	for (int i = 0; i < argc && line.len < most; i++)
		buf_printf(&line, "%s%s", i ? " " : "", argv[i]);
	if (line.len > most)
		line.len = most;
	return arena_strndup(a, buf_text(&line), line.len);
}

static void fill_groups(struct arena *a, struct submit_request *q)
{
	int count = getgroups(0, NULL);
	gid_t *list = ARENA_ARRAY(a, gid_t, count > 0 ? count : 1);
	count = count > 0 ? getgroups(count, list) : 0;
	q->groups = list;
	q->n_groups = count > 0 ? (uint32_t)count : 0;
}

static char *default_name(const struct options *o, const struct script *script)
{
	if (script)
		return arena_strdup(o->arena, str_eq(script->name, "stdin")
						      ? "sbatch"
						      : submit_base_name(script->name));
	if (o->rest_count)
		return arena_strdup(o->arena, submit_base_name(o->rest[0]));
	return arena_strdup(o->arena, "interactive");
}

static void fill_command(struct options *o, const struct script *script, struct job_spec *spec)
{
	/* The first word is the script itself, except where there is no such word. */
	bool named = !script || (script->path != NULL);
	if (named && o->rest_count > 0) {
		spec->command = arena_strdup(o->arena, script ? script->path : o->rest[0]);
		spec->n_argv = (uint32_t)(o->rest_count - 1);
		spec->argv = ARENA_ARRAY(o->arena, char *, o->rest_count);
		for (int i = 1; i < o->rest_count; i++)
			spec->argv[i - 1] = o->rest[i];
	}
	spec->batch = script != NULL;
}

int submit_fill(struct options *o, const struct script *script, int argc, char *const *argv,
		char *const *vars, struct submit_request *ret, struct error *err)
{
	char host[HOST_NAME_MAX + 1] = "";
	struct job_spec *spec = &o->at.spec;
	gethostname(host, sizeof(host) - 1);
	spec->name = spec->name ? spec->name : default_name(o, script);
	spec->work_dir = spec->work_dir ? spec->work_dir : submit_current_directory(o->arena);
	spec->submit_line = join(argc, argv, o->arena, 65535);
	spec->submit_host = arena_strdup(o->arena, host);
	spec->submit_pid = (uint32_t)getpid();
	spec->submit_sid = (uint32_t)getsid(0);
	spec->has_kill_on_bad_exit = o->at.has_kill_on_bad_exit;
	spec->kill_on_bad_exit = o->at.kill_on_bad_exit;
	if (script && !spec->std_out)
		spec->std_out = arena_strdup(o->arena,
					     spec->array ? "slurm-%A_%a.out" : "slurm-%j.out");
	fill_command(o, script, spec);
	*ret = (struct submit_request) { .token = submit_token(), .test_only = o->at.test_only };
	if (script)
		ret->script = (struct bytes) { (uint8_t *)script->text, script->len };
	fill_groups(o->arena, ret);
	int r = script ? submit_environment(o, vars, &ret->env, err)
		       : 0; /* steps bring their own */
	ret->spec = *spec;
	return r;
}

int submit_send(struct connection *c, const struct submit_request *q, struct arena *a,
		struct submit_reply *ret, struct error *err)
{
	int r = connect_call(c, MSG_SUBMIT, q, a, ret, 0, err);
	for (uint32_t i = 0; r == 0 && i < ret->n_warnings; i++)
		log_info("%s", ret->warnings[i]);
	return r;
}

/* Task by task what `srun` without options would get. */
static void print_map(struct connection *c, const struct options *o, const struct submit_reply *reply)
{
	AUTO_BUF struct buf text = {};
	struct error err = {};
	struct job j = { .alloc = reply->alloc,
			 .n_alloc = reply->n_alloc,
			 .ntasks = reply->ntasks,
			 .cpus_per_task = reply->cpus_per_task,
			 .spec = o->at.spec };
	struct step whole = taskmap_whole(&j, o->arena);
	struct taskmap map = { .step = &whole, .job = &j };
	if (task_text_ask(c, reply->node_list, o->arena, &map, &err) < 0) {
		log_error("cannot show the tasks: %s", err.text);
		return;
	}
	char **names = ARENA_ARRAY(o->arena, char *, whole.n_alloc + 1);
	for (uint32_t i = 0; i < whole.n_alloc; i++)
		names[i] = map.nodes[i] ? map.nodes[i]->conf.name : NULL;
	if (j.spec.request.task_hosts)
		whole.task_nodes = layout_hosts(j.spec.request.task_hosts, names, whole.n_alloc, o->arena,
						&whole.n_task_nodes);
	task_text_table(&map, o->arena, &text);
	fputs(buf_text(&text), stderr);
}

void submit_print_test(struct connection *c, const struct options *o, const struct submit_reply *reply)
{
	char when[DATE_TEXT];
	if (!reply->start_time) {
		log_info("Job %u has no start time yet: %s", reply->job_id,
			 reply->why ? reply->why : "it would wait in the queue");
		return;
	}
	date_print(reply->start_time, when);
	log_info("Job %u to start at %s using %u processors on nodes %s in partition %s%s%s", reply->job_id,
		 when, reply->cpus, reply->node_list ? reply->node_list : "",
		 reply->partition ? reply->partition : "", reply->why ? "; " : "",
		 reply->why ? reply->why : "");
	if (o->at.verbose)
		print_map(c, o, reply);
}
