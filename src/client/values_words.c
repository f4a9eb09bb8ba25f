/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are words: arrays, dependencies, bindings, hints, mail, modes. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "client/bind.h"
#include "client/values.h"
#include "text/idset.h"
#include "text/signame.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

int parse_array(struct value *v, struct error *err)
{
	struct array_spec spec;
	int r = array_parse(v->text, UINT32_MAX, v->o->arena, &spec, err);
	return r < 0 ? r : value_set_text(v, v->text);
}

/* type:id[_task][+minutes][:id...], joined by , (all) or ? (any); what they mean is the controller's. */
static int check_dependency(char *entry, struct error *err)
{
	static const char *const types[] = { "after",     "afterany",   "afterburstbuffer",
					     "aftercorr", "afternotok", "afterok",
					     "singleton" };
	size_t len = strcspn(entry, ":");
	bool known = strspn(entry, "0123456789") == len && len; /* a bare id is afterany */
	for (size_t i = 0; i < ARRAY_COUNT(types); i++)
		known |= strlen(types[i]) == len && strncasecmp(entry, types[i], len) == 0;
	if (!known)
		return error_set(
			err, -EINVAL,
			"'%s' is no kind of dependency; there are after, afterany, afterok, "
			"afternotok, aftercorr and singleton",
			entry);
	if (entry[len] == '\0' && !isdigit((unsigned char)entry[0]) && !str_ieq(entry, "singleton"))
		return error_set(err, -EINVAL, "'%s' names no job, as in %s:7", entry, entry);
	if (strspn(entry + len, "0123456789:_+") != strlen(entry + len))
		return error_set(err, -EINVAL, "'%s' is no list of job ids", entry + len + 1);
	return 0;
}

int parse_depend(struct value *v, struct error *err)
{
	char *text = arena_strdup(v->o->arena, v->text), *save = NULL;
	for (char *entry = strtok_r(text, ",?", &save); entry;
	     entry = strtok_r(NULL, ",?", &save)) {
		int r = check_dependency(entry, err);
		if (r < 0)
			return r;
	}
	return parse_text(v, err);
}

int parse_openmode(struct value *v, struct error *err)
{
	bool append = str_ieq(v->text, "append") || str_ieq(v->text, "a");
	if (!append && !str_ieq(v->text, "truncate") && !str_ieq(v->text, "t"))
		return error_set(err, -EINVAL, "say append or truncate");
	return value_set_bool(v, append);
}

int parse_requeue(struct value *v, struct error *err)
{
	if (v->text && v->use->source != OPTION_ENV)
		return error_set(err, -ENOTSUP,
				 "--requeue=%s is not supported by this version of Muster",
				 v->text);
	return value_set_bool(v, true);
}

int parse_nokill(struct value *v, struct error *err)
{
	bool off = str_ieq(v->text, "off") || str_ieq(v->text, "no");
	if (!off && !str_empty(v->text) && v->use->source != OPTION_ENV)
		return error_set(err, -EINVAL, "say nothing or off behind it");
	return value_set_bool(v, !off);
}

int parse_mailtype(struct value *v, struct error *err)
{
	static const char *const known[] = {
		"NONE",          "BEGIN",          "END",         "FAIL",       "REQUEUE",
		"ALL",           "INVALID_DEPEND", "STAGE_OUT",   "TIME_LIMIT", "TIME_LIMIT_90",
		"TIME_LIMIT_80", "TIME_LIMIT_50",  "ARRAY_TASKS",
	};
	char *text = arena_strdup(v->o->arena, v->text), *save = NULL;
	for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		bool found = false;
		for (size_t i = 0; i < ARRAY_COUNT(known); i++)
			found |= str_ieq(word, known[i]);
		if (!found)
			return error_set(
				err, -EINVAL,
				"'%s' is no kind of mail; there are BEGIN, END, FAIL, REQUEUE, "
				"TIME_LIMIT, ARRAY_TASKS, ALL and NONE",
				word);
	}
	return parse_text(v, err);
}

int parse_signame(struct value *v, struct error *err)
{
	int signo = 15;
	if (!str_empty(v->text) && signame_parse(v->text, &signo) < 0)
		return error_set(err, -EINVAL, "'%s' is no signal", v->text);
	return value_set_u32(v, (uint32_t)signo);
}

int parse_dist(struct value *v, struct error *err)
{
	const char *how = NULL;
	int r = distribution_check(v->text, v->o->arena, &how, err);
	return r < 0 ? r : value_set_text(v, how);
}

int parse_cpubind(struct value *v, struct error *err)
{
	const char *how = NULL;
	int r = cpu_bind_check(v->text, v->o->arena, &how, err);
	return r < 0 ? r : value_set_text(v, how);
}

