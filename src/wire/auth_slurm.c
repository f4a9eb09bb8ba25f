/* SPDX-License-Identifier: Apache-2.0 */
/* auth/slurm: credentials signed with the cluster's key.
 *
 *	token = 0x01 | credential record | HMAC-SHA256 over everything before it
 *
 * The first byte is the version of this layout and part of what is signed.  A token is good for
 * LIFETIME after it was issued; clocks of two hosts may differ by SKEW.  Each is accepted once: its
 * nonce is remembered until no clock within the skew could accept it any more,
 *
 *	issued <= now + SKEW,  now' <= issued + LIFETIME + SKEW   =>   now' <= now + LIFETIME + 2 SKEW
 *
 * which is the same span for all, so the nonces are forgotten in the order they came and a queue
 * beside the map is enough.  The memory is bounded; when it is full new credentials are refused
 * rather than old ones forgotten.
 *
 * The MAC is checked before a single byte of the record is decoded. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "schema/credential.h"
#include "schema/errors.h"
#include "wire/auth_impl.h"
#include "wire/frame.h"
#include "wire/hmac.h"

#include <errno.h>
#include <sys/random.h>
#include <unistd.h>

enum { LAYOUT = 1, SEEN_MAX = 1 << 20, TOKEN_MAX = 2048 };
static const usec_t LIFETIME = 60 * USEC_PER_SEC;
static const usec_t SKEW = 30 * USEC_PER_SEC;

struct seen {
	uint64_t nonce;
	usec_t forget;
};

struct auth_slurm {
	struct auth base;
	char hostname[65];
	struct hmac *hmac;      /* has the key */
	struct map nonces;      /* nonce -> any pointer */
	VEC(struct seen) order; /* the same, oldest first, from `oldest` on */
	size_t oldest;
};

static void slurm_free(struct auth *base)
{
	struct auth_slurm *a = (struct auth_slurm *)base;
	hmac_free(a->hmac);
	map_done(&a->nonces);
	vec_done(&a->order);
	free(a);
}

static int slurm_open(const struct auth_options *o, struct auth **ret, struct error *err)
{
	AUTO_BUF struct buf key = {};
	int r = auth_key_read(o->key_path, o->key_owner, &key, err);
	if (r < 0)
		return r;
	struct hmac *hmac = hmac_new(key.data, key.len);
	explicit_bzero(key.data, key.len);
	if (!hmac)
		return error_set(err, -ENOTSUP, "the crypto library has no HMAC with SHA256");

	struct auth_slurm *a = NEW(struct auth_slurm);
	a->base.ops = &auth_slurm_ops;
	a->base.cluster = mem_strdup(o->cluster ? o->cluster : "");
	a->hmac = hmac;
	gethostname(a->hostname, sizeof(a->hostname) - 1);
	*ret = &a->base;
	return 0;
}

static int slurm_sign(struct auth *base, const struct identity *who, uint64_t challenge, usec_t now,
		      struct buf *ret, struct error *err)
{
	struct auth_slurm *a = (struct auth_slurm *)base;
	struct credential c = {
		.cluster = a->base.cluster,
		.uid = who->uid,
		.gid = who->gid,
		.issued = now,
		.expires = now + LIFETIME,
		.hostname = a->hostname,
		.challenge = challenge,
	};
	if (getrandom(&c.nonce, sizeof(c.nonce), 0) != sizeof(c.nonce))
		return error_set(err, -EIO, "the system gives no random bytes");
	AUTO_BUF struct buf token = {};
	uint8_t mac[HMAC_SIZE];
	buf_putc(&token, LAYOUT);
	record_encode(&credential_record, &c, &token);
	if (!hmac_sum(a->hmac, token.data, token.len, mac))
		return error_set(err, -EIO, "the crypto library could not sign");
	buf_put(&token, mac, sizeof(mac));
	buf_put(ret, token.data, token.len);
	return 0;
}

static long long seconds(usec_t span)
{
	return (long long)(span / USEC_PER_SEC);
}

