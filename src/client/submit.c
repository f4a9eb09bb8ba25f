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
#include "text/date.h"

#include <errno.h>
#include <limits.h>
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

void submit_print_test(const struct submit_reply *reply)
{
	char when[DATE_TEXT], name[32] = "Job";
	if (reply->job_id)
		snprintf(name, sizeof(name), "Job %u", reply->job_id);
	if (!reply->start_time) {
		log_info("%s could run, but not now: it would wait in the queue", name);
		return;
	}
	date_print(reply->start_time, when);
	log_info("%s to start at %s using %u processors on nodes %s in partition %s", name, when,
		 reply->cpus, reply->node_list ? reply->node_list : "",
		 reply->partition ? reply->partition : "");
}
