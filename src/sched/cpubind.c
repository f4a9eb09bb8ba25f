/* SPDX-License-Identifier: Apache-2.0 */
/* Binding widens what layout_cpus gives each task: `threads` takes it as it is, `cores` and `sockets`
 * add whatever else the step has on the same cores or sockets.
 *
 * Without --cpu-bind the unit follows from the numbers, as in Slurm: if tasks times CPUs per task is
 * the number of sockets, cores or threads that the step has on the node, tasks are bound to those;
 * otherwise they share all of the step's CPUs. */
#include "sched/cpubind.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "sched/bindlist.h"
#include "sched/layout.h"
#include "schema/job.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *word;
	enum cpubind_kind kind;
} words[] = {
	{ "none", CPUBIND_NONE },       { "sockets", CPUBIND_SOCKETS }, { "cores", CPUBIND_CORES },
	{ "threads", CPUBIND_THREADS }, { "rank", CPUBIND_RANK },       { "map_cpu:", CPUBIND_MAP },
	{ "mask_cpu:", CPUBIND_MASK },  { "no", CPUBIND_NONE },         { "socket", CPUBIND_SOCKETS },
	{ "core", CPUBIND_CORES },      { "thread", CPUBIND_THREADS },  { "yes", CPUBIND_CORES },
};

const char *cpubind_word(enum cpubind_kind kind)
{
	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		if (words[i].kind == kind)
			return words[i].word;
	return "";
}

static int read_list(const char *text, struct cpubind *b, struct error *err)
{
	bool masks = b->kind == CPUBIND_MASK;
	if (bindlist_is_valid(b->list, masks))
		return 0;
	return error_set(err, -EINVAL,
			 masks ? "'%s' is no list of hexadecimal masks, as in mask_cpu:0x3,0xc" :
				 "'%s' is no list of CPU numbers, as in map_cpu:0,1",
			 text);
}

int cpubind_parse(const char *text, struct cpubind *ret, struct error *err)
{
	struct cpubind b = {};
	const char *p = bind_read_chatter(text ? text : "", &b.quiet, &b.verbose);
	for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
		bool takes_list = words[i].kind == CPUBIND_MAP || words[i].kind == CPUBIND_MASK;
		if (!(takes_list ? str_istarts(p, words[i].word) : str_ieq(p, words[i].word)))
			continue;
		b.kind = words[i].kind;
		b.list = takes_list ? p + strlen(words[i].word) : NULL;
		int r = takes_list ? read_list(text, &b, err) : 0;
		if (r == 0)
			*ret = b;
		return r;
	}
	if (*p == '\0') {
		*ret = b;
		return 0;
	}
	if (str_istarts(p, "ldom") || str_istarts(p, "rank_ldom") || str_istarts(p, "map_ldom") ||
	    str_istarts(p, "mask_ldom") || str_istarts(p, "board"))
		return error_set(err, -ENOTSUP,
				 "'%s' is not supported by this version of Muster, which does not know the "
				 "machines' NUMA domains and boards",
				 p);
	return error_set(err, -EINVAL,
			 "'%s' is no CPU binding, say none, sockets, cores, threads, rank, map_cpu:list or "
			 "mask_cpu:list",
			 p);
}

/* ---- who is bound to what ------------------------------------------------------------------------ */

struct binding {
	const struct cpubind_node *n;
	const struct node_alloc *here;
	struct geometry g;
	struct arena *arena;
};

/* How many units of `size` CPUs the step has a part of. */
static uint32_t count_units(const struct bitset *cpus, uint32_t size)
{
	uint32_t units = 0, last = UINT32_MAX;
	for (uint32_t i = bitset_next(cpus, 0); i != BITSET_NONE; i = bitset_next(cpus, i + 1)) {
		units += i / size != last;
		last = i / size;
	}
	return units;
}

static enum cpubind_kind choose_kind(const struct binding *b)
{
	const struct step *s = b->n->step;
	const struct bitset *cpus = &b->here->cores;
	uint64_t wanted = (uint64_t)b->here->tasks * (s->cpus_per_task ? s->cpus_per_task : 1);
	if (wanted == count_units(cpus, b->g.cores * b->g.threads))
		return CPUBIND_SOCKETS;
	if (wanted == count_units(cpus, b->g.threads))
		return s->threads_per_core && s->threads_per_core < b->g.threads ? CPUBIND_THREADS : CPUBIND_CORES;
	return wanted == bitset_count(cpus) ? CPUBIND_THREADS : CPUBIND_ALL;
}

