/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the kind of credentials that was opened.  Nothing here names a kind, so that programs which
 * use connections without credentials do not carry the crypto library. */
#include "wire/auth_impl.h"

#include <stddef.h>

struct auth *auth_hold(struct auth *a)
{
	a->held++;
	return a;
}

void auth_free(struct auth *a)
{
	if (!a)
		return;
	if (a->held-- == 0)
		a->ops->free(a);
}

int auth_sign(struct auth *a, const struct identity *who, usec_t now, struct buf *ret, struct error *err)
{
	return a->ops->sign(a, who, now, ret, err);
}

int auth_verify(struct auth *a, const void *token, size_t len, usec_t now, struct identity *ret,
		struct error *err)
{
	return a->ops->verify(a, token, len, now, ret, err);
}

bool auth_may_block(const struct auth *a)
{
	return a->ops->may_block;
}

bool auth_can_vouch(const struct auth *a)
{
	return a->ops->can_vouch;
}
