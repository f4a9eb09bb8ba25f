/* SPDX-License-Identifier: Apache-2.0 */
/* A command as small as it can be: what it needs at run time is what every command pays for. */
#include "base/error.h"
#include "wire/session.h"

#include <stddef.h>

int main(void)
{
	struct session *s = NULL;
	struct error err;
	struct session_options o = { .auth_type = "auth/slurm" };
	return session_open(&o, &s, &err) < 0;
}
