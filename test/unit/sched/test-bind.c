/* SPDX-License-Identifier: Apache-2.0 */
/* --cpu-bind and --gpu-bind: their words, and which CPUs and GPUs each task of a node gets. */
#include "../cm.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "sched/bindlist.h"
#include "sched/cpubind.h"
#include "sched/gpubind.h"
#include "sched/taskmap.h"
#include "schema/job.h"
#include "schema/node.h"

#include <errno.h>

static void lists(void **state)
{
	(void)state;
	static const struct {
		const char *list;
		bool masks;
		const char *want[4]; /* of the first tasks; NULL: not a list */
	} table[] = {
		{ "3", false, { "3", "3", "3", "3" } },
		{ "0,1", false, { "0", "1", "0", "1" } },
		{ "0*2,5", false, { "0", "0", "5", "0" } },
		{ "0x3,c", true, { "0-1", "2-3", "0-1", "2-3" } },
		{ "0XF0*3,1", true, { "4-7", "4-7", "4-7", "0" } },
		{ "0x100000000000000000000", true, { "80", "80", "80", "80" } },
		{ "", false, { NULL } },
		{ "1,", false, { NULL } },
		{ "1,,2", false, { NULL } },
		{ "a", false, { NULL } },
		{ "0x", true, { NULL } },
		{ "1*", false, { NULL } },
		{ "1*0", false, { NULL } },
		{ "-1", false, { NULL } },
		{ "65536", false, { NULL } },
		{ "1;2", false, { NULL } },
	};
	AUTO_ARENA struct arena *a = arena_new();
	for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
		assert_int_equal(bindlist_is_valid(table[i].list, table[i].masks), table[i].want[0] != NULL);
		for (uint32_t t = 0; t < 4 && table[i].want[0]; t++) {
			AUTO_BUF struct buf text = {};
			struct bitset got = bindlist_entry(table[i].list, table[i].masks, t, a);
			bitset_print(&got, &text);
			assert_string_equal(buf_text(&text), table[i].want[t]);
		}
	}
}

static void cpu_words(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum cpubind_kind kind;
		bool quiet, verbose;
		const char *list;
		int refused;
	} table[] = {
		{ NULL, CPUBIND_AUTO, false, false, NULL, 0 },
		{ "", CPUBIND_AUTO, false, false, NULL, 0 },
		{ "v", CPUBIND_AUTO, false, true, NULL, 0 },
		{ "quiet", CPUBIND_AUTO, true, false, NULL, 0 },
		{ "none", CPUBIND_NONE, false, false, NULL, 0 },
		{ "q,no", CPUBIND_NONE, true, false, NULL, 0 },
		{ "verbose,sockets", CPUBIND_SOCKETS, false, true, NULL, 0 },
		{ "Cores", CPUBIND_CORES, false, false, NULL, 0 },
		{ "v,threads", CPUBIND_THREADS, false, true, NULL, 0 },
		{ "rank", CPUBIND_RANK, false, false, NULL, 0 },
		{ "q,map_cpu:0,1*2", CPUBIND_MAP, true, false, "0,1*2", 0 },
		{ "mask_cpu:0x3,f0", CPUBIND_MASK, false, false, "0x3,f0", 0 },
		{ "ldoms", 0, false, false, NULL, -ENOTSUP },
		{ "rank_ldom", 0, false, false, NULL, -ENOTSUP },
		{ "map_ldom:0", 0, false, false, NULL, -ENOTSUP },
		{ "map_cpu:", 0, false, false, NULL, -EINVAL },
		{ "map_cpu:x", 0, false, false, NULL, -EINVAL },
		{ "mask_cpu:0x3,", 0, false, false, NULL, -EINVAL },
		{ "wat", 0, false, false, NULL, -EINVAL },
		{ "cores,v", 0, false, false, NULL, -EINVAL },
	};
	for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
		struct cpubind got = {};
		struct error err = {};
		assert_int_equal(cpubind_parse(table[i].text, &got, &err), table[i].refused);
		if (table[i].refused)
			continue;
		assert_int_equal(got.kind, table[i].kind);
		assert_int_equal(got.quiet, table[i].quiet);
		assert_int_equal(got.verbose, table[i].verbose);
		assert_true(str_eq(got.list, table[i].list));
	}
}

static void add_list(const char *list, struct bitset *ret)
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

