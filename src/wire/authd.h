/* SPDX-License-Identifier: Apache-2.0 */
/* authd.h - the local socket where users of this host get their credentials.
 *
 * Whoever connects gets a credential for the uid and gid that the kernel names, and for nobody else.
 * slurmctld and slurmd both offer this; the first on a host serves, the others wait and take over
 * when it goes away. */
#pragma once
#include "base/cleanup.h"

struct auth;
struct authd;
struct error;
struct loop;

/* Fails when the socket can never be made (no directory, no permission); that another daemon serves
 * it is no failure.  With credentials that users get elsewhere (auth/munge) nothing is served and
 * `*ret` is NULL.  `auth` must outlive it. */
NODISCARD int authd_start(struct loop *l, struct auth *auth, const char *path, struct authd **ret,
			  struct error *err);
void authd_free(struct authd *d); /* NULL is fine; removes the socket */
