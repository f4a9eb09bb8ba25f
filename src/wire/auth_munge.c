/* SPDX-License-Identifier: Apache-2.0 */
/* auth/munge: credentials made and checked by munged.
 *
 * libmunge is opened at run time, so that neither the build nor a site without munge needs it; the
 * declarations below are its public interface.  A credential's payload is "muster CHALLENGE CLUSTER":
 * munged vouches for the user, the payload says what for.  Replays and expiry are
 * munged's business.  Every call uses a context of its own and may run on any thread; all of them
 * wait for munged, so daemons call from the worker pool. */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "schema/errors.h"
#include "wire/auth_impl.h"
#include "wire/frame.h"

#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

enum { OPT_SOCKET = 8 };                       /* MUNGE_OPT_SOCKET */
enum { CRED_EXPIRED = 15, CRED_REWOUND = 16 }; /* EMUNGE_CRED_... */

struct munge {
	void *library;
	void *(*ctx_create)(void);
	void (*ctx_destroy)(void *ctx);
	int (*ctx_set)(void *ctx, int opt, ...);
	const char *(*ctx_strerror)(void *ctx);
	int (*encode)(char **ret_cred, void *ctx, const void *payload, int len);
	int (*decode)(const char *cred, void *ctx, void **ret_payload, int *ret_len, uid_t *ret_uid,
		      gid_t *ret_gid);
};

static int munge_load(struct munge *m, struct error *err)
{
	const struct {
		const char *name;
		void *at;
	} symbols[] = {
		{ "munge_ctx_create", &m->ctx_create }, { "munge_ctx_destroy", &m->ctx_destroy },
		{ "munge_ctx_set", &m->ctx_set },       { "munge_ctx_strerror", &m->ctx_strerror },
		{ "munge_encode", &m->encode },         { "munge_decode", &m->decode },
	};
	m->library = dlopen("libmunge.so.2", RTLD_NOW | RTLD_LOCAL);
	if (!m->library)
		return wire_error(err, -E_AUTH,
				  "AuthType=auth/munge needs libmunge.so.2, which cannot be "
				  "loaded: install the package libmunge2");
	for (size_t i = 0; i < ARRAY_COUNT(symbols); i++) {
		void *symbol = dlsym(m->library, symbols[i].name);
		if (!symbol) {
			dlclose(m->library);
			return wire_error(err, -E_AUTH, "libmunge.so.2 has no %s", symbols[i].name);
		}
		memcpy(symbols[i].at, &symbol, sizeof(symbol));
	}
	return 0;
}

static void *context_new(const struct munge *m, const char *socket)
{
	void *ctx = m->ctx_create();
	if (ctx && !str_empty(socket))
		m->ctx_set(ctx, OPT_SOCKET, socket);
	return ctx;
}

static void put_payload(struct buf *out, uint64_t challenge, const char *cluster)
{
	buf_printf(out, "muster %016llx %s", (unsigned long long)challenge, cluster);
}

static int encode(const struct munge *m, const char *socket, const struct buf *payload,
		  struct buf *ret, struct error *err)
{
	AUTO_FREE char *cred = NULL;
	void *ctx = context_new(m, socket);
	int r = m->encode(&cred, ctx, payload->data, (int)payload->len);
	if (r != 0)
		wire_error(err, -E_AUTH, "munge gives no credential: %s", m->ctx_strerror(ctx));
	else
		buf_puts(ret, cred);
	m->ctx_destroy(ctx);
	return r != 0 ? -E_AUTH : 0;
}

static int decode(const struct munge *m, const char *socket, const char *cred,
		  const struct buf *expected, struct identity *ret, struct error *err)
{
	AUTO_FREE void *payload = NULL;
	int len = 0;
	uid_t uid = (uid_t)-1;
	gid_t gid = (gid_t)-1;
	void *ctx = context_new(m, socket);
	int r = m->decode(cred, ctx, &payload, &len, &uid, &gid);
	if (r != 0)
		wire_error(
			err, -E_AUTH, "munge refuses the credential: %s%s", m->ctx_strerror(ctx),
			r == CRED_EXPIRED || r == CRED_REWOUND
				? "; if it was new, the clocks of the hosts differ: synchronise them (NTP)"
				: "");
	m->ctx_destroy(ctx);
	if (r != 0)
		return -E_AUTH;
	if (len != (int)expected->len || memcmp(payload, expected->data, expected->len) != 0)
		return wire_error(err, -E_AUTH,
				  "the munge credential was made for another cluster or purpose: "
				  "it says '%.*s', expected is '%s'",
				  len < 100 ? len : 100, payload ? (const char *)payload : "",
				  buf_text(expected));
	*ret = (struct identity) { uid, gid };
	return 0;
}

int munge_token(const char *socket, const char *cluster, struct buf *ret, struct error *err)
{
	AUTO_BUF struct buf payload = {};
	struct munge m = {};
	int r = munge_load(&m, err);
	if (r < 0)
		return r;
	put_payload(&payload, 0, cluster ? cluster : "");
	r = encode(&m, socket, &payload, ret, err);
	dlclose(m.library);
	return r;
}

struct auth_munge {
	struct auth base;
	struct munge munge;
	char *socket;
};

static void free_auth(struct auth *base)
{
	struct auth_munge *a = (struct auth_munge *)base;
	dlclose(a->munge.library);
	free(a->socket);
	free(a);
}

static int open_auth(const struct auth_options *o, struct auth **ret, struct error *err)
{
	struct munge m = {};
	int r = munge_load(&m, err);
	if (r < 0)
		return r;
	struct auth_munge *a = NEW(struct auth_munge);
	a->base.ops = &auth_munge_ops;
	a->munge = m;
	a->socket = mem_strdup(o->munge_socket);
	a->base.cluster = mem_strdup(o->cluster ? o->cluster : "");
	*ret = &a->base;
	return 0;
}

static int sign(struct auth *base, const struct identity *who, uint64_t challenge, usec_t now,
		struct buf *ret, struct error *err)
{
	struct auth_munge *a = (struct auth_munge *)base;
	AUTO_BUF struct buf payload = {};
	(void)now; /* munged has its own clock */
	if (who->uid != geteuid())
		return wire_error(err, -E_AUTH,
				  "munge vouches for the caller alone, uid %u cannot sign for uid "
				  "%u",
				  geteuid(), who->uid);
	put_payload(&payload, challenge, a->base.cluster);
	return encode(&a->munge, a->socket, &payload, ret, err);
}

static int verify(struct auth *base, struct bytes token, uint64_t challenge, usec_t now,
		  struct identity *ret, struct error *err)
{
	struct auth_munge *a = (struct auth_munge *)base;
	AUTO_BUF struct buf cred = {}, expected = {};
	(void)now;
	if (token.len == 0)
		return wire_error(err, -E_AUTH, "a credential is needed and none was sent");
	if (token.len < 6 || memcmp(token.data, "MUNGE:", 6) != 0)
		return wire_error(err, -E_AUTH,
				  "this is not a credential of auth/munge; both sides need the "
				  "same AuthType");
	buf_put(&cred, token.data, token.len); /* libmunge wants a C string */
	put_payload(&expected, challenge, a->base.cluster);
	return decode(&a->munge, a->socket, buf_text(&cred), &expected, ret, err);
}

const struct auth_ops auth_munge_ops = {
	.type = "auth/munge",
	.may_block = true,
	.open = open_auth,
	.sign = sign,
	.verify = verify,
	.free = free_auth,
};
