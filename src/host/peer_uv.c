/* SPDX-License-Identifier: Apache-2.0 */
/* peer_uv.c - who is at the other end of a stream, and what every connection asks of the kernel. */
#include "host/stream_uv.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>

void socket_options(int fd, int family)
{
	if (family != AF_INET && family != AF_INET6)
		return;
	int on = 1, idle_sec = 60;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)); /* peers whose machine is gone */
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_sec, sizeof(idle_sec));
}

static void print_address(const union address *a, char *out, size_t size)
{
	char text[INET6_ADDRSTRLEN] = "";
	if (a->any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &a->v4.sin_addr, text, sizeof(text));
		snprintf(out, size, "%s:%u", text, ntohs(a->v4.sin_port));
	} else if (a->any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&a->v6.sin6_addr)) {
		inet_ntop(AF_INET, &a->v6.sin6_addr.s6_addr[12], text, sizeof(text));
		snprintf(out, size, "%s:%u", text, ntohs(a->v6.sin6_port));
	} else if (a->any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &a->v6.sin6_addr, text, sizeof(text));
		snprintf(out, size, "[%s]:%u", text, ntohs(a->v6.sin6_port));
	}
}

void stream_get_peer(const struct stream *s, struct stream_peer *ret)
{
	*ret = (struct stream_peer) { .uid = (uid_t)-1, .gid = (gid_t)-1 };
	struct ucred cred;
	socklen_t len = sizeof(cred);
	if (s->is_local && getsockopt(s->fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0) {
		ret->local = true;
		ret->uid = cred.uid;
		ret->gid = cred.gid;
		ret->pid = cred.pid;
	}
	if (s->path)
		snprintf(ret->addr, sizeof(ret->addr), "%s", s->path);
	else
		print_address(&s->peer, ret->addr, sizeof(ret->addr));
}
