/* SPDX-License-Identifier: Apache-2.0 */
/* The small languages of option values, one function each, named by the `parse` column of
 * schema/options.def: the plain ones, and the table of all.
 *
 * A parser gets the text and the member that the row's target names, and knows nothing of the
 * option's name: most serve several rows.  The reason it gives for refusing a value is wrapped by
 * options.c with the place where the value was found.  Each has the exit code that Slurm uses when
 * such a value is wrong. */
#include "client/values.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "text/date.h"
#include "text/duration.h"
#include "text/size.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void *value_slot(const struct value *v)
{
	return (char *)v->obj + v->f->offset;
}

void value_mark(const struct value *v)
{
	if (v->f->flags & FIELD_OPTIONAL)
		*((bool *)v->obj + v->f->has_offset) = true;
}

int value_set_u32(const struct value *v, uint32_t n)
{
	*(uint32_t *)value_slot(v) = n;
	value_mark(v);
	return 0;
}

int value_set_bool(const struct value *v, bool b)
{
	*(bool *)value_slot(v) = b;
	value_mark(v);
	return 0;
}

int value_set_usec(const struct value *v, usec_t t)
{
	*(usec_t *)value_slot(v) = t;
	value_mark(v);
	return 0;
}

int value_set_text(const struct value *v, const char *text)
{
	*(char **)value_slot(v) = arena_strdup(v->o->arena, text);
	return 0;
}

/* ---- flags, numbers, texts --------------------------------------------------------------------- */

int parse_nothing(struct value *v, struct error *err)
{
	(void)v, (void)err;
	return 0;
}

/* A variable that stands for a flag may say 0 or no. */
static bool flag_is_off(const struct value *v)
{
	return v->use->source == OPTION_ENV && (str_eq(v->text, "0") || str_ieq(v->text, "no"));
}

int parse_flag(struct value *v, struct error *err)
{
	(void)err;
	return value_set_bool(v, !flag_is_off(v));
}

int parse_yes(struct value *v, struct error *err)
{
	(void)err;
	return flag_is_off(v) ? 0 : value_set_bool(v, true);
}

int parse_no(struct value *v, struct error *err)
{
	(void)err;
	return flag_is_off(v) ? 0 : value_set_bool(v, false);
}

int parse_bit(struct value *v, struct error *err)
{
	if (v->text && !str_eq(v->text, "0") && !str_eq(v->text, "1"))
		return error_set(err, -EINVAL, "say 0 or 1");
	return value_set_bool(v, !v->text || v->text[0] == '1');
}

int parse_only0(struct value *v, struct error *err)
{
	return str_eq(v->text, "0")
		       ? 0
		       : error_set(err, -ENOTSUP, "only 0 is supported by this version of Muster");
}

int parse_nodewait(struct value *v, struct error *err)
{
	/* A job starts when all its nodes have answered, so both wishes are met. */
	return str_eq(v->text, "0") || str_eq(v->text, "1") ? 0
							    : error_set(err, -EINVAL, "say 0 or 1");
}

int parse_more(struct value *v, struct error *err)
{
	(void)err;
	uint32_t *n = value_slot(v);
	enum log_level level;
	if (v->use->source != OPTION_ENV)
		(*n)++;
	else if (str_to_u32(v->text, n) < 0 && log_level_parse(v->text, &level) == 0 &&
		 level > LOG_INFO)
		*n = (uint32_t)(level - LOG_INFO);
	return 0;
}

static int number(const struct value *v, uint32_t least, uint32_t *ret, struct error *err)
{
	if (str_to_u32(v->text, ret) < 0 || *ret < least)
		return error_set(err, -EINVAL, "'%s' is not a whole number from %u up", v->text,
				 least);
	return 0;
}

int parse_number(struct value *v, struct error *err)
{
	uint32_t n;
	int r = number(v, 0, &n, err);
	return r < 0 ? r : value_set_u32(v, n);
}

int parse_count(struct value *v, struct error *err)
{
	uint32_t n;
	int r = number(v, 1, &n, err);
	return r < 0 ? r : value_set_u32(v, n);
}

int parse_seconds(struct value *v, struct error *err)
{
	uint32_t n = 1;
	int r = v->text && *v->text ? number(v, 1, &n, err) : 0;
	return r < 0 ? r : value_set_u32(v, n);
}

int parse_jobid(struct value *v, struct error *err)
{
	uint32_t id;
	if (str_to_u32(v->text, &id) < 0 || id == 0)
		return error_set(err, -EINVAL, "'%s' is not a job id", v->text);
	return value_set_u32(v, id);
}

int parse_anytext(struct value *v, struct error *err)
{
	if (strlen(v->text) > v->f->limit)
		return error_set(err, -EINVAL, "longer than %zu characters", v->f->limit);
	return value_set_text(v, v->text);
}

