/* SPDX-License-Identifier: Apache-2.0 */
/* The small languages of option values, one function each, named by the `parse` column of
 * schema/options.def.
 *
 * A parser gets the text and the member that the row's target names, and knows nothing of the
 * option's name: most serve several rows.  The reason it gives for refusing a value is wrapped by
 * options.c with the place where the value was found.  Each has the exit code that Slurm uses when
 * such a value is wrong. */
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "client/bind.h"
#include "client/nodefile.h"
#include "client/options.h"
#include "text/date.h"
#include "text/duration.h"
#include "text/gres.h"
#include "text/hostlist.h"
#include "text/idset.h"
#include "text/signame.h"
#include "text/size.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct value {
	struct options *o;
	const struct option_use *use;
	const char *text;        /* NULL when an optional value was left out */
	void *obj;               /* record that holds the member, or is the target itself */
	const struct field *f;   /* NULL when the target is a record */
};

typedef int (*value_fn)(struct value *v, struct error *err);

static void *slot(const struct value *v)
{
	return (char *)v->obj + v->f->offset;
}

static void mark_present(const struct value *v, bool present)
{
	if (v->f->flags & FIELD_OPTIONAL)
		*((bool *)v->obj + v->f->has_offset) = present;
}

static int set_u32(const struct value *v, uint32_t n)
{
	*(uint32_t *)slot(v) = n;
	mark_present(v, true);
	return 0;
}

static int set_bool(const struct value *v, bool b)
{
	*(bool *)slot(v) = b;
	mark_present(v, true);
	return 0;
}

static int set_usec(const struct value *v, usec_t t)
{
	*(usec_t *)slot(v) = t;
	mark_present(v, true);
	return 0;
}

static int set_text(const struct value *v, const char *text)
{
	*(char **)slot(v) = arena_strdup(v->o->arena, text);
	return 0;
}

/* ---- flags, numbers, texts --------------------------------------------------------------------- */

static int parse_nothing(struct value *v, struct error *err)
{
	(void)v, (void)err;
	return 0;
}

/* A variable that stands for a flag may say 0 or no. */
static bool flag_is_off(const struct value *v)
{
	return v->use->source == OPTION_ENV && (str_eq(v->text, "0") || str_ieq(v->text, "no"));
}

static int parse_flag(struct value *v, struct error *err)
{
	(void)err;
	return set_bool(v, !flag_is_off(v));
}

static int parse_yes(struct value *v, struct error *err)
{
	(void)err;
	return flag_is_off(v) ? 0 : set_bool(v, true);
}

static int parse_no(struct value *v, struct error *err)
{
	(void)err;
	return flag_is_off(v) ? 0 : set_bool(v, false);
}

static int parse_bit(struct value *v, struct error *err)
{
	if (v->text && !str_eq(v->text, "0") && !str_eq(v->text, "1"))
		return error_set(err, -EINVAL, "say 0 or 1");
	return set_bool(v, !v->text || v->text[0] == '1');
}

static int parse_only0(struct value *v, struct error *err)
{
	return str_eq(v->text, "0") ? 0 : error_set(err, -ENOTSUP, "only 0 is supported by this version of Muster");
}

static int parse_nodewait(struct value *v, struct error *err)
{
	/* A job starts when all its nodes have answered, so both wishes are met. */
	return str_eq(v->text, "0") || str_eq(v->text, "1") ? 0 : error_set(err, -EINVAL, "say 0 or 1");
}

static int parse_more(struct value *v, struct error *err)
{
	(void)err;
	uint32_t *n = slot(v);
	enum log_level level;
	if (v->use->source != OPTION_ENV)
		(*n)++;
	else if (str_to_u32(v->text, n) < 0 && log_level_parse(v->text, &level) == 0 && level > LOG_INFO)
		*n = (uint32_t)(level - LOG_INFO);
	return 0;
}

static int number(const struct value *v, uint32_t least, uint32_t *ret, struct error *err)
{
	if (str_to_u32(v->text, ret) < 0 || *ret < least)
		return error_set(err, -EINVAL, "'%s' is not a whole number from %u up", v->text, least);
	return 0;
}

static int parse_number(struct value *v, struct error *err)
{
	uint32_t n;
	int r = number(v, 0, &n, err);
	return r < 0 ? r : set_u32(v, n);
}

static int parse_count(struct value *v, struct error *err)
{
	uint32_t n;
	int r = number(v, 1, &n, err);
	return r < 0 ? r : set_u32(v, n);
}

