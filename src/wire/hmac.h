/* SPDX-License-Identifier: Apache-2.0 */
/* hmac.h - HMAC-SHA256 with one key, by OpenSSL.  Not thread-safe; one owner. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HMAC_SIZE = 32 };

struct hmac;

struct hmac *hmac_new(const void *key, size_t len); /* NULL when the crypto library lacks it */
void hmac_free(struct hmac *h);
bool hmac_sum(struct hmac *h, const void *data, size_t len, uint8_t ret[HMAC_SIZE]);
/* Takes the same time wherever they differ. */
bool hmac_equal(const uint8_t a[HMAC_SIZE], const uint8_t b[HMAC_SIZE]);
