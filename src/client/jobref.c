/* SPDX-License-Identifier: Apache-2.0 */
/* jobref.c - reading references to jobs and steps. */
#include "client/jobref.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "sched/layout.h"
#include "schema/messages.h"
#include "text/idset.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

enum { TASK_ID_MAX = 4000001, QUOTE_MAX = 64 };

static int malformed(const char *word, struct error *err)
{
	return error_set(
		err, -EINVAL,
		"'%.*s' is no job; write a number, 36_4 for a task of an array, 36.0 for a step",
		QUOTE_MAX, word);
}

static int parse_step(const char *text, struct jobref *ret)
{
	ret->has_step = true;
	if (str_ieq(text, "batch"))
		ret->step = STEP_BATCH;
	else if (str_ieq(text, "extern"))
		ret->step = STEP_EXTERN;
	else if (str_ieq(text, "interactive"))
		ret->step = STEP_INTERACTIVE;
	else
		return str_to_u32(text, &ret->step);
	return 0;
}

static int add_tasks(const char *tasks, struct jobref ref, struct arena *a, struct jobrefs *ret,
		     struct error *err)
{
	struct array_spec spec;
	int r = array_parse(tasks, TASK_ID_MAX, a, &spec, err);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < spec.ids.count; i++)
		for (uint32_t task = spec.ids.ranges[i].first; task <= spec.ids.ranges[i].last;
		     task++) {
			ref.task = task;
			vec_push(&ret->at, ref);
		}
	return 0;
}

/* `word` may be written to. */
static int parse_one(char *word, struct arena *a, struct jobrefs *ret, struct error *err)
{
	const char *whole = arena_strdup(a, word);
	struct jobref ref = { .task = JOBREF_NO_TASK };
	char *bracket = strchr(word, ']');
	char *dot = strchr(bracket ? bracket : word, '.');
	if (dot) {
		*dot++ = 0;
		if (parse_step(dot, &ref) < 0)
			return malformed(whole, err);
	}
	char *tasks = strchr(word, '_');
	if (tasks)
		*tasks++ = 0;
	if (str_to_u32(word, &ref.id) < 0 || ref.id == 0)
		return malformed(whole, err);
	if (!tasks || str_eq(tasks, "*")) {
		vec_push(&ret->at, ref);
		return 0;
	}
	size_t len = strlen(tasks);
	if (tasks[0] == '[' && len > 2 && tasks[len - 1] == ']') {
		tasks[len - 1] = 0;
		return add_tasks(tasks + 1, ref, a, ret, err);
	}
	if (str_to_u32(tasks, &ref.task) < 0)
		return malformed(whole, err);
	vec_push(&ret->at, ref);
	return 0;
}

int jobrefs_parse(const char *text, struct arena *a, struct jobrefs *ret, struct error *err)
{
	char *copy = arena_strdup(a, text);
	while (*copy) {
		size_t n = 0;
		for (int depth = 0; copy[n] && (copy[n] != ',' || depth > 0); n++)
			depth += copy[n] == '[' ? 1 : copy[n] == ']' ? -1 : 0;
		char *next = copy + n + (copy[n] == ',');
		copy[n] = 0;
		char *word = str_trim(copy);
		if (*word) {
			int r = parse_one(word, a, ret, err);
			if (r < 0)
				return r;
		}
		copy = next;
	}
	return 0;
}

void jobrefs_to_filter(const struct jobrefs *refs, struct arena *a, struct job_filter *f)
{
	f->n_ids = f->n_tasks = (uint32_t)refs->at.count;
	f->ids = ARENA_ARRAY(a, uint32_t, refs->at.count + 1);
	f->tasks = ARENA_ARRAY(a, uint32_t, refs->at.count + 1);
	for (size_t i = 0; i < refs->at.count; i++) {
		f->ids[i] = refs->at.at[i].id;
		f->tasks[i] = refs->at.at[i].task;
	}
}
