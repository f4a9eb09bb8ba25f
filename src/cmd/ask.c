/* SPDX-License-Identifier: Apache-2.0 */
/* ask.c - the real world around a command that asks: configuration, connection, terminal.
 *
 * Output is collected and written at the end, or at each turn of --iterate: one write for a hundred
 * thousand lines.  A reader that went away ends the program by SIGPIPE, without a word. */
#include "cmd/ask.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "client/connect.h"
#include "conf/conf.h"
#include "host/user.h"
#include "schema/messages.h"
#include "wire/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct real_world {
	struct connection connection;
	struct conf *conf; /* all of it, for commands that look into it */
};

static int real_call(struct ask *ask, uint16_t kind, const void *body, void *reply, usec_t timeout,
		     struct error *err)
{
	struct real_world *w = ask->world;
	if (!w->connection.session) {
		connect_close(&w->connection);
		int r = connect_open(&w->connection, ask->program, err);
		if (r < 0)
			return r;
	}
	return connect_call(&w->connection, kind, body, ask->arena, reply, timeout, err);
}

static const struct conf *real_conf(struct ask *ask, struct error *err)
{
	struct real_world *w = ask->world;
	if (!w->conf && conf_load(NULL, &w->conf, err) < 0)
		return NULL;
	return w->conf;
}

static int real_ping(struct ask *ask, uint32_t which, const char **ret_name, struct error *err)
{
	struct real_world *w = ask->world;
	if (!w->connection.conf) {
		w->connection.program = ask->program;
		int r = conf_load_client(NULL, &w->connection.conf, err);
		if (r < 0)
			return r;
	}
	const struct conf *c = w->connection.conf;
	if (which >= c->controller_count)
		return -ENOENT;
	*ret_name = c->controller_names[which];
	const struct session_options o = {
		.hosts = &c->controller_addresses[which],
		.host_count = 1,
		.port = (uint16_t)c->main.slurmctld_port,
		.auth_type = c->main.auth_type,
		.auth_socket = c->auth_socket,
		.cluster = c->main.cluster_name,
		.program = ask->program,
		.timeout = c->main.message_timeout * USEC_PER_SEC,
	};
	struct session *s = NULL;
	struct empty body = {}, reply;
	int r = session_open(&o, &s, err);
	if (r >= 0)
		r = session_call(s, MSG_PING, &body, ask->arena, &reply, 0, err);
	session_close(s);
	return r < 0 ? -EHOSTDOWN : 0;
}

static bool real_read_line(struct ask *ask, const char *prompt, struct buf *line)
{
	buf_puts(&ask->out, prompt);
	ask->flush(ask);
	AUTO_FREE char *text = NULL;
	size_t cap = 0;
	ssize_t n = getline(&text, &cap, stdin);
	if (n < 0)
		return false;
	buf_clear(line);
	buf_put(line, text, (size_t)n);
	return true;
}

static void write_all(int fd, struct buf *b)
{
	for (size_t at = 0; at < b->len;) {
		ssize_t n = write(fd, b->data + at, b->len - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break; /* nobody reads: there is no one to tell */
		at += (size_t)n;
	}
	buf_clear(b);
}

static void real_flush(struct ask *ask)
{
	write_all(STDERR_FILENO, &ask->err);
	write_all(STDOUT_FILENO, &ask->out);
}

static void real_pause(struct ask *ask, uint32_t seconds)
{
	ask->flush(ask);
	sleep(seconds);
}

int ask_main(const char *program, ask_run_fn run, int argc, char **argv)
{
	struct real_world world = {};
	struct ask ask = {
		.program = program,
		.arena = arena_new(),
		.uid = getuid(),
		.call = real_call,
		.user_uid = user_uid,
		.conf = real_conf,
		.ping = real_ping,
		.read_line = real_read_line,
		.flush = real_flush,
		.pause = real_pause,
		.world = &world,
	};
	int rc = run(&ask, argc, argv);
	ask.flush(&ask);
	return rc; /* leaving frees */
}

void ask_complain(struct ask *ask, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	buf_printf(&ask->err, "%s: error: ", ask->program);
	buf_vprintf(&ask->err, fmt, args);
	buf_putc(&ask->err, '\n');
	va_end(args);
}

char **ask_split(struct ask *ask, const char *list, uint32_t *ret_count)
{
	char **items = ARENA_ARRAY(ask->arena, char *, strlen(list) / 2 + 2);
	uint32_t n = 0;
	for (char *item = arena_strdup(ask->arena, list); item;) {
		char *next = strchr(item, ',');
		if (next)
			*next++ = 0;
		item = str_trim(item);
		if (*item)
			items[n++] = item;
		item = next;
	}
	*ret_count = n;
	return items;
}

void ask_put_date(struct ask *ask, usec_t when)
{
	char text[64];
	time_t seconds = (time_t)(when / USEC_PER_SEC);
	struct tm tm;
	localtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%a %b %d %H:%M:%S %Y", &tm);
	buf_printf(&ask->out, "%s\n", text);
}
