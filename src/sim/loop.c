/* SPDX-License-Identifier: Apache-2.0 */
/* host/loop.h in virtual time.  Work in other threads is two occurrences: the work, and some time
 * later its return to the loop; a crash may fall between them. */
#include "base/mem.h"
#include "sim/world.h"

#include <string.h>

struct timer {
	uint64_t key, armed; /* `armed` changes whenever it is set anew */
	struct loop *loop;
	loop_fn fn;
	void *arg;
	usec_t repeat;
};

struct work {
	uint64_t key;
	struct loop *loop;
	loop_fn work, done;
	void *arg;
	bool worked;
};

struct loop *loop_on(struct machine *m)
{
	struct loop *l = NEW(struct loop);
	l->key = world_key(the_world);
	l->machine = m;
	l->alive = true;
	map_put(&the_world->loops, l->key, l);
	return l;
}

struct loop *loop_new(void)
{
	return loop_on(NULL);
}

void loop_free(struct loop *l)
{
	map_remove(&the_world->loops, l->key);
	vec_done(&l->deferred);
	free(l);
}

void loop_run(struct loop *l)
{
	while (l->alive && world_step(the_world))
		;
}

void loop_stop(struct loop *l)
{
	(void)l; /* worlds end when their stories do */
}

usec_t loop_now(struct loop *l)
{
	(void)l;
	return the_world->now;
}

usec_t loop_clock(struct loop *l)
{
	(void)l;
	return the_world->now;
}

void loop_random(struct loop *l, void *p, size_t n)
{
	(void)l;
	uint8_t *bytes = p;
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)world_draw(the_world, 256);
}

void loop_defer(struct loop *l, loop_fn fn, void *arg)
{
	vec_push(&l->deferred, (struct deferred){ fn, arg });
}

void loop_turn(struct loop *l, loop_fn fn, void *arg)
{
	uint64_t key = l->key;
	fn(arg);
	for (size_t i = 0; map_get(&the_world->loops, key) && l->alive && i < l->deferred.count; i++) {
		struct deferred d = l->deferred.at[i];
		d.fn(d.arg);
	}
	if (map_get(&the_world->loops, key))
		vec_clear(&l->deferred);
}

/* ---- work -------------------------------------------------------------------------------------- */

static void work_return(void *arg, uint64_t key)
{
	struct work *w = map_remove(&the_world->works, key);
	(void)arg;
	if (!w)
		return;
	loop_turn(w->loop, w->done, w->arg);
	free(w);
}

static void work_run(void *arg, uint64_t key)
{
	struct work *w = map_get(&the_world->works, key);
	(void)arg;
	if (!w)
		return;
	w->worked = true;
	w->work(w->arg);
	world_at(the_world, (usec_t)world_draw(the_world, 200), work_return, NULL, key);
}

void loop_work(struct loop *l, loop_fn work, loop_fn done, void *arg)
{
	struct work *w = NEW(struct work);
	*w = (struct work){ world_key(the_world), l, work, done, arg, false };
	map_put(&the_world->works, w->key, w);
	usec_t most = the_world->faults.sync;
	world_at(the_world, (usec_t)world_draw(the_world, (uint64_t)most), work_run, NULL, w->key);
}

/* What was under way comes to nothing; it only gives back what it holds. */
static void finish_works(struct loop *l)
{
	for (bool again = true; again;) {
		again = false;
		struct work *w;
		for (size_t i = 0; (w = map_next(&the_world->works, &i));) {
			if (w->loop != l)
				continue;
			map_remove(&the_world->works, w->key);
			if (!w->worked)
				w->work(w->arg);
			w->done(w->arg);
			free(w);
			again = true;
			break; /* more may have been asked for */
		}
	}
}

void loop_kill(struct loop *l)
{
	l->alive = false;
	streams_break(l);
	finish_works(l);
	vec_clear(&l->deferred);
}

/* ---- timers ------------------------------------------------------------------------------------ */

struct timer *timer_new(struct loop *l, loop_fn fn, void *arg)
{
	struct timer *t = NEW(struct timer);
	*t = (struct timer){ .key = world_key(the_world), .loop = l, .fn = fn, .arg = arg };
	map_put(&the_world->timers, t->key, t);
	return t;
}

static void timer_due(void *arg, uint64_t key)
{
	struct timer *t = map_get(&the_world->timers, key);
	if (!t || t->armed != (uint64_t)(uintptr_t)arg || !t->loop->alive)
		return;
	if (t->repeat)
		world_at(the_world, t->repeat, timer_due, arg, key);
	else
		t->armed = 0;
	loop_turn(t->loop, t->fn, t->arg);
}

void timer_start(struct timer *t, usec_t delay, usec_t repeat)
{
	t->armed = world_key(the_world);
	t->repeat = repeat;
	world_at(the_world, delay, timer_due, (void *)(uintptr_t)t->armed, t->key);
}

void timer_stop(struct timer *t)
{
	t->armed = 0;
}

void timer_free(struct timer *t)
{
	if (!t)
		return;
	map_remove(&the_world->timers, t->key);
	free(t);
}

void loop_on_signal(struct loop *l, int signo, loop_fn fn, void *arg)
{
	(void)l;
	(void)signo;
	(void)fn;
	(void)arg;
}
