/* SPDX-License-Identifier: Apache-2.0 */
/* Features of nodes against constraints.
 *
 * Counts are an assignment problem: places of parts on one side, nodes on the other, and a node may sit
 * in a place of any part it has the features for.  Nodes beyond the counts sit in places of a part of
 * their own that takes anyone, the spare places.  Sets of nodes that can all sit at once form a matroid
 * (a transversal one), so going through the nodes from the best and keeping each that can still be
 * seated, if need be by moving others, ends in the best set there is.
 *
 *   I1  Every node that was seated stays seated, though it may move to another part.
 *   I2  A part of `closed` is full, and those seated in it could sit in other parts of `closed` only:
 *	 a node that wants nothing else need not be looked at again.
 *
 * Cost: a look at every node, and a search over the parts and those seated for every node that is
 * seated by moving others; a search that fails closes parts, so there are few of those. */
#include "sched/features.h"

#include "base/arena.h"
#include "base/str.h"
#include "schema/node.h"

#include <assert.h>
#include <string.h>

/* ---- one node ----------------------------------------------------------------------------------- */

bool node_has_feature(const struct node *n, const char *name)
{
	size_t len = strlen(name);
	for (const char *f = n->features; f && *f;) {
		size_t flen = strcspn(f, ",");
		if (flen == len && strncmp(f, name, len) == 0)
			return true;
		f += flen + (f[flen] == ',');
	}
	return false;
}

bool features_match(const struct constraint *c, const struct node *n)
{
	if (!c)
		return true;
	switch (c->kind) {
	case CONSTRAINT_NAME:
		return node_has_feature(n, c->name);
	case CONSTRAINT_AND:
		for (uint32_t i = 0; i < c->part_count; i++)
			if (!features_match(c->parts[i], n))
				return false;
		return true;
	case CONSTRAINT_OR:
	case CONSTRAINT_SAME:
		for (uint32_t i = 0; i < c->part_count; i++)
			if (features_match(c->parts[i], n))
				return true;
		return false;
	case CONSTRAINT_EACH:
		return true;
	}
	return false;
}

/* ---- the job as a whole ------------------------------------------------------------------------- */

/* The group of that kind, at the top or in an AND at the top; `*ret_at` is its place in the AND. */
static const struct constraint *find_group(const struct constraint *c, enum constraint_kind kind,
					   uint32_t *ret_at)
{
	if (!c || c->kind == kind)
		return c;
	for (uint32_t i = 0; c->kind == CONSTRAINT_AND && i < c->part_count; i++) {
		if (c->parts[i]->kind != kind)
			continue;
		*ret_at = i;
		return c->parts[i];
	}
	return NULL;
}

uint32_t features_choices(const struct constraint *c, struct arena *a,
			  const struct constraint *const **ret)
{
	uint32_t at = 0;
	const struct constraint *same = find_group(c, CONSTRAINT_SAME, &at);
	uint32_t count = same ? same->part_count : 1;
	const struct constraint **choices = ARENA_ARRAY(a, const struct constraint *, count);
	for (uint32_t i = 0; i < count; i++) {
		choices[i] = !same ? c : same->parts[i];
		if (!same || same == c)
			continue;
		struct constraint *with = arena_dup(a, c, sizeof(*c));
		with->parts = arena_dup(a, c->parts, c->part_count * sizeof(*c->parts));
		with->parts[at] = same->parts[i];
		choices[i] = with;
	}
	*ret = choices;
	return count;
}

const struct constraint *features_counts(const struct constraint *c)
{
	uint32_t at;
	return find_group(c, CONSTRAINT_EACH, &at);
}

uint32_t features_nodes(const struct constraint *c)
{
	const struct constraint *each = features_counts(c);
	uint64_t total = 0;
	for (uint32_t i = 0; each && i < each->part_count; i++)
		total += each->parts[i]->count;
	return total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;
}

uint64_t features_parts(const struct constraint *each, const struct node *n)
{
	uint64_t parts = 0;
	for (uint32_t i = 0; i < each->part_count; i++)
		parts |= (uint64_t)features_match(each->parts[i], n) << i;
	return parts;
}

/* ---- counts ------------------------------------------------------------------------------------- */

enum { NOWHERE = 0xff };