int parse_text(struct value *v, struct error *err)
{
	if (v->text[0] == '\0')
		return error_set(err, -EINVAL, "the value is empty");
	return parse_anytext(v, err);
}

int parse_path(struct value *v, struct error *err)
{
	char cwd[4096] = "";
	if (v->text[0] == '\0')
		return error_set(err, -EINVAL, "the value is empty");
	if (v->text[0] == '/')
		return parse_anytext(v, err);
	if (!getcwd(cwd, sizeof(cwd)))
		return error_set(err, -errno, "cannot tell the current directory");
	return value_set_text(v, arena_printf(v->o->arena, "%s/%s", cwd, v->text));
}

/* ---- time and size ----------------------------------------------------------------------------- */

int parse_limit(struct value *v, struct error *err)
{
	usec_t t;
	int r = duration_parse_limit(v->text, &t, err);
	return r < 0 ? r : value_set_usec(v, t);
}

int parse_date(struct value *v, struct error *err)
{
	usec_t t;
	int r = date_parse(v->text, v->o->now, &t, err);
	return r < 0 ? r : value_set_usec(v, t);
}

int parse_memory(struct value *v, struct error *err)
{
	uint64_t mib;
	int r = size_parse_mib(v->text, &mib, err);
	if (r < 0)
		return r;
	*(uint64_t *)value_slot(v) = mib;
	value_mark(v);
	return 0;
}

int parse_nice(struct value *v, struct error *err)
{
	int64_t n = 100;
	const int64_t most = 2147483645;
	if (v->text && (str_to_i64(v->text, &n) < 0 || n < -most || n > most))
		return error_set(err, -EINVAL, "'%s' is not a number from -%lld to %lld", v->text,
				 (long long)most, (long long)most);
	*(int64_t *)value_slot(v) = n;
	return 0;
}

int parse_priority(struct value *v, struct error *err)
{
	uint32_t n = UINT32_MAX - 1; /* TOP */
	if (!str_ieq(v->text, "TOP") && (str_to_u32(v->text, &n) < 0 || n >= UINT32_MAX - 1))
		return error_set(err, -EINVAL, "'%s' is neither a number below 4294967294 nor TOP",
				 v->text);
	return value_set_u32(v, n);
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
	[OPTION_PARSE_SHAPE] = { parse_shape, OPTION_EXIT_ERROR },
	[OPTION_PARSE_NODELIST] = { parse_nodelist, OPTION_EXIT_ERROR },
	[OPTION_PARSE_NODEFILE] = { parse_nodefile, OPTION_EXIT_ERROR },
	[OPTION_PARSE_GPUS] = { parse_gpus, OPTION_EXIT_ERROR },
	[OPTION_PARSE_GRES] = { parse_gres, OPTION_EXIT_ERROR },
	[OPTION_PARSE_TRESTASK] = { parse_trestask, OPTION_EXIT_ERROR },
	[OPTION_PARSE_SWITCHES] = { parse_switches, OPTION_EXIT_USAGE },
	[OPTION_PARSE_EXCLUSIVE] = { parse_exclusive, OPTION_EXIT_USAGE },
	[OPTION_PARSE_ARRAY] = { parse_array, OPTION_EXIT_ERROR },
	[OPTION_PARSE_DEPEND] = { parse_depend, OPTION_EXIT_ERROR },
	[OPTION_PARSE_OPENMODE] = { parse_openmode, OPTION_EXIT_USAGE },
	[OPTION_PARSE_REQUEUE] = { parse_requeue, OPTION_EXIT_USAGE },
	[OPTION_PARSE_NOKILL] = { parse_nokill, OPTION_EXIT_USAGE },
	[OPTION_PARSE_MAILTYPE] = { parse_mailtype, OPTION_EXIT_USAGE },
	[OPTION_PARSE_SIGNAME] = { parse_signame, OPTION_EXIT_USAGE },
	[OPTION_PARSE_DIST] = { parse_dist, OPTION_EXIT_USAGE },
	[OPTION_PARSE_CPUBIND] = { parse_cpubind, OPTION_EXIT_USAGE },
	[OPTION_PARSE_GPUBIND] = { parse_gpubind, OPTION_EXIT_USAGE },
	[OPTION_PARSE_TRESBIND] = { parse_tresbind, OPTION_EXIT_USAGE },
	[OPTION_PARSE_HINT] = { parse_hint, OPTION_EXIT_USAGE },
	[OPTION_PARSE_GRESFLAG] = { parse_gresflag, OPTION_EXIT_USAGE },
	[OPTION_PARSE_GPUFREQ] = { parse_gpufreq, OPTION_EXIT_USAGE },
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
