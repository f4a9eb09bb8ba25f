/* SPDX-License-Identifier: Apache-2.0 */
/* Signals by name and number. */
#include "text/signame.h"

#include "../cm.h"

#include <errno.h>
#include <signal.h>

static void parses(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int code, number;
	} rows[] = {
		{ "TERM", 0, SIGTERM },
		{ "SIGUSR1", 0, SIGUSR1 },
		{ "sigkill", 0, SIGKILL },
		{ "usr2", 0, SIGUSR2 },
		{ "9", 0, 9 },
		{ "64", 0, 64 },
		{ "0", -EINVAL, 77 },
		{ "65", -EINVAL, 77 },
		{ "-9", -EINVAL, 77 },
		{ "", -EINVAL, 77 },
		{ "SIG", -EINVAL, 77 },
		{ "TERMX", -EINVAL, 77 },
		{ "SIGSIGTERM", -EINVAL, 77 },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		int number = 77;
		assert_int_equal(signame_parse(rows[i].text, &number), rows[i].code);
		assert_int_equal(number, rows[i].number);
	}
}

static void reads_what_it_prints(void **state)
{
	(void)state;
	int named = 0;
	for (int signo = 1; signo <= 64; signo++) {
		const char *name = signame_print(signo);
		int back = 0;
		if (name[0] == '?')
			continue;
		named++;
		assert_int_equal(signame_parse(name, &back), 0);
		assert_int_equal(back, signo);
	}
	assert_int_equal(named, 30); /* all but SIGSTKFLT and the real-time ones */
	assert_string_equal(signame_print(0), "?");
	assert_string_equal(signame_print(-1), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses),
		cmocka_unit_test(reads_what_it_prints),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
