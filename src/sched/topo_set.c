/* SPDX-License-Identifier: Apache-2.0 */
/* topo_set.c - counting who holds the topologies, and finding the one of a partition. */
#include "sched/topo_set.h"

#include "base/mem.h"
#include "base/str.h"
#include "sched/topo.h"
#include "sched/view.h"

#include <assert.h>
#include <stdlib.h>

struct topo_set *topo_set_new(void)
{
	struct topo_set *s = NEW(struct topo_set);
	s->refs = 1;
	return s;
}

void topo_set_add(struct topo_set *s, struct topology *take)
{
	s->at = mem_grow(s->at, s->count + 1, sizeof(struct topology *));
	s->at[s->count++] = take;
}

struct topo_set *topo_set_ref(struct topo_set *s)
{
	if (s)
		s->refs++;
	return s;
}

void topo_set_unref(struct topo_set *s)
{
	if (!s || --s->refs)
		return;
	for (uint32_t i = 0; i < s->count; i++)
		topology_free(s->at[i]);
	free(s->at);
	free(s);
}

const struct topology *view_topology(const struct sched_view *v, const struct partition *p)
{
	const char *name = p ? p->conf.topology : NULL;
	for (uint32_t i = 0; i < v->topology_count; i++) {
		const struct topology *t = v->topologies[i];
		if (str_empty(name) ? topology_is_default(t) : str_eq(topology_name(t), name))
			return t;
	}
	return NULL;
}
