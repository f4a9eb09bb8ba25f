/* SPDX-License-Identifier: Apache-2.0 */
/* Connections here are short and cheap: no hello, small bodies, a bound on how many and how long. */
#include "wire/authd.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "host/loop.h"
#include "host/stream.h"
#include "schema/errors.h"
#include "schema/messages.h"
#include "wire/auth.h"
#include "wire/conn.h"
#include "wire/frame.h"

#include <errno.h>

enum { CLIENTS_MAX = 4096, BODY_MAX = 4096, QUEUE_MAX = 64 << 10 };
static const usec_t RETRY = USEC_PER_SEC;
static const usec_t IDLE = 10 * USEC_PER_SEC;

struct client {
	struct authd *authd;
	struct conn *conn;
	struct client *next, **prev;
};

struct authd {
	struct loop *loop;
	struct auth *auth;
	char *path;
	struct listener *listener; /* NULL while another daemon serves the path */
	struct timer *retry;
	struct client *clients;
	size_t client_count;
};

static void client_free(struct client *k)
{
	*k->prev = k->next;
	if (k->next)
		k->next->prev = k->prev;
	k->authd->client_count--;
	free(k);
}

static void on_closed(void *arg, struct conn *c, const char *why)
{
	(void)c;
	(void)why;
	client_free(arg);
}

static int make_token(struct authd *d, const struct request *r, struct buf *ret, struct error *err)
{
	const struct token_request *ask = r->body;
	const char *cluster = auth_cluster(d->auth);
	if (r->kind != MSG_TOKEN || !r->local)
		return wire_error(err, -E_PROTOCOL, "credentials are given here and nothing else");
	if (!str_empty(ask->cluster) && !str_eq(ask->cluster, cluster))
		return wire_error(err, -E_AUTH,
				  "'%s' gives credentials for cluster '%s', not for '%s'", d->path,
				  cluster, ask->cluster);
	return auth_sign(d->auth, &r->from, loop_now(d->loop), ret, err);
}

static void on_request(void *arg, struct request *r)
{
	struct client *k = arg;
	AUTO_BUF struct buf token = {};
	struct error err = {};
	if (make_token(k->authd, r, &token, &err) < 0) {
		request_fail(r, &err);
		return;
	}
	struct token_reply reply = { .token = { token.data, token.len } };
	request_reply(r, &reply);
}

static const struct conn_handler client_handler = { .request = on_request, .closed = on_closed };

static void on_accept(void *arg, struct stream *s)
{
	struct authd *d = arg;
	if (d->client_count >= CLIENTS_MAX) {
		log_debug("%s: more than %d connections, one is refused", d->path, CLIENTS_MAX);
		stream_close(s);
		return;
	}
	struct client *k = NEW(struct client);
	*k = (struct client) { .authd = d, .next = d->clients, .prev = &d->clients };
	if (k->next)
		k->next->prev = &k->next;
	d->clients = k;
	d->client_count++;
	struct conn_options o = { .loop = d->loop,
				  .skip_hello = true,
				  .body_max = BODY_MAX,
				  .queue_max = QUEUE_MAX,
				  .idle_timeout = IDLE };
	k->conn = conn_accept(s, &o, &client_handler, k);
}

static int try_listen(struct authd *d, struct error *err)
{
	return listener_unix(d->loop, d->path, 0666, on_accept, d, &d->listener, err);
}

static void try_again(void *arg)
{
	struct authd *d = arg;
	struct error err = {};
	if (try_listen(d, &err) == 0) {
		log_debug("credentials are now given at '%s'", d->path);
		timer_stop(d->retry);
	} else if (err.code != -EADDRINUSE) {
		log_debug("%s", err.text);
	}
}

int authd_start(struct loop *l, struct auth *auth, const char *path, struct authd **ret,
		struct error *err)
{
	*ret = NULL;
	if (!auth_can_vouch(auth))
		return 0;
	struct authd *d = NEW(struct authd);
	*d = (struct authd) { .loop = l,
			      .auth = auth,
			      .path = mem_strdup(path),
			      .retry = timer_new(l, try_again, d) };
	struct error why = {};
	int r = try_listen(d, &why);
	if (r == -EADDRINUSE) {
		timer_start(d->retry, RETRY, RETRY);
	} else if (r < 0) {
		authd_free(d);
		return error_set(err, r, "no credentials can be given on this host: %s", why.text);
	}
	*ret = d;
	return 0;
}

void authd_free(struct authd *d)
{
	if (!d)
		return;
	listener_free(d->listener);
	timer_free(d->retry);
	while (d->clients) {
		struct client *k = d->clients;
		conn_close(k->conn);
		client_free(k);
	}
	free(d->path);
	free(d);
}
