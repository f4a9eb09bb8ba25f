/* SPDX-License-Identifier: Apache-2.0 */
/* Users and groups, with root as the one that every machine has. */
#include "host/user.h"

#include "base/error.h"

#include "../cm.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_names(void **state)
{
	(void)state;
	char name[64];
	for (int i = 0; i < 2; i++) { /* the second time from the cache */
		assert_int_equal(user_name(0, name, sizeof(name)), 0);
		assert_string_equal(name, "root");
		assert_int_equal(group_name(0, name, sizeof(name)), 0);
		assert_string_equal(name, "root");
		assert_int_equal(user_name(3999999999u, name, sizeof(name)), -ENOENT);
		assert_string_equal(name, "3999999999");
	}
	char tiny[3];
	assert_int_equal(user_name(0, tiny, sizeof(tiny)), 0);
	assert_string_equal(tiny, "ro");
}

static void test_numbers(void **state)
{
	(void)state;
	uid_t uid = 7;
	assert_int_equal(user_uid("root", &uid), 0);
	assert_int_equal(uid, 0);
	assert_int_equal(user_uid("3999999999", &uid), 0);
	assert_int_equal(uid, 3999999999u);
	static const char *const wrong[] = { "",           "no such user", "-1",
					     "4294967295", "4294967296",   "1x" };
	for (size_t i = 0; i < ARRAY_COUNT(wrong); i++)
		assert_int_equal(user_uid(wrong[i], &uid), -ENOENT);
	gid_t gid;
	assert_int_equal(group_gid("root", &gid), 0);
	assert_int_equal(gid, 0);
	assert_int_equal(group_gid("no such group", &gid), -ENOENT);
}

static void test_lookup_and_groups(void **state)
{
	(void)state;
	struct user_info u;
	assert_int_equal(user_lookup(0, &u), 0);
	assert_string_equal(u.name, "root");
	assert_int_equal(u.home[0], '/');
	assert_int_equal(u.shell[0], '/');
	assert_int_equal(user_lookup(3999999999u, &u), -ENOENT);
	AUTO_FREE uint32_t *groups = NULL;
	uint32_t count = 0;
	assert_int_equal(user_groups("root", 4321, &groups, &count), 0);
	bool found = false;
	for (uint32_t i = 0; i < count; i++)
		found |= groups[i] == 4321;
	assert_true(found);
}

/* In a process of its own: there is no way back. */
static void test_become(void **state)
{
	(void)state;
	struct error err = {};
	assert_int_equal(user_become(geteuid(), &err), 0);
	if (geteuid() != 0) {
		assert_int_equal(user_become(0, &err), -EPERM);
		assert_non_null(strstr(err.text, "only one of root can"));
		return;
	}
	uid_t nobody;
	assert_int_equal(user_become(3999999999u, &err), -ENOENT);
	assert_int_equal(user_uid("nobody", &nobody), 0);
	pid_t pid = fork();
	if (pid == 0) {
		gid_t groups[64];
		struct user_info u;
		bool good = user_lookup(nobody, &u) == 0 && user_become(nobody, NULL) == 0;
		good = good && getuid() == nobody && geteuid() == nobody && getgid() == u.gid &&
		       getegid() == u.gid;
		int count = getgroups(64, groups);
		for (int i = 0; i < count; i++)
			good = good && groups[i] != 0;
		_exit(good && count >= 0 && setuid(0) < 0 && setgid(0) < 0 ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_lookup_and_groups),
		cmocka_unit_test(test_become),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
