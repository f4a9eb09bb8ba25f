/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

struct world *the_world;

struct world *world_new(uint64_t seed)
{
	struct world *w = NEW(struct world);
	w->rng = seed * 0x9E3779B97F4A7C15u + 1;
	w->now = (usec_t)1800000000 * USEC_PER_SEC;
	w->next_key = 1;
	w->next_fd = 1 << 24; /* no descriptor of this process */
	w->faults = (struct faults){ .latency = 500, .sync = 2000 };
	for (int i = 0; i < 8; i++)
		world_draw(w, 2);
	the_world = w;
	return w;
}

void world_free(struct world *w)
{
	files_free(w);
	vec_done(&w->heap);
	map_done(&w->loops);
	map_done(&w->timers);
	map_done(&w->streams);
	map_done(&w->listeners);
	map_done(&w->works);
	map_done(&w->sockets);
	free(w);
	the_world = NULL;
}

uint64_t world_draw(struct world *w, uint64_t below)
{
	w->rng ^= w->rng << 13;
	w->rng ^= w->rng >> 7;
	w->rng ^= w->rng << 17;
	return below ? (w->rng >> 11) % below : 0;
}

bool world_chance(struct world *w, unsigned one_in)
{
	return one_in && world_draw(w, one_in) == 0;
}

uint64_t world_key(struct world *w)
{
	return w->next_key++;
}

static bool before(const struct occurrence *a, const struct occurrence *b)
{
	return a->when != b->when ? a->when < b->when : a->seq < b->seq;
}

static void swap(struct occurrence *a, struct occurrence *b)
{
	struct occurrence t = *a;
	*a = *b;
	*b = t;
}

void world_at(struct world *w, usec_t delay, occurrence_fn fn, void *arg, uint64_t key)
{
	struct occurrence o = { w->now + (delay > 0 ? delay : 0), w->seq++, fn, arg, key };
	vec_push(&w->heap, o);
	for (size_t i = w->heap.count - 1; i > 0 && before(&w->heap.at[i], &w->heap.at[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&w->heap.at[i], &w->heap.at[(i - 1) / 2]);
}

static struct occurrence take_first(struct world *w)
{
	struct occurrence first = w->heap.at[0];
	w->heap.at[0] = w->heap.at[--w->heap.count];
	for (size_t i = 0;;) {
		size_t least = i, left = 2 * i + 1, right = left + 1;
		if (left < w->heap.count && before(&w->heap.at[left], &w->heap.at[least]))
			least = left;
		if (right < w->heap.count && before(&w->heap.at[right], &w->heap.at[least]))
			least = right;
		if (least == i)
			return first;
		swap(&w->heap.at[i], &w->heap.at[least]);
		i = least;
	}
}

bool world_step(struct world *w)
{
	if (w->heap.count == 0)
		return false;
	struct occurrence o = take_first(w);
	w->now = o.when;
	o.fn(o.arg, o.key);
	return true;
}

void world_tell(const char *fmt, ...)
{
	if (!the_world || !the_world->tell)
		return;
	usec_t since = the_world->now - (usec_t)1800000000 * USEC_PER_SEC;
	printf("%10.6f  ", (double)since / 1e6);
	va_list args;
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}