/* Adds whatever the step has on the same units of `size` CPUs. */
static void widen(const struct binding *b, struct bitset *mine, uint32_t size)
{
	const struct bitset *cpus = &b->here->cores;
	struct bitset wide = bitset_dup(mine, b->arena);
	uint32_t unit = UINT32_MAX;
	for (uint32_t i = bitset_next(mine, 0); i != BITSET_NONE; i = bitset_next(mine, i + 1)) {
		if (i / size == unit)
			continue;
		unit = i / size;
		for (uint32_t c = unit * size; c < (unit + 1) * size; c++)
			if (bitset_has(cpus, c))
				bitset_add(&wide, c);
	}
	*mine = wide;
}

static uint32_t our_number(const struct cpubind_node *n, uint32_t cpu)
{
	if (!n->machine)
		return cpu;
	for (uint32_t i = 0; i < n->machine_count; i++)
		if (n->machine[i] == cpu)
			return i;
	return UINT32_MAX;
}

/* The CPUs of the task's entry; false when none of them is the step's. */
static bool from_list(const struct binding *b, const struct cpubind *how, uint32_t local, struct bitset *ret)
{
	struct bitset named = bindlist_entry(how->list, how->kind == CPUBIND_MASK, local, b->arena);
	bitset_init_in(ret, b->here->cores.bits, b->arena);
	for (uint32_t i = bitset_next(&named, 0); i != BITSET_NONE; i = bitset_next(&named, i + 1)) {
		uint32_t cpu = our_number(b->n, i);
		if (cpu == UINT32_MAX || !bitset_has(&b->here->cores, cpu))
			return false;
		bitset_add(ret, cpu);
	}
	return !bitset_empty(ret);
}

/* The CPU that has as many of the step's before it as the task has tasks. */
static void by_rank(const struct binding *b, uint32_t local, struct bitset *ret)
{
	const struct bitset *cpus = &b->here->cores;
	uint32_t count = bitset_count(cpus), at = bitset_next(cpus, 0);
	bitset_init_in(ret, cpus->bits, b->arena);
	for (uint32_t skip = count ? local % count : 0; skip > 0; skip--)
		at = bitset_next(cpus, at + 1);
	if (count)
		bitset_add(ret, at);
}

static void bind_task(const struct binding *b, uint32_t local, struct cpubind_result *r)
{
	struct bitset *mine = &r->tasks[local];
	switch (r->kind) {
	case CPUBIND_THREADS:
		break;
	case CPUBIND_CORES:
		widen(b, mine, b->g.threads);
		break;
	case CPUBIND_SOCKETS:
		widen(b, mine, b->g.cores * b->g.threads);
		break;
	case CPUBIND_RANK:
		by_rank(b, local, mine);
		break;
	case CPUBIND_MAP:
	case CPUBIND_MASK:
		r->outside[local] = !from_list(b, &r->how, local, mine);
		if (r->outside[local])
			*mine = b->here->cores;
		break;
	case CPUBIND_AUTO:
	case CPUBIND_NONE:
	case CPUBIND_ALL:
		*mine = b->here->cores;
		break;
	}
}

void cpubind_tasks(const struct cpubind_node *n, struct arena *a, struct cpubind_result *ret)
{
	struct binding b = { .n = n, .here = &n->step->alloc[n->pos], .arena = a };
	struct error err = {};
	b.g = layout_geometry(n->geometry, b.here->cores.bits);
	*ret = (struct cpubind_result){ .count = b.here->tasks };
	if (cpubind_parse(n->step->cpu_bind, &ret->how, &err) < 0)
		ret->how = (struct cpubind){}; /* checked when it came in */
	ret->kind = ret->how.kind == CPUBIND_AUTO ? choose_kind(&b) : ret->how.kind;
	ret->tasks = layout_cpus(n->step, n->pos, n->geometry, a);
	ret->outside = ARENA_ARRAY(a, bool, ret->count + 1);
	for (uint32_t t = 0; t < ret->count; t++)
		bind_task(&b, t, ret);
}

void cpubind_print_mask(const struct cpubind_node *n, const struct bitset *cpus, struct buf *out)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct bitset set = {};
	uint32_t most = 0;
	for (uint32_t i = bitset_next(cpus, 0); i != BITSET_NONE; i = bitset_next(cpus, i + 1)) {
		uint32_t cpu = n->machine && i < n->machine_count ? n->machine[i] : i;
		most = cpu > most ? cpu : most;
	}
	bitset_init_in(&set, most + 1, a);
	for (uint32_t i = bitset_next(cpus, 0); i != BITSET_NONE; i = bitset_next(cpus, i + 1))
		bitset_add(&set, n->machine && i < n->machine_count ? n->machine[i] : i);
	buf_puts(out, "0x");
	for (uint32_t nibble = most / 4 + 1; nibble-- > 0;)
		buf_printf(out, "%x", (unsigned)(set.words[nibble / 16] >> (nibble % 16 * 4) & 0xf));
}