struct seating {
	const uint64_t *wants; /* by position: parts a node could sit in, the spare places aside */
	uint32_t part_count;   /* with the spare places, which are the last */
	uint32_t free[CONSTRAINT_COUNTS_MAX + 1]; /* places left in each part */
	uint64_t open;         /* parts that have places left */
	uint64_t closed;
	uint32_t *seated; /* positions, in the order in which they came */
	uint8_t *part_of; /* parallel to `seated` */
	uint32_t count;
};

static uint64_t wanted_by(const struct seating *s, uint32_t position)
{
	return s->wants[position] | 1ull << (s->part_count - 1);
}

static uint32_t lowest(uint64_t bits)
{
	return (uint32_t)__builtin_ctzll(bits);
}

/* Breadth first from the parts in `start` over whoever would have to move; `mover[p]` is who sits
 * elsewhere and would move to `p`, as an index into `seated`.  The part with a free place that was
 * found, or NOWHERE; then `*ret_reached` is everything that was looked at. */
static uint32_t find_place(const struct seating *s, uint64_t start, uint32_t *mover,
			   uint64_t *ret_reached)
{
	uint64_t reached = start, fresh = start;
	while (fresh) {
		if (fresh & s->open)
			return lowest(fresh & s->open);
		uint64_t next = 0;
		for (uint32_t i = 0; i < s->count; i++) {
			if (!(fresh >> s->part_of[i] & 1))
				continue;
			uint64_t more = wanted_by(s, s->seated[i]) & ~(reached | next);
			next |= more;
			for (; more; more &= more - 1)
				mover[lowest(more)] = i;
		}
		reached |= next;
		fresh = next;
	}
	*ret_reached = reached;
	return NOWHERE;
}

/* Seats one more node, moving others where that helps. */
static bool seat(struct seating *s, uint32_t position)
{
	uint32_t mover[CONSTRAINT_COUNTS_MAX + 1];
	uint64_t start = wanted_by(s, position), reached;
	if (!(start & ~s->closed))
		return false;
	uint32_t part = find_place(s, start, mover, &reached);
	if (part == NOWHERE) {
		s->closed |= reached;
		return false;
	}
	if (--s->free[part] == 0)
		s->open &= ~(1ull << part);
	while (!(start >> part & 1)) { /* back along the movers to where the new node begins */
		uint32_t who = mover[part], from = s->part_of[who];
		s->part_of[who] = (uint8_t)part;
		part = from;
	}
	s->seated[s->count] = position;
	s->part_of[s->count++] = (uint8_t)part;
	return true;
}

/* Those seated first, then the others, both in their order. */
static void move_first(const struct seating *s, uint32_t *order, uint32_t count, struct arena *a)
{
	uint32_t *rest = ARENA_ARRAY(a, uint32_t, count);
	uint32_t next = 0, rest_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (next < s->count && s->seated[next] == order[i])
			next++;
		else
			rest[rest_count++] = order[i];
	}
	assert(next == s->count);
	if (s->count)
		memcpy(order, s->seated, s->count * sizeof(*order));
	if (rest_count)
		memcpy(order + s->count, rest, rest_count * sizeof(*order));
}

bool features_order(const struct constraint *each, const uint64_t *parts, uint32_t *order,
		    uint32_t count, uint32_t want, struct arena *a)
{
	uint32_t counted = features_nodes(each);
	if (counted > want || want > count)
		return false;
	assert(each->kind == CONSTRAINT_EACH && each->part_count <= CONSTRAINT_COUNTS_MAX);
	struct seating s = { .wants = parts, .part_count = each->part_count + 1 };
	for (uint32_t i = 0; i < each->part_count; i++) {
		s.free[i] = each->parts[i]->count;
		s.open |= 1ull << i;
	}
	s.free[each->part_count] = want - counted;
	if (want > counted)
		s.open |= 1ull << each->part_count;
	s.seated = ARENA_ARRAY(a, uint32_t, want);
	s.part_of = ARENA_ARRAY(a, uint8_t, want);
	for (uint32_t i = 0; i < count && s.count < want; i++)
		seat(&s, order[i]);
	if (s.count < want)
		return false;
	move_first(&s, order, count, a);
	return true;
}

bool features_counts_met(const struct constraint *each, const uint64_t *parts, uint32_t count,
			 struct arena *a)
{
	uint32_t *order = ARENA_ARRAY(a, uint32_t, count);
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	return features_order(each, parts, order, count, count, a);
}