/* A node of 2 sockets, 2 cores each, 2 threads each: cores 0-1 2-3 | 4-5 6-7. */
static const struct {
	const char *how, *cpus;
	uint32_t tasks, cpus_per_task;
	enum cpubind_kind kind;
	const char *want; /* of each task */
} bindings[] = {
	{ NULL, "0-7", 2, 1, CPUBIND_SOCKETS, "0-3/4-7/" },
	{ NULL, "0-7", 4, 1, CPUBIND_CORES, "0-1/4-5/2-3/6-7/" },
	{ NULL, "0-7", 2, 2, CPUBIND_CORES, "0-1/4-5/" },
	{ NULL, "0-7", 8, 1, CPUBIND_THREADS, "0/4/2/6/1/5/3/7/" },
	{ NULL, "0-7", 4, 2, CPUBIND_THREADS, "0-1/4-5/2-3/6-7/" },
	{ NULL, "0-7", 3, 1, CPUBIND_ALL, "0-7/0-7/0-7/" },
	{ NULL, "0-3", 1, 1, CPUBIND_SOCKETS, "0-3/" },
	{ NULL, "0-1", 4, 1, CPUBIND_ALL, "0-1/0-1/0-1/0-1/" },
	{ "none", "0-7", 2, 1, CPUBIND_NONE, "0-7/0-7/" },
	{ "sockets", "0-5", 3, 1, CPUBIND_SOCKETS, "0-3/4-5/0-3/" },
	{ "cores", "0-7", 3, 1, CPUBIND_CORES, "0-1/4-5/2-3/" },
	{ "threads", "0-7", 3, 1, CPUBIND_THREADS, "0/4/2/" },
	{ "threads", "0-1", 3, 1, CPUBIND_THREADS, "0/1/0/" },
	{ "rank", "2-5", 5, 1, CPUBIND_RANK, "2/3/4/5/2/" },
	{ "map_cpu:7,0", "0-7", 3, 1, CPUBIND_MAP, "7/0/7/" },
	{ "map_cpu:7,0", "0-3", 2, 1, CPUBIND_MAP, "0-3!/0/" },
	{ "mask_cpu:0xf,c0", "0-7", 2, 1, CPUBIND_MASK, "0-3/6-7/" },
	{ "mask_cpu:0x1ff", "0-7", 1, 1, CPUBIND_MASK, "0-7!/" },
};

static void cpu_sets(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(bindings); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf got = {};
		struct node_alloc here = { .tasks = bindings[i].tasks };
		struct step s = { .alloc = &here,
				  .n_alloc = 1,
				  .cpus_per_task = bindings[i].cpus_per_task,
				  .cpu_bind = (char *)bindings[i].how };
		struct cpubind_node n = { .step = &s, .geometry = { 2, 2, 2 } };
		struct cpubind_result r;
		bitset_init_in(&here.cores, 8, a);
		add_list(bindings[i].cpus, &here.cores);
		cpubind_tasks(&n, a, &r);
		for (uint32_t t = 0; t < r.count; t++) {
			bitset_print(&r.tasks[t], &got);
			buf_puts(&got, r.outside[t] ? "!/" : "/");
		}
		if (!str_eq(buf_text(&got), bindings[i].want) || r.kind != bindings[i].kind)
			fail_msg("%zu: %s of %s: kind %d %s, not %s", i, bindings[i].how, bindings[i].cpus, r.kind,
				 buf_text(&got), bindings[i].want);
	}
}

/* The machine counts threads apart from cores: our CPUs 0,1 are its 0 and 4. */
static void the_machines_numbers(void **state)
{
	(void)state;
	static const uint32_t machine[] = { 0, 4, 1, 5, 2, 6, 3, 7 };
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf mask = {};
	struct node_alloc here = { .tasks = 2 };
	struct step s = { .alloc = &here, .n_alloc = 1, .cpu_bind = (char *)"map_cpu:4,3" };
	struct cpubind_node n = { .step = &s, .geometry = { 2, 2, 2 }, .machine = machine, .machine_count = 8 };
	struct cpubind_result r;
	bitset_init_in(&here.cores, 8, a);
	bitset_fill(&here.cores);
	cpubind_tasks(&n, a, &r);
	assert_true(bitset_has(&r.tasks[0], 1) && bitset_count(&r.tasks[0]) == 1);
	assert_true(bitset_has(&r.tasks[1], 6) && bitset_count(&r.tasks[1]) == 1);
	cpubind_print_mask(&n, &here.cores, &mask);
	assert_string_equal(buf_text(&mask), "0xff");
	buf_clear(&mask);
	cpubind_print_mask(&n, &r.tasks[0], &mask);
	assert_string_equal(buf_text(&mask), "0x10");
}

