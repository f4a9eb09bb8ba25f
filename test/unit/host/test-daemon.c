/* SPDX-License-Identifier: Apache-2.0 */
/* Becoming a daemon: who waits learns how it went; a pid file keeps a second one out; systemd is told. */
#include "host/daemon.h"

#include "base/buf.h"
#include "base/error.h"
#include "host/file.h"

#include "../cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void make_dir(char path[64])
{
	snprintf(path, 64, "/tmp/test-daemon.XXXXXX");
	assert_non_null(mkdtemp(path));
}

/* Detaches in a process of its own and ends, ready or not; the exit code that the starter saw. */
static int start_and_end(bool becomes_ready)
{
	pid_t pid = fork();
	if (pid == 0) {
		int waiting = -1;
		if (daemon_detach(&waiting, NULL) < 0)
			_exit(9);
		if (becomes_ready)
			daemon_ready(false, waiting);
		_exit(7); /* nobody sees this one */
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void the_starter_learns_how_it_went(void **state)
{
	(void)state;
	assert_int_equal(start_and_end(true), 0);
	assert_int_equal(start_and_end(false), 1);
}

static void a_pid_file_is_for_one(void **state)
{
	(void)state;
	char dir[64], path[96];
	struct error err = {};
	AUTO_BUF struct buf text = {};
	int go[2];
	make_dir(dir);
	snprintf(path, sizeof(path), "%s/pid", dir);
	assert_int_equal(pipe(go), 0);
	pid_t pid = fork();
	if (pid == 0) {
		char word;
		close(go[1]);
		int r = pid_file_write(path, geteuid(), NULL);
		_exit(read(go[0], &word, 1) == 0 && r == 0 ? 0 : 1);
	}
	close(go[0]);
	do
		buf_clear(&text);
	while (file_read(path, 100, &text) < 0 || text.len == 0 || text.data[text.len - 1] != '\n');
	assert_int_equal(strtol(buf_text(&text), NULL, 10), pid);
	assert_int_equal(pid_file_write(path, geteuid(), &err), -EBUSY);
	assert_non_null(strstr(err.text, "already runs"));

	int status;
	close(go[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(pid_file_write(path, geteuid(), &err), 0); /* left behind: no obstacle */
	pid_file_remove(path);
	assert_int_equal(symlink("/tmp/elsewhere", path), 0);
	assert_int_equal(pid_file_write(path, geteuid(), &err), -ELOOP);
	assert_int_equal(unlink(path) | rmdir(dir), 0);
	assert_int_equal(pid_file_write(path, geteuid(), &err), -ENOENT);
}

static void a_pid_file_is_given_away(void **state)
{
	(void)state;
	char dir[64], path[96];
	struct stat st;
	if (geteuid() != 0)
		skip(); /* only root gives files away */
	make_dir(dir);
	snprintf(path, sizeof(path), "%s/pid", dir);
	assert_int_equal(pid_file_write(path, 54321, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 54321);
	assert_int_equal(unlink(path) | rmdir(dir), 0);
}

static void systemd_is_told(void **state)
{
	(void)state;
	char dir[64], word[32] = "";
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	make_dir(dir);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/notify", dir);
	AUTO_FD int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	setenv("NOTIFY_SOCKET", addr.sun_path, 1);
	daemon_ready(false, -1);
	assert_int_equal(recv(fd, word, sizeof(word), MSG_DONTWAIT), -1);
	daemon_ready(true, -1);
	assert_int_equal(recv(fd, word, sizeof(word), MSG_DONTWAIT), strlen("READY=1"));
	assert_string_equal(word, "READY=1");
	unsetenv("NOTIFY_SOCKET");
	daemon_ready(true, -1);
	assert_int_equal(unlink(addr.sun_path) | rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_starter_learns_how_it_went),
		cmocka_unit_test(a_pid_file_is_for_one),
		cmocka_unit_test(a_pid_file_is_given_away),
		cmocka_unit_test(systemd_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