static int parse_seconds(struct value *v, struct error *err)
{
	uint32_t n = 1;
	int r = v->text && *v->text ? number(v, 1, &n, err) : 0;
	return r < 0 ? r : set_u32(v, n);
}

static int parse_jobid(struct value *v, struct error *err)
{
	uint32_t id;
	if (str_to_u32(v->text, &id) < 0 || id == 0)
		return error_set(err, -EINVAL, "'%s' is not a job id", v->text);
	return set_u32(v, id);
}

static int parse_anytext(struct value *v, struct error *err)
{
	if (strlen(v->text) > v->f->limit)
		return error_set(err, -EINVAL, "longer than %zu characters", v->f->limit);
	return set_text(v, v->text);
}

static int parse_text(struct value *v, struct error *err)
{
	if (v->text[0] == '\0')
		return error_set(err, -EINVAL, "the value is empty");
	return parse_anytext(v, err);
}

static int parse_path(struct value *v, struct error *err)
{
	char cwd[4096] = "";
	if (v->text[0] == '\0')
		return error_set(err, -EINVAL, "the value is empty");
	if (v->text[0] == '/')
		return parse_anytext(v, err);
	if (!getcwd(cwd, sizeof(cwd)))
		return error_set(err, -errno, "cannot tell the current directory");
	return set_text(v, arena_printf(v->o->arena, "%s/%s", cwd, v->text));
}

/* ---- time and size ----------------------------------------------------------------------------- */

static int parse_limit(struct value *v, struct error *err)
{
	usec_t t;
	int r = duration_parse_limit(v->text, &t, err);
	return r < 0 ? r : set_usec(v, t);
}

static int parse_date(struct value *v, struct error *err)
{
	usec_t t;
	int r = date_parse(v->text, v->o->now, &t, err);
	return r < 0 ? r : set_usec(v, t);
}

static int parse_memory(struct value *v, struct error *err)
{
	uint64_t mib;
	int r = size_parse_mib(v->text, &mib, err);
	if (r < 0)
		return r;
	*(uint64_t *)slot(v) = mib;
	mark_present(v, true);
	return 0;
}

static int parse_nice(struct value *v, struct error *err)
{
	int64_t n = 100;
	const int64_t most = 2147483645;
	if (v->text && (str_to_i64(v->text, &n) < 0 || n < -most || n > most))
		return error_set(err, -EINVAL, "'%s' is not a number from -%lld to %lld", v->text,
				 (long long)most, (long long)most);
	*(int64_t *)slot(v) = n;
	return 0;
}

static int parse_priority(struct value *v, struct error *err)
{
	uint32_t n = UINT32_MAX - 1; /* TOP */
	if (!str_ieq(v->text, "TOP") && (str_to_u32(v->text, &n) < 0 || n >= UINT32_MAX - 1))
		return error_set(err, -EINVAL, "'%s' is neither a number below 4294967294 nor TOP", v->text);
	return set_u32(v, n);
}

/* ---- nodes and generic resources --------------------------------------------------------------- */

static int node_count(const char *text, uint32_t *ret, struct error *err)
{
	uint64_t n;
	int r = count_parse(text, &n, err);
	if (r < 0 || n > UINT32_MAX)
		return error_set(err, -EINVAL, "'%s' is no number of nodes; min or min-max is meant, as in 2-4", text);
	*ret = (uint32_t)n;
	return 0;
}

static int parse_nodes(struct value *v, struct error *err)
{
	struct resource_request *q = v->obj;
	char *text = arena_strdup(v->o->arena, v->text), *dash = strchr(text, '-');
	uint32_t least = 0, most;
	if (strchr(text, ',') || strchr(text, ':'))
		return error_set(err, -ENOTSUP, "lists of node counts are not supported by this version of Muster, "
						"only min and min-max");
	if (dash)
		*dash = '\0';
	int r = node_count(text, &least, err);
	if (r < 0)
		return r;
	most = least;
	r = dash ? node_count(dash + 1, &most, err) : 0;
	if (r < 0)
		return r;
	if (most < least || most == 0)
		return error_set(err, -EINVAL, most ? "the most nodes are fewer than the least"
						    : "a job needs at least one node");
	q->nodes_min = least ? least : 1;
	q->nodes_max = most;
	return 0;
}

static int parse_nodelist(struct value *v, struct error *err)
{
	const char *names = v->text;
	struct hostlist list;
	int r = strchr(names, '/') ? nodefile_read(names, v->o->arena, &names, err) : 0;
	if (r < 0)
		return r;
	r = hostlist_expand(names, v->o->arena, &list, err);
	if (r < 0)
		return r;
	if (list.count == 0)
		return error_set(err, -EINVAL, "no node is named");
	return set_text(v, names);
}

