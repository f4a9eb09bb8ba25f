/* SPDX-License-Identifier: Apache-2.0 */
/* Output file patterns. */
#include "text/filename.h"

#include "base/arena.h"

#include "../cm.h"

static const struct filename_values batch = {
	.job_id = 128,
	.array_task_id = 4294967294u,
	.step_id = 4294967291u,
	.step_name = "batch",
	.node_name = "n1",
	.user = "ada",
	.job_name = "train",
};

static const struct filename_values step = {
	.job_id = 130,
	.array_job_id = 128,
	.array_task_id = 23,
	.step_id = 4,
	.task_id = 7,
	.node_pos = 2,
	.restart = 1,
	.step_name = "4",
	.node_name = "gpu03",
	.user = "ada",
	.job_name = "train",
};

static void expands(void **state)
{
	(void)state;
	static const struct {
		const struct filename_values *values;
		const char *pattern, *name;
	} rows[] = {
		{ &batch, "slurm-%j.out", "slurm-128.out" },
		{ &batch, "slurm-%A_%a.out", "slurm-128_4294967294.out" },
		{ &batch, "%J-%s-%b", "128.batch-batch-4" },
		{ &step, "slurm-%A_%a.out", "slurm-128_23.out" },
		{ &step, "%A %a %b %J %j %N %n %r %s %t %u %x",
		  "128 23 3 130.4 130 gpu03 2 1 4 7 ada train" },
		{ &step, "log.%5j.%3t", "log.00130.007" },
		{ &step, "%10j %11j %99999999999j", "0000000130 0000000130 0000000130" },
		{ &step, "%4J-%3s-%2n", "0130.4-004-02" },
		{ &step, "%5x-%5u-%9N", "train-ada-gpu03" },
		{ &step, "100%%.log", "100%.log" },
		{ &step, "%%j", "%j" },
		{ &step, "100%", "100%" },
		{ &step, "%5", "%5" },
		{ &step, "%y%5z", "%y%5z" },
		{ &step, "\\%j", "%j" },
		{ &step, "a\\%j\\%t", "a%j%t" },
		{ &step, "", "" },
		{ &step, "plain", "plain" },
	};
	AUTO_ARENA struct arena *a = arena_new();
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		assert_string_equal(filename_expand(rows[i].pattern, rows[i].values, a),
				    rows[i].name);
	const struct filename_values empty = {};
	assert_string_equal(filename_expand("%N%u%x%J", &empty, a), "0.");
}

static void knows_per_task_patterns(void **state)
{
	(void)state;
	static const struct {
		const char *pattern;
		bool is_per_task;
	} rows[] = {
		{ "out.%t", true },  { "out.%3t", true }, { "out.%n", true }, { "out.%N", true },
		{ "%j.out", false }, { "%%t", false },    { "%%%t", true },   { "\\%t", false },
		{ "t%", false },     { "", false },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		if (filename_is_per_task(rows[i].pattern) != rows[i].is_per_task)
			fail_msg("%s", rows[i].pattern);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expands),
		cmocka_unit_test(knows_per_task_patterns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
