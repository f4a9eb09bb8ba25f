/* SPDX-License-Identifier: Apache-2.0 */
#include "munged.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void child(const struct munged *m)
{
	char key[160], log[160], pid[160], seed[160], sock[160];
	snprintf(key, sizeof(key), "--key-file=%s/key", m->dir);
	snprintf(log, sizeof(log), "--log-file=%s/log", m->dir);
	snprintf(pid, sizeof(pid), "--pid-file=%s/pid", m->dir);
	snprintf(seed, sizeof(seed), "--seed-file=%s/seed", m->dir);
	snprintf(sock, sizeof(sock), "--socket=%s", m->socket);
	int null = open("/dev/null", O_RDWR);
	dup2(null, 1);
	dup2(null, 2);
	execlp("munged", "munged", "--foreground", "--force", key, log, pid, seed, sock, NULL);
	_exit(127);
}

static int answers(const struct munged *m)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", m->socket);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int r = connect(fd, (struct sockaddr *)&addr, sizeof(addr));
	close(fd);
	return r == 0;
}

const char *munged_start(struct munged *m)
{
	if (access("/usr/sbin/munged", X_OK) != 0)
		return "munged is not installed (package munge)";
	snprintf(m->dir, sizeof(m->dir), "/tmp/test-munge.XXXXXX");
	if (!mkdtemp(m->dir) || chmod(m->dir, 0755) < 0)
		return "no temporary directory";
	snprintf(m->socket, sizeof(m->socket), "%s/socket", m->dir);
	char path[96];
	snprintf(path, sizeof(path), "%s/key", m->dir);
	int fd = open(path, O_CREAT | O_WRONLY, 0600);
	for (int i = 0; i < 128; i++)
		dprintf(fd, "%x", (unsigned)(i * 2654435761u) >> 28);
	close(fd);
	m->pid = fork();
	if (m->pid == 0)
		child(m);
	for (int i = 0; i < 1000 && !answers(m); i++) {
		if (waitpid(m->pid, NULL, WNOHANG) == m->pid) {
			m->pid = 0;
			munged_stop(m);
			return "munged does not start as this user";
		}
		poll(NULL, 0, 10);
	}
	return NULL;
}

void munged_stop(struct munged *m)
{
	if (m->pid > 0) {
		kill(m->pid, SIGTERM);
		waitpid(m->pid, NULL, 0);
	}
	const char *const names[] = { "key", "log", "pid", "seed", "socket", "socket.lock" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[128];
		snprintf(path, sizeof(path), "%s/%s", m->dir, names[i]);
		unlink(path);
	}
	rmdir(m->dir);
}
