/* SPDX-License-Identifier: Apache-2.0 */
/* gpubind.c - see gpubind.h.
 *
 * A GPU is close to a task when its CPUs (Cores= of gres.conf) meet those of the task; one for which
 * none are given is close to all.  `single` and `per_task` look at the close ones first; `per_task`
 * hands out each GPU once, in the order of the local tasks. */
#include "sched/gpubind.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "sched/bindlist.h"
#include "schema/job.h"
#include "schema/node.h"
#include "text/gres.h"
#include "text/hostlist.h"

#include <errno.h>
#include <string.h>

/* ---- the words ----------------------------------------------------------------------------------- */

static const struct {
	const char *word;
	enum gpubind_kind kind;
} words[] = {
	{ "none", GPUBIND_NONE },          { "closest", GPUBIND_CLOSEST }, { "single:", GPUBIND_SINGLE },
	{ "per_task:", GPUBIND_PER_TASK }, { "map_gpu:", GPUBIND_MAP },    { "map:", GPUBIND_MAP },
	{ "mask_gpu:", GPUBIND_MASK },     { "mask:", GPUBIND_MASK },
};

static int read_argument(const char *text, const char *arg, struct gpubind *b, struct error *err)
{
	switch (b->kind) {
	case GPUBIND_SINGLE:
	case GPUBIND_PER_TASK:
		if (str_to_u32(arg, &b->number) < 0 || b->number == 0)
			return error_set(err, -EINVAL, "'%s' needs a number from 1 up behind the colon", text);
		break;
	case GPUBIND_MAP:
		if (!bindlist_is_valid(arg, false))
			return error_set(err, -EINVAL, "'%s' is no list of GPU numbers, as in map:0,1", text);
		b->list = arg;
		break;
	case GPUBIND_MASK:
		if (!bindlist_is_valid(arg, true))
			return error_set(err, -EINVAL, "'%s' is no list of hexadecimal masks, as in mask:0x1,0x2",
					 text);
		b->list = arg;
		break;
	case GPUBIND_AUTO:
	case GPUBIND_NONE:
	case GPUBIND_CLOSEST:
		if (*arg)
			return error_set(err, -EINVAL, "'%s': nothing can follow", text);
		break;
	}
	return 0;
}

int gpubind_parse(const char *text, struct gpubind *ret, struct error *err)
{
	struct gpubind b = {};
	const char *p = bind_read_chatter(text ? text : "", &b.quiet, &b.verbose);
	bool found = *p == '\0';
	for (size_t i = 0; i < ARRAY_COUNT(words) && !found; i++) {
		if (!str_istarts(p, words[i].word))
			continue;
		b.kind = words[i].kind;
		int r = read_argument(text, p + strlen(words[i].word), &b, err);
		if (r < 0)
			return r;
		found = true;
	}
	if (!found)
		return error_set(err, -EINVAL,
				 "'%s' is no GPU binding, say none, closest, single:n, per_task:n, map:list or "
				 "mask:list",
				 p);
	*ret = b;
	return 0;
}

/* ---- the sets ------------------------------------------------------------------------------------ */

/* A part of a GPU is a GPU to use, too. */
static bool is_gpu(const struct gres_alloc *g)
{
	return str_eq(g->name, "gpu") || gres_is_shared(g->name);
}

struct bitset gpubind_all(const struct node_alloc *here, struct arena *a)
{
	struct bitset all = {};
	uint32_t bits = 0;
	for (uint32_t i = 0; i < here->n_gres; i++)
		if (is_gpu(&here->gres[i]) && here->gres[i].devices.bits > bits)
			bits = here->gres[i].devices.bits;
	bitset_init_in(&all, bits, a);
	for (uint32_t i = 0; i < here->n_gres; i++) {
		const struct bitset *d = &here->gres[i].devices;
		if (!is_gpu(&here->gres[i]))
			continue;
		for (uint32_t at = bitset_next(d, 0); at != BITSET_NONE; at = bitset_next(d, at + 1))
			bitset_add(&all, at);
	}
	return all;
}

static bool is_close(const struct gpubind_node *b, uint32_t gpu, uint32_t local)
{
	for (uint32_t i = 0; i < b->gres_count; i++) {
		const struct node_gres *g = &b->gres[i];
		if (str_eq(g->name, "gpu") && gpu >= g->first && gpu < g->first + g->count)
			return bitset_empty(&g->cores) || bitset_intersects(&g->cores, &b->cpus[local]);
	}
	return true;
}

static struct bitset closest(const struct gpubind_node *b, const struct bitset *from, uint32_t local,
			     struct arena *a)
{
	struct bitset close = {};
	bitset_init_in(&close, from->bits, a);
	for (uint32_t i = bitset_next(from, 0); i != BITSET_NONE; i = bitset_next(from, i + 1))
		if (is_close(b, i, local))
			bitset_add(&close, i);
	return close;
}

/* Tasks of a node that are close to the same GPUs use them in turn, `n` tasks to a GPU. */
static struct bitset single(const struct gpubind_node *b, const struct bitset *all, uint32_t n, uint32_t local,
			    struct arena *a)
{
	struct bitset near = closest(b, all, local, a), one = {};
	uint32_t before = 0;
	for (uint32_t t = 0; t < local; t++) {
		struct bitset theirs = closest(b, all, t, a);
		before += bitset_equal(&near, &theirs);
	}
	if (bitset_empty(&near))
		near = *all;
	uint32_t count = bitset_count(&near), at = bitset_next(&near, 0);
	bitset_init_in(&one, all->bits, a);
	for (uint32_t skip = count ? before / n % count : 0; skip > 0; skip--)
		at = bitset_next(&near, at + 1);
	if (count)
		bitset_add(&one, at);
	return one;
}