int parse_gpubind(struct value *v, struct error *err)
{
	int r = gpu_bind_check(v->text, err);
	return r < 0 ? r : value_set_text(v, v->text);
}

int parse_tresbind(struct value *v, struct error *err)
{
	static const char prefix[] = "gres/gpu:";
	if (!str_starts(v->text, prefix))
		return error_set(err, -EINVAL, "only GPUs can be bound, as in gres/gpu:per_task:1");
	int r = gpu_bind_check(v->text + strlen(prefix), err);
	return r < 0 ? r : value_set_text(v, v->text + strlen(prefix));
}

int parse_hint(struct value *v, struct error *err)
{
	static const char *const known[] = { "compute_bound", "memory_bound", "multithread",
					     "nomultithread" };
	for (size_t i = 0; i < ARRAY_COUNT(known); i++)
		if (str_ieq(v->text, known[i]))
			return value_set_text(v, known[i]);
	return error_set(err, -EINVAL,
			 "'%s' is no hint, say compute_bound, memory_bound, multithread or "
			 "nomultithread",
			 v->text);
}

/* Pairs of words that say the opposite of one another, except for the last. */
int parse_gresflag(struct value *v, struct error *err)
{
	static const char *const known[] = { "enforce-binding", "disable-binding",
					     "one-task-per-sharing", "multiple-tasks-per-sharing",
					     "allow-task-sharing" };
	bool is_srun = v->o->command == OPTION_CMDS_SRUN;
	size_t count = ARRAY_COUNT(known) - !is_srun;
	bool given[ARRAY_COUNT(known)] = {};
	const char *list = NULL;
	char *text = arena_strdup(v->o->arena, v->text), *save = NULL;
	for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		size_t i = 0;
		while (i < count && !str_ieq(word, known[i]))
			i++;
		if (i == count)
			return error_set(err, -EINVAL,
					 "'%s' is no flag, say enforce-binding, disable-binding, "
					 "one-task-per-sharing%s multiple-tasks-per-sharing%s",
					 word, is_srun ? "," : " or",
					 is_srun ? " or allow-task-sharing" : "");
		given[i] = true;
		list = list ? arena_printf(v->o->arena, "%s,%s", list, known[i]) : known[i];
	}
	if (!list)
		return error_set(err, -EINVAL, "the value is empty");
	for (size_t i = 0; i + 1 < 4; i += 2)
		if (given[i] && given[i + 1])
			return error_set(err, -EINVAL, "%s and %s exclude each other", known[i],
					 known[i + 1]);
	return value_set_text(v, list);
}

static bool is_clock_rate(const char *text)
{
	static const char *const known[] = { "low", "medium", "high", "highm1" };
	uint32_t mhz;
	for (size_t i = 0; i < ARRAY_COUNT(known); i++)
		if (str_ieq(text, known[i]))
			return true;
	return str_to_u32(text, &mhz) == 0 && mhz > 0;
}

/* [memory=]rate[,[memory=]rate][,verbose] */
int parse_gpufreq(struct value *v, struct error *err)
{
	char *text = arena_strdup(v->o->arena, v->text), *save = NULL;
	bool has_memory = false, has_graphics = false;
	for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		bool of_memory = str_istarts(word, "memory=");
		const char *rate = of_memory ? word + strlen("memory=") : word;
		if (!of_memory && str_ieq(word, "verbose"))
			continue;
		if (!is_clock_rate(rate))
			return error_set(err, -EINVAL,
					 "'%s' is no clock rate, say low, medium, high, highm1 or "
					 "a number of MHz",
					 rate);
		bool *has = of_memory ? &has_memory : &has_graphics;
		if (*has)
			return error_set(err, -EINVAL, "two clock rates for the GPUs%s",
					 of_memory ? "' memory" : "");
		*has = true;
	}
	if (!has_memory && !has_graphics)
		return error_set(err, -EINVAL, "no clock rate is given");
	return value_set_text(v, v->text);
}

int parse_mpi(struct value *v, struct error *err)
{
	if (!str_eq(v->text, "none") && !str_eq(v->text, "list"))
		return error_set(err, -ENOTSUP,
				 "'%s' is not supported by this version of Muster; there is none",
				 v->text);
	return value_set_text(v, v->text);
}

int parse_pty(struct value *v, struct error *err)
{
	if (v->text)
		return error_set(err, -ENOTSUP,
				 "--pty takes no descriptor in this version of Muster");
	return value_set_bool(v, true);
}

int parse_export(struct value *v, struct error *err)
{
	return parse_text(v, err);
}
