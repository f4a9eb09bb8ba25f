/* SPDX-License-Identifier: Apache-2.0 */
/* Licences are counted, not named one by one.  How many there are is configuration and not journaled;
 * how many are used follows from the jobs that hold nodes, so that a restart finds the same numbers.
 *
 * A job holds its licences until nothing of it is left on any node: a process that is still being
 * killed may still have the real licence checked out.  When an administrator lowers a total below what
 * is used, or jobs are restored before the configuration is known, the licence is `over` until enough
 * jobs have ended: only then may more be used than there are. */
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "core/cluster.h"
#include "core/internal.h"
#include "text/licenses.h"

#include <assert.h>

static struct license_entry *find(struct cluster *c, const char *name)
{
	for (size_t i = 0; i < c->licenses.count; i++)
		if (str_eq(c->licenses.at[i].license.name, name))
			return &c->licenses.at[i];
	return NULL;
}

static struct license_entry *find_or_add(struct cluster *c, const char *name)
{
	struct license_entry *e = find(c, name);
	if (e)
		return e;
	vec_push(&c->licenses, (struct license_entry){ .license.name = mem_strdup(name), .over = true });
	return &c->licenses.at[c->licenses.count - 1];
}

const struct license *cluster_license(const struct cluster *c, const char *name)
{
	for (size_t i = 0; i < c->licenses.count; i++)
		if (str_eq(c->licenses.at[i].license.name, name))
			return &c->licenses.at[i].license;
	return NULL;
}

void cluster_set_licenses(struct cluster *c, const struct license_list *totals)
{
	for (size_t i = 0; i < c->licenses.count; i++)
		c->licenses.at[i].license.total = 0;
	for (uint32_t i = 0; i < totals->count; i++)
		find_or_add(c, totals->at[i].name)->license.total = totals->at[i].count;
	for (size_t i = 0; i < c->licenses.count;) {
		struct license_entry *e = &c->licenses.at[i];
		bool configured = false;
		for (uint32_t k = 0; k < totals->count; k++)
			configured |= str_eq(totals->at[k].name, e->license.name);
		e->over = e->license.used > e->license.total;
		if (configured || e->license.used) {
			i++;
			continue;
		}
		free(e->license.name);
		vec_remove(&c->licenses, i);
	}
}

bool cluster_licenses_free(const struct cluster *c, const char *wanted, struct arena *a)
{
	struct license_list l;
	if (str_empty(wanted))
		return true;
	if (licenses_parse(wanted, a, &l, NULL) < 0)
		return false;
	for (uint32_t i = 0; i < l.count; i++) {
		const struct license *have = cluster_license(c, l.at[i].name);
		if (!have || have->used + l.at[i].count > have->total)
			return false;
	}
	return true;
}

void licenses_mark(struct cluster *c, const struct job *j, bool take)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct license_list l = {};
	if (str_empty(j->licenses_alloc) || licenses_parse(j->licenses_alloc, a, &l, NULL) < 0)
		return;
	for (uint32_t i = 0; i < l.count; i++) {
		struct license_entry *e = find_or_add(c, l.at[i].name);
		assert(take || e->license.used >= l.at[i].count);
		e->license.used = take ? e->license.used + l.at[i].count : e->license.used - l.at[i].count;
		e->over = e->over && e->license.used > e->license.total;
	}
}

const struct license *licenses_look(const struct cluster *c, struct arena *a)
{
	struct license *list = ARENA_ARRAY(a, struct license, c->licenses.count + 1);
	for (size_t i = 0; i < c->licenses.count; i++) {
		list[i] = c->licenses.at[i].license;
		list[i].name = arena_strdup(a, list[i].name);
	}
	return list;
}

void licenses_done(struct cluster *c)
{
	for (size_t i = 0; i < c->licenses.count; i++)
		free(c->licenses.at[i].license.name);
	vec_done(&c->licenses);
}
