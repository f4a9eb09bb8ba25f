/* SPDX-License-Identifier: Apache-2.0 */
/* Files: what is written is there, replaced whole, listed in order, and refused with the right word. */
#include "base/buf.h"
#include "base/error.h"
#include "host/disk.h"

#include "../cm.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct place {
	char root[64];
	struct disk *disk;
};

static void test_append_sync_truncate(void **state)
{
	struct place *p = *state;
	struct disk_file *f = NULL;
	assert_int_equal(disk_append_open(p->disk, "log", &f, NULL), 0);
	assert_int_equal(disk_append(f, "hello ", 6), 0);
	assert_int_equal(disk_append(f, "world", 5), 0);
	assert_int_equal(disk_sync(f), 0);
	assert_int_equal(disk_size(f), 11);
	disk_file_close(f);
	assert_int_equal(disk_append_open(p->disk, "log", &f, NULL), 0);
	assert_int_equal(disk_size(f), 11);
	assert_int_equal(disk_truncate(f, 5), 0);
	assert_int_equal(disk_append(f, "!", 1), 0);
	disk_file_close(f);
	AUTO_BUF struct buf got = {};
	assert_int_equal(disk_read(p->disk, "log", &got), 0);
	assert_string_equal(buf_text(&got), "hello!");
	struct stat st;
	AUTO_BUF struct buf path = {};
	buf_printf(&path, "%s/log", p->root);
	assert_int_equal(stat(buf_text(&path), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_failed_append_leaves_nothing_behind(void **state)
{
	struct place *p = *state;
	struct disk_file *f = NULL;
	assert_int_equal(disk_append_open(p->disk, "log", &f, NULL), 0);
	assert_int_equal(disk_append(f, "0123456789", 10), 0);
	struct rlimit old, lim;
	getrlimit(RLIMIT_FSIZE, &old);
	lim = old;
	lim.rlim_cur = 15; /* the kernel takes five more bytes, then says EFBIG */
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &lim);
	int r = disk_append(f, "abcdefghij", 10);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(r, -EFBIG);
	assert_int_equal(disk_size(f), 10);
	disk_file_close(f);
	AUTO_BUF struct buf got = {};
	assert_int_equal(disk_read(p->disk, "log", &got), 0);
	assert_string_equal(buf_text(&got), "0123456789");
}

static void test_replace_and_rename(void **state)
{
	struct place *p = *state;
	assert_int_equal(disk_mkdir(p->disk, "sub", 0700), 0);
	assert_int_equal(disk_mkdir(p->disk, "sub", 0700), 0);
	assert_int_equal(disk_replace(p->disk, "sub/a", "one", 3), 0);
	assert_int_equal(disk_replace(p->disk, "sub/a", "second", 6), 0);
	AUTO_BUF struct buf got = {};
	assert_int_equal(disk_read(p->disk, "sub/a", &got), 0);
	assert_string_equal(buf_text(&got), "second");
	assert_int_equal(disk_rename(p->disk, "sub/a", "b"), 0);
	buf_clear(&got);
	assert_int_equal(disk_read(p->disk, "sub/a", &got), -ENOENT);
	assert_int_equal(got.len, 0);
	assert_int_equal(disk_read(p->disk, "b", &got), 0);
	assert_int_equal(disk_remove(p->disk, "b"), 0);
	assert_int_equal(disk_remove(p->disk, "b"), -ENOENT);
	assert_int_equal(disk_replace(p->disk, "none/a", "x", 1), -ENOENT);
}

static void collect(void *arg, const char *name)
{
	buf_printf(arg, "%s ", name);
}

static void test_list_is_sorted(void **state)
{
	struct place *p = *state;
	static const char *const names[] = { "b", "a-10", "a-2", ".hidden" };
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		assert_int_equal(disk_replace(p->disk, names[i], "x", 1), 0);
	AUTO_BUF struct buf got = {};
	assert_int_equal(disk_list(p->disk, ".", collect, &got), 0);
	assert_string_equal(buf_text(&got), ".hidden a-10 a-2 b ");
	assert_int_equal(disk_list(p->disk, "none", collect, &got), -ENOENT);
}

static void test_open_failures_are_said(void **state)
{
	struct place *p = *state;
	struct error err = {};
	struct disk *d = NULL;
	assert_int_equal(disk_open("/no/such/place", 0700, &d, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/no/such/place"));
	assert_int_equal(disk_open("/etc/passwd", 0700, &d, &err), -ENOTDIR);
	struct disk_file *f = NULL;
	assert_int_equal(disk_append_open(p->disk, "none/x", &f, &err), -ENOENT);
	assert_non_null(strstr(err.text, "none/x"));
	assert_null(d);
	assert_null(f);
}

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	snprintf(p->root, sizeof(p->root), "/tmp/muster-disk-XXXXXX");
	if (!p || !mkdtemp(p->root))
		return -1;
	*state = p;
	return disk_open(p->root, 0700, &p->disk, NULL);
}

static void remove_one(void *arg, const char *name)
{
	struct place *p = arg;
	int r = disk_remove(p->disk, name);
	assert_true(r == 0 || r == -EISDIR || r == -EPERM);
}

static int teardown(void **state)
{
	struct place *p = *state;
	AUTO_BUF struct buf sub = {};
	buf_printf(&sub, "%s/sub", p->root);
	rmdir(buf_text(&sub));
	int r = disk_list(p->disk, ".", remove_one, p);
	disk_close(p->disk);
	rmdir(p->root);
	free(p);
	return r;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_append_sync_truncate, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failed_append_leaves_nothing_behind, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_replace_and_rename, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list_is_sorted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_open_failures_are_said, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
