/* SPDX-License-Identifier: Apache-2.0 */
/* The words for a node's state, and what sinfo -t makes of them. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "client/node_state.h"
#include "schema/node.h"

#include "../cm.h"

#define F(name) (1u << NODE_FLAG_##name)

static const struct {
	enum node_state base;
	uint32_t flags;
	const char *complete, *word, *short_word;
} words[] = {
	{ NODE_STATE_IDLE, 0, "IDLE", "IDLE", "IDLE" },
	{ NODE_STATE_IDLE, F(DRAIN), "IDLE+DRAIN", "DRAINED", "DRAIN" },
	{ NODE_STATE_IDLE, F(PLANNED), "IDLE+PLANNED", "PLANNED", "PLND" },
	{ NODE_STATE_IDLE, F(PLANNED) | F(NO_RESPOND), "IDLE*+PLANNED", "PLANNED*", "PLND*" },
	{ NODE_STATE_IDLE, F(NO_RESPOND), "IDLE*", "IDLE*", "IDLE*" },
	{ NODE_STATE_IDLE, F(COMPLETING), "IDLE+COMPLETING", "COMPLETING", "COMP" },
	{ NODE_STATE_IDLE, F(COMPLETING) | F(DRAIN), "IDLE+COMPLETING+DRAIN", "DRAINING", "DRNG" },
	{ NODE_STATE_IDLE, F(FAIL), "IDLE+FAIL", "FAIL", "FAIL" },
	{ NODE_STATE_MIXED, 0, "MIXED", "MIXED", "MIX" },
	{ NODE_STATE_MIXED, F(PLANNED), "MIXED+PLANNED", "MIXED-", "MIX-" },
	{ NODE_STATE_MIXED, F(COMPLETING), "MIXED+COMPLETING", "MIXED+", "MIX+" },
	{ NODE_STATE_MIXED, F(DRAIN), "MIXED+DRAIN", "DRAINING", "DRNG" },
	{ NODE_STATE_MIXED, F(FAIL), "MIXED+FAIL", "FAILING", "FAILG" },
	{ NODE_STATE_ALLOCATED, 0, "ALLOCATED", "ALLOCATED", "ALLOC" },
	{ NODE_STATE_ALLOCATED, F(COMPLETING), "ALLOCATED+COMPLETING", "ALLOCATED+", "ALLOC+" },
	{ NODE_STATE_ALLOCATED, F(NO_RESPOND) | F(DRAIN), "ALLOCATED*+DRAIN", "DRAINING*",
	  "DRNG*" },
	{ NODE_STATE_DOWN, 0, "DOWN", "DOWN", "DOWN" },
	{ NODE_STATE_DOWN, F(NO_RESPOND), "DOWN*", "DOWN*", "DOWN*" },
	{ NODE_STATE_DOWN, F(NO_RESPOND) | F(DRAIN), "DOWN*+DRAIN", "DRAINED*", "DRAIN*" },
	{ NODE_STATE_UNKNOWN, F(NO_RESPOND), "UNKNOWN*", "UNKNOWN*", "UNK*" },
	{ NODE_STATE_FUTURE, 0, "FUTURE", "FUTURE", "FUTR" },
};

static void words_are_composed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
		struct node_status s = { words[i].base, words[i].flags };
		AUTO_BUF struct buf complete = {}, word = {}, short_word = {};
		node_status_print(s, &complete);
		node_status_print_word(s, false, &word);
		node_status_print_word(s, true, &short_word);
		assert_string_equal(buf_text(&complete), words[i].complete);
		assert_string_equal(buf_text(&word), words[i].word);
		assert_string_equal(buf_text(&short_word), words[i].short_word);
	}
}

static void records_become_states(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	struct node n = { .registered = true, .responding = true, .conf.cpus = 4 };
	bitset_init_in(&n.used_cores, 4, a);
	assert_int_equal(node_status_of(&n).base, NODE_STATE_IDLE);
	n.job_count = 1;
	bitset_add(&n.used_cores, 1);
	assert_int_equal(node_status_of(&n).base, NODE_STATE_MIXED);
	n.exclusive_job = 7;
	assert_int_equal(node_status_of(&n).base, NODE_STATE_ALLOCATED);
	n.exclusive_job = 0;
	bitset_fill(&n.used_cores);
	assert_int_equal(node_status_of(&n).base, NODE_STATE_ALLOCATED);
	n.completing_count = 1; /* its only job cleans up */
	assert_int_equal(node_status_of(&n).base, NODE_STATE_IDLE);
	assert_int_equal(node_status_of(&n).flags, F(COMPLETING));
	n.down = n.drain = true;
	n.responding = false;
	assert_int_equal(node_status_of(&n).base, NODE_STATE_DOWN);
	assert_int_equal(node_status_of(&n).flags, F(COMPLETING) | F(DRAIN) | F(NO_RESPOND));
	n = (struct node) {};
	assert_int_equal(node_status_of(&n).base, NODE_STATE_UNKNOWN);
}

static const struct {
	const char *list;
	enum node_state base;
	uint32_t flags;
	bool matches;
} filters[] = {
	{ "idle", NODE_STATE_IDLE, 0, true },
	{ "idle", NODE_STATE_IDLE, F(DRAIN), true }, /* the base state counts, whatever the flags */
	{ "IDLE,mix", NODE_STATE_MIXED, 0, true },
	{ "idle,mix", NODE_STATE_DOWN, 0, false },
	{ "drain", NODE_STATE_MIXED, F(DRAIN), true },
	{ "drained", NODE_STATE_MIXED, F(DRAIN), false },
	{ "drained", NODE_STATE_IDLE, F(DRAIN), true },
	{ "draining", NODE_STATE_MIXED, F(DRAIN), true },
	{ "drng", NODE_STATE_IDLE, F(DRAIN), false },
	{ "idle+drain", NODE_STATE_IDLE, F(DRAIN), true },
	{ "idle+drain", NODE_STATE_IDLE, 0, false },
	{ "~drain", NODE_STATE_IDLE, 0, true },
	{ "~drain", NODE_STATE_IDLE, F(DRAIN), false },
	{ "idle+~drain,down", NODE_STATE_IDLE, F(DRAIN), false },
	{ "idle+~drain,down", NODE_STATE_DOWN, F(DRAIN), true },
	{ "planned", NODE_STATE_IDLE, F(PLANNED), true },
	{ "no_respond", NODE_STATE_DOWN, F(NO_RESPOND), true },
	{ "maint,resv,powered_down", NODE_STATE_IDLE, 0, false },
	{ "all", NODE_STATE_DOWN, 0, true },
};

static void states_are_matched(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(filters); i++) {
		struct node_status s = { filters[i].base, filters[i].flags };
		assert_int_equal(node_states_check(filters[i].list, NULL), 0);
		if (node_states_match(filters[i].list, s) != filters[i].matches)
			fail_msg("%s, row %zu", filters[i].list, i);
	}
	struct error err = {};
	assert_true(node_states_check("idle,banana", &err) < 0);
	assert_true(strstr(err.text, "'banana'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_composed),
		cmocka_unit_test(records_become_states),
		cmocka_unit_test(states_are_matched),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
