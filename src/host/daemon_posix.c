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

int daemon_detach(struct error *err)
{
	pid_t pid = fork();
	if (pid < 0)
		return error_set(err, -errno, "cannot fork: %s", strerror(errno));
	if (pid > 0)
		_exit(0);
	setsid();
	AUTO_FD int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		dup2(null, fd);
	return 0;
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

int pid_file_write(const char *path, struct error *err)
{
	pid_t owner = living_owner(path);
	if (owner)
		return error_set(err, -EBUSY, "%s: process %d already runs; stop it first", path, (int)owner);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_set(err, -errno, "pid file %s: %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return error_set(err, -EBUSY, "%s: held by another process", path);
	}
	if (ftruncate(fd, 0) < 0 || dprintf(fd, "%d\n", (int)getpid()) < 0) {
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

void daemon_ready(bool systemd)
{
	const char *path = systemd ? getenv("NOTIFY_SOCKET") : NULL;
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
