/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/licenses.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "sched/view.h"
#include "text/licenses.h"

void license_pool_init(struct license_pool *p, const struct sched_view *v, struct arena *a)
{
	*p = (struct license_pool){ .count = v->license_count, .arena = a };
	p->at = arena_dup(a, v->licenses, v->license_count * sizeof(*p->at));
}

static struct license *find(const struct license_pool *p, const char *name)
{
	for (uint32_t i = 0; i < p->count; i++)
		if (str_eq(p->at[i].name, name))
			return &p->at[i];
	return NULL;
}

static bool is_free(const struct license_pool *p, const struct license_spec *s)
{
	const struct license *have = find(p, s->name);
	return have && have->used + s->count <= have->total;
}

static const char *print(const struct license_pool *p, const struct license_list *l)
{
	AUTO_BUF struct buf text = {};
	licenses_print(l, &text);
	return arena_strdup(p->arena, buf_text(&text));
}

bool license_pool_find(const struct license_pool *p, const char *wanted, const char **ret_taken)
{
	struct license_list l;
	*ret_taken = NULL;
	if (str_empty(wanted))
		return true;
	if (licenses_parse(wanted, p->arena, &l, NULL) < 0)
		return false; /* submission refuses these */
	for (uint32_t i = 0; i < l.count; i++) {
		bool ok = is_free(p, &l.at[i]);
		if (ok && l.any) {
			struct license_list one = { &l.at[i], 1, false };
			*ret_taken = print(p, &one);
			return true;
		}
		if (!ok && !l.any)
			return false;
	}
	if (l.any)
		return false;
	*ret_taken = print(p, &l);
	return true;
}

void license_pool_take(struct license_pool *p, const char *taken)
{
	struct license_list l;
	if (!taken || licenses_parse(taken, p->arena, &l, NULL) < 0)
		return;
	for (uint32_t i = 0; i < l.count; i++)
		find(p, l.at[i].name)->used += l.at[i].count;
}
