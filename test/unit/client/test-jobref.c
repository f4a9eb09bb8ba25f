/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs as users name them, and lines into words and pairs. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "client/jobref.h"
#include "client/words.h"
#include "schema/messages.h"

#include "../cm.h"

static const struct {
	const char *text, *refs; /* NULL: refused */
} cases[] = {
	{ "36", "36" },
	{ "36,37 , 38", "36 37 38" },
	{ "36_4", "36_4" },
	{ "36_*", "36" },
	{ "36_[1-3,7]", "36_1 36_2 36_3 36_7" },
	{ "36_[1,3],40", "36_1 36_3 40" },
	{ "36_[0-6:3]", "36_0 36_3 36_6" },
	{ "36.0", "36.0" },
	{ "36_4.batch", "36_4.4294967291" },
	{ "36_[1-2].5", "36_1.5 36_2.5" },
	{ "36.extern,36.interactive", "36.4294967292 36.4294967290" },
	{ "", "" },
	{ "abc", NULL },
	{ "0", NULL },
	{ "36x", NULL },
	{ "-1", NULL },
	{ "36_", NULL },
	{ "36_[", NULL },
	{ "36_[]", NULL },
	{ "36_[x]", NULL },
	{ "36_4.x", NULL },
	{ "36.", NULL },
	{ "36+1", NULL },
	{ "4294967296", NULL },
	{ "36_[0-99999999]", NULL },
};

static void references_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf text = {};
		struct jobrefs refs = {};
		struct error err = {};
		int r = jobrefs_parse(cases[i].text, a, &refs, &err);
		if ((r < 0) != !cases[i].refs)
			fail_msg("'%s': %d %s", cases[i].text, r, err.text);
		for (size_t k = 0; k < refs.at.count && r >= 0; k++) {
			const struct jobref *j = &refs.at.at[k];
			buf_printf(&text, "%s%u", k ? " " : "", j->id);
			if (j->task != JOBREF_NO_TASK)
				buf_printf(&text, "_%u", j->task);
			if (j->has_step)
				buf_printf(&text, ".%u", j->step);
		}
		if (r >= 0)
			assert_string_equal(buf_text(&text), cases[i].refs);
		vec_done(&refs.at);
	}
}

static void filters_carry_ids_and_tasks(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	struct jobrefs refs = {};
	struct job_filter f = {};
	assert_int_equal(jobrefs_parse("7,8_2", a, &refs, NULL), 0);
	jobrefs_to_filter(&refs, a, &f);
	assert_int_equal(f.n_ids, 2);
	assert_int_equal(f.n_tasks, 2);
	assert_int_equal(f.tasks[0], UINT32_MAX);
	assert_int_equal(f.ids[1], 8);
	assert_int_equal(f.tasks[1], 2);
	vec_done(&refs.at);
}

static const struct {
	const char *line, *words; /* joined by `|`; NULL: refused */
} lines[] = {
	{ "show job 7", "show|job|7" },
	{ "  a \t b\n", "a|b" },
	{ "", "" },
	{ "reason=\"bad dimm\" x", "reason=bad dimm|x" },
	{ "reason='it said \"no\"'", "reason=it said \"no\"" },
	{ "a\"b c\"d", "ab cd" },
	{ "\"\" x", "|x" },
	{ "x \"open", NULL },
};

static void lines_are_split(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf text = {};
		char **words;
		int count;
		int r = words_split(lines[i].line, a, &words, &count, NULL);
		assert_int_equal(r < 0, lines[i].words == NULL);
		for (int k = 0; k < count && r >= 0; k++)
			buf_printf(&text, "%s%s", k ? "|" : "", words[k]);
		if (r >= 0)
			assert_string_equal(buf_text(&text), lines[i].words);
	}
}

static void pairs_are_split(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	struct conf_line pair;
	assert_int_equal(pair_split("Reason=bad, very=bad", a, &pair, NULL), 0);
	assert_string_equal(pair.key, "Reason");
	assert_string_equal(pair.value, "bad, very=bad");
	assert_int_equal(pair_split("Features=", a, &pair, NULL), 0);
	assert_string_equal(pair.value, "");
	struct error err = {};
	assert_true(pair_split("banana", a, &pair, &err) < 0);
	assert_string_equal(err.text, "'banana' is not Key=Value");
	assert_true(pair_split("=x", a, &pair, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(references_are_read),
		cmocka_unit_test(filters_carry_ids_and_tasks),
		cmocka_unit_test(lines_are_split),
		cmocka_unit_test(pairs_are_split),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
