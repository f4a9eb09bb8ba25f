/* SPDX-License-Identifier: Apache-2.0 */
/* -m: its words, ranks to nodes, ranks to CPUs; examples worked by hand, then properties. */
#include "../cm.h"
#include "../draw.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "sched/distribution.h"
#include "sched/layout.h"
#include "schema/job.h"

#include <string.h>

/* ---- words --------------------------------------------------------------------------------------- */

#define B DIST_LEVEL_BLOCK
#define C DIST_LEVEL_CYCLIC
#define F DIST_LEVEL_FCYCLIC

static void words(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		struct distribution want;
	} good[] = {
		{ NULL, { DIST_NODES_DEFAULT, 0, C, C, false, false } },
		{ "", { DIST_NODES_DEFAULT, 0, C, C, false, false } },
		{ "*", { DIST_NODES_DEFAULT, 0, C, C, false, false } },
		{ "block", { DIST_NODES_BLOCK, 0, C, C, false, false } },
		{ "Cyclic", { DIST_NODES_CYCLIC, 0, C, C, false, false } },
		{ "arbitrary", { DIST_NODES_ARBITRARY, 0, C, C, false, false } },
		{ "plane=4", { DIST_NODES_PLANE, 4, C, C, false, false } },
		{ "block:block", { DIST_NODES_BLOCK, 0, B, B, false, false } },
		{ "block:*:fcyclic", { DIST_NODES_BLOCK, 0, C, F, false, false } },
		{ "cyclic:fcyclic:block", { DIST_NODES_CYCLIC, 0, F, B, false, false } },
		{ "block:fcyclic:*,NoPack", { DIST_NODES_BLOCK, 0, F, F, false, true } },
		{ "*:block,pack", { DIST_NODES_DEFAULT, 0, B, B, true, false } },
		{ "block,Pack", { DIST_NODES_BLOCK, 0, C, C, true, false } },
	};
	static const char *const bad[] = { "wat",          "plane",       "plane=",         "plane=0", "plane=x",
					   "block:",       "block:plane", "block:block:b",  "block,",  "block,wat",
					   "block,Pack,x", "a:b:c:d",     "block:*:*:*",    ",Pack",   "fcyclic",
					   "block,Pack:*", ":block" };
	for (size_t i = 0; i < ARRAY_COUNT(good); i++) {
		struct distribution got;
		struct error err = {};
		if (distribution_parse(good[i].text, &got, &err) < 0)
			fail_msg("'%s': %s", good[i].text, err.text);
		if (got.nodes != good[i].want.nodes || got.plane != good[i].want.plane ||
		    got.sockets != good[i].want.sockets || got.cores != good[i].want.cores ||
		    got.pack != good[i].want.pack || got.no_pack != good[i].want.no_pack)
			fail_msg("'%s' is read wrongly", good[i].text);
	}
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		struct distribution got;
		struct error err = {};
		if (distribution_parse(bad[i], &got, &err) == 0)
			fail_msg("'%s' is taken", bad[i]);
		assert_true(err.text[0]);
	}
}

static void texts(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint32_t ntasks, nodes;
		const char *want;
	} table[] = {
		{ NULL, 4, 2, "block" },
		{ NULL, 2, 2, "cyclic" },
		{ "*", 4, 2, "block" },
		{ "plane=3", 4, 2, "plane" },
		{ "cyclic:block", 4, 2, "cyclic:block" },
		{ "*:block,Pack", 4, 2, "block:block,Pack" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
		AUTO_BUF struct buf out = {};
		distribution_print(table[i].text, table[i].ntasks, table[i].nodes, &out);
		assert_string_equal(buf_text(&out), table[i].want);
	}
}

/* ---- nodes --------------------------------------------------------------------------------------- */

