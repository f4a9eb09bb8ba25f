/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the kind of credentials that was opened.  Nothing here names a kind, so that programs which
 * use connections without credentials do not carry the crypto library. */
#include "wire/auth_impl.h"

#include <assert.h>
#include <stdlib.h>

struct auth *auth_hold(struct auth *a)
{
	a->held++;
	return a;
}

void auth_free(struct auth *a)
{
	if (!a)
		return;
	if (a->held-- > 0)
		return;
	free(a->cluster);
	a->ops->free(a);
}

int auth_sign(struct auth *a, const struct identity *who, usec_t now, struct buf *ret,
	      struct error *err)
{
	return a->ops->sign(a, who, 0, now, ret, err);
}

int auth_sign_answer(struct auth *a, const struct identity *who, uint64_t challenge, usec_t now,
		     struct buf *ret, struct error *err)
{
	assert(challenge);
	return a->ops->sign(a, who, challenge, now, ret, err);
}

int auth_verify(struct auth *a, const void *token, size_t len, usec_t now, struct identity *ret,
		struct error *err)
{
	return a->ops->verify(a, (struct bytes) { (uint8_t *)token, len }, 0, now, ret, err);
}

int auth_verify_answer(struct auth *a, const void *token, size_t len, uint64_t challenge,
		       usec_t now, struct identity *ret, struct error *err)
{
	assert(challenge);
	return a->ops->verify(a, (struct bytes) { (uint8_t *)token, len }, challenge, now, ret,
			      err);
}

const char *auth_cluster(const struct auth *a)
{
	return a->cluster;
}

bool auth_may_block(const struct auth *a)
{
	return a->ops->may_block;
}

bool auth_can_vouch(const struct auth *a)
{
	return a->ops->can_vouch;
}
