/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the binding words.  What they mean is known to sched/ alone; what travels is spelt one way. */
#include "client/bind.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "sched/cpubind.h"
#include "sched/distribution.h"
#include "sched/gpubind.h"

#include <stdlib.h>
#include <string.h>

int distribution_check(const char *text, struct arena *a, const char **ret, struct error *err)
{
	static const char plane[] = "plane";
	struct distribution d;
	const char *size = getenv("SLURM_DIST_PLANESIZE");
	/* SLURM_DISTRIBUTION of an outer job has the size in a variable of its own. */
	if (size && str_istarts(text, plane) && strchr(":,", text[strlen(plane)]))
		text = arena_printf(a, "plane=%s%s", size, text + strlen(plane));
	*ret = text;
	return distribution_parse(text, &d, err);
}

int cpu_bind_check(const char *text, struct arena *a, const char **ret, struct error *err)
{
	struct cpubind b;
	int r = cpubind_parse(text, &b, err);
	if (r < 0)
		return r;
	const char *word = cpubind_word(b.kind), *chatter = b.verbose ? "verbose" : b.quiet ? "quiet" : "";
	*ret = arena_printf(a, "%s%s%s%s", chatter, *chatter && *word ? "," : "", word, b.list ? b.list : "");
	return 0;
}

int gpu_bind_check(const char *text, struct error *err)
{
	struct gpubind b;
	return gpubind_parse(text, &b, err);
}