static void counts(void **state)
{
	(void)state;
	static const struct {
		const char *how;
		uint32_t ntasks, room[4], nodes, want[4];
	} table[] = {
		{ "block", 4, { 2, 2, 2 }, 3, { 2, 1, 1 } }, /* 3 nodes of 2 CPUs: filled evenly */
		{ "block,Pack", 4, { 2, 2, 2 }, 3, { 2, 1, 1 } },
		{ "block,Pack", 10, { 8, 8 }, 2, { 8, 2 } },
		{ "block,NoPack", 10, { 8, 8 }, 2, { 5, 5 } },
		{ "*,Pack", 6, { 4, 4, 4 }, 3, { 4, 1, 1 } },
		{ "block,Pack", 6, { 2, 9, 9 }, 3, { 2, 3, 1 } },
		{ "cyclic,Pack", 10, { 8, 8 }, 2, { 5, 5 } }, /* Pack is about block */
		{ "cyclic", 5, { 8, 8, 8 }, 3, { 2, 2, 1 } },
		{ "plane=4", 6, { 8, 8 }, 2, { 4, 2 } },
		{ "plane=2", 9, { 8, 8, 8 }, 3, { 4, 3, 2 } },
		{ "plane=4", 12, { 2, 8, 8 }, 3, { 2, 6, 4 } },
		{ NULL, 5, { 8, 8 }, 2, { 3, 2 } },
	};
	for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
		struct distribution d = distribution_of(table[i].how);
		uint32_t got[4] = {};
		layout_deal(&d, table[i].ntasks, table[i].room, table[i].nodes, got);
		for (uint32_t n = 0; n < table[i].nodes; n++)
			if (got[n] != table[i].want[n])
				fail_msg("%s of %u tasks: node %u has %u", table[i].how, table[i].ntasks, n, got[n]);
	}
}

static void ranks(void **state)
{
	(void)state;
	static const struct {
		const char *how;
		uint32_t tasks[4], nodes;
		const char *want; /* of each node */
	} table[] = {
		{ NULL, { 3, 1, 2 }, 3, "0,1,2/3/4,5/" },
		{ "block", { 2, 2 }, 2, "0,1/2,3/" },
		{ "cyclic", { 2, 2 }, 2, "0,2/1,3/" },
		{ "cyclic", { 3, 1, 2 }, 3, "0,3,5/1/2,4/" },
		{ "plane=2", { 4, 3, 2 }, 3, "0,1,6,7/2,3,8/4,5/" },
		{ "plane=4", { 4, 2 }, 2, "0,1,2,3/4,5/" },
		{ "plane=3", { 1, 1, 1 }, 3, "0/1/2/" },
		{ "arbitrary", { 2, 1 }, 2, "0,2/1/" },
	};
	static uint32_t hosts[] = { 0, 1, 0 };
	for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf got = {};
		struct node_alloc alloc[4] = {};
		struct step s = { .alloc = alloc, .n_alloc = table[i].nodes, .distribution = (char *)table[i].how };
		if (str_eq(table[i].how, "arbitrary")) {
			s.task_nodes = hosts;
			s.n_task_nodes = 3;
		}
		for (uint32_t n = 0; n < table[i].nodes; n++)
			alloc[n].tasks = table[i].tasks[n];
		for (uint32_t n = 0; n < table[i].nodes; n++) {
			uint32_t count, *ids = layout_tasks(&s, n, a, &count);
			for (uint32_t t = 0; t < count; t++)
				buf_printf(&got, "%s%u", t ? "," : "", ids[t]);
			buf_putc(&got, '/');
		}
		if (!str_eq(buf_text(&got), table[i].want))
			fail_msg("%s: %s, not %s", table[i].how, buf_text(&got), table[i].want);
	}
}

static void hosts_become_positions(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	char *names[] = { (char *)"n1", (char *)"n2", (char *)"n3" };
	uint32_t count, *at = layout_hosts("n3,n[1-2],n3", names, 3, a, &count);
	static const uint32_t want[] = { 2, 0, 1, 2 };
	assert_int_equal(count, 4);
	assert_memory_equal(at, want, sizeof(want));
	assert_null(layout_hosts("n1,n4", names, 3, a, &count));
}

/* ---- CPUs ---------------------------------------------------------------------------------------- */

static void put_set(const char *list, struct bitset *ret)
{
	for (const char *p = list; *p;) {
		char *end;
		unsigned long first = strtoul(p, &end, 10), last = first;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		bitset_add_range(ret, (uint32_t)first, (uint32_t)(last - first + 1));
		p = *end ? end + 1 : end;
	}
}

