/* SPDX-License-Identifier: Apache-2.0 */
/* --export: which variables go along. */
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "client/env.h"
#include "client/exportenv.h"

#include "../cm.h"

static const char *const caller[] = {
	"A=1",       "B=two words", "EMPTY=", "HOME=/elsewhere", "SLURM_CONF=/etc/c",
	"SPANK_X=y", "SLURMX=no",   NULL
};

static const struct {
	const char *spec;
	const char *has, *lacks; /* NAME=value separated by | ; names separated by | */
} cases[] = {
	{ NULL, "A=1|B=two words|EMPTY=|HOME=/elsewhere|SLURM_CONF=/etc/c|SLURMX=no", "C" },
	{ "ALL", "A=1|HOME=/elsewhere|SPANK_X=y", "C" },
	{ "all", "A=1", "C" },
	{ "NONE", "SLURM_CONF=/etc/c|SPANK_X=y|PATH=/usr/local/bin:/usr/bin:/bin",
	  "A|B|EMPTY|SLURMX" },
	{ "NIL", "SLURM_CONF=/etc/c", "A|B|PATH|HOME" },
	{ "A", "A=1|SLURM_CONF=/etc/c", "B|EMPTY" },
	{ "A,C", "A=1", "B|C" },
	{ "FOO=1", "FOO=1|SLURM_CONF=/etc/c", "A" },
	{ "FOO=1,ALL", "FOO=1|A=1|B=two words", "C" },
	{ "ALL,A=9", "A=9|B=two words", "C" },
	{ "X='a,b',A", "X=a,b|A=1", "B" },
	{ "X=\"a=b\"", "X=a=b", "A" },
	{ "EMPTY,Y=", "EMPTY=|Y=", "A" },
};

static void check_has(const struct env *env, const char *spec, const char *list)
{
	char copy[256], *save = NULL;
	snprintf(copy, sizeof(copy), "%s", list);
	for (char *entry = strtok_r(copy, "|", &save); entry; entry = strtok_r(NULL, "|", &save)) {
		char *equals = strchr(entry, '=');
		*equals = '\0';
		const char *got = env_get(env, entry);
		if (!str_eq(got, equals + 1))
			fail_msg("--export=%s: %s is '%s' and not '%s'", spec ? spec : "", entry,
				 got ? got : "(unset)", equals + 1);
	}
}

static void variables_are_chosen(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct env env = {};
		struct error err = {};
		char lacks[256], *save = NULL;
		assert_int_equal(export_env(cases[i].spec, (char *const *)caller, &env, &err), 0);
		check_has(&env, cases[i].spec, cases[i].has);
		snprintf(lacks, sizeof(lacks), "%s", cases[i].lacks);
		for (char *name = strtok_r(lacks, "|", &save); name;
		     name = strtok_r(NULL, "|", &save))
			if (env_get(&env, name))
				fail_msg("--export=%s passes %s",
					 cases[i].spec ? cases[i].spec : "", name);
		env_done(&env);
	}
}

static void a_value_needs_a_name(void **state)
{
	(void)state;
	struct env env = {};
	struct error err = {};
	assert_true(export_env("=1", (char *const *)caller, &env, &err) < 0);
	assert_string_equal(err.text, "--export: an entry has no name");
	env_done(&env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_are_chosen),
		cmocka_unit_test(a_value_needs_a_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