/* `want` of what is still free, the close ones first. */
static struct bitset take(const struct gpubind_node *b, struct bitset *free, uint64_t want, uint32_t local,
			  struct arena *a)
{
	struct bitset near = closest(b, free, local, a), mine = {};
	bitset_init_in(&mine, free->bits, a);
	if (bitset_count(free) < want)
		return mine;
	for (; want > 0; want--) {
		uint32_t gpu = bitset_next(bitset_empty(&near) ? free : &near, 0);
		bitset_add(&mine, gpu);
		bitset_remove(free, gpu);
		bitset_remove(&near, gpu);
	}
	return mine;
}

static struct bitset listed(const struct gpubind *how, const struct bitset *all, uint32_t local, struct arena *a)
{
	struct bitset named = bindlist_entry(how->list, how->kind == GPUBIND_MASK, local, a), mine = {};
	bitset_init_in(&mine, all->bits, a);
	for (uint32_t i = bitset_next(&named, 0); i != BITSET_NONE; i = bitset_next(&named, i + 1))
		if (bitset_has(all, i))
			bitset_add(&mine, i);
	return mine;
}

static struct bitset select_for(const struct gpubind_node *b, const struct gpubind *how, const struct bitset *all,
				struct bitset *free, uint32_t local, struct arena *a)
{
	switch (how->kind) {
	case GPUBIND_CLOSEST:
		return closest(b, all, local, a);
	case GPUBIND_SINGLE:
		return single(b, all, how->number, local, a);
	case GPUBIND_PER_TASK:
		return take(b, free, how->number, local, a);
	case GPUBIND_MAP:
	case GPUBIND_MASK:
		return listed(how, all, local, a);
	case GPUBIND_AUTO:
		if (b->per_task)
			return take(b, free, b->per_task, local, a);
		break;
	case GPUBIND_NONE:
		break;
	}
	return *all;
}

struct bitset *gpubind_tasks(const struct gpubind_node *b, struct arena *a, bool **ret_outside)
{
	struct bitset all = gpubind_all(b->here, a), free = bitset_dup(&all, a);
	struct bitset *sets = ARENA_ARRAY(a, struct bitset, b->tasks + 1);
	bool *outside = ARENA_ARRAY(a, bool, b->tasks + 1);
	struct gpubind how;
	struct error err = {};
	if (gpubind_parse(b->how, &how, &err) < 0)
		how = (struct gpubind){}; /* checked when it came in */
	for (uint32_t t = 0; t < b->tasks; t++) {
		sets[t] = select_for(b, &how, &all, &free, t, a);
		outside[t] = bitset_empty(&sets[t]) && !bitset_empty(&all);
		if (outside[t])
			bitset_add(&sets[t], bitset_next(&all, 0));
	}
	if (ret_outside)
		*ret_outside = outside;
	return sets;
}

/* Parts of GPUs are promised to a task alone only where each task is to have a GPU of its own. */
static uint64_t count_gpus(const struct gres_request *list, uint32_t count, const char *flags)
{
	bool alone = flags && strstr(flags, "one-task-per-sharing");
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += str_eq(list[i].name, "gpu") ? list[i].count : gres_is_shared(list[i].name) && alone;
	return sum;
}

uint64_t gpubind_per_task(const struct step *s, const struct resource_request *job)
{
	return s->n_gres_per_task ? count_gpus(s->gres_per_task, s->n_gres_per_task, job->gres_flags) :
				    count_gpus(job->gres_per_task, job->n_gres_per_task, job->gres_flags);
}

struct gpubind_node gpubind_at(const struct step *s, uint32_t pos, const struct resource_request *job,
			       const struct bitset *cpus)
{
	return (struct gpubind_node){ .how = s->gpu_bind,
				      .per_task = gpubind_per_task(s, job),
				      .here = &s->alloc[pos],
				      .cpus = cpus,
				      .tasks = s->alloc[pos].tasks };
}

/* ---- the text ------------------------------------------------------------------------------------ */

static void print_file(uint32_t gpu, const struct node_gres *gres, uint32_t count, struct arena *a,
		       struct buf *out)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct node_gres *g = &gres[i];
		struct hostlist files;
		if (!str_eq(g->name, "gpu") || gpu < g->first || gpu >= g->first + g->count || str_empty(g->files))
			continue;
		if (hostlist_expand(g->files, a, &files, NULL) == 0 && gpu - g->first < files.count)
			buf_printf(out, "%s%s", out->len ? "," : "", files.names[gpu - g->first]);
	}
}

void gpubind_print(const struct bitset *gpus, const struct node_gres *gres, uint32_t count, struct buf *out)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf files = {};
	if (bitset_empty(gpus)) {
		buf_putc(out, '-');
		return;
	}
	bitset_print(gpus, out);
	for (uint32_t i = bitset_next(gpus, 0); i != BITSET_NONE; i = bitset_next(gpus, i + 1))
		print_file(i, gres, count, a, &files);
	if (files.len)
		buf_printf(out, " (%s)", buf_text(&files));
}
