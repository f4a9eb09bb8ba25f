/* SPDX-License-Identifier: Apache-2.0 */
/* loop_uv.c - the event loop on libuv.
 *
 * A turn is one iteration of uv_run: timers, then what was deferred, then waiting for descriptors
 * and their callbacks.  So work deferred by a callback runs before the loop waits again, after every
 * other callback of the same wake-up: that is what makes a group commit or a flush collect a turn.
 *
 * Deferred functions may defer again (a commit defers a flush).  Those run in the same turn too, for
 * ROUNDS_MAX rounds; whatever goes on longer than that continues in the next turn without waiting,
 * so that a source that never runs dry cannot keep the loop from its other descriptors.
 *
 * Closing a handle of libuv takes effect at the end of a turn; memory of timers, signals and streams
 * is released there.  loop_free therefore runs the loop until these are gone, and asserts that
 * nothing else is left on it. */
#include "host/loop_uv.h"

#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <sys/random.h>
#include <time.h>

#define ROUNDS_MAX 8

struct timer {
	uv_timer_t uv;
	loop_fn fn;
	void *arg;
};

struct work {
	uv_work_t uv;
	loop_fn work, done;
	void *arg;
};

struct watched_signal {
	uv_signal_t uv; /* first: the loop's list points here */
	loop_fn fn;
	void *arg;
};

static void free_handle(uv_handle_t *h)
{
	free(h);
}

static void no_wait(uv_idle_t *h)
{
	(void)h; /* an active idle handle is enough to keep the loop from waiting */
}

static void run_deferred(uv_prepare_t *h)
{
	struct loop *l = h->data;
	for (int round = 0; round < ROUNDS_MAX && l->deferred.count > 0; round++) {
		typeof(l->running) spare = l->running; /* what these defer is the next round */
		l->running = l->deferred;
		l->deferred = spare;
		for (size_t i = 0; i < l->running.count; i++)
			l->running.at[i].fn(l->running.at[i].arg);
		l->running.count = 0;
	}
	if (l->deferred.count > 0)
		uv_idle_start(&l->again, no_wait);
	else
		uv_idle_stop(&l->again);
}

struct loop *loop_new(void)
{
	struct loop *l = NEW(struct loop);
	int r = uv_loop_init(&l->uv);
	if (r < 0) {
		log_fatal("cannot make an event loop: %s", uv_strerror(r));
		abort();
	}
	l->uv.data = l;
	uv_prepare_init(&l->uv, &l->prepare);
	l->prepare.data = l;
	uv_prepare_start(&l->prepare, run_deferred);
	uv_idle_init(&l->uv, &l->again);
	l->read_buffer = mem_alloc(LOOP_READ_BYTES);
	/* A peer that went away must be an error of one stream, not the end of the process. */
	signal(SIGPIPE, SIG_IGN);
	return l;
}

static void must_be_closing(uv_handle_t *h, void *arg)
{
	(void)arg;
	if (!uv_is_closing(h)) {
		log_fatal("loop_free: a %s is still there",
			  uv_handle_type_name(uv_handle_get_type(h)));
		abort();
	}
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	streams_done(l);
	children_done(l);
	for (size_t i = 0; i < l->signals.count; i++)
		uv_close((uv_handle_t *)l->signals.at[i], free_handle);
	uv_close((uv_handle_t *)&l->prepare, NULL);
	uv_close((uv_handle_t *)&l->again, NULL);
	uv_walk(&l->uv, must_be_closing, NULL);
	uv_run(&l->uv, UV_RUN_DEFAULT);
	int r = uv_loop_close(&l->uv);
	assert(r == 0);
	(void)r;
	vec_done(&l->deferred);
	vec_done(&l->running);
	vec_done(&l->signals);
	free(l->read_buffer);
	free(l);
}

void loop_run(struct loop *l)
{
	uv_run(&l->uv, UV_RUN_DEFAULT);
	run_deferred(&l->prepare); /* the turn that stopped the loop has an end too: its output leaves */
}

void loop_stop(struct loop *l)
{
	uv_stop(&l->uv);
}

static usec_t read_clock(clockid_t id)
{
	struct timespec ts;
	clock_gettime(id, &ts);
	return (usec_t)ts.tv_sec * USEC_PER_SEC + ts.tv_nsec / 1000;
}

usec_t loop_now(struct loop *l)
{
	(void)l;
	return read_clock(CLOCK_REALTIME);
}

usec_t loop_clock(struct loop *l)
{
	(void)l;
	return read_clock(CLOCK_MONOTONIC);
}

void loop_random(struct loop *l, void *p, size_t n)
{
	(void)l;
	uint8_t *at = p;
	while (n > 0) {
		ssize_t got = getrandom(at, n, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			log_fatal("the system gives no random bytes: %s", strerror(errno));
			abort();
		}
		at += got;
		n -= (size_t)got;
	}
}

void loop_defer(struct loop *l, loop_fn fn, void *arg)
{
	vec_push(&l->deferred, ((struct deferred) { fn, arg }));
}

/* ---- work in the pool --------------------------------------------------------------------------- */

static void work_run(uv_work_t *uv)
{
	struct work *w = uv->data;
	w->work(w->arg);
}

static void work_done(uv_work_t *uv, int status)
{
	(void)status; /* never cancelled */
	struct work *w = uv->data;
	if (w->done)
		w->done(w->arg);
	free(w);
}

void loop_work(struct loop *l, loop_fn work, loop_fn done, void *arg)
{
	struct work *w = NEW(struct work);
	*w = (struct work) { .work = work, .done = done, .arg = arg };
	w->uv.data = w;
	uv_queue_work(&l->uv, &w->uv, work_run, work_done);
}

/* ---- timers ------------------------------------------------------------------------------------- */

static void timer_fired(uv_timer_t *uv)
{
	struct timer *t = uv->data;
	t->fn(t->arg);
}

struct timer *timer_new(struct loop *l, loop_fn fn, void *arg)
{
	struct timer *t = NEW(struct timer);
	uv_timer_init(&l->uv, &t->uv);
	t->uv.data = t;
	t->fn = fn;
	t->arg = arg;
	return t;
}

static uint64_t to_msec(usec_t span)
{
	return span > 0 ? (uint64_t)((span + USEC_PER_MSEC - 1) / USEC_PER_MSEC) : 0;
}

void timer_start(struct timer *t, usec_t delay, usec_t repeat)
{
	uv_update_time(t->uv.loop); /* or the time this turn has taken so far would be missing */
	uv_timer_start(&t->uv, timer_fired, to_msec(delay), to_msec(repeat));
}

void timer_stop(struct timer *t)
{
	uv_timer_stop(&t->uv);
}

void timer_free(struct timer *t)
{
	if (t)
		uv_close((uv_handle_t *)&t->uv, free_handle);
}

/* ---- signals ------------------------------------------------------------------------------------ */

static void signal_arrived(uv_signal_t *uv, int signo)
{
	(void)signo;
	struct watched_signal *w = uv->data;
	w->fn(w->arg);
}

void loop_on_signal(struct loop *l, int signo, loop_fn fn, void *arg)
{
	struct watched_signal *w = NEW(struct watched_signal);
	uv_signal_init(&l->uv, &w->uv);
	w->uv.data = w;
	w->fn = fn;
	w->arg = arg;
	int r = uv_signal_start(&w->uv, signal_arrived, signo);
	assert(r == 0); /* only a number that is no signal fails */
	(void)r;
	vec_push(&l->signals, &w->uv);
}
