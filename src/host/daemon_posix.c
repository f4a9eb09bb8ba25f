/* SPDX-License-Identifier: Apache-2.0 */
#include "host/daemon.h"

#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static bool wait_for_word(int fd)
{
	char word;
	ssize_t n;
	do
		n = read(fd, &word, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

int daemon_detach(int *ret_waiting, struct error *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	pid_t pid = fork();
	if (pid < 0) {
		int e = -errno;
		close(ends[0]);
		close(ends[1]);
		return error_set(err, e, "cannot fork: %s", strerror(-e));
	}
	if (pid > 0) {
		close(ends[1]);
		_exit(wait_for_word(ends[0]) ? 0 : 1);
	}
	close(ends[0]);
	setsid();
	*ret_waiting = ends[1];
	return 0;
}

static void let_go_of_terminal(void)
{
	AUTO_FD int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		dup2(null, fd);
}

/* The pid in an existing file, when that process lives and is not this one. */
static pid_t living_owner(const char *path)
{
	char text[32] = "";
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	uint32_t pid;
	if (str_to_u32(text, &pid) < 0 || pid == 0 || (pid_t)pid == getpid())
		return 0;
	/* A file that nobody holds a lock on was left behind; its pid may have been given out again. */
	if (flock(fd, LOCK_SH | LOCK_NB) == 0)
		return 0;
	return kill((pid_t)pid, 0) == 0 || errno == EPERM ? (pid_t)pid : 0;
}

int pid_file_write(const char *path, uid_t owner, struct error *err)
{
	pid_t other = living_owner(path);
	if (other)
		return error_set(err, -EBUSY, "%s: process %d already runs; stop it first", path,
				 (int)other);
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_set(err, -errno, "pid file %s: %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return error_set(err, -EBUSY, "%s: held by another process", path);
	}
	if (ftruncate(fd, 0) < 0 || dprintf(fd, "%d\n", (int)getpid()) < 0 ||
	    (owner != geteuid() && fchown(fd, owner, (gid_t)-1) < 0)) {
		int e = -errno;
		close(fd);
		return error_set(err, e, "pid file %s: %s", path, strerror(-e));
	}
	return 0; /* the descriptor stays open: its lock says that we live */
}

void pid_file_remove(const char *path)
{
	unlink(path);
}

static void tell_systemd(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	if (!path || strlen(path) >= sizeof(addr.sun_path))
		return;
	memcpy(addr.sun_path, path, strlen(path));
	if (path[0] == '@')
		addr.sun_path[0] = '\0';
	AUTO_FD int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	static const char ready[] = "READY=1";
	if (fd >= 0)
		(void)!sendto(fd, ready, sizeof(ready) - 1, MSG_NOSIGNAL, (struct sockaddr *)&addr,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
}

void daemon_ready(bool systemd, int waiting)
{
	if (systemd)
		tell_systemd();
	if (waiting < 0)
		return;
	let_go_of_terminal();
	(void)!write(waiting, "", 1);
	close(waiting);
}
