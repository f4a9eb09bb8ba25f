/* SPDX-License-Identifier: Apache-2.0 */
/* auth_impl.h - what the kinds of credentials implement; for files of this folder alone. */
#pragma once
#include "schema/record.h"
#include "wire/auth.h"

/* `challenge` is 0 except in answers. */
struct auth_ops {
	const char *type;
	bool may_block;
	bool can_vouch;
	int (*open)(const struct auth_options *o, struct auth **ret, struct error *err);
	int (*sign)(struct auth *a, const struct identity *who, uint64_t challenge, usec_t now,
		    struct buf *ret, struct error *err);
	int (*verify)(struct auth *a, struct bytes token, uint64_t challenge, usec_t now,
		      struct identity *ret, struct error *err);
	void (*free)(struct auth *a);
};

/* The first member of each kind's own struct. */
struct auth {
	const struct auth_ops *ops;
	char *cluster;
	unsigned held; /* besides the owner: checks that are under way on the pool */
};

/* Keeps it alive until the matching auth_free; on the owner's thread only. */
struct auth *auth_hold(struct auth *a);

extern const struct auth_ops auth_slurm_ops;
extern const struct auth_ops auth_munge_ops;

/* The key file as a whole, or why it must not be used (auth_key.c). */
NODISCARD int auth_key_read(const char *path, uid_t owner, struct buf *ret, struct error *err);

/* A credential of the calling process from munged, for programs without a `struct auth`. */
NODISCARD int munge_token(const char *socket, const char *cluster, struct buf *ret,
			  struct error *err);
