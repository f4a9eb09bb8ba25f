/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - the event loop as the daemons see it: time, timers, signals, work in other threads.
 *
 * Everything that is not deterministic by itself is reached through host/.  Two implementations
 * have these symbols: host/loop_uv.c on libuv, and sim/ in virtual time.  Callbacks run on the
 * thread of the loop, never block and never run the loop again.  A loop belongs to one thread: none
 * of its functions may be called from another, loop_work is the way there and back. */
#pragma once
#include "base/cleanup.h"
#include "base/time.h"

#include <stddef.h>

struct loop;
struct timer;

typedef void (*loop_fn)(void *arg);

struct loop *loop_new(void);
void loop_free(struct loop *l); /* everything that lived on it must be freed before */
void loop_run(struct loop *l);  /* until loop_stop */
void loop_stop(struct loop *l);

usec_t loop_now(struct loop *l);   /* wall clock, as users read it */
usec_t loop_clock(struct loop *l); /* never jumps; for measuring spans */
void loop_random(struct loop *l, void *p, size_t n);

/* Runs once at the end of the current turn, before the loop waits again: what collects work of a
 * turn (a group commit, a flush) asks for it. */
void loop_defer(struct loop *l, loop_fn fn, void *arg);

/* Runs `work` on a thread of the pool, then `done` on the loop.  `work` touches nothing that the
 * loop's thread may touch meanwhile. */
void loop_work(struct loop *l, loop_fn work, loop_fn done, void *arg);

struct timer *timer_new(struct loop *l, loop_fn fn, void *arg);
void timer_start(struct timer *t, usec_t delay, usec_t repeat); /* repeat 0: once; restarts */
void timer_stop(struct timer *t);
void timer_free(struct timer *t); /* NULL is fine; allowed inside its own callback */

/* Calls `fn` whenever the process gets `signo`.  Not in the simulator. */
void loop_on_signal(struct loop *l, int signo, loop_fn fn, void *arg);