static int parse_nodefile(struct value *v, struct error *err)
{
	const char *names;
	int r = nodefile_read(v->text, v->o->arena, &names, err);
	return r < 0 ? r : set_text(v, names);
}

static bool is_gpu(const struct gres_request *g)
{
	return str_eq(g->name, "gpu");
}

/* Replaces the list by `specs` and by those members of it that `keep` chooses. */
static void set_gres(const struct value *v, const struct gres_spec *specs, uint32_t count,
		     bool (*keep)(const struct gres_request *g))
{
	struct gres_request **list = slot(v);
	uint32_t *n = (uint32_t *)((char *)v->obj + v->f->count_offset), kept = 0;
	struct gres_request *out = ARENA_ARRAY(v->o->arena, struct gres_request, *n + count + 1);
	for (uint32_t i = 0; keep && i < *n; i++)
		if (keep(&(*list)[i]))
			out[kept++] = (*list)[i];
	for (uint32_t i = 0; i < count; i++)
		out[kept++] = (struct gres_request){ specs[i].name, specs[i].type, specs[i].count };
	*list = out;
	*n = kept;
}

static bool is_not_gpu(const struct gres_request *g)
{
	return !is_gpu(g);
}

static int parse_gpus(struct value *v, struct error *err)
{
	struct gres_spec *specs;
	uint32_t count;
	int r = gres_parse_counts(v->text, "gpu", v->o->arena, &specs, &count, err);
	if (r < 0)
		return r;
	set_gres(v, specs, count, is_not_gpu);
	return 0;
}

static int parse_gres(struct value *v, struct error *err)
{
	struct gres_spec *specs;
	uint32_t count;
	int r = gres_parse(v->text, v->o->arena, &specs, &count, err);
	if (r < 0)
		return r;
	bool has_gpu = false;
	for (uint32_t i = 0; i < count; i++)
		has_gpu |= str_eq(specs[i].name, "gpu");
	/* What --gpus-per-node of a lower source asked for stays unless GPUs are named here. */
	bool keep = !has_gpu && count && options_source(v->o, "gpus-per-node") != OPTION_UNSET;
	set_gres(v, specs, count, keep ? is_gpu : NULL);
	v->o->at.no_gres = count == 0;
	return 0;
}

/* cpu=4,gres/gpu:a100=1 */
static int parse_trestask(struct value *v, struct error *err)
{
	struct resource_request *q = v->obj;
	char *text = arena_strdup(v->o->arena, v->text), *save = NULL;
	const char *list = "";
	for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		if (str_starts(word, "cpu=")) {
			if (str_to_u32(word + 4, &q->cpus_per_task) < 0 || q->cpus_per_task == 0)
				return error_set(err, -EINVAL, "'%s' is no number of CPUs", word + 4);
			q->has_cpus_per_task = true;
		} else if (str_starts(word, "gres/")) {
			list = arena_printf(v->o->arena, "%s%s%s", list, *list ? "," : "", word + 5);
		} else {
			return error_set(err, -EINVAL, "'%s' cannot be asked for by task; cpu=n and gres/name=n can",
					 word);
		}
	}
	if (!*list)
		return 0;
	struct gres_spec *specs;
	uint32_t count;
	int r = gres_parse(list, v->o->arena, &specs, &count, err);
	if (r < 0)
		return r;
	struct value per_task = *v;
	per_task.f = record_field(&resource_request_record, "gres_per_task");
	set_gres(&per_task, specs, count, NULL);
	return 0;
}

static int parse_exclusive(struct value *v, struct error *err)
{
	int kind = EXCLUSIVE_KIND_NODE;
	bool plain = str_empty(v->text) || str_eq(v->text, "1") ||
		     (v->o->command == OPTION_CMDS_SRUN && str_ieq(v->text, "allocation"));
	if (!plain && (!enum_parse(&exclusive_kind_enum, v->text, &kind) || kind == EXCLUSIVE_KIND_NO))
		return error_set(err, -EINVAL, "say nothing, user, mcs or topo behind it");
	*(int *)slot(v) = kind;
	return 0;
}

/* ---- words ------------------------------------------------------------------------------------- */

static int parse_array(struct value *v, struct error *err)
{
	struct array_spec spec;
	int r = array_parse(v->text, UINT32_MAX, v->o->arena, &spec, err);
	return r < 0 ? r : set_text(v, v->text);
}

static int parse_openmode(struct value *v, struct error *err)
{
	bool append = str_ieq(v->text, "append") || str_ieq(v->text, "a");
	if (!append && !str_ieq(v->text, "truncate") && !str_ieq(v->text, "t"))
		return error_set(err, -EINVAL, "say append or truncate");
	return set_bool(v, append);
}

