/* SPDX-License-Identifier: Apache-2.0 */
/* --constraint and --prefer from submission to the nodes a job gets.  Nodes 0, 2, 4, ... have the
 * features even and fast, the others odd. */
#include "base/buf.h"
#include "base/error.h"
#include "world.h"

#include "../cm.h"

enum { NODES = 6, CPUS = 4 };

static uint32_t submit(struct world *w, uint32_t nodes, const char *constraint, const char *prefer,
		       struct error *err)
{
	struct job_spec spec = world_spec(nodes, CPUS, 0); /* whole nodes */
	spec.request.constraint = arena_strdup(w->turn, constraint);
	spec.request.prefer = arena_strdup(w->turn, prefer);
	return world_submit(w, &spec, err);
}

/* The nodes of the job as a string of digits; empty while it waits. */
static void list_nodes(const struct world *w, uint32_t job, struct buf *out)
{
	const struct job *j = cluster_job(&w->c, job);
	for (uint32_t i = 0; i < j->n_alloc; i++)
		buf_printf(out, "%u", j->alloc[i].node);
}

static void nodes_are_those_asked_for(void **state)
{
	(void)state;
	static const struct {
		uint32_t nodes; /* 0: left open */
		const char *constraint, *prefer, *want;
	} table[] = {
		{ 1, NULL, NULL, "0" },
		{ 1, "odd", NULL, "1" },
		{ 2, "odd", NULL, "13" },
		{ 3, "even&fast", NULL, "024" },
		{ 4, "odd|even", NULL, "0123" },
		{ 1, "even|odd&odd", NULL, "1" }, /* (even|odd)&odd */
		{ 1, "odd&(even|odd)", NULL, "1" },
		{ 3, "[odd|even]", NULL, "135" },
		{ 3, "[even|odd]", NULL, "024" },
		{ 2, "fast&[odd|even]", NULL, "02" },
		{ 3, "odd*2", NULL, "013" },
		{ 4, "odd*1", NULL, "0123" },
		{ 5, "odd*3", NULL, "01235" },
		{ 0, "odd*2", NULL, "13" },
		{ 0, "[odd*2&fast*1]", NULL, "013" },
		{ 4, "[odd*2&fast*1]", NULL, "0123" },
		{ 6, "[odd*3&(even&fast)*3]", NULL, "012345" },
		{ 2, NULL, "odd", "13" },
		{ 4, NULL, "odd", "0123" },	    /* there are three: given up */
		{ 2, "even", "odd", "13" },	    /* takes the place of the constraint */
		{ 4, "odd|even", "odd", "0123" },
		{ 3, "fast", "odd*1&even*9", NULL }, /* refused */
		{ 2, "fast", "[odd*1&even*1]", "01" },
		{ 2, "fast", "[odd*2&even*2]", "02" }, /* four nodes are more than asked for */
	};
	for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
		struct world w;
		AUTO_BUF struct buf got = {};
		struct error err = {};
		world_init(&w, NODES, CPUS, 0);
		uint32_t job = submit(&w, table[i].nodes, table[i].constraint, table[i].prefer, &err);
		if ((job != 0) != (table[i].want != NULL))
			fail_msg("row %zu: %s", i, err.text);
		if (job) {
			world_plan(&w);
			list_nodes(&w, job, &got);
			assert_string_equal(buf_text(&got), table[i].want);
		}
		world_done(&w);
	}
}

static void busy_nodes_make_it_wait_or_change(void **state)
{
	(void)state;
	struct world w;
	AUTO_BUF struct buf got = {}, later = {};
	world_init(&w, NODES, CPUS, 0);
	uint32_t holder = submit(&w, 1, "odd", NULL, NULL);
	submit(&w, 1, "odd", NULL, NULL);
	assert_int_equal(world_plan(&w), 2); /* on nodes 1 and 3 */
	uint32_t soft = submit(&w, 2, NULL, "odd", NULL);
	world_plan(&w);
	list_nodes(&w, soft, &got); /* --prefer was given up: one odd node is left */
	assert_string_equal(buf_text(&got), "02");
	uint32_t same = submit(&w, 2, "[even|odd]", NULL, NULL);
	assert_int_equal(world_plan(&w), 0); /* nodes 4 and 5 are free and unlike each other */
	assert_int_equal(cluster_job(&w.c, same)->reason, JOB_REASON_RESOURCES);
	world_end_batch(&w, holder, 0, true);
	assert_int_equal(world_plan(&w), 1);
	list_nodes(&w, same, &later);
	assert_string_equal(buf_text(&later), "15");
	world_done(&w);
}

static void refusals_name_the_part(void **state)
{
	(void)state;
	static const struct {
		uint32_t nodes;
		const char *constraint, *prefer, *text;
	} table[] = {
		{ 1, "odd&&even", NULL,
		  "Invalid feature specification: --constraint: 'odd&&even': a feature is missing before '&even'" },
		{ 1, "odd&(even", NULL,
		  "Invalid feature specification: --constraint: 'odd&(even': the parenthesis of '(even' is not closed" },
		{ 1, NULL, "odd,even",
		  "Invalid feature specification: --prefer: 'odd,even': features are joined by & or |, not by ','" },
		{ 1, "odd|warp", NULL, "Invalid feature specification: --constraint: no node has 'warp'" },
		{ 1, NULL, "warp", "Invalid feature specification: --prefer: no node has 'warp'" },
		{ 2, "odd*3", NULL, "--constraint=odd*3 counts 3 nodes, but the job has at most 2" },
		{ 1, "odd&even", NULL,
		  "Requested node configuration is not available: in partition main 1 node with 'odd&even' is asked "
		  "for, 0 could be used" },
		{ 4, "[odd|even]", NULL,
		  "Requested node configuration is not available: in partition main 4 nodes with 'odd' are asked for, 3 "
		  "could be used" },
		{ 5, "odd*4", NULL,
		  "Requested node configuration is not available: in partition main 4 nodes with 'odd' are asked for, "
		  "the most there are is 3" },
		{ 6, "[fast*2&even*2]", NULL,
		  "Requested node configuration is not available: in partition main '[fast*2&even*2]' takes 4 nodes, none "
		  "of them counted twice, and there are too few for that" },
	};
	struct world w;
	world_init(&w, NODES, CPUS, 0);
	for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
		struct error err = {};
		assert_int_equal(submit(&w, table[i].nodes, table[i].constraint, table[i].prefer, &err), 0);
		assert_string_equal(err.text, table[i].text);
	}
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_those_asked_for),
		cmocka_unit_test(busy_nodes_make_it_wait_or_change),
		cmocka_unit_test(refusals_name_the_part),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