static void gpu_words(void **state)
{
	(void)state;
	static const char *const good[] = { "none",       "closest", "single:2",           "per_task:1", "map:0,1",
					    "map_gpu:0*2", "mask:3",  "mask_gpu:0x3,0xc",   "v,closest",  "verbose",
					    "quiet,none",  "",        "verbose,per_task:2", "q" };
	static const char *const bad[] = { "wat",   "single",  "single:",  "single:0", "per_task", "per_task:x", "map:",
					   "mask:g", "closest1", "nonesuch", "verbose,wat" };
	for (size_t i = 0; i < ARRAY_COUNT(good); i++) {
		struct gpubind b;
		struct error err = {};
		if (gpubind_parse(good[i], &b, &err) < 0)
			fail_msg("'%s': %s", good[i], err.text);
	}
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		struct gpubind b;
		struct error err = {};
		if (gpubind_parse(bad[i], &b, &err) == 0)
			fail_msg("'%s' is taken", bad[i]);
	}
}

/* A node with GPUs 0-3 close to CPUs 0-3 and 4-7 close to CPUs 4-7; the step has CPUs 0-7 and GPUs 2-5.
 * Tasks of two CPUs go round the two sockets: 0-1, 4-5, 2-3, 6-7. */
static void gpu_sets(void **state)
{
	(void)state;
	static const struct {
		const char *how;
		uint64_t per_task;
		const char *gpus[4]; /* of the four tasks */
	} cases[] = {
		{ "", 0, { "2-5", "2-5", "2-5", "2-5" } },
		{ "none", 1, { "2-5", "2-5", "2-5", "2-5" } },
		{ "", 1, { "2", "4", "3", "5" } },
		{ "", 2, { "2-3", "4-5", "2!", "2!" } }, /* more than there is: the first one */
		{ "per_task:1", 0, { "2", "4", "3", "5" } },
		{ "verbose,per_task:1", 0, { "2", "4", "3", "5" } },
		{ "single:1", 0, { "2", "4", "3", "5" } },
		{ "single:2", 0, { "2", "4", "2", "4" } },
		{ "closest", 0, { "2-3", "4-5", "2-3", "4-5" } },
		{ "map:5,4", 0, { "5", "4", "5", "4" } },
		{ "map_gpu:2*3,3", 0, { "2", "2", "2", "3" } },
		{ "map:7", 0, { "2!", "2!", "2!", "2!" } }, /* not ours */
		{ "mask:0xc,30", 0, { "2-3", "4-5", "2-3", "4-5" } },
		{ "verbose", 0, { "2-5", "2-5", "2-5", "2-5" } },
	};
	AUTO_ARENA struct arena *a = arena_new();
	struct gres_alloc gpus = { .name = (char *)"gpu" };
	struct node_alloc here = { .gres = &gpus, .n_gres = 1, .tasks = 4 };
	struct node_gres gres[2] = { { .name = (char *)"gpu", .count = 4, .files = (char *)"/dev/nvidia[0-3]" },
				     { .name = (char *)"gpu", .count = 4, .first = 4 } };
	struct step s = { .alloc = &here, .n_alloc = 1, .ntasks = 4, .cpus_per_task = 2 };
	struct node node = { .conf = { .cpus = 8, .sockets = 2, .cores_per_socket = 4, .threads_per_core = 1 },
			     .gres = gres,
			     .n_gres = 2 };
	const struct node *nodes[] = { &node };

	bitset_init_in(&gpus.devices, 8, a);
	bitset_add_range(&gpus.devices, 2, 4);
	bitset_init_in(&here.cores, 8, a);
	bitset_fill(&here.cores);
	for (uint32_t i = 0; i < 2; i++) {
		bitset_init_in(&gres[i].cores, 8, a);
		bitset_add_range(&gres[i].cores, i * 4, 4);
	}
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct gres_request each = { (char *)"gpu", NULL, cases[i].per_task };
		struct job j = { .spec.request = { .gres_per_task = &each, .n_gres_per_task = 1 } };
		struct taskmap m = { &s, &j, nodes };
		uint32_t count;
		s.gpu_bind = (char *)cases[i].how;
		struct task_place *places = taskmap_make(&m, a, &count);
		assert_int_equal(count, 4);
		for (uint32_t t = 0; t < 4; t++) {
			AUTO_BUF struct buf text = {};
			bitset_print(&places[t].gpus, &text);
			buf_puts(&text, places[t].outside ? "!" : "");
			if (!str_eq(buf_text(&text), cases[i].gpus[t]))
				fail_msg("'%s' gives task %u GPUs %s, not %s", cases[i].how, t, buf_text(&text),
					 cases[i].gpus[t]);
		}
	}
	AUTO_BUF struct buf text = {};
	gpubind_print(&gpus.devices, gres, 2, &text);
	assert_string_equal(buf_text(&text), "2-5 (/dev/nvidia2,/dev/nvidia3)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),     cmocka_unit_test(cpu_words), cmocka_unit_test(cpu_sets),
		cmocka_unit_test(gpu_words), cmocka_unit_test(gpu_sets),  cmocka_unit_test(the_machines_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
