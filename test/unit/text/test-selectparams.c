/* SPDX-License-Identifier: Apache-2.0 */
/* SelectTypeParameters: every word, and those that are refused. */
#include "text/selectparams.h"

#include "base/buf.h"
#include "base/error.h"

#include "../cm.h"

static void reads_rules(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "" },
		{ "CR_Core_Memory", "" },
		{ "CR_CORE", " ignores_memory" },
		{ "CR_CPU_Memory", " by_cpu" },
		{ "cr_socket_memory,CR_LLN", " by_socket least_loaded" },
		{ "CR_Core_Memory,CR_ONE_TASK_PER_CORE,CR_Pack_Nodes", " one_task_per_core pack_nodes" },
		{ "CR_Memory", "CR_Memory is not built yet" },
		{ "CR_Core,CR_CPU", "'CR_Core,CR_CPU': one of CR_Core, CR_CPU and CR_Socket" },
		{ "CR_Cores",
		  "'CR_Cores' is not known: write CR_Core, CR_CPU or CR_Socket, each with or without _Memory, "
		  "CR_ONE_TASK_PER_CORE, CR_Pack_Nodes, CR_LLN" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		AUTO_BUF struct buf out = {};
		struct select_rules r;
		struct error err = {};
		if (select_rules_parse(rows[i].text, &r, &err) < 0)
			buf_puts(&out, err.text);
		else
			buf_printf(&out, "%s%s%s%s%s%s", r.by_cpu ? " by_cpu" : "", r.by_socket ? " by_socket" : "",
				   r.ignores_memory ? " ignores_memory" : "",
				   r.one_task_per_core ? " one_task_per_core" : "", r.pack_nodes ? " pack_nodes" : "",
				   r.least_loaded ? " least_loaded" : "");
		assert_string_equal(buf_text(&out), rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(reads_rules) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