static int parse_requeue(struct value *v, struct error *err)
{
	if (v->text && v->use->source != OPTION_ENV)
		return error_set(err, -ENOTSUP, "--requeue=%s is not supported by this version of Muster", v->text);
	return set_bool(v, true);
}

static int parse_nokill(struct value *v, struct error *err)
{
	bool off = str_ieq(v->text, "off") || str_ieq(v->text, "no");
	if (!off && !str_empty(v->text) && v->use->source != OPTION_ENV)
		return error_set(err, -EINVAL, "say nothing or off behind it");
	return set_bool(v, !off);
}

static int parse_mailtype(struct value *v, struct error *err)
{
	static const char *const known[] = {
		"NONE", "BEGIN", "END", "FAIL", "REQUEUE", "ALL", "INVALID_DEPEND", "STAGE_OUT", "TIME_LIMIT",
		"TIME_LIMIT_90", "TIME_LIMIT_80", "TIME_LIMIT_50", "ARRAY_TASKS",
	};
	char *text = arena_strdup(v->o->arena, v->text), *save = NULL;
	for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		bool found = false;
		for (size_t i = 0; i < ARRAY_COUNT(known); i++)
			found |= str_ieq(word, known[i]);
		if (!found)
			return error_set(err, -EINVAL, "'%s' is no kind of mail; there are BEGIN, END, FAIL, REQUEUE, "
						       "TIME_LIMIT, ARRAY_TASKS, ALL and NONE", word);
	}
	return parse_text(v, err);
}

static int parse_signame(struct value *v, struct error *err)
{
	int signo = 15;
	if (!str_empty(v->text) && signame_parse(v->text, &signo) < 0)
		return error_set(err, -EINVAL, "'%s' is no signal", v->text);
	return set_u32(v, (uint32_t)signo);
}

static int parse_dist(struct value *v, struct error *err)
{
	int r = distribution_check(v->text, err);
	return r < 0 ? r : set_text(v, v->text);
}

static int parse_cpubind(struct value *v, struct error *err)
{
	const char *how = NULL;
	int r = cpu_bind_check(v->text, &how, err);
	return r < 0 ? r : set_text(v, how);
}

static int parse_gpubind(struct value *v, struct error *err)
{
	int r = gpu_bind_check(v->text, err);
	return r < 0 ? r : set_text(v, v->text);
}

static int parse_tresbind(struct value *v, struct error *err)
{
	static const char prefix[] = "gres/gpu:";
	if (!str_starts(v->text, prefix))
		return error_set(err, -EINVAL, "only GPUs can be bound, as in gres/gpu:per_task:1");
	int r = gpu_bind_check(v->text + strlen(prefix), err);
	return r < 0 ? r : set_text(v, v->text + strlen(prefix));
}

static int parse_mpi(struct value *v, struct error *err)
{
	if (!str_eq(v->text, "none") && !str_eq(v->text, "list"))
		return error_set(err, -ENOTSUP, "'%s' is not supported by this version of Muster; there is none", v->text);
	return set_text(v, v->text);
}

static int parse_pty(struct value *v, struct error *err)
{
	if (v->text)
		return error_set(err, -ENOTSUP, "--pty takes no descriptor in this version of Muster");
	return set_bool(v, true);
}

static int parse_export(struct value *v, struct error *err)
{
	return parse_text(v, err);
}

/* ---- the table --------------------------------------------------------------------------------- */

