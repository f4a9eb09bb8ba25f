/* SPDX-License-Identifier: Apache-2.0 */
/* Children: exactly their descriptors, a fresh signal state, and a word when they end. */
#include "base/buf.h"
#include "base/error.h"
#include "host/loop.h"
#include "host/process.h"

#include "../cm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

struct result {
	struct loop *loop;
	int left, status;
	pid_t pid;
};

static void exited(void *arg, pid_t pid, int status)
{
	struct result *r = arg;
	r->pid = pid;
	r->status = status;
	if (--r->left == 0)
		loop_stop(r->loop);
}

/* Runs /bin/sh -c `script` with standard output into `out`; returns the wait status. */
static int sh(struct loop *l, const char *script, bool detach, const char *cwd, struct buf *out)
{
	int fds[2];
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	const char *const argv[] = { "sh", "-c", script, NULL };
	const int map[] = { -1, fds[1], 2 };
	struct spawn s = { .path = "/bin/sh",
			   .argv = argv,
			   .fds = map,
			   .fd_count = 3,
			   .cwd = cwd,
			   .detach = detach };
	struct result r = { .loop = l, .left = 1 };
	pid_t pid = 0;
	assert_int_equal(process_spawn(l, &s, exited, &r, &pid, NULL), 0);
	close(fds[1]);
	loop_run(l);
	assert_int_equal(r.pid, pid);
	char buffer[4096];
	for (ssize_t n; (n = read(fds[0], buffer, sizeof(buffer))) > 0;)
		buf_put(out, buffer, (size_t)n);
	close(fds[0]);
	return r.status;
}

static void test_exit_statuses(void **state)
{
	struct loop *l = *state;
	const struct {
		const char *script;
		int code, signo;
	} cases[] = { { "exit 0", 0, 0 },
		      { "exit 7", 7, 0 },
		      { "kill -9 $$", 0, 9 },
		      { "kill -15 $$", 0, 15 } };
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		AUTO_BUF struct buf out = {};
		int status = sh(l, cases[i].script, false, NULL, &out);
		if (cases[i].signo)
			assert_int_equal(WTERMSIG(status), cases[i].signo);
		else
			assert_int_equal(WEXITSTATUS(status), cases[i].code);
	}
}

static void test_only_the_listed_descriptors(void **state)
{
	struct loop *l = *state;
	int leak = open("/dev/null", O_RDONLY); /* without close-on-exec */
	assert_true(leak > 2);
	AUTO_BUF struct buf out = {};
	/* The shell's glob opens a directory of its own; ask for each number instead. */
	sh(l, "for i in 0 1 2 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$i ] && printf $i; done", false,
	   NULL, &out);
	assert_string_equal(buf_text(&out), "012");
	close(leak);
}

