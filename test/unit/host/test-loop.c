/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: what runs when, and what may be freed where. */
#include "host/loop.h"

#include "../cm.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct trace {
	struct loop *loop;
	char text[64];
	size_t len;
	int count;
	struct timer *timer;
	usec_t at;
	pthread_t thread;
	bool other_thread;
};

static void add(struct trace *t, char c)
{
	t->text[t->len++] = c;
	t->text[t->len] = 0;
}

static void add_c(void *arg)
{
	add(arg, 'c');
	loop_stop(((struct trace *)arg)->loop);
}

static void add_b(void *arg)
{
	struct trace *t = arg;
	add(t, 'b');
	loop_defer(t->loop, add_c, t);
}

static void add_a(void *arg)
{
	add(arg, 'a');
}

static void test_defer_runs_in_order_and_chains(void **state)
{
	(void)state;
	struct trace t = { .loop = loop_new() };
	loop_defer(t.loop, add_a, &t);
	loop_defer(t.loop, add_b, &t);
	loop_defer(t.loop, add_a, &t);
	loop_run(t.loop);
	assert_string_equal(t.text, "abac");
	loop_free(t.loop);
}

static void defer_for_ever(void *arg)
{
	struct trace *t = arg;
	t->count++;
	loop_defer(t->loop, defer_for_ever, t);
}

static void stop(void *arg)
{
	loop_stop(((struct trace *)arg)->loop);
}

static void test_endless_defer_does_not_starve_timers(void **state)
{
	(void)state;
	struct trace t = { .loop = loop_new() };
	t.timer = timer_new(t.loop, stop, &t);
	timer_start(t.timer, 2 * USEC_PER_MSEC, 0);
	loop_defer(t.loop, defer_for_ever, &t);
	loop_run(t.loop);
	assert_true(t.count > 8);
	timer_free(t.timer);
	loop_free(t.loop);
}

static void tick(void *arg)
{
	struct trace *t = arg;
	if (++t->count < 3)
		return;
	timer_free(t->timer); /* inside its own callback */
	loop_stop(t->loop);
}

static void test_timer_repeats_and_is_never_early(void **state)
{
	(void)state;
	struct trace t = { .loop = loop_new() };
	t.timer = timer_new(t.loop, tick, &t);
	usec_t start = loop_clock(t.loop);
	timer_start(t.timer, 3 * USEC_PER_MSEC, 2 * USEC_PER_MSEC);
	loop_run(t.loop);
	assert_int_equal(t.count, 3);
	/* libuv counts whole milliseconds of a clock that started at an unknown fraction */
	assert_true(loop_clock(t.loop) - start >= 6 * USEC_PER_MSEC);
	loop_free(t.loop);
}

static void work(void *arg)
{
	struct trace *t = arg;
	t->other_thread = !pthread_equal(pthread_self(), t->thread);
}

static void work_done(void *arg)
{
	struct trace *t = arg;
	assert_true(pthread_equal(pthread_self(), t->thread));
	add(t, 'w');
	loop_stop(t->loop);
}

static void test_work_runs_elsewhere_and_returns(void **state)
{
	(void)state;
	struct trace t = { .loop = loop_new(), .thread = pthread_self() };
	loop_work(t.loop, work, work_done, &t);
	loop_run(t.loop);
	assert_string_equal(t.text, "w");
	assert_true(t.other_thread);
	loop_free(t.loop);
}

static void raise_signal(void *arg)
{
	(void)arg;
	raise(SIGUSR1);
}

static void test_signal_arrives_on_the_loop(void **state)
{
	(void)state;
	struct trace t = { .loop = loop_new() };
	loop_on_signal(t.loop, SIGUSR1, add_c, &t);
	loop_defer(t.loop, raise_signal, NULL);
	loop_run(t.loop);
	assert_string_equal(t.text, "c");
	loop_free(t.loop);
}

static void test_clocks_and_random(void **state)
{
	(void)state;
	struct loop *l = loop_new();
	usec_t now = loop_now(l), wall = (usec_t)time(NULL) * USEC_PER_SEC;
	assert_true(now >= wall - USEC_PER_SEC && now <= wall + 2 * USEC_PER_SEC);
	assert_true(loop_clock(l) <= loop_clock(l));
	uint64_t a[4] = {}, b[4] = {};
	loop_random(l, a, sizeof(a));
	loop_random(l, b, sizeof(b));
	assert_memory_not_equal(a, b, sizeof(a));
	loop_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defer_runs_in_order_and_chains),
		cmocka_unit_test(test_endless_defer_does_not_starve_timers),
		cmocka_unit_test(test_timer_repeats_and_is_never_early),
		cmocka_unit_test(test_work_runs_elsewhere_and_returns),
		cmocka_unit_test(test_signal_arrives_on_the_loop),
		cmocka_unit_test(test_clocks_and_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
