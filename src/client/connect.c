/* SPDX-License-Identifier: Apache-2.0 */
/* From slurm.conf to a session. */
#include "client/connect.h"

#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "conf/conf.h"
#include "schema/errors.h"
#include "wire/session.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int connect_again(struct connection *c, struct error *err)
{
	const struct slurm_conf *conf = &c->conf->main;
	const struct session_options o = {
		.hosts = c->conf->controller_addresses,
		.host_count = c->conf->controller_count,
		.port = (uint16_t)conf->slurmctld_port,
		.auth_type = conf->auth_type,
		.auth_socket = c->conf->auth_socket,
		.cluster = conf->cluster_name,
		.program = c->program,
		.timeout = conf->message_timeout * USEC_PER_SEC,
	};
	connect_hang_up(c);
	return session_open(&o, &c->session, err);
}

int connect_open(struct connection *c, const char *program, struct error *err)
{
	*c = (struct connection) { .program = program };
	int r = conf_load_client(NULL, &c->conf, err);
	return r < 0 ? r : connect_again(c, err);
}

void connect_hang_up(struct connection *c)
{
	session_close(c->session);
	c->session = NULL;
}

void connect_close(struct connection *c)
{
	session_close(c->session);
	conf_free(c->conf);
	*c = (struct connection) {};
}

bool connect_is_lost(int code)
{
	return code == -E_CONTROLLER_CONNECT || code == -E_SHUTTING_DOWN;
}

int connect_call(struct connection *c, uint16_t kind, const void *body, struct arena *a,
		 void *reply, usec_t timeout, struct error *err)
{
	if (c->session) {
		int r = session_call(c->session, kind, body, a, reply, timeout, err);
		if (r != -E_CONTROLLER_CONNECT)
			return r;
		log_debug("asking again: %s", err ? err->text : "the connection is gone");
	}
	int r = connect_again(c, err);
	return r < 0 ? r : session_call(c->session, kind, body, a, reply, timeout, err);
}

int connect_wait(struct connection *c, uint16_t kind, const void *body, struct arena *a,
		 void *reply, usec_t timeout, struct error *err)
{
	for (unsigned pause = 1;; pause = pause < 8 ? pause * 2 : 15) {
		int r = connect_call(c, kind, body, a, reply, timeout, err);
		if (!connect_is_lost(r))
			return r;
		if (pause == 2)
			log_info("the controller does not answer, still trying");
		sleep(pause);
	}
}

/* A controller that is reached over the loopback by its name is reached by the nodes over the network:
 * then our own name is what they know.  One that is configured as the loopback has no other nodes. */
void connect_own_address(const struct connection *c, char *ret, size_t size)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} me = {};
	socklen_t len = sizeof(me);
	char text[INET6_ADDRSTRLEN] = "";
	if (c->session && getsockname(session_fd(c->session), &me.any, &len) == 0) {
		const void *raw = me.any.sa_family == AF_INET6 ? (const void *)&me.v6.sin6_addr
							       : &me.v4.sin_addr;
		inet_ntop(me.any.sa_family, raw, text, sizeof(text));
	}
	const char *controller = c->conf->controller_count ? c->conf->controller_addresses[0] : "";
	bool loopback = str_starts(text, "127.") || str_eq(text, "::1");
	bool meant = str_starts(controller, "127.") || str_eq(controller, "::1") ||
		     str_eq(controller, "localhost");
	if (text[0] == '\0' || (loopback && !meant))
		gethostname(ret, size);
	else
		snprintf(ret, size, "%s", text);
	ret[size - 1] = '\0';
}

int connect_exit_error(void)
{
	const char *text = getenv("SLURM_EXIT_ERROR");
	uint32_t code;
	return text && str_to_u32(text, &code) == 0 && code < 256 ? (int)code : 1;
}
