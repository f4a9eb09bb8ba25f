/* SPDX-License-Identifier: Apache-2.0 */
/* Which CPUs of the machine the tasks of a step are bound to. */
#include "../cm.h"

#include "base/arena.h"
#include "sched/layout.h"
#include "slurmstepd/stepd.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *cpus;      /* the machine's numbers in our order */
	const char *bind;      /* --cpu-bind */
	uint32_t first, count; /* the step's CPUs, of 8 */
	uint32_t cpus_per_task, tasks, task;
	bool batch;
	const char *want; /* NULL: not bound */
} cases[] = {
	{ "0-7", NULL, 0, 4, 1, 4, 0, false, "0" },
	{ "0-7", NULL, 0, 4, 1, 3, 2, false, "0-3" }, /* neither sockets nor cores nor threads: shared */
	{ "0,4,1,5,2,6,3,7", "map_cpu:4,1", 0, 4, 1, 2, 0, false, "4" },
	{ "0-7", "mask_cpu:3,c", 0, 4, 1, 2, 1, false, "2-3" },
	{ "0-7", "map_cpu:7", 0, 4, 1, 1, 0, false, "0-3" }, /* not the step's */
	{ "0-7", NULL, 0, 4, 1, 4, 3, false, "3" },
	{ "0-7", NULL, 2, 4, 2, 2, 1, false, "4-5" },
	{ "0,4,1,5,2,6,3,7", NULL, 0, 4, 2, 2, 1, false, "1,5" },
	{ "0-7", NULL, 0, 2, 1, 4, 3, false, "0-1" }, /* too few for all: shared */
	{ "0-7", NULL, 2, 3, 1, 1, 0, true, "2-4" },  /* a script has all of them */
	{ "0-7", "none", 0, 4, 1, 4, 0, false, NULL },
	{ "0-7", "quiet,none", 0, 4, 1, 4, 0, false, NULL },
	{ "0-7", "sockets", 0, 4, 1, 4, 0, false, "0-3" },
	{ "0-7", "cores", 0, 4, 1, 4, 2, false, "2" },
	{ "0-3", NULL, 2, 4, 1, 4, 0, false, NULL }, /* the machine has not so many */
	{ NULL, NULL, 0, 4, 1, 4, 0, false, NULL },
};

static void test_affinity(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf text = {};
		struct node_alloc alloc = { .tasks = cases[i].tasks };
		struct task task = { .local_id = cases[i].task };
		struct stepd s = { .cpus = cases[i].cpus, .task_count = cases[i].tasks };
		struct bitset got = {};
		cpu_set_t set;

		bitset_init_in(&alloc.cores, 8, a);
		bitset_add_range(&alloc.cores, cases[i].first, cases[i].count);
		s.launch.step_id = cases[i].batch ? STEP_BATCH : 0;
		s.launch.step.alloc = &alloc;
		s.launch.step.n_alloc = 1;
		s.launch.step.cpus_per_task = cases[i].cpus_per_task;
		s.launch.step.cpu_bind = (char *)cases[i].bind;
		s.arena = a;
		affinity_plan(&s);
		assert_int_equal(affinity_of(&s, &task, &set), cases[i].want != NULL);
		if (!cases[i].want)
			continue;
		bitset_init_in(&got, 8, a);
		for (uint32_t c = 0; c < 8; c++)
			if (CPU_ISSET(c, &set))
				bitset_add(&got, c);
		bitset_print(&got, &text);
		assert_string_equal(buf_text(&text), cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_affinity),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