static int check_times(const struct credential *c, usec_t now, struct error *err)
{
	const char *host = str_empty(c->hostname) ? "?" : c->hostname;
	if (c->issued < 0 || c->expires < c->issued || c->expires - c->issued > LIFETIME)
		return wire_error(err, -E_AUTH,
				  "a credential from host '%s' with an impossible lifetime", host);
	if (c->issued > now + SKEW)
		return wire_error(
			err, -E_AUTH,
			"the credential was issued by host '%s' %lld s in the future: "
			"the clocks differ by more than the %lld s allowed, synchronise them (NTP)",
			host, seconds(c->issued - now), seconds(SKEW));
	if (now > c->expires + SKEW)
		return wire_error(
			err, -E_AUTH,
			"the credential from host '%s' expired %lld s ago: it is good "
			"for %lld s, and %lld s more if the clocks differ; synchronise them (NTP) if "
			"this one was new",
			host, seconds(now - c->expires), seconds(LIFETIME), seconds(SKEW));
	return 0;
}

static void forget_old(struct auth_slurm *a, usec_t now)
{
	while (a->oldest < a->order.count && a->order.at[a->oldest].forget < now)
		map_remove(&a->nonces, a->order.at[a->oldest++].nonce);
	if (a->oldest > 64 && a->oldest > a->order.count / 2) {
		a->order.count -= a->oldest;
		memmove(a->order.at, a->order.at + a->oldest,
			a->order.count * sizeof(*a->order.at));
		a->oldest = 0;
	}
}

static int remember(struct auth_slurm *a, uint64_t nonce, usec_t now, struct error *err)
{
	forget_old(a, now);
	if (map_get(&a->nonces, nonce))
		return wire_error(err, -E_AUTH,
				  "this credential was used before; each is accepted once");
	if (a->nonces.count >= SEEN_MAX)
		return wire_error(err, -E_AUTH,
				  "more than %d credentials within %lld s, try again later",
				  SEEN_MAX, seconds(LIFETIME + 2 * SKEW));
	map_put(&a->nonces, nonce, a);
	vec_push(&a->order, (struct seen) { nonce, now + LIFETIME + 2 * SKEW });
	return 0;
}

static int slurm_verify(struct auth *base, struct bytes token, uint64_t challenge, usec_t now,
			struct identity *ret, struct error *err)
{
	struct auth_slurm *a = (struct auth_slurm *)base;
	const uint8_t *bytes = token.data;
	size_t len = token.len;
	uint8_t mac[HMAC_SIZE];
	if (len == 0)
		return wire_error(err, -E_AUTH, "a credential is needed and none was sent");
	if (len <= 1 + HMAC_SIZE || len > TOKEN_MAX || bytes[0] != LAYOUT)
		return wire_error(err, -E_AUTH,
				  "this is not a credential of auth/slurm; both sides need the "
				  "same AuthType");
	if (!hmac_sum(a->hmac, bytes, len - HMAC_SIZE, mac) ||
	    !hmac_equal(mac, bytes + len - HMAC_SIZE))
		return wire_error(err, -E_AUTH,
				  "the credential's signature is wrong; both sides need the same "
				  "key file");

	AUTO_ARENA struct arena *arena = arena_new();
	struct credential c = {};
	struct error why = {};
	if (record_decode(&credential_record, &c, bytes + 1, len - 1 - HMAC_SIZE, arena, &why) < 0)
		return wire_error(err, -E_AUTH, "the credential cannot be read: %s", why.text);
	if (!str_eq(c.cluster ? c.cluster : "", a->base.cluster))
		return wire_error(err, -E_AUTH,
				  "the credential is for cluster '%s', this is cluster '%s'",
				  c.cluster ? c.cluster : "", a->base.cluster);
	if (c.challenge != challenge)
		return wire_error(err, -E_AUTH, "the credential was made for another purpose: %s",
				  challenge ? "it does not answer our challenge"
					    : "it answers a challenge");
	int r = check_times(&c, now, err);
	if (r == 0)
		r = remember(a, c.nonce, now, err);
	if (r < 0)
		return r;
	*ret = (struct identity) { c.uid, c.gid };
	return 0;
}

const struct auth_ops auth_slurm_ops = {
	.type = "auth/slurm",
	.can_vouch = true,
	.open = slurm_open,
	.sign = slurm_sign,
	.verify = slurm_verify,
	.free = slurm_free,
};
