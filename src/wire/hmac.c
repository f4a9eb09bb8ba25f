/* SPDX-License-Identifier: Apache-2.0 */
/* The context keeps the key schedule and is started anew for every sum: fetching the algorithm and
 * hashing the key each time costs more than a token. */
#include "wire/hmac.h"

#include "base/mem.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

struct hmac {
	EVP_MAC_CTX *ctx;
};

struct hmac *hmac_new(const void *key, size_t len)
{
	EVP_MAC *kind = EVP_MAC_fetch(NULL, "HMAC", NULL);
	EVP_MAC_CTX *ctx = kind ? EVP_MAC_CTX_new(kind) : NULL;
	EVP_MAC_free(kind);
	char digest[] = "SHA256";
	const OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string("digest", digest, 0),
		OSSL_PARAM_construct_end(),
	};
	if (!ctx || EVP_MAC_init(ctx, key, len, params) != 1) {
		EVP_MAC_CTX_free(ctx);
		return NULL;
	}
	struct hmac *h = NEW(struct hmac);
	h->ctx = ctx;
	return h;
}

void hmac_free(struct hmac *h)
{
	if (!h)
		return;
	EVP_MAC_CTX_free(h->ctx);
	free(h);
}

bool hmac_sum(struct hmac *h, const void *data, size_t len, uint8_t ret[HMAC_SIZE])
{
	size_t n = 0;
	return EVP_MAC_init(h->ctx, NULL, 0, NULL) == 1 && EVP_MAC_update(h->ctx, data, len) == 1 &&
	       EVP_MAC_final(h->ctx, ret, &n, HMAC_SIZE) == 1 && n == HMAC_SIZE;
}

bool hmac_equal(const uint8_t a[HMAC_SIZE], const uint8_t b[HMAC_SIZE])
{
	return CRYPTO_memcmp(a, b, HMAC_SIZE) == 0;
}