/* Nodes of 2 sockets; CPUs are counted by socket, core and thread. */
static const struct {
	struct geometry g;
	const char *cpus; /* of the step */
	const char *how;
	uint32_t tasks, cpus_per_task, threads;
	const char *want; /* of each task */
} layouts[] = {
	/* 2 sockets of 4 single-threaded cores: 0-3, 4-7 */
	{ { 2, 4, 1 }, "0-7", NULL, 4, 1, 0, "0/4/1/5/" },
	{ { 2, 4, 1 }, "0-7", "block:block", 4, 1, 0, "0/1/2/3/" },
	{ { 2, 4, 1 }, "0-7", NULL, 4, 2, 0, "0-1/4-5/2-3/6-7/" },
	{ { 2, 4, 1 }, "0-7", "*:block", 4, 2, 0, "0-1/2-3/4-5/6-7/" },
	{ { 2, 4, 1 }, "0-7", "*:fcyclic", 4, 2, 0, "0,4/1,5/2,6/3,7/" },
	{ { 2, 4, 1 }, "0-7", NULL, 2, 3, 0, "0-2/4-6/" },
	{ { 2, 4, 1 }, "0-7", "*:block", 2, 3, 0, "0-2/4-6/" }, /* one socket for all of a task */
	{ { 2, 4, 1 }, "0-7", NULL, 1, 6, 0, "0-5/" },
	{ { 2, 4, 1 }, "2-5", NULL, 2, 2, 0, "2-3/4-5/" },
	{ { 2, 4, 1 }, "1,3,5", NULL, 3, 1, 0, "1/5/3/" },
	/* 2 sockets of 2 cores with 2 threads: cores 0-1 2-3 | 4-5 6-7 */
	{ { 2, 2, 2 }, "0-7", NULL, 4, 1, 0, "0/4/2/6/" },
	{ { 2, 2, 2 }, "0-7", NULL, 8, 1, 0, "0/4/2/6/1/5/3/7/" },
	{ { 2, 2, 2 }, "0-7", "*:cyclic:block", 4, 1, 0, "0/4/1/5/" },
	{ { 2, 2, 2 }, "0-7", "*:block:block", 4, 1, 0, "0/1/2/3/" },
	{ { 2, 2, 2 }, "0-7", "*:block:cyclic", 4, 1, 0, "0/2/1/3/" },
	{ { 2, 2, 2 }, "0-7", NULL, 4, 2, 0, "0-1/4-5/2-3/6-7/" },
	{ { 2, 2, 2 }, "0-7", "*:cyclic:fcyclic", 4, 2, 0, "0,2/4,6/1,3/5,7/" },
	{ { 2, 2, 2 }, "0-7", "*:fcyclic:fcyclic", 2, 2, 0, "0,4/2,6/" },
	{ { 2, 2, 2 }, "0-7", NULL, 2, 2, 1, "0,2/4,6/" }, /* --hint=nomultithread */
	{ { 2, 2, 2 }, "0-1,4-5", NULL, 2, 2, 0, "0-1/4-5/" },
	/* more than there is: dealt out again */
	{ { 1, 2, 1 }, "0-1", NULL, 4, 1, 0, "0/1/0/1/" },
	{ { 1, 2, 1 }, "0-1", NULL, 2, 4, 0, "0-1/0-1/" },
	{ { 1, 3, 1 }, "0-2", NULL, 2, 2, 0, "0-1/0-1/" },
	/* a geometry that does not describe the node */
	{ { 0, 0, 0 }, "0-7", NULL, 4, 2, 0, "0-1/2-3/4-5/6-7/" },
	{ { 3, 3, 1 }, "0-7", NULL, 2, 1, 0, "0/1/" },
};

static void cpus(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(layouts); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf got = {};
		uint32_t bits = layouts[i].g.sockets * layouts[i].g.cores * layouts[i].g.threads;
		struct node_alloc here = { .tasks = layouts[i].tasks };
		struct step s = { .alloc = &here,
				  .n_alloc = 1,
				  .cpus_per_task = layouts[i].cpus_per_task,
				  .threads_per_core = layouts[i].threads,
				  .distribution = (char *)layouts[i].how };
		bitset_init_in(&here.cores, bits && bits < 9 ? bits : 8, a);
		put_set(layouts[i].cpus, &here.cores);
		struct bitset *sets = layout_cpus(&s, 0, layouts[i].g, a);
		for (uint32_t t = 0; t < layouts[i].tasks; t++) {
			bitset_print(&sets[t], &got);
			buf_putc(&got, '/');
		}
		if (!str_eq(buf_text(&got), layouts[i].want))
			fail_msg("%zu: -m %s, %u tasks of %u CPUs: %s, not %s", i, layouts[i].how, layouts[i].tasks,
				 layouts[i].cpus_per_task, buf_text(&got), layouts[i].want);
	}
}

