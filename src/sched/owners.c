/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/owners.h"

#include "base/arena.h"

void owners_init(struct owners *o, const struct job *const *running, uint32_t count, uint32_t nodes,
		 struct arena *a)
{
	o->uid = ARENA_ARRAY(a, uint64_t, nodes + 1);
	bitset_init_in(&o->owned, nodes, a);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < running[i]->n_alloc; k++)
			if (!running[i]->alloc[k].clean)
				owners_add(o, &running[i]->alloc[k], running[i]->uid,
					   running[i]->exclusive == EXCLUSIVE_KIND_USER);
}

void owners_add(struct owners *o, const struct node_alloc *alloc, uint32_t uid, bool alone)
{
	if (alloc->node >= o->owned.bits)
		return;
	uint64_t *at = &o->uid[alloc->node], mine = (uint64_t)uid + 1;
	*at = *at == 0 || *at == mine ? mine : OWNERS_MIXED;
	if (alone)
		bitset_add(&o->owned, alloc->node);
}

bool owners_matter(const struct owners *o, bool alone)
{
	return alone || !bitset_empty(&o->owned);
}

void owners_block(const struct owners *o, uint32_t uid, bool alone, struct bitset *blocked)
{
	uint64_t mine = (uint64_t)uid + 1;
	for (uint32_t n = 0; alone && n < o->owned.bits; n++)
		if (o->uid[n] && o->uid[n] != mine)
			bitset_add(blocked, n);
	for (uint32_t n = bitset_next(&o->owned, 0); n != BITSET_NONE; n = bitset_next(&o->owned, n + 1))
		if (o->uid[n] != mine)
			bitset_add(blocked, n);
}
