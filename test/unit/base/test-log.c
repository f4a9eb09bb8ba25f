/* SPDX-License-Identifier: Apache-2.0 */
/* The log: levels, files that are rotated away, whole lines from several threads. */
#include "base/log.h"

#include "base/buf.h"

#include "../cm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static void read_file(const char *path, struct buf *ret)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	char part[4096];
	ssize_t n;
	while ((n = read(fd, part, sizeof(part))) > 0)
		buf_put(ret, part, (size_t)n);
}

static void make_dir(char path[64])
{
	snprintf(path, 64, "/tmp/test-log.XXXXXX");
	assert_non_null(mkdtemp(path));
}

static void levels_have_names_and_numbers(void **state)
{
	(void)state;
	enum log_level level = LOG_QUIET;
	for (int i = 0; i < LOG_LEVEL_COUNT; i++) {
		char number[16];
		assert_int_equal(log_level_parse(log_level_name((enum log_level)i), &level), 0);
		assert_int_equal(level, i);
		snprintf(number, sizeof(number), "%d", i);
		assert_int_equal(log_level_parse(number, &level), 0);
		assert_int_equal(level, i);
	}
	assert_int_equal(log_level_parse("DEBUG2", &level), 0);
	assert_int_equal(level, LOG_DEBUG2);
	assert_int_equal(log_level_parse("loud", &level), -EINVAL);
	assert_int_equal(log_level_parse("8", &level), -ERANGE);
}

static void keep(void *arg, enum log_level level, const char *text)
{
	buf_printf(arg, "%d:%s|", level, text);
}

static void a_sink_gets_everything(void **state)
{
	(void)state;
	AUTO_BUF struct buf got = {};
	log_set_sink(keep, &got);
	log_info("job %u started", 7u);
	log_debug2("details");
	log_set_sink(NULL, NULL);
	assert_string_equal(buf_text(&got), "3:job 7 started|6:details|");
}

static void files_have_stamps_and_are_reopened(void **state)
{
	(void)state;
	char dir[64], path[96], moved[96];
	AUTO_BUF struct buf first = {}, second = {};
	make_dir(dir);
	snprintf(path, sizeof(path), "%s/log", dir);
	snprintf(moved, sizeof(moved), "%s/log.1", dir);
	assert_int_equal(log_reopen(), 0); /* nothing to do yet */
	log_start("test", LOG_INFO);
	assert_int_equal(log_to_file("/nonexistent/log"), -ENOENT);
	assert_int_equal(log_to_file(path), 0);
	log_info("one");
	log_error("two\n[2026-11-15T04:00:55.123] forged");
	log_debug("not shown");
	assert_int_equal(rename(path, moved), 0);
	log_info("three");
	assert_int_equal(log_reopen(), 0);
	log_set_level(LOG_DEBUG);
	assert_int_equal(log_get_level(), LOG_DEBUG);
	log_debug("four");
	read_file(moved, &first);
	read_file(path, &second);

	char *line = (char *)first.data;
	assert_int_equal(line[0], '[');
	assert_int_equal(strlen("2026-11-15T04:00:55.123"), strcspn(line + 1, "]"));
	assert_non_null(strstr(line, "] one\n"));
	assert_non_null(strstr(line, "] error: two?[2026-11-15T04:00:55.123] forged\n"));
	assert_non_null(strstr(line, "] three\n"));
	assert_null(strstr(line, "not shown"));
	assert_non_null(strstr(buf_text(&second), "] debug: four\n"));
	assert_int_equal(unlink(path) | unlink(moved) | rmdir(dir), 0);
}

/* Whoever starts a program sees why it ends, wherever the log goes. */
static void what_is_fatal_is_said_on_stderr_too(void **state)
{
	(void)state;
	char dir[64], path[96], text[200] = "";
	AUTO_BUF struct buf logged = {};
	int ends[2];
	make_dir(dir);
	snprintf(path, sizeof(path), "%s/log", dir);
	AUTO_FD int keep = dup(2);
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], 2);
	log_start("test", LOG_INFO);
	assert_int_equal(log_to_file(path), 0);
	log_error("an error");
	log_fatal("the %s", "end");
	dup2(keep, 2);
	close(ends[1]);
	assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
	close(ends[0]);
	read_file(path, &logged);
	assert_string_equal(text, "test: fatal: the end\n");
	assert_non_null(strstr(buf_text(&logged), "] error: an error\n"));
	assert_non_null(strstr(buf_text(&logged), "] fatal: the end\n"));
	assert_int_equal(unlink(path) | rmdir(dir), 0);
}

static void *write_lines(void *arg)
{
	for (int i = 0; i < 200; i++)
		log_info("%s", (const char *)arg);
	return NULL;
}

static void lines_stay_whole(void **state)
{
	(void)state;
	char dir[64], path[96], longer[8000];
	AUTO_BUF struct buf got = {};
	make_dir(dir);
	snprintf(path, sizeof(path), "%s/log", dir);
	assert_int_equal(log_to_file(path), 0);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	pthread_t threads[4];
	char *texts[4] = { "aaaa", "bbbbbbbb", longer, "c" };
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_lines, texts[i]), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	read_file(path, &got);
	int lines = 0;
	for (char *at = (char *)got.data; *at; at = strchr(at, '\n') + 1, lines++) {
		size_t len = strcspn(at, "\n");
		assert_int_equal(at[0], '[');
		assert_true(len < 4096);
		const char *text = strchr(at, ']') + 2;
		size_t same = strspn(text, (char[]) { *text, '\0' });
		assert_int_equal(text + same - at, len); /* one thread's characters only */
	}
	assert_int_equal(lines, 800);
	assert_int_equal(unlink(path) | rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_have_names_and_numbers),
		cmocka_unit_test(a_sink_gets_everything),
		cmocka_unit_test(files_have_stamps_and_are_reopened),
		cmocka_unit_test(what_is_fatal_is_said_on_stderr_too),
		cmocka_unit_test(lines_stay_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
