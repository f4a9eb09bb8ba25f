/* SPDX-License-Identifier: Apache-2.0 */
/* auth.h - who is on the other side.
 *
 * A credential says: this user, in this cluster, until then.  auth/slurm signs it with the cluster's
 * key (HMAC-SHA256); programs of users do not have the key and ask a daemon on their own host over a
 * local socket, which signs for the uid that the kernel names (SO_PEERCRED).  auth/munge asks munged
 * instead.  A credential is accepted once: the verifier remembers those it has seen until they
 * expire.  A daemon that holds the key may sign for any uid; node daemons sign for their own.
 *
 * The side that is connected to can be asked to prove itself too: its answer is a credential that
 * repeats the challenge of the hello, so that nobody can pass off a credential of somebody else. */
#pragma once
#include "base/cleanup.h"
#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct error;

struct identity {
	uid_t uid;
	gid_t gid;
};

struct auth; /* a loaded key or a connection to munge, with the memory of what was seen */

struct auth_options {
	const char *type;     /* "auth/slurm", "auth/munge" */
	const char *key_path; /* auth/slurm: file of at least 32 bytes, not readable by others */
	const char *cluster;
	const char *munge_socket; /* NULL: munge's default */
	uid_t key_owner;          /* SlurmUser, who may own the key file beside root and ourselves */
};

NODISCARD int auth_new(const struct auth_options *o, struct auth **ret, struct error *err);
void auth_free(struct auth *a);
NODISCARD int auth_sign(struct auth *a, const struct identity *who, usec_t now, struct buf *ret,
			struct error *err);
NODISCARD int auth_verify(struct auth *a, const void *token, size_t len, usec_t now,
			  struct identity *ret, struct error *err);
/* The same for the answer to a challenge, which is not 0. */
NODISCARD int auth_sign_answer(struct auth *a, const struct identity *who, uint64_t challenge,
			       usec_t now, struct buf *ret, struct error *err);
NODISCARD int auth_verify_answer(struct auth *a, const void *token, size_t len, uint64_t challenge,
				 usec_t now, struct identity *ret, struct error *err);
const char *auth_cluster(const struct auth *a);
/* Do signing and verifying wait for another process (munged)?  Then they belong on a thread of
 * the pool, where they may run at any time; others run on the thread that owns `a`. */
bool auth_may_block(const struct auth *a);
/* Can it sign for other users than the one this process runs as? */
bool auth_can_vouch(const struct auth *a);
/* Writes a new random key file with mode 0600; an existing one is left alone. */
NODISCARD int auth_make_key(const char *path, struct error *err);
