/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: code and text, wrapped on the way up, never longer than they may be. */
#include "base/error.h"

#include "../cm.h"

#include <errno.h>
#include <string.h>

static void sets_and_wraps(void **state)
{
	(void)state;
	struct error err = {};
	assert_int_equal(error_set(&err, -ENOENT, "no node '%s'", "n9"), -ENOENT);
	assert_int_equal(err.code, -ENOENT);
	assert_string_equal(err.text, "no node 'n9'");
	assert_int_equal(error_wrap(&err, -EINVAL, "partition %s", "gpu"), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	assert_string_equal(err.text, "partition gpu: no node 'n9'");
	assert_int_equal(error_set(NULL, -EIO, "nobody reads this"), -EIO);
	assert_int_equal(error_wrap(NULL, -EIO, "nor this"), -EIO);
}

static void long_texts_are_cut(void **state)
{
	(void)state;
	char longer[2 * ERROR_TEXT_MAX];
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	struct error err = {};
	error_set(&err, -EINVAL, "%s", longer);
	assert_int_equal(strlen(err.text), ERROR_TEXT_MAX - 1);
	error_wrap(&err, -EINVAL, "file %s", "a");
	assert_int_equal(strlen(err.text), ERROR_TEXT_MAX - 1);
	assert_memory_equal(err.text, "file a: xxx", 11);
	error_wrap(&err, -EINVAL, "%s", longer);
	assert_int_equal(strlen(err.text), ERROR_TEXT_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_and_wraps),
		cmocka_unit_test(long_texts_are_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