static const struct value_kind {
	value_fn parse;
	int exit_code;
} kinds[] = {
	[OPTION_PARSE_HELP] = { parse_nothing, OPTION_EXIT_ERROR },
	[OPTION_PARSE_USAGE] = { parse_nothing, OPTION_EXIT_ERROR },
	[OPTION_PARSE_VERSION] = { parse_nothing, OPTION_EXIT_ERROR },
	[OPTION_PARSE_FLAG] = { parse_flag, OPTION_EXIT_ERROR },
	[OPTION_PARSE_YES] = { parse_yes, OPTION_EXIT_ERROR },
	[OPTION_PARSE_NO] = { parse_no, OPTION_EXIT_ERROR },
	[OPTION_PARSE_BIT] = { parse_bit, OPTION_EXIT_USAGE },
	[OPTION_PARSE_ONLY0] = { parse_only0, OPTION_EXIT_USAGE },
	[OPTION_PARSE_NODEWAIT] = { parse_nodewait, OPTION_EXIT_USAGE },
	[OPTION_PARSE_MORE] = { parse_more, OPTION_EXIT_ERROR },
	[OPTION_PARSE_NUMBER] = { parse_number, OPTION_EXIT_ERROR },
	[OPTION_PARSE_COUNT] = { parse_count, OPTION_EXIT_ERROR },
	[OPTION_PARSE_SECONDS] = { parse_seconds, OPTION_EXIT_ERROR },
	[OPTION_PARSE_JOBID] = { parse_jobid, OPTION_EXIT_ERROR },
	[OPTION_PARSE_TEXT] = { parse_text, OPTION_EXIT_ERROR },
	[OPTION_PARSE_ANYTEXT] = { parse_anytext, OPTION_EXIT_ERROR },
	[OPTION_PARSE_PATH] = { parse_path, OPTION_EXIT_ERROR },
	[OPTION_PARSE_LIMIT] = { parse_limit, OPTION_EXIT_USAGE },
	[OPTION_PARSE_DATE] = { parse_date, OPTION_EXIT_USAGE },
	[OPTION_PARSE_MEMORY] = { parse_memory, OPTION_EXIT_USAGE },
	[OPTION_PARSE_NICE] = { parse_nice, OPTION_EXIT_USAGE },
	[OPTION_PARSE_PRIORITY] = { parse_priority, OPTION_EXIT_USAGE },
	[OPTION_PARSE_NODES] = { parse_nodes, OPTION_EXIT_USAGE },
	[OPTION_PARSE_NODELIST] = { parse_nodelist, OPTION_EXIT_ERROR },
	[OPTION_PARSE_NODEFILE] = { parse_nodefile, OPTION_EXIT_ERROR },
	[OPTION_PARSE_GPUS] = { parse_gpus, OPTION_EXIT_ERROR },
	[OPTION_PARSE_GRES] = { parse_gres, OPTION_EXIT_ERROR },
	[OPTION_PARSE_TRESTASK] = { parse_trestask, OPTION_EXIT_ERROR },
	[OPTION_PARSE_EXCLUSIVE] = { parse_exclusive, OPTION_EXIT_USAGE },
	[OPTION_PARSE_ARRAY] = { parse_array, OPTION_EXIT_ERROR },
	[OPTION_PARSE_OPENMODE] = { parse_openmode, OPTION_EXIT_USAGE },
	[OPTION_PARSE_REQUEUE] = { parse_requeue, OPTION_EXIT_USAGE },
	[OPTION_PARSE_NOKILL] = { parse_nokill, OPTION_EXIT_USAGE },
	[OPTION_PARSE_MAILTYPE] = { parse_mailtype, OPTION_EXIT_USAGE },
	[OPTION_PARSE_SIGNAME] = { parse_signame, OPTION_EXIT_USAGE },
	[OPTION_PARSE_DIST] = { parse_dist, OPTION_EXIT_USAGE },
	[OPTION_PARSE_CPUBIND] = { parse_cpubind, OPTION_EXIT_USAGE },
	[OPTION_PARSE_GPUBIND] = { parse_gpubind, OPTION_EXIT_USAGE },
	[OPTION_PARSE_TRESBIND] = { parse_tresbind, OPTION_EXIT_USAGE },
	[OPTION_PARSE_MPI] = { parse_mpi, OPTION_EXIT_ERROR },
	[OPTION_PARSE_PTY] = { parse_pty, OPTION_EXIT_USAGE },
	[OPTION_PARSE_EXPORT] = { parse_export, OPTION_EXIT_ERROR },
};

/* Follows spec.request.ntasks through the descriptors: the record that holds the member, and its
 * field, or no field when the target is a record as a whole. */
static void find_target(struct options *o, const char *target, struct value *v)
{
	const struct record *r = &command_options_record;
	v->obj = &o->at;
	while (target && *target) {
		size_t len = strcspn(target, ".");
		char name[64];
		snprintf(name, sizeof(name), "%.*s", (int)len, target);
		v->f = record_field(r, name);
		if (v->f->kind == FIELD_RECORD && !(v->f->flags & FIELD_REPEATED)) {
			v->obj = (char *)v->obj + v->f->offset;
			r = v->f->sub;
			v->f = NULL;
		}
		target += len + (target[len] == '.');
	}
}

int option_value_parse(struct options *o, const struct option_use *use, struct error *err)
{
	const struct value_kind *kind = &kinds[use->row->parse];
	struct value v = { .o = o, .use = use, .text = use->value };
	find_target(o, use->row->target, &v);
	int r = kind->parse(&v, err);
	if (r < 0)
		o->exit_code = kind->exit_code;
	return r;
}