static void test_descriptors_may_be_permuted(void **state)
{
	struct loop *l = *state;
	int a[2], b[2];
	assert_int_equal(pipe2(a, O_CLOEXEC), 0);
	assert_int_equal(pipe2(b, O_CLOEXEC), 0);
	/* Every source is in the place of another target. */
	int map[16];
	for (int i = 0; i < 16; i++)
		map[i] = -1;
	assert_true(a[1] < 16 && b[1] < 16);
	map[0] = 0;
	map[1] = b[1];
	map[2] = 2;
	map[a[1]] = b[1];
	map[b[1]] = a[1];
	char script[128];
	snprintf(script, sizeof(script), "echo to-a >/dev/fd/%d; echo to-b >/dev/fd/%d; echo one",
		 b[1], a[1]);
	const char *const argv[] = { "sh", "-c", script, NULL };
	struct spawn s = { .path = "/bin/sh", .argv = argv, .fds = map, .fd_count = 16 };
	struct result r = { .loop = l, .left = 1 };
	assert_int_equal(process_spawn(l, &s, exited, &r, NULL, NULL), 0);
	loop_run(l);
	close(a[1]);
	close(b[1]);
	char text[64] = "";
	assert_int_equal(read(a[0], text, sizeof(text) - 1), 5);
	assert_string_equal(text, "to-a\n");
	ssize_t n = read(b[0], text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	assert_string_equal(text, "to-b\none\n");
	close(a[0]);
	close(b[0]);
}

static void test_fresh_signals_cwd_and_session(void **state)
{
	struct loop *l = *state;
	AUTO_BUF struct buf out = {};
	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGINT, SIG_IGN);
	sh(l, "grep -E '^Sig(Blk|Ign)' /proc/self/status; pwd", false, "/usr", &out);
	signal(SIGINT, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	assert_non_null(strstr(buf_text(&out), "SigBlk:\t0000000000000000"));
	/* 32 and 33 are glibc's own, which posix_spawn leaves ignored and threads set up again. */
	const char *ignored = strstr(buf_text(&out), "SigIgn:\t");
	assert_non_null(ignored);
	assert_int_equal(strtoull(ignored + 8, NULL, 16) & ~0x180000000ull, 0);
	assert_non_null(strstr(buf_text(&out), "/usr\n"));

	buf_clear(&out);
	sh(l, "[ $(cut -d' ' -f6 /proc/$$/stat) = $$ ] && echo leader", true, NULL, &out);
	assert_string_equal(buf_text(&out), "leader\n");
	buf_clear(&out);
	sh(l, "[ $(cut -d' ' -f6 /proc/$$/stat) = $$ ] && echo leader", false, NULL, &out);
	assert_string_equal(buf_text(&out), "");
}

static void test_failures_are_said(void **state)
{
	struct loop *l = *state;
	const struct {
		const char *path, *cwd;
		int code;
		const char *says;
	} cases[] = {
		{ "/no/such/program", NULL, -ENOENT, "/no/such/program" },
		{ "/etc/passwd", NULL, -EACCES, "/etc/passwd" },
		{ "/bin/true", "/no/such/dir", -ENOENT, "/no/such/dir" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const char *const argv[] = { "x", NULL };
		struct spawn s = { .path = cases[i].path, .argv = argv, .cwd = cases[i].cwd };
		struct error err = {};
		assert_int_equal(process_spawn(l, &s, exited, NULL, NULL, &err), cases[i].code);
		assert_non_null(strstr(err.text, cases[i].says));
	}
}

static void test_many_children_all_report(void **state)
{
	struct loop *l = *state;
	struct result r = { .loop = l, .left = 100 };
	const char *const argv[] = { "true", NULL };
	const char *const envp[] = { NULL };
	struct spawn s = { .path = "/bin/true", .argv = argv, .envp = envp };
	for (int i = 0; i < 100; i++)
		assert_int_equal(process_spawn(l, &s, exited, &r, NULL, NULL), 0);
	loop_run(l);
	assert_int_equal(r.left, 0);
}

static void test_signal(void **state)
{
	struct loop *l = *state;
	const char *const argv[] = { "sleep", "60", NULL };
	struct spawn s = { .path = "/bin/sleep", .argv = argv, .detach = true };
	struct result r = { .loop = l, .left = 1 };
	pid_t pid;
	assert_int_equal(process_spawn(l, &s, exited, &r, &pid, NULL), 0);
	assert_int_equal(process_signal(-pid, SIGKILL), 0);
	loop_run(l);
	assert_int_equal(WTERMSIG(r.status), SIGKILL);
	assert_int_equal(process_signal(pid, 0), -ESRCH);
}

static int setup(void **state)
{
	*state = loop_new();
	return 0;
}

static int teardown(void **state)
{
	loop_free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_exit_statuses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_the_listed_descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_descriptors_may_be_permuted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fresh_signals_cwd_and_session, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_failures_are_said, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_children_all_report, setup, teardown),
		cmocka_unit_test_setup_teardown(test_signal, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