/* ---- properties ---------------------------------------------------------------------------------- */

static const char *draw_words(uint64_t *seed, struct arena *a)
{
	static const char *const nodes[] = { "*", "block", "cyclic", "plane=1", "plane=3" };
	static const char *const levels[] = { "*", "block", "cyclic", "fcyclic" };
	return arena_printf(a, "%s:%s:%s%s", nodes[draw_below(seed, 5)], levels[draw_below(seed, 4)],
			    levels[draw_below(seed, 4)], draw_below(seed, 2) ? ",Pack" : "");
}

static void every_task_once(void **state)
{
	(void)state;
	uint64_t seed = 7;
	for (int round = 0; round < 20000; round++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct node_alloc alloc[6] = {};
		uint32_t nodes = 1 + draw_below(&seed, 6), room[6], dealt[6], total = 0, sum = 0;
		const char *words_drawn = draw_words(&seed, a);
		struct distribution d = distribution_of(words_drawn);
		struct step s = { .alloc = alloc, .n_alloc = nodes, .distribution = (char *)words_drawn };
		for (uint32_t n = 0; n < nodes; n++)
			total += room[n] = draw_below(&seed, 6);
		s.ntasks = draw_below(&seed, total + 1);
		layout_deal(&d, s.ntasks, room, nodes, dealt);
		for (uint32_t n = 0; n < nodes; n++) {
			assert_true(dealt[n] <= room[n]);
			alloc[n].tasks = dealt[n];
			sum += dealt[n];
		}
		assert_int_equal(sum, s.ntasks);
		struct bitset seen;
		bitset_init_in(&seen, s.ntasks + 1, a);
		for (uint32_t n = 0; n < nodes; n++) {
			uint32_t count, *ids = layout_tasks(&s, n, a, &count);
			for (uint32_t t = 0; t < count; t++) {
				assert_true(ids[t] < s.ntasks && !bitset_has(&seen, ids[t]));
				assert_true(t == 0 || ids[t] > ids[t - 1]);
				bitset_add(&seen, ids[t]);
			}
		}
		assert_int_equal(bitset_count(&seen), s.ntasks);
	}
}

static void cpus_are_apart_and_inside(void **state)
{
	(void)state;
	uint64_t seed = 11;
	for (int round = 0; round < 20000; round++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct geometry g = { 1 + draw_below(&seed, 3), 1 + draw_below(&seed, 6), 1 + draw_below(&seed, 3) };
		uint32_t bits = g.sockets * g.cores * g.threads;
		struct node_alloc here = { .tasks = 1 + draw_below(&seed, 8) };
		struct step s = { .alloc = &here,
				  .n_alloc = 1,
				  .cpus_per_task = 1 + draw_below(&seed, 4),
				  .distribution = (char *)draw_words(&seed, a) };
		struct bitset taken;
		bitset_init_in(&here.cores, bits, a);
		bitset_init_in(&taken, bits, a);
		for (uint32_t c = 0; c < bits; c++)
			if (draw_below(&seed, 3))
				bitset_add(&here.cores, c);
		bitset_add(&here.cores, draw_below(&seed, bits));
		uint32_t have = bitset_count(&here.cores);
		bool enough = have >= here.tasks * s.cpus_per_task;
		struct bitset *sets = layout_cpus(&s, 0, g, a);
		for (uint32_t t = 0; t < here.tasks; t++) {
			uint32_t want = s.cpus_per_task < have ? s.cpus_per_task : have;
			assert_int_equal(bitset_count(&sets[t]), want);
			assert_true(bitset_contains(&here.cores, &sets[t]));
			assert_false(enough && bitset_intersects(&taken, &sets[t]));
			bitset_or(&taken, &sets[t]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),           cmocka_unit_test(texts),
		cmocka_unit_test(counts),          cmocka_unit_test(ranks),
		cmocka_unit_test(cpus),            cmocka_unit_test(hosts_become_positions),
		cmocka_unit_test(every_task_once), cmocka_unit_test(cpus_are_apart_and_inside),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
